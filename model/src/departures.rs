//! What two settings of a text differ in, one thing at a time: rules, readings, numbers.

use crate::numbers::{Number, taken};
use crate::readings::Place;

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
