//! The suite that `diff` plays first, held against the reference. Which seeded faults show in it, the tests of `diff` say.

use std::path::Path;
use std::time::Duration;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::{Suited, exercised_by, for_clauses, of_parts};
use countersign_driver::Protocol as _;

/// Where this is set, the committed runs for clauses are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";
/// Among so many seeds they are looked for.
const SEEDS: u64 = 400;

fn reference<D: Suited>() -> Greeted<D::Protocol, Process> {
    let binary = env!("CARGO_BIN_EXE_countersign");
    let command = [binary, "serve", D::Protocol::NAME, "--stdio"].map(Into::into);
    let process = Process::new(command.to_vec(), Duration::from_secs(10));
    Greeted::new(process).expect("the reference greets")
}

fn assert_exercised<D: Suited>(folder: &str) {
    let mut reference = reference::<D>();
    if std::env::var_os(WRITE).is_some() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conform/src");
        let text = for_clauses::<D, _>(&mut reference, SEEDS).text();
        let path = source.join(folder).join("clauses.json");
        std::fs::write(path, text).expect("it can be written");
        return;
    }
    let [_, of_clauses] = of_parts::<D>();
    for short in of_clauses.runs {
        let exercised = exercised_by::<D, _>(&mut reference, &short.steps);
        let clause = short.shows[0].trim_start_matches("clause: ");
        assert!(exercised.contains(clause), "{clause}: {exercised:?}");
    }
}

#[test]
fn each_run_for_a_clause_exercises_it() {
    assert_exercised::<PendingActionDriver>("pending_action");
    assert_exercised::<McpAqlDriver>("mcp_aql");
    assert_exercised::<AaepDriver>("aaep");
}
