//! The arguments of `countersign lint`, and what they do.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Args;

use super::report::LintReport;

/// Judges a recorded AAEP stream: JSON Lines of events, replies, or both.
#[derive(Debug, Clone, Args)]
pub struct LintArgs {
    /// The stream; - is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Why a stream could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {file}: {cause}")]
pub struct Unreadable {
    /// What was to be read.
    pub file: String,
    /// What the system said.
    #[source]
    pub cause: io::Error,
}

/// Reads and judges the stream.
///
/// # Errors
///
/// When the file is missing or reading it fails; broken content is a verdict, not an error.
pub fn run(arguments: &LintArgs) -> Result<LintReport, Unreadable> {
    let file = arguments.file.display().to_string();
    let report = if arguments.file.as_os_str() == "-" {
        super::lint(io::stdin().lock(), "<stdin>")
    } else {
        File::open(&arguments.file).and_then(|stream| super::lint(BufReader::new(stream), &file))
    };
    report.map_err(|cause| Unreadable { file, cause })
}
