//! Two settings of one text beside each other: what a party of one does that no party of the other can.
//!
//! The one thing to know: parties are told apart by requests and outputs alone. The search goes breadth first over a state of the
//! one that leads and the states in which the other can be after the same requests and outputs; what it finds counts only where
//! no way of the other leads to the same, whatever the world around it has done in between ([`Worlds`]).

use std::hash::Hash;
use std::mem;

use crate::checker::{StepText, describe_run};
use crate::judged::{CallTold, Limit, Told};
use crate::lookup::Lookup;
use crate::numbered::fingerprint;
use crate::specification::{Modelled, Specification};

/// A run that a party of one setting can have and no party of the other.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its steps; the last is the one in which they differ.
    pub steps: Vec<StepText>,
    /// What comes of the same request under the other setting; nothing where it is not asked there, or comes unasked.
    pub instead: Option<StepText>,
}

/// What a search for such a run came to.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The shortest run; none where none was found.
    pub difference: Option<Difference>,
    /// The longest runs of which every one was looked at, in steps.
    pub steps: usize,
    /// States of both together that differ, in these runs.
    pub states: usize,
    /// Whether every run was looked at.
    pub exhaustive: bool,
}

/// So many states are looked at, for what the world around the other party may have done.
const MOST_WORLDS: usize = 20_000;

/// A place of the search: where the leader is, where the other can be, and how it was reached.
struct Place<T: Modelled> {
    leader: T::State,
    others: Vec<T::State>,
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
    let compared = Search::new(&leader, &other, false).go(limit, &mut progress);
    // What may come out besides depends on the reading alone.
    if compared.difference.is_some() || leader.reading == other.reading {
        return compared;
    }
    Search::new(&leader, &other, true).go(limit, &mut progress)
}

struct Search<'a, T: Modelled> {
    leader: &'a Specification<T>,
    other: &'a Specification<T>,
    /// The leader by a reading under which more is offered that tells the two apart, where there is one.
    telling: Option<Specification<T>>,
    /// Whether what may come out besides is looked at, too.
    besides: bool,
    places: Vec<Place<T>>,
    reached: Met,
    /// Kept for the room that it takes.
    actions: Vec<T::Action>,
}

impl<'a, T: Modelled> Search<'a, T> {
    fn new(leader: &'a Specification<T>, other: &'a Specification<T>, besides: bool) -> Self {
        let start = Place {
            leader: leader.start(),
            others: vec![other.start()],
            origin: (0, None),
        };
        let mut reached = Met(Lookup::new());
        reached.is_new(&(start.leader, &start.others));
        let reading = T::reading_to_tell(&leader.reading, &other.reading);
        let telling = reading != leader.reading;
        Self {
            telling: telling.then(|| leader.with(leader.rules, reading)),
            leader,
            other,
            besides,
            reached,
            places: vec![start],
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
            difference,
            steps,
            states: self.places.len(),
            exhaustive,
        }
    }

    /// Takes every step of the leader from here; the first that the other cannot follow.
    fn go_on(&mut self, from: usize) -> Option<Difference> {
        let mut actions = mem::take(&mut self.actions);
        actions.clear();
        let before = self.places[from].leader;
        self.leader.actions(&before, &mut actions);
        if let Some(telling) = &self.telling {
            let mut offered = Vec::new();
            telling.actions(&before, &mut offered);
            // First what only one of the two offers: it tells.
            actions.sort_by_key(|action| offered.contains(action));
            offered.retain(|action| !actions.contains(action));
            actions.splice(0..0, offered);
        }
        let mut found = None;
        for &action in &actions {
            let Some(taken) = T::take(self.leader, &before, action, 0) else {
                continue;
            };
            let seen = taken.told.and_then(CallTold::seen);
            let mut others = self.followed(from, action, seen);
            if taken.told.is_some() && seen.is_none() && others.is_empty() {
                // What a party does unseen, the other need not do. What the world does, it must: else time would stand still for it.
                others.clone_from(&self.places[from].others);
            }
            let is_alone = others.is_empty();
            let comes_besides = || {
                self.besides && {
                    let can = |state: &T::State| T::besides(self.other, state, action);
                    let known: Vec<_> = self.places[from].others.iter().flat_map(can).collect();
                    let mut besides = T::besides(self.leader, &before, action).into_iter();
                    besides.any(|told| known.iter().all(|it| it.seen() != told.seen()))
                }
            };
            if is_alone || seen.is_some() && comes_besides() {
                found = self.differs(from, action, is_alone);
                if found.is_some() {
                    break;
                }
            }
            if others.is_empty() {
                continue;
            }
            let leader = self.leader.reduced(&taken.next);
            if self.reached.is_new(&(leader, &others)) {
                let origin = (from, Some(action));
                self.places.push(Place {
                    leader,
                    others,
                    origin,
                });
            }
        }
        self.actions = actions;
        found
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

    /// The difference, unless the other can follow the whole run in some other way.
    fn differs(&self, from: usize, action: T::Action, is_alone: bool) -> Option<Difference> {
        let run = self.run_to(from, action);
        if is_alone && Worlds::of(self.other).can_follow(&seen_of(self.leader, &run)?) {
            return None;
        }
        Some(Difference {
            steps: describe_run(self.leader, &run),
            instead: self.instead(from, action),
        })
    }

    /// What comes of the same step of the other.
    fn instead(&self, from: usize, action: T::Action) -> Option<StepText> {
        let state = self.places[from].others.first()?;
        T::take(self.other, state, action, 0)?;
        Some(self.other.in_words(state, action))
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

/// What is seen of a run: each request with its outputs; nothing where a step of it is not enabled.
fn seen_of<T: Modelled>(model: &Specification<T>, run: &[T::Action]) -> Option<Vec<Told<T>>> {
    let mut state = model.start();
    let mut seen = Vec::new();
    for &action in run {
        let taken = T::take(model, &state, action, 0)?;
        seen.extend(taken.told.and_then(CallTold::seen));
        state = model.reduced(&taken.next);
    }
    Some(seen)
}

/// Every state in which a party can be, whatever the world around it has done unseen.
struct Worlds<'a, T: Modelled> {
    model: &'a Specification<T>,
    states: Vec<T::State>,
}

impl<'a, T: Modelled> Worlds<'a, T> {
    fn of(model: &'a Specification<T>) -> Self {
        Self {
            states: vec![model.start()],
            model,
        }
    }

    /// Whether there is a way on which just this is seen.
    fn can_follow(mut self, seen: &[Told<T>]) -> bool {
        seen.iter().all(|told| {
            self.take(told);
            !self.states.is_empty()
        })
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
    }
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
