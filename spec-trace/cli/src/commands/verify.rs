//! `countersign verify`, the main job: every transition of each text, taken by its reference.

use std::fmt::Write as _;
use std::time::Instant;

use clap::ValueEnum;
use countersign_model::aaep::Aaep;
use countersign_model::checker::{CheckReport, Kind, PropertyVerdict, StepText};
use countersign_model::engine::checker::{Finding, Judgement};
use countersign_model::engine::model::{Action, CONFORMS, Model, Statement};
use countersign_model::engine::world::Mismatch;
use countersign_model::facade::engine::{self, Catalog as _, Variation};
use countersign_model::facade::run::{describe, run_of};
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;

use crate::answer::{Answer, FindingsFormat, Status};
use crate::arguments::{Extent, Protocol, Reread, VARIANT, Within, within};
use crate::progress::Progress;
use crate::recorded::{self, writer::Recorder};
use crate::table::{self, Align, grouped};
use crate::verdicts::{self, Divergence, Verified, Walk, divergence_text, property_text};
use countersign_conform::search::{self, Broken, Exact, Searched, model_of};
use countersign_conform::side_by_side::{processors, side_by_side};
use countersign_conform::spoken::{Host as _, Spoken};
use miette::miette;

const EXAMPLES: &str = "\
Examples:
  countersign verify --protocol aaep                 seconds
  countersign verify --protocol mcp-aql --reading check-order=sample
  countersign verify --format junit > verify.xml     for a build server
  countersign verify --bounds large                  hours

`countersign` without a command is the same. The reference needs a setting for
each reading that is named.

Exit status: 0 all properties hold and the reference conforms; 1 a property is
broken or it does not; 3 the search is not complete";

/// The arguments of `countersign verify`.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this protocol [default: all]
    #[arg(long, value_enum)]
    protocol: Option<Protocol>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten, next_help_heading = VARIANT)]
    reread: Reread,
    #[command(flatten, next_help_heading = VARIANT)]
    within: Within,
}

/// Runs the command.
///
/// # Errors
///
/// Bounds that there are not.
pub fn run(args: &Args, format: FindingsFormat) -> miette::Result<Answer> {
    if args.protocol.is_none() && !args.reread.is_usual() {
        return Err(miette!(
            "--spec and --reading change one text\n  hint: name it with --protocol"
        ));
    }
    let protocols = args
        .protocol
        .map_or_else(|| Protocol::value_variants().to_vec(), |one| vec![one]);
    let started = Instant::now();
    let threads = (processors() / protocols.len()).max(1);
    let verified = side_by_side(
        protocols.len(),
        &protocols,
        || (),
        |(), &it| match it {
            Protocol::Aaep => verify::<Aaep>(args, it, threads),
            Protocol::McpAql => verify::<McpAql>(args, it, threads),
            Protocol::PendingAction => verify::<PendingAction>(args, it, threads),
        },
    );
    let verified: miette::Result<Vec<_>> = verified.into_iter().collect();
    let mut verified = verified?;
    // Lint judges by the usual reading, and within bounds of its own.
    let is_usual = args.reread.is_usual() && args.within.bounds.is_none();
    let aaep = verified.iter_mut().find(|it| it.protocol == Aaep::NAME);
    if let Some(aaep) = aaep.filter(|_| is_usual) {
        aaep.recordings = Some(recordings(processors()));
    }
    let status = verdicts::status(&verified);
    Ok(match format {
        FindingsFormat::Text => {
            let counts = counts(&verified, started.elapsed().as_secs_f64());
            Answer::verdict(status, &counts, &text(&verified), args.extent.all)
        }
        FindingsFormat::Json => Answer::json(&verdicts::verified_json(&verified), status),
        FindingsFormat::Junit => Answer {
            text: verdicts::junit::render(&verified),
            status,
        },
        FindingsFormat::Sarif => Answer::json(&verdicts::sarif::render(&verified), status),
    })
}

/// Searches a text with its reference on every transition: judged, and held to the text's own producer.
fn verify<P: Spoken<Reference: Send + Sync>>(
    args: &Args,
    protocol: Protocol,
    threads: usize,
) -> miette::Result<Verified> {
    let bounds = args.within.bounds.as_deref().unwrap_or("default");
    let model = args.reread.of(&*within(protocol.text(), bounds)?)?;
    let variation: Option<&Variation<P>> = model.as_any().downcast_ref();
    let taken = variation.and_then(|it| Some((it, P::Reference::taking(it.variant.reading)?)));
    let Some((variation, settings)) = taken else {
        let options = args.reread.options().collect::<Vec<_>>().join(" ");
        return Err(miette!(
            "the reference has no setting for {options}\n  \
             hint: countersign check {} {options} searches the model alone",
            P::NAME
        ));
    };
    let started = Instant::now();
    let mut searched = Vec::new();
    for &(name, bounds) in &variation.worlds {
        let what = format!("{}: searching {name} with the reference", P::NAME);
        let progress = Progress::counting(&what, "transitions");
        let party = Exact::new(
            P::Reference::new(settings.clone()),
            P::Reference::account(&settings, Some(&bounds)),
        );
        let search = Model {
            variant: variation.variant.clone(),
            ..model_of(party, bounds)
        };
        searched.push((
            name,
            search::search(&search, threads, &|it| progress.at(it)),
        ));
    }
    let [states, transitions] = [
        searched.iter().map(|(_, it)| it.states).sum::<usize>(),
        searched.iter().map(|(_, it)| it.transitions).sum(),
    ];
    let broken: Vec<_> = searched
        .iter()
        .filter_map(|(_, it)| it.broken.as_ref())
        .collect();
    // The guarantees are those of the text as it is usually read.
    let stated = P::GUARANTEES.iter();
    let stated = stated.filter(|_| !model.departs());
    let guarantees = stated.map(|it| {
        let broken = broken.iter().find(|broken| broken.name == it.name);
        let steps = broken.map(|it| steps::<P>(it));
        property(it, Kind::Always, broken.is_none(), steps)
    });
    let situations = P::WITNESSES.iter().map(|it| {
        let is_reached = |(_, searched): &(_, Searched<_, _>)| searched.reached.contains(it.name);
        property(it, Kind::Sometimes, searched.iter().any(is_reached), None)
    });
    let walk = |it: &Searched<_, _>| Walk {
        states: it.states as u64,
        transitions: it.transitions as u64,
        divergences: {
            let differing = it.broken.iter().filter(|it| it.name == CONFORMS);
            differing.map(divergence::<P>).collect()
        },
    };
    Ok(Verified {
        protocol: P::NAME,
        bounds: bounds.to_owned(),
        check: CheckReport {
            unique_states: states,
            transitions,
            depth: searched.iter().map(|(_, it)| it.depth).max().unwrap_or(0),
            exhaustive: broken.is_empty(),
            properties: guarantees.chain(situations).collect(),
        },
        check_seconds: started.elapsed().as_secs_f64(),
        worlds: searched
            .iter()
            .map(|(name, it)| (*name, walk(it)))
            .collect(),
        recordings: None,
    })
}

/// A run to what does not hold of the reference.
type Run<P> = Broken<P, Exact<P, <P as Spoken>::Reference>>;

fn property<H: 'static>(
    statement: &Statement<H>,
    kind: Kind,
    holds: bool,
    steps: Option<Vec<StepText>>,
) -> PropertyVerdict {
    let property = engine::property(statement);
    PropertyVerdict {
        name: property.name,
        clauses: property.clauses.into(),
        kind,
        finding: None,
        holds,
        steps: steps.unwrap_or_default(),
    }
}

fn steps<P: Spoken>(run: &Run<P>) -> Vec<StepText> {
    let actions = run.run.iter().map(|(_, action)| action.clone());
    describe::<P>(&run_of(actions.collect()))
}

/// Where the reference differs from the text, or from the spec's own producer.
fn divergence<P: Spoken>(run: &Run<P>) -> Divergence {
    let Exact { judged, expected } = &run.last.party;
    let words = |outputs: &[P::Output]| {
        let outputs: Vec<_> = outputs.iter().map(P::output_text).collect();
        outputs.join(", ")
    };
    let (clause, expected, actual) = match (&judged.judgement, expected) {
        (
            Judgement::Found(Finding {
                clause, mismatch, ..
            }),
            _,
        ) => {
            let clause = clause.and_then(|it| P::CLAUSES.get(usize::from(it.0)));
            let output = words(std::slice::from_ref(mismatch.output()));
            let (expected, actual) = match mismatch {
                Mismatch::Missing { .. } => (output, "nothing".to_owned()),
                Mismatch::Unexpected { .. } => ("nothing".to_owned(), output),
            };
            (clause.map_or(P::CONTRACT, |it| it.id), expected, actual)
        }
        (Judgement::Conforms | Judgement::TooManyExplanations, expected) => {
            let expected = words(expected.as_deref().unwrap_or_default());
            let actual = match run.run.last() {
                Some((_, Action::Call { answer, .. })) => words(&answer.1),
                Some((_, Action::Move(_))) | None => String::new(),
            };
            (P::CONTRACT, expected, actual)
        }
    };
    Divergence {
        steps: steps(run),
        clause,
        expected,
        actual,
    }
}

/// What lint says of the recordings of every run that AAEP allows in small worlds, of which events alone are recorded.
fn recordings(threads: usize) -> Walk {
    let progress = Progress::counting("aaep: judging the recordings of every run", "transitions");
    let (mut states, mut transitions, mut divergences) = (0, 0, Vec::new());
    for bounds in recorded::SMALL {
        let at = |it| progress.at(transitions + it);
        let one = recorded::search(Recorder::EVENTS_ALONE, bounds, threads, &at);
        states += one.states as u64;
        transitions += one.transitions as u64;
        divergences.extend(one.broken.iter().map(recorded::divergence));
    }
    Walk {
        states,
        transitions,
        divergences,
    }
}

/// How much was searched and compared, and how it came out.
fn counts(verified: &[Verified], seconds: f64) -> String {
    let count = |kind, holds| {
        let all = verified.iter().flat_map(|it| &it.check.properties);
        let those = all.filter(|it| it.kind == kind && it.holds == holds);
        those.count()
    };
    let (broken, unreached) = (count(Kind::Always, false), count(Kind::Sometimes, false));
    let differ: usize = verified.iter().map(|it| it.divergences().count()).sum();
    let agree = match differ {
        0 => "the reference conforms".to_owned(),
        1 => "the reference differs once".to_owned(),
        differ => format!("the reference differs {differ} times"),
    };
    let hold = match broken {
        0 => format!("{} properties hold", count(Kind::Always, true)),
        broken => format!("{broken} properties broken"),
    };
    let reached = match unreached {
        0 => format!("{} situations reached", count(Kind::Sometimes, true)),
        unreached => format!("{unreached} situations not reached"),
    };
    let names: Vec<_> = verified.iter().map(|it| it.protocol).collect();
    format!(
        "{hold}, {reached}, {agree} ({}, {seconds:.0} s)",
        names.join(", ")
    )
}

fn text(verified: &[Verified]) -> String {
    let head = [
        "",
        "",
        "unique states",
        "transitions",
        "transitions/s",
        "properties",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(verified.iter().map(row));
    let columns = [Align::Left, Align::Left]
        .into_iter()
        .chain([Align::Right; 3])
        .chain([Align::Left])
        .collect::<Vec<_>>();
    let mut text = table::render(&columns, &rows);
    for one in verified {
        for (bounds, walk) in &one.worlds {
            let _ = writeln!(
                text,
                "{}: {} states at {bounds} bounds, transitions: {}",
                one.protocol,
                grouped(walk.states),
                walk_text(walk)
            );
        }
        if let Some(recordings) = &one.recordings {
            let found = match recordings.divergences.len() {
                0 => "none accused".to_owned(),
                accused => format!("{accused} accused"),
            };
            let _ = writeln!(
                text,
                "{}: {} states of the text and of lint at its recording, transitions: {}, {found}",
                one.protocol,
                grouped(recordings.states),
                grouped(recordings.transitions),
            );
        }
    }
    for one in verified {
        for property in one
            .check
            .properties
            .iter()
            .filter(|property| !property.holds)
        {
            text.push('\n');
            text.push_str(&property_text(property));
        }
        for divergence in one.divergences() {
            text.push('\n');
            text.push_str(&divergence_text(divergence));
        }
    }
    text
}

fn verdict_of(one: &Verified) -> &'static str {
    match one.status() {
        Status::Holds => "holds",
        Status::Violated => "FAILS",
        Status::Unusable | Status::Inconclusive => "INCONCLUSIVE",
    }
}

fn row(one: &Verified) -> Vec<String> {
    let held = one
        .check
        .properties
        .iter()
        .filter(|property| property.holds);
    let (always, sometimes): (Vec<_>, Vec<_>) =
        held.partition(|property| property.kind == Kind::Always);
    vec![
        one.protocol.to_owned(),
        verdict_of(one).to_owned(),
        grouped(one.check.unique_states as u64),
        grouped(one.check.transitions as u64),
        table::per_second(one.check.transitions as u64, one.check_seconds),
        format!("{} hold, {} reached", always.len(), sometimes.len()),
    ]
}

/// How a search came out, in a few words.
fn walk_text(walk: &Walk) -> String {
    let transitions = grouped(walk.transitions);
    match walk.divergences.len() {
        0 => format!("{transitions} agree"),
        diverging => format!("{transitions} taken, {diverging} diverge"),
    }
}
