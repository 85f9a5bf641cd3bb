//! What subscriptions have to do with questions: 6.6, 6.7, 6.9, and what the wire facts say of them.

use serde_json::Value;

use super::consent::{asked, honoured, invokes, is_question, judge, on_grounds, replies};
use super::sessions::{accepts_by_default, pending, what_passes_is_honoured};
use crate::every::{each, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    judge("6.6 first rule", what_cannot_reply_does_not),
    judge("6.7", everyone_is_asked),
    judge("6.9 flooding", closing_keeps_control),
    judge("facts: no capability", not_sent_and_decided_at_once),
    judge("facts: closing", decided_upon_closing),
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    judge("AAEP-F33", what_passes_is_honoured),
    judge("AAEP-F34", closing_brings_no_accept),
    judge("AAEP-F41", few_open_and_none_after_closing),
];

/// Whether a subscription is open before the step, and with the capability to reply.
fn is_open(run: &Run, number: usize, id: &Value, able: bool) -> bool {
    let last = run
        .before(number)
        .find(|(_, it)| it.has("subscription") && it.get("subscription_id") == id);
    last.is_some_and(|(_, it)| {
        it.is("subscription", "opened") && (!able || it.get("supports_confirmation_reply") == true)
    })
}

/// The ids of the subscriptions that are open before the step.
fn open(run: &Run, number: usize, able: bool) -> Vec<&Value> {
    run.before(number)
        .filter(|(_, it)| it.is("subscription", "opened"))
        .map(|(_, it)| it.get("subscription_id"))
        .filter(|id| is_open(run, number, id, able))
        .collect()
}

/// 6.6: a subscription without the capability has said that no reply comes from there.
fn what_cannot_reply_does_not(run: &Run) -> Verdict {
    each(run, replies, |number, reply| {
        is_open(run, number, reply.get("from"), true) || !honoured(run, number, reply)
    })
}

/// 6.7: the question goes to every subscription.
fn everyone_is_asked(run: &Run) -> Verdict {
    each(run, is_question, |number, question| {
        open(run, number, false)
            .into_iter()
            .all(|id| is_sent_to(question, id))
    })
}

fn is_sent_to(question: &Step, id: &Value) -> bool {
    question
        .get("to")
        .as_array()
        .is_some_and(|to| to.contains(id))
}

/// The next step applies the default as it is, at the same time.
fn decided_at_once(run: &Run, number: usize, token: &Value) -> bool {
    let (here, next) = (run.steps().nth(number - 1), run.steps().nth(number));
    here.zip(next).is_some_and(|((_, here), (number, next))| {
        let question = asked(run, number, token);
        next.at == here.at
            && next.get("~applies") == token
            && question.is_some_and(|(_, it)| it.is("default_decision", "accept") == invokes(next))
    })
}

/// Wire facts: a subscription without the capability is not sent the question; where there is no other, the default applies at once.
fn not_sent_and_decided_at_once(run: &Run) -> Verdict {
    each(run, is_question, |number, question| {
        let able = open(run, number, true);
        let all = open(run, number, false);
        let withheld = all
            .iter()
            .all(|id| able.contains(id) || !is_sent_to(question, id));
        withheld && (!able.is_empty() || decided_at_once(run, number, question.get("reply_token")))
    })
}

/// The closing of the last subscription.
fn closes_the_last(run: &Run, number: usize, step: &Step) -> bool {
    step.is("subscription", "closed") && open(run, number + 1, false).is_empty()
}

/// Wire facts: when the last subscription that could answer closes, the default applies as on timeout.
fn decided_upon_closing(run: &Run) -> Verdict {
    each(
        run,
        |it| it.is("subscription", "closed"),
        |number, step| {
            let waits = pending(run, number, step.at);
            !closes_the_last(run, number, step)
                || waits
                    .iter()
                    .all(|it| decided_at_once(run, number, it.get("reply_token")))
        },
    )
}

/// 6.9: the user keeps control by closing the subscription: what was open does not run after that.
fn closing_keeps_control(run: &Run) -> Verdict {
    each(
        run,
        |it| it.is("subscription", "closed") || accepts_by_default(it),
        |number, step| {
            let mut before = run.before(number);
            !accepts_by_default(step) || !before.any(|(at, it)| closes_the_last(run, at, it))
        },
    )
}

/// Mended: everyone is sent the question, its time is not shortened, and after the last closing only a reject is applied.
fn closing_brings_no_accept(run: &Run) -> Verdict {
    together([
        everyone_is_asked(run),
        on_grounds(run),
        closing_keeps_control(run),
    ])
}

/// Mended: no more questions open than `max_open_confirmations` (3 where absent), and no default accept after a closing.
fn few_open_and_none_after_closing(run: &Run) -> Verdict {
    let few = each(run, is_question, |number, question| {
        let stated = run
            .before(number)
            .find_map(|(_, it)| it.get("max_open_confirmations").as_u64());
        (pending(run, number, question.at).len() as u64) < stated.unwrap_or(3)
    });
    together([few, closing_keeps_control(run), on_grounds(run)])
}
