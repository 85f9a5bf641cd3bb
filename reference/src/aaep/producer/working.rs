//! What a session does beside its questions, and how it is handed off.
//!
//! The one thing to know: a question goes before all else. While one is open the state stays `awaiting_input`, whatever else is
//! done; while a tool runs it stays `calling_tool`, whatever is put out.

use super::Call;
use crate::aaep::ask::{Told, check_chunk, check_handoff, check_run, require_size, size};
use crate::aaep::event::{AgentState, Payload};
use crate::aaep::interface::{Chunk, Field, Handoff, Output, Refusal, Run};
use crate::aaep::questions::Subject;
use crate::aaep::session::Session;
use crate::aaep::vocabulary::{SessionId, ToolCallId};
use crate::aaep::work::RunningTool;

impl Call<'_> {
    /// AAEP-6.1-4, AAEP-A.3-4: a tool that needs no question runs at once, whatever else runs or waits.
    pub(super) fn run_tool(&mut self, run: Run) -> Result<(), Refusal> {
        self.require_going_on(&run.session_id)?;
        check_run(&run)?;
        let tool_call_id = self.tool_call_id_of(&run)?;
        self.require_unasked(&run)?;

        let session_id = run.session_id.clone();
        let invoked = Payload::ToolInvoked {
            tool: run.tool.clone(),
            summary_normal: "A tool that needs no question runs.".into(),
            tool_call_id: tool_call_id.clone(),
            args_summary: run.args_summary.clone(),
            risk_level: run.risk_level,
            irreversible: run.irreversible,
        };
        self.require_size(&session_id, &invoked, || {
            [
                (Field::Tool, size(&run.tool)),
                (Field::ArgsSummary, size(&run.args_summary)),
            ]
        })?;
        // AAEP-A.3-3
        let summary = "A tool is about to run.";
        self.enter(&session_id, AgentState::CallingTool, summary);
        self.emit(&session_id, invoked, None);
        let tool = RunningTool::of(run, tool_call_id);
        let tool_call = tool.tool_call(&session_id);
        if let Some(session) = self.sessions.get_mut(&session_id) {
            session.work.begin(tool);
        }
        self.outputs.push(Output::Perform(tool_call));
        Ok(())
    }

    /// AAEP-A.3-1, AAEP-EV-13: the id of each call is its own in the session, also where a question has been asked with it.
    fn tool_call_id_of(&self, run: &Run) -> Result<ToolCallId, Refusal> {
        let Some(session) = self.sessions.get(&run.session_id) else {
            return Err(Refusal::SessionNotActive);
        };
        let Some(id) = &run.tool_call_id else {
            let fresh = session.work.fresh_tool_call_id();
            return fresh.ok_or(Refusal::ToolCallIdUsed);
        };
        let mut asked = self.questions.confirmations_in(&run.session_id);
        if session.work.has_called(id) || asked.any(|it| it.question.tool_call_id == *id) {
            Err(Refusal::ToolCallIdUsed)
        } else {
            Ok(id.clone())
        }
    }

    /// What was asked about runs by the answer alone.
    fn require_unasked(&self, run: &Run) -> Result<(), Refusal> {
        // AAEP-6.1-1: nobody has answered yet.
        let subject = Subject::Action(run.action.clone());
        if self.questions.is_pending(&run.session_id, &subject) {
            return Err(Refusal::ActionUnanswered);
        }
        // AAEP-A.4-4: nor after it was answered, whatever the answer.
        let mut asked = self.questions.confirmations_in(&run.session_id);
        if asked.any(|it| it.question.action.id == run.action) {
            return Err(Refusal::ActionAsked);
        }
        Ok(())
    }

    /// AAEP-A.6-1, AAEP-A.6-2, AAEP-A.6-3: one chunk of an output. The first begins it, the last completes it.
    pub(super) fn put_out(&mut self, chunk: &Chunk) -> Result<(), Refusal> {
        let session = self.require_going_on(&chunk.session_id)?;
        check_chunk(chunk)?;
        let position = session.work.position_of(chunk)?;

        let session_id = &chunk.session_id;
        let streaming = Payload::OutputStreaming {
            output_id: chunk.output_id.clone(),
            chunk: chunk.text.clone(),
            position,
            complete: chunk.is_last,
        };
        self.require_size(session_id, &streaming, || {
            [(Field::Chunk, size(&chunk.text))]
        })?;
        // AAEP-A.3-3: while a tool runs the state says so.
        if !self.has_tool_running(session_id) {
            let summary = "Output is being written.";
            self.enter(session_id, AgentState::WritingOutput, summary);
        }
        if let Some(session) = self.sessions.get_mut(session_id) {
            session.work.write(chunk, position);
        }
        self.emit(session_id, streaming, None);
        if chunk.is_last {
            self.leave_writing(session_id);
        }
        Ok(())
    }

    /// No output is being written any more, unless another is open.
    fn leave_writing(&mut self, session_id: &SessionId) {
        let has_written = |session: &Session| {
            session.state == AgentState::WritingOutput && session.work.open_outputs.is_empty()
        };
        if self.sessions.get(session_id).is_some_and(has_written) {
            let summary = "The output is complete.";
            self.change_state(session_id, AgentState::Thinking, summary, None);
        }
    }

    /// AAEP-A.2-3: the session is handed off, and after that only ends.
    pub(super) fn hand_off(&mut self, handoff: Handoff) -> Result<(), Refusal> {
        let session = self.require_going_on(&handoff.session_id)?;
        let has_open_output = !session.work.open_outputs.is_empty();
        check_handoff(&handoff)?;
        // AAEP-A.2-2, AAEP-A.3-3, AAEP-A.6-1: what the session has begun it brings to its end before.
        if self.questions.has_pending(&handoff.session_id) {
            return Err(Refusal::QuestionOpen);
        }
        if self.has_tool_running(&handoff.session_id) {
            return Err(Refusal::ToolRunning);
        }
        if has_open_output {
            return Err(Refusal::OutputOpen);
        }
        let fields = [
            (Field::Reason, size(&handoff.reason)),
            (Field::TargetUri, size(&handoff.target_uri)),
        ];
        let requested = Payload::HandoffRequested {
            reason: handoff.reason,
            target_kind: handoff.target_kind,
            target_uri: handoff.target_uri,
        };
        self.require_size(&handoff.session_id, &requested, || fields)?;
        let summary = "The session is being handed off.";
        self.enter(&handoff.session_id, AgentState::HandingOff, summary);
        self.emit(&handoff.session_id, requested, None);
        Ok(())
    }

    /// AAEP-EV-10: the event would not be too large.
    fn require_size<const N: usize>(
        &self,
        session_id: &SessionId,
        payload: &Payload,
        fields: impl FnOnce() -> [(Field, usize); N],
    ) -> Result<(), Refusal> {
        let told = Told {
            identity: &self.settings.identity,
            session_id,
            payload: payload.clone(),
            extension: None,
        };
        require_size(told, fields)
    }

    /// AAEP-A.1-3, AAEP-A.2-3: something begins only in a session that goes on and is not handed off.
    pub(super) fn require_going_on(&self, session_id: &SessionId) -> Result<&Session, Refusal> {
        self.require_active(session_id, Refusal::SessionNotActive)?;
        match self.sessions.get(session_id) {
            Some(session) if session.state == AgentState::HandingOff => Err(Refusal::HandingOff),
            Some(session) => Ok(session),
            None => Err(Refusal::SessionNotActive),
        }
    }

    /// Whether a tool of the session is in flight, confirmed or not.
    pub(super) fn has_tool_running(&self, session_id: &SessionId) -> bool {
        let session = self.sessions.get(session_id);
        session.is_some_and(|session| !session.work.running.is_empty())
            || self.questions.has_in_flight(session_id)
    }

    /// Tells that the session is in that state, if it is in another. AAEP-A.2-2: not while a question is open.
    fn enter(&mut self, session_id: &SessionId, state: AgentState, summary: &'static str) {
        let is_in_another = |session: &Session| session.state != state;
        if !self.questions.has_pending(session_id)
            && self.sessions.get(session_id).is_some_and(is_in_another)
        {
            self.change_state(session_id, state, summary, None);
        }
    }
}
