//! What is said to a producer of AAEP about confirmations, and what it puts out.
//!
//! The values are permissive: whether one is allowed is for the spec to say. Equal texts have equal numbers, by first
//! appearance in a run. Tokens and call ids are numbered by first appearance in the outputs: a fresh one is the
//! number of those so far, and a call that names one never put out has any higher number.
//!
//! The envelope of an event (`event_id`, `sequence_number`, `timestamp`) is judged by an account of its own, outside
//! the search. Here stands only the time of a question, from which its timeout counts.

#![expect(
    missing_docs,
    reason = "the words of the text; the page of the driver protocol has what they mean"
)]

use std::sync::Arc;

use arbitrary::Arbitrary;
use smallvec::SmallVec;

/// The number of a text.
pub type Name = u16;
pub type SessionId = u16;
pub type SubscriptionId = u16;
pub type Token = u16;
/// A `tool_call_id`.
pub type CallId = u16;
/// Milliseconds.
pub type Time = i64;

/// An id that the host gives.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Given {
    pub id: u16,
    /// It has the prefix and the characters of its kind.
    pub is_formed: bool,
}

impl From<u16> for Given {
    fn from(id: u16) -> Self {
        Self {
            id,
            is_formed: true,
        }
    }
}

/// A text of a question.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text {
    pub name: Name,
    pub bytes: u32,
    pub is_blank: bool,
}

impl From<Name> for Text {
    fn from(name: Name) -> Self {
        Self {
            name,
            bytes: 8,
            is_blank: false,
        }
    }
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Risk {
    Low,
    Medium,
    High,
    Other(Name),
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    Accept,
    Reject,
    Other(Name),
}

/// A kind of answer to a clarification.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Freetext,
    YesNo,
    MultipleChoice,
    Numeric,
}

/// An answer to a clarification.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    Text(Name),
    Truth(bool),
    /// Equal numbers have equal names.
    Number(Name),
    Other(Name),
}

/// Who answered a clarification.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    Reply,
    Default,
    Nobody,
}

/// How a session ends.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Completed,
    Errored,
    Cancelled,
    Other(Name),
}

/// How a tool comes back.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Success,
    Error,
    Timeout,
    Other(Name),
}

/// The state of a session.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Idle,
    Thinking,
    CallingTool,
    AwaitingInput,
    Deciding,
    WritingOutput,
    HandingOff,
    Other(Name),
}

/// A request: the time of the host, and what it asks for.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// It may be before that of an earlier call.
    pub now: Time,
    pub op: Op,
}

/// What a host, or its transport, can say.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Without an id the producer makes one.
    StartSession(Option<Given>),
    EndSession {
        session: SessionId,
        outcome: Outcome,
    },
    Subscribe {
        subscription: Given,
        can_reply: bool,
    },
    Unsubscribe(SubscriptionId),
    Confirm(Arc<Ask>),
    Clarify(Arc<Query>),
    Deliver(Arc<Message>),
    Cancel(Token),
    /// The timeout counts from when it was asked.
    Extend {
        token: Token,
        timeout: Time,
    },
    Tool(Arc<Task>),
    Write(Arc<Chunk>),
    HandOff(Arc<Handoff>),
    FinishTool {
        session: SessionId,
        action: Name,
        call: Option<CallId>,
        status: Status,
    },
    Tick,
    /// So many of the last outputs were not carried out.
    Restart {
        lost: u16,
    },
}

/// What is to be asked.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    pub session: SessionId,
    pub action: Text,
    pub tool: Text,
    pub description: Text,
    pub consequence: Text,
    pub risk: Risk,
    pub irreversible: bool,
    pub timeout: Time,
    pub default: Decision,
    /// In the order given.
    pub allowed: Option<SmallVec<[Decision; 2]>>,
    /// Of its texts as JSON, in bytes.
    pub size: u32,
}

/// What is to be asked in words.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    pub session: SessionId,
    pub question: Text,
    /// In the order given.
    pub kinds: Option<SmallVec<[Kind; 2]>>,
    /// Values and labels.
    pub choices: Option<SmallVec<[(Text, Text); 2]>>,
    pub timeout: Time,
    pub default: Option<Text>,
    /// Of its texts as JSON, in bytes.
    pub size: u32,
}

/// A tool that is to run without a question.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    pub session: SessionId,
    pub action: Text,
    pub tool: Text,
    pub summary: Option<Text>,
    pub risk: Option<Risk>,
    pub irreversible: Option<bool>,
    /// The `tool_call_id` that the host gives.
    pub call: Option<Given>,
    /// Of its texts as JSON, in bytes.
    pub size: u32,
}

/// A piece of output.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Chunk {
    pub session: SessionId,
    /// Its `output_id`.
    pub stream: Text,
    pub text: Text,
    pub characters: u32,
    pub is_last: bool,
    /// Of its texts as JSON, in bytes.
    pub size: u32,
}

/// A session is to be handed off.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Handoff {
    pub session: SessionId,
    pub reason: Text,
    pub target: Target,
    pub uri: Option<Text>,
    /// Of its texts as JSON, in bytes.
    pub size: u32,
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    Human,
    SpecialistAgent,
    EscalationQueue,
    Other(Name),
}

/// What a host wants: an action confirmed, words, or a tool that runs.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Action(Arc<Ask>),
    Words(Arc<Query>),
    Tool(Arc<Task>),
}

/// What can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    pub name: Name,
    pub tool: Name,
    pub risk: Risk,
    pub irreversible: bool,
}

impl Subject {
    pub fn session(&self) -> SessionId {
        match self {
            Self::Action(it) => it.session,
            Self::Words(it) => it.session,
            Self::Tool(it) => it.session,
        }
    }
    pub fn timeout(&self) -> Time {
        match self {
            Self::Action(it) => it.timeout,
            Self::Words(it) => it.timeout,
            Self::Tool(_) => 0,
        }
    }
    /// What runs, with the ratings that hold where none is said.
    pub fn action(&self) -> Option<Action> {
        match self {
            Self::Action(it) => Some(Action {
                name: it.action.name,
                tool: it.tool.name,
                risk: it.risk,
                irreversible: it.irreversible,
            }),
            Self::Tool(it) => Some(Action {
                name: it.action.name,
                tool: it.tool.name,
                risk: it.risk.unwrap_or(Risk::Low),
                irreversible: it.irreversible.unwrap_or(false),
            }),
            Self::Words(_) => None,
        }
    }
    pub fn ask(&self) -> Option<&Ask> {
        if let Self::Action(it) = self {
            Some(it)
        } else {
            None
        }
    }
    pub fn query(&self) -> Option<&Query> {
        if let Self::Words(it) = self {
            Some(it)
        } else {
            None
        }
    }
}

/// What the transport has received.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub sender: Option<SubscriptionId>,
    pub is_authenticated: bool,
    /// Nothing where no token, and neither a decision nor a response, can be read.
    pub reply: Option<Reply>,
}

/// A `confirmation.reply` or a `clarification.reply`. What cannot be read of it is absent.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    /// The first flaw of its form, in the order of the schema.
    pub flaw: Option<Flaw>,
    pub token: Token,
    pub says: Says,
    pub subscription: Option<SubscriptionId>,
    pub timestamp: Option<Time>,
}

/// What a reply says.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    Decides(Decision, Option<Modified>),
    Answers(Response),
}

/// How a reply departs from its schema.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// A name stands twice in an object.
    RepeatedName,
    Type,
    Token,
    Decision,
    Response,
    Subscription,
    Timestamp,
    DecidedBy,
    Rationale,
    ModifiedAction,
    Confidence,
    CorrelationId,
    OtherProperty,
}

/// A `modified_action`.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modified {
    pub action: Name,
    /// By its own words.
    pub risk: Option<Risk>,
    pub irreversible: Option<bool>,
}

/// What a producer puts out.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    Emit(Event),
    Perform(Run),
    InDoubt(Run),
    /// What the sender of a message gets to see.
    Respond {
        status: u16,
        body: Option<Name>,
    },
    /// What a clarification has come to.
    Answer(Clarified),
    /// A courtesy to one subscription.
    Notify {
        subscription: SubscriptionId,
        token: Option<Token>,
    },
    Audit,
    Refused,
    Other(Name),
}

/// What a clarification has come to, for its host.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clarified {
    pub session: SessionId,
    pub token: Token,
    pub response: Option<Response>,
    pub by: By,
}

/// An event.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    pub session: SessionId,
    pub what: What,
    /// To these subscriptions alone, by their numbers.
    pub to: Option<SmallVec<[SubscriptionId; 2]>>,
}

/// What an event tells.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    Started,
    Ended(Outcome),
    Changed {
        from: State,
        to: State,
    },
    Asked(Arc<Asked>),
    Queried(Arc<Queried>),
    Invoked {
        call: Option<CallId>,
        tool: Name,
        risk: Risk,
        irreversible: bool,
    },
    Completed {
        call: Option<CallId>,
        tool: Name,
        status: Status,
    },
    Chunk(Written),
    HandedOff {
        reason: Name,
        target: Target,
        uri: Option<Name>,
    },
    /// Its `eta_ms`.
    Progress {
        left: Option<Time>,
    },
    /// Of a type that says nothing about a confirmation.
    Other(Name),
}

/// A piece of output as it is put out.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    pub stream: Option<Name>,
    pub text: Name,
    pub characters: u32,
    /// So many characters stand before it.
    pub position: i64,
    pub is_last: bool,
}

/// The event that asks for a confirmation.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Asked {
    /// Its timestamp.
    pub at: Time,
    pub token: Token,
    /// The `tool_call_id` of its `extra_context`.
    pub call: Option<CallId>,
    pub description: Name,
    pub consequence: Name,
    pub timeout: Time,
    pub default: Decision,
    pub risk: Option<Risk>,
    pub irreversible: Option<bool>,
    /// Which replies it lists, if any.
    pub allowed: Option<SmallVec<[Decision; 2]>>,
}

/// The event that asks for a clarification.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queried {
    /// Its timestamp.
    pub at: Time,
    pub token: Token,
    pub question: Name,
    pub timeout: Time,
    pub kinds: Option<SmallVec<[Kind; 2]>>,
    pub choices: Option<SmallVec<[(Name, Name); 2]>>,
    pub default: Option<Name>,
}

/// An action that runs now, or may have run.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    pub session: SessionId,
    pub action: Name,
    pub call: CallId,
    pub tool: Option<Name>,
    pub token: Option<Token>,
    pub modified: Option<Name>,
}

impl Output {
    /// What it tells of a session.
    pub fn told(&self) -> Option<(SessionId, &What)> {
        if let Self::Emit(Event { session, what, .. }) = self {
            Some((*session, what))
        } else {
            None
        }
    }

    /// The action that runs, or may have run.
    pub fn run(&self) -> Option<&Run> {
        if let Self::Perform(run) | Self::InDoubt(run) = self {
            Some(run)
        } else {
            None
        }
    }

    /// The `tool_call_id` that it names.
    pub fn call(&self) -> Option<CallId> {
        if let Some(run) = self.run() {
            return Some(run.call);
        }
        match self.told()?.1 {
            What::Invoked { call, .. } | What::Completed { call, .. } => *call,
            What::Asked(asked) => asked.call,
            What::Started
            | What::Ended(_)
            | What::Changed { .. }
            | What::Queried(_)
            | What::Chunk(_)
            | What::HandedOff { .. }
            | What::Progress { .. }
            | What::Other(_) => None,
        }
    }

    /// The token of the question that it asks.
    pub fn asks(&self) -> Option<Token> {
        self.told()?.1.asks()
    }
}

impl What {
    /// The token of the question that is asked.
    pub fn asks(&self) -> Option<Token> {
        match self {
            Self::Asked(it) => Some(it.token),
            Self::Queried(it) => Some(it.token),
            Self::Started
            | Self::Ended(_)
            | Self::Changed { .. }
            | Self::Invoked { .. }
            | Self::Completed { .. }
            | Self::Chunk(_)
            | Self::HandedOff { .. }
            | Self::Progress { .. }
            | Self::Other(_) => None,
        }
    }
}
