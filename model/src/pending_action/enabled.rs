//! Which actions are enabled in a state.
//!
//! The one thing to know: what cannot matter is not offered. Of equal decisions one stands for all; what changes nothing is
//! offered in a quiet moment, as it depends neither on the decisions under way nor on what is to be carried out; nobody
//! decides on what they were told is resolved; and time stands still once no action waits for it.

use crate::time::{self, Waiting};

use super::PendingAction;
use super::action::{Action, Manner};
use super::bounds::{Disturbance, Variety};
use super::known::Status;
use super::message::Network;
use super::rules::Guard;
use super::state::{NEVER, State};
use super::words::{Decision, Effect, Flaw, Proposal, SLOTS, SessionName, Slot, ToolStatus};

impl PendingAction {
    /// Adds every enabled action, in an order that depends on the state alone.
    pub fn enabled(&self, state: &State, actions: &mut Vec<Action>) {
        let first = actions.len();
        arrivals(state, actions);
        self.proposals(state, actions);
        self.results(state, actions);
        self.host(state, actions);
        // The host takes no more calls than it can make durable.
        if state.outbox.records() >= usize::from(self.bounds.backlog) {
            actions.truncate(first);
        }
        world(state, actions);
        self.clients(state, actions);
        self.clock(state, actions);
        if is_quiet(state) {
            self.idle_calls(state, actions);
        }
    }

    /// Whether another proposal fits into the bounds.
    pub(super) fn can_propose(&self, state: &State) -> bool {
        state
            .free_slot()
            .is_some_and(|slot| slot.index() < usize::from(self.bounds.actions))
    }

    /// What the loop proposes.
    fn proposals(&self, state: &State, actions: &mut Vec<Action>) {
        if !self.can_propose(state) {
            return;
        }
        let (offered, few): (&[Proposal], usize) = match state.free_slot() {
            Some(Slot::First) => (&FIRST, 2),
            Some(Slot::Second | Slot::Third) => (&LATER, 1),
            None => (&[], 0),
        };
        let count = match self.bounds.variety {
            Variety::Few => few,
            Variety::Many => offered.len(),
        };
        let offered = offered[..count].iter().copied();
        let offered = offered.filter(|it| may_begin(it.read_as(self.reading), state.clock));
        actions.extend(offered.map(Action::Propose));
    }

    /// The deciders decide, and attackers try to.
    fn clients(&self, state: &State, actions: &mut Vec<Action>) {
        for (place, index) in (0..state.network.len()).zip(0..) {
            let affords = state.budgets.affords(Disturbance::Duplicate);
            if affords && self.has_room(state) && state.network.is_first_of_its_like(place) {
                actions.push(Action::Duplicate { index });
            }
        }
        if !self.has_room(state) {
            return;
        }
        for slot in asked(state).into_iter().flatten() {
            let honest = state.held(slot).sent < self.bounds.decisions[slot.index()];
            if honest {
                let manners = self.honest(slot).iter();
                actions.extend(manners.map(|&(decision, manner)| send(slot, decision, manner)));
            }
            if state.budgets.affords(Disturbance::Forge) {
                let forged = self.forged(slot).iter();
                actions.extend(forged.map(|&(decision, manner)| send(slot, decision, manner)));
            }
        }
        if state.budgets.affords(Disturbance::Forge) && has_live(state) {
            actions.push(Action::Guess);
        }
    }

    /// What an honest decider may send. Where there is little variety, not everything on either action.
    fn honest(&self, slot: Slot) -> &'static [(Decision, Manner)] {
        match (self.bounds.variety, slot) {
            (Variety::Few, Slot::First) => &HONEST[..2],
            (Variety::Few, Slot::Second | Slot::Third) => &HONEST[1..],
            (Variety::Many, _) => &HONEST,
        }
    }

    /// What may be forged, likewise.
    fn forged(&self, slot: Slot) -> &'static [(Decision, Manner)] {
        match (self.bounds.variety, slot) {
            (Variety::Few, Slot::First) => &FORGED[..3],
            (Variety::Few, Slot::Second | Slot::Third) => &FORGED[3..6],
            (Variety::Many, _) => &FORGED,
        }
    }

    /// Whether the network takes one more decision.
    fn has_room(&self, state: &State) -> bool {
        state.network.has_room(self.bounds.under_way)
    }

    /// The host reports what became of a call, once no run of it waits and if it has found that out. That a run was withdrawn
    /// does not tell it that the call never ran: one before a crash may have begun.
    fn results(&self, state: &State, actions: &mut Vec<Action>) {
        let unfinished = state.slots_where(|_, standing| standing.is_unfinished());
        for slot in unfinished.into_iter().flatten() {
            if state.outbox.performs(slot) {
                continue;
            }
            let withdrawn = state.withdrawn[slot.index()];
            let misled = withdrawn && self.rules.allow(Guard::TakesWithdrawnForUnrun);
            let found: &[ToolStatus] = if state.held(slot).runs == 0 || misled {
                &[ToolStatus::NotRun]
            } else {
                match self.bounds.variety {
                    Variety::Few => &[ToolStatus::Success],
                    Variety::Many => &[ToolStatus::Success, ToolStatus::Error],
                }
            };
            let report = |&status| Action::FinishTool { slot, status };
            actions.extend(found.iter().map(report));
        }
    }

    /// The host cancels, ends sessions, loads its snapshot and serves its timer.
    fn host(&self, state: &State, actions: &mut Vec<Action>) {
        if state.budgets.affords(Disturbance::Cancel) {
            for slot in pending(state).into_iter().flatten() {
                actions.push(Action::Cancel { slot });
            }
        }
        let sessions = SessionName::ALL.into_iter();
        let ends = sessions.filter(|&session| self.end_matters(state, session));
        actions.extend(ends.map(Action::EndSession));
        if may_load(state) {
            actions.push(Action::Rollback);
        }
        let due = state.slots_where(|held, standing| {
            standing.status == Status::Pending && self.is_past(held, state.clock)
        });
        if due != [None; SLOTS] {
            actions.push(Action::ServeTimer);
        }
    }

    /// Whether anything comes of the session's end: something in it is pending or released, or the first is still to come.
    fn end_matters(&self, state: &State, session: SessionName) -> bool {
        let in_it = state.slots_where(|held, standing| {
            let live = standing.status == Status::Pending || standing.is_unfinished();
            held.session == session && live
        });
        let to_come = session == SessionName::A && self.can_propose(state);
        let over = state.known.ended.map(u8::from).iter().sum::<u8>();
        let may_end = !state.known.has_ended(session) && over < self.bounds.ends;
        may_end && (in_it != [None; SLOTS] || to_come)
    }

    /// The clock goes on as long as somebody waits for it, and is set back where that can tell.
    fn clock(&self, state: &State, actions: &mut Vec<Action>) {
        if self.next_moment(state).is_some() {
            actions.push(Action::Tick);
        }
        if state.clock > 0
            && time::is_full_tick(state.clock)
            && state.budgets.affords(Disturbance::SetBack)
            && self.is_timed(state)
        {
            actions.push(Action::SetBack);
        }
    }

    /// The next moment at which there is something to see: around an expiry, or where something can be proposed.
    pub(super) fn next_moment(&self, state: &State) -> Option<u8> {
        let pending = pending(state).into_iter().flatten();
        let expiries = pending.filter_map(|slot| state.held(slot).expiry());
        // A time that passes while nothing waits is recorded nowhere, so that a restart would forget it.
        let can_begin = expiries.clone().next().is_some() && self.can_propose(state);
        let waiting = Waiting {
            limits: expiries,
            can_begin,
            every: 1,
        };
        waiting.next(state.clock, self.bounds.ticks)
    }

    /// Whether the time matters to anything, now or later.
    pub(super) fn is_timed(&self, state: &State) -> bool {
        let waits = state.slots_where(|held, standing| {
            standing.status == Status::Pending && held.expires != NEVER
        });
        self.can_propose(state) || waits != [None; SLOTS]
    }

    /// What changes nothing: free text, what is refused, ends of what has ended, and keeping a snapshot.
    fn idle_calls(&self, state: &State, actions: &mut Vec<Action>) {
        actions.push(Action::Say);
        let loads = state.budgets.affords(Disturbance::Rollback);
        if loads && state.snapshot.is_none() && pending(state) != [None; SLOTS] {
            actions.push(Action::Snapshot);
        }
        let status = ToolStatus::Success;
        let next = state.free_slot().filter(|_| self.can_propose(state));
        for slot in Slot::ALL {
            let standing = state.known.standing(slot);
            let named = standing.status != Status::Unknown || next == Some(slot);
            if named && standing.status != Status::Pending {
                actions.push(Action::Cancel { slot });
            }
            if named && !standing.is_unfinished() {
                actions.push(Action::FinishTool { slot, status });
            }
        }
        if self.can_propose(state) {
            actions.extend(Flaw::ALL.map(Action::ProposeFlawed));
            let sessions = SessionName::ALL.into_iter();
            let ended = sessions.filter(|&session| state.known.has_ended(session));
            actions.extend(ended.map(Action::EndSession));
        }
    }
}

/// What may be proposed first. The first two are always offered.
const FIRST: [Proposal; 2] = [
    Proposal {
        lifetime: Some(1),
        ..Proposal::PLAIN
    },
    Proposal {
        by_anyone: true,
        idempotent: true,
        effect: Effect::Read,
        ..Proposal::PLAIN
    },
];

/// What may be proposed later. The first is always offered.
const LATER: [Proposal; 2] = [
    Proposal {
        session: SessionName::B,
        lifetime: Some(1),
        ..Proposal::PLAIN
    },
    Proposal {
        idempotent: true,
        ..Proposal::PLAIN
    },
];

/// What an honest decider may send.
const HONEST: [(Decision, Manner); 3] = [
    (Decision::Allow, Manner::Plain),
    (Decision::Deny, Manner::Plain),
    (Decision::Allow, Manner::Full),
];

/// What may be forged.
const FORGED: [(Decision, Manner); 7] = [
    (Decision::Allow, Manner::Stranger),
    (Decision::Deny, Manner::Stranger),
    (Decision::Allow, Manner::OtherNonce),
    (Decision::Deny, Manner::OtherNonce),
    (Decision::Allow, Manner::Edited),
    (Decision::Deny, Manner::Edited),
    (Decision::Allow, Manner::Everything),
];

/// Whether it may be proposed at this moment: what has a time to live, on a full tick.
pub(super) fn may_begin(proposal: Proposal, clock: u8) -> bool {
    proposal.lifetime.is_none() || time::is_full_tick(clock)
}

/// One decision to send.
const fn send(slot: Slot, decision: Decision, manner: Manner) -> Action {
    Action::Send {
        slot,
        decision,
        manner,
    }
}

/// Decisions arrive and, where that is apart, take effect.
fn arrivals(state: &State, actions: &mut Vec<Action>) {
    for (place, index) in (0..state.network.len()).zip(0..) {
        if state.network.is_first_of_its_like(place) {
            actions.push(Action::Deliver { index });
        }
    }
    for (place, index) in (0..state.validated.len()).zip(0..) {
        if state.validated.is_first_of_its_like(place) {
            actions.push(Action::Apply { index });
        }
    }
}

/// The host carries out what is next, and the process dies.
fn world(state: &State, actions: &mut Vec<Action>) {
    if !state.outbox.is_empty() {
        actions.push(Action::CarryOut);
    }
    if state.budgets.affords(Disturbance::Crash) && (has_live(state) || !state.outbox.is_empty()) {
        actions.push(Action::Restart);
    }
}

/// Whether there is a snapshot that lacks something, and nothing waits to become durable.
fn may_load(state: &State) -> bool {
    let lacks = |count| usize::from(count) < state.journal.len();
    let newer = state.snapshot.is_some_and(lacks);
    newer && state.budgets.affords(Disturbance::Rollback) && state.outbox.records() == 0
}

/// The actions that deciders know of and do not know to be resolved.
fn asked(state: &State) -> [Option<Slot>; SLOTS] {
    Slot::ALL.map(|slot| state.held(slot).is_asked().then_some(slot))
}

/// The actions that are pending with the ledger.
fn pending(state: &State) -> [Option<Slot>; SLOTS] {
    state.slots_where(|_, standing| standing.status == Status::Pending)
}

/// Whether any action is pending, or released and not done.
pub(super) fn has_live(state: &State) -> bool {
    let live = state
        .slots_where(|_, standing| standing.status == Status::Pending || standing.is_unfinished());
    live != [None; SLOTS]
}

/// Whether nothing is under way and nothing is to be carried out.
fn is_quiet(state: &State) -> bool {
    state.network.is_empty() && state.validated == Network::default() && state.outbox.is_empty()
}
