//! What AAEP's confirmations are good for: statements about what was seen, and nothing else. No word of the spec is used. What
//! is true follows from the calls alone: who decided, and when. What was put out is compared with it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::aaep::text::alphabet::{
    Ask, Asked, Call, CallId, Decision, Message, Op, Outcome, Output, Reply, Risk, Run, SessionId,
    State, SubscriptionId, Time, Token, What,
};
use crate::engine::model::{guarantees, witnesses};

guarantees! {
    RunsAgain "AAEP-6.3.5-1, AAEP-6.9-2" "nothing runs twice";
    RunsEarly "AAEP-6.1-1" "nothing runs before its user or its timeout has accepted";
    ToldEarly "AAEP-6.1-5" "no event implies it before";
    RejectedRuns "AAEP-A.4-4, AAEP-6.1-1" "nothing runs, or is told to, that was rejected";
    SilenceRuns "AAEP-6.4.1-1, AAEP-6.4.1-2, AAEP-6.9-5" "silence runs nothing irreversible of medium or high risk";
    OtherRuns "AAEP-6.1-1" "what runs is what was asked about";
    TakenBackRuns "AAEP-6.8-2, AAEP-6.8-4" "nothing runs that was taken back, or whose session ended first";
    NotRun "AAEP-A.4-3" "what was accepted runs, and is told";
    TokenTwice "AAEP-6.2.2-3" "no token is issued twice";
    AskedTwice "AAEP-6.1-6" "nobody is asked twice at a time, or unasked";
    AskedOtherwise "AAEP-6.4.1-1, AAEP-EV-5" "what is asked is what was to be asked, and can be answered";
    NotAsked "AAEP-6-1, AAEP-6.8-1" "what can be asked is asked";
    NotTold "AAEP-6.1-3, AAEP-6.4-1, AAEP-6.8-3" "nobody is left blocked: each end of a question is told";
    OutOfLife "AAEP-A.1-1, AAEP-A.1-2, AAEP-A.1-3" "a session starts once, ends once, and is silent before and after";
    Unpaired "AAEP-A.3-1, AAEP-A.3-2" "each tool that is invoked completes once";
    Tells "AAEP-6.3.4-9" "a sender does not learn which check failed";
    Forged "AAEP-6.3.4-7" "whoever forges, guesses or replays changes nothing";
    NotAwaiting "AAEP-A.2-2, AAEP-A.4-1" "a session awaits input while a question is open";
    Gap "AAEP-EV-8" "each state follows the one before";
    Lost "AAEP-6.7-1" "nothing that was told is lost in a crash";
}

witnesses! {
    "a reply accepts" |it| it.any(|it| it.end == End::Accepted && it.is_replied && it.runs == 1);
    "a timeout accepts" |it| it.any(|it| it.end == End::Accepted && !it.is_replied && it.runs == 1);
    "a reply rejects" |it| it.any(|it| it.end == End::Rejected && it.is_replied);
    "a timeout rejects" |it| it.any(|it| it.end == End::Rejected && !it.is_replied);
    "a question is taken back" |it| it.any(|it| it.end == End::TakenBack && it.is_told);
    "a changed action runs" |it| it.any(|it| it.modified.is_some() && it.runs == 1);
    "two actions run and complete" |it| it.questions.len() == 2 && it.questions.iter().all(|it| it.runs == 1 && it.completed == 1);
    "one is rejected, the other runs" |it| it.any(|it| it.end == End::Rejected) && it.any(|it| it.runs == 1);
    "an action is asked about again" |it| it.questions.len() == 2 && it.questions.iter().all(|q| q.ask.action.name == it.questions[0].ask.action.name);
    "an action is in doubt that ran" |it| it.any(|it| it.is_in_doubt && it.runs == 1);
    "an action is in doubt that did not run" |it| it.any(|it| it.is_in_doubt && it.runs == 0);
    "a question that was lost is asked again" |it| it.was_retold;
}

/// What came of a call, as far as it shows how the call was taken.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Seen {
    is_refused: bool,
    is_asked: bool,
    is_invoked: bool,
    is_told: bool,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct History {
    sessions: SmallVec<[Session; 2]>,
    /// Each subscription, and whether it is open.
    subscriptions: SmallVec<[(SubscriptionId, bool, bool); 2]>,
    questions: SmallVec<[Question; 2]>,
    /// What the host wanted to be asked, and nobody has seen.
    unseen: SmallVec<[Arc<Ask>; 1]>,
    /// The greatest time of a call.
    latest: Time,
    /// What the sender of a reply saw that failed.
    to_failed: Option<SmallVec<[Output; 1]>>,
    /// The process died before these.
    lost: SmallVec<[Output; 4]>,
    was_retold: bool,
    /// The guarantees that are broken, a bit for each.
    broken: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Session {
    id: SessionId,
    is_seen: bool,
    has_ended: bool,
    state: State,
    implied: Option<State>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Question {
    ask: Arc<Ask>,
    token: Token,
    call: Option<CallId>,
    at: Time,
    end: End,
    is_replied: bool,
    modified: Option<u16>,
    /// An event has told that it is no longer open.
    is_told: bool,
    /// Two stand for more.
    runs: u8,
    invoked: u8,
    completed: u8,
    /// The process died since it was accepted, or its session ended.
    is_in_doubt: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    Open,
    Accepted,
    Rejected,
    TakenBack,
}

impl Question {
    fn deadline(&self) -> Time {
        self.at.saturating_add(self.ask.timeout)
    }
    fn is_open(&self) -> bool {
        self.end == End::Open
    }
    fn allows(&self, decision: Decision) -> bool {
        self.ask.allowed.as_ref().map_or(
            decision == Decision::Accept || decision == Decision::Reject,
            |it| it.contains(&decision),
        )
    }
    fn ends(&mut self, decision: Decision) {
        self.end = if decision == Decision::Accept {
            End::Accepted
        } else {
            End::Rejected
        };
    }
}

fn one_more(count: u8) -> u8 {
    2.min(count + 1)
}

/// Whether an event may hold the question, and its default is safe.
fn is_fit(ask: &Ask) -> bool {
    let texts = [ask.action, ask.tool, ask.description, ask.consequence];
    let is_risky = ask.irreversible
        && matches!(ask.risk, Risk::Medium | Risk::High)
        && ask.default == Decision::Accept;
    let is_listed = |it: &SmallVec<[Decision; 2]>| !it.is_empty() && it.len() <= 32;
    texts
        .iter()
        .all(|it| !it.is_blank && (1..=16 << 10).contains(&it.bytes))
        && (1_000..=86_400_000).contains(&ask.timeout)
        && !matches!(ask.risk, Risk::Other(_))
        && ask.allowed.as_ref().is_none_or(is_listed)
        && !is_risky
}

impl History {
    /// Whether that session was ever asked for.
    pub fn was_started(&self, id: SessionId) -> bool {
        self.sessions.iter().any(|it| it.id == id)
    }
    /// Whether that subscription was ever opened.
    pub fn was_subscribed(&self, id: SubscriptionId) -> bool {
        self.subscriptions.iter().any(|it| it.0 == id)
    }
    /// Whether somebody waits for a decision about that action.
    pub fn is_asked(&self, action: u16) -> bool {
        self.any(|it| it.is_open() && it.ask.action.name == action)
    }
    fn any(&self, holds: impl Fn(&Question) -> bool) -> bool {
        self.questions.iter().any(holds)
    }
    fn check(&mut self, guarantee: Guarantee, holds: bool) {
        self.broken |= u32::from(!holds) << guarantee as u8;
    }
    fn session(&mut self, id: SessionId) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|it| it.id == id)
    }
    fn goes_on(&self, id: SessionId) -> bool {
        self.sessions
            .iter()
            .any(|it| it.id == id && it.is_seen && !it.has_ended)
    }
    fn can_anybody_reply(&self) -> bool {
        self.subscriptions
            .iter()
            .any(|(_, can_reply, is_open)| *can_reply && *is_open)
    }
    fn about(
        &mut self,
        session: SessionId,
        call: CallId,
        action: Option<u16>,
    ) -> Option<&mut Question> {
        let is = |it: &&mut Question| {
            it.ask.session == session
                && it.call.is_none_or(|own| own == call)
                && action.is_none_or(|it_is| it_is == it.ask.action.name)
        };
        self.questions.iter_mut().rev().find(is)
    }

    /// A call was answered. The last `lost` outputs were put out, and not carried out.
    pub fn see(&mut self, call: &Call, outputs: &[Output], lost: usize) {
        self.latest = self.latest.max(call.now);
        let was_lost = std::mem::take(&mut self.lost);
        let (outputs, not_carried_out) = outputs.split_at(outputs.len().saturating_sub(lost));
        let is_restart = matches!(call.op, Op::Restart { .. });
        if is_restart {
            self.come_back(&was_lost, outputs, not_carried_out);
        }
        let has_elapsed = self.elapse();
        let all = || outputs.iter().chain(not_carried_out);
        let tells =
            |is: fn(&What) -> bool| all().any(|it| it.told().is_some_and(|(_, what)| is(what)));
        let seen = Seen {
            is_refused: all().any(|it| *it == Output::Refused),
            is_asked: tells(|it| matches!(it, What::Asked(_))),
            is_invoked: tells(|it| matches!(it, What::Invoked { .. })),
            is_told: tells(|_| true),
        };
        let is_heard = self.hear(&call.op, seen);
        if let Op::Deliver(_) = call.op {
            let is_aside = |it: &Output| {
                matches!(
                    it,
                    Output::Respond { .. } | Output::Audit | Output::Notify { .. }
                )
            };
            self.check(
                Guarantee::Forged,
                is_heard || has_elapsed || all().all(is_aside),
            );
            if !is_heard {
                let is_answer = |it: &&Output| matches!(it, Output::Respond { .. });
                let answers: SmallVec<[Output; 1]> = all().filter(is_answer).cloned().collect();
                self.see_answer(&answers);
            }
        }
        for output in outputs {
            self.see_output(output, is_restart && was_lost.contains(output), is_restart);
        }
        self.lose(not_carried_out);
        if lost == 0 {
            self.stand();
        }
    }

    /// Of what was lost, all that tells something comes again, and a question waits from now.
    fn come_back(&mut self, was_lost: &[Output], outputs: &[Output], not_carried_out: &[Output]) {
        for question in &mut self.questions {
            question.is_in_doubt |= question.end == End::Accepted && question.completed == 0;
        }
        let all = || outputs.iter().chain(not_carried_out);
        let comes_again = |lost: &Output| match lost.told() {
            None => true,
            Some((_, What::Asked(asked))) => {
                let is_same = |it: &Output| matches!(it.told(), Some((_, What::Asked(it))) if it.token == asked.token);
                all().any(is_same)
            }
            Some(_) => all().any(|it| it == lost),
        };
        let is_complete = was_lost.iter().all(comes_again);
        self.check(Guarantee::Lost, is_complete);
    }

    /// What nobody has decided in time is decided by its default.
    fn elapse(&mut self) -> bool {
        let latest = self.latest;
        let elapsed = self
            .questions
            .iter_mut()
            .filter(|it| it.is_open() && it.deadline() <= latest);
        elapsed.map(|it| it.ends(it.ask.default)).count() > 0
    }

    /// What the call has truly decided; false for a message that decides nothing.
    fn hear(&mut self, op: &Op, seen: Seen) -> bool {
        let Seen {
            is_refused,
            is_asked,
            ..
        } = seen;
        match op {
            Op::Deliver(message) => return self.hear_reply(message, seen),
            Op::StartSession(Some(given)) if !is_refused && !self.was_started(given.id) => {
                let (id, state) = (given.id, State::Idle);
                self.sessions.push(Session {
                    id,
                    is_seen: false,
                    has_ended: false,
                    state,
                    implied: None,
                });
            }
            Op::Subscribe {
                subscription,
                can_reply,
            } if !is_refused => {
                self.subscriptions.push((subscription.id, *can_reply, true));
            }
            Op::Unsubscribe(subscription) if !is_refused => {
                let could_reply = self.can_anybody_reply();
                for it in self
                    .subscriptions
                    .iter_mut()
                    .filter(|it| it.0 == *subscription)
                {
                    it.2 = false;
                }
                if could_reply && !self.can_anybody_reply() {
                    let is_rejected =
                        |it: &&mut Question| it.is_open() && it.ask.default == Decision::Reject;
                    self.questions
                        .iter_mut()
                        .filter(is_rejected)
                        .for_each(|it| it.end = End::Rejected);
                }
            }
            Op::Confirm(ask) => {
                let is_same = |it: &Question| {
                    it.is_open()
                        && (it.ask.session, it.ask.action.name) == (ask.session, ask.action.name)
                };
                let can_be = is_fit(ask) && self.goes_on(ask.session) && !self.any(is_same);
                let is_unwise = ask.default == Decision::Accept && ask.risk == Risk::High;
                self.check(Guarantee::NotAsked, is_asked || !can_be || is_unwise);
                self.check(Guarantee::AskedTwice, !is_asked || !self.any(is_same));
                self.check(Guarantee::AskedOtherwise, !is_asked || is_fit(ask));
                if is_asked {
                    self.unseen.push(Arc::clone(ask));
                }
            }
            Op::Cancel(token) if !is_refused => {
                let is_it = |it: &&mut Question| it.token == *token && it.is_open();
                self.questions
                    .iter_mut()
                    .filter(is_it)
                    .for_each(|it| it.end = End::TakenBack);
            }
            Op::EndSession { session, outcome } if !is_refused => self.end(*session, *outcome),
            Op::StartSession(_)
            | Op::EndSession { .. }
            | Op::Subscribe { .. }
            | Op::Unsubscribe(_)
            | Op::Cancel(_)
            | Op::FinishTool { .. }
            | Op::Tick
            | Op::Restart { .. } => {}
        }
        true
    }

    fn end(&mut self, session: SessionId, outcome: Outcome) {
        for it in self
            .questions
            .iter_mut()
            .filter(|it| it.ask.session == session)
        {
            match it.end {
                End::Open => it.end = End::TakenBack,
                End::Accepted => it.is_in_doubt |= outcome == Outcome::Cancelled,
                End::Rejected | End::TakenBack => {}
            }
        }
    }

    /// A reply by its own user, who was asked and decided in time.
    fn hear_reply(&mut self, message: &Message, seen: Seen) -> bool {
        let Some(Reply {
            flaw: None,
            token,
            decision,
            subscription: Some(on),
            timestamp: Some(claims),
            modified,
        }) = message.reply
        else {
            return false;
        };
        let is_open = self.subscriptions.iter().any(|it| it.0 == on && it.2);
        if !message.is_authenticated || message.sender != Some(on) || !is_open {
            return false;
        }
        let is_meant =
            |it: &&mut Question| it.token == token && it.is_open() && claims < it.deadline();
        let Some(question) = self.questions.iter_mut().find(is_meant) else {
            return false;
        };
        let is_accepted = match modified {
            None if !question.allows(decision) => return false,
            None => decision == Decision::Accept,
            // Whether it supports a changed action is the producer's to say: what comes tells.
            Some(modified) => {
                let may_run = decision == Decision::Accept && !modified.rates_higher;
                if may_run && !question.allows(decision) && !seen.is_told {
                    return false;
                }
                may_run && question.allows(decision) && seen.is_invoked
            }
        };
        question.is_replied = true;
        question.modified = modified.filter(|_| is_accepted).map(|it| it.action);
        question.ends(if is_accepted {
            Decision::Accept
        } else {
            Decision::Reject
        });
        true
    }

    /// What fails is answered alike, whatever fails.
    fn see_answer(&mut self, answers: &[Output]) {
        let known = self.to_failed.get_or_insert_with(|| answers.into());
        let is_same = known.as_slice() == answers && answers.len() < 2;
        self.check(Guarantee::Tells, is_same);
    }

    fn see_output(&mut self, output: &Output, is_again: bool, is_restart: bool) {
        match output {
            Output::Perform(run) => self.see_run(run),
            Output::Emit(event) => {
                let (id, what) = (event.session, &event.what);
                let is_start = *what == What::Started;
                let life = self
                    .sessions
                    .iter()
                    .find(|it| it.id == id)
                    .map(|it| (it.is_seen, it.has_ended));
                self.check(Guarantee::OutOfLife, life == Some((!is_start, false)));
                self.see_event(id, what, is_restart);
                self.see_state(id, what, is_again);
            }
            Output::InDoubt(_)
            | Output::Respond { .. }
            | Output::Notify { .. }
            | Output::Audit
            | Output::Refused
            | Output::Other(_) => {}
        }
    }

    fn see_run(&mut self, run: &Run) {
        let Some(it) = self.about(run.session, run.call, Some(run.action)) else {
            return self.check(Guarantee::OtherRuns, false);
        };
        it.runs = one_more(it.runs);
        it.call = Some(run.call);
        let (end, runs, modified) = (it.end, it.runs, it.modified);
        let is_silent = !it.is_replied && it.ask.irreversible && it.ask.risk != Risk::Low;
        let is_same = run.tool.is_none_or(|tool| tool == it.ask.tool.name)
            && run.token.is_none_or(|token| token == it.token);
        self.check(Guarantee::RunsAgain, runs < 2);
        self.check(Guarantee::OtherRuns, is_same && run.modified == modified);
        self.check(Guarantee::RunsEarly, end != End::Open);
        self.check(Guarantee::RejectedRuns, end != End::Rejected);
        self.check(Guarantee::TakenBackRuns, end != End::TakenBack);
        self.check(Guarantee::SilenceRuns, !is_silent || end != End::Accepted);
    }

    fn see_event(&mut self, session: SessionId, what: &What, is_restart: bool) {
        match what {
            What::Started => {
                if let Some(it) = self.session(session) {
                    it.is_seen = true;
                }
            }
            What::Ended(outcome) => self.see_end(session, *outcome),
            What::Changed { to, .. } if *to != State::AwaitingInput => {
                let is_told = |it: &&mut Question| it.ask.session == session && !it.is_open();
                self.questions
                    .iter_mut()
                    .filter(is_told)
                    .for_each(|it| it.is_told = true);
            }
            What::Asked(asked) => self.see_asked(session, asked, is_restart),
            What::Invoked {
                call: Some(call), ..
            } => {
                let Some(it) = self.about(session, *call, None) else {
                    return self.check(Guarantee::OtherRuns, false);
                };
                (it.invoked, it.call) = (one_more(it.invoked), Some(*call));
                let (end, invoked) = (it.end, it.invoked);
                self.check(Guarantee::ToldEarly, end != End::Open);
                self.check(Guarantee::RejectedRuns, end != End::Rejected);
                self.check(Guarantee::TakenBackRuns, end != End::TakenBack);
                self.check(Guarantee::RunsAgain, invoked < 2);
            }
            What::Completed {
                call: Some(call), ..
            } => {
                let asked = self.about(session, *call, None);
                let is_paired = asked.is_some_and(|it| {
                    it.completed = one_more(it.completed);
                    it.completed <= it.invoked && it.completed < 2
                });
                self.check(Guarantee::Unpaired, is_paired);
            }
            What::Changed { .. }
            | What::Invoked { .. }
            | What::Completed { .. }
            | What::Progress
            | What::Other(_) => {}
        }
    }

    fn see_end(&mut self, session: SessionId, outcome: Outcome) {
        let mut is_paired = outcome == Outcome::Cancelled;
        let own = self
            .questions
            .iter_mut()
            .filter(|it| it.ask.session == session);
        is_paired |= own.fold(true, |all, it| {
            it.is_told |= !it.is_open();
            all && it.completed == it.invoked
        });
        if let Some(it) = self.session(session) {
            it.has_ended = true;
        }
        self.check(Guarantee::Unpaired, is_paired);
    }

    fn see_asked(&mut self, session: SessionId, asked: &Asked, is_restart: bool) {
        let unseen = self
            .unseen
            .iter()
            .position(|it| it.session == session && it.description.name == asked.description);
        let is_new = !self.any(|it| it.token == asked.token);
        self.check(Guarantee::TokenTwice, is_new);
        let Some(ask) = unseen.map(|it| self.unseen.remove(it)) else {
            return self.check(Guarantee::AskedTwice, false);
        };
        let is_same = (asked.default, asked.timeout, asked.at)
            == (ask.default, ask.timeout, self.latest)
            && asked.risk.is_none_or(|it| it == ask.risk)
            && asked.irreversible.is_none_or(|it| it == ask.irreversible);
        self.check(Guarantee::AskedOtherwise, is_same);
        self.was_retold |= is_restart;
        self.questions.push(Question {
            ask,
            token: asked.token,
            call: asked.call,
            at: asked.at,
            end: End::Open,
            is_replied: false,
            modified: None,
            is_told: false,
            runs: 0,
            invoked: 0,
            completed: 0,
            is_in_doubt: false,
        });
    }

    fn see_state(&mut self, id: SessionId, what: &What, is_again: bool) {
        let Some(it) = self.session(id) else {
            return;
        };
        match *what {
            What::Changed { from, to } => {
                let follows = from == it.state || Some(from) == it.implied;
                (it.state, it.implied) = (to, None);
                // What comes again came in its place when nobody saw it.
                self.check(Guarantee::Gap, follows || is_again);
            }
            What::Asked(_) => it.implied = Some(State::AwaitingInput),
            What::Invoked { .. } => it.implied = Some(State::CallingTool),
            What::Started
            | What::Ended(_)
            | What::Completed { .. }
            | What::Progress
            | What::Other(_) => {}
        }
    }

    /// The process died before these.
    fn lose(&mut self, outputs: &[Output]) {
        self.lost = outputs.into();
        for run in outputs.iter().filter_map(Output::run) {
            if let Some(it) = self.about(run.session, run.call, Some(run.action)) {
                it.is_in_doubt = true;
            }
        }
    }

    /// Nothing is under way.
    fn stand(&mut self) {
        let awaits = |it: &Question| {
            let mut sessions = self.sessions.iter();
            !it.is_open()
                || sessions.any(|session| {
                    session.id == it.ask.session && session.state == State::AwaitingInput
                })
        };
        let is_told = self.questions.iter().all(|it| it.is_told || it.is_open());
        let is_run = |it: &Question| {
            it.end != End::Accepted || it.is_in_doubt || it.runs > 0 && it.invoked > 0
        };
        let (awaits, is_run) = (
            self.questions.iter().all(awaits),
            self.questions.iter().all(is_run),
        );
        self.check(Guarantee::NotTold, is_told);
        self.check(Guarantee::NotRun, is_run);
        self.check(Guarantee::NotAwaiting, awaits);
    }
}
