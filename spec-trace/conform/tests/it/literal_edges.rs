//! Every edge in readings, settings and bounds that are not those of `verify`, most of them of the literal models. What `verify`
//! walks is walked by it alone.

use countersign_conform::Sides;
use countersign_conform::aaep::{self, AaepBridge};
use countersign_conform::edges::{self, Scope};
use countersign_conform::mcp_aql::{self, McpAqlBridge};
use countersign_model::aaep::bounds::{Bounds as AaepBounds, Budgets};
use countersign_model::mcp_aql::bounds::{Bounds as McpAqlBounds, Budgets as McpAqlBudgets};

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

/// AQL-4.3-1, AQL-7.1-1: also where the checks are made in the order of the sample none is left out, and the first of
/// several faults is another.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_with_the_literal_model_in_the_order_of_the_sample() {
    let bounds = McpAqlBounds {
        tokens: 1,
        ..mcp_aql::LITERAL
    };
    let bridge = McpAqlBridge::new(bounds).expect("the bounds are in range");
    let bridge = bridge.in_the_order_of_the_sample();
    assert_eq!(agreed(&bridge), (12_073, 49_749));
}

/// AQL-5.1-4, AQL-5.1-5, AQL-5.1-6, AQL-5.1-7: also with the tolerance of 30 seconds, which is there unless the operator says
/// otherwise, and which nobody is warned of.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_with_the_model_with_thirty_seconds_of_tolerance() {
    let bridge = McpAqlBridge::new(mcp_aql::LITERAL).expect("the bounds are in range");
    let bridge = bridge.with_thirty_seconds_of_tolerance();
    assert_eq!(agreed(&bridge), (73_647, 523_643));
}

/// AQL-6.5-1: where failed validations, issues and revocations are limited.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_where_tries_are_limited() {
    let bridge = McpAqlBridge::new(McpAqlBounds::LIMITED).expect("the bounds are in range");
    assert_eq!(agreed(&bridge), (147_617, 950_605));
}

/// AQL-5.5-3: where there is room for one active token.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_where_there_is_room_for_one() {
    let bridge = McpAqlBridge::new(McpAqlBounds::CROWDED).expect("the bounds are in range");
    assert_eq!(agreed(&bridge), (45_047, 302_871));
}

/// One signed token, and a second disturbance in a run.
const SIGNED_OF_ONE: McpAqlBounds = McpAqlBounds {
    tokens: 1,
    disturbances: McpAqlBudgets::new([1, 1, 1, 1, 1, 1, 0], 2),
    ..McpAqlBounds::SIGNED
};

/// AQL-6.1-1, AQL-6.2-2: the same in each of the states that the gatekeeper can be in, with one token.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_in_each_of_its_states_where_tokens_are_signed() {
    let bridge = McpAqlBridge::new(SIGNED_OF_ONE).expect("the bounds are in range");
    assert_eq!(agreed_on(&bridge, Scope::Pairs), (37_623, 157_265));
}

/// AQL-4.3-1, AQL-6.2-2: the same in the order of the sample.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_in_the_order_of_the_sample_where_tokens_are_signed() {
    let bridge = McpAqlBridge::new(SIGNED_OF_ONE).expect("the bounds are in range");
    assert_eq!(
        agreed(&bridge.in_the_order_of_the_sample()),
        (27_117, 117_537)
    );
}

/// AQL-6.5-1: where they are limited, with each call as it was sent, for one token and to the second try.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_with_the_literal_model_where_tries_are_limited() {
    let bounds = McpAqlBounds {
        tokens: 1,
        limit: 2,
        ..McpAqlBounds::LIMITED
    };
    let bridge = McpAqlBridge::new(bounds).expect("the bounds are in range");
    assert_eq!(agreed(&bridge.literal()), (71_593, 308_197));
}

/// One token, lists that change, and a second disturbance in a run.
const LISTS_OF_ONE: McpAqlBounds = McpAqlBounds {
    tokens: 1,
    disturbances: McpAqlBudgets::new([1; 7], 2),
    ..McpAqlBounds::LISTS
};

/// AQL-3.2-4, AQL-5.3-2: the same in each of the states that the gatekeeper can be in, with one token.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_in_each_of_its_states_where_lists_change() {
    let bridge = McpAqlBridge::new(LISTS_OF_ONE).expect("the bounds are in range");
    assert_eq!(agreed_on(&bridge, Scope::Pairs), (91_457, 633_577));
}

/// AQL-3.2-4, AQL-4.3-1: the same with each call as it was sent.
#[test]
#[ignore = "night: walks whole graphs"]
fn the_gatekeeper_agrees_with_the_literal_model_where_lists_change() {
    let bridge = McpAqlBridge::new(LISTS_OF_ONE).expect("the bounds are in range");
    assert_eq!(agreed(&bridge.literal()), (328_617, 1_427_801));
}
