//! The faults of `spec-trace/faults/`, put in one by one: each fails the test that it names, which passes without it.
//!
//! They go into a copy of the workspace below `target/tmp`, which is kept, so that the next fault costs one crate:
//!
//!     .ci/night faults
//!
//! `COUNTERSIGN_FAULTS` chooses those that break the clauses, or change the files, which begin with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use countersign_clauses::faults::{self, Fault};

#[test]
#[ignore = "night: builds a crate for each fault"]
fn every_fault_fails_its_test() {
    let chosen = chosen();
    assert!(!chosen.is_empty(), "COUNTERSIGN_FAULTS chooses some");
    let copy = scratch().join("workspace");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    update(&root, &copy);
    let mut targets = BTreeMap::<&str, BTreeSet<&str>>::new();
    for fault in &chosen {
        let (target, name) = in_target(fault);
        targets.entry(target).or_default().insert(name);
    }
    for (target, names) in targets {
        let output = run(&copy, target, names);
        assert!(
            output.status.success(),
            "without a fault: {}",
            said(&output)
        );
    }
    let unseen: Vec<&Fault> = chosen
        .into_iter()
        .filter(|fault| !is_seen(&copy, fault))
        .collect();
    assert!(unseen.is_empty(), "nothing failed with {unseen:#?}");
}

fn chosen() -> Vec<&'static Fault> {
    let prefix = env::var("COUNTERSIGN_FAULTS").unwrap_or_default();
    let is_chosen = |fault: &&Fault| {
        let mut clauses = fault.clauses.iter();
        fault.file.starts_with(&prefix) || clauses.any(|id| id.as_str().starts_with(&prefix))
    };
    faults::all().iter().filter(is_chosen).collect()
}

/// Puts a fault in, runs its test and takes the fault out again; whether the test failed. A fault that does not compile is none.
fn is_seen(copy: &Path, fault: &Fault) -> bool {
    let path = copy.join(&fault.file);
    let source = fs::read_to_string(&path).expect("a source");
    fs::write(&path, source.replace(&fault.find, &fault.replace)).expect("the copy is ours");
    let (target, name) = in_target(fault);
    let output = run(copy, target, [name]);
    fs::write(&path, source).expect("the copy is ours");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let seen = stdout.contains(&format!("test {name} ... FAILED"));
    println!(
        "{} {:?} {}",
        if seen { "seen  " } else { "UNSEEN" },
        fault.clauses,
        fault.test
    );
    if !seen {
        println!("{}", said(&output));
    }
    seen
}

/// The package and target of the test that a fault names, and its path there.
fn in_target(fault: &Fault) -> (&str, &str) {
    fault.test.rsplit_once(' ').expect("package, target, path")
}

/// Runs tests of one target, without optimisation, which takes longer than what these tests do.
fn run<'a>(copy: &Path, target: &str, names: impl IntoIterator<Item = &'a str>) -> Output {
    let (package, target) = target.split_once(' ').expect("package, target");
    let is_unit = target == package.replace('-', "_");
    let target: &[&str] = if is_unit {
        &["--lib"]
    } else {
        &["--test", target]
    };
    Command::new(env!("CARGO"))
        .args(["test", "--locked", "--package", package])
        .args(target)
        .args(["--", "--exact", "--include-ignored"])
        .args(names)
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", scratch().join("target"))
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        // A fault is one line.
        .env("CARGO_INCREMENTAL", "1")
        .output()
        .expect("cargo runs")
}

fn said(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]]
        .map(String::from_utf8_lossy)
        .concat()
}

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults")
}

/// Copies what is new or changed in the folder, and leaves out what is built and what is hidden: files that stay as they are
/// need not be compiled again.
fn update(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().expect("a name");
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let copy = to.join(name);
        if path.is_dir() {
            update(&path, &copy);
        } else {
            let bytes = fs::read(&path).expect("a readable file");
            if fs::read(&copy).ok().as_ref() != Some(&bytes) {
                fs::write(&copy, bytes).expect("a file");
            }
        }
    }
}
