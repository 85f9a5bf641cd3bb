//! The judge, who knows calls and outputs alone, is told of every step of the model.
//!
//! The tables are committed files. [`UNNAMED`] says of which rules the judge does not name a clause, and why.

use countersign_model::judged;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::shortest::Limit;
use countersign_model::specification::Modelled;

use crate::common::judged::{assert_nothing_is_found, readings, rules};
use crate::common::small;

#[test]
fn the_judge_finds_nothing_in_a_ledger_that_keeps_every_rule() {
    assert_nothing_is_found::<PendingActionProtocol>();
}

#[test]
fn the_judge_finds_nothing_without_the_quotient_either() {
    let mut model = small::<PendingActionProtocol>();
    model.quotient = false;
    let judged = judged::search(&model, Limit::default(), |_| {});
    assert!(judged.exhaustive);
    assert!(judged.found.is_empty(), "{:#?}", judged.found);
}

/// The rules that can be left out without breaking a clause that they stand for, as far as somebody outside can tell.
const UNNAMED: [(&str, &str); 13] = [
    ("ignores-unaudited", "The contract knows no audit."),
    ("misnames-ignored", "The contract knows no audit."),
    (
        "proposes-malformed",
        "The limits are those of the driver protocol, so that what breaks them is refused or recorded.",
    ),
    (
        "proposes-expired",
        "What has expired already is refused or recorded; PA-7 forbids that it runs, and it does not.",
    ),
    (
        "cancels-resolved",
        "PA-7 and PA-8 forbid runs, and nothing runs; what is told has not happened, which breaks PA-10.",
    ),
    (
        "begins-after-end",
        "PA-5 speaks of denying and cancelling, and what was released is neither; what is withdrawn the host alone learns.",
    ),
    (
        "finishes-unreleased",
        "PA-3, PA-5 and PA-7 forbid runs, and nothing runs; that it ran is told all the same, which breaks PA-10.",
    ),
    (
        "finishes-twice",
        "PA-8 forbids runs, and nothing runs; the second result is told of nothing, which breaks PA-10.",
    ),
    (
        "expires-silently",
        "An event tells of it, so that PA-10 is kept.",
    ),
    (
        "cancels-silently",
        "An event tells of it, so that PA-10 is kept.",
    ),
    (
        "repeats-after-end",
        "PA-5 speaks of denying and cancelling, and what was released is neither.",
    ),
    (
        "drops-idempotent",
        "PA-3 is silent on crashes: what may run twice is run again, or is in doubt as all others are.",
    ),
    (
        "takes-withdrawn-for-unrun",
        "The host reports what is not so; what the ledger tells is what was reported.",
    ),
];

#[test]
fn the_judge_names_the_clause_of_the_rule_that_is_left_out() {
    let found = rules::<PendingActionProtocol>(PendingActionProtocol::LONGEST);
    let pinned = include_str!("judged_rules.txt");
    assert!(
        found == pinned,
        "the judge's table of rules is now:\n{found}"
    );
    let missed = found.lines().filter(|line| line.ends_with(": not named"));
    let missed: Vec<_> = missed.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(missed, UNNAMED.map(|(name, _)| name));
}

/// No reading costs a guarantee.
#[test]
fn under_every_reading_the_ledger_conforms() {
    let found = readings::<PendingActionProtocol>(PendingActionProtocol::LONGEST);
    let pinned = include_str!("judged_readings.txt");
    assert!(
        found == pinned,
        "the judge's table of readings is now:\n{found}"
    );
}
