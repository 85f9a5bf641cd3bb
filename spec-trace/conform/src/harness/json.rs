//! What a text means as JSON, by another reader than the executor's.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// Stands before the digits of a whole number that [`read`] keeps as a string.
pub(super) const MARK: char = '\u{f8ff}';

/// A JSON text by a reader of doubles, who takes a whole number in full for its digits where its double would not be
/// written so: as a string behind a [`MARK`].
pub(super) fn read(text: &str) -> serde_json::Result<Value> {
    let raw: &RawValue = serde_json::from_str(text)?;
    match raw.get().as_bytes()[0] {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get())?;
            let members = members.into_iter();
            members
                .map(|(name, value)| Ok((name, read(value.get())?)))
                .collect()
        }
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(raw.get())?;
            elements
                .into_iter()
                .map(|element| read(element.get()))
                .collect()
        }
        b'-' | b'0'..=b'9' if !raw.get().contains(['.', 'e', 'E']) => {
            let double: f64 = raw.get().parse().expect("digits");
            let is_short = double.abs() <= 9_007_199_254_740_992.0;
            // From here on ECMAScript writes an exponent, and so a double.
            let is_written_as_double = is_short || double.abs() >= 1e21;
            if is_written_as_double && double.to_string() == raw.get() {
                return serde_json::from_str(raw.get());
            }
            Ok(Value::String(format!("{MARK}{}", raw.get())))
        }
        _ => serde_json::from_str(raw.get()),
    }
}

/// What was written of a value that was [`read`], with the digits in place of the strings that stand for them.
pub(super) fn with_digits(written: &str) -> String {
    let start = format!("\"{MARK}");
    let mut parts = written.split(&start);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('"').expect("the end of a string");
        whole.extend([digits, rest]);
    }
    whole
}

/// The same with the members of every object the other way round.
pub(super) fn turned(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        Value::Array(elements) => elements.iter().map(turned).collect(),
        Value::Object(members) => {
            let members = members.iter().rev();
            members
                .map(|(name, value)| (name.clone(), turned(value)))
                .collect()
        }
    }
}

/// Whether two values are equal, numbers as doubles and members in any order.
pub(super) fn means_the_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            let mut pairs = ones.iter().zip(others);
            ones.len() == others.len() && pairs.all(|(one, other)| means_the_same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            let others: BTreeMap<_, _> = others.iter().collect();
            ones.len() == others.len()
                && ones.iter().all(|(name, one)| {
                    let other = others.get(name);
                    other.is_some_and(|other| means_the_same(one, other))
                })
        }
        (one, other) => one == other,
    }
}
