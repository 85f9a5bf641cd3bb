//! How an output of a ledger can be changed, and what of that the text leaves free: `freedoms.txt`.

use std::sync::Arc;

use super::changes::{self, edit};
use super::mutation::{Mutations, Outcome};
use countersign_model::engine::party::Executor;
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::account::{Account, Action};
use countersign_model::pending_action::alphabet::{
    ActionId, Body, Call, Decision, Effect, Event, Id, Message, Name, Nonce, Output, Reason,
    Record, Status, Time, Value, What,
};
use countersign_model::pending_action::environment::Bounds;

/// Changes of what a ledger puts out.
pub enum OfLedger {}

impl Mutations<PendingAction> for OfLedger {
    fn kind(output: &Output) -> &'static str {
        match output {
            Output::Append(it) => match it.body {
                Body::ConfirmationRequest { .. } => "confirmation_request",
                Body::ToolCall { .. } => "tool_call",
                Body::ToolResult { .. } => "tool_result",
                Body::DeniedResult { .. } => "denied_result",
                Body::ExpiredResult { .. } => "expired_result",
                Body::CancelledResult { .. } => "cancelled_result",
                Body::UserMessage { .. } => "user_message",
            },
            Output::Event(it) => match it.what {
                What::Created(_) => "created",
                What::Decided { .. } => "decided",
                What::Denied { .. } => "denied",
                What::Executed { .. } => "executed",
                What::NotRun => "not_run",
                What::Expired => "expired",
                What::Cancelled { .. } => "cancelled",
            },
            Output::Perform { .. } => "perform",
            Output::InDoubt(_) => "in_doubt",
            Output::Audit => "audit",
            Output::Snapshot(_) => "snapshot",
            Output::Refused => "refused",
            Output::Other(_) => "other",
        }
    }

    fn again(output: &Output) -> Output {
        output.with_id(Id::Again).unwrap_or_else(|| output.clone())
    }

    fn neighbours(output: &Output, each: &mut dyn FnMut(&'static str, Output)) {
        match output {
            Output::Append(it) => message(it, &mut |field, it| each(field, Output::Append(it))),
            Output::Event(it) => event(it, &mut |field, it| each(field, Output::Event(it))),
            Output::Perform {
                action,
                tool,
                arguments,
            } => {
                let perform = |action, tool, arguments| Output::Perform {
                    action,
                    tool,
                    arguments,
                };
                for other in others(*action) {
                    each("action", perform(other, *tool, *arguments));
                }
                each("tool", perform(*action, other(*tool), *arguments));
                for (field, it) in values("arguments", *arguments) {
                    each(field, perform(*action, *tool, it));
                }
            }
            Output::InDoubt(action) => {
                for other in others(*action) {
                    each("action", Output::InDoubt(other));
                }
            }
            Output::Snapshot(id) => {
                for other in others(*id) {
                    each("snapshot", Output::Snapshot(other));
                }
            }
            Output::Audit | Output::Refused | Output::Other(_) => {}
        }
    }

    fn anything(account: &Account, call: &Call, each: &mut dyn FnMut(Output)) {
        for output in [
            Output::Audit,
            Output::Snapshot(account.next_snapshot()),
            Output::Refused,
            Output::Other(0),
        ] {
            each(output);
        }
        let said = Body::UserMessage { by: 2, text: 20 };
        let asked = Body::ConfirmationRequest { text: 7, label: 8 };
        for body in [said, asked] {
            each(append(1, body));
        }
        let unknown = Action::new(&RECORD);
        let actions = account.actions.iter().chain([&unknown]);
        for (id, action) in (0..).zip(actions) {
            about(
                id,
                action,
                (account.clock.max(call.now), account.nonces),
                each,
            );
        }
    }
}

/// A record of an action that nobody has proposed.
const RECORD: Record = Record {
    nonce: None,
    agent: 1,
    session: 1,
    run: 5,
    tool: 6,
    arguments: Value {
        bytes: 10,
        meaning: Some(10),
    },
    effect: Effect::Destructive,
    summary: 7,
    label: 8,
    expires_at: None,
    deciders: None,
    idempotent: false,
};

/// Everything that can be said of an action.
fn about(action: ActionId, it: &Action, (at, nonce): (Time, Nonce), each: &mut dyn FnMut(Output)) {
    let Action {
        session,
        tool,
        arguments,
        ..
    } = *it;
    each(Output::Perform {
        action,
        tool,
        arguments,
    });
    each(Output::InDoubt(action));
    let reason = Some(Reason::Requested);
    let (status, result) = (Status::Success, Value::EMPTY);
    let bodies = [
        Body::ToolCall {
            action,
            tool,
            arguments,
        },
        Body::ToolResult {
            action,
            tool,
            status,
            result,
        },
        Body::DeniedResult {
            action,
            tool,
            by: 2,
        },
        Body::ExpiredResult { action, tool },
        Body::CancelledResult {
            action,
            tool,
            reason,
        },
    ];
    for body in bodies {
        each(append(session, body));
    }
    let decided = |decision| What::Decided {
        decision,
        by: Some(2),
    };
    let record = Record {
        nonce: Some(nonce),
        ..RECORD
    };
    for what in [
        What::Created(Arc::new(record)),
        decided(Decision::Allow),
        decided(Decision::Deny),
        What::Denied { by: Some(2) },
        What::Executed {
            status,
            result: None,
        },
        What::NotRun,
        What::Expired,
        What::Cancelled { reason },
    ] {
        each(Output::Event(Event {
            id: Id::Fresh,
            action,
            at,
            what,
        }));
    }
}

fn append(session: Name, body: Body) -> Output {
    Output::Append(Message {
        id: Id::Fresh,
        session: Some(session),
        body,
    })
}

/// A name that nobody has.
fn other(name: Name) -> Name {
    name ^ 0x400
}

/// The numbers beside that one.
fn others(number: u16) -> impl Iterator<Item = u16> {
    [number.checked_sub(1), number.checked_add(1)]
        .into_iter()
        .flatten()
}

fn other_ids(id: Id) -> impl Iterator<Item = Id> {
    let all = [Id::Fresh, Id::Again, Id::Taken].into_iter();
    all.filter(move |it| *it != id)
}

/// The same in another spelling, and another one.
fn values(field: &'static str, it: Value) -> [(&'static str, Value); 2] {
    let bytes = other(it.bytes);
    let spelling = if field == "result" {
        "result's spelling"
    } else {
        "arguments' spelling"
    };
    [
        (spelling, Value { bytes, ..it }),
        (
            field,
            Value {
                bytes,
                meaning: it.meaning.map_or(Some(0), |it| Some(other(it))),
            },
        ),
    ]
}

fn statuses(it: Status) -> impl Iterator<Item = Status> {
    let all = [
        Status::Success,
        Status::Error,
        Status::NotRun,
        Status::Other(0),
    ];
    all.into_iter().filter(move |other| *other != it)
}

fn reasons(it: Option<Reason>) -> impl Iterator<Item = (&'static str, Option<Reason>)> {
    let all = [
        ("no reason", None),
        ("reason", Some(Reason::Requested)),
        ("reason", Some(Reason::SessionEnded)),
        ("reason", Some(Reason::Other(0))),
    ];
    all.into_iter().filter(move |(_, other)| *other != it)
}

fn message(it: &Message, each: &mut dyn FnMut(&'static str, Message)) {
    for id in other_ids(it.id) {
        each("id", Message { id, ..*it });
    }
    let session = it.session.map_or(1, other);
    let (none, session) = (None, Some(session));
    each(
        "no session",
        Message {
            session: none,
            ..*it
        },
    );
    each("session", Message { session, ..*it });
    body(&it.body, &mut |field, body| {
        each(field, Message { body, ..*it });
    });
}

fn body(it: &Body, each: &mut dyn FnMut(&'static str, Body)) {
    match *it {
        Body::ConfirmationRequest { text, label } => {
            let ask = |text, label| Body::ConfirmationRequest { text, label };
            each("text", ask(other(text), label));
            each("label", ask(text, other(label)));
        }
        Body::UserMessage { by, text } => {
            let say = |by, text| Body::UserMessage { by, text };
            each("by", say(other(by), text));
            each("text", say(by, other(text)));
        }
        Body::ToolCall {
            action,
            tool,
            arguments,
        } => {
            let call = |action, tool, arguments| Body::ToolCall {
                action,
                tool,
                arguments,
            };
            others(action).for_each(|it| each("action", call(it, tool, arguments)));
            each("tool", call(action, other(tool), arguments));
            for (field, it) in values("arguments", arguments) {
                each(field, call(action, tool, it));
            }
        }
        Body::ToolResult {
            action,
            tool,
            status,
            result,
        } => {
            let come = |action, tool, status, result| Body::ToolResult {
                action,
                tool,
                status,
                result,
            };
            others(action).for_each(|it| each("action", come(it, tool, status, result)));
            each("tool", come(action, other(tool), status, result));
            statuses(status).for_each(|it| each("status", come(action, tool, it, result)));
            for (field, it) in values("result", result) {
                each(field, come(action, tool, status, it));
            }
        }
        Body::DeniedResult { action, tool, by } => {
            let deny = |action, tool, by| Body::DeniedResult { action, tool, by };
            others(action).for_each(|it| each("action", deny(it, tool, by)));
            each("tool", deny(action, other(tool), by));
            each("by", deny(action, tool, other(by)));
        }
        Body::ExpiredResult { action, tool } => {
            let expire = |action, tool| Body::ExpiredResult { action, tool };
            others(action).for_each(|it| each("action", expire(it, tool)));
            each("tool", expire(action, other(tool)));
        }
        Body::CancelledResult {
            action,
            tool,
            reason,
        } => {
            let cancel = |action, tool, reason| Body::CancelledResult {
                action,
                tool,
                reason,
            };
            others(action).for_each(|it| each("action", cancel(it, tool, reason)));
            each("tool", cancel(action, other(tool), reason));
            reasons(reason).for_each(|(field, it)| each(field, cancel(action, tool, it)));
        }
    }
}

fn event(it: &Event, each: &mut dyn FnMut(&'static str, Event)) {
    for id in other_ids(it.id) {
        each("id", Event { id, ..it.clone() });
    }
    for action in others(it.action) {
        each(
            "action",
            Event {
                action,
                ..it.clone()
            },
        );
    }
    for at in [it.at - 1, it.at + 1] {
        each("at", Event { at, ..it.clone() });
    }
    what(&it.what, &mut |field, what| {
        each(field, Event { what, ..it.clone() });
    });
}

fn what(it: &What, each: &mut dyn FnMut(&'static str, What)) {
    match it {
        What::Created(it) => {
            record(it, &mut |field, it| {
                each(field, What::Created(Arc::new(it)));
            });
        }
        What::Decided { decision, by } => {
            let decided = |decision, by| What::Decided { decision, by };
            for it in [Decision::Allow, Decision::Deny, Decision::Other(0)] {
                if it != *decision {
                    each("decision", decided(it, *by));
                }
            }
            each("no by", decided(*decision, None));
            each("by", decided(*decision, Some(by.map_or(2, other))));
        }
        What::Denied { by } => {
            each("no by", What::Denied { by: None });
            let by = Some(by.map_or(2, other));
            each("by", What::Denied { by });
        }
        What::Executed { status, result } => {
            let (status, result) = (*status, *result);
            let executed = |status, result| What::Executed { status, result };
            statuses(status).for_each(|it| each("status", executed(it, result)));
            each("no result", executed(status, None));
            let known = result.unwrap_or(Value::EMPTY);
            for (field, it) in values("result", known) {
                each(field, executed(status, Some(it)));
            }
        }
        What::Cancelled { reason } => {
            reasons(*reason).for_each(|(field, reason)| each(field, What::Cancelled { reason }));
        }
        What::NotRun | What::Expired => {}
    }
}

fn record(it: &Record, each: &mut dyn FnMut(&'static str, Record)) {
    let mut change = |field, change: &dyn Fn(&mut Record)| edit(it, each, &[(field, change)]);
    change("no nonce", &|it| it.nonce = None);
    change("nonce", &|it| {
        it.nonce = Some(it.nonce.map_or(0, |it| it + 1));
    });
    change("agent", &|it| it.agent = other(it.agent));
    change("session", &|it| it.session = other(it.session));
    change("run", &|it| it.run = other(it.run));
    change("tool", &|it| it.tool = other(it.tool));
    for (field, value) in values("arguments", it.arguments) {
        change(field, &|it| it.arguments = value);
    }
    let effects = [
        Effect::Read,
        Effect::Write,
        Effect::Destructive,
        Effect::External,
        Effect::Other(0),
    ];
    for effect in effects {
        change("effect", &|it| it.effect = effect);
    }
    change("summary", &|it| it.summary = other(it.summary));
    change("label", &|it| it.label = other(it.label));
    change("no expiry", &|it| it.expires_at = None);
    for by in [-1, 1] {
        change("expiry", &|it| {
            it.expires_at = Some(it.expires_at.unwrap_or(2) + by);
        });
    }
    change("no deciders", &|it| it.deciders = None);
    change("deciders", &|it| {
        it.deciders = Some([2, 1024].into_iter().collect());
    });
    change("idempotent", &|it| it.idempotent = !it.idempotent);
}

/// Small worlds that together have every output.
const WORLDS: [(&str, Bounds); 3] = [
    (
        "endings",
        Bounds {
            actions: 1,
            ticks: 2,
            set_back: 1,
            crashes: 1,
            rollbacks: 0,
            every_proposal: false,
            every_decision: false,
            endings: true,
        },
    ),
    (
        "two",
        Bounds {
            actions: 2,
            ticks: 0,
            set_back: 0,
            crashes: 0,
            rollbacks: 0,
            every_proposal: false,
            every_decision: false,
            endings: false,
        },
    ),
    (
        "rollback",
        Bounds {
            actions: 1,
            ticks: 1,
            set_back: 0,
            crashes: 0,
            rollbacks: 1,
            every_proposal: false,
            every_decision: false,
            endings: false,
        },
    ),
];

/// Whoever changes one output of a conforming ledger is found, or has done what the text leaves free.
///
/// # Panics
///
/// Where a guarantee breaks behind a change that was let pass.
pub fn changed<E: Executor<PendingAction>>(executor: &E) -> Outcome {
    changes::changed::<PendingAction, OfLedger, E>(executor, &WORLDS)
}

/// What is free is what `freedoms.txt` lists, as far as it was tried.
///
/// # Panics
///
/// Where that does not hold.
pub fn assert_listed(outcome: &Outcome) {
    changes::assert_listed::<PendingAction>(outcome, include_str!("freedoms.txt"));
}
