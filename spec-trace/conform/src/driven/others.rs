//! Other answers than those that came, and the clauses by which they would have been wrong.
//!
//! The one thing to know: each is an answer that an implementation could give, and the judge is asked what he would have found in
//! it: an output is left out, comes once more, or has one member otherwise, or all is as it was elsewhere. Of each form only so many
//! are tried, but in a run that is there for a clause ([`Others::tries_for`]).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use countersign_protocol::{Greeting, Kind, Output, Protocol as _};
use countersign_reference::time::Timestamp;
use serde_json::Value;

use super::elsewhere::Elsewhere;
use super::{Asked, Played, Step, Told, Wrong, at_reset};
use crate::checked::Checked;
use crate::spoken::{Driver, Spoken, Wire};

/// What could have been put out instead.
#[derive(Clone)]
pub struct Others<P: Spoken> {
    /// The last outputs of the run, each with its form.
    last: Vec<(String, Output<Wire<P>>)>,
    /// What the same op was answered with elsewhere.
    elsewhere: Elsewhere,
    /// The values that were seen last at each place in outputs of a kind.
    values: BTreeMap<String, Vec<Value>>,
    /// How often each form of another answer was tried.
    tried: BTreeMap<String, u32>,
    /// The clauses that the run is there for.
    clauses: Vec<String>,
    /// The clauses by which another answer would have been wrong.
    pub exercised: BTreeSet<&'static str>,
}

/// So many outputs are remembered.
const LAST: usize = 16;
/// So many values are remembered at each place.
const VALUES: usize = 6;
/// So often an answer of one form is tried.
const TIMES: u32 = 8;

impl<P: Spoken> Default for Others<P> {
    fn default() -> Self {
        Self {
            last: Vec::new(),
            elsewhere: Elsewhere::default(),
            values: BTreeMap::new(),
            tried: BTreeMap::new(),
            clauses: Vec::new(),
            exercised: BTreeSet::new(),
        }
    }
}

/// An answer to a request, and what was known before it.
struct Answer<'a, P: Spoken> {
    driven: &'a Driver<P>,
    judge: &'a Checked<P>,
    asked: &'a Asked<P>,
    outputs: &'a [Output<Wire<P>>],
}

impl<P: Spoken> Others<P> {
    /// Has the judge say what he would have found in other answers than those that came in a run.
    pub(super) fn try_run(
        &mut self,
        greeting: &Rc<Greeting<Wire<P>>>,
        steps: &[Step<Wire<P>>],
        judge: &Checked<P>,
        played: &Played<P>,
    ) {
        self.last.clear();
        self.elsewhere.begin();
        answers(greeting, steps, judge, played, |_, answer| {
            self.try_all(answer);
        });
    }

    /// The runs that come next are there for these clauses: in them all is tried until another answer is wrong by each.
    pub fn tries_for<'a>(&mut self, clauses: impl IntoIterator<Item = &'a str>) {
        self.clauses = clauses.into_iter().map(str::to_owned).collect();
    }

    /// Has a copy of the judge say what he would have found in other answers.
    fn try_all(&mut self, answer: &Answer<'_, P>) {
        let op = answer.asked.op.name();
        let outputs = answer.outputs;
        let values = outputs.iter().map(serde_json::to_value);
        let values: Vec<Value> = values.map(Result::unwrap_or_default).collect();
        let forms: Vec<String> = outputs
            .iter()
            .zip(&values)
            .map(|(it, value)| form::<P>(it, value))
            .collect();
        for (place, (form, value)) in forms.iter().zip(&values).enumerate() {
            self.tries(answer, format!("{op} without {form}"), |_| {
                let mut fewer = outputs.to_vec();
                fewer.remove(place);
                vec![fewer]
            });
            self.tries(answer, format!("{op} otherwise {form}"), |others| {
                others.learn(form, "", value);
                let altered = others.alterations(form, value).into_iter();
                let altered = altered.filter_map(|other| {
                    let mut with = outputs.to_vec();
                    with[place] = serde_json::from_str(&other.to_string()).ok()?;
                    Some(with)
                });
                altered.collect()
            });
        }
        let own = forms.iter().cloned().zip(outputs.iter().cloned());
        self.last.extend(own);
        for (form, other) in self.last.clone() {
            self.tries(answer, format!("{op} with {form}"), |_| {
                vec![[outputs, &[other]].concat()]
            });
        }
        let beyond = self.last.len().saturating_sub(LAST);
        self.last.drain(..beyond);
        self.tries_elsewhere(answer, forms.join(", "), values);
    }

    /// What the same op was answered with elsewhere.
    fn tries_elsewhere(&mut self, answer: &Answer<'_, P>, form: String, values: Vec<Value>) {
        let Asked { now, op, .. } = answer.asked;
        let name = op.name();
        for other in self.elsewhere.forms(&name, &form) {
            self.tries(answer, format!("{name} as {other}"), |others| {
                let answer = others.elsewhere.answer(&other, op, *now);
                answer.into_iter().collect()
            });
        }
        self.elsewhere.learn(form, op, values, *now);
    }

    /// Tries answers of a form, unless it was tried so often without showing anything new.
    fn tries(
        &mut self,
        answer: &Answer<'_, P>,
        form: String,
        outputs: impl FnOnce(&mut Self) -> Vec<Vec<Output<Wire<P>>>>,
    ) {
        let mut wanted = self.clauses.iter();
        let is_wanted = wanted.any(|clause| !self.exercised.contains(clause.as_str()));
        let times = self.tried.get(&form).copied().unwrap_or(0);
        if times >= TIMES && !is_wanted {
            return;
        }
        let known = self.exercised.len();
        let Answer {
            driven,
            judge,
            asked,
            ..
        } = answer;
        for outputs in outputs(self) {
            let found = Self::wrong(driven, judge, asked, &outputs);
            self.exercised.extend(found);
        }
        let is_news = self.exercised.len() > known;
        self.tried.insert(form, if is_news { 0 } else { times + 1 });
    }

    /// The clauses by which these outputs would be wrong.
    pub(crate) fn wrong(
        driven: &Driver<P>,
        judge: &Checked<P>,
        asked: &Asked<P>,
        outputs: &[Output<Wire<P>>],
    ) -> BTreeSet<&'static str> {
        let shown = driven.clone().take(&asked.call, outputs);
        let found = judge.clone().see(&asked.call, &shown).into_iter();
        let clauses = found.flat_map(|it| [it.clause].into_iter().chain(it.also.iter().copied()));
        clauses.collect()
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
                // Those that came last, for a name of another run means nothing in this one.
                let known = self.values.entry(format!("{kind}{place}")).or_default();
                known.retain(|it| it != value);
                known.push(value.clone());
                let beyond = known.len().saturating_sub(VALUES);
                known.drain(..beyond);
            }
        }
    }

    /// The same output, each time with one member otherwise.
    fn alterations(&self, form: &str, value: &Value) -> Vec<Value> {
        let mut altered = Vec::new();
        let kind = form.split(' ').next().unwrap_or_default();
        for place in places(value) {
            let Some(member) = value.pointer(&place) else {
                continue;
            };
            let mut put = |other: Value| {
                let mut whole = value.clone();
                if let Some(member) = whole.pointer_mut(&place) {
                    *member = other;
                    altered.push(whole);
                }
            };
            let known = self.values.get(&format!("{kind}{place}"));
            for other in known.into_iter().flatten().filter(|it| *it != member) {
                put(other.clone());
            }
            match member {
                Value::Bool(is) => put(Value::Bool(!is)),
                Value::Number(number) => {
                    if let Some(number) = number.as_i64() {
                        put(Value::from(number.saturating_add(1)));
                        put(Value::from(number.saturating_sub(1)));
                    }
                }
                Value::String(text) => {
                    put(Value::from(format!("{text}x")));
                    put(Value::from(""));
                    if let Ok(time) = Timestamp::parse(text) {
                        for beside in [-1_000, 1_000] {
                            let beside = time.millis().saturating_add(beside);
                            put(Value::from(Timestamp::from_millis(beside).to_string()));
                        }
                    }
                }
                Value::Null => put(Value::from("x")),
                Value::Array(_) => put(Value::Array(Vec::new())),
                Value::Object(_) => put(Value::Object(serde_json::Map::new())),
            }
            altered.push(without(value, &place));
        }
        altered
    }
}

/// Shows each answer of a run, with the calls that were made by then.
fn answers<P: Spoken>(
    greeting: &Rc<Greeting<Wire<P>>>,
    steps: &[Step<Wire<P>>],
    judge: &Checked<P>,
    played: &Played<P>,
    mut show: impl FnMut(usize, &Answer<'_, P>),
) {
    let mut judge = at_reset::<P>(judge);
    let mut driven = Driver::<P>::begin(greeting);
    let mut answered = (1..).zip(played.answered()).peekable();
    for (at, step) in steps.iter().enumerate() {
        let Some(asked) = driven.ask(step) else {
            continue;
        };
        let Some((calls, Told { outputs, .. })) = answered.next_if(|(_, told)| told.at == at)
        else {
            continue;
        };
        show(
            calls,
            &Answer {
                driven: &driven,
                judge: &judge,
                asked: &asked,
                outputs,
            },
        );
        let shown = driven.take(&asked.call, outputs);
        let _found = judge.see(&asked.call, &shown);
    }
}

/// Whether something was performed at a call that was not to be: without it, the call is not wrong by this clause.
pub(super) fn ran_wrongly<P: Spoken>(
    greeting: &Rc<Greeting<Wire<P>>>,
    steps: &[Step<Wire<P>>],
    judge: &Checked<P>,
    played: &Played<P>,
    wrong: &Wrong,
) -> bool {
    let mut ran = false;
    answers(greeting, steps, judge, played, |calls, answer| {
        let Answer {
            driven,
            judge,
            asked,
            outputs,
        } = answer;
        let is_perform = |it: &Output<Wire<P>>| Wire::<P>::kind(&it.what) == Kind::Perform;
        if calls == wrong.calls && outputs.iter().any(is_perform) {
            let others: Vec<_> = outputs
                .iter()
                .filter(|it| !is_perform(it))
                .cloned()
                .collect();
            let found = Others::<P>::wrong(driven, judge, asked, &others);
            ran = !found.contains(wrong.finding.clause);
        }
    });
    ran
}

/// What an output is: its kind, and its type where it has one.
fn form<P: Spoken>(output: &Output<Wire<P>>, value: &Value) -> String {
    let kind = format!("{:?}", Wire::<P>::kind(&output.what));
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
