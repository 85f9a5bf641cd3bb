//! The clauses of the pending-action contract, in the order of its text. PA-8 is inferred; no clause has a keyword.

use crate::clauses;

clauses! { pub const CLAUSES;
    PA_1 "PA-1" Must "every proposal is recorded with its id, and nothing runs before its decision"
        ["matches-by-position", "honours-unknown", "honours-other-nonce", "runs-unasked", "proposes-malformed", "records-late", "forgets-pending"];
    PA_2 "PA-2" Should "only who may decide resolves an action, by a structured decision"
        ["honours-stranger", "spends-on-ignored"];
    PA_3 "PA-3" Must "an allow runs the call as it was proposed"
        ["runs-edited", "runs-rewritten", "finishes-unreleased", "drops-idempotent"];
    PA_4 "PA-4" Should "the transcript has each call that was allowed, and its result"
        ["allows-silently", "finishes-silently"];
    PA_5 "PA-5" Must "what was denied or cancelled, by itself or with its session, does not run"
        ["honours-cancelled", "proposes-after-end", "outlives-session", "begins-after-end", "repeats-after-end"];
    PA_6 "PA-6" Should "a deny appends the denied result" ["denies-silently"];
    PA_7 "PA-7" Must "an expired action does not run"
        ["honours-expired", "waits-for-timer", "expires-early", "turns-clock-back", "proposes-expired"];
    PA_8 "PA-8" Must "an action is decided once and runs once, over restart and rollback"
        ["honours-repeated", "allows-after-deny", "denies-after-allow", "decides-apart", "cancels-resolved", "finishes-twice", "repeats-after-restart", "forgets-since-snapshot"];
    PA_9 "PA-9" May "the visible message shows the summary and a short label" ["exposes-arguments"];
    PA_10 "PA-10" Must "what happened is told, in order and once, and nothing else is"
        ["ignores-unaudited", "misnames-ignored", "expires-silently", "expires-as-denied", "cancels-silently", "decides-silently", "forgets-released", "forgets-untold", "settles-before-telling", "takes-withdrawn-for-unrun"];
    PA_11 "PA-11" May "free text is appended, and resolves nothing" ["takes-text-for-decision"];
    PA_12 "PA-12" Must "a host can keep, restore and end the ledger without hidden context";
    PA_13 "PA-13" Should "the effect of a call is one that the contract knows";
    PA_14 "PA-14" May "a call that only reads may run without being asked about"
        free "It permits, and whoever asks about every call does no wrong.";
}
