//! What is judged of rows of a table of pending actions: one entry for each kind of fault. A SHOULD and a MAY warn.

use crate::rules::{Rule, violation, warning};

/// A call that ran before anybody had decided.
pub const UNDECIDED: Rule = violation("PA-1", &["PA-2"]);
/// An id that another action has.
pub const NAME_AGAIN: Rule = violation("PA-1", &[]);

/// A decision of the agent that proposed, or of somebody who may not decide.
pub const NOT_ENTITLED: Rule = warning("PA-2", &[]);

/// A call that ran otherwise than it was proposed.
pub const RUNS_OTHERWISE: Rule = violation("PA-3", &[]);
/// What was approved is not what was proposed, and counted.
pub const APPROVED_OTHERWISE: Rule = violation("PA-3", &[]);

/// A call that was denied or taken back, and ran.
pub const DENIED_RUNS: Rule = violation("PA-5", &["PA-8"]);

/// A call that ran, or was allowed, after its question had closed.
pub const EXPIRED: Rule = violation("PA-7", &[]);

/// A call that ran again.
pub const RUNS_AGAIN: Rule = violation("PA-8", &[]);
/// An action that was settled a second time.
pub const DECIDED_AGAIN: Rule = violation("PA-8", &[]);

/// A visible label that tells the id.
pub const LABEL_TELLS: Rule = warning("PA-9", &[]);

/// A row that says what cannot have been.
pub const UNTRUE: Rule = violation("PA-10", &[]);

/// All of them.
pub const ALL: [&Rule; 11] = [
    &UNDECIDED,
    &NAME_AGAIN,
    &NOT_ENTITLED,
    &RUNS_OTHERWISE,
    &APPROVED_OTHERWISE,
    &DENIED_RUNS,
    &EXPIRED,
    &RUNS_AGAIN,
    &DECIDED_AGAIN,
    &LABEL_TELLS,
    &UNTRUE,
];

/// What rows have to hold for a clause to be judged.
pub const ASKS_FOR: [(&str, &str); 8] = [
    (
        "PA-1",
        "a call that ran, with `decided_at` (null where nobody decided) and, unless that is null, `executed_at`",
    ),
    (
        "PA-2",
        "a call that was allowed, with `decider`, and `deciders` that are a list of names, or `agent` and no `deciders`",
    ),
    (
        "PA-3",
        "`arguments`, and `approved_arguments` or `executed_arguments`",
    ),
    (
        "PA-5",
        "an action that was denied or cancelled, with `executed_at` (null where it did not run) or `executions`",
    ),
    (
        "PA-7",
        "`expires_at` with `decided_at`, or an action that expired, with `executed_at` or `executions`",
    ),
    ("PA-8", "an action that was decided"),
    (
        "PA-9",
        "`label`, and an id of six characters or more or `arguments` that are an object or array of as many",
    ),
    (
        "PA-10",
        "`created_at` with `decided_at` or `executed_at`, or an action that pends, with `executed_at` or `executions`",
    ),
];

/// What no row shows, with the reason.
pub const UNSEEN: [(&str, &str); 6] = [
    ("PA-4", "what is appended to the transcript is not in a row"),
    ("PA-6", "what is appended to the transcript is not in a row"),
    ("PA-11", "what is said is not in a row"),
    (
        "PA-12",
        "whether a host needs means of its own product is not in a row",
    ),
    (
        "PA-13",
        "which tools are asked about is decided before anything is proposed",
    ),
    ("PA-14", "who proposes is not in a row"),
];
