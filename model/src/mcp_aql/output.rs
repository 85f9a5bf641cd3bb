//! What may come out of a step.

use super::rules::{Check, Code, Refusal};
use super::words::{Slot, Which};

/// What a query for a token's status is told. Never its parameters (AQL-6.3-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It can be used so many times more; the time of expiry comes with it.
    Live {
        /// How often.
        uses_left: u8,
    },
    /// All its uses are spent.
    Consumed,
    /// It has expired.
    Expired,
    /// It was revoked.
    Revoked,
    /// There is no such token, or, in the mode without oracle, none that is live.
    Unknown,
}

/// One thing that the gatekeeper puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// Audit `TOKEN_ISSUED`, success.
    Issued(Slot),
    /// Audit `TOKEN_VALIDATED`, success.
    Validated(Slot),
    /// Audit `TOKEN_REJECTED`, failure, with the check as `failure_reason`.
    Rejected(Check),
    /// Audit `TOKEN_REVOKED`, success.
    Revoked(Slot),
    /// Audit `TOKEN_REVOKED`, failure: there is nothing to revoke.
    NotRevoked,
    /// Audit of a tolerance above 60 seconds, one for each adapter that is configured with it (AQL-5.1-6).
    Warned(Which),
    /// The operation of a call that this token admits is to be performed now.
    Perform(Slot),
    /// The operation of a call without a token, or whose token is not looked at, is to be performed now.
    PerformUngated,
    /// Response `CONFIRMATION_REQUIRED` with this token.
    ConfirmationRequired(Slot),
    /// Response to a call or a revocation that failed.
    Fail(Code),
    /// Response `RATE_LIMITED`: nothing was looked at.
    Limited,
    /// Response `CAPACITY_EXCEEDED`: there is no room for another token.
    Full,
    /// Response to a revocation that succeeded, or that found nothing left to revoke.
    AnswerRevocation,
    /// Response to a query for a token's status.
    AnswerStatus(Status),
    /// A response that holds parameter values. Never allowed (AQL-6.3-1).
    Expose,
    /// The caller erred; nothing was changed and no token was issued.
    Refused(Refusal),
}

impl crate::outputs::Output for Output {
    const BLANK: Self = Self::Expose;
}

/// The outputs of one step, in order; room for more than any step of any ablation puts out.
pub type Outputs = crate::outputs::Outputs<Output, 6>;
