//! What a comparison of two settings of a text reports: what a party of one does that no party of the other can.

use crate::checker::StepText;
use crate::departures::{Departure, What};

/// A run that a party of one setting can have and no party of the other, or not of itself.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its steps; the last is the one in which they differ.
    pub steps: Vec<StepText>,
    /// What comes of the same request under the other setting; nothing where it is not asked there, or comes unasked.
    pub instead: Option<StepText>,
    /// Of what the one differs in from the other, that without which it could not have the run either.
    pub needs: Vec<Departure>,
}

/// What a search for such a run came to.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The shortest run; none where none was found.
    pub difference: Option<Difference>,
    /// Where none was found: the shortest run in which a party of the other does otherwise of itself, though it may do the same: the
    /// text leaves it free, or leaves out the rule that required it ([`Difference::is_no_longer_required`]).
    pub allowed: Option<Difference>,
    /// The longest runs of which every one was looked at, in steps.
    pub steps: usize,
    /// States of both together that differ, in these runs.
    pub states: usize,
    /// Whether every run was looked at.
    pub exhaustive: bool,
}

impl Compared {
    /// The run that is told: one that no party of the other can have, else one in which it may do otherwise.
    pub fn told(&self) -> Option<&Difference> {
        self.difference.as_ref().or(self.allowed.as_ref())
    }

    /// The same, unless it is one in which the text merely leaves the other free.
    pub fn told_unless_free(&self) -> Option<&Difference> {
        let allowed = self.allowed.as_ref();
        let freed = allowed.filter(|it| it.is_no_longer_required());
        self.difference.as_ref().or(freed)
    }
}

impl Difference {
    /// Whether it takes a rule that the one keeps and the other leaves out.
    pub fn is_no_longer_required(&self) -> bool {
        self.needs.iter().any(|it| it.what == What::Kept)
    }
}
