//! The quotient forgets nothing that matters.
//!
//! A step is what can be observed of it: who does what to which action, what must come out, at which check a decision was
//! ignored, and the quotient of the state that follows. Left out of the label is only what the
//! quotient merges: which of several alike decisions is meant.

use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::action::Action;
use countersign_model::pending_action::bounds::{Bounds, Budgets, Variety};
use countersign_model::pending_action::output::Outputs;
use countersign_model::pending_action::rules::Check;
use countersign_model::pending_action::state::State;

use crate::common::quotient::{assert_bisimulation, assert_bisimulation_within};

/// What can be observed of a step.
type Observation = (Action, Outputs, Option<Check>, [u64; 9]);

/// The action without what the quotient merges.
fn label(action: Action) -> Action {
    if let Action::Deliver { .. } = action {
        Action::Deliver { index: 0 }
    } else if let Action::Duplicate { .. } = action {
        Action::Duplicate { index: 0 }
    } else {
        action
    }
}

/// What can be observed of the step.
fn observe(model: &PendingAction, state: &State, action: Action) -> Option<Observation> {
    let step = model.step(state, action)?;
    let next = model.quotient_of(&step.next);
    Some((label(action), step.required, step.ignored, next.words()))
}

#[test]
#[ignore = "night: walks whole graphs"]
fn a_state_and_its_quotient_offer_the_same_steps() {
    assert_bisimulation(observe);
}

/// What `small` bounds do not have: two disturbances in one run, such as a crash after the clock was set back.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_after_two_disturbances_as_well() {
    let one_action = Bounds {
        actions: 1,
        ticks: 2,
        variety: Variety::Many,
        backlog: 2,
        disturbances: Budgets::new([1; 6], 2),
        ..Bounds::SMALL
    };
    let crashes_alone = Bounds {
        ticks: 2,
        decisions: [1; 3],
        ends: 0,
        under_way: 1,
        disturbances: Budgets::new([0, 0, 1, 0, 2, 1], 2),
        ..Bounds::SMALL
    };
    for bounds in [one_action, crashes_alone] {
        assert_bisimulation_within(bounds, observe);
    }
}

/// What `small` bounds do not have: three.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_for_three_as_well() {
    let three = Bounds {
        actions: 3,
        decisions: [1; 3],
        under_way: 1,
        disturbances: Budgets::NONE,
        ..Bounds::SMALL
    };
    assert_bisimulation_within(three, observe);
}
