//! Findings: where the source documents contradict themselves, leave something open, or cannot be kept.
//!
//! The one thing to know: a finding counts only with a run that two passages judge differently, that breaks what a section which it
//! cites is there for and no passage, or that cannot go on in any right way. `documents/*.toml` holds them, with what shows each, and beside them what looked like one
//! and is refuted by a passage, and slips that mislead and change nothing. `run` has what executes them; the passages, the mended wordings and the guarantees are in a module
//! for each protocol.

// Without the feature nothing judges a run.
#![cfg_attr(not(feature = "execute"), allow(dead_code))]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use run::Text;
#[cfg(feature = "execute")]
use run::{Run, Verdict};

use countersign_clauses::{ClauseId, nearest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod aaep;
mod every;
pub mod mcp_aql;
pub mod pending_action;
pub mod run;
mod schemas;

/// What the wire facts are, for whoever reads a finding that rests on them.
pub const WIRE_FACTS: &str = "The wire facts are the clauses AAEP-EV-1 to AAEP-EV-16: what chapters 3, 4, 5 and 8 and appendix B \
                              put on the wire, which the documents cite and do not hold, in words of this project.";

/// The section of a finding that rests on them.
pub const WIRE_FACTS_SECTION: &str = "wire facts";

/// By what a claim is a finding, and by what it is refuted.
pub const MEASURE: &str = "\
Appendix A yields to chapter 4 only. If a party that keeps chapter 6 breaks a
MUST of the appendix, that is a finding. The wire facts (AAEP-EV-1 to
AAEP-EV-16) restate chapters that the documents cite. They refute nothing, and
a finding that needs them says so. Only a passage refutes a claim.";

/// What goes wrong where a finding is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// An action runs that nobody has approved, or not so, or twice; or a decision is lost.
    Harm,
    /// Two parties that keep the text cannot work together, or judge one run differently.
    Interoperability,
}

/// What is wrong with the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
    /// The sections at odds.
    pub sections: Vec<String>,
    /// The clauses that it concerns.
    pub clauses: Vec<ClauseId>,
    /// Where it rests on the wire facts ([`WIRE_FACTS`]): what they add, and what the documents say without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<String>,
    /// What goes wrong, in one sentence.
    pub wrong: String,
    /// The run or the instance, and how each passage judges it.
    pub witness: String,
    /// The ways in which the text can be taken, each a name and what it means.
    #[serde(default)]
    pub readings: Vec<String>,
    /// A wording that would mend it, for an editor to take over.
    pub repair: String,
    /// What that wording wants, in at most 60 characters.
    pub wants: String,
    /// What a model has to hold to show it.
    pub modelled: String,
    /// What shows it, executed.
    #[serde(default, rename(deserialize = "case"))]
    pub cases: Vec<Case>,
    /// Why no mended wording of ours can be executed, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrepaired: Option<String>,
    /// Findings whose mended wording calls one of its cases wrong that its own calls right, so that an editor keeps one of the two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clashes: Vec<String>,
    /// The ways to take the text, as `readings` names them, by which the model and its judge have the mended wording in force; none
    /// where they do not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

/// A run, and what is said of it.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The run: a JSON object a line.
    pub run: String,
    /// What each passage says of it: `right`, `silent`, `wrong 3`.
    #[serde(default)]
    pub judged: BTreeMap<String, String>,
    /// The guarantees that it breaks, each with the step: `wrong 3`.
    #[serde(default)]
    pub broken: BTreeMap<String, String>,
    /// What the mended wording says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<String>,
}

impl Finding {
    /// What is executable of the documents that it is about.
    pub fn text(&self) -> &'static Text {
        match self.protocol() {
            "mcp-aql" => &mcp_aql::TEXT,
            "pending-action" => &pending_action::TEXT,
            _ => &aaep::TEXT,
        }
    }

    /// Executes what shows it.
    ///
    /// # Errors
    ///
    /// Where it does not show what is said, or nothing at all, in words.
    #[cfg(feature = "execute")]
    pub fn execute(&self) -> Result<(), String> {
        let text = self.text();
        let mut differ = false;
        let mut can_be_right = false;
        let mut mended_is_right = false;
        for (number, case) in (1..).zip(&self.cases) {
            let told = |what: String| format!("{} case {number}: {what}", self.id);
            let run = Run::read(&case.run).map_err(told)?;
            for (name, said) in &case.judged {
                let found = text.passage(name, &run);
                let found = found.ok_or_else(|| told(format!("there is no passage `{name}`")))?;
                if found.to_string() != *said {
                    return Err(told(format!("{name} says `{found}`, not `{said}`")));
                }
            }
            let broken: BTreeMap<String, String> = text
                .broken(&run)
                .map(|(name, step)| (name.to_owned(), Verdict::Wrong(step).to_string()))
                .collect();
            if broken != case.broken {
                return Err(told(format!("it breaks {broken:?}, not {:?}", case.broken)));
            }
            let mended = text.repair(&self.id, &run).map(|it| it.to_string());
            if mended != case.repaired {
                return Err(told(format!(
                    "the mended wording says {mended:?}, not {:?}",
                    case.repaired
                )));
            }
            let mended = mended.unwrap_or_default();
            if !case.broken.is_empty() && self.unrepaired.is_none() && !is_against(&mended) {
                return Err(told(
                    "a guarantee breaks under the mended wording".to_owned(),
                ));
            }
            let against = case.judged.values().filter(|said| is_against(said)).count();
            // What a cited section is there for breaks, and no passage forbids it.
            let breaks_cited = case.broken.keys().any(|name| {
                text.guarantee(name)
                    .is_some_and(|it| self.cites(it.section))
            });
            differ |=
                (against > 0 && against < case.judged.len()) || (against == 0 && breaks_cited);
            can_be_right |= against == 0 && case.broken.is_empty();
            mended_is_right |= mended == "right";
        }
        if self.cases.is_empty() {
            return Err(format!("{}: nothing shows it", self.id));
        }
        if !differ && can_be_right {
            return Err(format!(
                "{}: no two passages differ, no guarantee breaks, and one can keep all of it",
                self.id
            ));
        }
        match (&self.unrepaired, mended_is_right) {
            (None, false) => Err(format!(
                "{}: the mended wording calls no case right",
                self.id
            )),
            (Some(_), true) => Err(format!(
                "{}: a mended wording can be executed after all",
                self.id
            )),
            _ => Ok(()),
        }
    }
}

impl Finding {
    /// Whether it has a section, or one within it, among those at odds.
    fn cites(&self, section: &str) -> bool {
        let within = |it: &String| {
            let rest = it.strip_prefix(section);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.sections.iter().any(within)
    }
}

/// Whether a verdict is against the run.
fn is_against(said: &str) -> bool {
    said.starts_with("wrong") || said.starts_with("lacks")
}

impl Finding {
    /// The protocol's name on the command line, which is that of its clauses.
    pub fn protocol(&self) -> &'static str {
        let clause = self
            .clauses
            .iter()
            .find_map(|id| countersign_clauses::get(id.as_str()).ok());
        clause.map_or("", |clause| clause.protocol.as_str())
    }
}

/// What is wrong with the text where nothing follows for those who keep it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slip {
    /// One word for two things, two words for one, or one that means something else.
    Term,
    /// It leads somewhere else, or not far enough.
    Reference,
    /// It is at odds with what stands above it, or with another one.
    Example,
    /// It promises something else than what stands below it.
    Heading,
    /// One name is written in two ways.
    Spelling,
    /// It does not agree with what it is computed from, or with another one.
    Number,
}

impl Slip {
    /// Its name, as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Term => "term",
            Self::Reference => "reference",
            Self::Example => "example",
            Self::Heading => "heading",
            Self::Spelling => "spelling",
            Self::Number => "number",
        }
    }
}

/// A slip of a document: it misleads a reader, and no run is judged otherwise for it. It is no [`Finding`], and is not counted as one.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Editorial {
    /// Its name; an `E` stands before the number.
    pub id: String,
    /// What it is.
    pub kind: Slip,
    /// Its title, at most 70 characters.
    pub title: String,
    /// Where it stands, and what it is at odds with.
    pub sections: Vec<String>,
    /// The clauses beside it, if there are any.
    pub clauses: Vec<ClauseId>,
    /// What misleads.
    pub wrong: String,
    /// A wording that would mend it, for an editor to take over.
    pub repair: String,
}

impl Editorial {
    /// The protocol's name on the command line.
    pub fn protocol(&self) -> &'static str {
        match self.id.split('-').next() {
            Some("AQL") => "mcp-aql",
            Some("PA") => "pending-action",
            _ => "aaep",
        }
    }
}

/// What looked like a finding.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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

/// Every editorial finding, in the order of the documents.
pub fn editorial() -> &'static [Editorial] {
    &FILES.editorial
}

/// The id of every finding, editorial ones included.
pub fn ids() -> impl Iterator<Item = &'static str> {
    let editorial = editorial().iter().map(|it| it.id.as_str());
    all().iter().map(|it| it.id.as_str()).chain(editorial)
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    finding: Vec<Finding>,
    #[serde(default)]
    editorial: Vec<Editorial>,
    #[serde(default)]
    refuted: Vec<Refuted>,
}

static FILES: LazyLock<File> = LazyLock::new(|| {
    let texts = [
        ("aaep.toml", include_str!("../documents/aaep.toml")),
        ("mcp-aql.toml", include_str!("../documents/mcp-aql.toml")),
        (
            "pending-action.toml",
            include_str!("../documents/pending-action.toml"),
        ),
        (
            "editorial.toml",
            include_str!("../documents/editorial.toml"),
        ),
        ("refuted.toml", include_str!("../documents/refuted.toml")),
    ];
    let mut all = File::default();
    for (name, text) in texts {
        // The files are part of the program, and a test reads them: what is wrong with them cannot reach a user.
        let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        all.finding.extend(file.finding);
        all.editorial.extend(file.editorial);
        all.refuted.extend(file.refuted);
    }
    all
});
