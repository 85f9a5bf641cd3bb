//! A step of a run: a request of the driver protocol without its id. Placeholders stand for what the implementation names.

use std::collections::BTreeMap;

use countersign_protocol::{Common, Json, Op, Protocol, Request};
use countersign_reference::time::Timestamp;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A request at a time. Whoever plays it puts in what the implementation has named by then.
#[derive(Clone, Debug, PartialEq)]
pub struct Step<P: Protocol> {
    /// The time, in milliseconds since the epoch.
    pub now: i64,
    /// What is asked.
    pub op: Op<P>,
}

/// What stands for the thing of that number, counted from 0 in the order in which the implementation names them. `of` is the member
/// that holds the name: `${action_id-1}` is the first action.
pub fn placeholder(of: &str, number: usize) -> String {
    format!("${{{of}-{}}}", number + 1)
}

/// The number that a placeholder of this member stands for.
pub fn placed(of: &str, text: &str) -> Option<usize> {
    let counted = text.strip_prefix("${")?.strip_prefix(of)?;
    let counted: usize = counted.strip_prefix('-')?.strip_suffix('}')?.parse().ok()?;
    counted.checked_sub(1)
}

/// The members of a step as they were before a step was a request.
const OLD: [&str; 2] = ["clock", "asked"];

/// What to do with a file that has such a step.
const OLDER: &str = "an older version of countersign kept it: \
                     find the run again with `countersign diff`, or replay it with that version";

impl<P: Protocol> Serialize for Step<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = Request {
            id: 0,
            now: Some(Timestamp::from_millis(self.now).to_string()),
            op: self.op.clone(),
        };
        let line = serde_json::to_string(&request).map_err(S::Error::custom)?;
        let step = line.replacen("\"id\":0,", "", 1);
        let step: Json = serde_json::from_str(&step).map_err(S::Error::custom)?;
        step.serialize(serializer)
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
        if members.contains_key("id") {
            return Err(D::Error::custom("a step has no `id`"));
        }
        // As it is written: a member that comes twice is for the request to refuse.
        let line = step.as_str().replacen('{', "{\"id\":0,", 1);
        let request = Request::<P>::read(line.as_bytes()).map_err(D::Error::custom)?;
        if let Op::Common(Common::Hello { .. } | Common::Reset {}) = request.op {
            return Err(D::Error::custom(
                "every run begins with `hello` and `reset`: no step is one",
            ));
        }
        let now = request.now.unwrap_or_default();
        let now = Timestamp::parse(&now).map_err(|it| D::Error::custom(format!("`now`: {it}")))?;
        Ok(Self {
            now: now.millis(),
            op: request.op,
        })
    }
}
