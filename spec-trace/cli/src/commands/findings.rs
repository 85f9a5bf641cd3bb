//! `countersign findings`: where the source documents contradict themselves, leave something open, or cannot be kept.

use std::fmt::Write as _;

use clap::ValueEnum as _;
use countersign_clauses::{Clause, ClauseId, cited_all, nearest};
use countersign_findings::run::{Guarantee, Run, in_words};
use countersign_findings::{
    self as findings, Editorial, Finding, Kind, Refuted, Severity, ShownBy, UnknownFinding,
};
use serde_json::{Value, json};

use super::clauses::hanging;
use crate::answer::{Answer, DocumentFormat, Status};
use crate::arguments::{Extent, Protocol};

const EXAMPLES: &str = "\
Examples:
  countersign findings                            list all
  countersign findings AQL-F2                     explain one
  countersign findings AQL-4.1-3                  those of a clause or section
  countersign findings AQL-F2 --format markdown   an issue for a tracker
  countersign findings --protocol aaep --format json
  countersign findings --editorial                mistakes without consequence
  countersign findings --refuted                  claims that a passage refutes

";

/// What to show.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_help = [EXAMPLES, findings::MEASURE].concat())]
pub struct Args {
    #[command(flatten)]
    extent: Extent,
    /// Explain this finding, or list those of this clause or section
    id: Option<String>,
    /// List the findings on this protocol
    #[arg(long, value_enum, conflicts_with = "id")]
    protocol: Option<Protocol>,
    /// Explain the editorial findings, which are not counted
    #[arg(long, conflicts_with_all = ["id", "refuted"])]
    editorial: bool,
    /// List what looked like a finding, and why it is none
    #[arg(long, conflicts_with = "id")]
    refuted: bool,
}

/// Runs the command. It judges nothing, so an answer always holds.
///
/// # Errors
///
/// An unknown finding, clause or section, with the ids that look most like it.
pub fn run(args: &Args, format: DocumentFormat) -> miette::Result<Answer> {
    let is_wanted = |protocol: &str| {
        args.protocol.is_none_or(|it| {
            it.to_possible_value()
                .is_some_and(|it| it.get_name() == protocol)
        })
    };
    let status = Status::Holds;
    if let Some(slips) = slips(args, &is_wanted)? {
        return Ok(editorial(&slips, format));
    }
    if args.refuted {
        let refuted = findings::refuted().iter();
        let refuted: Vec<&Refuted> = refuted.filter(|it| is_wanted(&it.protocol)).collect();
        let text = match format {
            DocumentFormat::Json => return Ok(Answer::json(&json!(refuted), status)),
            DocumentFormat::Text => refuted.iter().map(|it| refuted_text(it)).collect(),
            DocumentFormat::Markdown => refuted.iter().map(|it| refuted_markdown(it)).collect(),
        };
        return Ok(Answer { text, status });
    }
    let found: Vec<&Finding> = match &args.id {
        Some(id) => asked(id)?,
        None => findings::all()
            .iter()
            .filter(|it| is_wanted(it.protocol()))
            .collect(),
    };
    let text = match format {
        DocumentFormat::Json => return Ok(Answer::json(&documents(&found), status)),
        DocumentFormat::Markdown => found.iter().map(|it| markdown(it)).collect(),
        DocumentFormat::Text if args.id.is_some() && found.len() == 1 => explain(found[0]),
        DocumentFormat::Text => {
            let beside = findings::editorial().iter();
            let beside: Vec<&Editorial> = match &args.id {
                Some(id) => beside.filter(|it| concerns(&it.clauses, id)).collect(),
                None => beside.filter(|it| is_wanted(it.protocol())).collect(),
            };
            let all = args.extent.all;
            let text = list(&found) + &apart(&beside, all || args.id.is_some());
            return Ok(Answer::verdict(status, &counts(&found), &text, all));
        }
    };
    Ok(Answer { text, status })
}

/// The editorial findings, where they are asked for: all, or the one with an id.
fn slips(
    args: &Args,
    is_wanted: &dyn Fn(&str) -> bool,
) -> miette::Result<Option<Vec<&'static Editorial>>> {
    let all = findings::editorial().iter();
    let asked = args.id.as_ref().map(|id| id.to_ascii_uppercase());
    let asked = asked.filter(|id| is_editorial(id));
    let Some(id) = asked else {
        let wanted = || all.filter(|it| is_wanted(it.protocol())).collect();
        return Ok(args.editorial.then(wanted));
    };
    if let Some(slip) = all.clone().find(|it| it.id == id) {
        return Ok(Some(vec![slip]));
    }
    let nearest = nearest::ids(&id, all.map(|it| it.id.as_str()));
    Err(miette::Report::msg(UnknownFinding { id, nearest }))
}

/// `AAEP-E1`: what begins with a letter E and goes on with a digit names no clause.
fn is_editorial(id: &str) -> bool {
    let number = id.split_once("-E").map(|(_, number)| number);
    number.is_some_and(|it| it.starts_with(|first: char| first.is_ascii_digit()))
}

fn concerns(clauses: &[ClauseId], id: &str) -> bool {
    countersign_clauses::meant(id)
        .is_ok_and(|meant| meant.iter().any(|it| clauses.contains(&it.id)))
}

/// Editorial findings in full.
fn editorial(slips: &[&Editorial], format: DocumentFormat) -> Answer {
    let status = Status::Holds;
    let text = match format {
        DocumentFormat::Json => return Answer::json(&editorial_documents(slips), status),
        DocumentFormat::Text => slips.iter().map(|it| slip_text(it)).collect(),
        DocumentFormat::Markdown => slips.iter().map(|it| slip_markdown(it)).collect(),
    };
    Answer { text, status }
}

/// They have the members of a finding that they can have.
fn editorial_documents(slips: &[&Editorial]) -> Value {
    let document = |it: &&Editorial| {
        let mut document = json!(it);
        document["severity"] = json!("editorial");
        document["gist"] = json!(it.title);
        document["repair"] = json!({ "wording": it.repair, "verdict": "not-executed" });
        document
    };
    slips.iter().map(document).collect()
}

fn slip_text(slip: &Editorial) -> String {
    let mut text = format!("{}  editorial, {}\n", slip.id, slip.kind.as_str());
    text += &hanging("  ", &slip.title);
    text += &hanging("  Sections: ", &slip.sections.join(", "));
    text += &hanging("  misleads: ", &slip.wrong);
    text += &hanging("  mended:   ", &slip.repair);
    if !slip.clauses.is_empty() {
        let ids = slip.clauses.iter().map(ClauseId::as_str);
        text += &hanging("  Clauses:  ", &cited_all(ids));
    }
    text + "\n"
}

fn slip_markdown(slip: &Editorial) -> String {
    let Editorial {
        id,
        title,
        wrong,
        repair,
        ..
    } = slip;
    let (kind, sections) = (slip.kind.as_str(), slip.sections.join(", "));
    format!(
        "## {id} {title}\n\n{kind}, editorial. Sections {sections}.\n\n{}\n\n### A wording that mends it\n\n{}\n\n",
        wrong.trim(),
        repair.trim()
    )
}

/// The editorial findings, a line each, behind those that are counted.
fn apart(slips: &[&Editorial], all: bool) -> String {
    if slips.is_empty() {
        return String::new();
    }
    if !all {
        return format!("editorial, not counted: {} (--editorial)\n", slips.len());
    }
    let mut text =
        "\nEditorial, not counted: they mislead a reader and change nothing\n\n".to_owned();
    for slip in slips {
        let head = format!("{:<8}  {:<9}  ", slip.id, slip.kind.as_str());
        text += &hanging(&head, &slip.title);
    }
    text + &hanging("", "countersign findings --editorial has them in full")
}

/// The finding with this id, or those that concern the clause or section with it.
fn asked(id: &str) -> miette::Result<Vec<&'static Finding>> {
    if id.to_ascii_uppercase().contains("-F") {
        let finding = findings::get(id).map_err(miette::Report::msg)?;
        return Ok(vec![finding]);
    }
    let meant = countersign_clauses::meant(id).map_err(miette::Report::msg)?;
    let concerns = |finding: &&Finding| meant.iter().any(|it| finding.clauses.contains(&it.id));
    Ok(findings::all().iter().filter(concerns).collect())
}

/// The findings, each with whether a test executes what shows it: then its mended wording is seen to mend it, or the reason stands there
/// why none is executed.
pub(crate) fn documents(found: &[&Finding]) -> Value {
    let document = |finding: &Finding| {
        let mut document = json!(finding);
        let verdict = if finding.unrepaired.is_none() {
            "mends"
        } else {
            "not-executed"
        };
        document["gist"] = json!(finding.title);
        document["witness"] = json!({ "text": finding.witness, "cases": finding.cases });
        document["repair"] = json!({ "wording": finding.repair, "verdict": verdict });
        document["executed"] = json!(!finding.cases.is_empty());
        document
    };
    found.iter().map(|finding| document(finding)).collect()
}

/// The cases that show a finding: each run, what is said of it, and what the mended wording says.
fn cases(finding: &Finding) -> String {
    let mut text = String::new();
    for (number, case) in (1..).zip(&finding.cases) {
        let _ = writeln!(text, "\nCase {number}");
        // What cannot be read fails a test.
        let run = Run::read(&case.run).unwrap_or_else(|_| Run(Vec::new()));
        for line in run.to_string().lines() {
            text += &hanging("  ", line);
        }
        let legend = finding.text().legend(&run);
        let legend = legend
            .iter()
            .map(|(name, means)| format!("{name}: {means}"));
        let legend = legend.collect::<Vec<_>>().join("; ");
        if !legend.is_empty() {
            text += &hanging("  ", &format!("in no message: {legend}"));
        }
        for (passage, said) in &case.judged {
            text += &hanging("  ", &format!("passage {passage}: {}", in_words(said)));
        }
        for (name, said) in &case.broken {
            let step = said.rsplit(' ').next().unwrap_or_default();
            // A test finds every guarantee that is named.
            if let Some(Guarantee { section, means, .. }) = finding.text().guarantee(name) {
                let said = format!("guarantee {name} ({section}): broken by step {step}; {means}");
                text += &hanging("  ", &said);
            }
        }
        if let Some(said) = &case.repaired {
            text += &hanging("  ", &format!("mended wording: {}", in_words(said)));
        }
    }
    if finding.cases.iter().any(|it| !it.broken.is_empty()) {
        text += "\n";
        text += &hanging("", LETTER);
    }
    if let Some(reason) = &finding.unrepaired {
        text += "\nWhy no mended wording is executed\n";
        text += &hanging("  ", reason);
    }
    text
}

/// Why one section can be kept and broken in one run.
const LETTER: &str = "A passage is held to its letter, a guarantee is what its section is there for: a run can keep the one and break \
                      the other.";

/// How many there are of each severity.
fn counts(found: &[&Finding]) -> String {
    let count = |it| {
        found
            .iter()
            .filter(|finding| finding.severity == it)
            .count()
    };
    let (harm, other) = (count(Severity::Harm), count(Severity::Interoperability));
    let executed = found.iter().filter(|it| !it.cases.is_empty());
    format!(
        "{} findings: {harm} of harm, {other} of interoperability (tests execute what shows {} of them)",
        found.len(),
        executed.count()
    )
}

/// A line for each, those of harm first.
fn list(found: &[&Finding]) -> String {
    let mut text = String::new();
    for group in found.chunk_by(|one, next| one.protocol() == next.protocol()) {
        let _ = writeln!(text, "{}\n", group[0].protocol());
        let is_harm = |it: &&&Finding| it.severity == Severity::Harm;
        let harm = group.iter().filter(is_harm);
        for finding in harm.chain(group.iter().filter(|it| !is_harm(it))) {
            let (severity, kind) = (severity(finding), kind(finding));
            let head = format!("{:<8}  {severity:<16}  {kind:<13}  ", finding.id);
            text += &hanging(&head, &finding.title);
        }
        text.push('\n');
    }
    text += "countersign findings ID explains one, --refuted lists what is none\n";
    let by_facts = found.iter().filter(|it| it.facts.is_some());
    let by_facts: Vec<&str> = by_facts.map(|it| it.id.as_str()).collect();
    if !by_facts.is_empty() {
        let said = format!(
            "{} of them rest on the wire facts, and not on the documents alone: {}. {}",
            by_facts.len(),
            by_facts.join(", "),
            findings::WIRE_FACTS
        );
        text += &hanging("", &said);
    }
    text
}

/// One in full.
fn explain(finding: &Finding) -> String {
    let (severity, kind) = (severity(finding), kind(finding));
    let mut text = format!("{}  {severity}, {kind}\n\n", finding.id);
    text += &hanging("  ", &finding.title);
    text += &hanging("  Sections: ", &finding.sections.join(", "));
    text += "\nWhat goes wrong\n";
    text += &hanging("  ", &finding.wrong);
    if let Some(facts) = &finding.facts {
        text += "\nWhat it takes from the wire facts\n";
        text += &hanging("  ", facts);
        text += &hanging("  ", findings::WIRE_FACTS);
    }
    let _ = writeln!(text, "\n{}", shown_by(finding));
    for line in finding.witness.lines() {
        text += &hanging("  ", line);
    }
    if !finding.readings.is_empty() {
        text += "\nIt can be taken as\n";
        for reading in &finding.readings {
            text += &hanging("  ", reading);
        }
    }
    text += "\nA wording that mends it\n";
    text += &hanging("  ", &finding.repair);
    text += &cases(finding);
    if !finding.cases.is_empty() {
        let _ = writeln!(text, "\nDrawn: countersign show --finding {}", finding.id);
    }
    text += "\nWhat a model has to hold to show it\n";
    text += &hanging("  ", &finding.modelled);
    text += "\nThe clauses that it concerns\n";
    for clause in clauses(finding) {
        let head = format!("  {:<13}  {:<8}  ", clause.id, clause.level);
        text += &hanging(&head, &clause.basis.behind(&clause.gist));
    }
    text
}

/// One as an issue for the tracker of the document.
fn markdown(finding: &Finding) -> String {
    let mut text = format!("## {} {}\n\n", finding.id, finding.title);
    let (severity, kind) = (severity(finding), kind(finding));
    let _ = writeln!(
        text,
        "{kind}, {severity}. Sections {}.\n",
        finding.sections.join(", ")
    );
    let _ = writeln!(text, "{}\n", finding.wrong);
    if let Some(facts) = &finding.facts {
        let _ = writeln!(text, "{} {}\n", facts.trim(), findings::WIRE_FACTS);
    }
    let _ = writeln!(text, "### {}\n", shown_by(finding));
    for line in finding.witness.lines() {
        let _ = writeln!(text, "> {line}  ");
    }
    if !finding.readings.is_empty() {
        text += "\n### It can be taken as\n\n";
        for reading in &finding.readings {
            let _ = writeln!(text, "- {reading}");
        }
    }
    let _ = writeln!(text, "\n### A wording that mends it\n\n{}", finding.repair);
    if !finding.cases.is_empty() {
        let _ = writeln!(
            text,
            "\n### Executed\n\n```\n{}\n```",
            cases(finding).trim()
        );
    }
    text += "\n### The clauses that it concerns\n\n";
    for clause in clauses(finding) {
        let _ = writeln!(
            text,
            "- {} {}: {}",
            clause.cited(),
            clause.level,
            clause.gist
        );
    }
    text + "\n"
}

fn clauses(finding: &Finding) -> impl Iterator<Item = &'static Clause> {
    let ids = finding.clauses.iter();
    ids.filter_map(|id| countersign_clauses::get(id.as_str()).ok())
}

fn refuted_text(refuted: &Refuted) -> String {
    let head = format!("{:<14}  ", refuted.protocol);
    hanging(&head, &refuted.title)
        + &hanging("  claim:   ", &refuted.claim)
        + &hanging("  refuted: ", &refuted.because)
        + "\n"
}

fn refuted_markdown(refuted: &Refuted) -> String {
    let Refuted {
        protocol,
        title,
        claim,
        because,
    } = refuted;
    format!("## {protocol}: {title}\n\nClaim: {claim}\n\nRefuted: {because}\n\n")
}

pub(crate) fn severity(finding: &Finding) -> &'static str {
    match finding.severity {
        Severity::Harm => "harm",
        Severity::Interoperability => "interoperability",
    }
}

pub(crate) fn kind(finding: &Finding) -> &'static str {
    match finding.kind {
        Kind::Contradiction => "contradiction",
        Kind::Gap => "gap",
        Kind::Defect => "defect",
    }
}

pub(crate) fn shown_by(finding: &Finding) -> String {
    let what = match finding.shown_by {
        ShownBy::Run => "A run",
        ShownBy::Instance => "An instance",
    };
    let how = if finding.cases.is_empty() {
        "no test executes it yet"
    } else {
        "a test executes it"
    };
    format!("{what} that shows it ({how})")
}
