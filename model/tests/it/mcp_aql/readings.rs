//! What each other way to take the text costs: what it gives up is what it breaks.
//!
//! The table is a committed file, `readings.txt`. A change of it is a change of the specification and has to be explained.

use countersign_model::mcp_aql::McpAqlProtocol;

use crate::common::readings::{assert_first_choices_specify, table};

#[test]
fn the_first_choice_is_the_specification() {
    assert_first_choices_specify::<McpAqlProtocol>();
}

#[test]
fn every_other_choice_breaks_what_it_gives_up_and_nothing_else() {
    let found = table::<McpAqlProtocol>(7);
    let pinned = include_str!("readings.txt");
    assert!(found == pinned, "the table of readings is now:\n{found}");
}
