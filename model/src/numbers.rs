//! The numbers of a text as data: those that can be changed, and why the others cannot.
//!
//! The one thing to know: a number that can be changed is a part of the protocol's reading, so that the model's party and the judge
//! read the same one. Every other is listed with the reason why a search knows nothing of it.

use std::fmt;

use crate::readings::Choice;

/// A number of a text, or a word in one of its tables; `R` is the protocol's reading.
#[derive(Debug)]
pub struct Number<R: 'static> {
    /// Its table and its key, with dots between: `tolerance.longest`.
    pub name: &'static str,
    /// The clauses that give it.
    pub clauses: &'static [&'static str],
    /// What it says, with its unit.
    pub what: &'static str,
    /// What it can be.
    pub value: Value<R>,
}

/// What a number can be.
#[derive(Debug)]
pub enum Value<R: 'static> {
    /// A whole number.
    Whole(Whole<R>),
    /// One of these words, that of the text first.
    Word(&'static [Choice<R>]),
    /// What the text says: the model does not have it.
    Fixed {
        /// As a file has it.
        value: &'static str,
        /// Why the model does not have it.
        reason: &'static str,
    },
}

impl<R> Value<R> {
    /// What the text says and the model does not have, with the reason.
    pub const fn fixed(value: &'static str, reason: &'static str) -> Self {
        Self::Fixed { value, reason }
    }
}

/// A whole number that can be changed.
#[derive(Debug)]
pub struct Whole<R: 'static> {
    /// The least that it can be.
    pub from: u16,
    /// The most.
    pub to: u16,
    /// It is a multiple of this.
    pub step: u16,
    /// The name of the number that it must not be above, if there is one.
    pub within: Option<&'static str>,
    /// What it is.
    pub get: fn(&R) -> u16,
    /// Changes it.
    pub set: fn(&mut R, u16),
}

impl<R> Whole<R> {
    /// Whether it can be this.
    pub fn can_be(&self, value: i64) -> Option<u16> {
        let value = u16::try_from(value).ok()?;
        let is_one = (self.from..=self.to).contains(&value) && value.is_multiple_of(self.step);
        is_one.then_some(value)
    }
}

impl<R> fmt::Display for Whole<R> {
    /// What it can be, in words.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} to {}", self.from, self.to)?;
        if self.step > 1 {
            write!(formatter, ", a multiple of {}", self.step)?;
        }
        self.within.map_or(Ok(()), |other| {
            write!(formatter, ", and no more than {other}")
        })
    }
}

impl<R: Copy + PartialEq> Number<R> {
    /// What it is in this reading, as a file has it.
    pub fn shown(&self, reading: &R) -> String {
        match &self.value {
            Value::Word(_) => format!("\"{}\"", self.plain(reading)),
            Value::Whole(_) | Value::Fixed { .. } => self.plain(reading),
        }
    }

    /// The same without quotes.
    pub fn plain(&self, reading: &R) -> String {
        match &self.value {
            Value::Whole(whole) => (whole.get)(reading).to_string(),
            Value::Word(words) => taken(words, reading).to_owned(),
            Value::Fixed { value, .. } => (*value).to_owned(),
        }
    }
}

/// Which of the choices a reading has made; the first, if none.
pub fn taken<R: Copy + PartialEq>(choices: &[Choice<R>], reading: &R) -> &'static str {
    let is_taken = |choice: &&Choice<R>| {
        let mut chosen = *reading;
        (choice.set)(&mut chosen);
        chosen == *reading
    };
    let taken = choices.iter().find(is_taken).or(choices.first());
    taken.map_or("", |choice| choice.value)
}

/// A number above the one that it must not be above, with their names and values; nothing where there is none.
pub fn at_odds<R>(numbers: &'static [Number<R>], reading: &R) -> Option<[(&'static str, u16); 2]> {
    let whole = |number: &Number<R>| match &number.value {
        Value::Whole(whole) => Some((number.name, (whole.get)(reading), whole.within)),
        Value::Word(_) | Value::Fixed { .. } => None,
    };
    let all: Vec<_> = numbers.iter().filter_map(whole).collect();
    all.iter().find_map(|&(name, value, within)| {
        let &(other, most, _) = all.iter().find(|(other, ..)| within == Some(*other))?;
        (value > most).then_some([(name, value), (other, most)])
    })
}
