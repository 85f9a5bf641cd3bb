//! What commands ask of MCP-AQL: each clause left out, each ambiguity read otherwise, and two variants beside each other.

use std::sync::Arc;

use countersign_model::checker::PropertyVerdict;
use countersign_model::facade::{Model, Text, text};
use countersign_model::judge;
use countersign_model::judged::Limit;

fn confirmation_tokens() -> &'static Text {
    text("mcp-aql").expect("a text")
}

fn within(bounds: &str) -> Arc<dyn Model> {
    (confirmation_tokens().within)(bounds).expect("bounds")
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

/// Each clause breaks a guarantee, or only what the checker wants, or the table says why nobody notices. What the checker finds
/// names the clause, and the run says what made it possible and what is required instead.
#[test]
fn each_clause_that_is_left_out_shows_or_is_known_not_to() {
    let all = within("small");
    let mut report = String::new();
    for rule in &confirmation_tokens().rules {
        report.extend([rule.name, "\n"]);
        let without = all.with(&[rule], &[]);
        if rule.free.is_some() {
            let broken = without.broken_within(2);
            assert!(broken.properties.is_empty(), "{}", rule.name);
            continue;
        }
        let ablation = all.leave_out(rule);
        for it in said(&ablation.breaks) {
            report.extend(["  ", &it, "\n"]);
        }
        assert!(!ablation.breaks.is_empty(), "{report}");
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
    for place in &confirmation_tokens().places {
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

/// AQL-4.1-4: without a clause nothing is required that is forbidden with it.
#[test]
fn a_variant_without_a_clause_allows_what_the_text_does_and_more() {
    let limit = Limit {
        steps: 3,
        pairs: 200_000,
    };
    let text = within("two");
    let without = text.with(&confirmation_tokens().named("AQL-4.1-4"), &[]);
    let only_text = text.apart(&*without, limit, &mut |_| {});
    assert!(only_text.difference.is_none());
    let only_without = without.apart(&*text, limit, &mut |_| {});
    let difference = only_without.difference.expect("a run");
    assert_eq!(difference.needs.len(), 1);
    assert!(difference.instead.is_some());
}

/// AQL-4.1-1, AQL-4.3-1: two readings are told apart in both directions.
#[test]
fn two_readings_are_told_apart() {
    let limit = Limit {
        steps: 4,
        pairs: 400_000,
    };
    let table = within("two");
    let sample = table.with(&[], &[("check-order", "sample")]);
    for (one, other) in [(&table, &sample), (&sample, &table)] {
        let compared = one.apart(&**other, limit, &mut |_| {});
        let difference = compared.difference.expect("a run");
        assert_eq!(difference.needs[0].name, "check-order");
    }
}

#[test]
fn bounds_are_worlds_by_their_names() {
    let written = |bounds: &str| within(bounds).bounds();
    assert_eq!(written("two-crash"), "two-crash");
    assert_eq!(written("small,tokens=1"), "small,tokens=1");
    let refused = |bounds: &str| {
        let refused = (confirmation_tokens().within)(bounds);
        refused.expect_err("no bounds").to_string()
    };
    assert!(refused("huge").contains("expected one of small, default, one, faults, two, settings"));
    assert!(refused("one,tokens=9").contains("tokens is 9, expected 1 to 3"));
}
