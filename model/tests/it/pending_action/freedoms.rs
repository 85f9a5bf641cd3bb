//! Whoever changes one output of a conforming ledger is found, or has done what the text leaves free: `freedoms.txt`.
//!
//! A change that the checker lets pass leads on, and no guarantee breaks behind it, whatever happens then.

use std::collections::{BTreeMap, BTreeSet};

use super::mutations::OfLedger;
use countersign_model::engine::model::Model;
use countersign_model::engine::mutation::{Change, Mutated, Mutation};
use countersign_model::engine::party::ByVariant;
use countersign_model::engine::protocol::{Protocol as _, Variant};
use countersign_model::engine::world::Freedom;
use countersign_model::pending_action::text::PendingAction;
use countersign_model::pending_action::text::account::Account;
use countersign_model::pending_action::text::environment::Bounds;
use stateright::{Checker as _, Expectation, Model as _};

/// Small worlds that together have every output.
const WORLDS: [(&str, Bounds); 3] = [
    (
        "endings",
        Bounds {
            actions: 1,
            ticks: 2,
            set_back: 1,
            crashes: 1,
            rollbacks: 0,
            every_proposal: false,
            every_decision: false,
            endings: true,
        },
    ),
    (
        "two",
        Bounds {
            actions: 2,
            ticks: 0,
            set_back: 0,
            crashes: 0,
            rollbacks: 0,
            every_proposal: false,
            every_decision: false,
            endings: false,
        },
    ),
    (
        "rollback",
        Bounds {
            actions: 1,
            ticks: 1,
            set_back: 0,
            crashes: 0,
            rollbacks: 1,
            every_proposal: false,
            every_decision: false,
            endings: false,
        },
    ),
];

fn words((change, kind): &Mutation) -> String {
    match change {
        Change::Dropped => format!("{kind} dropped"),
        Change::Doubled => format!("{kind} doubled"),
        Change::Swapped => format!("{kind} swapped"),
        Change::Added => format!("{kind} added"),
        Change::Field(field) => format!("{kind}: {field}"),
    }
}

/// The freedoms that the file lists, each with its clause.
fn listed() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("freedoms.txt").lines();
    let rows = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &'static str| {
        let (change, why) = line.split_once(" | ").expect(line);
        let (clause, _) = why.split_once(": ").expect(line);
        (change.trim(), clause)
    };
    rows.map(row).collect()
}

#[test]
fn a_changed_output_is_found_or_free_and_breaks_no_guarantee() {
    let (mut tried, mut tolerated) = (BTreeSet::new(), BTreeMap::new());
    let mut broken = Vec::new();
    for (name, bounds) in WORLDS {
        let producer = ByVariant::<PendingAction>::new(Variant::default(), Account::default());
        let party = Mutated::<_, _, OfLedger>::new(producer, Account::default());
        let model = Model {
            variant: Variant::default(),
            party: party.clone(),
            bounds,
            freedom: Freedom::Default,
            forgets: false,
        };
        let checked = model.checker().threads(2).spawn_bfs().join();
        println!("{name}: {} states", checked.unique_state_count());
        for property in checked.model().properties() {
            if matches!(property.expectation, Expectation::Always)
                && let Some(path) = checked.discovery(property.name)
            {
                let change = path.last_state().party.change();
                let change = change.as_ref().map_or_else(String::new, words);
                let actions: Vec<String> = path
                    .into_actions()
                    .iter()
                    .map(|it| format!("{it:?}"))
                    .collect();
                broken.push(format!(
                    "{}: {change}\n    {}",
                    property.name,
                    actions.join("\n    ")
                ));
            }
        }
        let outcome = party.outcome();
        tried.extend(outcome.tried.iter().map(words));
        let free = outcome.tolerated.into_iter();
        tolerated.extend(free.map(|(change, example)| (words(&change), example)));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let listed = listed();
    let names: BTreeSet<String> = listed.keys().map(|it| (*it).to_owned()).collect();
    println!(
        "{} changes tried, {} are free",
        tried.len(),
        tolerated.len()
    );
    let gone: Vec<_> = names
        .iter()
        .filter(|it| !tolerated.contains_key(*it))
        .collect();
    let new: Vec<_> = tolerated
        .iter()
        .filter(|(it, _)| !names.contains(*it))
        .collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "free and not listed: {new:#?}\nlisted and found: {gone:#?}"
    );
    for (change, clause) in listed {
        let is_known = PendingAction::CLAUSES.iter().any(|it| it.id == clause);
        assert!(is_known, "{change}: there is no clause {clause}");
    }
}
