//! What an implementation answers: one JSON object a line, read leniently.
//!
//! The one thing to know: members that nobody knows are passed over, but an answer is one of four, and an output is of one
//! kind, which the protocol knows.

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Members, Nulls};
use crate::{Problem, Protocol};

/// One response.
#[derive(Clone, Debug, PartialEq, Serialize, Arbitrary)]
#[serde(bound = "")]
#[arbitrary(bound = "P: Protocol")]
pub struct Response<P: Protocol> {
    /// That of the request. Null where the request was such that it could not be read.
    pub id: Option<u64>,
    /// What is answered.
    #[serde(flatten)]
    pub answer: Answer<P>,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Arbitrary)]
#[serde(untagged, bound = "")]
#[arbitrary(bound = "P: Protocol")]
pub enum Answer<P: Protocol> {
    /// To `hello`.
    Greeting(Greeting<P>),
    /// The request was understood. What was due happened, then what was asked or a refusal.
    Outputs {
        /// In order.
        outputs: Vec<Output<P>>,
    },
    /// The request was not understood, or something broke. Nothing happened.
    Error {
        /// What is wrong, and where.
        error: String,
    },
    /// The op or a capability that it needs was not declared in `hello`. Nothing happened.
    #[serde(serialize_with = "unsupported")]
    Unsupported,
}

/// That answer says nothing but its name.
fn unsupported<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(Some(1))?;
    members.serialize_entry("unsupported", &true)?;
    members.end()
}

/// Who is here, and what is judged of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(bound = "")]
#[schemars(bound = "P: Protocol", inline)]
#[arbitrary(bound = "P: Protocol")]
pub struct Greeting<P: Protocol> {
    /// Name and version.
    pub name: String,
    /// What of the optional it can do. What is declared is mandatory.
    pub supports: BTreeSet<P::Capability>,
    /// The kinds of output that it shows; what is not shown is not judged. Where absent: [`Protocol::SHOWN_UNASKED`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<BTreeSet<Kind>>,
}

impl<P: Protocol> Greeting<P> {
    /// Whether outputs of this kind are shown.
    pub fn shows(&self, kind: Kind) -> bool {
        match &self.shows {
            Some(shown) => shown.contains(&kind),
            None => P::SHOWN_UNASKED.contains(&kind),
        }
    }

    /// The capabilities that are declared, as they are written.
    pub fn declared(&self) -> impl Iterator<Item = String> {
        let names = self.supports.iter().map(serde_json::to_value);
        names.filter_map(|it| it.ok()?.as_str().map(str::to_owned))
    }
}

/// One output.
#[derive(Clone, Debug, PartialEq, Serialize, Arbitrary)]
#[serde(bound = "")]
#[arbitrary(bound = "P: Protocol")]
pub struct Output<P: Protocol> {
    /// What is put out.
    #[serde(flatten)]
    pub what: P::Output,
    /// The subscriptions that an `emit` goes to. Every one, where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Vec<String>>,
}

/// The kinds of output, of all protocols.
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
pub enum Kind {
    /// An event, to every subscription.
    Emit,
    /// Something that one subscription is told.
    Notify,
    /// Something to do now.
    Perform,
    /// What the sender of a message gets to see.
    Respond,
    /// What a question for words or a choice has come to.
    Answer,
    /// A message for the transcript.
    Append,
    /// An event, to whoever watches.
    Event,
    /// What only the operator sees.
    Audit,
    /// Something that was released before a restart and is not recorded as done.
    InDoubt,
    /// The state as it is now.
    Snapshot,
    /// What was asked is not allowed.
    Refused,
}

/// What was asked is not allowed with this value, or in this state. What was due has happened, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
pub struct Refused {
    /// The clause that does not allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<String>,
    /// Why, in words.
    pub reason: String,
}

/// The names of all kinds, which tell outputs apart.
const KINDS: [&str; 11] = [
    "emit", "notify", "perform", "respond", "answer", "append", "event", "audit", "in_doubt",
    "snapshot", "refused",
];

/// The members that tell the four answers apart.
const ANSWERS: [&str; 4] = ["name", "outputs", "error", "unsupported"];

impl<P: Protocol> Response<P> {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// [`Problem`] where it is no JSON object, a key is in it twice, it is no answer or more than one, or an output is
    /// of no kind that the protocol has.
    pub fn read(line: &[u8]) -> Result<Self, Problem> {
        Self::of(Members::of_line(line, Nulls::Allowed)?)
    }

    fn of(mut members: Members) -> Result<Self, Problem> {
        let id = members.take::<Option<u64>>("id")?.flatten();
        let answer = match members.only_one_of(&ANSWERS)? {
            "name" => Answer::Greeting(members.read()?),
            "outputs" => Answer::Outputs {
                outputs: members.require("outputs")?,
            },
            "error" => Answer::Error {
                error: members.require("error")?,
            },
            _ if members.require("unsupported")? => Answer::Unsupported,
            _ => return Err(Problem::new("`unsupported` is false: expected true")),
        };
        Ok(Self { id, answer })
    }
}

impl<P: Protocol> Output<P> {
    /// An output for everyone.
    pub fn to_all(what: P::Output) -> Self {
        Self { what, to: None }
    }

    fn of(mut members: Members) -> Result<Self, Problem> {
        let to = members.take::<Option<_>>("to")?.flatten();
        let kind = members.only_one_of(&KINDS)?;
        let what = members.read_one(kind)?;
        Ok(Self { what, to })
    }
}

impl<'de, P: Protocol> Deserialize<'de> for Response<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(Members::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de, P: Protocol> Deserialize<'de> for Output<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(Members::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
