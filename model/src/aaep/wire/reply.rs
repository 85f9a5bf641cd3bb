//! Replies as their sender wrote them: bytes that may be JSON, and their first flaw in the order of the schema.

use std::collections::BTreeSet;
use std::fmt;

use countersign_protocol::Json;
use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value as Plain, json};

use super::{DECISIONS, Names, RISKS, is_id};
use crate::aaep::alphabet::{
    Decision, Flaw, Message, Modified, Reply, Response, Risk, Says, SubscriptionId, Token,
};
use crate::wire::json::Members;
use crate::wire::{json, time};

/// The members of a `confirmation.reply`, in the order of its schema.
const DECIDES: [&str; 9] = [
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
/// The members of a `clarification.reply`.
const ANSWERS: [&str; 8] = [
    "type",
    "reply_token",
    "response",
    "subscription_id",
    "timestamp",
    "decided_by",
    "confidence",
    "correlation_id",
];
const CONFIRMATION: &str = "confirmation.reply";
const CLARIFICATION: &str = "clarification.reply";

impl Names {
    /// What a message says.
    pub(super) fn reply(&mut self, bytes: &[u8]) -> Option<Reply> {
        let text = std::str::from_utf8(bytes).ok()?;
        let written: &RawValue = serde_json::from_str(text).ok()?;
        let members = serde_json::from_str::<Members<'_, Loose>>(written.get())
            .ok()?
            .0;
        let find = |name: &str| {
            let found = members.iter().rev().find(|it| it.0.0 == name.as_bytes());
            found.map(|it| it.1.get())
        };
        let string = |name: &str| find(name).and_then(string_of);
        let kind = string("type");
        let is_answer = match kind.as_deref() {
            Some(CLARIFICATION) => true,
            Some(CONFIRMATION) => false,
            _ => find("decision").is_none(),
        };
        let token = string("reply_token")?;
        let says = if is_answer {
            Says::Answers(self.response(find("response")?))
        } else {
            Says::Decides(
                self.decision(find("decision")?),
                self.modified(find("modified_action")),
            )
        };
        let known = if is_answer {
            &ANSWERS[..]
        } else {
            &DECIDES[..]
        };
        let flaw = if repeats_a_name(written) {
            Some(Flaw::RepeatedName)
        } else {
            let mut flaws = known
                .iter()
                .filter_map(|name| flaw_of(name, is_answer, find(name)));
            let is_unknown = |it: &(Loose, _)| !known.iter().any(|name| name.as_bytes() == it.0.0);
            let other = members
                .iter()
                .any(is_unknown)
                .then_some(Flaw::OtherProperty);
            flaws.next().or(other)
        };
        Some(Reply {
            flaw,
            token: self.tokens.named(&token),
            says,
            subscription: string("subscription_id").map(|it| self.subscriptions.named(&it)),
            timestamp: string("timestamp").and_then(|it| time::parse(&it)),
        })
    }

    fn decision(&mut self, written: &str) -> Decision {
        match string_of(written).as_deref() {
            Some("accept") => Decision::Accept,
            Some("reject") => Decision::Reject,
            _ => Decision::Other(self.texts.number(written)),
        }
    }

    pub(super) fn response(&mut self, written: &str) -> Response {
        if let Some(text) = string_of(written) {
            return Response::Text(self.texts.number(&text));
        }
        match written {
            "true" => Response::Truth(true),
            "false" => Response::Truth(false),
            _ if written.starts_with(|it: char| it == '-' || it.is_ascii_digit()) => {
                Response::Number(self.meaning(written))
            }
            // Half a surrogate pair is a character of a text.
            _ if written.starts_with('"') => Response::Text(self.texts.number(written)),
            _ => Response::Other(self.texts.number(written)),
        }
    }

    /// A response as the host is told of it.
    pub(super) fn response_of(&mut self, response: Response) -> Plain {
        match response {
            Response::Text(name) => json!(self.name_of(name)),
            Response::Truth(holds) => json!(holds),
            Response::Number(name) => {
                let text = self.meanings.text(name).map(str::to_owned);
                let number = text.and_then(|it| serde_json::from_str(&it).ok());
                number.unwrap_or_else(|| {
                    self.meanings.adopt(name, format!("{name}"));
                    json!(name)
                })
            }
            Response::Other(name) => {
                let text = self
                    .texts
                    .text(name)
                    .and_then(|it| serde_json::from_str(it).ok());
                text.unwrap_or_else(|| {
                    let written = json!([name]);
                    self.texts.adopt(name, written.to_string());
                    written
                })
            }
        }
    }

    /// A change of an action, and how it rates itself.
    fn modified(&mut self, written: Option<&str>) -> Option<Modified> {
        let object = written.filter(|it| it.starts_with('{'))?;
        let read: Plain = serde_json::from_str(object).unwrap_or_default();
        let risk = read.get("risk_level").and_then(Plain::as_str);
        let is_lasting = read.get("reversibility").map(|it| it == "irreversible");
        let action = self.meaning(object);
        let as_written = serde_json::from_str(object);
        self.modified.entry(action).or_insert(as_written.ok()?);
        Some(Modified {
            action,
            risk: risk.map(|it| self.word(it, &RISKS, Risk::Other)),
            irreversible: read
                .get("irreversible")
                .and_then(Plain::as_bool)
                .or(is_lasting),
        })
    }

    /// The number of what a JSON text means.
    pub(super) fn meaning(&mut self, written: &str) -> u16 {
        let meaning = json::meaning(written).text;
        self.meanings.number(meaning.as_deref().unwrap_or(written))
    }

    // ── The way back ──

    /// The bytes of a message.
    pub(super) fn message_of(&mut self, message: &Message) -> Vec<u8> {
        let Some(reply) = message.reply else {
            return b"{".to_vec();
        };
        let mut fields = vec![
            ("reply_token", json!(self.token_named(reply.token))),
            (
                "subscription_id",
                json!(reply.subscription.map(|it| self.subscription_named(it))),
            ),
            ("timestamp", json!(reply.timestamp.map(time::write))),
        ];
        match reply.says {
            Says::Decides(decision, modified) => {
                let word = DECISIONS
                    .iter()
                    .find(|it| it.1 == decision)
                    .map(|it| json!(it.0));
                let other = |names: &mut Self| match decision {
                    Decision::Other(name) => json!(names.name_of(name)),
                    Decision::Accept | Decision::Reject => Plain::Null,
                };
                fields.push(("type", json!(CONFIRMATION)));
                fields.push(("decision", word.unwrap_or_else(|| other(self))));
                fields.push((
                    "modified_action",
                    json!(modified.and_then(|it| self.modified_of(it))),
                ));
            }
            Says::Answers(response) => {
                fields.push(("type", json!(CLARIFICATION)));
                fields.push(("response", self.response_of(response)));
            }
        }
        let flawed = match reply.flaw {
            None | Some(Flaw::RepeatedName) => None,
            Some(Flaw::Type) => Some(("type", json!("reply"))),
            Some(Flaw::Token) => Some((
                "reply_token",
                json!(format!("-{}", self.token_named(reply.token))),
            )),
            Some(Flaw::Decision) => Some(("decision", json!("perhaps"))),
            Some(Flaw::Response) => Some(("response", json!([]))),
            Some(Flaw::Subscription) => Some(("subscription_id", json!("sub"))),
            Some(Flaw::Timestamp) => Some(("timestamp", json!("now"))),
            Some(Flaw::DecidedBy) => Some(("decided_by", json!(""))),
            Some(Flaw::Rationale) => Some(("decision_rationale", json!(""))),
            Some(Flaw::ModifiedAction) => Some(("modified_action", json!([]))),
            Some(Flaw::Confidence) => Some(("confidence", json!(2))),
            Some(Flaw::CorrelationId) => Some(("correlation_id", json!(1))),
            Some(Flaw::OtherProperty) => Some(("session_id", json!("sess_1"))),
        };
        if let Some((name, value)) = flawed {
            fields.retain(|it| it.0 != name);
            fields.push((name, value));
        }
        fields.retain(|it| !it.1.is_null());
        let twice = reply.flaw == Some(Flaw::RepeatedName);
        let repeated = fields.iter().take(usize::from(twice)).cloned();
        let members: Vec<String> = fields
            .iter()
            .cloned()
            .chain(repeated)
            .map(|(name, value)| format!("{}:{value}", json!(name)))
            .collect();
        format!("{{{}}}", members.join(",")).into_bytes()
    }

    /// An object of that number that rates itself so.
    pub(super) fn modified_of(&mut self, it: Modified) -> Option<Json> {
        if let Some(known) = self.modified.get(&it.action) {
            return Some(known.clone());
        }
        let risk = it
            .risk
            .and_then(|risk| RISKS.iter().find(|known| known.1 == risk));
        let mut object = json!({"change": it.action});
        if let Some(members) = object.as_object_mut() {
            members.extend(risk.map(|risk| ("risk_level".to_owned(), json!(risk.0))));
            members.extend(
                it.irreversible
                    .map(|it| ("irreversible".to_owned(), json!(it))),
            );
        }
        let made_up = Json::of(&object).ok()?;
        if let Some(meaning) = json::meaning(made_up.as_str()).text {
            self.meanings.adopt(it.action, meaning);
        }
        self.modified.insert(it.action, made_up.clone());
        Some(made_up)
    }

    pub(super) fn token_named(&mut self, token: Token) -> String {
        self.tokens.text_as(token, |it| format!("rpl_unknown{it}"))
    }

    pub(super) fn subscription_named(&mut self, subscription: SubscriptionId) -> String {
        let unknown = |it| format!("sub_unknown{it}");
        self.subscriptions.text_as(subscription, unknown)
    }
}

/// What is wrong with a member, or with its absence.
fn flaw_of(name: &str, is_answer: bool, written: Option<&str>) -> Option<Flaw> {
    let text = written.and_then(loose);
    // Half a surrogate pair is one character, of three bytes.
    let length = text
        .as_ref()
        .map(|it| it.0.iter().filter(|it| **it & 0xC0 != 0x80).count());
    let is_text =
        |most: usize| written.is_none() || length.is_some_and(|it| (1..=most).contains(&it));
    let string = written.and_then(string_of);
    let is_named = |prefix| string.as_deref().is_some_and(|it| is_id(it, prefix));
    let (flaw, is_right) = match name {
        "type" => {
            let kind = if is_answer {
                CLARIFICATION
            } else {
                CONFIRMATION
            };
            (Flaw::Type, string.as_deref() == Some(kind))
        }
        "reply_token" => (Flaw::Token, is_named("rpl_")),
        "decision" => {
            let is_known = DECISIONS.iter().any(|it| Some(it.0) == string.as_deref());
            (Flaw::Decision, is_known)
        }
        "response" => {
            let is_number = |it: &str| it.starts_with(|it: char| it == '-' || it.is_ascii_digit());
            let is_scalar = |it: &str| matches!(it, "true" | "false") || is_number(it);
            (
                Flaw::Response,
                length.is_some() || written.is_some_and(is_scalar),
            )
        }
        "subscription_id" => (Flaw::Subscription, is_named("sub_")),
        "timestamp" => (
            Flaw::Timestamp,
            string.as_deref().and_then(time::parse).is_some(),
        ),
        "decided_by" => (Flaw::DecidedBy, is_text(256)),
        "decision_rationale" => (Flaw::Rationale, is_text(4096)),
        "modified_action" => (
            Flaw::ModifiedAction,
            written.is_none_or(|it| it.starts_with('{')),
        ),
        "confidence" => {
            let number = written.map(|it| it.parse::<f64>().ok());
            let is_share = |it: Option<f64>| it.is_some_and(|it| (0.0..=1.0).contains(&it));
            (Flaw::Confidence, number.is_none_or(is_share))
        }
        _ => (Flaw::CorrelationId, written.is_none() || length.is_some()),
    };
    (!is_right).then_some(flaw)
}

/// Whether a name stands twice in an object, however deep.
fn repeats_a_name(written: &RawValue) -> bool {
    let mut left = vec![written];
    while let Some(value) = left.pop() {
        match value.get().chars().next() {
            Some('{') => {
                let Ok(Members(members)) = serde_json::from_str::<Members<'_, Loose>>(value.get())
                else {
                    return true;
                };
                let names: BTreeSet<&[u8]> = members.iter().map(|it| it.0.0.as_slice()).collect();
                if names.len() < members.len() {
                    return true;
                }
                left.extend(members.iter().map(|it| it.1));
            }
            Some('[') => {
                let elements: Result<Vec<&RawValue>, _> = serde_json::from_str(value.get());
                left.extend(elements.unwrap_or_default());
            }
            _ => {}
        }
    }
    false
}

/// A string that is text.
fn string_of(written: &str) -> Option<String> {
    serde_json::from_str(written).ok()
}

/// A string that may hold half a surrogate pair.
fn loose(written: &str) -> Option<Loose> {
    serde_json::from_str(written).ok()
}

/// A string of JSON: half a surrogate pair is well-formed there, and no text.
struct Loose(Vec<u8>);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_str<E>(self, text: &str) -> Result<Vec<u8>, E> {
                Ok(text.as_bytes().to_vec())
            }
        }
        deserializer.deserialize_bytes(Bytes).map(Self)
    }
}
