//! The fuzz corpora, replayed on stable Rust: what a fuzzer has found stays found.

use std::fs;
use std::path::Path;

use countersign_spec_trace::harness;

/// Runs a target on every file of its corpus.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target);
    let files = fs::read_dir(&folder).expect("the folder of the corpus");
    let mut inputs = 0;
    for file in files {
        let path = file.expect("a readable entry").path();
        run(&fs::read(&path).expect("a readable input"));
        inputs += 1;
    }
    assert!(inputs > 0, "{} holds inputs", folder.display());
}

#[test]
fn aaep_schedule_agrees_on_its_corpus() {
    replay("aaep_schedule", harness::aaep_schedule);
}

#[test]
fn mcp_aql_schedule_agrees_on_its_corpus() {
    replay("mcp_aql_schedule", harness::mcp_aql_schedule);
}

#[test]
fn aaep_reply_holds_on_its_corpus() {
    replay("aaep_reply", harness::aaep_reply);
}

#[test]
fn lint_stream_holds_on_its_corpus() {
    replay("lint_stream", harness::lint_stream);
}

#[test]
fn mcp_aql_token_holds_on_its_corpus() {
    replay("mcp_aql_token", harness::mcp_aql_token);
}

#[test]
fn mcp_aql_canonical_holds_on_its_corpus() {
    replay("mcp_aql_canonical", harness::mcp_aql_canonical);
}

#[test]
fn mcp_aql_signed_holds_on_its_corpus() {
    replay("mcp_aql_signed", harness::mcp_aql_signed);
}

#[test]
fn pending_action_schedule_agrees_on_its_corpus() {
    replay("pending_action_schedule", harness::pending_action_schedule);
}

#[test]
fn pending_action_journal_holds_on_its_corpus() {
    replay("pending_action_journal", harness::pending_action_journal);
}

#[test]
fn pending_action_arguments_holds_on_its_corpus() {
    replay(
        "pending_action_arguments",
        harness::pending_action_arguments,
    );
}
