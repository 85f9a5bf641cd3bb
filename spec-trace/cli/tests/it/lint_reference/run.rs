//! A producer that is put through random inputs, and what different recorders write down of it.

use countersign_lint::judge;
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings as LintSettings;
use countersign_reference::aaep::{
    Action, ActionId, Ask, Capabilities, Choice, Clarify, Decision, Event, Input, Output, Producer,
    ReplyToken, ResponseKind, RiskLevel, Sender, SessionId, SessionOutcome, Settings, Subscription,
    SubscriptionId, ToolStatus,
};
use countersign_reference::ids::SequentialIds;
use countersign_reference::time::Timestamp;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

/// 2026-05-24T14:22:20Z, when every run starts, in milliseconds.
const START: i64 = 1_779_632_540_000;

pub const SESSIONS: [&str; 2] = ["sess_a", "sess_b"];
const SUBSCRIPTIONS: [&str; 2] = ["sub_a", "sub_b"];

/// One input of a run, before tokens are known.
#[derive(Debug, Clone)]
pub enum Move {
    Wait(i64),
    Start(&'static str),
    Ask(Box<Asking>),
    Clarify(Box<Clarifying>),
    Reply(Box<Answering>),
    /// Gives a question so many seconds in all.
    Extend(Index, u64),
    Cancel(Index),
    Finish(Index),
    End(&'static str, SessionOutcome),
    Unsubscribe(&'static str),
    /// So many of the last outputs were not carried out.
    Restart(usize),
}

#[derive(Debug, Clone)]
pub struct Asking {
    pub session: &'static str,
    pub action: &'static str,
    pub tool: &'static str,
    pub risk: RiskLevel,
    pub irreversible: bool,
    pub timeout: u64,
    pub default: Decision,
    pub allowed: Option<Vec<&'static str>>,
}

#[derive(Debug, Clone)]
pub struct Clarifying {
    pub session: &'static str,
    pub question: &'static str,
    /// The kinds of answer, and whether there are choices.
    pub accepts: (Option<Vec<ResponseKind>>, bool),
    pub timeout: u64,
    pub default: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub struct Answering {
    /// Which question, of all that were ever asked.
    pub question: Index,
    pub decision: &'static str,
    pub response: Value,
    /// Whether it is of the kind that the question does not want.
    pub other_kind: bool,
    /// Milliseconds from now to when the reply claims to be decided.
    pub decided: i64,
    pub sender: &'static str,
    pub fault: Fault,
    /// How many of the events that it leads to are written down before it.
    pub logged_behind: usize,
}

/// What is special about a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Modified,
    Unauthenticated,
    UnknownToken,
    UnknownProperty,
}

/// Who wrote the stream down.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
#[derive(Debug, Clone, Copy)]
pub struct Recorder {
    /// With the time of receipt, or the bare messages.
    pub wraps: bool,
    /// Milliseconds by which its clock is ahead of the producer's.
    pub ahead: i64,
    pub replies: bool,
    /// Whether it notes what the transport answered: else nothing tells a stranger's reply, or that of a subscription that
    /// is closed, from another.
    pub statuses: bool,
    /// Whether it notes with each reply that it wraps what is known of its sender.
    pub senders: bool,
    pub ids: Ids,
}

/// What the producer of a stream says of how its events belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// All that the reference says.
    All,
    /// `tool_call_id`, in questions and calls.
    ToolCallId,
    /// `tool_call_id` in calls and completions, nothing in questions.
    CallsOnly,
    None,
}

fn askings() -> impl Strategy<Value = Move> {
    (
        select(&SESSIONS[..]),
        select(vec!["1", "2"]),
        select(vec!["pay", "mail"]),
        select(vec![RiskLevel::Low, RiskLevel::Medium, RiskLevel::High]),
        any::<bool>(),
        timeouts(),
        select(vec![Decision::Accept, Decision::Reject]),
        select(vec![
            None,
            None,
            Some(vec!["accept"]),
            Some(vec!["reject", "later"]),
        ]),
    )
        .prop_map(
            |(session, action, tool, risk, irreversible, timeout, default, allowed)| {
                Move::Ask(Box::new(Asking {
                    session,
                    action,
                    tool,
                    risk,
                    irreversible,
                    timeout,
                    default,
                    allowed,
                }))
            },
        )
}

/// Some of them are long enough for a countdown.
fn timeouts() -> impl Strategy<Value = u64> {
    select(vec![1_u64, 10, 60, 61, 200])
}

fn clarifyings() -> impl Strategy<Value = Move> {
    use ResponseKind::{Freetext, MultipleChoice, Numeric, YesNo};
    let accepts = vec![
        (None, false),
        (None, true),
        (Some(vec![Freetext]), false),
        (Some(vec![YesNo]), false),
        (Some(vec![Numeric]), true),
        (Some(vec![MultipleChoice]), true),
        (Some(vec![MultipleChoice, Numeric]), true),
        (Some(vec![YesNo, MultipleChoice, Freetext, Numeric]), true),
    ];
    (
        select(&SESSIONS[..]),
        select(vec!["Which?", "At which age?"]),
        select(accepts),
        timeouts(),
        select(vec![None, Some("65"), Some("no choice")]),
    )
        .prop_map(|(session, question, accepts, timeout, default)| {
            Move::Clarify(Box::new(Clarifying {
                session,
                question,
                accepts,
                timeout,
                default,
            }))
        })
}

fn responses() -> impl Strategy<Value = Value> {
    select(vec![
        json!("65"),
        json!("66"),
        json!(""),
        json!(true),
        json!(67),
        json!(66.5),
        json!(null),
        json!({}),
    ])
}

fn answers() -> impl Strategy<Value = Move> {
    let faults = prop_oneof![
        6 => Just(Fault::None),
        1 => Just(Fault::Modified),
        1 => Just(Fault::Unauthenticated),
        1 => Just(Fault::UnknownToken),
        1 => Just(Fault::UnknownProperty),
    ];
    (
        any::<Index>(),
        (
            select(vec!["accept", "accept", "reject", "later"]),
            responses(),
            prop::bool::weighted(0.1),
        ),
        select(vec![-70_000_i64, -500, 0, 0, 0, 500, 70_000]),
        select(&SUBSCRIPTIONS[..]),
        faults,
        select(vec![0_usize, 0, 1, 3]),
    )
        .prop_map(
            |(
                question,
                (decision, response, other_kind),
                decided,
                sender,
                fault,
                logged_behind,
            )| {
                Move::Reply(Box::new(Answering {
                    question,
                    decision,
                    response,
                    other_kind,
                    decided,
                    sender,
                    fault,
                    logged_behind,
                }))
            },
        )
}

pub fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        4 => select(vec![0_i64, 1, 400, 1_000, 6_000, 9_999, 30_000, 70_000, 140_000]).prop_map(Move::Wait),
        1 => select(&SESSIONS[..]).prop_map(Move::Start),
        6 => askings(),
        3 => clarifyings(),
        8 => answers(),
        2 => (any::<Index>(), select(vec![11_u64, 61, 100, 300, 600])).prop_map(|(question, timeout)| Move::Extend(question, timeout)),
        1 => any::<Index>().prop_map(Move::Cancel),
        3 => any::<Index>().prop_map(Move::Finish),
        1 => (select(&SESSIONS[..]), select(vec![SessionOutcome::Completed, SessionOutcome::Errored, SessionOutcome::Cancelled]))
            .prop_map(|(session, outcome)| Move::End(session, outcome)),
        1 => select(&SUBSCRIPTIONS[..]).prop_map(Move::Unsubscribe),
        1 => (0..4_usize).prop_map(Move::Restart),
    ]
}

pub fn recorders() -> impl Strategy<Value = Recorder> {
    (
        any::<bool>(),
        select(vec![0_i64, 0, 3, -3_600_000, 3_600_000]),
        prop::bool::weighted(0.8),
        select(vec![Ids::All, Ids::ToolCallId, Ids::CallsOnly, Ids::None]),
    )
        .prop_map(|(wraps, ahead, replies, ids)| Recorder {
            wraps,
            ahead,
            replies,
            statuses: true,
            senders: false,
            ids,
        })
}

/// A producer at work, and what was recorded of it.
pub struct Run {
    pub producer: Producer,
    ids: SequentialIds,
    now: i64,
    pub recorder: Recorder,
    pub lines: Vec<String>,
    pub replies: usize,
    /// What the last call put out.
    last: Vec<Output>,
    /// Whether a subscription was closed, which no event says.
    pub closes: bool,
}

impl Run {
    fn new(recorder: Recorder) -> Self {
        let mut run = Self {
            producer: Producer::new(Settings::default()),
            ids: SequentialIds::new(),
            now: START,
            recorder,
            lines: Vec::new(),
            replies: 0,
            last: Vec::new(),
            closes: false,
        };
        for subscription in SUBSCRIPTIONS {
            run.happens(Input::Subscribe {
                subscription_id: subscription_id(subscription),
                capabilities: Capabilities {
                    supports_confirmation_reply: true,
                },
            });
        }
        run.play(&Move::Start(SESSIONS[0]));
        run
    }

    pub fn play(&mut self, step: &Move) {
        match step {
            Move::Wait(milliseconds) => {
                self.now += milliseconds;
                self.happens(Input::Tick);
            }
            Move::Start(session) => {
                self.happens(Input::StartSession {
                    session_id: Some(session_id(session)),
                });
            }
            Move::Ask(asking) => self.happens(Input::Confirm(asked(asking))),
            Move::Clarify(clarifying) => self.happens(Input::Clarify(clarified(clarifying))),
            Move::Reply(answering) => self.reply(answering),
            Move::Extend(question, timeout) => {
                if let Some(token) = self.token(*question) {
                    self.happens(Input::Extend {
                        reply_token: token,
                        timeout_seconds: *timeout,
                    });
                }
            }
            Move::Cancel(question) => {
                if let Some(token) = self.token(*question) {
                    self.happens(Input::Cancel { reply_token: token });
                }
            }
            Move::Finish(question) => {
                let asked = self.producer.confirmations();
                if !asked.is_empty() {
                    let question = &question.get(asked).question;
                    let input = Input::FinishTool {
                        session_id: question.asked.session_id.clone(),
                        action: question.action.id.clone(),
                        tool_call_id: None,
                        status: ToolStatus::Success,
                    };
                    self.happens(input);
                }
            }
            Move::End(session, outcome) => {
                self.happens(Input::EndSession {
                    session_id: session_id(session),
                    outcome: *outcome,
                });
            }
            Move::Unsubscribe(subscription) => {
                self.closes = true;
                self.happens(Input::Unsubscribe {
                    subscription_id: subscription_id(subscription),
                });
            }
            Move::Restart(lost) => self.restart(*lost),
        }
    }

    fn token(&self, question: Index) -> Option<ReplyToken> {
        let confirmations = self.producer.confirmations().iter();
        let clarifications = self.producer.clarifications().iter();
        let confirmations = confirmations.map(|it| &it.question.asked.reply_token);
        let clarifications = clarifications.map(|it| &it.question.asked.reply_token);
        let asked: Vec<_> = confirmations.chain(clarifications).collect();
        (!asked.is_empty()).then(|| (*question.get(&asked)).clone())
    }

    /// What is lost was not carried out, so nobody has recorded it.
    fn restart(&mut self, lost: usize) {
        let carried_out = self.last.len().saturating_sub(lost);
        let lost = self.last.split_off(carried_out);
        for _ in lost.iter().filter(|it| matches!(it, Output::Emit(_))) {
            let is_event = |line: &String| line.contains("event_id");
            let unsent = self.lines.iter().rposition(is_event);
            self.lines.remove(unsent.expect("it was recorded"));
        }
        self.happens(Input::Restart { lost });
    }

    fn reply(&mut self, answering: &Answering) {
        let token = self.token(answering.question);
        let (Some(token), false) = (token, answering.fault == Fault::UnknownToken) else {
            return self.deliver(answering, "rpl_unknown");
        };
        self.deliver(answering, token.as_str());
    }

    fn deliver(&mut self, answering: &Answering, token: &str) {
        let mut message = json!({
            "reply_token": token, "subscription_id": answering.sender,
            "timestamp": moment(self.now + answering.decided),
        });
        let mut clarifications = self.producer.clarifications().iter();
        let clarifies = clarifications.any(|it| it.question.asked.reply_token.as_str() == token);
        let (kind, property, answer) = if clarifies == answering.other_kind {
            ("confirmation.reply", "decision", json!(answering.decision))
        } else {
            (
                "clarification.reply",
                "response",
                answering.response.clone(),
            )
        };
        message["type"] = json!(kind);
        message[property] = answer;
        match answering.fault {
            Fault::Modified => message["modified_action"] = json!({"amount": 1}),
            Fault::UnknownProperty => message["session_id"] = json!(SESSIONS[0]),
            Fault::None | Fault::Unauthenticated | Fault::UnknownToken => {}
        }
        let authenticated = answering.fault != Fault::Unauthenticated;
        let closed = !self.is_open(answering.sender);
        let place = self.lines.len();
        self.happens(Input::Deliver {
            sender: Sender {
                subscription_id: Some(subscription_id(answering.sender)),
                authenticated,
            },
            message: message.to_string().into_bytes(),
        });
        // The transport turns strangers away, and a recorder without a word of it has nothing to write down.
        let status = if authenticated && !closed { 204 } else { 403 };
        let Recorder {
            wraps,
            replies,
            statuses,
            senders,
            ..
        } = self.recorder;
        if replies && (wraps || status == 204 || !statuses) {
            let line = if wraps {
                let at = moment(self.now + self.recorder.ahead);
                let mut record = json!({"dir": "in", "at": at, "message": message});
                if statuses {
                    record["http_status"] = json!(status);
                }
                if senders {
                    let counts = status == 204;
                    record["sender"] = json!(if counts { "known" } else { "stranger" });
                }
                record
            } else {
                message
            };
            let behind = if self.recorder.wraps {
                answering.logged_behind
            } else {
                0
            };
            let place = (place + behind).min(self.lines.len());
            self.lines.insert(place, line.to_string());
            self.replies += 1;
        }
    }

    fn is_open(&self, subscription: &str) -> bool {
        let mut all = self.producer.subscriptions().iter();
        all.any(|(id, it)| id.as_str() == subscription && matches!(it, Subscription::Open(_)))
    }

    fn happens(&mut self, input: Input) {
        let now = Timestamp::from_millis(self.now);
        // What the host may not ask for is refused and emits nothing.
        let outputs = self.producer.handle(now, &mut self.ids, input).outputs;
        for output in &outputs {
            if let Output::Emit(event) = output {
                self.record(event);
            }
        }
        self.last = outputs;
    }

    fn record(&mut self, event: &Event) {
        let mut event = serde_json::to_value(event).expect("an event is plain data");
        forget(event.as_object_mut().expect("an object"), self.recorder.ids);
        let line = if self.recorder.wraps {
            json!({"dir": "out", "at": moment(self.now + self.recorder.ahead), "message": event})
        } else {
            event
        };
        self.lines.push(line.to_string());
    }

    pub fn report(&self) -> LintReport {
        self.judged(&self.lines)
    }

    /// The report on these lines, which are taken for what this recording is.
    pub fn judged(&self, lines: &[String]) -> LintReport {
        let Recorder {
            statuses, senders, ..
        } = self.recorder;
        let settings = LintSettings {
            unknown_senders: !statuses && !senders,
            unsaid_withdrawals: self.recorder.ids != Ids::All || self.closes,
            ..LintSettings::default()
        };
        let text = lines.join("\n");
        judge(text.as_bytes(), "run", settings, &Selection::default())
    }
}

pub fn played(moves: &[Move], recorder: Recorder) -> Run {
    let mut run = Run::new(recorder);
    for step in moves {
        run.play(step);
    }
    run
}

fn asked(asking: &Asking) -> Ask {
    let allowed = asking.allowed.as_ref();
    Ask {
        session_id: session_id(asking.session),
        action: Action {
            id: ActionId::parse(asking.action).expect("a name"),
            tool: asking.tool.into(),
            description: "Do it.".into(),
            consequence: "It is done.".into(),
            risk_level: asking.risk,
            irreversible: asking.irreversible,
        },
        timeout_seconds: asking.timeout,
        default_decision: asking.default,
        allowed_replies: allowed.map(|words| words.iter().map(ToString::to_string).collect()),
    }
}

fn clarified(clarifying: &Clarifying) -> Clarify {
    let (kinds, offers) = &clarifying.accepts;
    let choices = ["65", "67"].map(|value| Choice {
        value: value.to_owned(),
        label: format!("At {value}"),
    });
    Clarify {
        session_id: session_id(clarifying.session),
        question: clarifying.question.into(),
        accepted_response_kinds: kinds.clone(),
        choices: offers.then(|| choices.to_vec()),
        timeout_seconds: clarifying.timeout,
        default_response: clarifying.default.map(Into::into),
    }
}

fn session_id(name: &str) -> SessionId {
    SessionId::parse(name).expect("a session id")
}

fn subscription_id(name: &str) -> SubscriptionId {
    SubscriptionId::parse(name).expect("a subscription id")
}

/// What the recorded producer does not say.
fn forget(event: &mut Map<String, Value>, ids: Ids) {
    let fields: &[&str] = match ids {
        Ids::All => &[],
        Ids::ToolCallId => &["extensions"],
        Ids::CallsOnly => &["extensions", "extra_context"],
        Ids::None => &["extensions", "extra_context", "tool_call_id"],
    };
    for field in fields {
        event.remove(*field);
    }
}

fn moment(milliseconds: i64) -> Value {
    json!(Timestamp::from_millis(milliseconds))
}
