//! MCP-AQL: a gatekeeper of confirmation tokens, and what its host and its clients tell it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use arbitrary::Arbitrary;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::any_json::in_message;
use crate::{Json, Kind, Protocol, Refused};

/// The protocol, as a parameter of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpAql {}

impl Protocol for McpAql {
    const NAME: &'static str = "mcp-aql";
    type Op = Op;
    type Output = Output;
    type Capability = Capability;
    const SHOWN_UNASKED: &'static [Kind] =
        &[Kind::Perform, Kind::Respond, Kind::Audit, Kind::Refused];

    fn kind(output: &Output) -> Kind {
        match output {
            Output::Perform(_) => Kind::Perform,
            Output::Respond(_) => Kind::Respond,
            Output::Audit(_) => Kind::Audit,
            Output::Refused(_) => Kind::Refused,
        }
    }
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// An adapter works differently from now on. What is absent stays as it is. What has no field here (limits of requests and
    /// of tokens, signed tokens, sessions that come back) is chosen when the implementation is started.
    Configure {
        /// Which.
        #[schemars(length(min = 1, max = 256))]
        adapter: String,
        /// How long after its expiry a token is still taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 0, max = 300))]
        clock_skew_tolerance_seconds: Option<i64>,
        /// How much a failed check tells the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        oracle: Option<Oracle>,
        /// The names of the parameters that a token is bound to, by operation: in place of all that were named before. A name
        /// twice counts once. Of an operation that is not named here every parameter is critical, a request id or a timestamp too,
        /// for nobody else can tell which of them are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(schema_with = "names_by_operation")]
        critical: Option<BTreeMap<String, BTreeSet<String>>>,
    },
    /// A client calls an operation.
    Call(Call),
    /// A client asks about a token, or gives it back.
    Introspect {
        /// The adapter that it asks: its limits count, and its `oracle`. It need not be that of the token. `default`, where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        adapter: Option<String>,
        /// What it wants. A status is no error: with `codes` it tells a token that was taken back from one that never was, which
        /// a call does not.
        query: Query,
        /// The token as received, whatever it is.
        token: String,
    },
    /// Something happens that ends the life of tokens.
    Event {
        /// What. All tokens of all adapters end, but with the logout of a session those that are bound to it, and no others.
        kind: EventKind,
        /// The session that a logout is about. It says nothing of the other kinds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        session_id: Option<String>,
    },
    /// A session ends, and with it the tokens that are bound to it, but no others. From then on a token that would be bound to
    /// it is refused, and nothing else is, unless the implementation lets sessions come back; after a `restart` the connections
    /// that it has ended can come back under their names.
    EndSession {
        /// Which. It may have ended before, or be one that was never heard of.
        #[schemars(length(min = 1, max = 256))]
        session_id: String,
    },
}

/// A call of an operation: what the client sent, and what the host knows of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The adapter called. `default`, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub adapter: Option<String>,
    /// The operation called.
    #[schemars(length(min = 1, max = 256))]
    pub operation: String,
    /// Its parameters: any JSON, as the client wrote it, or a string that holds it. What has no one meaning (a name twice, half a
    /// surrogate pair, a number that is not the same to all readers) cannot be confirmed. A whole number in full is bound to the
    /// digit, any other as its double: beyond 2^53 where the shortest form of the double is that very number, else not
    /// at all.
    pub params: Json,
    /// How much harm the operation can do. A token is good for the level that it was issued for and for lower ones; for a higher
    /// one it is a mismatch.
    pub danger_level: DangerLevel,
    /// Whose connection it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub session_id: Option<String>,
    /// Whether a token for it is to be bound to that session. Where absent, one with several uses is, and one with a single use is
    /// not; `false` with several uses is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_scope: Option<bool>,
    /// How often a token for it may be used. Once, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_295_u64))]
    pub max_uses: Option<i64>,
    /// How long a token for it lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 900))]
    pub ttl_seconds: Option<i64>,
    /// The token, if the client sent one, as received. A call that needs none does not look at it: it is neither checked nor
    /// used, nor is there an audit of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation_token: Option<String>,
    /// Why it may have to be confirmed. For its danger, where absent. What is dangerous past a quota is asked about once: its token
    /// is one of confirmation, and any such token for the call passes the quota too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// What the client is told of the danger, in the host's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<String>>,
    /// What the client is asked, in the host's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmation_message: Option<String>,
}

/// How much harm an operation can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = or_a_number)]
pub enum DangerLevel {
    /// None.
    Safe,
    /// Some that can be undone.
    Reversible,
    /// Some that cannot.
    Destructive,
    /// Much.
    Dangerous,
    /// So much that it is for emergencies alone.
    Forbidden,
}

/// The words in the order of their numbers.
const LEVELS: [(&str, DangerLevel); 5] = [
    ("safe", DangerLevel::Safe),
    ("reversible", DangerLevel::Reversible),
    ("destructive", DangerLevel::Destructive),
    ("dangerous", DangerLevel::Dangerous),
    ("forbidden", DangerLevel::Forbidden),
];

/// At least one name of each.
fn names_by_operation(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": {"minLength": 1, "maxLength": 256},
        "additionalProperties": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    })
}

/// A level has a number, too.
fn or_a_number(schema: &mut Schema) {
    let word = std::mem::take(schema);
    let number = serde_json::json!({"type": "integer", "minimum": 0, "maximum": 4});
    schema.insert("anyOf".to_owned(), serde_json::json!([word, number]));
}

impl<'de> Deserialize<'de> for DangerLevel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Level)
    }
}

/// Reads a level from its word or its number.
struct Level;

impl Visitor<'_> for Level {
    type Value = DangerLevel;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, _) in LEVELS {
            write!(formatter, "`{word}`, ")?;
        }
        formatter.write_str("or their number from 0 to 4")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<DangerLevel, E> {
        let found = LEVELS.iter().find(|(name, _)| *name == word);
        let unknown = || E::invalid_value(Unexpected::Str(word), &self);
        found.map(|(_, level)| *level).ok_or_else(unknown)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<DangerLevel, E> {
        let found = usize::try_from(number).ok().and_then(|it| LEVELS.get(it));
        let unknown = || E::invalid_value(Unexpected::Unsigned(number), &self);
        found.map(|(_, level)| *level).ok_or_else(unknown)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<DangerLevel, E> {
        Err(E::invalid_value(Unexpected::Signed(number), &self))
    }
}

/// How much a failed check tells the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    /// A code for each.
    Codes,
    /// One and the same for all.
    Uniform,
}

/// Why a call has to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// For its danger.
    Confirmation,
    /// For a quota that is reached.
    QuotaContinue,
}

/// What a client wants about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// To make it worthless.
    RevokeToken,
    /// To know what has become of it.
    TokenStatus,
}

/// What ends the life of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A user has logged out.
    Logout,
    /// Something is wrong.
    Security,
    /// The adapters work differently from now on.
    Configuration,
}

/// What a gatekeeper may have or leave out.
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
    /// Tokens with several uses.
    MultiUse,
    /// Tokens that are bound to a session because the call asks for it.
    SessionScope,
    /// Tokens for quotas.
    Quota,
    /// Clients can ask about tokens and give them back.
    Introspect,
    /// The process can die and come back.
    Restart,
}

/// What can come out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Run the operation now.
    Perform(Operation),
    /// What the client gets to see.
    Respond(#[arbitrary(with = in_message)] Json),
    /// An entry of the operator's log.
    Audit(#[arbitrary(with = in_message)] Json),
    /// What was asked is not allowed.
    Refused(Refused),
}

/// An operation to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Operation {
    /// Which.
    pub operation: String,
    /// Its parameters, or a string that holds them.
    pub params: Json,
    /// The adapter to run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// The session that it was called in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}
