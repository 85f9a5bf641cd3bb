//! The suites: each committed one is that which the model gives.

use std::path::Path;

use countersign_conform::spoken::{self, Spoken, text_of};
use countersign_conform::suite::{Suite, committed};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;

/// Where this is set, the committed suites are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";

fn assert_is_of_the_text<P: Spoken>(folder: &str, derived: &Suite<P>) {
    let text = derived.text();
    if std::env::var_os(WRITE).is_some() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        std::fs::write(source.join(folder).join("suite.json"), &text).expect("it can be written");
    } else {
        let is_same = committed::<P>().text() == text;
        assert!(
            is_same,
            "the suite is another; with {WRITE}=1 it is written"
        );
    }
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_pending_actions_is_that_of_the_text() {
    assert_is_of_the_text("pending_action", &spoken::derived::<PendingAction>(|_| {}));
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_confirmation_tokens_is_that_of_the_text() {
    assert_is_of_the_text("mcp_aql", &spoken::derived::<McpAql>(|_| {}));
}

#[test]
#[ignore = "night: derives the suite anew"]
fn the_suite_of_aaep_is_that_of_the_text() {
    assert_is_of_the_text("aaep", &spoken::derived::<Aaep>(|_| {}));
}

/// Each rule that can be left out has a run, or a reason why not, and each situation has a run.
fn assert_whole<P: Spoken>() {
    let suite = committed::<P>();
    let shows = suite.runs.iter().flat_map(|run| &run.shows);
    let shows: Vec<&str> = shows.map(String::as_str).collect();
    for rule in &text_of::<P>().rules {
        let what = format!("without {}", rule.name);
        let is_shown = shows.iter().any(|it| it.starts_with(&format!("{what}: ")));
        let is_left_out = suite.left_out.iter().any(|it| it.what == what);
        assert!(is_shown != is_left_out, "{what}");
    }
    for situation in &text_of::<P>().situations {
        let what = format!("witness: {}", situation.name);
        assert!(shows.contains(&what.as_str()), "{what}");
    }
}

#[test]
fn every_rule_and_every_witness_has_a_run() {
    assert_whole::<Aaep>();
    assert_whole::<McpAql>();
    assert_whole::<PendingAction>();
}
