//! Whoever changes one output of a conforming party is found, or has done what a table lists as free.

use std::collections::{BTreeMap, BTreeSet};

use super::mutation::{Change, Mutated, Mutation, Mutations, Outcome};
use countersign_model::engine::clause::Level;
use countersign_model::engine::model::{Environment, Model, Party};
use countersign_model::engine::party::Executor;
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::Freedom;
use countersign_model::facade::engine::Catalog;
use stateright::{Checker as _, Expectation, Model as _};

fn words((change, kind): &Mutation) -> String {
    match change {
        Change::Dropped => format!("{kind} dropped"),
        Change::Doubled => format!("{kind} doubled"),
        Change::Swapped => format!("{kind} swapped"),
        Change::Added => format!("{kind} added"),
        Change::Field(field) => format!("{kind}: {field}"),
    }
}

/// Whether what a guarantee states first is required: the checker lets a party depart from what is only recommended.
fn is_must<P: Environment>(guarantee: &str) -> bool {
    let guarantee = P::GUARANTEES.iter().find(|it| it.name == guarantee);
    let chief = guarantee.and_then(|it| it.clauses.split(", ").next());
    P::CLAUSES
        .iter()
        .any(|it| Some(it.id) == chief && it.level == Level::Must)
}

/// A change that the checker lets pass leads on, and no guarantee breaks behind it, whatever happens then.
///
/// # Panics
///
/// Where that does not hold.
pub fn changed<P, M, E>(executor: &E, worlds: &[(&str, P::Bounds)]) -> Outcome
where
    P: Catalog,
    M: Mutations<P>,
    E: Executor<P>,
    Mutated<P, E, M>: Party<P>,
{
    let (mut all, mut broken) = (Outcome::default(), Vec::new());
    for (name, bounds) in worlds {
        let party = Mutated::<P, E, M>::new(executor.clone(), P::account(Some(bounds)));
        let model = Model {
            variant: Variant::default(),
            party: party.clone(),
            bounds: *bounds,
            freedom: Freedom::Default,
            forgets: false,
        };
        let checked = model.checker().threads(2).spawn_bfs().join();
        println!("{name}: {} states", checked.unique_state_count());
        for property in checked.model().properties() {
            if matches!(property.expectation, Expectation::Always)
                && is_must::<P>(property.name)
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
        let Outcome { tried, tolerated } = party.outcome();
        all.tried.extend(tried);
        all.tolerated.extend(tolerated);
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    all
}

/// The freedoms that a table lists, each with its clause: `CHANGE | CLAUSE: why`.
fn listed(table: &'static str) -> BTreeMap<&'static str, &'static str> {
    let rows = table.lines();
    let rows = rows.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &'static str| {
        let (change, why) = line.split_once(" | ").expect(line);
        let (clause, _) = why.split_once(": ").expect(line);
        (change.trim(), clause)
    };
    rows.map(row).collect()
}

/// What is free is what the table lists, as far as it was tried.
///
/// # Panics
///
/// Where that does not hold.
pub fn assert_listed<P: Protocol>(outcome: &Outcome, table: &'static str) {
    let tried: BTreeSet<String> = outcome.tried.iter().map(words).collect();
    let free = outcome.tolerated.iter();
    let free: BTreeMap<String, &String> = free.map(|(it, example)| (words(it), example)).collect();
    let listed = listed(table);
    println!("{} changes tried, {} are free", tried.len(), free.len());
    let gone = listed.keys().filter(|it| tried.contains(**it));
    let gone: Vec<_> = gone.filter(|it| !free.contains_key(**it)).collect();
    let new = free.iter().filter(|(it, _)| !listed.contains_key(&***it));
    let new: Vec<_> = new.collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "free and not listed: {new:#?}\nlisted and found: {gone:#?}"
    );
    for (change, clause) in listed {
        let is_known = P::CLAUSES.iter().any(|it| it.id == clause);
        assert!(is_known, "{change}: there is no clause {clause}");
    }
}

/// Something that is done to a value, by its name.
pub type Edit<'c, T> = (&'static str, &'c dyn Fn(&mut T));

/// The value with one thing done to it, where that changes it.
pub fn edit<T: Clone + PartialEq>(
    it: &T,
    each: &mut dyn FnMut(&'static str, T),
    edits: &[Edit<'_, T>],
) {
    for (field, edit) in edits {
        let mut changed = it.clone();
        edit(&mut changed);
        if changed != *it {
            each(field, changed);
        }
    }
}
