//! Every edge: the walk that carries a clone of the executor through the model's whole reachable graph and compares the
//! two at each transition.
//!
//! The one thing to know: [`Scope::States`] keeps one executor for each model state, the first to reach it;
//! [`Scope::Pairs`] walks the pairs of model state and executor, so that hidden state of the executor cannot escape.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use foldhash::quality::RandomState;

use super::{Disagreement, Divergence, Sides, schedule};

/// What counts as having been there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The model state.
    States,
    /// The model state together with the identity of the executor.
    Pairs,
}

/// What a walk has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Nodes visited: model states, or pairs.
    pub nodes: u64,
    /// Transitions compared.
    pub edges: u64,
    /// Runs on which the two differ, shortest first; the walk ends soon after the first few.
    pub divergences: Vec<Divergence>,
}

/// A walk is called off after so many divergences: one defect shows on thousands of edges.
const ENOUGH_DIVERGENCES: usize = 8;

/// A worker gives away half of its stack when another is idle and it has so many nodes at least.
const WORTH_SHARING: usize = 8;

/// Walks the whole graph on every core, telling `progress` the number of edges compared about ten times a second.
///
/// # Panics
///
/// Where a step of the sides panics; the other workers then leave off.
pub fn walk<S: Sides>(sides: &S, scope: Scope, progress: &(dyn Fn(u64) + Sync)) -> Walk {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let shared = Shared::new(sides, scope, workers);
    let (state, host) = sides.begin();
    shared.visit(&state, &host);
    shared.give(vec![Node {
        state,
        host,
        path: None,
    }]);
    thread::scope(|threads| {
        for _ in 0..workers {
            threads.spawn(|| shared.work());
        }
        threads.spawn(|| {
            while !shared.done.load(Ordering::Relaxed) {
                progress(shared.edges.load(Ordering::Relaxed));
                thread::sleep(Duration::from_millis(100));
            }
        });
    });
    shared.finish()
}

/// A node to go on from.
struct Node<S: Sides> {
    state: S::State,
    host: S::Host,
    path: Option<Arc<Path<S::Action>>>,
}

/// How a node was reached: the last step, and how its start was reached.
struct Path<A> {
    before: Option<Arc<Path<A>>>,
    action: A,
}

impl<A> Drop for Path<A> {
    /// Takes the chain apart in a loop: dropping a long chain must not use up the call stack.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(mut path) = before.and_then(Arc::into_inner) {
            before = path.before.take();
        }
    }
}

/// The steps of a path in the order in which they were taken.
fn steps_of<A: Copy>(path: Option<&Arc<Path<A>>>, last: A) -> Vec<A> {
    let mut actions = vec![last];
    let mut at = path;
    while let Some(step) = at {
        actions.push(step.action);
        at = step.before.as_ref();
    }
    actions.reverse();
    actions
}

/// A node visited: the model state as it is, and the executor's identity, where it counts, as two hashes of 64 bits.
type Key<S> = (S, (u64, u64));

/// Into how many parts the visited nodes are split.
const PARTS: u64 = 64;

/// What the workers have in common.
struct Shared<'a, S: Sides> {
    sides: &'a S,
    scope: Scope,
    hashers: [RandomState; 2],
    /// Nodes visited, in parts that keep the workers apart.
    visited: Vec<Mutex<HashSet<Key<S::State>, RandomState>>>,
    /// Nodes for whoever is idle.
    spare: Mutex<Vec<Node<S>>>,
    idle: AtomicUsize,
    workers: usize,
    done: AtomicBool,
    edges: AtomicU64,
    diverging: Mutex<Vec<(Vec<S::Action>, Disagreement)>>,
}

/// Two hashers that are fed the same.
struct Both<H>([H; 2]);

impl<H: Hasher> Hasher for Both<H> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|hasher| hasher.write(bytes));
    }

    fn write_u8(&mut self, number: u8) {
        self.0.iter_mut().for_each(|hasher| hasher.write_u8(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0
            .iter_mut()
            .for_each(|hasher| hasher.write_u64(number));
    }

    fn finish(&self) -> u64 {
        self.0[0].finish()
    }
}

/// Ends the walk when the worker that holds it panics: the others would wait for it for ever.
struct EndsOnPanic<'a>(&'a AtomicBool);

impl Drop for EndsOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}

impl<'a, S: Sides> Shared<'a, S> {
    fn new(sides: &'a S, scope: Scope, workers: usize) -> Self {
        Self {
            sides,
            scope,
            hashers: [RandomState::default(), RandomState::default()],
            visited: (0..PARTS).map(|_| Mutex::default()).collect(),
            spare: Mutex::default(),
            idle: AtomicUsize::new(0),
            workers,
            done: AtomicBool::new(false),
            edges: AtomicU64::new(0),
            diverging: Mutex::default(),
        }
    }

    /// Notes that a node was reached; whether this is the first time.
    fn visit(&self, state: &S::State, host: &S::Host) -> bool {
        let [first, second] = &self.hashers;
        let identity = match self.scope {
            Scope::States => (0, 0),
            Scope::Pairs => {
                let mut hasher = Both([first.build_hasher(), second.build_hasher()]);
                self.sides.identity(host, &mut hasher);
                let Both([first, second]) = hasher;
                (first.finish(), second.finish())
            }
        };
        let key = (*state, identity);
        let part = usize::try_from(first.hash_one(key) % PARTS).expect("there are few parts");
        lock(&self.visited[part]).insert(key)
    }

    fn give(&self, nodes: Vec<Node<S>>) {
        lock(&self.spare).extend(nodes);
    }

    /// Goes on until nobody has anything left to do.
    fn work(&self) {
        let mut stack = Vec::new();
        let mut actions = Vec::new();
        let mut counted = 0;
        let _guard = EndsOnPanic(&self.done);
        while !self.done.load(Ordering::Relaxed) {
            let Some(node) = stack.pop() else {
                self.edges.fetch_add(counted, Ordering::Relaxed);
                counted = 0;
                if !self.wait_for(&mut stack) {
                    break;
                }
                continue;
            };
            counted += self.expand(&node, &mut stack, &mut actions);
            if counted >= 1024 {
                self.edges.fetch_add(counted, Ordering::Relaxed);
                counted = 0;
            }
            if stack.len() >= WORTH_SHARING && self.idle.load(Ordering::Relaxed) > 0 {
                // The oldest nodes have the most below them.
                self.give(stack.drain(..WORTH_SHARING / 2).collect());
            }
        }
        self.edges.fetch_add(counted, Ordering::Relaxed);
    }

    /// Waits for spare nodes; false when the walk is over.
    fn wait_for(&self, stack: &mut Vec<Node<S>>) -> bool {
        self.idle.fetch_add(1, Ordering::SeqCst);
        loop {
            let mut spare = lock(&self.spare);
            if !spare.is_empty() {
                stack.append(&mut spare);
                self.idle.fetch_sub(1, Ordering::SeqCst);
                return true;
            }
            // Nobody gives while all are idle, so an empty pool is then the end.
            if self.idle.load(Ordering::SeqCst) == self.workers {
                self.done.store(true, Ordering::SeqCst);
            }
            drop(spare);
            if self.done.load(Ordering::SeqCst) {
                return false;
            }
            thread::sleep(Duration::from_micros(50));
        }
    }

    /// Takes every step from a node; how many there were.
    fn expand(
        &self,
        node: &Node<S>,
        stack: &mut Vec<Node<S>>,
        actions: &mut Vec<S::Action>,
    ) -> u64 {
        actions.clear();
        self.sides.actions(&node.state, actions);
        for &action in actions.iter() {
            let mut host = node.host.clone();
            match self.sides.step(&node.state, &mut host, action) {
                Ok(state) => {
                    if self.visit(&state, &host) {
                        let before = node.path.clone();
                        let path = Some(Arc::new(Path { before, action }));
                        stack.push(Node { state, host, path });
                    }
                }
                Err(disagreement) => {
                    self.note_divergence(steps_of(node.path.as_ref(), action), disagreement);
                }
            }
        }
        actions.len() as u64
    }

    fn note_divergence(&self, run: Vec<S::Action>, disagreement: Disagreement) {
        let mut diverging = lock(&self.diverging);
        if diverging.len() < ENOUGH_DIVERGENCES {
            diverging.push((run, disagreement));
        } else {
            self.done.store(true, Ordering::Relaxed);
        }
    }

    fn finish(self) -> Walk {
        let runs = self
            .diverging
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut divergences: Vec<Divergence> = runs
            .into_iter()
            .map(|(run, disagreement)| schedule::shrunk(self.sides, run, disagreement).divergence)
            .collect();
        divergences.sort_by_key(|divergence| divergence.steps.len());
        divergences.dedup();
        Walk {
            nodes: self
                .visited
                .iter()
                .map(|part| lock(part).len() as u64)
                .sum(),
            edges: self.edges.into_inner(),
            divergences,
        }
    }
}

/// Locks; a worker that panicked is reported by the scope that joins it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_model::checker::StepText;

    /// A walk over a square, to the right or up; what a step shows is up to the test.
    struct Square<F>(F);

    /// The last column and the last row.
    const LAST: u8 = 40;

    impl<F: Fn((u8, u8)) -> bool + Sync> Sides for Square<F> {
        type State = (u8, u8);
        type Action = bool;
        type Host = u8;

        fn begin(&self) -> ((u8, u8), u8) {
            ((0, 0), 0)
        }

        fn actions(&self, &(column, row): &(u8, u8), actions: &mut Vec<bool>) {
            actions.extend((column < LAST).then_some(true));
            actions.extend((row < LAST).then_some(false));
        }

        fn step(
            &self,
            &(column, row): &(u8, u8),
            host: &mut u8,
            right: bool,
        ) -> Result<(u8, u8), Disagreement> {
            *host = u8::from(right);
            let next = if right {
                (column + 1, row)
            } else {
                (column, row + 1)
            };
            if (self.0)(next) {
                return Ok(next);
            }
            Err(Disagreement::in_outputs(
                "of no protocol",
                String::new(),
                String::new(),
            ))
        }

        fn identity(&self, host: &u8, hasher: &mut impl Hasher) {
            hasher.write_u8(*host);
        }

        fn describe(&self, _: &(u8, u8), right: bool) -> StepText {
            StepText {
                at: "t=0".to_owned(),
                actor: "walker".to_owned(),
                to: None,
                action: right.to_string(),
                changes: Vec::new(),
            }
        }
    }

    fn walked(agrees: impl Fn((u8, u8)) -> bool + Sync, scope: Scope) -> Walk {
        walk(&Square(agrees), scope, &|_| {})
    }

    #[test]
    fn every_state_is_visited_once_and_every_edge_compared() {
        let walk = walked(|_| true, Scope::States);
        let side = u64::from(LAST) + 1;
        assert_eq!(
            (walk.nodes, walk.edges),
            (side * side, 2 * side * (side - 1))
        );
        assert_eq!(walk.divergences, []);
    }

    #[test]
    fn pairs_tell_hosts_apart_that_came_to_the_same_state_on_other_ways() {
        let walk = walked(|_| true, Scope::Pairs);
        let side = u64::from(LAST) + 1;
        // Into an inner state lead two ways, into one of the first column or row only one.
        assert_eq!(walk.nodes, 2 * (side - 1) * (side - 1) + 2 * (side - 1) + 1);
    }

    #[test]
    fn a_divergence_ends_in_the_run_that_shows_it() {
        let walk = walked(|place| place != (3, 2), Scope::States);
        assert!(!walk.divergences.is_empty());
        let lengths = walk.divergences.iter().map(|found| found.steps.len());
        assert!(lengths.eq(walk.divergences.iter().map(|_| 5)));
    }

    #[test]
    fn a_divergence_that_does_not_show_again_is_reported_all_the_same() {
        let shown = AtomicBool::new(false);
        let once = |place| place != (3, 2) || shown.swap(true, Ordering::SeqCst);
        assert_eq!(walked(once, Scope::States).divergences.len(), 1);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_step_that_panics_ends_the_walk() {
        walked(
            |place| {
                assert_ne!(place, (3, 2), "the step that panics");
                true
            },
            Scope::States,
        );
    }
}
