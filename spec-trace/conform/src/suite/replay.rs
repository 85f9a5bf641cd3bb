//! A vector against an implementation.
//!
//! The one thing to know: it is held by what the file says alone, as a test driver in any language holds it (README.md of the
//! vectors), so that a file that was changed by hand is taken at its word. No judge is asked.

use countersign_protocol::{Common, Kind, Op, Output, Protocol, Request};
use countersign_reference::time::Timestamp;
use serde_json::{Map, Value};

use super::vectors::{Pattern, Vector, VectorStep};
use crate::implementation::{Greeted, Implementation, Lost, Said};

/// What a vector has come to.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// Every step was as it says.
    Passed,
    /// This implementation does not support this op.
    Unsupported(String),
    /// At this step, counted from 0, this is wrong; nothing behind it was asked.
    Failed(usize, Vec<Amiss>),
}

/// Something that is wrong in an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Amiss {
    /// An output did not come, by these clauses.
    Missing(Map<String, Value>, Vec<String>),
    /// An output came that is wrong, by these clauses.
    Forbidden(Value, Vec<String>),
    /// There was no answer.
    Lost(Lost),
}

/// A step, counted from 0, whose request the driver protocol does not have; with what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request of step {0} cannot be asked: {1}")]
pub struct NoRequest(usize, String);

/// Asks what the vector asks, up to the first step at which something is wrong.
///
/// # Errors
///
/// [`NoRequest`], where the vector is none of this protocol.
pub fn replay<P: Protocol, I: Implementation<P>>(
    partner: &mut Greeted<P, I>,
    vector: &Vector,
) -> Result<Replayed, NoRequest> {
    let mut names = Map::new();
    for (place, step) in vector.steps.iter().enumerate() {
        let said = asked(partner, step, &names).map_err(|it| NoRequest(place, it))?;
        let wrong = match said {
            Ok(Said::Unsupported | Said::NotUnderstood) if step.ending => break,
            Ok(Said::Unsupported | Said::NotUnderstood) => {
                let op = step.request.get("op").and_then(Value::as_str);
                return Ok(Replayed::Unsupported(op.unwrap_or_default().to_owned()));
            }
            Ok(Said::Outputs(outputs)) => {
                let shows = |pattern: &Pattern| {
                    kind(&pattern.output).is_some_and(|it| partner.greeting().shows(it))
                };
                wrong(step, &outputs, shows, &mut names)
            }
            Err(lost) => vec![Amiss::Lost(lost)],
        };
        if !wrong.is_empty() {
            return Ok(Replayed::Failed(place, wrong));
        }
    }
    Ok(Replayed::Passed)
}

/// What the request of a step is answered with. An error, where it is none.
fn asked<P: Protocol, I: Implementation<P>>(
    partner: &mut Greeted<P, I>,
    step: &VectorStep,
    names: &Map<String, Value>,
) -> Result<Result<Said<P>, Lost>, String> {
    let mut members = step.request.clone();
    members.insert("id".to_owned(), Value::from(0));
    let line = filled(&Value::Object(members), names).to_string();
    let request = Request::<P>::read(line.as_bytes()).map_err(|it| it.to_string())?;
    let now = request.now.ok_or("it has no `now`")?;
    let now = Timestamp::parse(&now).map_err(|it| format!("`now`: {it}"))?;
    Ok(match request.op {
        // One that was lost starts anew.
        Op::Common(Common::Reset {}) => partner.reset(now.millis()),
        op @ (Op::Common(_) | Op::Own(_)) => partner.ask(now.millis(), op),
    })
}

/// What is wrong in the outputs of a step; and what the implementation has named in them.
fn wrong<P: Protocol>(
    step: &VectorStep,
    outputs: &[Output<P>],
    shows: impl Fn(&Pattern) -> bool,
    names: &mut Map<String, Value>,
) -> Vec<Amiss> {
    let values = outputs.iter().map(serde_json::to_value);
    let mut free: Vec<Value> = values.filter_map(Result::ok).collect();
    let mut wrong = Vec::new();
    for expected in step.expected.iter().filter(|it| shows(&it.pattern)) {
        let mut fitting = free.iter().enumerate();
        let taken =
            fitting.find_map(|(place, it)| Some((place, is_one(&expected.pattern, it, names)?)));
        if let Some((place, known)) = taken {
            free.remove(place);
            *names = known;
        } else if !expected.required.is_empty() {
            let output = filled_members(&expected.pattern.output, names);
            wrong.push(Amiss::Missing(output, expected.required.clone()));
        }
    }
    for output in free {
        let mut forbidden = step.forbidden.iter();
        if let Some(it) = forbidden.find(|it| is_one(&it.pattern, &output, names).is_some()) {
            wrong.push(Amiss::Forbidden(output, it.because.clone()));
        }
    }
    wrong
}

/// The name of what an output is: its one member beside `to`.
fn kind_name(output: &Map<String, Value>) -> Option<&String> {
    output.keys().find(|name| *name != "to")
}

fn kind(output: &Map<String, Value>) -> Option<Kind> {
    serde_json::from_value(Value::from(kind_name(output)?.as_str())).ok()
}

/// What is known once this output is that of the pattern; nothing where it is not.
fn is_one(
    pattern: &Pattern,
    output: &Value,
    names: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    if kind_name(&pattern.output) != output.as_object().and_then(kind_name) {
        return None;
    }
    let wanted = Value::Object(pattern.output.clone());
    let mut names = names.clone();
    for place in &pattern.members {
        is_same(wanted.pointer(place), output.pointer(place), &mut names).then_some(())?;
    }
    let mut present = pattern.present.iter();
    present
        .all(|place| output.pointer(place).is_some())
        .then_some(())?;
    // What does not matter may be named for later.
    learn(&wanted, output, &mut names);
    Some(names)
}

/// Whether what came is what was wanted; a name that is not known yet is anything that has no name.
fn is_same(wanted: Option<&Value>, came: Option<&Value>, names: &mut Map<String, Value>) -> bool {
    let name = wanted.and_then(|it| unknown(it, names));
    let (Some(name), Some(value)) = (name, came) else {
        return wanted.map(|it| filled(it, names)).as_ref() == came;
    };
    // Two texts of its own may be the same.
    let is_free = name.starts_with("text-") || names.values().all(|known| known != value);
    if is_free {
        names.insert(name, value.clone());
    }
    is_free
}

/// Learns each name that stands alone in the place of something.
fn learn(wanted: &Value, came: &Value, names: &mut Map<String, Value>) {
    if let (Value::Object(wanted), Value::Object(came)) = (wanted, came) {
        for (member, wanted) in wanted {
            if let Some(came) = came.get(member) {
                learn(wanted, came, names);
            }
        }
    } else if let Some(name) = unknown(wanted, names) {
        names.insert(name, came.clone());
    }
}

/// The name that is all of a value and that nothing has yet.
fn unknown(value: &Value, names: &Map<String, Value>) -> Option<String> {
    let name = value.as_str()?.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = !name.contains(['$', '{', '}']);
    (is_name && !names.contains_key(name)).then(|| name.to_owned())
}

/// The same with what the implementation has named.
fn filled(value: &Value, names: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let whole = text.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
            if let Some(known) = whole.and_then(|name| names.get(name)) {
                return known.clone();
            }
            let put = |text: String, (name, known): (&String, &Value)| {
                let known = known
                    .as_str()
                    .map_or_else(|| known.to_string(), str::to_owned);
                text.replace(&format!("${{{name}}}"), &known)
            };
            Value::from(names.iter().fold(text.clone(), put))
        }
        Value::Array(items) => items.iter().map(|it| filled(it, names)).collect(),
        Value::Object(members) => Value::Object(filled_members(members, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn filled_members(members: &Map<String, Value>, names: &Map<String, Value>) -> Map<String, Value> {
    let filled = members
        .iter()
        .map(|(name, it)| (name.clone(), filled(it, names)));
    filled.collect()
}
