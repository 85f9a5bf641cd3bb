//! Any gatekeeper in a wide run: calls become requests of the driver protocol, and its outputs the judge's words.
//!
//! The one thing to know: what an output leaves out is none, or the name of nothing, so that the judge says by which clause it
//! is missed. Parameters are the same where they mean the same.

use std::collections::BTreeMap;
use std::rc::Rc;

use countersign_model::mcp_aql::judge::words::{
    Answer, Call, Code, Entry, Failure, INTROSPECT, Issued, Level, LogEvent, Output as Shown,
    Performed, Purpose, Query,
};
use countersign_model::mcp_aql::judge::{Leeway, TokenJudge};
use countersign_model::mcp_aql::readings::{Reading, RestartedSession};
use countersign_protocol::mcp_aql::{self as driver, Capability, McpAql, Op as Own, Output};
use countersign_protocol::{Common, Greeting, Json, Kind, Op, Output as Put, Protocol as _};
use countersign_reference::mcp_aql::{
    self as executor, DangerLevel, EventKind, Input, Oracle, Query as Asks,
};
use countersign_reference::time::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::calls::{Calls, START};
use super::spelling::SECRETS;
use super::step::{ADAPTERS, OPERATIONS, PARAMETERS, Passing, Request, Run, Step, What};
use super::translation::{NOBODY, Names, number};
use crate::driven::{Asked, Driven, Taken, Unreadable};
use crate::suite::Suited as _;

/// What is kept of a gatekeeper in a run.
#[derive(Clone)]
pub struct Driver {
    calls: Calls,
    greeting: Rc<Greeting<McpAql>>,
    /// Of each adapter, in seconds.
    tolerances: [i64; ADAPTERS as usize],
    /// The names of tokens in the log.
    log: BTreeMap<String, u32>,
    /// What was asked last: the call, where it was one, and the token that was shown.
    asked: (Option<Request>, Option<String>),
    /// Whether the judge was shown each output of the last call.
    last: Vec<bool>,
}

/// The tolerance of an adapter of which nothing was said, in seconds.
const TOLERANCE: i64 = 30;
/// An expired token is told from an unknown one for an hour at most.
const RETENTION: u64 = 900;

impl Driven for Driver {
    type Protocol = McpAql;
    type Step = Step;
    type Judge = TokenJudge;
    const START: i64 = START;
    const NEEDED: &'static [Kind] = &[Kind::Respond, Kind::Perform];
    const TICK: Call = Call::Tick;
    const BYTES: usize = 12;

    fn steps(bytes: &[u8]) -> Vec<Step> {
        let mut steps = Run::of(bytes).steps;
        let listed = |bits| What::Configure {
            adapter: 0,
            tolerance_seconds: None,
            uniform: None,
            critical: Some((0..OPERATIONS).map(|it| (it, bits)).collect()),
        };
        let what = match bytes.first().map_or(0, |first| first % THEMES) {
            0 => listed(1),
            1 => What::Configure {
                adapter: 0,
                tolerance_seconds: None,
                uniform: Some(true),
                critical: None,
            },
            4 => listed(1 << PARAMETERS),
            2 | 3 | 5.. => return steps,
        };
        let after = Passing::Millis(0);
        steps.insert(0, Step { after, what });
        steps
    }

    fn judge(greeting: &Greeting<McpAql>) -> TokenJudge {
        TokenJudge::new(DEFAULT, greeting.shows(Kind::Audit))
    }

    fn readings(greeting: &Greeting<McpAql>) -> Vec<Taken<TokenJudge>> {
        Self::readings_where(greeting, &[])
    }

    fn fold(first: &Step, second: &Step) -> Option<Vec<Step>> {
        let after = match (first.after, second.after) {
            (Passing::Millis(0), _)
            | (_, Passing::Limit { .. })
            | (Passing::Limit { .. }, Passing::Millis(1.. | ..0)) => return None,
            (after, Passing::Millis(0)) => after,
            (Passing::Millis(one), Passing::Millis(two)) => {
                Passing::Millis(one.saturating_add(two))
            }
        };
        let what = second.what.clone();
        Some(vec![Step { after, what }])
    }

    fn names(&self) -> BTreeMap<String, String> {
        self.calls.names.in_run()
    }

    fn begin(greeting: &Rc<Greeting<McpAql>>) -> Self {
        Self {
            calls: Calls::new(Names::of_any(), RETENTION),
            greeting: Rc::clone(greeting),
            tolerances: [TOLERANCE; ADAPTERS as usize],
            log: BTreeMap::new(),
            asked: (None, None),
            last: Vec::new(),
        }
    }

    fn ask(&mut self, step: &Step) -> Option<Asked<Self>> {
        self.calls.now = self.calls.time_after(step.after);
        let what = self.calls.resolved(&step.what);
        if !self.is_declared(&what) {
            return None;
        }
        let mut told = self.calls.told(&what);
        let op = match (&what, told.input) {
            (What::Restart { lost }, _) => {
                let lost = usize::from(*lost).min(self.last.len());
                let from_end = self.last.iter().rev().take(lost);
                told.call = Call::Restart {
                    lost: from_end.filter(|shown| **shown).count(),
                };
                Op::Common(Common::Restart {
                    lost: u64::try_from(lost).ok(),
                })
            }
            (_, input) => op(input)?,
        };
        let request = match what {
            What::Call(request) => Some(request),
            What::Retry { .. }
            | What::Revoke(_)
            | What::Status(_)
            | What::Configure { .. }
            | What::Logout(_)
            | What::Security
            | What::Configuration
            | What::EndSession(_)
            | What::Tick
            | What::Restart { .. } => None,
        };
        self.asked = (request, told.text);
        Some(Asked {
            now: self.calls.now,
            op,
            call: told.call,
        })
    }

    fn take(
        &mut self,
        call: &Call,
        outputs: &[Put<McpAql>],
    ) -> Result<Vec<Option<Shown>>, Unreadable> {
        let shown = outputs.iter().map(|output| {
            if self.greeting.shows(McpAql::kind(&output.what)) {
                self.output(call, &output.what)
            } else {
                Ok(None)
            }
        });
        let shown = shown.collect::<Result<Vec<_>, _>>()?;
        let is_refused = shown.contains(&Some(Shown::Refused));
        if let (Call::Configure(configuration), false) = (call, is_refused)
            && let Some(seconds) = configuration.tolerance_seconds
            && let Some(adapter) = self.tolerances.get_mut(place(configuration.adapter))
        {
            *adapter = seconds;
        }
        self.last = shown.iter().map(Option::is_some).collect();
        Ok(shown)
    }
}

/// So many kinds of runs there are; three of them begin with a setting that few others come to.
const THEMES: u8 = 8;

/// A place where the text leaves a choice that is no reading of it: its name, what most choose, the other, and what that is.
type Open = (&'static str, &'static str, &'static str, Leeway);

/// These places. Each is tried beside the readings that differ from the default in one place at most.
const OPEN: [Open; 3] = [
    (
        "clock-set-back",
        "stays-expired",
        "current-time",
        Leeway {
            takes_the_current_time: true,
            ..NONE
        },
    ),
    (
        "tolerance-unset",
        "30-seconds",
        "none",
        Leeway {
            has_no_tolerance: true,
            ..NONE
        },
    ),
    (
        "longest-life",
        "maximum",
        "default",
        Leeway {
            has_short_lives: true,
            ..NONE
        },
    ),
];

const NONE: Leeway = Leeway {
    takes_the_current_time: false,
    has_no_tolerance: false,
    has_short_lives: false,
};

/// Such a place, as it is told: the clauses that leave it open, what is open, and what an implementation may do, the usual first.
pub struct OpenBeside {
    /// The clauses.
    pub clauses: &'static [&'static str],
    /// What is open.
    pub question: &'static str,
    /// The ways.
    pub ways: [&'static str; 2],
}

/// The place of that name, if there is one.
pub fn open_beside(name: &str) -> Option<OpenBeside> {
    let (_, usual, other, _) = OPEN.into_iter().find(|it| it.0 == name)?;
    let (clauses, question): (&[&str], _) = match name {
        "clock-set-back" => (
            &["AQL-4.1-2"],
            "A clock is set back behind the expiry of a token that was found to be expired: is it good again?",
        ),
        "tolerance-unset" => (
            &["AQL-5.1-5"],
            "Nobody has set a tolerance: is there one of 30 seconds, or none?",
        ),
        _ => (
            &["AQL-5.1-1"],
            "A call asks for a longer life than the default: may a token live up to the maximum, or no longer than the default?",
        ),
    };
    Some(OpenBeside {
        clauses,
        question,
        ways: [usual, other],
    })
}

pub(super) fn with_leeway(mut all: Vec<Taken<TokenJudge>>) -> Vec<Taken<TokenJudge>> {
    let default = all.first().map_or_else(Vec::new, |it| it.choices.clone());
    let usual = OPEN.map(|(place, usual, ..)| (place, usual));
    let mut others = Vec::new();
    for taken in &mut all {
        let differs = taken
            .choices
            .iter()
            .filter(|it| !default.contains(it))
            .count();
        taken.choices.extend(usual);
        if differs > 1 {
            continue;
        }
        for (place, _, other, leeway) in OPEN {
            let mut choices = taken.choices.clone();
            choices.retain(|(known, _)| *known != place);
            choices.push((place, other));
            choices.sort_by_key(|(known, _)| usual.iter().position(|it| it.0 == *known));
            let judge = taken.judge.clone().of_one_that(leeway);
            others.push(Taken { choices, judge });
        }
    }
    all.extend(others);
    all
}

/// Connections end with the process, by the driver protocol.
pub(super) const DEFAULT: Reading = Reading {
    restarted_session: RestartedSession::Ends,
    ..Reading::SPECIFICATION
};

fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Driver {
    fn is_declared(&self, what: &What) -> bool {
        let can = |it| self.greeting.supports.contains(&it);
        match what {
            What::Call(request) => {
                (request.max_uses == 1 || can(Capability::MultiUse))
                    && (!request.quota || can(Capability::Quota))
            }
            What::Revoke(_) | What::Status(_) => can(Capability::Introspect),
            What::Restart { .. } => can(Capability::Restart),
            What::Retry { .. }
            | What::Configure { .. }
            | What::Logout(_)
            | What::Security
            | What::Configuration
            | What::EndSession(_)
            | What::Tick => true,
        }
    }

    fn output(&mut self, call: &Call, output: &Output) -> Result<Option<Shown>, Unreadable> {
        Ok(match output {
            Output::Perform(operation) => Some(Shown::Perform(Performed {
                operation: self.operation(&operation.operation),
                parameters: self
                    .calls
                    .names
                    .parameters(operation.params.text().as_bytes()),
                adapter: operation.adapter.as_deref().map(|it| self.adapter(it)),
                session: operation.session_id.as_deref().map(|it| self.session(it)),
            })),
            Output::Respond(response) => {
                let text = response.as_str();
                let wrong = |error| {
                    let text = format!("a response that can be read: {error}");
                    Unreadable::new("AQL-4.2-1", text)
                };
                let value: Value = serde_json::from_str(text).map_err(wrong)?;
                Some(Shown::Respond(self.answer(call, value, text)))
            }
            Output::Audit(audit) => Some(self.logged(audit)?),
            Output::Refused(_) => Some(Shown::Refused),
        })
    }

    fn operation(&self, name: &str) -> u32 {
        let names = &self.calls.names.operations;
        at(names.iter().position(|it| it.as_str() == name))
    }

    fn adapter(&self, name: &str) -> u32 {
        let names = &self.calls.names.adapters;
        at(names.iter().position(|it| it.as_str() == name))
    }

    fn session(&self, name: &str) -> u32 {
        let names = &self.calls.names.sessions;
        at(names.iter().position(|it| it.as_str() == name))
    }

    fn logged(&mut self, audit: &Json) -> Result<Shown, Unreadable> {
        let wrong = |error| {
            let text = format!("an entry of the log that can be read: {error}");
            Unreadable::new("AQL-6.4-1", text)
        };
        let entry: Logged = serde_json::from_str(audit.as_str()).map_err(wrong)?;
        let event = match entry.event.as_deref() {
            Some("TOKEN_ISSUED") => LogEvent::Issued,
            Some("TOKEN_VALIDATED") => LogEvent::Validated,
            Some("TOKEN_REJECTED") => LogEvent::Rejected,
            Some("TOKEN_REVOKED") => LogEvent::Revoked,
            Some(_) | None => return Ok(Shown::Warn),
        };
        let operation = entry.operation.as_deref();
        let named = entry.token_id.filter(|it| !it.is_empty());
        let context = entry.client_context.and_then(|it| it.session_id);
        Ok(Shown::Log(Entry {
            at: entry.timestamp.as_deref().and_then(time),
            event,
            success: entry.outcome.as_deref() == Some("success"),
            token: named.map(|it| number(&mut self.log, it)),
            operation: operation.map(|it| match it {
                "introspect" => INTROSPECT,
                _ => self.operation(it),
            }),
            adapter: entry.adapter_name.as_deref().map(|it| self.adapter(it)),
            session: context.as_deref().map(|it| self.session(it)),
            reason: entry.failure_reason.as_deref().and_then(code),
        }))
    }

    fn answer(&mut self, call: &Call, value: Value, text: &str) -> Answer {
        let error = &value["error"];
        match (value["success"].as_bool(), error["code"].as_str()) {
            (Some(true), _) => match call {
                Call::Introspect {
                    query: Query::Revoke,
                    ..
                } => Answer::Revoked {
                    done: value["data"]["revoked"] != false,
                    shape: self.shape(value),
                },
                Call::Introspect {
                    query: Query::Status,
                    ..
                } => Answer::Status {
                    valid: value["data"]["status"] == "live",
                    shape: self.shape(value),
                },
                Call::Operation(_)
                | Call::Configure(_)
                | Call::Event { .. }
                | Call::EndSession { .. }
                | Call::Tick
                | Call::Restart { .. } => Answer::Other,
            },
            (_, Some("CONFIRMATION_REQUIRED")) => Answer::Issued(self.issued(&error["details"])),
            (_, Some("INVALID_PARAMS")) => Answer::Unreadable,
            (_, Some("RATE_LIMITED")) => Answer::Limited,
            (_, Some("CAPACITY_EXCEEDED")) => Answer::Full,
            (None, None) => Answer::Other,
            (success, said) => {
                let details = &error["details"];
                let at = |name: &str| details[name].as_str().and_then(time);
                let has = |name: &str| error.get(name).is_some();
                Answer::Failed(Failure {
                    code: said.and_then(code),
                    whole: success == Some(false)
                        && ["code", "message", "details"].into_iter().all(has),
                    expired_at: at("expired_at"),
                    current_time: at("current_time"),
                    exposes_parameters: exposes(text, self.asked.1.as_deref()),
                    shape: self.shape(value),
                })
            }
        }
    }

    fn issued(&mut self, details: &Value) -> Issued {
        let said = |name: &str| details[name].as_str();
        let token = said("confirmation_token");
        let text = token.unwrap_or_default();
        let expires_at = said("expires_at").and_then(time);
        let (prefix, identifier) = if let Some(rest) = text.strip_prefix("quota_continue_") {
            (Some(Purpose::Quota), rest)
        } else if let Some(rest) = text.strip_prefix("conf_") {
            (Some(Purpose::Confirmation), rest)
        } else {
            (None, text)
        };
        let speaks = |text: &Value| text.as_str().is_some_and(|it| !it.trim().is_empty());
        let reasons = details["reasons"].as_array();
        if let (Some(token), Some(request)) = (token, self.asked.0.clone()) {
            let tolerance = self.tolerances.get(usize::from(request.adapter));
            let tolerance = 1_000 * tolerance.copied().unwrap_or(TOLERANCE);
            let expires_at = expires_at.unwrap_or(self.calls.now);
            self.calls.is_issued(token, &request, expires_at, tolerance);
        }
        Issued {
            token: token.map(|it| self.calls.names.token(it)),
            prefix,
            identifier_length: identifier.chars().count(),
            length: text.chars().count(),
            url_safe: identifier
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_' || it == b'-'),
            reads: self.calls.names.reads(identifier),
            expires_at,
            operation: said("operation").map(|it| self.operation(it)),
            level: level(&details["danger_level"]),
            reasons: reasons.is_some_and(|all| all.iter().any(speaks)),
            message: speaks(&details["confirmation_message"]),
        }
    }

    /// The answer without the token that was sent and without the times in it. That one was sent back is part of its shape.
    fn shape(&mut self, mut value: Value) -> u32 {
        neutral(&mut value, self.asked.1.as_deref());
        self.calls.names.shaped(value.to_string())
    }
}

/// AQL-6.3-1: whether an answer holds the value of a parameter. What was sent as a token may hold anything.
fn exposes(text: &str, sent: Option<&str>) -> bool {
    let sent = sent.filter(|it| !it.is_empty());
    let text = sent.map_or_else(|| text.to_owned(), |sent| text.replace(sent, ""));
    SECRETS.iter().any(|secret| text.contains(secret))
}

fn neutral(value: &mut Value, sent: Option<&str>) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|it| neutral(it, sent)),
        Value::Array(items) => items.iter_mut().for_each(|it| neutral(it, sent)),
        Value::String(text) => {
            if sent == Some(text.as_str()) || time(text).is_some() {
                text.clear();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// An entry of the log as it is read: whatever it has.
#[derive(Deserialize)]
struct Logged {
    timestamp: Option<String>,
    event: Option<String>,
    token_id: Option<String>,
    operation: Option<String>,
    adapter_name: Option<String>,
    outcome: Option<String>,
    failure_reason: Option<String>,
    client_context: Option<Context>,
}

/// Who was connected.
#[derive(Deserialize)]
struct Context {
    session_id: Option<String>,
}

fn at(place: Option<usize>) -> u32 {
    place
        .and_then(|it| u32::try_from(it).ok())
        .unwrap_or(NOBODY)
}

fn time(text: &str) -> Option<i64> {
    Timestamp::parse(text).ok().map(Timestamp::millis)
}

fn code(text: &str) -> Option<Code> {
    match text {
        "TOKEN_INVALID" => Some(Code::Invalid),
        "TOKEN_EXPIRED" => Some(Code::Expired),
        "TOKEN_ALREADY_USED" => Some(Code::AlreadyUsed),
        "TOKEN_SCOPE_MISMATCH" => Some(Code::ScopeMismatch),
        _ => None,
    }
}

fn level(value: &Value) -> Option<Level> {
    let levels = [
        ("safe", Level::Safe),
        ("reversible", Level::Reversible),
        ("destructive", Level::Destructive),
        ("dangerous", Level::Dangerous),
        ("forbidden", Level::Forbidden),
    ];
    let by_number = value.as_u64().and_then(|it| usize::try_from(it).ok());
    let by_number = by_number.and_then(|it| levels.get(it));
    let found = by_number.or_else(|| levels.iter().find(|(word, _)| value == word));
    found.map(|(_, level)| *level)
}

/// The request that asks this.
fn op(input: Input) -> Option<Op<McpAql>> {
    Some(Op::Own(match input {
        Input::Call(call) => Own::Call(called(call)?),
        Input::Introspect {
            adapter,
            query,
            token,
        } => Own::Introspect {
            adapter: adapter.map(|it| it.to_string()),
            query: match query {
                Asks::RevokeToken => driver::Query::RevokeToken,
                Asks::TokenStatus => driver::Query::TokenStatus,
            },
            token,
        },
        Input::Configure {
            adapter,
            clock_skew_tolerance_seconds,
            oracle,
            critical,
        } => Own::Configure {
            adapter: adapter.to_string(),
            clock_skew_tolerance_seconds: clock_skew_tolerance_seconds
                .and_then(|it| i64::try_from(it).ok()),
            oracle: oracle.map(|oracle| match oracle {
                Oracle::Codes => driver::Oracle::Codes,
                Oracle::Uniform => driver::Oracle::Uniform,
            }),
            critical: critical.map(|lists| {
                let lists = lists.into_iter();
                lists.map(|(name, list)| (name.to_string(), list)).collect()
            }),
        },
        Input::Event { kind, session_id } => Own::Event {
            kind: match kind {
                EventKind::Logout => driver::EventKind::Logout,
                EventKind::Security => driver::EventKind::Security,
                EventKind::Configuration => driver::EventKind::Configuration,
            },
            session_id: session_id.map(|it| it.to_string()),
        },
        Input::EndSession { session_id } => Own::EndSession {
            session_id: session_id.to_string(),
        },
        Input::Tick => return Some(Op::Common(Common::Tick {})),
        Input::Restart | Input::RotateKey { .. } => return None,
    }))
}

fn called(call: executor::Call) -> Option<driver::Call> {
    let params = std::str::from_utf8(call.params.as_bytes()).ok()?;
    Some(driver::Call {
        adapter: call.adapter.map(|it| it.to_string()),
        operation: call.operation.to_string(),
        params: Json::holding(params),
        danger_level: match call.danger_level {
            DangerLevel::Safe => driver::DangerLevel::Safe,
            DangerLevel::Reversible => driver::DangerLevel::Reversible,
            DangerLevel::Destructive => driver::DangerLevel::Destructive,
            DangerLevel::Dangerous => driver::DangerLevel::Dangerous,
            DangerLevel::Forbidden => driver::DangerLevel::Forbidden,
        },
        session_id: call.session_id.map(|it| it.to_string()),
        session_scope: call.session_scope,
        max_uses: (call.max_uses != 1).then_some(i64::from(call.max_uses)),
        ttl_seconds: call.ttl_seconds.and_then(|it| i64::try_from(it).ok()),
        confirmation_token: call.confirmation_token,
        purpose: match call.purpose {
            executor::Purpose::Confirmation => None,
            executor::Purpose::QuotaContinue => Some(driver::Purpose::QuotaContinue),
        },
        reasons: call.reasons,
        confirmation_message: call.confirmation_message,
    })
}
