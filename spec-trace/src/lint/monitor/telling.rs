//! AAEP-6.3.4-9: the sender of a reply that failed a check is not told which.
//!
//! Told is who reads the reason in the body of the answer, or could learn it from a status of its own. That a duplicate
//! came too late may be said (AAEP-6.3.5-2, AAEP-6.7.1-2), and that a transport turns strangers away is its own business.

use super::Notes;
use super::checks::{Check, refused_by_transport};
use crate::lint::finding::Finding;
use crate::lint::memory::Memory;
use crate::lint::reply::Reply;
use crate::lint::rules;

/// What the senders of failed replies were told.
#[derive(Debug, Default, Clone)]
pub struct Telling {
    /// The first check of which a status is known, that status, and the line.
    first: Option<(&'static str, u64, u64)>,
    told: bool,
}

impl Telling {
    pub(in crate::lint) fn remember(&self, memory: &mut Memory) {
        let Self { first, told } = self;
        // The line is for the message.
        memory.value(&(first.map(|(name, status, _)| (name, status)), told));
    }

    /// Judges the answer to a reply that failed a check.
    pub fn failed(
        &mut self,
        reply: &Reply,
        check: Check,
        session: Option<&str>,
        notes: &mut Notes,
    ) {
        let (name, words) = reason(check);
        if let Some(word) = words.iter().find(|word| reply.answer.contains(**word)) {
            let message = format!(
                "the reply failed a check ({name}), and the answer tells its sender so: it says {word:?}"
            );
            notes.add(Finding::new(
                &rules::TELLS_CHECK,
                reply.place,
                session,
                message,
            ));
            return;
        }
        let Some(status) = reply.http_status else {
            return;
        };
        // Whom the transport turns away learns that, whatever else is wrong with the reply.
        let turned_away = refused_by_transport(reply);
        if matches!(check, Check::Unused | Check::Standing) || turned_away || self.told {
            return;
        }
        let (other, expected, line) = *self.first.get_or_insert((name, status, reply.place.line));
        if other != name && expected != status {
            self.told = true;
            let message = format!(
                "the answer to a reply that failed a check ({name}) has status {status}, that on line {line} ({other}) has {expected}: a sender can tell the two apart"
            );
            notes.add(Finding::new(
                &rules::STATUS_TELLS_CHECK,
                reply.place,
                session,
                message,
            ));
        }
    }
}

/// The check in words, and words that give it away.
fn reason(check: Check) -> (&'static str, &'static [&'static str]) {
    match check {
        Check::Schema(_) => (
            "schema",
            &[
                "schema",
                "malformed",
                "missing",
                "required",
                "additional propert",
                "not a valid",
            ],
        ),
        Check::Kind => (
            "kind of reply",
            &["wrong type", "clarification", "confirmation"],
        ),
        Check::Issued => (
            "unknown token",
            &[
                "unknown",
                "not found",
                "no such",
                "does not exist",
                "unrecognized",
                "not issued",
            ],
        ),
        Check::Unused => ("used token", &[]),
        Check::Standing => ("withdrawn question", &[]),
        Check::InTime => (
            "time of the decision",
            &["expire", "deadline", "timed out", "too late", "timeout"],
        ),
        Check::Sender => ("sender", &[]),
        Check::Allowed => (
            "allowed replies",
            &[
                "not allowed",
                "allowed_replies",
                "allowed replies",
                "not permitted",
            ],
        ),
        Check::ResponseType => ("type of the response", &["type", "kind"]),
        Check::Choice => ("choices", &["choice"]),
    }
}
