//! The arguments of `countersign report`, and what they do.

use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr};
use serde_json::{Value, json};

use countersign_clauses::coverage::{self, Tally};
use countersign_clauses::{Clause, all};

use super::clauses;
use crate::answer::{Answer, Format, Status};
use crate::links::LINKS;
use crate::matrix;
use crate::show::words::printable;

const EXAMPLES: &str = "\
Example:
  countersign report --out site      site/index.html, which needs no network, and site/report.json";

/// Writes the traceability of all clauses as one static page, and as JSON.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The folder to write index.html and report.json to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Runs the command. It judges nothing, so an answer always holds.
///
/// # Errors
///
/// A folder or file that cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    fs::create_dir_all(&args.out)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot make {}", args.out.display()))?;
    let document = document();
    let page = args.out.join("index.html");
    let data = args.out.join("report.json");
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
