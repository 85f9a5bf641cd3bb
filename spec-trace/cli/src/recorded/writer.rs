//! From steps of the model to the records of a stream.
//!
//! The one thing to know: what is written comes from the model alone, from what a step requires and allows to come out, so
//! that the runs of a producer that leaves a rule out can be written too. Its words are the model's; where the model says
//! less than the wire, the record is as the producer would have it that keeps every other rule.

use countersign_model::aaep::action::Action;
use countersign_model::aaep::message::{Message, Shape, Token};
use countersign_model::aaep::output::{Answered, Output};
use countersign_model::aaep::rules::Check;
use countersign_model::aaep::state::{Phase, State};
use countersign_model::aaep::step::Step;
use countersign_model::aaep::words::{
    AllowedReplies, Decision, SLOTS, SessionName, SessionOutcome, Slot, Subscriber, Worked,
};
use countersign_model::time::Scale;
use countersign_reference::aaep::ReplyToken;
use serde_json::{Value, json};

use countersign_conform::aaep::concrete::{
    CHARACTERS, CHUNK, DEFAULT_RESPONSE, Environment, taken as taken_kinds,
};
use countersign_lint::json;

/// Which replies a stream shows, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// Each before what came of it.
    First,
    /// Each behind what came of it: its answer was awaited before it was written down.
    Last,
    /// None.
    Unrecorded,
}

/// Who writes a stream down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorder {
    /// What it sees of the replies.
    pub replies: Replies,
    /// Whether the producer says which question, action and call an event is about, or leaves that to the order of events.
    pub ids: bool,
    /// Whether a reply that concerns nobody stands first. A stream is taken for one that shows no replies until one comes.
    pub stray_first: bool,
    /// What a tick takes: 60 at most, as the producer counts no longer timeouts down.
    pub seconds: u8,
}

impl Recorder {
    /// One that sees everything, of a run in which no two moments are close to each other.
    pub const FULL: Self = Self {
        replies: Replies::First,
        ids: true,
        stray_first: true,
        seconds: 60,
    };

    /// The same that sees no replies.
    pub const EVENTS_ALONE: Self = Self {
        replies: Replies::Unrecorded,
        stray_first: false,
        ..Self::FULL
    };

    /// How long the model's times are: a second, and a millisecond beside it; or so long that no two moments are close to each
    /// other.
    const fn scale(self) -> Scale {
        let tick = self.seconds as i64 * 1_000;
        Scale::beside(tick, if self.seconds == 1 { 1 } else { tick / 3 })
    }
}

/// The state of an agent, as its last `state.changed` told it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgentState {
    Idle,
    Thinking,
    AwaitingInput,
    CallingTool,
    WritingOutput,
    HandingOff,
}

impl AgentState {
    const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Thinking => "thinking",
            Self::AwaitingInput => "awaiting_input",
            Self::CallingTool => "calling_tool",
            Self::WritingOutput => "writing_output",
            Self::HandingOff => "handing_off",
        }
    }
}

/// What has to be known of the records so far to write the next.
#[derive(Clone, Debug)]
pub struct Position {
    /// How many events there are.
    events: u64,
    /// By [`SessionName::index`].
    sessions: [SessionSoFar; 2],
    /// How many tools were invoked that nobody is asked about: one runs at a time.
    unasked: u64,
}

/// A session as its events have told it.
#[derive(Clone, Copy, Debug)]
struct SessionSoFar {
    state: AgentState,
    next_number: u64,
}

/// The producer of every stream.
const AGENT: &str = "agent-1";

/// What is asked about, by [`Slot::index`].
const ACTIONS: [&str; SLOTS] = [
    "Transfer 500 to savings",
    "Transfer 20 to the rent",
    "Transfer 7 to a friend",
];

/// The tool of what is asked about, and that of what is not.
const TOOL: &str = "transfer_funds";
const UNASKED_TOOL: &str = "look_up";

/// Writes the runs of one model down.
pub struct StreamWriter {
    environment: Environment,
    recorder: Recorder,
    /// By [`Slot::index`].
    tokens: [ReplyToken; SLOTS],
}

/// One step as the writer sees it.
#[derive(Clone, Copy)]
pub struct Taken<'a> {
    /// The state before.
    pub before: &'a State,
    /// What was done.
    pub action: Action,
    /// What follows.
    pub step: &'a Step,
    /// Whether what may come out came out.
    pub with_optional: bool,
}

impl StreamWriter {
    /// Where this recorder writes.
    ///
    /// # Panics
    ///
    /// Never: the tokens are well formed.
    pub fn new(recorder: Recorder) -> Self {
        let token = |text| ReplyToken::parse(text).expect("a well-formed token");
        Self {
            environment: Environment::ticking(recorder.scale()),
            recorder,
            tokens: [token("rpl_c1"), token("rpl_c2"), token("rpl_c3")],
        }
    }

    /// The start: nothing but what a recorder writes down first.
    pub fn begin(&self) -> (Position, Vec<String>) {
        let told = SessionSoFar {
            state: AgentState::Idle,
            next_number: 0,
        };
        let position = Position {
            events: 0,
            sessions: [told; 2],
            unasked: 0,
        };
        let stray = self.recorder.stray_first.then(|| self.stray());
        (position, stray.into_iter().collect())
    }

    /// The records of one step, in order.
    pub fn write(&self, position: &mut Position, taken: Taken<'_>) -> Vec<String> {
        let mut records = Vec::new();
        let required = taken.step.required.as_slice();
        let optional = taken.step.optional.as_slice();
        let optional = if taken.with_optional { optional } else { &[] };
        for (place, output) in required.iter().chain(optional).enumerate() {
            let rest = required.get(place..).unwrap_or_default();
            records.extend(self.output(position, taken, *output, rest));
        }
        if let Some(message) = taken.action.message(taken.before) {
            match self.recorder.replies {
                Replies::First => records.insert(0, self.reply(taken, message)),
                Replies::Last => records.push(self.reply(taken, message)),
                Replies::Unrecorded => {}
            }
        }
        records
    }

    /// The event that an output is, if it is one. `rest` begins with it.
    fn output(
        &self,
        position: &mut Position,
        taken: Taken<'_>,
        output: Output,
        rest: &[Output],
    ) -> Option<String> {
        let state = &taken.step.next;
        let session_of = |slot: Slot| state.confirmation(slot).session;
        let (session, name, payload) = match output {
            Output::Started(session) => {
                let payload = json!({"summary_normal": "A request came in."});
                (session, "session.started", payload)
            }
            Output::CallingToolAgain(session) => {
                let payload = position.change(session, AgentState::CallingTool);
                (session, "state.changed", payload)
            }
            Output::AwaitingInput(session) => {
                let payload = position.change(session, AgentState::AwaitingInput);
                (session, "state.changed", payload)
            }
            // The record is that of a subscription that gets it.
            Output::Asked(slot) | Output::AskedSome(slot) => (
                session_of(slot),
                "awaiting.confirmation",
                self.question(state, slot),
            ),
            Output::CallingTool(session) => {
                let mut payload = position.change(session, AgentState::CallingTool);
                // The state changes for the sake of the action that is released next.
                if let Some(slot) = rest.iter().find_map(|output| output.slot()) {
                    self.resolves(&mut payload, state, slot, "accepted");
                }
                (session, "state.changed", payload)
            }
            Output::Invoked(slot) => (session_of(slot), "tool.invoked", self.call(state, slot)),
            Output::FollowUpLeaving(slot) => {
                let payload = self.follow_up(position, state, rest, slot, AgentState::Thinking);
                (session_of(slot), "state.changed", payload)
            }
            Output::FollowUpStaying(slot) => {
                let payload =
                    self.follow_up(position, state, rest, slot, AgentState::AwaitingInput);
                (session_of(slot), "state.changed", payload)
            }
            Output::Clarify(slot) => (
                session_of(slot),
                "awaiting.clarification",
                self.clarification(state, slot),
            ),
            Output::MoreTime(slot) => (
                session_of(slot),
                "progress.updated",
                self.more_time(state, slot),
            ),
            Output::Completed(slot) => (session_of(slot), "tool.completed", self.completion(slot)),
            Output::Thinking(session) => {
                let payload = position.change(session, AgentState::Thinking);
                (session, "state.changed", payload)
            }
            Output::Ended(session, outcome) => {
                let (name, payload) = end(outcome);
                (session, name, payload)
            }
            Output::Work(session, worked) => {
                let (name, payload) = self.worked(position, taken.action, session, worked)?;
                (session, name, payload)
            }
            // None of them is an event: the host does it, or the sender sees it, or the operator.
            Output::Answer(..)
            | Output::Perform(_)
            | Output::Withdraw(_)
            | Output::InDoubt(_)
            | Output::Respond
            | Output::Tell(_)
            | Output::Audit(_)
            | Output::Refused(_)
            | Output::Notice => return None,
        };
        Some(self.event(position, state.clock, session, name, payload))
    }

    /// What comes of work around the questions, if it is an event.
    fn worked(
        &self,
        position: &mut Position,
        action: Action,
        session: SessionName,
        worked: Worked,
    ) -> Option<(&'static str, Value)> {
        let changed = |payload| Some(("state.changed", payload));
        match worked {
            Worked::Calling => changed(position.change(session, AgentState::CallingTool)),
            Worked::Writing => changed(position.change(session, AgentState::WritingOutput)),
            Worked::Thinking => changed(position.change(session, AgentState::Thinking)),
            Worked::HandingOff => changed(position.change(session, AgentState::HandingOff)),
            Worked::Invoked { irreversible } => {
                position.unasked += 1;
                let payload = json!({
                    "tool": UNASKED_TOOL,
                    "summary_normal": "The balance is looked up.",
                    "risk_level": "low",
                    "irreversible": irreversible,
                });
                Some(("tool.invoked", self.of_unasked(position, payload)))
            }
            Worked::Completed => {
                let payload = json!({"tool": UNASKED_TOOL, "status": "success"});
                Some(("tool.completed", self.of_unasked(position, payload)))
            }
            Worked::Chunk {
                position: chunks,
                complete,
            } => {
                // The end of a session has nothing more to say.
                let ends = matches!(action, Action::EndSession { .. });
                let payload = json!({
                    "output_id": self.environment.output,
                    "chunk": if ends { "" } else { CHUNK },
                    "position": u64::from(chunks) * CHARACTERS,
                    "complete": complete,
                });
                Some(("output.streaming", payload))
            }
            Worked::HandedOff => {
                let payload = json!({
                    "urgency": "critical",
                    "reason": "This is for a person.",
                    "target_kind": "human",
                });
                Some(("handoff.requested", payload))
            }
            Worked::Perform | Worked::Withdraw | Worked::InDoubt => None,
        }
    }

    /// The same payload with the id of the call that nobody is asked about.
    fn of_unasked(&self, position: &Position, mut payload: Value) -> Value {
        if self.recorder.ids {
            payload["tool_call_id"] = json!(format!("call_w{}", position.unasked));
        }
        payload
    }

    fn question(&self, state: &State, slot: Slot) -> Value {
        let confirmation = state.confirmation(slot);
        let class = confirmation.class;
        let mut payload = json!({
            "urgency": "critical",
            "action": ACTIONS[state.action(slot).index()],
            "consequence": "The money leaves the account",
            "reply_token": self.token(state, slot),
            "timeout_seconds": u64::from(confirmation.timeout) * u64::from(self.recorder.seconds),
            "default_decision": class.default.name(),
            "risk_level": class.risk.name(),
            "irreversible": class.irreversible,
        });
        match class.allowed {
            AllowedReplies::Both => {}
            AllowedReplies::AcceptOnly => payload["allowed_replies"] = json!(["accept"]),
            AllowedReplies::RejectOnly => payload["allowed_replies"] = json!(["reject"]),
            AllowedReplies::RejectOrOwn => payload["allowed_replies"] = json!(["reject", "later"]),
        }
        if self.recorder.ids {
            payload["extra_context"] = json!({"tool_call_id": call_id(slot)});
            let action = self.action(state, slot);
            payload["extensions"] = json!({"countersign": {"action": action}});
        }
        payload
    }

    fn clarification(&self, state: &State, slot: Slot) -> Value {
        let confirmation = state.confirmation(slot);
        let mut payload = json!({
            "urgency": "critical",
            "question": self.environment.questions[state.question(slot).index()],
            "reply_token": self.token(state, slot),
            "timeout_seconds": u64::from(confirmation.timeout) * u64::from(self.recorder.seconds),
        });
        if let Some(clarifies) = confirmation.clarifies {
            let (kinds, choices) = taken_kinds(clarifies.takes);
            payload["accepted_response_kinds"] = json!(kinds);
            if let Some(choices) = choices {
                payload["choices"] = json!(choices);
            }
            if clarifies.default {
                payload["default_response"] = json!(DEFAULT_RESPONSE);
            }
        }
        payload
    }

    fn more_time(&self, state: &State, slot: Slot) -> Value {
        let [deadline, now] = [state.confirmation(slot).deadline(), state.clock]
            .map(|moment| self.environment.time(moment).millis());
        let mut payload = json!({
            "progress": {"description": "There is more time."},
            "eta_ms": deadline - now,
        });
        if self.recorder.ids {
            let token = self.token(state, slot);
            payload["extensions"] = json!({"countersign": {"reply_token": token}});
        }
        payload
    }

    fn call(&self, state: &State, slot: Slot) -> Value {
        let class = state.confirmation(slot).class;
        let mut payload = json!({
            "tool": TOOL,
            "summary_normal": "The money is transferred.",
            "risk_level": class.risk.name(),
            "irreversible": class.irreversible,
        });
        if self.recorder.ids {
            payload["tool_call_id"] = json!(call_id(slot));
        }
        self.resolves(&mut payload, state, slot, "accepted");
        payload
    }

    fn completion(&self, slot: Slot) -> Value {
        let mut payload = json!({"tool": TOOL, "status": "success"});
        if self.recorder.ids {
            payload["tool_call_id"] = json!(call_id(slot));
        }
        payload
    }

    fn follow_up(
        &self,
        position: &mut Position,
        state: &State,
        rest: &[Output],
        slot: Slot,
        to: AgentState,
    ) -> Value {
        let confirmation = state.confirmation(slot);
        let mut payload = position.change(confirmation.session, to);
        let outcome = match confirmation.phase {
            Phase::Cancelled => "cancelled",
            Phase::Answered if rest.contains(&Output::Answer(slot, Answered::Nobody)) => {
                "unanswered"
            }
            Phase::Answered => "answered",
            Phase::Unasked
            | Phase::Pending
            | Phase::Accepted
            | Phase::Finished
            | Phase::Rejected => "rejected",
        };
        self.resolves(&mut payload, state, slot, outcome);
        payload
    }

    /// The event says what became of which question.
    fn resolves(&self, payload: &mut Value, state: &State, slot: Slot, outcome: &str) {
        if self.recorder.ids {
            let mut resolution = json!({
                "reply_token": self.token(state, slot),
                "outcome": outcome,
            });
            if state.confirmation(slot).clarifies.is_none() {
                resolution["action"] = json!(self.action(state, slot));
            }
            payload["extensions"] = json!({"countersign": resolution});
        }
    }

    fn action(&self, state: &State, slot: Slot) -> &str {
        self.environment.actions[state.action(slot).index()].as_str()
    }

    fn token(&self, state: &State, slot: Slot) -> &ReplyToken {
        let reused = state.confirmation(slot).reused_token;
        &self.tokens[if reused { Slot::First } else { slot }.index()]
    }

    fn event(
        &self,
        position: &mut Position,
        clock: u8,
        session: SessionName,
        name: &str,
        payload: Value,
    ) -> String {
        let told = &mut position.sessions[session.index()];
        let mut event = json!({
            "@context": "https://aaep-protocol.org/context/v1",
            "type": format!("aaep:agent.{name}"),
            "event_id": format!("evt_{}", position.events),
            "session_id": self.environment.sessions[session.index()],
            "sequence_number": told.next_number,
            "timestamp": self.environment.time(clock),
            "producer": {"agent_id": AGENT},
        });
        position.events += 1;
        told.next_number += 1;
        if let (Value::Object(event), Value::Object(payload)) = (&mut event, payload) {
            event.extend(payload);
        }
        self.wrapped("out", clock, &event).to_string()
    }

    /// A reply as it arrived, and what its transport answered.
    fn reply(&self, taken: Taken<'_>, message: Message) -> String {
        let token = match message.token {
            Token::Of(slot) => self.token(taken.before, slot),
            Token::Guessed => &self.environment.guess,
        };
        let bytes = self.environment.bytes(token, message);
        let mut record = self.wrapped("in", taken.before.clock, &read(&bytes));
        record["http_status"] = json!(status(taken, message));
        if let Some(why) = taken.step.required.iter().find_map(told) {
            record["http_body"] = json!({"error": why});
        }
        record.to_string()
    }

    /// A reply with a token that nobody gave out.
    fn stray(&self) -> String {
        let message = Message {
            token: Token::Guessed,
            decision: Decision::Reject,
            response: None,
            claimed: 0,
            sender: Subscriber::Capable,
            authenticated: true,
            shape: Shape::Plain,
        };
        let bytes = self.environment.bytes(&self.environment.guess, message);
        let mut record = self.wrapped("in", 0, &read(&bytes));
        record["http_status"] = json!(204);
        record.to_string()
    }

    fn wrapped(&self, direction: &str, clock: u8, message: &Value) -> Value {
        json!({"dir": direction, "at": self.environment.time(clock), "message": message})
    }
}

impl Position {
    /// The payload of a `state.changed` from where the session was left.
    fn change(&mut self, session: SessionName, to: AgentState) -> Value {
        let told = &mut self.sessions[session.index()];
        let from = std::mem::replace(&mut told.state, to);
        json!({"from_state": from.name(), "to_state": to.name()})
    }
}

/// The bytes as they stand in a record: what is no JSON travels as text.
fn read(bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    json::parse(&text).unwrap_or_else(|_| json!({"_raw": text}))
}

const fn call_id(slot: Slot) -> &'static str {
    match slot {
        Slot::First => "call_c1",
        Slot::Second => "call_c2",
        Slot::Third => "call_c3",
    }
}

fn end(outcome: SessionOutcome) -> (&'static str, Value) {
    let summary = "Over.";
    match outcome {
        SessionOutcome::Completed => ("session.completed", json!({"summary_normal": summary})),
        SessionOutcome::Errored => (
            "session.errored",
            json!({"urgency": "critical", "error_category": "permanent", "summary_normal": summary}),
        ),
        SessionOutcome::Cancelled => (
            "session.cancelled",
            json!({"cancelled_by": "user", "summary_normal": summary}),
        ),
    }
}

/// The transport knows its subscriptions, and turns away whom it does not know, whatever the producer behind it does with
/// the reply. That is how a record shows the sender (AAEP-6.3.4-5); all others are answered alike (AAEP-6.3.4-9).
fn status(taken: Taken<'_>, message: Message) -> u16 {
    let known = message.authenticated
        && message.shape != Shape::Impostor
        && taken.before.is_open(message.sender);
    if known { 204 } else { 403 }
}

/// What the sender is told of the check that failed, by a producer that tells (against AAEP-6.3.4-9).
fn told(output: Output) -> Option<&'static str> {
    let Output::Tell(check) = output else {
        return None;
    };
    Some(match check {
        Check::WellFormed => "the reply does not keep to the schema",
        Check::Issued => "unknown token",
        Check::Unused => "the token was used",
        Check::NotCancelled => "the question was withdrawn",
        Check::InTime => "the question has expired",
        Check::Sender => "this sender may not decide",
        Check::Allowed => "the decision is not allowed",
        Check::Type => "the response is of another type",
        Check::Choice => "the response is no choice",
    })
}
