//! What becomes of a question that waits: time, subscriptions and the host's change of mind (6.4, 6.7, 6.8).

use smallvec::SmallVec;

use super::{Binding, To, Turn, number};
use crate::aaep::account::{Phase, Question, Subscription};
use crate::aaep::alphabet::{
    Decision, Given, Op, Output, State, Subject, SubscriptionId, Time, Token, What,
};
use crate::aaep::clauses::{
    C6_1, C6_1_7, C6_4_1, C6_4_2_3, C6_4_3_1, C6_4_3_4, C6_8_1, C6_8_3, EV_2, EV_3, EV_5, EV_11,
    REPLY_14,
};
use crate::aaep::readings::{
    CancellationReleases, EarlyDefaultOnClose, IncapableSubscriptions, LateReply,
};
use crate::engine::clause::Clauses;
use crate::engine::fact::Fact;
use crate::engine::obligation::Force;

/// A timeout lasts so long at least.
pub const TIMEOUT_LEAST: Time = 1_000;
/// A timeout lasts so long at most.
pub const TIMEOUT_MOST: Time = 86_400_000;
/// The time left of a question is told that waits longer.
pub const LONG: Time = 60_000;
/// The last time that can be written: the year has four digits.
pub const LAST: Time = 253_402_300_799_999;

impl Turn<'_, '_> {
    // ── 6.4 Timeout semantics ──

    /// AAEP-6.4-1: the timeout without a valid reply applies the default.
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
                        it.subject.ask().is_some()
                            && self.reading().cancellation_releases == CancellationReleases::No
                    }
                    Phase::Running
                    | Phase::Finished
                    | Phase::Abandoned
                    | Phase::Rejected
                    | Phase::Answered => false,
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
            // AAEP-6.4-1 left out, or AAEP-6.1-7: nothing comes of it.
            let asks = self.question(which).and_then(|it| it.subject.ask());
            let clause = if asks.is_some() { C6_4_1 } else { C6_1_7 };
            if self.step.enforces(clause) || self.step.choose(2) == 1 {
                self.apply_default(which);
            }
            passed.push(which);
        }
    }

    pub(super) fn apply_default(&mut self, which: usize) {
        let Some(subject) = self.question(which).map(|it| it.subject.clone()) else {
            return;
        };
        match subject {
            Subject::Action(ask) if ask.default == Decision::Accept => self.accept(which, None),
            Subject::Action(_) => self.reject(which),
            Subject::Words(query) => self.default_answer(which, &query),
            Subject::Tool(_) => {}
        }
    }

    /// AAEP-6.4.2-3 left out: more time was given in words alone.
    pub(super) fn gives_no_time(&mut self) {
        let is_longer =
            |it: &Question| it.phase == Phase::Open && it.timeout > it.subject.timeout();
        let is_any = self.step.account.questions.iter().any(is_longer);
        if !self.step.enforces(C6_4_2_3) && is_any && self.step.choose(2) == 0 {
            for it in self
                .step
                .account
                .questions
                .iter_mut()
                .filter(|it| is_longer(it))
            {
                it.timeout = it.subject.timeout();
            }
        }
    }

    /// Such a timeout has an end that can be written.
    pub(super) fn can_wait(&self, timeout: Time) -> Result<(), Clauses> {
        self.check(EV_5, (TIMEOUT_LEAST..=TIMEOUT_MOST).contains(&timeout))?;
        self.check(
            EV_3,
            self.step.account.clock.saturating_add(timeout) <= LAST,
        )
    }

    // ── 6.4.2 Timeout duration recommendations ──

    /// AAEP-6.4.2-3: the question waits longer, which an event tells.
    pub(super) fn extend(&mut self, token: Token, timeout: Time) -> Result<(), Clauses> {
        self.offer_against(C6_4_2_3);
        let which = self.open(token).ok_or(C6_4_2_3.alone())?;
        let Some(question) = self.question(which).cloned() else {
            return Ok(());
        };
        self.check(EV_5, (TIMEOUT_LEAST..=TIMEOUT_MOST).contains(&timeout))?;
        let deadline = question.asked_at.saturating_add(timeout);
        self.check(EV_3, deadline <= LAST)?;
        if timeout <= question.timeout {
            return Err(C6_4_2_3.alone());
        }
        // AAEP-6.4.2-3 left out: it is refused.
        if !self.step.enforces(C6_4_2_3) && self.step.choose(2) == 0 {
            return Err(&[]);
        }
        if let Some(it) = self.step.account.questions.get_mut(which) {
            it.timeout = timeout;
        }
        let left = Some(deadline.saturating_sub(self.step.account.clock));
        let what = What::Progress { left };
        let it = self.tell(
            &[C6_4_2_3],
            Force::Due,
            question.session(),
            what,
            Binding::Told,
        );
        it.holes.left = true;
        Ok(())
    }

    // ── 6.4.3 Timeout countdown visibility ──

    /// AAEP-6.4.3-1, AAEP-6.4.3-4: a long timeout tells its time left at a half and at a tenth. What is told of a moment that
    /// the clock has jumped over is open.
    pub(super) fn count_down(&mut self) {
        let account = &self.step.account;
        let force = match account.counts_down {
            Fact::No => return,
            Fact::Perhaps => Force::Usual,
            Fact::Yes => Force::Due,
        };
        let (before, now) = (self.before, account.clock);
        let waits = |it: &&Question| {
            it.phase == Phase::Open
                && it.token.is_some()
                && it.timeout > LONG
                && now < it.deadline()
        };
        let waiting: SmallVec<[Question; 2]> =
            account.questions.iter().filter(waits).cloned().collect();
        for it in waiting {
            let passed = |part: Time| {
                let moment = it.deadline().saturating_sub(it.timeout / part);
                (before < moment && moment <= now).then_some(moment)
            };
            let half = passed(2);
            let Some(moment) = passed(10).or(half) else {
                continue;
            };
            let clauses: Clauses = if half.is_some() {
                &[C6_4_3_1, C6_4_3_4]
            } else {
                &[C6_4_3_4]
            };
            let left = Some(it.deadline().saturating_sub(now));
            let what = What::Progress { left };
            let owed = self.tell(clauses, force, it.session(), what, Binding::Told);
            owed.holes.left = moment < now;
        }
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
        self.check(EV_2, is_new)?;
        // The driver protocol lets a newcomer be told something.
        let notice = Output::Notify {
            subscription: given.id,
            token: None,
        };
        self.add(&[], Force::Allowed, notice, Binding::Told);
        Ok(())
    }

    /// "When a subscription closes while the producer waits for its reply alone, the pending default applies as on
    /// timeout." By default one that accepts does not: it needs the elapsed timeout.
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
                let accepts = |it: &Question| {
                    it.subject
                        .ask()
                        .is_some_and(|it| it.default == Decision::Accept)
                };
                let applies = |it: &Question| match early {
                    EarlyDefaultOnClose::RejectOnly => !accepts(it),
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

    /// AAEP-6.8-3, AAEP-6.8-4: a change of the state tells why the question is withdrawn, and its token is good no more.
    pub(super) fn cancel(&mut self, token: Token) -> Result<(), Clauses> {
        self.offer();
        let which = self.open(token).ok_or(C6_1.alone())?;
        let Some(session) = self.question(which).map(Question::session) else {
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

    /// The question with that token, which nobody has decided.
    fn open(&self, token: Token) -> Option<usize> {
        let is_open = |it: &Question| it.phase == Phase::Open && it.token == Some(token);
        self.step.account.questions.iter().position(is_open)
    }

    /// Whom alone a confirmation is sent to, by the reading that withholds it from who cannot reply (AAEP-EV-16).
    pub(super) fn withheld(&self) -> Option<SmallVec<[SubscriptionId; 2]>> {
        let account = &self.step.account;
        let is_withheld =
            self.reading().incapable_subscriptions == IncapableSubscriptions::Withheld;
        let open = || account.subscriptions.iter().filter(|it| it.is_open);
        let is_narrowed =
            is_withheld && account.delivers == Fact::Yes && open().any(|it| !it.can_reply);
        is_narrowed.then(|| open().filter(|it| it.can_reply).map(|it| it.id).collect())
    }
}
