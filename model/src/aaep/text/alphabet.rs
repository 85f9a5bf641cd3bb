//! What is said to a producer of AAEP about confirmations, and what it puts out.
//!
//! The values are permissive: whether one is allowed is for the spec to say. Equal texts have equal numbers, by first
//! appearance in a run. Tokens and call ids are numbered by first appearance in the outputs: a fresh one is the number of
//! those so far, and a call that names one never put out has any higher number.
//!
//! The envelope of an event (`event_id`, `sequence_number`, `timestamp`) is judged by an account of its own, outside the
//! search. Here stands only the time of a question, from which its timeout counts.

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
    Deliver(Arc<Message>),
    Cancel(Token),
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

/// What the transport has received.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub sender: Option<SubscriptionId>,
    pub is_authenticated: bool,
    /// Nothing where no token and decision can be read.
    pub reply: Option<Reply>,
}

/// A `confirmation.reply`. What cannot be read of it is absent.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    /// The first flaw of its form, in the order of the schema.
    pub flaw: Option<Flaw>,
    pub token: Token,
    pub decision: Decision,
    pub subscription: Option<SubscriptionId>,
    pub timestamp: Option<Time>,
    pub modified: Option<Modified>,
}

/// How a reply departs from its schema.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flaw {
    /// A name stands twice in an object.
    RepeatedName,
    Type,
    Token,
    Decision,
    Subscription,
    Timestamp,
    DecidedBy,
    Rationale,
    ModifiedAction,
    CorrelationId,
    OtherProperty,
}

/// A `modified_action`.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Modified {
    pub action: Name,
    /// By its own words it is riskier, or less reversible, than what was asked about.
    pub rates_higher: bool,
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
    /// A courtesy to one subscription.
    Notify {
        subscription: SubscriptionId,
        token: Option<Token>,
    },
    Audit,
    Refused,
    Other(Name),
}

/// An event, to every subscription.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    pub session: SessionId,
    pub what: What,
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
    Progress,
    /// Of a type that says nothing about a confirmation.
    Other(Name),
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
    /// Accept and reject, where it lists none.
    pub allowed: SmallVec<[Decision; 2]>,
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
        if let Self::Emit(Event { session, what }) = self {
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
            | What::Progress
            | What::Other(_) => None,
        }
    }
}
