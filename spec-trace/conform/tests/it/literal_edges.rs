//! Every edge in readings, settings and bounds that are not those of `verify`, most of them of the literal models. What `verify`
//! walks is walked by it alone.

use countersign_conform::Sides;
use countersign_conform::aaep::{self, AaepBridge};
use countersign_conform::edges::{self, Scope};
use countersign_model::aaep::bounds::{Bounds as AaepBounds, Budgets};

/// A forged or malformed reply, a cancellation or a crash: one in a run.
const DISTURBED: Budgets = Budgets::new([0, 0, 1, 0, 1, 1, 0, 1, 0], 1);

/// How many states and edges the two agree on.
#[track_caller]
fn agreed(sides: &impl Sides) -> (u64, u64) {
    agreed_on(sides, Scope::States)
}

#[track_caller]
fn agreed_on(sides: &impl Sides, scope: Scope) -> (u64, u64) {
    let walk = edges::walk(sides, scope, &|_| {});
    assert_eq!(walk.divergences, []);
    (walk.nodes, walk.edges)
}

/// AAEP-6.3.5-2, AAEP-6.3.4-9: also where the host has chosen that nobody is told of a late duplicate.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_producer_agrees_with_the_literal_model_without_courtesy_notices() {
    let bounds = AaepBounds {
        confirmations: 1,
        ..aaep::LITERAL
    };
    let bridge = AaepBridge::new(bounds).expect("the bounds are in range");
    let bridge = bridge.literal().without_courtesy_notices();
    assert_eq!(agreed(&bridge), (13_293, 32_660));
}

/// AAEP-6.1-7, AAEP-6.5.5-1: a clarification beside a confirmation, and the replies as they were sent.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_producer_agrees_with_the_literal_model_that_asks_for_clarifications() {
    let bounds = AaepBounds {
        clarifications: 1,
        sessions: 1,
        extensions: 0,
        disturbances: DISTURBED,
        ..AaepBounds::CLARIFY
    };
    let bridge = AaepBridge::new(bounds).expect("the bounds are in range");
    assert_eq!(agreed(&bridge.literal()), (153_669, 463_830));
}

/// AAEP-6.1-9, AAEP-6.4.2-3, AAEP-A.5-1: also where a question is asked twice and has more time, in each of the states that the
/// producer can be in.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_producer_agrees_in_each_of_its_states_where_it_asks_for_clarifications() {
    let bounds = AaepBounds {
        sessions: 1,
        disturbances: DISTURBED,
        ..AaepBounds::CLARIFY
    };
    let bridge = AaepBridge::new(bounds).expect("the bounds are in range");
    assert_eq!(agreed_on(&bridge, Scope::Pairs), (113_166, 605_682));
}

/// AAEP-6.1-4, AAEP-A.3-3, AAEP-A.6-1: work around a confirmation, and the replies as they were sent.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_producer_agrees_with_the_literal_model_that_works_around_a_question() {
    let bounds = AaepBounds {
        sessions: 1,
        confirmations: 1,
        disturbances: DISTURBED,
        ..AaepBounds::WORK
    };
    let bridge = AaepBridge::new(bounds).expect("the bounds are in range");
    assert_eq!(agreed(&bridge.literal()), (61_335, 199_798));
}

/// AAEP-A.2-3, AAEP-A.3-1, AAEP-A.6-2: also around two, in each of the states that the producer can be in.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_producer_agrees_in_each_of_its_states_where_it_works_around_a_question() {
    let bounds = AaepBounds {
        sessions: 1,
        disturbances: DISTURBED,
        ..AaepBounds::WORK
    };
    let bridge = AaepBridge::new(bounds).expect("the bounds are in range");
    assert_eq!(agreed_on(&bridge, Scope::Pairs), (363_054, 2_087_378));
}
