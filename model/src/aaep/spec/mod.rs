//! AAEP as a function: what each request obliges a producer to.
//!
//! Read it beside the text: [`confirmation`], [`clarification`] and [`waiting`] are chapter 6, [`restart`] is the
//! page of the driver protocol on a crash, [`work`] is appendix A, [`outputs`] holds what comes against what is owed.
//! Here stands what all chapters share: sessions, their states, and what comes unasked.

mod clarification;
mod confirmation;
mod outputs;
mod restart;
mod waiting;
mod work;

use smallvec::SmallVec;

use crate::aaep::account::{Account, Phase, Question};
use crate::aaep::alphabet::{
    Call, Clarified, Event, Given, Op, Outcome, Output, Run, SessionId, State, Status, Subject,
    Time, What, Written,
};
use crate::aaep::clauses::{
    A_1_1, A_1_2, A_1_3, A_2_2, A_3_3, C6_1, C6_7_2_1, C6_8_2, C6_8_3, CLAUSES, EV_2, EV_5,
};
use crate::aaep::readings::{Reading, SessionEndCancels, SessionEndCompletes, SessionEndTells};
use crate::engine::clause::{Clause, Clauses, Entry};
use crate::engine::obligation::{Force, Obligation, Owed};
use crate::engine::protocol::{Protocol, Step};
use crate::wire::names::NOTHING;

/// The confirmation protocol of AAEP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aaep;

/// What a producer chooses of an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holes {
    /// Everything that meeting it looks at.
    any: bool,
    /// The state that a session enters.
    to: To,
    /// The id of a session.
    session: bool,
    /// The time that is left.
    left: bool,
}

/// Which state may be entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum To {
    /// The one that is said.
    #[default]
    This,
    /// Any but `awaiting_input`.
    Away,
    /// `thinking` or `deciding`.
    Back,
    /// Any in which no tool runs and nobody waits.
    Idle,
}

/// What meeting an obligation tells the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// It is as the output says.
    Told,
    /// The session of that number starts, under an id of its producer's.
    Started(SessionId),
    /// The session leaves a state for another.
    Changed,
    /// The same, to tell that the confirmation of that number was accepted or rejected.
    Outcome(u8, State),
    /// It comes again behind a crash.
    Retold,
    /// The question of that number is put out.
    Asked(u8),
    /// A clarification has come to this.
    Answered(Clarified),
    /// Its action is told as invoked.
    Invoked(u8),
    /// Its action is told as complete.
    Completed(u8, Status),
    /// Its action runs.
    Performed(u8),
    /// Its action is in doubt, or runs once more: one of both.
    Resumed(u8),
    /// A piece of output stands so.
    Wrote(Written),
    /// A reply that fails a check is answered so.
    Failed,
    /// The request is refused, against that clause.
    Refused(Clause),
}

impl Protocol for Aaep {
    type Call = Call;
    type Output = Output;
    type Account = Account;
    type Holes = Holes;
    type Binding = Binding;
    /// Nothing of these chapters stays owed beyond its call.
    type Closing = ();
    type Thing = SessionId;
    type Reading = Reading;

    const CLAUSES: &'static [Entry] = CLAUSES;

    fn call(step: &mut Step<'_, Self>, call: &Call) {
        let account = &mut step.account;
        account
            .questions
            .retain(|it| it.token.is_some() || matches!(it.subject, Subject::Tool(_)));
        let before = account.clock;
        account.clock = before.max(call.now);
        let last = std::mem::take(&mut account.last);
        let mut turn = Turn {
            step,
            before,
            chain: SmallVec::new(),
        };
        if let Err(clauses) = turn.take(&call.op, &last) {
            turn.owe(clauses, Output::Refused);
        }
    }

    fn fill(expected: &mut Output, output: &Output, holes: Holes) {
        match (expected, output) {
            (Output::Emit(expected), Output::Emit(output)) => holes.fill_event(expected, output),
            (Output::Perform(expected), Output::Perform(output))
            | (Output::InDoubt(expected), Output::InDoubt(output))
                if holes.any
                    && (expected.session, expected.action) == (output.session, output.action) =>
            {
                *expected = *output;
            }
            (Output::Answer(expected), Output::Answer(output))
                if holes.any
                    && (expected.session, expected.token) == (output.session, output.token) =>
            {
                *expected = *output;
            }
            (expected @ Output::Respond { .. }, Output::Respond { .. }) if holes.any => {
                expected.clone_from(output);
            }
            (Output::Notify { token, .. }, Output::Notify { token: None, .. }) => *token = None,
            (
                Output::Notify {
                    token: expected @ None,
                    ..
                },
                Output::Notify { token, .. },
            ) if holes.any => {
                *expected = *token;
            }
            (_, _) => {}
        }
    }

    fn complete(account: &Account, binding: Option<Binding>, output: &mut Output) {
        let known = binding
            .and_then(Binding::question)
            .and_then(|it| account.questions.get(it)?.call);
        let its_own = known.unwrap_or(account.calls);
        match output {
            Output::Emit(Event {
                session,
                what: What::Changed { from, .. },
                ..
            }) if binding != Some(Binding::Retold) => {
                *from = account.session(*session).map_or(State::Idle, |it| it.state);
            }
            Output::Emit(Event {
                what: What::Invoked { call, .. } | What::Completed { call, .. },
                ..
            }) if binding != Some(Binding::Retold) => {
                *call = Some(its_own);
            }
            Output::Perform(run) | Output::InDoubt(run) => run.call = its_own,
            Output::Emit(_)
            | Output::Respond { .. }
            | Output::Answer(_)
            | Output::Notify { .. }
            | Output::Audit
            | Output::Refused
            | Output::Other(_) => {}
        }
    }

    fn bind(step: &mut Step<'_, Self>, binding: Binding, output: &Output) -> Result<(), Clauses> {
        let account = &mut step.account;
        let result = match binding {
            Binding::Told | Binding::Retold | Binding::Changed => Ok(()),
            Binding::Started(planned) => outputs::is_new(account, planned, output),
            Binding::Outcome(_, state) => outputs::is_recommended(state, output),
            Binding::Asked(which) => {
                let unlisted = step.variant.reading.numbers.unlisted;
                outputs::is_asked(account, usize::from(which), unlisted, output)
            }
            Binding::Invoked(which)
            | Binding::Completed(which, _)
            | Binding::Performed(which)
            | Binding::Resumed(which) => {
                outputs::is_of(account, usize::from(which), binding, output)
            }
            Binding::Answered(expected) => outputs::is_answer(expected, output),
            Binding::Wrote(expected) => outputs::is_written(expected, output),
            Binding::Failed => outputs::is_uniform(&mut account.to_failed, output),
            Binding::Refused(clause) => Err(clause.alone()),
        };
        // What comes again was chained when it was put out first.
        let is_again = binding == Binding::Retold;
        let chained = if is_again {
            Ok(())
        } else {
            outputs::enter(account, output)
        };
        let reached = outputs::reaches(account, step.variant.reading, Some(binding), output);
        outputs::see(account, output);
        if let Binding::Resumed(_) = binding {
            let is_same = |run: &Run| {
                output.run().is_some_and(|it| {
                    (it.session, it.action, it.call) == (run.session, run.action, run.call)
                })
            };
            step.forget(|it| it.run().is_some_and(is_same));
        }
        result.and(chained).and(reached)
    }

    fn unowed(step: &mut Step<'_, Self>, output: &Output) -> Result<(), Clauses> {
        let clauses = outputs::forbids(step, output);
        let chained = outputs::enter(&mut step.account, output);
        outputs::see(&mut step.account, output);
        outputs::believe(&mut step.account, output);
        // Each of them forbids it: without any of them it is free.
        if !clauses.is_empty() && clauses.iter().all(|it| step.enforces(*it)) {
            Err(clauses)
        } else {
            chained.and(outputs::reaches(
                &step.account,
                step.variant.reading,
                None,
                output,
            ))
        }
    }

    fn thing(output: &Output) -> Option<SessionId> {
        let told = output.told().map(|it| it.0);
        if let Output::Answer(it) = output {
            return Some(it.session);
        }
        told.or_else(|| output.run().map(|it| it.session))
    }

    fn kind(output: &Output) -> u8 {
        match output {
            Output::Emit(_) => 0,
            Output::Perform(_) => 1,
            Output::InDoubt(_) => 2,
            Output::Respond { .. } => 3,
            Output::Notify { .. } => 4,
            Output::Audit => 5,
            Output::Refused => 6,
            Output::Answer(_) => 7,
            Output::Other(_) => 8,
        }
    }

    fn gravity(output: &Output) -> u8 {
        match output {
            Output::Perform(_) => 0,
            Output::Emit(Event {
                what: What::Asked(_) | What::Queried(_) | What::Invoked { .. },
                ..
            })
            | Output::InDoubt(_)
            | Output::Answer(_) => 1,
            Output::Emit(_) => 2,
            Output::Respond { .. }
            | Output::Notify { .. }
            | Output::Audit
            | Output::Refused
            | Output::Other(_) => 3,
        }
    }
}

// ── One request under way ──

/// One request under way.
struct Turn<'t, 'v> {
    step: &'t mut Step<'v, Aaep>,
    /// The clock before it.
    before: Time,
    /// Of each session the state that it is to be in, and the obligation that says so, or that it follows.
    chain: SmallVec<[(SessionId, Option<State>, Owed); 2]>,
}

impl Turn<'_, '_> {
    fn take(&mut self, op: &Op, last: &[Output]) -> Result<(), Clauses> {
        let lost = self.lost(op, last);
        if let Ok(lost) = lost {
            self.retell(lost);
        }
        let released = self.released();
        self.gives_no_time();
        self.count_down();
        self.elapse(op);
        match op {
            Op::StartSession(session) => self.start_session(*session),
            Op::EndSession { session, outcome } => self.end_session(*session, *outcome),
            Op::Subscribe {
                subscription,
                can_reply,
            } => self.subscribe(*subscription, *can_reply),
            Op::Unsubscribe(subscription) => self.unsubscribe(*subscription),
            Op::Confirm(ask) => self.confirm(ask),
            Op::Clarify(query) => self.clarify(query),
            Op::Deliver(message) => {
                // "A name that is unknown" may be refused (DRIVER.md), and a reply is ignored.
                let is_of_nobody = message.sender == Some(NOTHING);
                if is_of_nobody && self.step.choose(2) == 1 {
                    return Err(&[]);
                }
                self.deliver(message);
                Ok(())
            }
            Op::Cancel(token) => self.cancel(*token),
            Op::Extend { token, timeout } => self.extend(*token, *timeout),
            Op::FinishTool {
                session,
                action,
                call,
                status,
            } => self.finish_tool(*session, *action, *call, *status),
            Op::Tool(task) => self.tool(task),
            Op::Write(chunk) => self.write(chunk),
            Op::HandOff(handoff) => self.hand_off(handoff),
            Op::Tick => Ok(()),
            Op::Restart { .. } => {
                lost?;
                self.resume(&released);
                Ok(())
            }
        }
    }

    // ── Sessions (A.1, 6.8) ──

    /// AAEP-A.1-1: a session starts once.
    fn start_session(&mut self, given: Option<Given>) -> Result<(), Clauses> {
        self.offer();
        self.check(EV_2, given.is_none_or(|it| it.is_formed))?;
        let session = given.map_or_else(|| self.step.account.next_session(), |it| it.id);
        self.check(A_1_1, self.step.account.session(session).is_none())?;
        self.step.account.start(session);
        let it = self.tell(
            &[A_1_1],
            Force::Due,
            session,
            What::Started,
            Binding::Started(session),
        );
        it.holes.session = given.is_none();
        Ok(())
    }

    /// AAEP-6.8-2: the end of a cancelled session cancels what is pending. By default, so does every end; one that is no
    /// cancellation is preceded by the events that tell so.
    fn end_session(&mut self, session: SessionId, outcome: Outcome) -> Result<(), Clauses> {
        self.offer();
        self.check(EV_5, !matches!(outcome, Outcome::Other(_)))?;
        self.check(
            A_1_2,
            self.step
                .account
                .session(session)
                .is_some_and(|it| it.is_active),
        )?;
        let reading = self.reading();
        let is_cancelled = outcome == Outcome::Cancelled;
        let cancels = is_cancelled || reading.session_end_cancels == SessionEndCancels::All;
        if cancels && self.step.enforces(C6_8_2) {
            for which in self.step.account.questions_in(session, Phase::Open) {
                self.becomes(which, Phase::Cancelled);
                if !is_cancelled && reading.session_end_tells == SessionEndTells::First {
                    self.change(
                        &[C6_8_3],
                        session,
                        State::Thinking,
                        To::Back,
                        Binding::Changed,
                    );
                    self.go_on(session);
                }
            }
        }
        let completes = match reading.session_end_completes {
            SessionEndCompletes::UnlessCancelled => !is_cancelled,
            SessionEndCompletes::OnlyCompleted => outcome == Outcome::Completed,
            SessionEndCompletes::Always => true,
            SessionEndCompletes::Never => false,
        };
        for which in self.step.account.questions_in(session, Phase::Running) {
            self.becomes(which, Phase::Abandoned);
            // "Whoever completes them all the same is right."
            let force = if completes {
                Force::Due
            } else {
                Force::Allowed
            };
            self.complete(which, force, Status::Error);
        }
        self.complete_streams(session, completes);
        if self.step.enforces(A_1_3)
            && let Some(it) = self.step.account.session_mut(session)
        {
            it.is_active = false;
        }
        let is_its_own = |it: &&Obligation<Aaep>| matches!(&it.output, Output::Emit(event) if event.session == session);
        let earlier: SmallVec<[Owed; 4]> = self
            .step
            .open
            .iter()
            .filter(is_its_own)
            .map(Obligation::name)
            .collect();
        let it = self.tell(
            &[A_1_2],
            Force::Due,
            session,
            What::Ended(outcome),
            Binding::Told,
        );
        for earlier in earlier {
            it.after(earlier, &[A_1_3]);
        }
        Ok(())
    }

    /// "`awaiting_input` is the state during which the producer is blocked": it is so again while another question is
    /// open. AAEP-A.3-3 has the state of a tool that runs.
    fn go_on(&mut self, session: SessionId) {
        let account = &self.step.account;
        if !account.questions_in(session, Phase::Open).is_empty() {
            self.change(
                &[A_2_2],
                session,
                State::AwaitingInput,
                To::This,
                Binding::Changed,
            );
        } else if !account.questions_in(session, Phase::Running).is_empty()
            && self.state(session) != Some(State::CallingTool)
        {
            self.change(
                &[A_3_3],
                session,
                State::CallingTool,
                To::This,
                Binding::Changed,
            );
        }
    }

    // ── The words ──

    fn check(&self, clause: Clause, holds: bool) -> Result<(), Clauses> {
        self.check_each(clause.alone(), holds)
    }

    /// Each of these clauses asks for it: without any of them it need not hold.
    fn check_each(&self, clauses: Clauses, holds: bool) -> Result<(), Clauses> {
        if holds || !clauses.iter().all(|it| self.step.enforces(*it)) {
            Ok(())
        } else {
            Err(clauses)
        }
    }

    /// The host can ask for this: to refuse it is against AAEP-6-1.
    fn offer(&mut self) {
        self.offer_against(C6_1);
    }

    fn offer_against(&mut self, clause: Clause) {
        let it = self.step.allow(&[], Output::Refused);
        it.bind(Binding::Refused(clause));
    }

    fn reading(&self) -> Reading {
        self.step.variant.reading
    }

    fn question(&self, which: usize) -> Option<&Question> {
        self.step.account.questions.get(which)
    }

    fn becomes(&mut self, which: usize, phase: Phase) {
        if let Some(question) = self.step.account.questions.get_mut(which) {
            question.phase = phase;
        }
    }

    /// The state that a session is in behind what is owed so far.
    fn state(&self, session: SessionId) -> Option<State> {
        let planned = self
            .chain
            .iter()
            .find(|it| it.0 == session)
            .and_then(|it| it.1);
        planned.or_else(|| self.step.account.session(session).map(|it| it.state))
    }

    fn owe(&mut self, clauses: Clauses, output: Output) -> &mut Obligation<Aaep> {
        self.add(clauses, Force::Due, output, Binding::Told)
    }

    fn add(
        &mut self,
        clauses: Clauses,
        force: Force,
        output: Output,
        binding: Binding,
    ) -> &mut Obligation<Aaep> {
        self.step
            .add(clauses, output, force)
            .any(Holes {
                any: true,
                ..Holes::default()
            })
            .bind(binding)
    }

    fn tell(
        &mut self,
        clauses: Clauses,
        force: Force,
        session: SessionId,
        what: What,
        binding: Binding,
    ) -> &mut Obligation<Aaep> {
        self.add(
            clauses,
            force,
            Output::Emit(Event {
                session,
                what,
                to: None,
            }),
            binding,
        )
    }

    /// The session enters a state, behind every one that is owed before: outcomes are told as they come about
    /// (AAEP-6.7.2-1).
    fn change(
        &mut self,
        clauses: Clauses,
        session: SessionId,
        state: State,
        to: To,
        binding: Binding,
    ) {
        self.change_as(Force::Due, clauses, session, (state, to), binding);
    }

    fn change_as(
        &mut self,
        force: Force,
        clauses: Clauses,
        session: SessionId,
        (state, to): (State, To),
        binding: Binding,
    ) {
        let earlier = self.chain.iter().find(|it| it.0 == session).map(|it| it.2);
        let from = self.state(session).unwrap_or(State::Idle);
        let it = self.tell(
            clauses,
            force,
            session,
            What::Changed { from, to: state },
            binding,
        );
        it.holes.to = to;
        if let Some(earlier) = earlier {
            it.after(earlier, &[C6_7_2_1]);
        }
        let name = it.name();
        self.follow(session, Some(state), name);
    }

    /// What the next change of that session follows.
    fn follow(&mut self, session: SessionId, state: Option<State>, name: Owed) {
        let state = state.or_else(|| {
            self.chain
                .iter()
                .find(|it| it.0 == session)
                .and_then(|it| it.1)
        });
        self.chain.retain(|it| it.0 != session);
        self.chain.push((session, state, name));
    }
}

/// So many things have a number; beyond 255 they share the last.
fn number(which: usize) -> u8 {
    u8::try_from(which).unwrap_or(u8::MAX)
}

impl Binding {
    /// The question whose call the output names.
    fn question(self) -> Option<usize> {
        match self {
            Self::Invoked(which)
            | Self::Completed(which, _)
            | Self::Performed(which)
            | Self::Resumed(which) => Some(usize::from(which)),
            Self::Told
            | Self::Started(_)
            | Self::Changed
            | Self::Outcome(..)
            | Self::Retold
            | Self::Asked(_)
            | Self::Answered(_)
            | Self::Wrote(_)
            | Self::Failed
            | Self::Refused(_) => None,
        }
    }
}

impl To {
    fn allows(self, to: State) -> bool {
        match self {
            Self::This => false,
            Self::Away => to != State::AwaitingInput,
            Self::Back => matches!(to, State::Thinking | State::Deciding),
            Self::Idle => !matches!(to, State::AwaitingInput | State::CallingTool),
        }
    }
}

impl Holes {
    fn fill_event(self, expected: &mut Event, output: &Event) {
        if self.session && output.what == What::Started {
            expected.session = output.session;
        }
        if expected.session != output.session {
            return;
        }
        expected.to.clone_from(&output.to);
        if !self.any {
            return;
        }
        match (&mut expected.what, &output.what) {
            (
                What::Changed { from, to },
                What::Changed {
                    from: left,
                    to: entered,
                },
            ) => {
                *from = *left;
                if self.to.allows(*entered) {
                    *to = *entered;
                }
            }
            (expected @ What::Asked(_), other @ What::Asked(_))
            | (expected @ What::Queried(_), other @ What::Queried(_))
            | (expected @ What::Invoked { .. }, other @ What::Invoked { .. })
            | (expected @ What::Completed { .. }, other @ What::Completed { .. }) => {
                expected.clone_from(other);
            }
            (What::Chunk(expected), What::Chunk(other)) if expected.stream == other.stream => {
                *expected = *other;
            }
            // Any of them tells of a change that has no event of its own.
            (expected @ What::Progress { .. }, What::Progress { .. } | What::Other(_))
                if self.left =>
            {
                expected.clone_from(&output.what);
            }
            (What::Progress { left }, What::Progress { left: None }) => *left = None,
            (_, _) => {}
        }
    }
}
