//! The arguments of a call: exactly the text that was proposed, and what it means.
//!
//! The one thing to know: the text is kept and handed to the tool byte for byte (PA-3); it is only ever read to see
//! that it is JSON with one meaning, and whether another text means the same.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::canonical::write_value;
use crate::json::{self, NotJson, Tree};
use crate::number;

/// The most bytes that arguments may have.
pub const MAX_ARGUMENTS_BYTES: usize = 1024 * 1024;

/// A text as it was received, untouched: arguments that nobody has read yet, or what a tool has returned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(Arc<str>);

/// The arguments of a call: the text of one JSON value without a key twice, as it was proposed (PA-3).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Arguments(Text);

/// Why a text is no arguments. It names what is wrong and where, never what stands there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotArguments {
    /// Too long to be read at all.
    #[error("longer than {MAX_ARGUMENTS_BYTES} bytes")]
    TooLong,
    /// Not one JSON value, or one that says two things at once.
    #[error(transparent)]
    NotJson(#[from] NotJson),
}

impl Text {
    /// That text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as received.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Arguments {
    /// Reads a text to see that it is one JSON value, and keeps it as it is.
    ///
    /// # Errors
    ///
    /// [`NotArguments`] says what else it is.
    pub fn parse(text: Text) -> Result<Self, NotArguments> {
        read(&text)?;
        Ok(Self(text))
    }

    /// The text, byte for byte as it was proposed.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether another text says the same: as it stands, or in canonical form (PA-3).
    ///
    /// A whole number in full is taken to the digit, so that an id of 64 bits is itself with other white space around it; any other
    /// as its double. A number that no double carries is the same only as part of the very same text.
    pub fn means(&self, other: &Text) -> bool {
        let canonical = |text: &Text| -> Option<String> {
            let mut form = String::with_capacity(text.0.len());
            write_value(&mut form, read(text).ok()?.value(), number::whole_or_double).ok()?;
            Some(form)
        };
        self.0 == *other || canonical(&self.0).is_some_and(|form| canonical(other) == Some(form))
    }
}

/// The value that a text is. PA-3: whatever its type, for a tool may take any.
fn read(text: &Text) -> Result<Tree<'_>, NotArguments> {
    if text.0.len() > MAX_ARGUMENTS_BYTES {
        return Err(NotArguments::TooLong);
    }
    Ok(json::parse_shallow(text.0.as_bytes())?)
}

impl TryFrom<Text> for Arguments {
    type Error = NotArguments;

    fn try_from(text: Text) -> Result<Self, NotArguments> {
        Self::parse(text)
    }
}

impl From<Arguments> for Text {
    fn from(arguments: Arguments) -> Self {
        arguments.0
    }
}
