//! A transcript of the driver protocol, or the log of a gatekeeper, as a run: one step a request with what came of it, and
//! the verdict of the linter.

use std::collections::BTreeMap;

use countersign_lint::Numbered;
use countersign_lint::envelope::{How, Opened};
use countersign_lint::protocol::Protocol;
use countersign_lint::selection::Selection;
use countersign_lint::transcript::{judge_transcript, without_arrow};
use serde_json::{Map, Value};

use super::run::{Kind, Run, Step};
use super::words::printable;
use crate::differing::{in_words, output_in_words};

/// The most lines that are drawn.
const MOST_LINES: usize = 100_000;

/// Draws a transcript of this protocol.
///
/// # Errors
///
/// It does not begin like one, or has more lines than anyone can look at.
pub fn run(bytes: &[u8], file: &str, protocol: Protocol) -> Result<Run, String> {
    let opened = Opened::new(bytes, &How::default());
    let report = judge_transcript(opened, protocol, file, false, &Selection::default())
        .map_err(|error| error.to_string())?;
    let mut drawing = Drawing::default();
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line > MOST_LINES as u64 {
            return Err(format!("more than {MOST_LINES} lines are too many to draw"));
        }
        if let Ok(Value::Object(fields)) = serde_json::from_slice(without_arrow(text)) {
            drawing.take(line, fields, text);
        }
    }
    let mut run = Run {
        kind: Kind::Stream,
        title: printable(file),
        head: String::new(),
        verdict: String::new(),
        participants: vec!["driver".to_owned(), "implementation".to_owned()],
        tracks: Vec::new(),
        steps: drawing.steps,
        findings: Vec::new(),
        remarks: Vec::new(),
    };
    let damage = report.damage.clone();
    let judged = Numbered {
        report,
        places: None,
    };
    run.judge(judged, &drawing.step_of);
    run.remarks.extend(damage.map(|damage| {
        printable(&format!(
            "not read on from line {}: {}",
            damage.line, damage.message
        ))
    }));
    Ok(run)
}

#[derive(Default)]
struct Drawing {
    steps: Vec<Step>,
    /// The step of each line.
    step_of: BTreeMap<u64, usize>,
    /// The steps of requests without a response, by id.
    waiting: BTreeMap<String, usize>,
}

impl Drawing {
    fn take(&mut self, line: u64, mut fields: Map<String, Value>, text: &[u8]) {
        let record = String::from_utf8_lossy(text);
        let id = fields.shift_remove("id").map(|id| id.to_string());
        let mut taken = |name| match fields.shift_remove(name) {
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
            None => None,
        };
        let step = if let Some(op) = taken("op") {
            let at = taken("now").unwrap_or_default();
            self.waiting
                .extend(id.clone().map(|id| (id, self.steps.len())));
            Some((0, Some(1), at, op))
        } else if let Some(event) = taken("event") {
            let at = taken("timestamp").unwrap_or_default();
            Some((1, None, at, event))
        } else {
            None
        };
        if let Some((from, to, at, what)) = step {
            let text = format!("{what} {}", in_words(&Value::Object(fields)));
            self.step_of.insert(line, self.steps.len());
            self.steps.push(Step {
                line: Some(line),
                at: time_of_day(&at),
                from,
                to,
                text: printable(text.trim_end()),
                notes: Vec::new(),
                states: Vec::new(),
                findings: Vec::new(),
                record: printable(&record),
            });
            return;
        }
        let Some(step) = id.and_then(|id| self.waiting.remove(&id)) else {
            return;
        };
        self.step_of.insert(line, step);
        let outputs = match fields.get("outputs") {
            Some(Value::Array(outputs)) => outputs.iter().map(output_in_words).collect(),
            Some(_) | None => vec![in_words(&Value::Object(fields))],
        };
        let notes = outputs.iter().map(|it| printable(it));
        self.steps[step].notes.extend(notes);
        self.steps[step].record.push('\n');
        self.steps[step].record.push_str(&printable(&record));
    }
}

/// The time of day of a moment, at most to the millisecond; nothing of what is none.
fn time_of_day(moment: &str) -> String {
    let time = moment.get(11..).unwrap_or_default().chars();
    let time = time.take_while(|it| it.is_ascii_digit() || matches!(it, ':' | '.'));
    time.take(12).collect()
}
