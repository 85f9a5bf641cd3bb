//! The state machine of appendix A: states, calls, streams, several producers.

use super::consent::{
    asked, counts, due, ends_session, invokes, is_about, is_question, judge, lacks, over, same,
    stands,
};
use crate::every::{each, kept, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    judge("6.1 after a reject", something_follows_a_reject),
    judge(
        "6.7.2 recommended pattern",
        resolution_leaves_awaiting_input,
    ),
    judge("A.2 awaiting_input", awaiting_while_open),
    judge("A.3 calling_tool", calling_tool_while_one_runs),
    judge("A.4 before, in order", entered_before_in_order),
    judge("A.4 at, by the clock", entered_at_by_the_clock),
    judge("A.4 away", away_after_resolution),
    judge("A.7.1", may_follow_the_start),
    judge("A.7.3", may_follow_a_change),
    judge("A.7.4 any before", |run| {
        each(run, called, |number, _| {
            run.before(number).any(|(_, it)| leads_to_a_call(it))
        })
    }),
    judge("A.7.4 inferred", inferred_from_the_state),
    judge("A.7.4 next before", |run| {
        each(run, called, |number, _| {
            run.before(number)
                .next()
                .is_some_and(|(_, it)| leads_to_a_call(it))
        })
    }),
    judge("A.7.6", comes_after_start_or_change),
    judge("A.7.7", comes_after_what_writes),
    judge("A.8.6", no_chunk_after_the_last),
    judge("A.9 chain by producer", |run| chain(run, true)),
    judge("facts: state chain", |run| chain(run, false)),
    judge("facts: sequence_number", |run| numbered(run, false)),
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    judge("AAEP-F38", back_at_once),
    judge("AAEP-F44", back_at_once_and_calls_leave_it),
    judge("AAEP-F46", the_question_enters_the_state),
    judge("AAEP-F47", what_is_accepted_is_shown),
    judge("AAEP-F50", the_reply_is_repeated),
    judge("AAEP-F52", |run| {
        together([chain(run, true), numbered(run, true)])
    }),
    judge("AAEP-F53", something_tells_of_it),
    judge("AAEP-F54", comes_while_open),
];

fn changes(step: &Step) -> bool {
    step.is("event", "state.changed")
}

pub(super) fn called(step: &Step) -> bool {
    step.is("event", "tool.invoked")
}

fn later(run: &Run, number: usize) -> impl Iterator<Item = (usize, &Step)> {
    run.steps().skip(number)
}

/// The state that an event implies.
fn implied(step: &Step) -> Option<&'static str> {
    match step.text("event") {
        "tool.invoked" => Some("calling_tool"),
        "awaiting.confirmation" | "awaiting.clarification" => Some("awaiting_input"),
        "output.streaming" => Some("writing_output"),
        _ => None,
    }
}

/// Each change leaves the state that the one before it entered, or that an event since then implies; the first leaves idle.
fn chain(run: &Run, by_producer: bool) -> Verdict {
    each(run, changes, |number, step| {
        let of_it = |(_, it): &(usize, &Step)| !by_producer || same(it, step, "producer");
        let mut before = run.before(number).filter(of_it);
        let from = step.text("from_state");
        loop {
            match before.next() {
                None => return from == "idle",
                Some((_, it)) if changes(it) => return from == it.text("to_state"),
                Some((_, it)) if implied(it) == Some(from) => return true,
                Some(_) => {}
            }
        }
    })
}

/// `sequence_number` is 0 first, and one more each time.
fn numbered(run: &Run, by_producer: bool) -> Verdict {
    each(
        run,
        |it| it.has("sequence_number"),
        |number, step| {
            let of_it = |(_, it): &(usize, &Step)| !by_producer || same(it, step, "producer");
            let mut before = run.before(number).filter(of_it);
            let last = before.find_map(|(_, it)| it.get("sequence_number").as_u64());
            step.get("sequence_number").as_u64() == Some(last.map_or(0, |it| it + 1))
        },
    )
}

/// A question is resolved or withdrawn by this step.
fn resolves(run: &Run, number: usize, step: &Step) -> bool {
    counts(run, number, step) || step.has("~ends")
}

/// Whether a question is open after the step.
fn is_open(run: &Run, number: usize) -> bool {
    let at = run.steps().nth(number - 1).map_or(0, |(_, it)| it.at);
    run.before(number + 1).any(|(place, it)| {
        let replied = |(place, reply): (usize, &Step)| {
            same(reply, it, "reply_token") && counts(run, place, reply)
        };
        is_question(it)
            && at < due(it)
            && !run.before(number + 1).any(replied)
            && stands(run, place, it, number + 1)
    })
}

/// 6.7.2: the change that tells of a resolution leaves `awaiting_input`.
fn resolution_leaves_awaiting_input(run: &Run) -> Verdict {
    let replies = run.steps().filter(|(_, it)| it.has("decision"));
    together(replies.map(|(number, reply)| {
        let told = later(run, number).find(|(_, it)| changes(it));
        let (place, leaves) = told.map_or((number, true), |(place, it)| {
            (place, it.is("from_state", "awaiting_input"))
        });
        kept(leaves || !counts(run, number, reply), place)
    }))
}

/// A.2: the state is `awaiting_input` as long as a question is open.
fn awaiting_while_open(run: &Run) -> Verdict {
    each(run, changes, |number, step| {
        step.is("to_state", "awaiting_input") || !is_open(run, number)
    })
}

/// A.4: after a resolution the state leaves `awaiting_input`.
fn away_after_resolution(run: &Run) -> Verdict {
    let away = |it: &Step| changes(it) && !it.is("to_state", "awaiting_input");
    each(
        run,
        |it| it.has("decision") || it.has("~ends"),
        |number, step| {
            !resolves(run, number, step)
                || !over(run, number)
                || away(step)
                || later(run, number).any(|(_, it)| away(it))
        },
    )
}

/// 6.1: after a reject an event reflects the cancelled action: a change of state, or a chunk that explains it.
fn something_follows_a_reject(run: &Run) -> Verdict {
    each(
        run,
        |it| it.is("decision", "reject"),
        |number, reply| {
            !counts(run, number, reply)
                || !over(run, number)
                || later(run, number).any(|(_, it)| changes(it) || streams(it))
        },
    )
}

/// Mended: after a resolution an event tells of it: the state leaves `awaiting_input`, or the accepted action runs.
fn something_tells_of_it(run: &Run) -> Verdict {
    let away = |it: &Step| changes(it) && !it.is("to_state", "awaiting_input");
    each(
        run,
        |it| it.has("decision"),
        |number, reply| {
            let question = asked(run, number, reply.get("reply_token"));
            let runs = |it: &Step| {
                reply.is("decision", "accept")
                    && invokes(it)
                    && question.is_some_and(|(_, question)| is_about(question, it))
            };
            !counts(run, number, reply)
                || !over(run, number)
                || later(run, number).any(|(_, it)| away(it) || runs(it))
        },
    )
}

/// A.7.1: what may come next after the start.
fn may_follow_the_start(run: &Run) -> Verdict {
    let follows = |number| {
        let before = run.before(number).next();
        before.is_some_and(|(_, it)| it.is("event", "session.started"))
    };
    together(
        run.steps()
            .filter(|(number, _)| follows(*number))
            .map(|(number, it)| {
                let barred = ["session.started", "tool.completed"].contains(&it.text("event"));
                kept(!barred, number)
            }),
    )
}

/// A.7.3: what may come next after a change of state: any event within the session, and a terminal one, so that only a start may not.
fn may_follow_a_change(run: &Run) -> Verdict {
    let follows = |number| run.before(number).next().is_some_and(|(_, it)| changes(it));
    each(
        run,
        |it| it.has("event"),
        |number, it| !follows(number) || !it.is("event", "session.started"),
    )
}

/// A.7.4: what may come before a call.
fn leads_to_a_call(step: &Step) -> bool {
    step.is("to_state", "calling_tool")
        || step.is("to_state", "thinking")
        || step.is("decision", "accept")
}

fn streams(step: &Step) -> bool {
    step.is("event", "output.streaming")
}

/// A.7.7: `writing_output` was entered, a tool completed, or another chunk came before.
fn comes_after_what_writes(run: &Run) -> Verdict {
    each(run, streams, |number, _| {
        run.before(number).any(|(_, it)| {
            it.is("to_state", "writing_output") || it.is("event", "tool.completed") || streams(it)
        })
    })
}

/// A.8.6: no chunk of an output that is complete.
fn no_chunk_after_the_last(run: &Run) -> Verdict {
    each(
        run,
        |it| streams(it) && it.has("output_id"),
        |number, chunk| {
            !run.before(number).any(|(_, it)| {
                streams(it) && same(it, chunk, "output_id") && it.get("complete") == true
            })
        },
    )
}

/// Mended: a call or a chunk may follow any event of a session that has started, as long as the session, and its output, is open.
fn comes_while_open(run: &Run) -> Verdict {
    let within = each(
        run,
        |it| called(it) || streams(it),
        |number, _| {
            let mut before = run.before(number);
            let ended = run.before(number).any(|(_, it)| ends_session(it));
            !ended && before.any(|(_, it)| it.is("event", "session.started"))
        },
    );
    together([within, no_chunk_after_the_last(run)])
}

/// A.3: the state is `calling_tool` while a tool runs.
fn calling_tool_while_one_runs(run: &Run) -> Verdict {
    each(run, called, |number, _| {
        let entered = run.before(number).find(|(_, it)| changes(it));
        let until = later(run, number).take_while(|(_, it)| !it.is("event", "tool.completed"));
        let mut changed = until.filter(|(_, it)| changes(it)).peekable();
        let now = changed.peek().copied().or(entered);
        now.is_some_and(|(_, it)| it.is("to_state", "calling_tool"))
    })
}

/// The state is left at a resolution, and where another question is open the next step enters it again.
fn back_at_once(run: &Run) -> Verdict {
    let away = |it: &Step| changes(it) && it.is("from_state", "awaiting_input");
    let back = |it: &Step| changes(it) && it.is("to_state", "awaiting_input");
    let left = away_after_resolution(run);
    let returned = each(
        run,
        |it| away(it) && !back(it),
        |number, _| {
            !is_open(run, number) || later(run, number).next().is_none_or(|(_, it)| back(it))
        },
    );
    together([left, lacks(returned), chain(run, false)])
}

/// The same, and a call that runs meanwhile leaves the state as it is.
fn back_at_once_and_calls_leave_it(run: &Run) -> Verdict {
    let left = each(run, called, |number, _| {
        let mut until = later(run, number).take_while(|(_, it)| !it.is("event", "tool.completed"));
        !is_open(run, number) || until.all(|(_, it)| !it.is("to_state", "calling_tool"))
    });
    let away = |it: &Step| changes(it) && !it.is("to_state", "awaiting_input");
    let returned = each(run, away, |number, _| {
        !is_open(run, number)
            || later(run, number)
                .next()
                .is_none_or(|(_, it)| it.is("to_state", "awaiting_input"))
    });
    together([left, away_after_resolution(run), lacks(returned)])
}

/// Whether the last change before the step enters `awaiting_input`.
fn is_entered(run: &Run, number: usize) -> bool {
    let last = run.before(number).find(|(_, it)| changes(it));
    last.is_some_and(|(_, it)| it.is("to_state", "awaiting_input"))
}

/// A.4: in the order of events the change to `awaiting_input` comes first.
fn entered_before_in_order(run: &Run) -> Verdict {
    each(run, is_question, |number, _| is_entered(run, number))
}

/// A.4: by the clock the change to `awaiting_input` is not later.
fn entered_at_by_the_clock(run: &Run) -> Verdict {
    each(run, is_question, |number, question| {
        let enters = |it: &Step| it.is("to_state", "awaiting_input") && it.at <= question.at;
        is_entered(run, number) || later(run, number).any(|(_, it)| enters(it))
    })
}

/// A.7.6: a change to `awaiting_input` or the start precedes.
fn comes_after_start_or_change(run: &Run) -> Verdict {
    each(run, is_question, |number, _| {
        run.before(number)
            .any(|(_, it)| it.is("to_state", "awaiting_input") || it.is("event", "session.started"))
    })
}

/// Mended: the question itself enters the state, so that the next change leaves it.
fn the_question_enters_the_state(run: &Run) -> Verdict {
    each(run, is_question, |number, _| {
        let next = later(run, number).find(|(_, it)| changes(it));
        next.is_none_or(|(_, it)| it.is("from_state", "awaiting_input"))
    })
}

/// Mended: after an accept comes the event that shows the action.
fn what_is_accepted_is_shown(run: &Run) -> Verdict {
    each(
        run,
        |it| it.is("decision", "accept"),
        |number, reply| {
            let question = asked(run, number, reply.get("reply_token"));
            let shown = question.is_some_and(|(_, question)| {
                later(run, number).any(|(_, it)| invokes(it) && is_about(question, it))
            });
            !counts(run, number, reply) || !over(run, number) || shown
        },
    )
}

/// A.7.4, if a change to `calling_tool` after a question stands for the accept.
fn inferred_from_the_state(run: &Run) -> Verdict {
    each(
        run,
        |it| called(it) && it.get("irreversible") == true,
        |number, _| {
            let change = run
                .before(number)
                .find(|(_, it)| it.is("to_state", "calling_tool"));
            change.is_some_and(|(place, _)| run.before(place).any(|(_, it)| is_question(it)))
        },
    )
}

/// Mended: an event repeats token and decision of the honoured reply, and an irreversible call needs such an event.
fn the_reply_is_repeated(run: &Run) -> Verdict {
    let told = |it: &Step| it.is("event", "confirmation.resolved");
    let repeats = each(run, told, |number, event| {
        run.before(number).any(|(place, it)| {
            counts(run, place, it) && same(it, event, "reply_token") && same(it, event, "decision")
        })
    });
    let needed = each(
        run,
        |it| called(it) && it.get("irreversible") == true,
        |number, call| {
            run.before(number).any(|(place, it)| {
                let question = asked(run, place, it.get("reply_token"));
                told(it)
                    && it.is("decision", "accept")
                    && question.is_some_and(|(_, it)| is_about(it, call))
            })
        },
    );
    together([repeats, lacks(needed)])
}
