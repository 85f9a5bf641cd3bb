//! The replies, `confirmation.reply` and `clarification.reply`: from bytes to a typed value, to the letter of their schemas.
//!
//! The one thing to know: this is the only place where a reply is parsed. Whoever holds a [`ConfirmationReply`] or a
//! [`ClarificationReply`] holds the proof that the bytes conform. The schemas limit neither the length nor the depth of a message,
//! and neither does this reader: a rejection that is ignored for its size would let a default accept. What a transport does not
//! let through was not received.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::interface::UserResponse;
use super::vocabulary::{Decision, InvalidIdentifier, ReplyToken, SubscriptionId};
use crate::json::{self, Member, NotJson};
use crate::number;
use crate::text::Text;
use crate::time::{DecidedAt, Timestamp};

/// A reply of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a confirmation.
    Confirmation(ConfirmationReply),
    /// To a clarification.
    Clarification(ClarificationReply),
}

/// A `confirmation.reply` that conforms to its schema (AAEP-REPLY-1). Whether it has any effect is another question.
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
    pub decided_by: Option<Text>,
    /// Why, 1 to 4096 characters.
    pub decision_rationale: Option<Text>,
    /// What the user makes of the action, where the reply says so.
    pub modified_action: Option<WrittenObject>,
    /// A trace identifier.
    pub correlation_id: Option<Text>,
}

/// A `clarification.reply` that conforms to its schema (AAEP-EV-12). Whether it has any effect is another question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClarificationReply {
    /// The token of the question, echoed.
    pub reply_token: ReplyToken,
    /// What the user answered.
    pub response: UserResponse,
    /// The subscription that the reply says it comes on.
    pub subscription_id: SubscriptionId,
    /// When the user answered, as the sender claims.
    pub decided_at: DecidedAt,
    /// Who answered, 1 to 256 characters.
    pub decided_by: Option<Text>,
    /// How sure the subscriber is of the answer, from 0 to 1.
    pub confidence: Option<WrittenNumber>,
    /// A trace identifier.
    pub correlation_id: Option<Text>,
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

/// An object as it is written in JSON: its numbers to the digit, its names in their order. White space between its parts says
/// nothing and is left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WrittenObject(Arc<str>);

impl WrittenObject {
    /// An object that was read as one.
    fn read(written: &str) -> Self {
        let (mut in_text, mut is_escaped) = (false, false);
        let says_something = |character: &char| {
            let is_kept = in_text || !matches!(character, ' ' | '\t' | '\n' | '\r');
            in_text ^= *character == '"' && !is_escaped;
            is_escaped = in_text && *character == '\\' && !is_escaped;
            is_kept
        };
        let text: String = written.chars().filter(says_something).collect();
        Self(text.into())
    }

    /// The object in the grammar of JSON.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// In JSON the object itself, as it was written.
impl Serialize for WrittenObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw = RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WrittenObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        match json::members(raw.get().as_bytes()) {
            Ok(Some(_)) => Ok(Self::read(raw.get())),
            Ok(None) => Err(D::Error::custom(Malformed::NotAnObject)),
            Err(not_json) => Err(D::Error::custom(not_json)),
        }
    }
}

/// Why bytes are no reply.
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

impl Reply {
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
        let members = Members(members);
        // AAEP-6.3.1-1, AAEP-6.5.1-1: each kind has its own schema.
        if members.is_clarification() {
            ClarificationReply::read(members).map(Self::Clarification)
        } else {
            ConfirmationReply::read(members).map(Self::Confirmation)
        }
    }

    /// The token that it echoes.
    pub fn reply_token(&self) -> &ReplyToken {
        match self {
            Self::Confirmation(reply) => &reply.reply_token,
            Self::Clarification(reply) => &reply.reply_token,
        }
    }

    /// The subscription that it says it comes on.
    pub fn subscription_id(&self) -> &SubscriptionId {
        match self {
            Self::Confirmation(reply) => &reply.subscription_id,
            Self::Clarification(reply) => &reply.subscription_id,
        }
    }
}

impl ConfirmationReply {
    /// Reads a message that is to be of this kind, like [`Reply::parse`].
    ///
    /// # Errors
    ///
    /// The same; a `clarification.reply` is none.
    pub fn parse(message: &[u8]) -> Result<Self, Malformed> {
        match Reply::parse(message)? {
            Reply::Confirmation(reply) => Ok(reply),
            Reply::Clarification(_) => Err(Malformed::Invalid {
                property: "type",
                expected: "the string confirmation.reply",
            }),
        }
    }

    fn read(mut members: Members) -> Result<Self, Malformed> {
        // AAEP-REPLY-2, AAEP-6.3.1-1: the type is a constant.
        members.required("type", "the string confirmation.reply", |text| {
            (text == "confirmation.reply").then_some(())
        })?;
        let reply = Self {
            reply_token: members.reply_token()?,
            // AAEP-REPLY-4
            decision: members.required("decision", "accept or reject", decision)?,
            subscription_id: members.subscription_id()?,
            decided_at: members.decided_at()?,
            decided_by: members.decided_by()?,
            // AAEP-REPLY-8
            decision_rationale: members.optional(
                "decision_rationale",
                "a string of 1 to 4096 characters",
                |text| (1..=4096).contains(&text.characters()).then_some(text),
            )?,
            // AAEP-REPLY-9
            modified_action: members.optional_object("modified_action")?,
            correlation_id: members.correlation_id()?,
        };
        members.end()?;
        Ok(reply)
    }
}

impl ClarificationReply {
    fn read(mut members: Members) -> Result<Self, Malformed> {
        // AAEP-6.5.1-1: it was the type that led here.
        members.0.remove("type");
        let reply = Self {
            // AAEP-6.5.1-2
            reply_token: members.reply_token()?,
            // AAEP-6.5.1-3
            response: members.response()?,
            // AAEP-6.5.1-4
            subscription_id: members.subscription_id()?,
            // AAEP-6.5.1-5
            decided_at: members.decided_at()?,
            // AAEP-6.5.3-1
            decided_by: members.decided_by()?,
            // AAEP-6.5.3-2
            confidence: members.confidence()?,
            // AAEP-6.5.3-3
            correlation_id: members.correlation_id()?,
        };
        // AAEP-EV-12
        members.end()?;
        Ok(reply)
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
    fn is_clarification(&self) -> bool {
        matches!(self.0.get("type"), Some(Member::String(text)) if *text == *"clarification.reply")
    }

    /// AAEP-REPLY-3, AAEP-6.3.1-2
    fn reply_token(&mut self) -> Result<ReplyToken, Malformed> {
        self.identifier("reply_token", ReplyToken::parse)
    }

    /// AAEP-REPLY-5, AAEP-6.3.1-4
    fn subscription_id(&mut self) -> Result<SubscriptionId, Malformed> {
        self.identifier("subscription_id", SubscriptionId::parse)
    }

    /// AAEP-REPLY-6, AAEP-6.3.1-5: the format is asserted, not an annotation.
    fn decided_at(&mut self) -> Result<DecidedAt, Malformed> {
        self.required("timestamp", "an RFC 3339 date-time", |text| {
            Timestamp::parse(text).ok().map(DecidedAt::claimed)
        })
    }

    /// AAEP-REPLY-7
    fn decided_by(&mut self) -> Result<Option<Text>, Malformed> {
        self.optional("decided_by", "a string of 1 to 256 characters", |text| {
            (1..=256).contains(&text.characters()).then_some(text)
        })
    }

    /// AAEP-REPLY-10
    fn correlation_id(&mut self) -> Result<Option<Text>, Malformed> {
        self.optional("correlation_id", "a string", Some)
    }

    /// AAEP-6.5.2-1: a text, a truth value or a number, whatever the question wants.
    fn response(&mut self) -> Result<UserResponse, Malformed> {
        let property = "response";
        match self.0.remove(property) {
            Some(Member::String(text)) => Ok(UserResponse::Text(text)),
            Some(Member::Boolean(value)) => Ok(UserResponse::Boolean(value)),
            Some(Member::Number(written)) => {
                Ok(UserResponse::Number(WrittenNumber(written.into())))
            }
            None => Err(Malformed::Missing(property)),
            Some(Member::Object(_) | Member::Other) => Err(Malformed::Invalid {
                property,
                expected: "a string, a boolean or a number",
            }),
        }
    }

    fn confidence(&mut self) -> Result<Option<WrittenNumber>, Malformed> {
        match self.0.remove("confidence") {
            None => Ok(None),
            Some(Member::Number(written)) if number::is_from_0_to_1(&written) => {
                Ok(Some(WrittenNumber(written.into())))
            }
            Some(_) => Err(Malformed::Invalid {
                property: "confidence",
                expected: "a number from 0 to 1",
            }),
        }
    }

    /// AAEP-REPLY-11: nothing else is there.
    fn end(mut self) -> Result<(), Malformed> {
        match self.0.pop_first() {
            None => Ok(()),
            Some((name, _)) => Err(Malformed::Unknown(name)),
        }
    }

    /// Takes out a text that must be there, and be one of some that all have whole characters.
    fn required<T>(
        &mut self,
        property: &'static str,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Malformed> {
        self.optional(property, expected, |text| read(&text.whole()?))?
            .ok_or(Malformed::Missing(property))
    }

    /// Takes out an identifier that must be there.
    fn identifier<T>(
        &mut self,
        property: &'static str,
        read: impl FnOnce(&str) -> Result<T, InvalidIdentifier>,
    ) -> Result<T, Malformed> {
        let text = self.optional(property, "a string", Some)?;
        let text = text.ok_or(Malformed::Missing(property))?;
        // No identifier is empty, and none has half of a surrogate pair.
        read(&text.whole().unwrap_or_default())
            .map_err(|InvalidIdentifier { expected }| Malformed::Invalid { property, expected })
    }

    /// Takes out a text that may be absent. A null is not absent, it is of the wrong type.
    fn optional<T>(
        &mut self,
        property: &'static str,
        expected: &'static str,
        read: impl FnOnce(Text) -> Option<T>,
    ) -> Result<Option<T>, Malformed> {
        let invalid = Malformed::Invalid { property, expected };
        match self.0.remove(property) {
            None => Ok(None),
            Some(Member::String(text)) => read(text).map(Some).ok_or(invalid),
            Some(Member::Number(_) | Member::Boolean(_) | Member::Object(_) | Member::Other) => {
                Err(invalid)
            }
        }
    }

    /// Takes out an object that may be absent.
    fn optional_object(
        &mut self,
        property: &'static str,
    ) -> Result<Option<WrittenObject>, Malformed> {
        match self.0.remove(property) {
            None => Ok(None),
            Some(Member::Object(written)) => Ok(Some(WrittenObject::read(&written))),
            Some(Member::String(_) | Member::Number(_) | Member::Boolean(_) | Member::Other) => {
                Err(Malformed::Invalid {
                    property,
                    expected: "an object",
                })
            }
        }
    }
}
