//! What made a run of a model possible that breaks something, and what the text as it stands requires instead, in words.

use std::fmt::Write as _;

use countersign_clauses::{cited, cited_all};
use countersign_model::departures::{Departure, What};
use countersign_model::facade::{Explanation, Instead, Model, Rule, Text};
use serde_json::{Map, Value, json};

use crate::commands::clauses::hanging;
use crate::verdicts::level;

/// An explanation as lines below the run.
pub fn explained_text(text: &Text, explanation: &Explanation) -> String {
    let mut said = needs_text(text, &explanation.needs, None);
    if let Some(Instead { step, changes }) = &explanation.instead {
        let head = format!("   required instead at step {step}: ");
        said += &hanging(&head, &instead_text(changes.as_deref()));
    }
    said
}

/// The same for programs: members of the object that holds the run.
pub fn explained_json(explanation: &Explanation) -> Map<String, Value> {
    let instead = explanation.instead.as_ref();
    let instead = instead.map(|it| json!({ "step": it.step, "changes": it.changes }));
    Map::from_iter([
        (
            "made_possible_by".to_owned(),
            needs_json(&explanation.needs),
        ),
        ("instead".to_owned(), json!(instead)),
    ])
}

/// What a run needs, as lines below it; `other` is the setting that it is held against, where that is not the text as it stands.
pub fn needs_text(text: &Text, needs: &[Departure], other: Option<&str>) -> String {
    let mut said = String::new();
    for it in needs {
        let other_value = other.map_or_else(
            || format!("by default {}", it.usual),
            |other| format!("under {other} {}", it.other),
        );
        match it.what {
            What::Lost | What::Kept => {
                let rules = text.rules.iter().filter(|rule| rule.name == it.name);
                for rule in rules {
                    let _ = writeln!(said, "{}", rule_text(rule, it.what, other));
                }
            }
            What::Reading | What::Number => {
                let clauses = cited_all(it.clauses);
                let assigned = format!("{} of {clauses} ({other_value})", it.assignment());
                said += &hanging("   allowed by    ", &assigned);
            }
        }
    }
    said
}

fn rule_text(row: &Rule, what: What, other: Option<&str>) -> String {
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
pub fn changed_numbers(model: &dyn Model) -> Vec<Departure> {
    let mut all = model.departures(&*model.as_it_stands());
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
pub fn setting(model: &dyn Model) -> Map<String, Value> {
    let left_out = model.left_out();
    let without: Vec<_> = left_out.iter().map(|it| it.name).collect();
    let all = model.departures(&*model.as_it_stands());
    let taken = |what| {
        let those = all.iter().filter(|it| it.what == what);
        those.map(Departure::assignment).collect::<Vec<_>>()
    };
    Map::from_iter([
        ("without".to_owned(), json!(without)),
        ("readings".to_owned(), json!(taken(What::Reading))),
        ("numbers".to_owned(), json!(taken(What::Number))),
        ("literal".to_owned(), json!(!model.has_quotient())),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Protocol, within};

    /// AQL-5.1-5: the name of the rule has the number of the text, which is told where another is in force.
    #[test]
    fn a_number_that_is_changed_stands_behind_the_names_of_its_clauses() {
        let text = within(Protocol::McpAql.text(), "small").expect("bounds");
        assert_eq!(by_file(&changed_numbers(&*text), &["AQL-5.1-5"]), "");
        let changed = text.with(&[], &[("tolerance.longest", "360")]);
        let numbers = changed_numbers(&*changed);
        let expected = " (by the file: tolerance.longest = 360)";
        assert_eq!(by_file(&numbers, &["AQL-1.2-1", "AQL-5.1-5"]), expected);
        assert_eq!(by_file(&numbers, &["AQL-5.1-6"]), "");
    }
}
