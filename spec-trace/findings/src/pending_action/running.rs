//! When the tool runs, and how often: on allow, expired or resolved.

use super::{ENDS, all_with, decision, record, with};
use crate::every::{each_op, end, every, kept, time, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "Desired contract: on allow: it runs",
        judge: allowed_runs,
    },
    Judge {
        name: "Desired contract: on allow: one start",
        judge: one_start,
    },
    Judge {
        name: "Desired contract: on allow: until a result",
        judge: until_a_result,
    },
    Judge {
        name: "Acceptance: expired or resolved: decided before expiry",
        judge: |run| decided(run, |at, expiry| at < expiry),
    },
    Judge {
        name: "Acceptance: expired or resolved: decided up to expiry",
        judge: |run| decided(run, |at, expiry| at <= expiry),
    },
    Judge {
        name: "Acceptance: expired or resolved: started before expiry",
        judge: |run| each_op(run, "perform", |number, it| it.at < expiry(run, number, it)),
    },
    Judge {
        name: "Acceptance: expired or resolved: resolved by a decision",
        judge: undecided,
    },
    Judge {
        name: "Acceptance: expired or resolved: run once, on the first decision",
        judge: the_first_only,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "PA-F7",
        judge: decided_and_finished,
    },
    Judge {
        name: "PA-F8",
        judge: over_at_expiry,
    },
    Judge {
        name: "PA-F9",
        judge: one_try,
    },
    Judge {
        name: "PA-F10",
        judge: stored_before_the_call,
    },
];

/// The expiry of an action; without one it never comes.
fn expiry(run: &Run, number: usize, of: &Step) -> i64 {
    let expiry = record(run, number, of).and_then(|it| time(it, "expires_at"));
    expiry.unwrap_or(i64::MAX)
}

/// On allow: the call runs.
fn allowed_runs(run: &Run) -> Verdict {
    every(run, |number, it| {
        let runs = all_with(run, it, "perform").any(|(at, _)| at > number);
        match end(run) {
            _ if !it.is("decision", "allow") || record(run, number, it).is_none() => {
                Verdict::Silent
            }
            _ if runs => Verdict::Right,
            Some(end) => Verdict::Wrong(end),
            None => Verdict::Silent,
        }
    })
}

/// On allow: for each allow one start.
fn one_start(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        let allowed = with(run, number, it, "decide").filter(|(_, it)| it.is("decision", "allow"));
        with(run, number, it, "perform").count() < allowed.count()
    })
}

/// On allow: tries until the result is there.
fn until_a_result(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        decision(run, number, it) == "allow"
            && !with(run, number, it, "finish").any(|(_, it)| it.is("status", "success"))
    })
}

/// Expired: what limits the decision.
fn decided(run: &Run, in_time: fn(i64, i64) -> bool) -> Verdict {
    each_op(run, "perform", |number, it| {
        with(run, number, it, "decide")
            .any(|(_, decide)| in_time(decide.at, expiry(run, number, it)))
    })
}

/// Resolved, to the letter: whatever was decided is resolved.
fn undecided(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        decision(run, number, it).is_empty()
    })
}

/// Resolved: the first decision is carried out, no further one.
fn the_first_only(run: &Run) -> Verdict {
    each_op(run, "perform", |number, it| {
        decision(run, number, it) == "allow" && with(run, number, it, "perform").next().is_none()
    })
}

/// Mended: allowed actions run, once; denied, cancelled, expired and finished ones never.
fn decided_and_finished(run: &Run) -> Verdict {
    let may = each_op(run, "perform", |number, it| {
        decision(run, number, it) == "allow"
            && with(run, number, it, "perform").next().is_none()
            && with(run, number, it, "cancel").next().is_none()
            && it.at < expiry(run, number, it)
    });
    together([allowed_runs(run), may])
}

/// Mended: from its expiry on it is neither decided nor started, and an allowed one that was not started is reported as expired.
fn over_at_expiry(run: &Run) -> Verdict {
    every(run, |number, it| {
        let in_time = it.at < expiry(run, number, it);
        let follows = |op, of: fn(&Step) -> bool| all_with(run, it, op).any(|(_, it)| of(it));
        match it.text("op") {
            "perform" => kept(in_time, number),
            "decide" if !in_time => kept(it.is("told", "late"), number),
            "decide" if it.is("decision", "allow") => match end(run) {
                Some(end) if record(run, number, it).is_some() => kept(
                    follows("perform", |_| true) || follows("event", |it| it.is("type", "expired")),
                    end,
                ),
                _ => Verdict::Silent,
            },
            _ => Verdict::Silent,
        }
    })
}

/// Mended: an allow covers one start, and a failed run is appended as its result.
fn one_try(run: &Run) -> Verdict {
    every(run, |number, it| match (it.text("op"), end(run)) {
        ("perform", _) => {
            let first = with(run, number, it, "perform").next().is_none();
            let mut decided = with(run, number, it, "decide");
            kept(
                first && decided.any(|(_, it)| it.is("decision", "allow")),
                number,
            )
        }
        ("finish", Some(end)) if !it.is("status", "success") => {
            let result = |it: &Step| it.is("type", "tool_result");
            kept(all_with(run, it, "append").any(|(_, it)| result(it)), end)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: the start is stored before the call, once; after a restart what was started and has no result is reported, the rest starts.
fn stored_before_the_call(run: &Run) -> Verdict {
    let is_told = |it: &Step| {
        all_with(run, it, "in_doubt").next().is_some()
            || all_with(run, it, "event").any(|(_, it)| ENDS.contains(&it.text("type")))
    };
    let restarts = |from: usize, to: usize| {
        run.steps()
            .any(|(at, it)| it.is("op", "restart") && from < at && at < to)
    };
    every(run, |number, it| match (it.text("op"), end(run)) {
        ("start", _) if with(run, number, it, "start").next().is_some() => Verdict::Wrong(number),
        ("start", Some(end)) => {
            let called = all_with(run, it, "perform").next().is_some();
            let returned = all_with(run, it, "finish").next().is_some();
            kept(
                is_told(it) || called && (returned || !restarts(number, end)),
                end,
            )
        }
        ("perform", _) => {
            let first = with(run, number, it, "perform").next().is_none();
            let mut started = with(run, number, it, "start");
            let at_once = started
                .next()
                .is_some_and(|(start, _)| !restarts(start, number));
            kept(first && at_once, number)
        }
        ("decide", Some(end)) if it.is("decision", "allow") => kept(
            all_with(run, it, "start").next().is_some() || is_told(it),
            end,
        ),
        _ => Verdict::Silent,
    })
}
