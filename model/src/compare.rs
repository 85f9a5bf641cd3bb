//! Two settings of one text beside each other: what a party of one does that no party of the other can.
//!
//! The one thing to know: parties are told apart by requests and outputs alone. The search goes breadth first over a state of the
//! one that leads and the states in which the other can be after the same requests and outputs; what it finds counts only where
//! no way of the other leads to the same, whatever the world around it has done in between ([`Worlds`]). Both are asked whatever
//! either of them has something to offer for: a model offers what tells by its own reading and numbers. A party does one thing where a
//! text may leave it several: a run is allowed by the other unless its judge finds something in it. A text without a rule forbids
//! nothing that the text with it allows: what the leader does by a rule that the other leaves out is no longer required, and allowed.

use std::hash::Hash;
use std::mem;

use crate::checker::{StepText, describe_run};
use crate::departures::{Departure, What, departures, needed, without};
use crate::judge::Finding;
use crate::judged::{CallTold, InSearch as _, Limit, Told};
use crate::lookup::Lookup;
use crate::numbered::fingerprint;
use crate::specification::{Modelled, Specification};

/// A run that a party of one setting can have and no party of the other, or not of itself.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its steps; the last is the one in which they differ.
    pub steps: Vec<StepText>,
    /// What comes of the same request under the other setting; nothing where it is not asked there, or comes unasked.
    pub instead: Option<StepText>,
    /// Of what the one differs in from the other, that without which it could not have the run either.
    pub needs: Vec<Departure>,
}

/// What a search for such a run came to.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The shortest run; none where none was found.
    pub difference: Option<Difference>,
    /// Where none was found: the shortest run in which a party of the other does otherwise of itself, though it may do the same: the
    /// text leaves it free, or leaves out the rule that required it ([`Difference::is_no_longer_required`]).
    pub allowed: Option<Difference>,
    /// The longest runs of which every one was looked at, in steps.
    pub steps: usize,
    /// States of both together that differ, in these runs.
    pub states: usize,
    /// Whether every run was looked at.
    pub exhaustive: bool,
}

impl Compared {
    /// The run that is told: one that no party of the other can have, else one in which it may do otherwise.
    pub fn told(&self) -> Option<&Difference> {
        self.difference.as_ref().or(self.allowed.as_ref())
    }

    /// The same, unless it is one in which the text merely leaves the other free.
    pub fn told_unless_free(&self) -> Option<&Difference> {
        let allowed = self.allowed.as_ref();
        let freed = allowed.filter(|it| it.is_no_longer_required());
        self.difference.as_ref().or(freed)
    }
}

impl Difference {
    /// Whether it takes a rule that the one keeps and the other leaves out.
    pub fn is_no_longer_required(&self) -> bool {
        self.needs.iter().any(|it| it.what == What::Kept)
    }
}

/// So many states are looked at, for what the world around the other party may have done.
const MOST_WORLDS: usize = 20_000;

/// A place of the search: where the leader is, where the other can be, and how it was reached.
struct Place<T: Modelled> {
    leader: T::State,
    others: Vec<T::State>,
    /// Once the other may do the same and does otherwise: its judge, who was told all of it.
    judge: Option<Box<T::Judge>>,
    origin: (usize, Option<T::Action>),
}

/// The shortest run, within the limit, of a party of `leader` that no party of `other` can have: told apart by what has to come out, and
/// only where nothing is, by what may. `progress` is told the number of states so far.
pub fn apart<T: Modelled>(
    leader: &Specification<T>,
    other: &Specification<T>,
    limit: Limit,
    mut progress: impl FnMut(usize),
) -> Compared {
    let (leader, other) = (leader.literal(), other.literal());
    let keeping = keeping(&leader, &other);
    let freed = (keeping.rules != other.rules)
        .then(|| first(searched([&keeping, &other], &[], limit, &mut progress)));
    let only_rules = leader.reading == other.reading && leader.bounds == other.bounds;
    let compared = match &freed {
        // Then it is the leader itself that the other may be.
        Some(freed) if only_rules && keeping.rules == leader.rules => Compared {
            difference: None,
            allowed: None,
            exhaustive: true,
            ..freed.clone()
        },
        _ => first(searched(
            [&leader, &keeping],
            &[&other],
            limit,
            &mut progress,
        )),
    };
    if compared.difference.is_some() {
        return compared;
    }
    let freed = freed.and_then(|it| it.difference.or(it.allowed));
    Compared {
        allowed: freed.or(compared.allowed),
        ..compared
    }
}

/// The same by each thing in which the leader differs and that the run found does not need, unless there is but one: the shortest run of a
/// party that has this alone of the leader and all else of the other, and that no party of the other can have.
pub fn apart_by_each<T: Modelled>(
    leader: &Specification<T>,
    other: &Specification<T>,
    found: &Compared,
    limit: Limit,
    mut progress: impl FnMut(usize),
) -> Vec<(Departure, Compared)> {
    let (leader, other) = (leader.literal(), other.literal());
    let mut rest = departures(&leader, &other);
    if rest.len() < 2 {
        return Vec::new();
    }
    if let Some(told) = found.told() {
        rest.retain(|it| !told.needs.contains(it));
    }
    let keeping = keeping(&leader, &other);
    let by_it = |it: Departure| {
        let is_kept = it.what == What::Kept;
        let [one, another] = if is_kept {
            [keeping.clone(), without(&keeping, &other, &it).literal()]
        } else {
            [
                without(&keeping, &leader, &it.mirrored()).literal(),
                keeping.clone(),
            ]
        };
        let found = first(searched([&one, &another], &[&other], limit, &mut progress));
        let compared = if is_kept {
            Compared {
                allowed: found.difference.or(found.allowed),
                difference: None,
                ..found
            }
        } else {
            found
        };
        (it, compared)
    };
    rest.into_iter().map(by_it).collect()
}

/// The other as a party of it may be that keeps all the same what the leader keeps and the other leaves out.
fn keeping<T: Modelled>(leader: &Specification<T>, other: &Specification<T>) -> Specification<T> {
    let kept = departures(leader, other)
        .into_iter()
        .filter(|it| it.what == What::Kept);
    kept.fold(other.clone(), |other, it| {
        without(&other, leader, &it).literal()
    })
}

/// Told apart by what has to come out, and only where nothing is, by what may.
fn first((compared, besides): (Compared, Option<Compared>)) -> Compared {
    let Some(besides) = besides else {
        return compared;
    };
    Compared {
        allowed: compared.allowed.filter(|_| besides.difference.is_none()),
        ..besides
    }
}

/// The search by what has to come out and, where that finds nothing, the one by what may come out besides, which depends on the reading
/// alone: of the leader, the other, and the others that must not have the run either.
fn searched<T: Modelled>(
    [leader, other]: [&Specification<T>; 2],
    wholes: &[&Specification<T>],
    limit: Limit,
    progress: &mut impl FnMut(usize),
) -> (Compared, Option<Compared>) {
    let mut search = |besides| Search::new([leader, other], wholes, besides).go(limit, progress);
    let compared = search(false);
    let is_open = compared.difference.is_none() && leader.reading != other.reading;
    (compared, is_open.then(|| search(true)))
}

/// What a step of the leader comes to.
enum Step<T: Modelled> {
    /// Nothing that could be said.
    Untold,
    /// The other cannot have it: not what comes out, or not this besides.
    Apart(Option<Told<T>>),
    /// Where the other can be behind it, and its judge once it does otherwise.
    On(Vec<T::State>, Option<Box<T::Judge>>),
}

struct Search<'a, T: Modelled> {
    leader: &'a Specification<T>,
    other: &'a Specification<T>,
    /// Others that must not have the run either.
    wholes: &'a [&'a Specification<T>],
    /// Whether what may come out besides is looked at, too.
    besides: bool,
    places: Vec<Place<T>>,
    /// The first run in which the other does otherwise and may do the same.
    allowed: Option<Difference>,
    /// Whether there was somewhere more that the world could have done than is looked at.
    is_cut: bool,
    reached: Met,
    /// Kept for the room that it takes.
    actions: Vec<T::Action>,
}

impl<'a, T: Modelled> Search<'a, T> {
    fn new(
        [leader, other]: [&'a Specification<T>; 2],
        wholes: &'a [&'a Specification<T>],
        besides: bool,
    ) -> Self {
        let start = Place {
            leader: leader.start(),
            others: vec![other.start()],
            judge: None,
            origin: (0, None),
        };
        let mut reached = Met(Lookup::new());
        reached.is_new(&(start.leader, &start.others, &start.judge));
        Self {
            leader,
            other,
            wholes,
            besides,
            reached,
            places: vec![start],
            allowed: None,
            is_cut: false,
            actions: Vec::new(),
        }
    }

    /// Goes breadth first, until something is found.
    fn go(mut self, limit: Limit, progress: &mut impl FnMut(usize)) -> Compared {
        let mut level = 0..1;
        let mut steps = 0;
        while !level.is_empty() && steps < limit.steps {
            for from in level.clone() {
                progress(self.places.len());
                if self.places.len() >= limit.pairs {
                    return self.came_to(None, steps, false);
                }
                if let Some(difference) = self.go_on(from) {
                    return self.came_to(Some(difference), steps, false);
                }
            }
            level = level.end..self.places.len();
            steps += usize::from(!level.is_empty());
        }
        self.came_to(None, steps, level.is_empty())
    }

    fn came_to(self, difference: Option<Difference>, steps: usize, exhaustive: bool) -> Compared {
        Compared {
            allowed: self.allowed.filter(|_| difference.is_none()),
            difference,
            steps,
            states: self.places.len(),
            exhaustive: exhaustive && !self.is_cut,
        }
    }

    /// Takes every step of the leader from here; the first that the other cannot follow.
    fn go_on(&mut self, from: usize) -> Option<Difference> {
        let mut actions = mem::take(&mut self.actions);
        actions.clear();
        let before = self.places[from].leader;
        offered(self.leader, self.other, &before, &mut actions);
        let mut found = None;
        for &action in &actions {
            let Some(taken) = T::take(self.leader, &before, action, 0) else {
                continue;
            };
            let (others, judge) = match self.step(from, action, taken.told) {
                Step::On(others, judge) => (others, judge),
                Step::Apart(besides)
                    if self.wholes.iter().all(|whole| {
                        self.is_apart_from(whole, from, action, taken.told, besides)
                    }) =>
                {
                    found = Some(self.differs(from, action, besides));
                    break;
                }
                Step::Apart(_) | Step::Untold => continue,
            };
            let leader = self.leader.reduced(&taken.next);
            if self.reached.is_new(&(leader, &others, &judge)) {
                let origin = (from, Some(action));
                self.places.push(Place {
                    leader,
                    others,
                    judge,
                    origin,
                });
            }
        }
        self.actions = actions;
        found
    }

    /// Follows one step of the leader with the other and, once that does otherwise, with its judge.
    fn step(&mut self, from: usize, action: T::Action, told: Option<Told<T>>) -> Step<T> {
        let seen = told.and_then(CallTold::seen);
        let mut others = self.followed(from, action, seen);
        if told.is_some() && seen.is_none() && others.is_empty() {
            // What a party does unseen, the other need not do. What the world does, it must: else time would stand still for it.
            others.clone_from(&self.places[from].others);
        }
        let mut judge = self.places[from].judge.clone();
        let judged = judge.as_mut().zip(told);
        let is_wrong = judged.is_some_and(|(judge, told)| {
            let findings = judge.is_told(told);
            !(findings.is_empty() || T::may_be_refused(self.other, told))
        });
        if !others.is_empty() {
            if let Some(besides) = seen.and_then(|_| self.comes_besides(from, action)) {
                if self.allows(from, action, Some(besides)).is_none() {
                    return Step::Apart(Some(besides));
                }
                self.keep_allowed(from, action, Some(besides));
            }
            return Step::On(others, judge);
        }
        if is_wrong {
            return Step::Apart(None);
        }
        if judge.is_none() {
            judge = self.allows(from, action, told).map(Box::new);
            if judge.is_none() || self.allowed.is_none() {
                match self.found_elsewhere(from, action) {
                    None => {
                        self.is_cut = true;
                        return Step::Untold;
                    }
                    Some(others) if !others.is_empty() => return Step::On(others, None),
                    Some(_) if judge.is_none() => return Step::Apart(None),
                    Some(_) => {}
                }
            }
        }
        self.keep_allowed(from, action, None);
        Step::On(self.forced(from, action), judge)
    }

    /// Keeps the first run that the other does otherwise and may do as well.
    fn keep_allowed(&mut self, from: usize, action: T::Action, besides: Option<Told<T>>) {
        if self.allowed.is_none() {
            self.allowed = Some(self.differs(from, action, besides));
        }
    }

    /// Where the other can be after this step, if what is seen of it is the same.
    fn followed(&self, from: usize, action: T::Action, seen: Option<Told<T>>) -> Vec<T::State> {
        let mut followed = Vec::new();
        for state in &self.places[from].others {
            let Some(taken) = T::take(self.other, state, action, 0) else {
                continue;
            };
            if taken.told.and_then(CallTold::seen) == seen {
                let next = self.other.reduced(&taken.next);
                if !followed.contains(&next) {
                    followed.push(next);
                }
            }
        }
        followed
    }

    /// What is seen where something comes out besides that cannot in the other.
    fn comes_besides(&self, from: usize, action: T::Action) -> Option<Told<T>> {
        if !self.besides {
            return None;
        }
        let Place { leader, others, .. } = &self.places[from];
        let can = |state: &T::State| T::besides(self.other, state, action);
        let known: Vec<_> = others.iter().flat_map(can).collect();
        let mut besides = T::besides(self.leader, leader, action).into_iter();
        besides.find(|told| known.iter().all(|it| it.seen() != told.seen()))
    }

    /// Where the other can be that has come to the same in some other way; nothing where that would take too long to say.
    fn found_elsewhere(&self, from: usize, action: T::Action) -> Option<Vec<T::State>> {
        let run = self.run_to(from, action);
        Worlds::of(self.other, &run).after(&seen_of(self.leader, &run))
    }

    /// Where the other is after this step, whatever it does upon it.
    fn forced(&self, from: usize, action: T::Action) -> Vec<T::State> {
        let others = &self.places[from].others;
        let take = |state| self.other.take(state, action);
        let forced: Vec<_> = others.iter().filter_map(take).collect();
        if forced.is_empty() {
            return others.clone();
        }
        forced
    }

    /// The judge of the other, if it allows that this comes of the last step, however its own party does. Which rules it is held to the
    /// judge does not say, nor how far the world goes.
    fn allows(&self, from: usize, action: T::Action, told: Option<Told<T>>) -> Option<T::Judge> {
        self.allowed_by(self.other, from, action, told)
    }

    fn allowed_by(
        &self,
        other: &Specification<T>,
        from: usize,
        action: T::Action,
        told: Option<Told<T>>,
    ) -> Option<T::Judge> {
        if self.leader.rules != other.rules || self.leader.reading == other.reading {
            return None;
        }
        let run = self.run_to(from, action);
        let (_, before) = run.split_last()?;
        let (mut judge, mut state) = (T::judge(other), self.leader.start());
        for &action in before {
            let taken = T::take(self.leader, &state, action, 0)?;
            if let Some(told) = taken.told {
                judge.is_told(told);
            }
            state = self.leader.reduced(&taken.next);
        }
        // What may be asked for need not be granted.
        let is_wrong = told.is_some_and(|told| {
            !(judge.is_told(told).is_empty() || T::may_be_refused(other, told))
        });
        (!is_wrong).then_some(judge)
    }

    /// Whether this one cannot have the run either.
    fn is_apart_from(
        &self,
        whole: &Specification<T>,
        from: usize,
        action: T::Action,
        told: Option<Told<T>>,
        besides: Option<Told<T>>,
    ) -> bool {
        let told = besides.or(told);
        if self.allowed_by(whole, from, action, told).is_some() {
            return false;
        }
        let run = self.run_to(from, action);
        match besides {
            None => {
                let worlds = Worlds::of(whole, &run).after(&seen_of(self.leader, &run));
                worlds.is_some_and(|it| it.is_empty())
            }
            Some(told) => !puts_out_besides(whole, &run, told),
        }
    }

    fn differs(&self, from: usize, action: T::Action, besides: Option<Told<T>>) -> Difference {
        let run = self.run_to(from, action);
        let seen = seen_of(self.leader, &run);
        let can_be = |model: &Specification<T>| match besides {
            None => Worlds::of(model, &run)
                .after(&seen)
                .is_some_and(|it| !it.is_empty()),
            Some(told) => puts_out_besides(model, &run, told),
        };
        Difference {
            steps: describe_run(self.leader, &run),
            instead: self.instead(from, action),
            needs: needed(self.leader, self.other, can_be),
        }
    }

    /// What comes of the same step of the other; of several others, of the first of whom something else is seen.
    fn instead(&self, from: usize, action: T::Action) -> Option<StepText> {
        let place = &self.places[from];
        let state = place.others.first()?;
        let seen = |model: &Specification<T>, state| {
            let taken = T::take(model, state, action, 0)?;
            Some(taken.told.and_then(CallTold::seen))
        };
        let own = seen(self.leader, &place.leader);
        let others = self.wholes.iter().chain([&self.other]);
        let mut taking: Vec<_> = others.filter(|it| seen(it, state).is_some()).collect();
        taking.sort_by_key(|it| seen(it, state) == own);
        Some(taking.first()?.in_words(state, action))
    }

    fn run_to(&self, mut from: usize, last: T::Action) -> Vec<T::Action> {
        let mut run = vec![last];
        while let (before, Some(action)) = self.places[from].origin {
            run.push(action);
            from = before;
        }
        run.reverse();
        run
    }
}

/// What is seen of a run: each request with its outputs.
fn seen_of<T: Modelled>(model: &Specification<T>, run: &[T::Action]) -> Vec<Told<T>> {
    let mut state = model.start();
    let taken = run.iter().map_while(|&action| {
        let taken = T::take(model, &state, action, 0)?;
        state = model.reduced(&taken.next);
        Some(taken.told.and_then(CallTold::seen))
    });
    taken.flatten().collect()
}

/// Whether this may come out at the last step of the run.
fn puts_out_besides<T: Modelled>(
    model: &Specification<T>,
    run: &[T::Action],
    told: Told<T>,
) -> bool {
    let Some((&last, before)) = run.split_last() else {
        return false;
    };
    let mut before = before.iter();
    let state = before.try_fold(model.start(), |state, &action| model.take(&state, action));
    let besides = state.map(|state| T::besides(model, &state, last));
    besides.is_some_and(|it| it.iter().any(|it| it.seen() == told.seen()))
}

/// Adds what the first of two offers in a state, and what the other would; first what only one of them does, for that tells.
fn offered<T: Modelled>(
    first: &Specification<T>,
    other: &Specification<T>,
    state: &T::State,
    actions: &mut Vec<T::Action>,
) {
    first.actions(state, actions);
    let mut others = Vec::new();
    other.actions(state, &mut others);
    if *actions == others {
        return;
    }
    actions.sort_by_key(|action| others.contains(action));
    others.retain(|action| !actions.contains(action));
    actions.splice(0..0, others);
}

/// Every state in which a party can be, whatever the world around it has done unseen.
struct Worlds<'a, T: Modelled> {
    model: &'a Specification<T>,
    /// The steps of the run that it may have: they are offered whatever the model offers by itself.
    run: &'a [T::Action],
    states: Vec<T::State>,
    /// Whether there are more than are looked at.
    is_cut: bool,
}

impl<'a, T: Modelled> Worlds<'a, T> {
    fn of(model: &'a Specification<T>, run: &'a [T::Action]) -> Self {
        Self {
            states: vec![model.start()],
            model,
            run,
            is_cut: false,
        }
    }

    /// Those after which just this was seen; nothing where none was met, and not all were looked at.
    fn after(mut self, seen: &[Told<T>]) -> Option<Vec<T::State>> {
        for told in seen {
            self.take(told);
        }
        (!self.states.is_empty() || !self.is_cut).then_some(self.states)
    }

    /// Goes on with what is seen next, and all that may go unseen before it.
    fn take(&mut self, seen: &Told<T>) {
        let mut open = mem::take(&mut self.states);
        let (mut known, mut next) = (Met(Lookup::new()), Met(Lookup::new()));
        for state in &open {
            known.is_new(state);
        }
        let (mut actions, mut from) = (Vec::new(), 0);
        while from < open.len().min(MOST_WORLDS) {
            let before = open[from];
            from += 1;
            actions.clear();
            self.model.actions(&before, &mut actions);
            actions.extend(self.run);
            for &action in &actions {
                let Some(taken) = T::take(self.model, &before, action, 0) else {
                    continue;
                };
                let after = self.model.reduced(&taken.next);
                match taken.told.and_then(CallTold::seen) {
                    None if known.is_new(&after) => open.push(after),
                    Some(told) if told == *seen && next.is_new(&after) => {
                        self.states.push(after);
                    }
                    None | Some(_) => {}
                }
            }
        }
        self.is_cut |= from < open.len();
    }
}

/// A run that one setting advises against and the other does not.
#[derive(Clone, Debug)]
pub struct Advised {
    /// Its steps; the last is the one that is advised against.
    pub steps: Vec<StepText>,
    /// What is advised.
    pub finding: Finding,
    /// Of what the one differs in from the other, that without which it would not advise so either.
    pub needs: Vec<Departure>,
}

/// The shortest run of a party of `advising`, within the limit, that breaks what this setting only recommends, and nothing that the
/// other recommends or requires. Nothing where none was found.
pub fn advised<T: Modelled>(
    advising: &Specification<T>,
    other: &Specification<T>,
    limit: Limit,
) -> Option<Advised> {
    let (leader, other) = (advising.literal(), other.literal());
    if leader.reading == other.reading {
        return None;
    }
    let [own, others] = [&leader, &other].map(T::judge);
    let judges = [T::advising(&leader)?, T::advising(&other)?, own, others];
    let mut places = vec![(leader.start(), judges, Vec::new())];
    let mut known = Met(Lookup::new());
    let (mut from, mut actions) = (0, Vec::new());
    while from < places.len() && places.len() < limit.pairs {
        let (before, judges, run) = places[from].clone();
        from += 1;
        if run.len() == limit.steps {
            break;
        }
        actions.clear();
        offered(&leader, &other, &before, &mut actions);
        for &action in &actions {
            let Some(taken) = T::take(&leader, &before, action, 0) else {
                continue;
            };
            let mut judges = judges.clone();
            let found = judges.each_mut().map(|judge| {
                let told = taken.told.map(|told| judge.is_told(told));
                told.unwrap_or_default()
            });
            let run = [run.as_slice(), &[action]].concat();
            let [own, others, required, required_by_other] = &found;
            let mut advice = own.iter().filter(|finding| {
                let is_other = |other: &Finding| other.clause == finding.clause;
                !required.contains(finding) && !others.iter().any(is_other)
            });
            if let Some(finding) = advice.next().filter(|_| required_by_other.is_empty()) {
                return Some(Advised {
                    steps: describe_run(&leader, &run),
                    needs: needed(&leader, &other, |less| {
                        advises(less, &leader, &run, finding)
                    }),
                    finding: finding.clone(),
                });
            }
            if known.is_new(&(taken.next, &judges)) {
                places.push((taken.next, judges, run));
            }
        }
    }
    None
}

/// Whether this is advised at the last step of a run of this party.
fn advises<T: Modelled>(
    setting: &Specification<T>,
    party: &Specification<T>,
    run: &[T::Action],
    finding: &Finding,
) -> bool {
    let Some(mut judge) = T::advising(setting) else {
        return false;
    };
    let (mut state, mut last) = (party.start(), Vec::new());
    for &action in run {
        let Some(taken) = T::take(party, &state, action, 0) else {
            return false;
        };
        let found = taken.told.map(|told| judge.is_told(told));
        last = found.unwrap_or_default();
        state = taken.next;
    }
    last.contains(finding)
}

/// What was met, by its fingerprint.
struct Met(Lookup<()>);

impl Met {
    /// Notes it; whether it was not yet met.
    fn is_new(&mut self, value: &impl Hash) -> bool {
        let begun = self.0.begin(fingerprint(value));
        let is_new = self.0.end(begun).is_none();
        if is_new {
            self.0.insert(begun.key, ());
        }
        is_new
    }
}
