//! The reference producer as a party of the search: calls of the alphabet go in, and what it puts out comes back.
//!
//! Its host stores the producer after each call, and what that call has put out. A restart says how much of it was not
//! carried out.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::account::Account;
use countersign_model::aaep::alphabet::{
    self, Ask, Asked, By, Call, Chunk, Clarified, Decision, Event, Flaw, Given, Handoff, Kind,
    Message, Name, Op, Outcome, Output, Queried, Query, Response, Risk, Run, Says, State, Status,
    Target, Task, Text, Time, Token, What, Written,
};
use countersign_model::aaep::envelope::{Envelope, Envelopes};
use countersign_model::aaep::environment::Bounds;
use countersign_model::aaep::readings::Reading;
use countersign_model::engine::fact::Fact;
use countersign_model::engine::party::Executor;
use countersign_model::facade::engine::Catalog as _;
use countersign_model::wire::Flaw as OfForm;
use countersign_model::wire::names::Texts;
use countersign_reference::aaep::{
    self as real, ActionId, Answered, Clarification, ClarificationPhase, Confirmation, Input,
    OutputId, Payload, Phase, Producer, ReplyToken, SessionId, SessionStatus, SubscriptionId,
    ToolCallId, UserResponse,
};
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;

pub use countersign_reference::aaep::Settings;

use crate::search::Differing;
use crate::spoken::Host;

/// The reference producer and its host.
///
/// Two of them are the same if they agree in all that [`Hash`] takes. What it leaves out, and why no later output shows it:
///
/// | left out | because |
/// |---|---|
/// | the ids and the numbers of events | they count, and only an envelope has them |
/// | the texts of tokens, and the source of ids | the same for the same number of tokens: each is fresh |
/// | who decided, and what took a question back | the operator's log says it, and nothing else |
/// | how a session has ended | told once, and never read again |
/// | the indexes of the producer | they follow from its questions |
/// | the last outputs, while the process is up | read if it dies before the next call, and at no other time |
///
/// A test shows that what is merged so puts out the same and leads to what is merged.
#[derive(Clone, Debug)]
pub struct Reference {
    producer: Arc<Producer>,
    kept: Arc<Kept>,
    ids: SequentialIds,
    /// What the last call has put out, and whether it was refused, which comes last.
    last: Arc<[real::Output]>,
    is_refused: bool,
    /// The process is down, and these outputs were not carried out.
    down: Option<Arc<[real::Output]>>,
    tells_all_apart: bool,
}

/// The numbers of what the producer made up, by first appearance.
#[derive(Clone, Debug, Default, Hash)]
struct Kept {
    tokens: Vec<ReplyToken>,
    calls: Vec<ToolCallId>,
    /// The sessions that the producer has named, each with its number, which no session before has.
    sessions: Vec<(alphabet::SessionId, SessionId)>,
    next_session: alphabet::SessionId,
    /// The number of the text that is empty.
    empty: Option<Name>,
}

impl Reference {
    /// The same, told apart from every other in whatever they differ: what a test holds the fingerprint against.
    #[must_use]
    pub fn telling_all_apart(self, tells_all_apart: bool) -> Self {
        Self {
            tells_all_apart,
            ..self
        }
    }

    /// The tokens of the questions that wait, in no order.
    pub fn waiting(&self) -> Vec<Token> {
        let confirmations = self.producer.confirmations().iter();
        let confirmations = confirmations.filter(|it| it.phase == Phase::Pending);
        let clarifications = self.producer.clarifications().iter();
        let clarifications = clarifications.filter(|it| it.phase == ClarificationPhase::Pending);
        let asked = confirmations.map(|it| &it.question.asked);
        let asked = asked.chain(clarifications.map(|it| &it.question.asked));
        asked
            .filter_map(|it| self.kept.token(&it.reply_token))
            .collect()
    }

    /// What it holds.
    pub fn producer(&self) -> &Producer {
        &self.producer
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

/// The envelopes of a run.
#[derive(Debug, Default)]
pub struct Form {
    envelopes: Envelopes,
    ids: Texts,
}

impl Form {
    fn envelope(&mut self, event: &real::Event) -> Envelope {
        Envelope {
            id: Some(self.ids.number(event.event_id.as_str())),
            sequence: i64::try_from(event.sequence_number).ok(),
            at: Some(event.timestamp.millis()),
            is_critical: event.payload.urgency() == real::Urgency::Critical,
        }
    }
}

impl Host<Aaep> for Reference {
    type Settings = Settings;
    type Form = Form;

    fn new(settings: Settings) -> Self {
        Self {
            producer: Arc::new(Producer::new(settings)),
            kept: Arc::default(),
            ids: SequentialIds::new(),
            last: Arc::default(),
            is_refused: false,
            down: None,
            tells_all_apart: false,
        }
    }

    fn answer(&mut self, call: &Call) -> Vec<Output> {
        if let Op::Restart { lost } = call.op {
            self.dies(lost.into());
        }
        self.call(call)
    }

    /// The envelopes of its events.
    fn flaws(&self, form: &mut Form, call: &Call, outputs: &[Output]) -> Vec<OfForm> {
        let envelope = |it: &real::Output| {
            if let real::Output::Emit(event) = it {
                Some(form.envelope(event))
            } else {
                None
            }
        };
        let mut envelopes: Vec<_> = self.last.iter().map(envelope).collect();
        envelopes.resize(outputs.len(), None);
        let seen: Vec<_> = outputs.iter().cloned().zip(envelopes).collect();
        form.envelopes.observe(call, &seen)
    }

    /// It declares all that it does.
    fn account(settings: &Settings, bounds: Option<&Bounds>) -> Account {
        Account {
            modifies: settings.modified_action.into(),
            notifies: settings.courtesy_notices.into(),
            counts_down: settings.progress.into(),
            delivers: Fact::Yes,
            ..Aaep::account(bounds)
        }
    }

    /// Whatever its host chooses is a MAY of the text, and no reading of it.
    fn reading(_: &Settings) -> Reading {
        Reading::default()
    }

    fn taking(reading: Reading) -> Option<Settings> {
        let settings = Settings {
            courtesy_notices: true,
            modified_action: true,
            ..Settings::default()
        };
        (Self::reading(&settings) == reading).then_some(settings)
    }

    fn drawn(byte: u8) -> Settings {
        if byte < 128 {
            return Settings::default();
        }
        let is_set = |bit: u8| byte & (1 << bit) != 0;
        Settings {
            courtesy_notices: is_set(0),
            progress: is_set(1),
            modified_action: is_set(2),
            ..Settings::default()
        }
    }
}

impl Hash for Reference {
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Self {
            producer,
            kept,
            ids,
            last,
            is_refused,
            down,
            tells_all_apart,
        } = self;
        let Kept {
            tokens,
            calls,
            sessions,
            next_session,
            empty,
        } = &**kept;
        (producer.settings(), producer.now()).hash(to);
        (tokens.len(), calls, sessions.len(), next_session, empty).hash(to);
        for (id, session) in producer.sessions() {
            let is_active = session.status == SessionStatus::Active;
            (kept.session(id), is_active).hash(to);
            (session.state, &session.work).hash(to);
        }
        producer.subscriptions().hash(to);
        for Confirmation {
            question,
            phase,
            modified_action,
        } in producer.confirmations()
        {
            let asked = &question.asked;
            kept.token(&asked.reply_token).hash(to);
            (kept.session(&asked.session_id), asked.at, asked.timeout).hash(to);
            (&question.action, &question.tool_call_id).hash(to);
            (question.default_decision, &question.allowed_replies).hash(to);
            match phase {
                Phase::Pending => 0.hash(to),
                Phase::Accepted { by: _, tool } => (1, tool).hash(to),
                Phase::Rejected { by: _ } => 2.hash(to),
                Phase::Cancelled { by: _ } => 3.hash(to),
            }
            modified_action.hash(to);
        }
        for Clarification { question, phase } in producer.clarifications() {
            let asked = &question.asked;
            kept.token(&asked.reply_token).hash(to);
            (kept.session(&asked.session_id), asked.at, asked.timeout).hash(to);
            (&question.text, &question.accepted_response_kinds).hash(to);
            (&question.choices, &question.default_response).hash(to);
            match phase {
                ClarificationPhase::Pending => 0.hash(to),
                ClarificationPhase::Resolved { by: _ } => 1.hash(to),
                ClarificationPhase::Cancelled { by: _ } => 2.hash(to),
            }
        }
        if let Some(lost) = down {
            for output in &**lost {
                kept.output(output).hash(to);
            }
        }
        down.is_some().hash(to);
        if *tells_all_apart {
            (producer, kept, ids, is_refused).hash(to);
            for output in &**last {
                kept.output(output).hash(to);
            }
        }
    }
}
impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}
impl Eq for Reference {}

impl Executor<Aaep> for Reference {
    fn call(&mut self, call: &Call) -> Vec<Output> {
        let now = Timestamp::from_millis(call.now);
        let mut outputs = Vec::new();
        let down = self.down.take();
        let is_up_again = |lost: u16| lost == 0 || down.is_some();
        let input = if matches!(call.op, Op::Restart { lost } if is_up_again(lost)) {
            match stored_and_read_back(&self.producer) {
                Some(producer) => self.producer = Arc::new(producer),
                None => outputs.push(BROKEN),
            }
            let lost = down.map_or_else(Vec::new, |it| it.to_vec());
            Some(Input::Restart { lost })
        } else {
            self.input(call.now, &call.op)
        };
        let is_said = input.is_some();
        let producer = Arc::make_mut(&mut self.producer);
        let outcome = producer.handle(now, &mut self.ids, input.unwrap_or(Input::Tick));
        for output in &outcome.outputs {
            Kept::meet(&mut self.kept, output);
            outputs.push(self.kept.output(output));
        }
        self.last = outcome.outputs.into();
        self.is_refused = outcome.refused.is_some() || !is_said;
        if self.is_refused {
            outputs.push(Output::Refused);
        }
        outputs
    }

    fn dies(&mut self, lost: usize) {
        // A refusal tells its caller alone.
        let lost = lost.saturating_sub(self.is_refused.into());
        if let Some(carried_out) = self.last.len().checked_sub(lost) {
            self.down = Some(self.last[carried_out..].into());
        }
    }
}

impl Differing for Aaep {
    /// The text does not say whether the host or the subscribers are told first.
    const IS_ORDERED: bool = false;

    /// The text of a chunk that only completes an output is the producer's. So is the order of what falls due at one
    /// instant, and with it the state that a session leaves for another; and how what a reply has changed is rated.
    fn may_replace(expected: &Output, output: &Output) -> bool {
        let (Some((session, expected)), Some((other, output))) = (expected.told(), output.told())
        else {
            return false;
        };
        let is_alike = match (expected, output) {
            (What::Chunk(expected), What::Chunk(output)) => {
                let head = |it: &Written| (it.stream, it.position, it.is_last);
                expected.text == Name::MAX && head(expected) == head(output)
            }
            (
                What::Changed { from: _, to },
                What::Changed {
                    from: _,
                    to: entered,
                },
            ) => to == entered,
            (
                What::Invoked { call, tool, .. },
                What::Invoked {
                    call: other,
                    tool: invoked,
                    ..
                },
            ) => (call, tool) == (other, invoked),
            _ => false,
        };
        session == other && is_alike
    }
}

/// The producer does not take what it has itself written.
const BROKEN: Output = Output::Other(0);

fn stored_and_read_back(producer: &Producer) -> Option<Producer> {
    let stored = serde_json::to_string(producer).ok()?;
    serde_json::from_str(&stored).ok()
}

// ── What is asked ──

impl Reference {
    /// Nothing for what the producer cannot be told.
    fn input(&mut self, now: Time, op: &Op) -> Option<Input> {
        self.learn_empty(op);
        let kept = &*self.kept;
        Some(match op {
            Op::StartSession(given) => Input::StartSession {
                session_id: match given {
                    Some(Given {
                        is_formed: false, ..
                    }) => return None,
                    Some(given) => Some(kept.session_numbered(given.id)?),
                    None => None,
                },
            },
            Op::EndSession { session, outcome } => Input::EndSession {
                session_id: kept.session_numbered(*session)?,
                outcome: match outcome {
                    Outcome::Completed => real::SessionOutcome::Completed,
                    Outcome::Errored => real::SessionOutcome::Errored,
                    Outcome::Cancelled => real::SessionOutcome::Cancelled,
                    Outcome::Other(_) => return None,
                },
            },
            Op::Subscribe {
                subscription,
                can_reply,
            } => Input::Subscribe {
                subscription_id: Some(subscription)
                    .filter(|it| it.is_formed)
                    .and_then(|it| subscription_numbered(it.id))?,
                capabilities: real::Capabilities {
                    supports_confirmation_reply: *can_reply,
                },
            },
            Op::Unsubscribe(subscription) => Input::Unsubscribe {
                subscription_id: subscription_numbered(*subscription)?,
            },
            Op::Confirm(ask) => Input::Confirm(kept.ask(ask)?),
            Op::Clarify(query) => Input::Clarify(kept.clarify(query)?),
            Op::Deliver(message) => {
                let now = self.producer.now().millis().max(now);
                kept.delivered(now, message)?
            }
            Op::Cancel(token) => Input::Cancel {
                reply_token: kept.token_numbered(*token)?,
            },
            Op::Extend { token, timeout } => Input::Extend {
                reply_token: kept.token_numbered(*token)?,
                timeout_seconds: seconds(*timeout)?,
            },
            Op::Tool(task) => {
                if let Some(given) = task.call.filter(|it| it.is_formed) {
                    Kept::meet_call(&mut self.kept, given.id);
                }
                Input::Tool(self.kept.task(task)?)
            }
            Op::Write(chunk) => Input::Output(kept.chunk(chunk)?),
            Op::HandOff(handoff) => Input::Handoff(kept.handoff(handoff)?),
            Op::FinishTool {
                session,
                action,
                call,
                status,
            } => Input::FinishTool {
                session_id: kept.session_numbered(*session)?,
                action: ActionId::parse(&text((*action).into())).ok()?,
                tool_call_id: match call {
                    Some(call) => Some(kept.call_numbered(*call)?),
                    None => None,
                },
                status: match status {
                    Status::Success => real::ToolStatus::Success,
                    Status::Error => real::ToolStatus::Error,
                    Status::Timeout => real::ToolStatus::Timeout,
                    Status::Other(_) => return None,
                },
            },
            Op::Tick => Input::Tick,
            // More was lost than there was.
            Op::Restart { .. } => return None,
        })
    }

    /// No other text than the empty one is without its number.
    fn learn_empty(&mut self, op: &Op) {
        let text = if let Op::Write(chunk) = op {
            Some(chunk.text).filter(|_| chunk.characters == 0)
        } else if let Op::Clarify(query) = op {
            query.default.filter(|it| it.bytes == 0)
        } else {
            None
        };
        let text = text.map(|it| it.name);
        if text.is_some() && self.kept.empty != text {
            Arc::make_mut(&mut self.kept).empty = text;
        }
    }
}

impl Kept {
    fn session_numbered(&self, number: alphabet::SessionId) -> Option<SessionId> {
        let made = self.sessions.iter().find(|it| it.0 == number);
        if let Some((_, id)) = made {
            return Some(id.clone());
        }
        SessionId::parse(&format!("sess_{number}")).ok()
    }

    /// The token of that number; of one that was never put out, where there is none.
    fn token_numbered(&self, number: Token) -> Option<ReplyToken> {
        let own = self.tokens.get(usize::from(number)).cloned();
        own.or_else(|| ReplyToken::parse(&format!("rpl_guessed{number}")).ok())
    }

    fn call_numbered(&self, number: alphabet::CallId) -> Option<ToolCallId> {
        let own = self.calls.get(usize::from(number)).cloned();
        own.or_else(|| given_call(number))
    }

    fn ask(&self, ask: &Ask) -> Option<real::Ask> {
        let word = |it: &Decision| match it {
            Decision::Accept => "accept".to_owned(),
            Decision::Reject => "reject".to_owned(),
            Decision::Other(name) => name.to_string(),
        };
        Some(real::Ask {
            session_id: self.session_numbered(ask.session)?,
            action: real::Action {
                id: ActionId::parse(&text(ask.action)).ok()?,
                tool: text(ask.tool).into(),
                description: text(ask.description).into(),
                consequence: filling(text(ask.consequence), ask.size).into(),
                risk_level: risk_level(ask.risk)?,
                irreversible: ask.irreversible,
            },
            timeout_seconds: seconds(ask.timeout)?,
            default_decision: match ask.default {
                Decision::Accept => real::Decision::Accept,
                Decision::Reject => real::Decision::Reject,
                Decision::Other(_) => return None,
            },
            allowed_replies: ask.allowed.as_ref().map(|it| it.iter().map(word).collect()),
        })
    }

    fn clarify(&self, query: &Query) -> Option<real::Clarify> {
        let kind = |it: &Kind| match it {
            Kind::Freetext => real::ResponseKind::Freetext,
            Kind::YesNo => real::ResponseKind::YesNo,
            Kind::MultipleChoice => real::ResponseKind::MultipleChoice,
            Kind::Numeric => real::ResponseKind::Numeric,
        };
        let choice = |(value, label): &(Text, Text)| real::Choice {
            value: text(*value),
            label: text(*label),
        };
        Some(real::Clarify {
            session_id: self.session_numbered(query.session)?,
            question: filling(text(query.question), query.size).into(),
            accepted_response_kinds: query.kinds.as_ref().map(|it| it.iter().map(kind).collect()),
            choices: query
                .choices
                .as_ref()
                .map(|it| it.iter().map(choice).collect()),
            timeout_seconds: seconds(query.timeout)?,
            default_response: query.default.map(|it| text(it).into()),
        })
    }

    fn task(&self, task: &Task) -> Option<real::Run> {
        let summary = task.summary.map(|it| text(it).into());
        Some(real::Run {
            session_id: self.session_numbered(task.session)?,
            action: ActionId::parse(&text(task.action)).ok()?,
            tool: filling(text(task.tool), task.size).into(),
            args_summary: summary,
            risk_level: risk_level(task.risk.unwrap_or(Risk::Low))?,
            irreversible: task.irreversible.unwrap_or(false),
            tool_call_id: match task.call {
                Some(Given {
                    is_formed: false, ..
                }) => return None,
                Some(given) => Some(self.call_numbered(given.id)?),
                None => None,
            },
        })
    }

    fn chunk(&self, chunk: &Chunk) -> Option<real::Chunk> {
        let said = if chunk.text.bytes > TEXT_BYTES {
            text(chunk.text)
        } else {
            written(chunk.text.name, chunk.characters)
        };
        Some(real::Chunk {
            session_id: self.session_numbered(chunk.session)?,
            output_id: OutputId::parse(&text(chunk.stream)).ok()?,
            text: filling(said, chunk.size).into(),
            is_last: chunk.is_last,
        })
    }

    fn handoff(&self, handoff: &Handoff) -> Option<real::Handoff> {
        Some(real::Handoff {
            session_id: self.session_numbered(handoff.session)?,
            reason: filling(text(handoff.reason), handoff.size).into(),
            target_kind: match handoff.target {
                Target::Human => real::TargetKind::Human,
                Target::SpecialistAgent => real::TargetKind::SpecialistAgent,
                Target::EscalationQueue => real::TargetKind::EscalationQueue,
                Target::Other(_) => return None,
            },
            target_uri: handoff.uri.map(|it| text(it).into()),
        })
    }

    fn delivered(&self, now: Time, message: &Message) -> Option<Input> {
        let sender = match message.sender {
            Some(it) => Some(subscription_numbered(it)?),
            None => None,
        };
        let bytes = match &message.reply {
            Some(reply) => self.reply(now, message, reply)?,
            None => "no reply".to_owned(),
        };
        Some(Input::Deliver {
            sender: real::Sender {
                subscription_id: sender,
                authenticated: message.is_authenticated,
            },
            message: bytes.into_bytes(),
        })
    }

    /// A reply as its sender writes it. What it leaves out is as the text has it there.
    fn reply(&self, now: Time, message: &Message, reply: &alphabet::Reply) -> Option<String> {
        let token = self.token_numbered(reply.token)?;
        let on = reply.subscription.or(message.sender).unwrap_or(Name::MAX);
        let claimed = Timestamp::from_millis(reply.timestamp.unwrap_or(now));
        let (kind, says) = match reply.says {
            Says::Decides(decision, modified) => {
                let decision = match decision {
                    Decision::Accept => "accept",
                    Decision::Reject => "reject",
                    Decision::Other(_) => "other",
                };
                let modified = modified.map_or_else(String::new, |it| {
                    format!(r#","modified_action":{}"#, modified_action(it))
                });
                (
                    "confirmation",
                    format!(r#""decision":"{decision}"{modified}"#),
                )
            }
            Says::Answers(response) => {
                let response = match response {
                    Response::Text(name) => format!("{:?}", text(name.into())),
                    Response::Truth(holds) => holds.to_string(),
                    Response::Number(name) => name.to_string(),
                    Response::Other(name) => format!("[{name}]"),
                };
                ("clarification", format!(r#""response":{response}"#))
            }
        };
        let plain = [
            format!(r#""type":"{kind}.reply""#),
            format!(r#""reply_token":"{token}""#),
            says,
            format!(r#""subscription_id":"sub_{on}""#),
            format!(r#""timestamp":"{claimed}""#),
        ];
        let (replaced, wrong) = match reply.flaw {
            None => (None, ""),
            Some(Flaw::RepeatedName) => (None, r#""type":"reply""#),
            Some(Flaw::Type) => (Some(0), r#""type":"reply""#),
            Some(Flaw::Token) => (Some(1), r#""reply_token":"rpl_""#),
            Some(Flaw::Decision) => (Some(2), r#""decision":1"#),
            Some(Flaw::Response) => (Some(2), r#""response":null"#),
            Some(Flaw::Subscription) => (Some(3), r#""subscription_id":"sub_""#),
            Some(Flaw::Timestamp) => (Some(4), r#""timestamp":"now""#),
            Some(Flaw::DecidedBy) => (None, r#""decided_by":"""#),
            Some(Flaw::Rationale) => (None, r#""decision_rationale":"""#),
            Some(Flaw::ModifiedAction) => (None, r#""modified_action":1"#),
            Some(Flaw::Confidence) => (None, r#""confidence":2"#),
            Some(Flaw::CorrelationId) => (None, r#""correlation_id":1"#),
            Some(Flaw::OtherProperty) => (None, r#""other":1"#),
        };
        let kept = plain.iter().enumerate();
        let kept = kept.filter(|(place, _)| Some(*place) != replaced);
        let mut members: Vec<&str> = kept.map(|(_, it)| it.as_str()).collect();
        members.extend(Some(wrong).filter(|it| !it.is_empty()));
        Some(format!("{{{}}}", members.join(",")))
    }
}

/// Whole seconds: no request can say a part of one.
fn seconds(millis: Time) -> Option<u64> {
    let seconds = u64::try_from(millis.div_euclid(1_000)).ok();
    seconds.filter(|_| millis.rem_euclid(1_000) == 0)
}

fn subscription_numbered(number: alphabet::SubscriptionId) -> Option<SubscriptionId> {
    SubscriptionId::parse(&format!("sub_{number}")).ok()
}

fn given_call(number: alphabet::CallId) -> Option<ToolCallId> {
    ToolCallId::parse(&format!("given_{number}")).ok()
}

fn risk_level(risk: Risk) -> Option<real::RiskLevel> {
    match risk {
        Risk::Low => Some(real::RiskLevel::Low),
        Risk::Medium => Some(real::RiskLevel::Medium),
        Risk::High => Some(real::RiskLevel::High),
        Risk::Other(_) => None,
    }
}

/// A `modified_action`, which its first member tells from every other.
fn modified_action(it: alphabet::Modified) -> String {
    let risk = it.risk.map_or_else(String::new, |it| {
        let level = match it {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
            Risk::Other(_) => "other",
        };
        format!(r#","risk_level":"{level}""#)
    });
    let irreversible = it.irreversible;
    let irreversible =
        irreversible.map_or_else(String::new, |it| format!(r#","irreversible":{it}"#));
    format!(r#"{{"action":{}{risk}{irreversible}}}"#, it.action)
}

/// A text has so many bytes at most.
const TEXT_BYTES: u32 = 16 << 10;
/// Whatever a producer adds, an event with so many bytes of texts is small enough.
const SMALL_EVENT: u32 = 60 << 10;

/// A text for a name: the same of whatever length, unless it is empty, blank or too long.
fn text(it: Text) -> String {
    if it.bytes == 0 {
        return String::new();
    }
    if it.is_blank {
        let bits = (0..Name::BITS).map(|place| it.name >> place & 1 == 1);
        return bits.map(|is_set| if is_set { '\t' } else { ' ' }).collect();
    }
    let mut text = it.name.to_string();
    if it.bytes > TEXT_BYTES {
        text.push_str(&".".repeat(it.bytes as usize));
    }
    text
}

/// A text for a name that has so many characters.
fn written(name: Name, characters: u32) -> String {
    let characters = characters as usize;
    let digits = name.to_string();
    if characters == 0 {
        String::new()
    } else if digits.len() <= characters {
        format!("{digits:.<characters$}")
    } else {
        let wide = char::from_u32(WIDE + u32::from(name)).unwrap_or_default();
        format!("{wide}{}", ".".repeat(characters - 1))
    }
}

/// From here on a character stands for a name.
const WIDE: u32 = 0x1_0000;

/// The text, where an event that is too large has it as one of its texts: few characters take more of JSON.
fn filling(text: String, size: u32) -> String {
    if size > SMALL_EVENT {
        text + &"\u{1}".repeat(12 << 10)
    } else {
        text
    }
}

// ── What is put out ──

impl Kept {
    /// What is named in it has a number from now on.
    fn meet(kept: &mut Arc<Self>, output: &real::Output) {
        let real::Output::Emit(event) = output else {
            return;
        };
        match &event.payload {
            Payload::SessionStarted { .. } => {
                let given = kept.session(&event.session_id);
                let number = given.unwrap_or(kept.next_session);
                let kept = Arc::make_mut(kept);
                if given.is_none() {
                    kept.sessions.push((number, event.session_id.clone()));
                }
                kept.next_session = kept.next_session.max(number.saturating_add(1));
            }
            Payload::AwaitingConfirmation {
                reply_token,
                extra_context,
                ..
            } => {
                Self::meet_token(kept, reply_token);
                Self::meet_made_call(kept, &extra_context.tool_call_id);
            }
            Payload::AwaitingClarification { reply_token, .. } => {
                Self::meet_token(kept, reply_token);
            }
            Payload::ToolInvoked { tool_call_id, .. } => Self::meet_made_call(kept, tool_call_id),
            Payload::SessionCompleted { .. }
            | Payload::SessionErrored { .. }
            | Payload::SessionCancelled { .. }
            | Payload::StateChanged { .. }
            | Payload::ToolCompleted { .. }
            | Payload::OutputStreaming { .. }
            | Payload::HandoffRequested { .. }
            | Payload::ProgressUpdated { .. } => {}
        }
    }

    fn meet_token(kept: &mut Arc<Self>, token: &ReplyToken) {
        if !kept.tokens.contains(token) {
            Arc::make_mut(kept).tokens.push(token.clone());
        }
    }

    fn meet_made_call(kept: &mut Arc<Self>, call: &ToolCallId) {
        if !kept.calls.contains(call) {
            Arc::make_mut(kept).calls.push(call.clone());
        }
    }

    /// A host has given that number. Of numbers that were left out nothing is known but that they are taken.
    fn meet_call(kept: &mut Arc<Self>, number: alphabet::CallId) {
        let numbers = number_of(kept.calls.len())..=number;
        for call in numbers.filter_map(given_call) {
            Arc::make_mut(kept).calls.push(call);
        }
    }

    fn token(&self, token: &ReplyToken) -> Option<Token> {
        let place = self.tokens.iter().position(|it| it == token);
        place.map(number_of)
    }

    fn token_of(&self, token: &ReplyToken) -> Token {
        self.token(token).unwrap_or(Token::MAX)
    }

    fn call(&self, call: &ToolCallId) -> alphabet::CallId {
        let place = self.calls.iter().position(|it| it == call);
        place.map_or(Name::MAX, number_of)
    }

    /// The number of a session, unless nobody has given it one.
    fn session(&self, id: &SessionId) -> Option<alphabet::SessionId> {
        let made = self.sessions.iter().find(|it| it.1 == *id);
        let given = || {
            let number = id.as_str().strip_prefix("sess_")?.parse().ok()?;
            (self.session_numbered(number)? == *id).then_some(number)
        };
        made.map(|it| it.0).or_else(given)
    }

    fn session_of(&self, id: &SessionId) -> alphabet::SessionId {
        self.session(id).unwrap_or(Name::MAX)
    }

    /// The name that a text stands for.
    fn name(&self, text: &str) -> Name {
        let Some(first) = text.chars().next() else {
            return self.empty.unwrap_or(Name::MAX);
        };
        if first.is_whitespace() {
            let bit = |(place, it)| match it {
                b' ' => Some(0),
                b'\t' => 1_u16.checked_shl(place),
                _ => None,
            };
            let bits = (0..).zip(text.bytes()).map(bit).sum::<Option<Name>>();
            return bits.unwrap_or(Name::MAX);
        }
        let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
        let wide = || u32::from(first).checked_sub(WIDE)?.try_into().ok();
        digits.parse().ok().or_else(wide).unwrap_or(Name::MAX)
    }

    /// An output in the alphabet.
    fn output(&self, output: &real::Output) -> Output {
        match output {
            real::Output::Emit(event) => Output::Emit(Event {
                session: self.session_of(&event.session_id),
                what: self.told(event),
                to: None,
            }),
            real::Output::Perform(call) => Output::Perform(self.run(call)),
            real::Output::InDoubt(call) => Output::InDoubt(self.run(call)),
            real::Output::Answer(it) => {
                let (response, by) = match &it.answered {
                    Answered::Reply { response } => (Some(self.response(response)), By::Reply),
                    Answered::Default { response } => {
                        let response = Response::Text(self.name(response));
                        (Some(response), By::Default)
                    }
                    Answered::Nobody => (None, By::Nobody),
                };
                Output::Answer(Clarified {
                    session: self.session_of(&it.session_id),
                    token: self.token_of(&it.reply_token),
                    response,
                    by,
                })
            }
            real::Output::Notify(it) => Output::Notify {
                subscription: subscription(&it.subscription_id),
                token: Some(self.token_of(&it.reply_token)),
            },
            real::Output::Respond(it) => Output::Respond {
                status: it.status(),
                body: None,
            },
            // The host and the operator are told of both, and nobody else.
            real::Output::Withdraw(_) | real::Output::Audit(_) => Output::Audit,
        }
    }

    fn response(&self, response: &UserResponse) -> Response {
        match response {
            UserResponse::Text(text) => {
                let text = text.whole();
                Response::Text(text.map_or(Name::MAX, |it| self.name(&it)))
            }
            UserResponse::Boolean(holds) => Response::Truth(*holds),
            UserResponse::Number(it) => Response::Number(self.name(it.as_str())),
        }
    }

    fn run(&self, call: &real::ToolCall) -> Run {
        let modified = call.modified_action.as_ref().map(|it| {
            let member = it.as_str().strip_prefix(r#"{"action":"#);
            let digits = member.and_then(|it| it.split([',', '}']).next());
            digits.map_or(Name::MAX, |it| self.name(it))
        });
        let token = call.reply_token.as_ref();
        Run {
            session: self.session_of(&call.session_id),
            action: self.name(call.action.as_str()),
            call: self.call(&call.tool_call_id),
            tool: Some(self.name(&call.tool)),
            token: token.map(|it| self.token_of(it)),
            modified,
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table: an arm for each event")]
    fn told(&self, event: &real::Event) -> What {
        let at = event.timestamp.millis();
        match &event.payload {
            Payload::SessionStarted { .. } => What::Started,
            Payload::SessionCompleted { .. } => What::Ended(Outcome::Completed),
            Payload::SessionErrored { .. } => What::Ended(Outcome::Errored),
            Payload::SessionCancelled { .. } => What::Ended(Outcome::Cancelled),
            Payload::StateChanged {
                from_state,
                to_state,
                ..
            } => What::Changed {
                from: state(*from_state),
                to: state(*to_state),
            },
            Payload::ToolInvoked {
                tool,
                tool_call_id,
                risk_level,
                irreversible,
                ..
            } => What::Invoked {
                call: Some(self.call(tool_call_id)),
                tool: self.name(tool),
                risk: risk(*risk_level),
                irreversible: *irreversible,
            },
            Payload::ToolCompleted {
                tool,
                status,
                tool_call_id,
            } => What::Completed {
                call: Some(self.call(tool_call_id)),
                tool: self.name(tool),
                status: match status {
                    real::ToolStatus::Success => Status::Success,
                    real::ToolStatus::Error => Status::Error,
                    real::ToolStatus::Timeout => Status::Timeout,
                },
            },
            Payload::OutputStreaming {
                output_id,
                chunk,
                position,
                complete,
            } => What::Chunk(Written {
                stream: Some(self.name(output_id.as_str())),
                text: self.name(chunk),
                characters: u32::try_from(chunk.chars().count()).unwrap_or(u32::MAX),
                position: i64::try_from(*position).unwrap_or(i64::MAX),
                is_last: *complete,
            }),
            Payload::HandoffRequested {
                reason,
                target_kind,
                target_uri,
            } => What::HandedOff {
                reason: self.name(reason),
                target: match target_kind {
                    real::TargetKind::Human => Target::Human,
                    real::TargetKind::SpecialistAgent => Target::SpecialistAgent,
                    real::TargetKind::EscalationQueue => Target::EscalationQueue,
                },
                uri: target_uri.as_ref().map(|it| self.name(it)),
            },
            Payload::ProgressUpdated { eta_ms, .. } => What::Progress {
                left: i64::try_from(*eta_ms).ok(),
            },
            Payload::AwaitingClarification {
                question,
                reply_token,
                timeout,
                accepted_response_kinds,
                choices,
                default_response,
            } => {
                let kind = |it: &real::ResponseKind| match it {
                    real::ResponseKind::Freetext => Kind::Freetext,
                    real::ResponseKind::YesNo => Kind::YesNo,
                    real::ResponseKind::MultipleChoice => Kind::MultipleChoice,
                    real::ResponseKind::Numeric => Kind::Numeric,
                };
                let choice = |it: &real::Choice| (self.name(&it.value), self.name(&it.label));
                let kinds = accepted_response_kinds.as_ref();
                What::Queried(Arc::new(Queried {
                    at,
                    token: self.token_of(reply_token),
                    question: self.name(question),
                    timeout: i64::from(timeout.seconds()) * 1_000,
                    kinds: kinds.map(|it| it.iter().map(kind).collect()),
                    choices: choices.as_ref().map(|it| it.iter().map(choice).collect()),
                    default: default_response.as_ref().map(|it| self.name(it)),
                }))
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
                extra_context,
            } => {
                let word = |it: &String| match it.as_str() {
                    "accept" => Decision::Accept,
                    "reject" => Decision::Reject,
                    other => Decision::Other(self.name(other)),
                };
                What::Asked(Arc::new(Asked {
                    at,
                    token: self.token_of(reply_token),
                    call: Some(self.call(&extra_context.tool_call_id)),
                    description: self.name(action),
                    consequence: self.name(consequence),
                    timeout: i64::from(timeout.seconds()) * 1_000,
                    default: match default_decision {
                        real::Decision::Accept => Decision::Accept,
                        real::Decision::Reject => Decision::Reject,
                    },
                    risk: Some(risk(*risk_level)),
                    irreversible: Some(*irreversible),
                    allowed: Some(allowed_replies.iter().map(word).collect()),
                }))
            }
        }
    }
}

fn subscription(id: &SubscriptionId) -> alphabet::SubscriptionId {
    let number = id.as_str().strip_prefix("sub_");
    number.and_then(|it| it.parse().ok()).unwrap_or(Name::MAX)
}

fn state(it: real::AgentState) -> State {
    match it {
        real::AgentState::Idle => State::Idle,
        real::AgentState::Thinking => State::Thinking,
        real::AgentState::CallingTool => State::CallingTool,
        real::AgentState::WritingOutput => State::WritingOutput,
        real::AgentState::AwaitingInput => State::AwaitingInput,
        real::AgentState::HandingOff => State::HandingOff,
    }
}

fn risk(it: real::RiskLevel) -> Risk {
    match it {
        real::RiskLevel::Low => Risk::Low,
        real::RiskLevel::Medium => Risk::Medium,
        real::RiskLevel::High => Risk::High,
    }
}

fn number_of(place: usize) -> u16 {
    u16::try_from(place).unwrap_or(u16::MAX)
}
