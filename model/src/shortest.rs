//! The breadth-first search: the shortest run to everything that breaks.
//!
//! The one thing to know: it sees steps and not only states, so that one pass finds the shortest run to every broken
//! invariant and goes on behind each. It keeps 64-bit fingerprints of the states that it has seen, as the exhaustive search
//! does, and the states of one level alone.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use stateright::Model;

use crate::specification::{Modelled, Specification};

/// How far a breadth-first search goes.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The longest runs that it looks at, in steps.
    pub steps: usize,
    /// The most states that it keeps; once it has so many it looks no further.
    pub states: usize,
}

impl Default for Limit {
    /// No limit.
    fn default() -> Self {
        Self {
            steps: usize::MAX,
            states: usize::MAX,
        }
    }
}

/// The shortest runs that a breadth-first search found, and how far it came.
#[derive(Clone, Debug)]
pub struct Shortest<T: Modelled> {
    /// For each broken invariant, by its place, the shortest run that breaks it.
    pub broken: BTreeMap<usize, Vec<T::Action>>,
    /// What was witnessed.
    pub witnessed: u64,
    /// States that differ.
    pub states: usize,
    /// Steps taken, counting each from each state.
    pub transitions: usize,
    /// The longest runs of which every one was looked at, in steps; where the whole graph was searched, no state is further
    /// from the start.
    pub steps: usize,
    /// Whether the whole graph was searched.
    pub exhaustive: bool,
}

/// Searches breadth first for the shortest run to each broken invariant, within the limit.
pub fn shortest_runs<T: Modelled>(model: &Specification<T>, limit: Limit) -> Shortest<T> {
    search(model, limit, |_| {})
}

/// The same; `progress` is told the number of states so far, many times a second.
pub(crate) fn search<T: Modelled>(
    model: &Specification<T>,
    limit: Limit,
    mut progress: impl FnMut(usize),
) -> Shortest<T> {
    let mut search = BreadthFirst::new(model);
    while !search.frontier.is_empty() && search.steps < limit.steps {
        if !search.advance(limit.states, &mut progress) {
            break;
        }
    }
    Shortest {
        states: search.origins.len(),
        transitions: search.transitions,
        steps: search.steps,
        exhaustive: search.frontier.is_empty(),
        broken: search.broken,
        witnessed: search.witnessed,
    }
}

/// `progress` is told whenever so many more states have been gone on from.
const TOLD_EVERY: usize = 1 << 14;

/// A breadth-first search in progress.
struct BreadthFirst<'a, T: Modelled> {
    model: &'a Specification<T>,
    /// How each state was reached: the place of the state before, and the action; nothing at the start.
    origins: Vec<Option<(usize, T::Action)>>,
    /// The fingerprints of all states.
    seen: HashTable<u64>,
    /// The states that have not been gone on from, each with its place.
    frontier: Vec<(usize, T::State)>,
    steps: usize,
    transitions: usize,
    broken: BTreeMap<usize, Vec<T::Action>>,
    witnessed: u64,
}

impl<'a, T: Modelled> BreadthFirst<'a, T> {
    /// At the start.
    fn new(model: &'a Specification<T>) -> Self {
        let start = model.start();
        let mut search = Self {
            model,
            origins: vec![None],
            seen: HashTable::new(),
            frontier: vec![(0, start)],
            steps: 0,
            transitions: 0,
            broken: BTreeMap::new(),
            witnessed: 0,
        };
        search.is_new(&start);
        search
    }

    /// Takes every step from every state of the frontier, as long as there is room for what is found; whether there was.
    fn advance(&mut self, room: usize, progress: &mut impl FnMut(usize)) -> bool {
        let mut actions = Vec::new();
        let mut next_level = Vec::new();
        for index in 0..self.frontier.len() {
            if index % TOLD_EVERY == 0 {
                progress(self.origins.len());
            }
            if self.origins.len() >= room {
                return false;
            }
            let (place, state) = self.frontier[index];
            self.model.actions(&state, &mut actions);
            for action in actions.drain(..) {
                let Some((next, witnessed)) = self.model.take(&state, action) else {
                    continue;
                };
                self.transitions += 1;
                self.witnessed |= witnessed;
                if self.is_new(&next) {
                    next_level.push((self.origins.len(), next));
                    self.origins.push(Some((place, action)));
                    self.record(&state, &next);
                }
            }
        }
        self.steps += usize::from(!next_level.is_empty());
        self.frontier = next_level;
        true
    }

    /// Notes that a state was reached; whether this is the first time.
    fn is_new(&mut self, state: &T::State) -> bool {
        let fingerprint = fingerprint(state);
        let seen = |known: &u64| *known == fingerprint;
        match self.seen.entry(fingerprint, seen, |known| *known) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(fingerprint);
                true
            }
        }
    }

    /// Keeps the run to the state found last for every invariant that it is the first to break.
    fn record(&mut self, before: &T::State, after: &T::State) {
        let newly = T::broken(after) & !T::broken(before);
        for bit in (0..64).filter(|bit| newly & 1 << bit != 0) {
            if !self.broken.contains_key(&bit) {
                let run = self.run_to(self.origins.len() - 1);
                self.broken.insert(bit, run);
            }
        }
    }

    /// The actions that lead to a state.
    fn run_to(&self, mut place: usize) -> Vec<T::Action> {
        let mut run = Vec::new();
        while let Some((before, action)) = self.origins[place] {
            run.push(action);
            place = before;
        }
        run.reverse();
        run
    }
}

/// A state in 64 bits, the same in every run of the program.
fn fingerprint(state: &impl Hash) -> u64 {
    FixedState::default().hash_one(state)
}
