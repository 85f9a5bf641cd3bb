//! Work around the questions: tools that nobody is asked about, output, handoffs.
//!
//! The one thing to know: it changes nothing of the questions. A session that awaits an answer goes on awaiting it, whatever else is done in it
//! (AAEP-6.1-4).

use super::Aaep;
use super::action::Action;
use super::output::Output;
use super::readings::SessionEndCompletes;
use super::rules::{Guard, Refusal};
use super::state::{SessionStatus, State, Streaming};
use super::step::StepSoFar;
use super::words::{Piece, SessionName, SessionOutcome, Worked};

impl Aaep {
    /// Whether another piece of work fits into the bounds.
    pub(super) fn can_work(&self, state: &State) -> bool {
        state.work.begun < self.bounds.work
    }

    /// Every piece of work, what is refused too: one tool at a time, and one output.
    pub(super) fn works(&self, state: &State, actions: &mut Vec<Action>) {
        if let Some(session) = state.work.tool {
            actions.push(Action::Work(Piece::Finish { session }));
        }
        if !self.can_work(state) {
            return;
        }
        let begun = |&it: &SessionName| state.session(it).status != SessionStatus::Unstarted;
        for session in self.sessions().filter(begun) {
            let mut offer = |piece| actions.push(Action::Work(piece));
            for flag in [false, true] {
                if state.work.tool.is_none() {
                    offer(Piece::Run {
                        session,
                        irreversible: flag,
                    });
                }
                if state.work.output.is_none_or(|it| it.session == session) {
                    offer(Piece::Write {
                        session,
                        complete: flag,
                    });
                }
            }
            offer(Piece::HandOff { session });
        }
    }
}

impl StepSoFar<'_> {
    /// `tool`, `finish_tool`, `output` and `handoff`.
    pub(super) fn work(&mut self, piece: Piece) -> Option<()> {
        self.settle(None);
        if let Piece::Finish { session } = piece {
            return self.finish(session);
        }
        if !self.model.can_work(&self.state) {
            return None;
        }
        if let Some(refusal) = self.refusal_to_work(piece) {
            self.required.push(Output::Refused(refusal));
            return Some(());
        }
        self.state.work.begun += 1;
        match piece {
            Piece::Run {
                session,
                irreversible,
            } => self.run(session, irreversible),
            Piece::Write { session, complete } => self.write(session, complete),
            Piece::HandOff { session } => self.hand_off(session),
            Piece::Finish { .. } => {}
        }
        Some(())
    }

    fn refusal_to_work(&self, piece: Piece) -> Option<Refusal> {
        let session = piece.session();
        let rules = self.model.rules;
        // AAEP-A.1-3
        if !self.state.session(session).is_active() {
            return Some(Refusal::SessionOver);
        }
        if self.was_handed_off(session) {
            return Some(Refusal::HandedOff);
        }
        let work = self.state.work;
        match piece {
            // AAEP-A.7.4-1: what cannot be undone is asked about.
            Piece::Run { irreversible, .. } => {
                (irreversible && rules.forbid(Guard::RunsUnasked)).then_some(Refusal::NotAskedAbout)
            }
            // AAEP-A.6-3: nothing follows the last chunk.
            Piece::Write { .. } => {
                let is_complete = work.output.is_some_and(|it| it.complete);
                (is_complete && rules.forbid(Guard::WritesOn)).then_some(Refusal::OutputComplete)
            }
            // AAEP-A.2-2, AAEP-A.3-3, AAEP-A.6-1: what goes on has a state of its own.
            Piece::HandOff { .. } => {
                let goes_on = self.state.has_pending(session, None)
                    || self.state.has_running(session)
                    || work.writes(session);
                goes_on.then_some(Refusal::Busy)
            }
            Piece::Finish { .. } => None,
        }
    }

    /// AAEP-A.2-3: a session that was handed off only ends.
    pub(super) fn was_handed_off(&self, session: SessionName) -> bool {
        let handed_off = self.state.work.handed_off[session.index()];
        handed_off && self.model.rules.forbid(Guard::WorksAfterHandoff)
    }

    /// A tool runs that nobody is asked about.
    fn run(&mut self, session: SessionName, irreversible: bool) {
        // AAEP-A.3-3: calling_tool while a tool runs; AAEP-A.2-2: but awaiting_input while a question waits.
        if !self.state.session(session).awaiting_input && !self.state.has_running(session) {
            self.stops_writing(session);
            self.emit(Output::Work(session, Worked::Calling));
        }
        self.state.work.tool = Some(session);
        self.emit(Output::Work(session, Worked::Invoked { irreversible }));
        self.emit(Output::Work(session, Worked::Perform));
    }

    /// It has come back.
    fn finish(&mut self, session: SessionName) -> Option<()> {
        self.state.work.tool.take_if(|it| *it == session)?;
        self.emit(Output::Work(session, Worked::Completed));
        if !self.state.has_running(session) && !self.state.session(session).awaiting_input {
            self.optional.push(Output::Work(session, Worked::Thinking));
        }
        Some(())
    }

    /// A chunk of the output.
    fn write(&mut self, session: SessionName, complete: bool) {
        let rules = self.model.rules;
        let mut output = self.state.work.output.unwrap_or(Streaming {
            session,
            chunks: 0,
            complete: false,
            writing: false,
        });
        // AAEP-A.7.7-1: writing_output, unless something else has a state of its own.
        let elsewhere =
            self.state.session(session).awaiting_input || self.state.has_running(session);
        if !elsewhere && !output.writing {
            output.writing = true;
            self.emit(Output::Work(session, Worked::Writing));
        }
        // AAEP-A.6-2: a chunk stands where the one before it ends.
        let position = if rules.forbid(Guard::MisplacesChunk) {
            output.chunks
        } else {
            0
        };
        let chunk = Output::Work(session, Worked::Chunk { position, complete });
        self.emit(chunk);
        // AAEP-A.6-1, AAEP-A.6-3: the last chunk comes once.
        if complete && rules.allow(Guard::CompletesTwice) {
            self.emit(chunk);
        }
        output.chunks += 1;
        output.complete |= complete;
        if complete && output.writing {
            output.writing = false;
            self.optional.push(Output::Work(session, Worked::Thinking));
        }
        self.state.work.output = Some(output);
    }

    /// A session is handed off. AAEP-A.2-3: in its state.
    fn hand_off(&mut self, session: SessionName) {
        self.state.work.handed_off[session.index()] = true;
        if self.model.rules.forbid(Guard::HandsOffUnsaid) {
            self.emit(Output::Work(session, Worked::HandingOff));
        }
        self.emit(Output::Work(session, Worked::HandedOff));
    }

    /// Another state is entered than `writing_output`.
    pub(super) fn stops_writing(&mut self, session: SessionName) {
        if let Some(output) = &mut self.state.work.output
            && output.session == session
        {
            output.writing = false;
        }
    }

    /// After a restart. AAEP-6.9-2: what may have run already is not run again.
    pub(super) fn doubt_work(&mut self) {
        if let Some(session) = self.state.work.tool {
            let repeats = self.model.rules.allow(Guard::RepeatsAfterRestart);
            let worked = if repeats {
                Worked::Perform
            } else {
                Worked::InDoubt
            };
            self.emit(Output::Work(session, worked));
        }
    }

    /// The session ends, and what has not begun must not begin any more (AAEP-A.1-3); whether a tool ran that nobody was asked about.
    pub(super) fn withdraw_work(&mut self, session: SessionName) -> bool {
        let runs = self.state.work.tool.take_if(|it| *it == session).is_some();
        if runs && self.model.rules.forbid(Guard::BeginsAfterEnd) {
            self.emit(Output::Work(session, Worked::Withdraw));
        }
        runs
    }

    /// AAEP-A.3-1: the tool that still runs is completed as one that was asked about is. Which comes first the text leaves open.
    pub(super) fn complete_work(
        &mut self,
        session: SessionName,
        outcome: SessionOutcome,
        runs: bool,
    ) {
        let owes = runs && self.completes_at(outcome);
        if owes && self.model.rules.forbid(Guard::LeavesToolOpen) {
            self.emit(Output::Work(session, Worked::Completed));
        }
    }

    /// AAEP-A.6-1: the output of a session that ends is completed, also where the session is cancelled; by one reading never.
    pub(super) fn complete_output(&mut self, session: SessionName) {
        let writes = self.state.work.writes(session);
        if let Some(output) = &mut self.state.work.output
            && writes
        {
            output.complete = true;
            output.writing = false;
            let position = output.chunks;
            let complete = true;
            let never = self.model.reading.session_end_completes == SessionEndCompletes::Never;
            if !never && self.model.rules.forbid(Guard::LeavesOutputOpen) {
                self.emit(Output::Work(session, Worked::Chunk { position, complete }));
            }
        }
    }
}
