//! Which reply counts: 6.3, 6.4.

use super::question_of;
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "6.3.4 check 4",
        judge: dated_in_time,
    },
    Judge {
        name: "6.4",
        judge: the_timeout_decides,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[Judge {
    name: "AAEP-F13",
    judge: received_in_time,
}];

/// When the time for a question is up, in milliseconds since midnight.
fn deadline(question: &Step) -> i64 {
    question.at + question.get("timeout_seconds").as_i64().unwrap_or(300) * 1000
}

/// A tool is invoked upon a reply: the numbers of the two, and the question.
fn taken(run: &Run) -> Option<(usize, &Step, usize, &Step)> {
    let (invoked, _) = run
        .steps()
        .find(|(_, step)| step.is("event", "tool.invoked"))?;
    let (number, reply) = run
        .before(invoked)
        .find(|(_, step)| step.is("decision", "accept"))?;
    let (_, question) = question_of(run, number, reply)?;
    Some((number, reply, invoked, question))
}

/// Check 4: what counts is the time that the reply states.
fn dated_in_time(run: &Run) -> Verdict {
    let Some((_, reply, invoked, question)) = taken(run) else {
        return Verdict::Silent;
    };
    let stated = Run::read(&format!("{{\"at\":{}}}", reply.get("timestamp")));
    match stated {
        Ok(stated) if stated.0[0].at < deadline(question) => Verdict::Right,
        _ => Verdict::Wrong(invoked),
    }
}

/// 6.4: what has not been received by the time of the timeout is decided by the default.
fn the_timeout_decides(run: &Run) -> Verdict {
    let Some((_, reply, invoked, question)) = taken(run) else {
        return Verdict::Silent;
    };
    if reply.at < deadline(question) || !question.is("default_decision", "reject") {
        Verdict::Right
    } else {
        Verdict::Wrong(invoked)
    }
}

/// Mended: received before the deadline, whatever the reply states.
fn received_in_time(run: &Run) -> Verdict {
    the_timeout_decides(run)
}

/// The action runs after the question was told to be rejected.
pub(super) fn a_decision_is_turned(run: &Run) -> Option<usize> {
    let (_, _, invoked, _) = taken(run)?;
    run.before(invoked)
        .any(|(_, step)| step.is("event", "state.changed") && step.is("to_state", "thinking"))
        .then_some(invoked)
}
