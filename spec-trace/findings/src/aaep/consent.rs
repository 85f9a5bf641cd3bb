//! What several passages rest on: questions, replies that count, grounds on which something runs.

use serde_json::Value;

use crate::every::each;
use crate::run::{Guarantee, Judge, Run, Step, Verdict};

/// After the end of its session nothing runs.
pub(super) const NOTHING_RUNS_AFTER_THE_END: Guarantee = Guarantee {
    name: "nothing-runs-after-the-end",
    section: "A.1",
    means: "nothing runs once its session has ended",
    broken: |run| {
        let ends = |it: &Step, call: &Step| ends_session(it) && same(it, call, "session_id");
        let mut calls = run.steps().filter(|(_, it)| invokes(it));
        let late = calls.find(|(number, call)| run.before(*number).any(|(_, it)| ends(it, call)));
        late.map(|(number, _)| number)
    },
};

/// A passage or a mended wording.
pub(super) const fn judge(name: &'static str, judge: fn(&Run) -> Verdict) -> Judge {
    Judge { name, judge }
}

/// What is broken by not having something.
pub(super) fn lacks(said: Verdict) -> Verdict {
    if let Verdict::Wrong(step) = said {
        Verdict::Lacks(step)
    } else {
        said
    }
}

/// Whether two steps have the same member; two without it count as the same.
pub(super) fn same(one: &Step, other: &Step, name: &str) -> bool {
    one.get(name) == other.get(name)
}

/// Whether a call runs what a question asks for.
pub(super) fn is_about(question: &Step, call: &Step) -> bool {
    question.get("~asks") == call.get("~runs")
}

/// Whether the transport knows the sender: `from` null is one that it does not.
pub(super) fn is_authenticated(reply: &Step) -> bool {
    !reply.has("from") || !reply.get("from").is_null()
}

/// A confirmation is asked for.
pub(super) fn is_question(step: &Step) -> bool {
    step.is("event", "awaiting.confirmation")
}

/// A reply to a confirmation.
pub(super) fn replies(step: &Step) -> bool {
    step.is("reply", "confirmation")
}

/// An action is performed.
pub(super) fn invokes(step: &Step) -> bool {
    step.is("event", "tool.invoked") || step.has("~runs")
}

/// A terminal event.
pub(super) fn ends_session(step: &Step) -> bool {
    ["session.completed", "session.errored", "session.cancelled"].contains(&step.text("event"))
}

/// Whether the run says, after this step, that nothing more comes.
pub(super) fn over(run: &Run, number: usize) -> bool {
    run.steps()
        .any(|(at, it)| at > number && (it.has("~end") || ends_session(it)))
}

/// The `timeout_seconds` of a step in milliseconds.
pub(super) fn seconds(step: &Step) -> i64 {
    step.get("timeout_seconds").as_i64().unwrap_or(300) * 1000
}

/// When the time of a question is up.
pub(super) fn due(question: &Step) -> i64 {
    question.at + seconds(question)
}

/// Milliseconds granted on this token between its question and the step.
pub(super) fn grants(run: &Run, at: usize, number: usize, token: &Value) -> i64 {
    run.before(number)
        .filter(|(place, it)| *place > at && it.has("~grants") && it.get("reply_token") == token)
        .filter_map(|(_, it)| it.get("~grants").as_i64())
        .sum::<i64>()
        * 1000
}

/// The last question before the step that has this token.
pub(super) fn asked<'a>(run: &'a Run, number: usize, token: &Value) -> Option<(usize, &'a Step)> {
    run.before(number)
        .find(|(_, it)| is_question(it) && it.get("reply_token") == token)
}

/// Whether neither a withdrawal nor the end of the session comes between the question and the step.
pub(super) fn stands(run: &Run, at: usize, question: &Step, until: usize) -> bool {
    let token = question.get("reply_token");
    !run.before(until).any(|(place, it)| {
        place > at && (ends_session(it) || (it.has("~ends") && it.get("~ends") == token))
    })
}

/// Whether a reply passes the checks 2 to 6 of 6.3.4; the time of its receipt stands for the one that it states.
pub(super) fn counts(run: &Run, number: usize, reply: &Step) -> bool {
    let token = reply.get("reply_token");
    let Some((at, question)) = asked(run, number, token) else {
        return false;
    };
    let allowed = question.get("allowed_replies").as_array();
    let valid = |it: &Step| {
        let decision = it.get("decision");
        let listed = allowed.map_or(decision == "accept" || decision == "reject", |it| {
            it.contains(decision)
        });
        replies(it) && listed && it.at < due(question) && is_authenticated(it)
    };
    let used = run
        .before(number)
        .any(|(place, it)| place > at && it.get("reply_token") == token && valid(it));
    valid(reply) && !used && stands(run, at, question, number)
}

/// Whether a later step, that applies no default, does what the reply decides.
pub(super) fn honoured(run: &Run, number: usize, reply: &Step) -> bool {
    run.steps().any(|(at, it)| {
        let done = if reply.is("decision", "accept") {
            invokes(it)
        } else {
            it.is("to_state", "thinking") || it.is("to_state", "deciding")
        };
        at > number && !it.has("~applies") && done
    })
}

/// 6.1: what runs was accepted by a reply that counts, or by default once the time was up.
pub(super) fn on_grounds(run: &Run) -> Verdict {
    let concerned = |it: &Step| invokes(it) && needs_consent(run, it);
    each(run, concerned, |number, tool| {
        let about = |(_, question): (usize, &Step)| is_about(question, tool);
        let accepted = run.before(number).any(|(place, it)| {
            it.is("decision", "accept")
                && counts(run, place, it)
                && asked(run, place, it.get("reply_token")).is_some_and(about)
        });
        let token = tool.get("~applies");
        let defaulted = asked(run, number, token).is_some_and(|(at, question)| {
            let replied = run
                .before(number)
                .any(|(place, it)| it.get("reply_token") == token && counts(run, place, it));
            is_about(question, tool)
                && question.is("default_decision", "accept")
                && tool.at >= due(question)
                && stands(run, at, question, number)
                && !replied
        });
        accepted || defaulted
    })
}

/// Whether the action is irreversible, or one that is asked about somewhere in the run.
fn needs_consent(run: &Run, tool: &Step) -> bool {
    let asked = |(_, it): (usize, &Step)| is_question(it) && is_about(it, tool);
    tool.get("irreversible") == true || run.steps().any(asked)
}
