//! The events on the wire: what holds of every event, before what it says is looked at.

use super::account::Session;
use super::call::{Body, Call, Event, Malformed, Outcome, Output};
use super::{Look, Starting};

impl Look<'_> {
    pub(super) fn events(&mut self) {
        for output in self.outputs {
            match output {
                Output::Emit(event) => {
                    self.reaches_everybody(event);
                    if !self.comes_again(event) {
                        if !self.duties.untold.is_empty() {
                            self.duties.new_in.push(event.session);
                        }
                        self.event_comes(event);
                    }
                }
                Output::Malformed(malformed) => self.no_event_comes(*malformed),
                Output::Notify { .. }
                | Output::Perform(_)
                | Output::InDoubt(_)
                | Output::Answer { .. }
                | Output::Respond(_)
                | Output::Refused => {}
            }
        }
    }

    // AAEP-EV-1, AAEP-EV-2, AAEP-EV-3, AAEP-EV-5, AAEP-EV-9, AAEP-6.2-1, AAEP-6.2.1-1: the form of an event.
    fn no_event_comes(&mut self, malformed: Malformed) {
        let (clause, also, what): (_, &[_], _) = match malformed {
            Malformed::Envelope => ("AAEP-EV-1", &[], "envelope"),
            Malformed::Identifier => ("AAEP-EV-2", &[], "identifiers"),
            Malformed::Timestamp => ("AAEP-EV-3", &[], "timestamp"),
            Malformed::Payload => ("AAEP-EV-5", &[], "payload"),
            Malformed::Type => ("AAEP-EV-9", &[], "type"),
            Malformed::Token => ("AAEP-6.2-1", &["AAEP-6.2.1-1"], "reply token"),
        };
        self.duties.malformed = true;
        self.conformance(
            clause,
            also,
            format!("an event must have the {what} that the wire prescribes"),
        );
    }

    fn event_comes(&mut self, event: &Event) {
        // AAEP-EV-7: no two events of one producer have one id.
        if !self.account.event_ids.insert(event.id) {
            let text = format!("another event must bear another id than e{}", event.id);
            self.conformance("AAEP-EV-7", &[], text);
            if self.is_out_of_number(event) {
                // The same event once more, not another one.
                return;
            }
        }
        if !self.is_within_its_session(event) {
            return;
        }
        self.is_stamped_and_numbered(event);
        // AAEP-EV-6: what waits for somebody, or failed, is critical.
        let urgent = matches!(
            event.body,
            Body::Question(_)
                | Body::Clarification(_)
                | Body::Handoff(_)
                | Body::Ended(Outcome::Errored)
        );
        if urgent && !event.critical {
            let text = format!("e{} must be of urgency critical", event.id);
            self.conformance("AAEP-EV-6", &[], text);
        }
        self.body_comes(event);
    }

    fn is_out_of_number(&self, event: &Event) -> bool {
        let session = self.account.sessions.get(&event.session);
        event.sequence.is_some()
            && session.is_some_and(|session| session.next_sequence != event.sequence)
    }

    // AAEP-EV-3: timestamps do not run backwards within a session. AAEP-EV-4: numbers count from 0 without a gap.
    fn is_stamped_and_numbered(&mut self, event: &Event) {
        let clock = self.account.clock;
        let question = event.body.asks().is_some();
        let now = self.is_stamped_now(event.at);
        let Some(session) = self.account.sessions.get_mut(&event.session) else {
            return;
        };
        let backwards = event.at < session.last_at;
        session.last_at = session.last_at.max(event.at.min(clock));
        let first = matches!(event.body, Body::Started);
        let expected = if first {
            event.sequence.map(|_| 0)
        } else {
            session.next_sequence
        };
        session.next_sequence = event.sequence.map(|number| number.saturating_add(1));
        let numbered = event.sequence == expected;
        // The one clock is the `now` of the call; what a timer puts out may bear the time at which it was due.
        if backwards || event.at > clock || (question && !now) {
            let text = format!("e{} must bear the time of its call", event.id);
            self.conformance("AAEP-EV-3", &[], text);
        }
        if !numbered {
            let text = match expected {
                Some(number) => format!(
                    "e{} must be number {number} of s{}",
                    event.id, event.session
                ),
                None => format!("no event of s{} may have a number", event.session),
            };
            self.conformance("AAEP-EV-4", &[], text);
        }
    }

    /// Whether `at` is now, to the second (a timestamp may have no fractional digits) or to the millisecond.
    pub(super) fn is_stamped_now(&self, at: i64) -> bool {
        let clock = self.account.clock;
        at == clock || at == clock - clock.rem_euclid(1000)
    }

    // AAEP-A.1-1, AAEP-A.7.1-1: a session.started first, and one. AAEP-A.1-3, AAEP-A.7.2-1, AAEP-A.8-8: nothing after the end.
    fn is_within_its_session(&mut self, event: &Event) -> bool {
        let name = event.session;
        let started = matches!(event.body, Body::Started);
        match self.account.sessions.get(&name) {
            None => {
                let awaited = matches!(self.duties.start, Some(Starting::Unnamed))
                    || self.duties.start == Some(Starting::Named(name));
                let mut session = Session::started(event.at, None);
                if awaited {
                    self.duties.start = None;
                }
                if !(started && awaited) {
                    session.astray = true;
                    session.next_sequence = event.sequence;
                    let text = format!("s{name} must not be heard of before it was started");
                    self.conformance("AAEP-A.1-1", &["AAEP-A.7.1-1"], text);
                }
                self.account.sessions.insert(name, session);
                true
            }
            Some(session) if session.ended => {
                let text = format!("nothing may follow the end of s{name}");
                if matches!(event.body, Body::Ended(_)) {
                    self.conformance("AAEP-A.1-2", &["AAEP-A.7.2-1", "AAEP-A.8-8"], text);
                } else {
                    self.conformance("AAEP-A.1-3", &["AAEP-A.7.2-1", "AAEP-A.8-8"], text);
                }
                self.duties.settled.push(name);
                // A tool.invoked or tool.completed after the end is that one break.
                false
            }
            Some(_) if started => {
                let text = format!("s{name} must not be started twice");
                self.conformance("AAEP-A.1-1", &["AAEP-A.7.1-1"], text);
                false
            }
            Some(_) => true,
        }
    }

    pub(super) fn sessions_began_and_ended(&mut self) {
        // AAEP-A.1-1
        if let Some(start) = self.duties.start.take()
            && !self.duties.malformed
        {
            let name = match start {
                Starting::Named(session) => format!("s{session}"),
                Starting::Unnamed => "a session".to_owned(),
            };
            let text = format!("{name} must begin with a session.started");
            self.conformance("AAEP-A.1-1", &["AAEP-A.7.1-1"], text);
        }
        // AAEP-A.1-2
        if let Some((session, _)) = self.duties.end.take() {
            let text = format!("s{session} must end with its terminal event");
            self.conformance("AAEP-A.1-2", &[], text);
            if let Some(session) = self.account.sessions.get_mut(&session) {
                session.astray = true;
            }
        }
    }

    pub(super) fn session_is_to_end(&mut self, session: u32, outcome: Outcome) {
        self.duties.end = Some((session, outcome));
        self.end_withdraws_questions(session, outcome == Outcome::Cancelled);
        self.end_completes_tools(session, outcome);
        self.end_completes_outputs(session, outcome);
    }

    // AAEP-A.1-2: one terminal event, the one that was asked for.
    pub(super) fn end_comes(&mut self, event: &Event, outcome: Outcome) {
        let name = event.session;
        if self.duties.end.take_if(|(session, _)| *session == name) != Some((name, outcome)) {
            let text = format!("s{name} must not end like this");
            self.conformance("AAEP-A.1-2", &[], text);
            if !matches!(self.call, Call::EndSession { session, .. } if *session == name) {
                self.end_withdraws_questions(name, true);
            }
        }
        if let Some(session) = self.account.sessions.get_mut(&name) {
            session.ended = true;
        }
    }
}
