//! The producer: every transition of the protocol. Those of questions are in the folder beside.
//!
//! The one thing to know: [`Producer::handle`] is the only way in. Each call settles what is due, then does what it
//! was asked, and returns all that the world must do, in order. What the producer holds after the call is what lasts; of
//! what is lost on the way, in a crash, the events come again ([`Input::Restart`]).

mod asking;
mod resolving;
#[cfg(test)]
mod tests;
mod working;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::clarification::Clarification;
use super::confirmation::{
    Authority, Canceller, Confirmation, ConfirmationNumber, Phase, Question,
};
use super::event::{AgentState, CountersignExtension, Event, Payload, ResolutionOutcome};
use super::interface::{Input, Outcome, Output, Refusal, ToolCall};
use super::question::QuestionNumber;
use super::questions::Questions;
use super::session::{Session, SessionStatus, Subscription, Subscriptions};
use super::stored::{Contradiction, Stored};
use super::vocabulary::{
    Capabilities, Decision, EventId, Identity, ReplyToken, SessionId, SessionOutcome,
    SubscriptionId, ToolStatus,
};
use super::work::OpenOutput;
use crate::ids::IdSource;
use crate::time::{Deadline, Timestamp};

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
    /// Whether a reply may modify the action that it accepts (AAEP-6.3.2-3). Off by default: such a reply then rejects.
    #[serde(default)]
    pub modified_action: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            identity: Arc::default(),
            courtesy_notices: false,
            progress: yes(),
            modified_action: false,
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
    /// [`Input::Tick`] then, if not before. It may lie beyond the calendar: no clock comes to it.
    pub fn next_deadline(&self) -> Option<Deadline> {
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
            Input::Tool(run) => self.run_tool(run),
            Input::FinishTool {
                session_id,
                action,
                tool_call_id,
                status,
            } => self.finish_tool(&session_id, &action, tool_call_id.as_ref(), status),
            Input::Output(chunk) => self.put_out(&chunk),
            Input::Handoff(handoff) => self.hand_off(handoff),
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
        self.settle_timeouts(self.now.into());
    }

    /// AAEP-6.4-1, AAEP-6.1-7: no valid reply came before the timeout, so the default decides. In the order of the deadlines.
    fn settle_timeouts(&mut self, by: Deadline) {
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

    /// Those that needed no question first, of one session after the other, then the confirmed ones in the order of asking.
    fn tools_in_flight(&self) -> Vec<Output> {
        let unasked = self.sessions.iter().flat_map(|(session_id, session)| {
            let running = session.work.running.iter();
            running.map(|tool| tool.tool_call(session_id))
        });
        let numbers = self.questions.in_flight().into_iter();
        let confirmed = numbers.map(|number| self.questions.confirmation(number).tool_call());
        unasked.chain(confirmed).map(Output::InDoubt).collect()
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
        self.complete_outputs(session_id);
        // AAEP-A.1-3: after this nothing more comes from the session.
        self.emit(session_id, Payload::terminal(outcome), None);
        if let Some(session) = self.sessions.get_mut(session_id) {
            session.status = SessionStatus::Ended(outcome);
        }
        Ok(())
    }

    /// Takes back every action of the session that was released and has not come back.
    fn withdraw_tools(&mut self, session_id: &SessionId, outcome: SessionOutcome) {
        let session = self.sessions.get_mut(session_id);
        let unasked = session.map(|session| session.work.stop_tools());
        let unasked = unasked.into_iter().flatten();
        let mut calls: Vec<ToolCall> = unasked.map(|tool| tool.tool_call(session_id)).collect();
        for number in self.questions.in_flight_in(session_id) {
            let withdrawn = self.questions.transition(number, Phase::withdraw);
            debug_assert!(withdrawn.is_ok(), "the index holds what is in flight");
            calls.push(self.questions.confirmation(number).tool_call());
        }
        self.outputs
            .extend(calls.iter().cloned().map(Output::Withdraw));
        match outcome {
            // AAEP-A.3-1: a session leaves no invocation without its completion. A cancelled one owes nothing more (AAEP-A.7.2-1).
            SessionOutcome::Completed | SessionOutcome::Errored => {
                for call in calls {
                    self.emit(session_id, call.completed(ToolStatus::Error), None);
                }
            }
            SessionOutcome::Cancelled => {}
        }
    }

    /// AAEP-A.6-1: every output that is open is completed, in the order in which they began.
    fn complete_outputs(&mut self, session_id: &SessionId) {
        let session = self.sessions.get_mut(session_id);
        let open = session.map(|session| session.work.complete_outputs());
        for OpenOutput {
            output_id,
            position,
        } in open.into_iter().flatten()
        {
            let completed = Payload::OutputStreaming {
                output_id,
                chunk: "".into(),
                position,
                complete: true,
            };
            self.emit(session_id, completed, None);
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
