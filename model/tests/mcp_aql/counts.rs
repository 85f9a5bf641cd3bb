//! How many states and steps the model has, and that every property holds on all of them.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::bounds::Bounds;

use crate::common::counts::size;
use crate::common::{small, within};

#[test]
fn every_property_holds_at_small_bounds() {
    assert_eq!(size(&small::<McpAqlProtocol>()), (73_647, 517_831));
}

#[test]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let literal = small::<McpAqlProtocol>().literal();
    assert_eq!(size(&literal), (1_040_859, 5_108_167));
}

#[test]
fn every_property_holds_at_default_bounds() {
    let model = within::<McpAqlProtocol>(Bounds::DEFAULT);
    assert_eq!(size(&model), (933_237, 10_216_029));
}
