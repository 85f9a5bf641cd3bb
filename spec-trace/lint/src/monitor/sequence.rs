//! The numbers of a session: 0 at its start, then one more each time, on all events or on none (AAEP-EV-4).
//!
//! A number that comes again or steps back is a fault. An event of a foreign type may have its number as any other. One that is skipped is none: where a recording begins late, a
//! subscription is filtered, a subscriber lost its connection, or a producer crashed before it had sent everything, events
//! are not in the record. What is missing may have held whatever the other monitors miss, so nothing that rests on its
//! absence is held against the producer. Where there are no numbers, a session that does not begin with its start is one
//! whose recording began late. Where its start is the second event, and by its number or its time the one that was missing,
//! nothing is.

use std::fmt;

use super::Notes;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::{Event, EventKind, Numbered};
use crate::rules;
use crate::small_map::SmallMap;
use crate::time::Timestamp;

/// The sequence numbers of one session.
#[derive(Debug, Default, Clone)]
pub struct Sequence {
    /// Whether the first event that shows it has a number.
    numbered: Option<bool>,
    /// What is due where the session counts, and where each producer does (AAEP-A.9-1).
    next: Due,
    next_of: SmallMap<Due>,
    gap: Option<Gap>,
    told: bool,
    /// The session has started before, and nothing says from where it counts.
    again: bool,
    /// The number and the time of the first event, until the second comes, where its session does not begin with its start.
    first: Option<(Option<i64>, Option<Timestamp>)>,
}

/// The number that is due, and the one behind the events since then that were passed over: whether those count does not show.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Due(i64, i64);

impl Due {
    fn after(number: i64) -> Self {
        let next = number.saturating_add(1);
        Self(next, next)
    }

    fn is(self, number: i64) -> bool {
        (self.0..=self.1).contains(&number)
    }

    fn pass_over(&mut self, number: i64) {
        if number == self.1 {
            self.1 = number.saturating_add(1);
        }
    }
}

/// The first place at which events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The line of the event behind the missing ones.
    pub line: u64,
    /// What shows that they are missing.
    pub shown_by: Shown,
}

/// What shows that events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The number that was due, and the one that came.
    Numbers(i64, i64),
    /// The session has no numbers and does not begin with its start.
    NoStart,
}

impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match self.shown_by {
            Shown::Numbers(expected, seen) => write!(
                formatter,
                "events before line {line} are not in the record: its sequence_number is {seen} instead of {expected}"
            ),
            Shown::NoStart => write!(
                formatter,
                "the session begins on line {line} without session.started and has no numbers: events before it may not be in the record"
            ),
        }
    }
}

impl Sequence {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            numbered,
            next,
            next_of,
            gap,
            told,
            again,
            first,
        } = self;
        let Due(due, beyond) = *next;
        memory.value(&(numbered, due == 0, gap.is_some(), told, again, first));
        memory.value(&beyond.wrapping_sub(due));
        memory.each(next_of.iter(), |memory, (producer, own)| {
            let beyond = own.1.wrapping_sub(own.0);
            memory.value(&(producer, own.0.wrapping_sub(due), beyond));
        });
    }

    /// The numbers of a session that starts again.
    pub fn again() -> Self {
        Self {
            again: true,
            ..Self::default()
        }
    }

    /// Judges an event of the session.
    pub fn event(&mut self, event: &Event, notes: &mut Notes) {
        let is_start = matches!(event.kind, EventKind::Started);
        if self.next_of.is_empty() && !is_start && !matches!(event.sequence, Numbered::As(_)) {
            self.gap = Some(Gap {
                line: event.place.line,
                shown_by: Shown::NoStart,
            });
        }
        let number = match event.sequence {
            Numbered::As(number) => Some(number),
            Numbered::Not | Numbered::Badly => None,
        };
        let first = std::mem::take(&mut self.first);
        if self.next_of.is_empty() && !is_start {
            self.first = Some((number, event.sent));
        }
        let own = self.next_of.get(event.producer).copied();
        // What stands there instead of a number was told already, and what number was meant is anyone's guess.
        if event.sequence != Numbered::Badly {
            self.judge(event, number, own, notes);
        }
        let due = self.next;
        self.step(event, number, own);
        if is_start && first.is_some_and(|it| was_missing(event, number, it)) {
            self.gap = None;
            self.next = due;
        }
    }

    /// Takes in the number of an event of a foreign type.
    pub fn pass_over(&mut self, producer: &str, number: i64) {
        self.next.pass_over(number);
        if let Some(own) = self.next_of.get_mut(producer) {
            own.pass_over(number);
        }
    }

    /// All events have a number, or none has.
    fn judge(&mut self, event: &Event, number: Option<i64>, own: Option<Due>, notes: &mut Notes) {
        if *self.numbered.get_or_insert(number.is_some()) == number.is_some() {
            if let Some(seen) = number {
                self.judge_number(event, seen, own, notes);
            }
        } else if !self.told {
            self.told = true;
            let message = match number {
                Some(_) => "sequence_number is there, and the events before had none",
                None => "sequence_number is missing, and the events before had one",
            };
            add(event, message.to_owned(), notes);
        }
    }

    fn judge_number(&mut self, event: &Event, seen: i64, own: Option<Due>, notes: &mut Notes) {
        if std::mem::take(&mut self.again) {
            return;
        }
        if matches!(event.kind, EventKind::Started) && seen != 0 && self.next.0 == 0 {
            let message = format!("sequence_number of session.started is {seen} instead of 0");
            return add(event, message, notes);
        }
        // A producer that joins a session may count for itself, from wherever it begins.
        let joins = own.is_none() && !self.next_of.is_empty();
        let Due(due, beyond) = self.next;
        if self.next.is(seen) || own.is_some_and(|own| own.is(seen)) || joins && seen < due {
            return;
        }
        if seen > beyond {
            self.gap.get_or_insert(Gap {
                line: event.place.line,
                shown_by: Shown::Numbers(beyond, seen),
            });
        } else {
            add(
                event,
                format!("sequence_number is {seen}, and {due} was due"),
                notes,
            );
        }
    }

    fn step(&mut self, event: &Event, number: Option<i64>, own: Option<Due>) {
        let alone = self.next_of.len() < 2;
        // A step back is told once: from there on it counts anew.
        let counts = number.filter(|number| alone || *number > self.next.0);
        self.next = Due::after(counts.unwrap_or(self.next.0));
        let own = own.map(|Due(next, _)| next);
        let next = Due::after(number.or(own).unwrap_or_default());
        self.next_of.insert(event.producer, next);
    }

    /// The first gap.
    pub fn gap(&self) -> Option<Gap> {
        self.gap
    }
}

/// Whether the start of a session is what was missing before its first event, of this number and time.
fn was_missing(
    start: &Event,
    number: Option<i64>,
    first: (Option<i64>, Option<Timestamp>),
) -> bool {
    match (number, first) {
        (Some(number), (Some(first), _)) => number == 0 && first == 1,
        (None, (None, Some(sent))) => start.sent.is_some_and(|start| start <= sent),
        (Some(_), (None, _)) | (None, (Some(_), _) | (None, None)) => false,
    }
}

fn add(event: &Event, message: String, notes: &mut Notes) {
    notes.add(Finding::new(
        &rules::SEQUENCE,
        event.place,
        Some(event.session),
        message,
    ));
}
