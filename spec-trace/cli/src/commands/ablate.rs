//! `countersign ablate`: each rule left out in turn, what then breaks, and the shortest run that shows it; and every duty of
//! the text that no rule stands for, with the reason.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use countersign_clauses::{self as clauses, Clause, cited_all, links};
use countersign_model::checker::PropertyVerdict;
use countersign_model::departures::{Departure, What};
use countersign_model::facade::{Ablation, Model, Text};
use serde_json::{Value, json};
use textwrap::Options;

use super::clauses::hanging;
use crate::answer::{Answer, Format, Status, with_result};
use crate::argued::{
    by_file, changed_numbers, explained_json, explained_text, setting, with_setting,
};
use crate::arguments::{Extent, Protocol, Reread, VARIANT, Within};
use crate::progress::Progress;
use crate::table::{self, Align};
use crate::verdicts::{cited_name, level, place};
use countersign_conform::steps::{numbered, steps_json};

const EXAMPLES: &str = "\
Examples:
  countersign check pending-action --each-rule
  countersign check pending-action --each-rule --reading expiry-boundary=after
  countersign ablate mcp-aql --format json > ablate.json

A rule breaks a property, or it has no observable effect. What the variant
breaks with every rule is not counted.

Exit 0: every rule is needed, or is documented as unobservable.";

/// The arguments of `countersign ablate`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    pub(super) protocol: Protocol,
    #[command(flatten)]
    pub(super) extent: Extent,
    #[command(flatten, next_help_heading = VARIANT)]
    pub(super) reread: Reread,
    #[command(flatten, next_help_heading = VARIANT)]
    pub(super) within: Within,
}

/// Runs the command.
///
/// # Errors
///
/// Bounds that there are not.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let text = args.protocol.text();
    let model = args.reread.of(&*args.within.model(text)?)?;
    let model = &*model;
    let bounds = args.within.name();
    let progress = Progress::of(
        text.rules.len() as u64,
        &format!("{}: leaving out", text.name),
        "rules",
    );
    let rules = (0..).zip(&text.rules);
    let ablations = rules.map(|(done, rule)| {
        progress.at(done);
        model.leave_out(rule)
    });
    let mut ablations: Vec<_> = ablations.collect();
    drop(progress);
    let by_reading = by_reading(model);
    for ablation in &mut ablations {
        ablation.breaks.retain(|it| !by_reading.contains(&it.name));
    }
    let status = Status::of(ablations.iter().all(Ablation::is_explained));
    Ok(match format {
        Format::Text => {
            let (counts, body) = in_words(model, bounds, &ablations, args.extent.all);
            Answer::verdict(status, &counts, &body, args.extent.all)
        }
        Format::Json => {
            let document = json!({
                "protocol": text.name,
                "bounds": bounds,
                "ablations": ablations.iter().map(|it| ablation_json(model, it)).collect::<Vec<_>>(),
                "without_rule": without_rule(text).map(without_rule_json).collect::<Vec<_>>(),
            });
            let document = with_setting(document, setting(model));
            Answer::json(&with_result(document, status), status)
        }
    })
}

/// The names of the properties that break by the reading alone, with every rule in force.
pub(super) fn by_reading(model: &dyn Model) -> BTreeSet<String> {
    if !model.departs() {
        return BTreeSet::new();
    }
    let broken = model.with(&[], &[]).broken_within(model.text().longest);
    broken.properties.into_iter().map(|it| it.name).collect()
}

/// The model in which that breaks.
fn without(model: &dyn Model, ablation: &Ablation) -> Arc<dyn Model> {
    model.with(&[ablation.rule], &[])
}

fn ablation_json(model: &dyn Model, ablation: &Ablation) -> Value {
    let model = without(model, ablation);
    let broken = |property: &PropertyVerdict| {
        let mut broken = json!({ "property": property.name, "steps": steps_json(&property.steps) });
        if let Value::Object(members) = &mut broken {
            members.extend(explained_json(&model.explain(&property.steps)));
        }
        broken
    };
    let breaks: Vec<Value> = ablation.breaks.iter().map(broken).collect();
    json!({
        "guard": ablation.rule.name,
        "bounds": model.bounds(),
        "clauses": ablation.rule.clauses,
        "breaks": breaks,
        "free": ablation.rule.free,
    })
}

pub(super) fn without_rule_json((clause, reason): (&Clause, &str)) -> Value {
    json!({ "clause": clause.id, "level": clause.level, "reason": reason })
}

/// What the text demands or forbids and no rule of the model stands for, each with the reason.
pub(super) fn without_rule(text: &Text) -> impl Iterator<Item = (&'static Clause, &'static str)> {
    let has_rule = |clause: &Clause| {
        let mut rules = text.rules.iter();
        rules.any(|it| it.clauses.contains(&clause.id.as_str()))
    };
    clauses::all()
        .iter()
        .filter(|clause| clause.protocol == text.name)
        .filter(|clause| clause.level.binds())
        .filter(move |clause| !has_rule(clause))
        .map(|clause| {
            (
                clause,
                links::without_rule(clause).unwrap_or("nothing says why"),
            )
        })
}

/// How many rules do what, and what each does: those that break nothing first. All of it has the runs.
fn in_words(
    model: &dyn Model,
    bounds: &str,
    ablations: &[Ablation],
    all: bool,
) -> (String, String) {
    let mut ablations: Vec<_> = ablations.iter().collect();
    ablations.sort_by_cached_key(|it| (it.is_explained(), place(it.rule.clauses)));
    let count = |is: fn(&Ablation) -> bool| {
        let those = ablations.iter().filter(|it| is(it));
        those.count()
    };
    let idle = count(|it| !it.is_explained());
    let free = count(|it| it.rule.free.is_some());
    let needed = ablations.len() - free - idle;
    let counts = format!(
        "{} rules: {needed} break something, {free} are unobservable, {idle} break nothing ({}, {bounds} bounds, runs of up to {} \
         steps)",
        ablations.len(),
        model.text().name,
        model.text().longest,
    );
    let mut text = overview(&ablations);
    if all {
        let numbers = changed_numbers(model);
        for ablation in &ablations {
            text.push('\n');
            text.push_str(&one(&*without(model, ablation), ablation, &numbers));
        }
        text.push_str(&without_rule_text(model.text()));
    } else {
        let _ = writeln!(text, "--all shows the run for each rule");
    }
    (counts, text)
}

/// The clauses that have no rule, by the reason.
pub(super) fn without_rule_text(text: &Text) -> String {
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for (clause, reason) in without_rule(text) {
        let named = format!("{} {}", clause.cited(), clause.level);
        match by_reason.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, clauses)) => clauses.push(named),
            None => by_reason.push((reason, vec![named])),
        }
    }
    let count: usize = by_reason.iter().map(|(_, clauses)| clauses.len()).sum();
    let mut said = format!("\nClauses that bind and have no rule to leave out: {count}\n");
    for (reason, clauses) in by_reason {
        let options = Options::new(80).subsequent_indent("  ");
        let _ = writeln!(said, "{}", textwrap::fill(reason, &options));
        let options = Options::new(80)
            .initial_indent("    ")
            .subsequent_indent("    ");
        let _ = writeln!(said, "{}", textwrap::fill(&clauses.join(", "), &options));
    }
    said
}

/// One rule, and what leaving it out breaks in this model.
fn one(model: &dyn Model, ablation: &Ablation, numbers: &[Departure]) -> String {
    let row = ablation.rule;
    let mut text = format!(
        "without {} ({} {}): {}{}\n",
        row.name,
        cited_all(row.clauses),
        level(row.clauses[0]),
        row.gist,
        by_file(numbers, row.clauses)
    );
    if let Some(sections) = row.in_samples {
        let _ = writeln!(text, "  the text's own code in {sections} leaves it out");
    }
    if let Some(free) = row.free {
        text += &hanging("  no observable effect: ", free);
    } else if ablation.breaks.is_empty() {
        text.push_str(
            "  breaks nothing: no run within these bounds needs the rule, or no property states its purpose\n",
        );
    }
    for property in &ablation.breaks {
        let _ = writeln!(
            text,
            "  breaks {}{}  ({} steps)",
            cited_name(property),
            by_file(numbers, &property.clauses),
            property.steps.len()
        );
        text.push_str(&numbered(&property.steps));
        let mut explanation = model.explain(&property.steps);
        // It is said above.
        explanation.needs.retain(|it| it.what != What::Lost);
        text.push_str(&explained_text(model.text(), &explanation));
    }
    text
}

/// A line for each rule.
fn overview(ablations: &[&Ablation]) -> String {
    let head = ["rule", "clause", "level", "breaks", "shortest", ""];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(ablations.iter().map(|ablation| {
        let shortest = ablation
            .breaks
            .iter()
            .map(|property| property.steps.len())
            .min();
        vec![
            ablation.rule.name.to_owned(),
            ablation.rule.clauses[0].to_owned(),
            level(ablation.rule.clauses[0]).to_owned(),
            match ablation.breaks.len() {
                0 => String::new(),
                breaks => breaks.to_string(),
            },
            shortest.map(|steps| steps.to_string()).unwrap_or_default(),
            match ablation.rule.free {
                Some(_) => "unobservable".to_owned(),
                None => String::new(),
            },
        ]
    }));
    let columns = [
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Left,
    ];
    table::render(&columns, &rows)
}
