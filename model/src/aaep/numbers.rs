//! The numbers and tables of the text: which defaults a confirmation can have and which replies, which can be changed, and what the
//! model knows nothing of.

use crate::numbers::{self, Value};
use crate::readings::Choice;

use super::readings::Reading;

/// Those that can be changed. The default is the text's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    /// 6.4.1: of what cannot be undone, by its risk, low first.
    pub irreversible: [DefaultRule; 3],
    /// The same of what can be.
    pub reversible: [DefaultRule; 3],
    /// AAEP-6.3.4-6: what may be replied where a confirmation has no list of it.
    pub unlisted: Unlisted,
}

/// What the table of 6.4.1 says of the default decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefaultRule {
    /// It is reject.
    MustReject,
    /// It should be reject: a producer need not ask with another, and may.
    ShouldReject,
    /// It is either.
    Either,
}

/// What may be replied where `allowed_replies` is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unlisted {
    /// Either.
    AcceptOrReject,
    /// Accept alone.
    Accept,
    /// Reject alone.
    Reject,
}

impl Numbers {
    /// As the text has them.
    pub const TEXT: Self = Self {
        irreversible: [
            DefaultRule::ShouldReject,
            DefaultRule::MustReject,
            DefaultRule::MustReject,
        ],
        reversible: [
            DefaultRule::Either,
            DefaultRule::Either,
            DefaultRule::ShouldReject,
        ],
        unlisted: Unlisted::AcceptOrReject,
    };

    /// What is said of the default of an action; its risk is 0 for low, 1 for medium and 2 for high.
    pub const fn default_of(self, irreversible: bool, risk: usize) -> DefaultRule {
        if irreversible {
            self.irreversible[risk]
        } else {
            self.reversible[risk]
        }
    }
}

/// The three words for a row of the table, the text's first, which the others follow in the order of the text.
macro_rules! row {
    ($name:literal, $clause:literal, $what:literal, $field:ident[$risk:literal], $($word:ident),+) => {
        numbers::Number {
            name: $name,
            clauses: &[$clause],
            what: concat!("the default decision of ", $what),
            value: Value::Word(&[$(Choice {
                value: DefaultRule::$word.name(),
                gloss: DefaultRule::$word.means(),
                set: |reading: &mut Reading| reading.numbers.$field[$risk] = DefaultRule::$word,
            }),+]),
        }
    };
}

impl DefaultRule {
    /// The word in a file.
    const fn name(self) -> &'static str {
        match self {
            Self::MustReject => "must-reject",
            Self::ShouldReject => "should-reject",
            Self::Either => "either",
        }
    }

    /// The same in words.
    const fn means(self) -> &'static str {
        match self {
            Self::MustReject => "It is reject.",
            Self::ShouldReject => "It should be reject, and may be accept.",
            Self::Either => "It is either.",
        }
    }
}

const TICKS: &str = "a deadline of the model is a tick or a few, whatever the seconds";
const SHAPES: &str = "a message of the model is well-formed or not, and has no texts";
const NAMES: &str =
    "the model's tokens are names, and how one is made is a function and not a step";

/// Every number of the text.
pub static NUMBERS: [numbers::Number<Reading>; 23] = [
    row!(
        "default_decision.irreversible_high",
        "AAEP-6.4.1-1",
        "what is irreversible and of high risk",
        irreversible[2],
        MustReject,
        ShouldReject,
        Either
    ),
    row!(
        "default_decision.irreversible_medium",
        "AAEP-6.4.1-2",
        "what is irreversible and of medium risk",
        irreversible[1],
        MustReject,
        ShouldReject,
        Either
    ),
    row!(
        "default_decision.irreversible_low",
        "AAEP-6.4.1-3",
        "what is irreversible and of low risk",
        irreversible[0],
        ShouldReject,
        MustReject,
        Either
    ),
    row!(
        "default_decision.reversible_high",
        "AAEP-6.4.1-4",
        "what can be undone and is of high risk",
        reversible[2],
        ShouldReject,
        MustReject,
        Either
    ),
    row!(
        "default_decision.reversible_medium",
        "AAEP-6.4.1-5",
        "what can be undone and is of medium risk",
        reversible[1],
        Either,
        MustReject,
        ShouldReject
    ),
    row!(
        "default_decision.reversible_low",
        "AAEP-6.4.1-6",
        "what can be undone and is of low risk",
        reversible[0],
        Either,
        MustReject,
        ShouldReject
    ),
    numbers::Number {
        name: "allowed_replies.absent",
        clauses: &["AAEP-6.3.4-6"],
        what: "what may be replied to a confirmation without a list of replies",
        value: Value::Word(&[
            Choice {
                value: "accept-or-reject",
                gloss: "Either.",
                set: |reading| reading.numbers.unlisted = Unlisted::AcceptOrReject,
            },
            Choice {
                value: "accept",
                gloss: "Accept alone.",
                set: |reading| reading.numbers.unlisted = Unlisted::Accept,
            },
            Choice {
                value: "reject",
                gloss: "Reject alone.",
                set: |reading| reading.numbers.unlisted = Unlisted::Reject,
            },
        ]),
    },
    numbers::Number {
        name: "timeouts.shortest",
        clauses: &["AAEP-EV-5"],
        what: "the least timeout_seconds",
        value: Value::fixed("1", TICKS),
    },
    numbers::Number {
        name: "timeouts.longest",
        clauses: &["AAEP-EV-5"],
        what: "the greatest timeout_seconds",
        value: Value::fixed("86400", TICKS),
    },
    numbers::Number {
        name: "timeouts.recommended.irreversible_high",
        clauses: &["AAEP-6.4.2-1"],
        what: "the recommended timeout_seconds, from and to, of what is irreversible and of high risk",
        value: Value::fixed("[180, 600]", TICKS),
    },
    numbers::Number {
        name: "timeouts.recommended.irreversible_medium",
        clauses: &["AAEP-6.4.2-1"],
        what: "the same of what is irreversible and of medium risk",
        value: Value::fixed("[60, 180]", TICKS),
    },
    numbers::Number {
        name: "timeouts.recommended.reversible_low",
        clauses: &["AAEP-6.4.2-1"],
        what: "the same of what can be undone and is of low risk",
        value: Value::fixed("[30, 90]", TICKS),
    },
    numbers::Number {
        name: "timeouts.recommended.clarification",
        clauses: &["AAEP-6.4.2-1"],
        what: "the same of a clarification",
        value: Value::fixed("[60, 300]", TICKS),
    },
    numbers::Number {
        name: "countdown.above",
        clauses: &["AAEP-6.4.3-1"],
        what: "the timeout_seconds above which the time left is told",
        value: Value::fixed("60", TICKS),
    },
    numbers::Number {
        name: "countdown.percent_left",
        clauses: &["AAEP-6.4.3-4"],
        what: "at how much of the timeout the time left is told, in percent",
        value: Value::fixed("[50, 10]", TICKS),
    },
    numbers::Number {
        name: "tokens.longest",
        clauses: &["AAEP-6.2.1-1"],
        what: "the most characters of a reply token behind its prefix",
        value: Value::fixed("64", NAMES),
    },
    numbers::Number {
        name: "tokens.entropy_bits",
        clauses: &["AAEP-6.2.1-2"],
        what: "the recommended entropy of a reply token, in bits",
        value: Value::fixed("128", NAMES),
    },
    numbers::Number {
        name: "tokens.unique_hours",
        clauses: &["AAEP-6.2.2-1"],
        what: "how long behind its session a reply token stays unique, in hours",
        value: Value::fixed(
            "24",
            "by AAEP-6.2.2-3 a token never comes again, however long it was",
        ),
    },
    numbers::Number {
        name: "identifiers.longest",
        clauses: &["AAEP-EV-2", "AAEP-REPLY-5"],
        what: "the most characters of any other identifier behind its prefix",
        value: Value::fixed("64", SHAPES),
    },
    numbers::Number {
        name: "texts.decided_by",
        clauses: &["AAEP-REPLY-7", "AAEP-EV-12"],
        what: "the most characters of decided_by",
        value: Value::fixed("256", SHAPES),
    },
    numbers::Number {
        name: "texts.decision_rationale",
        clauses: &["AAEP-REPLY-8"],
        what: "the most characters of decision_rationale",
        value: Value::fixed("4096", SHAPES),
    },
    numbers::Number {
        name: "texts.confidence",
        clauses: &["AAEP-6.5.3-2"],
        what: "the least and the greatest confidence",
        value: Value::fixed("[0, 1]", SHAPES),
    },
    numbers::Number {
        name: "conformance.level",
        clauses: &["AAEP-6-1"],
        what: "the conformance level from which the protocol is required",
        value: Value::fixed("2", "the model is of a producer that has the protocol"),
    },
];
