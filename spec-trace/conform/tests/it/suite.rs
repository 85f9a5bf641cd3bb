//! The suites: each committed one is that which the model gives.

use std::path::Path;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::{Suited, committed, derive, of_parts};
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled as _;

/// Where this is set, the committed suites are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";

fn assert_is_of_the_model<D: Suited>(folder: &str) {
    let text = derive::<D>(|_| {}).text();
    if std::env::var_os(WRITE).is_some() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        std::fs::write(source.join(folder).join("suite.json"), &text).expect("it can be written");
    } else {
        let [of_model, _] = of_parts::<D>();
        let is_same = of_model.text() == text;
        assert!(
            is_same,
            "the suite is another; with {WRITE}=1 it is written"
        );
    }
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_pending_actions_is_that_of_the_model() {
    assert_is_of_the_model::<PendingActionDriver>("pending_action");
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_confirmation_tokens_is_that_of_the_model() {
    assert_is_of_the_model::<McpAqlDriver>("mcp_aql");
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_aaep_is_that_of_the_model() {
    assert_is_of_the_model::<AaepDriver>("aaep");
}

/// Each rule that can be left out has a run, or a reason why not.
fn assert_whole<D: Suited>() {
    let suite = committed::<D>();
    let shows = suite.runs.iter().flat_map(|run| &run.shows);
    let shows: Vec<&str> = shows.map(String::as_str).collect();
    for row in <D::Model as Modelled>::Guard::ROWS {
        let what = format!("without {}", row.name);
        let is_shown = shows.iter().any(|it| it.starts_with(&format!("{what}: ")));
        let is_left_out = suite.left_out.iter().any(|it| it.what == what);
        assert!(is_shown != is_left_out, "{what}");
    }
    for row in <D::Model as Modelled>::WITNESSES {
        let what = format!("witness: {}", row.name());
        assert!(shows.contains(&what.as_str()), "{what}");
    }
}

#[test]
fn every_rule_and_every_witness_has_a_run() {
    assert_whole::<AaepDriver>();
    assert_whole::<McpAqlDriver>();
    assert_whole::<PendingActionDriver>();
}
