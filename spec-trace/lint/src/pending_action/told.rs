//! Each output, held against what was asked and what is known.

use std::collections::BTreeSet;

use super::account::{Action, Phase};
use super::{Monitor, Step, is, rules};
use crate::transcript::{Fields, Found, Output, same};

mod messages;
mod ran;
mod settled;
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
        last: &[(String, String)],
        found: &mut Found,
    ) -> BTreeSet<usize> {
        let lost = usize::try_from(step.exchange.request.number("lost").unwrap_or(0))
            .unwrap_or(usize::MAX);
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
            "tool_call" => self.may_be_released_unasked(step, &id),
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
        if what == "tool_call" && self.runs_wrongly(step, id) {
            return false;
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
}

/// Times may be written in whole seconds.
const COARSE: i64 = 1_000;
