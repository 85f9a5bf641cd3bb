//! What becomes of questions: they are answered, or fall due, or are taken back; and what becomes of the tools that they release.
//!
//! The one thing to know: an action that was asked about is released in [`Call::proceed`] alone, and what depends on an answer in [`Call::answer`].

use super::Call;
use crate::aaep::clarification::ClarificationNumber;
use crate::aaep::confirmation::{Authority, Canceller, ConfirmationNumber, Phase};
use crate::aaep::event::{AgentState, ResolutionOutcome};
use crate::aaep::interface::{Answer, Answered, Output, Refusal, Response, Sender, ToolCall};
use crate::aaep::question::{Asked, QuestionNumber};
use crate::aaep::validate::{Valid, Verdict, validate};
use crate::aaep::vocabulary::{ActionId, Decision, ReplyToken, SessionId, ToolCallId, ToolStatus};

impl Call<'_> {
    pub(super) fn deliver(&mut self, sender: &Sender, message: &[u8]) {
        // AAEP-6.3.4-9: the sender gets the same response whatever becomes of the message, and gets it first.
        self.outputs.push(Output::Respond(Response::CONSTANT));
        match validate(
            message,
            sender,
            self.questions,
            self.subscriptions,
            self.settings,
        ) {
            Ok(valid) => self.honour(valid),
            // AAEP-6.3.4-7, AAEP-6.5.5-4: ignored, and the question goes on waiting. AAEP-6.3.4-8: and written down.
            Err(ignored) => {
                self.outputs.push(Output::Audit(ignored.audit()));
                if self.settings.courtesy_notices {
                    let notice = ignored.courtesy_notice(sender, self.subscriptions);
                    self.outputs.extend(notice.map(Output::Notify));
                }
            }
        }
    }

    /// AAEP-6.7.1-1: the first valid reply decides.
    fn honour(&mut self, valid: Valid) {
        let by = Authority::Reply;
        match valid {
            Valid::Reply(reply) => {
                let number = reply.confirmation();
                match reply.into_verdict() {
                    Verdict::Accept(modified_action) => {
                        if let Some(modified_action) = modified_action {
                            self.questions.modify(number, modified_action);
                        }
                        self.resolve(number, Decision::Accept, by);
                    }
                    Verdict::Reject => self.resolve(number, Decision::Reject, by),
                }
            }
            Valid::Answer(answer) => {
                let number = answer.clarification();
                let response = answer.into_response();
                self.answer(number, Answered::Reply { response }, by);
            }
        }
    }

    /// A pending confirmation is decided, and its token with that used up (AAEP-REPLY-12).
    pub(super) fn resolve(
        &mut self,
        number: ConfirmationNumber,
        decision: Decision,
        by: Authority,
    ) {
        let resolved = self
            .questions
            .transition(number, |phase| phase.resolve(decision, by));
        // The phase itself refuses to be resolved twice, whatever led here.
        if resolved.is_err() {
            return;
        }
        match decision {
            Decision::Accept => self.proceed(number),
            // AAEP-6.1-2, AAEP-A.4-4: the action does not run, and not silently.
            Decision::Reject => self.follow_up(number.into(), ResolutionOutcome::Rejected),
        }
    }

    /// AAEP-A.5-2: there is no reply, so the default is the answer, or there is none.
    pub(super) fn answer_by_default(&mut self, number: ClarificationNumber, by: Authority) {
        let answered = self
            .questions
            .clarification(number)
            .question
            .default_answer();
        self.answer(number, answered, by);
    }

    /// AAEP-6.1-7, AAEP-A.5-1: a pending clarification is resolved, and the host told what came of it.
    fn answer(&mut self, number: ClarificationNumber, answered: Answered, by: Authority) {
        let resolved = self
            .questions
            .transition_clarification(number, |phase| phase.resolve(by));
        if resolved.is_err() {
            return;
        }
        let outcome = match answered {
            Answered::Reply { .. } | Answered::Default { .. } => ResolutionOutcome::Answered,
            Answered::Nobody => ResolutionOutcome::Unanswered,
        };
        self.follow_up(number.into(), outcome);
        let Asked {
            session_id,
            reply_token,
            ..
        } = self.questions.asked(number.into()).clone();
        // AAEP-6.1-8: this is the only place where what depends on an answer is released.
        self.outputs.push(Output::Answer(Answer {
            session_id,
            reply_token,
            answered,
        }));
    }

    /// AAEP-A.4-3: the tool of an accepted action is invoked. AAEP-A.4-2: the state leaves `awaiting_input` before.
    fn proceed(&mut self, number: ConfirmationNumber) {
        let confirmation = self.questions.confirmation(number).clone();
        let question = &confirmation.question;
        let resolution = question.resolution(ResolutionOutcome::Accepted);
        self.change_state(
            &question.asked.session_id,
            AgentState::CallingTool,
            ResolutionOutcome::Accepted.summary(number.into()),
            Some(resolution.clone()),
        );
        self.emit(
            &question.asked.session_id,
            confirmation.tool_invoked(),
            Some(resolution),
        );
        self.go_on(&question.asked.session_id);
        // AAEP-6.1-1, AAEP-6.1-5: only here an action is released that was asked about, and its invocation told.
        self.outputs.push(Output::Perform(confirmation.tool_call()));
    }

    /// AAEP-6.1-3, AAEP-6.8-3: an event reflects that the action will not run. AAEP-A.4-2, AAEP-A.5-1: the state leaves
    /// `awaiting_input`.
    pub(super) fn follow_up(&mut self, number: QuestionNumber, outcome: ResolutionOutcome) {
        let session_id = self.questions.asked(number).session_id.clone();
        let resolution = match number {
            QuestionNumber::Confirmation(number) => self.question(number).resolution(outcome),
            QuestionNumber::Clarification(number) => {
                let clarification = self.questions.clarification(number);
                clarification.question.resolution(outcome)
            }
        };
        let summary = outcome.summary(number);
        self.change_state(&session_id, AgentState::Thinking, summary, Some(resolution));
        self.go_on(&session_id);
    }

    /// What a session comes to once a question of it is resolved. AAEP-A.2-2: `awaiting_input` again while another is open.
    /// AAEP-A.3-3: else `calling_tool` while a tool runs.
    fn go_on(&mut self, session_id: &SessionId) {
        let state = self.sessions.get(session_id).map(|session| session.state);
        if self.questions.has_pending(session_id) {
            self.await_input(session_id);
        } else if self.has_tool_running(session_id) && state != Some(AgentState::CallingTool) {
            let summary = "The tool is still running.";
            self.change_state(session_id, AgentState::CallingTool, summary, None);
        }
    }

    pub(super) fn await_input(&mut self, session_id: &SessionId) {
        let summary = "Waiting for the user to decide.";
        self.change_state(session_id, AgentState::AwaitingInput, summary, None);
    }

    pub(super) fn cancel(&mut self, reply_token: &ReplyToken) -> Result<(), Refusal> {
        // AAEP-6.8-1: what is pending may be taken back, nothing else.
        let number = self
            .questions
            .find(reply_token)
            .ok_or(Refusal::NothingToCancel)?;
        self.questions
            .cancel(number, Canceller::Producer)
            .map_err(|_| Refusal::NothingToCancel)?;
        self.follow_up(number, ResolutionOutcome::Cancelled);
        Ok(())
    }

    // Tools.

    pub(super) fn finish_tool(
        &mut self,
        session_id: &SessionId,
        action: &ActionId,
        tool_call_id: Option<&ToolCallId>,
        status: ToolStatus,
    ) -> Result<(), Refusal> {
        // AAEP-A.3-2: no completion without an invocation. An ended session has nothing in flight. Nothing runs unasked once it
        // was asked about, so what runs unasked is older.
        let session = self.sessions.get_mut(session_id);
        let unasked = session.and_then(|session| session.work.finish(action, tool_call_id));
        let tool_call = match unasked {
            Some(tool) => tool.tool_call(session_id),
            None => self.finish_confirmed(session_id, action, tool_call_id)?,
        };
        self.emit(session_id, tool_call.completed(status), None);

        let was_the_last = !self.has_tool_running(session_id);
        let state = self.sessions.get(session_id).map(|session| session.state);
        // AAEP-A.3-3: the state is `calling_tool` while a tool runs, and no longer.
        if was_the_last && state == Some(AgentState::CallingTool) {
            self.change_state(
                session_id,
                AgentState::Thinking,
                "The tool has come back.",
                None,
            );
        }
        Ok(())
    }

    /// A tool that a confirmation released has come back.
    fn finish_confirmed(
        &mut self,
        session_id: &SessionId,
        action: &ActionId,
        tool_call_id: Option<&ToolCallId>,
    ) -> Result<ToolCall, Refusal> {
        let is_the_call = |number: &ConfirmationNumber| {
            tool_call_id.is_none_or(|id| self.question(*number).tool_call_id == *id)
        };
        let number = self
            .questions
            .in_flight_of(session_id, action)
            .find(is_the_call)
            .ok_or(Refusal::NothingToFinish)?;
        self.questions
            .transition(number, Phase::finish)
            .map_err(|_| Refusal::NothingToFinish)?;
        Ok(self.questions.confirmation(number).tool_call())
    }
}
