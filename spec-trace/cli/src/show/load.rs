//! What a file holds, told by its content.

use std::fmt;

use serde_json::Value;

use super::run::Run;
use super::stream::Refused;
use super::stream::Selection;
use super::{document, stream, transcript};
use crate::commands::lint::unless_withheld;
use crate::differing::kept as driven;
use countersign_lint::envelope::{self, Envelope, NoMessage};
use countersign_lint::protocol::Protocol;

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
    if let Some(protocol) = Protocol::of_transcript(bytes).filter(|it| *it != Protocol::Aaep) {
        let run = match selection {
            Selection { redact: true, .. } => Err(CANNOT_REDACT.to_owned()),
            Selection {
                session: Some(_), ..
            } => Err("of a transcript all is drawn, not one session".to_owned()),
            Selection { .. } => transcript::run(bytes, file, protocol),
        };
        return run.map(|run| vec![run]).map_err(|it| not_drawn(None, it));
    }
    let how = selection.how.cloned().unwrap_or_default();
    if let Some(protocol) = envelope::protocol(bytes, &how).filter(|it| *it != Protocol::Aaep) {
        let cause = format!(
            "a recording of {} within an envelope is judged by lint; it is drawn where its messages stand one a line",
            protocol.name()
        );
        return Err(not_drawn(None, cause));
    }
    let envelope = how.from.unwrap_or_else(|| envelope::told(bytes));
    let is_foreign =
        how.pointers.is_some() || ![Envelope::Jsonl, Envelope::Json].contains(&envelope);
    let error = match serde_json::from_slice::<Value>(bytes) {
        Ok(document) if !is_foreign && is_saved(&document) => {
            if selection.redact {
                return Err(not_drawn(None, CANNOT_REDACT.to_owned()));
            }
            return of_document(document).map_err(|cause| not_drawn(None, cause));
        }
        Ok(_) => None,
        Err(error) => Some(error),
    };
    let no_message = if is_foreign || envelope == Envelope::Json || is_stream(bytes) {
        match stream::run(bytes, file, selection) {
            Ok(run) => return Ok(vec![run]),
            Err(Refused::Other(cause)) => return Err(not_drawn(None, cause)),
            Err(Refused::NoMessage(none)) => none,
        }
    } else {
        NoMessage::of(bytes, None)
    };
    let place = error.as_ref().map(|error| (error.line(), error.column()));
    // What is said of what stands in it may quote it.
    let no_message = unless_withheld(no_message.to_string(), selection.redact);
    let cause = format!(
        "neither a run that check, ablate, verify, diff, vectors or a test has saved, nor a recorded stream: {no_message}"
    );
    Err(not_drawn(place, cause))
}

const CANNOT_REDACT: &str = "only a recorded stream of AAEP can be redacted, and this is none";

/// Whether these bytes are a document that a command of ours writes, and no recording.
pub fn is_of_ours(bytes: &[u8]) -> bool {
    Protocol::of_transcript(bytes).is_none()
        && serde_json::from_slice::<Value>(bytes).is_ok_and(|it| is_saved(&it))
}

/// Whether it is one JSON document that some command of ours writes, and not a stream of one record.
fn is_saved(value: &Value) -> bool {
    let is_document = value
        .as_object()
        .is_some_and(|object| !object.contains_key("type") && !object.contains_key("message"));
    is_document && is_ours(value)
}

/// Whether it is of a kind that some command of ours writes.
fn is_ours(document: &Value) -> bool {
    const MEMBERS: [&str; 4] = ["protocol", "protocols", "shows", "steps"];
    MEMBERS.iter().any(|name| document.get(name).is_some())
        || document::runs(document).is_ok_and(|runs| !runs.is_empty())
}

/// Whether some line is a JSON object. The others may be broken: that is for the judge to say.
fn is_stream(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'\n')
        .any(|line| serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object()))
}

fn of_document(document: Value) -> Result<Vec<Run>, String> {
    if document.get("shows").is_some() {
        let is_vector = document.get("version").is_some();
        let drawn = if is_vector {
            driven::vector
        } else {
            driven::run
        };
        return Ok(vec![drawn(document)?]);
    }
    let runs = document::runs(&document)?;
    if runs.is_empty() {
        return Err("it holds no run: no property is broken and nothing diverges in it".to_owned());
    }
    Ok(runs)
}
