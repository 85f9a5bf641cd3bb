//! `confirmation.reply` as a record shows it, and whether it keeps to its schema.
//!
//! A reply that does not keep to the schema is no fault of the stream: it comes from whoever sent it, and the producer
//! has to ignore it (AAEP-6.3.4-1, AAEP-6.3.4-7).

use serde_json::{Map, Value};

use super::finding::Place;
use super::record::Decision;
use super::time::Timestamp;

/// One reply.
#[derive(Debug)]
pub struct Reply {
    /// Where it stands.
    pub place: Place,
    /// When the recorder sent or logged it.
    pub received: Option<Timestamp>,
    /// What the producer's transport answered.
    pub http_status: Option<u64>,
    /// What it says, if it keeps to the schema.
    pub content: Option<ReplyContent>,
}

/// A reply that keeps to the schema, but for decisions of one's own.
#[derive(Debug)]
pub struct ReplyContent {
    /// `reply_token`.
    pub token: String,
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

/// Reads a message of type `confirmation.reply`.
pub fn read(
    message: &Map<String, Value>,
    place: &Place,
    received: Option<Timestamp>,
    http_status: Option<u64>,
) -> Reply {
    Reply {
        place: place.clone(),
        received,
        http_status,
        content: content(message),
    }
}

fn content(message: &Map<String, Value>) -> Option<ReplyContent> {
    // AAEP-REPLY-11: no other property.
    if !message.keys().all(|key| PROPERTIES.contains(&key.as_str())) {
        return None;
    }
    let text = |name: &str| message.get(name).and_then(Value::as_str);
    // AAEP-REPLY-3 and AAEP-REPLY-5.
    let token = text("reply_token").filter(|token| is_identifier(token, "rpl_"))?;
    text("subscription_id").filter(|id| is_identifier(id, "sub_"))?;
    let optional_fits = |name: &str, fits: fn(&Value) -> bool| message.get(name).is_none_or(fits);
    let fits = optional_fits("decided_by", |value| has_characters(value, 256))
        && optional_fits("decision_rationale", |value| has_characters(value, 4096))
        && optional_fits("modified_action", Value::is_object)
        && optional_fits("correlation_id", Value::is_string);
    let answer = match text("decision")? {
        "accept" => Answer::Plain(Decision::Accept),
        "reject" => Answer::Plain(Decision::Reject),
        word => Answer::Custom(word.to_owned()),
    };
    fits.then_some(ReplyContent {
        token: token.to_owned(),
        answer,
        modified: message.contains_key("modified_action"),
        decided: Timestamp::parse(text("timestamp")?)?,
    })
}

const PROPERTIES: [&str; 9] = [
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

fn is_identifier(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        (1..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn has_characters(value: &Value, most: usize) -> bool {
    value
        .as_str()
        .is_some_and(|text| (1..=most).contains(&text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keeps_to_schema(change: impl FnOnce(&mut Map<String, Value>)) -> bool {
        let Value::Object(mut reply) = json!({
            "type": "confirmation.reply", "reply_token": "rpl_a", "decision": "accept",
            "subscription_id": "sub_a", "timestamp": "2026-05-24T14:22:24Z",
        }) else {
            unreachable!("the literal is an object")
        };
        change(&mut reply);
        content(&reply).is_some()
    }

    fn with(name: &str, value: Value) -> bool {
        keeps_to_schema(|reply| {
            reply.insert(name.to_owned(), value);
        })
    }

    /// AAEP-REPLY-1, AAEP-REPLY-11: the required properties and no other.
    #[test]
    fn a_reply_needs_its_five_properties_and_takes_no_other() {
        assert!(keeps_to_schema(|_| ()));
        for name in ["reply_token", "decision", "subscription_id", "timestamp"] {
            assert!(!keeps_to_schema(|reply| drop(reply.remove(name))), "{name}");
        }
        assert!(!with("session_id", json!("sess_a")));
    }

    /// AAEP-REPLY-3, AAEP-REPLY-7: limits in threes.
    #[test]
    fn lengths_are_counted_below_at_and_beyond_their_limits() {
        for (length, fits) in [(0, false), (1, true), (64, true), (65, false)] {
            assert_eq!(
                with("reply_token", json!(format!("rpl_{}", "a".repeat(length)))),
                fits,
                "{length}"
            );
        }
        for (length, fits) in [(0, false), (1, true), (256, true), (257, false)] {
            assert_eq!(
                with("decided_by", json!("é".repeat(length))),
                fits,
                "{length}"
            );
        }
        assert!(!with("reply_token", json!("rpl_a\n")));
    }
}
