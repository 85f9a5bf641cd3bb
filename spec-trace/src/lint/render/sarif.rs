//! For code hosts: SARIF 2.1.0, as code-scanning pages take it. The schema is `tests/schemas/sarif-2.1.0.schema.json`.
//!
//! Each clause with a finding is a rule; files are named relative to where the command runs, so that a page that shows the
//! repository finds them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Component, Path};

use serde_json::{Value, json};

use crate::clause;
use crate::lint::finding::Finding;
use crate::lint::report::{LintReport, Outcome};

/// The outcome as a SARIF log.
pub fn render(outcome: &Outcome) -> Value {
    let rules = rules(outcome);
    let results: Vec<Value> = outcome
        .reports
        .iter()
        .flat_map(|report| results(report, &rules))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "countersign",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(|id| rule(id)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": notifications(outcome).is_empty(),
                "exitCode": outcome.status().code(),
                "toolExecutionNotifications": notifications(outcome),
            }],
            "results": results,
        }],
    })
}

/// Every finding of a report, and what the level and state of each is.
fn findings(report: &LintReport) -> impl Iterator<Item = (&Finding, &'static str, bool)> {
    let violations = report.violations.iter().map(|it| (it, "error", false));
    let warnings = report.warnings.iter().map(|it| (it, "warning", false));
    let known = report.known.iter().map(|it| (it, "error", true));
    violations.chain(warnings).chain(known)
}

fn rules(outcome: &Outcome) -> Vec<&'static str> {
    let findings = outcome.reports.iter().flat_map(findings);
    let clauses: BTreeSet<&str> = findings.map(|(finding, ..)| finding.clause).collect();
    clauses.into_iter().collect()
}

fn rule(id: &str) -> Value {
    let Ok(clause) = clause::get(id) else {
        return json!({"id": id});
    };
    json!({
        "id": id,
        "shortDescription": {"text": clause.gist},
        "fullDescription": {"text": format!("{} {}", clause.level.as_str(), clause.gist)},
        "help": {"text": format!("{}\nSource: {}\ncountersign clauses {id}", clause.gist, clause.source)},
        "properties": {"tags": ["AAEP", clause.level.as_str()]},
    })
}

fn results(report: &LintReport, rules: &[&str]) -> Vec<Value> {
    let results = findings(report).map(|(finding, level, is_known)| {
        let mut result = json!({
            "ruleId": finding.clause,
            "ruleIndex": rules.iter().position(|id| *id == finding.clause),
            "level": level,
            "message": {"text": message(finding)},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": uri(&report.file)},
                "region": region(finding),
            }}],
        });
        if !finding.fingerprint.is_empty() {
            result["partialFingerprints"] = json!({"countersign/v1": finding.fingerprint});
        }
        if is_known {
            result["suppressions"] =
                json!([{"kind": "external", "justification": "in the baseline"}]);
        }
        result
    });
    results.collect()
}

fn message(finding: &Finding) -> String {
    if finding.also.is_empty() {
        finding.message.clone()
    } else {
        format!(
            "{} (the same fault breaks {})",
            finding.message,
            finding.also.join(", ")
        )
    }
}

fn region(finding: &Finding) -> Value {
    let mut region = json!({"startLine": finding.line});
    if let Some(excerpt) = finding.excerpt() {
        if let Some(characters) = excerpt.characters {
            region["startColumn"] = characters.start.into();
            region["endColumn"] = characters.end.into();
        }
        region["snippet"] = json!({"text": excerpt.text});
    }
    region
}

/// What kept the command from judging everything.
fn notifications(outcome: &Outcome) -> Vec<Value> {
    let damaged = outcome.reports.iter().filter_map(|report| {
        let damage = report.damage.as_ref()?;
        Some((&report.file, &damage.message, Some(damage.line)))
    });
    let unreadable = outcome
        .unreadable
        .iter()
        .map(|it| (&it.file, &it.error, None));
    let told = damaged.chain(unreadable).map(|(file, message, line)| {
        let mut place = json!({"artifactLocation": {"uri": uri(file)}});
        if let Some(line) = line {
            place["region"] = json!({"startLine": line});
        }
        json!({
            "level": "error",
            "message": {"text": format!("cannot be read: {message}")},
            "locations": [{"physicalLocation": place}],
        })
    });
    told.collect()
}

/// A URI for the file: relative where the file lies below the working directory, with what a URI cannot hold escaped.
fn uri(file: &str) -> String {
    let path = Path::new(file);
    let working = std::env::current_dir().unwrap_or_default();
    let relative = path.strip_prefix(&working).unwrap_or(path);
    let mut uri = String::new();
    if relative.is_absolute() {
        uri.push_str("file://");
    }
    for component in relative.components() {
        let name = match component {
            Component::Normal(name) => name.to_string_lossy(),
            Component::ParentDir => "..".into(),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
        };
        if !uri.is_empty() {
            uri.push('/');
        }
        for byte in name.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                uri.push(char::from(byte));
            } else {
                write!(uri, "%{byte:02X}").expect("writing to a string cannot fail");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_relative_to_the_working_directory_where_they_lie_below_it() {
        let below = std::env::current_dir().unwrap().join("a b/ü.jsonl");
        assert_eq!(uri(below.to_str().unwrap()), "a%20b/%C3%BC.jsonl");
        assert_eq!(uri("./x/../y.jsonl"), "x/../y.jsonl");
        assert_eq!(uri("/elsewhere/y:1.jsonl"), "file:///elsewhere/y%3A1.jsonl");
        assert_eq!(uri("<stdin>"), "%3Cstdin%3E");
    }
}
