//! Each rule left out in turn: what breaks, and how soon.
//!
//! The one thing to know: an ablated producer is searched literally, breadth first, and only [`LONGEST`] steps deep. That
//! is deeper than any shortest counterexample, and it is why an ablation that breaks nothing says "within so many steps".

use super::Aaep;
use super::bounds::{Bounds, BoundsError};
use super::readings::Reading;
use super::rules::{GUARDS, Guard, GuardRow, Rules};
use crate::checker::{
    Kind, Limit, PropertyVerdict, Protocol, Shortest, describe_run, shortest_runs,
};

/// The longest runs of an ablated producer that are looked at, in steps.
pub const LONGEST: usize = 8;

/// What leaving out one rule does.
#[derive(Clone, Debug)]
pub struct Ablation {
    /// The rule.
    pub guard: &'static GuardRow,
    /// The invariants that break, each with its shortest counterexample.
    pub breaks: Vec<PropertyVerdict>,
    /// If nothing breaks: a second rule that masks this one. `breaks` is then what leaving out both breaks, and leaving out
    /// the second alone does not.
    pub masked_by: Option<Guard>,
}

/// Leaves out every guard in turn; `progress` is told how many have been done.
///
/// # Errors
///
/// A bound that is out of its range.
pub fn ablate(
    bounds: Bounds,
    mut progress: impl FnMut(usize),
) -> Result<Vec<Ablation>, BoundsError> {
    let specification = Aaep::new(bounds)?;
    let mut ablations = Vec::new();
    for row in &GUARDS {
        progress(ablations.len());
        ablations.push(leave_out(&specification, row));
    }
    progress(ablations.len());
    Ok(ablations)
}

/// Leaves out one guard, and a second one if the first breaks nothing.
pub fn leave_out(specification: &Aaep, row: &'static GuardRow) -> Ablation {
    let alone = Rules::all().without(row.guard);
    let breaks = breaks(specification, alone, &[]);
    if !breaks.is_empty() {
        return Ablation {
            guard: row,
            breaks,
            masked_by: None,
        };
    }
    for other in GUARDS
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

/// The shortest runs of a producer that keeps these rules.
fn runs(specification: &Aaep, rules: Rules) -> Shortest<Aaep> {
    let model = specification.with(rules, Reading::SPECIFICATION);
    shortest_runs(
        &model,
        Limit {
            steps: LONGEST,
            ..Limit::default()
        },
    )
}

/// The invariants that break under these rules, apart from those at the places in `except`.
fn breaks(specification: &Aaep, rules: Rules, except: &[usize]) -> Vec<PropertyVerdict> {
    let model = specification.with(rules, Reading::SPECIFICATION);
    let invariants = model.invariants();
    let found = runs(specification, rules)
        .broken
        .into_iter()
        .filter(|(place, _)| !except.contains(place));
    let verdict = |(place, run): (usize, Vec<_>)| PropertyVerdict {
        name: invariants[place].name,
        clauses: invariants[place].clauses,
        kind: Kind::Always,
        holds: false,
        steps: describe_run(&model, &run),
    };
    found.map(verdict).collect()
}
