//! The suite: short runs for any implementation, derived from the text of its protocol.
//!
//! For each rule that is left out there is, for each clause that the checker then names, the shortest run that shows it, and for each
//! situation the shortest run to it. The runs are committed files, which [`crate::spoken::derived`] makes again. Nothing in a run says
//! what is right: that is for the checker.

pub mod replay;
pub mod vectors;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::driven::{self, Others, Run, Step};
use crate::implementation::{Greeted, Implementation};
use crate::shrinking;
use crate::spoken::{Driver, Spoken, Wire, judge};

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
    let [of_model, of_clauses] = of_parts::<P>();
    let runs = of_model.runs.into_iter().chain(of_clauses.runs);
    Suite {
        runs: runs.collect(),
        ..of_model
    }
}

/// Its parts: the runs of the model, and those for clauses that none of them exercises.
///
/// # Panics
///
/// Never: a test reads each.
pub fn of_parts<P: Spoken>() -> [Suite<P>; 2] {
    P::SUITE.map(|part| serde_json::from_str(part).expect("a committed suite is one"))
}

/// The runs for clauses, and behind them more for the clauses that the suite does not exercise with this party, which is taken to be
/// right: for each the shortest that was found, among so many seeds, in which it could have given an answer that is wrong by it.
pub fn for_clauses<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &mut Greeted<Wire<P>, I>,
    of_clauses: Suite<P>,
    seeds: u64,
) -> Suite<P> {
    let [of_model, _] = of_parts::<P>();
    let mut suite = of_clauses;
    let mut others = Others::default();
    for part in [&of_model, &suite] {
        part.tries::<I>(partner, &mut others);
    }
    for seed in 1..=seeds {
        let run = Run::<P>::seeded(seed, 12 + usize::try_from(seed % 24).unwrap_or(0));
        // No run is for this one, so that all is tried.
        let news = tried_for::<P, I>(partner, &run.steps, "", &others);
        let known = others.exercised.clone();
        for clause in news.exercised.difference(&known) {
            if others.exercised.contains(clause) {
                continue;
            }
            let mut steps = run.steps.clone();
            let seen = tried_for::<P, I>(partner, &steps, clause, &others);
            others = shrinking::shortest(&mut steps, seen, Driver::<P>::without, |shorter| {
                let again = tried_for::<P, I>(partner, shorter, clause, &others);
                let shows = again.exercised.contains(clause);
                shows.then_some((shorter.len(), again))
            });
            let shows = vec![format!("clause: {clause}")];
            suite.runs.push(Short { shows, steps });
        }
    }
    suite
}

/// What was tried, and what was tried besides in a run that is there for this clause.
pub fn tried_for<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &mut Greeted<Wire<P>, I>,
    steps: &[Step<Wire<P>>],
    clause: &str,
    others: &Others<P>,
) -> Others<P> {
    let judge = judge::<P>(partner.greeting());
    let mut others = others.clone();
    others.tries_for([clause]);
    let _right = driven::play::<P, I>(partner, steps, &judge, Some(&mut others));
    others
}

impl<P: Spoken> Short<P> {
    /// The clauses that it is there for: those by which it shows that a rule is left out, or the one that no run of the model
    /// exercises.
    pub fn clauses(&self) -> impl Iterator<Item = &str> {
        self.shows.iter().filter_map(|shown| {
            let (what, clause) = shown.split_once(": ")?;
            (what == "clause" || what.starts_with("without ")).then_some(clause)
        })
    }
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

    /// Plays all with a party that is taken to be right, for the clauses by which another answer would have been wrong.
    pub fn tries<I: Implementation<Wire<P>>>(
        &self,
        partner: &mut Greeted<Wire<P>, I>,
        others: &mut Others<P>,
    ) {
        let judge = judge::<P>(partner.greeting());
        for (short, run) in self.runs.iter().zip(self.played()) {
            others.tries_for(short.clauses());
            let _right = driven::play::<P, I>(partner, &run.steps, &judge, Some(others));
        }
        others.tries_for([]);
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
        // Those that need little come first.
        runs.reverse();
        assert!(runs.len() <= MOST_RUNS, "{} runs are too many", runs.len());
        Suite {
            version: VERSION,
            protocol: P::NAME.to_owned(),
            runs,
            left_out: self.left_out,
        }
    }
}
