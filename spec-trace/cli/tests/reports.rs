//! What build servers and code hosts get, held against the published schemas (`tests/schemas`).

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use countersign_cli::answer::Status;
use countersign_cli::verdicts::{self, Verified};
use countersign_conform::edges::Walk;
use countersign_conform::{Disagreement, Divergence};
use countersign_model::aaep::Aaep;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::checker::{self, CheckReport, Kind, PropertyVerdict, StepText};
use jsonschema::Validator;
use serde_json::{Value, json};
use uppsala::XsdValidator;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What lint prints about everything that there is to say: all streams, one that is cut, one that cannot be read.
fn lint_report(format: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut <&\"'>.jsonl");
    fs::write(&cut, b"\x1F\x8B\x08\x00").expect("a file");
    let output = Command::cargo_bin("countersign")
        .expect("the command is built")
        .current_dir(here(".."))
        .args(["lint", "traces", "no-such-file", "--format", format])
        .arg(&cut)
        .args(more)
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn sarif_schema() -> Validator {
    let text = fs::read_to_string(here("tests/schemas/sarif-2.1.0.schema.json")).expect("a schema");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    // The pattern of a language has a bracket too many, which a strict reader of patterns refuses. No log here names one.
    for of in ["run", "toolComponent"] {
        schema["definitions"][of]["properties"]["language"]
            .as_object_mut()
            .and_then(|language| language.remove("pattern"))
            .expect("the pattern that is no pattern");
    }
    jsonschema::draft7::new(&schema).expect("a schema of draft 7")
}

#[test]
fn sarif_keeps_to_its_schema_and_to_what_code_hosts_need() {
    let schema = sarif_schema();
    for more in [&[][..], &["--redact"], &["--strict"]] {
        let log: Value = serde_json::from_str(&lint_report("sarif", more)).expect("JSON");
        let faults: Vec<String> = schema.iter_errors(&log).map(|it| it.to_string()).collect();
        assert_eq!(faults, [""; 0]);
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
        let results = run["results"].as_array().expect("results");
        assert!(results.len() > 40 && rules.len() > 10);
        for result in results {
            let index = result["ruleIndex"].as_u64().expect("an index");
            let rule = &rules[usize::try_from(index).expect("a small index")];
            assert_eq!(rule["id"], result["ruleId"]);
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
            assert!(uri.starts_with("traces/"), "relative: {uri}");
            assert!(place["region"]["startLine"].as_u64() >= Some(1));
            // By its hash a line that is guessed could be told, so there is none where nothing is to be quoted.
            let fingerprint = &result["partialFingerprints"]["countersign/v1"];
            let length = (more != ["--redact"]).then_some(16);
            assert_eq!(fingerprint.as_str().map(str::len), length);
        }
        let told = &run["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(told.as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn the_schema_of_sarif_has_teeth() {
    let schema = sarif_schema();
    let mut log: Value = serde_json::from_str(&lint_report("sarif", &[])).expect("JSON");
    let result = &mut log["runs"][0]["results"][0];
    result["level"] = "violation".into();
    assert!(!schema.is_valid(&log));
}

/// What programs get of a command that had nothing to judge.
fn report_of_nothing(input: &Path, format: &str) -> String {
    let output = Command::cargo_bin("countersign")
        .expect("the command is built")
        .args(["lint", "--format", format])
        .arg(input)
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// AAEP-6.1-1, AAEP-A.8-4: what follows from a fault is told with it, in a place of its own.
#[test]
fn the_consequences_of_a_finding_are_told_with_it() {
    let of = |format: &str| {
        let output = Command::cargo_bin("countersign")
            .expect("the command is built")
            .current_dir(here("../traces/several"))
            .args([
                "lint",
                "a22-two-calls-and-the-wrong-token.jsonl",
                "--format",
                format,
            ])
            .output()
            .expect("the command runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let log: Value = serde_json::from_str(&of("sarif")).expect("JSON");
    assert!(sarif_schema().is_valid(&log));
    let results = log["runs"][0]["results"].as_array().expect("results");
    let told = |result: &&Value| !result["relatedLocations"].is_null();
    let result = results.iter().find(told).expect("one has a consequence");
    let related = &result["relatedLocations"][0];
    assert_eq!(related["physicalLocation"]["region"]["startLine"], 9);
    assert_ne!(
        result["locations"][0]["physicalLocation"]["region"]["startLine"],
        9
    );
    let text = related["message"]["text"].as_str().expect("a text");
    assert!(
        text.starts_with("a consequence, which breaks AAEP-6.1-1: "),
        "{text}"
    );
    let xml = of("junit");
    let line = "  its consequence breaks AAEP-6.1-1: a22-two-calls-and-the-wrong-token.jsonl:9: ";
    assert!(xml.contains(line), "{xml}");
}

/// A build that fails has to show why where it shows the rest.
#[test]
fn an_input_that_cannot_be_read_is_told_in_the_document_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing.jsonl");
    for (input, reason) in [
        (&*missing, "os error 2"),
        (folder.path(), "no recorded stream"),
    ] {
        let log: Value = serde_json::from_str(&report_of_nothing(input, "sarif")).expect("JSON");
        assert!(sarif_schema().is_valid(&log));
        let run = &log["runs"][0];
        assert_eq!(run["results"].as_array().map(Vec::len), Some(0));
        let invocation = &run["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        assert_eq!(invocation["exitCode"], 2);
        let told = &invocation["toolExecutionNotifications"][0]["message"]["text"];
        assert!(told.as_str().expect("a text").contains(reason), "{told}");

        let xml = report_of_nothing(input, "junit");
        assert_eq!(faults_of_junit(&xml), [""; 0]);
        assert!(
            xml.contains("tests=\"1\" failures=\"0\" errors=\"1\""),
            "{xml}"
        );
        assert!(xml.contains(reason), "{xml}");

        let json: Value = serde_json::from_str(&report_of_nothing(input, "json")).expect("JSON");
        assert_eq!(json["files"], serde_json::json!([]));
        let error = json["unreadable"][0]["error"].as_str().expect("a text");
        assert!(error.contains(reason), "{error}");
    }
}

fn faults_of_junit(xml: &str) -> Vec<String> {
    let text = fs::read_to_string(here("tests/schemas/junit-10.xsd")).expect("a schema");
    let schema = uppsala::parse(&text).expect("XML");
    let schema = XsdValidator::from_schema(&schema).expect("an XML schema");
    let document = uppsala::parse(xml).expect("well-formed XML");
    let faults = schema.validate(&document);
    faults.into_iter().map(|fault| fault.message).collect()
}

#[test]
fn junit_keeps_to_its_schema_and_its_counts_are_right() {
    for more in [&[][..], &["--redact"], &["--strict"]] {
        let xml = lint_report("junit", more);
        assert_eq!(faults_of_junit(&xml), [""; 0]);
        let head = xml.lines().nth(1).expect("the root");
        for (element, attribute) in [
            ("<testcase ", "tests"),
            ("<failure ", "failures"),
            ("<error ", "errors"),
        ] {
            let count = xml.matches(element).count();
            assert!(count > 1);
            assert!(head.contains(&format!("{attribute}=\"{count}\"")), "{head}");
        }
        assert!(xml.contains("cut &lt;&amp;&quot;'&gt;.jsonl"));
    }
}

#[test]
fn the_schema_of_junit_has_teeth() {
    let xml = lint_report("junit", &[]);
    for (right, wrong) in [("<failure ", "<failed "), (" errors=", " mistakes=")] {
        let broken = xml.replace(right, wrong).replace("</failure>", "</failed>");
        let broken = if wrong == "<failed " {
            broken
        } else {
            xml.replace(right, wrong)
        };
        assert_ne!(faults_of_junit(&broken), [""; 0], "{wrong}");
    }
}

#[test]
fn other_commands_refuse_the_formats_of_findings() {
    for command in [
        &["check", "aaep"][..],
        &["clauses"],
        &["schema"],
        &["serve", "aaep", "--stdio"],
    ] {
        for format in ["junit", "sarif"] {
            Command::cargo_bin("countersign")
                .expect("the command is built")
                .args(command)
                .args(["--format", format])
                .assert()
                .code(2)
                .stderr(predicates::str::contains("[possible values: text, json]"));
        }
    }
}

/// A walk over so many nodes and edges.
fn walk(nodes: u64, edges: u64) -> Walk {
    Walk {
        nodes,
        edges,
        divergences: Vec::new(),
    }
}

/// AAEP after a search of 3 states and 5 transitions, in which nothing goes wrong.
fn verified() -> Verified {
    Verified {
        protocol: "aaep",
        bounds: "small".to_owned(),
        check: CheckReport {
            unique_states: 3,
            transitions: 5,
            pairs: 4,
            edges: 5,
            depth: 2,
            exhaustive: true,
            properties: Vec::new(),
        },
        check_seconds: 1.0,
        edges: walk(3, 5),
        literal_bounds: "small",
        literal: walk(3, 5),
        pairs: walk(3, 5),
        aside: Vec::new(),
        judged: None,
    }
}

/// What others rely on. The figures of whole walks are compared with the README when all are made.
#[test]
fn a_verified_protocol_has_the_shape_that_others_rely_on() {
    let verified = Verified {
        aside: vec![("clarify", walk(3, 5))],
        judged: Some(walk(4, 6)),
        ..verified()
    };
    let none: [Value; 0] = [];
    let expected = json!({ "protocols": [{
        "protocol": "aaep",
        "bounds": "small",
        "holds": true,
        "unique_states": 3,
        "transitions": 5,
        "edges": 5,
        "pairs": 3,
        "literal": { "bounds": "small", "states": 3, "edges": 5 },
        "aside": [{ "bounds": "clarify", "states": 3, "edges": 5 }],
        "judged": { "pairs": 4, "edges": 6 },
        "divergences": none,
    }] });
    assert_eq!(verdicts::verified_json(&[verified]), expected);
}

#[test]
fn a_walk_that_did_not_go_everywhere_shows_nothing() {
    assert_eq!(verified().status(), Status::Holds);
    for (nodes, edges) in [(2, 5), (4, 5), (3, 4), (3, 6), (0, 0)] {
        let partly = Verified {
            edges: walk(nodes, edges),
            ..verified()
        };
        assert_eq!(partly.status(), Status::Inconclusive, "{nodes}, {edges}");
    }
    // Of several walks aside, each.
    for (edges, status) in [(5, Status::Holds), (0, Status::Inconclusive)] {
        let aside = Verified {
            aside: vec![("clarify", walk(3, 5)), ("work", walk(3, edges))],
            ..verified()
        };
        assert_eq!(aside.status(), status);
        assert_eq!(aside.json()["aside"][1]["edges"], edges);
    }
}

/// The same where all goes wrong that can: a property is broken and another was not seen, the executor differs from the
/// model and the judge of streams had nothing to judge.
fn failing() -> Verified {
    let step = |actor: &str, action: &str| StepText {
        at: "t=3".to_owned(),
        actor: actor.to_owned(),
        to: None,
        action: action.to_owned(),
        changes: vec!["a1: pending → accepted".to_owned()],
    };
    let steps = vec![
        step("s1", "accepts r1 <late>"),
        step("accept(r1)", "arrives"),
    ];
    let property = |name: &'static str, kind, steps| PropertyVerdict {
        name: name.into(),
        clauses: vec!["AAEP-6.3.4-4"].into(),
        kind,
        finding: None,
        holds: false,
        steps,
    };
    let divergence = Divergence {
        steps: steps.clone(),
        disagreement: Disagreement {
            required: Some("a1 was not to run: the reply is late".to_owned()),
            ..Disagreement::in_outputs(
                "AAEP-6.3.4-4",
                "nothing".to_owned(),
                "the tool runs".to_owned(),
            )
        },
    };
    let late = "6.3.4-4 a reply that claims the deadline or later has no effect";
    let ignored = "6.3.4-4 a late claim is ignored";
    let mut failing = verified();
    failing.check.properties = vec![
        property(late, Kind::Always, steps),
        property(ignored, Kind::Sometimes, Vec::new()),
    ];
    failing.edges.divergences.push(divergence);
    failing.judged = Some(walk(3, 0));
    failing
}

#[test]
fn what_verify_finds_is_told_to_build_servers() {
    let found = [failing(), failing()];
    assert_eq!(verdicts::status(&found), Status::Violated);
    let json = verdicts::verified_json(&found);
    let required = &json["protocols"][1]["divergences"][0]["required"];
    assert_eq!(required, "a1 was not to run: the reply is late");
    let xml = verdicts::junit::render(&found);
    assert_eq!(faults_of_junit(&xml), [""; 0]);
    // Two properties, the search and four walks in each suite.
    assert!(
        xml.contains("tests=\"14\" failures=\"4\" errors=\"4\""),
        "{xml}"
    );
    for told in [
        "<testsuite name=\"aaep, small bounds\" tests=\"7\" failures=\"2\" errors=\"2\"",
        "<failure type=\"counterexample\" message=\"a run of 2 steps breaks it\">",
        "s1 accepts r1 &lt;late&gt;",
        "<failure type=\"divergence\" message=\"against AAEP-6.3.4-4\">",
        "required      a1 was not to run: the reply is late\n   expected      nothing\n   seen          the tool runs",
        "<error message=\"nothing within these bounds shows it\"/>",
        "<error message=\"the walk compared 0 edges of 3 states, and not all that there are\"/>",
    ] {
        assert!(xml.contains(told), "{told}\n{xml}");
    }
}

#[test]
fn what_verify_finds_is_told_to_code_hosts_where_the_rule_is_stated_and_carried_out() {
    let log = verdicts::sarif::render(&[failing()]);
    let schema = sarif_schema();
    let faults: Vec<String> = schema.iter_errors(&log).map(|it| it.to_string()).collect();
    assert_eq!(faults, [""; 0]);
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    let places: Vec<String> = results
        .iter()
        .map(|result| {
            assert_eq!(result["ruleId"], "AAEP-6.3.4-4");
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["region"]["startLine"].as_u64() > Some(1));
            let uri = place["artifactLocation"]["uri"].as_str();
            uri.expect("a URI").to_owned()
        })
        .collect();
    let [stated, carried_out] = &*places else {
        panic!("{places:?}");
    };
    assert_eq!(stated, "model/src/aaep/rules.rs");
    assert!(
        carried_out.starts_with("reference/src/aaep/"),
        "{carried_out}"
    );
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["exitCode"], 1);
    assert_eq!(invocation["executionSuccessful"], false);
    let told = &invocation["toolExecutionNotifications"];
    assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
}

#[test]
fn where_all_holds_every_case_passes() {
    let model = Aaep::new(Bounds::SMALL).expect("it is in range");
    let check = checker::check(&model, |_| {});
    let (states, edges) = (check.unique_states as u64, check.transitions as u64);
    let holds = Verified {
        check,
        edges: walk(states, edges),
        ..verified()
    };
    assert_eq!(holds.status(), Status::Holds);
    let xml = verdicts::junit::render(&[holds]);
    assert_eq!(faults_of_junit(&xml), [""; 0]);
    let cases = xml.matches("<testcase ").count();
    assert!(cases > 40);
    let passed = format!("tests=\"{cases}\" failures=\"0\" errors=\"0\" skipped=\"0\"");
    assert!(xml.contains(&passed), "{xml}");
}
