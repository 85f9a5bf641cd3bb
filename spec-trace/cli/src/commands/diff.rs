//! `countersign diff`: an implementation in any language, under the judge of its protocol.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ValueEnum as _;
use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::driven::{Divergence, Driven, Run, Search};
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::Suited;
use countersign_driver::Protocol as _;
use miette::{Context, IntoDiagnostic, miette};

use crate::answer::{Answer, Format};
use crate::arguments::Protocol;
use crate::differing::{self, Report};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  countersign diff pending-action -- python3 ledger.py
  countersign diff mcp-aql --seconds 60 --seed 7 -- node gatekeeper.js --strict
  countersign diff aaep --runs 2000 --format json -- ./producer
  countersign diff pending-action --run divergences/found-PA-8.json -- python3 ledger.py
  countersign diff pending-action -- countersign serve pending-action --stdio

COMMAND speaks the driver protocol: one JSON request a line on stdin, one response a line on stdout;
the help of `serve` has the requests, and `schema driver` every message. What it does not declare
in `supports` is not asked of it, and what it does not declare in `shows` is not judged. It is
asked in the short runs of the suite, which are derived from the model and not counted, and then in
random runs until --runs or --seconds. The shortest run that was found to break a clause is told,
once a clause, and kept as a file, which --run plays again.

A clause is `upholds` where nothing was wrong by it and another answer would have been, `violates`
where something was, `unsupported` where the implementation declares too little for it, and
`not-exercised` where no answer in these runs could have been wrong by it: which is no pass.

Exit status: 1 if a clause is violated (a SHOULD only warns); 2 if COMMAND could not be started or
does not greet; 3 if no clause was exercised, or it could not do what every implementation has to;
else 0. Whatever it does afterwards (it dies, hangs, floods, writes what is no answer) is told as a
divergence from the driver protocol, with its last words.";

/// Drives an implementation, and tells the shortest runs in which it does not do what the rules say
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol that it speaks
    #[arg(value_enum)]
    pub protocol: Protocol,

    /// Play so many runs [default: 500, or without end where --seconds is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,

    /// Play runs for so long
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,

    /// The seed of the first run; each further run has the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Play this run, as a divergence keeps it, and no other (may be repeated)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "seconds", "seed"])]
    pub run: Vec<PathBuf>,

    /// Wait for each response so many seconds
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// Keep the runs that show something in this folder
    #[arg(long, value_name = "DIR", default_value = "divergences")]
    pub save: PathBuf,

    /// The implementation: a program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Drives the implementation.
///
/// # Errors
///
/// Where it cannot be started or does not greet, or a run cannot be read or kept.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    match args.protocol {
        Protocol::PendingAction => drive::<PendingActionDriver>(args, format),
        Protocol::McpAql => drive::<McpAqlDriver>(args, format),
        Protocol::Aaep => drive::<AaepDriver>(args, format),
    }
}

fn drive<D: Suited>(args: &Args, format: Format) -> miette::Result<Answer> {
    let process = Process::new(args.command.clone(), Duration::from_secs(args.timeout));
    let partner = Greeted::new(process).map_err(|lost| {
        let command = words(&args.command);
        miette!("{command} does not greet as the driver protocol has it: {lost}")
    })?;
    let unseen: Vec<_> = D::NEEDED
        .iter()
        .filter(|it| !partner.greeting().shows(**it))
        .collect();
    if let Some(unseen) = unseen.first() {
        let (name, protocol) = (&partner.greeting().name, D::Protocol::NAME);
        return Err(miette!(
            "{name} does not show {}, without which {protocol} is not judged",
            serde_json::json!(unseen)
        ));
    }
    let mut search = Search::<D, _>::new(partner);
    if args.run.is_empty() {
        search.suite();
        play_seeds(args, &mut search);
    } else {
        for file in &args.run {
            search.play(&read::<D>(file)?, args.seed);
        }
    }
    let files = search
        .divergences
        .iter()
        .map(|found| keep(found, &args.save))
        .collect::<miette::Result<Vec<_>>>()?;
    let report = Report::of(&search, args.seed, &files, |file| again(args, file));
    Ok(match format {
        Format::Text => differing::text(&report),
        Format::Json => differing::json(&report),
    })
}

/// So many runs are played where nothing is said.
const RUNS: u64 = 500;

fn play_seeds<D: Driven>(args: &Args, search: &mut Search<D, Process>) {
    let runs = match (args.runs, args.seconds) {
        (Some(runs), _) => runs,
        (None, Some(_)) => u64::MAX,
        (None, None) => RUNS,
    };
    let seconds = args.seconds.map_or(Duration::MAX, Duration::from_secs);
    let progress = if runs == u64::MAX {
        Progress::counting("driving", "runs")
    } else {
        Progress::of(runs, "driving", "runs")
    };
    let start = Instant::now();
    while search.runs < runs && start.elapsed() < seconds {
        search.seeded(args.seed.wrapping_add(search.runs));
        progress.at(search.runs);
    }
}

fn read<D: Driven>(file: &Path) -> miette::Result<Run<D>> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {shown}"))?;
    let run: Run<D> = serde_json::from_str(&text)
        .into_diagnostic()
        .wrap_err_with(|| format!("{shown} is no run of {}", D::Protocol::NAME))?;
    if run.protocol == D::Protocol::NAME {
        Ok(run)
    } else {
        let (is, wanted) = (&run.protocol, D::Protocol::NAME);
        Err(miette!("{shown} is a run of {is}, not of {wanted}"))
    }
}

fn keep<D: Driven>(found: &Divergence<D>, folder: &Path) -> miette::Result<PathBuf> {
    found
        .keep(folder)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot keep a run in {}", folder.display()))
}

/// The command line that plays a kept run once more.
fn again(args: &Args, file: &Path) -> String {
    let protocol = args.protocol.to_possible_value();
    let protocol = protocol.as_ref().map_or("", |it| it.get_name());
    format!(
        "countersign diff {protocol} --run {} -- {}",
        file.display(),
        words(&args.command)
    )
}

/// A command as a shell takes it.
fn words(command: &[OsString]) -> String {
    let word = |word: &OsString| {
        let word = word.to_string_lossy().into_owned();
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=:,+@%".contains(it);
        if !word.is_empty() && word.chars().all(is_plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}
