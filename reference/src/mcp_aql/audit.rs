//! The operator's log: an entry for everything that is done with a token (AQL-6.4-1), and for a call that got none.
//!
//! The one thing to know: an entry never holds a parameter or a token. It names the token by its [`TokenId`], and the
//! reason of a failure by one word of [`FailureReason`], also where the client is told less.

use serde::Serialize;

use super::vocabulary::{AdapterName, ErrorCode, OperationName, SessionId, TokenEvent, TokenId};
use crate::clause::ClauseId;
use crate::time::Timestamp;

/// One line of the operator's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Audit {
    /// Something was done with a token.
    Token(AuditEntry),
    /// The operator has chosen something risky.
    Warning(Warning),
}

/// Something was done with a token (AQL-6.4-1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditEntry {
    /// When, on the gatekeeper's clock.
    pub timestamp: Timestamp,
    /// What.
    pub event: TokenEvent,
    /// With which token. Absent where no token came into being, so that nothing was done with one, and where the entry stands for
    /// all signed tokens that are not known one by one. An empty text would pass for a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<TokenId>,
    /// The operation called or, for a token that is taken back, the one that it was for: `introspect` for one of which that
    /// is not known, `*` for all.
    pub operation: OperationName,
    /// The adapter called or, for a token that is taken back, the one that it was for: the adapter asked where that is not
    /// known, `*` for all.
    pub adapter_name: AdapterName,
    /// Whether it was done.
    pub outcome: AuditOutcome,
    /// Why it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<FailureReason>,
    /// For whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_context: Option<ClientContext>,
}

/// Whether something was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOutcome {
    /// It was.
    Success,
    /// It was not.
    Failure,
}

/// For whom something was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClientContext {
    /// The session.
    pub session_id: SessionId,
}

/// Why something was not done, as the operator is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// What was presented does not have the form of a token.
    Malformed,
    /// There is no such token, or it is forgotten.
    Unknown,
    /// It was taken back.
    Revoked,
    /// Its time is over.
    Expired,
    /// All its uses are used.
    AlreadyUsed,
    /// It is for the other purpose.
    OtherPurpose,
    /// It is for another operation.
    OtherOperation,
    /// It is for other parameters.
    OtherParameters,
    /// It is for another adapter.
    OtherAdapter,
    /// It is for another call, in its operation, parameters or adapter: a signed token does not say in which.
    OtherScope,
    /// The operation was rated lower when it was confirmed.
    OtherRating,
    /// It is for another session.
    OtherSession,
    /// The parameters cannot be bound to a token.
    InvalidParams,
    /// Too many in too short a time.
    RateLimited,
    /// No room for another token.
    CapacityExceeded,
}

/// The operator has chosen something risky. What was chosen holds all the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// When, on the gatekeeper's clock.
    pub timestamp: Timestamp,
    /// Always `warning`.
    pub kind: WarningKind,
    /// The clause that wants the warning.
    pub clause: ClauseId,
    /// The adapter concerned.
    pub adapter_name: AdapterName,
    /// The warning in words.
    pub text: String,
}

/// What a warning says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// A warning.
    Warning,
}

impl FailureReason {
    /// The code that the client is told, where codes are told.
    pub fn code(self) -> ErrorCode {
        match self {
            // AQL-4.1-1, and AQL-5.3-1: what was taken back is as if it had never been.
            Self::Malformed | Self::Unknown | Self::Revoked => ErrorCode::TokenInvalid,
            // AQL-4.1-2
            Self::Expired => ErrorCode::TokenExpired,
            // AQL-4.1-3
            Self::AlreadyUsed => ErrorCode::TokenAlreadyUsed,
            // AQL-4.1-4, AQL-4.1-5, AQL-4.1-6, AQL-6.1-2: and the purpose and the rating alike.
            Self::OtherPurpose
            | Self::OtherOperation
            | Self::OtherParameters
            | Self::OtherAdapter
            | Self::OtherScope
            | Self::OtherRating
            | Self::OtherSession => ErrorCode::TokenScopeMismatch,
            Self::InvalidParams => ErrorCode::InvalidParams,
            Self::RateLimited => ErrorCode::RateLimited,
            Self::CapacityExceeded => ErrorCode::CapacityExceeded,
        }
    }

    /// The clause that has it fail.
    pub fn clause(self) -> ClauseId {
        ClauseId(match self {
            Self::Malformed => "AQL-2.2-1",
            Self::Unknown => "AQL-4.1-1",
            Self::Revoked => "AQL-5.3-1",
            Self::Expired => "AQL-4.1-2",
            Self::AlreadyUsed => "AQL-4.1-3",
            Self::OtherPurpose => "AQL-2.1-1",
            Self::OtherOperation => "AQL-4.1-4",
            Self::OtherParameters => "AQL-4.1-5",
            Self::OtherAdapter => "AQL-4.1-6",
            Self::OtherScope => "AQL-3.2-1",
            Self::OtherRating => "AQL-5.1-1",
            Self::OtherSession => "AQL-6.1-2",
            Self::InvalidParams => "AQL-3.2-3",
            Self::RateLimited => "AQL-6.5-1",
            Self::CapacityExceeded => "AQL-5.5-3",
        })
    }
}
