//! What driving an implementation has come to, for build servers: each clause is a test case, and so is each control.

use super::{Controlled, Found, Judged, Report, Verdict, is_duty, text};
use crate::formats::junit::{self, Case, Result, Suite};

/// The report as an XML document.
pub fn render(report: &Report) -> String {
    let clauses = report.clauses.iter();
    let mut cases: Vec<Case> = clauses
        .map(|(clause, judged)| of_clause(report, clause, *judged))
        .collect();
    cases.extend(report.vanished.iter().map(|known| {
        let name = format!("{} {} is known", known.clause, known.fingerprint);
        let reason = "it is in the baseline, and not found any more";
        Case::new(name, Result::Skipped(reason.to_owned()))
    }));
    cases.extend(report.controls.iter().map(of_control));
    cases.extend(report.unsupported.iter().map(|op| {
        let reason = "every implementation has it, or it is declared, and it is not supported";
        Case::new(format!("op {op}"), Result::Unusable(reason.to_owned()))
    }));
    cases.extend(report.remarks.iter().map(|remark| {
        let reason = "it could not be judged".to_owned();
        Case::new(remark.clone(), Result::Unusable(reason))
    }));
    let suite = Suite {
        name: format!("{}, {}", report.protocol, report.name),
        time: report.part.time,
        cases,
    };
    junit::document("diff", &[suite])
}

fn of_clause(report: &Report, clause: &str, judged: Judged) -> Case {
    let found = report.divergences.iter().find(|it| it.clause == clause);
    let result = match judged.verdict {
        Verdict::Upholds => Result::Passed,
        Verdict::Violates => match found {
            Some(found) => return of_divergence(report, found),
            None => Result::Skipped("broken together with another clause, which counts".to_owned()),
        },
        Verdict::HostMustGuard => {
            Result::Skipped("kept where the host hands no old state back".to_owned())
        }
        Verdict::Unsupported => {
            Result::Skipped(format!("{} is not declared", judged.needs.unwrap_or("")))
        }
        Verdict::NotExercised if is_duty(clause) && report.part.is_whole => {
            Result::Unusable("no answer could have been wrong by it".to_owned())
        }
        Verdict::NotExercised => {
            Result::Skipped("no answer could have been wrong by it".to_owned())
        }
    };
    Case::new(clause, result)
}

/// What is known is skipped, and what is only recommended stands in the output of a case that passes.
fn of_divergence(report: &Report, found: &Found) -> Case {
    let told = text::divergence(found);
    let (result, output) = match &found.known {
        Some(reason) => (Result::Skipped(format!("known: {reason}")), Some(told)),
        None if report.counts(found) => (
            Result::Failed {
                kind: "divergence",
                message: found.expected.clone(),
                text: told,
            },
            None,
        ),
        None => (Result::Passed, Some(told)),
    };
    Case {
        name: found.clause.to_owned(),
        result,
        output,
    }
}

fn of_control(control: &Controlled) -> Case {
    let result = match control.clause {
        Some(_) => Result::Passed,
        None => Result::Unusable(format!("it was not caught in {} runs", control.runs)),
    };
    Case::new(format!("control {}", control.name), result)
}
