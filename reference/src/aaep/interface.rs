//! What goes into the producer and what comes out of it.
//!
//! The one thing to know: hostile, late and malformed messages are ordinary input and end in an [`Audit`] that only
//! the operator sees. A [`Refusal`] always means that the host asked for something that it must not ask for.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::event::{Event, Payload};
use super::message::{WrittenNumber, WrittenObject};
use super::vocabulary::{
    Action, ActionId, Capabilities, Choice, Decision, OutputId, ReplyToken, ResponseKind,
    RiskLevel, SessionId, SessionOutcome, SubscriptionId, TargetKind, ToolCallId, ToolStatus,
};
pub use crate::clause::ClauseId;
use crate::text::Text;

/// One thing that happens to the producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Begin a session.
    StartSession {
        /// Its id; a fresh one is drawn where this is absent.
        session_id: Option<SessionId>,
    },
    /// Open a subscription; events go to every open one.
    Subscribe {
        /// Its id, never used before.
        subscription_id: SubscriptionId,
        /// What the subscriber can do.
        capabilities: Capabilities,
    },
    /// Close a subscription.
    Unsubscribe {
        /// Which.
        subscription_id: SubscriptionId,
    },
    /// Ask for confirmation of an action and block it until the answer.
    Confirm(Ask),
    /// Ask for an answer in words, by choice or in numbers.
    Clarify(Clarify),
    /// A message arrives.
    Deliver {
        /// What the transport knows of the sender.
        sender: Sender,
        /// The bytes exactly as received.
        message: Vec<u8>,
    },
    /// Take a pending question back.
    Cancel {
        /// Its token.
        reply_token: ReplyToken,
    },
    /// Give a pending question more time (AAEP-6.4.2-3).
    Extend {
        /// Its token.
        reply_token: ReplyToken,
        /// How long it waits in all, in seconds from when it was asked. Longer than before and at most 86400, or refused; also
        /// where the calendar ends before.
        timeout_seconds: u64,
    },
    /// Run a tool that needs no question (AAEP-6.1-4).
    Tool(Run),
    /// A tool that was told to run has come back.
    FinishTool {
        /// The session of the action.
        session_id: SessionId,
        /// The action that ran.
        action: ActionId,
        /// Which call of it, as told when it was released. An action that is asked for or run again while its tool still
        /// runs has several; where this is absent, the first of them has come back. Those that needed no question came before.
        tool_call_id: Option<ToolCallId>,
        /// How it came out.
        status: ToolStatus,
    },
    /// Put out one chunk of an output (AAEP-A.6-1).
    Output(Chunk),
    /// Hand a session off. After that it only ends (AAEP-A.2-3).
    Handoff(Handoff),
    /// End a session.
    EndSession {
        /// Which.
        session_id: SessionId,
        /// How.
        outcome: SessionOutcome,
    },
    /// Time has passed and nothing else has happened.
    Tick,
    /// The process died and is back with what it had stored after its last call: the producer, and what that call put out.
    Restart {
        /// The last outputs of that call: those that had not been carried out.
        lost: Vec<Output>,
    },
}

/// Everything that the host says when it asks for confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The session that the action belongs to.
    pub session_id: SessionId,
    /// The action to confirm.
    pub action: Action,
    /// How long to wait, in seconds. 1 to 86400, or the ask is refused; also where the calendar ends before.
    pub timeout_seconds: u64,
    /// What to do when no valid reply comes in time.
    pub default_decision: Decision,
    /// The decisions that a reply may carry: 1 to 32 different strings of at most 16 KiB. Accept and reject where absent.
    pub allowed_replies: Option<Vec<String>>,
}

/// Everything that the host says when it asks for a clarification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clarify {
    /// The session that the question belongs to.
    pub session_id: SessionId,
    /// What is asked, for the user to read. Not blank, at most 16 KiB. Two asks are the same question when both the session and this
    /// text are the same (AAEP-6.1-9).
    pub question: Arc<str>,
    /// The kinds of answer that are taken: 1 to 4 different ones. Any answer where absent.
    pub accepted_response_kinds: Option<Vec<ResponseKind>>,
    /// What there is to choose from: 2 to 32, of different values; each value and label not blank and at most 16 KiB. Needed for [`ResponseKind::MultipleChoice`].
    pub choices: Option<Vec<Choice>>,
    /// How long to wait, in seconds. 1 to 86400, or the ask is refused; also where the calendar ends before.
    pub timeout_seconds: u64,
    /// What is taken for the answer when no valid reply comes in time; nothing where absent. At most 16 KiB, of whatever kind
    /// the answers are.
    pub default_response: Option<Arc<str>>,
}

/// Everything that the host says when it runs a tool that needs no question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The session that the action belongs to.
    pub session_id: SessionId,
    /// The host's name for the action. None that was ever asked about in the session; others may run again, and at once.
    pub action: ActionId,
    /// The tool that runs it. Not blank, at most 16 KiB.
    pub tool: Arc<str>,
    /// What it is called with, for the user to read. Not blank, at most 16 KiB.
    pub args_summary: Option<Arc<str>>,
    /// How much harm it can do.
    pub risk_level: RiskLevel,
    /// Whether it cannot be undone. Refused then: the user has to be asked (AAEP-A.7.4-1).
    pub irreversible: bool,
    /// The id of this call in the events, never used before in the session. One is made where this is absent.
    pub tool_call_id: Option<ToolCallId>,
}

/// One chunk of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The session that the output belongs to.
    pub session_id: SessionId,
    /// Which output of the session.
    pub output_id: OutputId,
    /// What comes next: at most 16 KiB, and empty only where it is the last.
    pub text: Arc<str>,
    /// Whether the output is complete with it.
    pub is_last: bool,
}

/// Everything that the host says when it hands a session off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// Which. Nothing that it has begun may be left open.
    pub session_id: SessionId,
    /// Why, for the user to read. Not blank, at most 16 KiB.
    pub reason: Arc<str>,
    /// To whom.
    pub target_kind: TargetKind,
    /// Where they are. Not blank, at most 16 KiB.
    pub target_uri: Option<Arc<str>>,
}

/// What the transport knows of whoever sent a message (AAEP-6.2.4-1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// The subscription that the connection belongs to, if any.
    pub subscription_id: Option<SubscriptionId>,
    /// Whether the transport has authenticated the sender.
    pub authenticated: bool,
}

/// What a call leads to.
///
/// A refused call has changed nothing and put nothing out by itself, but what fell due before it was settled all the
/// same. So there can be outputs *and* a refusal; the outputs must be carried out either way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the outputs have to be carried out, in order"]
pub struct Outcome {
    /// What the host must now do, one at a time and in this order.
    pub outputs: Vec<Output>,
    /// Set where the host erred.
    pub refused: Option<Refusal>,
}

/// One thing for the host to do.
///
/// The JSON form is that of the driver protocol: an object whose one key is the variant's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Send the event to every open subscription; a critical one past every filter (AAEP-6.7-1).
    Emit(Box<Event>),
    /// Run the action now.
    Perform(ToolCall),
    /// If this call has not been begun, do not begin it: drop its `Perform`.
    Withdraw(ToolCall),
    /// A clarification is resolved: go on with this answer, or without one.
    Answer(Answer),
    /// Tell one subscription something, as a courtesy. Only with [`super::Settings::courtesy_notices`].
    Notify(Notice),
    /// Answer whoever sent the message. The same for every message there can be (AAEP-6.3.4-9).
    Respond(Response),
    /// Write into the operator's log; nobody else may see it (AAEP-6.3.4-8).
    Audit(Audit),
    /// After a restart: this action was released and is not recorded as done. It may or may not have run, and the
    /// producer will not run it again.
    InDoubt(ToolCall),
}

/// One call of a tool that runs, or has run: a confirmation released it, or it needs none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// The session of the action.
    pub session_id: SessionId,
    /// The host's name for the action.
    pub action: ActionId,
    /// The tool to run.
    pub tool: Arc<str>,
    /// The id of this call in the events.
    pub tool_call_id: ToolCallId,
    /// The token of the confirmation that released it, where one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_token: Option<ReplyToken>,
    /// What the user made of the action: it is to run as this says. Only with [`super::Settings::modified_action`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_action: Option<WrittenObject>,
}

impl ToolCall {
    /// The event that says how it came out (AAEP-A.3-1).
    pub(super) fn completed(&self, status: ToolStatus) -> Payload {
        Payload::ToolCompleted {
            tool: Arc::clone(&self.tool),
            status,
            tool_call_id: self.tool_call_id.clone(),
        }
    }
}

/// What came of a clarification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The session of the question.
    pub session_id: SessionId,
    /// The token of the question, by now used up.
    pub reply_token: ReplyToken,
    /// The answer, and whose it is.
    #[serde(flatten)]
    pub answered: Answered,
}

/// An answer, by whose it is. In JSON `by` names the variant and `response` is the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Answered {
    /// The user's, by a valid reply.
    Reply {
        /// As the user gave it.
        response: UserResponse,
    },
    /// The default, because no valid reply came (AAEP-A.5-2). A text whatever the kinds.
    Default {
        /// As the host gave it when it asked.
        response: Arc<str>,
    },
    /// No valid reply came, and there is no default.
    Nobody,
}

/// What a user answers: a text, a truth value or a number (AAEP-6.5.2-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum UserResponse {
    /// In words, or the value of a choice.
    Text(Text),
    /// Yes or no.
    Boolean(bool),
    /// A number.
    Number(WrittenNumber),
}

/// A courtesy notice to the sender of a late duplicate: the question was already resolved (AAEP-6.3.5-2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The subscription to tell, the one that the late reply came on.
    pub subscription_id: SubscriptionId,
    /// The token that was used up before.
    pub reply_token: ReplyToken,
}

/// What the sender of a message gets to see. There is only one such value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Response {
    status: u16,
    body: Option<()>,
}

impl Response {
    /// Status 204 and no body, whatever became of the message (AAEP-6.3.4-9).
    pub const CONSTANT: Self = Self {
        status: 204,
        body: None,
    };

    /// The HTTP status: 204.
    pub fn status(self) -> u16 {
        self.status
    }
}

/// Why a message was ignored, for the operator alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The clause that had the message ignored.
    pub clause: ClauseId,
    /// The token that the message named, where it could be read.
    pub reply_token: Option<ReplyToken>,
    /// The reason in words.
    pub text: String,
}

/// A field that stands in an event, by its place in what the host asks for. Places in a list are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The tool.
    Tool,
    /// What will be done.
    Description,
    /// What follows from it.
    Consequence,
    /// All allowed replies together.
    AllowedReplies,
    /// One of them.
    AllowedReply(usize),
    /// What a clarification asks.
    Question,
    /// All choices together.
    Choices,
    /// The value of one.
    ChoiceValue(usize),
    /// The label of one.
    ChoiceLabel(usize),
    /// What is taken for the answer.
    DefaultResponse,
    /// What a tool is called with.
    ArgsSummary,
    /// The text of a chunk.
    Chunk,
    /// Why a session is handed off.
    Reason,
    /// Where it is handed to.
    TargetUri,
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tool => "action.tool",
            Self::Description => "action.description",
            Self::Consequence => "action.consequence",
            Self::AllowedReplies => "allowed_replies",
            Self::AllowedReply(place) => return write!(formatter, "allowed_replies[{place}]"),
            Self::Question => "question",
            Self::Choices => "choices",
            Self::ChoiceValue(place) => return write!(formatter, "choices[{place}].value"),
            Self::ChoiceLabel(place) => return write!(formatter, "choices[{place}].label"),
            Self::DefaultResponse => "default_response",
            Self::ArgsSummary => "action.args_summary",
            Self::Chunk => "chunk",
            Self::Reason => "reason",
            Self::TargetUri => "target_uri",
        })
    }
}

/// Why a call was refused: the host asked for what the protocol does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The session id is taken.
    #[error("the session was started before")]
    SessionExists,
    /// No event can come before the start of a session or after its end, so nothing can be asked then.
    #[error("the session is unknown or has ended")]
    SessionNotActive,
    /// A session that is handed off only ends.
    #[error("the session is handed off: it only ends")]
    HandingOff,
    /// A session ends once.
    #[error("the session is unknown or has ended already")]
    SessionNotEndable,
    /// The subscription id was used before.
    #[error("the subscription id was used before")]
    SubscriptionExists,
    /// Only an open subscription can be closed.
    #[error("the subscription is unknown or closed")]
    SubscriptionNotOpen,
    /// The timeout is out of range, or would elapse after the year 9999.
    #[error("timeout_seconds must be 1 to 86400, and elapse before the year 10000")]
    TimeoutOutOfRange,
    /// The list of allowed replies is not 1 to 32 different strings.
    #[error("allowed_replies must be 1 to 32 different strings")]
    AllowedRepliesMalformed,
    /// A text that has to say something is blank: nobody sees anything of it.
    #[error("{0} must not be blank")]
    TextBlank(Field),
    /// A text is too long for an event.
    #[error("{0} must be at most 16 KiB")]
    TextTooLong(Field),
    /// An event that says all this would be too large, now or later. The field is the one that takes the most of it.
    #[error("{0} makes an event of more than 64 KiB")]
    EventTooLarge(Field),
    /// The list of kinds is not 1 to 4 different ones.
    #[error("accepted_response_kinds must be 1 to 4 different kinds")]
    KindsMalformed,
    /// The list of choices is no list to choose from.
    #[error("choices must be 2 to 32 of different values")]
    ChoicesMalformed,
    /// There is nothing to choose from.
    #[error("multiple_choice needs choices")]
    ChoicesMissing,
    /// Silence would run an irreversible action of high risk.
    #[error("an irreversible action of high risk must default to reject")]
    AcceptByDefaultHighRisk,
    /// Silence would run an irreversible action of medium risk.
    #[error("an irreversible action of medium risk must default to reject")]
    AcceptByDefaultMediumRisk,
    /// A confirmation of the same action is pending.
    #[error("a confirmation of this action is still pending")]
    ActionBlocked,
    /// The same question is pending.
    #[error("a clarification with this question is still pending")]
    QuestionPending,
    /// An irreversible action runs by an answer alone.
    #[error("an irreversible action must be confirmed")]
    IrreversibleUnasked,
    /// The action waits for an answer.
    #[error("a confirmation of this action is still pending: it runs by the answer alone")]
    ActionUnanswered,
    /// The action was asked about before, so it does not run unasked, whatever the answer was.
    #[error("this action was asked about in this session: it runs by a confirmation alone")]
    ActionAsked,
    /// Another call has this id.
    #[error("the tool_call_id was used before in this session")]
    ToolCallIdUsed,
    /// The output is complete.
    #[error("this output is complete")]
    OutputComplete,
    /// A chunk without text takes an output nowhere, unless it completes it.
    #[error("only the last chunk may be empty")]
    ChunkEmpty,
    /// A session that waits for its user cannot be handed off.
    #[error("a question of this session is still pending")]
    QuestionOpen,
    /// A session cannot be handed off in the middle of a tool.
    #[error("a tool of this session still runs")]
    ToolRunning,
    /// A session cannot be handed off in the middle of an output.
    #[error("an output of this session is not complete")]
    OutputOpen,
    /// The source of ids has returned nothing but values that are taken.
    #[error("the source of ids returned no unused reply token")]
    NoFreshToken,
    /// The source of ids has returned nothing but values that are taken.
    #[error("the source of ids returned no unused session id")]
    NoFreshSessionId,
    /// There is nothing to take back.
    #[error("no question with this token is pending")]
    NothingToCancel,
    /// There is nothing to give more time to.
    #[error("no question with this token is pending")]
    NothingToExtend,
    /// A pending question is never given less time than it was asked with.
    #[error("timeout_seconds must be longer than the present timeout")]
    NotLonger,
    /// A tool cannot complete that was not invoked or has completed.
    #[error("no call of this action is in flight")]
    NothingToFinish,
}

impl Refusal {
    /// The clause that forbids what was asked for.
    pub fn clause(self) -> ClauseId {
        ClauseId(match self {
            Self::SessionExists | Self::NoFreshSessionId => "AAEP-A.1-1",
            Self::SessionNotActive => "AAEP-A.1-3",
            Self::HandingOff => "AAEP-A.2-3",
            Self::SessionNotEndable => "AAEP-A.1-2",
            Self::SubscriptionExists => "AAEP-EV-2",
            Self::SubscriptionNotOpen => "AAEP-REPLY-14",
            Self::TimeoutOutOfRange
            | Self::AllowedRepliesMalformed
            | Self::TextBlank(_)
            | Self::KindsMalformed
            | Self::ChoicesMalformed
            | Self::ChoicesMissing => "AAEP-EV-5",
            Self::AcceptByDefaultHighRisk => "AAEP-6.4.1-1",
            Self::AcceptByDefaultMediumRisk => "AAEP-6.4.1-2",
            Self::ActionBlocked => "AAEP-6.1-6",
            Self::QuestionPending => "AAEP-6.1-9",
            Self::NoFreshToken => "AAEP-6.2.2-3",
            Self::IrreversibleUnasked => "AAEP-A.7.4-1",
            Self::ActionUnanswered => "AAEP-6.1-1",
            Self::ActionAsked => "AAEP-A.4-4",
            Self::ToolCallIdUsed => "AAEP-A.3-1",
            Self::OutputComplete => "AAEP-A.6-3",
            Self::ChunkEmpty => "AAEP-A.6-2",
            Self::TextTooLong(_) | Self::EventTooLarge(_) => "AAEP-EV-10",
            Self::QuestionOpen => "AAEP-A.2-2",
            Self::ToolRunning => "AAEP-A.3-3",
            Self::OutputOpen => "AAEP-A.6-1",
            Self::NothingToCancel => "AAEP-6.8-1",
            Self::NothingToExtend | Self::NotLonger => "AAEP-6.4.2-3",
            Self::NothingToFinish => "AAEP-A.3-2",
        })
    }
}
