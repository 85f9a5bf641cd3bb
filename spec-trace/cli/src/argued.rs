//! What made a run of a model possible that breaks something, and what the text as it stands requires instead.
//!
//! The one thing to know: the run is taken again, step by step. Where the text as it stands goes on otherwise, that is what is required
//! instead; and what is left out or read otherwise made the run possible if without it, too, some step goes on otherwise.

use std::fmt::Write as _;

use countersign_model::checker::StepText;
use countersign_model::judged::CallTold;
use countersign_model::numbers::taken;
use countersign_model::rules::{GuardRow, Guards, Rules};
use countersign_model::specification::{Modelled, Specification};
use countersign_model::table::Tabled as _;
use serde_json::{Map, Value, json};

use crate::commands::clauses::hanging;
use crate::verdicts::level;

/// Why a run is possible, and what is required instead.
#[derive(Clone, Debug)]
pub struct Argued<G: 'static> {
    /// The rules left out that it needs.
    pub rules: Vec<&'static GuardRow<G>>,
    /// The readings that it needs.
    pub readings: Vec<Read>,
    /// The numbers that are not those of the text.
    numbers: Vec<Changed>,
    /// Where the text as it stands goes on otherwise; nowhere if the run is not one of the model, or only judged otherwise.
    pub instead: Option<Instead>,
}

/// A place that is not taken as by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The name of the place.
    pub place: &'static str,
    /// How it is taken.
    pub value: &'static str,
    /// How it is taken by default.
    pub usual: &'static str,
    /// The clauses that leave it open.
    pub clauses: &'static [&'static str],
}

/// A number that is not that of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    name: &'static str,
    value: String,
    clauses: &'static [&'static str],
}

/// Those of a reading.
pub fn changed_numbers<T: Modelled>(reading: &T::Reading) -> Vec<Changed> {
    let usual = T::Reading::default();
    let numbers = T::NUMBERS.iter();
    let changed = numbers.filter(|it| it.shown(reading) != it.shown(&usual));
    let changed = changed.map(|it| Changed {
        name: it.name,
        value: it.shown(reading),
        clauses: it.clauses,
    });
    changed.collect()
}

/// What stands behind the name of a rule or a property, which has the numbers of the text: those of its clauses that are changed.
pub fn by_file(numbers: &[Changed], clauses: &[&str]) -> String {
    let own = numbers.iter();
    let own = own.filter(|it| it.clauses.iter().any(|clause| clauses.contains(clause)));
    let own: Vec<_> = own
        .map(|it| format!("{} = {}", it.name, it.value))
        .collect();
    if own.is_empty() {
        return String::new();
    }
    format!(" (by the file: {})", own.join(", "))
}

/// How the text as it stands goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// The step, from 1.
    pub step: usize,
    /// What changes and comes out by it; nothing where there is no such step.
    pub changes: Option<Vec<String>>,
}

/// The steps of a run, each with the state before it.
type Taken<T> = Vec<(<T as Modelled>::State, <T as Modelled>::Action)>;

impl<G: Guards> Argued<G> {
    /// The argument on a run of this model, told by its steps. Where the run cannot be taken again it is all that the model departs in.
    pub fn of<T: Modelled<Guard = G>>(model: &Specification<T>, steps: &[StepText]) -> Self {
        let all = Self {
            rules: model.rules.left_out().map(G::row).collect(),
            readings: read(model),
            numbers: changed_numbers::<T>(&model.reading),
            instead: None,
        };
        let mut run = Vec::new();
        if !is_taken(model, model.start(), steps, &mut run) {
            return all;
        }
        let usual = T::reading_within(&model.bounds);
        let instead = apart(model, &model.with(Rules::all(), usual), &run);
        let needs_rule = |row: &&'static GuardRow<G>| {
            let others = model.rules.left_out().filter(|it| *it != row.guard);
            let rules = others.fold(Rules::all(), Rules::without);
            apart(model, &model.with(rules, model.reading), &run).is_some()
        };
        let needs_reading = |it: &&Read| {
            let assignment = format!("{}={}", it.place, it.usual);
            let reading = Specification::<T>::reading_from(model.reading, [&*assignment]);
            reading.is_ok_and(|it| apart(model, &model.with(model.rules, it), &run).is_some())
        };
        let rules: Vec<_> = all.rules.iter().copied().filter(needs_rule).collect();
        let readings: Vec<_> = all.readings.iter().filter(needs_reading).cloned().collect();
        // Where each of several is enough, none alone is needed.
        if rules.is_empty() && readings.is_empty() {
            return Self { instead, ..all };
        }
        Self {
            rules,
            readings,
            instead,
            ..all
        }
    }

    /// As lines below the run.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in &self.rules {
            let as_in = row.in_samples.map_or_else(String::new, |sections| {
                format!(", as in the text's own code in {sections}")
            });
            let clause = row.clauses[0];
            let (level, gist) = (level(clause), row.gist);
            let by_file = by_file(&self.numbers, row.clauses);
            let said = format_args!("{clause} {level}: {gist}{by_file} (left out here{as_in})");
            let _ = writeln!(text, "   forbidden by  {said}");
        }
        for it in &self.readings {
            let Read {
                place,
                value,
                usual,
                clauses,
            } = it;
            let clauses = clauses.join(", ");
            text += &hanging(
                "   allowed by    ",
                &format!("{place}={value} of {clauses} (by default {usual})"),
            );
        }
        if let Some(Instead { step, changes }) = &self.instead {
            let head = format!("   required instead at step {step}: ");
            text += &hanging(&head, &instead_text(changes.as_deref()));
        }
        text
    }

    /// The same for programs: members of the object that holds the run.
    pub fn json(&self) -> Map<String, Value> {
        let rules = self.rules.iter();
        let rules = rules.map(|row| json!({ "guard": row.name, "clauses": row.clauses }));
        let readings = self.readings.iter().map(|it| {
            let reading = format!("{}={}", it.place, it.value);
            json!({ "reading": reading, "default": it.usual, "clauses": it.clauses })
        });
        let by: Vec<Value> = rules.chain(readings).collect();
        let instead = self.instead.as_ref();
        let instead = instead.map(|it| json!({ "step": it.step, "changes": it.changes }));
        Map::from_iter([
            ("made_possible_by".to_owned(), Value::from(by)),
            ("instead".to_owned(), json!(instead)),
        ])
    }
}

/// What comes of a step under another setting, in words.
pub fn instead_text(changes: Option<&[String]>) -> String {
    match changes {
        Some([]) => "nothing changes and nothing comes out".to_owned(),
        Some(changes) => changes.join(", "),
        None => "no such step".to_owned(),
    }
}

/// What a saved run was searched in besides protocol and bounds: the rules left out, the readings taken, and the version of this command.
pub fn setting<T: Modelled>(model: &Specification<T>) -> Map<String, Value> {
    let without: Vec<_> = model.rules.left_out().map(|it| it.row().name).collect();
    let readings = read(model).into_iter();
    let readings: Vec<_> = readings
        .map(|it| format!("{}={}", it.place, it.value))
        .collect();
    Map::from_iter([
        ("without".to_owned(), json!(without)),
        ("readings".to_owned(), json!(readings)),
        ("literal".to_owned(), json!(!model.quotient)),
        ("countersign".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
    ])
}

/// The document with these members behind its bounds.
pub fn with_setting(document: Value, setting: Map<String, Value>) -> Value {
    let Value::Object(members) = document else {
        return document;
    };
    let mut all = Map::new();
    let mut setting = Some(setting);
    for (name, value) in members {
        let is_bounds = name == "bounds";
        all.insert(name, value);
        if is_bounds {
            all.extend(setting.take().unwrap_or_default());
        }
    }
    Value::Object(all)
}

/// The places that the model does not take as by default.
fn read<T: Modelled>(model: &Specification<T>) -> Vec<Read> {
    let usual = T::reading_within(&model.bounds);
    let read = T::PLACES.iter().filter_map(|place| {
        let [value, usual] = [model.reading, usual].map(|it| taken(place.choices, &it));
        (value != usual).then_some(Read {
            place: place.name,
            value,
            usual,
            clauses: place.clauses,
        })
    });
    read.collect()
}

/// Whether the model has these steps from here on; then they are added to the run.
fn is_taken<T: Modelled>(
    model: &Specification<T>,
    state: T::State,
    steps: &[StepText],
    run: &mut Taken<T>,
) -> bool {
    let [first, rest @ ..] = steps else {
        return true;
    };
    let mut actions = Vec::new();
    model.actions(&state, &mut actions);
    for action in actions {
        let Some(next) = model.take(&state, action) else {
            continue;
        };
        if model.describe(&state, action, &next) == *first {
            run.push((state, action));
            if is_taken(model, next, rest, run) {
                return true;
            }
            run.pop();
        }
    }
    false
}

/// The first step of the run that the other goes on from otherwise.
fn apart<T: Modelled>(
    model: &Specification<T>,
    other: &Specification<T>,
    run: &Taken<T>,
) -> Option<Instead> {
    let mut steps = (1..).zip(run);
    steps.find_map(|(step, (state, action))| {
        let own = T::take(model, state, *action, 0)?;
        let Some(others) = T::take(other, state, *action, 0) else {
            let changes = None;
            return Some(Instead { step, changes });
        };
        let is_same = own.next == others.next
            && own.told.and_then(CallTold::seen) == others.told.and_then(CallTold::seen);
        let changes = || Some(other.in_words(state, *action).changes);
        (!is_same).then(|| Instead {
            step,
            changes: changes(),
        })
    })
}

#[cfg(test)]
mod tests {
    use countersign_model::mcp_aql::McpAqlProtocol;
    use countersign_model::mcp_aql::readings::Reading;

    use super::*;

    /// AQL-5.1-5: the name of the rule has the number of the text, which is told where another is in force.
    #[test]
    fn a_number_that_is_changed_stands_behind_the_names_of_its_clauses() {
        let mut reading = Reading::SPECIFICATION;
        let none = changed_numbers::<McpAqlProtocol>(&reading);
        assert_eq!(by_file(&none, &["AQL-5.1-5"]), "");
        reading.numbers.longest_tolerance = 360;
        let numbers = changed_numbers::<McpAqlProtocol>(&reading);
        let expected = " (by the file: tolerance.longest = 360)";
        assert_eq!(by_file(&numbers, &["AQL-1.2-1", "AQL-5.1-5"]), expected);
        assert_eq!(by_file(&numbers, &["AQL-5.1-6"]), "");
    }
}
