//! JSON that says no to duplicate keys.
//!
//! Readers differ on which of two equal keys counts, so a record with duplicates has no one meaning and is broken.

pub mod tree;

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::{Map, Number, Value};

/// Parses one JSON text.
///
/// # Errors
///
/// The parser's error, with the column (in bytes, from 1) where it gave up: not JSON, a duplicate key, or more than 128
/// levels deep.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    parse_keeping(text, &[])
}

/// Parses one JSON text, and of its members with the names in `verbatim` keeps the text: such a member becomes a string
/// that holds its value as it is written. Only its grammar is checked, so it may be as deep and its numbers as large as
/// they like, and say two things at once.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_keeping(text: &str, verbatim: &[&str]) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut value = Strict { verbatim }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    for name in verbatim {
        if let (Some(member), Some(written)) = (value.get_mut(name), member_text(text, name)) {
            *member = Value::String(written.to_owned());
        }
    }
    Ok(value)
}

/// The text of a member of an object that is known to be well-formed.
fn member_text<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = object.trim_start().strip_prefix('{')?;
    loop {
        let (key, after_key) = first::<String>(rest)?;
        let value_on = after_key.trim_start().strip_prefix(':')?;
        let (_, after_value) = first::<IgnoredAny>(value_on)?;
        if key == name {
            let written = value_on.strip_suffix(after_value)?;
            return Some(written.trim_ascii());
        }
        rest = after_value.trim_start().strip_prefix(',')?;
    }
}

/// The value that the text begins with, and the text after it.
fn first<T: DeserializeOwned>(text: &str) -> Option<(T, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// A value in which no key appears twice.
struct Strict<'a> {
    /// The names of those members of the outermost object whose values are only skipped, and become null.
    verbatim: &'a [&'a str],
}

impl Strict<'_> {
    /// What lies within another value.
    const WITHIN: Self = Self { verbatim: &[] };
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Self::WITHIN)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
            let value = if self.verbatim.contains(&key.as_str()) {
                entries.next_value::<IgnoredAny>()?;
                Value::Null
            } else {
                entries.next_value_seed(Self::WITHIN)?
            };
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_as_they_went_in() {
        let text = r#"{"a":[1,-2,0.5,null,true,"x"],"b":{"c":18446744073709551615}}"#;
        assert_eq!(parse(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_duplicate_key_is_an_error_at_any_depth_and_names_its_column() {
        let error = parse(r#"{"a":{"b":1,"b":1}}"#).unwrap_err();
        assert!(error.to_string().contains("\"b\" appears twice"), "{error}");
        assert!((12..=18).contains(&error.column()), "{}", error.column());
        assert!(parse(r#"{"a":{"b":1},"b":1}"#).is_ok());
    }

    #[test]
    fn a_member_is_kept_as_it_is_written_and_only_in_the_outermost_object() {
        for written in [
            "1e400",
            "9007199254740993",
            r#"{"a":1,"a":2}"#,
            r#""\ud800""#,
            r#"{ "b" : [1, 2], "a" : "}\"" }"#,
            "null",
            &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        ] {
            let text = format!(
                " {{ \"x\" : {{\"kept\":[1,{{}}]}},\t\"k\\u0065pt\" : {written} ,\"y\":[]}} "
            );
            let value = parse_keeping(&text, &["absent", "kept"]).unwrap();
            assert_eq!(value["kept"], written);
            assert_eq!(value["x"]["kept"].to_string(), "[1,{}]");
            assert_eq!(value.as_object().unwrap().len(), 3);
        }
    }

    #[test]
    fn a_member_that_is_kept_is_json_and_appears_once() {
        let error = |text| parse_keeping(text, &["kept"]).unwrap_err().to_string();
        assert!(error(r#"{"kept":{"a":}}"#).contains("column 14"));
        assert!(error(r#"{"kept":[}"#).contains("column 10"));
        assert!(error(r#"{"kept":1,"kept":1}"#).contains("\"kept\" appears twice"));
        assert!(error(r#"{"a":{"kept":1,"kept":1}}"#).contains("\"kept\" appears twice"));
        assert_eq!(parse_keeping("[1]", &["kept"]).unwrap().to_string(), "[1]");
        assert_eq!(parse_keeping("{}", &["kept"]).unwrap().to_string(), "{}");
    }

    #[test]
    fn rubbish_after_the_value_and_bottomless_nesting_are_errors() {
        assert!(parse("{} {}").is_err());
        assert!(parse(&"[".repeat(100_000)).is_err());
    }
}
