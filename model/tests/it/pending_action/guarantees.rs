//! Of each guarantee of pending actions a history that breaks it, and a twin that breaks none.
#![expect(clippy::too_many_lines, reason = "a table of histories")]
use std::sync::Arc;

use countersign_model::engine::model::Statement;
use countersign_model::pending_action::alphabet::*;
use countersign_model::pending_action::guarantees::{GUARANTEES, History, WITNESSES};
use smallvec::smallvec;

/// The time, what is asked, what is put out, and how much of it is lost.
type Step = (Time, Op, Vec<Output>, usize);

const AGENT: Name = 1;
const ANA: Name = 2;
const ARGUMENTS: Value = Value {
    bytes: 10,
    meaning: Some(10),
};
const RESPELT: Value = Value {
    bytes: 11,
    meaning: Some(10),
};
const OTHERS: Value = Value {
    bytes: 12,
    meaning: Some(12),
};

fn proposal() -> Proposal {
    Proposal {
        agent: AGENT.into(),
        session: 1.into(),
        run: 5.into(),
        tool: 6.into(),
        arguments: Arguments {
            value: ARGUMENTS,
            size: 8,
            levels: 1,
        },
        effect: Effect::Destructive,
        summary: 7.into(),
        label: 8.into(),
        expires_at: Some(9),
        deciders: Some(smallvec![ANA.into()]),
        idempotent: false,
    }
}
fn record(it: &Proposal, nonce: Nonce) -> Record {
    Record {
        nonce: Some(nonce),
        agent: it.agent.name,
        session: it.session.name,
        run: it.run.name,
        tool: it.tool.name,
        arguments: it.arguments.value,
        effect: it.effect,
        summary: it.summary.name,
        label: it.label.name,
        expires_at: it.expires_at,
        deciders: it
            .deciders
            .as_ref()
            .map(|it| it.iter().map(|it| it.name).collect()),
        idempotent: it.idempotent,
    }
}
fn append(body: Body) -> Output {
    Output::Append(Message {
        id: Id::Fresh,
        session: Some(1),
        body,
    })
}
fn event(action: ActionId, what: What) -> Output {
    Output::Event(Event {
        id: Id::Fresh,
        action,
        at: 0,
        what,
    })
}
fn again(output: &Output) -> Output {
    output.with_id(Id::Again).expect("it has an id")
}
fn created(action: ActionId, record: Record) -> Output {
    event(action, What::Created(Arc::new(record)))
}
fn asks(action: ActionId, it: Proposal) -> Step {
    let prompt = append(Body::ConfirmationRequest {
        text: it.summary.name,
        label: it.label.name,
    });
    let outputs = vec![prompt, created(action, record(&it, action))];
    (0, Op::Propose(Arc::new(it)), outputs, 0)
}
fn asked() -> Step {
    asks(0, proposal())
}
fn asked_idempotent() -> Step {
    asks(
        0,
        Proposal {
            idempotent: true,
            ..proposal()
        },
    )
}
fn decide(decision: Decision) -> Decide {
    Decide {
        action: 0,
        nonce: None,
        decision,
        by: ANA.into(),
        arguments: None,
    }
}
fn decided(decision: Decision) -> Output {
    event(
        0,
        What::Decided {
            decision,
            by: Some(ANA),
        },
    )
}
fn called(arguments: Value) -> Output {
    append(Body::ToolCall {
        action: 0,
        tool: 6,
        arguments,
    })
}
fn runs(arguments: Value) -> Output {
    Output::Perform {
        action: 0,
        tool: 6,
        arguments,
    }
}
fn running() -> Vec<Output> {
    vec![decided(Decision::Allow), called(ARGUMENTS), runs(ARGUMENTS)]
}
fn refusing() -> Vec<Output> {
    let by = Some(ANA);
    vec![
        decided(Decision::Deny),
        append(Body::DeniedResult {
            action: 0,
            tool: 6,
            by: ANA,
        }),
        event(0, What::Denied { by }),
    ]
}
fn allowed() -> Step {
    (1, Op::Decide(decide(Decision::Allow)), running(), 0)
}
fn denied() -> Step {
    (1, Op::Decide(decide(Decision::Deny)), refusing(), 0)
}
fn expired() -> Step {
    (9, Op::Tick, vec![event(0, What::Expired)], 0)
}
/// A decision at the very instant of the expiry: by one reading it is too late, by another it is not.
fn at_the_instant(outputs: Vec<Output>) -> Step {
    (9, Op::Decide(decide(Decision::Allow)), outputs, 0)
}
/// A proposal that never expires: by one reading it is refused.
fn open_end() -> Proposal {
    Proposal {
        expires_at: None,
        ..proposal()
    }
}
/// A proposal that names no deciders: by one reading nobody may decide.
fn anybodys() -> Proposal {
    Proposal {
        deciders: None,
        ..proposal()
    }
}
fn taken_back() -> Step {
    (
        1,
        Op::Cancel(0),
        vec![event(0, What::Cancelled { reason: None })],
        0,
    )
}
fn ended() -> Step {
    (
        1,
        Op::EndSession(1.into()),
        vec![event(
            0,
            What::Cancelled {
                reason: Some(Reason::SessionEnded),
            },
        )],
        0,
    )
}
fn told(status: Status) -> Vec<Output> {
    let event = event(
        0,
        if status == Status::NotRun {
            What::NotRun
        } else {
            What::Executed {
                status,
                result: None,
            }
        },
    );
    vec![
        append(Body::ToolResult {
            action: 0,
            tool: 6,
            status,
            result: OTHERS,
        }),
        event,
    ]
}
fn finish(status: Status, outputs: Vec<Output>) -> Step {
    (
        2,
        Op::FinishTool {
            action: 0,
            status,
            result: Some(OTHERS),
        },
        outputs,
        0,
    )
}
fn back(outputs: Vec<Output>) -> Step {
    (2, Op::Restart(Lost::Outputs(smallvec![])), outputs, 0)
}
fn with(step: Step, outputs: Vec<Output>) -> Step {
    (step.0, step.1, outputs, step.3)
}
fn by(who: Name, outputs: Vec<Output>) -> Step {
    (
        1,
        Op::Decide(Decide {
            by: who.into(),
            ..decide(Decision::Allow)
        }),
        outputs,
        0,
    )
}
fn shown(nonce: Nonce, outputs: Vec<Output>) -> Step {
    (
        1,
        Op::Decide(Decide {
            nonce: Some(nonce),
            ..decide(Decision::Allow)
        }),
        outputs,
        0,
    )
}
fn approving(arguments: Value, outputs: Vec<Output>) -> Step {
    (
        1,
        Op::Decide(Decide {
            arguments: Some(arguments),
            ..decide(Decision::Allow)
        }),
        outputs,
        0,
    )
}
fn says(outputs: Vec<Output>) -> Step {
    (
        1,
        Op::Say {
            by: ANA.into(),
            text: 20.into(),
        },
        outputs,
        0,
    )
}
fn said() -> Output {
    append(Body::UserMessage { by: ANA, text: 20 })
}
fn snapshot() -> Step {
    (0, Op::Snapshot, vec![Output::Snapshot(0)], 0)
}
fn rollback(id: SnapshotId) -> Step {
    (2, Op::Rollback(id), vec![], 0)
}
fn late(outputs: Vec<Output>) -> Step {
    (3, Op::Decide(decide(Decision::Allow)), outputs, 0)
}

fn see(steps: &[Step]) -> History {
    let mut history = History::default();
    for (now, op, outputs, lost) in steps {
        history.see(
            &Call {
                now: *now,
                op: op.clone(),
            },
            outputs,
            *lost,
        );
    }
    history
}
fn broken(steps: &[Step]) -> Vec<&'static str> {
    let history = see(steps);
    GUARANTEES
        .iter()
        .filter(|it| !(it.holds)(&history))
        .map(|it| it.name)
        .collect()
}

/// A guarantee, a history that breaks it, and one that breaks none.
fn rows() -> Vec<(&'static str, Vec<Step>, Vec<Step>)> {
    let run = || vec![runs(ARGUMENTS)];
    let swapped = || {
        let mut outputs = running();
        outputs.swap(0, 2);
        outputs
    };
    let other_session = Output::Append(Message {
        id: Id::Fresh,
        session: Some(2),
        body: Body::ExpiredResult { action: 0, tool: 6 },
    });
    let doubled = || [running(), vec![decided(Decision::Allow)]].concat();
    let lost: Vec<Output> = refusing().split_off(1);
    let crash = || (1, Op::Decide(decide(Decision::Deny)), refusing(), 2);
    let retell = |outputs| {
        (
            1,
            Op::Restart(Lost::Outputs(lost.iter().cloned().collect())),
            outputs,
            0,
        )
    };
    let blank = Proposal {
        summary: Text {
            is_blank: true,
            ..7.into()
        },
        ..proposal()
    };
    vec![
        (
            "nothing with an effect runs that nobody allowed",
            vec![asked(), (1, Op::Tick, run(), 0)],
            vec![asked(), allowed()],
        ),
        (
            "nothing runs again, but for an idempotent call in doubt",
            vec![asked(), allowed(), back(run())],
            vec![asked_idempotent(), allowed(), back(run())],
        ),
        (
            "nothing runs again, but for an idempotent call in doubt",
            vec![
                asked_idempotent(),
                allowed(),
                back(vec![Output::InDoubt(0)]),
                (3, Op::Tick, run(), 0),
            ],
            vec![
                asked_idempotent(),
                allowed(),
                back(vec![Output::InDoubt(0)]),
                back(run()),
            ],
        ),
        (
            "nothing runs that was denied",
            vec![asked(), denied(), late(running())],
            vec![asked(), denied(), late(vec![Output::Audit])],
        ),
        (
            "nothing runs that has expired",
            vec![
                asked(),
                (10, Op::Decide(decide(Decision::Allow)), running(), 0),
            ],
            vec![asked(), at_the_instant(running())],
        ),
        (
            "nothing runs that has expired",
            vec![asked(), expired(), late(running())],
            vec![asked(), expired(), late(vec![])],
        ),
        (
            "nothing runs that was taken back, or whose session ended first",
            vec![asked(), taken_back(), late(running())],
            vec![asked(), taken_back(), late(vec![])],
        ),
        (
            "nothing runs that was taken back, or whose session ended first",
            vec![
                asked_idempotent(),
                allowed(),
                with(ended(), vec![]),
                back(run()),
            ],
            vec![
                asked_idempotent(),
                allowed(),
                with(ended(), vec![]),
                back(vec![Output::InDoubt(0)]),
            ],
        ),
        (
            "a rollback makes nothing run again, and nothing that is over",
            vec![asked(), snapshot(), denied(), rollback(0), late(running())],
            vec![asked(), snapshot(), rollback(0), late(running())],
        ),
        (
            "a rollback makes nothing run again, and nothing that is over",
            vec![asked(), snapshot(), allowed(), rollback(0), late(running())],
            vec![asked(), snapshot(), allowed(), rollback(0), late(vec![])],
        ),
        (
            "what runs is what was proposed",
            vec![
                asked(),
                with(
                    allowed(),
                    vec![decided(Decision::Allow), called(ARGUMENTS), runs(OTHERS)],
                ),
            ],
            vec![
                asked(),
                with(
                    allowed(),
                    vec![decided(Decision::Allow), called(ARGUMENTS), runs(RESPELT)],
                ),
            ],
        ),
        (
            "what is recorded is what was proposed",
            vec![with(
                asked(),
                vec![created(
                    0,
                    Record {
                        deciders: None,
                        ..record(&proposal(), 0)
                    },
                )],
            )],
            vec![with(
                asked(),
                vec![created(
                    0,
                    Record {
                        arguments: RESPELT,
                        ..record(&proposal(), 0)
                    },
                )],
            )],
        ),
        (
            "what is shown is the summary and the label that were proposed",
            vec![with(
                asked(),
                vec![
                    append(Body::ConfirmationRequest { text: 7, label: 9 }),
                    created(0, record(&proposal(), 0)),
                ],
            )],
            vec![with(asked(), vec![created(0, record(&proposal(), 0))])],
        ),
        (
            "what is recorded can be read, decided and run, and its session is not over",
            vec![asks(0, blank.clone())],
            vec![with(asks(0, blank), vec![Output::Refused])],
        ),
        (
            "what is recorded can be read, decided and run, and its session is not over",
            vec![with(ended(), vec![]), asked()],
            vec![with(ended(), vec![]), with(asked(), vec![Output::Refused])],
        ),
        (
            "what can be asked is asked",
            vec![with(asked(), vec![Output::Refused])],
            vec![with(asks(0, open_end()), vec![Output::Refused])],
        ),
        (
            "a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing",
            vec![asked(), by(3, running())],
            vec![asked(), by(3, vec![Output::Audit])],
        ),
        (
            "a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing",
            vec![asks(0, anybodys()), by(AGENT, running())],
            vec![asks(0, anybodys()), allowed()],
        ),
        (
            "a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing",
            vec![asked(), shown(7, running())],
            vec![asked(), shown(0, running())],
        ),
        (
            "a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing",
            vec![asked(), approving(OTHERS, running())],
            vec![asked(), approving(RESPELT, running())],
        ),
        (
            "a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing",
            vec![snapshot(), rollback(1)],
            vec![snapshot(), rollback(0)],
        ),
        (
            "free text decides nothing",
            vec![asked(), says(running())],
            vec![asked(), says(vec![said()])],
        ),
        (
            "who may decide, take back, end or report is heard",
            vec![asked(), by(ANA, vec![])],
            vec![asked(), by(ANA, running())],
        ),
        (
            "who may decide, take back, end or report is heard",
            vec![asked(), by(ANA, vec![])],
            vec![asked(), at_the_instant(vec![])],
        ),
        (
            "who may decide, take back, end or report is heard",
            vec![asked(), by(ANA, vec![])],
            vec![asks(0, anybodys()), by(ANA, vec![])],
        ),
        (
            "who may decide, take back, end or report is heard",
            vec![
                asked(),
                allowed(),
                finish(Status::Error, vec![Output::Refused]),
            ],
            vec![
                asked(),
                allowed(),
                finish(Status::Error, told(Status::Error)),
                finish(Status::Error, vec![Output::Refused]),
            ],
        ),
        (
            "what was allowed runs, and is in doubt or runs again behind a crash",
            vec![
                asked(),
                with(allowed(), vec![decided(Decision::Allow), called(ARGUMENTS)]),
            ],
            vec![
                asked(),
                allowed(),
                finish(Status::NotRun, told(Status::NotRun)),
            ],
        ),
        (
            "what was allowed runs, and is in doubt or runs again behind a crash",
            vec![asked(), allowed(), back(vec![])],
            vec![asked(), allowed(), back(vec![Output::InDoubt(0)])],
        ),
        (
            "created, decided, denied and executed are told",
            vec![asked(), with(denied(), refusing().split_off(1))],
            vec![asked(), denied()],
        ),
        (
            "a question that expires or is taken back does not vanish",
            vec![asked(), (10, Op::Tick, vec![], 0)],
            vec![
                asked(),
                with(
                    expired(),
                    vec![append(Body::ExpiredResult { action: 0, tool: 6 })],
                ),
            ],
        ),
        (
            "a question that expires or is taken back does not vanish",
            vec![asked(), with(ended(), vec![])],
            vec![asked(), ended()],
        ),
        (
            "nothing is told that has not happened, or of another",
            vec![
                asked(),
                allowed(),
                finish(Status::Error, told(Status::Success)),
            ],
            vec![
                asked(),
                allowed(),
                finish(Status::Error, told(Status::Error)),
            ],
        ),
        (
            "nothing is told that has not happened, or of another",
            vec![asked(), with(expired(), vec![other_session])],
            vec![asked(), expired()],
        ),
        (
            "nothing is told twice",
            vec![asked(), with(allowed(), doubled())],
            vec![asked(), allowed()],
        ),
        (
            "a decision is told before what comes of it",
            vec![asked(), with(allowed(), swapped())],
            vec![asked(), allowed()],
        ),
        (
            "the transcript has the call that was allowed and its result",
            vec![
                asked(),
                with(allowed(), vec![decided(Decision::Allow), runs(ARGUMENTS)]),
            ],
            vec![asked(), allowed()],
        ),
        (
            "the transcript has the denial",
            vec![
                asked(),
                with(denied(), vec![refusing()[0].clone(), refusing()[2].clone()]),
            ],
            vec![asked(), denied()],
        ),
        (
            "no id or nonce is given twice",
            vec![
                asked(),
                with(
                    asks(1, proposal()),
                    vec![created(0, record(&proposal(), 1))],
                ),
            ],
            vec![asked(), asks(1, proposal())],
        ),
        (
            "no id or nonce is given twice",
            vec![
                asked(),
                with(
                    asks(1, proposal()),
                    vec![created(1, record(&proposal(), 0))],
                ),
            ],
            vec![
                asked(),
                with(
                    asks(1, proposal()),
                    vec![created(
                        1,
                        Record {
                            nonce: None,
                            ..record(&proposal(), 0)
                        },
                    )],
                ),
            ],
        ),
        (
            "nothing that was told is lost in a crash",
            vec![asked(), crash(), retell(vec![again(&lost[1])])],
            vec![
                asked(),
                crash(),
                retell(vec![again(&lost[0]), Output::Audit, again(&lost[1])]),
            ],
        ),
    ]
}

#[test]
fn each_guarantee_is_broken_by_its_history_and_by_no_twin() {
    let mut failed = Vec::new();
    for (name, wrong, right) in rows() {
        if !broken(&wrong).contains(&name) {
            failed.push(format!("not broken: {name}"));
        }
        failed.extend(
            broken(&right)
                .iter()
                .map(|it| format!("the twin of {name} breaks: {it}")),
        );
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn no_guarantee_is_without_a_row() {
    let has_row = |it: &&Statement<History>| rows().iter().any(|(name, ..)| *name == it.name);
    assert_eq!(GUARANTEES.iter().filter(has_row).count(), GUARANTEES.len());
    assert!(GUARANTEES.len() <= 30 && WITNESSES.len() <= 20);
}

#[test]
fn a_lost_release_did_not_run() {
    let (now, op, outputs, _) = allowed();
    let lost = Op::Restart(Lost::Outputs(smallvec![runs(ARGUMENTS)]));
    let steps = [
        asked(),
        (now, op, outputs, 1),
        (2, lost, vec![Output::InDoubt(0)], 0),
    ];
    assert_eq!(broken(&steps), Vec::<&str>::new());
    let shows = |name| {
        WITNESSES
            .iter()
            .any(|it| it.name == name && (it.holds)(&see(&steps)))
    };
    assert!(shows("a call that did not run is in doubt") && !shows("a call that ran is in doubt"));
}

#[test]
fn of_what_is_over_only_the_end_is_kept() {
    let other = || Proposal {
        tool: 60.into(),
        expires_at: None,
        ..proposal()
    };
    let later = || {
        with(
            denied(),
            vec![
                decided(Decision::Deny),
                append(Body::DeniedResult {
                    action: 0,
                    tool: 60,
                    by: ANA,
                }),
                event(0, What::Denied { by: None }),
            ],
        )
    };
    assert_eq!(see(&[asked(), denied()]), see(&[asks(0, other()), later()]));
}
