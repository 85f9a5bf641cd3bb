//! The members of a JSON object, each as it is written: what may be any JSON is not read until it is asked for.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::milliseconds;
use crate::json;
use crate::surrogates::readable;
use crate::time::Written;

/// The members of an object.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a> {
    members: BTreeMap<String, &'a str>,
}

/// Reads the members of an object.
struct Members;

impl<'a> Visitor<'a> for Members {
    type Value = Fields<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut access: A) -> Result<Fields<'a>, A::Error> {
        let mut fields = Fields::default();
        while let Some((name, raw)) = access.next_entry::<String, &'a RawValue>()? {
            fields.members.insert(name, raw.get());
        }
        Ok(fields)
    }
}

impl<'a> Fields<'a> {
    /// Those of this text; `None` where it is no object. Of two members of one name the last counts.
    pub fn parse(text: &'a str) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let fields = reader.deserialize_map(Members).ok()?;
        reader.end().ok()?;
        Some(fields)
    }

    /// Whether there is one of that name.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// As it is written.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.members.get(name).copied()
    }

    /// A string. Half of a surrogate pair in it is read as the character for what cannot be read.
    pub fn text(&self, name: &str) -> Option<String> {
        text(self.raw(name)?)
    }

    /// `true` or `false`.
    pub fn flag(&self, name: &str) -> Option<bool> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    /// A time, in milliseconds.
    pub fn time(&self, name: &str) -> Option<i64> {
        milliseconds(&self.text(name)?)
    }

    /// A time in any form of ISO 8601 that has an offset, in milliseconds.
    pub fn moment(&self, name: &str) -> Option<i64> {
        let text = self.text(name)?;
        let other = || Written::parse(&text).filter(|it| it.has_zone);
        milliseconds(&text).or_else(|| Some(other()?.at.div_euclid(1_000)))
    }

    /// What the last digit of a time counts, in milliseconds, where that is a second or more, and else 0.
    pub fn coarseness(&self, name: &str) -> i64 {
        let written = self.text(name).and_then(|it| Written::parse(&it));
        written.map_or(0, |it| it.unit / 1_000_000 * 1_000)
    }

    /// Whether a text stands there that may be a time, in whatever form: it has a digit.
    pub fn may_be_time(&self, name: &str) -> bool {
        let text = self.text(name);
        text.is_some_and(|it| it.contains(|it: char| it.is_ascii_digit()))
    }

    /// Its items, each as it is written.
    pub fn array(&self, name: &str) -> Option<Vec<&'a str>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.raw(name)?).ok()?;
        Some(items.into_iter().map(RawValue::get).collect())
    }

    /// Its items, where all of them are strings.
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        self.array(name)?.into_iter().map(text).collect()
    }

    /// The members of the object of that name.
    pub fn object(&self, name: &str) -> Option<Self> {
        Self::parse(self.raw(name)?)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }
}

/// The first name that stands twice in an object of this text, at whatever depth, as far as it can be read; in quotes.
pub fn twice(text: &str) -> Option<String> {
    let text = readable(text.as_bytes());
    let error = json::parse(str::from_utf8(&text).ok()?).err()?.to_string();
    let (name, _) = error
        .strip_prefix("the key ")?
        .rsplit_once(" appears twice")?;
    Some(name.to_owned())
}

/// The string that is written so.
pub fn text(raw: &str) -> Option<String> {
    serde_json::from_slice(&readable(raw.as_bytes())).ok()
}

/// The strings of a value, and its numbers.
pub fn leaves(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Number(number) => take(&number.to_string()),
        Value::Array(items) => items.iter().for_each(|it| leaves(it, take)),
        Value::Object(members) => members.values().for_each(|it| leaves(it, take)),
        Value::Null | Value::Bool(_) => {}
    }
}
