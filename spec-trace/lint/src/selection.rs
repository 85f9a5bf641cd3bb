//! What of a stream is to be reported: sessions, clauses, and from when on.
//!
//! A selection hides what was not asked for and never makes a fault of it: everything that a verdict rests on is judged.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::record::Record;
use super::report::{LintReport, NotJudged};
use super::time::Timestamp;
use countersign_clauses::{self as clause, Clause};

/// Which findings are asked for; all of them where nothing is said.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Sessions by their ids; all where empty.
    pub sessions: Vec<String>,
    /// Findings from the first record on that was sent at that time or later.
    pub since: Option<Timestamp>,
    /// Clauses by their ids, or whole sections by the beginning of theirs; all where empty.
    pub only: Vec<String>,
    /// The clauses that some monitor judges. It counts only where clauses are asked for: what is judged of them stands in the
    /// sources, and whoever has looked through these says it.
    pub judged: BTreeSet<&'static str>,
}

impl Selection {
    /// Whether nothing is left out.
    pub fn is_everything(&self) -> bool {
        self.sessions.is_empty() && self.since.is_none() && self.only.is_empty()
    }

    /// Whether the record concerns a selected session. One that names none may concern any.
    pub fn wants(&self, session: Option<&str>) -> bool {
        self.sessions.is_empty()
            || session.is_none_or(|session| self.sessions.iter().any(|wanted| wanted == session))
    }

    /// Whether all sessions are asked about, or one of these.
    pub fn is_about(&self, sessions: &BTreeSet<String>) -> bool {
        let mut asked = self.sessions.iter();
        self.sessions.is_empty() || asked.any(|it| sessions.contains(it))
    }

    /// Whether the record was sent in the time that is asked about.
    pub fn reaches(&self, record: &Record) -> bool {
        let sent = match record {
            Record::Event(event) => event.sent.or(event.received),
            Record::Reply(reply) | Record::NoJson(reply) => reply.received,
            Record::Foreign { .. }
            | Record::Unread { .. }
            | Record::Head { .. }
            | Record::NotJudged => None,
        };
        self.since
            .is_none_or(|since| sent.is_some_and(|sent| sent >= since))
    }

    /// Takes out of the report what was not asked for. `from` is the line of the first record in the time that is asked
    /// about.
    pub fn apply(&self, from: Option<u64>, report: &mut LintReport) {
        let asked = |finding: &Finding| self.asks_for(from, finding);
        report.violations.retain(asked);
        report.possible.retain(asked);
        report.warnings.retain(asked);
        report
            .unlisted
            .retain(|(clause, _), _| self.names(clause, &[]));
        report.not_judged.retain(|it| self.names(it.clause, &[]));
        if self.since.is_some() && from.is_none() && report.records > 0 {
            let reason = "no record was sent at that time or later";
            report.not_judged.push(NotJudged::open("AAEP-EV-3", reason));
        }
        report.not_judged.extend(self.unjudged());
        self.open_unshown(report);
        report.settle();
    }

    /// Whether a finding is asked for, where `from` is the line of the first record in the time that is asked about.
    pub(crate) fn asks_for(&self, from: Option<u64>, finding: &Finding) -> bool {
        let is_then = self.since.is_none() || from.is_some_and(|from| finding.line >= from);
        is_then && self.names(finding.clause, &finding.also)
    }

    pub(crate) fn names(&self, clause: &str, also: &[&str]) -> bool {
        let is_meant = |id: &str| self.only.iter().any(|asked| clause::covers(asked, id));
        self.only.is_empty() || is_meant(clause) || also.iter().any(|id| is_meant(id))
    }

    /// Leaves the verdict open on what was asked for and such a recording shows nothing of: silence about it would look like a good
    /// verdict.
    fn open_unshown(&self, report: &mut LintReport) {
        let is_found = |id: &str| {
            let mut found = report.violations.iter().chain(&report.warnings);
            found.any(|it| it.clause == id || it.also.contains(&id))
        };
        let is_unshown = |id: &str| {
            let mut reasons = report.not_judged.iter();
            reasons.any(|it| it.clause == id && it.wholly) && !is_found(id)
        };
        let mut unshown = BTreeSet::new();
        for asked in &self.only {
            let clauses = clause::meant(asked).unwrap_or_default();
            let judged = clauses.iter().map(|clause| clause.id.as_str());
            let judged: Vec<_> = judged.filter(|id| self.judged.contains(id)).collect();
            if judged.iter().all(|id| is_unshown(id)) {
                unshown.extend(judged);
            }
        }
        for it in &mut report.not_judged {
            it.owed |= it.wholly && unshown.contains(it.clause);
        }
    }

    /// What was asked for and no monitor can give: silence about it would look like a good verdict.
    fn unjudged(&self) -> impl Iterator<Item = NotJudged> {
        self.only.iter().filter_map(|asked| {
            let clauses: Vec<&Clause> = clause::meant(asked).ok()?;
            let judged = |clause: &&Clause| self.judged.contains(clause.id.as_str());
            if clauses.iter().any(judged) {
                return None;
            }
            let clause = clauses.first()?.id.as_str();
            Some(NotJudged::open(clause, "no monitor judges it"))
        })
    }
}

/// Takes a clause id, or the beginning of some, as `--only` does.
///
/// # Errors
///
/// When no clause is meant.
pub fn parse_clause(text: &str) -> Result<String, String> {
    let meant = clause::meant(text).map_err(|unknown| unknown.to_string());
    meant.map(|_| text.to_ascii_uppercase())
}

/// Takes a time, as `--since` does.
///
/// # Errors
///
/// When it is not RFC 3339.
pub fn parse_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| {
        "expected an RFC 3339 date and time, such as 2026-05-24T14:22:20Z".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_that_is_none_is_refused() {
        // What is no whole id is put together here, since ids are written in full wherever a clause is cited.
        for section in ["6", "6.3.4", "A.8"] {
            assert!(parse_clause(&format!("AAEP-{section}")).is_ok());
        }
        for wrong in ["99", "6.3.4-", ""] {
            assert!(parse_clause(&format!("AAEP-{wrong}")).is_err(), "{wrong:?}");
        }
        assert!(parse_clause("").is_err());
        assert!(parse_clause("PA-3").is_ok());
    }
}
