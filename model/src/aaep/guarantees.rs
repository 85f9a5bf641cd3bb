//! What AAEP's questions are good for: statements about what was seen, and nothing else. No word of the spec is used.
//! What is true follows from the calls alone: who decided, and when. What was put out is compared with it.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::aaep::alphabet::{
    Ask, Asked, By, Call, CallId, Clarified, Decision, Kind, Message, Modified, Op, Outcome,
    Output, Queried, Query, Reply, Response, Risk, Run, Says, SessionId, State, Subject,
    SubscriptionId, Time, Token, What, Written,
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
    Blocked "AAEP-EV-11" "nobody waits for a reply that nobody can give";
    NotTold "AAEP-6.1-3, AAEP-6.4-1, AAEP-6.8-3" "nobody is left blocked: each end of a question is told";
    OutOfLife "AAEP-A.1-1, AAEP-A.1-2, AAEP-A.1-3" "a session starts once, ends once, and is silent before and after";
    Unpaired "AAEP-A.3-1, AAEP-A.3-2" "each tool that is invoked completes once";
    Tells "AAEP-6.3.4-9" "a sender does not learn which check failed";
    Forged "AAEP-6.3.4-7, AAEP-6.3.4-1, AAEP-6.3.4-2, AAEP-6.3.4-3, AAEP-6.3.4-4, AAEP-6.3.4-5, AAEP-6.3.4-6"
        "whoever forges, guesses or replays changes nothing";
    NotAwaiting "AAEP-A.2-2, AAEP-A.4-1" "a session awaits input while a question is open";
    Gap "AAEP-EV-8" "each state follows the one before";
    Lost "AAEP-6.7-1" "nothing that was told is lost in a crash";
    AnsweredEarly "AAEP-6.1-8" "nothing goes on before a clarification is answered";
    AnsweredOtherwise "AAEP-6.1-7, AAEP-A.5-2" "an answer is what its user said in time, or the default";
    NotAnswered "AAEP-6.1-7" "who waits for an answer gets it once";
    MoreTime "AAEP-6.4.2-3" "more time is given to what waits, and told";
    UnaskedRuns "AAEP-A.7.4-1, AAEP-6.1-1" "nothing irreversible runs unasked, and nothing that was asked about";
    Whole "AAEP-A.6-1, AAEP-A.6-2, AAEP-A.6-3" "an output is whole: chunk stands behind chunk, and the last comes once";
    HandedOff "AAEP-A.2-3" "a session that is handed off says so, and then only ends";
    Countdown "AAEP-6.4.3-1, AAEP-6.4.3-4" "the time left of a long question is told";
}

witnesses! {
    "a reply accepts" in "AAEP-6.1-1, AAEP-A.4-3"
        |it| it.any(|it| it.end == End::Accepted && it.is_replied && it.runs == 1);
    "a timeout accepts" in "AAEP-6.4-1, AAEP-6.1-1"
        |it| it.any(|it| it.end == End::Accepted && !it.is_replied && !it.is_tool() && it.runs == 1);
    "a reply rejects" in "AAEP-6.1-3" |it| it.any(|it| it.end == End::Rejected && it.is_replied);
    "a timeout rejects" in "AAEP-6.4-1, AAEP-6.1-3" |it| it.any(|it| it.end == End::Rejected && !it.is_replied);
    "a question is taken back" in "AAEP-6.8-1, AAEP-6.8-3" |it| it.any(|it| it.end == End::TakenBack && it.is_told);
    "a changed action runs" in "AAEP-6.3.2-3" |it| it.any(|it| it.modified.is_some() && it.runs == 1);
    "two actions run and complete" in "AAEP-A.3-1"
        |it| it.questions.len() == 2 && it.questions.iter().all(|it| it.runs == 1 && it.completed == 1);
    "one is rejected, the other runs" in "AAEP-A.4-3, AAEP-A.4-4"
        |it| it.any(|it| it.end == End::Rejected) && it.any(|it| it.runs == 1);
    "an action is asked about again" in "AAEP-6.1-6"
        |it| it.questions.len() == 2
            && it.questions.iter().all(|q| q.action().is_some() && q.action() == it.questions[0].action());
    "an action is in doubt that ran" in "AAEP-A.3-1" |it| it.any(|it| it.is_in_doubt && it.runs == 1);
    "an action is in doubt that did not run" in "AAEP-A.3-1" |it| it.any(|it| it.is_in_doubt && it.runs == 0);
    "a question that was lost is asked again" in "AAEP-6.7-1" |it| it.was_retold;
    "a reply answers" in "AAEP-6.1-7, AAEP-6.5.5-1"
        |it| it.any(|it| it.answer.is_some_and(|it| it.1 == By::Reply) && it.answers == 1);
    "a default answers" in "AAEP-6.1-7, AAEP-A.5-2"
        |it| it.any(|it| it.answer.is_some_and(|it| it.1 == By::Default) && it.answers == 1);
    "nobody answers" in "AAEP-6.1-7"
        |it| it.any(|it| it.answer.is_some_and(|it| it.1 == By::Nobody) && it.answers == 1);
    "a timeout comes while the process is down" in "AAEP-6.4-1" |it| it.has_missed;
    "a question waits longer than was asked" in "AAEP-6.4.2-3"
        |it| it.any(|it| it.timeout > it.subject.timeout() && it.end == End::Rejected && !it.is_replied);
    "a tool runs unasked" in "AAEP-A.7.4-1, AAEP-A.3-1" |it| it.any(|it| it.is_tool() && it.completed == 1);
    "an output is whole" in "AAEP-A.6-1" |it| it.streams.iter().any(|it| it.2 > 0 && it.3);
    "a session is handed off and ends" in "AAEP-A.2-3" |it| it.sessions.iter().any(|it| it.is_handed_off && it.has_ended);
    "an action runs while a clarification is open" in "AAEP-6.1-4, AAEP-6.1-9"
        |it| it.any(|it| it.runs == 1) && it.any(|it| it.is_open() && it.subject.query().is_some());
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
    /// Those that have ended with the last subscription that could answer, and of whose end somebody is still to be told.
    closed: SmallVec<[usize; 1]>,
    /// What the host wanted to be asked, and nobody has seen.
    unseen: SmallVec<[Subject; 1]>,
    /// Each output of a session: how long it is, and whether it is complete.
    streams: SmallVec<[Stream; 1]>,
    /// The greatest time of a call.
    latest: Time,
    /// What the sender of a reply saw that failed.
    to_failed: Option<SmallVec<[Output; 1]>>,
    /// The process died before these.
    lost: SmallVec<[Output; 4]>,
    was_retold: bool,
    /// A default was due when the process came back.
    has_missed: bool,
    /// The guarantees that are broken, a bit for each.
    broken: u32,
}

type Stream = (SessionId, Option<u16>, i64, bool);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Session {
    id: SessionId,
    is_seen: bool,
    /// The host has handed it off, and an event has told so.
    is_given_up: bool,
    is_handed_off: bool,
    has_ended: bool,
    state: State,
    implied: Option<State>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Question {
    subject: Subject,
    token: Token,
    call: Option<CallId>,
    at: Time,
    timeout: Time,
    end: End,
    /// What a clarification has truly come to, and how often its host was told. Two stand for more.
    answer: Option<(Option<Response>, By)>,
    answers: u8,
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
    Answered,
}

impl Question {
    fn new(subject: Subject, token: Token, call: Option<CallId>, at: Time) -> Self {
        Self {
            timeout: subject.timeout(),
            subject,
            token,
            call,
            at,
            end: End::Open,
            answer: None,
            answers: 0,
            is_replied: false,
            modified: None,
            is_told: false,
            runs: 0,
            invoked: 0,
            completed: 0,
            is_in_doubt: false,
        }
    }
    fn action(&self) -> Option<u16> {
        self.subject.action().map(|it| it.name)
    }
    fn is_tool(&self) -> bool {
        matches!(self.subject, Subject::Tool(_))
    }
    fn is_in(&self, session: SessionId) -> bool {
        self.subject.session() == session
    }
    fn deadline(&self) -> Time {
        self.at.saturating_add(self.timeout)
    }
    fn is_open(&self) -> bool {
        self.end == End::Open
    }
    /// Somebody has to be told of its end, and nobody is.
    fn is_due(&self) -> bool {
        !self.is_told && !self.is_open()
    }
    /// Its host has to have an answer, and has none.
    fn is_unanswered(&self) -> bool {
        self.end == End::Answered && self.answers == 0
    }
    fn allows(&self, decision: Decision) -> bool {
        let allowed = self.subject.ask().and_then(|it| it.allowed.as_ref());
        allowed.map_or(
            decision == Decision::Accept || decision == Decision::Reject,
            |it| it.contains(&decision),
        )
    }
    fn answered(&mut self, response: Option<Response>, by: By) {
        (self.end, self.answer) = (End::Answered, Some((response, by)));
    }
    fn times_out(&mut self) {
        match self.subject.clone() {
            Subject::Action(ask) => self.ends(ask.default),
            Subject::Tool(_) => {}
            Subject::Words(query) => match query.default {
                Some(text) => self.answered(Some(Response::Text(text.name)), By::Default),
                None => self.answered(None, By::Nobody),
            },
        }
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

/// Whether an event may hold the clarification.
fn is_askable(query: &Query) -> bool {
    let choices = query.choices.as_deref().unwrap_or_default();
    let texts = || {
        choices
            .iter()
            .flat_map(|(value, label)| [value, label])
            .chain([&query.question])
    };
    let is_distinct = |(place, it): (usize, &(_, _))| {
        choices.iter().position(|other| other.0 == it.0) == Some(place)
    };
    let needs_choices = query
        .kinds
        .as_ref()
        .is_some_and(|it| it.contains(&Kind::MultipleChoice));
    texts().all(|it| !it.is_blank && (1..=16 << 10).contains(&it.bytes))
        && (1_000..=86_400_000).contains(&query.timeout)
        && query
            .kinds
            .as_ref()
            .is_none_or(|it| (1..=4).contains(&it.len()))
        && (query.choices.is_none() || (2..=32).contains(&choices.len()))
        && choices.iter().enumerate().all(is_distinct)
        && (query.choices.is_some() || !needs_choices)
        && query.size <= 64 << 10
}

/// Whether the response is of a kind that the clarification takes.
fn is_taken(query: &Query, response: Response) -> bool {
    let is_choice = |name| query.choices.iter().flatten().any(|it| it.0.name == name);
    let is_of = |kind: &Kind| match (kind, response) {
        (Kind::Freetext, Response::Text(_))
        | (Kind::YesNo, Response::Truth(_))
        | (Kind::Numeric, Response::Number(_)) => true,
        (Kind::MultipleChoice, Response::Text(name)) => is_choice(name),
        _ => false,
    };
    match &query.kinds {
        Some(kinds) => kinds.iter().any(is_of),
        None => !matches!(response, Response::Other(_)),
    }
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
        self.any(|it| it.is_open() && it.action() == Some(action))
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
            .any(|it| it.id == id && it.is_seen && !it.has_ended && !it.is_given_up)
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
        let is = |it: &Question, call: Option<CallId>| {
            it.is_in(session)
                && it.action().is_some()
                && it.call == call
                && action.is_none_or(|action| it.action() == Some(action))
        };
        let place = |call| self.questions.iter().rposition(|it| is(it, call));
        // Whose call it is, or who has none so far.
        let found = place(Some(call)).or_else(|| place(None));
        found.and_then(|it| self.questions.get_mut(it))
    }

    /// A call was answered. The last `lost` outputs were put out, and not carried out.
    pub fn see(&mut self, call: &Call, outputs: &[Output], lost: usize) {
        let before = self.latest;
        self.latest = before.max(call.now);
        let was_lost = std::mem::take(&mut self.lost);
        let (outputs, not_carried_out) = outputs.split_at(outputs.len().saturating_sub(lost));
        let is_restart = matches!(call.op, Op::Restart { .. });
        if is_restart {
            self.come_back(&was_lost, outputs, not_carried_out);
        }
        let has_elapsed = self.elapse();
        self.has_missed |= is_restart && has_elapsed;
        let has_counted = self.counts(before, outputs.iter().chain(not_carried_out));
        let all = || outputs.iter().chain(not_carried_out);
        let tells =
            |is: fn(&What) -> bool| all().any(|it| it.told().is_some_and(|(_, what)| is(what)));
        let seen = Seen {
            is_refused: all().any(|it| *it == Output::Refused),
            is_asked: tells(|it| matches!(it, What::Asked(_) | What::Queried(_))),
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
                is_heard || has_elapsed || has_counted || all().all(is_aside),
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
            None if matches!(lost, Output::Answer(_)) => all().any(|it| it == lost),
            None => true,
            Some((_, What::Asked(_) | What::Queried(_))) => {
                all().any(|it| it.asks() == lost.asks())
            }
            Some(_) => all().any(|it| it == lost),
        };
        let is_complete = was_lost.iter().all(comes_again);
        self.check(Guarantee::Lost, is_complete);
    }

    /// Of a question that waits longer than a minute it is told when a half is left, and when a tenth is. Whether
    /// anything is.
    fn counts<'o>(&mut self, before: Time, all: impl Iterator<Item = &'o Output>) -> bool {
        let told: SmallVec<[SessionId; 4]> = all
            .filter_map(Output::told)
            .filter(|it| matches!(it.1, What::Progress { .. }))
            .map(|it| it.0)
            .collect();
        let latest = self.latest;
        let moment = |it: &&Question, part: Time| it.deadline() - it.timeout / part;
        let waits = |it: &&Question| it.is_open() && it.timeout > 60_000;
        let is_due = |it: &&Question| {
            let parts = [2, 10].map(|part| moment(it, part));
            waits(it) && before < latest && parts.contains(&latest)
        };
        let is_told = |it: &Question| told.contains(&it.subject.session());
        let is_counted = self.questions.iter().filter(is_due).all(is_told);
        let has_counted = self.questions.iter().filter(waits).any(is_told);
        self.check(Guarantee::Countdown, is_counted);
        has_counted
    }

    /// What nobody has decided in time is decided by its default.
    fn elapse(&mut self) -> bool {
        let latest = self.latest;
        let elapsed = self
            .questions
            .iter_mut()
            .filter(|it| it.is_open() && it.deadline() <= latest);
        elapsed.map(Question::times_out).count() > 0
    }

    /// What the call has truly decided; false for a message that decides nothing.
    fn hear(&mut self, op: &Op, seen: Seen) -> bool {
        let Seen {
            is_refused,
            is_asked,
            is_told,
            ..
        } = seen;
        match op {
            Op::Deliver(message) => return self.hear_reply(message, seen),
            Op::StartSession(Some(given)) if !is_refused && !self.was_started(given.id) => {
                let (id, state) = (given.id, State::Idle);
                self.sessions.push(Session {
                    id,
                    is_seen: false,
                    is_given_up: false,
                    is_handed_off: false,
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
            Op::Unsubscribe(subscription) if !is_refused => self.close(*subscription),
            Op::Confirm(ask) => self.hear_ask(ask, is_asked),
            Op::Clarify(query) => self.hear_query(query, is_asked),
            Op::Tool(task) if !is_refused => {
                let is_same = |it: &Question| {
                    !it.is_tool() && it.is_in(task.session) && it.action() == Some(task.action.name)
                };
                let is_free = task.irreversible != Some(true) && !self.any(is_same);
                self.check(Guarantee::UnaskedRuns, is_free);
                let call = task.call.map(|it| it.id);
                let mut it = Question::new(Subject::Tool(Arc::clone(task)), Token::MAX, call, 0);
                (it.end, it.is_told) = (End::Accepted, true);
                self.questions.push(it);
            }
            Op::HandOff(it) if !is_refused => {
                if let Some(session) = self.session(it.session) {
                    session.is_given_up = true;
                }
            }
            Op::Cancel(token) if !is_refused => {
                let is_it = |it: &&mut Question| it.token == *token && it.is_open();
                self.questions
                    .iter_mut()
                    .filter(is_it)
                    .for_each(|it| it.end = End::TakenBack);
            }
            Op::Extend { token, timeout } => {
                let is_it = |it: &&mut Question| {
                    it.token == *token && it.is_open() && it.timeout < *timeout
                };
                let is_fit = (1_000..=86_400_000).contains(timeout);
                let found = self.questions.iter_mut().find(is_it).filter(|_| is_fit);
                let is_given = found.map_or(is_refused, |it| {
                    it.timeout = *timeout;
                    !is_refused && is_told
                });
                self.check(Guarantee::MoreTime, is_given);
            }
            Op::EndSession { session, outcome } if !is_refused => self.end(*session, *outcome),
            Op::StartSession(_)
            | Op::EndSession { .. }
            | Op::Subscribe { .. }
            | Op::Unsubscribe(_)
            | Op::Cancel(_)
            | Op::FinishTool { .. }
            | Op::Tool(_)
            | Op::Write(_)
            | Op::HandOff(_)
            | Op::Tick
            | Op::Restart { .. } => {}
        }
        true
    }

    /// A subscription ends; with the last that could answer every question that would not be accepted.
    fn close(&mut self, subscription: SubscriptionId) {
        let could_reply = self.can_anybody_reply();
        let its = |it: &&mut (SubscriptionId, bool, bool)| it.0 == subscription;
        self.subscriptions
            .iter_mut()
            .filter(its)
            .for_each(|it| it.2 = false);
        if !could_reply || self.can_anybody_reply() {
            return;
        }
        for (place, it) in self.questions.iter_mut().enumerate() {
            let ask = it.subject.ask();
            let accepts = ask.is_some_and(|it| it.default == Decision::Accept);
            if it.is_open() && !accepts {
                it.times_out();
                self.closed.push(place);
            }
        }
    }

    fn hear_ask(&mut self, ask: &Arc<Ask>, is_asked: bool) {
        let is_same = |it: &Question| {
            it.is_open() && it.is_in(ask.session) && it.action() == Some(ask.action.name)
        };
        let can_be = is_fit(ask) && self.goes_on(ask.session) && !self.any(is_same);
        let is_unwise = ask.default == Decision::Accept && ask.risk == Risk::High;
        self.check(Guarantee::NotAsked, is_asked || !can_be || is_unwise);
        self.check(Guarantee::AskedTwice, !is_asked || !self.any(is_same));
        self.check(Guarantee::AskedOtherwise, !is_asked || is_fit(ask));
        if is_asked {
            self.unseen.push(Subject::Action(Arc::clone(ask)));
        }
    }

    fn hear_query(&mut self, query: &Arc<Query>, is_asked: bool) {
        let is_same = |it: &Question| {
            it.is_open()
                && it.is_in(query.session)
                && it
                    .subject
                    .query()
                    .is_some_and(|it| it.question == query.question)
        };
        let can_be = is_askable(query) && self.goes_on(query.session) && !self.any(is_same);
        let is_identical = |it: &Question| {
            is_same(it)
                && it
                    .subject
                    .query()
                    .is_some_and(|it| (&it.kinds, &it.choices) == (&query.kinds, &query.choices))
        };
        self.check(Guarantee::NotAsked, is_asked || !can_be);
        self.check(Guarantee::AskedTwice, !is_asked || !self.any(is_identical));
        self.check(Guarantee::AskedOtherwise, !is_asked || is_askable(query));
        if is_asked {
            self.unseen.push(Subject::Words(Arc::clone(query)));
        }
    }

    fn end(&mut self, session: SessionId, outcome: Outcome) {
        for it in self.questions.iter_mut().filter(|it| it.is_in(session)) {
            match it.end {
                End::Open => it.end = End::TakenBack,
                End::Accepted => it.is_in_doubt |= outcome == Outcome::Cancelled,
                End::Rejected | End::TakenBack | End::Answered => {}
            }
        }
    }

    /// A reply by its own user, who was asked and decided in time.
    fn hear_reply(&mut self, message: &Message, seen: Seen) -> bool {
        let Some(Reply {
            flaw: None,
            token,
            says,
            subscription: Some(on),
            timestamp: Some(claims),
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
        let (decision, modified) = match (says, question.subject.clone()) {
            (Says::Answers(response), Subject::Words(query)) => {
                let is_heard = is_taken(&query, response);
                if is_heard {
                    question.is_replied = true;
                    question.answered(Some(response), By::Reply);
                }
                return is_heard;
            }
            (Says::Decides(decision, modified), Subject::Action(_)) => (decision, modified),
            (Says::Answers(_) | Says::Decides(..), _) => return false,
        };
        let is_accepted = Self::accepts(question, decision, modified, seen);
        let Some(is_accepted) = is_accepted else {
            return false;
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

    /// Whether a reply accepts, with a change or without; nothing where its decision is not allowed.
    fn accepts(
        question: &Question,
        decision: Decision,
        modified: Option<Modified>,
        seen: Seen,
    ) -> Option<bool> {
        Some(match modified {
            None if !question.allows(decision) => return None,
            None => decision == Decision::Accept,
            // Whoever supports a changed action ignores a decision that is not allowed, and everybody else rejects. Which it
            // is, what comes tells.
            Some(_) if !question.allows(decision) && !seen.is_told => return None,
            Some(modified) => {
                let ask = question.subject.ask();
                let level = |it| {
                    [Risk::Low, Risk::Medium, Risk::High]
                        .iter()
                        .position(|of| *of == it)
                };
                let is_calmer = modified.risk.is_none_or(|it| {
                    level(it).is_some() && level(it) <= ask.and_then(|it| level(it.risk))
                });
                let is_kept =
                    modified.irreversible != Some(true) || ask.is_some_and(|it| it.irreversible);
                let may_run = decision == Decision::Accept && is_calmer && is_kept;
                may_run && question.allows(decision) && seen.is_invoked
            }
        })
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
            Output::Answer(answer) => self.see_clarified(answer),
            Output::Emit(event) => {
                let (id, what) = (event.session, &event.what);
                let is_start = *what == What::Started;
                let life = self
                    .sessions
                    .iter()
                    .find(|it| it.id == id)
                    .map(|it| (it.is_seen, it.has_ended));
                self.check(Guarantee::OutOfLife, life == Some((!is_start, false)));
                let is_over = self
                    .sessions
                    .iter()
                    .any(|it| it.id == id && it.is_handed_off);
                // AAEP-EV-9: what is of another type says nothing of a session.
                let is_silent = matches!(
                    what,
                    What::Ended(_) | What::Progress { .. } | What::Other(_)
                );
                self.check(Guarantee::HandedOff, !is_over || is_silent);
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
        let Some(action) = it.subject.action() else {
            return;
        };
        let is_silent = !it.is_replied && action.irreversible && action.risk != Risk::Low;
        let is_same = run.tool.is_none_or(|tool| tool == action.tool)
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
                let is_told = |it: &&mut Question| it.is_in(session) && !it.is_open();
                self.questions
                    .iter_mut()
                    .filter(is_told)
                    .for_each(|it| it.is_told = true);
            }
            What::Asked(asked) => self.see_asked(session, asked, is_restart),
            What::Queried(queried) => self.see_queried(session, queried, is_restart),
            What::Chunk(it) => self.see_chunk(session, it),
            What::HandedOff { .. } => {
                let found = self.session(session);
                let is_said = found.is_some_and(|it| {
                    it.is_handed_off = true;
                    it.state == State::HandingOff
                });
                self.check(Guarantee::HandedOff, is_said);
            }
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
            | What::Progress { .. }
            | What::Other(_) => {}
        }
    }

    fn see_chunk(&mut self, session: SessionId, it: &Written) {
        let known = self
            .streams
            .iter_mut()
            .find(|other| (other.0, other.1) == (session, it.stream));
        let Some((_, _, length, is_complete)) = known else {
            self.streams
                .push((session, it.stream, i64::from(it.characters), it.is_last));
            return self.check(Guarantee::Whole, it.position == 0);
        };
        let is_next = !*is_complete && it.position == *length;
        *length += i64::from(it.characters);
        *is_complete |= it.is_last;
        self.check(Guarantee::Whole, is_next);
    }

    fn see_end(&mut self, session: SessionId, outcome: Outcome) {
        let mut is_paired = outcome == Outcome::Cancelled;
        let own = self.questions.iter_mut().filter(|it| it.is_in(session));
        is_paired |= own.fold(true, |all, it| {
            it.is_told |= !it.is_open();
            all && it.completed == it.invoked
        });
        let is_whole = self.streams.iter().all(|it| it.0 != session || it.3);
        self.check(Guarantee::Whole, is_whole || outcome == Outcome::Cancelled);
        if let Some(it) = self.session(session) {
            it.has_ended = true;
        }
        self.check(Guarantee::Unpaired, is_paired);
    }

    fn see_asked(&mut self, session: SessionId, asked: &Asked, is_restart: bool) {
        let is_it = |it: &Subject| {
            it.session() == session
                && it
                    .ask()
                    .is_some_and(|it| it.description.name == asked.description)
        };
        let Some(subject) = self.first_seen(asked.token, is_restart, is_it) else {
            return;
        };
        let Some(ask) = subject.ask() else {
            return;
        };
        let is_same = (asked.default, asked.timeout, asked.at)
            == (ask.default, ask.timeout, self.latest)
            && asked.risk.is_none_or(|it| it == ask.risk)
            && asked.irreversible.is_none_or(|it| it == ask.irreversible);
        self.check(Guarantee::AskedOtherwise, is_same);
        self.questions
            .push(Question::new(subject, asked.token, asked.call, asked.at));
    }

    fn see_queried(&mut self, session: SessionId, queried: &Queried, is_restart: bool) {
        let is_it = |it: &Subject| {
            it.session() == session
                && it
                    .query()
                    .is_some_and(|it| it.question.name == queried.question)
        };
        let Some(subject) = self.first_seen(queried.token, is_restart, is_it) else {
            return;
        };
        let is_same = (queried.timeout, queried.at) == (subject.timeout(), self.latest)
            && subject.query().is_some_and(|it| {
                it.default.map(|it| it.name) == queried.default && it.kinds == queried.kinds
            });
        self.check(Guarantee::AskedOtherwise, is_same);
        self.questions
            .push(Question::new(subject, queried.token, None, queried.at));
    }

    /// What was to be asked, and is seen now.
    fn first_seen(
        &mut self,
        token: Token,
        is_restart: bool,
        is_it: impl Fn(&Subject) -> bool,
    ) -> Option<Subject> {
        let is_new = !self.any(|it| it.token == token);
        self.check(Guarantee::TokenTwice, is_new);
        let found = self
            .unseen
            .iter()
            .position(is_it)
            .map(|it| self.unseen.remove(it));
        self.check(Guarantee::AskedTwice, found.is_some());
        self.was_retold |= is_restart;
        found
    }

    fn see_clarified(&mut self, it: &Clarified) {
        let question = self
            .questions
            .iter_mut()
            .find(|question| question.token == it.token);
        let Some(question) = question else {
            return self.check(Guarantee::AnsweredEarly, false);
        };
        question.answers = one_more(question.answers);
        let (end, answer, answers) = (question.end, question.answer, question.answers);
        self.check(Guarantee::AnsweredEarly, end == End::Answered);
        self.check(
            Guarantee::AnsweredOtherwise,
            answer == Some((it.response, it.by)),
        );
        self.check(Guarantee::NotAnswered, answers < 2);
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
            What::Asked(_) | What::Queried(_) => it.implied = Some(State::AwaitingInput),
            What::Invoked { .. } => it.implied = Some(State::CallingTool),
            What::Chunk(_) => it.implied = Some(State::WritingOutput),
            What::Started
            | What::Ended(_)
            | What::Completed { .. }
            | What::HandedOff { .. }
            | What::Progress { .. }
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
        let questions = &self.questions;
        let is_due = |it: &Question| it.is_due() || it.is_unanswered();
        self.closed
            .retain(|place| questions.get(*place).is_some_and(is_due));
        let (closed, all) = (&self.closed, questions.iter().enumerate());
        let mut all = all
            .filter(|(place, _)| !closed.contains(place))
            .map(|(_, it)| it);
        let awaits = |it: &Question| {
            let mut sessions = self.sessions.iter();
            !it.is_open()
                || sessions
                    .any(|session| it.is_in(session.id) && session.state == State::AwaitingInput)
        };
        // What the wire facts alone require breaks nothing of the text.
        let is_told = !all.clone().any(Question::is_due);
        let is_answered = !all.any(Question::is_unanswered);
        let is_blocked = !self.closed.is_empty();
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
        self.check(Guarantee::NotAnswered, is_answered);
        self.check(Guarantee::Blocked, !is_blocked);
    }
}
