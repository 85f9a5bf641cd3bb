//! What every rule is worth: which invariants break without it, and after how many steps at the soonest.
//!
//! The table is a committed file, `ablation.txt`. A change of it is a change of the specification and has to be explained.

#[path = "common/table.rs"]
mod table;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::ablation::{LONGEST, ablate, leave_out};
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::properties::INVARIANTS;
use countersign_model::aaep::rules::{GUARDS, Guard};

use table::{assert_carried, table};

#[test]
fn every_rule_carries_something_and_every_invariant_is_carried() {
    let ablations = ablate(Bounds::SMALL, |_| {}).expect("a preset is in range");
    let invariants = INVARIANTS.iter().map(|row| row.name).collect();
    assert_carried(&ablations, &invariants);
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
