//! What is judged of MCP-AQL: one entry for each kind of fault. A SHOULD and a MAY warn.

use crate::rules::{rules, violation, warning};

rules! {
    /// A gated call that runs without a token.
    RUNS_UNASKED = violation("AQL-1.3-1", &["AQL-1.3-2"]);
    /// A gated call without a token that gets none.
    GETS_NO_TOKEN = violation("AQL-1.3-1", &[]);
    /// A gated call with a token that neither runs nor is told why.
    TOLD_NOTHING = violation("AQL-4.2-1", &["AQL-1.3-2", "AQL-7.1-2"]);
    /// A call that runs otherwise than it was called.
    RUNS_OTHERWISE = violation("AQL-1.2-3", &["AQL-3.2-1"]);

    /// A token that was never issued, and is taken.
    UNKNOWN_TAKEN = violation("AQL-4.1-1", &["AQL-1.2-4", "AQL-6.2-1", "AQL-7.1-1"]);
    /// A token that has expired, beyond the tolerance, and is taken.
    EXPIRED_TAKEN = violation("AQL-5.1-3", &["AQL-4.1-2", "AQL-7.1-1"]);
    /// A token that was used up, and is taken again.
    USED_TAKEN = violation("AQL-6.1-1", &["AQL-4.1-3", "AQL-5.2-1", "AQL-7.1-1"]);
    /// A token of another operation that is taken.
    OPERATION_TAKEN = violation("AQL-4.1-4", &["AQL-3.2-1", "AQL-1.2-3", "AQL-7.1-1"]);
    /// A token of other parameters that is taken.
    PARAMETERS_TAKEN = violation("AQL-4.1-5", &["AQL-3.2-1", "AQL-4.3-1", "AQL-1.2-3", "AQL-7.1-1"]);
    /// A token of another adapter that is taken.
    ADAPTER_TAKEN = violation("AQL-4.1-6", &["AQL-7.1-1"]);
    /// A token of a session that has ended, and is taken.
    ENDED_TAKEN = violation("AQL-5.4-2", &[]);
    /// A token that was given back, and is taken.
    REVOKED_TAKEN = warning("AQL-5.3-3", &[]);
    /// A token that an event has ended, and is taken.
    ENDED_BY_EVENT_TAKEN = warning("AQL-5.3-2", &[]);
    /// A token that is bound to a session, and is taken in another.
    OTHER_SESSION_TAKEN = warning("AQL-5.4-1", &[]);
    /// A token for a quota that confirms a danger.
    QUOTA_CONFIRMS = violation("AQL-2.1-1", &[]);

    /// A good token that is turned away as unknown.
    TURNED_AWAY = violation("AQL-4.1-1", &[]);
    /// A good token that is turned away as expired.
    TURNED_AWAY_AS_EXPIRED = violation("AQL-5.1-7", &["AQL-4.1-2"]);
    /// A token that is taken later after its expiry than another one was turned away.
    OF_TWO_TOLERANCES = violation("AQL-5.1-7", &["AQL-5.1-3"]);
    /// A good token that is turned away as used.
    TURNED_AWAY_AS_USED = violation("AQL-4.1-3", &[]);
    /// A good token that is turned away as that of something else.
    TURNED_AWAY_AS_ANOTHERS = violation("AQL-4.1-5", &["AQL-3.2-3"]);
    /// A failed check that gets the code of another.
    ANOTHER_CODE = violation("AQL-7.1-2", &[]);
    /// A response to a failed check that lacks what it has to say.
    FAILURE_SHAPE = violation("AQL-4.2-1", &[]);
    /// A failed check that tells the value of a parameter.
    VALUE_TOLD = warning("AQL-6.3-1", &[]);

    /// A response with a token that lacks what it has to say.
    ISSUE_SHAPE = violation("AQL-3.3-1", &[]);
    /// A token without an end.
    NO_EXPIRY = violation("AQL-1.2-2", &["AQL-5.1-2"]);
    /// A token of another prefix than that of its purpose.
    PREFIX = violation("AQL-2.1-1", &[]);
    /// A token with other characters.
    IDENTIFIER = violation("AQL-2.2-1", &[]);
    /// A token that is too short or too long.
    LENGTH = violation("AQL-2.2-2", &[]);
    /// A token that is too short for 128 bits, has too few characters that differ, or almost is another one.
    GUESSABLE = violation("AQL-3.1-1", &["AQL-3.1-3"]);
    /// A token that has expired when it is issued.
    EXPIRED_AT_ISSUE = violation("AQL-5.1-1", &[]);
    /// A token that lives too long.
    LIVES_TOO_LONG = violation("AQL-5.1-1", &[]);

    /// An entry of the log that lacks what it has to say.
    ENTRY_SHAPE = violation("AQL-6.4-1", &[]);
    /// An entry of the log that does not say what was done.
    ENTRY_UNTRUE = violation("AQL-6.4-1", &["AQL-1.2-5"]);
    /// An operation on a token that is not in the log.
    NOT_LOGGED = violation("AQL-6.4-1", &["AQL-1.2-5"]);
    /// A long tolerance of which the log does not warn.
    NOT_WARNED = warning("AQL-5.1-6", &[]);
}
