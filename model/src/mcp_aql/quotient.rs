//! The quotient: data that can no longer matter leaves the state.
//!
//! The one thing to know: [`McpAql::quotient_of`] maps a state to one like it, in which everything that no later step can
//! tell apart has the same value. It is written for the specification, every rule in force and the default reading; a test
//! walks the literal graph and shows that it is a bisimulation there.

use super::McpAql;
use super::action::Fault;
use super::bounds::{Disturbance, MOST_TICKS};
use super::enabled::{is_held, is_live, is_over, is_timed};
use super::environment::faulty;
use super::message::{Call, Carried};
use super::state::{Phase, State, Token};
use super::words::{Parameters, SLOTS, Scope, Slot};
use crate::time;

/// The moment that stands for any at which no token waits for time any more: after all that a search comes to.
const LATE: u8 = time::last(MOST_TICKS);

impl McpAql {
    /// The state that stands for all that no later step can tell from this one.
    #[must_use]
    pub fn quotient_of(&self, state: &State) -> State {
        let mut q = *state;
        for slot in Slot::ALL {
            q.tokens[slot.index()] = token(state, slot);
        }
        q.network = q.network.map(|call| self.canonical(&q, call));
        if !self.can_ask(&q) {
            q.tries.issued = [0; 2];
        }
        self.forget_budgets(&mut q);
        self.forget_time(&mut q);
        q
    }

    /// What can still be spent, and therefore matters.
    fn forget_budgets(&self, q: &mut State) {
        let can_ask = self.can_ask(q);
        let any = |holds: fn(&State, &Token) -> bool| {
            can_ask || q.slots_where(|token| holds(q, token)) != [None; SLOTS]
        };
        q.budgets = q.budgets.of_possible(Disturbance::ALL, |kind| match kind {
            Disturbance::Retry | Disturbance::Guess => true,
            Disturbance::Tamper | Disturbance::Revoke | Disturbance::List => any(is_live),
            Disturbance::Skew => any(|_, token| is_timed(token)),
            Disturbance::Restart => any(|_, token| is_held(token)),
        });
    }

    /// The greatest time that was told matters only if it is ahead, or if a clock can still be behind; and no time matters
    /// once no token waits for it, now or later.
    fn forget_time(&self, q: &mut State) {
        let waits = |token: &Token| token.phase != Phase::Lost && !is_over(q, token);
        if !self.can_ask(q) && q.slots_where(waits) == [None; SLOTS] {
            q.clock = LATE;
            q.latest = LATE;
        } else if !q.budgets.affords(Disturbance::Skew) {
            q.latest = q.now(0);
        }
    }

    /// The call that stands for all that come to the same. AQL-6.5-1: where failures are counted, each adapter counts its own.
    fn canonical(&self, q: &State, call: Call) -> Call {
        let mut canonical = canonical(q, call);
        if self.bounds.limit > 0 && call.gated {
            canonical.scope.adapter = call.scope.adapter;
        }
        canonical
    }
}

/// What still matters of a token.
fn token(state: &State, slot: Slot) -> Token {
    let full = *state.token(slot);
    // Of the calls that its client can still make, how many; of what was admitted, what the host has not performed.
    let spent = Token {
        phase: full.phase,
        max_uses: 2,
        uses: 2,
        expires: full.expires,
        to_run: full.to_run,
        sent: 2 - full.max_uses.saturating_sub(full.sent),
        runs: 2 - full.to_run,
        ..Token::UNISSUED
    };
    match full.phase {
        Phase::Unissued => full,
        Phase::Lost => Token {
            expires: 0,
            ..spent
        },
        // Revoked, and perhaps purged: its scope matters no more, its time only until it may be forgotten.
        Phase::Revoked => Token {
            expires: if is_over(state, &full) {
                0
            } else {
                full.expires
            },
            ..spent
        },
        // Expired, whether used or not, and perhaps purged.
        Phase::Live | Phase::Consumed if is_over(state, &full) => Token {
            phase: Phase::Consumed,
            expires: 0,
            ..spent
        },
        Phase::Consumed => spent,
        Phase::Live => Token {
            purged: false,
            // An executor that is held against the model may have counted fewer uses than it has performed.
            runs: full.uses.saturating_sub(full.to_run),
            ..full
        },
    }
}

/// The call that stands for all that come to the same: the one with its first fault alone, if its token is live; any
/// scope, if it is not, for then the scope is never looked at.
fn canonical(q: &State, call: Call) -> Call {
    let Carried::Token(slot) = call.token else {
        return call;
    };
    let token = q.token(slot);
    let bound = token.scope;
    let faults = [
        (call.scope.purpose != bound.purpose, Fault::Purpose),
        (call.scope.operation != bound.operation, Fault::Operation),
        (
            call.scope.parameters == Parameters::Second,
            Fault::Parameters,
        ),
        // Whether it counts is the list's affair.
        (call.scope.parameters == Parameters::Third, Fault::Unlisted),
        (call.scope.adapter != bound.adapter, Fault::Adapter),
        (call.scope.session != bound.session, Fault::Session),
    ];
    let first = faults.iter().find(|(found, _)| *found);
    let scope = if !call.gated {
        bound
    } else if token.phase == Phase::Live {
        let elsewhere = |fault: Fault| fault != Fault::Session || bound.session.is_some();
        first
            .map(|&(_, fault)| fault)
            .filter(|&fault| elsewhere(fault))
            .map_or(bound, |fault| faulty(bound, fault))
    } else {
        Scope::PLAIN
    };
    Call { scope, ..call }
}
