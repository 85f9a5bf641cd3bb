//! The words of the protocol: names, tokens, danger levels, codes.
//!
//! The one thing to know: a value of these types is always well-formed, because parsing is the only way to make one
//! from text. The token itself is a secret that only the client keeps; everyone else calls it by its [`TokenId`].

use std::fmt;

use serde::{Deserialize, Serialize};

use super::digest::TokenDigest;
pub use crate::identifier::InvalidIdentifier;
use crate::identifier::{identifier, is_name};

identifier!(
    /// What the client sends back to show that it was told: a prefix for the purpose, then an identifier that cannot
    /// be guessed (AQL-2.1-1, AQL-2.2-1, AQL-2.2-2). Case counts (AQL-2.2-3).
    ConfirmationToken,
    "conf_ or quota_continue_, then 1 to 64 letters, digits, _ or -, 8 to 80 characters in all",
    |text| Purpose::of_token(text).is_some()
);
identifier!(
    /// An operation that a client can call.
    OperationName,
    "a name of 1 to 256 characters",
    is_name
);
identifier!(
    /// One of the adapters that the gatekeeper stands in front of.
    AdapterName,
    "a name of 1 to 256 characters",
    is_name
);
identifier!(
    /// A session: one connection of a client (AQL-5.4-2).
    SessionId,
    "a name of 1 to 256 characters",
    is_name
);

impl ConfirmationToken {
    /// A token made of 256 random bits, written as 64 hexadecimal digits (AQL-3.1-1, AQL-3.1-2).
    pub fn from_bits(purpose: Purpose, bits: [u128; 2]) -> Self {
        let [high, low] = bits;
        Self(format!("{}{high:032x}{low:032x}", purpose.prefix()).into())
    }

    /// A token with an identifier of 64 characters that base64 for URLs has made.
    pub(super) fn with_identifier(purpose: Purpose, identifier: &str) -> Self {
        Self(format!("{}{identifier}", purpose.prefix()).into())
    }

    /// What follows the prefix.
    pub(super) fn identifier(&self) -> &str {
        let prefix = self.purpose().prefix();
        self.0.strip_prefix(prefix).unwrap_or_default()
    }

    /// What it is called where it must not be read.
    pub fn id(&self) -> TokenId {
        TokenDigest::of(self).id()
    }

    /// What its prefix says that it is for.
    pub fn purpose(&self) -> Purpose {
        // A value of this type has one of the two prefixes.
        Purpose::of_token(&self.0).unwrap_or(Purpose::Confirmation)
    }
}

impl Default for AdapterName {
    fn default() -> Self {
        Self("countersign-reference".into())
    }
}

impl OperationName {
    /// The operation that asks about tokens instead of doing something (AQL-5.3-3).
    pub(super) fn introspect() -> Self {
        Self("introspect".into())
    }

    /// Whatever operation, in the log.
    pub(super) fn all() -> Self {
        Self("*".into())
    }
}

impl AdapterName {
    /// Whatever adapter, in the log.
    pub(super) fn all() -> Self {
        Self("*".into())
    }
}

/// What a token is called in logs: the first 16 hexadecimal digits of its SHA-256.
///
/// AQL-6.4-1 wants each entry to name its token, and AQL-2.3-1 has the id of a token be the whole of it. Whoever reads a log must
/// not be able to redeem what is named there, so it is named by something that only the token's holder could have come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub(super) [u8; 8]);

impl fmt::Display for TokenId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", u64::from_be_bytes(self.0))
    }
}

impl Serialize for TokenId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a token is for (AQL-2.1-1).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To run a dangerous operation.
    #[default]
    Confirmation,
    /// To go on past a soft quota.
    QuotaContinue,
}

impl Purpose {
    /// How its tokens begin (AQL-2.1-1).
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Confirmation => "conf_",
            Self::QuotaContinue => "quota_continue_",
        }
    }

    /// The purpose of the token that the text is, if it is one.
    fn of_token(text: &str) -> Option<Self> {
        // AQL-2.2-2: the whole of it. The shortest prefix alone would allow six characters.
        if !(8..=80).contains(&text.len()) {
            return None;
        }
        [Self::Confirmation, Self::QuotaContinue]
            .into_iter()
            .find(|purpose| {
                let identifier = text.strip_prefix(purpose.prefix());
                identifier.is_some_and(is_token_identifier)
            })
    }
}

/// AQL-2.2-1: 1 to 64 characters that a URL carries as they are.
fn is_token_identifier(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// How much harm an operation can do (AQL-5.1-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DangerLevel {
    /// None: level 0.
    Safe,
    /// None that cannot be undone: level 1.
    Reversible,
    /// Something is lost: level 2.
    Destructive,
    /// Much is lost, or more than meets the eye: level 3.
    Dangerous,
    /// Not to be done but in an emergency: level 4.
    Forbidden,
}

impl DangerLevel {
    /// All of them; the index is the number.
    pub const ALL: [Self; 5] = [
        Self::Safe,
        Self::Reversible,
        Self::Destructive,
        Self::Dangerous,
        Self::Forbidden,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Reversible => "reversible",
            Self::Destructive => "destructive",
            Self::Dangerous => "dangerous",
            Self::Forbidden => "forbidden",
        }
    }
}

/// How much the answer to a token that was not honoured tells.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    /// The code of the check that failed (AQL-4.1-1 to the end of that table).
    #[default]
    Codes,
    /// The same answer whichever check failed (AQL-6.3-2).
    Uniform,
}

/// In which order a token is checked, and so which fault of several is named.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CheckOrder {
    /// As in the table of section 4.1: life first, then scope.
    #[default]
    Table,
    /// As in the sample of section 4.3: scope first, then life.
    Sample,
}

/// What became of a call that did not run its operation, as the client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// It has to be confirmed first (AQL-3.3-1).
    ConfirmationRequired,
    /// There is no such token, or none that is still good (AQL-4.1-1).
    TokenInvalid,
    /// The token's time is over (AQL-4.1-2).
    TokenExpired,
    /// The token was used up (AQL-4.1-3).
    TokenAlreadyUsed,
    /// The token is for something else (AQL-4.1-4, AQL-4.1-5, AQL-4.1-6).
    TokenScopeMismatch,
    /// The parameters cannot be bound to a token (AQL-3.2-3).
    InvalidParams,
    /// Too many in too short a time (AQL-6.5-1).
    RateLimited,
    /// No room for another token (AQL-5.5-3).
    CapacityExceeded,
}

impl ErrorCode {
    /// The same code in words, for the client to read. It names nothing of the call (AQL-6.3-1).
    pub fn message(self) -> &'static str {
        match self {
            Self::ConfirmationRequired => "This operation has to be confirmed.",
            Self::TokenInvalid => "The confirmation token is not valid.",
            Self::TokenExpired => "The confirmation token has expired.",
            Self::TokenAlreadyUsed => "The confirmation token was used already.",
            Self::TokenScopeMismatch => "The confirmation token is for something else.",
            Self::InvalidParams => "No token can be bound to these parameters.",
            Self::RateLimited => "Too many requests. Try again later.",
            Self::CapacityExceeded => "Too many confirmations are open. Try again later.",
        }
    }
}

/// What is logged of a token (AQL-6.4-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TokenEvent {
    /// It was handed out.
    TokenIssued,
    /// It was presented, found good and redeemed in one.
    TokenValidated,
    /// It was presented and not honoured.
    TokenRejected,
    /// It was taken back.
    TokenRevoked,
}

/// Why a token ended before its time (AQL-5.3-2, AQL-5.3-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Revoker {
    /// Its holder asked for that.
    Introspection,
    /// Its session ended (AQL-5.4-2).
    SessionEnd,
    /// The user logged out.
    Logout,
    /// The adapter works differently from now on.
    Configuration,
    /// Something is wrong.
    Security,
}
