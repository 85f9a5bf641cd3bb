//! Conventions: which path takes what.
//!
//! The one thing to know: those that have a name are files too, in the folder `conventions` beside, and are read as any other.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Which path takes what, as a file says it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convention {
    /// The ways to start a session: the first, and the next where nothing is at its path.
    pub(super) session: Vec<Start>,
    /// How a subscription is opened and closed. Where this is absent a stream has one of its own, as long as it lasts.
    pub(super) subscription: Option<Subscriptions>,
    pub(super) events: At,
    pub(super) replies: At,
    /// What is asked of a process that was started until it is answered with 2xx.
    pub(super) health: Option<At>,
}

/// `POST` of an object with the prompt.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    pub path: Path,
    /// The member of the object that is the prompt.
    pub prompt: String,
    /// Its further members.
    #[serde(default)]
    pub with: Map<String, Value>,
    /// The member of the answer that names the session.
    #[serde(default = "session_id")]
    pub session_id: String,
}

fn session_id() -> String {
    "session_id".to_owned()
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subscriptions {
    /// `POST` of a `subscription.request`.
    pub open: Path,
    /// `DELETE`. There may be no way.
    pub close: Option<PathOfOne>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct At {
    pub path: PathOfOne,
}

/// A path, and a query perhaps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Path(pub String);

/// A path, and a query perhaps, in which `{subscription_id}` may stand.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct PathOfOne(String);

/// What stands for the id of the subscription.
const ID: &str = "{subscription_id}";

impl TryFrom<String> for Path {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_path = text.starts_with('/') && !text.starts_with("//");
        if !is_path || !text.bytes().all(|it| it.is_ascii_graphic()) || text.contains('#') {
            return Err("expected a path that begins with one /, in ASCII, without # and spaces");
        }
        if text.contains(['{', '}']) {
            return Err("{subscription_id} may stand in `close` and in the path of `events` alone");
        }
        Ok(Self(text))
    }
}

impl TryFrom<String> for PathOfOne {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Path::try_from(text.replacen(ID, "", 1))?;
        Ok(Self(text))
    }
}

impl PathOfOne {
    /// The path, of that subscription.
    pub fn of(&self, subscription_id: &str) -> String {
        self.0.replacen(ID, subscription_id, 1)
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// In words.
    pub because: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            because,
        } = self;
        write!(formatter, "{line}:{column}: {because}")
    }
}

impl std::error::Error for Fault {}

impl FromStr for Convention {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let read: Result<Self, _> = toml::from_str(text);
        let read = read.map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let because = error.message().replace('\n', " ");
            fault(text, at, because)
        })?;
        let named = |key: &str| text.find(key).unwrap_or(0);
        if read.session.is_empty() {
            let because = "expected a way to start a session".to_owned();
            return Err(fault(text, named("session"), because));
        }
        let has_id = |at: &At| at.path.0.contains(ID);
        let is_of_one = has_id(&read.replies) || read.health.as_ref().is_some_and(has_id);
        if is_of_one || read.subscription.is_none() && has_id(&read.events) {
            let because = if is_of_one {
                "{subscription_id} may stand in `close` and in the path of `events` alone"
            } else {
                "{subscription_id} needs [subscription]"
            };
            return Err(fault(text, named(ID), because.to_owned()));
        }
        Ok(read)
    }
}

fn fault(text: &str, at: usize, because: String) -> Fault {
    let before = text.get(..at).unwrap_or_default();
    let last = before.rsplit('\n').next().unwrap_or_default();
    Fault {
        line: before.matches('\n').count() + 1,
        column: last.chars().count() + 1,
        because,
    }
}

impl Convention {
    /// The names of those that need no file: the binding of the specification, the published example producers, and the published
    /// conformance suite.
    pub const NAMES: [&str; 3] = ["specification", "examples", "suite"];

    /// The one of that name.
    ///
    /// # Panics
    ///
    /// Never: a test reads each of them.
    pub fn named(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|it| *it == name)?;
        let texts = [
            include_str!("conventions/specification.toml"),
            include_str!("conventions/examples.toml"),
            include_str!("conventions/suite.toml"),
        ];
        Some(texts[place].parse().expect("it is well-formed"))
    }

    /// What those in the field have in common, where it is not known which it is: sessions start in either way.
    pub(super) fn of_the_field() -> Option<Self> {
        let mut either = Self::named("examples")?;
        either.session.extend(Self::named("suite")?.session);
        Some(either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_a_name_are_read_and_what_is_wrong_is_told_with_its_place() {
        for name in Convention::NAMES {
            assert!(Convention::named(name).is_some(), "{name}");
        }
        let good = include_str!("conventions/examples.toml");
        for (from, to, expected) in [
            ("prompt =", "promt =", "4:1: unknown field `promt`"),
            ("\"/events\"", "7", "7:8: invalid type: integer `7`"),
            ("\"/events\"", "\"events\"", "7:8: expected a path"),
            ("\"/events\"", "\"//elsewhere\"", "7:8: expected a path"),
            (
                "\"/events\"",
                "\"/{id}\"",
                "7:8: {subscription_id} may stand",
            ),
            (
                "/events",
                "/{subscription_id}",
                "7:10: {subscription_id} needs",
            ),
            ("/messages", "/é", "10:8: expected a path"),
            (
                "/messages",
                "/{subscription_id}",
                "10:10: {subscription_id} may stand",
            ),
            ("[events]", "[event]", "6:2: unknown field `event`"),
            ("[events]", "[events", "6:8: "),
        ] {
            let text = good.replacen(from, to, 1);
            let fault = text.parse::<Convention>().expect_err("it is refused");
            assert!(fault.to_string().starts_with(expected), "{text}: {fault}");
        }
        let none = "session = []\nevents.path = \"/e\"\nreplies.path = \"/r\"\n";
        let fault = none.parse::<Convention>().expect_err("it is refused");
        assert_eq!(fault.to_string(), "1:1: expected a way to start a session");
        let fault = "".parse::<Convention>().expect_err("it is refused");
        assert_eq!(fault.to_string(), "1:1: missing field `session`");
    }
}
