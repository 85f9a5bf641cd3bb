//! What every rule is worth: which properties break without it, and after how many steps at the soonest.
//!
//! The table is a committed file, `ablation.txt`. A change of it is a change of the specification and has to be explained.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::rules::Guard;
use countersign_model::ablation::{ablate, leave_out};
use countersign_model::rules::Guards;
use countersign_model::specification::Modelled as _;
use countersign_model::table::Tabled;

use crate::common::agreement::assert_checked_alike;
use crate::common::small;
use crate::common::table::{assert_carried, table};

#[test]
#[ignore = "night: searches without each rule"]
fn every_rule_carries_something_and_every_property_is_carried() {
    let ablations = ablate(&small::<AaepProtocol>(), |_| {});
    assert_carried::<AaepProtocol>(&ablations);
    let found = table(&ablations);
    let pinned = include_str!("ablation.txt");
    assert!(found == pinned, "the table of ablations is now:\n{found}");
}

#[test]
fn a_counterexample_ends_with_the_step_that_breaks_the_property() {
    let ablation = leave_out(&small::<AaepProtocol>(), Guard::HonoursUsed.row());
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
    let coming = ["agent", "agent", "s1", "s2"];
    let using = ["producer", "host", "s1", "network", "attacker"];
    assert_eq!(actors, [&coming[..], &using].concat());
    assert!(broken.steps.len() <= AaepProtocol::LONGEST);
}

#[test]
#[ignore = "night: searches once more for each rule"]
fn what_leaving_a_rule_out_breaks_never_holds_in_a_check_without_it() {
    assert_checked_alike::<AaepProtocol>(include_str!("ablation.txt"));
}

#[test]
fn guards_are_found_by_name_and_by_clause() {
    assert_eq!(Guard::named("honours-late"), [Guard::HonoursLate]);
    assert_eq!(Guard::named("AAEP-6.3.4-3"), [Guard::HonoursUsed]);
    assert_eq!(Guard::named("AAEP-6.6-4"), []);
}
