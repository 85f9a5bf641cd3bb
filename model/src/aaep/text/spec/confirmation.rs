//! Chapter 6, as far as it is about confirmations, in the order of the text.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Aaep, Binding, To, Turn, number};
use crate::aaep::text::account::{Answer, Phase, Question, Subscription};
use crate::aaep::text::alphabet::{
    Ask, Asked, Decision, Flaw, Given, Message, Modified, Op, Output, Reply, Risk, Run, SessionId,
    State, Status, SubscriptionId, Time, Token, What,
};
use crate::aaep::text::clauses::{
    A_1_3, A_3_2, A_4_1, A_4_2, A_4_3, A_4_4, C6_1, C6_1_1, C6_1_3, C6_1_5, C6_1_6, C6_2_2_3,
    C6_2_4_1, C6_3_1_1, C6_3_1_2, C6_3_1_3, C6_3_1_4, C6_3_1_5, C6_3_2_4, C6_3_4_1, C6_3_4_2,
    C6_3_4_3, C6_3_4_4, C6_3_4_5, C6_3_4_6, C6_3_4_7, C6_3_4_9, C6_3_5_1, C6_3_5_2, C6_4_1,
    C6_4_1_1, C6_4_1_2, C6_7_1_1, C6_8_1, C6_8_3, C6_8_4, C6_9_1, EV_2, EV_5, EV_10, EV_11,
    REPLY_2, REPLY_3, REPLY_4, REPLY_5, REPLY_6, REPLY_7, REPLY_8, REPLY_9, REPLY_10, REPLY_11,
    REPLY_14,
};
use crate::aaep::text::readings::{
    CancellationReleases, ClockTolerance, CourtesyNotice, DeadlineBoundary, EarlyDefaultOnClose,
    IncapableSubscriptions, LateReply, ReplyLowerBound, SenderBinding, StateWhileAsked,
    TimeoutUsesToken,
};
use crate::engine::clause::Clauses;
use crate::engine::fact::Fact;
use crate::engine::obligation::{Force, Owed};
use crate::engine::protocol::Protocol;

/// A timeout lasts so long at least.
pub const TIMEOUT_LEAST: Time = 1_000;
/// A timeout lasts so long at most.
pub const TIMEOUT_MOST: Time = 86_400_000;
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

/// What a reply decides: the question, how, and by which change of its action.
type Verdict = (usize, Decision, Option<Modified>);

impl Turn<'_, '_> {
    // ── 6.1 The blocking contract ──

    pub(super) fn confirm(&mut self, ask: &Arc<Ask>) -> Result<(), Clauses> {
        self.offer();
        self.can_be_asked(ask)?;
        // AAEP-6-1 left out: nobody is asked, and it may be refused.
        if !self.step.enforces(C6_1) {
            match self.step.choose(3) {
                0 => return Ok(()),
                1 => return Err(&[]),
                _ => {}
            }
        }
        // "MUST NOT emit a subsequent agent.awaiting.confirmation for the same action without first releasing the prior block"
        let is_same =
            |it: &Question| it.ask.session == ask.session && it.ask.action.name == ask.action.name;
        let is_blocked = self
            .step
            .account
            .questions
            .iter()
            .any(|it| is_same(it) && self.blocks(it));
        self.check(C6_1_6, !is_blocked)?;
        self.defaults_safely(ask)?;
        let account = &mut self.step.account;
        let (which, clock, fresh) = (account.questions.len(), account.clock, account.tokens);
        account.questions.push(Question::new(ask, clock));
        // "The producer MUST emit agent.state.changed to awaiting_input at or before agent.awaiting.confirmation."
        if self.state(ask.session) != Some(State::AwaitingInput) {
            self.change(
                &[A_4_1],
                ask.session,
                State::AwaitingInput,
                To::This,
                Binding::Changed,
            );
        }
        let earlier = self
            .chain
            .iter()
            .find(|it| it.0 == ask.session)
            .map(|it| it.2);
        let token = if self.step.enforces(C6_2_2_3) {
            fresh
        } else {
            0
        };
        let asked = Asked {
            at: clock,
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
                .unwrap_or_else(|| [Decision::Accept, Decision::Reject].into()),
        };
        let it = self.tell(
            &[C6_1],
            Force::Due,
            ask.session,
            What::Asked(asked.into()),
            Binding::Asked(number(which)),
        );
        if let Some(earlier) = earlier {
            it.after(earlier, &[A_4_1]);
        }
        let name = it.name();
        self.follow(ask.session, None, name);
        // AAEP-6.1-1 left out: its action runs at once. AAEP-6.1-5 left out: it is told as invoked. AAEP-A.3-2 left out: as complete.
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

    /// Its session goes on, and an event can hold it.
    fn can_be_asked(&mut self, ask: &Ask) -> Result<(), Clauses> {
        self.check(A_1_3, self.step.account.is_active(ask.session))?;
        let texts = [ask.action, ask.tool, ask.description, ask.consequence];
        self.check(EV_5, !texts.iter().any(|it| it.is_blank || it.bytes == 0))?;
        self.check(
            EV_10,
            texts.iter().all(|it| it.bytes <= TEXT_BYTES) && ask.size <= EVENT_BYTES,
        )?;
        // What else stands in the event is the producer's.
        if ask.size > EVENT_BYTES - ENVELOPE_BYTES && self.step.choose(2) == 1 {
            return self.check(EV_10, false);
        }
        self.check(EV_5, (TIMEOUT_LEAST..=TIMEOUT_MOST).contains(&ask.timeout))?;
        self.check(
            EV_5,
            !matches!(ask.risk, Risk::Other(_)) && !matches!(ask.default, Decision::Other(_)),
        )?;
        let is_first = |allowed: &[Decision], place: usize| {
            !allowed
                .iter()
                .take(place)
                .any(|it| Some(it) == allowed.get(place))
        };
        let is_list = |allowed: &SmallVec<[Decision; 2]>| {
            (1..=ALLOWED_REPLIES).contains(&allowed.len())
                && (0..allowed.len()).all(|place| is_first(allowed, place))
        };
        self.check(EV_5, ask.allowed.as_ref().is_none_or(is_list))
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
    fn accept(&mut self, which: usize, modified: Option<Modified>) {
        let Some(question) = self.step.account.questions.get_mut(which) else {
            return;
        };
        (question.phase, question.modified) = (Phase::Running, modified.map(|it| it.action));
        let session = question.ask.session;
        // "The producer MUST emit agent.state.changed away from awaiting_input after resolution."
        let is_told = self.tells(session);
        if is_told {
            self.change(
                &[A_4_2],
                session,
                State::CallingTool,
                To::Away,
                Binding::Outcome(State::CallingTool),
            );
        }
        // "If accept, the producer MUST emit agent.tool.invoked for the confirmed action." Then the "tool execution begins".
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

    /// "The producer MUST NOT silently drop or skip the action upon rejection. If the decision (replied or defaulted) is
    /// reject, the producer MUST emit a follow-up event reflecting the cancelled action."
    fn reject(&mut self, which: usize) {
        let Some(session) = self.question(which).map(|it| it.ask.session) else {
            return;
        };
        self.becomes(which, Phase::Rejected);
        if self.tells(session) {
            self.change(
                &[C6_1_3],
                session,
                State::Thinking,
                To::Away,
                Binding::Outcome(State::Thinking),
            );
            self.go_on(session);
        }
        // "If reject, the producer MUST NOT emit agent.tool.invoked for the rejected action."
        if !self.step.enforces(A_4_4) {
            self.invoke(which, Force::Usual, &[]);
            self.run(which, Force::Usual, &[]);
        }
    }

    /// Whether a resolution has a transition of its own.
    fn tells(&self, session: SessionId) -> bool {
        self.reading().state_while_asked == StateWhileAsked::LeavesWithEach
            || self
                .step
                .account
                .questions_in(session, Phase::Open)
                .is_empty()
    }

    fn invoke(&mut self, which: usize, force: Force, clauses: Clauses) -> Option<Owed> {
        let Question { ask, call, .. } = self.question(which)?.clone();
        let what = What::Invoked {
            call,
            tool: ask.tool.name,
            risk: ask.risk,
            irreversible: ask.irreversible,
        };
        Some(
            self.tell(
                clauses,
                force,
                ask.session,
                what,
                Binding::Invoked(number(which)),
            )
            .name(),
        )
    }

    fn run(&mut self, which: usize, force: Force, clauses: Clauses) -> Option<Owed> {
        let run = Output::Perform(self.run_of(which)?);
        Some(
            self.add(clauses, force, run, Binding::Performed(number(which)))
                .name(),
        )
    }

    pub(super) fn run_of(&self, which: usize) -> Option<Run> {
        let Question {
            ask,
            call,
            token,
            modified,
            ..
        } = self.question(which)?;
        Some(Run {
            session: ask.session,
            action: ask.action.name,
            call: call.unwrap_or(self.step.account.calls),
            tool: Some(ask.tool.name),
            token: *token,
            modified: *modified,
        })
    }

    // ── 6.3.4 Producer validation of replies ──

    pub(super) fn deliver(&mut self, message: &Message) {
        let verdict = self.validate(message);
        self.respond(verdict.as_ref().err().copied());
        let Ok((which, decision, modified)) = verdict else {
            // "A reply that fails any check MUST be ignored", and what its claim held up happens.
            self.notify(message);
            if self.reading().late_reply == LateReply::ByClaim {
                self.elapse(&Op::Tick);
            }
            return;
        };
        if let Some(question) = self.step.account.questions.get_mut(which) {
            question.is_replied = true;
        }
        match decision {
            Decision::Accept => self.accept(which, modified),
            Decision::Reject | Decision::Other(_) => self.reject(which),
        }
    }

    fn validate(&mut self, message: &Message) -> Result<Verdict, Clauses> {
        // 1. "Verify the message is well-formed JSON conforming to the schema."
        let reply = message.reply.ok_or(C6_3_4_1.alone())?;
        if let Some(flaw) = reply.flaw {
            self.check_reply(flaw.clauses(), false)?;
        }
        // 2. "Verify the reply_token matches an outstanding confirmation": one that was ever issued, so that check 3 has its own work.
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
        // 3. "Verify the reply_token has not already been used."
        self.is_unused(&question)?;
        // 4. "timestamp of reply must precede the originating event's timestamp + timeout_seconds"
        self.check_reply(&[C6_3_4_4], self.is_in_time(&question, &reply))?;
        // 5. "Authenticate the sender at the transport level."
        self.is_authentic(message, &reply)?;
        // "If the producer does not support modified actions, it MUST treat such a reply as reject."
        if let Some(modified) = reply.modified {
            let is_supported =
                self.step.decide(|it| &mut it.modifies, false) || !self.step.enforces(C6_3_2_4);
            // "Only if it rates no higher than what was asked."
            if !is_supported || modified.rates_higher || reply.decision != Decision::Accept {
                return Ok((which, Decision::Reject, None));
            }
        }
        // 6. "Verify the decision value is one of the values listed in the originating confirmation's allowed_replies."
        self.check_reply(&[C6_3_4_6], question.allows(reply.decision))?;
        Ok((which, reply.decision, reply.modified))
    }

    /// Replies are "idempotent only with respect to the matching action; once consumed, the token is invalid".
    fn is_unused(&self, question: &Question) -> Result<(), Clauses> {
        match question.phase {
            Phase::Open => Ok(()),
            // "The cancelled confirmation's reply_token becomes invalid; subsequent replies to it MUST be ignored."
            Phase::Cancelled => self.check(C6_8_4, false),
            // "The producer MUST honor only the first reply received and ignore subsequent ones."
            _ if question.is_replied => self.check_reply(&[C6_3_4_3, C6_3_5_1, C6_7_1_1], false),
            Phase::Running | Phase::Finished | Phase::Abandoned | Phase::Rejected => self
                .check_reply(
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

    /// "A producer MUST still authenticate the sender of the reply." The subscription is that of its sender, and active.
    fn is_authentic(&self, message: &Message, reply: &Reply) -> Result<(), Clauses> {
        self.check_reply(&[C6_3_4_5, C6_2_4_1, C6_9_1], message.is_authenticated)?;
        let on = reply.subscription.or(message.sender);
        let is_its_own =
            message.sender == on || self.reading().sender_binding == SenderBinding::Named;
        self.check_reply(
            &[C6_3_4_5, REPLY_14],
            is_its_own && on.is_some_and(|it| self.step.account.is_open(it)),
        )
    }

    /// A check that a reply has to pass, or it is ignored (AAEP-6.3.4-7).
    fn check_reply(&self, clauses: Clauses, holds: bool) -> Result<(), Clauses> {
        if self.step.enforces(C6_3_4_7) {
            self.check_each(clauses, holds)
        } else {
            Ok(())
        }
    }

    /// "The producer MUST NOT inform the sender of the specific failure reason": whichever check failed, the answer is the same,
    /// or there is none. Whoever is heard may be answered otherwise.
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

    /// "The producer MAY send a courtesy notification on the subscription that submitted a late duplicate."
    fn notify(&mut self, message: &Message) {
        let (Some(reply), Some(subscription)) = (message.reply, message.sender) else {
            return;
        };
        let is_over = |it: &Question| !matches!(it.phase, Phase::Open | Phase::Cancelled);
        let account = &self.step.account;
        let question = account
            .asked(reply.token)
            .and_then(|it| account.questions.get(it));
        let is_late = reply.flaw.is_none()
            && question.is_some_and(is_over)
            && self.is_authentic(message, &reply).is_ok();
        if !is_late || self.reading().courtesy_notice == CourtesyNotice::Forbidden {
            return;
        }
        // Who declares the notice sends it to whom the text names: who has sent a duplicate.
        let is_duplicate = question.is_some_and(|it| it.is_replied);
        let is_owed = self.step.account.notifies == Fact::Yes && is_duplicate;
        let force = if is_owed { Force::Due } else { Force::Allowed };
        let notice = Output::Notify {
            subscription,
            token: Some(reply.token),
        };
        self.add(&[C6_3_5_2], force, notice, Binding::Told);
    }

    // ── 6.4 Timeout semantics ──

    /// "If no valid reply arrives before `timeout_seconds` elapses, the producer MUST apply the `default_decision`."
    pub(super) fn elapse(&mut self, op: &Op) {
        let is_claimed = self.reading().late_reply == LateReply::ByClaim;
        let claimed = if let (Op::Deliver(message), true) = (op, is_claimed) {
            message.reply
        } else {
            None
        };
        let spared = claimed.map(|it| it.token);
        let clock = self.step.account.clock;
        let mut passed: SmallVec<[usize; 2]> = SmallVec::new();
        loop {
            let waits = |(which, it): &(usize, &Question)| {
                let is_open = match it.phase {
                    Phase::Open => true,
                    Phase::Cancelled => {
                        self.reading().cancellation_releases == CancellationReleases::No
                    }
                    Phase::Running | Phase::Finished | Phase::Abandoned | Phase::Rejected => false,
                };
                is_open && it.token.is_some() && it.token != spared && !passed.contains(which)
            };
            let waiting = self.step.account.questions.iter().enumerate().filter(waits);
            let waiting: SmallVec<[(Time, usize); 2]> =
                waiting.map(|(which, it)| (it.deadline(), which)).collect();
            let Some(first) = waiting.iter().map(|it| it.0).min() else {
                return;
            };
            // "The order of what falls due at one instant is yours."
            let next: SmallVec<[usize; 2]> = waiting
                .iter()
                .filter(|it| it.0 == first)
                .map(|it| it.1)
                .collect();
            if first > clock {
                return;
            }
            let place = if next.len() > 1 {
                self.step.choose(number(next.len()))
            } else {
                0
            };
            let Some(which) = next.get(usize::from(place)).copied() else {
                return;
            };
            // AAEP-6.4-1 left out: nothing comes of it.
            if self.step.enforces(C6_4_1) || self.step.choose(2) == 1 {
                self.apply_default(which);
            }
            passed.push(which);
        }
    }

    fn apply_default(&mut self, which: usize) {
        match self.question(which).map(|it| it.ask.default) {
            Some(Decision::Accept) => self.accept(which, None),
            Some(Decision::Reject | Decision::Other(_)) => self.reject(which),
            None => {}
        }
    }

    /// "irreversible: true AND `risk_level`: high | MUST be reject", and so for medium. What only SHOULD be so may be asked.
    fn defaults_safely(&mut self, ask: &Ask) -> Result<(), Clauses> {
        let accepts = ask.default == Decision::Accept;
        self.check(
            C6_4_1_1,
            !(accepts && ask.irreversible && ask.risk == Risk::High),
        )?;
        self.check(
            C6_4_1_2,
            !(accepts && ask.irreversible && ask.risk == Risk::Medium),
        )?;
        let is_unwise = accepts && ask.irreversible == (ask.risk == Risk::Low);
        if is_unwise && ask.risk != Risk::Medium && self.step.choose(2) == 1 {
            return Err(&[]);
        }
        Ok(())
    }

    // ── Subscriptions ──

    pub(super) fn subscribe(&mut self, given: Given, can_reply: bool) -> Result<(), Clauses> {
        self.offer();
        self.check(EV_2, given.is_formed)?;
        let account = &mut self.step.account;
        let is_new = !account.subscriptions.iter().any(|it| it.id == given.id);
        if is_new {
            account.subscriptions.push(Subscription {
                id: given.id,
                can_reply,
                is_open: true,
            });
        }
        self.check(EV_2, is_new)
    }

    /// "When a subscription closes while the producer waits for its reply alone, the pending default applies as on timeout."
    /// By default one that accepts does not: it needs the elapsed timeout.
    pub(super) fn unsubscribe(&mut self, subscription: SubscriptionId) -> Result<(), Clauses> {
        self.offer();
        let account = &mut self.step.account;
        let could_reply = account.can_anybody_reply();
        let found = account
            .subscriptions
            .iter_mut()
            .find(|it| it.id == subscription && it.is_open);
        found.ok_or(REPLY_14.alone())?.is_open = false;
        let early = self.reading().early_default_on_close;
        if could_reply && !self.step.account.can_anybody_reply() && self.step.enforces(EV_11) {
            for which in 0..self.step.account.questions.len() {
                let applies = |it: &Question| match early {
                    EarlyDefaultOnClose::RejectOnly => it.ask.default == Decision::Reject,
                    EarlyDefaultOnClose::AsDefault => true,
                    EarlyDefaultOnClose::Never => false,
                };
                if self
                    .question(which)
                    .is_some_and(|it| it.phase == Phase::Open && applies(it))
                {
                    self.apply_default(which);
                }
            }
        }
        Ok(())
    }

    // ── 6.8 Cancellation of pending confirmations ──

    /// "The producer emits an agent.state.changed returning to thinking or deciding with payload explaining the change. The
    /// cancelled confirmation's `reply_token` becomes invalid."
    pub(super) fn cancel(&mut self, token: Token) -> Result<(), Clauses> {
        self.offer();
        let account = &self.step.account;
        let is_open = |it: &Question| it.phase == Phase::Open && it.token == Some(token);
        let which = account
            .questions
            .iter()
            .position(is_open)
            .ok_or(C6_1.alone())?;
        let Some(session) = self.question(which).map(|it| it.ask.session) else {
            return Ok(());
        };
        // AAEP-6.8-1 left out: it is told, and waits on.
        if self.step.enforces(C6_8_1) {
            self.becomes(which, Phase::Cancelled);
        }
        self.change(
            &[C6_8_3],
            session,
            State::Thinking,
            To::Back,
            Binding::Changed,
        );
        self.go_on(session);
        Ok(())
    }
}

impl Flaw {
    /// The clauses that such a reply is against.
    fn clauses(self) -> Clauses {
        match self {
            Self::RepeatedName => &[C6_3_4_1],
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
