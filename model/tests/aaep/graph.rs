//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::state::State;

use crate::common::bounds::assert_bounds;
use crate::common::shape::{assert_words_tell_apart, longest_run};
use crate::common::{small, within};

#[test]
fn every_run_ends_and_the_longest_is_known() {
    assert_eq!(longest_run(&small::<AaepProtocol>()), Some(23));
}

#[test]
fn states_that_differ_differ_in_their_words() {
    let bounds = Bounds {
        ticks: 1,
        ..Bounds::SMALL
    };
    assert_words_tell_apart(&within::<AaepProtocol>(bounds), State::words);
}

#[test]
fn a_bound_out_of_range_is_named_with_its_range() {
    assert_bounds::<AaepProtocol>(|ticks| Bounds {
        ticks,
        ..Bounds::SMALL
    });
}
