//! What a monitor has to say, and where.

use std::sync::Arc;

use serde::Serialize;

use super::rules::{Rule, Weight};
use crate::clause;

/// Columns of a line that a finding shows.
const EXCERPT: usize = 100;

/// A line of the input, kept as long as something may still be said about it.
#[derive(Debug, Clone)]
pub struct Place {
    /// The number of the line, from 1.
    pub line: u64,
    /// The beginning of the line, printable.
    pub excerpt: Arc<str>,
}

impl Place {
    /// The place of a line that reads `bytes`.
    pub fn new(line: u64, bytes: &[u8]) -> Self {
        // A character takes at most four bytes, so these hold one more than is shown.
        let start = &bytes[..bytes.len().min(4 * (EXCERPT + 1))];
        let text = String::from_utf8_lossy(start);
        let mut excerpt: String = text
            .trim_end()
            .chars()
            .take(EXCERPT)
            .map(printable)
            .collect();
        if text.trim_end().chars().nth(EXCERPT).is_some() {
            excerpt.push('…');
        }
        Self {
            line,
            excerpt: excerpt.into(),
        }
    }
}

/// Control characters would reach the terminal of whoever reads the report.
fn printable(character: char) -> char {
    if character.is_control() || turns_the_text(character) {
        '\u{FFFD}'
    } else {
        character
    }
}

/// Whether the character is shown as nothing and changes the direction of what follows it, so that a line could be made
/// to look like another.
pub(crate) fn turns_the_text(character: char) -> bool {
    matches!(
        character,
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    )
}

/// How a call was tied to a confirmation. AAEP-EV-15 wants it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Hash)]
pub enum TiedBy {
    /// `extra_context.tool_call_id` of the confirmation is the `tool_call_id` of the call.
    #[serde(rename = "tool_call_id")]
    ToolCallId,
    /// Both name the same token or action under `extensions.countersign`.
    #[serde(rename = "extensions.countersign")]
    Extension,
    /// No id ties them; the order of events admits it.
    #[serde(rename = "order")]
    Order,
}

/// One fault.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The clause that describes the fault best.
    pub clause: &'static str,
    /// Its level.
    pub level: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 1, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The session, where the record names one.
    pub session: Option<String>,
    /// What was seen and what was expected.
    pub message: String,
    /// Other clauses that the same fault breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<&'static str>,
    /// How the call was tied to the confirmations that were weighed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tied_by: Option<TiedBy>,
    /// The beginning of the line.
    #[serde(skip)]
    pub excerpt: Arc<str>,
    /// Violation or warning.
    #[serde(skip)]
    pub weight: Weight,
    /// See [`Rule::rests_on_absence`].
    #[serde(skip)]
    pub rests_on_absence: bool,
}

impl Finding {
    /// A fault of kind `rule` at `place`.
    ///
    /// # Panics
    ///
    /// Never: a test sees to it that every rule names a clause of the registry.
    pub fn new(rule: &Rule, place: &Place, session: Option<&str>, message: String) -> Self {
        Self {
            clause: rule.clause,
            level: clause::get(rule.clause)
                .expect("every rule names a clause")
                .level
                .as_str(),
            line: place.line,
            column: None,
            session: session.map(str::to_owned),
            message,
            also: rule.also.to_vec(),
            tied_by: None,
            excerpt: Arc::clone(&place.excerpt),
            weight: rule.weight,
            rests_on_absence: rule.rests_on_absence,
        }
    }

    /// The same, with the byte at which it lies.
    #[must_use]
    pub fn at_column(self, column: Option<u64>) -> Self {
        Self { column, ..self }
    }

    /// The same, and it breaks these clauses too.
    #[must_use]
    pub fn and_also(mut self, clauses: &[&'static str]) -> Self {
        for clause in clauses {
            if *clause != self.clause && !self.also.contains(clause) {
                self.also.push(clause);
            }
        }
        self
    }

    /// The same, with how the call was tied.
    #[must_use]
    pub fn tied_by(self, tied_by: TiedBy) -> Self {
        Self {
            tied_by: Some(tied_by),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_only_beyond_its_width_and_shows_no_control_characters() {
        for (length, shown) in [(99, 99), (100, 100), (101, 101)] {
            let place = Place::new(1, "é".repeat(length).as_bytes());
            assert_eq!(place.excerpt.chars().count(), shown);
            assert_eq!(place.excerpt.ends_with('…'), length > EXCERPT);
        }
        assert_eq!(
            &*Place::new(1, b"a\x1b[2Jb\xff\n").excerpt,
            "a\u{FFFD}[2Jb\u{FFFD}"
        );
    }
}
