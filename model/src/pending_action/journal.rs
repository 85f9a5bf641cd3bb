//! The journal: the records that the ledger has put out, in order.
//!
//! The one thing to know: the journal is the truth. What the ledger knows is what follows from its records, and of those a
//! crash leaves what the host had made durable.

use std::iter;

use super::words::{Decider, Decision, SessionName, Slot, ToolStatus};

/// What a record says. The proposal itself is kept beside the journal, in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Record {
    /// The call in this slot is proposed and pends.
    Proposed(Slot),
    /// It was decided.
    Decided {
        /// Whose decision.
        slot: Slot,
        /// What was decided.
        decision: Decision,
        /// By whom; nobody where the ledger released a call unasked.
        by: Option<Decider>,
    },
    /// It expired.
    Expired(Slot),
    /// It was cancelled.
    Cancelled(Slot),
    /// The tool is done.
    Finished(Slot, ToolStatus),
    /// The session is over, and with it what was pending in it.
    SessionEnded(SessionName),
}

impl Record {
    /// The action that it resolves; what a session's end resolves follows from the records before.
    pub const fn resolves(self) -> Option<Slot> {
        match self {
            Self::Decided { slot, .. } | Self::Expired(slot) | Self::Cancelled(slot) => Some(slot),
            Self::Proposed(_) | Self::Finished(..) | Self::SessionEnded(_) => None,
        }
    }

    /// The record as a number from 1 to 26.
    const fn code(self) -> u128 {
        let code = match self {
            Self::Proposed(slot) => 1 + slot as u8,
            Self::Expired(slot) => 3 + slot as u8,
            Self::Cancelled(slot) => 5 + slot as u8,
            Self::SessionEnded(session) => 7 + session as u8,
            Self::Finished(slot, status) => 9 + 3 * slot as u8 + status as u8,
            Self::Decided { slot, decision, by } => {
                let by = match by {
                    None => 0,
                    Some(decider) => 1 + decider as u8,
                };
                15 + 6 * slot as u8 + 3 * decision as u8 + by
            }
        };
        code as u128
    }

    /// The record of a code made by [`Record::code`]; nothing for 0.
    fn from_code(code: u8) -> Option<Self> {
        let slot = |place: u8| Slot::ALL[usize::from(place)];
        match code {
            0 => None,
            1..=2 => Some(Self::Proposed(slot(code - 1))),
            3..=4 => Some(Self::Expired(slot(code - 3))),
            5..=6 => Some(Self::Cancelled(slot(code - 5))),
            7..=8 => Some(Self::SessionEnded(SessionName::ALL[usize::from(code - 7)])),
            9..=14 => {
                let place = code - 9;
                Some(Self::Finished(
                    slot(place / 3),
                    ToolStatus::from_place(place % 3),
                ))
            }
            _ => {
                let place = code - 15;
                Some(Self::Decided {
                    slot: slot(place / 6),
                    decision: Decision::ALL[usize::from(place / 3 % 2)],
                    by: [None, Some(Decider::Owner), Some(Decider::Stranger)]
                        [usize::from(place % 3)],
                })
            }
        }
    }
}

/// A record and the time at which it was made, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it says.
    pub record: Record,
    /// When.
    pub at: u8,
}

/// The records in order, numbered from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Journal {
    /// Nine bits an entry, the first lowest: five for the record, 0 for none, and four for the time.
    word: u128,
}

/// The bits of an entry.
const WIDTH: usize = 9;

impl Journal {
    /// The most records that a journal can hold. No run of the specification comes near it.
    pub const CAPACITY: usize = 14;

    /// How many records there are.
    pub const fn len(self) -> usize {
        let bits = u128::BITS as usize - self.word.leading_zeros() as usize;
        bits.div_ceil(WIDTH)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.word == 0
    }

    /// The entries in order.
    pub fn entries(self) -> impl Iterator<Item = Entry> {
        let mut left = self.word;
        iter::from_fn(move || {
            let entry = lowest(left);
            left >>= WIDTH;
            entry
        })
    }

    /// Adds one at the end; false if there is no room.
    pub fn push(&mut self, entry: Entry) -> bool {
        let place = self.len();
        if place == Self::CAPACITY {
            return false;
        }
        let bits = u128::from(entry.at) << 5 | entry.record.code();
        self.word |= bits << (WIDTH * place);
        true
    }

    /// The first so many records.
    #[must_use]
    pub const fn first(self, count: usize) -> Self {
        let kept = if count >= Self::CAPACITY {
            u128::MAX
        } else {
            (1 << (WIDTH * count)) - 1
        };
        Self {
            word: self.word & kept,
        }
    }

    /// The time of the last record; 0 if there is none.
    pub fn latest(self) -> u8 {
        let before_last = self.len().saturating_sub(1);
        lowest(self.word >> (WIDTH * before_last)).map_or(0, |entry| entry.at)
    }

    /// Everything in two words, for hashing.
    pub fn words(self) -> [u64; 2] {
        [self.word >> 64, self.word & u128::from(u64::MAX)]
            .map(|half| u64::try_from(half).unwrap_or(0))
    }
}

/// The entry in the lowest bits; nothing if there is none.
fn lowest(word: u128) -> Option<Entry> {
    let bits = u16::try_from(word & 0x1ff).unwrap_or(0);
    let [at, code] = [bits >> 5, bits & 31].map(|part| u8::try_from(part).unwrap_or(0));
    Record::from_code(code).map(|record| Entry { record, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_the_one_of_its_code_and_no_other() {
        let records: Vec<_> = (1..=26).filter_map(Record::from_code).collect();
        let codes: Vec<_> = records.iter().map(|record| record.code()).collect();
        assert_eq!(codes, (1..=26).collect::<Vec<u128>>());
        assert_eq!(Record::from_code(0), None);
    }

    #[test]
    fn a_journal_keeps_its_records_in_order_until_it_is_full() {
        let entry = |code: u8| Entry {
            record: Record::from_code(code).expect("it is the code of a record"),
            at: code % 16,
        };
        let mut journal = Journal::default();
        for code in 1..=14 {
            assert_eq!(journal.len(), usize::from(code) - 1);
            assert!(journal.push(entry(code)));
        }
        assert!(!journal.push(entry(15)));
        let kept: Vec<_> = journal.entries().collect();
        assert_eq!(kept, (1..=14).map(entry).collect::<Vec<_>>());
        assert_eq!(
            [13, 14, 15].map(|count| journal.first(count).len()),
            [13, 14, 14]
        );
        assert_eq!((journal.latest(), journal.first(0).latest()), (14, 0));
    }
}
