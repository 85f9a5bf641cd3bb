//! What every command answers with: a text for stdout and an exit status.

use clap::ValueEnum;
use countersign_lint::report::Verdict;

/// How a command prints its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON document.
    Json,
}

/// How a command prints a result that can be drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON document.
    Json,
    /// An HTML page.
    Html,
}

impl From<Format> for PageFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::Json => Self::Json,
        }
    }
}

/// How a command prints what is to be passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DocumentFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON document.
    Json,
    /// For the tracker of a document.
    Markdown,
}

/// How a command prints its findings: as any command prints its result, or as a build server and a code host read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FindingsFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON document.
    Json,
    /// For build servers: a test report in XML, one case for each guarantee or clause.
    Junit,
    /// For code hosts: SARIF 2.1.0.
    Sarif,
}

/// How a command prints what driving an implementation has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON document.
    Json,
    /// For build servers: a test report in XML, one case for each clause.
    Junit,
    /// For code hosts: SARIF 2.1.0.
    Sarif,
    /// An HTML page.
    Html,
}

/// How a command ended: the exit status, the same in every format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 0: all hold.
    Holds,
    /// 1: a violation, counterexample, divergence or rejection.
    Violated,
    /// 2: usage, unreadable input, or an implementation that could not be driven.
    Unusable,
    /// 3: something that should have been exercised was not.
    Inconclusive,
}

impl Status {
    /// The number given to the operating system.
    pub fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Violated => 1,
            Self::Unusable => 2,
            Self::Inconclusive => 3,
        }
    }

    /// The one of two that a command tells which did both: a violation first, then what could not be used, then what was
    /// not exercised.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let told_first = [
            Self::Violated,
            Self::Unusable,
            Self::Inconclusive,
            Self::Holds,
        ];
        let rank = |status| told_first.iter().position(|it| *it == status);
        if rank(other) < rank(self) {
            other
        } else {
            self
        }
    }

    /// What can be said of an implementation that was driven.
    pub const VERDICTS: [&str; 3] = ["holds", "violates", "inconclusive"];

    /// What is said of an implementation that was driven.
    pub const fn verdict(self) -> &'static str {
        let [holds, violates, inconclusive] = Self::VERDICTS;
        match self {
            Self::Holds => holds,
            Self::Violated => violates,
            Self::Unusable | Self::Inconclusive => inconclusive,
        }
    }

    /// How a command ended: the first word of its verdict, and `result` in JSON.
    pub const fn result(self) -> &'static str {
        match self {
            Self::Holds => Verdict::Conforming.result(),
            Self::Violated => Verdict::Violating.result(),
            Self::Unusable | Self::Inconclusive => Verdict::Inconclusive.result(),
        }
    }

    /// `Holds` or `Violated`.
    pub fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Violated }
    }

    /// `Holds` or `Inconclusive`.
    pub fn if_exercised(exercised: bool) -> Self {
        if exercised {
            Self::Holds
        } else {
            Self::Inconclusive
        }
    }
}

/// So many lines of a text for people stand between its verdicts: 40 follow the first, with the last.
const LINES: usize = 36;
/// On a terminal of so many columns.
const COLUMNS: usize = 80;

/// What a command has to say: the text for stdout and the exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Printed on stdout as it stands.
    pub text: String,
    /// The exit status.
    pub status: Status,
}

impl Answer {
    /// A text for people that begins and ends with the verdict. What is between is cut, unless all of it is asked for.
    pub fn verdict(status: Status, counts: &str, body: &str, all: bool) -> Self {
        let verdict = format!("{}  {counts}\n", status.result());
        let body = body.trim_matches('\n');
        let lines: Vec<&str> = body.lines().collect();
        let mut height = 0;
        let fits = lines.iter().take_while(|line| {
            height += line.chars().count().div_ceil(COLUMNS).max(1);
            all || height <= LINES
        });
        let fits = fits.count();
        let shown = lines.get(..fits).unwrap_or_default().join("\n");
        let text = match lines.len() - fits {
            _ if body.is_empty() => verdict,
            0 => format!("{verdict}\n{shown}\n\n{verdict}"),
            more => format!("{verdict}\n{shown}\n… {more} more lines: --all\n\n{verdict}"),
        };
        Self { text, status }
    }

    /// A JSON document, indented, with a line's end behind it.
    pub fn json(value: &serde_json::Value, status: Status) -> Self {
        Self {
            text: format!("{value:#}\n"),
            status,
        }
    }
}

/// The document with the verdict as `result`.
pub fn with_result(mut document: serde_json::Value, status: Status) -> serde_json::Value {
    document["result"] = status.result().into();
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_first_and_last_and_what_is_long_is_cut() {
        let text = |body: &str, all| Answer::verdict(Status::Violated, "1 of 2", body, all).text;
        assert_eq!(text("", false), "FAIL  1 of 2\n");
        assert_eq!(
            text("\none\n", false),
            "FAIL  1 of 2\n\none\n\nFAIL  1 of 2\n"
        );
        let long = "line\n".repeat(50);
        let cut = text(&long, false);
        assert_eq!(cut.lines().count(), 41);
        assert!(
            cut.contains("line\n… 14 more lines: --all\n\nFAIL"),
            "{cut}"
        );
        assert_eq!(text(&long, true).matches("line\n").count(), 50);
        // On 80 columns each of these takes two lines.
        let wide = format!("{}\n", "x".repeat(81)).repeat(50);
        assert_eq!(text(&wide, false).matches("x\n").count(), 18);
    }
}
