//! What the executor has to put out in one call, to the last field.
//!
//! The one thing to know: an output is wanted as a whole and compared as a whole, so that a field which is not thought of here
//! fails to compile. What is taken from what came are the names that the executor alone makes up: the id of an event, the
//! token and the `tool_call_id` of a question. Those have to be new.

pub(super) mod events;

use std::sync::Arc;

use countersign_model::aaep::action::Action;
use countersign_model::aaep::message::{Message, Shape, Token};
use countersign_model::aaep::output::{Answered, Output};
use countersign_model::aaep::rules::Check;
use countersign_model::aaep::state::{Phase as Word, State};
use countersign_model::aaep::step::Step;
use countersign_model::aaep::words::{SessionName, Slot, Worked};
use countersign_reference::aaep::{
    self as executor, AgentState, Answer, Ask, Asked, Audit, Authority, Canceller, Chunk, Clarify,
    ClauseId, Event, Handoff, Input, Notice, Payload, Phase, Question, Refusal, Response, Run,
    Subscription, Tool, ToolCall, ToolStatus,
};

use super::CONTRACT;
use super::account::{Account, Became, capabilities};
use super::concrete::{Environment, fault};
use crate::{Unexplained, unexplained};

/// What of a call its outputs are held against.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is to be confirmed, if the call asks so.
    pub(super) ask: Option<Arc<Ask>>,
    /// What is to be clarified, if the call asks so.
    pub(super) clarify: Option<Arc<Clarify>>,
    /// The tool that is to run without a question, if the call runs one.
    pub(super) run: Option<Arc<Run>>,
    /// What is to be put out, if the call does so.
    pub(super) chunk: Option<Arc<Chunk>>,
    /// To whom the session is handed off, if the call does so.
    pub(super) handoff: Option<Arc<Handoff>>,
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

impl Call {
    pub(super) fn of(input: &Input) -> Self {
        let call = Self {
            ask: None,
            clarify: None,
            run: None,
            chunk: None,
            handoff: None,
            finished: None,
            received: 0,
        };
        match input {
            Input::Confirm(ask) => Self {
                ask: Some(Arc::new(ask.clone())),
                ..call
            },
            Input::Clarify(clarify) => Self {
                clarify: Some(Arc::new(clarify.clone())),
                ..call
            },
            Input::Tool(run) => Self {
                run: Some(Arc::new(run.clone())),
                ..call
            },
            Input::Output(chunk) => Self {
                chunk: Some(Arc::new(chunk.clone())),
                ..call
            },
            Input::Handoff(handoff) => Self {
                handoff: Some(Arc::new(handoff.clone())),
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
            | Input::Extend { .. }
            | Input::Cancel { .. }
            | Input::EndSession { .. }
            | Input::Tick
            | Input::Restart { .. } => call,
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
                // AAEP-A.6-3: the same, and it leaves writing_output with the last chunk.
                Output::Work(session, Worked::Thinking) => matches!(
                    self.state_after(account, &words, session),
                    AgentState::CallingTool | AgentState::WritingOutput
                ),
                // AAEP-6.3.4-8: a producer may leave the log out.
                Output::Audit(_) => true,
                Output::Started(_)
                | Output::AwaitingInput(_)
                | Output::Asked(_)
                | Output::Clarify(_)
                | Output::AskedSome(_)
                | Output::MoreTime(_)
                | Output::Work(..)
                | Output::Answer(..)
                | Output::CallingTool(_)
                | Output::CallingToolAgain(_)
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

    /// Whether the call is refused for the reason for which it has to be, where the model has one word for two.
    pub(super) fn refuses_rightly(&self, refused: Option<Refusal>) -> bool {
        let next = &self.step.next;
        let is_pending = |slot| next.confirmation(slot).is_pending();
        match (refused, self.action) {
            // AAEP-A.2-2, AAEP-A.3-3, AAEP-A.6-1: the question goes before the tool, and that before the output.
            (
                Some(
                    refused @ (Refusal::QuestionOpen | Refusal::ToolRunning | Refusal::OutputOpen),
                ),
                Action::Work(piece),
            ) => {
                let waits = next.has_pending(piece.session(), None);
                let runs = next.has_running(piece.session());
                refused
                    == match (waits, runs) {
                        (true, _) => Refusal::QuestionOpen,
                        (false, true) => Refusal::ToolRunning,
                        (false, false) => Refusal::OutputOpen,
                    }
            }
            (Some(Refusal::NotLonger), Action::Extend { slot, .. }) => is_pending(slot),
            (Some(Refusal::NothingToExtend), Action::Extend { slot, .. }) => !is_pending(slot),
            _ => true,
        }
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
            Output::Answer(slot, answered) => {
                executor::Output::Answer(self.answer(account, slot, answered)?)
            }
            Output::Started(_)
            | Output::AwaitingInput(_)
            | Output::Asked(_)
            | Output::Clarify(_)
            | Output::MoreTime(_)
            | Output::CallingTool(_)
            | Output::CallingToolAgain(_)
            | Output::Invoked(_)
            | Output::FollowUpLeaving(_)
            | Output::FollowUpStaying(_)
            | Output::Completed(_)
            | Output::Thinking(_)
            | Output::Work(
                _,
                Worked::Calling
                | Worked::Invoked { .. }
                | Worked::Completed
                | Worked::Writing
                | Worked::Thinking
                | Worked::Chunk { .. }
                | Worked::HandingOff
                | Worked::HandedOff,
            )
            | Output::Ended(..) => {
                let executor::Output::Emit(came) = came else {
                    return Err(unexplained(CONTRACT, "an event"));
                };
                executor::Output::Emit(Box::new(self.event(account, words, came)?))
            }
            Output::Work(session, Worked::Perform) => {
                executor::Output::Perform(self.unasked_call(account, session)?)
            }
            Output::Work(session, Worked::InDoubt) => {
                executor::Output::InDoubt(self.unasked_call(account, session)?)
            }
            Output::Work(session, Worked::Withdraw) => {
                executor::Output::Withdraw(self.unasked_call(account, session)?)
            }
            // None is an output of the executor.
            Output::AskedSome(_) | Output::Tell(_) | Output::Refused(_) => {
                return Err(unexplained(CONTRACT, "nothing"));
            }
        })
    }

    /// AAEP-6.1-1: what is to be performed is what was confirmed.
    fn tool_call(&self, account: &Account, slot: Slot) -> Result<ToolCall, Unexplained> {
        let question = confirmed(account, slot)?;
        Ok(ToolCall {
            session_id: self.environment.sessions[self.session(slot).index()].clone(),
            action: question.action.id.clone(),
            tool: Arc::clone(&question.action.tool),
            tool_call_id: question.tool_call_id.clone(),
            reply_token: Some(question.asked.reply_token.clone()),
            modified_action: None,
        })
    }

    /// What runs without a question is what the host wanted to run.
    fn unasked_call(
        &self,
        account: &mut Account,
        session: SessionName,
    ) -> Result<ToolCall, Unexplained> {
        let running = account.session(session)?.work.running.first();
        let running = running
            .ok_or_else(|| unexplained("AAEP-A.3-1", "nothing about what was not invoked"))?;
        Ok(ToolCall {
            session_id: self.environment.sessions[session.index()].clone(),
            action: running.action.clone(),
            tool: Arc::clone(&running.tool),
            tool_call_id: running.tool_call_id.clone(),
            reply_token: None,
            modified_action: None,
        })
    }

    /// AAEP-6.1-7, AAEP-A.5-2: the host goes on with what was answered, or with what it asked for by default.
    fn answer(
        &self,
        account: &Account,
        slot: Slot,
        answered: Answered,
    ) -> Result<Answer, Unexplained> {
        let question = account.clarification(slot);
        let question =
            question.ok_or_else(|| unexplained("AAEP-6.1-7", "no answer to what was not asked"))?;
        Ok(Answer {
            session_id: self.environment.sessions[self.session(slot).index()].clone(),
            reply_token: question.asked.reply_token.clone(),
            answered: match answered {
                Answered::Reply(response) => executor::Answered::Reply {
                    response: self.environment.responses[response as usize].clone(),
                },
                Answered::Default => executor::Answered::Default {
                    response: question
                        .default_response
                        .clone()
                        .ok_or_else(|| unexplained("AAEP-A.5-2", "no default where none is set"))?,
                },
                Answered::Nobody => executor::Answered::Nobody,
            },
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
            | Check::Type
            | Check::Choice
            | Check::Allowed => Some(self.environment.token(account, message.token)),
        };
        Ok(Audit {
            clause: ClauseId(check.clause()),
            reply_token,
            text: self.reason(account, check, message),
        })
    }

    fn reason(&self, account: &Account, check: Check, message: Message) -> String {
        let became = || account.became(slot_of(message)?);
        match check {
            Check::WellFormed => return fault(message, self.call.received),
            Check::Issued => "the token was never issued for such a question",
            Check::Type => "the response is of no accepted kind",
            Check::Choice => "the response is none of the choices",
            Check::Unused => match became() {
                Some(Became::Resolved(by)) => match by {
                    Authority::Reply => "the token was used up by a reply",
                    Authority::Timeout => "the token was used up by the default at its timeout",
                    Authority::SubscriptionClosed => {
                        "the token was used up by the default when the last subscription able to \
                         answer closed"
                    }
                },
                Some(Became::Pending | Became::Cancelled(_)) | None => "the token was not used",
            },
            Check::NotCancelled => return cancelled(became(), message),
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

    /// What fell due is told first, and the sender gets its response before anything comes of its message: before the first
    /// word about the confirmation that it answers, with the transition that leads there.
    fn place_of_response(&self, words: &[Output]) -> usize {
        let honoured = self.action.message(self.state);
        let honoured = honoured.filter(|_| self.step.ignored.is_none());
        let Some(replied) = honoured.and_then(slot_of) else {
            return words.len();
        };
        let first = words.iter().position(|word| word.slot() == Some(replied));
        let first = first.unwrap_or(words.len());
        let leads_there = matches!(words[..first].last(), Some(Output::CallingTool(_)));
        first - usize::from(leads_there)
    }

    /// The state that a session comes to by these words.
    fn state_after(&self, account: &Account, words: &[Output], session: SessionName) -> AgentState {
        let entered = |&word: &Output| {
            let (of, entered) = match word {
                Output::AwaitingInput(of) => (of, AgentState::AwaitingInput),
                Output::CallingTool(of) | Output::CallingToolAgain(of) => {
                    (of, AgentState::CallingTool)
                }
                Output::Thinking(of) | Output::Work(of, Worked::Thinking) => {
                    (of, AgentState::Thinking)
                }
                Output::Work(of, Worked::Calling) => (of, AgentState::CallingTool),
                Output::Work(of, Worked::Writing) => (of, AgentState::WritingOutput),
                Output::Work(of, Worked::HandingOff) => (of, AgentState::HandingOff),
                Output::FollowUpLeaving(slot) => (self.session(slot), AgentState::Thinking),
                Output::FollowUpStaying(slot) => (self.session(slot), AgentState::AwaitingInput),
                Output::Started(_)
                | Output::Asked(_)
                | Output::Clarify(_)
                | Output::AskedSome(_)
                | Output::MoreTime(_)
                | Output::Work(..)
                | Output::Answer(..)
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
        let told = account.sessions[session.index()].as_ref();
        last.or(told.map(|session| session.state))
            .unwrap_or(AgentState::Idle)
    }

    /// Who resolves the question in this call.
    fn authority(&self, account: &Account, slot: Slot) -> Result<Authority, Unexplained> {
        let asked = asked(account, slot)?;
        let seconds = i64::from(asked.timeout.seconds());
        let deadline = asked.at.millis() + seconds * 1_000;
        Ok(if deadline <= account.now.millis() {
            Authority::Timeout
        } else if matches!(self.action, Action::Close { .. }) {
            Authority::SubscriptionClosed
        } else {
            Authority::Reply
        })
    }

    /// What no output tells: AAEP-6.8-2, the end of a cancelled session cancels without an event for each; and a subscription
    /// opens or closes.
    fn note_silent(&self, account: &mut Account) {
        for slot in Slot::ALL {
            let is_cancelled = self.step.next.confirmation(slot).phase == Word::Cancelled;
            if is_cancelled && account.became(slot) == Some(Became::Pending) {
                account.set_cancelled(slot, Canceller::SessionEnd);
            }
        }
        if self
            .step
            .required
            .iter()
            .any(|it| matches!(it, Output::Refused(_)))
        {
            return;
        }
        if let Action::Open { subscriber } = self.action {
            let open = Subscription::Open(capabilities(subscriber));
            account.subscriptions[subscriber.index()] = Some(open);
        }
        if let Action::Close { subscriber } = self.action {
            account.subscriptions[subscriber.index()] = Some(Subscription::Closed);
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

/// What is told of a tool that begins to run without a question.
pub(super) const RUNS_UNASKED: &str = "A tool is about to run.";

/// The confirmation whose token a message carries.
fn slot_of(message: Message) -> Option<Slot> {
    match message.token {
        Token::Of(slot) => Some(slot),
        Token::Guessed => None,
    }
}

fn asked(account: &Account, slot: Slot) -> Result<&Asked, Unexplained> {
    let asked = account.asked(slot);
    asked.ok_or_else(|| unexplained("AAEP-6.1-1", "nothing about what was not asked"))
}

fn confirmed(account: &Account, slot: Slot) -> Result<&Arc<Question>, Unexplained> {
    let question = account.question(slot);
    question.ok_or_else(|| unexplained("AAEP-6.1-1", "nothing about what was not asked"))
}

/// Who took the question back that this message answers.
fn cancelled(became: Option<Became>, message: Message) -> String {
    let kind = match message.response {
        None => "confirmation",
        Some(_) => "clarification",
    };
    let by = match became {
        Some(Became::Cancelled(by)) => match by {
            Canceller::Producer => "cancelled by the producer",
            Canceller::SessionEnd => "cancelled by the end of its session",
        },
        Some(Became::Pending | Became::Resolved(_)) | None => "not cancelled",
    };
    format!("the {kind} was {by}")
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
        (executor::Output::Answer(_), _) => "AAEP-6.1-7",
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
        extension,
    } = wanted;
    if *session_id != came.session_id || *producer != came.producer {
        "AAEP-EV-1"
    } else if *timestamp != came.timestamp {
        "AAEP-EV-3"
    } else if *sequence_number != came.sequence_number {
        "AAEP-EV-4"
    } else if *extension != came.extension {
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
