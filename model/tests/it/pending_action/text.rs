//! The spec of pending actions: what conforms, what one change makes of it, and what the text leaves open.
#![expect(
    clippy::cast_possible_truncation,
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::wildcard_enum_match_arm,
    reason = "tables, and numbers that are small"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::clause::{Clause, ClauseSet, Level};
use countersign_model::engine::protocol::Variant;
use countersign_model::engine::world::{Freedom, World};
use countersign_model::pending_action::PendingAction;
use countersign_model::pending_action::account::Account;
use countersign_model::pending_action::alphabet::*;
use countersign_model::pending_action::clauses::*;
use countersign_model::pending_action::readings::*;

use crate::common::rows::Tested;

type Step = (Call, Vec<Output>);

const AGENT: Name = 1;
const ANA: Name = 2;
const BOB: Name = 3;
const SESSION: Name = 4;
const RUN: Name = 5;
const TOOL: Name = 6;
const SUMMARY: Name = 7;
const LABEL: Name = 8;
const ARGUMENTS: Value = Value {
    bytes: 10,
    meaning: Some(10),
};
const RESPELLED: Value = Value {
    bytes: 11,
    meaning: Some(10),
};
const EDITED: Value = Value {
    bytes: 12,
    meaning: Some(12),
};
const BLANK: Text = Text {
    name: 20,
    characters: 1,
    is_blank: true,
    has_line_break: false,
};

// ── Calls ──

fn proposal() -> Proposal {
    Proposal {
        agent: AGENT.into(),
        session: SESSION.into(),
        run: RUN.into(),
        tool: TOOL.into(),
        arguments: Arguments {
            value: ARGUMENTS,
            size: 100,
            levels: 2,
        },
        effect: Effect::Destructive,
        summary: SUMMARY.into(),
        label: LABEL.into(),
        expires_at: None,
        deciders: None,
        idempotent: false,
    }
}
fn at(now: Time, op: Op) -> Call {
    Call { now, op }
}
fn propose(proposal: Proposal) -> Call {
    at(0, Op::Propose(Arc::new(proposal)))
}
fn decide(action: ActionId, decision: Decision) -> Decide {
    Decide {
        action,
        nonce: None,
        decision,
        by: ANA.into(),
        arguments: None,
    }
}
fn allow(action: ActionId) -> Call {
    at(0, Op::Decide(decide(action, Decision::Allow)))
}
fn deny(action: ActionId) -> Call {
    at(0, Op::Decide(decide(action, Decision::Deny)))
}
fn finish(action: ActionId, status: Status) -> Call {
    at(
        0,
        Op::FinishTool {
            action,
            status,
            result: Some(EDITED),
        },
    )
}
fn say() -> Call {
    at(
        0,
        Op::Say {
            by: ANA.into(),
            text: LABEL.into(),
        },
    )
}
fn restart(lost: &[Output]) -> Call {
    at(0, Op::Restart(Lost::Outputs(lost.into())))
}

// ── Outputs ──

fn event(action: ActionId, what: What) -> Output {
    Output::Event(Event {
        id: Id::Fresh,
        action,
        at: 0,
        what,
    })
}
fn event_at(time: Time, action: ActionId, what: What) -> Output {
    Output::Event(Event {
        id: Id::Fresh,
        action,
        at: time,
        what,
    })
}
fn append(body: Body) -> Output {
    Output::Append(Message {
        id: Id::Fresh,
        session: Some(SESSION),
        body,
    })
}
fn again(output: &Output) -> Output {
    output.with_id(Id::Again).expect("it has an id")
}
fn record(nonce: Nonce, proposal: &Proposal) -> Record {
    Record {
        nonce: Some(nonce),
        agent: proposal.agent.name,
        session: proposal.session.name,
        run: proposal.run.name,
        tool: proposal.tool.name,
        arguments: proposal.arguments.value,
        effect: proposal.effect,
        summary: proposal.summary.name,
        label: proposal.label.name,
        expires_at: proposal.expires_at,
        deciders: proposal
            .deciders
            .as_ref()
            .map(|it| it.iter().map(|it| it.name).collect()),
        idempotent: proposal.idempotent,
    }
}
fn request() -> Output {
    append(Body::ConfirmationRequest {
        text: SUMMARY,
        label: LABEL,
    })
}
fn created(action: ActionId, proposal: &Proposal) -> Output {
    event(action, What::Created(Arc::new(record(action, proposal))))
}
fn decided(action: ActionId, decision: Decision) -> Output {
    event(
        action,
        What::Decided {
            decision,
            by: Some(ANA),
        },
    )
}
fn tool_call(action: ActionId) -> Output {
    append(Body::ToolCall {
        action,
        tool: TOOL,
        arguments: ARGUMENTS,
    })
}
fn perform(action: ActionId) -> Output {
    Output::Perform {
        action,
        tool: TOOL,
        arguments: ARGUMENTS,
    }
}
fn tool_result(action: ActionId, status: Status) -> Output {
    append(Body::ToolResult {
        action,
        tool: TOOL,
        status,
        result: EDITED,
    })
}
fn executed(action: ActionId) -> Output {
    event(
        action,
        What::Executed {
            status: Status::Success,
            result: None,
        },
    )
}
fn denied_result(action: ActionId) -> Output {
    append(Body::DeniedResult {
        action,
        tool: TOOL,
        by: ANA,
    })
}
fn denied(action: ActionId) -> Output {
    event(action, What::Denied { by: Some(ANA) })
}
fn expired_result(action: ActionId) -> Output {
    append(Body::ExpiredResult { action, tool: TOOL })
}
fn cancelled_result(action: ActionId) -> Output {
    append(Body::CancelledResult {
        action,
        tool: TOOL,
        reason: Some(Reason::Requested),
    })
}
fn cancelled(action: ActionId) -> Output {
    event(action, What::Cancelled { reason: None })
}
fn user_message() -> Output {
    Output::Append(Message {
        id: Id::Fresh,
        session: None,
        body: Body::UserMessage {
            by: ANA,
            text: LABEL,
        },
    })
}

// ── Steps that conform ──

fn asked(action: ActionId) -> Step {
    asked_for(action, proposal())
}
fn asked_for(action: ActionId, proposal: Proposal) -> Step {
    let created = created(action, &proposal);
    (propose(proposal), vec![request(), created])
}
fn allowed(action: ActionId) -> Step {
    (
        allow(action),
        vec![
            decided(action, Decision::Allow),
            tool_call(action),
            perform(action),
        ],
    )
}
fn was_denied(action: ActionId) -> Step {
    (
        deny(action),
        vec![
            decided(action, Decision::Deny),
            denied_result(action),
            denied(action),
        ],
    )
}
fn finished(action: ActionId) -> Step {
    (
        finish(action, Status::Success),
        vec![tool_result(action, Status::Success), executed(action)],
    )
}
fn was_cancelled(action: ActionId) -> Step {
    (
        at(0, Op::Cancel(action)),
        vec![cancelled_result(action), cancelled(action)],
    )
}
fn snapshot(id: SnapshotId) -> Step {
    (at(0, Op::Snapshot), vec![Output::Snapshot(id)])
}
fn rolled_back(id: SnapshotId) -> Step {
    (at(0, Op::Rollback(id)), vec![])
}
fn session_end() -> Op {
    Op::EndSession(SESSION.into())
}
fn expiring() -> Proposal {
    Proposal {
        expires_at: Some(10),
        ..proposal()
    }
}
fn expired() -> Step {
    (
        at(10, Op::Tick),
        vec![expired_result(0), event_at(10, 0, What::Expired)],
    )
}
/// A call to which nothing is owed.
fn nothing(call: Call) -> Step {
    (call, vec![])
}
fn refused(call: Call) -> Step {
    (call, vec![Output::Refused])
}

// ── The table ──

/// A run that conforms, and other outputs of its last call that break one clause.
struct Row {
    clause: Clause,
    name: &'static str,
    run: Vec<Step>,
    changed: Vec<Output>,
}

fn row(clause: Clause, name: &'static str, run: Vec<Step>, changed: Vec<Output>) -> Row {
    Row {
        clause,
        name,
        run,
        changed,
    }
}

fn without(outputs: &[Output], dropped: &Output) -> Vec<Output> {
    assert!(outputs.contains(dropped));
    outputs
        .iter()
        .filter(|it| *it != dropped)
        .cloned()
        .collect()
}

fn with(outputs: &[Output], added: Output) -> Vec<Output> {
    outputs.iter().cloned().chain([added]).collect()
}

fn rows() -> Vec<Row> {
    let by = |by: Text| {
        at(
            0,
            Op::Decide(Decide {
                by,
                ..decide(0, Decision::Allow)
            }),
        )
    };
    let sending = |arguments| {
        at(
            0,
            Op::Decide(Decide {
                arguments: Some(arguments),
                ..decide(0, Decision::Allow)
            }),
        )
    };
    let out = |step: Step| step.1;
    let late = |step: Step, now: Time| (Call { now, ..step.0 }, step.1);
    let idempotent = Proposal {
        idempotent: true,
        ..proposal()
    };
    let other_summary = Proposal {
        summary: BOB.into(),
        ..proposal()
    };
    let in_doubt = |action| (restart(&[]), vec![Output::InDoubt(action)]);
    let both_in_doubt = (restart(&[]), vec![Output::InDoubt(0), Output::InDoubt(1)]);
    let lost = out(was_denied(0));
    let bad = |change: fn(&mut Proposal)| {
        let mut it = proposal();
        change(&mut it);
        (refused(propose(it.clone())), out(asked_for(0, it)))
    };
    let mut rows = vec![
        row(PA_1, "not registered", vec![asked(0)], vec![]),
        row(
            PA_1,
            "runs without a pause",
            vec![asked(0)],
            with(&out(asked(0)), perform(0)),
        ),
        row(
            PA_1,
            "runs later, undecided",
            vec![asked(0), (say(), vec![user_message()])],
            vec![user_message(), perform(0)],
        ),
        row(
            PA_1,
            "another summary in the record",
            vec![asked(0)],
            vec![request(), created(0, &other_summary)],
        ),
        row(
            PA_1,
            "an id twice",
            vec![asked(0), asked(1)],
            vec![
                request(),
                event(0, What::Created(record(1, &proposal()).into())),
            ],
        ),
        row(
            PA_1,
            "another's nonce in the record",
            vec![asked(0), asked(1)],
            vec![
                request(),
                event(1, What::Created(record(0, &proposal()).into())),
            ],
        ),
        row(
            PA_1,
            "decided with the nonce of another",
            vec![
                asked(0),
                asked(1),
                nothing(at(
                    0,
                    Op::Decide(Decide {
                        nonce: Some(1),
                        ..decide(0, Decision::Allow)
                    }),
                )),
            ],
            out(allowed(0)),
        ),
        row(
            PA_1,
            "a proposal is refused",
            vec![asked(0)],
            vec![Output::Refused],
        ),
        row(
            PA_1,
            "the agent decides",
            vec![asked(0), nothing(by(AGENT.into()))],
            {
                let by = Some(AGENT);
                vec![
                    event(
                        0,
                        What::Decided {
                            decision: Decision::Allow,
                            by,
                        },
                    ),
                    tool_call(0),
                    perform(0),
                ]
            },
        ),
        row(
            PA_1,
            "somebody decides who is not named",
            vec![
                asked_for(
                    0,
                    Proposal {
                        deciders: Some([Text::from(BOB)].into_iter().collect()),
                        ..proposal()
                    },
                ),
                nothing(allow(0)),
            ],
            out(allowed(0)),
        ),
        row(
            PA_1,
            "nobody decides",
            vec![asked(0), nothing(by(Text { name: ANA, ..BLANK }))],
            out(allowed(0)),
        ),
        row(
            PA_1,
            "a decision resolves nothing",
            vec![asked(0), allowed(0)],
            vec![],
        ),
        row(
            PA_1,
            "a decision is refused",
            vec![asked(0), allowed(0)],
            vec![Output::Refused],
        ),
        row(
            PA_1,
            "free text decides",
            vec![asked(0), (say(), vec![user_message()])],
            with(&out(allowed(0)), user_message()),
        ),
        row(PA_3, "other arguments run", vec![asked(0), allowed(0)], {
            vec![
                decided(0, Decision::Allow),
                tool_call(0),
                Output::Perform {
                    action: 0,
                    tool: TOOL,
                    arguments: EDITED,
                },
            ]
        }),
        row(PA_3, "another tool runs", vec![asked(0), allowed(0)], {
            vec![
                decided(0, Decision::Allow),
                tool_call(0),
                Output::Perform {
                    action: 0,
                    tool: BOB,
                    arguments: ARGUMENTS,
                },
            ]
        }),
        row(
            PA_3,
            "what was approved is something else",
            vec![asked(0), nothing(sending(EDITED))],
            out(allowed(0)),
        ),
        row(
            PA_3,
            "what was allowed does not run",
            vec![asked(0), allowed(0)],
            without(&out(allowed(0)), &perform(0)),
        ),
        row(
            PA_4,
            "no call in the transcript",
            vec![asked(0), allowed(0)],
            without(&out(allowed(0)), &tool_call(0)),
        ),
        row(
            PA_4,
            "no result in the transcript",
            vec![asked(0), allowed(0), finished(0)],
            vec![executed(0)],
        ),
        row(
            PA_10,
            "a report is refused",
            vec![asked(0), allowed(0), finished(0)],
            vec![Output::Refused],
        ),
        row(
            PA_5,
            "what was denied runs",
            vec![asked(0), was_denied(0)],
            with(&out(was_denied(0)), perform(0)),
        ),
        row(
            PA_5,
            "what was cancelled runs",
            vec![asked(0), was_cancelled(0)],
            with(&out(was_cancelled(0)), perform(0)),
        ),
        row(
            PA_5,
            "what was denied runs later",
            vec![asked(0), was_denied(0), nothing(at(0, Op::Tick))],
            vec![perform(0)],
        ),
        row(
            PA_5,
            "a cancellation is refused",
            vec![asked(0), was_cancelled(0)],
            vec![Output::Refused],
        ),
        row(
            PA_5,
            "a session ends twice",
            vec![nothing(at(0, session_end())), refused(at(0, session_end()))],
            vec![],
        ),
        row(
            PA_5,
            "asked for a session that ended",
            vec![nothing(at(0, session_end())), refused(propose(proposal()))],
            out(asked(0)),
        ),
        row(
            PA_6,
            "no denied result",
            vec![asked(0), was_denied(0)],
            without(&out(was_denied(0)), &denied_result(0)),
        ),
        row(
            PA_7,
            "allowed at the expiry",
            vec![
                asked_for(0, expiring()),
                late((allow(0), out(expired())), 10),
            ],
            {
                let allowed = [
                    event_at(
                        10,
                        0,
                        What::Decided {
                            decision: Decision::Allow,
                            by: None,
                        },
                    ),
                    tool_call(0),
                    perform(0),
                ];
                out(expired()).into_iter().chain(allowed).collect()
            },
        ),
        row(
            PA_7,
            "the expiry does nothing",
            vec![
                asked_for(0, expiring()),
                late((allow(0), out(expired())), 10),
            ],
            {
                vec![
                    event_at(
                        10,
                        0,
                        What::Decided {
                            decision: Decision::Allow,
                            by: None,
                        },
                    ),
                    tool_call(0),
                    perform(0),
                ]
            },
        ),
        row(
            PA_7,
            "the clock was set back",
            vec![
                asked_for(0, expiring()),
                expired(),
                nothing(late((allow(0), vec![]), 5).0),
            ],
            vec![
                event_at(
                    10,
                    0,
                    What::Decided {
                        decision: Decision::Allow,
                        by: None,
                    },
                ),
                tool_call(0),
                perform(0),
            ],
        ),
        row(
            PA_7,
            "it runs when it has expired",
            vec![asked_for(0, expiring()), expired()],
            with(&out(expired()), perform(0)),
        ),
        row(
            PA_8,
            "allowed twice",
            vec![asked(0), allowed(0), nothing(allow(0))],
            out(allowed(0)),
        ),
        row(
            PA_5,
            "denied, then allowed",
            vec![asked(0), was_denied(0), nothing(allow(0))],
            out(allowed(0)),
        ),
        row(
            PA_8,
            "allowed, then cancelled",
            vec![asked(0), allowed(0), refused(at(0, Op::Cancel(0)))],
            out(was_cancelled(0)),
        ),
        row(
            PA_8,
            "reported twice",
            vec![
                asked(0),
                allowed(0),
                finished(0),
                refused(finish(0, Status::Success)),
            ],
            out(finished(0)),
        ),
        row(
            PA_8,
            "runs twice",
            vec![asked(0), allowed(0)],
            with(&out(allowed(0)), perform(0)),
        ),
        row(
            PA_8,
            "runs again behind a restart",
            vec![asked(0), allowed(0), in_doubt(0)],
            vec![perform(0)],
        ),
        row(
            PA_8,
            "runs again beside what may run twice",
            vec![
                asked_for(0, idempotent.clone()),
                asked(1),
                allowed(0),
                allowed(1),
                both_in_doubt.clone(),
            ],
            vec![Output::InDoubt(0), perform(1)],
        ),
        row(
            PA_8,
            "in doubt and again",
            vec![asked_for(0, idempotent.clone()), allowed(0), in_doubt(0)],
            vec![Output::InDoubt(0), perform(0)],
        ),
        row(
            PA_8,
            "runs again though its session has ended",
            vec![
                asked_for(0, idempotent.clone()),
                allowed(0),
                nothing(at(0, session_end())),
                in_doubt(0),
            ],
            vec![perform(0)],
        ),
        row(
            PA_5,
            "a denial is forgotten",
            vec![
                asked(0),
                snapshot(0),
                was_denied(0),
                rolled_back(0),
                nothing(allow(0)),
            ],
            out(allowed(0)),
        ),
        row(
            PA_8,
            "a run is forgotten",
            vec![
                asked(0),
                snapshot(0),
                allowed(0),
                rolled_back(0),
                nothing(allow(0)),
            ],
            out(allowed(0)),
        ),
        row(
            PA_8,
            "a state of somebody else",
            vec![snapshot(0), refused(at(0, Op::Rollback(7)))],
            vec![],
        ),
        row(PA_1, "another label", vec![asked(0)], {
            vec![
                append(Body::ConfirmationRequest {
                    text: SUMMARY,
                    label: BOB,
                }),
                created(0, &proposal()),
            ]
        }),
        row(
            PA_10,
            "no `decided`",
            vec![asked(0), allowed(0)],
            without(&out(allowed(0)), &decided(0, Decision::Allow)),
        ),
        row(
            PA_10,
            "no `denied`",
            vec![asked(0), was_denied(0)],
            without(&out(was_denied(0)), &denied(0)),
        ),
        row(
            PA_10,
            "no `executed`",
            vec![asked(0), allowed(0), finished(0)],
            vec![tool_result(0, Status::Success)],
        ),
        row(
            PA_10,
            "denied, told as allowed",
            vec![asked(0), was_denied(0)],
            vec![decided(0, Decision::Allow), denied_result(0), denied(0)],
        ),
        row(
            PA_7,
            "an expiry that nobody is told",
            vec![asked_for(0, expiring()), expired()],
            vec![],
        ),
        row(
            PA_7,
            "expired too early",
            vec![asked_for(0, expiring()), nothing(at(9, Op::Tick))],
            vec![event_at(9, 0, What::Expired)],
        ),
        row(
            PA_10,
            "the event before its message",
            vec![asked_for(0, expiring()), expired()],
            out(expired()).into_iter().rev().collect(),
        ),
        row(
            PA_10,
            "the call before the decision",
            vec![asked(0), allowed(0)],
            vec![tool_call(0), decided(0, Decision::Allow), perform(0)],
        ),
        row(
            PA_10,
            "runs before it is told",
            vec![asked(0), allowed(0)],
            vec![perform(0), decided(0, Decision::Allow), tool_call(0)],
        ),
        row(
            PA_10,
            "what is due comes last",
            vec![
                asked_for(0, expiring()),
                late((say(), with(&out(expired()), user_message())), 10),
            ],
            [user_message()].into_iter().chain(out(expired())).collect(),
        ),
        row(
            PA_10,
            "not in the order of expiry",
            vec![
                asked_for(
                    0,
                    Proposal {
                        expires_at: Some(12),
                        ..proposal()
                    },
                ),
                asked_for(1, expiring()),
                {
                    (
                        at(12, Op::Tick),
                        vec![expired_result(1), event_at(12, 0, What::Expired)],
                    )
                },
            ],
            vec![event_at(12, 0, What::Expired), expired_result(1)],
        ),
        row(PA_10, "an event id twice", vec![asked(0), was_denied(0)], {
            vec![
                decided(0, Decision::Deny),
                denied_result(0),
                Output::Event(Event {
                    id: Id::Taken,
                    action: 0,
                    at: 0,
                    what: What::Denied { by: None },
                }),
            ]
        }),
        row(
            PA_10,
            "told again for no reason",
            vec![asked(0), nothing(at(0, Op::Tick))],
            vec![again(&created(0, &proposal()))],
        ),
        row(
            PA_10,
            "at a time to come",
            vec![asked_for(0, expiring()), expired()],
            vec![expired_result(0), event_at(11, 0, What::Expired)],
        ),
        row(
            PA_10,
            "lost, and not told again",
            vec![
                asked(0),
                was_denied(0),
                (restart(&lost[1..]), lost[1..].iter().map(again).collect()),
            ],
            vec![again(&denied(0))],
        ),
        row(
            PA_10,
            "told again as something new",
            vec![
                asked(0),
                was_denied(0),
                (restart(&lost[2..]), vec![again(&denied(0))]),
            ],
            vec![denied(0)],
        ),
        row(
            PA_10,
            "not told to be in doubt",
            vec![asked(0), allowed(0), in_doubt(0)],
            vec![],
        ),
        row(
            PA_10,
            "only one of two is told to be in doubt",
            vec![asked(0), asked(1), allowed(0), allowed(1), both_in_doubt],
            vec![Output::InDoubt(0)],
        ),
        row(
            PA_11,
            "free text that is not passed on",
            vec![(say(), vec![user_message()])],
            vec![],
        ),
        row(
            PA_10,
            "a message that nobody has said",
            vec![nothing(at(0, Op::Tick))],
            vec![user_message()],
        ),
        row(
            PA_12,
            "an output beyond the contract",
            vec![asked(0)],
            with(&out(asked(0)), Output::Other(0)),
        ),
        row(
            PA_12,
            "a state that nobody asked for",
            vec![nothing(at(0, Op::Tick))],
            vec![Output::Snapshot(0)],
        ),
        row(PA_12, "no state", vec![snapshot(0)], vec![]),
        row(
            PA_12,
            "time is refused",
            vec![nothing(at(0, Op::Tick))],
            vec![Output::Refused],
        ),
        row(
            PA_12,
            "more was lost than there was",
            vec![refused(at(0, Op::Restart(Lost::TooMany)))],
            vec![],
        ),
        row(
            PA_10,
            "an action that nobody proposed",
            vec![nothing(at(0, Op::Tick))],
            vec![created(0, &proposal())],
        ),
    ];
    let limits: [(Clause, &'static str, fn(&mut Proposal)); 10] = [
        (PA_1, "a blank name", |it| it.tool = BLANK),
        (PA_1, "257 characters", |it| it.agent.characters = 257),
        (PA_1, "a summary of 4,097 characters", |it| {
            it.summary.characters = 4097;
        }),
        (PA_1, "1 MiB and a byte", |it| {
            it.arguments.size = (1 << 20) + 1;
        }),
        (PA_1, "65 levels", |it| it.arguments.levels = 65),
        (PA_1, "nobody named", |it| {
            it.deciders = Some([].into_iter().collect());
        }),
        (PA_1, "the same name twice", |it| {
            it.deciders = Some([ANA, ANA].map(Text::from).into());
        }),
        (PA_3, "arguments without one meaning", |it| {
            it.arguments.value.meaning = None;
        }),
        (PA_1, "a label in two lines", |it| {
            it.label.has_line_break = true;
        }),
        (PA_1, "an effect of another name", |it| {
            it.effect = Effect::Other(0);
        }),
    ];
    rows.extend(limits.map(|(clause, name, change)| {
        let (step, changed) = bad(change);
        row(clause, name, vec![step], changed)
    }));
    rows
}

/// Judges the run, and returns what is said of its last call.
fn judge(variant: &Variant<PendingAction>, run: &[Step], last: &[Output]) -> Judgement<Output> {
    let mut checker = Checker::new(Account::default());
    let (end, before) = run.split_last().unwrap();
    for (call, outputs) in before {
        assert_eq!(
            checker.observe(variant, call, outputs),
            Judgement::Conforms,
            "{call:?}"
        );
    }
    checker.observe(variant, &end.0, last)
}

fn id(clause: Clause) -> &'static str {
    CLAUSES[usize::from(clause.0)].id
}

#[test]
fn each_row_breaks_its_clause_and_no_other() {
    let variant = Variant::default();
    let (mut failures, mut named) = (Vec::new(), ClauseSet::EMPTY);
    let mut tested = Tested::default();
    for Row {
        clause,
        name,
        run,
        changed,
    } in rows()
    {
        let conforming = judge(&variant, &run, &run.last().unwrap().1);
        if conforming != Judgement::Conforms {
            failures.push(format!("{} {name}: the run: {conforming:?}", id(clause)));
        }
        match judge(&variant, &run, &changed) {
            Judgement::Found(it) if it.clause == Some(clause) && it.beside.is_none() => {
                named = it
                    .also
                    .iter()
                    .fold(named.with(clause), |all, it| all.with(*it));
                let is_enough = |also: &Clause| {
                    judge(&variant.without((*also).into()), &run, &changed) == Judgement::Conforms
                };
                tested.add(clause, true, name);
                for also in it.also.into_iter().filter(is_enough) {
                    tested.add(also, false, name);
                }
            }
            Judgement::Found(it) => failures.push(format!(
                "{} {name}: {} {it:?}",
                id(clause),
                it.clause.map_or("none", id)
            )),
            other => failures.push(format!("{} {name}: {other:?}", id(clause))),
        }
        // Without its clause the row is no row.
        let lenient = variant.without(clause.into());
        match judge(&lenient, &run, &changed) {
            Judgement::Conforms => {}
            other => failures.push(format!(
                "{} {name}: without the clause: {other:?}",
                id(clause)
            )),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    tested.is_listed::<PendingAction>("pending_action");
    for (number, entry) in (0..).zip(CLAUSES) {
        assert!(named.contains(Clause(number)), "{}", entry.id);
    }
}

// ── One fault, one finding ──

/// What names a run that goes wrong at its last call, what would as well, and what is another fault in the same call.
type Named = (Clause, &'static [Clause], Option<Clause>);

/// Faults as implementations have them: the run, what came of its last call, and its name.
fn faults() -> Vec<(&'static str, Vec<Step>, Vec<Output>, Named)> {
    let taken = |output: &Output| output.with_id(Id::Taken).expect("it has an id");
    let by = |by: Name, decision| {
        at(
            0,
            Op::Decide(Decide {
                by: by.into(),
                ..decide(0, decision)
            }),
        )
    };
    let approving = at(
        0,
        Op::Decide(Decide {
            arguments: Some(EDITED),
            ..decide(0, Decision::Allow)
        }),
    );
    let named = Proposal {
        deciders: Some([Text::from(BOB)].into_iter().collect()),
        ..proposal()
    };
    let late = |step: Step| (Call { now: 10, ..step.0 }, expired().1);
    let out = |step: Step| step.1;
    let [decided, call, run] = [0, 1, 2].map(|place| out(allowed(0))[place].clone());
    let allowed_again = vec![taken(&decided), call, run.clone()];
    vec![
        (
            "denied, then allowed",
            vec![asked(0), was_denied(0), nothing(allow(0))],
            out(allowed(0)),
            (PA_5, &[PA_8], None),
        ),
        (
            "denied, then allowed, with the id of the denial",
            vec![asked(0), was_denied(0), nothing(allow(0))],
            allowed_again.clone(),
            (PA_5, &[PA_8], Some(PA_10)),
        ),
        (
            "cancelled, then allowed",
            vec![asked(0), was_cancelled(0), nothing(allow(0))],
            out(allowed(0)),
            (PA_5, &[PA_8], None),
        ),
        (
            "allowed twice",
            vec![asked(0), allowed(0), nothing(allow(0))],
            allowed_again,
            (PA_8, &[], Some(PA_10)),
        ),
        (
            "allowed, then denied, with the id of the allow",
            vec![asked(0), allowed(0), nothing(deny(0))],
            {
                let mut outputs = out(was_denied(0));
                outputs[0] = taken(&outputs[0]);
                outputs
            },
            (PA_8, &[PA_6], Some(PA_10)),
        ),
        (
            "runs with a denial",
            vec![asked(0), was_denied(0)],
            with(&out(was_denied(0)), run.clone()),
            (PA_5, &[], None),
        ),
        (
            "a denial is taken for an allow",
            vec![asked(0), was_denied(0)],
            out(allowed(0)),
            (PA_5, &[], None),
        ),
        (
            "runs with its expiry",
            vec![asked_for(0, expiring()), expired()],
            with(&out(expired()), run.clone()),
            (PA_7, &[], None),
        ),
        (
            "allowed when it has expired",
            vec![asked_for(0, expiring()), late(allowed(0))],
            [expired().1, {
                let at = |output: &Output| match output.clone() {
                    Output::Event(event) => Output::Event(Event { at: 10, ..event }),
                    other => other,
                };
                out(allowed(0)).iter().map(at).collect()
            }]
            .concat(),
            (PA_7, &[], None),
        ),
        (
            "a stranger allows",
            vec![asked_for(0, named.clone()), nothing(allow(0))],
            out(allowed(0)),
            (PA_1, &[PA_2], None),
        ),
        (
            "a stranger denies",
            vec![asked_for(0, named.clone()), nothing(deny(0))],
            out(was_denied(0)),
            (PA_1, &[PA_2], None),
        ),
        (
            "what a stranger allows is denied",
            vec![asked_for(0, named.clone()), nothing(allow(0))],
            out(was_denied(0)),
            (PA_1, &[PA_2], None),
        ),
        (
            "what is allowed in other terms is denied",
            vec![asked(0), nothing(approving)],
            out(was_denied(0)),
            (PA_1, &[PA_2], None),
        ),
        (
            "nobody may decide behind a stranger",
            vec![
                asked_for(0, named),
                nothing(allow(0)),
                (by(BOB, Decision::Allow), out(allowed(0))),
            ],
            vec![],
            (PA_1, &[PA_2], None),
        ),
        (
            "free text allows",
            vec![asked(0), (say(), vec![user_message()])],
            [vec![user_message()], out(allowed(0))].concat(),
            (PA_1, &[PA_2], None),
        ),
        (
            "runs, and nothing is told of it",
            vec![asked(0), nothing(at(0, Op::Tick))],
            vec![run],
            (PA_1, &[], None),
        ),
    ]
}

#[test]
fn each_fault_is_named_by_the_gravest_clause() {
    let mut failures = Vec::new();
    for (name, run, outputs, expected) in faults() {
        match judge(&Variant::default(), &run, &outputs) {
            Judgement::Found(it)
                if (it.clause, &*it.also, it.beside)
                    == (Some(expected.0), expected.1, expected.2) => {}
            other => failures.push(format!("{name}: {other:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

// ── What the text leaves open ──

/// Runs that conform though the default would put out something else in the last call.
fn freedoms() -> Vec<(&'static str, Vec<Step>)> {
    let quiet = |proposal: &Proposal| Record {
        nonce: None,
        ..record(0, proposal)
    };
    let named = Proposal {
        deciders: Some([Text::from(ANA)].into_iter().collect()),
        ..proposal()
    };
    let past = Proposal {
        expires_at: Some(0),
        ..proposal()
    };
    let idempotent = Proposal {
        idempotent: true,
        ..proposal()
    };
    let respelled = Record {
        arguments: RESPELLED,
        ..record(0, &proposal())
    };
    let plain = |body| {
        Output::Append(Message {
            id: Id::Fresh,
            session: None,
            body,
        })
    };
    let with_nonce = at(
        0,
        Op::Decide(Decide {
            nonce: Some(7),
            ..decide(0, Decision::Allow)
        }),
    );
    let unnumbered = (
        propose(proposal()),
        vec![event(0, What::Created(quiet(&proposal()).into()))],
    );
    let cancel = |outputs| vec![asked(0), (at(0, Op::Cancel(0)), outputs)];
    let expire = |outputs| vec![asked_for(0, expiring()), (at(15, Op::Tick), outputs)];
    let since = |step: Step| vec![snapshot(0), asked(0), rolled_back(0), step];
    let blank = at(
        0,
        Op::Say {
            by: BLANK,
            text: LABEL.into(),
        },
    );
    let both = |outputs| {
        vec![
            asked_for(0, expiring()),
            asked_for(1, expiring()),
            (at(10, Op::Tick), outputs),
        ]
    };
    vec![
        (
            "neither request nor nonce",
            vec![(
                propose(named.clone()),
                vec![event(0, What::Created(quiet(&named).into()))],
            )],
        ),
        (
            "another spelling",
            vec![(
                propose(proposal()),
                vec![event(0, What::Created(respelled.into()))],
            )],
        ),
        (
            "a question without its session",
            vec![(
                propose(proposal()),
                vec![
                    plain(Body::ConfirmationRequest {
                        text: SUMMARY,
                        label: LABEL,
                    }),
                    created(0, &proposal()),
                ],
            )],
        ),
        (
            "an audit",
            vec![(
                asked(0).0,
                vec![
                    Output::Audit,
                    request(),
                    Output::Audit,
                    created(0, &proposal()),
                ],
            )],
        ),
        (
            "nobody named",
            vec![
                asked(0),
                (deny(0), {
                    let decision = Decision::Deny;
                    vec![
                        event(0, What::Decided { decision, by: None }),
                        denied_result(0),
                        event(0, What::Denied { by: None }),
                    ]
                }),
            ],
        ),
        (
            "the result in the event",
            vec![
                asked(0),
                allowed(0),
                (finish(0, Status::Error), {
                    vec![
                        tool_result(0, Status::Error),
                        event(
                            0,
                            What::Executed {
                                status: Status::Error,
                                result: Some(EDITED),
                            },
                        ),
                    ]
                }),
            ],
        ),
        (
            "respelled for the tool",
            vec![
                asked(0),
                (allow(0), {
                    let arguments = RESPELLED;
                    vec![
                        decided(0, Decision::Allow),
                        plain(Body::ToolCall {
                            action: 0,
                            tool: TOOL,
                            arguments,
                        }),
                        Output::Perform {
                            action: 0,
                            tool: TOOL,
                            arguments,
                        },
                    ]
                }),
            ],
        ),
        (
            "no result",
            vec![
                asked(0),
                allowed(0),
                (
                    at(
                        0,
                        Op::FinishTool {
                            action: 0,
                            status: Status::NotRun,
                            result: None,
                        },
                    ),
                    {
                        let result = Value {
                            bytes: 33,
                            ..Value::EMPTY
                        };
                        vec![
                            append(Body::ToolResult {
                                action: 0,
                                tool: TOOL,
                                status: Status::NotRun,
                                result,
                            }),
                            event(0, What::NotRun),
                        ]
                    },
                ),
            ],
        ),
        ("a cancellation, event alone", cancel(vec![cancelled(0)])),
        (
            "a cancellation, message alone",
            cancel(vec![cancelled_result(0)]),
        ),
        (
            "a cancellation, both",
            cancel(vec![
                cancelled_result(0),
                event(
                    0,
                    What::Cancelled {
                        reason: Some(Reason::Other(3)),
                    },
                ),
            ]),
        ),
        (
            "an expiry, event alone",
            expire(vec![event_at(12, 0, What::Expired)]),
        ),
        ("an expiry, message alone", expire(vec![expired_result(0)])),
        (
            "two at once",
            both(vec![
                expired_result(1),
                expired_result(0),
                event_at(10, 1, What::Expired),
                event_at(10, 0, What::Expired),
            ]),
        ),
        (
            "too late to propose, refused",
            vec![refused(propose(past.clone()))],
        ),
        (
            "too late to propose, recorded",
            vec![
                asked_for(0, past.clone()),
                (allow(0), vec![event(0, What::Expired)]),
            ],
        ),
        (
            "a nonce shown to a ledger without any",
            vec![unnumbered.clone(), (with_nonce.clone(), allowed(0).1)],
        ),
        (
            "a nonce that a ledger without any never put out",
            vec![unnumbered, nothing(with_nonce)],
        ),
        (
            "another spelling was approved",
            vec![
                asked(0),
                (
                    at(
                        0,
                        Op::Decide(Decide {
                            arguments: Some(RESPELLED),
                            ..decide(0, Decision::Allow)
                        }),
                    ),
                    allowed(0).1,
                ),
            ],
        ),
        (
            "a denial of other arguments",
            vec![
                asked(0),
                (
                    at(
                        0,
                        Op::Decide(Decide {
                            arguments: Some(EDITED),
                            ..decide(0, Decision::Deny)
                        }),
                    ),
                    was_denied(0).1,
                ),
            ],
        ),
        (
            "the time of the request",
            vec![
                nothing(at(9, Op::Tick)),
                (
                    Call {
                        now: 4,
                        ..asked(0).0
                    },
                    { vec![event_at(4, 0, What::Created(record(0, &proposal()).into()))] },
                ),
            ],
        ),
        (
            "runs once more",
            vec![
                asked_for(0, idempotent.clone()),
                allowed(0),
                (restart(&[]), vec![perform(0)]),
            ],
        ),
        (
            "two run once more",
            vec![
                asked_for(0, idempotent.clone()),
                asked_for(1, idempotent.clone()),
                allowed(0),
                allowed(1),
                (restart(&[]), vec![perform(0), perform(1)]),
            ],
        ),
        (
            "in doubt all the same",
            vec![
                asked_for(0, idempotent.clone()),
                allowed(0),
                (restart(&[]), vec![Output::InDoubt(0)]),
            ],
        ),
        (
            "in doubt, lost or not",
            vec![
                asked(0),
                allowed(0),
                (restart(&[perform(0)]), vec![Output::InDoubt(0)]),
            ],
        ),
        (
            "a proposal since the snapshot is forgotten",
            since(nothing(allow(0))),
        ),
        ("a proposal since the snapshot is known", since(allowed(0))),
        (
            "an older state is refused",
            vec![snapshot(0), asked(0), refused(at(0, Op::Rollback(0)))],
        ),
        (
            "an older state comes back as a question expires",
            vec![
                asked_for(0, expiring()),
                snapshot(0),
                (at(10, Op::Rollback(0)), expired().1),
            ],
        ),
        (
            "a session that ended since",
            vec![
                snapshot(0),
                nothing(at(0, session_end())),
                rolled_back(0),
                asked(0),
            ],
        ),
        ("the same state twice", vec![snapshot(0), snapshot(0)]),
        (
            "a blank name speaks",
            vec![(
                blank.clone(),
                vec![append(Body::UserMessage {
                    by: 20,
                    text: LABEL,
                })],
            )],
        ),
        ("a blank name is refused", vec![refused(blank)]),
        (
            "a released call of a session that ended",
            vec![
                asked(0),
                allowed(0),
                nothing(at(0, session_end())),
                finished(0),
            ],
        ),
        (
            "unknown ids",
            vec![
                asked(0),
                nothing(allow(7)),
                refused(finish(7, Status::Success)),
                refused(at(0, Op::Cancel(7))),
            ],
        ),
    ]
}

#[test]
fn what_the_text_leaves_open_conforms() {
    let variant = Variant::default();
    for (name, run) in freedoms() {
        let last = &run.last().unwrap().1;
        assert_eq!(judge(&variant, &run, last), Judgement::Conforms, "{name}");
    }
}

/// For each ambiguity a run whose last call conforms under one reading and not under the other.
#[test]
fn each_reading_judges_a_run_in_its_own_way() {
    let by = |by: Text| {
        at(
            0,
            Op::Decide(Decide {
                by,
                ..decide(0, Decision::Allow)
            }),
        )
    };
    let sending = |decision| {
        at(
            0,
            Op::Decide(Decide {
                arguments: Some(EDITED),
                ..decide(0, decision)
            }),
        )
    };
    let with_no_call = (allow(0), vec![decided(0, Decision::Allow), perform(0)]);
    let by_agent = vec![
        event(
            0,
            What::Decided {
                decision: Decision::Allow,
                by: None,
            },
        ),
        tool_call(0),
        perform(0),
    ];
    let late = (
        Call {
            now: 10,
            ..allow(0)
        },
        {
            vec![
                event_at(
                    10,
                    0,
                    What::Decided {
                        decision: Decision::Allow,
                        by: None,
                    },
                ),
                tool_call(0),
                perform(0),
            ]
        },
    );
    let forgotten = vec![
        asked(0),
        snapshot(0),
        was_denied(0),
        rolled_back(0),
        allowed(0),
    ];
    let told = vec![
        tool_result(0, Status::NotRun),
        event(
            0,
            What::Executed {
                status: Status::NotRun,
                result: None,
            },
        ),
    ];
    let reading = Proposal {
        effect: Effect::Read,
        ..proposal()
    };
    let unasked = What::Decided {
        decision: Decision::Allow,
        by: None,
    };
    let released_unasked = (
        propose(reading.clone()),
        vec![
            created(0, &reading),
            event(0, unasked),
            tool_call(0),
            perform(0),
        ],
    );
    let rows: Vec<(&str, fn(&mut Reading), Vec<Step>)> = vec![
        (
            "expiry-absent",
            |it| it.expiry_absent = ExpiryAbsent::Refused,
            vec![refused(propose(proposal()))],
        ),
        (
            "expiry-absent",
            |it| it.expiry_absent = ExpiryAbsent::After,
            vec![(
                propose(proposal()),
                vec![request(), created(0, &expiring())],
            )],
        ),
        (
            "deciders-absent",
            |it| it.deciders_absent = DecidersAbsent::TheAgentToo,
            vec![asked(0), (by(AGENT.into()), by_agent)],
        ),
        (
            "deciders-absent",
            |it| it.deciders_absent = DecidersAbsent::Nobody,
            vec![asked(0), nothing(allow(0))],
        ),
        (
            "blank-decider",
            |it| it.blank_decider = BlankDecider::Somebody,
            vec![asked(0), (by(Text { name: ANA, ..BLANK }), allowed(0).1)],
        ),
        (
            "edited-arguments",
            |it| it.edited_arguments = EditedArguments::RunsOriginal,
            vec![asked(0), (sending(Decision::Allow), allowed(0).1)],
        ),
        (
            "exact-arguments",
            |it| it.exact_arguments = ExactArguments::SameBytes,
            vec![
                asked(0),
                (allow(0), {
                    vec![
                        decided(0, Decision::Allow),
                        tool_call(0),
                        Output::Perform {
                            action: 0,
                            tool: TOOL,
                            arguments: RESPELLED,
                        },
                    ]
                }),
            ],
        ),
        (
            "lost-release",
            |it| it.lost_release = LostRelease::Runs,
            vec![
                asked(0),
                allowed(0),
                (restart(&[perform(0)]), vec![perform(0)]),
            ],
        ),
        (
            "in-doubt",
            |it| it.in_doubt = InDoubt::RunsAgain,
            vec![asked(0), allowed(0), (restart(&[]), vec![perform(0)])],
        ),
        (
            "orphan-result",
            |it| it.orphan_result = OrphanResult::Appended,
            vec![asked(0), with_no_call, finished(0)],
        ),
        (
            "edited-denial",
            |it| it.edited_denial = EditedDenial::DoesNotCount,
            vec![asked(0), nothing(sending(Decision::Deny))],
        ),
        (
            "session-end",
            |it| it.session_end = SessionEnd::StayPending,
            vec![asked(0), nothing(at(0, session_end()))],
        ),
        (
            "expiry-boundary",
            |it| it.expiry_boundary = ExpiryBoundary::After,
            vec![asked_for(0, expiring()), late],
        ),
        ("rollback", |it| it.rollback = Rollback::TheHosts, forgotten),
        (
            "settlement",
            |it| it.settlement = Settlement::NeedNotBeTold,
            vec![asked(0), nothing(at(0, Op::Cancel(0)))],
        ),
        (
            "not-run",
            |it| it.not_run = NotRun::AsExecuted,
            vec![asked(0), allowed(0), (finish(0, Status::NotRun), told)],
        ),
        (
            "free-text",
            |it| it.free_text = FreeText::CancelsThem,
            vec![asked(0), (say(), vec![user_message(), cancelled(0)])],
        ),
        (
            "read-effect",
            |it| it.read_effect = ReadEffect::Runs,
            vec![released_unasked.clone()],
        ),
    ];
    let mut names: Vec<_> = rows.iter().map(|it| it.0).collect();
    names.dedup();
    assert_eq!(
        names,
        AMBIGUITIES.iter().map(|it| it.name).collect::<Vec<_>>()
    );
    for (name, take, run) in rows {
        let mut other = Variant::<PendingAction>::default();
        take(&mut other.reading);
        let conforms = [Variant::default(), other].map(|variant| {
            let mut checker = Checker::new(Account::default());
            run.iter()
                .map(|(call, outputs)| checker.observe(&variant, call, outputs))
                .last()
                == Some(Judgement::Conforms)
        });
        assert_eq!(
            conforms,
            [name == "exact-arguments", name != "exact-arguments"],
            "{name}"
        );
    }
    // What ran unasked comes back as any other call does.
    let mut variant = Variant::<PendingAction>::default();
    variant.reading.read_effect = ReadEffect::Runs;
    let run = [released_unasked, finished(0)];
    assert_eq!(judge(&variant, &run, &run[1].1), Judgement::Conforms);
    // Whoever has to remember: what ran does not run again.
    let run = [
        asked(0),
        snapshot(0),
        allowed(0),
        rolled_back(0),
        allowed(0),
    ];
    let mut variant = Variant::<PendingAction>::default();
    variant.reading.rollback = Rollback::TheHosts;
    assert!(
        matches!(judge(&variant, &run, &run[4].1), Judgement::Found(it) if it.clause == Some(PA_8))
    );
    // A ledger with an expiry of its own states it.
    let mut variant = Variant::<PendingAction>::default();
    variant.reading.expiry_absent = ExpiryAbsent::After;
    assert!(matches!(
        judge(&variant, &[asked(0)], &asked(0).1),
        Judgement::Found(it) if it.clause == Some(PA_1)
    ));
}

/// "Later than now, whether or not a decision at that very time would count."
#[test]
fn a_question_that_closes_now_is_refused_or_recorded_by_either_reading() {
    for boundary in [ExpiryBoundary::At, ExpiryBoundary::After] {
        let mut variant = Variant::<PendingAction>::default();
        variant.reading.expiry_boundary = boundary;
        let closing = Proposal {
            expires_at: Some(0),
            ..proposal()
        };
        for run in [refused(propose(closing.clone())), asked_for(0, closing)] {
            let judgement = judge(&variant, std::slice::from_ref(&run), &run.1);
            assert_eq!(judgement, Judgement::Conforms, "{boundary:?} {run:?}");
        }
    }
}

/// A decision that does not count tells nothing of what a ledger has forgotten: there is one explanation, not one for each
/// action and each phase.
#[test]
fn what_does_not_count_leaves_open_what_a_rollback_left_open() {
    let mut run = vec![snapshot(0)];
    run.extend((0..7).flat_map(|id| [asked(id), was_denied(id)]));
    run.push(rolled_back(0));
    run.extend((0..7).chain(0..7).map(|id| nothing(allow(id))));
    let mut checker = Checker::<PendingAction>::new(Account::default());
    for (call, outputs) in &run {
        let judgement = checker.observe(&Variant::default(), call, outputs);
        assert_eq!(judgement, Judgement::Conforms, "{call:?}");
    }
    assert_eq!(checker.worlds().len(), 1);
}

// ── Every conforming ledger conforms ──

/// Numbers that look random, and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
    fn call(&mut self, account: &Account, last: &[Output]) -> Call {
        let now = account.clock + self.one(&[-3, 0, 0, 1, 5]);
        let id = self.below(account.actions.len() + 1) as ActionId;
        let few = account.actions.len() < 2 && self.below(2) == 0;
        let op = match if few { 0 } else { self.below(14) } {
            0 | 1 if account.actions.len() < 3 => Op::Propose(Arc::new(Proposal {
                session: self.one(&[SESSION, BOB]).into(),
                tool: if self.below(9) == 0 {
                    BLANK
                } else {
                    TOOL.into()
                },
                expires_at: self.one(&[None, Some(now - 1), Some(now + 1), Some(now + 5)]),
                deciders: self.one(&[None, None, Some([ANA, BOB].map(Text::from).into())]),
                idempotent: self.below(2) == 0,
                ..proposal()
            })),
            0..=4 => Op::Decide(Decide {
                action: id,
                nonce: self.one(&[None, None, Some(id), Some(0)]),
                decision: self.one(&[
                    Decision::Allow,
                    Decision::Allow,
                    Decision::Deny,
                    Decision::Other(1),
                ]),
                by: self.one(&[ANA.into(), ANA.into(), BOB.into(), AGENT.into(), BLANK]),
                arguments: self.one(&[None, Some(RESPELLED), Some(EDITED)]),
            }),
            5 | 6 => Op::FinishTool {
                action: id,
                status: self.one(&[
                    Status::Success,
                    Status::Error,
                    Status::NotRun,
                    Status::NotRun,
                    Status::Other(1),
                ]),
                result: self.one(&[None, Some(EDITED)]),
            },
            7 => Op::Cancel(id),
            8 => Op::EndSession(self.one(&[SESSION.into(), BOB.into(), BLANK])),
            9 => Op::Say {
                by: ANA.into(),
                text: LABEL.into(),
            },
            10 => Op::Snapshot,
            11 => Op::Rollback(self.below(2) as SnapshotId),
            12 => Op::Restart(Lost::Outputs(last[self.below(last.len() + 1)..].into())),
            _ => Op::Tick,
        };
        Call { now, op }
    }
    fn reading(&mut self) -> Reading {
        let mut it = Reading::default();
        if self.below(2) == 0 {
            it.deciders_absent = self.one(&[
                DecidersAbsent::Anyone,
                DecidersAbsent::Nobody,
                DecidersAbsent::TheAgentToo,
            ]);
            it.blank_decider = self.one(&[BlankDecider::Nobody, BlankDecider::Somebody]);
            it.edited_arguments =
                self.one(&[EditedArguments::DoesNotCount, EditedArguments::RunsOriginal]);
            it.lost_release = self.one(&[LostRelease::InDoubt, LostRelease::Runs]);
            it.session_end = self.one(&[SessionEnd::Cancelled, SessionEnd::StayPending]);
            it.expiry_boundary = self.one(&[ExpiryBoundary::At, ExpiryBoundary::After]);
            it.rollback = self.one(&[Rollback::TheLedgers, Rollback::TheHosts]);
            it.settlement = self.one(&[Settlement::IsTold, Settlement::NeedNotBeTold]);
            it.free_text = self.one(&[FreeText::Nothing, FreeText::CancelsThem]);
        }
        it
    }
}

#[test]
fn every_answer_of_a_conforming_ledger_conforms() {
    let (mut judged, mut most, mut waived) = (0, 0, 0);
    let mut kinds = BTreeSet::new();
    for seed in 1..=300 {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let variant = Variant {
            reading: numbers.reading(),
            ..Variant::default()
        };
        let mut world = World::<PendingAction>::new(Account::default());
        let mut checker = Checker::<PendingAction>::new(Account::default());
        let (mut last, mut run) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let call = numbers.call(&world.account, &last);
            let mut answers = Vec::new();
            world.answers(&variant, Freedom::Order, &call, |world, outputs| {
                answers.push((world, outputs));
            });
            assert!(!answers.is_empty(), "{call:?}");
            let mut conforming = Vec::new();
            let skip = answers.len() / 24 + 1;
            for (next, outputs) in answers.into_iter().skip(numbers.below(skip)).step_by(skip) {
                let mut checker = checker.clone();
                kinds.extend(outputs.iter().map(name));
                match checker.observe(&variant, &call, &outputs) {
                    Judgement::Conforms => conforming.push((next, outputs, checker)),
                    // It left out what it only should do.
                    Judgement::Found(it)
                        if it.clause.is_some_and(is_recommended)
                            && it.beside.is_none_or(is_recommended) =>
                    {
                        waived += 1;
                    }
                    other => panic!("seed {seed}: {run:#?} {call:?} {outputs:?}: {other:?}"),
                }
                judged += 1;
            }
            if conforming.is_empty() {
                break;
            }
            let (next, outputs, next_checker) = numbers.one(&conforming);
            most = most.max(next_checker.worlds().len());
            run.push((call, outputs.clone()));
            (world, checker, last) = (next, next_checker, outputs);
        }
    }
    println!("{judged} answers, {waived} without what they only should, {most} worlds at most");
    println!("{kinds:?}");
    // A conforming ledger of the spec puts out 18 kinds, and no audit.
    assert!(judged > 5_000 && kinds.len() == 18, "{kinds:?}");
}

fn is_recommended(clause: Clause) -> bool {
    CLAUSES[usize::from(clause.0)].level != Level::Must
}

/// The kind of an output.
fn name(output: &Output) -> String {
    let it = match output {
        Output::Append(it) => format!("{:?}", it.body),
        Output::Event(it) => format!("{:?}", it.what),
        other => format!("{other:?}"),
    };
    it.split(|it: char| !it.is_alphanumeric())
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn any_call_is_taken() {
    for seed in 1..=60 {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let bytes: Vec<u8> = (0..400).map(|_| numbers.below(256) as u8).collect();
        let mut bytes = Unstructured::new(&bytes);
        let mut checker = Checker::<PendingAction>::new(Account::default());
        let mut world = World::<PendingAction>::new(Account::default());
        while let (false, Ok(call)) = (bytes.is_empty(), Call::arbitrary(&mut bytes)) {
            let mut answer = None;
            world.answers(
                &Variant::default(),
                Freedom::Default,
                &call,
                |world, outputs| answer = Some((world, outputs)),
            );
            let (next, outputs) = answer.unwrap();
            assert_eq!(
                checker.observe(&Variant::default(), &call, &outputs),
                Judgement::Conforms,
                "{call:?}"
            );
            // Whatever comes, it is judged.
            if let Ok(output) = Output::arbitrary(&mut bytes) {
                let _ = checker
                    .clone()
                    .observe(&Variant::default(), &call, &[output]);
            }
            world = next;
        }
    }
}
