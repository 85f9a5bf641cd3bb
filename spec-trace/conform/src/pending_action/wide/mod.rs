//! Wide runs: the executor under the judge, with any number of sessions, actions and people, and at any time.
//!
//! The one thing to know: nothing here knows what is right. A run is steps drawn from bytes (`step`), which become calls with
//! real bytes (`host`); what comes out is put into the judge's words (`names`), and the judge says what it breaks.
//!
//! What a run leaves out, since the executor does otherwise than the judge knows to be right, stands where it is left out:
//! a call that was never begun and arguments that are no object (`host`, `names`), and a crash that loses what was said.

mod host;
mod names;
mod step;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use countersign_model::judge::{Finding, Judge};
use countersign_model::pending_action::judge::PendingActionJudge;
use countersign_model::pending_action::judge::words::{Call, Output};
use countersign_model::pending_action::readings::{self, Reading};
use countersign_reference::pending_action::{
    DecidersAbsent, Delivery, ExpiryBoundary, ReadEffect, Settings,
};
use serde::{Deserialize, Serialize};

use host::Host;
pub use step::{
    Approved, Asked, BYTES, Clock, Decided, Decider, Proposed, Quoted, Session, Step, Which,
};

/// A run, as a file keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WideRun {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// What the run once showed.
    pub shows: String,
    /// What the host has chosen.
    pub settings: Settings,
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
        let mut random = std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()[0]
        });
        let bytes: Vec<u8> = random.by_ref().take(1 + steps * BYTES).collect();
        Self::of(&bytes)
    }

    /// The run that a fuzzer's bytes are: one for the settings, then the steps.
    pub fn of(bytes: &[u8]) -> Self {
        let (settings, steps) = bytes.split_first().unwrap_or((&0, &[]));
        Self {
            protocol: "pending-action".to_owned(),
            shows: String::new(),
            settings: settings_of(*settings),
            steps: steps.chunks(BYTES).map(Step::of).collect(),
        }
    }

    /// Takes the steps; gives the number of calls that were made.
    ///
    /// # Errors
    ///
    /// [`Broken`], where the judge finds something.
    pub fn play(&self) -> Result<usize, Box<Broken>> {
        let mut host = Host::new(self.settings);
        let mut judge = PendingActionJudge::new(reading_of(self.settings));
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
        let mut host = Host::new(self.settings);
        let shown = self.steps.iter().filter_map(move |step| host.take(*step));
        shown.map(|it| (it.now, it.call, it.outputs))
    }

    /// The calls up to that one, in words.
    fn shown(&self, last: usize) -> Vec<String> {
        let line = |(now, call, outputs)| format!("{now} {call:?}\n    {outputs:?}");
        self.calls().take(last).map(line).collect()
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
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.findings.iter().map(ToString::to_string);
        formatter.write_str(&findings.collect::<Vec<_>>().join("; "))
    }
}

/// The reading under which a host's choices are right.
fn reading_of(settings: Settings) -> Reading {
    Reading {
        read_effect: match settings.read_effect {
            ReadEffect::Pends => readings::ReadEffect::Pends,
            ReadEffect::Runs => readings::ReadEffect::Runs,
        },
        expiry_boundary: match settings.expiry_boundary {
            ExpiryBoundary::At => readings::ExpiryBoundary::At,
            ExpiryBoundary::After => readings::ExpiryBoundary::After,
        },
        deciders_absent: match settings.deciders_absent {
            DecidersAbsent::Anyone => readings::DecidersAbsent::Anyone,
            DecidersAbsent::Nobody => readings::DecidersAbsent::Nobody,
        },
    }
}

/// The default for half of the bytes; else one bit a choice.
fn settings_of(byte: u8) -> Settings {
    if byte < 128 {
        return Settings::default();
    }
    let is_set = |bit: u8| byte & (1 << bit) != 0;
    Settings {
        read_effect: if is_set(0) {
            ReadEffect::Runs
        } else {
            ReadEffect::Pends
        },
        expiry_boundary: if is_set(1) {
            ExpiryBoundary::After
        } else {
            ExpiryBoundary::At
        },
        deciders_absent: if is_set(2) {
            DecidersAbsent::Nobody
        } else {
            DecidersAbsent::Anyone
        },
        delivery: if is_set(3) {
            Delivery::AtLeastOnce
        } else {
            Delivery::AtMostOnce
        },
    }
}
