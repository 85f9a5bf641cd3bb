//! What resolves a question, and what follows from it.
//!
//! The one thing to know: everything that happens to an action goes through [`StepSoFar::resolve`] or [`StepSoFar::follow_up`],
//! whether a reply, a deadline, a closing or a cancellation brought it about.

use super::Aaep;
use super::output::{Answered, Output, Outputs};
use super::readings::{
    ActionBinding, CancellationReleases, DefaultResponseAbsent, StateWhileAsked, TimeoutUsesToken,
};
use super::rules::Guard;
use super::state::{Confirmation, Item, Phase, State};
use super::step::{Cause, StepSoFar, Verdict};
use super::words::{Clarifies, Decision, SLOTS, SessionName, Slot};

impl StepSoFar<'_> {
    /// AAEP-6.4-1: applies the default of everything that is due, by deadline, then by order of issue.
    pub(super) fn settle(&mut self, spared: Option<Slot>) {
        if self.model.rules.allow(Guard::ForgetsDefault) {
            return;
        }
        let clock = self.state.clock;
        let due = self.by_deadline(|confirmation| self.model.times_out(confirmation) <= clock);
        for slot in due
            .into_iter()
            .flatten()
            .filter(|&slot| Some(slot) != spared)
        {
            let confirmation = self.state.confirmation(slot);
            if self.model.timer_runs(&self.state, confirmation)
                && self.model.comes_to_default(confirmation)
            {
                self.resolve(slot, confirmation.default_verdict(), Cause::Default);
            }
        }
    }

    /// The slots of these questions, the one with the earlier deadline first. Which of two that are due together comes first the
    /// text leaves open: confirmations here, and of each kind what was issued first.
    pub(super) fn by_deadline(
        &self,
        which: impl Fn(&Confirmation) -> bool,
    ) -> [Option<Slot>; SLOTS] {
        let mut slots = self.state.slots_where(which);
        slots.sort_by_key(|slot| {
            slot.map(|slot| {
                let question = self.state.confirmation(slot);
                (question.deadline(), question.clarifies.is_some())
            })
        });
        slots
    }

    /// Whether the confirmation keeps its action blocked.
    pub(super) fn blocks(&self, confirmation: &Confirmation) -> bool {
        let releases = self.model.reading.cancellation_releases == CancellationReleases::Yes;
        confirmation.is_pending() || !releases && self.model.timer_runs(&self.state, confirmation)
    }

    /// A question is decided.
    pub(super) fn resolve(&mut self, slot: Slot, verdict: Verdict, cause: Cause) {
        self.resolved[slot.index()] = true;
        self.resolved_by_reply[slot.index()] |= cause == Cause::Reply;
        self.state.confirmations[slot.index()].by_default = cause == Cause::Default;
        match verdict {
            Verdict::Decided(Decision::Accept) => self.release(slot),
            Verdict::Decided(Decision::Reject) => self.reject(slot),
            Verdict::Answered(answered) => self.answer(slot, answered),
        }
    }

    /// A clarification has its answer, or is not to have one: the state leaves `awaiting_input` (AAEP-A.5-1), and the host gets the
    /// answer (AAEP-6.1-7).
    pub(super) fn answer(&mut self, slot: Slot, answered: Answered) {
        let rules = self.model.rules;
        self.state.confirmations[slot.index()].resolve_to(Phase::Answered);
        if rules.forbid(Guard::StaysAfterAnswer) {
            self.follow_up(slot);
        }
        // AAEP-A.5-2: nobody answers, and the default response is set.
        let answered = match answered {
            Answered::Default if rules.allow(Guard::DropsDefaultResponse) => Answered::Nobody,
            Answered::Reply(_) | Answered::Default | Answered::Nobody => answered,
        };
        if rules.forbid(Guard::KeepsAnswer) {
            self.emit(Output::Answer(slot, answered));
        }
    }

    /// The action is released: the state leaves `awaiting_input`, the tool is announced and the action performed.
    fn release(&mut self, slot: Slot) {
        let rules = self.model.rules;
        let session = self.state.confirmation(slot).session;
        self.state.confirmations[slot.index()].resolve_to(Phase::Accepted);
        let leaves = rules.forbid(Guard::StaysAwaiting) && !self.stays_awaiting(session);
        if self.state.session(session).awaiting_input && leaves {
            self.state.sessions[session.index()].awaiting_input = false;
            self.emit_event(session, Output::CallingTool(session));
        }
        // AAEP-A.4-3: accept leads to exactly one tool.invoked.
        if rules.forbid(Guard::SkipsInvoked) {
            self.emit_event(session, Output::Invoked(slot));
        }
        if rules.allow(Guard::InvokesTwice) {
            self.emit_event(session, Output::Invoked(slot));
        }
        self.awaits_again(session);
        self.emit(Output::Perform(slot));
        // AAEP-6.9-2: one authorisation, one performance.
        if rules.allow(Guard::PerformsTwice) {
            self.emit(Output::Perform(slot));
        }
    }

    /// The action is not to be performed, and that is told (AAEP-6.1-2, AAEP-6.1-3).
    fn reject(&mut self, slot: Slot) {
        let rules = self.model.rules;
        let session = self.state.confirmation(slot).session;
        // Who takes the text so that a default leaves the token good decides twice; what runs by then is still completed.
        let decides_twice = self.model.reading.timeout_uses_token == TimeoutUsesToken::No;
        let runs = self.state.confirmation(slot).phase == Phase::Accepted;
        if !(decides_twice && runs) {
            self.state.confirmations[slot.index()].resolve_to(Phase::Rejected);
        }
        if rules.forbid(Guard::DropsSilently) {
            self.follow_up(slot);
        }
        // AAEP-A.4-4: reject leads to no tool.invoked.
        if rules.allow(Guard::InvokesRejected) {
            self.emit_event(session, Output::Invoked(slot));
        }
        // AAEP-6.1-1: nor to a performance.
        if rules.allow(Guard::PerformsRejected) {
            self.emit(Output::Perform(slot));
        }
    }

    /// The `state.changed` that reflects a rejected or cancelled action or an answer, and the one to the state that the session is then in.
    pub(super) fn follow_up(&mut self, slot: Slot) {
        let rules = self.model.rules;
        let session = self.state.confirmation(slot).session;
        // AAEP-A.4-2: the state leaves `awaiting_input` with every resolution. AAEP-6.8-3: and with a cancellation, however that is read.
        let cancelled = self.state.confirmation(slot).phase == Phase::Cancelled;
        if rules.allow(Guard::StaysAwaiting) || !cancelled && self.stays_awaiting(session) {
            return self.emit_event(session, Output::FollowUpStaying(slot));
        }
        self.state.sessions[session.index()].awaiting_input = false;
        self.emit_event(session, Output::FollowUpLeaving(slot));
        self.others_leave(session);
        self.awaits_again(session);
        // AAEP-A.3-3: the state is `calling_tool` while a tool runs.
        if !self.state.session(session).awaiting_input
            && self.state.has_running(session)
            && rules.forbid(Guard::ThinksWhileToolRuns)
        {
            self.emit_event(session, Output::CallingToolAgain(session));
        }
    }

    /// AAEP-A.2-2: whether, by the reading, a resolution leaves the session in `awaiting_input`: another question of it waits.
    fn stays_awaiting(&self, session: SessionName) -> bool {
        self.model.reading.state_while_asked == StateWhileAsked::LeavesWithLast
            && self.state.has_pending(session, None)
    }

    /// What AAEP-A.9-2 keeps apart: every session goes where one of them does.
    fn others_leave(&mut self, session: SessionName) {
        for other in SessionName::ALL {
            let shares = self.model.rules.allow(Guard::SharesState) && other != session;
            if shares && self.state.session(other).awaiting_input {
                self.state.sessions[other.index()].awaiting_input = false;
                self.emit_event(other, Output::Thinking(other));
            }
        }
    }

    /// AAEP-A.2-2: the state is `awaiting_input` again as long as another confirmation of the session is pending.
    fn awaits_again(&mut self, session: SessionName) {
        let state = self.state.session(session);
        if !state.awaiting_input
            && state.is_active()
            && self.state.has_pending(session, None)
            && self.model.rules.forbid(Guard::LeavesEarly)
        {
            self.state.sessions[session.index()].awaiting_input = true;
            self.emit(Output::AwaitingInput(session));
        }
    }

    /// Tells of a resolution. AAEP-A.1-3: nobody is told once the session has ended, where something outlived it.
    fn emit_event(&mut self, session: SessionName, event: Output) {
        if self.state.session(session).is_active() || self.model.rules.allow(Guard::OutlivesSession)
        {
            self.emit(event);
        }
    }

    /// Puts an output out, and into the outbox if it waits there under its own name.
    pub(super) fn emit(&mut self, output: Output) {
        self.required.push(output);
        if let Some(item) = Item::of(output) {
            self.overflowed |= !self.state.outbox.push(item);
        }
    }
}

impl Confirmation {
    /// What it comes to when nobody answers.
    pub(super) fn default_verdict(&self) -> Verdict {
        match self.clarifies {
            None => Verdict::Decided(self.class.default),
            Some(Clarifies { default: true, .. }) => Verdict::Answered(Answered::Default),
            Some(Clarifies { default: false, .. }) => Verdict::Answered(Answered::Nobody),
        }
    }
}

impl Aaep {
    /// Whether the default still waits for the deadline: while pending; under a reading or with a rule left out also after
    /// the confirmation was cancelled by itself.
    pub(super) fn timer_runs(&self, state: &State, confirmation: &Confirmation) -> bool {
        match confirmation.phase {
            Phase::Pending => true,
            Phase::Cancelled => {
                let kept = self.reading.cancellation_releases == CancellationReleases::No
                    || self.rules.allow(Guard::DefaultsCancelled);
                kept && state.session(confirmation.session).is_active()
            }
            Phase::Unasked
            | Phase::Accepted
            | Phase::Finished
            | Phase::Rejected
            | Phase::Answered => false,
        }
    }

    /// AAEP-A.5-2: whether, by the reading, a question that nobody answers is over: by one a clarification without a default is not.
    pub(super) fn comes_to_default(&self, confirmation: &Confirmation) -> bool {
        let waits = self.reading.default_response_absent == DefaultResponseAbsent::Waits;
        !(waits && confirmation.clarifies.is_some_and(|it| !it.default))
    }

    /// AAEP-6.1-1: whether, by the reading, the action of this question comes out of a step with other arguments than were asked about.
    pub(super) fn runs_changed(&self, before: &State, outputs: &Outputs, slot: Slot) -> bool {
        self.reading.action_binding == ActionBinding::AsCurrent
            && before.changed[slot.index()]
            && outputs.contains(Output::Perform(slot))
    }

    /// The moment at which the default applies. AAEP-6.4.2-3: an extension moves it.
    pub(super) fn times_out(&self, confirmation: &Confirmation) -> u8 {
        if self.rules.forbid(Guard::TimesOutUnextended) {
            confirmation.deadline()
        } else {
            confirmation.first_deadline()
        }
    }
}
