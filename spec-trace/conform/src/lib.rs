//! Model and executor held against each other, step by step.
//!
//! The one thing to know: the walks ([`edges`], [`schedule`]) go over [`Sides`], which can begin, list what may happen, and
//! take one step on both sides, comparing what came out and what became of the state. They choose the steps, and know no
//! protocol. A [`bridge::Bridge`] is the two readings of one.

pub mod aaep;
pub mod bridge;
mod comparison;
mod concretion;
pub mod edges;
pub mod harness;
mod identity;
pub mod mcp_aql;
pub mod not_compared;
pub mod pending_action;
pub mod schedule;
mod shrinking;
pub mod steps;
pub mod wide;

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use countersign_model::checker::StepText;

pub use comparison::not_a_call;

/// A model, and something beside it that takes the same steps.
pub trait Sides: Sync {
    /// A state of the model.
    type State: Copy + Eq + Hash + Send + Debug;
    /// A step of the model.
    type Action: Copy + Eq + Send + Sync + Debug;
    /// What stands beside the model: an executor with what it has put out, or a judge with what it was shown.
    type Host: Clone + Send;

    /// Both sides at the start.
    fn begin(&self) -> (Self::State, Self::Host);

    /// Every step that the model allows in this state, in a fixed order, appended to `actions`.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Takes one step on both sides.
    ///
    /// # Errors
    ///
    /// A [`Disagreement`] where the two differ in what came out or in what became of the state.
    fn step(
        &self,
        state: &Self::State,
        host: &mut Self::Host,
        action: Self::Action,
    ) -> Result<Self::State, Disagreement>;

    /// Feeds all that can make a difference to what this host will do, up to the names of ids: two hosts with the same
    /// identity behave alike for ever.
    fn identity(&self, host: &Self::Host, hasher: &mut impl Hasher);

    /// The model's step in words.
    fn describe(&self, state: &Self::State, action: Self::Action) -> StepText;
}

/// Where model and executor differ at one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The clause that the executor goes against, by the model's reading.
    pub clause: &'static str,
    /// What the model wants, in words.
    pub expected: String,
    /// What the executor did, in words.
    pub actual: String,
}

/// Something that the executor did and that has no place in the model's reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The clause that it goes against.
    pub clause: &'static str,
    /// What was expected instead.
    pub text: String,
}

/// See [`Unexplained`].
fn unexplained(clause: &'static str, text: impl Into<String>) -> Unexplained {
    Unexplained {
        clause,
        text: text.into(),
    }
}

/// A run at whose last step model and executor differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The run, as the model has it; the last step is the bad one.
    pub steps: Vec<StepText>,
    /// How the two differ there.
    pub disagreement: Disagreement,
}

/// Takes a run of steps on both sides.
///
/// # Errors
///
/// The [`Divergence`] where the two differ. A run with a step that the model does not allow at that place ends before
/// it, without a divergence.
pub fn replay<S: Sides>(sides: &S, run: &[S::Action]) -> Result<(), Box<Divergence>> {
    let (mut state, mut host) = sides.begin();
    let mut steps = Vec::with_capacity(run.len());
    let mut enabled = Vec::new();
    for &action in run {
        enabled.clear();
        sides.actions(&state, &mut enabled);
        if !enabled.contains(&action) {
            break;
        }
        steps.push(sides.describe(&state, action));
        match sides.step(&state, &mut host, action) {
            Ok(next) => state = next,
            Err(disagreement) => {
                return Err(Box::new(Divergence {
                    steps,
                    disagreement,
                }));
            }
        }
    }
    Ok(())
}

/// A diverging run with every step left out that it does not need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk<A> {
    /// The steps; at the last one the two differ.
    pub run: Vec<A>,
    /// How they differ.
    pub divergence: Divergence,
}

/// Leaves ever smaller stretches out of a run for as long as what remains still diverges by the same clause.
///
/// Nothing if the run does not diverge.
pub fn shrink<S: Sides>(sides: &S, run: &[S::Action]) -> Option<Shrunk<S::Action>> {
    let divergence = replay(sides, run).err()?;
    let clause = divergence.disagreement.clause;
    let mut run = run[..divergence.steps.len()].to_vec();
    let divergence = shrinking::shortest(&mut run, divergence, |shorter| {
        let again = replay(sides, shorter).err()?;
        let same = again.disagreement.clause == clause;
        same.then_some((again.steps.len(), again))
    });
    Some(Shrunk {
        run,
        divergence: *divergence,
    })
}
