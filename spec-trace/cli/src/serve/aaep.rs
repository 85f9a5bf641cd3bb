//! AAEP over the driver protocol: ops as inputs of the producer, its outputs as the protocol's.

use countersign_protocol::aaep::{
    self as driver, Aaep as Protocol, AnsweredBy, Capability, Notice, Op, Sent,
};
use countersign_protocol::{Json, Kind, Refused};
use countersign_reference::aaep::{
    self as reference, Action, ActionId, Answer, Answered, Ask, Capabilities, Choice, Chunk,
    Clarify, Decision, Handoff, Input, Outcome, Output, OutputId, Producer, ReplyToken,
    ResponseKind, RiskLevel, Run, Sender, SessionId, SessionOutcome, SubscriptionId, TargetKind,
    ToolCall, ToolCallId, ToolStatus,
};
use countersign_reference::ids::IdSource;
use countersign_reference::time::Timestamp;
use serde::Deserialize;
use serde_json::json;

use super::{Failure, Instead, Last, Service, parsed, refusal, stored_and_read_back, told};

/// The producer, and beside it the host's source of identifiers, which outlives the producer's process.
#[derive(Clone, Debug)]
pub struct Aaep<Ids> {
    producer: Producer,
    /// What the last call put out: kept until the next, as it may have been lost.
    last: Vec<Output>,
    settings: Settings,
    ids: Ids,
}

/// What a host chooses once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether a reply may modify the action that it accepts (AAEP-6.3.2-3).
    pub modified_action: bool,
}

impl<Ids: IdSource> Aaep<Ids> {
    /// A producer to which nothing has happened, drawing its identifiers from `ids`. A reset leaves the settings as they are.
    pub fn new(settings: Settings, ids: Ids) -> Self {
        Self {
            producer: Producer::new(settings.of_producer()),
            last: Vec::new(),
            settings,
            ids,
        }
    }
}

impl Settings {
    /// Over HTTP a courtesy notice has no way to its receiver.
    pub fn over_http(self) -> reference::Settings {
        reference::Settings {
            courtesy_notices: false,
            ..self.of_producer()
        }
    }

    /// What is served declares all that the producer can do, and so does it; but what the host has chosen.
    fn of_producer(self) -> reference::Settings {
        let Self { modified_action } = self;
        reference::Settings {
            courtesy_notices: true,
            progress: true,
            modified_action,
            ..reference::Settings::default()
        }
    }
}

/// What a producer can do that takes modified actions.
const MODIFYING_SUPPORTS: &[Capability] = &[
    Capability::Clarify,
    Capability::Cancel,
    Capability::Extend,
    Capability::ModifiedAction,
    Capability::CourtesyNotice,
    Capability::Progress,
    Capability::Delivery,
    Capability::Work,
    Capability::Restart,
];

impl<Ids: IdSource> Service for Aaep<Ids> {
    type Protocol = Protocol;
    type Input = Input;
    const SUPPORTS: &'static [Capability] = &[
        Capability::Clarify,
        Capability::Cancel,
        Capability::Extend,
        Capability::CourtesyNotice,
        Capability::Progress,
        Capability::Delivery,
        Capability::Work,
        Capability::Restart,
    ];
    const SHOWS: &'static [Kind] = &[
        Kind::Emit,
        Kind::Notify,
        Kind::Perform,
        Kind::Respond,
        Kind::Answer,
        Kind::Audit,
        Kind::InDoubt,
        Kind::Refused,
    ];
    const TICK: Input = Input::Tick;

    fn supports(&self) -> &'static [Capability] {
        if self.settings.modified_action {
            MODIFYING_SUPPORTS
        } else {
            Self::SUPPORTS
        }
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), Failure> {
        self.producer = Producer::new(self.settings.of_producer());
        self.last.clear();
        // There is nothing yet that could be due: this only tells the time.
        let _nothing = self.producer.handle(now, &mut self.ids, Input::Tick);
        Ok(())
    }

    fn input(op: Op) -> Result<Input, Instead> {
        Ok(match op {
            Op::StartSession { session_id } => Input::StartSession {
                session_id: session_id.as_deref().map(session).transpose()?,
            },
            Op::Subscribe {
                subscription_id,
                capabilities,
            } => Input::Subscribe {
                subscription_id: subscription("subscription_id", &subscription_id)?,
                capabilities: declared(&capabilities),
            },
            Op::Unsubscribe { subscription_id } => Input::Unsubscribe {
                subscription_id: subscription("subscription_id", &subscription_id)?,
            },
            Op::Confirm {
                session_id,
                action,
                timeout_seconds,
                default_decision,
                allowed_replies,
            } => Input::Confirm(Ask {
                session_id: session(&session_id)?,
                action: asked(action)?,
                timeout_seconds: seconds(timeout_seconds),
                default_decision: decision(default_decision),
                allowed_replies,
            }),
            Op::Clarify {
                session_id,
                question,
                accepted_response_kinds,
                choices,
                timeout_seconds,
                default_response,
            } => Input::Clarify(Clarify {
                session_id: session(&session_id)?,
                question: question.into(),
                accepted_response_kinds: accepted_response_kinds.map(response_kinds),
                choices: choices.map(listed_choices),
                timeout_seconds: seconds(timeout_seconds),
                default_response: default_response.map(Into::into),
            }),
            Op::Deliver(driver::Deliver { sender, message }) => Input::Deliver {
                sender: known(sender)?,
                message,
            },
            Op::Cancel { reply_token } => Input::Cancel {
                reply_token: parsed("reply_token", &reply_token, ReplyToken::parse)?,
            },
            Op::Extend {
                reply_token,
                timeout_seconds,
            } => Input::Extend {
                reply_token: parsed("reply_token", &reply_token, ReplyToken::parse)?,
                timeout_seconds: seconds(timeout_seconds),
            },
            Op::FinishTool {
                session_id,
                action,
                tool_call_id,
                status,
            } => Input::FinishTool {
                session_id: session(&session_id)?,
                action: parsed("action", &action, ActionId::parse)?,
                tool_call_id: tool_call(tool_call_id)?,
                status: tool_status(status),
            },
            Op::Tool {
                session_id,
                action,
                tool_call_id,
            } => run(&session_id, action, tool_call_id)?,
            Op::Output {
                session_id,
                output_id,
                chunk,
                complete,
            } => Input::Output(Chunk {
                output_id: parsed("output_id", &output_id, OutputId::parse)?,
                session_id: session(&session_id)?,
                text: chunk.into(),
                is_last: complete,
            }),
            Op::Handoff {
                session_id,
                reason,
                target_kind,
                target_uri,
            } => handed_off(&session_id, reason, target_kind, target_uri)?,
            Op::EndSession {
                session_id,
                outcome,
            } => Input::EndSession {
                session_id: session(&session_id)?,
                outcome: session_outcome(outcome),
            },
        })
    }

    fn refused(refused: Refused) -> driver::Output {
        driver::Output::Refused(refused)
    }

    fn handle(&mut self, now: Timestamp, input: Input) -> Result<Vec<driver::Output>, Failure> {
        let Outcome { outputs, refused } = self.producer.handle(now, &mut self.ids, input);
        let refused = refused.map(|it| refusal(it.clause(), it));
        self.last = outputs;
        told::<Self>(self.last.iter().map(output), refused)
    }

    /// What was put out is kept with the producer until its host has carried it out, and given back to it.
    fn restart(
        &mut self,
        now: Timestamp,
        last: Option<Last<'_>>,
    ) -> Result<Vec<driver::Output>, Instead> {
        let carried = last.map_or(self.last.len(), |last| last.carried.len());
        let lost = self.last.split_off(carried.min(self.last.len()));
        self.producer = stored_and_read_back(&self.producer)?;
        Ok(self.handle(now, Input::Restart { lost })?)
    }
}

/// AAEP-EV-5: what lies below the range is refused as 0 is.
fn seconds(timeout_seconds: i64) -> u64 {
    u64::try_from(timeout_seconds).unwrap_or(0)
}

fn session(text: &str) -> Result<SessionId, Instead> {
    parsed("session_id", text, SessionId::parse)
}

fn subscription(place: &str, text: &str) -> Result<SubscriptionId, Instead> {
    parsed(place, text, SubscriptionId::parse)
}

/// AAEP-EV-14: a subscriber cannot reply unless it says so.
fn declared(capabilities: &driver::Capabilities) -> Capabilities {
    Capabilities {
        supports_confirmation_reply: capabilities.supports_confirmation_reply,
    }
}

fn known(sender: driver::Sender) -> Result<Sender, Instead> {
    let subscription_id = sender.subscription_id;
    Ok(Sender {
        subscription_id: subscription_id
            .map(|id| subscription("sender.subscription_id", &id))
            .transpose()?,
        authenticated: sender.authenticated,
    })
}

fn tool_call(id: Option<String>) -> Result<Option<ToolCallId>, Instead> {
    id.map(|id| parsed("tool_call_id", &id, ToolCallId::parse))
        .transpose()
}

fn run(
    session_id: &str,
    action: driver::ToolAction,
    tool_call_id: Option<String>,
) -> Result<Input, Instead> {
    Ok(Input::Tool(Run {
        session_id: session(session_id)?,
        action: parsed("action.id", &action.id, ActionId::parse)?,
        tool: action.tool.into(),
        args_summary: action.args_summary.map(Into::into),
        risk_level: action.risk_level.map_or(RiskLevel::Low, risk_level),
        irreversible: action.irreversible.unwrap_or(false),
        tool_call_id: tool_call(tool_call_id)?,
    }))
}

fn handed_off(
    session_id: &str,
    reason: String,
    target_kind: driver::TargetKind,
    target_uri: Option<String>,
) -> Result<Input, Instead> {
    Ok(Input::Handoff(Handoff {
        session_id: session(session_id)?,
        reason: reason.into(),
        target_kind: target(target_kind),
        target_uri: target_uri.map(Into::into),
    }))
}

fn asked(action: driver::Action) -> Result<Action, Instead> {
    Ok(Action {
        id: parsed("action.id", &action.id, ActionId::parse)?,
        tool: action.tool.into(),
        description: action.description.into(),
        consequence: action.consequence.into(),
        risk_level: risk_level(action.risk_level),
        irreversible: action.irreversible,
    })
}

fn risk_level(level: driver::RiskLevel) -> RiskLevel {
    match level {
        driver::RiskLevel::Low => RiskLevel::Low,
        driver::RiskLevel::Medium => RiskLevel::Medium,
        driver::RiskLevel::High => RiskLevel::High,
    }
}

fn response_kind(kind: driver::ResponseKind) -> ResponseKind {
    match kind {
        driver::ResponseKind::Freetext => ResponseKind::Freetext,
        driver::ResponseKind::YesNo => ResponseKind::YesNo,
        driver::ResponseKind::MultipleChoice => ResponseKind::MultipleChoice,
        driver::ResponseKind::Numeric => ResponseKind::Numeric,
    }
}

fn response_kinds(kinds: Vec<driver::ResponseKind>) -> Vec<ResponseKind> {
    kinds.into_iter().map(response_kind).collect()
}

fn listed_choices(choices: Vec<driver::Choice>) -> Vec<Choice> {
    choices.into_iter().map(choice).collect()
}

fn choice(choice: driver::Choice) -> Choice {
    Choice {
        value: choice.value,
        label: choice.label,
    }
}

fn target(kind: driver::TargetKind) -> TargetKind {
    match kind {
        driver::TargetKind::Human => TargetKind::Human,
        driver::TargetKind::SpecialistAgent => TargetKind::SpecialistAgent,
        driver::TargetKind::EscalationQueue => TargetKind::EscalationQueue,
    }
}

fn tool_status(status: driver::ToolStatus) -> ToolStatus {
    match status {
        driver::ToolStatus::Success => ToolStatus::Success,
        driver::ToolStatus::Error => ToolStatus::Error,
        driver::ToolStatus::Timeout => ToolStatus::Timeout,
    }
}

fn session_outcome(outcome: driver::SessionOutcome) -> SessionOutcome {
    match outcome {
        driver::SessionOutcome::Completed => SessionOutcome::Completed,
        driver::SessionOutcome::Errored => SessionOutcome::Errored,
        driver::SessionOutcome::Cancelled => SessionOutcome::Cancelled,
    }
}

fn decision(decision: driver::Decision) -> Decision {
    match decision {
        driver::Decision::Accept => Decision::Accept,
        driver::Decision::Reject => Decision::Reject,
    }
}

fn output(output: &Output) -> serde_json::Result<driver::Output> {
    Ok(match output {
        Output::Emit(event) => driver::Output::Emit(Json::of(event)?),
        Output::Perform(call) => driver::Output::Perform(told_call(call)?),
        Output::Withdraw(call) => driver::Output::Audit(too_late_to_withdraw(call)?),
        Output::Answer(answer) => driver::Output::Answer(answered(answer)?),
        Output::Notify(notice) => driver::Output::Notify(Notice {
            subscription_id: notice.subscription_id.to_string(),
            reply_token: Some(notice.reply_token.to_string()),
        }),
        Output::Respond(response) => driver::Output::Respond(Sent {
            status: response.status(),
            body: None,
        }),
        Output::Audit(audit) => driver::Output::Audit(Json::of(audit)?),
        Output::InDoubt(call) => driver::Output::InDoubt(told_call(call)?),
    })
}

fn answered(answer: &Answer) -> serde_json::Result<driver::Answered> {
    let (response, by) = match &answer.answered {
        Answered::Reply { response } => (Some(Json::of(response)?), AnsweredBy::Reply),
        Answered::Default { response } => (Some(Json::of(response)?), AnsweredBy::Default),
        Answered::Nobody => (None, AnsweredBy::Nobody),
    };
    Ok(driver::Answered {
        session_id: answer.session_id.to_string(),
        reply_token: answer.reply_token.to_string(),
        response,
        by,
    })
}

fn told_call(call: &ToolCall) -> serde_json::Result<driver::ToolCall> {
    Ok(driver::ToolCall {
        action: call.action.to_string(),
        session_id: call.session_id.to_string(),
        tool: Some(call.tool.to_string()),
        tool_call_id: call.tool_call_id.to_string(),
        reply_token: call.reply_token.as_ref().map(ToString::to_string),
        modified_action: call.modified_action.as_ref().map(Json::of).transpose()?,
    })
}

/// The driver protocol has no way to take a `perform` back: it counts as carried out once its response was read. So the
/// operator learns of it, and nobody else.
fn too_late_to_withdraw(call: &ToolCall) -> serde_json::Result<Json> {
    // AAEP-6.8-2: the session ended with this call of a tool still in flight.
    Json::of(&json!({
        "clause": "AAEP-6.8-2",
        "reply_token": call.reply_token.as_ref().map(ReplyToken::as_str),
        "action": call.action.as_str(),
        "tool_call_id": call.tool_call_id.as_str(),
        "text": "the session ended before this action was reported as done: it should not run if it has not begun",
    }))
}
