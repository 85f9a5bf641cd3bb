//! The canonical form of JSON, after RFC 8785.
//!
//! The one thing to know: two values have the same canonical form exactly when they mean the same, so that neither the
//! order of keys nor the spelling of a number or a character makes a difference, and nothing else goes unnoticed
//! (AQL-3.2-3).

use std::fmt::Write as _;

use crate::json::{Node, Value};

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
    value: Value<'_, '_>,
    numbers: Numbers,
) -> Result<(), NumberOutOfRange> {
    write_members(form, value, |_| true, numbers)
}

/// The same, of an object with the members alone whose names fulfil that, and of anything else in full.
pub(crate) fn write_members(
    form: &mut String,
    value: Value<'_, '_>,
    is_kept: impl Fn(&str) -> bool,
    numbers: Numbers,
) -> Result<(), NumberOutOfRange> {
    // What is left to write, in the place of recursion: the value may be as deep as it is long.
    let mut left = Vec::new();
    begin(form, value, is_kept, numbers, &mut left)?;
    while let Some(next) = left.pop() {
        match next {
            Left::Mark(mark) => form.push(mark),
            Left::Name(name) => {
                write_string(form, name);
                form.push(':');
            }
            Left::Value(value) => begin(form, value, |_| true, numbers, &mut left)?,
        }
    }
    Ok(())
}

/// Something to write.
enum Left<'t, 'a> {
    Mark(char),
    Name(&'t str),
    Value(Value<'t, 'a>),
}

/// Appends a value that holds no other, or the bracket that opens one which may, and leaves the rest of that: the last comes
/// first.
fn begin<'t, 'a>(
    form: &mut String,
    value: Value<'t, 'a>,
    is_kept: impl Fn(&str) -> bool,
    numbers: Numbers,
    left: &mut Vec<Left<'t, 'a>>,
) -> Result<(), NumberOutOfRange> {
    let before = left.len();
    match value.node() {
        Node::Null => form.push_str("null"),
        Node::Boolean(true) => form.push_str("true"),
        Node::Boolean(false) => form.push_str("false"),
        Node::Number(written) => {
            let number = numbers(written).ok_or(NumberOutOfRange)?;
            form.push_str(&number);
        }
        Node::String(text) => write_string(form, text),
        Node::Array { .. } => {
            form.push('[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    left.push(Left::Mark(','));
                }
                left.push(Left::Value(element));
            }
            left.push(Left::Mark(']'));
        }
        Node::Object { .. } => {
            form.push('{');
            let mut sorted: Vec<_> = value.members().filter(|(name, _)| is_kept(name)).collect();
            // RFC 8785 section 3.2.3: by the UTF-16 code units of the names.
            sorted.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    left.push(Left::Mark(','));
                }
                left.extend([Left::Name(name), Left::Value(value)]);
            }
            left.push(Left::Mark('}'));
        }
    }
    left[before..].reverse();
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
