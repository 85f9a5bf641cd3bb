//! Rate limits: a bucket that fills slowly and is emptied by what must not happen too often (AQL-6.5-1).
//!
//! The one thing to know: it counts in whole tokens of the bucket and whole milliseconds, so that the same calls at
//! the same times always give the same answers.
//!
//! It is written by hand because the crates for this read a clock of their own, or keep their state where it can be
//! neither serialised nor compared, and an executor is a plain value.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::settings::{OutOfBounds, RateLimits};
use super::vocabulary::AdapterName;
use crate::time::Timestamp;

/// So many at once, and then one more each time that the interval has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct RateLimit {
    burst: u32,
    interval_millis: u32,
}

/// A rate limit as it stands in a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    burst: u32,
    interval_millis: u32,
}

/// How much of a limit is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Bucket {
    left: u32,
    /// What had come in by then is in `left`.
    filled_at: Timestamp,
}

/// What is limited, for each adapter by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Limited {
    Issuance,
    FailedValidation,
    Revocation,
}

/// Too many. Something is let through again in so many seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany {
    pub(super) retry_after_seconds: i64,
}

/// How much is left of every limit. A bucket that is not there is full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(BTreeMap<AdapterName, BTreeMap<Limited, Bucket>>);

impl Buckets {
    /// Whether one more is let through at `now`. Takes nothing.
    pub(super) fn check(
        &self,
        limits: RateLimits,
        adapter: &AdapterName,
        limited: Limited,
        now: Timestamp,
    ) -> Result<(), TooMany> {
        let bucket = self
            .0
            .get(adapter)
            .and_then(|buckets| buckets.get(&limited));
        match (limits.of(limited), bucket) {
            (None, _) | (Some(_), None) => Ok(()),
            (Some(limit), Some(bucket)) => bucket.filled(now, limit).check(now, limit),
        }
    }

    /// How many more are let through at `now`; nothing where there is no limit.
    pub(super) fn left(
        &self,
        limits: RateLimits,
        adapter: &AdapterName,
        limited: Limited,
        now: Timestamp,
    ) -> Option<u32> {
        let limit = limits.of(limited)?;
        let bucket = self.0.get(adapter).and_then(|it| it.get(&limited));
        let left = bucket.map(|bucket| bucket.filled(now, limit).left);
        Some(left.unwrap_or(limit.burst))
    }

    /// One was let through at `now`.
    pub(super) fn take(
        &mut self,
        limits: RateLimits,
        adapter: &AdapterName,
        limited: Limited,
        now: Timestamp,
    ) {
        if let Some(limit) = limits.of(limited) {
            let buckets = self.0.entry(adapter.clone()).or_default();
            let bucket = buckets.entry(limited).or_insert(Bucket::full(now, limit));
            *bucket = bucket.filled(now, limit).taken();
        }
    }

    /// Whether any was filled later than `now`, which cannot be.
    pub(super) fn is_ahead_of(&self, now: Timestamp) -> bool {
        let mut buckets = self.0.values().flat_map(BTreeMap::values);
        buckets.any(|bucket| bucket.filled_at > now)
    }
}

impl RateLimits {
    fn of(self, limited: Limited) -> Option<RateLimit> {
        match limited {
            Limited::Issuance => self.issuance,
            Limited::FailedValidation => self.failed_validation,
            Limited::Revocation => self.revocation,
        }
    }
}

impl RateLimit {
    /// `burst` at once, and one more every `interval_millis` milliseconds.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] where either is 0.
    pub fn new(burst: u32, interval_millis: u32) -> Result<Self, OutOfBounds> {
        if burst == 0 || interval_millis == 0 {
            return Err(OutOfBounds {
                expected: "a burst of 1 or more, an interval of 1 ms or more",
            });
        }
        Ok(Self {
            burst,
            interval_millis,
        })
    }

    /// How many at once.
    pub fn burst(self) -> u32 {
        self.burst
    }
}

impl TryFrom<Written> for RateLimit {
    type Error = OutOfBounds;

    fn try_from(written: Written) -> Result<Self, OutOfBounds> {
        Self::new(written.burst, written.interval_millis)
    }
}

impl Bucket {
    /// A full one.
    fn full(now: Timestamp, limit: RateLimit) -> Self {
        Self {
            left: limit.burst,
            filled_at: now,
        }
    }

    /// The bucket with what has come in until `now`.
    fn filled(self, now: Timestamp, limit: RateLimit) -> Self {
        let interval = i64::from(limit.interval_millis);
        let elapsed = now.millis().saturating_sub(self.filled_at.millis()).max(0);
        let gained = u32::try_from(elapsed / interval).unwrap_or(u32::MAX);
        let left = self.left.saturating_add(gained);
        if left >= limit.burst {
            return Self::full(now, limit);
        }
        // The part of an interval that has begun is not lost.
        let counted = i64::from(gained) * interval;
        Self {
            left,
            filled_at: Timestamp::from_millis(self.filled_at.millis() + counted),
        }
    }

    fn check(self, now: Timestamp, limit: RateLimit) -> Result<(), TooMany> {
        if self.left > 0 {
            return Ok(());
        }
        Err(TooMany {
            retry_after_seconds: self.seconds_until_refill(now, limit),
        })
    }

    /// One less, if there is one.
    fn taken(self) -> Self {
        Self {
            left: self.left.saturating_sub(1),
            ..self
        }
    }

    /// In how many whole seconds an empty bucket has something in it again, rounded up.
    fn seconds_until_refill(self, now: Timestamp, limit: RateLimit) -> i64 {
        let refill = self.filled_at.millis() + i64::from(limit.interval_millis);
        let wait = (refill - now.millis()).max(0);
        wait.div_euclid(1_000) + i64::from(wait % 1_000 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    /// AQL-6.5-1: a limit of nothing, or of everything at once, is none.
    #[test]
    fn a_limit_has_lower_bounds() {
        assert!(RateLimit::new(0, 1).is_err());
        assert!(RateLimit::new(1, 0).is_err());
        assert!(RateLimit::new(1, 1).is_ok());
        let written = r#"{"burst": 0, "interval_millis": 1}"#;
        assert!(serde_json::from_str::<RateLimit>(written).is_err());
    }

    /// AQL-6.5-1: one before the interval has passed, at, and one after.
    #[test]
    fn an_empty_bucket_refills_one_each_interval() {
        let limit = RateLimit::new(2, 1_000).expect("in bounds");
        let empty = Bucket::full(at(0), limit).taken().taken();
        assert_eq!(empty.left, 0);
        for (now, left) in [
            (0, 0),
            (999, 0),
            (1_000, 1),
            (1_001, 1),
            (1_999, 1),
            (2_000, 2),
            (9_000, 2),
        ] {
            assert_eq!(empty.filled(at(now), limit).left, left, "at {now}");
        }
        for (now, seconds) in [(0, 1), (1, 1), (999, 1), (1_000, 0)] {
            assert_eq!(empty.seconds_until_refill(at(now), limit), seconds);
        }
    }

    /// AQL-6.5-1: who asks often does not wait longer.
    #[test]
    fn looking_does_not_reset_the_interval() {
        let limit = RateLimit::new(2, 1_000).expect("in bounds");
        let empty = Bucket::full(at(0), limit).taken().taken();
        let looked_at = empty.filled(at(600), limit).filled(at(1_500), limit);
        assert_eq!(looked_at.left, 1);
        assert_eq!(looked_at.taken().filled(at(2_000), limit).left, 1);
    }

    #[test]
    fn the_ends_of_time_do_no_harm() {
        let limit = RateLimit::new(u32::MAX, 1).expect("in bounds");
        let bucket = Bucket::full(Timestamp::MIN, limit).taken();
        assert_eq!(bucket.filled(Timestamp::MAX, limit).left, u32::MAX);
        // Time never goes back, and if it did nothing would be gained.
        assert_eq!(bucket.filled(Timestamp::MIN, limit), bucket);
    }
}
