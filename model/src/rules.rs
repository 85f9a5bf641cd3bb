//! Rules as data: what a guard is, and the set of those in force.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a party
//! that does what the guard forbids whenever it can.

use std::fmt;
use std::marker::PhantomData;

use crate::table::Tabled;

/// How strongly a text words a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// MUST
    Must,
    /// MUST NOT
    MustNot,
    /// SHOULD
    Should,
    /// SHOULD NOT
    ShouldNot,
    /// MAY
    May,
    /// Informative, but checkable.
    Info,
}

impl Level {
    /// As the text words it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::MustNot => "MUST NOT",
            Self::Should => "SHOULD",
            Self::ShouldNot => "SHOULD NOT",
            Self::May => "MAY",
            Self::Info => "INFO",
        }
    }
}

/// What there is to say about a guard.
#[derive(Clone, Copy, Debug)]
pub struct GuardRow<G> {
    /// The guard.
    pub guard: G,
    /// Its name on the command line and in reports: what it forbids.
    pub name: &'static str,
    /// The clauses that it carries out, the chief one first.
    pub clauses: &'static [&'static str],
    /// The level of the chief clause.
    pub level: Level,
    /// The rule in a sentence.
    pub gist: &'static str,
    /// Where the text shows code of its own that leaves the rule out: the sections of the samples.
    pub left_out_in: Option<&'static str>,
}

impl<G> GuardRow<G> {
    /// One row of a protocol's table.
    pub const fn new(
        guard: G,
        name: &'static str,
        level: Level,
        clauses: &'static [&'static str],
        gist: &'static str,
    ) -> Self {
        Self {
            guard,
            name,
            clauses,
            level,
            gist,
            left_out_in: None,
        }
    }

    /// The same row of a rule that the samples in these sections of the text leave out.
    #[must_use]
    pub const fn left_out_in(self, sections: &'static str) -> Self
    where
        G: Copy,
    {
        Self {
            left_out_in: Some(sections),
            ..self
        }
    }
}

/// The guards of one protocol.
pub trait Guards: Tabled<Row = GuardRow<Self>> + PartialEq {
    /// The guards that a name or a clause id means: one for a name, every guard that carries it out for a clause.
    fn named(name_or_clause: &str) -> Vec<Self> {
        Self::ROWS
            .iter()
            .filter(|row| row.name == name_or_clause || row.clauses.contains(&name_or_clause))
            .map(|row| row.guard)
            .collect()
    }
}

impl<G: Tabled<Row = GuardRow<Self>> + PartialEq> Guards for G {}

/// The set of guards in force.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rules<G> {
    /// One bit for each guard that is left out.
    left_out: u64,
    of: PhantomData<G>,
}

impl<G> Rules<G> {
    /// The specification: every guard is in force.
    pub const fn all() -> Self {
        Self {
            left_out: 0,
            of: PhantomData,
        }
    }

    /// Whether every guard is in force.
    pub const fn is_complete(self) -> bool
    where
        G: Copy,
    {
        self.left_out == 0
    }
}

impl<G: Guards> Rules<G> {
    /// These rules without one guard.
    #[must_use]
    pub fn without(self, guard: G) -> Self {
        Self {
            left_out: self.left_out | guard.bit(),
            ..self
        }
    }

    /// Whether the guard is in force: what it is named after must not be done.
    pub fn forbid(self, guard: G) -> bool {
        self.left_out & guard.bit() == 0
    }

    /// Whether the guard is left out: what it is named after is done wherever it can be.
    pub fn allow(self, guard: G) -> bool {
        !self.forbid(guard)
    }

    /// The guards that are left out.
    pub fn left_out(self) -> impl Iterator<Item = G> {
        G::ROWS
            .iter()
            .map(|row| row.guard)
            .filter(move |&guard| self.allow(guard))
    }
}

impl<G: Guards> fmt::Debug for Rules<G> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("all")?;
        for guard in self.left_out() {
            write!(formatter, " - {}", guard.row().name)?;
        }
        Ok(())
    }
}
