//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

#[path = "common/shape.rs"]
mod shape;

use std::collections::BTreeMap;

use countersign_model::aaep::Aaep;
use countersign_model::aaep::action::Action;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::state::State;

use shape::longest_run;

#[test]
fn every_run_ends_and_the_longest_is_known() {
    let model = Aaep::new(Bounds::SMALL).expect("a preset is in range");
    assert_eq!(longest_run(&model), Some(23));
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
