//! What the judge lets pass beside what the model's ledger puts out: the freedoms of the text.

use countersign_model::judged::InSearch as _;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::pending_action::judge::PendingActionJudge;
use countersign_model::pending_action::output::{Event, Output};
use countersign_model::pending_action::rules::{Check, Refusal};
use countersign_model::pending_action::told::Asked;
use countersign_model::pending_action::words::{Arguments, Decision, Note, Slot, ToolStatus};

use crate::common::teeth::{Freedom, Mutation, assert_table};

const FREEDOMS: &[Freedom<PendingActionProtocol>] = &[
    Freedom {
        clause: "PA-8",
        name: "of an action that a rollback or a crash has changed nothing is said, but that it runs neither twice nor unasked",
        applies: |judge, told, done| {
            let is_unsure = |judge: &PendingActionJudge| {
                let unsure = |slot| !judge.is_sure_of(slot as u32);
                any_of(*done, |it| slot(it).is_some_and(unsure))
            };
            let is_unsure_after = || {
                let mut after = judge.clone();
                after.is_told(*told);
                is_unsure(&after)
            };
            let may_run = matches!(told.call, Asked::Decide(_) | Asked::Restart { .. });
            (may_run || !done.adds(|it| matches!(it, Output::Perform(..))))
                && (is_unsure(judge) || is_unsure_after())
        },
    },
    Freedom {
        clause: "PA-2",
        name: "what has no effect is refused, audited or passed over in silence",
        applies: |_, _, done| any_of(*done, is_aside),
    },
    Freedom {
        clause: "PA-1",
        name: "which records are kept of an action is between the ledger and its host",
        applies: |_, _, done| any_of(*done, |it| matches!(it, Output::Record(_))),
    },
    Freedom {
        clause: "PA-1",
        name: "an action has any id that no other has",
        applies: |_, _, done| without(*done, |it| matches!(it, Output::Event(Event::Created, _))),
    },
    Freedom {
        clause: "PA-5",
        name: "how the host is kept from beginning what was cancelled is between it and the ledger",
        applies: |_, _, done| any_of(*done, |it| matches!(it, Output::Withdraw(_))),
    },
    Freedom {
        clause: "PA-9",
        name: "the question need not be put into the transcript",
        applies: |_, _, done| without(*done, |it| matches!(it, Output::Append(Note::Request, _))),
    },
    Freedom {
        clause: "PA-4",
        name: "the call is told of by a message, an event or both, at any time from its proposal to its result",
        applies: |_, _, done| any_of(*done, |it| matches!(it, Output::Append(Note::Call, _))),
    },
    Freedom {
        clause: "PA-4",
        name: "what came of the call is told of by a message, an event or both",
        applies: |_, _, done| without(*done, is_result),
    },
    Freedom {
        clause: "PA-6",
        name: "a denial that is appended needs no event",
        applies: |_, _, done| without(*done, |it| matches!(it, Output::Event(Event::Denied, _))),
    },
    Freedom {
        clause: "PA-10",
        name: "that a question has expired or is cancelled is told by a message, an event or both",
        applies: |_, _, done| {
            without(*done, |it| {
                matches!(
                    it,
                    Output::Append(Note::Expired | Note::Cancelled, _)
                        | Output::Event(Event::Expired | Event::Cancelled, _)
                )
            })
        },
    },
    Freedom {
        clause: "PA-10",
        name: "who goes back to an older state may say what of it is in doubt",
        applies: |_, told, done| {
            told.call == Asked::Rollback && any_of(*done, |it| matches!(it, Output::InDoubt(_)))
        },
    },
    Freedom {
        clause: "PA-10",
        name: "what comes out of one call has no order, but a result follows its call, and what a crash has lost comes first",
        applies: |_, _, done| {
            let is_call = |it| matches!(it, Output::Append(Note::Call, _));
            done.swaps(|one, other| !(is_call(one) && is_result(other) && slot(one) == slot(other)))
        },
    },
];

#[test]
#[ignore = "night: changes every output of every state"]
fn what_the_judge_lets_pass_is_a_freedom_of_the_text() {
    assert_table(&vocabulary(), FREEDOMS, include_str!("teeth.txt"));
}

fn vocabulary() -> Vec<Output> {
    const RESULTS: [ToolStatus; 3] = [ToolStatus::Success, ToolStatus::Error, ToolStatus::NotRun];
    let mut all = vec![
        Output::AppendText,
        Output::Audit(Check::Unresolved),
        Output::Refused(Refusal::SessionOver),
    ];
    for slot in [Slot::First, Slot::Second] {
        let notes = [
            Note::Request,
            Note::Call,
            Note::Denied,
            Note::Expired,
            Note::Cancelled,
        ];
        let events = [
            Event::Created,
            Event::Denied,
            Event::Expired,
            Event::Cancelled,
            Event::NotRun,
        ];
        let arguments = [Arguments::Original, Arguments::Alike, Arguments::Edited];
        all.extend(Decision::ALL.map(|it| Output::Event(Event::Decided(it), slot)));
        all.extend(RESULTS.map(|it| Output::Append(Note::Result(it), slot)));
        all.extend(RESULTS.map(|it| Output::Event(Event::Executed(it), slot)));
        all.extend(notes.map(|it| Output::Append(it, slot)));
        all.extend(events.map(|it| Output::Event(it, slot)));
        all.extend(arguments.map(|it| Output::Perform(slot, it)));
        all.extend([Output::Expose(slot), Output::InDoubt(slot)]);
    }
    all
}

/// Whether one of these was added, left out or changed.
fn any_of(done: Mutation<Output>, which: impl Fn(Output) -> bool) -> bool {
    match done {
        Mutation::LeftOut(it) | Mutation::Added(it) => which(it),
        Mutation::Swapped(..) => false,
        Mutation::Changed { was, is } => which(was) || which(is),
    }
}

/// Whether one of these is not there any more.
fn without(done: Mutation<Output>, which: fn(Output) -> bool) -> bool {
    done.leaves_out(which) || done.changes(which)
}

/// Whether an output tells what came of a call.
const fn is_result(output: Output) -> bool {
    matches!(
        output,
        Output::Append(Note::Result(_), _) | Output::Event(Event::Executed(_) | Event::NotRun, _)
    )
}

const fn is_aside(output: Output) -> bool {
    matches!(output, Output::Refused(_) | Output::Audit(_))
}

/// The action that an output is about.
const fn slot(output: Output) -> Option<Slot> {
    match output {
        Output::Append(_, slot)
        | Output::Expose(slot)
        | Output::Event(_, slot)
        | Output::Perform(slot, _)
        | Output::Withdraw(slot)
        | Output::InDoubt(slot) => Some(slot),
        Output::Record(_) | Output::AppendText | Output::Audit(_) | Output::Refused(_) => None,
    }
}
