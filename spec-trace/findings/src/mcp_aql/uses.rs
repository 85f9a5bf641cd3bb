//! How often a token is good, and what is remembered of that: 1.2, 5.2, 5.4, 5.5, 6.1, 7.3.

use super::lifetime::{is_late_with_tolerance, is_purged, is_raised};
use super::{answers, first_of, issue, max_uses, outcome, runs, same_call, with};
use crate::every::{each, every, kept, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "1.2: consumed upon success",
        judge: |run| used_up(run, |it| it.has("performed") && !it.has("~failed")),
    },
    Judge {
        name: "5.2: consumed before it runs",
        judge: |run| used_up(run, |it| it.has("performed")),
    },
    Judge {
        name: "5.2 sample",
        judge: read_then_marked,
    },
    Judge {
        name: "5.2 sample: its answer",
        judge: |run| redeemed(run, |_, it| !it.has("code")),
    },
    Judge {
        name: "7.1: a code for each failure",
        judge: |run| redeemed(run, |_, it| it.has("code")),
    },
    Judge {
        name: "5.2: multi-use tokens",
        judge: several_uses,
    },
    Judge {
        name: "5.5: memory is enough",
        judge: forgotten_at_a_restart,
    },
    Judge {
        name: "6.1",
        judge: no_replay,
    },
    Judge {
        name: "7.3: stateless",
        judge: without_state,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AQL-F3",
        judge: |run| used_up(run, |it| it.has("performed")),
    },
    Judge {
        name: "AQL-F15",
        judge: one_atomic_step,
    },
    Judge {
        name: "AQL-F19",
        judge: marks_or_keys,
    },
    Judge {
        name: "AQL-F21",
        judge: counted,
    },
    Judge {
        name: "AQL-F23",
        judge: a_record_of_identifiers,
    },
    Judge {
        name: "AQL-F26",
        judge: |run| redeemed(run, |number, it| it.text("code") == reason(run, number, it)),
    },
];

/// A call is told that its token was used if and only if one before has used it up.
fn used_up(run: &Run, uses: fn(&Step) -> bool) -> Verdict {
    every(run, |number, it| {
        let used = with(run, number, it, "call").any(|(_, it)| uses(it));
        if it.is("op", "call") && it.has("token") {
            kept(used == (outcome(it) == "TOKEN_ALREADY_USED"), number)
        } else {
            Verdict::Silent
        }
    })
}

/// Every redemption that fails is answered as is wanted of it.
fn redeemed(run: &Run, right: impl Fn(usize, &Step) -> bool) -> Verdict {
    let fails = |it: &Step| it.is("op", "redeem") && it.get("valid") == false;
    each(run, fails, right)
}

/// 4.1: why a token cannot be redeemed.
fn reason(run: &Run, number: usize, redeem: &Step) -> &'static str {
    if issue(run, number, redeem).is_none() || is_purged(run, number, redeem) {
        "TOKEN_INVALID"
    } else {
        "TOKEN_ALREADY_USED"
    }
}

/// 5.2, the sample: whoever marks has read it unmarked, and whoever performs has marked.
fn read_then_marked(run: &Run) -> Verdict {
    every(run, |number, it| {
        let own =
            |op| with(run, number, it, op).filter(|(_, own)| own.get("caller") == it.get("caller"));
        match it.text("op") {
            "mark" => {
                let unmarked = |read: usize| with(run, read, it, "mark").next().is_none();
                kept(own("read").any(|(read, _)| unmarked(read)), number)
            }
            "perform" => kept(own("mark").next().is_some(), number),
            _ => Verdict::Silent,
        }
    })
}

/// 5.2 and 5.4: a batch token is good again and again, a session token in its session as often as it says, any other once.
fn several_uses(run: &Run) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        Some(issue) if it.is("op", "call") => {
            let left = issue.has("batch") || runs(run, number, it) < max_uses(issue);
            kept(
                (left && same_call(issue, it, "~metadata")) == it.has("performed"),
                number,
            )
        }
        _ => Verdict::Silent,
    })
}

/// 5.5: what was used is remembered until the adapter starts again.
fn forgotten_at_a_restart(run: &Run) -> Verdict {
    every(run, |number, it| {
        let mut before = run.before(number);
        let started = before
            .find(|(_, it)| it.is("op", "restart"))
            .map_or(0, |(at, _)| at);
        let used =
            with(run, number, it, "call").any(|(at, it)| at > started && it.has("performed"));
        match issue(run, number, it) {
            Some(issue) if it.is("op", "call") && issue.has("signed") => {
                kept(used == (outcome(it) == "TOKEN_ALREADY_USED"), number)
            }
            _ => Verdict::Silent,
        }
    })
}

/// 6.1: nothing that was done with a token is done with it again.
fn no_replay(run: &Run) -> Verdict {
    every(run, |number, it| {
        if it.is("op", "perform") || it.has("performed") && it.has("token") {
            kept(runs(run, number, it) == 0, number)
        } else {
            Verdict::Silent
        }
    })
}

/// 7.3: signature, time and scope decide; they do not change by a use.
fn without_state(run: &Run) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        Some(issue) if it.is("op", "call") && issue.has("signed") => {
            let good =
                same_call(issue, it, "~metadata") && !is_late_with_tolerance(run, number, it);
            kept(good == it.has("performed"), number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: the checks and the consumption are one step, at the moment of use, that succeeds once.
fn one_atomic_step(run: &Run) -> Verdict {
    every(run, |number, it| match it.text("op") {
        "perform" => Verdict::Wrong(number),
        "call" if it.has("performed") => {
            let late = is_late_with_tolerance(run, number, it);
            let good = issue(run, number, it).is_none_or(|issue| same_call(issue, it, "~metadata"));
            kept(runs(run, number, it) == 0 && !late && good, number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: marks of use and revocation survive a restart, or the key is renewed by it.
fn marks_or_keys(run: &Run) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        Some(issue) if it.is("op", "call") && issue.has("signed") => {
            let issued = with(run, number, it, "issue")
                .last()
                .map_or(0, |(at, _)| at);
            let renewed = run
                .before(number)
                .any(|(at, it)| at > issued && it.has("new_key"));
            let wanted = first_of(&[
                (renewed, "TOKEN_INVALID"),
                (
                    with(run, number, it, "revoke").next().is_some(),
                    "TOKEN_INVALID",
                ),
                (is_late_with_tolerance(run, number, it), "TOKEN_EXPIRED"),
                (runs(run, number, it) > 0, "TOKEN_ALREADY_USED"),
            ]);
            kept(outcome(it) == wanted, number)
        }
        _ => Verdict::Silent,
    })
}

/// Mended: a multi-use token states how many uses it has, and is consumed by the last one.
fn counted(run: &Run) -> Verdict {
    let lacking = every(run, |number, it| {
        let multi = it.has("batch") || it.has("max_uses") || it.has("message_uses");
        let told = it.has("max_uses") && it.get("max_uses") == it.get("message_uses");
        if it.is("op", "issue") && multi && !told {
            Verdict::Lacks(number)
        } else {
            Verdict::Silent
        }
    });
    let told = answers(run, |number, call, issue| {
        let used_up = issue.is_some_and(|it| runs(run, number, call) >= max_uses(it));
        first_of(&[
            (issue.is_none(), "TOKEN_INVALID"),
            (used_up, "TOKEN_ALREADY_USED"),
            (is_raised(run, number, call), "TOKEN_SCOPE_MISMATCH"),
        ])
    });
    together([lacking, told])
}

/// Mended: there is a record of used and revoked identifiers for signed tokens, too.
fn a_record_of_identifiers(run: &Run) -> Verdict {
    every(run, |number, it| match issue(run, number, it) {
        Some(issue) if it.has("performed") && issue.has("signed") => {
            let revoked = with(run, number, it, "revoke").next().is_some();
            kept(runs(run, number, it) == 0 && !revoked, number)
        }
        _ => Verdict::Silent,
    })
}
