//! The judge, who knows calls and outputs alone, is told of every step of the model.
//!
//! The tables are committed files. Of one rule the judge sees nothing: what the host is told not to begin (`withdraw`) is no
//! output that anybody else sees.

use countersign_model::aaep::AaepProtocol;

use crate::common::judged::{assert_nothing_is_found, readings, rules};

#[test]
fn the_judge_finds_nothing_in_a_producer_that_keeps_every_rule() {
    assert_nothing_is_found::<AaepProtocol>();
}

#[test]
fn the_judge_names_the_clause_of_the_rule_that_is_left_out() {
    let found = rules::<AaepProtocol>(6);
    let pinned = include_str!("judged_rules.txt");
    assert!(
        found == pinned,
        "the judge's table of rules is now:\n{found}"
    );
}

#[test]
fn under_every_reading_the_producer_conforms_and_what_it_costs_is_known() {
    let found = readings::<AaepProtocol>(6);
    let pinned = include_str!("judged_readings.txt");
    assert!(
        found == pinned,
        "the judge's table of readings is now:\n{found}"
    );
}
