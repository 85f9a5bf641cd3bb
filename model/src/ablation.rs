//! Each rule left out in turn: what breaks, and how soon.
//!
//! The one thing to know: an ablated party is searched literally, breadth first, and only [`Modelled::LONGEST`] steps deep.
//! That is deeper than any shortest counterexample, and it is why an ablation that breaks nothing says "within so many steps".

use crate::checker::{Kind, PropertyVerdict, describe_run};
use crate::rules::{GuardRow, Rules};
use crate::shortest::{Limit, Shortest, shortest_runs};
use crate::specification::{Modelled, Specification};
use crate::table::Tabled;

/// The longest runs of an ablated party that are looked at, in steps, where its text does not say otherwise.
pub const LONGEST: usize = 8;

/// What leaving out one rule does.
#[derive(Clone, Debug)]
pub struct Ablation<G: 'static> {
    /// The rule.
    pub guard: &'static GuardRow<G>,
    /// The invariants that break, each with its shortest counterexample.
    pub breaks: Vec<PropertyVerdict>,
    /// If nothing breaks: a second rule that masks this one. `breaks` is then what leaving out both breaks, and leaving out
    /// the second alone does not.
    pub masked_by: Option<G>,
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

/// Leaves out one guard, and a second one if the first breaks nothing.
pub fn leave_out<T: Modelled>(
    specification: &Specification<T>,
    row: &'static GuardRow<T::Guard>,
) -> Ablation<T::Guard> {
    let alone = Rules::all().without(row.guard);
    let breaks = breaks(specification, alone, &[]);
    if !breaks.is_empty() {
        return Ablation {
            guard: row,
            breaks,
            masked_by: None,
        };
    }
    for other in T::Guard::ROWS
        .iter()
        .map(|other| other.guard)
        .filter(|&other| other != row.guard)
    {
        let by_other: Vec<_> = runs(specification, Rules::all().without(other))
            .broken
            .into_keys()
            .collect();
        let by_both = self::breaks(specification, alone.without(other), &by_other);
        if !by_both.is_empty() {
            return Ablation {
                guard: row,
                breaks: by_both,
                masked_by: Some(other),
            };
        }
    }
    Ablation {
        guard: row,
        breaks,
        masked_by: None,
    }
}

/// The same party with these rules alone.
fn keeping<T: Modelled>(
    specification: &Specification<T>,
    rules: Rules<T::Guard>,
) -> Specification<T> {
    specification.with(rules, specification.reading)
}

/// The shortest runs of a party that keeps these rules.
fn runs<T: Modelled>(specification: &Specification<T>, rules: Rules<T::Guard>) -> Shortest<T> {
    let limit = Limit {
        steps: T::LONGEST,
        ..Limit::default()
    };
    shortest_runs(&keeping(specification, rules), limit)
}

/// The invariants that break under these rules, apart from those at the places in `except`.
pub fn breaks<T: Modelled>(
    specification: &Specification<T>,
    rules: Rules<T::Guard>,
    except: &[usize],
) -> Vec<PropertyVerdict> {
    let model = keeping(specification, rules);
    let found = runs(specification, rules)
        .broken
        .into_iter()
        .filter(|(place, _)| !except.contains(place));
    let verdict = |(place, run): (usize, Vec<_>)| PropertyVerdict {
        name: T::Invariant::ROWS[place].name.into(),
        clauses: T::Invariant::ROWS[place].clauses.into(),
        kind: Kind::Always,
        judged: None,
        holds: false,
        steps: describe_run(&model, &run),
    };
    found.map(verdict).collect()
}

/// Of the invariants that break, those that say what the rule is for: they state its chief clause before all others. Where
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
