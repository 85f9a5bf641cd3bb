//! What the comparison of outputs and states comes down to in every protocol.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Disagreement, Unexplained};

/// What the two sides of each pair say, for the pairs whose sides differ.
pub(super) fn differing(mut pairs: Vec<(String, String)>) -> (String, String) {
    pairs.retain(|(wanted, found)| wanted != found);
    let (wanted, found): (Vec<String>, Vec<String>) = pairs.into_iter().unzip();
    (wanted.join("; "), found.join("; "))
}

/// Outputs of the model in words.
pub(super) fn in_words<O: Copy>(outputs: &[O], text: impl Fn(O) -> String) -> String {
    if outputs.is_empty() {
        return "nothing".to_owned();
    }
    let words: Vec<String> = outputs.iter().map(|&output| text(output)).collect();
    words.join(", ")
}

/// The document that an executor is stored as, and the executor that is read back from it.
///
/// # Errors
///
/// Where something is lost by it.
pub(super) fn stored_and_read<E: Serialize + DeserializeOwned + PartialEq + Debug>(
    executor: &E,
    clause: &'static str,
) -> Result<(String, E), Disagreement> {
    let stored = serde_json::to_string(executor).map_err(|error| not_stored(clause, &error))?;
    let read: E = serde_json::from_str(&stored).map_err(|error| not_stored(clause, &error))?;
    if read == *executor {
        return Ok((stored, read));
    }
    Err(Disagreement::in_state(
        clause,
        format!("{executor:?}"),
        format!("read back as {read:?}"),
    ))
}

/// An executor that cannot be stored, or not be read back.
pub(super) fn not_stored(clause: &'static str, error: &serde_json::Error) -> Disagreement {
    Disagreement::in_state(
        clause,
        "an executor that can be stored and read back".to_owned(),
        error.to_string(),
    )
}

/// A step that one of the two sides cannot take at all, which no walk over the model's own steps should meet.
pub fn not_a_call(clause: &'static str, action: impl Debug) -> Disagreement {
    Disagreement::in_outputs(
        clause,
        "a step that both sides can take".to_owned(),
        format!("{action:?}"),
    )
}

/// Outputs of the executor of which one has no place in the model's reading.
pub(super) fn on_wire(
    outputs: impl IntoIterator<Item = impl Serialize>,
    unexplained: Unexplained,
) -> Disagreement {
    let texts: Vec<String> = outputs
        .into_iter()
        .map(|output| serde_json::to_string(&output).unwrap_or_default())
        .collect();
    Disagreement::in_outputs(unexplained.clause, unexplained.text, texts.join(", "))
}
