//! The quotient forgets nothing that matters.
//!
//! A step is what can be observed of it: who does what to which token, what must come out, what may come out instead, at which
//! check a call was rejected, and the quotient of the state that follows. Left out of the
//! label is only what the quotient merges: which of several alike calls is meant.

use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::bounds::{Bounds, Budgets};
use countersign_model::mcp_aql::output::Outputs;
use countersign_model::mcp_aql::rules::Check;
use countersign_model::mcp_aql::state::State;

use crate::common::quotient::{assert_bisimulation, assert_bisimulation_within};

/// What can be observed of a step.
type Observation = (Action, Outputs, Option<Outputs>, Option<Check>, [u64; 5]);

/// The action without what the quotient merges.
fn label(action: Action) -> Action {
    if let Action::Deliver { skew, .. } = action {
        Action::Deliver { index: 0, skew }
    } else {
        action
    }
}

/// What can be observed of the step.
fn observe(model: &McpAql, state: &State, action: Action) -> Option<Observation> {
    let step = model.step(state, action)?;
    let next = model.quotient_of(&step.next);
    Some((
        label(action),
        step.required,
        step.instead,
        step.rejected,
        next.words(),
    ))
}

#[test]
#[ignore = "night: walks whole graphs"]
fn a_state_and_its_quotient_offer_the_same_steps() {
    assert_bisimulation(observe);
}

/// AQL-5.5-3: what `small` bounds do not have: too little room.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_where_there_is_room_for_one() {
    let crowded = Bounds {
        ticks: 0,
        ..Bounds::CROWDED
    };
    assert_bisimulation_within(crowded, observe);
}

/// AQL-6.5-1: what `small` bounds do not have: a limit.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_where_tries_are_limited() {
    let limited = Bounds {
        tokens: 1,
        ..Bounds::LIMITED
    };
    assert_bisimulation_within(limited, observe);
}

/// AQL-3.2-4: what `small` bounds do not have: lists that change.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_where_lists_change() {
    let lists = Bounds {
        tokens: 1,
        ..Bounds::LISTS
    };
    assert_bisimulation_within(lists, observe);
}

/// What `small` bounds do not have: three.
#[test]
#[ignore = "night: walks whole graphs"]
fn that_is_so_for_three_as_well() {
    let three = Bounds {
        tokens: 3,
        ticks: 10,
        under_way: 1,
        disturbances: Budgets::NONE,
        ..Bounds::SMALL
    };
    assert_bisimulation_within(three, observe);
}
