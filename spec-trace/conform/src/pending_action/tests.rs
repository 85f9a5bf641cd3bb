//! What an executor puts out is changed in one field, and the bridge must notice.

use countersign_model::pending_action::action::Manner;
use countersign_model::pending_action::words::{
    Decision, Effect, Proposal, SessionName, ToolStatus,
};
use countersign_reference::pending_action::{
    Append, Arguments, Audit, DeciderId, Entry, Event, Happened, Label, Message, Output as Out,
    Summary, Text, ToolCall, ToolName,
};

use super::*;
use crate::naming::changed::{self, FREE};

const PROPOSE: Action = Action::Propose(Proposal {
    session: SessionName::A,
    lifetime: Some(1),
    by_anyone: false,
    idempotent: false,
    effect: Effect::Destructive,
});

const DELIVER: Action = Action::Deliver { index: 0 };

const fn send(decision: Decision) -> Action {
    Action::Send {
        slot: Slot::First,
        decision,
        manner: Manner::Plain,
    }
}

/// Something is proposed, decided so, decided once more, and finished or cancelled.
fn run(decision: Decision) -> Vec<Action> {
    let carry_out = [Action::CarryOut; 3];
    let asked = [&[PROPOSE][..], &carry_out[..2]].concat();
    let decided = [send(decision), send(decision), DELIVER, DELIVER];
    let finish = Action::FinishTool {
        slot: Slot::First,
        status: ToolStatus::Success,
    };
    [&asked[..], &decided, &carry_out, &[finish]].concat()
}

/// The first output of a kind.
macro_rules! first {
    ($name:ident, $kind:ident, $type:ty) => {
        fn $name(outputs: &mut [Out]) -> &mut $type {
            for output in outputs {
                if let Out::$kind(found) = output {
                    return found;
                }
            }
            panic!("none of this kind came out");
        }
    };
}

first!(record, Record, Record);
first!(append, Append, Append);
first!(event, Event, Event);
first!(call, Perform, ToolCall);
first!(audit, Audit, Audit);

fn eve() -> DeciderId {
    DeciderId::parse("eve").expect("a name")
}

fn other_arguments() -> Arguments {
    Arguments::parse(Text::new("{}")).expect("an object")
}

type Change = changed::Change<Environment>;

/// Each change of what the steps put out at last goes against its clause.
#[track_caller]
fn all_noticed(steps: &[Action], changes: &[(Change, &str)]) {
    let bounds = Bounds {
        backlog: 4,
        ..Bounds::SMALL
    };
    let bridge = PendingActionBridge::new(bounds).expect("in range");
    changed::all_noticed(&bridge.literal(), steps, changes);
}

/// PA-1, PA-3, PA-9, PA-10: what was proposed is recorded, asked about and told, in every field and in this order.
#[test]
fn a_question_is_held_against_the_proposal() {
    all_noticed(
        &[PROPOSE],
        &[
            (|outputs| record(outputs).number = 2, "PA-1"),
            (|outputs| record(outputs).at = Timestamp::MIN, "PA-7"),
            (
                |outputs| {
                    if let Entry::Proposed { proposal, .. } = &mut record(outputs).entry {
                        Arc::make_mut(proposal).arguments = other_arguments();
                    }
                },
                "PA-3",
            ),
            (
                |outputs| {
                    if let Entry::Proposed { proposal, .. } = &mut record(outputs).entry {
                        Arc::make_mut(proposal).deciders = None;
                    }
                },
                "PA-2",
            ),
            (
                |outputs| {
                    if let Entry::Proposed { pends, .. } = &mut record(outputs).entry {
                        *pends = false;
                    }
                },
                "PA-13",
            ),
            (|outputs| drop(outputs.remove(0)), "PA-1"),
            (|outputs| outputs.swap(0, 1), "PA-1"),
            (|outputs| outputs.swap(1, 2), FREE),
            (|outputs| append(outputs).session_id = None, "PA-10"),
            (
                |outputs| {
                    let id = event(outputs).action_id;
                    if let Message::ConfirmationRequest { text, .. } = &mut append(outputs).message
                    {
                        *text = Summary::parse(&format!("{text} {id}")).expect("a summary");
                    }
                },
                "PA-9",
            ),
            (
                |outputs| {
                    if let Message::ConfirmationRequest { label, .. } = &mut append(outputs).message
                    {
                        *label = Label::parse("OK").expect("a label");
                    }
                },
                "PA-9",
            ),
            (|outputs| event(outputs).at = Timestamp::MIN, "PA-10"),
            (|outputs| drop(outputs.pop()), "PA-1"),
        ],
    );
}

/// PA-2, PA-3, PA-4, PA-8: an allow is recorded with who gave it, the transcript has the call, and that very call runs once.
#[test]
fn an_allowed_call_is_held_against_the_proposal() {
    all_noticed(
        &run(Decision::Allow)[..6],
        &[
            (
                |outputs| {
                    if let Entry::Decided { by, .. } = &mut record(outputs).entry {
                        *by = eve();
                    }
                },
                "PA-2",
            ),
            (
                |outputs| {
                    if let Message::ToolCall { arguments, .. } = &mut append(outputs).message {
                        *arguments = other_arguments();
                    }
                },
                "PA-4",
            ),
            (
                |outputs| {
                    if let Happened::Decided { by, .. } = &mut event(outputs).happened {
                        *by = None;
                    }
                },
                "PA-10",
            ),
            (
                |outputs| call(outputs).arguments = other_arguments(),
                "PA-3",
            ),
            (
                |outputs| call(outputs).tool = ToolName::parse("rm").expect("a name"),
                "PA-3",
            ),
            (
                |outputs| {
                    let text = format!("{} ", call(outputs).arguments.as_str());
                    let again = Arguments::parse(Text::new(text));
                    call(outputs).arguments = again.expect("an object");
                },
                "PA-3",
            ),
            (|outputs| outputs.push(outputs[3].clone()), "PA-8"),
            (|outputs| drop(outputs.pop()), "PA-3"),
            // PA-4: it may be told of as long as the tool has not come back.
            (|outputs| drop(outputs.remove(2)), FREE),
            (|outputs| outputs.reverse(), FREE),
        ],
    );
}

/// PA-5, PA-6: a denial is told with who gave it, and nothing runs.
#[test]
fn a_denial_is_held_against_the_decision() {
    all_noticed(
        &run(Decision::Deny)[..6],
        &[
            (
                |outputs| {
                    if let Message::DeniedResult { by, .. } = &mut append(outputs).message {
                        *by = eve();
                    }
                },
                "PA-6",
            ),
            (|outputs| drop(outputs.remove(2)), "PA-6"),
            (|outputs| drop(outputs.pop()), FREE),
        ],
    );
}

/// PA-8, PA-10: the operator is told which decision was ignored, whose, when and why; and it has no effect.
#[test]
fn an_ignored_decision_is_held_against_the_call() {
    all_noticed(
        &run(Decision::Allow)[..7],
        &[
            (|outputs| audit(outputs).by.clear(), "PA-10"),
            (|outputs| audit(outputs).action_id.clear(), "PA-10"),
            (|outputs| audit(outputs).at = Timestamp::MIN, "PA-10"),
            (
                |outputs| audit(outputs).reason = executor::IgnoredBecause::Cancelled,
                "PA-8",
            ),
            (
                |outputs| audit(outputs).reason = executor::IgnoredBecause::Expired,
                "PA-10",
            ),
            (|outputs| outputs.clear(), FREE),
            (|outputs| outputs.push(outputs[0].clone()), FREE),
        ],
    );
}

/// PA-4: what the tool has returned is recorded and told as it is.
#[test]
fn a_result_is_held_against_what_was_returned() {
    all_noticed(
        &run(Decision::Allow),
        &[
            (
                |outputs| {
                    if let Entry::Finished { result, .. } = &mut record(outputs).entry {
                        *result = Text::new("another");
                    }
                },
                "PA-4",
            ),
            (
                |outputs| {
                    if let Message::ToolResult { result, .. } = &mut append(outputs).message {
                        *result = Text::new("another");
                    }
                },
                "PA-4",
            ),
            (
                |outputs| {
                    if let Happened::Executed { status } = &mut event(outputs).happened {
                        *status = executor::ToolStatus::Error;
                    }
                },
                "PA-10",
            ),
        ],
    );
}
