//! What commands ask of MCP-AQL: each clause left out, each ambiguity read otherwise, and two variants beside each other.

use countersign_model::checker::Limit;

use crate::common::facade::{by_reading, readings_are_told_apart, refused, tells_apart, without};
use crate::common::kept::assert_kept;

const NAME: &str = "mcp-aql";

fn within(bounds: &str) -> std::sync::Arc<dyn countersign_model::facade::Model> {
    crate::common::facade::within(NAME, bounds)
}

/// Each clause breaks a guarantee, or only what the checker wants, or the table says why nobody notices.
#[test]
fn each_clause_that_is_left_out_shows_or_is_known_not_to() {
    assert_kept("mcp_aql", "without.txt", &without(&*within("small"), 2));
}

/// A guarantee holds however the text is read; what a reading gives up, the table has.
#[test]
fn each_other_reading_breaks_what_it_gives_up_and_nothing_else() {
    let report = by_reading(&*within("small"), 3);
    assert_kept("mcp_aql", "by_reading.txt", &report);
}

/// AQL-4.1-4: without a clause nothing is required that is forbidden with it.
#[test]
fn a_variant_without_a_clause_allows_what_the_text_does_and_more() {
    let limit = Limit {
        steps: 3,
        pairs: 200_000,
    };
    tells_apart(&*within("two"), "AQL-4.1-4", limit);
}

/// AQL-4.1-1, AQL-4.3-1: two readings are told apart in both directions.
#[test]
fn two_readings_are_told_apart() {
    let limit = Limit {
        steps: 4,
        pairs: 400_000,
    };
    readings_are_told_apart(&within("two"), ("check-order", "sample"), limit);
}

#[test]
fn bounds_are_worlds_by_their_names() {
    let written = |bounds: &str| within(bounds).bounds();
    assert_eq!(written("two-crash"), "two-crash");
    assert_eq!(written("small,tokens=1"), "small,tokens=1");
    let refused = |bounds: &str| refused(NAME, bounds);
    assert!(refused("huge").contains("expected one of small, default, one, faults, two, settings"));
    assert!(refused("one,tokens=9").contains("tokens is 9, expected 1 to 3"));
}
