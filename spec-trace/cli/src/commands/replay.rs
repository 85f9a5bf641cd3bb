//! `countersign replay`: a vector, a folder of them, a run that `diff` has kept, or runs of the model that were saved, against an
//! implementation.
//!
//! The one thing to know: a vector is held by what its file says, a kept run is judged anew.

mod saved;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum as _;
use countersign_clauses::cited_all;
use countersign_conform::driven::Search;
use countersign_conform::implementation::{Greeted, Implementation};
use countersign_conform::spoken::{Spoken, Wire, readings};
use countersign_conform::suite::replay::{Amiss, Replayed, replay};
use countersign_conform::suite::vectors::{Manifest, VERSION, Vector};
use countersign_live::recorder::Url;
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use miette::{Context, IntoDiagnostic, miette};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::diff;
use super::diff_http::{self, Reached};
use super::vectors::MANIFEST;
use crate::answer::{Answer, ReportFormat, Status};
use crate::arguments::Protocol;
use crate::differing::{Part, Report};
use crate::serve::controls::Referred;
use crate::show::words::printable;

const EXAMPLES: &str = "\
Examples:
  countersign replay vectors -- python3 mine.py
  countersign replay vectors/0007.json -- python3 mine.py
  countersign replay vectors --reading expiry-boundary=after -- python3 mine.py
  countersign replay divergences/found-PA-8.json -- python3 mine.py
  countersign replay found.json -- python3 mine.py
  countersign replay http-02-reject.jsonl --http http://127.0.0.1:8080

PATH is what `vectors`, `diff` or `check --save` has written. Without COMMAND
the reference answers.

A vector passes if the outputs are those that its file requires, and none that
it forbids. --reading skips the vectors that the choice makes wrong. A folder is
run by its manifest; a file that the manifest does not list is an error. A kept
run is judged as by `diff --run`. A run of `check --save` fails if COMMAND
breaks what the run breaks. --http plays what `diff --http` has kept.

Exit status: 0; 1 a vector or run fails; 2 PATH cannot be read, or COMMAND does
not start or answer `hello`; 3 no vector has passed";

/// The arguments of `countersign replay`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A vector, a folder of vectors, a kept run, or a saved counterexample
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// Skip the vectors that this reading makes wrong (may be repeated)
    #[arg(long, value_name = "NAME=CHOICE")]
    pub reading: Vec<String>,

    /// Wait at most S seconds for each response
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,

    /// Play what `diff --http` has kept against this producer
    #[arg(long, value_name = "URL", conflicts_with_all = ["reading", "timeout"])]
    pub http: Option<Url>,

    /// How it is reached
    #[command(flatten)]
    pub reached: Reached,

    /// The implementation: a program and its arguments [default: the reference]
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "http")]
    pub command: Vec<OsString>,
}

/// What is asked.
enum Asked {
    /// Vectors of this protocol, each with its file.
    Vectors(Protocol, Vec<(PathBuf, Vector)>),
    /// A run of this protocol that was kept, and what the host had chosen where a test kept it.
    Kept(Protocol, Option<Value>),
    /// Runs of the model of this protocol, as they were saved.
    Saved(Protocol, Value),
}

/// Replays what the path holds.
///
/// # Errors
///
/// Where it holds nothing of the kind or cannot be read, or the implementation cannot be started or does not greet.
pub fn run(args: &Args, format: ReportFormat) -> miette::Result<Answer> {
    if let Some(url) = &args.http {
        return diff_http::replay(&args.path, url, &args.reached, format);
    }
    let asked = asked(&args.path)?;
    let (Asked::Vectors(protocol, _) | Asked::Kept(protocol, _) | Asked::Saved(protocol, _)) =
        &asked;
    match protocol {
        Protocol::PendingAction => driven::<PendingAction>(args, &asked, format),
        Protocol::McpAql => driven::<McpAql>(args, &asked, format),
        Protocol::Aaep => driven::<Aaep>(args, &asked, format),
    }
}

fn driven<P: Referred>(args: &Args, asked: &Asked, format: ReportFormat) -> miette::Result<Answer> {
    let greeted = |lost| miette!("the reference does not greet: {lost}");
    if let (Asked::Kept(_, Some(settings)), true) = (asked, args.command.is_empty()) {
        let shown = args.path.display();
        let reference = P::chosen(SEED, settings).map_err(|cause| miette!("{shown}: {cause}"))?;
        let reference = Greeted::new(reference).map_err(greeted)?;
        replayed::<P, _>(args, asked, reference, format)
    } else if args.command.is_empty() {
        let reference = Greeted::new(P::reference(SEED)).map_err(greeted)?;
        replayed::<P, _>(args, asked, reference, format)
    } else {
        let partner = diff::greeted::<P>(&args.command, args.timeout, &Arc::default())?;
        replayed::<P, _>(args, asked, partner, format)
    }
}

/// The reference draws its names from this seed.
const SEED: u64 = 1;

fn replayed<P: Referred, I: Implementation<Wire<P>>>(
    args: &Args,
    asked: &Asked,
    mut partner: Greeted<Wire<P>, I>,
    format: ReportFormat,
) -> miette::Result<Answer> {
    match asked {
        Asked::Kept(..) | Asked::Saved(..) if !args.reading.is_empty() => Err(miette!(
            "--reading is for vectors: a kept run is judged by each reading that fits it, and one of the model by the text as it stands"
        )),
        Asked::Saved(_, document) => {
            diff::is_judged::<P, _>(&partner)?;
            saved::replay::<P, _>(document, &mut partner, format)
        }
        Asked::Kept(..) => {
            diff::is_judged::<P, _>(&partner)?;
            let mut search = Search::<P, _>::new(partner);
            search.play(&diff::read::<P>(&args.path)?, SEED);
            let part = Part {
                is_whole: false,
                ..Part::whole(SEED)
            };
            let files = vec![args.path.clone(); search.divergences.len()];
            let report = Report::of(&search, part, &files, |file| again(args, file));
            Ok(report.answer(format, true))
        }
        Asked::Vectors(_, vectors) => {
            let choices = choices::<P, I>(&args.reading, &partner)?;
            let mut held = Vec::new();
            for (file, vector) in vectors {
                let reads = |(place, choice): &(String, String)| {
                    let right = vector.readings.get(place);
                    right.is_none_or(|right| right.contains(choice))
                };
                let verdict = if choices.iter().all(reads) {
                    let replayed = replay(&mut partner, vector);
                    let shown = file.display();
                    Verdict::Held(replayed.map_err(|error| miette!("{shown}: {error}"))?)
                } else {
                    Verdict::ReadOtherwise
                };
                held.push((file.as_path(), verdict));
            }
            let held = Held(P::NAME, held);
            match format {
                ReportFormat::Text => Ok(held.text()),
                ReportFormat::Json => Ok(Answer::json(&held.json(), held.status())),
                ReportFormat::Junit | ReportFormat::Sarif | ReportFormat::Html => {
                    Err(miette!("vectors are told as text or json"))
                }
            }
        }
    }
}

/// The command line that replays a file once more.
fn again(args: &Args, file: &Path) -> String {
    let command = if args.command.is_empty() {
        String::new()
    } else {
        format!(" -- {}", diff::words(&args.command))
    };
    format!("countersign replay {}{command}", file.display())
}

/// The choices that are named, of those that there are.
pub(super) fn choices<P: Spoken, I: Implementation<Wire<P>>>(
    named: &[String],
    partner: &Greeted<Wire<P>, I>,
) -> miette::Result<Vec<(String, String)>> {
    let readings = readings::<P>(partner.greeting(), &[]).into_iter();
    let known: BTreeSet<_> = readings.flat_map(|it| it.choices).collect();
    let choice = |text: &String| {
        let pair = text.split_once('=');
        let is_known = pair.is_some_and(|it| known.contains(&it));
        let pair = pair.filter(|_| is_known);
        let pair = pair.map(|(place, choice)| (place.to_owned(), choice.to_owned()));
        pair.ok_or_else(|| {
            let all = known
                .iter()
                .map(|(place, choice)| format!("{place}={choice}"));
            let all = all.collect::<Vec<_>>().join(", ");
            miette!("--reading {text}: there is no such choice; there are {all}")
        })
    };
    named.iter().map(choice).collect()
}

/// What a path holds.
fn asked(path: &Path) -> miette::Result<Asked> {
    if path.is_dir() {
        return folder(path);
    }
    let document: Value = read(path)?;
    let shown = path.display();
    let protocol = document.get("protocol").and_then(Value::as_str);
    let protocol = protocol.and_then(|it| Protocol::from_str(it, false).ok());
    let protocol = protocol.ok_or_else(|| {
        miette!("{shown} names no `protocol`: it is no vector, and no run that `diff` or a test has kept")
    })?;
    if document.get("bounds").is_some() {
        return Ok(Asked::Saved(protocol, document));
    }
    if document.get("version").is_some() {
        return Ok(Asked::Vectors(
            protocol,
            vec![(path.to_owned(), vector(path)?)],
        ));
    }
    let settings = document.get("settings").cloned();
    Ok(Asked::Kept(protocol, settings))
}

/// The vectors of a folder, all of them.
fn folder(path: &Path) -> miette::Result<Asked> {
    let manifest_file = path.join(MANIFEST);
    let shown = manifest_file.display();
    let manifest: Manifest = read(&manifest_file)?;
    is_known(manifest.version, &manifest_file)?;
    let protocol = Protocol::from_str(&manifest.protocol, false)
        .map_err(|_| miette!("{shown}: no protocol is called {:?}", manifest.protocol))?;
    if manifest.files.is_empty() {
        return Err(miette!("{shown} lists no file"));
    }
    let mut listed: BTreeSet<_> = manifest.files.iter().map(|it| path.join(it)).collect();
    if listed.len() < manifest.files.len() {
        return Err(miette!("{shown} lists a file twice"));
    }
    listed.insert(manifest_file.clone());
    let entries = fs::read_dir(path).into_diagnostic()?;
    let files = entries.map(|entry| Ok(entry?.path()));
    let files: BTreeSet<_> = files.collect::<io::Result<_>>().into_diagnostic()?;
    let is_json = |file: &&PathBuf| file.extension().is_some_and(|it| it == "json");
    if let Some(stray) = files.difference(&listed).find(is_json) {
        return Err(miette!("{} is not listed in {shown}", stray.display()));
    }
    let vectors = manifest.files.iter().map(|file| {
        let file = path.join(file);
        let vector = vector(&file)?;
        if vector.protocol == manifest.protocol {
            return Ok((file, vector));
        }
        let (is, wanted) = (vector.protocol, &manifest.protocol);
        Err(miette!(
            "{} is a vector of {is}, not of {wanted}",
            file.display()
        ))
    });
    Ok(Asked::Vectors(
        protocol,
        vectors.collect::<miette::Result<_>>()?,
    ))
}

fn vector(file: &Path) -> miette::Result<Vector> {
    let vector: Vector = read(file)?;
    is_known(vector.version, file)?;
    Ok(vector)
}

fn is_known(version: u32, file: &Path) -> miette::Result<()> {
    if version == VERSION {
        return Ok(());
    }
    let shown = file.display();
    Err(miette!(
        "{shown}: version {version} of vectors is not known, only {VERSION}"
    ))
}

fn read<T: DeserializeOwned>(file: &Path) -> miette::Result<T> {
    let shown = file.display();
    let text = fs::read(file)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {shown}"))?;
    serde_json::from_slice(&text)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {shown}"))
}

/// What has come of one vector.
enum Verdict {
    /// It was asked.
    Held(Replayed),
    /// It is wrong by a choice that was named.
    ReadOtherwise,
}

impl Verdict {
    /// Its name, as in the JSON.
    const fn name(&self) -> &'static str {
        match self {
            Self::Held(Replayed::Passed) => "passed",
            Self::Held(Replayed::Failed(..)) => "failed",
            Self::Held(Replayed::Unsupported(_)) => "unsupported",
            Self::ReadOtherwise => "read-otherwise",
        }
    }

    /// The step at which something is wrong, and what.
    fn wrong(&self) -> Option<(usize, &[Amiss])> {
        match self {
            Self::Held(Replayed::Failed(step, wrong)) => Some((*step, wrong)),
            Self::Held(Replayed::Passed | Replayed::Unsupported(_)) | Self::ReadOtherwise => None,
        }
    }

    /// The op that is not supported.
    fn unsupported(&self) -> Option<&str> {
        match self {
            Self::Held(Replayed::Unsupported(op)) => Some(op),
            Self::Held(Replayed::Passed | Replayed::Failed(..)) | Self::ReadOtherwise => None,
        }
    }
}

/// All verdicts, in the order of the files.
pub(super) const VERDICTS: [&str; 4] = ["passed", "failed", "unsupported", "read-otherwise"];

/// What has come of all vectors of a protocol.
struct Held<'a>(&'static str, Vec<(&'a Path, Verdict)>);

impl Held<'_> {
    fn count(&self, name: &str) -> usize {
        self.1.iter().filter(|(_, it)| it.name() == name).count()
    }

    fn status(&self) -> Status {
        if self.count("failed") > 0 {
            Status::Violated
        } else {
            Status::if_exercised(self.count("passed") > 0)
        }
    }

    fn text(&self) -> Answer {
        let mut lines = Vec::new();
        for (file, verdict) in &self.1 {
            let Some((step, wrong)) = verdict.wrong() else {
                continue;
            };
            lines.push(format!("{}: step {step}", file.display()));
            lines.extend(wrong.iter().map(in_words));
        }
        let mut unsupported: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (file, verdict) in &self.1 {
            if let Some(op) = verdict.unsupported() {
                let names = unsupported.entry(op).or_default();
                names.extend(file.file_name().map(|it| it.display().to_string()));
            }
        }
        for (op, files) in unsupported {
            lines.push(format!("skipped without {op}: {}", files.join(", ")));
        }
        let counts = VERDICTS.map(|name| format!("{} {name}", self.count(name)));
        lines.push(format!("{}: {}", self.0, counts.join(", ")));
        let text = lines.join("\n") + "\n";
        let status = self.status();
        Answer { text, status }
    }

    fn json(&self) -> Value {
        let mut document = Map::new();
        document.insert("protocol".to_owned(), Value::from(self.0));
        document.insert("verdict".to_owned(), Value::from(self.status().verdict()));
        for name in VERDICTS {
            document.insert(name.replace('-', "_"), Value::from(self.count(name)));
        }
        let files = self.1.iter().map(|(file, verdict)| {
            let wrong = verdict.wrong();
            let all = wrong.iter().flat_map(|(_, all)| *all);
            let all = all.map(|it| match it {
                Amiss::Missing(output, clauses) => json!({"clauses": clauses, "missing": output}),
                Amiss::Forbidden(output, clauses) => {
                    json!({"clauses": clauses, "forbidden": output})
                }
                Amiss::Lost(lost) => json!({"clauses": [], "lost": lost.to_string()}),
            });
            json!({
                "file": file, "verdict": verdict.name(), "step": wrong.map(|(step, _)| step),
                "wrong": all.collect::<Vec<_>>(), "unsupported": verdict.unsupported(),
            })
        });
        document.insert("files".to_owned(), files.collect());
        Value::Object(document)
    }
}

/// What is wrong, as a line.
fn in_words(amiss: &Amiss) -> String {
    let (clauses, what) = match amiss {
        Amiss::Missing(output, clauses) => {
            (cited_all(clauses), format!("missing: {}", json!(output)))
        }
        Amiss::Forbidden(output, clauses) => (cited_all(clauses), output.to_string()),
        Amiss::Lost(lost) => ("driver".to_owned(), lost.to_string()),
    };
    format!("  {clauses}: {}", printable(&what))
}
