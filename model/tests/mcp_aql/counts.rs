//! How many states and steps the model has, and that every property holds on all of them.
//!
//! A change of a number here is a change of the specification and has to be explained where it is made.

use countersign_model::checker::{CheckReport, check};
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::bounds::Bounds;

/// The search of these bounds, which are known to be in range.
fn searched(bounds: Bounds, quotient: bool) -> CheckReport {
    let model = McpAql::new(bounds).expect("a preset is in range");
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
        (60_963, 397_557, 19)
    );
}

#[test]
fn every_property_holds_at_small_bounds_without_the_quotient() {
    let report = searched(Bounds::SMALL, false);
    assert_eq!(failures(&report), Vec::<&str>::new());
    assert_eq!(
        (report.unique_states, report.transitions, report.depth),
        (853_121, 4_100_735, 23)
    );
}

#[test]
fn every_property_holds_at_default_bounds() {
    let report = searched(Bounds::DEFAULT, true);
    assert_eq!(failures(&report), Vec::<&str>::new());
    assert_eq!(
        (report.unique_states, report.transitions, report.depth),
        (566_809, 5_684_555, 23)
    );
}
