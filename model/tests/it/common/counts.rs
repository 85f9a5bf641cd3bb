//! The size of a model.

use countersign_model::checker::{CheckReport, check};
use countersign_model::specification::{Modelled, Specification};

/// The properties that do not hold.
pub fn failures(report: &CheckReport) -> Vec<&str> {
    report
        .properties
        .iter()
        .filter(|property| !property.holds)
        .map(|property| &*property.name)
        .collect()
}

/// Searches the whole graph, on which every property has to hold: its unique states and its transitions.
pub fn size<T: Modelled>(model: &Specification<T>) -> (usize, usize) {
    let report = check(model, |_| {});
    assert_eq!(failures(&report), Vec::<&str>::new());
    assert!(report.exhaustive);
    (report.unique_states, report.transitions)
}
