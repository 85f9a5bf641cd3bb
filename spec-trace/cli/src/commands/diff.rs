//! `countersign diff`: an implementation in any language, under the judge of its protocol.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum as _;
use countersign_conform::driven::{Ended, Run, Search, Taken};
use countersign_conform::implementation::{Greeted, Implementation, Process};
use countersign_conform::side_by_side::{processors, side_by_side};
use countersign_conform::spoken::{Producer, Spoken, Wire, ablated, readings, unseen};
use countersign_lint::baseline::Baseline;
use countersign_live::http;
use countersign_model::aaep::Aaep;
use countersign_model::facade::Rule;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::Greeting;
use miette::{Context, IntoDiagnostic, miette};

use super::diff_http::{self, HttpArgs};
use super::init::{self, Language};
use super::smoke::{self, Stray};
use crate::answer::{Answer, Format, ReportFormat};
use crate::arguments::Protocol;
use crate::differing::saved::Saved;
use crate::differing::{Controlled, Part, Report, binds};
use crate::progress::Progress;
use crate::serve::controls::{Control, Controlled as Against, Referred};
use crate::spec_file::Changes;

const EXAMPLES: &str = "\
Examples:
  countersign diff mcp-aql --init python > adapter.py    an adapter to fill in
  countersign diff mcp-aql --preflight -- python3 adapter.py
  countersign diff mcp-aql -- python3 adapter.py
  countersign diff mcp-aql --seconds 60 --seed 7 -- node gatekeeper.js --strict
  countersign diff aaep --runs 8000 --shard 2/4 --format junit -- ./producer
  countersign diff aaep --controls --format html -- ./producer
  countersign diff mcp-aql --write-baseline known.json --reason '#12' -- ./mine
  countersign diff mcp-aql --baseline known.json -- ./mine
  countersign diff mcp-aql --run divergences/found-AQL-4.1-3.json -- ./mine
  countersign diff pending-action --reading expiry-boundary=after -- ./ledger
  countersign diff pending-action -- countersign serve pending-action --stdio
  countersign diff aaep --http http://127.0.0.1:8080
  countersign diff aaep --http http://127.0.0.1:8080 --convention own.toml

COMMAND speaks the driver protocol (spec-trace/docs/DRIVER.md): one JSON request
a line on stdin, one response a line on stdout. diff plays the suite, then
random runs until --runs or --seconds. It asks only what COMMAND declares in
`supports`, and judges only what it declares in `shows`. The shortest run for
each root cause is printed and saved; --run plays it again.

A clause is
  upholds          no answer was wrong by it, and another would have been
  violates         an answer was wrong by it
  host-must-guard  it holds unless the host hands an old state back
  unsupported      COMMAND does not declare what the clause is about, or its
                   reading of the text leaves nothing to see
  not-exercised    no answer could have been wrong by it: not a pass

Only root causes count. The first wrong step of a run is evidence; other clauses
that break with it or behind it are follow-on errors, listed and not counted. A
divergence is identified by its clause. With --baseline a divergence that is not
listed fails, and a listed one that is gone is reported.

A hang stops the search. Ctrl-C and SIGTERM stop it within 2 s, with the report
so far. Each divergence is saved when it is found. A complete search removes
saved files of an earlier one that it did not find again.

--controls first drives implementations that are wrong on purpose: `null` (no
output), `allow-all`, `deny-all`, and the model without each rule that a run of
the suite shows. Each must be caught. The JSON says why a rule has no control.

A default decision that the text only recommends (6.4.1) is the choice of the
caller of `confirm`: diff does not judge it. `lint` warns of it.

Exit status: 1 a violation that is not in the baseline (a SHOULD with --strict);
2 COMMAND does not start or does not answer `hello`, or --save cannot be
written; 3 a MUST that COMMAND declares was not exercised, a control was not
caught, a run was not judged to its end, or the search was stopped; else 0. A
crash, a flood or a malformed answer later on is a divergence from the driver
protocol.";

/// Drives an implementation, and tells the shortest runs in which it does not do what the rules say
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol that COMMAND speaks
    #[arg(value_enum)]
    pub protocol: Protocol,

    /// Play N random runs after the suite [default: 500; no end with --seconds]
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,

    /// Play random runs for S seconds
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub seconds: Option<u64>,

    /// Seed of the first run; each further run has the next
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Play this saved run and no other (may be repeated)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "seconds", "seed"])]
    pub run: Vec<PathBuf>,

    /// Play part I of N of the random runs
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with = "run")]
    pub shard: Option<(u64, u64)>,

    /// First drive implementations that are wrong on purpose
    #[arg(long)]
    pub controls: bool,

    /// Fail on violations that are not in this file
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub baseline: Option<PathBuf>,

    /// Write the violations to this file; those of --baseline keep their reasons
    #[arg(long, value_name = "FILE", conflicts_with_all = ["run", "shard"])]
    pub write_baseline: Option<PathBuf>,

    /// Reason for the new violations of --write-baseline
    #[arg(long, value_name = "TEXT", requires = "write_baseline", value_parser = said)]
    pub reason: Option<String>,

    /// Take readings and numbers from this file; `spec` prints one
    #[arg(long, value_name = "FILE", conflicts_with_all = ["http", "controls"])]
    pub spec: Option<PathBuf>,

    /// Choose a reading of an ambiguous clause (may be repeated)
    #[arg(long = "reading", value_name = "NAME=VALUE", conflicts_with_all = ["http", "controls"])]
    pub readings: Vec<String>,

    /// Count warnings (SHOULD, MAY) as violations
    #[arg(long)]
    pub strict: bool,

    /// Print every divergence in full, not the first 40 lines
    #[arg(long)]
    pub all: bool,

    /// Stop at the first violation that is not in the baseline
    #[arg(long, conflicts_with = "http")]
    pub fail_fast: bool,

    /// Wait S seconds for each response
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// Save the run of each divergence in this folder
    #[arg(long, value_name = "DIR", default_value = "divergences")]
    pub save: PathBuf,

    /// Check only that the adapter speaks the driver protocol
    #[arg(long, conflicts_with_all = ["runs", "seconds", "seed", "run", "shard", "controls", "baseline", "write_baseline", "spec", "readings", "save", "http"])]
    pub preflight: bool,

    /// Print an adapter skeleton in this language
    #[arg(long, value_name = "LANGUAGE", value_enum, conflicts_with_all = ["command", "http", "preflight"])]
    pub init: Option<Language>,

    /// How a running producer is driven
    #[command(flatten)]
    pub over_http: HttpArgs,

    /// What stands where `--` is missing
    #[command(flatten)]
    pub stray: Stray,

    /// The implementation: a program and its arguments
    #[arg(
        last = true,
        required_unless_present_any = ["http", "init"],
        conflicts_with = "http",
        value_name = "COMMAND"
    )]
    pub command: Vec<OsString>,
}

/// Drives the implementation.
///
/// # Errors
///
/// Where it cannot be started or does not greet, or a run cannot be read or kept.
pub fn run(args: &Args, format: ReportFormat) -> miette::Result<Answer> {
    if let Some(language) = args.init {
        return Ok(init::adapter(args.protocol, language));
    }
    if args.preflight {
        let args = smoke::Args {
            protocol: args.protocol,
            timeout: args.timeout,
            stray: Stray::default(),
            command: args.command.clone(),
        };
        return smoke::run(&args, preflight_format(format)?);
    }
    if let Some(url) = &args.over_http.http {
        return diff_http::run(args, url, format);
    }
    match args.protocol {
        Protocol::PendingAction => drive::<PendingAction>(args, format),
        Protocol::McpAql => drive::<McpAql>(args, format),
        Protocol::Aaep => drive::<Aaep>(args, format),
    }
}

fn preflight_format(format: ReportFormat) -> miette::Result<Format> {
    match format {
        ReportFormat::Text => Ok(Format::Text),
        ReportFormat::Json => Ok(Format::Json),
        ReportFormat::Junit | ReportFormat::Sarif | ReportFormat::Html => {
            Err(miette!("--preflight prints `text` or `json`"))
        }
    }
}

fn drive<P: Referred>(args: &Args, format: ReportFormat) -> miette::Result<Answer> {
    let start = Instant::now();
    let stop = stop_on_signal();
    let baseline = known(args, P::NAME)?;
    let saved = Saved::within(&args.save)?;
    let part = Part {
        shard: args.shard.unwrap_or((1, 1)),
        is_whole: args.run.is_empty(),
        strict: args.strict,
        ..Part::whole(args.seed)
    };
    let partner = match greeted::<P>(&args.command, args.timeout, &stop) {
        Err(_) if stop.load(Ordering::Relaxed) => {
            let (time, ended) = (Some(start.elapsed()), Some(Ended::Stopped));
            let part = Part {
                time,
                ended,
                ..part
            };
            let report = Report::of_nothing(P::NAME, words(&args.command), part);
            return Ok(report.answer(format, args.all));
        }
        partner => partner?,
    };
    is_judged::<P, _>(&partner)?;
    let controls = if args.controls {
        let controls = Control::ALL.map(Wrong::OnPurpose).into_iter();
        let controls: Vec<_> = controls.chain(ablated::<P>().map(Wrong::Without)).collect();
        let caught = |(): &mut (), control: &Wrong| control.caught::<P>(args.seed, &stop);
        let caught = side_by_side(processors(), &controls, || (), caught);
        let caught = caught.into_iter().collect::<miette::Result<Vec<_>>>()?;
        // Nothing is said of those whose search was stopped.
        let is_done = |it: &Controlled| it.clause.is_some() || !stop.load(Ordering::Relaxed);
        caught.into_iter().filter(is_done).collect()
    } else {
        Vec::new()
    };
    let mut search = if args.spec.is_none() && args.readings.is_empty() {
        Search::<P, _>::new(partner)
    } else {
        let readings = readings_by::<P>(args, partner.greeting())?;
        Search::taking(partner, readings)
    };
    search.binds = if args.strict { |_| true } else { binds };
    search.stop = stop;
    let saved = Rc::new(RefCell::new(saved));
    search.on_found = {
        let (saved, baseline, strict, fail_fast) = (
            Rc::clone(&saved),
            baseline.clone(),
            args.strict,
            args.fail_fast,
        );
        Box::new(move |found| {
            let is_saved = saved.borrow_mut().save(found);
            let weighs = strict || found.clauses().any(binds);
            let is_known = baseline
                .as_ref()
                .is_some_and(|it| it.knows(&found.identity()));
            is_saved && !(fail_fast && weighs && !is_known)
        })
    };
    if args.run.is_empty() {
        search.suite();
        play_seeds(args, &mut search);
    } else {
        for file in &args.run {
            if !search.is_over() {
                let run = read::<P>(file)?;
                let unasked = search.play(&run, args.seed);
                if unasked > 0 && search.divergences.is_empty() {
                    let (file, steps) = (file.display(), run.steps.len());
                    super::remark(
                        "note",
                        &format!(
                            "{file}: {unasked} of {steps} steps were not asked: what they name was never named, or its capability is not declared"
                        ),
                    );
                }
            }
        }
    }
    let is_complete = args.run.is_empty() && args.shard.is_none() && search.ended.is_none();
    let files = saved.borrow_mut().files(is_complete, P::NAME)?;
    let part = Part {
        time: Some(start.elapsed()),
        ..part
    };
    let report = Report::of(&search, part, &files, |file| again(args, file));
    let unseen: Vec<_> = unseen::<P>().filter(|_| args.controls).collect();
    let report = report.with_controls(controls, unseen);
    Ok(against(args, baseline.as_ref(), report)?.answer(format, args.all))
}

/// The baseline of `--baseline`.
pub(super) fn known(args: &Args, protocol: &str) -> miette::Result<Option<Baseline>> {
    let file = args.baseline.as_ref();
    file.map(|file| crate::differing::known(file, protocol))
        .transpose()
}

/// The report held against the baseline, and against the one that `--write-baseline` writes of it.
pub(super) fn against(
    args: &Args,
    baseline: Option<&Baseline>,
    mut report: Report,
) -> miette::Result<Report> {
    if let Some(baseline) = baseline {
        report = report.against(baseline);
    }
    if let Some(file) = &args.write_baseline {
        let written = report.baseline();
        let written = written.because(baseline, args.reason.as_deref());
        written.write(file).into_diagnostic()?;
        report = report.against(&written);
    }
    Ok(report)
}

/// Is set as soon as a signal asks the process to end: from now on none ends it by itself.
pub(super) fn stop_on_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let (waits, is_waited_for) = mpsc::channel();
    thread::spawn(move || {
        let tell = || waits.send(()).map_err(io::Error::other);
        if http::wait_for_end(tell).is_ok() {
            asked.store(true, Ordering::Relaxed);
        }
    });
    // Where signals cannot be waited for, one ends the process as ever.
    let _cannot = is_waited_for.recv();
    stop
}

/// The ways to take the text that a file and the readings named leave open.
fn readings_by<P: Spoken>(
    args: &Args,
    greeting: &Greeting<Wire<P>>,
) -> miette::Result<Vec<Taken<P>>> {
    let (file, reason) = (
        args.spec.as_deref(),
        "the judge of an implementation knows no rules to leave out",
    );
    let text = args.protocol.text();
    let changes = Changes::with_every_rule(text, file, &args.readings, reason)?;
    Ok(readings::<P>(greeting, &changes.pairs()))
}

/// The implementation that a command is, once it was greeted.
pub(super) fn greeted<P: Spoken>(
    command: &[OsString],
    timeout: u64,
    stop: &Arc<AtomicBool>,
) -> miette::Result<Greeted<Wire<P>, Process>> {
    let mut process = Process::new(command.to_vec(), Duration::from_secs(timeout));
    process.stop = Arc::clone(stop);
    Greeted::new(process).map_err(|lost| smoke::no_hello(command, &lost))
}

/// An error, where it does not show what is needed to judge it.
pub(super) fn is_judged<P: Spoken, I: Implementation<Wire<P>>>(
    partner: &Greeted<Wire<P>, I>,
) -> miette::Result<()> {
    let greeting = partner.greeting();
    let mut needed = P::NEEDED.iter();
    let Some(unseen) = needed.find(|it| !greeting.shows(**it)) else {
        return Ok(());
    };
    let (name, protocol) = (&greeting.name, P::NAME);
    Err(miette!(
        "{name} does not show {}, without which {protocol} is not judged",
        serde_json::json!(unseen)
    ))
}

/// A control that is to be caught.
enum Wrong {
    OnPurpose(Control),
    /// The text without this rule.
    Without(&'static Rule),
}

impl Wrong {
    fn caught<P: Referred>(&self, seed: u64, stop: &Arc<AtomicBool>) -> miette::Result<Controlled> {
        match self {
            Self::OnPurpose(control) => controlled::<P>(*control, seed, stop),
            Self::Without(rule) => without::<P>(rule, stop),
        }
    }
}

/// A control is given up on after so many runs.
const CONTROL_RUNS: u64 = 200;

/// Drives a control until it is caught.
fn controlled<P: Referred>(
    control: Control,
    seed: u64,
    stop: &Arc<AtomicBool>,
) -> miette::Result<Controlled> {
    let reference = P::reference(seed);
    let name = control.name();
    let greeted = Greeted::new(Against { control, reference });
    let greeted = greeted.map_err(|lost| miette!("the control {name} does not greet: {lost}"))?;
    let mut search = Search::<P, _>::new(greeted);
    search.stop = Arc::clone(stop);
    while search.divergences.is_empty() && search.runs < CONTROL_RUNS && !search.is_over() {
        search.seeded(seed.wrapping_add(search.runs));
    }
    Ok(caught(name.to_owned(), &search))
}

/// Drives the text without a rule in the runs of the suite that are there for it, until it is caught.
fn without<P: Spoken>(rule: &'static Rule, stop: &Arc<AtomicBool>) -> miette::Result<Controlled> {
    let name = format!("without {}", rule.name);
    let greeted = Greeted::new(Producer::<P>::without(rule));
    let greeted = greeted.map_err(|lost| miette!("the control {name} does not greet: {lost}"))?;
    let mut search = Search::<P, _>::new(greeted);
    // Nobody is shown the run, and the controls are driven side by side.
    search.stop = Arc::clone(stop);
    search.shrinking = Duration::ZERO;
    search.threads = 1;
    search.left_out(rule.name);
    Ok(caught(name, &search))
}

fn caught<P: Spoken, I: Implementation<Wire<P>>>(
    name: String,
    search: &Search<P, I>,
) -> Controlled {
    Controlled {
        name,
        clause: search.divergences.first().map(|it| it.finding().clause),
        runs: search.runs,
    }
}

/// The part of so many parts, counted from 1.
fn shard(text: &str) -> Result<(u64, u64), String> {
    let expected = || format!("{text:?}: expected I/N, such as 2/4, with I from 1 to N");
    let (part, parts) = text.split_once('/').ok_or_else(expected)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| expected());
    let (part, parts) = (number(part)?, number(parts)?);
    if (1..=parts).contains(&part) {
        Ok((part, parts))
    } else {
        Err(expected())
    }
}

/// A text that says something.
pub(super) fn said(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("it is blank".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// So many runs are played where nothing is said.
const RUNS: u64 = 500;

fn play_seeds<P: Spoken>(args: &Args, search: &mut Search<P, Process>) {
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
    let (part, parts) = args.shard.unwrap_or((1, 1));
    let mut next = part - 1;
    while next < runs && start.elapsed() < seconds && !search.is_over() {
        search.seeded(args.seed.wrapping_add(next));
        progress.at(next);
        let Some(following) = next.checked_add(parts) else {
            break;
        };
        next = following;
    }
}

pub(super) fn read<P: Spoken>(file: &Path) -> miette::Result<Run<P>> {
    let shown = file.display();
    let text = std::fs::read_to_string(file)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {shown}"))?;
    let run: Run<P> = serde_json::from_str(&text)
        .into_diagnostic()
        .wrap_err_with(|| format!("{shown} is no run of {}", P::NAME))?;
    if run.protocol == P::NAME {
        Ok(run)
    } else {
        let (is, wanted) = (&run.protocol, P::NAME);
        Err(miette!("{shown} is a run of {is}, not of {wanted}"))
    }
}

/// The command line that plays a kept run once more.
fn again(args: &Args, file: &Path) -> String {
    let protocol = args.protocol.to_possible_value();
    let protocol = protocol.as_ref().map_or("", |it| it.get_name());
    let spec = args.spec.as_ref();
    let spec = spec.map_or_else(String::new, |it| format!("--spec {} ", it.display()));
    let readings = args.readings.iter().map(|it| format!("--reading {it} "));
    let readings: String = readings.collect();
    format!(
        "countersign diff {protocol} {spec}{readings}--run {} -- {}",
        file.display(),
        words(&args.command)
    )
}

/// A command as a shell takes it.
pub(super) fn words(command: &[OsString]) -> String {
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
