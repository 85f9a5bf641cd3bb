//! The search over the text of AAEP's confirmations.

use std::collections::BTreeSet;

use countersign_model::aaep::text::Aaep;
use countersign_model::aaep::text::account::Account;
use countersign_model::aaep::text::environment::Bounds;
use countersign_model::aaep::text::guarantees::{GUARANTEES, WITNESSES};
use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::fact::Fact;
use countersign_model::engine::model::{CONFORMS, Model, Party};
use countersign_model::engine::party::{ByVariant, Explained, Judged};
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::{Freedom, World};
use stateright::{Checker as _, Model as _};

use super::text::carried;

fn world(name: &str) -> Bounds {
    let found = Bounds::WORLDS.into_iter().find(|it| it.0 == name);
    found.expect("a world of that name").1
}

/// Who comes back with nothing lost can die in coming back.
fn restarts(crashes: u8) -> u8 {
    if crashes > 0 { crashes + 1 } else { 0 }
}

fn account(bounds: &Bounds) -> Account {
    Account {
        restarts: restarts(bounds.crashes),
        counts_down: Fact::Yes,
        ..Account::default()
    }
}

/// What was found in the states that can be reached, in so many steps or in all, and how many there are.
fn found<Q: Party<Aaep>>(
    party: Q,
    freedom: Freedom,
    depth: Option<usize>,
    bounds: Bounds,
) -> (BTreeSet<&'static str>, usize) {
    let model = Model {
        variant: Variant::<Aaep>::default(),
        party,
        bounds,
        freedom,
        forgets: true,
    };
    let search = model.checker();
    // Depth first, what is near may be reached by a long way alone, and count as far.
    if let Some(depth) = depth {
        let search = search.target_max_depth(depth).spawn_bfs().join();
        let found = search.discoveries().into_keys().collect();
        return (found, search.unique_state_count());
    }
    let search = search.spawn_dfs().join();
    let found = search.discoveries().into_keys().collect();
    (found, search.unique_state_count())
}

/// Guarantees that are broken.
fn broken(found: &BTreeSet<&'static str>) -> Vec<&'static str> {
    let all = GUARANTEES.iter().map(|it| it.name);
    all.filter(|it| found.contains(it)).collect()
}

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_producer_may_choose() {
    let mut seen = BTreeSet::new();
    for (name, bounds) in Bounds::WORLDS {
        let producer = World::<Aaep>::new(account(&bounds));
        let (found, states) = found(producer, Freedom::May, None, bounds);
        println!("{name}: {states} states, {found:?}");
        assert_eq!(broken(&found), Vec::<&str>::new(), "{name}");
        seen.extend(found);
    }
    let missing = WITNESSES
        .iter()
        .map(|it| it.name)
        .filter(|it| !seen.contains(it));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn the_checker_explains_whatever_a_conforming_producer_may_choose() {
    for name in ["replies", "one-crash", "two-words", "words-crash", "work"] {
        let bounds = world(name);
        let both = Explained::<Aaep>::new(account(&bounds));
        let (found, states) = found(both, Freedom::May, None, bounds);
        println!("{name}: {states} states");
        assert!(!found.contains(CONFORMS), "{name}");
    }
}

/// Worlds in which a clause is left out.
const WORLDS: [&str; 9] = [
    "one",
    "replies",
    "one-crash",
    "two",
    "words",
    "two-words",
    "more-time",
    "work",
    "work-crash",
];

/// The clauses without which something is found of a producer, within so many steps of a small world.
fn noticed<Q: Party<Aaep>>(
    party: impl Fn(Variant<Aaep>, Account) -> Q,
    is_noticed: impl Fn(&BTreeSet<&'static str>) -> bool,
) -> Vec<&'static str> {
    let (mut noticed, carried) = (Vec::new(), carried());
    for (number, entry) in (0..).zip(Aaep::CLAUSES) {
        let breaks = |name: &&str| {
            let bounds = world(name);
            let variant = Variant {
                left_out: ClauseSet::from(Clause(number)),
                ..Variant::default()
            };
            let account = Account {
                modifies: Fact::No,
                ..account(&bounds)
            };
            let party = party(variant, account);
            is_noticed(&found(party, Freedom::Default, Some(8), bounds).0)
        };
        let is_carried = carried.contains(entry.id);
        if is_carried && WORLDS.iter().any(breaks) {
            noticed.push(entry.id);
        }
    }
    noticed
}

#[test]
fn a_guarantee_breaks_without_each_clause_that_carries_one() {
    let needed = noticed(ByVariant::new, |found| !broken(found).is_empty());
    assert_eq!(needed, NEEDED);
}

#[test]
fn the_checker_finds_whoever_does_without_a_clause() {
    let judged =
        |variant, account: Account| Judged::new(ByVariant::new(variant, account.clone()), account);
    let found = noticed(judged, |found| found.contains(CONFORMS));
    let mut expected: Vec<_> = Aaep::CLAUSES.iter().map(|it| it.id).collect();
    expected.retain(|it| NEEDED.contains(it) || ONLY_FOUND.contains(it));
    assert_eq!(found, expected);
}

/// What breaks no guarantee, and is found.
const ONLY_FOUND: &[&str] = &["AAEP-6.3.2-4", "AAEP-A.3-3", "AAEP-EV-2"];

/// The others bind a producer that does not do of itself what they forbid, or break nothing that an output shows.
const NEEDED: &[&str] = &[
    "AAEP-6-1",
    "AAEP-6.1-1",
    "AAEP-6.1-3",
    "AAEP-6.1-5",
    "AAEP-6.1-6",
    "AAEP-6.1-7",
    "AAEP-6.1-9",
    "AAEP-6.2.2-3",
    "AAEP-6.2.4-1",
    "AAEP-6.3.4-1",
    "AAEP-6.3.4-2",
    "AAEP-6.3.4-3",
    "AAEP-6.3.4-4",
    "AAEP-6.3.4-5",
    "AAEP-6.3.4-6",
    "AAEP-6.3.4-7",
    "AAEP-6.3.4-9",
    "AAEP-6.3.5-1",
    "AAEP-6.4-1",
    "AAEP-6.4.1-1",
    "AAEP-6.4.1-2",
    "AAEP-6.4.2-3",
    "AAEP-6.5.2-1",
    "AAEP-6.5.2-2",
    "AAEP-6.5.5-1",
    "AAEP-6.5.5-2",
    "AAEP-6.5.5-3",
    "AAEP-6.5.5-4",
    "AAEP-6.7-1",
    "AAEP-6.7.1-1",
    "AAEP-6.8-1",
    "AAEP-6.8-2",
    "AAEP-6.8-3",
    "AAEP-6.8-4",
    "AAEP-6.9-1",
    "AAEP-6.9-2",
    "AAEP-REPLY-11",
    "AAEP-REPLY-14",
    "AAEP-A.1-1",
    "AAEP-A.1-2",
    "AAEP-A.1-3",
    "AAEP-A.2-2",
    "AAEP-A.2-3",
    "AAEP-A.3-1",
    "AAEP-A.3-2",
    "AAEP-A.4-1",
    "AAEP-A.4-2",
    "AAEP-A.4-3",
    "AAEP-A.4-4",
    "AAEP-A.5-1",
    "AAEP-A.5-2",
    "AAEP-A.6-1",
    "AAEP-A.6-2",
    "AAEP-A.6-3",
    "AAEP-A.7.4-1",
    "AAEP-EV-5",
    "AAEP-EV-10",
    "AAEP-EV-11",
];
