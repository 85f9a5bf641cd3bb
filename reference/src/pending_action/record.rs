//! The journal: one record for everything that has become true.
//!
//! The one thing to know: a record says what has happened, not what was asked for, so that whoever reads it later comes
//! to the same result whatever the settings are by then. What comes out behind a record is in `consequences`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::action::Proposal;
use super::arguments::Text;
use super::vocabulary::{ActionId, DeciderId, Decision, MessageId, Nonce, SessionId, ToolStatus};
use crate::time::Timestamp;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which line: 1 for the first, then one more each time.
    pub number: u64,
    /// When it became true. Never before the line above.
    pub at: Timestamp,
    /// What did.
    pub entry: Entry,
}

/// What became true.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// A call was proposed.
    Proposed {
        /// Its name from now on.
        action_id: ActionId,
        /// Its second name.
        nonce: Nonce,
        /// All of it.
        proposal: Arc<Proposal>,
        /// Whether it waits. If not, it is released with this record.
        pends: bool,
    },
    /// Somebody has decided.
    Decided {
        /// About which.
        action_id: ActionId,
        /// What.
        decision: Decision,
        /// Who.
        by: DeciderId,
    },
    /// Nobody has decided in time.
    Expired {
        /// About which.
        action_id: ActionId,
    },
    /// The host has taken a question back.
    Cancelled {
        /// Which.
        action_id: ActionId,
    },
    /// A tool has come back.
    Finished {
        /// Which call.
        action_id: ActionId,
        /// How it came out.
        status: ToolStatus,
        /// What it returned.
        result: Text,
    },
    /// A session has ended.
    SessionEnded {
        /// Which.
        session_id: SessionId,
        /// The actions that were cancelled by that: all that were pending, in the order of creation.
        cancelled: Vec<ActionId>,
    },
    /// Somebody has said something, which decides nothing (PA-11).
    Said {
        /// Names the message, so that it is appended once however often it is told.
        message_id: MessageId,
        /// Who.
        by: Arc<str>,
        /// What, untouched.
        text: Arc<str>,
    },
}

impl Entry {
    /// The actions that it is about.
    pub(super) fn about(&self) -> &[ActionId] {
        match self {
            Self::Proposed { action_id, .. }
            | Self::Decided { action_id, .. }
            | Self::Expired { action_id }
            | Self::Cancelled { action_id }
            | Self::Finished { action_id, .. } => std::slice::from_ref(action_id),
            Self::SessionEnded { cancelled, .. } => cancelled,
            Self::Said { .. } => &[],
        }
    }
}
