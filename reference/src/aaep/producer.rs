//! The producer: every transition of the protocol.
//!
//! The one thing to know: [`Producer::handle`] is the only way in. Each call settles what is due, then does what it
//! was asked, and returns all that the world must do, in order. What the producer holds after the call is what lasts; of
//! what is lost on the way, in a crash, the events come again ([`Input::Restart`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ask::{check_ask, check_clarify, require_deadline, timeout_in_range};
use super::clarification::{Clarification, ClarificationNumber, ClarificationQuestion};
use super::confirmation::{
    Authority, Canceller, Confirmation, ConfirmationNumber, Phase, Question,
};
use super::event::{AgentState, CountersignExtension, Event, Payload, ResolutionOutcome};
use super::interface::{
    Answer, Answered, Ask, Clarify, Input, Outcome, Output, Refusal, Response, Sender,
};
use super::question::{Asked, QuestionNumber};
use super::questions::{Questions, Subject};
use super::session::{Session, SessionStatus, Subscription, Subscriptions};
use super::stored::{Contradiction, Stored};
use super::validate::{Valid, validate};
use super::vocabulary::{
    ActionId, Capabilities, Decision, EventId, Identity, ReplyToken, SessionId, SessionOutcome,
    SubscriptionId, ToolCallId, ToolStatus,
};
use crate::ids::IdSource;
use crate::time::{Timeout, Timestamp};

/// How often a value that is taken already is drawn again before the source of ids is given up.
const DRAWS: usize = 8;

/// What a host chooses once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// Who the producer is.
    pub identity: Arc<Identity>,
    /// Whether the sender of a late duplicate is told so (AAEP-6.3.5-2). Off by default: a notice tells more than
    /// silence does.
    #[serde(default)]
    pub courtesy_notices: bool,
    /// Whether the time that a question of more than a minute has left is told (AAEP-6.4.3-1, AAEP-6.4.3-4). On by default.
    #[serde(default = "yes")]
    pub progress: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            identity: Arc::default(),
            courtesy_notices: false,
            progress: yes(),
        }
    }
}

fn yes() -> bool {
    true
}

/// A producer of questions: all its state, and nothing but state.
///
/// Cloned, both copies behave alike given the same inputs and ids. Serialised and read back, it is the same value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Producer {
    settings: Settings,
    /// The greatest time that any call came with. Time never goes back, so nothing ever un-expires.
    now: Timestamp,
    sessions: BTreeMap<SessionId, Session>,
    subscriptions: Subscriptions,
    questions: Questions,
}

impl Producer {
    /// A producer without sessions, subscriptions or questions.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            now: Timestamp::MIN,
            sessions: BTreeMap::new(),
            subscriptions: Subscriptions::default(),
            questions: Questions::default(),
        }
    }

    /// Lets `input` happen at `now`, after everything that is due by then.
    ///
    /// `now` is the host's clock; where it lies before that of an earlier call, the earlier one counts. Carry out
    /// the outputs one at a time and in order, also when the call was refused: what fell due is among them.
    pub fn handle(&mut self, now: Timestamp, ids: &mut impl IdSource, input: Input) -> Outcome {
        let before = self.now;
        self.now = self.now.max(now);
        let mut call = Call {
            before,
            now: self.now,
            settings: &self.settings,
            sessions: &mut self.sessions,
            subscriptions: &mut self.subscriptions,
            questions: &mut self.questions,
            ids,
            outputs: Vec::new(),
        };
        let refused = call.run(input).err();
        Outcome {
            outputs: call.outputs,
            refused,
        }
    }

    /// When the next default falls due, or the time that a question has left is to be told. Call [`Producer::handle`] with
    /// [`Input::Tick`] then, if not before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let deadline = self.questions.next_deadline();
        if self.settings.progress {
            let countdown = self.questions.next_countdown(self.now);
            deadline.into_iter().chain(countdown).min()
        } else {
            deadline
        }
    }

    /// What the host chose.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The producer's idea of the time: the greatest that any call came with.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// All sessions that were ever started.
    pub fn sessions(&self) -> &BTreeMap<SessionId, Session> {
        &self.sessions
    }

    /// All subscriptions that were ever opened.
    pub fn subscriptions(&self) -> &BTreeMap<SubscriptionId, Subscription> {
        self.subscriptions.all()
    }

    /// All confirmations that were ever asked for, in the order of asking.
    pub fn confirmations(&self) -> &[Confirmation] {
        self.questions.confirmations()
    }

    /// All clarifications that were ever asked for, in the order of asking.
    pub fn clarifications(&self) -> &[Clarification] {
        self.questions.clarifications()
    }

    /// The confirmation with that token, if this producer ever issued it.
    pub fn confirmation(&self, reply_token: &ReplyToken) -> Option<&Confirmation> {
        match self.questions.find(reply_token)? {
            QuestionNumber::Confirmation(number) => Some(self.questions.confirmation(number)),
            QuestionNumber::Clarification(_) => None,
        }
    }

    /// The clarification with that token, if this producer ever issued it.
    pub fn clarification(&self, reply_token: &ReplyToken) -> Option<&Clarification> {
        match self.questions.find(reply_token)? {
            QuestionNumber::Clarification(number) => Some(self.questions.clarification(number)),
            QuestionNumber::Confirmation(_) => None,
        }
    }
}

impl TryFrom<Stored> for Producer {
    type Error = Contradiction;

    fn try_from(stored: Stored) -> Result<Self, Contradiction> {
        stored.check()?;
        let Stored {
            settings,
            now,
            sessions,
            subscriptions,
            questions,
        } = stored;
        Ok(Self {
            settings,
            now,
            sessions,
            subscriptions,
            questions,
        })
    }
}

/// One call under way: the parts of the producer, where fresh ids come from, and what has come out so far.
struct Call<'a> {
    /// The time of the call before.
    before: Timestamp,
    now: Timestamp,
    settings: &'a Settings,
    sessions: &'a mut BTreeMap<SessionId, Session>,
    subscriptions: &'a mut Subscriptions,
    questions: &'a mut Questions,
    ids: &'a mut dyn IdSource,
    outputs: Vec<Output>,
}

impl Call<'_> {
    fn run(&mut self, input: Input) -> Result<(), Refusal> {
        // What a crash leaves in doubt was released before this call, not by what falls due in it.
        let mut in_doubt = Vec::new();
        if let Input::Restart { lost } = &input {
            in_doubt = self.tools_in_flight();
            self.tell_again(lost);
        }
        self.settle_what_is_due();
        match input {
            Input::StartSession { session_id } => self.start_session(session_id),
            Input::Subscribe {
                subscription_id,
                capabilities,
            } => self.subscribe(subscription_id, capabilities),
            Input::Unsubscribe { subscription_id } => self.unsubscribe(&subscription_id),
            Input::Confirm(ask) => self.ask(ask),
            Input::Clarify(clarify) => self.clarify(clarify),
            Input::Deliver { sender, message } => {
                self.deliver(&sender, &message);
                Ok(())
            }
            Input::Cancel { reply_token } => self.cancel(&reply_token),
            Input::Extend {
                reply_token,
                timeout_seconds,
            } => self.extend(&reply_token, timeout_seconds),
            Input::FinishTool {
                session_id,
                action,
                tool_call_id,
                status,
            } => self.finish_tool(&session_id, &action, tool_call_id.as_ref(), status),
            Input::EndSession {
                session_id,
                outcome,
            } => self.end_session(&session_id, outcome),
            Input::Tick => Ok(()),
            Input::Restart { .. } => {
                self.outputs.extend(in_doubt);
                Ok(())
            }
        }
    }

    /// Everything that is due by now, in the order of time.
    fn settle_what_is_due(&mut self) {
        if self.settings.progress {
            // AAEP-6.4.3-1, AAEP-6.4.3-4: the user learns how much time is left of a long timeout.
            for (moment, number) in self.questions.counted_down(self.before, self.now) {
                self.settle_timeouts(moment);
                let time_left = self.questions.asked(number).time_left(self.now);
                self.tell_time(number, time_left);
            }
        }
        self.settle_timeouts(self.now);
    }

    /// AAEP-6.4-1, AAEP-6.1-7: no valid reply came before the timeout, so the default decides. In the order of the deadlines.
    fn settle_timeouts(&mut self, by: Timestamp) {
        while let Some(number) = self.questions.first_due(by) {
            match number {
                QuestionNumber::Confirmation(number) => {
                    let default = self.question(number).default_decision;
                    self.resolve(number, default, Authority::Timeout);
                }
                QuestionNumber::Clarification(number) => {
                    self.answer_by_default(number, Authority::Timeout);
                }
            }
        }
    }

    fn tools_in_flight(&self) -> Vec<Output> {
        let questions = &self.questions;
        questions
            .in_flight()
            .into_iter()
            .map(|number| Output::InDoubt(questions.confirmation(number).question.tool_call()))
            .collect()
    }

    /// AAEP-6.7-1, AAEP-EV-4: an event that nobody has seen comes again as it was, and so does an answer. A question is asked
    /// anew: its timeout counts from now, and what its session told behind it is told now too (AAEP-EV-3). An action is not run
    /// again.
    fn tell_again(&mut self, lost: &[Output]) {
        let mut asked_anew = BTreeSet::new();
        for output in lost {
            let event = match output {
                Output::Emit(event) => event,
                Output::Answer(_) => {
                    self.outputs.push(output.clone());
                    continue;
                }
                Output::Perform(_)
                | Output::Withdraw(_)
                | Output::Notify(_)
                | Output::Respond(_)
                | Output::Audit(_)
                | Output::InDoubt(_) => continue,
            };
            let mut event = event.clone();
            if let Payload::AwaitingConfirmation { reply_token, .. }
            | Payload::AwaitingClarification { reply_token, .. } = &event.payload
            {
                if let Some(number) = self.questions.find(reply_token) {
                    self.questions.ask_anew(number, self.now);
                }
                event.event_id = EventId::from_bits(self.ids.next_bits());
                asked_anew.insert(event.session_id.clone());
            }
            if asked_anew.contains(&event.session_id) {
                event.timestamp = self.now;
            }
            self.outputs.push(Output::Emit(event));
        }
    }

    // Sessions and subscriptions.

    fn start_session(&mut self, session_id: Option<SessionId>) -> Result<(), Refusal> {
        // AAEP-A.1-1: a session starts once.
        let session_id = match session_id {
            Some(id) if self.sessions.contains_key(&id) => return Err(Refusal::SessionExists),
            Some(id) => id,
            None => self.fresh_session_id()?,
        };
        self.sessions.insert(session_id.clone(), Session::started());
        self.emit(&session_id, Payload::started(), None);
        Ok(())
    }

    fn end_session(
        &mut self,
        session_id: &SessionId,
        outcome: SessionOutcome,
    ) -> Result<(), Refusal> {
        // AAEP-A.1-2: a session ends once.
        self.require_active(session_id, Refusal::SessionNotEndable)?;
        // AAEP-6.8-2: its questions are taken back. AAEP-6.8-3: each by an event, unless the terminal event says so itself.
        for number in self.questions.pending_in(session_id) {
            let cancelled = self.questions.cancel(number, Canceller::SessionEnd);
            debug_assert!(cancelled.is_ok(), "the index holds what is pending");
            match outcome {
                SessionOutcome::Completed | SessionOutcome::Errored => {
                    self.follow_up(number, ResolutionOutcome::Cancelled);
                }
                SessionOutcome::Cancelled => {}
            }
        }
        self.withdraw_tools(session_id, outcome);
        // AAEP-A.1-3: after this nothing more comes from the session.
        self.emit(session_id, Payload::terminal(outcome), None);
        if let Some(session) = self.sessions.get_mut(session_id) {
            session.status = SessionStatus::Ended(outcome);
        }
        Ok(())
    }

    /// Takes back every action of the session that was released and has not come back.
    fn withdraw_tools(&mut self, session_id: &SessionId, outcome: SessionOutcome) {
        let in_flight = self.questions.in_flight_in(session_id);
        for &number in &in_flight {
            let withdrawn = self.questions.transition(number, Phase::withdraw);
            debug_assert!(withdrawn.is_ok(), "the index holds what is in flight");
            let tool_call = self.question(number).tool_call();
            self.outputs.push(Output::Withdraw(tool_call));
        }
        match outcome {
            // AAEP-A.3-1: a session leaves no invocation without its completion. A cancelled one owes nothing more (AAEP-A.7.2-1).
            SessionOutcome::Completed | SessionOutcome::Errored => {
                for number in in_flight {
                    self.emit_tool_completed(number, ToolStatus::Error);
                }
            }
            SessionOutcome::Cancelled => {}
        }
    }

    fn subscribe(&mut self, id: SubscriptionId, capabilities: Capabilities) -> Result<(), Refusal> {
        // AAEP-EV-2: an id names one subscription, also after that one has closed.
        if self.subscriptions.all().contains_key(&id) {
            return Err(Refusal::SubscriptionExists);
        }
        self.subscriptions.open(id, capabilities);
        Ok(())
    }

    fn unsubscribe(&mut self, subscription_id: &SubscriptionId) -> Result<(), Refusal> {
        // AAEP-REPLY-14: only what is open can be closed.
        if !self.subscriptions.is_open(subscription_id) {
            return Err(Refusal::SubscriptionNotOpen);
        }
        let could_be_answered = self.subscriptions.can_anyone_reply();
        self.subscriptions.close(subscription_id);
        if could_be_answered && !self.subscriptions.can_anyone_reply() {
            self.settle_what_nobody_can_answer();
        }
        Ok(())
    }

    /// AAEP-EV-11: the last subscription able to answer is gone, so the default applies at once, but to a confirmation only where
    /// it rejects. One that accepts waits for its deadline: AAEP-6.1-1 lets nothing but the elapsed timeout accept.
    fn settle_what_nobody_can_answer(&mut self) {
        let by = Authority::SubscriptionClosed;
        for number in self.questions.pending() {
            match number {
                QuestionNumber::Confirmation(number) => {
                    match self.question(number).default_decision {
                        Decision::Reject => self.resolve(number, Decision::Reject, by),
                        Decision::Accept => {}
                    }
                }
                QuestionNumber::Clarification(number) => self.answer_by_default(number, by),
            }
        }
    }

    // Asking.

    fn ask(&mut self, ask: Ask) -> Result<(), Refusal> {
        // AAEP-A.1-3: a question lies between the start and the end of its session.
        self.require_active(&ask.session_id, Refusal::SessionNotActive)?;
        let (timeout, allowed_replies) = check_ask(self.now, &ask)?;
        // AAEP-6.1-6: not again while the same action is blocked.
        let subject = Subject::Action(ask.action.id.clone());
        if self.questions.is_pending(&ask.session_id, &subject) {
            return Err(Refusal::ActionBlocked);
        }
        let question = Arc::new(Question {
            asked: self.asked(ask.session_id, timeout)?,
            tool_call_id: ToolCallId::of_confirmation(self.questions.next_confirmation()),
            action: ask.action,
            default_decision: ask.default_decision,
            allowed_replies,
        });
        self.questions.add_confirmation(Arc::clone(&question));
        self.announce(&question.asked, question.awaiting_confirmation());
        Ok(())
    }

    fn clarify(&mut self, clarify: Clarify) -> Result<(), Refusal> {
        // AAEP-A.1-3: a question lies between the start and the end of its session.
        self.require_active(&clarify.session_id, Refusal::SessionNotActive)?;
        let timeout = check_clarify(self.now, &clarify)?;
        // AAEP-6.1-9: not again while the same question is open.
        let subject = Subject::Words(Arc::clone(&clarify.question));
        if self.questions.is_pending(&clarify.session_id, &subject) {
            return Err(Refusal::QuestionPending);
        }
        let question = Arc::new(ClarificationQuestion {
            asked: self.asked(clarify.session_id, timeout)?,
            text: clarify.question,
            accepted_response_kinds: clarify.accepted_response_kinds,
            choices: clarify.choices,
            default_response: clarify.default_response,
        });
        self.questions.add_clarification(Arc::clone(&question));
        self.announce(&question.asked, question.awaiting_clarification());
        Ok(())
    }

    /// AAEP-6.2-1: every question has a token of its own.
    fn asked(&mut self, session_id: SessionId, timeout: Timeout) -> Result<Asked, Refusal> {
        Ok(Asked {
            reply_token: self.fresh_reply_token()?,
            session_id,
            at: self.now,
            timeout,
        })
    }

    /// AAEP-A.4-1, AAEP-A.5-1: the state becomes `awaiting_input` at or before the question.
    fn announce(&mut self, Asked { session_id, .. }: &Asked, question: Payload) {
        match self.sessions.get(session_id).map(|session| session.state) {
            Some(AgentState::AwaitingInput) | None => {}
            Some(AgentState::Idle | AgentState::Thinking | AgentState::CallingTool) => {
                self.await_input(session_id);
            }
        }
        self.emit(session_id, question, None);
    }

    /// AAEP-6.4.2-3: a pending question gets more time, of whichever kind it is, and an event says so.
    fn extend(&mut self, reply_token: &ReplyToken, seconds: u64) -> Result<(), Refusal> {
        let number = self.questions.find_pending(reply_token);
        let number = number.ok_or(Refusal::NothingToExtend)?;
        let timeout = timeout_in_range(seconds)?;
        let asked = self.questions.asked(number);
        if timeout <= asked.timeout {
            return Err(Refusal::NotLonger);
        }
        require_deadline(asked.at, timeout)?;
        self.questions.extend(number, timeout);
        let extended = self.questions.asked(number).extended(self.now);
        self.tell_time(number, extended);
        Ok(())
    }

    /// How much time a question has. The event says which question.
    fn tell_time(&mut self, number: QuestionNumber, progress: Payload) {
        let Asked {
            reply_token,
            session_id,
            ..
        } = self.questions.asked(number).clone();
        let extension = CountersignExtension {
            reply_token,
            action: None,
            outcome: None,
        };
        self.emit(&session_id, progress, Some(extension));
    }

    // Answers.

    fn deliver(&mut self, sender: &Sender, message: &[u8]) {
        // AAEP-6.3.4-9: the sender gets the same response whatever becomes of the message, and gets it first.
        self.outputs.push(Output::Respond(Response::CONSTANT));
        match validate(message, sender, self.questions, self.subscriptions) {
            Ok(valid) => self.honour(valid),
            // AAEP-6.3.4-7: ignored. AAEP-6.3.4-8: and written down.
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
            Valid::Reply(reply) => self.resolve(reply.confirmation(), reply.decision(), by),
            Valid::Answer(answer) => {
                let number = answer.clarification();
                let response = answer.into_response();
                self.answer(number, Answered::Reply { response }, by);
            }
        }
    }

    /// A pending confirmation is decided, and its token with that used up (AAEP-REPLY-12).
    fn resolve(&mut self, number: ConfirmationNumber, decision: Decision, by: Authority) {
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
    fn answer_by_default(&mut self, number: ClarificationNumber, by: Authority) {
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
        let question = self.question(number);
        let resolution = question.resolution(ResolutionOutcome::Accepted);
        self.change_state(
            &question.asked.session_id,
            AgentState::CallingTool,
            ResolutionOutcome::Accepted.summary(number.into()),
            Some(resolution.clone()),
        );
        self.emit(
            &question.asked.session_id,
            question.tool_invoked(),
            Some(resolution),
        );
        self.go_on(&question.asked.session_id);
        // AAEP-6.1-1: this is the only place where an action is released.
        self.outputs.push(Output::Perform(question.tool_call()));
    }

    /// AAEP-6.1-3, AAEP-6.8-3: an event reflects that the action will not run. AAEP-A.4-2, AAEP-A.5-1: the state leaves
    /// `awaiting_input`.
    fn follow_up(&mut self, number: QuestionNumber, outcome: ResolutionOutcome) {
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
        } else if self.questions.has_in_flight(session_id) && state != Some(AgentState::CallingTool)
        {
            let summary = "The tool is still running.";
            self.change_state(session_id, AgentState::CallingTool, summary, None);
        }
    }

    fn await_input(&mut self, session_id: &SessionId) {
        let summary = "Waiting for the user to decide.";
        self.change_state(session_id, AgentState::AwaitingInput, summary, None);
    }

    fn cancel(&mut self, reply_token: &ReplyToken) -> Result<(), Refusal> {
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

    fn finish_tool(
        &mut self,
        session_id: &SessionId,
        action: &ActionId,
        tool_call_id: Option<&ToolCallId>,
        status: ToolStatus,
    ) -> Result<(), Refusal> {
        // AAEP-A.3-2: no completion without an invocation. An ended session has nothing in flight.
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
        self.emit_tool_completed(number, status);

        let was_the_last = !self.questions.has_in_flight(session_id);
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

    fn emit_tool_completed(&mut self, number: ConfirmationNumber, status: ToolStatus) {
        let question = self.question(number);
        self.emit(
            &question.asked.session_id,
            question.tool_completed(status),
            None,
        );
    }

    // Events.

    /// AAEP-EV-8: each `state.changed` leaves the state that the one before it entered.
    fn change_state(
        &mut self,
        session_id: &SessionId,
        to_state: AgentState,
        summary_normal: &'static str,
        extension: Option<CountersignExtension>,
    ) {
        if let Some(session) = self.sessions.get_mut(session_id) {
            let from_state = std::mem::replace(&mut session.state, to_state);
            self.emit(
                session_id,
                Payload::StateChanged {
                    from_state,
                    to_state,
                    summary_normal,
                },
                extension,
            );
        }
    }

    /// Puts out an event with its envelope. AAEP-EV-4: numbered without gaps.
    fn emit(
        &mut self,
        session_id: &SessionId,
        payload: Payload,
        extension: Option<CountersignExtension>,
    ) {
        let Some(session) = self.sessions.get_mut(session_id) else {
            return;
        };
        let sequence_number = session.next_sequence_number;
        session.next_sequence_number += 1;
        self.outputs.push(Output::Emit(Box::new(Event {
            event_id: EventId::from_bits(self.ids.next_bits()),
            session_id: session_id.clone(),
            timestamp: self.now,
            producer: Arc::clone(&self.settings.identity),
            sequence_number,
            payload,
            extension,
        })));
    }

    // Helpers.

    fn require_active(&self, session_id: &SessionId, refusal: Refusal) -> Result<(), Refusal> {
        match self.sessions.get(session_id).map(|session| session.status) {
            Some(SessionStatus::Active) => Ok(()),
            Some(SessionStatus::Ended(_)) | None => Err(refusal),
        }
    }

    fn question(&self, number: ConfirmationNumber) -> Arc<Question> {
        Arc::clone(&self.questions.confirmation(number).question)
    }

    /// AAEP-6.2.2-1, AAEP-6.2.2-3: a token that was issued before is never issued again.
    fn fresh_reply_token(&mut self) -> Result<ReplyToken, Refusal> {
        (0..DRAWS)
            .map(|_| ReplyToken::from_bits(self.ids.next_bits()))
            .find(|token| self.questions.find(token).is_none())
            .ok_or(Refusal::NoFreshToken)
    }

    fn fresh_session_id(&mut self) -> Result<SessionId, Refusal> {
        (0..DRAWS)
            .map(|_| SessionId::from_bits(self.ids.next_bits()))
            .find(|id| !self.sessions.contains_key(id))
            .ok_or(Refusal::NoFreshSessionId)
    }
}

#[cfg(test)]
mod tests;
