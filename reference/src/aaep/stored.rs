//! The producer as it was written down, before it is believed.
//!
//! The one thing to know: a document that no producer can have written is not read. Every transition relies on what
//! is checked here, and a document that was tampered with must not make a restored producer do what a question could
//! not have led to.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ask::{check_clarification, check_question};
use super::clarification::Clarification;
use super::confirmation::{Confirmation, ConfirmationNumber, Question};
use super::event::AgentState;
use super::interface::Refusal;
use super::producer::Settings;
use super::question::{Asked, TokenState};
use super::questions::Questions;
use super::session::{Session, SessionStatus, Subscriptions};
use super::vocabulary::{SessionId, ToolCallId};
use crate::time::Timestamp;

/// No session has more events than this: the largest integer that every reader of JSON takes for what it is.
const MAX_SEQUENCE_NUMBER: u64 = 1 << 53;

/// The fields of a [`super::Producer`] as read from a document.
#[derive(Deserialize)]
pub(super) struct Stored {
    pub(super) settings: Settings,
    pub(super) now: Timestamp,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) subscriptions: Subscriptions,
    pub(super) questions: Questions,
}

/// The parts of the document contradict each other, so no producer can have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Contradiction {
    #[error("a question that must not have been asked: {0}")]
    Question(#[from] Refusal),
    #[error("a question was asked later than now")]
    AskedLater,
    #[error("a question has the tool_call_id of another")]
    ToolCallForeign,
    #[error("a question belongs to a session that was not started")]
    SessionUnknown,
    #[error("a question is open, or its tool in flight, in a session that has ended")]
    OpenAfterEnd,
    #[error(
        "the state of a session is awaiting_input without a question, or a question without it"
    )]
    StateWrong,
    #[error("a session has lost count of its events")]
    CountLost,
}

impl Stored {
    /// Checks each part against the others.
    pub(super) fn check(&self) -> Result<(), Contradiction> {
        for (session_id, session) in &self.sessions {
            self.check_session(session_id, session)?;
        }
        let confirmations = self.questions.confirmations();
        for (index, confirmation) in confirmations.iter().enumerate() {
            self.check_confirmation(ConfirmationNumber(index), confirmation)?;
        }
        for Clarification { question, phase } in self.questions.clarifications() {
            check_clarification(question)?;
            self.check_asked(&question.asked, phase.token() == TokenState::Good)?;
        }
        Ok(())
    }

    fn check_session(
        &self,
        session_id: &SessionId,
        session: &Session,
    ) -> Result<(), Contradiction> {
        // AAEP-EV-4: the first event had number 0, and the numbers go on from there.
        if !(1..=MAX_SEQUENCE_NUMBER).contains(&session.next_sequence_number) {
            return Err(Contradiction::CountLost);
        }
        // AAEP-A.4-1, AAEP-A.4-2: in `awaiting_input` as long as a question is pending.
        let is_waiting = session.state == AgentState::AwaitingInput;
        match session.status {
            SessionStatus::Active if is_waiting != self.questions.has_pending(session_id) => {
                Err(Contradiction::StateWrong)
            }
            SessionStatus::Active | SessionStatus::Ended(_) => Ok(()),
        }
    }

    fn check_confirmation(
        &self,
        number: ConfirmationNumber,
        confirmation: &Confirmation,
    ) -> Result<(), Contradiction> {
        let Question {
            asked,
            action,
            tool_call_id,
            default_decision,
            allowed_replies,
        } = &*confirmation.question;
        // AAEP-6.4.1-1, AAEP-6.4.1-2, AAEP-6.9-5: least of all a default that must not be.
        check_question(
            asked.at,
            asked.timeout,
            action,
            *default_decision,
            allowed_replies,
        )?;
        // AAEP-EV-13
        if *tool_call_id != ToolCallId::of_confirmation(number) {
            return Err(Contradiction::ToolCallForeign);
        }
        let phase = confirmation.phase;
        self.check_asked(
            asked,
            phase.token() == TokenState::Good || phase.is_in_flight(),
        )
    }

    /// Checks what every question has; `is_open` where an event of its session is still to come of it.
    fn check_asked(&self, asked: &Asked, is_open: bool) -> Result<(), Contradiction> {
        if asked.at > self.now {
            return Err(Contradiction::AskedLater);
        }
        // AAEP-A.1-3, AAEP-6.8-2: nothing can come of a question outside of its session.
        let session = self.sessions.get(&asked.session_id);
        match session.ok_or(Contradiction::SessionUnknown)?.status {
            SessionStatus::Ended(_) if is_open => Err(Contradiction::OpenAfterEnd),
            SessionStatus::Active | SessionStatus::Ended(_) => Ok(()),
        }
    }
}
