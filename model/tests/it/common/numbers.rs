//! What a number makes a difference to.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use countersign_model::ablation::breaks_within;
use countersign_model::judge::Kind;
use countersign_model::judged::InSearch;
use countersign_model::numbers::{Number, Value, at_odds};
use countersign_model::rules::Rules;
use countersign_model::specification::{Modelled, Specification};

use super::small;

/// Checks that each number has a name of its own, and is that of the text in the reading that is the specification.
pub fn assert_the_numbers_are_those_of_the_text<T: Modelled>() {
    let text = T::Reading::default();
    let names: BTreeSet<_> = T::NUMBERS.iter().map(|number| number.name).collect();
    assert_eq!(names.len(), T::NUMBERS.len(), "a name stands twice");
    assert!(at_odds(T::NUMBERS, &text).is_none());
    for number in T::NUMBERS {
        let mut reading = text;
        match &number.value {
            Value::Whole(whole) => {
                let value = (whole.get)(&text);
                assert_eq!(
                    whole.can_be(value.into()),
                    Some(value),
                    "{} as it is",
                    number.name
                );
                (whole.set)(&mut reading, value);
            }
            Value::Word(words) => (words[0].set)(&mut reading),
            Value::Fixed { .. } => {}
        }
        assert_eq!(reading, text, "{} as it is", number.name);
    }
}

/// Checks that whatever a number can be besides, there is a run of up to so many steps, at `small` bounds, in which the one judge
/// finds something and the other does not.
pub fn assert_each_number_makes_a_difference<T: Modelled>(steps: usize) {
    let text = T::Reading::default();
    for number in T::NUMBERS {
        let others = tried::<T>(number);
        for &other in &others {
            let mut parties = others.iter().chain([&text]);
            assert!(
                parties.any(|&party| tells_apart::<T>(party, [text, other], steps)),
                "nothing tells {} = {} from {}",
                number.name,
                number.shown(&other),
                number.shown(&text)
            );
        }
    }
}

/// Checks that a party that goes by another number does what the judge who goes by it wants, in runs of up to so many steps at
/// `small` bounds. What it breaks are guarantees, which stand whatever the number.
pub fn assert_the_party_follows_each_number<T: Modelled>(steps: usize) {
    for number in T::NUMBERS {
        for reading in tried::<T>(number) {
            let model = small::<T>().with(Rules::all(), reading);
            for broken in breaks_within(&model, steps) {
                let finding = broken.finding.expect("what is broken was found");
                let is = number.shown(&reading);
                assert_eq!(
                    finding.kind,
                    Kind::Guarantee,
                    "{} = {is}: {finding}",
                    number.name
                );
            }
        }
    }
}

/// The readings with other values of a number: all words, or the values at the ends of a range and beside that of the text.
fn tried<T: Modelled>(number: &Number<T::Reading>) -> Vec<T::Reading> {
    let text = T::Reading::default();
    let with = |change: &dyn Fn(&mut T::Reading)| {
        let mut reading = text;
        change(&mut reading);
        reading
    };
    let readings: Vec<_> = match &number.value {
        Value::Whole(whole) => {
            let is = (whole.get)(&text);
            let beside = [is.saturating_sub(whole.step), is + whole.step];
            let values = BTreeSet::from([whole.from, whole.to, beside[0], beside[1]]);
            let values = values.into_iter().filter_map(|it| whole.can_be(it.into()));
            values
                .map(|it| with(&|reading| (whole.set)(reading, it)))
                .collect()
        }
        Value::Word(words) => words.iter().map(|word| with(&word.set)).collect(),
        Value::Fixed { .. } => Vec::new(),
    };
    let is_other =
        |reading: &T::Reading| *reading != text && at_odds(T::NUMBERS, reading).is_none();
    readings.into_iter().filter(is_other).collect()
}

/// Whether a party that reads so has a run in which one of two judges finds something and the other does not.
fn tells_apart<T: Modelled>(party: T::Reading, judges: [T::Reading; 2], steps: usize) -> bool {
    let by = |reading| small::<T>().with(Rules::all(), reading).literal();
    let party = by(party);
    let judges = judges.map(|reading| T::judge(&by(reading)));
    let mut level = vec![(party.start(), judges)];
    let mut known = BTreeSet::new();
    for _ in 0..steps {
        let mut next = Vec::new();
        for (state, judges) in level {
            for (state, told) in successors(&party, &state) {
                let mut judges = judges.clone();
                let found = judges
                    .each_mut()
                    .map(|judge| told.is_some_and(|told| !judge.is_told(told).is_empty()));
                if found[0] != found[1] {
                    return true;
                }
                let mut hasher = DefaultHasher::new();
                (state, &judges).hash(&mut hasher);
                if !found[0] && known.insert(hasher.finish()) {
                    next.push((state, judges));
                }
            }
        }
        level = next;
    }
    false
}

/// A state that follows, and what a judge is told of the step.
type Successor<T> = (
    <T as Modelled>::State,
    Option<countersign_model::judged::Told<T>>,
);

fn successors<T: Modelled>(model: &Specification<T>, state: &T::State) -> Vec<Successor<T>> {
    let mut actions = Vec::new();
    model.actions(state, &mut actions);
    let taken = actions
        .into_iter()
        .filter_map(|action| T::take(model, state, action, 0));
    taken.map(|taken| (taken.next, taken.told)).collect()
}
