//! From the executor's words to the judge's: which name stands for which number, and what an output says.
//!
//! The one thing to know: names are numbered as they first come, in one series for each kind, so that equal numbers stand for
//! equal texts, whoever made them.

use std::collections::BTreeMap;

use countersign_model::aaep::judge::{
    Allowed, Body, Decision, Event, Outcome, Output, Question, Risk, State, ToolCall, ToolStatus,
};
use countersign_reference::aaep as executor;
use executor::Payload;

/// The numbers of all names of a run.
#[derive(Default)]
pub(super) struct Names {
    sessions: Series,
    subscriptions: Series,
    actions: Series,
    tools: Series,
    texts: Series,
    tokens: Series,
    tool_calls: Series,
    events: Series,
    responses: Series,
}

/// The numbers of the names of one kind.
#[derive(Default)]
struct Series(BTreeMap<String, u32>);

impl Series {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.insert(name.to_owned(), next);
        next
    }
}

impl Names {
    pub(super) fn session(&mut self, name: &str) -> u32 {
        self.sessions.number(name)
    }

    pub(super) fn subscription(&mut self, name: &str) -> u32 {
        self.subscriptions.number(name)
    }

    pub(super) fn action(&mut self, name: &str) -> u32 {
        self.actions.number(name)
    }

    pub(super) fn tool(&mut self, name: &str) -> u32 {
        self.tools.number(name)
    }

    pub(super) fn text(&mut self, text: &str) -> u32 {
        self.texts.number(text)
    }

    pub(super) fn token(&mut self, token: &str) -> u32 {
        self.tokens.number(token)
    }

    pub(super) fn tool_call(&mut self, name: &str) -> u32 {
        self.tool_calls.number(name)
    }

    /// What the world gets to see of an output; nothing of what only the operator or the host does.
    pub(super) fn output(&mut self, output: &executor::Output) -> Option<Output> {
        match output {
            executor::Output::Emit(event) => Some(Output::Emit(self.event(event))),
            executor::Output::Perform(call) => Some(Output::Perform(self.call(call))),
            executor::Output::InDoubt(call) => Some(Output::InDoubt(self.call(call))),
            executor::Output::Notify(notice) => Some(Output::Notify {
                subscription: self.subscription(notice.subscription_id.as_str()),
                token: Some(self.token(notice.reply_token.as_str())),
            }),
            executor::Output::Respond(response) => {
                let shown = serde_json::to_string(response).expect("a response can be written");
                Some(Output::Respond(self.responses.number(&shown)))
            }
            executor::Output::Withdraw(_)
            | executor::Output::Audit(_)
            | executor::Output::Answer(_) => None,
        }
    }

    fn call(&mut self, call: &executor::ToolCall) -> ToolCall {
        ToolCall {
            session: self.session(call.session_id.as_str()),
            action: self.action(call.action.as_str()),
            tool_call: self.tool_call(call.tool_call_id.as_str()),
        }
    }

    fn event(&mut self, event: &executor::Event) -> Event {
        Event {
            id: self.events.number(event.event_id.as_str()),
            session: self.session(event.session_id.as_str()),
            at: event.timestamp.millis(),
            sequence: Some(i64::try_from(event.sequence_number).unwrap_or(i64::MAX)),
            critical: event.payload.urgency() == executor::Urgency::Critical,
            to: None,
            body: self.body(&event.payload),
        }
    }

    fn body(&mut self, payload: &Payload) -> Body {
        match payload {
            Payload::SessionStarted { .. } => Body::Started,
            Payload::SessionCompleted { .. } => Body::Ended(Outcome::Completed),
            Payload::SessionErrored { .. } => Body::Ended(Outcome::Errored),
            Payload::SessionCancelled { .. } => Body::Ended(Outcome::Cancelled),
            Payload::StateChanged {
                from_state,
                to_state,
                ..
            } => Body::StateChanged {
                from: state(*from_state),
                to: state(*to_state),
            },
            Payload::ToolInvoked {
                tool,
                tool_call_id,
                irreversible,
                ..
            } => Body::ToolInvoked {
                tool: self.tool(tool),
                tool_call: Some(self.tool_call(tool_call_id.as_str())),
                irreversible: *irreversible,
            },
            Payload::ToolCompleted {
                tool,
                status,
                tool_call_id,
            } => Body::ToolCompleted {
                tool: self.tool(tool),
                tool_call: Some(self.tool_call(tool_call_id.as_str())),
                status: tool_status(*status),
            },
            Payload::ProgressUpdated { .. } | Payload::AwaitingClarification { .. } => {
                unreachable!("no wide run asks for it yet")
            }
            Payload::AwaitingConfirmation {
                action,
                consequence,
                reply_token,
                timeout,
                default_decision,
                risk_level,
                irreversible,
                allowed_replies,
                ..
            } => Body::Question(Question {
                token: self.token(reply_token.as_str()),
                description: self.text(action),
                consequence: self.text(consequence),
                timeout_seconds: i64::from(timeout.seconds()),
                default: decision(*default_decision),
                risk: Some(risk(*risk_level)),
                irreversible: Some(*irreversible),
                allowed: Some(allowed(allowed_replies)),
            }),
        }
    }
}

pub(super) fn allowed(replies: &[String]) -> Allowed {
    let has = |decision| replies.iter().any(|reply| reply == decision);
    Allowed {
        accept: has("accept"),
        reject: has("reject"),
        others: replies
            .iter()
            .any(|reply| reply != "accept" && reply != "reject"),
    }
}

pub(super) fn decision(decision: executor::Decision) -> Decision {
    match decision {
        executor::Decision::Accept => Decision::Accept,
        executor::Decision::Reject => Decision::Reject,
    }
}

pub(super) fn risk(risk: executor::RiskLevel) -> Risk {
    match risk {
        executor::RiskLevel::Low => Risk::Low,
        executor::RiskLevel::Medium => Risk::Medium,
        executor::RiskLevel::High => Risk::High,
    }
}

pub(super) fn tool_status(status: executor::ToolStatus) -> ToolStatus {
    match status {
        executor::ToolStatus::Success => ToolStatus::Success,
        executor::ToolStatus::Error => ToolStatus::Error,
        executor::ToolStatus::Timeout => ToolStatus::Timeout,
    }
}

pub(super) fn outcome(outcome: executor::SessionOutcome) -> Outcome {
    match outcome {
        executor::SessionOutcome::Completed => Outcome::Completed,
        executor::SessionOutcome::Errored => Outcome::Errored,
        executor::SessionOutcome::Cancelled => Outcome::Cancelled,
    }
}

fn state(state: executor::AgentState) -> State {
    match state {
        executor::AgentState::Idle => State::Idle,
        executor::AgentState::Thinking => State::Thinking,
        executor::AgentState::CallingTool => State::CallingTool,
        executor::AgentState::AwaitingInput => State::AwaitingInput,
    }
}
