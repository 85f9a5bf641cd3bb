//! How many states and steps the model has within small bounds, and that every property holds on all of them. The main job does
//! so within the default ones, and `.ci/run` holds its figures against the README's.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::bounds::Bounds;

use crate::common::counts::size;
use crate::common::engine::assert_as_stateright;
use crate::common::{small, within};

#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_small_bounds() {
    assert_eq!(size(&small::<McpAqlProtocol>()), (73_647, 523_643));
}

#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let literal = small::<McpAqlProtocol>().literal();
    assert_eq!(size(&literal), (1_040_859, 5_162_491));
}

/// AQL-5.5-3: also where there is room for one active token.
#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_where_there_is_room_for_one() {
    assert_eq!(
        size(&within::<McpAqlProtocol>(Bounds::CROWDED)),
        (45_047, 302_871)
    );
}

/// AQL-6.5-1: also where validations, issues and revocations are limited.
#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_where_failed_validations_are_limited() {
    assert_eq!(
        size(&within::<McpAqlProtocol>(Bounds::LIMITED)),
        (147_617, 950_605)
    );
}

/// AQL-3.2-4, AQL-5.3-2: also where the operator changes which parameters count.
#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_where_lists_change() {
    assert_eq!(
        size(&within::<McpAqlProtocol>(Bounds::LISTS)),
        (321_767, 2_275_971)
    );
}

/// AQL-6.2-2, AQL-7.3-2: also where tokens are signed, by the reading of those bounds.
#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_where_tokens_are_signed() {
    assert_eq!(
        size(&within::<McpAqlProtocol>(Bounds::SIGNED)),
        (125_697, 623_053)
    );
}

#[test]
#[ignore = "night: walks whole graphs"]
fn the_search_comes_as_far_as_stateright() {
    // Stateright keeps each judge as a whole.
    let one_token = Bounds {
        tokens: 1,
        ..Bounds::SMALL
    };
    assert_as_stateright(&within::<McpAqlProtocol>(one_token));
}
