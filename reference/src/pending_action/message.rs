//! What is appended to the transcript of a session, for the user and the model to read.
//!
//! The one thing to know: each message has an id that follows from its action and its kind, or stands in the record of what
//! was said, so that appending it twice is appending it once. All results of an action are of one kind: it has one, whatever becomes of it (PA-10).

use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::action::Action;
use super::arguments::{Arguments, Text};
use super::vocabulary::{
    ActionId, CancelReason, DeciderId, Label, MessageId, SessionId, Summary, ToolName, ToolStatus,
};

/// A message and where it belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Append {
    /// The session whose transcript it goes into. Absent where the host knows that: it has just said the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Two with the same id are the same message.
    pub message_id: MessageId,
    /// What it says.
    #[serde(flatten)]
    pub message: Message,
}

/// A message of the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// The user is asked. The only one that the user has to see, and it shows the words alone (PA-9).
    ConfirmationRequest {
        /// The summary.
        text: Summary,
        /// The words on the button.
        label: Label,
    },
    /// A tool is called (PA-4).
    ToolCall {
        /// Which call: the id of the action.
        tool_call_id: ActionId,
        /// The tool.
        tool: ToolName,
        /// Its arguments.
        arguments: Arguments,
    },
    /// A tool has come back (PA-4).
    ToolResult {
        /// From which call.
        tool_call_id: ActionId,
        /// The tool.
        tool: ToolName,
        /// How the call came out.
        status: ToolStatus,
        /// What it returned.
        result: Text,
    },
    /// The call was denied, and does not run (PA-6).
    DeniedResult {
        /// Which call.
        tool_call_id: ActionId,
        /// The tool.
        tool: ToolName,
        /// Who denied it.
        by: DeciderId,
    },
    /// Nobody decided in time, and the call does not run (PA-7).
    ExpiredResult {
        /// Which call.
        tool_call_id: ActionId,
        /// The tool.
        tool: ToolName,
    },
    /// The question was taken back, and the call does not run (PA-5).
    CancelledResult {
        /// Which call.
        tool_call_id: ActionId,
        /// The tool.
        tool: ToolName,
        /// Why.
        reason: CancelReason,
    },
    /// Somebody says something, in their own words. It decides nothing; the model makes of it what it can (PA-11).
    UserMessage {
        /// Who.
        by: Arc<str>,
        /// What, untouched.
        text: Arc<str>,
    },
}

/// Which message of an action: each has at most one of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum MessageKind {
    /// The question.
    Request,
    /// The call.
    Call,
    /// The result, or why there is none.
    Result,
}

impl Append {
    pub(super) fn about(action: &Action, kind: MessageKind, message: Message) -> Self {
        Self {
            session_id: Some(action.proposal.session_id.clone()),
            message_id: message_id(action.action_id, kind),
            message,
        }
    }

    /// What a user says belongs to no action.
    pub(super) fn said(message_id: MessageId, message: Message) -> Self {
        Self {
            session_id: None,
            message_id,
            message,
        }
    }
}

/// The first 128 bits of the SHA-256 of both.
fn message_id(action_id: ActionId, kind: MessageKind) -> MessageId {
    let kind = match kind {
        MessageKind::Request => "request",
        MessageKind::Call => "call",
        MessageKind::Result => "result",
    };
    let digest: [u8; 32] = Sha256::digest(format!("{action_id} {kind}")).into();
    let (halves, _) = digest.as_chunks::<16>();
    MessageId::from_bits(u128::from_be_bytes(halves[0]))
}
