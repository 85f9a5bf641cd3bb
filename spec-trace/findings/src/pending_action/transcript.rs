//! What is appended, and which events there are: on allow, on deny, transcript.

use super::{ENDS, all_with, decision, decisions::is_closed, record, with};
use crate::every::{end, every, kept, time};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "Desired contract: on allow: call and result are appended",
        judge: appended_on_allow,
    },
    Judge {
        name: "Desired contract: on deny",
        judge: appended_on_deny,
    },
    Judge {
        name: "Acceptance: transcript: a result answers a call",
        judge: paired,
    },
    Judge {
        name: "Acceptance: transcript: executed or denied",
        judge: executed_or_denied,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "PA-F12",
        judge: together_at_the_end,
    },
    Judge {
        name: "PA-F13",
        judge: an_end_of_its_own,
    },
];

/// Whether it is the result of a call, of whichever kind.
fn is_result(step: &Step) -> bool {
    step.is("op", "append") && step.text("type").ends_with("_result")
}

/// Whether it is a call in the transcript.
fn is_call(step: &Step) -> bool {
    step.is("op", "append") && step.is("type", "tool_call")
}

/// On allow: then the call and its result are appended.
fn appended_on_allow(run: &Run) -> Verdict {
    every(run, |number, it| {
        let after = |of: fn(&Step) -> bool| {
            all_with(run, it, "append").any(|(at, it)| at > number && of(it))
        };
        match end(run) {
            _ if !it.is("decision", "allow") => Verdict::Silent,
            _ if after(is_call) && after(is_result) => Verdict::Right,
            Some(end) => Verdict::Wrong(end),
            None => Verdict::Silent,
        }
    })
}

/// On deny, and only then: a denied result is appended.
fn appended_on_deny(run: &Run) -> Verdict {
    every(run, |number, it| {
        let denied = |it: &Step| it.is("type", "denied_result");
        if it.is("op", "append") && denied(it) {
            return kept(decision(run, number, it) == "deny", number);
        }
        let appended = all_with(run, it, "append").any(|(_, it)| denied(it));
        match end(run) {
            Some(end) if it.is("decision", "deny") => kept(appended, end),
            _ => Verdict::Silent,
        }
    })
}

/// Transcript: canonical messages come in pairs, a call and its result.
fn paired(run: &Run) -> Verdict {
    every(run, |number, it| {
        let before = |of: fn(&Step) -> bool| {
            with(run, number, it, "append")
                .filter(|(_, it)| of(it))
                .count()
        };
        match (is_call(it), is_result(it)) {
            (true, _) => kept(before(is_call) == 0, number),
            (_, true) => kept(before(is_call) == 1, number),
            _ => Verdict::Silent,
        }
    })
}

/// Transcript: created, decided, executed or denied are the events, and one of the last two ends each action.
fn executed_or_denied(run: &Run) -> Verdict {
    let told = |it: &Step| ["executed", "denied"].contains(&it.text("type"));
    every(run, |number, it| match (it.text("op"), end(run)) {
        ("event", _) => kept(
            told(it) || it.is("type", "created") || it.is("type", "decided"),
            number,
        ),
        ("propose", Some(end)) => kept(all_with(run, it, "event").any(|(_, it)| told(it)), end),
        _ => Verdict::Silent,
    })
}

/// Mended: nothing but the creating event while it is pending; call and result together at its end.
fn together_at_the_end(run: &Run) -> Verdict {
    every(run, |number, it| {
        let next = run.steps().nth(number).map(|(_, next)| next);
        let last = run.before(number).next().map(|(_, last)| last);
        let same = |other: &Step| other.get("action_id") == it.get("action_id");
        if is_call(it) {
            let resolved = is_over(run, number, it);
            kept(
                resolved && next.is_some_and(|it| is_result(it) && same(it)),
                number,
            )
        } else if is_result(it) {
            kept(last.is_some_and(|it| is_call(it) && same(it)), number)
        } else {
            Verdict::Silent
        }
    })
}

/// Whether an action is no longer pending: decided, cancelled or past its expiry.
fn is_over(run: &Run, number: usize, of: &Step) -> bool {
    let expiry = record(run, number, of).and_then(|it| time(it, "expires_at"));
    !decision(run, number, of).is_empty()
        || with(run, number, of, "cancel").next().is_some()
        || is_closed(run, number, of)
        || expiry.is_some_and(|expiry| expiry <= of.at)
}

/// Mended: each end has an event of its own, executed comes after the tool's return, and the session's end cancels.
fn an_end_of_its_own(run: &Run) -> Verdict {
    every(run, |number, it| {
        let expired = || {
            let expiry = record(run, number, it).and_then(|it| time(it, "expires_at"));
            expiry.is_some_and(|expiry| expiry <= it.at)
        };
        let cancelled =
            || with(run, number, it, "cancel").next().is_some() || is_closed(run, number, it);
        match (it.text("op"), end(run)) {
            ("append", _) if it.is("type", "denied_result") => {
                kept(decision(run, number, it) == "deny", number)
            }
            ("event", _) => match it.text("type") {
                "executed" => kept(with(run, number, it, "finish").next().is_some(), number),
                "denied" => kept(decision(run, number, it) == "deny", number),
                "expired" => kept(expired(), number),
                "cancelled" => kept(cancelled(), number),
                _ => Verdict::Silent,
            },
            ("perform", _) => {
                let decided = with(run, number, it, "decide").next();
                let pending = decided.map_or(number, |(decided, _)| decided);
                kept(!is_closed(run, pending, it), number)
            }
            ("propose", Some(end)) => {
                let last = run.0.last().unwrap_or(it);
                let ended =
                    |it: &Step| it.is("type", "executed") || ENDS.contains(&it.text("type"));
                let told = all_with(run, it, "event").any(|(_, it)| ended(it));
                let last = Step {
                    at: last.at,
                    ..it.clone()
                };
                kept(told || !is_over(run, end, &last), end)
            }
            _ => Verdict::Silent,
        }
    })
}
