//! What is asked of a gatekeeper and what it puts out, in the judge's own words.
//!
//! The one thing to know: things that have names on the wire (tokens, operations, parameters, adapters, sessions) are
//! numbers here, which whoever feeds the judge gives out: equal text, equal number. Times are in milliseconds since the epoch.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use crate::mcp_aql::rules::Code;

/// What is asked of a gatekeeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// An adapter works differently from now on.
    Configure(Configuration),
    /// A client calls an operation.
    Operation(Request),
    /// A client asks about a token.
    Introspect {
        /// The adapter that it asks.
        adapter: u32,
        /// What it wants.
        query: Query,
        /// The token, whatever it is.
        token: u32,
    },
    /// Something that may end the life of tokens (AQL-5.3-2).
    Event {
        /// What.
        kind: EventKind,
        /// The session that it is about.
        session: Option<u32>,
    },
    /// A connection ends (AQL-5.4-2).
    EndSession {
        /// Whose.
        session: u32,
    },
    /// Time passes.
    Tick,
    /// The process dies and comes back, and this many outputs of the last call, from its end, were not carried out.
    Restart {
        /// How many.
        lost: usize,
    },
}

/// What an operator sets. What is absent stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Whose.
    pub adapter: u32,
    /// `clock_skew_tolerance_seconds`
    pub tolerance_seconds: Option<i64>,
    /// How much a failed check tells.
    pub oracle: Option<Oracle>,
    /// The parameters that count, by operation.
    pub critical: Option<BTreeMap<u32, BTreeSet<u32>>>,
}

/// A call of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The adapter called.
    pub adapter: u32,
    /// The operation called.
    pub operation: u32,
    /// Its parameters; none where they have not one meaning: no JSON, or a name twice.
    pub parameters: Option<Parameters>,
    /// Its danger.
    pub level: Level,
    /// Why it may have to be confirmed.
    pub purpose: Purpose,
    /// Whose connection it is.
    pub session: Option<u32>,
    /// Whether a token for it is to be bound to that session, where the call says.
    pub session_scope: Option<bool>,
    /// `max_uses`, 1 where the call does not say.
    pub max_uses: i64,
    /// `ttl_seconds`
    pub ttl_seconds: Option<i64>,
    /// The token that came with it, whatever it is.
    pub token: Option<u32>,
}

/// The parameters of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// All of them as one: equal where every parameter is.
    pub whole: u32,
    /// Each of them, by name.
    pub each: BTreeMap<u32, Parameter>,
    /// How they are written: equal where the text is.
    pub text: u32,
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Its value.
    pub value: u32,
    /// What the text makes of its name.
    pub weight: Weight,
}

/// What section 3.2 makes of a parameter that the operator says nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// It names a resource or widens the scope.
    Impact,
    /// It may be a timestamp or a request id, which do not count; nothing but the operator's word tells.
    Unsaid,
}

/// How much harm an operation can do (AQL-5.1-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// 0
    Safe,
    /// 1
    Reversible,
    /// 2
    Destructive,
    /// 3
    Dangerous,
    /// 4
    Forbidden,
}

/// What a token is for (AQL-2.1-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// `conf_`
    Confirmation,
    /// `quota_continue_`
    Quota,
}

impl Purpose {
    /// What its tokens begin with.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Confirmation => "conf_",
            Self::Quota => "quota_continue_",
        }
    }
}

/// How much a failed check tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oracle {
    /// A code for each check (AQL-4.1-1 and those after it).
    Codes,
    /// One answer for all (AQL-6.3-2).
    Uniform,
}

/// What a client wants about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    /// `revoke_token`
    Revoke,
    /// `token_status`
    Status,
}

/// What may end the life of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A user has logged out.
    Logout,
    /// Something is wrong.
    Security,
    /// The adapters work differently from now on.
    Configuration,
}

/// What a gatekeeper puts out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// An operation runs now.
    Perform(Performed),
    /// What the client gets to see.
    Respond(Answer),
    /// An entry of the log of tokens (AQL-6.4-1).
    Log(Entry),
    /// A warning in the log about the tolerance (AQL-5.1-6).
    Warn,
    /// What was asked is not allowed, and nothing was done.
    Refused,
}

/// An operation that runs. What the output does not name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performed {
    /// Which.
    pub operation: u32,
    /// With all these parameters, as one: [`Parameters::whole`].
    pub parameters: u32,
    /// The adapter that runs it.
    pub adapter: Option<u32>,
    /// The session that it was called in.
    pub session: Option<u32>,
}

/// What a client gets to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A token, and how to go on with it (AQL-3.3-1).
    Issued(Issued),
    /// A token was refused (AQL-4.2-1).
    Failed(Failure),
    /// The parameters have not one meaning.
    Unreadable,
    /// Too many tries (AQL-6.5-1).
    Limited,
    /// Too many tokens are alive (AQL-5.5-3).
    Full,
    /// The answer to [`Query::Revoke`].
    Revoked {
        /// Whether the token was revoked by this.
        done: bool,
        /// The whole answer, but for the token that was sent and the times in it: equal answers, equal number.
        shape: u32,
    },
    /// The answer to [`Query::Status`].
    Status {
        /// Whether the token would be taken.
        valid: bool,
        /// As in [`Answer::Revoked`].
        shape: u32,
    },
    /// Anything else, of which the text says nothing: how the operation went, say.
    Other,
}

/// The answer that gives a token away. What it does not name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The token.
    pub token: Option<u32>,
    /// What its prefix says.
    pub prefix: Option<Purpose>,
    /// How many characters follow the prefix.
    pub identifier_length: usize,
    /// How many characters it has in all.
    pub length: usize,
    /// Whether only letters, digits, underscores and hyphens follow the prefix.
    pub url_safe: bool,
    /// What can be read off it, in the clear or in an encoding that anybody undoes.
    pub reads: Option<Readable>,
    /// `expires_at`
    pub expires_at: Option<i64>,
    /// `operation`
    pub operation: Option<u32>,
    /// `danger_level`
    pub level: Option<Level>,
    /// Whether `reasons` are given.
    pub reasons: bool,
    /// Whether a `confirmation_message` is given.
    pub message: bool,
}

/// What can be read off a token that tells more than its purpose (AQL-6.3-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readable {
    /// The name of an operation, of an adapter or of a session.
    Name,
    /// A value of a parameter.
    Value,
}

/// The answer that refuses a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `error.code`; none where it is none of the four.
    pub code: Option<Code>,
    /// Whether `success` is false and `error` has code, message and details.
    pub whole: bool,
    /// As in [`Answer::Revoked`].
    pub shape: u32,
    /// `expired_at`
    pub expired_at: Option<i64>,
    /// `current_time`
    pub current_time: Option<i64>,
    /// Whether a value of a parameter stands in it.
    pub exposes_parameters: bool,
}

/// An entry of the log of tokens. What it does not name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// `timestamp`
    pub at: Option<i64>,
    /// `event`
    pub event: LogEvent,
    /// `outcome`
    pub success: bool,
    /// `token_id`, in numbers of the log's own: it may hold a digest.
    pub token: Option<u32>,
    /// `operation`; [`INTROSPECT`] where it names the query and not the operation of the token.
    pub operation: Option<u32>,
    /// `adapter_name`
    pub adapter: Option<u32>,
    /// `client_context.session_id`
    pub session: Option<u32>,
    /// The code that `failure_reason` comes to. It only serves to name the clause where the client is told less.
    pub reason: Option<Code>,
}

/// The operation `introspect`.
pub const INTROSPECT: u32 = u32::MAX;

/// The four events of AQL-6.4-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogEvent {
    /// `TOKEN_ISSUED`
    Issued,
    /// `TOKEN_VALIDATED`
    Validated,
    /// `TOKEN_REJECTED`
    Rejected,
    /// `TOKEN_REVOKED`
    Revoked,
}

/// As the log has it.
impl fmt::Display for LogEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Issued => "TOKEN_ISSUED",
            Self::Validated => "TOKEN_VALIDATED",
            Self::Rejected => "TOKEN_REJECTED",
            Self::Revoked => "TOKEN_REVOKED",
        })
    }
}
