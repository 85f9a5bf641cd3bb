//! What is said to a gatekeeper of MCP-AQL, and what it puts out.
//!
//! The values are permissive: whether one is allowed is for the spec to say. Equal texts have equal numbers, by first
//! appearance in a run. Tokens are numbered by first appearance in responses, the ids of the log by first appearance
//! there.

#![expect(
    missing_docs,
    reason = "the words of the text; the page of the driver protocol has what they mean"
)]

use std::sync::Arc;

use arbitrary::Arbitrary;
use smallvec::SmallVec;

use crate::engine::protocol;

/// The number of a text.
pub type Name = u16;
pub type TokenId = u16;
/// The number of a `token_id` in the log, which may hold a digest.
pub type LogId = u16;
/// Milliseconds.
pub type Time = i64;

/// The operation `introspect`.
pub const INTROSPECT: Name = 0;

/// A name in a call.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    pub name: Name,
    pub characters: u32,
}

impl From<Name> for Text {
    fn from(name: Name) -> Self {
        Self {
            name,
            characters: 8,
        }
    }
}

/// A request: the time of the host, and what it asks for.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// It may be before that of an earlier call.
    pub now: Time,
    pub op: Op,
}

/// What a host or a client can ask for.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Configure(Arc<Configuration>),
    Call(Arc<Request>),
    Introspect {
        adapter: Text,
        query: Query,
        token: Shown,
    },
    Event {
        kind: EventKind,
        session: Option<Text>,
    },
    EndSession(Text),
    Tick,
    Restart(Lost),
}

/// What an operator sets. What is absent stays as it is.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Configuration {
    pub adapter: Text,
    pub tolerance: Option<Time>,
    pub oracle: Option<Oracle>,
    /// The parameters that count, by operation, in place of all lists; each by ascending number.
    pub critical: Option<Vec<(Name, Vec<Name>)>>,
}

/// A call of an operation.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub adapter: Text,
    pub operation: Text,
    pub parameters: Parameters,
    pub level: Level,
    pub purpose: Purpose,
    pub session: Option<Text>,
    pub session_scope: Option<bool>,
    pub max_uses: Option<i64>,
    pub ttl: Option<Time>,
    pub token: Option<Shown>,
}

/// A token as a client shows it.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    Token(TokenId),
    /// That token, but for upper and lower case.
    OtherCase(TokenId),
    /// It was never put out.
    Unknown,
    Blank,
}

/// The parameters of a call.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// As they are written.
    pub spelling: Name,
    /// In bytes.
    pub size: u32,
    /// Nothing where they have no one meaning.
    pub meaning: Option<Name>,
    /// By ascending name.
    pub each: SmallVec<[Parameter; 2]>,
}

/// A parameter, with what section 3.2 knows of its name.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameter {
    pub name: Name,
    pub value: Name,
    pub word: Word,
}

/// Names of parameters that the text mentions.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// An id, a name, a path, an owner or a repository.
    Resource,
    Force,
    Permanent,
    Recursive,
    Timestamp,
    RequestId,
    Other,
}

/// How much harm an operation can do.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Safe,
    Reversible,
    Destructive,
    Dangerous,
    Forbidden,
}

/// What a token is for.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    Confirmation,
    Quota,
}

/// How much a failed check tells.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oracle {
    Codes,
    Uniform,
}

/// What a client wants about a token.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Query {
    Revoke,
    Status,
}

/// What can end the life of tokens.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    Logout,
    Security,
    Configuration,
}

/// The outputs of the last response that were not carried out.
pub type Lost = protocol::Lost<Output>;

/// What a gatekeeper puts out.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    Perform(Performed),
    Respond(Answer),
    Audit(Entry),
    /// An entry that warns of the tolerance.
    Warn,
    Refused,
}

/// An operation that runs.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Performed {
    pub operation: Name,
    /// By their meaning; nothing where they have no one meaning.
    pub parameters: Option<Name>,
    pub adapter: Option<Name>,
    pub session: Option<Name>,
}

/// What a client gets to see.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    Issued(Issued),
    Failed(Failure),
    Unreadable,
    Limited,
    Full,
    Revoked(Told),
    Status(Told),
    Other(Name),
}

/// The answer to a query: whether it was done or is so, and its form ([`Failure::shape`]).
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    pub holds: bool,
    pub shape: Name,
}

/// The answer that gives a token away. What it does not name is none.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Issued {
    pub token: TokenId,
    pub look: Look,
    pub expires_at: Option<Time>,
    pub operation: Option<Name>,
    pub level: Option<Level>,
    pub has_reasons: bool,
    pub has_message: bool,
}

/// What a token looks like.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    pub prefix: Option<Purpose>,
    /// How many characters follow the prefix.
    pub identifier: u32,
    /// How many characters there are in all.
    pub characters: u32,
    /// Whether only letters, digits, underscores and hyphens follow the prefix.
    pub is_url_safe: bool,
    /// It differs from an earlier token by a number that is one greater.
    pub is_counted: bool,
    /// What anybody can read off it.
    pub reads: Option<Readable>,
}

/// What can be read off a token that tells more than its purpose.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readable {
    /// The name of an operation, of an adapter or of a session.
    Name,
    /// A value of a parameter.
    Value,
}

/// The answer that refuses a token.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    pub code: Code,
    /// `success` is false, and `error` has a code, a message and details.
    pub is_whole: bool,
    /// The whole answer but for the token that was shown and the times in it: equal answers, equal number.
    pub shape: Name,
    pub expired_at: Option<Time>,
    pub current_time: Option<Time>,
    /// A value of a parameter stands in it.
    pub exposes_parameters: bool,
}

/// `error.code`
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    Invalid,
    Expired,
    Used,
    Scope,
    Other,
}

/// An entry of the log of tokens. What it does not name is none.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub at: Time,
    pub event: Event,
    pub is_success: bool,
    pub token: Option<LogId>,
    /// [`INTROSPECT`] where it names the query and not the operation of the token.
    pub operation: Option<Name>,
    pub adapter: Option<Name>,
    pub session: Option<Name>,
}

/// What an entry is about.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Issued,
    Validated,
    Rejected,
    Revoked,
    Other(Name),
}
