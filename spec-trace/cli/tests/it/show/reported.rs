//! `report`.

use std::fs;

use predicates::str::contains;
use serde_json::Value;
use tempfile::TempDir;

use super::{countersign, file, folder, printed};

#[test]
fn the_report_has_every_clause_with_its_links_and_is_the_same_again() {
    let (one, other) = (folder(), folder());
    for folder in [&one, &other] {
        let out = folder.path().join("made/for/it").display().to_string();
        countersign(&["report", "--out", &out])
            .assert()
            .success()
            .stdout(contains("257 clauses: "));
    }
    let read = |folder: &TempDir, name: &str| {
        fs::read_to_string(folder.path().join("made/for/it").join(name)).expect("a file")
    };
    for name in ["index.html", "report.json"] {
        assert_eq!(read(&one, name), read(&other, name), "{name}");
    }
    let document: Value = serde_json::from_str(&read(&one, "report.json")).expect("JSON");
    let clauses = document["clauses"].as_array().expect("a list");
    let listed: Value =
        serde_json::from_str(&printed(&["clauses", "--format", "json"])).expect("JSON");
    let mut without_findings = document["clauses"].clone();
    for clause in without_findings.as_array_mut().expect("a list") {
        let clause = clause.as_object_mut().expect("an object");
        assert!(clause.shift_remove("findings").is_some());
    }
    assert_eq!(without_findings, listed, "the same as `clauses` lists");
    assert_eq!(document["totals"]["clauses"], clauses.len());
    let of_documents = document["documents"].as_array().expect("a list").iter();
    let sum: u64 = of_documents
        .map(|document| document["totals"]["clauses"].as_u64().expect("a count"))
        .sum();
    assert_eq!(sum, clauses.len() as u64);
    let page = read(&one, "index.html");
    for clause in clauses {
        let id = clause["id"].as_str().expect("an id");
        assert_eq!(
            page.matches(&format!(" id=\"{id}\" data-level=")).count(),
            1,
            "{id}"
        );
    }
    let stated = clauses.iter().filter(|clause| {
        let links = clause["links"].as_array().expect("a list");
        links.iter().any(|link| link["kind"] == "property")
    });
    assert_eq!(document["totals"]["stated"], stated.count());
}

#[test]
fn a_folder_that_cannot_be_made_is_said() {
    let folder = folder();
    let name = file(&folder, "file", "");
    countersign(&["report", "--out", &name])
        .assert()
        .code(2)
        .stderr(contains(format!("cannot make {name}")));
}
