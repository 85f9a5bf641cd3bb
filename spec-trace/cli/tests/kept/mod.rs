//! Adapters under `countersign diff`: faults that have to be caught, and variants that have to pass.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

/// A fault, the clause that names it, and the runs from seed 1 in which it has to be caught.
pub type Caught<'a> = (&'a str, &'a str, u32);

/// The command of an adapter with these arguments, or none, where there is nothing to run it.
pub type Start = fn(&[&str]) -> Option<Vec<String>>;

/// In so many runs nothing is found in an adapter that does nothing wrong.
const RUNS: u32 = 100;

/// The report on a command in so many runs.
pub fn diff(protocol: &str, command: &[String], runs: u32) -> Value {
    let kept = tempfile::tempdir().expect("a folder");
    let mut diff = Command::new(env!("CARGO_BIN_EXE_countersign"));
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

/// The names of a list of them.
pub fn names(of: &Value) -> Vec<&str> {
    let all = of.as_array().into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

/// The clauses of the divergences that are seen each time, and follow from none but such as name them too.
fn roots(document: &Value) -> Vec<&str> {
    let found: Vec<&Value> = document["divergences"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let named = found
        .iter()
        .map(|it| (it["clause"].as_str(), names(&it["also"])));
    let named: BTreeMap<_, _> = named.collect();
    let is_root = |it: &&Value| {
        let clause = it["clause"].as_str().unwrap_or_default();
        let mut before = names(&it["follows"]).into_iter();
        let is_first = before.all(|it| {
            named
                .get(&Some(it))
                .is_some_and(|also| also.contains(&clause))
        });
        is_first && it["again"]["seen"] == it["again"]["of"]
    };
    let roots = found.into_iter().filter(is_root);
    roots.filter_map(|it| it["clause"].as_str()).collect()
}

/// Each fault is caught, and named by its clause.
pub fn are_caught(protocol: &str, start: Start, faults: &[Caught<'_>]) {
    for (fault, clause, runs) in faults {
        let Some(command) = start(&["--fault", fault]) else {
            return;
        };
        // Most show in the suite, which comes first.
        let is_named = |runs| roots(&diff(protocol, &command, runs)).contains(clause);
        let named = is_named(1) || is_named(*runs);
        assert!(named, "{fault}: {clause} in {runs} runs: {command:?}");
    }
}

/// Nothing is found.
fn passes(protocol: &str, command: &[String]) -> Value {
    let document = diff(protocol, command, RUNS);
    assert_eq!(
        document["divergences"],
        Value::Array(Vec::new()),
        "{command:?}"
    );
    // What these runs did not exercise is told, and is no fault.
    assert_ne!(document["verdict"], "violates", "{command:?}");
    assert_eq!(document["runs"], RUNS);
    document
}

/// What an adapter has, as it lists it.
pub fn listed(start: Start, list: &str) -> Option<Vec<Value>> {
    let command = start(&[list])?;
    let output = Command::new(&command[0]).args(&command[1..]).output();
    let list: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("a document");
    Some(list.as_array().expect("a list").clone())
}

/// The adapter passes, and so does each of so many variants; the reading that one names fits.
pub fn variants_pass(protocol: &str, start: Start, count: usize) {
    let Some(variants) = listed(start, "--list-variants") else {
        return;
    };
    assert_eq!(variants.len(), count);
    passes(protocol, &start(&[]).expect("it was listed"));
    for variant in &variants {
        let name = variant["name"].as_str().expect("a name");
        let command = start(&["--variant", name]).expect("it was listed");
        let document = passes(protocol, &command);
        if let Some((place, choice)) = variant["reading"]
            .as_str()
            .and_then(|it| it.split_once('='))
        {
            let taken = names(&document["readings"][place]);
            assert!(taken.contains(&choice), "{name}: {taken:?}");
        }
    }
}

/// Every fault that an adapter has stands in the list, by the clause that it says it breaks.
pub fn all_are_kept(start: Start, faults: &[Caught<'_>]) {
    let Some(listed) = listed(start, "--list-faults") else {
        return;
    };
    let text = |it: &Value, name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let listed = listed
        .iter()
        .map(|it| (text(it, "name"), text(it, "clause")));
    let kept = faults
        .iter()
        .map(|(fault, clause, _)| ((*fault).to_owned(), (*clause).to_owned()));
    let [mut listed, mut kept]: [Vec<_>; 2] = [listed.collect(), kept.collect()];
    listed.sort_unstable();
    kept.sort_unstable();
    assert_eq!(listed, kept);
}
