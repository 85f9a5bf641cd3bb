//! What a judge is: a protocol's text as a predicate on what was asked of a party and what it put out.
//!
//! The one thing to know: a judge says what the text requires, forbids and leaves free; it never says what a party should
//! have put out. Several ways to do right must all pass. It shares nothing with the model's own producer: two statements
//! of one text, as obligations here and as behaviour there, so that their agreement says something.
//!
//! A call or the passing of time creates duties: a subject, a time by which it is done, and what would do it. Whatever
//! comes out either does a duty, is free, or is forbidden. After a break the account follows the party, so that one fault
//! is one finding.

use std::fmt;

/// What a protocol's text makes of the calls of a party and of what it puts out.
pub trait Judge {
    /// What can be asked of a party, in the judge's own words. A restart and the passing of time are calls too.
    type Call;
    /// What it can put out.
    type Output;

    /// Takes one call, its time in milliseconds since the epoch, and all that was put out for it, in order.
    /// What was broken, in the order of the text; empty where nothing was.
    fn see(&mut self, now: i64, call: &Self::Call, outputs: &[Self::Output]) -> Vec<Finding>;

    /// Whether it judges nothing more, since too many explanations fit what it was shown.
    fn has_given_up(&self) -> bool {
        false
    }
}

/// One thing that the text would have wanted otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The clause that says so.
    pub clause: &'static str,
    /// Other clauses that say the same.
    pub also: &'static [&'static str],
    /// Whether it was judged under a reading.
    pub kind: Kind,
    /// What the text would have required, in words.
    pub text: String,
}

/// Whether a finding depends on how the text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The party does not do what the text, read this way, says.
    Conformance,
    /// The party does what the text is there to prevent, however it is read: an action runs twice, or runs though it was
    /// rejected, or though nobody was asked about it; somebody is left blocked.
    Guarantee,
}

impl Kind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conformance => "conformance",
            Self::Guarantee => "guarantee",
        }
    }
}

impl Finding {
    /// Whether it is of this clause, by itself or among others that say the same.
    pub fn names(&self, clause: &str) -> bool {
        self.clause == clause || self.also.contains(&clause)
    }
}

/// A kind of name by which a judge tells of things: what stands before its number, and what a step of a model calls that thing.
pub type Name = (&'static str, fn(u32) -> Option<String>);

/// What a judge says of a run of a model, with the names that the steps of the run have. A number that a kind of name has no word for
/// stays.
pub fn renamed(text: &str, names: &[Name]) -> String {
    let mut said = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let begins = !said.ends_with(char::is_alphanumeric);
        if let Some((name, after)) = names.iter().find_map(|it| named(rest, it))
            && begins
        {
            said += &name;
            rest = after;
        } else {
            let next = rest.chars().next().map_or(rest.len(), char::len_utf8);
            said += &rest[..next];
            rest = &rest[next..];
        }
    }
    said
}

/// The name with which a text begins, in other words, and what comes behind it.
fn named<'a>(text: &'a str, (before, name): &Name) -> Option<(String, &'a str)> {
    let numbered = text.strip_prefix(before)?;
    let after = numbered.trim_start_matches(|it: char| it.is_ascii_digit());
    let ends = !after.starts_with(char::is_alphanumeric);
    let number = numbered[..numbered.len() - after.len()].parse().ok()?;
    let name = name(number).filter(|_| ends)?;
    Some((name, after))
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.clause, self.text)?;
        if self.also.is_empty() {
            return Ok(());
        }
        write!(formatter, " (also {})", self.also.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, renamed};

    #[test]
    fn names_are_those_of_the_steps_and_nothing_else_is_touched() {
        let names: [Name; 2] = [
            ("c", |it| (it < 2).then(|| format!("c{}", it + 1))),
            ("action ", |it| Some(format!("c{}", it + 1))),
        ];
        let said = |text| renamed(text, &names);
        assert_eq!(
            said("action 0 must not run for c0, c1"),
            "c1 must not run for c1, c2"
        );
        let kept = "c2, abc0, c0d, c, action x: 0, \u{2192} t=1";
        assert_eq!(said(kept), kept);
    }
}
