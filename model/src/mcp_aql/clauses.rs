//! The clauses of the confirmation tokens, in the order of the text. The principles of section 1.2 stand last: each
//! says once more what the sections say, and a clause that says what exactly is wrong names a finding before one that
//! says it in general.

use crate::clauses;

clauses! { pub const CLAUSES;
    A1_3_1 "AQL-1.3-1" Must "a gated call without a token is not executed and gets one" ["runs-unconfirmed"];
    A1_3_2 "AQL-1.3-2" Must "a token that is good is taken, once";
    A2_1_1 "AQL-2.1-1" Must "the prefix says what a token is for, and it is good for nothing else"
        ["honours-other-purpose"];
    A2_2_1 "AQL-2.2-1" Must "an identifier has 1 to 64 URL-safe characters";
    A2_2_2 "AQL-2.2-2" Must "a token has 8 to 80 characters";
    A2_2_3 "AQL-2.2-3" Must "tokens are case-sensitive";
    A2_3_1 "AQL-2.3-1" Should "a token stands for a payload" free "No output shows it.";
    A3_1_1 "AQL-3.1-1" Must "a token cannot be guessed, and is issued once";
    A3_1_2 "AQL-3.1-2" Should "a token has 256 bits of entropy";
    A3_1_3 "AQL-3.1-3" Must "no token is counted up from another";
    A3_1_4 "AQL-3.1-4" May "the acceptable generators" free "It permits, and obliges nobody.";
    A3_2_1 "AQL-3.2-1" Must
        "a token is bound to parameters that have one meaning, and to all of them where no list names any"
        ["binds-nothing"];
    A3_2_2 "AQL-3.2-2" Should "SHA-256 or stronger" free "No output shows it.";
    A3_2_3 "AQL-3.2-3" Must "parameters are compared by what they mean";
    A3_2_4 "AQL-3.2-4" Must "what affects the impact is critical, and what the operator's list names"
        ["counts-unlisted", "overlooks-listed", "overlooks-unsaid"];
    A3_3_1 "AQL-3.3-1" Must "who gets a token is told what for";
    A4_1_1 "AQL-4.1-1" Must "an unknown token is refused" ["honours-guessed"];
    A4_1_2 "AQL-4.1-2" Must "an expired token is refused";
    A4_1_3 "AQL-4.1-3" Must "a used token is refused" ["honours-used"];
    A4_1_4 "AQL-4.1-4" Must "a token for another operation is refused" ["honours-other-operation"];
    A4_1_5 "AQL-4.1-5" Must "a token for other parameters is refused" ["honours-other-parameters"];
    A4_1_6 "AQL-4.1-6" Must "another adapter's token is refused" ["honours-other-adapter"] in_samples "4.3";
    A4_2_1 "AQL-4.2-1" Must "a failure is answered, and whole";
    A4_3_1 "AQL-4.3-1" Must "the hash of the parameters is compared";
    A5_1_1 "AQL-5.1-1" Must "a token lives no longer than its level allows, and is good for no higher one"
        ["outstretches-lifetime"];
    A5_1_2 "AQL-5.1-2" Must "every token has an expiry" ["issues-eternal"];
    A5_1_3 "AQL-5.1-3" Must "an expired token is not accepted"
        ["honours-expired", "turns-clock-back", "redeems-expired"] in_samples "5.2";
    A5_1_4 "AQL-5.1-4" May "a tolerance for clocks is allowed" free "It permits, and obliges nobody.";
    A5_1_5 "AQL-5.1-5" Should "the tolerance is from 0 to 300 seconds, and 0 is none"
        ["takes-zero-for-default", "takes-wide-tolerance"] in_samples "5.1";
    A5_1_6 "AQL-5.1-6" Should "a wide tolerance is warned of" ["widens-silently"];
    A5_1_7 "AQL-5.1-7" Must "the tolerance is added to the expiry" ["expires-early"];
    A5_1_8 "AQL-5.1-8" May "what is safe or reversible needs no token";
    A5_1_9 "AQL-5.1-9" May "a tolerance for each environment" free "It permits, and obliges nobody.";
    A5_2_1 "AQL-5.2-1" Should "a token has a single use by default" ["performs-twice"];
    A5_2_2 "AQL-5.2-2" Must "a use counts before the operation runs" ["redeems-apart", "runs-first"]
        in_samples "4.3 and 5.2";
    A5_2_3 "AQL-5.2-3" May "tokens of several uses are allowed" free "It permits, and obliges nobody.";
    A5_3_1 "AQL-5.3-1" May "a revoked token is refused" ["honours-revoked"];
    A5_3_2 "AQL-5.3-2" May "an event revokes what it concerns, and nothing else"
        ["outlives-logout", "outlives-configuration", "outlives-security-event", "revokes-others", "revokes-unchanged", "revokes-other-operations"];
    A5_3_3 "AQL-5.3-3" May "a token can be given back" ["ignores-revocation"];
    A5_4_1 "AQL-5.4-1" May "several uses need a session" ["loses-count", "grants-loose-multi-use"];
    A5_4_2 "AQL-5.4-2" Must "the tokens of a session end with it" ["outlives-session"];
    A5_4_3 "AQL-5.4-3" Must "the tokens of a session expire";
    A5_4_4 "AQL-5.4-4" May "a session's token is good in that session" ["honours-other-session"];
    A5_5_1 "AQL-5.5-1" Must "tokens are kept in memory at least" ["loses-stored"];
    A5_5_2 "AQL-5.5-2" Should "an expired token is purged within an hour" ["purges-early"];
    A5_5_3 "AQL-5.5-3" Should "an adapter has room for 1000 active tokens" ["keeps-places"];
    A6_1_1 "AQL-6.1-1" Must "no replay succeeds" ["revives-after-restart"];
    A6_1_2 "AQL-6.1-2" May "tokens may be bound to a session";
    A6_2_1 "AQL-6.2-1" Must "a token that was made up is refused";
    A6_2_2 "AQL-6.2-2" May "tokens may be signed" free "It permits, and obliges nobody.";
    A6_2_3 "AQL-6.2-3" Must "the key of signatures stays secret" free "No output shows it.";
    A6_2_4 "AQL-6.2-4" Must "a signature covers every field" free "No output shows it.";
    A6_3_1 "AQL-6.3-1" Should "no error shows a value of a parameter" ["exposes-parameters"];
    A6_3_2 "AQL-6.3-2" Should
        "unknown tokens are answered as invalid ones, and all failures alike where the operator says so"
        ["tells-check", "tells-status"];
    A6_3_3 "AQL-6.3-3" Should "a token shows nothing of the inside";
    A6_3_4 "AQL-6.3-4" Should "reasons are given";
    A6_4_1 "AQL-6.4-1" Must "every operation on a token is logged"
        ["issues-unaudited", "redeems-unaudited", "rejects-unaudited", "revokes-unaudited", "audits-twice"];
    A6_5_1 "AQL-6.5-1" Should "what is tried too often is turned away"
        ["ignores-limit", "ignores-limit-of-issues", "ignores-limit-of-revocations", "counts-no-status", "limits-early"];
    A7_1_1 "AQL-7.1-1" Must "a token that fails any check is refused";
    A7_1_2 "AQL-7.1-2" Must "a failure has the code of its check" ["confuses-codes"];
    A7_2_1 "AQL-7.2-1" Should "the state of a token is kept by the server" free "No output shows it.";
    A7_2_2 "AQL-7.2-2" Should "revocation is supported";
    A7_3_1 "AQL-7.3-1" May "the status of a token is told as it is" ["misstates-status"];
    A7_3_2 "AQL-7.3-2" May "signed tokens need no state" free "It permits, and obliges nobody.";
    A1_2_1 "AQL-1.2-1" Should "a token is consumed when its call succeeds, and only then"
        ["consumes-on-failure", "consumes-ungated"];
    A1_2_2 "AQL-1.2-2" Must "tokens are time-bounded";
    A1_2_3 "AQL-1.2-3" Must "what runs is what was confirmed";
    A1_2_4 "AQL-1.2-4" Must "tokens cannot be forged";
    A1_2_5 "AQL-1.2-5" Must "issuance and redemption are logged";
}
