//! The words of the protocol: identifiers, decisions, and what an action is.
//!
//! The one thing to know: an identifier value is always well-formed, because parsing is the only way to make one
//! from text.

use std::iter;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::confirmation::ConfirmationNumber;
pub use crate::identifier::InvalidIdentifier;
use crate::identifier::identifier;
use crate::text::is_blank;

/// The most characters that may follow the prefix of an identifier (AAEP-EV-2), or be in one without.
const MAX_SUFFIX: usize = 64;
/// The most characters in another name that the host chooses freely.
const MAX_NAME: usize = 256;

identifier!(
    /// Ties a reply to its question: `rpl_` and 1 to 64 ASCII letters or digits (AAEP-6.2.1-1).
    ReplyToken,
    "rpl_ and 1 to 64 ASCII letters or digits",
    |text| has_prefix(text, "rpl_")
);
identifier!(
    /// A session: `sess_` and 1 to 64 ASCII letters or digits (AAEP-EV-2).
    SessionId,
    "sess_ and 1 to 64 ASCII letters or digits",
    |text| has_prefix(text, "sess_")
);
identifier!(
    /// A subscription: `sub_` and 1 to 64 ASCII letters or digits (AAEP-EV-2, AAEP-REPLY-5).
    SubscriptionId,
    "sub_ and 1 to 64 ASCII letters or digits",
    |text| has_prefix(text, "sub_")
);
identifier!(
    /// An event: `evt_` and 1 to 64 ASCII letters or digits (AAEP-EV-2).
    EventId,
    "evt_ and 1 to 64 ASCII letters or digits",
    |text| has_prefix(text, "evt_")
);
identifier!(
    /// One call of a tool, unique in its session (AAEP-EV-13).
    ToolCallId,
    "a name of 1 to 64 characters, not blank",
    |text| is_name(text, MAX_SUFFIX)
);
identifier!(
    /// The host's own name for an output, 1 to 64 characters and not blank, unique in its session (AAEP-A.6-1).
    OutputId,
    "a name of 1 to 64 characters, not blank",
    |text| is_name(text, MAX_SUFFIX)
);
identifier!(
    /// The host's own name for an action, 1 to 256 characters. Two asks are about the same action when both the
    /// session and this name are the same (AAEP-6.1-6).
    ActionId,
    "a name of 1 to 256 characters, not blank",
    |text| is_name(text, MAX_NAME)
);
identifier!(
    /// The producer's name in its events, 1 to 256 characters (AAEP-EV-1).
    AgentId,
    "a name of 1 to 256 characters, not blank",
    |text| is_name(text, MAX_NAME)
);

impl ReplyToken {
    /// A token made of 128 random bits, written as 32 hexadecimal digits (AAEP-6.2.1-2).
    pub fn from_bits(bits: u128) -> Self {
        Self(Arc::from(format!("rpl_{bits:032x}")))
    }
}

impl SessionId {
    /// A session id made of 128 bits, written as 32 hexadecimal digits.
    pub fn from_bits(bits: u128) -> Self {
        Self(Arc::from(format!("sess_{bits:032x}")))
    }
}

impl EventId {
    /// An event id made of 128 bits, written as 32 hexadecimal digits.
    pub fn from_bits(bits: u128) -> Self {
        Self(Arc::from(format!("evt_{bits:032x}")))
    }
}

impl ToolCallId {
    /// The ids that the call of that confirmation may have: the first that the host has not used. No other confirmation has any
    /// of them, because the number is its own.
    pub(super) fn of_confirmation(number: ConfirmationNumber) -> impl Iterator<Item = Self> {
        let first = format!("call_{}", number.0);
        let others = (1_u64..).map(move |other| format!("call_{}_{other}", number.0));
        iter::once(first)
            .chain(others)
            .map(|id| Self(Arc::from(id)))
    }

    /// The ids that a call may have that needs no question, from that number on.
    pub(super) fn of_runs(from: usize) -> impl Iterator<Item = Self> {
        (from..).map(|number| Self(Arc::from(format!("run_{number}"))))
    }
}

impl Default for AgentId {
    fn default() -> Self {
        Self(Arc::from("countersign-reference"))
    }
}

fn is_name(text: &str, longest: usize) -> bool {
    !is_blank(text) && text.chars().count() <= longest
}

/// The grammar of tokens and ids: a prefix, then 1 to 64 ASCII letters or digits (AAEP-6.2.1-1, AAEP-EV-2).
fn has_prefix(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|suffix| {
        (1..=MAX_SUFFIX).contains(&suffix.len())
            && suffix.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// What a user, or a default, decides (AAEP-6.3.1-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The action may run.
    Accept,
    /// The action must not run.
    Reject,
}

impl Decision {
    /// The word on the wire: `accept` or `reject`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Reject => "reject",
        }
    }
}

/// How much harm an action can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl RiskLevel {
    /// The level of that word on the wire, if it is one.
    pub(super) fn named(text: &str) -> Option<Self> {
        match text {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            _ => None,
        }
    }
}

/// What the user is asked about: one call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The host's name for the action.
    pub id: ActionId,
    /// The tool that runs it. Not blank.
    pub tool: Arc<str>,
    /// What will be done, for the user to read: the `action` of the event. Not blank.
    pub description: Arc<str>,
    /// What follows from it, for the user to read. Not blank.
    pub consequence: Arc<str>,
    /// How much harm it can do.
    pub risk_level: RiskLevel,
    /// Whether it cannot be undone.
    pub irreversible: bool,
}

/// A kind of answer to a clarification (AAEP-6.5.2-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// Any text.
    Freetext,
    /// True or false.
    YesNo,
    /// The value of one of the choices.
    MultipleChoice,
    /// Any number.
    Numeric,
}

/// One of the answers that a clarification offers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is answered. Not blank.
    pub value: String,
    /// What the user reads. Not blank.
    pub label: String,
}

/// What a subscriber says it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Capabilities {
    /// Whether it can answer questions of either kind; not unless it says so (AAEP-EV-14).
    pub supports_confirmation_reply: bool,
}

/// How a call of a tool came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it should.
    Success,
    /// It failed.
    Error,
    /// It did not come back in time.
    Timeout,
}

/// Whom a session is handed off to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A person.
    Human,
    /// Another agent.
    SpecialistAgent,
    /// Whoever comes to it next.
    EscalationQueue,
}

/// How a session ends (AAEP-A.1-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// Its work is done.
    Completed,
    /// It failed.
    Errored,
    /// It was called off.
    Cancelled,
}

/// Who speaks: the `producer` of every event (AAEP-EV-1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The producer's name.
    pub agent_id: AgentId,
    /// Its version, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
}
