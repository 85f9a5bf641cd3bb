//! Which clause an output keeps, or breaks.
//!
//! The one thing to know: a divergence has to name a clause. What is required and missing, and what is forbidden and came
//! out, is traced here to the clause that says so.

use super::McpAql;
use super::action::Action;
use super::output::{Output, Status};
use super::rules::{Check, Code, Refusal};
use super::state::State;
use super::step::Step;
use super::words::Trigger;

impl McpAql {
    /// The clause that requires this output of this action; nothing if it is not required, or the action not enabled.
    pub fn required_by(
        &self,
        state: &State,
        action: Action,
        output: Output,
    ) -> Option<&'static str> {
        let step = self.step(state, action)?;
        step.required
            .contains(output)
            .then(|| required(state, action, &step, output))
    }

    /// The clause that forbids this output of this action; nothing if it is allowed, or the action not enabled. An output
    /// that comes out more often than it is allowed is asked for with [`McpAql::repetition_breaks`].
    pub fn forbidden_by(
        &self,
        state: &State,
        action: Action,
        output: Output,
    ) -> Option<&'static str> {
        let step = self.step(state, action)?;
        let instead = step.instead.is_some_and(|other| other.contains(output));
        let allowed = step.required.contains(output) || instead;
        (!allowed).then(|| forbidden(state, action, &step, output))
    }

    /// The clause that an allowed output breaks by coming out twice in one step.
    pub const fn repetition_breaks(output: Output) -> &'static str {
        match output {
            Output::Issued(_) | Output::Validated(_) => "AQL-1.2-5",
            Output::Rejected(_) | Output::Revoked(_) | Output::NotRevoked => "AQL-6.4-1",
            Output::Warned(_) => "AQL-5.1-6",
            Output::Perform(_) => "AQL-5.2-1",
            Output::PerformUngated => "AQL-5.1-8",
            Output::ConfirmationRequired(_) => "AQL-3.3-1",
            Output::Fail(_) => "AQL-4.2-1",
            Output::AnswerRevocation => "AQL-5.3-3",
            Output::AnswerStatus(_) => "AQL-7.3-1",
            Output::Expose => "AQL-6.3-1",
            Output::Refused(refusal) => refusal.clause(),
        }
    }
}

/// Why an output is required.
fn required(before: &State, action: Action, step: &Step, output: Output) -> &'static str {
    match output {
        Output::Issued(_) | Output::Validated(_) => "AQL-1.2-5",
        Output::Rejected(_) | Output::NotRevoked => "AQL-6.4-1",
        Output::Revoked(_) => revocation(action),
        Output::Warned(_) => "AQL-5.1-6",
        Output::Perform(_) => "AQL-1.3-2",
        Output::PerformUngated => "AQL-5.1-8",
        Output::ConfirmationRequired(_) => "AQL-1.3-1",
        Output::Fail(_) if before.is_uniform() => "AQL-6.3-2",
        Output::Fail(_) => step.rejected.map_or("AQL-4.1-1", Check::clause),
        Output::AnswerRevocation => "AQL-5.3-3",
        Output::AnswerStatus(status) => match status {
            Status::Unknown if before.is_uniform() => "AQL-6.3-2",
            Status::Live { .. }
            | Status::Consumed
            | Status::Expired
            | Status::Revoked
            | Status::Unknown => "AQL-7.3-1",
        },
        Output::Expose => "AQL-6.3-1",
        Output::Refused(refusal) => refusal.clause(),
    }
}

/// The clause that revokes a token in this step.
const fn revocation(action: Action) -> &'static str {
    let Action::Trigger(trigger) = action else {
        return "AQL-5.3-3";
    };
    match trigger {
        Trigger::SessionEnd(_) => "AQL-5.4-2",
        Trigger::Logout(_) | Trigger::Configuration(_) | Trigger::Security => "AQL-5.3-2",
    }
}

/// Why an output is forbidden.
fn forbidden(before: &State, action: Action, step: &Step, output: Output) -> &'static str {
    match output {
        Output::Perform(_) | Output::PerformUngated | Output::Validated(_) => {
            effect(before, action, step, output)
        }
        Output::Issued(_) | Output::ConfirmationRequired(_) => refusal(step).map_or_else(
            || step.rejected.map_or("AQL-6.4-1", Check::clause),
            Refusal::clause,
        ),
        Output::Rejected(check) => step
            .rejected
            .map_or(wrongly_rejected(check.code()), Check::clause),
        Output::Fail(code) => failure(before, action, step, code),
        Output::Revoked(_) | Output::NotRevoked => revocation(action),
        // What is refused is not warned of.
        Output::Warned(_) => refusal(step).map_or("AQL-5.1-6", Refusal::clause),
        Output::AnswerRevocation if before.is_uniform() => "AQL-6.3-2",
        Output::AnswerRevocation => "AQL-4.1-1",
        Output::AnswerStatus(status) => match status {
            Status::Consumed | Status::Expired | Status::Revoked if before.is_uniform() => {
                "AQL-6.3-2"
            }
            Status::Live { .. }
            | Status::Consumed
            | Status::Expired
            | Status::Revoked
            | Status::Unknown => "AQL-7.3-1",
        },
        Output::Expose => "AQL-6.3-1",
        Output::Refused(refusal) => refusal.clause(),
    }
}

/// Why nothing must be performed now, nor said to be.
fn effect(before: &State, action: Action, step: &Step, output: Output) -> &'static str {
    if let Some(refusal) = refusal(step) {
        return refusal.clause();
    }
    if let Some(check) = step.rejected {
        return check.clause();
    }
    match action {
        Action::Request(request) if request.is_gated() => "AQL-1.3-1",
        // Without a token there is nothing to validate.
        Action::Request(_) => "AQL-5.1-8",
        Action::Deliver { index, .. } => {
            let call = before.network.get(usize::from(index));
            let gated = call.is_none_or(|call| call.gated);
            if output == Output::PerformUngated {
                // One call is admitted by one token.
                "AQL-5.2-1"
            } else if gated {
                "AQL-1.2-3"
            } else {
                // What needs no token uses none.
                "AQL-1.2-1"
            }
        }
        // What was admitted before may have run already.
        Action::Restart(_) => "AQL-6.1-1",
        Action::SetUp { .. }
        | Action::Send { .. }
        | Action::Guess
        | Action::Redeem { .. }
        | Action::CarryOut { .. }
        | Action::Revoke(_)
        | Action::AskStatus(_)
        | Action::Trigger(_)
        | Action::Tick
        | Action::Purge { .. } => "AQL-1.3-2",
    }
}

/// Why the call must not fail with this code.
fn failure(before: &State, action: Action, step: &Step, code: Code) -> &'static str {
    if let Some(refusal) = refusal(step) {
        refusal.clause()
    } else if before.is_uniform() && code != Code::Invalid {
        "AQL-6.3-2"
    } else if let Some(check) = step.rejected {
        check.clause()
    } else {
        match action {
            Action::Revoke(_) if before.is_uniform() => "AQL-6.3-2",
            Action::Revoke(_) => "AQL-5.3-3",
            Action::AskStatus(_) => "AQL-7.3-1",
            Action::Request(request) if !request.is_gated() => "AQL-5.1-8",
            Action::Request(_) => "AQL-1.3-1",
            Action::SetUp { .. }
            | Action::Send { .. }
            | Action::Guess
            | Action::Deliver { .. }
            | Action::Redeem { .. }
            | Action::CarryOut { .. }
            | Action::Trigger(_)
            | Action::Tick
            | Action::Purge { .. }
            | Action::Restart(_) => wrongly_rejected(code),
        }
    }
}

/// Why a call that passes every check must not be rejected so.
const fn wrongly_rejected(code: Code) -> &'static str {
    match code {
        Code::Expired => "AQL-5.1-7",
        Code::AlreadyUsed => "AQL-1.2-1",
        Code::Invalid | Code::ScopeMismatch => "AQL-1.3-2",
    }
}

/// The refusal among the required outputs.
fn refusal(step: &Step) -> Option<Refusal> {
    step.required.iter().find_map(|output| {
        let Output::Refused(refusal) = output else {
            return None;
        };
        Some(refusal)
    })
}
