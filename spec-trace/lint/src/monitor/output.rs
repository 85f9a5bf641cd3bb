//! Streamed output: its chunks stand one behind the other, and one of them is the last (AAEP-A.6-1, AAEP-A.6-2,
//! AAEP-A.6-3).
//!
//! What a character is, the text does not say. For ASCII all agree. For the rest a chunk may be followed at any distance
//! from one character to as many as it has UTF-16 units.

use std::collections::BTreeMap;

use super::Notes;
use super::seen::Seen;
use crate::finding::{Finding, Place};
use crate::memory::Memory;
use crate::record::{Chunk, Ending, Event, EventKind};
use crate::rules::{self, Rule};

/// The outputs of one session that are not complete, by producer and id.
#[derive(Debug, Default, Clone)]
pub struct Outputs {
    open: BTreeMap<(String, String), Box<Output>>,
}

#[derive(Debug, Clone)]
struct Output {
    place: Place,
    /// The position of the latest chunk, and where the next may stand.
    last: u64,
    next: (u64, u64),
}

impl Outputs {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self { open } = self;
        memory.each(open.iter(), |memory, (name, output)| {
            let Output { place, last, next } = &**output;
            memory.line(place.line);
            memory.value(&(name, last, next));
        });
    }

    /// Judges an event of the open session. True if it begins an output. `complete` are the outputs that are complete.
    pub fn event(&mut self, event: &Event, complete: &mut Seen, notes: &mut Notes) -> bool {
        match &event.kind {
            EventKind::Output(chunk) => self.chunk(event, chunk, complete, notes),
            EventKind::Ended(Ending::Completed) => {
                self.ended(event, notes);
                false
            }
            EventKind::Ended(ending @ (Ending::Errored | Ending::Cancelled)) => {
                self.broken_off(event, *ending, notes);
                false
            }
            EventKind::Started
            | EventKind::StateChanged { .. }
            | EventKind::Progress { .. }
            | EventKind::Invoked { .. }
            | EventKind::Completed { .. }
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => false,
        }
    }

    fn chunk(
        &mut self,
        event: &Event,
        chunk: &Chunk,
        complete: &mut Seen,
        notes: &mut Notes,
    ) -> bool {
        // Outputs without id cannot be told apart: a chunk at the beginning begins another one.
        let name = chunk.output.unwrap_or_default().to_owned();
        let key = (event.producer.to_owned(), name);
        let identity = (event.session, &key);
        let earlier = complete.earlier(&identity);
        if let Some(earlier) = earlier.filter(|_| chunk.output.is_some()) {
            // AAEP-A.6-3, AAEP-A.8-6: nothing after the last chunk. AAEP-A.6-1: nor a second last one.
            let message = format!("a chunk of {}, which was complete on line {earlier}", key.1);
            let finding = finding(&rules::CHUNK_AFTER_COMPLETE, event, message);
            let second = chunk.complete == Some(true);
            let also: &[_] = if second { &["AAEP-A.6-1"] } else { &[] };
            notes.add(finding.and_also(also));
            return false;
        }
        if chunk.output.is_none() && chunk.position == Some(0) {
            self.open.remove(&key);
        }
        let known = self.open.get(&key);
        let begins = known.is_none();
        let (last, next) = known.map_or((0, (0, 0)), |output| (output.last, output.next));
        let position = chunk.position.unwrap_or(next.0);
        if let Some((rule, what)) = fault(position, last, next) {
            // Outputs without id cannot be told apart.
            let before = known.filter(|_| chunk.output.is_some());
            let finding = finding(rule, event, format!("position {position} {what}"));
            notes.add(finding.since(before.map(|it| it.place.line)));
        }
        if chunk.complete == Some(true) {
            complete.meet(&identity, &(), event.place.line);
            self.open.remove(&key);
        } else {
            let output = Output {
                place: event.place.to_keep(),
                last: position,
                next: reach(chunk, position),
            };
            self.open.insert(key, Box::new(output));
        }
        begins
    }

    /// AAEP-A.6-1: of a session that errors or is cancelled the text says neither that its outputs complete nor that they need not.
    fn broken_off(&self, event: &Event, ending: Ending, notes: &mut Notes) {
        let mut open = self.open.iter();
        let Some(((_, name), output)) = open.next() else {
            return;
        };
        let ended = match ending {
            Ending::Completed => "completed",
            Ending::Errored => "errored",
            Ending::Cancelled => "cancelled",
        };
        let what = unfinished(ended, name, output);
        let more = match open.len() {
            0 => String::new(),
            more => format!(", and so it is with {more} more"),
        };
        let reason = format!(
            "{what}{more}: the text asks for one in each output, and does not say whether that holds where the session is broken off"
        );
        notes.leave_open(
            rules::OUTPUT_NEVER_COMPLETE.clause,
            event.place.line,
            reason,
        );
    }

    /// AAEP-A.6-1: every output completes.
    fn ended(&self, event: &Event, notes: &mut Notes) {
        for ((_, name), output) in &self.open {
            let message = unfinished("completed", name, output);
            notes.add(finding(&rules::OUTPUT_NEVER_COMPLETE, event, message));
        }
    }
}

/// What is missing where a session ends so.
fn unfinished(ended: &str, name: &str, output: &Output) -> String {
    let named = if name.is_empty() {
        "the last output without output_id"
    } else {
        name
    };
    format!(
        "session.{ended}, and no chunk of {named} has complete: true; the last is on line {}",
        output.place.line
    )
}

/// AAEP-A.6-2, AAEP-A.8-7: the position is that of the first character within the output.
fn fault(position: u64, last: u64, (least, most): (u64, u64)) -> Option<(&'static Rule, String)> {
    let due = if least == most {
        format!("{least} is")
    } else {
        format!("{least} to {most} are")
    };
    if position > most {
        let what = format!("lies beyond the end of the text so far: {due} due");
        Some((&rules::POSITION_SKIPS, what))
    } else if position >= least {
        None
    } else if position < last {
        Some((
            &rules::POSITION_DECREASES,
            format!("lies before {last}, that of the chunk before it"),
        ))
    } else {
        let what = format!("lies within the chunk before it: {due} due");
        Some((&rules::POSITION_OVERLAPS, what))
    }
}

/// Where the chunk behind this one may stand.
fn reach(chunk: &Chunk, position: u64) -> (u64, u64) {
    let (Some(characters), Some(units)) = (chunk.characters, chunk.units) else {
        return (position, u64::MAX);
    };
    let least = if chunk.ascii {
        characters
    } else {
        characters.min(1)
    };
    (
        position.saturating_add(least),
        position.saturating_add(units),
    )
}

fn finding(rule: &Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AAEP-A.6-2: the position below, at and beyond the one that is due.
    #[test]
    fn a_position_fits_only_where_the_text_so_far_ends() {
        let clause =
            |position, last, next| fault(position, last, next).map(|(rule, _)| rule.clause);
        assert_eq!(clause(49, 50, (60, 60)), Some("AAEP-A.8-7"));
        assert_eq!(clause(50, 50, (60, 60)), Some("AAEP-A.6-2"));
        assert_eq!(clause(59, 50, (60, 60)), Some("AAEP-A.6-2"));
        assert_eq!(clause(60, 50, (60, 60)), None);
        assert_eq!(clause(61, 50, (60, 60)), Some("AAEP-A.6-2"));
        assert_eq!(clause(50, 50, (50, 50)), None);
        assert_eq!(clause(51, 50, (51, 54)), None);
        assert_eq!(clause(54, 50, (51, 54)), None);
    }
}
