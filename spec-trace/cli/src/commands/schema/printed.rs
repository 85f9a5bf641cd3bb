//! What commands print with `--format json`, as types that are there for their schemas alone.
//!
//! The one thing to know: members may be added to what is printed, so none is forbidden. A test holds what is printed against them.

#![expect(dead_code, reason = "the types are there for their schemas alone")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

/// The schema of a type, with a title.
fn of<T: JsonSchema>(title: &str) -> String {
    let mut schema = json!(schema_for!(T));
    schema["title"] = Value::from(title);
    format!("{schema:#}\n")
}

/// `check P --format json`
pub(super) fn check() -> String {
    of::<Check>("What `countersign check P --format json` prints")
}

/// `clauses --format json`
pub(super) fn clauses() -> String {
    of::<Vec<Clause>>("What `countersign clauses --format json` prints")
}

/// `clauses --against DIR --format json`
pub(super) fn clauses_against() -> String {
    of::<Against>("What `countersign clauses --against DIR --format json` prints")
}

/// `findings --format json`
pub(super) fn findings() -> String {
    of::<Vec<Finding>>("What `countersign findings --format json` prints")
}

/// `findings --editorial --format json`
pub(super) fn findings_editorial() -> String {
    of::<Vec<Editorial>>("What `countersign findings --editorial --format json` prints")
}

/// `lint FILE --format json`
pub(super) fn lint() -> String {
    of::<Lint>("What `countersign lint FILE --format json` prints")
}

/// `readings P --format json`
pub(super) fn readings() -> String {
    of::<Readings>("What `countersign readings P --format json` prints")
}

/// `replay FILE --format json`, of test vectors
pub(super) fn replay() -> String {
    of::<Replay>("What `countersign replay FILE --format json` prints of test vectors")
}

/// A step of a run of the model.
#[derive(JsonSchema)]
struct Step {
    /// Its number, from 1.
    n: u64,
    /// When, in time units of the model.
    at: String,
    actor: String,
    action: String,
    /// What is other than before.
    changes: Vec<String>,
    /// Whether it breaks what the run shows to be broken.
    bad: bool,
    /// The step in words.
    text: String,
}

#[derive(JsonSchema)]
struct Check {
    protocol: String,
    bounds: String,
    unique_states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    properties: Vec<Property>,
}

#[derive(JsonSchema)]
struct Property {
    name: String,
    clauses: Vec<String>,
    kind: PropertyKind,
    /// It is not broken, or is seen.
    holds: bool,
    /// Everything within the bounds was searched; without, `holds` means: as far as it was searched.
    exhaustive: bool,
    /// The run that breaks it, or shows it.
    steps: Vec<Step>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum PropertyKind {
    Always,
    Sometimes,
}

#[derive(JsonSchema)]
struct Clause {
    id: String,
    level: Level,
    role: Role,
    gist: String,
    /// The document and the section.
    source: String,
    links: Vec<Link>,
    /// The places at which it can be taken in more than one way.
    readings: Vec<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Level {
    Must,
    #[serde(rename = "MUST NOT")]
    MustNot,
    Should,
    #[serde(rename = "SHOULD NOT")]
    ShouldNot,
    May,
    Info,
}

/// Whom it binds: producer, subscriber, wire format or conformance tooling.
#[derive(JsonSchema)]
enum Role {
    P,
    S,
    W,
    T,
}

#[derive(JsonSchema)]
struct Link {
    kind: LinkKind,
    name: String,
    /// File and line.
    #[serde(default)]
    at: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LinkKind {
    Guard,
    Property,
    Reference,
    Monitor,
    Test,
    Fuzz,
    Vector,
    Mention,
    Exception,
}

#[derive(JsonSchema)]
struct Against {
    /// By document the file that holds it; null, where none does.
    documents: BTreeMap<String, Option<String>>,
    /// The other files that hold a document, and were not compared.
    #[serde(default)]
    others: BTreeMap<String, Vec<String>>,
    clauses: Vec<Beside>,
    /// The headings of the sections that stand elsewhere now.
    #[serde(default)]
    moved: Vec<Place>,
    /// The sentences with a word like MUST that no clause was read from.
    uncovered: Vec<Place>,
    /// Other text that is new.
    added: Vec<Place>,
}

#[derive(JsonSchema)]
struct Beside {
    id: String,
    state: State,
    /// Why it is to be read again.
    #[serde(default)]
    why: Vec<String>,
    passages: Vec<Place>,
}

/// `facts`: no document states it. `absent`: its document is in no file.
#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum State {
    Same,
    Moved,
    Changed,
    Lost,
    Absent,
    Facts,
}

#[derive(JsonSchema)]
struct Place {
    file: String,
    /// From 1.
    line: u64,
    text: String,
}

#[derive(JsonSchema)]
struct Finding {
    id: String,
    title: String,
    gist: String,
    severity: Severity,
    kind: FindingKind,
    shown_by: ShownBy,
    sections: Vec<String>,
    clauses: Vec<String>,
    /// What it takes from the wire facts, and what the documents say without them; absent where it rests on the documents alone.
    #[serde(default)]
    facts: Option<String>,
    wrong: String,
    witness: Witness,
    /// The ways in which the text can be taken.
    readings: Vec<String>,
    repair: Repair,
    /// What the mended wording wants, in at most 60 characters.
    wants: String,
    modelled: String,
    /// Findings whose mended wording calls a case of it wrong that its own calls right; absent where there are none.
    #[serde(default)]
    clashes: Vec<String>,
    /// Whether a test executes what shows it.
    executed: bool,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Severity {
    Harm,
    Interoperability,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum FindingKind {
    Contradiction,
    Gap,
    Defect,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ShownBy {
    Run,
    Instance,
}

#[derive(JsonSchema)]
struct Witness {
    text: String,
    cases: Vec<Case>,
}

#[derive(JsonSchema)]
struct Case {
    /// A JSON object a line.
    run: String,
    /// By passage: `right`, `silent`, or `wrong` and the step.
    judged: BTreeMap<String, String>,
    /// By guarantee that is broken: `wrong` and the step.
    broken: BTreeMap<String, String>,
    /// What the mended wording says.
    #[serde(default)]
    repaired: Option<String>,
}

#[derive(JsonSchema)]
struct Repair {
    wording: String,
    verdict: RepairVerdict,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RepairVerdict {
    Mends,
    NotExecuted,
}

#[derive(JsonSchema)]
struct Editorial {
    id: String,
    title: String,
    gist: String,
    severity: EditorialSeverity,
    kind: Slip,
    sections: Vec<String>,
    clauses: Vec<String>,
    wrong: String,
    repair: Repair,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EditorialSeverity {
    Editorial,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Slip {
    Term,
    Reference,
    Example,
    Heading,
    Spelling,
    Number,
}

/// One recording, or several.
#[derive(JsonSchema)]
#[serde(untagged)]
enum Lint {
    One(Report),
    Several { files: Vec<Report> },
}

#[derive(JsonSchema)]
struct Report {
    file: String,
    records: u64,
    sessions: u64,
    verdict: LintVerdict,
    violations: Vec<Judged>,
    warnings: Vec<Judged>,
    not_judged: Vec<NotJudged>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LintVerdict {
    Conforming,
    Violating,
    Inconclusive,
}

#[derive(JsonSchema)]
struct Judged {
    clause: String,
    level: String,
    /// From 1.
    line: u64,
    #[serde(default)]
    session: Option<String>,
    message: String,
    /// The clauses that the same fault breaks.
    #[serde(default)]
    also: Vec<String>,
    /// What vanishes when this is mended.
    #[serde(default)]
    consequences: Vec<Judged>,
}

#[derive(JsonSchema)]
struct NotJudged {
    clause: String,
    reason: String,
}

#[derive(JsonSchema)]
struct Readings {
    protocol: String,
    readings: Vec<Reading>,
}

#[derive(JsonSchema)]
struct Reading {
    name: String,
    question: String,
    clauses: Vec<String>,
    choices: Vec<Choice>,
}

#[derive(JsonSchema)]
struct Choice {
    name: String,
    default: bool,
    /// What it means, and where it is not the default, from which words of the text it can be defended.
    gloss: String,
    keeps_all: bool,
    breaks: Vec<Broken>,
}

#[derive(JsonSchema)]
struct Broken {
    property: String,
    clauses: Vec<String>,
    steps: Vec<Step>,
}

#[derive(JsonSchema)]
struct Replay {
    protocol: String,
    verdict: String,
    passed: u64,
    failed: u64,
    unsupported: u64,
    /// It takes the text in another way than the vector.
    read_otherwise: u64,
    files: Vec<Replayed>,
}

#[derive(JsonSchema)]
struct Replayed {
    file: String,
    verdict: String,
    /// The step at which it failed, from 1.
    #[serde(default)]
    step: Option<u64>,
}
