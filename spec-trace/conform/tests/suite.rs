//! The suites: each committed one is that which the model gives.

use std::path::Path;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::{Suited, committed, derive};

/// Where this is set, the committed suites are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";

fn assert_is_of_the_model<D: Suited>(folder: &str) {
    let text = derive::<D>(|_| {}).text();
    if std::env::var_os(WRITE).is_some() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        std::fs::write(source.join(folder).join("suite.json"), &text).expect("it can be written");
    } else {
        let is_same = committed::<D>().text() == text;
        assert!(
            is_same,
            "the suite is another; with {WRITE}=1 it is written"
        );
    }
}

#[test]
fn the_suite_of_pending_actions_is_that_of_the_model() {
    assert_is_of_the_model::<PendingActionDriver>("pending_action");
}

#[test]
fn the_suite_of_confirmation_tokens_is_that_of_the_model() {
    assert_is_of_the_model::<McpAqlDriver>("mcp_aql");
}

#[test]
fn the_suite_of_aaep_is_that_of_the_model() {
    assert_is_of_the_model::<AaepDriver>("aaep");
}
