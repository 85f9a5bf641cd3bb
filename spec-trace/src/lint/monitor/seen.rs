//! Ids that may be used once: of events, tokens, calls and outputs.
//!
//! A producer's ids are its own for ever, and a stream may be endless, so the latest of them are remembered and no more:
//! [`REMEMBERED`] of each kind, as hashes of 64 bits. An id that comes again after that goes unnoticed, and an event that
//! is delivered again is then taken for another. That two different ids share a hash, and one is taken for the other, has a
//! chance of less than one in a trillion for any one event.

use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;
use hashbrown::HashTable;

/// How many ids of a kind are remembered.
pub const REMEMBERED: usize = 1 << 16;

/// The ids of one kind.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// By the order in which they came; when there are as many as may be, the next takes the place of the oldest.
    met: Vec<Met>,
    /// The place of the oldest, when there are that many.
    oldest: usize,
    /// Where each is, found by its hash. Never walked, so its order is never seen.
    places: HashTable<u32>,
}

/// An id, as its hash, and where it stood.
#[derive(Debug, Clone, Copy)]
struct Met {
    key: u64,
    earlier: Earlier,
}

/// Where an id stood before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Earlier {
    /// The line.
    pub line: u64,
    /// The hash of whatever else was to be remembered.
    pub mark: u64,
}

impl Seen {
    /// Remembers an id, and yields where it stood before.
    pub fn meet(&mut self, id: &impl Hash, mark: &impl Hash, line: u64) -> Option<Earlier> {
        let key = hash(id);
        if let Some(earlier) = self.find(key) {
            return Some(earlier);
        }
        let mark = hash(mark);
        let place = self.remember(Met {
            key,
            earlier: Earlier { line, mark },
        });
        let met = &self.met;
        let key_at = |place: &u32| met[*place as usize].key;
        self.places.insert_unique(key, place, key_at);
        None
    }

    /// Where an id stood before.
    pub fn earlier(&self, id: &impl Hash) -> Option<Earlier> {
        self.find(hash(id))
    }

    fn find(&self, key: u64) -> Option<Earlier> {
        let is_meant = |place: &u32| self.met[*place as usize].key == key;
        let place = self.places.find(key, is_meant)?;
        Some(self.met[*place as usize].earlier)
    }

    /// Yields the place that it takes.
    fn remember(&mut self, met: Met) -> u32 {
        let place = if self.met.len() < REMEMBERED {
            self.met.push(met);
            self.met.len() - 1
        } else {
            let place = self.oldest;
            self.oldest = (place + 1) % REMEMBERED;
            let forgotten = std::mem::replace(&mut self.met[place], met);
            let is_forgotten = |other: &u32| *other as usize == place;
            if let Ok(entry) = self.places.find_entry(forgotten.key, is_forgotten) {
                entry.remove();
            }
            place
        };
        u32::try_from(place).expect("few are remembered")
    }
}

/// The same for the same value in every run. Who knows that can make two ids share a hash with either hash function, the
/// standard one too, and would accuse nobody but itself.
pub fn hash(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_remembered_until_that_many_others_have_come() {
        let mut seen = Seen::default();
        assert_eq!(seen.meet(&"a", &1, 7), None);
        for number in 1..REMEMBERED {
            assert_eq!(seen.meet(&number, &0, 8), None);
        }
        let earlier = seen.meet(&"a", &2, 9).unwrap();
        assert_eq!((earlier.line, earlier.mark), (7, hash(&1)));
        assert_eq!(seen.meet(&"b", &0, 10), None);
        assert_eq!(seen.earlier(&"a"), None);
    }
}
