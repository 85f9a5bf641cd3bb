//! Other answers than those that came, and the clauses by which they would have been wrong.
//!
//! The one thing to know: each is an answer that an implementation could give, and the judge is asked what he would have found in
//! it: an output is left out, comes once more, or has one member otherwise. Of each form only so many are tried.

use std::collections::{BTreeMap, BTreeSet};

use countersign_driver::{Output, Protocol as _};
use countersign_model::judge::Judge as _;
use countersign_reference::time::Timestamp;
use serde_json::Value;

use super::{Asked, Driven};

/// What could have been put out instead.
pub struct Others<D: Driven> {
    /// The last outputs of the run.
    last: Vec<Output<D::Protocol>>,
    /// The values that were seen at each place in outputs of a kind.
    values: BTreeMap<String, Vec<Value>>,
    /// How often each form of another answer was tried.
    tried: BTreeMap<String, u32>,
    /// The clauses by which another answer would have been wrong.
    pub exercised: BTreeSet<&'static str>,
}

/// So many outputs are remembered.
const LAST: usize = 16;
/// So many values are remembered at each place.
const VALUES: usize = 6;
/// So often an answer of one form is tried.
const TIMES: u32 = 12;

impl<D: Driven> Default for Others<D> {
    fn default() -> Self {
        Self {
            last: Vec::new(),
            values: BTreeMap::new(),
            tried: BTreeMap::new(),
            exercised: BTreeSet::new(),
        }
    }
}

/// An answer to a request, and what was known before it.
pub(super) struct Answer<'a, D: Driven> {
    pub driven: &'a D,
    pub judge: &'a D::Judge,
    pub asked: &'a Asked<D>,
    pub outputs: &'a [Output<D::Protocol>],
}

impl<D: Driven> Others<D> {
    /// At the start of a run.
    pub(super) fn begin(&mut self) {
        self.last.clear();
    }

    /// Has a copy of the judge say what he would have found in other answers.
    pub(super) fn try_all(&mut self, answer: &Answer<'_, D>) {
        let op = answer.asked.op.name();
        let outputs = answer.outputs;
        for (place, output) in outputs.iter().enumerate() {
            let value = serde_json::to_value(output).unwrap_or_default();
            let form = form::<D>(output, &value);
            self.learn(&form, "", &value);
            if self.is_untried(format!("{op} without {form}")) {
                let mut fewer = outputs.to_vec();
                fewer.remove(place);
                self.is_tried(answer, &fewer);
            }
            for (what, other) in self.alterations(&form, &value) {
                if self.is_untried(format!("{op} {form}{what}"))
                    && let Ok(other) = serde_json::from_str(&other.to_string())
                {
                    let mut with = outputs.to_vec();
                    with[place] = other;
                    self.is_tried(answer, &with);
                }
            }
        }
        for other in self.last.iter().chain(outputs).cloned().collect::<Vec<_>>() {
            let value = serde_json::to_value(&other).unwrap_or_default();
            let form = form::<D>(&other, &value);
            if self.is_untried(format!("{op} with {form}")) {
                let with = [outputs, &[other]].concat();
                self.is_tried(answer, &with);
            }
        }
        self.last.extend_from_slice(outputs);
        let beyond = self.last.len().saturating_sub(LAST);
        self.last.drain(..beyond);
    }

    fn is_untried(&mut self, form: String) -> bool {
        let times = self.tried.entry(form).or_default();
        *times += 1;
        *times <= TIMES
    }

    fn is_tried(&mut self, answer: &Answer<'_, D>, outputs: &[Output<D::Protocol>]) {
        let Answer {
            driven,
            judge,
            asked,
            ..
        } = answer;
        let found = Self::wrong(driven, judge, asked, outputs);
        self.exercised.extend(found);
    }

    /// The clauses by which these outputs would be wrong.
    pub(crate) fn wrong(
        driven: &D,
        judge: &D::Judge,
        asked: &Asked<D>,
        outputs: &[Output<D::Protocol>],
    ) -> BTreeSet<&'static str> {
        let Asked { now, call, .. } = asked;
        let mut found = BTreeSet::new();
        match driven.clone().take(call, outputs) {
            Ok(shown) => {
                let shown: Vec<_> = shown.into_iter().flatten().collect();
                for finding in judge.clone().see(*now, call, &shown) {
                    found.insert(finding.clause);
                    found.extend(finding.also);
                }
            }
            Err(unreadable) => {
                found.insert(unreadable.clause);
            }
        }
        found
    }

    /// Remembers what stands where in outputs of this form.
    fn learn(&mut self, form: &str, place: &str, value: &Value) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.learn(form, &format!("{place}/{name}"), member);
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                // What an event is shows in its form, and another can be put in its place.
                let kind = form.split(' ').next().unwrap_or_default();
                let known = self.values.entry(format!("{kind}{place}")).or_default();
                if known.len() < VALUES && !known.contains(value) {
                    known.push(value.clone());
                }
            }
        }
    }

    /// The same output with one member otherwise, each with what is otherwise.
    fn alterations(&self, form: &str, value: &Value) -> Vec<(String, Value)> {
        let mut altered = Vec::new();
        let kind = form.split(' ').next().unwrap_or_default();
        for place in places(value) {
            let Some(member) = value.pointer(&place) else {
                continue;
            };
            let mut put = |how: &str, other: Value| {
                let mut whole = value.clone();
                if let Some(member) = whole.pointer_mut(&place) {
                    *member = other;
                    altered.push((format!("{place} {how}"), whole));
                }
            };
            let known = self.values.get(&format!("{kind}{place}"));
            for other in known.into_iter().flatten().filter(|it| *it != member) {
                put("another", other.clone());
            }
            match member {
                Value::Bool(is) => put("otherwise", Value::Bool(!is)),
                Value::Number(number) => {
                    if let Some(number) = number.as_i64() {
                        put("more", Value::from(number.saturating_add(1)));
                        put("less", Value::from(number.saturating_sub(1)));
                    }
                }
                Value::String(text) => {
                    put("longer", Value::from(format!("{text}x")));
                    put("empty", Value::from(""));
                    if let Ok(time) = Timestamp::parse(text) {
                        let [before, behind] = [-1_000, 1_000].map(|beside| {
                            Timestamp::from_millis(time.millis().saturating_add(beside))
                        });
                        put("earlier", Value::from(before.to_string()));
                        put("later", Value::from(behind.to_string()));
                    }
                }
                Value::Null => put("there", Value::from("x")),
                Value::Array(_) => put("emptied", Value::Array(Vec::new())),
                Value::Object(_) => put("emptied", Value::Object(serde_json::Map::new())),
            }
            altered.push((format!("{place} left out"), without(value, &place)));
        }
        altered
    }
}

/// What an output is: its kind, and its type where it has one.
fn form<D: Driven>(output: &Output<D::Protocol>, value: &Value) -> String {
    let kind = format!("{:?}", D::Protocol::kind(&output.what));
    let mut members = value.as_object().into_iter().flatten();
    let typed = members.find_map(|(_, it)| it.get("type").or_else(|| it.get("event")));
    format!("{kind} {}", typed.and_then(Value::as_str).unwrap_or(""))
}

/// The places of all members, as JSON pointers.
pub(crate) fn places(value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    if let Value::Object(members) = value {
        for (name, member) in members {
            let name = name.replace('~', "~0").replace('/', "~1");
            let own = format!("/{name}");
            all.extend(places(member).iter().map(|place| format!("{own}{place}")));
            all.push(own);
        }
    }
    all
}

/// The same without the member at this JSON pointer.
pub(crate) fn without(value: &Value, pointer: &str) -> Value {
    let mut whole = value.clone();
    if let Some((of, name)) = pointer.rsplit_once('/')
        && let Some(Value::Object(members)) = whole.pointer_mut(of)
    {
        members.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
    }
    whole
}
