//! Wide runs: an executor under the judge of its protocol, with any number of everything, and at any time.
//!
//! The one thing to know: nothing here knows what is right. A run is steps drawn from bytes; each becomes a call, what comes
//! out is put into the judge's words, and the judge says what it breaks.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use countersign_model::judge::{Finding, Judge};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::shrinking;

/// An executor with what its host keeps, as it takes the steps of a run.
pub trait Wide: Sized {
    /// The protocol, by its name on the command line.
    const PROTOCOL: &'static str;
    /// How many bytes are a step.
    const BYTES: usize;
    /// What the host has chosen.
    type Settings: Copy + fmt::Debug + PartialEq + Eq + Serialize + DeserializeOwned;
    /// A step, as plain data.
    type Step: Copy + fmt::Debug + PartialEq + Eq + Serialize + DeserializeOwned;
    /// The judge of the protocol.
    type Judge: Judge<Call: fmt::Debug, Output: fmt::Debug>;

    /// The choices that a byte is.
    fn settings(byte: u8) -> Self::Settings;

    /// The step that these bytes are, of which there may be too few.
    fn step(bytes: &[u8]) -> Self::Step;

    /// The judge to whom these choices are right.
    fn judge(settings: Self::Settings) -> Self::Judge;

    /// At the start of a run.
    fn begin(settings: Self::Settings) -> Self;

    /// Takes a step; nothing where there is nothing that it could mean, or where it is left out.
    fn take(&mut self, step: Self::Step) -> Option<Shown<Self::Judge>>;
}

/// What the judge is shown of a step.
pub struct Shown<J: Judge> {
    /// The time of the call, in milliseconds since the epoch.
    pub now: i64,
    /// The call.
    pub call: J::Call,
    /// What was put out for it, in order.
    pub outputs: Vec<J::Output>,
}

/// What the host's clock does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Clock {
    /// Nothing.
    Stays,
    /// It goes on by so many milliseconds.
    Ahead(i64),
    /// It is set back by so many milliseconds.
    Back(i64),
    /// It goes to the deadline at that place among those to come, or so many milliseconds beside it.
    Deadline(u8, i64),
}

impl Clock {
    /// It goes on by so many milliseconds, or is set back where they are fewer than none.
    pub(crate) const fn by(millis: i64) -> Self {
        match millis {
            0 => Self::Stays,
            ahead @ 1.. => Self::Ahead(ahead),
            back => Self::Back(-back),
        }
    }

    /// What the clock does where it does one and then the other. None, where there is no one word for it, or nothing to carry on.
    pub(crate) fn then(self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Ahead(_) | Self::Back(_) | Self::Deadline(..), Self::Stays) => Some(self),
            (Self::Ahead(one), Self::Ahead(two)) => Some(Self::Ahead(one.saturating_add(two))),
            (Self::Back(one), Self::Back(two)) => Some(Self::Back(one.saturating_add(two))),
            (Self::Stays, _)
            | (_, Self::Deadline(..))
            | (Self::Ahead(_) | Self::Deadline(..), Self::Back(_))
            | (Self::Back(_) | Self::Deadline(..), Self::Ahead(_)) => None,
        }
    }
}

/// A run, as a file keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Run<W: Wide> {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// What the run once showed.
    pub shows: String,
    /// What the host has chosen.
    pub settings: W::Settings,
    /// The steps.
    pub steps: Vec<W::Step>,
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

impl<W: Wide> Run<W> {
    /// The run that a seed gives, of so many steps.
    pub fn seeded(seed: u64, steps: usize) -> Self {
        let bytes: Vec<u8> = random(seed).take(1 + steps * W::BYTES).collect();
        Self::of(&bytes)
    }

    /// The run that a fuzzer's bytes are: one for what the host has chosen, then the steps.
    pub fn of(bytes: &[u8]) -> Self {
        let (settings, steps) = bytes.split_first().unwrap_or((&0, &[]));
        Self {
            protocol: W::PROTOCOL.to_owned(),
            shows: String::new(),
            settings: W::settings(*settings),
            steps: steps.chunks(W::BYTES).map(W::step).collect(),
        }
    }

    /// Takes the steps; gives the number of calls that were made.
    ///
    /// # Errors
    ///
    /// [`Broken`], where the judge finds something.
    pub fn play(&self) -> Result<usize, Box<Broken>> {
        let mut judge = W::judge(self.settings);
        let mut host = W::begin(self.settings);
        let mut calls = 0;
        for (at, step) in self.steps.iter().enumerate() {
            let Some(shown) = host.take(*step) else {
                continue;
            };
            calls += 1;
            let findings = judge.see(shown.now, &shown.call, &shown.outputs);
            if !findings.is_empty() {
                let shown = self.calls().take(calls).map(|it| it.to_string()).collect();
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
    pub fn calls(&self) -> impl Iterator<Item = Shown<W::Judge>> {
        let mut host = W::begin(self.settings);
        self.steps.iter().filter_map(move |step| host.take(*step))
    }

    /// The same run without any step that it does not need to break the same clause; nothing where it breaks none.
    pub fn shrunk(&self) -> Option<(Self, Box<Broken>)> {
        let broken = self.play().err()?;
        let clause = broken.findings.first()?.clause;
        let mut steps = self.steps[..=broken.at].to_vec();
        let broken = shrinking::shortest(&mut steps, broken, shrinking::without, |shorter| {
            let again = self.with(shorter.to_vec()).play().err()?;
            let same = again.findings.iter().any(|it| it.clause == clause);
            same.then_some((again.at + 1, again))
        });
        let mut run = self.with(steps);
        run.shows = broken.to_string();
        Some((run, broken))
    }

    /// The same run with other steps.
    fn with(&self, steps: Vec<W::Step>) -> Self {
        Self {
            protocol: self.protocol.clone(),
            shows: self.shows.clone(),
            settings: self.settings,
            steps,
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
}

/// The bytes that a seed gives.
pub(crate) fn random(seed: u64) -> impl Iterator<Item = u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_be_bytes()[0]
    })
}

impl<J: Judge<Call: fmt::Debug, Output: fmt::Debug>> fmt::Display for Shown<J> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, call, outputs } = self;
        write!(formatter, "{now} {call:?}\n    {outputs:?}")
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.findings.iter().map(ToString::to_string);
        formatter.write_str(&findings.collect::<Vec<_>>().join("; "))
    }
}
