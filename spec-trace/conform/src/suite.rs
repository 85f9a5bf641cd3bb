//! The suite: short runs for any implementation, derived from the text of its protocol.
//!
//! For each rule that is left out there is, for each clause that the checker then names, the shortest run that shows it, and for each
//! situation the shortest run to it. The runs are committed files, which [`crate::spoken::derived`] makes again. Nothing in a run says
//! what is right: that is for the checker.

pub mod replay;
pub mod vectors;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::driven::{Run, Step};
use crate::spoken::{Driver, Spoken, Wire};

/// The version of the form in which a suite is written.
const VERSION: u32 = 1;

/// So many runs are in a suite at most.
const MOST_RUNS: usize = 2_000;

/// The runs of a protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Suite<P: Spoken> {
    /// The form in which it is written.
    version: u32,
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// The runs, without what each ends with.
    pub runs: Vec<Short<P>>,
    /// What has no run, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Short<P: Spoken> {
    /// What it shows: rules that are left out, each with the clause by which that is seen, and witnesses.
    pub shows: Vec<String>,
    /// The steps.
    pub steps: Vec<Step<Wire<P>>>,
}

/// What has no run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// What would be shown.
    pub what: String,
    /// Why it has none.
    pub reason: String,
}

/// The committed suite.
///
/// # Panics
///
/// Never: a test reads each.
pub fn committed<P: Spoken>() -> Suite<P> {
    serde_json::from_str(P::SUITE).expect("a committed suite is one")
}

impl<P: Spoken> Suite<P> {
    /// The runs as they are played.
    pub fn played(&self) -> impl Iterator<Item = Run<P>> {
        self.runs.iter().map(|short| {
            let steps = short
                .steps
                .iter()
                .cloned()
                .chain(Driver::<P>::ends(&short.steps));
            Run {
                shows: short.shows.join("; "),
                ..Run::of(steps.collect())
            }
        })
    }

    /// As it is committed: a line for each run.
    ///
    /// # Panics
    ///
    /// Never: what a suite holds can be written.
    pub fn text(&self) -> String {
        let line = |value: serde_json::Result<String>| value.expect("plain data");
        let runs = self.runs.iter().map(|it| line(serde_json::to_string(it)));
        let left_out = self.left_out.iter();
        let left_out = left_out.map(|it| line(serde_json::to_string(it)));
        let (runs, left_out): (Vec<_>, Vec<_>) = (runs.collect(), left_out.collect());
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{{\"version\":{},\"protocol\":\"{}\",\"runs\":[\n{}\n],\"left_out\":[\n{}\n]}}",
            self.version,
            self.protocol,
            runs.join(",\n"),
            left_out.join(",\n")
        );
        text
    }
}

/// So begins what a run shows of a clause that is left out.
pub(crate) const WITHOUT: &str = "without ";
/// So begins what it shows of a situation.
pub(crate) const WITNESS: &str = "witness: ";

/// Whether a run of the text shows it. Others are kept for what else they are there for.
pub(crate) fn is_of_text(shows: &str) -> bool {
    shows.starts_with(WITHOUT) || shows.starts_with(WITNESS)
}

/// What was derived so far.
pub(crate) struct Derived<P: Spoken> {
    runs: Vec<Short<P>>,
    left_out: Vec<LeftOut>,
}

impl<P: Spoken> Default for Derived<P> {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl<P: Spoken> Derived<P> {
    /// That has no run.
    pub(crate) fn leaves_out(&mut self, what: String, reason: &str) {
        let reason = reason.to_owned();
        self.left_out.push(LeftOut { what, reason });
    }

    /// That has this run.
    pub(crate) fn shows(&mut self, what: String, steps: Vec<Step<Wire<P>>>) {
        match self.runs.iter_mut().find(|it| it.steps == steps) {
            Some(known) => known.shows.push(what),
            None => self.runs.push(Short {
                shows: vec![what],
                steps,
            }),
        }
    }

    /// The steps of each run.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Vec<Step<Wire<P>>>> {
        self.runs.iter().map(|it| &it.steps)
    }

    /// What a longer run begins with need not be played by itself.
    pub(crate) fn suite(mut self) -> Suite<P> {
        self.runs
            .sort_by_key(|it| std::cmp::Reverse(it.steps.len()));
        let mut runs: Vec<Short<P>> = Vec::new();
        for short in self.runs {
            match runs
                .iter_mut()
                .find(|it| it.steps.starts_with(&short.steps))
            {
                Some(longer) => longer.shows.extend(short.shows),
                None => runs.push(short),
            }
        }
        // Those of the text come first, and of these those that need little.
        runs.reverse();
        runs.sort_by_key(|it| !it.shows.iter().any(|it| is_of_text(it)));
        assert!(runs.len() <= MOST_RUNS, "{} runs are too many", runs.len());
        Suite {
            version: VERSION,
            protocol: P::NAME.to_owned(),
            runs,
            left_out: self.left_out,
        }
    }
}
