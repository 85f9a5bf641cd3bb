//! What lint found, as it is shown: to people, to build servers and to code hosts.
//!
//! What must not be shown is taken out before ([`Outcome::redact`]); nothing here looks at a stream.

use countersign_lint::report::{LintReport, Outcome, Verdict};

use crate::answer::{Answer, FindingsFormat, Status};
use crate::terminal::Terminal;

pub mod junit;
pub mod sarif;
pub mod text;

/// The outcome in that format; the text has `all` of it, or no more than a screen for each stream.
pub fn render(outcome: &Outcome, format: FindingsFormat, all: bool, terminal: Terminal) -> Answer {
    let status = status(outcome);
    match format {
        FindingsFormat::Text => Answer {
            text: text::render(outcome, all, terminal),
            status,
        },
        FindingsFormat::Json => Answer::json(&outcome.to_json(), status),
        FindingsFormat::Junit => Answer {
            text: junit::render(outcome),
            status,
        },
        FindingsFormat::Sarif => Answer::json(&sarif::render(outcome), status),
    }
}

/// How the command ends: a violation anywhere outweighs a file that could not be read, and that an open verdict.
pub fn status(outcome: &Outcome) -> Status {
    let unreadable = outcome.unreadable.iter().map(|_| Status::Unusable);
    let judged = outcome.reports.iter().map(status_of);
    judged
        .chain(unreadable)
        .reduce(Status::over)
        .unwrap_or(Status::Inconclusive)
}

/// How a command ends that has this to report: what could be read may already violate; if it does not, a stream that
/// could not be read to its end is no better than one that could not be read at all.
pub fn status_of(report: &LintReport) -> Status {
    let status = match report.verdict {
        Verdict::Conforming => Status::Holds,
        Verdict::Violating => Status::Violated,
        Verdict::Inconclusive => Status::Inconclusive,
    };
    match &report.damage {
        Some(_) => status.over(Status::Unusable),
        None => status,
    }
}
