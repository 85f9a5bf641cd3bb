//! Who agrees, to what, and how that reaches the adapter: 1.1, 1.3.

use serde_json::Value;

use super::lifetime::is_raised;
use super::{agreed, is_as_shown, issue, member, outcome, same_call, tokens, with};
use crate::every::{each_op, end, every, kept, time};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "1.1: a person consents",
        judge: |run| {
            proof(run, |number, it| {
                agreed(run, number, it) && is_as_shown(run, number, it)
            })
        },
    },
    Judge {
        name: "1.1: sending it back is consent",
        judge: |run| proof(run, |_, _| true),
    },
    Judge {
        name: "1.1: whoever consents can proceed",
        judge: consent_lets_it_proceed,
    },
    Judge {
        name: "1.1: past the quota",
        judge: past_the_quota,
    },
    Judge {
        name: "1.3",
        judge: a_token_for_each_gate,
    },
    Judge {
        name: "1.3: the token beside the parameters",
        judge: |run| where_it_is(run, |call| call.get("confirmation_token")),
    },
    Judge {
        name: "1.3: the token among the parameters",
        judge: |run| {
            where_it_is(run, |call| {
                call.get("params")
                    .get("confirmation_token")
                    .unwrap_or(&Value::Null)
            })
        },
    },
    Judge {
        name: "3.2: the call itself",
        judge: bound_to_the_call,
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AQL-F1",
        judge: recorded,
    },
    Judge {
        name: "AQL-F2",
        judge: one_for_each_purpose,
    },
    Judge {
        name: "AQL-F5",
        judge: a_list_beside_the_parameters,
    },
    Judge {
        name: "AQL-F10",
        judge: a_number_of_calls,
    },
    Judge {
        name: "AQL-F22",
        judge: of_its_principal,
    },
];

/// 1.1: a token proves that the client that was warned has consented, and how that is known.
fn proof(run: &Run, consented: impl Fn(usize, &Step) -> bool) -> Verdict {
    every(run, |number, it| {
        if !it.has("performed") || tokens(it).next().is_none() {
            return Verdict::Silent;
        }
        let issue = issue(run, number, it);
        let warned = issue.is_none_or(|issue| issue.get("principal") == it.get("principal"));
        kept(warned && consented(number, it), number)
    })
}

/// The purposes for which a call needs a token.
fn gates(call: &Step) -> impl Iterator<Item = &Value> {
    call.get("gates").as_array().into_iter().flatten()
}

/// Whether a call carries a token for a gate, of those that are `good`.
fn carries(
    run: &Run,
    number: usize,
    call: &Step,
    gate: &Value,
    good: impl Fn(&Step) -> bool,
) -> bool {
    tokens(call).any(|token| {
        run.before(number).any(|(_, it)| {
            it.is("op", "issue")
                && it.get("token") == token
                && member(it, "purpose", "confirmation") == gate
                && good(it)
        })
    })
}

/// 1.1: who has consented to everything that a call is held for, and has shown it, can proceed.
fn consent_lets_it_proceed(run: &Run) -> Verdict {
    every(run, |_, call| {
        let same = |it: &Step| it.is("op", "call") && it.get("operation") == call.get("operation");
        let shown = |gate: &Value| {
            run.steps().any(|(number, it)| {
                same(it)
                    && carries(run, number, it, gate, |issue| {
                        with(run, number, issue, "agree").next().is_some()
                    })
            })
        };
        if !call.is("op", "call") || gates(call).next().is_none() || !gates(call).all(shown) {
            return Verdict::Silent;
        }
        let proceeds = run.steps().any(|(_, it)| same(it) && it.has("performed"));
        match end(run) {
            Some(end) => kept(proceeds, end),
            None => Verdict::Silent,
        }
    })
}

/// 1.1: whoever has agreed to go on past a quota can do so.
fn past_the_quota(run: &Run) -> Verdict {
    every(run, |number, it| {
        let over = gates(it).any(|gate| gate == "quota_continue");
        let agreed = run.before(number).any(|(at, agree)| {
            let issue = issue(run, at, agree).filter(|_| agree.is("op", "agree"));
            issue.is_some_and(|issue| issue.is("purpose", "quota_continue"))
        });
        if over {
            kept(agreed == it.has("performed"), number)
        } else {
            Verdict::Silent
        }
    })
}

/// 1.3: a gated call runs with a token for what holds it, one that no call before has used, and gets one otherwise.
fn a_token_for_each_gate(run: &Run) -> Verdict {
    every(run, |number, it| {
        let unused = |issue: &Step| {
            let mut before = run.before(number);
            !before.any(|(_, it)| {
                it.is("op", "call") && tokens(it).any(|token| token == issue.get("token"))
            })
        };
        let all = gates(it).all(|gate| carries(run, number, it, gate, unused));
        if gates(it).next().is_none() {
            Verdict::Silent
        } else {
            kept(all == it.has("performed"), number)
        }
    })
}

/// 1.3: a retry with a token is validated and runs, one without gets a token; where a retry has its token is what differs.
fn where_it_is(run: &Run, place: fn(&Step) -> &Value) -> Verdict {
    each_op(run, "call", |_, it| {
        place(it).is_null() == (outcome(it) == "CONFIRMATION_REQUIRED")
    })
}

/// 3.2: a quota token, too, is good for the one call that it is bound to, once.
fn bound_to_the_call(run: &Run) -> Verdict {
    every(run, |number, it| {
        let good = |issue: &Step| {
            let used = with(run, number, issue, "call").any(|(_, it)| it.has("performed"));
            same_call(issue, it, "~metadata") && !used
        };
        let all = gates(it).all(|gate| carries(run, number, it, gate, good));
        if gates(it).next().is_none() {
            Verdict::Silent
        } else {
            kept(all == it.has("performed"), number)
        }
    })
}

/// Mended: valid only once a decision on it is recorded that was made outside the calling client.
fn recorded(run: &Run) -> Verdict {
    every(run, |number, it| {
        let mut decided = with(run, number, it, "agree");
        let outside = |by: &Step| by.has("recorded") && by.get("by") != it.get("client");
        if it.has("performed") && it.has("token") {
            kept(decided.any(|(_, it)| outside(it)), number)
        } else {
            Verdict::Silent
        }
    })
}

/// Mended: one token for each purpose, and none is used up before all are found good.
fn one_for_each_purpose(run: &Run) -> Verdict {
    every(run, |number, it| {
        let unused = |issue: &Step| {
            let mut before = run.before(number);
            !before.any(|(_, it)| {
                it.has("performed") && tokens(it).any(|token| token == issue.get("token"))
            })
        };
        let all = gates(it).all(|gate| carries(run, number, it, gate, unused));
        if gates(it).next().is_none() {
            Verdict::Silent
        } else {
            kept(all == it.has("performed"), number)
        }
    })
}

/// Mended: the retry is the original call with `tokens` beside `params`, and `params` alone are compared.
fn a_list_beside_the_parameters(run: &Run) -> Verdict {
    each_op(run, "call", |number, it| {
        let original = tokens(it).any(|token| {
            run.before(number).any(|(_, issue)| {
                issue.is("op", "issue") && issue.get("token") == token && same_call(issue, it, "")
            })
        });
        match tokens(it).next() {
            None => outcome(it) == "CONFIRMATION_REQUIRED",
            Some(_) => original == it.has("performed") || original && is_raised(run, number, it),
        }
    })
}

/// Mended: a quota token states metric, number of calls and period, and is good for that many of them.
fn a_number_of_calls(run: &Run) -> Verdict {
    every(run, |number, it| {
        let good = |issue: &Step| {
            let used = with(run, number, issue, "call")
                .filter(|(_, it)| it.has("performed"))
                .count();
            let used = u64::try_from(used).unwrap_or(u64::MAX);
            issue
                .get("calls")
                .as_u64()
                .is_some_and(|calls| used < calls)
                && time(issue, "until").is_some_and(|until| it.at <= until)
        };
        let states_all = ["metric", "calls", "until"].iter().all(|name| it.has(name));
        if it.is("op", "issue") && it.is("purpose", "quota_continue") && !states_all {
            return Verdict::Lacks(number);
        }
        let all = gates(it).all(|gate| carries(run, number, it, gate, good));
        if gates(it).next().is_none() {
            Verdict::Silent
        } else {
            kept(all == it.has("performed"), number)
        }
    })
}

/// Mended: a token is that of its principal while the session lasts, and the log has no token whole.
fn of_its_principal(run: &Run) -> Verdict {
    every(run, |number, it| {
        match (it.text("op"), issue(run, number, it)) {
            ("audit", _) => {
                let whole = |issue: &Step| {
                    issue.is("op", "issue") && issue.get("token") == it.get("token_id")
                };
                kept(!run.before(number).any(|(_, issue)| whole(issue)), number)
            }
            ("call", Some(issue)) if it.has("performed") => {
                let session = issue.get("session_id");
                let ended =
                    |it: &Step| it.is("op", "end_session") && it.get("session_id") == session;
                let over = run.before(number).any(|(_, it)| ended(it));
                kept(
                    issue.get("principal") == it.get("principal") && !over,
                    number,
                )
            }
            _ => Verdict::Silent,
        }
    })
}
