//! What is judged of pending actions: one entry for each kind of fault. A SHOULD and a MAY warn.

use crate::rules::{Rule, violation, warning};

/// A proposal of which there is no record.
pub const NO_RECORD: Rule = violation("PA-1", &[]);
/// A record that says something else than was proposed.
pub const RECORD_DIFFERS: Rule = violation("PA-1", &[]);
/// An id or nonce that another action has.
pub const NAME_AGAIN: Rule = violation("PA-1", &[]);
/// A call that runs, or is said to be decided, before anybody has decided.
pub const UNDECIDED: Rule = violation("PA-1", &["PA-2"]);

/// A decision of somebody who may not decide, or about another question.
pub const NOT_ENTITLED: Rule = warning("PA-2", &[]);
/// Decisions of one kind that count at one place and not at another.
pub const OF_TWO_MINDS: Rule = warning("PA-2", &[]);

/// A call that was allowed and does not run.
pub const ALLOWED_NOT_RUN: Rule = violation("PA-3", &["PA-2"]);
/// A call that runs otherwise than it was proposed.
pub const RUNS_OTHERWISE: Rule = violation("PA-3", &[]);
/// A call that nobody has proposed.
pub const NEVER_PROPOSED: Rule = violation("PA-3", &[]);
/// What was approved is not what was proposed, and counts.
pub const APPROVED_OTHERWISE: Rule = violation("PA-3", &[]);

/// A call that was allowed and is not in the transcript.
pub const CALL_NOT_APPENDED: Rule = warning("PA-4", &[]);
/// A result that is not in the transcript.
pub const RESULT_NOT_APPENDED: Rule = warning("PA-4", &[]);
/// A call or result in the transcript that is another than it was.
pub const APPENDED_OTHERWISE: Rule = warning("PA-4", &[]);

/// A call that was denied or taken back, and runs.
pub const DENIED_RUNS: Rule = violation("PA-5", &["PA-8"]);
/// A denial or a cancellation of which nothing comes.
pub const NOT_SETTLED: Rule = violation("PA-5", &[]);
/// A proposal in a session that has ended.
pub const PROPOSED_AFTER_END: Rule = violation("PA-5", &[]);
/// A denial that allows.
pub const DENIAL_ALLOWS: Rule = violation("PA-5", &["PA-2"]);

/// A denial that is not in the transcript.
pub const DENIAL_NOT_APPENDED: Rule = warning("PA-6", &[]);

/// A call that runs, or is decided, after its question has closed.
pub const EXPIRED: Rule = violation("PA-7", &[]);

/// A call that runs again.
pub const RUNS_AGAIN: Rule = violation("PA-8", &[]);
/// An action that is settled a second time.
pub const SETTLED_AGAIN: Rule = violation("PA-8", &[]);

/// A visible message that tells the id or the nonce.
pub const MESSAGE_TELLS: Rule = warning("PA-9", &[]);

/// An event or message that comes again, or has the id of another.
pub const TOLD_TWICE: Rule = violation("PA-10", &[]);
/// An event or message of what has not happened, or that tells it otherwise.
pub const UNTRUE: Rule = violation("PA-10", &[]);
/// What has happened, and is not told.
pub const NOT_TOLD: Rule = violation("PA-10", &[]);

/// Words that do not reach the transcript as they were said.
pub const WORDS_CHANGED: Rule = warning("PA-11", &[]);

/// All of them.
pub const ALL: [&Rule; 26] = [
    &NO_RECORD,
    &RECORD_DIFFERS,
    &NAME_AGAIN,
    &UNDECIDED,
    &NOT_ENTITLED,
    &OF_TWO_MINDS,
    &ALLOWED_NOT_RUN,
    &RUNS_OTHERWISE,
    &NEVER_PROPOSED,
    &APPROVED_OTHERWISE,
    &CALL_NOT_APPENDED,
    &RESULT_NOT_APPENDED,
    &APPENDED_OTHERWISE,
    &DENIED_RUNS,
    &NOT_SETTLED,
    &PROPOSED_AFTER_END,
    &DENIAL_ALLOWS,
    &DENIAL_NOT_APPENDED,
    &EXPIRED,
    &RUNS_AGAIN,
    &SETTLED_AGAIN,
    &MESSAGE_TELLS,
    &TOLD_TWICE,
    &UNTRUE,
    &NOT_TOLD,
    &WORDS_CHANGED,
];

/// What no transcript shows, with the reason.
pub const UNSEEN: [(&str, &str); 3] = [
    (
        "PA-12",
        "whether a host needs means of its own product is not in a transcript",
    ),
    (
        "PA-13",
        "which tools are asked about is decided before anything is proposed",
    ),
    ("PA-14", "who proposes is not in a transcript"),
];
