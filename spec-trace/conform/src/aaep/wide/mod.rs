//! Wide runs: the producer under the judge, with any number of sessions, questions and subscribers, and at any time.
//!
//! The one thing to know: nothing here knows what is right. A run is steps drawn from bytes (`step`), which become calls with
//! real bytes (`host`, `spelling`); what comes out is put into the judge's words (`names`), and the judge says what it breaks.
//!
//! What this executor does otherwise than the judge knows to be right is [`KNOWN_DEVIATIONS`], one by one; what it cannot do is
//! left out where it would be asked: a crash that loses events (`host`), a message over 64 KiB, one that nests deeper than 64
//! levels and one with an escaped lone surrogate (`spelling`).

mod host;
mod names;
mod spelling;
mod step;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use countersign_model::aaep::judge::{AaepJudge, Call, Deviations, Output};
use countersign_model::aaep::readings::Reading;
use countersign_model::judge::{Finding, Judge as _};
use countersign_reference::aaep::Settings;
use serde::{Deserialize, Serialize};

use host::Host;
pub use step::{Asked, BYTES, Claim, Clock, Confirmed, Delivered, Sender, Step, Which};

/// What the executor of today does otherwise; a test shows that it needs each of these.
pub const KNOWN_DEVIATIONS: Deviations = Deviations {
    stays_while_another_waits: true,
    thinks_while_a_tool_runs: true,
    ends_over_open_questions: true,
    errs_over_running_tools: true,
};

/// A run, as a file keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WideRun {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// What the run once showed.
    pub shows: String,
    /// Whether the host has chosen that senders of late duplicates are told so.
    pub courtesy_notices: bool,
    /// The steps.
    pub steps: Vec<Step>,
}

/// Where a run broke something.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The step at which it did, counted from 0.
    pub at: usize,
    /// What the judge found; at least one.
    pub findings: Vec<Finding>,
    /// The calls and outputs up to there, as the judge was shown them, one a line.
    pub shown: Vec<String>,
}

impl WideRun {
    /// The run that a seed gives, of so many steps.
    pub fn seeded(seed: u64, steps: usize) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let random = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()[0]
        });
        let bytes: Vec<u8> = random.take(1 + steps * BYTES).collect();
        Self::of(&bytes)
    }

    /// The run that a fuzzer's bytes are: one for what the host has chosen, then the steps.
    pub fn of(bytes: &[u8]) -> Self {
        let (choice, steps) = bytes.split_first().unwrap_or((&0, &[]));
        Self {
            protocol: "aaep".to_owned(),
            shows: String::new(),
            courtesy_notices: choice % 2 == 1,
            steps: steps.chunks(BYTES).map(Step::of).collect(),
        }
    }

    /// Takes the steps; gives the number of calls that were made.
    ///
    /// # Errors
    ///
    /// [`Broken`], where the judge finds something.
    pub fn play(&self) -> Result<usize, Box<Broken>> {
        self.play_passing_over(KNOWN_DEVIATIONS)
    }

    /// The same, passing over other deviations.
    ///
    /// # Errors
    ///
    /// [`Broken`], where the judge finds something.
    pub fn play_passing_over(&self, deviations: Deviations) -> Result<usize, Box<Broken>> {
        let mut host = self.host();
        let mut judge = AaepJudge::new(Reading::SPECIFICATION).passing_over(deviations);
        let mut calls = 0;
        for (at, step) in self.steps.iter().enumerate() {
            let Some(shown) = host.take(*step) else {
                continue;
            };
            calls += 1;
            let findings = judge.see(shown.now, &shown.call, &shown.outputs);
            if !findings.is_empty() {
                let shown = self.shown(calls);
                return Err(Box::new(Broken {
                    at,
                    findings,
                    shown,
                }));
            }
        }
        Ok(calls)
    }

    /// The calls of the run and what was put out for each, in the judge's words.
    pub fn calls(&self) -> impl Iterator<Item = (i64, Call, Vec<Output>)> {
        let mut host = self.host();
        let shown = self.steps.iter().filter_map(move |step| host.take(*step));
        shown.map(|it| (it.now, it.call, it.outputs))
    }

    /// The same run without any step that it does not need to break the same clause; nothing where it breaks none.
    pub fn shrunk(&self) -> Option<(Self, Box<Broken>)> {
        let mut broken = self.play().err()?;
        let clause = broken.findings.first()?.clause;
        let mut run = self.clone();
        run.steps.truncate(broken.at + 1);
        let mut stretch = run.steps.len();
        while stretch > 0 {
            let mut start = 0;
            while start + stretch <= run.steps.len() {
                let mut shorter = run.clone();
                shorter.steps.drain(start..start + stretch);
                match shorter.play() {
                    Err(again) if again.findings.iter().any(|it| it.clause == clause) => {
                        shorter.steps.truncate(again.at + 1);
                        run = shorter;
                        broken = again;
                    }
                    Ok(_) | Err(_) => start += 1,
                }
            }
            stretch /= 2;
        }
        run.shows = broken.to_string();
        Some((run, broken))
    }

    /// Writes the run into a folder, as `found-CLAUSE.json`; says where.
    ///
    /// # Errors
    ///
    /// What the system says if the file cannot be written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let clause = self.shows.split(':').next().unwrap_or("run");
        let path = folder.join(format!("found-{clause}.json"));
        let mut text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        text.push('\n');
        fs::write(&path, text)?;
        Ok(path)
    }

    fn host(&self) -> Host {
        let courtesy_notices = self.courtesy_notices;
        Host::new(Settings {
            courtesy_notices,
            ..Settings::default()
        })
    }

    /// The calls up to that one, in words.
    fn shown(&self, last: usize) -> Vec<String> {
        let line = |(now, call, outputs)| format!("{now} {call:?}\n    {outputs:?}");
        self.calls().take(last).map(line).collect()
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.findings.iter().map(ToString::to_string);
        formatter.write_str(&findings.collect::<Vec<_>>().join("; "))
    }
}
