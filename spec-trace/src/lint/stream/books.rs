//! What the judge writes down of all sessions, and the ids that may be used once.

use crate::lint::finding::Finding;
use crate::lint::memory::Memory;
use crate::lint::monitor::Notes;
use crate::lint::monitor::seen::{Seen, hash};
use crate::lint::monitor::sequence::Sequence;
use crate::lint::monitor::telling::Telling;
use crate::lint::record::fields::is_identifier;
use crate::lint::record::{Event, EventKind};
use crate::lint::rules;

/// What is written down of all sessions.
#[derive(Debug, Default, Clone)]
pub(super) struct Books {
    /// What holds either way.
    pub(super) notes: Notes,
    /// What holds if all replies are recorded.
    pub(super) recorded: Notes,
    /// What holds if none is.
    pub(super) unseen: Notes,
    pub(super) events: Seen,
    pub(super) tokens: Seen,
    pub(super) calls: Seen,
    pub(super) outputs: Seen,
    pub(super) telling: Telling,
    /// Sessions of which events are not in the record, and where the first gap of the first of them is.
    pub(super) gaps: u64,
    pub(super) first_gap: Option<u64>,
}

impl Books {
    pub(super) fn all_notes(&mut self) -> [&mut Notes; 3] {
        [&mut self.notes, &mut self.recorded, &mut self.unseen]
    }

    pub(super) fn remember(&self, memory: &mut Memory) {
        let Self {
            notes,
            recorded,
            unseen,
            // What may be used once.
            events: _,
            tokens: _,
            calls: _,
            outputs: _,
            telling,
            // What the report tells.
            gaps: _,
            first_gap: _,
        } = self;
        for notes in [notes, recorded, unseen] {
            notes.remember(memory);
        }
        telling.remember(memory);
    }

    /// AAEP-EV-7: the id of an event stands for that event alone. False for an event that is a copy of an earlier one: judging
    /// it again would accuse one fault twice.
    pub(super) fn admit(&mut self, event: &Event) -> bool {
        let Some(id) = event.id else {
            return true;
        };
        let content = (event.session, event.name, event.sent, event.sequence);
        let line = event.place.line;
        let Some(earlier) = self.events.meet(&(event.producer, id), &content, line) else {
            return true;
        };
        let copy = earlier.mark == hash(&content);
        let what = if copy {
            "is the event on line"
        } else {
            "has the event_id of the one on line"
        };
        let message = format!("the event {what} {} again", earlier.line);
        self.notes.add(Finding::new(
            &rules::EVENT_ID_AGAIN,
            event.place,
            Some(event.session),
            message,
        ));
        !copy
    }

    /// AAEP-EV-2: the form of the session's id, told once and not with each of its events.
    pub(super) fn judge_session_id(&mut self, event: &Event) {
        if !is_identifier(event.session, "sess_") {
            let message = "session_id is not sess_ and 1 to 64 ASCII letters or digits".to_owned();
            let session = Some(event.session);
            self.notes.add(Finding::new(
                &rules::IDENTIFIER,
                event.place,
                session,
                message,
            ));
        }
    }

    /// AAEP-EV-13: a `tool_call_id` stands for one call. AAEP-6.2.2-1, AAEP-6.2.2-2, AAEP-6.2.2-3: a token for one question.
    pub(super) fn judge_ids(&mut self, event: &Event) {
        let line = event.place.line;
        match (&event.kind, &event.ties.tool_call_id, &event.ties.token) {
            (EventKind::Invoked { .. }, Some(id), _) => {
                let earlier = self.calls.meet(&(event.session, id), &(), line);
                if let Some(earlier) = earlier {
                    self.call_id_again(event, id, earlier.line);
                }
            }
            (EventKind::Asked(_) | EventKind::Clarifying(_), _, Some(token)) => {
                let Some(earlier) = self.tokens.meet(token, &event.producer, line) else {
                    return;
                };
                let own = earlier.mark == hash(&event.producer);
                let (rule, whose) = if own {
                    (&rules::TOKEN_AGAIN, "this producer")
                } else {
                    (&rules::TOKEN_OF_ANOTHER, "another producer")
                };
                let message = format!(
                    "the reply_token was given out by {whose} on line {}",
                    earlier.line
                );
                let session = Some(event.session);
                self.notes
                    .add(Finding::new(rule, event.place, session, message));
            }
            _ => {}
        }
    }

    /// Where the second call is accused of having run without an acceptance of its own, that is the same fault.
    pub(super) fn call_id_again(&mut self, event: &Event, id: &str, earlier: u64) {
        for notes in [&mut self.recorded, &mut self.unseen] {
            if let Some(finding) = notes.last_on(event.place.line) {
                let also = finding.clone().and_also(&["AAEP-EV-13"]);
                *finding = also;
                continue;
            }
            let message = format!("the tool_call_id {id} is that of the call on line {earlier}");
            let session = Some(event.session);
            notes.add(Finding::new(
                &rules::CALL_ID_AGAIN,
                event.place,
                session,
                message,
            ));
        }
    }

    pub(super) fn set_gap_of(&mut self, sequence: &Sequence) {
        let gap = sequence.gap();
        for notes in self.all_notes() {
            notes.gap = gap;
        }
    }
}
