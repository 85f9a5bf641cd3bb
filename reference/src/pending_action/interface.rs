//! What goes into the ledger and what comes out of it.
//!
//! The one thing to know: a decision that does not count is ordinary input and ends in an [`Audit`] that only the
//! operator sees. A [`Refusal`] always means that the host asked for something that it must not ask for.

use std::sync::Arc;

use serde::Serialize;

use super::action::Action;
use super::arguments::{Arguments, NotArguments, Text};
use super::event::Event;
use super::message::Append;
use super::record::Record;
use super::validate::IgnoredBecause;
use super::vocabulary::{ActionId, Decision, Effect, ToolName, ToolStatus};
pub use crate::clause::ClauseId;
use crate::time::Timestamp;

/// One thing that happens to the ledger.
///
/// Names and ids are texts as they were received: what names nothing is refused or ignored like any other that is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The loop, or a tool's policy, wants a call confirmed (PA-14).
    Propose(Propose),
    /// Somebody decides (PA-2).
    Decide(Decide),
    /// Somebody says something that is no decision (PA-11).
    Say {
        /// Who.
        by: Arc<str>,
        /// What.
        text: Arc<str>,
    },
    /// A tool that was told to run has come back (PA-4).
    FinishTool {
        /// The action that it ran for.
        action_id: String,
        /// How it came out.
        status: ToolStatus,
        /// What it returned, empty where absent.
        result: Text,
    },
    /// The host takes a question back (PA-5).
    Cancel {
        /// Which.
        action_id: String,
    },
    /// A session ends, and nothing pends in it any more (PA-5).
    EndSession {
        /// Which.
        session_id: String,
    },
    /// Time has passed and nothing else has happened.
    Tick,
    /// The process died and is back with what its journal held. Outputs that had not been carried out are lost.
    Restart,
}

/// A call that is to be confirmed (PA-1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Propose {
    /// Who proposes: 1 to 256 characters and not blank, like the next three. Blank means everywhere: nothing but white space,
    /// control characters and characters without width.
    pub agent_id: String,
    /// The session that the call belongs to. It must not have ended.
    pub session_id: String,
    /// The run that the call belongs to.
    pub run_id: String,
    /// The tool to call.
    pub tool: String,
    /// With these arguments: one JSON value of at most 1 MiB, at most 64 deep, no key twice.
    pub arguments: Text,
    /// What the call does.
    pub effect: Effect,
    /// What the user is asked: 1 to 4096 characters, and not blank.
    pub summary: String,
    /// The words on the button: 1 to 80 characters, no line break, and not blank.
    pub label: String,
    /// When the question closes, in the future. [`super::ExpiryAbsent`] says when, where absent.
    pub expires_at: Option<Timestamp>,
    /// Who may decide: 1 or more different names, none blank. [`super::DecidersAbsent`] says who, where absent.
    pub deciders: Option<Vec<String>>,
    /// Whether calling the tool twice does what calling it once does.
    pub idempotent: bool,
}

/// A decision, as it came from somebody's client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decide {
    /// The action that it is about (PA-1).
    pub action_id: String,
    /// The action's nonce, where the client gives it (PA-1).
    pub nonce: Option<String>,
    /// What it says.
    pub decision: Decision,
    /// Who decides, as the host has identified them (PA-2).
    pub by: String,
    /// The arguments that were approved, where the client says which (PA-3).
    pub arguments: Option<Text>,
}

/// What a call leads to.
///
/// A refused call has changed nothing and put nothing out by itself, but what expired before it was settled all the
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
    /// Make this durable before anything behind it is carried out.
    Record(Record),
    /// Append a message to a transcript, unless one with its id is there already.
    Append(Append),
    /// Tell whoever watches, unless they were told already.
    Event(Event),
    /// Run the tool now, with the arguments byte for byte (PA-3).
    Perform(ToolCall),
    /// If the tool has not been begun, do not begin it: drop its `perform`, and finish it as not run (PA-5). A `perform`
    /// that came out of a restart is to be dropped as well, but the tool may have begun before the restart: then the
    /// action is in doubt.
    Withdraw(Named),
    /// After a restart: this was released and is not recorded as finished. It may or may not have run, and is not
    /// released again. Say how it came out, once that is known.
    InDoubt(Named),
    /// Write into the operator's log; nobody else may see it.
    Audit(Audit),
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// The action that it is run for.
    pub action_id: ActionId,
    /// The tool to run.
    pub tool: ToolName,
    /// With exactly these arguments.
    pub arguments: Arguments,
}

/// The action that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its id.
    pub action_id: ActionId,
}

/// A decision that does not count, for the operator alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The clause that has it ignored.
    pub clause: ClauseId,
    /// The reason; in JSON, in words.
    pub reason: IgnoredBecause,
    /// The action that it named, as received.
    pub action_id: String,
    /// Who decided, as received.
    pub by: String,
    /// When it came.
    pub at: Timestamp,
}

/// Why a call was refused: the host asked for what the contract does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A name that names nothing.
    #[error("{field} must be a name of 1 to 256 characters, and not blank")]
    NoName {
        /// Of what.
        field: &'static str,
    },
    /// The user would be asked nothing, or too much.
    #[error("summary must be 1 to 4096 characters, and not blank")]
    SummaryMalformed,
    /// The words on the button are too many.
    #[error("label must be 1 to 80 characters without a line break, and not blank")]
    LabelMalformed,
    /// Nothing can be asked in a session that has ended, and it does not end again.
    #[error("the session has ended")]
    SessionEnded,
    /// The question would be closed before it is asked.
    #[error("expires_at must lie in the future")]
    ExpiresTooSoon,
    /// Nobody could decide, or the list is not what it was meant to be.
    #[error("deciders must be 1 or more different names, and none blank")]
    DecidersMalformed,
    /// A tool could not be called with that.
    #[error("arguments are {0}")]
    ArgumentsMalformed(NotArguments),
    /// The source of ids has returned nothing but values that are taken.
    #[error("the source of ids returned no unused action id")]
    NoFreshId,
    /// There is no such action.
    #[error("the action is unknown")]
    UnknownAction,
    /// The action has expired: there is nothing to take back, and nothing can have run.
    #[error("the action has expired")]
    Expired,
    /// Only what is pending can be taken back.
    #[error("the action is settled already")]
    AlreadySettled,
    /// Nothing can have run before somebody has allowed it.
    #[error("the action is still pending")]
    StillPending,
    /// Nothing can have run that was denied or cancelled.
    #[error("the action was denied or cancelled")]
    NotAllowed,
    /// A tool comes back once.
    #[error("the action is finished already")]
    AlreadyFinished,
}

impl Refusal {
    /// The clause that forbids what was asked for.
    pub fn clause(&self) -> ClauseId {
        ClauseId(match self {
            Self::NoName { .. }
            | Self::SummaryMalformed
            | Self::NoFreshId
            | Self::UnknownAction => "PA-1",
            Self::DecidersMalformed => "PA-2",
            Self::ArgumentsMalformed(_) | Self::StillPending => "PA-3",
            Self::SessionEnded | Self::NotAllowed => "PA-5",
            Self::ExpiresTooSoon | Self::Expired => "PA-7",
            Self::AlreadySettled | Self::AlreadyFinished => "PA-8",
            Self::LabelMalformed => "PA-9",
        })
    }
}

impl Output {
    /// The record, if that is what it is: what a host hands to its store.
    pub fn record(&self) -> Option<&Record> {
        match self {
            Self::Record(record) => Some(record),
            Self::Append(_)
            | Self::Event(_)
            | Self::Perform(_)
            | Self::Withdraw(_)
            | Self::InDoubt(_)
            | Self::Audit(_) => None,
        }
    }
}

impl ToolCall {
    /// The call that an action is about.
    pub(super) fn of(action: &Action) -> Self {
        Self {
            action_id: action.action_id,
            tool: action.proposal.tool.clone(),
            arguments: action.proposal.arguments.clone(),
        }
    }
}
