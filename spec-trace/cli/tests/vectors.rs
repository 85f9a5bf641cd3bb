//! `countersign vectors`: what it writes, and what the runner in Python makes of it.

mod adapter;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use countersign_cli::commands::schema;
use serde_json::Value;
use tempfile::TempDir;

const PROTOCOLS: [(&str, &str); 3] = [
    ("aaep", "aaep"),
    ("mcp-aql", "mcp_aql"),
    ("pending-action", "pending_action"),
];

fn write(protocol: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.args(["vectors", protocol, "--out"]).arg(folder);
    command.output().expect("it runs")
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Every file of a folder, by its name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder");
    let read = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        (name.into_owned(), fs::read(&path).expect("a file"))
    });
    read.collect()
}

#[test]
fn they_are_the_same_each_time_and_of_their_form() {
    let schema = schema::find("vectors").expect("a schema");
    let schema: Value = serde_json::from_str(&(schema.text)()).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for (protocol, _) in PROTOCOLS {
        let [first, second] = [folder(), folder()];
        for folder in [&first, &second, &second] {
            let output = write(protocol, folder.path());
            assert!(output.status.success(), "{output:?}");
        }
        let written = files(first.path());
        assert!(written == files(second.path()), "{protocol}");
        assert!(written.len() > 50, "{protocol}: {}", written.len());
        for (name, text) in written
            .iter()
            .filter(|(name, _)| Path::new(name).extension() == Some("json".as_ref()))
        {
            let value: Value = serde_json::from_slice(text).expect("JSON");
            assert!(schema.is_valid(&value), "{protocol}: {name}");
        }
    }
}

/// A file says by which clause an answer is wrong: of the first allow in a run the run of the tool.
#[test]
fn they_say_what_is_required_and_forbidden_and_by_which_clause() {
    let folder = folder();
    assert!(write("pending-action", folder.path()).status.success());
    let manifest: Value =
        serde_json::from_slice(&files(folder.path())["manifest.json"]).expect("JSON");
    for clause in ["PA-1", "PA-2", "PA-5", "PA-8", "PA-10"] {
        assert!(!manifest["clauses"][clause].is_null(), "{clause}");
    }
    let mut performs = (false, false);
    for text in files(folder.path()).values() {
        let Ok(vector) = serde_json::from_slice::<Value>(text) else {
            continue;
        };
        for step in vector["steps"].as_array().into_iter().flatten() {
            let has = |member: &str, why: &str| {
                let mut listed = step[member].as_array().expect("a list").iter();
                listed.any(|it| {
                    !it["output"]["perform"].is_null()
                        && it[why].as_array().is_some_and(|it| !it.is_empty())
                })
            };
            performs.0 |= step["request"]["decision"] == "allow" && has("expected", "required");
            performs.1 |= step["request"]["op"] == "propose" && has("forbidden", "because");
        }
    }
    assert_eq!(performs, (true, true));
}

#[test]
fn a_folder_that_holds_anything_else_is_left_as_it_is() {
    let folder = folder();
    fs::write(folder.path().join("notes.txt"), "mine").expect("a file");
    let output = write("pending-action", folder.path());
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("notes.txt, which is no vector"), "{error}");
    assert_eq!(files(folder.path()).len(), 1);
}

/// What the runner says of this command, and its exit status; nothing without a Python.
fn run(folder: &Path, command: &[String]) -> Option<(String, Option<i32>)> {
    let runner = adapter::adapter("../../vectors/run_vectors", &[])?;
    let mut process = Command::new(&runner[0]);
    process
        .args(&runner[1..])
        .arg(folder)
        .arg("--")
        .args(command);
    let output = process.output().expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    Some((said, output.status.code()))
}

#[test]
fn the_reference_and_the_adapters_pass_and_a_fault_does_not() {
    for (protocol, program) in PROTOCOLS {
        let folder = folder();
        assert!(write(protocol, folder.path()).status.success());
        let reference = [
            env!("CARGO_BIN_EXE_countersign"),
            "serve",
            protocol,
            "--stdio",
        ];
        let reference = reference.map(str::to_owned);
        let right = [Some(reference.to_vec()), adapter::adapter(program, &[])];
        for command in right.into_iter().flatten() {
            let Some((said, status)) = run(folder.path(), &command) else {
                return;
            };
            assert_eq!(status, Some(0), "{protocol}: {said}");
        }
        let fault = match protocol {
            "mcp-aql" => "silent-denial",
            _ => "deny-is-allow",
        };
        let wrong = adapter::adapter(program, &["--fault", fault]).expect("a Python");
        let (said, status) = run(folder.path(), &wrong).expect("a Python");
        assert_eq!(status, Some(1), "{protocol}: {said}");
    }
}

#[test]
fn a_file_that_is_not_read_is_an_error() {
    let folder = folder();
    assert!(write("pending-action", folder.path()).status.success());
    fs::write(folder.path().join("9999.json"), "{}").expect("a file");
    let reference = [
        env!("CARGO_BIN_EXE_countersign"),
        "serve",
        "pending-action",
        "--stdio",
    ];
    if let Some((said, status)) = run(folder.path(), &reference.map(str::to_owned)) {
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains("9999.json"), "{said}");
    }
}
