//! The numbers of a session: 0 at its start, then one more each time, on all events or on none (AAEP-EV-4).
//!
//! A number that comes again or steps back is a fault, and shows nothing else: what comes behind it may count from it or from the one
//! that was due. An event of a foreign type may have its number as any other. One that is skipped is no fault: where a recording begins
//! late, a subscription is filtered, a subscriber lost its connection, or a producer crashed before it had sent everything, events
//! are not in the record. What is missing may have held whatever the other monitors miss, so nothing that rests on its
//! absence is held against the producer. Where there are no numbers, a session that does not begin with its start is one
//! whose recording began late. Where its start is the second event, and by its number or its time the one that was missing,
//! nothing is. Nor is it where the numbers go on as if nothing had been skipped, or those that were skipped come later: then a number
//! was wrong, unless the times leave open that the events came in another order.

use std::fmt;

use super::Notes;
use crate::finding::{Finding, Place};
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
    /// What is due besides, right behind a wrong number: the one behind that which was due instead.
    count: Option<Due>,
    gap: Option<Gap>,
    /// The line behind the last place at which events are missing, or may have come in another order.
    whole_from: u64,
    /// What was skipped at the gap, as long as it may come.
    skipped: Option<Skipped>,
    /// Two numbers of which one is wrong, as long as their order is open.
    either: Option<Either>,
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

/// Numbers that were skipped.
#[derive(Debug, Clone)]
struct Skipped {
    /// The event behind them, and its number.
    place: Place,
    seen: i64,
    /// The first that has not come, and the last.
    next: i64,
    last: i64,
    /// What was due when the first of them came.
    resumes: Option<Due>,
    /// Who put it out.
    producer: String,
    /// Whether the event behind them was the last one.
    is_new: bool,
    /// Whether every event since then is of the same producer: the clocks of two may differ.
    is_of_one: bool,
    /// Whether every event since then only tells of progress, so that their order makes no difference.
    is_neutral: bool,
    /// The latest time of those events.
    latest: Option<Timestamp>,
}

impl Skipped {
    /// Whether an event came later than all those by its time.
    fn is_before(&self, event: &Event) -> bool {
        let is_of_one = self.is_of_one && event.producer == self.producer;
        is_of_one && self.latest.is_some() && self.latest < event.sent
    }

    fn take_in(&mut self, event: &Event) {
        self.is_new = false;
        self.is_of_one &= event.producer == self.producer;
        self.is_neutral &= matches!(event.kind, EventKind::Progress { .. });
        self.latest = self.latest.max(event.sent);
    }
}

/// Two numbers of which the second goes on as if the first had not been, and may have been before it by its time.
#[derive(Debug, Clone)]
struct Either {
    /// Who put out both, and the later of their times.
    producer: String,
    latest: Timestamp,
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
    /// None are, but those up to this line may have come in another order.
    Order(u64),
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
            Shown::Order(last) => write!(
                formatter,
                "the events from line {line} to line {last} may have come in another order: their numbers say so, and their times do not tell"
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
            count,
            gap,
            whole_from,
            skipped,
            either,
            told,
            again,
            first,
        } = self;
        memory.line(*whole_from);
        let Due(due, beyond) = *next;
        memory.value(&(numbered, due == 0, gap.is_some(), told, again, first));
        memory.value(&beyond.wrapping_sub(due));
        let from_due = |it: &Due| (it.0.wrapping_sub(due), it.1.wrapping_sub(due));
        memory.value(&count.as_ref().map(from_due));
        memory.each(skipped.iter(), |memory, skipped| {
            let Skipped {
                place,
                // For the message.
                seen: _,
                next,
                last,
                resumes,
                producer,
                is_new,
                is_of_one,
                is_neutral,
                latest,
            } = skipped;
            memory.line(place.line);
            memory.value(&(next.wrapping_sub(due), last.wrapping_sub(due)));
            memory.value(&(resumes.as_ref().map(from_due), latest, producer));
            memory.value(&(is_new, is_of_one, is_neutral));
        });
        memory.each(either.iter(), |memory, either| {
            let Either { producer, latest } = either;
            memory.value(&(producer, latest));
        });
        memory.each(next_of.iter(), |memory, (producer, own)| {
            let beyond = own.1.wrapping_sub(own.0);
            memory.value(&(producer, own.0.wrapping_sub(due), beyond));
        });
    }

    /// Whether the producer has put out an event of the session.
    pub(crate) fn has_heard(&self, producer: &str) -> bool {
        self.next_of.get(producer).is_some()
    }

    /// The number that is due where the session counts.
    pub(crate) const fn due(&self) -> i64 {
        self.next.0
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
            self.whole_from = event.place.line;
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
            self.settle_order(event, number);
            self.judge(event, number, own, notes);
        }
        let due = self.next;
        self.step(event, number, own);
        if let Some(skipped) = self
            .skipped
            .as_mut()
            .filter(|it| it.place.line < event.place.line)
        {
            skipped.take_in(event);
        }
        if is_start && first.is_some_and(|it| was_missing(event, number, it)) {
            self.gap = None;
            self.next = due;
        }
    }

    /// Takes in the number of an event of a foreign type.
    pub fn pass_over(&mut self, producer: &str, number: i64) {
        self.next.pass_over(number);
        if let Some(count) = &mut self.count {
            count.pass_over(number);
        }
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
        let is_first = self.next_of.is_empty();
        let count = std::mem::take(&mut self.count);
        let Due(due, beyond) = self.next;
        let counts_on = Due(due.saturating_add(1), beyond.saturating_add(1));
        if matches!(event.kind, EventKind::Started) && seen != 0 && due == 0 {
            self.count = Some(counts_on);
            let message = format!("sequence_number of session.started is {seen} instead of 0");
            return add(event, message, notes);
        }
        // A producer that joins a session may count for itself, from wherever it begins.
        let joins = own.is_none() && !is_first;
        let is_due =
            self.next.is(seen) || own.is_some_and(|own| own.is(seen)) || joins && seen < due;
        if self.comes_late(event, seen) {
            if !is_due {
                let message =
                    format!("sequence_number is {seen}, and {due} was due: it was skipped before");
                add(event, message, notes);
            }
        } else if is_due {
        } else if count.is_some_and(|count| count.is(seen)) {
            self.goes_on(event, seen, notes);
            // Also where several producers count together.
            self.next = Due(seen, seen);
        } else if seen > beyond {
            self.skip(event, (beyond, seen), !is_first);
            self.count = Some(counts_on).filter(|_| !is_first);
        } else {
            self.count = Some(counts_on);
            let message = format!("sequence_number is {seen}, and {due} was due");
            add(event, message, notes);
        }
    }

    fn skip(&mut self, event: &Event, (due, seen): (i64, i64), may_come: bool) {
        let is_first = self.gap.is_none();
        self.either = None;
        self.whole_from = event.place.line;
        self.gap.get_or_insert(Gap {
            line: event.place.line,
            shown_by: Shown::Numbers(due, seen),
        });
        self.skipped = (may_come && is_first).then(|| Skipped {
            place: event.place.to_keep(),
            seen,
            next: due,
            last: seen.saturating_sub(1),
            resumes: None,
            producer: event.producer.to_owned(),
            is_new: true,
            is_of_one: true,
            is_neutral: matches!(event.kind, EventKind::Progress { .. }),
            latest: event.sent,
        });
    }

    /// Whether the event has the first number of those that were skipped. With the last of them none is missing.
    fn comes_late(&mut self, event: &Event, seen: i64) -> bool {
        let due = self.next;
        let Some(skipped) = self.skipped.as_mut().filter(|it| it.next == seen) else {
            return false;
        };
        self.count = Some(*skipped.resumes.get_or_insert(due));
        skipped.next = seen.saturating_add(1);
        if seen == skipped.last {
            let is_neutral = skipped.is_neutral && matches!(event.kind, EventKind::Progress { .. });
            let order = (!is_neutral && !skipped.is_before(event)).then_some(Gap {
                line: skipped.place.line,
                shown_by: Shown::Order(event.place.line),
            });
            self.gap = order;
            self.whole_from = event.place.line.saturating_add(1);
            self.skipped = None;
        }
        true
    }

    /// The numbers go on from the one that was due: the one between was wrong.
    fn goes_on(&mut self, event: &Event, seen: i64, notes: &mut Notes) {
        let Some(skipped) = self.skipped.take_if(|it| it.is_new) else {
            return;
        };
        let Skipped { place, next, .. } = &skipped;
        if skipped.is_before(event) {
            let message = format!(
                "sequence_number is {}, and {next} was due: that on line {} goes on with {seen}",
                skipped.seen, event.place.line
            );
            let session = Some(event.session);
            notes.add(Finding::new(
                &rules::SEQUENCE,
                place.clone(),
                session,
                message,
            ));
            self.gap = None;
        } else {
            let message = format!("sequence_number is {seen}, and {} was due", self.next.0);
            add(event, message, notes);
            self.gap = Some(Gap {
                line: place.line,
                shown_by: Shown::Order(event.place.line),
            });
            self.whole_from = event.place.line.saturating_add(1);
            let latest = skipped.latest.max(event.sent);
            let is_of_one = skipped.is_of_one && skipped.producer == event.producer;
            self.either = latest.filter(|_| is_of_one).map(|latest| Either {
                producer: skipped.producer,
                latest,
            });
        }
    }

    /// A later event that goes on from the second of two numbers shows that the first was wrong in either order.
    fn settle_order(&mut self, event: &Event, number: Option<i64>) {
        let is_behind =
            |it: &mut Either| event.producer == it.producer && event.sent > Some(it.latest);
        let is_settled = self.either.take_if(is_behind).is_some();
        if is_settled && number.is_some_and(|number| self.next.is(number)) {
            self.gap = None;
        }
    }

    fn step(&mut self, event: &Event, number: Option<i64>, own: Option<Due>) {
        let alone = self.next_of.len() < 2;
        // A step back is told once: from there on it counts anew.
        let counts = number.filter(|number| alone || *number > self.next.0 || self.count.is_some());
        self.next = Due::after(counts.unwrap_or(self.next.0));
        let own = own.map(|Due(next, _)| next);
        let next = Due::after(number.or(own).unwrap_or_default());
        self.next_of.insert(event.producer, next);
    }

    /// The line from which on no event is known to be missing, nor to have come in another order.
    pub fn whole_from(&self) -> u64 {
        self.whole_from
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
