//! Searches: the exhaustive one, the one for shortest runs, and the one that leaves rules out.
//!
//! The one thing to know: the exhaustive search is stateright's, depth first, and keeps 64-bit fingerprints only: with
//! 10 million states the chance that it misses one is about 2 in a million. Shortest runs come from a breadth-first
//! search of our own, which finds the shortest of every property in one pass, because it sees steps and not only states.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use stateright::{Checker, Model};

use crate::specification::{Specification, Text};
use crate::table::Tabled;

/// A step in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepText {
    /// When, such as `t=0`.
    pub at: String,
    /// Who acts.
    pub actor: String,
    /// Whom it reaches, such as `network`; nobody where it stays with who acts.
    pub to: Option<String>,
    /// What they do.
    pub action: String,
    /// What changes and comes out by it.
    pub changes: Vec<String>,
}

/// Whether a property is to hold always or sometimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In every state: an invariant.
    Always,
    /// On some step: a witness.
    Sometimes,
}

/// A property and whether it holds.
#[derive(Clone, Debug)]
pub struct PropertyVerdict {
    /// Its name.
    pub name: &'static str,
    /// The clauses that it states.
    pub clauses: &'static [&'static str],
    /// Always or sometimes.
    pub kind: Kind,
    /// Whether it holds.
    pub holds: bool,
    /// The shortest counterexample of a broken invariant, the last step being the bad one.
    pub steps: Vec<StepText>,
}

/// What an exhaustive search found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// States that differ.
    pub unique_states: usize,
    /// Steps taken, counting each from each state.
    pub transitions: usize,
    /// The length of the longest run that the search walked, in steps.
    pub depth: usize,
    /// Whether the whole graph was searched. The search ends where an invariant breaks; the verdicts on the others are
    /// then those of a search of limited length, [`EXPLAINED`].
    pub exhaustive: bool,
    /// Every property, the invariants first.
    pub properties: Vec<PropertyVerdict>,
}

impl CheckReport {
    /// Whether the whole graph was searched and all properties hold.
    pub fn holds(&self) -> bool {
        self.exhaustive && self.properties.iter().all(|property| property.holds)
    }
}

/// How far shortest counterexamples are looked for once the exhaustive search has found that something breaks.
pub const EXPLAINED: Limit = Limit {
    steps: 10,
    states: 2_000_000,
};

/// Searches the whole graph; `progress` is told the number of states so far, several times a second.
///
/// A broken invariant is explained by its shortest counterexample, or, where that is too long to be looked for, by the
/// one that the exhaustive search came upon.
pub fn check<T: Text>(model: &Specification<T>, mut progress: impl FnMut(usize)) -> CheckReport {
    let checker = model.clone().checker().spawn_dfs();
    while !checker.is_done() {
        progress(checker.unique_state_count());
        std::thread::sleep(Duration::from_millis(50));
    }
    let checker = checker.join();
    let discovered = checker.discoveries();
    let shortest = discovered.values().next().map_or_else(
        || Shortest {
            broken: BTreeMap::new(),
            witnessed: model.witnessed(),
        },
        |path| explain(model, &path.clone().into_actions()),
    );
    CheckReport {
        unique_states: checker.unique_state_count(),
        // The start is counted among the states that were generated; no step led there.
        transitions: checker.state_count() - 1,
        depth: checker.max_depth() - 1,
        exhaustive: discovered.is_empty(),
        properties: verdicts(model, &shortest),
    }
}

/// The shortest counterexamples within reach, and the known one for what it breaks beyond that.
fn explain<T: Text>(model: &Specification<T>, known: &[T::Action]) -> Shortest<T> {
    let mut shortest = shortest_runs(model, EXPLAINED);
    let mut state = model.start();
    for &action in known {
        if let Some((next, _)) = model.take(&state, action) {
            state = next;
        }
    }
    for place in (0..64).filter(|place| T::broken(&state) & 1 << place != 0) {
        shortest
            .broken
            .entry(place)
            .or_insert_with(|| known.to_vec());
    }
    shortest
}

/// Every property with its verdict.
fn verdicts<T: Text>(model: &Specification<T>, shortest: &Shortest<T>) -> Vec<PropertyVerdict> {
    let always = T::Invariant::ROWS.iter().enumerate().map(|(place, row)| {
        let run = shortest.broken.get(&place);
        let steps = run
            .map(|actions| describe_run(model, actions))
            .unwrap_or_default();
        PropertyVerdict {
            name: row.name,
            clauses: row.clauses,
            kind: Kind::Always,
            holds: run.is_none(),
            steps,
        }
    });
    let sometimes = T::Witness::ROWS
        .iter()
        .enumerate()
        .map(|(place, row)| PropertyVerdict {
            name: row.name,
            clauses: row.clauses,
            kind: Kind::Sometimes,
            holds: shortest.witnessed & 1 << place != 0,
            steps: Vec::new(),
        });
    always.chain(sometimes).collect()
}

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

/// The shortest runs that a breadth-first search found.
#[derive(Clone, Debug)]
pub struct Shortest<T: Text> {
    /// For each broken invariant, by its place, the shortest run that breaks it.
    pub broken: BTreeMap<usize, Vec<T::Action>>,
    /// What was witnessed.
    pub witnessed: u64,
}

/// Searches breadth first for the shortest run to each broken invariant, within the limit.
pub fn shortest_runs<T: Text>(model: &Specification<T>, limit: Limit) -> Shortest<T> {
    let mut search = BreadthFirst::new(model);
    let mut steps = 0;
    while !search.frontier.is_empty() && steps < limit.steps {
        search.advance(model, limit.states);
        steps += 1;
    }
    Shortest {
        broken: search.broken,
        witnessed: search.witnessed,
    }
}

/// A state that was found, and how.
struct Node<T: Text> {
    state: T::State,
    /// The place of the state before, and the action that led here; nothing at the start.
    from: Option<(usize, T::Action)>,
}

/// A breadth-first search in progress.
struct BreadthFirst<T: Text> {
    nodes: Vec<Node<T>>,
    seen: BTreeSet<u64>,
    frontier: Vec<usize>,
    broken: BTreeMap<usize, Vec<T::Action>>,
    witnessed: u64,
}

impl<T: Text> BreadthFirst<T> {
    /// At the start.
    fn new(model: &Specification<T>) -> Self {
        let state = model.start();
        Self {
            nodes: vec![Node { state, from: None }],
            seen: BTreeSet::from([fingerprint(&state)]),
            frontier: vec![0],
            broken: BTreeMap::new(),
            witnessed: 0,
        }
    }

    /// Takes every step from every state of the frontier, as long as there is room for what is found.
    fn advance(&mut self, model: &Specification<T>, room: usize) {
        let mut actions = Vec::new();
        for place in std::mem::take(&mut self.frontier) {
            if self.nodes.len() >= room {
                self.frontier.clear();
                return;
            }
            let state = self.nodes[place].state;
            model.actions(&state, &mut actions);
            for action in actions.drain(..) {
                let Some((next, witnessed)) = model.take(&state, action) else {
                    continue;
                };
                self.witnessed |= witnessed;
                if self.seen.insert(fingerprint(&next)) {
                    self.nodes.push(Node {
                        state: next,
                        from: Some((place, action)),
                    });
                    self.frontier.push(self.nodes.len() - 1);
                    self.record(&state, &next);
                }
            }
        }
    }

    /// Keeps the run to the state found last for every invariant that it is the first to break.
    fn record(&mut self, before: &T::State, after: &T::State) {
        let newly = T::broken(after) & !T::broken(before);
        for bit in (0..64).filter(|bit| newly & 1 << bit != 0) {
            if !self.broken.contains_key(&bit) {
                let run = self.run_to(self.nodes.len() - 1);
                self.broken.insert(bit, run);
            }
        }
    }

    /// The actions that lead to a state.
    fn run_to(&self, mut place: usize) -> Vec<T::Action> {
        let mut run = Vec::new();
        while let Some((before, action)) = self.nodes[place].from {
            run.push(action);
            place = before;
        }
        run.reverse();
        run
    }
}

/// A state in 64 bits, the same in every run of the program.
fn fingerprint(state: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// A run from the start, in words.
pub fn describe_run<T: Text>(model: &Specification<T>, actions: &[T::Action]) -> Vec<StepText> {
    let mut texts = Vec::new();
    let mut state = model.start();
    for &action in actions {
        let Some((next, _)) = model.take(&state, action) else {
            break;
        };
        texts.push(model.describe(&state, action, &next));
        state = next;
    }
    texts
}
