//! The steps of a run that ends badly: in words, and as programs read them.

use std::fmt::Write as _;

use countersign_model::checker::StepText;
use serde_json::{Value, json};

/// How far the changes of a step stand to the right of it, where there is room.
const CHANGES_COLUMN: usize = 50;

/// How far they stand to the right on lines of their own.
const CHANGES_INDENT: usize = 13;

/// The widest line.
const WIDTH: usize = 80;

/// The steps of a run that ends badly, numbered, with what each changes; the last one is marked.
pub fn numbered(steps: &[StepText]) -> String {
    marked(steps, '✗')
}

/// The same of a run in which nothing is wrong: with another mark.
pub fn marked(steps: &[StepText], last: char) -> String {
    let mut text = String::new();
    for (index, step) in steps.iter().enumerate() {
        let mark = if index + 1 == steps.len() { last } else { ' ' };
        let what = format!(" {mark} {:>2}  {}  {}", index + 1, step.at, sentence(step));
        let width = what.chars().count();
        let changes = step.changes.join(", ");
        if width < CHANGES_COLUMN && CHANGES_COLUMN + changes.chars().count() <= WIDTH {
            let line = format!("{what}{}{changes}", " ".repeat(CHANGES_COLUMN - width));
            let _ = writeln!(text, "{}", line.trim_end());
        } else {
            let _ = writeln!(text, "{what}");
            text.push_str(&folded(&step.changes));
        }
    }
    text
}

/// Changes on lines of their own, as many on each as there is room for.
fn folded(changes: &[String]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for change in changes {
        let is_full = line.chars().count() + change.chars().count() + 2 > WIDTH - CHANGES_INDENT;
        if is_full && !line.is_empty() {
            let _ = writeln!(text, "{}{line},", " ".repeat(CHANGES_INDENT));
            line.clear();
        }
        if !line.is_empty() {
            line.push_str(", ");
        }
        line.push_str(change);
    }
    if !line.is_empty() {
        let _ = writeln!(text, "{}{line}", " ".repeat(CHANGES_INDENT));
    }
    text
}

/// Who did what.
fn sentence(step: &StepText) -> String {
    format!("{} {}", step.actor, step.action)
}

/// The steps of a run that ends badly: `n` counts from 1, `bad` marks the last.
pub fn steps_json(steps: &[StepText]) -> Value {
    let step_json = |(index, step): (usize, &StepText)| {
        json!({
            "n": index + 1,
            "at": step.at,
            "actor": step.actor,
            "action": step.action,
            "changes": step.changes,
            "bad": index + 1 == steps.len(),
            "text": format!("{}  {}", step.at, sentence(step)),
            "to": step.to,
        })
    };
    steps.iter().enumerate().map(step_json).collect()
}
