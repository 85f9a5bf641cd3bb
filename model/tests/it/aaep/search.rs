//! The search over the text of AAEP's confirmations.

use crate::common::explained::Explained;
use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::Account;
use countersign_model::aaep::environment::Bounds;
use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::fact::Fact;
use countersign_model::engine::model::{CONFORMS, Party};
use countersign_model::engine::party::{ByVariant, Judged};
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::{Freedom, World};
use countersign_model::facade::engine::Catalog as _;

use super::text::carried;
use crate::common::search::{Found, broken, found, missing, world};

#[test]
fn every_guarantee_holds_of_whatever_a_conforming_producer_may_choose() {
    let mut seen = Found::new();
    for (name, bounds) in Bounds::WORLDS {
        let producer = World::<Aaep>::new(Aaep::account(Some(&bounds)));
        let (found, states) = found(producer, Freedom::May, None, bounds);
        println!("{name}: {states} states, {found:?}");
        assert_eq!(broken::<Aaep>(&found), [""; 0], "{name}");
        seen.extend(found);
    }
    assert_eq!(missing::<Aaep>(&seen), [""; 0]);
}

#[test]
fn the_checker_explains_whatever_a_conforming_producer_may_choose() {
    for name in ["replies", "one-crash", "two-words", "words-crash", "work"] {
        let bounds = world::<Aaep>(name);
        let both = Explained::<Aaep>::new(Aaep::account(Some(&bounds)));
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
    is_noticed: impl Fn(&Found) -> bool,
) -> Vec<&'static str> {
    let (mut noticed, carried) = (Vec::new(), carried());
    for (number, entry) in (0..).zip(Aaep::CLAUSES) {
        let breaks = |name: &&str| {
            let bounds = world::<Aaep>(name);
            let variant = Variant {
                left_out: ClauseSet::from(Clause(number)),
                ..Variant::default()
            };
            let account = Account {
                modifies: Fact::No,
                ..Aaep::account(Some(&bounds))
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
    let needed = noticed(ByVariant::new, |found| !broken::<Aaep>(found).is_empty());
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
    "AAEP-6.3.1-1",
    "AAEP-6.3.1-2",
    "AAEP-6.3.1-3",
    "AAEP-6.3.1-4",
    "AAEP-6.3.1-5",
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
    "AAEP-6.5.1-1",
    "AAEP-6.5.1-2",
    "AAEP-6.5.1-3",
    "AAEP-6.5.1-4",
    "AAEP-6.5.1-5",
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
    "AAEP-REPLY-2",
    "AAEP-REPLY-3",
    "AAEP-REPLY-4",
    "AAEP-REPLY-5",
    "AAEP-REPLY-6",
    "AAEP-REPLY-7",
    "AAEP-REPLY-8",
    "AAEP-REPLY-9",
    "AAEP-REPLY-10",
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
    "AAEP-EV-12",
];
