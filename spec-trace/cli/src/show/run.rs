//! A run as all renderers see it, wherever it comes from: who takes part, what happened, and what was wrong about it.
//!
//! The one thing to know: texts in here may come from whoever wrote the stream. They are printable (see
//! [`super::words::printable`]) and otherwise raw: each renderer escapes them for its own format.

use countersign_clauses::cited;
use serde::Serialize;

use super::words::printable;

/// What a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A recorded stream.
    Stream,
    /// A run of a model that breaks a property.
    Counterexample,
    /// A run at whose last step two sides differ.
    Divergence,
    /// A run that was kept for the tests to replay.
    Kept,
    /// A path through a model.
    Path,
    /// A run that shows a finding on the source documents.
    Finding,
}

impl Kind {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stream => "recorded stream",
            Self::Counterexample => "counterexample",
            Self::Divergence => "divergence",
            Self::Kept => "kept run",
            Self::Path => "path",
            Self::Finding => "run of a finding",
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Run {
    /// What it is.
    pub kind: Kind,
    /// The file, the property or the clause.
    pub title: String,
    /// What its recorder says of it; empty where nothing is said.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub head: String,
    /// What came of it, in a line.
    pub verdict: String,
    /// Who takes part, in the order in which they appear.
    pub participants: Vec<String>,
    /// What has a state that changes: confirmations, sessions, tokens.
    pub tracks: Vec<Track>,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// What was wrong about it, in the order of the steps.
    pub findings: Vec<Finding>,
    /// What else is to be said, such as what could not be judged.
    pub remarks: Vec<String>,
}

impl Run {
    /// What it is and what came of it, in a line.
    pub fn description(&self) -> String {
        let said = [self.kind.name(), &self.head, &self.verdict];
        let said = said.into_iter().filter(|it| !it.is_empty());
        said.collect::<Vec<_>>().join(": ")
    }
}

/// Something that has a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Track {
    /// Its name, short.
    pub name: String,
    /// What it is about; empty where the name says it.
    pub about: String,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The line of the stream, from 1; a step of a model has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When: a time of day, or a tick such as `t=0`.
    pub at: String,
    /// Who acts: a position among the participants.
    pub from: usize,
    /// Whom it reaches; nobody where it stays with who acts.
    pub to: Option<usize>,
    /// What happens, in a few words.
    pub text: String,
    /// What else changed or came out by it.
    pub notes: Vec<String>,
    /// Whose state changed.
    pub states: Vec<StateChange>,
    /// What is wrong about it: positions among the findings.
    pub findings: Vec<usize>,
    /// The record as it stands in the stream; empty for a step of a model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub record: String,
}

impl Step {
    /// The line of the stream, or else the number of the step, which stands at `index`.
    pub fn number(&self, index: usize) -> u64 {
        self.line.unwrap_or(index as u64 + 1)
    }

    /// How bad it is: the weight of the gravest finding.
    pub fn weight(&self, run: &Run) -> Option<Weight> {
        let weights = self
            .findings
            .iter()
            .map(|index| run.findings[*index].weight);
        weights.min()
    }

    /// What is said beside the text: what changed state, a few of many, and the notes.
    pub fn asides(&self, run: &Run) -> Vec<String> {
        const FEW: usize = 3;
        let changed = self.states.iter().take(FEW).map(|change| {
            let name = &run.tracks[change.track].name;
            if change.before.is_empty() {
                format!("{name}: {}", change.after)
            } else {
                format!("{name}: {} → {}", change.before, change.after)
            }
        });
        let more = self.states.len().checked_sub(FEW).filter(|more| *more > 0);
        let more = more.map(|more| format!("and {more} more"));
        changed
            .chain(more)
            .chain(self.notes.iter().cloned())
            .collect()
    }
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StateChange {
    /// Whose: a position among the tracks.
    pub track: usize,
    /// The state until then; empty where there was none.
    pub before: String,
    /// The state from then on.
    pub after: String,
}

/// How bad a finding is; the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The run goes against a binding rule.
    Violation,
    /// Worth a look.
    Warning,
    /// Follows from another finding, and would not be wrong were that mended.
    Consequence,
}

impl Weight {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Violation => "violation",
            Self::Warning => "warning",
            Self::Consequence => "consequence",
        }
    }

    /// The mark beside a bad step.
    pub const fn mark(self) -> char {
        match self {
            Self::Violation => '✗',
            Self::Warning => '!',
            Self::Consequence => '↳',
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The step: its position.
    pub step: usize,
    /// How bad it is.
    pub weight: Weight,
    /// The clause; empty where none is named.
    pub clause: String,
    /// Its level; empty where the clause is unknown.
    pub level: &'static str,
    /// Our gist of it; empty where the clause is unknown.
    pub gist: &'static str,
    /// Where it stands; empty where the clause is unknown.
    pub source: &'static str,
    /// What was seen and what was expected.
    pub message: String,
    /// Other clauses that the same fault breaks.
    pub also: Vec<String>,
}

impl Finding {
    /// A finding that looks its clause up. A file may be of another edition and name one that there no longer is.
    pub fn new(step: usize, weight: Weight, clause: &str, message: &str) -> Self {
        let known = countersign_clauses::get(clause).ok();
        Self {
            step,
            weight,
            clause: printable(clause),
            level: known.map_or("", |clause| clause.level.as_str()),
            gist: known.map_or("", |clause| clause.gist.as_str()),
            source: known.map_or("", |clause| clause.source.as_str()),
            message: printable(message),
            also: Vec::new(),
        }
    }

    /// Whether the clause is one of ours, which the page tells of.
    pub fn is_known(&self) -> bool {
        !self.level.is_empty()
    }

    /// The finding in a line, as in `violation AAEP-6.1-1 MUST NOT: …`.
    pub fn told(&self) -> String {
        let head = [self.weight.name(), &cited(&self.clause), self.level];
        format!("{}: {}", head.join(" ").trim_end(), self.message)
    }
}

/// The most participants that are told apart; whoever comes later shares the last place.
const MOST: usize = 9;

/// Participants by the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Names(pub Vec<String>);

impl Names {
    /// The position of a name, which is added if it is new.
    pub fn position(&mut self, name: &str) -> usize {
        let name = printable(name);
        if let Some(known) = self.0.iter().position(|known| *known == name) {
            return known;
        }
        if self.0.len() == MOST {
            "others".clone_into(&mut self.0[MOST - 1]);
            return MOST - 1;
        }
        self.0.push(name);
        self.0.len() - 1
    }
}
