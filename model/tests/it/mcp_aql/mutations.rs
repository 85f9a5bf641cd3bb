//! How an output of a gatekeeper can be changed, and what of that the text leaves free: `freedoms.txt`.

use super::changes::{self, edit};
use super::mutation::{Mutations, Outcome};
use countersign_model::engine::party::Executor;
use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::account::{Account, Token};
use countersign_model::mcp_aql::alphabet::{
    Answer, Call, Code, Entry, Event, Failure, INTROSPECT, Issued, Level, Look, Name, Op, Output,
    Performed, Purpose, Query, Readable, Request, Time, Told,
};
use countersign_model::mcp_aql::environment::Bounds;

/// Changes of what a gatekeeper puts out.
pub enum OfGatekeeper {}

impl Mutations<McpAql> for OfGatekeeper {
    fn kind(output: &Output) -> &'static str {
        match output {
            Output::Perform(_) => "perform",
            Output::Respond(Answer::Issued(_)) => "token",
            Output::Respond(Answer::Failed(_)) => "failure",
            Output::Respond(Answer::Unreadable) => "unreadable",
            Output::Respond(Answer::Limited) => "limited",
            Output::Respond(Answer::Full) => "full",
            Output::Respond(Answer::Revoked(_)) => "revocation",
            Output::Respond(Answer::Status(_)) => "status",
            Output::Respond(Answer::Other(_)) => "result",
            Output::Audit(it) => match it.event {
                Event::Issued => "entry of an issue",
                Event::Validated => "entry of a validation",
                Event::Rejected => "entry of a rejection",
                Event::Revoked => "entry of a revocation",
                Event::Other(_) => "entry of something else",
            },
            Output::Warn => "warning",
            Output::Refused => "refused",
        }
    }

    fn again(output: &Output) -> Output {
        *output
    }

    fn neighbours(output: &Output, each: &mut dyn FnMut(&'static str, Output)) {
        let answer = Output::Respond;
        match output {
            Output::Perform(it) => {
                performed(it, &mut |field, it| each(field, Output::Perform(it)));
            }
            Output::Respond(Answer::Issued(it)) => {
                issued(it, &mut |field, it| each(field, answer(Answer::Issued(it))));
            }
            Output::Respond(Answer::Failed(it)) => {
                failed(it, &mut |field, it| each(field, answer(Answer::Failed(it))));
            }
            Output::Respond(Answer::Revoked(it)) => {
                told(*it, &mut |field, it| {
                    each(field, answer(Answer::Revoked(it)));
                });
            }
            Output::Respond(Answer::Status(it)) => {
                told(*it, &mut |field, it| {
                    each(field, answer(Answer::Status(it)));
                });
            }
            Output::Audit(it) => entry(it, &mut |field, it| each(field, Output::Audit(it))),
            Output::Respond(_) | Output::Warn | Output::Refused => {}
        }
    }

    fn anything(account: &Account, call: &Call, each: &mut dyn FnMut(Output)) {
        let adapter = match &call.op {
            Op::Call(it) => it.adapter.name,
            Op::Introspect { adapter, .. } => adapter.name,
            Op::Configure(it) => it.adapter.name,
            Op::Event { .. } | Op::EndSession(_) | Op::Tick | Op::Restart(_) => 3,
        };
        let answers = [
            Answer::Unreadable,
            Answer::Limited,
            Answer::Full,
            Answer::Other(0),
        ];
        let failures = CODES.map(|code| Answer::Failed(failure(code)));
        for answer in answers.into_iter().chain(failures) {
            each(Output::Respond(answer));
        }
        for holds in [true, false] {
            let told = Told { holds, shape: 0 };
            each(Output::Respond(Answer::Revoked(told)));
            each(Output::Respond(Answer::Status(told)));
        }
        each(Output::Warn);
        each(Output::Refused);
        if let Op::Call(it) = &call.op {
            each(Output::Respond(Answer::Issued(good(
                account.next_token(),
                it,
                account.times.greatest,
            ))));
            about(it, Some(account.next_token()), call.now, each);
        }
        for Token {
            call: it,
            id,
            logged,
            ..
        } in &account.tokens
        {
            about(it, Some(logged.unwrap_or(*id)), call.now, each);
        }
        let of_query = |query, event| {
            matches!(&call.op, Op::Introspect { query: of, .. } if *of == query).then_some(event)
        };
        for event in [
            of_query(Query::Status, Event::Rejected),
            of_query(Query::Revoke, Event::Revoked),
        ]
        .into_iter()
        .flatten()
        {
            each(Output::Audit(Entry {
                at: call.now,
                event,
                is_success: false,
                token: Some(9),
                operation: Some(INTROSPECT),
                adapter: Some(adapter),
                session: None,
            }));
        }
    }
}

const CODES: [Code; 5] = [
    Code::Invalid,
    Code::Expired,
    Code::Used,
    Code::Scope,
    Code::Other,
];

fn failure(code: Code) -> Failure {
    Failure {
        code,
        is_whole: true,
        shape: u16::from(code != Code::Invalid),
        expired_at: None,
        current_time: None,
        exposes_parameters: false,
    }
}

/// A token that a call may get.
fn good(token: u16, it: &Request, now: Time) -> Issued {
    let life = it.ttl.unwrap_or(if it.level == Level::Forbidden {
        120_000
    } else {
        300_000
    });
    Issued {
        token,
        look: Look {
            prefix: Some(if it.level < Level::Destructive {
                Purpose::Quota
            } else {
                Purpose::Confirmation
            }),
            identifier: 43,
            characters: 58,
            is_url_safe: true,
            is_counted: false,
            reads: None,
        },
        expires_at: Some(now + life),
        operation: Some(it.operation.name),
        level: Some(it.level),
        has_reasons: true,
        has_message: true,
    }
}

/// Everything that can be said of a call and its token.
fn about(it: &Request, token: Option<u16>, at: Time, each: &mut dyn FnMut(Output)) {
    let session = it.session.map(|it| it.name);
    let (operation, adapter) = (Some(it.operation.name), Some(it.adapter.name));
    each(Output::Perform(Performed {
        operation: it.operation.name,
        parameters: it.parameters.meaning,
        adapter,
        session,
    }));
    for event in EVENTS {
        for is_success in [true, false] {
            each(Output::Audit(Entry {
                at,
                event,
                is_success,
                token,
                operation,
                adapter,
                session,
            }));
        }
    }
}

const EVENTS: [Event; 5] = [
    Event::Issued,
    Event::Validated,
    Event::Rejected,
    Event::Revoked,
    Event::Other(0),
];

/// A name that nobody has.
fn other(name: Option<Name>) -> Name {
    name.unwrap_or_default() ^ 0x400
}

fn performed(it: &Performed, each: &mut dyn FnMut(&'static str, Performed)) {
    edit(
        it,
        each,
        &[
            ("operation", &|it| it.operation ^= 0x400),
            ("parameters", &|it| {
                it.parameters = Some(other(it.parameters));
            }),
            ("no parameters", &|it| it.parameters = None),
            ("adapter", &|it| it.adapter = Some(other(it.adapter))),
            ("no adapter", &|it| it.adapter = None),
            ("session", &|it| it.session = Some(other(it.session))),
            ("no session", &|it| it.session = None),
        ],
    );
}

fn issued(it: &Issued, each: &mut dyn FnMut(&'static str, Issued)) {
    edit(
        it,
        each,
        &[
            ("one before", &|it| it.token = it.token.saturating_sub(1)),
            ("a later one", &|it| it.token += 1),
            ("no prefix", &|it| it.look.prefix = None),
            ("the other prefix", &|it| {
                it.look.prefix = if it.look.prefix == Some(Purpose::Quota) {
                    Some(Purpose::Confirmation)
                } else {
                    Some(Purpose::Quota)
                };
            }),
            ("21 characters", &|it| {
                (it.look.identifier, it.look.characters) = (21, 26);
            }),
            ("22 characters", &|it| {
                (it.look.identifier, it.look.characters) = (22, 27);
            }),
            ("43 characters", &|it| {
                (it.look.identifier, it.look.characters) = (43, 48);
            }),
            ("65 characters", &|it| {
                (it.look.identifier, it.look.characters) = (65, 70);
            }),
            ("81 characters in all", &|it| it.look.characters = 81),
            ("not URL-safe", &|it| it.look.is_url_safe = false),
            ("counted", &|it| it.look.is_counted = true),
            ("a name in it", &|it| it.look.reads = Some(Readable::Name)),
            ("a value in it", &|it| it.look.reads = Some(Readable::Value)),
            ("no expiry", &|it| it.expires_at = None),
            ("an earlier expiry", &|it| {
                it.expires_at = it.expires_at.map(|it| it - 1);
            }),
            ("a later expiry", &|it| {
                it.expires_at = it.expires_at.map(|it| it + 1);
            }),
            ("no operation", &|it| it.operation = None),
            ("operation", &|it| it.operation = Some(other(it.operation))),
            ("no level", &|it| it.level = None),
            ("level", &|it| it.level = Some(Level::Reversible)),
            ("no reasons", &|it| it.has_reasons = false),
            ("no message", &|it| it.has_message = false),
        ],
    );
}

fn failed(it: &Failure, each: &mut dyn FnMut(&'static str, Failure)) {
    for (code, field) in CODES.into_iter().zip([
        "as unknown",
        "as expired",
        "as used",
        "as another scope",
        "another code",
    ]) {
        edit(it, each, &[(field, &|it: &mut Failure| it.code = code)]);
    }
    edit(
        it,
        each,
        &[
            ("partial", &|it| it.is_whole = false),
            ("form", &|it| it.shape ^= 0x400),
            ("when it expired", &|it| it.expired_at = Some(7)),
            ("the time", &|it| it.current_time = Some(7)),
            ("parameters in it", &|it| it.exposes_parameters = true),
        ],
    );
}

fn told(it: Told, each: &mut dyn FnMut(&'static str, Told)) {
    edit(
        &it,
        each,
        &[
            ("the opposite", &|it| it.holds = !it.holds),
            ("form", &|it| it.shape ^= 0x400),
        ],
    );
}

fn entry(it: &Entry, each: &mut dyn FnMut(&'static str, Entry)) {
    for event in EVENTS {
        edit(it, each, &[("event", &|it: &mut Entry| it.event = event)]);
    }
    edit(
        it,
        each,
        &[
            ("time", &|it| it.at += 1),
            ("time", &|it| it.at -= 1),
            ("whole second", &|it| it.at -= it.at.rem_euclid(1000)),
            ("outcome", &|it| it.is_success = !it.is_success),
            ("no token", &|it| it.token = None),
            ("token", &|it| it.token = Some(other(it.token))),
            ("another's token", &|it| {
                it.token = it.token.map(|it| it ^ 1);
            }),
            ("no operation", &|it| it.operation = None),
            ("operation", &|it| it.operation = Some(other(it.operation))),
            ("the query", &|it| it.operation = Some(INTROSPECT)),
            ("no adapter", &|it| it.adapter = None),
            ("adapter", &|it| it.adapter = Some(other(it.adapter))),
            ("no session", &|it| it.session = None),
            ("session", &|it| it.session = Some(other(it.session))),
        ],
    );
}

/// Small worlds that together have every output.
fn worlds() -> [(&'static str, Bounds); 5] {
    let nothing = Bounds {
        ticks: 0,
        every_request: false,
        every_fault: false,
        faults: false,
        ..Bounds::ONE
    };
    [
        (
            "life",
            Bounds {
                ticks: 2,
                queries: true,
                ..nothing
            },
        ),
        (
            "two",
            Bounds {
                tokens: 2,
                elsewhere: true,
                sessions: false,
                faults: true,
                ..nothing
            },
        ),
        (
            "events",
            Bounds {
                events: 1,
                ..nothing
            },
        ),
        (
            "settings",
            Bounds {
                settings: 1,
                sessions: false,
                faults: true,
                queries: true,
                ..nothing
            },
        ),
        (
            "crash",
            Bounds {
                crashes: 1,
                ..nothing
            },
        ),
    ]
}

/// Whoever changes one output of a conforming gatekeeper is found, or has done what the text leaves free.
///
/// # Panics
///
/// Where a guarantee breaks behind a change that was let pass.
pub fn changed<E: Executor<McpAql>>(executor: &E) -> Outcome {
    changes::changed::<McpAql, OfGatekeeper, E>(executor, &worlds())
}

/// What is free is what `freedoms.txt` lists, as far as it was tried.
///
/// # Panics
///
/// Where that does not hold.
pub fn assert_listed(outcome: &Outcome) {
    changes::assert_listed::<McpAql>(outcome, include_str!("freedoms.txt"));
}
