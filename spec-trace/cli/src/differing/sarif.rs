//! What driving an implementation has come to, for code hosts: each divergence stands in the file that its run is kept in.

use countersign_clauses::cited;
use serde_json::Value;

use super::{Found, Report, cut, text};
use crate::formats::sarif::{Log, Outcome, notification, place};

/// The report as a SARIF log.
pub fn document(report: &Report) -> Value {
    let log = Log {
        status: report.status(),
        results: report
            .divergences
            .iter()
            .map(|it| result(report, it))
            .collect(),
        notifications: notifications(report),
    };
    log.document()
}

fn result(report: &Report, found: &Found) -> Outcome {
    Outcome {
        clause: found.clause,
        level: if report.part.strict || found.is_required() {
            "error"
        } else {
            "warning"
        },
        message: text::divergence(found),
        place: Some(place(&found.file.display().to_string(), None)),
        fingerprint: Some(found.identity.clone()),
        suppressed: found.known.clone(),
        related: Vec::new(),
    }
}

/// What has vanished, and what kept the runs from showing more.
fn notifications(report: &Report) -> Vec<Value> {
    let vanished = report.vanished.iter().map(|known| {
        let (clause, identity) = (cited(&known.clause), &known.fingerprint);
        format!("{clause} {identity} is known, and not found any more")
    });
    let uncaught = report.uncaught();
    let uncaught = uncaught.map(|it| format!("control {}: not caught", it.name));
    let untried = report.untried();
    let untried = untried.iter().filter(|_| report.part.is_whole);
    let untried =
        untried.map(|clause| format!("{}: no answer could have been wrong by it", cited(clause)));
    let unsupported = report.unsupported.iter();
    let unsupported = unsupported.map(|op| format!("{op} is not supported, and has to be"));
    let ended = report.part.ended.map(|it| cut(it).to_owned());
    let told = vanished.chain(uncaught).chain(untried).chain(unsupported);
    let told = told.chain(ended);
    let told = told.chain(report.remarks.iter().cloned());
    told.map(|text| notification(&text, None)).collect()
}
