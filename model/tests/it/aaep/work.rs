//! Work beside questions: tools, output, handoff.
#![expect(clippy::too_many_lines, reason = "tables")]

use std::sync::Arc;

use countersign_model::aaep::alphabet::State::{
    AwaitingInput, CallingTool, HandingOff, Idle, Thinking, WritingOutput,
};
use countersign_model::aaep::alphabet::*;
use countersign_model::aaep::clauses::*;

use super::text::*;

const TASK: Name = 100;
const STREAM: Name = 120;

/// The tool of that number runs unasked.
pub fn task(number: Name) -> Task {
    Task {
        session: SESSION,
        action: (TASK + number).into(),
        tool: (110 + number).into(),
        summary: None,
        risk: None,
        irreversible: None,
        call: None,
        size: 100,
    }
}
fn tool(task: &Task) -> Op {
    Op::Tool(Arc::new(task.clone()))
}
fn invoked_as(number: Name, call: CallId) -> Output {
    emit(What::Invoked {
        call: Some(call),
        tool: 110 + number,
        risk: Risk::Low,
        irreversible: false,
    })
}
fn run_as(number: Name, call: CallId) -> Run {
    Run {
        session: SESSION,
        action: TASK + number,
        call,
        tool: Some(110 + number),
        token: None,
        modified: None,
    }
}
fn running(number: Name, call: CallId) -> Vec<Output> {
    vec![
        invoked_as(number, call),
        Output::Perform(run_as(number, call)),
    ]
}
fn done(number: Name, call: CallId, status: Status) -> Output {
    emit(What::Completed {
        call: Some(call),
        tool: 110 + number,
        status,
    })
}
/// One tool runs.
fn one_runs() -> Vec<Step> {
    with(
        started(),
        (
            at(0, tool(&task(0))),
            [vec![changed(Idle, CallingTool)], running(0, 0)].concat(),
        ),
    )
}
fn back(number: Name) -> Op {
    Op::FinishTool {
        session: SESSION,
        action: TASK + number,
        call: None,
        status: Status::Success,
    }
}
pub fn chunk(characters: u32, is_last: bool) -> Chunk {
    let text = Text {
        bytes: characters,
        ..121.into()
    };
    Chunk {
        session: SESSION,
        stream: STREAM.into(),
        text,
        characters,
        is_last,
        size: 100,
    }
}
fn write(chunk: &Chunk) -> Op {
    Op::Write(Arc::new(chunk.clone()))
}
fn written(position: i64, chunk: &Chunk) -> Output {
    let Chunk {
        stream,
        text,
        characters,
        is_last,
        ..
    } = *chunk;
    let stream = Some(stream.name);
    emit(What::Chunk(Written {
        stream,
        text: text.name,
        characters,
        position,
        is_last,
    }))
}
/// An output has begun.
fn begun() -> Vec<Step> {
    let first = chunk(8, false);
    with(
        started(),
        (
            at(0, write(&first)),
            vec![changed(Idle, WritingOutput), written(0, &first)],
        ),
    )
}
fn second(is_last: bool) -> Step {
    let second = chunk(3, is_last);
    (at(0, write(&second)), vec![written(8, &second)])
}
pub fn handoff() -> Handoff {
    Handoff {
        session: SESSION,
        reason: 131.into(),
        target: Target::Human,
        uri: None,
        size: 100,
    }
}
fn hand_off(handoff: &Handoff) -> Op {
    Op::HandOff(Arc::new(handoff.clone()))
}
fn handed_off_from(from: State) -> Step {
    let told = What::HandedOff {
        reason: 131,
        target: Target::Human,
        uri: None,
    };
    (
        at(0, hand_off(&handoff())),
        vec![changed(from, HandingOff), emit(told)],
    )
}
fn over() -> Vec<Step> {
    with(started(), handed_off_from(Idle))
}

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = |clause, name, (run, changed)| {
        rows.push(Row {
            clause,
            name,
            run,
            changed,
        });
    };
    row(
        C6_1,
        "a tool does not run",
        less(one_runs(), &running(0, 0)[1]),
    );
    row(
        C6_1,
        "a tool is refused",
        else_(one_runs(), vec![Output::Refused]),
    );
    row(
        A_3_2,
        "a tool is not told as invoked",
        less(one_runs(), &running(0, 0)[0]),
    );
    row(
        A_3_3,
        "a tool runs in another state",
        less(one_runs(), &changed(Idle, CallingTool)),
    );
    row(
        C6_1_1,
        "another tool runs",
        other(
            one_runs(),
            &running(0, 0)[1],
            &Output::Perform(Run {
                tool: Some(OTHER),
                ..run_as(0, 0)
            }),
        ),
    );
    row(
        EV_5,
        "a tool is rated otherwise",
        other(
            one_runs(),
            &running(0, 0)[0],
            &emit(What::Invoked {
                call: Some(0),
                tool: 110,
                risk: Risk::High,
                irreversible: false,
            }),
        ),
    );
    let finished = || {
        with(
            one_runs(),
            (
                at(0, back(0)),
                vec![done(0, 0, Status::Success), changed(CallingTool, Thinking)],
            ),
        )
    };
    row(
        A_3_1,
        "a tool does not complete",
        less(finished(), &done(0, 0, Status::Success)),
    );
    row(
        A_3_2,
        "a tool completes twice",
        more(
            with(finished(), nothing(0, Op::Tick)),
            &[done(0, 0, Status::Success)],
        ),
    );
    row(
        C6_9_2,
        "a tool runs twice",
        more(
            with(finished(), nothing(0, Op::Tick)),
            &[Output::Perform(run_as(0, 0))],
        ),
    );
    let asked_about = Task {
        action: ACTION.into(),
        ..task(0)
    };
    let rejected_one = || with(one(), rejected());
    row(
        C6_1_1,
        "what was asked about runs without its answer",
        else_(
            with(rejected_one(), refused(tool(&asked_about))),
            vec![
                changed(Thinking, CallingTool),
                invoked_as(0, 1),
                Output::Perform(Run {
                    action: ACTION,
                    ..run_as(0, 1)
                }),
            ],
        ),
    );
    let irreversible = Task {
        irreversible: Some(true),
        ..task(0)
    };
    let unasked = emit(What::Invoked {
        call: Some(0),
        tool: 110,
        risk: Risk::Low,
        irreversible: true,
    });
    row(
        A_7_4_1,
        "what cannot be undone runs unasked",
        else_(
            with(started(), refused(tool(&irreversible))),
            vec![
                changed(Idle, CallingTool),
                unasked.clone(),
                running(0, 0)[1].clone(),
            ],
        ),
    );
    row(
        A_7_4_1,
        "what cannot be undone is told as invoked",
        more(with(started(), nothing(0, Op::Tick)), &[unasked]),
    );
    let named = Task {
        call: Some(0.into()),
        ..task(1)
    };
    row(
        EV_13,
        "a call id is used again",
        else_(with(one_runs(), refused(tool(&named))), running(1, 0)),
    );
    row(
        EV_5,
        "a tool without a name",
        else_(
            with(
                started(),
                refused(tool(&Task {
                    tool: BLANK,
                    ..task(0)
                })),
            ),
            [
                vec![changed(Idle, CallingTool)],
                vec![
                    emit(What::Invoked {
                        call: Some(0),
                        tool: 50,
                        risk: Risk::Low,
                        irreversible: false,
                    }),
                    Output::Perform(Run {
                        tool: Some(50),
                        ..run_as(0, 0)
                    }),
                ],
            ]
            .concat(),
        ),
    );

    row(
        C6_1,
        "a chunk is not written",
        less(with(begun(), second(false)), &second(false).1[0]),
    );
    row(
        A_6_2,
        "a chunk stands elsewhere",
        else_(
            with(begun(), second(false)),
            vec![written(7, &chunk(3, false))],
        ),
    );
    row(
        A_6_2,
        "a chunk leaves a gap",
        else_(
            with(begun(), second(false)),
            vec![written(9, &chunk(3, false))],
        ),
    );
    row(
        A_6_1,
        "the last chunk is not told as such",
        else_(
            with(begun(), second(true)),
            vec![written(8, &chunk(3, false))],
        ),
    );
    row(
        EV_5,
        "another text is written",
        else_(
            with(begun(), second(false)),
            vec![written(
                8,
                &Chunk {
                    text: OTHER.into(),
                    ..chunk(3, false)
                },
            )],
        ),
    );
    let complete = || with(begun(), second(true));
    row(
        A_6_3,
        "a chunk behind the last",
        else_(
            with(complete(), refused(write(&chunk(2, false)))),
            vec![written(11, &chunk(2, false))],
        ),
    );
    row(
        A_6_3,
        "a chunk of its own behind the last",
        more(
            with(complete(), nothing(0, Op::Tick)),
            &[written(11, &chunk(2, true))],
        ),
    );
    row(
        A_6_2,
        "a chunk of its own elsewhere",
        more(
            with(begun(), nothing(0, Op::Tick)),
            &[written(3, &chunk(2, false))],
        ),
    );
    row(
        EV_5,
        "nothing is written",
        else_(
            with(started(), refused(write(&chunk(0, false)))),
            vec![written(0, &chunk(0, false))],
        ),
    );
    let completing = written(
        8,
        &Chunk {
            text: 5.into(),
            ..chunk(0, true)
        },
    );
    row(
        A_6_1,
        "an output stays open",
        less(
            with(begun(), ended(Outcome::Completed, vec![completing.clone()])),
            &completing,
        ),
    );

    let told = handed_off_from(Idle).1;
    row(C6_1, "nobody takes over", less(over(), &told[1]));
    row(
        A_2_3,
        "a session is handed off in another state",
        less(over(), &told[0]),
    );
    row(
        A_2_3,
        "a session is handed off unasked",
        more(with(started(), nothing(0, Op::Tick)), &told[1..]),
    );
    row(
        A_2_3,
        "a session that was handed off works on",
        else_(
            with(over(), refused(tool(&task(0)))),
            [vec![changed(HandingOff, CallingTool)], running(0, 0)].concat(),
        ),
    );
    row(
        A_2_3,
        "a question behind a handoff",
        else_(
            with(over(), refused(confirm(ask(0)))),
            vec![changed(HandingOff, AwaitingInput), asked(0, &ask(0))],
        ),
    );
    row(
        A_2_3,
        "a session is handed off while a tool runs",
        else_(
            with(one_runs(), refused(hand_off(&handoff()))),
            handed_off_from(CallingTool).1,
        ),
    );
    row(
        A_1_3,
        "a tool behind the end",
        else_(
            with(
                with(started(), ended(Outcome::Completed, vec![])),
                refused(tool(&task(0))),
            ),
            [vec![changed(Idle, CallingTool)], running(0, 0)].concat(),
        ),
    );
    rows
}

pub fn freedoms() -> Vec<(&'static str, Vec<Step>)> {
    let last = chunk(8, true);
    let blocked = |outputs| with(one(), (at(0, tool(&task(1))), outputs));
    let stays = vec![invoked_as(1, 1), Output::Perform(run_as(1, 1))];
    vec![
        (
            "a tool is not told of a risk, and comes back",
            with(
                one_runs(),
                (
                    at(0, back(0)),
                    vec![done(0, 0, Status::Success), changed(CallingTool, Thinking)],
                ),
            ),
        ),
        (
            "the host names the call",
            with(
                started(),
                (
                    at(
                        0,
                        tool(&Task {
                            call: Some(9.into()),
                            ..task(0)
                        }),
                    ),
                    [vec![changed(Idle, CallingTool)], running(0, 9)].concat(),
                ),
            ),
        ),
        (
            "a tool runs while a question is open",
            blocked(stays.clone()),
        ),
        (
            "a tool runs in its state while a question is open",
            blocked(
                [
                    vec![changed(AwaitingInput, CallingTool)],
                    stays,
                    vec![changed(CallingTool, AwaitingInput)],
                ]
                .concat(),
            ),
        ),
        (
            "a tool waits until a question is answered",
            blocked(vec![Output::Refused]),
        ),
        (
            "a tool is in doubt",
            with(
                one_runs(),
                restarted(1, vec![Output::InDoubt(run_as(0, 0))]),
            ),
        ),
        (
            "a tool completes with its session",
            with(
                one_runs(),
                ended(Outcome::Completed, vec![done(0, 0, Status::Error)]),
            ),
        ),
        (
            "an output is written at once",
            with(
                started(),
                (
                    at(0, write(&last)),
                    vec![
                        changed(Idle, WritingOutput),
                        written(0, &last),
                        changed(WritingOutput, Thinking),
                    ],
                ),
            ),
        ),
        (
            "an output is written in any state",
            with(started(), (at(0, write(&last)), vec![written(0, &last)])),
        ),
        (
            "an output completes with its session",
            with(
                begun(),
                ended(
                    Outcome::Errored,
                    vec![written(
                        8,
                        &Chunk {
                            text: 7.into(),
                            ..chunk(2, true)
                        },
                    )],
                ),
            ),
        ),
        (
            "an output of its own",
            with(
                with(
                    started(),
                    (at(0, Op::Tick), vec![written(0, &chunk(4, false))]),
                ),
                (at(0, Op::Tick), vec![written(4, &chunk(2, true))]),
            ),
        ),
        (
            "a cancelled session leaves its output",
            with(begun(), ended(Outcome::Cancelled, vec![])),
        ),
        (
            "what was handed off ends",
            with(over(), ended(Outcome::Completed, vec![])),
        ),
        (
            "a lost chunk comes again",
            with(begun(), restarted(1, vec![written(0, &chunk(8, false))])),
        ),
    ]
}
