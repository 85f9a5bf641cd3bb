//! An event as any implementation writes it, in the judge's words.
//!
//! The one thing to know: it is read leniently. What the wire leaves open may be there or not, in either form, and what nobody
//! knows is passed over; what it prescribes has to be there, and where it is not, [`Malformed`] says what is wrong.

use std::borrow::Cow;
use std::fmt;

use countersign_model::aaep::judge::{
    Body, Choice, Clarification, Decision, Event, Handed, Invocation, Malformed, Outcome, Question,
    ResponseKind, Risk, State, Streamed, Target, ToolStatus,
};
use countersign_protocol::Json;
use countersign_protocol::aaep as driver;
use countersign_reference::aaep::{EventId, ReplyToken, SessionId};
use countersign_reference::time::Timestamp;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::names::{self, Names};

/// An event that was read.
pub(super) struct Read<'a> {
    pub event: Event,
    members: Members<'a>,
}

impl Read<'_> {
    /// A member that is a text; empty where there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        let text = self.members.get(name).and_then(Member::as_str);
        text.unwrap_or_default()
    }
}

/// The members of an event, by their names. There are few, and of two with the same name the last one counts.
struct Members<'a>(Vec<(Cow<'a, str>, Member<'a>)>);

/// A member: a text lies where it is written unless it has an escape.
enum Member<'a> {
    Text(Cow<'a, str>),
    Other(Value),
}

/// A name, which lies where it is written unless it has an escape.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads an event that goes to these subscriptions, or to all.
pub(super) fn read<'a>(
    event: &'a Json,
    to: Option<&[String]>,
    names: &mut Names,
) -> Result<Read<'a>, Malformed> {
    let members: Option<Members<'a>> = serde_json::from_str(event.as_str()).ok();
    let members = members.ok_or(Malformed::Envelope)?;
    let from = From(&members);
    let (name, critical, sequence) = from.envelope()?;
    // AAEP-EV-2
    let id = from.text("event_id").ok();
    let id = id.filter(|it| EventId::parse(it).is_ok());
    let session = from.text("session_id").ok();
    let session = session.filter(|it| SessionId::parse(it).is_ok());
    let (Some(id), Some(session)) = (id, session) else {
        return Err(Malformed::Identifier);
    };
    let event = Event {
        id: names.event_id(id),
        session: names.session(session),
        at: from.timestamp()?,
        sequence,
        critical,
        to: to.map(|to| to.iter().map(|it| names.subscription(it)).collect()),
        body: from.body(name, names)?,
    };
    Ok(Read { event, members })
}

impl Members<'_> {
    fn get(&self, name: &str) -> Option<&Member<'_>> {
        let mut from_last = self.0.iter().rev();
        let (_, member) = from_last.find(|(it, _)| it == name)?;
        Some(member)
    }
}

impl Member<'_> {
    fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// What is no text.
    const fn other(&self) -> Option<&Value> {
        match self {
            Self::Text(_) => None,
            Self::Other(value) => Some(value),
        }
    }

    fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        match self {
            Self::Text(text) => T::deserialize(BorrowedStrDeserializer::new(text)),
            Self::Other(value) => T::deserialize(value),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Member<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfMember)
    }
}

/// Reads a member.
struct OfMember;

impl<'de> Visitor<'de> for OfMember {
    type Value = Member<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Member<'de>, E> {
        Ok(Member::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Member<'de>, E> {
        Ok(Member::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, is: bool) -> Result<Member<'de>, E> {
        Ok(Member::Other(Value::from(is)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Member<'de>, E> {
        Ok(Member::Other(Value::from(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Member<'de>, E> {
        Ok(Member::Other(Value::from(number)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Member<'de>, E> {
        Ok(Member::Other(Value::from(number)))
    }

    fn visit_unit<E>(self) -> Result<Member<'de>, E> {
        Ok(Member::Other(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Member<'de>, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(Member::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Member<'de>, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(object)).map(Member::Other)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfObject).map(Members)
    }
}

/// Reads the members of an object.
struct OfObject;

impl<'de> Visitor<'de> for OfObject {
    type Value = Vec<(Cow<'de, str>, Member<'de>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::with_capacity(MEMBERS);
        while let Some((Name(name), member)) = object.next_entry()? {
            members.push((name, member));
        }
        Ok(members)
    }
}

/// Few events have more.
const MEMBERS: usize = 20;

/// The context of every event.
const CONTEXT: &str = "https://aaep-protocol.org/context/v1";
/// What stands before the name of a type of the protocol, in either form.
const TYPES: [&str; 2] = ["aaep:", "https://aaep-protocol.org/types/"];

/// The members of an event.
struct From<'a>(&'a Members<'a>);

/// A member that is none as its type has it.
type Wrong = Malformed;

impl<'a> From<'a> {
    // AAEP-EV-1: the six required fields, of the right type. The type, whether it is critical, and its number.
    fn envelope(&self) -> Result<(&'a str, bool, Option<i64>), Wrong> {
        let is_context = |value: &Value| value.as_str() == Some(CONTEXT);
        let contexts = self.0.get("@context").is_some_and(|member| match member {
            Member::Text(text) => text == CONTEXT,
            Member::Other(value) => value.as_array().is_some_and(|all| {
                all.first().is_some_and(is_context) && all.iter().all(Value::is_string)
            }),
        });
        let producer = self.0.get("producer").and_then(Member::other);
        let agent = producer.and_then(|it| it.get("agent_id"));
        let has_agent = agent
            .and_then(Value::as_str)
            .is_some_and(|it| !it.is_empty());
        let has_all = ["event_id", "session_id", "timestamp"]
            .iter()
            .all(|name| self.0.get(name).and_then(Member::as_str).is_some());
        let critical = match self.0.get("urgency").map(Member::as_str) {
            None | Some(Some("background" | "normal")) => false,
            Some(Some("critical")) => true,
            Some(_) => return Err(Malformed::Envelope),
        };
        let sequence = match self.0.get("sequence_number") {
            None => None,
            Some(number) => Some(whole(number).ok_or(Malformed::Envelope)?),
        };
        match self.0.get("type").and_then(Member::as_str) {
            Some(name) if contexts && has_agent && has_all => Ok((name, critical, sequence)),
            Some(_) | None => Err(Malformed::Envelope),
        }
    }

    // AAEP-EV-3: RFC 3339 with 0, 3 or 6 fractional digits, `Z` or an offset.
    fn timestamp(&self) -> Result<i64, Wrong> {
        let text = self.text("timestamp")?;
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let read = Timestamp::parse(text).ok();
        read.filter(|_| [0, 3, 6].contains(&digits))
            .map(Timestamp::millis)
            .ok_or(Malformed::Timestamp)
    }

    // AAEP-EV-5: the payload of the type. AAEP-EV-9: no other type is one of the protocol.
    fn body(&self, name: &str, names: &mut Names) -> Result<Body, Wrong> {
        let own = TYPES.iter().find_map(|before| name.strip_prefix(before));
        let Some(own) = own else {
            return Ok(Body::Other);
        };
        Ok(match own.strip_prefix("agent.").ok_or(Malformed::Type)? {
            "session.started" => {
                self.text("summary_normal")?;
                Body::Started
            }
            "session.completed" => {
                self.text("summary_normal")?;
                Body::Ended(Outcome::Completed)
            }
            "session.errored" => {
                self.is_one_of(
                    "error_category",
                    &["transient", "permanent", "requires_user", "unknown"],
                )?;
                self.text("summary_normal")?;
                Body::Ended(Outcome::Errored)
            }
            "session.cancelled" => {
                self.is_one_of("cancelled_by", &["user", "producer", "timeout", "system"])?;
                self.text("summary_normal")?;
                Body::Ended(Outcome::Cancelled)
            }
            "state.changed" => Body::StateChanged {
                from: state(self.text("from_state")?, names),
                to: state(self.text("to_state")?, names),
            },
            "progress.updated" => self.progress()?,
            "tool.invoked" => self.invocation(names)?,
            "tool.completed" => Body::ToolCompleted {
                tool: names.tool(self.text("tool")?),
                tool_call: self.optional("tool_call_id")?.map(|it| names.tool_call(it)),
                status: match self.typed("status")? {
                    driver::ToolStatus::Success => ToolStatus::Success,
                    driver::ToolStatus::Error => ToolStatus::Error,
                    driver::ToolStatus::Timeout => ToolStatus::Timeout,
                },
            },
            "output.streaming" => Body::OutputStreaming(Streamed {
                output: self.optional("output_id")?.map(|it| names.output_id(it)),
                chunk: names.counted(self.text("chunk")?),
                position: self.whole("position")?,
                complete: self.typed("complete")?,
            }),
            "handoff.requested" => Body::Handoff(Handed {
                reason: names.text(self.text("reason")?),
                target: match self.typed("target_kind")? {
                    driver::TargetKind::Human => Target::Human,
                    driver::TargetKind::SpecialistAgent => Target::SpecialistAgent,
                    driver::TargetKind::EscalationQueue => Target::EscalationQueue,
                },
                target_uri: self.optional("target_uri")?.map(|it| names.text(it)),
            }),
            "awaiting.confirmation" => self.question(names)?,
            "awaiting.clarification" => self.clarification(names)?,
            _ => return Err(Malformed::Type),
        })
    }

    fn progress(&self) -> Result<Body, Wrong> {
        let told = self.0.get("progress").and_then(Member::other);
        let told = told.and_then(Value::as_object);
        let told = told.is_some_and(|told| {
            ["percent", "step", "total_steps", "description"]
                .iter()
                .any(|name| told.contains_key(*name))
        });
        let left = match self.0.get("eta_ms") {
            None => None,
            Some(_) => Some(self.whole("eta_ms")?),
        };
        told.then_some(Body::Progress { left })
            .ok_or(Malformed::Payload)
    }

    fn invocation(&self, names: &mut Names) -> Result<Body, Wrong> {
        self.text("summary_normal")?;
        let args_summary = self.optional("args_summary")?;
        Ok(Body::ToolInvoked(Invocation {
            tool: names.tool(self.text("tool")?),
            tool_call: self.optional("tool_call_id")?.map(|it| names.tool_call(it)),
            args_summary: args_summary.map(|it| names.text(it)),
            risk: self.maybe("risk_level")?.map_or(Risk::Low, risk),
            irreversible: self.maybe("irreversible")?.unwrap_or(false),
        }))
    }

    fn question(&self, names: &mut Names) -> Result<Body, Wrong> {
        let allowed = self.maybe::<Vec<String>>("allowed_replies")?;
        if allowed.as_ref().is_some_and(|it| !is_list(it, 1, 32)) {
            return Err(Malformed::Payload);
        }
        Ok(Body::Question(Question {
            token: names.token(self.token()?),
            description: names.text(self.text("action")?),
            consequence: names.text(self.text("consequence")?),
            timeout_seconds: self.timeout()?,
            default: match self.typed("default_decision")? {
                driver::Decision::Accept => Decision::Accept,
                driver::Decision::Reject => Decision::Reject,
            },
            risk: self.maybe("risk_level")?.map(risk),
            irreversible: self.maybe("irreversible")?,
            allowed: allowed.as_deref().map(names::allowed),
        }))
    }

    fn clarification(&self, names: &mut Names) -> Result<Body, Wrong> {
        let kinds = self.maybe::<Vec<driver::ResponseKind>>("accepted_response_kinds")?;
        let choices = self.maybe::<Vec<driver::Choice>>("choices")?;
        let is_wrong = kinds.as_ref().is_some_and(|it| !is_list(it, 1, 4))
            || choices.as_ref().is_some_and(|it| !is_list(it, 2, 32));
        if is_wrong {
            return Err(Malformed::Payload);
        }
        let choice = |names: &mut Names, it: &driver::Choice| Choice {
            value: names.text(&it.value),
            label: names.text(&it.label),
        };
        Ok(Body::Clarification(Clarification {
            token: names.token(self.token()?),
            question: names.text(self.text("question")?),
            kinds: kinds.map(|it| it.into_iter().map(response_kind).collect()),
            choices: choices.map(|it| it.iter().map(|it| choice(names, it)).collect()),
            timeout_seconds: self.timeout()?,
            default: self.optional("default_response")?.map(|it| names.text(it)),
        }))
    }

    // AAEP-6.2-1, AAEP-6.2.1-1
    fn token(&self) -> Result<&'a str, Wrong> {
        let token = self.0.get("reply_token").and_then(Member::as_str);
        let token = token.filter(|it| ReplyToken::parse(it).is_ok());
        token.ok_or(Malformed::Token)
    }

    fn timeout(&self) -> Result<i64, Wrong> {
        let seconds = self.whole("timeout_seconds")?;
        let is_one = (1..=86_400).contains(&seconds);
        is_one.then_some(seconds).ok_or(Malformed::Payload)
    }

    fn text(&self, name: &str) -> Result<&'a str, Wrong> {
        self.optional(name)?.ok_or(Malformed::Payload)
    }

    fn optional(&self, name: &str) -> Result<Option<&'a str>, Wrong> {
        let value = self.0.get(name);
        value
            .map(|value| value.as_str().ok_or(Malformed::Payload))
            .transpose()
    }

    fn whole(&self, name: &str) -> Result<i64, Wrong> {
        self.0.get(name).and_then(whole).ok_or(Malformed::Payload)
    }

    fn is_one_of(&self, name: &str, all: &[&str]) -> Result<(), Wrong> {
        let is_one = all.contains(&self.text(name)?);
        is_one.then_some(()).ok_or(Malformed::Payload)
    }

    fn typed<T: DeserializeOwned>(&self, name: &str) -> Result<T, Wrong> {
        self.maybe(name)?.ok_or(Malformed::Payload)
    }

    fn maybe<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Wrong> {
        let member = self.0.get(name);
        member
            .map(|member| member.read().map_err(|_| Malformed::Payload))
            .transpose()
    }
}

/// A whole number that is none below 0, also where it is written with a point, or as a text because it is large.
fn whole(member: &Member<'_>) -> Option<i64> {
    let number = match member {
        Member::Text(text) => text.parse().ok(),
        Member::Other(value) => value.as_i64().or_else(|| {
            let double = value.as_f64().filter(|it| it.fract() == 0.0)?;
            format!("{double:.0}").parse().ok()
        }),
    };
    number.filter(|it| *it >= 0)
}

/// So many, each once.
fn is_list<T: PartialEq>(list: &[T], least: usize, most: usize) -> bool {
    let is_new = |(place, it): (usize, &T)| !list[..place].contains(it);
    (least..=most).contains(&list.len()) && list.iter().enumerate().all(is_new)
}

fn state(name: &str, names: &mut Names) -> State {
    match name {
        "idle" => State::Idle,
        "thinking" => State::Thinking,
        "calling_tool" => State::CallingTool,
        "writing_output" => State::WritingOutput,
        "awaiting_input" => State::AwaitingInput,
        "deciding" => State::Deciding,
        "handing_off" => State::HandingOff,
        other => State::Other(names.state(other)),
    }
}

const fn risk(level: driver::RiskLevel) -> Risk {
    match level {
        driver::RiskLevel::Low => Risk::Low,
        driver::RiskLevel::Medium => Risk::Medium,
        driver::RiskLevel::High => Risk::High,
    }
}

const fn response_kind(kind: driver::ResponseKind) -> ResponseKind {
    match kind {
        driver::ResponseKind::Freetext => ResponseKind::Freetext,
        driver::ResponseKind::YesNo => ResponseKind::YesNo,
        driver::ResponseKind::MultipleChoice => ResponseKind::MultipleChoice,
        driver::ResponseKind::Numeric => ResponseKind::Numeric,
    }
}
