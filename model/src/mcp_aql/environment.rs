//! What the world around the gatekeeper does: clients, their attackers, the host and time.
//!
//! The one thing to know: nothing of it is judged. It brings about what the gatekeeper is asked, and when.

use super::action::Fault;
use super::bounds::Disturbance;
use super::message::{Call, Carried};
use super::rules::Guard;
use super::step::StepSoFar;
use super::words::{Parameters, Scope, SessionName, Slot};

impl StepSoFar<'_> {
    // What the clients and their attackers do.

    /// A client sends a call with its token, or with somebody else's.
    pub(super) fn send_with(&mut self, slot: Slot, fault: Fault) -> Option<()> {
        let token = *self.before.token(slot);
        if !token.is_issued() {
            return None;
        }
        if fault != Fault::None {
            self.state.budgets.spend(Disturbance::Tamper)?;
        } else if token.sent < token.max_uses {
            self.state.tokens[slot.index()].sent += 1;
        } else {
            self.state.budgets.spend(Disturbance::Retry)?;
        }
        self.send(Call {
            token: Carried::Token(slot),
            scope: faulty(token.scope, fault),
            gated: fault != Fault::Ungated,
            rated_higher: fault == Fault::Rating,
        })
    }

    /// Somebody makes a token up.
    pub(super) fn guess(&mut self) -> Option<()> {
        self.state.budgets.spend(Disturbance::Guess)?;
        self.send(Call {
            token: Carried::Guessed,
            scope: Scope::PLAIN,
            gated: true,
            rated_higher: false,
        })
    }

    /// Puts a call on its way, if there is room.
    pub(super) fn send(&mut self, call: Call) -> Option<()> {
        let most = self.model.bounds.under_way;
        self.state.network.send(call, most)
    }

    // What the host and time do.

    /// The host performs an operation.
    pub(super) fn carry_out(&mut self, slot: Slot) -> Option<()> {
        let token = &mut self.state.tokens[slot.index()];
        token.to_run = token.to_run.checked_sub(1)?;
        token.runs = (token.runs + 1).min(3);
        if self.model.rules.allow(Guard::RunsFirst) {
            self.count_use(slot);
        }
        Some(())
    }

    /// The clock moves on.
    pub(super) fn tick(&mut self) -> Option<()> {
        self.state.clock = self.model.next_moment(self.before)?;
        Some(())
    }
}

/// The scope of a call that differs in this way from the one that its token was issued for.
pub(super) fn faulty(scope: Scope, fault: Fault) -> Scope {
    let elsewhere = match scope.session {
        None | Some(SessionName::A) => SessionName::B,
        Some(SessionName::B) => SessionName::A,
    };
    match fault {
        Fault::None | Fault::Ungated | Fault::Rating => scope,
        Fault::Purpose => Scope {
            purpose: scope.purpose.other(),
            ..scope
        },
        Fault::Operation => Scope {
            operation: scope.operation.other(),
            ..scope
        },
        Fault::Parameters => Scope {
            parameters: Parameters::Second,
            ..scope
        },
        Fault::Unlisted => Scope {
            parameters: Parameters::Third,
            ..scope
        },
        Fault::Adapter => Scope {
            adapter: scope.adapter.other(),
            ..scope
        },
        Fault::Session => Scope {
            session: Some(elsewhere),
            ..scope
        },
        Fault::Everything => Scope {
            purpose: scope.purpose.other(),
            operation: scope.operation.other(),
            parameters: Parameters::Second,
            adapter: scope.adapter.other(),
            session: Some(elsewhere),
        },
    }
}
