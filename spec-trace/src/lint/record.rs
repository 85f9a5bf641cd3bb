//! Typed records out of JSON, with what is wrong about them.
//!
//! A fault in one field does not stop the rest: the event goes on to the monitors with that field unknown, and an unknown
//! field explains everything.

use serde_json::{Map, Value};

use super::finding::{Finding, Place};
use super::reply;
use super::reply::Reply;
use super::rules::{self, Rule};
use super::ties::Ties;
use super::time::Timestamp;
use crate::json;

/// What is wrong with a record.
#[derive(Debug)]
pub struct Fault {
    /// The kind of fault.
    pub rule: &'static Rule,
    /// The byte of the line, from 1, where it can be told.
    pub column: Option<u64>,
    /// What was seen and what was expected.
    pub message: String,
}

impl Fault {
    /// The finding that this fault is at `place`.
    pub fn at(self, place: &Place, session: Option<&str>) -> Finding {
        Finding::new(self.rule, place, session, self.message).at_column(self.column)
    }
}

/// One record, as far as the monitors care.
#[derive(Debug)]
pub enum Record {
    /// A core event.
    Event(Box<Event>),
    /// A `confirmation.reply`.
    Reply(Reply),
    /// A `clarification.reply`: it shows that replies are recorded.
    ClarificationReply,
    /// A foreign type, a message that is no message of the protocol, or one that went the wrong way: it has no effect.
    NotJudged,
}

impl Record {
    /// The session that the record names.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Event(event) => Some(&event.session),
            Self::Reply(_) | Self::ClarificationReply | Self::NotJudged => None,
        }
    }
}

/// One event as its subscriber saw it.
#[derive(Debug)]
pub struct Event {
    /// Where it stands.
    pub place: Place,
    /// `session_id`.
    pub session: String,
    /// `producer.agent_id`; empty where there is none.
    pub producer: String,
    /// `timestamp`: when the producer says that it sent it.
    pub sent: Option<Timestamp>,
    /// `at` of the wrapper: when the recorder received it.
    pub received: Option<Timestamp>,
    /// `sequence_number`.
    pub sequence: Option<i64>,
    /// What ties a call to its confirmation.
    pub ties: Ties,
    /// The type after `aaep:agent.`, as in `tool.invoked`.
    pub name: &'static str,
    /// What happened.
    pub kind: EventKind,
}

impl Event {
    /// Whether the event may concern a question with these ids: it names that one, or none.
    pub fn speaks_of(&self, question: &Ties) -> bool {
        self.ties.token.is_none() || self.ties.token == question.token
    }
}

/// What happened.
#[derive(Debug)]
pub enum EventKind {
    /// `session.started`.
    Started,
    /// `session.completed`, `session.errored` or `session.cancelled`.
    Ended(Ending),
    /// `state.changed`.
    StateChanged {
        /// `from_state`.
        from: Option<String>,
        /// `to_state`.
        to: Option<String>,
    },
    /// `tool.invoked`.
    Invoked {
        /// `tool`.
        tool: Option<String>,
        /// `irreversible`, false where absent.
        irreversible: bool,
    },
    /// `tool.completed`.
    Completed {
        /// `tool`.
        tool: Option<String>,
    },
    /// `awaiting.confirmation`.
    Asked(Question),
    /// Any other core type.
    Other,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// `session.completed`: everything that was owed is due.
    Completed,
    /// `session.errored`: what was owed is forgiven.
    Errored,
    /// `session.cancelled`: what was owed is forgiven.
    Cancelled,
}

/// The payload of `awaiting.confirmation`.
#[derive(Debug, Clone)]
pub struct Question {
    /// `reply_token`.
    pub token: Option<String>,
    /// `timeout_seconds`, where within 1 to 86400.
    pub timeout: Option<i64>,
    /// `default_decision`.
    pub default: Option<Decision>,
    /// `risk_level`.
    pub risk: Option<Risk>,
    /// `irreversible`, false where absent.
    pub irreversible: bool,
    /// `allowed_replies`; accept and reject where absent.
    pub allowed: Vec<String>,
    /// `action` and `consequence`, which name the action in prose.
    pub prose: (String, String),
}

/// The two decisions of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Go ahead.
    Accept,
    /// Do not.
    Reject,
}

/// `risk_level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// `low`.
    Low,
    /// `medium`.
    Medium,
    /// `high`.
    High,
}

/// Reads the bytes of one line.
///
/// # Errors
///
/// The line is no record: invalid UTF-8, not JSON, not an object, or an object of none of the kinds.
pub fn read(line: &[u8], place: &Place) -> Result<(Record, Vec<Fault>), Fault> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let column = error.valid_up_to() as u64 + 1;
        broken(Some(column), "the line is not UTF-8".to_owned())
    })?;
    let value = json::parse(text).map_err(|error| {
        let message = error.to_string();
        let cause = message.split(" at line ").next().unwrap_or(&message);
        broken(
            Some(error.column() as u64),
            format!("the line is not a JSON record: {cause}"),
        )
    })?;
    let Value::Object(object) = value else {
        return Err(broken(
            Some(1),
            "a record is a JSON object, and this line holds another value".to_owned(),
        ));
    };
    read_object(&object, place)
}

fn broken(column: Option<u64>, message: String) -> Fault {
    Fault {
        rule: &rules::RECORD,
        column,
        message,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From the producer to the subscriber.
    Out,
    /// From the subscriber to the producer.
    In,
    /// A bare record.
    Untold,
}

struct Envelope {
    direction: Direction,
    received: Option<Timestamp>,
    http_status: Option<u64>,
}

fn read_object(object: &Map<String, Value>, place: &Place) -> Result<(Record, Vec<Fault>), Fault> {
    let mut faults = Vec::new();
    let Some(message) = object
        .get("message")
        .filter(|_| !object.contains_key("type"))
    else {
        let envelope = Envelope {
            direction: Direction::Untold,
            received: None,
            http_status: None,
        };
        let record = read_message(object, &envelope, place, &mut faults)?;
        return Ok((record, faults));
    };
    let mut fields = Fields::new(object, &mut faults);
    let envelope = Envelope {
        direction: match object.get("dir").and_then(Value::as_str) {
            Some("out") => Direction::Out,
            Some("in") => Direction::In,
            _ => {
                fields.fault(
                    &rules::RECORD,
                    "dir of a wrapped record is \"in\" or \"out\"".to_owned(),
                );
                Direction::Untold
            }
        },
        received: fields.timestamp("at", &rules::RECORD),
        http_status: object.get("http_status").and_then(Value::as_u64),
    };
    let record = match message {
        Value::Object(message) => read_message(message, &envelope, place, &mut faults)?,
        // Whatever a subscriber sends is the producer's to ignore, not the stream's fault.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            if envelope.direction != Direction::In {
                return Err(broken(
                    None,
                    "message of a wrapped record is an object".to_owned(),
                ));
            }
            Record::NotJudged
        }
    };
    Ok((record, faults))
}

fn read_message(
    message: &Map<String, Value>,
    envelope: &Envelope,
    place: &Place,
    faults: &mut Vec<Fault>,
) -> Result<Record, Fault> {
    let sent_by_producer = envelope.direction != Direction::In;
    let Some(type_name) = message.get("type").and_then(Value::as_str) else {
        let raw = message.contains_key("_raw");
        return match envelope.direction {
            Direction::In => Ok(Record::NotJudged),
            Direction::Untold if raw => Ok(Record::NotJudged),
            Direction::Out if raw => Err(broken(
                None,
                "the producer sent a message that is not JSON".to_owned(),
            )),
            Direction::Out | Direction::Untold if message.contains_key("type") => Err(broken(
                None,
                "type of the record is not a string".to_owned(),
            )),
            Direction::Out | Direction::Untold => {
                Err(broken(None, "the record has no type".to_owned()))
            }
        };
    };
    match type_name {
        "confirmation.reply" | "clarification.reply" if envelope.direction == Direction::Out => {
            Ok(Record::NotJudged)
        }
        "confirmation.reply" => Ok(Record::Reply(reply::read(
            message,
            place,
            envelope.received,
            envelope.http_status,
        ))),
        "clarification.reply" => Ok(Record::ClarificationReply),
        // An event that a subscriber sends is not the producer's.
        _ if !sent_by_producer => Ok(Record::NotJudged),
        _ => Ok(read_event(type_name, message, envelope, place, faults)),
    }
}

/// The core event types, after `aaep:agent.`.
const CORE: [&str; 12] = [
    "session.started",
    "session.completed",
    "session.errored",
    "session.cancelled",
    "state.changed",
    "progress.updated",
    "tool.invoked",
    "tool.completed",
    "output.streaming",
    "awaiting.confirmation",
    "awaiting.clarification",
    "handoff.requested",
];

fn read_event(
    type_name: &str,
    message: &Map<String, Value>,
    envelope: &Envelope,
    place: &Place,
    faults: &mut Vec<Fault>,
) -> Record {
    let uri = type_name.strip_prefix("https://aaep-protocol.org/types/");
    let Some(own) = type_name.strip_prefix("aaep:").or(uri) else {
        return Record::NotJudged;
    };
    let mut fields = Fields::new(message, faults);
    // The name in the URI form is taken with and without `agent.`: the wire facts can be read either way.
    let short = own.strip_prefix("agent.").or(uri);
    let Some(name) = CORE.into_iter().find(|name| Some(*name) == short) else {
        fields.fault(
            &rules::CORE_TYPE,
            format!("{type_name:?} is not a core event type"),
        );
        return Record::NotJudged;
    };
    let Some(session) = fields.required_text("session_id", &rules::RECORD) else {
        return Record::NotJudged;
    };
    if fields.present("timestamp").is_none() {
        fields.fault(&rules::RECORD, "timestamp is missing".to_owned());
    }
    let kind = read_kind(name, &mut fields);
    Record::Event(Box::new(Event {
        place: place.clone(),
        session,
        producer: text_at(message, &["producer", "agent_id"]).unwrap_or_default(),
        sent: fields.timestamp("timestamp", &rules::TIMESTAMP),
        received: envelope.received,
        sequence: message.get("sequence_number").and_then(Value::as_i64),
        ties: read_ties(message, &kind),
        name,
        kind,
    }))
}

fn read_ties(message: &Map<String, Value>, kind: &EventKind) -> Ties {
    let (tool_call_id, own_token) = match kind {
        EventKind::Asked(question) => (
            text_at(message, &["extra_context", "tool_call_id"]),
            question.token.clone(),
        ),
        EventKind::Invoked { .. } | EventKind::Completed { .. } => {
            (text_at(message, &["tool_call_id"]), None)
        }
        EventKind::Started
        | EventKind::Ended(_)
        | EventKind::StateChanged { .. }
        | EventKind::Other => (None, None),
    };
    Ties {
        tool_call_id,
        action: text_at(message, &["extensions", "countersign", "action"]),
        token: own_token
            .or_else(|| text_at(message, &["extensions", "countersign", "reply_token"])),
    }
}

fn text_at(message: &Map<String, Value>, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let found = rest
        .iter()
        .try_fold(message.get(*first)?, |value, key| value.get(*key))?;
    found.as_str().map(str::to_owned)
}

fn read_kind(name: &str, fields: &mut Fields<'_>) -> EventKind {
    match name {
        "session.started" => EventKind::Started,
        "session.completed" => EventKind::Ended(Ending::Completed),
        "session.errored" => EventKind::Ended(Ending::Errored),
        "session.cancelled" => EventKind::Ended(Ending::Cancelled),
        "state.changed" => EventKind::StateChanged {
            from: fields.required_text("from_state", &rules::PAYLOAD),
            to: fields.required_text("to_state", &rules::PAYLOAD),
        },
        "tool.invoked" => {
            let tool = fields.required_text("tool", &rules::PAYLOAD);
            fields.optional_text("tool_call_id");
            EventKind::Invoked {
                tool,
                irreversible: fields.flag("irreversible"),
            }
        }
        "tool.completed" => {
            let tool = fields.required_text("tool", &rules::PAYLOAD);
            fields.optional_text("tool_call_id");
            EventKind::Completed { tool }
        }
        "awaiting.confirmation" => EventKind::Asked(read_question(fields)),
        _ => EventKind::Other,
    }
}

fn read_question(fields: &mut Fields<'_>) -> Question {
    Question {
        token: fields.required_text("reply_token", &rules::PAYLOAD),
        timeout: fields.timeout(),
        default: fields.one_of(
            "default_decision",
            true,
            &[("accept", Decision::Accept), ("reject", Decision::Reject)],
        ),
        risk: fields.one_of(
            "risk_level",
            false,
            &[
                ("low", Risk::Low),
                ("medium", Risk::Medium),
                ("high", Risk::High),
            ],
        ),
        irreversible: fields.flag("irreversible"),
        allowed: fields.allowed_replies(),
        prose: (
            fields
                .required_text("action", &rules::PAYLOAD)
                .unwrap_or_default(),
            fields.optional_text("consequence").unwrap_or_default(),
        ),
    }
}

/// The fields of one object, and where to note what is wrong with them. An optional field that is null counts as absent.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    faults: &'a mut Vec<Fault>,
}

impl<'a> Fields<'a> {
    fn new(object: &'a Map<String, Value>, faults: &'a mut Vec<Fault>) -> Self {
        Self { object, faults }
    }

    fn fault(&mut self, rule: &'static Rule, message: String) {
        self.faults.push(Fault {
            rule,
            column: None,
            message,
        });
    }

    fn present(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    fn optional_text(&mut self, name: &str) -> Option<String> {
        let value = self.present(name)?;
        if value.as_str().is_none() {
            self.fault(&rules::PAYLOAD, format!("{name} is not a string"));
        }
        value.as_str().map(str::to_owned)
    }

    fn required_text(&mut self, name: &str, rule: &'static Rule) -> Option<String> {
        let text = self
            .object
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned);
        if text.is_none() {
            let what = if self.object.contains_key(name) {
                "is not a string"
            } else {
                "is missing"
            };
            self.fault(rule, format!("{name} {what}"));
        }
        text
    }

    fn timestamp(&mut self, name: &str, rule: &'static Rule) -> Option<Timestamp> {
        let value = self.present(name)?;
        let timestamp = value.as_str().and_then(Timestamp::parse);
        if timestamp.is_none() {
            self.fault(rule, format!("{name} is not an RFC 3339 date and time"));
        }
        timestamp
    }

    fn flag(&mut self, name: &str) -> bool {
        let Some(value) = self.present(name) else {
            return false;
        };
        if !value.is_boolean() {
            self.fault(&rules::PAYLOAD, format!("{name} is not true or false"));
        }
        value.as_bool().unwrap_or(false)
    }

    fn timeout(&mut self) -> Option<i64> {
        let value = self.object.get("timeout_seconds");
        let seconds = value
            .and_then(Value::as_f64)
            .filter(|seconds| seconds.fract() == 0.0);
        let in_range = seconds.filter(|seconds| (1.0..=86_400.0).contains(seconds));
        if in_range.is_none() {
            self.fault(
                &rules::PAYLOAD,
                "timeout_seconds is not a whole number from 1 to 86400".to_owned(),
            );
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number from 1 to 86400"
        )]
        in_range.map(|seconds| seconds as i64)
    }

    fn one_of<T: Copy>(&mut self, name: &str, required: bool, words: &[(&str, T)]) -> Option<T> {
        let value = self.present(name);
        let found = words
            .iter()
            .find(|(word, _)| value.and_then(Value::as_str) == Some(*word));
        if found.is_none() && (required || value.is_some()) {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.fault(
                &rules::PAYLOAD,
                format!("{name} is not one of {}", words.join(", ")),
            );
        }
        found.map(|(_, meaning)| *meaning)
    }

    fn allowed_replies(&mut self) -> Vec<String> {
        let both = || vec!["accept".to_owned(), "reject".to_owned()];
        let Some(value) = self.present("allowed_replies") else {
            return both();
        };
        let words: Option<Vec<String>> = value.as_array().and_then(|words| {
            words
                .iter()
                .map(|word| word.as_str().map(str::to_owned))
                .collect()
        });
        // AAEP-EV-5: without a word in it no reply could be valid.
        let words = words.filter(|words| (1..=32).contains(&words.len()));
        if words.is_none() {
            self.fault(
                &rules::PAYLOAD,
                "allowed_replies is not an array of 1 to 32 strings".to_owned(),
            );
        }
        words.unwrap_or_else(both)
    }
}
