//! What follows from records: where each action stands, and which sessions have ended.
//!
//! The one thing to know: the ledger knows nothing else, and what it knows is the fold over its journal. The judge makes
//! the same fold for itself, so that a ledger with a rule left out is held to what it has recorded.

use super::journal::{Entry, Journal, Record};
use super::words::{Decider, Decision, SLOTS, SessionName, Slot, ToolStatus};

/// Where an action stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// There is no such action, or its proposal was lost before it was durable.
    Unknown,
    /// Nobody has decided.
    Pending,
    /// Allowed, and thereby released.
    Accepted,
    /// Denied.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// The host cancelled it.
    Cancelled,
    /// Cancelled with its session.
    SessionOver,
}

impl Status {
    /// Whether it is resolved, for good.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Unknown | Self::Pending => false,
            Self::Accepted
            | Self::Rejected
            | Self::Expired
            | Self::Cancelled
            | Self::SessionOver => true,
        }
    }
}

/// What is recorded of an action besides its proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Standing {
    /// Where it stands.
    pub status: Status,
    /// Who decided; nobody where nobody did.
    pub by: Option<Decider>,
    /// The moment at which it was resolved; 0 as long as it is not.
    pub at: u8,
    /// What became of the call, once it was reported.
    pub finished: Option<ToolStatus>,
}

impl Standing {
    /// That of an action that there is not.
    pub const UNKNOWN: Self = Self {
        status: Status::Unknown,
        by: None,
        at: 0,
        finished: None,
    };

    /// Whether it was released and nothing is reported of it yet.
    pub const fn is_unfinished(self) -> bool {
        matches!(self.status, Status::Accepted) && self.finished.is_none()
    }

    /// Everything in 12 bits.
    fn word(self) -> u64 {
        let by = self.by.map_or(0, |by| 1 + by as u64);
        let finished = self.finished.map_or(0, |status| 1 + status as u64);
        (self.status as u64) << 9 | by << 7 | u64::from(self.at) << 2 | finished
    }
}

/// What follows from the records of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known {
    /// Where the actions stand, by [`Slot::index`].
    pub standings: [Standing; SLOTS],
    /// Which sessions have ended, by [`SessionName::index`].
    pub ended: [bool; 2],
}

impl Known {
    /// What follows from no record.
    pub const EMPTY: Self = Self {
        standings: [Standing::UNKNOWN; SLOTS],
        ended: [false; 2],
    };

    /// What follows from a journal; `sessions` are those of the slots. Of two records that resolve one action the first
    /// counts (PA-8).
    pub fn of(journal: Journal, sessions: [SessionName; SLOTS]) -> Self {
        let mut known = Self::EMPTY;
        for entry in journal.items() {
            let resolved = entry.record.resolves();
            if !resolved.is_some_and(|slot| known.standing(slot).status.is_final()) {
                known.enter(entry, sessions);
            }
        }
        known
    }

    /// Takes one more record in.
    pub fn enter(&mut self, entry: Entry, sessions: [SessionName; SLOTS]) {
        let Entry { record, at } = entry;
        match record {
            Record::Proposed(slot) => self.standings[slot.index()].status = Status::Pending,
            Record::Decided { slot, decision, by } => {
                let status = match decision {
                    Decision::Allow => Status::Accepted,
                    Decision::Deny => Status::Rejected,
                };
                self.resolve(slot, status, by, at);
            }
            Record::Expired(slot) => self.resolve(slot, Status::Expired, None, at),
            Record::Cancelled(slot) => self.resolve(slot, Status::Cancelled, None, at),
            Record::Finished(slot, status) => {
                self.standings[slot.index()].finished = Some(status);
            }
            Record::SessionEnded(session) => {
                self.ended[session.index()] = true;
                for slot in Slot::ALL {
                    let pending = self.standing(slot).status == Status::Pending;
                    if pending && sessions[slot.index()] == session {
                        self.resolve(slot, Status::SessionOver, None, at);
                    }
                }
            }
        }
    }

    /// An action is resolved.
    fn resolve(&mut self, slot: Slot, status: Status, by: Option<Decider>, at: u8) {
        let standing = &mut self.standings[slot.index()];
        *standing = Standing {
            status,
            by,
            at,
            ..*standing
        };
    }

    /// Where the action in a slot stands.
    pub const fn standing(&self, slot: Slot) -> Standing {
        self.standings[slot.index()]
    }

    /// Whether the session has ended.
    pub const fn has_ended(&self, session: SessionName) -> bool {
        self.ended[session.index()]
    }

    /// Everything in 38 bits.
    pub(super) fn word(&self) -> u64 {
        let [first, second, third] = self.standings.map(Standing::word);
        let [a, b] = self.ended.map(u64::from);
        first << 26 | second << 14 | third << 2 | a << 1 | b
    }
}
