//! The check of a model: every property, and whether it holds.
//!
//! The one thing to know: the specification is searched by stateright, depth first, which keeps 64-bit fingerprints only:
//! with 10 million states the chance that it misses one is about 2 in a million. What departs from the specification is
//! expected to break, so it is searched breadth first, by [`crate::shortest`]: a property of which no counterexample was
//! found holds only if that search went everywhere.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use stateright::{Checker, Model};

use crate::judge::{self, Finding};
use crate::judged::{self, Found, Tells};
use crate::shortest::{Limit, search};
use crate::specification::{Modelled, Specification};
use crate::table::Tabled;

/// A step in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepText {
    /// When, such as `t=0`.
    pub at: String,
    /// Who acts.
    pub actor: String,
    /// Whom it reaches, such as `network`; nobody where it stays with who acts.
    pub to: Option<String>,
    /// What they do.
    pub action: String,
    /// What changes and comes out by it.
    pub changes: Vec<String>,
}

/// Whether a property is to hold always or sometimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In every state: an invariant.
    Always,
    /// On some step: a witness.
    Sometimes,
}

/// A property and whether it holds.
#[derive(Clone, Debug)]
pub struct PropertyVerdict {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The clauses that it states.
    pub clauses: Cow<'static, [&'static str]>,
    /// Always or sometimes.
    pub kind: Kind,
    /// Where the judge says so, who knows calls and outputs alone: whether it was judged under the reading taken.
    pub judged: Option<judge::Kind>,
    /// Whether it holds, as far as the search went: an invariant was not broken, a witness was seen.
    pub holds: bool,
    /// The shortest counterexample of a broken invariant, the last step being the bad one.
    pub steps: Vec<StepText>,
}

/// What an exhaustive search found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// States that differ.
    pub unique_states: usize,
    /// Steps taken, counting each from each state.
    pub transitions: usize,
    /// In steps: the longest run that a depth-first search walked. Of a breadth-first one the longest runs of which it has
    /// looked at every one, so that nothing is broken within so many steps that is not said to be.
    pub depth: usize,
    /// Whether the whole graph was searched.
    pub exhaustive: bool,
    /// Every property, the invariants first.
    pub properties: Vec<PropertyVerdict>,
}

impl CheckReport {
    /// Whether the whole graph was searched and all properties hold.
    pub fn holds(&self) -> bool {
        self.exhaustive && self.properties.iter().all(|property| property.holds)
    }
}

/// The most states that are looked at, where nothing else is said, of a model that departs from the specification: as many
/// as take less than a minute.
pub const STATES: usize = 10_000_000;

/// Searches the whole graph; `progress` is told the number of states so far, several times a second.
///
/// The search ends where an invariant breaks. The breadth-first one then takes its place, which goes on behind what is
/// broken.
pub fn check<T: Modelled>(
    model: &Specification<T>,
    mut progress: impl FnMut(usize),
) -> CheckReport {
    let checker = model.clone().checker().spawn_dfs();
    while !checker.is_done() {
        progress(checker.unique_state_count());
        std::thread::sleep(Duration::from_millis(50));
    }
    let checker = checker.join();
    if !checker.discoveries().is_empty() {
        return check_within(model, Limit::default(), progress);
    }
    CheckReport {
        unique_states: checker.unique_state_count(),
        // The start is counted among the states that were generated; no step led there.
        transitions: checker.state_count() - 1,
        depth: checker.max_depth() - 1,
        exhaustive: true,
        properties: verdicts(model, &BTreeMap::new(), model.witnessed()),
    }
}

/// Searches breadth first within the limit, so that every broken invariant has its shortest counterexample; `progress` is
/// told the number of states so far, many times a second.
pub fn check_within<T: Modelled>(
    model: &Specification<T>,
    limit: Limit,
    progress: impl FnMut(usize),
) -> CheckReport {
    let shortest = search(model, limit, progress);
    CheckReport {
        unique_states: shortest.states,
        transitions: shortest.transitions,
        depth: shortest.steps,
        exhaustive: shortest.exhaustive,
        properties: verdicts(model, &shortest.broken, shortest.witnessed),
    }
}

/// Every property with its verdict: the invariants with the runs that break them, by their places, and what was witnessed.
fn verdicts<T: Modelled>(
    model: &Specification<T>,
    broken: &BTreeMap<usize, Vec<T::Action>>,
    witnessed: u64,
) -> Vec<PropertyVerdict> {
    let always = T::Invariant::ROWS.iter().enumerate().map(|(place, row)| {
        let run = broken.get(&place);
        let steps = run
            .map(|actions| describe_run(model, actions))
            .unwrap_or_default();
        PropertyVerdict {
            name: row.name.into(),
            clauses: row.clauses.into(),
            kind: Kind::Always,
            judged: None,
            holds: run.is_none(),
            steps,
        }
    });
    always.chain(sometimes::<T>(witnessed)).collect()
}

/// Every witness with its verdict.
fn sometimes<T: Modelled>(witnessed: u64) -> impl Iterator<Item = PropertyVerdict> {
    T::Witness::ROWS
        .iter()
        .enumerate()
        .map(move |(place, row)| PropertyVerdict {
            name: row.name.into(),
            clauses: row.clauses.into(),
            kind: Kind::Sometimes,
            judged: None,
            holds: witnessed & 1 << place != 0,
            steps: Vec::new(),
        })
}

/// Searches breadth first within the limit, with the judge beside every state: each clause of the text, so read, that the
/// producer goes against, and each guarantee that the reading costs, with its shortest run.
pub fn check_judged<T: Tells>(
    model: &Specification<T>,
    limit: Limit,
    progress: &mut dyn FnMut(usize),
) -> CheckReport {
    let judged = judged::search(model, limit, progress);
    let kinds = [
        (
            judge::Kind::Conformance,
            "conformance: the party does what the text says, read so",
        ),
        (
            judge::Kind::Guarantee,
            "guarantees: what the text is there to prevent, however it is read, does not happen",
        ),
    ];
    let always = kinds.into_iter().flat_map(|(kind, name)| {
        let of_kind = judged
            .found
            .values()
            .filter(move |it| it.finding.kind == kind);
        let broken: Vec<_> = of_kind.map(|found| of_finding(model, found)).collect();
        if !broken.is_empty() {
            return broken;
        }
        vec![PropertyVerdict {
            name: name.into(),
            clauses: Cow::default(),
            kind: Kind::Always,
            judged: Some(kind),
            holds: true,
            steps: Vec::new(),
        }]
    });
    CheckReport {
        unique_states: judged.pairs,
        transitions: judged.transitions,
        depth: judged.steps,
        exhaustive: judged.exhaustive,
        properties: always.chain(sometimes::<T>(judged.witnessed)).collect(),
    }
}

/// What was found, as a property that is broken.
fn of_finding<T: Tells>(model: &Specification<T>, found: &Found<T::Action>) -> PropertyVerdict {
    let Finding {
        clause,
        also,
        kind,
        text,
    } = &found.finding;
    let said = match kind {
        judge::Kind::Conformance => "conformance",
        judge::Kind::Guarantee => "guarantee",
    };
    PropertyVerdict {
        name: format!("{said} {clause}: {text}").into(),
        clauses: [*clause].into_iter().chain(also.iter().copied()).collect(),
        kind: Kind::Always,
        judged: Some(*kind),
        holds: false,
        steps: describe_run(model, &found.run),
    }
}

/// A run from the start, in words.
pub fn describe_run<T: Modelled>(model: &Specification<T>, actions: &[T::Action]) -> Vec<StepText> {
    let mut texts = Vec::new();
    let mut state = model.start();
    for &action in actions {
        let Some((next, _)) = model.take(&state, action) else {
            break;
        };
        texts.push(model.describe(&state, action, &next));
        state = next;
    }
    texts
}
