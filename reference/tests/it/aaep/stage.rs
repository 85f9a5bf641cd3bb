//! What every test needs: a producer with a session and a subscriber, and short ways to make things happen to it.

use countersign_reference::aaep::{
    Action, ActionId, Answered, Ask, Capabilities, Chunk, Clarify, CountersignExtension, Decision,
    Field, Handoff, Input, Output, OutputId, Payload, Producer, Refusal, ReplyToken, RiskLevel,
    Run, Sender, SessionId, SessionOutcome, Settings, SubscriptionId, TargetKind, ToolCall,
    ToolCallId, ToolStatus,
};
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;
use serde_json::{Value, json};

/// 2026-05-24T14:22:20.000Z: when every test starts, in milliseconds.
pub const START: i64 = 1_779_632_540_000;

/// The timeout of an ordinary question, in seconds.
pub const TIMEOUT: u64 = 10;

/// `START` plus `TIMEOUT`, in milliseconds.
pub const DEADLINE: i64 = START + 10_000;

/// What comes out when `a1`, the only question, is accepted.
pub const ACCEPTED: [&str; 3] = [
    "state.changed AwaitingInput>CallingTool (a1 Accepted)",
    "tool.invoked (a1 Accepted)",
    "perform sess_a a1",
];

/// What comes out when `a1`, the only question, is rejected.
pub const REJECTED: [&str; 1] = ["state.changed AwaitingInput>Thinking (a1 Rejected)"];

#[derive(Clone)]
pub struct Stage {
    pub producer: Producer,
    pub ids: SequentialIds,
    /// The host's clock, in milliseconds.
    pub now: i64,
}

impl Stage {
    /// A producer without anything.
    pub fn empty(settings: Settings) -> Self {
        Self {
            producer: Producer::new(settings),
            ids: SequentialIds::new(),
            now: START,
        }
    }

    /// A producer with session `sess_a` and subscription `sub_a`, which can reply.
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    pub fn with(settings: Settings) -> Self {
        let mut stage = Self::empty(settings);
        stage.does(start("sess_a"));
        stage.does(subscribe("sub_a", true));
        stage
    }

    /// Lets something happen that must not be refused; what comes out, told in words.
    #[track_caller]
    pub fn does(&mut self, input: Input) -> Vec<String> {
        let outputs = self.outputs(input);
        outputs.iter().map(tell).collect()
    }

    /// Lets something happen that must not be refused.
    #[track_caller]
    pub fn outputs(&mut self, input: Input) -> Vec<Output> {
        let outcome = self
            .producer
            .handle(Timestamp::from_millis(self.now), &mut self.ids, input);
        assert_eq!(outcome.refused, None);
        outcome.outputs
    }

    /// Lets something happen that must be refused and must change nothing.
    #[track_caller]
    pub fn refuses(&mut self, input: Input) -> Refusal {
        let mut untouched = self.clone();
        untouched.does(Input::Tick);
        let outcome = self
            .producer
            .handle(Timestamp::from_millis(self.now), &mut self.ids, input);
        assert_eq!(outcome.outputs, []);
        assert_eq!(self.producer, untouched.producer);
        outcome.refused.expect("should have been refused")
    }

    /// Asks, and gives the token.
    #[track_caller]
    pub fn asks(&mut self, ask: Ask) -> ReplyToken {
        self.does(Input::Confirm(ask));
        self.producer
            .confirmations()
            .last()
            .expect("was asked")
            .question
            .asked
            .reply_token
            .clone()
    }

    /// Asks for a clarification, and gives the token.
    #[track_caller]
    pub fn clarifies(&mut self, clarify: Clarify) -> ReplyToken {
        self.does(Input::Clarify(clarify));
        self.producer
            .clarifications()
            .last()
            .expect("was asked")
            .question
            .asked
            .reply_token
            .clone()
    }

    /// Delivers a response of `sub_a` that was decided just now.
    #[track_caller]
    pub fn answers(&mut self, token: &ReplyToken, response: impl Into<Value>) -> Vec<String> {
        let answer = answer(token, response, self.now);
        self.does(deliver("sub_a", &answer))
    }

    /// The same producer after its process died with everything carried out: written down and read back.
    pub fn stored_and_read_back(&self) -> Self {
        let stored = serde_json::to_string(&self.producer).expect("serialises");
        let producer = serde_json::from_str(&stored).expect("deserialises");
        assert_eq!(producer, self.producer);
        Self {
            producer,
            ..self.clone()
        }
    }

    /// Delivers a reply of `sub_a` that was decided just now.
    #[track_caller]
    pub fn replies(&mut self, token: &ReplyToken, decision: Decision) -> Vec<String> {
        let reply = reply(token, decision, self.now);
        self.does(deliver("sub_a", &reply))
    }
}

/// Why a text of so many bytes is refused: of none it is blank, else it is too long.
pub fn out_of_range(field: Field, bytes: usize) -> Refusal {
    if bytes == 0 {
        Refusal::TextBlank(field)
    } else {
        Refusal::TextTooLong(field)
    }
}

/// An output in words: its kind, then what it is about.
pub fn tell(output: &Output) -> String {
    let call = |kind: &str, call: &ToolCall| format!("{kind} {} {}", call.session_id, call.action);
    match output {
        Output::Emit(event) => {
            let details = match &event.payload {
                Payload::StateChanged {
                    from_state,
                    to_state,
                    ..
                } => format!(" {from_state:?}>{to_state:?}"),
                Payload::ToolCompleted { status, .. } => format!(" {status:?}"),
                Payload::OutputStreaming {
                    output_id,
                    chunk,
                    position,
                    complete,
                } => {
                    let end = if *complete { " complete" } else { "" };
                    format!(" {output_id} {chunk:?} at {position}{end}")
                }
                Payload::ProgressUpdated { eta_ms, .. } => format!(" {eta_ms}"),
                Payload::SessionStarted { .. }
                | Payload::SessionCompleted { .. }
                | Payload::SessionErrored { .. }
                | Payload::SessionCancelled { .. }
                | Payload::ToolInvoked { .. }
                | Payload::HandoffRequested { .. }
                | Payload::AwaitingClarification { .. }
                | Payload::AwaitingConfirmation { .. } => String::new(),
            };
            let about = match &event.extension {
                Some(CountersignExtension {
                    action: Some(action),
                    outcome: Some(outcome),
                    ..
                }) => format!(" ({action} {outcome:?})"),
                Some(CountersignExtension {
                    outcome: Some(outcome),
                    ..
                }) => format!(" ({outcome:?})"),
                Some(_) | None => String::new(),
            };
            let event_type = event.payload.event_type().trim_start_matches("aaep:agent.");
            format!("{event_type}{details}{about}")
        }
        Output::Perform(tool_call) => call("perform", tool_call),
        Output::Withdraw(tool_call) => call("withdraw", tool_call),
        Output::InDoubt(tool_call) => call("in doubt", tool_call),
        Output::Answer(answer) => match &answer.answered {
            Answered::Reply { response } => {
                let response = serde_json::to_string(response).expect("serialises");
                format!("answer {response} by reply")
            }
            Answered::Default { response } => format!("answer {response:?} by default"),
            Answered::Nobody => "answer by nobody".to_owned(),
        },
        Output::Notify(notice) => format!("notify {}", notice.subscription_id),
        Output::Respond(response) => format!("respond {}", response.status()),
        Output::Audit(audit) => format!("audit {}", audit.clause),
    }
}

pub fn session(id: &str) -> SessionId {
    SessionId::parse(id).expect("a session id")
}

pub fn subscription(id: &str) -> SubscriptionId {
    SubscriptionId::parse(id).expect("a subscription id")
}

pub fn action_id(id: &str) -> ActionId {
    ActionId::parse(id).expect("an action id")
}

pub fn start(id: &str) -> Input {
    Input::StartSession {
        session_id: Some(session(id)),
    }
}

pub fn subscribe(id: &str, supports_confirmation_reply: bool) -> Input {
    Input::Subscribe {
        subscription_id: subscription(id),
        capabilities: Capabilities {
            supports_confirmation_reply,
        },
    }
}

pub fn unsubscribe(id: &str) -> Input {
    Input::Unsubscribe {
        subscription_id: subscription(id),
    }
}

/// An ordinary question of `sess_a`: irreversible, of high risk, rejected by default.
pub fn ask(action: &str) -> Ask {
    Ask {
        session_id: session("sess_a"),
        action: Action {
            id: action_id(action),
            tool: "transfer_funds".into(),
            description: "Transfer 500 dollars to savings.".into(),
            consequence: "The money leaves the checking account.".into(),
            risk_level: RiskLevel::High,
            irreversible: true,
        },
        timeout_seconds: TIMEOUT,
        default_decision: Decision::Reject,
        allowed_replies: None,
    }
}

/// A question that silence accepts: reversible, of low risk.
pub fn ask_accepting(action: &str) -> Ask {
    let mut ask = ask(action);
    ask.action.risk_level = RiskLevel::Low;
    ask.action.irreversible = false;
    ask.default_decision = Decision::Accept;
    ask
}

/// A reply of `sub_a`, decided at that many milliseconds since the epoch.
pub fn reply(token: &ReplyToken, decision: Decision, decided_at: i64) -> Value {
    json!({
        "type": "confirmation.reply",
        "reply_token": token,
        "decision": decision,
        "subscription_id": "sub_a",
        "timestamp": Timestamp::from_millis(decided_at),
    })
}

/// An ordinary clarification of `sess_a`: any answer will do, and there is none by default.
pub fn clarify(question: &str) -> Clarify {
    Clarify {
        session_id: session("sess_a"),
        question: question.into(),
        accepted_response_kinds: None,
        choices: None,
        timeout_seconds: TIMEOUT,
        default_response: None,
    }
}

/// A response of `sub_a`, decided at that many milliseconds since the epoch.
pub fn answer(token: &ReplyToken, response: impl Into<Value>, decided_at: i64) -> Value {
    json!({
        "type": "clarification.reply",
        "reply_token": token,
        "response": response.into(),
        "subscription_id": "sub_a",
        "timestamp": Timestamp::from_millis(decided_at),
    })
}

/// The message arrives from an authenticated sender with that subscription.
pub fn deliver(from: &str, message: &Value) -> Input {
    Input::Deliver {
        sender: Sender {
            subscription_id: Some(subscription(from)),
            authenticated: true,
        },
        message: message.to_string().into_bytes(),
    }
}

/// A tool of `sess_a` runs that needs no question.
pub fn run(action: &str) -> Run {
    Run {
        session_id: session("sess_a"),
        action: action_id(action),
        tool: "look_up".into(),
        args_summary: None,
        risk_level: RiskLevel::Low,
        irreversible: false,
        tool_call_id: None,
    }
}

/// The same under that id.
pub fn run_as(action: &str, tool_call_id: &str) -> Run {
    Run {
        tool_call_id: Some(ToolCallId::parse(tool_call_id).expect("an id")),
        ..run(action)
    }
}

/// A chunk of an output of `sess_a` that is not its last.
pub fn chunk(output_id: &str, text: &str) -> Chunk {
    Chunk {
        session_id: session("sess_a"),
        output_id: OutputId::parse(output_id).expect("an id"),
        text: text.into(),
        is_last: false,
    }
}

/// The last chunk of an output of `sess_a`.
pub fn last_chunk(output_id: &str, text: &str) -> Chunk {
    Chunk {
        is_last: true,
        ..chunk(output_id, text)
    }
}

/// `sess_a` is handed off.
pub fn handoff() -> Handoff {
    Handoff {
        session_id: session("sess_a"),
        reason: "It needs a person.".into(),
        target_kind: TargetKind::Human,
        target_uri: None,
    }
}

/// The tool of an action of `sess_a` comes back.
pub fn finish(action: &str) -> Input {
    Input::FinishTool {
        session_id: session("sess_a"),
        action: action_id(action),
        tool_call_id: None,
        status: ToolStatus::Success,
    }
}

/// `sess_a` ends.
pub fn end(outcome: SessionOutcome) -> Input {
    Input::EndSession {
        session_id: session("sess_a"),
        outcome,
    }
}

/// The host gives a question that much time in all, in seconds.
pub fn extend(reply_token: &ReplyToken, timeout_seconds: u64) -> Input {
    Input::Extend {
        reply_token: reply_token.clone(),
        timeout_seconds,
    }
}

/// The host takes a question back.
pub fn cancel(reply_token: &ReplyToken) -> Input {
    Input::Cancel {
        reply_token: reply_token.clone(),
    }
}
