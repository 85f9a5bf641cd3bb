//! More time that a question may have been given (AAEP-6.4.2-3).
//!
//! The wire has no event for it. What shows is a `progress.updated` while the question is open whose `eta_ms` leads beyond
//! the deadline; but that may as well be about other work. So from then on there are two deadlines, and whatever one of
//! them excuses accuses nobody: it is said not to be judged. A message of a foreign type may have given time without end.

use std::fmt;

use crate::action_ids::ActionIds;
use crate::record::{Event, EventKind};
use crate::time::Timestamp;

/// More time that a question may have been given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Extension {
    /// The line of the message that may say so.
    pub line: u64,
    /// Until when, by the producer's clock; `None` where nothing tells.
    pub until: Option<Timestamp>,
}

impl Extension {
    /// Whether it has ended, some seconds of patience included.
    pub fn is_over(self, now: Timestamp, patience: i64) -> bool {
        self.until
            .is_some_and(|until| until.plus_seconds(patience) <= now)
    }

    /// Whether a moment lies before its end.
    pub fn covers(self, moment: Timestamp) -> bool {
        self.until.is_none_or(|until| moment < until)
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, until } = self;
        match until {
            Some(until) => write!(
                formatter,
                "the progress.updated on line {line} may have given it time until {until}"
            ),
            None => write!(
                formatter,
                "the message on line {line} may have given it more time"
            ),
        }
    }
}

/// What a `progress.updated` says of the time that is left, to whichever questions it may be about.
#[derive(Debug)]
pub struct TimeLeft<'a> {
    line: u64,
    producer: &'a str,
    sent: Timestamp,
    ends: Timestamp,
    /// The question that it names.
    token: Option<&'a str>,
}

impl<'a> TimeLeft<'a> {
    /// What an event says, if it is one that does. `is_question` tells a token of the session from another.
    pub fn of(event: &'a Event<'_>, is_question: impl Fn(&str) -> bool) -> Option<Self> {
        let EventKind::Progress { eta: Some(eta) } = event.kind else {
            return None;
        };
        let sent = event.sent?;
        let token = event.ids.token.as_deref();
        Some(Self {
            line: event.place.line,
            producer: event.producer,
            sent,
            ends: sent.plus_milliseconds(eta),
            token: token.filter(|token| is_question(token)),
        })
    }

    /// The extension that it may be of a question with this deadline, and with more time perhaps before. The countdown of
    /// the question itself ends at its deadline, and is none; nor is there one when the time is over.
    pub fn extends(
        &self,
        (producer, ids): (&str, &ActionIds<'_>),
        deadline: Option<Timestamp>,
        before: Option<Extension>,
    ) -> Option<Extension> {
        let deadline = before.and_then(|it| it.until).or(deadline)?;
        let is_meant = producer == self.producer
            && (self.token.is_none() || self.token == ids.token.as_deref());
        let extension = Extension {
            line: self.line,
            until: Some(self.ends),
        };
        (is_meant && self.sent < deadline && deadline < self.ends).then_some(extension)
    }
}

/// Why a reply that was decided behind the deadline of the question on `line` is not said to be late.
pub fn late_reply(
    line: u64,
    deadline: Timestamp,
    (reply, decided): (u64, Timestamp),
    extension: Extension,
) -> String {
    format!(
        "the reply on line {reply} was decided at {decided}, and the timeout of the question on line {line} ended at {deadline}, but {extension}: whether the reply came in time does not show"
    )
}
