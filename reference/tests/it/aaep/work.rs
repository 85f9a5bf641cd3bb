//! What a session does beside its questions: tools that need none, output, and a handoff.

use std::sync::Arc;

use countersign_reference::aaep::{
    Chunk, Decision, Field, Handoff, Input, Output, Producer, Refusal, RiskLevel, Run,
    SessionOutcome, TargetKind, ToolCallId, ToolStatus,
};
use serde_json::{Value, json};

use crate::aaep::stage::{
    DEADLINE, Stage, action_id, ask, ask_accepting, cancel, chunk, clarify, end, finish, handoff,
    last_chunk, out_of_range, run, run_as, session, start, tell,
};

const OUTCOMES: [SessionOutcome; 3] = [
    SessionOutcome::Completed,
    SessionOutcome::Errored,
    SessionOutcome::Cancelled,
];

const NOTHING: [&str; 0] = [];

/// A text of that many bytes.
fn bytes(count: usize) -> Arc<str> {
    "x".repeat(count).into()
}

/// The inputs that begin something in `sess_a`.
fn beginnings() -> [Input; 5] {
    [
        Input::Confirm(ask("new")),
        Input::Clarify(clarify("New?")),
        Input::Tool(run("new")),
        Input::Output(chunk("new", "x")),
        Input::Handoff(handoff()),
    ]
}

/// The ids of the calls that these outputs release.
fn released(outputs: &[Output]) -> Vec<String> {
    let outputs = serde_json::to_value(outputs).expect("serialises");
    let outputs = outputs.as_array().expect("a list").iter();
    outputs
        .filter_map(|output| output["perform"]["tool_call_id"].as_str())
        .map(str::to_owned)
        .collect()
}

/// That call of an action comes back.
fn finish_call(action: &str, tool_call_id: &str) -> Input {
    Input::FinishTool {
        session_id: session("sess_a"),
        action: action_id(action),
        tool_call_id: Some(ToolCallId::parse(tool_call_id).expect("an id")),
        status: ToolStatus::Success,
    }
}

// Tools that need no question.

/// AAEP-6.1-4, AAEP-A.3-1, AAEP-A.3-3: it runs at once, and the state says so until it has come back.
#[test]
fn a_tool_that_needs_no_question_runs_at_once() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.does(Input::Tool(run("r1"))),
        [
            "state.changed Idle>CallingTool",
            "tool.invoked",
            "perform sess_a r1"
        ]
    );
    assert_eq!(
        stage.does(finish("r1")),
        [
            "tool.completed Success",
            "state.changed CallingTool>Thinking"
        ]
    );
    assert_eq!(stage.refuses(finish("r1")), Refusal::NothingToFinish);
}

/// AAEP-A.3-1, AAEP-EV-5: what it is called with, how much harm it can do, and no token.
#[test]
fn a_tool_that_needs_no_question_says_what_it_does() {
    let mut stage = Stage::new();
    let outputs = stage.outputs(Input::Tool(Run {
        args_summary: Some("the balance".into()),
        risk_level: RiskLevel::Medium,
        ..run_as("r1", "c")
    }));
    let outputs = serde_json::to_value(outputs).expect("serialises");
    let event = &outputs[1]["emit"];
    for (field, value) in [
        ("type", json!("aaep:agent.tool.invoked")),
        ("urgency", json!("normal")),
        ("tool", json!("look_up")),
        ("tool_call_id", json!("c")),
        ("args_summary", json!("the balance")),
        ("risk_level", json!("medium")),
        ("irreversible", json!(false)),
        ("extensions", Value::Null),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
    assert_eq!(
        outputs[2]["perform"],
        json!({"session_id": "sess_a", "action": "r1", "tool": "look_up", "tool_call_id": "c"})
    );
}

/// AAEP-A.3-4, AAEP-A.3-3: several run at a time, of one action too, and the one that was invoked first comes back first.
#[test]
fn an_action_may_run_again_while_it_runs() {
    let mut stage = Stage::new();
    stage.does(Input::Tool(run_as("r1", "z")));
    assert_eq!(
        stage.does(Input::Tool(run_as("r1", "y"))),
        ["tool.invoked", "perform sess_a r1"]
    );
    stage.does(Input::Tool(run_as("r1", "x")));
    assert_eq!(
        stage.does(finish_call("r1", "y")),
        ["tool.completed Success"]
    );
    let completed = serde_json::to_value(stage.outputs(finish("r1"))).expect("serialises");
    assert_eq!(completed[0]["emit"]["tool_call_id"], "z");
    assert_eq!(
        stage.refuses(finish_call("r1", "y")),
        Refusal::NothingToFinish
    );
    assert_eq!(
        stage.refuses(finish_call("r2", "x")),
        Refusal::NothingToFinish
    );
    assert_eq!(
        stage.does(finish("r1")),
        [
            "tool.completed Success",
            "state.changed CallingTool>Thinking"
        ]
    );
}

/// AAEP-A.7.4-1, AAEP-A.8-4: what cannot be undone is asked about.
#[test]
fn an_irreversible_action_does_not_run_unasked() {
    let irreversible = Run {
        irreversible: true,
        ..run("r1")
    };
    let refused = Stage::new().refuses(Input::Tool(irreversible));
    assert_eq!(refused, Refusal::IrreversibleUnasked);
}

/// AAEP-6.1-1, AAEP-A.4-4, AAEP-A.8-5: whatever was decided about it, the answer alone runs it. In another session it is another
/// action.
#[test]
fn an_action_that_was_asked_about_does_not_run_unasked() {
    let run_again = || Input::Tool(run("a1"));
    let mut pending = Stage::new();
    let token = pending.asks(ask("a1"));
    assert_eq!(pending.refuses(run_again()), Refusal::ActionUnanswered);

    let mut rejected = pending.clone();
    rejected.replies(&token, Decision::Reject);
    let mut accepted = pending.clone();
    accepted.replies(&token, Decision::Accept);
    let mut finished = accepted.clone();
    finished.does(finish("a1"));
    let mut cancelled = pending.clone();
    cancelled.does(cancel(&token));
    let mut timed_out = pending.clone();
    timed_out.now = DEADLINE;
    timed_out.does(Input::Tick);
    for stage in [rejected, accepted, finished, cancelled, timed_out] {
        for mut stage in [stage.stored_and_read_back(), stage] {
            assert_eq!(stage.refuses(run_again()), Refusal::ActionAsked);
            stage.does(Input::Tool(run("a2")));
            stage.does(start("sess_b"));
            stage.does(Input::Tool(Run {
                session_id: session("sess_b"),
                ..run("a1")
            }));
        }
    }
}

/// AAEP-6.1-1, AAEP-6.4-1: what falls due comes first. Silence rejects in the very moment in which it is to run unasked.
#[test]
fn what_is_due_is_settled_before_a_tool_runs() {
    for (now, refusal) in [
        (DEADLINE - 1, Refusal::ActionUnanswered),
        (DEADLINE, Refusal::ActionAsked),
        (DEADLINE + 1, Refusal::ActionAsked),
    ] {
        let mut stage = Stage::new();
        stage.asks(ask("a1"));
        stage.now = now;
        stage.does(Input::Tick);
        assert_eq!(stage.refuses(Input::Tool(run("a1"))), refusal);
    }
}

/// AAEP-A.3-4, AAEP-6.1-6: what ran unasked may be asked about, and the run that is older comes back first.
#[test]
fn an_action_that_ran_unasked_may_be_asked_about() {
    let mut stage = Stage::new();
    stage.does(Input::Tool(run_as("r1", "z")));
    let token = stage.asks(ask("r1"));
    stage.replies(&token, Decision::Accept);
    let completed = [finish("r1"), finish("r1")].map(|input| {
        let outputs = serde_json::to_value(stage.outputs(input)).expect("serialises");
        outputs[0]["emit"]["tool_call_id"].clone()
    });
    assert_eq!(completed, ["z", "call_0"]);
}

/// AAEP-A.3-1, AAEP-EV-13: no two calls of a session have the same id, whoever chose it, and however they came out.
#[test]
fn the_id_of_a_call_is_used_once_in_its_session() {
    let mut stage = Stage::new();
    stage.does(Input::Tool(run_as("r1", "c")));
    let token = stage.asks(ask("a1"));
    for id in ["c", "call_0"] {
        let again = || Input::Tool(run_as("r2", id));
        assert_eq!(stage.refuses(again()), Refusal::ToolCallIdUsed);
    }
    stage.does(finish("r1"));
    stage.replies(&token, Decision::Reject);
    let mut stage = stage.stored_and_read_back();
    for id in ["c", "call_0"] {
        let again = || Input::Tool(run_as("r2", id));
        assert_eq!(stage.refuses(again()), Refusal::ToolCallIdUsed);
    }
    stage.does(start("sess_b"));
    stage.does(Input::Tool(Run {
        session_id: session("sess_b"),
        ..run_as("r1", "c")
    }));
}

/// AAEP-EV-13: the producer's own ids go around those that the host has used.
#[test]
fn an_id_of_the_producer_is_none_that_the_host_has_used() {
    let mut stage = Stage::new();
    for id in ["call_0", "call_0_1", "call_1_1", "run_4", "run_7"] {
        stage.does(Input::Tool(run_as("r1", id)));
    }
    let own: Vec<_> = (0..4)
        .flat_map(|_| released(&stage.outputs(Input::Tool(run("r1")))))
        .collect();
    assert_eq!(own, ["run_5", "run_6", "run_8", "run_9"]);
    for action in ["a1", "a2"] {
        stage.asks(ask(action));
    }
    let ids = stage.producer.confirmations().iter();
    let ids: Vec<_> = ids.map(|it| it.question.tool_call_id.as_str()).collect();
    assert_eq!(ids, ["call_0_2", "call_1"]);
    stage.stored_and_read_back();
}

/// AAEP-EV-5, AAEP-EV-10: its texts say something, and not too much.
#[test]
fn the_texts_of_a_tool_have_a_length() {
    for (length, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (16_383, true),
        (16_384, true),
        (16_385, false),
    ] {
        let runs = [
            Run {
                tool: bytes(length),
                ..run("r1")
            },
            Run {
                args_summary: Some(bytes(length)),
                ..run("r1")
            },
        ];
        for (run, field) in runs.into_iter().zip([Field::Tool, Field::ArgsSummary]) {
            let run = Input::Tool(run);
            if fits {
                Stage::new().does(run);
            } else {
                assert_eq!(Stage::new().refuses(run), out_of_range(field, length));
            }
        }
    }
}

/// AAEP-A.2-2, AAEP-6.1-4: while a question is open the state stays `awaiting_input`; AAEP-A.3-3: and goes to `calling_tool` when it
/// is resolved.
#[test]
fn a_tool_runs_beside_an_open_question() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    assert_eq!(
        stage.does(Input::Tool(run("r1"))),
        ["tool.invoked", "perform sess_a r1"]
    );
    let mut finished = stage.clone();
    assert_eq!(finished.does(finish("r1")), ["tool.completed Success"]);
    assert_eq!(
        stage.replies(&token, Decision::Reject),
        [
            "respond 204",
            "state.changed AwaitingInput>Thinking (a1 Rejected)",
            "state.changed Thinking>CallingTool"
        ]
    );
    assert_eq!(
        stage.does(finish("r1")),
        [
            "tool.completed Success",
            "state.changed CallingTool>Thinking"
        ]
    );
}

/// AAEP-A.3-3: the state stays `calling_tool` until the last tool has come back, confirmed or not.
#[test]
fn the_state_is_calling_tool_until_the_last_tool_has_come_back() {
    for order in [["r1", "a1"], ["a1", "r1"]] {
        let mut stage = Stage::new();
        let token = stage.asks(ask("a1"));
        stage.replies(&token, Decision::Accept);
        stage.does(Input::Tool(run("r1")));
        assert_eq!(stage.does(finish(order[0])), ["tool.completed Success"]);
        assert_eq!(
            stage.does(finish(order[1])),
            [
                "tool.completed Success",
                "state.changed CallingTool>Thinking"
            ]
        );
    }
}

/// AAEP-6.1-1: after a crash it is in doubt, and does not run again. AAEP-A.3-2: its completion can still be told.
#[test]
fn a_tool_in_flight_is_in_doubt_after_a_crash() {
    let mut stage = Stage::new();
    stage.does(start("sess_b"));
    stage.does(Input::Tool(run("r2")));
    let token = stage.asks(ask_accepting("a1"));
    stage.replies(&token, Decision::Accept);
    stage.does(Input::Tool(Run {
        session_id: session("sess_b"),
        ..run("r3")
    }));
    let lost = stage.outputs(Input::Tool(run("r1")));
    let mut stage = stage.stored_and_read_back();
    assert_eq!(
        stage.does(Input::Restart { lost }),
        [
            "tool.invoked",
            "in doubt sess_a r2",
            "in doubt sess_a r1",
            "in doubt sess_b r3",
            "in doubt sess_a a1",
        ]
    );
    assert_eq!(stage.does(finish("r1")), ["tool.completed Success"]);
    assert_eq!(
        stage.does(Input::Restart { lost: Vec::new() }),
        [
            "in doubt sess_a r2",
            "in doubt sess_b r3",
            "in doubt sess_a a1"
        ]
    );
}

/// AAEP-A.3-1, AAEP-6.8-2: the end of a session withdraws what has not come back; one that is not cancelled also completes it.
#[test]
fn the_end_of_a_session_withdraws_the_tools_that_needed_no_question() {
    for outcome in OUTCOMES {
        let mut stage = Stage::new();
        let token = stage.asks(ask("a1"));
        stage.replies(&token, Decision::Accept);
        for action in ["r2", "r1"] {
            stage.does(Input::Tool(run(action)));
        }
        let ended = stage.does(end(outcome));
        let withdrawn = ["r2", "r1", "a1"].map(|action| format!("withdraw sess_a {action}"));
        assert_eq!(ended[..3], withdrawn);
        let completed = match outcome {
            SessionOutcome::Completed | SessionOutcome::Errored => 3,
            SessionOutcome::Cancelled => 0,
        };
        assert_eq!(ended[3..].len(), completed + 1);
        for told in &ended[3..3 + completed] {
            assert_eq!(told, "tool.completed Error");
        }
        assert_eq!(stage.refuses(finish("r1")), Refusal::NothingToFinish);
        let mut stage = stage.stored_and_read_back();
        assert_eq!(stage.does(Input::Restart { lost: Vec::new() }), NOTHING);
    }
}

// Output.

/// AAEP-A.6-1, AAEP-A.6-2, AAEP-A.6-3: in chunks, each behind those before it, until the last.
#[test]
fn an_output_is_put_out_in_chunks() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.does(Input::Output(chunk("o1", "Über "))),
        [
            "state.changed Idle>WritingOutput",
            "output.streaming o1 \"Über \" at 0"
        ]
    );
    assert_eq!(
        stage.does(Input::Output(chunk("o1", "😀"))),
        ["output.streaming o1 \"😀\" at 5"]
    );
    assert_eq!(
        stage.does(Input::Output(chunk("o1", "e\u{301}"))),
        ["output.streaming o1 \"e\\u{301}\" at 6"]
    );
    let mut stage = stage.stored_and_read_back();
    assert_eq!(
        stage.does(Input::Output(last_chunk("o1", "x"))),
        [
            "output.streaming o1 \"x\" at 8 complete",
            "state.changed WritingOutput>Thinking"
        ]
    );
    let mut stage = stage.stored_and_read_back();
    for more in [chunk("o1", "x"), last_chunk("o1", ""), chunk("o1", "")] {
        assert_eq!(stage.refuses(Input::Output(more)), Refusal::OutputComplete);
    }
}

/// AAEP-A.6-1: one chunk may be all there is, and may say nothing.
#[test]
fn an_output_may_be_one_chunk() {
    for text in ["", "All."] {
        let mut stage = Stage::new();
        let told = format!("output.streaming o1 {text:?} at 0 complete");
        assert_eq!(
            stage.does(Input::Output(last_chunk("o1", text))),
            [
                "state.changed Idle>WritingOutput",
                &told,
                "state.changed WritingOutput>Thinking"
            ]
        );
    }
}

/// AAEP-A.6-2: the position increases with each chunk, so only the last may be empty.
#[test]
fn only_the_last_chunk_may_be_empty() {
    let mut stage = Stage::new();
    let empty = || Input::Output(chunk("o1", ""));
    assert_eq!(stage.refuses(empty()), Refusal::ChunkEmpty);
    stage.does(Input::Output(chunk("o1", "x")));
    assert_eq!(stage.refuses(empty()), Refusal::ChunkEmpty);
    stage.does(Input::Output(last_chunk("o1", "")));
}

/// AAEP-EV-10: a chunk of at most 16 KiB.
#[test]
fn a_chunk_has_a_length() {
    for (length, fits) in [(16_383, true), (16_384, true), (16_385, false)] {
        let chunk = Input::Output(Chunk {
            text: bytes(length),
            ..chunk("o1", "")
        });
        if fits {
            Stage::new().does(chunk);
        } else {
            let refusal = Refusal::TextTooLong(Field::Chunk);
            assert_eq!(Stage::new().refuses(chunk), refusal);
        }
    }
}

/// AAEP-A.6-1, AAEP-A.6-2: several at a time, told apart by their ids, and in another session it is another output. The state stays
/// until the last of them is complete.
#[test]
fn outputs_are_told_apart_by_their_ids() {
    let mut stage = Stage::new();
    stage.does(start("sess_b"));
    stage.does(Input::Output(chunk("o1", "one")));
    stage.does(Input::Output(Chunk {
        session_id: session("sess_b"),
        ..last_chunk("o1", "other")
    }));
    assert_eq!(
        stage.does(Input::Output(chunk("o2", "two"))),
        ["output.streaming o2 \"two\" at 0"]
    );
    assert_eq!(
        stage.does(Input::Output(last_chunk("o1", "x"))),
        ["output.streaming o1 \"x\" at 3 complete"]
    );
    assert_eq!(
        stage.does(Input::Output(last_chunk("o2", "x"))),
        [
            "output.streaming o2 \"x\" at 3 complete",
            "state.changed WritingOutput>Thinking"
        ]
    );
}

/// AAEP-A.3-3, AAEP-A.2-2: a tool that runs or a question that is open holds the state.
#[test]
fn output_does_not_hide_a_tool_or_a_question() {
    let mut stage = Stage::new();
    stage.does(Input::Tool(run("r1")));
    let put_out = |stage: &mut Stage, id: &str| {
        let chunks = [chunk(id, "x"), last_chunk(id, "")].map(Input::Output);
        chunks.map(|input| stage.does(input).len())
    };
    assert_eq!(put_out(&mut stage, "o1"), [1, 1]);
    let token = stage.asks(ask("a1"));
    assert_eq!(put_out(&mut stage, "o2"), [1, 1]);
    stage.does(finish("r1"));
    assert_eq!(put_out(&mut stage, "o3"), [1, 1]);
    stage.replies(&token, Decision::Reject);
    assert_eq!(put_out(&mut stage, "o4"), [2, 2]);
}

/// AAEP-A.3-3, AAEP-A.2-2, AAEP-EV-8: an output that is open does not bring the state back; its next chunk does.
#[test]
fn the_next_chunk_brings_the_state_back() {
    let mut stage = Stage::new();
    stage.does(Input::Output(chunk("o1", "x")));
    assert_eq!(
        stage.does(Input::Tool(run("r1")))[0],
        "state.changed WritingOutput>CallingTool"
    );
    assert_eq!(
        stage.does(finish("r1")),
        [
            "tool.completed Success",
            "state.changed CallingTool>Thinking"
        ]
    );
    assert_eq!(
        stage.does(Input::Output(chunk("o1", "x")))[0],
        "state.changed Thinking>WritingOutput"
    );
    assert_eq!(
        stage.does(Input::Confirm(ask("a1")))[0],
        "state.changed WritingOutput>AwaitingInput"
    );
    stage.now = DEADLINE;
    assert_eq!(
        stage.does(Input::Output(chunk("o1", "x"))),
        [
            "state.changed AwaitingInput>Thinking (a1 Rejected)",
            "state.changed Thinking>WritingOutput",
            "output.streaming o1 \"x\" at 2"
        ]
    );
}

/// AAEP-A.6-1: the end of the session completes every output that is open, in the order in which they began, behind its tools.
#[test]
fn the_end_of_a_session_completes_its_outputs() {
    for outcome in OUTCOMES {
        let mut stage = Stage::new();
        for id in ["o3", "o1", "o2"] {
            stage.does(Input::Output(chunk(id, id)));
        }
        stage.does(Input::Output(last_chunk("o1", "")));
        stage.does(Input::Output(chunk("o3", "!")));
        stage.does(Input::Tool(run("r1")));
        let ended = stage.does(end(outcome));
        let [.., first, second, _terminal] = &ended[..] else {
            panic!("{ended:?}");
        };
        assert_eq!(
            [first, second],
            [
                "output.streaming o3 \"\" at 3 complete",
                "output.streaming o2 \"\" at 2 complete"
            ]
        );
        let is_state = |told: &&String| told.starts_with("state.changed");
        assert_eq!(ended.iter().find(is_state), None);
        stage.stored_and_read_back();
    }
}

/// AAEP-6.7-1, AAEP-A.6-2: a chunk that was lost comes again as it was, and the next goes on behind it.
#[test]
fn a_lost_chunk_comes_again_as_it_was() {
    let mut stage = Stage::new();
    let lost = stage.outputs(Input::Output(chunk("o1", "lost")));
    stage.now += 5_000;
    let mut stage = stage.stored_and_read_back();
    assert_eq!(stage.outputs(Input::Restart { lost: lost.clone() }), lost);
    assert_eq!(
        stage.does(Input::Output(chunk("o1", "x"))),
        ["output.streaming o1 \"x\" at 4"]
    );
}

// Handing off.

/// AAEP-A.2-3, AAEP-EV-6: it is told past every filter, and the session then only ends.
#[test]
fn a_session_that_is_handed_off_only_ends() {
    for outcome in OUTCOMES {
        let mut stage = Stage::new();
        assert_eq!(
            stage.does(Input::Handoff(handoff())),
            ["state.changed Idle>HandingOff", "handoff.requested"]
        );
        let mut stage = stage.stored_and_read_back();
        for input in beginnings() {
            assert_eq!(stage.refuses(input), Refusal::HandingOff);
        }
        assert_eq!(stage.does(end(outcome)).len(), 1);
        stage.stored_and_read_back();
    }
}

/// AAEP-EV-5, AAEP-EV-6: why, to whom and where.
#[test]
fn a_handoff_says_why_and_to_whom() {
    for (target_kind, word) in [
        (TargetKind::Human, "human"),
        (TargetKind::SpecialistAgent, "specialist_agent"),
        (TargetKind::EscalationQueue, "escalation_queue"),
    ] {
        let outputs = Stage::new().outputs(Input::Handoff(Handoff {
            target_kind,
            target_uri: Some("tel:1".into()),
            ..handoff()
        }));
        let outputs = serde_json::to_value(outputs).expect("serialises");
        let event = &outputs[1]["emit"];
        for (field, value) in [
            ("type", "aaep:agent.handoff.requested"),
            ("urgency", "critical"),
            ("reason", "It needs a person."),
            ("target_kind", word),
            ("target_uri", "tel:1"),
        ] {
            assert_eq!(event[field], value, "{field}");
        }
    }
}

/// AAEP-A.2-2, AAEP-A.3-3, AAEP-A.6-1: what a session has begun it brings to its end before.
#[test]
fn a_session_is_not_handed_off_in_the_middle() {
    let mut stage = Stage::new();
    let refuses = |stage: &mut Stage| stage.refuses(Input::Handoff(handoff()));
    let token = stage.asks(ask("a1"));
    assert_eq!(refuses(&mut stage), Refusal::QuestionOpen);
    stage.replies(&token, Decision::Accept);
    assert_eq!(refuses(&mut stage), Refusal::ToolRunning);
    stage.does(finish("a1"));
    stage.does(Input::Tool(run("r1")));
    assert_eq!(refuses(&mut stage), Refusal::ToolRunning);
    stage.does(finish("r1"));
    stage.does(Input::Output(chunk("o1", "x")));
    assert_eq!(refuses(&mut stage), Refusal::OutputOpen);
    stage.does(Input::Output(last_chunk("o1", "")));
    stage.clarifies(clarify("Which?"));
    assert_eq!(refuses(&mut stage), Refusal::QuestionOpen);
    // What another session does is not in the way, and what is due comes first.
    stage.does(start("sess_b"));
    stage.does(Input::Tool(Run {
        session_id: session("sess_b"),
        ..run("r1")
    }));
    stage.now = DEADLINE;
    let told = stage.does(Input::Handoff(handoff()));
    assert_eq!(
        told[told.len() - 2..],
        ["state.changed Thinking>HandingOff", "handoff.requested"]
    );
}

/// AAEP-EV-5, AAEP-EV-10: its texts say something, and not too much.
#[test]
fn the_texts_of_a_handoff_have_a_length() {
    for (length, fits) in [
        (0, false),
        (1, true),
        (2, true),
        (16_383, true),
        (16_384, true),
        (16_385, false),
    ] {
        let handoffs = [
            Handoff {
                reason: bytes(length),
                ..handoff()
            },
            Handoff {
                target_uri: Some(bytes(length)),
                ..handoff()
            },
        ];
        for (handoff, field) in handoffs.into_iter().zip([Field::Reason, Field::TargetUri]) {
            let handoff = Input::Handoff(handoff);
            if fits {
                Stage::new().does(handoff);
            } else {
                assert_eq!(Stage::new().refuses(handoff), out_of_range(field, length));
            }
        }
    }
}

// Sessions.

/// AAEP-A.1-3: nothing begins before the session has started, or after it has ended.
#[test]
fn nothing_begins_outside_of_a_session() {
    for input in beginnings() {
        let mut stage = Stage::new();
        stage.does(end(SessionOutcome::Completed));
        assert_eq!(stage.refuses(input), Refusal::SessionNotActive);
    }
    let mut stage = Stage::new();
    let elsewhere = || session("sess_b");
    for input in [
        Input::Tool(Run {
            session_id: elsewhere(),
            ..run("r1")
        }),
        Input::Output(Chunk {
            session_id: elsewhere(),
            ..chunk("o1", "x")
        }),
        Input::Handoff(Handoff {
            session_id: elsewhere(),
            ..handoff()
        }),
    ] {
        assert_eq!(stage.refuses(input), Refusal::SessionNotActive);
    }
}

/// AAEP-6.4-1: a refused call settles what is due all the same.
#[test]
fn what_is_due_is_settled_before_work_is_refused() {
    let refused = [
        Input::Tool(run("a1")),
        Input::Output(chunk("o1", "")),
        Input::Handoff(Handoff {
            reason: "".into(),
            ..handoff()
        }),
    ];
    for input in refused {
        let mut stage = Stage::new();
        stage.asks(ask("a1"));
        let now = countersign_reference::time::Timestamp::from_millis(DEADLINE);
        let outcome = stage.producer.handle(now, &mut stage.ids, input);
        assert!(outcome.refused.is_some());
        let told: Vec<_> = outcome.outputs.iter().map(tell).collect();
        assert_eq!(told, ["state.changed AwaitingInput>Thinking (a1 Rejected)"]);
    }
}

// Stored.

/// One that does everything at once, as a document.
fn stored() -> Value {
    let mut stage = Stage::new();
    stage.does(start("sess_b"));
    stage.asks(ask("a1"));
    stage.does(Input::Tool(run_as("r1", "c1")));
    stage.does(Input::Tool(run_as("r2", "c2")));
    for id in ["o1", "o2"] {
        stage.does(Input::Output(chunk(id, id)));
    }
    stage.does(Input::Output(last_chunk("o3", "")));
    serde_json::to_value(&stage.producer).expect("serialises")
}

#[track_caller]
fn is_not_read(stored: Value, complaint: &str) {
    let error = serde_json::from_value::<Producer>(stored).expect_err(complaint);
    assert!(error.to_string().contains(complaint), "{error}");
}

/// AAEP-EV-13, AAEP-A.3-1, AAEP-A.6-2, AAEP-A.6-3, AAEP-A.1-3, AAEP-A.2-3: a document that no producer can have written is not read.
#[test]
fn a_document_whose_work_contradicts_itself_is_not_read() {
    assert!(serde_json::from_value::<Producer>(stored()).is_ok());
    let contradict = "contradict each other";
    for (pointer, value, complaint) in [
        ("/work/running/1/tool_call_id", json!("c1"), contradict),
        ("/work/running/1/tool_call_id", json!("c3"), contradict),
        ("/work/running/1/tool", json!(""), contradict),
        ("/work/open_outputs/1/output_id", json!("o1"), contradict),
        ("/work/open_outputs/1/output_id", json!("o3"), contradict),
        ("/work/open_outputs/1/position", json!(0), contradict),
        (
            "/work/tool_call_ids",
            json!(["c1", "c2", "call_0"]),
            "the tool_call_id of another",
        ),
        ("/status", json!({"ended": "completed"}), "has ended"),
        ("/state", json!("handing_off"), "awaiting_input"),
    ] {
        let mut stored = stored();
        *stored["sessions"]["sess_a"]
            .pointer_mut(pointer)
            .expect("is in the document") = value;
        is_not_read(stored, complaint);
    }
    // What is left of the work where no question is open.
    let mut free = stored();
    free["questions"]["confirmations"] = json!([]);
    free["sessions"]["sess_a"]["state"] = json!("calling_tool");
    assert!(serde_json::from_value::<Producer>(free.clone()).is_ok());
    free["sessions"]["sess_a"]["state"] = json!("handing_off");
    is_not_read(free, "still works");
    let mut writing = stored();
    writing["sessions"]["sess_b"]["state"] = json!("writing_output");
    is_not_read(writing, "still works, or writes");
}

/// A document from before there was such work says so.
#[test]
fn a_document_of_an_earlier_form_is_not_read() {
    let mut stored = stored();
    let session = stored["sessions"]["sess_a"].as_object_mut();
    session.expect("an object").remove("work");
    is_not_read(stored, "missing field `work`");
}
