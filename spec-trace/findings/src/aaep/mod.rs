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
    #[cfg(feature = "execute")]
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
    #[cfg(feature = "execute")]
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
            means: "what was decided once, by a reply or by the default, is not turned round",
            broken: decisions::a_decision_is_turned,
        },
        calls::NOTHING_UNAPPROVED_RUNS,
        calls::A_REJECTED_ACTION_NEVER_RUNS,
        calls::AT_MOST_ONCE,
        questions::SILENCE_OF_NOBODY,
        replies::AN_ANSWER_IS_TO_ITS_QUESTION,
        consent::NOTHING_RUNS_AFTER_THE_END,
    ],
    notes: &[
        ("~asks", "the action that the question is about"),
        ("~runs", "the action that runs"),
        ("~for", "who may decide"),
        ("~by", "who decides"),
        (
            "~wants",
            "the action or the question that the person had in view",
        ),
        (
            "~applies",
            "this step applies the default of the question with this token",
        ),
        ("~ends", "this step withdraws the question with this token"),
        (
            "~removes",
            "this step takes the prompt of the question with this token away",
        ),
        ("~grants", "so many seconds are added to the time"),
        (
            "~depends_on",
            "this is work that waits for the answer to the question with this token",
        ),
        ("~follows", "the producer goes on with this answer"),
        ("~on", "the token of the question that it is an answer to"),
        ("~subscribes", "a subscription opens"),
        ("~able", "whether it can reply"),
        ("~sends", "the question with this token is sent again"),
        ("~to", "to this subscription"),
        ("~sent_to", "the subscriptions that get the event"),
        ("~closes", "a subscription closes"),
        (
            "~understands",
            "the members of modified_action that the producer can read",
        ),
        ("~crash", "the producer stops"),
        ("~restart", "the producer comes back"),
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
