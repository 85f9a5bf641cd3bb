//! Each output, held against what was asked and what is known.

use std::collections::BTreeSet;

use serde_json::Value;

use super::account::{Action, Phase};
use super::{Doubt, Monitor, Step, Verdict, is, rules};
use crate::transcript::{Fields, Found, Output, differs, leaves, same, text};

impl Monitor {
    pub(super) fn take(&mut self, step: &mut Step<'_>, output: &Output<'_>, found: &mut Found) {
        let fields = &output.fields;
        match &*output.kind {
            "event" => self.event(step, fields, found),
            "append" => self.append(step, fields, found),
            "perform" => self.perform(step, fields, found),
            "in_doubt" => self.in_doubt(step, fields, found),
            _ => {}
        }
    }

    /// PA-10: what was lost and tells of something comes again behind a restart. Yields which outputs these are.
    pub(super) fn told_again(
        &self,
        step: &Step<'_>,
        outputs: &[Output<'_>],
        found: &mut Found,
    ) -> BTreeSet<usize> {
        let lost = usize::try_from(step.exchange.request.number("lost").unwrap_or(0))
            .unwrap_or(usize::MAX);
        let last = &self.account.last;
        let lost = &last[last.len().saturating_sub(lost)..];
        let mut again = BTreeSet::new();
        for (kind, raw) in lost
            .iter()
            .filter(|(kind, _)| kind == "event" || kind == "append")
        {
            let mut rest = outputs
                .iter()
                .enumerate()
                .filter(|(at, _)| !again.contains(at));
            let same_again = rest.find(|(_, output)| {
                is(output, kind) && (output.raw == raw || same(output.raw, raw))
            });
            if let Some((at, _)) = same_again {
                again.insert(at);
                continue;
            }
            let fields = Fields::parse(raw).unwrap_or_default();
            let about = fields
                .text("action_id")
                .or_else(|| fields.text("tool_call_id"))
                .unwrap_or_default();
            let what = fields.text("type").unwrap_or_default();
            let message = format!("`{what}` was lost, and is not told again as it was");
            self.accuse(&rules::NOT_TOLD, step, &about, message, found);
        }
        again
    }

    fn event(&mut self, step: &mut Step<'_>, event: &Fields<'_>, found: &mut Found) {
        let (Some(id), Some(what)) = (event.text("action_id"), event.text("type")) else {
            return self.accuse(
                &rules::UNTRUE,
                step,
                "",
                "an event without `action_id` or `type`",
                found,
            );
        };
        self.has_name_of_its_own(step, &id, ("event", "event_id"), event, found);
        self.is_told_when_it_was(step, &id, &what, event, found);
        step.seen.insert((id.clone(), what.clone()));
        if what == "created" {
            return self.created(step, &id, event, found);
        }
        if self.is_unknown(step, &id, &what, found) || !self.is_told_once(step, &id, &what, found) {
            return;
        }
        match &*what {
            "decided" => self.decided(step, &id, event, found),
            "denied" => self.denied(step, &id, event, found),
            "executed" | "not_run" => self.finished(step, &id, &what, event, found),
            "expired" => self.expired(step, &id, found),
            "cancelled" => self.cancelled(step, &id, event, found),
            _ => {}
        }
    }

    fn append(&mut self, step: &mut Step<'_>, message: &Fields<'_>, found: &mut Found) {
        let what = message.text("type").unwrap_or_default();
        let id = message.text("tool_call_id").unwrap_or_default();
        self.has_name_of_its_own(step, &id, ("message", "message_id"), message, found);
        step.seen.insert((id.clone(), what.clone()));
        match &*what {
            "confirmation_request" => return self.asks_the_user(step, message, found),
            "user_message" => return self.was_said(step, message, found),
            _ => {}
        }
        if self.is_unknown(step, &id, &what, found) || !self.is_told_once(step, &id, &what, found) {
            return;
        }
        self.is_in_its_session(step, &id, message, found);
        match &*what {
            "tool_call" => self.call_appended(step, &id, message, found),
            "tool_result" => self.result_appended(step, &id, message, found),
            "denied_result" => self.denied(step, &id, message, found),
            "expired_result" => self.expired(step, &id, found),
            "cancelled_result" => self.cancelled(step, &id, message, found),
            _ => {}
        }
    }

    /// PA-10: an event or message has an id that no other has.
    fn has_name_of_its_own(
        &mut self,
        step: &Step<'_>,
        about: &str,
        (kind, member): (&'static str, &str),
        fields: &Fields<'_>,
        found: &mut Found,
    ) {
        let Some(name) = fields.text(member) else {
            return self.accuse(
                &rules::UNTRUE,
                step,
                about,
                format!("`{member}` is missing"),
                found,
            );
        };
        if let Some(line) = self.account.ids.get(&(kind, name.clone())) {
            let message = format!(
                "{member} {name:?} was that of another one on line {line}, or is told again"
            );
            self.accuse(&rules::TOLD_TWICE, step, about, message, found);
        }
        self.account.ids.insert((kind, name), step.exchange.line);
    }

    /// PA-10: an event has the time at which it happened, be it written in whole seconds. What has expired did so since its question closed.
    fn is_told_when_it_was(
        &self,
        step: &Step<'_>,
        id: &str,
        what: &str,
        event: &Fields<'_>,
        found: &mut Found,
    ) {
        let (Some(at), Some(asked)) = (event.time("at"), step.exchange.now) else {
            return;
        };
        // The clock may have been set back: the greatest time counts, or that of the request.
        let now = self.account.now;
        let action = self.account.actions.get(id);
        if action.is_some_and(|action| action.is_forgotten) {
            return;
        }
        let closed = action.and_then(|action| action.expires_at);
        let since = closed.filter(|_| what == "expired").unwrap_or(asked);
        if at <= since.saturating_sub(COARSE) || at >= now.saturating_add(COARSE) {
            let message = format!("at of `{what}` of {id:?} is not when it was");
            self.accuse(&rules::UNTRUE, step, id, message, found);
        }
    }

    /// PA-10: what is told is told of an action that was proposed.
    fn is_unknown(&self, step: &Step<'_>, id: &str, what: &str, found: &mut Found) -> bool {
        let is_known = self.account.actions.get(id);
        if is_known.is_none() && self.shows.has("event") {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("`{what}` of an action that nobody has proposed: {id:?}"),
                found,
            );
        }
        is_known.is_none_or(|action| action.is_forgotten)
    }

    /// PA-8, PA-10: each thing happens to an action once.
    fn is_told_once(&mut self, step: &Step<'_>, id: &str, what: &str, found: &mut Found) -> bool {
        let Some(action) = self.account.actions.get_mut(id) else {
            return false;
        };
        found.touch(&rules::TOLD_TWICE);
        if action.told.insert(what.to_owned()) {
            return true;
        }
        let rule = if what == "decided" {
            &rules::SETTLED_AGAIN
        } else {
            &rules::TOLD_TWICE
        };
        self.accuse(
            rule,
            step,
            id,
            format!("`{what}` of {id:?} is told a second time"),
            found,
        );
        false
    }

    /// PA-10: a message about a call stands in the transcript of its session.
    fn is_in_its_session(
        &self,
        step: &Step<'_>,
        id: &str,
        message: &Fields<'_>,
        found: &mut Found,
    ) {
        let action = &self.account.actions[id];
        let (told, known) = (message.text("session_id"), &action.session);
        if told.is_some() && known.is_some() && told != *known {
            let message = format!(
                "session_id {:?} is not that of the call",
                told.unwrap_or_default()
            );
            self.accuse(&rules::UNTRUE, step, id, message, found);
        }
        let (told, known) = (message.text("tool"), &action.tool);
        if told.is_some() && known.is_some() && told != *known {
            let message = format!(
                "tool {:?} is not that of the call",
                told.unwrap_or_default()
            );
            self.accuse(&rules::UNTRUE, step, id, message, found);
        }
    }

    /// PA-1: the record of an action says what was proposed, and has an id and a nonce of its own.
    fn created(&mut self, step: &Step<'_>, id: &str, record: &Fields<'_>, found: &mut Found) {
        let proposal = &step.exchange.request;
        found.touch(&rules::NO_RECORD);
        if let Some(known) = self.account.actions.get(id) {
            if !known.is_forgotten {
                let message = format!(
                    "action_id {id:?} is that of an action of line {}",
                    known.since
                );
                self.accuse(&rules::NAME_AGAIN, step, id, message, found);
            }
            return;
        }
        let is_refused = step.exchange.is_refused();
        if is_refused || !["propose", "restart"].contains(&&*step.exchange.op) {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("`created` of {id:?}, and nothing was proposed"),
                found,
            );
        } else if let Some(member) = differing(record, proposal) {
            let message = format!("{member} of the record is not as it was proposed");
            self.accuse(&rules::RECORD_DIFFERS, step, id, message, found);
        }
        let action = Action::new(record, proposal, step.exchange.line);
        self.sessions.extend(action.session.clone());
        if let Some(nonce) = &action.nonce
            && let Some(line) = self
                .account
                .nonces
                .insert(nonce.clone(), step.exchange.line)
        {
            let message = format!("nonce {nonce:?} is that of an action of line {line}");
            self.accuse(&rules::NAME_AGAIN, step, id, message, found);
        }
        let is_too_late = self.account.has_ended(&action);
        let closing = action.expires_at.map(|at| (at, id.to_owned()));
        self.account.closing.extend(closing);
        if let Some(session) = action.session.clone() {
            let of_session = self.account.of_session.entry(session).or_default();
            of_session.push(id.to_owned());
        }
        self.account.actions.insert(id.to_owned(), action);
        if is_too_late {
            // PA-5: what pends is taken back with its session, so that nothing is proposed in it any more.
            let message = format!("{id:?} is recorded in a session that has ended");
            self.accuse(&rules::PROPOSED_AFTER_END, step, id, message, found);
        }
    }

    /// PA-1, PA-2, PA-8: an action is decided as somebody has decided who may, and once. A call that only reads may be released unasked.
    fn decided(&mut self, step: &Step<'_>, id: &str, event: &Fields<'_>, found: &mut Found) {
        let told = event.text("decision").unwrap_or_default();
        let phase = if told == "allow" {
            Phase::Allowed
        } else {
            Phase::Denied
        };
        let (before, only_reads) = (
            self.account.actions[id].phase,
            self.account.actions[id].only_reads,
        );
        match step
            .decision
            .as_ref()
            .filter(|decision| decision.action == id)
        {
            None if only_reads && phase == Phase::Allowed && event.text("by").is_none() => {}
            None => {
                let message = format!("`decided` of {id:?}, and nobody has decided");
                self.accuse(&rules::UNDECIDED, step, id, message, found);
            }
            Some(decision) => {
                if let Verdict::Ignored(rule, why) = decision.verdict {
                    let message = format!("the decision on {id:?} counts though {why}");
                    self.accuse(rule, step, id, message, found);
                }
                match (decision.allows, phase) {
                    (false, Phase::Allowed) => {
                        let message = format!("`decided` allows {id:?}, which was denied");
                        self.accuse(&rules::DENIAL_ALLOWS, step, id, message, found);
                    }
                    (true, Phase::Denied) => {
                        let message = format!("`decided` denies {id:?}, which was allowed");
                        self.accuse(&rules::ALLOWED_NOT_RUN, step, id, message, found);
                    }
                    _ => {}
                }
                self.by_is_told(step, id, event, &decision.by, found);
            }
        }
        if before != Phase::Pending && before != phase {
            let message = format!(
                "`decided` of {id:?}, which is {} since line {}",
                before.words(),
                self.account.actions[id].since
            );
            let rule = if before == Phase::Expired {
                &rules::EXPIRED
            } else {
                &rules::SETTLED_AGAIN
            };
            self.accuse(rule, step, id, message, found);
        }
        self.settle(id, phase, step.exchange.line);
    }

    /// PA-10: who has decided is told as it was.
    fn by_is_told(
        &self,
        step: &Step<'_>,
        id: &str,
        told: &Fields<'_>,
        by: &str,
        found: &mut Found,
    ) {
        if let Some(told) = told.text("by").filter(|told| told != by) {
            let message = format!("by is told as {told:?}, and it was {by:?}");
            self.accuse(&rules::UNTRUE, step, id, message, found);
        }
    }

    /// PA-6, PA-10: a denial is told of what was denied, and by whom.
    fn denied(&mut self, step: &Step<'_>, id: &str, told: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::DENIAL_NOT_APPENDED);
        let phase = self.account.actions[id].phase;
        if phase != Phase::Denied {
            let message = format!("a denial of {id:?} is told, which is {}", phase.words());
            self.accuse(&rules::UNTRUE, step, id, message, found);
        }
        if let Some(decision) = step
            .decision
            .as_ref()
            .filter(|decision| decision.action == id)
        {
            self.by_is_told(step, id, told, &decision.by, found);
        }
    }

    /// PA-10: what a call has come to is told as it was reported, of a call that was released.
    fn finished(
        &mut self,
        step: &Step<'_>,
        id: &str,
        what: &str,
        told: &Fields<'_>,
        found: &mut Found,
    ) {
        let is_in_flight = step.in_flight.iter().any(|it| it == id);
        let reported = step.exchange.request.text("status").unwrap_or_default();
        let is_as_reported = match what {
            "executed" => {
                reported != "not_run" && told.text("status").is_none_or(|told| told == reported)
            }
            _ => reported == "not_run",
        };
        if !step.asks("finish_tool", id) {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("`{what}` of {id:?}, and nobody has reported it"),
                found,
            );
        } else if !is_in_flight {
            let phase = self.account.actions[id].phase;
            let message = format!(
                "`{what}` of {id:?}, which is {} and not in flight",
                phase.words()
            );
            self.accuse(&rules::UNTRUE, step, id, message, found);
        } else if !is_as_reported {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("`{what}` of {id:?} is not as it was reported: {reported}"),
                found,
            );
        }
        self.with(id, |action| action.is_finished = true);
    }

    /// PA-7, PA-10: a question has expired where nobody has decided in time, and not before.
    fn expired(&mut self, step: &Step<'_>, id: &str, found: &mut Found) {
        found.touch(&rules::EXPIRED);
        let (action, now) = (&self.account.actions[id], self.account.now);
        let is_due = action.is_overdue(now) || action.closes_at(now);
        let phase = action.phase;
        if !is_due {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("an expiry of {id:?} is told, whose time has not come"),
                found,
            );
        } else if !matches!(phase, Phase::Pending | Phase::Expired) {
            let message = format!("an expiry of {id:?} is told, which is {}", phase.words());
            self.accuse(&rules::SETTLED_AGAIN, step, id, message, found);
        }
        self.settle(id, Phase::Expired, step.exchange.line);
    }

    /// PA-5, PA-10: a question is taken back where that was asked for, or its session ends, and it still pends.
    fn cancelled(&mut self, step: &Step<'_>, id: &str, told: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::NOT_SETTLED);
        let request = &step.exchange.request;
        let action = &self.account.actions[id];
        let ends =
            step.exchange.op == "end_session" && request.text("session_id") == action.session;
        let phase = action.phase;
        let reason = told.text("reason").unwrap_or_default();
        let is_other = [
            ("requested", !step.asks("cancel", id)),
            ("session_ended", !ends),
        ];
        if !ends && !step.asks("cancel", id) {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("{id:?} is told to be taken back, and nobody has asked for that"),
                found,
            );
        } else if !matches!(phase, Phase::Pending | Phase::Cancelled) {
            let message = format!(
                "{id:?} is told to be taken back, which is {}",
                phase.words()
            );
            self.accuse(&rules::SETTLED_AGAIN, step, id, message, found);
        } else if is_other.contains(&(&*reason, true)) {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("reason {reason:?} is not why {id:?} was taken back"),
                found,
            );
        }
        self.settle(id, Phase::Cancelled, step.exchange.line);
    }

    /// PA-3, PA-5, PA-7, PA-8: a call runs that was allowed, as it was proposed, and once. One that may run twice may do so behind a
    /// restart.
    fn perform(&mut self, step: &mut Step<'_>, call: &Fields<'_>, found: &mut Found) {
        let id = call.text("action_id").unwrap_or_default();
        step.seen.insert((id.clone(), "perform".to_owned()));
        for rule in [
            &rules::DENIED_RUNS,
            &rules::RUNS_AGAIN,
            &rules::RUNS_OTHERWISE,
        ] {
            found.touch(rule);
        }
        let Some(action) = self.account.actions.get(&id) else {
            if self.shows.has("event") {
                self.accuse(
                    &rules::NEVER_PROPOSED,
                    step,
                    &id,
                    format!("{id:?} runs, which nobody has proposed"),
                    found,
                );
            }
            return;
        };
        if action.is_forgotten {
            let is_settled = !matches!(action.phase, Phase::Pending | Phase::Allowed);
            if let Some(line) = action.ran.or(is_settled.then_some(action.since)) {
                self.runs_again.get_or_insert((step.exchange.line, line));
            }
            return;
        }
        let since = action.since;
        let may_again = step.exchange.op == "restart"
            && action.idempotent
            && action.is_in_flight()
            && !self.account.has_ended(action);
        let fault = match (action.phase, action.ran) {
            (Phase::Allowed, Some(_)) if may_again => None,
            (Phase::Allowed, Some(line)) => Some((
                &rules::RUNS_AGAIN,
                format!("{id:?} runs again; it ran on line {line}"),
            )),
            (Phase::Allowed, None) => None,
            (Phase::Pending, _) => Some((
                &rules::UNDECIDED,
                format!("{id:?} runs before it is decided"),
            )),
            (Phase::Denied, _) => Some((
                &rules::DENIED_RUNS,
                format!("{id:?} runs, which was denied on line {since}"),
            )),
            (Phase::Cancelled, _) => Some((
                &rules::DENIED_RUNS,
                format!("{id:?} runs, which was taken back on line {since}"),
            )),
            (Phase::Expired, _) => Some((
                &rules::EXPIRED,
                format!("{id:?} runs, which has expired on line {since}"),
            )),
        };
        let tool = call.text("tool");
        let is_other_tool = tool.is_some() && action.tool.is_some() && tool != action.tool;
        let proposed = action.arguments.as_deref();
        let are_other = call
            .raw("arguments")
            .zip(proposed)
            .is_some_and(|(it, proposed)| differs(it, proposed));
        if let Some((rule, message)) = fault {
            self.accuse(rule, step, &id, message, found);
        }
        if is_other_tool {
            self.accuse(
                &rules::RUNS_OTHERWISE,
                step,
                &id,
                format!("tool of {id:?} is not the one that was proposed"),
                found,
            );
        }
        if are_other {
            self.accuse(
                &rules::RUNS_OTHERWISE,
                step,
                &id,
                format!("arguments of {id:?} are not those that were proposed"),
                found,
            );
        }
        self.with(&id, |action| action.ran = Some(step.exchange.line));
    }

    /// PA-10: behind a restart, what was released and has not come back is in doubt, and nothing else.
    fn in_doubt(&mut self, step: &mut Step<'_>, doubt: &Fields<'_>, found: &mut Found) {
        let id = doubt.text("action_id").unwrap_or_default();
        step.seen.insert((id.clone(), "in_doubt".to_owned()));
        if self.is_unknown(step, &id, "in_doubt", found) {
            return;
        }
        let is_so = step.exchange.op == "restart" && step.in_flight.contains(&id);
        if !is_so {
            let phase = self.account.actions[&id].phase;
            let message = format!(
                "{id:?} is told to be in doubt, which is {} and not in flight",
                phase.words()
            );
            self.accuse(&rules::UNTRUE, step, &id, message, found);
        }
    }

    /// PA-4, PA-10: the transcript has a call that was allowed, as it was proposed.
    fn call_appended(&self, step: &Step<'_>, id: &str, message: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::CALL_NOT_APPENDED);
        let action = &self.account.actions[id];
        if action.phase != Phase::Allowed && self.shows.has("event") {
            let message = format!(
                "the transcript has the call of {id:?}, which is {}",
                action.phase.words()
            );
            return self.accuse(&rules::UNTRUE, step, id, message, found);
        }
        let both = message.raw("arguments").zip(action.arguments.as_deref());
        if both.is_some_and(|(told, proposed)| differs(told, proposed)) {
            self.accuse(
                &rules::APPENDED_OTHERWISE,
                step,
                id,
                format!("arguments of {id:?} in the transcript are not those that were proposed"),
                found,
            );
        }
    }

    /// PA-4, PA-10: the transcript has the result of a call as it was reported.
    fn result_appended(&self, step: &Step<'_>, id: &str, message: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::RESULT_NOT_APPENDED);
        let request = &step.exchange.request;
        if !step.asks("finish_tool", id) || !step.in_flight.iter().any(|it| it == id) {
            let message = format!(
                "the transcript has a result of {id:?}, and none was reported of a call in flight"
            );
            return self.accuse(&rules::UNTRUE, step, id, message, found);
        }
        if message
            .text("status")
            .is_some_and(|told| request.text("status").is_some_and(|it| it != told))
        {
            self.accuse(
                &rules::UNTRUE,
                step,
                id,
                format!("status of {id:?} is not as it was reported"),
                found,
            );
        }
        let reported = request.raw("result").unwrap_or("\"\"");
        if message
            .raw("result")
            .is_some_and(|told| differs(told, reported))
        {
            self.accuse(
                &rules::APPENDED_OTHERWISE,
                step,
                id,
                format!("result of {id:?} in the transcript is not as it was reported"),
                found,
            );
        }
    }

    /// PA-9: what the user sees need not tell the id or the nonce. Where the proposal itself has them in its words, they stand there.
    fn asks_the_user(&self, step: &Step<'_>, message: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::MESSAGE_TELLS);
        let request = &step.exchange.request;
        let is_refused = step.exchange.is_refused();
        if is_refused || !["propose", "restart"].contains(&&*step.exchange.op) {
            let message = "a confirmation is asked for, and nothing was proposed";
            return self.accuse(&rules::UNTRUE, step, "", message, found);
        }
        let record = step.exchange.outputs().unwrap_or_default().iter();
        let record = record
            .filter(|it| is(it, "event") && it.fields.text("type").as_deref() == Some("created"));
        let names = record
            .flat_map(|it| [it.fields.text("action_id"), it.fields.text("nonce")])
            .flatten();
        let mut names: Vec<String> = names.filter(|name| name.len() >= TELLING).collect();
        names.extend(arguments(request));
        let label = message.text("label").unwrap_or_default();
        if label.chars().count() > LONGEST_LABEL && Some(&label) != request.text("label").as_ref() {
            let message = format!("label has more than {LONGEST_LABEL} characters");
            self.accuse(&rules::MESSAGE_TELLS, step, "", message, found);
        }
        for (shown, proposed) in [("text", "summary"), ("label", "label")] {
            let (shown_text, proposed) = (
                message.text(shown).unwrap_or_default(),
                request.text(proposed).unwrap_or_default(),
            );
            if let Some(name) = names
                .iter()
                .find(|name| shown_text.contains(&**name) && !proposed.contains(&**name))
            {
                self.accuse(
                    &rules::MESSAGE_TELLS,
                    step,
                    name,
                    format!("{shown} shows {name:?} to the user"),
                    found,
                );
            }
        }
    }

    /// PA-11: what is said and decides nothing reaches the transcript as it was said.
    fn was_said(&self, step: &Step<'_>, message: &Fields<'_>, found: &mut Found) {
        found.touch(&rules::WORDS_CHANGED);
        let request = &step.exchange.request;
        if step.exchange.op != "say" {
            return self.accuse(
                &rules::UNTRUE,
                step,
                "",
                "the transcript has words that nobody has said",
                found,
            );
        }
        for member in ["text", "by"] {
            if message.text(member) != request.text(member) {
                self.accuse(
                    &rules::WORDS_CHANGED,
                    step,
                    "",
                    format!("{member} is not as it was said"),
                    found,
                );
            }
        }
    }

    fn settle(&mut self, id: &str, phase: Phase, line: u64) {
        self.with(id, |action| {
            if action.phase != phase {
                (action.phase, action.since) = (phase, line);
            }
        });
    }

    fn with(&mut self, id: &str, change: impl FnOnce(&mut Action)) {
        if let Some(action) = self.account.actions.get_mut(id) {
            change(action);
        }
    }

    /// PA-2, PA-7: where the text leaves open whether a decision counts, it does everywhere or nowhere.
    pub(super) fn is_of_one_mind(
        &mut self,
        step: &Step<'_>,
        id: &str,
        doubt: Doubt,
        counts: bool,
        found: &mut Found,
    ) {
        let seen = self.minds.entry(doubt).or_default();
        seen[usize::from(counts)].get_or_insert(step.exchange.line);
        let Some(other) = seen[usize::from(!counts)] else {
            return;
        };
        let about = match doubt {
            Doubt::DecidersAbsent => "where nobody is named to decide",
            Doubt::ExpiryBoundary => "at the moment at which the question closes",
        };
        let [now, then] = if counts {
            ["counts", "did not count"]
        } else {
            ["does not count", "counted"]
        };
        let message = format!("a decision {about} {now}, and on line {other} one {then}");
        self.accuse(&rules::OF_TWO_MINDS, step, id, message, found);
    }
}

/// What shows that arguments are shown: their whole text, and those of their values that are no plain words.
fn arguments(request: &Fields<'_>) -> Vec<String> {
    let Some(raw) = request.raw("arguments") else {
        return Vec::new();
    };
    let text = text(raw).unwrap_or_else(|| raw.to_owned());
    let mut shown = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        leaves(&value, &mut |leaf| shown.push(leaf.to_owned()));
        shown.retain(|leaf| !leaf.chars().all(|it| it.is_alphabetic() || it == ' '));
        if value.is_object() || value.is_array() {
            shown.extend([value.to_string(), text]);
        }
    }
    shown.retain(|it| it.len() >= TELLING);
    shown
}

/// So many characters a label has at most.
const LONGEST_LABEL: usize = 80;

/// Times may be written in whole seconds.
const COARSE: i64 = 1_000;

/// A name of so many characters in a text is that name, and not by chance.
const TELLING: usize = 6;

/// The first member of a record that is not as it was proposed. A question of which no end was proposed may have one.
fn differing(record: &Fields<'_>, proposal: &Fields<'_>) -> Option<&'static str> {
    let texts = [
        "agent_id",
        "session_id",
        "run_id",
        "tool",
        "effect",
        "summary",
        "label",
    ];
    let text = texts
        .into_iter()
        .find(|name| record.text(name) != proposal.text(name));
    let names = |fields: &Fields<'_>| {
        fields
            .texts("deciders")
            .map(|it| it.into_iter().collect::<BTreeSet<_>>())
    };
    let arguments = record.raw("arguments").zip(proposal.raw("arguments"));
    let are_others = arguments.is_none_or(|(told, proposed)| differs(told, proposed));
    let flag = |fields: &Fields<'_>| fields.flag("idempotent").unwrap_or(false);
    let ends = |fields: &Fields<'_>| fields.time("expires_at");
    text.or_else(|| are_others.then_some("arguments"))
        .or_else(|| (names(record) != names(proposal)).then_some("deciders"))
        .or_else(|| (flag(record) != flag(proposal)).then_some("idempotent"))
        .or_else(|| {
            (proposal.has("expires_at") && ends(record) != ends(proposal)).then_some("expires_at")
        })
}
