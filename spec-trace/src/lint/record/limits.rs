//! AAEP-EV-10: the soft limits of size and nesting.
//!
//! Where the text leaves open how to count, the producer gets the better of it: the size is that of the event without
//! any white space, and depth counts the objects and arrays within the event.

use std::fmt;

use super::Fault;
use super::fields::GREATEST_SAFE;
use crate::json::tree::{Object, Value};
use crate::lint::rules;

const EVENT_BYTES: usize = 64 << 10;
const TEXT_BYTES: usize = 16 << 10;
const DEPTH: usize = 8;
const FIELDS: usize = 32;

/// What of an event was measured.
#[derive(Debug, Default)]
struct Measure {
    bytes: usize,
    longest_text: usize,
    depth: usize,
    unsafe_number: bool,
}

/// Judges the size of an event.
pub fn judge(event: Object<'_>, faults: &mut Vec<Fault>) {
    let mut measure = Measure::default();
    for (key, value) in event.iter() {
        measure.bytes += key.len() + 4;
        measure.take(value, 0);
    }
    let Measure {
        bytes,
        longest_text,
        depth,
        unsafe_number,
    } = measure;
    let mut check = |exceeds: bool, message: fmt::Arguments<'_>| {
        if exceeds {
            faults.push(Fault {
                rule: &rules::SIZE,
                column: None,
                message: message.to_string(),
            });
        }
    };
    check(
        bytes > EVENT_BYTES,
        format_args!("the event takes {bytes} bytes, more than 64 KiB"),
    );
    check(
        longest_text > TEXT_BYTES,
        format_args!("a string takes {longest_text} bytes, more than 16 KiB"),
    );
    check(
        depth > DEPTH,
        format_args!("the event is nested {depth} levels deep, more than 8"),
    );
    check(
        event.len() > FIELDS,
        format_args!("the event has {} fields, more than 32", event.len()),
    );
    check(
        unsafe_number,
        format_args!("an integer beyond 2^53 stands as a number; it travels as a string"),
    );
}

impl Measure {
    /// Goes as deep as the parser lets a record be, which is 128 levels.
    fn take(&mut self, value: Value<'_>, depth: usize) {
        match value {
            Value::Null | Value::Bool(_) => self.bytes += 4,
            Value::Number(number) => {
                self.bytes += 1;
                let value = number.as_f64().unwrap_or_default();
                self.unsafe_number |= value.fract() == 0.0 && value.abs() > GREATEST_SAFE;
            }
            Value::String(text) => {
                self.bytes += text.len() + 2;
                self.longest_text = self.longest_text.max(text.len());
            }
            Value::Array(items) => {
                self.depth = self.depth.max(depth + 1);
                self.bytes += 2;
                for item in items.iter() {
                    self.take(item, depth + 1);
                }
            }
            Value::Object(members) => {
                self.depth = self.depth.max(depth + 1);
                self.bytes += 2;
                for (key, member) in members.iter() {
                    self.bytes += key.len() + 3;
                    self.take(member, depth + 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tree;
    use serde_json::{Map, Value, json};

    fn faults(event: &Value) -> usize {
        let mut faults = Vec::new();
        let text = event.to_string();
        let event = tree::parse(&text).expect("JSON");
        judge(event.value().as_object().expect("an object"), &mut faults);
        faults.len()
    }

    /// AAEP-EV-10: each limit below, at and beyond.
    #[test]
    fn limits_are_broken_only_beyond_them() {
        for (more, broken) in [(-1, 0), (0, 0), (1, 1)] {
            let of = |limit: usize| limit.saturating_add_signed(more);
            assert_eq!(faults(&json!({"a": "x".repeat(of(TEXT_BYTES))})), broken);
            let nested = (0..of(DEPTH)).fold(json!(1), |inner, _| json!([inner]));
            assert_eq!(faults(&json!({"a": nested})), broken);
            let many: Map<String, Value> = (0..of(FIELDS))
                .map(|number| (number.to_string(), json!(1)))
                .collect();
            assert_eq!(faults(&Value::Object(many)), broken);
            // Five fields of one letter take seven bytes each beside their texts.
            let texts = [
                16_000,
                16_000,
                16_000,
                16_000,
                of(EVENT_BYTES - 64_000 - 35),
            ];
            let event: Map<String, Value> = ["a", "b", "c", "d", "e"]
                .into_iter()
                .zip(texts)
                .map(|(name, length)| (name.to_owned(), json!("x".repeat(length))))
                .collect();
            assert_eq!(faults(&Value::Object(event)), broken);
        }
        let greatest = 1_i64 << 53;
        for (number, broken) in [(greatest - 1, 0), (greatest, 0), (greatest + 2, 1)] {
            assert_eq!(faults(&json!({"a": number})), broken, "{number}");
        }
    }
}
