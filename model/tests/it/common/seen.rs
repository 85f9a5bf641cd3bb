//! What a single step shows.

use countersign_model::judged::InSearch;
use countersign_model::specification::{Modelled, Specification};

/// Tells the judge of a step of the specification, in which it finds nothing.
pub fn tell_step<T: Modelled>(
    model: &Specification<T>,
    judge: &mut T::Judge,
    state: &T::State,
    action: T::Action,
) {
    let taken = T::take(model, state, action, u128::MAX).expect("the action is enabled");
    let found = taken
        .told
        .map(|told| judge.is_told(told))
        .unwrap_or_default();
    assert_eq!(found, [], "the specification breaks nothing");
}
