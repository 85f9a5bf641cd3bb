//! What the log holds: 6.4, 7.1.

use super::with;
use crate::every::{each_op, every, kept};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "6.4: every operation",
        judge: |run| logged(run, |_, _| true),
    },
    Judge {
        name: "6.4: four events",
        judge: |run| {
            each_op(run, "audit", |_, it| {
                EVENTS[..4].iter().any(|(_, event)| it.is("event", event))
            })
        },
    },
    Judge {
        name: "7.1: a redemption is told by TOKEN_VALIDATED",
        judge: validated_means_redeemed,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[Judge {
    name: "AQL-F4",
    judge: |run| logged(run, |op, event| EVENTS.contains(&(op, event))),
}];

/// The operations on a token with their entries; the last three are of the mended wording.
const EVENTS: [(&str, &str); 7] = [
    ("issue", "TOKEN_ISSUED"),
    ("validate", "TOKEN_VALIDATED"),
    ("reject", "TOKEN_REJECTED"),
    ("revoke", "TOKEN_REVOKED"),
    ("redeem", "TOKEN_REDEEMED"),
    ("query", "TOKEN_QUERIED"),
    ("purge", "TOKEN_PURGED"),
];

/// Each operation on a token is followed by its entry, which is right.
fn logged(run: &Run, right: fn(&str, &str) -> bool) -> Verdict {
    every(run, |number, it| {
        let op = it.text("op");
        let next = run.steps().nth(number).map(|(_, next)| next);
        match next {
            _ if !EVENTS.iter().any(|(of, _)| *of == op) => Verdict::Silent,
            Some(entry) => kept(
                entry.is("op", "audit") && right(op, entry.text("event")),
                number,
            ),
            None => Verdict::Silent,
        }
    })
}

/// 7.1: redemptions are logged, by that entry of the four that is left for them.
fn validated_means_redeemed(run: &Run) -> Verdict {
    every(run, |number, it| {
        let redeemed = |it: &Step| with(run, number, it, "redeem").next().is_some();
        if it.is("event", "TOKEN_VALIDATED") {
            kept(redeemed(it), number)
        } else {
            Verdict::Silent
        }
    })
}
