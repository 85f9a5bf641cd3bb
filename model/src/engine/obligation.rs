//! What a party owes: outputs that it must, should or may put out.

use smallvec::SmallVec;

use crate::engine::clause::{Clause, Clauses};
use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::Freedom;

/// An output that a call, or an earlier output, has made due or allowed.
///
/// A pattern: the fields that `holes` names are the party's to choose, and hold what a conforming party chooses first. What
/// it chose reaches the account through `binding`.
#[derive(Debug)]
pub struct Obligation<P: Protocol> {
    /// The clauses that state it. Where all of them are left out it is only allowed.
    pub clauses: Clauses,
    /// What is owed.
    pub output: P::Output,
    /// The fields of the output that the party chooses.
    pub holes: P::Holes,
    /// What meeting it tells the account.
    pub binding: Option<P::Binding>,
    /// Whether it is due or only allowed.
    pub force: Force,
    /// When it has to be met.
    pub until: Until<P::Closing>,
    /// Whether it can be met any number of times.
    pub repeats: bool,
    /// It comes behind these, each by the clauses beside it.
    pub(crate) after: SmallVec<[(Owed, Clauses); 2]>,
    /// What ends its time has happened in this call.
    pub(crate) is_closed: bool,
    /// It was to come before something that has come: it can no longer be met.
    pub(crate) is_late: bool,
    pub(crate) name: Owed,
}

/// The name of an obligation within one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owed(pub(crate) u16);

/// Whether an obligation is due or only allowed. A SHOULD is due: not to meet it deviates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Force {
    /// It has to be met.
    Due,
    /// It may be met, and a conforming party does so by default.
    Usual,
    /// It may be met.
    Allowed,
}

/// When an obligation has to be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Until<C> {
    /// Before the next call.
    Call,
    /// Before this happens: the end of a session, of a stream, of a time.
    Closing(C),
}

impl<P: Protocol> Obligation<P> {
    /// Those fields are the party's to choose.
    pub fn any(&mut self, holes: P::Holes) -> &mut Self {
        self.holes = holes;
        self
    }
    /// Meeting it tells the account this.
    pub fn bind(&mut self, binding: P::Binding) -> &mut Self {
        self.binding = Some(binding);
        self
    }
    /// It comes behind that one, by those clauses.
    pub fn after(&mut self, earlier: Owed, clauses: Clauses) -> &mut Self {
        self.after.push((earlier, clauses));
        self
    }
    /// It stays open over calls until that happens.
    pub fn until(&mut self, closing: P::Closing) -> &mut Self {
        self.until = Until::Closing(closing);
        self
    }
    /// It can be met any number of times.
    pub fn repeatedly(&mut self) -> &mut Self {
        self.repeats = true;
        self
    }
    /// Its name, for [`Obligation::after`] of a later one.
    pub fn name(&self) -> Owed {
        self.name
    }
    /// The clause that names a finding about it.
    pub fn clause(&self) -> Option<Clause> {
        self.clauses.first().copied()
    }
    /// Whether a conforming party with that freedom can leave it unmet in this call.
    pub(crate) fn can_wait(&self, variant: &Variant<P>, freedom: Freedom) -> bool {
        match self.force {
            Force::Usual => freedom > Freedom::Default || self.is_late,
            Force::Due | Force::Allowed => {
                !self.must_be_met(variant, freedom) || !self.is_over() && freedom >= Freedom::May
            }
        }
    }
    /// Whether it has to be met before the next call.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed || self.until == Until::Call
    }
    /// Whether a conforming party with that freedom has to meet it in the end.
    pub(crate) fn must_be_met(&self, variant: &Variant<P>, freedom: Freedom) -> bool {
        let is_must = |clause: &Clause| variant.enforces(*clause) && P::is_must(*clause);
        self.is_due(variant)
            && (freedom < Freedom::Order
                || self.clauses.is_empty()
                || self.clauses.iter().any(is_must))
    }
    /// Whether it has to be met. What only clauses state that are left out may still be met, in its place.
    pub(crate) fn is_due(&self, variant: &Variant<P>) -> bool {
        self.force == Force::Due && !variant.left_out.contains_all(self.clauses)
    }
    /// Whether that output is what is owed.
    pub(crate) fn fits(&self, output: &P::Output) -> bool {
        let mut expected = self.output.clone();
        P::fill(&mut expected, output, self.holes);
        expected == *output
    }
    /// Whether an output that meets one may as well meet the other, with the same consequence.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let of = |it: &Self| {
            (
                it.binding,
                it.force,
                it.until,
                it.repeats,
                it.is_closed,
                it.is_late,
            )
        };
        of(self) == of(other)
            && self.output == other.output
            && self.holes == other.holes
            && self.after == other.after
            && self.clauses == other.clauses
    }
}

// Derived, these would ask the same of `P`.
impl<P: Protocol> Clone for Obligation<P> {
    fn clone(&self) -> Self {
        Self {
            output: self.output.clone(),
            after: self.after.clone(),
            ..*self
        }
    }
}
impl<P: Protocol> PartialEq for Obligation<P> {
    fn eq(&self, other: &Self) -> bool {
        self.is_like(other) && self.name == other.name
    }
}
impl<P: Protocol> Eq for Obligation<P> {}
impl<P: Protocol> std::hash::Hash for Obligation<P> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (
            &self.output,
            self.binding,
            self.force,
            self.until,
            self.name,
            self.is_closed,
            self.is_late,
        )
            .hash(state);
    }
}
