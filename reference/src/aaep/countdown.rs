//! The countdown of a long question: when its time left is told, and in which words.
//!
//! The one thing to know: nothing is remembered of what was told. A moment of the countdown is told by the first call at or after
//! it, and the producer knows the time of the call before.

use super::event::{Payload, Progress};
use super::question::Asked;
use crate::time::{Deadline, Timestamp};

/// Up to this timeout, in seconds, no time left is told (AAEP-6.4.3-1).
const SHORT_SECONDS: u32 = 60;

/// How many thousandths of the timeout are over when the time left is told: 50% and 10% of it remain (AAEP-6.4.3-4). A second
/// has as many milliseconds.
const MOMENTS: [u32; 2] = [500, 900];

impl Asked {
    /// When the time left is to be told.
    pub(super) fn countdown(&self) -> impl Iterator<Item = Deadline> + use<> {
        let (at, seconds) = (self.at.millis(), self.timeout.seconds());
        let moments = if seconds > SHORT_SECONDS {
            &MOMENTS[..]
        } else {
            &[]
        };
        moments
            .iter()
            .map(move |thousandths| Deadline::from_millis(at + i64::from(seconds * thousandths)))
    }

    /// The last of these moments by `now`, if there is one and the question still waits then.
    pub(super) fn last_moment(&self, now: Timestamp) -> Option<Deadline> {
        let now = now.into();
        let passed = self.countdown().filter(|&moment| moment <= now);
        passed.last().filter(|_| now < self.deadline())
    }

    /// The event that tells the time left at `now`.
    pub(super) fn time_left(&self, now: Timestamp) -> Payload {
        self.progress(now, "Time left to answer")
    }

    /// The event that tells that there is more time (AAEP-6.4.2-3).
    pub(super) fn extended(&self, now: Timestamp) -> Payload {
        self.progress(now, "There is more time to answer now")
    }

    fn progress(&self, now: Timestamp, words: &str) -> Payload {
        let eta_ms = self.deadline().millis().abs_diff(now.millis());
        let seconds = eta_ms.div_ceil(1_000);
        let unit = if seconds == 1 { "second" } else { "seconds" };
        Payload::ProgressUpdated {
            progress: Progress {
                description: format!("{words}: {seconds} {unit}."),
            },
            eta_ms,
        }
    }
}
