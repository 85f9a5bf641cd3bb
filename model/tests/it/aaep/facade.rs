//! What commands ask of AAEP: each clause left out, each ambiguity read otherwise, and two variants beside each other.

use std::sync::Arc;

use countersign_model::checker::Limit;
use countersign_model::facade::Model;

use crate::common::facade::{by_reading, readings_are_told_apart, refused, tells_apart, without};
use crate::common::kept::assert_kept;

const NAME: &str = "aaep";

fn within(bounds: &str) -> Arc<dyn Model> {
    crate::common::facade::within(NAME, bounds)
}

/// Each clause breaks a guarantee, or only what the checker wants, or the table says why nobody notices.
#[test]
fn each_clause_that_is_left_out_shows_or_is_known_not_to() {
    assert_kept("aaep", "without.txt", &without(&*within("small"), 4));
}

/// A guarantee holds however the text is read; what a reading gives up, the table has.
#[test]
fn each_other_reading_breaks_what_it_gives_up_and_nothing_else() {
    let report = by_reading(&*within("small"), 5);
    assert_kept("aaep", "by_reading.txt", &report);
}

/// AAEP-6.3.4-4: without a clause nothing is required that is forbidden with it.
#[test]
fn a_variant_without_a_clause_allows_what_the_text_does_and_more() {
    let limit = Limit {
        steps: 6,
        pairs: 200_000,
    };
    tells_apart(&*within("replies"), "AAEP-6.3.4-4", limit);
}

/// AAEP-6.3.4-4: two readings are told apart in both directions.
#[test]
fn two_readings_are_told_apart() {
    let limit = Limit {
        steps: 6,
        pairs: 200_000,
    };
    let replies = within("replies");
    readings_are_told_apart(&replies, ("deadline-boundary", "inclusive"), limit);
}

#[test]
fn bounds_are_worlds_by_their_names() {
    let written = |bounds: &str| within(bounds).bounds();
    assert_eq!(written("two-words"), "two-words");
    assert_eq!(written("small,crash=1"), "small,crash=1");
    let refused = |bounds: &str| refused(NAME, bounds);
    assert!(refused("huge").contains("expected one of small, default, one, replies, one-crash"));
    assert!(refused("one,crash=9").contains("crash is 9, expected 0 to 3"));
}
