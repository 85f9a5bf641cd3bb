//! AAEP-EV-3: the timestamps of a producer never step back within a session.

use super::Notes;
use crate::few::Few;
use crate::finding::Finding;
use crate::memory::Memory;
use crate::record::Event;
use crate::rules;
use crate::time::Timestamp;

/// The time of each producer of a session: two agents may have two clocks.
#[derive(Debug, Default, Clone)]
pub struct Clock {
    of: Few<(Timestamp, u64)>,
}

impl Clock {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self { of } = self;
        // The lines are for the messages.
        memory.each(of.iter(), |memory, (producer, (sent, _))| {
            memory.value(&(producer, sent));
        });
    }

    /// Judges an event of the session. After a step back the clock counts from there: it is told once.
    pub fn event(&mut self, event: &Event, notes: &mut Notes) {
        let Some(sent) = event.sent else {
            return;
        };
        let now = (sent, event.place.line);
        let Some(last) = self.of.get_mut(event.producer) else {
            self.of.insert(event.producer, now);
            return;
        };
        let (before, line) = *last;
        if sent < before {
            notes.add(Finding::new(
                &rules::CLOCK,
                event.place,
                Some(event.session),
                format!("timestamp {sent} lies before {before} on line {line}"),
            ));
        }
        *last = now;
    }
}
