//! The judge, who knows calls and outputs alone, is told of every step of the model.
//!
//! The tables are committed files. Of one rule the judge sees nothing: what the host is told not to begin (`withdraw`) is no
//! output that anybody else sees.

use countersign_model::aaep::{Aaep, AaepProtocol};
use countersign_model::checker::check_judged;
use countersign_model::judge::Kind;
use countersign_model::rules::Rules;
use countersign_model::shortest::Limit;

use crate::common::judged::{assert_nothing_is_found, readings, rules};
use crate::common::small;

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

/// AAEP-EV-11: chapter 6 to the letter. Who reads it so conforms, and leaves blocked who asked.
#[test]
fn a_check_of_a_reading_tells_what_it_costs_in_guarantees_and_nothing_else() {
    let reading = Aaep::reading(["early-default-on-close=never"]).expect("a reading");
    let model = small::<AaepProtocol>().with(Rules::all(), reading);
    let limit = Limit {
        steps: 3,
        ..Limit::default()
    };
    let report = check_judged(&model, limit, &mut |_| {});
    let always = report.properties.iter();
    let judged: Vec<_> = always
        .filter_map(|it| Some((it.judged?, it.holds, &*it.clauses, it.steps.len())))
        .collect();
    let expected: [(_, _, &[&str], _); 2] = [
        (Kind::Conformance, true, &[], 0),
        (Kind::Guarantee, false, &["AAEP-EV-11"], 2),
    ];
    assert_eq!(judged, expected);
}
