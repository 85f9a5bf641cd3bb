//! What a text means as JSON, by another reader than the executor's.

use std::collections::BTreeMap;

use serde_json::Value;

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
