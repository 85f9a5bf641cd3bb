//! Findings on the source documents: that they are well-formed, and what is printed of them. What shows them is executed by the tests of
//! `countersign-findings`.

use std::collections::BTreeSet;

use assert_cmd::Command;
use countersign_findings as findings;
use predicates::str::contains;
use serde_json::Value;

fn countersign(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("countersign").expect("the binary is built");
    let output = command.args(arguments).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_finding_names_clauses_of_one_protocol_and_is_short() {
    let mut ids = BTreeSet::new();
    for finding in findings::all() {
        let id = finding.id.as_str();
        assert!(ids.insert(id), "{id} is there twice");
        assert!(
            finding.title.chars().count() <= 70,
            "{id}: {}",
            finding.title
        );
        assert!(
            !finding.sections.is_empty() && !finding.clauses.is_empty(),
            "{id}"
        );
        for clause in &finding.clauses {
            let known = countersign_clauses::get(clause.as_str());
            let known = known.unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(known.protocol, finding.protocol(), "{id}: {clause}");
        }
        for text in [
            &finding.wrong,
            &finding.witness,
            &finding.repair,
            &finding.modelled,
        ] {
            assert!(text.trim().ends_with(['.', ')', '}']), "{id}: {text}");
        }
    }
    assert!(!findings::refuted().is_empty());
}

#[test]
fn a_finding_is_explained_for_people_and_for_a_tracker() {
    insta::assert_snapshot!(countersign(&["findings", "aql-f24"]));
    insta::assert_snapshot!(countersign(&[
        "findings", "AAEP-F15", "--format", "markdown"
    ]));
    let list = countersign(&["findings", "--protocol", "pending-action"]);
    assert!(list.contains("PA-F7") && !list.contains("AQL-F1"), "{list}");
    assert!(
        list.lines().all(|line| line.chars().count() <= 100),
        "{list}"
    );
    let document: Value =
        serde_json::from_str(&countersign(&["findings", "--format", "json"])).expect("JSON");
    assert_eq!(
        document.as_array().map(Vec::len),
        Some(findings::all().len())
    );
    let mut unknown = Command::cargo_bin("countersign").expect("the binary is built");
    let refused = unknown.args(["findings", "AQL-F240"]).assert().code(2);
    refused.stderr(contains("did you mean AQL-F24"));
}

#[test]
fn it_is_said_of_each_finding_whether_tests_execute_what_shows_it() {
    let document: Value =
        serde_json::from_str(&countersign(&["findings", "--format", "json"])).expect("JSON");
    for (shown, finding) in document
        .as_array()
        .expect("an array")
        .iter()
        .zip(findings::all())
    {
        assert_eq!(
            shown["executed"],
            !finding.cases.is_empty(),
            "{}",
            finding.id
        );
        assert_eq!(
            shown["cases"].as_array().map(Vec::len),
            Some(finding.cases.len())
        );
    }
    let explained = countersign(&["findings", "AAEP-F13"]);
    assert!(explained.contains("6.4: step 4 is wrong"), "{explained}");
    assert!(
        explained.contains("guarantee a-decision-stays (6.3.5): broken by step 4"),
        "{explained}"
    );
    // One section, kept by its letter and broken in what it is there for.
    let explained = countersign(&["findings", "AAEP-F24"]);
    let kept = explained.contains("passage 6.1: nothing is wrong");
    let broken = explained.contains("guarantee nothing-unapproved-runs (6.1): broken by step");
    assert!(kept && broken, "{explained}");
    let legend = "in no message: ~asks: the action that the question is about";
    assert!(countersign(&["findings", "AAEP-F25"]).contains(legend));
    let facts = "What it takes from the wire facts";
    assert!(countersign(&["findings", "AAEP-F30"]).contains(facts));
    assert!(!countersign(&["findings", "AAEP-F25"]).contains(facts));
}

/// The line of a list that counts.
fn counts(list: &str) -> &str {
    let mut lines = list.lines();
    let counted = lines.find(|it| it.contains(" findings: "));
    counted.expect("a line that counts")
}

#[test]
fn editorial_findings_are_listed_apart_and_not_counted() {
    let list = countersign(&["findings", "--all"]);
    let (counted, apart) = list
        .split_once("Editorial, not counted")
        .expect("they are listed");
    let all = findings::all();
    let begins = format!("PASS  {} findings: ", all.len());
    assert!(counts(&list).starts_with(&begins));
    assert!(!counted.contains("-E1 "), "{counted}");
    for slip in findings::editorial() {
        assert!(apart.contains(&slip.title[..20]), "{}: {apart}", slip.id);
    }
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&countersign(arguments)).expect("JSON")
    };
    let counted = json(&["findings", "--format", "json"]);
    let counted = counted.as_array().expect("an array");
    assert_eq!(counted.len(), all.len());
    assert!(counted.iter().all(|it| it["severity"] != "editorial"));
    let editorial = json(&["findings", "--editorial", "--format", "json"]);
    let editorial = editorial.as_array().expect("an array");
    assert_eq!(editorial.len(), findings::editorial().len());
    for it in editorial {
        assert_eq!(it["severity"], "editorial");
        for member in ["id", "gist", "sections", "clauses", "wrong", "repair"] {
            assert!(!it[member].is_null(), "{it}");
        }
    }
    // One of them by its id, those beside a clause, those of a protocol.
    assert!(countersign(&["findings", "aaep-e3"]).contains("5.887 seconds"));
    assert!(countersign(&["findings", "AQL-2.2-2"]).contains("AQL-E1 "));
    let of_one = countersign(&["findings", "--editorial", "--protocol", "pending-action"]);
    assert!(
        of_one.contains("PA-E1") && !of_one.contains("AQL-E1"),
        "{of_one}"
    );
    let mut unknown = Command::cargo_bin("countersign").expect("the binary is built");
    let refused = unknown.args(["findings", "AQL-E170"]).assert().code(2);
    refused.stderr(contains("did you mean AQL-E1"));
}

#[test]
fn every_editorial_finding_is_well_formed() {
    let mut ids = BTreeSet::new();
    for slip in findings::editorial() {
        let id = slip.id.as_str();
        assert!(ids.insert(id), "{id} is there twice");
        assert!(slip.title.chars().count() <= 70, "{id}: {}", slip.title);
        assert!(!slip.sections.is_empty(), "{id}");
        for clause in &slip.clauses {
            let known = countersign_clauses::get(clause.as_str());
            let known = known.unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(known.protocol, slip.protocol(), "{id}: {clause}");
        }
        for text in [&slip.wrong, &slip.repair] {
            assert!(text.trim().ends_with('.'), "{id}: {text}");
        }
    }
    for finding in findings::all() {
        let wants = finding.wants.chars().count();
        assert!(
            (1..=60).contains(&wants),
            "{}: {}",
            finding.id,
            finding.wants
        );
    }
}

#[test]
fn a_text_whose_type_matters_stands_in_quotes() {
    let explained = countersign(&["findings", "AAEP-F30"]);
    assert!(explained.contains("default_response=\"no\""), "{explained}");
    assert!(explained.contains("default_response=false"), "{explained}");
}
