//! Pending actions: a ledger of proposals and decisions, and what the loop and the clients tell it.

mod shapes;

pub use shapes::{Append, Audit, CancelReason, Event, Happened, Message};

use arbitrary::Arbitrary;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::any_json::in_message;
use crate::{Json, Kind, Protocol, Refused};

/// The protocol, as a parameter of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingAction {}

impl Protocol for PendingAction {
    const NAME: &'static str = "pending-action";
    type Op = Op;
    type Output = Output;
    type Capability = Capability;
    const SHOWN_UNASKED: &'static [Kind] = &[
        Kind::Perform,
        Kind::Append,
        Kind::Event,
        Kind::Audit,
        Kind::InDoubt,
        Kind::Snapshot,
        Kind::Refused,
    ];

    fn kind(output: &Output) -> Kind {
        match output {
            Output::Append(_) => Kind::Append,
            Output::Event(_) => Kind::Event,
            Output::Perform(_) => Kind::Perform,
            Output::InDoubt(_) => Kind::InDoubt,
            Output::Audit(_) => Kind::Audit,
            Output::Snapshot(_) => Kind::Snapshot,
            Output::Refused(_) => Kind::Refused,
        }
    }
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// A call wants to be confirmed.
    Propose(Propose),
    /// Somebody decides. What does not count is ignored and audited; it changes nothing.
    Decide {
        /// About this action, as their client names it.
        action_id: String,
        /// Its nonce, where the client gives it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<String>,
        /// What.
        decision: Decision,
        /// Who, as the host has identified them. Blank, as in `propose`: nobody, whose decision is ignored.
        #[schemars(length(max = 256))]
        by: String,
        /// What the client says was approved: any JSON, as it is written, or a string that holds it; null is a value. To
        /// allow counts where it means what was proposed: neither the order of keys nor blanks nor the spelling of a character
        /// makes a difference, whole numbers are the same to the digit, others where they are the same double, -0 is 0, and
        /// what no double carries is the same only as part of the very same text. To deny counts whatever stands here.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "value"
        )]
        arguments: Option<Json>,
    },
    /// Somebody says something that is no decision. It names no session: the host knows it.
    Say {
        /// Who: any text.
        by: String,
        /// What.
        text: String,
    },
    /// A tool that was told to run has come back.
    FinishTool {
        /// The action that it ran for.
        action_id: String,
        /// How it came out.
        status: ToolStatus,
        /// What it returned: any JSON, as it is written, or a string, which stands for the text in it, be that JSON or not (half
        /// of a surrogate pair makes it stand for itself). Nobody reads it, so that it may be as deep and as large as a line holds;
        /// it comes out as that text. Null is a value. Empty, where absent.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "value"
        )]
        result: Option<Json>,
    },
    /// The host takes a question back.
    Cancel {
        /// Which.
        action_id: String,
    },
    /// A session ends: what pends in it is cancelled, and nothing is proposed in it any more. It ends once. Sessions are not
    /// started, so that one of which nothing was seen yet may end as well.
    EndSession {
        /// Which. Not blank, as in `propose`.
        #[schemars(length(min = 1, max = 256))]
        session_id: String,
    },
    /// The state as it is now is to be put out.
    Snapshot {},
    /// The host hands back an older state. The reference catches up from its journal, so that nothing is taken back.
    Rollback {
        /// What was put out then, of this journal and of no later time than now.
        snapshot: Json,
    },
}

/// Reads a field whose null is a value: what is not meant is left out.
fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// A call that is to be confirmed.
///
/// A text is blank that holds nothing but white space, control characters and characters without width: U+00AD, U+200B to
/// U+200F, U+202A to U+202E, U+2060 to U+206F, U+FEFF. Names are compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(deny_unknown_fields)]
pub struct Propose {
    /// Who proposes. Not blank.
    #[schemars(length(min = 1, max = 256))]
    pub agent_id: String,
    /// The session of the call. Not blank.
    #[schemars(length(min = 1, max = 256))]
    pub session_id: String,
    /// The run of the call. Not blank.
    #[schemars(length(min = 1, max = 256))]
    pub run_id: String,
    /// The tool to call. Not blank.
    #[schemars(length(min = 1, max = 256))]
    pub tool: String,
    /// With these arguments: any JSON, as it is written, or a string that holds it. At most 1 MiB of text, at most 64 arrays and
    /// objects deep, no key twice in an object, no half of a surrogate pair. Any number will do, for it is not read but kept.
    pub arguments: Json,
    /// What the call does.
    pub effect: Effect,
    /// What the user is asked. Not blank.
    #[schemars(length(min = 1, max = 4096))]
    pub summary: String,
    /// The words on the button. No line break, and not blank.
    #[schemars(length(min = 1, max = 80))]
    pub label: String,
    /// When the question closes: later than now, whether or not a decision at that very time would count. Where absent: never,
    /// unless the implementation has chosen otherwise; its record says so. What was allowed in time may run later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: Option<String>,
    /// Who may decide: different names, none blank. Where absent: anyone but the agent, unless chosen otherwise. A call that the
    /// implementation has chosen to release unasked asks them neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), inner(length(min = 1, max = 256)), extend("uniqueItems" = true))]
    pub deciders: Option<Vec<String>>,
    /// Whether calling the tool twice does what calling it once does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
}

/// What somebody decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// It must not.
    Deny,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks.
    Read,
    /// Changes something.
    Write,
    /// Destroys something.
    Destructive,
    /// Reaches somebody else.
    External,
}

/// How a call came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// The tool did what it should.
    Success,
    /// It failed.
    Error,
    /// It was never begun.
    NotRun,
}

/// What a ledger may have or leave out.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    Arbitrary,
)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Questions can be taken back.
    Cancel,
    /// The process can die and come back.
    Restart,
    /// The state can be put out, and an older one handed back.
    Snapshot,
    /// What is no decision reaches the transcript.
    Say,
    /// A proposal can say that its call may run twice.
    Idempotent,
}

/// What can come out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// A message for the transcript.
    #[schemars(with = "Append")]
    Append(#[arbitrary(with = in_message)] Json),
    /// Something has happened to an action.
    #[schemars(with = "Event")]
    Event(#[arbitrary(with = in_message)] Json),
    /// Run the tool now.
    Perform(ToolCall),
    /// After a restart: this was released and is not recorded as finished.
    InDoubt(Named),
    /// What only the operator sees.
    #[schemars(with = "Audit")]
    Audit(#[arbitrary(with = in_message)] Json),
    /// The state as it is now, to hand back.
    Snapshot(Json),
    /// What was asked is not allowed.
    Refused(Refused),
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct ToolCall {
    /// The action that it is run for.
    pub action_id: String,
    /// The tool to run.
    pub tool: String,
    /// With exactly these arguments, or a string that holds them.
    pub arguments: Json,
}

/// The action that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Named {
    /// Its id.
    pub action_id: String,
}
