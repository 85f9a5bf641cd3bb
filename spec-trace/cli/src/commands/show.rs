//! `countersign show`: a recorded stream, a counterexample, a divergence, a kept run, or what shows a finding, drawn.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr};

use countersign_lint::compression::decompressed;

use crate::answer::{Answer, Status};
use crate::arguments::StreamFormat;
use crate::show::run::Run;
use crate::show::stream::Selection;
use crate::show::words::printable;
use crate::show::{Drawing, finding, load, text};
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  countersign show capture.jsonl                     in the terminal
  countersign show capture.har --session sess_2      one session of many
  countersign show capture.jsonl --format html --out run.html
  countersign show capture.jsonl --redact --format svg
  countersign show transcript.jsonl                  requests and responses
  countersign check aaep --without AAEP-6.3.4-4 --save found.json
  countersign show found.json --format mermaid       a counterexample
  countersign show found.json --run 2 --format svg --out run.svg
  countersign show divergences/found-PA-8.json       what `diff` has kept
  countersign show --finding AAEP-F2                 the runs of a finding

A page (html) steps through the run and needs no network.

Exit status: 0 drawn, 2 nothing to draw, 3 an empty file";

/// Draws a recorded stream, a counterexample, a divergence or a kept run as a sequence diagram.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A recording, a kept run, a counterexample or a vector; - is stdin
    #[arg(value_name = "FILE", required_unless_present = "finding")]
    pub file: Option<PathBuf>,
    /// Draw the runs of this finding
    #[arg(long, value_name = "ID", conflicts_with_all = ["file", "session", "redact"])]
    pub finding: Option<String>,
    /// Write the drawing to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Draw the N-th run of the file
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub run: usize,
    /// Draw only this session of a recording
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Where the messages stand
    #[command(flatten)]
    pub format: StreamFormat,
    /// Replace names, ids, tokens and texts of a recording by numbers
    #[arg(long)]
    pub redact: bool,
}

/// Draws what the file holds.
///
/// # Errors
///
/// A file that cannot be read, holds nothing that can be drawn, or has no such run; or one that cannot be written.
pub fn run(args: &Args, drawing: Drawing) -> miette::Result<Answer> {
    let Some(mut runs) = loaded(args)? else {
        return Ok(Answer {
            text: String::new(),
            status: Status::Inconclusive,
        });
    };
    let chosen = choose(&mut runs, args.run, drawing)?;
    let run = &runs[chosen];
    let drawn = if drawing == Drawing::Text && args.out.is_none() {
        let columns = Terminal::of_stdout().columns;
        text::render_within(run, columns.map_or(text::WIDTH, |it| it.min(text::MOST)))
    } else {
        drawing.of_one(&runs, chosen)
    };
    let status = Status::Holds;
    let Some(out) = &args.out else {
        return Ok(Answer {
            text: drawn,
            status,
        });
    };
    if args.file.as_ref().is_some_and(|file| is_input(out, file)) {
        let out = out.display();
        return Err(miette::miette!("{out} is what is drawn; it would be lost"));
    }
    fs::write(out, drawn)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", out.display()))?;
    let text = format!(
        "{}: {} of {} steps\n",
        printable(&out.display().to_string()),
        run.kind.name(),
        run.steps.len()
    );
    Ok(Answer { text, status })
}

/// Every run that is asked about; nothing where the file is empty, which is told.
fn loaded(args: &Args) -> miette::Result<Option<Vec<Run>>> {
    if let Some(id) = &args.finding {
        let flaw = countersign_findings::get(id).map_err(miette::Report::msg)?;
        return Ok(Some(finding::runs(flaw).map_err(miette::Report::msg)?));
    }
    let (name, bytes) = read(args)?;
    if bytes.trim_ascii().is_empty() {
        super::complain(&format!("{name}: it is empty, so there is nothing to draw"));
        return Ok(None);
    }
    let how = args.format.how()?;
    let selection = Selection {
        session: args.session.as_deref(),
        redact: args.redact,
        how: Some(&how),
    };
    let runs = load::runs(&bytes, &name, selection).map_err(miette::Report::msg)?;
    Ok(Some(runs))
}

/// Whether the drawing would take the place of what is drawn.
fn is_input(out: &Path, file: &Path) -> bool {
    let place = |path: &Path| fs::canonicalize(path).ok();
    place(out).is_some_and(|out| Some(out) == place(file))
}

/// The most bytes that are read: far more than can be drawn, far less than would fill the memory.
const MOST_BYTES: u64 = 256 << 20;

/// The name of the input and all of it, without the compression that it may have.
fn read(args: &Args) -> miette::Result<(String, Vec<u8>)> {
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    let (name, input): (String, Box<dyn BufRead + Send>) = if path.as_os_str() == "-" {
        ("<stdin>".to_owned(), Box::new(BufReader::new(io::stdin())))
    } else {
        let name = path.display().to_string();
        let file = File::open(path)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {name}"))?;
        (name, Box::new(BufReader::new(file)))
    };
    let mut bytes = Vec::new();
    decompressed(input)
        .and_then(|input| input.take(MOST_BYTES + 1).read_to_end(&mut bytes))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {name}"))?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = MOST_BYTES >> 20;
        return Err(miette::miette!(
            "{name} holds more than {most} MiB, too much to draw; lint judges it"
        ));
    }
    Ok((name, bytes))
}

/// The position of the run of this number, which names the others where the drawing has no room for them.
fn choose(runs: &mut [Run], number: usize, drawing: Drawing) -> miette::Result<usize> {
    let count = runs.len();
    if !(1..=count).contains(&number) {
        return Err(miette::miette!(
            "there is no run {number}: the file holds {count}"
        ));
    }
    if drawing != Drawing::Html {
        let others: Vec<String> = (1..)
            .zip(&*runs)
            .filter(|(other, _)| *other != number)
            .map(|(other, run)| {
                format!(
                    "--run {other} draws {} ({} steps)",
                    run.title,
                    run.steps.len()
                )
            })
            .collect();
        runs[number - 1].remarks.extend(others);
    }
    Ok(number - 1)
}
