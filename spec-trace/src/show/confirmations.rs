//! What may have become of each confirmation of a stream, record by record.
//!
//! The judgement is the linter's ([`crate::lint::monitor::ledger`]); this only asks it after each record.

use std::collections::BTreeMap;

use crate::lint::monitor::ledger::{Ledger, Outcomes, Replies};
use crate::lint::record::{EventKind, Record};
use crate::lint::time::Timestamp;

/// A confirmation, and what may have become of it so far.
pub struct Standing<'a> {
    /// The line of the question.
    pub line: u64,
    /// `reply_token`, where it has one.
    pub token: Option<&'a str>,
    /// What it asks.
    pub about: &'a str,
    /// The outcomes that fit the record, as in `pending or rejected`.
    pub outcomes: String,
}

/// The confirmations of all open sessions.
pub struct Confirmations {
    replies: Replies,
    sessions: BTreeMap<String, Open>,
}

struct Open {
    ledger: Ledger,
    /// The latest timestamp of an event.
    latest: Option<Timestamp>,
}

impl Confirmations {
    /// None so far, of a stream that holds replies or does not.
    pub fn new(replies: Replies) -> Self {
        Self {
            replies,
            sessions: BTreeMap::new(),
        }
    }

    /// Takes in the next record.
    pub fn take(&mut self, record: &Record) {
        match record {
            Record::Event(event) if matches!(event.kind, EventKind::Ended(_)) => {
                self.sessions.remove(&event.session);
            }
            Record::Event(event) => {
                let open = self.sessions.entry(event.session.clone());
                let open = open.or_insert_with(|| Open {
                    ledger: Ledger::new(self.replies),
                    latest: None,
                });
                open.latest = open.latest.max(event.sent);
                open.ledger.event(event);
                if let EventKind::Asked(question) = &event.kind {
                    open.ledger.ask(event, question);
                }
            }
            Record::Reply(reply) => {
                let Some(content) = &reply.content else {
                    return;
                };
                for open in self.sessions.values_mut() {
                    open.ledger.reply(reply, content, open.latest, false);
                }
            }
            Record::ClarificationReply | Record::NotJudged => {}
        }
    }

    /// What may have become of each by now, those of open sessions alone.
    pub fn now(&self) -> impl Iterator<Item = Standing<'_>> {
        let all = self
            .sessions
            .values()
            .flat_map(|open| &open.ledger.confirmations);
        all.map(|confirmation| Standing {
            line: confirmation.place.line,
            token: confirmation.ties.token.as_deref(),
            about: &confirmation.prose.0,
            outcomes: words(confirmation.possible),
        })
    }
}

fn words(outcomes: Outcomes) -> String {
    let words: Vec<&str> = [
        (Outcomes::PENDING, "pending"),
        (Outcomes::ACCEPTED, "accepted"),
        (Outcomes::REJECTED, "rejected"),
        (Outcomes::CANCELLED, "withdrawn"),
    ]
    .into_iter()
    .filter(|(outcome, _)| outcomes.may_be(*outcome))
    .map(|(_, word)| word)
    .collect();
    words.join(" or ")
}
