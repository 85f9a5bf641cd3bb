//! A JSON value that borrows from its text: what reading many records needs.
//!
//! Strings without escapes are parts of the text, and the members of an object stand in a row as they were written: an
//! object of a record has a dozen, and looking along them is faster than any index.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

/// From how many members on an object is checked for duplicates with an index, so that a hostile one takes no more than
/// its share of time.
const INDEXED_FROM: usize = 32;

/// How many members are made room for at once.
const USUAL_MEMBERS: usize = 16;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// The members of an object, in the order of the text. No two have the same name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// Parses one JSON text.
///
/// # Errors
///
/// The parser's error, with the column (in bytes, from 1) where it gave up: not JSON, a duplicate key, or more than 128
/// levels deep.
pub fn parse(text: &str) -> serde_json::Result<Value<'_>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Tree.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

impl<'a> Value<'a> {
    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Which of the two it is.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            Self::Null | Self::Number(_) | Self::String(_) | Self::Array(_) | Self::Object(_) => {
                None
            }
        }
    }

    fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::Null | Self::Bool(_) | Self::String(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// A whole number that was written as one and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// A whole number that was written as one and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The double next to a number.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        match self {
            Self::Array(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Object(_) => {
                None
            }
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Array(_) => None,
        }
    }

    /// The member of that name, if this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        self.as_object()?.get(name)
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Whether it is `true` or `false`.
    pub fn is_boolean(&self) -> bool {
        self.as_bool().is_some()
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        self.as_number().is_some()
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        self.as_str().is_some()
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.as_object().is_some()
    }
}

impl<'a> Object<'a> {
    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value)
    }

    /// Whether there is a member of that name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The members, as they were written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// The names, as they were written.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// The values, as they were written.
    pub fn values(&self) -> impl Iterator<Item = &Value<'a>> {
        self.iter().map(|(_, value)| value)
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

struct Tree;

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'de>, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        Ok(Value::Number(number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Tree)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value<'de>, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Value<'de>)> = Vec::new();
        let mut index = BTreeSet::new();
        while let Some(key) = entries.next_key_seed(Key)? {
            let is_double = if members.len() < INDEXED_FROM {
                members.iter().any(|(name, _)| *name == key)
            } else {
                if index.is_empty() {
                    index.extend(members.iter().map(|(name, _)| name.clone()));
                }
                !index.insert(key.clone())
            };
            if is_double {
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
            if members.is_empty() {
                members.reserve(USUAL_MEMBERS);
            }
            members.push((key, entries.next_value_seed(Tree)?));
        }
        Ok(Value::Object(Object(members)))
    }
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same value as the other parser of this crate makes of it.
    fn owned(value: &Value<'_>) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => number.clone().into(),
            Value::String(text) => (&**text).into(),
            Value::Array(items) => items.iter().map(owned).collect(),
            Value::Object(members) => {
                let members = members.iter();
                members
                    .map(|(key, value)| (key.to_owned(), owned(value)))
                    .collect()
            }
        }
    }

    #[test]
    fn it_reads_and_refuses_what_the_other_parser_reads_and_refuses() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for text in [
            r#"{"a":[1,-2,0.5,null,true,"x\n\u00e9"],"b":{"c":18446744073709551615},"\u0064":1e3}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":1e999}"#,
            r#"{"a":123456789012345678901234567890}"#,
            r#"{"a":"\ud800"}"#,
            "{\"a\":\"\0\"}",
            "{} {}",
            "",
            "[1,]",
            &deep(127),
            &deep(128),
            &deep(129),
            &"[".repeat(100_000),
            &"{\"a\":".repeat(100_000),
        ] {
            match (parse(text), crate::json::parse(text)) {
                (Ok(one), Ok(other)) => assert_eq!(owned(&one), other),
                (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
                (one, other) => panic!("{text:.60}: {one:?}, {other:?}"),
            }
        }
    }

    #[test]
    fn strings_without_escapes_are_parts_of_the_text() {
        let value = parse(r#"{"plain":"text","escaped":"\n"}"#).unwrap();
        assert!(matches!(
            value.get("plain"),
            Some(Value::String(Cow::Borrowed("text")))
        ));
        assert!(matches!(
            value.get("escaped"),
            Some(Value::String(Cow::Owned(_)))
        ));
    }

    #[test]
    fn a_duplicate_is_found_among_few_members_and_among_many() {
        for others in [0, INDEXED_FROM - 1, INDEXED_FROM, INDEXED_FROM + 1, 100_000] {
            let members = |last: &str| {
                let middle: Vec<String> = (0..others).map(|it| format!("\"{it}\":1,")).collect();
                let middle = middle.concat();
                format!("{{\"a\":1,{middle}\"{last}\":1}}")
            };
            assert!(parse(&members("b")).is_ok());
            let error = parse(&members("a")).unwrap_err().to_string();
            assert!(error.contains("\"a\" appears twice"), "{error}");
        }
    }
}
