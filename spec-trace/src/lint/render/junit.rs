//! For build servers: a `JUnit` report. Each stream is a suite; each clause with something to say is a test case in it.
//!
//! A violation is a failure, what is not judged is skipped, and a stream that could not be read is an error. Warnings stand
//! in the output of a case that passes. The schema is `tests/schemas/junit-10.xsd`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::lint::finding::Finding;
use crate::lint::report::{LintReport, Outcome, Unreadable};

/// The outcome as an XML document.
pub fn render(outcome: &Outcome) -> String {
    let judged = outcome.reports.iter().map(Suite::of_report);
    let unreadable = outcome.unreadable.iter().map(Suite::of_unreadable);
    let suites: Vec<Suite> = judged.chain(unreadable).collect();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"countersign lint\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
        suites.iter().map(Suite::tests).sum::<usize>(),
        suites.iter().map(Suite::failures).sum::<usize>(),
        suites.iter().map(Suite::errors).sum::<usize>(),
    );
    for suite in &suites {
        suite.write(&mut xml);
    }
    xml.push_str("</testsuites>\n");
    xml
}

/// The test cases of one stream.
struct Suite<'a> {
    file: &'a str,
    cases: Vec<Case<'a>>,
}

struct Case<'a> {
    name: &'a str,
    result: Result<'a>,
    warnings: Vec<&'a Finding>,
}

enum Result<'a> {
    Passed,
    Failed(Vec<&'a Finding>),
    Skipped(&'a str),
    Unusable(&'a str),
}

impl<'a> Suite<'a> {
    fn of_report(report: &'a LintReport) -> Self {
        let mut by_clause: BTreeMap<&str, Case<'a>> = BTreeMap::new();
        for it in &report.not_judged {
            let skipped = Result::Skipped(&it.reason);
            by_clause.insert(it.clause, Case::new(it.clause, skipped));
        }
        for finding in &report.warnings {
            case(&mut by_clause, finding).warnings.push(finding);
        }
        for finding in &report.violations {
            case(&mut by_clause, finding).fail(finding);
        }
        let whole = match &report.damage {
            Some(damage) => Result::Unusable(&damage.message),
            None => Result::Passed,
        };
        let mut cases = vec![Case::new("the stream is read to its end", whole)];
        cases.extend(by_clause.into_values());
        Self {
            file: &report.file,
            cases,
        }
    }

    fn of_unreadable(unreadable: &'a Unreadable) -> Self {
        let result = Result::Unusable(&unreadable.error);
        Self {
            file: &unreadable.file,
            cases: vec![Case::new("the stream is read to its end", result)],
        }
    }

    fn tests(&self) -> usize {
        self.cases.len()
    }

    fn count(&self, is_meant: fn(&Result<'_>) -> bool) -> usize {
        let results = self.cases.iter().map(|case| &case.result);
        results.filter(|result| is_meant(result)).count()
    }

    fn failures(&self) -> usize {
        self.count(|result| matches!(result, Result::Failed(_)))
    }

    fn errors(&self) -> usize {
        self.count(|result| matches!(result, Result::Unusable(_)))
    }

    fn skipped(&self) -> usize {
        self.count(|result| matches!(result, Result::Skipped(_)))
    }

    fn write(&self, xml: &mut String) {
        let file = escaped(self.file);
        line(
            xml,
            format_args!(
                "  <testsuite name=\"{file}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
                self.tests(),
                self.failures(),
                self.errors(),
                self.skipped(),
            ),
        );
        for case in &self.cases {
            case.write(xml, &file);
        }
        line(xml, format_args!("  </testsuite>"));
    }
}

fn case<'a, 'b>(
    by_clause: &'b mut BTreeMap<&'a str, Case<'a>>,
    finding: &'a Finding,
) -> &'b mut Case<'a> {
    by_clause
        .entry(finding.clause)
        .or_insert_with(|| Case::new(finding.clause, Result::Passed))
}

impl<'a> Case<'a> {
    fn new(name: &'a str, result: Result<'a>) -> Self {
        Self {
            name,
            result,
            warnings: Vec::new(),
        }
    }

    fn fail(&mut self, finding: &'a Finding) {
        match &mut self.result {
            Result::Failed(findings) => findings.push(finding),
            Result::Passed | Result::Skipped(_) | Result::Unusable(_) => {
                self.result = Result::Failed(vec![finding]);
            }
        }
    }

    fn write(&self, xml: &mut String, file: &str) {
        line(
            xml,
            format_args!("    <testcase name=\"{}\" classname=\"{file}\">", self.name),
        );
        match &self.result {
            Result::Passed => {}
            Result::Failed(findings) => {
                let message = escaped(&findings[0].message);
                let kind = findings[0].level;
                line(
                    xml,
                    format_args!(
                        "      <failure type=\"{kind}\" message=\"{message}\">{}</failure>",
                        listed(file, findings)
                    ),
                );
            }
            Result::Skipped(reason) => line(
                xml,
                format_args!("      <skipped message=\"{}\"/>", escaped(reason)),
            ),
            Result::Unusable(reason) => line(
                xml,
                format_args!("      <error message=\"{}\"/>", escaped(reason)),
            ),
        }
        if !self.warnings.is_empty() {
            let warnings = listed(file, &self.warnings);
            line(
                xml,
                format_args!("      <system-out>{warnings}</system-out>"),
            );
        }
        line(xml, format_args!("    </testcase>"));
    }
}

/// One line for each finding.
fn listed(file: &str, findings: &[&Finding]) -> String {
    let lines = findings
        .iter()
        .map(|it| format!("{file}:{}: {}", it.line, escaped(&it.message)));
    lines.collect::<Vec<_>>().join("\n")
}

fn line(xml: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(xml, "{content}").expect("writing to a string cannot fail");
}

/// The text for an attribute or an element. XML has no way to write some characters; they are replaced.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                write!(xml, "&#{};", u32::from(character))
                    .expect("writing to a string cannot fail");
            }
            '\0'..='\x1F' | '\u{FFFE}' | '\u{FFFF}' => xml.push('\u{FFFD}'),
            other => xml.push(other),
        }
    }
    xml
}
