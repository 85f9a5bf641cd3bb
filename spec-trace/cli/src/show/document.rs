//! Runs out of what the other commands save: counterexamples of `check` and `ablate`, divergences of `verify` and `diff`.
//!
//! The one thing to know: any object that holds `steps` is a run, wherever in the document it stands; its other members
//! say what kind.

use std::collections::BTreeMap;

use countersign_clauses::{cited, cited_all};
use countersign_model::checker::StepText;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::model_run;
use super::run::{Finding, Kind, Run, Weight};
use super::words::printable;
use crate::argued::instead_text;

/// The most steps that are drawn: no model runs that far, and each thing with a state of its own is looked for in all others.
const MOST_STEPS: usize = 10_000;

/// A step as JSON has it; what is not drawn is not read.
#[derive(Deserialize)]
struct SavedStep {
    at: String,
    actor: String,
    action: String,
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    changes: Vec<String>,
}

/// Every run of the document, in its order.
///
/// # Errors
///
/// Steps that are none; the message says of which run.
pub fn runs(document: &Value) -> Result<Vec<Run>, String> {
    let mut runs = Vec::new();
    collect(document, &Setting::default(), &mut runs)?;
    Ok(runs)
}

/// In what a run was searched, as far as the document says it.
#[derive(Clone, Default)]
struct Setting(BTreeMap<&'static str, String>);

impl Setting {
    /// The same, with what an object within says of itself.
    fn within(&self, object: &Map<String, Value>) -> Self {
        let mut setting = self.clone();
        let names = [
            "protocol",
            "bounds",
            "without",
            "readings",
            "numbers",
            "countersign",
        ];
        for name in names {
            let said = match object.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Array(all)) => {
                    let all: Option<Vec<_>> = all.iter().map(Value::as_str).collect();
                    let Some(all) = all else { continue };
                    all.join(", ")
                }
                Some(_) | None => continue,
            };
            setting.0.insert(name, said);
        }
        setting
    }

    /// In a line: `aaep, small bounds, without honours-late, by countersign 0.1.0`; nothing where the document says nothing.
    fn told(&self) -> Option<String> {
        let words = [
            ("protocol", "", ""),
            ("bounds", "", " bounds"),
            ("without", "without ", ""),
            ("readings", "taken as ", ""),
            ("numbers", "with ", ""),
            ("countersign", "by countersign ", ""),
        ];
        let said = words.iter().filter_map(|(name, before, behind)| {
            let said = self.0.get(name).filter(|it| !it.is_empty())?;
            Some(format!("{before}{said}{behind}"))
        });
        let said: Vec<_> = said.collect();
        (!said.is_empty()).then(|| printable(&said.join(", ")))
    }
}

fn collect(value: &Value, setting: &Setting, runs: &mut Vec<Run>) -> Result<(), String> {
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| collect(item, setting, runs)),
        Value::Object(object) => {
            let setting = setting.within(object);
            if let Some(Value::Array(steps)) = object.get("steps")
                && !steps.is_empty()
            {
                let mut run = run(object, steps)?;
                run.remarks.extend(argued(object));
                run.remarks.extend(setting.told());
                runs.push(run);
            }
            let mut members = object.values();
            members.try_for_each(|member| collect(member, &setting, runs))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// What made the run possible, and what is required instead, where the document says it.
fn argued(object: &Map<String, Value>) -> Vec<String> {
    let list = |value: &Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let by = object.get("made_possible_by").and_then(Value::as_array);
    let by = by.into_iter().flatten().filter_map(|it| {
        const KINDS: [(&str, &str); 4] = [
            ("guard", "the loss of"),
            ("kept", "the keeping of"),
            ("reading", "the reading"),
            ("number", "the number"),
        ];
        let mut kinds = KINDS.into_iter();
        let (what, name) = kinds.find_map(|(key, what)| Some((what, it.get(key)?.as_str()?)))?;
        let clauses = it.get("clauses").map(list).unwrap_or_default();
        let clauses = cited_all(clauses);
        Some(format!("made possible by {what} {name} ({clauses})"))
    });
    let instead = object.get("instead").and_then(|it| {
        let step = it.get("step")?.as_u64()?;
        let changes = it.get("changes").filter(|it| it.is_array()).map(list);
        let said = instead_text(changes.as_deref());
        Some(format!("required instead at step {step}: {said}"))
    });
    by.chain(instead).map(|it| printable(&it)).collect()
}

fn run(object: &Map<String, Value>, steps: &[Value]) -> Result<Run, String> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let title = text("name").or(text("property")).or(text("clause"));
    let title = title.unwrap_or("a run");
    if steps.len() > MOST_STEPS {
        return Err(format!(
            "{title} has more than {MOST_STEPS} steps, which are too many to draw"
        ));
    }
    let steps = saved_steps(title, steps)?;
    if let (Some(expected), Some(actual)) = (text("expected"), text("actual")) {
        let both = format!("expected {expected}; seen {actual}");
        return Ok(divergence(title, &steps, &both));
    }
    let clauses = object.get("clauses").and_then(Value::as_array);
    let clauses = clauses.into_iter().flatten().filter_map(Value::as_str);
    Ok(counterexample(title, &steps, clauses))
}

/// The steps of a saved run.
///
/// # Errors
///
/// Steps that are none; the message says of which run.
pub fn saved_steps(title: &str, steps: &[Value]) -> Result<Vec<StepText>, String> {
    let steps = (1..).zip(steps).map(|(number, step)| {
        saved_step(step).map_err(|error| format!("step {number} of {title}: {error}"))
    });
    steps.collect()
}

fn saved_step(step: &Value) -> serde_json::Result<StepText> {
    let SavedStep {
        at,
        actor,
        action,
        to,
        changes,
    } = SavedStep::deserialize(step)?;
    Ok(StepText {
        at,
        actor,
        to,
        action,
        changes,
    })
}

/// A run whose last step makes two sides differ.
fn divergence(clause: &str, steps: &[StepText], message: &str) -> Run {
    let title = format!("divergence, {}", cited(clause));
    let mut run = model_run::of(Kind::Divergence, &title, steps)
        .with(|step| Finding::new(step, Weight::Violation, clause, message));
    run.verdict = counted("the two sides differ at the last of", steps.len());
    run
}

/// A run whose last step breaks a property.
fn counterexample<'a>(
    property: &str,
    steps: &[StepText],
    mut clauses: impl Iterator<Item = &'a str>,
) -> Run {
    let message = format!("breaks the property: {property}");
    let clause = clauses.next().unwrap_or_default();
    let also = clauses.map(printable).collect();
    let mut run = model_run::of(Kind::Counterexample, property, steps).with(|step| Finding {
        also,
        ..Finding::new(step, Weight::Violation, clause, &message)
    });
    run.verdict = counted("broken at the last of", steps.len());
    run
}

fn counted(what: &str, steps: usize) -> String {
    match steps {
        1 => format!("{what} 1 step"),
        _ => format!("{what} {steps} steps"),
    }
}
