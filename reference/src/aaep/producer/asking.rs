//! How questions come into being, and how much time they have.
//!
//! The one thing to know: whatever would have to be refused later is refused when it is asked, so that no such question ever exists.

use std::sync::Arc;

use super::Call;
use crate::aaep::ask::{
    check_ask, check_clarify, require_deadline, require_size_of_clarification,
    require_size_of_confirmation, timeout_in_range,
};
use crate::aaep::clarification::ClarificationQuestion;
use crate::aaep::confirmation::Question;
use crate::aaep::event::{AgentState, CountersignExtension, Payload};
use crate::aaep::interface::{Ask, Clarify, Refusal};
use crate::aaep::question::{Asked, QuestionNumber};
use crate::aaep::questions::Subject;
use crate::aaep::vocabulary::{ReplyToken, SessionId, ToolCallId};
use crate::time::Timeout;

impl Call<'_> {
    pub(super) fn ask(&mut self, ask: Ask) -> Result<(), Refusal> {
        // AAEP-A.1-3: a question lies between the start and the end of its session.
        self.require_going_on(&ask.session_id)?;
        let (timeout, allowed_replies) = check_ask(self.now, &ask)?;
        // AAEP-6.1-6: not again while the same action is blocked.
        let subject = Subject::Action(ask.action.id.clone());
        if self.questions.is_pending(&ask.session_id, &subject) {
            return Err(Refusal::ActionBlocked);
        }
        let mut question = Question {
            tool_call_id: self.next_tool_call_id(&ask.session_id)?,
            asked: self.asked(ask.session_id, timeout),
            action: ask.action,
            default_decision: ask.default_decision,
            allowed_replies,
        };
        require_size_of_confirmation(&self.settings.identity, &question)?;
        question.asked.reply_token = self.fresh_reply_token()?;
        let question = Arc::new(question);
        self.questions.add_confirmation(Arc::clone(&question));
        self.announce(&question.asked, question.awaiting_confirmation());
        Ok(())
    }

    pub(super) fn clarify(&mut self, clarify: Clarify) -> Result<(), Refusal> {
        // AAEP-A.1-3: a question lies between the start and the end of its session.
        self.require_going_on(&clarify.session_id)?;
        let timeout = check_clarify(self.now, &clarify)?;
        // AAEP-6.1-9: not again while the same question is open.
        let subject = Subject::Words(Arc::clone(&clarify.question));
        if self.questions.is_pending(&clarify.session_id, &subject) {
            return Err(Refusal::QuestionPending);
        }
        let mut question = ClarificationQuestion {
            asked: self.asked(clarify.session_id, timeout),
            text: clarify.question,
            accepted_response_kinds: clarify.accepted_response_kinds,
            choices: clarify.choices,
            default_response: clarify.default_response,
        };
        require_size_of_clarification(&self.settings.identity, &question)?;
        question.asked.reply_token = self.fresh_reply_token()?;
        let question = Arc::new(question);
        self.questions.add_clarification(Arc::clone(&question));
        self.announce(&question.asked, question.awaiting_clarification());
        Ok(())
    }

    /// What every question has. AAEP-6.2-1: it gets a token of its own, as long as this one, once nothing can be said against it.
    fn asked(&self, session_id: SessionId, timeout: Timeout) -> Asked {
        Asked {
            reply_token: ReplyToken::from_bits(0),
            session_id,
            at: self.now,
            timeout,
        }
    }

    /// AAEP-EV-13: the call of the next confirmation has an id that no other call of its session has.
    fn next_tool_call_id(&self, session_id: &SessionId) -> Result<ToolCallId, Refusal> {
        let session = self.require_going_on(session_id)?;
        ToolCallId::of_confirmation(self.questions.next_confirmation())
            .find(|id| !session.work.has_called(id))
            .ok_or(Refusal::ToolCallIdUsed)
    }

    /// AAEP-A.4-1, AAEP-A.5-1: the state becomes `awaiting_input` at or before the question.
    fn announce(&mut self, Asked { session_id, .. }: &Asked, question: Payload) {
        match self.sessions.get(session_id).map(|session| session.state) {
            Some(AgentState::AwaitingInput) | None => {}
            Some(
                AgentState::Idle
                | AgentState::Thinking
                | AgentState::CallingTool
                | AgentState::WritingOutput
                | AgentState::HandingOff,
            ) => self.await_input(session_id),
        }
        self.emit(session_id, question, None);
    }

    /// AAEP-6.4.2-3: a pending question gets more time, of whichever kind it is, and an event says so.
    pub(super) fn extend(&mut self, reply_token: &ReplyToken, seconds: u64) -> Result<(), Refusal> {
        let number = self.questions.find_pending(reply_token);
        let number = number.ok_or(Refusal::NothingToExtend)?;
        let timeout = timeout_in_range(seconds)?;
        let asked = self.questions.asked(number);
        if timeout <= asked.timeout {
            return Err(Refusal::NotLonger);
        }
        require_deadline(asked.at, timeout)?;
        self.questions.extend(number, timeout);
        let extended = self.questions.asked(number).extended(self.now);
        self.tell_time(number, extended);
        Ok(())
    }

    /// How much time a question has. The event says which question.
    pub(super) fn tell_time(&mut self, number: QuestionNumber, progress: Payload) {
        let Asked {
            reply_token,
            session_id,
            ..
        } = self.questions.asked(number).clone();
        let extension = CountersignExtension {
            reply_token,
            action: None,
            outcome: None,
        };
        self.emit(&session_id, progress, Some(extension));
    }
}
