//! A decision under way from a decider's client to the ledger.

use crate::network::Coded;

use super::words::{Decider, Decision, Nonce, Slot};

/// What the arguments are that a client says it has approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Approved {
    /// It does not say.
    Unsaid,
    /// They mean the same as the proposed ones, in other bytes.
    Alike,
    /// They are others.
    Edited,
}

/// A structured decision. Who sends it is what the host has found out, not what the client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    /// The action whose id it gives; nothing for an id that was never minted.
    pub id: Option<Slot>,
    /// The nonce that it gives.
    pub nonce: Nonce,
    /// What is decided.
    pub decision: Decision,
    /// Who decides.
    pub by: Decider,
    /// What is said of the arguments.
    pub approved: Approved,
}

impl Coded for Message {
    fn code(self) -> u16 {
        let id = match self.id {
            None => 0,
            Some(slot) => 1 + slot as u16,
        };
        1 << 8
            | id << 6
            | (self.nonce as u16) << 4
            | (self.decision as u16) << 3
            | (self.by as u16) << 2
            | self.approved as u16
    }

    fn from_code(code: u16) -> Self {
        Self {
            id: ((code >> 6) & 3).checked_sub(1).and_then(Slot::of_place),
            nonce: match (code >> 4) & 3 {
                0 => Nonce::Absent,
                1 => Nonce::Right,
                _ => Nonce::Wrong,
            },
            decision: if (code >> 3) & 1 == 0 {
                Decision::Allow
            } else {
                Decision::Deny
            },
            by: if (code >> 2) & 1 == 0 {
                Decider::Owner
            } else {
                Decider::Stranger
            },
            approved: match code & 3 {
                0 => Approved::Unsaid,
                1 => Approved::Alike,
                _ => Approved::Edited,
            },
        }
    }
}

/// The decisions under way.
pub type Network = crate::network::Network<Message>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_the_one_of_its_code_and_no_other() {
        let mut codes = std::collections::BTreeSet::new();
        let [first, second, third] = Slot::ALL.map(Some);
        for id in [None, first, second, third] {
            for nonce in [Nonce::Absent, Nonce::Right, Nonce::Wrong] {
                for approved in [Approved::Unsaid, Approved::Alike, Approved::Edited] {
                    for decision in Decision::ALL {
                        for by in [Decider::Owner, Decider::Stranger] {
                            let message = Message {
                                id,
                                nonce,
                                decision,
                                by,
                                approved,
                            };
                            assert_eq!(Message::from_code(message.code()), message);
                            assert!(codes.insert(message.code()));
                        }
                    }
                }
            }
        }
        assert!(!codes.contains(&0));
    }
}
