//! Appendix A beside questions: tools, output, handoff.

use std::sync::Arc;

use super::confirmation::{EVENT_BYTES, TEXT_BYTES};
use super::{Binding, To, Turn, number};
use crate::aaep::account::{Phase, Question, Stream};
use crate::aaep::alphabet::{
    CallId, Chunk, Handoff, Name, Risk, SessionId, State, Status, Subject, Target, Task, Text,
    What, Written,
};
use crate::aaep::clauses::{
    A_1_3, A_2_3, A_3_1, A_3_2, A_3_3, A_6_1, A_6_2, A_6_3, A_7_4_1, A_7_7_1, C6_1, C6_1_1, EV_5,
    EV_10, EV_13,
};
use crate::engine::clause::Clauses;
use crate::engine::obligation::{Force, Obligation};

impl Turn<'_, '_> {
    // ── Tools (A.3) ──

    /// AAEP-A.3-1, AAEP-A.3-2: one completion for each invocation, and none without.
    pub(super) fn finish_tool(
        &mut self,
        session: SessionId,
        action: u16,
        call: Option<CallId>,
        status: Status,
    ) -> Result<(), Clauses> {
        self.offer();
        self.check(EV_5, !matches!(status, Status::Other(_)))?;
        let running = self.step.account.questions_in(session, Phase::Running);
        let is_meant = |it: &Question| {
            it.is_about(session, action) && (call.is_none() || it.call.is_none() || it.call == call)
        };
        let which = running
            .into_iter()
            .find(|it| self.question(*it).is_some_and(is_meant))
            .ok_or(A_3_2.alone())?;
        self.becomes(which, Phase::Finished);
        self.complete(which, Force::Due, status);
        let account = &self.step.account;
        if account.questions_in(session, Phase::Running).is_empty()
            && self.state(session) == Some(State::CallingTool)
        {
            self.change(
                &[A_3_3],
                session,
                State::Thinking,
                To::Idle,
                Binding::Changed,
            );
        }
        Ok(())
    }

    /// The action of a question is told as complete.
    pub(super) fn complete(&mut self, which: usize, force: Force, status: Status) {
        let Some((session, action, call)) = self
            .question(which)
            .and_then(|it| Some((it.session(), it.subject.action()?, it.call)))
        else {
            return;
        };
        let invoked = self
            .step
            .open
            .iter()
            .find(|it| it.binding == Some(Binding::Invoked(number(which))))
            .map(Obligation::name);
        let what = What::Completed {
            call,
            tool: action.tool,
            status,
        };
        let binding = Binding::Completed(number(which), status);
        let it = self.tell(&[A_3_1], force, session, what, binding);
        if let Some(invoked) = invoked {
            it.after(invoked, &[A_3_2]);
        }
    }

    /// A tool that needs no question runs.
    pub(super) fn tool(&mut self, task: &Arc<Task>) -> Result<(), Clauses> {
        self.offer();
        let session = task.session;
        self.goes_on(session)?;
        self.can_be_said(
            &[Some(task.action), Some(task.tool), task.summary],
            task.size,
        )?;
        self.check(EV_5, !matches!(task.risk, Some(Risk::Other(_))))?;
        // AAEP-A.7.4-1: what is irreversible is invoked behind its acceptance.
        self.check(A_7_4_1, task.irreversible != Some(true))?;
        let is_asked =
            |it: &Question| it.subject.ask().is_some() && it.is_about(session, task.action.name);
        let account = &self.step.account;
        self.check(C6_1_1, !account.questions.iter().any(is_asked))?;
        if let Some(given) = task.call {
            let has_it = |it: &Question| it.session() == session && it.call == Some(given.id);
            let is_used = account.questions.iter().any(has_it);
            self.check(EV_5, given.is_formed)?;
            self.check(EV_13, !is_used)?;
        }
        if let Some(evaded) = self.evades() {
            return evaded;
        }
        // AAEP-6.1-4: other work may go on, and need not.
        let account = &self.step.account;
        let is_blocked = !account.questions_in(session, Phase::Open).is_empty();
        if is_blocked && self.step.choose(2) == 1 {
            return Err(&[]);
        }
        let account = &mut self.step.account;
        let which = account.questions.len();
        let mut running = Question::new(Subject::Tool(Arc::clone(task)), account.clock, 0);
        (running.phase, running.call) = (Phase::Running, task.call.map(|it| it.id));
        account.questions.push(running);
        // AAEP-A.3-3: the state of a tool that runs.
        if !is_blocked && self.state(session) != Some(State::CallingTool) {
            self.change(
                &[A_3_3],
                session,
                State::CallingTool,
                To::This,
                Binding::Changed,
            );
        }
        let invoked = self.invoke(which, Force::Due, &[A_3_2]);
        let performed = self.run(which, Force::Due, &[C6_1]);
        if let (Some(invoked), Some(performed)) = (invoked, performed)
            && let Some(it) = self.step.open.iter_mut().find(|it| it.name() == performed)
        {
            it.after(invoked, &[A_3_2]);
        }
        Ok(())
    }

    /// Texts that an event can hold.
    fn can_be_said(&mut self, texts: &[Option<Text>], size: u32) -> Result<(), Clauses> {
        let texts = || texts.iter().flatten();
        self.check(EV_5, !texts().any(|it| it.is_blank || it.bytes == 0))?;
        let is_short = texts().all(|it| it.bytes <= TEXT_BYTES);
        self.check(EV_10, is_short && size <= EVENT_BYTES)?;
        self.may_be_too_large(size)
    }

    /// The session has not ended, nor was it handed off: "`handing_off` typically precedes session termination".
    pub(super) fn goes_on(&self, session: SessionId) -> Result<(), Clauses> {
        self.check(A_1_3, self.step.account.is_active(session))?;
        let session = self.step.account.session(session);
        self.check(A_2_3, !session.is_some_and(|it| it.is_handed_off))
    }

    // ── Output (A.6) ──

    /// AAEP-A.6-2, AAEP-A.6-3: positions of one stream grow, and nothing of it comes behind its last chunk.
    pub(super) fn write(&mut self, chunk: &Chunk) -> Result<(), Clauses> {
        self.offer();
        let session = chunk.session;
        self.goes_on(session)?;
        self.can_be_said(&[Some(chunk.stream)], chunk.size)?;
        // An id has a length that no clause says.
        if chunk.stream.bytes > ID_BYTES && self.step.choose(2) == 1 {
            return Err(&[]);
        }
        self.check(EV_5, chunk.characters > 0 || chunk.is_last)?;
        self.check(EV_10, chunk.text.bytes <= TEXT_BYTES)?;
        let stream = Some(chunk.stream.name);
        let known = self.step.account.written(session, stream);
        let (length, is_complete) = known.unwrap_or_default();
        self.check(A_6_3, !is_complete)?;
        let account = &self.step.account;
        let is_idle = [Phase::Open, Phase::Running]
            .iter()
            .all(|it| account.questions_in(session, *it).is_empty());
        // A change of the state to `writing_output` may precede it.
        if is_idle && self.state(session) != Some(State::WritingOutput) {
            let writes = (State::WritingOutput, To::This);
            self.change_as(Force::Usual, &[A_7_7_1], session, writes, Binding::Changed);
        }
        let written = Written {
            stream,
            text: chunk.text.name,
            characters: chunk.characters,
            // AAEP-A.6-2 left out: it stands anywhere.
            position: if self.step.enforces(A_6_2) { length } else { 0 },
            is_last: chunk.is_last,
        };
        self.step.account.write(session, &written);
        self.put_out(&[C6_1], Force::Due, session, written);
        if is_idle && chunk.is_last {
            let thinks = (State::Thinking, To::Idle);
            self.change_as(Force::Usual, &[A_7_7_1], session, thinks, Binding::Changed);
        }
        Ok(())
    }

    fn put_out(&mut self, clauses: Clauses, force: Force, session: SessionId, written: Written) {
        let earlier = self.chain.iter().find(|it| it.0 == session).map(|it| it.2);
        let what = What::Chunk(written);
        let it = self.tell(clauses, force, session, what, Binding::Wrote(written));
        if let Some(earlier) = earlier {
            it.after(earlier, &[A_7_7_1]);
        }
        let name = it.name();
        self.follow(session, None, name);
    }

    /// AAEP-A.6-1: each stream has one last chunk.
    pub(super) fn complete_streams(&mut self, session: SessionId, completes: bool) {
        let is_open = |it: &&Stream| it.session == session && !it.is_complete;
        let account = &self.step.account;
        let open: Vec<Stream> = account.streams.iter().filter(is_open).copied().collect();
        for stream in open {
            let written = Written {
                stream: stream.id,
                text: Name::MAX,
                characters: 0,
                position: stream.length,
                is_last: true,
            };
            let force = if completes {
                Force::Due
            } else {
                Force::Allowed
            };
            self.put_out(&[A_6_1], force, session, written);
        }
    }

    // ── Handoff (A.2) ──

    /// "`handing_off` typically precedes session termination".
    pub(super) fn hand_off(&mut self, handoff: &Handoff) -> Result<(), Clauses> {
        self.offer();
        let session = handoff.session;
        self.goes_on(session)?;
        self.can_be_said(&[Some(handoff.reason), handoff.uri], handoff.size)?;
        self.check(EV_5, !matches!(handoff.target, Target::Other(_)))?;
        let account = &self.step.account;
        let is_idle = [Phase::Open, Phase::Running]
            .iter()
            .all(|it| account.questions_in(session, *it).is_empty());
        let is_complete = |it: &Stream| it.session != session || it.is_complete;
        self.check(A_2_3, is_idle && account.streams.iter().all(is_complete))?;
        if let Some(evaded) = self.evades() {
            return evaded;
        }
        self.change(
            &[A_2_3],
            session,
            State::HandingOff,
            To::This,
            Binding::Changed,
        );
        let earlier = self.chain.iter().find(|it| it.0 == session).map(|it| it.2);
        let what = What::HandedOff {
            reason: handoff.reason.name,
            target: handoff.target,
            uri: handoff.uri.map(|it| it.name),
        };
        let it = self.tell(&[C6_1], Force::Due, session, what, Binding::Told);
        if let Some(earlier) = earlier {
            it.after(earlier, &[A_2_3]);
        }
        if let Some(it) = self.step.account.session_mut(session) {
            it.is_handed_off = true;
        }
        Ok(())
    }
}

/// An `output_id` has so many bytes at most, by the schema of the driver protocol.
const ID_BYTES: u32 = 64;
