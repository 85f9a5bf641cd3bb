//! Whole answers that the same op had elsewhere, in the names and times of the run in which they are tried.
//!
//! The one thing to know: a text of an answer that its own call named is taken for the text that stands in the same place of the
//! call now, and a time for the same time from now; so is what the calls named that the two refer to. Whether the answer then is
//! wrong is for the judge.

use std::collections::{BTreeMap, BTreeSet};

use countersign_protocol::{Op, Output, Protocol, Request};
use countersign_reference::time::Timestamp;
use serde_json::Value;

/// The calls of this run, and answers that came elsewhere.
#[derive(Clone, Default)]
pub(super) struct Elsewhere {
    calls: Vec<Call>,
    answers: BTreeMap<String, BTreeMap<String, Remembered>>,
}

/// A call of this run: what was asked and answered, and the names that the answer gives.
#[derive(Clone)]
struct Call {
    asked: Value,
    answered: Value,
    names: BTreeSet<String>,
}

/// An answer, with what was known when it came.
#[derive(Clone)]
struct Remembered {
    now: i64,
    known: Known,
    answered: Value,
}

/// What a call names, and those that it refers to: each place with what stands there, the call's own first.
type Known = Vec<(String, Value)>;

/// So many answers to an op are remembered, each of a form of its own.
const FORMS: usize = 12;
/// A text of fewer bytes is replaced only as a whole.
const NAME: usize = 6;

impl Elsewhere {
    /// At the start of a run.
    pub(super) fn begin(&mut self) {
        self.calls.clear();
    }

    /// The forms of the answers that this op has had, but for this one.
    pub(super) fn forms(&self, op: &str, but: &str) -> Vec<String> {
        let forms = self.answers.get(op).into_iter().flat_map(BTreeMap::keys);
        forms.filter(|form| *form != but).cloned().collect()
    }

    /// The answer of this form, as it would be to what is asked now. Nothing, where it would not be one.
    pub(super) fn answer<P: Protocol>(
        &self,
        form: &str,
        asked: &Op<P>,
        now: i64,
    ) -> Option<Vec<Output<P>>> {
        let remembered = self.answers.get(&asked.name())?.get(form)?;
        let known = self.known(&written(asked));
        let here = Here {
            later: now - remembered.now,
            pairs: pairs(&remembered.known, &known),
            taken: self.calls.iter().flat_map(|it| &it.names).collect(),
        };
        let answered = here.put("", &remembered.answered);
        serde_json::from_str(&answered.to_string()).ok()
    }

    /// Remembers an answer of this form, in the place of one that came before: what came last is likely of this very run.
    pub(super) fn learn<P: Protocol>(
        &mut self,
        form: String,
        asked: &Op<P>,
        answered: Vec<Value>,
        now: i64,
    ) {
        let op = asked.name();
        let asked = written(asked);
        let answered = Value::Array(answered);
        let of_op = self.answers.get(&op);
        if of_op.is_none_or(|it| it.len() < FORMS || it.contains_key(&form)) {
            let remembered = Remembered {
                now,
                known: self.known(&asked),
                answered: answered.clone(),
            };
            self.answers.entry(op).or_default().insert(form, remembered);
        }
        let mut names = BTreeSet::new();
        leaves(&answered, "", &mut |place, value| {
            if let Value::String(text) = value
                && is_name(place)
            {
                names.insert(text.clone());
            }
        });
        self.calls.push(Call {
            asked,
            answered,
            names,
        });
    }

    fn known(&self, asked: &Value) -> Known {
        let mut known = Known::new();
        leaves(asked, "", &mut |place, value| {
            known.push((place.to_owned(), value.clone()));
        });
        let named = known.iter().filter_map(|(place, value)| {
            let text = value.as_str()?;
            let mut before = self.calls.iter().rev();
            Some((place.clone(), before.find(|it| it.names.contains(text))?))
        });
        let mut referred: Vec<_> = named.collect();
        let last = self.calls.iter().rfind(|it| !it.names.is_empty());
        referred.extend(last.map(|it| ("last".to_owned(), it)));
        for (by, call) in referred {
            for (part, value) in [("asked", &call.asked), ("answered", &call.answered)] {
                leaves(value, &format!("{by} {part}"), &mut |place, value| {
                    known.push((place.to_owned(), value.clone()));
                });
            }
        }
        known
    }
}

/// What stands for what, and when.
struct Here<'a> {
    later: i64,
    /// What stood elsewhere in a place and what stands here in it, each with the name of the place.
    pairs: Vec<(&'a str, &'a Value, &'a Value)>,
    /// The names that are given already.
    taken: BTreeSet<&'a String>,
}

fn pairs<'a>(there: &'a Known, here: &'a Known) -> Vec<(&'a str, &'a Value, &'a Value)> {
    let mut places = BTreeMap::new();
    for (place, value) in here {
        places.entry(place).or_insert(value);
    }
    let pairs = there.iter().filter_map(|(place, value)| {
        let name = place.rsplit('/').next().unwrap_or_default();
        Some((name, value, *places.get(place)?))
    });
    pairs.collect()
}

impl Here<'_> {
    /// The same, as it would be here.
    fn put(&self, name: &str, value: &Value) -> Value {
        let mut same = self.pairs.iter().filter(|(_, there, _)| *there == value);
        let first = same.clone().next();
        let named = same.find(|(of, ..)| *of == name);
        match value {
            Value::Object(members) => {
                let members = members.iter();
                let members = members.map(|(name, it)| (name.clone(), self.put(name, it)));
                Value::Object(members.collect())
            }
            Value::Array(items) => items.iter().map(|it| self.put(name, it)).collect(),
            Value::String(text) => {
                if let Ok(time) = Timestamp::parse(text) {
                    let moved = time.millis().saturating_add(self.later);
                    return Value::from(Timestamp::from_millis(moved).to_string());
                }
                match named.or(first) {
                    Some((_, _, here)) => (*here).clone(),
                    None => Value::from(self.text(name, text)),
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                named.map_or_else(|| value.clone(), |(_, _, here)| (*here).clone())
            }
        }
    }

    /// A text that no place of the call has: with what it holds of them, and another where it is a name that is given already.
    fn text(&self, name: &str, text: &str) -> String {
        for (_, there, here) in &self.pairs {
            if let (Value::String(there), Value::String(here)) = (there, here)
                && there.len() >= NAME
                && text.contains(there)
            {
                return text.replace(there, here);
            }
        }
        let mut text = text.to_owned();
        while is_name(name) && self.taken.contains(&text) {
            let Some(next) = another(&text) else {
                break;
            };
            text = next;
        }
        text
    }
}

/// The same with its last digit another, until all have been; its digits are those of base 16.
fn another(text: &str) -> Option<String> {
    let at = text.rfind(|it: char| it.is_ascii_digit() && it != '9')?;
    let digit = text[at..].chars().next()?.to_digit(10)?;
    let behind = text[at + 1..].replace('9', "0");
    Some(format!("{}{}{behind}", &text[..at], digit + 1))
}

/// Whether what stands in this place is a name that is given, such as an id.
fn is_name(place: &str) -> bool {
    ["id", "token", "nonce"]
        .iter()
        .any(|it| place.ends_with(it))
}

/// Each member that is no object and no list, with its place; and what a text holds that is an object itself.
fn leaves(value: &Value, place: &str, tell: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                leaves(member, &format!("{place}/{name}"), tell);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, &format!("{place}/{at}"), tell);
            }
        }
        Value::String(text) => {
            tell(place, value);
            if text.starts_with('{')
                && let Ok(within) = serde_json::from_str(text)
            {
                leaves(&within, place, tell);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => tell(place, value),
    }
}

/// A request without its id and time.
fn written<P: Protocol>(op: &Op<P>) -> Value {
    let request = Request {
        id: 0,
        now: None,
        op: op.clone(),
    };
    serde_json::to_value(request).unwrap_or_default()
}
