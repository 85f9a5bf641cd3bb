//! The tables of what always holds and of what can happen.

use crate::table::Tabled;

/// What there is to say about an invariant `I`, which the witness `W` shows to have something to judge.
#[derive(Clone, Copy, Debug)]
pub struct InvariantRow<I, W> {
    /// The invariant.
    pub invariant: I,
    /// Its name: the chief clause, and the rule in words.
    pub name: &'static str,
    /// The clauses that it states.
    pub clauses: &'static [&'static str],
    /// What shows that it has something to judge.
    pub witness: W,
}

impl<I, W> InvariantRow<I, W> {
    /// One row of a protocol's table.
    pub const fn new(
        invariant: I,
        name: &'static str,
        clauses: &'static [&'static str],
        witness: W,
    ) -> Self {
        Self {
            invariant,
            name,
            clauses,
            witness,
        }
    }
}

/// What there is to say about a witness `W`.
#[derive(Clone, Copy, Debug)]
pub struct WitnessRow<W> {
    /// The witness.
    pub witness: W,
    /// Its name: the chief clause, and what happens in words.
    pub name: &'static str,
    /// The clauses whose case it shows.
    pub clauses: &'static [&'static str],
}

impl<W> WitnessRow<W> {
    /// One row of a protocol's table.
    pub const fn new(witness: W, name: &'static str, clauses: &'static [&'static str]) -> Self {
        Self {
            witness,
            name,
            clauses,
        }
    }
}

/// The mark of an invariant that is broken if the condition holds.
pub(crate) fn broken(invariant: impl Tabled, condition: bool) -> u64 {
    invariant.bit_if(condition)
}

/// The mark of a witness that is seen if the condition holds.
pub(crate) fn seen(witness: impl Tabled, condition: bool) -> u64 {
    witness.bit_if(condition)
}
