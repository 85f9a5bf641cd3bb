//! What every rule is worth: which invariants break without it, and after how many steps at the soonest.
//!
//! The table is a committed file, `ablation.txt`. A change of it is a change of the specification and has to be explained.

use std::collections::BTreeSet;
use std::fmt::Write;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::ablation::{Ablation, LONGEST, ablate, leave_out};
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::properties::INVARIANTS;
use countersign_model::aaep::rules::{GUARDS, Guard, Level};

/// The table as a text: a line for each guard, then one for each invariant that breaks, with the steps that it takes.
fn table(ablations: &[Ablation]) -> String {
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

#[test]
fn every_rule_carries_something_and_every_invariant_is_carried() {
    let ablations = ablate(Bounds::SMALL, |_| {}).expect("a preset is in range");
    for ablation in &ablations {
        let binding = matches!(ablation.guard.level, Level::Must | Level::MustNot);
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
    let carried: BTreeSet<_> = INVARIANTS.iter().map(|row| row.name).collect();
    assert_eq!(broken, carried);
    let found = table(&ablations);
    let pinned = include_str!("ablation.txt");
    assert!(found == pinned, "the table of ablations is now:\n{found}");
}

#[test]
fn a_counterexample_ends_with_the_step_that_breaks_the_invariant() {
    let specification = Aaep::new(Bounds::SMALL).expect("a preset is in range");
    let ablation = leave_out(&specification, Guard::HonoursUsed.row());
    let broken = ablation
        .breaks
        .iter()
        .find(|broken| broken.name.starts_with("6.3.5-1"))
        .expect("it breaks");
    let actors: Vec<_> = broken
        .steps
        .iter()
        .map(|step| step.actor.as_str())
        .collect();
    assert_eq!(actors, ["producer", "host", "clock", "s1", "network"]);
    assert!(broken.steps.len() <= LONGEST);
}

#[test]
fn guards_are_found_by_name_and_by_clause() {
    assert_eq!(Guard::named("honours-late"), [Guard::HonoursLate]);
    assert_eq!(Guard::named("AAEP-6.3.4-3"), [Guard::HonoursUsed]);
    assert_eq!(Guard::named("AAEP-6.1-4"), []);
    for (place, row) in GUARDS.iter().enumerate() {
        assert_eq!(row.guard as usize, place, "{}", row.name);
    }
}
