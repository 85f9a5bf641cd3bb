//! Each rule left out in turn: what breaks, and how soon.
//!
//! The one thing to know: an ablated party is searched literally, breadth first, and only [`LONGEST`] steps deep. That
//! is deeper than any shortest counterexample, and it is why an ablation that breaks nothing says "within so many steps".

use crate::checker::{
    Kind, Limit, PropertyVerdict, Protocol, Shortest, describe_run, shortest_runs,
};
use crate::rules::{GuardRow, Guards, Rules};

/// The longest runs of an ablated party that are looked at, in steps.
pub const LONGEST: usize = 8;

/// A model whose rules can be left out.
pub trait Ablatable: Protocol {
    /// Its guards.
    type Guard: Guards + Send + Sync;

    /// The same model with these rules alone, literal unless they are complete.
    #[must_use]
    fn keeping(&self, rules: Rules<Self::Guard>) -> Self;
}

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
pub fn ablate<P: Ablatable>(
    specification: &P,
    mut progress: impl FnMut(usize),
) -> Vec<Ablation<P::Guard>> {
    let mut ablations = Vec::new();
    for row in P::Guard::ROWS {
        progress(ablations.len());
        ablations.push(leave_out(specification, row));
    }
    progress(ablations.len());
    ablations
}

/// Leaves out one guard, and a second one if the first breaks nothing.
pub fn leave_out<P: Ablatable>(
    specification: &P,
    row: &'static GuardRow<P::Guard>,
) -> Ablation<P::Guard> {
    let alone = Rules::all().without(row.guard);
    let breaks = breaks(specification, alone, &[]);
    if !breaks.is_empty() {
        return Ablation {
            guard: row,
            breaks,
            masked_by: None,
        };
    }
    for other in P::Guard::ROWS
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

/// The shortest runs of a party that keeps these rules.
fn runs<P: Ablatable>(specification: &P, rules: Rules<P::Guard>) -> Shortest<P> {
    let model = specification.keeping(rules);
    shortest_runs(
        &model,
        Limit {
            steps: LONGEST,
            ..Limit::default()
        },
    )
}

/// The invariants that break under these rules, apart from those at the places in `except`.
pub fn breaks<P: Ablatable>(
    specification: &P,
    rules: Rules<P::Guard>,
    except: &[usize],
) -> Vec<PropertyVerdict> {
    let model = specification.keeping(rules);
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
