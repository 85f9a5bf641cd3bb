//! `countersign ablate`: each rule left out in turn, what then breaks, and the shortest run that shows it.

use std::fmt::Write as _;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::rules::{GUARDS, Guard};
use countersign_model::ablation::{self, LONGEST};
use countersign_model::rules::Guards;
use serde_json::{Value, json};

use super::arguments::{Protocol, preset};
use super::progress::Progress;
use super::table::{self, Align};
use crate::answer::{Answer, Format, Status};
use crate::report::{numbered, steps_json};

type Ablation = ablation::Ablation<Guard>;

/// The arguments of `countersign ablate`.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    protocol: Protocol,
    /// How far the model goes: small, default or large
    #[arg(long, default_value = "small", value_parser = preset)]
    bounds: Bounds,
}

/// Runs the command.
///
/// # Errors
///
/// Bounds that are out of range.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let name = args.protocol.name();
    let progress = Progress::of(
        GUARDS.len() as u64,
        &format!("{name}: leaving out"),
        "rules",
    );
    let model = Aaep::new(args.bounds).map_err(miette::Report::msg)?;
    let ablations = ablation::ablate(&model, |done| progress.at(done as u64));
    drop(progress);
    let status = Status::of(ablations.iter().all(|ablation| !ablation.breaks.is_empty()));
    Ok(match format {
        Format::Text => Answer {
            text: text(args, &ablations),
            status,
        },
        Format::Json => {
            let document = json!({
                "protocol": name,
                "bounds": args.bounds.name,
                "ablations": ablations.iter().map(ablation_json).collect::<Vec<_>>(),
            });
            Answer::json(&document, status)
        }
    })
}

fn ablation_json(ablation: &Ablation) -> Value {
    let breaks: Vec<Value> = ablation
        .breaks
        .iter()
        .map(|property| json!({ "property": property.name, "steps": steps_json(&property.steps) }))
        .collect();
    json!({
        "guard": ablation.guard.name,
        "clauses": ablation.guard.clauses,
        "breaks": breaks,
        "masked_by": ablation.masked_by.map(|guard| guard.row().name),
    })
}

fn text(args: &Args, ablations: &[Ablation]) -> String {
    let mut text = String::new();
    for ablation in ablations {
        text.push_str(&one(ablation));
        text.push('\n');
    }
    text.push_str(&overview(ablations));
    let idle = ablations
        .iter()
        .filter(|ablation| ablation.breaks.is_empty())
        .count();
    let masked = ablations
        .iter()
        .filter(|ablation| ablation.masked_by.is_some())
        .count();
    let _ = writeln!(
        text,
        "\n{} rules left out at {} bounds, runs of up to {LONGEST} steps: {} break something by themselves, {masked} \
         only together with another, {idle} nothing",
        ablations.len(),
        args.bounds.name,
        ablations.len() - masked - idle,
    );
    text
}

/// One rule, and what leaving it out breaks.
fn one(ablation: &Ablation) -> String {
    let row = ablation.guard;
    let mut text = format!(
        "without {} ({} {}): {}\n",
        row.name,
        row.clauses.join(", "),
        row.level.name(),
        row.gist
    );
    if let Some(other) = ablation.masked_by {
        let _ = writeln!(
            text,
            "  breaks nothing by itself: {} stands behind it. Without both:",
            other.row().name
        );
    }
    if ablation.breaks.is_empty() {
        text.push_str(
            "  breaks nothing: within these bounds no run needs the rule, or no property states what it is for\n",
        );
    }
    for property in &ablation.breaks {
        let _ = writeln!(
            text,
            "  breaks {}  ({} steps)",
            property.name,
            property.steps.len()
        );
        text.push_str(&numbered(&property.steps));
    }
    text
}

/// A line for each rule.
fn overview(ablations: &[Ablation]) -> String {
    let head = ["rule", "clause", "level", "breaks", "shortest", "masked by"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(ablations.iter().map(|ablation| {
        let shortest = ablation
            .breaks
            .iter()
            .map(|property| property.steps.len())
            .min();
        vec![
            ablation.guard.name.to_owned(),
            ablation.guard.clauses[0].to_owned(),
            ablation.guard.level.name().to_owned(),
            ablation.breaks.len().to_string(),
            shortest.map(|steps| steps.to_string()).unwrap_or_default(),
            ablation
                .masked_by
                .map(|guard| guard.row().name.to_owned())
                .unwrap_or_default(),
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
