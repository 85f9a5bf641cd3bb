//! For code hosts: SARIF, with the line of the stream that each finding stands on.

use serde_json::{Value, json};

use crate::formats::sarif::{self, Log, notification, place};
use countersign_lint::finding::Finding;
use countersign_lint::report::{LintReport, Outcome};

/// The outcome as a SARIF log.
pub fn render(outcome: &Outcome) -> Value {
    let (results, related): (Vec<_>, Vec<_>) = outcome.reports.iter().flat_map(results).unzip();
    let log = Log {
        status: super::status(outcome),
        results,
        notifications: notifications(outcome),
    };
    let mut document = log.document();
    for (at, related) in related.into_iter().enumerate() {
        if !related.is_empty() {
            document["runs"][0]["results"][at]["relatedLocations"] = related.into();
        }
    }
    document
}

/// Every finding of a report, with the places of what follows from it; those of the baseline do not count.
fn results(report: &LintReport) -> impl Iterator<Item = (sarif::Outcome, Vec<Value>)> {
    let file = &report.file;
    let violations = report
        .violations
        .iter()
        .map(move |it| (result(file, it, "error"), related(file, it)));
    let warnings = report
        .warnings
        .iter()
        .map(move |it| (result(file, it, "warning"), related(file, it)));
    let known = report.known.iter().map(move |it| {
        let known = sarif::Outcome {
            suppressed: Some("in the baseline".to_owned()),
            ..result(file, it, "error")
        };
        (known, related(file, it))
    });
    violations.chain(warnings).chain(known)
}

/// The consequences of a finding, each with its place.
fn related(file: &str, finding: &Finding) -> Vec<Value> {
    let consequences = finding.consequences.iter().enumerate();
    let related = consequences.map(|(at, it)| {
        let file = it.file.as_deref().unwrap_or(file);
        let text = format!("a consequence, which breaks {}: {}", it.clause, it.message);
        json!({
            "id": at + 1,
            "message": {"text": text},
            "physicalLocation": place(file, Some(region(it))),
        })
    });
    related.collect()
}

fn result(file: &str, finding: &Finding, level: &'static str) -> sarif::Outcome {
    let file = finding.file.as_deref().unwrap_or(file);
    let fingerprint = &finding.fingerprint;
    sarif::Outcome {
        clause: finding.clause,
        level,
        message: message(finding),
        place: Some(place(file, Some(region(finding)))),
        fingerprint: (!fingerprint.is_empty()).then(|| fingerprint.clone()),
        suppressed: None,
    }
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
        let region = json!({"startLine": damage.line});
        Some((&damage.message, place(&report.file, Some(region))))
    });
    let unreadable = outcome.unreadable.iter();
    let unreadable = unreadable.map(|it| (&it.error, place(&it.file, None)));
    let told = damaged.chain(unreadable);
    told.map(|(message, place)| notification(&format!("cannot be read: {message}"), Some(&place)))
        .collect()
}
