//! The suite: short runs for any implementation, derived from the text of its protocol.
//!
//! The one thing to know: a run of the model becomes steps of the driver ([`OfModel`]). For each rule that is left out there is, for each
//! clause that the judge then names, the shortest run that shows it; and for each witness the shortest run to it. The runs are
//! committed files, which [`derive()`] makes again. Nothing in a run says what is right: that is for the judge.

pub mod party;
pub mod replay;
pub mod vectors;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

use countersign_model::ablation;
use countersign_model::bounds::Bounds;
use countersign_model::judge::Kind;
use countersign_model::judged::{Found, Limit, Told, search};
use countersign_model::properties::PropertyRow;
use countersign_model::rules::Rules;
use countersign_model::specification::{self, Modelled, Specification};
use countersign_model::table::Tabled;
use countersign_protocol::{Greeting, Protocol};
use serde::{Deserialize, Serialize};

use crate::driven::{self, Driven, Others, Run};
use crate::implementation::{Greeted, Implementation};
use crate::shrinking;

/// A driver for which there is a suite.
pub trait Suited: Driven {
    /// The suite as it is committed: the runs of the text, and those for clauses that none of them exercises.
    const COMMITTED: [&'static str; 2];

    /// The ways in which the text can be taken where these of its places and numbers are settled, each by name and value; the default
    /// first.
    fn readings_where(
        greeting: &Greeting<Self::Protocol>,
        settled: &[(&str, &str)],
    ) -> Vec<driven::Taken<Self::Judge>>;

    /// What every run ends with, so that what has happened can be seen: time passes, and the process dies and comes back.
    fn ends(steps: &[Self::Step]) -> Vec<Self::Step>;
}

/// A driver whose steps the runs of a model can be put into.
pub trait OfModel: Suited {
    /// The model of the protocol.
    type Model: Modelled;
    /// What a run has named so far.
    type Names: Clone + Default;

    /// The steps that a step of the model is; none for a step of the world around the party.
    fn steps_of(names: &mut Self::Names, taken: &Taken<'_, Self::Model>) -> Vec<Self::Step>;
}

/// A step of a model.
pub struct Taken<'a, T: Modelled> {
    /// The state before it.
    pub before: &'a T::State,
    /// The step.
    pub action: T::Action,
    /// What the judge is told of it.
    pub told: Told<T>,
    /// The state behind it.
    pub after: &'a T::State,
}

/// The version of the form in which a suite is written.
const VERSION: u32 = 1;

/// So many runs are in a suite at most.
const MOST_RUNS: usize = 2_000;

/// The runs of a protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Suite<D: Driven> {
    /// The form in which it is written.
    version: u32,
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// The runs, without what each ends with.
    pub runs: Vec<Short<D>>,
    /// What has no run, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Short<D: Driven> {
    /// What it shows: rules that are left out, each with the clause by which that is seen, and witnesses.
    pub shows: Vec<String>,
    /// The steps.
    pub steps: Vec<D::Step>,
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
pub fn committed<D: Suited>() -> Suite<D> {
    let [of_model, of_clauses] = of_parts::<D>();
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
pub fn of_parts<D: Suited>() -> [Suite<D>; 2] {
    D::COMMITTED.map(|part| serde_json::from_str(part).expect("a committed suite is one"))
}

/// The runs for clauses, and behind them more for the clauses that the suite does not exercise with this party, which is taken to be
/// right: for each the shortest that was found, among so many seeds, in which it could have given an answer that is wrong by it.
pub fn for_clauses<D: Suited, I: Implementation<D::Protocol>>(
    partner: &mut Greeted<D::Protocol, I>,
    of_clauses: Suite<D>,
    seeds: u64,
) -> Suite<D> {
    let [of_model, _] = of_parts::<D>();
    let mut suite = of_clauses;
    let mut others = Others::default();
    for part in [&of_model, &suite] {
        part.tries::<I>(partner, &mut others);
    }
    for seed in 1..=seeds {
        let run = Run::<D>::seeded(seed, 12 + usize::try_from(seed % 24).unwrap_or(0));
        // No run is for this one, so that all is tried.
        let news = tried_for::<D, I>(partner, &run.steps, "", &others);
        let known = others.exercised.clone();
        for clause in news.exercised.difference(&known) {
            if others.exercised.contains(clause) {
                continue;
            }
            let mut steps = run.steps.clone();
            let seen = tried_for::<D, I>(partner, &steps, clause, &others);
            others = shrinking::shortest(&mut steps, seen, D::without, |shorter| {
                let again = tried_for::<D, I>(partner, shorter, clause, &others);
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
pub fn tried_for<D: Driven, I: Implementation<D::Protocol>>(
    partner: &mut Greeted<D::Protocol, I>,
    steps: &[D::Step],
    clause: &str,
    others: &Others<D>,
) -> Others<D> {
    let judge = D::judge(partner.greeting());
    let mut others = others.clone();
    others.tries_for([clause]);
    let _right = driven::play::<D, I>(partner, steps, &judge, Some(&mut others));
    others
}

impl<D: Driven> Short<D> {
    /// The clauses that it is there for: those by which it shows that a rule is left out, or the one that no run of the model
    /// exercises.
    pub fn clauses(&self) -> impl Iterator<Item = &str> {
        self.shows.iter().filter_map(|shown| {
            let (what, clause) = shown.split_once(": ")?;
            (what == "clause" || what.starts_with("without ")).then_some(clause)
        })
    }
}

impl<D: Suited> Suite<D> {
    /// The runs as they are played.
    pub fn played(&self) -> impl Iterator<Item = Run<D>> {
        self.runs.iter().map(|short| {
            let steps = short.steps.iter().cloned().chain(D::ends(&short.steps));
            Run {
                shows: short.shows.join("; "),
                ..Run::of(steps.collect())
            }
        })
    }

    /// Plays all with a party that is taken to be right, for the clauses by which another answer would have been wrong.
    pub fn tries<I: Implementation<D::Protocol>>(
        &self,
        partner: &mut Greeted<D::Protocol, I>,
        others: &mut Others<D>,
    ) {
        let judge = D::judge(partner.greeting());
        for (short, run) in self.runs.iter().zip(self.played()) {
            others.tries_for(short.clauses());
            let _right = driven::play::<D, I>(partner, &run.steps, &judge, Some(others));
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

/// Makes the suite from the model; `progress` is told what is searched for next.
///
/// # Panics
///
/// Where a preset is out of range, or there are more runs than a suite may have.
pub fn derive<D: OfModel>(mut progress: impl FnMut(&str)) -> Suite<D> {
    let [small, ..] = <D::Model as Modelled>::Bounds::PRESETS;
    let model = Specification::<D::Model>::new(small).expect("the preset is in range");
    let mut derived = Derived::<D>::default();
    for row in <D::Model as Modelled>::Guard::ROWS {
        progress(row.name);
        let within = model.showing(row.with);
        let alone = Rules::all().without(row.guard);
        let mut rules = alone;
        let mut found = broken(&within, rules);
        if found.is_empty()
            && row.free.is_none()
            && let Some(masking) = ablation::leave_out(&model, row).masked_by
        {
            rules = alone.without(masking);
            found = broken(&within, rules);
            let by_other = broken(&within, Rules::all().without(masking));
            found.retain(|key, _| !by_other.contains_key(key));
        }
        if found.is_empty() {
            let reason = row.free.unwrap_or("no run of the model shows it");
            derived.leaves_out(format!("without {}", row.name), reason);
        }
        let literal = within.with(rules, within.reading);
        for ((clause, _), found) in found {
            let shows = format!("without {}: {clause}", row.name);
            derived.add(shows, &literal, &found.run);
        }
    }
    let rows = <D::Model as Modelled>::WITNESSES.iter();
    let needs: BTreeSet<_> = rows.map(|row| row.with).collect();
    for need in needs {
        progress(need.unwrap_or("witnesses"));
        let within = model.showing(need);
        for (row, run) in witnesses(&within, need) {
            derived.add(format!("witness: {}", row.name()), &within, &run);
        }
    }
    derived.suite()
}

type Broken<T> = BTreeMap<(&'static str, Kind), Found<<T as Modelled>::Action>>;

/// What the judge finds where these rules alone are kept, each with a shortest run.
fn broken<T: Modelled>(model: &Specification<T>, rules: Rules<T::Guard>) -> Broken<T> {
    let limit = Limit {
        steps: T::LONGEST,
        ..Limit::default()
    };
    let mut found = search(&model.with(rules, model.reading), limit, |_| {}).found;
    // Each finding once, by the clause that is its own.
    found.retain(|(clause, _), it| it.finding.clause == *clause);
    found
}

/// A shortest run to each witness that needs this of the bounds.
fn witnesses<T: Modelled>(
    model: &Specification<T>,
    need: Option<&str>,
) -> Vec<(&'static PropertyRow, Vec<T::Action>)> {
    let rows = T::WITNESSES.iter().enumerate();
    let mut wanted = rows
        .filter(|(_, row)| row.with == need)
        .fold(0, |mask, (place, _)| mask | 1_u128 << place);
    let start = model.start();
    let mut reached = vec![(start, 0, None)];
    let mut known = HashSet::from([start]);
    let (mut found, mut actions, mut from) = (Vec::new(), Vec::new(), 0);
    while wanted != 0 && from < reached.len() {
        let state = reached[from].0;
        actions.clear();
        model.actions(&state, &mut actions);
        for &action in &actions {
            let Some(taken) = T::take(model, &state, action, wanted) else {
                continue;
            };
            let seen = (0..T::WITNESSES.len()).filter(|place| taken.witnessed >> place & 1 == 1);
            for place in seen {
                let mut run = vec![action];
                let mut back = from;
                while let (_, before, Some(action)) = reached[back] {
                    run.push(action);
                    back = before;
                }
                run.reverse();
                found.push((place, run));
            }
            wanted &= !taken.witnessed;
            let next = model.reduced(&taken.next);
            if known.insert(next) {
                reached.push((next, from, Some(action)));
            }
        }
        from += 1;
    }
    found.sort_by_key(|(place, _)| *place);
    let row = |place: usize| &T::WITNESSES[place];
    found
        .into_iter()
        .map(|(place, run)| (row(place), run))
        .collect()
}

/// What was derived so far.
pub(crate) struct Derived<D: Driven> {
    runs: Vec<Short<D>>,
    left_out: Vec<LeftOut>,
}

impl<D: Driven> Default for Derived<D> {
    fn default() -> Self {
        Self {
            runs: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl<D: OfModel> Derived<D> {
    fn add(&mut self, what: String, model: &Specification<D::Model>, run: &[ActionOf<D>]) {
        let steps = translated::<D>(model, run);
        if steps.is_empty() {
            self.leaves_out(what, "no call of it is one of the driver protocol");
        } else {
            self.shows(what, steps);
        }
    }
}

impl<D: Driven> Derived<D> {
    /// That has no run.
    pub(crate) fn leaves_out(&mut self, what: String, reason: &str) {
        let reason = reason.to_owned();
        self.left_out.push(LeftOut { what, reason });
    }

    /// That has this run.
    pub(crate) fn shows(&mut self, what: String, steps: Vec<D::Step>) {
        match self.runs.iter_mut().find(|it| it.steps == steps) {
            Some(known) => known.shows.push(what),
            None => self.runs.push(Short {
                shows: vec![what],
                steps,
            }),
        }
    }

    /// The steps of each run.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Vec<D::Step>> {
        self.runs.iter().map(|it| &it.steps)
    }

    /// What a longer run begins with need not be played by itself.
    pub(crate) fn suite(mut self) -> Suite<D> {
        self.runs
            .sort_by_key(|it| std::cmp::Reverse(it.steps.len()));
        let mut runs: Vec<Short<D>> = Vec::new();
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
            protocol: D::Protocol::NAME.to_owned(),
            runs,
            left_out: self.left_out,
        }
    }
}

/// A step of the model of a driver.
pub type ActionOf<D> = <<D as OfModel>::Model as Modelled>::Action;
/// A state of the model of a driver.
pub type StateOf<D> = <<D as OfModel>::Model as Modelled>::State;

/// The steps that an action of the model is in this state; none for one of the world around the party.
fn steps_taken<D: OfModel>(
    names: &mut D::Names,
    (before, action): (&StateOf<D>, ActionOf<D>),
    taken: &specification::Taken<D::Model>,
) -> Vec<D::Step> {
    let after = &taken.next;
    let of = |told| {
        let taken = Taken {
            before,
            action,
            told,
            after,
        };
        D::steps_of(names, &taken)
    };
    taken.told.map_or_else(Vec::new, of)
}

/// A run of the model in steps of the driver.
pub fn translated<D: OfModel>(
    model: &Specification<D::Model>,
    run: &[ActionOf<D>],
) -> Vec<D::Step> {
    let mut names = D::Names::default();
    let mut steps = Vec::new();
    let mut before = model.start();
    for &action in run {
        let Some(taken) = D::Model::take(model, &before, action, 0) else {
            break;
        };
        steps.extend(steps_taken::<D>(&mut names, (&before, action), &taken));
        before = model.reduced(&taken.next);
    }
    steps
}
