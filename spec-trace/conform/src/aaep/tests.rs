//! What an executor puts out is changed in one place, and the bridge must notice, by the right clause.

use countersign_model::aaep::action::EVERYBODY_COMES;
use countersign_model::aaep::message::Shape;
use countersign_model::aaep::words::{
    AllowedReplies, Class, Decision, Piece, Risk, SessionOutcome, Subscriber,
};
use countersign_reference::aaep::{
    Audit, Decision as Decides, Event, EventId, Identity, Notice, Output as Out, Payload,
    ResolutionOutcome, ToolCall, ToolStatus,
};
use countersign_reference::time::Timestamp;

use super::*;
use crate::naming::changed::{self, FREE};

const ASK: Action = Action::Ask {
    session: SessionName::A,
    class: Class {
        risk: Risk::Low,
        irreversible: false,
        default: Decision::Accept,
        allowed: AllowedReplies::Both,
    },
    timeout: 1,
    same_action: false,
};

/// The deadline passes, and the default accepts.
const ACCEPTED: [Action; 5] = [
    ASK,
    Action::CarryOut,
    Action::Tick,
    Action::Tick,
    Action::ServeTimer,
];

/// A subscriber rejects, and its reply arrives once more.
const REJECTED: [Action; 5] = [
    ASK,
    Action::CarryOut,
    Action::Decide {
        subscriber: Subscriber::Capable,
        slot: Slot::First,
        decision: Decision::Reject,
        skew: 0,
        shape: Shape::Plain,
    },
    Action::Deliver { index: 0 },
    Action::Replay,
];

type Change = changed::Change<Environment>;

/// Each change of what the steps put out at last goes against its clause.
#[track_caller]
fn all_noticed(steps: &[Action], changes: &[(Change, &str)]) {
    let bridge = AaepBridge::new(Bounds::WORK).expect("the presets are in range");
    changed::all_noticed(&bridge, &[&EVERYBODY_COMES, steps].concat(), changes);
}

/// The last event.
fn event(outputs: &mut [Out]) -> &mut Event {
    for output in outputs.iter_mut().rev() {
        if let Out::Emit(event) = output {
            return event;
        }
    }
    panic!("no event came out");
}

fn call(outputs: &mut [Out]) -> &mut ToolCall {
    match outputs.last_mut() {
        Some(Out::Perform(call)) => call,
        others => panic!("nothing to perform: {others:?}"),
    }
}

fn audit(outputs: &mut [Out]) -> &mut Audit {
    let Out::Audit(audit) = &mut outputs[1] else {
        panic!("no audit");
    };
    audit
}

fn notice(outputs: &mut [Out]) -> &mut Notice {
    let Out::Notify(notice) = &mut outputs[2] else {
        panic!("no notice");
    };
    notice
}

fn other_session() -> executor::SessionId {
    executor::SessionId::parse("sess_B").expect("an id")
}

/// AAEP-EV-1, AAEP-EV-3, AAEP-EV-4, AAEP-EV-5, AAEP-EV-7: the question has the envelope of its session, and asks what the host
/// wanted to ask.
#[test]
fn a_question_is_held_against_what_was_asked() {
    all_noticed(
        &[ASK],
        &[
            (
                |outputs| event(outputs).session_id = other_session(),
                "AAEP-EV-1",
            ),
            (
                |outputs| event(outputs).producer = Identity::default().into(),
                "AAEP-EV-1",
            ),
            (
                |outputs| event(outputs).timestamp = Timestamp::MIN,
                "AAEP-EV-3",
            ),
            (|outputs| event(outputs).sequence_number += 1, "AAEP-EV-4"),
            // The other session began with it.
            (
                |outputs| event(outputs).event_id = EventId::from_bits(2),
                "AAEP-EV-7",
            ),
            (
                |outputs| {
                    if let Payload::AwaitingConfirmation {
                        default_decision, ..
                    } = &mut event(outputs).payload
                    {
                        *default_decision = Decides::Reject;
                    }
                },
                "AAEP-EV-5",
            ),
            // AAEP-A.7.6-2: the first question may follow the start.
            (|outputs| drop(outputs.remove(0)), FREE),
            (|outputs| outputs.push(outputs[1].clone()), "AAEP-6.2.2-3"),
        ],
    );
}

/// AAEP-6.1-1, AAEP-6.4-1, AAEP-6.7.2-1, AAEP-A.4-3: what is accepted is announced as such, and runs as it was confirmed.
#[test]
fn an_accepted_call_is_held_against_what_was_confirmed() {
    all_noticed(
        &ACCEPTED,
        &[
            (
                |outputs| {
                    let resolution = event(outputs).extension.as_mut().expect("a resolution");
                    resolution.outcome = Some(ResolutionOutcome::Cancelled);
                },
                "AAEP-6.7.2-1",
            ),
            (
                |outputs| call(outputs).session_id = other_session(),
                "AAEP-6.1-1",
            ),
            (|outputs| call(outputs).tool = "x".into(), "AAEP-6.1-1"),
            (|outputs| outputs.swap(1, 2), FREE),
            (|outputs| drop(outputs.pop()), "AAEP-A.4-3"),
            (|outputs| outputs.truncate(0), "AAEP-6.4-1"),
        ],
    );
}

/// AAEP-6.1-3, AAEP-6.7.2-1, AAEP-EV-8: a rejection is told as one.
#[test]
fn a_rejection_is_told_as_one() {
    all_noticed(
        &REJECTED[..4],
        &[
            (
                |outputs| {
                    let resolution = event(outputs).extension.as_mut().expect("a resolution");
                    resolution.outcome = Some(ResolutionOutcome::Cancelled);
                },
                "AAEP-6.7.2-1",
            ),
            (
                |outputs| {
                    if let Payload::StateChanged { summary_normal, .. } =
                        &mut event(outputs).payload
                    {
                        *summary_normal = "The action was accepted and proceeds.";
                    }
                },
                "AAEP-6.1-3",
            ),
            (
                |outputs| {
                    if let Payload::StateChanged { from_state, .. } = &mut event(outputs).payload {
                        *from_state = executor::AgentState::CallingTool;
                    }
                },
                "AAEP-EV-8",
            ),
            (|outputs| outputs.swap(0, 1), FREE),
            (|outputs| drop(outputs.remove(0)), FREE),
            (|outputs| drop(outputs.pop()), "AAEP-6.1-3"),
        ],
    );
}

/// AAEP-6.3.4-8, AAEP-6.3.4-9, AAEP-6.3.5-2: the operator reads which token was ignored and why, and its sender is told, where the host has
/// chosen so.
#[test]
fn an_ignored_reply_is_held_against_the_message() {
    all_noticed(
        &REJECTED,
        &[
            (|outputs| audit(outputs).reply_token = None, "AAEP-6.3.4-8"),
            (|outputs| audit(outputs).text.clear(), "AAEP-6.3.4-8"),
            (|outputs| drop(outputs.remove(0)), "AAEP-6.3.4-9"),
            (|outputs| drop(outputs.remove(1)), FREE),
            (
                |outputs| {
                    let other = executor::SubscriptionId::parse("sub_s3").expect("an id");
                    notice(outputs).subscription_id = other;
                },
                "AAEP-6.3.5-2",
            ),
            (|outputs| drop(outputs.pop()), FREE),
        ],
    );
}

const RUN: Action = Action::Work(Piece::Run {
    session: SessionName::A,
    irreversible: false,
});
const FINISH: Action = Action::Work(Piece::Finish {
    session: SessionName::A,
});
const WRITE: Action = Action::Work(Piece::Write {
    session: SessionName::A,
    complete: false,
});

/// AAEP-6.1-4, AAEP-A.3-3, AAEP-EV-5: what runs unasked is announced, and runs as the host wanted.
#[test]
fn a_tool_that_runs_unasked_is_held_against_what_was_wanted() {
    all_noticed(
        &[RUN],
        &[
            (
                |outputs| {
                    if let Payload::ToolInvoked { args_summary, .. } = &mut event(outputs).payload {
                        *args_summary = None;
                    }
                },
                "AAEP-EV-5",
            ),
            (|outputs| call(outputs).tool = "x".into(), "AAEP-6.1-1"),
            (
                |outputs| call(outputs).session_id = other_session(),
                "AAEP-6.1-1",
            ),
            (|outputs| drop(outputs.remove(0)), FREE),
            (|outputs| drop(outputs.remove(1)), "AAEP-A.3-2"),
            (|outputs| drop(outputs.pop()), "AAEP-A.3-1"),
        ],
    );
}

/// AAEP-A.3-1, AAEP-EV-5, AAEP-EV-8: it is completed as it came out, and the state leaves `calling_tool`.
#[test]
fn a_tool_that_comes_back_is_held_against_what_the_host_says() {
    all_noticed(
        &[RUN, FINISH],
        &[
            (
                |outputs| {
                    if let Some(Out::Emit(event)) = outputs.first_mut()
                        && let Payload::ToolCompleted { status, .. } = &mut event.payload
                    {
                        *status = ToolStatus::Timeout;
                    }
                },
                "AAEP-EV-5",
            ),
            (
                |outputs| {
                    if let Payload::StateChanged { from_state, .. } = &mut event(outputs).payload {
                        *from_state = executor::AgentState::WritingOutput;
                    }
                },
                "AAEP-EV-8",
            ),
            (|outputs| drop(outputs.remove(0)), "AAEP-A.3-1"),
            (|outputs| drop(outputs.pop()), FREE),
        ],
    );
}

/// AAEP-A.6-1, AAEP-A.6-2, AAEP-EV-5: a chunk says what the host wanted, where the one before it ends.
#[test]
fn a_chunk_is_held_against_what_was_to_be_put_out() {
    all_noticed(
        &[WRITE, WRITE],
        &[
            (
                |outputs| {
                    if let Payload::OutputStreaming { chunk, .. } = &mut event(outputs).payload {
                        *chunk = "".into();
                    }
                },
                "AAEP-EV-5",
            ),
            (
                |outputs| {
                    if let Payload::OutputStreaming { position, .. } = &mut event(outputs).payload {
                        *position += 1;
                    }
                },
                "AAEP-A.6-2",
            ),
            (
                |outputs| {
                    if let Payload::OutputStreaming { position, .. } = &mut event(outputs).payload {
                        *position = 0;
                    }
                },
                "AAEP-A.6-2",
            ),
            (
                |outputs| {
                    if let Payload::OutputStreaming { complete, .. } = &mut event(outputs).payload {
                        *complete = true;
                    }
                },
                "AAEP-A.6-1",
            ),
            (|outputs| drop(outputs.pop()), "AAEP-A.6-2"),
        ],
    );
}

/// AAEP-A.2-3, AAEP-EV-5: a handoff says what the host wanted, in its state.
#[test]
fn a_handoff_is_held_against_what_was_wanted() {
    let hand_off = Action::Work(Piece::HandOff {
        session: SessionName::A,
    });
    all_noticed(
        &[hand_off],
        &[
            (
                |outputs| {
                    if let Payload::HandoffRequested { target_uri, .. } =
                        &mut event(outputs).payload
                    {
                        *target_uri = None;
                    }
                },
                "AAEP-EV-5",
            ),
            (|outputs| drop(outputs.remove(0)), "AAEP-A.2-3"),
            (|outputs| drop(outputs.pop()), "AAEP-A.2-3"),
        ],
    );
}

/// AAEP-6.9-2: what ran unasked is in doubt after a restart, and is that call.
#[test]
fn a_call_in_doubt_is_held_against_what_runs() {
    all_noticed(
        &[RUN, Action::Crash],
        &[
            (
                |outputs| {
                    if let Some(Out::InDoubt(call)) = outputs.first_mut() {
                        call.tool = "x".into();
                    }
                },
                "AAEP-6.1-1",
            ),
            (
                |outputs| {
                    if let Some(Out::InDoubt(call)) = outputs.pop() {
                        outputs.push(Out::Perform(call));
                    }
                },
                "AAEP-6.1-1",
            ),
            (|outputs| drop(outputs.pop()), "AAEP-A.3-1"),
        ],
    );
}

/// AAEP-A.1-3, AAEP-A.3-1, AAEP-A.6-1: the end of a session withdraws what runs unasked, completes it, and completes the output.
#[test]
fn the_end_of_a_session_is_held_against_what_goes_on() {
    let end = Action::EndSession {
        session: SessionName::A,
        outcome: SessionOutcome::Completed,
    };
    all_noticed(
        &[WRITE, RUN, end],
        &[
            (
                |outputs| {
                    if let Some(Out::Withdraw(call)) = outputs.first_mut() {
                        call.tool = "x".into();
                    }
                },
                "AAEP-6.1-1",
            ),
            // To the host alone.
            (|outputs| drop(outputs.remove(0)), FREE),
            (|outputs| drop(outputs.remove(1)), "AAEP-A.3-1"),
            (|outputs| drop(outputs.remove(2)), "AAEP-A.6-1"),
        ],
    );
}
