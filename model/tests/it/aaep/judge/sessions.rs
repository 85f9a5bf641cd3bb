//! A.1 and A.3: sessions begin and end, tools are invoked and completed.

use super::run::{
    Run, TIMEOUT, action, asks, completed, completed_as, end, ended, event, finish, goes, harmless,
    invoked, invoked_as, perform, refused, reply, start, started,
};
use super::{accepted, asked, finished, opened};
use countersign_model::aaep::judge::{Body, Call, Decision, Outcome, State, ToolStatus};
use countersign_model::aaep::readings::{Reading, SessionEndCompletes};
use countersign_model::judge::Kind;

use State::{AwaitingInput, CallingTool, Idle, Thinking};

#[test]
fn a_session_begins_with_its_start_aaep_a_1_1() {
    opened().breaks("AAEP-A.1-1", |run| run.steps[0].out = vec![]);
    opened().breaks("AAEP-A.1-1", |run| run.steps[0].out = vec![refused()]);
    opened().breaks("AAEP-A.1-1", |run| {
        run.steps[0].out[0] = goes(Idle, Thinking);
    });
    opened().breaks("AAEP-A.1-1", |run| {
        run.then(1, Call::Tick, [event(2, Body::Started)]);
    });
    let mut run = opened();
    run.then(1, start(1), [refused()]);
    run.breaks("AAEP-A.1-1", |run| run.steps[2].out = vec![started()]);
    let mut run = opened();
    run.then(
        1,
        Call::StartSession { session: None },
        [event(2, Body::Started)],
    );
    run.breaks("AAEP-A.1-1", |run| run.steps[2].out = vec![]);
}

fn over(outcome: Outcome) -> Run {
    let mut run = finished();
    run.then(3_000, end(outcome), [ended(outcome)]);
    run
}

#[test]
fn a_session_ends_once_and_as_it_was_told_to_aaep_a_1_2() {
    over(Outcome::Completed).breaks("AAEP-A.1-2", |run| run.steps[5].out = vec![]);
    over(Outcome::Completed).breaks("AAEP-A.1-2", |run| {
        run.steps[5].out = vec![ended(Outcome::Errored)];
    });
    over(Outcome::Completed).breaks("AAEP-A.1-2", |run| {
        run.steps[5].out.push(ended(Outcome::Errored));
    });
    opened().breaks("AAEP-A.1-2", |run| {
        run.then(1, Call::Tick, [ended(Outcome::Completed)]);
    });
    let mut run = over(Outcome::Cancelled);
    run.then(4_000, end(Outcome::Cancelled), [refused()]);
    run.breaks("AAEP-A.1-2", |run| {
        run.steps[6].out = vec![ended(Outcome::Cancelled)];
    });
}

#[test]
fn nothing_follows_the_end_aaep_a_1_3() {
    over(Outcome::Cancelled).breaks("AAEP-A.1-3", |run| {
        run.steps[5].out.push(goes(CallingTool, Thinking));
    });
    let mut run = over(Outcome::Errored);
    run.then(4_000, Call::Confirm(action(2)), [refused()]);
    run.breaks("AAEP-A.1-3", |run| {
        run.steps[6].out = vec![asks(&action(2))];
    });
}

/// What is due when its session ends runs first, also within one call.
#[test]
fn nothing_runs_behind_the_end_in_its_call_aaep_a_1_3() {
    let mut run = asked(&harmless(1));
    let out = [
        goes(AwaitingInput, CallingTool),
        invoked(1),
        perform(1),
        completed(1, ToolStatus::Error),
        ended(Outcome::Errored),
    ];
    run.then(TIMEOUT, end(Outcome::Errored), out);
    let finding = run.breaks("AAEP-A.1-3", |run| {
        run.steps[3].out[2..].rotate_left(1);
    });
    // AAEP-6.8-2 is of sessions that are cancelled, and of what is pending.
    assert!(finding.also.is_empty());
}

#[test]
fn every_end_withdraws_the_questions_aaep_6_8_2() {
    for outcome in [Outcome::Completed, Outcome::Errored, Outcome::Cancelled] {
        let mut run = asked(&action(1));
        run.then(
            1,
            end(outcome),
            [goes(AwaitingInput, Thinking), ended(outcome)],
        );
        run.then(2, Call::Deliver(reply(1, Decision::Accept, 0)), []);
        let finding = run.breaks("AAEP-6.8-4", |run| run.steps[4].out = vec![perform(1)]);
        assert_eq!(finding.also, ["AAEP-6.8-2", "AAEP-6.3.4-7"]);
        run.breaks("AAEP-6.8-2", |run| run.steps[3].out.push(perform(1)));
    }
    // The event that cancels the session cancels them.
    let mut run = asked(&action(1));
    run.then(1, end(Outcome::Cancelled), [ended(Outcome::Cancelled)]);
    run.conforms();
}

#[test]
fn a_tool_that_comes_back_is_completed_aaep_a_3_1() {
    finished().breaks("AAEP-A.3-1", |run| run.steps[4].out = vec![]);
    finished().breaks("AAEP-A.3-1", |run| run.steps[4].out = vec![refused()]);
    finished().breaks("AAEP-A.3-1", |run| {
        run.steps[4].out = vec![completed(1, ToolStatus::Error)];
    });
    accepted().breaks("AAEP-A.3-1", |run| {
        run.steps[3].out.push(completed(1, ToolStatus::Success));
    });
}

#[test]
fn nothing_is_completed_that_is_not_in_flight_aaep_a_3_2() {
    finished().breaks("AAEP-A.3-2", |run| {
        run.steps[4].out.push(completed(1, ToolStatus::Success));
    });
    let mut run = finished();
    run.then(3_000, finish(1), [refused()]);
    run.breaks("AAEP-A.3-2", |run| {
        run.steps[5].out = vec![completed(1, ToolStatus::Success)];
    });
}

#[test]
fn a_tool_in_flight_fails_with_its_session_unless_that_is_cancelled_aaep_a_3_1() {
    for outcome in [Outcome::Completed, Outcome::Errored] {
        let mut run = accepted();
        run.then(
            2_000,
            end(outcome),
            [completed(1, ToolStatus::Error), ended(outcome)],
        );
        run.breaks("AAEP-A.3-1", |run| run.without(4, 0));
        run.breaks("AAEP-A.3-1", |run| {
            run.steps[4].out[0] = completed(1, ToolStatus::Success);
        });
    }
    let mut run = accepted();
    run.then(2_000, end(Outcome::Cancelled), [ended(Outcome::Cancelled)]);
    run.conforms();
}

/// The same with every end, and with none, as the reading says; who tells of it all the same is right.
#[test]
fn what_ends_complete_a_tool_is_a_reading_aaep_a_3_1() {
    for outcome in [Outcome::Completed, Outcome::Errored, Outcome::Cancelled] {
        for (completes, owed) in [
            (
                SessionEndCompletes::UnlessCancelled,
                outcome != Outcome::Cancelled,
            ),
            (SessionEndCompletes::Always, true),
            (SessionEndCompletes::Never, false),
        ] {
            let reading = Reading {
                session_end_completes: completes,
                ..Reading::SPECIFICATION
            };
            let mut run = accepted();
            let out = [completed(1, ToolStatus::Error), ended(outcome)];
            run.then(2_000, end(outcome), out);
            run.conforms_by(reading);
            if owed {
                let finding = run.breaks_by(reading, "AAEP-A.3-1", |run| run.without(4, 0));
                assert_eq!(finding.kind, Kind::Conformance);
            } else {
                run.without(4, 0);
                run.conforms_by(reading);
            }
        }
    }
}

#[test]
fn a_tool_that_falls_due_with_the_end_is_completed_too_aaep_a_3_1() {
    let mut run = asked(&harmless(1));
    let out = [
        goes(AwaitingInput, CallingTool),
        invoked_as(1, 1),
        perform(1),
        completed(1, ToolStatus::Error),
        ended(Outcome::Completed),
    ];
    run.then(TIMEOUT, end(Outcome::Completed), out);
    run.breaks("AAEP-A.3-1", |run| run.without(3, 3));
    // AAEP-A.3-2: not before it is invoked, though both come out of one call.
    run.breaks("AAEP-A.3-2", |run| run.steps[3].out.swap(1, 3));
    // Nor before it has run.
    run.breaks("AAEP-A.3-2", |run| run.steps[3].out.swap(2, 3));
    // Another call of the same tool is none that is in flight, and this one is left.
    run.steps[3].out[3] = completed_as(1, 2, ToolStatus::Error);
    let found = run.findings(Reading::SPECIFICATION);
    let clauses: Vec<&str> = found.iter().map(|finding| finding.clause).collect();
    assert_eq!(clauses, ["AAEP-A.3-1", "AAEP-A.3-2"]);
}

#[test]
fn what_falls_due_as_it_is_said_to_be_back_may_be_taken_for_back_aaep_a_3_2() {
    let mut run = asked(&harmless(1));
    let out = [
        goes(AwaitingInput, CallingTool),
        invoked_as(1, 1),
        perform(1),
        completed(1, ToolStatus::Success),
    ];
    run.then(TIMEOUT, finish(1), out);
    run.then(TIMEOUT + 1, Call::Restart { lost: 0 }, []);
    run.conforms();
    run.steps[3].out[3] = refused();
    run.steps[4].out = vec![super::run::in_doubt(1)];
    run.breaks("AAEP-A.3-1", |run| run.without(3, 3));
}

#[test]
fn the_oldest_call_in_flight_is_meant_where_none_is_named_aaep_a_3_1() {
    // The same action, accepted twice: calls 1 and 2 of tool 1.
    let mut run = accepted();
    let ask = [
        goes(CallingTool, AwaitingInput),
        super::run::asks_with(2, &action(1)),
    ];
    run.then(1_500, Call::Confirm(action(1)), ask);
    let perform_again = super::run::Out::Other(countersign_model::aaep::judge::Output::Perform(
        countersign_model::aaep::judge::ToolCall {
            session: 1,
            action: 1,
            tool_call: 2,
            modified: None,
        },
    ));
    let out = [
        goes(AwaitingInput, CallingTool),
        invoked_as(1, 2),
        perform_again,
        super::run::respond(0),
    ];
    run.then(1_600, Call::Deliver(reply(2, Decision::Accept, 1_600)), out);
    run.then(2_000, finish(1), [completed(1, ToolStatus::Success)]);
    run.conforms();
    let newest = event(
        1,
        Body::ToolCompleted {
            tool: 1,
            tool_call: Some(2),
            status: ToolStatus::Success,
        },
    );
    let mut wrong = run.clone();
    wrong.steps[6].out = vec![newest];
    assert!(!wrong.findings(Reading::SPECIFICATION).is_empty());
}

#[test]
fn no_two_calls_share_an_id_aaep_ev_13() {
    let mut run = super::asked_both(&action(1), &action(2));
    let accept = |n: u32, call: u32, then| {
        let perform = super::run::Out::Other(countersign_model::aaep::judge::Output::Perform(
            countersign_model::aaep::judge::ToolCall {
                session: 1,
                action: n,
                tool_call: call,
                modified: None,
            },
        ));
        let mut out = vec![
            goes(AwaitingInput, CallingTool),
            invoked_as(n, call),
            perform,
        ];
        out.extend(then);
        out
    };
    let back = Some(goes(CallingTool, AwaitingInput));
    run.then(
        1,
        Call::Deliver(reply(1, Decision::Accept, 1)),
        accept(1, 1, back),
    );
    run.then(
        2,
        Call::Deliver(reply(2, Decision::Accept, 2)),
        accept(2, 2, None),
    );
    run.breaks("AAEP-EV-13", |run| run.steps[5].out = accept(2, 1, None));
}

#[test]
fn input_is_awaited_at_or_before_the_question_aaep_a_4_1() {
    let mut run = finished();
    run.then(
        3_000,
        Call::Confirm(action(2)),
        [goes(CallingTool, AwaitingInput), asks(&action(2))],
    );
    run.breaks("AAEP-A.4-1", |run| run.without(5, 0));
    // At the question means: in the same breath.
    run.steps[5].out.swap(0, 1);
    run.conforms();
    // Right after the start it needs no transition of its own (AAEP-A.7.6-2).
    let mut run = asked(&action(1));
    run.steps[2].out.remove(0);
    run.conforms();
}
