//! What is asked, and how: 6.1, 6.2.2, 6.4.1; and how a call is tied to what was asked.
//!
//! Facts: `~asks` is the action that a question is about and `~runs` the one that a call performs, whatever their texts say.
//! `~subscribes` and `~closes` name a subscription, `~able` that
//! its user can answer; `~sends` is a question's token that goes to the subscription `~to`.

use super::consent::due;
use crate::every::{kept, together};
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
        name: "6.2.2 first rule",
        judge: unique_for_a_day,
    },
    Judge {
        name: "6.2.2 third rule",
        judge: |run| never_issued_again(run, &["awaiting.confirmation"]),
    },
    Judge {
        name: "6.4.1",
        judge: |run| every_question(run, |question| default_by_the_table(question, false)),
    },
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    Judge {
        name: "AAEP-F1",
        judge: named_by_an_id,
    },
    Judge {
        name: "AAEP-F7",
        judge: |run| never_issued_again(run, &["awaiting.confirmation", "awaiting.clarification"]),
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

/// Whether a question says that silence accepts, and the time is up.
pub(super) fn silence_accepts(question: &Step, at: i64) -> bool {
    question.is("default_decision", "accept") && at >= due(question)
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
                    && question.at < due(first.1)
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

/// 6.2.2, third rule: a producer does not use again the token of a confirmation; mended (F7): nor any other.
fn never_issued_again(run: &Run, of_what: &[&str]) -> Verdict {
    with_its_token(run, |(_, earlier), (_, question)| {
        of_what.contains(&earlier.text("event"))
            && earlier.get("producer") == question.get("producer")
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

/// No question, for whatever, has the token of an earlier one with which it clashes.
fn with_its_token(run: &Run, clash: impl Fn((usize, &Step), (usize, &Step)) -> bool) -> Verdict {
    let blocking = run
        .steps()
        .filter(|(_, step)| step.text("event").starts_with("awaiting."));
    together(blocking.map(|question| {
        let mut earlier = run.steps().take(question.0 - 1);
        let clashes = earlier.any(|it| {
            it.1.text("event").starts_with("awaiting.")
                && it.1.get("reply_token") == question.1.get("reply_token")
                && clash(it, question)
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
                    && new.at < due(question)
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
        let wait = (due(question.1) - question.1.at).max(LEAST);
        let since = able_since(run, question, number);
        kept(since.is_some_and(|since| call.at >= since + wait), number)
    });
    together([together(sent), together(accepted)])
}

/// Silence accepts only where someone who was asked could have said something.
pub(super) const SILENCE_OF_NOBODY: Guarantee = Guarantee {
    name: "silence-of-nobody-accepts-nothing",
    section: "6.4",
    means: "a default accept needs somebody who could have rejected",
    broken: |run| {
        run.steps().find(|(_, step)| step.has("~subscribes"))?;
        let unheard = by_silence(run)
            .find(|(number, _, question)| able_since(run, *question, *number).is_none());
        unheard.map(|(number, _, _)| number)
    },
};
