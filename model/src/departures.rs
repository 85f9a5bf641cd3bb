//! What two settings of a text differ in, one thing at a time: rules, readings, numbers; and which of it a run needs.

use crate::numbers::{Number, Value, taken};
use crate::readings::Place;
use crate::rules::Rules;
use crate::specification::{Modelled, Specification};
use crate::table::Tabled as _;

/// What kind of thing a departure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A rule that this setting leaves out and the other keeps.
    Lost,
    /// A rule that this setting keeps and the other leaves out.
    Kept,
    /// A place that is read in another way.
    Reading,
    /// Another number, or another word in a table.
    Number,
}

/// One thing in which a setting differs from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// What kind of thing.
    pub what: What,
    /// The name of the rule, the place or the number.
    pub name: &'static str,
    /// The clauses that it is of.
    pub clauses: &'static [&'static str],
    /// What it is here; of a rule nothing.
    pub value: String,
    /// What it is in the other.
    pub other: String,
    /// What it is where nobody takes it otherwise.
    pub usual: String,
}

impl Departure {
    /// Which it is: a rule by its name, else as `name=value`.
    pub fn in_words(&self) -> String {
        match self.what {
            What::Lost => format!("leaving out {}", self.name),
            What::Kept => format!("keeping {}", self.name),
            What::Reading | What::Number => self.assignment(),
        }
    }

    /// The same as the other has it.
    pub(crate) fn mirrored(&self) -> Departure {
        Departure {
            value: self.other.clone(),
            other: self.value.clone(),
            ..self.clone()
        }
    }

    /// As `name=value`.
    pub fn assignment(&self) -> String {
        format!("{}={}", self.name, self.value)
    }
}

/// All in which a setting differs from another: rules first, then readings, then numbers.
pub fn departures<T: Modelled>(
    model: &Specification<T>,
    other: &Specification<T>,
) -> Vec<Departure> {
    let is_lost = |guard| model.rules.allow(guard);
    let rows = T::Guard::ROWS.iter();
    let rows = rows.filter(|row| is_lost(row.guard) != other.rules.allow(row.guard));
    let rules = rows.map(|row| Departure {
        what: if is_lost(row.guard) {
            What::Lost
        } else {
            What::Kept
        },
        name: row.name,
        clauses: row.clauses,
        value: String::new(),
        other: String::new(),
        usual: String::new(),
    });
    let usual = T::reading_within(&model.bounds);
    let readings = [model.reading, other.reading, usual];
    let taken = taken_otherwise(T::PLACES, T::NUMBERS, readings);
    rules.chain(taken).collect()
}

/// The places and numbers that are not the same in the first reading and in the second; the third is the usual one.
pub(crate) fn taken_otherwise<R: Copy + PartialEq>(
    places: &'static [Place<R>],
    numbers: &'static [Number<R>],
    readings: [R; 3],
) -> impl Iterator<Item = Departure> {
    let places = places.iter().map(move |place| {
        let values = readings.map(|it| taken(place.choices, &it).to_owned());
        (What::Reading, place.name, place.clauses, values)
    });
    let numbers = numbers.iter().map(move |number| {
        let values = readings.map(|it| number.plain(&it));
        (What::Number, number.name, number.clauses, values)
    });
    let all = places.chain(numbers);
    all.filter_map(|(what, name, clauses, [value, other, usual])| {
        (value != other).then_some(Departure {
            what,
            name,
            clauses,
            value,
            other,
            usual,
        })
    })
}

/// The setting with this one thing as in the other.
pub(crate) fn without<T: Modelled>(
    model: &Specification<T>,
    other: &Specification<T>,
    departure: &Departure,
) -> Specification<T> {
    let (mut rules, mut reading) = (model.rules, model.reading);
    match departure.what {
        What::Lost | What::Kept => {
            let left_out = T::Guard::ROWS.iter().map(|row| row.guard).filter(|guard| {
                let is_it = guard.row().name == departure.name;
                let of = if is_it { other.rules } else { model.rules };
                of.allow(*guard)
            });
            rules = left_out.fold(Rules::all(), Rules::without);
        }
        What::Reading => {
            let place = T::PLACES.iter().find(|it| it.name == departure.name);
            let choices = place.into_iter().flat_map(|it| it.choices);
            for choice in choices.filter(|it| it.value == departure.other) {
                (choice.set)(&mut reading);
            }
        }
        What::Number => {
            let numbers = T::NUMBERS.iter().filter(|it| it.name == departure.name);
            for number in numbers {
                match &number.value {
                    Value::Whole(whole) => {
                        (whole.set)(&mut reading, (whole.get)(&other.reading));
                    }
                    Value::Word(words) => {
                        for word in words.iter().filter(|it| it.value == departure.other) {
                            (word.set)(&mut reading);
                        }
                    }
                    Value::Fixed { .. } => {}
                }
            }
        }
    }
    model.with(rules, reading)
}

/// Of what a setting differs in from another, that which is needed for this to hold, none of it for nothing: each is left out in turn,
/// for good where it holds without.
pub fn needed<T: Modelled>(
    model: &Specification<T>,
    other: &Specification<T>,
    holds: impl Fn(&Specification<T>) -> bool,
) -> Vec<Departure> {
    let mut least = model.clone();
    let mut needed = departures(model, other);
    needed.retain(|departure| {
        let less = without(&least, other, departure);
        let holds = holds(&less);
        if holds {
            least = less;
        }
        !holds
    });
    needed
}
