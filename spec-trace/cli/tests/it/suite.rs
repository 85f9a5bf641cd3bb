//! The suite that `diff` plays first, held against the reference. Which seeded faults show in it, the tests of `diff` say.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use countersign_conform::driven::Others;
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::spoken::{Spoken, Wire};
use countersign_conform::suite::{for_clauses, of_parts, tried_for};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use serde_json::Value;

/// Where this is set, the committed runs for clauses are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_SUITES";
/// Among so many seeds they are looked for.
const SEEDS: u64 = 400;

/// The reference over stdio, served like this besides.
fn reference<P: Spoken>(arguments: &[&str]) -> Greeted<Wire<P>, Process> {
    let binary = env!("CARGO_BIN_EXE_countersign");
    let command = [&[binary, "serve", P::NAME, "--stdio"], arguments].concat();
    let command = command.into_iter().map(Into::into).collect();
    let process = Process::new(command, Duration::from_mins(1));
    Greeted::new(process).expect("the reference greets")
}

/// Of these ways to serve the reference, one at least could have been wrong by the clause that a run is there for.
fn assert_exercised<P: Spoken>(folder: &str, served: &[&[&str]]) {
    let [of_model, mut of_clauses] = of_parts::<P>();
    if std::env::var_os(WRITE).is_some() {
        for arguments in served {
            of_clauses = for_clauses(&mut reference::<P>(arguments), of_clauses, SEEDS);
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conform/src");
        let path = source.join(folder).join("clauses.json");
        std::fs::write(path, of_clauses.text()).expect("it can be written");
        return;
    }
    let known = served.iter().map(|arguments| {
        let mut reference = reference::<P>(arguments);
        let mut others = Others::<P>::default();
        of_model.tries(&mut reference, &mut others);
        others.exercised.clear();
        (reference, others)
    });
    let mut known: Vec<_> = known.collect();
    let mut in_vain = Vec::new();
    for short in of_clauses.runs {
        // What no step of the model does has a run too, which a fault of an adapter shows in.
        let Some(clause) = short.clauses().next() else {
            continue;
        };
        let mut is_exercised = false;
        for (reference, others) in &mut known {
            // What is learnt in one run may be tried in the next.
            *others = tried_for(reference, &short.steps, clause, others);
            is_exercised |= std::mem::take(&mut others.exercised).contains(clause);
        }
        if !is_exercised {
            in_vain.push(format!("{clause}: {:?}", short.steps));
        }
    }
    assert!(in_vain.is_empty(), "{in_vain:#?}");
}

#[test]
fn each_run_for_a_clause_exercises_it() {
    assert_exercised::<PendingAction>("pending_action", &[&[]]);
    assert_exercised::<McpAql>("mcp_aql", &[&[], &["--signed"]]);
    assert_exercised::<Aaep>("aaep", &[&[]]);
}

/// Status 0 means that every MUST of what is declared was tried: the suite is enough for that. Identifiers come from a seed, for whether
/// one is counted up (AQL-3.1-3) can only be tried where one ends in a digit.
#[test]
fn the_suite_alone_exercises_all_that_binds_the_reference() {
    let served: [&[&str]; 4] = [
        &["pending-action"],
        &["mcp-aql"],
        &["mcp-aql", "--signed"],
        &["aaep"],
    ];
    for arguments in served {
        let [protocol, settings @ ..] = arguments else {
            panic!("it is of a protocol")
        };
        let binary = env!("CARGO_BIN_EXE_countersign");
        let kept = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(binary);
        command.args([
            "diff", protocol, "--runs", "0", "--format", "json", "--save",
        ]);
        command
            .arg(kept.path())
            .args(["--", binary, "serve", protocol, "--stdio", "--seed", "1"]);
        let output = command.args(settings).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let document: Value = serde_json::from_str(&text).expect("a JSON document");
        assert_eq!(document["untried"], serde_json::json!([]), "{arguments:?}");
        assert_eq!(document["runs"], 0);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
    }
}
