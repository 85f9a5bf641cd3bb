//! What a monitor has to say, and where.

use serde::Serialize;

use super::baseline::fingerprint;
use super::envelope::Places;
pub use super::place::{Excerpt, Here, Place};
use super::rules::{Rule, Weight};
use countersign_clauses as clause;

/// What a report adds to the message of a call when its question comes behind it. It is told later than the finding, and tells it from no
/// other.
pub(crate) const ASKED_BEHIND: &str = "; the question came after it, on line ";

/// What stands in the message of a call that nothing explains before what could have come instead.
pub(crate) const FITS_UP_TO: &str = "; up to line ";

/// The same, right before that.
pub(crate) const INSTEAD: &str = "what it could have gone on with is ";

/// How a call was tied to a confirmation. AAEP-EV-15 wants it said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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

impl TiedBy {
    /// The same in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::ToolCallId => "question and call are tied by tool_call_id",
            Self::Extension => "question and call are tied by extensions.countersign",
            Self::Order => "no id ties question and call; their order admits it",
        }
    }
}

/// One fault.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The clause that describes the fault best.
    pub clause: &'static str,
    /// Its level.
    pub level: &'static str,
    /// The file, where it is another than that of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 1, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The number of its message, from 1, in the order in which they are judged, where others stand on the same line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_number: Option<u64>,
    /// The session, where the record names one.
    pub session: Option<String>,
    /// What was seen and what was expected.
    pub message: String,
    /// Other clauses that the same fault breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<&'static str>,
    /// What it rests on besides what was seen, where that decides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumes: Vec<String>,
    /// What would excuse it, where that does not show: then it is no violation yet, but possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unless: Option<String>,
    /// How the call was tied to the confirmations that were weighed for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tied_by: Option<TiedBy>,
    /// What stays the same when other lines come before it: see [`super::baseline`].
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
    /// What is wrong besides and would not be, were this fault mended: it does not count by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consequences: Vec<Finding>,
    /// The fault of which this is a consequence: its line and clause.
    #[serde(skip)]
    pub follows_from: Option<(u64, &'static str)>,
    /// The line; absent where it must not be shown.
    #[serde(skip)]
    pub place: Option<Place>,
    /// Violation or warning.
    #[serde(skip)]
    pub weight: Weight,
    /// See [`Rule::rests_on_absence`].
    #[serde(skip)]
    pub rests_on_absence: bool,
    /// The line behind which all stands that it rests on, where that is known.
    #[serde(skip)]
    pub since: Option<u64>,
}

impl Finding {
    /// A fault of kind `rule` at `place`.
    ///
    /// # Panics
    ///
    /// Never: a test sees to it that every rule names a clause of the registry.
    pub fn new(
        rule: &Rule,
        place: impl Into<Place>,
        session: Option<&str>,
        message: String,
    ) -> Self {
        let place = place.into();
        Self {
            clause: rule.clause,
            level: clause::get(rule.clause)
                .expect("every rule names a clause")
                .level
                .as_str(),
            file: None,
            line: place.line,
            column: None,
            message_number: None,
            session: session.map(str::to_owned),
            message,
            also: rule.also.to_vec(),
            assumes: Vec::new(),
            unless: None,
            tied_by: None,
            fingerprint: String::new(),
            consequences: Vec::new(),
            follows_from: None,
            place: Some(place),
            weight: rule.weight,
            rests_on_absence: rule.rests_on_absence,
            since: None,
        }
    }

    /// Tells the place in the file in place of the number of the message.
    pub(crate) fn tell_place(&mut self, places: &Places, replies: &str) {
        self.message = places.tell(&self.message, replies);
        for told in self.assumes.iter_mut().chain(&mut self.unless) {
            *told = places.tell(told, replies);
        }
        if let Some((line, is_second)) = places.place(self.line) {
            self.message_number = Some(self.line).filter(|it| places.is_on_shared_line(*it));
            self.line = line;
            self.file = is_second.then(|| replies.to_owned());
        }
        if let Some(place) = &mut self.place {
            place.line = self.line;
            self.column = self.column.and_then(|column| place.column(column));
        }
        for consequence in &mut self.consequences {
            consequence.tell_place(places, replies);
        }
    }

    /// Says what it is told by in a later run.
    pub(crate) fn give_fingerprint(&mut self) {
        self.fingerprint = fingerprint(self);
    }

    /// Whether it may be another in another order of replies and events: something is missing before it, it is about what comes after
    /// what (appendix A), or about which check a reply failed.
    pub(crate) fn may_rest_on_order(&self) -> bool {
        let is_told = self.clause == "AAEP-6.3.4-9";
        self.rests_on_absence || is_told || self.clause.starts_with("AAEP-A.")
    }

    /// What happened, and what was needed instead where the message says so.
    pub fn parts(&self) -> (String, Option<&str>) {
        let Some((what, needed)) = self.message.split_once(INSTEAD) else {
            return (self.message.clone(), None);
        };
        let what = what.rsplit_once(FITS_UP_TO).map_or(what, |(what, _)| what);
        let what = what.trim_end_matches("; ");
        match needed.split_once("; ") {
            Some((needed, more)) => (format!("{what}; {more}"), Some(needed)),
            None => (what.to_owned(), Some(needed)),
        }
    }

    /// What to say behind its line: the number of its message, where it has one.
    pub fn which_message(&self) -> String {
        let number = self.message_number.map(|it| format!(" (message {it})"));
        number.unwrap_or_default()
    }

    /// What to show of its line, where that may be shown.
    pub fn excerpt(&self) -> Option<Excerpt> {
        let place = self.place.as_ref()?;
        Some(place.excerpt(self.column, &self.message))
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

    /// The same, as a consequence of the fault of that clause on that line.
    #[must_use]
    pub fn follows_from(self, line: u64, clause: &'static str) -> Self {
        Self {
            follows_from: Some((line, clause)),
            ..self
        }
    }

    /// The same, and nothing that stands before this line can make a difference to it.
    #[must_use]
    pub fn since(self, line: impl Into<Option<u64>>) -> Self {
        Self {
            since: line.into(),
            ..self
        }
    }

    /// The same, and it rests on this.
    #[must_use]
    pub fn assuming(mut self, assumed: impl IntoIterator<Item = String>) -> Self {
        self.assumes.extend(assumed);
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
