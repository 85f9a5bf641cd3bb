//! A protocol's model as stateright's Explorer shows it: actions and states in words, and the way there as a picture.
//!
//! The one thing to know: the Explorer asks a model for words without saying from which state, so the states and actions
//! here carry what is needed to answer: a state knows the start, an action the state before it.

mod run;

use countersign_model::checker::StepText;
use countersign_model::judge;

use crate::show::model_run;
use crate::show::run::{Finding, Kind, Weight};
use crate::show::svg;

pub use run::ExploredText;

/// A run as a picture, with what is wrong at each of its steps.
fn drawn(protocol: &str, steps: &[StepText], found: Vec<Vec<judge::Finding>>) -> String {
    let mut run = model_run::of(Kind::Path, protocol, steps);
    run.verdict = match steps.len() {
        0 => "the start".to_owned(),
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    };
    for (place, findings) in found.into_iter().enumerate() {
        for found in findings {
            let finding = Finding::new(place, Weight::Violation, found.clause, &found.text);
            run.steps[place].findings.push(run.findings.len());
            run.findings.push(finding);
        }
    }
    svg::render(&run)
}
