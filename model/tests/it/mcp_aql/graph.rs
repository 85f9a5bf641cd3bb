//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::mcp_aql::bounds::Bounds;
use countersign_model::mcp_aql::output::Output;
use countersign_model::mcp_aql::state::State;

use crate::common::bounds::assert_bounds;
use crate::common::shape::{assert_words_tell_apart, each_step, longest_run};
use crate::common::small;

#[test]
fn every_run_ends_and_the_longest_is_known() {
    assert_eq!(longest_run(&small::<McpAqlProtocol>()), Some(29));
}

#[test]
fn states_that_differ_differ_in_their_words() {
    assert_words_tell_apart(&small::<McpAqlProtocol>(), State::words);
}

/// AQL-4.1-1, AQL-5.5-2: only what is rejected, or asked after, may be answered as purged.
#[test]
fn no_admission_has_another_answer() {
    let model = small::<McpAqlProtocol>();
    each_step(&model, |&state, action| {
        let step = model
            .step(&state, action)
            .expect("what is enabled leads somewhere");
        let admits = |output| matches!(output, Output::Perform(_) | Output::Revoked(_));
        assert!(step.instead.is_none() || !step.required.iter().any(admits));
    });
}

#[test]
fn a_bound_out_of_range_is_named_with_its_range() {
    assert_bounds::<McpAqlProtocol>(40, |ticks| Bounds {
        ticks,
        ..Bounds::SMALL
    });
}
