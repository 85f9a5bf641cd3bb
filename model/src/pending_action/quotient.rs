//! The quotient: data that can no longer matter leaves the state.
//!
//! The one thing to know: [`PendingAction::quotient_of`] maps a state to one like it, in which everything that no later step
//! can tell apart has the same value. It is written for the specification, every rule in force and the default reading; a test
//! walks the literal graph and shows that it is a bisimulation there.
//!
//! A crash takes back what is not durable. So as long as one can come, a resolution is final only once its record is durable,
//! and the order of records matters as long as their messages may have to come again.

use crate::time;

use super::PendingAction;
use super::bounds::{Budgets, Disturbance};
use super::enabled::has_live;
use super::journal::{Entry, Journal, Record};
use super::known::{Known, Standing, Status};
use super::message::{Approved, Message};
use super::state::{Held, NEVER, State};
use super::words::{Decider, Decision, Effect, Nonce, Note, SLOTS, SessionName, Slot, ToolStatus};

impl PendingAction {
    /// The state that stands for all that no later step can tell from this one.
    #[must_use]
    pub fn quotient_of(&self, state: &State) -> State {
        let view = View::of(self, state);
        let ended = view.ended();
        let (journal, carried) = view.journal(ended);
        let (clock, latest) = view.time();
        State {
            clock,
            latest,
            known: Known {
                standings: Slot::ALL.map(|slot| view.standing(slot)),
                ended,
            },
            actions: Slot::ALL.map(|slot| view.action(slot)),
            journal,
            carried: count(carried),
            // Only a host that takes it for more than it is goes by it.
            withdrawn: [false; SLOTS],
            snapshot: view.snapshot(journal),
            network: state.network.map(|message| view.canonical(message)),
            budgets: view.budgets,
            ..*state
        }
    }

    /// What can still be spent, and therefore matters.
    fn budgets_left(&self, state: &State) -> Budgets {
        let later = self.can_propose(state) || has_live(state) || !state.outbox.is_empty();
        let newer = |count| usize::from(count) < state.journal.len();
        state
            .budgets
            .of_possible(Disturbance::ALL, |kind| match kind {
                Disturbance::Duplicate => later || !state.network.is_empty(),
                Disturbance::Forge
                | Disturbance::SetBack
                | Disturbance::Cancel
                | Disturbance::Crash => later,
                Disturbance::Rollback => later || state.snapshot.is_some_and(newer),
            })
    }
}

/// A state, and what it depends on how far the state can still be told from others.
struct View<'state> {
    model: &'state PendingAction,
    state: &'state State,
    /// What can still be spent.
    budgets: Budgets,
    /// Whether a crash can still come.
    crashes: bool,
    /// How many records are settled: durable, and no restart tells them again.
    settled_count: usize,
    /// What follows from those.
    settled: Known,
    /// What no crash takes back.
    firm: Known,
    /// Of which actions nothing is to come but decisions to be ignored, by [`Slot::index`].
    done: [bool; SLOTS],
}

impl<'state> View<'state> {
    fn of(model: &'state PendingAction, state: &'state State) -> Self {
        let budgets = model.budgets_left(state);
        let crashes = budgets.affords(Disturbance::Crash);
        let durable = state.durable();
        let settled_count = if crashes {
            usize::from(state.carried)
        } else {
            durable
        };
        let known = |count| Known::of(state.journal.first(count), state.sessions());
        let settled = known(settled_count);
        Self {
            model,
            state,
            budgets,
            crashes,
            settled_count,
            settled,
            firm: if crashes { known(durable) } else { state.known },
            done: Slot::ALL.map(|slot| is_done(state, &settled, slot)),
        }
    }

    /// Whether the action is resolved and no crash takes that back.
    fn is_firm(&self, slot: Slot) -> bool {
        self.firm.standing(slot).status.is_final()
    }

    /// Whether nothing is to come of an action but decisions to be ignored.
    fn is_done(&self, slot: Slot) -> bool {
        self.done[slot.index()]
    }

    /// Where an action stands, without who decided and when, which only those who read the ledger can tell.
    fn standing(&self, slot: Slot) -> Standing {
        let full = self.state.known.standing(slot);
        Standing {
            status: if self.is_done(slot) {
                alike(full.status)
            } else {
                full.status
            },
            by: None,
            at: 0,
            finished: full.finished.map(|_| ToolStatus::Success),
        }
    }

    /// What still matters of a proposed call.
    fn action(&self, slot: Slot) -> Held {
        let full = self.state.held(slot);
        let status = self.state.status(slot);
        let spent = Held {
            proposed: full.proposed,
            ..Held::UNPROPOSED
        };
        if status == Status::Unknown {
            return spent;
        }
        let decisions = self.model.bounds.decisions[slot.index()];
        if self.is_done(slot) {
            return Held {
                runs: u8::from(status == Status::Accepted),
                told: told(status),
                sent: decisions,
                ..spent
            };
        }
        let firm = self.is_firm(slot);
        let told_of_end = full.told & !Note::Request.bit() != 0;
        let may_repeat = self.crashes || full.runs > 0 && self.state.outbox.performs(slot);
        Held {
            expires: if firm { NEVER } else { full.expires },
            by_anyone: full.by_anyone && !(firm && told_of_end),
            idempotent: full.idempotent && may_repeat,
            effect: Effect::Destructive,
            runs: full.runs.min(1),
            sent: if told_of_end { decisions } else { full.sent },
            ..*full
        }
    }

    /// That a session has ended matters to what is still to come in it, and as long as its record is not settled.
    fn ended(&self) -> [bool; 2] {
        SessionName::ALL.map(|session| {
            let busy = |held: &Held, _: Standing| held.session == session;
            let busy = self.state.slots_where(busy).into_iter().flatten();
            let busy = busy.filter(|&slot| !self.is_done(slot)).count() > 0;
            // As long as another could end in its place, that one has ended is told from none.
            let matters = self.model.can_propose(self.state) || busy || self.may_end_another();
            self.state.known.has_ended(session) && (matters || !self.settled.has_ended(session))
        })
    }

    /// Whether there is a session with something to end.
    fn may_end_another(&self) -> bool {
        has_live(self.state) || !self.state.outbox.is_empty()
    }

    /// Of the settled records what follows from them, of the others their order, without who decided and when; and the number
    /// of the settled ones.
    fn journal(&self, ended: [bool; 2]) -> (Journal, usize) {
        let mut journal = Journal::default();
        let mut add = |record| journal.push(Entry { record, at: 0 });
        for slot in Slot::ALL {
            for record in self.settled_records(slot).into_iter().flatten() {
                add(record);
            }
        }
        for session in SessionName::ALL {
            if self.settled.has_ended(session) && ended[session.index()] {
                add(Record::SessionEnded(session));
            }
        }
        let settled = journal.len();
        for Entry { record, .. } in self.state.journal.items().skip(self.settled_count) {
            let record = anonymous(record);
            journal.push(Entry { record, at: 0 });
        }
        (journal, settled)
    }

    /// Records from which the same follows for an action as from its settled ones.
    fn settled_records(&self, slot: Slot) -> [Option<Record>; 3] {
        let standing = self.settled.standing(slot);
        let decided = |decision| Record::Decided {
            slot,
            decision,
            by: None,
        };
        let status = if self.is_done(slot) {
            alike(standing.status)
        } else {
            standing.status
        };
        let resolution = match status {
            Status::Unknown => return [None; 3],
            // The end of its session says so.
            Status::Pending | Status::SessionOver => None,
            Status::Accepted => Some(decided(Decision::Allow)),
            Status::Rejected => Some(decided(Decision::Deny)),
            Status::Expired => Some(Record::Expired(slot)),
            Status::Cancelled => Some(Record::Cancelled(slot)),
        };
        let finished = standing
            .finished
            .map(|_| Record::Finished(slot, ToolStatus::Success));
        [Some(Record::Proposed(slot)), resolution, finished]
    }

    /// Whether the time matters, now or later, also after a crash that takes back what is not durable.
    fn is_timed(&self) -> bool {
        let revives = |slot: Slot| {
            let expires = self.state.held(slot).expires != NEVER;
            expires && self.state.status(slot).is_final() && !self.is_firm(slot)
        };
        self.model.is_timed(self.state) || Slot::ALL.into_iter().any(revives)
    }

    /// Whether it matters that the ledger has seen a later time than the clock's.
    fn remembers_time(&self) -> bool {
        let behind = self.state.clock < seen(self.state.latest);
        self.is_timed() && (behind || self.budgets.affords(Disturbance::SetBack))
    }

    /// The clock, and the greatest time that the ledger has seen.
    fn time(&self) -> (u8, u8) {
        let State { clock, latest, .. } = *self.state;
        if self.remembers_time() {
            (clock, seen(latest))
        } else if self.is_timed() {
            (clock, clock)
        } else {
            (0, 0)
        }
    }

    /// The snapshot matters as long as it may be loaded: whether it lacks a durable record, or only what a crash takes back.
    fn snapshot(&self, journal: Journal) -> Option<u8> {
        let held = self
            .state
            .snapshot
            .filter(|_| self.budgets.affords(Disturbance::Rollback))?;
        let lacks = usize::from(held) < self.state.durable();
        let durable = journal.len() - self.state.outbox.records();
        Some(if lacks { 0 } else { count(durable) })
    }

    /// The decision that stands for all that come to the same: one with its first fault alone, and of one that comes too late
    /// nothing but its action.
    fn canonical(&self, message: Message) -> Message {
        let Some(slot) = message.id else {
            return message;
        };
        let plain = Message {
            id: message.id,
            nonce: Nonce::Absent,
            decision: Decision::Allow,
            by: Decider::Owner,
            approved: Approved::Unsaid,
        };
        if message.nonce == Nonce::Wrong {
            return Message {
                nonce: Nonce::Wrong,
                ..plain
            };
        }
        if message.by == Decider::Stranger && !self.state.held(slot).by_anyone {
            return Message {
                by: Decider::Stranger,
                ..plain
            };
        }
        if self.is_firm(slot) {
            return plain;
        }
        // What is said of the arguments counts only in an allow of others; it is kept as what has to be seen to be honoured.
        let approved = match (message.decision, message.approved) {
            (Decision::Allow, Approved::Edited) | (Decision::Deny, _) => Approved::Edited,
            (Decision::Allow, Approved::Unsaid | Approved::Alike) => Approved::Alike,
        };
        Message {
            decision: message.decision,
            by: message.by,
            approved,
            ..plain
        }
    }
}

/// Whether an action is resolved, its call not to be heard of, all this settled, and nothing about it to be carried out.
fn is_done(state: &State, settled: &Known, slot: Slot) -> bool {
    let standing = state.known.standing(slot);
    let recorded = settled.standing(slot);
    standing.status.is_final()
        && !standing.is_unfinished()
        && recorded.status == standing.status
        && recorded.finished.is_some() == standing.finished.is_some()
        && !state.outbox.concerns(slot)
}

/// A number of records.
fn count(records: usize) -> u8 {
    u8::try_from(records).unwrap_or(u8::MAX)
}

/// The record without who decided.
const fn anonymous(record: Record) -> Record {
    match record {
        Record::Decided { slot, decision, .. } => Record::Decided {
            slot,
            decision,
            by: None,
        },
        Record::Proposed(_)
        | Record::Expired(_)
        | Record::Cancelled(_)
        | Record::Finished(..)
        | Record::SessionEnded(_) => record,
    }
}

/// The status that stands for all in which nothing is left but to ignore and to refuse.
const fn alike(status: Status) -> Status {
    match status {
        Status::Rejected | Status::Cancelled | Status::SessionOver => Status::Rejected,
        Status::Unknown | Status::Pending | Status::Accepted | Status::Expired => status,
    }
}

/// What the transcript holds of an action of which nothing is to come.
const fn told(status: Status) -> u8 {
    let end = match status {
        Status::Unknown | Status::Pending => 0,
        Status::Accepted => Note::Call.bit() | Note::Result(ToolStatus::Success).bit(),
        Status::Rejected | Status::Cancelled | Status::SessionOver => Note::Denied.bit(),
        Status::Expired => Note::Expired.bit(),
    };
    Note::Request.bit() | end
}

/// The full tick that stands for all moments at which the same has expired.
const fn seen(moment: u8) -> u8 {
    time::on(time::passed(moment))
}
