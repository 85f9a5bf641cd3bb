//! What is judged of pending actions: one entry for each kind of fault. A SHOULD and a MAY warn.

use crate::rules::{rules, violation, warning};

rules! {
    /// A proposal of which there is no record.
    NO_RECORD = violation("PA-1", &[]);
    /// A record that says something else than was proposed.
    RECORD_DIFFERS = violation("PA-1", &[]);
    /// An id or nonce that another action has.
    NAME_AGAIN = violation("PA-1", &[]);
    /// A call that runs, or is said to be decided, before anybody has decided.
    UNDECIDED = violation("PA-1", &["PA-2"]);

    /// A decision of somebody who may not decide, or about another question.
    NOT_ENTITLED = warning("PA-2", &[]);
    /// Decisions of one kind that count at one place and not at another.
    OF_TWO_MINDS = warning("PA-2", &[]);

    /// A call that was allowed and does not run.
    ALLOWED_NOT_RUN = violation("PA-3", &["PA-2"]);
    /// A call that runs otherwise than it was proposed.
    RUNS_OTHERWISE = violation("PA-3", &[]);
    /// A call that nobody has proposed.
    NEVER_PROPOSED = violation("PA-3", &[]);
    /// What was approved is not what was proposed, and counts.
    APPROVED_OTHERWISE = violation("PA-3", &[]);

    /// A call that was allowed and is not in the transcript.
    CALL_NOT_APPENDED = warning("PA-4", &[]);
    /// A result that is not in the transcript.
    RESULT_NOT_APPENDED = warning("PA-4", &[]);
    /// A call or result in the transcript that is another than it was.
    APPENDED_OTHERWISE = warning("PA-4", &[]);

    /// A call that was denied or taken back, and runs.
    DENIED_RUNS = violation("PA-5", &["PA-8"]);
    /// A denial or a cancellation of which nothing comes.
    NOT_SETTLED = violation("PA-5", &[]);
    /// A proposal in a session that has ended.
    PROPOSED_AFTER_END = violation("PA-5", &[]);
    /// A denial that allows.
    DENIAL_ALLOWS = violation("PA-5", &["PA-2"]);

    /// A denial that is not in the transcript.
    DENIAL_NOT_APPENDED = warning("PA-6", &[]);

    /// A call that runs, or is decided, after its question has closed.
    EXPIRED = violation("PA-7", &[]);

    /// A call that runs again.
    RUNS_AGAIN = violation("PA-8", &[]);
    /// An action that is settled a second time.
    SETTLED_AGAIN = violation("PA-8", &[]);

    /// A visible message that tells the id or the nonce.
    MESSAGE_TELLS = warning("PA-9", &[]);

    /// An event or message that comes again, or has the id of another.
    TOLD_TWICE = violation("PA-10", &[]);
    /// An event or message of what has not happened, or that tells it otherwise.
    UNTRUE = violation("PA-10", &[]);
    /// What has happened, and is not told.
    NOT_TOLD = violation("PA-10", &[]);

    /// Words that do not reach the transcript as they were said.
    WORDS_CHANGED = warning("PA-11", &[]);
}

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
