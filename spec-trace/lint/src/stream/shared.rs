//! What the sessions of a stream share: what was found in them, and the ids that may be used once.

use std::hash::Hash;

use crate::finding::Finding;
use crate::memory::Memory;
use crate::monitor::Notes;
use crate::monitor::checks::Check;
use crate::monitor::disclosure::Disclosure;
use crate::monitor::seen::Seen;
use crate::monitor::sequence::{Gap, Sequence, Shown};
use crate::monitor::unfinished::Unfinished;
use crate::record::fields::is_identifier;
use crate::record::{Event, EventKind};
use crate::reply::Reply;
use crate::rules;

/// What all sessions share.
#[derive(Debug, Default, Clone)]
pub(super) struct Shared {
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
    /// Tokens of the questions that were pending when their sessions were cancelled.
    cancelled: Seen,
    disclosure: Disclosure,
    pub(super) unfinished: Unfinished,
    /// Events that came again as they were, and the line of the first, with that on which it stood before.
    pub(super) delivered_again: u64,
    pub(super) first_again: Option<(u64, u64)>,
    /// Sessions of which the numbers show that events are not in the record, and where the first gap of the first of them
    /// is.
    pub(super) gaps: u64,
    pub(super) first_gap: Option<u64>,
    /// Whether of any session events are not in the record, questions among them perhaps.
    incomplete: bool,
}

impl Shared {
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
            cancelled: _,
            disclosure,
            unfinished,
            // What the report tells.
            delivered_again: _,
            first_again: _,
            gaps: _,
            first_gap: _,
            incomplete,
        } = self;
        memory.value(incomplete);
        for notes in [notes, recorded, unseen] {
            notes.remember(memory);
        }
        disclosure.remember(memory);
        unfinished.remember(memory);
    }

    /// AAEP-EV-7: the id of an event stands for that event alone. False for an event that is a copy of an earlier one: it was
    /// delivered twice, to a subscriber who came back or to two whose captures were joined, and is judged once.
    pub(super) fn admit(&mut self, event: &Event) -> bool {
        let Some(id) = event.id else {
            return true;
        };
        let content = content(event);
        let line = event.place.line;
        let (name, whole) = ((event.producer, id), event.message.digest());
        let Some(earlier) = self.events.meet_with(&name, &content, whole, line) else {
            return true;
        };
        if earlier.is_same {
            self.delivered_again += 1;
            self.first_again.get_or_insert((line, earlier.line));
            return false;
        }
        let (rule, what) = if earlier.is_alike {
            (
                &rules::EVENT_TOLD_AGAIN,
                "is in other words the event on line",
            )
        } else {
            (
                &rules::EVENT_ID_AGAIN,
                "has the event_id of the one on line",
            )
        };
        let message = format!("the event {what} {} again", earlier.line);
        self.notes.add(Finding::new(
            rule,
            event.place,
            Some(event.session),
            message,
        ));
        !earlier.is_alike
    }

    /// Remembers the ids of an event of a session that is not judged.
    pub(super) fn meet_elsewhere(&mut self, event: &Event) {
        let line = event.place.line;
        if let Some(id) = &event.id {
            let (name, whole) = ((&event.producer, id), event.message.digest());
            self.events.meet_with(&name, &content(event), whole, line);
        }
        if let (EventKind::Asked(_) | EventKind::Clarifying(_), Some(token)) =
            (&event.kind, &event.ids.token)
        {
            self.tokens.meet(token, &event.producer, line);
        }
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
        match (&event.kind, &event.ids.tool_call_id, &event.ids.token) {
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
                let (rule, whose) = if earlier.is_alike {
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

    /// The line of the call of the session that had the `tool_call_id` which the event names.
    pub(super) fn first_call(&self, event: &Event) -> Option<u64> {
        let id = event.ids.tool_call_id.as_ref()?;
        self.calls.earlier(&(event.session, id))
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

    /// AAEP-6.8-2: takes note that a question is cancelled with its session.
    pub(super) fn cancel(&mut self, session: &str, token: &str, line: u64) {
        self.cancelled.meet(&(session, token), &(), line);
    }

    /// AAEP-6.8-2: a call after the end of a session that says that a question was accepted which was cancelled with it.
    pub(super) fn judge_outlived(&mut self, event: &Event) {
        let is_call = matches!(event.kind, EventKind::Invoked { .. }) && event.says_accepted();
        let token = event.ids.token.as_deref().filter(|_| is_call);
        let cancelled = token.and_then(|it| self.cancelled.earlier(&(event.session, it)));
        if cancelled.is_some()
            && let Some(found) = self.notes.last_on(event.place.line)
        {
            *found = found.clone().and_also(&["AAEP-6.8-2"]);
        }
    }

    /// Takes note that events of a session are not in the record.
    pub(super) fn miss(&mut self, gap: Gap) {
        self.incomplete = true;
        if let Shown::Numbers(..) = gap.shown_by {
            self.gaps += 1;
            self.first_gap.get_or_insert(gap.line);
        }
    }

    /// Takes note that nothing was missing there: the start of the session came behind its first event, or a number was wrong.
    pub(super) fn find(&mut self, gap: Gap, event: &Event) {
        self.skip_less(gap);
        self.notes.unsay(&open_order(gap));
        let is_start = matches!(event.kind, EventKind::Started);
        for notes in self.all_notes() {
            if is_start {
                notes.take_back(rules::SESSION_START.clause, gap);
            } else {
                notes.find_held(gap);
            }
        }
    }

    /// Takes note that nothing was missing there, but the order of the events is open.
    pub(super) fn reorder(&mut self, gap: Gap, order: Gap) {
        self.skip_less(gap);
        self.notes
            .leave_open("AAEP-EV-4", order.line, open_order(order));
    }

    fn skip_less(&mut self, gap: Gap) {
        if let Shown::Numbers(..) = gap.shown_by {
            self.gaps -= 1;
            self.first_gap = self.first_gap.filter(|_| self.gaps > 0);
        }
    }

    /// Judges what the sender of a reply that failed a check was told. A token may be unknown because its question is not in
    /// the record.
    pub(super) fn judge_answer(
        &mut self,
        reply: &Reply,
        check: Check,
        session: Option<&str>,
        all_recorded: bool,
    ) {
        if self.incomplete {
            self.disclosure.forget(Check::Issued);
        }
        if !self.incomplete || check != Check::Issued {
            let notes = if all_recorded {
                &mut self.recorded
            } else {
                &mut self.notes
            };
            self.disclosure.failed(reply, check, session, notes);
        }
    }

    /// Judges what the sender of something that is no JSON was told, be it a reply or not.
    pub(super) fn judge_answer_to_no_json(&mut self, reply: &Reply) {
        self.disclosure.no_json(reply, &mut self.notes);
    }

    /// Judges what only all answers together show.
    pub(super) fn judge_answers(&mut self) {
        self.disclosure.finish(&mut self.notes);
    }

    /// What is missing behind this line may have stood there, but for a fault of this clause.
    pub(super) fn may_be_missed(&mut self, line: u64, clause: &'static str) {
        for notes in self.all_notes() {
            notes.unreadable = Some((line, clause));
        }
    }

    pub(super) fn set_gap_of(&mut self, sequence: &Sequence) {
        let gap = sequence.gap();
        for notes in self.all_notes() {
            notes.gap = gap;
            notes.whole_from = sequence.whole_from();
        }
    }
}

/// What is open where events may have come in another order.
fn open_order(order: Gap) -> String {
    format!("{order}; a recording would have to hold finer times, or the order of sending")
}

/// What tells an event that comes again from another one with its id: all that is judged of it.
fn content(event: &Event) -> impl Hash {
    let when = (event.sent, event.sequence);
    let what = (event.name, &event.ids, event.outcome, &event.kind);
    (&event.session, when, what)
}
