//! The quotient forgets nothing that matters.
//!
//! A step is what can be observed of it: who does what to which confirmation, session or subscription, what must and what may
//! come out, at which check a reply was ignored, and the quotient of the state that follows.
//! Left out of the label is only what the quotient merges: which of several alike messages is meant, and by which of
//! several alike decisions a message comes to be under way. Asks keep their class.

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::{Action, Forgery};
use countersign_model::aaep::bounds::{Bounds, Budgets};
use countersign_model::aaep::output::Outputs;
use countersign_model::aaep::rules::Check;
use countersign_model::aaep::state::State;

use crate::common::quotient::{assert_bisimulation, assert_bisimulation_within};

/// What can be observed of a step.
type Observation = (Label, Outputs, Outputs, Option<Check>, [u64; 5]);

/// An action without what the quotient merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    /// Nothing is merged.
    Whole(Action),
    /// Some subscriber decides on some question.
    Decide,
    /// Some message arrives.
    Deliver,
    /// Some message is doubled.
    Duplicate,
    /// Some message is lost.
    Lose,
    /// Somebody forges a reply.
    Forge,
}

/// The action without what the quotient merges.
fn label(action: Action) -> Label {
    match action {
        Action::Decide { .. } | Action::Answer { .. } => Label::Decide,
        Action::Deliver { .. } => Label::Deliver,
        Action::Duplicate { .. } => Label::Duplicate,
        Action::Lose { .. } => Label::Lose,
        Action::Forge(
            Forgery::Unauthenticated { .. }
            | Forgery::Guessed
            | Forgery::MixedUp { .. }
            | Forgery::OtherKind { .. }
            | Forgery::Impostor { .. },
        ) => Label::Forge,
        Action::StartSession { .. }
        | Action::Open { .. }
        | Action::Ask { .. }
        | Action::Clarify { .. }
        | Action::Extend { .. }
        | Action::Replay
        | Action::Tick
        | Action::ServeTimer
        | Action::Cancel { .. }
        | Action::Change { .. }
        | Action::EndSession { .. }
        | Action::Close { .. }
        | Action::CarryOut
        | Action::FinishTool { .. }
        | Action::Work(_)
        | Action::Crash
        | Action::Transgress(_) => Label::Whole(action),
    }
}

/// What can be observed of the step.
fn observe(model: &Aaep, state: &State, action: Action) -> Option<Observation> {
    let step = model.step(state, action)?;
    let next = model.quotient_of(&step.next);
    Some((
        label(action),
        step.required,
        step.optional,
        step.ignored,
        next.words(),
    ))
}

#[test]
#[ignore = "night: walks whole graphs"]
fn a_state_and_its_quotient_offer_the_same_steps() {
    assert_bisimulation(observe);
}

/// A clarification, a confirmation beside it, and more time.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_for_clarifications_as_well() {
    let bounds = Bounds {
        sessions: 1,
        clarifications: 1,
        disturbances: Budgets::NONE,
        ..Bounds::CLARIFY
    };
    assert_bisimulation_within(bounds, observe);
}

/// Disturbed, and asked again.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_for_one_clarification_after_another_as_well() {
    let bounds = Bounds {
        sessions: 1,
        confirmations: 1,
        ticks: 0,
        ..Bounds::CLARIFY
    };
    assert_bisimulation_within(bounds, observe);
}

/// Work around a question.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_for_work_as_well() {
    let bounds = Bounds {
        sessions: 1,
        confirmations: 1,
        work: 3,
        disturbances: Budgets::NONE,
        ..Bounds::WORK
    };
    assert_bisimulation_within(bounds, observe);
}

/// What `small` bounds do not have: three.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_for_three_as_well() {
    let three = Bounds {
        confirmations: 3,
        ticks: 0,
        disturbances: Budgets::NONE,
        ..Bounds::SMALL
    };
    assert_bisimulation_within(three, observe);
}
