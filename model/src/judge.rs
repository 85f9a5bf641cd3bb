//! What a search or a checker says of a step that breaks a text: the clause, and what it requires.

use std::fmt;

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

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.clause, self.text)?;
        if self.also.is_empty() {
            return Ok(());
        }
        write!(formatter, " (also {})", self.also.join(", "))
    }
}
