//! Steps in words: who does what, and what changes by it.

use super::McpAql;
use super::action::{Action, Fault};
use super::environment::faulty;
use super::message::{Call, Carried, Network};
use super::output::{Output, Outputs, Status};
use super::state::{ETERNAL, Phase, State, Token};
use super::words::{
    Lifetime, List, Purpose, Request, Scope, SessionName, Slot, Store, Trigger, Which,
};
use crate::checker::StepText;
use crate::network::in_words;
use crate::time;

/// A step in words; `after` is the state that the search went on from.
pub(super) fn describe(model: &McpAql, before: &State, action: Action, after: &State) -> StepText {
    let (actor, action_text) = action_text(model, before, action);
    let mut changes = changes(before, after);
    if let Action::CarryOut { slot } = action {
        changes.push(run_text(model, slot, after.token(slot)));
    }
    if let Some(step) = model.step(before, action) {
        changes.extend(told("out", &step.required));
        if let Some(instead) = step.instead {
            changes.extend(told("or, if it was purged", &instead));
        }
    }
    StepText {
        at: format!("t={}", time_text(before.clock)),
        actor: actor.to_owned(),
        to: reaches(action).map(str::to_owned),
        action: action_text,
        changes,
    }
}

/// A time in words: a tick is a minute.
fn time_text(moment: impl Into<i64>) -> String {
    time::name_in(moment, "min")
}

/// An operation that runs, in words. The quotient does not know how often it ran before.
fn run_text(model: &McpAql, slot: Slot, token: &Token) -> String {
    let times = if model.quotient {
        ""
    } else if token.runs > 1 {
        " again"
    } else {
        " once"
    };
    format!("{}: its operation runs{times}", slot.name())
}

/// The outputs in words.
fn told(when: &'static str, outputs: &Outputs) -> impl Iterator<Item = String> {
    outputs
        .iter()
        .map(move |output| format!("{when}: {}", output_text(output)))
}

/// Who acts, and what they do.
fn action_text(model: &McpAql, before: &State, action: Action) -> (&'static str, String) {
    match action {
        Action::SetUp { tolerance, oracle } => (
            "operator",
            format!(
                "configures a tolerance of {} and oracle {}",
                time_text(time::on(tolerance)),
                oracle.name()
            ),
        ),
        Action::Request(request) => ("client", request_text(before, request)),
        Action::Send { slot, fault } => ("client", send_text(before, slot, fault)),
        Action::Guess => ("attacker", "sends a call with a guessed token".to_owned()),
        Action::Deliver { index, skew } => {
            let call = at(before.network, index);
            let node = if skew == 0 {
                String::new()
            } else {
                let now = time_text(before.now(skew));
                format!(" at a node whose clock says t={now}")
            };
            ("network", format!("{call} arrives{node}"))
        }
        Action::Redeem { index } => (
            "gatekeeper",
            format!("redeems {}", at(before.validated, index)),
        ),
        Action::CarryOut { slot } => ("host", format!("performs an operation on {}", slot.name())),
        Action::Revoke(carried) => ("operator", format!("revokes {}", carried_text(carried))),
        Action::AskStatus(carried) => (
            "client",
            format!("asks for the status of {}", carried_text(carried)),
        ),
        Action::Trigger(trigger) => trigger_text(trigger),
        Action::Reconfigure(adapter) => (
            "operator",
            format!("configures adapter {} as it is", adapter.number()),
        ),
        Action::Relist { operation, list } => ("operator", relist_text(before, operation, list)),
        Action::Tick => {
            let next = model.next_moment(before).unwrap_or(before.clock);
            ("clock", format!("moves on to t={}", time_text(next)))
        }
        Action::Purge { slot } => ("store", format!("forgets {}", slot.name())),
        Action::Restart(Store::Persistent) => (
            "process",
            "crashes and restarts with what it had stored; the outbox is lost".to_owned(),
        ),
        Action::Restart(Store::InMemory) => (
            "process",
            "crashes and restarts with an empty store; the outbox is lost".to_owned(),
        ),
    }
}

/// Whom the step reaches, where that is not who acts.
const fn reaches(action: Action) -> Option<&'static str> {
    match action {
        Action::Send { .. } | Action::Guess => Some("network"),
        Action::SetUp { .. }
        | Action::Request(_)
        | Action::Deliver { .. }
        | Action::Revoke(_)
        | Action::AskStatus(_)
        | Action::Trigger(_)
        | Action::Reconfigure(_)
        | Action::Relist { .. } => Some("gatekeeper"),
        Action::CarryOut { .. } => Some("tool"),
        Action::Redeem { .. } | Action::Tick | Action::Purge { .. } | Action::Restart(_) => None,
    }
}

/// Another list, in words.
fn relist_text(before: &State, operation: Which, list: List) -> String {
    let counts = match list {
        List::Unset => "what is set up",
        List::Narrow => "one parameter alone",
        List::Wide if before.setup.is_some_and(|it| list.names_nothing(it.oracle)) => {
            "what no call has"
        }
        List::Wide => "both parameters",
    };
    format!(
        "lets {counts} of o{} count on adapter 1",
        operation.number()
    )
}

/// A request in words.
fn request_text(before: &State, request: Request) -> String {
    let scope = scope_text(request.scope);
    if !request.is_gated() {
        return format!(
            "calls {scope} ({}), which needs no token",
            request.danger.name()
        );
    }
    let slot = before.free_slot().map_or("no slot", Slot::name);
    let lifetime = match request.lifetime {
        Lifetime::Default => "the default lifetime".to_owned(),
        Lifetime::Ticks(ticks) => format!("a lifetime of {}", time_text(time::on(ticks))),
    };
    let uses = if request.max_uses > 1 {
        format!(", {} uses", request.max_uses)
    } else {
        String::new()
    };
    format!(
        "calls {scope} ({}) without a token: {slot}, {lifetime}{uses}",
        request.danger.name()
    )
}

/// What is sent, in words.
fn send_text(before: &State, slot: Slot, fault: Fault) -> String {
    let token = before.token(slot);
    let scope = scope_text(faulty(token.scope, fault));
    let again = match fault {
        Fault::None if token.sent >= token.max_uses => " again",
        Fault::None
        | Fault::Purpose
        | Fault::Operation
        | Fault::Parameters
        | Fault::Adapter
        | Fault::Session
        | Fault::Everything
        | Fault::Ungated
        | Fault::Unlisted
        | Fault::Rating => "",
    };
    let peculiar = match fault {
        Fault::None => "",
        Fault::Purpose => ", which is for the other purpose",
        Fault::Operation => ", which is another operation",
        Fault::Parameters => ", which has other parameters",
        Fault::Unlisted => ", which differs in what a list may leave out",
        Fault::Adapter => ", which is another adapter's",
        Fault::Session => ", which is in another session",
        Fault::Everything => ", which differs in everything",
        Fault::Ungated => ", which needs no token",
        Fault::Rating => ", which is rated higher by now",
    };
    format!("sends{again} {scope} with {}{peculiar}", slot.name())
}

/// Who pulls a trigger, and which.
fn trigger_text(trigger: Trigger) -> (&'static str, String) {
    match trigger {
        Trigger::SessionEnd(session) => ("client", format!("ends session {}", session.name())),
        Trigger::Logout(Some(session)) => {
            ("user", format!("logs out of session {}", session.name()))
        }
        Trigger::Logout(None) => ("user", "logs out of all sessions".to_owned()),
        Trigger::Configuration(adapter) => (
            "operator",
            format!(
                "configures adapter {} otherwise, and then as before",
                adapter.number()
            ),
        ),
        Trigger::Security => ("operator", "reports a security event".to_owned()),
    }
}

/// A scope in words.
fn scope_text(scope: Scope) -> String {
    let session = scope.session.map_or(String::new(), |session: SessionName| {
        format!(" in session {}", session.name())
    });
    let paused = match scope.purpose {
        Purpose::Confirmation => "",
        Purpose::QuotaContinue => ", paused for its quota,",
    };
    format!(
        "o{}(p{}){paused} on adapter {}{session}",
        scope.operation.number(),
        scope.parameters.number(),
        scope.adapter.number()
    )
}

/// A token in words.
const fn carried_text(carried: Carried) -> &'static str {
    match carried {
        Carried::Token(slot) => slot.name(),
        Carried::Guessed => "a guessed token",
    }
}

/// The call at a position, in words.
fn at(network: Network, index: u8) -> String {
    network
        .get(usize::from(index))
        .map_or_else(|| "nothing".to_owned(), call_text)
}

/// A call in words.
fn call_text(call: Call) -> String {
    let ungated = if call.gated { "" } else { ", ungated" };
    let rated = if call.rated_higher {
        ", rated higher"
    } else {
        ""
    };
    format!(
        "{} with {}{ungated}{rated}",
        scope_text(call.scope),
        carried_text(call.token)
    )
}

/// An output in words, as the wire names it.
pub fn output_text(output: Output) -> String {
    match output {
        Output::Issued(slot) => format!("audit(TOKEN_ISSUED {})", slot.name()),
        Output::Validated(slot) => format!("audit(TOKEN_VALIDATED {})", slot.name()),
        Output::Rejected(check) => format!("audit(TOKEN_REJECTED, {})", check.clause()),
        Output::Revoked(slot) => format!("audit(TOKEN_REVOKED {})", slot.name()),
        Output::NotRevoked => "audit(TOKEN_REVOKED, failure)".to_owned(),
        Output::Warned(adapter) => format!("audit(warning, adapter {})", adapter.number()),
        Output::Perform(slot) => format!("perform({})", slot.name()),
        Output::PerformUngated => "perform(without a token)".to_owned(),
        Output::ConfirmationRequired(slot) => {
            format!("respond(CONFIRMATION_REQUIRED {})", slot.name())
        }
        Output::Fail(code) => format!("respond({})", code.name()),
        Output::Limited => "respond(RATE_LIMITED)".to_owned(),
        Output::Full => "respond(CAPACITY_EXCEEDED)".to_owned(),
        Output::AnswerRevocation => "respond(revoked)".to_owned(),
        Output::AnswerStatus(status) => format!("respond(status {})", status_text(status)),
        Output::Expose => "respond(with parameter values)".to_owned(),
        Output::Refused(refusal) => format!("refused({})", refusal.clause()),
    }
}

/// A status in words.
fn status_text(status: Status) -> String {
    match status {
        Status::Live { uses_left } => format!("live, uses left: {uses_left}"),
        Status::Consumed => "consumed".to_owned(),
        Status::Expired => "expired".to_owned(),
        Status::Revoked => "revoked".to_owned(),
        Status::Unknown => "unknown".to_owned(),
    }
}

/// What differs between two states, in words.
pub(super) fn changes(before: &State, after: &State) -> Vec<String> {
    let mut changes = Vec::new();
    for slot in Slot::ALL {
        token_changes(slot, before.token(slot), after.token(slot), &mut changes);
    }
    for (name, old, new) in [
        ("network", before.network, after.network),
        ("validated", before.validated, after.validated),
    ] {
        if old != new {
            changes.push(format!(
                "{name}: {}",
                in_words(new.messages().map(call_text))
            ));
        }
    }
    changes
}

/// What differs in one token, in words.
fn token_changes(slot: Slot, old: &Token, new: &Token, changes: &mut Vec<String>) {
    let name = slot.name();
    if old.phase != new.phase {
        let (old, new) = (phase_text(old.phase), phase_text(new.phase));
        changes.push(format!("{name}: {old} → {new}"));
    }
    if !old.is_issued() && new.is_issued() {
        changes.push(match new.expires {
            ETERNAL => format!("{name}: never expires"),
            expires => format!("{name}: expires at t={}", time_text(time::on(expires))),
        });
    }
}

/// A phase in words.
const fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::Unissued => "not issued",
        Phase::Live => "live",
        Phase::Consumed => "consumed",
        Phase::Revoked => "revoked",
        Phase::Lost => "lost",
    }
}
