//! What commands need of MCP-AQL: the clauses by which something can be left out, the numbers, and the bounds by
//! their names.

use crate::checker::StepText;
use crate::facade::Rule;
use crate::facade::engine::{Catalog, Size, Step, rules, sizes};
use crate::mcp_aql::McpAql;
use crate::mcp_aql::alphabet::Output;
use crate::mcp_aql::describe;
use crate::mcp_aql::environment::Bounds;
use crate::mcp_aql::readings::{AMBIGUITIES, Reading};
use crate::numbers::{Number, Value, Whole};
use crate::readings::Place;

impl Catalog for McpAql {
    const NAME: &'static str = "mcp-aql";
    const RULES: &'static [Rule] = RULES;
    const PLACES: &'static [Place<Reading>] = AMBIGUITIES;
    const NUMBERS: &'static [Number<Reading>] = NUMBERS;
    const WORLDS: &'static [(&'static str, Bounds)] = &Bounds::WORLDS;
    const OTHER_WORLDS: &'static [(&'static str, Bounds)] = &Bounds::OTHER_WORLDS;
    const SIZES: &'static [Size<Bounds>] = SIZES;
    const LONGEST: usize = 7;

    fn describe(run: &[Step<Self>]) -> Vec<StepText> {
        describe::run(run)
    }

    fn output_text(output: &Output) -> String {
        describe::output(output)
    }
}

sizes! {
    "tokens" tokens 1 3;
    "ticks" ticks 0 4;
    "set back" set_back 0 3;
    "crash" crashes 0 3;
    "events" events 0 3;
    "settings" settings 0 3;
    flags
    "sessions" sessions;
    "elsewhere" elsewhere;
    "every_request" every_request;
    "faults" faults;
    "every_fault" every_fault;
    "queries" queries;
}

/// Times that can be changed, in seconds; counts that can; and what cannot.
macro_rules! numbers {
    ($($name:literal [$($clause:literal),+] $($field:ident).+ $from:literal $to:literal
        $(within $within:literal)? $what:literal;)*
        counts $($count:literal [$($for:literal),+] $uses:ident $least:literal $most:literal $tells:literal;)*
        fixed $($fixed:literal [$($of:literal),+] $value:literal $says:literal;)*) => {
        const NUMBERS: &[Number<Reading>] = &[
            $(Number {
                name: $name,
                clauses: &[$($clause),+],
                what: $what,
                value: Value::Whole(Whole {
                    from: $from,
                    to: $to,
                    step: 30,
                    within: numbers!(@ $($within)?),
                    get: |it| u16::try_from(it.numbers.$($field).+ / 1000).unwrap_or(u16::MAX),
                    set: |it, value| it.numbers.$($field).+ = i64::from(value) * 1000,
                }),
            },)*
            $(Number {
                name: $count,
                clauses: &[$($for),+],
                what: $tells,
                value: Value::Whole(Whole {
                    from: $least,
                    to: $most,
                    step: 1,
                    within: None,
                    get: |it| u16::try_from(it.numbers.$uses).unwrap_or(u16::MAX),
                    set: |it, value| it.numbers.$uses = value.into(),
                }),
            },)*
            $(Number {
                name: $fixed,
                clauses: &[$($of),+],
                what: $says,
                value: Value::fixed($value, "the search has no run that tells it from another"),
            },)*
        ];
    };
    (@ $within:literal) => { Some($within) };
    (@) => { None };
}

numbers! {
    "lifetimes.destructive.default" ["AQL-5.1-1"] destructive.usual 30 1200 within "lifetimes.destructive.longest"
        "how long a token for a destructive or dangerous operation lives where the call does not say, in seconds";
    "lifetimes.destructive.longest" ["AQL-5.1-1"] destructive.longest 30 1200
        "the longest that a call can ask for there, in seconds";
    "lifetimes.forbidden.default" ["AQL-5.1-1"] forbidden.usual 30 1200 within "lifetimes.forbidden.longest"
        "the same for a forbidden operation, in seconds";
    "lifetimes.forbidden.longest" ["AQL-5.1-1"] forbidden.longest 30 1200 "the longest there, in seconds";
    "lifetimes.quota.default" ["AQL-5.1-1"] quota.usual 30 1200 within "lifetimes.quota.longest"
        "the same for a quota pause, in seconds";
    "lifetimes.quota.longest" ["AQL-5.1-1"] quota.longest 30 1200 "the longest there, in seconds";
    "tolerance.longest" ["AQL-5.1-5"] longest_tolerance 0 600
        "the longest tolerance that an operator can set, in seconds";
    "tolerance.warned_above" ["AQL-5.1-6"] warned_above 0 600
        "a longer tolerance is warned about when it is set, in seconds";
    "tolerance.default" ["AQL-5.1-4", "AQL-5.1-5"] usual_tolerance 0 600
        "the tolerance where nobody sets one, in seconds";
    "storage.purged_within" ["AQL-5.5-2"] purged_within 0 3600 "how soon an expired token is purged, in seconds";
    counts
    "uses.most" ["AQL-5.4-1", "AQL-5.2-3"] most_uses 0 2
        "the most uses that a token of a session can have; 0 for any number";
    fixed
    "uses.default" ["AQL-1.2-1", "AQL-5.2-1"] "1" "how many uses a token has where the call does not say";
    "tokens.shortest" ["AQL-2.2-2"] "8" "the fewest characters of a token";
    "tokens.longest" ["AQL-2.2-2"] "80" "the most characters of a token";
    "tokens.longest_identifier" ["AQL-2.2-1"] "64" "the most characters behind the prefix";
    "tokens.entropy_bits" ["AQL-3.1-1"] "128" "the least entropy of a token, in bits (AQL-3.1-2 advises 256)";
    "storage.capacity" ["AQL-5.5-3"] "1000" "how many active tokens an adapter has room for";
    "levels.confirmed_from" ["AQL-5.1-8"] "2" "the danger level from which an operation needs a token";
}

rules! {
    "AQL-1.3-1" "a gated call without a token is not executed and gets one"
        ["runs-unconfirmed"];
    "AQL-1.3-2" "a token that is good is taken, once";
    "AQL-2.1-1" "the prefix says what a token is for, and it is good for nothing else"
        ["honours-other-purpose"];
    "AQL-2.2-1" "an identifier has 1 to 64 URL-safe characters";
    "AQL-2.2-2" "a token has 8 to 80 characters";
    "AQL-2.2-3" "tokens are case-sensitive";
    "AQL-2.3-1" "a token stands for a payload"
        free "No output shows it.";
    "AQL-3.1-1" "a token cannot be guessed, and is issued once";
    "AQL-3.1-2" "a token has 256 bits of entropy";
    "AQL-3.1-3" "no token is counted up from another";
    "AQL-3.1-4" "the acceptable generators"
        free "It permits, and obliges nobody.";
    "AQL-3.2-1" "a token is bound to parameters that have one meaning, and to all of them where no list names any"
        ["binds-nothing"];
    "AQL-3.2-2" "SHA-256 or stronger"
        free "No output shows it.";
    "AQL-3.2-3" "parameters are compared by what they mean";
    "AQL-3.2-4" "what affects the impact is critical, and what the operator's list names"
        ["counts-unlisted", "overlooks-listed", "overlooks-unsaid"];
    "AQL-3.3-1" "who gets a token is told what for";
    "AQL-4.1-1" "an unknown token is refused"
        ["honours-guessed"];
    "AQL-4.1-2" "an expired token is refused";
    "AQL-4.1-3" "a used token is refused"
        ["honours-used"];
    "AQL-4.1-4" "a token for another operation is refused"
        ["honours-other-operation"];
    "AQL-4.1-5" "a token for other parameters is refused"
        ["honours-other-parameters"];
    "AQL-4.1-6" "another adapter's token is refused"
        ["honours-other-adapter"]
        in_samples "4.3";
    "AQL-4.2-1" "a failure is answered, and whole";
    "AQL-4.3-1" "the hash of the parameters is compared";
    "AQL-5.1-1" "a token lives no longer than its level allows, and is good for no higher one"
        ["outstretches-lifetime"];
    "AQL-5.1-2" "every token has an expiry"
        ["issues-eternal"];
    "AQL-5.1-3" "an expired token is not accepted"
        ["honours-expired", "turns-clock-back", "redeems-expired"]
        in_samples "5.2";
    "AQL-5.1-4" "a tolerance for clocks is allowed"
        free "It permits, and obliges nobody.";
    "AQL-5.1-5" "the tolerance is from 0 to 300 seconds, and 0 is none"
        ["takes-zero-for-default", "takes-wide-tolerance"]
        in_samples "5.1";
    "AQL-5.1-6" "a wide tolerance is warned of"
        ["widens-silently"];
    "AQL-5.1-7" "the tolerance is added to the expiry"
        ["expires-early"];
    "AQL-5.1-8" "what is safe or reversible needs no token";
    "AQL-5.1-9" "a tolerance for each environment"
        free "It permits, and obliges nobody.";
    "AQL-5.2-1" "a token has a single use by default"
        ["performs-twice"];
    "AQL-5.2-2" "a use counts before the operation runs"
        ["redeems-apart", "runs-first"]
        in_samples "4.3 and 5.2";
    "AQL-5.2-3" "tokens of several uses are allowed"
        free "It permits, and obliges nobody.";
    "AQL-5.3-1" "a revoked token is refused"
        ["honours-revoked"];
    "AQL-5.3-2" "an event revokes what it concerns, and nothing else"
        ["outlives-logout", "outlives-configuration", "outlives-security-event", "revokes-others",
         "revokes-unchanged", "revokes-other-operations"];
    "AQL-5.3-3" "a token can be given back"
        ["ignores-revocation"];
    "AQL-5.4-1" "several uses need a session"
        ["loses-count", "grants-loose-multi-use"];
    "AQL-5.4-2" "the tokens of a session end with it"
        ["outlives-session"];
    "AQL-5.4-3" "the tokens of a session expire";
    "AQL-5.4-4" "a session's token is good in that session"
        ["honours-other-session"];
    "AQL-5.5-1" "tokens are kept in memory at least"
        ["loses-stored"];
    "AQL-5.5-2" "an expired token is purged within an hour"
        ["purges-early"];
    "AQL-5.5-3" "an adapter has room for 1000 active tokens"
        ["keeps-places"];
    "AQL-6.1-1" "no replay succeeds"
        ["revives-after-restart"];
    "AQL-6.1-2" "tokens may be bound to a session";
    "AQL-6.2-1" "a token that was made up is refused";
    "AQL-6.2-2" "tokens may be signed"
        free "It permits, and obliges nobody.";
    "AQL-6.2-3" "the key of signatures stays secret"
        free "No output shows it.";
    "AQL-6.2-4" "a signature covers every field"
        free "No output shows it.";
    "AQL-6.3-1" "no error shows a value of a parameter"
        ["exposes-parameters"];
    "AQL-6.3-2" "unknown tokens are answered as invalid ones, and all failures alike where the operator says so"
        ["tells-check", "tells-status"];
    "AQL-6.3-3" "a token shows nothing of the inside";
    "AQL-6.3-4" "reasons are given";
    "AQL-6.4-1" "every operation on a token is logged"
        ["issues-unaudited", "redeems-unaudited", "rejects-unaudited", "revokes-unaudited", "audits-twice"];
    "AQL-6.5-1" "what is tried too often is turned away"
        ["ignores-limit", "ignores-limit-of-issues", "ignores-limit-of-revocations", "counts-no-status",
         "limits-early"];
    "AQL-7.1-1" "a token that fails any check is refused";
    "AQL-7.1-2" "a failure has the code of its check"
        ["confuses-codes"];
    "AQL-7.2-1" "the state of a token is kept by the server"
        free "No output shows it.";
    "AQL-7.2-2" "revocation is supported";
    "AQL-7.3-1" "the status of a token is told as it is"
        ["misstates-status"];
    "AQL-7.3-2" "signed tokens need no state"
        free "It permits, and obliges nobody.";
    "AQL-1.2-1" "a token is consumed when its call succeeds, and only then"
        ["consumes-on-failure", "consumes-ungated"];
    "AQL-1.2-2" "tokens are time-bounded";
    "AQL-1.2-3" "what runs is what was confirmed";
    "AQL-1.2-4" "tokens cannot be forged";
    "AQL-1.2-5" "issuance and redemption are logged";
}
