//! The verdict and its two renderings.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::finding::{Finding, TiedBy};
use crate::answer::Status;

/// What a stream comes out as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At least one conforming run explains the whole stream, and nothing is owed at its end.
    Conforming,
    /// No conforming run explains it.
    Violating,
    /// Nothing is wrong so far, and the input ends too early to say more.
    Inconclusive,
}

impl Verdict {
    /// The word that reports use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Conforming => "conforming",
            Self::Violating => "violating",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// A clause on which the stream gives no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotJudged {
    /// The clause.
    pub clause: &'static str,
    /// Why not.
    pub reason: String,
}

/// The outcome of one lint.
#[derive(Debug, Clone, Serialize)]
pub struct LintReport {
    /// The name of the input.
    pub file: String,
    /// Lines that are not blank.
    pub records: u64,
    /// Different session ids.
    pub sessions: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// What makes it violating, by line.
    pub violations: Vec<Finding>,
    /// What does not, by line.
    pub warnings: Vec<Finding>,
    /// What the stream cannot show.
    pub not_judged: Vec<NotJudged>,
    /// How many calls were tied to a confirmation in which way (AAEP-EV-15).
    pub tied: BTreeMap<TiedBy, u64>,
}

impl LintReport {
    /// How a command ends that has this to report.
    pub const fn status(&self) -> Status {
        match self.verdict {
            Verdict::Conforming => Status::Holds,
            Verdict::Violating => Status::Violated,
            Verdict::Inconclusive => Status::Inconclusive,
        }
    }

    /// The report as one JSON object.
    ///
    /// # Panics
    ///
    /// Never: everything in a report has a JSON form.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a report is plain data")
    }

    /// The report as text: each finding with its line, then what was not judged, then one line of summary.
    pub fn render_text(&self) -> String {
        let mut text = String::new();
        let findings = self.violations.iter().map(|finding| ("violation", finding));
        let warnings = self.warnings.iter().map(|finding| ("warning", finding));
        for (word, finding) in findings.chain(warnings) {
            self.render_finding(&mut text, word, finding);
        }
        for NotJudged { clause, reason } in &self.not_judged {
            line(
                &mut text,
                format_args!("{}: not judged {clause}: {reason}", self.file),
            );
        }
        line(&mut text, format_args!("{}: {}", self.file, self.summary()));
        text
    }

    /// The verdict and the counts, as in `violating: 10 records, 1 session, 1 violation, 0 warnings`.
    pub fn summary(&self) -> String {
        format!(
            "{}: {}, {}, {}, {}",
            self.verdict.word(),
            counted(self.records, "record"),
            counted(self.sessions as u64, "session"),
            counted(self.violations.len() as u64, "violation"),
            counted(self.warnings.len() as u64, "warning"),
        )
    }

    fn render_finding(&self, text: &mut String, word: &str, finding: &Finding) {
        let column = finding
            .column
            .map(|column| format!(":{column}"))
            .unwrap_or_default();
        line(
            text,
            format_args!(
                "{}:{}{column}: {word} {} {}: {}",
                self.file, finding.line, finding.clause, finding.level, finding.message
            ),
        );
        if !finding.also.is_empty() {
            line(
                text,
                format_args!("    the same fault breaks {}", finding.also.join(", ")),
            );
        }
        line(text, format_args!("    | {}", finding.excerpt));
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("writing to a string cannot fail");
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
