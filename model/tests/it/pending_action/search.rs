//! The search over the text of pending actions, in the small world of two actions.

use std::collections::BTreeSet;

use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::{ByVariant, Explained};
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::{Freedom, World};
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::environment::Bounds;
use countersign_model::pending_action::guarantees::{GUARANTEES, WITNESSES};
use stateright::{Checker as _, Model as _};

fn two() -> Bounds {
    let mut worlds = Bounds::WORLDS.into_iter();
    let found = worlds.find(|(name, _)| *name == "two");
    found.expect("a world of two").1
}

/// What was found in the states that can be reached: in so many steps, or in all.
fn found<Q: Party<PendingAction>>(
    party: Q,
    freedom: Freedom,
    depth: Option<usize>,
    bounds: Bounds,
) -> BTreeSet<&'static str> {
    let model = Model {
        variant: Variant::<PendingAction>::default(),
        party,
        bounds,
        freedom,
        forgets: true,
    };
    let search = model.checker();
    let found = match depth {
        // Depth first, what is near may be reached by a long way alone, and count as far.
        Some(depth) => search
            .target_max_depth(depth)
            .spawn_bfs()
            .join()
            .discoveries(),
        None => search.spawn_dfs().join().discoveries(),
    };
    found.into_keys().collect()
}

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_ledger_may_choose() {
    let ledger = World::<PendingAction>::new(Account::default());
    let found = found(ledger, Freedom::May, None, two());
    let broken: Vec<_> = GUARANTEES
        .iter()
        .filter(|it| found.contains(it.name))
        .collect();
    assert!(broken.is_empty(), "{broken:?}");
    // What needs a crash, a rollback or a flawed proposal is of other worlds.
    let missing = WITNESSES.iter().filter(|it| !found.contains(it.name));
    let missing: Vec<_> = missing.map(|it| it.name).collect();
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
    let found = found(ledger, Freedom::May, None, bounds);
    let broken = GUARANTEES.iter().find(|it| found.contains(it.name));
    assert!(broken.is_none(), "{broken:?}");
}

#[test]
fn the_checker_explains_whatever_a_conforming_ledger_may_choose() {
    let both = Explained::<PendingAction>::new(Account::default());
    assert!(!found(both, Freedom::May, None, two()).contains(CONFORMS));
}

/// PA-9, PA-12 and PA-13 break something in other worlds, or nothing that an output shows; PA-11 and PA-14 are permissions.
#[test]
fn a_guarantee_breaks_without_each_clause_that_binds_a_ledger_in_this_world() {
    let needed = [
        "PA-1", "PA-2", "PA-3", "PA-4", "PA-5", "PA-6", "PA-7", "PA-8", "PA-10",
    ];
    for (number, entry) in (0..).zip(PendingAction::CLAUSES) {
        let variant = Variant {
            left_out: ClauseSet::from(Clause(number)),
            ..Variant::default()
        };
        let ledger = ByVariant::new(variant, Account::default());
        let found = found(ledger, Freedom::Default, Some(6), two());
        let is_broken = GUARANTEES.iter().any(|it| found.contains(it.name));
        assert_eq!(
            is_broken,
            needed.contains(&entry.id),
            "{}: {found:?}",
            entry.id
        );
    }
}
