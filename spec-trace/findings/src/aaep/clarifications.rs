//! Clarifications, and what they borrow from confirmations: 6.1, 6.5, A.5, A.7.4.

use serde_json::Value;

use super::consent::{due, ends_session, is_authenticated, judge, on_grounds};
use crate::every::{each, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    judge("6.1 clarification: reply or timeout", waits_for_the_answer),
    judge("6.5.1", is_a_clarification_reply),
    judge("6.5.2 if it types the default", default_is_an_answer),
    judge("A.7.4 accept in the run", an_accept_precedes),
    judge("facts: default_response", default_is_a_string),
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    judge("AAEP-F29", no_answer_is_consent),
    judge("AAEP-F30", default_is_an_answer),
    judge("AAEP-F31", checks_of_their_own),
];

/// The clarification with this token that was asked before the step.
fn asked<'a>(run: &'a Run, number: usize, token: &Value) -> Option<(usize, &'a Step)> {
    run.before(number)
        .find(|(_, it)| clarifies(it) && it.get("reply_token") == token)
}

fn clarifies(step: &Step) -> bool {
    step.is("event", "awaiting.clarification")
}

/// 6.1: work that depends on a clarification waits for its reply or its timeout.
fn waits_for_the_answer(run: &Run) -> Verdict {
    each(
        run,
        |it| it.has("~depends_on"),
        |number, step| {
            let token = step.get("~depends_on");
            asked(run, number, token).is_some_and(|(at, question)| {
                let replied = |(place, it): (usize, &Step)| {
                    place > at && it.has("response") && it.get("reply_token") == token
                };
                step.at >= due(question) || run.before(number).any(replied)
            })
        },
    )
}

/// A.7.4: before an irreversible call there is a `confirmation.reply` that accepts.
fn an_accept_precedes(run: &Run) -> Verdict {
    each(
        run,
        |it| it.get("irreversible") == true && it.is("event", "tool.invoked"),
        |number, _| {
            run.before(number)
                .any(|(_, it)| it.is("reply", "confirmation") && it.is("decision", "accept"))
        },
    )
}

/// Mended: what an irreversible call needs is a confirmation, whatever a clarification was answered.
fn no_answer_is_consent(run: &Run) -> Verdict {
    together([on_grounds(run), waits_for_the_answer(run)])
}

/// Whether a value is an answer of one of the accepted kinds of a clarification.
fn fits(question: &Step, value: &Value) -> bool {
    let kinds = question.get("accepted_response_kinds").as_array();
    let choices = question.get("choices").as_array();
    kinds.into_iter().flatten().any(|kind| match kind.as_str() {
        Some("freetext") => value.is_string(),
        Some("yes_no") => value.is_boolean(),
        Some("numeric") => value.is_number(),
        Some("multiple_choice") => choices
            .into_iter()
            .flatten()
            .any(|it| it["value"] == *value),
        _ => false,
    })
}

/// 6.5.2, of a default answer: it has the type of a kind that is accepted.
fn default_is_an_answer(run: &Run) -> Verdict {
    let about = |it: &Step| clarifies(it) && it.has("default_response");
    each(run, about, |_, it| fits(it, it.get("default_response")))
}

/// The event's form: a default answer is a string.
fn default_is_a_string(run: &Run) -> Verdict {
    let about = |it: &Step| clarifies(it) && it.has("default_response");
    each(run, about, |_, it| it.get("default_response").is_string())
}

/// A message that answers a clarification by its token, or says so by its type.
fn answers(run: &Run, number: usize, step: &Step) -> bool {
    step.has("type")
        && (step.is("type", "clarification.reply")
            || asked(run, number, step.get("reply_token")).is_some())
}

/// 6.5.1: what answers a clarification is a `clarification.reply` with a response.
fn is_a_clarification_reply(run: &Run) -> Verdict {
    each(
        run,
        |it| it.has("type"),
        |number, it| !answers(run, number, it) || is_well_formed(it),
    )
}

/// The form of a `clarification.reply`: 6.5.1, and no member beside those of 6.5.3.
fn is_well_formed(step: &Step) -> bool {
    let required = [
        "type",
        "reply_token",
        "response",
        "subscription_id",
        "timestamp",
    ];
    let known = ["decided_by", "confidence", "correlation_id"];
    let response = step.get("response");
    step.is("type", "clarification.reply")
        && required.iter().all(|name| step.has(name))
        && step.members.keys().all(|name| {
            required.contains(&name.as_str())
                || known.contains(&name.as_str())
                || name.starts_with('~')
        })
        && (response.is_string() || response.is_boolean() || response.is_number())
}

/// Mended: own form, an open clarification, the first reply, in time, a known sender; and the end of the session ends the wait.
fn checks_of_their_own(run: &Run) -> Verdict {
    let valid = |number: usize, step: &Step| {
        asked(run, number, step.get("reply_token")).is_some_and(|(_, question)| {
            is_well_formed(step)
                && fits(question, step.get("response"))
                && step.at < due(question)
                && is_authenticated(step)
        })
    };
    let ended = |number: usize| run.before(number).any(|(_, it)| ends_session(it));
    let formed = each(
        run,
        |it| it.has("type"),
        |number, it| !answers(run, number, it) || is_well_formed(it),
    );
    let followed = each(
        run,
        |it| it.has("~follows"),
        |number, step| {
            let token = step.get("~on");
            let of_it =
                |(place, it): &(usize, &Step)| it.get("reply_token") == token && valid(*place, it);
            let first = run.before(number).filter(of_it).last();
            !ended(number)
                && first.is_some_and(|(_, it)| it.get("response") == step.get("~follows"))
        },
    );
    together([formed, followed])
}
