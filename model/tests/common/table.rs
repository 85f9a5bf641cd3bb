//! Ablations as a table, and what is asked of them.

use std::collections::BTreeSet;
use std::fmt::Write;

use countersign_model::ablation::Ablation;
use countersign_model::rules::{Guards, Level};

/// Ablations as a text: a line for each guard, then one for each invariant that breaks, with the steps that it takes.
pub fn table<G: Guards>(ablations: &[Ablation<G>]) -> String {
    let mut text = String::new();
    for ablation in ablations {
        let masked = ablation
            .masked_by
            .map_or("", |guard| G::ROWS[guard.place()].name);
        let line = format!(
            "{} {} {masked}",
            ablation.guard.name, ablation.guard.clauses[0]
        );
        writeln!(text, "{}", line.trim_end()).expect("a string can be written to");
        for broken in &ablation.breaks {
            writeln!(text, "  {} {}", broken.steps.len(), broken.name)
                .expect("a string can be written to");
        }
    }
    text
}

/// Checks that every rule but the informative ones carries something, and that every invariant is carried.
pub fn assert_carried<G: Guards>(ablations: &[Ablation<G>], invariants: &BTreeSet<&str>) {
    for ablation in ablations {
        let binding = ablation.guard.level != Level::Info;
        assert!(
            !binding || !ablation.breaks.is_empty(),
            "{} breaks nothing",
            ablation.guard.name
        );
    }
    let broken: BTreeSet<_> = ablations
        .iter()
        .flat_map(|ablation| &ablation.breaks)
        .map(|broken| broken.name)
        .collect();
    assert_eq!(&broken, invariants);
}
