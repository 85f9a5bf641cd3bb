//! `countersign diff aaep --http URL`: a running producer, driven over HTTP in real time.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use countersign_conform::driven::Ended;
use countersign_live::client::{Convention, Played, Script, Settings, drive, head, lacks};
use countersign_live::recorder::Url;
use miette::{Context, IntoDiagnostic, miette};

use super::diff::{Args, against, known, words};
use super::is_base;
use super::serve::bearer_token;
use crate::answer::{Answer, ReportFormat};
use crate::arguments::Protocol;
use crate::differing::live::{keep, worth_again};
use crate::differing::{Part, Report};
use crate::progress::Progress;

/// What the agent is asked, where nothing is said: one task each, two that need a confirmation, and all at once.
const PROMPTS: [&str; 5] = [
    "Transfer 500 dollars from checking to savings.",
    "Leave a note in the record.",
    "Change a setting.",
    "Look up the balance, then say what it is.",
    "Look up the balance, change a setting, transfer 500 dollars to savings, and leave a note.",
];

/// How a running producer is reached.
#[derive(Debug, Clone, clap::Args)]
pub struct Reached {
    /// Speak this convention: specification, examples, suite or FILE [default: each]
    #[arg(long, value_name = "NAME|FILE.toml", requires = "http")]
    pub convention: Option<String>,

    /// Wait at most SECONDS for a question, a timeout or the end of a session
    #[arg(long, value_name = "SECONDS", requires = "http", default_value_t = 60)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub max_wait: u64,

    /// Send the bearer token that is the one line of this file
    #[arg(long, value_name = "FILE", requires = "http")]
    pub bearer_token_file: Option<PathBuf>,

    /// Start the producer anew for each run by the rest of the line
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "http",
        conflicts_with = "command"
    )]
    #[arg(num_args = 1.., allow_hyphen_values = true)]
    pub spawn: Vec<OsString>,
}

/// How a running producer is driven.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Over HTTP (aaep)")]
pub struct HttpArgs {
    /// Test the AAEP producer that runs there, in real time
    #[arg(long, value_name = "URL", conflicts_with_all = ["runs", "seconds", "seed", "run", "shard", "controls", "timeout"])]
    pub http: Option<Url>,

    /// How it is reached
    #[command(flatten)]
    pub reached: Reached,

    /// Prompt the agent with this (may be repeated) [default: five prompts]
    #[arg(long, value_name = "TEXT", requires = "http")]
    pub prompt: Vec<String>,

    /// Play this script and no other (may be repeated)
    #[arg(long, value_name = "NAME", requires = "http", value_parser = one_of(Script::ALL, Script::name))]
    pub script: Vec<Script>,
}

/// The convention of that name, or what the file says.
fn convention(given: &str) -> miette::Result<Convention> {
    if let Some(named) = Convention::named(given) {
        return Ok(named);
    }
    if Path::new(given).extension().is_none_or(|it| it != "toml") {
        let names = Convention::NAMES.join(", ");
        return Err(miette!(
            "--convention {given}: expected {names}, or a file whose name ends in .toml"
        ));
    }
    let text = fs::read_to_string(given).into_diagnostic();
    let text = text.wrap_err_with(|| format!("--convention: cannot read {given}"))?;
    let read = text.parse::<Convention>();
    read.map_err(|fault| miette!("--convention: {given}:{fault}"))
}

/// Takes the name of one of these.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.map(name)).try_map(move |given| {
        let mut all = all.into_iter();
        all.find(|it| name(*it) == given).ok_or("no such name")
    })
}

/// Drives the producer.
///
/// # Errors
///
/// Where it cannot be started or reached, a file cannot be read, or a recording not be kept.
pub fn run(args: &Args, url: &Url, format: ReportFormat) -> miette::Result<Answer> {
    let HttpArgs {
        reached,
        prompt,
        script,
        ..
    } = &args.over_http;
    if args.protocol != Protocol::Aaep {
        return Err(miette!(
            "--http is for aaep alone: neither text of the others says how it travels"
        ));
    }
    let baseline = known(args, "aaep")?;
    let prompts = if prompt.is_empty() {
        PROMPTS.map(str::to_owned).to_vec()
    } else {
        prompt.clone()
    };
    let keep = |run: &Played, n| keep(run, n, &args.save);
    let report = reported(reached, url, (prompts, script), args.strict, keep)?;
    Ok(against(args, baseline.as_ref(), report)?.answer(format, args.all))
}

/// Plays a run again that was kept.
///
/// # Errors
///
/// Where the recording does not say what was played, or the producer cannot be started or reached.
pub fn replay(
    file: &Path,
    url: &Url,
    reached: &Reached,
    format: ReportFormat,
) -> miette::Result<Answer> {
    let shown = file.display();
    let kept = File::open(file).map(BufReader::new).into_diagnostic();
    let kept = kept.wrap_err_with(|| format!("cannot read {shown}"))?;
    let (script, prompt) = head(kept).ok_or_else(|| {
        miette!(
            "{shown} does not begin with what was played: it is no run that `diff --http` has kept"
        )
    })?;
    let as_kept = |_: &Played, _| Ok(file.to_owned());
    let report = reported(reached, url, (vec![prompt], &[script]), false, as_kept)?;
    Ok(report.answer(format, true))
}

/// The report on what is played; `keep` has the file of each run that shows something.
fn reported(
    reached: &Reached,
    url: &Url,
    (prompts, scripts): (Vec<String>, &[Script]),
    strict: bool,
    keep: impl Fn(&Played, usize) -> io::Result<PathBuf>,
) -> miette::Result<Report> {
    is_base("--http", url)?;
    let start = Instant::now();
    let token = reached.bearer_token_file.as_deref();
    let chosen = reached.convention.as_deref();
    let settings = Settings {
        url: url.clone(),
        convention: chosen.map(convention).transpose()?,
        spawn: (!reached.spawn.is_empty()).then(|| reached.spawn.clone()),
        bearer_token: token.map(bearer_token).transpose()?,
        max_wait: Duration::from_secs(reached.max_wait),
        prompts,
        scripts: scripts.to_vec(),
    };
    let progress = Progress::counting("driving", "runs");
    let mut done = 0;
    let mut worth_again = worth_again();
    let played = drive(&settings, |run| {
        done += 1;
        progress.at(done);
        worth_again(run)
    });
    let played = played.map_err(|trouble| miette!("--http {url}: {trouble}"));
    let (played, is_stopped) = played?;
    drop(progress);
    let again = |run: &Played| again(reached, url, run);
    let lacks = |clause| lacks(clause, &settings, &played);
    let part = Part {
        is_whole: scripts.is_empty(),
        strict,
        time: Some(start.elapsed()),
        ended: is_stopped.then_some(Ended::Stopped),
        ..Part::whole(0)
    };
    let report = Report::live(&played, keep, part, again, lacks);
    report.into_diagnostic().wrap_err("cannot keep a recording")
}

/// The command line that plays a run once more.
fn again(reached: &Reached, url: &Url, run: &Played) -> String {
    let option = |name: &str, value: String| [format!("--{name}"), value];
    let mut line = vec![
        "countersign".to_owned(),
        "diff".to_owned(),
        "aaep".to_owned(),
    ];
    line.extend(option("http", url.to_string()));
    line.extend(option("script", run.script.name().to_owned()));
    line.extend(option("prompt", run.prompt.clone()));
    line.extend(option("max-wait", reached.max_wait.to_string()));
    if let Some(convention) = &reached.convention {
        line.extend(option("convention", convention.clone()));
    }
    if let Some(file) = &reached.bearer_token_file {
        line.extend(option("bearer-token-file", file.display().to_string()));
    }
    let mut line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
    if !reached.spawn.is_empty() {
        line.push("--spawn".into());
        line.extend(reached.spawn.iter().cloned());
    }
    words(&line)
}
