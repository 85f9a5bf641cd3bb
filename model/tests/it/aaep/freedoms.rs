//! Whoever changes one output of the spec's producer is found, or has done what the text leaves free.

use super::mutations::{assert_listed, changed};
use countersign_model::aaep::Aaep;
use countersign_model::aaep::environment::Bounds;
use countersign_model::engine::party::ByVariant;
use countersign_model::engine::protocol::Variant;
use countersign_model::facade::engine::Catalog as _;

#[test]
fn a_changed_output_of_the_producer_is_found_or_free_and_breaks_no_guarantee() {
    let producer =
        |bounds: &Bounds| ByVariant::<Aaep>::new(Variant::default(), Aaep::account(Some(bounds)));
    assert_listed(&changed(producer));
}
