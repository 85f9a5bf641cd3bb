//! `countersign diff pending-action`: the adapter in Perl passes, and what it does wrong where it is told to is caught and named.
//!
//! It was written from `docs/DRIVER.md` and the contract alone, by someone who has seen no source.

use crate::adapter;
#[allow(
    dead_code,
    reason = "this adapter lists neither its faults nor variants"
)]
use crate::kept;

use std::collections::BTreeSet;
use std::fs;

use countersign_model::pending_action::PendingAction;
use kept::Caught;

/// Each fault of the adapter that can be seen, the clause that names it, and the seed of the run that shows it; 0, where the suite does.
const CAUGHT: [Caught<'_>; 21] = [
    ("cancelled_after_restart", "PA-5", 41),
    ("clock_back", "PA-7", 66),
    ("decider_case", "PA-2", 0),
    ("deny_needs_arguments", "PA-2", 0),
    ("doubles", "PA-3", 75),
    ("doubt_once", "PA-10", 26),
    ("ends_two", "PA-10", 217),
    ("error_retries", "PA-10", 0),
    // "The action is finished already", as the page of the protocol has it.
    ("finish_twice_restart", "PA-8", 21),
    ("forgets_ended", "PA-5", 49),
    ("half_second", "PA-7", 0),
    ("long_label", "PA-1", 0),
    ("new_message_id", "PA-10", 40),
    ("nonce_after_restart", "PA-1", 0),
    ("reset_time", "PA-7", 0),
    ("rollback_revives", "PA-8", 0),
    ("second_restart_performs", "PA-8", 0),
    ("second_wrong", "PA-3", 0),
    ("tells_id", "PA-9", 7),
    ("third_cancel_silent", "PA-10", 44),
    ("third_never_expires", "PA-7", 18),
];

/// What the driver protocol leaves free, each with where it says so: it has to pass.
const FREE: [(&str, &str); 3] = [
    (
        "audit_again",
        "no audit is required or wrong, be it one that comes again after a restart",
    ),
    (
        "rewritten",
        "arguments mean the same, and nobody compares how they are spelled",
    ),
    (
        "second_rewritten",
        "the same of all but the first that runs",
    ),
];

fn start(arguments: &[&str]) -> Option<Vec<String>> {
    adapter::perl(arguments)
}

#[test]
#[ignore = "night: drives the adapter for minutes"]
fn each_fault_is_caught_by_its_clause() {
    kept::are_caught::<PendingAction>(start, &CAUGHT);
}

#[test]
fn the_adapter_passes() {
    if let Some(command) = start(&[]) {
        kept::passes::<PendingAction>(command, &[]);
    }
}

#[test]
#[ignore = "night: drives the adapter for minutes"]
fn what_is_free_passes() {
    for (free, _) in FREE {
        if let Some(command) = start(&["--fault", free]) {
            kept::passes::<PendingAction>(command, &[]);
        }
    }
}

/// Every fault that its source asks for stands in one of the lists.
#[test]
fn each_fault_is_kept() {
    let path = adapter::folder().join("perl/pending_action.pl");
    let source = fs::read_to_string(path).expect("the adapter");
    let asked = source.split("fault('").skip(1);
    let asked: BTreeSet<&str> = asked.filter_map(|it| it.split('\'').next()).collect();
    let caught = CAUGHT.iter().map(|(fault, ..)| *fault);
    let kept = caught.chain(FREE.iter().map(|(fault, _)| *fault));
    assert_eq!(asked, kept.collect());
}
