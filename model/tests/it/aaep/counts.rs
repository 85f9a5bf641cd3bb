//! How many states and steps the model has within small bounds, and that every property holds on all of them. The main job does
//! so within the default ones, and `.ci/run` holds its figures against the README's.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::checker::{Kind, check};

use crate::common::counts::{failures, size};
use crate::common::engine::assert_as_stateright;
use crate::common::{small, within};

#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_small_bounds() {
    assert_eq!(size(&small::<AaepProtocol>()), (31_419, 248_101));
}

#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let literal = small::<AaepProtocol>().literal();
    assert_eq!(size(&literal), (5_496_085, 17_900_065));
}

/// Clarifications and extensions have bounds of their own.
#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_clarify_bounds() {
    let clarify = within::<AaepProtocol>(Bounds::CLARIFY);
    assert_eq!(size(&clarify), (205_867, 1_692_748));
}

/// So has work around the questions.
#[test]
#[ignore = "night: walks whole graphs"]
fn every_property_holds_at_work_bounds() {
    let work = within::<AaepProtocol>(Bounds::WORK);
    assert_eq!(size(&work), (714_653, 6_402_658));
}

#[test]
#[ignore = "night: walks whole graphs"]
fn a_report_lists_the_invariants_and_then_the_witnesses() {
    let bounds = Bounds {
        confirmations: 1,
        ..Bounds::SMALL
    };
    let report = check(&within::<AaepProtocol>(bounds), |_| {});
    let kinds: Vec<_> = report
        .properties
        .iter()
        .map(|property| property.kind)
        .collect();
    assert!(kinds.is_sorted_by_key(|kind| *kind == Kind::Sometimes));
    // With one confirmation nothing can happen beside it, so some witnesses are missing, and the report says so.
    assert!(failures(&report).contains(&"6.2.2-3 a second confirmation has a token of its own"));
    assert!(!report.holds());
}

#[test]
#[ignore = "night: walks whole graphs"]
fn the_search_comes_as_far_as_stateright() {
    assert_as_stateright(&small::<AaepProtocol>());
}
