//! `countersign report`: all clauses with what holds them and what is wrong with them, or the reports of `diff` on several implementations, as
//! pages and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};

use countersign_clauses::{Clause, all};
use countersign_model::facade::{TEXTS, Text};

use super::clauses::{against, hanging};
use super::readings::Costs;
use super::worth::Drawn;
use crate::answer::{Answer, Format, Status};
use crate::differing::many::Matrix;
use crate::links::Tally;
use crate::report::{Full, Report, above_worth, clause_link};
use crate::show::words::printable;

const EXAMPLES: &str = "\
Examples:
  countersign report --out site                     site/index.html, report.json
  countersign report --out site --full              with what each reading costs
  countersign report --out site --against draft/    beside your copy of the text
  countersign report --matrix one.json two.json     reports of `diff` in a table
  countersign report --matrix one.json two.json --out site

The pages need no network. --full takes minutes. --matrix with --out writes
matrix.html, matrix.json and a badge for each implementation (badge-1.json).

Exit status: 0; with --against, that of `clauses --against`";

/// The arguments of `countersign report`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Write to this folder
    #[arg(long, value_name = "DIR", required_unless_present = "matrix")]
    pub out: Option<PathBuf>,

    /// Add what each reading breaks and what each rule is needed for: minutes
    #[arg(long, conflicts_with = "matrix")]
    pub full: bool,

    /// Put each clause beside its passage in this copy of the documents
    #[arg(long, value_name = "DIR", conflicts_with = "matrix")]
    pub against: Option<PathBuf>,

    /// Compare reports of `diff --format json`, one column each
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub matrix: Vec<PathBuf>,
}

/// Runs the command. Only `--against` judges, as it does for `clauses`.
///
/// # Errors
///
/// A folder or file that cannot be written; a copy that cannot be read, or holds none of the documents.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    if !args.matrix.is_empty() {
        return matrix_of(args, format);
    }
    let Some(out) = &args.out else {
        return Err(miette!("--out is missing"));
    };
    let clauses: Vec<&'static Clause> = all().iter().collect();
    let against = args.against.as_deref();
    let against = against
        .map(|copy| against::compared(&clauses, copy))
        .transpose()?;
    make(out)?;
    let report = Report {
        against,
        full: args.full.then(full).transpose()?,
    };
    let status = report.status();
    let files = report.files();
    make(&out.join("findings"))?;
    for (name, text) in &files {
        write(&out.join(name), text)?;
    }
    if format == Format::Json {
        return Ok(Answer::json(&report.document(), status));
    }
    let mut text = String::new();
    let (below, above): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| name.contains('/'));
    for (name, _) in above {
        let _ = writeln!(text, "{}", told(&out.join(name)));
    }
    let _ = writeln!(
        text,
        "{} ({} pages)",
        told(&out.join("findings")),
        below.len()
    );
    let texts = countersign_clauses::texts().iter();
    let texts: Vec<&str> = texts.map(|it| it.title.as_str()).collect();
    text += &hanging("made from ", &texts.join("; "));
    if let Some(compared) = &report.against {
        let _ = writeln!(text, "{}", against::totals(compared));
    }
    Ok(Answer::verdict(
        status,
        &Tally::of(all()).to_string(),
        &text,
        true,
    ))
}

fn told(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// What takes minutes to search.
fn full() -> miette::Result<Full> {
    let costs = TEXTS.iter().map(|text| {
        let places: Vec<_> = text.places.iter().collect();
        Costs::of(text, BOUNDS, &places)
    });
    let worth = |text: &'static Text| {
        let beside = &above_worth(text.name);
        Drawn::of(text, BOUNDS, &[], (beside, clause_link))
    };
    Ok(Full {
        readings: costs.collect::<miette::Result<_>>()?,
        worth: TEXTS.iter().map(worth).collect::<miette::Result<_>>()?,
    })
}

/// The bounds in which `readings` and `worth` search, where nothing else is said.
const BOUNDS: &str = "small";

/// The reports on several implementations: printed, and written where there is a folder for them.
fn matrix_of(args: &Args, format: Format) -> miette::Result<Answer> {
    let matrix = Matrix::read(&args.matrix)?;
    let document = matrix.json();
    if let Some(out) = &args.out {
        make(out)?;
        write(&out.join("matrix.html"), &matrix.html())?;
        write(&out.join("matrix.json"), &format!("{document:#}\n"))?;
        for (n, badge) in (1..).zip(matrix.badges()) {
            write(
                &out.join(format!("badge-{n}.json")),
                &format!("{badge:#}\n"),
            )?;
        }
    }
    Ok(match format {
        Format::Json => Answer::json(&document, Status::Holds),
        Format::Text => Answer {
            text: matrix.text(),
            status: Status::Holds,
        },
    })
}

fn make(folder: &Path) -> miette::Result<()> {
    fs::create_dir_all(folder)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make {}", folder.display()))
}

fn write(file: &Path, text: &str) -> miette::Result<()> {
    fs::write(file, text)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", file.display()))
}
