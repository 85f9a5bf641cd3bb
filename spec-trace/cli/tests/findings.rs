//! Findings on the source documents: that they are well-formed, what is printed of them, and what shows some of them, executed.

use std::collections::BTreeSet;

use assert_cmd::Command;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_findings as findings;
use jsonschema::Validator;
use predicates::str::contains;
use serde_json::{Value, json};

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

/// A witness, executed: it panics where it does not show what is said.
type Witness = fn();

/// Every finding of which it is said that a test executes what shows it.
const EXECUTED: [(&str, Witness); 6] = [
    ("AAEP-F15", own_values_cannot_be_sent),
    (
        "AAEP-F31",
        a_clarification_reply_fails_the_schema_of_confirmations,
    ),
    ("AAEP-F40", a_session_cannot_be_named),
    ("AAEP-F42", validators_differ),
    ("AAEP-F43", a_further_member_silences),
    ("AQL-F24", a_signature_does_not_fit),
];

#[test]
fn what_shows_a_finding_shows_it() {
    let told: BTreeSet<&str> = findings::all()
        .iter()
        .filter(|finding| finding.executed)
        .map(|finding| finding.id.as_str())
        .collect();
    assert_eq!(told, EXECUTED.iter().map(|(id, _)| *id).collect());
    for (_, witness) in EXECUTED {
        witness();
    }
}

/// The schema of replies as the text has it.
fn schema() -> Value {
    serde_json::from_str(&countersign(&["schema", "confirmation.reply"])).expect("a schema")
}

fn validator() -> Validator {
    jsonschema::validator_for(&schema()).expect("a schema")
}

/// A reply that is right, with these members put in.
fn reply(more: &Value) -> Value {
    let mut reply = json!({
        "type": "confirmation.reply",
        "reply_token": "rpl_a1",
        "decision": "reject",
        "subscription_id": "sub_b2",
        "timestamp": "2026-05-24T14:22:24Z",
    });
    let members = reply.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    reply
}

fn own_values_cannot_be_sent() {
    assert!(validator().is_valid(&reply(&json!({}))));
    assert!(!validator().is_valid(&reply(&json!({ "decision": "postpone" }))));
}

fn a_clarification_reply_fails_the_schema_of_confirmations() {
    let mut clarification = reply(&json!({ "type": "clarification.reply", "response": "67" }));
    assert!(!validator().is_valid(&clarification));
    clarification
        .as_object_mut()
        .expect("an object")
        .shift_remove("decision");
    assert!(!validator().is_valid(&clarification));
}

fn a_session_cannot_be_named() {
    assert!(!validator().is_valid(&reply(&json!({ "session_id": "sess_c3" }))));
}

/// Two validators that both keep to JSON Schema 2020-12.
fn validators_differ() {
    let with_formats = |asserted| {
        let options = jsonschema::options().should_validate_formats(asserted);
        options.build(&schema()).expect("a schema")
    };
    let yesterday = reply(&json!({ "timestamp": "yesterday" }));
    assert!(with_formats(false).is_valid(&yesterday));
    assert!(!with_formats(true).is_valid(&yesterday));
}

fn a_further_member_silences() {
    let extended = reply(&json!({ "extensions": { "acme": { "input_mode": "voice" } } }));
    assert!(!validator().is_valid(&extended));
}

/// The least form: 128 random bits, and an HMAC with SHA-256.
fn a_signature_does_not_fit() {
    let length = |bits: usize| URL_SAFE_NO_PAD.encode(vec![0; bits / 8]).len();
    assert!(length(128) + length(256) > 64);
}
