//! `countersign check`: each property of a protocol's model, with the shortest counterexample to each broken one.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::readings::Reading;
use countersign_model::aaep::rules::{Guard, Rules};
use countersign_model::checker::{self, CheckReport, Kind, PropertyVerdict};
use countersign_model::rules::Guards;
use miette::{IntoDiagnostic, WrapErr};

use super::arguments::{Protocol, assignment, guards, preset};
use super::progress::Progress;
use super::table::{self, Align, grouped};
use crate::answer::{Answer, Format, Status};
use crate::report::{check_json, property_text, unmet};

/// The arguments of `countersign check`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    protocol: Protocol,
    /// How far the model goes: small, default or large. Without the quotient, as with --without and --reading, small is
    /// the default
    #[arg(long, value_parser = preset)]
    bounds: Option<Bounds>,
    /// Leave out the rules that carry out this clause, or the rule of this name (may be repeated); an unknown
    /// name lists the rules
    #[arg(long, value_name = "CLAUSE")]
    without: Vec<String>,
    /// Take an ambiguous passage in another way (may be repeated); an unknown name lists the readings
    #[arg(long = "reading", value_name = "NAME=VALUE", value_parser = assignment)]
    readings: Vec<String>,
    /// Search the literal model, without the quotient
    #[arg(long)]
    literal: bool,
    /// Write the report, counterexamples included, to this file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// Rules or readings that there are not, bounds out of range, or a file that cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let left_out = left_out(&args.without)?;
    let reading = reading(&args.readings)?;
    let model = model(args, &left_out, reading)?;
    let started = Instant::now();
    let name = args.protocol.name();
    let progress = Progress::counting(&format!("{name}: checking the model"), "states");
    let report = checker::check(&model, |states| progress.at(states as u64));
    drop(progress);
    let seconds = started.elapsed().as_secs_f64();

    let document = check_json(name, model.bounds.name, &report, seconds);
    if let Some(file) = &args.save {
        fs::write(file, format!("{document:#}\n"))
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", file.display()))?;
    }
    let status = status(&report);
    Ok(match format {
        Format::Json => Answer::json(&document, status),
        Format::Text => {
            let mut text = summary(&model, &report, seconds);
            if model.quotient {
                text.push_str(&literally(name)?);
            }
            text.push_str(&properties(&report));
            text.push_str(&counterexamples(args, &left_out, &report));
            Answer { text, status }
        }
    })
}

fn left_out(without: &[String]) -> miette::Result<Vec<Guard>> {
    let mut all = Vec::new();
    for name_or_clause in without {
        all.extend(guards(name_or_clause).map_err(miette::Report::msg)?);
    }
    Ok(all)
}

fn reading(assignments: &[String]) -> miette::Result<Reading> {
    Aaep::reading(assignments.iter().map(String::as_str)).map_err(miette::Report::msg)
}

/// The quotient holds for the specification alone; everything else is searched literally.
fn model(args: &Args, left_out: &[Guard], reading: Reading) -> miette::Result<Aaep> {
    let is_specification = left_out.is_empty() && reading == Reading::SPECIFICATION;
    let usual = if is_specification && !args.literal {
        Bounds::DEFAULT
    } else {
        Bounds::SMALL
    };
    let model = Aaep::new(args.bounds.unwrap_or(usual)).map_err(miette::Report::msg)?;
    let rules = left_out
        .iter()
        .fold(Rules::all(), |rules, &guard| rules.without(guard));
    let model = model.with(rules, reading);
    Ok(if args.literal { model.literal() } else { model })
}

/// A broken invariant is a violation; a witness that was not found was not exercised.
fn status(report: &CheckReport) -> Status {
    if unmet(report, Kind::Always).next().is_some() {
        Status::Violated
    } else if unmet(report, Kind::Sometimes).next().is_some() {
        Status::Inconclusive
    } else {
        Status::Holds
    }
}

fn summary(model: &Aaep, report: &CheckReport, seconds: f64) -> String {
    let how = if model.quotient {
        "with the quotient"
    } else {
        "literal"
    };
    let mut text = format!("{} bounds, {how}: ", model.bounds.name);
    if unmet(report, Kind::Always).next().is_some() {
        let _ = writeln!(
            text,
            "the exhaustive search stopped at the first broken property ({seconds:.1} s in all)\n"
        );
    } else {
        let _ = writeln!(
            text,
            "{} unique states, {} transitions, depth {}, {seconds:.1} s, {} transitions/s\n\
             states are told apart by 64-bit fingerprints: with 10 million of them the chance to miss one is 2 in a \
             million",
            grouped(report.unique_states as u64),
            grouped(report.transitions as u64),
            report.depth,
            table::per_second(report.transitions as u64, seconds),
        );
    }
    text
}

/// What the quotient saves, at bounds where the literal model can be searched, too.
fn literally(protocol: &str) -> miette::Result<String> {
    let small = Aaep::new(Bounds::SMALL).map_err(miette::Report::msg)?;
    let progress = Progress::counting(&format!("{protocol}: the literal model"), "states");
    let literal = checker::check(&small.literal(), |states| progress.at(states as u64));
    let quotiented = checker::check(&small, |states| progress.at(states as u64));
    let counts = |report: &CheckReport| {
        let states = grouped(report.unique_states as u64);
        let transitions = grouped(report.transitions as u64);
        format!("{states} states and {transitions} transitions")
    };
    Ok(format!(
        "small bounds, for comparison: literally {}, with the quotient {}\n\n",
        counts(&literal),
        counts(&quotiented)
    ))
}

/// Every property with its verdict.
fn properties(report: &CheckReport) -> String {
    let rows: Vec<Vec<String>> = report
        .properties
        .iter()
        .map(|property| {
            let verdict = match (property.kind, property.holds) {
                (Kind::Always, true) => "holds",
                (Kind::Always, false) => "BROKEN",
                (Kind::Sometimes, true) => "seen",
                (Kind::Sometimes, false) => "NOT SEEN",
            };
            vec![verdict.to_owned(), property.name.to_owned()]
        })
        .collect();
    table::render(&[Align::Left, Align::Left], &rows)
}

/// The counterexamples that say most in full: those to what the rules left out are about, or else the shortest. The
/// others are named; `--format json` and `--save` have every run.
fn counterexamples(args: &Args, left_out: &[Guard], report: &CheckReport) -> String {
    let mut broken: Vec<&PropertyVerdict> = unmet(report, Kind::Always).collect();
    broken.sort_by_key(|property| property.steps.len());
    let is_about = |property: &&PropertyVerdict| {
        left_out
            .iter()
            .any(|guard| guard.row().clauses[0] == property.clauses[0])
    };
    let (mut told, mut named): (Vec<_>, Vec<_>) = broken.into_iter().partition(is_about);
    if told.is_empty() && !named.is_empty() {
        told.push(named.remove(0));
    }
    let mut text = String::new();
    for property in &told {
        text.push('\n');
        text.push_str(&property_text(property));
        for guard in left_out {
            let row = guard.row();
            let _ = writeln!(
                text,
                "   forbidden by  {} {}: {} (left out here)",
                row.clauses[0],
                row.level.name(),
                row.gist
            );
        }
        let _ = writeln!(text, "   again:  {}", again(args));
    }
    if !named.is_empty() {
        let _ = writeln!(text, "\nalso broken (--format json has the runs):");
    }
    for property in named {
        let _ = writeln!(
            text,
            "   {}  ({} steps)",
            property.name,
            property.steps.len()
        );
    }
    text
}

/// The command that does this once more.
fn again(args: &Args) -> String {
    let mut words = vec![format!("countersign check {}", args.protocol.name())];
    words.extend(
        args.bounds
            .map(|bounds| format!("--bounds {}", bounds.name)),
    );
    words.extend(args.without.iter().map(|name| format!("--without {name}")));
    words.extend(args.readings.iter().map(|text| format!("--reading {text}")));
    if args.literal {
        words.push("--literal".to_owned());
    }
    words.join(" ")
}
