//! Test vectors: each run of the suite as plain JSON, with what the judge requires, allows and forbids at each step.
//!
//! The one thing to know: a party that is right answers the run, and every statement is what the judge says of another answer: he is
//! asked what he would have found, had an output been left out, had another member, or had one more come. What a party names by
//! itself stands as `${name}`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use countersign_model::facade::Model;
use countersign_protocol::{Greeting, Op, Output, Protocol, Request};
use countersign_reference::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Suite, committed};
use crate::checked::Checked;
use crate::driven::{Asked, Step, Taken, at_reset, wrong};
use crate::implementation::{Greeted, Implementation, Lost, Said};
use crate::spoken::{Capability, Driver, Producer, START, Spoken, Wire};

/// The version of the form of vectors.
pub const VERSION: u32 = 1;

/// One run, as a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// The version of this form: 1.
    pub version: u32,
    /// The protocol, by its name in `hello`.
    pub protocol: String,
    /// What the run is for.
    pub shows: Vec<String>,
    /// For each place where the text can be taken in more than one way, and that makes a difference here, the choices by which
    /// the answers are right. What is required and forbidden is so by the first choice of each place.
    pub readings: BTreeMap<String, Vec<String>>,
    /// The capabilities without which an implementation cannot take the run; what only its ending needs is not among them.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The requests, in order, behind `hello`.
    pub steps: Vec<VectorStep>,
}

/// One request, and what is right and wrong to answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VectorStep {
    /// The request of the driver protocol, without its `id`. `${name}` stands for what the implementation has named.
    pub request: Map<String, Value>,
    /// Outputs that are right, in an order that is.
    pub expected: Vec<Expected>,
    /// Outputs that are wrong here, beside those.
    pub forbidden: Vec<Forbidden>,
    /// Outputs that may come beside those.
    pub allowed: Vec<Pattern>,
    /// Whether it belongs to the ending, in which what has happened before can be seen. Who does not support it has passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ending: bool,
}

/// An output that is right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expected {
    /// The output.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// The clauses by which it is wrong to leave it out here; it may be, where there are none.
    pub required: Vec<String>,
}

/// An output that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Forbidden {
    /// The output.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// The clauses by which it is wrong.
    pub because: Vec<String>,
}

/// An output, and what of it matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pattern {
    /// One that a party put out. `${name}` stands for what the implementation has named, and names it where it comes first.
    pub output: Map<String, Value>,
    /// The members that matter, as JSON pointers: an output is this one where it is of the same kind and has the same there.
    pub members: Vec<String>,
    /// Members that have to be there, whatever they say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<String>,
}

/// The vectors of a protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of this form: 1.
    pub version: u32,
    /// The protocol, by its name in `hello`.
    pub protocol: String,
    /// The choices and numbers, other than those of the text, by which they were made, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub taken: BTreeMap<String, String>,
    /// Every file, in the order in which they are to be run.
    pub files: Vec<String>,
    /// The files that require or forbid something by a clause.
    pub clauses: BTreeMap<String, Vec<String>>,
    /// For each place where the text can be taken in more than one way, the choices, and the files that are wrong by each.
    pub readings: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    /// What has no run, and runs that nobody was found to answer rightly as the text is taken; with the reason.
    pub left_out: BTreeMap<String, String>,
}

/// The JSON Schema (draft 2020-12) of a file, and of the manifest.
pub fn schema() -> Value {
    let mut schema = json!(schemars::schema_for!(AnyFile));
    schema["title"] = Value::from(format!("Test vectors, version {VERSION}"));
    schema
}

/// One or the other.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there for its schema alone")]
enum AnyFile {
    Vector(Vector),
    Manifest(Manifest),
}

/// The members that hold what a party names.
const NAMED: [&str; 10] = [
    "action_id",
    "confirmation_token",
    "event_id",
    "message_id",
    "nonce",
    "reply_token",
    "session_id",
    "snapshot",
    "token_id",
    "tool_call_id",
];

/// The member that holds a party's own words, which may have to be the same as before, and the name that they get.
const OWN_WORDS: &str = "message";
const TEXT: &str = "text";

/// How the text is taken where vectors are made.
pub struct By<P: Spoken> {
    /// Every way in which it may be taken, the one that is meant first.
    pub readings: Vec<Taken<P>>,
    /// The choices and the numbers of it that are not those of the text.
    pub changed: BTreeMap<String, String>,
    /// The text where it is taken so; none where it stands as it is.
    pub model: Option<Arc<dyn Model>>,
}

/// The vectors of a protocol, by the names of their files, as this party answers who is taken to be right where the text stands as it
/// is. Where its answers to a run are wrong as the text is taken, the text answers.
///
/// # Errors
///
/// [`Lost`], where it does not answer, or nothing is said of how the text is taken.
pub fn vectors<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &mut Greeted<Wire<P>, I>,
    by: &By<P>,
) -> Result<(Manifest, BTreeMap<String, Vector>), Lost> {
    let suite = committed::<P>();
    let Some(taken) = by.readings.first() else {
        return Ok((Manifest::of(&suite, by), BTreeMap::new()));
    };
    let mut manifest = Manifest::of(&suite, by);
    let producer = by.model.as_ref().map(|it| Producer::<P>::of(&**it));
    let mut producer = producer.map(Greeted::new).transpose()?;
    let changed = by.changed.iter();
    let changed = changed.map(|(place, choice)| format!("{place}={choice}"));
    let changed = changed.collect::<Vec<_>>().join(", ");
    let mut all = BTreeMap::new();
    for (place, run) in suite.played().enumerate() {
        let file = format!("{:04}.json", place + 1);
        let own = suite.runs[place].steps.len();
        let mut answered = answers(partner, &taken.judge, &run.steps)?;
        if let (None, Some(producer)) = (&answered, &mut producer) {
            answered = answers(producer, &taken.judge, &run.steps)?;
        }
        let Some(answered) = answered else {
            let reason = format!(
                "the answers of the text are wrong, and those of the reference by {changed}"
            );
            manifest.left_out.insert(file, reason);
            continue;
        };
        let vector = Vector {
            version: VERSION,
            protocol: suite.protocol.clone(),
            shows: suite.runs[place].shows.clone(),
            readings: right_by(&by.readings, taken, &answered),
            needs: needs::<P>(partner.greeting(), &run.steps[..own], &answered),
            steps: steps::<P>(&answered, own),
        };
        manifest.lists(&file, &vector);
        all.insert(file, vector);
    }
    Ok((manifest, all))
}

impl Manifest {
    /// That of a suite, without files.
    fn of<P: Spoken>(suite: &Suite<P>, by: &By<P>) -> Self {
        let left_out = suite.left_out.iter();
        let mut readings: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for (place, choice) in by.readings.iter().flat_map(|it| &it.choices) {
            let choices = readings.entry((*place).to_owned()).or_default();
            choices.entry((*choice).to_owned()).or_default();
        }
        Self {
            version: VERSION,
            protocol: suite.protocol.clone(),
            taken: by.changed.clone(),
            files: Vec::new(),
            clauses: BTreeMap::new(),
            readings,
            left_out: left_out
                .map(|it| (it.what.clone(), it.reason.clone()))
                .collect(),
        }
    }

    fn lists(&mut self, file: &str, vector: &Vector) {
        for clause in vector.clauses() {
            let files = self.clauses.entry(clause).or_default();
            files.push(file.to_owned());
        }
        for (place, right) in &vector.readings {
            for (choice, files) in self.readings.entry(place.clone()).or_default() {
                if !right.contains(choice) {
                    files.push(file.to_owned());
                }
            }
        }
        self.files.push(file.to_owned());
    }
}

impl Vector {
    /// The clauses by which it requires or forbids something.
    fn clauses(&self) -> BTreeSet<String> {
        let steps = self.steps.iter();
        let clauses = steps.flat_map(|step| {
            let required = step.expected.iter().flat_map(|it| &it.required);
            required.chain(step.forbidden.iter().flat_map(|it| &it.because))
        });
        clauses.cloned().collect()
    }
}

/// What a party answers in a run, but for what it cannot do; none where something of it is wrong to this checker.
fn answers<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &mut Greeted<Wire<P>, I>,
    judge: &Checked<P>,
    steps: &[Step<Wire<P>>],
) -> Result<Option<Vec<Answered<P>>>, Lost> {
    partner.reset(START)?;
    let mut judge = at_reset::<P>(judge);
    let mut driven = Driver::<P>::begin(partner.greeting());
    let mut all = Vec::new();
    for (place, step) in steps.iter().enumerate() {
        let Some(asked) = driven.ask(step) else {
            continue;
        };
        let Said::Outputs(outputs) = partner.ask(asked.now, asked.op.clone())? else {
            continue;
        };
        let before = (driven.clone(), judge.clone());
        let shown = driven.take(&asked.call, &outputs);
        if !judge.see(&asked.call, &shown).is_empty() {
            return Ok(None);
        }
        let (driven, judge) = before;
        all.push(Answered {
            place,
            driven,
            judge,
            asked,
            outputs,
        });
    }
    Ok(Some(all))
}

/// A request that was answered, and what was known before it.
struct Answered<P: Spoken> {
    /// The step of the run, counted from 0.
    place: usize,
    driven: Driver<P>,
    judge: Checked<P>,
    asked: Asked<P>,
    outputs: Vec<Output<Wire<P>>>,
}

impl<P: Spoken> Answered<P> {
    /// The clauses by which these outputs would be wrong.
    fn wrong(&self, outputs: &[Output<Wire<P>>]) -> Vec<String> {
        let clauses = wrong(&self.driven, &self.judge, &self.asked, outputs);
        clauses.into_iter().map(str::to_owned).collect()
    }

    /// The members of an output that matter, and those that have to be there alone, as JSON pointers.
    fn members(&self, place: usize) -> [Vec<String>; 2] {
        let value = serde_json::to_value(&self.outputs[place]).unwrap_or_default();
        // Whether the output is wrong where it is that.
        let is_wrong = |whole: Value| {
            serde_json::from_str(&whole.to_string()).is_ok_and(|other| {
                let mut with = self.outputs.clone();
                with[place] = other;
                !self.wrong(&with).is_empty()
            })
        };
        let matters = |pointer: &String| {
            let others = others(value.pointer(pointer).unwrap_or(&Value::Null));
            others.into_iter().any(|other| {
                let mut whole = value.clone();
                if let Some(member) = whole.pointer_mut(pointer) {
                    *member = other;
                }
                is_wrong(whole)
            })
        };
        let is_missed = |pointer: &String| is_wrong(without(&value, pointer));
        let is_leaf = |pointer: &String| value.pointer(pointer).is_some_and(|it| !it.is_object());
        // What an output is always matters: by it one is told from another.
        let is_type = |pointer: &String| pointer.ends_with("/type") || pointer.ends_with("/event");
        let all = places(&value).into_iter().filter(is_leaf);
        let (matter, others): (Vec<_>, Vec<_>) = all.partition(|it| is_type(it) || matters(it));
        let present = others.into_iter().filter(is_missed);
        [matter, present.collect()]
    }
}

/// Values that are not this one.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Bool(is) => vec![Value::Bool(!is)],
        Value::Number(number) => vec![Value::from(number.as_i64().unwrap_or(0).saturating_add(1))],
        Value::String(text) => match Timestamp::parse(text) {
            Ok(time) => vec![Value::from(
                Timestamp::from_millis(time.millis().saturating_add(1_000)).to_string(),
            )],
            Err(_) => vec![Value::from(format!("{text}x"))],
        },
        Value::Array(items) => {
            let more = items.iter().cloned().chain([Value::from("x")]);
            vec![more.collect()]
        }
        Value::Null | Value::Object(_) => vec![Value::from("x")],
    }
}

/// The choices by which the answers are right, at each place that makes a difference where all others are taken as they are. The
/// one that is taken comes first.
fn right_by<P: Spoken>(
    readings: &[Taken<P>],
    default: &Taken<P>,
    answered: &[Answered<P>],
) -> BTreeMap<String, Vec<String>> {
    let mut right: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut differs = BTreeSet::new();
    for taken in readings {
        let pairs = taken.choices.iter().zip(&default.choices);
        let changed: Vec<_> = pairs.filter(|(one, other)| one != other).collect();
        let [((place, choice), (_, usual))] = changed[..] else {
            continue;
        };
        let known = right
            .entry((*place).to_owned())
            .or_insert_with(|| vec![(*usual).to_owned()]);
        let mut judge = at_reset::<P>(&taken.judge);
        let mut is_right = true;
        for it in answered {
            let shown = it.driven.clone().take(&it.asked.call, &it.outputs);
            is_right &= judge.see(&it.asked.call, &shown).is_empty();
        }
        if is_right {
            known.push((*choice).to_owned());
        } else {
            differs.insert((*place).to_owned());
        }
    }
    right.retain(|place, _| differs.contains(place));
    right
}

/// The capabilities that are declared, and without which these steps are not asked like this.
fn needs<P: Spoken>(
    greeting: &Greeting<Wire<P>>,
    steps: &[Step<Wire<P>>],
    answered: &[Answered<P>],
) -> Vec<String> {
    let is_needed = |capability: &&Capability<P>| {
        let mut less = greeting.clone();
        less.supports.remove(capability);
        let mut driven = Driver::<P>::begin(&Rc::new(less));
        let mut answered = answered.iter().peekable();
        steps.iter().enumerate().any(|(place, step)| {
            let asked = driven.ask(step);
            let Some(it) = answered.next_if(|it| it.place == place) else {
                return false;
            };
            driven.take(&it.asked.call, &it.outputs);
            asked.is_none_or(|asked| asked.op != it.asked.op)
        })
    };
    let needed = greeting.supports.iter().filter(is_needed);
    let names = needed.filter_map(|it| serde_json::to_value(it).ok());
    names
        .filter_map(|it| it.as_str().map(str::to_owned))
        .collect()
}

/// The steps with what the judge says of each; those behind so many of the run are its ending.
fn steps<P: Spoken>(answered: &[Answered<P>], length: usize) -> Vec<VectorStep> {
    let mut named = Named::default();
    named.learn(answered);
    // Every output of the run, with what of it matters, and after which step all its names are known.
    let mut patterns = Vec::new();
    for (at, it) in answered.iter().enumerate() {
        for (place, output) in it.outputs.iter().enumerate() {
            let pattern = named.pattern(output, it.members(place));
            patterns.push((at, output, pattern));
        }
    }
    let reset = VectorStep {
        request: request::<P>(START, Op::Common(countersign_protocol::Common::Reset {})),
        expected: Vec::new(),
        forbidden: Vec::new(),
        allowed: Vec::new(),
        ending: false,
    };
    let mut steps = vec![reset];
    for (at, it) in answered.iter().enumerate() {
        let own = patterns.iter().filter(|(of, _, _)| *of == at);
        let expected = own.enumerate().map(|(place, (_, _, pattern))| {
            let mut without = it.outputs.clone();
            without.remove(place);
            Expected {
                pattern: pattern.clone(),
                required: it.wrong(&without),
            }
        });
        let expected: Vec<_> = expected.collect();
        let (mut forbidden, mut allowed): (Vec<Forbidden>, Vec<Pattern>) = (Vec::new(), Vec::new());
        for (_, output, pattern) in &patterns {
            let is_known = named.known_after(pattern) <= at;
            let is_there = expected.iter().any(|known| known.pattern.is_like(pattern))
                || forbidden.iter().any(|known| known.pattern.is_like(pattern))
                || allowed.iter().any(|known| known.is_like(pattern));
            if !is_known || is_there {
                continue;
            }
            let with = [&it.outputs[..], &[(*output).clone()]].concat();
            let because = it.wrong(&with);
            if because.is_empty() {
                allowed.push(pattern.clone());
            } else {
                let pattern = pattern.clone();
                forbidden.push(Forbidden { pattern, because });
            }
        }
        let request = request::<P>(it.asked.now, it.asked.op.clone());
        steps.push(VectorStep {
            request: named.put_into(Value::Object(request)),
            expected,
            forbidden,
            allowed,
            ending: it.place >= length,
        });
    }
    steps
}

/// A request without its id.
fn request<P: Spoken>(now: i64, op: Op<Wire<P>>) -> Map<String, Value> {
    let request = Request::<Wire<P>> {
        id: 0,
        now: Some(Timestamp::from_millis(now).to_string()),
        op,
    };
    let mut members = match serde_json::to_value(&request) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    };
    members.shift_remove("id");
    members
}

impl Pattern {
    /// Whether an output that is one is the other.
    fn is_like(&self, other: &Self) -> bool {
        let at = |it: &Self, place: &String| {
            let value = serde_json::to_value(&it.output).unwrap_or_default();
            value.pointer(place).cloned()
        };
        self.members == other.members
            && self.output.keys().next() == other.output.keys().next()
            && self.members.iter().all(|it| at(self, it) == at(other, it))
    }
}

/// What a party has named in a run: each value that comes again, with its name and the step at which it first came.
#[derive(Default)]
struct Named(Vec<(Value, String, usize)>);

impl Named {
    fn learn<P: Spoken>(&mut self, answered: &[Answered<P>]) {
        let mut asked = String::new();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, it) in answered.iter().enumerate() {
            let request = Value::Object(request::<P>(it.asked.now, it.asked.op.clone()));
            // What we have named ourselves is no name of theirs.
            if self.is_free_of(&request) {
                asked.push_str(&request.to_string());
            }
            for output in &it.outputs {
                let value = serde_json::to_value(output).unwrap_or_default();
                for place in places(&value) {
                    let name = place.rsplit('/').next().unwrap_or_default();
                    let name = if name == OWN_WORDS { TEXT } else { name };
                    let mut named = NAMED.into_iter().chain([TEXT]);
                    let Some(name) = named.find(|it| *it == name) else {
                        continue;
                    };
                    let Some(member) = value.pointer(&place) else {
                        continue;
                    };
                    let is_known = self.0.iter().any(|(known, _, _)| known == member);
                    let is_ours = member.is_null() || asked.contains(&member.to_string());
                    if !is_known && !is_ours {
                        let count = counts.entry(name).or_default();
                        *count += 1;
                        self.0.push((member.clone(), format!("{name}-{count}"), at));
                    }
                }
            }
        }
        // Within others stands the shorter.
        self.0
            .sort_by_key(|(value, _, _)| std::cmp::Reverse(value.to_string().len()));
    }

    fn is_free_of(&self, value: &Value) -> bool {
        let text = value.to_string();
        let written = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        self.0
            .iter()
            .all(|(known, _, _)| !text.contains(&written(known)))
    }

    fn pattern<P: Protocol>(
        &self,
        output: &Output<P>,
        [members, present]: [Vec<String>; 2],
    ) -> Pattern {
        let value = serde_json::to_value(output).unwrap_or_default();
        Pattern {
            output: self.put_into(value),
            members,
            present,
        }
    }

    /// The same with names in place of what they name.
    fn put_into(&self, value: Value) -> Map<String, Value> {
        match self.put(value) {
            Value::Object(members) => members,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        }
    }

    fn put(&self, value: Value) -> Value {
        if let Some((_, name, _)) = self.0.iter().find(|(known, _, _)| *known == value) {
            return Value::from(format!("${{{name}}}"));
        }
        match value {
            Value::String(text) => {
                let replaced = self.0.iter().fold(text, |text, (known, name, _)| {
                    match known.as_str().filter(|it| it.len() > 3) {
                        Some(known) => text.replace(known, &format!("${{{name}}}")),
                        None => text,
                    }
                });
                Value::from(replaced)
            }
            Value::Array(items) => items.into_iter().map(|it| self.put(it)).collect(),
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, it)| (name, self.put(it)));
                Value::Object(members.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// The step by which every name is known that matters in this.
    fn known_after(&self, pattern: &Pattern) -> usize {
        let value = serde_json::to_value(&pattern.output).unwrap_or_default();
        let texts = pattern.members.iter().filter_map(|it| value.pointer(it));
        let texts: Vec<String> = texts.map(Value::to_string).collect();
        let used = self.0.iter().filter(|(_, name, _)| {
            let stands = format!("${{{name}}}");
            texts.iter().any(|text| text.contains(&stands))
        });
        used.map(|(_, _, at)| *at).max().unwrap_or(0)
    }
}

/// The places of all members, as JSON pointers.
fn places(value: &Value) -> Vec<String> {
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
fn without(value: &Value, pointer: &str) -> Value {
    let mut whole = value.clone();
    if let Some((of, name)) = pointer.rsplit_once('/')
        && let Some(Value::Object(members)) = whole.pointer_mut(of)
    {
        members.shift_remove(&name.replace("~1", "/").replace("~0", "~"));
    }
    whole
}
