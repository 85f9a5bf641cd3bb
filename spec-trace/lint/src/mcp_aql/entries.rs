//! Entries of the log of 6.4 by themselves, without what was asked.
//!
//! The one thing to know: an entry has no parameters, expiry or number of uses. So nothing is said here of a token that is used twice,
//! and of an expired one only where no token can live that long.

use std::collections::{BTreeMap, BTreeSet};

use super::logged::lacks;
use super::rules;
use crate::report::NotJudged;
use crate::rules::Rule;
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

/// A token, as its entries tell of it.
#[derive(Debug)]
struct Told {
    line: u64,
    /// When it was issued at the latest, in milliseconds.
    at: Option<i64>,
    operation: Option<String>,
    adapter: Option<String>,
    revoked: Option<u64>,
}

/// The tokens of a log.
#[derive(Debug, Default)]
pub struct Log {
    tokens: BTreeMap<String, Told>,
    /// Tokens whose issue has failed.
    not_issued: BTreeSet<String>,
    /// The first entry whose event and outcome do not go together: its line, and what it says.
    odd: Option<(u64, &'static str)>,
    /// Whether there was any entry.
    pub is_read: bool,
}

impl Log {
    pub(super) fn see(&mut self, exchange: &Exchange<'_>, entry: &Fields<'_>, found: &mut Found) {
        self.is_read = true;
        let Some(id) = entry.text("token_id").filter(|_| lacks(entry).is_none()) else {
            return;
        };
        let is_success = entry.text("outcome").as_deref() == Some("success");
        let event = entry.text("event").unwrap_or_default();
        let asks_status = entry.text("operation").as_deref() == Some("introspect");
        let odd = match &*event {
            "TOKEN_REJECTED" if is_success => Some("that a token is rejected, with success"),
            "TOKEN_VALIDATED" if !is_success && !asks_status => {
                Some("that a token is validated, with failure")
            }
            "TOKEN_VALIDATED" if self.not_issued.contains(&id) => {
                Some("that a token is validated whose issue has failed")
            }
            "TOKEN_ISSUED" if is_success && self.may_be_good(&id, entry) => Some(
                "that a token is issued with the token_id of another one, which may be good still",
            ),
            _ => None,
        };
        if let Some(odd) = odd {
            self.odd.get_or_insert((exchange.line, odd));
        }
        match &*event {
            "TOKEN_ISSUED" if !is_success => {
                self.not_issued.insert(id);
            }
            "TOKEN_ISSUED" => {
                self.not_issued.remove(&id);
                let told = Told {
                    line: exchange.line,
                    at: latest(entry),
                    operation: entry.text("operation"),
                    adapter: entry.text("adapter_name"),
                    revoked: None,
                };
                self.tokens.insert(id, told);
            }
            "TOKEN_REVOKED" if is_success => {
                if let Some(told) = self.tokens.get_mut(&id) {
                    told.revoked = Some(exchange.line);
                }
            }
            // The status of a token is told by such an entry, too, and says nothing of a call.
            "TOKEN_VALIDATED" if is_success && !asks_status => {
                self.validated(exchange, &id, entry, found);
            }
            _ => {}
        }
    }

    /// Whether a token of that name was issued, and may still be good when this entry was written.
    fn may_be_good(&self, id: &str, entry: &Fields<'_>) -> bool {
        let known = self.tokens.get(id).filter(|it| it.revoked.is_none());
        known.is_some_and(|known| {
            let times = entry.moment("timestamp").zip(known.at);
            times.is_none_or(|(at, issued)| at.saturating_sub(issued) <= LONGEST)
        })
    }

    /// AQL-4.1-4, AQL-4.1-6, AQL-5.1-3, AQL-5.3-3: a token is taken for what it was issued for, in time, and not after it was given back.
    fn validated(&self, exchange: &Exchange<'_>, id: &str, entry: &Fields<'_>, found: &mut Found) {
        for rule in JUDGED {
            found.touch(rule);
        }
        let Some(told) = self.tokens.get(id) else {
            // It may have been issued before the log begins.
            return;
        };
        let is_late = entry
            .moment("timestamp")
            .zip(told.at)
            .is_some_and(|(at, issued)| at.saturating_sub(issued) > LONGEST);
        let faults = [
            (
                entry.text("operation") != told.operation,
                &rules::OPERATION_TAKEN,
                "operation is another than that of line",
            ),
            (
                entry.text("adapter_name") != told.adapter,
                &rules::ADAPTER_TAKEN,
                "adapter_name is another than that of line",
            ),
            (
                is_late,
                &rules::EXPIRED_TAKEN,
                "timestamp is later than any token lives that was issued on line",
            ),
        ];
        let faults = faults
            .into_iter()
            .filter(|(is_wrong, ..)| *is_wrong)
            .map(|(_, rule, what)| (rule, what, told.line));
        let revoked = told.revoked.map(|line| {
            (
                &rules::REVOKED_TAKEN,
                "token_id is that of a token which was revoked on line",
                line,
            )
        });
        for (rule, what, line) in faults.chain(revoked) {
            found.accuse(rule, exchange, id, None, format!("{what} {line}"));
        }
    }

    /// What entries do not show.
    pub(super) fn not_judged(&self, found: &Found) -> Vec<NotJudged> {
        let clauses = countersign_clauses::all()
            .iter()
            .filter(|clause| clause.protocol == "mcp-aql");
        let untouched = clauses.filter(|clause| !found.touched.contains(clause.id.as_str()));
        let unseen = "entries of the log do not show it: they have no parameters, expiry or uses";
        let not_judged = untouched.map(|clause| NotJudged::unseen(clause.id.as_str(), unseen));
        let odd = self.odd.map(|(line, odd)| {
            let reason = format!(
                "the entry on line {line} says {odd}: what was done does not show; a transcript holds the call and what came of it"
            );
            NotJudged::open(rules::ENTRY_SHAPE.clause, reason)
        });
        not_judged.chain(odd).collect()
    }
}
