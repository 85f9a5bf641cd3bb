//! Each rule of the specification left out in turn, and the logic of its own samples as sets of rules that they leave out.
//!
//! The one thing to know: a [`Mutation`] is what one gets who writes down a sample of the text and nothing else.

use super::McpAql;
use super::bounds::{Bounds, BoundsError};
use super::properties::Invariant;
use super::rules::{Guard, GuardRow, Rules};
use crate::ablation;
use crate::checker::PropertyVerdict;

pub use crate::ablation::LONGEST;

/// What leaving out one rule does.
pub type Ablation = ablation::Ablation<Guard>;

/// Leaves out every guard in turn; `progress` is told how many have been done.
///
/// # Errors
///
/// A bound that is out of its range.
pub fn ablate(bounds: Bounds, progress: impl FnMut(usize)) -> Result<Vec<Ablation>, BoundsError> {
    Ok(ablation::ablate(&McpAql::new(bounds)?, progress))
}

/// Leaves out one guard, and a second one if the first breaks nothing.
pub fn leave_out(specification: &McpAql, row: &'static GuardRow) -> Ablation {
    ablation::leave_out(specification, row)
}

/// The logic of a sample of the text, taken at its word.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// Its name.
    pub name: &'static str,
    /// The section whose sample it is.
    pub section: &'static str,
    /// What the sample does.
    pub gist: &'static str,
    /// What it gives up in the first place.
    pub gives_up: Invariant,
    /// The rules that it leaves out.
    pub guards: &'static [Guard],
}

/// Every sample that leaves a rule out.
pub static MUTATIONS: [Mutation; 4] = [
    Mutation {
        name: "zero-tolerance-defaults",
        section: "5.1",
        gist: "a configured tolerance of 0 counts as absent, so that the default takes its place",
        gives_up: Invariant::ZeroIsStrict,
        guards: &[Guard::TakesZeroForDefault],
    },
    Mutation {
        name: "adapter-unchecked",
        section: "4.3",
        gist: "existence, operation, parameters, expiry and use are checked, and the adapter is not",
        gives_up: Invariant::OtherAdapterWithoutEffect,
        guards: &[Guard::HonoursOtherAdapter],
    },
    Mutation {
        name: "redeems-apart",
        section: "4.3, 5.2",
        gist: "a token is validated by one function and redeemed by another, and whoever passed the first is let through",
        gives_up: Invariant::UsedWithoutEffect,
        guards: &[Guard::RedeemsApart],
    },
    Mutation {
        name: "expiry-not-rechecked",
        section: "5.2",
        gist: "the function that redeems asks for existence and use again, and not for expiry",
        gives_up: Invariant::ExpiredWithoutEffect,
        guards: &[Guard::RedeemsExpired],
    },
];

impl Mutation {
    /// The rules that are left when the sample is taken at its word.
    pub fn rules(&self) -> Rules {
        self.guards
            .iter()
            .fold(Rules::all(), |rules, &guard| rules.without(guard))
    }

    /// The invariants that break, each with its shortest counterexample.
    pub fn breaks(&self, specification: &McpAql) -> Vec<PropertyVerdict> {
        ablation::breaks(specification, self.rules(), &[])
    }
}
