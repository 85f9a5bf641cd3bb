//! Model and executor held against each other, step by step.
//!
//! The one thing to know: the walks ([`edges`], [`schedule`]) go over [`Sides`], which can begin, list what may happen, and
//! take one step on both sides, comparing what came out and what became of the state. They choose the steps, and know no
//! protocol. A [`bridge::Bridge`] is the two readings of one.

pub mod aaep;
pub mod bridge;
pub mod checked;
mod comparison;
pub mod driven;
pub mod edges;
pub mod harness;
mod identity;
pub mod implementation;
pub mod mcp_aql;
mod naming;
pub mod not_compared;
pub mod pending_action;
pub mod schedule;
pub mod search;
mod shrinking;
pub mod side_by_side;
pub mod spoken;
pub mod steps;
pub mod suite;
pub mod wide;

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

use countersign_model::checker::StepText;
use countersign_model::judge::Finding;

pub use comparison::not_a_call;
use not_compared::Where;

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

    /// What the judge finds broken by the last step of a run at which the two differ; where that is nothing, what he finds so
    /// many steps later. Nothing where there is no judge.
    fn broken_by(&self, _run: &[Self::Action], _ahead: usize) -> Option<Finding> {
        None
    }

    /// Feeds all that can make a difference to what this host will do, up to the names of ids: two hosts with the same
    /// identity behave alike for ever.
    fn identity(&self, host: &Self::Host, hasher: &mut impl Hasher);

    /// The model's step in words.
    fn describe(&self, state: &Self::State, action: Self::Action) -> StepText;
}

/// Where model and executor differ at one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The clause that the executor goes against: of a field, the one that the field is held to; else the one that the judge
    /// names, and where he names none, the one that stands for the whole contract.
    pub clause: &'static str,
    /// Whether they differ in what came out, or in what is held alone.
    pub place: Where,
    /// What the model wants, in words.
    pub expected: String,
    /// What the executor did, in words.
    pub actual: String,
    /// What the text would have wanted, as the judge says it; nothing where a field differs that is held to a clause.
    pub required: Option<String>,
}

/// Where the judge names nothing.
const NOT_NAMED: &str =
    "nothing that the judge names: the text leaves free what differs here, or he is not shown it";

impl Disagreement {
    /// In what came out.
    pub fn in_outputs(clause: &'static str, expected: String, actual: String) -> Self {
        Self {
            clause,
            place: Where::Output,
            expected,
            actual,
            required: None,
        }
    }

    /// In what is held alone.
    pub fn in_state(clause: &'static str, expected: String, actual: String) -> Self {
        Self {
            place: Where::State,
            ..Self::in_outputs(clause, expected, actual)
        }
    }

    /// The same, where the clause stands for the whole contract unless the judge names another.
    fn unnamed(self) -> Self {
        let required = Some(NOT_NAMED.to_owned());
        Self { required, ..self }
    }

    /// Whether the clause is one that a field is held to, or that the judge names.
    fn is_named(&self) -> bool {
        self.required.as_deref() != Some(NOT_NAMED)
    }

    /// The same, against the clause that the judge names, if he does.
    fn named(self, finding: Option<Finding>) -> Self {
        match finding {
            Some(Finding { clause, text, .. }) => Self {
                clause,
                required: Some(text),
                ..self
            },
            None => self,
        }
    }
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
                let finding = sides.broken_by(&run[..steps.len()], 0);
                return Err(Box::new(Divergence {
                    steps,
                    disagreement: disagreement.named(finding),
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

/// A judge who finds nothing at the last step is asked again after each of so many that can follow.
const AHEAD: usize = 4;

/// Leaves ever smaller stretches out of a run for as long as what remains still diverges by the same clause.
///
/// Nothing if the run does not diverge.
pub fn shrink<S: Sides>(sides: &S, run: &[S::Action]) -> Option<Shrunk<S::Action>> {
    let divergence = replay(sides, run).err()?;
    let goes_against = |divergence: &Divergence| {
        (
            divergence.disagreement.is_named(),
            divergence.disagreement.clause,
        )
    };
    let clause = goes_against(&divergence);
    let mut run = run[..divergence.steps.len()].to_vec();
    let divergence = shrinking::shortest(&mut run, divergence, shrinking::without, |shorter| {
        let again = replay(sides, shorter).err()?;
        let same = goes_against(&again) == clause;
        same.then_some((again.steps.len(), again))
    });
    let mut divergence = *divergence;
    if divergence.disagreement.place == Where::State {
        let finding = sides.broken_by(&run, AHEAD);
        divergence.disagreement = divergence.disagreement.named(finding);
    }
    Some(Shrunk { run, divergence })
}
