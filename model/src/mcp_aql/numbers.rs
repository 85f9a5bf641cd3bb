//! The numbers of the text: lifetimes, tolerance and uses, which can be changed, and what the model knows nothing of.
//!
//! The one thing to know: a tick of the model is 60 seconds, so that what is a time here is a multiple of that.

use crate::numbers::{self, Value, Whole};

use super::readings::Reading;

/// Those that can be changed. Times are in seconds. The default is the text's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    /// AQL-5.1-1: of tokens for destructive and dangerous operations.
    pub destructive: Lifetimes,
    /// AQL-5.1-1: of tokens for forbidden operations.
    pub forbidden: Lifetimes,
    /// AQL-5.1-1: of tokens for quota pauses.
    pub quota: Lifetimes,
    /// AQL-5.1-5: the longest tolerance that can be configured.
    pub longest_tolerance: u16,
    /// AQL-5.1-6: a longer tolerance is warned about.
    pub warned_above: u16,
    /// AQL-5.4-1: the most uses that a token of a session can have; 0 for any number.
    pub most_uses: u8,
}

/// How long tokens live, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lifetimes {
    /// Where nobody says how long.
    pub default: u16,
    /// At most.
    pub longest: u16,
}

impl Numbers {
    /// As the text has them.
    pub const TEXT: Self = Self {
        destructive: Lifetimes::of(300, 900),
        forbidden: Lifetimes::of(120, 300),
        quota: Lifetimes::of(300, 600),
        longest_tolerance: 300,
        warned_above: 60,
        most_uses: 0,
    };
}

impl Lifetimes {
    const fn of(default: u16, longest: u16) -> Self {
        Self { default, longest }
    }
}

/// A time that can be changed, in seconds, by its place among the numbers.
macro_rules! time {
    ($($field:ident).+, $from:expr, $to:expr, $within:expr) => {
        Value::Whole(Whole {
            from: $from,
            to: $to,
            step: 60,
            within: $within,
            get: |reading: &Reading| reading.numbers.$($field).+,
            set: |reading: &mut Reading, value| reading.numbers.$($field).+ = value,
        })
    };
}

/// The longest lifetime within which a search ends.
const LONGEST: u16 = 1_200;

const UNBUILT: &str =
    "the model's tokens are names, and how one is made is a function and not a step";

/// Every number of the text.
pub static NUMBERS: [numbers::Number<Reading>; 18] = [
    numbers::Number {
        name: "lifetimes.destructive.default",
        clauses: &["AQL-5.1-1"],
        what: "how long a token for a destructive or dangerous operation lives where the call does not say, in seconds",
        value: time!(
            destructive.default,
            60,
            LONGEST,
            Some("lifetimes.destructive.longest")
        ),
    },
    numbers::Number {
        name: "lifetimes.destructive.longest",
        clauses: &["AQL-5.1-1"],
        what: "the longest that a call can ask for there, in seconds",
        value: time!(destructive.longest, 60, LONGEST, None),
    },
    numbers::Number {
        name: "lifetimes.forbidden.default",
        clauses: &["AQL-5.1-1"],
        what: "the same for a forbidden operation, in seconds",
        value: time!(
            forbidden.default,
            60,
            LONGEST,
            Some("lifetimes.forbidden.longest")
        ),
    },
    numbers::Number {
        name: "lifetimes.forbidden.longest",
        clauses: &["AQL-5.1-1"],
        what: "the longest there, in seconds",
        value: time!(forbidden.longest, 60, LONGEST, None),
    },
    numbers::Number {
        name: "lifetimes.quota.default",
        clauses: &["AQL-5.1-1"],
        what: "the same for a quota pause, in seconds",
        value: time!(quota.default, 60, LONGEST, Some("lifetimes.quota.longest")),
    },
    numbers::Number {
        name: "lifetimes.quota.longest",
        clauses: &["AQL-5.1-1"],
        what: "the longest there, in seconds",
        value: time!(quota.longest, 60, LONGEST, None),
    },
    numbers::Number {
        name: "tolerance.longest",
        clauses: &["AQL-5.1-5"],
        what: "the longest tolerance that an operator can set, in seconds",
        value: time!(longest_tolerance, 0, 600, None),
    },
    numbers::Number {
        name: "tolerance.warned_above",
        clauses: &["AQL-5.1-6"],
        what: "a longer tolerance is warned about when it is set, in seconds",
        value: time!(warned_above, 0, 600, None),
    },
    numbers::Number {
        name: "uses.most",
        clauses: &["AQL-5.4-1", "AQL-5.2-3"],
        what: "the most uses that a token of a session can have; 0 for any number, as in the text, which names none",
        value: Value::Whole(Whole {
            from: 0,
            to: 2,
            step: 1,
            within: None,
            get: |reading| reading.numbers.most_uses.into(),
            set: |reading, value| reading.numbers.most_uses = u8::try_from(value).unwrap_or(0),
        }),
    },
    numbers::Number {
        name: "uses.default",
        clauses: &["AQL-1.2-1", "AQL-5.2-1"],
        what: "how many uses a token has where the call does not say",
        value: Value::fixed(
            "1",
            "every call of the model says how many uses it asks for",
        ),
    },
    numbers::Number {
        name: "tolerance.default",
        clauses: &["AQL-5.1-4", "AQL-5.1-5"],
        what: "the tolerance where nobody sets one, in seconds",
        value: Value::fixed(
            "30",
            "a tick of the model is 60 seconds, and every run of it begins with the tolerance being set",
        ),
    },
    numbers::Number {
        name: "tokens.shortest",
        clauses: &["AQL-2.2-2"],
        what: "the fewest characters of a token",
        value: Value::fixed("8", UNBUILT),
    },
    numbers::Number {
        name: "tokens.longest",
        clauses: &["AQL-2.2-2"],
        what: "the most characters of a token",
        value: Value::fixed("80", UNBUILT),
    },
    numbers::Number {
        name: "tokens.longest_identifier",
        clauses: &["AQL-2.2-1"],
        what: "the most characters behind the prefix",
        value: Value::fixed("64", UNBUILT),
    },
    numbers::Number {
        name: "tokens.entropy_bits",
        clauses: &["AQL-3.1-1"],
        what: "the least entropy of a token, in bits (AQL-3.1-2 advises 256)",
        value: Value::fixed("128", UNBUILT),
    },
    numbers::Number {
        name: "storage.purged_within",
        clauses: &["AQL-5.5-2"],
        what: "how soon an expired token is purged, in seconds",
        value: Value::fixed(
            "3600",
            "no search goes on for so long; the judge knows only that nothing is purged too early",
        ),
    },
    numbers::Number {
        name: "storage.capacity",
        clauses: &["AQL-5.5-3"],
        what: "how many active tokens an adapter has room for",
        value: Value::fixed(
            "1000",
            "no search ends with so many; --bounds small,capacity=1 searches one that is full",
        ),
    },
    numbers::Number {
        name: "levels.confirmed_from",
        clauses: &["AQL-5.1-8"],
        what: "the danger level from which an operation needs a token",
        value: Value::fixed(
            "2",
            "the model has three kinds of operations, safe, destructive and forbidden, and not five levels",
        ),
    },
];
