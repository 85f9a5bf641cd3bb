//! Clarifications: asked, answered, and whether the producer goes on before they are.
//!
//! A clarification has no effect of its own, so what shows of its outcome is a change of state, and a withdrawn one looks
//! the same. Hence these findings are warnings, and those about replies need one that failed a check right before.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Notes;
use super::checks::Check;
use crate::finding::{Finding, Place};
use crate::memory::Memory;
use crate::record::{Clarification, Event, EventKind, ResponseKind};
use crate::reply::{ClarificationContent, Content, Reply, Response};
use crate::rules::{self, Rule};
use crate::ties::Ties;
use crate::time::Timestamp;

/// Clarifications that are kept of a session.
const KEPT: usize = 64;

/// The clarifications of one session.
#[derive(Debug, Default, Clone)]
pub struct Clarifications {
    asked: VecDeque<Asked>,
}

/// One clarification.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The line of the question.
    pub place: Place,
    /// Who asked.
    pub producer: String,
    /// Its ids.
    pub ties: Ties<'static>,
    /// What may have become of it.
    pub status: Status,
    question: Clarification,
    deadline: Option<Timestamp>,
    /// The last reply to it that had to be ignored.
    ignored: Option<(u64, Check)>,
}

/// What may have become of a clarification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is open for sure.
    Open,
    /// It may be over: its timeout has passed, or the producer has gone on.
    PerhapsOver,
    /// A valid reply came.
    Answered,
}

impl Status {
    /// In words.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Open => &["pending"],
            Self::PerhapsOver => &["pending", "defaulted", "cancelled"],
            Self::Answered => &["answered"],
        }
    }
}

impl Clarifications {
    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self { asked } = self;
        memory.each(asked.iter(), |memory, asked| {
            let Asked {
                place,
                producer,
                ties,
                status,
                question,
                deadline,
                ignored,
            } = asked;
            memory.line(place.line);
            memory.value(&(producer, ties, status, question, deadline));
            memory.each(ignored.iter(), |memory, (line, check)| {
                memory.line(*line);
                memory.value(check);
            });
        });
    }

    /// All that are kept, oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Asked> {
        self.asked.iter()
    }

    /// Judges an event of the open session, for a record that holds all replies. Yields the token of a clarification that is
    /// forgotten.
    pub fn event(&mut self, event: &Event, notes: &mut Notes) -> Option<Cow<'static, str>> {
        for asked in &mut self.asked {
            asked.pass(event, notes);
        }
        let EventKind::Clarifying(question) = &event.kind else {
            return None;
        };
        self.judge_repetition(event, question, notes);
        let after_timeout = |sent: Timestamp| Some(sent.plus_seconds(question.timeout?));
        self.asked.push_back(Asked {
            place: event.place.to_keep(),
            producer: event.producer.to_owned(),
            ties: event.ties.to_keep(),
            status: Status::Open,
            question: question.clone(),
            deadline: event.sent.and_then(after_timeout),
            ignored: None,
        });
        if self.asked.len() <= KEPT {
            return None;
        }
        self.asked.pop_front()?.ties.token
    }

    /// AAEP-6.1-9: as for confirmations, the same is not asked again while the first question is open.
    fn judge_repetition(&self, event: &Event, question: &Clarification, notes: &mut Notes) {
        let mut open = self.asked.iter().filter(|it| it.status == Status::Open);
        let same = |it: &&Asked| {
            it.producer == event.producer && it.question.question == question.question
        };
        if let Some(earlier) = open.find(same) {
            let message = format!(
                "the clarification on line {} is open and has the same words; if it is the same, it must not be asked for again",
                earlier.place.line
            );
            notes.add(finding(&rules::CLARIFYING_AGAIN, event, message));
        }
    }

    /// Takes in a reply. Yields the check that it failed; `None` where no clarification here has its token, or where it is
    /// valid.
    pub fn reply(&mut self, reply: &Reply) -> Option<Check> {
        let token = reply.token;
        let asked = self
            .asked
            .iter_mut()
            .find(|it| it.ties.token.as_deref() == token)?;
        let failed = match &reply.content {
            // AAEP-6.5.1-1: of the other kind.
            Content::Confirmation(_) => Some(Check::Kind),
            Content::Clarification(Err(clause)) => Some(Check::Schema(clause)),
            Content::Clarification(Ok(content)) => check(asked, reply, content),
        };
        match failed {
            Some(failed) => asked.ignored = Some((reply.place.line, failed)),
            None => asked.status = Status::Answered,
        }
        failed
    }
}

impl Asked {
    fn pass(&mut self, event: &Event, notes: &mut Notes) {
        if self.status != Status::Open {
            return;
        }
        if self.deadline.is_none() || event.sent >= self.deadline {
            self.status = Status::PerhapsOver;
            return;
        }
        let EventKind::StateChanged { to, .. } = &event.kind else {
            return;
        };
        let leaves = *to != Some("awaiting_input");
        if !leaves || event.producer != self.producer || !event.speaks_of(&self.ties) {
            return;
        }
        self.status = Status::PerhapsOver;
        if let Some((line, check)) = self.ignored {
            let (rule, why) = describe(check);
            let message = format!(
                "the producer goes on, and nothing could have answered the clarification on line {} but the reply on line {line}, which {why} and had to be ignored",
                self.place.line
            );
            notes.add(finding(rule, event, message));
        }
    }
}

/// AAEP-6.5.5-1, AAEP-6.5.5-2, AAEP-6.5.5-3, AAEP-6.5.2-2: the checks of a clarification reply.
fn check(asked: &Asked, reply: &Reply, content: &ClarificationContent) -> Option<Check> {
    // AAEP-6.3.4-3, by AAEP-6.5.5-1: the first reply counts.
    if asked.status == Status::Answered {
        return Some(Check::Unused);
    }
    let in_time = asked
        .deadline
        .is_none_or(|deadline| content.decided < deadline);
    if !in_time {
        return Some(Check::InTime);
    }
    if matches!(reply.http_status, Some(401 | 403)) {
        return Some(Check::Sender);
    }
    let Some(kinds) = &asked.question.kinds else {
        return None;
    };
    let accepts = |kind| kinds.contains(&kind);
    let choices = asked.question.choices.as_ref();
    match &content.response {
        Response::Text(_) if accepts(ResponseKind::FreeText) => None,
        Response::Text(text) if accepts(ResponseKind::MultipleChoice) => {
            let listed = choices.is_none_or(|choices| choices.contains(text));
            (!listed).then_some(Check::Choice)
        }
        Response::YesNo if accepts(ResponseKind::YesNo) => None,
        Response::Number if accepts(ResponseKind::Numeric) => None,
        Response::Text(_) | Response::YesNo | Response::Number => Some(Check::ResponseType),
    }
}

fn describe(check: Check) -> (&'static Rule, String) {
    match check {
        Check::Kind => (
            &rules::CLARIFIED_BY_CONFIRMATION,
            "is no clarification.reply".to_owned(),
        ),
        Check::ResponseType => (
            &rules::CLARIFIED_BY_OTHER_TYPE,
            "is of a kind that was not accepted".to_owned(),
        ),
        Check::Choice => (
            &rules::CLARIFIED_BY_NO_CHOICE,
            "is none of the choices".to_owned(),
        ),
        Check::Schema(clause) => (
            &rules::CLARIFIED_BY_INVALID,
            format!("breaks the schema ({clause})"),
        ),
        Check::InTime => (
            &rules::CLARIFIED_BY_INVALID,
            "was decided too late".to_owned(),
        ),
        Check::Sender => (
            &rules::CLARIFIED_BY_INVALID,
            "came from a sender that the transport refused".to_owned(),
        ),
        Check::Issued | Check::Unused | Check::Standing | Check::Allowed => {
            (&rules::CLARIFIED_BY_INVALID, "failed a check".to_owned())
        }
    }
}

fn finding(rule: &Rule, event: &Event, message: String) -> Finding {
    Finding::new(rule, event.place, Some(event.session), message)
}
