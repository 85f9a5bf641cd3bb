//! Requests of the driver protocol: from bytes to fields, read strictly.
//!
//! The one thing to know: fields are *taken*. Whoever reads a request takes the fields that it knows, and
//! [`Fields::finish`] reports what is left over, so that a misspelt field is an error and not a default.

use std::str;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};
use serde_json::{Map, Value};

use countersign_lint::json;

/// How many characters of an offending value a message quotes.
const QUOTED: usize = 60;

/// Why a request cannot be carried out: the place, what was expected, and what was there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadRequest(pub String);

/// The fields of an object that have not been taken yet.
#[derive(Clone, Debug)]
pub struct Fields {
    /// What stands before the name of a field in a message: empty, or such as `action.`.
    path: String,
    rest: Map<String, Value>,
    /// Every name that was asked for, whether it was there or not.
    known: Vec<&'static str>,
}

impl Fields {
    /// Reads a line as one JSON object in which no key appears twice. The values of the fields in `verbatim` come as
    /// texts, as they are written: see [`json::parse_keeping`].
    ///
    /// # Errors
    ///
    /// Where it is anything else.
    pub fn parse(line: &[u8], verbatim: &[&str]) -> Result<Self, BadRequest> {
        let text = str::from_utf8(line).map_err(|error| {
            let column = error.valid_up_to() + 1;
            BadRequest(format!("column {column}: expected UTF-8"))
        })?;
        if text.trim_ascii().is_empty() {
            return Err(BadRequest(
                "expected a JSON object, found nothing".to_owned(),
            ));
        }
        match json::parse_keeping(text, verbatim).map_err(|error| not_json(&error))? {
            Value::Object(rest) => Ok(Self {
                path: String::new(),
                rest,
                known: Vec::new(),
            }),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)) => Err(BadRequest(format!(
                "expected a JSON object, found {}",
                quoted(&other)
            ))),
        }
    }

    /// Takes a field that may be absent. A null is not absent, it is a value of the wrong type.
    pub fn optional(&mut self, name: &'static str) -> Option<Field> {
        self.known.push(name);
        let value = self.rest.remove(name)?;
        Some(Field {
            place: format!("{}{name}", self.path),
            value,
        })
    }

    /// Takes a field that must be there.
    ///
    /// # Errors
    ///
    /// Where it is not.
    pub fn required(&mut self, name: &'static str) -> Result<Field, BadRequest> {
        self.optional(name)
            .ok_or_else(|| BadRequest(format!("`{}{name}` is missing", self.path)))
    }

    /// All fields have been taken.
    ///
    /// # Errors
    ///
    /// Where one is left over.
    pub fn finish(self) -> Result<(), BadRequest> {
        match self.rest.keys().next() {
            None => Ok(()),
            Some(name) => Err(BadRequest(format!(
                "unknown field `{}{name}`: expected only {}",
                self.path,
                listed(&self.known)
            ))),
        }
    }
}

/// One field, with the place that messages name.
#[derive(Clone, Debug)]
pub struct Field {
    place: String,
    value: Value,
}

impl Field {
    /// The value as text.
    ///
    /// # Errors
    ///
    /// Where it is no string.
    pub fn text(self) -> Result<String, BadRequest> {
        match self.value {
            Value::String(text) => Ok(text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => Err(self.not("a string")),
        }
    }

    /// The text that a verbatim field stands for. A string holds that text, for drivers whose JSON library cannot write
    /// what is to be sent; everything else is the text itself, and so is a string that stands for no text.
    ///
    /// # Errors
    ///
    /// Where the field is not one of those that [`Fields::parse`] was told to keep verbatim.
    pub fn verbatim(self) -> Result<String, BadRequest> {
        let written = self.text()?;
        Ok(serde_json::from_str(&written).unwrap_or(written))
    }

    /// The value as a word out of a list or a grammar, such as a decision, an identifier or a time.
    ///
    /// # Errors
    ///
    /// Where it is no string, or no such word.
    pub fn word<T: for<'de> Deserialize<'de>>(self) -> Result<T, BadRequest> {
        let place = self.place.clone();
        let text = self.text()?;
        T::deserialize(StrDeserializer::<Error>::new(&text)).map_err(|error| {
            let found = quoted(&Value::String(text.clone()));
            BadRequest(format!("`{place}` is {found}: {error}"))
        })
    }

    /// The value as anything else that JSON can be read as; `expected` says what, in words.
    ///
    /// # Errors
    ///
    /// Where it cannot be read so.
    pub fn read<T: DeserializeOwned>(self, expected: &str) -> Result<T, BadRequest> {
        T::deserialize(&self.value).map_err(|_| self.not(expected))
    }

    /// The value as a truth value.
    ///
    /// # Errors
    ///
    /// Where it is neither true nor false.
    pub fn flag(self) -> Result<bool, BadRequest> {
        self.value
            .as_bool()
            .ok_or_else(|| self.not("true or false"))
    }

    /// The value as a number.
    ///
    /// # Errors
    ///
    /// Where it has a fraction, is negative, or does not fit into 64 bits.
    pub fn whole_number(self) -> Result<u64, BadRequest> {
        self.value
            .as_u64()
            .ok_or_else(|| self.not("a whole number, 0 or more"))
    }

    /// The value as a list of texts.
    ///
    /// # Errors
    ///
    /// Where it is no array, or an element is no string.
    pub fn texts(self) -> Result<Vec<String>, BadRequest> {
        let texts = self.value.as_array().and_then(|elements| {
            let texts = elements
                .iter()
                .map(|element| element.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        });
        texts.ok_or_else(|| self.not("an array of strings"))
    }

    /// The value as an object, whose fields are now to be taken.
    ///
    /// # Errors
    ///
    /// Where it is no object.
    pub fn object(self) -> Result<Fields, BadRequest> {
        match self.value {
            Value::Object(rest) => Ok(Fields {
                path: format!("{}.", self.place),
                rest,
                known: Vec::new(),
            }),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Err(self.not("an object")),
        }
    }

    /// The complaint that this field should have been something else.
    pub fn not(&self, expected: &str) -> BadRequest {
        let Self { place, value } = self;
        BadRequest(format!(
            "`{place}` is {}: expected {expected}",
            quoted(value)
        ))
    }
}

/// The complaint that there is no such op, beside the `ops` of the protocol.
pub fn unknown_op(op: &str, ops: &[&str]) -> BadRequest {
    BadRequest(format!(
        "`op` is {op:?}: expected `hello`, `reset`, {}",
        listed(ops)
    ))
}

/// Names in backquotes with commas between them.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// What the parser says, with the column alone: every request is one line.
fn not_json(error: &serde_json::Error) -> BadRequest {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let place = format!(" at line {line} column {column}");
    let reason = message.strip_suffix(&place).unwrap_or(&message);
    BadRequest(format!("column {column}: expected a JSON object: {reason}"))
}

/// The value as JSON, or its beginning where it is long.
fn quoted(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
