//! What is asked of an implementation: one JSON object a line, read strictly.
//!
//! The one thing to know: `id`, `op` and `now` are in every request, and the fields of the op stand beside them. An op is
//! the variant of an enum; the members of the line besides those three are its fields, and its alone.

use arbitrary::{Arbitrary, Unstructured};
use schemars::JsonSchema;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Members, Nulls, id_of, listed};
use crate::schema::variants;
use crate::{Problem, Protocol};

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<P: Protocol> {
    /// The response carries the same.
    pub id: u64,
    /// The time that it is, RFC 3339. Only `hello` may do without.
    pub now: Option<String>,
    /// What is asked.
    pub op: Op<P>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Arbitrary)]
#[arbitrary(bound = "P: Protocol")]
pub enum Op<P: Protocol> {
    /// Something that every protocol has.
    Common(Common),
    /// Something of the protocol's own.
    Own(P::Op),
}

/// The ops that every protocol has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Arbitrary)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Common {
    /// Who are you? The first request.
    Hello {
        /// The version of the driver protocol.
        driver: u64,
        /// The name of the protocol.
        protocol: String,
    },
    /// Forget everything: no time is known but `now`.
    Reset {},
    /// Time passes, and nothing else happens.
    Tick {},
    /// The process dies, and comes back with what it had stored.
    Restart {
        /// How many outputs of the last response, from its end, were not carried out; refused where it had fewer. None where
        /// absent. The last response is the last one with `outputs`, be they none. Every output of it counts, and those come
        /// again that tell of something or append it; not what was refused, audited or a snapshot, nor of aaep a courtesy
        /// (`notify`) and what a sender gets to see (`respond`), whose connection has died with the process. Where a store has
        /// outlived its process, nothing is known of the last response of that process: right after `hello`, 0 says that nothing
        /// of it was lost, and with any other number or none everything comes again that is not known to be carried out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<u64>,
    },
}

/// A line that is no request. Nothing happens, and no time passes, unless it is to be refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct BadRequest {
    /// Its id, if that could be read.
    pub id: Option<u64>,
    /// Its `now`, where it is understood, every field is there and has its type, and some value is not allowed: such a
    /// request is refused, and time passes. None, where it is answered with an error.
    pub refused_at: Option<String>,
    /// What is wrong with it.
    pub problem: Problem,
}

impl<P: Protocol> Request<P> {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// [`BadRequest`] where it is no JSON object, a key is in it twice, the op is unknown, or a field is missing,
    /// unknown, null, of another type or a word that is not among those that it may hold.
    pub fn read(line: &[u8]) -> Result<Self, BadRequest> {
        let members = Members::of_line(line, Nulls::Refused).map_err(|problem| BadRequest {
            id: id_of(line),
            refused_at: None,
            problem,
        })?;
        Self::of(members)
    }

    /// Reads the members of an object. A complaint carries what is known by then.
    fn of(mut members: Members) -> Result<Self, BadRequest> {
        let (mut id, mut refusable) = (None, None);
        let mut read = || {
            let number = members.require("id")?;
            id = Some(number);
            let op: String = members.require("op")?;
            let now: Option<String> = match op.as_str() {
                "hello" => members.take("now")?,
                _ => Some(members.require("now")?),
            };
            // Who greets is not refused: no time passes before there is any.
            refusable = now.clone().filter(|_| op != "hello");
            let op = Op::of(&op, &members)?;
            Ok(Self {
                id: number,
                now,
                op,
            })
        };
        read().map_err(|problem: Problem| BadRequest {
            id,
            refused_at: refusable.filter(|_| problem.is_about_a_value()),
            problem,
        })
    }
}

impl<P: Protocol> Op<P> {
    /// The op as it is written.
    pub fn name(&self) -> String {
        self.written()
            .map_or_else(|_| String::new(), |(name, _)| name)
    }

    fn written(&self) -> serde_json::Result<(String, Members)> {
        match self {
            Self::Common(common) => Members::of_variant(common),
            Self::Own(own) => Members::of_variant(own),
        }
    }

    fn of(name: &str, fields: &Members) -> Result<Self, Problem> {
        let read = match name {
            "hello" | "reset" | "tick" | "restart" => fields.read_variant(name).map(Self::Common),
            _ => fields.read_variant(name).map(Self::Own),
        };
        let problem = match read {
            Ok(op) => return Ok(op),
            Err(problem) => unknown_op::<P>(name).unwrap_or_else(|| fields.judged(problem)),
        };
        // A field that is missing or of another type counts before a value, wherever it stands.
        let rest = fields.allowing(&problem).map(|rest| Self::of(name, &rest));
        match rest {
            Some(Err(other)) if !other.is_about_a_value() => Err(other),
            Some(Ok(_) | Err(_)) | None => Err(problem),
        }
    }
}

/// The complaint that there is no such op, if there is none.
fn unknown_op<P: Protocol>(name: &str) -> Option<Problem> {
    let known = [variants::<Common>(), variants::<P::Op>()].concat();
    let is_known = known.iter().any(|known| known == name);
    let expected = listed(&known);
    (!is_known).then(|| Problem::new(format!("`op` is {name:?}: expected one of {expected}")))
}

impl<P: Protocol> Serialize for Request<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (op, fields) = self.op.written().map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("op", &op)?;
        if let Some(now) = &self.now {
            map.serialize_entry("now", now)?;
        }
        for (name, value) in fields.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Only `hello` does without `now`.
impl<'a, P: Protocol> Arbitrary<'a> for Request<P> {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let op = Op::arbitrary(u)?;
        let may_lack_now = matches!(op, Op::Common(Common::Hello { .. }));
        let now = if may_lack_now && u.arbitrary()? {
            None
        } else {
            Some(u.arbitrary()?)
        };
        let id = u.arbitrary()?;
        Ok(Self { id, now, op })
    }
}

/// Only out of JSON text: what is verbatim passes through no other form.
impl<'de, P: Protocol> Deserialize<'de> for Request<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        Self::of(members).map_err(serde::de::Error::custom)
    }
}
