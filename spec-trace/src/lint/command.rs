//! The arguments of `countersign lint`, and what they do.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic, WrapErr};

use crate::answer::{Answer, Format};

/// Judges a recorded AAEP stream: JSON Lines of events, replies, or both.
#[derive(Debug, Clone, Args)]
pub struct LintArgs {
    /// The stream; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Reads and judges the stream.
///
/// # Errors
///
/// When the file is missing or reading it fails; broken content is a verdict, not an error.
pub fn run(arguments: &LintArgs, format: Format) -> miette::Result<Answer> {
    let file = arguments.file.display().to_string();
    let report = if arguments.file.as_os_str() == "-" {
        super::lint(io::stdin().lock(), "<stdin>")
    } else {
        File::open(&arguments.file).and_then(|stream| super::lint(BufReader::new(stream), &file))
    }
    .into_diagnostic()
    .wrap_err_with(|| format!("cannot read {file}"))?;
    let status = report.status();
    Ok(match format {
        Format::Text => Answer {
            text: report.render_text(),
            status,
        },
        Format::Json => Answer::json(&report.to_json(), status),
    })
}
