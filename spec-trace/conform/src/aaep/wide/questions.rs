//! The questions of a run, as far as the world has seen them, and the moments at which something is due for them.
//!
//! The one thing to know: this only makes a run livelier. What is due is for the executor to do and for the judge to say.

use std::collections::BTreeSet;

use countersign_model::aaep::judge::QuestionKind;
use countersign_reference::aaep as executor;
use executor::{Payload, ReplyToken, SessionId};

use super::step::Which;

/// Everything that was asked.
#[derive(Clone, Default)]
pub(super) struct Questions {
    /// In the order of asking.
    all: Vec<Question>,
    /// When half and when a tenth of the time of any is left, and when its time is up, also of those that wait no more.
    moments: BTreeSet<i64>,
}

/// One question.
#[derive(Clone)]
pub(super) struct Question {
    pub token: ReplyToken,
    /// Nothing of one that was never asked.
    pub session: Option<SessionId>,
    kind: QuestionKind,
    asked_at: i64,
    /// How long it waits, in seconds.
    pub timeout: i64,
    waits: bool,
}

impl Question {
    /// One that was asked at that time, in milliseconds since the epoch, and waits so many seconds.
    pub(super) const fn asked(
        token: ReplyToken,
        session: SessionId,
        kind: QuestionKind,
        asked_at: i64,
        timeout: i64,
    ) -> Self {
        Self {
            token,
            session: Some(session),
            kind,
            asked_at,
            timeout,
            waits: true,
        }
    }

    /// Stands for one whose token nobody has issued.
    pub(super) fn never_asked(token: ReplyToken, now: i64) -> Self {
        Self {
            token,
            session: None,
            kind: QuestionKind::default(),
            asked_at: now,
            timeout: 0,
            waits: false,
        }
    }

    pub(super) fn deadline(&self) -> i64 {
        self.asked_at.saturating_add(self.timeout * 1_000)
    }
}

impl Questions {
    /// The question that is meant by a step that is about `kind`, or about either kind. Of those that wait there is one at every
    /// place, if there is any.
    pub(super) fn find(&self, which: Which, kind: Option<QuestionKind>) -> Option<&Question> {
        let waiting = |place: u8, of_kind: bool| {
            let newest_first = self.all.iter().rev();
            let mut waiting = newest_first.filter(|question| {
                question.waits && kind.is_none_or(|kind| (question.kind == kind) == of_kind)
            });
            let count = waiting.clone().count();
            waiting.nth(usize::from(place).checked_rem(count)?)
        };
        match which {
            Which::Open(place) => waiting(place, true),
            Which::Other(place) => waiting(place, false),
            Which::Any(place) => self.all.iter().rev().nth(usize::from(place)),
            Which::Unknown(_) => None,
        }
    }

    /// The moment at that place among those from `now` on.
    pub(super) fn moment(&self, now: i64, place: u8) -> Option<i64> {
        self.moments.range(now..).nth(usize::from(place)).copied()
    }

    /// What an event says of them.
    pub(super) fn watch(&mut self, event: &executor::Event) {
        match &event.payload {
            Payload::AwaitingConfirmation {
                reply_token,
                timeout,
                ..
            } => {
                let kind = QuestionKind::Confirmation;
                self.is_event(event, reply_token, kind, timeout.seconds());
            }
            Payload::AwaitingClarification {
                reply_token,
                timeout,
                ..
            } => {
                let kind = QuestionKind::Clarification;
                self.is_event(event, reply_token, kind, timeout.seconds());
            }
            Payload::StateChanged { .. } => {
                let resolved = event.extension.as_ref();
                if let Some(resolved) = resolved.filter(|it| it.outcome.is_some()) {
                    self.are_over(|question| question.token == resolved.reply_token);
                }
            }
            Payload::SessionCompleted { .. }
            | Payload::SessionErrored { .. }
            | Payload::SessionCancelled { .. } => {
                self.are_over(|question| question.session.as_ref() == Some(&event.session_id));
            }
            Payload::SessionStarted { .. }
            | Payload::ToolInvoked { .. }
            | Payload::OutputStreaming { .. }
            | Payload::HandoffRequested { .. }
            | Payload::ToolCompleted { .. }
            | Payload::ProgressUpdated { .. } => {}
        }
    }

    fn is_event(
        &mut self,
        event: &executor::Event,
        token: &ReplyToken,
        kind: QuestionKind,
        timeout: u32,
    ) {
        let session = event.session_id.clone();
        let (asked_at, timeout) = (event.timestamp.millis(), i64::from(timeout));
        self.is_asked(Question::asked(
            token.clone(),
            session,
            kind,
            asked_at,
            timeout,
        ));
    }

    /// One that was lost comes again under its token.
    pub(super) fn is_asked(&mut self, question: Question) {
        self.add_moments(&question);
        let mut newest_first = self.all.iter_mut().rev();
        let known = newest_first.find(|it| it.token == question.token);
        match known {
            Some(known) => *known = question,
            None => self.all.push(question),
        }
    }

    /// Those of which this is so wait no more.
    pub(super) fn are_over(&mut self, mut is_over: impl FnMut(&Question) -> bool) {
        for question in &mut self.all {
            question.waits = question.waits && !is_over(question);
        }
    }

    /// The time of one was changed.
    pub(super) fn is_extended(&mut self, token: &ReplyToken, timeout: i64) {
        self.extend(timeout, |question| question.token == *token);
    }

    /// The newest of which this is so waits so many seconds.
    pub(super) fn extend(&mut self, timeout: i64, mut is_meant: impl FnMut(&Question) -> bool) {
        let mut newest_first = self.all.iter_mut().rev();
        let known = newest_first.find(|question| is_meant(question));
        if let Some(question) = known {
            question.timeout = timeout;
            let question = question.clone();
            self.add_moments(&question);
        }
    }

    /// Also of a short one, where nothing is due before its time is up.
    fn add_moments(&mut self, question: &Question) {
        let parts = [500, 900, 1_000];
        let moments = parts.map(|part| question.asked_at.saturating_add(question.timeout * part));
        self.moments.extend(moments);
    }
}
