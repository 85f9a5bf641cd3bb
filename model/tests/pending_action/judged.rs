//! The judge, who knows calls and outputs alone, is told of every step of the model.

use countersign_model::pending_action::PendingActionProtocol;

use crate::common::judged::assert_nothing_is_found;
use crate::common::small;

#[test]
fn the_judge_finds_nothing_in_a_ledger_that_keeps_every_rule() {
    assert_nothing_is_found(&small::<PendingActionProtocol>());
}

#[test]
fn the_judge_finds_nothing_without_the_quotient_either() {
    assert_nothing_is_found(&small::<PendingActionProtocol>().literal());
}
