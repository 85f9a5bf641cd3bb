//! `countersign vectors`: what it writes, and what `countersign replay` and the runner in Python make of it.

use crate::adapter;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use countersign_cli::commands::schema;
use serde_json::{Value, json};
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
#[ignore = "night: plays every vector several times"]
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

/// What `replay` says of this, and its exit status.
fn replay(arguments: &[&str], path: &Path, command: &[String]) -> (String, Option<i32>) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
    process.arg("replay").arg(path).args(arguments);
    if !command.is_empty() {
        process.arg("--").args(command);
    }
    said(&mut process)
}

fn said(process: &mut Command) -> (String, Option<i32>) {
    let output = process.output().expect("it runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (said, output.status.code())
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
    Some(said(&mut process))
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<&str> {
    let numbers = text.split(|it: char| !it.is_ascii_digit());
    numbers.filter(|it| !it.is_empty()).collect()
}

/// How many files have come to what: the runner and `replay` end with it.
fn last(text: &str) -> String {
    numbers(text.lines().last().unwrap_or("")).join(" ")
}

/// Each run ends with a restart, in which what has happened can be seen: who has none passes without it.
#[test]
fn without_restart_the_runs_that_need_none_pass_and_the_others_name_the_op() {
    let folder = folder();
    assert!(write("pending-action", folder.path()).status.success());
    let Some(mut command) = adapter::adapter("pending_action", &[]) else {
        return;
    };
    let adapters = adapter::folder().join("python");
    command.truncate(1);
    command.push("-c".to_owned());
    command.push(format!(
        "import sys; sys.path.insert(0, {:?}); import pending_action as it; \
         it.Ledger.SUPPORTS.remove('restart'); it.main(it.Ledger)",
        adapters.display()
    ));
    let vectors = files(folder.path());
    let needs = |name: &str| -> Value {
        let vector: Value = serde_json::from_slice(&vectors[name]).expect("JSON");
        vector["needs"].clone()
    };
    let (said, status) = replay(&["--format", "json"], folder.path(), &command);
    assert_eq!(status, Some(0), "{said}");
    let document: Value = serde_json::from_str(&said).expect("JSON");
    let mut passed = 0;
    for file in document["files"].as_array().expect("a list") {
        let path = Path::new(file["file"].as_str().expect("a path"));
        let name = path.file_name().expect("a name").to_string_lossy();
        let needs = needs(&name);
        if needs
            .as_array()
            .expect("a list")
            .contains(&json!("restart"))
        {
            assert_eq!(file["unsupported"], "restart", "{file}");
        } else {
            assert_eq!(file["verdict"], "passed", "{file} needs {needs}");
            passed += 1;
        }
    }
    assert!(passed > 0 && document["unsupported"] != 0, "{said}");
    let (said, status) = run(folder.path(), &command).expect("a Python");
    assert_eq!(status, Some(0), "{said}");
    assert!(
        said.contains(".json: skipped: restart is not supported\n"),
        "{said}"
    );
    let (again, _) = replay(&[], folder.path(), &command);
    assert!(again.contains("skipped without restart: 00"), "{again}");
    assert_eq!(last(&again), last(&said), "{again}");
}

#[test]
#[ignore = "night: plays every vector several times"]
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
            let (again, status) = replay(&[], folder.path(), &command);
            assert_eq!(status, Some(0), "{protocol}: {again}");
            assert_eq!(last(&again), last(&said), "{protocol}: {again}");
        }
        let (said, status) = replay(&[], folder.path(), &[]);
        assert_eq!(status, Some(0), "{protocol}: {said}");
        let fault = match protocol {
            "mcp-aql" => "silent-denial",
            _ => "deny-is-allow",
        };
        let wrong = adapter::adapter(program, &["--fault", fault]).expect("a Python");
        let (said, status) = run(folder.path(), &wrong).expect("a Python");
        assert_eq!(status, Some(1), "{protocol}: {said}");
        let (again, status) = replay(&[], folder.path(), &wrong);
        assert_eq!(status, Some(1), "{protocol}: {again}");
        assert_eq!(last(&again), last(&said), "{protocol}: {again}");
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

fn json(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
}

fn put(file: &Path, value: &Value) {
    fs::write(file, value.to_string()).expect("a file");
}

/// The first file of a folder that requires something, and at which step.
fn with_a_duty(folder: &Path) -> (PathBuf, usize) {
    let asks = |step: &Value| {
        let mut expected = step["expected"].as_array().expect("a list").iter();
        expected.any(|it| it["required"] != serde_json::json!([]))
    };
    let names = files(folder).into_keys().filter(|it| it.starts_with("00"));
    let found = names.map(|it| folder.join(it)).find_map(|file| {
        let vector = json(&file);
        let place = vector["steps"].as_array()?.iter().position(asks)?;
        Some((file, place))
    });
    found.expect("a file")
}

/// A file that was changed is taken at its word: no judge stands behind it.
#[test]
fn replay_holds_an_answer_against_what_the_file_says() {
    let folder = folder();
    assert!(write("pending-action", folder.path()).status.success());
    let (file, step) = with_a_duty(folder.path());
    let vector = json(&file);
    let mut changed = vector.clone();
    let expected = changed["steps"][step]["expected"]
        .as_array_mut()
        .expect("a list");
    let wanted = expected
        .iter_mut()
        .find(|it| it["required"] != serde_json::json!([]));
    let wanted = wanted.expect("what is required");
    wanted["present"] = serde_json::json!(["/not/there"]);
    wanted["required"] = serde_json::json!(["PA-1"]);
    put(&file, &changed);
    let (said, status) = replay(&[], &file, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(
        said.contains(&format!("json: step {step}\n  PA-1 (inferred): missing: ")),
        "{said}"
    );
    let (said, _) = replay(&["--format", "json"], &file, &[]);
    let document: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(document["verdict"], "violates", "{said}");
    assert_eq!(document["failed"], 1, "{said}");
    assert_eq!(document["files"][0]["step"], step, "{said}");
    assert_eq!(
        document["files"][0]["wrong"][0]["clauses"][0], "PA-1",
        "{said}"
    );
    // What comes is forbidden, and needed by nothing.
    let mut changed = vector;
    let expected = changed["steps"][step]["expected"].take();
    let forbidden = expected.as_array().expect("a list").iter().map(|it| {
        serde_json::json!({"output": it["output"], "members": it["members"], "because": ["PA-2"]})
    });
    changed["steps"][step]["forbidden"] = forbidden.collect();
    changed["steps"][step]["expected"] = serde_json::json!([]);
    put(&file, &changed);
    let (said, status) = replay(&[], &file, &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("  PA-2 (inferred): {"), "{said}");
}

/// Nothing is passed over in silence, and each error has its place.
#[test]
fn replay_takes_all_of_a_folder_or_says_what_is_wrong_with_it() {
    let folder = folder();
    assert!(write("pending-action", folder.path()).status.success());
    let (first, manifest) = (
        folder.path().join("0001.json"),
        folder.path().join("manifest.json"),
    );
    let (vector, listed) = (json(&first), json(&manifest));
    let fails = |what: &str| {
        let (said, status) = replay(&[], folder.path(), &[]);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(what), "{said}");
        put(&first, &vector);
        put(&manifest, &listed);
    };
    let with = |of: &Value, member: &str, value: Value| {
        let mut changed = of.clone();
        changed[member] = value;
        changed
    };
    fs::write(&first, "{\"version\": 1").expect("a file");
    fails("cannot read");
    put(&first, &with(&vector, "version", Value::from(2)));
    fails("0001.json: version 2 of vectors is not known");
    put(&first, &with(&vector, "protocol", Value::from("aaep")));
    fails("0001.json is a vector of aaep, not of pending-action");
    let mut changed = vector.clone();
    changed["steps"][1]["request"]["op"] = Value::from("fly");
    put(&first, &changed);
    fails("0001.json: the request of step 1 cannot be asked");
    put(&manifest, &with(&listed, "files", serde_json::json!([])));
    fails("lists no file");
    put(
        &manifest,
        &with(&listed, "files", serde_json::json!(["0001.json"])),
    );
    fails("0002.json is not listed in");
    fs::remove_file(&first).expect("a file");
    fails("cannot read");
    let (said, status) = replay(&[], &first, &["exit-at-once".to_owned()]);
    assert_eq!(status, Some(2), "{said}");
    // Whoever dies in mid-run has failed, and is started again for the next.
    let dies = [
        "sh",
        "-c",
        "read a; echo '{\"id\":1,\"name\":\"x\",\"supports\":[]}'; read b",
    ];
    let (said, status) = replay(&[], folder.path(), &dies.map(str::to_owned));
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("  driver: the adapter ended"), "{said}");
    let count = listed["files"].as_array().map_or(0, Vec::len);
    let counts = format!("0 passed, {count} failed");
    assert!(said.contains(&counts), "{said}");
}

/// What is wrong by a choice is not held against who takes it.
#[test]
fn replay_leaves_out_what_is_read_otherwise() {
    let folder = folder();
    assert!(write("pending-action", folder.path()).status.success());
    let manifest = json(&folder.path().join("manifest.json"));
    let readings = manifest["readings"].as_object().expect("an object");
    let choices = readings.iter().flat_map(|(place, choices)| {
        let choices = choices.as_object().expect("an object").iter();
        choices.map(move |(choice, files)| (format!("{place}={choice}"), files))
    });
    let wrong_by = |files: &Value| files.as_array().map_or(0, Vec::len);
    let (reading, files) = choices
        .max_by_key(|(_, files)| wrong_by(files))
        .expect("a choice");
    let count = wrong_by(files);
    assert!(count > 0, "{reading}");
    let (said, status) = replay(&["--reading", &reading], folder.path(), &[]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains(&format!("{count} read-otherwise")), "{said}");
    let (said, status) = replay(&["--reading", "nothing=x"], folder.path(), &[]);
    assert_eq!(status, Some(2), "{said}");
    assert!(
        said.contains("there is no such choice; there are "),
        "{said}"
    );
}

/// By another choice they are right for who takes the text so, and only for them; no run is made of answers that are wrong by it.
#[test]
fn they_hold_by_the_choice_that_is_named() {
    let write = |reading: &str, folder: &Path| {
        let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
        process.args(["vectors", "pending-action", "--reading", reading, "--out"]);
        said(process.arg(folder))
    };
    let after = folder();
    let (said, status) = write("expiry-boundary=after", after.path());
    assert_eq!(status, Some(0), "{said}");
    let manifest = json(&after.path().join("manifest.json"));
    let taken = serde_json::json!({"expiry-boundary": "after"});
    assert_eq!(manifest["taken"], taken);
    let listed = manifest["files"].as_array().expect("a list").iter();
    let first = listed.map(|it| {
        let vector = json(&after.path().join(it.as_str().expect("a name")));
        vector["readings"]["expiry-boundary"][0].clone()
    });
    let first: Vec<_> = first.filter(|it| !it.is_null()).collect();
    assert!(!first.is_empty() && first.iter().all(|it| it == "after"));
    let serve = ["serve", "pending-action", "--stdio", "--settings"];
    let takes_it = [env!("CARGO_BIN_EXE_countersign")].into_iter().chain(serve);
    let takes_it = takes_it.chain([r#"{"expiry_boundary":"after"}"#]);
    let takes_it: Vec<_> = takes_it.map(str::to_owned).collect();
    let (said, status) = replay(&[], after.path(), &takes_it);
    assert_eq!(status, Some(0), "{said}");
    let (said, status) = replay(&[], after.path(), &[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("PA-7 (inferred): "), "{said}");
    let none = after.path().join("none");
    let (said, status) = write("expiry-absent=later", &none);
    assert_eq!(status, Some(2), "{said}");
    let expected = "unknown value `later`: expected never or after or refused";
    assert!(said.contains(expected), "{said}");
    assert!(!none.exists());
}

/// Writes vectors with these options, and has what is told of them.
fn written(arguments: &[&str], folder: &Path) -> Value {
    let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
    process
        .args(["--format", "json", "vectors"])
        .args(arguments);
    let (said, status) = said(process.arg("--out").arg(folder));
    assert_eq!(status, Some(0), "{said}");
    serde_json::from_str(&said).expect("JSON")
}

/// What the first of these outputs is that a step requires by a clause.
fn required<'a>(step: &'a Value, clause: &str) -> Option<&'a Value> {
    let mut expected = step["expected"].as_array().into_iter().flatten();
    let by = |it: &&Value| {
        let mut clauses = it["required"].as_array().into_iter().flatten();
        clauses.any(|it| it == clause)
    };
    expected.find(by).map(|it| &it["output"])
}

/// AAEP-A.6-1: that the last chunk closes its output is what is required besides, and is told before all that is as it was.
#[test]
#[ignore = "night: searches for every vector"]
fn what_differs_in_an_output_is_told_first() {
    let folder = folder();
    let document = written(
        &["aaep", "--reading", "session-end-completes=always"],
        folder.path(),
    );
    let changed = document["changed"].as_array().expect("a list");
    let closes = changed.iter().find(|it| it["file"] == "0012.json");
    let is = &closes.expect("it is changed")["steps"][0]["is"][0];
    let begins = "required by AAEP-A.6-1 (informative), AAEP-EV-4 (wire fact): emit complete=true ";
    assert!(is.as_str().is_some_and(|it| it.starts_with(begins)), "{is}");
}

/// PA-1: the reference has no setting by which it refuses what never expires, so that the text answers, whatever comes in the run.
#[test]
fn what_the_reference_does_not_do_the_model_answers() {
    let folder = folder();
    let document = written(
        &["pending-action", "--reading", "expiry-absent=refused"],
        folder.path(),
    );
    let manifest = json(&folder.path().join("manifest.json"));
    assert_eq!(manifest["taken"], document["taken"]);
    let changed = document["changed"].as_array().expect("a list");
    let refusing = changed.iter().filter(|it| it["left_out"] == false);
    let refusing: Vec<_> = refusing.collect();
    assert!(refusing.len() > 3, "{document:#}");
    for it in refusing {
        let file = it["file"].as_str().expect("a name");
        let vector = json(&folder.path().join(file));
        let steps = vector["steps"].as_array().expect("a list");
        let first = &it["steps"][0];
        let step = &steps[usize::try_from(first["step"].as_u64().expect("a step")).expect("small")];
        assert!(
            required(step, "PA-1").is_some_and(|it| !it["refused"].is_null()),
            "{file}"
        );
        assert_eq!(it["cut_to"], Value::Null, "{file}");
    }
    assert_eq!(manifest.get("cut_short"), None);
    // By the text as it stands, nothing is changed, cut short or left out.
    let usual = self::folder();
    let document = written(
        &["pending-action", "--reading", "expiry-absent=never"],
        usual.path(),
    );
    assert_eq!(document["changed"], serde_json::json!([]));
    assert_eq!(document["taken"], serde_json::json!({}));
    let plain = self::folder();
    assert!(write("pending-action", plain.path()).status.success());
    assert_eq!(files(usual.path()), files(plain.path()));
}

/// AQL-7.3-1: who signs tells nothing of a token that never came: the vectors that tell it are those that `compare` counts, and by its own
/// they are answered by who signs.
#[test]
#[ignore = "night: compares whole graphs"]
fn they_are_counted_as_compare_counts_them_aql_7_3_1() {
    let folder = folder();
    let reading = "token-storage=signed";
    let document = written(&["mcp-aql", "--reading", reading], folder.path());
    let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let setting = format!("reading:{reading}");
    process.args(["--format", "json", "compare", "mcp-aql", "--b", &setting]);
    let (said, status) = said(&mut process);
    assert_eq!(status, Some(0), "{said}");
    let compared: Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(document["compared"], compared["changed"]);
    let counted = document["compared"].as_array().expect("a list");
    assert!(!counted.is_empty());
    let changed = document["changed"].as_array().expect("a list");
    let is_changed = |it: &Value| changed.iter().any(|other| other["file"] == it["file"]);
    assert!(counted.iter().all(is_changed), "{document:#}");
}

/// AQL-5.1-5: a tolerance of 360 seconds is warned of where the longest is that, and it is told which files say so: those that `compare`
/// counts. One of them tells who takes the text as it stands.
#[test]
#[ignore = "night: searches for minutes"]
fn they_hold_by_a_number_of_a_file() {
    let specs = folder();
    let spec = |longest: u32| {
        let file = specs.path().join(format!("{longest}.toml"));
        let text = format!("protocol = \"mcp-aql\"\nnumbers.tolerance.longest = {longest}\n");
        fs::write(&file, text).expect("a file");
        file.to_str().expect("a path").to_owned()
    };
    for (longest, clause, kind) in [
        (0, "AQL-5.1-5", "refused"),
        (240, "AQL-5.1-5", "refused"),
        (360, "AQL-5.1-6", "audit"),
    ] {
        let (folder, file) = (folder(), spec(longest));
        let document = written(&["mcp-aql", "--spec", &file], folder.path());
        let changed = document["changed"].as_array().expect("a list");
        let names: Vec<_> = changed.iter().map(|it| it["file"].clone()).collect();
        let mut compare = Command::new(env!("CARGO_BIN_EXE_countersign"));
        compare.args(["--format", "json", "compare", "mcp-aql", "--b"]);
        let (said, _) = said(compare.arg(format!("spec:{file}")));
        let compared: Value = serde_json::from_str(&said).expect("JSON");
        let compared = compared["changed"].as_array().expect("a list").iter();
        let compared: Vec<_> = compared.map(|it| it["file"].clone()).collect();
        assert!(!names.is_empty(), "{longest}");
        assert_eq!(names, compared, "{longest}");
        let name = names[0].as_str().expect("a name");
        let vector = json(&folder.path().join(name));
        let mut steps = vector["steps"].as_array().expect("a list").iter();
        let is_so = |step: &Value| required(step, clause).is_some_and(|it| !it[kind].is_null());
        assert!(steps.any(is_so), "{longest}: {name}");
        let (said, status) = replay(&[], folder.path(), &[]);
        assert_eq!(status, Some(1), "{said}");
    }
}

/// What no vector can show is refused, and nothing is written.
#[test]
fn what_no_vector_shows_is_refused() {
    let specs = folder();
    let file = specs.path().join("changed.toml");
    fs::write(
        &file,
        "protocol = \"mcp-aql\"\nleft_out = [\"AQL-5.1-5\"]\n",
    )
    .expect("a file");
    let file = file.to_str().expect("a path");
    let out = specs.path().join("out");
    for (options, reason) in [
        (
            ["--spec", file],
            "vectors hold an implementation to every rule",
        ),
        (
            ["--reading", "restarted-session=goes-on"],
            "the connections end with the process",
        ),
        (
            ["--reading", "longest-life=x"],
            "expected maximum or default",
        ),
    ] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
        process
            .args(["vectors", "mcp-aql", "--out"])
            .arg(&out)
            .args(options);
        let (said, status) = said(&mut process);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
        assert!(!out.exists());
    }
}

/// PA-2: a counterexample that was saved is asked of an implementation, which does what the run does or does not.
#[test]
fn replay_asks_for_the_runs_that_check_has_saved() {
    let folder = folder();
    let saved = folder.path().join("saved.json");
    let mut check = Command::new(env!("CARGO_BIN_EXE_countersign"));
    check.args(["check", "pending-action", "--without", "honours-stranger"]);
    check.args(["--bounds", "small,actions=1", "--save"]);
    let (told, status) = said(check.arg(&saved));
    assert_eq!(status, Some(1), "{told}");
    let property = "PA-2 a stranger, the agent itself, a forged nonce, other arguments or a guess changes nothing";
    let (told, status) = replay(&[], &saved, &[]);
    assert_eq!(status, Some(0), "{told}");
    assert!(
        told.contains(&format!("{property}: does nothing wrong, ")),
        "{told}"
    );
    let verdict = told.lines().last().expect("a verdict");
    assert!(
        verdict.starts_with("pending-action: holds: 0 of "),
        "{told}"
    );
    assert!(
        verdict.ends_with("0 with something wrong, by the text as it stands"),
        "{told}"
    );
    let (told, _) = replay(&["--format", "json"], &saved, &[]);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(
        (&told["verdict"], &told["runs"][0]["does"]),
        (&json!("holds"), &json!(false))
    );
    let Some(wrong) = adapter::adapter("pending_action", &["--fault", "any-decider"]) else {
        return;
    };
    let (told, status) = replay(&[], &saved, &wrong);
    assert_eq!(status, Some(1), "{told}");
    assert!(
        told.contains(&format!("{property}: does what the run does, ")),
        "{told}"
    );
    assert!(told.contains("\n  PA-1 (inferred): "), "{told}");
}

/// What `diff` has kept is played again: it shows the same of the implementation, and nothing of the reference.
#[test]
fn replay_and_show_take_what_diff_has_kept() {
    let Some(wrong) = adapter::adapter("pending_action", &["--fault", "deny-is-allow"]) else {
        return;
    };
    let folder = folder();
    let mut process = Command::new(env!("CARGO_BIN_EXE_countersign"));
    process.args(["diff", "pending-action", "--runs", "1", "--save"]);
    process.arg(folder.path()).arg("--").args(&wrong);
    let (told, status) = said(&mut process);
    assert_eq!(status, Some(1), "{told}");
    let files = files(folder.path());
    assert!(!files.is_empty());
    for name in files.keys() {
        let file = folder.path().join(name);
        let clause = name.trim_start_matches("found-").trim_end_matches(".json");
        let (told, status) = replay(&[], &file, &wrong);
        assert_eq!(status, Some(1), "{told}");
        assert!(
            told.contains(clause) && told.contains("countersign replay "),
            "{told}"
        );
        let (told, status) = replay(&[], &file, &[]);
        assert_eq!(status, Some(0), "{told}");
        let mut show = Command::new(env!("CARGO_BIN_EXE_countersign"));
        let (told, status) = said(show.arg("show").arg(&file));
        assert_eq!(status, Some(0), "{told}");
        assert!(told.contains("propose ") && told.contains(clause), "{told}");
    }
    // A vector is drawn, too.
    let folder = self::folder();
    assert!(write("pending-action", folder.path()).status.success());
    let mut show = Command::new(env!("CARGO_BIN_EXE_countersign"));
    let (told, status) = said(show.arg("show").arg(with_a_duty(folder.path()).0));
    assert_eq!(status, Some(0), "{told}");
    assert!(told.contains("required by PA-"), "{told}");
}
