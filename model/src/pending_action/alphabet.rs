//! What is said to a ledger of pending actions, and what it puts out.
//!
//! The values are permissive: whether one is allowed is for the spec to say. Equal texts have equal numbers, by first
//! appearance in a run. The ids that a ledger makes up are numbered by first appearance in its outputs: a fresh id is
//! the number of ids so far, and a call that names an id never put out has any higher number.

#![expect(
    missing_docs,
    reason = "the words of the contract; the page of the driver protocol has what they mean"
)]

use std::sync::Arc;

use arbitrary::Arbitrary;
use smallvec::SmallVec;

use crate::engine::protocol;

/// The number of a text.
pub type Name = u16;
pub type ActionId = u16;
pub type Nonce = u16;
pub type SnapshotId = u16;
/// Milliseconds.
pub type Time = i64;

/// A text in a call, with what decides whether it can be a name, a summary or a label.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    pub name: Name,
    pub characters: u32,
    pub is_blank: bool,
    pub has_line_break: bool,
}

impl From<Name> for Text {
    fn from(name: Name) -> Self {
        Self {
            name,
            characters: 8,
            is_blank: false,
            has_line_break: false,
        }
    }
}

/// A JSON value: arguments, or a result.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    pub bytes: Name,
    /// Nothing where it has no one meaning. A result that is no JSON means its own text.
    pub meaning: Option<Name>,
}

impl Value {
    /// The empty string.
    pub const EMPTY: Self = Self {
        bytes: 0,
        meaning: Some(0),
    };
}

/// Arguments in a proposal, with what decides whether they can be recorded.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arguments {
    pub value: Value,
    /// In bytes.
    pub size: u32,
    pub levels: u32,
}

/// The effect of a tool call.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    Read,
    Write,
    Destructive,
    External,
    Other(Name),
}

/// What was decided.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    Allow,
    Deny,
    Other(Name),
}

/// What became of a call.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Success,
    Error,
    NotRun,
    Other(Name),
}

/// Why an action was taken back.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    Requested,
    SessionEnded,
    Other(Name),
}

/// A request: the time of the host, and what it asks for.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// It may be before that of an earlier call.
    pub now: Time,
    pub op: Op,
}

/// What a host can ask for.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Propose(Arc<Proposal>),
    Decide(Decide),
    Say {
        by: Text,
        text: Text,
    },
    FinishTool {
        action: ActionId,
        status: Status,
        result: Option<Value>,
    },
    Cancel(ActionId),
    EndSession(Text),
    Snapshot,
    Rollback(SnapshotId),
    Tick,
    Restart(Lost),
}

/// What a proposal says.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proposal {
    pub agent: Text,
    pub session: Text,
    pub run: Text,
    pub tool: Text,
    pub arguments: Arguments,
    pub effect: Effect,
    pub summary: Text,
    pub label: Text,
    pub expires_at: Option<Time>,
    /// By ascending number.
    pub deciders: Option<SmallVec<[Text; 2]>>,
    pub idempotent: bool,
}

/// A structured decision.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decide {
    pub action: ActionId,
    pub nonce: Option<Nonce>,
    pub decision: Decision,
    pub by: Text,
    /// What the client says was approved.
    pub arguments: Option<Value>,
}

/// The outputs of the last response that were not carried out.
pub type Lost = protocol::Lost<Output>;

/// What a ledger puts out.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    Append(Message),
    Event(Event),
    Perform {
        action: ActionId,
        tool: Name,
        arguments: Value,
    },
    InDoubt(ActionId),
    Audit,
    Snapshot(SnapshotId),
    Refused,
    Other(Name),
}

/// An `event_id` or `message_id`, to which no call refers.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// It was never put out.
    Fresh,
    /// It names this very output, byte for byte, which comes again.
    Again,
    /// It names another output.
    Taken,
}

/// A message for the transcript.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub id: Id,
    pub session: Option<Name>,
    pub body: Body,
}

/// What a message says. `action` is its `tool_call_id`.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    ConfirmationRequest {
        text: Name,
        label: Name,
    },
    ToolCall {
        action: ActionId,
        tool: Name,
        arguments: Value,
    },
    ToolResult {
        action: ActionId,
        tool: Name,
        status: Status,
        result: Value,
    },
    DeniedResult {
        action: ActionId,
        tool: Name,
        by: Name,
    },
    ExpiredResult {
        action: ActionId,
        tool: Name,
    },
    CancelledResult {
        action: ActionId,
        tool: Name,
        reason: Option<Reason>,
    },
    UserMessage {
        by: Name,
        text: Name,
    },
}

/// What has happened to an action.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    pub id: Id,
    pub action: ActionId,
    pub at: Time,
    pub what: What,
}

/// What can happen to an action.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    Created(Arc<Record>),
    Decided {
        decision: Decision,
        by: Option<Name>,
    },
    Denied {
        by: Option<Name>,
    },
    Executed {
        status: Status,
        result: Option<Value>,
    },
    NotRun,
    Expired,
    Cancelled {
        reason: Option<Reason>,
    },
}

/// What was recorded of a proposal.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    pub nonce: Option<Nonce>,
    pub agent: Name,
    pub session: Name,
    pub run: Name,
    pub tool: Name,
    pub arguments: Value,
    pub effect: Effect,
    pub summary: Name,
    pub label: Name,
    pub expires_at: Option<Time>,
    /// By ascending number.
    pub deciders: Option<SmallVec<[Name; 2]>>,
    pub idempotent: bool,
}

impl Output {
    /// The same message or event under that id; nothing, where it has none.
    pub fn with_id(&self, id: Id) -> Option<Self> {
        match self {
            Self::Append(it) => Some(Self::Append(Message { id, ..*it })),
            Self::Event(it) => Some(Self::Event(Event { id, ..it.clone() })),
            Self::Perform { .. }
            | Self::InDoubt(_)
            | Self::Audit
            | Self::Snapshot(_)
            | Self::Refused
            | Self::Other(_) => None,
        }
    }

    /// The action that it names: a confirmation request keeps the id out of the visible message.
    pub fn action(&self) -> Option<ActionId> {
        match *self {
            Self::Append(Message { body, .. }) => match body {
                Body::ToolCall { action, .. }
                | Body::ToolResult { action, .. }
                | Body::DeniedResult { action, .. }
                | Body::ExpiredResult { action, .. }
                | Body::CancelledResult { action, .. } => Some(action),
                Body::ConfirmationRequest { .. } | Body::UserMessage { .. } => None,
            },
            Self::Event(Event { action, .. })
            | Self::Perform { action, .. }
            | Self::InDoubt(action) => Some(action),
            Self::Audit | Self::Snapshot(_) | Self::Refused | Self::Other(_) => None,
        }
    }
}
