//! The judge, who knows calls and outputs alone, is told of every step of the model.

use countersign_model::judged::{Limit, search};
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::rules::{Guard, Rules};

use crate::common::judged::assert_nothing_is_found;
use crate::common::small;

#[test]
fn the_judge_finds_nothing_in_a_ledger_that_keeps_every_rule() {
    assert_nothing_is_found(&small::<PendingActionProtocol>());
}

#[test]
#[ignore = "night: searches the literal model"]
fn the_judge_finds_nothing_without_the_quotient_either() {
    assert_nothing_is_found(&small::<PendingActionProtocol>().literal());
}

/// PA-8: with the quotient the judge forgets of an action that is over all but that it is. The lengths are those of the literal
/// model.
#[test]
fn what_is_over_is_taken_for_alike_and_what_is_done_about_it_found_all_the_same() {
    for (guard, steps) in [
        (Guard::HonoursRepeated, 8),
        (Guard::AllowsAfterDeny, 8),
        (Guard::CancelsResolved, 5),
        (Guard::FinishesTwice, 12),
    ] {
        let mut model = small::<PendingActionProtocol>();
        model.rules = Rules::all().without(guard);
        assert!(model.quotient);
        let limit = Limit {
            steps,
            ..Limit::default()
        };
        let found = search(&model, limit, |_| {}).found;
        let shortest = found.values().map(|found| found.run.len()).min();
        assert_eq!(shortest, Some(steps), "{guard:?}");
    }
}
