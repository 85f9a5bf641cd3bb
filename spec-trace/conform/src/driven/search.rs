//! Runs of an implementation one after the other, and the shortest run for each cause of what is wrong in them.
//!
//! Of a run only the first wrong step is evidence: what is wrong behind it may follow from it. The causes in the suite are few clauses,
//! such that each of its wrong runs first goes wrong by one of them. A random run adds a cause only where none was found before that
//! weighs as much and shows in as grave a way ([`Symptom`]), so that seed and number of runs do not change what the suite has shown.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use countersign_model::judge::Finding;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::others::ran_wrongly;
use super::{Played, Run, Step, Taken, Told, Wrong, exercise, play, play_all};
use crate::implementation::{Fault, Greeted, Implementation, Lost};
use crate::shrinking;
use crate::side_by_side::{processors, side_by_side};
use crate::spoken::{Driver, Spoken, Wire, readings};
use crate::suite::{Short, committed};

/// What runs of an implementation have come to so far.
pub struct Search<P: Spoken, I> {
    partner: Greeted<Wire<P>, I>,
    /// The ways to take the text, with whether each still fits.
    readings: Vec<(Taken<P>, bool)>,
    /// The way in which it is taken.
    reading: usize,
    /// The runs of the suite, once they were played.
    suite: Vec<(Run<P>, Played<P>)>,
    /// How many runs were played.
    pub runs: u64,
    /// How many calls were made in them, those of shrinking left out.
    pub calls: u64,
    /// One for each cause, in the order in which they were found.
    pub divergences: Vec<Divergence<P>>,
    /// How a run first goes wrong, with the place of the divergence that it stands under.
    symptoms: BTreeMap<Symptom, usize>,
    /// The clauses that the runs have exercised.
    pub exercised: BTreeSet<&'static str>,
    /// The ops that it cannot do though they are no capability, or one that it has declared.
    pub unsupported: BTreeSet<String>,
    /// The clauses that are kept only where the host never hands an old state back.
    pub guarded_by_host: BTreeSet<&'static str>,
    /// The runs that were not judged to their end: the seed, 0 where there is none, and the call from which on.
    pub unjudged: Vec<(u64, usize)>,
    /// How often something was found by each clause.
    pub times: BTreeMap<&'static str, u64>,
    /// For so long a run is made shorter.
    pub shrinking: Duration,
    /// On so many threads what can be done at once is: the same comes of it on any number.
    pub threads: usize,
    /// Whether a clause binds: one that does leads others, and never stands under one that does not.
    pub binds: fn(&str) -> bool,
    /// Is told of each divergence as soon as it is found, and says whether the search goes on.
    pub on_found: OnFound<P>,
    /// Where somebody sets this, the search ends as soon as it can.
    pub stop: Arc<AtomicBool>,
    /// Why the search has ended before its time.
    pub ended: Option<Ended>,
}

/// Is told of a divergence, and says whether the search goes on.
pub type OnFound<P> = Box<dyn FnMut(&Divergence<P>) -> bool>;

/// Why a search has ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to.
    Stopped,
    /// The implementation has not answered: each further run might cost as long again.
    Hung,
    /// What was found is enough.
    Found,
}

/// How a run first goes wrong, and whether what it goes against binds.
type Symptom = (How, bool);

/// How a run first goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum How {
    /// Something ran that was not to.
    Ran,
    /// Something else was put out that was not to be, or was not.
    Told,
    /// The implementation was lost.
    Lost,
}

/// A run in which something is wrong.
struct Evidence<'a, P: Spoken> {
    run: &'a Run<P>,
    seed: u64,
    played: Rc<Played<P>>,
    /// What is wrong at the first wrong call: at least one.
    first: Vec<Wrong>,
    /// What is wrong behind it.
    behind: Vec<Wrong>,
    /// The clause that leads at the first wrong call.
    lead: &'static str,
    symptom: Symptom,
}

/// The run to make shorter next, and the clause: of those that bind the one that leads most runs, of as many the first.
fn leading<P: Spoken>(left: &[Evidence<'_, P>]) -> Option<(usize, &'static str)> {
    let led = |clause| left.iter().filter(|it| it.lead == clause).count();
    let all = left.iter().enumerate().rev();
    let next = all.max_by_key(|(_, it)| (it.symptom.1, led(it.lead)))?;
    Some((next.0, next.1.lead))
}

impl Wrong {
    /// The clauses that it goes against.
    fn clauses(&self) -> impl Iterator<Item = &'static str> {
        let also = self.finding.also.iter().copied();
        [self.finding.clause].into_iter().chain(also)
    }
}

/// The shortest run that was found to break a clause.
pub struct Divergence<P: Spoken> {
    /// The run.
    pub run: Run<P>,
    /// The seed of the run that it was made of.
    pub seed: u64,
    /// What was asked and answered in it.
    played: Rc<Played<P>>,
    /// What is wrong at the end of it.
    pub wrong: Wrong,
    /// Other clauses that say the same, in any run in which something is wrong by this one.
    pub also: BTreeSet<&'static str>,
    /// Other clauses that are broken beside it, behind it, or in the same way: they may follow from it.
    pub consequences: BTreeSet<&'static str>,
    /// How many times of how many the run showed it again.
    pub again: (u32, u32),
}

/// For so long a run is made shorter, where nothing else is said.
const SHRINKING: Duration = Duration::from_secs(10);
/// So many times a run is played again.
const AGAIN: u32 = 3;
/// Of so many runs it is asked which clauses they exercise.
const TRIED: u64 = 200;

impl<P: Spoken, I: Implementation<Wire<P>>> Search<P, I> {
    /// Before the first run.
    pub fn new(partner: Greeted<Wire<P>, I>) -> Self {
        let readings = readings(partner.greeting(), &[]);
        Self::taking(partner, readings)
    }

    /// The same, where the text is taken in one of these ways, the default first.
    pub fn taking(partner: Greeted<Wire<P>, I>, readings: Vec<Taken<P>>) -> Self {
        Self {
            readings: readings.into_iter().map(|it| (it, true)).collect(),
            reading: 0,
            suite: Vec::new(),
            partner,
            runs: 0,
            calls: 0,
            divergences: Vec::new(),
            symptoms: BTreeMap::new(),
            exercised: BTreeSet::new(),
            unsupported: BTreeSet::new(),
            guarded_by_host: BTreeSet::new(),
            unjudged: Vec::new(),
            times: BTreeMap::new(),
            shrinking: SHRINKING,
            threads: processors(),
            binds: |_| true,
            on_found: Box::new(|_| true),
            stop: Arc::default(),
            ended: None,
        }
    }

    /// Whether the search has ended before its time.
    pub fn is_over(&mut self) -> bool {
        if self.ended.is_none() && self.stop.load(Ordering::Relaxed) {
            self.ended = Some(Ended::Stopped);
        }
        self.ended.is_some()
    }

    /// The implementation.
    pub const fn partner(&self) -> &Greeted<Wire<P>, I> {
        &self.partner
    }

    /// Plays the run of a seed. What it shows by a clause that no run has shown before is made as short as it can be.
    pub fn seeded(&mut self, seed: u64) {
        // Short ones and long ones, so that a fault that needs little is found in little.
        let run = Run::<P>::seeded(seed, 8 + usize::try_from(seed % 113).unwrap_or(0));
        self.play(&run, seed);
    }

    /// Plays the runs of the suite, which are not counted. They are short, so that many readings fit each: those that fit are told
    /// from what each finds in all of them.
    pub fn suite(&mut self) {
        let suite = committed::<P>();
        let runs: Vec<Run<P>> = suite.played().collect();
        let mut found = self.nothing();
        let all = self.play_all(&runs);
        self.are_found(&all, &mut found);
        self.take_best_reading(&found);
        self.suite = runs.into_iter().zip(all).collect();
        self.try_suite();
        let suite = std::mem::take(&mut self.suite);
        let played = suite.iter().map(|(run, played)| (run, played, 0));
        self.note(played);
        self.suite = suite;
    }

    /// Plays the runs that the suite has for a rule that is left out, and where that shows nothing all of them, for more runs leave
    /// fewer ways to take the text. It ends where no way to take it is left.
    pub fn left_out(&mut self, rule: &str) {
        let suite = committed::<P>();
        let rule = format!("without {rule}: ");
        let is_for = |it: &Short<P>| it.shows.iter().any(|it| it.starts_with(&rule));
        let runs = suite.runs.iter().zip(suite.played());
        let runs = runs.filter(|(short, _)| is_for(short));
        self.play_until_found(&runs.map(|(_, run)| run).collect::<Vec<_>>());
        if self.divergences.is_empty() {
            self.reading = 0;
            self.play_until_found(&suite.played().collect::<Vec<_>>());
        }
    }

    /// Plays runs until no way to take the text is left that finds nothing in them.
    fn play_until_found(&mut self, runs: &[Run<P>]) {
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
        let played = all.iter().map(|(run, played)| (*run, played, 0));
        self.note(played);
    }

    /// Plays runs, as the text is taken now; fewer, where the search ends before.
    fn play_all(&mut self, runs: &[Run<P>]) -> Vec<Played<P>> {
        let at_once = match self.partner.maker() {
            Some(_) => runs.len().max(1),
            None => 1,
        };
        let mut all = Vec::new();
        for runs in runs.chunks(at_once) {
            let judge = &self.readings[self.reading].0.judge;
            let played = play_all(&mut self.partner, runs, judge, self.threads);
            all.extend(played);
            if self.ends_with(&all) {
                break;
            }
        }
        if self.ended == Some(Ended::Stopped) {
            all.pop();
        }
        all
    }

    /// Whether the search ends with the last of these runs. Where it was asked to end in it, that run shows nothing: the implementation
    /// may have been asked as well.
    fn ends_with(&mut self, all: &[Played<P>]) -> bool {
        let last = all.last().and_then(|it| it.wrong.last());
        let is_silent = |lost: &Lost| matches!(lost.fault, Fault::Silent(_) | Fault::Unflushed(_));
        if !self.is_over() && last.is_some_and(|it| it.lost.as_ref().is_some_and(is_silent)) {
            self.ended = Some(Ended::Hung);
        }
        self.ended.is_some()
    }

    /// What each way to take the text has found in no run.
    fn nothing(&self) -> Vec<BTreeSet<&'static str>> {
        vec![BTreeSet::new(); self.readings.len()]
    }

    /// Adds what each way to take the text finds in runs.
    fn are_found(&mut self, all: &[Played<P>], found: &mut [BTreeSet<&'static str>]) {
        for played in all {
            self.is_played(played, 0);
        }
        let finds = |(): &mut (), (taken, _): &(Taken<P>, bool)| {
            let found = all.iter().flat_map(|it| it.wrong_by(&taken.judge));
            found.map(|it| it.finding.clause).collect::<Vec<_>>()
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

    /// Says which clauses the runs of the suite exercise as the text is taken now; what was said before, was by another way to take it.
    fn try_suite(&mut self) {
        self.exercised.clear();
        let judge = &self.readings[self.reading].0.judge;
        for (_, played) in &self.suite {
            exercise(&mut self.exercised, judge, played);
        }
    }

    /// Plays a run that is not of a seed. Gives the number of its steps that could not be asked: they are about what the implementation has
    /// not named, or cannot do.
    pub fn play(&mut self, run: &Run<P>, seed: u64) -> usize {
        let judge = &self.readings[self.reading].0.judge;
        let played = play::<P, I>(&mut self.partner, &run.steps, judge);
        let is_tried = self.runs < TRIED;
        if is_tried {
            exercise(&mut self.exercised, judge, &played);
        }
        let unasked = run.steps.len().saturating_sub(played.told.len());
        if self.ends_with(std::slice::from_ref(&played)) && self.ended == Some(Ended::Stopped) {
            return unasked;
        }
        self.runs += 1;
        self.is_played(&played, seed);
        let found = played.found_by(&self.readings[self.reading].0.judge);
        if is_tried || !self.news_in(&found).is_empty() {
            self.take_readings(&played);
        }
        self.note([(run, &played, seed)].into_iter());
        unasked
    }

    fn is_played(&mut self, played: &Played<P>, seed: u64) {
        self.unjudged
            .extend(played.unjudged_from.map(|call| (seed, call)));
        self.calls += u64::try_from(played.told.len()).unwrap_or(u64::MAX);
        self.unsupported.extend(played.unsupported.iter().cloned());
    }

    /// Notes what is wrong in runs as the text is taken. Each cause that no run has shown before is made as short as it can be, and each
    /// run stands under one.
    fn note<'a>(&mut self, all: impl Iterator<Item = (&'a Run<P>, &'a Played<P>, u64)>)
    where
        P: 'a,
    {
        let all = all.filter_map(|(run, played, seed)| self.evidence(run, played, seed));
        let mut left: Vec<Evidence<'_, P>> = all.collect();
        let mut symptoms = Vec::new();
        loop {
            left.retain(|it| match self.cause(it) {
                Some(place) => {
                    self.stands_under(it, place);
                    symptoms.push((it.symptom, place));
                    false
                }
                None => true,
            });
            let Some((place, clause)) = leading(&left) else {
                break;
            };
            let cause = left.remove(place);
            if let Some(found) = self.shortest(&cause, clause) {
                if !(self.on_found)(&found) && !self.is_over() {
                    self.ended = Some(Ended::Found);
                    left.clear();
                }
                self.divergences.push(found);
                left.push(cause);
            }
        }
        for (symptom, place) in symptoms {
            self.symptoms.entry(symptom).or_insert(place);
        }
    }

    /// How a run first goes wrong. Nothing, where a way to take the text explains all of it.
    fn evidence<'a>(
        &mut self,
        run: &'a Run<P>,
        played: &Played<P>,
        seed: u64,
    ) -> Option<Evidence<'a, P>> {
        let judge = &self.readings[self.reading].0.judge;
        self.guarded_by_host.extend(played.guarded_by_host(judge));
        if self.is_explained(played) {
            return None;
        }
        let wrong: Vec<Wrong> = played.wrong_by(judge).collect();
        for it in &wrong {
            *self.times.entry(it.finding.clause).or_default() += 1;
        }
        let calls = wrong.first()?.calls;
        let (first, behind): (Vec<_>, Vec<_>) = wrong.into_iter().partition(|it| it.calls == calls);
        let binds = |it: &&Wrong| it.clauses().any(self.binds);
        let binding = first.iter().find(binds);
        let lead = binding.or_else(|| first.first())?;
        let greeting = self.partner.greeting();
        let how = if lead.lost.is_some() {
            How::Lost
        } else if ran_wrongly(greeting, &run.steps, judge, played, lead) {
            How::Ran
        } else {
            How::Told
        };
        Some(Evidence {
            run,
            seed,
            played: Rc::new(played.clone()),
            lead: lead.finding.clause,
            symptom: (how, binding.is_some()),
            first,
            behind,
        })
    }

    /// The divergence that a run stands under: one whose clause is broken at its first wrong call, one that says all that binds of what
    /// leads there, or else one of an earlier run that went wrong in as grave a way. What binds never stands under what does not.
    fn cause(&self, it: &Evidence<'_, P>) -> Option<usize> {
        let (how, binds) = it.symptom;
        let weighs = |wrong: &&Wrong| !binds || wrong.clauses().any(self.binds);
        let mut known = self.divergences.iter();
        let by_clause = known.position(|known| {
            let mut first = it.first.iter().filter(weighs);
            first.any(|it| it.finding.clause == known.finding().clause)
        });
        let by_what_binds = || {
            let lead = it
                .first
                .iter()
                .find(|first| first.finding.clause == it.lead)?;
            let says = |known: &Divergence<P>, clause| {
                !(self.binds)(clause)
                    || known.finding().clause == clause
                    || known.also.contains(clause)
            };
            let mut known = self.divergences.iter();
            known.position(|known| binds && lead.clauses().all(|clause| says(known, clause)))
        };
        // What ran wrongly weighs more than what was told wrongly.
        let as_grave: &[How] = match how {
            How::Told => &[How::Told, How::Ran],
            How::Ran | How::Lost => &[how],
        };
        let by_symptom = || {
            let mut symptoms = as_grave
                .iter()
                .flat_map(|how| [(*how, binds), (*how, true)]);
            symptoms.find_map(|symptom| self.symptoms.get(&symptom).copied())
        };
        by_clause.or_else(by_what_binds).or_else(by_symptom)
    }

    /// Puts a run under a divergence.
    fn stands_under(&mut self, it: &Evidence<'_, P>, place: usize) {
        let Some(cause) = self.divergences.get_mut(place) else {
            return;
        };
        for Wrong { finding, .. } in it.first.iter().chain(&it.behind) {
            if finding.clause == cause.finding().clause {
                cause.also.extend(finding.also);
            } else {
                cause.consequences.insert(finding.clause);
            }
        }
    }

    /// The clauses that no run has shown broken before.
    fn news_in(&self, clauses: &BTreeSet<&'static str>) -> Vec<&'static str> {
        let is_known = |clause: &str| {
            let mut known = self.divergences.iter();
            known.any(|it| it.finding().clause == clause || it.consequences.contains(clause))
        };
        let news = clauses.iter().copied();
        news.filter(|clause| !is_known(clause)).collect()
    }

    /// Which ways to take the text still fit after a run: those that find nothing new in it. Where there are none, none of them
    /// explains the run, and all stay as they were.
    fn take_readings(&mut self, played: &Played<P>) {
        let fit = self
            .readings
            .iter()
            .map(|(taken, fits)| *fits && self.news_in(&played.found_by(&taken.judge)).is_empty());
        let fit: Vec<bool> = fit.collect();
        let Some(first) = fit.iter().position(|fits| *fits) else {
            return;
        };
        for ((_, fits), still) in self.readings.iter_mut().zip(&fit) {
            *fits = *still;
        }
        if !fit[self.reading] {
            self.reading = first;
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

    /// The shortest run that first goes wrong by this clause. Nothing, where the run does not.
    fn shortest(
        &mut self,
        evidence: &Evidence<'_, P>,
        clause: &'static str,
    ) -> Option<Divergence<P>> {
        let Evidence {
            run, played, seed, ..
        } = evidence;
        let wrong = self.unexplained(played, clause)?;
        let until = Instant::now() + self.shrinking;
        let mut steps = run.steps[..run.steps.len().min(wrong.at + 1)].to_vec();
        let last = steps.len().saturating_sub(1);
        // Most steps of a random run come to nothing.
        let likely = [&played.refused | &played.ignored, played.refused.clone()];
        let likely = likely.map(|idle| {
            let busy = (0..).zip(&steps);
            let busy = busy.filter(|(at, _)| *at == last || !idle.contains(at));
            busy.map(|(_, step)| step.clone()).collect::<Vec<_>>()
        });
        let mut seen = (Rc::clone(played), wrong);
        let mut in_vain = HashSet::new();
        let mut shows = |shorter: &[Step<Wire<P>>]| {
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
        for mut shorter in likely {
            if let Some((needed, again)) = shows(&shorter) {
                shorter.truncate(needed);
                (steps, seen) = (shorter, again);
                break;
            }
        }
        let seen = shrinking::shortest(&mut steps, seen, Driver::<P>::without, &mut shows);
        // A step may be there for the time alone that it takes.
        let (played, wrong) = shrinking::folded(&mut steps, seen, Driver::<P>::fold, &mut shows);
        let mut again = (0, 0);
        while again.1 < AGAIN && !self.is_over() {
            again.0 += u32::from(self.shows(&steps, clause).is_some());
            again.1 += 1;
        }
        let mut run = Run::of(steps);
        run.shows = wrong.finding.to_string();
        Some(Divergence {
            run,
            seed: *seed,
            played,
            also: wrong.finding.also.iter().copied().collect(),
            consequences: BTreeSet::new(),
            wrong,
            again,
        })
    }

    /// Whether these steps show something by this clause that no way to take the text explains.
    pub fn is_shown(&mut self, steps: &[Step<Wire<P>>], clause: &str) -> bool {
        self.shows(steps, clause).is_some()
    }

    /// What a run has come to, and what it first goes wrong by, where that is this clause. Nothing, where a way to take the text explains
    /// it, or the search is over.
    fn shows(&mut self, steps: &[Step<Wire<P>>], clause: &str) -> Option<(Rc<Played<P>>, Wrong)> {
        if self.is_over() {
            return None;
        }
        let judge = &self.readings[self.reading].0.judge;
        let played = play::<P, I>(&mut self.partner, steps, judge);
        let wrong = self.unexplained(&played, clause);
        self.ends_with(std::slice::from_ref(&played));
        let is_stopped = self.ended == Some(Ended::Stopped);
        wrong
            .filter(|_| !is_stopped)
            .map(|it| (Rc::new(played), it))
    }

    /// What a run first goes wrong by, where that is this clause, once no way to take the text explains what was put out so far.
    fn unexplained(&self, played: &Played<P>, clause: &str) -> Option<Wrong> {
        let first = played.first_wrong_by(&self.readings[self.reading].0.judge);
        let mut first = first.into_iter();
        let found = first.find(|it| it.finding.clause == clause)?;
        let others = self.readings.iter().filter(|(_, fits)| *fits);
        let others = others.map(|(taken, _)| played.first_found_by(&taken.judge));
        // Where one of them finds nothing, it explains all.
        let others: Option<Vec<usize>> = others.collect();
        let from = others?.into_iter().max().unwrap_or(0);
        if from <= found.calls {
            return Some(found);
        }
        // Up to there another way to take it explains the run.
        let told = played.told.get(from - 1)?;
        Some(Wrong {
            at: told.at,
            calls: from,
            ..found
        })
    }

    /// Whether a way to take the text that still fits finds nothing wrong.
    fn is_explained(&self, played: &Played<P>) -> bool {
        let fitting = self.readings.iter().filter(|(_, fits)| *fits);
        let mut first = fitting.map(|(taken, _)| played.first_found_by(&taken.judge));
        first.any(|it| it.is_none())
    }
}

impl<P: Spoken> Divergence<P> {
    /// What would have been right.
    pub const fn finding(&self) -> &Finding {
        &self.wrong.finding
    }

    /// The same, with the names of the run.
    pub fn expected(&self) -> String {
        self.played.named(&self.finding().text)
    }

    /// Writes the run into a folder, as `found-CLAUSE.json`; says where.
    ///
    /// # Errors
    ///
    /// What the system says if the file cannot be written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        self.run.keep(folder)
    }

    /// What was asked and answered in it, up to where it is wrong.
    pub fn told(&self) -> &[Told<Wire<P>>] {
        let told = &self.played.told;
        &told[..self.wrong.calls.min(told.len())]
    }

    /// The clauses that it goes against.
    pub fn clauses(&self) -> impl Iterator<Item = &'static str> {
        let also = self.also.iter().copied();
        [self.finding().clause].into_iter().chain(also)
    }

    /// What tells this divergence from others, the same in each search that finds it: its clause, and how the implementation was lost if
    /// it was. 12 hexadecimal digits.
    pub fn identity(&self) -> String {
        let lost = self.wrong.lost.as_ref();
        let lost = lost.map_or("", |it| it.fault.name());
        identity(&format!("{}\n{lost}", self.finding().clause))
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

impl<P: Spoken> std::fmt::Debug for Divergence<P> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let protocol = P::NAME;
        write!(
            formatter,
            "{protocol}: {}: {:?}",
            self.finding(),
            self.run.steps
        )
    }
}
