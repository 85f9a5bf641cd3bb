//! AAEP: passages, mended wordings, guarantees.
//!
//! A step is an event (`event` has its type without the prefix `aaep:agent.`, and the members of its payload stand beside it) or a reply
//! (`reply` is `confirmation` or `clarification`, beside it `reply_token`, `decision`, `timestamp` as a time of day, `from` for the
//! subscription that the producer authenticated, `subscription_id` for the one that the message names). What no message holds begins
//! with `~`: `~arrives` is a reply's time of receipt where it is not `at`, `~crash` a crash.

mod calls;
mod decisions;
mod questions;
mod replies;

use crate::run::{Guarantee, Run, Step, Text};

/// What is executable of the documents.
pub static TEXT: Text = Text {
    passages: &[
        replies::PASSAGES,
        questions::PASSAGES,
        decisions::PASSAGES,
        calls::PASSAGES,
    ],
    repairs: &[
        replies::REPAIRS,
        questions::REPAIRS,
        decisions::REPAIRS,
        calls::REPAIRS,
    ],
    guarantees: &[
        Guarantee {
            name: "a-decision-stays",
            broken: decisions::a_decision_is_turned,
        },
        calls::NOTHING_UNAPPROVED_RUNS,
        calls::A_REJECTED_ACTION_NEVER_RUNS,
        calls::AT_MOST_ONCE,
        questions::SILENCE_OF_NOBODY,
    ],
};

/// The question that a reply answers: the last one before it with its token.
pub(crate) fn question_of<'a>(
    run: &'a Run,
    number: usize,
    reply: &Step,
) -> Option<(usize, &'a Step)> {
    run.before(number).find(|(_, step)| {
        step.is("event", "awaiting.confirmation")
            && step.get("reply_token") == reply.get("reply_token")
    })
}
