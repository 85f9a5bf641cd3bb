//! `countersign check P --can OUTPUTS`: whether a text allows these outputs, in this order.

use std::time::Instant;

use countersign_conform::steps::{marked, steps_json};
use countersign_model::checker::Limit;
use miette::miette;
use serde_json::{Value, json};

use super::clauses::hanging;
use super::compare::{STATES, steps};
use crate::answer::{Answer, Format, Status, with_result};
use crate::argued::{setting, with_setting};
use crate::arguments::{Protocol, Variant};
use crate::progress::Progress;
use crate::table::grouped;

/// Searches for the shortest run with these outputs, which a list with commas names by words of their texts.
///
/// # Errors
///
/// Bounds, rules or readings that there are not.
pub(super) fn run(
    protocol: Protocol,
    outputs: &str,
    variant: &Variant,
    format: Format,
) -> miette::Result<Answer> {
    let text = protocol.text();
    let model = variant.model(text)?;
    let wanted: Vec<String> = outputs.split(',').map(|it| it.trim().to_owned()).collect();
    if wanted.iter().any(String::is_empty) {
        return Err(miette!(
            "--can names an output without a word\n  hint: words of its text, such as --can \"run action 10\""
        ));
    }
    let started = Instant::now();
    let progress = Progress::counting(&format!("{}: looking for the outputs", text.name), "states");
    let limit = Limit {
        steps: text.longest,
        pairs: STATES,
    };
    let found = model.can(&wanted, limit, &mut |states| progress.at(states as u64));
    drop(progress);
    let run = found.difference.as_ref().map(|it| &it.steps);
    let status = match (run, found.exhaustive) {
        (Some(_), _) => Status::Holds,
        (None, true) => Status::Violated,
        (None, false) => Status::Inconclusive,
    };
    let within = format!(
        "{}, {} bounds, {} states, {:.1} s",
        variant.named(text),
        model.bounds(),
        grouped(found.states as u64),
        started.elapsed().as_secs_f64()
    );
    Ok(match format {
        Format::Json => {
            let document = json!({
                "protocol": text.name,
                "bounds": model.bounds(),
                "outputs": wanted,
                "run": run.map_or(Value::Null, |it| right(steps_json(it))),
                "within": { "steps": found.steps, "states": found.states, "exhaustive": found.exhaustive },
            });
            let document = with_setting(document, setting(&*model));
            Answer::json(&with_result(document, status), status)
        }
        Format::Text => {
            let counts = match run {
                Some(run) => format!("{} put these out, the fewest", steps(run.len())),
                None if found.exhaustive => "no run puts these out".to_owned(),
                None => format!("no run of up to {} puts these out", steps(found.steps)),
            };
            let said = match run {
                Some(run) => marked(run, '·'),
                None => hanging(
                    "  ",
                    "an output is named by words of its text, as a run of `check` shows it",
                ),
            };
            Answer::verdict(status, &format!("{counts} ({within})"), &said, true)
        }
    })
}

/// The steps of a run in which nothing is wrong.
fn right(mut steps: Value) -> Value {
    for step in steps.as_array_mut().into_iter().flatten() {
        step["bad"] = json!(false);
    }
    steps
}
