//! Ablations as a table, and what is asked of them.

use std::collections::BTreeSet;
use std::fmt::Write;

use countersign_model::ablation::{Ablation, telling};
use countersign_model::checker::PropertyVerdict;
use countersign_model::properties::PropertyRow;
use countersign_model::rules::Guards;
use countersign_model::specification::Modelled;

/// What is broken as a text: a line for each property, with the steps that it takes and whether it is a guarantee.
pub fn broken(properties: &[PropertyVerdict]) -> String {
    let mut text = String::new();
    for property in properties {
        let finding = property.finding.as_ref().expect("it is broken");
        let (steps, kind) = (property.steps.len(), finding.kind.name());
        writeln!(text, "  {steps} {kind} {}", property.name).expect("a string can be written to");
    }
    text
}

/// Ablations as a text: a line for each guard, then one for each property that breaks.
pub fn table<G: Guards>(ablations: &[Ablation<G>]) -> String {
    let mut text = String::new();
    for ablation in ablations {
        let masked = ablation.masked_by.map_or("", |guard| guard.row().name);
        let line = format!(
            "{} {} {masked}",
            ablation.guard.name, ablation.guard.clauses[0]
        );
        writeln!(text, "{}", line.trim_end()).expect("a string can be written to");
        text.push_str(&broken(&ablation.breaks));
    }
    text
}

/// Checks that every rule breaks something, unless it is known why it is free, and that every property is broken by some.
pub fn assert_carried<T: Modelled>(ablations: &[Ablation<T::Guard>]) {
    for ablation in ablations {
        let name = ablation.guard.name;
        assert!(ablation.is_explained(), "{name} breaks nothing");
        let telling = telling(ablation.guard, ablation.breaks.iter());
        let own = |it: &&PropertyVerdict| it.clauses[0] == ablation.guard.clauses[0];
        let is_free = ablation.guard.free.is_some();
        assert!(
            is_free || !telling.is_empty(),
            "{name} breaks other clauses than its own"
        );
        assert!(
            !is_free || !telling.iter().any(own),
            "{name} is said to be free"
        );
    }
    let broken = ablations.iter().flat_map(|ablation| &ablation.breaks);
    let broken: BTreeSet<_> = broken.map(|broken| broken.name.clone()).collect();
    let all = T::PROPERTIES.iter().map(PropertyRow::name);
    let unstated: Vec<_> = broken
        .iter()
        .filter(|name| name.ends_with("no property states"))
        .collect();
    assert!(unstated.is_empty(), "{unstated:#?}");
    let never: Vec<_> = all.filter(|name| !broken.contains(name)).collect();
    assert!(never.is_empty(), "nothing breaks these: {never:#?}");
}
