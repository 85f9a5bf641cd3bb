//! Signed tokens: what a gatekeeper that keeps nothing of what it issues may do otherwise than the model has it, and what it makes of
//! a token that it does not hold.
//!
//! The one thing to know: where the text leaves open what such a gatekeeper says, all that it may say is listed in [`ways`],
//! each with the passage that leaves it open. Everything else is what the model wants.

use countersign_model::mcp_aql::action::Action;
use countersign_model::mcp_aql::message::{Call, Carried};
use countersign_model::mcp_aql::output::{Output, Status};
use countersign_model::mcp_aql::rules::{Check, Code};
use countersign_model::mcp_aql::state::{GatekeeperToken, Phase, State, Token};
use countersign_model::mcp_aql::step::Step;
use countersign_model::mcp_aql::words::{Parameters, Slot, Trigger};
use countersign_reference::mcp_aql as executor;
use countersign_reference::mcp_aql::{
    Audit, AuditEntry, AuditOutcome, EventKind, FailureReason, Input, Outcome, Revoker, TokenEvent,
};
use countersign_reference::time::Timestamp;

use super::concrete::Environment;
use super::{Host, carried};
use crate::{Unexplained, unexplained};

/// What stands in the log for whatever operation or adapter.
const ANY: &str = "*";

/// What may come out of a step with a signed token: the first is what the model wants, unless the executor knows less.
pub(super) fn ways(
    host: &Host,
    (state, action): (&State, Action),
    step: &Step,
) -> Vec<Vec<Output>> {
    let Some(Carried::Token(slot)) = carried(state, action) else {
        return vec![step.required.as_slice().to_vec()];
    };
    if let Action::Deliver { index, skew } = action
        && step.rejected == Some(Check::NotRevoked)
    {
        let call = state.network.get(usize::from(index));
        ways_of_revoked(host, state, slot, (call, skew))
    } else if matches!(action, Action::Revoke(_)) && step.required.contains(Output::NotRevoked) {
        ways_to_revoke_nothing(host, state, slot, step)
    } else if matches!(action, Action::AskStatus(_)) {
        ways_of_status(host, state, slot, step)
    } else {
        let instead = step.instead.filter(|_| !host.knows(slot));
        vec![instead.unwrap_or(step.required).as_slice().to_vec()]
    }
}

/// Of a revoked token the table of 4.1 says nothing: each of its checks that fails besides may be the one that is told. One whose
/// key is gone is not found (AQL-5.3-2).
fn ways_of_revoked(
    host: &Host,
    state: &State,
    slot: Slot,
    (call, skew): (Option<Call>, i8),
) -> Vec<Vec<Output>> {
    if !host.knows(slot) {
        return vec![rejection(state, Check::Exists)];
    }
    let token = state.token(slot);
    let is_past = token.is_past(state.now(skew), state.tolerance());
    let besides = [
        is_past.then_some(Check::NotExpired),
        call.and_then(|call| differing(call, token)),
    ];
    let checks = std::iter::once(Check::NotRevoked).chain(besides.into_iter().flatten());
    checks.map(|check| rejection(state, check)).collect()
}

/// What is answered where there is nothing to revoke. 5.3 does not say whether a token that has ended with its adapter can be
/// given back as well.
fn ways_to_revoke_nothing(host: &Host, state: &State, slot: Slot, step: &Step) -> Vec<Vec<Output>> {
    if !host.knows(slot) {
        let answer = if state.is_uniform() {
            Output::AnswerRevocation
        } else {
            Output::Fail(Code::Invalid)
        };
        return vec![vec![Output::NotRevoked, answer]];
    }
    let mut ways = vec![step.required.as_slice().to_vec()];
    if ended_with_adapter(host, state, slot) {
        ways.push(vec![Output::Revoked(slot), Output::AnswerRevocation]);
    }
    ways
}

/// AQL-7.3-1, AQL-7.3-2: what is told of a status is left to who tells it; of a token that is not held nothing is known, nor of one
/// that came after its time whether it was revoked before.
fn ways_of_status(host: &Host, state: &State, slot: Slot, step: &Step) -> Vec<Vec<Output>> {
    if !host.holds(slot) {
        return vec![vec![Output::AnswerStatus(Status::Unknown)]];
    }
    let mut ways = vec![step.required.as_slice().to_vec()];
    let is_past = state.token(slot).is_past(state.now(0), state.tolerance());
    if is_past
        && step
            .required
            .contains(Output::AnswerStatus(Status::Revoked))
    {
        ways.push(vec![Output::AnswerStatus(Status::Expired)]);
    }
    ways
}

/// Whether a token that is not over has ended with its adapter, so that whether it can be given back as well is left open.
pub(super) fn ended_with_adapter(host: &Host, state: &State, slot: Slot) -> bool {
    let is_past = state.token(slot).is_past(state.now(0), state.tolerance());
    let by = host.revoked[slot.index()];
    host.signed[slot.index()] && by == Some(Revoker::Configuration) && !is_past
}

/// What comes out of a call that fails this check.
fn rejection(state: &State, check: Check) -> Vec<Output> {
    let code = if state.is_uniform() {
        Code::Invalid
    } else {
        check.code()
    };
    vec![Output::Rejected(check), Output::Fail(code)]
}

/// The first check of the scope that a call fails with this token, which is bound to no session.
fn differing(call: Call, token: &Token) -> Option<Check> {
    let (named, bound) = (call.scope, token.scope);
    let checks = [
        (named.purpose != bound.purpose, Check::Purpose),
        (named.operation != bound.operation, Check::Operation),
        (named.parameters != Parameters::First, Check::Parameters),
        (named.adapter != bound.adapter, Check::Adapter),
    ];
    let first = checks.into_iter().find(|(fails, _)| *fails);
    first.map(|(_, check)| check)
}

/// AQL-4.1-4, AQL-4.1-5, AQL-4.1-6: the first check of the scope that this call fails. A signature does not tell it from the others.
pub(super) fn other_scope(
    environment: &Environment,
    host: &Host,
    input: &Input,
    slot: Slot,
) -> Option<Check> {
    let Input::Call(call) = input else {
        return None;
    };
    let issued = &host.issued(slot).call;
    let checks = [
        (call.operation != issued.operation, Check::Operation),
        (!environment.is_as_asked(call), Check::Parameters),
        (
            environment.adapter_of(call) != environment.adapter_of(issued),
            Check::Adapter,
        ),
    ];
    let first = checks.into_iter().find(|(fails, _)| *fails);
    first.map(|(_, check)| check)
}

/// What came out but for the entry that stands for all tokens that end together and are not held, and the slots of those
/// (AQL-6.4-1). Nobody knows which there are, so that the entry comes whether there are any or not.
pub(super) fn without_all<'a>(
    environment: &Environment,
    host: &Host,
    (state, action): (&State, Action),
    answer: &'a super::Answer,
) -> Result<(&'a [executor::Output], Vec<Slot>), Unexplained> {
    let ended = match (action, &answer.call) {
        _ if !environment.signs || answer.refused.is_some() => None,
        // Set up otherwise than by itself, or otherwise than it was and back.
        (
            Action::SetUp { .. } | Action::Trigger(Trigger::Configuration(_)),
            Input::Configure { adapter, .. },
        ) => Some(adapter.as_str()),
        (_, input) => ends_all(input).then_some(ANY),
    };
    let Some(ended) = ended else {
        return Ok((&answer.outputs, Vec::new()));
    };
    let is_all = |output: &executor::Output| {
        matches!(output, executor::Output::Audit(Audit::Token(entry))
            if stands_for_all(entry, ended, host.gatekeeper.now()))
    };
    match answer.outputs.split_last() {
        Some((last, before)) if is_all(last) => {
            Ok((before, live_of(environment, host, state, ended)))
        }
        Some(_) | None => Err(unexplained(
            "AQL-6.4-1",
            format!("an entry for all tokens of {ended} that are not held"),
        )),
    }
}

/// AQL-5.3-2: whether it takes all tokens back, whoever has them.
pub(super) fn ends_all(input: &Input) -> bool {
    match input {
        Input::Event { kind, session_id } => match kind {
            EventKind::Logout => session_id.is_none(),
            EventKind::Security | EventKind::Configuration => true,
        },
        Input::Configure { .. }
        | Input::Call(_)
        | Input::Introspect { .. }
        | Input::EndSession { .. }
        | Input::RotateKey { .. }
        | Input::Tick
        | Input::Restart => false,
    }
}

fn stands_for_all(entry: &AuditEntry, adapter: &str, now: Timestamp) -> bool {
    let AuditEntry {
        timestamp,
        event,
        token_id,
        operation,
        adapter_name,
        outcome,
        failure_reason,
        client_context,
    } = entry;
    *timestamp == now
        && *event == TokenEvent::TokenRevoked
        && token_id.is_none()
        && operation.as_str() == ANY
        && adapter_name.as_str() == adapter
        && *outcome == AuditOutcome::Success
        && failure_reason.is_none()
        && client_context.is_none()
}

/// The live tokens of an adapter, or all, that are not held and were not taken back.
fn live_of(environment: &Environment, host: &Host, state: &State, adapter: &str) -> Vec<Slot> {
    let now = state.now(0);
    let is_live = |slot: &Slot| {
        let token = state.token(*slot);
        let live = token.phase == Phase::Live && !token.is_past(now, state.tolerance());
        live && host.revoked[slot.index()].is_none() && !host.holds(*slot)
    };
    let is_its_own = |slot: &Slot| {
        let own = environment.adapter_of(&host.issued(*slot).call);
        adapter == ANY || own.as_str() == adapter
    };
    let slots = Slot::ALL.into_iter().filter(is_live);
    slots.filter(is_its_own).collect()
}

/// What the executor makes of a token that it does not hold, which it is shown with the call that it was issued for, in a copy.
///
/// # Errors
///
/// [`Unexplained`] where it makes of it what no signature says.
pub(super) fn shown(host: &Host, slot: Slot, next: &State) -> Result<GatekeeperToken, Unexplained> {
    let wanted = next.token(slot);
    let issued = host.issued(slot);
    let call = executor::Call {
        confirmation_token: Some(issued.token.as_str().to_owned()),
        ..issued.call.clone()
    };
    let mut gatekeeper = (*host.gatekeeper).clone();
    let now = gatekeeper.now();
    let Outcome { outputs, .. } = gatekeeper.handle(now, &mut host.ids.clone(), Input::Call(call));
    let reason = outputs.iter().find_map(|output| match output {
        executor::Output::Audit(Audit::Token(entry)) => entry.failure_reason,
        executor::Output::Audit(Audit::Warning(_))
        | executor::Output::Respond(_)
        | executor::Output::Perform(_) => None,
    });
    let is_past = wanted.is_past(next.latest, next.tolerance());
    let is_gone = matches!(wanted.phase, Phase::Revoked | Phase::Lost) || is_past;
    let as_wanted = super::abstraction::as_the_model_has_it(wanted);
    let in_phase = |phase| GatekeeperToken {
        phase,
        uses: 0,
        ..as_wanted
    };
    match reason {
        None => Ok(in_phase(Phase::Live)),
        Some(FailureReason::Revoked) => Ok(in_phase(Phase::Revoked)),
        // What is turned away is not looked at.
        Some(FailureReason::RateLimited) => Ok(as_wanted),
        // What it was before matters no more.
        Some(FailureReason::Expired) if is_past => Ok(as_wanted),
        Some(FailureReason::Unknown) if is_gone && !host.knows(slot) => Ok(as_wanted),
        Some(reason) => Err(unexplained(
            reason.clause().0,
            format!("{} as in {issued:?}, and not {reason:?}", slot.name()),
        )),
    }
}

/// When the executor has to be called to forget that a token was given back which it does not hold, if there is any.
pub(super) fn deadline(host: &Host) -> Option<Timestamp> {
    let now = host.gatekeeper.now();
    let given_back = Slot::ALL.into_iter().filter(|slot| {
        let by_hand = host.revoked[slot.index()] == Some(Revoker::Introspection);
        by_hand && host.knows(*slot) && !host.holds(*slot)
    });
    let until = given_back.map(|slot| host.issued(slot).valid_until);
    let next = until.filter(|until| *until >= now).min();
    next.map(|until| Timestamp::from_millis(until.millis() + 1))
}
