//! The shape of a model's graph.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use countersign_model::specification::{Modelled, Specification};

/// A state in 64 bits.
fn fingerprint(state: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

/// Shows every step of the model's graph, with the state that it is taken in; how many states there are.
pub fn each_step<T: Modelled>(
    model: &Specification<T>,
    mut show: impl FnMut(&T::State, T::Action),
) -> usize {
    let mut known = BTreeSet::from([fingerprint(&model.start())]);
    let mut open = vec![model.start()];
    let mut actions = Vec::new();
    while let Some(state) = open.pop() {
        actions.clear();
        model.actions(&state, &mut actions);
        for &action in &actions {
            show(&state, action);
            let next = model.take(&state, action);
            open.extend(next.filter(|next| known.insert(fingerprint(next))));
        }
    }
    known.len()
}

/// Every state with the states that follow it, apart from itself.
fn graph<T: Modelled>(model: &Specification<T>) -> BTreeMap<u64, Vec<u64>> {
    let mut graph = BTreeMap::new();
    let mut open = vec![model.start()];
    let mut actions = Vec::new();
    while let Some(state) = open.pop() {
        if graph.contains_key(&fingerprint(&state)) {
            continue;
        }
        actions.clear();
        model.actions(&state, &mut actions);
        let steps = actions
            .iter()
            .filter_map(|&action| model.take(&state, action));
        let next: Vec<T::State> = steps.filter(|next| *next != state).collect();
        graph.insert(fingerprint(&state), next.iter().map(fingerprint).collect());
        open.extend(next);
    }
    graph
}

/// The length of the longest run, in steps that change something; nothing if the graph has a cycle.
pub fn longest_run<T: Modelled>(model: &Specification<T>) -> Option<usize> {
    let graph = graph(model);
    let mut arrivals: BTreeMap<u64, usize> = graph.keys().map(|&state| (state, 0)).collect();
    for next in graph.values().flatten() {
        *arrivals.entry(*next).or_default() += 1;
    }
    // A state is settled once every step into it is; on a cycle none ever would be.
    let mut settled = vec![(fingerprint(&model.start()), 0)];
    let mut longest: BTreeMap<u64, usize> = BTreeMap::new();
    let mut count = 0;
    let mut greatest = 0;
    while let Some((state, depth)) = settled.pop() {
        count += 1;
        greatest = greatest.max(depth);
        for next in &graph[&state] {
            let through = longest.entry(*next).or_default();
            *through = (*through).max(depth + 1);
            let left = arrivals.entry(*next).or_default();
            *left -= 1;
            if *left == 0 {
                settled.push((*next, *through));
            }
        }
    }
    (count == graph.len()).then_some(greatest)
}

/// Checks on the first hundred thousand literal states that those that differ differ in their words, which are hashed.
pub fn assert_words_tell_apart<T: Modelled, W: Ord>(
    model: &Specification<T>,
    words: impl Fn(&T::State) -> W,
) {
    let model = model.literal();
    let mut found: BTreeMap<W, T::State> = BTreeMap::new();
    let mut open = vec![model.start()];
    let mut actions = Vec::new();
    while let Some(state) = open.pop() {
        if let Some(known) = found.insert(words(&state), state) {
            assert_eq!(known, state);
            continue;
        }
        if found.len() > 100_000 {
            return;
        }
        actions.clear();
        model.actions(&state, &mut actions);
        let next = actions
            .iter()
            .filter_map(|&action| model.take(&state, action));
        open.extend(next);
    }
    panic!("there are more literal states than {}", found.len());
}
