//! What runs, and what is in doubt.

use crate::pending_action::account::{Action, Phase};
use crate::pending_action::{Monitor, Step, is, rules};
use crate::rules::Rule;
use crate::transcript::{Fields, Found, differs};

impl Monitor {
    /// PA-3, PA-5, PA-7, PA-8: a call runs that was allowed, as it was proposed, and once. One that may run twice may do so behind a
    /// restart.
    pub(super) fn perform(&mut self, step: &mut Step<'_>, call: &Fields<'_>, found: &mut Found) {
        let id = call.text("action_id").unwrap_or_default();
        step.seen.insert((id.clone(), "perform".to_owned()));
        self.may_be_released_unasked(step, &id);
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
            let settled = action.ran.or(is_settled.then_some(action.since));
            if let Some(line) = settled.filter(|_| self.rolled_back.is_some()) {
                self.runs_again.get_or_insert((step.exchange.line, line));
            }
            return;
        }
        let fault = self.why_not(step, &id, action);
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

    /// PA-1, PA-5, PA-7, PA-8: why a call may not run now.
    fn why_not(
        &self,
        step: &Step<'_>,
        id: &str,
        action: &Action,
    ) -> Option<(&'static Rule, String)> {
        let since = action.since;
        let may_again = step.exchange.op == "restart"
            && action.idempotent
            && action.is_in_flight()
            && !self.account.has_ended(action);
        match (action.phase, action.ran) {
            _ if action.is_cut => Some((
                &rules::DENIED_RUNS,
                format!("{id:?} runs, though it was taken back"),
            )),
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
        }
    }

    /// Whether a call runs in this exchange that may not: that is the fault, and its message in the transcript follows from it.
    pub(super) fn runs_wrongly(&self, step: &Step<'_>, id: &str) -> bool {
        let mut outputs = step.exchange.outputs().unwrap_or_default().iter();
        let is_of_it = |fields: &Fields<'_>| fields.text("action_id").as_deref() == Some(id);
        let runs = outputs.any(|it| is(it, "perform") && is_of_it(&it.fields));
        let action = self.account.actions.get(id);
        runs && !is_yet_decided(step, id)
            && action.is_some_and(|action| self.why_not(step, id, action).is_some())
    }

    /// PA-1: a call that only reads may be released as it is proposed, with nobody asked.
    pub(super) fn may_be_released_unasked(&mut self, step: &Step<'_>, id: &str) {
        let action = self.account.actions.get(id);
        let is_free = action.is_some_and(|action| {
            let is_new = action.since == step.exchange.line && step.exchange.op == "propose";
            action.only_reads && action.phase == Phase::Pending && is_new
        });
        if is_free && !is_yet_decided(step, id) {
            self.settle(id, Phase::Allowed, step.exchange.line);
        }
    }

    /// PA-10: behind a restart, what was released and has not come back is in doubt, and nothing else.
    pub(super) fn in_doubt(&mut self, step: &mut Step<'_>, doubt: &Fields<'_>, found: &mut Found) {
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
}

/// Whether an event `decided` of that action is still to come in this exchange: what is told before it is told in the wrong order.
fn is_yet_decided(step: &Step<'_>, id: &str) -> bool {
    let mut outputs = step.exchange.outputs().unwrap_or_default().iter();
    let is_told = outputs.any(|it| {
        is(it, "event")
            && it.fields.text("type").as_deref() == Some("decided")
            && it.fields.text("action_id").as_deref() == Some(id)
    });
    is_told && !step.has_seen(id, "decided")
}
