//! `countersign worth`: what each rule of a text is worth, as a matrix of rules and guarantees.

use std::fmt::Write as _;

use countersign_clauses::nearest;
use countersign_conform::steps::steps_json;
use countersign_model::aaep::AaepProtocol;
use countersign_model::ablation::Broken;
use countersign_model::checker::PropertyVerdict;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::rules::Rules;
use countersign_model::specification::{Modelled, Specification};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::ablate::{by_reading, without_rule, without_rule_json, without_rule_text};
use super::clauses::hanging;
use crate::answer::{Answer, PageFormat, Status, with_result};
use crate::argued::{Argued, setting, with_setting};
use crate::arguments::{Extent, Protocol, Reread, VARIANT, Within, guards, preset, specification};
use crate::table::grouped;
use crate::terminal::Terminal;
use crate::verdicts::property_text;
use crate::worth::page::{self, ShowClause};
use crate::worth::{Asked, Guarantee, Single, Worth, is_guarantee, text};

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
    match args.protocol {
        Protocol::Aaep => worth::<AaepProtocol>(args, format),
        Protocol::McpAql => worth::<McpAqlProtocol>(args, format),
        Protocol::PendingAction => worth::<PendingActionProtocol>(args, format),
    }
}

fn worth<T: Modelled>(args: &Args, format: PageFormat) -> miette::Result<Answer> {
    let model = args.reread.of(&args.within.model::<T>()?)?;
    let bounds = args.within.name();
    let rules = match &args.rule {
        Some(name) => guards::<T>(name)?,
        None => Vec::new(),
    };
    if let Some(asked) = &args.guarantee {
        is_stated::<T>(asked)?;
    }
    let asked = Asked {
        rules: &rules,
        steps: args.steps.map_or(T::LONGEST, usize::from),
    };
    let mut worth = Worth::of(&model, asked);
    worth.drop_broken(&by_reading(&model));
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
            let document = with_result(document(&model, bounds, &worth), status);
            Answer::json(&document, status)
        }
        PageFormat::Html => {
            let alone = (&html! {}, (|id| html! { (id) }) as ShowClause);
            Answer {
                text: page::<T>(bounds, &worth, alone),
                status,
            }
        }
        PageFormat::Text => {
            let counts = format!(
                "{} rules left out, {} guarantees depend on one or more ({}, {bounds} bounds, {})",
                worth.singles.len(),
                worth.guarantees.len(),
                T::NAME,
                text::extent(&worth)
            );
            let body = in_words(args, &model, &worth);
            Answer::verdict(status, &counts, &body, args.extent.all)
        }
    })
}

/// Refuses, before anything is searched, what no property of the text states.
fn is_stated<T: Modelled>(asked: &str) -> miette::Result<()> {
    let all: Vec<_> = T::PROPERTIES.iter().map(Guarantee::named).collect();
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
    pub fn of<T: Modelled>(
        bounds: &str,
        rules: &[T::Guard],
        beside: (&Markup, ShowClause),
    ) -> miette::Result<Self> {
        let model = specification::<T>(preset::<T>(bounds)?)?;
        let steps = T::LONGEST;
        let mut worth = Worth::of(&model, Asked { rules, steps });
        worth.drop_broken(&by_reading(&model));
        let rules = worth.singles.iter().map(|single| {
            let properties = single.broken.properties.iter();
            let lengths = properties.filter(|it| is_guarantee(it));
            let lengths: Vec<usize> = lengths.map(|it| it.steps.len()).collect();
            let row = single.row;
            let shortest = lengths.iter().min().copied();
            (row.name, row.clauses, lengths.len(), shortest)
        });
        Ok(Self {
            protocol: T::NAME,
            rules: rules.collect(),
            page: page::<T>(bounds, &worth, beside),
            json: document(&model, bounds, &worth),
        })
    }
}

fn page<T: Modelled>(
    bounds: &str,
    worth: &Worth<T::Guard>,
    beside: (&Markup, ShowClause),
) -> String {
    let duties = without_rule::<T>();
    let duties: Vec<_> = duties
        .map(|(clause, reason)| (clause.id.as_str(), clause.level.as_str(), reason))
        .collect();
    page::render(T::NAME, bounds, worth, &duties, beside)
}

/// Why a run that breaks something without the rule is possible.
fn argued<T: Modelled>(
    model: &Specification<T>,
    single: &Single<T::Guard>,
    property: &PropertyVerdict,
) -> Argued {
    let within = model.showing(single.row.with);
    let without = within.with(Rules::all().without(single.row.guard), model.reading);
    Argued::of(&without, &property.steps)
}

fn in_words<T: Modelled>(args: &Args, model: &Specification<T>, worth: &Worth<T::Guard>) -> String {
    let mut said = String::new();
    if args.guarantee.is_none() {
        // What is no terminal has as many columns as a page.
        let columns = Terminal::of_stdout().columns.unwrap_or(80);
        said += &text::matrix(worth, columns);
        said.push('\n');
    }
    if args.rule.is_some() {
        for single in &worth.singles {
            if single.broken.properties.is_empty() {
                let Broken { steps, states, .. } = single.broken;
                let within = format!("{steps} steps, {} states", grouped(states as u64));
                let name = single.row.name;
                let _ = writeln!(said, "without {name}: breaks nothing within {within}");
            }
            for property in &single.broken.properties {
                let _ = writeln!(
                    said,
                    "without {}: {}{}",
                    single.row.name,
                    property_text(property),
                    argued(model, single, property).text::<T>()
                );
            }
        }
    } else {
        said += &hanging("", GUARANTEES);
        said.push('\n');
        said += &text::carriers(worth);
    }
    if args.guarantee.is_none() && args.rule.is_none() {
        said += &without_rule_text::<T>();
    }
    said
}

fn document<T: Modelled>(model: &Specification<T>, bounds: &str, worth: &Worth<T::Guard>) -> Value {
    let guarantees = worth.guarantees.iter().map(|guarantee| {
        let carriers = worth.carriers(guarantee).into_iter();
        let alone = carriers.map(|(row, steps)| json!({ "guard": row.name, "length": steps }));
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
        "protocol": T::NAME,
        "bounds": bounds,
        "guarantees": guarantees,
        "rules": worth.singles.iter().map(|it| single_json(model, it)).collect::<Vec<_>>(),
        "without_rule": without_rule::<T>().map(without_rule_json).collect::<Vec<_>>(),
    });
    with_setting(document, setting(model))
}

fn single_json<T: Modelled>(model: &Specification<T>, single: &Single<T::Guard>) -> Value {
    let breaks = |property: &PropertyVerdict| {
        let mut broken = json!({
            "property": property.name,
            "clauses": property.clauses,
            "guarantee": is_guarantee(property),
            "length": property.steps.len(),
            "steps": steps_json(&property.steps),
        });
        if let Value::Object(members) = &mut broken {
            members.extend(argued(model, single, property).json());
        }
        broken
    };
    json!({
        "guard": single.row.name,
        "clauses": single.row.clauses,
        "free": single.row.free,
        "breaks": single.broken.properties.iter().map(breaks).collect::<Vec<_>>(),
        "within": within((single.broken.steps, single.broken.states)),
    })
}

fn within((steps, states): (usize, usize)) -> Value {
    json!({ "steps": steps, "states": states })
}
