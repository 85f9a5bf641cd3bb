//! The suite that `diff` plays first, held against the seeded faults of the adapters.

mod adapter;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::{Suited, exercised_by, for_clauses, of_parts};
use countersign_driver::Protocol as _;
use serde_json::Value;

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

fn said(command: &[String]) -> std::process::Output {
    let output = Command::new(&command[0]).args(&command[1..]).output();
    output.expect("it runs")
}

/// Most faults show in it, as divergences; those that need more (a third time, a restart between) are for the seeds.
#[test]
fn most_seeded_faults_show_in_the_suite() {
    for (protocol, program) in [
        ("aaep", "aaep"),
        ("mcp-aql", "mcp_aql"),
        ("pending-action", "pending_action"),
    ] {
        let Some(list) = adapter::adapter(program, &["--list-faults"]) else {
            return;
        };
        let faults: Vec<Value> = serde_json::from_slice(&said(&list).stdout).expect("JSON");
        let folder = tempfile::tempdir().expect("a folder");
        let is_caught = |fault: &&Value| {
            let name = fault["name"].as_str().expect("a name");
            let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
            command.args(["diff", protocol, "--runs", "1", "--save"]);
            command.arg(folder.path()).arg("--");
            command.args(adapter::adapter(program, &["--fault", name]).expect("a Python"));
            command.output().expect("it runs").status.code() == Some(1)
        };
        let caught = faults.iter().filter(is_caught).count();
        let least = faults.len() * 6 / 10;
        assert!(caught >= least, "{protocol}: {caught} of {}", faults.len());
    }
}
