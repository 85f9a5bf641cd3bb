//! What commands ask of every text: each clause left out, each ambiguity read otherwise, two variants beside each other, and names.

use std::collections::BTreeSet;
use std::sync::Arc;

use countersign_model::checker::{Limit, PropertyVerdict};
use countersign_model::compare::{Compared, Difference};
use countersign_model::facade::engine::Catalog;
use countersign_model::facade::{Model, text};
use countersign_model::judge;
use countersign_model::numbers::Value;

/// The text of that name within those bounds.
pub fn within(name: &str, bounds: &str) -> Arc<dyn Model> {
    let text = text(name).expect("a text");
    (text.within)(bounds).expect("bounds")
}

/// What is said of bounds that there are not.
pub fn refused(name: &str, bounds: &str) -> String {
    let text = text(name).expect("a text");
    (text.within)(bounds).expect_err("no bounds").to_string()
}

/// The guarantees that are broken, and the clause of what only the checker finds.
pub fn said(broken: &[PropertyVerdict]) -> Vec<String> {
    let said = broken.iter().map(|it| {
        let finding = it.finding.as_ref().expect("what breaks is found");
        match finding.kind {
            judge::Kind::Guarantee => it.name.clone(),
            judge::Kind::Conformance => format!("judged {}", finding.clause),
        }
    });
    said.collect()
}

/// A line for each clause, and below it one for each guarantee that breaks without it.
///
/// # Panics
///
/// A clause breaks nothing, or breaks something in so few steps though its row says why nobody notices. Or a run without it does
/// not name the clause, or does not say what is required instead.
pub fn without(all: &dyn Model, free: usize) -> String {
    let mut report = String::new();
    for rule in &all.text().rules {
        report.extend([rule.name, "\n"]);
        let without = all.with(&[rule], &[]);
        if rule.free.is_some() {
            let broken = without.broken_within(free).properties;
            assert!(broken.is_empty(), "{}: {:?}", rule.name, said(&broken));
            continue;
        }
        let ablation = all.leave_out(rule);
        assert!(!ablation.breaks.is_empty(), "{report}");
        for it in said(&ablation.breaks) {
            report.extend(["  ", &it, "\n"]);
        }
        for broken in &ablation.breaks {
            let explanation = without.explain(&broken.steps);
            let needs: Vec<_> = explanation.needs.iter().map(|it| it.name).collect();
            assert_eq!(needs, [rule.name], "{}", broken.name);
            assert!(explanation.instead.is_some(), "{}", broken.name);
        }
    }
    report
}

/// A line for each way to read an ambiguity that is not the default, and below it one for each guarantee that breaks in so many steps.
pub fn by_reading(all: &dyn Model, steps: usize) -> String {
    let mut report = String::new();
    for place in &all.text().places {
        for way in place.choices.iter().skip(1) {
            let reading = all.with(&[], &[(place.name, way.value)]);
            report.extend([place.name, "=", way.value, "\n"]);
            for it in said(&reading.broken_within(steps).properties) {
                report.extend(["  ", &it, "\n"]);
            }
        }
    }
    report
}

/// The shortest run that tells a text without a clause from the text as it stands, which needs nothing else.
///
/// # Panics
///
/// Where there is none, or the text has a run that is wrong without the clause.
pub fn tells_apart(text: &dyn Model, clause: &str, limit: Limit) -> (Compared, Difference) {
    let without = text.with(&text.text().named(clause), &[]);
    let only_text = text.apart(&*without, limit, &mut |_| {});
    assert!(only_text.difference.is_none(), "{only_text:?}");
    let only_without = without.apart(text, limit, &mut |_| {});
    let difference = only_without.difference.expect("a run");
    assert_eq!(difference.needs.len(), 1);
    assert!(difference.instead.is_some());
    (only_text, difference)
}

/// Two ways to read an ambiguity are told apart in both directions.
///
/// # Panics
///
/// Where they are not.
pub fn readings_are_told_apart(one: &Arc<dyn Model>, (place, way): (&str, &str), limit: Limit) {
    let other = one.with(&[], &[(place, way)]);
    for (one, other) in [(one, &other), (&other, one)] {
        let compared = one.apart(&**other, limit, &mut |_| {});
        let difference = compared.difference.expect("a run");
        assert_eq!(difference.needs[0].name, place);
    }
}

/// Every name on the command line means one thing. A number that is changed is read back.
///
/// # Panics
///
/// Where that does not hold.
pub fn assert_named<P: Catalog>() {
    let mut names = BTreeSet::new();
    let clauses = P::CLAUSES.iter();
    let rules = clauses.flat_map(|it| [it.id].into_iter().chain(it.aliases.iter().copied()));
    let places = P::PLACES.iter().map(|it| it.name);
    let numbers = P::NUMBERS.iter().map(|it| it.name);
    for name in rules.chain(places).chain(numbers) {
        assert!(names.insert(name), "{name} means two things");
    }
    for place in P::PLACES {
        let ways: BTreeSet<_> = place.choices.iter().map(|it| it.value).collect();
        assert_eq!(ways.len(), place.choices.len(), "{}", place.name);
    }
    for number in P::NUMBERS {
        if let Value::Whole(it) = &number.value {
            let mut reading = P::Reading::default();
            let usual = (it.get)(&reading);
            assert!((it.from..=it.to).contains(&usual), "{}", number.name);
            (it.set)(&mut reading, it.to);
            assert_eq!((it.get)(&reading), it.to, "{}", number.name);
        }
    }
}
