//! Where the text of MCP-AQL can be read in more than one way, and its numbers. The first way is the default.

use crate::mcp_aql::alphabet::Time;
use crate::readings::ambiguities;

const SECOND: Time = 1000;

/// The numbers that an editor may change: times in milliseconds, as the text has them by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Numbers {
    /// AQL-5.1-1: of tokens for destructive and dangerous operations.
    pub destructive: Lifetimes,
    /// AQL-5.1-1: of tokens for forbidden operations.
    pub forbidden: Lifetimes,
    /// AQL-5.1-1: of tokens for quota pauses.
    pub quota: Lifetimes,
    /// AQL-5.1-4, AQL-5.1-5: the tolerance where nobody sets one.
    pub usual_tolerance: Time,
    /// AQL-5.1-5: the longest tolerance that can be set.
    pub longest_tolerance: Time,
    /// AQL-5.1-6: a longer tolerance is warned of.
    pub warned_above: Time,
    /// AQL-5.4-1: the most uses of a token; 0 for any number.
    pub most_uses: i64,
    /// AQL-2.2-1: the most characters of an identifier.
    pub longest_identifier: u32,
    /// AQL-2.2-2: the fewest and the most characters of a token.
    pub characters: (u32, u32),
    /// AQL-3.1-1, AQL-3.1-2: the entropy that it must and should have, in bits.
    pub entropy: (u32, u32),
    /// AQL-5.5-2: an expired token is purged so soon.
    pub purged_within: Time,
    /// AQL-5.5-3: so many active tokens find room.
    pub capacity: usize,
}

/// How long tokens live: where nobody says how long, and at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lifetimes {
    /// Where nobody says how long.
    pub usual: Time,
    /// At most.
    pub longest: Time,
}

impl Default for Numbers {
    fn default() -> Self {
        let of = |usual, longest| Lifetimes {
            usual: usual * SECOND,
            longest: longest * SECOND,
        };
        Self {
            destructive: of(300, 900),
            forbidden: of(120, 300),
            quota: of(300, 600),
            usual_tolerance: 30 * SECOND,
            longest_tolerance: 300 * SECOND,
            warned_above: 60 * SECOND,
            most_uses: 0,
            longest_identifier: 64,
            characters: (8, 80),
            entropy: (128, 256),
            purged_within: 3600 * SECOND,
            capacity: 1000,
        }
    }
}

ambiguities! {
    [Numbers]
    check_order CheckOrder "check-order" ["AQL-4.1-1", "AQL-4.3-1"] open
        "A token has two faults, it was used and is for another call: which of the checks comes first and gives \
            the code?"
        Table "table" "The checks in the order in which 4.1 lists them.",
        Sample "sample" "The checks in the order of the sample of 4.3: operation and parameters before expiry and use.";
        "The table is the rule, the sample an example; a dead token then tells nothing of its scope."
    oracle OracleModes "oracle" ["AQL-4.1-1", "AQL-6.3-2", "AQL-7.1-2"] open
        "May whoever presents a token, in a call or to revoke it, tell by the code which check failed?"
        Configured "configured" "The operator chooses: a code for each check, or one for all.",
        Codes "codes" "A code for each check: 4.1 gives each its own, and 7.1 makes the appropriate one a MUST.",
        Uniform "uniform" "One code for all: 6.3 would not have an unknown token told from an invalid one.";
        "4.1 and 7.1 give each check its code, 6.3 advises against it: the operator chooses."
    multi_use MultiUse "multi-use" ["AQL-5.2-3", "AQL-5.4-1"] open
        "May a token that is bound to no session have several uses?"
        InSession "in-session" "Several uses in a session alone.",
        Anywhere "anywhere"
            "Several uses anywhere: 5.2 allows them for batches with equal parameters, too, and 7.3 repeats it.";
        "5.4 gives max_uses to session-scoped tokens alone, and a token for all sessions could be replayed in any."
    session_binding SessionBinding "session-binding" ["AQL-5.4-1", "AQL-6.1-2"] open
        "A call names a session and asks for one use: is its token bound to the session?"
        MultiUse "multi-use" "A token for several uses is bound to the session.",
        Always "always"
            "Every token is: 6.1 has the binding to a session as a protection besides, and 5.4 counts one use \
                where nothing is said.";
        "Session scope is an option of its own; a single use is protected by being single."
    ended_session EndedSession "ended-session" ["AQL-5.4-2"] open
        "A call names a session that has ended: may a token be bound to it again?"
        Either "either" "The name may come again, or stand for what has ended.",
        StaysEnded "stays-ended"
            "A session that has ended binds no token any more: 5.4 voids its tokens with its connection and names \
                no return.";
        "5.4 ends tokens with their connection; whether its name may stand for a later one is not said."
    restarted_session RestartedSession "restarted-session" ["AQL-5.4-2", "AQL-5.5-1"] open
        "The process comes back with its tokens: has the connection of a session ended?"
        Ends "ends"
            "They have ended with the process: 5.4 ends a session with the MCP connection, which a process holds.",
        GoesOn "goes-on" "The connections last, for others hold them.";
        "The process that died held the connections."
    token_storage TokenStorage "token-storage" ["AQL-6.2-1", "AQL-6.2-2", "AQL-7.3-1", "AQL-7.3-2"] open
        "Where is kept what a token stands for: with the gatekeeper, or signed in the token itself?"
        Kept "kept" "The gatekeeper keeps what a token stands for.",
        Signed "signed" "The token holds it, signed: 6.2 names that as the alternative, and 7.3 allows it.";
        "6.2 prefers the store; who signs cannot tell of a token that never came back, nor count its uses."
    rating_at_redemption RatingAtRedemption "rating-at-redemption" ["AQL-5.1-1", "AQL-3.2-1", "AQL-4.1-4"]
        "An operation is rated higher than when its token was issued: does the token admit a call of it?"
        Checked "checked" "A token of a lower rating does not admit the call.",
        NotChecked "not-checked"
            "It does: the checks of 4.1 are all that there are, and none of them looks at the rating.";
        "A token proves that a warning was acknowledged (1.1), and nobody was warned of this; what is now \
            forbidden would have lived less long (5.1). The checks of 4.1 know no rating."
    purge_code PurgeCode "purge-code" ["AQL-4.1-1", "AQL-4.1-2", "AQL-5.5-2"] open
        "A token has expired and may have been purged: which code does it get?"
        Either "either"
            "A token that is over is answered as expired or as unknown, each time anew: 5.5 has it purged at some \
                time within an hour.",
        Unknown "unknown"
            "It is expired as long as it is stored, and unknown from its purge on (4.1), an hour after its \
                tolerance at the latest (5.5).",
        Remembered "remembered" "It is always answered as expired: that it is purged within an hour is a SHOULD (5.5).";
        "The text leaves open when within the hour a token is purged."
    revoked_code RevokedCode "revoked-code" ["AQL-5.3-1", "AQL-7.1-2"] open
        "Which code does a revoked token get?"
        Invalid "invalid" "A revoked token is answered as one that never was.",
        AlreadyUsed "already-used"
            "It is answered as one that was used: it is in the store, so that the first row of 4.1 does not fit \
                it, and of the others this one comes nearest.";
        "The table has no row for it; a token that was revoked is no more than one that never was."
    clock_set_back ClockSetBack "clock-set-back" ["AQL-4.1-2", "AQL-5.1-3"] open
        "A clock steps back: is a token good again that was called expired?"
        StaysExpired "stays-expired" "It is not: 5.1 accepts an expired token under no circumstances.",
        CurrentTime "current-time" "The time of the call counts: 4.1 compares with the current time.";
        "Under no circumstances has no exception for clocks."
    tolerance_unset ToleranceUnset "tolerance-unset" ["AQL-5.1-4", "AQL-5.1-5"] open
        "Nobody sets a tolerance: how long is it?"
        Usual "30-seconds" "The default of 5.1, 30 seconds.",
        NoneAtAll "none" "There is none: a tolerance is a MAY, and its default a SHOULD.";
        "The table of 5.1 has a default."
    longest_life LongestLife "longest-life" ["AQL-5.1-1"] open
        "A call asks for a longer life than the default of its level: does its token live so long?"
        Maximum "maximum" "It does, up to the maximum of 5.1.",
        Usual "default" "It is refused: no word of the text lets a client choose.";
        "The table of 5.1 has a maximum beside the default, which nothing could reach otherwise."
}
