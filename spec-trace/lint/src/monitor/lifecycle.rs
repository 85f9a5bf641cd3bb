//! A session starts once, ends once, and everything else lies between.
//!
//! An event behind the end whose number is less than that of the end came before it by its number, and after it by its line. One
//! of the two is wrong (AAEP-EV-4); that it came after the end (AAEP-A.8-3) is told where its number does not speak against that.

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
        /// Its number, and whose: each producer may count for itself (AAEP-A.9-1).
        last: Option<Counted>,
    },
}

/// The number of an event, and a hash of who put it out. Both are short, for there is one of each session that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    producer: u32,
    number: i32,
}

impl Counted {
    fn of(event: &Event) -> Option<Self> {
        let Numbered::As(number) = event.sequence else {
            return None;
        };
        let number = i32::try_from(number).ok()?;
        let producer = u32::try_from(hash(&event.producer) >> u32::BITS).ok()?;
        Some(Self { producer, number })
    }

    fn is_before(self, other: Self) -> bool {
        self.producer == other.producer && self.number < other.number
    }
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
}

impl Lifecycle {
    /// `due` is the number that was due behind the end, as long as anything else counts from there.
    pub(crate) fn remember(&self, due: Option<i64>, memory: &mut Memory) {
        let from_due = |number| due.map(|due| i64::from(number).wrapping_sub(due));
        memory.value(&match self {
            Self::Active => None,
            // The line is for the message.
            Self::Ended {
                line: _,
                told,
                last,
            } => Some((told, last.map(|it| (it.producer, from_due(it.number))))),
        });
    }

    /// After the first event of a session.
    pub fn first(event: &Event) -> Self {
        Self::Active.after(event)
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

    /// Judges a later event of the session.
    pub fn next(&mut self, event: &Event, notes: &mut Notes) -> Admission {
        let admission = match (*self, &event.kind) {
            // AAEP-A.1-1: exactly one session.started. What follows it is judged as a session of its own.
            (Self::Active, EventKind::Started) => {
                let message = "session.started comes after other events of its session".to_owned();
                notes.add(finding(&rules::STARTED_AGAIN, event, message));
                Admission::Continue
            }
            (Self::Ended { line, .. }, EventKind::Started) => {
                let message =
                    format!("session.started comes again after the session ended on line {line}");
                notes.add(finding(&rules::STARTED_AGAIN, event, message));
                Admission::Open
            }
            // AAEP-A.1-2, AAEP-A.8-2: exactly one terminal event.
            (Self::Ended { line, .. }, EventKind::Ended(_)) => {
                let message = format!("{} after the session ended on line {line}", event.name);
                notes.add(finding(&rules::SECOND_TERMINAL, event, message));
                Admission::Ignore
            }
            // AAEP-A.1-3, AAEP-A.8-3: nothing after it.
            (Self::Ended { line, told, last }, _) => {
                let is_before = |(own, last): (Counted, Counted)| own.is_before(last);
                let numbers = Counted::of(event).zip(last).filter(|it| is_before(*it));
                if let Some((own, last)) = numbers {
                    let message = format!(
                        "sequence_number is {}, and the session ended on line {line} with {}: by its number the event came before that",
                        own.number, last.number
                    );
                    notes.add(finding(&rules::SEQUENCE, event, message));
                } else if !told {
                    let message = format!(
                        "{} after the session ended on line {line}; further events of this session are not listed",
                        event.name
                    );
                    notes.add(finding(&rules::AFTER_TERMINAL, event, message));
                }
                let told = told || numbers.is_none();
                *self = Self::Ended { line, told, last };
                Admission::Ignore
            }
            (Self::Active, _) => Admission::Continue,
        };
        if admission != Admission::Ignore {
            *self = Self::Active.after(event);
        }
        admission
    }

    fn after(self, event: &Event) -> Self {
        if matches!(event.kind, EventKind::Ended(_)) {
            Self::Ended {
                line: event.place.line,
                told: false,
                last: Counted::of(event),
            }
        } else {
            self
        }
    }
}

fn finding(rule: &rules::Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}
