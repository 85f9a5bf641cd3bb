//! `countersign worth`: what each rule of a text is worth, as a matrix of rules and guarantees.

use std::fmt::Write as _;

use countersign_clauses::nearest;
use countersign_conform::steps::steps_json;
use countersign_model::checker::Broken;
use countersign_model::checker::PropertyVerdict;
use countersign_model::facade::{Explanation, Model, Rule, Text};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::ablate::{by_reading, without_rule, without_rule_json, without_rule_text};
use super::clauses::hanging;
use crate::answer::{Answer, PageFormat, Status, with_result};
use crate::argued::{explained_json, explained_text, setting, with_setting};
use crate::arguments::{Extent, Protocol, Reread, VARIANT, Within, rules, within};
use crate::table::grouped;
use crate::terminal::Terminal;
use crate::verdicts::property_text;
use crate::worth::page::{self, ShowClause};
use crate::worth::{Asked, Guarantee, Single, Worth, is_guarantee, text as words};

const EXAMPLES: &str = "\
Examples:
  countersign worth pending-action                    every rule and guarantee
  countersign worth aaep AAEP-6.3.4-1                 one rule, with the runs
  countersign worth aaep --guarantee AAEP-6.9-2       what carries a guarantee
  countersign worth mcp-aql --format html > worth.html
  countersign worth mcp-aql --spec draft.toml         the text with your changes

A number is the length, in steps, of the shortest run that breaks a guarantee
without the rule. A guarantee is what the text must prevent in every reading;
what else the text requires is counted under `else`. A rule that breaks nothing
does so within the steps and states that are printed.

Exit status: 0";

/// The arguments of `countersign worth`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    pub(super) protocol: Protocol,
    /// Only this clause, section or rule, with the runs
    pub(super) rule: Option<String>,
    /// Only guarantees of this clause or section, or with these words
    #[arg(long, value_name = "CLAUSE")]
    pub(super) guarantee: Option<String>,
    /// Search runs of at most N steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(super) steps: Option<u8>,
    #[command(flatten)]
    pub(super) extent: Extent,
    #[command(flatten, next_help_heading = VARIANT)]
    pub(super) reread: Reread,
    #[command(flatten, next_help_heading = VARIANT)]
    pub(super) within: Within,
}

/// Runs the command. It judges no implementation, so an answer always holds.
///
/// # Errors
///
/// Bounds, a rule, a reading or a guarantee that there are not.
pub fn run(args: &Args, format: PageFormat) -> miette::Result<Answer> {
    let text = args.protocol.text();
    let model = args.reread.of(&*args.within.model(text)?)?;
    let model = &*model;
    let bounds = args.within.name();
    let rules = match &args.rule {
        Some(name) => rules(text, name)?,
        None => Vec::new(),
    };
    if let Some(asked) = &args.guarantee {
        is_stated(text, asked)?;
    }
    let asked = Asked {
        rules: &rules,
        steps: args.steps.map_or(text.longest, usize::from),
    };
    let mut worth = Worth::of(model, asked);
    worth.drop_broken(&by_reading(model));
    if let Some(clause) = &args.guarantee {
        let names: Vec<_> = worth.guarantees.iter().map(Guarantee::in_words).collect();
        worth.keep(clause);
        if worth.guarantees.is_empty() {
            let names = names.join("\n  ");
            miette::bail!(
                "no guarantee that breaks states `{clause}`; those that do are\n  {names}"
            );
        }
    }
    let status = Status::Holds;
    Ok(match format {
        PageFormat::Json => {
            let document = with_result(document(model, bounds, &worth), status);
            Answer::json(&document, status)
        }
        PageFormat::Html => {
            let alone = (&html! {}, (|id| html! { (id) }) as ShowClause);
            Answer {
                text: page(text, bounds, &worth, alone),
                status,
            }
        }
        PageFormat::Text => {
            let counts = format!(
                "{} rules left out, {} guarantees depend on one or more ({}, {bounds} bounds, {})",
                worth.singles.len(),
                worth.guarantees.len(),
                text.name,
                words::extent(&worth)
            );
            let body = in_words(args, model, &worth);
            Answer::verdict(status, &counts, &body, args.extent.all)
        }
    })
}

/// Refuses, before anything is searched, what no property of the text states.
fn is_stated(text: &Text, asked: &str) -> miette::Result<()> {
    let all: Vec<_> = text.properties.iter().map(Guarantee::named).collect();
    if all.iter().any(|it| it.states(asked)) {
        return Ok(());
    }
    let names = all.iter().map(|it| it.name.as_str());
    let clauses = all.iter().flat_map(|it| it.clauses.iter().copied());
    let hint = nearest::hint(&nearest::ids(asked, clauses));
    let names = names.collect::<Vec<_>>().join("\n  ");
    miette::bail!(
        "no guarantee that breaks states `{asked}`{hint}; what the text wants of every run is\n  {names}"
    )
}

/// What stands above the guarantees.
const GUARANTEES: &str = "Each guarantee, the clauses that it states, and the rules without which it breaks, each with the length of the \
                          shortest run in steps:";

/// What the rules of a protocol are worth, for a page among others, whatever the protocol is.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The protocol's name on the command line.
    pub protocol: &'static str,
    /// The page with the matrix.
    pub page: String,
    /// The same, as the command prints it.
    pub json: Value,
    /// Each rule that was left out, with its clauses, how many guarantees that breaks, and the shortest run that does.
    pub rules: Vec<(&'static str, &'static [&'static str], usize, Option<usize>)>,
}

impl Drawn {
    /// Leaves each of these rules out alone, or each that there is where it is none; `beside` is what stands above the page, and how it
    /// names clauses.
    ///
    /// # Errors
    ///
    /// Bounds that there are not.
    pub fn of(
        text: &'static Text,
        bounds: &str,
        rules: &[&'static Rule],
        beside: (&Markup, ShowClause),
    ) -> miette::Result<Self> {
        let model = within(text, bounds)?;
        let steps = text.longest;
        let mut worth = Worth::of(&*model, Asked { rules, steps });
        worth.drop_broken(&by_reading(&*model));
        let rules = worth.singles.iter().map(|single| {
            let properties = single.broken.properties.iter();
            let lengths = properties.filter(|it| is_guarantee(it));
            let lengths: Vec<usize> = lengths.map(|it| it.steps.len()).collect();
            let rule = single.rule;
            let shortest = lengths.iter().min().copied();
            (rule.name, rule.clauses, lengths.len(), shortest)
        });
        Ok(Self {
            protocol: text.name,
            rules: rules.collect(),
            page: page(text, bounds, &worth, beside),
            json: document(&*model, bounds, &worth),
        })
    }
}

fn page(text: &Text, bounds: &str, worth: &Worth, beside: (&Markup, ShowClause)) -> String {
    let duties = without_rule(text);
    let duties: Vec<_> = duties
        .map(|(clause, reason)| (clause.id.as_str(), clause.level.as_str(), reason))
        .collect();
    page::render(text.name, bounds, worth, &duties, beside)
}

/// Why a run that breaks something without the rule is possible.
fn explained(model: &dyn Model, single: &Single, property: &PropertyVerdict) -> Explanation {
    let without = model.with(&[single.rule], &[]);
    without.explain(&property.steps)
}

fn in_words(args: &Args, model: &dyn Model, worth: &Worth) -> String {
    let mut said = String::new();
    if args.guarantee.is_none() {
        // What is no terminal has as many columns as a page.
        let columns = Terminal::of_stdout().columns.unwrap_or(80);
        said += &words::matrix(worth, columns);
        said.push('\n');
    }
    if args.rule.is_some() {
        for single in &worth.singles {
            if single.broken.properties.is_empty() {
                let Broken { steps, states, .. } = single.broken;
                let within = format!("{steps} steps, {} states", grouped(states as u64));
                let name = single.rule.name;
                let _ = writeln!(said, "without {name}: breaks nothing within {within}");
            }
            for property in &single.broken.properties {
                let _ = writeln!(
                    said,
                    "without {}: {}{}",
                    single.rule.name,
                    property_text(property),
                    explained_text(model.text(), &explained(model, single, property))
                );
            }
        }
    } else {
        said += &hanging("", GUARANTEES);
        said.push('\n');
        said += &words::carriers(worth);
    }
    if args.guarantee.is_none() && args.rule.is_none() {
        said += &without_rule_text(model.text());
    }
    said
}

fn document(model: &dyn Model, bounds: &str, worth: &Worth) -> Value {
    let guarantees = worth.guarantees.iter().map(|guarantee| {
        let carriers = worth.carriers(guarantee).into_iter();
        let alone = carriers.map(|(rule, steps)| json!({ "guard": rule.name, "length": steps }));
        let alone: Vec<Value> = alone.collect();
        let mut document =
            json!({ "name": guarantee.name, "clauses": guarantee.clauses, "alone": alone });
        if guarantee.is_broken {
            document["broken"] = json!(true);
        }
        document
    });
    let guarantees: Vec<Value> = guarantees.collect();
    let document = json!({
        "protocol": model.text().name,
        "bounds": bounds,
        "guarantees": guarantees,
        "rules": worth.singles.iter().map(|it| single_json(model, it)).collect::<Vec<_>>(),
        "without_rule": without_rule(model.text()).map(without_rule_json).collect::<Vec<_>>(),
    });
    with_setting(document, setting(model))
}

fn single_json(model: &dyn Model, single: &Single) -> Value {
    let breaks = |property: &PropertyVerdict| {
        let mut broken = json!({
            "property": property.name,
            "clauses": property.clauses,
            "guarantee": is_guarantee(property),
            "length": property.steps.len(),
            "steps": steps_json(&property.steps),
        });
        if let Value::Object(members) = &mut broken {
            members.extend(explained_json(&explained(model, single, property)));
        }
        broken
    };
    json!({
        "guard": single.rule.name,
        "clauses": single.rule.clauses,
        "free": single.rule.free,
        "breaks": single.broken.properties.iter().map(breaks).collect::<Vec<_>>(),
        "within": extent((single.broken.steps, single.broken.states)),
    })
}

fn extent((steps, states): (usize, usize)) -> Value {
    json!({ "steps": steps, "states": states })
}
