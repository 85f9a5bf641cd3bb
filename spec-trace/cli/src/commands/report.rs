//! `countersign report`: the traceability of all clauses, or the reports of `diff` on several implementations, as a page and as JSON.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr, miette};
use serde_json::{Value, json};

use countersign_clauses::coverage::{self, Tally};
use countersign_clauses::{Clause, all};

use super::clauses;
use crate::answer::{Answer, Format, Status};
use crate::differing::many::Matrix;
use crate::links::LINKS;
use crate::matrix;
use crate::show::words::printable;

const EXAMPLES: &str = "\
Examples:
  countersign report --out site      site/index.html, which needs no network, and site/report.json
  countersign report --matrix one.json two.json
                                     what `diff --format json` wrote of two implementations, as a table
  countersign report --matrix one.json two.json --out site
                                     the same as site/matrix.html and site/matrix.json, and for each
                                     implementation a badge (an endpoint of shields.io), site/badge-1.json";

/// Writes the traceability of all clauses, or the reports on several implementations, as one static page, and as JSON
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder to write to; it is made if it is not there
    #[arg(long, value_name = "DIR", required_unless_present = "matrix")]
    pub out: Option<PathBuf>,

    /// Put reports of `diff --format json` beside each other: a row for each clause, a column for each implementation
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub matrix: Vec<PathBuf>,
}

/// Runs the command. It judges nothing, so an answer always holds.
///
/// # Errors
///
/// A folder or file that cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    if !args.matrix.is_empty() {
        return matrix_of(args, format);
    }
    let Some(out) = &args.out else {
        return Err(miette!("--out is missing"));
    };
    make(out)?;
    let document = document();
    let page = out.join("index.html");
    let data = out.join("report.json");
    write(&page, &matrix::render())?;
    write(&data, &format!("{document:#}\n"))?;
    Ok(match format {
        Format::Json => Answer::json(&document, Status::Holds),
        Format::Text => Answer {
            text: format!(
                "{}\n{}\n{}\n",
                printable(&page.display().to_string()),
                printable(&data.display().to_string()),
                Tally::of(&LINKS, all())
            ),
            status: Status::Holds,
        },
    })
}

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

/// Totals, totals by document, and every clause with its links.
fn document() -> Value {
    let clauses: Vec<&Clause> = all().iter().collect();
    let documents: Vec<Value> = coverage::by_document(&clauses)
        .into_iter()
        .map(|document| {
            json!({
                "title": document[0].document,
                "protocol": document[0].protocol,
                "totals": Tally::of(&LINKS, document.iter().copied()),
            })
        })
        .collect();
    json!({
        "totals": Tally::of(&LINKS, all()),
        "documents": documents,
        "clauses": clauses::document(&clauses),
    })
}
