//! What a host chooses, and the bounds that the text sets to the choice.
//!
//! The one thing to know: a value outside of its bounds cannot be made, so no check of it comes later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::rate::RateLimit;
use super::vocabulary::{AdapterName, CheckOrder, OperationName, Oracle};
use crate::time::Timestamp;

/// What a host chooses once, for all adapters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The adapter of a call that names none. Introspection counts as its business.
    pub adapter: AdapterName,
    /// In which order tokens are checked.
    pub check_order: CheckOrder,
    /// Which tokens are bound to the session that they are issued in, where the call does not say.
    pub session_binding: SessionBinding,
    /// Whether a session that has ended can come back.
    pub ended_session: EndedSession,
    /// Whether a restart ends the sessions.
    pub restarted_session: RestartedSession,
    /// What a restart leaves of the tokens.
    pub persistence: Persistence,
    /// How many tokens of one adapter there can be at a time.
    pub capacity: Capacity,
    /// How long a token is remembered after it has expired.
    pub retention: Retention,
    /// How much is let through of what an attacker might repeat.
    pub rate_limits: RateLimits,
    /// How every adapter works until it is configured.
    pub configuration: Arc<Configuration>,
}

/// How an adapter works.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Configuration {
    /// How long after its expiry a token is still taken.
    #[serde(rename = "clock_skew_tolerance_seconds")]
    pub tolerance: Tolerance,
    /// How much a failed check tells.
    pub oracle: Oracle,
    /// The names of the parameters that a token is bound to, by operation. A call of an operation without a list, and one that
    /// has none of the parameters of its list, is bound in full (AQL-3.2-1, AQL-3.2-4).
    pub critical: BTreeMap<OperationName, BTreeSet<String>>,
}

/// Which tokens are bound to the session that they are issued in, where the call does not say (AQL-5.4-1, AQL-6.1-2).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SessionBinding {
    /// Those that can be used more than once. Section 5.4 makes others session tokens only where one asks for it, so that they
    /// are good in every session and outlive their own.
    #[default]
    ManyUses,
    /// All of them.
    Every,
}

/// Whether a session that has ended can come back (AQL-5.4-2).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EndedSession {
    /// It cannot: a name stands for one connection, and whoever wants a token for one that has ended is refused. The names
    /// are remembered for as long as the tokens are stored.
    #[default]
    StaysEnded,
    /// It can: the name stands for another connection then. No token of the one before is good in it.
    ComesBack,
}

/// What a restart does to the sessions: their connections were those of the process (AQL-5.4-2).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum RestartedSession {
    /// It ends them. A session of the same name is another connection, and may begin at once.
    #[default]
    Ends,
    /// They go on: somebody else holds the connections, and says when one ends.
    GoesOn,
}

/// What a restart leaves of the tokens.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Persistence {
    /// All of them: the host stores the gatekeeper after each call.
    #[default]
    Persistent,
    /// None: the least that AQL-5.5-1 asks for.
    InMemory,
}

/// How much is let through, for each adapter (AQL-6.5-1). Where nothing is said, everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// Tokens that are issued.
    pub issuance: Option<RateLimit>,
    /// Tokens that are presented and not honoured.
    pub failed_validation: Option<RateLimit>,
    /// Requests to revoke a token.
    pub revocation: Option<RateLimit>,
}

/// How long after its expiry a token is still taken: 0 to 300 s, 30 s where nothing is said, 0 not at all
/// (AQL-5.1-4, AQL-5.1-5, AQL-5.1-9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Tolerance(u32);

/// How many tokens of one adapter there can be at a time that can be used: 1,000 or more, 1,000,000 where nothing is said
/// (AQL-5.5-3). As many are remembered besides that were used or taken back; of more, those that were used, and of those the ones that would expire last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
pub struct Capacity(usize);

/// How long a token is remembered when it cannot be valid any more, so that its holder learns that it has expired
/// and not that it never was: 0 to 3000 s, 900 s where nothing is said.
///
/// With the longest tolerance that leaves five minutes of the hour to forget it in (AQL-5.5-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Retention(u32);

/// The value is outside of the bounds that the text sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {expected}")]
pub struct OutOfBounds {
    /// The bounds in words.
    pub expected: &'static str,
}

impl Tolerance {
    /// Above this many seconds the operator is warned (AQL-5.1-6).
    const WARNING_ABOVE: u32 = 60;

    /// A tolerance of that many seconds.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] above 300.
    pub fn from_seconds(seconds: u64) -> Result<Self, OutOfBounds> {
        let bounded = at_most(seconds, 300, "0 to 300 seconds");
        bounded.map(Self)
    }

    /// The number of seconds.
    pub fn seconds(self) -> u32 {
        self.0
    }

    /// Whether it leaves so much time for a replay that the operator is warned (AQL-5.1-6).
    pub fn deserves_a_warning(self) -> bool {
        self.0 > Self::WARNING_ABOVE
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self(30)
    }
}

impl Capacity {
    /// What the text has for the least (AQL-5.5-3).
    const LEAST: usize = 1_000;

    /// Room for that many tokens of each adapter.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] below 1,000.
    pub fn new(tokens: usize) -> Result<Self, OutOfBounds> {
        let capacity = Self(tokens);
        if !capacity.conforms() {
            return Err(OutOfBounds {
                expected: "1000 tokens or more",
            });
        }
        Ok(capacity)
    }

    /// The same, of however few: what is searched exhaustively is full long before a thousand. Nobody is to be served with it.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] for none.
    pub fn of_few(tokens: usize) -> Result<Self, OutOfBounds> {
        if tokens == 0 {
            return Err(OutOfBounds {
                expected: "1 token or more",
            });
        }
        Ok(Self(tokens))
    }

    /// Whether it is as much as the text asks for (AQL-5.5-3).
    pub fn conforms(self) -> bool {
        self.0 >= Self::LEAST
    }

    /// How many tokens that have ended are remembered: as many, and a thousand where there is room for fewer.
    pub(super) fn ended(self) -> usize {
        self.0.max(Self::LEAST)
    }

    /// The number of tokens.
    pub fn tokens(self) -> usize {
        self.0
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self(1_000_000)
    }
}

impl Retention {
    /// A retention of that many seconds.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] above 3000.
    pub fn from_seconds(seconds: u64) -> Result<Self, OutOfBounds> {
        at_most(seconds, 3_000, "0 to 3000 seconds").map(Self)
    }

    /// The number of seconds.
    pub fn seconds(self) -> u32 {
        self.0
    }

    /// AQL-5.5-2: a token that was not taken any more before this time is not remembered at `now`.
    pub(super) fn beginning(self, now: Timestamp) -> Timestamp {
        Timestamp::from_millis(now.millis() - i64::from(self.0) * 1_000)
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self(900)
    }
}

fn at_most(seconds: u64, most: u32, expected: &'static str) -> Result<u32, OutOfBounds> {
    match u32::try_from(seconds) {
        Ok(seconds) if seconds <= most => Ok(seconds),
        Ok(_) | Err(_) => Err(OutOfBounds { expected }),
    }
}

impl TryFrom<u64> for Tolerance {
    type Error = OutOfBounds;

    fn try_from(seconds: u64) -> Result<Self, OutOfBounds> {
        Self::from_seconds(seconds)
    }
}

impl From<Tolerance> for u64 {
    fn from(tolerance: Tolerance) -> Self {
        tolerance.0.into()
    }
}

impl TryFrom<usize> for Capacity {
    type Error = OutOfBounds;

    fn try_from(tokens: usize) -> Result<Self, OutOfBounds> {
        Self::of_few(tokens)
    }
}

impl From<Capacity> for usize {
    fn from(capacity: Capacity) -> Self {
        capacity.0
    }
}

impl TryFrom<u64> for Retention {
    type Error = OutOfBounds;

    fn try_from(seconds: u64) -> Result<Self, OutOfBounds> {
        Self::from_seconds(seconds)
    }
}

impl From<Retention> for u64 {
    fn from(retention: Retention) -> Self {
        retention.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AQL-5.1-5: 0 to 300 s, both included, and 30 s by default. 0 stays 0.
    #[test]
    fn tolerance_has_its_bounds() {
        for (seconds, accepted) in [
            (0, true),
            (1, true),
            (299, true),
            (300, true),
            (301, false),
            (u64::MAX, false),
        ] {
            let tolerance = Tolerance::from_seconds(seconds);
            assert_eq!(tolerance.is_ok(), accepted, "{seconds}");
            if let Ok(tolerance) = tolerance {
                assert_eq!(u64::from(tolerance), seconds);
            }
        }
        assert_eq!(Tolerance::default().seconds(), 30);
    }

    /// AQL-5.1-6: above 60 s.
    #[test]
    fn a_long_tolerance_deserves_a_warning() {
        for (seconds, warns) in [
            (0, false),
            (59, false),
            (60, false),
            (61, true),
            (300, true),
        ] {
            assert_eq!(Tolerance(seconds).deserves_a_warning(), warns, "{seconds}");
        }
    }

    /// AQL-5.5-3: room for 1,000 tokens at least.
    #[test]
    fn capacity_has_a_lower_bound() {
        for (tokens, accepted) in [(0, false), (999, false), (1_000, true), (1_001, true)] {
            assert_eq!(Capacity::new(tokens).is_ok(), accepted, "{tokens}");
            let few = Capacity::of_few(tokens);
            assert_eq!(few.is_ok(), tokens > 0);
            assert!(few.is_ok_and(Capacity::conforms) == accepted, "{tokens}");
            // AQL-6.1-1: what has ended is not forgotten sooner where there is room for few.
            assert!(few.is_ok_and(|few| few.ended() == tokens.max(1_000)) == (tokens > 0));
        }
        assert_eq!(Capacity::default().tokens(), 1_000_000);
    }

    /// AQL-5.5-2: the hour is kept with the longest tolerance.
    #[test]
    fn retention_has_an_upper_bound() {
        for (seconds, accepted) in [(0, true), (2_999, true), (3_000, true), (3_001, false)] {
            assert_eq!(Retention::from_seconds(seconds).is_ok(), accepted);
        }
    }
}
