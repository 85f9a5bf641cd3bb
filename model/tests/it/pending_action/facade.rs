//! What commands ask of pending actions: each clause left out, each ambiguity read otherwise, and two variants beside each other.

use std::sync::Arc;

use countersign_model::checker::{Kind, Limit};
use countersign_model::engine::model::CONFORMS;
use countersign_model::facade::{Model, text};
use countersign_model::pending_action::PendingAction;

use crate::common::facade::{
    assert_named, by_reading, readings_are_told_apart, refused, said, tells_apart, without,
};
use crate::common::kept::assert_kept;

const NAME: &str = "pending-action";

fn within(bounds: &str) -> Arc<dyn Model> {
    crate::common::facade::within(NAME, bounds)
}

/// A rule is known by the place of its clause, and by its earlier name.
#[test]
fn every_name_means_one_thing() {
    assert_named::<PendingAction>();
    let named = text(NAME).expect("a text").named("honours-stranger");
    assert_eq!(named.iter().map(|it| it.name).collect::<Vec<_>>(), ["PA-2"]);
}

/// Each clause breaks a guarantee, or only what the checker wants, or the table says why nobody notices.
#[test]
fn each_clause_that_is_left_out_shows_or_is_known_not_to() {
    let all = within("small");
    let report = without(&*all, all.text().longest);
    assert_kept("pending_action", "without.txt", &report);
}

/// A guarantee holds however the text is read; what a reading gives up, the table has.
#[test]
fn each_other_reading_breaks_what_it_gives_up_and_nothing_else() {
    let report = by_reading(&*within("small"), 3);
    assert_kept("pending_action", "by_reading.txt", &report);
}

/// PA-7: the first run that breaks something ends the search of a changed text; the others are not said to hold.
#[test]
fn a_changed_text_is_searched_until_its_first_break() {
    let one = within("one");
    let without = one.with(&one.text().named("PA-7"), &[]);
    let report = without.check(false, &mut |_| {});
    assert!(!report.exhaustive);
    let broken = report
        .properties
        .iter()
        .filter(|it| it.kind == Kind::Always);
    let broken: Vec<_> = broken.filter(|it| !it.holds).cloned().collect();
    let said = said(&broken);
    let has = |name: &str| said.iter().any(|it| it == name);
    assert!(has("PA-7 nothing runs that has expired"), "{said:?}");
    assert!(has("judged PA-7"), "{said:?}");
    assert!(broken.iter().all(|it| it.steps.len() == 3), "{said:?}");
}

/// PA-7: without a clause nothing is required that is forbidden with it.
#[test]
fn a_variant_without_a_clause_allows_what_the_text_does_and_more() {
    let limit = Limit {
        steps: 4,
        pairs: 400_000,
    };
    let (only_text, _) = tells_apart(&*within("one"), "PA-7", limit);
    let freed = only_text.allowed.expect("a run that is no longer required");
    assert!(freed.is_no_longer_required());
}

/// PA-7: two readings are told apart in both directions.
#[test]
fn two_readings_are_told_apart() {
    let limit = Limit {
        steps: 4,
        pairs: 400_000,
    };
    readings_are_told_apart(&within("one"), ("expiry-boundary", "after"), limit);
}

#[test]
fn bounds_are_worlds_by_their_names() {
    let written = |bounds: &str| within(bounds).bounds();
    assert_eq!(written("two-crash"), "two-crash");
    assert_eq!(written("small,actions=1"), "small,actions=1");
    let refused = |bounds: &str| refused(NAME, bounds);
    assert!(refused("huge").contains("expected one of small, default, one, two, two-crash"));
    assert!(refused("one,actions=9").contains("actions is 9, expected 1 to 3"));
    assert!(refused("one,x=1").contains("there is no number `x`"));
    assert_eq!(CONFORMS, "every output is explained by the text");
}
