//! Outputs of a ledger in words. `action 0`, `text 0` and `value 0` are what a run has names for.

use countersign_model::engine::clause::ClauseSet;
use countersign_model::judge::Finding;
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::alphabet::{
    Body, Call, Decision, Effect, Event, Id, Message, Name, Output, Reason, Status, Time, Value,
    What,
};
use countersign_model::pending_action::guarantees::History;
use countersign_model::wire::names::NOTHING;
use countersign_model::wire::time;

use crate::checked::{Checked, Read, Shown, Worded};

type Fields = Vec<(&'static str, String)>;

impl Worded for PendingAction {
    fn head(output: &Output) -> String {
        let (what, kind) = match output {
            Output::Append(it) => (body(&it.body), "message"),
            Output::Event(it) => (happened(&it.what), "event"),
            Output::Perform { .. } => ("perform", ""),
            Output::InDoubt(_) => ("in_doubt", ""),
            Output::Audit => ("audit", ""),
            Output::Snapshot(_) => ("snapshot", ""),
            Output::Refused => ("refused", ""),
            Output::Other(_) => return "the output of another kind".to_owned(),
        };
        let about = output.action();
        let about = about.map_or(String::new(), |it| format!(" of action {it}"));
        let kind = if kind.is_empty() {
            String::new()
        } else {
            format!("{kind} ")
        };
        format!("the {kind}`{what}`{about}")
    }

    fn fields(output: &Output) -> Fields {
        match output {
            Output::Append(Message { id, session, body }) => [
                vec![
                    ("message_id", known(*id)),
                    ("session_id", given(*session, text)),
                ],
                fields_of_body(body),
            ]
            .concat(),
            Output::Event(Event { id, at, what, .. }) => [
                vec![("event_id", known(*id)), ("at", instant(*at))],
                fields_of_what(what),
            ]
            .concat(),
            Output::Perform {
                tool, arguments, ..
            } => vec![("tool", text(*tool)), ("arguments", value(*arguments))],
            Output::InDoubt(_)
            | Output::Audit
            | Output::Snapshot(_)
            | Output::Refused
            | Output::Other(_) => Vec::new(),
        }
    }

    fn see(history: &mut History, call: &Call, outputs: &[Output]) {
        history.see(call, outputs, 0);
    }

    fn judge(checked: &mut Checked<Self>, call: &Call, outputs: &[Read<Output>]) -> Vec<Finding> {
        checked.judge(call, outputs)
    }

    fn exercised(checked: &Checked<Self>, calls: &[Shown<Self>], clauses: ClauseSet) -> ClauseSet {
        checked.exercised(calls, clauses)
    }
}

const fn body(body: &Body) -> &'static str {
    match body {
        Body::ConfirmationRequest { .. } => "confirmation_request",
        Body::ToolCall { .. } => "tool_call",
        Body::ToolResult { .. } => "tool_result",
        Body::DeniedResult { .. } => "denied_result",
        Body::ExpiredResult { .. } => "expired_result",
        Body::CancelledResult { .. } => "cancelled_result",
        Body::UserMessage { .. } => "user_message",
    }
}

const fn happened(what: &What) -> &'static str {
    match what {
        What::Created(_) => "created",
        What::Decided { .. } => "decided",
        What::Denied { .. } => "denied",
        What::Executed { .. } => "executed",
        What::NotRun => "not_run",
        What::Expired => "expired",
        What::Cancelled { .. } => "cancelled",
    }
}

fn fields_of_body(body: &Body) -> Fields {
    match *body {
        Body::ConfirmationRequest { text: said, label } => {
            vec![("text", text(said)), ("label", text(label))]
        }
        Body::ToolCall {
            tool, arguments, ..
        } => vec![("tool", text(tool)), ("arguments", value(arguments))],
        Body::ToolResult {
            tool,
            status: came_out,
            result,
            ..
        } => vec![
            ("tool", text(tool)),
            ("status", status(came_out)),
            ("result", value(result)),
        ],
        Body::DeniedResult { tool, by, .. } => vec![("tool", text(tool)), ("by", text(by))],
        Body::ExpiredResult { tool, .. } => vec![("tool", text(tool))],
        Body::CancelledResult {
            tool, reason: why, ..
        } => vec![("tool", text(tool)), ("reason", given(why, reason))],
        Body::UserMessage { by, text: said } => vec![("by", text(by)), ("text", text(said))],
    }
}

fn fields_of_what(what: &What) -> Fields {
    match what {
        What::Created(it) => vec![
            ("nonce", given(it.nonce, |it| format!("nonce {it}"))),
            ("agent_id", text(it.agent)),
            ("session_id", text(it.session)),
            ("run_id", text(it.run)),
            ("tool", text(it.tool)),
            ("arguments", value(it.arguments)),
            ("effect", effect(it.effect)),
            ("summary", text(it.summary)),
            ("label", text(it.label)),
            ("expires_at", given(it.expires_at, instant)),
            (
                "deciders",
                given(it.deciders.as_deref(), |names| {
                    let names: Vec<_> = names.iter().map(|it| text(*it)).collect();
                    names.join(", ")
                }),
            ),
            ("idempotent", it.idempotent.to_string()),
        ],
        What::Decided { decision: what, by } => {
            vec![("decision", decision(*what)), ("by", given(*by, text))]
        }
        What::Denied { by } => vec![("by", given(*by, text))],
        What::Executed {
            status: came_out,
            result,
        } => vec![
            ("status", status(*came_out)),
            ("result", given(*result, value)),
        ],
        What::NotRun | What::Expired => Vec::new(),
        What::Cancelled { reason: why } => vec![("reason", given(*why, reason))],
    }
}

fn given<T>(it: Option<T>, word: impl Fn(T) -> String) -> String {
    it.map_or("nothing".to_owned(), word)
}

fn text(name: Name) -> String {
    match name {
        NOTHING => "nothing".to_owned(),
        name => format!("text {name}"),
    }
}

fn value(value: Value) -> String {
    match value.bytes {
        NOTHING => "nothing".to_owned(),
        bytes => format!("value {bytes}"),
    }
}

fn instant(time: Time) -> String {
    match time {
        Time::MIN => "no time".to_owned(),
        time => time::write(time),
    }
}

fn known(id: Id) -> String {
    match id {
        Id::Fresh => "a new one",
        Id::Again => "the same as before",
        Id::Taken => "that of another",
    }
    .to_owned()
}

fn effect(effect: Effect) -> String {
    match effect {
        Effect::Read => "read".to_owned(),
        Effect::Write => "write".to_owned(),
        Effect::Destructive => "destructive".to_owned(),
        Effect::External => "external".to_owned(),
        Effect::Other(name) => text(name),
    }
}

fn decision(decision: Decision) -> String {
    match decision {
        Decision::Allow => "allow".to_owned(),
        Decision::Deny => "deny".to_owned(),
        Decision::Other(name) => text(name),
    }
}

fn status(status: Status) -> String {
    match status {
        Status::Success => "success".to_owned(),
        Status::Error => "error".to_owned(),
        Status::NotRun => "not_run".to_owned(),
        Status::Other(name) => text(name),
    }
}

fn reason(reason: Reason) -> String {
    match reason {
        Reason::Requested => "requested".to_owned(),
        Reason::SessionEnded => "session_ended".to_owned(),
        Reason::Other(name) => text(name),
    }
}
