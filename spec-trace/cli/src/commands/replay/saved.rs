//! Runs of a model that `check`, `compare` and the others have saved, asked of an implementation.
//!
//! The one thing to know: a saved run says in what setting it was searched. So the model is made once more, the run is taken again by
//! its words, and each call of it is asked as the suite asks for it.

use std::fmt::Write as _;

use countersign_clauses::cited;
use countersign_conform::driven::{Others, play};
use countersign_conform::implementation::{Greeted, Implementation};
use countersign_conform::suite::{Suited, translated};
use countersign_model::checker::StepText;
use countersign_model::numbers::Value as Can;
use countersign_model::rules::{Guards as _, Rules};
use countersign_model::specification::{Modelled, Specification};
use countersign_protocol::Protocol as _;
use miette::miette;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, ReportFormat, Status};
use crate::argued::actions_of;
use crate::arguments::{preset, specification};
use crate::show::document::saved_steps;
use crate::show::words::printable;

/// In what a run was searched, as the objects around it say.
type Setting = Map<String, Value>;

/// A run as it was saved.
struct Saved {
    name: String,
    clauses: Vec<String>,
    steps: Vec<StepText>,
    setting: Setting,
}

/// What an implementation has made of a run.
struct Done {
    name: String,
    clauses: Vec<String>,
    asked: usize,
    wrong: Vec<(&'static str, String)>,
    unsupported: Vec<String>,
}

/// Asks for every run of the document, and has the judge of the text as it stands say what is wrong.
///
/// # Errors
///
/// A document without runs, or a run that the model does not have.
pub(super) fn replay<D: Suited, I: Implementation<D::Protocol>>(
    document: &Value,
    partner: &mut Greeted<D::Protocol, I>,
    format: ReportFormat,
) -> miette::Result<Answer> {
    let mut runs = Vec::new();
    collect(document, &Map::new(), &mut runs)?;
    if runs.is_empty() {
        return Err(miette!("no run is saved there: nothing was broken"));
    }
    let judge = D::judge(partner.greeting());
    let mut all = Vec::new();
    for run in runs {
        let model = model::<D::Model>(&run.setting)?;
        let actions = actions_of(&model, &run.steps).ok_or_else(|| {
            let name = printable(&run.name);
            miette!("{name}: the model of this version has no such run")
        })?;
        let mut steps = translated::<D>(&model, &actions);
        // What has happened is then seen.
        steps.extend(D::ends());
        let played = play::<D, I>(partner, &steps, &judge, None::<&mut Others<D>>);
        let asked = played.told.len();
        let wrong = played.wrong.into_iter();
        all.push(Done {
            name: run.name,
            clauses: run.clauses,
            asked,
            wrong: wrong
                .map(|it| (it.finding.clause, it.finding.text))
                .collect(),
            unsupported: played.unsupported.into_iter().collect(),
        });
    }
    let is_right = |it: &Done| it.wrong.is_empty() && it.unsupported.is_empty();
    let status = if all.iter().any(|it| !it.wrong.is_empty()) {
        Status::Violated
    } else {
        Status::if_exercised(all.iter().any(is_right))
    };
    match format {
        ReportFormat::Text => {
            let mut text: String = all.iter().map(Done::text).collect();
            let does = all.iter().filter(|it| it.does_it()).count();
            let wrong = all.iter().filter(|it| !it.wrong.is_empty()).count();
            let _ = writeln!(
                text,
                "{}: {}: {does} of {} done, {wrong} with something wrong, by the text as it stands",
                D::Protocol::NAME,
                status.verdict(),
                all.len()
            );
            Ok(Answer { text, status })
        }
        ReportFormat::Json => {
            let runs: Vec<_> = all.iter().map(Done::json).collect();
            let (protocol, verdict) = (D::Protocol::NAME, status.verdict());
            let document = json!({ "protocol": protocol, "verdict": verdict, "runs": runs });
            Ok(Answer::json(&document, status))
        }
        ReportFormat::Junit | ReportFormat::Sarif | ReportFormat::Html => {
            Err(miette!("runs of the model are told as text or json"))
        }
    }
}

impl Done {
    /// Whether it breaks what the run breaks.
    fn does_it(&self) -> bool {
        let mut wrong = self.wrong.iter();
        wrong.any(|(clause, _)| self.clauses.iter().any(|it| it == clause))
    }

    fn text(&self) -> String {
        let does = match (self.does_it(), self.wrong.is_empty()) {
            (true, _) => "does what the run does",
            (false, false) => "does something else that is wrong",
            (false, true) => "does nothing wrong",
        };
        let mut text = format!("{}: {does}, {} calls\n", printable(&self.name), self.asked);
        for (clause, wrong) in &self.wrong {
            let _ = writeln!(text, "  {}: {}", cited(clause), printable(wrong));
        }
        for op in &self.unsupported {
            let _ = writeln!(text, "  unsupported: {}", printable(op));
        }
        text
    }

    fn json(&self) -> Value {
        let wrong = self.wrong.iter();
        let wrong = wrong.map(|(clause, text)| json!({ "clause": clause, "text": text }));
        json!({
            "property": self.name,
            "clauses": self.clauses,
            "calls": self.asked,
            "does": self.does_it(),
            "wrong": wrong.collect::<Vec<_>>(),
            "unsupported": self.unsupported,
        })
    }
}

/// Every run of a value, with the setting that the objects around it say.
fn collect(value: &Value, around: &Setting, runs: &mut Vec<Saved>) -> miette::Result<()> {
    match value {
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| collect(item, around, runs)),
        Value::Object(object) => {
            let mut setting = around.clone();
            for name in ["bounds", "without", "readings", "numbers", "literal"] {
                if let Some(said) = object.get(name).filter(|it| is_of_setting(it)) {
                    setting.insert(name.to_owned(), said.clone());
                }
            }
            let text = |name| object.get(name).and_then(Value::as_str);
            if let Some(steps) = object.get("steps").and_then(Value::as_array)
                && !steps.is_empty()
            {
                let name = text("name").or(text("property")).unwrap_or("a run");
                runs.push(Saved {
                    steps: saved_steps(name, steps).map_err(miette::Report::msg)?,
                    name: name.to_owned(),
                    clauses: words(object.get("clauses")).map(str::to_owned).collect(),
                    setting: setting.clone(),
                });
            }
            let mut members = object.values();
            members.try_for_each(|member| collect(member, &setting, runs))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// Whether it is a word, a yes or no, or a list of words: something else of that name is no setting.
fn is_of_setting(value: &Value) -> bool {
    match value {
        Value::String(_) | Value::Bool(_) => true,
        Value::Array(all) => all.iter().all(Value::is_string),
        Value::Null | Value::Number(_) | Value::Object(_) => false,
    }
}

fn words(list: Option<&Value>) -> impl Iterator<Item = &str> {
    let all = list.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str)
}

/// The model of a setting.
fn model<T: Modelled>(setting: &Setting) -> miette::Result<Specification<T>> {
    let bounds = setting.get("bounds").and_then(Value::as_str);
    let model = specification::<T>(preset::<T>(bounds.unwrap_or("small"))?)?;
    let mut rules = Rules::all();
    for name in words(setting.get("without")) {
        let guards = T::Guard::named(name);
        if guards.is_empty() {
            return Err(miette!("no rule is called {}", printable(name)));
        }
        rules = guards.into_iter().fold(rules, Rules::without);
    }
    let readings = words(setting.get("readings"));
    let reading = Specification::<T>::reading_from(model.reading, readings);
    let mut reading = reading.map_err(miette::Report::msg)?;
    for assignment in words(setting.get("numbers")) {
        let is_set = is_set::<T>(&mut reading, assignment);
        is_set.ok_or_else(|| miette!("{}: no such number", printable(assignment)))?;
    }
    let model = model.with(rules, reading);
    let is_literal = setting.get("literal").and_then(Value::as_bool);
    Ok(if is_literal == Some(true) {
        model.literal()
    } else {
        model
    })
}

/// Sets a number as `name=value` says, if there is one that can be so.
fn is_set<T: Modelled>(reading: &mut T::Reading, assignment: &str) -> Option<()> {
    let (name, value) = assignment.split_once('=')?;
    match &T::NUMBERS.iter().find(|it| it.name == name)?.value {
        Can::Whole(whole) => (whole.set)(reading, whole.can_be(value.parse().ok()?)?),
        Can::Word(words) => (words.iter().find(|it| it.value == value)?.set)(reading),
        Can::Fixed { .. } => return None,
    }
    Some(())
}
