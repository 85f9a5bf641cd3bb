//! A run of the search in words: who asks for what, and what comes out.

use crate::facade::engine::Catalog as _;
use crate::mcp_aql::McpAql;
use crate::mcp_aql::alphabet::{
    Answer, Code, Configuration, Entry, Event, EventKind, Issued, Level, Lost, Name, Op, Oracle,
    Output, Purpose, Query, Readable, Request, Shown, TokenId,
};

/// Who asks, and for what.
pub(super) fn said(op: &Op) -> (&'static str, String) {
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
    let level = level(it.level);
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

fn level(it: Level) -> &'static str {
    match it {
        Level::Safe => "safe",
        Level::Reversible => "reversible",
        Level::Destructive => "destructive",
        Level::Dangerous => "dangerous",
        Level::Forbidden => "forbidden",
    }
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
        Answer::Issued(it) => issued(it),
        Answer::Failed(it) => {
            let code = match it.code {
                Code::Invalid => "TOKEN_INVALID",
                Code::Expired => "TOKEN_EXPIRED",
                Code::Used => "TOKEN_ALREADY_USED",
                Code::Scope => "TOKEN_SCOPE_MISMATCH",
                Code::Other => "an error with another code",
            };
            let details = [
                (!it.is_whole).then_some(", without all that a failure says"),
                it.exposes_parameters
                    .then_some(", with a value of a parameter in it"),
            ];
            details
                .into_iter()
                .flatten()
                .fold(code.to_owned(), |text, it| text + it)
        }
        Answer::Unreadable => "the parameters cannot be confirmed".to_owned(),
        Answer::Limited => "too many tries".to_owned(),
        Answer::Full => "too many tokens".to_owned(),
        Answer::Revoked(it) => told(it.holds, "the token is revoked", "no token is revoked"),
        Answer::Status(it) => told(it.holds, "the token is valid", "the token is not valid"),
        Answer::Other(_) => "another answer".to_owned(),
    }
}

/// A token is given away: what for, how long it lives, and what is not as usual about it.
fn issued(it: &Issued) -> String {
    let of = it.operation.map_or("no operation".to_owned(), operation);
    let rated = it
        .level
        .map_or(String::new(), |it| format!(" ({})", level(it)));
    let until = it.expires_at.map_or("for ever".to_owned(), |it| {
        format!("until {}", McpAql::time(it))
    });
    let mut text = format!(
        "CONFIRMATION_REQUIRED for {of}{rated} with {}, good {until}",
        token(it.token)
    );
    let look = it.look;
    let characters = look.characters;
    let prefix = match look.prefix {
        None => Some("no prefix".to_owned()),
        Some(Purpose::Quota) => Some("the prefix quota_continue_".to_owned()),
        Some(Purpose::Confirmation) => None,
    };
    let reads = look.reads.map(|it| match it {
        Readable::Name => "a name of the inside in it".to_owned(),
        Readable::Value => "a value of a parameter in it".to_owned(),
    });
    let unusual = [
        it.level.is_none().then(|| "no level".to_owned()),
        (!it.has_reasons).then(|| "no reasons".to_owned()),
        (!it.has_message).then(|| "no message".to_owned()),
        prefix,
        (look.identifier < 43).then(|| format!("{} characters behind its prefix", look.identifier)),
        (!(8..=80).contains(&characters)).then(|| format!("{characters} characters")),
        (!look.is_url_safe || look.identifier > 64)
            .then(|| "an identifier that is not well-formed".to_owned()),
        look.is_counted.then(|| "a number counted up".to_owned()),
        reads,
    ];
    text.extend(unusual.into_iter().flatten().map(|it| format!(", {it}")));
    text
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
