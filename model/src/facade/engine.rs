//! A text on the engine, as commands ask of it: stateright searches the named worlds, one after the other.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use std::thread;

use stateright::{Checker as _, Model as _};

use super::can::Putting;
use super::run::{Run, Step, describe, run_of};
use super::{Ablation, Explanation, Instead, Model, Number, Place, Property, Rule, Text, change};
use crate::bounds::BoundsError;
use crate::checker::{Broken, CheckReport, Kind, Limit, PropertyVerdict, STATES, StepText};
use crate::compare::{Compared, Difference};
use crate::departures::{Departure, What, taken_otherwise};
use crate::engine::checker::{Checker, Finding, Judgement};
use crate::engine::clause::{Clause, ClauseSet, Entry};
use crate::engine::model::{self, CONFORMS, Environment, Party, State, Statement};
use crate::engine::party::{Apart, Beside};
use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::{Freedom, Mismatch, World};
use crate::judge;
use crate::{numbers, readings};

/// What commands need of a protocol besides its text and its environment.
pub trait Catalog:
    Environment<Account: Default, Reading: Copy + Send + Sync, Bounds: Copy + PartialEq>
{
    /// The protocol's name on the command line.
    const NAME: &'static str;
    /// The places that can be read in more than one way.
    const PLACES: &'static [readings::Place<Self::Reading>];
    /// The numbers.
    const NUMBERS: &'static [numbers::Number<Self::Reading>];
    /// The worlds of the usual bounds, each a name of bounds as well.
    const WORLDS: &'static [(&'static str, Self::Bounds)];
    /// Bounds besides.
    const OTHER_WORLDS: &'static [(&'static str, Self::Bounds)];
    /// The numbers of the bounds.
    const SIZES: &'static [Size<Self::Bounds>];
    /// The longest runs of a changed text that are searched, in steps.
    const LONGEST: usize;

    /// What a party of these bounds, or of any, knows before anything has happened.
    fn account(_: Option<&Self::Bounds>) -> Self::Account {
        Self::Account::default()
    }
    /// What the party is called in words.
    const PARTY: &'static str;

    /// The time of a step: of the call, or to which the clock moves.
    fn at(step: &Step<Self>) -> i64;
    /// A time in words.
    fn time(at: i64) -> String {
        format!("t={}.{:03} s", at.div_euclid(1000), at.rem_euclid(1000))
    }
    /// Who says something, and what, in words.
    fn said(call: &Self::Call) -> (String, String);
    /// What an output makes of a thing, in words.
    fn becomes(_: &Self::Output) -> Option<(String, &'static str)> {
        None
    }
    /// An output in words.
    fn output_text(output: &Self::Output) -> String;
}

/// A number of the bounds.
#[derive(Debug)]
pub struct Size<B: 'static> {
    /// Its name.
    pub name: &'static str,
    /// The least that is possible.
    pub least: u8,
    /// The most that is possible.
    pub most: u8,
    /// What it is.
    pub get: fn(&B) -> u8,
    /// Changes it.
    pub set: fn(&mut B, u8),
}

/// What of the `Bounds` of a text can be set, as `SIZES`.
macro_rules! sizes {
    ($($name:literal $field:ident $least:literal $most:literal;)* flags $($flag_name:literal $flag:ident;)*) => {
        const SIZES: &[$crate::facade::engine::Size<Bounds>] = &[
            $($crate::facade::engine::Size {
                name: $name,
                least: $least,
                most: $most,
                get: |it| u8::try_from(it.$field).unwrap_or(u8::MAX),
                set: |it, value| it.$field = value.into(),
            },)*
            $($crate::facade::engine::Size {
                name: $flag_name,
                least: 0,
                most: 1,
                get: |it| u8::from(it.$flag),
                set: |it, value| it.$flag = value > 0,
            },)*
        ];
    };
}
pub(crate) use sizes;

/// So many are searched for everything that breaks by one rule.
const STATES_OF_A_RULE: usize = 150_000;
/// A search that has broken something goes on for what says most, unless it has so many.
const STATES_BEYOND: usize = 20_000;
/// The names of bounds that are all worlds.
const ALL: [&str; 2] = ["small", "default"];

/// A text on the engine within bounds, with what of it is left out or read otherwise.
#[derive(Clone, Debug)]
pub struct Variation<P: Catalog> {
    preset: &'static str,
    changes: Vec<(&'static str, u8)>,
    /// The worlds.
    pub worlds: Vec<(&'static str, P::Bounds)>,
    /// The text.
    pub variant: Variant<P>,
    is_literal: bool,
}

/// What there is to say about it.
pub(super) fn text<P: Catalog>() -> Text {
    Text {
        name: P::NAME,
        rules: P::CLAUSES.iter().map(rule).collect(),
        places: P::PLACES.iter().map(Place::from).collect(),
        numbers: P::NUMBERS.iter().map(Number::from).collect(),
        properties: P::GUARANTEES.iter().map(property).collect(),
        situations: P::WITNESSES.iter().map(property).collect(),
        longest: P::LONGEST,
        usual_bounds: ["default", "small"],
        within: |bounds| Ok(Arc::new(Variation::<P>::within(bounds)?)),
    }
}

/// The clause as it can be left out.
fn rule(clause: &'static Entry) -> Rule {
    Rule {
        name: clause.id,
        aliases: clause.aliases,
        clauses: std::slice::from_ref(&clause.id),
        gist: clause.gist,
        in_samples: clause.in_samples,
        free: clause.free,
    }
}

/// The sentence as plain data.
pub fn property<H: 'static>(statement: &Statement<H>) -> Property {
    let clauses = statement.clauses.split(", ").filter(|it| !it.is_empty());
    let clauses: Vec<&'static str> = clauses.collect();
    let chief = clauses.first();
    let chief = chief.map_or_else(String::new, |it| format!("{it} "));
    Property {
        name: format!("{chief}{}", statement.name),
        clauses,
    }
}

/// What a search has found.
struct Found<P: Environment> {
    /// The run to each sentence that is broken, or that has to be possible.
    runs: BTreeMap<&'static str, Run<P>>,
    states: usize,
    transitions: usize,
    /// The longest runs of which every one was searched.
    depth: usize,
    exhaustive: bool,
}

impl<P: Environment> Found<P> {
    fn nothing() -> Self {
        Self {
            runs: BTreeMap::new(),
            states: 0,
            transitions: 0,
            depth: 0,
            exhaustive: true,
        }
    }

    fn breaks_any(&self) -> bool {
        P::GUARANTEES
            .iter()
            .any(|it| self.runs.contains_key(it.name))
    }
}

fn id_of<P: Protocol>(clause: Clause) -> &'static str {
    P::CLAUSES.get(usize::from(clause.0)).map_or("", |it| it.id)
}

impl<P: Catalog> Variation<P> {
    fn within(text: &str) -> Result<Self, BoundsError> {
        let mut words = text.split(',');
        let name = words.next().unwrap_or_default();
        let known = P::WORLDS.iter().chain(P::OTHER_WORLDS);
        let all = ALL.into_iter().find(|it| *it == name);
        let (preset, mut worlds) = match all {
            Some(all) => (all, P::WORLDS.to_vec()),
            None => match known.clone().find(|it| it.0 == name) {
                Some(world) => (world.0, vec![*world]),
                None => {
                    return Err(BoundsError::UnknownPreset {
                        name: name.to_owned(),
                        known: ALL.into_iter().chain(known.map(|it| it.0)).collect(),
                    });
                }
            },
        };
        let mut changes: Vec<(&'static str, u8)> = Vec::new();
        for change in words {
            let no_change = || BoundsError::NoChange {
                text: change.to_owned(),
            };
            let (name, value) = change.split_once('=').ok_or_else(no_change)?;
            let value: u8 = value.parse().map_err(|_| no_change())?;
            let size = P::SIZES.iter().find(|it| it.name == name);
            let size = size.ok_or_else(|| BoundsError::UnknownNumber {
                name: name.to_owned(),
                known: P::SIZES.iter().map(|it| it.name).collect(),
            })?;
            let (name, least, most) = (size.name, size.least, size.most);
            if changes.iter().any(|it| it.0 == name) {
                return Err(BoundsError::ChangedTwice { name });
            }
            if !(least..=most).contains(&value) {
                return Err(BoundsError::OutOfRange {
                    name,
                    value,
                    least,
                    most,
                });
            }
            for (_, bounds) in &mut worlds {
                (size.set)(bounds, value);
            }
            changes.push((name, value));
        }
        // Worlds that no longer differ are one.
        let mut distinct: Vec<(&'static str, P::Bounds)> = Vec::new();
        for world in worlds {
            if distinct.iter().all(|it| it.1 != world.1) {
                distinct.push(world);
            }
        }
        Ok(Self {
            preset,
            changes,
            worlds: distinct,
            variant: Variant::default(),
            is_literal: false,
        })
    }

    fn of_same_text(model: &dyn Model) -> &Self {
        let same = model.as_any().downcast_ref();
        same.expect("both models are of one text")
    }

    /// The same within the same bounds, of another variant.
    fn of(&self, variant: Variant<P>) -> Self {
        Self {
            variant,
            ..self.clone()
        }
    }

    /// The text in force that no clause is left out of: what its reading judges.
    fn judging(&self) -> Variant<P> {
        Variant {
            left_out: ClauseSet::EMPTY,
            ..self.variant.clone()
        }
    }

    fn model<Q>(
        &self,
        variant: &Variant<P>,
        party: &Q,
        freedom: Freedom,
        bounds: P::Bounds,
    ) -> model::Model<P, Q>
    where
        Q: Party<P>,
    {
        let is_text = *variant == Variant::default() && self.variant == Variant::default();
        model::Model {
            variant: variant.clone(),
            party: party.clone(),
            bounds,
            freedom,
            forgets: is_text && !self.is_literal,
        }
    }

    /// Every conforming party of this text, before anything has happened.
    pub fn every_party(&self, bounds: P::Bounds) -> model::Model<P, World<P>> {
        let party = World::new(P::account(Some(&bounds)));
        self.model(&self.variant, &party, Freedom::May, bounds)
    }

    /// Searches every run of every conforming party; nothing in a world that has more than so many states.
    fn all_runs(&self, most: usize, progress: &mut dyn FnMut(usize)) -> Found<P> {
        let mut found = Found::nothing();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for &(_, bounds) in &self.worlds {
            let search = self.every_party(bounds).checker().threads(threads);
            let checker = search.target_state_count(most).spawn_dfs().join();
            for (name, path) in checker.discoveries() {
                found
                    .runs
                    .entry(name)
                    .or_insert_with(|| run_of(path.into_actions()));
            }
            found.states += checker.unique_state_count();
            found.transitions += checker.state_count();
            found.depth = found.depth.max(checker.max_depth());
            found.exhaustive &= checker.state_count() < most;
            progress(found.states);
        }
        found
    }

    /// Searches runs that become longer step by step, in all worlds, until they are too long, too many, or enough is found.
    /// So the run to whatever is found is a shortest one.
    fn deepen<Q: Party<P>>(
        &self,
        (variant, party, freedom): (&Variant<P>, &dyn Fn(P::Account) -> Q, Freedom),
        limit: Limit,
        is_enough: &dyn Fn(&Found<P>) -> bool,
        progress: &mut dyn FnMut(usize),
    ) -> Found<P> {
        let mut found = Found::nothing();
        found.exhaustive = false;
        for steps in 1..=limit.steps {
            let (mut states, mut transitions, mut is_whole) = (0, 0, true);
            for &(_, bounds) in &self.worlds {
                let left = limit.pairs.saturating_sub(transitions).max(1);
                let party = party(P::account(Some(&bounds)));
                let search = self.model(variant, &party, freedom, bounds).checker();
                // The start has the depth 1, and what has the greatest depth is not looked at.
                let search = search.target_max_depth(steps + 2).target_state_count(left);
                let checker = search.spawn_bfs().join();
                for (name, path) in checker.discoveries() {
                    let run = || run_of(path.into_actions());
                    found.runs.entry(name).or_insert_with(run);
                }
                states += checker.unique_state_count();
                transitions += checker.state_count();
                is_whole &= checker.max_depth() < steps + 2;
                progress(states);
            }
            let is_cut = transitions >= limit.pairs;
            if !is_cut {
                (found.states, found.transitions) = (states, transitions);
                found.depth = steps;
                found.exhaustive = is_whole;
            }
            if is_cut || is_whole || is_enough(&found) {
                break;
            }
        }
        found
    }

    /// The shortest runs to what breaks a guarantee: to all that does within the limit, or to the first.
    fn broken(&self, limit: Limit, is_first: bool, progress: &mut dyn FnMut(usize)) -> Found<P> {
        let is_enough = |found: &Found<P>| {
            let is_long = found.transitions > STATES_BEYOND;
            is_first && found.breaks_any() && (is_long || self.is_telling(found))
        };
        let search = (&self.variant, &World::new as &dyn Fn(_) -> _, Freedom::May);
        self.deepen(search, limit, &is_enough, progress)
    }

    /// Whether a guarantee is broken that each clause that is left out states before all others, if there is one.
    fn is_telling(&self, found: &Found<P>) -> bool {
        let left_out = self.variant.left_out.iter().map(id_of::<P>);
        let mut left_out = left_out.map(|clause| {
            let is_chief = move |it: &&Statement<P::History>| {
                it.clauses.split(", ").next().is_some_and(|it| it == clause)
            };
            P::GUARANTEES.iter().filter(is_chief)
        });
        left_out.all(|mut stated| {
            let is_broken = |it: &Statement<P::History>| found.runs.contains_key(it.name);
            stated.clone().next().is_none() || stated.any(is_broken)
        })
    }

    /// The shortest run of a party of this text that the checkers of all those texts refuse.
    fn refused(
        &self,
        texts: &[Variant<P>],
        limit: Limit,
        progress: &mut dyn FnMut(usize),
    ) -> Found<P> {
        let party = |account| Apart::new(self.variant.clone(), texts, account);
        let is_enough = |found: &Found<P>| found.runs.contains_key(CONFORMS);
        let search = (&self.variant, &party as &dyn Fn(_) -> _, Freedom::May);
        self.deepen(search, limit, &is_enough, progress)
    }

    /// What the checker of a text says of each step of a run; of what is no call nothing.
    fn judged(by: &Variant<P>, run: &[Step<P>]) -> Vec<Option<Finding<P::Output>>> {
        let mut checker = Checker::new(P::account(None));
        let judge = |step: &Step<P>| match step {
            Step::Move(_) => None,
            Step::Call { call, outputs, .. } => match checker.observe(by, call, outputs) {
                Judgement::Found(finding) => Some(finding),
                Judgement::Conforms | Judgement::TooManyExplanations => None,
            },
        };
        run.iter().map(judge).collect()
    }

    /// What the checker of the whole text says of each step of a run.
    pub fn wrong(&self, run: &[Step<P>]) -> Vec<Vec<judge::Finding>> {
        let kind = judge::Kind::Conformance;
        let said = Self::judged(&self.judging(), run).into_iter();
        said.map(|it| {
            it.iter()
                .map(|found| self.finding(Some(found), kind, ""))
                .collect()
        })
        .collect()
    }

    fn can_have(by: &Variant<P>, run: &[Step<P>]) -> bool {
        Self::judged(by, run).iter().all(Option::is_none)
    }

    /// The first step at which the checker of a text finds something, and what a party of it puts out there instead.
    fn instead(by: &Variant<P>, run: &[Step<P>]) -> Option<Instead> {
        let judged = Self::judged(by, run);
        let at = judged.iter().position(Option::is_some)?;
        let step = Self::answer(by, run.get(..=at)?);
        Some(Instead {
            step: at + 1,
            changes: step.map(|it| it.changes),
        })
    }

    /// The variant with that one thing as another has it.
    fn less(&self, other: &Variant<P>, departure: &Departure) -> Variant<P> {
        let mut less = self.variant.clone();
        match departure.what {
            What::Lost | What::Kept => {
                let place = P::CLAUSES.iter().position(|it| it.id == departure.name);
                let clause = place.and_then(|it| u8::try_from(it).ok()).map(Clause);
                let kept = less.left_out.iter().filter(|it| Some(*it) != clause);
                less.left_out = kept.fold(ClauseSet::EMPTY, ClauseSet::with);
                if let Some(clause) = clause.filter(|it| other.left_out.contains(*it)) {
                    less.left_out = less.left_out.with(clause);
                }
            }
            What::Reading | What::Number => {
                let changes = [(departure.name, departure.other.as_str())];
                less.reading = change(P::PLACES, P::NUMBERS, less.reading, changes);
            }
        }
        less
    }

    /// Of what it differs in from another, that without which it could not have a run, none of it for nothing.
    fn needed(&self, other: &Self, run: &[Step<P>]) -> Vec<Departure> {
        let mut least = self.clone();
        let mut needed = Model::departures(self, other);
        needed.retain(|departure| {
            let less = least.less(&other.variant, departure);
            let can_have = Self::can_have(&less, run);
            if can_have {
                least = least.of(less);
            }
            !can_have
        });
        needed
    }

    /// The finding as reports have it: by the clause that is left out if it explains the run, and by that which states the guarantee
    /// where the checker names none.
    fn finding(
        &self,
        finding: Option<&Finding<P::Output>>,
        kind: judge::Kind,
        otherwise: &'static str,
    ) -> judge::Finding {
        let is_left_out = |it: &Clause| self.variant.left_out.contains(*it);
        let clause = finding.and_then(|it| {
            let named = it.clause.into_iter().chain(it.also.iter().copied());
            let mut named = named.chain(it.beside);
            named.find(is_left_out).or(it.clause)
        });
        let clause = clause.map(id_of::<P>);
        let text = finding.map(|it| match &it.mismatch {
            Mismatch::Unexpected { output, .. } => {
                format!("{} is put out, and must not be", P::output_text(output))
            }
            Mismatch::Missing { output, .. } => {
                format!("{} must be put out", P::output_text(output))
            }
        });
        judge::Finding {
            clause: clause.unwrap_or(otherwise),
            also: &[],
            kind,
            text: text.unwrap_or_else(|| "the run breaks the guarantee".to_owned()),
        }
    }

    /// Every guarantee and situation with its verdict; and whether the checker refuses a run, where clauses are left out.
    fn verdicts(&self, found: &Found<P>, refused: Option<&Found<P>>) -> Vec<PropertyVerdict> {
        let by = self.judging();
        let verdict = |statement: &Property, kind, run: Option<&Run<P>>| PropertyVerdict {
            name: statement.name.clone(),
            clauses: statement.clauses.clone().into(),
            kind,
            finding: None,
            holds: run.is_some() == (kind == Kind::Sometimes),
            steps: match (kind, run) {
                (Kind::Always, Some(run)) => describe::<P>(run),
                (Kind::Always | Kind::Sometimes, _) => Vec::new(),
            },
        };
        let always = P::GUARANTEES.iter().map(|it| {
            let (run, statement) = (found.runs.get(it.name), property(it));
            let mut verdict = verdict(&statement, Kind::Always, run);
            if let Some(run) = run {
                let judged = Self::judged(&by, run);
                let finding = judged.iter().flatten().next_back();
                let otherwise = statement.clauses.first().copied().unwrap_or_default();
                let kind = judge::Kind::Guarantee;
                verdict.finding = Some(self.finding(finding, kind, otherwise));
            }
            verdict
        });
        let conforms = refused.map(|refused| {
            let run = refused.runs.get(CONFORMS);
            let mut statement = Property {
                name: CONFORMS.to_owned(),
                clauses: Vec::new(),
            };
            let finding = run.map(|run| {
                let judged = Self::judged(&by, run);
                let finding = judged.iter().flatten().next_back();
                self.finding(finding, judge::Kind::Conformance, "")
            });
            if let Some(finding) = &finding {
                statement.clauses = vec![finding.clause];
                statement.name = format!("{} {CONFORMS}", finding.clause);
            }
            PropertyVerdict {
                finding,
                ..verdict(&statement, Kind::Always, run)
            }
        });
        let sometimes = P::WITNESSES.iter();
        let sometimes =
            sometimes.map(|it| verdict(&property(it), Kind::Sometimes, found.runs.get(it.name)));
        always.chain(conforms).chain(sometimes).collect()
    }

    /// A run of this model that is told by its steps.
    pub fn taken(&self, steps: &[StepText]) -> Option<Run<P>> {
        self.worlds.iter().find_map(|&(_, bounds)| {
            let model = self.every_party(bounds);
            let start = model.init_states().into_iter().next()?;
            let mut run = Vec::new();
            is_taken(&model, &start, steps, &mut run).then_some(run)
        })
    }

    fn compared(found: &Found<P>, difference: Option<Difference>) -> Compared {
        Compared {
            difference,
            allowed: None,
            steps: found.depth,
            states: found.states,
            exhaustive: found.exhaustive,
        }
    }

    /// The shortest run that the other refuses, however it keeps what this one keeps; where there is none, the shortest in which a
    /// party of the other does otherwise of itself.
    fn first_apart(&self, other: &Self, limit: Limit, progress: &mut dyn FnMut(usize)) -> Compared {
        let differing = Model::departures(self, other);
        let kept: Vec<_> = differing
            .iter()
            .filter(|it| it.what == What::Kept)
            .collect();
        let (own, others) = (self.variant.left_out, &other.variant);
        let left_out = others.left_out.iter().filter(|it| own.contains(*it));
        let keeping = Variant {
            left_out: left_out.fold(ClauseSet::EMPTY, ClauseSet::with),
            ..others.clone()
        };
        let mut compared = None;
        if keeping != self.variant {
            let mut texts = vec![keeping.clone()];
            texts.extend((!kept.is_empty()).then(|| others.clone()));
            let found = self.refused(&texts, limit, progress);
            let difference = found.runs.get(CONFORMS).map(|run| Difference {
                steps: describe::<P>(run),
                instead: Self::answer(others, run),
                needs: self.needed(other, run),
            });
            compared = Some(Self::compared(&found, difference));
        }
        if let Some(compared) = compared.take_if(|it| it.difference.is_some()) {
            return compared;
        }
        let (leader, what) = if kept.is_empty() {
            (self.variant.clone(), differing.iter().collect())
        } else {
            (keeping, kept)
        };
        let both = |account| Beside::new([leader.clone(), others.clone()], account);
        let is_enough = |found: &Found<P>| found.runs.contains_key(CONFORMS);
        let search = (others, &both as &dyn Fn(_) -> _, Freedom::Default);
        let freed = self.deepen(search, limit, &is_enough, progress);
        let allowed = freed.runs.get(CONFORMS).map(|run| {
            let instead = Self::answer(others, run);
            let bears = |it: &&&Departure| {
                let so = other.less(&self.variant, &it.mirrored());
                Self::answer(&so, run) != instead
            };
            let needs: Vec<Departure> = what.iter().filter(bears).copied().cloned().collect();
            Difference {
                steps: describe::<P>(run),
                instead,
                needs,
            }
        });
        let compared = compared.unwrap_or_else(|| Compared {
            exhaustive: true,
            ..Self::compared(&freed, None)
        });
        Compared {
            allowed,
            ..compared
        }
    }

    /// What a party of another text puts out in the last step of a run.
    fn answer(by: &Variant<P>, run: &[Step<P>]) -> Option<StepText> {
        let (last, before) = run.split_last()?;
        let Step::Call { call, .. } = last else {
            return None;
        };
        let mut checker = Checker::new(P::account(None));
        for step in before {
            if let Step::Call { call, outputs, .. } = step {
                checker.observe(by, call, outputs);
            }
        }
        let mut answer = Vec::new();
        let world = checker.worlds().first()?;
        world.answers(by, Freedom::Default, call, |_, outputs| answer = outputs);
        let mut so = before.to_vec();
        so.push(Step::Call {
            call: call.clone(),
            outputs: answer,
            lost: 0,
        });
        describe::<P>(&so).pop()
    }
}

/// Whether the model has these steps from here on; then they are added to the run.
fn is_taken<P: Catalog>(
    model: &model::Model<P, World<P>>,
    state: &State<P, World<P>>,
    steps: &[StepText],
    run: &mut Run<P>,
) -> bool {
    let Some((first, rest)) = steps.split_first() else {
        return true;
    };
    let mut actions = Vec::new();
    model.actions(state, &mut actions);
    for action in actions {
        run.extend(run_of(vec![action.clone()]));
        if describe::<P>(run).last() == Some(first)
            && let Some(next) = model.next_state(state, action)
            && is_taken(model, &next, rest, run)
        {
            return true;
        }
        run.pop();
    }
    false
}

impl<P: Catalog> Model for Variation<P> {
    fn text(&self) -> &'static Text {
        super::text(P::NAME).expect("the text is registered")
    }

    fn bounds(&self) -> String {
        let changes = self.changes.iter();
        let changes = changes.map(|(name, value)| format!(",{name}={value}"));
        self.preset.to_owned() + &changes.collect::<String>()
    }

    fn left_out(&self) -> Vec<&'static Rule> {
        let rules = (0..).map(Clause).zip(&self.text().rules);
        let left_out = rules.filter(|(clause, _)| !self.variant.enforces(*clause));
        left_out.map(|(_, rule)| rule).collect()
    }

    fn has_quotient(&self) -> bool {
        !self.is_literal && !Model::departs(self)
    }

    fn departs(&self) -> bool {
        self.variant != Variant::default()
    }

    fn with(&self, left_out: &[&'static Rule], changes: &[(&str, &str)]) -> Arc<dyn Model> {
        let is_left_out = |clause: &Entry| left_out.iter().any(|it| it.name == clause.id);
        let clauses = (0..).map(Clause).zip(P::CLAUSES);
        let clauses = clauses.filter(|(_, clause)| is_left_out(clause));
        let left_out = clauses.fold(ClauseSet::EMPTY, |all, (it, _)| all.with(it));
        let reading = self.variant.reading;
        Arc::new(self.of(Variant {
            left_out,
            reading: change(P::PLACES, P::NUMBERS, reading, changes.iter().copied()),
            hidden: 0,
        }))
    }

    fn as_it_stands(&self) -> Arc<dyn Model> {
        Arc::new(self.of(Variant::default()))
    }

    fn literal(&self) -> Arc<dyn Model> {
        Arc::new(Self {
            is_literal: true,
            ..self.clone()
        })
    }

    fn departures(&self, other: &dyn Model) -> Vec<Departure> {
        let other = Self::of_same_text(other);
        let [own, others] = [self, other].map(|it| it.variant.left_out);
        let rules = (0..).map(Clause).zip(&self.text().rules);
        let rules = rules.filter(|(it, _)| own.contains(*it) != others.contains(*it));
        let rules = rules.map(|(clause, rule)| Departure {
            what: if own.contains(clause) {
                What::Lost
            } else {
                What::Kept
            },
            name: rule.name,
            clauses: rule.clauses,
            value: String::new(),
            other: String::new(),
            usual: String::new(),
        });
        let usual = P::Reading::default();
        let readings = [self.variant.reading, other.variant.reading, usual];
        rules
            .chain(taken_otherwise(P::PLACES, P::NUMBERS, readings))
            .collect()
    }

    fn check(&self, whole: bool, progress: &mut dyn FnMut(usize)) -> CheckReport {
        let is_complete = self.variant.left_out.is_empty();
        let limit = Limit {
            pairs: if whole { usize::MAX } else { STATES },
            ..Limit::default()
        };
        let refused = (!is_complete).then(|| self.refused(&[self.judging()], limit, progress));
        let mut found = if is_complete {
            let departs = Model::departs(self) && !whole;
            let most = if departs { 10 * STATES } else { usize::MAX };
            self.all_runs(most, progress)
        } else {
            Found::nothing()
        };
        if !is_complete || found.breaks_any() {
            let shortest = self.broken(limit, !whole, progress);
            let is_broken = shortest.breaks_any();
            let runs = std::mem::replace(&mut found, shortest).runs;
            for (name, run) in runs {
                // What breaks in runs that are too long to search for the shortest is broken all the same.
                if !is_broken || P::WITNESSES.iter().any(|it| it.name == name) {
                    found.runs.entry(name).or_insert(run);
                }
            }
        }
        CheckReport {
            unique_states: found.states,
            transitions: found.transitions,
            depth: found.depth,
            exhaustive: found.exhaustive,
            properties: self.verdicts(&found, refused.as_ref()),
        }
    }

    fn broken_within(&self, steps: usize) -> Broken {
        let limit = Limit {
            steps,
            pairs: STATES_OF_A_RULE,
        };
        let left_out = self.variant.left_out;
        let refused =
            (!left_out.is_empty()).then(|| self.refused(&[self.judging()], limit, &mut |_| {}));
        let found = self.broken(limit, false, &mut |_| {});
        let mut properties = self.verdicts(&found, refused.as_ref());
        properties.retain(|it| it.kind == Kind::Always && !it.holds);
        Broken {
            properties,
            steps: found.depth,
            states: found.states,
        }
    }

    fn leave_out(&self, rule: &'static Rule) -> Ablation {
        let left_out: Vec<_> = Model::left_out(self).into_iter().chain([rule]).collect();
        let without = Model::with(self, &left_out, &[]);
        let without = Self::of_same_text(&*without);
        let limit = Limit {
            steps: P::LONGEST,
            pairs: STATES_OF_A_RULE,
        };
        let found = without.broken(limit, true, &mut |_| {});
        let is_judged = !found.breaks_any();
        let refused = is_judged.then(|| without.refused(&[without.judging()], limit, &mut |_| {}));
        let mut breaks = without.verdicts(&found, refused.as_ref());
        breaks.retain(|it| it.kind == Kind::Always && !it.holds);
        Ablation { rule, breaks }
    }

    fn apart(&self, other: &dyn Model, limit: Limit, progress: &mut dyn FnMut(usize)) -> Compared {
        self.first_apart(Self::of_same_text(other), limit, progress)
    }

    fn can(&self, outputs: &[String], limit: Limit, progress: &mut dyn FnMut(usize)) -> Compared {
        let wanted: Arc<[String]> = outputs.into();
        let party = |account| Putting::new(account, Arc::clone(&wanted));
        let is_enough = |found: &Found<P>| found.runs.contains_key(CONFORMS);
        let search = (&self.variant, &party as &dyn Fn(_) -> _, Freedom::May);
        let found = self.deepen(search, limit, &is_enough, progress);
        let difference = found.runs.get(CONFORMS).map(|run| Difference {
            steps: describe::<P>(run),
            instead: None,
            needs: Vec::new(),
        });
        Self::compared(&found, difference)
    }

    fn apart_by_each(
        &self,
        other: &dyn Model,
        found: &Compared,
        limit: Limit,
    ) -> Vec<(Departure, Compared)> {
        let mut rest = Model::departures(self, other);
        let other = Self::of_same_text(other);
        if rest.len() < 2 {
            return Vec::new();
        }
        if let Some(told) = found.told() {
            rest.retain(|it| !told.needs.contains(it));
        }
        let by_it = |departure: Departure| {
            let one = other.less(&self.variant, &departure.mirrored());
            let compared = other.of(one).first_apart(other, limit, &mut |_| {});
            (departure, compared)
        };
        rest.into_iter().map(by_it).collect()
    }

    fn explain(&self, steps: &[StepText]) -> Explanation {
        let text = self.of(Variant::default());
        let Some(run) = self.taken(steps) else {
            return Explanation {
                needs: Model::departures(self, &text),
                instead: None,
            };
        };
        Explanation {
            needs: self.needed(&text, &run),
            instead: Self::instead(&text.variant, &run),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
