//! Arbitrary JSON texts, each on one line: those that may stand in a message, and those that may stand where any JSON may.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use arbitrary::{Arbitrary, Result, Unstructured};

use crate::Json;
use crate::json::VERBATIM;

/// So deep are arrays and objects, but for a text that is nothing but depth.
const LEVELS: u8 = 3;

/// Deeper than JSON readers go by default.
const VERY_DEEP: usize = 200;

/// Numbers that are easily changed on the way.
const NUMBERS: [&str; 7] = [
    "-0",
    "1.0",
    "1e0",
    "0.1E+5",
    "9007199254740993",
    "-9223372036854775809",
    "123456789012345678901234567890",
];

/// Names that appear twice, and names of members that hold any JSON.
const NAMES: [&str; 5] = ["", "a", "id", "arguments", "result"];

/// What a text may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// What every reader reads alike.
    Message,
    /// Whatever JSON's grammar allows: a name twice, half of a surrogate pair, a number that no double carries, any depth.
    Any,
}

/// Any JSON.
impl<'a> Arbitrary<'a> for Json {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        if u.ratio(1, 32)? {
            let text = "[".repeat(VERY_DEEP) + &"]".repeat(VERY_DEEP);
            return read(&text);
        }
        json(u, Form::Any)
    }
}

/// JSON that a message carries as one of its parts.
pub(crate) fn in_message(u: &mut Unstructured<'_>) -> Result<Json> {
    json(u, Form::Message)
}

/// Such JSON, or nothing: null is nothing.
pub(crate) fn in_message_or_none(u: &mut Unstructured<'_>) -> Result<Option<Json>> {
    Ok(Some(in_message(u)?).filter(|it| it.as_str() != "null"))
}

/// Any JSON, or nothing: null is nothing.
pub(crate) fn any_or_none(u: &mut Unstructured<'_>) -> Result<Option<Json>> {
    Ok(Some(Json::arbitrary(u)?).filter(|it| it.as_str() != "null"))
}

/// Any object, or nothing.
pub(crate) fn object_or_none(u: &mut Unstructured<'_>) -> Result<Option<Json>> {
    if u.arbitrary()? {
        return Ok(None);
    }
    let mut text = String::new();
    object(u, Form::Any, LEVELS, &mut text)?;
    read(&text).map(Some)
}

fn json(u: &mut Unstructured<'_>, form: Form) -> Result<Json> {
    let mut text = String::new();
    value(u, form, LEVELS, &mut text)?;
    read(&text)
}

fn read(text: &str) -> Result<Json> {
    serde_json::from_str(text).map_err(|_| arbitrary::Error::IncorrectFormat)
}

fn value(u: &mut Unstructured<'_>, form: Form, levels: u8, to: &mut String) -> Result<()> {
    let is_flat = levels == 0;
    match u.int_in_range(0..=if is_flat { 5 } else { 7 })? {
        0 => to.push_str("null"),
        1 => to.push_str(if u.arbitrary()? { "true" } else { "false" }),
        2 => number(u, form, to)?,
        3 => put(to, format_args!("{}", u.arbitrary::<i64>()?)),
        4 | 5 => {
            let text: &str = u.arbitrary()?;
            string(u, form, text, to)?;
        }
        6 => array(u, form, levels, to)?,
        _ => object(u, form, levels, to)?,
    }
    Ok(())
}

fn number(u: &mut Unstructured<'_>, form: Form, to: &mut String) -> Result<()> {
    let double = f64::from_bits(u.arbitrary()?);
    if form == Form::Any && u.ratio(1, 4)? {
        to.push_str("1e400");
    } else if double.is_finite() && u.arbitrary()? {
        put(to, format_args!("{double:e}"));
    } else {
        to.push_str(u.choose(&NUMBERS)?);
    }
    Ok(())
}

/// A string that means that text, however it is spelled.
fn string(u: &mut Unstructured<'_>, form: Form, text: &str, to: &mut String) -> Result<()> {
    to.push('"');
    let spells = u.arbitrary()?;
    for character in text.chars() {
        match character {
            '/' if spells => to.push_str("\\/"),
            _ if spells || character < ' ' || matches!(character, '"' | '\\') => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    put(to, format_args!("\\u{unit:04x}"));
                }
            }
            _ => to.push(character),
        }
    }
    if form == Form::Any && u.ratio(1, 8)? {
        to.push_str("\\uD800");
    }
    to.push('"');
    Ok(())
}

fn array(u: &mut Unstructured<'_>, form: Form, levels: u8, to: &mut String) -> Result<()> {
    to.push('[');
    for place in 0..u.int_in_range(0..=3_u8)? {
        if place > 0 {
            to.push(',');
        }
        blank(u, to)?;
        value(u, form, levels - 1, to)?;
    }
    blank(u, to)?;
    to.push(']');
    Ok(())
}

fn object(u: &mut Unstructured<'_>, form: Form, levels: u8, to: &mut String) -> Result<()> {
    to.push('{');
    let mut names = BTreeSet::new();
    for _ in 0..u.int_in_range(0..=3_u8)? {
        let name = if u.arbitrary()? {
            *u.choose(&NAMES)?
        } else {
            u.arbitrary()?
        };
        if !names.insert(name) && form == Form::Message {
            continue;
        }
        if names.len() > 1 || !to.ends_with('{') {
            to.push(',');
        }
        blank(u, to)?;
        string(u, form, name, to)?;
        blank(u, to)?;
        to.push(':');
        let within = if VERBATIM.contains(&name) {
            Form::Any
        } else {
            form
        };
        value(u, within, levels - 1, to)?;
    }
    to.push('}');
    Ok(())
}

fn blank(u: &mut Unstructured<'_>, to: &mut String) -> Result<()> {
    to.push_str(u.choose(&["", "", " ", "\t", "\r\n"])?);
    Ok(())
}

/// Writing into a string does not fail.
fn put(to: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(text);
}
