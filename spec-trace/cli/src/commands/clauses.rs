//! `countersign clauses`: the list of the clauses, one clause explained, and the gaps.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use textwrap::fill;

use countersign_clauses::links::{self, Kind, Link};
use countersign_clauses::{Basis, Clause, Level, Role, all, by_document, meant, protocols};

use self::source::Tree;
use self::untested::{NONE, why_untested};
use crate::answer::{Answer, Format, Status};
use crate::links::{LINKS, Tally, readings};
use crate::show::words::between_words;
use crate::terminal::Terminal;

pub(crate) mod against;
pub mod source;
pub mod untested;

/// The widest line that is printed.
const WIDTH: usize = 80;

const EXAMPLES: &str = "\
Examples:
  countersign clauses                               list all
  countersign clauses PA-5                          explain one
  countersign clauses PA-5 --source .               with the lines that name it
  countersign clauses aaep-6.3.4                    list a section
  countersign clauses --gaps --protocol mcp-aql     what nothing can check, why
  countersign clauses --untested --level MUST       what no test covers
  countersign clauses --against draft/ --changed    what an edit has touched
  countersign clauses PA-5 --against draft/         one, beside its passage

Exit status: 0; with --against, 1 if a clause is to be read again, 3 if no
document was found";

/// What to show.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Explain this clause, or list a section (an id without its ordinal)
    pub id: Option<String>,
    /// List the clauses that nothing can check, with the reasons
    #[arg(long, conflicts_with = "id")]
    pub gaps: bool,
    /// List the clauses that no test covers: its row in `TRACE.md` has none
    #[arg(long, conflicts_with_all = ["id", "gaps", "against"])]
    pub untested: bool,
    /// List the clauses of these levels, such as MUST,must-not
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_parser = level, conflicts_with = "id")]
    pub level: Vec<Level>,
    /// List the clauses of this protocol
    #[arg(long, conflicts_with = "id")]
    pub protocol: Option<String>,
    /// List the lines in this folder that name the clause
    #[arg(long, value_name = "DIR", requires = "id", conflicts_with = "against")]
    pub source: Option<PathBuf>,
    /// Compare with a copy of the documents: what has changed, what is new
    #[arg(long, value_name = "DIR", conflicts_with = "gaps")]
    pub against: Option<PathBuf>,
    /// With --against, omit the clauses whose passage is unchanged
    #[arg(long, requires = "against")]
    pub changed: bool,
}

/// Runs the command. Only `--against` judges: what has to be read again is a violation.
///
/// # Errors
///
/// An unknown clause, with the ids that look most like it; an unknown protocol, with the known ones; a copy that cannot be read, or
/// holds none of the documents; a source tree that cannot be read.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    let clauses = selected(args)?;
    if let Some(copy) = &args.against {
        return against::run(&clauses, copy, args.changed, format);
    }
    let tree = args.source.as_deref().map(Tree::read).transpose()?;
    let explained = || {
        let clauses = clauses.iter();
        let explained = clauses.map(|clause| explain(clause, tree.as_ref()));
        explained.collect::<Vec<_>>().join("\n")
    };
    let text = match format {
        Format::Json => json(&clauses, tree.as_ref()),
        Format::Text if args.id.is_some() && clauses.len() == 1 => explained(),
        Format::Text if tree.is_some() => explained(),
        Format::Text if args.gaps => render_gaps(&clauses),
        Format::Text if args.untested => render_untested(&clauses),
        Format::Text => render_list(&clauses),
    };
    let status = Status::Holds;
    Ok(Answer { text, status })
}

/// Reads a level, in any case and with a hyphen for the space.
fn level(text: &str) -> Result<Level, String> {
    let wanted = text.to_ascii_uppercase().replace('-', " ");
    let level = Level::ALL.into_iter().find(|it| it.as_str() == wanted);
    level.ok_or_else(|| {
        let known = Level::ALL.map(Level::as_str).join(", ");
        format!("the levels are {known}")
    })
}

/// The clauses that the arguments ask for, in the order of the documents.
fn selected(args: &Args) -> miette::Result<Vec<&'static Clause>> {
    if let Some(id) = &args.id {
        return meant(id).map_err(miette::Report::msg);
    }
    if let Some(protocol) = &args.protocol
        && !protocols().contains(&protocol.as_str())
    {
        let known = protocols().join(", ");
        return Err(miette::miette!(
            "unknown protocol `{protocol}`; the protocols are {known}"
        ));
    }
    let of_protocol = |clause: &&Clause| {
        args.protocol
            .as_ref()
            .is_none_or(|protocol| *protocol == clause.protocol)
    };
    let is_gap = |clause: &&Clause| LINKS.count(clause, Kind::Exception) > 0;
    Ok(all()
        .iter()
        .filter(of_protocol)
        .filter(|clause| args.level.is_empty() || args.level.contains(&clause.level))
        .filter(|clause| !args.gaps || is_gap(clause))
        .filter(|clause| !args.untested || why_untested(clause).is_some())
        .collect())
}

/// A clause as JSON shows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Clause")]
pub(super) struct Shown<'a> {
    id: &'a str,
    level: Level,
    basis: Basis,
    role: Role,
    gist: &'a str,
    source: &'a str,
    links: Vec<Link>,
    /// The names of the places at which it can be taken in more than one way.
    readings: Vec<&'static str>,
}

/// The clauses as a JSON array, with their links and the lines of the source tree that name them.
pub fn json(clauses: &[&Clause], tree: Option<&Tree>) -> String {
    format!("{:#}\n", document(clauses, tree))
}

/// The same as a value.
pub fn document(clauses: &[&Clause], tree: Option<&Tree>) -> Value {
    let named = |clause: &Clause| tree.map_or_else(Vec::new, |it| it.naming(clause.id.as_str()));
    let shown: Vec<Shown<'_>> = clauses
        .iter()
        .map(|clause| Shown {
            id: clause.id.as_str(),
            level: clause.level,
            basis: clause.basis,
            role: clause.role,
            gist: &clause.gist,
            source: &clause.source,
            links: [LINKS.of(clause), &named(clause)].concat(),
            readings: readings(clause).into_iter().map(|(name, _)| name).collect(),
        })
        .collect();
    // The keys are strings and nothing in it can fail to serialise.
    json!(shown)
}

/// A table of clauses by document: id, level, role, how many links of which kind, and the gist.
pub fn render_list(clauses: &[&Clause]) -> String {
    let width = clauses.iter().map(|clause| counts(clause).len()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for document in by_document(clauses) {
        let _ = writeln!(
            text,
            "{} ({})\n",
            document[0].document, document[0].protocol
        );
        for clause in document {
            let counts = counts(clause);
            let head = format!(
                "{:<13}  {:<8}  {}  {counts:<width$}  ",
                clause.id,
                clause.level,
                clause.role.letter()
            );
            text += &hanging(&head, &clause.basis.behind(&clause.gist));
        }
        text.push('\n');
    }
    text + &legend() + &totals(clauses)
}

/// The clauses that nothing can check, by reason.
pub fn render_gaps(clauses: &[&Clause]) -> String {
    // A clause with an exception has no other link; a test sees to that.
    by_reason(clauses, "not checkable", |clause| &LINKS.of(clause)[0].name)
}

/// The clauses without a test, by reason.
pub fn render_untested(clauses: &[&Clause]) -> String {
    by_reason(clauses, "without a test", |clause| {
        let reason = why_untested(clause).filter(|it| *it != NONE);
        reason.unwrap_or("no reason is known")
    })
}

/// The clauses below the reason why they are that, and how many they are.
fn by_reason<'a>(
    clauses: &[&'a Clause],
    what: &str,
    reason: impl Fn(&'a Clause) -> &'a str,
) -> String {
    let mut text = String::new();
    let mut by_reason: BTreeMap<&str, Vec<&Clause>> = BTreeMap::new();
    for clause in clauses {
        by_reason.entry(reason(clause)).or_default().push(clause);
    }
    for (reason, group) in by_reason {
        text += &hanging(&format!("{what}: "), reason);
        text.push('\n');
        text += &gists(&group);
    }
    let _ = writeln!(text, "{} {what}", clauses.len());
    text
}

/// Id, level and gist of each clause, and an empty line.
fn gists(clauses: &[&Clause]) -> String {
    let mut text = String::new();
    for clause in clauses {
        let head = format!("{:<13}  {:<8}  ", clause.id, clause.level);
        text += &hanging(&head, &clause.basis.behind(&clause.gist));
    }
    text.push('\n');
    text
}

/// One clause in full, with its links grouped by kind, and the lines of the source tree that name it.
pub fn explain(clause: &Clause, tree: Option<&Tree>) -> String {
    let mut text = format!(
        "{}  {}  {} ({})\n\n",
        clause.id,
        clause.level,
        clause.role.letter(),
        clause.role.description()
    );
    text += &hanging("  ", &clause.gist);
    text += &hanging("  Source: ", &clause.source);
    let basis = format!("{}: {}", clause.basis, clause.because);
    text += &hanging("  Basis: ", &basis);
    let readings = readings(clause);
    if !readings.is_empty() {
        let _ = writeln!(
            text,
            "\ncan be read in more than one way (countersign check {} --each-reading)",
            clause.protocol
        );
    }
    for (name, question) in readings {
        text += &hanging(&format!("  {name:<24}  "), question);
    }
    for group in LINKS.of(clause).chunk_by(|one, next| one.kind == next.kind) {
        let _ = writeln!(text, "\n{}", group[0].kind.heading());
        for link in group {
            text += &hanging("  ", &link.name);
        }
    }
    text += &why_not(clause);
    if let Some(tree) = tree {
        text += "\nnamed in\n";
        let naming = tree.naming(clause.id.as_str());
        for Link { name, at, .. } in &naming {
            text += &hanging(
                "  ",
                &format!("{}: {name}", at.as_deref().unwrap_or_default()),
            );
        }
        if naming.is_empty() {
            text += "  no line of this folder\n";
        }
    }
    text
}

/// What a duty lacks, with the reasons; an exception stands among the links.
fn why_not(clause: &Clause) -> String {
    let is_excepted = LINKS.count(clause, Kind::Exception) > 0;
    let mut text = String::new();
    for (head, reason) in [
        ("no rule of the model", links::without_rule(clause)),
        ("nothing in the executor", links::without_branch(clause)),
    ] {
        if let Some(reason) = reason.filter(|_| !is_excepted) {
            let _ = writeln!(text, "\n{head}");
            text += &hanging("  ", reason);
        }
    }
    text
}

/// How many links of which kind, as in `g1 p2 m t5`; an `m` for a monitor, an `x` for an exception.
fn counts(clause: &Clause) -> String {
    let counts: Vec<String> = Kind::ALL
        .into_iter()
        .map(|kind| (kind, LINKS.count(clause, kind)))
        .filter(|&(_, count)| count > 0)
        .map(|(kind, count)| match kind {
            Kind::Monitor | Kind::Exception => kind.letter().to_string(),
            Kind::Guard | Kind::Property | Kind::Test | Kind::Mention => {
                format!("{}{count}", kind.letter())
            }
        })
        .collect();
    counts.join(" ")
}

fn legend() -> String {
    hanging(
        "",
        "g guards and p properties of the model, m judged in recordings, t tests that fail where it is broken, \
         x not checkable. What they are: countersign clauses ID",
    )
}

fn totals(clauses: &[&Clause]) -> String {
    let tally = Tally::of(clauses.iter().copied());
    hanging("", &format!("{tally} (countersign clauses --gaps)"))
}

/// `head` and then `text`, broken between words so that no line is wider than [`WIDTH`] or the terminal and none goes below the head.
pub(crate) fn hanging(head: &str, text: &str) -> String {
    hanging_within(Terminal::of_stdout().at_most(WIDTH), head, text)
}

fn hanging_within(columns: usize, head: &str, text: &str) -> String {
    let indent = " ".repeat(head.chars().count());
    let options = between_words(columns)
        .break_words(false)
        .initial_indent(head)
        .subsequent_indent(&indent);
    let words: Vec<&str> = text.split_whitespace().collect();
    fill(&words.join(" "), options) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_between_words_and_hangs_below_its_start() {
        let words = "word ".repeat(30);
        let text = hanging_within(WIDTH, "head  ", &words);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("head  word"));
        assert!(lines[1].starts_with("      word"));
        assert!(lines.iter().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn a_line_is_filled_to_the_last_column_and_no_further() {
        let filler = |length: usize| format!("{} end", "x".repeat(length - 4));
        let lines = |length| hanging_within(WIDTH, "", &filler(length)).lines().count();
        assert_eq!([WIDTH - 1, WIDTH, WIDTH + 1].map(lines), [1, 1, 2]);
    }
}
