//! A run of the search in words: who asks for what, and what comes out.

use crate::checker::StepText;
use crate::facade::engine::Step;
use crate::mcp_aql::text::McpAql;
use crate::mcp_aql::text::alphabet::{
    Answer, Code, Configuration, Entry, Event, EventKind, Level, Lost, Name, Op, Oracle, Output,
    Purpose, Query, Request, Shown, Time, TokenId,
};

/// The run in words.
pub(super) fn run(run: &[Step<McpAql>]) -> Vec<StepText> {
    let mut clock = 0;
    let describe = |step: &Step<McpAql>| match step {
        Step::Move(around) => {
            let now = around.now();
            let moves = if now < clock {
                "is set back"
            } else {
                "moves on"
            };
            let at = time(clock);
            clock = now;
            StepText {
                at,
                actor: "clock".to_owned(),
                to: None,
                action: format!("{moves} to {}", time(now)),
                changes: Vec::new(),
            }
        }
        Step::Call {
            call,
            outputs,
            lost,
        } => {
            let (done, lost) = outputs.split_at(outputs.len().saturating_sub(*lost));
            let done = done.iter().map(|it| format!("out: {}", output(it)));
            let lost = lost.iter().map(|it| format!("lost: {}", output(it)));
            let (actor, action) = said(&call.op);
            StepText {
                at: time(call.now),
                to: (actor != "process").then(|| "gatekeeper".to_owned()),
                actor: actor.to_owned(),
                action,
                changes: done.chain(lost).collect(),
            }
        }
    };
    run.iter().map(describe).collect()
}

fn time(it: Time) -> String {
    format!("t={}.{:03} s", it.div_euclid(1000), it.rem_euclid(1000))
}

/// Who asks, and for what.
fn said(op: &Op) -> (&'static str, String) {
    match op {
        Op::Call(it) => ("client", call(it)),
        Op::Introspect {
            query: Query::Revoke,
            token,
            ..
        } => ("client", format!("gives {} back", shown(*token))),
        Op::Introspect {
            query: Query::Status,
            token,
            ..
        } => (
            "client",
            format!("asks for the status of {}", shown(*token)),
        ),
        Op::Configure(it) => ("operator", configuration(it)),
        Op::Event { kind, session } => {
            let of = session.map_or(String::new(), |it| format!(" of session {}", it.name));
            let kind = match kind {
                EventKind::Logout => "logout",
                EventKind::Security => "security event",
                EventKind::Configuration => "change of configuration",
            };
            ("host", format!("reports a {kind}{of}"))
        }
        Op::EndSession(it) => ("host", format!("ends session {}", it.name)),
        Op::Tick => ("host", "calls as time has passed".to_owned()),
        Op::Restart(lost) => {
            let lost = match lost {
                Lost::Outputs(lost) if lost.is_empty() => String::new(),
                Lost::Outputs(lost) => format!("; {} outputs were lost", lost.len()),
                Lost::TooMany => "; more outputs were lost than there were".to_owned(),
            };
            ("process", format!("crashes and restarts{lost}"))
        }
    }
}

fn call(it: &Request) -> String {
    let level = match it.level {
        Level::Safe => "safe",
        Level::Reversible => "reversible",
        Level::Destructive => "destructive",
        Level::Dangerous => "dangerous",
        Level::Forbidden => "forbidden",
    };
    let parameters = it
        .parameters
        .meaning
        .map_or("without one meaning".to_owned(), |it| format!("{it}"));
    let mut text = format!(
        "calls {} ({level}) of adapter {} with parameters {parameters}",
        operation(it.operation.name),
        it.adapter.name
    );
    if it.purpose == Purpose::Quota {
        text += " past a quota";
    }
    text.extend(it.session.map(|it| format!(" in session {}", it.name)));
    text.extend(it.max_uses.map(|it| format!(", for {it} uses")));
    text.extend(it.ttl.map(|it| format!(", for {it} ms")));
    text.extend(it.token.map(|it| format!(", with {}", shown(it))));
    text
}

fn configuration(it: &Configuration) -> String {
    let mut changes: Vec<String> = Vec::new();
    changes.extend(it.tolerance.map(|it| format!("the tolerance to {it} ms")));
    changes.extend(it.oracle.map(|it| match it {
        Oracle::Codes => "a code for each check".to_owned(),
        Oracle::Uniform => "one answer for all failures".to_owned(),
    }));
    let lists = it.critical.iter().flatten();
    changes.extend(
        lists.map(|(of, names)| format!("parameters {names:?} as critical for {}", operation(*of))),
    );
    format!(
        "sets {} at adapter {}",
        changes.join(" and "),
        it.adapter.name
    )
}

fn operation(name: Name) -> String {
    format!("operation {name}")
}

fn token(id: TokenId) -> String {
    format!("token {}", id.saturating_add(1))
}

fn shown(it: Shown) -> String {
    match it {
        Shown::Token(id) => token(id),
        Shown::OtherCase(id) => format!("{} in another case", token(id)),
        Shown::Unknown => "a token that was never issued".to_owned(),
        Shown::Blank => "an empty token".to_owned(),
    }
}

/// An output in words.
pub(super) fn output(output: &Output) -> String {
    match output {
        Output::Perform(it) => {
            let parameters = it.parameters.map_or("no".to_owned(), |it| it.to_string());
            format!(
                "{} runs with parameters {parameters}",
                operation(it.operation)
            )
        }
        Output::Respond(it) => answer(it),
        Output::Audit(it) => entry(it),
        Output::Warn => "a warning of the tolerance".to_owned(),
        Output::Refused => "refused".to_owned(),
    }
}

fn answer(it: &Answer) -> String {
    let told =
        |holds: bool, yes: &str, no: &str| if holds { yes.to_owned() } else { no.to_owned() };
    match it {
        Answer::Issued(it) => {
            let until = it
                .expires_at
                .map_or("for ever".to_owned(), |it| format!("until {}", time(it)));
            format!(
                "CONFIRMATION_REQUIRED with {}, good {until}",
                token(it.token)
            )
        }
        Answer::Failed(it) => match it.code {
            Code::Invalid => "TOKEN_INVALID".to_owned(),
            Code::Expired => "TOKEN_EXPIRED".to_owned(),
            Code::Used => "TOKEN_ALREADY_USED".to_owned(),
            Code::Scope => "TOKEN_SCOPE_MISMATCH".to_owned(),
            Code::Other => "an error with another code".to_owned(),
        },
        Answer::Unreadable => "the parameters cannot be confirmed".to_owned(),
        Answer::Limited => "too many tries".to_owned(),
        Answer::Full => "too many tokens".to_owned(),
        Answer::Revoked(it) => told(it.holds, "the token is revoked", "no token is revoked"),
        Answer::Status(it) => told(it.holds, "the token is valid", "the token is not valid"),
        Answer::Other(_) => "another answer".to_owned(),
    }
}

fn entry(it: &Entry) -> String {
    let event = match it.event {
        Event::Issued => "TOKEN_ISSUED",
        Event::Validated => "TOKEN_VALIDATED",
        Event::Rejected => "TOKEN_REJECTED",
        Event::Revoked => "TOKEN_REVOKED",
        Event::Other(_) => "another event",
    };
    let outcome = if it.is_success { "" } else { ", a failure" };
    let of = match it.token {
        None => String::new(),
        Some(Name::MAX) => " of an unknown token".to_owned(),
        Some(id) => format!(" of {}", token(id)),
    };
    format!("log: {event}{of}{outcome}")
}
