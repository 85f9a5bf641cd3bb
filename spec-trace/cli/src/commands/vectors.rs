//! `countersign vectors`: the suite as plain JSON, for test drivers in any language.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_conform::aaep::wide::Driver as AaepDriver;
use countersign_conform::driven::Taken;
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::mcp_aql::wide::Driver as McpAqlDriver;
use countersign_conform::pending_action::wide::Driver as PendingActionDriver;
use countersign_conform::suite::Suited;
use countersign_conform::suite::vectors::{self, Manifest, Vector};
use countersign_driver::Protocol as _;
use miette::{Context, IntoDiagnostic, miette};
use serde::Serialize;
use serde_json::json;

use super::replay::choices;
use crate::answer::{Answer, Format, Status};
use crate::arguments::Protocol;

const EXAMPLES: &str = "\
Examples:
  countersign vectors pending-action --out vectors
  python3 spec-trace/vectors/run_vectors.py vectors -- python3 ledger.py
  countersign vectors pending-action --reading expiry-boundary=after --out after

Each file is a run of the suite: requests of the driver protocol, and for each what is required,
allowed and forbidden in the response, and by which clause. DIR/README.md says how to run them,
DIR/manifest.json lists them, by clause and by reading; `schema vectors` prints their form. They are
the same each time, byte by byte. With --reading they hold by that choice in place of the default:
the reference answers by it where it has a setting for it, and a run of which its answers are wrong
by it is left out; the manifest says which. An unknown choice lists those that there are. A DIR
that holds anything but vectors is left as it is.";

/// The arguments of `countersign vectors`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    pub protocol: Protocol,

    /// Take an ambiguous passage in another way
    #[arg(long, value_name = "NAME=CHOICE")]
    pub reading: Option<String>,

    /// The folder to write them into
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What tells how to run them.
const README: &str = include_str!("../../../vectors/README.md");
pub(super) const MANIFEST: &str = "manifest.json";

/// Writes the vectors.
///
/// # Errors
///
/// Where the folder holds anything else, or cannot be written.
pub fn run(args: &Args, format: Format) -> miette::Result<Answer> {
    match args.protocol {
        Protocol::PendingAction => write::<PendingActionDriver>(args, format),
        Protocol::McpAql => write::<McpAqlDriver>(args, format),
        Protocol::Aaep => write::<AaepDriver>(args, format),
    }
}

fn write<D: Suited>(args: &Args, format: Format) -> miette::Result<Answer> {
    let shown = args.out.display();
    let name = D::Protocol::NAME;
    let (manifest, all) = made::<D>(args.reading.as_deref())?;
    clear(&args.out)?;
    let written = put(&args.out, &manifest, &all);
    written
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write vectors into {shown}"))?;
    let (runs, clauses) = (all.len(), manifest.clauses.len());
    let by = args.reading.as_ref();
    Ok(match format {
        Format::Text => {
            let by = by.map_or_else(String::new, |by| format!(" by {by}"));
            Answer {
                text: format!("{name}: {runs} vectors of {clauses} clauses{by} in {shown}\n"),
                status: Status::Holds,
            }
        }
        Format::Json => {
            let document = json!({
                "protocol": name, "vectors": runs, "clauses": clauses, "out": args.out, "reading": by,
            });
            Answer::json(&document, Status::Holds)
        }
    })
}

/// The vectors, as the reference answers.
///
/// # Errors
///
/// A choice that there is not, or a reference that does not answer.
pub(super) fn made<D: Suited>(
    reading: Option<&str>,
) -> miette::Result<(Manifest, BTreeMap<String, Vector>)> {
    let program = std::env::current_exe().into_diagnostic()?;
    let arguments = ["serve", D::Protocol::NAME, "--stdio", "--settings"];
    let arguments = arguments
        .into_iter()
        .chain([reading.and_then(setting).unwrap_or("{}")])
        .map(Into::into);
    let command = [program.into_os_string()].into_iter().chain(arguments);
    let process = Process::new(command.collect(), Duration::from_secs(10));
    let lost = |lost| miette!("the reference does not answer: {lost}");
    let mut reference = Greeted::new(process).map_err(lost)?;
    let named: Vec<_> = reading.into_iter().map(str::to_owned).collect();
    let named = choices::<D, _>(&named, &reference)?;
    let taken = taken::<D>(D::readings(reference.greeting()), &named)?;
    vectors::vectors::<D, _>(&mut reference, &taken).map_err(lost)
}

/// The settings by which the reference takes the text so, where it has any for it.
pub(super) fn setting(reading: &str) -> Option<&'static str> {
    Some(match reading {
        "read-effect=runs" => r#"{"read_effect":"runs"}"#,
        "expiry-boundary=after" => r#"{"expiry_boundary":"after"}"#,
        "deciders-absent=nobody" => r#"{"deciders_absent":"nobody"}"#,
        "check-order=sample" => r#"{"check_order":"sample"}"#,
        "session-binding=always" => r#"{"session_binding":"every"}"#,
        "ended-session=stays-ended" => r#"{"ended_session":"stays_ended"}"#,
        "restarted-session=ends" => r#"{"restarted_session":"ends"}"#,
        "oracle=uniform" => r#"{"configuration":{"oracle":"uniform"}}"#,
        _ => return None,
    })
}

/// The way to take the text that has this choice, and the default elsewhere.
fn taken<D: Suited>(
    readings: Vec<Taken<D::Judge>>,
    named: &[(String, String)],
) -> miette::Result<Taken<D::Judge>> {
    let usual = readings
        .first()
        .map_or_else(Vec::new, |it| it.choices.clone());
    let is_meant = |it: &Taken<D::Judge>| {
        let mut choices = it.choices.iter().zip(&usual);
        choices.all(|((place, choice), usual)| {
            let named = named.iter().find(|(known, _)| known == place);
            *choice == named.map_or(usual.1, |(_, choice)| choice)
        })
    };
    let found = readings.into_iter().find(is_meant);
    found.ok_or_else(|| miette!("no judge takes the text so and in no other way"))
}

/// Takes vectors that were written before out of the folder.
fn clear(folder: &Path) -> miette::Result<()> {
    let shown = folder.display();
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let entries = entries.collect::<Result<Vec<_>, _>>().into_diagnostic()?;
    if entries.is_empty() {
        return Ok(());
    }
    let text = fs::read(folder.join(MANIFEST)).ok();
    let manifest = text.and_then(|it| serde_json::from_slice::<Manifest>(&it).ok());
    let is_ours = |path: &Path| {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or("");
        let mut files = manifest.iter().flat_map(|it| &it.files);
        [MANIFEST, "README.md"].contains(&name) || files.any(|it| it == name)
    };
    let others = entries.iter().find(|entry| !is_ours(&entry.path()));
    match (&manifest, others) {
        (Some(_), None) => {}
        (_, Some(other)) => {
            let other = other.path();
            return Err(miette!(
                "{shown} holds {}, which is no vector: name an empty folder, or one that vectors were written into",
                other.display()
            ));
        }
        (None, None) => {
            return Err(miette!(
                "{shown} holds no {MANIFEST} of vectors: name an empty folder"
            ));
        }
    }
    for entry in entries {
        fs::remove_file(entry.path()).into_diagnostic()?;
    }
    Ok(())
}

fn put(folder: &Path, manifest: &Manifest, all: &BTreeMap<String, Vector>) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (file, vector) in all {
        fs::write(folder.join(file), text(vector)?)?;
    }
    fs::write(folder.join("README.md"), README)?;
    fs::write(folder.join(MANIFEST), text(manifest)?)
}

fn text(value: &impl Serialize) -> std::io::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
