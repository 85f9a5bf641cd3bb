//! What the judge lets pass of work around the questions beside what the model's producer puts out: the freedoms of the text.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::bounds::{Bounds, Budgets};
use countersign_model::aaep::output::Output;
use countersign_model::aaep::told::Asked;
use countersign_model::aaep::words::{Piece, SessionName, Worked};

use crate::common::teeth::{Freedom, Mutation, assert_table_within};
use crate::common::within;

const FREEDOMS: &[Freedom<AaepProtocol>] = &[
    Freedom {
        clause: "AAEP-6.4.1-1",
        name: "what may not be done is not done: that it is refused, nobody has to be told",
        applies: |_, _, done| done.leaves_out(is_refusal),
    },
    Freedom {
        clause: "AAEP-6.1-4",
        name: "a session changes its state whenever it likes",
        applies: |_, _, done| {
            let changes =
                matches!(*done, Mutation::Changed { was, is } if is_state(was) && is_state(is));
            done.adds(is_state) || changes
        },
    },
    Freedom {
        clause: "AAEP-6.1-4",
        name: "a producer may say something of its own, in its place",
        applies: |_, _, done| {
            let changes =
                matches!(*done, Mutation::Changed { was, is } if is_state(was) && is_chunk(is));
            done.adds(is_chunk) || changes
        },
    },
    Freedom {
        clause: "AAEP-A.7.4-1",
        name: "a tool that can be undone is called without asking",
        applies: |_, _, done| {
            let changes =
                matches!(*done, Mutation::Changed { was, is } if is_state(was) && is_invoked(is));
            done.adds(is_invoked) || changes
        },
    },
    Freedom {
        clause: "AAEP-EV-8",
        name: "that a tool is called or output written implies the state of it",
        applies: |_, _, done| {
            done.leaves_out(|it| matches!(it, Output::Work(_, Worked::Calling | Worked::Writing)))
        },
    },
    Freedom {
        clause: "AAEP-A.3-3",
        name: "whose tool is done at once need not come to the state in which it would run on",
        applies: |_, told, done| {
            matches!(told.call, Asked::Work(Piece::Finish { .. }))
                && done.leaves_out(|it| matches!(it, Output::CallingToolAgain(_)))
        },
    },
    Freedom {
        clause: "AAEP-A.4-2",
        name: "a rejection is told by the next state, whichever that is",
        applies: |_, _, done| done.leaves_out(|it| matches!(it, Output::FollowUpLeaving(_))),
    },
    Freedom {
        clause: "AAEP-A.7.7-1",
        name: "output and a state that changes have no order",
        applies: |_, _, done| {
            done.swaps(|one, other| {
                is_state(one) && is_chunk(other) || is_chunk(one) && is_state(other)
            })
        },
    },
    Freedom {
        clause: "AAEP-A.7.4-3",
        name: "a tool is called, is told to be, and its session's state follows: in any order, at once",
        applies: |_, _, done| {
            let begins = |it| {
                is_state(it)
                    || is_invoked(it)
                    || matches!(
                        it,
                        Output::Work(_, Worked::Perform) | Output::Invoked(_) | Output::Perform(_)
                    )
            };
            done.swaps(|one, other| begins(one) && begins(other))
        },
    },
    Freedom {
        clause: "AAEP-A.7.5-2",
        name: "a tool that comes back and a state that changes have no order",
        applies: |_, _, done| {
            done.swaps(|one, other| is_state(one) && other == Output::Work(A, Worked::Completed))
        },
    },
    Freedom {
        clause: "AAEP-A.3-4",
        name: "what is due and what is done around it have no order",
        applies: |_, _, done| {
            let is_of_question = |it| matches!(it, Output::Invoked(_) | Output::Perform(_));
            done.swaps(|one, other| is_of_question(one) && matches!(other, Output::Work(..)))
        },
    },
    Freedom {
        clause: "AAEP-6.3.4-9",
        name: "the caller and the subscribers are told in any order",
        applies: |_, _, done| done.swaps(|_, other| is_refusal(other)),
    },
];

const A: SessionName = SessionName::A;

const fn is_refusal(output: Output) -> bool {
    matches!(output, Output::Refused(_))
}

const fn is_chunk(output: Output) -> bool {
    matches!(output, Output::Work(_, Worked::Chunk { .. }))
}

const fn is_invoked(output: Output) -> bool {
    matches!(output, Output::Work(_, Worked::Invoked { irreversible }) if !irreversible)
}

const fn is_state(output: Output) -> bool {
    matches!(
        output,
        Output::CallingTool(_)
            | Output::CallingToolAgain(_)
            | Output::FollowUpLeaving(_)
            | Output::Work(
                _,
                Worked::Calling | Worked::Writing | Worked::Thinking | Worked::HandingOff
            )
    )
}

/// One session and one question are enough for that.
#[test]
fn what_the_judge_lets_pass_of_work_is_a_freedom_of_the_text() {
    let bounds = Bounds {
        sessions: 1,
        confirmations: 1,
        work: 3,
        disturbances: Budgets::NONE,
        ..Bounds::WORK
    };
    assert_table_within(
        &within::<AaepProtocol>(bounds),
        |told| matches!(told.call, Asked::Work(_)),
        &vocabulary(),
        FREEDOMS,
        include_str!("teeth_of_work.txt"),
    );
}

fn vocabulary() -> Vec<Output> {
    let chunks = (0..3)
        .flat_map(|position| [false, true].map(|complete| Worked::Chunk { position, complete }));
    let others = [
        Worked::Calling,
        Worked::Invoked {
            irreversible: false,
        },
        Worked::Invoked { irreversible: true },
        Worked::Perform,
        Worked::Completed,
        Worked::InDoubt,
        Worked::Writing,
        Worked::Thinking,
        Worked::HandingOff,
        Worked::HandedOff,
    ];
    let all = others.into_iter().chain(chunks);
    all.map(|worked| Output::Work(A, worked)).collect()
}
