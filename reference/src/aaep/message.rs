//! The `confirmation.reply` message: from bytes to a typed value, to the letter of its schema.
//!
//! The one thing to know: this is the only place where a reply is parsed. Whoever holds a [`ConfirmationReply`]
//! holds the proof that the bytes conform. The schema limits neither the length nor the depth of a message, and neither does
//! this reader: a rejection that is ignored for its size would let a default accept. What a transport does not let through
//! was not received.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

use super::vocabulary::{Decision, InvalidIdentifier, ReplyToken, SubscriptionId};
use crate::json::{self, Member, NotJson};
use crate::time::{DecidedAt, Timestamp};

/// A reply that conforms to the schema (AAEP-REPLY-1). Whether it has any effect is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmationReply {
    /// The token of the question, echoed.
    pub reply_token: ReplyToken,
    /// What the user decided.
    pub decision: Decision,
    /// The subscription that the reply says it comes on.
    pub subscription_id: SubscriptionId,
    /// When the user decided, as the sender claims.
    pub decided_at: DecidedAt,
    /// Who decided, 1 to 256 characters.
    pub decided_by: Option<String>,
    /// Why, 1 to 4096 characters.
    pub decision_rationale: Option<String>,
    /// Whether the reply carries a modified action. What it says is not kept: modifications are not supported.
    pub has_modified_action: bool,
    /// A trace identifier.
    pub correlation_id: Option<String>,
}

/// A number as it is written in JSON, to the digit: no double has to be next to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenNumber(Arc<str>);

impl WrittenNumber {
    /// The number in the grammar of JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// In JSON the number itself, as it was written.
impl Serialize for WrittenNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Why bytes are no `confirmation.reply`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes are not one JSON value.
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// The JSON value is of another type.
    #[error("not an object")]
    NotAnObject,
    /// A required property is not there.
    #[error("property {0} is missing")]
    Missing(&'static str),
    /// A property has a value that the schema does not allow.
    #[error("property {property} must be {expected}")]
    Invalid {
        /// Which.
        property: &'static str,
        /// What it should have been, in words.
        expected: &'static str,
    },
    /// There is a property that the schema does not know.
    #[error("unknown property {0:?}")]
    Unknown(String),
}

impl ConfirmationReply {
    /// Reads a message as it was received, with at most some twenty bytes of memory for each of its own.
    ///
    /// # Errors
    ///
    /// [`Malformed`] names the first way found in which the bytes do not conform (AAEP-6.3.4-1).
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        // AAEP-REPLY-1: an object that has the five required properties.
        let Some(members) = json::members(message)? else {
            return Err(Malformed::NotAnObject);
        };
        let mut members = Members(members);
        // AAEP-REPLY-2, AAEP-6.3.1-1: the type is a constant.
        members.required("type", "the string confirmation.reply", |text| {
            (text == "confirmation.reply").then_some(())
        })?;
        let reply = Self {
            // AAEP-REPLY-3
            reply_token: members.identifier("reply_token", ReplyToken::parse)?,
            // AAEP-REPLY-4
            decision: members.required("decision", "accept or reject", |text| decision(&text))?,
            // AAEP-REPLY-5
            subscription_id: members.identifier("subscription_id", SubscriptionId::parse)?,
            // AAEP-REPLY-6: the format is asserted, not an annotation.
            decided_at: members.required("timestamp", "an RFC 3339 date-time", |text| {
                Timestamp::parse(&text).ok().map(DecidedAt::claimed)
            })?,
            // AAEP-REPLY-7
            decided_by: members.optional(
                "decided_by",
                "a string of 1 to 256 characters",
                |text| (1..=256).contains(&text.chars().count()).then_some(text),
            )?,
            // AAEP-REPLY-8
            decision_rationale: members.optional(
                "decision_rationale",
                "a string of 1 to 4096 characters",
                |text| (1..=4096).contains(&text.chars().count()).then_some(text),
            )?,
            // AAEP-REPLY-9
            has_modified_action: members.optional_object("modified_action")?,
            // AAEP-REPLY-10
            correlation_id: members.optional("correlation_id", "a string", Some)?,
        };
        // AAEP-REPLY-11: nothing else.
        match members.0.pop_first() {
            None => Ok(reply),
            Some((name, _)) => Err(Malformed::Unknown(name)),
        }
    }
}

fn decision(text: &str) -> Option<Decision> {
    [Decision::Accept, Decision::Reject]
        .into_iter()
        .find(|decision| decision.as_str() == text)
}

/// The members of the object that have not been read yet.
struct Members(BTreeMap<String, Member>);

impl Members {
    /// Takes out a text that must be there.
    fn required<T>(
        &mut self,
        property: &'static str,
        expected: &'static str,
        read: impl FnOnce(String) -> Option<T>,
    ) -> Result<T, Malformed> {
        self.optional(property, expected, read)?
            .ok_or(Malformed::Missing(property))
    }

    /// Takes out an identifier that must be there.
    fn identifier<T>(
        &mut self,
        property: &'static str,
        read: impl FnOnce(&str) -> Result<T, InvalidIdentifier>,
    ) -> Result<T, Malformed> {
        let text = self.required(property, "a string", Some)?;
        read(&text)
            .map_err(|InvalidIdentifier { expected }| Malformed::Invalid { property, expected })
    }

    /// Takes out a text that may be absent. A null is not absent, it is of the wrong type.
    fn optional<T>(
        &mut self,
        property: &'static str,
        expected: &'static str,
        read: impl FnOnce(String) -> Option<T>,
    ) -> Result<Option<T>, Malformed> {
        let invalid = Malformed::Invalid { property, expected };
        match self.0.remove(property) {
            None => Ok(None),
            Some(Member::String(text)) => read(text).map(Some).ok_or(invalid),
            Some(Member::Object | Member::Other) => Err(invalid),
        }
    }

    /// Takes out an object that may be absent, and tells whether it was there.
    fn optional_object(&mut self, property: &'static str) -> Result<bool, Malformed> {
        match self.0.remove(property) {
            None => Ok(false),
            Some(Member::Object) => Ok(true),
            Some(Member::String(_) | Member::Other) => Err(Malformed::Invalid {
                property,
                expected: "an object",
            }),
        }
    }
}
