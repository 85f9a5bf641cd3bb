//! Adapters under `countersign diff`: faults that have to be caught, and variants that have to pass.

use std::process::Command;

use serde_json::Value;

use crate::adapter::adapter;

/// A fault, the clause that names it, and the runs from seed 1 in which it has to be caught.
pub type Caught<'a> = (&'a str, &'a str, u32);

/// The binary.
pub fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_countersign"))
}

/// The report on a command in so many runs.
pub fn diff(protocol: &str, command: &[String], runs: u32) -> Value {
    let kept = tempfile::tempdir().expect("a folder");
    let mut diff = binary();
    diff.args(["diff", protocol, "--format", "json", "--runs"])
        .arg(runs.to_string())
        .arg("--save")
        .arg(kept.path())
        .arg("--")
        .args(command);
    let output = diff.output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|it| panic!("{it}: {text}{error}"))
}

/// The clauses that name divergences which follow from no other, each with whether it was seen again each time.
fn roots(document: &Value) -> Vec<(&str, bool)> {
    let found = document["divergences"].as_array().into_iter().flatten();
    let found = found.filter(|it| it["follows"].as_array().is_some_and(Vec::is_empty));
    let root = |it: &'_ Value| it["again"]["seen"] == it["again"]["of"];
    found
        .filter_map(|it| Some((it["clause"].as_str()?, root(it))))
        .collect()
}

/// Each fault is caught, is named by its clause, and is seen whenever its run is played.
pub fn are_caught(protocol: &str, program: &str, faults: &[Caught<'_>]) {
    for (fault, clause, runs) in faults {
        let Some(command) = adapter(program, &["--fault", fault]) else {
            return;
        };
        let document = diff(protocol, &command, *runs);
        let roots = roots(&document);
        assert!(
            roots.contains(&(*clause, true)),
            "{fault}: {clause}: {roots:?}"
        );
    }
}

/// Nothing is found in so many runs.
pub fn passes(protocol: &str, command: &[String], runs: u32) -> Value {
    let document = diff(protocol, command, runs);
    let divergences = document["divergences"].as_array().expect("a list");
    let told: Vec<String> = divergences.iter().map(Value::to_string).collect();
    assert!(told.is_empty(), "{command:?}: {}", told.join("\n"));
    assert_eq!(document["verdict"], "holds", "{command:?}");
    assert_eq!(document["runs"], runs);
    document
}

/// What an adapter has of these (`--list-faults`, `--list-variants`): the list.
pub fn listed(program: &str, list: &str) -> Option<Vec<Value>> {
    let command = adapter(program, &[list])?;
    let output = Command::new(&command[0]).args(&command[1..]).output();
    let list: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("a document");
    Some(list.as_array().expect("a list").clone())
}

/// Every variant passes, with the clauses that it declares nothing for left open, and takes the reading that it says it does.
pub fn variants_pass(protocol: &str, program: &str, runs: u32) -> usize {
    let variants = listed(program, "--list-variants").unwrap_or_default();
    for variant in &variants {
        let name = variant["name"].as_str().expect("a name");
        let command = adapter(program, &["--variant", name]).expect("it was listed");
        let document = passes(protocol, &command, runs);
        if let Some((place, choice)) = variant["reading"]
            .as_str()
            .and_then(|it| it.split_once('='))
        {
            assert_eq!(
                document["readings"][place],
                Value::from(vec![choice]),
                "{name}"
            );
        }
    }
    variants.len()
}

/// Every fault that an adapter has stands in the list, by the clause that it says it breaks.
pub fn all_are_kept(program: &str, faults: &[Caught<'_>]) {
    let Some(listed) = listed(program, "--list-faults") else {
        return;
    };
    let named = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let mut listed: Vec<_> = listed
        .iter()
        .map(|it| (named(it, "name"), named(it, "clause")))
        .collect();
    let mut kept: Vec<_> = faults
        .iter()
        .map(|(fault, clause, _)| ((*fault).to_owned(), (*clause).to_owned()))
        .collect();
    listed.sort_unstable();
    kept.sort_unstable();
    assert_eq!(listed, kept);
}
