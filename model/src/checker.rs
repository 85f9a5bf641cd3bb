//! Every property of a model, and whether it holds.
//!
//! The one thing to know: a search checks first that the judge finds nothing on any way through the graph. States are told
//! apart by 64-bit fingerprints, so with 10 million states the chance that it misses one is about 2 in a million. What departs
//! from the specification is expected to break, so it is searched breadth first: a property of which no counterexample was
//! found holds only if that search went everywhere.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::judge::{self, Finding, renamed};
use crate::judged::{Found, Limit, Searched, clean, search};
use crate::properties::PropertyRow;
use crate::specification::{Modelled, Specification};

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
    /// In every run.
    Always,
    /// In some run.
    Sometimes,
}

/// A property and whether it holds.
#[derive(Clone, Debug)]
pub struct PropertyVerdict {
    /// Its name.
    pub name: String,
    /// The clauses that it states.
    pub clauses: Cow<'static, [&'static str]>,
    /// Always or sometimes.
    pub kind: Kind,
    /// Of a broken one what the judge found, where its shortest run ends.
    pub finding: Option<Finding>,
    /// Whether it holds, as far as the search went: what always holds was not broken, what has to be possible was seen.
    pub holds: bool,
    /// The shortest counterexample of one that always holds, the last step being the bad one.
    pub steps: Vec<StepText>,
}

/// What an exhaustive search found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// States that differ.
    pub unique_states: usize,
    /// Steps, counting each from each state.
    pub transitions: usize,
    /// Pairs of a state and what the judge remembers, that differ.
    pub pairs: usize,
    /// Steps taken, counting each from each pair.
    pub edges: usize,
    /// In steps: the longest run that the search walked. Of a breadth-first one the longest runs of which it has looked at every
    /// one, so that nothing is broken within so many steps that is not said to be.
    pub depth: usize,
    /// Whether the whole graph was searched.
    pub exhaustive: bool,
    /// Every property, those first that always hold.
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

/// Searches the whole graph, with the judge beside every state; `progress` is told the number of pairs so far, many times
/// a second.
///
/// The search ends where something breaks. The breadth-first one then takes its place, which goes on behind what is broken.
pub fn check<T: Modelled>(
    model: &Specification<T>,
    mut progress: impl FnMut(usize),
) -> CheckReport {
    let Some(clean) = clean(model, &mut progress) else {
        return check_within(model, Limit::default(), progress);
    };
    let always = stated(model).map(|row| verdict(row, Kind::Always));
    CheckReport {
        unique_states: clean.states,
        transitions: clean.transitions,
        pairs: clean.pairs,
        edges: clean.edges,
        depth: clean.depth,
        exhaustive: true,
        properties: always.chain(sometimes(model, clean.witnessed)).collect(),
    }
}

/// Searches breadth first within the limit, so that everything broken has its shortest counterexample; `progress` is told
/// the number of pairs so far, many times a second.
pub fn check_within<T: Modelled>(
    model: &Specification<T>,
    limit: Limit,
    progress: impl FnMut(usize),
) -> CheckReport {
    let searched = search(model, limit, progress);
    CheckReport {
        unique_states: searched.states,
        transitions: searched.transitions,
        pairs: searched.pairs,
        edges: searched.edges,
        depth: searched.steps,
        exhaustive: searched.exhaustive,
        properties: always(model, &searched)
            .into_iter()
            .chain(sometimes(model, searched.witnessed))
            .collect(),
    }
}

/// What always holds, as far as these bounds show it.
fn stated<T: Modelled>(
    model: &Specification<T>,
) -> impl Iterator<Item = &'static PropertyRow> + use<'_, T> {
    let rows = T::PROPERTIES.iter();
    rows.filter(|row| model.shows(row.with))
}

/// What has to be possible, as far as these bounds show it, each with its verdict.
fn sometimes<T: Modelled>(
    model: &Specification<T>,
    witnessed: u128,
) -> impl Iterator<Item = PropertyVerdict> + use<'_, T> {
    let rows = T::WITNESSES.iter().enumerate();
    let shown = rows.filter(|(_, row)| model.shows(row.with));
    shown.map(move |(place, row)| PropertyVerdict {
        holds: witnessed & 1 << place != 0,
        ..verdict(row, Kind::Sometimes)
    })
}

/// What always holds, each with its verdict; and what the judge found besides, which no property states.
pub fn always<T: Modelled>(
    model: &Specification<T>,
    searched: &Searched<T>,
) -> Vec<PropertyVerdict> {
    let found = |clause| {
        // What the text is there to prevent weighs more than what a reading of it says.
        let kinds = [judge::Kind::Guarantee, judge::Kind::Conformance];
        kinds
            .into_iter()
            .find_map(|kind| searched.found.get(&(clause, kind)))
    };
    let stated = stated(model).map(|row| match found(row.clauses[0]) {
        Some(found) => broken(model, row.name(), row.clauses.into(), found),
        None => verdict(row, Kind::Always),
    });
    let is_stated = |clause: &str| T::PROPERTIES.iter().any(|row| row.clauses[0] == clause);
    let chiefs = searched.found.values().map(|found| found.finding.clause);
    let others: BTreeSet<_> = chiefs.filter(|clause| !is_stated(clause)).collect();
    let others = others.into_iter().filter_map(|clause| {
        let found = found(clause)?;
        let also = found.finding.also.iter().copied();
        let clauses = [clause].into_iter().chain(also).collect();
        let name = format!("{clause}, which no property states");
        Some(broken(model, name, clauses, found))
    });
    stated.chain(others).collect()
}

/// A property that holds.
fn verdict(row: &PropertyRow, kind: Kind) -> PropertyVerdict {
    PropertyVerdict {
        name: row.name(),
        clauses: row.clauses.into(),
        kind,
        finding: None,
        holds: true,
        steps: Vec::new(),
    }
}

/// A property that is broken.
fn broken<T: Modelled>(
    model: &Specification<T>,
    name: String,
    clauses: Cow<'static, [&'static str]>,
    found: &Found<T::Action>,
) -> PropertyVerdict {
    let finding = Finding {
        text: renamed(&found.finding.text, T::NAMES),
        ..found.finding.clone()
    };
    PropertyVerdict {
        name,
        clauses,
        kind: Kind::Always,
        finding: Some(finding),
        holds: false,
        steps: describe_run(model, &found.run),
    }
}

/// A run from the start, in words.
pub fn describe_run<T: Modelled>(model: &Specification<T>, actions: &[T::Action]) -> Vec<StepText> {
    let mut texts = Vec::new();
    let mut state = model.start();
    for &action in actions {
        let Some(next) = model.take(&state, action) else {
            break;
        };
        texts.push(model.describe(&state, action, &next));
        state = next;
    }
    texts
}
