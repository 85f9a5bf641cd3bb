//! The search over the text of pending actions, in the small world of two actions.

use crate::common::explained::Explained;
use countersign_model::engine::model::CONFORMS;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::environment::Bounds;
use countersign_model::pending_action::guarantees::WITNESSES;

use crate::common::search::{broken, found, missing, world};

fn two() -> Bounds {
    world::<PendingAction>("two")
}

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_ledger_may_choose() {
    let ledger = World::<PendingAction>::new(Account::default());
    let (found, _) = found(ledger, Freedom::May, None, two());
    assert_eq!(broken::<PendingAction>(&found), [""; 0]);
    // What needs a crash, a rollback or a flawed proposal is of other worlds.
    let missing = missing::<PendingAction>(&found);
    assert!(missing.len() < WITNESSES.len() / 2, "{missing:?}");
}

/// PA-5, PA-8: also where an older state is handed back, and sessions end.
#[test]
fn every_guarantee_holds_of_one_action_and_an_older_state() {
    let bounds = Bounds {
        ticks: 1,
        set_back: 0,
        rollbacks: 1,
        every_proposal: false,
        every_decision: false,
        ..Bounds::ONE
    };
    let ledger = World::<PendingAction>::new(Account::default());
    let (found, _) = found(ledger, Freedom::May, None, bounds);
    assert_eq!(broken::<PendingAction>(&found), [""; 0]);
}

#[test]
fn the_checker_explains_whatever_a_conforming_ledger_may_choose() {
    let both = Explained::<PendingAction>::new(Account::default());
    let (found, _) = found(both, Freedom::May, None, two());
    assert!(!found.contains(CONFORMS));
}
