//! The judge's own words: what a producer is asked, and what it puts out.
//!
//! The one thing to know: whoever feeds the judge gives out the numbers. A `u32` is the name of an id, a token or a text,
//! and equal numbers stand for equal originals; an `i64` called `at` or `now` is milliseconds since the epoch, and finer
//! times are cut off to the millisecond, which moves none of them across a deadline.

use super::clarify::{AnsweredBy, Clarification, Clarify, Response};
use super::work::{Chunk, Handed, Handoff, Invocation, Streamed, Tool};
use crate::aaep::numbers::{Numbers, Unlisted};

/// What a party declares that it does of what a producer may leave out: where it does, it is judged as a duty, and where it does not, it
/// is let pass. Nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a capability of its own in the driver protocol"
)]
pub struct Declared {
    /// Clarifications: it asks none but those that it is told to ask (AAEP-6.1-9).
    pub clarify: bool,
    /// Questions can be given more time (AAEP-6.4.2-3).
    pub extend: bool,
    /// The countdown of long questions is told (AAEP-6.4.3-1, AAEP-6.4.3-4).
    pub progress: bool,
    /// The sender of a late duplicate is told so (AAEP-6.3.5-2).
    pub courtesy_notice: bool,
    /// An event shows which subscriptions it goes to (AAEP-6.7-1).
    pub delivery: bool,
    /// A reply may modify the action (AAEP-6.3.2-3).
    pub modified_action: bool,
    /// Tools without a question, streamed output and handoffs: it does those that it is told to do (AAEP-6.1-4, A.3, A.6, AAEP-A.2-3).
    pub work: bool,
    /// Where the reading has a default wait for its time, it may: that nobody is left blocked (AAEP-EV-11) is not stated besides.
    pub waits_as_read: bool,
}

/// What the driver asks of the producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Begin a session; the producer makes its id where the driver gives none.
    StartSession {
        /// Its id.
        session: Option<u32>,
    },
    /// Open a subscription.
    Subscribe {
        /// Its id.
        subscription: u32,
        /// Whether it declares that it can reply to confirmations (AAEP-EV-14: only if it says so).
        can_reply: bool,
    },
    /// Close a subscription.
    Unsubscribe {
        /// Its id.
        subscription: u32,
    },
    /// Ask for the confirmation of an action.
    Confirm(Confirm),
    /// Ask for a clarification.
    Clarify(Clarify),
    /// A message arrives.
    Deliver(Delivery),
    /// Withdraw a question.
    Cancel {
        /// Its token.
        token: u32,
    },
    /// Give a question that waits more time.
    Extend {
        /// Its token.
        token: u32,
        /// How long it waits from when it was asked.
        timeout_seconds: i64,
    },
    /// Run a tool that needs no question.
    Tool(Tool),
    /// Stream a chunk of output.
    Output(Chunk),
    /// Hand a session off.
    Handoff(Handoff),
    /// A tool has come back.
    FinishTool {
        /// The session of its action.
        session: u32,
        /// The action.
        action: u32,
        /// Which call of it; the oldest in flight where absent.
        tool_call: Option<u32>,
        /// How it came out.
        status: ToolStatus,
    },
    /// End a session.
    EndSession {
        /// Which.
        session: u32,
        /// How.
        outcome: Outcome,
    },
    /// Time passes.
    Tick,
    /// The process dies and comes back with what it had stored.
    Restart {
        /// How many of the outputs last shown to the judge, from their end, nobody else has seen.
        lost: usize,
    },
}

/// What is to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirm {
    /// The session of the action.
    pub session: u32,
    /// The action: in one session the same name is the same action.
    pub action: u32,
    /// The tool that runs it.
    pub tool: u32,
    /// What will be done, for the user to read.
    pub description: u32,
    /// What follows from it, for the user to read.
    pub consequence: u32,
    /// How much harm it can do.
    pub risk: Risk,
    /// Whether it cannot be undone.
    pub irreversible: bool,
    /// How long to wait.
    pub timeout_seconds: i64,
    /// What is done when no valid reply comes in time.
    pub default: Decision,
    /// What a reply may decide, where the driver says.
    pub allowed: Option<Allowed>,
    /// Whose limits a field is outside of (AAEP-EV-5, AAEP-EV-10), if any, so that it cannot be asked as it stands.
    pub out_of_limits: Option<&'static str>,
}

/// The two kinds of question, and of reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// `awaiting.confirmation` and `confirmation.reply`
    #[default]
    Confirmation,
    /// `awaiting.clarification` and `clarification.reply`
    Clarification,
}

/// A message that arrives, and what the transport knows of its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The subscription that the connection belongs to, if any.
    pub sender: Option<u32>,
    /// Whether the transport has authenticated the sender.
    pub authenticated: bool,
    /// The question that it is a reply to, by its `type`; a message without a type that there is counts as a confirmation's.
    pub kind: QuestionKind,
    /// What is wrong with the form of the message, if anything; by the schema of its kind.
    pub flaw: Option<Flaw>,
    /// What it says; of a message with a flaw, as far as it can be read.
    pub reply: Reply,
}

/// What a reply says. Where the form is right, the token, the claimed time and the subscription are there, and what its kind
/// says: a decision or a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its token; a token that was never seen is a number of its own.
    pub token: Option<u32>,
    /// What a `confirmation.reply` decides.
    pub decision: Option<Decision>,
    /// What a `clarification.reply` answers.
    pub response: Option<Response>,
    /// The time at which the user is said to have decided.
    pub claimed_at: Option<i64>,
    /// The subscription over which it is said to be sent.
    pub subscription: Option<u32>,
    /// The `modified_action` that it carries, if it does.
    pub modified_action: Option<Modified>,
}

/// The `modified_action` of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modified {
    /// The object: the same number is the same object, to the digit and with its names in the same order.
    pub object: u32,
    /// How it is rated; nothing where that is no rating that a question can have: a level that is none of low, medium and high, or
    /// a member of another type.
    pub rating: Option<Rating>,
}

/// How a modified action is rated, by its own members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rating {
    /// `risk_level`, where it has one; else it is that of what was asked.
    pub risk: Option<Risk>,
    /// `irreversible`, where it has one; else it is that of what was asked.
    pub irreversible: Option<bool>,
}

/// In which way a message fails the schema of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// It is no JSON.
    NotJson,
    /// It is no object, or lacks one of the five fields.
    Missing,
    /// Its type is neither `confirmation.reply` nor `clarification.reply`.
    Type,
    /// Its token is no reply token.
    Token,
    /// Its decision is neither accept nor reject.
    Decision,
    /// Its response is no string, boolean or number.
    Response,
    /// Its subscription id is none.
    Subscription,
    /// Its timestamp is no RFC 3339 date-time.
    Timestamp,
    /// `decided_by` has not 1 to 256 characters.
    DecidedBy,
    /// `decision_rationale` has not 1 to 4096 characters.
    Rationale,
    /// `confidence` is no number from 0 to 1.
    Confidence,
    /// `modified_action` is no object.
    ModifiedAction,
    /// `correlation_id` is no string.
    CorrelationId,
    /// It has a property that the schema does not list.
    OtherProperty,
}

/// What can come out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// An event to every subscription, or to those that it names.
    Emit(Event),
    /// An event that is not one: the wire does not allow it.
    Malformed(Malformed),
    /// A courtesy to one subscription.
    Notify {
        /// Which.
        subscription: u32,
        /// The token that it is about, where it says.
        token: Option<u32>,
    },
    /// Run the action now.
    Perform(ToolCall),
    /// After a restart: this was released and is not known to be done.
    InDoubt(ToolCall),
    /// To the host: this is what a clarification comes to.
    Answer {
        /// Its session.
        session: u32,
        /// Its token.
        token: u32,
        /// The response, where there is one.
        response: Option<Response>,
        /// Whose it is.
        by: AnsweredBy,
    },
    /// What the sender of the message gets to see; equal numbers look alike.
    Respond(u32),
    /// What was asked is not allowed.
    Refused,
}

/// One call of the tool of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ToolCall {
    /// The session of the action.
    pub session: u32,
    /// The action.
    pub action: u32,
    /// The id of the call.
    pub tool_call: u32,
    /// The object that the action was modified to, where what is to run carries one. Nothing of what is in doubt.
    pub modified: Option<u32>,
}

impl Output {
    /// Whether this says that a call of a tool is completed.
    pub(super) fn completes(&self, call: u32) -> bool {
        let Self::Emit(event) = self else {
            return false;
        };
        matches!(event.body, Body::ToolCompleted { tool_call, .. } if tool_call == Some(call))
    }

    /// Whether this begins a call of a tool, or says so.
    pub(super) fn begins(&self, call: u32) -> bool {
        match self {
            Self::Perform(run) => run.tool_call == call,
            Self::Emit(event) => {
                matches!(&event.body, Body::ToolInvoked(invoked) if invoked.tool_call == Some(call))
            }
            Self::Malformed(_)
            | Self::Notify { .. }
            | Self::InDoubt(_)
            | Self::Answer { .. }
            | Self::Respond(_)
            | Self::Refused => false,
        }
    }
}

/// What is wrong with something that was sent as an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformed {
    /// The envelope (AAEP-EV-1).
    Envelope,
    /// An identifier (AAEP-EV-2).
    Identifier,
    /// The form of the timestamp (AAEP-EV-3).
    Timestamp,
    /// The payload (AAEP-EV-5).
    Payload,
    /// The type: under `aaep:`, and none of the core types (AAEP-EV-9).
    Type,
    /// The reply token: absent (AAEP-6.2-1), or not of its form (AAEP-6.2.1-1).
    Token,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// Its id.
    pub id: u32,
    /// Its session.
    pub session: u32,
    /// Its timestamp.
    pub at: i64,
    /// Its number in the session, where it has one.
    pub sequence: Option<i64>,
    /// Whether its urgency is `critical`.
    pub critical: bool,
    /// The subscriptions that it goes to, where it says; else every open one.
    pub to: Option<Vec<u32>>,
    /// What it says.
    pub body: Body,
}

/// What an event says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// `session.started`
    Started,
    /// `session.completed`, `session.errored`, `session.cancelled`
    Ended(Outcome),
    /// `state.changed`
    StateChanged {
        /// The state that it leaves.
        from: State,
        /// The state that it enters.
        to: State,
    },
    /// `awaiting.confirmation`
    Question(Question),
    /// `awaiting.clarification`
    Clarification(Clarification),
    /// `progress.updated`
    Progress {
        /// `eta_ms`: how many milliseconds are left, where it says.
        left: Option<i64>,
    },
    /// `tool.invoked`
    ToolInvoked(Invocation),
    /// `tool.completed`
    ToolCompleted {
        /// The tool.
        tool: u32,
        /// The id of the call, where it says.
        tool_call: Option<u32>,
        /// How it came out.
        status: ToolStatus,
    },
    /// `output.streaming`
    OutputStreaming(Streamed),
    /// `handoff.requested`
    Handoff(Handed),
    /// Every other event, of this protocol or not: this judge asks no more of it than of any event.
    Other,
}

impl Body {
    /// The token of the question that it asks, and of which kind it is.
    pub(super) const fn asks(&self) -> Option<(u32, QuestionKind)> {
        match self {
            Self::Question(question) => Some((question.token, QuestionKind::Confirmation)),
            Self::Clarification(asked) => Some((asked.token, QuestionKind::Clarification)),
            Self::Started
            | Self::Ended(_)
            | Self::StateChanged { .. }
            | Self::Progress { .. }
            | Self::ToolInvoked(_)
            | Self::ToolCompleted { .. }
            | Self::OutputStreaming(_)
            | Self::Handoff(_)
            | Self::Other => None,
        }
    }
}

/// What an `awaiting.confirmation` says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// Its reply token.
    pub token: u32,
    /// What will be done.
    pub description: u32,
    /// What follows from it.
    pub consequence: u32,
    /// How long it waits.
    pub timeout_seconds: i64,
    /// What is done when no valid reply comes in time.
    pub default: Decision,
    /// How much harm the action can do, where it says.
    pub risk: Option<Risk>,
    /// Whether the action cannot be undone, where it says.
    pub irreversible: Option<bool>,
    /// What a reply may decide, where it says.
    pub allowed: Option<Allowed>,
}

/// The decisions that a reply may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Allowed {
    /// Accept is one of them.
    pub accept: bool,
    /// Reject is one of them.
    pub reject: bool,
    /// There are values of the producer's own, which no reply can carry (AAEP-REPLY-15).
    pub others: bool,
}

impl Allowed {
    /// What may be decided where nothing is said.
    pub const DEFAULT: Self = Self {
        accept: true,
        reject: true,
        others: false,
    };

    /// The same, by these numbers.
    pub(super) const fn unlisted(numbers: Numbers) -> Self {
        Self {
            accept: !matches!(numbers.unlisted, Unlisted::Reject),
            reject: !matches!(numbers.unlisted, Unlisted::Accept),
            ..Self::DEFAULT
        }
    }

    /// Whether a reply may carry `decision`.
    pub const fn allows(self, decision: Decision) -> bool {
        match decision {
            Decision::Accept => self.accept,
            Decision::Reject => self.reject,
        }
    }
}

/// What is done about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It runs.
    Accept,
    /// It does not.
    Reject,
}

/// How much harm an action can do, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// How a tool came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolStatus {
    /// It did what it should.
    Success,
    /// It failed.
    Error,
    /// It did not come back in time.
    Timeout,
}

impl ToolStatus {
    /// Its name on the wire.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Timeout => "timeout",
        }
    }
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Its work is done.
    Completed,
    /// It failed.
    Errored,
    /// It was called off.
    Cancelled,
}

/// A state of appendix A.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// `idle`
    Idle,
    /// `thinking`
    Thinking,
    /// `calling_tool`
    CallingTool,
    /// `writing_output`
    WritingOutput,
    /// `awaiting_input`
    AwaitingInput,
    /// `deciding`
    Deciding,
    /// `handing_off`
    HandingOff,
    /// One of the producer's own (AAEP-A.2-4).
    Other(u32),
}

impl State {
    /// Its name on the wire; of one of the producer's own, what it is.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Thinking => "thinking",
            Self::CallingTool => "calling_tool",
            Self::WritingOutput => "writing_output",
            Self::AwaitingInput => "awaiting_input",
            Self::Deciding => "deciding",
            Self::HandingOff => "handing_off",
            Self::Other(_) => "a state of its own",
        }
    }

    /// The state that stands for all in which no question waits and no tool runs.
    pub(super) const fn as_far_as_confirmations_go(self) -> Self {
        match self {
            Self::AwaitingInput | Self::CallingTool => self,
            Self::Idle
            | Self::Thinking
            | Self::WritingOutput
            | Self::Deciding
            | Self::HandingOff
            | Self::Other(_) => Self::Thinking,
        }
    }
}
