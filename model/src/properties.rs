//! The tables of what always holds and of what can happen.
//!
//! The one thing to know: what always holds is for the judge to say, who knows the text and sees calls and outputs alone
//! ([`crate::judge`]); a row of a table gives what he says of a clause its name. What can happen is seen in the steps.

/// Something that always holds, or something that is possible.
#[derive(Clone, Copy, Debug)]
pub struct PropertyRow {
    /// The clauses that it states, the chief one first.
    pub clauses: &'static [&'static str],
    /// The rule, or what happens, in words.
    pub text: &'static str,
    /// What the bounds have to have for it to show ([`crate::bounds::Bounds::shows`]), where it is not asked of all bounds.
    pub with: Option<&'static str>,
}

impl PropertyRow {
    /// Its name: the chief clause without its protocol, and the words, such as `6.3.4-4 a late claim is ignored`.
    pub fn name(&self) -> String {
        let chief = self.clauses[0];
        let within = chief
            .split_once('-')
            .filter(|_| chief.matches('-').count() > 1);
        let clause = within.map_or(chief, |(_, within)| within);
        format!("{clause} {}", self.text)
    }
}
