//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

use std::collections::{BTreeMap, BTreeSet};

use countersign_model::mcp_aql::McpAql;
use countersign_model::mcp_aql::bounds::{Bounds, BoundsError};
use countersign_model::mcp_aql::output::Output;
use countersign_model::mcp_aql::state::State;

use crate::shape::longest_run;

#[test]
fn every_run_ends_and_the_longest_is_known() {
    let model = McpAql::new(Bounds::SMALL).expect("a preset is in range");
    assert_eq!(longest_run(&model), Some(23));
}

#[test]
fn states_that_differ_differ_in_their_words() {
    let model = McpAql::new(Bounds::SMALL)
        .expect("a preset is in range")
        .literal();
    let mut found: BTreeMap<[u64; 5], State> = BTreeMap::new();
    let mut open = vec![model.start()];
    let mut actions = Vec::new();
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
        let steps = actions
            .iter()
            .filter_map(|&action| model.step(&state, action));
        open.extend(steps.map(|step| step.next));
    }
    assert!(
        found.len() > 100_000,
        "there are more literal states than that"
    );
}

/// AQL-4.1-1, AQL-5.5-2: only what is rejected, or asked after, may be answered as purged. And every output of every step
/// is traced to a clause, the same that forbids nothing that is required.
#[test]
fn every_output_has_its_clause_and_no_admission_has_another_answer() {
    let model = McpAql::new(Bounds::SMALL).expect("a preset is in range");
    let mut known = BTreeSet::from([model.start().words()]);
    let mut open = vec![model.start()];
    let mut actions = Vec::new();
    while let Some(state) = open.pop() {
        actions.clear();
        model.enabled(&state, &mut actions);
        for &action in &actions {
            let step = model
                .step(&state, action)
                .expect("what is enabled leads somewhere");
            let admits = |output| matches!(output, Output::Perform(_) | Output::Revoked(_));
            assert!(step.instead.is_none() || !step.required.iter().any(admits));
            for output in step.required.iter() {
                let clause = model.required_by(&state, action, output);
                assert!(clause.is_some_and(|clause| clause.starts_with("AQL-")));
                assert_eq!(model.forbidden_by(&state, action, output), None);
            }
            let next = model.reduced(&step.next);
            if known.insert(next.words()) {
                open.push(next);
            }
        }
    }
}

#[test]
fn bounds_that_are_out_of_range_are_refused_with_the_range() {
    for (ticks, refused) in [(7, false), (8, false), (9, true)] {
        let bounds = Bounds {
            ticks,
            ..Bounds::SMALL
        };
        let error = BoundsError::OutOfRange {
            name: "ticks",
            value: ticks,
            least: 0,
            most: 8,
        };
        assert_eq!(McpAql::new(bounds).err(), refused.then_some(error));
    }
    let unknown = Bounds::preset("huge").expect_err("there is no such preset");
    assert_eq!(
        unknown.to_string(),
        "unknown bounds `huge`: expected one of small, default, large"
    );
}
