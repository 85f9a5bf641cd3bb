//! The fuzz corpora, replayed on stable Rust: what a fuzzer has found stays found.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_conform::harness;

/// What a target does with the bytes that a fuzzer gives it.
type Run = fn(&[u8]);

/// Each target, and what it runs.
const TARGETS: [(&str, Run); 12] = [
    ("aaep_reply", harness::aaep_reply),
    ("aaep_schedule", harness::aaep_schedule),
    ("aaep_wide", harness::aaep_wide),
    ("mcp_aql_canonical", harness::mcp_aql_canonical),
    ("mcp_aql_schedule", harness::mcp_aql_schedule),
    ("mcp_aql_signed", harness::mcp_aql_signed),
    ("mcp_aql_token", harness::mcp_aql_token),
    ("mcp_aql_wide", harness::mcp_aql_wide),
    (
        "pending_action_arguments",
        harness::pending_action_arguments,
    ),
    ("pending_action_journal", harness::pending_action_journal),
    ("pending_action_schedule", harness::pending_action_schedule),
    ("pending_action_wide", harness::pending_action_wide),
];

/// The files of a folder of the fuzz crate.
fn files(folder: &str) -> Vec<PathBuf> {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let entries = fs::read_dir(fuzz.join(folder)).expect("the folder is part of the project");
    let entries = entries.map(|entry| entry.expect("a readable entry").path());
    entries.collect()
}

#[test]
fn every_target_holds_on_its_corpus() {
    for (target, run) in TARGETS {
        let inputs = files(&format!("corpus/{target}"));
        assert!(!inputs.is_empty(), "{target} has inputs");
        for input in inputs {
            // Said only where it fails: a panic does not know its input.
            println!("{}", input.display());
            run(&fs::read(&input).expect("a readable input"));
        }
    }
}

/// All but the targets of the judge of streams, whose own tests replay them.
#[test]
fn every_target_is_replayed() {
    let replayed = TARGETS.map(|(target, _)| target.to_owned());
    let there = files("fuzz_targets").into_iter().filter_map(|file| {
        let source = fs::read_to_string(&file).expect("a readable source");
        let name = file.file_stem().and_then(|name| name.to_str());
        let name = name.expect("a name in plain text").to_owned();
        (!source.contains("countersign_lint::harness::")).then_some(name)
    });
    assert_eq!(BTreeSet::from(replayed), there.collect());
}
