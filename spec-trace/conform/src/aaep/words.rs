//! Outputs of a producer in words. `session 0`, `token 0`, `call 0` and `text 0` are what a run has names for.

use countersign_model::aaep::Aaep;
use countersign_model::aaep::alphabet::{
    Asked, By, Call, Clarified, Decision, Kind, Name, Outcome, Output, Queried, Response, Risk,
    Run, State, Status, Target, Time, What, Written,
};
use countersign_model::aaep::guarantees::History;
use countersign_model::engine::clause::ClauseSet;
use countersign_model::judge::Finding;
use countersign_model::wire::names::NOTHING;
use countersign_model::wire::time;

use crate::checked::{Checked, Read, Shown, Worded};

type Fields = Vec<(&'static str, String)>;

impl Worded for Aaep {
    fn head(output: &Output) -> String {
        match output {
            Output::Emit(it) => format!("the event `{}` of session {}", told(&it.what), it.session),
            Output::Perform(it) => format!("the `perform` of {}", text(it.action)),
            Output::InDoubt(it) => format!("the `in_doubt` of {}", text(it.action)),
            Output::Respond { .. } => "the `respond`".to_owned(),
            Output::Answer(it) => format!("the `answer` to token {}", it.token),
            Output::Notify { subscription, .. } => {
                format!("the `notify` of subscription {subscription}")
            }
            Output::Audit => "the `audit`".to_owned(),
            Output::Refused => "the `refused`".to_owned(),
            Output::Other(_) => "the event without a session".to_owned(),
        }
    }

    fn fields(output: &Output) -> Fields {
        match output {
            Output::Emit(it) => {
                let subscriptions = |to: &[Name]| {
                    let all: Vec<_> = to.iter().map(|it| format!("subscription {it}")).collect();
                    all.join(", ")
                };
                let to = it
                    .to
                    .as_deref()
                    .map_or("everybody".to_owned(), subscriptions);
                [fields_of(&it.what), vec![("to", to)]].concat()
            }
            Output::Perform(it) | Output::InDoubt(it) => run(it),
            Output::Respond { status, body } => {
                vec![("status", status.to_string()), ("body", given(*body, text))]
            }
            Output::Answer(it) => answer(it),
            Output::Notify { token, .. } => {
                vec![("reply_token", given(*token, |it| format!("token {it}")))]
            }
            Output::Audit | Output::Refused | Output::Other(_) => Vec::new(),
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

fn told(what: &What) -> String {
    let name = match what {
        What::Started => "session.started",
        What::Ended(it) => return format!("session.{}", outcome(*it)),
        What::Changed { .. } => "state.changed",
        What::Asked(_) => "awaiting.confirmation",
        What::Queried(_) => "awaiting.clarification",
        What::Invoked { .. } => "tool.invoked",
        What::Completed { .. } => "tool.completed",
        What::Chunk(_) => "output.streaming",
        What::HandedOff { .. } => "handoff.requested",
        What::Progress { .. } => "progress.updated",
        What::Other(it) => return text(*it),
    };
    name.to_owned()
}

fn fields_of(what: &What) -> Fields {
    match what {
        What::Started | What::Ended(_) | What::Other(_) => Vec::new(),
        What::Changed { from, to } => {
            vec![("from_state", state(*from)), ("to_state", state(*to))]
        }
        What::Asked(it) => asked(it),
        What::Queried(it) => queried(it),
        What::Invoked {
            call: of,
            tool,
            risk: level,
            irreversible,
        } => vec![
            ("tool_call_id", call(*of)),
            ("tool", text(*tool)),
            ("risk_level", risk(*level)),
            ("irreversible", irreversible.to_string()),
        ],
        What::Completed {
            call: of,
            tool,
            status: came_back,
        } => vec![
            ("tool_call_id", call(*of)),
            ("tool", text(*tool)),
            ("status", status(*came_back)),
        ],
        What::Chunk(it) => chunk(it),
        What::HandedOff {
            reason,
            target: kind,
            uri,
        } => vec![
            ("reason", text(*reason)),
            ("target_kind", target(*kind)),
            ("target_uri", given(*uri, text)),
        ],
        What::Progress { left } => vec![("eta_ms", given(*left, |it| it.to_string()))],
    }
}

fn asked(it: &Asked) -> Fields {
    let allowed = |all: &[Decision]| {
        let all: Vec<_> = all.iter().map(|it| decision(*it)).collect();
        all.join(", ")
    };
    vec![
        ("timestamp", instant(it.at)),
        ("reply_token", format!("token {}", it.token)),
        ("tool_call_id", call(it.call)),
        ("action", text(it.description)),
        ("consequence", text(it.consequence)),
        ("timeout_seconds", seconds(it.timeout)),
        ("default_decision", decision(it.default)),
        ("risk_level", given(it.risk, risk)),
        ("irreversible", given(it.irreversible, |it| it.to_string())),
        ("allowed_replies", given(it.allowed.as_deref(), allowed)),
    ]
}

fn queried(it: &Queried) -> Fields {
    let kinds = |all: &[Kind]| {
        all.iter()
            .map(|it| kind(*it))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let choices = |all: &[(Name, Name)]| {
        let all = all.iter();
        let all = all.map(|(value, label)| format!("{} ({})", text(*value), text(*label)));
        all.collect::<Vec<_>>().join(", ")
    };
    vec![
        ("timestamp", instant(it.at)),
        ("reply_token", format!("token {}", it.token)),
        ("question", text(it.question)),
        ("timeout_seconds", seconds(it.timeout)),
        ("accepted_response_kinds", given(it.kinds.as_deref(), kinds)),
        ("choices", given(it.choices.as_deref(), choices)),
        ("default_response", given(it.default, text)),
    ]
}

fn chunk(it: &Written) -> Fields {
    vec![
        ("output_id", given(it.stream, text)),
        ("chunk", text(it.text)),
        ("position", it.position.to_string()),
        ("complete", it.is_last.to_string()),
    ]
}

fn run(it: &Run) -> Fields {
    vec![
        ("session_id", format!("session {}", it.session)),
        ("tool_call_id", call(Some(it.call))),
        ("tool", given(it.tool, text)),
        ("reply_token", given(it.token, |it| format!("token {it}"))),
        (
            "modified_action",
            given(it.modified, |it| format!("object {it}")),
        ),
    ]
}

fn answer(it: &Clarified) -> Fields {
    let by = match it.by {
        By::Reply => "reply",
        By::Default => "default",
        By::Nobody => "nobody",
    };
    vec![
        ("session_id", format!("session {}", it.session)),
        ("response", given(it.response, response)),
        ("by", by.to_owned()),
    ]
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

fn call(number: Option<Name>) -> String {
    given(number, |it| format!("call {it}"))
}

fn instant(time: Time) -> String {
    match time {
        Time::MIN => "no time".to_owned(),
        time => time::write(time),
    }
}

fn seconds(millis: Time) -> String {
    match millis {
        Time::MIN => "nothing".to_owned(),
        millis => (millis / 1_000).to_string(),
    }
}

fn response(it: Response) -> String {
    match it {
        Response::Text(name) => text(name),
        Response::Truth(holds) => holds.to_string(),
        Response::Number(name) => format!("number {name}"),
        Response::Other(name) => format!("the value {}", text(name)),
    }
}

fn decision(it: Decision) -> String {
    match it {
        Decision::Accept => "accept".to_owned(),
        Decision::Reject => "reject".to_owned(),
        Decision::Other(name) => text(name),
    }
}

fn risk(it: Risk) -> String {
    match it {
        Risk::Low => "low".to_owned(),
        Risk::Medium => "medium".to_owned(),
        Risk::High => "high".to_owned(),
        Risk::Other(name) => text(name),
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

fn outcome(it: Outcome) -> String {
    match it {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Errored => "errored".to_owned(),
        Outcome::Cancelled => "cancelled".to_owned(),
        Outcome::Other(name) => text(name),
    }
}

fn status(it: Status) -> String {
    match it {
        Status::Success => "success".to_owned(),
        Status::Error => "error".to_owned(),
        Status::Timeout => "timeout".to_owned(),
        Status::Other(name) => text(name),
    }
}

fn target(it: Target) -> String {
    match it {
        Target::Human => "human".to_owned(),
        Target::SpecialistAgent => "specialist_agent".to_owned(),
        Target::EscalationQueue => "escalation_queue".to_owned(),
        Target::Other(name) => text(name),
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
        State::Other(name) => text(name),
    }
}
