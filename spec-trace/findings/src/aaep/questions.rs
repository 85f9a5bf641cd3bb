//! What is asked, and how: 6.1, 6.2.2, 6.4.1, 6.5.5, A.5; and how a call is tied to what was asked.
//!
//! Facts: `~asks` is the action that a question is about and `~runs` the one that a call performs, whatever their texts say.
//! `~depends_on` of a call is the token of the clarification that it needs. `~subscribes` and `~closes` name a subscription, `~able` that
//! its user can answer; `~sends` is a question's token that goes to the subscription `~to`.

use serde_json::Value;

use crate::run::{Guarantee, Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    Judge {
        name: "6.1 same action: by its text",
        judge: |run| asked_again(run, |a, b| a.get("action") == b.get("action")),
    },
    Judge {
        name: "6.1 same action: by what it does",
        judge: |run| {
            asked_again(run, |a, b| {
                a.has("~asks") && a.get("~asks") == b.get("~asks")
            })
        },
    },
    Judge {
        name: "6.1 clarification",
        judge: |run| dependent_work(run, |_, _| true, |_| true),
    },
    Judge {
        name: "6.2.2 first rule",
        judge: unique_for_a_day,
    },
    Judge {
        name: "6.2.2 third rule",
        judge: never_issued_again,
    },
    Judge {
        name: "6.4.1",
        judge: |run| every_question(run, |question| default_by_the_table(question, false)),
    },
    Judge {
        name: "6.5.5 without kinds: any",
        judge: |run| dependent_work(run, |kinds, response| fits(kinds, response, true), |_| true),
    },
    Judge {
        name: "6.5.5 without kinds: none",
        judge: |run| {
            dependent_work(
                run,
                |kinds, response| fits(kinds, response, false),
                |_| true,
            )
        },
    },
    Judge {
        name: "A.5",
        judge: |run| {
            dependent_work(
                run,
                |_, _| true,
                |question| question.has("default_response"),
            )
        },
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AAEP-F1",
        judge: named_by_an_id,
    },
    Judge {
        name: "AAEP-F3",
        judge: a_clarification_without_kinds_or_default,
    },
    Judge {
        name: "AAEP-F7",
        judge: never_issued_again,
    },
    Judge {
        name: "AAEP-F8",
        judge: unique_in_a_session,
    },
    Judge {
        name: "AAEP-F24",
        judge: silence_of_those_who_were_asked,
    },
    Judge {
        name: "AAEP-F26",
        judge: |run| every_question(run, |question| default_by_the_table(question, true)),
    },
];

/// Of several verdicts the first that is against the run; else whether one of them concerns it.
pub(super) fn together(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut said = Verdict::Silent;
    for verdict in verdicts {
        match verdict {
            Verdict::Silent => {}
            Verdict::Right => said = Verdict::Right,
            Verdict::Wrong(_) | Verdict::Lacks(_) => return verdict,
        }
    }
    said
}

/// Right, or broken by this step.
pub(super) fn kept(is_kept: bool, step: usize) -> Verdict {
    if is_kept {
        Verdict::Right
    } else {
        Verdict::Wrong(step)
    }
}

/// The questions of a run for a confirmation.
pub(super) fn questions(run: &Run) -> impl Iterator<Item = (usize, &Step)> {
    run.steps()
        .filter(|(_, step)| step.is("event", "awaiting.confirmation"))
}

/// What is performed: tools that are invoked, and what runs without a word of it.
pub(super) fn calls(run: &Run) -> impl Iterator<Item = (usize, &Step)> {
    run.steps()
        .filter(|(_, step)| step.is("event", "tool.invoked") || step.has("~runs"))
}

/// The question whose action a call performs: the last one for that action, or where no fact says so, the last one.
pub(super) fn asked<'a>(run: &'a Run, number: usize, call: &Step) -> Option<(usize, &'a Step)> {
    run.before(number).find(|(_, step)| {
        step.is("event", "awaiting.confirmation")
            && (!call.has("~runs") || step.get("~asks") == call.get("~runs"))
    })
}

/// The replies to a question before a step, the first one first.
pub(super) fn replies_to<'a>(
    run: &'a Run,
    (asked, question): (usize, &'a Step),
    until: usize,
) -> impl Iterator<Item = (usize, &'a Step)> {
    let replies = run
        .steps()
        .skip(asked)
        .take_while(move |(number, _)| *number < until);
    replies.filter(|(_, step)| {
        step.has("reply") && step.get("reply_token") == question.get("reply_token")
    })
}

/// When the time for a question is up, in milliseconds since midnight.
pub(super) fn deadline(question: &Step) -> i64 {
    question.at + question.get("timeout_seconds").as_i64().unwrap_or(300) * 1000
}

/// Whether a question says that silence accepts, and the time is up.
pub(super) fn silence_accepts(question: &Step, at: i64) -> bool {
    question.is("default_decision", "accept") && at >= deadline(question)
}

fn every_question(run: &Run, of_one: fn(&Step) -> Option<bool>) -> Verdict {
    together(
        questions(run).map(|(number, question)| match of_one(question) {
            Some(is_kept) => kept(is_kept, number),
            None => Verdict::Silent,
        }),
    )
}

/// 6.1: no second question for the same action before a reply or the timeout of the first.
fn asked_again(run: &Run, is_same: fn(&Step, &Step) -> bool) -> Verdict {
    together(questions(run).map(|(number, question)| {
        let open = questions(run)
            .take_while(|(first, _)| *first < number)
            .any(|first| {
                is_same(first.1, question)
                    && question.at < deadline(first.1)
                    && replies_to(run, first, number).next().is_none()
            });
        kept(!open, number)
    }))
}

/// 6.2.2, first rule: a token is unique for the session that issues it and 24 hours more.
fn unique_for_a_day(run: &Run) -> Verdict {
    const DAY: i64 = 24 * 3_600_000;
    with_its_token(run, |(first, earlier), (_, question)| {
        let end = run.steps().skip(first).find(|(_, step)| {
            step.text("event").starts_with("session.")
                && step.get("session_id") == earlier.get("session_id")
        });
        earlier.get("producer") == question.get("producer")
            && end.is_none_or(|(_, end)| question.at < end.at + DAY)
    })
}

/// 6.2.2, third rule; mended (F7): a producer issues no token twice.
fn never_issued_again(run: &Run) -> Verdict {
    with_its_token(run, |(_, earlier), (_, question)| {
        earlier.get("producer") == question.get("producer")
    })
}

/// Mended (F8): a token is unique in a session whoever issues it, or a reply says which producer it is for.
fn unique_in_a_session(run: &Run) -> Verdict {
    let names_the_producer = |(number, question): (usize, &Step)| {
        let mut replies = replies_to(run, (number, question), usize::MAX).peekable();
        replies.peek().is_some() && replies.all(|(_, reply)| reply.has("agent_id"))
    };
    with_its_token(run, |(_, earlier), later| {
        earlier.get("session_id") == later.1.get("session_id") && !names_the_producer(later)
    })
}

/// No question has the token of an earlier one with which it clashes.
fn with_its_token(run: &Run, clash: impl Fn((usize, &Step), (usize, &Step)) -> bool) -> Verdict {
    together(questions(run).map(|question| {
        let mut earlier = questions(run).take_while(|(number, _)| *number < question.0);
        let clashes = earlier.any(|it| {
            it.1.get("reply_token") == question.1.get("reply_token") && clash(it, question)
        });
        kept(!clashes, question.0)
    }))
}

/// 6.4.1; mended (F26): a rating that is left out counts as the gravest.
fn default_by_the_table(question: &Step, the_gravest: bool) -> Option<bool> {
    let irreversible = question
        .get("irreversible")
        .as_bool()
        .or(the_gravest.then_some(true))?;
    let risk = match question.get("risk_level").as_str() {
        None if the_gravest => "high",
        risk => risk?,
    };
    Some(!irreversible || risk == "low" || question.is("default_decision", "reject"))
}

/// Mended (F1): a question has an `action_id`, and what performs its action or waits for it repeats that.
fn named_by_an_id(run: &Run) -> Verdict {
    let mut concerned = questions(run).chain(
        calls(run)
            .filter(|(number, call)| call.has("~runs") && asked(run, *number, call).is_some()),
    );
    if let Some((number, _)) = concerned.find(|(_, step)| !step.has("action_id")) {
        return Verdict::Lacks(number);
    }
    together([
        asked_again(run, |a, b| a.get("action_id") == b.get("action_id")),
        together(calls(run).filter_map(|(number, call)| {
            let (_, question) = asked(run, number, call)?;
            Some(kept(
                call.get("action_id") == question.get("action_id"),
                number,
            ))
        })),
    ])
}

/// Whether a response is of one of the kinds; without kinds, whether any is.
fn fits(kinds: &Value, response: &Value, without: bool) -> bool {
    kinds.as_array().map_or(without, |kinds| {
        kinds.iter().any(|kind| match kind.as_str() {
            Some("yes_no") => response.is_boolean(),
            Some("numeric") => response.is_number(),
            _ => response.is_string(),
        })
    })
}

/// Work that depends on a clarification waits for a reply that fits, or for the timeout and what stands for an answer then.
fn dependent_work(
    run: &Run,
    fits: fn(&Value, &Value) -> bool,
    at_timeout: fn(&Step) -> bool,
) -> Verdict {
    let work = run.steps().filter(|(_, step)| step.has("~depends_on"));
    together(work.filter_map(|(number, work)| {
        let question = run.before(number).find(|(_, step)| {
            step.is("event", "awaiting.clarification")
                && step.get("reply_token") == work.get("~depends_on")
        })?;
        let kinds = question.1.get("accepted_response_kinds");
        let answered = replies_to(run, question, number).any(|(_, reply)| {
            reply.at < deadline(question.1) && fits(kinds, reply.get("response"))
        });
        let is_up = work.at >= deadline(question.1);
        Some(kept(answered || (is_up && at_timeout(question.1)), number))
    }))
}

/// Mended (F3): without kinds a text fits; without a default a timeout ends the dependent work, and an event says so.
fn a_clarification_without_kinds_or_default(run: &Run) -> Verdict {
    let waits = dependent_work(
        run,
        |kinds, response| {
            let is_text = kinds.is_null() && response.is_string();
            is_text || fits(kinds, response, false)
        },
        |question| question.has("default_response"),
    );
    let told = run.steps().filter_map(|(number, question)| {
        let last = run
            .steps()
            .next_back()
            .filter(|(_, step)| step.has("~end"))?;
        let is_open = question.is("event", "awaiting.clarification")
            && !question.has("default_response")
            && replies_to(run, (number, question), last.0).next().is_none();
        let is_told =
            |(_, step): (usize, &Step)| step.has("event") && step.at >= deadline(question);
        (is_open && last.1.at >= deadline(question))
            .then(|| kept(run.steps().skip(number).any(is_told), last.0))
    });
    together([waits, together(told)])
}

/// Since when a question has been out to a subscription that is able to answer and still there; in milliseconds since midnight.
fn able_since(run: &Run, (asked, question): (usize, &Step), until: usize) -> Option<i64> {
    let opened = run
        .before(until)
        .filter(|(_, step)| step.get("~able") == true);
    let out = opened.filter_map(|(number, subscriber)| {
        let name = subscriber.get("~subscribes");
        let closed = run
            .before(until)
            .any(|(_, step)| step.get("~closes") == name);
        let sent = run.steps().take(until).find(|(later, step)| {
            *later > number.max(asked)
                && step.get("~to") == name
                && step.get("~sends") == question.get("reply_token")
        });
        let since = if number < asked {
            Some(question.at)
        } else {
            sent.map(|(_, step)| step.at)
        };
        since.filter(|_| !closed)
    });
    out.min()
}

/// Calls without a word before them, with the question, whose default accepts; they may come too early.
fn by_silence(run: &Run) -> impl Iterator<Item = (usize, &Step, (usize, &Step))> {
    calls(run).filter_map(|(number, call)| {
        let question = asked(run, number, call)?;
        let silent = replies_to(run, question, number).next().is_none();
        let accepts = question.1.is("default_decision", "accept");
        (silent && accepts).then_some((number, call, question))
    })
}

/// Mended (F24): an open question goes to a new subscription too, and silence accepts only what was out for all of its time.
fn silence_of_those_who_were_asked(run: &Run) -> Verdict {
    const LEAST: i64 = 30_000;
    let sent = run
        .steps()
        .filter(|(_, step)| step.has("~subscribes"))
        .flat_map(|(at, new)| {
            let open = questions(run).filter(move |(number, question)| {
                *number < at
                    && new.at < deadline(question)
                    && replies_to(run, (*number, question), at).next().is_none()
            });
            open.map(move |(_, question)| {
                let next = run
                    .steps()
                    .skip(at)
                    .find(|(_, step)| !step.has("~subscribes"));
                let is_sent = next.is_none_or(|(_, step)| {
                    step.get("~to") == new.get("~subscribes")
                        && step.get("~sends") == question.get("reply_token")
                });
                kept(is_sent, next.map_or(at, |(number, _)| number))
            })
        });
    let accepted = by_silence(run).map(|(number, call, question)| {
        let wait = (deadline(question.1) - question.1.at).max(LEAST);
        let since = able_since(run, question, number);
        kept(since.is_some_and(|since| call.at >= since + wait), number)
    });
    together([together(sent), together(accepted)])
}

/// Silence accepts only where someone who was asked could have said something.
pub(super) const SILENCE_OF_NOBODY: Guarantee = Guarantee {
    name: "silence-of-nobody-accepts-nothing",
    broken: |run| {
        run.steps().find(|(_, step)| step.has("~subscribes"))?;
        let unheard = by_silence(run)
            .find(|(number, _, question)| able_since(run, *question, *number).is_none());
        unheard.map(|(number, _, _)| number)
    },
};
