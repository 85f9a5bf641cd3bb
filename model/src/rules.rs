//! Rules as data: what a guard is, and the set of those in force.
//!
//! The one thing to know: [`Rules::all`] is the specification, and `Rules::all().without(guard)` an ablation, a party
//! that does what the guard forbids whenever it can.

use std::fmt;
use std::marker::PhantomData;

use crate::table::Tabled;

/// What there is to say about a guard.
#[derive(Clone, Copy, Debug)]
pub struct GuardRow<G> {
    /// The guard.
    pub guard: G,
    /// Its name on the command line and in reports: what it forbids.
    pub name: &'static str,
    /// The clauses that it carries out, the chief one first.
    pub clauses: &'static [&'static str],
    /// The rule in a sentence.
    pub gist: &'static str,
    /// What the bounds have to have for it to matter ([`crate::bounds::Bounds::shows`]), where it does not matter in all bounds.
    pub with: Option<&'static str>,
    /// Where the text shows code of its own that leaves the rule out: the sections of the samples.
    pub in_samples: Option<&'static str>,
    /// Where somebody outside finds nothing wrong with a party that leaves the rule out: why that is free.
    pub free: Option<&'static str>,
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
    left_out: u128,
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
