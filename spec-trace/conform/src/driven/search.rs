//! Runs of an implementation one after the other, and the shortest run for each clause that it breaks.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use countersign_driver::Protocol;
use countersign_model::judge::Finding;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Driven, Others, Played, Run, Taken, Told, Wrong, play, play_all};
use crate::implementation::{Greeted, Implementation};
use crate::shrinking;
use crate::side_by_side::{processors, side_by_side};
use crate::suite::{Short, Suited, committed};

/// What runs of an implementation have come to so far.
pub struct Search<D: Driven, I> {
    partner: Greeted<D::Protocol, I>,
    /// The ways to take the text, with whether each still fits.
    readings: Vec<(Taken<D::Judge>, bool)>,
    /// The way in which it is taken.
    reading: usize,
    /// The runs of the suite, once they were played, each with the clauses that it is there for.
    suite: Vec<(Vec<String>, Run<D>, Played<D>)>,
    /// How many runs were played.
    pub runs: u64,
    /// How many calls were made in them, those of shrinking left out.
    pub calls: u64,
    /// One for each clause, in the order in which they were found.
    pub divergences: Vec<Divergence<D>>,
    /// The other answers that were tried, and the clauses by which one would have been wrong.
    pub others: Others<D>,
    /// The ops that it cannot do though they are no capability, or one that it has declared.
    pub unsupported: BTreeSet<String>,
    /// The clauses that are kept only where the host never hands an old state back.
    pub guarded_by_host: BTreeSet<&'static str>,
    /// How often something was found by each clause.
    pub times: BTreeMap<&'static str, u64>,
    /// For so long a run is made shorter.
    pub shrinking: Duration,
    /// On so many threads what can be done at once is: the same comes of it on any number.
    pub threads: usize,
}

/// The shortest run that was found to break a clause.
pub struct Divergence<D: Driven> {
    /// The run.
    pub run: Run<D>,
    /// The seed of the run that it was made of.
    pub seed: u64,
    /// What was asked and answered in it.
    played: Rc<Played<D>>,
    /// What is wrong at the end of it.
    pub wrong: Wrong,
    /// Other clauses that say the same, in any run in which something is wrong by this one.
    pub also: BTreeSet<&'static str>,
    /// How many times of how many the run showed it again.
    pub again: (u32, u32),
}

/// For so long a run is made shorter, where nothing else is said.
const SHRINKING: Duration = Duration::from_secs(10);
/// So many times a run is played again.
const AGAIN: u32 = 3;
/// In so many runs it is tried which other answers would have been wrong.
const TRIED: u64 = 200;

impl<D: Driven, I: Implementation<D::Protocol>> Search<D, I> {
    /// Before the first run.
    pub fn new(partner: Greeted<D::Protocol, I>) -> Self {
        let readings = D::readings(partner.greeting());
        Self::taking(partner, readings)
    }

    /// The same, where the text is taken in one of these ways, the default first.
    pub fn taking(partner: Greeted<D::Protocol, I>, readings: Vec<Taken<D::Judge>>) -> Self {
        Self {
            readings: readings.into_iter().map(|it| (it, true)).collect(),
            reading: 0,
            suite: Vec::new(),
            partner,
            runs: 0,
            calls: 0,
            divergences: Vec::new(),
            others: Others::default(),
            unsupported: BTreeSet::new(),
            guarded_by_host: BTreeSet::new(),
            times: BTreeMap::new(),
            shrinking: SHRINKING,
            threads: processors(),
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

    /// Plays the runs of the suite, which are not counted. They are short, so that many readings fit each: those that fit are told
    /// from what each finds in all of them.
    pub fn suite(&mut self)
    where
        D: Suited,
    {
        let suite = committed::<D>();
        let clauses = suite.runs.iter().map(Short::clauses);
        let clauses = clauses.map(|it| it.map(str::to_owned).collect::<Vec<_>>());
        let runs: Vec<Run<D>> = suite.played().collect();
        let mut found = self.nothing();
        let all = self.play_all(&runs);
        self.are_found(&all, &mut found);
        self.take_best_reading(&found);
        let whole = clauses.zip(runs).zip(all);
        self.suite = whole
            .map(|((clauses, run), it)| (clauses, run, it))
            .collect();
        self.try_suite();
        let suite = std::mem::take(&mut self.suite);
        for (_, run, played) in &suite {
            self.note_unexplained(run, played);
        }
        self.suite = suite;
    }

    /// Plays the runs that the suite has for a rule that is left out, and where that shows nothing all of them, for more runs leave
    /// fewer ways to take the text. It ends where no way to take it is left.
    pub fn left_out(&mut self, rule: &str)
    where
        D: Suited,
    {
        let suite = committed::<D>();
        let rule = format!("without {rule}: ");
        let is_for = |it: &Short<D>| it.shows.iter().any(|it| it.starts_with(&rule));
        let runs = suite.runs.iter().zip(suite.played());
        let runs = runs.filter(|(short, _)| is_for(short));
        self.play_until_found(&runs.map(|(_, run)| run).collect::<Vec<_>>());
        if self.divergences.is_empty() {
            self.reading = 0;
            self.play_until_found(&suite.played().collect::<Vec<_>>());
        }
    }

    /// Plays runs until no way to take the text is left that finds nothing in them.
    fn play_until_found(&mut self, runs: &[Run<D>]) {
        let mut found = self.nothing();
        let mut all = Vec::new();
        let at_once = match self.partner.maker() {
            Some(_) => self.threads.max(1),
            None => 1,
        };
        'enough: for runs in runs.chunks(at_once) {
            for (run, played) in runs.iter().zip(self.play_all(runs)) {
                self.runs += 1;
                self.are_found(std::slice::from_ref(&played), &mut found);
                all.push((run, played));
                if found.iter().all(|it| !it.is_empty()) {
                    break 'enough;
                }
            }
        }
        self.take_best_reading(&found);
        for (run, played) in all {
            self.note_unexplained(run, &played);
        }
    }

    /// Plays runs, as the text is taken now.
    fn play_all(&mut self, runs: &[Run<D>]) -> Vec<Played<D>> {
        let judge = &self.readings[self.reading].0.judge;
        play_all(&mut self.partner, runs, judge, self.threads)
    }

    /// What each way to take the text has found in no run.
    fn nothing(&self) -> Vec<BTreeSet<&'static str>> {
        vec![BTreeSet::new(); self.readings.len()]
    }

    /// Adds what each way to take the text finds in runs.
    fn are_found(&mut self, all: &[Played<D>], found: &mut [BTreeSet<&'static str>]) {
        for played in all {
            self.is_played(played);
        }
        let finds = |(): &mut (), (taken, _): &(Taken<D::Judge>, bool)| {
            let found = all.iter().flat_map(|it| it.found_by(&taken.judge));
            found.map(|(clause, _)| clause).collect::<Vec<_>>()
        };
        let threads = if all.len() > 1 { self.threads } else { 1 };
        let more = side_by_side(threads, &self.readings, || (), finds);
        for (found, more) in found.iter_mut().zip(more) {
            found.extend(more);
        }
    }

    /// Takes the first way to take the text of which no other finds less; it fits, and so do those that find the same.
    fn take_best_reading(&mut self, found: &[BTreeSet<&'static str>]) {
        let finds_less =
            |one: &BTreeSet<_>, other: &BTreeSet<_>| one.is_subset(other) && one != other;
        let is_best = |it: &BTreeSet<_>| !found.iter().any(|other| finds_less(other, it));
        self.reading = found.iter().position(is_best).unwrap_or(0);
        for ((_, fits), it) in self.readings.iter_mut().zip(found) {
            *fits = *it == found[self.reading];
        }
    }

    /// Notes what is wrong in a run as the text is taken, unless a way to take it that fits explains it.
    fn note_unexplained(&mut self, run: &Run<D>, played: &Played<D>) {
        if self.is_explained(played) {
            return;
        }
        let mut played = played.clone();
        let found = played.found_by(&self.readings[self.reading].0.judge);
        played
            .wrong
            .retain(|it| found.contains_key(it.finding.clause));
        self.note(run, played, 0);
    }

    /// Tries in the runs of the suite by which clauses another answer would have been wrong as the text is taken now; what was tried
    /// before, was by another way to take it.
    fn try_suite(&mut self) {
        self.others = Others::default();
        let judge = &self.readings[self.reading].0.judge;
        let greeting = self.partner.greeting();
        for (clauses, run, played) in &self.suite {
            self.others.tries_for(clauses.iter().map(String::as_str));
            self.others.try_run(greeting, &run.steps, judge, played);
        }
        self.others.tries_for([]);
    }

    /// Plays a run that is not of a seed.
    pub fn play(&mut self, run: &Run<D>, seed: u64) {
        let others = (self.runs < TRIED).then_some(&mut self.others);
        let is_tried = others.is_some();
        let judge = &self.readings[self.reading].0.judge;
        let mut played = play::<D, I>(&mut self.partner, &run.steps, judge, others);
        self.runs += 1;
        self.is_played(&played);
        if is_tried || !self.news_in(&played.clauses()).is_empty() {
            self.take_readings(&mut played);
        }
        self.note(run, played, seed);
    }

    fn is_played(&mut self, played: &Played<D>) {
        self.calls += u64::try_from(played.told.len()).unwrap_or(u64::MAX);
        self.unsupported.extend(played.unsupported.iter().cloned());
    }

    /// Notes what is wrong in a run. What it shows by a clause that no run has shown before is made as short as it can be.
    fn note(&mut self, run: &Run<D>, played: Played<D>, seed: u64) {
        let judge = &self.readings[self.reading].0.judge;
        self.guarded_by_host.extend(played.guarded_by_host(judge));
        for wrong in &played.wrong {
            *self.times.entry(wrong.finding.clause).or_default() += 1;
        }
        let played = Rc::new(played);
        let known = self.divergences.len();
        for clause in self.news_in(&played.clauses()) {
            if let Some(found) = self.shortest(run, &played, clause, seed, known) {
                self.divergences.push(found);
            }
        }
        for wrong in &played.wrong {
            let mut told = self.divergences.iter_mut();
            if let Some(told) = told.find(|it| it.wrong.finding.clause == wrong.finding.clause) {
                told.also.extend(wrong.finding.also);
            }
        }
    }

    /// The clauses that no run has shown broken before.
    fn news_in(&self, clauses: &BTreeSet<&'static str>) -> Vec<&'static str> {
        let is_known = |clause: &str| {
            let mut known = self.divergences.iter();
            known.any(|it| it.wrong.finding.clause == clause)
        };
        let news = clauses.iter().copied();
        news.filter(|clause| !is_known(clause)).collect()
    }

    /// Which ways to take the text still fit after a run: those that find nothing new in it. Where there are none, none of them
    /// explains the run, and all stay as they were.
    fn take_readings(&mut self, played: &mut Played<D>) {
        let fit = self.readings.iter().map(|(taken, fits)| {
            let found = played.found_by(&taken.judge).into_keys().collect();
            *fits && self.news_in(&found).is_empty()
        });
        let fit: Vec<bool> = fit.collect();
        let Some(first) = fit.iter().position(|fits| *fits) else {
            return;
        };
        for ((_, fits), still) in self.readings.iter_mut().zip(&fit) {
            *fits = *still;
        }
        if !fit[self.reading] {
            self.reading = first;
            // What it showed by the reading that does not fit, it does not show by this one.
            let found = played.found_by(&self.readings[first].0.judge);
            played
                .wrong
                .retain(|it| found.contains_key(it.finding.clause));
            self.try_suite();
        }
    }

    /// For each place that can be taken in more than one way the choices that still fit, those of the reading taken first.
    pub fn choices(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let mut choices: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
        let taken = self.readings.get(self.reading).into_iter();
        let fitting = self.readings.iter().filter(|(_, fits)| *fits);
        for (taken, _) in taken.chain(fitting) {
            for (place, choice) in &taken.choices {
                let known = choices.entry(place).or_default();
                if !known.contains(choice) {
                    known.push(choice);
                }
            }
        }
        choices
    }

    /// The choices that are taken otherwise than by default.
    pub fn taken(&self) -> Vec<(&'static str, &'static str)> {
        let [taken, default] = [self.reading, 0].map(|it| &self.readings[it].0.choices);
        let pairs = taken.iter().zip(default);
        let others = pairs.filter(|(taken, default)| taken != default);
        others.map(|(taken, _)| *taken).collect()
    }

    /// The shortest run that shows something by this clause. Nothing, where the run does not. What it has shown by others are the
    /// divergences behind the first so many.
    fn shortest(
        &mut self,
        run: &Run<D>,
        played: &Rc<Played<D>>,
        clause: &'static str,
        seed: u64,
        known: usize,
    ) -> Option<Divergence<D>> {
        let wrong = self.unexplained(played, run.steps.len(), clause)?;
        let until = Instant::now() + self.shrinking;
        let mut steps = run.steps[..run.steps.len().min(wrong.at + 1)].to_vec();
        let others = self.divergences[known..].iter();
        let mut likely: Vec<_> = others.map(|it| (it.run.steps.clone(), false)).collect();
        likely.sort_by_key(|(steps, _)| steps.len());
        let last = steps.len().saturating_sub(1);
        for idle in [&played.refused | &played.ignored, played.refused.clone()] {
            let busy = (0..).zip(&steps);
            let busy = busy.filter(|(at, _)| *at == last || !idle.contains(at));
            likely.push((busy.map(|(_, step)| step.clone()).collect(), true));
        }
        let mut seen = (Rc::clone(played), wrong);
        let mut in_vain = HashSet::new();
        let mut shows = |shorter: &[D::Step]| {
            let mark = mark(shorter);
            if Instant::now() > until || in_vain.contains(&mark) {
                return None;
            }
            let Some((played, wrong)) = self.shows(shorter, clause) else {
                in_vain.insert(mark);
                return None;
            };
            Some((wrong.at + 1, (played, wrong)))
        };
        // What is short for another clause may show this one as well, unless it follows from the other; and most steps of a random run
        // come to nothing.
        for (mut shorter, may_follow) in likely {
            let again = shows(&shorter);
            if let Some((needed, again)) = again
                && (may_follow || again.0.wrong.iter().all(|it| it.calls >= again.1.calls))
            {
                shorter.truncate(needed);
                (steps, seen) = (shorter, again);
                break;
            }
        }
        let seen = shrinking::shortest(&mut steps, seen, &mut shows);
        // A step may be there for the time alone that it takes.
        let (played, wrong) = shrinking::folded(&mut steps, seen, D::fold, &mut shows);
        let again = (0..AGAIN).filter(|_| self.shows(&steps, clause).is_some());
        let again = u32::try_from(again.count()).unwrap_or(AGAIN);
        let mut run = Run::of(steps);
        run.shows = wrong.finding.to_string();
        Some(Divergence {
            run,
            seed,
            played,
            also: wrong.finding.also.iter().copied().collect(),
            wrong,
            again: (again, AGAIN),
        })
    }

    /// Whether these steps show something by this clause that no way to take the text explains.
    pub fn is_shown(&mut self, steps: &[D::Step], clause: &str) -> bool {
        self.shows(steps, clause).is_some()
    }

    /// What a run has come to, and the first that it shows by this clause. Nothing, where a way to take the text explains it.
    fn shows(&mut self, steps: &[D::Step], clause: &str) -> Option<(Rc<Played<D>>, Wrong)> {
        let judge = &self.readings[self.reading].0.judge;
        let played = play::<D, I>(&mut self.partner, steps, judge, None);
        let wrong = self.unexplained(&played, steps.len(), clause)?;
        Some((Rc::new(played), wrong))
    }

    /// The first that is wrong by this clause, in a run of so many steps, once no way to take the text explains what was put
    /// out so far.
    fn unexplained(&self, played: &Played<D>, steps: usize, clause: &str) -> Option<Wrong> {
        let mut by_clause = played.wrong.iter();
        let found = by_clause.find(|it| it.finding.clause == clause)?;
        let others = self.readings.iter().filter(|(_, fits)| *fits);
        let first = others.map(|(taken, _)| played.first_found_by(&taken.judge));
        // Where one of them finds nothing, it explains all.
        let first: Option<Vec<usize>> = first.collect();
        let from = first?.into_iter().max().unwrap_or(0);
        let mut wrong = played.wrong.iter();
        let later = wrong.find(|it| it.finding.clause == clause && it.calls >= from);
        later.cloned().or_else(|| {
            // Where the way that is taken finds nothing any more by then, all of the run is what it is found in.
            let is_last = played.wrong.iter().all(|it| it.calls < from);
            let whole = Wrong {
                at: steps - 1,
                calls: played.told.len(),
                ..found.clone()
            };
            is_last.then_some(whole)
        })
    }

    /// Whether a way to take the text that still fits finds nothing wrong.
    fn is_explained(&self, played: &Played<D>) -> bool {
        let fitting = self.readings.iter().filter(|(_, fits)| *fits);
        let mut first = fitting.map(|(taken, _)| played.first_found_by(&taken.judge));
        first.any(|it| it.is_none())
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

    /// What was asked and answered in it, up to where it is wrong.
    pub fn told(&self) -> &[Told<D::Protocol>] {
        let told = &self.played.told;
        &told[..self.wrong.calls.min(told.len())]
    }

    /// What tells this divergence from others, the same in each search that finds it: of the clause, the ops of the run and the
    /// kinds of what came out, without names and times. 12 hexadecimal digits.
    pub fn identity(&self) -> String {
        let mut shape = vec![self.finding().clause.to_owned()];
        for told in self.told() {
            let kinds = told.outputs.iter().map(|it| D::Protocol::kind(&it.what));
            let kinds: Vec<String> = kinds.map(|it| format!("{it:?}")).collect();
            shape.push(format!("{} {}", told.op.name(), kinds.join(" ")));
        }
        shape.extend(
            self.wrong
                .lost
                .as_ref()
                .map(|it| it.fault.name().to_owned()),
        );
        identity(&shape.join("\n"))
    }

    /// Other clauses that were broken in the run before it, so that it may follow from them.
    pub fn before(&self) -> impl Iterator<Item = &'static str> + '_ {
        let before = self.played.wrong.iter();
        let before = before.filter(|it| it.calls < self.wrong.calls);
        before.map(|it| it.finding.clause)
    }
}

/// What tells these steps from others.
fn mark<T: Serialize>(steps: &[T]) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(steps)
        .unwrap_or_default()
        .hash(&mut hasher);
    hasher.finish()
}

/// What tells things of this shape from others: 12 hexadecimal digits.
pub fn identity(shape: &str) -> String {
    let digest = Sha256::digest(shape);
    let first = digest.iter().take(6);
    let bits = first.fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    format!("{bits:012x}")
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
