//! Calls and streams from their beginning to their end: A.3, A.6, A.7.2, A.7.4.

use super::consent::{ends_session, judge, lacks, over, same};
use super::states::called;
use crate::every::{each, together};
use crate::run::{Judge, Run, Step, Verdict};

/// The passages.
pub(super) const PASSAGES: &[Judge] = &[
    judge("A.3 by id or name", |run| completed_once(run, true)),
    judge("A.3 before the end", nothing_runs_at_the_end),
    judge("A.6 before the end", no_stream_at_the_end),
    judge("A.6 increases", |run| {
        position(run, |now, before| now > before)
    }),
    judge("A.8.7", |run| position(run, |now, before| now >= before)),
    judge("A.6 one unnamed stream", one_unnamed_stream),
    judge("A.6 the next begins at the end", next_stream_after_the_end),
    judge("A.6 code points", |run| {
        offset(run, |it| it.chars().count())
    }),
    judge("A.6 utf-16", |run| {
        offset(run, |it| it.encode_utf16().count())
    }),
    judge("A.6 utf-8", |run| offset(run, str::len)),
    judge("A.7.2", ends_after_the_start),
    judge("A.7.4 by id", |run| completed_once(run, false)),
];

/// The mended wordings.
pub(super) const REPAIRS: &[Judge] = &[
    judge("AAEP-F45", ids_where_two_are_open),
    judge("AAEP-F48", code_points_that_do_not_decrease),
    judge("AAEP-F49", completed_with_nothing_open),
];

fn completed(step: &Step) -> bool {
    step.is("event", "tool.completed")
}

fn streams(step: &Step) -> bool {
    step.is("event", "output.streaming")
}

/// Each call has exactly one completion: with its id, or where that is allowed with its name.
fn completed_once(run: &Run, by_name: bool) -> Verdict {
    let pairs = |one: &Step, other: &Step| {
        let by_id = one.has("tool_call_id") && same(one, other, "tool_call_id");
        let unnamed = !one.has("tool_call_id") && !other.has("tool_call_id");
        by_id || (by_name && unnamed && same(one, other, "tool"))
    };
    each(run, called, |number, call| {
        let of_it = |it: &Step| pairs(it, call);
        let count =
            |is: fn(&Step) -> bool| run.steps().filter(|(_, it)| is(it) && of_it(it)).count();
        !over(run, number) || (pairs(call, call) && count(called) == count(completed))
    })
}

/// A final chunk with no `output_id` ends the one unnamed stream of the session.
fn one_unnamed_stream(run: &Run) -> Verdict {
    each(run, streams, |number, chunk| {
        !run.before(number).any(|(_, it)| {
            streams(it) && same(it, chunk, "output_id") && it.get("complete") == true
        })
    })
}

/// After a final chunk with no `output_id` another unnamed stream begins.
fn next_stream_after_the_end(run: &Run) -> Verdict {
    each(
        run,
        |it| streams(it) && !it.has("output_id"),
        |number, chunk| {
            let last = run
                .before(number)
                .find(|(_, it)| streams(it) && !it.has("output_id"));
            let ended = last.is_none_or(|(_, it)| it.get("complete") == true);
            ended == (chunk.get("position") == 0)
        },
    )
}

/// Mended: an id where two calls of one tool, or two streams, may be open; else the only open one is meant.
fn ids_where_two_are_open(run: &Run) -> Verdict {
    let open = |number: usize, call: &Step| {
        let of_it = |it: &Step| same(it, call, "tool") && !it.has("tool_call_id");
        let counted = |is: fn(&Step) -> bool| {
            run.before(number)
                .filter(|(_, it)| is(it) && of_it(it))
                .count()
        };
        counted(called).saturating_sub(counted(completed))
    };
    let calls = each(run, called, |number, it| {
        it.has("tool_call_id") || open(number, it) == 0
    });
    let ended = each(
        run,
        |it| completed(it) && !it.has("tool_call_id"),
        |number, it| open(number, it) == 1,
    );
    let chunks = each(
        run,
        |it| streams(it) && !it.has("output_id"),
        |number, _| {
            !run.before(number)
                .any(|(_, it)| streams(it) && !it.has("output_id") && it.get("complete") == true)
        },
    );
    together([
        lacks(calls),
        ended,
        lacks(chunks),
        completed_once(run, true),
    ])
}

/// The chunks before this one of the same output, the last one first.
fn chunks<'a>(run: &'a Run, number: usize, chunk: &'a Step) -> impl Iterator<Item = &'a Step> {
    let of_it = |it: &Step| streams(it) && same(it, chunk, "output_id");
    run.before(number)
        .map(|(_, it)| it)
        .filter(move |it| of_it(it))
}

/// How a position stands to the one before it in the same output.
fn position(run: &Run, holds: fn(i64, i64) -> bool) -> Verdict {
    let of = |it: &Step| it.get("position").as_i64().unwrap_or_default();
    each(run, streams, |number, chunk| {
        chunks(run, number, chunk)
            .next()
            .is_none_or(|it| holds(of(chunk), of(it)))
    })
}

/// position is the length of what came before in the same output, in a unit.
fn offset(run: &Run, length: fn(&str) -> usize) -> Verdict {
    each(run, streams, |number, chunk| {
        let before: usize = chunks(run, number, chunk)
            .map(|it| length(it.text("chunk")))
            .sum();
        chunk.get("position").as_u64() == u64::try_from(before).ok()
    })
}

/// Mended: code points from the start of the output, and no decrease.
fn code_points_that_do_not_decrease(run: &Run) -> Verdict {
    together([
        offset(run, |it| it.chars().count()),
        position(run, |now, before| now >= before),
    ])
}

/// A.7.2: the end comes after the start, directly or after any other event.
fn ends_after_the_start(run: &Run) -> Verdict {
    each(run, ends_session, |number, _| {
        run.before(number)
            .any(|(_, it)| it.is("event", "session.started"))
    })
}

/// Calls that are not completed before the step.
fn has_open_call(run: &Run, number: usize) -> bool {
    let ended = |call: &Step| {
        run.before(number)
            .any(|(_, it)| completed(it) && same(it, call, "tool_call_id"))
    };
    run.before(number).any(|(_, it)| called(it) && !ended(it))
}

/// Streams without a final chunk before the step.
fn has_open_stream(run: &Run, number: usize) -> bool {
    let ended = |chunk: &Step| {
        chunk.get("complete") == true
            || run.before(number).any(|(_, it)| {
                streams(it) && same(it, chunk, "output_id") && it.get("complete") == true
            })
    };
    run.before(number).any(|(_, it)| streams(it) && !ended(it))
}

/// A.3: each call is completed, so that none runs at the end, after which no event comes.
fn nothing_runs_at_the_end(run: &Run) -> Verdict {
    each(run, ends_session, |number, _| !has_open_call(run, number))
}

/// A.6: each output has its final chunk before the end.
fn no_stream_at_the_end(run: &Run) -> Verdict {
    each(run, ends_session, |number, _| !has_open_stream(run, number))
}

/// Mended: completed with nothing open; errored and cancelled close what is.
fn completed_with_nothing_open(run: &Run) -> Verdict {
    each(run, ends_session, |number, end| {
        !end.is("event", "session.completed")
            || !(has_open_call(run, number) || has_open_stream(run, number))
    })
}
