//! AAEP: a producer of confirmations, and what its host and the transport tell it.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::{JsonSchema, Schema};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::json::{object, objects, written_object};
use crate::{Json, Kind, Protocol, Refused};

/// The protocol, as a parameter of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aaep {}

impl Protocol for Aaep {
    const NAME: &'static str = "aaep";
    type Op = Op;
    type Output = Output;
    type Capability = Capability;
    const SHOWN_UNASKED: &'static [Kind] = &[
        Kind::Emit,
        Kind::Notify,
        Kind::Perform,
        Kind::Respond,
        Kind::Answer,
        Kind::InDoubt,
        Kind::Refused,
    ];

    fn kind(output: &Output) -> Kind {
        match output {
            Output::Emit(_) => Kind::Emit,
            Output::Notify(_) => Kind::Notify,
            Output::Perform(_) => Kind::Perform,
            Output::Respond(_) => Kind::Respond,
            Output::Answer(_) => Kind::Answer,
            Output::Audit(_) => Kind::Audit,
            Output::InDoubt(_) => Kind::InDoubt,
            Output::Refused(_) => Kind::Refused,
        }
    }
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// Begin a session.
    StartSession {
        /// Its id. The implementation makes one where this is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = SESSION))]
        session_id: Option<String>,
    },
    /// Open a subscription.
    Subscribe {
        /// Its id, never used before.
        #[schemars(regex(pattern = SUBSCRIPTION))]
        subscription_id: String,
        /// What the subscriber can do.
        #[serde(default, deserialize_with = "object")]
        capabilities: Capabilities,
    },
    /// Close a subscription.
    Unsubscribe {
        /// Which.
        #[schemars(regex(pattern = SUBSCRIPTION))]
        subscription_id: String,
    },
    /// Ask for confirmation of an action, and block it until the answer.
    Confirm {
        /// The session of the action.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// What is to be confirmed.
        #[serde(deserialize_with = "object")]
        action: Action,
        /// How long to wait.
        #[schemars(range(min = 1, max = 86_400))]
        timeout_seconds: i64,
        /// What is done when no valid reply comes in time.
        default_decision: Decision,
        /// The decisions that a reply may carry: different strings.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 32), extend("uniqueItems" = true))]
        allowed_replies: Option<Vec<String>>,
    },
    /// Ask for an answer in words or by choice.
    Clarify {
        /// The session of the question.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// What is asked.
        #[schemars(length(min = 1))]
        question: String,
        /// The kinds of answer that are taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 4), extend("uniqueItems" = true))]
        accepted_response_kinds: Option<Vec<ResponseKind>>,
        /// What there is to choose from.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "objects"
        )]
        #[schemars(length(min = 2, max = 32))]
        choices: Option<Vec<Choice>>,
        /// How long to wait.
        #[schemars(range(min = 1, max = 86_400))]
        timeout_seconds: i64,
        /// What is taken for the answer when none comes in time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_response: Option<String>,
    },
    /// A message arrives.
    Deliver(Deliver),
    /// Take a pending question back.
    Cancel {
        /// Its token.
        #[schemars(regex(pattern = TOKEN))]
        reply_token: String,
    },
    /// Give a pending question more time.
    Extend {
        /// Its token.
        #[schemars(regex(pattern = TOKEN))]
        reply_token: String,
        /// How long it waits from when it was asked.
        #[schemars(range(min = 1, max = 86_400))]
        timeout_seconds: i64,
    },
    /// Run a tool that needs no question.
    Tool {
        /// The session of the action.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// What is run.
        #[serde(deserialize_with = "object")]
        action: ToolAction,
        /// The id of this call in the events, never used before in the session. The implementation makes one where this is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 64))]
        tool_call_id: Option<String>,
    },
    /// A tool that was told to run has come back.
    FinishTool {
        /// The session of the action.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// The action that ran.
        #[schemars(length(min = 1, max = 256))]
        action: String,
        /// Which call of it. The oldest in flight, where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 256))]
        tool_call_id: Option<String>,
        /// How it came out.
        status: ToolStatus,
    },
    /// Put out one chunk of an output.
    Output {
        /// The session of the output.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// Which output of the session. The first chunk begins it.
        #[schemars(length(min = 1, max = 64))]
        output_id: String,
        /// The text that comes next: at most 16 KiB of UTF-8, and empty only where it is the last.
        #[schemars(length(max = 16_384))]
        chunk: String,
        /// Whether it is the last.
        complete: bool,
    },
    /// Hand the session off. After that it only ends.
    Handoff {
        /// Which.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// Why, for the user to read. At most 16 KiB of UTF-8, like the next.
        #[schemars(length(min = 1, max = 16_384))]
        reason: String,
        /// To whom.
        target_kind: TargetKind,
        /// Where they are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 16_384))]
        target_uri: Option<String>,
    },
    /// End a session.
    EndSession {
        /// Which.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// How.
        outcome: SessionOutcome,
    },
}

/// The form of a session's id.
const SESSION: &str = "^sess_[0-9A-Za-z]{1,64}$";
/// The form of a subscription's id.
const SUBSCRIPTION: &str = "^sub_[0-9A-Za-z]{1,64}$";
/// The form of a reply token.
const TOKEN: &str = "^rpl_[0-9A-Za-z]{1,64}$";

/// What is asked about: one call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The host's name for it. In one session the same name is the same action.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// The tool that runs it. At most 16 KiB of UTF-8, like the next two.
    #[schemars(length(min = 1, max = 16_384))]
    pub tool: String,
    /// What will be done, for the user to read.
    #[schemars(length(min = 1, max = 16_384))]
    pub description: String,
    /// What follows from it, for the user to read.
    #[schemars(length(min = 1, max = 16_384))]
    pub consequence: String,
    /// How much harm it can do.
    pub risk_level: RiskLevel,
    /// Whether it cannot be undone.
    pub irreversible: bool,
}

/// What a tool does that needs no question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolAction {
    /// The host's name for it. In one session the same name is the same action.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// The tool that runs it. At most 16 KiB of UTF-8, like the next.
    #[schemars(length(min = 1, max = 16_384))]
    pub tool: String,
    /// What it is called with, for the user to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16_384))]
    pub args_summary: Option<String>,
    /// How much harm it can do; low where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// Whether it cannot be undone; it can where absent. What cannot has to be confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
}

/// Whom a session is handed off to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A person.
    Human,
    /// Another agent.
    SpecialistAgent,
    /// Whoever comes to it next.
    EscalationQueue,
}

/// A message that arrives: in a request `message`, or `message_base64` where its bytes are no UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "WrittenDelivery", into = "WrittenDelivery")]
#[schemars(with = "WrittenDelivery")]
pub struct Deliver {
    /// What the transport knows of the sender.
    pub sender: Sender,
    /// The bytes exactly as received.
    pub message: Vec<u8>,
}

/// A [`Deliver`] as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = exactly_one_message)]
struct WrittenDelivery {
    /// What the transport knows of the sender.
    #[serde(deserialize_with = "object")]
    sender: Sender,
    /// The text received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The bytes received, where they are no UTF-8: base64 with padding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("contentEncoding" = "base64"), regex(pattern = BASE64))]
    message_base64: Option<Base64>,
}

/// Bytes, as base64 with padding.
struct Base64(Vec<u8>);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let decoded = BASE64_STANDARD.decode(text).map(Self);
        decoded.map_err(|_| {
            let found = Unexpected::Other("no base64");
            let expected = "A to Z, a to z, 0 to 9, + and /, padded with =";
            D::Error::invalid_value(found, &expected)
        })
    }
}

/// The form of base64 with padding.
const BASE64: &str = "^([0-9A-Za-z+/]{4})*([0-9A-Za-z+/]{2}==|[0-9A-Za-z+/]{3}=)?$";

fn exactly_one_message(schema: &mut Schema) {
    let required = |name| serde_json::json!({"required": [name]});
    let one_of = ["message", "message_base64"].map(required);
    schema.insert("oneOf".to_owned(), Value::from(one_of.to_vec()));
}

impl TryFrom<WrittenDelivery> for Deliver {
    type Error = &'static str;

    fn try_from(written: WrittenDelivery) -> Result<Self, Self::Error> {
        let message = match (written.message, written.message_base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(Base64(bytes))) => bytes,
            (None, None) => return Err("`message` is missing, and so is `message_base64`"),
            (Some(_), Some(_)) => {
                return Err("both `message` and `message_base64`: expected one of them");
            }
        };
        let sender = written.sender;
        Ok(Self { sender, message })
    }
}

impl From<Deliver> for WrittenDelivery {
    fn from(Deliver { sender, message }: Deliver) -> Self {
        let (message, message_base64) = match String::from_utf8(message) {
            Ok(text) => (Some(text), None),
            Err(error) => (None, Some(Base64(error.into_bytes()))),
        };
        Self {
            sender,
            message,
            message_base64,
        }
    }
}

/// What the transport knows of whoever sent a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sender {
    /// The subscription that the connection belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SUBSCRIPTION))]
    pub subscription_id: Option<String>,
    /// Whether the transport has authenticated the sender.
    pub authenticated: bool,
}

/// What a subscriber says it can do. It may say more than this protocol asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Whether it can answer confirmations.
    #[serde(default)]
    pub supports_confirmation_reply: bool,
}

/// What is done about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Accept,
    /// It does not.
    Reject,
}

/// How much harm an action can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RiskLevel {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

/// A kind of answer to a clarification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// Words.
    Freetext,
    /// True or false.
    YesNo,
    /// The value of a choice.
    MultipleChoice,
    /// A number.
    Numeric,
}

/// One of the answers to choose from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is answered.
    pub value: String,
    /// What the user reads.
    pub label: String,
}

/// How a call of a tool came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it should.
    Success,
    /// It failed.
    Error,
    /// It did not come back in time.
    Timeout,
}

/// How a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// Its work is done.
    Completed,
    /// It failed.
    Errored,
    /// It was called off.
    Cancelled,
}

/// What a producer may have or leave out.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Clarifications.
    Clarify,
    /// Questions can be taken back.
    Cancel,
    /// Questions can be given more time.
    Extend,
    /// A reply may modify the action.
    ModifiedAction,
    /// The sender of a late duplicate is told so.
    CourtesyNotice,
    /// The countdown of long questions is told.
    Progress,
    /// Which subscription gets which event.
    Delivery,
    /// Tools without a question, output, handoff.
    Work,
    /// The process can die and come back.
    Restart,
}

/// What can come out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// The event to send.
    Emit(Json),
    /// Something that one subscription is told.
    Notify(Notice),
    /// Run the action now.
    Perform(ToolCall),
    /// What the sender of the message gets to see.
    Respond(Sent),
    /// What a clarification has come to. One that is taken back has none.
    Answer(Answered),
    /// What only the operator sees; its form is the implementation's own affair.
    Audit(Json),
    /// After a restart: this was released and is not recorded as done.
    InDoubt(ToolCall),
    /// What was asked is not allowed.
    Refused(Refused),
}

/// What a clarification has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// Its session.
    pub session_id: String,
    /// Its token.
    pub reply_token: String,
    /// A string, a boolean or a number. Absent where nobody answered and there is no default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Json>,
    /// Who gave it.
    pub by: AnsweredBy,
}

/// Who answered a clarification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A subscriber, with a reply.
    Reply,
    /// Its default, as no valid reply came.
    Default,
    /// No valid reply came, and it has no default.
    Nobody,
}

/// A courtesy to one subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// Which.
    pub subscription_id: String,
    /// The token that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_token: Option<String>,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The host's name for the action.
    pub action: String,
    /// Its session.
    pub session_id: String,
    /// The tool to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The id of this call in the events.
    pub tool_call_id: String,
    /// The token of the confirmation that released it. A tool that needed no question has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_token: Option<String>,
    /// What the reply made of the action, if it modified it: an object, its numbers to the digit.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "written_object"
    )]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub modified_action: Option<Json>,
}

/// What the sender of a message gets to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sent {
    /// The HTTP status.
    pub status: u16,
    /// The body; null where there is none.
    #[serde(default)]
    pub body: Option<Json>,
}
