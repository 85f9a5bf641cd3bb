//! What the client is told: the shapes of sections 3.3 and 4.2.
//!
//! The one thing to know: a response can only be made from what the client knows already, the state of its token, and
//! what the host says of the operation. No parameter gets into it (AQL-6.3-1, AQL-6.3-3).

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::rate::TooMany;
use super::vocabulary::{ConfirmationToken, DangerLevel, ErrorCode, OperationName};
use crate::time::Timestamp;

/// The answer to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The operation was not run, or the token not revoked: `success` is false.
    Failed(Failure),
    /// The token cannot be used from now on, if it could before.
    Revoked,
    /// What has become of a token (AQL-7.3-1).
    Status(TokenStatus),
}

/// Why not: the `error` of a response (AQL-4.2-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// In one word.
    pub code: ErrorCode,
    /// In a sentence.
    pub message: &'static str,
    /// In figures.
    pub details: Details,
}

/// What goes with a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// What to confirm, and with what.
    ConfirmationRequired(Box<ConfirmationRequired>),
    /// A token that has expired, and since when.
    Expired {
        /// The token, echoed.
        token: ConfirmationToken,
        /// When it expired.
        expired_at: Timestamp,
        /// The gatekeeper's clock.
        current_time: Timestamp,
    },
    /// A token that was not honoured.
    Token {
        /// The token, echoed.
        token: ConfirmationToken,
    },
    /// When to come again.
    RetryAfter {
        /// In how many seconds.
        retry_after_seconds: i64,
    },
    /// What is wrong with the parameters. Names a place in what was sent, not what stands there.
    Problem {
        /// In words.
        problem: String,
    },
    /// Nothing.
    Nothing {},
}

/// What to confirm, and with what (AQL-3.3-1, AQL-6.3-4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConfirmationRequired {
    /// The operation called.
    pub operation: OperationName,
    /// How much harm it can do.
    pub danger_level: DangerLevel,
    /// Why it has to be confirmed.
    pub reasons: Vec<String>,
    /// What the user is asked.
    pub confirmation_message: String,
    /// What to send along with the same call once the user has agreed.
    pub confirmation_token: ConfirmationToken,
    /// Until when.
    pub expires_at: Timestamp,
}

/// What has become of a token. Nothing of what it is bound to (AQL-6.3-1, AQL-6.3-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TokenStatus {
    /// In one word.
    pub status: Status,
    /// How often it can still be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uses_left: Option<u32>,
    /// When it expires, or has expired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// What has become of a token, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It can be used.
    Live,
    /// It was used as often as it can be.
    Consumed,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
    /// There is no such token, or nothing is told of it.
    Unknown,
}

impl From<TooMany> for Details {
    fn from(too_many: TooMany) -> Self {
        Self::RetryAfter {
            retry_after_seconds: too_many.retry_after_seconds,
        }
    }
}

impl TokenStatus {
    /// Nothing is known, or told.
    pub const UNKNOWN: Self = Self {
        status: Status::Unknown,
        uses_left: None,
        expires_at: None,
    };
}

impl Response {
    /// A failure with its own message.
    pub(super) fn failed(code: ErrorCode, details: Details) -> Self {
        Self::Failed(Failure {
            code,
            message: code.message(),
            details,
        })
    }

    /// The code of a failure.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Failed(failure) => Some(failure.code),
            Self::Revoked | Self::Status(_) => None,
        }
    }
}

impl ConfirmationRequired {
    /// Says what the host has not said itself. In the words of the level: the gatekeeper knows no more of the
    /// operation, and must not show its parameters.
    pub(super) fn default_reason(danger_level: DangerLevel) -> &'static str {
        match danger_level {
            DangerLevel::Safe => "The operation is safe, but a quota is reached.",
            DangerLevel::Reversible => "The operation can be undone, but a quota is reached.",
            DangerLevel::Destructive => "The operation destroys something.",
            DangerLevel::Dangerous => "The operation is dangerous.",
            DangerLevel::Forbidden => "The operation is forbidden but for emergencies.",
        }
    }
}

/// `{"success": false, "error": {…}}` or `{"success": true, "data": {…}}`.
impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        /// The answer to a revocation.
        #[derive(Serialize)]
        struct Revoked {
            revoked: bool,
        }
        let mut map = serializer.serialize_map(Some(2))?;
        match self {
            Self::Failed(failure) => {
                map.serialize_entry("success", &false)?;
                map.serialize_entry("error", failure)?;
            }
            Self::Revoked => {
                map.serialize_entry("success", &true)?;
                map.serialize_entry("data", &Revoked { revoked: true })?;
            }
            Self::Status(status) => {
                map.serialize_entry("success", &true)?;
                map.serialize_entry("data", status)?;
            }
        }
        map.end()
    }
}
