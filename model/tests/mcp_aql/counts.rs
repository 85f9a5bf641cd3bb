//! How many states and steps the model has, and that every property holds on all of them.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::bounds::Bounds;

use crate::common::counts::size;
use crate::common::{small, within};

#[test]
fn every_property_holds_at_small_bounds() {
    assert_eq!(size(&small::<McpAqlProtocol>()), (60_963, 397_557));
}

#[test]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let literal = small::<McpAqlProtocol>().literal();
    assert_eq!(size(&literal), (816_903, 3_933_711));
}

#[test]
fn every_property_holds_at_default_bounds() {
    let model = within::<McpAqlProtocol>(Bounds::DEFAULT);
    assert_eq!(size(&model), (566_809, 5_684_555));
}
