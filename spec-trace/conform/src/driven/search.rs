//! Runs of an implementation one after the other, and the shortest run for each clause that it breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_driver::Protocol;
use countersign_model::judge::Finding;

use super::{Aim, Driven, Played, Run, Wrong, play};
use crate::implementation::{Greeted, Implementation};
use crate::shrinking;

/// What runs of an implementation have come to so far.
pub struct Search<D: Driven, I> {
    partner: Greeted<D::Protocol, I>,
    /// How many runs were played.
    pub runs: u64,
    /// How many calls were made in them, those of shrinking left out.
    pub calls: u64,
    /// One for each clause, in the order in which they were found.
    pub divergences: Vec<Divergence<D>>,
    /// The clauses by which another answer would have been wrong.
    pub exercised: BTreeSet<&'static str>,
    /// The ops that it cannot do though they are no capability, or one that it has declared.
    pub unsupported: BTreeSet<String>,
    /// How often something was found by each clause.
    pub times: BTreeMap<&'static str, u64>,
}

/// The shortest run that was found to break a clause.
pub struct Divergence<D: Driven> {
    /// The run.
    pub run: Run<D>,
    /// The seed of the run that it was made of.
    pub seed: u64,
    /// What was asked and answered in it.
    pub played: Played<D::Protocol>,
    /// What is wrong at the end of it.
    pub wrong: Wrong,
    /// How many times of how many the run showed it again.
    pub again: (u32, u32),
}

/// For so long a run is made shorter.
const SHRINKING: Duration = Duration::from_secs(10);
/// So many times a run is played again.
const AGAIN: u32 = 3;
/// In so many runs it is tried which other answers would have been wrong.
const TRIED: u64 = 200;

impl<D: Driven, I: Implementation<D::Protocol>> Search<D, I> {
    /// Before the first run.
    pub const fn new(partner: Greeted<D::Protocol, I>) -> Self {
        Self {
            partner,
            runs: 0,
            calls: 0,
            divergences: Vec::new(),
            exercised: BTreeSet::new(),
            unsupported: BTreeSet::new(),
            times: BTreeMap::new(),
        }
    }

    /// The implementation.
    pub const fn partner(&self) -> &Greeted<D::Protocol, I> {
        &self.partner
    }

    /// Plays the run of a seed. What it shows by a clause that no run has shown before is made as short as it can be.
    pub fn seeded(&mut self, seed: u64) {
        // Short ones and long ones, so that a fault that needs little is found in little.
        let run = Run::<D>::seeded(seed, 8 + usize::try_from(seed % 113).unwrap_or(0));
        self.play(&run, seed);
    }

    /// Plays a run that is not of a seed.
    pub fn play(&mut self, run: &Run<D>, seed: u64) {
        let aim = if self.runs < TRIED {
            Aim::Tried
        } else {
            Aim::All
        };
        let played = play::<D, I>(&mut self.partner, &run.steps, aim);
        self.runs += 1;
        self.calls += u64::try_from(played.told.len()).unwrap_or(u64::MAX);
        self.exercised.extend(&played.exercised);
        self.unsupported.extend(played.unsupported.iter().cloned());
        for wrong in &played.wrong {
            *self.times.entry(wrong.finding.clause).or_default() += 1;
        }
        for wrong in &played.wrong {
            let clause = wrong.finding.clause;
            let is_known = |it: &Divergence<D>| it.wrong.finding.clause == clause;
            if !self.divergences.iter().any(is_known) {
                let found = self.shortest(run, &played, wrong, seed);
                self.divergences.push(found);
            }
        }
    }

    fn shortest(
        &mut self,
        run: &Run<D>,
        played: &Played<D::Protocol>,
        wrong: &Wrong,
        seed: u64,
    ) -> Divergence<D> {
        let clause = wrong.finding.clause;
        let until = Instant::now() + SHRINKING;
        let mut steps = run.steps[..run.steps.len().min(wrong.at + 1)].to_vec();
        let seen = (played.clone(), wrong.clone());
        let (mut played, wrong) = shrinking::shortest(&mut steps, seen, |shorter| {
            if Instant::now() > until {
                return None;
            }
            let (played, wrong) = self.shows(shorter, clause)?;
            Some((wrong.at + 1, (played, wrong)))
        });
        played.told.truncate(wrong.calls);
        let again = (0..AGAIN).filter(|_| self.shows(&steps, clause).is_some());
        let again = u32::try_from(again.count()).unwrap_or(AGAIN);
        let mut run = Run::of(steps);
        run.shows = wrong.finding.to_string();
        Divergence {
            run,
            seed,
            played,
            wrong,
            again: (again, AGAIN),
        }
    }

    /// What a run has come to, and the first that it shows by this clause.
    fn shows(&mut self, steps: &[D::Step], clause: &str) -> Option<(Played<D::Protocol>, Wrong)> {
        let played = play::<D, I>(&mut self.partner, steps, Aim::First(clause));
        let wrong = played.wrong.iter().find(|it| it.finding.clause == clause)?;
        let wrong = wrong.clone();
        Some((played, wrong))
    }
}

impl<D: Driven> Divergence<D> {
    /// What would have been right.
    pub const fn finding(&self) -> &Finding {
        &self.wrong.finding
    }

    /// Writes the run into a folder, as `found-CLAUSE.json`; says where.
    ///
    /// # Errors
    ///
    /// What the system says if the file cannot be written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        shrinking::keep(&self.run, self.finding().clause, folder)
    }

    /// Other clauses that were broken in the run before it, so that it may follow from them.
    pub fn before(&self) -> impl Iterator<Item = &'static str> + '_ {
        let before = self.played.wrong.iter();
        let before = before.filter(|it| it.calls < self.wrong.calls);
        before.map(|it| it.finding.clause)
    }
}

impl<D: Driven> std::fmt::Debug for Divergence<D> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let protocol = D::Protocol::NAME;
        write!(
            formatter,
            "{protocol}: {}: {:?}",
            self.finding(),
            self.run.steps
        )
    }
}
