//! The numbers of a text as data: those that can be changed, and why the others cannot.
//!
//! A number that can be changed is a part of the protocol's reading, so that the parties and the checker read the same one. Every
//! other is listed with the reason why a search does not show it.

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

impl<R: Copy + PartialEq> Number<R> {
    /// What it is in this reading, without quotes.
    pub fn plain(&self, reading: &R) -> String {
        match &self.value {
            Value::Whole(whole) => (whole.get)(reading).to_string(),
            Value::Word(words) => taken(words, reading).to_owned(),
            Value::Fixed { value, .. } => (*value).to_owned(),
        }
    }
}

/// The reading with one of these numbers so; none where there is no such number, or it cannot be so.
pub fn with<R: 'static>(numbers: &[Number<R>], mut reading: R, name: &str, so: &str) -> Option<R> {
    let number = numbers.iter().find(|it| it.name == name)?;
    match &number.value {
        Value::Whole(whole) => (whole.set)(&mut reading, so.parse().ok()?),
        Value::Word(words) => (words.iter().find(|it| it.value == so)?.set)(&mut reading),
        Value::Fixed { .. } => return None,
    }
    Some(reading)
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
