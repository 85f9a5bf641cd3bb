//! A run of the search in words: who asks for what, and what comes out.

use crate::aaep::Aaep;
use crate::aaep::alphabet::{
    Ask, By, Decision, Flaw, Kind, Message, Name, Op, Outcome, Output, Query, Reply, Response,
    Risk, Run, Says, State, Status, SubscriptionId, Target, Text, What,
};
use crate::aaep::environment::{ANA, BOB};
use crate::facade::engine::Catalog as _;

fn subscriber(id: Option<SubscriptionId>) -> String {
    match id {
        Some(ANA) => "subscriber".to_owned(),
        Some(BOB) => "forwarder".to_owned(),
        Some(Name::MAX) | None => "stranger".to_owned(),
        Some(other) => format!("subscriber {other}"),
    }
}

/// Who asks, and for what.
pub(super) fn said(op: &Op) -> (String, String) {
    let action = match op {
        Op::Deliver(it) => return (subscriber(it.sender), message(it)),
        Op::Restart { lost: 0 } => {
            return ("process".to_owned(), "crashes and restarts".to_owned());
        }
        Op::Restart { lost } => {
            return (
                "process".to_owned(),
                format!("crashes and restarts; {lost} outputs were lost"),
            );
        }
        Op::Subscribe {
            subscription,
            can_reply,
        } => {
            let can = if *can_reply { "can" } else { "cannot" };
            return (
                subscriber(Some(subscription.id)),
                format!("subscribes, and {can} reply"),
            );
        }
        Op::Unsubscribe(id) => {
            return (subscriber(Some(*id)), "closes its subscription".to_owned());
        }
        Op::StartSession(Some(it)) => format!("starts session {}", it.id),
        Op::StartSession(None) => "starts a session".to_owned(),
        Op::EndSession { session, outcome } => {
            format!("ends session {session} as {}", ended(*outcome))
        }
        Op::Confirm(it) => ask(it),
        Op::Clarify(it) => query(it),
        Op::Cancel(token) => format!("takes question {token} back"),
        Op::Extend { token, timeout } => format!("gives question {token} {timeout} ms"),
        Op::FinishTool {
            session,
            action,
            status,
            ..
        } => {
            format!(
                "reports action {action} of session {session} as {}",
                came_back(*status)
            )
        }
        Op::Tool(it) => format!(
            "runs {}action {} of session {} without a question",
            if it.irreversible == Some(true) {
                "irreversible "
            } else {
                ""
            },
            it.action.name,
            it.session
        ),
        Op::Write(it) => {
            let last = if it.is_last { "the last" } else { "a" };
            let empty = if it.characters == 0 { " empty" } else { "" };
            format!(
                "writes {last}{empty} chunk of output {} of session {}",
                it.stream.name, it.session
            )
        }
        Op::HandOff(it) => format!("hands session {} off", it.session),
        Op::Tick => "calls as time has passed".to_owned(),
    };
    ("host".to_owned(), action)
}

fn ask(it: &Ask) -> String {
    let lasting = if it.irreversible {
        "irreversible"
    } else {
        "reversible"
    };
    let mut text = format!(
        "asks to confirm action {} of session {} ({} risk, {lasting}) within {} ms, default {}",
        it.action.name,
        it.session,
        risk(it.risk),
        it.timeout,
        decision(it.default)
    );
    text.extend(it.allowed.as_ref().map(|allowed| {
        let allowed = listed(allowed.iter().map(|it| decision(*it)));
        format!(", replies {allowed}")
    }));
    text + &look(&[it.action, it.tool, it.description, it.consequence])
}

fn query(it: &Query) -> String {
    let mut text = format!(
        "asks question {} of session {} within {} ms",
        it.question.name, it.session, it.timeout
    );
    text.extend(it.kinds.as_ref().map(|kinds| {
        let kinds = listed(kinds.iter().map(|it| kind(*it).to_owned()));
        format!(", kinds {kinds}")
    }));
    text.extend(it.choices.as_ref().map(|choices| {
        let choices = listed(choices.iter().map(|it| it.0.name.to_string()));
        format!(", choices {choices}")
    }));
    text.extend(it.default.map(|it| format!(", default {}", it.name)));
    if it.size > LARGE {
        text.push_str(", too large");
    }
    text
}

/// An event of more bytes is too large for any producer.
const LARGE: u32 = 64 << 10;
/// A text of more bytes is too long.
const LONG: u32 = 16 << 10;

/// What is wrong with the texts of a question.
fn look(texts: &[Text]) -> String {
    let blank = texts.iter().any(|it| it.is_blank);
    let long = texts.iter().any(|it| it.bytes > LONG);
    let said = [(blank, ", a text blank"), (long, ", a text too long")];
    let said = said.iter().filter(|it| it.0);
    said.map(|it| it.1).collect()
}

fn listed(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(" or ")
    }
}

fn kind(it: Kind) -> &'static str {
    match it {
        Kind::Freetext => "freetext",
        Kind::YesNo => "yes_no",
        Kind::MultipleChoice => "multiple_choice",
        Kind::Numeric => "numeric",
    }
}

fn message(it: &Message) -> String {
    let Some(reply) = it.reply else {
        return "sends what is no reply".to_owned();
    };
    let how = if it.is_authenticated {
        ""
    } else {
        ", not authenticated"
    };
    format!("{}{how}", replied(&reply, it.sender))
}

fn replied(reply: &Reply, sender: Option<SubscriptionId>) -> String {
    let mut text = match reply.says {
        Says::Decides(it, None) => format!("replies {}", decision(it)),
        Says::Decides(it, Some(change)) => {
            format!("replies {} with change {}", decision(it), change.action)
        }
        Says::Answers(it) => format!("answers {}", response(it)),
    };
    let to = match reply.token {
        Name::MAX => " to a guessed token".to_owned(),
        token => format!(" to question {token}"),
    };
    text.push_str(&to);
    text.extend(
        reply
            .timestamp
            .map(|it| format!(", decided at {}", Aaep::time(it))),
    );
    if reply.subscription != sender {
        text.push_str(", as ");
        text.push_str(&subscriber(reply.subscription));
    }
    text.extend(reply.flaw.map(|it| format!(", malformed: {}", flaw(it))));
    text
}

fn flaw(it: Flaw) -> &'static str {
    match it {
        Flaw::RepeatedName => "a name twice",
        Flaw::Type => "type",
        Flaw::Token => "reply_token",
        Flaw::Decision => "decision",
        Flaw::Response => "response",
        Flaw::Subscription => "subscription_id",
        Flaw::Timestamp => "timestamp",
        Flaw::DecidedBy => "decided_by",
        Flaw::Rationale => "decision_rationale",
        Flaw::ModifiedAction => "modified_action",
        Flaw::Confidence => "confidence",
        Flaw::CorrelationId => "correlation_id",
        Flaw::OtherProperty => "another member",
    }
}

fn decision(it: Decision) -> String {
    match it {
        Decision::Accept => "accept".to_owned(),
        Decision::Reject => "reject".to_owned(),
        Decision::Other(name) => format!("word {name}"),
    }
}

fn response(it: Response) -> String {
    match it {
        Response::Text(name) => format!("text {name}"),
        Response::Truth(holds) => holds.to_string(),
        Response::Number(name) => format!("number {name}"),
        Response::Other(name) => format!("value {name}"),
    }
}

fn risk(it: Risk) -> &'static str {
    match it {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Other(_) => "unknown",
    }
}

fn ended(it: Outcome) -> &'static str {
    match it {
        Outcome::Completed => "completed",
        Outcome::Errored => "errored",
        Outcome::Cancelled => "cancelled",
        Outcome::Other(_) => "something else",
    }
}

fn came_back(it: Status) -> &'static str {
    match it {
        Status::Success => "success",
        Status::Error => "error",
        Status::Timeout => "timeout",
        Status::Other(_) => "something else",
    }
}

fn state(it: State) -> String {
    match it {
        State::Idle => "idle".to_owned(),
        State::Thinking => "thinking".to_owned(),
        State::CallingTool => "calling_tool".to_owned(),
        State::AwaitingInput => "awaiting_input".to_owned(),
        State::Deciding => "deciding".to_owned(),
        State::WritingOutput => "writing_output".to_owned(),
        State::HandingOff => "handing_off".to_owned(),
        State::Other(name) => format!("state {name}"),
    }
}

fn ran(it: &Run) -> String {
    let change = it
        .modified
        .map_or(String::new(), |it| format!(" with change {it}"));
    format!(
        "action {} of session {} as call {}{change}",
        it.action, it.session, it.call
    )
}

/// An output in words.
pub(super) fn output(output: &Output) -> String {
    match output {
        Output::Emit(it) => {
            let to = it
                .to
                .as_ref()
                .map_or(String::new(), |it| format!(", to {it:?} alone"));
            format!("session {}: {}{to}", it.session, told(&it.what))
        }
        Output::Perform(it) => format!("run {}", ran(it)),
        Output::InDoubt(it) => format!("in doubt: {}", ran(it)),
        Output::Respond { status, body: None } => format!("respond {status}"),
        Output::Respond {
            status,
            body: Some(body),
        } => format!("respond {status} with body {body}"),
        Output::Answer(it) => {
            let by = match it.by {
                By::Reply => "by a reply",
                By::Default => "by default",
                By::Nobody => "by nobody",
            };
            let answer = it.response.map_or("nothing".to_owned(), response);
            format!("the answer to question {} is {answer}, {by}", it.token)
        }
        Output::Notify { subscription, .. } => {
            format!("a notice to {}", subscriber(Some(*subscription)))
        }
        Output::Audit => "an audit".to_owned(),
        Output::Refused => "refused".to_owned(),
        Output::Other(_) => "an event that cannot be read".to_owned(),
    }
}

fn told(what: &What) -> String {
    match what {
        What::Started => "session.started".to_owned(),
        What::Ended(it) => format!("session.{}", ended(*it)),
        What::Changed { from, to } => format!("state.changed, {} to {}", state(*from), state(*to)),
        What::Asked(it) => format!("awaiting.confirmation, question {}", it.token),
        What::Queried(it) => format!("awaiting.clarification, question {}", it.token),
        What::Invoked { call, .. } => format!("tool.invoked{}", called(*call)),
        What::Completed { call, status, .. } => {
            format!("tool.completed, {}{}", came_back(*status), called(*call))
        }
        What::Chunk(it) => {
            let last = if it.is_last { ", complete" } else { "" };
            format!("output.streaming at {}{last}", it.position)
        }
        What::HandedOff { target, .. } => {
            let target = match target {
                Target::Human => "a human",
                Target::SpecialistAgent => "another agent",
                Target::EscalationQueue => "a queue",
                Target::Other(_) => "something else",
            };
            format!("handoff.requested to {target}")
        }
        What::Progress { left: Some(left) } => format!("progress.updated, {left} ms left"),
        What::Progress { left: None } => "progress.updated".to_owned(),
        What::Other(_) => "an event of another type".to_owned(),
    }
}

fn called(call: Option<Name>) -> String {
    call.map_or(String::new(), |it| format!(", call {it}"))
}
