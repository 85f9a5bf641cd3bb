//! What runs, and upon what: the opening of chapter 6, 6.1, 6.9, A.4, A.7.4, A.8.4; and the guarantees.
//!
//! Facts: `~wants` is the action that the sender of a reply decides about, where it is another than the question's; `~crash` and `~restart`
//! are the producer's. `~ends` withdraws the question with that token, `~removes` takes it from the user's sight, `~grants` are seconds
//! more.

use serde_json::Value;

use super::consent::due;
use super::decisions::is_of_who_may_decide;
use super::question_of;
use super::questions::{asked, calls, questions, replies_to, silence_accepts};
use crate::every::{kept, together};
use crate::run::{Guarantee, Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "6 opening",
        judge: |run| irreversible_calls(run, accepted),
    },
    Judge {
        name: "6.1",
        judge: blocked_until_accepted,
    },
    Judge {
        name: "6.9 stalling",
        judge: stalling_brings_nothing_grave,
    },
    Judge {
        name: "A.4 accept",
        judge: an_accept_is_carried_out,
    },
    Judge {
        name: "A.4 reject: of its question",
        judge: |run| {
            after_a_reject(run, |run, number, call, _| {
                let question = asked(run, number, call);
                question.is_none_or(|it| {
                    !replies_to(run, it, number).any(|(_, reply)| reply.is("decision", "reject"))
                })
            })
        },
    },
    Judge {
        name: "A.4 reject: for good",
        judge: |run| after_a_reject(run, |_, _, _, _| false),
    },
    Judge {
        name: "A.7.4",
        judge: |run| {
            irreversible_calls(run, |run, number, _| {
                run.before(number)
                    .any(|(_, step)| step.is("decision", "accept"))
            })
        },
    },
    Judge {
        name: "A.8.4",
        judge: |run| {
            irreversible_calls(run, |run, number, call| asked(run, number, call).is_some())
        },
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AAEP-F2",
        judge: of_one_digest,
    },
    Judge {
        name: "AAEP-F4",
        judge: |run| {
            irreversible_calls(run, |run, number, call| {
                accepted(run, number, call) || accepted_by_silence(run, number, call)
            })
        },
    },
    Judge {
        name: "AAEP-F5",
        judge: one_call_for_an_accept,
    },
    Judge {
        name: "AAEP-F6",
        judge: |run| {
            after_a_reject(run, |run, number, call, reject| {
                decisions(run, call.get("~runs"), number, "accept").any(|accept| accept > reject)
            })
        },
    },
    Judge {
        name: "AAEP-F10",
        judge: modified_within_the_rating,
    },
    Judge {
        name: "AAEP-F23",
        judge: never_again_after_a_crash,
    },
    Judge {
        name: "AAEP-F25",
        judge: a_reply_before_what_is_irreversible,
    },
];

/// What runs was approved: by an accept for just that, or, where it can be undone, by silence.
pub(super) const NOTHING_UNAPPROVED_RUNS: Guarantee = Guarantee {
    name: "nothing-unapproved-runs",
    section: "6.1",
    means: "what is irreversible runs on an accept alone; what else is asked about, on an accept, or on the silence of somebody who was asked in time",
    broken: |run| {
        first_run(run, |number, call| {
            let approved = decisions(run, call.get("~runs"), number, "accept")
                .next()
                .is_some();
            let by_silence = !is_irreversible(call) && consents_by_silence(run, number, call);
            let must_be_asked = is_irreversible(call) || asked(run, number, call).is_some();
            must_be_asked && !approved && !by_silence
        })
    },
};

/// What the one who may decide has rejected does not run until it is accepted.
pub(super) const A_REJECTED_ACTION_NEVER_RUNS: Guarantee = Guarantee {
    name: "a-rejected-action-never-runs",
    section: "A.8",
    means: "what was rejected last does not run",
    broken: |run| {
        first_run(run, |number, call| {
            let reject = decisions(run, call.get("~runs"), number, "reject").last();
            let accept = decisions(run, call.get("~runs"), number, "accept").last();
            reject.is_some() && accept < reject
        })
    },
};

/// What is asked for runs no more often than it is asked for.
pub(super) const AT_MOST_ONCE: Guarantee = Guarantee {
    name: "at-most-once",
    section: "6.9",
    means: "what is asked about runs no more often than it is asked about",
    broken: |run| {
        first_run(run, |number, call| {
            let is_it = |(_, it): &(usize, &Step)| it.get("~runs") == call.get("~runs");
            let ran = run.before(number).filter(is_it);
            let ran = ran.filter(|(at, it)| asked(run, *at, it).is_some()).count();
            let asks = |(_, it): &(usize, &Step)| it.get("~asks") == call.get("~runs");
            let questions = questions(run).take_while(|(at, _)| *at < number);
            ran > 0 && ran >= questions.filter(asks).count()
        })
    },
};

fn first_run(run: &Run, is_broken: impl Fn(usize, &Step) -> bool) -> Option<usize> {
    let mut ran = run.steps().filter(|(_, step)| step.has("~runs"));
    ran.find(|(number, call)| is_broken(*number, call))
        .map(|(number, _)| number)
}

/// The replies with this decision about an action, of those who may decide it, before a step.
fn decisions<'a>(
    run: &'a Run,
    action: &'a Value,
    until: usize,
    decision: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let replies = run.steps().take_while(move |(number, _)| *number < until);
    let about = replies.filter(move |(number, reply)| {
        let question = question_of(run, *number, reply);
        let asks = question.map(|(_, question)| question.get("~asks"));
        let wants = if reply.has("~wants") {
            Some(reply.get("~wants"))
        } else {
            asks
        };
        let may = question.is_none_or(|(_, it)| is_of_who_may_decide(it, reply));
        reply.is("decision", decision) && may && wants == Some(action)
    });
    about.map(|(number, _)| number)
}

fn is_irreversible(step: &Step) -> bool {
    step.get("irreversible") == true
}

/// Whether an accept to the call's question came before it.
fn accepted(run: &Run, number: usize, call: &Step) -> bool {
    let question = asked(run, number, call);
    question.is_some_and(|it| {
        replies_to(run, it, number).any(|(_, reply)| reply.is("decision", "accept"))
    })
}

fn accepted_by_silence(run: &Run, number: usize, call: &Step) -> bool {
    asked(run, number, call).is_some_and(|(_, question)| silence_accepts(question, call.at))
}

/// Silence is consent where the question stood before the person for all of the time that was promised.
fn consents_by_silence(run: &Run, number: usize, call: &Step) -> bool {
    asked(run, number, call).is_some_and(|(asked, question)| {
        let token = question.get("reply_token");
        let since = || run.before(number).take_while(|(at, _)| *at > asked);
        let ended = since().any(|(_, it)| {
            let ends = ["session.completed", "session.errored", "session.cancelled"];
            let withdrawn = ["~ends", "~removes"]
                .iter()
                .any(|name| it.has(name) && it.get(name) == token);
            withdrawn || ends.contains(&it.text("event"))
        });
        let granted = since().filter(|(_, it)| it.get("reply_token") == token);
        let granted: i64 = granted
            .filter_map(|(_, it)| it.get("~grants").as_i64())
            .sum();
        !ended && silence_accepts(question, call.at - granted * 1000)
    })
}

fn irreversible_calls(run: &Run, is_kept: fn(&Run, usize, &Step) -> bool) -> Verdict {
    let concerned = calls(run).filter(|(_, call)| is_irreversible(call));
    together(concerned.map(|(number, call)| kept(is_kept(run, number, call), number)))
}

/// 6.1: the action is not performed before an accept, or the timeout with default accept.
fn blocked_until_accepted(run: &Run) -> Verdict {
    let concerned = calls(run).filter(|(number, call)| asked(run, *number, call).is_some());
    together(concerned.map(|(number, call)| {
        kept(
            accepted(run, number, call) || accepted_by_silence(run, number, call),
            number,
        )
    }))
}

/// 6.9: to stall until the default accepts brings about nothing that is irreversible and of high risk.
fn stalling_brings_nothing_grave(run: &Run) -> Verdict {
    let grave =
        calls(run).filter(|(_, call)| is_irreversible(call) && call.is("risk_level", "high"));
    together(grave.map(|(number, call)| {
        let replied = run
            .before(number)
            .any(|(_, step)| step.is("decision", "accept"));
        let silent = run
            .before(number)
            .any(|(_, step)| silence_accepts(step, call.at));
        kept(replied || !silent, number)
    }))
}

/// A.4: an accept is followed by the invocation of the tool for that action.
fn an_accept_is_carried_out(run: &Run) -> Verdict {
    let accepted = questions(run).filter(|question| {
        replies_to(run, *question, usize::MAX)
            .next()
            .is_some_and(|(_, reply)| reply.is("decision", "accept"))
    });
    together(accepted.map(|(number, _)| {
        let carried_out = calls(run).any(|(at, call)| {
            call.has("event")
                && asked(run, at, call).is_some_and(|(question, _)| question == number)
        });
        let end = run.steps().next_back().filter(|(_, step)| step.has("~end"));
        match end {
            _ if carried_out => Verdict::Right,
            Some((end, _)) => Verdict::Wrong(end),
            None => Verdict::Silent,
        }
    }))
}

/// Calls for an action that a reply before them rejects; `is_kept` is given the number of the last such reply.
fn after_a_reject(run: &Run, is_kept: fn(&Run, usize, &Step, usize) -> bool) -> Verdict {
    together(calls(run).filter_map(|(number, call)| {
        asked(run, number, call)?;
        let reject = decisions(run, call.get("~runs"), number, "reject").last();
        Some(kept(
            reject.is_none_or(|reject| is_kept(run, number, call, reject)),
            number,
        ))
    }))
}

/// Mended (F2): a call carries the digest of a question that was accepted, or of the modification in its reply.
fn of_one_digest(run: &Run) -> Verdict {
    let mut concerned = questions(run).chain(calls(run));
    if let Some((number, _)) = concerned.find(|(_, step)| !step.has("digest")) {
        return Verdict::Lacks(number);
    }
    let of_a_call = |(number, call): (usize, &Step)| {
        let bound = questions(run).any(|(asked, question)| {
            let reply = replies_to(run, (asked, question), number)
                .find(|(_, it)| it.is("decision", "accept"));
            let silent = asked < number && silence_accepts(question, call.at);
            let digest = match reply {
                Some((_, reply)) if reply.has("digest") => reply.get("digest"),
                Some(_) => question.get("digest"),
                None if silent => question.get("digest"),
                None => &Value::Null,
            };
            digest == call.get("digest")
        });
        kept(bound, number)
    };
    together(calls(run).map(of_a_call))
}

/// Mended (F5): an accept, by a reply or by silence, authorises one invocation.
fn one_call_for_an_accept(run: &Run) -> Verdict {
    let once = calls(run).filter_map(|(number, call)| {
        let (question, _) = asked(run, number, call)?;
        let again = run.before(number).take_while(|(at, _)| *at > question);
        let again = again
            .into_iter()
            .any(|(_, it)| it.has("~runs") && it.get("~runs") == call.get("~runs"));
        Some(kept(!again, number))
    });
    together([blocked_until_accepted(run), together(once)])
}

/// Mended (F10): a modified action that is irreversible or rates higher than its question is put as a new question.
fn modified_within_the_rating(run: &Run) -> Verdict {
    let rank = |step: &Step| match step.text("risk_level") {
        "high" => 2,
        "medium" => 1,
        _ => 0,
    };
    together(calls(run).filter_map(|(number, call)| {
        let last = |(_, step): &(usize, &Step)| {
            step.is("event", "awaiting.confirmation") || step.is("decision", "accept")
        };
        let (at, reply) = run.before(number).find(last)?;
        let graver = reply.has("modified_action")
            && question_of(run, at, reply)
                .is_some_and(|(_, question)| is_irreversible(call) || rank(call) > rank(question));
        Some(kept(!graver, number))
    }))
}

/// Mended (F23): an accept starts its action once, also across a restart; what may have started is reported, and not run; and a default
/// accept whose time came while the producer was down is not applied.
fn never_again_after_a_crash(run: &Run) -> Verdict {
    let late = calls(run).filter_map(|(number, call)| {
        let question = asked(run, number, call)?;
        let (restart, up) = run.before(number).find(|(_, step)| step.has("~restart"))?;
        let (_, down) = run.before(restart).find(|(_, step)| step.has("~crash"))?;
        let silent = replies_to(run, question, number).next().is_none();
        let end = due(question.1);
        Some(kept(!silent || end < down.at || end >= up.at, number))
    });
    let reported = run.steps().filter_map(|(restart, step)| {
        let end = run
            .steps()
            .next_back()
            .filter(|(_, last)| last.has("~end") && step.has("~restart"))?;
        let told = |(_, step): (usize, &Step)| step.has("event");
        let unknown = run
            .before(restart)
            .any(|(_, it)| it.has("~runs") && !it.has("event"));
        unknown.then(|| kept(run.steps().skip(restart).any(told), end.0))
    });
    together([
        one_call_for_an_accept(run),
        together(late),
        together(reported),
    ])
}

/// Mended (F25): what is irreversible is invoked after an accept reply, and its question's default is reject.
fn a_reply_before_what_is_irreversible(run: &Run) -> Verdict {
    let irreversible = questions(run).filter(|(_, question)| is_irreversible(question));
    let defaults =
        irreversible.map(|(number, it)| kept(it.is("default_decision", "reject"), number));
    together([together(defaults), irreversible_calls(run, accepted)])
}
