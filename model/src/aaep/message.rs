//! A reply under way.
//!
//! The one thing to know: the model holds what matters of the message, never its bytes; the network holds at most
//! four of them as sorted codes, because a network that reorders has no order.

use super::words::{Decision, Slot, Subscriber};

/// The token that a reply carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Token {
    /// The token of this confirmation.
    Of(Slot),
    /// A well-formed token that the producer never issued.
    Guessed,
}

/// What is peculiar about a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// A reply as the schema wants it.
    Plain,
    /// Not JSON, or not what the schema wants (check 1).
    Malformed,
    /// Well formed, and carries `modified_action`, which the producer does not support (AAEP-6.3.2-4).
    Modified,
    /// Well formed, and names the other subscription as its own (check 5).
    Impostor,
}

/// A `confirmation.reply` under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// `reply_token`
    pub token: Token,
    /// `decision`
    pub decision: Decision,
    /// `timestamp` as the sender claims it, in ticks since the start: -1 up to the last tick + 1.
    pub claimed: i8,
    /// The subscription on whose transport the message arrives.
    pub sender: Subscriber,
    /// Whether the transport vouches for the sender.
    pub authenticated: bool,
    /// What is peculiar about it.
    pub shape: Shape,
}

/// The least claimed time that a message can hold.
pub const EARLIEST_CLAIM: i8 = -1;
/// The greatest claimed time that a message can hold.
pub const LATEST_CLAIM: i8 = 14;

/// The code of "no message".
const NONE: u16 = 0;

impl Message {
    /// The message as a number from 1 to 4095; the order of codes is the order of the network.
    pub const fn code(self) -> u16 {
        let token = match self.token {
            Token::Of(slot) => slot as u16,
            Token::Guessed => 2,
        };
        #[expect(clippy::cast_sign_loss, reason = "claims start at -1")]
        let claimed = (self.claimed - EARLIEST_CLAIM) as u16;
        1 << 11
            | token << 9
            | (self.shape as u16) << 7
            | claimed << 3
            | (self.decision as u16) << 2
            | (self.sender as u16) << 1
            | self.authenticated as u16
    }

    /// The message of a code made by [`Message::code`].
    const fn from_code(code: u16) -> Self {
        Self {
            token: match (code >> 9) & 3 {
                0 => Token::Of(Slot::First),
                1 => Token::Of(Slot::Second),
                _ => Token::Guessed,
            },
            shape: match (code >> 7) & 3 {
                0 => Shape::Plain,
                1 => Shape::Malformed,
                2 => Shape::Modified,
                _ => Shape::Impostor,
            },
            claimed: ((code >> 3) & 15) as i8 + EARLIEST_CLAIM,
            decision: if (code >> 2) & 1 == 0 {
                Decision::Accept
            } else {
                Decision::Reject
            },
            sender: if (code >> 1) & 1 == 0 {
                Subscriber::Capable
            } else {
                Subscriber::Forwarder
            },
            authenticated: code & 1 == 1,
        }
    }
}

/// The replies under way: a multiset, kept sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Network {
    codes: [u16; Network::CAPACITY],
}

impl Network {
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
    pub fn get(self, index: usize) -> Option<Message> {
        self.codes
            .get(index)
            .filter(|&&code| code != NONE)
            .map(|&code| Message::from_code(code))
    }

    /// The messages in order, equal ones one after the other.
    pub fn messages(self) -> impl Iterator<Item = Message> {
        self.codes
            .into_iter()
            .take_while(|&code| code != NONE)
            .map(Message::from_code)
    }

    /// Whether the message at this position is the first of its like: delivering an equal one comes to the same.
    pub fn is_first_of_its_like(self, index: usize) -> bool {
        index == 0 || self.codes[index - 1] != self.codes[index]
    }

    /// Puts a message on its way.
    ///
    /// # Panics
    ///
    /// If the network is full; whoever adds asks for the length first.
    pub fn add(&mut self, message: Message) {
        let place = self.len();
        assert!(
            place < Self::CAPACITY,
            "the network holds {} messages at most",
            Self::CAPACITY
        );
        self.codes[place] = message.code();
        self.codes.sort_unstable_by(|left, right| right.cmp(left));
    }

    /// Takes the message at a position off the network.
    pub fn take(&mut self, index: usize) -> Option<Message> {
        let message = self.get(index)?;
        self.codes.copy_within(index + 1.., index);
        self.codes[Self::CAPACITY - 1] = NONE;
        Some(message)
    }

    /// All codes in one word, for hashing.
    pub fn word(self) -> u64 {
        self.codes
            .iter()
            .fold(0, |word, &code| word << 12 | u64::from(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_the_one_of_its_code_and_no_other() {
        let mut codes = std::collections::BTreeSet::new();
        for token in [
            Token::Of(Slot::First),
            Token::Of(Slot::Second),
            Token::Guessed,
        ] {
            for shape in [
                Shape::Plain,
                Shape::Malformed,
                Shape::Modified,
                Shape::Impostor,
            ] {
                for claimed in EARLIEST_CLAIM..=LATEST_CLAIM {
                    for bits in 0..8 {
                        let message = Message {
                            token,
                            shape,
                            claimed,
                            decision: Decision::ALL[bits & 1],
                            sender: Subscriber::ALL[bits >> 1 & 1],
                            authenticated: bits >> 2 == 1,
                        };
                        assert_eq!(Message::from_code(message.code()), message);
                        assert!(codes.insert(message.code()));
                    }
                }
            }
        }
        assert!(!codes.contains(&NONE));
    }

    #[test]
    fn a_network_keeps_what_it_was_given_in_its_own_order() {
        let message = |claimed| Message {
            token: Token::Of(Slot::First),
            decision: Decision::Accept,
            claimed,
            sender: Subscriber::Capable,
            authenticated: true,
            shape: Shape::Plain,
        };
        let mut network = Network::default();
        for claimed in [1, 3, 2, 3] {
            network.add(message(claimed));
        }
        let claims: Vec<_> = network.messages().map(|message| message.claimed).collect();
        assert_eq!(claims, [3, 3, 2, 1]);
        assert_eq!(
            [0, 1, 2, 3].map(|index| network.is_first_of_its_like(index)),
            [true, false, true, true]
        );
        assert_eq!(network.take(1), Some(message(3)));
        assert_eq!((network.len(), network.take(3)), (3, None));
    }
}
