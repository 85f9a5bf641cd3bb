//! `countersign lint`: recorded streams, judged.

mod follow;

use std::collections::BTreeSet;
use std::path::PathBuf;

use countersign_lint::baseline::Baseline;
use countersign_lint::envelope::{self, How, Opened};
use countersign_lint::input::{Meter, Source, length, sources};
use countersign_lint::judged::JUDGED;
use countersign_lint::protocol::Protocol as Recorded;
use countersign_lint::report::{LintReport, Outcome, Unreadable};
use countersign_lint::selection::{Selection, parse_clause, parse_time};
use countersign_lint::stream::Settings;
use countersign_lint::time::Timestamp;
use countersign_lint::transcript::judge_transcript;
use miette::IntoDiagnostic;

use super::diff::said;
use crate::answer::{Answer, FindingsFormat};
use crate::arguments::{Protocol, StreamFormat};
use crate::findings::render;
use crate::progress::Progress;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Examples:
  countersign lint capture.jsonl
  countersign lint captures/ extra.jsonl.gz        a folder, and one file more
  producer | countersign lint --follow -           each result once it is final
  countersign lint captures/ --only AAEP-6.4.1-1   one clause, or a section
  countersign lint events.sse --replies-from replies.jsonl
  countersign lint app.log --message /payload --time /ts
  countersign lint captures/ --baseline known.json     fails on new violations
  countersign lint captures/ --format sarif --redact > lint.sarif

lint reads JSON Lines and other JSON, server-sent events, HTTP archives,
container logs and CloudEvents, plain or with gzip, and transcripts of MCP-AQL
and of pending actions. spec-trace/docs/RECORDINGS.md describes the formats and
what each of them shows.

A recording of AAEP is what it seems: each reply was sent by whom it names, all
replies are there if one is, and a producer that goes on right behind a reply
goes on with that reply. A violation that rests on this says so (assumes).
--assume says otherwise; what is left is possible. One record may say it, too:
  {\"dir\":\"in\",\"sender\":\"known\",\"message\":{\"type\":\"confirmation.reply\",...}}
  {\"type\":\"countersign.recording\",\"replies\":\"all\",\"order\":\"receipt\"}

Exit status, the first that applies: 1 a violation; 2 an input that is
unreadable, damaged or no recording; 3 a possible violation, a recording that
ends too early, or a clause of --only of which nothing shows; 0 everything
conforms.";

/// What does not go with a stream that is still written.
const FOLLOWED: [&str; 3] = ["replies_from", "baseline", "write_baseline"];

/// Check recordings of a system against a protocol
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Recordings; - is standard input, a folder all *.jsonl and *.ndjson in it
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,

    /// Say the protocol of the recordings; else their content tells
    #[arg(long, value_enum)]
    pub protocol: Option<Protocol>,

    /// Where the messages stand
    #[command(flatten)]
    pub format: StreamFormat,

    /// Read the replies from this file, and order them between the events by time
    #[arg(long, value_name = "FILE")]
    pub replies_from: Option<PathBuf>,

    /// Print each result once it is final, while the recording is written
    ///
    /// The recording is read by line: a pipe to its end, a file until it is removed
    /// or replaced. Ctrl-C ends with the verdict so far.
    #[arg(long, conflicts_with_all = FOLLOWED)]
    pub follow: bool,

    /// Check this session only (may be repeated)
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,

    /// Print results from this time (RFC 3339) on
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub since: Option<Timestamp>,

    /// Check this clause or section only (may be repeated)
    #[arg(long, value_name = "CLAUSE", value_parser = parse_clause)]
    pub only: Vec<String>,

    /// Count warnings (SHOULD, MAY, clauses of the appendix alone) as violations
    #[arg(long)]
    pub strict: bool,

    /// Take a recording for less, or for more, than it seems (may be repeated)
    #[arg(long, value_name = "WHAT", value_enum)]
    pub assume: Vec<Assume>,

    /// The old spelling of `--assume all-replies`
    #[arg(long, value_enum, default_value_t, hide = true)]
    pub replies: Replies,

    /// Fail on violations that are not in this file
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Write the violations to this file; those of --baseline keep their reasons
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session", "since", "only"])]
    pub write_baseline: Option<PathBuf>,

    /// Why the new violations of --write-baseline are left as they are
    #[arg(long, value_name = "TEXT", requires = "write_baseline", value_parser = said)]
    pub reason: Option<String>,

    /// Print every result in full, not the first 40 lines of each recording
    #[arg(long)]
    pub all: bool,

    /// Quote nothing of the recordings: no token, id, prompt or other text
    #[arg(long)]
    pub redact: bool,
}

/// What is assumed of a recording of AAEP, against what it seems: each reply was sent by whom it names, all replies are there if one is,
/// and a producer that goes on right behind a reply goes on with that reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Assume {
    /// A sender may be a stranger, unless its record says "sender"
    UnknownSenders,
    /// Replies may be missing, also where some are there
    PartialReplies,
    /// All replies are there, also where there is none
    AllReplies,
    /// A clarification may be withdrawn without a word
    UnsaidWithdrawals,
}

/// Which replies a stream holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Replies {
    /// All that were sent, if it holds one; else they may not be recorded.
    #[default]
    Found,
    /// All that were sent.
    All,
}

impl Args {
    /// Judges this input with everything else as it is by default.
    pub fn of(input: impl Into<PathBuf>) -> Self {
        Self {
            inputs: vec![input.into()],
            ..Self::default()
        }
    }

    /// What is assumed.
    fn settings(&self) -> miette::Result<Settings> {
        let assumes = |what| self.assume.contains(&what);
        let settings = Settings {
            strict: self.strict,
            replies_recorded: assumes(Assume::AllReplies) || self.replies == Replies::All,
            partial_replies: assumes(Assume::PartialReplies),
            unknown_senders: assumes(Assume::UnknownSenders),
            unsaid_withdrawals: assumes(Assume::UnsaidWithdrawals),
            ..Settings::default()
        };
        if settings.replies_recorded && settings.partial_replies {
            return Err(miette::miette!(
                help = "leave one of them out",
                "--assume all-replies contradicts --assume partial-replies"
            ));
        }
        Ok(settings)
    }

    fn selection(&self, protocol: Recorded) -> Selection {
        Selection {
            sessions: self.session.clone(),
            since: self.since,
            only: self.only.clone(),
            judged: judged(protocol),
        }
    }

    /// The protocol of a recording that begins like this.
    fn protocol_of(&self, start: &[u8], how: &How) -> Recorded {
        match self.protocol {
            Some(Protocol::Aaep) => Recorded::Aaep,
            Some(Protocol::McpAql) => Recorded::McpAql,
            Some(Protocol::PendingAction) => Recorded::PendingAction,
            None => envelope::protocol(start, how).unwrap_or(Recorded::Aaep),
        }
    }
}

/// Reads and judges the streams.
///
/// # Errors
///
/// When the baseline cannot be read or written; for people, also when the one input is missing, cannot be opened, or is a
/// folder without streams. Broken content is a verdict, not an error. What cannot be read is told with the rest, and programs
/// get their document also where there is no rest.
pub fn run(args: &Args, format: FindingsFormat) -> miette::Result<Answer> {
    if args.follow {
        return follow::follow(args, format);
    }
    let known = args
        .baseline
        .as_deref()
        .map(Baseline::read)
        .transpose()
        .into_diagnostic()?;
    let how = args.format.how()?;
    let settings = args.settings()?;
    let mut outcome = judge_all(args, settings, &how)?;
    if let (FindingsFormat::Text, [], [unreadable]) =
        (format, &*outcome.reports, &*outcome.unreadable)
    {
        let Unreadable { file, error } = unreadable;
        return Err(miette::miette!("cannot read {file}: {error}"));
    }
    if let Some(known) = &known {
        let missing = known.apply(&mut outcome.reports);
        if is_whole(args, &outcome) {
            outcome.vanished = missing;
        }
    }
    if let Some(path) = &args.write_baseline {
        let baseline = Baseline::of(&outcome.reports);
        let mut baseline = baseline.because(known.as_ref(), args.reason.as_deref());
        baseline.apply(&mut outcome.reports);
        if args.redact {
            baseline.redact();
        }
        baseline.write(path).into_diagnostic()?;
    }
    if args.redact {
        outcome.redact();
    }
    let terminal = Terminal::of_stdout();
    Ok(render(&outcome, format, args.all, terminal))
}

/// What is said of a file that holds no recording, where nothing of it may be quoted.
const WITHHELD: &str =
    "it is no such recording; what stands in it is withheld, and told without --redact";

/// What is said of such a file: this, or that it is withheld.
pub(crate) fn unless_withheld(error: String, redact: bool) -> String {
    if redact { WITHHELD.to_owned() } else { error }
}

/// The clauses of a protocol that some monitor judges.
fn judged(protocol: Recorded) -> BTreeSet<&'static str> {
    let clauses = countersign_clauses::all().iter();
    clauses
        .filter(|clause| clause.protocol == protocol.name())
        .map(|clause| clause.id.as_str())
        .filter(|id| JUDGED.contains(id))
        .collect()
}

fn judge_all(args: &Args, settings: Settings, how: &How) -> miette::Result<Outcome> {
    let replies = args.replies_from.as_slice();
    let named = args.inputs.iter().chain(replies);
    if named.filter(|it| it.as_os_str() == "-").count() > 1 {
        return Err(miette::miette!("standard input can be read only once"));
    }
    if let Some(folder) = replies.iter().find(|it| it.is_dir()) {
        return Err(miette::miette!(
            "--replies-from takes one file, and {} is a folder",
            folder.display()
        ));
    }
    let (sources, unreadable) = sources(&args.inputs);
    if !replies.is_empty() && sources.len() != 1 {
        return Err(miette::miette!(
            "--replies-from belongs to one stream, and here are {}",
            sources.len()
        ));
    }
    let (replies, _) = countersign_lint::input::sources(replies);
    let progress = Progress::of_bytes(length(&sources), "judging");
    let told = |read| progress.at(read);
    let meter = Meter::new(&told);
    let mut outcome = Outcome {
        single: matches!(args.inputs.as_slice(), [input] if !input.is_dir()),
        reports: Vec::new(),
        unreadable,
        vanished: Vec::new(),
    };
    for source in &sources {
        let read = judge(source, replies.first(), &meter, how, (args, settings));
        match read {
            Ok(report) => outcome.reports.push(report),
            Err(unreadable) => outcome.unreadable.push(unreadable),
        }
    }
    Ok(outcome)
}

fn judge(
    source: &Source,
    replies: Option<&Source>,
    meter: &Meter<'_>,
    how: &How,
    (args, settings): (&Args, Settings),
) -> Result<LintReport, Unreadable> {
    let unreadable = |source: &Source, error: String| Unreadable {
        file: source.name(),
        error,
    };
    // What is said of what stands in it may quote it.
    let unfit =
        |source: &Source, error: String| unreadable(source, unless_withheld(error, args.redact));
    let open = |source: &Source| {
        let stream = source.open(meter);
        stream.map_err(|error| unreadable(source, error.to_string()))
    };
    let mut opened = Opened::new(open(source)?, how);
    let protocol = args.protocol_of(opened.start(), how);
    let selection = args.selection(protocol);
    if protocol != Recorded::Aaep {
        let option = match (replies, args.replies, &*args.assume) {
            (Some(_), _, _) => Some("--replies-from"),
            (None, Replies::All, _) => Some("--replies"),
            (None, Replies::Found, [_, ..]) => Some("--assume"),
            (None, Replies::Found, []) => None,
        };
        if let Some(option) = option {
            let name = protocol.name();
            let error =
                format!("{option} is for streams of AAEP, and this is a recording of {name}");
            return Err(unreadable(source, error));
        }
        let name = source.name();
        return judge_transcript(opened, protocol, &name, args.strict, &selection)
            .map_err(|error| unfit(source, error.to_string()));
    }
    if let Some(replies) = replies {
        let of_replies = Opened::of_replies(open(replies)?, how);
        opened = opened.joined(of_replies.map_err(|error| unfit(replies, error.to_string()))?);
    }
    let names = (
        &*source.name(),
        &*replies.map(Source::name).unwrap_or_default(),
    );
    countersign_lint::judge_opened(opened, names, settings, &selection)
        .map_err(|error| unfit(source, error.to_string()))
}

/// Whether everything was judged, so that what was not found is not there any more.
fn is_whole(args: &Args, outcome: &Outcome) -> bool {
    args.selection(Recorded::Aaep).is_everything()
        && outcome.unreadable.is_empty()
        && outcome.reports.iter().all(|report| report.damage.is_none())
}
