//! Nothing is left out of the comparison: whatever the executors put out and hold is changed in one place after the other, on
//! a walk at small bounds, and the bridge must notice.
//!
//! The one thing to know: a change that is not noticed has to stand in [`NOT_COMPARED`], with the reason, and what stands there
//! has to go unnoticed. A field that no change reaches fails the test as well, so that a new field needs a change, or an
//! entry.

mod aaep;
mod fields;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use countersign_conform::Sides as _;
use countersign_conform::bridge::{Action, Answered, AnsweredBy, Bridge, Execution, State};
use countersign_conform::not_compared::{NOT_COMPARED, Where};
use countersign_model::specification::Modelled as _;
use serde_json::Value;

use fields::{changed_documents, differing, fields};

/// What can be changed in one protocol's executor.
trait Changeable: Execution {
    /// The bridge whose steps are walked.
    fn bridge() -> Bridge<Self>;

    /// Every kind of output that there is.
    const KINDS: &[&str];

    /// The output with one thing changed in it, in every way that there is to change one. Each with whether it is a change
    /// that the executor is free to make: then its field stands in the list.
    fn changes(host: &Self::Host, output: &Self::Output) -> Vec<(Self::Output, Freedom)>;

    /// Reasons to refuse a call, to put in the place of none or of another.
    fn refusals() -> Vec<Self::Refusal>;

    /// What a field holds that no output can have otherwise, by the kind of the output.
    fn fixed(kind: &str, field: &str) -> Option<Value>;

    /// Words that can stand in a field of what the executor holds, besides those that stand in another.
    const WORDS: &[&str];

    /// The executor as it is stored.
    fn stored(host: &Self::Host) -> Value;

    /// The same with another executor, if the document is one.
    fn restored(host: &Self::Host, document: Value) -> Option<Self::Host>;
}

/// Whether the executor is free to make a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Freedom {
    Free,
    Bound,
}

/// Steps of one kind with outputs of the same kinds are looked at so often; and what is held after them.
const ENOUGH: usize = 6;
const ENOUGH_HELD: usize = 1;

/// So many states are visited.
const FAR_ENOUGH: usize = 20_000;

/// What was found on the walk.
#[derive(Default)]
struct Found {
    /// Every kind of output.
    kinds: BTreeSet<String>,
    /// Every field of every kind of output.
    fields: BTreeSet<(String, String)>,
    /// Of those, the ones that were changed.
    changed: BTreeSet<(String, String)>,
    /// The ones in which a change that the executor is free to make went unnoticed.
    free: BTreeSet<(String, String)>,
    /// Every field of what the executor holds that was changed, and those in which a change went unnoticed.
    held: BTreeMap<String, bool>,
    /// What should have been noticed and was not.
    unnoticed: BTreeSet<String>,
    /// How many changes were made.
    tried: usize,
}

/// One step of the walk, after its calls were made and before anything was compared.
struct Made<'a, E: Execution> {
    bridge: &'a Bridge<E>,
    state: &'a State<E>,
    host: &'a E::Host,
    action: Action<E>,
    answers: &'a [AnsweredBy<E>],
}

/// Walks far enough to meet each kind of step.
fn walk<E: Changeable>(bridge: &Bridge<E>) -> Found {
    let (state, host) = bridge.begin();
    let mut visited = HashSet::from([state]);
    let mut waiting = vec![(state, host)];
    let mut choices = choices();
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Found::default();
    let mut actions = Vec::new();
    while let Some(last) = waiting.len().checked_sub(1)
        && visited.len() < FAR_ENOUGH
    {
        // Anywhere on the way, so that what comes late is met as well.
        let (state, host) = waiting.swap_remove(choices.next().unwrap_or(0) % (last + 1));
        actions.clear();
        bridge.actions(&state, &mut actions);
        for &action in &actions {
            let mut host = host.clone();
            let answers = E::call(bridge, &state, &mut host, action).expect("it can be called");
            let called = host.clone();
            let next = E::compare(bridge, &state, &mut host, action, &answers);
            let next = next.expect("they agree");
            let times = met.entry(kind_of_step(action, &answers)).or_default();
            *times += 1;
            let made = Made {
                bridge,
                state: &state,
                host: &called,
                action,
                answers: &answers,
            };
            if *times <= ENOUGH {
                made.change_outputs(&mut found);
                made.change_order(&mut found);
                made.change_refusal(&mut found);
            }
            if *times <= ENOUGH_HELD && !answers.is_empty() {
                made.change_state(&mut found);
            }
            if visited.insert(next) {
                waiting.push((next, host));
            }
        }
    }
    found
}

/// Numbers without any order, the same each time (xorshift).
fn choices() -> impl Iterator<Item = usize> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits")
    })
}

/// The name of the action, and the kinds of all that came out.
fn kind_of_step<C, O: serde::Serialize, R: std::fmt::Debug>(
    action: impl std::fmt::Debug,
    answers: &[Answered<C, O, R>],
) -> String {
    let mut kind = format!("{action:?}");
    kind.truncate(kind.find([' ', '(']).unwrap_or(kind.len()));
    for answer in answers {
        for output in &answer.outputs {
            kind += " ";
            kind += &kind_of(&json(output));
        }
        if let Some(refused) = &answer.refused {
            let refused = format!(" {refused:?}");
            kind += refused.split('(').next().unwrap_or(&refused);
        }
    }
    kind
}

impl<E: Changeable> Made<'_, E> {
    /// The clause that is named, if anything is noticed.
    fn noticed(&self, host: &E::Host, answers: &[AnsweredBy<E>]) -> bool {
        let mut host = host.clone();
        E::compare(self.bridge, self.state, &mut host, self.action, answers).is_err()
    }

    /// The answers with one of them changed.
    fn with(&self, answer: usize, change: impl FnOnce(&mut AnsweredBy<E>)) -> Vec<AnsweredBy<E>> {
        let mut answers = self.answers.to_vec();
        change(&mut answers[answer]);
        answers
    }

    fn must_notice(&self, found: &mut Found, answers: &[AnsweredBy<E>], what: &str) {
        found.tried += 1;
        if !self.noticed(self.host, answers) {
            let kind = kind_of_step(self.action, self.answers);
            found.unnoticed.insert(format!("{what} in {kind}"));
        }
    }

    /// Each output, changed in each of its fields.
    fn change_outputs(&self, found: &mut Found) {
        for (number, answer) in self.answers.iter().enumerate() {
            for (place, output) in answer.outputs.iter().enumerate() {
                let original = json(output);
                let kind = kind_of(&original);
                found.kinds.insert(kind.clone());
                for (field, value) in fields(content(&original)) {
                    let is_the_kind = matches!(&value, Value::String(word) if kind.ends_with(word));
                    match E::fixed(&kind, &field) {
                        Some(fixed) => assert_eq!(fixed, value, "{kind} {field}"),
                        None if is_the_kind => {}
                        None => drop(found.fields.insert((kind.clone(), field))),
                    }
                }
                for (changed, freedom) in E::changes(self.host, output) {
                    let to = json(&changed);
                    let differing = differing(content(&original), content(&to));
                    assert_ne!(*output, changed, "something is changed");
                    let fields = || differing.iter().map(|field| (kind.clone(), field.clone()));
                    found.changed.extend(fields());
                    let answers = self.with(number, |answer| answer.outputs[place] = changed);
                    match freedom {
                        Freedom::Bound => {
                            let what = format!("{differing:?} of {kind}, now {to}");
                            self.must_notice(found, &answers, &what);
                        }
                        Freedom::Free if !self.noticed(self.host, &answers) => {
                            let of = kind.split(' ').next().unwrap_or(&kind);
                            let fields = differing.iter();
                            found
                                .free
                                .extend(fields.map(|field| (of.to_owned(), field.clone())));
                        }
                        Freedom::Free => {}
                    }
                }
            }
        }
    }

    /// One output is dropped, comes twice, or changes places with the next.
    fn change_order(&self, found: &mut Found) {
        for (number, answer) in self.answers.iter().enumerate() {
            for place in 0..answer.outputs.len() {
                let kind = kind_of(&json(&answer.outputs[place]));
                let dropped = self.with(number, |answer| drop(answer.outputs.remove(place)));
                self.must_notice(found, &dropped, &format!("dropped {kind}"));
                let doubled = self.with(number, |answer| {
                    let again = answer.outputs[place].clone();
                    answer.outputs.insert(place, again);
                });
                self.must_notice(found, &doubled, &format!("doubled {kind}"));
                if place > 0 && answer.outputs[place - 1] != answer.outputs[place] {
                    let swapped = self.with(number, |answer| answer.outputs.swap(place - 1, place));
                    self.must_notice(found, &swapped, &format!("swapped {kind}"));
                }
            }
        }
    }

    /// A refusal comes instead of another, of none, or not.
    fn change_refusal(&self, found: &mut Found) {
        for (number, answer) in self.answers.iter().enumerate() {
            let refusals = E::refusals().into_iter().map(Some).chain([None]);
            for refused in refusals.filter(|refused| *refused != answer.refused) {
                let what = format!("refused as {refused:?} for {:?}", answer.refused);
                let answers = self.with(number, |answer| answer.refused = refused);
                self.must_notice(found, &answers, &what);
            }
        }
    }

    /// What the executor holds, changed in each of its fields, as far as an executor takes it for its own.
    fn change_state(&self, found: &mut Found) {
        let original = E::stored(self.host);
        for (field, changed) in changed_documents(&original, E::WORDS) {
            let Some(host) = E::restored(self.host, changed) else {
                continue;
            };
            if E::stored(&host) == original {
                continue;
            }
            found.tried += 1;
            let is_noticed = self.noticed(&host, self.answers);
            *found.held.entry(field).or_default() |= !is_noticed;
        }
    }
}

/// The key, and the type of an event or message.
fn kind_of(output: &Value) -> String {
    let key = output.as_object().and_then(|object| object.keys().next());
    let key = key.expect("an output is an object with one key");
    let places = ["/type", "/event", "/kind", "/error/code"];
    let kind = places
        .iter()
        .find_map(|place| content(output).pointer(place));
    match kind {
        Some(Value::String(kind)) => format!("{key} {kind}"),
        _ => key.clone(),
    }
}

/// What stands behind the one key.
fn content(output: &Value) -> &Value {
    let content = output.as_object().and_then(|object| object.values().next());
    content.expect("an output is an object with one key")
}

fn json(output: &impl serde::Serialize) -> Value {
    serde_json::to_value(output).expect("an output can be serialised")
}

/// Nothing goes unnoticed but what stands in the list, and all of it does.
fn nothing_is_left_out<E: Changeable>() {
    let protocol = E::Protocol::NAME;
    let found = walk(&E::bridge());
    let listed = |place: Where| -> BTreeSet<(String, String)> {
        let entries = NOT_COMPARED.iter();
        let entries = entries.filter(|entry| entry.protocol == protocol && entry.place == place);
        entries
            .map(|entry| (entry.of.to_owned(), entry.field.to_owned()))
            .collect()
    };
    println!("{protocol}: {} changes tried", found.tried);
    let is_changed = |(kind, field): &&(String, String)| {
        let mut changed = found.changed.iter().filter(|(of, _)| of == kind);
        changed.any(|(_, name)| field == name || field.starts_with(&format!("{name}/")))
    };
    let unchanged: Vec<_> = found
        .fields
        .iter()
        .filter(|field| !is_changed(field))
        .collect();
    let held = found.held.iter().filter(|(_, unnoticed)| **unnoticed);
    let held: BTreeSet<_> = held
        .map(|(field, _)| (String::new(), field.clone()))
        .collect();
    let unnoticed: Vec<_> = found.unnoticed.into_iter().collect();
    assert_eq!(unnoticed, [""; 0], "of {} changes", found.tried);
    assert!(unchanged.is_empty(), "never changed: {unchanged:?}");
    assert_eq!(found.free, listed(Where::Output));
    assert_eq!(held, listed(Where::State));
    let kinds: BTreeSet<&str> = found.kinds.iter().map(String::as_str).collect();
    assert_eq!(kinds, E::KINDS.iter().copied().collect());
}

/// AAEP-EV-1, AAEP-EV-5, AAEP-EV-7, AAEP-6.1-3, AAEP-6.3.4-8, AAEP-6.3.4-9: every field of every event, call, response, notice
/// and audit is held against the text, and so is all that the producer holds.
#[test]
#[ignore = "night: changes every field of every output"]
fn nothing_of_the_producer_is_left_out() {
    nothing_is_left_out::<countersign_conform::aaep::Environment>();
}

/// AAEP-EV-1: what a host has chosen, nothing of it what an executor has by itself, is the same after it was
/// written down. A new setting does not compile here.
#[test]
fn no_setting_is_lost_on_a_restart() {
    let producer = aaep::chosen();
    assert_eq!(read_back(&producer), producer);
}

fn read_back<T: serde::Serialize + serde::de::DeserializeOwned>(executor: &T) -> T {
    let stored = serde_json::to_string(executor).expect("it can be stored");
    serde_json::from_str(&stored).expect("it can be read")
}
