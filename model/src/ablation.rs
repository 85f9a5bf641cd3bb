//! Each rule left out in turn: what breaks, and how soon.
//!
//! The one thing to know: an ablated party is searched literally, breadth first, and only [`Modelled::LONGEST`] steps deep.
//! That is deeper than any shortest counterexample, and it is why an ablation that breaks nothing says "within so many steps".

use crate::checker::{PropertyVerdict, always};
use crate::judged::{Limit, search};
use crate::rules::{GuardRow, Rules};
use crate::specification::{Modelled, Specification};
use crate::table::Tabled;

/// The longest runs of an ablated party that are looked at, in steps, where its text does not say otherwise.
pub const LONGEST: usize = 8;

/// What leaving out one rule does.
#[derive(Clone, Debug)]
pub struct Ablation<G: 'static> {
    /// The rule.
    pub guard: &'static GuardRow<G>,
    /// The properties that break, each with its shortest counterexample.
    pub breaks: Vec<PropertyVerdict>,
    /// If nothing breaks: a second rule that masks this one. `breaks` is then what leaving out both breaks, and leaving out
    /// the second alone does not.
    pub masked_by: Option<G>,
}

impl<G: 'static> Ablation<G> {
    /// Whether it breaks something, or it is known why nobody outside finds anything wrong.
    pub fn is_explained(&self) -> bool {
        !self.breaks.is_empty() || self.guard.free.is_some()
    }
}

/// Leaves out every guard in turn; `progress` is told how many have been done.
pub fn ablate<T: Modelled>(
    specification: &Specification<T>,
    mut progress: impl FnMut(usize),
) -> Vec<Ablation<T::Guard>> {
    let mut ablations = Vec::new();
    for row in T::Guard::ROWS {
        progress(ablations.len());
        ablations.push(leave_out(specification, row));
    }
    progress(ablations.len());
    ablations
}

/// Leaves out one guard, within bounds in which it matters, and a second one if the first breaks nothing and it is not known why.
pub fn leave_out<T: Modelled>(
    specification: &Specification<T>,
    row: &'static GuardRow<T::Guard>,
) -> Ablation<T::Guard> {
    let specification = &specification.showing(row.with);
    let alone = Rules::all().without(row.guard);
    let mut ablation = Ablation {
        guard: row,
        breaks: breaks(specification, alone),
        masked_by: None,
    };
    if ablation.is_explained() {
        return ablation;
    }
    let others = T::Guard::ROWS.iter().map(|other| other.guard);
    for other in others.filter(|&other| other != row.guard) {
        let by_other = breaks(specification, Rules::all().without(other));
        let mut by_both = breaks(specification, alone.without(other));
        by_both.retain(|broken| by_other.iter().all(|other| other.name != broken.name));
        if !by_both.is_empty() {
            ablation.breaks = by_both;
            ablation.masked_by = Some(other);
            break;
        }
    }
    ablation
}

/// The properties that break under these rules.
pub fn breaks<T: Modelled>(
    specification: &Specification<T>,
    rules: Rules<T::Guard>,
) -> Vec<PropertyVerdict> {
    let model = specification.with(rules, specification.reading);
    breaks_within(&model, T::LONGEST)
}

/// The properties that break in runs of up to so many steps.
pub fn breaks_within<T: Modelled>(model: &Specification<T>, steps: usize) -> Vec<PropertyVerdict> {
    broken_within(model, steps).properties
}

/// What breaks, and how far it was searched for.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The properties that break, each with its shortest counterexample.
    pub properties: Vec<PropertyVerdict>,
    /// The longest runs of which every one was looked at, in steps.
    pub steps: usize,
    /// States that differ, in these runs.
    pub states: usize,
}

/// The properties that break in runs of up to so many steps, and how far that came.
pub fn broken_within<T: Modelled>(model: &Specification<T>, steps: usize) -> Broken {
    let limit = Limit {
        steps,
        ..Limit::default()
    };
    let searched = search(model, limit, |_| {});
    let mut properties = always(model, &searched);
    properties.retain(|property| !property.holds);
    Broken {
        properties,
        steps: searched.steps,
        states: searched.states,
    }
}

/// Of the properties that break, those that say what the rule is for: they state its chief clause before all others. Where
/// there is none, those that state any of its clauses.
pub fn telling<'a, G>(
    guard: &GuardRow<G>,
    broken: impl Iterator<Item = &'a PropertyVerdict> + Clone,
) -> Vec<&'a PropertyVerdict> {
    let chief: Vec<_> = broken
        .clone()
        .filter(|property| property.clauses[0] == guard.clauses[0])
        .collect();
    if !chief.is_empty() {
        return chief;
    }
    let states_one = |property: &&PropertyVerdict| {
        let mut clauses = guard.clauses.iter();
        clauses.any(|clause| property.clauses.contains(clause))
    };
    broken.filter(states_one).collect()
}
