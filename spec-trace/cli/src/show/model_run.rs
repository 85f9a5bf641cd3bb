//! Steps of a model as a run.
//!
//! A step's changes are words. Those that read `c1: pending → accepted` say what became of something that has a state; all
//! others are notes.

use countersign_model::checker::StepText;

use super::run::{Finding, Kind, Names, Run, StateChange, Step, Track};
use super::words::printable;

/// A run of these steps, with nothing found wrong so far.
pub fn of(kind: Kind, title: &str, steps: &[StepText]) -> Run {
    let mut names = Names::default();
    let mut tracks = Vec::new();
    let steps = steps
        .iter()
        .map(|step| one(step, &mut names, &mut tracks))
        .collect();
    Run {
        kind,
        title: printable(title),
        head: String::new(),
        verdict: String::new(),
        participants: names.0,
        tracks,
        steps,
        findings: Vec::new(),
        remarks: Vec::new(),
    }
}

fn one(step: &StepText, names: &mut Names, tracks: &mut Vec<Track>) -> Step {
    let mut states = Vec::new();
    let mut notes = Vec::new();
    for change in &step.changes {
        let change = printable(change);
        match state_change(&change) {
            Some((name, before, after)) => states.push(StateChange {
                track: position(tracks, name),
                before: before.to_owned(),
                after: after.to_owned(),
            }),
            None => notes.push(change),
        }
    }
    Step {
        line: None,
        at: printable(&step.at),
        from: names.position(&step.actor),
        to: step.to.as_deref().map(|name| names.position(name)),
        text: printable(&step.action),
        notes,
        states,
        findings: Vec::new(),
        record: String::new(),
    }
}

/// Whose state changes, from what, and to what.
fn state_change(change: &str) -> Option<(&str, &str, &str)> {
    let (name, states) = change.split_once(": ")?;
    let (before, after) = states.split_once(" → ")?;
    Some((name, before, after))
}

fn position(tracks: &mut Vec<Track>, name: &str) -> usize {
    tracks
        .iter()
        .position(|track| track.name == name)
        .unwrap_or_else(|| {
            let (name, about) = (name.to_owned(), String::new());
            tracks.push(Track { name, about });
            tracks.len() - 1
        })
}

impl Run {
    /// The same, with something wrong about its last step.
    #[must_use]
    pub fn with(mut self, finding: impl FnOnce(usize) -> Finding) -> Self {
        if let Some(last) = self.steps.len().checked_sub(1) {
            self.steps[last].findings.push(self.findings.len());
            self.findings.push(finding(last));
        }
        self
    }
}
