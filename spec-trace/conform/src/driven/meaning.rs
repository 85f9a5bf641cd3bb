//! What JSON means that an implementation may write out again as it likes.

use serde_json::{Number, Value};

/// What a text means: whole numbers are the same however they are written.
pub fn meaning(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().map(plain)
}

fn plain(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(&number).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, plain(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

/// The whole number that a small one with a point is.
fn whole(number: &Number) -> Option<Number> {
    let double = number.as_f64().filter(|_| number.is_f64())?;
    let is_small = double.fract() == 0.0 && double.abs() < 1e15;
    is_small.then(|| format!("{double:.0}").parse().ok())?
}
