//! Ids that may be used once: of events, tokens, calls and outputs.
//!
//! A producer's ids are its own for ever, and a stream may be endless, so the latest of them are remembered and no more:
//! [`REMEMBERED`] of each kind, as hashes of 64 bits. An id that comes again after that goes unnoticed, and an event that
//! is delivered again is then taken for another. That two different ids share a hash, and one is taken for the other, has a
//! chance of less than one in a trillion for any one event.

use std::hash::{BuildHasher, Hash};

use foldhash::quality::{FixedState, RandomState};
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
    /// Whoever makes up the ids does not know what hashes they have, nor can have another's id taken for its own.
    hasher: RandomState,
}

/// An id, as its hash, and where it stood with what marks.
#[derive(Debug, Clone, Copy)]
struct Met {
    key: u64,
    mark: u64,
    whole: u64,
    line: u64,
}

/// Where an id stood before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Earlier {
    /// The line.
    pub line: u64,
    /// Whether it had the same mark there.
    pub is_alike: bool,
    /// Whether all that came with it was the same.
    pub is_same: bool,
}

impl Seen {
    /// Remembers an id with a mark, unless it stood before: then it yields where.
    pub fn meet(&mut self, id: &impl Hash, mark: &impl Hash, line: u64) -> Option<Earlier> {
        self.meet_with(id, mark, 0, line)
    }

    /// The same with all that comes with it, as a hash.
    pub fn meet_with(
        &mut self,
        id: &impl Hash,
        mark: &impl Hash,
        whole: u64,
        line: u64,
    ) -> Option<Earlier> {
        let (key, mark) = (self.hasher.hash_one(id), self.hasher.hash_one(mark));
        if let Some(met) = self.find(key) {
            return Some(Earlier {
                line: met.line,
                is_alike: met.mark == mark,
                is_same: met.mark == mark && met.whole == whole,
            });
        }
        let place = self.remember(Met {
            key,
            mark,
            whole,
            line,
        });
        let met = &self.met;
        let key_at = |place: &u32| met[*place as usize].key;
        self.places.insert_unique(key, place, key_at);
        None
    }

    /// The line on which an id stood before.
    pub fn earlier(&self, id: &impl Hash) -> Option<u64> {
        let met = self.find(self.hasher.hash_one(id))?;
        Some(met.line)
    }

    fn find(&self, key: u64) -> Option<&Met> {
        let is_meant = |place: &u32| self.met[*place as usize].key == key;
        let place = self.places.find(key, is_meant)?;
        Some(&self.met[*place as usize])
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

/// The same for the same value in every run. Who knows that can make two values share a hash, so what rests on it alone is
/// what a producer says twice; ids that share one are compared as well.
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
        for (mark, is_alike) in [(1, true), (2, false)] {
            let earlier = seen.meet(&"a", &mark, 9);
            assert_eq!(
                earlier,
                Some(Earlier {
                    line: 7,
                    is_alike,
                    is_same: is_alike
                })
            );
        }
        assert_eq!(seen.earlier(&"a"), Some(7));
        assert_eq!(seen.meet(&"b", &0, 10), None);
        assert_eq!(seen.earlier(&"a"), None);
    }

    /// Else a producer could make an id that is taken for the next one of another, who is accused of using it again.
    #[test]
    fn nobody_knows_beforehand_what_hash_an_id_has() {
        let hashes = [Seen::default(), Seen::default()].map(|seen| seen.hasher.hash_one("evt_1"));
        assert_ne!(hashes[0], hashes[1]);
    }
}
