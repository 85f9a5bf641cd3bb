//! Typed records out of JSON, with what is wrong about them.
//!
//! A fault in one field does not stop the rest: the event goes on to the monitors with that field unknown, and an unknown
//! field explains everything.

use super::action_ids::ActionIds;
use super::finding::{Finding, Here, Place};
use super::reply::{self, Reply, Sender, Sent};
use super::rules::{self, Rule};
use super::time::Timestamp;
use crate::json::tree::{self, Index, Object, Room, Tree, Value};
use fields::{Fields, Need, whole};

mod envelope;
pub mod fields;
mod limits;
mod payload;

use Need::{Optional, Required};

/// What is wrong with a record.
#[derive(Debug, Clone)]
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
    pub fn at(self, place: impl Into<Place>, session: Option<&str>) -> Finding {
        Finding::new(self.rule, place, session, self.message).at_column(self.column)
    }
}

/// One record, as far as the monitors care.
#[derive(Debug)]
pub enum Record<'a> {
    /// A core event.
    Event(Event<'a>),
    /// A `confirmation.reply` or a `clarification.reply`.
    Reply(Reply<'a>),
    /// What was sent in and is no JSON, and has no token: whether it is a reply does not show, and it has no effect.
    NoJson(Reply<'a>),
    /// A message of a type that the protocol does not have. An extension may grant a longer timeout (AAEP-6.4.2-2), so it
    /// leaves open when the questions before it run out: those of the session that it names, or all.
    Foreign {
        /// The session.
        session: Option<&'a str>,
        /// Who put it out, and its `sequence_number`: it may be one of those of its session (AAEP-EV-4).
        numbered: Option<(&'a str, i64)>,
        /// The line.
        line: u64,
    },
    /// An event that is accused and cannot be judged, for want of a core type or a session. Its number is none of those that
    /// are missing.
    Unread {
        /// The session.
        session: Option<&'a str>,
        /// As in [`Self::Foreign`].
        numbered: Option<(&'a str, i64)>,
        /// The line, where what is missing behind it may have stood there, and the clause that it breaks.
        may_be_missed: Option<(u64, &'static str)>,
    },
    /// The head of a recording: `countersign.recording`, with what its recorder says of it.
    Head {
        /// Whether `replies` is `all`: each that was sent is recorded.
        replies: bool,
        /// Whether `order` is `receipt`: the lines stand in the order in which the messages were received.
        in_order: bool,
    },
    /// A message that is no message of the protocol, or one that went the wrong way: it has no effect.
    NotJudged,
}

impl<'a> Record<'a> {
    /// The session that the record names.
    pub fn session(&self) -> Option<&'a str> {
        match self {
            Self::Event(event) => Some(event.session),
            Self::Foreign { session, .. } => *session,
            Self::Reply(_)
            | Self::NoJson(_)
            | Self::Unread { .. }
            | Self::Head { .. }
            | Self::NotJudged => None,
        }
    }
}

/// One event as its subscriber saw it.
#[derive(Debug)]
pub struct Event<'a> {
    /// Where it stands.
    pub place: Here<'a>,
    /// `event_id`.
    pub id: Option<&'a str>,
    /// `session_id`.
    pub session: &'a str,
    /// `producer.agent_id`; empty where there is none.
    pub producer: &'a str,
    /// `timestamp`: when the producer says that it sent it.
    pub sent: Option<Timestamp>,
    /// `at` of the wrapper: when the recorder received it.
    pub received: Option<Timestamp>,
    /// `sequence_number`.
    pub sequence: Numbered,
    /// The ids by which it names its action.
    pub ids: ActionIds<'a>,
    /// `extensions.countersign.outcome`: what the producer says has become of the question that the event names.
    pub outcome: Option<StatedOutcome>,
    /// The type after `aaep:agent.`, as in `tool.invoked`.
    pub name: &'static str,
    /// What happened.
    pub kind: EventKind<'a>,
    /// All of it.
    pub message: Object<'a>,
}

impl Event<'_> {
    /// Whether the event says of the question that it names that it was accepted: then it was not withdrawn.
    pub fn says_accepted(&self) -> bool {
        self.ids.token.is_some() && self.outcome == Some(StatedOutcome::Accepted)
    }

    /// Whether the event may concern a question with these ids: it names that one, or none.
    pub fn speaks_of(&self, question: &ActionIds<'_>) -> bool {
        self.ids.token.is_none() || self.ids.token == question.token
    }
}

/// `sequence_number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Numbered {
    /// It is there.
    As(i64),
    /// There is none.
    Not,
    /// There is something else in its place.
    Badly,
}

/// What a producer says has become of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatedOutcome {
    /// `accepted`.
    Accepted,
    /// `rejected`.
    Rejected,
    /// `cancelled`.
    Cancelled,
    /// `answered`: a clarification, by a reply or by its default.
    Answered,
    /// `unanswered`: a clarification that nobody answered and that has no default.
    Unanswered,
}

/// What happened.
#[derive(Debug, Hash)]
pub enum EventKind<'a> {
    /// `session.started`.
    Started,
    /// `session.completed`, `session.errored` or `session.cancelled`.
    Ended(Ending),
    /// `state.changed`.
    StateChanged {
        /// `from_state`.
        from: Option<&'a str>,
        /// `to_state`.
        to: Option<&'a str>,
    },
    /// `progress.updated`.
    Progress {
        /// `eta_ms`, where it is a number of milliseconds.
        eta: Option<i64>,
    },
    /// `tool.invoked`.
    Invoked {
        /// `tool`.
        tool: Option<&'a str>,
        /// `irreversible`, false where absent.
        irreversible: bool,
        /// `risk_level`.
        risk: Option<Risk>,
        /// `args_summary`.
        arguments: Option<&'a str>,
    },
    /// `tool.completed`.
    Completed {
        /// `tool`.
        tool: Option<&'a str>,
        /// Whether `status` is `success`: the action ran.
        success: bool,
    },
    /// `output.streaming`.
    Output(Chunk<'a>),
    /// `awaiting.confirmation`.
    Asked(Question<'a>),
    /// `awaiting.clarification`.
    Clarifying(Clarification),
    /// `handoff.requested`.
    Handoff,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// `session.completed`: everything that was owed is due.
    Completed,
    /// `session.errored`: what was owed is forgiven.
    Errored,
    /// `session.cancelled`: what was owed is forgiven.
    Cancelled,
}

/// The payload of `output.streaming`.
#[derive(Debug, Hash)]
pub struct Chunk<'a> {
    /// `output_id`.
    pub output: Option<&'a str>,
    /// Unicode characters of `chunk`.
    pub characters: Option<u64>,
    /// UTF-16 units of `chunk`: what some languages call characters.
    pub units: Option<u64>,
    /// Whether `chunk` is plain ASCII, of which everyone counts the same.
    pub ascii: bool,
    /// `position`.
    pub position: Option<u64>,
    /// `complete`.
    pub complete: Option<bool>,
}

/// The payload of `awaiting.confirmation`.
#[derive(Debug, Hash)]
pub struct Question<'a> {
    /// `reply_token`.
    pub token: Option<&'a str>,
    /// `timeout_seconds`, where within 1 to 86400.
    pub timeout: Option<i64>,
    /// `default_decision`.
    pub default: Option<Decision>,
    /// `risk_level`.
    pub risk: Option<Risk>,
    /// `irreversible`; where absent, what `reversibility` says, or else false.
    pub irreversible: bool,
    /// `allowed_replies`; accept and reject where absent.
    pub allowed: Allowed,
    /// `action` and `consequence`, which name the action in prose.
    pub prose: (&'a str, &'a str),
}

/// `allowed_replies`: the two decisions of the protocol, and words of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Allowed {
    accept: bool,
    reject: bool,
    others: Box<[String]>,
}

impl Allowed {
    /// What a question allows that does not say it.
    pub fn usual() -> Self {
        Self::of(&["accept", "reject"])
    }

    /// The words on the wire.
    pub fn of(words: &[&str]) -> Self {
        let is_other = |word: &&&str| !["accept", "reject"].contains(word);
        let others = words.iter().filter(is_other);
        Self {
            accept: words.contains(&"accept"),
            reject: words.contains(&"reject"),
            others: others.map(|word| (*word).to_owned()).collect(),
        }
    }

    /// Whether the word is among them.
    pub fn contains(&self, word: &str) -> bool {
        match word {
            "accept" => self.accept,
            "reject" => self.reject,
            other => self.others.iter().any(|allowed| allowed == other),
        }
    }
}

/// The payload of `awaiting.clarification`.
#[derive(Debug, Clone, Hash)]
pub struct Clarification {
    /// `reply_token`.
    pub token: Option<String>,
    /// `timeout_seconds`, where a whole number.
    pub timeout: Option<i64>,
    /// `question`.
    pub question: String,
    /// `accepted_response_kinds`; `None` where it is not said, and then any kind will do.
    pub kinds: Option<Vec<ResponseKind>>,
    /// The values of `choices`.
    pub choices: Option<Vec<String>>,
    /// Whether there is a `default_response`.
    pub has_default: bool,
}

/// `accepted_response_kinds`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponseKind {
    /// `freetext`: any string.
    FreeText,
    /// `yes_no`: true or false.
    YesNo,
    /// `multiple_choice`: the value of a choice.
    MultipleChoice,
    /// `numeric`: a number.
    Numeric,
}

/// The two decisions of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Go ahead.
    Accept,
    /// Do not.
    Reject,
}

/// `risk_level`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Risk {
    /// `low`.
    Low,
    /// `medium`.
    Medium,
    /// `high`.
    High,
}

/// How deep JSON may be nested: the limit of its parser.
const LEVELS: u64 = 127;

/// What is said of a line that is no UTF-8 for its end alone.
pub(crate) const ENDS_WITHIN: &str = ": it ends within a character";

/// Takes the bytes of one line apart, in the memory of an earlier one.
///
/// # Errors
///
/// The line is invalid UTF-8, or not JSON.
pub fn parse<'a>(line: &'a [u8], room: &'a mut Room) -> Result<Tree<'a>, Fault> {
    let text = std::str::from_utf8(line).map_err(|error| {
        let column = error.valid_up_to() as u64 + 1;
        let end = error.error_len().map_or(ENDS_WITHIN, |_| "");
        broken(Some(column), format!("the line is not UTF-8{end}"))
    })?;
    tree::parse(text, room).map_err(|error| {
        let message = error.to_string();
        let cause = message.split(" at line ").next().unwrap_or(&message);
        let told = if cause == "recursion limit exceeded" {
            format!(
                "the record is nested too deeply: of JSON no more than {LEVELS} levels are read"
            )
        } else {
            format!("the line is not a JSON record: {cause}")
        };
        broken(Some(error.column() as u64), told)
    })
}

/// Reads what stands on one line.
///
/// # Errors
///
/// It is no record: not an object, or an object of none of the kinds.
pub fn read<'a>(tree: Tree<'a>, place: Here<'a>) -> Result<(Record<'a>, Vec<Fault>), Fault> {
    let Some(object) = tree.value().as_object() else {
        return Err(broken(
            Some(1),
            "a record is a JSON object, and this line holds another value",
        ));
    };
    let mut faults = Vec::new();
    let record = read_object(&Index::new(object), place, &mut faults)?;
    Ok((record, faults))
}

fn broken(column: Option<u64>, message: impl Into<String>) -> Fault {
    Fault {
        rule: &rules::RECORD,
        column,
        message: message.into(),
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

/// What a record says of the message in it.
struct Wrapper<'a> {
    direction: Direction,
    sent: Sent<'a>,
    place: Here<'a>,
}

fn read_object<'a>(
    object: &Index<'a>,
    place: Here<'a>,
    faults: &mut Vec<Fault>,
) -> Result<Record<'a>, Fault> {
    let mut wrapper = Wrapper {
        direction: Direction::Untold,
        sent: Sent {
            received: None,
            sender: Sender::Unsaid,
            http_status: None,
            http_body: None,
        },
        place,
    };
    let message = object
        .get("message")
        .filter(|_| object.get("type").is_none());
    let Some(message) = message else {
        return read_message(object, &wrapper, faults);
    };
    let mut fields = Fields::new(object, &rules::RECORD, faults);
    let directions = [("out", Direction::Out), ("in", Direction::In)];
    wrapper.direction = fields
        .one_of("dir", Required, &directions)
        .unwrap_or(Direction::Untold);
    let text = fields.text("at", Optional);
    let received = text.and_then(Timestamp::parse);
    if text.is_some() && received.is_none() {
        fields.fault("at is not an RFC 3339 date and time".to_owned());
    }
    // What a client writes that had no answer is 0.
    let what = "a status of HTTP, from 100 to 999, or 0";
    let http_status = fields.value("http_status", Optional, what, |value| {
        let status = u64::try_from(whole(value)?).ok()?;
        (status == 0 || (100..=999).contains(&status)).then_some(status)
    });
    let http_status = http_status.filter(|status| *status > 0);
    let senders = [
        ("known", Sender::Known),
        ("stranger", Sender::Stranger),
        ("untold", Sender::Untold),
    ];
    // AAEP-EV-1: another word is a fault, and nobody knows then who it was.
    let is_said = object
        .get("sender")
        .is_some_and(|it| !matches!(it, Value::Null));
    let unread = if is_said {
        Sender::Untold
    } else {
        Sender::Unsaid
    };
    let sender = fields.one_of("sender", Optional, &senders);
    wrapper.sent = Sent {
        received,
        sender: sender.unwrap_or(unread),
        http_status,
        http_body: object.get("http_body"),
    };
    match message {
        Value::Object(message) => read_message(&Index::new(message), &wrapper, faults),
        // Whatever a subscriber sends is the producer's to ignore, not the stream's fault.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            if wrapper.direction == Direction::In {
                Ok(Record::NotJudged)
            } else {
                Err(broken(None, "message of a wrapped record is an object"))
            }
        }
    }
}

fn read_message<'a>(
    message: &Index<'a>,
    wrapper: &Wrapper<'a>,
    faults: &mut Vec<Fault>,
) -> Result<Record<'a>, Fault> {
    let Some(type_name) = message.get("type").and_then(Value::as_str) else {
        return without_type(message, wrapper);
    };
    match type_name {
        "confirmation.reply" | "clarification.reply" => Ok(match wrapper.direction {
            Direction::Out => Record::NotJudged,
            Direction::In | Direction::Untold => {
                Record::Reply(reply::read(message.object(), wrapper.place, wrapper.sent))
            }
        }),
        _ => Ok(read_event(type_name, message, wrapper, faults)),
    }
}

fn without_type<'a>(message: &Index<'a>, wrapper: &Wrapper<'a>) -> Result<Record<'a>, Fault> {
    let raw = message.get("_raw").is_some();
    let what = match wrapper.direction {
        Direction::In => {
            let text = message.get("_raw").and_then(Value::as_str);
            let reply = text.map(|text| reply::read_broken(text, wrapper.place, wrapper.sent));
            return Ok(match reply {
                None => Record::NotJudged,
                Some(reply) if reply.token.is_some() => Record::Reply(reply),
                Some(reply) => Record::NoJson(reply),
            });
        }
        Direction::Untold if raw => return Ok(Record::NotJudged),
        Direction::Out if raw => "the producer sent a message that is not JSON",
        Direction::Out | Direction::Untold if message.get("type").is_some() => {
            "type of the record is not a string"
        }
        Direction::Out | Direction::Untold => "the record has no type",
    };
    Err(broken(None, what))
}

/// The core event types, after `aaep:agent.`.
pub const CORE: [&str; 12] = [
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

fn read_event<'a>(
    type_name: &'a str,
    message: &Index<'a>,
    wrapper: &Wrapper<'a>,
    faults: &mut Vec<Fault>,
) -> Record<'a> {
    let uri = type_name.strip_prefix("https://aaep-protocol.org/types/");
    let bare = Some(type_name).filter(|name| is_bare(name));
    let Some(own) = type_name.strip_prefix("aaep:").or(uri).or(bare) else {
        return foreign(type_name, message, wrapper.place.line, faults);
    };
    // An event that a subscriber sends is not the producer's.
    if wrapper.direction == Direction::In {
        return Record::NotJudged;
    }
    // The name in the URI form is taken with and without `agent.`: the wire facts can be read either way.
    let short = own.strip_prefix("agent.").or(uri);
    let Some(name) = CORE.into_iter().find(|name| Some(*name) == short) else {
        // AAEP-EV-9: no core type outside the list.
        Fields::new(message, &rules::CORE_TYPE, faults)
            .fault(format!("{type_name:?} is not a core event type"));
        return unread(message, None);
    };
    if bare.is_some() {
        // AAEP-EV-1: the type. It is clear what is meant, so the event is judged as that.
        Fields::new(message, &rules::RECORD, faults).fault(format!(
            "type lacks its prefix: \"aaep:{type_name}\" is meant"
        ));
    }
    limits::judge(message.object(), faults);
    let Some(event) = envelope::read(name, message, wrapper, faults) else {
        return unread(message, Some((wrapper.place.line, rules::RECORD.clause)));
    };
    Record::Event(event)
}

fn unread<'a>(message: &Index<'a>, may_be_missed: Option<(u64, &'static str)>) -> Record<'a> {
    Record::Unread {
        session: message.get("session_id").and_then(Value::as_str),
        numbered: numbered(message),
        may_be_missed,
    }
}

/// Who put a message out, and its number.
fn numbered<'a>(message: &Index<'a>) -> Option<(&'a str, i64)> {
    let producer = message.get("producer").and_then(Value::as_object);
    let agent = producer
        .and_then(|it| it.get("agent_id"))
        .and_then(Value::as_str);
    let number = message.get("sequence_number").and_then(whole)?;
    Some((agent.unwrap_or_default(), number))
}

/// Whether it is a core type as prose writes it, without the prefix that it has on the wire.
fn is_bare(type_name: &str) -> bool {
    let own = type_name.strip_prefix("agent.");
    own.is_some_and(|own| CORE.contains(&own))
}

/// Subscribing and its answers are of the protocol, though no core events: they grant nobody more time.
fn foreign<'a>(
    type_name: &str,
    message: &Index<'a>,
    line: u64,
    faults: &mut Vec<Fault>,
) -> Record<'a> {
    if type_name.starts_with("subscription.") {
        return Record::NotJudged;
    }
    if type_name == "countersign.recording" {
        let mut says = |member: &str, word: &str| {
            let value = message.get(member);
            let is_said = value.and_then(Value::as_str) == Some(word);
            if value.is_some() && !is_said {
                Fields::new(message, &rules::RECORD, faults).fault(format!(
                    "{member} of the head of a recording is not \"{word}\", so that it says nothing"
                ));
            }
            is_said
        };
        return Record::Head {
            replies: says("replies", "all"),
            in_order: says("order", "receipt"),
        };
    }
    Record::Foreign {
        session: message.get("session_id").and_then(Value::as_str),
        numbered: numbered(message),
        line,
    }
}
