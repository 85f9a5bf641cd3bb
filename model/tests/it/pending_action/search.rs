//! The search over the text of pending actions, in the small world of two actions.

use crate::common::explained::Explained;
use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::model::CONFORMS;
use countersign_model::engine::party::ByVariant;
use countersign_model::engine::protocol::{Protocol, Variant};
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

/// PA-9, PA-12 and PA-13 break something in other worlds, or nothing that an output shows; PA-11 and PA-14 are permissions.
#[test]
fn a_guarantee_breaks_without_each_clause_that_binds_a_ledger_in_this_world() {
    let needed = [
        "PA-1", "PA-2", "PA-3", "PA-4", "PA-5", "PA-6", "PA-7", "PA-8", "PA-10",
    ];
    for (number, entry) in (0..).zip(PendingAction::CLAUSES) {
        let variant = Variant::<PendingAction> {
            left_out: ClauseSet::from(Clause(number)),
            ..Variant::default()
        };
        let ledger = ByVariant::new(variant, Account::default());
        let (found, _) = found(ledger, Freedom::Default, Some(6), two());
        let broken = broken::<PendingAction>(&found);
        assert_eq!(
            !broken.is_empty(),
            needed.contains(&entry.id),
            "{}: {broken:?}",
            entry.id
        );
    }
}
