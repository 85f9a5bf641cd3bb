//! What a file holds, told by its content.

use std::fmt;

use serde_json::Value;

use super::run::Run;
use super::stream::Selection;
use super::{document, kept, stream};
use crate::differing::kept as driven;
use countersign_conform::schedule::SavedRun;

/// Why nothing can be drawn of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct NotDrawn {
    file: String,
    /// Line and column, where they can be told.
    place: Option<(usize, usize)>,
    cause: String,
}

impl fmt::Display for NotDrawn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(formatter, ":{line}:{column}")?;
        }
        write!(formatter, ": {}", self.cause)
    }
}

/// Every run that the bytes of a file hold, at least one. Of a stream there is one, of what is selected of it.
///
/// # Errors
///
/// The bytes are no stream, and no document that a command of ours writes, or there is no run in them. Of a document,
/// nothing can be kept back: what of it is a name, nobody can tell.
pub fn runs(bytes: &[u8], file: &str, selection: Selection<'_>) -> Result<Vec<Run>, NotDrawn> {
    let not_drawn = |place, cause| NotDrawn {
        file: file.to_owned(),
        place,
        cause,
    };
    let cause = match serde_json::from_slice::<Value>(bytes) {
        Ok(document) if is_document(&document) => {
            if selection.redact {
                let cause = "only a recorded stream can be redacted, and this is none";
                return Err(not_drawn(None, cause.to_owned()));
            }
            return of_document(document).map_err(|cause| not_drawn(None, cause));
        }
        Ok(_) => None,
        Err(error) => Some(error),
    };
    if is_stream(bytes) {
        let run = stream::run(bytes, file, selection).map_err(|cause| not_drawn(None, cause))?;
        return Ok(vec![run]);
    }
    let place = cause.as_ref().map(|error| (error.line(), error.column()));
    let cause = cause.map_or_else(
        || "it holds no object".to_owned(),
        |error| {
            let message = error.to_string();
            message
                .split(" at line ")
                .next()
                .unwrap_or(&message)
                .to_owned()
        },
    );
    Err(not_drawn(
        place,
        format!(
            "neither a recorded stream (a JSON object a line) nor a run that check, ablate, verify, diff, vectors or a test has saved: {cause}"
        ),
    ))
}

/// Whether it is one JSON document, and not a stream of one record.
fn is_document(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|object| !object.contains_key("type") && !object.contains_key("message"))
}

/// Whether some line is a JSON object. The others may be broken: that is for the judge to say.
fn is_stream(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'\n')
        .any(|line| serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object()))
}

fn of_document(document: Value) -> Result<Vec<Run>, String> {
    if document.get("shows").is_some() && document.get("bounds").is_none() {
        let is_vector = document.get("version").is_some();
        let drawn = if is_vector {
            driven::vector
        } else {
            driven::run
        };
        return Ok(vec![drawn(document)?]);
    }
    if document.get("shows").is_some() {
        let saved: SavedRun =
            serde_json::from_value(document).map_err(|error| error.to_string())?;
        return Ok(vec![kept::run(&saved)?]);
    }
    let runs = document::runs(&document)?;
    if runs.is_empty() {
        return Err("it holds no run: no property is broken and nothing diverges in it".to_owned());
    }
    Ok(runs)
}
