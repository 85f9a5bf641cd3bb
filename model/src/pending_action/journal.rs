//! The journal: the records that the ledger has put out, in order.
//!
//! The one thing to know: the journal is the truth. What the ledger knows is what follows from its records, and of those a
//! crash leaves what the host had made durable.

use crate::sequence::{Packed, Sequence};

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

    /// The record as a number from 1 to 38.
    const fn code(self) -> u8 {
        match self {
            Self::Proposed(slot) => 1 + slot as u8,
            Self::Expired(slot) => 4 + slot as u8,
            Self::Cancelled(slot) => 7 + slot as u8,
            Self::SessionEnded(session) => 10 + session as u8,
            Self::Finished(slot, status) => 12 + 3 * slot as u8 + status as u8,
            Self::Decided { slot, decision, by } => {
                let by = match by {
                    None => 0,
                    Some(decider) => 1 + decider as u8,
                };
                21 + 6 * slot as u8 + 3 * decision as u8 + by
            }
        }
    }

    /// The record of a code made by [`Record::code`]; nothing for 0.
    fn from_code(code: u8) -> Option<Self> {
        let slot = |place: u8| Slot::ALL[usize::from(place)];
        match code {
            0 => None,
            1..=3 => Some(Self::Proposed(slot(code - 1))),
            4..=6 => Some(Self::Expired(slot(code - 4))),
            7..=9 => Some(Self::Cancelled(slot(code - 7))),
            10..=11 => Some(Self::SessionEnded(SessionName::ALL[usize::from(code - 10)])),
            12..=20 => {
                let place = code - 12;
                Some(Self::Finished(
                    slot(place / 3),
                    ToolStatus::from_place(place % 3),
                ))
            }
            _ => {
                let place = code - 21;
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

/// A record and the moment at which it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it says.
    pub record: Record,
    /// When.
    pub at: u8,
}

impl Packed for Entry {
    const BITS: usize = 11;
    const CAPACITY: usize = 11;

    /// Six bits for the record, and above them five for the moment.
    fn code(self) -> u16 {
        u16::from(self.at) << 6 | u16::from(self.record.code())
    }

    fn from_code(code: u16) -> Option<Self> {
        let [at, record] = [code >> 6, code & 63].map(|part| u8::try_from(part).unwrap_or(0));
        Record::from_code(record).map(|record| Self { record, at })
    }
}

/// The records in order, numbered from 1.
pub type Journal = Sequence<Entry>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_the_one_of_its_code_and_no_other() {
        let records: Vec<_> = (1..=38).filter_map(Record::from_code).collect();
        let codes: Vec<_> = records.iter().map(|record| record.code()).collect();
        assert_eq!(codes, (1..=38).collect::<Vec<u8>>());
        assert_eq!(Record::from_code(0), None);
    }

    #[test]
    fn every_entry_is_the_one_of_its_code() {
        for code in 1..=38 {
            for at in 0..32 {
                let record = Record::from_code(code).expect("it is the code of a record");
                let entry = Entry { record, at };
                assert_eq!(Entry::from_code(entry.code()), Some(entry));
            }
        }
    }
}
