//! A whole stream: its sessions, and two ways to take it.
//!
//! A stream without replies may come from a recorder that saw events alone. Whether it does shows only at its end, so the
//! monitors that care are run twice, once for each way to take the record, until the first reply comes.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use super::monitor::Notes;
use super::monitor::asking::{self, States};
use super::monitor::authorisation::Authorisation;
use super::monitor::ledger::{Ledger, Outcomes, Replies};
use super::monitor::lifecycle::{Admission, Lifecycle};
use super::monitor::resolution::Resolution;
use super::monitor::sequence::{Gap, Sequence};
use super::monitor::tools::Tools;
use super::record::{Event, EventKind};
use super::reply::Reply;
use super::report::{LintReport, NotJudged, Verdict};
use super::rules::Weight;
use super::time::Timestamp;

/// The judge of one stream.
#[derive(Debug, Default)]
pub struct Linter {
    sessions: BTreeMap<String, Session>,
    /// The open sessions in which a token was given out. Two producers may have given out the same.
    tokens: BTreeMap<String, BTreeSet<String>>,
    records: u64,
    questions: u64,
    replies_seen: bool,
    /// What holds either way.
    notes: Notes,
    /// What holds if all replies are recorded.
    recorded: Notes,
    /// What holds if none is.
    unseen: Notes,
}

#[derive(Debug)]
struct Session {
    lifecycle: Lifecycle,
    sequence: Sequence,
    /// Forgotten when the session ends, unless a reply that is logged late may still explain a call of it.
    open: Option<Box<OpenSession>>,
}

#[derive(Debug)]
struct OpenSession {
    tools: Tools,
    states: States,
    recorded: Confirmations,
    /// Forgotten when the first reply comes.
    unseen: Option<Confirmations>,
    /// The latest timestamp of an event.
    latest: Option<Timestamp>,
}

impl OpenSession {
    fn new(replies_seen: bool) -> Self {
        Self {
            tools: Tools::default(),
            states: States::default(),
            recorded: Confirmations::new(Replies::Recorded),
            unseen: (!replies_seen).then(|| Confirmations::new(Replies::Unseen)),
            latest: None,
        }
    }
}

/// The confirmations of a session, and the monitors that judge what is made of them.
#[derive(Debug)]
struct Confirmations {
    ledger: Ledger,
    authorisation: Authorisation,
    resolution: Resolution,
}

impl Confirmations {
    fn new(replies: Replies) -> Self {
        Self {
            ledger: Ledger::new(replies),
            authorisation: Authorisation::default(),
            resolution: Resolution::default(),
        }
    }

    fn event(&mut self, event: &Event, notes: &mut Notes) {
        self.ledger.event(event);
        let accused = self.authorisation.event(event, &self.ledger, notes);
        self.resolution.event(event, accused, &self.ledger, notes);
        if let EventKind::Asked(question) = &event.kind {
            asking::judge_repetition(event, question, &self.ledger, notes);
            self.ledger.ask(event, question);
        }
    }
}

impl Linter {
    /// A judge who has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes note of a line that could not be read.
    pub fn broken(&mut self, finding: Finding) {
        self.records += 1;
        for notes in [&mut self.notes, &mut self.recorded, &mut self.unseen] {
            notes.unreadable = Some(finding.line);
        }
        self.notes.add(finding);
    }

    /// Takes note of a fault in a record that is handed in besides.
    pub fn faulty(&mut self, finding: Finding) {
        self.notes.add(finding);
    }

    /// Takes note of a record that says nothing about the protocol.
    pub fn passed_over(&mut self) {
        self.records += 1;
    }

    /// Judges an event.
    pub fn event(&mut self, event: &Event) {
        self.records += 1;
        let replies_seen = self.replies_seen;
        if let Some(session) = self.sessions.get_mut(&event.session) {
            session.sequence.event(event);
            match session.lifecycle.next(event, &mut self.notes) {
                Admission::Open => {
                    self.conclude(&event.session);
                    let open = Some(Box::new(OpenSession::new(replies_seen)));
                    self.sessions
                        .entry(event.session.clone())
                        .and_modify(|it| it.open = open);
                }
                Admission::Continue => {}
                Admission::Ignore => return,
            }
        } else {
            let mut session = Session {
                lifecycle: Lifecycle::first(event, &mut self.notes),
                sequence: Sequence::default(),
                open: Some(Box::new(OpenSession::new(replies_seen))),
            };
            session.sequence.event(event);
            self.sessions.insert(event.session.clone(), session);
        }
        self.judge(event);
        if matches!(event.kind, EventKind::Ended(_)) && !self.is_undecided(&event.session) {
            self.conclude(&event.session);
        }
    }

    fn is_undecided(&self, id: &str) -> bool {
        let open = self.sessions.get(id).and_then(|it| it.open.as_ref());
        open.is_some_and(|open| open.recorded.authorisation.is_undecided())
    }

    fn judge(&mut self, event: &Event) {
        let Some(open) = self
            .sessions
            .get_mut(&event.session)
            .and_then(|session| session.open.as_mut())
        else {
            return;
        };
        open.latest = open.latest.max(event.sent);
        open.tools.event(event, &mut self.notes);
        open.states.event(event, &mut self.notes);
        open.recorded.event(event, &mut self.recorded);
        if let Some(unseen) = &mut open.unseen {
            unseen.event(event, &mut self.unseen);
        }
        if let EventKind::Asked(question) = &event.kind {
            self.questions += 1;
            asking::judge_default(event, question, &mut self.notes);
            if let Some(token) = &question.token {
                self.tokens
                    .entry(token.clone())
                    .or_default()
                    .insert(event.session.clone());
            }
        }
    }

    /// Forgets what was kept of a session, when nothing can change the verdict on it any more.
    fn conclude(&mut self, id: &str) {
        let Some(mut open) = self
            .sessions
            .get_mut(id)
            .and_then(|session| session.open.take())
        else {
            return;
        };
        let Confirmations {
            ledger,
            authorisation,
            ..
        } = &mut open.recorded;
        authorisation.give_up(id, ledger, &mut self.recorded);
        for confirmation in &open.recorded.ledger.confirmations {
            let Some(token) = &confirmation.ties.token else {
                continue;
            };
            if let Some(sessions) = self.tokens.get_mut(token) {
                sessions.remove(id);
                if sessions.is_empty() {
                    self.tokens.remove(token);
                }
            }
        }
    }

    /// Judges a reply: it moves the confirmation that it answers, if the producer had to honour it.
    pub fn reply(&mut self, reply: &Reply) {
        self.records += 1;
        self.replies_are_recorded();
        let Some(content) = &reply.content else {
            return;
        };
        // AAEP-6.3.4-2: a token that was not given out, or of a session that ended, has no effect.
        let Some(sessions) = self.tokens.get(&content.token) else {
            return;
        };
        for id in sessions {
            let Some(open) = self
                .sessions
                .get_mut(id)
                .and_then(|session| session.open.as_mut())
            else {
                continue;
            };
            let Confirmations {
                ledger,
                authorisation,
                ..
            } = &mut open.recorded;
            let elsewhere = sessions.len() > 1;
            for index in ledger.reply(reply, content, open.latest, elsewhere) {
                let possible = ledger.confirmations[index].possible;
                if possible.may_be(Outcomes::ACCEPTED) {
                    let moments = (content.decided, reply.received);
                    authorisation.accepted(index, moments, ledger, &mut self.recorded);
                }
            }
        }
    }

    /// Takes note that clarifications, and so replies, are recorded.
    pub fn clarification_reply(&mut self) {
        self.records += 1;
        self.replies_are_recorded();
    }

    fn replies_are_recorded(&mut self) {
        if self.replies_seen {
            return;
        }
        self.replies_seen = true;
        self.unseen = Notes::default();
        for session in self.sessions.values_mut() {
            if let Some(open) = &mut session.open {
                open.unseen = None;
            }
        }
    }

    /// The verdict, at the end of the input.
    pub fn finish(mut self, file: &str) -> LintReport {
        self.conclude_all_that_ended();
        let of_world = if self.replies_seen {
            std::mem::take(&mut self.recorded)
        } else {
            std::mem::take(&mut self.unseen)
        };
        let mut findings = std::mem::take(&mut self.notes.findings);
        findings.extend(of_world.findings);
        findings.sort_by_key(|finding| finding.line);
        let (findings, withheld) = self.withhold(findings);
        let mut not_judged = self.owed();
        not_judged.extend(withheld);
        let owed = !not_judged.is_empty();
        not_judged.extend(self.without_replies());
        let (violations, warnings): (Vec<_>, Vec<_>) = findings
            .into_iter()
            .partition(|finding| finding.weight == Weight::Violation);
        let verdict = if !violations.is_empty() {
            Verdict::Violating
        } else if owed {
            Verdict::Inconclusive
        } else {
            Verdict::Conforming
        };
        LintReport {
            file: file.to_owned(),
            records: self.records,
            sessions: self.sessions.len(),
            verdict,
            violations,
            warnings,
            not_judged,
            known: Vec::new(),
            tied: of_world.tied,
            damage: None,
        }
    }

    /// No reply that is logged late will come any more.
    fn conclude_all_that_ended(&mut self) {
        let ended = self.sessions.iter().filter(|(_, session)| {
            session.open.is_some() && session.lifecycle != Lifecycle::Active
        });
        let ended: Vec<String> = ended.map(|(id, _)| id.clone()).collect();
        for id in ended {
            self.conclude(&id);
        }
    }

    /// Takes out the violations that rest on something missing where events of their session are not in the record.
    fn withhold(&self, findings: Vec<Finding>) -> (Vec<Finding>, Vec<NotJudged>) {
        let mut withheld = Vec::new();
        let mut judged = Vec::new();
        for finding in findings {
            let session = finding
                .session
                .as_ref()
                .and_then(|id| self.sessions.get(id));
            let gap = session.and_then(|session| session.sequence.gap_before(finding.line));
            match gap.filter(|_| finding.rests_on_absence) {
                Some(Gap { line, expected, seen }) => withheld.push(NotJudged {
                    owed: true,
                    clause: finding.clause,
                    reason: format!(
                        "{} (line {}), but events before line {line} are not in the record: its sequence_number is {seen} instead of {expected}",
                        finding.message, finding.line
                    ),
                }),
                None => judged.push(finding),
            }
        }
        (judged, withheld)
    }

    /// What the input ends too early to tell.
    fn owed(&self) -> Vec<NotJudged> {
        if self.sessions.is_empty() {
            let reason = "the input holds no event of a session".to_owned();
            return vec![NotJudged {
                clause: "AAEP-A.1-1",
                reason,
                owed: true,
            }];
        }
        let mut open_sessions = Vec::new();
        let mut calls = Vec::new();
        let mut questions = Vec::new();
        let mut undecided = Vec::new();
        for (id, session) in &self.sessions {
            let Some(open) = &session.open else {
                continue;
            };
            open_sessions.push(id.clone());
            calls.extend(open.tools.open_lines());
            let confirmations = open.unseen.as_ref().unwrap_or(&open.recorded);
            let pending = |possible: Outcomes| possible.may_be(Outcomes::PENDING);
            let asked = confirmations.ledger.confirmations.iter();
            questions.extend(
                asked
                    .filter(|it| pending(it.possible))
                    .map(|it| it.place.line),
            );
            undecided.extend(confirmations.authorisation.undecided_lines());
        }
        let lines = |lines: Vec<u64>| {
            lines
                .into_iter()
                .map(|line| format!("line {line}"))
                .collect()
        };
        [
            ("AAEP-A.1-2", "no terminal event came for", open_sessions),
            (
                "AAEP-A.3-1",
                "no tool.completed came for the call on",
                lines(calls),
            ),
            (
                "AAEP-A.7.6-1",
                "no outcome came for the question on",
                lines(questions),
            ),
            (
                "AAEP-A.7.4-1",
                "nothing tells yet whether an acceptance preceded the call on",
                lines(undecided),
            ),
        ]
        .into_iter()
        .filter(|(_, _, items)| !items.is_empty())
        .map(|(clause, what, items)| NotJudged {
            clause,
            reason: format!("the input ends, and {what} {}", some_of(&items)),
            owed: true,
        })
        .collect()
    }

    /// What would need the replies.
    fn without_replies(&self) -> Vec<NotJudged> {
        if self.replies_seen || self.questions == 0 {
            return Vec::new();
        }
        [
            ("AAEP-6.1-3", "whether anything was rejected does not show"),
            ("AAEP-6.1-6", "whether a question was still open when it was asked again does not show"),
            ("AAEP-A.4-3", "whether anything was accepted does not show"),
            ("AAEP-A.4-4", "whether anything was rejected does not show"),
            ("AAEP-A.7.4-1", "each question may have been accepted off the record, so only its absence is judged"),
        ]
        .into_iter()
        .map(|(clause, what)| NotJudged {
            clause,
            reason: format!("the stream holds no replies: {what}"),
            owed: false,
        })
        .collect()
    }
}

/// The first few of many.
fn some_of(items: &[String]) -> String {
    const NAMED: usize = 5;
    let named = items[..items.len().min(NAMED)].join(", ");
    match items.len().checked_sub(NAMED) {
        None | Some(0) => named,
        Some(more) => format!("{named} and {more} more"),
    }
}
