//! How long a token is good: 5.1, 5.4, 5.5.

use super::{issue, outcome, with};
use crate::every::{every, kept, time};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "5.1: under no circumstances",
        judge: |run| in_time(run, |_, _| 0),
    },
    Judge {
        name: "5.1: up to 30 seconds",
        judge: |run| in_time(run, |run, number| tolerance(run, number).min(30)),
    },
    Judge {
        name: "5.1: configurable, 0 disables",
        judge: |run| in_time(run, tolerance),
    },
    Judge {
        name: "5.1: accepted within the tolerance",
        judge: accepted_within_the_tolerance,
    },
    Judge {
        name: "5.1 sample",
        judge: |run| in_time(run, tolerance_of_the_sample),
    },
    Judge {
        name: "5.1: without expiration",
        judge: |run| used(run, |_, _, issue| time(issue, "expires_at").is_some()),
    },
    Judge {
        name: "5.1: maximum, of the level at issue",
        judge: |run| used(run, |at, _, issue| at - issue.at <= longest(issue)),
    },
    Judge {
        name: "5.1: maximum, of the level of the call",
        judge: |run| used(run, |at, call, issue| at - issue.at <= longest(call)),
    },
    Judge {
        name: "5.4: the connection",
        judge: on_its_connection,
    },
    Judge {
        name: "5.5: evicted at its expiry",
        judge: |run| answers_when_late(run, |_, it| outcome(it) == "TOKEN_INVALID"),
    },
    Judge {
        name: "5.5: purged within an hour",
        judge: |run| answers_when_late(run, |number, it| as_stored(run, number, it)),
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AQL-F14",
        judge: a_raised_level_voids,
    },
    Judge {
        name: "AQL-F16",
        judge: one_term,
    },
    Judge {
        name: "AQL-F17",
        judge: absent_is_not_zero,
    },
    Judge {
        name: "AQL-F18",
        judge: until_the_session_ends,
    },
    Judge {
        name: "AQL-F20",
        judge: kept_while_good,
    },
];

/// Whether the time of the token is up, without any tolerance.
pub(super) fn is_late(run: &Run, number: usize, call: &Step) -> bool {
    is_past(run, number, call, 0)
}

/// The same with the tolerance that is configured.
pub(super) fn is_late_with_tolerance(run: &Run, number: usize, call: &Step) -> bool {
    is_past(run, number, call, tolerance(run, number))
}

/// Whether it is later than the expiry and these seconds.
fn is_past(run: &Run, number: usize, call: &Step, seconds: i64) -> bool {
    let expiry = issue(run, number, call).and_then(|it| time(it, "expires_at"));
    expiry.is_some_and(|expiry| call.at > expiry + seconds * 1000)
}

/// Whether the operation of a call is rated higher than when its token was issued.
pub(super) fn is_raised(run: &Run, number: usize, call: &Step) -> bool {
    let level = |it: &Step| it.get("level").as_i64().unwrap_or(0);
    issue(run, number, call).is_some_and(|issue| level(call) > level(issue))
}

/// Whether the token of a call is no longer in the store.
pub(super) fn is_purged(run: &Run, number: usize, call: &Step) -> bool {
    with(run, number, call, "purge").next().is_some()
}

/// The tolerance that is in force at a step, in seconds; 30 if none is configured.
fn tolerance(run: &Run, number: usize) -> i64 {
    let mut configured = run
        .before(number)
        .filter(|(_, it)| it.is("op", "configure"));
    let set = configured.find_map(|(_, it)| it.get("clock_skew_tolerance_seconds").as_i64());
    set.unwrap_or(30)
}

/// What the sample makes of it: 0 is taken for not set.
fn tolerance_of_the_sample(run: &Run, number: usize) -> i64 {
    match tolerance(run, number) {
        0 => 30,
        seconds => seconds,
    }
}

/// 5.1: a call is told that its token has expired if and only if the expiry and the tolerance are over. What is not in the store is
/// turned away before (4.3), and 5.1 never sees it.
fn in_time(run: &Run, tolerance: fn(&Run, usize) -> i64) -> Verdict {
    every(run, |number, it| {
        let late = is_past(run, number, it, tolerance(run, number));
        match it.text("op") {
            "call" if is_purged(run, number, it) => Verdict::Silent,
            "call" if it.has("token") => kept(late == (outcome(it) == "TOKEN_EXPIRED"), number),
            "perform" => kept(!late, number),
            _ => Verdict::Silent,
        }
    })
}

/// Each use of a token is right: its time, the call, and the token as it was issued.
fn used(run: &Run, right: impl Fn(i64, &Step, &Step) -> bool) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        Some(issue) if it.has("performed") => kept(right(it.at, it, issue), number),
        _ => Verdict::Silent,
    })
}

/// 5.1: the longest time for a token, in milliseconds.
fn longest(step: &Step) -> i64 {
    let minutes = match (step.text("purpose"), step.get("level").as_i64()) {
        ("quota_continue", _) => 10,
        (_, Some(4)) => 5,
        _ => 15,
    };
    minutes * 60_000
}

/// 5.4: a session token is void once the connection ends.
fn on_its_connection(run: &Run) -> Verdict {
    every(run, |number, it| {
        let issue = issue(run, number, it).filter(|issue| issue.has("connection"));
        let over = |issue: &Step| {
            run.before(number).any(|(_, it)| {
                it.is("op", "disconnect") && it.get("connection") == issue.get("connection")
            })
        };
        match issue {
            Some(issue) if it.has("performed") => kept(!over(issue), number),
            _ => Verdict::Silent,
        }
    })
}

/// 5.1: a token that expired within the tolerance is accepted: its call is told neither that it is unknown nor that it has expired.
fn accepted_within_the_tolerance(run: &Run) -> Verdict {
    every(run, |number, it| {
        let within = is_late(run, number, it) && !is_late_with_tolerance(run, number, it);
        if it.is("op", "call") && within {
            kept(
                !["TOKEN_INVALID", "TOKEN_EXPIRED"].contains(&outcome(it)),
                number,
            )
        } else {
            Verdict::Silent
        }
    })
}

/// 5.5: a call with a token that was purged is told that it is unknown; one with a token that is not is never told so, and once the
/// tolerance is over that it has expired.
fn as_stored(run: &Run, number: usize, call: &Step) -> bool {
    match outcome(call) {
        "TOKEN_INVALID" => is_purged(run, number, call),
        "TOKEN_EXPIRED" => {
            is_late_with_tolerance(run, number, call) && !is_purged(run, number, call)
        }
        _ => !is_late_with_tolerance(run, number, call) && !is_purged(run, number, call),
    }
}

/// 5.5: what a call gets that comes after the token's expiry.
fn answers_when_late(run: &Run, right: impl Fn(usize, &Step) -> bool) -> Verdict {
    every(run, |number, it| {
        if it.is("op", "call") && is_late(run, number, it) {
            kept(right(number, it), number)
        } else {
            Verdict::Silent
        }
    })
}

/// Mended: a token of an operation whose level has risen is out of scope.
fn a_raised_level_voids(run: &Run) -> Verdict {
    let raised = |number, it: &Step| it.is("op", "call") && is_raised(run, number, it);
    every(run, |number, it| {
        if raised(number, it) {
            kept(outcome(it) == "TOKEN_SCOPE_MISMATCH", number)
        } else {
            Verdict::Silent
        }
    })
}

/// Mended: expired is later than the expiry and the tolerance of 0 to 300 s; the maximum limits the expiry alone.
fn one_term(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "configure" => {
            let set = it.get("clock_skew_tolerance_seconds").as_i64();
            kept(set.is_none_or(|set| (0..=300).contains(&set)), number)
        }
        "issue" => {
            let expiry = time(it, "expires_at");
            kept(
                expiry.is_some_and(|expiry| expiry - it.at <= longest(it)),
                number,
            )
        }
        "call" if it.has("token") => {
            let late = is_late_with_tolerance(run, number, it);
            kept(late == (outcome(it) == "TOKEN_EXPIRED"), number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: 30 seconds only where nothing is set; a token whose expiry is missing or unreadable is invalid.
fn absent_is_not_zero(run: &Run) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        Some(issue) if it.is("op", "call") && time(issue, "expires_at").is_none() => {
            kept(outcome(it) == "TOKEN_INVALID", number)
        }
        Some(_) if it.is("op", "call") => {
            let late = is_late_with_tolerance(run, number, it);
            kept(late == (outcome(it) == "TOKEN_EXPIRED"), number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: a session token ends with the session of its id, or when that was idle for the time that is stated.
fn until_the_session_ends(run: &Run) -> Verdict {
    every(run, |number, it| {
        let session = |other: &Step| other.get("session_id") == it.get("session_id");
        match (it.text("op"), issue(run, number, it)) {
            ("issue", _) if !it.has("idle_seconds") => Verdict::Lacks(number),
            ("call", Some(issue)) => {
                let ended = run
                    .before(number)
                    .any(|(_, it)| it.is("op", "end_session") && session(it));
                let last = run.before(number).find(|(_, it)| session(it));
                let idle = last.map_or(0, |(_, last)| it.at - last.at);
                let over = idle > issue.get("idle_seconds").as_i64().unwrap_or(0) * 1000;
                let good = !ended && !over && session(issue);
                kept(good == it.has("performed"), number)
            }
            _ => Verdict::Silent,
        }
    })
}

/// Mended: no token is purged while it is good; after that it is expired, or unknown once it was purged.
fn kept_while_good(run: &Run) -> Verdict {
    every(run, |number, it| {
        let late = is_late_with_tolerance(run, number, it);
        let known = issue(run, number, it).is_some();
        match it.text("op") {
            "purge" => kept(late || !known, number),
            "call" if it.has("token") && known && !late => kept(
                !["TOKEN_INVALID", "TOKEN_EXPIRED"].contains(&outcome(it)),
                number,
            ),
            "call" if it.has("token") => {
                let may = ["TOKEN_INVALID", "TOKEN_EXPIRED"];
                let purged = is_purged(run, number, it) || !known;
                kept(
                    may.contains(&outcome(it)) && !(purged && it.is("code", may[1])),
                    number,
                )
            }
            _ => Verdict::Silent,
        }
    })
}
