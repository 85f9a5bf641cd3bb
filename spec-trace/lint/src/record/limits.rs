//! AAEP-EV-10: the soft limits of size and nesting.
//!
//! Where the text leaves open how to count, the producer gets the better of it: the size is that of the event without
//! any white space, and depth counts the objects and arrays within the event.

use std::fmt;

use serde_json::Number;

use super::Fault;
use super::fields::GREATEST_SAFE;
use crate::json::tree::{Object, Shape};
use crate::rules;

const EVENT_BYTES: usize = 64 << 10;
const TEXT_BYTES: usize = 16 << 10;
const DEPTH: usize = 8;
const FIELDS: usize = 32;

/// Judges the size of an event.
pub fn judge(event: Object<'_>, faults: &mut Vec<Fault>) {
    if is_modest(event) {
        return;
    }
    let (mut bytes, mut longest_text, mut depth) = (0, 0, 0);
    let mut unsafe_number = false;
    event.measure(&mut |value| {
        // The quotes of a name and its colon, and behind a field of the event a comma or a bracket.
        bytes += value.name.map_or(0, |name| name + 3) + usize::from(value.depth == 0);
        match value.shape {
            Shape::Word => bytes += 4,
            Shape::Number(number) => {
                bytes += 1;
                unsafe_number |= is_unsafe(number);
            }
            Shape::String(length) => {
                bytes += length + 2;
                longest_text = longest_text.max(length);
            }
            Shape::Nested => {
                bytes += 2;
                depth = depth.max(value.depth + 1);
            }
        }
    });
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

/// Whether it takes no measuring to see that an event breaks no limit: it is part of a short text and has few values in
/// it, however they are nested.
fn is_modest(event: Object<'_>) -> bool {
    let (mut values, mut nested) = (0, 0);
    let mut unsafe_number = false;
    for shape in event.shapes() {
        values += 1;
        match shape {
            Shape::Word | Shape::String(_) => {}
            Shape::Number(number) => unsafe_number |= is_unsafe(number),
            Shape::Nested => nested += 1,
        }
    }
    event.text_length() <= TEXT_BYTES && values <= FIELDS && nested <= DEPTH && !unsafe_number
}

/// A whole number that a double may not tell from its neighbours.
fn is_unsafe(number: &Number) -> bool {
    if number
        .as_i64()
        .is_some_and(|whole| whole.unsigned_abs() <= 1 << 53)
    {
        return false;
    }
    let value = number.as_f64().unwrap_or_default();
    value.fract() == 0.0 && value.abs() > GREATEST_SAFE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tree;
    use serde_json::{Map, Value, json};

    fn faults(event: &Value) -> usize {
        let mut faults = Vec::new();
        let text = event.to_string();
        let mut room = tree::Room::default();
        let event = tree::parse(&text, &mut room).expect("JSON");
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
