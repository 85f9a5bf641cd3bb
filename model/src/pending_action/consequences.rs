//! How what happens comes out: recorded, told and done, and after a restart told again.
//!
//! The one thing to know: the record is put out first (PA-1), so that a crash at any moment leaves either a record of what
//! took effect or no effect at all.

use super::PendingAction;
use super::bounds::Disturbance;
use super::journal::{Entry, Journal, Record};
use super::known::{Known, Status};
use super::message::Network;
use super::outbox::{Item, Outbox};
use super::output::{Event, Output};
use super::readings::{ExpiryBoundary, InDoubt};
use super::rules::Guard;
use super::state::Held;
use super::step::StepSoFar;
use super::words::{Arguments, Decision, Note, SLOTS, Slot, ToolStatus};

impl PendingAction {
    /// PA-7: whether it has expired at this time, in this reading.
    pub(super) fn is_past(&self, held: &Held, now: u8) -> bool {
        match self.reading.expiry_boundary {
            ExpiryBoundary::At => held.is_past(now),
            ExpiryBoundary::After => held.expiry().is_some_and(|expiry| now > expiry),
        }
    }
}

impl StepSoFar<'_> {
    /// Something happens: it is recorded, then told, and then the call runs if it was released by it.
    pub(super) fn commit(&mut self, record: Record, released: Option<(Slot, Arguments)>) {
        let first = self.model.rules.forbid(Guard::RecordsLate);
        let at = self.now;
        let entry = Entry { record, at };
        self.overflowed |= !self.state.journal.push(entry);
        let before = self.state.known;
        self.state.known.enter(entry, self.state.sessions());
        if first {
            self.put_record_out(record);
        }
        // PA-5: what is pending ends with its session.
        if matches!(record, Record::SessionEnded(_))
            && self.model.rules.allow(Guard::OutlivesSession)
        {
            self.state.known.standings = before.standings;
        }
        self.tell(record);
        if let Some((slot, arguments)) = released {
            self.perform(slot, arguments);
        }
        if !first {
            self.put_record_out(record);
        }
    }

    fn put_record_out(&mut self, record: Record) {
        self.required.push(Output::Record(record));
        self.put_out(Item::Record);
    }

    /// The tool is to run.
    fn perform(&mut self, slot: Slot, arguments: Arguments) {
        self.required.push(Output::Perform(slot, arguments));
        self.put_out(Item::Perform(slot, arguments));
    }

    /// The messages and events of a record.
    fn tell(&mut self, record: Record) {
        match record {
            Record::Proposed(slot) => {
                // PA-9: summary and label, and neither id nor arguments.
                if self.model.rules.forbid(Guard::ExposesArguments) {
                    self.append(Note::Request, slot);
                } else {
                    self.required.push(Output::Expose(slot));
                    self.put_out(Item::Tell(Note::Request, slot));
                }
                self.emit(Event::Created, slot);
            }
            Record::Decided { slot, decision, .. } => self.tell_decision(slot, decision),
            Record::Expired(slot) => {
                // PA-10
                self.append_unless_silent(Guard::ExpiresSilently, Note::Expired, slot);
                self.emit(Event::Expired, slot);
            }
            Record::Cancelled(slot) => self.tell_cancellation(slot),
            Record::Finished(slot, status) => {
                // PA-4
                self.append_unless_silent(Guard::FinishesSilently, Note::Result(status), slot);
                // PA-10: what was never begun was not executed.
                let came_of_it = match status {
                    ToolStatus::Success | ToolStatus::Error => Event::Executed(status),
                    ToolStatus::NotRun => Event::NotRun,
                };
                self.emit(came_of_it, slot);
            }
            Record::SessionEnded(session) => {
                let with_it = self.state.slots_where(|held, standing| {
                    held.session == session && standing.status == Status::SessionOver
                });
                for slot in with_it.into_iter().flatten() {
                    self.tell_cancellation(slot);
                }
            }
        }
    }

    fn tell_decision(&mut self, slot: Slot, decision: Decision) {
        // PA-10
        if self.model.rules.forbid(Guard::DecidesSilently) {
            self.emit(Event::Decided(decision), slot);
        }
        match decision {
            // PA-4
            Decision::Allow => self.append_unless_silent(Guard::AllowsSilently, Note::Call, slot),
            Decision::Deny => {
                // PA-6
                self.append_unless_silent(Guard::DeniesSilently, Note::Denied, slot);
                self.emit(Event::Denied, slot);
            }
        }
    }

    fn tell_cancellation(&mut self, slot: Slot) {
        // PA-10
        self.append_unless_silent(Guard::CancelsSilently, Note::Cancelled, slot);
        self.emit(Event::Cancelled, slot);
    }

    fn append_unless_silent(&mut self, silent: Guard, note: Note, slot: Slot) {
        if self.model.rules.forbid(silent) {
            self.append(note, slot);
        }
    }

    fn append(&mut self, note: Note, slot: Slot) {
        self.required.push(Output::Append(note, slot));
        self.put_out(Item::Tell(note, slot));
    }

    /// An event comes out; it is carried out with the message beside it.
    fn emit(&mut self, event: Event, slot: Slot) {
        self.required.push(Output::Event(event, slot));
    }

    /// `restart`: memory and outbox are lost. What follows from the durable records is known again; what was recorded and
    /// perhaps not told is told, so that the transcript reads in the order of the journal; what is due expires; and what was
    /// released and is not done is in doubt or released again.
    pub(super) fn restart(&mut self) -> Option<()> {
        self.state.budgets.spend(Disturbance::Crash)?;
        let durable = self.before.durable();
        self.state.journal = self.before.journal.first(durable);
        self.state.outbox = Outbox::default();
        self.state.validated = Network::default();
        self.state.withdrawn = [false; SLOTS];
        self.state.known = Known::of(self.state.journal, self.state.sessions());
        if self.model.rules.allow(Guard::ForgetsPending) {
            self.forget_pending();
        }
        self.see(self.before.latest);
        // PA-10: nothing that ends an action comes before what was recorded of it.
        if self.model.rules.forbid(Guard::SettlesBeforeTelling) {
            self.tell_again(self.state.journal);
            self.settle();
        } else {
            let untold = self.state.journal;
            self.settle();
            self.tell_again(untold);
        }
        let unfinished = self
            .state
            .slots_where(|_, standing| standing.is_unfinished());
        for slot in unfinished.into_iter().flatten() {
            self.take_up_again(slot);
        }
        self.mark_carried();
        Some(())
    }

    /// PA-10, PA-4, PA-6: what the host does not know to be told comes out again, in the order of the journal.
    fn tell_again(&mut self, journal: Journal) {
        if self.model.rules.forbid(Guard::ForgetsUntold) {
            let carried = usize::from(self.before.carried);
            for entry in journal.items().skip(carried) {
                self.tell(entry.record);
            }
        }
    }

    fn forget_pending(&mut self) {
        for standing in &mut self.state.known.standings {
            if standing.status == Status::Pending {
                standing.status = Status::Unknown;
            }
        }
    }

    /// A call that was released and is not done. It runs again only if it was declared that it may (PA-8), or by the reading that
    /// lets every one, and not in a session that has ended (PA-5).
    fn take_up_again(&mut self, slot: Slot) {
        let rules = self.model.rules;
        let held = self.state.held(slot);
        let ended =
            self.state.known.has_ended(held.session) && rules.forbid(Guard::RepeatsAfterEnd);
        let again = held.idempotent && rules.forbid(Guard::DropsIdempotent)
            || self.model.reading.in_doubt == InDoubt::RunsAgain
            || rules.allow(Guard::RepeatsAfterRestart);
        if again && !ended {
            self.perform(slot, Arguments::Original);
        // PA-10
        } else if rules.forbid(Guard::ForgetsReleased) {
            self.required.push(Output::InDoubt(slot));
        }
    }

    /// `rollback`: a snapshot is loaded, with what the journal has recorded since (PA-8), at a moment at which every record
    /// that was put out is durable.
    pub(super) fn rollback(&mut self) -> Option<()> {
        let count = self.state.snapshot.take()?;
        if self.before.outbox.records() > 0 {
            return None;
        }
        self.state.budgets.spend(Disturbance::Rollback)?;
        let loaded = if self.model.rules.forbid(Guard::ForgetsSinceSnapshot) {
            self.before.journal
        } else {
            self.before.journal.first(usize::from(count))
        };
        self.state.known = Known::of(loaded, self.state.sessions());
        self.see(self.before.latest);
        self.settle();
        Some(())
    }
}
