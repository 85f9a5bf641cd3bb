//! For build servers: a `JUnit` report of suites, each with its test cases. The schema is `tests/schemas/junit-10.xsd`.
//!
//! It is written here because the schema refuses what `quick-junit` 0.8 writes: it always gives the root the number of tests
//! that were skipped, for which there is no attribute.

use std::fmt::Write as _;
use std::time::Duration;

/// Test cases that belong together.
#[derive(Debug)]
pub struct Suite {
    /// What was tested.
    pub name: String,
    /// How long that took, if it is known. All that was done served all cases: each has an equal share of it.
    pub time: Option<Duration>,
    /// At least one.
    pub cases: Vec<Case>,
}

/// One test case.
#[derive(Debug)]
pub struct Case {
    /// What was to be shown.
    pub name: String,
    /// How that came out.
    pub result: Result,
    /// What is worth telling though the case may have passed.
    pub output: Option<String>,
}

/// How a test case came out.
#[derive(Debug)]
pub enum Result {
    /// As it should.
    Passed,
    /// Not as it should.
    Failed {
        /// The kind of failure, a word or two.
        kind: &'static str,
        /// The failure in one line.
        message: String,
        /// The whole of it.
        text: String,
    },
    /// Not tested, for this reason.
    Skipped(String),
    /// It could not be tested, for this reason.
    Unusable(String),
}

impl Case {
    /// A case that has nothing to tell but its result.
    pub fn new(name: impl Into<String>, result: Result) -> Self {
        Self {
            name: name.into(),
            result,
            output: None,
        }
    }

    fn write(&self, xml: &mut String, class: &str, time: &str) {
        let name = escaped(&self.name);
        let case = format_args!("    <testcase name=\"{name}\" classname=\"{class}\"{time}>");
        line(xml, case);
        match &self.result {
            Result::Passed => {}
            Result::Failed {
                kind,
                message,
                text,
            } => line(
                xml,
                format_args!(
                    "      <failure type=\"{kind}\" message=\"{}\">{}</failure>",
                    escaped(message),
                    content(text)
                ),
            ),
            Result::Skipped(reason) => line(
                xml,
                format_args!("      <skipped message=\"{}\"/>", escaped(reason)),
            ),
            Result::Unusable(reason) => line(
                xml,
                format_args!("      <error message=\"{}\"/>", escaped(reason)),
            ),
        }
        if let Some(output) = &self.output {
            let output = content(output);
            line(xml, format_args!("      <system-out>{output}</system-out>"));
        }
        line(xml, format_args!("    </testcase>"));
    }
}

impl Suite {
    fn count(&self, is_meant: fn(&Result) -> bool) -> usize {
        let results = self.cases.iter().map(|case| &case.result);
        results.filter(|result| is_meant(result)).count()
    }

    fn failures(&self) -> usize {
        self.count(|result| matches!(result, Result::Failed { .. }))
    }

    fn errors(&self) -> usize {
        self.count(|result| matches!(result, Result::Unusable(_)))
    }

    fn skipped(&self) -> usize {
        self.count(|result| matches!(result, Result::Skipped(_)))
    }

    fn write(&self, xml: &mut String) {
        let name = escaped(&self.name);
        let time = self.time.map_or(0.0, |it| it.as_secs_f64());
        let [time, share] = [1, self.cases.len()].map(|parts| {
            let parts = u32::try_from(parts).map_or(f64::MAX, f64::from);
            let time = self.time.map(|_| format!(" time=\"{:.3}\"", time / parts));
            time.unwrap_or_default()
        });
        line(
            xml,
            format_args!(
                "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{time}>",
                self.cases.len(),
                self.failures(),
                self.errors(),
                self.skipped(),
            ),
        );
        for case in &self.cases {
            case.write(xml, &name, &share);
        }
        line(xml, format_args!("  </testsuite>"));
    }
}

/// The XML document that a command writes.
pub fn document(command: &str, suites: &[Suite]) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"countersign {command}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
        suites.iter().map(|suite| suite.cases.len()).sum::<usize>(),
        suites.iter().map(Suite::failures).sum::<usize>(),
        suites.iter().map(Suite::errors).sum::<usize>(),
    );
    for suite in suites {
        suite.write(&mut xml);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn line(xml: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(xml, "{content}").expect("writing to a string cannot fail");
}

/// The text for an element, in which lines stay lines.
fn content(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(escaped).collect();
    lines.join("\n")
}

/// The text for an attribute. XML has no way to write some characters; they are replaced.
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
