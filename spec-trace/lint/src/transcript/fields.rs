//! The members of a JSON object, each as it is written: what may be any JSON is not read until it is asked for.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::milliseconds;
use crate::surrogates::readable;

/// The members of an object.
#[derive(Debug, Clone, Default)]
pub struct Fields<'a>(BTreeMap<String, &'a str>);

impl<'a> Fields<'a> {
    /// Those of this text; `None` where it is no object. Of two members of one name the last counts.
    pub fn parse(text: &'a str) -> Option<Self> {
        let members: BTreeMap<String, &'a RawValue> = serde_json::from_str(text).ok()?;
        let members = members.into_iter().map(|(name, raw)| (name, raw.get()));
        Some(Self(members.collect()))
    }

    /// Whether there is one of that name.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// As it is written.
    pub fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
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
        self.0.keys().map(String::as_str)
    }
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
