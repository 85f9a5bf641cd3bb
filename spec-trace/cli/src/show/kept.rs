//! Kept runs: the names of a model's steps, taken again on the model to say what happens.

use countersign_model::aaep::AaepProtocol;
use countersign_model::bounds::Bounds;
use countersign_model::checker::StepText;
use countersign_model::specification::{Modelled, Specification};

use super::model_run;
use super::run::{Kind, Run};
use super::words::printable;
use countersign_conform::aaep;
use countersign_conform::schedule::SavedRun;

/// Draws a kept run.
///
/// # Errors
///
/// A protocol or bounds that there are not, or a step that the model does not have at its place.
pub fn run(saved: &SavedRun) -> Result<Run, String> {
    let steps = match saved.protocol.as_str() {
        AaepProtocol::NAME => steps::<AaepProtocol>(saved, aaep::FAR)?,
        name @ ("mcp-aql" | "pending-action") => {
            return Err(format!("runs of {name} are not kept as steps of a model"));
        }
        other => return Err(format!("no protocol is called {other:?}")),
    };
    let mut run = model_run::of(
        Kind::Kept,
        &format!("{}, {} bounds", saved.protocol, saved.bounds),
        &steps,
    );
    run.verdict = printable(&saved.shows);
    Ok(run)
}

/// The steps in words. They are named as the literal model has them; bounds that are no preset are the farthest.
fn steps<T: Modelled>(saved: &SavedRun, far: T::Bounds) -> Result<Vec<StepText>, String> {
    let bounds = if far.name() == saved.bounds {
        far
    } else {
        Specification::<T>::preset(&saved.bounds).map_err(|error| error.to_string())?
    };
    let model = Specification::<T>::new(bounds).map_err(|error| error.to_string())?;
    let model = model.literal();
    let mut state = model.start();
    let mut steps = Vec::new();
    for (index, name) in saved.steps.iter().enumerate() {
        let mut enabled = Vec::new();
        model.actions(&state, &mut enabled);
        let named = enabled
            .into_iter()
            .find(|action| format!("{action:?}") == *name);
        let taken = named.and_then(|action| Some((action, model.take(&state, action)?)));
        let (action, next) = taken.ok_or_else(|| {
            format!(
                "step {} is not possible there: {}",
                index + 1,
                printable(name)
            )
        })?;
        steps.push(model.describe(&state, action, &next));
        state = next;
    }
    Ok(steps)
}
