//! AAEP: passages, mended wordings, guarantees.
//!
//! A step is an event (`event` has its type without the prefix `aaep:agent.`, and the members of its payload stand beside it) or a reply
//! (`reply` is `confirmation` or `clarification`, beside it `reply_token`, `decision`, `timestamp` as a time of day, `from` for the
//! subscription that the producer authenticated, `subscription_id` for the one that the message names). What no message holds begins
//! with `~`: `~arrives` is a reply's time of receipt where it is not `at`, `~crash` a crash.
//!
//! Further facts: `~asks` and `~runs` name the action of a question and of a call, `~for` who may decide and `~by` who does; `~applies`
//! is on a step that applies a default, `~ends` on one that withdraws a question, `~removes` on one that takes its prompt away, each with
//! the token; `~grants` is a longer time in seconds, `~end` the end of the run. `subscription` is `opened` or `closed`.

mod calls;
mod clarifications;
mod consent;
mod decisions;
mod questions;
mod replies;
mod schema;
mod sessions;
mod states;
mod streams;
mod subscriptions;

use crate::run::{Guarantee, Run, Step, Text};

/// What is executable of the documents.
pub static TEXT: Text = Text {
    passages: &[
        replies::PASSAGES,
        questions::PASSAGES,
        decisions::PASSAGES,
        calls::PASSAGES,
        clarifications::PASSAGES,
        schema::PASSAGES,
        sessions::PASSAGES,
        states::PASSAGES,
        streams::PASSAGES,
        subscriptions::PASSAGES,
    ],
    repairs: &[
        replies::REPAIRS,
        questions::REPAIRS,
        decisions::REPAIRS,
        calls::REPAIRS,
        clarifications::REPAIRS,
        schema::REPAIRS,
        sessions::REPAIRS,
        states::REPAIRS,
        streams::REPAIRS,
        subscriptions::REPAIRS,
    ],
    guarantees: &[
        Guarantee {
            name: "a-decision-stays",
            section: "6.3.5",
            broken: decisions::a_decision_is_turned,
        },
        calls::NOTHING_UNAPPROVED_RUNS,
        calls::A_REJECTED_ACTION_NEVER_RUNS,
        calls::AT_MOST_ONCE,
        questions::SILENCE_OF_NOBODY,
        replies::AN_ANSWER_IS_TO_ITS_QUESTION,
        consent::NOTHING_RUNS_AFTER_THE_END,
    ],
};

/// The question that a reply answers: the last one before it with its token.
pub(crate) fn question_of<'a>(
    run: &'a Run,
    number: usize,
    reply: &Step,
) -> Option<(usize, &'a Step)> {
    consent::asked(run, number, reply.get("reply_token"))
}
