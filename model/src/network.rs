//! What is under way between those who speak.
//!
//! The one thing to know: a network that reorders has no order, so it is a multiset, kept as sorted codes.

use std::marker::PhantomData;
use std::mem;

/// A message that can be told by a number.
pub trait Coded: Copy {
    /// The message as a number from 1 to 65,535; the order of codes is the order of the network.
    fn code(self) -> u16;

    /// The message of a code made by [`Coded::code`].
    fn from_code(code: u16) -> Self;
}

/// The code of "no message".
const NONE: u16 = 0;

/// The messages under way: a multiset, kept sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network<M> {
    codes: [u16; 4],
    of: PhantomData<M>,
}

impl<M> Default for Network<M> {
    /// Nothing is under way.
    fn default() -> Self {
        Self {
            codes: [NONE; 4],
            of: PhantomData,
        }
    }
}

impl<M: Coded> Network<M> {
    /// The most messages that a network can hold, whatever the bounds say.
    pub const CAPACITY: usize = 4;

    /// How many messages are under way.
    pub fn len(self) -> usize {
        self.codes.iter().filter(|&&code| code != NONE).count()
    }

    /// Whether nothing is under way.
    pub fn is_empty(self) -> bool {
        self.codes[0] == NONE
    }

    /// The message at a position, counted from 0 in the order of the network.
    pub fn get(self, index: usize) -> Option<M> {
        self.codes
            .get(index)
            .filter(|&&code| code != NONE)
            .map(|&code| M::from_code(code))
    }

    /// The messages in order, equal ones one after the other.
    pub fn messages(self) -> impl Iterator<Item = M> {
        self.codes
            .into_iter()
            .take_while(|&code| code != NONE)
            .map(M::from_code)
    }

    /// Whether the message at this position is the first of its like: delivering an equal one comes to the same.
    pub fn is_first_of_its_like(self, index: usize) -> bool {
        index == 0 || self.codes[index - 1] != self.codes[index]
    }

    /// Whether one more message can be under way, if so many can be at the most.
    pub fn has_room(self, most: u8) -> bool {
        self.len() < usize::from(most)
    }

    /// Puts a message on its way, if there is room for it among so many at the most.
    pub fn send(&mut self, message: M, most: u8) -> Option<()> {
        self.has_room(most).then(|| self.add(message))
    }

    /// The same with another message in place of each.
    #[must_use]
    pub fn map(self, other: impl Fn(M) -> M) -> Self {
        let mut network = Self::default();
        for message in self.messages() {
            network.add(other(message));
        }
        network
    }

    /// Puts a message on its way.
    ///
    /// # Panics
    ///
    /// If the network is full; whoever adds asks for the length first.
    pub fn add(&mut self, message: M) {
        assert!(
            self.codes[Self::CAPACITY - 1] == NONE,
            "the network holds {} messages at most",
            Self::CAPACITY
        );
        let mut moved = message.code();
        for code in &mut self.codes {
            if *code < moved {
                mem::swap(code, &mut moved);
            }
        }
    }

    /// Takes the message at a position off the network.
    pub fn take(&mut self, index: usize) -> Option<M> {
        let message = self.get(index)?;
        self.codes.copy_within(index + 1.., index);
        self.codes[Self::CAPACITY - 1] = NONE;
        Some(message)
    }

    /// All codes in one word, for hashing.
    pub fn word(self) -> u64 {
        self.codes
            .iter()
            .fold(0, |word, &code| word << 16 | u64::from(code))
    }
}

/// What is under way in words, message by message.
pub(crate) fn in_words(messages: impl Iterator<Item = String>) -> String {
    let messages: Vec<_> = messages.collect();
    if messages.is_empty() {
        "empty".to_owned()
    } else {
        messages.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Coded for u16 {
        fn code(self) -> u16 {
            self
        }

        fn from_code(code: u16) -> Self {
            code
        }
    }

    #[test]
    fn a_network_keeps_what_it_was_given_in_its_own_order() {
        let mut network = Network::<u16>::default();
        for message in [1, 3, 2, 3] {
            network.add(message);
        }
        let messages: Vec<_> = network.messages().collect();
        assert_eq!(messages, [3, 3, 2, 1]);
        assert_eq!(
            [0, 1, 2, 3].map(|index| network.is_first_of_its_like(index)),
            [true, false, true, true]
        );
        assert_eq!(network.take(1), Some(3));
        assert_eq!((network.len(), network.take(3)), (3, None));
    }
}
