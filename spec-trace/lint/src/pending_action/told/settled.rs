//! The record of a question, and what settles it: proposed, decided, denied, finished, expired, cancelled.

use std::collections::BTreeSet;

use crate::pending_action::account::{Action, Deciders, Phase};
use crate::pending_action::{Doubt, Monitor, Step, Verdict, rules};
use crate::transcript::{Fields, Found, differs};

impl Monitor {
    /// PA-1: the record of an action says what was proposed, and has an id and a nonce of its own.
    pub(super) fn created(
        &mut self,
        step: &Step<'_>,
        id: &str,
        record: &Fields<'_>,
        found: &mut Found,
    ) {
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
        if action.deciders == Deciders::Unread {
            let written = proposal.raw("deciders").unwrap_or_default().to_owned();
            let first = (step.exchange.place.line, written, 0);
            self.unread.get_or_insert(first).2 += 1;
        }
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
    pub(super) fn decided(
        &mut self,
        step: &Step<'_>,
        id: &str,
        event: &Fields<'_>,
        found: &mut Found,
    ) {
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
            let rule = if before == Phase::Expired && phase == Phase::Allowed {
                &rules::EXPIRED
            } else {
                &rules::SETTLED_AGAIN
            };
            self.accuse(rule, step, id, message, found);
        }
        self.settle(id, phase, step.exchange.line);
    }

    /// PA-10: who has decided is told as it was.
    pub(super) fn by_is_told(
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
    pub(super) fn denied(
        &mut self,
        step: &Step<'_>,
        id: &str,
        told: &Fields<'_>,
        found: &mut Found,
    ) {
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
    pub(super) fn finished(
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
    pub(super) fn expired(&mut self, step: &Step<'_>, id: &str, found: &mut Found) {
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
        // A decision about it is weighed by itself.
        let decides = step.decision.as_ref().is_some_and(|it| {
            it.action == id && matches!(it.verdict, Verdict::Open([Doubt::ExpiryBoundary]))
        });
        if phase == Phase::Pending && self.account.actions[id].closes_at(now) && !decides {
            self.is_of_one_mind(step, id, Doubt::ExpiryBoundary, false, found);
        }
        self.settle(id, Phase::Expired, step.exchange.line);
    }

    /// PA-5, PA-10: a question is taken back where that was asked for, or its session ends, and it still pends or runs.
    pub(super) fn cancelled(
        &mut self,
        step: &Step<'_>,
        id: &str,
        told: &Fields<'_>,
        found: &mut Found,
    ) {
        found.touch(&rules::NOT_SETTLED);
        let request = &step.exchange.request;
        let action = &self.account.actions[id];
        let ends =
            step.exchange.op == "end_session" && request.text("session_id") == action.session;
        let (phase, is_in_flight) = (action.phase, action.is_in_flight());
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
        } else if !matches!(phase, Phase::Pending | Phase::Cancelled) && !is_in_flight {
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
        // What was released may come back all the same.
        if is_in_flight {
            self.with(id, |action| action.is_cut = true);
        } else {
            self.settle(id, Phase::Cancelled, step.exchange.line);
        }
    }

    /// PA-2, PA-7: where the text leaves open whether a decision counts, it does everywhere or nowhere.
    pub(in crate::pending_action) fn is_of_one_mind(
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
        let names = fields.texts("deciders").unwrap_or_default();
        names.into_iter().collect::<BTreeSet<_>>()
    };
    let are_read = Deciders::of(proposal) != Deciders::Unread;
    let arguments = record.raw("arguments").zip(proposal.raw("arguments"));
    let are_others = arguments.is_none_or(|(told, proposed)| differs(told, proposed));
    let flag = |fields: &Fields<'_>| fields.flag("idempotent").unwrap_or(false);
    let ends = |fields: &Fields<'_>| fields.time("expires_at");
    text.or_else(|| are_others.then_some("arguments"))
        .or_else(|| (are_read && names(record) != names(proposal)).then_some("deciders"))
        .or_else(|| (flag(record) != flag(proposal)).then_some("idempotent"))
        .or_else(|| {
            (proposal.has("expires_at") && ends(record) != ends(proposal)).then_some("expires_at")
        })
}
