//! A step of a run: a request of the driver protocol without its id. Placeholders stand for what the implementation names.

use std::collections::BTreeMap;

use countersign_protocol::{Common, Json, Op, Protocol, Request};
use countersign_reference::time::Timestamp;
use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::near::Change;

/// A request at a time. Whoever plays it puts in what the implementation has named by then.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<P: Protocol> {
    /// The time, in milliseconds since the epoch.
    pub now: i64,
    /// What is asked.
    pub ask: Ask<P>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask<P: Protocol> {
    /// A request of the protocol.
    Op(Op<P>),
    /// A request that the protocol does not have, as it is written, without its id: nothing comes of it but an `error` or a refusal.
    Raw(Json),
}

/// What stands for the thing of that number, counted from 0 in the order in which the implementation names them. `of` is the member
/// that holds the name: `${action_id-1}` is the first action, and `${action_id-1:case}` its id in the other case.
pub fn placeholder(of: &str, number: usize, change: Option<Change>) -> String {
    let number = number + 1;
    match change {
        None => format!("${{{of}-{number}}}"),
        Some(change) => format!("${{{of}-{number}:{}}}", change.name()),
    }
}

/// The number that a placeholder of this member stands for, and how the name is changed.
pub fn placed(of: &str, text: &str) -> Option<(usize, Option<Change>)> {
    let counted = text.strip_prefix("${")?.strip_prefix(of)?;
    let counted = counted.strip_prefix('-')?.strip_suffix('}')?;
    let (number, change) = match counted.split_once(':') {
        None => (counted, None),
        Some((number, change)) => (number, Some(Change::named(change)?)),
    };
    let number: usize = number.parse().ok()?;
    Some((number.checked_sub(1)?, change))
}

/// What stands for one of the names that this member holds, changed or not; the name itself, where nothing does.
pub(crate) fn standing_for(of: &str, names: &[String], name: &str) -> String {
    let changes = [None].into_iter().chain(Change::ALL.map(Some));
    let mut all = changes.flat_map(|change| names.iter().enumerate().map(move |it| (it, change)));
    let found = all.find(|((_, known), change)| match change {
        None => *known == name,
        Some(change) => change.of(known) == name,
    });
    let found = found.map(|((number, _), change)| placeholder(of, number, change));
    found.unwrap_or_else(|| name.to_owned())
}

/// The text with what `each` makes of every placeholder in it, given with the place of its member in `of`. None, where `each` says no.
pub(crate) fn replaced(
    text: &str,
    of: &[&str],
    each: &mut dyn FnMut(usize, &mut String) -> bool,
) -> Option<String> {
    let (mut whole, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find("${") {
        let (before, from) = rest.split_at(begin);
        let end = from.find('}').map_or(from.len(), |it| it + 1);
        let mut name = from[..end].to_owned();
        whole += before;
        if let Some(kind) = of.iter().position(|of| placed(of, &name).is_some()) {
            each(kind, &mut name).then_some(())?;
            let written = Json::holding(&name);
            let written = written.as_str();
            whole += &written[1..written.len() - 1];
        } else {
            whole += &name;
        }
        rest = &from[end..];
    }
    Some(whole + rest)
}

/// The line of a request with this id, of its other members.
pub(crate) fn with_id(id: u64, request: &str) -> String {
    let members = request.trim_start().trim_start_matches('{').trim_start();
    let comma = if members.starts_with('}') { "" } else { "," };
    format!("{{\"id\":{id}{comma}{members}")
}

/// When a request that the protocol does not have may be refused instead of answered with an `error`, and the time that then passes, in
/// milliseconds since the epoch: each field has its type, and some value is not allowed.
pub(crate) fn refusable_at<P: Protocol>(raw: &Json) -> Option<i64> {
    let bad = Request::<P>::read(with_id(0, raw.as_str()).as_bytes()).err()?;
    let now = Timestamp::parse(&bad.refused_at?).ok()?;
    Some(now.millis())
}

/// The members of a step as they were before a step was a request.
const OLD: [&str; 2] = ["clock", "asked"];

/// What to do with a file that has such a step.
const OLDER: &str = "an older version of countersign kept it: \
                     find the run again with `countersign diff`, or replay it with that version";

/// The member that holds a request that the protocol does not have.
const RAW: &str = "raw";

impl<P: Protocol> Step<P> {
    /// A request of the protocol, at this time in milliseconds since the epoch.
    pub const fn new(now: i64, op: Op<P>) -> Self {
        let ask = Ask::Op(op);
        Self { now, ask }
    }

    /// The step that a request without its id is; one that the protocol does not have is asked at this time. None for `hello` and
    /// `reset`, and what is no object.
    pub(crate) fn reading(now: i64, request: &str) -> Option<Self> {
        let step = match Self::read(request) {
            Ok(step) => step,
            Err(_) if !request.starts_with('{') => return None,
            Err(_) => Self {
                now,
                ask: Ask::Raw(serde_json::from_str(request).ok()?),
            },
        };
        step.is_within_run().then_some(step)
    }

    /// The step of a request of the protocol.
    fn read(request: &str) -> Result<Self, String> {
        // As it is written: a member that comes twice is for the request to refuse.
        let request = Request::<P>::read(with_id(0, request).as_bytes());
        let Request { now, op, .. } = request.map_err(|it| it.to_string())?;
        let now = Timestamp::parse(&now.unwrap_or_default());
        let now = now.map_err(|it| format!("`now`: {it}"))?;
        Ok(Self::new(now.millis(), op))
    }

    /// Every run begins with `hello` and `reset`: no step is one.
    const fn is_within_run(&self) -> bool {
        let op = self.ask.op();
        !matches!(
            op,
            Some(Op::Common(Common::Hello { .. } | Common::Reset {}))
        )
    }

    /// The request, without its id.
    ///
    /// # Errors
    ///
    /// Serde's, where it cannot be written.
    pub fn request(&self) -> serde_json::Result<Json> {
        let op = match &self.ask {
            Ask::Raw(raw) => return Ok(raw.clone()),
            Ask::Op(op) => op.clone(),
        };
        let request = Request {
            id: 0,
            now: Some(Timestamp::from_millis(self.now).to_string()),
            op,
        };
        let line = serde_json::to_string(&request)?;
        serde_json::from_str(&line.replacen("\"id\":0,", "", 1))
    }
}

impl<P: Protocol> Ask<P> {
    /// The op, where it is a request of the protocol.
    pub const fn op(&self) -> Option<&Op<P>> {
        match self {
            Self::Op(op) => Some(op),
            Self::Raw(_) => None,
        }
    }
}

impl<P: Protocol> Serialize for Step<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request().map_err(S::Error::custom)?;
        if self.ask.op().is_some() {
            return request.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("now", &Timestamp::from_millis(self.now).to_string())?;
        map.serialize_entry(RAW, &request)?;
        map.end()
    }
}

impl<'de, P: Protocol> Deserialize<'de> for Step<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let step = Json::deserialize(deserializer)?;
        let members: BTreeMap<String, Json> =
            serde_json::from_str(step.as_str()).map_err(D::Error::custom)?;
        if OLD.iter().all(|it| members.contains_key(*it)) {
            return Err(D::Error::custom(OLDER));
        }
        let raw = members.get(RAW);
        let within = raw.map_or("{}", Json::as_str);
        let within: BTreeMap<String, Json> =
            serde_json::from_str(within).map_err(D::Error::custom)?;
        if members.contains_key("id") || within.contains_key("id") {
            return Err(D::Error::custom("a step has no `id`"));
        }
        let step = if let Some(raw) = raw {
            if members
                .keys()
                .any(|it| !["now", RAW].contains(&it.as_str()))
            {
                return Err(D::Error::custom("beside `raw` there is `now` alone"));
            }
            // The same time, of a request that any protocol has.
            let now = members.get("now").map_or("null", Json::as_str);
            let tick = Self::read(&format!("{{\"op\":\"tick\",\"now\":{now}}}"));
            let Self { now, .. } = tick.map_err(D::Error::custom)?;
            if Self::read(raw.as_str()).is_ok() {
                return Err(D::Error::custom(
                    "the protocol has the request in `raw`: a step of its own holds it",
                ));
            }
            let ask = Ask::Raw(raw.clone());
            Self { now, ask }
        } else {
            Self::read(step.as_str()).map_err(D::Error::custom)?
        };
        if !step.is_within_run() {
            return Err(D::Error::custom(
                "every run begins with `hello` and `reset`: no step is one",
            ));
        }
        Ok(step)
    }
}
