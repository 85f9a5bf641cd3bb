//! Ablations as a table, and what is asked of them.

use std::collections::BTreeSet;
use std::fmt::Write;

use countersign_model::ablation::Ablation;
use countersign_model::rules::{Guards, Level};
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;

use super::recording::note;

/// Ablations as a text: a line for each guard, then one for each invariant that breaks, with the steps that it takes.
pub fn table<G: Guards>(ablations: &[Ablation<G>]) -> String {
    let mut text = String::new();
    for ablation in ablations {
        let masked = ablation.masked_by.map_or("", |guard| guard.row().name);
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
pub fn assert_carried<T: Modelled>(ablations: &[Ablation<T::Guard>]) {
    for ablation in ablations {
        if !ablation.breaks.is_empty() {
            note(ablation.guard.clauses.iter().copied());
        }
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
        .map(|broken| broken.name.clone())
        .collect();
    assert_eq!(
        broken,
        T::Invariant::ROWS
            .iter()
            .map(|row| row.name.into())
            .collect()
    );
}

/// Checks that the rows of every table stand in the order of what they are about, by which they are found.
pub fn assert_ordered<T: Modelled>() {
    for (place, row) in T::Guard::ROWS.iter().enumerate() {
        assert_eq!(row.guard.place(), place, "{}", row.name);
    }
    for (place, row) in T::Invariant::ROWS.iter().enumerate() {
        assert_eq!(row.invariant.place(), place, "{}", row.name);
    }
    for (place, row) in T::Witness::ROWS.iter().enumerate() {
        assert_eq!(row.witness.place(), place, "{}", row.name);
    }
}
