//! `countersign diff aaep`: the reference and the adapter in Python pass it, and each seeded fault of that is caught.

mod adapter;
#[allow(
    dead_code,
    reason = "here a clause counts too that stands beside the root"
)]
mod kept;

use std::process::Command;

use serde_json::Value;

/// Each fault of the adapter that is caught, and by which clause, from seed 1 in as many runs.
const CAUGHT: [kept::Caught<'_>; 39] = [
    ("runs-before-approval", "AAEP-6.1-1", 30),
    ("deny-is-allow", "AAEP-6.1-1", 30),
    ("modified-is-accepted", "AAEP-6.3.2-4", 100),
    ("wrong-timeout-default", "AAEP-6.4-1", 30),
    ("any-default", "AAEP-6.4.1-1", 30),
    ("early-accept", "AAEP-6.1-1", 100),
    ("runs-twice", "AAEP-6.3.5-1", 300),
    ("third-runs-twice", "AAEP-6.3.4-3", 600),
    ("token-swapped", "AAEP-6.1-1", 100),
    ("same-millisecond", "AAEP-6.1-1", 300),
    ("late-reply", "AAEP-6.3.4-4", 30),
    ("at-the-deadline", "AAEP-6.3.4-4", 30),
    ("cancel-does-not-revoke", "AAEP-6.8-4", 100),
    ("session-end-keeps", "AAEP-6.8-2", 100),
    ("unauthenticated", "AAEP-6.3.4-5", 100),
    ("wrong-sender", "AAEP-6.3.4-5", 100),
    ("unauthenticated-after-restart", "AAEP-6.3.4-5", 100),
    ("any-decision", "AAEP-6.3.4-6", 100),
    ("reply-kind-confusion", "AAEP-6.3.4-2", 100),
    ("foreign-members", "AAEP-6.3.4-1", 100),
    ("any-response", "AAEP-6.5.5-2", 100),
    ("no-forwarding", "AAEP-6.6-4", 30),
    ("no-timeout", "AAEP-6.4-1", 30),
    ("early-timeout", "AAEP-6.4-1", 30),
    ("extension-in-name", "AAEP-6.1-8", 100),
    ("waits-for-nobody", "AAEP-6.4-1", 30),
    ("error-oracle", "AAEP-6.3.4-9", 30),
    ("silent-denial", "AAEP-6.1-3", 30),
    ("asks-twice", "AAEP-6.1-6", 100),
    ("reuses-token", "AAEP-6.2.2-3", 100),
    ("runs-untold", "AAEP-A.4-3", 30),
    ("never-completes", "AAEP-A.3-1", 100),
    ("not-urgent", "AAEP-EV-6", 30),
    ("skips-numbers", "AAEP-EV-4", 30),
    ("talks-after-end", "AAEP-A.1-3", 30),
    ("runs-again-after-restart", "AAEP-6.9-2", 30),
    ("forgets-after-restart", "AAEP-6.4-1", 100),
    ("forgets-used", "AAEP-6.1-1", 100),
    ("forgets-untold", "AAEP-6.7-1", 100),
];

fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
}

fn adapter(arguments: &[&str]) -> Option<Vec<String>> {
    adapter::adapter("aaep", arguments)
}

fn diff(command: &[String], runs: u32) -> Value {
    kept::diff("aaep", command, runs)
}

/// The clauses that were broken, by themselves or among others that say the same.
fn broken(document: &Value) -> Vec<&str> {
    let found = document["divergences"].as_array().into_iter().flatten();
    let found = found.flat_map(|it| {
        let mut names = kept::names(&it["also"]);
        names.extend(it["clause"].as_str());
        names
    });
    found.collect()
}

fn passes(command: &[String]) -> Value {
    let document = diff(command, 200);
    let divergences = document["divergences"].as_array().expect("a list");
    let told: Vec<String> = divergences.iter().map(Value::to_string).collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert_ne!(document["verdict"], "violates");
    assert_eq!(document["runs"], 200);
    document
}

fn upholds(document: &Value, clauses: &[&str]) {
    for clause in clauses {
        let all = document["clauses"].as_array().expect("a list");
        let found = all.iter().find(|it| it["clause"] == *clause);
        let verdict = found.map(|it| &it["verdict"]);
        assert_eq!(verdict, Some(&Value::from("upholds")), "{clause}");
    }
}

#[test]
fn the_reference_passes() {
    let reference = binary().get_program().to_string_lossy().into_owned();
    let served = [&reference, "serve", "aaep", "--stdio"].map(str::to_owned);
    let document = passes(&served);
    let work = ["AAEP-A.2-3", "AAEP-A.6-1", "AAEP-A.6-2", "AAEP-6.7-1"];
    upholds(&document, &work);
    let asked = ["AAEP-6.1-1", "AAEP-6.1-3", "AAEP-6.4-1", "AAEP-6.3.5-2"];
    upholds(&document, &asked);
}

#[test]
fn the_adapter_passes_and_what_it_does_not_declare_is_not_asked() {
    let Some(command) = adapter(&[]) else { return };
    let document = passes(&command);
    upholds(&document, &["AAEP-6.1-1", "AAEP-6.1-3", "AAEP-6.4-1"]);
    // Handoff and output are work, which it has not.
    let all = document["clauses"].as_array().expect("a list");
    for clause in ["AAEP-A.2-3", "AAEP-A.6-1"] {
        let found = all.iter().find(|it| it["clause"] == clause);
        let verdict = found.map(|it| &it["verdict"]);
        assert_eq!(verdict, Some(&Value::from("unsupported")), "{clause}");
    }
}

/// What lies open is taken as the adapter takes it, and told.
#[test]
fn a_variant_by_another_reading_passes_and_the_reading_is_named() {
    let variants = [
        ("no-notices", None),
        ("ends-by-itself", Some(("session-end-tells", ["by-itself"]))),
        ("never-early", Some(("early-default-on-close", ["never"]))),
    ];
    for (variant, reading) in variants {
        let Some(command) = adapter(&["--variant", variant]) else {
            return;
        };
        let document = passes(&command);
        if let Some((place, choices)) = reading {
            assert_eq!(document["readings"][place], Value::from(choices.to_vec()));
        }
    }
}

#[test]
fn each_fault_that_is_kept_is_caught_by_its_clause() {
    for (fault, clause, runs) in CAUGHT {
        let Some(command) = adapter(&["--fault", fault]) else {
            return;
        };
        // Most show in the suite, which comes first.
        let is_named = |runs| broken(&diff(&command, runs)).contains(&clause);
        let named = is_named(1) || is_named(runs);
        assert!(named, "{fault}: {clause} in {runs} runs: {command:?}");
    }
}

#[test]
fn each_fault_is_kept() {
    let Some(list) = kept::listed(adapter, "--list-faults") else {
        return;
    };
    let mut listed: Vec<&str> = list.iter().filter_map(|it| it["name"].as_str()).collect();
    let mut kept: Vec<&str> = CAUGHT.iter().map(|(fault, ..)| *fault).collect();
    listed.sort_unstable();
    kept.sort_unstable();
    assert_eq!(listed, kept);
}
