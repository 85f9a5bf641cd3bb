//! What commands ask of pending actions: each clause left out, each ambiguity read otherwise, and two variants beside each other.

use std::sync::Arc;

use countersign_model::checker::{Kind, PropertyVerdict};
use countersign_model::engine::model::CONFORMS;
use countersign_model::engine::protocol::Protocol;
use countersign_model::facade::{Model, Text, text};
use countersign_model::judge;
use countersign_model::judged::Limit;
use countersign_model::pending_action::PendingAction;

fn pending_actions() -> &'static Text {
    text("pending-action").expect("a text")
}

fn within(bounds: &str) -> Arc<dyn Model> {
    (pending_actions().within)(bounds).expect("bounds")
}

/// The chief clauses of the guarantees that are broken, and that of what is only judged wrong.
fn said(broken: &[PropertyVerdict]) -> Vec<String> {
    let said = broken.iter().map(|it| {
        let finding = it.finding.as_ref().expect("what breaks is found");
        match finding.kind {
            judge::Kind::Guarantee => it.name.clone(),
            judge::Kind::Conformance => format!("judged {}", finding.clause),
        }
    });
    said.collect()
}

/// A rule is known by the place of its clause.
#[test]
fn the_rules_are_the_clauses_in_the_order_of_the_text() {
    let rules: Vec<_> = pending_actions().rules.iter().map(|it| it.name).collect();
    let clauses: Vec<_> = PendingAction::CLAUSES.iter().map(|it| it.id).collect();
    assert_eq!(rules, clauses);
    let named = pending_actions().named("honours-stranger");
    assert_eq!(named.iter().map(|it| it.name).collect::<Vec<_>>(), ["PA-2"]);
}

/// Each clause breaks a guarantee, or only what the checker wants, or the table says why nobody notices. What the checker finds names
/// the clause, and the run says what made it possible and what is required instead.
#[test]
fn each_clause_that_is_left_out_shows_or_is_known_not_to() {
    let all = within("small");
    let mut report = String::new();
    for rule in &pending_actions().rules {
        let ablation = all.leave_out(rule);
        report.extend([rule.name, "\n"]);
        for it in said(&ablation.breaks) {
            report.extend(["  ", &it, "\n"]);
        }
        assert!(ablation.is_explained(), "{report}");
        assert_eq!(rule.free.is_some(), ablation.breaks.is_empty(), "{report}");
        let without = all.with(&[rule], &[]);
        for broken in &ablation.breaks {
            let explanation = without.explain(&broken.steps);
            let needs: Vec<_> = explanation.needs.iter().map(|it| it.name).collect();
            assert_eq!(needs, [rule.name], "{}", broken.name);
            assert!(explanation.instead.is_some(), "{}", broken.name);
        }
    }
    assert_eq!(report, include_str!("without.txt"));
}

/// A guarantee holds however the text is read; what a reading gives up, the table has.
#[test]
fn each_other_reading_breaks_what_it_gives_up_and_nothing_else() {
    let all = within("small");
    let mut report = String::new();
    for place in &pending_actions().places {
        for way in place.choices.iter().skip(1) {
            let reading = all.with(&[], &[(place.name, way.value)]);
            report.extend([place.name, "=", way.value, "\n"]);
            for it in said(&reading.broken_within(3).properties) {
                report.extend(["  ", &it, "\n"]);
            }
        }
    }
    assert_eq!(report, include_str!("by_reading.txt"));
}

/// PA-7: the first run that breaks something ends the search of a changed text; the others are not said to hold.
#[test]
fn a_changed_text_is_searched_until_its_first_break() {
    let pa_7 = pending_actions().named("PA-7");
    let report = within("one").with(&pa_7, &[]).check(false, &mut |_| {});
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
    let text = within("one");
    let without = text.with(&pending_actions().named("PA-7"), &[]);
    let only_text = text.apart(&*without, limit, &mut |_| {});
    assert!(only_text.difference.is_none());
    let freed = only_text.allowed.expect("a run that is no longer required");
    assert!(freed.is_no_longer_required());
    let only_without = without.apart(&*text, limit, &mut |_| {});
    let difference = only_without.difference.expect("a run");
    assert_eq!(difference.needs.len(), 1);
    assert!(difference.instead.is_some());
}

/// PA-7: two readings are told apart in both directions.
#[test]
fn two_readings_are_told_apart() {
    let limit = Limit {
        steps: 4,
        pairs: 400_000,
    };
    let at = within("one");
    let after = at.with(&[], &[("expiry-boundary", "after")]);
    for (one, other) in [(&at, &after), (&after, &at)] {
        let compared = one.apart(&**other, limit, &mut |_| {});
        let difference = compared.difference.expect("a run");
        assert_eq!(difference.needs[0].name, "expiry-boundary");
    }
}

#[test]
fn bounds_are_worlds_by_their_names() {
    let written = |bounds: &str| within(bounds).bounds();
    assert_eq!(written("two-crash"), "two-crash");
    assert_eq!(written("small,actions=1"), "small,actions=1");
    let refused = |bounds: &str| {
        let refused = (pending_actions().within)(bounds);
        refused.expect_err("no bounds").to_string()
    };
    assert!(refused("huge").contains("expected one of small, default, one, two, two-crash"));
    assert!(refused("one,actions=9").contains("actions is 9, expected 1 to 3"));
    assert!(refused("one,x=1").contains("there is no number `x`"));
    assert_eq!(CONFORMS, "every output is explained by the text");
}
