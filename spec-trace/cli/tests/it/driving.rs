//! What a build server needs of `countersign diff`: controls, verdicts, identities, baselines, shards and formats; an adapter's first
//! steps (`--init`, `--preflight`), and reports beside each other.

use crate::adapter;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use countersign_cli::answer::ReportFormat;
use countersign_cli::differing::{Part, Report};
use countersign_cli::serve::controls::{Control, Controlled, Referred};
use countersign_conform::driven::Search;
use countersign_conform::implementation::{Greeted, Implementation};
use countersign_conform::spoken::{Producer, Spoken, Wire, ablated};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use serde_json::{Value, json};
use tempfile::TempDir;
use uppsala::XsdValidator;

fn binary() -> String {
    env!("CARGO_BIN_EXE_countersign").to_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The reference behind stdio.
fn reference(protocol: &str) -> Vec<String> {
    [&binary(), "serve", protocol, "--stdio"]
        .map(str::to_owned)
        .to_vec()
}

/// A command that a shell runs; `$serve` is the reference.
fn script(protocol: &str, script: &str) -> Vec<String> {
    let serve = reference(protocol).join(" ");
    ["sh", "-c", &script.replace("$serve", &serve)]
        .map(str::to_owned)
        .to_vec()
}

/// PA-10: an event that tells another decision than was taken.
const LIAR: &str = r#"$serve | sed -u 's/"type":"decided","decision":"deny"/"type":"decided","decision":"allow"/'"#;

fn countersign(arguments: &[&str], command: &[String]) -> Output {
    let mut countersign = Command::new(binary());
    countersign.args(arguments);
    if !command.is_empty() {
        countersign.arg("--").args(command);
    }
    countersign.output().expect("it runs")
}

fn diff(protocol: &str, arguments: &[&str], command: &[String]) -> Output {
    let kept = folder();
    let kept = kept.path().display().to_string();
    // On a slow machine a process takes its time to start.
    let first = ["diff", protocol, "--timeout", "60", "--save", &kept];
    countersign(&[&first, arguments].concat(), command)
}

/// Its JSON, which fits the schema of this name.
fn document(output: &Output, schema: &str) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    let document: Value =
        serde_json::from_str(&text).unwrap_or_else(|it| panic!("{it}: {text}{error}"));
    fits(&document, schema);
    document
}

fn fits(document: &Value, name: &str) {
    let schema = countersign(&["schema", name], &[]);
    let schema: Value = serde_json::from_slice(&schema.stdout).expect("a schema");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema of its draft");
    let problems: Vec<String> = validator
        .iter_errors(document)
        .map(|it| format!("{}: {it}", it.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{name}: {problems:?}");
}

fn report(protocol: &str, arguments: &[&str], command: &[String]) -> Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    document(&diff(protocol, &arguments, command), "diff")
}

/// The clauses with this verdict.
fn with<'a>(report: &'a Value, verdict: &str) -> Vec<&'a str> {
    let clauses = report["clauses"].as_array().expect("a list").iter();
    let clauses = clauses.filter(|it| it["verdict"] == verdict);
    clauses.filter_map(|it| it["clause"].as_str()).collect()
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn each_control_is_caught() {
    for protocol in ["aaep", "mcp-aql", "pending-action"] {
        let report = report(
            protocol,
            &["--runs", "1", "--controls"],
            &reference(protocol),
        );
        let controls = report["controls"].as_array().expect("a list");
        let names: Vec<&Value> = controls.iter().map(|it| &it["name"]).collect();
        let (own, ablated) = names.split_at(3);
        assert_eq!(own, ["null", "allow-all", "deny-all"]);
        assert!(!ablated.is_empty(), "{protocol}");
        let is_ablated = |name: &&Value| {
            let name = name.as_str().unwrap_or_default();
            name.starts_with("without ")
        };
        assert!(ablated.iter().all(is_ablated), "{names:?}");
        for control in controls {
            assert_eq!(control["caught"], true, "{protocol}: {control}");
            assert!(control["clause"].is_string(), "{protocol}: {control}");
        }
    }
}

/// What was not tried is no pass, and is listed: nobody who refuses whatever is asked is shown to do it right.
#[test]
fn one_that_refuses_everything_does_not_pass() {
    let refuses = "n=0; while read -r line; do n=$((n+1)); case $line in \
                   *'\"op\":\"hello\"'*) echo \"{\\\"id\\\":$n,\\\"name\\\":\\\"no\\\",\\\"supports\\\":[]}\";; \
                   *'\"op\":\"reset\"'*|*'\"op\":\"tick\"'*) echo \"{\\\"id\\\":$n,\\\"outputs\\\":[]}\";; \
                   *) echo \"{\\\"id\\\":$n,\\\"outputs\\\":[{\\\"refused\\\":{\\\"reason\\\":\\\"no\\\"}}]}\";; esac; done";
    let refuses = script("pending-action", refuses);
    let runs = ["--runs", "2"];
    let report = report("pending-action", &runs, &refuses);
    assert_ne!(report["verdict"], "holds");
    assert_ne!(report["untried"], json!([]));
    let output = diff("pending-action", &["--runs", "2", "--all"], &refuses);
    assert!(
        text(&output).contains("of these it is bound by: PA-"),
        "{}",
        text(&output)
    );
}

/// What an adapter has started ends with it, also where a run ends by a fault.
#[test]
fn no_process_is_left_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let pids = folder.path().join("pids");
    for adapter in ["$serve", "head -n 3 >/dev/null", "cat >/dev/null"] {
        let started = format!("sleep 600 & echo $! >>{}; {adapter}", pids.display());
        let command = script("pending-action", &started);
        let save = folder.path().to_str().expect("a path");
        let diff = [
            "diff",
            "pending-action",
            "--runs",
            "0",
            "--timeout",
            "1",
            "--save",
            save,
        ];
        countersign(&diff, &command);
    }
    let pids = fs::read_to_string(pids).expect("the processes");
    assert!(pids.lines().count() >= 3, "{pids}");
    for pid in pids.lines() {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline"));
        let is_there = command.is_ok_and(|it| it.starts_with("sleep"));
        assert!(!is_there, "{pid} is left behind");
    }
}

/// What is not declared is no fault, and no pass.
#[test]
#[ignore = "night: drives the adapter for minutes"]
fn a_clause_of_which_nothing_is_declared_is_unsupported() {
    for (protocol, needs, clauses) in [
        ("aaep", "clarify", ["AAEP-6.1-7", "AAEP-A.5-2"]),
        ("aaep", "work", ["AAEP-A.6-1", "AAEP-A.6-2"]),
        ("aaep", "extend", ["AAEP-6.4.2-2"; 2]),
        ("aaep", "progress", ["AAEP-6.4.3-4"; 2]),
        ("mcp-aql", "introspect", ["AQL-7.3-1"; 2]),
        ("mcp-aql", "audit", ["AQL-1.2-5", "AQL-6.4-1"]),
        ("pending-action", "say", ["PA-11"; 2]),
    ] {
        let runs = ["--runs", "40"];
        let whole = report(protocol, &runs, &reference(protocol));
        let first = format!("/\"name\":\"countersign/s/\"{needs}\",*//");
        let less = script(protocol, &format!("$serve | sed -u '{first}; s/,\\]/]/'"));
        let less = report(protocol, &runs, &less);
        assert_eq!(less["divergences"], json!([]), "{needs}");
        let rows = less["clauses"].as_array().expect("a list");
        for clause in clauses {
            assert!(with(&whole, "upholds").contains(&clause), "{clause}");
            let row = rows.iter().find(|it| it["clause"] == clause);
            let expected = json!({"clause": clause, "verdict": "unsupported", "needs": needs});
            assert_eq!(row, Some(&expected));
        }
        // Whatever was seen at work is not called unsupported, so that the list must name nothing else.
        let unsupported = with(&less, "unsupported");
        let upheld = with(&whole, "upholds");
        assert!(unsupported.iter().any(|it| upheld.contains(it)));
        // What is left binds, and is tried.
        assert_eq!(less["untried"], json!([]), "{needs}");
    }
}

/// AQL-6.3-2: who tells no failure from another, whatever the operator says, reads the text so, and that is named.
#[test]
fn the_reading_by_which_an_implementation_is_right_is_named() {
    let variant = ["--variant", "uniform-answers"];
    let Some(command) = adapter::adapter("mcp_aql", &variant) else {
        return;
    };
    let report = report("mcp-aql", &["--runs", "0"], &command);
    assert_eq!(report["divergences"], json!([]));
    assert_eq!(report["readings"]["oracle"], json!(["uniform"]));
    let rows = report["clauses"].as_array().expect("a list");
    let row = |clause: &str| rows.iter().find(|it| it["clause"] == clause);
    // What runs on a token of another adapter is seen however it would have been refused.
    let upheld = json!({"clause": "AQL-4.1-6", "verdict": "upholds"});
    assert_eq!(row("AQL-4.1-6"), Some(&upheld));
}

/// PA-8: who takes an old state that its host hands back for the newest is not to blame, and is told.
#[test]
fn a_snapshot_that_turns_back_is_for_the_host_to_guard() {
    let fault = ["--fault", "snapshot-turns-back"];
    let (Some(turns), Some(does_not)) = (
        adapter::adapter("pending_action", &fault),
        adapter::adapter("pending_action", &[]),
    ) else {
        return;
    };
    let report_of = |command: &[String]| report("pending-action", &["--runs", "60"], command);
    let turning = report_of(&turns);
    assert_ne!(with(&turning, "host-must-guard"), [""; 0]);
    // What is let run again all the same is found with a rollback alone.
    for found in turning["divergences"].as_array().expect("a list") {
        let mut steps = found["steps"].as_array().expect("a list").iter();
        let asked = |it: &Value| {
            it["action"]
                .as_str()
                .is_some_and(|it| it.starts_with("rollback"))
        };
        assert!(steps.any(asked), "{found:#}");
    }
    assert_eq!(with(&report_of(&does_not), "host-must-guard"), [""; 0]);
}

#[test]
fn a_divergence_has_the_same_identity_from_whatever_seed_it_is_found() {
    let liar = script("pending-action", LIAR);
    let identity = |seed: &str| {
        let report = report("pending-action", &["--runs", "30", "--seed", seed], &liar);
        let found = &report["divergences"][0];
        assert_eq!(found["clause"], "PA-10");
        found["identity"].as_str().expect("an identity").to_owned()
    };
    assert_eq!(identity("1"), identity("1000"));
}

#[test]
fn what_is_known_passes_what_is_new_fails_and_what_has_vanished_is_told() {
    let folder = folder();
    let file = folder.path().join("known.json").display().to_string();
    let liar = script("pending-action", LIAR);
    let runs = ["--runs", "40"];
    let write = ["--write-baseline", &file, "--reason", "#12"];
    let first = diff("pending-action", &[runs.as_slice(), &write].concat(), &liar);
    assert_eq!(first.status.code(), Some(0), "{}", error(&first));
    let written: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    fits(&written, "diff.baseline");
    assert_eq!(written["known"][0]["clause"], "PA-10");
    assert_eq!(written["known"][0]["reason"], "#12");

    let against = [runs.as_slice(), &["--baseline", &file]].concat();
    let known = report("pending-action", &against, &liar);
    assert_eq!(known["divergences"][0]["known"], "#12");
    assert_ne!(known["verdict"], "violates");

    let vanished = diff("pending-action", &against, &reference("pending-action"));
    assert_eq!(vanished.status.code(), Some(0));
    assert!(
        text(&vanished).contains("known, and not found any more: PA-10"),
        "{}",
        text(&vanished)
    );

    // What was known keeps its reason.
    let again = [
        &against[..],
        &["--write-baseline", &file, "--reason", "#13"],
    ]
    .concat();
    assert_eq!(report("pending-action", &again, &liar)["result"], "PASS");
    let written: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(written["known"][0]["reason"], "#12");

    fs::write(&file, r#"{"protocol":"pending-action","known":[]}"#).expect("written");
    assert_eq!(
        report("pending-action", &against, &liar)["verdict"],
        "violates"
    );
}

#[test]
fn a_bad_baseline_is_refused_with_its_place() {
    let folder = folder();
    let file = folder.path().join("known.json").display().to_string();
    let known = |identity: &str, clause: &str, reason: &str| {
        let entry = json!({"identity": identity, "clause": clause, "reason": reason});
        json!({"protocol": "pending-action", "known": [entry.clone(), entry]}).to_string()
    };
    let one = "0123456789ab";
    for (content, told) in [
        ("{".to_owned(), "is no baseline: EOF"),
        (
            r#"{"protocol":"aaep","known":[]}"#.to_owned(),
            "a baseline of aaep, not of pending-action",
        ),
        (
            r#"{"protocol":"pending-action","known":[],"more":1}"#.to_owned(),
            "unknown field `more`",
        ),
        (
            known("12", "PA-8", "x"),
            "entry 1 of `known`: `fingerprint` is \"12\"",
        ),
        (
            known(one, "p-9", "x"),
            "entry 1 of `known`: `clause` is \"p-9\"",
        ),
        (
            known(one, "PA-8", " "),
            "entry 1 of `known`: `reason` is blank",
        ),
    ] {
        fs::write(&file, content).expect("written");
        let output = diff(
            "pending-action",
            &["--baseline", &file],
            &reference("pending-action"),
        );
        assert_eq!(output.status.code(), Some(2));
        assert!(error(&output).contains(told), "{told}: {}", error(&output));
    }
}

#[test]
fn the_shards_of_a_search_are_all_of_it() {
    let whole = report("mcp-aql", &["--runs", "31"], &reference("mcp-aql"));
    // The suite is played in each shard, and is all that is played where there is no run for it.
    let none = ["--runs", "1", "--shard", "2/2"];
    let suite = report("mcp-aql", &none, &reference("mcp-aql"));
    assert_eq!(suite["runs"], 0);
    let number = |report: &Value, name: &str| report[name].as_u64().expect("a number");
    let mut sums = [0, number(&suite, "calls")];
    let mut upheld = BTreeSet::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let part = report(
            "mcp-aql",
            &["--runs", "31", "--shard", shard],
            &reference("mcp-aql"),
        );
        sums[0] += number(&part, "runs");
        sums[1] += number(&part, "calls") - number(&suite, "calls");
        upheld.extend(with(&part, "upholds").into_iter().map(str::to_owned));
    }
    assert_eq!(json!(sums), json!([whole["runs"], whole["calls"]]));
    let upheld: Vec<&String> = upheld.iter().collect();
    assert_eq!(upheld, with(&whole, "upholds"));
    for shard in ["0/3", "4/3", "2", "a/b"] {
        let output = diff("mcp-aql", &["--shard", shard], &reference("mcp-aql"));
        assert_eq!(output.status.code(), Some(2), "{shard}");
        assert!(
            error(&output).contains("expected I/N"),
            "{}",
            error(&output)
        );
    }
}

#[test]
fn build_servers_and_code_hosts_are_told_of_it() {
    let liar = script("pending-action", LIAR);
    let runs = ["--runs", "30"];
    let junit = diff(
        "pending-action",
        &[runs.as_slice(), &["--format", "junit"]].concat(),
        &liar,
    );
    assert_eq!(junit.status.code(), Some(1));
    let xml = text(&junit);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/junit-10.xsd");
    let schema = fs::read_to_string(schema).expect("the schema");
    let schema = uppsala::parse(&schema).expect("XML");
    let schema = XsdValidator::from_schema(&schema).expect("an XML schema");
    let faults = schema.validate(&uppsala::parse(&xml).expect("well-formed XML"));
    let faults: Vec<String> = faults.into_iter().map(|it| it.message).collect();
    assert_eq!(faults, [""; 0], "{xml}");
    assert!(xml.contains("<testcase name=\"PA-10\" "), "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 1, "{xml}");
    assert_eq!(
        xml.matches(" time=\"").count(),
        xml.matches("<testcase ").count() + 1,
        "{xml}"
    );

    let sarif = diff(
        "pending-action",
        &[runs.as_slice(), &["--format", "sarif"]].concat(),
        &liar,
    );
    let log: Value = serde_json::from_slice(&sarif.stdout).expect("JSON");
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas/sarif-2.1.0.schema.json");
    let mut schema: Value =
        serde_json::from_slice(&fs::read(schema).expect("the schema")).expect("JSON");
    // The pattern of a language has a bracket too many. No log here names one.
    for of in ["run", "toolComponent"] {
        schema["definitions"][of]["properties"]["language"] = json!({});
    }
    let problems = jsonschema::draft7::new(&schema).expect("a schema");
    let problems: Vec<String> = problems
        .iter_errors(&log)
        .map(|it| it.to_string())
        .collect();
    assert_eq!(problems, [""; 0]);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "PA-10");
    assert!(result["partialFingerprints"]["countersign/v1"].is_string());
}

#[test]
fn one_page_has_the_verdicts_and_each_divergence_to_step_through() {
    let liar = script("pending-action", LIAR);
    let page = diff(
        "pending-action",
        &["--runs", "30", "--format", "html"],
        &liar,
    );
    let page = text(&page);
    for part in [
        "The verdict on each clause",
        "How it takes the text",
        "<span class=\"verdict violates\">violates</span>",
        "Next fault",
        "reset, for the run of PA-10",
    ] {
        assert!(page.contains(part), "no {part:?}");
    }
    assert!(!page.contains("<script src") && !page.contains("<link"));
}

/// What came out stands at the step, and not once more below it.
#[test]
fn the_bad_step_tells_once_what_came_out() {
    let output = diff(
        "pending-action",
        &["--runs", "30"],
        &script("pending-action", LIAR),
    );
    let text = text(&output);
    assert!(
        text.contains("  actual    the output of step 2\n"),
        "{text}"
    );
    assert_eq!(text.matches("type=decided").count(), 1, "{text}");
}

/// PA-7: a step that was there for its time alone is left out, and the next takes the time.
#[test]
fn time_that_only_passes_is_taken_by_the_next_step() {
    let Some(late) = adapter::adapter("pending_action", &["--fault", "late-decision"]) else {
        return;
    };
    let report = report("pending-action", &["--runs", "100"], &late);
    let divergences = report["divergences"].as_array().expect("a list");
    assert_ne!(divergences.len(), 0);
    for found in divergences {
        let steps = found["steps"].as_array().expect("a list");
        let asked = steps.iter().map(|it| it["action"].as_str().unwrap_or(""));
        let asked: Vec<&str> = asked.collect();
        let rest = &asked[..asked.len() - 1];
        assert!(!rest.contains(&"tick"), "{asked:?}");
    }
}

#[test]
fn several_reports_are_a_matrix_with_a_badge_for_each() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let keep = |name: &str, command: &[String]| {
        let report = report("pending-action", &["--runs", "30"], command);
        fs::write(file(name), report.to_string()).expect("written");
    };
    keep("one.json", &reference("pending-action"));
    keep("two.json", &script("pending-action", LIAR));
    let [one, two, out] = ["one.json", "two.json", "site"].map(file);
    let matrix = countersign(&["report", "--matrix", &one, &two, "--out", &out], &[]);
    assert_eq!(matrix.status.code(), Some(0), "{}", error(&matrix));
    let row = text(&matrix);
    let row = row
        .lines()
        .find(|line| line.starts_with("PA-10 "))
        .expect("a row");
    let row: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(row, ["PA-10", "(inferred)", "upholds", "violates"]);
    let written = fs::read(file("site/matrix.json")).expect("a file");
    fits(
        &serde_json::from_slice(&written).expect("JSON"),
        "diff.matrix",
    );
    let page = fs::read_to_string(file("site/matrix.html")).expect("a page");
    assert!(page.contains("<span class=\"verdict violates\">violates</span>"));
    let badge: Value =
        serde_json::from_slice(&fs::read(file("site/badge-2.json")).expect("a file"))
            .expect("JSON");
    assert_eq!(
        badge,
        json!({"schemaVersion": 1, "label": "countersign pending-action", "message": "1 clauses violated", "color": "red"})
    );

    fs::write(file("bad.json"), "{}").expect("written");
    let bad = countersign(&["report", "--matrix", &one, &file("bad.json")], &[]);
    assert_eq!(bad.status.code(), Some(2));
    assert!(
        error(&bad).contains("is no report of `diff --format json`"),
        "{}",
        error(&bad)
    );
}

#[test]
fn with_a_seed_two_transcripts_are_the_same() {
    let requests = "{\"id\":1,\"op\":\"hello\",\"driver\":1,\"protocol\":\"pending-action\"}\n\
        {\"id\":2,\"op\":\"reset\",\"now\":\"2026-05-24T14:22:20Z\"}\n\
        {\"id\":3,\"op\":\"propose\",\"now\":\"2026-05-24T14:22:20Z\",\"agent_id\":\"a\",\"session_id\":\"s\",\"run_id\":\"r\",\
        \"tool\":\"t\",\"arguments\":{},\"effect\":\"write\",\"summary\":\"Do it?\",\"label\":\"Yes\"}\n";
    let transcript = |seed: &[&str]| {
        let mut serve = assert_cmd::Command::new(binary());
        serve
            .args(["serve", "pending-action", "--stdio"])
            .args(seed);
        let output = serve.write_stdin(requests).output().expect("it runs");
        assert!(output.status.success());
        text(&output)
    };
    let seeded = transcript(&["--seed", "7"]);
    assert!(seeded.contains("\"nonce\""), "{seeded}");
    assert_eq!(seeded, transcript(&["--seed", "7"]));
    assert_ne!(seeded, transcript(&["--seed", "8"]));
    assert_ne!(transcript(&[]), transcript(&[]));
    let kept = countersign(
        &[
            "serve",
            "pending-action",
            "--stdio",
            "--seed",
            "7",
            "--store",
            "x",
        ],
        &[],
    );
    assert_eq!(kept.status.code(), Some(2));
}

fn smoke(protocol: &str, command: &[String]) -> (Option<i32>, Value) {
    let output = countersign(
        &[
            "diff",
            protocol,
            "--preflight",
            "--timeout",
            "60",
            "--format",
            "json",
        ],
        command,
    );
    (output.status.code(), document(&output, "smoke"))
}

fn passes_the_preflight(protocol: &str, command: &[String]) -> Value {
    let (status, document) = smoke(protocol, command);
    let checks = document["checks"].as_array().expect("a list");
    let failed: Vec<&Value> = checks.iter().filter(|it| it["passed"] == false).collect();
    assert_eq!(failed, [&Value::Null; 0], "{command:?}");
    assert_eq!(document["unasked"], json!([]), "{command:?}");
    assert_eq!((status, &document["result"]), (Some(0), &json!("PASS")));
    document
}

#[test]
fn the_reference_and_each_adapter_pass_the_preflight() {
    for protocol in ["aaep", "mcp-aql", "pending-action"] {
        let own = adapter::adapter(&protocol.replace('-', "_"), &[]);
        for command in own.into_iter().chain([reference(protocol)]) {
            let document = passes_the_preflight(protocol, &command);
            assert_eq!(document["broken"], json!([]), "{command:?}");
        }
    }
}

/// The file that `--init` prints.
fn initial(protocol: &str, language: &str, file: &Path) {
    let output = countersign(&["diff", protocol, "--init", language], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    fs::write(file, output.stdout).expect("written");
}

#[test]
fn the_adapter_to_fill_in_passes_the_preflight_as_it_is_printed() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name);
    let protocols = ["aaep", "mcp-aql", "pending-action"];
    for protocol in protocols {
        initial(protocol, "python", &file("adapter.py"));
        if let Some(command) = adapter::python(&file("adapter.py")) {
            passes_the_preflight(protocol, &command);
        }
        initial(protocol, "ts", &file(protocol).with_extension("ts"));
    }
    let lies = adapter::folder().join("typescript");
    for name in ["tsconfig.json", "package.json"] {
        fs::copy(lies.join(name), file(name)).expect("copied");
    }
    symlink(lies.join("node_modules"), file("node_modules")).expect("a link");
    let Some((built, extension)) = adapter::for_node(folder.path()) else {
        return;
    };
    for protocol in protocols {
        let program = built.join(protocol).with_extension(extension);
        let command = ["node".to_owned(), program.display().to_string()];
        passes_the_preflight(protocol, &command);
    }
}

#[test]
fn a_failed_check_says_whose_fault_it_is_and_shows_request_and_response() {
    for (change, name, of, request, response) in [
        (
            "s/^{\"id\":6,/{\"id\":60,/",
            "`now` may go on again",
            "adapter",
            r#"{"id":6,"op":"tick","now":"2026-05-24T15:22:20.000Z"}"#,
            r#"{"id":60,"outputs":[]}"#,
        ),
        (
            "s/\"outputs\":\\[\\]/\"error\":\"out of luck\"/",
            "`reset` is answered",
            "implementation",
            r#"{"id":2,"op":"reset","now":"2026-05-24T14:22:20.000Z"}"#,
            r#"{"id":2,"error":"out of luck"}"#,
        ),
        (
            "s/^{\"id\":8,\"error\".*/{\"id\":8,\"unsupported\":true}/",
            "an unknown op is an `error`",
            "adapter",
            r#"{"id":8,"op":"no_such_op","now":"2026-05-24T14:22:20.000Z"}"#,
            r#"{"id":8,"unsupported":true}"#,
        ),
        (
            "s/^{\"id\":null,.*/{\"id\":11,\"error\":\"no\"}/",
            "a line that is no JSON is an `error` with the id null",
            "adapter",
            "{",
            r#"{"id":11,"error":"no"}"#,
        ),
        (
            "s/\"restart\",*//",
            "`restart` is `unsupported` without the capability `restart`",
            "adapter",
            r#"{"id":12,"op":"restart","now":"2026-05-24T14:22:20.000Z"}"#,
            r#"{"id":12,"outputs":[]}"#,
        ),
    ] {
        let command = script("pending-action", &format!("$serve | sed -u '{change}'"));
        let (status, document) = smoke("pending-action", &command);
        assert_eq!(status, Some(1), "{change}: {document:#}");
        let checks = document["checks"].as_array().expect("a list");
        let check = checks.iter().find(|it| it["name"] == name);
        let check = check.unwrap_or_else(|| panic!("{name}: {document:#}"));
        let expected = [json!(false), json!(of), json!(request), json!(response)];
        let came = ["passed", "of", "request", "response"].map(|it| check[it].clone());
        assert_eq!(came, expected, "{document:#}");
        let output = countersign(&["smoke", "pending-action", "--timeout", "60"], &command);
        let text = text(&output);
        assert!(text.contains(&format!(" ✗ {name}\n     {of}: ")), "{text}");
        assert!(
            text.contains(&format!("\n     →  {request}\n     ←  {response}\n")),
            "{text}"
        );
        assert!(
            text.lines().last().expect("a line").starts_with("FAIL  "),
            "{text}"
        );
    }
}

#[test]
fn an_adapter_that_does_not_answer_hello_gets_one_hint() {
    const NO_DASHES: &str =
        "`--` has to stand before the command\n  hint: countersign diff PROTOCOL -- COMMAND";
    let folder = folder();
    fs::write(folder.path().join("ledger.py"), "").expect("written");
    fs::write(folder.path().join("ledger.sh"), "").expect("written");
    for (arguments, told) in [
        (
            &["aaep", "--", "true"][..],
            "true: no `hello` response: the adapter ended (exit status: 0)",
        ),
        (
            &["aaep", "--timeout", "1", "--", "sleep", "9"],
            "sleep 9: no `hello` response within 1 s; the adapter runs and has written nothing\n  hint: give it more time to start: --timeout 6",
        ),
        (
            &[
                "aaep",
                "--timeout",
                "2",
                "--",
                "sh",
                "-c",
                "cat > unread; echo {}",
            ],
            "no `hello` response within 2 s; it came when stdin was closed\n  hint: flush stdout after each line",
        ),
        (
            &["aaep", "--", "echo", "ready"],
            "the first line is no `hello` response: ready\n  hint: write responses alone to stdout, and logs to stderr",
        ),
        (&["aaep", "--", "ledger.py"], "\n  hint: python3 ledger.py"),
        (&["aaep", "--", "ledger.sh"], "\n  hint: ./ledger.sh"),
        (&["aaep", "python3", "ledger.py"], NO_DASHES),
        (&["aaep", "python3", "ledger.py", "--strict"], NO_DASHES),
        (&["aaep", "python3", "-u", "ledger.py"], NO_DASHES),
        (&["aaep", "--unknown"], "unexpected argument '--unknown'"),
    ] {
        let waits = arguments.contains(&"--timeout");
        let commands = if waits {
            &["diff"][..]
        } else {
            &["diff", "smoke"]
        };
        for command in commands {
            let mut countersign = Command::new(binary());
            let countersign = countersign.arg(command).args(arguments);
            let output = countersign
                .current_dir(folder.path())
                .output()
                .expect("it runs");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            assert!(error(&output).contains(told), "{told}: {}", error(&output));
        }
    }
}

/// What is said of this party, searched on so many threads.
fn said_of<P: Spoken>(party: impl Implementation<Wire<P>>, threads: usize) -> [String; 2] {
    let mut search = Search::<P, _>::new(Greeted::new(party).expect("it greets"));
    search.threads = threads;
    search.shrinking = Duration::from_hours(1);
    search.suite();
    (1..=3).for_each(|seed| search.seeded(seed));
    let files: Vec<_> = (0..search.divergences.len())
        .map(|place| PathBuf::from(place.to_string()))
        .collect();
    let report = Report::of(&search, Part::whole(1), &files, |file| {
        file.display().to_string()
    });
    [ReportFormat::Text, ReportFormat::Json].map(|format| report.answer(format, true).text)
}

/// What comes of the same search on one thread, on two and on three is the same.
fn assert_same<T: PartialEq + std::fmt::Debug>(search: impl Fn(usize) -> T) -> T {
    let one = search(1);
    for threads in [2, 3] {
        assert_eq!(search(threads), one, "on {threads} threads");
    }
    one
}

fn assert_threads_do_not_show<P: Referred>() {
    let [_, json] = assert_same(|threads| said_of::<P>(P::reference(1), threads));
    assert!(json.contains(r#""upholds""#), "{json}");
    assert!(!json.contains(r#""violates""#), "{json}");
    let control = Control::AllowAll;
    let diverging = |threads| {
        let reference = P::reference(1);
        said_of::<P>(Controlled { control, reference }, threads)
    };
    let [_, json] = assert_same(diverging);
    assert!(json.contains(r#""violates""#), "{json}");
    // Here the search ends with the run in which enough is found.
    let ended = ablated::<P>().step_by(3).map(|rule| {
        assert_same(|threads| {
            let party = Greeted::new(Producer::<P>::without(rule)).expect("it greets");
            let mut search = Search::<P, _>::new(party);
            (search.threads, search.shrinking) = (threads, Duration::ZERO);
            search.left_out(rule.name);
            let found = format!("{:?}", search.divergences);
            (search.runs, search.calls, found)
        })
    });
    let runs: BTreeSet<u64> = ended.map(|(runs, ..)| runs).collect();
    assert!(runs.len() > 1, "{runs:?}");
}

#[test]
#[ignore = "night: drives the adapter for minutes"]
fn the_report_is_the_same_on_any_number_of_threads() {
    assert_threads_do_not_show::<PendingAction>();
    assert_threads_do_not_show::<McpAql>();
    assert_threads_do_not_show::<Aaep>();
}
