//! A reply under way.
//!
//! The one thing to know: the model holds what matters of the message, never its bytes.

use crate::network::Coded;

use super::words::{Decision, Response, SUBSCRIBERS, Slot, Subscriber};

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

/// A reply under way: a `confirmation.reply`, or a `clarification.reply` where it has a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// `reply_token`
    pub token: Token,
    /// `decision`; nothing depends on it where there is a response.
    pub decision: Decision,
    /// `response`
    pub response: Option<Response>,
    /// `timestamp` as the sender claims it, in moments since the start.
    pub claimed: i8,
    /// The subscription on whose transport the message arrives.
    pub sender: Subscriber,
    /// Whether the transport vouches for the sender.
    pub authenticated: bool,
    /// What is peculiar about it.
    pub shape: Shape,
}

impl Message {
    /// The subscription that it names.
    pub const fn named(self) -> Subscriber {
        match self.shape {
            Shape::Impostor => Subscriber::Capable,
            Shape::Plain | Shape::Malformed | Shape::Modified => self.sender,
        }
    }
}

/// The least claimed time that a message can hold.
pub const EARLIEST_CLAIM: i8 = -1;
/// The greatest claimed time that a message can hold.
pub const LATEST_CLAIM: i8 = 60;

impl Coded for Message {
    fn code(self) -> u16 {
        let token = match self.token {
            Token::Of(slot) => slot as u16,
            Token::Guessed => 3,
        };
        #[expect(clippy::cast_sign_loss, reason = "claims start at -1")]
        let claimed = (self.claimed - EARLIEST_CLAIM) as u16;
        // One of the two highest bits is set, so that no code is 0.
        let (kind, low) = match self.response {
            None => (1 << 14, self.decision as u16),
            Some(response) => {
                let place = response as u16;
                (1 << 15 | (place >> 1) << 14, place & 1)
            }
        };
        kind | token << 12
            | (self.shape as u16) << 10
            | claimed << 4
            | low << 3
            | (self.sender as u16) << 1
            | u16::from(self.authenticated)
    }

    fn from_code(code: u16) -> Self {
        Self {
            token: Slot::of_place((code >> 12) & 3).map_or(Token::Guessed, Token::Of),
            shape: match (code >> 10) & 3 {
                0 => Shape::Plain,
                1 => Shape::Malformed,
                2 => Shape::Modified,
                _ => Shape::Impostor,
            },
            claimed: ((code >> 4) & 63) as i8 + EARLIEST_CLAIM,
            decision: if code >> 15 == 1 || (code >> 3) & 1 == 0 {
                Decision::Accept
            } else {
                Decision::Reject
            },
            response: (code >> 15 == 1).then(|| {
                let place = (code >> 14 & 1) << 1 | code >> 3 & 1;
                Response::ALL[usize::from(place) % Response::ALL.len()]
            }),
            sender: Subscriber::ALL[usize::from((code >> 1) & 3) % SUBSCRIBERS],
            authenticated: code & 1 == 1,
        }
    }
}

/// The replies under way.
pub type Network = crate::network::Network<Message>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_the_one_of_its_code_and_no_other() {
        let mut codes = std::collections::BTreeSet::new();
        let [first, second, third] = Slot::ALL.map(Token::Of);
        for token in [first, second, third, Token::Guessed] {
            for shape in [
                Shape::Plain,
                Shape::Malformed,
                Shape::Modified,
                Shape::Impostor,
            ] {
                for claimed in EARLIEST_CLAIM..=LATEST_CLAIM {
                    let [accept, reject] = Decision::ALL;
                    let [one, other, third] = Response::ALL.map(|it| (accept, Some(it)));
                    let says = [(accept, None), (reject, None), one, other, third];
                    for (bits, (decision, response)) in
                        (0..6).flat_map(|bits| says.map(|it| (bits, it)))
                    {
                        let message = Message {
                            token,
                            shape,
                            claimed,
                            decision,
                            response,
                            sender: Subscriber::ALL[bits >> 1],
                            authenticated: bits & 1 == 1,
                        };
                        assert_eq!(Message::from_code(message.code()), message);
                        assert!(codes.insert(message.code()));
                    }
                }
            }
        }
        assert!(!codes.contains(&0));
    }
}
