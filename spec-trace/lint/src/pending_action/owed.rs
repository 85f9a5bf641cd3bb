//! What should have come of an exchange, and did not.

use super::account::Phase;
use super::{Doubt, Monitor, Step, Verdict, rules};
use crate::transcript::Found;

impl Monitor {
    pub(super) fn owed(&mut self, step: &Step<'_>, found: &mut Found) {
        if !["event", "append"].iter().all(|kind| self.shows.has(kind)) {
            // What is not shown may have come.
            return;
        }
        let is_refused = step.exchange.is_refused();
        self.expiry(step, found);
        match &*step.exchange.op {
            "propose" if !is_refused => self.record(step, found),
            "decide" => self.settlement(step, found),
            "finish_tool" => self.result(step, found),
            "cancel" => self.cancellation(step, found),
            "end_session" if !is_refused => self.end_of_session(step, found),
            "restart" if !is_refused => self.doubts(step, found),
            _ => {}
        }
        self.releases(step, found);
    }

    /// PA-1: what is proposed is recorded.
    fn record(&self, step: &Step<'_>, found: &mut Found) {
        found.touch(&rules::NO_RECORD);
        let is_recorded = step.seen.iter().any(|(_, what)| what == "created");
        if !is_recorded {
            self.accuse(
                &rules::NO_RECORD,
                step,
                "",
                "a call is proposed, and no event `created` tells of it",
                found,
            );
        }
    }

    /// PA-2, PA-3, PA-5: a decision that counts settles the action.
    fn settlement(&mut self, step: &Step<'_>, found: &mut Found) {
        let Some(decision) = &step.decision else {
            return;
        };
        found.touch(&rules::NOT_ENTITLED);
        let id = &*decision.action;
        let is_decided = step.has_seen(id, "decided");
        match decision.verdict {
            Verdict::Open(doubts) => self.weigh(step, id, doubts, is_decided, found),
            Verdict::Counts if !is_decided => {
                let (rule, what) = if decision.allows {
                    (&rules::ALLOWED_NOT_RUN, "allowed")
                } else {
                    (&rules::NOT_SETTLED, "denied")
                };
                let message = format!(
                    "{id:?} is {what} by {:?}, and nothing comes of it",
                    decision.by
                );
                self.accuse(rule, step, id, message, found);
            }
            Verdict::Counts | Verdict::Ignored(..) => {}
        }
    }

    /// PA-2, PA-7: a decision that counts is taken in its favour in each place that is open. One that does not may fail in any of them,
    /// but not where others counted before; what is told to have expired was weighed as that.
    fn weigh(
        &mut self,
        step: &Step<'_>,
        id: &str,
        doubts: &'static [Doubt],
        counts: bool,
        found: &mut Found,
    ) {
        if counts {
            for doubt in doubts {
                self.is_of_one_mind(step, id, *doubt, true, found);
            }
            return;
        }
        let has_counted = |it: &&Doubt| self.minds.get(it).is_some_and(|seen| seen[1].is_some());
        let mut open = doubts.iter().filter(|it| !has_counted(it));
        let told = ["expired", "expired_result"];
        match (open.next(), open.next()) {
            _ if doubts.len() > 1 && told.iter().any(|what| step.has_seen(id, what)) => {}
            (Some(_), Some(_)) => {}
            (one, _) => {
                if let Some(doubt) = one.or(doubts.first()) {
                    self.is_of_one_mind(step, id, *doubt, false, found);
                }
            }
        }
    }

    /// PA-3, PA-4, PA-6, PA-10: what is allowed runs and has its call in the transcript; what is denied is told, and has a result there.
    fn releases(&self, step: &Step<'_>, found: &mut Found) {
        let decided = step.seen.iter().filter(|(_, what)| what == "decided");
        for (id, _) in decided {
            let Some(action) = self.account.actions.get(id).filter(|it| !it.is_forgotten) else {
                continue;
            };
            let has = |what| step.has_seen(id, what);
            if action.phase == Phase::Allowed {
                if self.shows.has("perform") && !has("perform") {
                    self.accuse(
                        &rules::ALLOWED_NOT_RUN,
                        step,
                        id,
                        format!("{id:?} is allowed and does not run"),
                        found,
                    );
                }
                if !has("tool_call") {
                    self.accuse(
                        &rules::CALL_NOT_APPENDED,
                        step,
                        id,
                        format!("{id:?} is allowed, and the transcript has no `tool_call` of it"),
                        found,
                    );
                }
            } else {
                if !has("denied") {
                    self.accuse(
                        &rules::NOT_TOLD,
                        step,
                        id,
                        format!("{id:?} is denied, and no event `denied` tells of it"),
                        found,
                    );
                }
                if !has("denied_result") {
                    self.accuse(
                        &rules::DENIAL_NOT_APPENDED,
                        step,
                        id,
                        format!(
                            "{id:?} is denied, and the transcript has no `denied_result` of it"
                        ),
                        found,
                    );
                }
            }
        }
    }

    /// PA-4, PA-10: what a call in flight has come to is told, and stands in the transcript.
    fn result(&mut self, step: &Step<'_>, found: &mut Found) {
        let id = step.exchange.request.text("action_id").unwrap_or_default();
        if !step.in_flight.contains(&id) {
            return;
        }
        let is_cut = self.account.actions.get(&id).is_some_and(|it| it.is_cut);
        if !is_cut && !step.has_seen(&id, "executed") && !step.has_seen(&id, "not_run") {
            self.accuse(
                &rules::NOT_TOLD,
                step,
                &id,
                format!("{id:?} has come back, and no event tells of it"),
                found,
            );
        }
        if !is_cut && !step.has_seen(&id, "tool_result") {
            self.accuse(
                &rules::RESULT_NOT_APPENDED,
                step,
                &id,
                format!("{id:?} has come back, and the transcript has no `tool_result` of it"),
                found,
            );
        }
        if let Some(action) = self.account.actions.get_mut(&id) {
            action.is_finished = true;
        }
    }

    /// PA-5: a question that is taken back is settled.
    fn cancellation(&self, step: &Step<'_>, found: &mut Found) {
        let id = step.exchange.request.text("action_id").unwrap_or_default();
        if step.pending.contains(&id) && !is_taken_back(step, &id) {
            self.accuse(
                &rules::NOT_SETTLED,
                step,
                &id,
                format!("{id:?} is to be taken back, and nothing comes of it"),
                found,
            );
        }
    }

    /// PA-5: what pends in a session is taken back with its end.
    fn end_of_session(&self, step: &Step<'_>, found: &mut Found) {
        let session = step.exchange.request.text("session_id");
        for id in &step.pending {
            let is_of_it = self
                .account
                .actions
                .get(id)
                .is_some_and(|action| action.session == session);
            if is_of_it && !is_taken_back(step, id) {
                self.accuse(
                    &rules::NOT_SETTLED,
                    step,
                    id,
                    format!("the session of {id:?} ends, and it is not taken back"),
                    found,
                );
            }
        }
    }

    /// PA-7, PA-10: a question that has closed is told to have expired, before anything else happens. That it is not is told once.
    fn expiry(&mut self, step: &Step<'_>, found: &mut Found) {
        let is_over = |(at, _): &&(i64, String)| *at < self.account.now;
        let over = self.account.closing.iter().take_while(is_over);
        let over: Vec<(i64, String)> = over.cloned().collect();
        for closed in over {
            let id = &closed.1;
            let action = &self.account.actions[id];
            if action.since == step.exchange.line && action.phase == Phase::Pending {
                continue;
            }
            if action.phase == Phase::Pending && !action.is_forgotten {
                let message = format!(
                    "the question of {id:?} has closed, and nothing tells that it has expired"
                );
                self.accuse(&rules::NOT_TOLD, step, id, message, found);
            }
            self.account.closing.remove(&closed);
        }
    }

    /// PA-10: behind a restart, what is in flight is in doubt. What may run twice may run instead.
    fn doubts(&self, step: &Step<'_>, found: &mut Found) {
        if !self.shows.has("in_doubt") {
            return;
        }
        for id in &step.in_flight {
            let is_cut = self.account.actions[id].is_cut;
            if !is_cut && !step.has_seen(id, "in_doubt") && !step.has_seen(id, "perform") {
                self.accuse(
                    &rules::NOT_TOLD,
                    step,
                    id,
                    format!(
                        "{id:?} was released and has not come back, and is not told to be in doubt"
                    ),
                    found,
                );
            }
        }
    }
}

fn is_taken_back(step: &Step<'_>, id: &str) -> bool {
    step.has_seen(id, "cancelled") || step.has_seen(id, "cancelled_result")
}
