//! What stands in an `append`, an `event` and an `audit` of pending actions.
//!
//! The one thing to know: these shapes are for the schema, and for whoever reads one of them. An output itself passes
//! through as it is written, so that an implementation may say more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decision, Effect, ToolStatus};
use crate::Json;

/// A message for the transcript, unless one with its `message_id` is there already.
///
/// It stands before the `event` that tells of the same, but behind the event `decided` that it follows from. A
/// `tool_result` alone answers a `tool_call` of the transcript: denied, expired and cancelled results name a call that was
/// never appended, for it does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Append {
    /// The session whose transcript it is. Absent from what was said, for `say` names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Two with the same id are the same message. It does not tell the action's id.
    pub message_id: String,
    /// What it says.
    #[serde(flatten)]
    pub message: Message,
}

/// What a message says. `tool_call_id` is the action's id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// The user is asked, and sees these words alone.
    ConfirmationRequest {
        /// The summary.
        text: String,
        /// The words on the button.
        label: String,
    },
    /// A tool is called: before its `perform`.
    ToolCall {
        /// Which call.
        tool_call_id: String,
        /// The tool.
        tool: String,
        /// The text of its arguments, or they themselves.
        arguments: Json,
    },
    /// A tool has come back.
    ToolResult {
        /// From which call.
        tool_call_id: String,
        /// The tool.
        tool: String,
        /// How the call came out.
        status: ToolStatus,
        /// What it returned, as `finish_tool` had it; empty, where it had nothing.
        result: Json,
    },
    /// The call was denied, and does not run.
    DeniedResult {
        /// Which call.
        tool_call_id: String,
        /// The tool.
        tool: String,
        /// Who denied it.
        by: String,
    },
    /// Nobody decided in time, and the call does not run.
    ExpiredResult {
        /// Which call.
        tool_call_id: String,
        /// The tool.
        tool: String,
    },
    /// The question was taken back, and the call does not run.
    CancelledResult {
        /// Which call.
        tool_call_id: String,
        /// The tool.
        tool: String,
        /// Why.
        reason: CancelReason,
    },
    /// Somebody has said something.
    UserMessage {
        /// Who.
        by: String,
        /// What, untouched.
        text: String,
    },
}

/// Something has happened to an action, once each at most: `created` first, then one of `decided`, `expired` and
/// `cancelled`; behind `decided` one of `denied`, `executed` and `not_run`.
///
/// `decided` stands before the `append` of the call or the denial, each other one behind the `append` that tells of the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Two with the same id are the same event.
    pub event_id: String,
    /// To which: what `decide`, `cancel` and `finish_tool` name.
    pub action_id: String,
    /// When.
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    /// What.
    #[serde(flatten)]
    pub happened: Happened,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a shape for the schema; nobody keeps many"
)]
pub enum Happened {
    /// It was proposed. With all that was, so that a client can show the question and answer it.
    Created {
        /// What `decide` may give to show that it answers this very question.
        nonce: String,
        /// Who proposed it.
        agent_id: String,
        /// The session of the call.
        session_id: String,
        /// The run of the call.
        run_id: String,
        /// The tool to call.
        tool: String,
        /// The text of its arguments, or they themselves.
        arguments: Json,
        /// What the call does.
        effect: Effect,
        /// What the user is asked.
        summary: String,
        /// The words on the button.
        label: String,
        /// When the question closes; null, where never.
        #[schemars(extend("format" = "date-time"))]
        expires_at: Option<String>,
        /// Who may decide, in any order. Absent, where the proposal named nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deciders: Option<Vec<String>>,
        /// Whether the call may run twice.
        idempotent: bool,
    },
    /// It was decided.
    Decided {
        /// What.
        decision: Decision,
        /// Who. Absent, where a call that only reads was released and nobody was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Its tool has run and come back.
    Executed {
        /// How the call came out: `success` or `error`.
        status: ToolStatus,
    },
    /// Its tool was released and never ran.
    NotRun,
    /// It does not run, for somebody has denied it.
    Denied {
        /// Who.
        by: String,
    },
    /// It does not run, for nobody has decided in time.
    Expired,
    /// It does not run, for it was taken back.
    Cancelled {
        /// Why.
        reason: CancelReason,
    },
}

/// Why a question was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CancelReason {
    /// By `cancel`.
    Requested,
    /// By `end_session`.
    SessionEnded,
}

/// A decision that does not count, or a call that should not begin any more, for the operator alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The clause that has it so.
    pub clause: String,
    /// Why, in words.
    pub reason: String,
    /// The action, as it was named.
    pub action_id: String,
    /// Who decided, as received. Absent, where nobody did: a session has ended while the call was in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When.
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
}
