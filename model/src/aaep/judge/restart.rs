//! A restart: what nobody has seen comes again, and what was released and is not known to be
//! done is in doubt.
//!
//! The one thing to know: an event comes again byte for byte. A lost question alone keeps its token and gets a new event
//! id and a new timestamp, from which its timeout counts; the lost events of its session after it take that timestamp.

use super::account::Phase;
use super::call::{Body, Event, Output, ToolCall};
use super::clarifications::Answer;
use super::{Call, Look};

impl Look<'_> {
    pub(super) fn lose(&mut self) {
        let &Call::Restart { lost } = self.call else {
            return;
        };
        let last = std::mem::take(&mut self.account.last_outputs);
        let carried_out = last.len().saturating_sub(lost);
        for output in last.into_iter().skip(carried_out) {
            match output {
                Output::Emit(event) => self.event_is_lost(event),
                Output::Answer {
                    session,
                    token,
                    response,
                    by,
                } => self.duties.untold_answers.push(Answer {
                    session,
                    token,
                    response,
                    by,
                }),
                // Lost for good: nobody waits for a notice or for what a sender gets to see, and what was to run is in doubt.
                Output::Malformed(_)
                | Output::Notify { .. }
                | Output::Perform(_)
                | Output::InDoubt(_)
                | Output::Respond(_)
                | Output::Refused => {}
            }
        }
        // A performance that was lost is in doubt like one that was not: it is never run again.
        for (&session, kept) in &self.account.sessions {
            if kept.ended {
                continue;
            }
            for running in kept.running.iter().filter(|running| running.performed) {
                if let (Some(action), Some(tool_call)) = (running.action, running.tool_call) {
                    let doubt = ToolCall {
                        session,
                        action,
                        tool_call,
                        modified: None,
                    };
                    self.duties.in_doubt.push(doubt);
                }
            }
        }
    }

    fn event_is_lost(&mut self, event: Event) {
        if let Some((token, _)) = event.body.asks()
            && let Some(question) = self.account.questions.get_mut(&token)
            && question.phase == Phase::Open
        {
            // Nobody was asked, so that nothing falls due.
            question.told = false;
            self.account.deadlines.remove(&(question.deadline, token));
        }
        self.duties.untold.push(event);
    }

    /// Whether `event` is one that was lost and comes again.
    pub(super) fn comes_again(&mut self, event: &Event) -> bool {
        let untold = &self.duties.untold;
        let same_id = untold.iter().position(|lost| lost.id == event.id);
        let asks = event.body.asks();
        let same_question = untold
            .iter()
            .position(|lost| asks.is_some() && lost.body.asks() == asks);
        let Some(position) = same_question.or(same_id) else {
            return false;
        };
        let lost = self.duties.untold.remove(position);
        // Whom it goes to is no part of the event.
        let to = event.to.clone();
        match lost.body.asks() {
            Some((token, _)) => self.question_comes_again(&lost, event, token),
            None if *event != (Event { to, ..lost.clone() }) => {
                let text = format!("the lost event e{} must come again as it was", lost.id);
                self.conformance("AAEP-EV-7", &[], text);
            }
            None => {}
        }
        let mut overtaken = self.duties.untold.iter().take(position);
        if overtaken.any(|before| before.session == event.session)
            || self.duties.new_in.contains(&event.session)
        {
            let text = format!(
                "the lost events of s{} must come in their order, and before anything new",
                event.session
            );
            self.conformance("AAEP-EV-4", &["AAEP-EV-8"], text);
        }
        true
    }

    fn question_comes_again(&mut self, lost: &Event, event: &Event, token: u32) {
        let restamped = Event {
            id: event.id,
            at: event.at,
            to: event.to.clone(),
            ..lost.clone()
        };
        if restamped != *event {
            let text = format!("the lost question c{token} must come again as it was");
            self.conformance("AAEP-EV-5", &[], text);
        }
        if !self.account.event_ids.insert(event.id) {
            let text = format!("the lost question c{token} must come again as an event of its own");
            self.conformance("AAEP-EV-7", &[], text);
        }
        if !self.is_stamped_now(event.at) {
            let text = format!("the timeout of the lost question c{token} must count from now");
            self.conformance("AAEP-6.4-1", &["AAEP-EV-3"], text);
        }
        for later in &mut self.duties.untold {
            if later.session == event.session {
                later.at = event.at;
            }
        }
        if let Some(session) = self.account.sessions.get_mut(&event.session) {
            session.last_at = session.last_at.max(event.at);
        }
        if let Some(question) = self.account.questions.get_mut(&token) {
            question.told = true;
            if question.phase == Phase::Open {
                let timeout = question.timeout_seconds.saturating_mul(1000);
                question.deadline = event.at.saturating_add(timeout);
                self.account.deadlines.insert((question.deadline, token));
            }
        }
    }

    // A lost event that does not come again leaves a gap in its session (AAEP-EV-4) and whatever else it was to say unsaid;
    // a question that nobody saw asks nobody.
    pub(super) fn lost_events_came_again(&mut self) {
        let mut sessions = Vec::new();
        for lost in std::mem::take(&mut self.duties.untold) {
            let Event { id, session, .. } = lost;
            let (clause, also): (_, &[_]) = match &lost.body {
                Body::Started => ("AAEP-A.1-1", &["AAEP-EV-4"]),
                Body::Ended(_) => ("AAEP-A.1-2", &["AAEP-EV-4"]),
                Body::StateChanged { .. } => {
                    ("AAEP-A.4-2", &["AAEP-6.1-3", "AAEP-EV-4", "AAEP-EV-8"])
                }
                Body::Question(question) => {
                    self.was_not_asked(question.token);
                    ("AAEP-6.7-1", &["AAEP-6.1-1", "AAEP-EV-4"])
                }
                Body::ToolInvoked(_) => ("AAEP-A.4-3", &["AAEP-EV-4"]),
                Body::OutputStreaming(_) => ("AAEP-A.6-2", &["AAEP-A.6-1", "AAEP-EV-4"]),
                Body::Handoff(_) => ("AAEP-A.2-3", &["AAEP-6.7-1", "AAEP-EV-4"]),
                Body::ToolCompleted { .. } => ("AAEP-A.3-1", &["AAEP-EV-4"]),
                Body::Clarification(clarification) => {
                    self.was_not_asked(clarification.token);
                    ("AAEP-6.7-1", &["AAEP-6.1-9", "AAEP-EV-4"])
                }
                Body::Progress { .. } => ("AAEP-6.4.3-1", &["AAEP-6.4.2-3", "AAEP-EV-4"]),
                Body::Other => ("AAEP-EV-4", &[]),
            };
            if !sessions.contains(&session) {
                sessions.push(session);
                self.duties.settled.push(session);
                let text = format!("e{id} was lost and must come again after the restart");
                self.conformance(clause, also, text);
            }
        }
    }

    fn was_not_asked(&mut self, token: u32) {
        let asked = self.account.questions.get(&token);
        if asked.is_some_and(|asked| asked.phase == Phase::Open) {
            self.goes_astray(token);
        }
    }

    pub(super) fn doubts_were_reported(&mut self) {
        for output in self.outputs {
            if let Output::InDoubt(doubt) = output {
                self.doubt_is_reported(*doubt);
            }
        }
        for doubt in std::mem::take(&mut self.duties.in_doubt) {
            let text = format!(
                "a{} was released and is not known to be done: it must be reported as in doubt",
                doubt.action
            );
            self.conformance("AAEP-A.3-1", &[], text);
        }
    }

    fn doubt_is_reported(&mut self, doubt: ToolCall) {
        // As what it was to run is not asked here.
        let doubt = ToolCall {
            modified: None,
            ..doubt
        };
        let owed = self.duties.in_doubt.iter().position(|owed| *owed == doubt);
        if let Some(owed) = owed {
            self.duties.in_doubt.remove(owed);
            return;
        }
        // What was in flight when its session ended may still be in doubt.
        let session = self.account.sessions.get(&doubt.session);
        let abandoned = session.is_some_and(|session| {
            session.ended
                && session.running.iter().any(|running| {
                    running.action == Some(doubt.action)
                        && running.tool_call == Some(doubt.tool_call)
                })
        });
        if !(abandoned && matches!(self.call, Call::Restart { .. })) {
            let text = format!("a{} must not be reported as in doubt", doubt.action);
            self.conformance("AAEP-A.3-1", &[], text);
        }
    }
}
