//! For code hosts: SARIF, with the line of the stream that each finding stands on.

use countersign_clauses::cited;
use serde_json::{Value, json};

use crate::formats::sarif::{self, Log, notification, place};
use countersign_lint::finding::Finding;
use countersign_lint::report::{LintReport, Outcome};

/// The outcome as a SARIF log.
pub fn render(outcome: &Outcome) -> Value {
    let log = Log {
        status: super::status(outcome),
        results: outcome.reports.iter().flat_map(results).collect(),
        notifications: notifications(outcome),
    };
    log.document()
}

/// Every finding of a report; those of the baseline do not count.
fn results(report: &LintReport) -> impl Iterator<Item = sarif::Outcome> {
    let file = &report.file;
    let violations = report.violations.iter();
    let violations = violations.map(move |it| result(file, it, "error"));
    let warnings = report.warnings.iter();
    let warnings = warnings.map(move |it| result(file, it, "warning"));
    let known = report.known.iter().map(move |it| sarif::Outcome {
        suppressed: Some("in the baseline".to_owned()),
        ..result(file, it, "error")
    });
    let possible = report.possible.iter();
    let possible = possible.map(move |it| result(file, it, "note"));
    violations.chain(possible).chain(warnings).chain(known)
}

/// What a finding has for a consequence, with its place.
fn related(file: &str, consequence: &Finding) -> (String, Value) {
    let file = consequence.file.as_deref().unwrap_or(file);
    let Finding {
        clause, message, ..
    } = consequence;
    let text = format!("a consequence, which breaks {}: {message}", cited(clause));
    (text, place(file, Some(region(consequence))))
}

fn result(file: &str, finding: &Finding, level: &'static str) -> sarif::Outcome {
    let consequences = finding.consequences.iter();
    let related = consequences.map(|it| related(file, it)).collect();
    let file = finding.file.as_deref().unwrap_or(file);
    let fingerprint = &finding.fingerprint;
    sarif::Outcome {
        clause: finding.clause,
        level,
        message: message(finding),
        place: Some(place(file, Some(region(finding)))),
        fingerprint: (!fingerprint.is_empty()).then(|| fingerprint.clone()),
        suppressed: None,
        related,
    }
}

/// The message, with what the finding rests on.
fn message(finding: &Finding) -> String {
    let mut message = finding.message.clone();
    if !finding.also.is_empty() {
        let also = finding.also.join(", ");
        message = format!("{message} (the same fault breaks {also})");
    }
    for assumed in &finding.assumes {
        message = format!("{message}; assumes: {assumed}");
    }
    match &finding.unless {
        Some(unless) => format!("possible: {message}; unless: {unless}"),
        None => message,
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
