//! The events that the producer emits, with their envelope, as they stand on the wire.
//!
//! The one thing to know: an [`Event`] serialises to exactly the JSON object of the protocol, flat, with the
//! payload's fields beside the envelope's.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::ask::Told;
use super::question::QuestionNumber;
use super::vocabulary::{
    ActionId, Choice, Decision, EventId, Identity, OutputId, ReplyToken, ResponseKind, RiskLevel,
    SessionId, SessionOutcome, TargetKind, ToolCallId, ToolStatus,
};
use crate::time::{Timeout, Timestamp};

/// No session has more events than this: the largest integer that every reader of JSON takes for what it is.
pub(super) const MAX_SEQUENCE_NUMBER: u64 = 1 << 53;

/// The `@context` of every event.
const CONTEXT: &str = "https://aaep-protocol.org/context/v1";

/// One event: what happened, in which session, when, and in which order (AAEP-EV-1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Unique within the producer (AAEP-EV-7).
    pub event_id: EventId,
    /// The session that it belongs to.
    pub session_id: SessionId,
    /// When it was made, on the producer's clock.
    pub timestamp: Timestamp,
    /// Who made it.
    pub producer: Arc<Identity>,
    /// 0 for the first event of the session, then one more each time (AAEP-EV-4).
    pub sequence_number: u64,
    /// What happened.
    pub payload: Payload,
    /// Where this event is about one question and does not say so by itself: which, and what became of it.
    pub extension: Option<CountersignExtension>,
}

/// What happened, by the type of the event: one of the core types, and no other (AAEP-EV-9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Payload {
    /// A session begins.
    SessionStarted {
        /// For the user to read.
        summary_normal: &'static str,
    },
    /// A session has done its work.
    SessionCompleted {
        /// For the user to read.
        summary_normal: &'static str,
    },
    /// A session has failed.
    SessionErrored {
        /// What kind of failure.
        error_category: ErrorCategory,
        /// For the user to read.
        summary_normal: &'static str,
    },
    /// A session was called off, and every pending confirmation of it with it (AAEP-6.8-2).
    SessionCancelled {
        /// By whom.
        cancelled_by: CancelledBy,
        /// For the user to read.
        summary_normal: &'static str,
    },
    /// The agent goes from one state to another (AAEP-EV-8).
    StateChanged {
        /// The state it leaves.
        from_state: AgentState,
        /// The state it enters.
        to_state: AgentState,
        /// Why, for the user to read.
        summary_normal: &'static str,
    },
    /// A tool is about to run.
    ToolInvoked {
        /// The tool.
        tool: Arc<str>,
        /// For the user to read.
        summary_normal: Arc<str>,
        /// Ties this event to its completion and to its confirmation.
        tool_call_id: ToolCallId,
        /// What it is called with, for the user to read.
        #[serde(skip_serializing_if = "Option::is_none")]
        args_summary: Option<Arc<str>>,
        /// How much harm it can do: as confirmed or modified, where it was asked about.
        risk_level: RiskLevel,
        /// Whether it cannot be undone: likewise.
        irreversible: bool,
    },
    /// A tool has come back (AAEP-A.3-1).
    ToolCompleted {
        /// The tool.
        tool: Arc<str>,
        /// How it came out.
        status: ToolStatus,
        /// The call that this completes.
        tool_call_id: ToolCallId,
    },
    /// A part of an output (AAEP-A.6-1).
    OutputStreaming {
        /// Which output of the session.
        output_id: OutputId,
        /// The text of this part.
        chunk: Arc<str>,
        /// How many characters of the output come before (AAEP-A.6-2).
        position: u64,
        /// Whether this is the last part.
        complete: bool,
    },
    /// The session is handed off, and only ends after this (AAEP-A.2-3).
    HandoffRequested {
        /// Why, for the user to read.
        reason: Arc<str>,
        /// To whom.
        target_kind: TargetKind,
        /// Where they are.
        #[serde(skip_serializing_if = "Option::is_none")]
        target_uri: Option<Arc<str>>,
    },
    /// How much time a question has left (AAEP-6.4.3-1).
    ProgressUpdated {
        /// For the user to read.
        progress: Progress,
        /// The milliseconds that are left.
        eta_ms: u64,
    },
    /// The producer is blocked with respect to what depends on the answer until the user gives it.
    AwaitingClarification {
        /// What is asked.
        question: Arc<str>,
        /// The token that a reply must echo (AAEP-6.2-1).
        reply_token: ReplyToken,
        /// How long the producer waits, from the event's timestamp on.
        #[serde(rename = "timeout_seconds")]
        timeout: Timeout,
        /// The kinds of answer that are taken; any where absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        accepted_response_kinds: Option<Vec<ResponseKind>>,
        /// What there is to choose from.
        #[serde(skip_serializing_if = "Option::is_none")]
        choices: Option<Vec<Choice>>,
        /// What it takes for the answer when no valid reply comes.
        #[serde(skip_serializing_if = "Option::is_none")]
        default_response: Option<Arc<str>>,
    },
    /// The producer is blocked with respect to an action until the user decides.
    AwaitingConfirmation {
        /// What will be done.
        action: Arc<str>,
        /// What follows from it.
        consequence: Arc<str>,
        /// The token that a reply must echo (AAEP-6.2-1).
        reply_token: ReplyToken,
        /// How long the producer waits, from the event's timestamp on.
        #[serde(rename = "timeout_seconds")]
        timeout: Timeout,
        /// What it does when no valid reply comes.
        default_decision: Decision,
        /// How much harm the action can do.
        risk_level: RiskLevel,
        /// Whether it cannot be undone.
        irreversible: bool,
        /// The decisions that a reply may carry.
        allowed_replies: Vec<String>,
        /// What ties this confirmation to the later call of the tool.
        extra_context: ExtraContext,
    },
}

/// What an `awaiting.confirmation` tells beyond the protocol's own fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExtraContext {
    /// The id that the call of the tool will have if it is accepted.
    pub tool_call_id: ToolCallId,
}

/// How far something is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// For the user to read.
    pub description: String,
}

/// Our extension of the events that resolve a question or tell its time: without it a `state.changed` does not say which of
/// several pending questions it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountersignExtension {
    /// The token of the question: used up or invalid where there is an outcome.
    pub reply_token: ReplyToken,
    /// The host's name for the action, where it is a confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionId>,
    /// What became of it, where it is resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<ResolutionOutcome>,
}

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionOutcome {
    /// The action runs.
    Accepted,
    /// The action does not run: the user or the default said so.
    Rejected,
    /// The producer took the question back: the action does not run, or no answer is needed any more.
    Cancelled,
    /// There is an answer: the user's or the default.
    Answered,
    /// There is no answer: nobody gave one, and there is no default.
    Unanswered,
}

/// The states of an agent that this producer uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// Where every session starts (AAEP-A.2-1).
    Idle,
    /// Making up its mind.
    Thinking,
    /// A tool runs.
    CallingTool,
    /// Output is put out.
    WritingOutput,
    /// Blocked until the user decides (AAEP-A.2-2).
    AwaitingInput,
    /// Handed off, and about to end (AAEP-A.2-3).
    HandingOff,
}

/// Kinds of failure that a session can end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// The host has not said which.
    Unknown,
}

/// Who calls a session off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelledBy {
    /// The producer, through its host.
    Producer,
}

/// Whether subscribers may hold an event back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Urgency {
    /// Subject to filters.
    Normal,
    /// Never filtered.
    Critical,
}

impl ResolutionOutcome {
    /// For the user to read, of that question.
    pub(super) fn summary(self, of: QuestionNumber) -> &'static str {
        match (self, of) {
            (Self::Accepted, _) => "The action was accepted and proceeds.",
            (Self::Rejected, _) => "The action was rejected and will not run.",
            (Self::Cancelled, QuestionNumber::Confirmation(_)) => {
                "The action is no longer needed and will not run."
            }
            (Self::Cancelled, QuestionNumber::Clarification(_)) => {
                "The question is no longer needed."
            }
            (Self::Answered, _) => "The question is answered.",
            (Self::Unanswered, _) => "Nobody has answered the question.",
        }
    }
}

impl Payload {
    /// The event that begins a session (AAEP-A.1-1).
    pub(super) fn started() -> Self {
        Self::SessionStarted {
            summary_normal: "The session has started.",
        }
    }

    /// The event that ends a session that way (AAEP-A.1-2).
    pub(super) fn terminal(outcome: SessionOutcome) -> Self {
        match outcome {
            SessionOutcome::Completed => Self::SessionCompleted {
                summary_normal: "The session has done its work.",
            },
            SessionOutcome::Errored => Self::SessionErrored {
                error_category: ErrorCategory::Unknown,
                summary_normal: "The session has failed.",
            },
            SessionOutcome::Cancelled => Self::SessionCancelled {
                cancelled_by: CancelledBy::Producer,
                summary_normal: "The session was cancelled, and every pending question with it.",
            },
        }
    }

    /// The `type` of the event.
    pub fn event_type(&self) -> &'static str {
        match self {
            Self::SessionStarted { .. } => "aaep:agent.session.started",
            Self::SessionCompleted { .. } => "aaep:agent.session.completed",
            Self::SessionErrored { .. } => "aaep:agent.session.errored",
            Self::SessionCancelled { .. } => "aaep:agent.session.cancelled",
            Self::StateChanged { .. } => "aaep:agent.state.changed",
            Self::ToolInvoked { .. } => "aaep:agent.tool.invoked",
            Self::ToolCompleted { .. } => "aaep:agent.tool.completed",
            Self::OutputStreaming { .. } => "aaep:agent.output.streaming",
            Self::HandoffRequested { .. } => "aaep:agent.handoff.requested",
            Self::ProgressUpdated { .. } => "aaep:agent.progress.updated",
            Self::AwaitingClarification { .. } => "aaep:agent.awaiting.clarification",
            Self::AwaitingConfirmation { .. } => "aaep:agent.awaiting.confirmation",
        }
    }

    /// AAEP-EV-6: a failed session, a handoff and a question to the user are critical, everything else is not.
    pub fn urgency(&self) -> Urgency {
        match self {
            Self::SessionErrored { .. }
            | Self::HandoffRequested { .. }
            | Self::AwaitingClarification { .. }
            | Self::AwaitingConfirmation { .. } => Urgency::Critical,
            Self::SessionStarted { .. }
            | Self::SessionCompleted { .. }
            | Self::SessionCancelled { .. }
            | Self::StateChanged { .. }
            | Self::ToolInvoked { .. }
            | Self::ToolCompleted { .. }
            | Self::OutputStreaming { .. }
            | Self::ProgressUpdated { .. } => Urgency::Normal,
        }
    }
}

impl Event {
    /// The event that tells this, as long as it can be in any place of its session.
    pub(super) fn with_longest_number(told: Told<'_>) -> Self {
        Self {
            event_id: EventId::from_bits(0),
            session_id: told.session_id.clone(),
            timestamp: Timestamp::MIN,
            producer: Arc::clone(told.identity),
            sequence_number: MAX_SEQUENCE_NUMBER,
            payload: told.payload,
            extension: told.extension,
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = WireEvent {
            context: CONTEXT,
            event_type: self.payload.event_type(),
            event_id: &self.event_id,
            session_id: &self.session_id,
            timestamp: self.timestamp,
            producer: &self.producer,
            sequence_number: self.sequence_number,
            urgency: self.payload.urgency(),
            payload: &self.payload,
            extensions: self
                .extension
                .as_ref()
                .map(|countersign| Extensions { countersign }),
        };
        wire.serialize(serializer)
    }
}

/// The field names and their order on the wire.
#[derive(Serialize)]
struct WireEvent<'a> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "type")]
    event_type: &'static str,
    event_id: &'a EventId,
    session_id: &'a SessionId,
    timestamp: Timestamp,
    producer: &'a Identity,
    sequence_number: u64,
    urgency: Urgency,
    #[serde(flatten)]
    payload: &'a Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Extensions<'a>>,
}

/// Extensions are objects keyed by the prefix of whoever defines them.
#[derive(Serialize)]
struct Extensions<'a> {
    countersign: &'a CountersignExtension,
}
