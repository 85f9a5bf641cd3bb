//! `countersign vectors`: the suite as plain JSON, for test drivers in any language.

pub(super) mod changed;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_conform::driven::Taken;
use countersign_conform::implementation::{Greeted, Process};
use countersign_conform::spoken::{Spoken, Wire, readings, text_of};
use countersign_conform::suite::vectors::{self, By, Manifest, Vector};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_protocol::Greeting;
use miette::{Context, IntoDiagnostic, miette};
use serde::Serialize;
use serde_json::json;

use self::changed::Changed;
use super::clauses::hanging;
use super::compare::{self, changed_json, named_text};
use crate::answer::{Answer, Format, Status};
use crate::arguments::{Protocol, within};
use crate::spec_file::Changes;

const EXAMPLES: &str = "\
Examples:
  countersign vectors pending-action --out vectors
  python3 spec-trace/vectors/run_vectors.py vectors -- python3 ledger.py
  countersign vectors pending-action --reading expiry-boundary=after --out after
  countersign vectors mcp-aql --spec changed.toml --out changed

Each file is a run of the suite: requests of the driver protocol, and for each
what the response must, may and must not hold, and by which clause.
DIR/README.md says how to run them. DIR/manifest.json lists them by clause and
by reading; `schema vectors` prints their form. They are the same each time,
byte by byte.

--spec and --reading write the vectors of a changed text, and print which of
them differ from those of the text as it stands. The manifest lists the runs
that neither the reference nor the model can take, with the reason. A change
that no vector can show is an error. A DIR with other files is left as it is.";

/// The arguments of `countersign vectors`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The protocol
    #[arg(value_enum)]
    pub protocol: Protocol,

    /// Take readings and numbers from this file; `spec` prints one
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,

    /// Choose a reading of an ambiguous clause (may be repeated)
    #[arg(long, value_name = "NAME=CHOICE")]
    pub reading: Vec<String>,

    /// Write them into this folder
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
        Protocol::PendingAction => write::<PendingAction>(args, format),
        Protocol::McpAql => write::<McpAql>(args, format),
        Protocol::Aaep => write::<Aaep>(args, format),
    }
}

fn write<P: Spoken>(args: &Args, format: Format) -> miette::Result<Answer> {
    let by = Settings {
        spec: args.spec.as_deref(),
        readings: &args.reading,
    };
    let made = made::<P>(&by)?;
    let changed = if made.manifest.taken.is_empty() {
        Vec::new()
    } else {
        changed::all(&self::made::<P>(&Settings::default())?.all, &made.all)
    };
    let [_, small] = args.protocol.text().usual_bounds;
    let small = within(args.protocol.text(), small)?;
    let changes = changes::<P>(args.spec.as_deref(), &args.reading)?;
    let so = small.with(&[], &changes.pairs());
    let failing = so.departs();
    let failing = failing.then(|| compare::vectors::<P>(&*small, &*so));
    clear(&args.out)?;
    let shown = args.out.display();
    let written = put(&args.out, &made);
    written
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write vectors into {shown}"))?;
    Ok(match format {
        Format::Text => Answer {
            text: text(&args.out, &made, &changed, failing.as_ref()),
            status: Status::Holds,
        },
        Format::Json => {
            let Made { manifest, all } = &made;
            let document = json!({
                "protocol": manifest.protocol, "vectors": all.len(), "clauses": manifest.clauses.len(),
                "out": args.out, "reading": args.reading.first(), "taken": manifest.taken,
                "spec": args.spec, "changed": changed,
                "compared": failing.map(|(_, it)| it.iter().map(changed_json).collect::<Vec<_>>()),
            });
            Answer::json(&document, Status::Holds)
        }
    })
}

/// What was written, and what of it is not as by the text; of how many who takes the text so comes to something else by the text as it
/// stands, and of which.
fn text(
    out: &Path,
    made: &Made,
    changed: &[Changed],
    compared: Option<&(usize, Vec<compare::Changed>)>,
) -> String {
    let Made { manifest, all } = made;
    let (name, runs, clauses) = (&manifest.protocol, all.len(), manifest.clauses.len());
    let taken = manifest.taken.iter();
    let taken: Vec<_> = taken
        .map(|(place, choice)| format!("{place}={choice}"))
        .collect();
    let by = if taken.is_empty() {
        String::new()
    } else {
        format!(" by {}", taken.join(", "))
    };
    let mut text = hanging(
        "",
        &format!(
            "{name}: {runs} vectors of {clauses} clauses{by} in {}",
            out.display()
        ),
    );
    if let Some((all, compared)) = compared {
        let count = compared.len();
        let said = format!(
            "{count} of the {all} by the text as it stands change, as `compare` counts: they tell who takes it so"
        );
        text += &hanging("  ", &said);
        text += &named_text(compared, ["the text", "this"]);
    }
    if !taken.is_empty() {
        text += &changed::text(changed, &taken.join(", "));
    }
    text
}

/// How the text is taken where vectors are made: a file, and readings beside it.
#[derive(Clone, Copy, Default)]
struct Settings<'a> {
    spec: Option<&'a Path>,
    readings: &'a [String],
}

/// Vectors, and what lists them.
struct Made {
    manifest: Manifest,
    all: BTreeMap<String, Vector>,
}

/// The vectors, as the reference answers, or the model where it does not take the text so.
///
/// # Errors
///
/// A reading or a file that there is not, what no vector can show, or a reference that does not answer.
fn made<P: Spoken>(settings: &Settings<'_>) -> miette::Result<Made> {
    let lost = |lost| miette!("the reference does not answer: {lost}");
    let changes = changes::<P>(settings.spec, settings.readings)?;
    let mut reference = reference::<P>(&changes)?;
    let readings = around::<P>(reference.greeting(), &changes);
    let taken = changes.departing();
    let taken = taken.map(|(place, choice)| (place.to_owned(), choice.to_owned()));
    let changed: BTreeMap<_, _> = taken.collect();
    let [_, small] = text_of::<P>().usual_bounds;
    let model = within(text_of::<P>(), small)?.with(&[], &changes.pairs());
    let by = By {
        readings,
        model: model.departs().then_some(model),
        changed,
    };
    let (manifest, all) = vectors::vectors::<P, _>(&mut reference, &by).map_err(lost)?;
    Ok(Made { manifest, all })
}

/// What is changed of the text.
///
/// # Errors
///
/// As of the file and the readings, and what no vector can show.
fn changes<P: Spoken>(spec: Option<&Path>, readings: &[String]) -> miette::Result<Changes> {
    let reason = "vectors hold an implementation to every rule";
    let changes = Changes::with_every_rule(text_of::<P>(), spec, readings, reason)?;
    if changes
        .changed()
        .any(|it| it == ("restarted-session", "goes-on"))
    {
        return Err(miette!(
            "no vector shows restarted-session = goes-on: {CONNECTIONS_END}"
        ));
    }
    Ok(changes)
}

/// The reference, with those of the settings that it has for how the text is taken.
fn reference<P: Spoken>(changes: &Changes) -> miette::Result<Greeted<Wire<P>, Process>> {
    let program = std::env::current_exe().into_diagnostic()?;
    let serve = ["serve", P::NAME, "--stdio"].map(str::to_owned);
    let has_setting = |it: &String| setting(it).is_some();
    let readings = changes
        .changed()
        .map(|(name, value)| format!("{name}={value}"));
    let readings = readings.filter(has_setting);
    let signs = changes
        .changed()
        .any(|it| it == ("token-storage", "signed"));
    let arguments = serve
        .into_iter()
        .chain(signs.then(|| "--signed".to_owned()))
        .chain(readings.flat_map(|it| ["--reading".to_owned(), it]));
    let command = [program.into_os_string()].into_iter();
    let command = command.chain(arguments.map(Into::into));
    let process = Process::new(command.collect(), Duration::from_secs(10));
    Greeted::new(process).map_err(|lost| miette!("the reference does not answer: {lost}"))
}

/// The ways to take the text: as it is changed first, and then each that a party may take instead at one place or two. What the changes
/// choose stands beside the other choices of its place.
fn around<P: Spoken>(greeting: &Greeting<Wire<P>>, changes: &Changes) -> Vec<Taken<P>> {
    let open = readings::<P>(greeting, &[]);
    let known: BTreeSet<_> = open.iter().flat_map(|it| &it.choices).copied().collect();
    let by = |changes: &Changes| readings::<P>(greeting, &changes.pairs());
    let mut all = by(changes);
    let chosen = changes.changed().filter_map(|(name, value)| {
        let known = known.iter().find(|it| **it == (name, value));
        known.copied()
    });
    let chosen: Vec<_> = chosen.collect();
    for taken in &mut all {
        taken.choices.extend(&chosen);
    }
    for (place, choice) in &chosen {
        let others = known.iter().filter(|it| it.0 == *place && it.1 != *choice);
        for other in others {
            let Some(first) = by(&changes.choosing(other.0, other.1)).into_iter().next() else {
                continue;
            };
            let mut choices = first.choices;
            choices.extend(&chosen);
            for it in &mut choices {
                if it.0 == *place {
                    *it = *other;
                }
            }
            let judge = first.judge;
            all.push(Taken { choices, judge });
        }
    }
    all
}

/// Why the connections of a process are not held by others.
pub(super) const CONNECTIONS_END: &str =
    "the connections end with the process, as the driver protocol has it";

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

fn put(folder: &Path, made: &Made) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    for (file, vector) in &made.all {
        fs::write(folder.join(file), pretty(vector)?)?;
    }
    fs::write(folder.join("README.md"), README)?;
    fs::write(folder.join(MANIFEST), pretty(&made.manifest)?)
}

fn pretty(value: &impl Serialize) -> std::io::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
