//! The suite that `diff` plays first, held against the reference. Which seeded faults show in it, the tests of `diff` say.

use std::path::Path;
use std::time::Duration;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::{Suited, for_clauses, of_parts};
use countersign_driver::Protocol as _;

/// Where this is set, the committed runs for clauses are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";
/// Among so many seeds they are looked for.
const SEEDS: u64 = 400;

/// The reference over stdio, served like this besides.
fn reference<D: Suited>(arguments: &[&str]) -> Greeted<D::Protocol, Process> {
    let binary = env!("CARGO_BIN_EXE_countersign");
    let command = [&[binary, "serve", D::Protocol::NAME, "--stdio"], arguments].concat();
    let command = command.into_iter().map(Into::into).collect();
    let process = Process::new(command, Duration::from_secs(10));
    Greeted::new(process).expect("the reference greets")
}

/// Where it is asked for, writes the runs for clauses anew: those that there are, and more for what they do not exercise.
fn write<D: Suited>(folder: &str, served: &[&[&str]]) {
    if std::env::var_os(WRITE).is_none() {
        return;
    }
    let [_, mut of_clauses] = of_parts::<D>();
    for arguments in served {
        of_clauses = for_clauses(&mut reference::<D>(arguments), of_clauses, SEEDS);
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conform/src");
    let path = source.join(folder).join("clauses.json");
    std::fs::write(path, of_clauses.text()).expect("it can be written");
}

#[test]
fn w() {
    write::<PendingActionDriver>("pending_action", &[&[]]);
    write::<McpAqlDriver>("mcp_aql", &[&[], &["--signed"]]);
    write::<AaepDriver>("aaep", &[&[]]);
}
