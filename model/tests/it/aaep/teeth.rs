//! What the judge lets pass beside what the model's producer puts out: the freedoms of the text.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::output::Output;
use countersign_model::aaep::rules::{Check, Refusal};
use countersign_model::aaep::told::{Asked, Told};
use countersign_model::aaep::words::{SessionName, SessionOutcome, Slot};
use countersign_model::judged::CallTold as _;

use crate::common::teeth::{Freedom, Mutation, assert_table};

const FREEDOMS: &[Freedom<AaepProtocol>] = &[
    Freedom {
        clause: "AAEP-6.3.4-9",
        name: "only who is ignored is told no more than others: any other call is answered with anything, or nothing",
        applies: |_, told, done| {
            !is_ignored(told) && (done.adds(is_answer) || done.leaves_out(is_answer))
        },
    },
    Freedom {
        clause: "AAEP-6.3.4-8",
        name: "a courtesy may come at any time",
        applies: |_, _, done| done.adds(|it| it == Output::Notice),
    },
    Freedom {
        clause: "AAEP-6.4.1-1",
        name: "what may not be done is not done: that it is refused, and why, nobody has to be told",
        applies: |_, told, done| {
            let is_refused = told.outputs().iter().copied().any(is_refusal);
            done.leaves_out(is_refusal)
                || done.changes(is_refusal)
                || done.adds(is_refusal) && is_refused
        },
    },
    Freedom {
        clause: "AAEP-6.8-4",
        name: "how the host is kept from beginning what was withdrawn is between it and the producer",
        applies: |_, _, done| done.leaves_out(is_withdrawal) || done.changes(is_withdrawal),
    },
    Freedom {
        clause: "AAEP-6.8-3",
        name: "the questions of a session that ends are withdrawn by one event, or by one each",
        applies: |_, told, done| {
            let ends = matches!(told.call, Asked::End(..));
            ends && done.leaves_out(|it| matches!(it, Output::FollowUpLeaving(_)))
        },
    },
    Freedom {
        clause: "AAEP-A.3-3",
        name: "who ends, or whose tool is done at once, need not come to the state in which a tool would run on",
        applies: |_, told, done| {
            let ends = matches!(told.call, Asked::End(..) | Asked::Finish(_));
            ends && done.leaves_out(|it| matches!(it, Output::CallingToolAgain(_)))
        },
    },
    Freedom {
        clause: "AAEP-6.1-4",
        name: "work that waits for no answer goes on: a session changes its state whenever it likes",
        applies: |_, _, done| done.adds(is_state),
    },
    Freedom {
        clause: "AAEP-A.7.4-1",
        name: "a tool that can be undone is called without asking",
        applies: |_, told, done| matches!(*done, Mutation::Added(Output::Invoked(slot)) if !told.class(slot).irreversible),
    },
    Freedom {
        clause: "AAEP-A.3-1",
        name: "a session that is cancelled leaves open whether its tools are completed",
        applies: |_, told, done| {
            let is_completion = |it| matches!(it, Output::Completed(_));
            let leaves_open = matches!(told.call, Asked::End(_, SessionOutcome::Cancelled));
            leaves_open && done.adds(is_completion)
        },
    },
    Freedom {
        clause: "AAEP-A.7.6-2",
        name: "the first question of a session needs no state.changed before it",
        applies: |_, _, done| {
            let awaits = |it| matches!(it, Output::AwaitingInput(_));
            done.leaves_out(awaits) || done.changes(awaits)
        },
    },
    Freedom {
        clause: "AAEP-A.4-1",
        name: "awaiting_input is entered at its question or before",
        applies: |_, _, done| {
            done.swaps(|one, other| {
                matches!((one, other), (Output::AwaitingInput(_), Output::Asked(_)))
            })
        },
    },
    Freedom {
        clause: "AAEP-A.4-2",
        name: "a state.changed names its session, and not which of its questions it follows",
        applies: |_, told, done| {
            let follows =
                |it| matches!(it, Output::FollowUpLeaving(_) | Output::FollowUpStaying(_));
            done.changes(follows)
                && matches!(*done, Mutation::Changed { was, is } if session(told, was) == session(told, is))
        },
    },
    Freedom {
        clause: "AAEP-EV-4",
        name: "events of two sessions have no order",
        applies: |_, told, done| {
            done.swaps(|one, other| differ(session(told, one), session(told, other)))
        },
    },
    Freedom {
        clause: "AAEP-A.3-4",
        name: "two actions have no order",
        applies: |_, _, done| done.swaps(|one, other| differ(action(one), action(other))),
    },
    Freedom {
        clause: "AAEP-A.7.4-3",
        name: "a tool is called, is told to be, and its session's state follows: in any order, at once",
        applies: |_, _, done| {
            let begins = |it| is_state(it) || matches!(it, Output::Invoked(_) | Output::Perform(_));
            done.swaps(|one, other| begins(one) && begins(other))
        },
    },
    Freedom {
        clause: "AAEP-A.7.5-2",
        name: "a tool that comes back and a state that changes have no order",
        applies: |_, _, done| {
            let is_completion = |it| matches!(it, Output::Completed(_));
            done.swaps(|one, other| is_state(one) && is_completion(other))
        },
    },
    Freedom {
        clause: "AAEP-6.3.4-9",
        name: "the sender, the caller, the host and the subscribers are told in any order",
        applies: |_, _, done| {
            let is_aside = |it| {
                is_answer(it)
                    || is_refusal(it)
                    || is_withdrawal(it)
                    || matches!(it, Output::InDoubt(_))
            };
            done.swaps(|one, other| is_aside(one) || is_aside(other))
        },
    },
];

#[test]
#[ignore = "night: changes every output of every state"]
fn what_the_judge_lets_pass_is_a_freedom_of_the_text() {
    assert_table(&vocabulary(), FREEDOMS, include_str!("teeth.txt"));
}

/// Of each kind of output every one that the judge is told of in words of its own: what is told to the host or to the
/// operator alone is none, and of a refusal he is told that it is one.
fn vocabulary() -> Vec<Output> {
    let mut all = vec![
        Output::Respond,
        Output::Notice,
        Output::Refused(Refusal::SessionOver),
        Output::Tell(Check::Issued),
    ];
    for session in SessionName::ALL {
        all.extend([
            Output::AwaitingInput(session),
            Output::CallingTool(session),
            Output::Thinking(session),
            Output::Started(session),
        ]);
        all.extend(SessionOutcome::ALL.map(|outcome| Output::Ended(session, outcome)));
    }
    for slot in [Slot::First, Slot::Second] {
        all.extend([
            Output::Asked(slot),
            Output::Invoked(slot),
            Output::Perform(slot),
            Output::FollowUpLeaving(slot),
            Output::FollowUpStaying(slot),
            Output::Completed(slot),
            Output::InDoubt(slot),
        ]);
    }
    all
}

const fn is_answer(output: Output) -> bool {
    matches!(output, Output::Respond | Output::Tell(_))
}

const fn is_refusal(output: Output) -> bool {
    matches!(output, Output::Refused(_))
}

const fn is_withdrawal(output: Output) -> bool {
    matches!(output, Output::Withdraw(_))
}

const fn is_state(output: Output) -> bool {
    matches!(
        output,
        Output::AwaitingInput(_)
            | Output::CallingTool(_)
            | Output::CallingToolAgain(_)
            | Output::Thinking(_)
            | Output::FollowUpLeaving(_)
            | Output::FollowUpStaying(_)
    )
}

/// Whether the call is a reply that comes to nothing.
fn is_ignored(told: &Told) -> bool {
    matches!(told.call, Asked::Deliver(_)) && told.outputs() == [Output::Respond]
}

/// Whether there are both, and they are not the same.
fn differ<V: PartialEq>(one: Option<V>, other: Option<V>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// The session that an output is of.
const fn session(told: &Told, output: Output) -> Option<SessionName> {
    match output {
        Output::Started(session)
        | Output::AwaitingInput(session)
        | Output::CallingTool(session)
        | Output::CallingToolAgain(session)
        | Output::Thinking(session)
        | Output::Ended(session, _)
        | Output::Work(session, _) => Some(session),
        Output::Asked(slot)
        | Output::Clarify(slot)
        | Output::AskedSome(slot)
        | Output::MoreTime(slot)
        | Output::Answer(slot, _)
        | Output::Invoked(slot)
        | Output::Perform(slot)
        | Output::FollowUpLeaving(slot)
        | Output::FollowUpStaying(slot)
        | Output::Completed(slot)
        | Output::Withdraw(slot)
        | Output::InDoubt(slot) => Some(told.session(slot)),
        Output::Respond
        | Output::Tell(_)
        | Output::Audit(_)
        | Output::Refused(_)
        | Output::Notice => None,
    }
}

/// The question whose action an output asks about, or carries out.
const fn action(output: Output) -> Option<Slot> {
    match output {
        Output::Asked(slot)
        | Output::Clarify(slot)
        | Output::AskedSome(slot)
        | Output::Answer(slot, _)
        | Output::Invoked(slot)
        | Output::Perform(slot)
        | Output::Completed(slot) => Some(slot),
        Output::Started(_)
        | Output::AwaitingInput(_)
        | Output::CallingTool(_)
        | Output::CallingToolAgain(_)
        | Output::Thinking(_)
        | Output::Ended(..)
        | Output::Work(..)
        | Output::FollowUpLeaving(_)
        | Output::FollowUpStaying(_)
        | Output::MoreTime(_)
        | Output::Withdraw(_)
        | Output::InDoubt(_)
        | Output::Respond
        | Output::Tell(_)
        | Output::Audit(_)
        | Output::Refused(_)
        | Output::Notice => None,
    }
}
