//! Ids that may be used once: of events, tokens, calls and outputs.
//!
//! A producer's ids are its own for ever, and a stream may be endless, so the latest of them are remembered and no more:
//! [`REMEMBERED`] of each kind, as hashes of 64 bits. An id that comes again after that goes unnoticed, and an event that
//! is delivered again is then taken for another. That two different ids share a hash, and one is taken for the other, has a
//! chance of less than one in a trillion for any one event.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// How many ids of a kind are remembered.
pub const REMEMBERED: usize = 1 << 16;

/// The ids of one kind.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// Never walked, so its order is never seen.
    of: HashMap<u64, Earlier, BuildHasherDefault<AsItIs>>,
    order: VecDeque<u64>,
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
        let mark = hash(mark);
        if let Some(earlier) = self.of.get(&key) {
            return Some(*earlier);
        }
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.of.remove(&oldest);
        }
        self.order.push_back(key);
        self.of.insert(key, Earlier { line, mark });
        None
    }

    /// Where an id stood before.
    pub fn earlier(&self, id: &impl Hash) -> Option<Earlier> {
        self.of.get(&hash(id)).copied()
    }
}

/// The keys are hashes already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("the keys are numbers of 64 bits");
    }
}

/// The same for the same value in every run.
pub fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
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
