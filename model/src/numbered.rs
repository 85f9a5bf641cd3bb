//! Values that differ, each with a number.
//!
//! The one thing to know: they are told apart by 64-bit fingerprints.

use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;

use crate::lookup::Lookup;

/// Values that differ, each with its number: the first has 0.
#[derive(Debug)]
pub(crate) struct Numbered<V> {
    list: Vec<V>,
    /// The number of each, by its fingerprint.
    numbers: Lookup<u32>,
}

impl<V: Clone + Hash> Numbered<V> {
    /// None, yet.
    pub fn new() -> Self {
        Self {
            list: Vec::new(),
            numbers: Lookup::new(),
        }
    }

    /// The value of a number.
    pub fn value(&self, number: u32) -> &V {
        &self.list[number as usize]
    }

    /// The number of a value.
    pub fn number(&mut self, value: Cow<'_, V>) -> u32 {
        let fingerprint = fingerprint(&value);
        self.number_of(fingerprint, value)
    }

    /// The same of a value whose fingerprint is known.
    pub fn number_of(&mut self, fingerprint: u64, value: Cow<'_, V>) -> u32 {
        let begun = self.numbers.begin(fingerprint);
        self.numbers.end(begun).unwrap_or_else(|| {
            let new = as_number(self.list.len());
            self.numbers.insert(begun.key, new);
            self.list.push(value.into_owned());
            new
        })
    }
}

/// By what a value is told apart, the same in every run of the program; never 0.
pub(crate) fn fingerprint(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value).max(1)
}

/// A place as a number, of which there are more than fit into any memory.
pub(crate) fn as_number(place: impl TryInto<u32, Error: Debug>) -> u32 {
    place.try_into().expect("fewer things than 2^32 are met")
}

/// Two numbers as one key.
pub(crate) fn key(first: u32, second: u32) -> u64 {
    (u64::from(first) << 32 | u64::from(second)) + 1
}
