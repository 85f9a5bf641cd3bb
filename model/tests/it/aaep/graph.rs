//! The shape of the graph: it ends. Every step but one that changes nothing spends something that does not come back, so a
//! depth-first search, which carries its path with it, stays small.

use countersign_model::aaep::AaepProtocol;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::state::State;

use crate::common::bounds::assert_bounds;
use crate::common::shape::{assert_words_tell_apart, each_step, longest_run};
use crate::common::{small, within};

#[test]
fn every_run_ends_and_the_longest_is_known() {
    assert_eq!(longest_run(&small::<AaepProtocol>()), Some(27));
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
fn what_a_step_has_to_put_out_is_not_optional_and_what_is_about_a_question_comes_out_once() {
    let model = small::<AaepProtocol>();
    each_step(&model, |&state, action| {
        let step = model
            .step(&state, action)
            .expect("what is enabled leads somewhere");
        for output in step.required.iter() {
            assert!(!step.optional.contains(output), "{action:?} {output:?}");
            if output.slot().is_some() {
                assert_eq!(step.required.count(output), 1, "{action:?} {output:?}");
            }
        }
    });
}

#[test]
fn a_bound_out_of_range_is_named_with_its_range() {
    assert_bounds::<AaepProtocol>(8, |ticks| Bounds {
        ticks,
        ..Bounds::SMALL
    });
}
