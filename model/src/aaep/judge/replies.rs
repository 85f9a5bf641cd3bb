//! Section 6.3 and the reply schema: which reply counts, and what the sender of one that does not gets to see.

use super::account::{About, Blocked, Cause, Phase, Question, Verdict};
use super::call::{Decision, Delivery, Flaw, Modified, Output, QuestionKind, Reply};
use super::clarifications::Misfit;
use super::{Call, Look, Owes, Resolution};
use crate::aaep::readings::{
    ClockTolerance, CourtesyNotice, DeadlineBoundary, Reading, ReplyLowerBound, SenderBinding,
    TimeoutUsesToken,
};
use crate::judge::Kind;

/// Why a reply is to be ignored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    pub clause: &'static str,
    pub also: &'static [&'static str],
    /// What is the matter, after "the reply".
    pub why: &'static str,
    /// The token that it carried.
    pub token: Option<u32>,
    /// Whether another reading would have it counted.
    pub by_reading: bool,
}

/// What is common to the checks of one reply.
struct Fails {
    kind: QuestionKind,
    token: Option<u32>,
}

impl Fails {
    const fn of(delivery: &Delivery) -> Self {
        Self {
            kind: delivery.kind,
            token: delivery.reply.token,
        }
    }

    /// That it fails this check; the other clauses that say so, for a reply to a confirmation and to a clarification.
    const fn at<T>(
        &self,
        clause: &'static str,
        [of_confirmation, of_clarification]: [&'static [&'static str]; 2],
        why: &'static str,
    ) -> Result<T, Failed> {
        let also = match self.kind {
            QuestionKind::Confirmation => of_confirmation,
            QuestionKind::Clarification => of_clarification,
        };
        Err(Failed {
            clause,
            also,
            why,
            token: self.token,
            by_reading: false,
        })
    }

    // AAEP-6.3.4-4: strictly before; there is no tolerance, and no lower bound. AAEP-6.4.2-3: an extension moves the deadline.
    // By the reading `deadline-boundary` the deadline itself is in time, too; by `clock-tolerance` what is less than a second behind it, or whatever
    // is claimed;
    // by `reply-lower-bound` nothing is before the question.
    fn unless_in_time(
        &self,
        reply: &Reply,
        question: &Question,
        reading: Reading,
    ) -> Result<(), Failed> {
        let tolerance = match reading.clock_tolerance {
            ClockTolerance::None => 0,
            ClockTolerance::OneTick => 1_000,
            ClockTolerance::Any => i64::MAX,
        };
        let is_in_time = |claimed: i64| match reading.deadline_boundary {
            DeadlineBoundary::Strict => claimed.saturating_sub(tolerance) < question.deadline,
            DeadlineBoundary::Inclusive => claimed.saturating_sub(tolerance) <= question.deadline,
        };
        let is_early = |claimed: i64| match reading.reply_lower_bound {
            ReplyLowerBound::None => false,
            ReplyLowerBound::NotBeforeAsked => claimed < question.asked_at(),
        };
        let by_reading = reply.claimed_at.is_some_and(is_early);
        if !by_reading && reply.claimed_at.is_some_and(is_in_time) {
            return Ok(());
        }
        let also: &[_] = &["AAEP-6.9-2", "AAEP-6.3.4-7"];
        let also = [also, &["AAEP-6.5.5-1", "AAEP-6.9-2", "AAEP-6.3.4-7"]];
        let why = if by_reading {
            "claims a time before its question was asked"
        } else {
            "claims a time at or after the deadline"
        };
        let failed = self.at("AAEP-6.3.4-4", also, why);
        failed.map_err(|failed| Failed {
            by_reading,
            ..failed
        })
    }
}

/// 6.3.4 and 6.3.5: a reply arrives.
impl Look<'_> {
    // AAEP-6.3.4-7: a reply that fails a check changes nothing. AAEP-6.3.5-1, AAEP-6.7.1-1, AAEP-REPLY-12: the first that
    // passes all decides. AAEP-6.6-4: whoever forwarded the question.
    pub(super) fn reply_arrives(&mut self, delivery: &Delivery) {
        let token = match self.checks(delivery) {
            Ok(token) => token,
            Err(failed) => {
                self.duties.ignored = Some(failed);
                return;
            }
        };
        let Some(question) = self.account.questions.get(&token) else {
            return;
        };
        let owes = match question.phase {
            Phase::Open if self.account.has_ended(question.session) => Owes::Run,
            Phase::Open => Owes::All,
            // Decided by its timeout before, and its token not used by that: what follows from a second decision is free.
            Phase::Resolved { .. } => Owes::Nothing,
            Phase::Astray => return self.duties.settled.push(question.session),
        };
        match &question.about {
            About::Action(action) => {
                let (verdict, cause) = self.decided_by(&delivery.reply, action);
                self.resolve(token, verdict, cause, owes);
                self.accepted_is_modified(delivery.reply.modified_action);
            }
            About::Answer(_) => {
                self.resolve(token, Verdict::Answer, Cause::Reply, owes);
                self.response_is_the_answer(token, delivery.reply.response);
            }
        }
    }

    // AAEP-6.3.2-4: without support for modified actions, a reply that carries one is a reject, whatever it decides; also where
    // reject is not allowed. AAEP-6.3.2-3: with it, what is accepted runs as it was modified to, and one that rates higher than what was
    // asked is a reject; also where reject is not allowed.
    fn decided_by(&self, reply: &Reply, asked: &Blocked) -> (Verdict, Cause) {
        let decision = reply.decision.unwrap_or(Decision::Reject);
        let Some(modified) = reply.modified_action else {
            return (decision.into(), Cause::Reply);
        };
        match decision {
            _ if !self.declared.modified_action => (Verdict::Reject, Cause::Modified),
            Decision::Reject => (Verdict::Reject, Cause::Reply),
            Decision::Accept if asked.covers(modified) => (Verdict::Accept, Cause::Modified),
            Decision::Accept => (Verdict::Reject, Cause::Modified),
        }
    }

    /// Notes as what the action that was just accepted is to run.
    fn accepted_is_modified(&mut self, modified: Option<Modified>) {
        if let Some(resolution) = self.duties.resolutions.last_mut()
            && resolution.verdict == Verdict::Accept
        {
            resolution.modified = modified;
        }
    }

    /// The checks, in the order of the text: those of 6.3.4, the sixth of which is another one for a clarification
    /// (AAEP-6.5.5-1). The token of a reply that passes them.
    pub(super) fn checks(&self, delivery: &Delivery) -> Result<u32, Failed> {
        let reply = &delivery.reply;
        let fails = Fails::of(delivery);
        // AAEP-6.3.4-1 and the schema, AAEP-REPLY-1 to AAEP-REPLY-11, AAEP-6.5.1-1 to AAEP-6.5.1-5, AAEP-EV-12.
        if let Some(flaw) = delivery.flaw {
            let also = [clauses_of(flaw), clauses_of_clarification(flaw)];
            return fails.at("AAEP-6.3.4-1", also, "does not fit the schema");
        }
        // AAEP-6.3.4-2: outstanding means ever issued by this producer, for a question of this kind.
        let Some((token, question)) = self.named_by(delivery) else {
            let also: &[_] = &["AAEP-6.3.4-7"];
            let also = [also, &["AAEP-6.5.5-1", "AAEP-6.3.4-7"]];
            return fails.at("AAEP-6.3.4-2", also, "names no token of such a question");
        };
        let timed_out_now = self.unused(&fails, question)?;
        fails.unless_in_time(reply, question, self.reading)?;
        // AAEP-6.4-1: whatever it claims, the default is applied first (reading `late-reply`), and uses the token up
        // (reading `timeout-uses-token`).
        if timed_out_now && self.reading.timeout_uses_token == TimeoutUsesToken::Yes {
            return Err(Failed {
                clause: "AAEP-6.4-1",
                also: &["AAEP-6.3.4-3", "AAEP-6.3.4-4"],
                why: "comes at or after the deadline",
                token: reply.token,
                by_reading: true,
            });
        }
        self.is_from_its_subscription(&fails, delivery)?;
        self.fits(&fails, delivery, question)?;
        Ok(token)
    }

    /// The question that a message names, if there is one of its kind.
    fn named_by(&self, delivery: &Delivery) -> Option<(u32, &Question)> {
        let token = delivery.reply.token?;
        let question = self.account.questions.get(&token)?;
        (question.kind() == delivery.kind).then_some((token, question))
    }

    // AAEP-6.3.4-5, AAEP-6.2.4-1: authenticated; and the subscription is the sender's own and active.
    // One that cannot reply is honoured all the same (AAEP-6.6-4). By the reading `sender-binding` it need not be the sender's own.
    fn is_from_its_subscription(&self, fails: &Fails, delivery: &Delivery) -> Result<(), Failed> {
        let named = delivery.reply.subscription;
        let forged: &[_] = &["AAEP-6.2.4-1", "AAEP-6.9-1", "AAEP-6.3.4-7"];
        let forged = [forged, &["AAEP-6.5.5-1", "AAEP-6.2.4-1", "AAEP-6.9-1"]];
        if !delivery.authenticated {
            let why = "comes from nobody who was authenticated";
            return fails.at("AAEP-6.3.4-5", forged, why);
        }
        let bound = self.reading.sender_binding == SenderBinding::Own;
        if named.is_none() || bound && named != delivery.sender {
            let also: &[_] = &["AAEP-6.9-1", "AAEP-6.3.4-7"];
            let also = [also, &["AAEP-6.5.5-1", "AAEP-6.9-1", "AAEP-6.3.4-7"]];
            let why = "names the subscription of somebody else";
            let failed = fails.at("AAEP-6.3.4-5", also, why);
            // Whoever is named is the sender, by the other reading, as long as that subscription is active.
            let by_reading = named.is_some_and(|subscription| self.account.is_active(subscription));
            return failed.map_err(|failed| Failed {
                by_reading,
                ..failed
            });
        }
        if !named.is_some_and(|subscription| self.account.is_active(subscription)) {
            let also: &[_] = &["AAEP-REPLY-14", "AAEP-6.3.4-7"];
            let also = [also, &["AAEP-6.5.5-1", "AAEP-6.3.4-7"]];
            let why = "names a subscription that is not active";
            return fails.at("AAEP-6.3.4-5", also, why);
        }
        Ok(())
    }

    // AAEP-6.3.4-6; what AAEP-6.3.2-4 takes for a reject is one where none is allowed, too. AAEP-6.5.5-2, AAEP-6.5.5-3: for a
    // clarification, the type of the response and then the choices stand in its place.
    fn fits(&self, fails: &Fails, delivery: &Delivery, question: &Question) -> Result<(), Failed> {
        let reply = &delivery.reply;
        match &question.about {
            About::Action(action) => {
                let taken_for_reject =
                    reply.modified_action.is_some() && !self.declared.modified_action;
                let allowed = |decision| action.allowed.allows(decision);
                if taken_for_reject || reply.decision.is_some_and(allowed) {
                    return Ok(());
                }
                // AAEP-REPLY-15: a value of the producer's own is carried by no reply, and no other stands for it.
                let also: &[_] = if action.allowed.others {
                    &["AAEP-REPLY-15", "AAEP-6.3.4-7"]
                } else {
                    &["AAEP-6.3.4-7"]
                };
                let also = [also; 2];
                fails.at("AAEP-6.3.4-6", also, "decides what is not allowed")
            }
            About::Answer(wanted) => match wanted.takes.misfit_of(reply.response, self.reading) {
                None => Ok(()),
                Some(Misfit::Type) => {
                    let also = [&["AAEP-6.5.5-4", "AAEP-6.5.2-1", "AAEP-6.1-8"] as &[_]; 2];
                    let why = "answers with a type that the question does not take";
                    fails.at("AAEP-6.5.5-2", also, why)
                }
                Some(Misfit::Choice) => {
                    let also = [&["AAEP-6.5.5-4", "AAEP-6.5.2-1", "AAEP-6.1-8"] as &[_]; 2];
                    fails.at("AAEP-6.5.5-3", also, "answers with none of the choices")
                }
            },
        }
    }

    /// AAEP-6.3.4-3, AAEP-6.3.5-1, and AAEP-6.8-4 for a token that was withdrawn. Whether this call has applied the default.
    fn unused(&self, fails: &Fails, question: &Question) -> Result<bool, Failed> {
        let Phase::Resolved {
            verdict,
            cause,
            call,
        } = question.phase
        else {
            return Ok(false);
        };
        match (verdict, cause) {
            (Verdict::Withdraw, Cause::SessionEnd) => {
                let also: &[_] = &["AAEP-6.8-2", "AAEP-6.3.4-7"];
                let also = [also, &["AAEP-6.5.5-1", "AAEP-6.8-2", "AAEP-6.3.4-7"]];
                fails.at("AAEP-6.8-4", also, "comes after the end of its session")
            }
            (Verdict::Withdraw, _) => {
                let also: &[_] = &["AAEP-6.3.4-7"];
                let also = [also, &["AAEP-6.5.5-1", "AAEP-6.3.4-7"]];
                fails.at("AAEP-6.8-4", also, "names a question that was withdrawn")
            }
            // AAEP-EV-11: a closing applies the default as on timeout, and uses the token up no more than that.
            (
                Verdict::Accept | Verdict::Reject | Verdict::Answer,
                Cause::Timeout | Cause::Closing | Cause::Unanswerable,
            ) => {
                let timed_out_now = call == self.account.calls;
                let used = self.reading.timeout_uses_token == TimeoutUsesToken::Yes;
                if !used || timed_out_now {
                    return Ok(timed_out_now);
                }
                let also: &[_] = &["AAEP-6.4-1", "AAEP-6.9-2", "AAEP-6.3.4-7"];
                let also = [also, &["AAEP-6.5.5-1", "AAEP-6.1-7", "AAEP-6.9-2"]];
                let why = "names a token that the default has used up";
                fails.at("AAEP-6.3.4-3", also, why)
            }
            (Verdict::Accept | Verdict::Reject | Verdict::Answer, _) => {
                let also: &[_] = &[
                    "AAEP-6.3.5-1",
                    "AAEP-6.7.1-1",
                    "AAEP-6.9-2",
                    "AAEP-REPLY-12",
                    "AAEP-6.3.4-7",
                ];
                let also = [also, &["AAEP-6.5.5-1", "AAEP-6.3.5-1", "AAEP-6.9-2"]];
                fails.at("AAEP-6.3.4-3", also, "names a token that is used up")
            }
        }
    }

    /// Why the reply that arrives was to be ignored, where it can have been taken for one to this question: it names it, or
    /// none that there is.
    pub(super) fn ignored_for(&self, token: u32) -> Option<Failed> {
        let names = |named| named == token || !self.account.questions.contains_key(&named);
        self.duties
            .ignored
            .filter(|failed| failed.token.is_some_and(names))
    }

    /// Whether the reply that arrives decides another question than this.
    pub(super) fn decides_another(&self, token: u32) -> bool {
        let by_reply = |resolution: &&Resolution| match resolution.cause {
            Cause::Reply | Cause::Modified => resolution.token != token,
            Cause::Timeout
            | Cause::Closing
            | Cause::Unanswerable
            | Cause::Cancel
            | Cause::SessionEnd => false,
        };
        self.duties.resolutions.iter().find(by_reply).is_some()
    }

    // AAEP-6.6-4: such a reply is treated like any other. Where nothing came of it, that is what was not done.
    /// Whether the reply that arrives is sent on a subscription that has not said that it can reply.
    pub(super) fn cannot_have_replied(&self) -> bool {
        let Call::Deliver(delivery) = self.call else {
            return false;
        };
        let sender = delivery.sender.as_ref();
        let subscription = sender.and_then(|it| self.account.subscriptions.get(it));
        subscription.is_some_and(|it| !it.can_reply)
    }

    pub(super) fn ran_on_ignored_reply(&mut self, action: u32, token: u32, failed: Failed) {
        let Failed {
            clause, also, why, ..
        } = failed;
        let text = format!("a{action} must not run for c{token}: the reply {why}");
        let kind = if failed.by_reading {
            Kind::Conformance
        } else {
            Kind::Guarantee
        };
        self.finds(kind, clause, also, text);
    }

    pub(super) fn answers_to_sender(&mut self) {
        let Call::Deliver(delivery) = self.call else {
            return;
        };
        for output in self.outputs {
            if let Output::Notify {
                subscription,
                token,
            } = output
            {
                self.notice_comes(delivery, *subscription, *token);
            }
        }
        self.late_duplicate_is_told(delivery);
        self.ignored_look_alike();
    }

    // AAEP-6.3.5-2, AAEP-6.7.1-2: a producer that declares the courtesy pays it whoever sends a reply that would count, had no
    // other come first.
    fn late_duplicate_is_told(&mut self, delivery: &Delivery) {
        let permitted = self.reading.courtesy_notice == CourtesyNotice::Permitted;
        let Some(sender) = delivery.sender else {
            return;
        };
        let told = |output: &Output| matches!(output, Output::Notify { subscription, .. } if *subscription == sender);
        if self.declared.courtesy_notice
            && permitted
            && self.is_late_duplicate(delivery)
            && !self.outputs.iter().any(told)
        {
            let text = format!("sub{sender} must be told that another reply came first");
            self.conformance("AAEP-6.3.5-2", &["AAEP-6.7.1-2"], text);
        }
    }

    fn is_late_duplicate(&self, delivery: &Delivery) -> bool {
        let Some((_, question)) = self.named_by(delivery) else {
            return false;
        };
        let replied_before = match question.phase {
            Phase::Resolved { cause, call, .. } => {
                matches!(cause, Cause::Reply | Cause::Modified) && call != self.account.calls
            }
            Phase::Open | Phase::Astray => false,
        };
        let fails = Fails::of(delivery);
        replied_before
            && delivery.sender == delivery.reply.subscription
            && delivery.flaw.is_none()
            && fails
                .unless_in_time(&delivery.reply, question, self.reading)
                .is_ok()
            && self.is_from_its_subscription(&fails, delivery).is_ok()
            && self.fits(&fails, delivery, question).is_ok()
    }

    // AAEP-6.3.4-9: all whose reply is ignored get to see the same.
    fn ignored_look_alike(&mut self) {
        if self.duties.ignored.is_none() {
            return;
        }
        let shown = self.outputs.iter().filter_map(|output| match output {
            Output::Respond(shown) => Some(*shown),
            Output::Emit(_)
            | Output::Malformed(_)
            | Output::Notify { .. }
            | Output::Perform(_)
            | Output::InDoubt(_)
            | Output::Answer { .. }
            | Output::Refused => None,
        });
        let before = self
            .account
            .seen_by_ignored
            .get_or_insert_with(|| shown.clone().collect());
        if !shown.eq(before.iter().copied()) {
            let text =
                "the sender must get to see what every sender of an ignored reply does".to_owned();
            self.conformance("AAEP-6.3.4-9", &[], text);
        }
    }

    // AAEP-6.3.5-2, AAEP-6.7.1-2: a notice is free for a late duplicate that would else be valid, on the subscription that
    // sent it; whoever else gets one learns what AAEP-6.3.4-9 keeps from the sender.
    fn notice_comes(&mut self, delivery: &Delivery, subscription: u32, token: Option<u32>) {
        let of_reply = delivery.reply.token;
        let named = of_reply.and_then(|token| self.account.questions.get(&token));
        let late = named.is_some_and(|question| match question.phase {
            Phase::Resolved { verdict, call, .. } => {
                verdict != Verdict::Withdraw
                    && (call != self.account.calls || self.duties.ignored.is_some())
            }
            Phase::Astray => true,
            Phase::Open => false,
        });
        let to_sender = delivery.sender == Some(subscription)
            && token.is_none_or(|token| Some(token) == of_reply);
        let proper = delivery.flaw.is_none()
            && delivery.authenticated
            && delivery.sender == delivery.reply.subscription
            && self.account.is_active(subscription);
        let permitted = self.reading.courtesy_notice == CourtesyNotice::Permitted;
        if !(permitted && late && to_sender && proper) {
            let text = format!("sub{subscription} must be told nothing");
            self.conformance("AAEP-6.3.4-9", &["AAEP-6.3.5-2"], text);
        }
    }
}

fn clauses_of(flaw: Flaw) -> &'static [&'static str] {
    match flaw {
        Flaw::NotJson => &["AAEP-6.3.4-7"],
        Flaw::Missing => &["AAEP-REPLY-1", "AAEP-6.3.4-7"],
        Flaw::Type => &["AAEP-REPLY-2", "AAEP-6.3.1-1", "AAEP-6.3.4-7"],
        Flaw::Token => &["AAEP-REPLY-3", "AAEP-6.2.1-1", "AAEP-6.3.4-7"],
        Flaw::Decision => &["AAEP-REPLY-4", "AAEP-6.3.1-3", "AAEP-6.3.4-7"],
        Flaw::Subscription => &["AAEP-REPLY-5", "AAEP-6.3.1-4", "AAEP-6.3.4-7"],
        Flaw::Timestamp => &["AAEP-REPLY-6", "AAEP-6.3.1-5", "AAEP-6.3.4-7"],
        Flaw::DecidedBy => &["AAEP-REPLY-7", "AAEP-6.3.4-7"],
        Flaw::Rationale => &["AAEP-REPLY-8", "AAEP-6.3.4-7"],
        Flaw::ModifiedAction => &["AAEP-REPLY-9", "AAEP-6.3.2-6", "AAEP-6.3.4-7"],
        Flaw::CorrelationId => &["AAEP-REPLY-10", "AAEP-6.3.4-7"],
        // What the schema of a clarification lists is one more property here.
        Flaw::Response | Flaw::Confidence | Flaw::OtherProperty => {
            &["AAEP-REPLY-11", "AAEP-6.3.4-7"]
        }
    }
}

fn clauses_of_clarification(flaw: Flaw) -> &'static [&'static str] {
    match flaw {
        Flaw::NotJson => &["AAEP-6.5.5-1", "AAEP-6.3.4-7"],
        Flaw::Missing => &[
            "AAEP-6.5.5-1",
            "AAEP-6.5.1-2",
            "AAEP-6.5.1-3",
            "AAEP-6.5.1-4",
            "AAEP-6.5.1-5",
        ],
        Flaw::Type => &["AAEP-6.5.5-1", "AAEP-6.5.1-1"],
        Flaw::Token => &["AAEP-6.5.5-1", "AAEP-6.5.1-2", "AAEP-6.2.1-1"],
        Flaw::Response => &["AAEP-6.5.5-1", "AAEP-6.5.1-3", "AAEP-6.5.2-1"],
        Flaw::Subscription => &["AAEP-6.5.5-1", "AAEP-6.5.1-4"],
        Flaw::Timestamp => &["AAEP-6.5.5-1", "AAEP-6.5.1-5"],
        Flaw::DecidedBy => &["AAEP-6.5.5-1", "AAEP-6.5.3-1", "AAEP-EV-12"],
        Flaw::Confidence => &["AAEP-6.5.5-1", "AAEP-6.5.3-2"],
        Flaw::CorrelationId => &["AAEP-6.5.5-1", "AAEP-6.5.3-3"],
        // What the schema of a confirmation's reply lists is one more property here.
        Flaw::Decision | Flaw::Rationale | Flaw::ModifiedAction | Flaw::OtherProperty => {
            &["AAEP-6.5.5-1", "AAEP-EV-12"]
        }
    }
}
