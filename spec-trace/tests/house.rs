//! The invariants of the house: who may depend on whom, and what `model` and `reference` must not touch.
//!
//! Their agreement is evidence only as long as neither can see the other, so a build that breaks this must fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
        .to_path_buf()
}

/// Every package of the workspace with the names of the workspace packages that it names as dependencies of any kind.
fn siblings_by_package() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(workspace())
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .iter();
    let name_of = |value: &serde_json::Value| value["name"].as_str().expect("a name").to_owned();
    let names: BTreeSet<String> = packages.clone().map(name_of).collect();
    packages
        .map(|package| {
            let siblings = package["dependencies"]
                .as_array()
                .expect("a list of dependencies")
                .iter()
                .map(name_of)
                .filter(|name| names.contains(name))
                .collect();
            (name_of(package), siblings)
        })
        .collect()
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).expect("a readable source folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

#[test]
fn model_and_reference_depend_on_no_sibling() {
    let siblings = siblings_by_package();
    for package in ["countersign-model", "countersign-reference"] {
        assert_eq!(
            siblings[package],
            BTreeSet::new(),
            "{package} is one of two independent readings of the text"
        );
    }
}

#[test]
fn only_spec_trace_and_the_benches_see_both_readings() {
    let both = ["countersign-model", "countersign-reference"];
    let seeing: Vec<String> = siblings_by_package()
        .into_iter()
        .filter(|(_, siblings)| both.iter().all(|name| siblings.contains(*name)))
        .map(|(package, _)| package)
        .collect();
    assert_eq!(seeing, ["countersign-benches", "countersign-spec-trace"]);
}

#[test]
fn model_and_reference_have_no_hash_maps_clocks_threads_or_files() {
    let forbidden = [
        "HashMap",
        "HashSet",
        "SystemTime",
        "Instant::",
        "std::fs",
        "std::io",
        "std::net",
        "std::thread",
        "getrandom",
        "unsafe ",
    ];
    // The checker waits for stateright's own thread; what it finds does not depend on it.
    let waiting = Path::new("model/src/checker.rs");
    let root = workspace();
    for folder in ["model/src", "reference/src"] {
        let files = rust_files(&root.join(folder));
        assert!(!files.is_empty(), "{folder} holds sources");
        for file in files {
            let text = fs::read_to_string(&file).expect("a readable source");
            for word in forbidden {
                let excused = word == "std::thread" && file.ends_with(waiting);
                assert!(
                    excused || !text.contains(word),
                    "{} mentions `{word}`",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn each_protocol_is_a_module_of_the_same_name_in_both_readings() {
    let root = workspace();
    let protocols = |folder: &str| -> BTreeSet<String> {
        fs::read_dir(root.join(folder))
            .expect("a readable source folder")
            .map(|entry| entry.expect("a readable entry").path())
            .filter(|path| path.is_dir())
            .map(|path| {
                let name = path.file_name().expect("a folder has a name");
                name.to_string_lossy().into_owned()
            })
            .collect()
    };
    let modelled = protocols("model/src");
    assert!(modelled.contains("aaep"));
    assert_eq!(modelled, protocols("reference/src"));
}
