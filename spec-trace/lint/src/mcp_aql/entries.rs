//! Entries of the log of 6.4 by themselves, without what was asked.
//!
//! The one thing to know: an entry has no parameters, expiry or number of uses. So nothing is said here of a token that is used twice,
//! and of an expired one only where no token can live that long. They are judged in the order of their times.

use std::collections::{BTreeMap, BTreeSet};

use super::logged::lacks;
use super::{rules, untouched};
use crate::place::Place;
use crate::report::NotJudged;
use crate::rules::Rule;
use crate::time::Written;
use crate::transcript::{Exchange, Fields, Found};

/// The longest that a token can be taken after its issue: 15 minutes, and the greatest tolerance of 300 seconds.
const LONGEST: i64 = (15 * 60 + 300) * 1_000;

/// What is judged of entries.
pub const JUDGED: [&Rule; 5] = [
    &rules::ENTRY_SHAPE,
    &rules::OPERATION_TAKEN,
    &rules::ADAPTER_TAKEN,
    &rules::EXPIRED_TAKEN,
    &rules::REVOKED_TAKEN,
];

/// The latest moment that the time of an entry may mean: it may be written in whole seconds, or minutes.
fn latest(entry: &Fields<'_>) -> Option<i64> {
    let rest = (entry.coarseness("timestamp") - 1).max(0);
    Some(entry.moment("timestamp")?.saturating_add(rest))
}

/// What is kept of an entry until the log ends.
#[derive(Debug)]
struct Entry {
    line: u64,
    place: Place,
    event: String,
    is_success: bool,
    operation: Option<String>,
    adapter: Option<String>,
    /// When it was written, and at the latest, in milliseconds.
    at: Option<i64>,
    latest: Option<i64>,
    /// The same as it is written, also where it has no offset.
    written: Option<Written>,
}

impl Entry {
    fn of(exchange: &Exchange<'_>, entry: &Fields<'_>) -> Self {
        let written = entry.text("timestamp");
        Self {
            line: exchange.line,
            place: exchange.place.clone(),
            event: entry.text("event").unwrap_or_default(),
            is_success: entry.text("outcome").as_deref() == Some("success"),
            operation: entry.text("operation"),
            adapter: entry.text("adapter_name"),
            at: entry.moment("timestamp"),
            latest: latest(entry),
            written: written.and_then(|it| Written::parse(&it)),
        }
    }

    fn is(&self, event: &str) -> bool {
        self.event == event
    }

    /// Whether it was written after the other, to the last digit.
    fn is_after(&self, other: &Self) -> bool {
        let both = self.written.zip(other.written);
        both.is_some_and(|(it, other)| {
            other.has_zone == it.has_zone && other.at + other.unit <= it.at
        })
    }

    /// Whether it asks what has become of a token, which says nothing of a call.
    fn asks_status(&self) -> bool {
        self.operation.as_deref() == Some("introspect")
    }
}

/// The entries of a log.
#[derive(Debug, Default)]
pub struct Log {
    /// Those of each token, in the order of their lines.
    tokens: BTreeMap<String, Vec<Entry>>,
    /// When the last entry was written.
    last: Option<Written>,
    /// Whether some entry was certainly written after the one before it, and whether some was before it.
    ascends: bool,
    descends: bool,
    /// The first entry whose event and outcome do not go together: its line, and what it says.
    odd: Option<(u64, &'static str)>,
    /// A use that stands before its issue, with times that do not show which was first: the line of both.
    unordered: Option<(u64, u64)>,
    /// The first use of which the times do not show how long after its issue it was: the line of both, and how many there are.
    untimed: Option<(u64, u64, u64)>,
    /// Whether there was any entry.
    pub is_read: bool,
}

impl Log {
    pub(super) fn see(&mut self, exchange: &Exchange<'_>, entry: &Fields<'_>) {
        self.is_read = true;
        let Some(id) = entry.text("token_id").filter(|_| lacks(entry).is_none()) else {
            return;
        };
        let entry = Entry::of(exchange, entry);
        if let Some((last, now)) = self.last.zip(entry.written)
            && last.has_zone == now.has_zone
        {
            self.ascends |= last.at + last.unit <= now.at;
            self.descends |= now.at + now.unit <= last.at;
        }
        self.last = entry.written.or(self.last);
        self.tokens.entry(id).or_default().push(entry);
    }

    /// Judges the entries of each token in the order of their times: a log may stand with the newest first, or be written by several.
    pub(super) fn end(&mut self, found: &mut Found) {
        for mut entries in std::mem::take(&mut self.tokens).into_values() {
            let kinds: BTreeSet<_> = entries
                .iter()
                .map(|it| it.written.map(|it| it.has_zone))
                .collect();
            match (self.ascends, self.descends) {
                (false, true) => entries.reverse(),
                (true, true) if kinds.len() == 1 => {
                    entries.sort_by_key(|it| it.written.map(|it| it.at));
                }
                _ => {}
            }
            self.judge(&entries, found);
        }
    }

    /// The entries of one token, from the first on.
    fn judge(&mut self, entries: &[Entry], found: &mut Found) {
        let (mut issue, mut revoked, mut has_failed) = (None::<&Entry>, None, false);
        let mut used = None;
        for entry in entries {
            let is_success = entry.is_success;
            let is_use = entry.is("TOKEN_VALIDATED") && is_success && !entry.asks_status();
            let odd = match &*entry.event {
                "TOKEN_REJECTED" if is_success => Some("that a token is rejected, with success"),
                "TOKEN_VALIDATED" if !is_success && !entry.asks_status() => {
                    Some("that a token is validated, with failure")
                }
                "TOKEN_VALIDATED" if has_failed => {
                    Some("that a token is validated whose issue has failed")
                }
                "TOKEN_VALIDATED" if is_use && entry.written.is_some() && used == entry.written => {
                    Some("that a token is validated at the very time of another such entry")
                }
                "TOKEN_ISSUED"
                    if is_success
                        && revoked.is_none()
                        && issue.is_some_and(|it| may_be_good(it, entry)) =>
                {
                    Some(
                        "that a token is issued with the token_id of another one, which may be good still",
                    )
                }
                _ => None,
            };
            if let Some(odd) = odd
                && self.odd.is_none_or(|(line, _)| entry.line < line)
            {
                self.odd = Some((entry.line, odd));
            }
            match &*entry.event {
                "TOKEN_ISSUED" if !is_success => has_failed = true,
                "TOKEN_ISSUED" => (issue, revoked, has_failed) = (Some(entry), None, false),
                "TOKEN_REVOKED" if is_success && issue.is_some() => revoked = Some(entry.line),
                "TOKEN_VALIDATED" if is_use => {
                    used = entry.written;
                    for rule in JUDGED {
                        found.touch(rule);
                    }
                    match issue {
                        Some(issue) => self.validated(entry, issue, revoked, found),
                        None => self.unknown(entry, entries),
                    }
                }
                _ => {}
            }
        }
    }

    /// A token that is taken may have been issued before the log begins, and one of its name later: where times and lines agree in that.
    fn unknown(&mut self, entry: &Entry, entries: &[Entry]) {
        let is_mixed = self.ascends && self.descends;
        let is_later =
            |issue: &Entry| issue.is_after(entry) && !(is_mixed && issue.line < entry.line);
        let issue = entries
            .iter()
            .find(|it| it.is("TOKEN_ISSUED") && it.is_success);
        if let Some(issue) = issue.filter(|it| !is_later(it)) {
            self.unordered.get_or_insert((entry.line, issue.line));
        }
    }

    /// AQL-4.1-4, AQL-4.1-6, AQL-5.1-3, AQL-5.3-3: a token is taken for what it was issued for, in time, and not after it was given back.
    fn validated(&mut self, entry: &Entry, issue: &Entry, revoked: Option<u64>, found: &mut Found) {
        let times = entry.at.zip(issue.latest);
        if times.is_none() {
            self.untimed.get_or_insert((entry.line, issue.line, 0)).2 += 1;
        }
        let is_late = times.is_some_and(|(at, issued)| at.saturating_sub(issued) > LONGEST);
        let faults = [
            (
                entry.operation != issue.operation,
                &rules::OPERATION_TAKEN,
                "operation is another than that of line",
                issue.line,
            ),
            (
                entry.adapter != issue.adapter,
                &rules::ADAPTER_TAKEN,
                "adapter_name is another than that of line",
                issue.line,
            ),
            (
                is_late,
                &rules::EXPIRED_TAKEN,
                "timestamp is later than any token lives that was issued on line",
                issue.line,
            ),
            (
                revoked.is_some(),
                &rules::REVOKED_TAKEN,
                "token_id is that of a token which was revoked on line",
                revoked.unwrap_or_default(),
            ),
        ];
        // What else is wrong with it follows.
        if let Some((_, rule, what, line)) = faults.into_iter().find(|(is_wrong, ..)| *is_wrong) {
            found.accuse_line(rule, &entry.place, format!("{what} {line}"));
        }
    }

    /// What entries do not show.
    pub(super) fn not_judged(&self, found: &Found) -> Vec<NotJudged> {
        let reasons = [
            "no entry tells of it: none takes a token of which the log has the issue",
            "entries of the log do not show it: they have no parameters, expiry or uses",
        ];
        let not_judged = untouched(found, &JUDGED, reasons).into_iter();
        let odd = self.odd.map(|(line, odd)| {
            let reason = format!(
                "the entry on line {line} says {odd}: what was done does not show; a transcript holds the call and what came of it"
            );
            NotJudged::open(rules::ENTRY_SHAPE.clause, reason)
        });
        let unordered = self.unordered.map(|(line, issue)| {
            let reason = format!(
                "of the use of a token on line {line} and its issue on line {issue}, their lines and times do not show which was first: whether it was taken for what it was issued for is not judged"
            );
            NotJudged::open(rules::OPERATION_TAKEN.clause, reason)
        });
        let untimed = self.untimed.map(|(line, issue, count)| {
            let reason = format!(
                "`timestamp` of the use on line {line}, or of its issue on line {issue}, has no offset or is in a form other than those of ISO 8601 ({count} such): how long after its issue a token was taken does not show"
            );
            NotJudged::open(rules::EXPIRED_TAKEN.clause, reason)
        });
        not_judged
            .chain(odd)
            .chain(unordered)
            .chain(untimed)
            .collect()
    }
}

/// Whether a token that was issued so may still be good when the other entry was written.
fn may_be_good(issue: &Entry, entry: &Entry) -> bool {
    let times = entry.at.zip(issue.latest);
    times.is_none_or(|(at, issued)| at.saturating_sub(issued) <= LONGEST)
}
