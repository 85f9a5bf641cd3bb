//! What every command answers with: a text for stdout and an exit status.

use clap::ValueEnum;

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
    /// A page.
    Html,
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
    /// For build servers: a test report in XML, with a case for each property, or clause of which there is something to say.
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
    /// For build servers: a test report in XML, with a case for each clause.
    Junit,
    /// For code hosts: SARIF 2.1.0.
    Sarif,
    /// A page.
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

    /// How a command ended, as the last line of its text and `result` of its JSON have it.
    pub const fn result(self) -> &'static str {
        match self {
            Self::Holds => "PASS",
            Self::Violated => "FAIL",
            Self::Unusable | Self::Inconclusive => "INCONCLUSIVE",
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

/// What a command has to say: the text for stdout and the exit status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Printed on stdout as it stands.
    pub text: String,
    /// The exit status.
    pub status: Status,
}

impl Answer {
    /// A JSON document, indented, with a line's end behind it.
    pub fn json(value: &serde_json::Value, status: Status) -> Self {
        Self {
            text: format!("{value:#}\n"),
            status,
        }
    }
}
