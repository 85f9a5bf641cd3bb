//! A.3, A.6 and A.2: tools without a question, streamed output, handoffs.

use super::run::{
    Out, Run, S, TIMEOUT, action, asks, clarifies, completed, completed_as, end, ended, event,
    finish, goes, harmless, in_doubt, invoked, perform, perform_as, question, refused, reply,
    start,
};
use super::{acceptance, asked, opened};
use countersign_model::aaep::judge::{
    AaepJudge, Body, Call, Chunk, Decision, Handed, Handoff, Invocation, Outcome, Output, Risk,
    State, Streamed, Target, Text, Tool, ToolCall, ToolStatus,
};
use countersign_model::aaep::readings::{Reading, SessionEndCompletes};

use State::{AwaitingInput, CallingTool, Deciding, HandingOff, Idle, Thinking, WritingOutput};

/// Action `n` runs tool `n` in call `n`, and nobody is asked.
fn tool(n: u32) -> Tool {
    Tool {
        session: S,
        action: n,
        tool: n,
        args_summary: Some(n),
        risk: Risk::Medium,
        irreversible: false,
        tool_call: Some(n),
        out_of_limits: None,
    }
}

fn told(n: u32) -> Invocation {
    Invocation {
        tool: n,
        tool_call: Some(n),
        args_summary: Some(n),
        risk: Risk::Medium,
        irreversible: false,
    }
}

fn tells(invocation: Invocation) -> Out {
    event(S, Body::ToolInvoked(invocation))
}

/// A chunk of ten characters of output 1.
fn chunk(text: u32, complete: bool) -> Chunk {
    Chunk {
        session: S,
        output: 1,
        chunk: Text {
            text,
            characters: 10,
        },
        complete,
        out_of_limits: None,
    }
}

fn streams(text: u32, position: i64, complete: bool) -> Out {
    let chunk = chunk(text, complete).chunk;
    event(S, streamed(1, chunk, position, complete))
}

fn streamed(output: u32, chunk: Text, position: i64, complete: bool) -> Body {
    Body::OutputStreaming(Streamed {
        output: Some(output),
        chunk,
        position,
        complete,
    })
}

const NOTHING: Text = Text {
    text: 0,
    characters: 0,
};

/// The chunk with which an output ends when its session does.
fn closes(output: u32, position: i64) -> Out {
    event(S, streamed(output, NOTHING, position, true))
}

const TO_A_HUMAN: Handed = Handed {
    reason: 1,
    target: Target::Human,
    target_uri: Some(1),
};

fn handoff() -> Call {
    Call::Handoff(Handoff {
        session: S,
        to: TO_A_HUMAN,
        out_of_limits: None,
    })
}

fn handed_off(from: State) -> [Out; 2] {
    let requested = event(S, Body::Handoff(TO_A_HUMAN));
    [goes(from, HandingOff), requested]
}

/// By one that declares that it does such work.
fn works(mut run: Run) -> Run {
    run.declared.work = true;
    run.declared.clarify = true;
    run
}

/// A tool runs from step 2 on.
fn running() -> Run {
    let mut run = works(opened());
    let out = [goes(Idle, CallingTool), tells(told(1)), perform(1)];
    run.then(1, Call::Tool(tool(1)), out);
    run
}

/// The first of ten characters comes in step 2.
fn writing() -> Run {
    let mut run = works(opened());
    let out = [goes(Idle, WritingOutput), streams(1, 0, false)];
    run.then(1, Call::Output(chunk(1, false)), out);
    run
}

/// The rest of it comes in step 3.
fn written() -> Run {
    let mut run = writing();
    let out = [streams(2, 10, true), goes(WritingOutput, Thinking)];
    run.then(2, Call::Output(chunk(2, true)), out);
    run
}

/// It is handed off in step 2.
fn handing_off() -> Run {
    let mut run = works(opened());
    run.then(1, handoff(), handed_off(Idle));
    run
}

/// This, in step 3 (or the last), is to be refused; carried out like this, it breaks the clause.
#[track_caller]
fn is_refused(mut run: Run, call: Call, clause: &str, out: impl Into<Vec<Out>>) {
    run.then(5, call, [refused()]);
    let last = run.steps.len() - 1;
    run.breaks(clause, |run| run.steps[last].out = out.into());
}

// Tools.

#[test]
fn a_tool_without_a_question_is_invoked_and_runs_aaep_a_3_1() {
    running().breaks("AAEP-A.3-1", |run| run.steps[2].out.clear());
    running().breaks("AAEP-A.3-1", |run| run.without(2, 2));
    running().breaks("AAEP-A.3-2", |run| run.without(2, 1));
    // To say that it is in calling_tool is as good as to be told by the tool.invoked, and either order will do.
    let mut run = running();
    run.steps[2].out.swap(1, 2);
    run.conforms();
    run.without(2, 0);
    run.conforms();
    // It may decide first, and need not do it.
    run.steps[2].out.insert(0, goes(Idle, Deciding));
    run.conforms();
    run.steps[2].out = vec![refused()];
    run.conforms();
}

#[test]
fn a_tool_without_a_question_runs_once_aaep_6_1_1() {
    running().breaks("AAEP-6.1-1", |run| run.steps[2].out.push(perform(1)));
    running().breaks("AAEP-6.1-1", |run| {
        run.then(2, Call::Tick, [perform(1)]);
    });
    running().breaks("AAEP-6.1-1", |run| {
        run.steps[2].out[2] = perform(2);
        run.steps[2].out.push(perform(1));
    });
    running().breaks("AAEP-6.1-1", |run| {
        run.steps[2].out[2] = Out::Other(Output::Perform(ToolCall {
            session: S,
            action: 1,
            tool_call: 1,
            modified: Some(1),
        }));
    });
}

#[test]
fn a_tool_without_a_question_is_told_as_it_is_aaep_ev_5() {
    let wrong = [
        Invocation { tool: 9, ..told(1) },
        Invocation {
            args_summary: None,
            ..told(1)
        },
        Invocation {
            risk: Risk::Low,
            ..told(1)
        },
    ];
    for wrong in wrong {
        running().breaks("AAEP-EV-5", |run| run.steps[2].out[1] = tells(wrong));
    }
    running().breaks("AAEP-EV-5", |run| {
        let call = Invocation {
            tool_call: Some(9),
            ..told(1)
        };
        run.steps[2].out = vec![tells(call), perform_as(1, 9)];
    });
}

#[test]
fn what_cannot_be_undone_is_asked_about_aaep_a_7_4_1() {
    running().breaks("AAEP-A.7.4-1", |run| {
        let irreversible = Invocation {
            irreversible: true,
            ..told(1)
        };
        run.steps[2].out[1] = tells(irreversible);
    });
    let irreversible = Tool {
        irreversible: true,
        ..tool(1)
    };
    let said = Invocation {
        irreversible: true,
        ..told(1)
    };
    for said in [said, told(1)] {
        for out in [
            vec![tells(said), perform(1)],
            vec![tells(said)],
            vec![perform(1)],
        ] {
            let call = Call::Tool(irreversible.clone());
            is_refused(works(opened()), call, "AAEP-A.7.4-1", out);
        }
    }
}

#[test]
fn what_was_asked_about_runs_by_its_answer_alone_aaep_a_4_4() {
    let out = || [tells(told(1)), perform(1)];
    is_refused(
        works(asked(&action(1))),
        Call::Tool(tool(1)),
        "AAEP-6.1-1",
        out(),
    );
    let mut rejected = works(asked(&action(1)));
    let away = [goes(AwaitingInput, Thinking)];
    rejected.then(
        1,
        Call::Deliver(reply(1, Decision::Reject, 0)),
        away.clone(),
    );
    is_refused(rejected, Call::Tool(tool(1)), "AAEP-A.4-4", out());
    let mut withdrawn = works(asked(&action(1)));
    withdrawn.then(1, Call::Cancel { token: 1 }, away);
    is_refused(withdrawn, Call::Tool(tool(1)), "AAEP-A.4-4", out());
    let mut ran = works(asked(&action(1)));
    ran.then(
        1,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        acceptance(),
    );
    let again = Tool {
        tool_call: Some(2),
        ..tool(1)
    };
    is_refused(ran, Call::Tool(again), "AAEP-A.4-4", [perform_as(1, 2)]);
    // The other way round, an action that ran may be asked about.
    let mut run = running();
    let out = [goes(CallingTool, AwaitingInput), asks(&action(1))];
    run.then(2, Call::Confirm(action(1)), out);
    run.conforms();
}

#[test]
fn no_two_calls_of_a_session_have_one_name_aaep_a_3_1() {
    let mut again = tool(2);
    again.tool_call = Some(1);
    let said = Invocation {
        tool_call: Some(1),
        ..told(2)
    };
    let out = [tells(said), perform_as(2, 1)];
    is_refused(running(), Call::Tool(again.clone()), "AAEP-A.3-1", out);
    // Also when it has come back; in another session it is another.
    let mut run = running();
    let out = [
        completed(1, ToolStatus::Success),
        goes(CallingTool, Thinking),
    ];
    run.then(2, finish(1), out);
    let out = [tells(said), perform_as(2, 1)];
    is_refused(run.clone(), Call::Tool(again.clone()), "AAEP-A.3-1", out);
    run.then(3, start(2), [event(2, Body::Started)]);
    again.session = 2;
    let perform = Out::Other(Output::Perform(ToolCall {
        session: 2,
        action: 2,
        tool_call: 1,
        modified: None,
    }));
    let out = [event(2, Body::ToolInvoked(said)), perform];
    run.then(3, Call::Tool(again), out);
    run.conforms();
}

/// One action twice at once, each with its own completion; the oldest first where none is named.
#[test]
fn several_tools_run_at_once_aaep_a_3_4() {
    let mut run = running();
    let second = Tool {
        tool_call: Some(2),
        ..tool(1)
    };
    let said = Invocation {
        tool_call: Some(2),
        ..told(1)
    };
    run.then(2, Call::Tool(second), [tells(said), perform_as(1, 2)]);
    run.then(3, finish(1), [completed(1, ToolStatus::Success)]);
    let out = [
        completed_as(1, 2, ToolStatus::Success),
        goes(CallingTool, Thinking),
    ];
    run.then(4, finish(1), out);
    run.then(5, finish(1), [refused()]);
    run.breaks("AAEP-A.3-1", |run| run.steps[4].out.clear());
    run.breaks("AAEP-A.3-2", |run| {
        run.steps[6].out = vec![completed(1, ToolStatus::Success)];
    });
    let Call::FinishTool { tool_call, .. } = &mut run.steps[4].call else {
        panic!("it comes back");
    };
    *tool_call = Some(2);
    run.steps[4].out = vec![completed_as(1, 2, ToolStatus::Success)];
    run.steps[5].out[0] = completed(1, ToolStatus::Success);
    run.conforms();
}

/// AAEP-6.1-4: other work goes on, and the question still waits.
#[test]
fn a_question_waits_while_other_work_is_done_aaep_a_2_2() {
    let mut run = works(asked(&action(1)));
    run.then(1, Call::Tool(tool(2)), [tells(told(2)), perform(2)]);
    run.then(2, Call::Output(chunk(1, false)), [streams(1, 0, false)]);
    run.then(3, finish(2), [completed(2, ToolStatus::Success)]);
    run.then(
        4,
        Call::Deliver(reply(1, Decision::Accept, 0)),
        acceptance(),
    );
    run.conforms();
    run.steps.truncate(5);
    run.breaks("AAEP-A.2-2", |run| {
        run.steps[3].out.insert(0, goes(AwaitingInput, CallingTool));
    });
    run.breaks("AAEP-A.2-2", |run| {
        run.steps[4]
            .out
            .insert(0, goes(AwaitingInput, WritingOutput));
    });
    run.breaks("AAEP-6.4-1", |run| {
        run.steps[4].out.push(goes(WritingOutput, Thinking));
    });
    // There and back again.
    run.steps[4]
        .out
        .insert(0, goes(AwaitingInput, WritingOutput));
    run.steps[4].out.push(goes(WritingOutput, AwaitingInput));
    run.conforms();
}

/// Whose tool is the one that a question waits about; what runs is another action.
#[test]
fn another_action_of_the_same_tool_runs_while_one_waits_aaep_6_1_4() {
    let mut run = works(asked(&action(1)));
    let other = Tool { tool: 1, ..tool(2) };
    let said = Invocation { tool: 1, ..told(2) };
    run.then(1, Call::Tool(other), [tells(said), perform(2)]);
    let finding = run.breaks("AAEP-6.1-5", |run| {
        run.steps[3].call = Call::Tick;
        run.without(3, 1);
    });
    assert_eq!(finding.also, ["AAEP-A.7.4-1"]);
}

#[test]
fn calling_tool_lasts_while_a_tool_runs_aaep_a_3_3() {
    running().breaks("AAEP-A.3-3", |run| {
        run.steps[2].out.push(goes(CallingTool, Thinking));
    });
    let mut run = running();
    run.then(2, Call::Output(chunk(1, false)), [streams(1, 0, false)]);
    run.breaks("AAEP-A.3-3", |run| {
        run.steps[3].out.insert(0, goes(CallingTool, WritingOutput));
    });
}

#[test]
fn a_tool_without_a_question_is_in_doubt_after_a_crash_aaep_a_3_1() {
    let mut run = running();
    run.then(2, Call::Restart { lost: 1 }, [in_doubt(1)]);
    run.then(3, finish(1), [completed(1, ToolStatus::Success)]);
    run.breaks("AAEP-A.3-1", |run| run.steps[3].out.clear());
    run.breaks("AAEP-6.1-1", |run| run.steps[3].out.push(perform(1)));
    let mut run = running();
    run.then(
        2,
        Call::Restart { lost: 2 },
        [Out::Again(2, 1), in_doubt(1)],
    );
    run.breaks("AAEP-A.4-3", |run| run.without(3, 0));
}

#[test]
fn a_tool_without_a_question_is_completed_before_the_end_aaep_a_3_1() {
    for outcome in [Outcome::Completed, Outcome::Errored, Outcome::Cancelled] {
        let mut run = running();
        let out = [completed(1, ToolStatus::Error), ended(outcome)];
        run.then(2, end(outcome), out);
        run.conforms();
        if outcome == Outcome::Cancelled {
            run.without(3, 0);
            run.conforms();
        } else {
            run.breaks("AAEP-A.3-1", |run| run.without(3, 0));
        }
    }
    let mut run = works(opened());
    run.then(2, end(Outcome::Cancelled), [ended(Outcome::Cancelled)]);
    is_refused(run, Call::Tool(tool(1)), "AAEP-A.1-3", [perform(1)]);
}

// Output.

#[test]
fn an_output_is_complete_once_aaep_a_6_1() {
    written().conforms();
    written().breaks("AAEP-A.6-1", |run| {
        run.steps[3].out[0] = streams(2, 10, false);
    });
    written().breaks("AAEP-A.6-1", |run| run.steps[3].out.clear());
    writing().breaks("AAEP-A.6-1", |run| {
        run.steps[2].out[1] = streams(1, 0, true);
    });
    // Nothing may be the last chunk.
    let mut run = writing();
    let last = Chunk {
        chunk: NOTHING,
        ..chunk(0, true)
    };
    run.then(2, Call::Output(last), [closes(1, 10)]);
    run.conforms();
    run.steps[3].out = vec![refused()];
    run.conforms();
}

#[test]
fn a_chunk_stands_where_the_one_before_it_ends_aaep_a_6_2() {
    for position in [9, 11] {
        let finding = written().breaks("AAEP-A.6-2", |run| {
            run.steps[3].out[0] = streams(2, position, true);
        });
        assert!(finding.also.is_empty());
    }
    let finding = written().breaks("AAEP-A.6-2", |run| {
        run.steps[3].out[0] = streams(2, -1, true);
    });
    assert_eq!(finding.also, ["AAEP-A.8-7", "AAEP-A.8-8"]);
    writing().breaks("AAEP-A.6-2", |run| {
        run.steps[2].out[1] = streams(1, 10, false);
    });
    writing().breaks("AAEP-A.6-2", |run| run.steps[2].out.clear());
    // The same once more.
    writing().breaks("AAEP-A.6-2", |run| {
        run.steps[2].out.push(streams(1, 0, false));
    });
    let nothing = Chunk {
        chunk: NOTHING,
        ..chunk(0, false)
    };
    let out = [event(S, streamed(1, NOTHING, 10, false))];
    is_refused(writing(), Call::Output(nothing), "AAEP-A.6-2", out);
}

/// Each output counts by itself, and in each session.
#[test]
fn outputs_are_told_apart_aaep_a_6_2() {
    let mut run = writing();
    let mut other = chunk(1, true);
    other.output = 2;
    let text = other.chunk;
    let said = event(S, streamed(2, text, 0, true));
    run.then(2, Call::Output(other.clone()), [said]);
    run.then(3, start(2), [event(2, Body::Started)]);
    other.session = 2;
    let said = event(2, streamed(2, text, 0, true));
    run.then(3, Call::Output(other), [said]);
    run.then(4, Call::Output(chunk(2, true)), [streams(2, 10, true)]);
    run.breaks("AAEP-A.6-2", |run| {
        run.steps[3].out[0] = event(S, streamed(2, text, 10, true));
    });
    run.breaks("AAEP-A.6-1", |run| {
        run.steps[5].out[0] = event(2, streamed(1, text, 0, true));
    });
}

#[test]
fn nothing_follows_the_last_chunk_aaep_a_6_3() {
    let finding = written().breaks("AAEP-A.6-3", |run| {
        run.then(3, Call::Tick, [streams(2, 20, false)]);
    });
    assert_eq!(finding.also, ["AAEP-A.8-6", "AAEP-A.8-8"]);
    written().breaks("AAEP-A.6-3", |run| {
        run.steps[3].out.insert(1, streams(2, 20, true));
    });
    for complete in [false, true] {
        let call = Call::Output(chunk(3, complete));
        is_refused(written(), call, "AAEP-A.6-3", [streams(3, 20, complete)]);
    }
}

#[test]
fn a_chunk_says_what_it_was_to_aaep_ev_5() {
    writing().breaks("AAEP-EV-5", |run| {
        run.steps[2].out[1] = streams(9, 0, false);
    });
    let mut run = works(opened());
    let limits = |clause| {
        Call::Output(Chunk {
            out_of_limits: Some(clause),
            ..chunk(1, false)
        })
    };
    run.then(1, limits("AAEP-EV-10"), [refused()]);
    run.breaks("AAEP-EV-10", |run| {
        run.steps[2].out = vec![streams(1, 0, false)];
    });
}

#[test]
fn every_output_is_complete_before_the_end_aaep_a_6_1() {
    for outcome in [Outcome::Completed, Outcome::Errored] {
        let mut run = writing();
        run.then(2, end(outcome), [closes(1, 10), ended(outcome)]);
        run.conforms();
        run.breaks("AAEP-A.6-1", |run| run.without(3, 0));
        run.breaks("AAEP-A.6-2", |run| run.steps[3].out[0] = closes(1, 0));
        run.breaks("AAEP-EV-5", |run| {
            run.steps[3].out[0] = streams(9, 10, true);
        });
        run.breaks("AAEP-A.1-3", |run| run.steps[3].out.swap(0, 1));
    }
    let mut run = writing();
    let outcome = Outcome::Cancelled;
    run.then(2, end(outcome), [closes(1, 10), ended(outcome)]);
    run.conforms();
    run.without(3, 0);
    run.conforms();
    let by = |session_end_completes| Reading {
        session_end_completes,
        ..Reading::SPECIFICATION
    };
    run.breaks_by(by(SessionEndCompletes::Always), "AAEP-A.6-1", |_| {});
    let mut run = writing();
    run.then(2, end(Outcome::Errored), [ended(Outcome::Errored)]);
    run.conforms_by(by(SessionEndCompletes::Never));
    // One that is complete is not completed again.
    let mut run = written();
    let outcome = Outcome::Completed;
    run.then(3, end(outcome), [ended(outcome)]);
    run.breaks("AAEP-A.6-3", |run| {
        run.steps[4].out.insert(0, closes(1, 20));
    });
    is_refused(
        run,
        Call::Output(chunk(1, true)),
        "AAEP-A.1-3",
        [streams(1, 20, true)],
    );
}

#[test]
fn a_lost_chunk_comes_again_as_it_was_aaep_a_6_2() {
    let mut run = writing();
    run.then(2, Call::Restart { lost: 1 }, [Out::Again(2, 1)]);
    run.then(3, Call::Output(chunk(2, true)), [streams(2, 10, true)]);
    run.breaks("AAEP-A.6-2", |run| run.steps[3].out.clear());
}

// Handoffs.

#[test]
fn a_session_is_handed_off_in_its_state_aaep_a_2_3() {
    handing_off().breaks("AAEP-A.2-3", |run| run.without(2, 0));
    handing_off().breaks("AAEP-A.2-3", |run| run.without(2, 1));
    handing_off().breaks("AAEP-A.2-3", |run| {
        run.steps[2].out = vec![event(S, Body::Handoff(TO_A_HUMAN)), goes(Idle, HandingOff)];
    });
    handing_off().breaks("AAEP-A.2-3", |run| {
        run.steps[2].call = Call::Tick;
    });
    handing_off().breaks("AAEP-A.2-3", |run| {
        run.then(2, Call::Tick, [event(S, Body::Handoff(TO_A_HUMAN))]);
    });
    handing_off().breaks("AAEP-EV-6", |run| run.event(2, 1).critical = false);
    for outcome in [Outcome::Completed, Outcome::Errored, Outcome::Cancelled] {
        let mut run = handing_off();
        run.then(2, end(outcome), [ended(outcome)]);
        run.conforms();
    }
}

#[test]
fn a_handoff_says_why_and_to_whom_aaep_ev_5() {
    let wrong = [
        Handed {
            reason: 2,
            ..TO_A_HUMAN
        },
        Handed {
            target: Target::EscalationQueue,
            ..TO_A_HUMAN
        },
        Handed {
            target_uri: None,
            ..TO_A_HUMAN
        },
    ];
    for wrong in wrong {
        handing_off().breaks("AAEP-EV-5", |run| {
            run.steps[2].out[1] = event(S, Body::Handoff(wrong));
        });
    }
}

#[test]
fn a_handoff_reaches_everybody_aaep_6_7_1() {
    let mut run = handing_off();
    run.declared.delivery = true;
    run.breaks("AAEP-6.7-1", |run| run.event(2, 1).to = Some(vec![]));
}

#[test]
fn a_session_that_was_handed_off_only_ends_aaep_a_2_3() {
    let clause = "AAEP-A.2-3";
    let out = [goes(HandingOff, CallingTool), tells(told(1)), perform(1)];
    is_refused(handing_off(), Call::Tool(tool(1)), clause, out);
    let out = [goes(HandingOff, WritingOutput), streams(1, 0, false)];
    is_refused(handing_off(), Call::Output(chunk(1, false)), clause, out);
    is_refused(handing_off(), handoff(), clause, handed_off(HandingOff));
    let out = [goes(HandingOff, AwaitingInput), asks(&action(1))];
    is_refused(handing_off(), Call::Confirm(action(1)), clause, out);
    let out = [goes(HandingOff, AwaitingInput), clarifies(&question(1))];
    is_refused(handing_off(), Call::Clarify(question(1)), clause, out);
    for out in [
        goes(HandingOff, Thinking),
        streams(1, 0, false),
        tells(told(1)),
    ] {
        handing_off().breaks(clause, |run| {
            run.then(2, Call::Tick, [out]);
        });
    }
}

#[test]
fn a_question_a_tool_or_an_output_keeps_a_session_from_its_handoff_aaep_a_2_3() {
    let out = || handed_off(AwaitingInput);
    is_refused(works(asked(&action(1))), handoff(), "AAEP-A.2-2", out());
    is_refused(running(), handoff(), "AAEP-A.3-3", handed_off(CallingTool));
    is_refused(
        writing(),
        handoff(),
        "AAEP-A.6-1",
        handed_off(WritingOutput),
    );
    let mut run = written();
    run.then(3, handoff(), handed_off(Thinking));
    run.conforms();
    let mut run = works(opened());
    run.then(2, end(Outcome::Cancelled), [ended(Outcome::Cancelled)]);
    is_refused(
        run,
        handoff(),
        "AAEP-A.1-3",
        [event(S, Body::Handoff(TO_A_HUMAN))],
    );
}

#[test]
fn a_lost_handoff_comes_again_as_it_was_aaep_a_2_3() {
    let mut run = handing_off();
    run.then(2, Call::Restart { lost: 1 }, [Out::Again(2, 1)]);
    let finding = run.breaks("AAEP-A.2-3", |run| run.steps[3].out.clear());
    assert_eq!(finding.also, ["AAEP-6.7-1", "AAEP-EV-4"]);
}

/// What falls due comes first, and is of its own question.
#[test]
fn what_is_due_comes_before_the_work_aaep_6_4_1() {
    let mut run = works(asked(&harmless(1)));
    let out = [
        goes(AwaitingInput, CallingTool),
        invoked(1),
        perform(1),
        tells(told(2)),
        perform(2),
    ];
    run.then(TIMEOUT, Call::Tool(tool(2)), out);
    run.breaks("AAEP-6.4-1", |run| {
        run.steps[3].out.drain(1..3);
    });
    run.breaks("AAEP-A.3-1", |run| run.steps[3].out.truncate(3));
}

/// One that does not declare it is not held to it, whatever it is told to do.
#[test]
fn work_that_is_not_declared_is_free_aaep_6_1_4() {
    for mut run in [running(), written(), handing_off()] {
        run.declared.work = false;
        run.conforms();
        run.steps[2].out.clear();
        run.conforms();
    }
    let mut run = written();
    run.declared.work = false;
    run.steps[3].out[0] = streams(9, 3, false);
    run.then(3, Call::Output(chunk(2, true)), [streams(2, 1, true)]);
    run.then(4, end(Outcome::Completed), [ended(Outcome::Completed)]);
    run.conforms();
    // It may hand off by itself, and then ask or not.
    let mut run = opened();
    run.then(1, Call::Tick, handed_off(Idle));
    run.then(2, Call::Confirm(action(1)), [refused()]);
    run.conforms();
    run.steps[3].out = vec![goes(HandingOff, AwaitingInput), asks(&action(1))];
    run.conforms();
}

/// Where advice is asked for: output has a state of its own.
#[test]
fn output_had_better_be_written_in_writing_output_aaep_a_7_7_1() {
    let found = |run: &Run| {
        let judge = AaepJudge::new(Reading::SPECIFICATION).declaring(run.declared);
        let found = run.findings_of(judge.advising());
        let clauses: Vec<_> = found.iter().map(|finding| finding.clause).collect();
        clauses
    };
    let mut run = writing();
    assert!(found(&run).is_empty());
    run.without(2, 0);
    run.conforms();
    assert_eq!(found(&run), ["AAEP-A.7.7-1"]);
}

/// What no clause keeps from being done is done by the producer's own choice, and is judged by what it says of itself.
#[test]
fn output_of_ones_own_keeps_its_order_aaep_a_6_2() {
    let mut run = works(opened());
    run.then(1, Call::Tick, [streams(1, 0, false)]);
    run.then(2, Call::Tick, [streams(2, 10, true)]);
    run.breaks("AAEP-A.6-2", |run| {
        run.steps[3].out[0] = streams(2, 0, true);
    });
    run.steps.truncate(3);
    let outcome = Outcome::Completed;
    run.then(3, end(outcome), [closes(1, 10), ended(outcome)]);
    run.breaks("AAEP-A.6-1", |run| run.without(3, 0));
}

#[test]
fn a_session_that_never_began_does_no_work_aaep_a_1_1() {
    let mut run = Run::default();
    run.declared.work = true;
    for call in [Call::Tool(tool(1)), Call::Output(chunk(1, true)), handoff()] {
        run.then(0, call, [refused()]);
    }
    run.conforms();
    run.breaks("AAEP-A.1-1", |run| {
        run.steps[1].out = vec![streams(1, 0, true)];
    });
    run.breaks("AAEP-A.1-1", |run| run.steps[0].out = vec![perform(1)]);
}
