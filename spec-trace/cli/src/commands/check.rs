//! `countersign check`: each property of a protocol's model, with the shortest counterexample to each broken one.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use countersign_model::aaep::AaepText;
use countersign_model::ablation::telling;
use countersign_model::bounds::Bounds;
use countersign_model::checker::{self, CheckReport, Kind, PropertyVerdict};
use countersign_model::mcp_aql::McpAqlText;
use countersign_model::pending_action::PendingActionText;
use countersign_model::specification::{Specification, Text};
use countersign_model::table::Tabled;
use miette::{IntoDiagnostic, WrapErr};

use crate::answer::{Answer, Format};
use crate::arguments::{Protocol, Variant, specification};
use crate::progress::Progress;
use crate::table::{self, Align, grouped};
use crate::verdicts::{check_json, check_status, property_text, unmet};

const EXAMPLES: &str = "\
Examples:
  countersign check pending-action                      every property within the default bounds
  countersign check aaep --without AAEP-6.3.4-4         the shortest runs that go wrong without it
  countersign check aaep --reading late-reply=by-claim --bounds small
  countersign check mcp-aql --without honours-other-adapter --save found.json
                                                        for countersign show found.json";

/// The arguments of `countersign check`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    protocol: Protocol,
    #[command(flatten)]
    variant: Variant,
    /// Write the report, counterexamples included, to this file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// Bounds, rules or readings that there are not, or a file that cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    match args.protocol {
        Protocol::Aaep => check::<AaepText>(args, format),
        Protocol::McpAql => check::<McpAqlText>(args, format),
        Protocol::PendingAction => check::<PendingActionText>(args, format),
    }
}

fn check<T: Text>(args: &Args, format: Format) -> miette::Result<Answer> {
    let model = args.variant.model::<T>()?;
    let started = Instant::now();
    let progress = Progress::counting(&format!("{}: checking the model", T::NAME), "states");
    let report = checker::check(&model, |states| progress.at(states as u64));
    drop(progress);
    let seconds = started.elapsed().as_secs_f64();

    let document = check_json(T::NAME, model.bounds.name(), &report, seconds);
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
            text.push_str(&properties(&report));
            text.push_str(&counterexamples(
                &model,
                &args.variant.again::<T>("check"),
                &report,
            ));
            Answer { text, status }
        }
    })
}

fn summary<T: Text>(model: &Specification<T>, report: &CheckReport, seconds: f64) -> String {
    let how = if model.quotient {
        "with the quotient"
    } else {
        "literal"
    };
    let mut text = format!("{} bounds, {how}: ", model.bounds.name());
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
fn literally<T: Text>() -> miette::Result<String> {
    let [small, _, _] = T::Bounds::PRESETS;
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

/// The counterexamples that say most in full: those that tell what the rules left out are for, or else the shortest. The
/// others are named; `--format json` and `--save` have every run.
fn counterexamples<T: Text>(model: &Specification<T>, again: &str, report: &CheckReport) -> String {
    let mut broken: Vec<&PropertyVerdict> = unmet(report, Kind::Always).collect();
    broken.sort_by_key(|property| property.steps.len());
    let telling: Vec<&str> = model
        .rules
        .left_out()
        .flat_map(|guard| telling(guard.row(), broken.iter().copied()))
        .map(|property| property.name)
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
        text.push_str(&forbidden_by(model));
        let _ = writeln!(text, "   again:  {again}");
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

/// The rules left out, one a line.
fn forbidden_by<T: Text>(model: &Specification<T>) -> String {
    let mut text = String::new();
    for guard in model.rules.left_out() {
        let row = guard.row();
        let as_in = row.left_out_in.map_or_else(String::new, |sections| {
            format!(", as in the text's own code in {sections}")
        });
        let _ = writeln!(
            text,
            "   forbidden by  {} {}: {} (left out here{as_in})",
            row.clauses[0],
            row.level.name(),
            row.gist
        );
    }
    text
}
