//! `countersign check`: each property of a protocol's model, with the shortest counterexample to each broken one.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use countersign_model::aaep::AaepProtocol;
use countersign_model::ablation::telling;
use countersign_model::bounds::{self, Bounds};
use countersign_model::checker::{self, CheckReport, Kind, PropertyVerdict, STATES};
use countersign_model::departures::Departure;
use countersign_model::judged::Limit;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::specification::{Modelled, Specification};
use countersign_model::table::Tabled;
use miette::{IntoDiagnostic, WrapErr};
use serde_json::Value;

use super::{ablate, compare, readings, worth};
use crate::answer::{Answer, Format, Status};
use crate::argued::{Argued, by_file, changed_numbers, setting, with_setting};
use crate::arguments::{Protocol, Setting, VARIANT, Variant, specification};
use crate::progress::Progress;
use crate::table::{self, Align, grouped};
use crate::terminal::{HOLDS, IS_BROKEN, IS_OPEN};
use crate::verdicts::{check_json, check_status, cited_name, property_text, unmet};

const EXAMPLES: &str = "\
Examples:
  countersign check aaep --without AAEP-6.3.4-4      What breaks without it?
  countersign check aaep --reading late-reply=by-claim
  countersign check aaep --spec draft.toml           the text with your changes
  countersign check aaep --each-rule                 Is any rule idle?
  countersign check aaep --each-rule --guarantee AAEP-6.9-2
  countersign check aaep --each-reading=late-reply   What does each way cost?
  countersign check aaep --vs without:AAEP-6.3.4-1   What does a change allow?
  countersign check aaep --without AAEP-6.3.4-4 --save found.json

--without takes a clause, a section, or the name of a rule. An unknown rule,
reading or preset lists those that exist. The text as it stands is searched
within `default` bounds, every other variant within `small` bounds.

A guarantee is what the text must prevent in every reading. `conformance` is
what the text, read as given, requires of every run.

A property `holds` if every state within the bounds was searched. The search of
a changed text is breadth first and ends at 10,000,000 states, unless --full is
given. A property that it did not break is then `not broken within N steps`.

Exit status: 0 all properties hold and every situation was reached; 1 a property
is broken; 3 the search was cut, or a situation was not reached.";

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
    /// Read each ambiguous passage, or this one, in each way: what breaks
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[arg(conflicts_with_all = ["each_rule", "without", "readings", "spec", "literal", "full", "save"])]
    each_reading: Option<Option<String>>,
    /// Compare with another variant: without:RULE,reading:NAME=WAY,spec:FILE
    #[arg(long, value_name = "VARIANT")]
    #[arg(conflicts_with_all = ["each_rule", "each_reading", "literal", "full", "save"])]
    vs: Option<Setting>,
    /// Search every state of a changed text too, however many
    #[arg(long)]
    full: bool,
    /// Write the report with every run to this file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
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
    if let Some(guarantee) = &args.guarantee {
        let args = worth::Args {
            protocol,
            rule: None,
            guarantee: Some(guarantee.clone()),
            steps: None,
            reread,
            within,
        };
        return worth::run(&args, format.into());
    }
    if args.each_rule {
        let args = ablate::Args {
            protocol,
            reread,
            within,
        };
        return ablate::run(&args, format);
    }
    if let Some(name) = args.each_reading.clone() {
        let args = readings::Args {
            protocol,
            name,
            within,
        };
        return readings::run(&args, format);
    }
    if let Some(mut b) = args.vs.clone() {
        let a = args.variant.setting();
        b.bounds = b.bounds.or_else(|| a.bounds.clone());
        return compare::run(&compare::Args { protocol, a, b }, format);
    }
    match protocol {
        Protocol::Aaep => check::<AaepProtocol>(args, format),
        Protocol::McpAql => check::<McpAqlProtocol>(args, format),
        Protocol::PendingAction => check::<PendingActionProtocol>(args, format),
    }
}

fn check<T: Modelled>(args: &Args, format: Format) -> miette::Result<Answer> {
    let model = args.variant.model::<T>()?;
    let started = Instant::now();
    let progress = Progress::counting(&format!("{}: checking the model", T::NAME), "states");
    let report = search(&model, args.full, |states| progress.at(states as u64));
    drop(progress);
    let seconds = started.elapsed().as_secs_f64();

    let mut document = check_json(T::NAME, &bounds::written(model.bounds), &report, seconds);
    argue(&mut document["properties"], &model, &report);
    let document = with_setting(document, setting(&model));
    if let Some(file) = &args.save {
        fs::write(file, format!("{document:#}\n"))
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", file.display()))?;
    }
    let status = check_status(&report);
    Ok(match format {
        Format::Json => Answer::json(&document, status),
        Format::Text => {
            let mut text = summary(&model, &report, seconds);
            if model.quotient {
                text.push_str(&literally::<T>()?);
            }
            text.push('\n');
            text.push_str(&properties(&report, &changed_numbers(&model)));
            let mut again = args.variant.again::<T>("check");
            if args.full {
                again.push_str(" --full");
            }
            text.push_str(&counterexamples(&model, &again, &report));
            let _ = writeln!(text, "\n{}", in_short(&args.variant.named::<T>(), &report));
            Answer { text, status }
        }
    })
}

/// Adds to what is broken why it could be, and what is required instead.
fn argue<T: Modelled>(properties: &mut Value, model: &Specification<T>, report: &CheckReport) {
    let properties = properties.as_array_mut().into_iter().flatten();
    for (document, property) in properties.zip(&report.properties) {
        if let (Value::Object(members), false) = (document, property.steps.is_empty()) {
            members.extend(Argued::of(model, &property.steps).json());
        }
    }
}

/// The specification is searched whole; what departs from it is expected to break, and is searched for the shortest runs.
/// Another reading is judged by who reads so, too, and by what holds however the text is read.
fn search<T: Modelled>(
    model: &Specification<T>,
    full: bool,
    progress: impl FnMut(usize),
) -> CheckReport {
    if !model.departs() {
        return checker::check(model, progress);
    }
    let mut limit = Limit::default();
    if !full {
        limit.pairs = STATES;
    }
    checker::check_within(model, limit, progress)
}

/// How far the search went.
fn summary<T: Modelled>(model: &Specification<T>, report: &CheckReport, seconds: f64) -> String {
    let how = if model.quotient {
        "with the quotient"
    } else {
        "literal"
    };
    let depth = report.depth;
    let extent = match (report.exhaustive, model.departs()) {
        (true, false) => format!("depth {depth}"),
        (true, true) => format!("none further than {depth} steps"),
        (false, _) => format!("cut there: all runs of up to {depth} steps (--full goes on)"),
    };
    format!(
        "{} bounds, {how}: {} unique states, {} transitions, {extent}, {seconds:.1} s, {} transitions/s\n\
         with what the judge remembers of each way: {} states, {} transitions\n\
         states are told apart by 64-bit fingerprints: with 10 million of them the chance to miss one is 2 in a million\n",
        bounds::written(model.bounds),
        grouped(report.unique_states as u64),
        grouped(report.transitions as u64),
        table::per_second(report.edges as u64, seconds),
        grouped(report.pairs as u64),
        grouped(report.edges as u64),
    )
}

/// What the quotient saves, at bounds where the literal model can be searched, too.
fn literally<T: Modelled>() -> miette::Result<String> {
    let [small, ..] = T::Bounds::PRESETS;
    let small = specification::<T>(small)?;
    let progress = Progress::counting(&format!("{}: the literal model", T::NAME), "states");
    let literal = checker::check(&small.literal(), |states| progress.at(states as u64));
    let quotiented = checker::check(&small, |states| progress.at(states as u64));
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

/// Every property with its verdict, and with what is changed of the numbers in its name.
fn properties(report: &CheckReport, numbers: &[Departure]) -> String {
    let rows: Vec<Vec<String>> = report
        .properties
        .iter()
        .map(|property| {
            let by_file = by_file(numbers, &property.clauses);
            vec![
                verdict(property, report),
                format!("{}{by_file}", cited_name(property)),
            ]
        })
        .collect();
    table::render(&[Align::Left, Align::Left], &rows)
}

/// What a search says of a property; one that was cut says how far it came.
fn verdict(property: &PropertyVerdict, report: &CheckReport) -> String {
    let within = |what: &str| {
        let states = grouped(report.pairs as u64);
        format!("{what} within {} steps, {states} states", report.depth)
    };
    match (property.kind, property.holds, report.exhaustive) {
        (Kind::Always, true, true) => "holds".to_owned(),
        (Kind::Always, true, false) => within("not broken"),
        (Kind::Always, false, _) => "BROKEN".to_owned(),
        (Kind::Sometimes, true, _) => "seen".to_owned(),
        (Kind::Sometimes, false, true) => "NOT SEEN".to_owned(),
        (Kind::Sometimes, false, false) => within("not seen"),
    }
}

/// The verdict on all of them, in a line.
fn in_short(name: &str, report: &CheckReport) -> String {
    let count = |kind| {
        report
            .properties
            .iter()
            .filter(|it| it.kind == kind)
            .count()
    };
    let unmet = |kind| unmet(report, kind).count();
    let (always, sometimes) = (count(Kind::Always), count(Kind::Sometimes));
    let states = grouped(report.unique_states as u64);
    match check_status(report) {
        Status::Holds => {
            format!("{name}{HOLDS}{always} properties, {sometimes} seen, {states} states")
        }
        Status::Violated => {
            let broken = unmet(Kind::Always);
            format!("{name}{IS_BROKEN}{broken} of {always} properties, {states} states")
        }
        Status::Unusable | Status::Inconclusive => {
            let how_far = if report.exhaustive {
                format!("{states} states")
            } else {
                format!("cut at {} steps, {states} states", report.depth)
            };
            let seen = sometimes - unmet(Kind::Sometimes);
            format!(
                "{name}{IS_OPEN}{always} properties not broken, {seen} of {sometimes} seen, {how_far}"
            )
        }
    }
}

/// The counterexamples that say most in full: those that tell what the rules left out are for, or else the shortest. The
/// others are named; `--format json` and `--save` have every run.
fn counterexamples<T: Modelled>(
    model: &Specification<T>,
    again: &str,
    report: &CheckReport,
) -> String {
    let mut broken: Vec<&PropertyVerdict> = unmet(report, Kind::Always).collect();
    broken.sort_by_key(|property| property.steps.len());
    let telling: Vec<_> = model
        .rules
        .left_out()
        .flat_map(|guard| telling(guard.row(), broken.iter().copied()))
        .map(|property| property.name.clone())
        .collect();
    let (mut told, mut named): (Vec<_>, Vec<_>) = broken
        .into_iter()
        .partition(|property| telling.contains(&property.name));
    if told.is_empty() && !named.is_empty() {
        told.push(named.remove(0));
    }
    let mut text = String::new();
    for property in &told {
        text.push('\n');
        text.push_str(&property_text(property));
        text.push_str(&Argued::of(model, &property.steps).text::<T>());
        let _ = writeln!(text, "   again:  {again}");
    }
    if !named.is_empty() {
        let _ = writeln!(text, "\nalso broken (--format json has the runs):");
    }
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
            pairs: 2_345,
            edges: 6_789,
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
        let (not_broken, not_seen) = (
            "not broken within 7 steps, 2,345 states",
            "not seen within 7 steps, 2,345 states",
        );
        for (exhaustive, never_broken, seen, said, status) in [
            (true, true, true, ["holds", "seen"], Status::Holds),
            (
                true,
                true,
                false,
                ["holds", "NOT SEEN"],
                Status::Inconclusive,
            ),
            (true, false, true, ["BROKEN", "seen"], Status::Violated),
            (true, false, false, ["BROKEN", "NOT SEEN"], Status::Violated),
            (
                false,
                true,
                true,
                [not_broken, "seen"],
                Status::Inconclusive,
            ),
            (
                false,
                true,
                false,
                [not_broken, not_seen],
                Status::Inconclusive,
            ),
            (false, false, true, ["BROKEN", "seen"], Status::Violated),
            (false, false, false, ["BROKEN", not_seen], Status::Violated),
        ] {
            let report = report(exhaustive, never_broken, seen);
            let verdicts: Vec<String> = report
                .properties
                .iter()
                .map(|property| verdict(property, &report))
                .collect();
            assert_eq!(verdicts, said);
            let short = in_short("aaep", &report);
            let expected = match status {
                Status::Holds => "aaep holds: 1 properties, 1 seen, 1,234 states".to_owned(),
                Status::Violated => "aaep is broken: 1 of 1 properties, 1,234 states".to_owned(),
                Status::Unusable | Status::Inconclusive => {
                    let (seen, cut) = (
                        u8::from(seen),
                        if exhaustive { "" } else { "cut at 7 steps, " },
                    );
                    format!(
                        "aaep is open: 1 properties not broken, {seen} of 1 seen, {cut}1,234 states"
                    )
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
