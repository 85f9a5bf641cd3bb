//! Values by key, looked up fast.
//!
//! The one thing to know: a search looks up at random in more memory than any cache holds, so its time is what the processor
//! waits for memory. A key is nearly always found where its look-up begins: that is one wait. And whoever has many keys to
//! look up begins with all of them ([`Lookup::begin`]) before ending the first ([`Lookup::end`]): then the waits are at once.

use std::mem;

/// Values by key; no key is 0.
#[derive(Debug)]
pub(crate) struct Lookup<V> {
    /// As many as a power of two; a free one has the key 0.
    slots: Vec<Slot<V>>,
    /// By how much a number of 64 bits is shifted right to be the place of a slot.
    shift: u32,
    used: usize,
}

/// A key and its value.
type Slot<V> = (u64, V);

/// A look-up that was begun, and can be ended whatever else has become of the keys by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun<V> {
    pub key: u64,
    found: Slot<V>,
}

/// An odd number whose bits follow no pattern: the golden section of 2^64.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl<V: Copy + Default> Lookup<V> {
    /// Nothing, yet.
    pub fn new() -> Self {
        Self {
            slots: vec![Slot::default(); 16],
            shift: u64::BITS - 4,
            used: 0,
        }
    }

    /// Every key with its value, in no order.
    pub fn into_slots(self) -> impl Iterator<Item = Slot<V>> {
        self.slots.into_iter().filter(|&(key, _)| key != 0)
    }

    /// Begins to look a key up.
    pub fn begin(&self, key: u64) -> Begun<V> {
        Begun {
            key,
            found: self.slots[self.home(key)],
        }
    }

    /// The value of the key.
    pub fn end(&self, begun: Begun<V>) -> Option<V> {
        let Begun { key, mut found } = begun;
        if found.0 != key {
            found = self.slots[self.place(key)];
        }
        (found.0 == key).then_some(found.1)
    }

    /// Gives a key that is new its value.
    pub fn insert(&mut self, key: u64, value: V) {
        // Up to five in eight are used: most keys are then where their look-up begins.
        if self.used >= self.slots.len() / 8 * 5 {
            self.grow();
        }
        let place = self.place(key);
        self.slots[place] = (key, value);
        self.used += 1;
    }

    /// Doubles the slots.
    fn grow(&mut self) {
        let larger = vec![Slot::default(); 2 * self.slots.len()];
        let slots = mem::replace(&mut self.slots, larger);
        self.shift -= 1;
        for slot in slots.into_iter().filter(|&(key, _)| key != 0) {
            let place = self.place(slot.0);
            self.slots[place] = slot;
        }
    }

    /// Where the key is, or else the free slot that it would be put into.
    fn place(&self, key: u64) -> usize {
        let mut place = self.home(key);
        while ![0, key].contains(&self.slots[place].0) {
            place = (place + 1) & (self.slots.len() - 1);
        }
        place
    }

    /// Where the look-up of a key begins.
    fn home(&self, key: u64) -> usize {
        let spread = (key ^ key >> 32).wrapping_mul(SPREAD) >> self.shift;
        usize::try_from(spread).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_keeps_its_value_as_the_slots_grow() {
        let mut lookup = Lookup::new();
        // Keys of which many begin in one slot, as those of neighbours do.
        let keys = || (1..=10_000_u64).map(|number| number << 28);
        for key in keys() {
            assert_eq!(lookup.end(lookup.begin(key)), None);
            lookup.insert(key, key + 1);
        }
        assert_eq!(lookup.used, 10_000);
        for key in keys() {
            assert_eq!(lookup.end(lookup.begin(key)), Some(key + 1));
            assert_eq!(lookup.end(lookup.begin(key + 1)), None);
        }
        let mut all: Vec<_> = lookup.into_slots().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(keys().map(|key| (key, key + 1))));
    }

    #[test]
    fn a_look_up_that_was_begun_sees_what_was_put_there_since() {
        let mut lookup = Lookup::new();
        let begun: Vec<_> = (1..=100).map(|key| lookup.begin(key)).collect();
        for begun in begun {
            assert_eq!(lookup.end(begun), None);
            lookup.insert(begun.key, begun.key + 1);
            assert_eq!(lookup.end(begun), Some(begun.key + 1));
        }
    }
}
