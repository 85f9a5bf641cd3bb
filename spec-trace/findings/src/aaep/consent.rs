//! What several passages rest on: questions, replies that count, consent; and the guarantees on what runs.

use serde_json::Value;

use crate::run::{Guarantee, Judge, Run, Step, Verdict};

/// An action that was asked about, or is irreversible, runs only with the person's consent.
pub(super) const NOTHING_UNAPPROVED_RUNS: Guarantee = Guarantee {
    name: "nothing-unapproved-runs",
    broken: unapproved,
};

/// What the person has rejected does not run, until they accept it after all.
pub(super) const A_REJECTED_ACTION_NEVER_RUNS: Guarantee = Guarantee {
    name: "a-rejected-action-never-runs",
    broken: rejected,
};

/// After the end of the session nothing of it runs.
pub(super) const NOTHING_RUNS_AFTER_THE_END: Guarantee = Guarantee {
    name: "nothing-runs-after-the-end",
    broken: |run| {
        let mut all = run.steps();
        all.find(|(number, step)| {
            invokes(step) && run.before(*number).any(|(_, it)| ends_session(it))
        })
        .map(|(number, _)| number)
    },
};

/// A passage or a mended wording.
pub(super) const fn judge(name: &'static str, judge: fn(&Run) -> Verdict) -> Judge {
    Judge { name, judge }
}

/// Judges every step that a rule is about: the first one that fails is wrong.
pub(super) fn each(
    run: &Run,
    about: impl Fn(&Step) -> bool,
    holds: impl Fn(usize, &Step) -> bool,
) -> Verdict {
    let mut said = Verdict::Silent;
    for (number, step) in run.steps().filter(|(_, step)| about(step)) {
        if !holds(number, step) {
            return Verdict::Wrong(number);
        }
        said = Verdict::Right;
    }
    said
}

/// What rules that hold together say: the first that is broken, else right where any is kept.
pub(super) fn all(said: &[Verdict]) -> Verdict {
    let against = said
        .iter()
        .find(|it| matches!(it, Verdict::Wrong(_) | Verdict::Lacks(_)));
    let right = said.iter().find(|it| matches!(it, Verdict::Right));
    against.or(right).copied().unwrap_or(Verdict::Silent)
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

/// What those who may decide have said of an action before a step, the last one first.
fn decisions<'a>(run: &'a Run, number: usize, call: &'a Step) -> impl Iterator<Item = &'a str> {
    let said = run
        .before(number)
        .filter(|(_, it)| it.has("reply") && it.has("decision"));
    let about = said.filter(|(place, reply)| {
        let question = asked(run, *place, reply.get("reply_token")).map(|(_, it)| it);
        let may = question.is_none_or(|it| !it.has("~for") || it.get("~for") == reply.get("~by"));
        let wanted = if reply.has("~wants") {
            reply.get("~wants") == call.get("~runs")
        } else {
            question.is_some_and(|it| is_about(it, call))
        };
        may && wanted
    });
    about.map(|(_, it)| it.text("decision"))
}

/// Silence is consent to what can be undone where that was said, and the question stood before the person for all of the promised time.
fn by_silence(run: &Run, number: usize, tool: &Step) -> bool {
    run.before(number).any(|(at, question)| {
        let token = question.get("reply_token");
        let removed = run
            .before(number)
            .any(|(_, it)| it.has("~removes") && it.get("~removes") == token);
        is_question(question)
            && tool.get("irreversible") != true
            && is_about(question, tool)
            && question.is("default_decision", "accept")
            && tool.at >= due(question) + grants(run, at, number, token)
            && stands(run, at, question, number)
            && !removed
    })
}

fn unapproved(run: &Run) -> Option<usize> {
    let mut all = run
        .steps()
        .filter(|(_, it)| invokes(it) && needs_consent(run, it));
    all.find(|(number, tool)| {
        let accepted = decisions(run, *number, tool).any(|it| it == "accept");
        !accepted && !by_silence(run, *number, tool)
    })
    .map(|(number, _)| number)
}

fn rejected(run: &Run) -> Option<usize> {
    let mut all = run.steps().filter(|(_, it)| invokes(it));
    all.find(|(number, tool)| decisions(run, *number, tool).next() == Some("reject"))
        .map(|(number, _)| number)
}
