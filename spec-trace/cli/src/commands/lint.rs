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
  countersign lint capture.jsonl                       one stream
  countersign lint captures/ extra.jsonl.gz            a folder with all below it, and one more
  producer | countersign lint -                        standard input
  producer | countersign lint --follow -               each finding as soon as it is final
  countersign lint captures/ --only AAEP-6.4.1-1       one clause; its beginning is a section
  countersign lint big.jsonl.gz --session sess_1 --since 2026-05-24T14:00:00Z
  countersign lint captures/ --write-baseline known.json
  countersign lint captures/ --baseline known.json     fails on what is new
  countersign lint captures/ --format sarif --redact > lint.sarif
  curl -N https://agent.example/events | countersign lint --follow -   server-sent events, live
  countersign lint capture.har                         events and replies of an HTTP archive
  countersign lint events.sse --replies-from replies.jsonl
  countersign lint app.log --message /payload --time /ts   messages within JSON of one's own
  countersign lint transcript.jsonl --protocol pending-action   requests and responses of a driver

Inputs compressed with gzip are told by their content, and so is the envelope: JSON Lines,
JSON arrays and other JSON, server-sent events, HTTP archives, container logs, CloudEvents.
spec-trace/docs/RECORDINGS.md describes each, and our own format.

Of MCP-AQL and of pending actions, transcripts of the driver protocol are judged: a request or a
response on each line; of MCP-AQL, entries of its log (6.4), too. The greeting tells the protocol,
or --protocol.
spec-trace/docs/RECORDINGS.md has the clauses that each form shows; the others are listed as not
judged. --session, --since, --only, --strict and the baselines hold of them, too; what is said here
of replies does not. --follow is for streams of AAEP alone.

A reply in a stream counts as received, from a sender that the transport knows and on an open
subscription: a stream shows neither. What rests on that alone is not judged, unless its record says
`\"sender\":\"known\"`. Where the transport turned it away, say so:
  {\"dir\":\"in\",\"http_status\":403,\"message\":{\"type\":\"confirmation.reply\",...}}
Where it let in who is not authenticated or names no open subscription, `\"sender\":\"stranger\"`;
where neither is known, `\"sender\":\"untold\"`.

That nobody replied is evidence only where replies are recorded: where one is, where a record says
so, as in the next line, or with --replies all.
  {\"type\":\"countersign.recording\",\"replies\":\"all\"}
With \"order\":\"receipt\" in it no reply explains a call before it; else one may be logged late.

In streams of AAEP, what would not be wrong were another fault mended stands under that, as its
consequence.

Exit status: 1 if any stream violates (whatever else went wrong); else 2 if an input could not be
read, not to its end, or is no recording of the protocol; else 3 if a verdict is open: the stream
ends too early, or nothing of a clause or section that was asked for could be judged; else 0.";

/// What does not go with a stream that is still written.
const FOLLOWED: [&str; 3] = ["replies_from", "baseline", "write_baseline"];

/// Judges recordings: AAEP streams of events and replies, and transcripts of the other protocols
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Streams; - is standard input, and a folder stands for every *.jsonl and *.ndjson (.gz) below it
    #[arg(value_name = "FILE", required = true)]
    pub inputs: Vec<PathBuf>,

    /// The protocol of the recordings; told by content else
    #[arg(long, value_enum)]
    pub protocol: Option<Protocol>,

    /// Where the messages stand
    #[command(flatten)]
    pub format: StreamFormat,

    /// Take the replies from this file, and put them between the events of the one stream by time
    #[arg(long, value_name = "FILE")]
    pub replies_from: Option<PathBuf>,

    /// Print each finding when it is final, while the stream is written: one that is read line by line, a file (until it is removed or another has its name), a pipe or -;
    /// Ctrl-C ends with the verdict so far
    #[arg(long, conflicts_with_all = FOLLOWED)]
    pub follow: bool,

    /// Judge this session alone (may be repeated); lines that cannot be read are told all the same
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,

    /// Tell what is wrong from the first record on that was sent at this time (RFC 3339) or later
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub since: Option<Timestamp>,

    /// Judge this clause alone, or all clauses of this section (may be repeated)
    #[arg(long, value_name = "CLAUSE", value_parser = parse_clause)]
    pub only: Vec<String>,

    /// Take warnings (SHOULD, MAY, and what the appendix alone asks for) as violations
    #[arg(long)]
    pub strict: bool,

    /// Which replies the streams hold: where none is found, none was sent (all), or the first that is found tells (found)
    #[arg(long, value_enum, default_value_t)]
    pub replies: Replies,

    /// Let the violations in this file pass: new ones fail, and those not found any more are told
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Write all violations to this file, for --baseline, and let them pass; those of --baseline keep their reasons
    #[arg(long, value_name = "FILE", conflicts_with_all = ["session", "since", "only"])]
    pub write_baseline: Option<PathBuf>,

    /// Why the new violations of --write-baseline are left as they are
    #[arg(long, value_name = "TEXT", requires = "write_baseline", value_parser = said)]
    pub reason: Option<String>,

    /// Quote nothing of the streams: no token, id, prompt, summary or other text, in whatever format; a baseline then holds hashes alone
    #[arg(long)]
    pub redact: bool,
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
    let mut outcome = judge_all(args, &how)?;
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
    Ok(render(&outcome, format, Terminal::of_stdout()))
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

fn judge_all(args: &Args, how: &How) -> miette::Result<Outcome> {
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
        let read = judge(source, replies.first(), &meter, how, args);
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
    args: &Args,
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
        let option = match (replies, args.replies) {
            (Some(_), _) => Some("--replies-from"),
            (None, Replies::All) => Some("--replies"),
            (None, Replies::Found) => None,
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
    let settings = Settings {
        strict: args.strict,
        replies_recorded: args.replies == Replies::All,
        ..Settings::default()
    };
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
