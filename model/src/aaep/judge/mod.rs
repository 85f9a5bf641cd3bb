//! The judge of AAEP confirmations and clarifications: chapter 6, what of appendix A bears on it, and the reply schema, as a predicate on what
//! a producer was asked and what it put out.
//!
//! The one thing to know: [`AaepJudge::see`] reads top down. Of each call it first says what the text now requires
//! ([`Duties`]), then holds every output against that, then names what was left undone. What is neither required nor
//! forbidden is free.
//!
//! Where to read: [`call`] and [`clarify`] have the words, [`account`] what is kept; then the text, a clause a block: [`chapter_6`] for
//! blocks, tokens, defaults and cancellation, [`outcomes`] for how a
//! resolution is told, [`replies`] for 6.3, [`clarifications`] for 6.5, [`time`] for extensions and the countdown, [`delivery`] for who
//! gets what, [`appendix_a`] for sessions, tools and states, [`events`] for the
//! wire, [`working`] for tools without a question, output and handoffs, whose words are in [`work`], [`restart`] for what a crash has lost. A clause is found by its id, which stands above the block that judges it.
//!
//! What a producer does not declare ([`Declared`]) is not
//! required of it.

mod account;
mod appendix_a;
mod call;
mod chapter_6;
mod clarifications;
mod clarify;
mod delivery;
mod events;
mod outcomes;
mod replies;
mod restart;
mod time;
mod work;
mod working;

use crate::judge::{Finding, Judge, Kind};

use super::numbers::Unlisted;
use super::readings::{Reading, StateWhileAsked};
use account::{Account, Cause, Phase, Verdict};
pub use call::{
    Allowed, Body, Call, Confirm, Decision, Declared, Delivery, Event, Flaw, Malformed, Modified,
    Outcome, Output, Question, QuestionKind, Rating, Reply, Risk, State, ToolCall, ToolStatus,
};
use clarifications::{Answer, Owed};
pub use clarify::{AnsweredBy, Choice, Clarification, Clarify, Response, ResponseKind};
use replies::Failed;
use time::{Stretch, Time};
pub use work::{Chunk, Handed, Handoff, Invocation, Streamed, Target, Text, Tool};
use working::{Closing, Work};

/// The judge of one producer, from its start on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AaepJudge {
    reading: Reading,
    declared: Declared,
    advises: bool,
    account: Account,
}

impl AaepJudge {
    /// A judge that reads the text as `reading` says, of a producer that declares nothing and has not been asked anything.
    pub fn new(reading: Reading) -> Self {
        Self {
            reading,
            declared: Declared::default(),
            advises: false,
            account: Account::default(),
        }
    }

    /// The same, of a producer that declares this.
    #[must_use]
    pub const fn declaring(mut self, declared: Declared) -> Self {
        self.declared = declared;
        self
    }

    /// The same, who names what is only recommended too (AAEP-6.4.1-3, AAEP-6.4.1-4, AAEP-6.4.2-1).
    #[must_use]
    pub const fn advising(mut self) -> Self {
        self.advises = true;
        self
    }

    /// The state that each session was last seen to enter.
    pub(super) fn states(&self) -> impl Iterator<Item = (u32, State)> {
        let sessions = self.account.sessions.iter();
        sessions.map(|(&name, session)| (name, session.implied.unwrap_or(session.entered)))
    }

    /// AAEP-A.2-2: whether a session stays in `awaiting_input` while a question of it is open.
    pub(super) fn stays_while_asked(&self) -> bool {
        self.reading.state_while_asked == StateWhileAsked::LeavesWithLast
    }

    /// AAEP-6.3.4-6: whether either may be replied where a question has no list of replies.
    pub(super) fn allows_both_unlisted(&self) -> bool {
        self.reading.numbers.unlisted == Unlisted::AcceptOrReject
    }

    /// The session and the action that a token was issued for; of a clarification the question.
    pub(super) fn asked(&self, token: u32) -> Option<(u32, u32)> {
        let question = self.account.questions.get(&token)?;
        let about = match &question.about {
            account::About::Action(action) => action.action,
            account::About::Answer(wanted) => wanted.question,
        };
        Some((question.session, about))
    }

    /// The timeout of a question, in seconds, and its deadline.
    pub(super) fn waits(&self, token: u32) -> (i64, i64) {
        let question = self.account.questions.get(&token);
        question.map_or((0, 0), |it| (it.timeout_seconds, it.deadline))
    }

    /// The calls in flight that carry an action out.
    pub(super) fn in_flight(&self, session: u32, action: u32) -> impl Iterator<Item = u32> {
        let running = self.account.sessions.get(&session).into_iter();
        running
            .flat_map(|session| &session.running)
            .filter(move |running| running.action == Some(action))
            .filter_map(|running| running.tool_call)
    }

    /// How often the action of a token was seen to run for it.
    pub(super) fn runs(&self, token: u32) -> u32 {
        let confirmation = self.account.confirmation(token);
        confirmation.map_or(0, |(_, action)| action.runs)
    }

    /// Takes this for the last that was put out, after [`Self::forget`].
    pub(super) fn showed_last(&mut self, output: Output) {
        self.account.last_outputs.push(output);
    }

    /// See [`Account::forget`].
    pub(super) fn forget(&mut self) {
        self.account.forget();
    }

    /// See [`Account::take_what_is_over_for_alike`].
    pub(super) fn take_what_is_over_for_alike(&mut self, can_begin: bool) {
        self.account.take_what_is_over_for_alike(can_begin);
    }
}

impl Judge for AaepJudge {
    type Call = Call;
    type Output = Output;

    fn see(&mut self, now: i64, call: &Call, outputs: &[Output]) -> Vec<Finding> {
        // The clock of a producer never runs backwards: the greatest time so far counts.
        let before = self.account.clock;
        self.account.clock = before.max(now);
        self.account.calls += 1;
        let mut look = Look {
            reading: self.reading,
            declared: self.declared,
            advises: self.advises,
            before,
            account: &mut self.account,
            call,
            outputs,
            duties: Duties::default(),
            findings: Vec::new(),
        };
        // What the text requires now. What is due comes before the call itself, and what was lost before that.
        look.lose();
        look.pass_deadlines();
        look.pass_moments();
        look.take_call();
        // What came out.
        look.runs();
        look.answers();
        look.completions_come_last();
        look.answers_to_sender();
        look.events();
        // What did not.
        look.undone();
        let mut findings = look.findings;
        self.account.last_outputs.clear();
        self.account.last_outputs.extend_from_slice(outputs);
        findings.sort_by_key(|finding| finding.clause);
        findings
    }
}

/// One call as the judge looks at it.
struct Look<'a> {
    reading: Reading,
    declared: Declared,
    /// Whether what is only recommended is judged too.
    advises: bool,
    /// The greatest time of the calls before.
    before: i64,
    account: &'a mut Account,
    call: &'a Call,
    outputs: &'a [Output],
    duties: Duties,
    findings: Vec<Finding>,
}

/// The id that a new session is to have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Starting {
    /// This one.
    Named(u32),
    /// One that the producer makes.
    Unnamed,
}

/// What a call, or the time that it brings, obliges a producer to put out.
#[derive(Default)]
struct Duties {
    /// The questions that are decided by it.
    resolutions: Vec<Resolution>,
    /// The questions that nobody can answer any more, and that by the reading wait for their timeout all the same.
    unanswerable: Vec<u32>,
    /// What is to be asked.
    question: Option<Asked>,
    /// The question that is to come, where the reading decides it as soon as it is asked.
    decided: Option<u32>,
    /// The answers that the host is to get.
    answers: Vec<Owed>,
    /// Of how much time is to be told that it is left.
    time: Vec<Time>,
    /// The extension that is not to be.
    stretch: Option<Stretch>,
    /// The sessions in which a time was told that is none of those.
    wrong_time: Vec<u32>,
    /// What was lost and comes again, in order.
    untold: Vec<Event>,
    /// The answers that were lost and come again.
    untold_answers: Vec<Answer>,
    /// The sessions of which something new has come while something lost was still to come.
    new_in: Vec<u32>,
    /// What is to be reported as in doubt.
    in_doubt: Vec<ToolCall>,
    /// The tools that are to be told complete.
    completions: Vec<Completion>,
    /// What is to be done around the questions.
    work: Option<Work>,
    /// The outputs that are to be complete before the end of their session.
    closings: Vec<Closing>,
    /// The session that begins, by its id where the driver gives one.
    start: Option<Starting>,
    /// The session that ends.
    end: Option<(u32, Outcome)>,
    /// Why the reply that arrived is to be ignored.
    ignored: Option<Failed>,
    /// Which states were entered out of `awaiting_input`, in which session; also this one again.
    leaving: Vec<(u32, State)>,
    /// The sessions of whose state nothing more is said in this call: something else was.
    settled: Vec<u32>,
    /// A question came before its session was told to await input (AAEP-A.4-1).
    unannounced: Option<u32>,
    /// Something came that the wire does not allow.
    malformed: bool,
}

/// A question that is decided now, and what that obliges to.
#[derive(Clone, Copy)]
struct Resolution {
    token: u32,
    session: u32,
    /// What a confirmation is about; nothing of it is looked at unless it is accepted or rejected.
    action: u32,
    tool: u32,
    verdict: Verdict,
    cause: Cause,
    owes: Owes,
    /// As what an accepted action is to run, where the reply says.
    modified: Option<Modified>,
    /// The call of the tool with which the action was run.
    run: Option<u32>,
    invoked: bool,
    /// Whether its tool was told to be completed before it was told to be invoked.
    completed: bool,
}

/// How much a resolution obliges to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owes {
    /// All that the text says.
    All,
    /// To run the action where it was accepted, or to hand over the answer; that it is told is free.
    Run,
    /// Nothing: either way is right, or something was said of it already.
    Nothing,
}

/// The question that a call asks for.
struct Asked {
    what: What,
    /// The clause that forbids it, where one does.
    forbidden: Option<&'static str>,
}

/// What the question is to be about.
#[derive(Clone)]
enum What {
    Confirm(Confirm),
    Clarify(Clarify),
}

impl What {
    const fn session(&self) -> u32 {
        match self {
            Self::Confirm(confirm) => confirm.session,
            Self::Clarify(clarify) => clarify.session,
        }
    }

    const fn kind(&self) -> QuestionKind {
        match self {
            Self::Confirm(_) => QuestionKind::Confirmation,
            Self::Clarify(_) => QuestionKind::Clarification,
        }
    }
}

/// A tool that is to be told complete.
struct Completion {
    session: u32,
    tool: u32,
    tool_call: Option<u32>,
    status: ToolStatus,
    /// Whether it may be left out.
    free: bool,
}

/// Whether a call may be refused.
enum Ground {
    /// It must be: to carry it out would break this clause.
    Must(&'static str),
    /// It may be: the text is silent, or says SHOULD.
    May,
    /// There is none.
    None,
}

impl Look<'_> {
    fn take_call(&mut self) {
        let ground = self.ground();
        if self.outputs.contains(&Output::Refused) {
            if matches!(ground, Ground::None) {
                self.refused_without_ground();
            }
            return;
        }
        if let Call::Confirm(confirm) = self.call {
            return self.is_to_ask(What::Confirm(confirm.clone()), &ground);
        }
        if let Call::Clarify(clarify) = self.call {
            return self.is_to_ask(What::Clarify(clarify.clone()), &ground);
        }
        if let Ground::Must(_) = ground
            && let Call::Extend { token, .. } = self.call
        {
            self.duties.stretch = Some(Stretch { token: *token });
        }
        if let Call::Tool(_) | Call::Output(_) | Call::Handoff(_) = self.call {
            return self.is_to_work(&ground);
        }
        if matches!(ground, Ground::Must(_)) {
            return;
        }
        match self.call {
            Call::StartSession { session } => {
                self.duties.start = Some(session.map_or(Starting::Unnamed, Starting::Named));
            }
            Call::Subscribe {
                subscription,
                can_reply,
            } => self.subscription_opens(*subscription, *can_reply),
            Call::Unsubscribe { subscription } => self.subscription_closes(*subscription),
            Call::Deliver(delivery) => self.reply_arrives(delivery),
            Call::Cancel { token } => self.question_is_withdrawn(*token),
            Call::Extend {
                token,
                timeout_seconds,
            } => self.question_gets_time(*token, *timeout_seconds),
            Call::FinishTool {
                session,
                action,
                tool_call,
                status,
            } => self.tool_comes_back(*session, *action, *tool_call, *status),
            Call::EndSession { session, outcome } => self.session_is_to_end(*session, *outcome),
            Call::Confirm(_)
            | Call::Clarify(_)
            | Call::Tool(_)
            | Call::Output(_)
            | Call::Handoff(_)
            | Call::Tick
            | Call::Restart { .. } => {}
        }
    }

    fn refused_without_ground(&mut self) {
        let clause = self.clause_of_call();
        let text = "there is no ground to refuse this".to_owned();
        match self.call {
            // AAEP-6.1-4: that a question waits in its session is none.
            Call::FinishTool { session, .. } if self.account.awaits(*session) => {
                self.conformance(clause, &["AAEP-6.1-4"], text);
            }
            Call::Extend { .. } => self.conformance(clause, &["AAEP-6.4.2-2"], text),
            Call::StartSession { .. }
            | Call::Subscribe { .. }
            | Call::Unsubscribe { .. }
            | Call::Confirm(_)
            | Call::Clarify(_)
            | Call::Deliver(_)
            | Call::Cancel { .. }
            | Call::Tool(_)
            | Call::Output(_)
            | Call::Handoff(_)
            | Call::FinishTool { .. }
            | Call::EndSession { .. }
            | Call::Tick
            | Call::Restart { .. } => self.conformance(clause, &[], text),
        }
    }

    /// Whether the call may be refused: "not allowed with this value or in this state".
    fn ground(&self) -> Ground {
        let sessions = &self.account.sessions;
        let none_unless = |illegal: bool, clause| {
            if illegal {
                Ground::Must(clause)
            } else {
                Ground::None
            }
        };
        match self.call {
            Call::StartSession { session } => none_unless(
                session.is_some_and(|session| sessions.contains_key(&session)),
                "AAEP-A.1-1",
            ),
            Call::Subscribe { subscription, .. } => none_unless(
                self.account.subscriptions.contains_key(subscription),
                "AAEP-EV-2",
            ),
            Call::Unsubscribe { subscription } => {
                none_unless(!self.account.is_active(*subscription), "AAEP-EV-11")
            }
            Call::Confirm(confirm) => {
                self.or_handed_off(confirm.session, self.ground_against_asking(confirm))
            }
            Call::Cancel { token } => self.ground_against_withdrawing(*token),
            Call::FinishTool {
                session,
                action,
                tool_call,
                ..
            } => self.ground_against_finishing(*session, *action, *tool_call),
            Call::EndSession { session, .. } => none_unless(
                sessions.get(session).is_none_or(|session| session.ended),
                "AAEP-A.1-2",
            ),
            Call::Clarify(clarify) => {
                self.or_handed_off(clarify.session, self.ground_against_clarifying(clarify))
            }
            Call::Tool(tool) => self.ground_against_tool(tool),
            Call::Output(chunk) => self.ground_against_output(chunk),
            Call::Handoff(handoff) => self.ground_against_handoff(handoff),
            Call::Extend {
                token,
                timeout_seconds,
            } => self.ground_against_extending(*token, *timeout_seconds),
            Call::Deliver(_) | Call::Tick | Call::Restart { .. } => Ground::None,
        }
    }

    /// The clause that a call serves, so that it is broken where the call is refused without ground.
    fn clause_of_call(&self) -> &'static str {
        match self.call {
            Call::StartSession { .. } => "AAEP-A.1-1",
            Call::Subscribe { .. } => "AAEP-6.7-1",
            Call::Unsubscribe { .. } => "AAEP-EV-11",
            // A hostile, late or malformed message is ignored; it is never an error of the caller.
            Call::Deliver(_) => "AAEP-6.3.4-7",
            Call::Cancel { .. } => "AAEP-6.8-1",
            Call::FinishTool { .. } | Call::Tool(_) => "AAEP-A.3-1",
            Call::EndSession { .. } => "AAEP-A.1-2",
            Call::Clarify(_) => "AAEP-6.1-9",
            Call::Extend { .. } => "AAEP-6.4.2-3",
            Call::Output(_) => "AAEP-A.6-1",
            Call::Handoff(_) => "AAEP-A.2-3",
            Call::Confirm(_) | Call::Tick | Call::Restart { .. } => "AAEP-6-1",
        }
    }

    /// Decides a question: from now on its token is void and its session awaits it no more.
    fn resolve(&mut self, token: u32, verdict: Verdict, cause: Cause, owes: Owes) {
        let call = self.account.calls;
        let Some(question) = self.account.questions.get_mut(&token) else {
            return;
        };
        question.phase = Phase::Resolved {
            verdict,
            cause,
            call,
        };
        let (action, tool) = match question.action_mut() {
            Some(action) => {
                action.refused |= verdict != Verdict::Accept;
                (action.action, action.tool)
            }
            None => (0, 0),
        };
        let session = question.session;
        let deadline = (question.deadline, token);
        self.account.deadlines.remove(&deadline);
        if let Some(session) = self.account.sessions.get_mut(&session) {
            session.open.remove(&token);
        }
        self.duties.resolutions.push(Resolution {
            token,
            session,
            action,
            tool,
            verdict,
            cause,
            owes,
            modified: None,
            run: None,
            invoked: false,
            completed: false,
        });
    }

    /// After a break: the producer does not hold of this question what the text says, so nothing more is required of it.
    fn goes_astray(&mut self, token: u32) {
        let Some(question) = self.account.questions.get_mut(&token) else {
            return;
        };
        question.phase = Phase::Astray;
        let session = question.session;
        self.account.deadlines.remove(&(question.deadline, token));
        if let Some(session) = self.account.sessions.get_mut(&session) {
            session.open.remove(&token);
            session.astray = true;
        }
        self.said_of(token, session);
    }

    /// Something was said of this question in this call: what follows from it is not said again.
    fn said_of(&mut self, token: u32, session: u32) {
        self.duties.settled.push(session);
        for resolution in &mut self.duties.resolutions {
            if resolution.token == token {
                resolution.owes = Owes::Nothing;
            }
        }
    }

    /// Whether nothing is to be said of the state of `session` any more.
    fn is_settled(&self, session: u32) -> bool {
        self.duties.settled.contains(&session)
            || self
                .account
                .sessions
                .get(&session)
                .is_none_or(|session| session.astray)
    }

    fn conformance(&mut self, clause: &'static str, also: &'static [&'static str], text: String) {
        self.finds(Kind::Conformance, clause, also, text);
    }

    fn guarantee(&mut self, clause: &'static str, also: &'static [&'static str], text: String) {
        self.finds(Kind::Guarantee, clause, also, text);
    }

    fn finds(
        &mut self,
        kind: Kind,
        clause: &'static str,
        also: &'static [&'static str],
        text: String,
    ) {
        self.findings.push(Finding {
            clause,
            also,
            kind,
            text,
        });
    }

    fn undone(&mut self) {
        self.lost_events_came_again();
        self.doubts_were_reported();
        self.question_was_asked();
        self.accepted_actions_ran();
        self.answers_were_given();
        self.time_was_told();
        self.outcomes_were_told();
        self.nobody_is_left_blocked();
        self.sessions_began_and_ended();
        self.tools_were_completed();
        self.work_was_done();
        self.outputs_were_completed();
    }
}
