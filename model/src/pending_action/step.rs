//! One step: the state that follows and what must come out.
//!
//! The one thing to know: every call first lets expire what is due (PA-7), and only then does what it was made for. What
//! happens is recorded first, then told, then done. A restart alone tells what it finds recorded before anything expires.

use super::PendingAction;
use super::action::Action;
use super::bounds::Disturbance;
use super::enabled::may_begin;
use super::journal::Record;
use super::known::Status;
use super::message::{Approved, Message, Network};
use super::outbox::Item;
use super::output::{Output, Outputs};
use super::readings::{ExpiryAbsent, ReadEffect};
use super::rules::{self, Check, Guard, Refusal};
use super::state::{Held, State};
use super::words::{
    Arguments, Decider, Decision, Effect, Flaw, Proposal, SessionName, Slot, ToolStatus,
};

/// What an action leads to. What is not required is forbidden: the contract leaves no output to choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state that follows, not yet quotiented.
    pub next: State,
    /// What must come out, in this order.
    pub required: Outputs,
    /// For a decision that was ignored: the first check that it failed.
    pub ignored: Option<Check>,
    /// Of the witnesses that were wanted, those that this step is one of: a bit each, by their place in [`rules::WITNESSES`].
    pub witnessed: u128,
}

/// A step in the making: the states before and so far, and what has come out.
pub(super) struct StepSoFar<'step> {
    /// The model that makes it.
    pub(super) model: &'step PendingAction,
    /// The state before.
    pub(super) before: &'step State,
    /// The state so far.
    pub(super) state: State,
    /// The time that the ledger goes by.
    pub(super) now: u8,
    /// The outputs so far.
    pub(super) required: Outputs,
    /// The check at which a decision was ignored.
    pub(super) ignored: Option<Check>,
    /// The decision that was delivered or takes effect.
    pub(super) message: Option<Message>,
    /// What was carried out.
    pub(super) carried_out: Option<Item>,
    /// The outbox or the journal of a ledger with a rule left out is full: the run is not followed further.
    pub(super) overflowed: bool,
}

impl PendingAction {
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
            now: before.clock,
            required: Outputs::none(),
            ignored: None,
            message: None,
            carried_out: None,
            overflowed: false,
        };
        so_far.take(action)?;
        if so_far.overflowed {
            return None;
        }
        let witnessed = rules::witnessed(&so_far, action, wanted);
        Some(Step {
            next: so_far.state,
            required: so_far.required,
            ignored: so_far.ignored,
            witnessed,
        })
    }
}

impl StepSoFar<'_> {
    /// Takes the step, or finds that it is not enabled.
    fn take(&mut self, action: Action) -> Option<()> {
        match action {
            Action::Propose(proposal) => self.told().propose(proposal),
            Action::ProposeFlawed(flaw) => self.told().propose_flawed(flaw),
            Action::Send {
                slot,
                decision,
                manner,
            } => self.send(slot, decision, manner),
            Action::Guess => self.guess(),
            Action::Duplicate { index } => self.duplicate(usize::from(index)),
            Action::Deliver { index } => self.told().deliver(usize::from(index)),
            Action::Apply { index } => self.told().take_effect(usize::from(index)),
            Action::Say => {
                self.told().say();
                Some(())
            }
            Action::FinishTool { slot, status } => {
                self.told().finish_tool(slot, status);
                Some(())
            }
            Action::Cancel { slot } => self.told().cancel(slot),
            Action::EndSession(session) => {
                self.told().end_session(session);
                Some(())
            }
            Action::CarryOut => self.carry_out(),
            Action::Tick => self.tick(),
            Action::SetBack => self.set_back(),
            Action::ServeTimer => {
                self.told().settle();
                Some(())
            }
            Action::Restart => self.restart(),
            Action::Snapshot => self.snapshot(),
            Action::Rollback => self.rollback(),
        }
    }

    /// The same step, once the ledger was told the time and has let expire what is due. What it has seen of time before is
    /// not taken back (PA-7).
    fn told(&mut self) -> &mut Self {
        self.see(self.before.latest);
        if self.model.rules.forbid(Guard::WaitsForTimer) {
            self.settle();
        }
        self
    }

    /// The ledger is told the time; `latest` is the greatest that it remembers.
    pub(super) fn see(&mut self, latest: u8) {
        self.state.latest = self.before.clock.max(latest);
        if self.model.rules.forbid(Guard::TurnsClockBack) {
            self.now = self.state.latest;
        }
    }

    /// PA-7: what is due expires, in the order of its time and of its creation.
    pub(super) fn settle(&mut self) {
        let mut due = self
            .state
            .slots_where(|held, standing| standing.status == Status::Pending && self.is_due(held));
        due.sort_by_key(|slot| slot.map(|slot| self.state.held(slot).expires));
        for slot in due.into_iter().flatten() {
            // PA-10: an expiry is no denial.
            if self.model.rules.forbid(Guard::ExpiresAsDenied) {
                self.commit(Record::Expired(slot), None);
            } else {
                let decision = Decision::Deny;
                self.commit(
                    Record::Decided {
                        slot,
                        decision,
                        by: None,
                    },
                    None,
                );
            }
        }
    }

    // What the loop does.

    /// `propose`. The order of the refusals is: session, expiry, also where it is absent.
    fn propose(&mut self, proposal: Proposal) -> Option<()> {
        let slot = self.free_slot()?;
        let is_open_ended = proposal.lifetime.is_none();
        let proposal = proposal.read_as(self.model.reading);
        if !may_begin(proposal, self.before.clock) {
            return None;
        }
        let held = Held::of(proposal, self.before.clock);
        let rules = self.model.rules;
        // PA-5: the session is over, and with it whatever could be proposed in it.
        if self.state.known.has_ended(held.session) && rules.forbid(Guard::ProposesAfterEnd) {
            self.required.push(Output::Refused(Refusal::SessionOver));
            return Some(());
        }
        // PA-7: what has expired does not run, so it is not asked about either; in neither reading, for nobody could answer.
        if held.is_past(self.now) && rules.forbid(Guard::ProposesExpired) {
            self.required.push(Output::Refused(Refusal::NotInFuture));
            return Some(());
        }
        // PA-1: the expiry is of the record, by the reading that wants it said.
        if is_open_ended && self.model.reading.expiry_absent == ExpiryAbsent::Refused {
            self.required.push(Output::Refused(Refusal::NoExpiry));
            return Some(());
        }
        self.state.actions[slot.index()] = held;
        self.commit(Record::Proposed(slot), None);
        let released = held.effect == Effect::Read
            && self.model.reading.read_effect == ReadEffect::Runs
            || rules.allow(Guard::RunsUnasked);
        if released {
            self.release(slot, None, Arguments::Original);
        }
        Some(())
    }

    /// `propose` of what is not well-formed.
    fn propose_flawed(&mut self, flaw: Flaw) -> Option<()> {
        let slot = self.free_slot()?;
        if self.model.rules.forbid(Guard::ProposesMalformed) {
            let refusal = flaw.refusal();
            self.required.push(Output::Refused(refusal));
        } else {
            self.state.actions[slot.index()] = Held::of(Proposal::PLAIN, self.before.clock);
            self.commit(Record::Proposed(slot), None);
        }
        Some(())
    }

    /// The slot for the next proposal, if the bounds have one more.
    fn free_slot(&self) -> Option<Slot> {
        self.before
            .free_slot()
            .filter(|slot| slot.index() < usize::from(self.model.bounds.actions))
    }

    // What the ledger does with a decision.

    /// `decide`.
    fn deliver(&mut self, index: usize) -> Option<()> {
        let message = self.state.network.take(index)?;
        self.message = Some(message);
        match self.validate(message) {
            Ok(slot) if self.model.rules.forbid(Guard::DecidesApart) => self.honour(slot, message),
            Ok(_) if self.state.validated.len() < Network::CAPACITY => {
                self.state.validated.add(message);
            }
            Ok(_) => self.overflowed = true,
            Err(check) => self.ignore(message, check),
        }
        Some(())
    }

    /// A validated decision takes effect, whatever has happened since. Only where a rule is left out is that a step.
    fn take_effect(&mut self, index: usize) -> Option<()> {
        let message = self.state.validated.take(index)?;
        self.message = Some(message);
        self.honour(message.id?, message);
        Some(())
    }

    /// The decision resolves the action.
    fn honour(&mut self, slot: Slot, message: Message) {
        let by = Some(message.by);
        match message.decision {
            Decision::Allow => {
                let rules = self.model.rules;
                // PA-3: what runs are the proposed arguments, whatever the client says that it approved.
                let arguments = match message.approved {
                    Approved::Alike if rules.allow(Guard::RunsRewritten) => Arguments::Alike,
                    Approved::Edited if rules.allow(Guard::RunsEdited) => Arguments::Edited,
                    Approved::Unsaid | Approved::Alike | Approved::Edited => Arguments::Original,
                };
                self.release(slot, by, arguments);
            }
            Decision::Deny => {
                let decision = Decision::Deny;
                self.commit(Record::Decided { slot, decision, by }, None);
            }
        }
    }

    /// The call is allowed and comes out to be run.
    fn release(&mut self, slot: Slot, by: Option<Decider>, arguments: Arguments) {
        let decision = Decision::Allow;
        self.commit(
            Record::Decided { slot, decision, by },
            Some((slot, arguments)),
        );
    }

    /// PA-8, PA-2: nothing changes, and only the operator learns of it.
    fn ignore(&mut self, message: Message, check: Check) {
        self.ignored = Some(check);
        let rules = self.model.rules;
        if rules.forbid(Guard::IgnoresUnaudited) {
            self.required
                .push(Output::Audit(if rules.forbid(Guard::MisnamesIgnored) {
                    check
                } else {
                    Check::Unresolved
                }));
        }
        if let Some(slot) = message.id
            && self.state.status(slot) == Status::Pending
            && rules.allow(Guard::SpendsOnIgnored)
        {
            let (decision, by) = (Decision::Deny, Some(message.by));
            self.commit(Record::Decided { slot, decision, by }, None);
        }
    }

    /// `say`. PA-11: the text goes to the model, untouched, and resolves nothing.
    fn say(&mut self) {
        self.required.push(Output::AppendText);
        let pending = self
            .state
            .slots_where(|_, standing| standing.status == Status::Pending);
        if let Some(slot) = pending.into_iter().flatten().last()
            && self.model.rules.allow(Guard::TakesTextForDecision)
        {
            self.release(slot, Some(Decider::Owner), Arguments::Original);
        }
    }

    // What the host does.

    /// `finish_tool`.
    fn finish_tool(&mut self, slot: Slot, status: ToolStatus) {
        let rules = self.model.rules;
        let refusal = match self.state.status(slot) {
            Status::Unknown => Some(Refusal::Unknown),
            // PA-3, PA-5, PA-7: only what was released can have run.
            Status::Pending => Some(Refusal::Undecided),
            Status::Rejected | Status::Cancelled | Status::SessionOver => {
                Some(Refusal::NotReleased)
            }
            Status::Expired => Some(Refusal::Expired),
            Status::Accepted => None,
        };
        let again = self.state.known.standing(slot).finished.is_some();
        if let Some(refusal) = refusal
            && (refusal == Refusal::Unknown || rules.forbid(Guard::FinishesUnreleased))
        {
            self.required.push(Output::Refused(refusal));
        // PA-8: one result.
        } else if again && rules.forbid(Guard::FinishesTwice) {
            self.required.push(Output::Refused(Refusal::Resolved));
        } else {
            self.commit(Record::Finished(slot, status), None);
        }
    }

    /// `cancel`.
    fn cancel(&mut self, slot: Slot) -> Option<()> {
        let refusal = match self.state.status(slot) {
            Status::Unknown => Some(Refusal::Unknown),
            Status::Pending => None,
            Status::Expired => Some(Refusal::Expired),
            Status::Accepted | Status::Rejected | Status::Cancelled | Status::SessionOver => {
                Some(Refusal::Resolved)
            }
        };
        match refusal {
            Some(refusal)
                if refusal == Refusal::Unknown
                    || self.model.rules.forbid(Guard::CancelsResolved) =>
            {
                self.required.push(Output::Refused(refusal));
            }
            Some(_) => self.commit(Record::Cancelled(slot), None),
            None => {
                self.state.budgets.spend(Disturbance::Cancel)?;
                self.commit(Record::Cancelled(slot), None);
            }
        }
        Some(())
    }

    /// `end_session`: what is pending in it is cancelled, and what has not begun is withdrawn. PA-5: a session ends once.
    fn end_session(&mut self, session: SessionName) {
        if self.state.known.has_ended(session) {
            self.required.push(Output::Refused(Refusal::SessionOver));
            return;
        }
        self.commit(Record::SessionEnded(session), None);
        let released = self
            .state
            .slots_where(|held, standing| held.session == session && standing.is_unfinished());
        for slot in released.into_iter().flatten() {
            // PA-5: what has not begun must not begin.
            if self.model.rules.forbid(Guard::BeginsAfterEnd) {
                self.required.push(Output::Withdraw(slot));
                self.state.withdrawn[slot.index()] |= self.state.outbox.performs(slot);
                self.state.outbox.drop_performs(slot);
            }
        }
    }

    // What time does.

    /// PA-7: whether the ledger lets it expire now.
    fn is_due(&self, held: &Held) -> bool {
        let early = u8::from(self.model.rules.allow(Guard::ExpiresEarly));
        self.model.is_past(held, self.now + early)
    }

    /// Puts an item into the outbox.
    pub(super) fn put_out(&mut self, item: Item) {
        self.overflowed |= !self.state.outbox.push(item);
    }
}
