//! What a host chooses once: the readings of what the text leaves open, and what a crash does to a released call.
//!
//! The one thing to know: settings decide what happens next, never what has happened. The journal says that by itself,
//! so a host may restart with other settings.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What a host chooses once. The defaults ask most and run least.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether a call that only reads waits as well.
    pub read_effect: ReadEffect,
    /// Whether an action is still good at the very instant of its expiry.
    pub expiry_boundary: ExpiryBoundary,
    /// When a question closes where its proposal does not say.
    pub expiry_absent: ExpiryAbsent,
    /// Who decides where a proposal does not say.
    pub deciders_absent: DecidersAbsent,
    /// What becomes of a call that was released before a crash and is not recorded as finished.
    pub delivery: Delivery,
}

/// Whether a call that only reads waits for a decision (PA-13).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ReadEffect {
    /// It does, like every other: what is proposed pends, and what to propose is the loop's policy (PA-14).
    #[default]
    Pends,
    /// It does not: it is recorded and released at once, and nobody is asked.
    Runs,
}

/// Whether an action is still good at `expires_at` itself (PA-7).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ExpiryBoundary {
    /// It is not: expired from then on.
    #[default]
    At,
    /// It is: expired from the millisecond after.
    After,
}

/// When a question closes where its proposal does not say (PA-1, PA-7). The record says what came of it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExpiryAbsent {
    /// Never: the text names an expiry and asks for none. The record says `null`.
    #[default]
    Never,
    /// So long after it was asked.
    After {
        /// In seconds.
        seconds: NonZeroU32,
    },
}

/// Who may decide where a proposal names nobody (PA-2).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum DecidersAbsent {
    /// Anyone whom the host has identified, but the agent that proposed.
    #[default]
    Anyone,
    /// Nobody: the action can only expire or be cancelled.
    Nobody,
}

/// What a restart does with a call that was released and is not recorded as finished (PA-8).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// It is reported as in doubt and never released again.
    #[default]
    AtMostOnce,
    /// It is released again where its proposal says that twice does what once does, and its session goes on. Else as
    /// above.
    AtLeastOnce,
}

impl ExpiryAbsent {
    /// When what is asked at `now` expires, where its proposal does not say.
    pub(super) fn expires_at(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Never => None,
            // What the calendar cannot hold is its end.
            Self::After { seconds } => Some(
                now.checked_plus_seconds(seconds.get())
                    .unwrap_or(Timestamp::MAX),
            ),
        }
    }
}

impl ExpiryBoundary {
    /// Whether what expires then has expired at `now` (PA-7).
    pub(super) fn is_past(self, expires_at: Timestamp, now: Timestamp) -> bool {
        match self {
            Self::At => expires_at <= now,
            Self::After => expires_at < now,
        }
    }

    /// The first instant at which it has.
    pub(super) fn first_past(self, expires_at: Timestamp) -> Timestamp {
        match self {
            Self::At => expires_at,
            Self::After => Timestamp::from_millis(expires_at.millis() + 1),
        }
    }
}
