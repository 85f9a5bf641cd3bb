//! A token from its issue to its end: what it is bound to, which never changes, and its phase, which does.
//!
//! The one thing to know: a phase has exactly its own data, and every way from one to the next is here. Being expired
//! is no phase: it follows from the clock, and nothing has to happen for it.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::digest::{ParametersHash, TokenDigest};
use super::vocabulary::{
    AdapterName, DangerLevel, OperationName, Purpose, Revoker, SessionId, TokenId,
};
use crate::time::Timestamp;

/// A token that was issued: its payload (AQL-2.3-1), which the client never gets to see or to change (AQL-6.2-1,
/// AQL-7.2-1). It holds the token's digest, not the token.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssuedToken {
    /// What it is found by.
    pub(super) digest: TokenDigest,
    /// What it was issued for.
    pub scope: Scope,
    /// How much harm the operation can do.
    pub danger_level: DangerLevel,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// Until when it is taken all the same: `expires_at` and the tolerance that its adapter had when it was issued.
    /// A later one is of no concern to it, since a change of the configuration revokes it.
    pub valid_until: Timestamp,
    /// How often it can be used in all.
    pub max_uses: NonZeroU32,
    /// Whether it can be used still.
    pub phase: Phase,
}

/// What a token is for, and what it is good for nothing but (AQL-1.2-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The purpose.
    pub purpose: Purpose,
    /// The operation.
    pub operation: OperationName,
    /// The critical parameters.
    pub parameters: ParametersHash,
    /// The adapter.
    pub adapter: AdapterName,
    /// The session, if the token is good in no other (AQL-5.4-1). Always there where it may be used more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Whether a token can be used still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It can, so many times, as long as it has not expired.
    Live {
        /// How many times.
        uses_left: NonZeroU32,
    },
    /// It was used as often as it can be.
    Consumed,
    /// It was taken back.
    Revoked {
        /// By whom.
        by: Revoker,
    },
}

/// There is no such way from that phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("illegal transition")]
pub(super) struct IllegalTransition;

/// The order of issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct TokenNumber(pub(super) u64);

impl IssuedToken {
    /// What it is called in logs.
    pub fn id(&self) -> TokenId {
        self.digest.id()
    }

    /// AQL-5.1-7: expired only when the time is after the expiry and the tolerance.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        now > self.valid_until
    }

    /// Whether it can be used at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        match self.phase {
            Phase::Live { .. } => !self.has_expired(now),
            Phase::Consumed | Phase::Revoked { .. } => false,
        }
    }
}

impl Phase {
    /// One use of it, and a token of one use is gone (AQL-1.2-1, AQL-5.2-1, AQL-5.4-4).
    pub(super) fn use_once(self) -> Result<Self, IllegalTransition> {
        match self {
            Self::Live { uses_left } => Ok(match NonZeroU32::new(uses_left.get() - 1) {
                Some(uses_left) => Self::Live { uses_left },
                None => Self::Consumed,
            }),
            // AQL-6.1-1: never again.
            Self::Consumed | Self::Revoked { .. } => Err(IllegalTransition),
        }
    }

    /// It is taken back (AQL-5.3-1).
    pub(super) fn revoke(self, by: Revoker) -> Result<Self, IllegalTransition> {
        match self {
            Self::Live { .. } => Ok(Self::Revoked { by }),
            Self::Consumed | Self::Revoked { .. } => Err(IllegalTransition),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(uses: u32) -> Phase {
        Phase::Live {
            uses_left: NonZeroU32::new(uses).expect("not zero"),
        }
    }

    const REVOKED: Phase = Phase::Revoked {
        by: Revoker::Security,
    };

    /// AQL-5.2-1, AQL-5.3-1, AQL-6.1-1: the whole table, every phase and everything that can be tried in it.
    #[test]
    fn every_phase_allows_only_its_own_transitions() {
        for (phase, used, revoked) in [
            (live(1), Some(Phase::Consumed), Some(REVOKED)),
            (live(2), Some(live(1)), Some(REVOKED)),
            (live(u32::MAX), Some(live(u32::MAX - 1)), Some(REVOKED)),
            (Phase::Consumed, None, None),
            (REVOKED, None, None),
        ] {
            assert_eq!(phase.use_once().ok(), used, "{phase:?}");
            assert_eq!(phase.revoke(Revoker::Security).ok(), revoked, "{phase:?}");
        }
    }
}
