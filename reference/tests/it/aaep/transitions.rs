//! Every transition of the protocol: what comes out, in which order, and what is refused.

use countersign_reference::aaep::{
    Authority, Decision, Event, Input, Output, Phase, Refusal, ReplyToken, SessionOutcome,
    Settings, ToolCallId, ToolStatus,
};
use countersign_reference::time::{Deadline, Timestamp};

use crate::aaep::stage::{
    ACCEPTED, DEADLINE, REJECTED, START, Stage, action_id, ask, ask_accepting, cancel, deliver,
    end, finish, reply, session, start, subscribe, unsubscribe,
};

const OUTCOMES: [SessionOutcome; 3] = [
    SessionOutcome::Completed,
    SessionOutcome::Errored,
    SessionOutcome::Cancelled,
];

// Sessions and subscriptions.

/// AAEP-A.1-1: a session has one start.
#[test]
fn a_session_starts_once() {
    let mut stage = Stage::empty(Settings::default());
    assert_eq!(stage.does(start("sess_a")), ["session.started"]);
    assert_eq!(stage.refuses(start("sess_a")), Refusal::SessionExists);
    stage.does(end(SessionOutcome::Completed));
    assert_eq!(stage.refuses(start("sess_a")), Refusal::SessionExists);
    assert_eq!(stage.does(start("sess_b")), ["session.started"]);
}

/// AAEP-EV-2: a session that the host does not name gets a fresh id.
#[test]
fn a_session_without_a_name_gets_one() {
    let mut stage = Stage::empty(Settings::default());
    stage.does(Input::StartSession { session_id: None });
    stage.does(Input::StartSession { session_id: None });
    let ids: Vec<_> = stage
        .producer
        .sessions()
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        ids,
        [
            "sess_00000000000000000000000000000001",
            "sess_00000000000000000000000000000003"
        ]
    );
}

/// AAEP-A.1-2, AAEP-A.1-3, AAEP-A.8-2, AAEP-A.8-3: a session ends once, and nothing comes after.
#[test]
fn a_session_ends_once() {
    for outcome in OUTCOMES {
        let mut stage = Stage::new();
        let terminal = match outcome {
            SessionOutcome::Completed => "session.completed",
            SessionOutcome::Errored => "session.errored",
            SessionOutcome::Cancelled => "session.cancelled",
        };
        assert_eq!(stage.does(end(outcome)), [terminal]);
        for again in OUTCOMES {
            assert_eq!(stage.refuses(end(again)), Refusal::SessionNotEndable);
        }
        assert_eq!(
            stage.refuses(Input::Confirm(ask("a1"))),
            Refusal::SessionNotActive
        );
        assert_eq!(stage.refuses(finish("a1")), Refusal::NothingToFinish);
    }
    let mut stage = Stage::empty(Settings::default());
    assert_eq!(
        stage.refuses(end(SessionOutcome::Completed)),
        Refusal::SessionNotEndable
    );
}

/// AAEP-EV-2, AAEP-REPLY-14: a subscription opens once and closes once.
#[test]
fn a_subscription_opens_and_closes_once() {
    let mut stage = Stage::empty(Settings::default());
    assert_eq!(
        stage.refuses(unsubscribe("sub_a")),
        Refusal::SubscriptionNotOpen
    );
    assert_eq!(stage.does(subscribe("sub_a", true)), [""; 0]);
    assert_eq!(
        stage.refuses(subscribe("sub_a", true)),
        Refusal::SubscriptionExists
    );
    assert_eq!(stage.does(unsubscribe("sub_a")), [""; 0]);
    assert_eq!(
        stage.refuses(unsubscribe("sub_a")),
        Refusal::SubscriptionNotOpen
    );
    assert_eq!(
        stage.refuses(subscribe("sub_a", true)),
        Refusal::SubscriptionExists
    );
}

// Several questions.

/// AAEP-A.4-2, AAEP-A.2-2, AAEP-6.8-3: the state leaves `awaiting_input` with every resolution, and comes back while another
/// question is open. AAEP-A.3-3: else it goes to `calling_tool` while a tool runs.
#[test]
fn the_state_leaves_awaiting_input_with_every_resolution() {
    let mut stage = Stage::new();
    let tokens = ["a1", "a2", "a3", "a4"].map(|action| stage.asks(ask(action)));
    assert_eq!(
        stage.replies(&tokens[2], Decision::Accept),
        [
            "respond 204",
            "state.changed AwaitingInput>CallingTool (a3 Accepted)",
            "tool.invoked (a3 Accepted)",
            "state.changed CallingTool>AwaitingInput",
            "perform sess_a a3"
        ]
    );
    assert_eq!(
        stage.replies(&tokens[0], Decision::Reject),
        [
            "respond 204",
            "state.changed AwaitingInput>Thinking (a1 Rejected)",
            "state.changed Thinking>AwaitingInput"
        ]
    );
    assert_eq!(
        stage.does(cancel(&tokens[3])),
        [
            "state.changed AwaitingInput>Thinking (a4 Cancelled)",
            "state.changed Thinking>AwaitingInput"
        ]
    );
    assert_eq!(
        stage.replies(&tokens[1], Decision::Accept),
        [
            "respond 204",
            "state.changed AwaitingInput>CallingTool (a2 Accepted)",
            "tool.invoked (a2 Accepted)",
            "perform sess_a a2"
        ]
    );
}

/// AAEP-A.4-2: another session's question does not hold the state.
#[test]
fn sessions_do_not_hold_each_other_up() {
    let mut stage = Stage::new();
    stage.does(start("sess_b"));
    let token = stage.asks(ask("a1"));
    let mut elsewhere = ask("a1");
    elsewhere.session_id = session("sess_b");
    stage.asks(elsewhere);
    assert_eq!(stage.replies(&token, Decision::Reject)[1..], REJECTED);
    stage.does(end(SessionOutcome::Cancelled));
    assert_eq!(stage.producer.confirmations()[1].phase, Phase::Pending);
}

// Cancellation.

/// AAEP-6.8-1, AAEP-6.8-3: a pending question may be taken back, and an event says so.
#[test]
fn a_pending_question_may_be_taken_back() {
    let mut stage = Stage::new();
    let token = stage.asks(ask_accepting("a1"));
    assert_eq!(
        stage.does(cancel(&token)),
        ["state.changed AwaitingInput>Thinking (a1 Cancelled)"]
    );
    // Its default never fires.
    assert_eq!(stage.producer.next_deadline(), None);
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), [""; 0]);
}

/// AAEP-6.8-1: nothing else may.
#[test]
fn what_is_not_pending_cannot_be_taken_back() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.refuses(cancel(&ReplyToken::from_bits(99))),
        Refusal::NothingToCancel
    );
    let accepted = stage.asks(ask("a1"));
    stage.replies(&accepted, Decision::Accept);
    let rejected = stage.asks(ask("a2"));
    stage.replies(&rejected, Decision::Reject);
    let cancelled = stage.asks(ask("a3"));
    stage.does(cancel(&cancelled));
    for token in [accepted, rejected, cancelled] {
        assert_eq!(stage.refuses(cancel(&token)), Refusal::NothingToCancel);
    }
}

/// AAEP-6.8-2: the end of a session takes back all its questions. AAEP-6.8-3: one that is not cancelled withdraws each by an
/// event first.
#[test]
fn the_end_of_a_session_takes_its_questions_back() {
    for outcome in OUTCOMES {
        let mut stage = Stage::new();
        stage.asks(ask("a1"));
        stage.asks(ask_accepting("a2"));
        let told = stage.does(end(outcome));
        match outcome {
            SessionOutcome::Completed | SessionOutcome::Errored => assert_eq!(
                told[..3],
                [
                    "state.changed AwaitingInput>Thinking (a1 Cancelled)",
                    "state.changed Thinking>AwaitingInput",
                    "state.changed AwaitingInput>Thinking (a2 Cancelled)",
                ]
            ),
            SessionOutcome::Cancelled => assert_eq!(told, ["session.cancelled"]),
        }
        assert_eq!(stage.producer.next_deadline(), None);
        stage.now = DEADLINE;
        assert_eq!(stage.does(Input::Tick), [""; 0]);
        for confirmation in stage.producer.confirmations() {
            assert!(matches!(confirmation.phase, Phase::Cancelled { .. }));
        }
    }
}

// Tools.

/// AAEP-A.3-1, AAEP-A.3-3: a tool that comes back is recorded, and the state goes on with the last one.
#[test]
fn a_tool_that_comes_back_is_recorded() {
    let mut stage = Stage::new();
    let tokens = ["a1", "a2"].map(|action| stage.asks(ask(action)));
    for token in &tokens {
        stage.replies(token, Decision::Accept);
    }
    assert_eq!(stage.does(finish("a2")), ["tool.completed Success"]);
    assert_eq!(
        stage.does(finish("a1")),
        [
            "tool.completed Success",
            "state.changed CallingTool>Thinking"
        ]
    );
}

/// AAEP-A.3-2, AAEP-A.8-1: no completion without an invocation, nor a second one.
#[test]
fn a_tool_that_was_not_invoked_cannot_come_back() {
    let mut stage = Stage::new();
    assert_eq!(stage.refuses(finish("a1")), Refusal::NothingToFinish);
    let token = stage.asks(ask("a1"));
    assert_eq!(stage.refuses(finish("a1")), Refusal::NothingToFinish);
    stage.replies(&token, Decision::Accept);
    assert_eq!(stage.refuses(finish("a2")), Refusal::NothingToFinish);
    stage.does(finish("a1"));
    assert_eq!(stage.refuses(finish("a1")), Refusal::NothingToFinish);
    let token = stage.asks(ask("a1"));
    stage.replies(&token, Decision::Reject);
    assert_eq!(stage.refuses(finish("a1")), Refusal::NothingToFinish);
}

/// AAEP-EV-8, AAEP-A.3-4: a question may be asked while a tool runs; the state is then the question's.
#[test]
fn a_question_may_be_asked_while_a_tool_runs() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    stage.replies(&token, Decision::Accept);
    let second = stage.does(Input::Confirm(ask("a2")));
    assert_eq!(
        second,
        [
            "state.changed CallingTool>AwaitingInput",
            "awaiting.confirmation"
        ]
    );
    assert_eq!(stage.does(finish("a1")), ["tool.completed Success"]);
    stage.now = DEADLINE;
    assert_eq!(
        stage.does(Input::Tick),
        ["state.changed AwaitingInput>Thinking (a2 Rejected)"]
    );
}

/// AAEP-A.3-4: two calls of one action in flight come back in the order of asking.
#[test]
fn two_calls_of_one_action_come_back_in_order() {
    let mut stage = Stage::new();
    for _ in 0..2 {
        let token = stage.asks(ask("a1"));
        stage.replies(&token, Decision::Accept);
    }
    let ids = [finish("a1"), finish("a1")].map(|input| {
        let outputs = serde_json::to_value(stage.outputs(input)).expect("serialises");
        outputs[0]["emit"]["tool_call_id"].clone()
    });
    assert_eq!(ids, ["call_0", "call_1"]);
}

/// AAEP-A.3-4: a call that is named by its id comes back by itself, and only once (AAEP-A.3-2).
#[test]
fn a_call_named_by_its_id_comes_back_before_an_earlier_one() {
    let mut stage = Stage::new();
    for _ in 0..2 {
        let token = stage.asks(ask("a1"));
        stage.replies(&token, Decision::Accept);
    }
    let second = || Input::FinishTool {
        session_id: session("sess_a"),
        action: action_id("a1"),
        tool_call_id: Some(ToolCallId::parse("call_1").expect("well-formed")),
        status: ToolStatus::Success,
    };
    let outputs = serde_json::to_value(stage.outputs(second())).expect("serialises");
    assert_eq!(outputs[0]["emit"]["tool_call_id"], "call_1");
    assert_eq!(stage.refuses(second()), Refusal::NothingToFinish);
}

/// AAEP-A.3-4, AAEP-A.3-2: calls are told apart by their actions, whose names may begin alike, and whatever their order.
#[test]
fn calls_of_different_actions_come_back_by_themselves() {
    let mut stage = Stage::new();
    for action in ["b", "ab", "a", "c"] {
        let token = stage.asks(ask(action));
        stage.replies(&token, Decision::Accept);
    }
    for other in ["aa", "abc", "d"] {
        assert_eq!(stage.refuses(finish(other)), Refusal::NothingToFinish);
    }
    assert_eq!(stage.does(finish("a")), ["tool.completed Success"]);
    assert_eq!(stage.refuses(finish("a")), Refusal::NothingToFinish);
    let doubts = ["b", "ab", "c"].map(|action| format!("in doubt sess_a {action}"));
    assert_eq!(stage.does(Input::Restart { lost: Vec::new() }), doubts);
    let withdrawn = ["b", "ab", "c"].map(|action| format!("withdraw sess_a {action}"));
    assert_eq!(stage.does(end(SessionOutcome::Cancelled))[..3], withdrawn);
}

/// AAEP-A.3-1, AAEP-6.8-2: the end of a session withdraws what has not come back; one that is not cancelled also completes it.
#[test]
fn the_end_of_a_session_withdraws_its_tools() {
    for (outcome, expected) in [
        (
            SessionOutcome::Completed,
            &[
                "state.changed AwaitingInput>Thinking (a3 Cancelled)",
                "state.changed Thinking>CallingTool",
                "withdraw sess_a a1",
                "withdraw sess_a a2",
                "tool.completed Error",
                "tool.completed Error",
                "session.completed",
            ][..],
        ),
        (
            SessionOutcome::Errored,
            &[
                "state.changed AwaitingInput>Thinking (a3 Cancelled)",
                "state.changed Thinking>CallingTool",
                "withdraw sess_a a1",
                "withdraw sess_a a2",
                "tool.completed Error",
                "tool.completed Error",
                "session.errored",
            ],
        ),
        (
            SessionOutcome::Cancelled,
            &[
                "withdraw sess_a a1",
                "withdraw sess_a a2",
                "session.cancelled",
            ],
        ),
    ] {
        let mut stage = Stage::new();
        for action in ["a0", "a1", "a2", "a3"] {
            stage.asks(ask(action));
        }
        // Released in another order than asked for; a0 has come back, a3 is pending.
        for index in [2, 1, 0] {
            let token = stage.producer.confirmations()[index]
                .question
                .asked
                .reply_token
                .clone();
            stage.replies(&token, Decision::Accept);
        }
        stage.does(finish("a0"));
        assert_eq!(stage.does(end(outcome)), expected);
        assert_eq!(stage.does(Input::Restart { lost: Vec::new() }), [""; 0]);
    }
}

/// AAEP-A.3-1: each invocation gets its own completion, in the order of asking.
#[test]
fn the_end_of_a_session_completes_each_call_once() {
    let mut stage = Stage::new();
    let tokens = ["a0", "a1", "a2"].map(|action| stage.asks(ask(action)));
    for token in tokens.iter().rev() {
        stage.replies(token, Decision::Accept);
    }
    let ended = stage.outputs(end(SessionOutcome::Completed));
    let ended = serde_json::to_value(ended).expect("serialises");
    let completions = [3, 4, 5].map(|index| ended[index]["emit"]["tool_call_id"].clone());
    assert_eq!(completions, ["call_0", "call_1", "call_2"]);
}

// The last subscription that could answer.

/// AAEP-EV-11: it closes, and what silence would reject is rejected at once.
#[test]
fn nobody_left_to_answer_rejects_at_once() {
    let mut stage = Stage::new();
    stage.does(subscribe("sub_b", true));
    stage.does(subscribe("sub_c", false));
    stage.asks(ask("a1"));
    assert_eq!(stage.does(unsubscribe("sub_a")), [""; 0]);
    assert_eq!(stage.does(unsubscribe("sub_b")), REJECTED);
    let phase = stage.producer.confirmations()[0].phase;
    assert_eq!(
        phase,
        Phase::Rejected {
            by: Authority::SubscriptionClosed
        }
    );
}

/// AAEP-EV-11, AAEP-6.1-1: an accepting default waits for its deadline all the same.
#[test]
fn nobody_left_to_answer_accepts_nothing_early() {
    let mut stage = Stage::new();
    stage.asks(ask_accepting("a1"));
    stage.asks(ask("a2"));
    let closed = stage.does(unsubscribe("sub_a"));
    assert_eq!(
        closed,
        [
            "state.changed AwaitingInput>Thinking (a2 Rejected)",
            "state.changed Thinking>AwaitingInput"
        ]
    );
    stage.now = DEADLINE - 1;
    assert_eq!(stage.does(Input::Tick), [""; 0]);
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), ACCEPTED);
}

/// AAEP-EV-11: a subscription that could not answer takes nothing away when it closes.
#[test]
fn closing_a_subscription_that_cannot_answer_changes_nothing() {
    let mut stage = Stage::new();
    stage.does(subscribe("sub_b", false));
    stage.asks(ask("a1"));
    assert_eq!(stage.does(unsubscribe("sub_b")), [""; 0]);
    assert_eq!(stage.producer.confirmations()[0].phase, Phase::Pending);
}

/// AAEP-6.4-1: a question that nobody could ever answer waits for its timeout as usual.
#[test]
fn a_question_asked_of_nobody_waits() {
    let mut stage = Stage::empty(Settings::default());
    stage.does(start("sess_a"));
    stage.does(subscribe("sub_b", false));
    stage.asks(ask("a1"));
    assert_eq!(stage.does(unsubscribe("sub_b")), [""; 0]);
    stage.now = DEADLINE;
    assert_eq!(stage.does(Input::Tick), REJECTED);
}

// Crashes.

/// AAEP-6.1-1: after a crash an action that was released is in doubt, and is never run again.
#[test]
fn a_restart_reports_what_is_in_doubt() {
    let mut stage = Stage::new();
    assert_eq!(stage.does(Input::Restart { lost: Vec::new() }), [""; 0]);
    for action in ["a0", "a1", "a2", "a3"] {
        let token = stage.asks(ask(action));
        stage.replies(
            &token,
            if action == "a3" {
                Decision::Reject
            } else {
                Decision::Accept
            },
        );
    }
    stage.does(finish("a1"));
    stage.asks(ask("a4"));
    let before = stage.producer.clone();
    for _ in 0..2 {
        assert_eq!(
            stage.does(Input::Restart { lost: Vec::new() }),
            ["in doubt sess_a a0", "in doubt sess_a a2"]
        );
        assert_eq!(stage.producer, before);
    }
    // It can still be recorded as done.
    assert_eq!(stage.does(finish("a0")), ["tool.completed Success"]);
    assert_eq!(
        stage.does(Input::Restart { lost: Vec::new() }),
        ["in doubt sess_a a2"]
    );
}

/// AAEP-6.4-1: what falls due while the process is down is settled when it is back, and is not in doubt.
#[test]
fn a_restart_settles_what_fell_due_meanwhile() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a0"));
    stage.replies(&token, Decision::Accept);
    stage.asks(ask_accepting("a1"));
    stage.now = DEADLINE;
    let restarted = stage.does(Input::Restart { lost: Vec::new() });
    assert_eq!(restarted, [&ACCEPTED[..], &["in doubt sess_a a0"]].concat());
}

/// AAEP-6.7-1, AAEP-6.1-1: a question that nobody has seen is asked anew, with its token; its timeout counts from then, so that
/// its default does not accept what nobody was asked about.
#[test]
fn a_question_that_was_lost_is_asked_anew() {
    let mut stage = Stage::new();
    let asked = stage.outputs(Input::Confirm(ask_accepting("a1")));
    let before = stage.producer.confirmations()[0].clone();
    stage.now = DEADLINE + 1;
    let again = stage.outputs(Input::Restart {
        lost: asked.clone(),
    });
    let [Output::Emit(state), Output::Emit(question)] = &asked[..] else {
        panic!("a change of state and a question: {asked:?}");
    };
    let anew = Event {
        event_id: emitted(&again[1]).event_id.clone(),
        timestamp: Timestamp::from_millis(stage.now),
        ..(**question).clone()
    };
    assert_ne!(anew.event_id, question.event_id);
    assert_eq!(
        again,
        [Output::Emit(state.clone()), Output::Emit(Box::new(anew))]
    );
    let deadline = stage.now + DEADLINE - START;
    assert_eq!(
        stage.producer.next_deadline(),
        Some(Deadline::from_millis(deadline))
    );
    let asked_at = before.question.asked.at;
    assert_eq!(asked_at, Timestamp::from_millis(START));
    stage.now = deadline - 1;
    assert_eq!(stage.does(Input::Tick), [""; 0]);
    stage.now = deadline;
    assert_eq!(stage.does(Input::Tick), ACCEPTED);
}

/// AAEP-6.1-1: the same where the calendar ends before the timeout does; then the default never comes.
#[test]
fn a_question_that_is_asked_anew_at_the_end_of_the_calendar_waits() {
    for (left, comes) in [(9_999, false), (10_000, true), (10_001, true)] {
        let mut stage = Stage::new();
        stage.now = Timestamp::MAX.millis() - 60_000;
        let lost = stage.outputs(Input::Confirm(ask_accepting("a1")));
        stage.now = Timestamp::MAX.millis() - left;
        assert_eq!(stage.outputs(Input::Restart { lost }).len(), 2);
        let deadline = stage.producer.next_deadline().map(Deadline::millis);
        assert_eq!(deadline, Some(stage.now + 10_000));
        let mut stage = stage.stored_and_read_back();
        stage.now = Timestamp::MAX.millis();
        let told = stage.does(Input::Tick);
        assert_eq!(told, if comes { &ACCEPTED[..] } else { &[] }, "{left}");
    }
    // AAEP-6.4.3-4: nor is the time told that is left, where half of it does not pass.
    for (left, is_told) in [(49_999, false), (50_000, true), (50_001, true)] {
        let mut stage = Stage::new();
        stage.now = Timestamp::MAX.millis() - 200_000;
        let mut question = ask("a1");
        question.timeout_seconds = 100;
        let lost = stage.outputs(Input::Confirm(question));
        stage.now = Timestamp::MAX.millis() - left;
        assert_eq!(stage.outputs(Input::Restart { lost }).len(), 2);
        stage.now = Timestamp::MAX.millis();
        assert_eq!(stage.does(Input::Tick).len(), usize::from(is_told));
    }
}

/// AAEP-EV-4, AAEP-6.1-3, AAEP-A.4-3: every other event that was lost comes again byte for byte; an action that was lost is in
/// doubt and is not run again.
#[test]
fn events_that_were_lost_come_again_as_they_were() {
    let mut stage = Stage::new();
    let token = stage.asks(ask("a1"));
    let accept = reply(&token, Decision::Accept, stage.now);
    let told = stage.outputs(deliver("sub_a", &accept));
    for carried in 0..=told.len() {
        let mut stage = stage.clone();
        stage.now += 1;
        let lost = told[carried..].to_vec();
        let again = stage.outputs(Input::Restart { lost: lost.clone() });
        let is_event = |output: &Output| matches!(output, Output::Emit(_));
        let events: Vec<_> = lost.into_iter().filter(is_event).collect();
        let (last, first) = again.split_last().expect("the doubt comes last");
        assert_eq!(first, events);
        assert!(matches!(last, Output::InDoubt(_)));
    }
}

/// AAEP-EV-3: what a session has told behind a question that was lost is told when the question is.
#[test]
fn what_was_told_behind_a_lost_question_takes_its_time() {
    let mut stage = Stage::new();
    let mut lost = stage.outputs(Input::Confirm(ask("a1")));
    lost.extend(stage.outputs(Input::Confirm(ask("a2"))));
    lost.remove(0);
    stage.now += 5;
    for output in stage.outputs(Input::Restart { lost }) {
        assert_eq!(emitted(&output).timestamp.millis(), stage.now);
    }
}

fn emitted(output: &Output) -> &Event {
    let Output::Emit(event) = output else {
        panic!("no event: {output:?}");
    };
    event
}
