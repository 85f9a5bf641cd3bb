//! What is told of an action to whoever watches: dashboards, debuggers, the channel that shows the question.
//!
//! The one thing to know: the events of an action, in order, are its life (PA-10), and each can happen once. So an
//! event's id is made of the action's id and what happened, and telling it twice is telling it once.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::action::Proposal;
use super::vocabulary::{ActionId, CancelReason, DeciderId, Decision, Nonce, ToolStatus};
use crate::time::Timestamp;

/// Something has happened to an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Event {
    /// Two with the same id are the same event.
    pub event_id: EventId,
    /// To which.
    pub action_id: ActionId,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub happened: Happened,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Happened {
    /// It was proposed. Everything that a client needs to show the question and to answer it.
    Created {
        /// Its second name.
        nonce: Nonce,
        /// What was proposed.
        #[serde(flatten)]
        proposal: Arc<Proposal>,
    },
    /// It was decided (PA-2).
    Decided {
        /// What.
        decision: Decision,
        /// Who. Nobody, where a call that only reads was released unasked.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<DeciderId>,
    },
    /// Its tool has run and come back (PA-4).
    Executed {
        /// How the call came out.
        status: ToolStatus,
    },
    /// Its tool was released and never ran, which is no execution (PA-10).
    NotRun,
    /// It does not run, for somebody has denied it (PA-5).
    Denied {
        /// Who.
        by: DeciderId,
    },
    /// It does not run, for nobody has decided in time (PA-7).
    Expired,
    /// It does not run, for it was taken back (PA-5).
    Cancelled {
        /// Why.
        reason: CancelReason,
    },
}

/// Names an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    action_id: ActionId,
    kind: &'static str,
}

impl Event {
    pub(super) fn new(action_id: ActionId, at: Timestamp, happened: Happened) -> Self {
        Self {
            event_id: EventId {
                action_id,
                kind: happened.kind(),
            },
            action_id,
            at,
            happened,
        }
    }
}

impl Happened {
    /// The `type` of the event.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Created { .. } => "created",
            Self::Decided { .. } => "decided",
            Self::Executed { .. } => "executed",
            Self::NotRun => "not_run",
            Self::Denied { .. } => "denied",
            Self::Expired => "expired",
            Self::Cancelled { .. } => "cancelled",
        }
    }
}

/// The kind, then the action's id: such as `created_pa_` and its 32 digits.
impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}_{}", self.kind, self.action_id)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
