//! What build servers and code hosts get, held against the published schemas (`tests/schemas`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use countersign_cli::answer::Status;
use countersign_cli::commands::schema;
use countersign_cli::verdicts::{self, Divergence, Verified, Walk};
use countersign_model::checker::{CheckReport, Kind, PropertyVerdict, StepText};
use jsonschema::Validator;
use serde_json::{Value, json};
use uppsala::XsdValidator;

use crate::report;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What lint prints about everything that there is to say: all streams, one that is cut, one that cannot be read.
fn lint_report(format: &str, more: &[&str]) -> String {
    lint_report_of("traces", format, more)
}

/// The same with some of the streams.
fn lint_report_of(traces: &str, format: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut <&\"'>.jsonl");
    fs::write(&cut, b"\x1F\x8B\x08\x00").expect("a file");
    let output = Command::cargo_bin("countersign")
        .expect("the command is built")
        .current_dir(here(".."))
        .args(["lint", traces, "no-such-file", "--format", format])
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
        let told = told.as_array().expect("notifications");
        // Those are runs of implementations, and no recordings.
        let uri = |it: &Value| {
            let place = &it["locations"][0]["physicalLocation"];
            place["artifactLocation"]["uri"].to_string()
        };
        let told = told
            .iter()
            .filter(|it| !uri(it).contains("traces/outside/"));
        assert_eq!(told.count(), 2);
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
    // The validator takes time that grows with the square of a report that breaks it.
    let xml = lint_report_of(
        "traces/invalid/AAEP-A.8-5_called-after-rejection.jsonl",
        "junit",
        &[],
    );
    assert_eq!(faults_of_junit(&xml), [""; 0]);
    let element = xml
        .replace("<failure ", "<failed ")
        .replace("</failure>", "</failed>");
    let attribute = xml.replace(" errors=", " mistakes=");
    for broken in [element, attribute] {
        assert_ne!(broken, xml);
        assert_ne!(faults_of_junit(&broken), [""; 0]);
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

/// A search of so many states and transitions.
fn walk(states: u64, transitions: u64) -> Walk {
    Walk {
        states,
        transitions,
        divergences: Vec::new(),
    }
}

/// AAEP after a search of 3 states and 5 transitions, in which nothing goes wrong.
fn verified() -> Verified {
    Verified {
        protocol: "aaep",
        bounds: "one".to_owned(),
        check: CheckReport {
            unique_states: 3,
            transitions: 5,
            depth: 2,
            exhaustive: true,
            properties: Vec::new(),
        },
        check_seconds: 1.0,
        worlds: vec![("one", walk(3, 5))],
        recordings: None,
    }
}

/// What others rely on. The figures of whole searches are compared with the README when all are made.
#[test]
fn a_verified_protocol_has_the_shape_that_others_rely_on() {
    let verified = Verified {
        recordings: Some(walk(4, 6)),
        ..verified()
    };
    let none: [Value; 0] = [];
    let expected = json!({ "protocols": [{
        "protocol": "aaep",
        "texts": countersign_clauses::texts_of("aaep"),
        "bounds": "one",
        "holds": true,
        "unique_states": 3,
        "transitions": 5,
        "worlds": [{ "bounds": "one", "states": 3, "transitions": 5 }],
        "recordings": { "states": 4, "transitions": 6 },
        "divergences": none,
    }], "result": "PASS" });
    assert_eq!(verdicts::verified_json(&[verified]), expected);
}

#[test]
fn a_search_that_went_nowhere_shows_nothing() {
    assert_eq!(verified().status(), Status::Holds);
    for (transitions, status) in [(5, Status::Holds), (0, Status::Inconclusive)] {
        let two = Verified {
            worlds: vec![("one", walk(3, 5)), ("two", walk(3, transitions))],
            ..verified()
        };
        assert_eq!(two.status(), status);
        let recorded = Verified {
            recordings: Some(walk(3, transitions)),
            ..verified()
        };
        assert_eq!(recorded.status(), status);
    }
}

/// The same where all goes wrong that can: a property is broken and another was not seen, the reference differs from the
/// text and no recording was judged.
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
        clause: "AAEP-6.3.4-4",
        expected: "nothing".to_owned(),
        actual: "the tool runs".to_owned(),
    };
    let late = "6.3.4-4 a reply that claims the deadline or later has no effect";
    let ignored = "6.3.4-4 a late claim is ignored";
    let mut failing = verified();
    failing.check.properties = vec![
        property(late, Kind::Always, steps),
        property(ignored, Kind::Sometimes, Vec::new()),
    ];
    failing.worlds[0].1.divergences.push(divergence);
    failing.recordings = Some(walk(3, 0));
    failing
}

#[test]
fn what_verify_finds_is_told_to_build_servers() {
    let found = [failing(), failing()];
    assert_eq!(verdicts::status(&found), Status::Violated);
    let json = verdicts::verified_json(&found);
    let actual = &json["protocols"][1]["divergences"][0]["actual"];
    assert_eq!(actual, "the tool runs");
    let xml = verdicts::junit::render(&found);
    assert_eq!(faults_of_junit(&xml), [""; 0]);
    // Two properties, the search, a world and the recordings in each suite.
    assert!(
        xml.contains("tests=\"10\" failures=\"4\" errors=\"4\""),
        "{xml}"
    );
    for told in [
        "<testsuite name=\"aaep, one bounds\" tests=\"5\" failures=\"2\" errors=\"2\"",
        "<failure type=\"counterexample\" message=\"a run of 2 steps breaks it\">",
        "s1 accepts r1 &lt;late&gt;",
        "<failure type=\"divergence\" message=\"against AAEP-6.3.4-4\">",
        "   expected      nothing\n   seen          the tool runs",
        "<error message=\"nothing within these bounds shows it\"/>",
        "<error message=\"nothing was searched\"/>",
    ] {
        assert!(xml.contains(told), "{told}\n{xml}");
    }
}

#[test]
fn what_verify_finds_is_told_to_code_hosts() {
    let log = verdicts::sarif::render(&[failing()]);
    let schema = sarif_schema();
    let faults: Vec<String> = schema.iter_errors(&log).map(|it| it.to_string()).collect();
    assert_eq!(faults, [""; 0]);
    let run = &log["runs"][0];
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["ruleId"], "AAEP-6.3.4-4");
        let text = result["message"]["text"].as_str().expect("a text");
        assert!(text.contains("s1 accepts r1 <late>"), "{text}");
    }
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["exitCode"], 1);
    assert_eq!(invocation["executionSuccessful"], false);
    let told = &invocation["toolExecutionNotifications"];
    assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
}

#[test]
fn where_all_holds_every_case_passes() {
    let text = countersign_model::facade::text("aaep").expect("a text");
    let model = (text.within)("one").expect("a world");
    let check = model.check(true, &mut |_| {});
    let holds = Verified {
        check: CheckReport {
            // One world does not show every situation.
            properties: {
                let mut all = check.properties;
                all.retain(|it| it.holds);
                all
            },
            ..check
        },
        ..verified()
    };
    assert_eq!(holds.status(), Status::Holds);
    let xml = verdicts::junit::render(&[holds]);
    assert_eq!(faults_of_junit(&xml), [""; 0]);
    let cases = xml.matches("<testcase ").count();
    assert!(cases > 20, "{cases}");
    let passed = format!("tests=\"{cases}\" failures=\"0\" errors=\"0\" skipped=\"0\"");
    assert!(xml.contains(&passed), "{xml}");
}

/// The files of a report that the command has written, by their names, and its status.
fn written(more: &[&str]) -> (BTreeMap<String, String>, Option<i32>) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("site");
    let output = Command::cargo_bin("countersign")
        .expect("the command is built")
        .arg("report")
        .arg("--out")
        .arg(&out)
        .args(more)
        .output()
        .expect("the command runs");
    let mut files = BTreeMap::new();
    for below in ["", "findings/"] {
        let entries = fs::read_dir(out.join(below)).into_iter().flatten();
        for path in entries.map(|it| it.expect("an entry").path()) {
            if path.is_file() {
                let name = path.file_name().expect("a name").to_string_lossy();
                let text = fs::read_to_string(&path).expect("text");
                files.insert(format!("{below}{name}"), text);
            }
        }
    }
    (files, output.status.code())
}

fn document(files: &BTreeMap<String, String>) -> Value {
    serde_json::from_str(&files["report.json"]).expect("JSON")
}

#[test]
fn a_report_has_a_page_for_each_finding_and_clauses_name_those_that_concern_them() {
    let (files, status) = written(&[]);
    assert_eq!(status, Some(0));
    let report = document(&files);
    let found = report["findings"].as_array().expect("findings");
    assert_eq!(found.len(), countersign_findings::all().len());
    let clauses = report["clauses"].as_array().expect("clauses");
    let concerned: usize = found
        .iter()
        .map(|it| it["clauses"].as_array().map_or(0, Vec::len))
        .sum();
    let named: usize = clauses
        .iter()
        .map(|it| it["findings"].as_array().map_or(0, Vec::len))
        .sum();
    assert!(concerned > 200);
    assert_eq!(named, concerned);
    for finding in found {
        let id = finding["id"].as_str().expect("an id");
        let page = &files[&format!("findings/{id}.html")];
        for clause in finding["clauses"].as_array().expect("clauses") {
            let clause = clause.as_str().expect("an id");
            let link = format!("href=\"../index.html#{clause}\"");
            assert!(page.contains(&link), "{id} {clause}");
        }
        let runs = finding["cases"].as_array().map_or(0, Vec::len);
        assert_eq!(
            page.matches("<div class=\"drawing\">").count(),
            runs,
            "{id}"
        );
        assert_eq!(
            page.matches("<table class=\"judged\">").count(),
            runs,
            "{id}"
        );
    }
    // What is searched for was not, and how to have it is said.
    assert!(report.get("readings").is_none() && report.get("worth").is_none());
    assert!(report.get("against").is_none());
    assert!(files["index.html"].contains("countersign report --out DIR --full"));
    assert!(!files.contains_key("readings.html"));
}

/// Whoever is against a run is so at a step of its drawing.
#[test]
fn every_run_of_every_finding_is_drawn_with_all_that_is_wrong_with_it() {
    for finding in countersign_findings::all() {
        let runs = countersign_cli::show::finding::runs(finding).expect("runs");
        assert_eq!(runs.len(), finding.cases.len());
        for (run, case) in runs.iter().zip(&finding.cases) {
            let said = case.judged.values().chain(case.broken.values());
            let against = said.chain(&case.repaired).filter(|it| it.contains(' '));
            let drawn = run.steps.iter().map(|it| it.findings.len());
            assert_eq!(drawn.sum::<usize>(), against.count(), "{}", run.title);
        }
    }
}

/// Every address in a report that does not leave it leads to a file of it, and there to a place that is there once.
#[test]
fn no_link_of_a_report_leads_nowhere() {
    let report = report::whole();
    let files: BTreeMap<String, String> = report.files().into_iter().collect();
    let pages = || files.iter().filter(|(name, _)| *name != "report.json");
    let ids = |text: &str| -> Vec<String> {
        let ids = text.split(" id=\"").skip(1);
        ids.map(|it| it.split('"').next().unwrap_or_default().to_owned())
            .collect()
    };
    let ids: BTreeMap<&str, Vec<String>> = pages().map(|(name, it)| (&**name, ids(it))).collect();
    for (name, all) in &ids {
        let different: BTreeSet<&String> = all.iter().collect();
        assert_eq!(
            different.len(),
            all.len(),
            "{name} has two places of one name"
        );
    }
    let mut links = 0;
    // Of three protocols, two were not searched for what their rules are worth.
    let left_out = ["worth-aaep.html", "worth-mcp-aql.html"];
    for (name, text) in pages() {
        for address in text.split(" href=\"").skip(1) {
            let address = address.split('"').next().unwrap_or_default();
            if left_out.contains(&address.trim_start_matches("../")) {
                continue;
            }
            let (file, place) = address.split_once('#').unwrap_or((address, ""));
            let file = match (file, name.split_once('/')) {
                ("", _) => name.clone(),
                (file, None) => file.to_owned(),
                (file, Some((below, _))) => match file.strip_prefix("../") {
                    Some(file) => file.to_owned(),
                    None => format!("{below}/{file}"),
                },
            };
            let known = ids.get(&*file);
            let known =
                known.unwrap_or_else(|| panic!("{name} leads to {file}, which there is not"));
            let is_there = place.is_empty() || known.iter().any(|it| it == place);
            assert!(is_there, "{name} leads to {address}");
            links += 1;
        }
    }
    assert!(links > 2_000, "{links}");
}

#[test]
fn a_clause_stands_beside_its_passage_with_what_has_become_of_it() {
    let files: BTreeMap<String, String> = report::whole().files().into_iter().collect();
    let index = &files["index.html"];
    let row = |id: &str| {
        let row = index.split_once(&format!("id=\"{id}\"")).expect("a row").1;
        row.split("</tr>").next().unwrap_or_default().to_owned()
    };
    for (id, name, said) in [
        ("AAEP-6.1-1", "same", "as it was read"),
        (
            "AAEP-6.3.4-4",
            "changed",
            "(the same letters with other signs or capitals)",
        ),
        ("AAEP-6.9-5", "lost", "lost: its section is gone"),
        ("PA-5", "absent", "not compared"),
    ] {
        let row = row(id);
        assert!(row.contains(&format!("data-state=\"{name}\"")), "{row}");
        assert!(
            row.contains(said) && row.contains("copy &lt;b&gt;.md:7"),
            "{row}"
        );
    }
    // Its words, its gist, its rule, what was found on it, the tests that fail where it is broken.
    let late = row("AAEP-6.3.4-4");
    for told in [
        "&lt;/script&gt;&lt;img",
        "Check 4:",
        "data-head=\"Rule\"><ul class=\"plain\"><li>AAEP-6.3.4-4</li></ul>",
        "findings/AAEP-F13.html",
        "fails where it is broken",
    ] {
        assert!(late.contains(told), "{told}: {late}");
    }
    assert!(row("AAEP-EV-15").contains("read from no passage of its own"));
    for (name, text) in &files {
        let is_page = name != "report.json";
        assert!(
            !is_page || !text.contains("<img") && !text.contains('\u{202E}'),
            "{name}"
        );
    }
    let document = document(&files);
    // It has the form of what `clauses --against` prints.
    let schema = schema::find("clauses.against").expect("a schema");
    let schema = serde_json::from_str(&(schema.text)()).expect("JSON");
    assert!(jsonschema::is_valid(&schema, &document["against"]));
    assert_eq!(document["against"]["clauses"][1]["state"], "changed");
    assert_eq!(document["against"]["uncovered"][0]["line"], 7);
    assert_eq!(document["against"]["added"][1]["after"], "PA-5");
    let other = "old &lt;b&gt;.md: holds it, too, and was not compared";
    assert!(index.contains(other) && index.contains("behind PA-5"));
    // What holds none of the documents is no copy of them.
    let (files, status) = written(&["--against", &here("src").display().to_string()]);
    assert_eq!((files.len(), status), (0, Some(2)));
}

#[test]
fn what_was_searched_for_is_linked_from_the_clauses() {
    let report = report::whole();
    let files: BTreeMap<String, String> = report.files().into_iter().collect();
    let document = document(&files);
    let place = &document["readings"][0]["readings"][0];
    let name = place["name"].as_str().expect("a name");
    let id = place["clauses"][0].as_str().expect("a clause");
    let clauses = document["clauses"].as_array().expect("clauses");
    let clause = clauses
        .iter()
        .find(|it| it["id"] == id)
        .expect("the clause");
    assert_eq!(clause["readings"], json!([name]));
    let index = &files["index.html"];
    assert!(index.contains(&format!("href=\"readings.html#pending-action-{name}\"")));
    assert!(index.contains("href=\"worth-pending-action.html#rule-PA-8\""));
    assert!(!index.contains("--full"));
    // Each guarantee that a way costs has its shortest run.
    let places = document["readings"].as_array().into_iter().flatten();
    let places = places.filter_map(|it| it["readings"].as_array()).flatten();
    let ways = places.filter_map(|it| it["choices"].as_array()).flatten();
    let costs = ways.filter_map(|it| it["breaks"].as_array()).map(Vec::len);
    let drawn = files["readings.html"].matches("<div class=\"drawing\">");
    let costs = costs.sum::<usize>();
    assert!(costs > 4 && drawn.count() == costs, "{costs}");
    let rules = document["worth"][0]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), 1);
    assert!(rules[0]["breaks"][0]["length"].as_u64() > Some(0));
    let worth = &files["worth-pending-action.html"];
    assert!(worth.contains("href=\"index.html#PA-8\""), "{worth}");
    // Each cell with a number leads to its run.
    let cells: Vec<_> = worth.split("<a href=\"#run-").skip(1).collect();
    assert!(cells.len() > 1, "{worth}");
    for cell in &cells {
        let id = cell.split('"').next().expect("an id");
        let run = worth.split(&format!("<details id=\"run-{id}\"")).nth(1);
        let run = run.expect("a run").split("</details>").next();
        assert!(
            run.is_some_and(|it| it.contains("<div class=\"drawing\">")),
            "{id}"
        );
    }
    assert_eq!(
        worth.matches("<div class=\"drawing\">").count(),
        cells.len()
    );
}

/// What programs are told of the report is what they get, with and without all that can be asked for.
#[test]
fn the_json_of_a_report_keeps_to_its_schema() {
    let schema = schema::find("report").expect("a schema");
    let schema: Value = serde_json::from_str(&(schema.text)()).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let mut whole = report::whole().document();
    for document in [&document(&written(&[]).0), &whole] {
        let faults = schema
            .iter_errors(document)
            .map(|it| format!("{}: {it}", it.instance_path()));
        assert_eq!(faults.collect::<Vec<_>>(), [""; 0]);
    }
    whole["clauses"][0]["finding"] = json!([]);
    assert!(!schema.is_valid(&whole));
}
