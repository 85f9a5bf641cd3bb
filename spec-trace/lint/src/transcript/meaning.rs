//! Whether two JSON texts mean the same.
//!
//! The one thing to know: there are three answers. What has no one meaning (a name twice, half of a surrogate pair, a number that
//! no double holds, more levels than are read) is neither the same as something else nor another: nobody is accused of it.

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::fields::text;

/// So many levels are read.
const DEEPEST: usize = 100;

/// Whether both are known to mean the same. A string may hold the text of what is meant.
pub fn same(one: &str, other: &str) -> bool {
    pairings(one, other).any(|found| found == Some(true))
}

/// Whether both are known to mean something else, however they are taken.
pub fn differs(one: &str, other: &str) -> bool {
    pairings(one, other).all(|found| found == Some(false))
}

fn pairings(one: &str, other: &str) -> impl Iterator<Item = Option<bool>> {
    let (ones, others) = (taken(one), taken(other));
    ones.into_iter().flat_map(move |one| {
        let found = others.iter().map(|other| compare(&one, other, DEEPEST));
        found.collect::<Vec<_>>()
    })
}

/// A value, and where it is a string that holds JSON, that.
fn taken(raw: &str) -> Vec<String> {
    let within = text(raw).filter(|within| serde_json::from_str::<&RawValue>(within).is_ok());
    let whole = raw.trim_ascii().to_owned();
    [Some(whole), within.map(|it| it.trim_ascii().to_owned())]
        .into_iter()
        .flatten()
        .collect()
}

fn compare(one: &str, other: &str, levels: usize) -> Option<bool> {
    if one == other {
        return Some(true);
    }
    let levels = levels.checked_sub(1)?;
    match (kind(one)?, kind(other)?) {
        ('{', '{') => {
            let [one, other] = [members(one)?, members(other)?];
            if !one.keys().eq(other.keys()) {
                return Some(false);
            }
            let pairs = one.values().zip(other.values());
            all(pairs.map(|(one, other)| compare(one.get(), other.get(), levels)))
        }
        ('[', '[') => {
            let [one, other] = [items(one)?, items(other)?];
            if one.len() != other.len() {
                return Some(false);
            }
            let pairs = one.iter().zip(&other);
            all(pairs.map(|(one, other)| compare(one.get(), other.get(), levels)))
        }
        ('"', '"') => {
            let [one, other]: [String; 2] = [
                serde_json::from_str(one).ok()?,
                serde_json::from_str(other).ok()?,
            ];
            Some(one == other)
        }
        ('0', '0') => numbers(one, other),
        _ => Some(false),
    }
}

/// All the same, or one that differs, or unknown.
fn all(found: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let found: Vec<_> = found.collect();
    if found.contains(&Some(false)) {
        return Some(false);
    }
    found.iter().all(Option::is_some).then_some(true)
}

/// Whole numbers are the same to the digit, others as doubles; a whole one and another where the double has its digits.
fn numbers(one: &str, other: &str) -> Option<bool> {
    Some(worth(one)? == worth(other)?)
}

/// The digits of a whole number, or those of the double that any other is; nothing where no double holds it.
fn worth(text: &str) -> Option<String> {
    if text == "-0" {
        return Some("0".to_owned());
    }
    if text.bytes().all(|it| it.is_ascii_digit() || it == b'-') {
        return Some(text.to_owned());
    }
    // The sum makes zero of the negative zero.
    let double = Some(text.parse::<f64>().ok()? + 0.0).filter(|it| it.is_finite())?;
    let is_whole = double.fract() == 0.0;
    Some(if is_whole {
        format!("{double:.0}")
    } else {
        double.to_string()
    })
}

fn kind(text: &str) -> Option<char> {
    match text.bytes().next()? {
        b'-' | b'0'..=b'9' => Some('0'),
        first => Some(char::from(first)),
    }
}

fn items(text: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(text).ok()
}

fn members(text: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str::<Members<'_>>(text)
        .ok()
        .map(|it| it.0)
}

/// The members of an object, each of which has a name of its own.
struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Different)
    }
}

struct Different;

impl<'de> Visitor<'de> for Different {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = entries.next_entry::<String, &'de RawValue>()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name stands twice"));
            }
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_order_and_spelling_make_no_difference_and_numbers_are_what_they_are_worth() {
        for (one, other) in [
            (
                r#"{"a":1,"b":[true,null]}"#,
                r#"{ "b" : [true, null], "\u0061":1 }"#,
            ),
            (r#"{"a":1}"#, r#""{\"a\":1}""#),
            ("1.0", "1e0"),
            ("1", "1.0"),
            ("-0", "0"),
            ("1e400", "1e400"),
        ] {
            assert!(same(one, other) && !differs(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("9007199254740993", "9007199254740992"),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            ("[1,2]", "[2,1]"),
            ("null", "false"),
            (r#"{"a":1}"#, r#""{\"a\":2}""#),
        ] {
            assert!(differs(one, other) && !same(one, other), "{one} {other}");
        }
        for (one, other) in [
            (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
            (r#"["\ud800"]"#, r#"["x"]"#),
            ("1e400", "1e401"),
        ] {
            assert!(!differs(one, other) && !same(one, other), "{one} {other}");
        }
        let deep = |levels: usize, inner: &str| {
            format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels))
        };
        assert!(differs(&deep(DEEPEST - 1, "1"), &deep(DEEPEST - 1, "2")));
        assert!(!differs(&deep(DEEPEST, "1"), &deep(DEEPEST, "2")));
        assert!(!differs(&deep(100_000, "1"), &deep(100_000, "2")));
    }
}
