//! The fields of one JSON object, and what is wrong with them.
//!
//! The one thing to know: whatever is read of a record is read through here, and each check notes its fault and yields
//! nothing, so that a reader goes on with the field unknown. An optional field that is null counts as absent.

use std::fmt;

use super::Fault;
use crate::json::tree::{Index, Object, Value};
use crate::monitor::seen::hash;
use crate::rules::Rule;

/// Whether a field has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It has to.
    Required,
    /// It may be absent or null.
    Optional,
}

/// The fields of one object, and where to note what is wrong with them.
pub struct Fields<'a, 'f> {
    members: &'f Index<'a>,
    faults: &'f mut Vec<Fault>,
    rule: &'static Rule,
}

impl<'a, 'f> Fields<'a, 'f> {
    /// The fields of `object`; a fault in one of them breaks `rule`.
    pub fn new(members: &'f Index<'a>, rule: &'static Rule, faults: &'f mut Vec<Fault>) -> Self {
        Self {
            members,
            faults,
            rule,
        }
    }

    /// The same object, with another rule for what follows.
    pub fn under(&mut self, rule: &'static Rule) -> &mut Self {
        self.rule = rule;
        self
    }

    /// Notes a fault.
    pub fn fault(&mut self, message: String) {
        self.faults.push(Fault {
            rule: self.rule,
            column: None,
            message,
        });
    }

    /// The value of a field, if it is there and not null.
    pub fn present(&self, name: &str) -> Option<Value<'a>> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// The value of a field that has to fulfil a condition; `what` says which, as in "a string".
    pub fn value<T>(
        &mut self,
        name: &str,
        need: Need,
        what: impl fmt::Display,
        read: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let Some(value) = self.present(name) else {
            if need == Need::Required {
                self.fault(format!("{name} is missing"));
            }
            return None;
        };
        let read = read(value);
        if read.is_none() {
            self.fault(format!("{name} is not {what}"));
        }
        read
    }

    /// A string.
    pub fn text(&mut self, name: &str, need: Need) -> Option<&'a str> {
        self.value(name, need, "a string", Value::as_str)
    }

    /// The prefix and 1 to 64 ASCII letters or digits.
    pub fn identifier(&mut self, name: &str, prefix: &str) -> Option<&'a str> {
        let text = self.text(name, Need::Required)?;
        if !is_identifier(text, prefix) {
            self.fault(format!(
                "{name} is not {prefix} and 1 to 64 ASCII letters or digits"
            ));
        }
        Some(text)
    }

    /// True or false.
    pub fn flag(&mut self, name: &str, need: Need) -> Option<bool> {
        self.value(name, need, "true or false", Value::as_bool)
    }

    /// A whole number from `least` to `most`.
    pub fn whole(&mut self, name: &str, need: Need, least: i64, most: i64) -> Option<i64> {
        let what = format_args!("a whole number from {least} to {most}");
        self.value(name, need, what, |value| {
            whole(value).filter(|number| (least..=most).contains(number))
        })
    }

    /// An object.
    pub fn object(&mut self, name: &str, need: Need) -> Option<Object<'a>> {
        self.value(name, need, "an object", Value::as_object)
    }

    /// An array of `least` to `most` different strings.
    pub fn texts(
        &mut self,
        name: &str,
        need: Need,
        (least, most): (usize, usize),
    ) -> Option<Vec<&'a str>> {
        let what = format_args!("an array of {least} to {most} different strings");
        self.value(name, need, what, |value| {
            let texts: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
            texts.filter(|texts| (least..=most).contains(&texts.len()) && all_differ(texts))
        })
    }

    /// One of a few words, and what it stands for.
    pub fn one_of<T: Copy>(&mut self, name: &str, need: Need, words: &[(&str, T)]) -> Option<T> {
        let names = Words(words.iter().map(|(word, _)| *word));
        self.value(name, need, names, |value| {
            let text = value.as_str()?;
            let found = words.iter().find(|(word, _)| *word == text);
            found.map(|(_, meaning)| *meaning)
        })
    }

    /// A word of which only the presence matters.
    pub fn word(&mut self, name: &str, need: Need, words: &[&str]) {
        let names = Words(words.iter().copied());
        self.value(name, need, names, |value| {
            words.contains(&value.as_str()?).then_some(())
        });
    }
}

/// Words to choose from, put together only where a fault has to list them.
struct Words<I>(I);

impl<'w, I: Iterator<Item = &'w str> + Clone> fmt::Display for Words<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.0.clone().collect();
        write!(formatter, "one of {}", words.join(", "))
    }
}

/// A number without fraction that a 64-bit integer holds, however it is written.
pub fn whole(value: Value<'_>) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let number = value.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within the range in which each is a float of its own"
    )]
    (number.fract() == 0.0 && number.abs() <= GREATEST_SAFE).then_some(number as i64)
}

/// 2^53, up to which a float tells every whole number from its neighbours.
pub const GREATEST_SAFE: f64 = 9_007_199_254_740_992.0;

/// Whether a text is the prefix and 1 to 64 ASCII letters or digits.
pub fn is_identifier(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        (1..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// A string of 1 to `most` characters.
pub fn has_characters(value: Value<'_>, most: usize) -> bool {
    value
        .as_str()
        .is_some_and(|text| (1..=most).contains(&text.chars().count()))
}

/// All texts within a value, lower case and one after the other.
pub fn all_text(value: Value<'_>) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
        Value::String(text) => text.to_lowercase(),
        Value::Array(items) => items.iter().map(all_text).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => {
            let texts = members.values().map(all_text);
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// The codes within a value, taken apart into words, lower case and one after the other: names that are joined by `_`, `-` or capitals,
/// and short numbers with the names of their members. `TOKEN_NOT_FOUND` is `token not found`, and `"failedCheck":2` is `failed check 2`.
pub fn codes(value: Value<'_>) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
        Value::String(text) => {
            let apart = taken_apart(text);
            if apart == text.to_lowercase() {
                String::new()
            } else {
                apart
            }
        }
        Value::Array(items) => items.iter().map(codes).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => {
            let code = |(name, value)| match whole(value).filter(|it| it.abs() < LONG_NUMBER) {
                Some(number) => format!("{} {number}", taken_apart(name)),
                None => codes(value),
            };
            members.iter().map(code).collect::<Vec<_>>().join("\n")
        }
    }
}

/// `reply_token`, `reply-token`, `replyToken` and `REPLY_TOKEN` as `reply token`.
fn taken_apart(text: &str) -> String {
    let mut apart = String::new();
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        let begins_small = |it: Option<&char>| it.is_some_and(|it| it.is_lowercase());
        let is_hump = next.is_uppercase()
            && (before.is_lowercase() || before.is_uppercase() && begins_small(rest.peek()));
        if is_hump {
            apart.push(' ');
        }
        match next {
            '_' | '-' => apart.push(' '),
            next => apart.extend(next.to_lowercase()),
        }
        before = next;
    }
    apart
}

/// A hash of what a value says: its names, words and short numbers, without ids, times and long numbers, which may differ
/// from one message to the next.
pub fn shape(value: Value<'_>) -> u64 {
    let mut said = String::new();
    say(value, &mut said);
    hash(&said)
}

fn say(value: Value<'_>, said: &mut String) {
    match value {
        Value::Null => said.push_str("null "),
        Value::Bool(flag) => said.push_str(if flag { "true " } else { "false " }),
        Value::Number(_) => {
            let code = whole(value).filter(|it| it.abs() < LONG_NUMBER);
            said.push_str(&code.map_or_else(|| "number ".to_owned(), |it| format!("{it} ")));
        }
        Value::String(text) => {
            for word in text.split_whitespace() {
                let is_id = word.len() > 3 && word.bytes().any(|it| it.is_ascii_digit());
                let is_id = is_id || word.contains("rpl_") || word.contains("sub_");
                said.push_str(if is_id { "id" } else { word });
                said.push(' ');
            }
        }
        Value::Array(items) => items.iter().for_each(|item| say(item, said)),
        Value::Object(members) => {
            for (name, value) in members.iter() {
                said.push_str(name);
                said.push_str(": ");
                if is_of_one_message(name, value) {
                    said.push_str("id ");
                } else {
                    say(value, said);
                }
            }
        }
    }
}

/// Whether the name says that the value is another for each message, however short it is. Words without a digit are words.
fn is_of_one_message(name: &str, value: Value<'_>) -> bool {
    const NAMES: [&str; 11] = [
        "id",
        "trace",
        "traceid",
        "span",
        "spanid",
        "request",
        "requestid",
        "correlation",
        "correlationid",
        "time",
        "timestamp",
    ];
    let name: String = name.chars().filter(|it| it.is_alphanumeric()).collect();
    let has_digit = |text: &str| text.bytes().any(|it| it.is_ascii_digit());
    NAMES.iter().any(|it| name.eq_ignore_ascii_case(it))
        && match value {
            Value::String(text) => !text.contains(char::is_whitespace) && has_digit(text),
            Value::Number(_) => true,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        }
}

/// From here on a number is not a code for something.
const LONG_NUMBER: i64 = 100_000;

fn all_differ(texts: &[&str]) -> bool {
    let mut sorted = texts.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
