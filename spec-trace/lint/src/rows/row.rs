//! One row: what stands in its columns, and what that may mean.
//!
//! The one thing to know: null says that there is nothing, and so does what exports and programs write for it; a column that is left
//! out says nothing. Times are exact to their last digit alone: what could be the same moment is not before another.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::envelope::Pointer;
use crate::time::{Timestamp, Written};
use crate::transcript::{differs, is_blank, text};

/// Where the columns stand in a row, as the table `[row]` of a mapping says it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    id: Option<Pointer>,
    session: Option<Pointer>,
    agent: Option<Pointer>,
    tool: Option<Pointer>,
    effect: Option<Pointer>,
    label: Option<Pointer>,
    arguments: Option<Pointer>,
    approved_arguments: Option<Pointer>,
    executed_arguments: Option<Pointer>,
    status: Option<Pointer>,
    decision: Option<Pointer>,
    decider: Option<Pointer>,
    deciders: Option<Pointer>,
    created_at: Option<Pointer>,
    expires_at: Option<Pointer>,
    decided_at: Option<Pointer>,
    executed_at: Option<Pointer>,
    executions: Option<Pointer>,
    /// What words of the table's own mean, in `status`, `decision` and `effect`.
    words: BTreeMap<String, Meaning>,
}

/// What a word of a table means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
enum Meaning {
    State(State),
    Effect(Effect),
}

impl TryFrom<String> for Meaning {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        let known = word.to_ascii_lowercase();
        let state = State::named(&known).map(Self::State);
        let meaning = state.or_else(|| Effect::named(&known).map(Self::Effect));
        meaning.ok_or_else(|| {
            format!(
                "{word:?} is no meaning: `status` and `decision` know pending, allowed, executed, denied, cancelled and expired, \
                 `effect` knows read, write, destructive and external"
            )
        })
    }
}

/// What may have become of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody has decided.
    Pending,
    /// It may run, or is running.
    Allowed,
    /// It ran, well or not.
    Executed,
    /// It was denied.
    Denied,
    /// It was taken back.
    Cancelled,
    /// Its question has closed.
    Expired,
}

impl State {
    /// Its name in a mapping.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Executed => "executed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }

    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "pending" => Self::Pending,
            "allow" | "allowed" | "approve" | "approved" | "accept" | "accepted" => Self::Allowed,
            "executed" => Self::Executed,
            "deny" | "denied" | "reject" | "rejected" => Self::Denied,
            "cancel" | "cancelled" | "canceled" | "deleted" => Self::Cancelled,
            "expired" | "timeout" | "timed_out" => Self::Expired,
            _ => return None,
        })
    }
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Nothing is said of it.
    Absent,
    /// There is nothing.
    Null,
    /// This, as JSON.
    Is(String),
}

impl Cell {
    /// The value, as it is written.
    pub fn raw(&self) -> Option<&str> {
        match self {
            Self::Is(raw) => Some(raw),
            Self::Absent | Self::Null => None,
        }
    }

    /// Whether there is nothing, and that is said.
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// The same, where an empty string, and a word by which exports write it, stand for nothing.
    fn said(self) -> Self {
        let is_nothing = |it: String| is_blank(&it) || ["NULL", "\\N"].contains(&&*it);
        match self.raw() {
            Some(raw) if raw == "null" || text(raw).is_some_and(is_nothing) => Self::Null,
            _ => self,
        }
    }

    /// The value as text, be it that of a number. What is neither names nothing.
    fn text(&self) -> Option<String> {
        let raw = self.raw()?;
        let is_plain = raw.starts_with(|it: char| it == '-' || it.is_ascii_digit());
        text(raw).or_else(|| is_plain.then(|| raw.to_owned()))
    }

    /// Whether both are there and mean something else.
    pub fn differs(&self, other: &Self) -> bool {
        let both = self.raw().zip(other.raw());
        both.is_some_and(|(one, other)| differs(one, other))
    }

    /// Whether it may be arguments, or a text of them: what is no JSON says nothing of them, nor does a yes or no.
    pub fn may_be_arguments(&self) -> bool {
        let is_json = |it: String| serde_json::from_str::<IgnoredAny>(&it).is_ok();
        self.raw()
            .is_some_and(|raw| !["true", "false"].contains(&raw) && text(raw).is_none_or(is_json))
    }

    /// The value as text, and what is no text as it is written.
    pub fn written(&self) -> Option<String> {
        self.text().or_else(|| self.raw().map(str::to_owned))
    }
}

/// Numbers below these are seconds, milliseconds and microseconds since 1970.
const SECONDS: f64 = 1e11;
const MILLISECONDS: f64 = 1_000.0 * SECONDS;
const MICROSECONDS: f64 = 1_000.0 * MILLISECONDS;

/// In microseconds.
const HOUR: i64 = 60 * 60 * 1_000_000;
const DAY: i64 = 24 * HOUR;

/// A moment as it is written: no more exact than its last digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds since the epoch.
    at: i64,
    /// What its last digit counts, in microseconds.
    unit: i64,
    /// Whether it says from which zone it is.
    has_zone: bool,
}

impl Moment {
    /// ISO 8601; the same with a blank before its offset or with `UTC` for it; or a number of seconds, milli-, micro- or nanoseconds
    /// since 1970, by its size.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(number) = Self::of_number(text) {
            return Some(number);
        }
        let text = text.trim();
        let text = match text.strip_suffix("UTC") {
            Some(before) => format!("{}Z", before.trim_end()),
            None => text.replacen(" +", "+", 1).replacen(" -", "-", 1),
        };
        let Written { at, unit, has_zone } = Written::parse(&text)?;
        Some(Self { at, unit, has_zone })
    }

    /// Microseconds since 1970, where it says from which zone it is.
    pub fn microseconds(self) -> Option<i64> {
        self.has_zone.then_some(self.at)
    }

    /// A number, whole or not. Zeros at the end of a fraction may come from how the number is kept, and count for nothing.
    fn of_number(text: &str) -> Option<Self> {
        let is_part = |it: u8| it.is_ascii_digit() || b"+-.eE".contains(&it);
        let value = text
            .parse::<f64>()
            .ok()
            .filter(|_| text.bytes().all(is_part))?;
        let (scale, digits) = match value.abs() {
            ..SECONDS => (1e6, 6),
            SECONDS..MILLISECONDS => (1e3, 3),
            MILLISECONDS..MICROSECONDS => (1.0, 0),
            _ => (1e-3, -3),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let fraction = mantissa.split_once('.').map_or("", |it| it.1);
        let places = i32::try_from(fraction.trim_end_matches('0').len()).ok()?;
        let digits = digits + exponent.parse::<i32>().ok()? - places;
        let unit = 10_i64.checked_pow(u32::try_from(digits.max(0)).ok()?)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a double is exact to less than what these count, and a cast stays within bounds"
        )]
        let at = (value * scale).round() as i64;
        let has_zone = true;
        Some(Self { at, unit, has_zone })
    }

    /// Whether it was certainly before the other. Of two of which one has no offset, it is that by more than any offset there is.
    pub fn is_before(self, other: Self) -> bool {
        let hours = match (self.has_zone, other.has_zone) {
            (false, true) => 12,
            (true, false) => 14,
            _ => 0,
        };
        let end = self.at.saturating_add(self.unit + hours * HOUR);
        end <= other.at.saturating_sub(other.unit)
    }

    /// Whether one of both has an offset and the other has none, and which was first does not show.
    pub fn is_of_other_kind(self, other: Self) -> bool {
        self.has_zone != other.has_zone && !self.differs(other)
    }

    /// Whether it was certainly at another time.
    pub fn differs(self, other: Self) -> bool {
        self.is_before(other) || other.is_before(self)
    }

    /// Whether it is later as it is written, and may all the same have been at the same time.
    pub fn may_be_after(self, other: Self) -> bool {
        self.has_zone == other.has_zone && self.at > other.at && !other.is_before(self)
    }

    /// The earlier of both, as far as they can be compared.
    pub fn earlier(self, other: Self) -> Self {
        if other.is_before(self) { other } else { self }
    }

    /// Whether it was at that time or later, as it is written.
    pub fn reaches(self, since: Timestamp) -> bool {
        self.at >= since.microseconds()
    }
}

/// Whether this is what programs write where there is no time: no end, a date of zeros, or a moment that is no later than the beginning
/// of 1970, in some zone where it has no offset.
fn is_no_time(written: &str) -> bool {
    let word = written.trim_start_matches('-').to_ascii_lowercase();
    let is_zero = |it: Moment| it.at <= 0 || !it.has_zone && it.at < DAY;
    word == "infinity"
        || word.starts_with("0000-00-00")
        || Moment::parse(written).is_some_and(is_zero)
}

/// A list of names, each a string or a number; blank ones name nobody.
fn names(raw: &str) -> Option<Vec<String>> {
    let items: Vec<Box<RawValue>> = serde_json::from_str(raw).ok()?;
    let cells = items.iter().map(|it| Cell::Is(it.get().to_owned()).said());
    let named = cells.filter(|it| !it.is_null()).map(|it| it.text());
    named.collect()
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It writes, destroys, or acts on others.
    Acts,
    /// A word that has no meaning stands there.
    Unread,
}

impl Effect {
    fn named(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "write" | "destructive" | "external" => Some(Self::Acts),
            _ => None,
        }
    }
}

/// A whole number of runs, however it is written. What is more than fits is the most that does.
fn count(text: &str) -> Option<u64> {
    let number = text.parse::<f64>().ok();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, none below zero, and a cast stays within bounds"
    )]
    let number = number
        .filter(|it| *it >= 0.0 && it.fract() == 0.0)
        .map(|it| it as u64);
    text.parse().ok().or(number)
}

/// A row.
#[derive(Debug)]
pub struct Row {
    /// Its id.
    pub id: Option<String>,
    /// The session that it is of.
    pub session: Option<String>,
    /// The agent that proposed.
    pub agent: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// What the call does.
    pub effect: Option<Effect>,
    /// What the user sees.
    pub label: Option<String>,
    /// The arguments: as proposed, as approved, and with which it ran.
    pub arguments: [Cell; 3],
    /// What it says of itself, where that has a meaning.
    pub status: Option<State>,
    /// The decision, where that has a meaning.
    pub decision: Option<State>,
    /// What stands for the decision, its time and who made it.
    pub decided: [Cell; 3],
    /// Who decided.
    pub decider: Option<String>,
    /// Who may decide.
    pub deciders: Option<Vec<String>>,
    /// When it was proposed, its question closes, it was decided, and ran.
    pub times: Times,
    /// What stands for the time at which it ran.
    pub executed: Cell,
    /// How often it ran.
    pub executions: Option<u64>,
    /// What nobody can read: the column, and what stands there.
    pub unread: Vec<(&'static str, String)>,
}

/// The times of an action.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// When it was proposed.
    pub created: Option<Moment>,
    /// When its question closes.
    pub expires: Option<Moment>,
    /// When it was decided.
    pub decided: Option<Moment>,
    /// When it ran.
    pub executed: Option<Moment>,
}

impl Columns {
    /// The names of the columns, with their pointers; none for what the table does not have.
    pub fn pointers(&self) -> [(&'static str, Option<&Pointer>); 18] {
        [
            ("id", self.id.as_ref()),
            ("session", self.session.as_ref()),
            ("agent", self.agent.as_ref()),
            ("tool", self.tool.as_ref()),
            ("effect", self.effect.as_ref()),
            ("label", self.label.as_ref()),
            ("arguments", self.arguments.as_ref()),
            ("approved_arguments", self.approved_arguments.as_ref()),
            ("executed_arguments", self.executed_arguments.as_ref()),
            ("status", self.status.as_ref()),
            ("decision", self.decision.as_ref()),
            ("decider", self.decider.as_ref()),
            ("deciders", self.deciders.as_ref()),
            ("created_at", self.created_at.as_ref()),
            ("expires_at", self.expires_at.as_ref()),
            ("decided_at", self.decided_at.as_ref()),
            ("executed_at", self.executed_at.as_ref()),
            ("executions", self.executions.as_ref()),
        ]
    }

    /// Reads a row; `seen` gets the names of the columns that are there.
    ///
    /// # Errors
    ///
    /// A name stands twice in it, or a string that a pointer goes through is broken.
    pub fn read(
        &self,
        row: &[u8],
        seen: &mut std::collections::BTreeSet<&'static str>,
    ) -> Result<Row, String> {
        let mut cells = BTreeMap::new();
        for (name, pointer) in self.pointers() {
            let cell = match pointer {
                Some(pointer) => pointer.cell(row)?.said(),
                None => Cell::Absent,
            };
            if cell != Cell::Absent {
                seen.insert(name);
            }
            cells.insert(name, cell);
        }
        let mut unread = Vec::new();
        let mut take = |name| cells.remove(name).unwrap_or(Cell::Absent);
        let mut state = |name, cell: &Cell| {
            let word = cell.written()?;
            let state = match self.words.get(&word) {
                Some(Meaning::State(own)) => Some(*own),
                Some(Meaning::Effect(_)) | None => State::named(&word.to_ascii_lowercase()),
            };
            if state.is_none() {
                unread.push((name, word));
            }
            state
        };
        let (status, decision) = (take("status"), take("decision"));
        let (status, meant) = (state("status", &status), state("decision", &decision));
        let mut time = |name| {
            let cell = take(name);
            let Some(written) = cell.written() else {
                return (cell, None);
            };
            if is_no_time(&written) {
                return (Cell::Null, None);
            }
            let time = Moment::parse(&written);
            if time.is_none() {
                unread.push((name, written));
            }
            (cell, time)
        };
        let [created, expires, decided, executed] =
            ["created_at", "expires_at", "decided_at", "executed_at"].map(&mut time);
        let times = Times {
            created: created.1,
            expires: expires.1,
            decided: decided.1,
            executed: executed.1,
        };
        let effect = take("effect").written().map(|word| {
            let effect = match self.words.get(&word) {
                Some(Meaning::Effect(own)) => Some(*own),
                Some(Meaning::State(_)) | None => Effect::named(&word.to_ascii_lowercase()),
            };
            effect.unwrap_or_else(|| {
                unread.push(("effect", word));
                Effect::Unread
            })
        });
        let executions = take("executions").written().and_then(|written| {
            let executions = count(&written);
            if executions.is_none() {
                unread.push(("executions", written));
            }
            executions
        });
        let decider = take("decider");
        let deciders = take("deciders");
        let deciders = deciders.raw().and_then(|raw| {
            let items = names(raw).or_else(|| names(&text(raw)?));
            if items.is_none() {
                unread.push(("deciders", deciders.written().unwrap_or_default()));
            }
            items
        });
        let text = |cell: Cell| cell.text();
        Ok(Row {
            id: text(take("id")),
            session: text(take("session")),
            agent: text(take("agent")),
            tool: text(take("tool")),
            effect,
            label: text(take("label")),
            arguments: ["arguments", "approved_arguments", "executed_arguments"].map(&mut take),
            status,
            decision: meant,
            decider: decider.text(),
            decided: [decision, decided.0, decider],
            // A list that names nobody is none.
            deciders: deciders.filter(|it| !it.is_empty()),
            times,
            executions,
            executed: executed.0,
            unread,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        Moment::parse(text).expect("a moment")
    }

    #[test]
    fn a_moment_is_before_another_only_where_its_last_digit_leaves_no_doubt() {
        for (one, other, is_before) in [
            ("2026-05-24T14:22:20Z", "2026-05-24T14:22:21Z", false),
            ("2026-05-24T14:22:20Z", "2026-05-24T14:22:22Z", true),
            ("2026-05-24 14:22:20.100", "2026-05-24 14:22:20.101", false),
            ("2026-05-24 14:22:20.100", "2026-05-24 14:22:20.102", true),
            ("2026-05-24 14:22:20.100", "2026-05-24T15:22:20.100Z", false),
            (
                "2026-05-24 14:22:20.100+00",
                "2026-05-24T15:22:20.100Z",
                true,
            ),
            (
                "2026-05-24 16:22:20.100+02",
                "2026-05-24T14:22:20.102Z",
                true,
            ),
            ("1779632540", "1779632542000", true),
            ("1779632540", "1779632541000", false),
            ("1779632540.25", "1779632540.28", true),
            ("1779632540.25", "1779632540.26", false),
            // A fraction of zeros may come from whole seconds.
            ("1779632540.0", "1779632541.5", true),
            ("1779632540.0", "1779632541.0", false),
            ("1.77963254e9", "1779632562", true),
            ("1.77963254e+9", "1779632550", false),
            ("1779632540250.5", "1779632540252.5", true),
            ("2026-05-24T16:22:20+0200", "2026-05-24 14:22:22 UTC", true),
            ("20260524T142220Z", "2026-05-24 16:22:22 +0200", true),
            ("2026-05-24T14:22Z", "2026-05-24T14:23:00Z", false),
            ("2026-05-24T14:22Z", "2026-05-24T14:23:01Z", true),
            // Beyond any offset.
            ("2026-05-24T14:22:20Z", "2026-05-25 04:22:21", false),
            ("2026-05-24T14:22:20Z", "2026-05-25 04:22:22", true),
            ("2026-05-24 14:22:20", "2026-05-25T02:22:21Z", false),
            ("2026-05-24 14:22:20", "2026-05-25T02:22:22Z", true),
        ] {
            assert_eq!(
                moment(one).is_before(moment(other)),
                is_before,
                "{one} {other}"
            );
            assert!(!moment(other).is_before(moment(one)));
        }
        for none in [
            "",
            "yesterday",
            "2026-05-24",
            "2026-02-30T14:22:20Z",
            "2026-05-24T14:22:20+",
            "1e400",
            "nan",
            "0x5",
        ] {
            assert_eq!(Moment::parse(none), None, "{none}");
        }
    }
}
