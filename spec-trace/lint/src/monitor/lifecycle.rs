//! A session starts once, ends once, and everything else lies between.
//!
//! An event behind the end whose number is less than that of the end came before it by its number, and after it by its line. One
//! of the two is wrong (AAEP-EV-4); that it came after the end (AAEP-A.8-3) is told where its number does not speak against that.
//!
//! A producer has one session for an id (AAEP-A.1-3). That producers which know nothing of each other take different ids is asked for
//! nowhere, but several may share a session (AAEP-A.9-1). Where one of which nothing was heard in a session starts it again, that is
//! the second start of one session or the start of another one with its id, and from there on nothing of either is judged.

use super::Notes;
use super::seen::hash;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Event, EventKind, Numbered};
use crate::rules;

/// What is remembered of a session when everything else is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// It has had its first event and no terminal one.
    Active,
    /// It has had its terminal event.
    Ended {
        /// The line of the terminal event.
        line: u64,
        /// Whether a later event was reported already: the fault is the same for all that follow.
        told: bool,
        /// Its number.
        number: Option<i32>,
        /// A hash of who put it out: each producer may count for itself (AAEP-A.9-1). Both are short, for there is one of each
        /// session that is over.
        by: u32,
    },
    /// It may be two: another producer has started one under its id.
    Shared,
}

/// What the other monitors do with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It opens the session: begin with empty monitors.
    Open,
    /// It belongs to the open session.
    Continue,
    /// It lies outside the session; judging it further would accuse one fault twice.
    Ignore,
    /// Of which session it is does not show: neither is judged any more.
    Unknown,
}

impl Lifecycle {
    /// `due` is the number that was due behind the end, as long as anything else counts from there.
    pub(crate) fn remember(&self, due: Option<i64>, memory: &mut Memory) {
        let from_due = |number| due.map(|due| i64::from(number).wrapping_sub(due));
        memory.value(&match self {
            Self::Active => (0, None),
            // The line is for the message.
            Self::Ended {
                line: _,
                told,
                number,
                by,
            } => (1, Some((told, number.map(from_due), by))),
            Self::Shared => (2, None),
        });
    }

    /// After an event of a session that is open.
    pub fn after(event: &Event) -> Self {
        if matches!(event.kind, EventKind::Ended(_)) {
            Self::Ended {
                line: event.place.line,
                told: false,
                number: number_of(event),
                by: producer_of(event),
            }
        } else {
            Self::Active
        }
    }

    /// Judges the first event of a session.
    pub fn judge_first(event: &Event, notes: &mut Notes) {
        // AAEP-A.1-1: session.started comes first.
        if !matches!(event.kind, EventKind::Started) {
            let message = format!(
                "the session begins with {} instead of session.started",
                event.name
            );
            notes.add(finding(&rules::SESSION_START, event, message));
        }
    }

    /// Judges a later event of the session. `is_heard` says whether its producer is known to have put out an earlier one.
    pub fn next(&mut self, event: &Event, is_heard: bool, notes: &mut Notes) -> Admission {
        let admission = match (*self, &event.kind) {
            (Self::Shared, _) => Admission::Unknown,
            (_, EventKind::Started)
                if begins_anew(event) && !is_heard && !self.is_ended_by(event) =>
            {
                *self = Self::Shared;
                Admission::Unknown
            }
            // AAEP-A.1-1: exactly one session.started. What follows it is judged as a session of its own.
            (Self::Active, EventKind::Started) => {
                notes.add(started_again(
                    event,
                    "comes after other events of its session",
                ));
                Admission::Continue
            }
            (Self::Ended { line, .. }, EventKind::Started) => {
                let when = format!("comes again after the session ended on line {line}");
                notes.add(started_again(event, &when));
                Admission::Open
            }
            // AAEP-A.1-2, AAEP-A.8-2: exactly one terminal event.
            (Self::Ended { line, .. }, EventKind::Ended(_)) => {
                let message = format!("{} after the session ended on line {line}", event.name);
                notes.add(finding(&rules::SECOND_TERMINAL, event, message));
                Admission::Ignore
            }
            // AAEP-A.1-3, AAEP-A.8-3: nothing after it.
            (
                Self::Ended {
                    line, told, number, ..
                },
                _,
            ) => {
                let numbers = number_of(event).zip(number);
                let numbers = numbers.filter(|(own, last)| own < last && self.is_ended_by(event));
                if let Some((own, last)) = numbers {
                    let message = format!(
                        "sequence_number is {own}, and the session ended on line {line} with {last}: by its number the event came before that"
                    );
                    notes.add(finding(&rules::SEQUENCE, event, message));
                } else if !told {
                    let message = format!(
                        "{} after the session ended on line {line}; further events of this session are not listed",
                        event.name
                    );
                    notes.add(finding(&rules::AFTER_TERMINAL, event, message));
                }
                if let Self::Ended { told, .. } = self {
                    *told |= numbers.is_none();
                }
                Admission::Ignore
            }
            (Self::Active, _) => Admission::Continue,
        };
        match admission {
            Admission::Open | Admission::Continue => *self = Self::after(event),
            Admission::Ignore | Admission::Unknown => {}
        }
        admission
    }

    fn is_ended_by(self, event: &Event) -> bool {
        matches!(self, Self::Ended { by, .. } if by == producer_of(event))
    }
}

/// A hash of who put it out.
fn producer_of(event: &Event) -> u32 {
    let [first, second, third, fourth, ..] = hash(&event.producer).to_be_bytes();
    u32::from_be_bytes([first, second, third, fourth])
}

fn number_of(event: &Event) -> Option<i32> {
    let Numbered::As(number) = event.sequence else {
        return None;
    };
    i32::try_from(number).ok()
}

/// Whether a start may be that of a session of which nothing came before: its number, if there are numbers, is 0 (AAEP-EV-4).
fn begins_anew(event: &Event) -> bool {
    !matches!(event.sequence, Numbered::As(number) if number != 0)
}

/// AAEP-A.1-1: also where two recordings of one producer stand in one file, for nothing in them tells that.
fn started_again(event: &Event, when: &str) -> Finding {
    let apart = if begins_anew(event) {
        "; if a second recording begins here, judge each in a file of its own"
    } else {
        ""
    };
    let message = format!("session.started {when}{apart}");
    finding(&rules::STARTED_AGAIN, event, message)
}

fn finding(rule: &rules::Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}
