//! One step: the state that follows and what may come out.
//!
//! The one thing to know: every call into the producer first settles what is due (AAEP-6.4-1), and only then does what it
//! was made for. So arrival decides: a reply that arrives at or after the deadline finds its token used.

use crate::time;

use super::Aaep;
use super::action::{Action, Transgression};
use super::bounds::Disturbance;
use super::message::{Message, Shape, Token};
use super::numbers::Numbers;
use super::output::{Answered, Output, Outputs};
use super::readings::{
    AcceptedThenCancelled, CourtesyNotice, EarlyDefaultOnClose, IncapableSubscriptions, LateReply,
    SessionEndCancels, SessionEndCompletes, SessionEndTells,
};
use super::rules::{self, Check, Guard, Refusal};
use super::state::{
    Confirmation, Item, Outbox, Phase, Session, SessionStatus, State, Subscription,
};
use super::words::{
    Clarifies, Class, Decision, Risk, SLOTS, SessionName, SessionOutcome, Slot, Subscriber,
};

/// What an action leads to. What is in neither list of outputs is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state that follows, not yet quotiented.
    pub next: State,
    /// What must come out. The order binds; only the place of [`Output::Respond`] among the rest is free.
    pub required: Outputs,
    /// What may come out besides.
    pub optional: Outputs,
    /// For a delivered reply that was ignored: the first check that it failed.
    pub ignored: Option<Check>,
    /// Of the witnesses that were wanted, those that this step is one of: a bit each, by their place in [`rules::WITNESSES`].
    pub witnessed: u128,
}

/// What a question comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// A confirmation is decided.
    Decided(Decision),
    /// A clarification is answered.
    Answered(Answered),
}

/// Who or what resolved a question.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// A reply that the producer took for valid.
    Reply,
    /// The default, at the deadline or because nobody is left who could answer.
    Default,
}

/// A step in the making: the states before and so far, and what has come out.
pub(super) struct StepSoFar<'step> {
    /// The model that makes it.
    pub(super) model: &'step Aaep,
    /// The state before.
    pub(super) before: &'step State,
    /// The state so far.
    pub(super) state: State,
    /// The outputs so far.
    pub(super) required: Outputs,
    /// What may come out besides, so far.
    pub(super) optional: Outputs,
    /// The check at which a reply was ignored.
    pub(super) ignored: Option<Check>,
    /// Which confirmations were resolved in this step, by reply or default.
    pub(super) resolved: [bool; SLOTS],
    /// Which confirmations a reply resolved in this step.
    pub(super) resolved_by_reply: [bool; SLOTS],
    /// The outbox of a producer with a rule left out is full: the run is not followed further.
    pub(super) overflowed: bool,
}

impl Aaep {
    /// What the action leads to; nothing if it is not enabled in this state.
    pub fn step(&self, before: &State, action: Action) -> Option<Step> {
        self.step_to_witness(before, action, 0)
    }

    /// The same, with those of the wanted witnesses that it is one of.
    pub fn step_to_witness(&self, before: &State, action: Action, wanted: u128) -> Option<Step> {
        let mut so_far = StepSoFar {
            model: self,
            before,
            state: *before,
            required: Outputs::none(),
            optional: Outputs::none(),
            ignored: None,
            resolved: [false; SLOTS],
            resolved_by_reply: [false; SLOTS],
            overflowed: false,
        };
        so_far.take(action)?;
        if so_far.overflowed {
            return None;
        }
        let witnessed = rules::witnessed(&so_far, action, wanted);
        let StepSoFar {
            state: next,
            required,
            optional,
            ignored,
            ..
        } = so_far;
        Some(Step {
            next,
            required,
            optional,
            ignored,
            witnessed,
        })
    }
}

impl Aaep {
    /// AAEP-EV-16: whether, by the reading, a confirmation is withheld from those who cannot reply.
    pub(super) fn withholds(&self, question: &Confirmation) -> bool {
        let withheld = self.reading.incapable_subscriptions == IncapableSubscriptions::Withheld;
        withheld && question.clarifies.is_none()
    }
}

impl StepSoFar<'_> {
    /// Takes the step, or finds that it is not enabled.
    fn take(&mut self, action: Action) -> Option<()> {
        if action.is_call() {
            self.state.stale = u8::try_from(self.state.outbox.len()).unwrap_or(u8::MAX);
        }
        match action {
            Action::StartSession { session } => {
                self.start_session(session);
                Some(())
            }
            Action::Open { subscriber } => {
                self.open(subscriber);
                Some(())
            }
            Action::Ask {
                session,
                class,
                timeout,
                same_action,
            } => self.ask(session, class, timeout, same_action),
            Action::Clarify {
                session,
                clarifies,
                timeout,
                same_question,
            } => self.clarify(session, clarifies, timeout, same_question),
            Action::Answer {
                subscriber,
                slot,
                response,
                skew,
                shape,
            } => self.reply_to_clarification(subscriber, slot, response, skew, shape),
            Action::Extend { slot, longer } => self.extend(slot, longer),
            Action::Decide {
                subscriber,
                slot,
                decision,
                skew,
                shape,
            } => self.decide(subscriber, slot, decision, skew, shape),
            Action::Deliver { index } => self.deliver_from_network(usize::from(index)),
            Action::Duplicate { index } => self.duplicate(usize::from(index)),
            Action::Lose { index } => self.lose(usize::from(index)),
            Action::Forge(forgery) => self.forge(forgery),
            Action::Replay => self.replay(),
            Action::Tick => self.tick(),
            Action::ServeTimer => {
                self.settle(None);
                Some(())
            }
            Action::Cancel { slot } => self.cancel(slot),
            Action::Change { slot } => self.change(slot),
            Action::EndSession { session, outcome } => {
                self.end_session(session, outcome);
                Some(())
            }
            Action::Close { subscriber } => self.close(subscriber),
            Action::CarryOut => self.carry_out(),
            Action::FinishTool { slot } => {
                self.finish_tool(slot);
                Some(())
            }
            Action::Work(piece) => self.work(piece),
            Action::Crash => self.crash(),
            Action::Transgress(transgression) => self.transgress(transgression),
        }
    }

    // What the agent does.

    /// `start_session`.
    fn start_session(&mut self, session: SessionName) {
        self.settle(None);
        // AAEP-A.1-1: a session starts once.
        let status = self.state.session(session).status;
        if status != SessionStatus::Unstarted && self.model.rules.forbid(Guard::StartsTwice) {
            self.required.push(Output::Refused(Refusal::StartedAlready));
            return;
        }
        self.state.sessions[session.index()] = Session::STARTED;
        self.emit(Output::Started(session));
    }

    /// `confirm`. The order of the refusals is: session, shape, default, same action.
    fn ask(
        &mut self,
        session: SessionName,
        class: Class,
        timeout: u8,
        same_action: bool,
    ) -> Option<()> {
        let slot = self.before.free_slot();
        let slot = slot.filter(|_| self.model.can_confirm(self.before))?;
        let issued = self.begins_to_ask(slot)?;
        if let Some(refusal) = self.refusal_to_ask(session, class, timeout, same_action) {
            self.required.push(Output::Refused(refusal));
            return Some(());
        }
        self.state.confirmations[slot.index()] = Confirmation {
            phase: Phase::Pending,
            session,
            same_action,
            class,
            issued,
            timeout,
            // AAEP-6.2.2-3: every confirmation has a token of its own.
            reused_token: slot != Slot::First && self.model.rules.allow(Guard::ReusesToken),
            ..Confirmation::UNASKED
        };
        self.put_question(slot);
        Some(())
    }

    /// `clarify`. The order of the refusals is: session, shape, same question.
    fn clarify(
        &mut self,
        session: SessionName,
        clarifies: Clarifies,
        timeout: u8,
        same_question: bool,
    ) -> Option<()> {
        let slot = self.before.free_slot();
        let slot = slot.filter(|_| self.model.can_clarify(self.before))?;
        let issued = self.begins_to_ask(slot)?;
        if let Some(refusal) = self.refusal_to_clarify(session, timeout, same_question) {
            self.required.push(Output::Refused(refusal));
            return Some(());
        }
        self.state.confirmations[slot.index()] = Confirmation {
            phase: Phase::Pending,
            session,
            same_action: same_question,
            clarifies: Some(clarifies),
            issued,
            timeout,
            // AAEP-6.2.2-3: tokens are of one space.
            reused_token: slot != Slot::First && self.model.rules.allow(Guard::ReusesToken),
            ..Confirmation::UNASKED
        };
        self.put_question(slot);
        Some(())
    }

    /// What comes before any question: what is due, and that somebody may be late. When it is asked.
    fn begins_to_ask(&mut self, slot: Slot) -> Option<u8> {
        let issued = time::tick(self.before.clock)?;
        self.settle(None);
        if slot == Slot::First && self.model.is_anybody_missing(self.before) {
            self.state.budgets.spend(Disturbance::Late)?;
        }
        Some(issued)
    }

    /// Puts out the question of a slot that was just filled.
    fn put_question(&mut self, slot: Slot) {
        let session = self.state.confirmation(slot).session;
        let rules = self.model.rules;
        // AAEP-A.4-1: the state is awaiting_input at or before the question.
        if rules.forbid(Guard::AsksWithoutState) && !self.state.session(session).awaiting_input {
            self.state.sessions[session.index()].awaiting_input = true;
            self.stops_writing(session);
            self.emit(Output::AwaitingInput(session));
        }
        self.emit(self.asked(slot));
        // AAEP-EV-16, by the reading that waits for nobody who could not reply.
        if self.model.withholds(self.state.confirmation(slot)) && !self.state.has_capable() {
            let default = self.state.confirmation(slot).default_verdict();
            self.resolve(slot, default, Cause::Default);
        }
    }

    /// The question as it is put out. AAEP-6.7-1: to everybody, whether they can reply or not.
    fn asked(&self, slot: Slot) -> Output {
        let question = self.state.confirmation(slot);
        if question.clarifies.is_some() {
            return Output::Clarify(slot);
        }
        let cannot_reply = |&it: &Subscriber| !it.is_capable() && self.state.is_open(it);
        let leaves_out =
            self.model.rules.allow(Guard::LeavesOneOut) || self.model.withholds(question);
        if leaves_out && Subscriber::ALL.iter().any(cannot_reply) {
            Output::AskedSome(slot)
        } else {
            Output::Asked(slot)
        }
    }

    /// Why this clarification is not asked for, if it is not.
    fn refusal_to_clarify(
        &self,
        session: SessionName,
        timeout: u8,
        same_question: bool,
    ) -> Option<Refusal> {
        let rules = self.model.rules;
        let first = self.state.first_clarification();
        let blocks_it = |slot: Slot| {
            let asked = self.state.confirmation(slot);
            asked.clarifies.is_some()
                && Some(self.state.question(slot)) == first
                && self.blocks(asked)
        };
        let blocked = same_question && Slot::ALL.into_iter().any(blocks_it);
        // AAEP-A.1-3: no event after the terminal one.
        if !self.state.session(session).is_active() && rules.forbid(Guard::AsksAfterEnd) {
            Some(Refusal::SessionOver)
        } else if self.was_handed_off(session) {
            Some(Refusal::HandedOff)
        // AAEP-EV-5: a timeout is at least one second.
        } else if timeout == 0 && rules.forbid(Guard::AsksWithoutTime) {
            Some(Refusal::BadTimeout)
        // AAEP-6.1-9: not again while it waits.
        } else if blocked && rules.forbid(Guard::AsksQuestionTwice) {
            Some(Refusal::StillAsked)
        } else {
            None
        }
    }

    /// `extend`.
    fn extend(&mut self, slot: Slot, longer: bool) -> Option<()> {
        self.settle(None);
        let rules = self.model.rules;
        let question = self.state.confirmation(slot);
        // AAEP-6.4.2-3: a question that waits, and longer than it would.
        let honoured = question.is_pending() && longer && rules.forbid(Guard::RefusesMoreTime);
        if !honoured {
            self.required.push(Output::Refused(Refusal::NoMoreTime));
            return Some(());
        }
        if question.extended >= self.model.bounds.extensions {
            return None;
        }
        let question = &mut self.state.confirmations[slot.index()];
        question.timeout += 1;
        question.extended += 1;
        if rules.forbid(Guard::ExtendsSilently) {
            self.emit(Output::MoreTime(slot));
        }
        Some(())
    }

    /// Why this confirmation is not asked for, if it is not.
    fn refusal_to_ask(
        &self,
        session: SessionName,
        class: Class,
        timeout: u8,
        same_action: bool,
    ) -> Option<Refusal> {
        let rules = self.model.rules;
        let numbers = self.model.reading.numbers;
        let forbidden_default =
            class.forbids_default_accept(numbers) && class.default == Decision::Accept;
        let blocks_it = |slot| {
            self.state.action(slot) == Slot::First && self.blocks(self.state.confirmation(slot))
        };
        let blocked = same_action && Slot::ALL.into_iter().any(blocks_it);
        // AAEP-A.1-3: no event after the terminal one.
        if !self.state.session(session).is_active() && rules.forbid(Guard::AsksAfterEnd) {
            Some(Refusal::SessionOver)
        } else if self.was_handed_off(session) {
            Some(Refusal::HandedOff)
        // AAEP-EV-5: a timeout is at least one second.
        } else if timeout == 0 && rules.forbid(Guard::AsksWithoutTime) {
            Some(Refusal::BadTimeout)
        // AAEP-6.4.1-1: irreversible and high risk, so the default is reject.
        } else if forbidden_default
            && class.irreversible
            && class.risk == Risk::High
            && rules.forbid(Guard::DefaultsHighRisk)
        {
            Some(Refusal::DefaultOfHighRisk)
        // AAEP-6.4.1-2: irreversible and medium risk, so the default is reject.
        } else if forbidden_default
            && class.irreversible
            && class.risk == Risk::Medium
            && rules.forbid(Guard::DefaultsMediumRisk)
        {
            Some(Refusal::DefaultOfMediumRisk)
        // The other rows of the table, where it was changed.
        } else if forbidden_default && !class.forbids_default_accept(Numbers::TEXT) {
            Some(match (class.irreversible, class.risk) {
                (true, _) => Refusal::DefaultOfLowRisk,
                (false, Risk::High) => Refusal::DefaultOfReversibleHighRisk,
                (false, Risk::Medium) => Refusal::DefaultOfReversibleMediumRisk,
                (false, Risk::Low) => Refusal::DefaultOfReversibleLowRisk,
            })
        // AAEP-6.1-6: not again while the prior block is not released.
        } else if blocked && rules.forbid(Guard::AsksTwice) {
            Some(Refusal::StillBlocked)
        } else {
            None
        }
    }

    /// `cancel`.
    fn cancel(&mut self, slot: Slot) -> Option<()> {
        self.settle(None);
        if !self.state.confirmation(slot).is_pending() {
            // AAEP-6.8-1: it is a pending confirmation that may be cancelled.
            self.required.push(Output::Refused(Refusal::NotPending));
            return Some(());
        }
        self.state.budgets.spend(Disturbance::Cancel)?;
        self.state.confirmations[slot.index()].resolve_to(Phase::Cancelled);
        self.tell_cancelled(slot);
        Some(())
    }

    /// `end_session`: withdrawals first, then completions, then the terminal event.
    fn end_session(&mut self, session: SessionName, outcome: SessionOutcome) {
        self.settle(None);
        // AAEP-A.1-2: exactly one terminal event. AAEP-A.1-1: and none before the start.
        let status = self.state.session(session).status;
        let ended = matches!(status, SessionStatus::Ended(_));
        if status == SessionStatus::Unstarted || ended && self.model.rules.forbid(Guard::EndsTwice)
        {
            self.required.push(Output::Refused(Refusal::EndedAlready));
            return;
        }
        self.cancel_all(session, outcome);
        let runs_unasked = self.withdraw_work(session);
        let in_flight = self
            .state
            .slots_where(|c| c.session == session && c.phase == Phase::Accepted);
        let runs = outcome == SessionOutcome::Cancelled
            && self.model.reading.accepted_then_cancelled == AcceptedThenCancelled::Runs;
        for slot in in_flight.into_iter().flatten().filter(|_| !runs) {
            self.withdraw(slot);
        }
        self.complete_work(session, outcome, runs_unasked);
        for slot in in_flight.into_iter().flatten() {
            // AAEP-A.3-1: a tool that was announced is completed before its session, by default unless that is cancelled.
            if self.completes_at(outcome) && self.model.rules.forbid(Guard::LeavesToolOpen) {
                self.state.confirmations[slot.index()].phase = Phase::Finished;
                self.emit(Output::Completed(slot));
            }
        }
        self.complete_output(session);
        let ended = &mut self.state.sessions[session.index()];
        ended.status = SessionStatus::Ended(outcome);
        ended.awaiting_input = false;
        self.emit(Output::Ended(session, outcome));
    }

    /// AAEP-A.3-1: whether, by the reading, the end of a session owes the completion of what is open.
    pub(super) fn completes_at(&self, outcome: SessionOutcome) -> bool {
        match self.model.reading.session_end_completes {
            SessionEndCompletes::UnlessCancelled => outcome != SessionOutcome::Cancelled,
            SessionEndCompletes::OnlyCompleted => outcome == SessionOutcome::Completed,
            SessionEndCompletes::Always => true,
            SessionEndCompletes::Never => false,
        }
    }

    /// AAEP-6.8-2: the end of a session cancels its pending confirmations. Of one that is cancelled the terminal event says so
    /// by itself; of another each is withdrawn by an event (AAEP-6.8-3), by the reading that wants it told so.
    fn cancel_all(&mut self, session: SessionName, outcome: SessionOutcome) {
        let cancels = match self.model.reading.session_end_cancels {
            SessionEndCancels::All => true,
            SessionEndCancels::CancelledOnly => outcome == SessionOutcome::Cancelled,
        };
        if !cancels || self.model.rules.allow(Guard::OutlivesSession) {
            return;
        }
        let mut pending = self
            .state
            .slots_where(|c| c.session == session && c.is_pending());
        let tells = outcome != SessionOutcome::Cancelled
            && self.model.reading.session_end_tells == SessionEndTells::First;
        // In an order that the text leaves open: confirmations first.
        pending.sort_by_key(|slot| slot.map(|it| self.state.confirmation(it).clarifies.is_some()));
        for slot in pending.into_iter().flatten() {
            self.state.confirmations[slot.index()].resolve_to(Phase::Cancelled);
            if tells {
                self.tell_cancelled(slot);
            }
        }
    }

    /// AAEP-6.8-3: a state.changed explains that the action is no longer needed.
    fn tell_cancelled(&mut self, slot: Slot) {
        if self.model.rules.forbid(Guard::CancelsSilently) {
            self.follow_up(slot);
        }
    }

    /// AAEP-A.1-3: what has not begun when the session ends must not begin; the host drops it from the outbox.
    fn withdraw(&mut self, slot: Slot) {
        if self.model.rules.forbid(Guard::BeginsAfterEnd) {
            self.required.push(Output::Withdraw(slot));
            self.state.outbox.retain(|item| item != Item::Perform(slot));
            let left = u8::try_from(self.state.outbox.len()).unwrap_or(u8::MAX);
            self.state.stale = self.state.stale.min(left);
        }
    }

    // What the subscribers do.

    /// `subscribe`.
    fn open(&mut self, subscriber: Subscriber) {
        self.settle(None);
        // AAEP-EV-2: an id names one subscription, also after that one has closed.
        if self.state.subscription(subscriber) != Subscription::Unopened {
            self.required.push(Output::Refused(Refusal::OpenedAlready));
            return;
        }
        self.state.subscriptions[subscriber.index()] = Subscription::Open;
    }

    /// `unsubscribe`.
    fn close(&mut self, subscriber: Subscriber) -> Option<()> {
        self.settle(None);
        if !self.state.is_open(subscriber) {
            // AAEP-REPLY-14: there is no such active subscription.
            self.required.push(Output::Refused(Refusal::ClosedAlready));
            return Some(());
        }
        self.state.budgets.spend(Disturbance::Close)?;
        self.state.subscriptions[subscriber.index()] = Subscription::Closed;
        // A forwarder does not stand for anybody who could answer.
        if subscriber.is_capable() && !self.state.has_capable() {
            self.apply_defaults_early();
        }
        Some(())
    }

    /// AAEP-EV-11: nobody is left who could answer, so the default applies, but never an accept (AAEP-6.1-1).
    fn apply_defaults_early(&mut self) {
        let rules = self.model.rules;
        let (rejects, accepts) = match self.model.reading.early_default_on_close {
            EarlyDefaultOnClose::RejectOnly => (true, false),
            EarlyDefaultOnClose::AsDefault => (true, true),
            EarlyDefaultOnClose::Never => (false, false),
        };
        // As on timeout, so in the order of the deadlines.
        let pending = self.by_deadline(Confirmation::is_pending);
        for slot in pending.into_iter().flatten() {
            let default = self.state.confirmation(slot).default_verdict();
            let applies = match default {
                Verdict::Decided(Decision::Reject) | Verdict::Answered(_) => {
                    rejects && rules.forbid(Guard::IgnoresClosing)
                }
                Verdict::Decided(Decision::Accept) => accepts || rules.allow(Guard::AcceptsEarly),
            };
            if applies && self.model.comes_to_default(self.state.confirmation(slot)) {
                self.resolve(slot, default, Cause::Default);
            }
        }
    }

    // What the producer does with a message.

    /// `deliver`: the six checks of 6.3.4 in their order; the first that fails is named in the audit.
    pub(super) fn deliver(&mut self, message: Message) {
        let spared = match self.model.reading.late_reply {
            LateReply::ByArrival => None,
            LateReply::ByClaim => self.validate(message).ok().map(|(slot, _)| slot),
        };
        self.settle(spared);
        match self.validate(message) {
            Ok((slot, verdict)) => {
                self.resolve(slot, verdict, Cause::Reply);
                // AAEP-6.9-2: a reply concerns the confirmation of its token alone.
                if self.model.rules.allow(Guard::SpillsOver) {
                    self.spill_over(verdict);
                }
                self.required.push(Output::Respond);
            }
            Err(check) => {
                self.gives_up(message, check);
                self.ignore(message, check);
            }
        }
    }

    /// What AAEP-6.5.5-4 forbids: a response that does not fit ends the waiting.
    fn gives_up(&mut self, message: Message, check: Check) {
        let misfit = matches!(check, Check::Type | Check::Choice);
        if let Token::Of(slot) = message.token
            && misfit
            && self.model.rules.allow(Guard::GivesUpOnMisfit)
        {
            self.resolve(slot, Verdict::Answered(Answered::Nobody), Cause::Default);
        }
    }

    /// AAEP-6.3.4-7: no effect, and nothing that would tell the sender why (AAEP-6.3.4-9).
    fn ignore(&mut self, message: Message, check: Check) {
        self.ignored = Some(check);
        self.required
            .push(if self.model.rules.forbid(Guard::TellsCheck) {
                Output::Respond
            } else {
                Output::Tell(check)
            });
        // AAEP-6.3.4-8: the producer may log it.
        self.optional.push(Output::Audit(check));
        let known_sender = message.authenticated && message.shape != Shape::Impostor;
        let permitted = self.model.reading.courtesy_notice == CourtesyNotice::Permitted;
        // AAEP-6.3.5-2 and AAEP-6.7.1-2: a late duplicate may be answered with a notice.
        if check == Check::Unused && known_sender && permitted {
            self.optional.push(Output::Notice);
        }
    }

    /// A reply that resolves whatever else is pending: what AAEP-6.9-2 forbids.
    fn spill_over(&mut self, verdict: Verdict) {
        let pending = self.state.slots_where(Confirmation::is_pending);
        for slot in pending.into_iter().flatten() {
            let verdict = match (verdict, self.state.confirmation(slot).clarifies) {
                (Verdict::Decided(_), None) | (Verdict::Answered(_), Some(_)) => verdict,
                (Verdict::Answered(_), None) => Verdict::Decided(Decision::Accept),
                (Verdict::Decided(_), Some(clarifies)) => {
                    Verdict::Answered(Answered::Reply(clarifies.takes.right()))
                }
            };
            self.resolve(slot, verdict, Cause::Reply);
        }
    }

    // What the host does.

    /// `finish_tool`, by a host that reports what it has run, or errs.
    fn finish_tool(&mut self, slot: Slot) {
        self.settle(None);
        let confirmation = self.state.confirmation(slot);
        let session = confirmation.session;
        let in_flight =
            confirmation.phase == Phase::Accepted && self.state.session(session).is_active();
        // AAEP-A.3-2: no completion without a tool in flight.
        // AAEP-6.1-4: what does not wait for an answer goes on.
        let stops = self.model.rules.allow(Guard::StopsWhileBlocked)
            && self.state.has_pending(session, Some(slot));
        if stops || !in_flight && self.model.rules.forbid(Guard::CompletesUninvoked) {
            self.required.push(Output::Refused(Refusal::NotInFlight));
            return;
        }
        if in_flight {
            self.state.confirmations[slot.index()].phase = Phase::Finished;
        }
        self.emit(Output::Completed(slot));
        if !self.state.has_running(session) && !self.state.session(session).awaiting_input {
            self.optional.push(Output::Thinking(session));
        }
    }

    // What time does.

    /// `restart`: the outbox is lost. A question in it comes again, then comes what is due; what was released and not reported
    /// as done is in doubt, and not performed again.
    fn crash(&mut self) -> Option<()> {
        self.state.budgets.spend(Disturbance::Crash)?;
        if self.before.stale > 0 {
            return None;
        }
        self.state.outbox = Outbox::default();
        if let Some(slot) = self.before.waiting_question() {
            self.ask_again(slot, time::tick(self.before.clock)?);
        }
        let in_doubt = self.state.slots_where(|c| {
            c.phase == Phase::Accepted && self.state.session(c.session).is_active()
        });
        self.settle(None);
        self.doubt_work();
        for slot in in_doubt.into_iter().flatten() {
            // AAEP-6.9-2: what may have run already is not run again.
            if self.model.rules.forbid(Guard::RepeatsAfterRestart) {
                self.required.push(Output::InDoubt(slot));
            } else {
                self.emit(Output::Perform(slot));
            }
        }
        Some(())
    }

    /// AAEP-6.7-1: a question that nobody has seen is put out again, and its timeout counts from then.
    fn ask_again(&mut self, slot: Slot, issued: u8) {
        if self.model.rules.forbid(Guard::LosesQuestion) {
            self.state.confirmations[slot.index()].issued = issued;
            self.emit(self.asked(slot));
        }
    }

    /// The producer does what the rule that is left out forbids.
    fn transgress(&mut self, transgression: Transgression) -> Option<()> {
        let (guard, slot, output) = match transgression {
            Transgression::AnswerWhileBlocked { slot } => {
                let answered = Output::Answer(slot, Answered::Nobody);
                (Guard::GoesOnUnanswered, slot, answered)
            }
            Transgression::PerformWhileBlocked { slot } => {
                (Guard::PerformsBlocked, slot, Output::Perform(slot))
            }
            Transgression::AnnounceWhileBlocked { slot } => {
                (Guard::AnnouncesBlocked, slot, Output::Invoked(slot))
            }
        };
        if self.model.rules.forbid(guard) || !self.state.confirmation(slot).is_pending() {
            return None;
        }
        self.state.confirmations[slot.index()].announced |= guard == Guard::AnnouncesBlocked;
        self.emit(output);
        Some(())
    }
}
