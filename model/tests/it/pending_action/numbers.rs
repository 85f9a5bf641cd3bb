//! The numbers of the text: none yet that can be changed.

use countersign_model::pending_action::PendingActionProtocol;

use crate::common::numbers::{
    assert_each_number_makes_a_difference, assert_the_numbers_are_those_of_the_text,
    assert_the_party_follows_each_number,
};

#[test]
fn the_numbers_are_those_of_the_text_and_whichever_can_be_changed_makes_a_difference() {
    assert_the_numbers_are_those_of_the_text::<PendingActionProtocol>();
    assert_each_number_makes_a_difference::<PendingActionProtocol>(4);
    assert_the_party_follows_each_number::<PendingActionProtocol>(4);
}
