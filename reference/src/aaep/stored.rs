//! The producer as it was written down, before it is believed.
//!
//! The one thing to know: a document that no producer can have written is not read. Every transition relies on what
//! is checked here, and a document that was tampered with must not make a restored producer do what a question could
//! not have led to.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ask::{
    check_clarification, check_question, require_size_of_clarification,
    require_size_of_confirmation,
};
use super::clarification::Clarification;
use super::confirmation::{Authority, Confirmation, ConfirmationNumber, Phase, Question};
use super::event::{AgentState, MAX_SEQUENCE_NUMBER};
use super::interface::Refusal;
use super::modified::ModifiedAction;
use super::producer::Settings;
use super::question::{Asked, TokenState};
use super::questions::Questions;
use super::session::{Session, SessionStatus, Subscriptions};
use super::vocabulary::{SessionId, ToolCallId};
use crate::time::Timestamp;

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
    #[error("a question or an output is open, or a tool in flight, in a session that has ended")]
    OpenAfterEnd,
    #[error(
        "the state of a session is awaiting_input without a question, or a question without it"
    )]
    StateWrong,
    #[error("a session is handed off and still works, or writes an output that is not open")]
    WorkWrong,
    #[error("the tools or the outputs of a session contradict each other")]
    WorkInconsistent,
    #[error("an action was modified that no reply accepted, or beyond what was asked")]
    ModifiedWrong,
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
            require_size_of_clarification(&self.settings.identity, question)?;
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
            SessionStatus::Active | SessionStatus::Ended(_) => self.check_work(session_id, session),
        }
    }

    fn check_work(&self, session_id: &SessionId, session: &Session) -> Result<(), Contradiction> {
        let work = &session.work;
        let is_writing = !work.open_outputs.is_empty();
        let is_running = !work.running.is_empty() || self.questions.has_in_flight(session_id);
        match (session.status, session.state) {
            // AAEP-A.1-3: nothing is left open at the end.
            (SessionStatus::Ended(_), _) if is_writing || is_running => {
                return Err(Contradiction::OpenAfterEnd);
            }
            // AAEP-A.2-3
            (_, AgentState::HandingOff) if is_writing || is_running => {
                return Err(Contradiction::WorkWrong);
            }
            (SessionStatus::Active, AgentState::WritingOutput) if !is_writing => {
                return Err(Contradiction::WorkWrong);
            }
            (SessionStatus::Active | SessionStatus::Ended(_), _) => {}
        }
        if work.is_consistent() {
            Ok(())
        } else {
            Err(Contradiction::WorkInconsistent)
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
        check_question(action, *default_decision, allowed_replies)?;
        require_size_of_confirmation(&self.settings.identity, &confirmation.question)?;
        self.check_tool_call_id(number, &asked.session_id, tool_call_id)?;
        check_modified(confirmation)?;
        let phase = confirmation.phase;
        self.check_asked(
            asked,
            phase.token() == TokenState::Good || phase.is_in_flight(),
        )
    }

    /// AAEP-EV-13: it is the first of its own that no other call of the session has taken.
    fn check_tool_call_id(
        &self,
        number: ConfirmationNumber,
        session_id: &SessionId,
        tool_call_id: &ToolCallId,
    ) -> Result<(), Contradiction> {
        let session = self.sessions.get(session_id);
        let work = &session.ok_or(Contradiction::SessionUnknown)?.work;
        let mut own = ToolCallId::of_confirmation(number);
        // What lies before it was taken when it was asked, and so is taken now.
        match own.find(|id| id == tool_call_id || !work.has_called(id)) {
            Some(id) if id == *tool_call_id && !work.has_called(&id) => Ok(()),
            Some(_) | None => Err(Contradiction::ToolCallForeign),
        }
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

/// AAEP-6.3.2-3: only a reply modifies an action, and makes no more of it than was asked.
fn check_modified(confirmation: &Confirmation) -> Result<(), Contradiction> {
    let Some(modified) = &confirmation.modified_action else {
        return Ok(());
    };
    let by_reply = match confirmation.phase {
        Phase::Accepted { by, .. } => by == Authority::Reply,
        Phase::Pending | Phase::Rejected { .. } | Phase::Cancelled { .. } => false,
    };
    let action = &confirmation.question.action;
    if by_reply && ModifiedAction::of(modified.object(), action).as_ref() == Some(modified) {
        Ok(())
    } else {
        Err(Contradiction::ModifiedWrong)
    }
}
