//! A run of the search in words: who does what, what becomes of each action, and what comes out.

use crate::pending_action::account::Phase;
use crate::pending_action::alphabet::{
    ActionId, Body, Call, Decide, Decision, Effect, Event, Id, Lost, Message, Name, Op, Output,
    Proposal, Reason, Status, Text, Value, What,
};
use crate::pending_action::environment::{AGENT, ARGUMENTS, DECIDER, RESPELT};
use crate::pending_action::spec::{
    ARGUMENT_BYTES, ARGUMENT_LEVELS, LABEL_CHARACTERS, NAME_CHARACTERS, SUMMARY_CHARACTERS,
};

/// What becomes of an action by an output.
pub(super) fn becomes(output: &Output) -> Option<(String, &'static str)> {
    if let Output::Event(Event {
        action,
        what: What::Created(_),
        ..
    }) = output
    {
        return Some((self::action(*action), "pending"));
    }
    let (id, phase) = output.settles()?;
    let phase = match phase {
        Phase::Absent => "unknown",
        Phase::Pending => "pending",
        Phase::Released => "released",
        Phase::Finished => "finished",
        Phase::Denied => "denied",
        Phase::Expired => "expired",
    };
    Some((action(id), phase))
}

/// Who calls, and what they ask for.
pub(super) fn said(call: &Call) -> (String, String) {
    let host = |what: String| ("host".to_owned(), what);
    match &call.op {
        Op::Propose(it) => (who(it.agent), proposal(it)),
        Op::Decide(it) => (who(it.by), decide(it)),
        Op::Say { by, .. } => (who(*by), "says something in free text".to_owned()),
        Op::FinishTool {
            action: id, status, ..
        } => host(format!("reports {}: {}", action(*id), status_text(*status))),
        Op::Cancel(id) => host(format!("cancels {}", action(*id))),
        Op::EndSession(it) => host(format!("ends {}", session(*it))),
        Op::Snapshot => host("takes a snapshot".to_owned()),
        Op::Rollback(id) => host(format!("loads snapshot {}", id.saturating_add(1))),
        Op::Tick => host("calls as time has passed".to_owned()),
        Op::Restart(lost) => {
            let lost = match lost {
                Lost::Outputs(lost) if lost.is_empty() => String::new(),
                Lost::Outputs(lost) => format!("; {} outputs were lost", lost.len()),
                Lost::TooMany => "; more outputs were lost than there were".to_owned(),
            };
            ("process".to_owned(), format!("crashes and restarts{lost}"))
        }
    }
}

fn action(id: ActionId) -> String {
    match id {
        ActionId::MAX => "an unknown action".to_owned(),
        id => format!("pa_{}", id + 1),
    }
}

fn name(name: Name) -> String {
    match name {
        AGENT => "agent".to_owned(),
        DECIDER => "ana".to_owned(),
        other => format!("stranger {other}"),
    }
}

fn who(it: Text) -> String {
    if it.is_blank {
        "a blank name".to_owned()
    } else {
        name(it.name)
    }
}

fn session(it: Text) -> String {
    if it.is_blank {
        "a session without a name".to_owned()
    } else {
        format!("session {}", it.name)
    }
}

fn proposal(it: &Proposal) -> String {
    let mut said = format!("proposes a call in session {}", it.session.name);
    let mut add = |what: String| said.extend([", ".to_owned(), what]);
    match it.effect {
        Effect::Destructive => {}
        Effect::Read => add("which only reads".to_owned()),
        Effect::Write => add("which writes".to_owned()),
        Effect::External => add("with an external effect".to_owned()),
        Effect::Other(_) => add("with an unknown effect".to_owned()),
    }
    match &it.deciders {
        None => add("for anyone".to_owned()),
        Some(names) if names.is_empty() => add("for an empty list of deciders".to_owned()),
        Some(names) => {
            let names: Vec<_> = names.iter().map(|it| who(*it)).collect();
            add(format!("for {}", names.join(" and ")));
        }
    }
    if let Some(time) = it.expires_at {
        add(format!("expires at t={time}"));
    }
    if it.idempotent {
        add("idempotent".to_owned());
    }
    let texts = [
        ("agent", it.agent, NAME_CHARACTERS),
        ("session", it.session, NAME_CHARACTERS),
        ("run", it.run, NAME_CHARACTERS),
        ("tool", it.tool, NAME_CHARACTERS),
        ("summary", it.summary, SUMMARY_CHARACTERS),
        ("label", it.label, LABEL_CHARACTERS),
    ];
    for (field, text, most) in texts {
        if text.is_blank {
            add(format!("with a blank {field}"));
        } else if text.characters > most {
            add(format!("with a {field} of {} characters", text.characters));
        }
    }
    if it.label.has_line_break {
        add("with a line break in its label".to_owned());
    }
    if it.arguments.value.meaning.is_none() {
        add("with arguments that have no one meaning".to_owned());
    }
    if it.arguments.size > ARGUMENT_BYTES {
        add(format!("with arguments of {} bytes", it.arguments.size));
    }
    if it.arguments.levels > ARGUMENT_LEVELS {
        add(format!("with arguments of {} levels", it.arguments.levels));
    }
    said
}

fn decide(it: &Decide) -> String {
    let mut said = format!("sends {}({})", decision(it.decision), action(it.action));
    if let Some(nonce) = it.nonce {
        let its_own = nonce < Name::MAX;
        said += if its_own {
            " with its nonce"
        } else {
            " with a forged nonce"
        };
    }
    if let Some(value) = it.arguments {
        said.extend([" of ", value_text(value)]);
    }
    said
}

fn decision(it: Decision) -> &'static str {
    match it {
        Decision::Allow => "allow",
        Decision::Deny => "deny",
        Decision::Other(_) => "an unknown decision",
    }
}

fn status_text(it: Status) -> &'static str {
    match it {
        Status::Success => "success",
        Status::Error => "error",
        Status::NotRun => "not_run",
        Status::Other(_) => "an unknown status",
    }
}

fn value_text(it: Value) -> &'static str {
    if it == ARGUMENTS.value {
        "the proposed arguments"
    } else if it == RESPELT {
        "the same arguments in another spelling"
    } else if it.meaning.is_none() {
        "arguments that have no one meaning"
    } else {
        "other arguments"
    }
}

fn reason(it: Option<Reason>) -> &'static str {
    match it {
        None => "",
        Some(Reason::Requested) => ", requested",
        Some(Reason::SessionEnded) => ", session ended",
        Some(Reason::Other(_)) => ", an unknown reason",
    }
}

/// An output in words, as the driver protocol names it.
pub(super) fn output(output: &Output) -> String {
    match output {
        Output::Append(Message { id, body, .. }) => {
            format!("append({}{})", message(body), again(*id))
        }
        Output::Event(Event {
            id,
            action: about,
            what,
            ..
        }) => {
            format!("event({} {}{})", event(what), action(*about), again(*id))
        }
        Output::Perform {
            action: id,
            arguments,
            ..
        } => {
            format!("perform({} with {})", action(*id), value_text(*arguments))
        }
        Output::InDoubt(id) => format!("in_doubt({})", action(*id)),
        Output::Audit => "audit".to_owned(),
        Output::Snapshot(id) => format!("snapshot {}", id.saturating_add(1)),
        Output::Refused => "refused".to_owned(),
        Output::Other(_) => "an unknown output".to_owned(),
    }
}

fn again(id: Id) -> &'static str {
    match id {
        Id::Fresh => "",
        Id::Again => ", again",
        Id::Taken => ", under an id that names another",
    }
}

fn message(body: &Body) -> String {
    match *body {
        Body::ConfirmationRequest { .. } => "confirmation_request".to_owned(),
        Body::ToolCall { action: id, .. } => format!("tool_call {}", action(id)),
        Body::ToolResult {
            action: id, status, ..
        } => {
            format!("tool_result {}, {}", action(id), status_text(status))
        }
        Body::DeniedResult { action: id, .. } => format!("denied_result {}", action(id)),
        Body::ExpiredResult { action: id, .. } => format!("expired_result {}", action(id)),
        Body::CancelledResult {
            action: id,
            reason: why,
            ..
        } => {
            format!("cancelled_result {}{}", action(id), reason(why))
        }
        Body::UserMessage { .. } => "user_message".to_owned(),
    }
}

fn event(what: &What) -> String {
    match what {
        What::Created(_) => "created".to_owned(),
        What::Decided { decision: it, .. } => format!("decided {}", decision(*it)),
        What::Denied { .. } => "denied".to_owned(),
        What::Executed { status, .. } => format!("executed {}", status_text(*status)),
        What::NotRun => "not_run".to_owned(),
        What::Expired => "expired".to_owned(),
        What::Cancelled { .. } => "cancelled".to_owned(),
    }
}
