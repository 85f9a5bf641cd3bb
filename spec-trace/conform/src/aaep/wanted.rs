//! What the executor has to put out in one call, to the last field.
//!
//! The one thing to know: an output is wanted as a whole and compared as a whole, so that a field which is not thought of here
//! fails to compile. What is taken from what came are the names that the executor alone makes up: the id of an event, the
//! token and the `tool_call_id` of a question. Those have to be new.

use std::sync::Arc;

use countersign_model::aaep::action::Action;
use countersign_model::aaep::message::{Message, Shape, Token};
use countersign_model::aaep::output::Output;
use countersign_model::aaep::rules::Check;
use countersign_model::aaep::state::{Phase as Word, State};
use countersign_model::aaep::step::Step;
use countersign_model::aaep::words::{SessionName, SessionOutcome, Slot};
use countersign_reference::aaep::{
    self as executor, AgentState, Ask, Audit, Authority, CancelledBy, Canceller, ClauseId,
    Confirmation, CountersignExtension, ErrorCategory, Event, ExtraContext, Input, Notice, Payload,
    Phase, Question, ResolutionOutcome, Response, SessionStatus, Subscription, Tool, ToolCall,
    ToolStatus, Urgency,
};
use countersign_reference::time::Timeout;

use super::CONTRACT;
use super::account::Account;
use super::concrete::{Environment, fault};
use crate::{Unexplained, unexplained};

/// What of a call its outputs are held against.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is asked, if the call asks.
    pub(super) ask: Option<Arc<Ask>>,
    /// How the tool came out, if the call says that one has come back.
    pub(super) finished: Option<ToolStatus>,
    /// The number of bytes of the message that it delivers, 0 if it delivers none.
    pub(super) received: usize,
}

/// One call, and the model's step that it is.
pub(super) struct TakenStep<'a> {
    pub(super) environment: &'a Environment,
    /// The model state before.
    pub(super) state: &'a State,
    pub(super) action: Action,
    pub(super) step: &'a Step,
    pub(super) call: &'a Call,
}

/// What an event tells, and of which session and confirmation.
type EventContent = (SessionName, Payload, Option<CountersignExtension>);

impl Call {
    pub(super) fn of(input: &Input) -> Self {
        let call = Self {
            ask: None,
            finished: None,
            received: 0,
        };
        match input {
            Input::Confirm(ask) => Self {
                ask: Some(Arc::new(ask.clone())),
                ..call
            },
            Input::FinishTool { status, .. } => Self {
                finished: Some(*status),
                ..call
            },
            Input::Deliver { message, .. } => Self {
                received: message.len(),
                ..call
            },
            Input::StartSession { .. }
            | Input::Subscribe { .. }
            | Input::Unsubscribe { .. }
            | Input::Cancel { .. }
            | Input::EndSession { .. }
            | Input::Tick
            | Input::Restart => call,
        }
    }
}

impl TakenStep<'_> {
    /// Everything that has to come out, in the model's words and in order: what is required, and what the model leaves open
    /// and this executor promises.
    pub(super) fn words(&self, account: &Account) -> Vec<Output> {
        let required = || self.step.required.iter();
        let mut words: Vec<Output> = required().filter(|word| *word != Output::Respond).collect();
        if self.step.required.contains(Output::Respond) {
            words.insert(self.place_of_response(&words), Output::Respond);
        }
        for word in self.step.optional.iter() {
            let is_promised = match word {
                Output::Notice => self.notifies(account),
                // AAEP-A.3-3: the state leaves calling_tool with the last tool of its session, if it is there.
                Output::Thinking(session) => {
                    self.state_after(account, &words, session) == AgentState::CallingTool
                }
                // AAEP-6.3.4-8: a producer may leave the log out.
                Output::Audit(_) => true,
                Output::AwaitingInput(_)
                | Output::Asked(_)
                | Output::CallingTool(_)
                | Output::Invoked(_)
                | Output::Perform(_)
                | Output::FollowUpLeaving(_)
                | Output::FollowUpStaying(_)
                | Output::Completed(_)
                | Output::Withdraw(_)
                | Output::Ended(..)
                | Output::InDoubt(_)
                | Output::Respond
                | Output::Tell(_)
                | Output::Refused(_) => false,
            };
            words.extend(is_promised.then_some(word));
        }
        words
    }

    /// Every output is the one that is wanted; takes it into the account.
    ///
    /// # Errors
    ///
    /// [`Unexplained`] for the first that says something else than its word wants.
    pub(super) fn check(
        &self,
        account: &mut Account,
        words: &[Output],
        came: &[executor::Output],
    ) -> Result<(), Unexplained> {
        for (place, (&word, came)) in words.iter().zip(came).enumerate() {
            let wanted = self.wanted(account, &words[place..], came)?;
            if wanted != *came {
                let text = serde_json::to_string(&wanted).unwrap_or_default();
                return Err(unexplained(clause(word, &wanted, came), text));
            }
        }
        self.note_silent(account);
        Ok(())
    }

    /// The output that the first of these words stands for.
    fn wanted(
        &self,
        account: &mut Account,
        words: &[Output],
        came: &executor::Output,
    ) -> Result<executor::Output, Unexplained> {
        let call = |slot| self.tool_call(account, slot);
        Ok(match words[0] {
            Output::Perform(slot) => executor::Output::Perform(call(slot)?),
            Output::InDoubt(slot) => executor::Output::InDoubt(call(slot)?),
            Output::Withdraw(slot) => {
                let call = call(slot)?;
                settle_tool(account, slot, Tool::Withdrawn);
                executor::Output::Withdraw(call)
            }
            Output::Respond => executor::Output::Respond(Response::CONSTANT),
            Output::Audit(check) => executor::Output::Audit(self.audit(account, check)?),
            Output::Notice => executor::Output::Notify(self.notice(account)?),
            Output::AwaitingInput(_)
            | Output::Asked(_)
            | Output::CallingTool(_)
            | Output::Invoked(_)
            | Output::FollowUpLeaving(_)
            | Output::FollowUpStaying(_)
            | Output::Completed(_)
            | Output::Thinking(_)
            | Output::Ended(..) => {
                let executor::Output::Emit(came) = came else {
                    return Err(unexplained(CONTRACT, "an event"));
                };
                executor::Output::Emit(Box::new(self.event(account, words, came)?))
            }
            // Neither is an output of the executor.
            Output::Tell(_) | Output::Refused(_) => return Err(unexplained(CONTRACT, "nothing")),
        })
    }

    /// AAEP-EV-1: the event, with its envelope.
    fn event(
        &self,
        account: &mut Account,
        words: &[Output],
        came: &Event,
    ) -> Result<Event, Unexplained> {
        let (session, payload, resolution) = match words[0] {
            Output::AwaitingInput(session) => {
                let text = "Waiting for the user to decide.";
                let payload = change_state(account, session, AgentState::AwaitingInput, text);
                (session, payload, None)
            }
            Output::Thinking(session) => {
                let text = "The tool has come back.";
                let payload = change_state(account, session, AgentState::Thinking, text);
                (session, payload, None)
            }
            Output::CallingTool(session) => {
                // What is accepted is announced next.
                let slot = words.iter().copied().find_map(Output::slot);
                let slot = slot.ok_or_else(|| unexplained("AAEP-A.4-3", "an invocation"))?;
                let outcome = ResolutionOutcome::Accepted;
                let payload =
                    change_state(account, session, AgentState::CallingTool, summary(outcome));
                (session, payload, Some(resolution(account, slot, outcome)?))
            }
            Output::FollowUpLeaving(slot) => self.follow_up(account, slot, AgentState::Thinking)?,
            Output::FollowUpStaying(slot) => {
                self.follow_up(account, slot, AgentState::AwaitingInput)?
            }
            Output::Asked(slot) => {
                let payload = self.question(account, slot, came)?;
                (self.session(slot), payload, None)
            }
            Output::Invoked(slot) => {
                let by = self.authority(account, slot)?;
                let tool = Tool::InFlight;
                account.set_phase(slot, Phase::Accepted { by, tool });
                let resolution = resolution(account, slot, ResolutionOutcome::Accepted)?;
                let payload = invocation(asked(account, slot)?);
                (self.session(slot), payload, Some(resolution))
            }
            Output::Completed(slot) => {
                settle_tool(account, slot, Tool::Finished);
                let payload = self.completion(asked(account, slot)?);
                (self.session(slot), payload, None)
            }
            Output::Ended(session, outcome) => {
                let status = SessionStatus::Ended(ended(outcome));
                account.sessions[session.index()].status = status;
                (session, terminal(outcome), None)
            }
            Output::Perform(_)
            | Output::Withdraw(_)
            | Output::InDoubt(_)
            | Output::Respond
            | Output::Tell(_)
            | Output::Audit(_)
            | Output::Refused(_)
            | Output::Notice => return Err(unexplained(CONTRACT, "no event")),
        };
        let content = (session, payload, resolution);
        envelope(self.environment, account, content, came)
    }

    /// AAEP-6.1-3, AAEP-6.8-3: the event that reflects that the action will not run, and why.
    fn follow_up(
        &self,
        account: &mut Account,
        slot: Slot,
        to: AgentState,
    ) -> Result<EventContent, Unexplained> {
        let is_cancelled = self.step.next.confirmation(slot).phase == Word::Cancelled;
        let (outcome, phase) = if is_cancelled {
            let by = Canceller::Producer;
            (ResolutionOutcome::Cancelled, Phase::Cancelled { by })
        } else {
            let by = self.authority(account, slot)?;
            (ResolutionOutcome::Rejected, Phase::Rejected { by })
        };
        account.set_phase(slot, phase);
        let session = self.session(slot);
        let payload = change_state(account, session, to, summary(outcome));
        Ok((session, payload, Some(resolution(account, slot, outcome)?)))
    }

    /// AAEP-EV-5: the event asks what the host wanted to ask, in every field.
    fn question(
        &self,
        account: &mut Account,
        slot: Slot,
        came: &Event,
    ) -> Result<Payload, Unexplained> {
        let Payload::AwaitingConfirmation {
            reply_token,
            extra_context: ExtraContext { tool_call_id },
            ..
        } = &came.payload
        else {
            return Err(unexplained("AAEP-6.2-1", "a question"));
        };
        if account.slot_of_token(reply_token).is_some() {
            let text = "a token that was never issued before";
            return Err(unexplained("AAEP-6.2.2-3", text));
        }
        if account.slot_of_call(tool_call_id).is_some() {
            let text = "a tool_call_id that no other call has";
            return Err(unexplained("AAEP-EV-13", text));
        }
        let ask = self.call.ask.as_ref();
        let ask = ask.ok_or_else(|| unexplained("AAEP-6.1-6", "no question unasked"))?;
        // AAEP-6.3.4-6: where the host names none, both.
        let both = || vec!["accept".to_owned(), "reject".to_owned()];
        let question = Question {
            reply_token: reply_token.clone(),
            session_id: ask.session_id.clone(),
            action: ask.action.clone(),
            tool_call_id: tool_call_id.clone(),
            asked_at: account.now,
            timeout: Timeout::try_from(ask.timeout_seconds)
                .map_err(|_| unexplained("AAEP-EV-5", "no question with such a timeout"))?,
            default_decision: ask.default_decision,
            allowed_replies: ask.allowed_replies.clone().unwrap_or_else(both),
        };
        let payload = Payload::AwaitingConfirmation {
            action: Arc::clone(&question.action.description),
            consequence: Arc::clone(&question.action.consequence),
            reply_token: question.reply_token.clone(),
            timeout: question.timeout,
            default_decision: question.default_decision,
            risk_level: question.action.risk_level,
            irreversible: question.action.irreversible,
            allowed_replies: question.allowed_replies.clone(),
            extra_context: ExtraContext {
                tool_call_id: question.tool_call_id.clone(),
            },
        };
        account.questions[slot.index()] = Some(Confirmation {
            question: Arc::new(question),
            phase: Phase::Pending,
        });
        Ok(payload)
    }

    /// AAEP-A.3-1: the event completes the call that was announced, and comes out as it did: as the host says, or with an
    /// error where it never came back.
    fn completion(&self, question: &Question) -> Payload {
        Payload::ToolCompleted {
            tool: Arc::clone(&question.action.tool),
            status: self.call.finished.unwrap_or(ToolStatus::Error),
            tool_call_id: question.tool_call_id.clone(),
        }
    }

    /// AAEP-6.1-1: what is to be performed is what was confirmed.
    fn tool_call(&self, account: &Account, slot: Slot) -> Result<ToolCall, Unexplained> {
        let question = asked(account, slot)?;
        Ok(ToolCall {
            session_id: self.environment.sessions[self.session(slot).index()].clone(),
            action: question.action.id.clone(),
            tool: Arc::clone(&question.action.tool),
            tool_call_id: question.tool_call_id.clone(),
            reply_token: question.reply_token.clone(),
        })
    }

    /// AAEP-6.3.4-8: the operator reads which check failed, of which token, and why.
    fn audit(&self, account: &Account, check: Check) -> Result<Audit, Unexplained> {
        let message = self.message()?;
        let reply_token = match check {
            // It could not be read.
            Check::WellFormed => None,
            Check::Issued
            | Check::Unused
            | Check::NotCancelled
            | Check::InTime
            | Check::Sender
            | Check::Allowed => Some(self.environment.token(account, message.token)),
        };
        Ok(Audit {
            clause: ClauseId(check.clause()),
            reply_token,
            text: self.reason(account, check, message),
        })
    }

    fn reason(&self, account: &Account, check: Check, message: Message) -> String {
        let phase = || account.phase(slot_of(message)?);
        match check {
            Check::WellFormed => return fault(message, self.call.received),
            Check::Issued => "this producer never issued the token",
            Check::Unused => match phase() {
                Some(Phase::Accepted { by, .. } | Phase::Rejected { by }) => match by {
                    Authority::Reply => "the token was used up by a reply",
                    Authority::Timeout => "the token was used up by the default at its timeout",
                    Authority::SubscriptionClosed => {
                        "the token was used up by the default when the last subscription able to \
                         answer closed"
                    }
                },
                Some(Phase::Pending | Phase::Cancelled { .. }) | None => "the token was not used",
            },
            Check::NotCancelled => match phase() {
                Some(Phase::Cancelled { by }) => match by {
                    Canceller::Producer => "the confirmation was cancelled by the producer",
                    Canceller::SessionEnd => {
                        "the confirmation was cancelled by the end of its session"
                    }
                },
                Some(Phase::Pending | Phase::Accepted { .. } | Phase::Rejected { .. }) | None => {
                    "the confirmation was not cancelled"
                }
            },
            Check::InTime => "decided at or after the deadline, as the sender itself says",
            Check::Sender if !message.authenticated => {
                "the transport has not authenticated the sender"
            }
            Check::Sender if account.is_open(message.sender) => {
                "the reply names another subscription than the sender's"
            }
            Check::Sender => "the sender has no open subscription",
            Check::Allowed => "the decision is not among the allowed replies",
        }
        .to_owned()
    }

    /// AAEP-6.3.5-2: whether the sender of a late duplicate is told. It would be told of a token that it could have used.
    fn notifies(&self, account: &Account) -> bool {
        let is_known = |message: Message| {
            message.authenticated
                && message.shape != Shape::Impostor
                && account.is_open(message.sender)
        };
        self.environment.settings.courtesy_notices
            && self.step.ignored == Some(Check::Unused)
            && self.action.message(self.state).is_some_and(is_known)
    }

    fn notice(&self, account: &Account) -> Result<Notice, Unexplained> {
        let message = self.message()?;
        Ok(Notice {
            subscription_id: self.environment.subscriptions[message.sender.index()].clone(),
            reply_token: self.environment.token(account, message.token),
        })
    }

    /// What fell due is told first, and the sender gets its response before anything comes of its message: so behind what
    /// is about the other confirmation, where the reply resolves its own.
    fn place_of_response(&self, words: &[Output]) -> usize {
        let honoured = self.action.message(self.state);
        let honoured = honoured.filter(|_| self.step.ignored.is_none());
        match honoured.and_then(slot_of) {
            Some(replied) => {
                let is_other = |word: &Output| word.slot() == Some(replied.other());
                words.iter().rposition(is_other).map_or(0, |last| last + 1)
            }
            None => words.len(),
        }
    }

    /// The state that a session comes to by these words.
    fn state_after(&self, account: &Account, words: &[Output], session: SessionName) -> AgentState {
        let entered = |&word: &Output| {
            let (of, entered) = match word {
                Output::AwaitingInput(of) => (of, AgentState::AwaitingInput),
                Output::CallingTool(of) => (of, AgentState::CallingTool),
                Output::Thinking(of) => (of, AgentState::Thinking),
                Output::FollowUpLeaving(slot) => (self.session(slot), AgentState::Thinking),
                Output::FollowUpStaying(slot) => (self.session(slot), AgentState::AwaitingInput),
                Output::Asked(_)
                | Output::Invoked(_)
                | Output::Perform(_)
                | Output::Completed(_)
                | Output::Withdraw(_)
                | Output::Ended(..)
                | Output::InDoubt(_)
                | Output::Respond
                | Output::Tell(_)
                | Output::Audit(_)
                | Output::Refused(_)
                | Output::Notice => return None,
            };
            (of == session).then_some(entered)
        };
        let last = words.iter().rev().find_map(entered);
        last.unwrap_or(account.sessions[session.index()].state)
    }

    /// Who resolves the confirmation in this call.
    fn authority(&self, account: &Account, slot: Slot) -> Result<Authority, Unexplained> {
        let question = asked(account, slot)?;
        let seconds = i64::from(question.timeout.seconds());
        let deadline = question.asked_at.millis() + seconds * 1_000;
        Ok(if deadline <= account.now.millis() {
            Authority::Timeout
        } else if matches!(self.action, Action::Close { .. }) {
            Authority::SubscriptionClosed
        } else {
            Authority::Reply
        })
    }

    /// What no output tells: AAEP-6.8-2, the end of a session cancels without an event for each; and a subscription closes.
    fn note_silent(&self, account: &mut Account) {
        for slot in Slot::ALL {
            let is_cancelled = self.step.next.confirmation(slot).phase == Word::Cancelled;
            if is_cancelled && account.phase(slot) == Some(Phase::Pending) {
                let by = Canceller::SessionEnd;
                account.set_phase(slot, Phase::Cancelled { by });
            }
        }
        if let Action::Close { subscriber } = self.action {
            account.subscriptions[subscriber.index()] = Subscription::Closed;
        }
    }

    fn session(&self, slot: Slot) -> SessionName {
        self.step.next.confirmation(slot).session
    }

    fn message(&self) -> Result<Message, Unexplained> {
        let message = self.action.message(self.state);
        message.ok_or_else(|| unexplained("AAEP-6.3.4-8", "nothing ignored but a message"))
    }
}

/// AAEP-EV-1, AAEP-EV-3, AAEP-EV-6: the event that tells this now.
fn envelope(
    environment: &Environment,
    account: &mut Account,
    (session, payload, resolution): EventContent,
    came: &Event,
) -> Result<Event, Unexplained> {
    // It is no field of its own, and stands on the wire all the same.
    let wanted = match payload {
        Payload::SessionErrored { .. } | Payload::AwaitingConfirmation { .. } => Urgency::Critical,
        Payload::SessionStarted { .. }
        | Payload::SessionCompleted { .. }
        | Payload::SessionCancelled { .. }
        | Payload::StateChanged { .. }
        | Payload::ToolInvoked { .. }
        | Payload::ToolCompleted { .. } => Urgency::Normal,
    };
    if payload.urgency() != wanted {
        let text = "critical urgency for a question and a failed session alone";
        return Err(unexplained("AAEP-EV-6", text));
    }
    Ok(Event {
        sequence_number: account.note_event(session, &came.event_id)?,
        event_id: came.event_id.clone(),
        session_id: environment.sessions[session.index()].clone(),
        timestamp: account.now,
        producer: Arc::clone(&environment.settings.identity),
        payload,
        resolution,
    })
}

/// AAEP-A.1-1: the event that begins a session.
pub(super) fn started(
    environment: &Environment,
    account: &mut Account,
    session: SessionName,
    came: &[executor::Output],
) -> Result<Vec<executor::Output>, Unexplained> {
    let [executor::Output::Emit(came)] = came else {
        return Err(unexplained("AAEP-A.1-1", "session.started"));
    };
    let payload = Payload::SessionStarted {
        summary_normal: "The session has started.",
    };
    let event = envelope(environment, account, (session, payload, None), came)?;
    Ok(vec![executor::Output::Emit(Box::new(event))])
}

/// The confirmation whose token a message carries.
fn slot_of(message: Message) -> Option<Slot> {
    match message.token {
        Token::Of(slot) => Some(slot),
        Token::Guessed => None,
    }
}

fn asked(account: &Account, slot: Slot) -> Result<&Arc<Question>, Unexplained> {
    let question = account.question(slot);
    question.ok_or_else(|| unexplained("AAEP-6.1-1", "nothing about what was not asked"))
}

/// AAEP-EV-8: each change leaves the state that the one before it entered.
fn change_state(
    account: &mut Account,
    session: SessionName,
    to_state: AgentState,
    summary_normal: &'static str,
) -> Payload {
    let state = &mut account.sessions[session.index()].state;
    Payload::StateChanged {
        from_state: std::mem::replace(state, to_state),
        to_state,
        summary_normal,
    }
}

/// AAEP-6.7.2-1: whoever reads the event learns which confirmation it resolves, and how.
fn resolution(
    account: &Account,
    slot: Slot,
    outcome: ResolutionOutcome,
) -> Result<CountersignExtension, Unexplained> {
    let question = asked(account, slot)?;
    Ok(CountersignExtension {
        reply_token: question.reply_token.clone(),
        action: question.action.id.clone(),
        outcome,
    })
}

/// AAEP-6.1-3, AAEP-6.8-3: what a screen reader says of it.
fn summary(outcome: ResolutionOutcome) -> &'static str {
    match outcome {
        ResolutionOutcome::Accepted => "The action was accepted and proceeds.",
        ResolutionOutcome::Rejected => "The action was rejected and will not run.",
        ResolutionOutcome::Cancelled => "The action is no longer needed and will not run.",
    }
}

/// AAEP-EV-5: the event announces the call that was confirmed, in every field.
fn invocation(question: &Question) -> Payload {
    let action = &question.action;
    Payload::ToolInvoked {
        tool: Arc::clone(&action.tool),
        summary_normal: Arc::clone(&action.description),
        tool_call_id: question.tool_call_id.clone(),
        risk_level: action.risk_level,
        irreversible: action.irreversible,
    }
}

/// AAEP-A.3-1: the tool's further way, if it has not come to its end.
fn settle_tool(account: &mut Account, slot: Slot, settled: Tool) {
    if let Some(Phase::Accepted {
        by,
        tool: Tool::InFlight,
    }) = account.phase(slot)
    {
        account.set_phase(slot, Phase::Accepted { by, tool: settled });
    }
}

fn ended(outcome: SessionOutcome) -> executor::SessionOutcome {
    match outcome {
        SessionOutcome::Completed => executor::SessionOutcome::Completed,
        SessionOutcome::Errored => executor::SessionOutcome::Errored,
        SessionOutcome::Cancelled => executor::SessionOutcome::Cancelled,
    }
}

/// AAEP-A.1-2: the terminal event speaks for the session, not for one of its confirmations.
fn terminal(outcome: SessionOutcome) -> Payload {
    match outcome {
        SessionOutcome::Completed => Payload::SessionCompleted {
            summary_normal: "The session has done its work.",
        },
        SessionOutcome::Errored => Payload::SessionErrored {
            error_category: ErrorCategory::Unknown,
            summary_normal: "The session has failed.",
        },
        SessionOutcome::Cancelled => Payload::SessionCancelled {
            cancelled_by: CancelledBy::Producer,
            summary_normal: "The session was cancelled, and every pending question with it.",
        },
    }
}

/// The clause that an output goes against which is not what its word wants.
fn clause(word: Output, wanted: &executor::Output, came: &executor::Output) -> &'static str {
    match (wanted, came) {
        (executor::Output::Emit(wanted), executor::Output::Emit(came)) => {
            clause_of_event(word, wanted, came)
        }
        (
            executor::Output::Perform(_)
            | executor::Output::Withdraw(_)
            | executor::Output::InDoubt(_),
            _,
        ) => "AAEP-6.1-1",
        (executor::Output::Notify(_), _) => "AAEP-6.3.5-2",
        (executor::Output::Respond(_), _) => "AAEP-6.3.4-9",
        (executor::Output::Audit(_), _) => "AAEP-6.3.4-8",
        (executor::Output::Emit(_), _) => CONTRACT,
    }
}

fn clause_of_event(word: Output, wanted: &Event, came: &Event) -> &'static str {
    let Event {
        event_id: _,
        session_id,
        timestamp,
        producer,
        sequence_number,
        payload,
        resolution,
    } = wanted;
    if *session_id != came.session_id || *producer != came.producer {
        "AAEP-EV-1"
    } else if *timestamp != came.timestamp {
        "AAEP-EV-3"
    } else if *sequence_number != came.sequence_number {
        "AAEP-EV-4"
    } else if *resolution != came.resolution {
        "AAEP-6.7.2-1"
    } else {
        match (payload, &came.payload) {
            (
                Payload::StateChanged { from_state, .. },
                Payload::StateChanged {
                    from_state: left, ..
                },
            ) if from_state != left => "AAEP-EV-8",
            // What is told of it is what reflects that the action does not run.
            (Payload::StateChanged { .. }, _) if word.slot().is_some() => "AAEP-6.1-3",
            (_, _) => "AAEP-EV-5",
        }
    }
}
