//! How many states and steps the model has, and that every property holds on all of them.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::aaep::Aaep;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::checker::{CheckReport, Kind, check};

/// The search of these bounds, which are known to be in range.
fn searched(bounds: Bounds, quotient: bool) -> CheckReport {
    let model = Aaep::new(bounds).expect("a preset is in range");
    let model = if quotient { model } else { model.literal() };
    check(&model, |_| {})
}

/// Says which properties do not hold.
fn failures(report: &CheckReport) -> Vec<&'static str> {
    report
        .properties
        .iter()
        .filter(|property| !property.holds)
        .map(|property| property.name)
        .collect()
}

#[test]
fn every_property_holds_at_small_bounds() {
    let report = searched(Bounds::SMALL, true);
    assert_eq!(failures(&report), Vec::<&str>::new());
    assert!(report.exhaustive);
    assert_eq!(
        (report.unique_states, report.transitions, report.depth),
        (20_659, 162_749, 18)
    );
}

#[test]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let report = searched(Bounds::SMALL, false);
    assert_eq!(failures(&report), Vec::<&str>::new());
    assert_eq!(
        (report.unique_states, report.transitions, report.depth),
        (2_705_701, 8_488_332, 22)
    );
}

#[test]
fn every_property_holds_at_default_bounds() {
    let report = searched(Bounds::DEFAULT, true);
    assert_eq!(failures(&report), Vec::<&str>::new());
    assert_eq!(
        (report.unique_states, report.transitions, report.depth),
        (893_790, 11_281_862, 21)
    );
}

#[test]
fn a_report_lists_the_invariants_and_then_the_witnesses() {
    let bounds = Bounds {
        confirmations: 1,
        ..Bounds::SMALL
    };
    let report = searched(bounds, true);
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
