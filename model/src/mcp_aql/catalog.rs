//! What commands need of MCP-AQL: the clauses by which something can be left out, the numbers, and the bounds by
//! their names.

use crate::facade::engine::{Catalog, Size, sizes};
use crate::facade::run::Step;
use crate::mcp_aql::McpAql;
use crate::mcp_aql::alphabet::{Call, Output};
use crate::mcp_aql::describe;
use crate::mcp_aql::environment::Bounds;
use crate::mcp_aql::readings::{AMBIGUITIES, Reading};
use crate::numbers::{Number, Value, Whole};
use crate::readings::Place;

impl Catalog for McpAql {
    const NAME: &'static str = "mcp-aql";
    const PLACES: &'static [Place<Reading>] = AMBIGUITIES;
    const NUMBERS: &'static [Number<Reading>] = NUMBERS;
    const WORLDS: &'static [(&'static str, Bounds)] = &Bounds::WORLDS;
    const OTHER_WORLDS: &'static [(&'static str, Bounds)] = &Bounds::OTHER_WORLDS;
    const SIZES: &'static [Size<Bounds>] = SIZES;
    const LONGEST: usize = 7;

    const PARTY: &'static str = "gatekeeper";

    fn at(step: &Step<Self>) -> i64 {
        match step {
            Step::Call { call, .. } => call.now,
            Step::Move(around) => around.now(),
        }
    }

    fn said(call: &Call) -> (String, String) {
        let (who, what) = describe::said(&call.op);
        (who.to_owned(), what)
    }

    fn output_text(output: &Output) -> String {
        describe::output(output)
    }
}

sizes! {
    "tokens" tokens 1 3;
    "ticks" ticks 0 4;
    "set_back" set_back 0 3;
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
