//! What made a run of a model possible that breaks something, and what the text as it stands requires instead.
//!
//! The one thing to know: the run is taken again, step by step. Where the text as it stands goes on otherwise, that is what is required
//! instead; and of what is left out, read otherwise or counted otherwise, that made the run possible without which some step goes on
//! otherwise, or nothing is wrong with the last.

use std::fmt::Write as _;

use countersign_clauses::{cited, cited_all};
use countersign_model::checker::StepText;
use countersign_model::departures::{Departure, What, departures, needed};
use countersign_model::judged::{CallTold, along};
use countersign_model::rules::{GuardRow, Rules};
use countersign_model::specification::{Modelled, Specification};
use countersign_model::table::Tabled as _;
use serde_json::{Map, Value, json};

use crate::commands::clauses::hanging;
use crate::verdicts::level;

/// Why a run is possible, and what is required instead.
#[derive(Clone, Debug)]
pub struct Argued {
    /// What it needs.
    pub needs: Vec<Departure>,
    /// Where the text as it stands goes on otherwise; nowhere if the run is not one of the model, or only judged otherwise.
    pub instead: Option<Instead>,
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

impl Argued {
    /// The argument on a run of this model that breaks something at its last step. Where the run cannot be taken again it is all that
    /// the model departs in.
    pub fn of<T: Modelled>(model: &Specification<T>, steps: &[StepText]) -> Self {
        let text = text_of(model);
        let all = Self {
            needs: departures(model, &text),
            instead: None,
        };
        let mut run = Vec::new();
        if !is_taken(model, model.start(), steps, &mut run) {
            return all;
        }
        let instead = apart(model, &text, &run);
        let actions: Vec<_> = run.iter().map(|(_, action)| *action).collect();
        let is_wrong = |model: &Specification<T>| {
            let found = along(model, &actions);
            found.last().is_some_and(|findings| !findings.is_empty())
        };
        // What is no matter of the judge is a matter of the steps alone.
        let is_judged = is_wrong(model);
        let needs = needed(model, &text, |less| {
            apart(model, less, &run).is_none() && (!is_judged || is_wrong(less))
        });
        Self { needs, instead }
    }

    /// As lines below the run.
    pub fn text<T: Modelled>(&self) -> String {
        let mut text = needs_text::<T>(&self.needs, None);
        if let Some(Instead { step, changes }) = &self.instead {
            let head = format!("   required instead at step {step}: ");
            text += &hanging(&head, &instead_text(changes.as_deref()));
        }
        text
    }

    /// The same for programs: members of the object that holds the run.
    pub fn json(&self) -> Map<String, Value> {
        let instead = self.instead.as_ref();
        let instead = instead.map(|it| json!({ "step": it.step, "changes": it.changes }));
        Map::from_iter([
            ("made_possible_by".to_owned(), needs_json(&self.needs)),
            ("instead".to_owned(), json!(instead)),
        ])
    }
}

/// What a run needs, as lines below it; `other` is the setting that it is held against, where that is not the text as it stands.
pub fn needs_text<T: Modelled>(needs: &[Departure], other: Option<&str>) -> String {
    let mut text = String::new();
    for it in needs {
        let other_value = other.map_or_else(
            || format!("by default {}", it.usual),
            |other| format!("under {other} {}", it.other),
        );
        match it.what {
            What::Lost | What::Kept => {
                let rows = T::Guard::ROWS.iter().filter(|row| row.name == it.name);
                for row in rows {
                    let _ = writeln!(text, "{}", rule_text(row, it.what, other));
                }
            }
            What::Reading | What::Number => {
                let clauses = cited_all(it.clauses);
                let said = format!("{} of {clauses} ({other_value})", it.assignment());
                text += &hanging("   allowed by    ", &said);
            }
        }
    }
    text
}

fn rule_text<G>(row: &GuardRow<G>, what: What, other: Option<&str>) -> String {
    let (clause, gist) = (row.clauses[0], row.gist);
    let (level, clause) = (level(clause), cited(clause));
    if what == What::Kept {
        let other = other.unwrap_or("the other");
        return format!("   required by   {clause} {level}: {gist} (left out under {other})");
    }
    let as_in = row.in_samples.map_or_else(String::new, |sections| {
        format!(", as in the text's own code in {sections}")
    });
    format!("   forbidden by  {clause} {level}: {gist} (left out here{as_in})")
}

/// The numbers of a setting that are not those of the text.
pub fn changed_numbers<T: Modelled>(model: &Specification<T>) -> Vec<Departure> {
    let mut all = departures(model, &text_of(model));
    all.retain(|it| it.what == What::Number);
    all
}

/// What stands behind the name of a rule or a property, which has the numbers of the text: those of its clauses that are changed.
pub fn by_file(numbers: &[Departure], clauses: &[&str]) -> String {
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

/// What a run needs, for programs.
pub fn needs_json(needs: &[Departure]) -> Value {
    let needs = needs.iter().map(|it| {
        let key = match it.what {
            What::Lost => return json!({ "guard": it.name, "clauses": it.clauses }),
            What::Kept => return json!({ "kept": it.name, "clauses": it.clauses }),
            What::Reading => "reading",
            What::Number => "number",
        };
        json!({ key: it.assignment(), "default": it.usual, "clauses": it.clauses })
    });
    needs.collect()
}

/// What comes of a step under another setting, in words.
pub fn instead_text(changes: Option<&[String]>) -> String {
    match changes {
        Some([]) => "nothing changes and nothing comes out".to_owned(),
        Some(changes) => changes.join(", "),
        None => "no such step".to_owned(),
    }
}

/// What a saved run was searched in besides protocol and bounds: the rules left out, the readings taken, the numbers changed, and the
/// version of this command.
pub fn setting<T: Modelled>(model: &Specification<T>) -> Map<String, Value> {
    let without: Vec<_> = model.rules.left_out().map(|it| it.row().name).collect();
    let all = departures(model, &text_of(model));
    let taken = |what| {
        let those = all.iter().filter(|it| it.what == what);
        those.map(Departure::assignment).collect::<Vec<_>>()
    };
    Map::from_iter([
        ("without".to_owned(), json!(without)),
        ("readings".to_owned(), json!(taken(What::Reading))),
        ("numbers".to_owned(), json!(taken(What::Number))),
        ("literal".to_owned(), json!(!model.quotient)),
        ("countersign".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
    ])
}

/// The text as it stands, within the bounds of a model.
fn text_of<T: Modelled>(model: &Specification<T>) -> Specification<T> {
    model.with(Rules::all(), T::reading_within(&model.bounds))
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

/// The actions of a run that is told by its steps; nothing where the model does not have it.
pub fn actions_of<T: Modelled>(
    model: &Specification<T>,
    steps: &[StepText],
) -> Option<Vec<T::Action>> {
    let mut run = Vec::new();
    let is_taken = is_taken(model, model.start(), steps, &mut run);
    is_taken.then(|| run.into_iter().map(|(_, action)| action).collect())
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
            // What the world does and the other need not look at is nothing that is required of it.
            own.told?;
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

    use super::*;
    use crate::arguments::{preset, specification};

    /// AQL-5.1-5: the name of the rule has the number of the text, which is told where another is in force.
    #[test]
    fn a_number_that_is_changed_stands_behind_the_names_of_its_clauses() {
        let bounds = preset::<McpAqlProtocol>("small").expect("bounds");
        let text = specification::<McpAqlProtocol>(bounds).expect("a model");
        assert_eq!(by_file(&changed_numbers(&text), &["AQL-5.1-5"]), "");
        let mut reading = text.reading;
        reading.numbers.longest_tolerance = 360;
        let numbers = changed_numbers(&text.with(Rules::all(), reading));
        let expected = " (by the file: tolerance.longest = 360)";
        assert_eq!(by_file(&numbers, &["AQL-1.2-1", "AQL-5.1-5"]), expected);
        assert_eq!(by_file(&numbers, &["AQL-5.1-6"]), "");
    }
}
