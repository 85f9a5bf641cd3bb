//! The gatekeeper as it was written down, before it is believed.
//!
//! The one thing to know: a document that no gatekeeper can have written is not read. Nobody may give a token a longer
//! life, or more uses, than it could have been issued with, by way of the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Deserialize;

use super::interface::Refusal;
use super::limits::time_to_live;
use super::rate::Buckets;
use super::settings::{Configuration, OutOfBounds, Settings, Tolerance};
use super::signed::Signer;
use super::token::{IssuedToken, Phase};
use super::tokens::Tokens;
use super::vocabulary::{AdapterName, SessionId};
use crate::time::Timestamp;

/// The fields of a [`super::Gatekeeper`] as read from a document.
#[derive(Deserialize)]
pub(super) struct Stored {
    pub(super) settings: Arc<Settings>,
    pub(super) now: Timestamp,
    pub(super) adapters: BTreeMap<AdapterName, Arc<Configuration>>,
    pub(super) tokens: Tokens,
    #[serde(default)]
    pub(super) ended_sessions: BTreeSet<SessionId>,
    #[serde(default)]
    pub(super) signer: Option<Signer>,
    pub(super) buckets: Buckets,
}

/// The parts of the document contradict each other, so no gatekeeper can have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Contradiction {
    #[error("a token was issued later than now, or a limit used")]
    Later,
    #[error("a token's life is not a whole number of seconds")]
    LifeOdd,
    #[error("a token's life must not have been: {0}")]
    Life(#[from] Refusal),
    #[error("a token's tolerance {0}")]
    Tolerance(#[from] OutOfBounds),
    #[error("a token has more uses left than it had")]
    UsesGained,
    #[error("a token has more than one use and is bound to no session")]
    SessionWrong,
}

impl Stored {
    /// Checks each part against the others.
    pub(super) fn check(&self) -> Result<(), Contradiction> {
        if self.buckets.is_ahead_of(self.now) {
            return Err(Contradiction::Later);
        }
        self.tokens
            .all()
            .try_for_each(|token| self.check_token(token))
    }

    fn check_token(&self, token: &IssuedToken) -> Result<(), Contradiction> {
        if token.issued_at > self.now {
            return Err(Contradiction::Later);
        }
        // AQL-5.1-1, AQL-5.1-2
        let life = seconds_between(token.issued_at, token.expires_at)?;
        time_to_live(token.scope.purpose, token.danger_level, Some(life))?;
        // AQL-5.1-5
        Tolerance::from_seconds(seconds_between(token.expires_at, token.valid_until)?)?;
        // AQL-6.1-1
        match token.phase {
            Phase::Live { uses_left } if uses_left > token.max_uses => {
                return Err(Contradiction::UsesGained);
            }
            Phase::Live { .. } | Phase::Consumed | Phase::Revoked { .. } => {}
        }
        // AQL-5.4-1
        if token.scope.session_id.is_none() && token.max_uses.get() > 1 {
            return Err(Contradiction::SessionWrong);
        }
        Ok(())
    }
}

fn seconds_between(earlier: Timestamp, later: Timestamp) -> Result<u64, Contradiction> {
    let millis = u64::try_from(later.millis() - earlier.millis());
    match millis {
        Ok(millis) if millis % 1_000 == 0 => Ok(millis / 1_000),
        Ok(_) | Err(_) => Err(Contradiction::LifeOdd),
    }
}
