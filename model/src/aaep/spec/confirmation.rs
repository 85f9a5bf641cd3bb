//! Chapter 6, as far as it is about confirmations, in the order of the text.

use std::sync::Arc;

use smallvec::SmallVec;

use super::clarification::{are_different, event_of};
use super::{Aaep, Binding, To, Turn, number};
use crate::aaep::account::{Answer, Phase, Question};
use crate::aaep::alphabet::{
    Action, Ask, Asked, By, Decision, Flaw, Message, Modified, Op, Output, Reply, Risk, Run, Says,
    SessionId, State, Status, Subject, Time, What,
};
use crate::aaep::clauses::{
    A_3_2, A_4_1, A_4_2, A_4_3, A_4_4, C6_1, C6_1_1, C6_1_3, C6_1_5, C6_1_6, C6_2_2_3, C6_2_4_1,
    C6_3_1_1, C6_3_1_2, C6_3_1_3, C6_3_1_4, C6_3_1_5, C6_3_2_4, C6_3_4_1, C6_3_4_2, C6_3_4_3,
    C6_3_4_4, C6_3_4_5, C6_3_4_6, C6_3_4_7, C6_3_4_9, C6_3_5_1, C6_3_5_2, C6_4_1_1, C6_4_1_2,
    C6_4_1_3, C6_4_1_4, C6_4_1_5, C6_4_1_6, C6_5_1_1, C6_5_1_2, C6_5_1_3, C6_5_1_4, C6_5_1_5,
    C6_5_5_1, C6_6_4, C6_7_1_1, C6_8_4, C6_9_1, EV_5, EV_10, EV_12, REPLY_2, REPLY_3, REPLY_4,
    REPLY_5, REPLY_6, REPLY_7, REPLY_8, REPLY_9, REPLY_10, REPLY_11, REPLY_14,
};
use crate::aaep::readings::{
    CancellationReleases, ClockTolerance, CourtesyNotice, DeadlineBoundary, DefaultRule,
    IncapableSubscriptions, LateReply, Numbers, ReplyLowerBound, SenderBinding, StateWhileAsked,
    TimeoutUsesToken,
};
use crate::engine::clause::Clauses;
use crate::engine::fact::Fact;
use crate::engine::obligation::{Force, Owed};
use crate::engine::protocol::Protocol;

/// A text has so many bytes at most.
pub const TEXT_BYTES: u32 = 16 << 10;
/// An event has so many bytes at most.
pub const EVENT_BYTES: u32 = 64 << 10;
/// Whatever a producer adds to the texts of a question has so many bytes at most.
const ENVELOPE_BYTES: u32 = 4 << 10;
/// So many replies can be allowed.
pub const ALLOWED_REPLIES: usize = 32;
/// By the reading that tolerates a clock ahead: less than this.
const TICK: Time = 1_000;

/// What a reply says, of which question. Nothing is that it gives the question up.
type Verdict = (usize, Option<Says>);

impl Turn<'_, '_> {
    // ── 6.1 The blocking contract ──

    pub(super) fn confirm(&mut self, ask: &Arc<Ask>) -> Result<(), Clauses> {
        self.offer();
        self.can_be_asked(ask)?;
        if let Some(evaded) = self.evades() {
            return evaded;
        }
        // AAEP-6.1-6: an action that waits is not asked for again.
        let is_same = |it: &Question| it.is_about(ask.session, ask.action.name);
        let is_blocked = self
            .step
            .account
            .questions
            .iter()
            .any(|it| is_same(it) && self.blocks(it));
        self.check(C6_1_6, !is_blocked)?;
        self.defaults_safely(ask)?;
        // AAEP-A.4-1: `awaiting_input` is entered no later than the question is asked.
        let which = self.put(&Subject::Action(Arc::clone(ask)), &[A_4_1]);
        // AAEP-6.1-1 left out: its action runs at once. AAEP-6.1-5 left out: it is told as invoked. AAEP-A.3-2 left
        // out: as complete.
        if !self.step.enforces(C6_1_1) {
            self.run(which, Force::Usual, &[]);
        }
        if !self.step.enforces(C6_1_5) {
            self.invoke(which, Force::Usual, &[]);
        }
        if !self.step.enforces(A_3_2) {
            self.complete(which, Force::Usual, Status::Success);
        }
        // AAEP-EV-16: "the default applies at once".
        if self.reading().incapable_subscriptions == IncapableSubscriptions::Withheld
            && !self.step.account.can_anybody_reply()
        {
            self.apply_default(which);
        }
        Ok(())
    }

    /// AAEP-6-1 left out: nobody is asked, and it may be refused.
    pub(super) fn evades(&mut self) -> Option<Result<(), Clauses>> {
        if self.step.enforces(C6_1) {
            return None;
        }
        match self.step.choose(3) {
            0 => Some(Ok(())),
            1 => Some(Err(&[])),
            _ => None,
        }
    }

    /// A question is put out, behind the state in which it waits by those clauses.
    pub(super) fn put(&mut self, subject: &Subject, awaits: Clauses) -> usize {
        let account = &mut self.step.account;
        let (which, at, fresh) = (account.questions.len(), account.clock, account.tokens);
        let session = subject.session();
        let asked_of = u16::try_from(account.subscriptions.len()).unwrap_or(u16::MAX);
        account
            .questions
            .push(Question::new(subject.clone(), at, asked_of));
        if self.state(session) != Some(State::AwaitingInput) {
            self.change(
                awaits,
                session,
                State::AwaitingInput,
                To::This,
                Binding::Changed,
            );
        }
        let earlier = self.chain.iter().find(|it| it.0 == session).map(|it| it.2);
        let token = if self.step.enforces(C6_2_2_3) {
            fresh
        } else {
            0
        };
        let what = match subject {
            Subject::Action(ask) => What::Asked(Arc::new(Asked {
                at,
                token,
                call: Some(self.step.account.calls),
                description: ask.description.name,
                consequence: ask.consequence.name,
                timeout: ask.timeout,
                default: ask.default,
                risk: Some(ask.risk),
                irreversible: Some(ask.irreversible),
                allowed: ask
                    .allowed
                    .clone()
                    .or_else(|| Some(self.reading().numbers.unlisted.replies().into())),
            })),
            Subject::Words(query) => What::Queried(Arc::new(event_of(query, at, token))),
            Subject::Tool(_) => return which,
        };
        let to = self.withheld();
        let it = self.tell(
            &[C6_1],
            Force::Due,
            session,
            what,
            Binding::Asked(number(which)),
        );
        if let (Output::Emit(event), true) = (&mut it.output, subject.ask().is_some()) {
            event.to = to;
        }
        if let Some(earlier) = earlier {
            it.after(earlier, awaits);
        }
        let name = it.name();
        self.follow(session, None, name);
        which
    }

    /// Its session goes on, and an event can hold it.
    fn can_be_asked(&mut self, ask: &Ask) -> Result<(), Clauses> {
        self.goes_on(ask.session)?;
        let texts = [ask.action, ask.tool, ask.description, ask.consequence];
        self.check(EV_5, !texts.iter().any(|it| it.is_blank || it.bytes == 0))?;
        self.check(
            EV_10,
            texts.iter().all(|it| it.bytes <= TEXT_BYTES) && ask.size <= EVENT_BYTES,
        )?;
        self.may_be_too_large(ask.size)?;
        self.can_wait(ask.timeout)?;
        self.check(
            EV_5,
            !matches!(ask.risk, Risk::Other(_)) && !matches!(ask.default, Decision::Other(_)),
        )?;
        let is_list = |allowed: &SmallVec<[Decision; 2]>| {
            (1..=ALLOWED_REPLIES).contains(&allowed.len()) && are_different(allowed)
        };
        self.check(EV_5, ask.allowed.as_ref().is_none_or(is_list))
    }

    /// What else stands in an event is the producer's: where it may be too large, it is refused by default.
    pub(super) fn may_be_too_large(&mut self, size: u32) -> Result<(), Clauses> {
        let is_too_large = size > EVENT_BYTES - ENVELOPE_BYTES && self.step.choose(2) == 0;
        self.check(EV_10, !is_too_large)
    }

    /// Whether the question bars its action from being asked about again.
    fn blocks(&self, question: &Question) -> bool {
        let is_kept = self.reading().cancellation_releases == CancellationReleases::No;
        question.phase == Phase::Open
            || is_kept
                && question.phase == Phase::Cancelled
                && question.deadline() > self.step.account.clock
    }

    /// The decision, replied or defaulted, is to accept.
    pub(super) fn accept(&mut self, which: usize, modified: Option<Modified>) {
        let Some(question) = self.step.account.questions.get_mut(which) else {
            return;
        };
        (question.phase, question.modified) = (Phase::Running, modified.map(|it| it.action));
        let session = question.session();
        // AAEP-A.4-2: what is resolved leaves `awaiting_input`.
        let is_told = self.tells(session);
        if is_told {
            self.change(
                &[A_4_2],
                session,
                State::CallingTool,
                To::Away,
                Binding::Outcome(number(which), State::CallingTool),
            );
        }
        // AAEP-A.4-3: what is accepted is told as invoked. Then it runs.
        let invoked = self.invoke(which, Force::Due, &[A_4_3]);
        let performed = self.run(which, Force::Due, &[A_4_3]);
        if let (Some(invoked), Some(performed)) = (invoked, performed)
            && let Some(it) = self.step.open.iter_mut().find(|it| it.name() == performed)
        {
            it.after(invoked, &[A_3_2]);
        }
        if is_told {
            self.go_on(session);
        }
    }

    /// AAEP-6.1-2, AAEP-6.1-3: an event tells that an action was rejected, by a reply or by default.
    pub(super) fn reject(&mut self, which: usize) {
        let Some(session) = self.question(which).map(Question::session) else {
            return;
        };
        self.becomes(which, Phase::Rejected);
        if self.tells(session) {
            self.change(
                &[C6_1_3],
                session,
                State::Thinking,
                To::Away,
                Binding::Outcome(number(which), State::Thinking),
            );
            self.go_on(session);
        }
        // AAEP-A.4-4: what is rejected is not told as invoked.
        if !self.step.enforces(A_4_4) {
            self.invoke(which, Force::Usual, &[]);
            self.run(which, Force::Usual, &[]);
        }
    }

    /// Whether a resolution has a transition of its own.
    pub(super) fn tells(&self, session: SessionId) -> bool {
        self.reading().state_while_asked == StateWhileAsked::LeavesWithEach
            || self
                .step
                .account
                .questions_in(session, Phase::Open)
                .is_empty()
    }

    pub(super) fn invoke(&mut self, which: usize, force: Force, clauses: Clauses) -> Option<Owed> {
        let Question { subject, call, .. } = self.question(which)?.clone();
        let action = subject.action()?;
        let what = What::Invoked {
            call,
            tool: action.tool,
            risk: action.risk,
            irreversible: action.irreversible,
        };
        Some(
            self.tell(
                clauses,
                force,
                subject.session(),
                what,
                Binding::Invoked(number(which)),
            )
            .name(),
        )
    }

    pub(super) fn run(&mut self, which: usize, force: Force, clauses: Clauses) -> Option<Owed> {
        let run = Output::Perform(self.run_of(which)?);
        Some(
            self.add(clauses, force, run, Binding::Performed(number(which)))
                .name(),
        )
    }

    pub(super) fn run_of(&self, which: usize) -> Option<Run> {
        let Question {
            subject,
            call,
            token,
            modified,
            ..
        } = self.question(which)?;
        let action = subject.action()?;
        Some(Run {
            session: subject.session(),
            action: action.name,
            call: call.unwrap_or(self.step.account.calls),
            tool: Some(action.tool),
            token: *token,
            modified: *modified,
        })
    }

    // ── 6.3.4 Producer validation of replies ──

    pub(super) fn deliver(&mut self, message: &Message) {
        let verdict = self.validate(message);
        self.respond(verdict.as_ref().err().copied());
        let Ok((which, says)) = verdict else {
            // AAEP-6.3.4-7: the reply is ignored, and what its claim held up happens.
            self.notify(message);
            if self.reading().late_reply == LateReply::ByClaim {
                self.elapse(&Op::Tick);
            }
            return;
        };
        if let Some(question) = self.step.account.questions.get_mut(which) {
            question.is_replied = true;
        }
        match says {
            Some(Says::Decides(Decision::Accept, modified)) => self.accept(which, modified),
            Some(Says::Decides(Decision::Reject | Decision::Other(_), _)) => self.reject(which),
            Some(Says::Answers(response)) => self.answer(which, Some(response), By::Reply),
            None => self.answer(which, None, By::Nobody),
        }
    }

    fn validate(&mut self, message: &Message) -> Result<Verdict, Clauses> {
        // AAEP-6.3.4-1: check 1, the form.
        let reply = message.reply.ok_or(C6_3_4_1.alone())?;
        if let Some(flaw) = reply.flaw {
            let is_answer = matches!(reply.says, Says::Answers(_));
            if is_answer {
                self.check_each(flaw.clauses_of_answer(), false)?;
            } else {
                self.check_reply(flaw.clauses(), false)?;
            }
        }
        // AAEP-6.3.4-2: check 2, the token is one that was ever issued, so that check 3 has its own work.
        let account = &self.step.account;
        let guessed = || {
            account
                .questions
                .iter()
                .position(|it| it.phase == Phase::Open)
        };
        let found = account.asked(reply.token).map_or_else(
            || self.check_reply(&[C6_3_4_2], false).map(|()| guessed()),
            |which| Ok(Some(which)),
        )?;
        let (which, question) = found
            .and_then(|it| Some((it, self.question(it)?.clone())))
            .ok_or(C6_3_4_2.alone())?;
        // 6.5.5: a reply to a question of its own kind.
        let is_answer = matches!(reply.says, Says::Answers(_));
        let is_of_kind = question.subject.query().is_some() == is_answer;
        self.check(C6_5_5_1, is_of_kind)?;
        // AAEP-6.3.4-3: check 3, the token is unused.
        self.is_unused(&question)?;
        // AAEP-6.3.4-4: check 4, the user decided before the deadline.
        self.check_reply(&[C6_3_4_4], self.is_in_time(&question, &reply))?;
        // AAEP-6.3.4-5: check 5, the transport knows the sender.
        self.is_authentic(message, &reply)?;
        match (reply.says, question.subject.query()) {
            (Says::Decides(decision, modified), None) => {
                self.decides(which, &question, decision, modified)
            }
            (Says::Answers(_), None) => Ok((which, Some(Says::Decides(Decision::Accept, None)))),
            (Says::Answers(response), Some(query)) => {
                Ok((which, self.answers(query, response)?.map(Says::Answers)))
            }
            (Says::Decides(..), Some(_)) => Ok((which, None)),
        }
    }

    fn decides(
        &mut self,
        which: usize,
        question: &Question,
        decision: Decision,
        modified: Option<Modified>,
    ) -> Result<Verdict, Clauses> {
        // AAEP-6.3.2-4: who does not support a modified action takes the reply for a rejection, whatever it says.
        if modified.is_some() {
            let is_supported =
                self.step.decide(|it| &mut it.modifies, false) || !self.step.enforces(C6_3_2_4);
            if !is_supported {
                return Ok((which, Some(Says::Decides(Decision::Reject, None))));
            }
        }
        // AAEP-6.3.4-6: check 6, the decision is one that the question allows.
        self.check_reply(
            &[C6_3_4_6],
            question.allows(decision, self.reading().numbers.unlisted),
        )?;
        // AAEP-6.7.1-1: the first valid reply counts.
        if !self.step.enforces(C6_7_1_1) && self.step.choose(2) == 1 {
            return Err(&[]);
        }
        // "Only if it rates no higher than what was asked."
        let asked = question.subject.action();
        let is_higher = modified
            .zip(asked)
            .is_some_and(|(it, asked)| rates_higher(it.risk, it.irreversible, asked));
        if is_higher {
            return Ok((which, Some(Says::Decides(Decision::Reject, None))));
        }
        Ok((which, Some(Says::Decides(decision, modified))))
    }

    /// AAEP-6.9-2: a token that is used up is good no more.
    fn is_unused(&self, question: &Question) -> Result<(), Clauses> {
        match question.phase {
            Phase::Open => Ok(()),
            // AAEP-6.8-4: a reply to what was cancelled is ignored.
            Phase::Cancelled => self.check(C6_8_4, false),
            // AAEP-6.3.5-1: every reply behind the first is ignored.
            _ if question.is_replied => self.check_reply(&[C6_3_4_3, C6_3_5_1, C6_7_1_1], false),
            Phase::Running
            | Phase::Finished
            | Phase::Abandoned
            | Phase::Rejected
            | Phase::Answered => self.check_reply(
                &[C6_3_4_3],
                self.reading().timeout_uses_token == TimeoutUsesToken::No,
            ),
        }
    }

    fn is_in_time(&self, question: &Question, reply: &Reply) -> bool {
        let (reading, deadline) = (self.reading(), question.deadline());
        let claims = reply.timestamp.unwrap_or(self.step.account.clock);
        let is_early = claims < question.asked_at
            && reading.reply_lower_bound == ReplyLowerBound::NotBeforeAsked;
        let precedes = claims < deadline
            || claims == deadline && reading.deadline_boundary == DeadlineBoundary::Inclusive;
        let is_tolerated = match reading.clock_tolerance {
            ClockTolerance::None => false,
            ClockTolerance::OneTick => claims < deadline.saturating_add(TICK),
            ClockTolerance::Any => true,
        };
        // What arrives in time alone is tolerated.
        !is_early && (precedes || is_tolerated && self.step.account.clock < deadline)
    }

    /// AAEP-6.9-1: the token alone proves nothing. The subscription is that of its sender, and active.
    fn is_authentic(&mut self, message: &Message, reply: &Reply) -> Result<(), Clauses> {
        self.check_reply(&[C6_3_4_5, C6_2_4_1, C6_9_1], message.is_authenticated)?;
        let on = reply.subscription.or(message.sender);
        let is_its_own =
            message.sender == on || self.reading().sender_binding == SenderBinding::Named;
        self.check_reply(
            &[C6_3_4_5, REPLY_14],
            is_its_own && on.is_some_and(|it| self.step.account.is_open(it)),
        )?;
        // AAEP-6.6-4: whoever replies, its reply counts like any other.
        let is_capable = on.is_some_and(|it| self.step.account.can_reply(it));
        let is_ignored = !is_capable && !self.step.enforces(C6_6_4) && self.step.choose(2) == 1;
        if is_ignored { Err(&[]) } else { Ok(()) }
    }

    /// A check that a reply has to pass, or it is ignored (AAEP-6.3.4-7).
    fn check_reply(&self, clauses: Clauses, holds: bool) -> Result<(), Clauses> {
        if self.step.enforces(C6_3_4_7) {
            self.check_each(clauses, holds)
        } else {
            Ok(())
        }
    }

    /// AAEP-6.3.4-9: whichever check failed, the answer is the same, or there is none. Whoever is heard may be answered
    /// otherwise.
    fn respond(&mut self, failed: Option<Clauses>) {
        let respond = |body| Output::Respond { status: 204, body };
        let Some(clauses) = failed else {
            self.add(&[], Force::Usual, respond(None), Binding::Told);
            return;
        };
        if !self.step.enforces(C6_3_4_9) {
            let body = clauses.first().map(|it| it.0.into());
            self.add(&[], Force::Usual, respond(body), Binding::Told);
            return;
        }
        let is_shown = self.step.variant.shows(Aaep::kind(&respond(None)));
        match self.step.account.to_failed {
            Answer::Silence => {}
            Answer::Unknown => {
                if is_shown && self.step.choose(2) == 1 {
                    self.step.account.to_failed = Answer::Silence;
                } else {
                    self.add(&[C6_3_4_9], Force::Due, respond(None), Binding::Failed);
                }
            }
            Answer::Response(status, body) => {
                self.add(
                    &[C6_3_4_9],
                    Force::Due,
                    Output::Respond { status, body },
                    Binding::Failed,
                );
            }
        }
    }

    // ── 6.3.5 Idempotency of replies ──

    /// AAEP-6.3.5-2: the sender of a late duplicate may be told that it was late.
    fn notify(&mut self, message: &Message) {
        let (Some(reply), Some(subscription)) = (message.reply, message.sender) else {
            return;
        };
        let is_over = |it: &Question| !matches!(it.phase, Phase::Open | Phase::Cancelled);
        let account = &self.step.account;
        let question = account
            .asked(reply.token)
            .and_then(|it| account.questions.get(it));
        // Who declares the notice sends it to whom the text names: who has sent a duplicate, which would count, had no
        // other come first.
        let is_duplicate = question.is_some_and(|it| {
            let allows = |decision| it.allows(decision, self.reading().numbers.unlisted);
            let is_allowed = matches!(reply.says, Says::Decides(decision, _) if allows(decision));
            it.is_replied && it.subject.ask().is_some() && is_allowed && self.is_in_time(it, &reply)
        });
        let is_late = reply.flaw.is_none()
            && question.is_some_and(is_over)
            && self.is_authentic(message, &reply).is_ok();
        if !is_late || self.reading().courtesy_notice == CourtesyNotice::Forbidden {
            return;
        }
        let is_owed = self.step.account.notifies == Fact::Yes && is_duplicate;
        let force = if is_owed { Force::Due } else { Force::Allowed };
        let notice = Output::Notify {
            subscription,
            token: Some(reply.token),
        };
        self.add(&[C6_3_5_2], force, notice, Binding::Told);
    }

    // ── 6.4.1 Default decision rules ──

    /// AAEP-6.4.1-1, AAEP-6.4.1-2: what is irreversible and of high or medium risk defaults to reject. What only SHOULD be so
    /// may be asked.
    fn defaults_safely(&mut self, ask: &Ask) -> Result<(), Clauses> {
        let accepts = ask.default == Decision::Accept;
        let Numbers {
            irreversible,
            reversible,
            ..
        } = self.reading().numbers;
        let ([low, medium, high], clauses) = if ask.irreversible {
            (irreversible, [C6_4_1_3, C6_4_1_2, C6_4_1_1])
        } else {
            (reversible, [C6_4_1_6, C6_4_1_5, C6_4_1_4])
        };
        let (rule, clause) = match ask.risk {
            Risk::Low => (low, clauses[0]),
            Risk::Medium => (medium, clauses[1]),
            Risk::High => (high, clauses[2]),
            Risk::Other(_) => return Ok(()),
        };
        match rule {
            DefaultRule::MustReject => self.check(clause, !accepts)?,
            DefaultRule::ShouldReject if accepts && self.step.choose(2) == 1 => return Err(&[]),
            DefaultRule::ShouldReject | DefaultRule::Either => {}
        }
        Ok(())
    }
}

/// Whether that is riskier by its own words, or less reversible, than what was asked about.
pub(super) fn rates_higher(risk: Option<Risk>, irreversible: Option<bool>, asked: Action) -> bool {
    let level = |risk| match risk {
        Risk::Low => 0,
        Risk::Medium => 1,
        Risk::High => 2,
        Risk::Other(_) => 3,
    };
    risk.is_some_and(|it| level(it) > level(asked.risk))
        || irreversible == Some(true) && !asked.irreversible
}

impl Flaw {
    /// The clauses that such a reply to a clarification is against.
    fn clauses_of_answer(self) -> Clauses {
        match self {
            Self::RepeatedName => &[C6_5_5_1],
            Self::Type => &[C6_5_5_1, C6_5_1_1],
            Self::Token => &[C6_5_5_1, C6_5_1_2],
            Self::Decision | Self::Response => &[C6_5_5_1, C6_5_1_3],
            Self::Subscription => &[C6_5_5_1, C6_5_1_4],
            Self::Timestamp => &[C6_5_5_1, C6_5_1_5],
            Self::DecidedBy
            | Self::Rationale
            | Self::ModifiedAction
            | Self::Confidence
            | Self::CorrelationId
            | Self::OtherProperty => &[C6_5_5_1, EV_12],
        }
    }

    /// The clauses that such a reply to a confirmation is against.
    fn clauses(self) -> Clauses {
        match self {
            Self::RepeatedName | Self::Response | Self::Confidence => &[C6_3_4_1],
            Self::Type => &[C6_3_4_1, C6_3_1_1, REPLY_2],
            Self::Token => &[C6_3_4_1, C6_3_1_2, REPLY_3],
            Self::Decision => &[C6_3_4_1, C6_3_1_3, REPLY_4],
            Self::Subscription => &[C6_3_4_1, C6_3_1_4, REPLY_5],
            Self::Timestamp => &[C6_3_4_1, C6_3_1_5, REPLY_6],
            Self::DecidedBy => &[C6_3_4_1, REPLY_7],
            Self::Rationale => &[C6_3_4_1, REPLY_8],
            Self::ModifiedAction => &[C6_3_4_1, REPLY_9],
            Self::CorrelationId => &[C6_3_4_1, REPLY_10],
            Self::OtherProperty => &[C6_3_4_1, REPLY_11],
        }
    }
}
