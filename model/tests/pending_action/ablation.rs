//! What every rule is worth: which invariants break without it, and after how many steps at the soonest.
//!
//! The tables are committed files, `ablation.txt` and `mutations.txt`. A change of them is a change of the specification and
//! has to be explained.

use std::fmt::Write;

use countersign_model::ablation::{ablate, leave_out};
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::properties::Invariant;
use countersign_model::pending_action::rules::Guard;
use countersign_model::rules::Guards;
use countersign_model::table::Tabled;

use crate::common::agreement::assert_checked_alike;
use crate::common::small;
use crate::common::table::{assert_carried, assert_ordered, table};

#[test]
fn every_rule_carries_something_and_every_invariant_is_carried() {
    let ablations = ablate(&small::<PendingActionProtocol>(), |_| {});
    assert_carried::<PendingActionProtocol>(&ablations);
    let found = table(&ablations);
    let pinned = include_str!("ablation.txt");
    assert!(found == pinned, "the table of ablations is now:\n{found}");
}

/// What implementations get wrong: in a few words, the rule that it leaves out, and the invariant that tells.
const MUTATIONS: [(&str, Guard, Invariant); 20] = [
    (
        "position instead of id",
        Guard::MatchesByPosition,
        Invariant::MatchedById,
    ),
    (
        "edited arguments",
        Guard::RunsEdited,
        Invariant::ExactArguments,
    ),
    (
        "rewritten arguments",
        Guard::RunsRewritten,
        Invariant::ExactArguments,
    ),
    (
        "allow after deny",
        Guard::AllowsAfterDeny,
        Invariant::DeniedNeverReleased,
    ),
    (
        "deny after allow",
        Guard::DeniesAfterAllow,
        Invariant::FirstDecisionStands,
    ),
    (
        "double run on a duplicate",
        Guard::HonoursRepeated,
        Invariant::RunsAtMostOnce,
    ),
    (
        "double run on concurrent decisions",
        Guard::DecidesApart,
        Invariant::ReleasedOnce,
    ),
    (
        "pending lost on restart",
        Guard::ForgetsPending,
        Invariant::NothingLost,
    ),
    (
        "released lost on restart",
        Guard::ForgetsReleased,
        Invariant::InDoubtTold,
    ),
    (
        "idempotent not run again on restart",
        Guard::DropsIdempotent,
        Invariant::RunsAtLeastOnce,
    ),
    (
        "run again on restart",
        Guard::RepeatsAfterRestart,
        Invariant::RunsAtMostOnce,
    ),
    (
        "expired runs",
        Guard::HonoursExpired,
        Invariant::ExpiredNeverReleased,
    ),
    (
        "wrong decider",
        Guard::HonoursStranger,
        Invariant::StrangerWithoutEffect,
    ),
    (
        "denial missing from the transcript",
        Guard::DeniesSilently,
        Invariant::DenialTold,
    ),
    (
        "end told before the request on restart",
        Guard::SettlesBeforeTelling,
        Invariant::NothingBehindEnd,
    ),
    (
        "withdrawn repeat reported as not run",
        Guard::TakesWithdrawnForUnrun,
        Invariant::NotRunNeverRan,
    ),
    (
        "expiry recorded as denial",
        Guard::ExpiresAsDenied,
        Invariant::ExpiryIsNoDenial,
    ),
    (
        "record after effect",
        Guard::RecordsLate,
        Invariant::RecordedFirst,
    ),
    (
        "snapshot replayed without catching up",
        Guard::ForgetsSinceSnapshot,
        Invariant::DeniedNeverReleased,
    ),
    (
        "free text taken as a decision",
        Guard::TakesTextForDecision,
        Invariant::TextResolvesNothing,
    ),
];

/// PA-1, PA-2, PA-3, PA-5, PA-6, PA-7, PA-8, PA-10, PA-11: what implementations get wrong, each with the shortest run that
/// shows it.
#[test]
fn every_known_mistake_breaks_the_invariant_that_tells_of_it() {
    let mut found = String::new();
    for (mistake, guard, invariant) in MUTATIONS {
        let ablation = leave_out(&small::<PendingActionProtocol>(), guard.row());
        assert_eq!(ablation.masked_by, None, "{mistake}");
        let name = invariant.row().name;
        let broken = ablation.breaks.iter().find(|broken| broken.name == name);
        let broken = broken.unwrap_or_else(|| panic!("{mistake} does not break {name}"));
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
#[ignore = ".ci/run does it, optimised"]
fn what_leaving_a_rule_out_breaks_never_holds_in_a_check_without_it() {
    assert_checked_alike::<PendingActionProtocol>(include_str!("ablation.txt"));
}

#[test]
fn tables_stand_in_their_order_and_guards_are_found_by_name_and_by_clause() {
    assert_eq!(Guard::named("runs-edited"), [Guard::RunsEdited]);
    assert_eq!(
        Guard::named("PA-9"),
        [Guard::ProposesMalformed, Guard::ExposesArguments]
    );
    assert_eq!(Guard::named("PA-12"), []);
    assert_ordered::<PendingActionProtocol>();
}
