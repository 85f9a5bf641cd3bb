//! AAEP: a producer of confirmations, and what its host and the transport tell it.

use arbitrary::{Arbitrary, Unstructured};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::{JsonSchema, Schema};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::any_json::{any_or_none, in_message, in_message_or_none, object_or_none};
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Op {
    /// Begin a session.
    StartSession {
        /// Its id, never used before. The implementation makes one where this is absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(regex(pattern = SESSION))]
        session_id: Option<String>,
    },
    /// Open a subscription.
    Subscribe {
        /// Its id, never used before, by a subscription that has closed neither.
        #[schemars(regex(pattern = SUBSCRIPTION))]
        subscription_id: String,
        /// What the subscriber can do.
        #[serde(default, deserialize_with = "object")]
        capabilities: Capabilities,
    },
    /// Close a subscription. Where it was the last that can reply, of all sessions, each pending default applies at once. The text
    /// leaves open which subscriptions count, and what becomes of a default that accepts: in the reference those count that have
    /// said that they can reply, and a confirmation whose default is `accept` waits for its deadline all the same, for only
    /// the elapsed timeout may accept. What is asked when nobody can reply waits for its deadline, too.
    Unsubscribe {
        /// Which. It is open.
        #[schemars(regex(pattern = SUBSCRIPTION))]
        subscription_id: String,
    },
    /// Ask for confirmation of an action, and block it until the answer. Refused while a confirmation of the same action is
    /// pending; the events that it leads to have at most 64 KiB of JSON each.
    Confirm {
        /// The session of the action. It goes on and is not handed off.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// What is to be confirmed.
        #[serde(deserialize_with = "object")]
        action: Action,
        /// How long to wait, from `now` on. Refused where that ends beyond the year 9999. Above 60, the reference tells the time left
        /// when half and when a tenth of it remains; where the clock jumps over such a moment the text leaves open what is told: in
        /// the reference one event a question, for the last moment passed, with the time that is left in truth, and none for a
        /// question whose time is up.
        #[schemars(range(min = 1, max = 86_400))]
        timeout_seconds: i64,
        /// What is done when no valid reply comes in time. Not `accept` for what is irreversible and of medium or high risk. The text
        /// leaves open the order of what falls due at one instant: in the reference by deadline, at one deadline confirmations before
        /// clarifications and each kind in the order of asking, and a default before the time left that is told at the same moment.
        default_decision: Decision,
        /// The decisions that a reply may carry: different strings, each of at most 16 KiB of UTF-8. `accept` and `reject`, where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 32), inner(length(max = 16_384)), extend("uniqueItems" = true))]
        allowed_replies: Option<Vec<String>>,
    },
    /// Ask for an answer in words or by choice. Refused while the same question is pending; its event has at most 64 KiB of JSON.
    Clarify {
        /// The session of the question. It goes on and is not handed off.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// What is asked. Not blank, at most 16 KiB of UTF-8. The text leaves open what makes two questions the same: in the reference
        /// the session and this text to the letter, whatever kinds and choices there are.
        #[schemars(length(min = 1, max = 16_384))]
        question: String,
        /// The kinds of answer that are taken, each once. Any kind, where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 4), extend("uniqueItems" = true))]
        accepted_response_kinds: Option<Vec<ResponseKind>>,
        /// What there is to choose from: of different values. Needed where `multiple_choice` is taken.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "objects"
        )]
        #[schemars(length(min = 2, max = 32))]
        choices: Option<Vec<Choice>>,
        /// How long to wait, as in `confirm`.
        #[schemars(range(min = 1, max = 86_400))]
        timeout_seconds: i64,
        /// What is taken for the answer when none comes in time. At most 16 KiB of UTF-8. The text leaves open whether it has to be of
        /// an accepted kind and one of the choices: in the reference it need not be, and is taken as it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = 16_384))]
        default_response: Option<String>,
    },
    /// A message arrives. What is due comes first: the text leaves open what a reply counts for that comes in the same request as the
    /// deadline passes; in the reference the default is applied then, and the reply is ignored whatever time it claims.
    Deliver(Deliver),
    /// Take a pending question back.
    Cancel {
        /// Its token. It is pending.
        #[schemars(regex(pattern = TOKEN))]
        reply_token: String,
    },
    /// Give a pending question more time.
    Extend {
        /// Its token. It is pending.
        #[schemars(regex(pattern = TOKEN))]
        reply_token: String,
        /// How long it waits from when it was asked: longer than before, and refused where that ends beyond the year 9999.
        #[schemars(range(min = 1, max = 86_400))]
        timeout_seconds: i64,
    },
    /// Run a tool that needs no question. Its events have at most 64 KiB of JSON each.
    Tool {
        /// The session of the action. It goes on and is not handed off.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// What is run.
        #[serde(deserialize_with = "object")]
        action: ToolAction,
        /// The id of this call in the events, never used before in the session, nor by a question of it that has been asked, whatever
        /// came of it. Not blank. The implementation makes one where this is absent. The reference names calls `run_N`, and those of
        /// confirmations `call_N`, or `call_N_1` and so on where that was used, N counting from 0.
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
        /// Which call of it, in flight. The oldest in flight, where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(min = 1, max = 64))]
        tool_call_id: Option<String>,
        /// How it came out.
        status: ToolStatus,
    },
    /// Put out one chunk of an output. Its event has at most 64 KiB of JSON.
    Output {
        /// The session of the output. It goes on and is not handed off.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// Which output of the session. The first chunk begins it, and none comes behind the last. Not blank.
        #[schemars(length(min = 1, max = 64))]
        output_id: String,
        /// The text that comes next: at most 16 KiB of UTF-8, and empty only where it is the last. White space is text.
        #[schemars(length(max = 16_384))]
        chunk: String,
        /// Whether it is the last.
        complete: bool,
    },
    /// Hand the session off. After that it only ends. Its event has at most 64 KiB of JSON.
    Handoff {
        /// Which. It goes on, is not handed off, and has no question pending, no tool running and no output that is not complete.
        #[schemars(regex(pattern = SESSION))]
        session_id: String,
        /// Why, for the user to read. Not blank, at most 16 KiB of UTF-8, like the next.
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
        /// Which. It has not ended.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// The host's name for it. In one session the same name is the same action. Not blank.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// The tool that runs it. Not blank, at most 16 KiB of UTF-8, like the next two.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(deny_unknown_fields)]
pub struct ToolAction {
    /// The host's name for it. In one session the same name is the same action. Not blank. Refused where a confirmation of it was
    /// ever asked for in the session: it runs by the answer alone.
    #[schemars(length(min = 1, max = 256))]
    pub id: String,
    /// The tool that runs it. Not blank, at most 16 KiB of UTF-8, like the next.
    #[schemars(length(min = 1, max = 16_384))]
    pub tool: String,
    /// What it is called with, for the user to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16_384))]
    pub args_summary: Option<String>,
    /// How much harm it can do; low where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// Whether it cannot be undone; it can where absent. What cannot has to be confirmed, and is refused here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub irreversible: Option<bool>,
}

/// Whom a session is handed off to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A person.
    Human,
    /// Another agent.
    SpecialistAgent,
    /// Whoever comes to it next.
    EscalationQueue,
}

/// A message that arrives: in a request `message`, or `message_base64` where its bytes are no UTF-8; both are an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(try_from = "WrittenDelivery", into = "WrittenDelivery")]
#[schemars(with = "WrittenDelivery")]
pub struct Deliver {
    /// What the transport knows of the sender.
    pub sender: Sender,
    /// The bytes exactly as received.
    #[arbitrary(with = received)]
    pub message: Vec<u8>,
}

/// A text as often as bytes.
fn received(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    if u.arbitrary()? {
        u.arbitrary()
    } else {
        u.arbitrary().map(String::into_bytes)
    }
}

/// A [`Deliver`] as it is written.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = exactly_one_message)]
struct WrittenDelivery {
    /// What the transport knows of the sender.
    #[serde(deserialize_with = "object")]
    sender: Sender,
    /// What was received. The text leaves open what a reply says that has a name twice in an object: in the reference nothing, however
    /// deep it lies and however its letters are escaped, for its meaning depends on its reader. It also leaves open what comes first,
    /// a `modified_action` that is not supported or a decision that is not allowed: in the reference such a reply rejects, even
    /// where `reject` is not allowed. Where `modified_action` is supported the decision has to be allowed, and to accept more than
    /// was asked rejects.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Capabilities {
    /// Whether it can answer confirmations.
    #[serde(default)]
    pub supports_confirmation_reply: bool,
}

/// What is done about an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Accept,
    /// It does not.
    Reject,
}

/// How much harm an action can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// What is answered. Not blank, at most 16 KiB of UTF-8, like the next.
    #[schemars(length(min = 1, max = 16_384))]
    pub value: String,
    /// What the user reads.
    #[schemars(length(min = 1, max = 16_384))]
    pub label: String,
}

/// How a call of a tool came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
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
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    Arbitrary,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// The event to send.
    Emit(#[arbitrary(with = in_message)] Json),
    /// Something that one subscription is told.
    Notify(Notice),
    /// Run the action now.
    Perform(ToolCall),
    /// What the sender of the message gets to see.
    Respond(Sent),
    /// What a clarification has come to. One that is taken back has none.
    Answer(Answered),
    /// What only the operator sees; its form is the implementation's own affair.
    Audit(#[arbitrary(with = in_message)] Json),
    /// After a restart: this was released and is not recorded as done.
    InDoubt(ToolCall),
    /// What was asked is not allowed.
    Refused(Refused),
}

/// What a clarification has come to. The text leaves open what becomes of one that was lost in a crash: in the reference it comes
/// again as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Answered {
    /// Its session.
    pub session_id: String,
    /// Its token.
    pub reply_token: String,
    /// A string, a boolean or a number. Absent where nobody answered and there is no default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[arbitrary(with = any_or_none)]
    pub response: Option<Json>,
    /// Who gave it.
    pub by: AnsweredBy,
}

/// Who answered a clarification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A subscriber, with a reply.
    Reply,
    /// Its default, as no valid reply came.
    Default,
    /// No valid reply came, and it has no default.
    Nobody,
}

/// A courtesy to one subscription: to the sender of a reply that came too late to count. The text leaves open whether the first
/// reply after a default is told of: in the reference it is, if it comes from an open subscription that it names. Lost in a crash it
/// does not come again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Notice {
    /// Which.
    pub subscription_id: String,
    /// The token that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_token: Option<String>,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
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
    #[arbitrary(with = object_or_none)]
    pub modified_action: Option<Json>,
}

/// What the sender of a message gets to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Sent {
    /// The HTTP status.
    pub status: u16,
    /// The body; null where there is none.
    #[serde(default)]
    #[arbitrary(with = in_message_or_none)]
    pub body: Option<Json>,
}
