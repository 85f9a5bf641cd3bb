//! What every rule is worth: which properties break without it, and after how many steps at the soonest.
//!
//! The tables are committed files, `ablation.txt` and `mutations.txt`. A change of them is a change of the specification and
//! has to be explained.

use std::fmt::Write;

use countersign_model::ablation::{ablate, leave_out};
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::rules::Guard;
use countersign_model::rules::Guards;
use countersign_model::table::Tabled;

use crate::common::agreement::assert_checked_alike;
use crate::common::small;
use crate::common::table::{assert_carried, table};

#[test]
#[ignore = "night: searches without each rule"]
fn every_rule_carries_something_and_every_property_is_carried() {
    let ablations = ablate(&small::<PendingActionProtocol>(), |_| {});
    assert_carried::<PendingActionProtocol>(&ablations);
    let found = table(&ablations);
    let pinned = include_str!("ablation.txt");
    assert!(found == pinned, "the table of ablations is now:\n{found}");
}

/// What implementations get wrong: in a few words, the rule that it leaves out, and the clause that tells.
const MUTATIONS: [(&str, Guard, &str); 18] = [
    ("position instead of id", Guard::MatchesByPosition, "PA-1"),
    ("edited arguments", Guard::RunsEdited, "PA-3"),
    ("rewritten arguments", Guard::RunsRewritten, "PA-3"),
    ("allow after deny", Guard::AllowsAfterDeny, "PA-5"),
    ("deny after allow", Guard::DeniesAfterAllow, "PA-8"),
    ("double run on a duplicate", Guard::HonoursRepeated, "PA-8"),
    (
        "double run on concurrent decisions",
        Guard::DecidesApart,
        "PA-8",
    ),
    ("pending lost on restart", Guard::ForgetsPending, "PA-1"),
    ("released lost on restart", Guard::ForgetsReleased, "PA-10"),
    ("run again on restart", Guard::RepeatsAfterRestart, "PA-8"),
    ("expired runs", Guard::HonoursExpired, "PA-7"),
    ("wrong decider", Guard::HonoursStranger, "PA-2"),
    (
        "denial missing from the transcript",
        Guard::DeniesSilently,
        "PA-6",
    ),
    (
        "end told before the request on restart",
        Guard::SettlesBeforeTelling,
        "PA-10",
    ),
    ("expiry recorded as denial", Guard::ExpiresAsDenied, "PA-10"),
    ("record after effect", Guard::RecordsLate, "PA-8"),
    (
        "snapshot replayed without catching up",
        Guard::ForgetsSinceSnapshot,
        "PA-8",
    ),
    (
        "free text taken as a decision",
        Guard::TakesTextForDecision,
        "PA-11",
    ),
];

/// PA-1, PA-2, PA-3, PA-5, PA-6, PA-7, PA-8, PA-10, PA-11: what implementations get wrong, each with the shortest run that
/// shows it.
#[test]
fn every_known_mistake_breaks_the_clause_that_tells_of_it() {
    let mut found = String::new();
    for (mistake, guard, clause) in MUTATIONS {
        let ablation = leave_out(&small::<PendingActionProtocol>(), guard.row());
        assert_eq!(ablation.masked_by, None, "{mistake}");
        let mut breaks = ablation.breaks.iter();
        let broken = breaks.find(|broken| broken.clauses[0] == clause);
        let broken = broken.unwrap_or_else(|| panic!("{mistake} does not break {clause}"));
        let name = &broken.name;
        writeln!(found, "{mistake} ({})\n  {name}", guard.row().name)
            .expect("a string can be written to");
        for step in &broken.steps {
            writeln!(found, "    {} {} {}", step.at, step.actor, step.action)
                .expect("a string can be written to");
        }
    }
    let pinned = include_str!("mutations.txt");
    assert!(found == pinned, "the known mistakes now break:\n{found}");
}

#[test]
#[ignore = "night: searches once more for each rule"]
fn what_leaving_a_rule_out_breaks_never_holds_in_a_check_without_it() {
    assert_checked_alike::<PendingActionProtocol>(include_str!("ablation.txt"));
}

#[test]
fn guards_are_found_by_name_and_by_clause() {
    assert_eq!(Guard::named("runs-edited"), [Guard::RunsEdited]);
    assert_eq!(
        Guard::named("PA-9"),
        [Guard::ProposesMalformed, Guard::ExposesArguments]
    );
    assert_eq!(Guard::named("PA-12"), []);
}
