//! The search over the text of AAEP's confirmations.

use crate::common::explained::Explained;
use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::Account;
use countersign_model::aaep::environment::Bounds;
use countersign_model::engine::clause::{Clause, ClauseSet};
use countersign_model::engine::fact::Fact;
use countersign_model::engine::model::CONFORMS;
use countersign_model::engine::party::Apart;
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

/// Whoever does without a clause that the spec carries is found within eight steps, but where nobody outside can see it.
#[test]
fn the_checker_finds_whoever_does_without_a_clause() {
    let carried = carried();
    let mut unseen = Vec::new();
    for (number, entry) in (0..).zip(Aaep::CLAUSES) {
        let is_found = |(_, bounds): &(&str, Bounds)| {
            let variant = Variant::<Aaep> {
                left_out: ClauseSet::from(Clause(number)),
                ..Variant::default()
            };
            let account = Account {
                modifies: Fact::No,
                ..Aaep::account(Some(bounds))
            };
            let party = Apart::new(variant, &[Variant::default()], account);
            let (found, _) = found(party, Freedom::May, Some(8), *bounds);
            found.contains(CONFORMS)
        };
        let is_seen = entry.free.is_none() && carried.contains(entry.id);
        if is_seen && !Bounds::WORLDS.iter().any(is_found) {
            unseen.push(entry.id);
        }
    }
    assert_eq!(unseen, [""; 0]);
}
