//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

use std::collections::BTreeMap;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::state::State;

/// Every state with the states that follow it, apart from itself.
fn graph(model: &Aaep) -> BTreeMap<[u64; 5], Vec<[u64; 5]>> {
    let mut graph = BTreeMap::new();
    let mut open: Vec<State> = vec![model.start()];
    let mut actions: Vec<Action> = Vec::new();
    while let Some(state) = open.pop() {
        if graph.contains_key(&state.words()) {
            continue;
        }
        actions.clear();
        model.enabled(&state, &mut actions);
        let steps = actions
            .iter()
            .filter_map(|&action| model.step(&state, action));
        let next: Vec<State> = steps
            .map(|step| model.reduced(&step.next))
            .filter(|next| *next != state)
            .collect();
        graph.insert(state.words(), next.iter().map(State::words).collect());
        open.extend(next);
    }
    graph
}

#[test]
fn every_run_ends_and_the_longest_is_known() {
    let model = Aaep::new(Bounds::SMALL).expect("a preset is in range");
    let graph = graph(&model);
    let mut arrivals: BTreeMap<[u64; 5], usize> = graph.keys().map(|&state| (state, 0)).collect();
    for next in graph.values().flatten() {
        *arrivals.entry(*next).or_default() += 1;
    }
    // A state is settled once every step into it is; on a cycle none ever would be.
    let mut settled: Vec<([u64; 5], usize)> = vec![(model.start().words(), 0)];
    let mut longest: BTreeMap<[u64; 5], usize> = BTreeMap::new();
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
    assert_eq!(
        count,
        graph.len(),
        "states that no run leaves behind lie on a cycle"
    );
    assert_eq!(greatest, 23);
}

#[test]
fn states_that_differ_differ_in_their_words() {
    let model = Aaep::new(Bounds {
        ticks: 1,
        ..Bounds::SMALL
    })
    .expect("the bounds are in range")
    .literal();
    let mut found: BTreeMap<[u64; 5], State> = BTreeMap::new();
    let mut open = vec![model.start()];
    let mut actions: Vec<Action> = Vec::new();
    while let Some(state) = open.pop() {
        if let Some(known) = found.insert(state.words(), state) {
            assert_eq!(known, state);
            continue;
        }
        if found.len() > 100_000 {
            break;
        }
        actions.clear();
        model.enabled(&state, &mut actions);
        open.extend(
            actions
                .iter()
                .filter_map(|&action| model.step(&state, action))
                .map(|step| step.next),
        );
    }
    assert!(
        found.len() > 100_000,
        "there are more literal states than that"
    );
}
