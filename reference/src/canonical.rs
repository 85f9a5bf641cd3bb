//! The canonical form of JSON, after RFC 8785.
//!
//! The one thing to know: two values have the same canonical form exactly when they mean the same, so that neither the
//! order of keys nor the spelling of a number or a character makes a difference, and nothing else goes unnoticed
//! (AQL-3.2-3).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::json::Value;

/// A number stands for the double next to it in RFC 8785. This one would stand for another number that a reader with
/// larger numbers tells apart: beyond 2^53, or so small that the double is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number that no double carries")]
pub(crate) struct NumberOutOfRange;

/// The canonical form of a number as it is written, where it has one: [`crate::number::canonical`] or
/// [`crate::number::to_the_digit`].
pub(crate) type Numbers = fn(&str) -> Option<String>;

/// Appends the canonical form of a value.
pub(crate) fn write_value(
    form: &mut String,
    value: &Value,
    numbers: Numbers,
) -> Result<(), NumberOutOfRange> {
    match value {
        Value::Null => form.push_str("null"),
        Value::Boolean(true) => form.push_str("true"),
        Value::Boolean(false) => form.push_str("false"),
        Value::Number(written) => {
            let number = numbers(written).ok_or(NumberOutOfRange)?;
            form.push_str(&number);
        }
        Value::String(text) => write_string(form, text),
        Value::Array(elements) => {
            form.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    form.push(',');
                }
                write_value(form, element, numbers)?;
            }
            form.push(']');
        }
        Value::Object(members) => write_object(form, members, numbers)?,
    }
    Ok(())
}

/// RFC 8785 section 3.2.3: sorted by the UTF-16 code units of the keys.
pub(crate) fn write_object(
    form: &mut String,
    members: &BTreeMap<String, Value>,
    numbers: Numbers,
) -> Result<(), NumberOutOfRange> {
    let mut sorted: Vec<_> = members.iter().collect();
    // The map is sorted by code points, which is nearly the same.
    sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    form.push('{');
    for (index, (name, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            form.push(',');
        }
        write_string(form, name);
        form.push(':');
        write_value(form, value, numbers)?;
    }
    form.push('}');
    Ok(())
}

/// RFC 8785 section 3.2.2.2: escaped only where it must be, and then in the shortest way.
pub(crate) fn write_string(form: &mut String, text: &str) {
    form.push('"');
    for character in text.chars() {
        match character {
            '"' => form.push_str("\\\""),
            '\\' => form.push_str("\\\\"),
            '\u{8}' => form.push_str("\\b"),
            '\t' => form.push_str("\\t"),
            '\n' => form.push_str("\\n"),
            '\u{c}' => form.push_str("\\f"),
            '\r' => form.push_str("\\r"),
            '\0'..='\u{1f}' => {
                // Writing to a string does not fail.
                let _ = write!(form, "\\u{:04x}", u32::from(character));
            }
            _plain => form.push(character),
        }
    }
    form.push('"');
}
