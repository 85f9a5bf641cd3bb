//! Whether events of a session are missing in the record.
//!
//! Where a recording begins late, a subscriber lost its connection, or a producer crashed before it had sent everything,
//! the numbers show it (AAEP-EV-4). What is missing may have held whatever the other monitors miss, so nothing that rests
//! on its absence is held against the producer.

use crate::lint::record::Event;

/// The sequence numbers of one session.
#[derive(Debug)]
pub struct Sequence {
    /// The number after the greatest so far; `None` behind an event without a number.
    next: Option<i64>,
    gap: Option<Gap>,
}

/// The first place at which events are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The line of the event behind the missing ones.
    pub line: u64,
    /// The number that was due.
    pub expected: i64,
    /// The number that came.
    pub seen: i64,
}

impl Default for Sequence {
    fn default() -> Self {
        Self {
            next: Some(0),
            gap: None,
        }
    }
}

impl Sequence {
    /// Takes note of an event of the session.
    pub fn event(&mut self, event: &Event) {
        let (Some(expected), Some(seen)) = (self.next, event.sequence) else {
            self.next = event.sequence.map(|seen| seen.saturating_add(1));
            return;
        };
        if seen > expected {
            self.gap.get_or_insert(Gap {
                line: event.place.line,
                expected,
                seen,
            });
        }
        self.next = Some(expected.max(seen.saturating_add(1)));
    }

    /// The first gap before `line` or right in front of it.
    pub fn gap_before(&self, line: u64) -> Option<Gap> {
        self.gap.filter(|gap| gap.line <= line)
    }
}
