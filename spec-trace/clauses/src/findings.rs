//! Findings: where the source documents contradict themselves, leave something open, or cannot be kept.
//!
//! The one thing to know: a finding counts only with a run that two passages judge differently, or an instance that nothing can
//! satisfy. `spec-trace/findings/*.toml` holds them, and beside them what looked like one and is refuted by a passage.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::{ClauseId, nearest};

/// What goes wrong where a finding is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// An action runs that nobody has approved, or not so, or twice; or a decision is lost.
    Harm,
    /// Two parties that keep the text cannot work together, or judge one run differently.
    Interoperability,
}

/// What is wrong with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two passages say what cannot both be kept.
    Contradiction,
    /// Something that has to be said is not.
    Gap,
    /// A passage says something that it cannot mean.
    Defect,
}

/// By what it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShownBy {
    /// A run of questions, replies, tokens, deadlines, calls.
    Run,
    /// A message or a value, held against a schema, a grammar or a rule.
    Instance,
}

/// One place at which a document is at odds with itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Its name; an `F` stands before the number.
    pub id: String,
    /// Its title, at most 70 characters.
    pub title: String,
    /// What goes wrong.
    pub severity: Severity,
    /// What is wrong with the text.
    pub kind: Kind,
    /// By what it is shown.
    pub shown_by: ShownBy,
    /// Whether a test executes what shows it.
    #[serde(default)]
    pub executed: bool,
    /// The sections at odds.
    pub sections: Vec<String>,
    /// The clauses that it concerns.
    pub clauses: Vec<ClauseId>,
    /// What goes wrong, in one sentence.
    pub wrong: String,
    /// The run or the instance, and how each passage judges it.
    pub witness: String,
    /// The ways in which the text can be taken, each a name and what it means.
    #[serde(default)]
    pub readings: Vec<String>,
    /// A wording that would mend it, for an editor to take over.
    pub repair: String,
    /// What a model has to hold to show it.
    pub modelled: String,
}

impl Finding {
    /// The protocol's name on the command line, which is that of its clauses.
    pub fn protocol(&self) -> &'static str {
        let clause = self
            .clauses
            .iter()
            .find_map(|id| crate::get(id.as_str()).ok());
        clause.map_or("", |clause| clause.protocol.as_str())
    }
}

/// What looked like a finding.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Refuted {
    /// The protocol's name on the command line.
    pub protocol: String,
    /// Its title.
    pub title: String,
    /// What was claimed.
    pub claim: String,
    /// Why that is none.
    pub because: String,
}

/// No finding has this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown finding `{id}`{}", nearest::hint(.nearest))]
pub struct UnknownFinding {
    /// The id that was asked for.
    pub id: String,
    /// The ids that look most like it, the likeliest first.
    pub nearest: Vec<&'static str>,
}

/// Every finding, in the order of the documents.
pub fn all() -> &'static [Finding] {
    &FILES.finding
}

/// What looked like a finding and is none.
pub fn refuted() -> &'static [Refuted] {
    &FILES.refuted
}

/// The finding with this id.
///
/// # Errors
///
/// [`UnknownFinding`], with the ids that look most like the one asked for.
pub fn get(id: &str) -> Result<&'static Finding, UnknownFinding> {
    let id = id.to_ascii_uppercase();
    all().iter().find(|it| it.id == id).ok_or_else(|| {
        let nearest = nearest::ids(&id, all().iter().map(|it| it.id.as_str()));
        UnknownFinding { id, nearest }
    })
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    finding: Vec<Finding>,
    #[serde(default)]
    refuted: Vec<Refuted>,
}

static FILES: LazyLock<File> = LazyLock::new(|| {
    let texts = [
        ("aaep.toml", include_str!("../../findings/aaep.toml")),
        ("mcp-aql.toml", include_str!("../../findings/mcp-aql.toml")),
        (
            "pending-action.toml",
            include_str!("../../findings/pending-action.toml"),
        ),
        ("refuted.toml", include_str!("../../findings/refuted.toml")),
    ];
    let mut all = File::default();
    for (name, text) in texts {
        // The files are part of the program, and a test reads them: what is wrong with them cannot reach a user.
        let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        all.finding.extend(file.finding);
        all.refuted.extend(file.refuted);
    }
    all
});
