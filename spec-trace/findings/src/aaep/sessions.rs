//! What ends a question or a session, and which replies are honoured: 6.1, 6.3.4, 6.4, 6.6, 6.8, A.4, A.8.3, A.9.

use serde_json::Value;

use super::consent::{
    asked, counts, due, ends_session, grants, honoured, invokes, is_about, is_authenticated,
    is_question, judge, lacks, on_grounds, over, replies, same, seconds, stands,
};
use crate::every::{each, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    judge("6.1 accept or timeout", on_grounds),
    judge("6.1 asking again", not_again_before_release),
    judge("6.1 default in full time", no_default_accept_early),
    judge("6.3.4 check 4 by the event", late_by_the_event),
    judge("6.3.4 check 5: sender known", sender_is_known),
    judge("6.3.4 all checks", what_passes_is_honoured),
    judge("6.4 default is due", the_default_is_due),
    judge("6.4.2", the_grant_is_kept),
    judge("6.6 last paragraph", any_valid_token_is_honoured),
    judge("6.8", withdrawn_for_good),
    judge("6.8 by the change alone", any_change_withdraws),
    judge("6.8 of one producer", withdrawn_by_its_producer),
    judge("6.8 prompts", prompts_go_upon_a_change),
    judge("A.4 accept: before the end", what_is_accepted_is_invoked),
    judge("A.8.3", nothing_after_the_end),
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    judge("AAEP-F28", a_grant_is_announced),
    judge("AAEP-F32", forwarded_like_any_other),
    judge("AAEP-F35", dropped_or_started),
    judge("AAEP-F36", cancelling_releases),
    judge("AAEP-F37", ends_are_told_by_token),
    judge("AAEP-F39", every_end_cancels),
    judge("AAEP-F51", the_owner_ends_it),
];

/// A default is applied by this step, for the question with the token that it names.
fn applies(step: &Step) -> bool {
    step.has("~applies")
}

/// An action is performed by default.
pub(super) fn accepts_by_default(step: &Step) -> bool {
    applies(step) && invokes(step)
}

/// 6.1: the same action is not asked for again before a reply or the timeout has released the block.
fn not_again_before_release(run: &Run) -> Verdict {
    each(run, is_question, |number, question| {
        run.before(number)
            .filter(|(_, it)| is_question(it) && same(it, question, "~asks"))
            .all(|(_, it)| question.at >= due(it) || answered(run, number, it))
    })
}

/// A reply that counts has come on this question before the step.
fn answered(run: &Run, number: usize, question: &Step) -> bool {
    run.before(number)
        .any(|(place, it)| same(it, question, "reply_token") && counts(run, place, it))
}

/// 6.1: no accept by default before the whole time is up.
fn no_default_accept_early(run: &Run) -> Verdict {
    each(run, accepts_by_default, |number, tool| {
        asked(run, number, tool.get("~applies")).is_some_and(|(_, it)| tool.at >= due(it))
    })
}

/// Check 4: a reply on or after the event's timestamp and its timeout is ignored, whatever was granted.
fn late_by_the_event(run: &Run) -> Verdict {
    each(run, replies, |number, reply| {
        asked(run, number, reply.get("reply_token"))
            .is_some_and(|(_, it)| reply.at < due(it) || !honoured(run, number, reply))
    })
}

/// Check 5: whom the transport does not know is not heard.
fn sender_is_known(run: &Run) -> Verdict {
    each(run, replies, |number, reply| {
        is_authenticated(reply) || !honoured(run, number, reply)
    })
}

/// 6.3.4: a reply that passes all checks is honoured, at the latest when the question is settled otherwise.
pub(super) fn what_passes_is_honoured(run: &Run) -> Verdict {
    each(run, replies, |number, reply| {
        let settled = over(run, number) || run.steps().any(|(at, it)| at > number && applies(it));
        !settled || !counts(run, number, reply) || honoured(run, number, reply)
    })
}

/// 6.4: where no valid reply came in time, the default is applied when the time is up, not later.
fn the_default_is_due(run: &Run) -> Verdict {
    let mut said = Verdict::Silent;
    for (number, question) in run.steps().filter(|(_, it)| is_question(it)) {
        let token = question.get("reply_token");
        let later = |it: &Step| it.at > due(question);
        let late = run.steps().find(|(at, it)| *at > number && later(it));
        let done = run.steps().any(|(at, it)| {
            at > number
                && !later(it)
                && (it.get("~applies") == token || is_valid(run, at, it, token))
        });
        match late {
            Some((late, _)) if !done => return Verdict::Wrong(late),
            None if !done => {}
            _ => said = Verdict::Right,
        }
    }
    said
}

fn is_valid(run: &Run, number: usize, reply: &Step, token: &Value) -> bool {
    reply.get("reply_token") == token && counts(run, number, reply)
}

/// 6.4.2: who has granted more time waits for it, and for the answer that may come in it.
fn the_grant_is_kept(run: &Run) -> Verdict {
    each(run, applies, |number, step| {
        let token = step.get("~applies");
        asked(run, number, token).is_some_and(|(at, question)| {
            let until = due(question) + grants(run, at, number, token);
            let replied = run.before(number).any(|(place, it)| {
                place > at && replies(it) && it.get("reply_token") == token && it.at < until
            });
            step.at >= until && !replied
        })
    })
}

/// Mended: a grant is announced with the new timeout, and that holds for replies and default alike.
fn a_grant_is_announced(run: &Run) -> Verdict {
    let extends = |it: &Step| it.is("event", "timeout.extended");
    let told = each(
        run,
        |it| it.has("~grants"),
        |number, grant| {
            let next = run.steps().nth(number);
            next.is_some_and(|(_, it)| extends(it) && same(it, grant, "reply_token"))
        },
    );
    let until = |number: usize, at: usize, question: &Step| {
        let mut before = run.before(number).filter(|(place, _)| *place > at);
        let extended = before.find(|(_, it)| extends(it) && same(it, question, "reply_token"));
        extended.map_or(due(question), |(_, it)| question.at + seconds(it))
    };
    let kept = each(
        run,
        |it| applies(it) || replies(it),
        |number, step| {
            let token = if applies(step) {
                "~applies"
            } else {
                "reply_token"
            };
            asked(run, number, step.get(token)).is_some_and(|(at, question)| {
                let until = until(number, at, question);
                if applies(step) {
                    let replied = run.before(number).any(|(place, it)| {
                        place > at
                            && replies(it)
                            && same(it, question, "reply_token")
                            && it.at < until
                    });
                    step.at >= until && !replied
                } else {
                    step.at < until || !honoured(run, number, step)
                }
            })
        },
    );
    together([lacks(told), kept])
}

/// 6.6: as long as the token is valid, the reply is honoured.
fn any_valid_token_is_honoured(run: &Run) -> Verdict {
    each(run, replies, |number, reply| {
        let settled = over(run, number) || run.steps().any(|(at, it)| at > number && applies(it));
        let valid = asked(run, number, reply.get("reply_token"))
            .is_some_and(|(at, it)| reply.at < due(it) && stands(run, at, it, number));
        !settled || !valid || honoured(run, number, reply)
    })
}

/// Mended: a forwarded reply passes the same checks as any other.
fn forwarded_like_any_other(run: &Run) -> Verdict {
    together([on_grounds(run), what_passes_is_honoured(run)])
}

/// Questions that are open before the step.
pub(super) fn pending(run: &Run, number: usize, at: i64) -> Vec<&Step> {
    run.before(number)
        .filter(|(place, it)| {
            let token = it.get("reply_token");
            let applied = run
                .before(number)
                .any(|(_, it)| it.get("~applies") == token);
            is_question(it)
                && at < due(it)
                && !applied
                && !answered(run, number, it)
                && stands(run, *place, it, number)
        })
        .map(|(_, it)| it)
        .collect()
}

/// A.4: an accept that counts is followed by the call.
fn what_is_accepted_is_invoked(run: &Run) -> Verdict {
    each(
        run,
        |it| it.is("decision", "accept"),
        |number, reply| {
            !counts(run, number, reply) || !over(run, number) || started(run, number, reply)
        },
    )
}

/// The accepted action is started by a later call.
fn started(run: &Run, number: usize, reply: &Step) -> bool {
    let question = asked(run, number, reply.get("reply_token"));
    let invoked = |it: &Step| it.is("event", "tool.invoked");
    question.is_some_and(|(_, question)| {
        run.steps()
            .any(|(at, it)| at > number && invoked(it) && is_about(question, it))
    })
}

/// A.8.3: no event after the terminal one.
fn nothing_after_the_end(run: &Run) -> Verdict {
    each(
        run,
        |it| it.has("event"),
        |number, _| !run.before(number).any(|(_, it)| ends_session(it)),
    )
}

/// Mended: cancelling and errors drop what is accepted and not started; before completion it is started.
fn dropped_or_started(run: &Run) -> Verdict {
    let owed = each(
        run,
        |it| it.is("decision", "accept"),
        |number, reply| {
            let dropped = run.steps().any(|(at, it)| {
                at > number
                    && (it.is("event", "session.cancelled") || it.is("event", "session.errored"))
            });
            !counts(run, number, reply)
                || !over(run, number)
                || dropped
                || started(run, number, reply)
        },
    );
    let ended = each(run, invokes, |number, _| {
        !run.before(number).any(|(_, it)| ends_session(it))
    });
    together([owed, ended])
}

/// A question is withdrawn, or all are with the session.
fn withdraws(step: &Step) -> bool {
    step.has("~ends") || step.is("event", "session.cancelled")
}

/// 6.8: what is cancelled is superseded: no default is applied to it.
fn withdrawn_for_good(run: &Run) -> Verdict {
    each(run, withdraws, |number, step| {
        !run.steps().any(|(at, it)| {
            let of_it = !step.has("~ends") || it.get("~applies") == step.get("~ends");
            at > number && applies(it) && of_it
        })
    })
}

/// 6.8, if every change to thinking or deciding withdraws the one question that is open: nothing runs for it any more.
fn any_change_withdraws(run: &Run) -> Verdict {
    each(run, invokes, |number, call| {
        !run.before(number).any(|(at, change)| {
            let away = change.is("to_state", "thinking") || change.is("to_state", "deciding");
            let open = pending(run, at, change.at);
            away && matches!(open.as_slice(), [question] if is_about(question, call))
        })
    })
}

/// 6.8, if a terminal event ends its own producer's part only.
fn withdrawn_by_its_producer(run: &Run) -> Verdict {
    each(run, withdraws, |number, step| {
        !run.steps().any(|(at, it)| {
            let of_it = !step.has("~ends") || it.get("~applies") == step.get("~ends");
            at > number && applies(it) && of_it && same(it, step, "producer")
        })
    })
}

/// Mended: a cancellation releases the block, and no default follows it.
fn cancelling_releases(run: &Run) -> Verdict {
    let again = each(run, is_question, |number, question| {
        run.before(number)
            .filter(|(_, it)| is_question(it) && same(it, question, "~asks"))
            .all(|(at, it)| {
                question.at >= due(it) || answered(run, number, it) || !stands(run, at, it, number)
            })
    });
    together([again, withdrawn_for_good(run), on_grounds(run)])
}

/// 6.8: a prompt is removed upon a change to thinking or deciding.
fn prompts_go_upon_a_change(run: &Run) -> Verdict {
    each(
        run,
        |it| it.has("~removes"),
        |number, _| {
            run.before(number)
                .any(|(_, it)| it.is("to_state", "thinking") || it.is("to_state", "deciding"))
        },
    )
}

/// Mended: what ends a question carries its token and how it ended; only that prompt goes.
fn ends_are_told_by_token(run: &Run) -> Verdict {
    let outcomes = ["accepted", "rejected", "timed out", "cancelled"];
    let told = each(
        run,
        |it| it.has("~ends"),
        |_, step| {
            step.get("reply_token") == step.get("~ends") && outcomes.contains(&step.text("outcome"))
        },
    );
    let removed = each(
        run,
        |it| it.has("~removes"),
        |number, step| {
            run.before(number)
                .any(|(_, it)| it.has("outcome") && it.get("reply_token") == step.get("~removes"))
        },
    );
    together([lacks(told), removed, on_grounds(run)])
}

/// Mended: each terminal event cancels every question, and no default is applied after it.
fn every_end_cancels(run: &Run) -> Verdict {
    let concerned = |it: &Step| ends_session(it) || applies(it) || invokes(it);
    let ended = each(run, concerned, |number, it| {
        ends_session(it) || !run.before(number).any(|(_, it)| ends_session(it))
    });
    together([ended, on_grounds(run)])
}

/// Mended: one producer owns start and end, and the others' questions are stopped before the end.
fn the_owner_ends_it(run: &Run) -> Verdict {
    let owned = each(run, ends_session, |number, end| {
        run.before(number)
            .any(|(_, it)| it.is("event", "session.started") && same(it, end, "producer"))
    });
    let stopped = each(run, ends_session, |number, end| {
        pending(run, number, end.at).is_empty()
    });
    together([owned, lacks(stopped), every_end_cancels(run)])
}
