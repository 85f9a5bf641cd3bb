//! Outputs of a gatekeeper in words. `token 0`, `text 0` and `parameters 0` are what a run has names for.

use countersign_model::engine::clause::ClauseSet;
use countersign_model::judge::Finding;
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::alphabet::{
    Answer, Call, Code, Entry, Event, Failure, Issued, Level, Name, Output, Performed, Purpose,
    Readable, Time, Told,
};
use countersign_model::mcp_aql::guarantees::History;
use countersign_model::wire::time;

use crate::checked::{Checked, Read, Shown, Worded};

type Fields = Vec<(&'static str, String)>;

impl Worded for McpAql {
    fn head(output: &Output) -> String {
        match output {
            Output::Perform(it) => format!("the `perform` of {}", text(it.operation)),
            Output::Respond(Answer::Issued(_)) => "the answer `CONFIRMATION_REQUIRED`".to_owned(),
            Output::Respond(Answer::Failed(it)) => format!("the answer `{}`", code(it.code)),
            Output::Respond(Answer::Unreadable) => {
                "the answer that the parameters cannot be confirmed".to_owned()
            }
            Output::Respond(Answer::Limited) => "the answer that a limit is reached".to_owned(),
            Output::Respond(Answer::Full) => "the answer that there is no room".to_owned(),
            Output::Respond(Answer::Revoked(_)) => "the answer to a revocation".to_owned(),
            Output::Respond(Answer::Status(_)) => "the answer to a query of a status".to_owned(),
            Output::Respond(Answer::Other(_)) => "the answer of another kind".to_owned(),
            Output::Audit(it) => format!("the entry `{}` of the log", event(it.event)),
            Output::Warn => "the warning of the tolerance".to_owned(),
            Output::Refused => "the `refused`".to_owned(),
        }
    }

    fn fields(output: &Output) -> Fields {
        match output {
            Output::Perform(it) => performed(it),
            Output::Respond(Answer::Issued(it)) => issued(it),
            Output::Respond(Answer::Failed(it)) => failed(it),
            Output::Respond(Answer::Revoked(Told { holds, shape })) => {
                vec![("revoked", holds.to_string()), ("form", form(*shape))]
            }
            Output::Respond(Answer::Status(Told { holds, shape })) => {
                vec![("live", holds.to_string()), ("form", form(*shape))]
            }
            Output::Respond(Answer::Other(shape)) => vec![("form", form(*shape))],
            Output::Audit(it) => logged(it),
            Output::Respond(Answer::Unreadable | Answer::Limited | Answer::Full)
            | Output::Warn
            | Output::Refused => Vec::new(),
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

fn performed(it: &Performed) -> Fields {
    vec![
        (
            "params",
            given(it.parameters, |it| format!("parameters {it}")),
        ),
        ("adapter", given(it.adapter, text)),
        ("session_id", given(it.session, text)),
    ]
}

fn issued(it: &Issued) -> Fields {
    let look = &it.look;
    let prefix = given(look.prefix, |it| {
        let prefix = match it {
            Purpose::Confirmation => "conf_",
            Purpose::Quota => "quota_continue_",
        };
        prefix.to_owned()
    });
    let reads = given(look.reads, |it| {
        let reads = match it {
            Readable::Name => "a name of the call",
            Readable::Value => "a value of the call",
        };
        reads.to_owned()
    });
    vec![
        ("confirmation_token", format!("token {}", it.token)),
        ("prefix", prefix),
        ("characters behind the prefix", look.identifier.to_string()),
        ("characters", look.characters.to_string()),
        ("URL-safe", look.is_url_safe.to_string()),
        ("counted up from another", look.is_counted.to_string()),
        ("to be read off it", reads),
        ("expires_at", given(it.expires_at, instant)),
        ("operation", given(it.operation, text)),
        ("danger_level", given(it.level, level)),
        ("reasons", it.has_reasons.to_string()),
        ("confirmation_message", it.has_message.to_string()),
    ]
}

fn failed(it: &Failure) -> Fields {
    vec![
        ("code, message and details", it.is_whole.to_string()),
        ("expired_at", given(it.expired_at, instant)),
        ("current_time", given(it.current_time, instant)),
        ("a value of a parameter", it.exposes_parameters.to_string()),
        ("form", form(it.shape)),
    ]
}

fn logged(it: &Entry) -> Fields {
    let outcome = if it.is_success { "success" } else { "failure" };
    vec![
        ("timestamp", instant(it.at)),
        ("outcome", outcome.to_owned()),
        (
            "token_id",
            given(it.token, |it| format!("logged token {it}")),
        ),
        ("operation", given(it.operation, text)),
        ("adapter_name", given(it.adapter, text)),
        ("session_id", given(it.session, text)),
    ]
}

fn given<T>(it: Option<T>, word: impl Fn(T) -> String) -> String {
    it.map_or("nothing".to_owned(), word)
}

fn text(name: Name) -> String {
    format!("text {name}")
}

fn form(number: Name) -> String {
    format!("form {number}")
}

fn instant(at: Time) -> String {
    match at {
        Time::MIN => "no time".to_owned(),
        at => time::write(at),
    }
}

const fn code(code: Code) -> &'static str {
    match code {
        Code::Invalid => "TOKEN_INVALID",
        Code::Expired => "TOKEN_EXPIRED",
        Code::Used => "TOKEN_ALREADY_USED",
        Code::Scope => "TOKEN_SCOPE_MISMATCH",
        Code::Other => "another code",
    }
}

fn event(event: Event) -> String {
    match event {
        Event::Issued => "TOKEN_ISSUED".to_owned(),
        Event::Validated => "TOKEN_VALIDATED".to_owned(),
        Event::Rejected => "TOKEN_REJECTED".to_owned(),
        Event::Revoked => "TOKEN_REVOKED".to_owned(),
        Event::Other(name) => text(name),
    }
}

fn level(level: Level) -> String {
    let level = match level {
        Level::Safe => "safe",
        Level::Reversible => "reversible",
        Level::Destructive => "destructive",
        Level::Dangerous => "dangerous",
        Level::Forbidden => "forbidden",
    };
    level.to_owned()
}
