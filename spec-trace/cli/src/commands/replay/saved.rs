//! Runs of a model that `check`, `compare` and the others have saved, asked of an implementation.
//!
//! The one thing to know: a saved run says in what setting it was searched. So the model is made once more, the run is taken again by
//! its words, and each call of it is asked as the suite asks for it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use countersign_clauses::cited;
use countersign_conform::driven::{Step, play};
use countersign_conform::implementation::{Greeted, Implementation};
use countersign_conform::spoken::{self, Driver, Spoken, Wire, judge};
use countersign_model::checker::StepText;
use countersign_model::facade::engine::Variation;
use countersign_model::facade::{self, Model, Value as Can};
use miette::miette;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, ReportFormat, Status};
use crate::arguments::within;
use crate::show::document::saved_steps;
use crate::show::words::printable;
use crate::spec_file::Changes;

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
    also: Vec<&'static str>,
    unsupported: Vec<String>,
}

/// What came of the calls of a run.
#[derive(Default)]
pub struct Asked {
    calls: usize,
    wrong: Vec<(&'static str, String)>,
    /// Other clauses that say the same.
    also: Vec<&'static str>,
    unsupported: BTreeSet<String>,
}

/// Asks for every call of a run. None where the text has no such run.
fn asked<P: Spoken, I: Implementation<Wire<P>>>(
    model: &dyn Model,
    steps: &[StepText],
    partner: &mut Greeted<Wire<P>, I>,
) -> Option<Asked> {
    let model: &Variation<P> = model.as_any().downcast_ref()?;
    let run = model.taken(steps)?;
    let steps: Vec<_> = spoken::translated(&run).collect();
    let is_unsaid = steps.contains(&None);
    let steps = steps.into_iter().flatten().collect();
    let mut asked = played::<P, I>(steps, partner);
    if is_unsaid {
        let reason = "a word that no request has".to_owned();
        asked.unsupported.insert(reason);
    }
    Some(asked)
}

fn played<P: Spoken, I: Implementation<Wire<P>>>(
    mut steps: Vec<Step<Wire<P>>>,
    partner: &mut Greeted<Wire<P>, I>,
) -> Asked {
    // What has happened is then seen.
    steps.extend(Driver::<P>::ends(&steps));
    let judge = judge::<P>(partner.greeting());
    let played = play(partner, &steps, &judge);
    let found = || played.wrong.iter().map(|it| &it.finding);
    let wrong = found().map(|it| (it.clause, it.text.clone()));
    Asked {
        calls: played.told.len(),
        wrong: wrong.collect(),
        also: found().flat_map(|it| it.also).copied().collect(),
        unsupported: played.unsupported,
    }
}

/// Asks for every run of the document, and has the judge of the text as it stands say what is wrong.
///
/// # Errors
///
/// A document without runs, or a run that the model does not have.
pub(super) fn replay<P: Spoken, I: Implementation<Wire<P>>>(
    document: &Value,
    partner: &mut Greeted<Wire<P>, I>,
    format: ReportFormat,
) -> miette::Result<Answer> {
    let mut runs = Vec::new();
    collect(document, &Map::new(), &mut runs)?;
    if runs.is_empty() {
        return Err(miette!("no run is saved there: nothing was broken"));
    }
    let mut all = Vec::new();
    for run in runs {
        let model = model(P::NAME, &run.setting)?;
        let played = asked::<P, I>(&*model, &run.steps, partner).ok_or_else(|| {
            let name = printable(&run.name);
            miette!("{name}: the model of this version has no such run")
        })?;
        all.push(Done {
            name: run.name,
            clauses: run.clauses,
            asked: played.calls,
            wrong: played.wrong,
            also: played.also,
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
                P::NAME,
                status.verdict(),
                all.len()
            );
            Ok(Answer { text, status })
        }
        ReportFormat::Json => {
            let runs: Vec<_> = all.iter().map(Done::json).collect();
            let (protocol, verdict) = (P::NAME, status.verdict());
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
        let wrong = self.wrong.iter().map(|(clause, _)| clause);
        let mut wrong = wrong.chain(&self.also);
        wrong.any(|clause| self.clauses.iter().any(|it| it == clause))
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
fn model(protocol: &str, setting: &Setting) -> miette::Result<Arc<dyn Model>> {
    let text = facade::text(protocol).ok_or_else(|| miette!("no text is called {protocol}"))?;
    let bounds = setting.get("bounds").and_then(Value::as_str);
    let model = within(text, bounds.unwrap_or("small"))?;
    let mut left_out = Vec::new();
    for name in words(setting.get("without")) {
        let rules = text.named(name);
        if rules.is_empty() {
            return Err(miette!("no rule is called {}", printable(name)));
        }
        left_out.extend(rules);
    }
    let readings: Vec<String> = words(setting.get("readings")).map(str::to_owned).collect();
    let readings = Changes::of_options(text, None, &readings)?;
    let mut changes = readings.pairs();
    for assignment in words(setting.get("numbers")) {
        let number = assignment.split_once('=').filter(|(name, value)| {
            let number = text.number(name);
            number.is_some_and(|it| match &it.value {
                Can::Whole(whole) => value.parse().is_ok_and(|it| whole.can_be(it).is_some()),
                Can::Word(words) => words.iter().any(|it| it.value == *value),
                Can::Fixed { .. } => false,
            })
        });
        changes.push(number.ok_or_else(|| miette!("{}: no such number", printable(assignment)))?);
    }
    let model = model.with(&left_out, &changes);
    let is_literal = setting.get("literal").and_then(Value::as_bool);
    Ok(if is_literal == Some(true) {
        model.literal()
    } else {
        model
    })
}
