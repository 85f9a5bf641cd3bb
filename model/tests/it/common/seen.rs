//! What a single step shows of the clauses.

use countersign_model::judged::InSearch;
use countersign_model::specification::{Modelled, Specification};

use crate::recording::note;

/// Tells the judge of a step of the specification, in which he finds nothing; notes the clauses whose case the step
/// witnesses, and the one that has a message ignored.
pub fn tell_step<T: Modelled>(
    model: &Specification<T>,
    judge: &mut T::Judge,
    state: &T::State,
    action: T::Action,
    ignored: Option<&'static str>,
) {
    let taken = T::take(model, state, action, u128::MAX).expect("the action is enabled");
    let found = taken
        .told
        .map(|told| judge.is_told(told))
        .unwrap_or_default();
    assert_eq!(found, [], "the specification breaks nothing");
    let rows = T::WITNESSES.iter().enumerate();
    let seen = rows.filter(|(place, _)| taken.witnessed & 1 << place != 0);
    note(seen.flat_map(|(_, row)| row.clauses).copied());
    note(ignored);
}
