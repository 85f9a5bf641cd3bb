//! What is judged of MCP-AQL: one entry for each kind of fault. A SHOULD and a MAY warn.

use crate::rules::{Rule, violation, warning};

/// A gated call that runs without a token.
pub const RUNS_UNASKED: Rule = violation("AQL-1.3-1", &["AQL-1.3-2"]);
/// A gated call without a token that gets none.
pub const GETS_NO_TOKEN: Rule = violation("AQL-1.3-1", &[]);
/// A gated call with a token that neither runs nor is told why.
pub const TOLD_NOTHING: Rule = violation("AQL-4.2-1", &["AQL-1.3-2", "AQL-7.1-2"]);
/// A call that runs otherwise than it was called.
pub const RUNS_OTHERWISE: Rule = violation("AQL-1.2-3", &["AQL-3.2-1"]);

/// A token that was never issued, and is taken.
pub const UNKNOWN_TAKEN: Rule = violation("AQL-4.1-1", &["AQL-1.2-4", "AQL-6.2-1", "AQL-7.1-1"]);
/// A token that has expired, beyond the tolerance, and is taken.
pub const EXPIRED_TAKEN: Rule = violation("AQL-5.1-3", &["AQL-4.1-2", "AQL-7.1-1"]);
/// A token that was used up, and is taken again.
pub const USED_TAKEN: Rule = violation("AQL-6.1-1", &["AQL-4.1-3", "AQL-5.2-1", "AQL-7.1-1"]);
/// A token of another operation that is taken.
pub const OPERATION_TAKEN: Rule = violation("AQL-4.1-4", &["AQL-3.2-1", "AQL-1.2-3", "AQL-7.1-1"]);
/// A token of other parameters that is taken.
pub const PARAMETERS_TAKEN: Rule = violation(
    "AQL-4.1-5",
    &["AQL-3.2-1", "AQL-4.3-1", "AQL-1.2-3", "AQL-7.1-1"],
);
/// A token of another adapter that is taken.
pub const ADAPTER_TAKEN: Rule = violation("AQL-4.1-6", &["AQL-7.1-1"]);
/// A token of a session that has ended, and is taken.
pub const ENDED_TAKEN: Rule = violation("AQL-5.4-2", &[]);
/// A token that was given back, and is taken.
pub const REVOKED_TAKEN: Rule = warning("AQL-5.3-3", &[]);
/// A token that an event has ended, and is taken.
pub const ENDED_BY_EVENT_TAKEN: Rule = warning("AQL-5.3-2", &[]);
/// A token that is bound to a session, and is taken in another.
pub const OTHER_SESSION_TAKEN: Rule = warning("AQL-5.4-1", &[]);
/// A token for a quota that confirms a danger.
pub const QUOTA_CONFIRMS: Rule = violation("AQL-2.1-1", &[]);

/// A good token that is turned away as unknown.
pub const TURNED_AWAY: Rule = violation("AQL-4.1-1", &[]);
/// A good token that is turned away as expired.
pub const TURNED_AWAY_AS_EXPIRED: Rule = violation("AQL-5.1-7", &["AQL-4.1-2"]);
/// A token that is taken later after its expiry than another one was turned away.
pub const OF_TWO_TOLERANCES: Rule = violation("AQL-5.1-7", &["AQL-5.1-3"]);
/// A good token that is turned away as used.
pub const TURNED_AWAY_AS_USED: Rule = violation("AQL-4.1-3", &[]);
/// A good token that is turned away as that of something else.
pub const TURNED_AWAY_AS_ANOTHERS: Rule = violation("AQL-4.1-5", &["AQL-3.2-3"]);
/// A failed check that gets the code of another.
pub const ANOTHER_CODE: Rule = violation("AQL-7.1-2", &[]);
/// A response to a failed check that lacks what it has to say.
pub const FAILURE_SHAPE: Rule = violation("AQL-4.2-1", &[]);
/// A failed check that tells the value of a parameter.
pub const VALUE_TOLD: Rule = warning("AQL-6.3-1", &[]);

/// A response with a token that lacks what it has to say.
pub const ISSUE_SHAPE: Rule = violation("AQL-3.3-1", &[]);
/// A token without an end.
pub const NO_EXPIRY: Rule = violation("AQL-1.2-2", &["AQL-5.1-2"]);
/// A token of another prefix than that of its purpose.
pub const PREFIX: Rule = violation("AQL-2.1-1", &[]);
/// A token with other characters.
pub const IDENTIFIER: Rule = violation("AQL-2.2-1", &[]);
/// A token that is too short or too long.
pub const LENGTH: Rule = violation("AQL-2.2-2", &[]);
/// A token that is too short for 128 bits, has too few characters that differ, or almost is another one.
pub const GUESSABLE: Rule = violation("AQL-3.1-1", &["AQL-3.1-3"]);
/// A token that has expired when it is issued.
pub const EXPIRED_AT_ISSUE: Rule = violation("AQL-5.1-1", &[]);
/// A token that lives too long.
pub const LIVES_TOO_LONG: Rule = violation("AQL-5.1-1", &[]);

/// An entry of the log that lacks what it has to say.
pub const ENTRY_SHAPE: Rule = violation("AQL-6.4-1", &[]);
/// An entry of the log that does not say what was done.
pub const ENTRY_UNTRUE: Rule = violation("AQL-6.4-1", &["AQL-1.2-5"]);
/// An operation on a token that is not in the log.
pub const NOT_LOGGED: Rule = violation("AQL-6.4-1", &["AQL-1.2-5"]);
/// A long tolerance of which the log does not warn.
pub const NOT_WARNED: Rule = warning("AQL-5.1-6", &[]);

/// All of them.
pub const ALL: [&Rule; 35] = [
    &RUNS_UNASKED,
    &GETS_NO_TOKEN,
    &TOLD_NOTHING,
    &RUNS_OTHERWISE,
    &UNKNOWN_TAKEN,
    &EXPIRED_TAKEN,
    &USED_TAKEN,
    &OPERATION_TAKEN,
    &PARAMETERS_TAKEN,
    &ADAPTER_TAKEN,
    &ENDED_TAKEN,
    &REVOKED_TAKEN,
    &ENDED_BY_EVENT_TAKEN,
    &OTHER_SESSION_TAKEN,
    &QUOTA_CONFIRMS,
    &TURNED_AWAY,
    &TURNED_AWAY_AS_EXPIRED,
    &OF_TWO_TOLERANCES,
    &TURNED_AWAY_AS_USED,
    &TURNED_AWAY_AS_ANOTHERS,
    &ANOTHER_CODE,
    &FAILURE_SHAPE,
    &VALUE_TOLD,
    &ISSUE_SHAPE,
    &NO_EXPIRY,
    &PREFIX,
    &IDENTIFIER,
    &LENGTH,
    &GUESSABLE,
    &EXPIRED_AT_ISSUE,
    &LIVES_TOO_LONG,
    &ENTRY_SHAPE,
    &ENTRY_UNTRUE,
    &NOT_LOGGED,
    &NOT_WARNED,
];
