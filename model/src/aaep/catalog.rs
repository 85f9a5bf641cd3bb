//! What commands need of AAEP: the clauses by which something can be left out, the numbers, and the bounds by their
//! names.

use crate::aaep::Aaep;
use crate::aaep::account::Account;
use crate::aaep::alphabet::{Call, Output};
use crate::aaep::describe;
use crate::aaep::environment::Bounds;
use crate::aaep::readings::{AMBIGUITIES, DefaultRule, Reading, Unlisted};
use crate::engine::fact::Fact;
use crate::facade::engine::{Catalog, Size, sizes};
use crate::facade::run::Step;
use crate::numbers::{Number, Value};
use crate::readings::{Choice, Place};

impl Catalog for Aaep {
    const NAME: &'static str = "aaep";
    const PLACES: &'static [Place<Reading>] = AMBIGUITIES;
    const NUMBERS: &'static [Number<Reading>] = NUMBERS;
    const WORLDS: &'static [(&'static str, Bounds)] = &Bounds::WORLDS;
    const OTHER_WORLDS: &'static [(&'static str, Bounds)] = &Bounds::OTHER_WORLDS;
    const SIZES: &'static [Size<Bounds>] = SIZES;
    const LONGEST: usize = 9;

    fn account(bounds: Option<&Bounds>) -> Account {
        Account {
            counts_down: Fact::Yes,
            restarts: bounds.map_or(u8::MAX, Bounds::restarts),
            ..Account::default()
        }
    }

    const PARTY: &'static str = "producer";

    fn at(step: &Step<Self>) -> i64 {
        match step {
            Step::Call { call, .. } => call.now,
            Step::Move(around) => around.clock,
        }
    }

    fn said(call: &Call) -> (String, String) {
        describe::said(&call.op)
    }

    fn output_text(output: &Output) -> String {
        describe::output(output)
    }
}

sizes! {
    "confirmations" questions 0 3;
    "clarifications" queries 0 3;
    "work" work 0 3;
    "ticks" ticks 0 8;
    "set_back" set_back 0 3;
    "crash" crashes 0 3;
    flags
    "two_sessions" two_sessions;
    "minutes" minutes;
    "every_question" every_question;
    "every_query" every_query;
    "every_reply" every_reply;
    "endings" endings;
    "closings" closings;
}

/// Rows of the table of 6.4.1, each with the words of a default decision, the text's first; and what cannot be changed.
macro_rules! numbers {
    ($($name:literal $clause:literal $field:ident $risk:literal $what:literal $first:ident $second:ident $third:ident;)*
        words $word:literal $of:literal $field_of_word:ident $says:literal $($way:ident $value:literal $gloss:literal),+;
        fixed $($fixed:literal [$($for:literal),+] $number:literal $tells:literal;)*) => {
        const NUMBERS: &[Number<Reading>] = &[
            $(Number {
                name: $name,
                clauses: &[$clause],
                what: concat!("the default decision of ", $what),
                value: Value::Word(&[
                    numbers!(@ $field $risk $first),
                    numbers!(@ $field $risk $second),
                    numbers!(@ $field $risk $third),
                ]),
            },)*
            Number {
                name: $word,
                clauses: &[$of],
                what: $says,
                value: Value::Word(&[$(Choice {
                    value: $value,
                    gloss: $gloss,
                    set: |it| it.numbers.$field_of_word = Unlisted::$way,
                }),+]),
            },
            $(Number {
                name: $fixed,
                clauses: &[$($for),+],
                what: $tells,
                value: Value::fixed($number, "the search has no run that tells it from another"),
            },)*
        ];
    };
    (@ $field:ident $risk:literal MustReject) => {
        Choice {
            value: "must-reject",
            gloss: "It is reject.",
            set: |it| it.numbers.$field[$risk] = DefaultRule::MustReject,
        }
    };
    (@ $field:ident $risk:literal ShouldReject) => {
        Choice {
            value: "should-reject",
            gloss: "It should be reject, and may be accept.",
            set: |it| it.numbers.$field[$risk] = DefaultRule::ShouldReject,
        }
    };
    (@ $field:ident $risk:literal Either) => {
        Choice { value: "either", gloss: "It is either.", set: |it| it.numbers.$field[$risk] = DefaultRule::Either }
    };
}

numbers! {
    "default_decision.irreversible_high" "AAEP-6.4.1-1" irreversible 2
        "what is irreversible and of high risk" MustReject ShouldReject Either;
    "default_decision.irreversible_medium" "AAEP-6.4.1-2" irreversible 1
        "what is irreversible and of medium risk" MustReject ShouldReject Either;
    "default_decision.irreversible_low" "AAEP-6.4.1-3" irreversible 0
        "what is irreversible and of low risk" ShouldReject MustReject Either;
    "default_decision.reversible_high" "AAEP-6.4.1-4" reversible 2
        "what can be undone and is of high risk" ShouldReject MustReject Either;
    "default_decision.reversible_medium" "AAEP-6.4.1-5" reversible 1
        "what can be undone and is of medium risk" Either MustReject ShouldReject;
    "default_decision.reversible_low" "AAEP-6.4.1-6" reversible 0
        "what can be undone and is of low risk" Either MustReject ShouldReject;
    words "allowed_replies.absent" "AAEP-6.3.4-6" unlisted "what may be replied to a confirmation without a list of replies"
        AcceptOrReject "accept-or-reject" "Either.", Accept "accept" "Accept alone.", Reject "reject" "Reject alone.";
    fixed
    "timeouts.shortest" ["AAEP-EV-5"] "1" "the least timeout_seconds";
    "timeouts.longest" ["AAEP-EV-5"] "86400" "the greatest timeout_seconds";
    "timeouts.recommended.irreversible_high" ["AAEP-6.4.2-1"] "[180, 600]"
        "the recommended timeout_seconds, from and to, of what is irreversible and of high risk";
    "timeouts.recommended.irreversible_medium" ["AAEP-6.4.2-1"] "[60, 180]"
        "the same of what is irreversible and of medium risk";
    "timeouts.recommended.reversible_low" ["AAEP-6.4.2-1"] "[30, 90]"
        "the same of what can be undone and is of low risk";
    "timeouts.recommended.clarification" ["AAEP-6.4.2-1"] "[60, 300]" "the same of a clarification";
    "countdown.above" ["AAEP-6.4.3-1"] "60" "the timeout_seconds above which the time left is told";
    "countdown.percent_left" ["AAEP-6.4.3-4"] "[50, 10]" "at how much of the timeout the time left is told, in percent";
    "tokens.longest" ["AAEP-6.2.1-1"] "64" "the most characters of a reply token behind its prefix";
    "tokens.entropy_bits" ["AAEP-6.2.1-2"] "128" "the recommended entropy of a reply token, in bits";
    "tokens.unique_hours" ["AAEP-6.2.2-1"] "24" "how long behind its session a reply token stays unique, in hours";
    "identifiers.longest" ["AAEP-EV-2", "AAEP-REPLY-5"] "64"
        "the most characters of any other identifier behind its prefix";
    "texts.decided_by" ["AAEP-REPLY-7", "AAEP-EV-12"] "256" "the most characters of decided_by";
    "texts.decision_rationale" ["AAEP-REPLY-8"] "4096" "the most characters of decision_rationale";
    "texts.confidence" ["AAEP-6.5.3-2"] "[0, 1]" "the least and the greatest confidence";
    "conformance.level" ["AAEP-6-1"] "2" "the conformance level from which the protocol is required";
}
