//! Which checks a token has to pass, in which order, and with which codes: 4.1, 4.3, 2.1, 5.3, 5.4, 6.3.

use super::lifetime::{is_late, is_late_with_tolerance, is_purged};
use super::{answers, first_of, issue, max_uses, member, outcome, runs, same_call, with};
use crate::every::{each_op, every, kept};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "4.1",
        judge: |run| {
            answers(run, |number, call, issue| {
                table(run, number, call, issue, is_late)
            })
        },
    },
    Judge {
        name: "4.3 sample",
        judge: |run| answers(run, |number, call, issue| sample(run, number, call, issue)),
    },
    Judge {
        name: "2.1",
        judge: for_its_purpose,
    },
    Judge {
        name: "5.3",
        judge: |run| {
            performed(run, |number, it| {
                with(run, number, it, "revoke").next().is_none()
            })
        },
    },
    Judge {
        name: "5.4: the session",
        judge: in_its_session,
    },
    Judge {
        name: "6.3",
        judge: one_code,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AQL-F12",
        judge: four_more_checks,
    },
    Judge {
        name: "AQL-F13",
        judge: the_table_with_tolerance,
    },
    Judge {
        name: "AQL-F25",
        judge: strangers_learn_nothing,
    },
];

/// What each check of the table finds: found, in time, unused; operation, parameters, adapter.
fn faults(
    run: &Run,
    number: usize,
    call: &Step,
    issue: Option<&Step>,
    late: bool,
) -> [(bool, &'static str); 5] {
    let is = |of: &dyn Fn(&Step) -> bool| issue.is_some_and(of);
    let scope = "TOKEN_SCOPE_MISMATCH";
    let used = runs(run, number, call) + with(run, number, call, "mark").count();
    [
        (
            issue.is_none() || is_purged(run, number, call),
            "TOKEN_INVALID",
        ),
        (late, "TOKEN_EXPIRED"),
        (used > 0, "TOKEN_ALREADY_USED"),
        (is(&|it| !same_call(it, call, "~metadata")), scope),
        (
            is(&|it| member(it, "adapter", "default") != member(call, "adapter", "default")),
            scope,
        ),
    ]
}

/// 4.1: the table, row by row.
fn table(
    run: &Run,
    number: usize,
    call: &Step,
    issue: Option<&Step>,
    late: fn(&Run, usize, &Step) -> bool,
) -> &'static str {
    first_of(&faults(run, number, call, issue, late(run, number, call)))
}

/// 4.3: the sample, line by line; it does not look at the adapter.
fn sample(run: &Run, number: usize, call: &Step, issue: Option<&Step>) -> &'static str {
    let late = is_late_with_tolerance(run, number, call);
    let [exists, in_time, unused, scope, _] = faults(run, number, call, issue, late);
    first_of(&[exists, scope, in_time, unused])
}

/// Each call that runs with a token is right.
fn performed(run: &Run, right: impl Fn(usize, &Step) -> bool) -> Verdict {
    every(run, |number, it| {
        if it.has("performed") && it.has("token") {
            kept(right(number, it), number)
        } else {
            Verdict::Silent
        }
    })
}

/// 2.1: the prefix tells what a token is for.
fn for_its_purpose(run: &Run) -> Verdict {
    performed(run, |number, it| is_for_it(run, number, it))
}

/// Whether a call needs a token for what that of the call is for, and for nothing else.
fn is_for_it(run: &Run, number: usize, call: &Step) -> bool {
    issue(run, number, call).is_none_or(|issue| {
        let purpose = member(issue, "purpose", "confirmation");
        let gates = call.get("gates").as_array();
        gates.is_none_or(|gates| gates.iter().all(|gate| gate == purpose))
    })
}

/// 5.4: a session token is good in its session.
fn in_its_session(run: &Run) -> Verdict {
    performed(run, |number, it| is_in_its_session(run, number, it))
}

/// Whether a call is in the session for which its token is valid, and that goes on.
fn is_in_its_session(run: &Run, number: usize, call: &Step) -> bool {
    let session = issue(run, number, call).map(|it| it.get("session_id"));
    session.is_none_or(|session| {
        session.is_null()
            || session == call.get("session_id")
                && !run
                    .before(number)
                    .any(|(_, it)| it.is("op", "end_session") && it.get("session_id") == session)
    })
}

/// 6.3: clients do not see different errors.
fn one_code(run: &Run) -> Verdict {
    each_op(run, "call", |number, it| {
        let failed = |it: &Step| it.text("code").starts_with("TOKEN_");
        let mut others = run.before(number).filter(|(_, it)| failed(it));
        !failed(it) || others.all(|(_, other)| outcome(other) == outcome(it))
    })
}

/// Mended: purpose and session are checked as part of the scope, revocation as existence, and the uses are counted.
fn four_more_checks(run: &Run) -> Verdict {
    answers(run, |number, call, issue| {
        let late = is_late_with_tolerance(run, number, call);
        let [exists, in_time, _, scope, adapter] = faults(run, number, call, issue, late);
        let revoked = with(run, number, call, "revoke").next().is_some();
        let used_up = issue.is_some_and(|it| runs(run, number, call) >= max_uses(it));
        first_of(&[
            exists,
            (revoked, "TOKEN_INVALID"),
            in_time,
            (used_up, "TOKEN_ALREADY_USED"),
            scope,
            adapter,
            (!is_for_it(run, number, call), "TOKEN_SCOPE_MISMATCH"),
            (
                !is_in_its_session(run, number, call),
                "TOKEN_SCOPE_MISMATCH",
            ),
        ])
    })
}

/// Mended: the checks of the table in its order, with the tolerance, and the first that fails gives the code.
fn the_table_with_tolerance(run: &Run) -> Verdict {
    answers(run, |number, call, issue| {
        table(run, number, call, issue, is_late_with_tolerance)
    })
}

/// Mended: only the principal of a token learns which check failed.
fn strangers_learn_nothing(run: &Run) -> Verdict {
    answers(run, |number, call, issue| {
        let own = issue.is_some_and(|it| it.get("principal") == call.get("principal"));
        match table(run, number, call, issue, is_late_with_tolerance) {
            code if own || code == "valid" => code,
            _ => "TOKEN_INVALID",
        }
    })
}
