//! Wide runs of the gatekeeper under the judge: any number of tokens, sessions and adapters, every limit to the millisecond,
//! clocks that are set back, restarts anywhere.
//!
//! The one thing to know: the steps are plain data ([`Run`]) that bytes choose, so that proptest and the fuzzer make the same
//! runs, and a run that was broken is kept as JSON. No model is asked what may happen.

mod calls;
mod driven;
mod party;
mod readable;
mod spelling;
mod step;
mod suite;
mod translation;
mod world;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use countersign_model::judge::Finding;
use serde::{Deserialize, Serialize};

pub use driven::{Driver, OpenBeside, open_beside};
use step::Step;
pub use step::{Host, Run};
use world::{CROWD, World};

use crate::shrinking;

/// What the judge found at a step of a run; the run ends with it.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The run.
    pub run: Run,
    /// In the order of the text.
    pub findings: Vec<Finding>,
}

/// A run that was broken once, as it is kept for later runs of the tests.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRun {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// What it showed.
    pub shows: String,
    /// What the host chose.
    pub settings: Host,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// How many calls were made.
    pub calls: usize,
    /// How often a kind of call was answered in a way, or left out.
    pub seen: BTreeMap<&'static str, usize>,
}

/// Plays a run.
///
/// # Errors
///
/// [`Broken`] at the first step at which the judge finds something, shrunk.
pub fn play(run: &Run) -> Result<Played, Box<Broken>> {
    play_once(run).map_err(|broken| Box::new(shrunk(*broken)))
}

fn play_once(run: &Run) -> Result<Played, Box<Broken>> {
    let mut world = World::new(run.host);
    let crowd = if run.host.crowded { CROWD } else { 0 };
    for _ in 0..crowd {
        let findings = world.take(&Step::of_crowd());
        if !findings.is_empty() {
            let run = Run {
                host: run.host,
                steps: Vec::new(),
            };
            return Err(Box::new(Broken { run, findings }));
        }
    }
    for (place, step) in run.steps.iter().enumerate() {
        let findings = world.take(step);
        if !findings.is_empty() {
            let steps = run.steps[..=place].to_vec();
            let run = Run {
                host: run.host,
                steps,
            };
            return Err(Box::new(Broken { run, findings }));
        }
    }
    Ok(world.played)
}

/// The same without the steps that it does not need to break the same clause.
fn shrunk(broken: Broken) -> Broken {
    let clause = broken.findings[0].clause;
    let host = broken.run.host;
    let mut steps = broken.run.steps.clone();
    shrinking::shortest(&mut steps, broken, shrinking::without, |shorter| {
        let steps = shorter.to_vec();
        let again = play_once(&Run { host, steps }).err()?;
        let same = again.findings[0].clause == clause;
        same.then_some((again.run.steps.len(), *again))
    })
}

impl Broken {
    /// Writes the run into a folder, as `found-CLAUSE.json`; says where.
    ///
    /// # Errors
    ///
    /// What the system says if the file cannot be written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        let kept = KeptRun {
            protocol: "mcp-aql".to_owned(),
            shows: self.findings[0].to_string(),
            settings: self.run.host,
            steps: self.run.steps.clone(),
        };
        shrinking::keep(&kept, self.findings[0].clause, folder)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Step { after, what }) in (1..).zip(&self.run.steps) {
            writeln!(formatter, "{number:>4}  {after:?}  {what:?}")?;
        }
        self.findings
            .iter()
            .try_for_each(|finding| writeln!(formatter, "broken: {finding}"))
    }
}
