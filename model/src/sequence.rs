//! Short sequences, small enough to be copied with every state.
//!
//! The one thing to know: an item is told by a number, and the numbers stand side by side in one word, the first lowest.

use std::iter;
use std::marker::PhantomData;

/// What a sequence can be made of.
pub trait Packed: Copy {
    /// The bits of a number.
    const BITS: usize;

    /// The most items that a sequence holds. No run of a specification needs more.
    const CAPACITY: usize;

    /// The item as a number from 1, in so many bits.
    fn code(self) -> u16;

    /// The item of a number made by [`Packed::code`]; nothing for 0.
    fn from_code(code: u16) -> Option<Self>;
}

/// Items in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sequence<T> {
    word: u128,
    of: PhantomData<T>,
}

impl<T> Default for Sequence<T> {
    /// No item.
    fn default() -> Self {
        Self::of(0)
    }
}

impl<T> Sequence<T> {
    const fn of(word: u128) -> Self {
        Self {
            word,
            of: PhantomData,
        }
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.word == 0
    }

    /// Everything in two words, for hashing, the first items in the second.
    pub fn words(self) -> [u64; 2] {
        [self.word >> 64, self.word & u128::from(u64::MAX)]
            .map(|half| u64::try_from(half).unwrap_or(0))
    }
}

impl<T: Packed> Sequence<T> {
    /// How many there are.
    pub const fn len(self) -> usize {
        let bits = u128::BITS as usize - self.word.leading_zeros() as usize;
        bits.div_ceil(T::BITS)
    }

    /// The first.
    pub fn head(self) -> Option<T> {
        Self::lowest(self.word)
    }

    /// The last.
    pub fn last(self) -> Option<T> {
        let before = self.len().saturating_sub(1);
        Self::lowest(self.word >> (T::BITS * before))
    }

    /// The item in the lowest bits; nothing if there is none.
    fn lowest(word: u128) -> Option<T> {
        let code = word & ((1 << T::BITS) - 1);
        T::from_code(u16::try_from(code).unwrap_or(0))
    }

    /// The items in order.
    pub fn items(mut self) -> impl Iterator<Item = T> {
        iter::from_fn(move || self.pop())
    }

    /// Whether the item is among them.
    pub fn contains(self, item: T) -> bool
    where
        T: PartialEq,
    {
        self.items().any(|other| other == item)
    }

    /// Adds one at the end; false if there is no room.
    pub fn push(&mut self, item: T) -> bool {
        let place = self.len();
        if place == T::CAPACITY {
            return false;
        }
        self.word |= u128::from(item.code()) << (T::BITS * place);
        true
    }

    /// Takes the first off.
    pub fn pop(&mut self) -> Option<T> {
        let head = self.head();
        self.word >>= T::BITS;
        head
    }

    /// The first so many.
    #[must_use]
    pub const fn first(self, count: usize) -> Self {
        if count >= T::CAPACITY {
            return self;
        }
        Self::of(self.word & ((1 << (T::BITS * count)) - 1))
    }

    /// Takes every item out that `keep` does not keep.
    pub fn retain(&mut self, keep: impl Fn(T) -> bool) {
        let mut kept = Self::default();
        for item in self.items().filter(|&item| keep(item)) {
            kept.push(item);
        }
        *self = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers up to 31.
    impl Packed for u8 {
        const BITS: usize = 5;
        const CAPACITY: usize = 25;

        fn code(self) -> u16 {
            u16::from(self)
        }

        fn from_code(code: u16) -> Option<Self> {
            Self::try_from(code).ok().filter(|&item| item > 0)
        }
    }

    /// The items 1, 2, 3 and so on.
    fn counted(count: u8) -> Sequence<u8> {
        let mut sequence = Sequence::default();
        for item in 1..=count {
            assert_eq!(sequence.len(), usize::from(item) - 1);
            assert!(sequence.push(item));
        }
        sequence
    }

    #[test]
    fn a_sequence_is_first_in_first_out_until_it_is_full() {
        let mut sequence = counted(25);
        assert!(!sequence.push(26));
        assert_eq!(sequence.last(), Some(25));
        for item in 1..=25 {
            assert_eq!((sequence.head(), sequence.pop()), (Some(item), Some(item)));
        }
        assert!(sequence.is_empty() && sequence.last().or(sequence.pop()).is_none());
    }

    #[test]
    fn the_first_so_many_are_no_more_than_there_are() {
        let kept = |count| counted(25).first(count).items().collect::<Vec<_>>();
        for count in [0, 1, 24, 25, 26] {
            assert_eq!(kept(count), (1..=25).take(count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_kept_keeps_its_order() {
        let mut sequence = counted(5);
        sequence.retain(|item| item % 2 == 1);
        assert_eq!(sequence.items().collect::<Vec<_>>(), [1, 3, 5]);
    }
}
