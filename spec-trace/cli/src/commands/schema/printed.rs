//! What commands print with `--format json`, as types that are there for their schemas alone; what is printed as it stands in a type of
//! its own has its schema from that.
//!
//! The one thing to know: what a schema does not name is refused by it, so that it has to name all. A test holds what is printed against
//! them. A recording is judged by one that names no more than others rely on.

#![expect(dead_code, reason = "the types are there for their schemas alone")]

use std::collections::BTreeMap;

use countersign_clauses::passages::Compared;
use countersign_clauses::{Level, Text};
use countersign_findings::{Case, Kind, Refuted, Severity, ShownBy, Slip};
use countersign_model::judge;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::answer::Status;
use crate::arguments::Protocol;
use crate::commands::clauses::Shown;
use crate::commands::vectors::changed::Changed;
use crate::commands::{compare, replay};

/// The schema of what a type is printed as, with a title.
fn of<T: JsonSchema>(title: &str) -> String {
    let mut schema = open::<T>(title);
    close(&mut schema);
    format!("{schema:#}\n")
}

/// The same, which takes members that it does not name.
fn open<T: JsonSchema>(title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = json!(generator.into_generator().into_root_schema_for::<T>());
    schema["title"] = Value::from(title);
    schema
}

/// Refuses in every object what is not named.
fn close(schema: &mut Value) {
    if let Value::Object(members) = schema {
        if members.get("properties").is_some_and(Value::is_object) {
            let closed = || Value::from(false);
            members.entry("additionalProperties").or_insert_with(closed);
        }
        members.values_mut().for_each(close);
    } else if let Value::Array(parts) = schema {
        parts.iter_mut().for_each(close);
    }
}

/// `ablate P --format json`
pub(super) fn ablate() -> String {
    of::<Ablate>("What `countersign ablate P --format json` prints")
}

/// `check P --format json`
pub(super) fn check() -> String {
    of::<Check>("What `countersign check P --format json` prints")
}

/// `check P --can OUTPUTS --format json`
pub(super) fn check_can() -> String {
    of::<CheckCan>("What `countersign check P --can OUTPUTS --format json` prints")
}

/// `clauses --format json`
pub(super) fn clauses() -> String {
    of::<Vec<Shown<'_>>>("What `countersign clauses --format json` prints")
}

/// `clauses --against DIR --format json`
pub(super) fn clauses_against() -> String {
    of::<Compared>("What `countersign clauses --against DIR --format json` prints")
}

/// `compare P --a SETTING --b SETTING --format json`
pub(super) fn compare() -> String {
    of::<Compare>("What `countersign compare P --a SETTING --b SETTING --format json` prints")
}

/// `findings --format json`
pub(super) fn findings() -> String {
    of::<Vec<Finding>>("What `countersign findings --format json` prints")
}

/// `findings --editorial --format json`
pub(super) fn findings_editorial() -> String {
    of::<Vec<Editorial>>("What `countersign findings --editorial --format json` prints")
}

/// `findings --refuted --format json`
pub(super) fn findings_refuted() -> String {
    of::<Vec<Refuted>>("What `countersign findings --refuted --format json` prints")
}

/// `lint FILE --format json`
pub(super) fn lint() -> String {
    let title = "What `countersign lint FILE --format json` prints";
    format!("{:#}\n", open::<Lint>(title))
}

/// `readings P --format json`
pub(super) fn readings() -> String {
    of::<Readings>("What `countersign readings P --format json` prints")
}

/// `replay FILE --format json`, of test vectors
pub(super) fn replay() -> String {
    of::<Replay>("What `countersign replay FILE --format json` prints of test vectors")
}

/// `vectors P --out DIR --format json`
pub(super) fn vectors() -> String {
    of::<Suite>("What `countersign vectors P --out DIR --format json` prints")
}

/// `verify --format json`
pub(super) fn verify() -> String {
    of::<Verify>("What `countersign verify --format json` prints")
}

/// `worth P --format json`
pub(super) fn worth() -> String {
    of::<Worth>("What `countersign worth P --format json` prints")
}

/// A step of a run of the model.
/// How a command ended.
#[derive(JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
enum Outcome {
    Pass,
    Fail,
    Inconclusive,
}

#[derive(JsonSchema)]
struct Step {
    /// Its number, from 1.
    n: u64,
    /// When, in time units of the model.
    at: String,
    actor: String,
    /// Whom it reaches; nobody where it stays with who acts.
    to: Option<String>,
    action: String,
    /// What is other than before.
    changes: Vec<String>,
    /// Whether it breaks what the run shows to be broken.
    bad: bool,
    /// The step in words.
    text: String,
}

/// What a run was searched in, besides protocol and bounds.
#[derive(JsonSchema)]
struct Setting {
    /// The rules left out.
    without: Vec<String>,
    /// The ways to take the text that are not the default, each `NAME=WAY`.
    readings: Vec<String>,
    /// The numbers that are not those of the text, each `NAME=VALUE`.
    numbers: Vec<String>,
    /// Whether states that cannot matter any more were told apart.
    literal: bool,
    /// The version of the command.
    countersign: String,
}

/// Why a run is possible that breaks something.
#[derive(JsonSchema)]
struct Argued {
    made_possible_by: Vec<Need>,
    /// Where the text as it stands goes on otherwise; null where it does not.
    instead: Option<Instead>,
}

#[derive(JsonSchema)]
struct Instead {
    /// Counted from 1.
    step: u64,
    /// Null where there is no such step.
    changes: Option<Vec<String>>,
}

/// What a run needs that the text, or the other setting, does not have: a rule left out, one that the other leaves out, a passage taken
/// in another way, another number.
#[derive(JsonSchema)]
#[serde(untagged)]
enum Need {
    Guard {
        guard: String,
        clauses: Vec<String>,
    },
    Kept {
        kept: String,
        clauses: Vec<String>,
    },
    Reading {
        /// `NAME=WAY`
        reading: String,
        default: String,
        clauses: Vec<String>,
    },
    Number {
        /// `NAME=VALUE`
        number: String,
        default: String,
        clauses: Vec<String>,
    },
}

/// How far was searched.
#[derive(JsonSchema)]
struct Within {
    steps: u64,
    states: u64,
}

/// A duty of the text that no rule stands for, with the reason.
#[derive(JsonSchema)]
struct WithoutRule {
    clause: String,
    level: Level,
    reason: String,
}

#[derive(JsonSchema)]
struct Ablate {
    protocol: Protocol,
    bounds: String,
    #[serde(flatten)]
    setting: Setting,
    ablations: Vec<Ablation>,
    without_rule: Vec<WithoutRule>,
    /// The verdict.
    result: Outcome,
}

/// A rule left out.
#[derive(JsonSchema)]
struct Ablation {
    guard: String,
    /// Those within which it matters.
    bounds: String,
    clauses: Vec<String>,
    /// What breaks, with the shortest runs.
    breaks: Vec<BreaksWithout>,
    /// Why nothing has to break.
    free: Option<String>,
}

#[derive(JsonSchema)]
struct BreaksWithout {
    property: String,
    steps: Vec<Step>,
    #[serde(flatten)]
    argued: Argued,
}

#[derive(JsonSchema)]
struct Check {
    protocol: Protocol,
    /// The texts that were read.
    texts: Vec<Text>,
    bounds: String,
    #[serde(flatten)]
    setting: Setting,
    unique_states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    properties: Vec<Property>,
    /// The verdict.
    result: Outcome,
}

#[derive(JsonSchema)]
struct CheckCan {
    protocol: Protocol,
    bounds: String,
    #[serde(flatten)]
    setting: Setting,
    /// What was asked for.
    outputs: Vec<String>,
    /// The shortest run with these outputs in this order; null where none was found.
    run: Option<Vec<Step>>,
    within: WithinAll,
    /// The verdict.
    result: Outcome,
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
    /// What is broken: what the text says as it is read, or what it is there for however it is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [judge::Kind::Conformance.name(), judge::Kind::Guarantee.name()]))]
    judged: Option<String>,
    /// What is wrong with the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_possible_by: Option<Vec<Need>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instead: Option<Instead>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum PropertyKind {
    Always,
    Sometimes,
}

#[derive(JsonSchema)]
struct Compare {
    protocol: Protocol,
    a: Side,
    b: Side,
    /// What is allowed under a and not under b.
    only_a: Only,
    only_b: Only,
    /// The guarantees that break under a and not under b.
    breaks_only_a: Vec<Guarantee>,
    breaks_only_b: Vec<Guarantee>,
    /// So many are in the suite.
    vectors: u64,
    changed: Vec<ChangedVerdict>,
    /// The verdict.
    result: Outcome,
}

#[derive(JsonSchema)]
struct Side {
    /// As it was given.
    setting: String,
    bounds: String,
    #[serde(flatten)]
    is: Setting,
}

#[derive(JsonSchema)]
struct Only {
    #[serde(flatten)]
    apart: Apart,
    /// For each other thing in which the two differ, what that alone makes possible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_each_other: Vec<ByEach>,
    bounds: String,
    #[serde(flatten)]
    is: Setting,
}

#[derive(JsonSchema)]
struct ByEach {
    #[serde(flatten)]
    apart: Apart,
    /// What, in words.
    by: String,
}

/// The search for a run that one can have and the other cannot.
#[derive(JsonSchema)]
struct Apart {
    /// The shortest; null where none was found.
    run: Option<Run>,
    within: WithinAll,
    /// Where none was found: one in which the other does otherwise of itself, though it may do the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_by_both: Option<Run>,
    /// Where none was found: why, as far as that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_none: Option<String>,
}

#[derive(JsonSchema)]
struct Run {
    steps: Vec<Step>,
    /// What comes of the last step under the other; null where there is no such step.
    instead: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made_possible_by: Option<Vec<Need>>,
    /// Of what both allow: whether it is what a rule asks for that the other leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_longer_required: Option<bool>,
}

#[derive(JsonSchema)]
struct WithinAll {
    steps: u64,
    states: u64,
    /// Whether there are no more.
    exhaustive: bool,
}

/// A guarantee with the shortest run that breaks it.
#[derive(JsonSchema)]
struct Guarantee {
    property: String,
    clauses: Vec<String>,
    steps: Vec<Step>,
}

/// A vector of which parties of the two settings come to something else, by the text as it stands.
#[derive(JsonSchema)]
struct ChangedVerdict {
    file: String,
    #[schemars(extend("enum" = compare::VERDICTS))]
    a: String,
    #[schemars(extend("enum" = compare::VERDICTS))]
    b: String,
    /// Those by which one of the two fails.
    clauses: Vec<String>,
}

#[derive(JsonSchema)]
struct Finding {
    id: String,
    title: String,
    gist: String,
    severity: Severity,
    kind: Kind,
    shown_by: ShownBy,
    sections: Vec<String>,
    clauses: Vec<String>,
    /// What it takes from the wire facts, and what the documents say without them; absent where it rests on the documents alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<String>,
    wrong: String,
    witness: Witness,
    /// The ways in which the text can be taken.
    readings: Vec<String>,
    repair: Repair,
    /// What the mended wording wants, in at most 60 characters.
    wants: String,
    modelled: String,
    /// The same as in `witness`.
    cases: Vec<Case>,
    /// Why no mended wording is executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    unrepaired: Option<String>,
    /// The ways to take the text by which the model has the mended wording in force, each `NAME=WAY`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<String>,
    /// Findings whose mended wording calls a case of it wrong that its own calls right; absent where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clashes: Vec<String>,
    /// Whether a test executes what shows it.
    executed: bool,
}

#[derive(JsonSchema)]
struct Witness {
    text: String,
    cases: Vec<Case>,
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

/// One recording, or several.
#[derive(JsonSchema)]
#[serde(untagged)]
enum Lint {
    One(Report),
    Several { result: Outcome, files: Vec<Report> },
}

#[derive(JsonSchema)]
struct Report {
    file: String,
    protocol: Protocol,
    /// The texts that were read.
    texts: Vec<Text>,
    records: u64,
    sessions: u64,
    verdict: LintVerdict,
    result: Outcome,
    violations: Vec<Judged>,
    /// What would be violations, unless something excuses them that the recording does not show.
    possible: Vec<Judged>,
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
    /// From 1, in the order in which they are judged: of several messages on one line, the one that is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    message: String,
    /// The clauses that the same fault breaks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    /// What it rests on besides what was seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assumes: Vec<String>,
    /// What would excuse it: of one that is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    unless: Option<String>,
    /// What vanishes when this is mended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    consequences: Vec<Judged>,
}

#[derive(JsonSchema)]
struct NotJudged {
    clause: String,
    reason: String,
}

#[derive(JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the member is called so")]
struct Readings {
    protocol: Protocol,
    bounds: String,
    without: Vec<String>,
    literal: bool,
    countersign: String,
    /// The longest runs that were looked at.
    steps: u64,
    readings: Vec<Reading>,
    /// The verdict.
    result: Outcome,
}

#[derive(JsonSchema)]
struct Reading {
    name: String,
    clauses: Vec<String>,
    question: String,
    /// Why the first choice is the default.
    why: String,
    choices: Vec<Choice>,
}

#[derive(JsonSchema)]
struct Choice {
    name: String,
    /// The same.
    value: String,
    default: bool,
    /// What it means, and where it is not the default, from which words of the text it can be defended.
    gloss: String,
    keeps_all: bool,
    breaks: Vec<Broken>,
    /// What it allows and the default does not, where one place is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    only_this: Option<Apart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_default: Option<Apart>,
}

#[derive(JsonSchema)]
struct Broken {
    property: String,
    clauses: Vec<String>,
    steps: Vec<Step>,
    #[serde(flatten)]
    argued: Argued,
}

#[derive(JsonSchema)]
struct Replay {
    protocol: Protocol,
    #[schemars(extend("enum" = Status::VERDICTS))]
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
    #[schemars(extend("enum" = replay::VERDICTS))]
    verdict: String,
    /// The step at which it failed.
    step: Option<u64>,
    wrong: Vec<Wrong>,
    /// The op for lack of which it was skipped.
    unsupported: Option<String>,
}

/// What is wrong with a response: an output is missing, or is forbidden, or nothing came.
#[derive(JsonSchema)]
#[serde(untagged)]
enum Wrong {
    Missing {
        clauses: Vec<String>,
        missing: Map<String, Value>,
    },
    Forbidden {
        clauses: Vec<String>,
        forbidden: Value,
    },
    Lost {
        clauses: Vec<String>,
        lost: String,
    },
}

#[derive(JsonSchema)]
struct Suite {
    protocol: Protocol,
    /// So many were written, about so many clauses.
    vectors: u64,
    clauses: u64,
    /// The folder.
    out: String,
    /// The first that was asked for.
    reading: Option<String>,
    /// The choices and numbers, other than those of the text, by which they were made, by name.
    taken: BTreeMap<String, String>,
    /// The file of settings.
    spec: Option<String>,
    /// Those that require or forbid something else than by the text as it stands.
    changed: Vec<Changed>,
    /// Those of the text as it stands of which a party of this one comes to something else: `a` is the text. Null where nothing that the
    /// model has is changed.
    compared: Option<Vec<ChangedVerdict>>,
}

#[derive(JsonSchema)]
struct Verify {
    protocols: Vec<Verified>,
    /// The verdict.
    result: Outcome,
}

#[derive(JsonSchema)]
struct Verified {
    protocol: Protocol,
    /// The texts that were read.
    texts: Vec<Text>,
    bounds: String,
    holds: bool,
    unique_states: u64,
    transitions: u64,
    /// The worlds that were searched, each with the reference in it.
    worlds: Vec<World>,
    /// The search of the text with lint at its recording, where the protocol has recordings.
    recordings: Option<Recordings>,
    divergences: Vec<Divergence>,
}

#[derive(JsonSchema)]
struct World {
    bounds: String,
    states: u64,
    transitions: u64,
}

#[derive(JsonSchema)]
struct Recordings {
    states: u64,
    transitions: u64,
}

#[derive(JsonSchema)]
struct Divergence {
    clause: String,
    steps: Vec<Step>,
    expected: String,
    actual: String,
}

#[derive(JsonSchema)]
struct Worth {
    protocol: Protocol,
    bounds: String,
    #[serde(flatten)]
    setting: Setting,
    guarantees: Vec<Carried>,
    /// The rules left out.
    rules: Vec<Single>,
    without_rule: Vec<WithoutRule>,
    /// The verdict.
    result: Outcome,
}

/// A guarantee that breaks.
#[derive(JsonSchema)]
struct Carried {
    name: String,
    clauses: Vec<String>,
    /// The rules whose loss alone breaks it.
    alone: Vec<Carrier>,
    /// It breaks with every rule in force, by the reading or the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<bool>,
}

#[derive(JsonSchema)]
struct Carrier {
    guard: String,
    /// That of the shortest run, in steps.
    length: u64,
}

#[derive(JsonSchema)]
struct Single {
    guard: String,
    clauses: Vec<String>,
    /// Why nothing has to break without it.
    free: Option<String>,
    breaks: Vec<BreaksAlone>,
    within: Within,
}

#[derive(JsonSchema)]
struct BreaksAlone {
    property: String,
    clauses: Vec<String>,
    /// Whether it breaks however the text is read.
    guarantee: bool,
    length: u64,
    steps: Vec<Step>,
    #[serde(flatten)]
    argued: Argued,
}
