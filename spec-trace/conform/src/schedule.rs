//! One run that outside choices pick: the harness function behind the random runs, the fuzz target and the kept traces.
//!
//! The one thing to know: choices are plain numbers and any sequence of them is a run, so a fuzzer can mutate them
//! freely. A run that showed something is kept by the names of its steps ([`SavedRun`]), which outlive any change in the
//! order of steps.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Disagreement, Divergence, Shrunk, Sides, replay, shrink, shrinking};

/// Takes one step for each choice: of `n` steps that are possible, number `choice % n`.
///
/// Returns the steps taken; the run ends early where nothing is possible any more.
///
/// # Errors
///
/// The diverging run, shrunk, where model and executor differ.
pub fn run<S: Sides>(
    sides: &S,
    choices: impl IntoIterator<Item = u16>,
) -> Result<Vec<S::Action>, Box<Shrunk<S::Action>>> {
    let (mut state, mut host) = sides.begin();
    let mut taken = Vec::new();
    let mut enabled = Vec::new();
    for choice in choices {
        enabled.clear();
        sides.actions(&state, &mut enabled);
        if enabled.is_empty() {
            break;
        }
        let action = enabled[usize::from(choice) % enabled.len()];
        taken.push(action);
        match sides.step(&state, &mut host, action) {
            Ok(next) => state = next,
            Err(disagreement) => return Err(Box::new(shrunk(sides, taken, disagreement))),
        }
    }
    Ok(taken)
}

/// Shrinks a run that has just diverged. Both sides are deterministic, so that it diverges again when it is replayed;
/// should it not, the run is reported as it is.
pub fn shrunk<S: Sides>(
    sides: &S,
    run: Vec<S::Action>,
    disagreement: Disagreement,
) -> Shrunk<S::Action> {
    shrink(sides, &run).unwrap_or(Shrunk {
        run,
        divergence: Divergence {
            steps: Vec::new(),
            disagreement,
        },
    })
}

/// The choices in a fuzzer's input: two bytes each, the lesser first; an odd byte at the end is not used.
pub fn choices(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
}

/// A run kept in a file, for later test runs to replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedRun {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// The bounds preset within which the run is possible.
    pub bounds: String,
    /// What the run once showed.
    pub shows: String,
    /// The steps, by the names that the model's source gives them.
    pub steps: Vec<String>,
}

/// Why a saved run could not be replayed to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The model no longer has this step at this place.
    #[error("step {number} is not possible there: {step}")]
    NotPossible {
        /// Counted from 1.
        number: usize,
        /// The step, as saved.
        step: String,
    },
    /// Model and executor differ.
    #[error("model and executor differ ({}): expected {}, seen {}", .0.disagreement.clause, .0.disagreement.expected, .0.disagreement.actual)]
    Diverged(Box<Divergence>),
}

impl SavedRun {
    /// A diverging run as it is to be kept.
    pub fn of<A: Debug>(protocol: &str, bounds: &str, shrunk: &Shrunk<A>) -> Self {
        let Disagreement {
            clause,
            expected,
            actual,
            place: _,
            required: _,
        } = &shrunk.divergence.disagreement;
        Self {
            protocol: protocol.to_owned(),
            bounds: bounds.to_owned(),
            shows: format!("{clause}: expected {expected}, seen {actual}"),
            steps: shrunk.run.iter().map(|step| format!("{step:?}")).collect(),
        }
    }

    /// Writes the run into a folder, as `found-CLAUSE.json`; says where.
    ///
    /// # Errors
    ///
    /// What the system says if the file cannot be written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        let clause = self.shows.split(':').next().unwrap_or("run");
        shrinking::keep(self, clause, folder)
    }

    /// Replays the run, looking each step up by its name.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] where a step is not possible, or model and executor differ.
    pub fn replay<S: Sides>(&self, sides: &S) -> Result<(), ReplayError> {
        let (mut state, mut host) = sides.begin();
        let mut run = Vec::new();
        let mut enabled = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            enabled.clear();
            sides.actions(&state, &mut enabled);
            let named = enabled
                .iter()
                .find(|action| format!("{action:?}") == *step)
                .copied();
            let action = named.ok_or_else(|| ReplayError::NotPossible {
                number: index + 1,
                step: step.clone(),
            })?;
            run.push(action);
            match sides.step(&state, &mut host, action) {
                Ok(next) => state = next,
                Err(_) => return replay(sides, &run).map_err(ReplayError::Diverged),
            }
        }
        Ok(())
    }
}
