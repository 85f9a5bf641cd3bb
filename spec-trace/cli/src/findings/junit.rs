//! For build servers: a `JUnit` report. Each stream is a suite; each clause with something to say is a test case in it.
//!
//! A violation is a failure, what is not judged is skipped, and a stream that could not be read is an error. Warnings stand
//! in the output of a case that passes.

use std::collections::BTreeMap;

use countersign_clauses::cited;

use crate::formats::junit::{self, Result, Suite};
use countersign_lint::finding::Finding;
use countersign_lint::report::{LintReport, Outcome, Unreadable};

/// The outcome as an XML document.
pub fn render(outcome: &Outcome) -> String {
    let judged = outcome.reports.iter().map(of_report);
    let unreadable = outcome.unreadable.iter().map(of_unreadable);
    let suites: Vec<Suite> = judged.chain(unreadable).collect();
    junit::document("lint", &suites)
}

/// What there is to say about one clause.
#[derive(Default)]
struct Case<'a> {
    not_judged: Option<String>,
    violations: Vec<&'a Finding>,
    warnings: Vec<&'a Finding>,
}

fn of_report(report: &LintReport) -> Suite {
    let mut by_clause: BTreeMap<&str, Case> = BTreeMap::new();
    for it in &report.not_judged {
        by_clause.entry(it.clause).or_default().not_judged = Some(it.reason.clone());
    }
    for it in &report.possible {
        let unless = it.unless.as_deref().unwrap_or_default();
        let reason = format!("possible: {}; unless: {unless}", it.message);
        by_clause.entry(it.clause).or_default().not_judged = Some(reason);
    }
    for finding in &report.warnings {
        let case = by_clause.entry(finding.clause).or_default();
        case.warnings.push(finding);
    }
    for finding in &report.violations {
        let case = by_clause.entry(finding.clause).or_default();
        case.violations.push(finding);
    }
    let damage = report.damage.as_ref().map(|damage| &*damage.message);
    let mut cases = vec![whole(damage)];
    for (clause, case) in by_clause {
        cases.push(junit::Case {
            name: clause.to_owned(),
            result: case.result(&report.file),
            output: (!case.warnings.is_empty()).then(|| listed(&report.file, &case.warnings)),
        });
    }
    Suite {
        time: None,
        name: report.file.clone(),
        cases,
    }
}

fn of_unreadable(unreadable: &Unreadable) -> Suite {
    Suite {
        time: None,
        name: unreadable.file.clone(),
        cases: vec![whole(Some(&unreadable.error))],
    }
}

fn whole(damage: Option<&str>) -> junit::Case {
    let result = damage.map_or(Result::Passed, |it| Result::Unusable(it.to_owned()));
    junit::Case::new("the stream is read to its end", result)
}

impl Case<'_> {
    fn result(&self, file: &str) -> Result {
        match (&*self.violations, &self.not_judged) {
            ([first, ..], _) => Result::Failed {
                kind: first.level,
                message: first.message.clone(),
                text: listed(file, &self.violations),
            },
            ([], Some(reason)) => Result::Skipped(reason.clone()),
            ([], None) => Result::Passed,
        }
    }
}

/// One line for each finding, and one behind it for each of its consequences.
fn listed(file: &str, findings: &[&Finding]) -> String {
    let told = |it: &Finding| {
        let file = it.file.as_deref().unwrap_or(file);
        let assumes = it.assumes.iter().map(|it| format!("; assumes: {it}"));
        let assumes: String = assumes.collect();
        format!(
            "{file}:{}{}: {}{assumes}",
            it.line,
            it.which_message(),
            it.message
        )
    };
    let lines = findings.iter().flat_map(|it| {
        let consequences = it.consequences.iter();
        let consequences = consequences.map(move |it| {
            format!(
                "  its consequence breaks {}: {}",
                cited(it.clause),
                told(it)
            )
        });
        std::iter::once(told(it)).chain(consequences)
    });
    lines.collect::<Vec<_>>().join("\n")
}
