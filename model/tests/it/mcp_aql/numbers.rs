//! The numbers of the text: what is changed changes verdicts.

use countersign_model::mcp_aql::McpAqlProtocol;

use crate::common::numbers::{
    assert_each_number_makes_a_difference, assert_the_numbers_are_those_of_the_text,
    assert_the_party_follows_each_number,
};

#[test]
fn the_numbers_are_those_of_the_text() {
    assert_the_numbers_are_those_of_the_text::<McpAqlProtocol>();
}

#[test]
fn each_number_that_can_be_changed_makes_a_difference() {
    assert_each_number_makes_a_difference::<McpAqlProtocol>(3);
}

#[test]
fn a_party_that_follows_another_number_is_right_by_it() {
    assert_the_party_follows_each_number::<McpAqlProtocol>(5);
}
