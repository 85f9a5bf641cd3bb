//! `countersign check`: each property of a protocol's model, with the shortest counterexample to each broken one.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use countersign_model::checker::{CheckReport, Kind, PropertyVerdict};
use countersign_model::departures::Departure;
use countersign_model::facade::{Model, telling};
use miette::{IntoDiagnostic, WrapErr};
use serde_json::Value;

use super::clauses::hanging;
use super::{ablate, can, compare, readings, worth};
use crate::answer::{Answer, Format, Status, with_result};
use crate::argued::{
    by_file, changed_numbers, explained_json, explained_text, setting, with_setting,
};
use crate::arguments::{Extent, Protocol, Setting, VARIANT, Variant, within};
use crate::progress::Progress;
use crate::table::{self, Align, grouped};
use crate::verdicts::{check_json, check_status, cited_name, place, property_text, unmet};

const EXAMPLES: &str = "\
Examples:
  countersign check aaep --without AAEP-6.3.4-4      What breaks without it?
  countersign check aaep --reading late-reply=by-claim
  countersign check aaep --spec draft.toml           the text with your changes
  countersign check aaep --each-rule                 Is any rule idle?
  countersign check aaep --each-rule --guarantee AAEP-6.9-2
  countersign check aaep --each-reading=late-reply   What does each way cost?
  countersign check aaep --vs without:AAEP-6.3.4-1   What does a change allow?
  countersign check aaep --can tool.invoked,tool.invoked           Two in a run?
  countersign check aaep --without AAEP-6.3.4-4 --save found.json

--without takes a clause, a section, or the name of a rule. An unknown rule,
reading or preset lists those that exist. The text as it stands is searched
within `default` bounds, every other variant within `small` bounds.

A guarantee is what the text must prevent in every reading. `conformance` is
what the text, read as given, requires of every run.

A property `holds` if every state within the bounds was searched. The search of
a changed text for its shortest break ends with the first that tells, or
at 300,000 states, unless --full is given; whether every run of another reading
holds is searched first, in up to ten times as many. A property that was not
broken is then `not broken within N steps`.

Exit status: 0 all properties hold and every situation was reached; 1 a property
is broken; 3 the search was cut, or a situation was not reached. With --can: 0
there is such a run, 1 there is none within the bounds, 3 none was found.";

/// The arguments of `countersign check`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    protocol: Protocol,
    /// Leave out each rule in turn: what breaks, by the shortest run
    #[arg(long, conflicts_with_all = ["without", "literal", "full", "save"])]
    each_rule: bool,
    /// With --each-rule, list the rules that this guarantee depends on
    #[arg(long, value_name = "CLAUSE", requires = "each_rule")]
    guarantee: Option<String>,
    /// Check each reading of each ambiguous clause, or of this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    #[arg(conflicts_with_all = ["each_rule", "without", "readings", "spec", "literal", "full", "save"])]
    each_reading: Option<String>,
    /// Compare with another variant: without:RULE,reading:NAME=WAY,spec:FILE
    #[arg(long, value_name = "VARIANT")]
    #[arg(conflicts_with_all = ["each_rule", "each_reading", "literal", "full", "save"])]
    vs: Option<Setting>,
    /// Find the shortest run with these outputs in this order, by words of their texts
    #[arg(long, value_name = "OUTPUT,…")]
    #[arg(conflicts_with_all = ["each_rule", "each_reading", "vs", "full", "save"])]
    can: Option<String>,
    /// Search every state of a changed text too, however many
    #[arg(long)]
    full: bool,
    /// Write the report with every run to this file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten, next_help_heading = VARIANT)]
    variant: Variant,
}

/// Runs the command.
///
/// # Errors
///
/// Bounds, rules or readings that there are not, or a file that cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let protocol = args.protocol;
    let (reread, within) = (args.variant.reread().clone(), args.variant.within().clone());
    let extent = args.extent;
    if let Some(guarantee) = &args.guarantee {
        let args = worth::Args {
            protocol,
            rule: None,
            guarantee: Some(guarantee.clone()),
            steps: None,
            extent,
            reread,
            within,
        };
        return worth::run(&args, format.into());
    }
    if args.each_rule {
        let args = ablate::Args {
            protocol,
            extent,
            reread,
            within,
        };
        return ablate::run(&args, format);
    }
    if let Some(name) = &args.each_reading {
        let name = Some(name.clone()).filter(|it| !it.is_empty());
        let args = readings::Args {
            protocol,
            name,
            extent,
            within,
        };
        return readings::run(&args, format);
    }
    if let Some(mut b) = args.vs.clone() {
        let a = args.variant.setting();
        b.bounds = b.bounds.or_else(|| a.bounds.clone());
        return compare::run(
            &compare::Args {
                protocol,
                extent,
                a,
                b,
            },
            format,
        );
    }
    if let Some(outputs) = &args.can {
        return can::run(protocol, outputs, &args.variant, format);
    }
    check(args, format)
}

fn check(args: &Args, format: Format) -> miette::Result<Answer> {
    let text = args.protocol.text();
    let model = args.variant.model(text)?;
    let model = &*model;
    let started = Instant::now();
    let progress = Progress::counting(&format!("{}: checking the model", text.name), "states");
    let report = model.check(args.full, &mut |states| progress.at(states as u64));
    drop(progress);
    let seconds = started.elapsed().as_secs_f64();

    let mut document = check_json(text.name, &model.bounds(), &report, seconds);
    explain(&mut document["properties"], model, &report);
    let status = check_status(&report);
    let document = with_result(with_setting(document, setting(model)), status);
    if let Some(file) = &args.save {
        fs::write(file, format!("{document:#}\n"))
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", file.display()))?;
    }
    Ok(match format {
        Format::Json => Answer::json(&document, status),
        Format::Text => {
            let all = args.extent.all;
            let mut again = args.variant.again(text, "check");
            if args.full {
                again.push_str(" --full");
            }
            let mut said = counterexamples(model, &again, &report, all);
            said.push('\n');
            said += &properties(&report, &changed_numbers(model), all);
            if all {
                said.push('\n');
                said += &summary(model, &report, seconds);
            }
            if all && model.has_quotient() {
                said += &literally(model)?;
            }
            let within = format!(
                "{}, {} bounds, {} states, {seconds:.1} s",
                args.variant.named(text),
                model.bounds(),
                grouped(report.unique_states as u64)
            );
            let counts = format!("{} ({within})", in_short(&report));
            Answer::verdict(status, &counts, &said, all)
        }
    })
}

/// Adds to what is broken why it could be, and what is required instead.
fn explain(properties: &mut Value, model: &dyn Model, report: &CheckReport) {
    let properties = properties.as_array_mut().into_iter().flatten();
    for (document, property) in properties.zip(&report.properties) {
        if let (Value::Object(members), false) = (document, property.steps.is_empty()) {
            members.extend(explained_json(&model.explain(&property.steps)));
        }
    }
}

/// How far the search went.
fn summary(model: &dyn Model, report: &CheckReport, seconds: f64) -> String {
    let how = if model.has_quotient() {
        "with the quotient"
    } else {
        "literally"
    };
    let depth = report.depth;
    let extent = match (report.exhaustive, model.departs()) {
        (true, false) => format!("depth {depth}"),
        (true, true) => format!("none further than {depth} steps"),
        (false, _) => format!("cut there: all runs of up to {depth} steps (--full goes on)"),
    };
    format!(
        "searched {how}: {} states, {} transitions, {} a second, {extent}\n\
         states are compared by 64-bit fingerprints: of 10 million, one is missed with a chance of 2 in a million\n",
        grouped(report.unique_states as u64),
        grouped(report.transitions as u64),
        table::per_second(report.transitions as u64, seconds),
    )
}

/// What the quotient saves, at bounds where the literal model can be searched, too.
fn literally(model: &dyn Model) -> miette::Result<String> {
    let text = model.text();
    let [_, small] = text.usual_bounds;
    let small = within(text, small)?;
    let progress = Progress::counting(&format!("{}: the literal model", text.name), "states");
    let searched = |model: &dyn Model| model.check(false, &mut |states| progress.at(states as u64));
    let (literal, quotiented) = (searched(&*small.literal()), searched(&*small));
    let counts = |report: &CheckReport| {
        let states = grouped(report.unique_states as u64);
        let transitions = grouped(report.transitions as u64);
        format!("{states} states and {transitions} transitions")
    };
    Ok(format!(
        "small bounds, for comparison: literally {}, with the quotient {}\n",
        counts(&literal),
        counts(&quotiented)
    ))
}

/// Every property with its verdict, and with what is changed of the numbers in its name: what is wrong first. Unless all are asked for,
/// those of which there is nothing to say are counted.
fn properties(report: &CheckReport, numbers: &[Departure], all: bool) -> String {
    let mut properties: Vec<_> = report.properties.iter().collect();
    properties.sort_by_cached_key(|it| (it.holds, it.kind == Kind::Sometimes, place(&it.clauses)));
    // What is broken has its run above, and is what counts.
    let is_violated = check_status(report) == Status::Violated;
    let is_said = |it: &PropertyVerdict| it.kind == Kind::Sometimes && !it.holds && !is_violated;
    let rows: Vec<Vec<String>> = properties
        .iter()
        .filter(|it| all || is_said(it))
        .map(|property| {
            let by_file = by_file(numbers, &property.clauses);
            vec![
                verdict(property, report),
                format!("{}{by_file}", cited_name(property)),
            ]
        })
        .collect();
    let mut text = table::render(&[Align::Left, Align::Left], &rows);
    if !all {
        let count = |kind, holds| {
            let those = properties.iter();
            those
                .filter(|it| it.kind == kind && it.holds == holds)
                .count()
        };
        let hold = if report.exhaustive {
            "holds".to_owned()
        } else {
            so_far("not broken", report)
        };
        let counted = format!(
            "{hold}: {} properties; reached: {} situations, not reached: {} (--all lists them)",
            count(Kind::Always, true),
            count(Kind::Sometimes, true),
            count(Kind::Sometimes, false)
        );
        text += &hanging("", &counted);
    }
    text
}

/// How far a search that was cut came.
fn so_far(what: &str, report: &CheckReport) -> String {
    let states = grouped(report.unique_states as u64);
    format!("{what} within {} steps, {states} states", report.depth)
}

/// What a search says of a property; one that was cut says how far it came.
fn verdict(property: &PropertyVerdict, report: &CheckReport) -> String {
    match (property.kind, property.holds, report.exhaustive) {
        (Kind::Always, true, true) => "holds".to_owned(),
        (Kind::Always, true, false) => so_far("not broken", report),
        (Kind::Always, false, _) => "BROKEN".to_owned(),
        (Kind::Sometimes, true, _) => "reached".to_owned(),
        (Kind::Sometimes, false, true) => "NOT REACHED".to_owned(),
        (Kind::Sometimes, false, false) => so_far("not reached", report),
    }
}

/// How many of them hold, are broken, or are open.
fn in_short(report: &CheckReport) -> String {
    let count = |kind| {
        let properties = report.properties.iter();
        properties.filter(|it| it.kind == kind).count()
    };
    let unmet = |kind| unmet(report, kind).count();
    let (always, sometimes) = (count(Kind::Always), count(Kind::Sometimes));
    let reached = sometimes - unmet(Kind::Sometimes);
    match check_status(report) {
        Status::Holds => format!("{always} properties hold, {sometimes} situations reached"),
        Status::Violated => format!("{} of {always} properties broken", unmet(Kind::Always)),
        Status::Unusable | Status::Inconclusive => {
            let cut = if report.exhaustive {
                String::new()
            } else {
                format!(", cut at {} steps", report.depth)
            };
            format!(
                "{always} properties not broken, {reached} of {sometimes} situations reached{cut}"
            )
        }
    }
}

/// The counterexamples that say most in full, or all: those that tell what the rules left out are for, or else the shortest. The
/// others are named.
fn counterexamples(model: &dyn Model, again: &str, report: &CheckReport, all: bool) -> String {
    let mut broken: Vec<&PropertyVerdict> = unmet(report, Kind::Always).collect();
    broken.sort_by_cached_key(|it| (it.steps.len(), place(&it.clauses)));
    let telling: Vec<_> = model
        .left_out()
        .into_iter()
        .flat_map(|rule| telling(rule, broken.iter().copied()))
        .map(|property| property.name.clone())
        .collect();
    let (mut told, mut named): (Vec<_>, Vec<_>) = broken
        .into_iter()
        .partition(|property| all || telling.contains(&property.name));
    if told.is_empty() && !named.is_empty() {
        told.push(named.remove(0));
    }
    let mut text = String::new();
    for property in &told {
        text.push('\n');
        text.push_str(&property_text(property));
        let explanation = model.explain(&property.steps);
        text.push_str(&explained_text(model.text(), &explanation));
        let _ = writeln!(text, "   again:  {again}");
    }
    if !named.is_empty() {
        let _ = writeln!(text, "\nalso broken (--all shows the runs):");
    }
    named.sort_by_cached_key(|it| place(&it.clauses));
    for property in named {
        let _ = writeln!(
            text,
            "   {}  ({} steps)",
            cited_name(property),
            property.steps.len()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use countersign_model::checker::STATES;

    use super::*;

    /// The report of a search of 2,345 states and 7 steps that found two properties so.
    fn report(exhaustive: bool, never_broken: bool, seen: bool) -> CheckReport {
        let property = |kind, holds| PropertyVerdict {
            name: "a property".into(),
            clauses: Cow::default(),
            kind,
            finding: None,
            holds,
            steps: Vec::new(),
        };
        CheckReport {
            unique_states: 1_234,
            transitions: 5_678,
            depth: 7,
            exhaustive,
            properties: vec![
                property(Kind::Always, never_broken),
                property(Kind::Sometimes, seen),
            ],
        }
    }

    #[test]
    fn a_property_holds_only_if_the_whole_graph_was_searched() {
        let (not_broken, not_reached) = (
            "not broken within 7 steps, 1,234 states",
            "not reached within 7 steps, 1,234 states",
        );
        for (exhaustive, never_broken, seen, said, status) in [
            (true, true, true, ["holds", "reached"], Status::Holds),
            (
                true,
                true,
                false,
                ["holds", "NOT REACHED"],
                Status::Inconclusive,
            ),
            (true, false, true, ["BROKEN", "reached"], Status::Violated),
            (
                true,
                false,
                false,
                ["BROKEN", "NOT REACHED"],
                Status::Violated,
            ),
            (
                false,
                true,
                true,
                [not_broken, "reached"],
                Status::Inconclusive,
            ),
            (
                false,
                true,
                false,
                [not_broken, not_reached],
                Status::Inconclusive,
            ),
            (false, false, true, ["BROKEN", "reached"], Status::Violated),
            (
                false,
                false,
                false,
                ["BROKEN", not_reached],
                Status::Violated,
            ),
        ] {
            let report = report(exhaustive, never_broken, seen);
            let verdicts: Vec<String> = report
                .properties
                .iter()
                .map(|property| verdict(property, &report))
                .collect();
            assert_eq!(verdicts, said);
            let short = in_short(&report);
            let expected = match status {
                Status::Holds => "1 properties hold, 1 situations reached".to_owned(),
                Status::Violated => "1 of 1 properties broken".to_owned(),
                Status::Unusable | Status::Inconclusive => {
                    let (seen, cut) = (
                        u8::from(seen),
                        if exhaustive { "" } else { ", cut at 7 steps" },
                    );
                    format!("1 properties not broken, {seen} of 1 situations reached{cut}")
                }
            };
            assert_eq!(short, expected);
            assert_eq!(check_status(&report), status, "{said:?}");
            let document = check_json("aaep", "small", &report, 1.0);
            let properties = document["properties"].as_array().expect("a list");
            for property in properties {
                assert_eq!(property["exhaustive"], exhaustive);
            }
        }
    }

    #[test]
    fn the_help_names_the_limit_that_there_is() {
        assert!(EXAMPLES.contains(&format!("at {} states", grouped(STATES as u64))));
    }
}
