//! A text as JSON has it.
//!
//! The one thing to know: JSON can escape half of a surrogate pair by itself (RFC 8259, section 8.2), which no `String` holds. Such a
//! text is another than any that stands for it, and is put out as it came, escaped.

use std::fmt;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Whether nobody sees anything of a text (AAEP-EV-5, PA-1, PA-2, PA-9): it holds nothing but white space, controls, and what Unicode
/// gives no width.
pub(crate) fn is_blank(text: &str) -> bool {
    let is_unseen = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(
                character,
                '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            )
    };
    text.chars().all(is_unseen)
}

/// A text, as the UTF-16 code units that it was written with. Two are the same where these are.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Vec<u16>);

impl Text {
    pub(crate) fn of_code_units(units: Vec<u16>) -> Self {
        Self(units)
    }

    /// How many characters it has. Half of a surrogate pair by itself is one.
    pub fn characters(&self) -> usize {
        char::decode_utf16(self.0.iter().copied()).count()
    }

    /// The text, if it has whole characters alone.
    pub fn whole(&self) -> Option<String> {
        String::from_utf16(&self.0).ok()
    }

    /// The text in JSON, with its quotes. What is no whole character is escaped.
    fn written(&self) -> serde_json::Result<String> {
        let mut written = String::from("\"");
        for character in char::decode_utf16(self.0.iter().copied()) {
            match character {
                Ok(character) => {
                    let quoted = serde_json::to_string(&character)?;
                    written.push_str(&quoted[1..quoted.len() - 1]);
                }
                Err(half) => {
                    let escaped = format!("\\u{:04x}", half.unpaired_surrogate());
                    written.push_str(&escaped);
                }
            }
        }
        Ok(written + "\"")
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.encode_utf16().collect())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0.iter().copied().eq(other.encode_utf16())
    }
}

/// As it is written in JSON.
impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written().map_err(|_| fmt::Error)?)
    }
}

/// In JSON a string, with what is no whole character escaped.
impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.whole() {
            return serializer.serialize_str(&text);
        }
        let raw = self.written().and_then(RawValue::from_string);
        raw.map_err(S::Error::custom)?.serialize(serializer)
    }
}
