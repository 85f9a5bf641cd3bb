//! Two settings beside each other: what only one of them allows.

use countersign_model::compare::{Compared, apart};
use countersign_model::judged::Limit;
use countersign_model::rules::Rules;
use countersign_model::specification::{Modelled, Specification};

use super::small;

/// How far two settings are told apart.
pub const LIMIT: Limit = Limit {
    steps: 8,
    pairs: 200_000,
};

/// The specification at `small` bounds, or at those that show it, with one place taken as `name=value` says.
pub fn by<T: Modelled>(assignment: &str) -> Specification<T> {
    let reading = Specification::<T>::reading([assignment]).expect("it names a choice");
    let name = assignment.split('=').next();
    let place = T::PLACES.iter().find(|place| Some(place.name) == name);
    let with = place.and_then(|place| place.with);
    small::<T>().showing(with).with(Rules::all(), reading)
}

/// What the first allows and not the second, and what the second and not the first.
pub fn both_ways<T: Modelled>(a: &Specification<T>, b: &Specification<T>) -> [Compared; 2] {
    [(a, b), (b, a)].map(|(a, b)| apart(a, b, LIMIT, |_| {}))
}

/// The length of a run, and whether the last step is one that the other takes otherwise.
pub fn told(compared: &Compared) -> Option<(usize, bool)> {
    let difference = compared.difference.as_ref()?;
    Some((difference.steps.len(), difference.instead.is_some()))
}
