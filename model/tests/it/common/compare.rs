//! Two settings beside each other: what only one of them allows.

use std::collections::BTreeSet;

use countersign_model::compare::{Compared, Difference, apart};
use countersign_model::departures::What;
use countersign_model::judged::Limit;
use countersign_model::numbers::{Value, at_odds};
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

/// The specification at `small` bounds, with one number as it says.
pub fn counting<T: Modelled>(name: &str, value: &str) -> Specification<T> {
    let model = small::<T>();
    let mut reading = model.reading;
    let number = T::NUMBERS.iter().find(|it| it.name == name);
    match &number.expect("a number").value {
        Value::Whole(whole) => (whole.set)(&mut reading, value.parse().expect("a whole number")),
        Value::Word(words) => {
            let word = words.iter().find(|it| it.value == value);
            (word.expect("a word of the table").set)(&mut reading);
        }
        Value::Fixed { reason, .. } => panic!("{name} is not modelled: {reason}"),
    }
    model.with(Rules::all(), reading)
}

/// Checks that each number, whatever else it can be, is told from the text in both directions, and is what both runs need; but for these,
/// which no output tells.
pub fn assert_each_number_tells<T: Modelled>(untold: &[(&str, &str)]) {
    let text = T::Reading::default();
    for number in T::NUMBERS {
        let values: BTreeSet<String> = match &number.value {
            Value::Whole(whole) => {
                let is = (whole.get)(&text);
                let beside = [is.saturating_sub(whole.step), is + whole.step];
                let all = [whole.from, whole.to].into_iter().chain(beside);
                let all = all.filter_map(|it| whole.can_be(it.into()));
                all.map(|it| it.to_string()).collect()
            }
            Value::Word(words) => words.iter().map(|it| it.value.to_owned()).collect(),
            Value::Fixed { .. } => BTreeSet::new(),
        };
        for value in values {
            let changed = counting::<T>(number.name, &value);
            let is_other =
                changed.reading != text && at_odds(T::NUMBERS, &changed.reading).is_none();
            let is_told = !untold.contains(&(number.name, &*value));
            for compared in both_ways(&small(), &changed)
                .into_iter()
                .filter(|_| is_other)
            {
                let difference = compared.difference.as_ref().or(compared.allowed.as_ref());
                let needs = difference.map(needs);
                let expected = is_told.then(|| vec![(What::Number, number.name)]);
                assert_eq!(needs, expected, "{} = {value}", number.name);
            }
        }
    }
}

/// What a run needs of that in which two settings differ.
pub fn needs(difference: &Difference) -> Vec<(What, &'static str)> {
    let needs = difference.needs.iter();
    needs.map(|it| (it.what, it.name)).collect()
}

/// What the first allows and not the second, and what the second and not the first.
pub fn both_ways<T: Modelled>(a: &Specification<T>, b: &Specification<T>) -> [Compared; 2] {
    [(a, b), (b, a)].map(|(a, b)| apart(a, b, LIMIT, |_| {}))
}

/// The length of a run, and whether the last step is one that the other takes otherwise.
pub fn told(compared: &Compared) -> Option<(usize, bool)> {
    length(compared.difference.as_ref())
}

/// The same of a run that the other may have, though it does otherwise of itself.
pub fn allowed(compared: &Compared) -> Option<(usize, bool)> {
    length(compared.allowed.as_ref())
}

fn length(difference: Option<&Difference>) -> Option<(usize, bool)> {
    let difference = difference?;
    Some((difference.steps.len(), difference.instead.is_some()))
}
