//! AAEP as a function: what each request obliges a producer to.
//!
//! Read it beside the text: [`confirmation`] is chapter 6 as far as it is about confirmations, [`restart`] is the page of the driver
//! protocol on a crash. Here stands what all chapters share: sessions, their states, and what comes unasked.

mod confirmation;
mod restart;

use smallvec::SmallVec;

use crate::aaep::text::account::{Account, Answer, Phase, Question};
use crate::aaep::text::alphabet::{
    Asked, Call, CallId, Event, Given, Op, Outcome, Output, Run, SessionId, State, Status, What,
};
use crate::aaep::text::clauses::{
    A_1_1, A_1_2, A_1_3, A_2_2, A_3_1, A_3_2, A_3_3, A_4_3, A_4_4, C6_1, C6_1_1, C6_1_5, C6_1_6,
    C6_2_2_3, C6_3_4_9, C6_7_2_1, C6_7_2_2, C6_8_2, C6_8_3, C6_9_2, CLAUSES, EV_2, EV_3, EV_5,
    EV_8, EV_13,
};
use crate::aaep::text::readings::{
    Reading, SessionEndCancels, SessionEndCompletes, SessionEndTells,
};
use crate::engine::clause::{Clause, Clauses, Entry};
use crate::engine::obligation::{Force, Obligation, Owed};
use crate::engine::protocol::{Protocol, Step};

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
    /// The same, to tell that a confirmation was accepted or rejected.
    Outcome(State),
    /// It comes again behind a crash.
    Retold,
    /// The question of that number is put out.
    Asked(u8),
    /// Its action is told as invoked.
    Invoked(u8),
    /// Its action is told as complete.
    Completed(u8, Status),
    /// Its action runs.
    Performed(u8),
    /// Its action is in doubt, or runs once more: one of both.
    Resumed(u8),
    /// A reply that fails a check is answered so.
    Failed,
    /// The request is refused, though it can be made.
    Refused,
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
        account.questions.retain(|it| it.token.is_some());
        account.clock = account.clock.max(call.now);
        let last = std::mem::take(&mut account.last);
        let mut turn = Turn {
            step,
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
            (expected @ Output::Respond { .. }, Output::Respond { .. }) if holes.any => {
                expected.clone_from(output);
            }
            (Output::Notify { token, .. }, Output::Notify { token: None, .. }) => *token = None,
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
            Binding::Started(planned) => is_new(account, planned, output),
            Binding::Outcome(state) => is_recommended(state, output),
            Binding::Asked(which) => is_asked(account, usize::from(which), output),
            Binding::Invoked(which)
            | Binding::Completed(which, _)
            | Binding::Performed(which)
            | Binding::Resumed(which) => is_of(account, usize::from(which), binding, output),
            Binding::Failed => is_uniform(&mut account.to_failed, output),
            Binding::Refused => Err(C6_1.alone()),
        };
        // What comes again was chained when it was put out first.
        let is_again = binding == Binding::Retold;
        let chained = if is_again {
            Ok(())
        } else {
            enter(account, output)
        };
        see(account, output);
        if let Binding::Resumed(_) = binding {
            let is_same = |run: &Run| {
                output.run().is_some_and(|it| {
                    (it.session, it.action, it.call) == (run.session, run.action, run.call)
                })
            };
            step.forget(|it| it.run().is_some_and(is_same));
        }
        result.and(chained)
    }

    fn unowed(step: &mut Step<'_, Self>, output: &Output) -> Result<(), Clauses> {
        let clauses = forbids(step, output);
        let chained = enter(&mut step.account, output);
        see(&mut step.account, output);
        believe(&mut step.account, output);
        // Each of them forbids it: without any of them it is free.
        if !clauses.is_empty() && clauses.iter().all(|it| step.enforces(*it)) {
            Err(clauses)
        } else {
            chained
        }
    }

    fn thing(output: &Output) -> Option<SessionId> {
        let told = output.told().map(|it| it.0);
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
            Output::Other(_) => 7,
        }
    }

    fn gravity(output: &Output) -> u8 {
        match output {
            Output::Perform(_) => 0,
            Output::Emit(Event {
                what: What::Asked(_) | What::Invoked { .. },
                ..
            })
            | Output::InDoubt(_) => 1,
            Output::Emit(_) => 2,
            Output::Respond { .. }
            | Output::Notify { .. }
            | Output::Audit
            | Output::Refused
            | Output::Other(_) => 3,
        }
    }
}

// ── What is owed, when it comes ──

/// A session under an id that no other has.
fn is_new(account: &mut Account, planned: SessionId, output: &Output) -> Result<(), Clauses> {
    let id = output.told().map_or(planned, |it| it.0);
    let is_taken = id != planned && account.session(id).is_some();
    if let Some(session) = account.session_mut(planned) {
        session.id = id;
    }
    all(&[(A_1_1, !is_taken)])
}

/// The question of an event: its token is new, it waits from now, and it asks what was to be asked.
fn is_asked(account: &mut Account, which: usize, output: &Output) -> Result<(), Clauses> {
    let (is_free, clock, tokens) = (
        name_call(account, which, output.call()),
        account.clock,
        account.tokens,
    );
    let (Some((_, What::Asked(asked))), Some(question)) =
        (output.told(), account.questions.get_mut(which))
    else {
        return Ok(());
    };
    (question.token, question.asked_at) = (Some(asked.token), asked.at);
    // "MUST NOT reuse a reply token from a prior confirmation"
    all(&[
        (C6_2_2_3, asked.token >= tokens),
        (EV_3, asked.at == clock),
        (EV_5, asks(question, asked)),
        (EV_13, is_free),
    ])
}

/// The first clause that does not hold.
fn all(clauses: &[(Clause, bool)]) -> Result<(), Clauses> {
    match clauses.iter().find(|it| !it.1) {
        Some((clause, _)) => Err(clause.alone()),
        None => Ok(()),
    }
}

/// Whether an event asks what was to be asked.
fn asks(question: &Question, asked: &Asked) -> bool {
    let ask = &question.ask;
    let is_listed = |it: &_| question.allows(*it);
    let count = ask.allowed.as_ref().map_or(2, SmallVec::len);
    (asked.description, asked.consequence) == (ask.description.name, ask.consequence.name)
        && (asked.timeout, asked.default) == (ask.timeout, ask.default)
        && asked.risk.is_none_or(|it| it == ask.risk)
        && asked.irreversible.is_none_or(|it| it == ask.irreversible)
        && asked.allowed.len() == count
        && asked.allowed.iter().all(is_listed)
}

/// An output about the action of a question: its call is its own, and it says what was asked about.
fn is_of(
    account: &mut Account,
    which: usize,
    binding: Binding,
    output: &Output,
) -> Result<(), Clauses> {
    let is_free = (EV_13, name_call(account, which, output.call()));
    let Some(Question {
        ask,
        token,
        modified,
        ..
    }) = account.questions.get(which)
    else {
        return Ok(());
    };
    let own = ask.tool.name;
    if let Some(run) = output.run() {
        let is_same = run.tool.is_none_or(|it| it == own)
            && run.token.is_none_or(|it| Some(it) == *token)
            && run.modified == *modified;
        return all(&[is_free, (C6_1_1, is_same)]);
    }
    match output.told() {
        Some((
            _,
            What::Invoked {
                tool,
                risk,
                irreversible,
                ..
            },
        )) => {
            let is_rated = (*risk, *irreversible) == (ask.risk, ask.irreversible);
            all(&[is_free, (A_4_3, *tool == own), (EV_5, is_rated)])
        }
        Some((_, What::Completed { tool, status, .. })) => {
            let is_right = *tool == own && binding == Binding::Completed(number(which), *status);
            all(&[is_free, (A_3_1, is_right)])
        }
        Some(_) | None => Ok(()),
    }
}

/// That call is the question's; false where it is another's, or the question has another (AAEP-EV-13).
fn name_call(account: &mut Account, which: usize, call: Option<CallId>) -> bool {
    let session = account.questions.get(which).map(|it| it.ask.session);
    let is_other = |(place, it): (usize, &Question)| {
        place != which && Some(it.ask.session) == session && it.call == call
    };
    let is_taken = call.is_some() && account.questions.iter().enumerate().any(is_other);
    let Some(question) = account.questions.get_mut(which) else {
        return true;
    };
    let is_free = !is_taken && (call.is_none() || question.call.is_none() || question.call == call);
    question.call = question.call.or(call);
    is_free
}

/// "The recommended pattern": `calling_tool` on accept, `thinking` on reject, for which 6.1 has `deciding` as well.
fn is_recommended(state: State, output: &Output) -> Result<(), Clauses> {
    let is_so = |to: State| to == state || (state, to) == (State::Thinking, State::Deciding);
    let told = output.told();
    all(&[(
        C6_7_2_2,
        told.is_none_or(|(_, what)| !matches!(what, What::Changed { to, .. } if !is_so(*to))),
    )])
}

/// The same for every check.
fn is_uniform(to_failed: &mut Answer, output: &Output) -> Result<(), Clauses> {
    let Output::Respond { status, body } = *output else {
        return Ok(());
    };
    let answer = Answer::Response(status, body);
    match to_failed {
        Answer::Unknown => *to_failed = answer,
        it if *it == answer => {}
        Answer::Silence | Answer::Response(..) => return Err(C6_3_4_9.alone()),
    }
    Ok(())
}

/// A session moves from state to state without a gap (AAEP-EV-8).
fn enter(account: &mut Account, output: &Output) -> Result<(), Clauses> {
    let Some((session, what)) = output.told() else {
        return Ok(());
    };
    let Some(session) = account.session_mut(session) else {
        return Ok(());
    };
    match *what {
        What::Changed { from, to } => {
            let is_chained = from == session.state || Some(from) == session.implied;
            (session.state, session.implied) = (to, None);
            return all(&[(EV_8, is_chained)]);
        }
        What::Asked(_) => session.implied = Some(State::AwaitingInput),
        What::Invoked { .. } => session.implied = Some(State::CallingTool),
        What::Started
        | What::Ended(_)
        | What::Completed { .. }
        | What::Progress
        | What::Other(_) => {}
    }
    Ok(())
}

/// What came may be lost, and the ids that it names are taken.
fn see(account: &mut Account, output: &Output) {
    let token = match output.told() {
        Some((_, What::Asked(asked))) => Some(asked.token),
        Some(_) | None => None,
    };
    account.see_ids(token, output.call());
    if account.restarts > 0 {
        account.last.push(output.clone());
    }
}

// ── What nobody owed ──

/// The clauses that forbid it. What has none is free.
fn forbids(step: &Step<'_, Aaep>, output: &Output) -> Clauses {
    let account = &step.account;
    let phase = |which: Option<usize>| {
        which
            .and_then(|it| account.questions.get(it))
            .map(|it| it.phase)
    };
    match output {
        Output::Emit(Event {
            session,
            what: What::Started,
        }) if account.session(*session).is_none() => &[A_1_1],
        Output::Emit(Event { session, .. }) if !account.is_active(*session) => &[A_1_3],
        Output::Emit(Event { session, what }) => match what {
            What::Started => &[A_1_1],
            What::Ended(_) => &[A_1_2],
            What::Changed { to, .. }
                if *to != State::AwaitingInput
                    && !account.questions_in(*session, Phase::Open).is_empty() =>
            {
                &[A_2_2]
            }
            What::Asked(_) => &[C6_1_6],
            What::Invoked { call, tool, .. } => match phase(account.called(*session, *call, *tool))
            {
                None => &[C6_1_1],
                Some(Phase::Open | Phase::Cancelled) => &[C6_1_5],
                Some(Phase::Rejected) => &[A_4_4],
                Some(Phase::Running | Phase::Finished | Phase::Abandoned) => &[C6_9_2],
            },
            What::Completed { .. } => &[A_3_2],
            What::Changed { .. } | What::Progress | What::Other(_) => &[],
        },
        Output::Perform(run) if step.open.iter().any(|it| is_run_of(&it.output, run)) => &[C6_1_1],
        Output::Perform(run) => match phase(account.about(run)) {
            Some(Phase::Cancelled) if !account.is_active(run.session) => &[C6_1_1, C6_8_2],
            None | Some(Phase::Open | Phase::Cancelled) => &[C6_1_1],
            Some(Phase::Rejected) => &[C6_1_1, A_4_4],
            Some(Phase::Running | Phase::Finished | Phase::Abandoned) => &[C6_9_2],
        },
        Output::InDoubt(_) => &[A_3_1],
        Output::Respond { .. } | Output::Notify { .. } => &[C6_3_4_9],
        // "The producer MAY log the failure."
        Output::Audit => &[],
        Output::Refused => &[C6_1],
        Output::Other(_) => &[EV_5],
    }
}

fn is_run_of(output: &Output, run: &Run) -> bool {
    matches!(output, Output::Perform(it) if (it.session, it.action) == (run.session, run.action))
}

/// What came has happened, allowed or not.
fn believe(account: &mut Account, output: &Output) {
    let become_of = |account: &mut Account, which: Option<usize>, phase| {
        if let Some(question) = which.and_then(|it| account.questions.get_mut(it)) {
            question.phase = phase;
        }
    };
    if let Output::Perform(run) = output {
        become_of(account, account.about(run), Phase::Running);
    }
    match output.told() {
        Some((session, What::Started)) if account.session(session).is_none() => {
            account.start(session);
        }
        Some((session, What::Ended(_))) => {
            if let Some(session) = account.session_mut(session) {
                session.is_active = false;
            }
        }
        Some((session, What::Completed { call, tool, .. })) => {
            become_of(
                account,
                account.called(session, *call, *tool),
                Phase::Finished,
            );
        }
        Some(_) | None => {}
    }
}

// ── One request under way ──

/// One request under way.
struct Turn<'t, 'v> {
    step: &'t mut Step<'v, Aaep>,
    /// Of each session the state that it is to be in, and the obligation that says so, or that it follows.
    chain: SmallVec<[(SessionId, Option<State>, Owed); 2]>,
}

impl Turn<'_, '_> {
    fn take(&mut self, op: &Op, last: &[Output]) -> Result<(), Clauses> {
        let lost = self.lost(op, last);
        if let Ok(lost) = lost {
            self.retell(lost);
        }
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
            Op::Deliver(message) => {
                self.deliver(message);
                Ok(())
            }
            Op::Cancel(token) => self.cancel(*token),
            Op::FinishTool {
                session,
                action,
                call,
                status,
            } => self.finish_tool(*session, *action, *call, *status),
            Op::Tick => Ok(()),
            Op::Restart { .. } => {
                lost?;
                self.resume();
                Ok(())
            }
        }
    }

    // ── Sessions (A.1, 6.8) ──

    /// "A session has exactly one agent.session.started event"
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

    /// "If the entire session is cancelled, agent.session.cancelled cancels all pending confirmations." By default, so does
    /// every end; one that is no cancellation is preceded by the events that tell so.
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

    // ── Tools (A.3) ──

    /// "Every agent.tool.invoked MUST be followed by exactly one agent.tool.completed", which "MUST NOT be emitted without a
    /// preceding agent.tool.invoked".
    fn finish_tool(
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
            it.ask.action.name == action && (call.is_none() || it.call.is_none() || it.call == call)
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
    fn complete(&mut self, which: usize, force: Force, status: Status) {
        let Some(question) = self.question(which).cloned() else {
            return;
        };
        let invoked = self
            .step
            .open
            .iter()
            .find(|it| it.binding == Some(Binding::Invoked(number(which))))
            .map(Obligation::name);
        let what = What::Completed {
            call: question.call,
            tool: question.ask.tool.name,
            status,
        };
        let binding = Binding::Completed(number(which), status);
        let it = self.tell(&[A_3_1], force, question.ask.session, what, binding);
        if let Some(invoked) = invoked {
            it.after(invoked, &[A_3_2]);
        }
    }

    /// "`awaiting_input` is the state during which the producer is blocked": it is so again while another question is open.
    /// "The state during tool execution SHOULD be `calling_tool`."
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
        self.step.allow(&[], Output::Refused).bind(Binding::Refused);
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
            Output::Emit(Event { session, what }),
            binding,
        )
    }

    /// The session enters a state, behind every one that is owed before: outcomes are told as they come about (AAEP-6.7.2-1).
    fn change(
        &mut self,
        clauses: Clauses,
        session: SessionId,
        state: State,
        to: To,
        binding: Binding,
    ) {
        let earlier = self.chain.iter().find(|it| it.0 == session).map(|it| it.2);
        let from = self.state(session).unwrap_or(State::Idle);
        let it = self.tell(
            clauses,
            Force::Due,
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
            | Self::Outcome(_)
            | Self::Retold
            | Self::Asked(_)
            | Self::Failed
            | Self::Refused => None,
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
        if !self.any || expected.session != output.session {
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
            | (expected @ What::Invoked { .. }, other @ What::Invoked { .. })
            | (expected @ What::Completed { .. }, other @ What::Completed { .. }) => {
                expected.clone_from(other);
            }
            (_, _) => {}
        }
    }
}
