//! Replies as a record shows them, and whether they keep to their schema.
//!
//! A reply that does not keep to the schema is no fault of the stream: it comes from whoever sent it, and the producer
//! has to ignore it (AAEP-6.3.4-1, AAEP-6.3.4-7).

use super::finding::Here;
use super::record::Decision;
use super::record::fields::{all_text, codes, has_characters, is_identifier, shape};
use super::time::Timestamp;
use crate::json::tree::{Object, Value};

/// One reply.
#[derive(Debug)]
pub struct Reply<'a> {
    /// Where it stands.
    pub place: Here<'a>,
    /// When the recorder sent or logged it.
    pub received: Option<Timestamp>,
    /// What is known of its sender.
    pub sender: Sender,
    /// What the producer's transport answered.
    pub http_status: Option<u64>,
    /// Every word of the body of that answer, lower case.
    pub answer: String,
    /// The codes in it as words: see [`codes`].
    pub codes: String,
    /// What all bodies share that differ in ids, times and long numbers alone; `None` where no body is recorded.
    pub body: Option<u64>,
    /// The field for which it breaks the schema, and what stands there.
    pub at_fault: Option<(String, Option<String>)>,
    /// `timestamp` as it is written.
    pub timestamp: Option<&'a str>,
    /// `reply_token`, whatever it looks like.
    pub token: Option<&'a str>,
    /// Whether it may be meant to let the action run: it does not say that it rejects it.
    pub asks: bool,
    /// What it says; if it does not keep to the schema, the first clause that it breaks.
    pub content: Content,
    /// Every clause of its schema that it breaks, and by which property; by none of its own where there is no name for it.
    pub breaks: Vec<Broken>,
    /// `decision`, where it is a word.
    pub decision: Option<&'a str>,
    /// Whether there is a `modified_action`, whatever it looks like.
    pub modifies: bool,
}

/// What whoever has written the record knows of the sender of a reply: `sender` of the wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// `known`: it is authenticated, and its subscription is open.
    Known,
    /// Nothing is said: it counts as known, but nobody is accused for that alone.
    Unsaid,
    /// `stranger`: it has shown nothing to be authenticated by, or the subscription that it names is not open.
    Stranger,
    /// `untold`: whether its subscription is open does not show, so that the reply may count and may not.
    Untold,
}

/// What a record says of the sending of a message.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
    /// When it was received.
    pub received: Option<Timestamp>,
    /// What is known of the sender.
    pub sender: Sender,
    /// What the transport answered.
    pub http_status: Option<u64>,
    /// The body of that answer.
    pub http_body: Option<Value<'a>>,
}

/// The two kinds of reply.
#[derive(Debug)]
pub enum Content {
    /// `confirmation.reply`.
    Confirmation(Result<ReplyContent, Broken>),
    /// `clarification.reply`.
    Clarification(Result<ClarificationContent, Broken>),
}

/// A confirmation reply that keeps to the schema, but for decisions of one's own.
#[derive(Debug)]
pub struct ReplyContent {
    /// `decision`.
    pub answer: Answer,
    /// Whether there is a `modified_action`.
    pub modified: bool,
    /// `timestamp`: when the user decided, by the sender's clock.
    pub decided: Timestamp,
}

/// `decision`.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// One of the two of the protocol.
    Plain(Decision),
    /// Another word: the schema has none, and yet `allowed_replies` may list it.
    Custom(String),
}

impl Answer {
    /// The word on the wire.
    pub fn word(&self) -> &str {
        match self {
            Self::Plain(Decision::Accept) => "accept",
            Self::Plain(Decision::Reject) => "reject",
            Self::Custom(word) => word,
        }
    }
}

/// A clarification reply that keeps to the schema.
#[derive(Debug)]
pub struct ClarificationContent {
    /// `response`.
    pub response: Response,
    /// `timestamp`.
    pub decided: Timestamp,
}

/// `response`.
#[derive(Debug, PartialEq, Eq)]
pub enum Response {
    /// A string: free text or a choice.
    Text(String),
    /// True or false.
    YesNo,
    /// A number.
    Number,
}

/// A clause of the schema, and the property for which a reply breaks it; empty where that is none of the schema.
pub type Broken = (&'static str, &'static str);

/// Reads a message of type `confirmation.reply` or `clarification.reply`.
pub fn read<'a>(message: Object<'a>, place: Here<'a>, sent: Sent<'_>) -> Reply<'a> {
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    let mut breaks = Vec::new();
    let content = if text("type") == Some("clarification.reply") {
        Content::Clarification(clarification(message, &mut breaks))
    } else {
        Content::Confirmation(confirmation(message, &mut breaks))
    };
    let at_fault = match &content {
        Content::Confirmation(Err((clause, _))) => at_fault(message, clause, &CONFIRMATION),
        Content::Clarification(Err((clause, _))) => at_fault(message, clause, &CLARIFICATION),
        Content::Confirmation(Ok(_)) | Content::Clarification(Ok(_)) => None,
    };
    Reply {
        place,
        received: sent.received,
        sender: sent.sender,
        http_status: sent.http_status,
        answer: sent.http_body.map(all_text).unwrap_or_default(),
        codes: sent.http_body.map(codes).unwrap_or_default(),
        body: sent.http_body.map(shape),
        token: text("reply_token"),
        asks: text("decision") != Some(Answer::Plain(Decision::Reject).word()),
        at_fault,
        timestamp: text("timestamp"),
        content,
        breaks,
        decision: text("decision"),
        modifies: message.contains_key("modified_action"),
    }
}

/// Reads a message that is no JSON: a reply, if a token stands somewhere in it.
pub fn read_broken<'a>(text: &'a str, place: Here<'a>, sent: Sent<'_>) -> Reply<'a> {
    let token = text.find("rpl_").map(|from| {
        let random = &text[from + "rpl_".len()..];
        let end = random.find(|it: char| !it.is_ascii_alphanumeric());
        let length = "rpl_".len() + end.unwrap_or(random.len());
        &text[from..from + length]
    });
    Reply {
        place,
        received: sent.received,
        sender: sent.sender,
        http_status: sent.http_status,
        answer: sent.http_body.map(all_text).unwrap_or_default(),
        codes: sent.http_body.map(codes).unwrap_or_default(),
        body: sent.http_body.map(shape),
        token,
        asks: !text.contains(Answer::Plain(Decision::Reject).word()),
        at_fault: None,
        timestamp: None,
        content: Content::Confirmation(Err(NOT_JSON)),
        breaks: vec![NOT_JSON],
        decision: None,
        modifies: false,
    }
}

/// The clause that a reply breaks which is no JSON.
pub const NOT_JSON: Broken = ("AAEP-6.3.4-1", "");

/// The properties of a confirmation.reply, those that have to be there first.
pub const CONFIRMATION: [&str; 9] = [
    "type",
    "reply_token",
    "decision",
    "subscription_id",
    "timestamp",
    "decided_by",
    "decision_rationale",
    "modified_action",
    "correlation_id",
];

/// The same of a clarification.reply.
pub const CLARIFICATION: [&str; 8] = [
    "type",
    "reply_token",
    "response",
    "subscription_id",
    "timestamp",
    "decided_by",
    "confidence",
    "correlation_id",
];

/// How many of them have to be there.
const REQUIRED: usize = 5;

/// The property for which a reply breaks that clause, and what stands there.
fn at_fault(
    message: Object<'_>,
    clause: &str,
    properties: &[&str],
) -> Option<(String, Option<String>)> {
    let of_clause = match clause {
        "AAEP-REPLY-3" => Some("reply_token"),
        "AAEP-REPLY-4" => Some("decision"),
        "AAEP-REPLY-5" => Some("subscription_id"),
        "AAEP-REPLY-6" => Some("timestamp"),
        "AAEP-REPLY-7" => Some("decided_by"),
        "AAEP-REPLY-8" => Some("decision_rationale"),
        "AAEP-REPLY-9" => Some("modified_action"),
        "AAEP-REPLY-10" => Some("correlation_id"),
        "AAEP-6.5.2-1" => Some("response"),
        _ => None,
    };
    let own = || message.keys().find(|key| !properties.contains(key));
    let required = &properties[..REQUIRED];
    let missing = || {
        required
            .iter()
            .copied()
            .find(|it| !message.contains_key(it))
    };
    let name = of_clause.or_else(own).or_else(missing)?;
    let value = message.get(name).and_then(Value::as_str);
    Some((name.to_owned(), value.map(str::to_lowercase)))
}

/// Notes in `breaks` every clause that the reply breaks; the first is the error.
fn confirmation<'m>(message: Object<'m>, breaks: &mut Vec<Broken>) -> Result<ReplyContent, Broken> {
    let own = message.keys().any(|key| !CONFIRMATION.contains(&key));
    breaks.extend(own.then_some(("AAEP-REPLY-11", "")));
    let decided = common(message, breaks);
    let fits = |name: &str, fits: fn(Value<'m>) -> bool| message.get(name).is_none_or(fits);
    let optional = [
        (
            "AAEP-REPLY-7",
            "decided_by",
            fits("decided_by", |it| has_characters(it, 256)),
        ),
        (
            "AAEP-REPLY-8",
            "decision_rationale",
            fits("decision_rationale", |it| has_characters(it, 4096)),
        ),
        (
            "AAEP-REPLY-9",
            "modified_action",
            fits("modified_action", Value::is_object),
        ),
        (
            "AAEP-REPLY-10",
            "correlation_id",
            fits("correlation_id", Value::is_string),
        ),
    ];
    let broken = optional.into_iter().filter(|(_, _, fits)| !fits);
    breaks.extend(broken.map(|(clause, name, _)| (clause, name)));
    let answer = match message.get("decision").map(Value::as_str) {
        Some(Some("accept")) => Ok(Answer::Plain(Decision::Accept)),
        Some(Some("reject")) => Ok(Answer::Plain(Decision::Reject)),
        Some(Some(word)) => Ok(Answer::Custom(word.to_owned())),
        Some(None) => Err(("AAEP-REPLY-4", "decision")),
        None => Err(("AAEP-REPLY-1", "decision")),
    };
    breaks.extend(answer.as_ref().err());
    if let Some(first) = breaks.first() {
        return Err(*first);
    }
    Ok(ReplyContent {
        answer: answer?,
        modified: message.contains_key("modified_action"),
        decided: decided?,
    })
}

/// AAEP-6.5.1-2, AAEP-6.5.1-4, AAEP-6.5.1-5: it has the token, the subscription and a time. AAEP-6.5.3-1, AAEP-6.5.3-2,
/// AAEP-6.5.3-3: who decided, how sure they were and what it belongs to may stand beside them, and nothing else.
fn clarification<'m>(
    message: Object<'m>,
    breaks: &mut Vec<Broken>,
) -> Result<ClarificationContent, Broken> {
    let fits = |name: &str, fits: fn(Value<'m>) -> bool| message.get(name).is_none_or(fits);
    let in_range: fn(Value<'m>) -> bool =
        |it| it.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it));
    let keeps = message.keys().all(|key| CLARIFICATION.contains(&key))
        && fits("decided_by", |it| has_characters(it, 256))
        && fits("confidence", in_range)
        && fits("correlation_id", Value::is_string);
    breaks.extend((!keeps).then_some(("AAEP-EV-12", "")));
    let decided = common(message, &mut Vec::new()).map_err(|(_, name)| ("AAEP-6.5.5-1", name));
    breaks.extend(decided.err());
    let response = match message.get("response") {
        Some(Value::String(text)) => Ok(Response::Text(text.to_owned())),
        Some(Value::Bool(_)) => Ok(Response::YesNo),
        Some(Value::Number(_)) => Ok(Response::Number),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) => Err(("AAEP-6.5.2-1", "response")),
        None => Err(("AAEP-6.5.1-3", "response")),
    };
    breaks.extend(response.as_ref().err());
    if let Some(first) = breaks.first() {
        return Err(*first);
    }
    Ok(ClarificationContent {
        response: response?,
        decided: decided?,
    })
}

/// What both kinds have: token, subscription, timestamp.
fn common(message: Object<'_>, breaks: &mut Vec<Broken>) -> Result<Timestamp, Broken> {
    let text = |name: &'static str, clause| match message.get(name) {
        Some(value) => value.as_str().ok_or((clause, name)),
        None => Err(("AAEP-REPLY-1", name)),
    };
    let identifier = |name: &'static str, prefix: &str, clause| {
        let keeps = text(name, clause).map(|it| is_identifier(it, prefix));
        keeps.and_then(|keeps| keeps.then_some(()).ok_or((clause, name)))
    };
    let time = text("timestamp", "AAEP-REPLY-6")
        .and_then(|it| Timestamp::parse(it).ok_or(("AAEP-REPLY-6", "timestamp")));
    // AAEP-REPLY-3, AAEP-REPLY-5, AAEP-REPLY-6.
    let broken = [
        identifier("reply_token", "rpl_", "AAEP-REPLY-3"),
        identifier("subscription_id", "sub_", "AAEP-REPLY-5"),
        time.map(|_| ()),
    ];
    let broken: Vec<_> = broken.into_iter().filter_map(Result::err).collect();
    breaks.extend(&broken);
    broken.first().map_or(time, |first| Err(*first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::tree;
    use serde_json::{Map, Value, json};

    fn read<T>(reply: Map<String, Value>, read: impl FnOnce(Object<'_>) -> T) -> T {
        let text = Value::Object(reply).to_string();
        let mut room = tree::Room::default();
        let reply = tree::parse(&text, &mut room).expect("JSON");
        read(reply.value().as_object().expect("an object"))
    }

    fn breaks(change: impl FnOnce(&mut Map<String, Value>)) -> Option<&'static str> {
        let Value::Object(mut reply) = json!({
            "type": "confirmation.reply", "reply_token": "rpl_a", "decision": "accept",
            "subscription_id": "sub_a", "timestamp": "2026-05-24T14:22:24Z",
        }) else {
            unreachable!("the literal is an object")
        };
        change(&mut reply);
        read(reply, |reply| {
            let broken = confirmation(reply, &mut Vec::new()).err();
            broken.map(|(clause, _)| clause)
        })
    }

    fn with(name: &str, value: Value) -> Option<&'static str> {
        breaks(|reply| {
            reply.insert(name.to_owned(), value);
        })
    }

    /// AAEP-REPLY-1, AAEP-REPLY-11: the required properties and no other.
    #[test]
    fn a_reply_needs_its_five_properties_and_takes_no_other() {
        assert_eq!(breaks(|_| ()), None);
        for name in ["reply_token", "decision", "subscription_id", "timestamp"] {
            assert_eq!(
                breaks(|reply| drop(reply.remove(name))),
                Some("AAEP-REPLY-1"),
                "{name}"
            );
        }
        assert_eq!(with("session_id", json!("sess_a")), Some("AAEP-REPLY-11"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut found = Vec::new();
        let reply =
            json!({"type": "confirmation.reply", "reply_token": "rpl_a", "subscription_id": 1});
        let Value::Object(reply) = reply else {
            unreachable!("the literal is an object")
        };
        read(reply, |reply| confirmation(reply, &mut found).err());
        let expected = [
            ("AAEP-REPLY-5", "subscription_id"),
            ("AAEP-REPLY-1", "timestamp"),
            ("AAEP-REPLY-1", "decision"),
        ];
        assert_eq!(found, expected);
    }

    /// AAEP-REPLY-4, AAEP-REPLY-5, AAEP-REPLY-6, AAEP-REPLY-8, AAEP-REPLY-9, AAEP-REPLY-10: each property of its type.
    #[test]
    fn a_reply_is_told_from_one_that_breaks_a_property() {
        for (name, value, clause) in [
            ("decision", json!(1), "AAEP-REPLY-4"),
            ("subscription_id", json!("nobody"), "AAEP-REPLY-5"),
            ("timestamp", json!("yesterday"), "AAEP-REPLY-6"),
            ("decision_rationale", json!(""), "AAEP-REPLY-8"),
            ("modified_action", json!([]), "AAEP-REPLY-9"),
            ("correlation_id", json!(null), "AAEP-REPLY-10"),
        ] {
            assert_eq!(with(name, value), Some(clause), "{name}");
        }
    }

    /// AAEP-REPLY-3, AAEP-REPLY-7: limits in threes.
    #[test]
    fn lengths_are_counted_below_at_and_beyond_their_limits() {
        for (length, fits) in [(0, false), (1, true), (64, true), (65, false)] {
            assert_eq!(
                with("reply_token", json!(format!("rpl_{}", "a".repeat(length)))),
                (!fits).then_some("AAEP-REPLY-3"),
                "{length}"
            );
        }
        for (length, fits) in [(0, false), (1, true), (256, true), (257, false)] {
            assert_eq!(
                with("decided_by", json!("é".repeat(length))),
                (!fits).then_some("AAEP-REPLY-7"),
                "{length}"
            );
        }
        assert_eq!(with("reply_token", json!("rpl_a\n")), Some("AAEP-REPLY-3"));
    }

    /// What is read of a clarification reply with one property changed or left out.
    fn response(name: &str, value: Option<Value>) -> Result<Response, &'static str> {
        let Value::Object(mut reply) = json!({
            "type": "clarification.reply", "reply_token": "rpl_a", "response": "67",
            "subscription_id": "sub_a", "timestamp": "2026-05-24T14:22:24Z",
        }) else {
            unreachable!("the literal is an object")
        };
        match value {
            Some(value) => drop(reply.insert(name.to_owned(), value)),
            None => drop(reply.remove(name)),
        }
        read(reply, |reply| {
            let read = clarification(reply, &mut Vec::new());
            read.map(|it| it.response).map_err(|(clause, _)| clause)
        })
    }

    /// AAEP-6.5.1-3, AAEP-6.5.2-1, AAEP-EV-12: a clarification reply has a schema of its own.
    #[test]
    fn a_clarification_reply_keeps_to_its_own_schema() {
        assert_eq!(response("response", Some(json!(67))), Ok(Response::Number));
        assert_eq!(response("response", Some(json!(true))), Ok(Response::YesNo));
        assert_eq!(
            response("confidence", Some(json!(1))),
            Ok(Response::Text("67".to_owned()))
        );
        assert_eq!(response("response", Some(json!({}))), Err("AAEP-6.5.2-1"));
        assert_eq!(response("response", None), Err("AAEP-6.5.1-3"));
        assert_eq!(response("confidence", Some(json!(1.1))), Err("AAEP-EV-12"));
        assert_eq!(
            response("decision", Some(json!("accept"))),
            Err("AAEP-EV-12")
        );
    }

    /// AAEP-6.5.1-2, AAEP-6.5.1-4, AAEP-6.5.1-5: token, subscription and time have to be there, and to be what they are.
    #[test]
    fn a_clarification_reply_needs_what_every_reply_needs() {
        for name in ["reply_token", "subscription_id", "timestamp"] {
            for value in [None, Some(json!("other")), Some(json!(1))] {
                assert_eq!(response(name, value), Err("AAEP-6.5.5-1"), "{name}");
            }
        }
    }

    /// AAEP-6.5.3-1, AAEP-6.5.3-2, AAEP-6.5.3-3: three properties may be added, within their bounds.
    #[test]
    fn a_clarification_reply_may_say_who_decided_how_surely_and_of_what() {
        for (name, fits, does_not) in [
            ("decided_by", json!("user"), json!("")),
            ("confidence", json!(0), json!(-0.1)),
            ("confidence", json!(1), json!(1.1)),
            ("correlation_id", json!("c"), json!(7)),
        ] {
            assert!(response(name, Some(fits)).is_ok(), "{name}");
            assert_eq!(response(name, Some(does_not)), Err("AAEP-EV-12"), "{name}");
        }
    }
}
