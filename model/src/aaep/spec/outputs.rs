//! Outputs as they come: whether one is what is owed, what it tells, and what forbids one that nobody owed.

use super::clarification::queries;
use super::confirmation::rates_higher;
use super::{Aaep, Binding, number};
use crate::aaep::account::{Account, Answer, Phase, Question, Subscription};
use crate::aaep::alphabet::{
    Ask, Asked, By, CallId, Clarified, Event, Name, Outcome, Output, Run, SessionId, State,
    Subject, What, Written,
};
use crate::aaep::clauses::{
    A_1_1, A_1_2, A_1_3, A_2_2, A_2_3, A_3_1, A_3_2, A_4_3, A_4_4, A_5_2, A_6_1, A_6_2, A_6_3,
    A_7_4_1, C6_1, C6_1_1, C6_1_5, C6_1_6, C6_1_7, C6_1_8, C6_1_9, C6_2_2_3, C6_3_4_9, C6_7_1,
    C6_7_2_1, C6_7_2_2, C6_8_2, C6_8_4, C6_9_2, EV_3, EV_5, EV_8, EV_13, EV_16,
};
use crate::aaep::readings::{IncapableSubscriptions, Reading, Unlisted};
use crate::engine::clause::{Clause, Clauses};
use crate::engine::fact::Fact;
use crate::engine::protocol::Step;

// ── What is owed, when it comes ──

/// A session under an id that no other has.
pub(super) fn is_new(
    account: &mut Account,
    planned: SessionId,
    output: &Output,
) -> Result<(), Clauses> {
    let id = output.told().map_or(planned, |it| it.0);
    let is_taken = id != planned && account.session(id).is_some();
    if let Some(session) = account.session_mut(planned) {
        session.id = id;
    }
    all(&[(A_1_1, !is_taken)])
}

/// The question of an event: its token is new, it waits from now, and it asks what was to be asked.
pub(super) fn is_asked(
    account: &mut Account,
    which: usize,
    unlisted: Unlisted,
    output: &Output,
) -> Result<(), Clauses> {
    let (is_free, clock, tokens) = (
        name_call(account, which, output.call()),
        account.clock,
        account.tokens,
    );
    let (Some((_, what)), Some(question)) = (output.told(), account.questions.get_mut(which))
    else {
        return Ok(());
    };
    let (token, at, is_same) = match (what, &question.subject) {
        (What::Asked(it), Subject::Action(ask)) => (it.token, it.at, asks(ask, it, unlisted)),
        (What::Queried(it), Subject::Words(query)) => (it.token, it.at, queries(query, it)),
        _ => return Ok(()),
    };
    (question.token, question.asked_at) = (Some(token), at);
    // AAEP-6.2.2-3: no token comes a second time.
    all(&[
        (C6_2_2_3, token >= tokens),
        (EV_3, at == clock),
        (EV_5, is_same),
        (EV_13, is_free),
    ])
}

/// The first clause that does not hold.
pub(super) fn all(clauses: &[(Clause, bool)]) -> Result<(), Clauses> {
    match clauses.iter().find(|it| !it.1) {
        Some((clause, _)) => Err(clause.alone()),
        None => Ok(()),
    }
}

/// Whether an event asks what was to be asked.
fn asks(ask: &Ask, asked: &Asked, unlisted: Unlisted) -> bool {
    // AAEP-6.3.4-6: who lists no replies allows what the text has there.
    let own = ask.allowed.as_deref().unwrap_or(unlisted.replies());
    let allowed = asked.allowed.as_deref().unwrap_or(unlisted.replies());
    (asked.description, asked.consequence) == (ask.description.name, ask.consequence.name)
        && (asked.timeout, asked.default) == (ask.timeout, ask.default)
        && asked.risk.is_none_or(|it| it == ask.risk)
        && asked.irreversible.is_none_or(|it| it == ask.irreversible)
        && allowed.len() == own.len()
        && allowed.iter().all(|it| own.contains(it))
}

/// What a clarification has come to is what a reply said, or the default.
pub(super) fn is_answer(expected: Clarified, output: &Output) -> Result<(), Clauses> {
    let clause = if expected.by == By::Default {
        A_5_2
    } else {
        C6_1_7
    };
    all(&[(clause, *output == Output::Answer(expected))])
}

/// An output about the action of a question: its call is its own, and it says what was asked about.
pub(super) fn is_of(
    account: &mut Account,
    which: usize,
    binding: Binding,
    output: &Output,
) -> Result<(), Clauses> {
    let is_free = (EV_13, name_call(account, which, output.call()));
    let Some(Question {
        subject,
        token,
        modified,
        ..
    }) = account.questions.get(which)
    else {
        return Ok(());
    };
    let Some(action) = subject.action() else {
        return Ok(());
    };
    let own = action.tool;
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
            // What a reply has changed may be rated as it is now: no higher than what was asked.
            let is_rated = (*risk, *irreversible) == (action.risk, action.irreversible)
                || modified.is_some() && !rates_higher(Some(*risk), Some(*irreversible), action);
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
    let session = account.questions.get(which).map(Question::session);
    let is_other = |(place, it): (usize, &Question)| {
        place != which && Some(it.session()) == session && it.call == call
    };
    let is_taken = call.is_some() && account.questions.iter().enumerate().any(is_other);
    let Some(question) = account.questions.get_mut(which) else {
        return true;
    };
    let is_free = !is_taken && (call.is_none() || question.call.is_none() || question.call == call);
    question.call = question.call.or(call);
    is_free
}

/// AAEP-6.7.2-2: `calling_tool` on accept, `thinking` on reject, for which 6.1 has `deciding` as well.
pub(super) fn is_recommended(state: State, output: &Output) -> Result<(), Clauses> {
    let is_so = |to: State| to == state || (state, to) == (State::Thinking, State::Deciding);
    let told = output.told();
    all(&[(
        C6_7_2_2,
        told.is_none_or(|(_, what)| !matches!(what, What::Changed { to, .. } if !is_so(*to))),
    )])
}

/// A chunk stands where the one before it ends, with its text, and is the last where that was said.
pub(super) fn is_written(expected: Written, output: &Output) -> Result<(), Clauses> {
    let Some((_, What::Chunk(it))) = output.told() else {
        return Ok(());
    };
    // The text of a chunk that only completes is the producer's.
    let is_same = expected.text == Name::MAX
        || (it.text, it.characters) == (expected.text, expected.characters);
    all(&[
        (EV_5, is_same),
        (A_6_2, it.position == expected.position),
        (A_6_1, it.is_last == expected.is_last),
    ])
}

/// The same for every check.
pub(super) fn is_uniform(to_failed: &mut Answer, output: &Output) -> Result<(), Clauses> {
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

/// An event goes to whom it has to.
///
/// AAEP-6.7-1, AAEP-6.7.2-1: nobody is left out of a question, and its outcome goes to all who got it.
pub(super) fn reaches(
    account: &Account,
    reading: Reading,
    binding: Option<Binding>,
    output: &Output,
) -> Result<(), Clauses> {
    let Output::Emit(Event { what, to, .. }) = output else {
        return Ok(());
    };
    if account.delivers == Fact::No || to.is_none() && account.delivers != Fact::Yes {
        return Ok(());
    }
    let gets = |it: &Subscription| to.as_ref().is_none_or(|to| to.contains(&it.id));
    let is_withheld = reading.incapable_subscriptions == IncapableSubscriptions::Withheld;
    let is_asked = |it: &Subscription| it.can_reply || !is_withheld;
    let is_open = |it: &&Subscription| it.is_open;
    let mut open = account.subscriptions.iter().filter(is_open);
    match (what, binding) {
        (What::Asked(_), _) => all(&[
            (C6_7_1, open.clone().all(|it| gets(it) || !is_asked(it))),
            (EV_16, open.all(|it| is_asked(it) || !gets(it))),
        ]),
        (What::Queried(_) | What::Ended(Outcome::Errored), _) => all(&[(C6_7_1, open.all(gets))]),
        (What::Changed { .. }, Some(Binding::Outcome(which, _))) => {
            let question = account.questions.get(usize::from(which));
            let asked_of = question.map_or(0, |it| it.asked_of);
            let opened = account.subscriptions.iter().take(asked_of.into());
            let mut asked = opened.filter(|it| it.is_open && is_asked(it));
            all(&[(C6_7_2_1, asked.all(gets))])
        }
        (_, _) => Ok(()),
    }
}

/// A session moves from state to state without a gap (AAEP-EV-8).
pub(super) fn enter(account: &mut Account, output: &Output) -> Result<(), Clauses> {
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
        What::Asked(_) | What::Queried(_) => session.implied = Some(State::AwaitingInput),
        What::Invoked { .. } => session.implied = Some(State::CallingTool),
        What::Chunk(_) => session.implied = Some(State::WritingOutput),
        What::Started
        | What::Ended(_)
        | What::Completed { .. }
        | What::HandedOff { .. }
        | What::Progress { .. }
        | What::Other(_) => {}
    }
    Ok(())
}

/// What came may be lost, and the ids that it names are taken.
pub(super) fn see(account: &mut Account, output: &Output) {
    account.see_ids(output.asks(), output.call());
    if account.restarts > 0 {
        account.last.push(output.clone());
    }
}

// ── What nobody owed ──

/// The clauses that forbid it. What has none is free.
pub(super) fn forbids(step: &Step<'_, Aaep>, output: &Output) -> Clauses {
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
            ..
        }) if account.session(*session).is_none() => &[A_1_1],
        Output::Emit(Event { session, .. }) if !account.is_active(*session) => &[A_1_3],
        Output::Emit(Event { session, what, .. }) => match what {
            What::Started => &[A_1_1],
            What::Ended(_) => &[A_1_2],
            What::Changed { .. } | What::Chunk(_)
                if account.session(*session).is_some_and(|it| it.is_handed_off) =>
            {
                &[A_2_3]
            }
            What::Changed { to, .. }
                if *to != State::AwaitingInput
                    // AAEP-A.3-3: so is the state of a tool that runs.
                    && (*to != State::CallingTool
                        || account.questions_in(*session, Phase::Running).is_empty())
                    && !account.questions_in(*session, Phase::Open).is_empty() =>
            {
                &[A_2_2]
            }
            What::Asked(_) => &[C6_1_6],
            What::Queried(_) => &[C6_1_9],
            What::Invoked {
                call,
                tool,
                irreversible,
                ..
            } => match phase(account.called(*session, *call, *tool)) {
                None if *irreversible => &[A_7_4_1],
                None | Some(Phase::Answered) => &[C6_1_1],
                Some(Phase::Open | Phase::Cancelled) => &[C6_1_5],
                Some(Phase::Rejected) => &[A_4_4],
                Some(Phase::Running | Phase::Finished | Phase::Abandoned) => &[C6_9_2],
            },
            What::Completed { .. } => &[A_3_2],
            What::HandedOff { .. } => &[A_2_3],
            What::Chunk(it) => match account.written(*session, it.stream) {
                Some((_, true)) => &[A_6_3],
                Some((length, _)) if length != it.position => &[A_6_2],
                None if it.position != 0 => &[A_6_2],
                Some(_) | None => &[],
            },
            What::Changed { .. } | What::Progress { .. } | What::Other(_) => &[],
        },
        Output::Perform(run) if step.open.iter().any(|it| is_run_of(&it.output, run)) => &[C6_1_1],
        Output::Perform(run) => match phase(account.about(run)) {
            Some(Phase::Cancelled) if !account.is_active(run.session) => &[C6_1_1, C6_8_2],
            None | Some(Phase::Open | Phase::Cancelled | Phase::Answered) => &[C6_1_1],
            Some(Phase::Rejected) => &[C6_1_1, A_4_4],
            Some(Phase::Running | Phase::Finished | Phase::Abandoned) => &[C6_9_2],
        },
        Output::InDoubt(_) => &[A_3_1],
        Output::Answer(it) => match phase(account.asked(it.token)) {
            Some(Phase::Cancelled) => &[C6_8_4],
            Some(Phase::Answered) => &[C6_9_2],
            _ => &[C6_1_8],
        },
        Output::Respond { .. } | Output::Notify { .. } => &[C6_3_4_9],
        // AAEP-6.3.4-8: the failure may be logged.
        Output::Audit => &[],
        Output::Refused => &[C6_1],
        Output::Other(_) => &[EV_5],
    }
}

fn is_run_of(output: &Output, run: &Run) -> bool {
    matches!(output, Output::Perform(it) if (it.session, it.action) == (run.session, run.action))
}

/// What came has happened, allowed or not.
pub(super) fn believe(account: &mut Account, output: &Output) {
    let become_of = |account: &mut Account, which: Option<usize>, phase| {
        if let Some(question) = which.and_then(|it| account.questions.get_mut(it)) {
            question.phase = phase;
        }
    };
    if let Output::Perform(run) = output {
        become_of(account, account.about(run), Phase::Running);
    }
    if let Output::Answer(it) = output {
        become_of(account, account.asked(it.token), Phase::Answered);
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
        Some((session, What::Chunk(it))) => {
            account.write(session, it);
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
