//! How many states and steps the model has within small bounds, and that every property holds on all of them. The main job does
//! so within the default ones, and `.ci/run` holds its figures against the README's.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::bounds::Bounds;

use crate::common::counts::size;
use crate::common::engine::assert_as_stateright;
use crate::common::{small, within};

#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_small_bounds() {
    assert_eq!(size(&small::<PendingActionProtocol>()), (69_170, 347_645));
}

#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let literal = small::<PendingActionProtocol>().literal();
    assert_eq!(size(&literal), (4_876_795, 11_986_799));
}

#[test]
#[ignore = "night: walks whole graphs"]
fn the_search_comes_as_far_as_stateright() {
    // Stateright keeps each judge as a whole.
    let one_action = Bounds {
        actions: 1,
        ..Bounds::SMALL
    };
    assert_as_stateright(&within::<PendingActionProtocol>(one_action));
}
