//! `countersign verify`, the main job: the model is checked, then every edge of it is compared with the executor.

use std::fmt::Write as _;
use std::time::Instant;

use clap::ValueEnum;
use countersign_model::bounds::{self, Bounds};
use countersign_model::checker::{self, CheckReport, Kind, PropertyVerdict, StepText};
use countersign_model::engine::checker::{Finding, Judgement};
use countersign_model::engine::model::{Action, CONFORMS, Model, Statement};
use countersign_model::engine::world::Mismatch;
use countersign_model::facade::engine::{self as words, Variation};
use countersign_model::facade::specification_of;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use countersign_model::specification::{Modelled, Specification};

use crate::answer::{Answer, FindingsFormat, Status};
use crate::arguments::{Extent, Protocol, Reread, VARIANT, Within, preset, specification, within};
use crate::progress::Progress;
use crate::recorded::{self, writer::Recorder};
use crate::table::{self, Align, grouped};
use crate::verdicts::{self, Verified, divergence_text, property_text};
use countersign_conform::bridge::{Bridge, Execution};
use countersign_conform::edges::{self, Scope, Walk};
use countersign_conform::search::{self, Broken, Exact, Searched, model_of};
use countersign_conform::spoken::{Host as _, Spoken};
use countersign_conform::{Disagreement, Divergence, Sides, aaep};
use miette::miette;

const EXAMPLES: &str = "\
Examples:
  countersign verify --protocol aaep                 seconds
  countersign verify --protocol mcp-aql --reading check-order=sample
  countersign verify --format junit > verify.xml     for a build server
  countersign verify --full                          minutes
  countersign verify --bounds large                  hours

`countersign` without a command is the same. A variant of the text is searched
and compared within `small` bounds; --full takes `default` bounds. The reference
needs a setting for each reading that is named.

Exit status: 0 all properties hold and model and reference agree; 1 a property
is broken or they differ; 3 the search or the comparison is not complete";

/// The arguments of `countersign verify`.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Only this protocol [default: all]
    #[arg(long, value_enum)]
    protocol: Option<Protocol>,
    /// Search default bounds, and compare the literal model too: minutes
    #[arg(long)]
    full: bool,
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
    let mut verified = Vec::new();
    for protocol in protocols {
        verified.push(match protocol {
            Protocol::Aaep => verify::<aaep::Environment>(args, Some(judge_of_streams)),
            Protocol::McpAql => verify_spoken::<McpAql>(args, protocol),
            Protocol::PendingAction => verify_spoken::<PendingAction>(args, protocol),
        }?);
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

/// Checks one protocol's model and walks its bridge: within the bounds, over pairs within the smallest, and with `--full` literally
/// within those that the protocol sets aside for it. Where its streams are recorded and judged, the judge is walked too.
fn verify<E: Execution>(
    args: &Args,
    judge: Option<fn(&Progress) -> Walk>,
) -> miette::Result<Verified> {
    let protocol = E::Protocol::NAME;
    let is_usual = args.reread.is_usual();
    let usual = if args.full && is_usual {
        "default"
    } else {
        "small"
    };
    let bounds = preset::<E::Protocol>(args.within.bounds.as_deref().unwrap_or(usual))?;
    let [small, ..] = <E::Protocol as Modelled>::Bounds::PRESETS;
    let bridge = |bounds| {
        let model = reread::<E>(args, bounds)?;
        let bridge = Bridge::<E>::taking(bounds, model.reading).map_err(miette::Report::msg)?;
        bridge.ok_or_else(|| {
            let options = args.reread.options().collect::<Vec<_>>().join(" ");
            miette!(
                "the reference has no setting for {options}\n  \
                 hint: countersign check {protocol} {options} searches the model alone"
            )
        })
    };
    // Before anything is searched: whether the executor can take the text so.
    bridge(bounds)?;

    let model = reread::<E>(args, bounds)?;
    let started = Instant::now();
    let progress = Progress::counting(&format!("{protocol}: checking the model"), "states");
    let check = checker::check(&model, |states| progress.at(states as u64));
    let check_seconds = started.elapsed().as_secs_f64();
    drop(progress);

    // The walk meets the transitions that the search has counted, so how far it has come is known.
    let transitions = check.transitions as u64;
    let comparing = |what: &str| format!("{protocol}: comparing {what}");
    let progress = Progress::of(transitions, &comparing("every edge"), "edges");
    let edges = walk(&bridge(bounds)?, Scope::States, &progress);
    drop(progress);
    let mut literal = None;
    if args.full {
        let progress = Progress::counting(&comparing("the literal model"), "edges");
        let walk = walk(&bridge(E::LITERAL)?.literal(), Scope::States, &progress);
        literal = Some((E::LITERAL.name(), walk));
    }
    let progress = Progress::counting(&comparing("every pair at small bounds"), "edges");
    let pairs = walk(&bridge(small)?, Scope::Pairs, &progress);
    drop(progress);
    let mut aside = Vec::new();
    // What is set aside has a reading of its own, and streams are judged by the usual one.
    for &bounds in E::ASIDE.iter().filter(|_| is_usual) {
        let what = format!("every edge at {} bounds", bounds.name());
        let progress = Progress::counting(&comparing(&what), "edges");
        let walk = walk(&bridge(bounds)?, Scope::States, &progress);
        aside.push((bounds.name(), walk));
    }
    let judged = judge.filter(|_| is_usual).map(|walk| {
        let what = format!("{protocol}: judging the streams of every run");
        walk(&Progress::counting(&what, "edges"))
    });
    Ok(Verified {
        protocol,
        bounds: bounds::written(bounds),
        check,
        check_seconds,
        edges,
        literal,
        pairs: Some(pairs),
        aside,
        judged,
    })
}

/// Searches a text with its reference on every transition: judged, and held to the text's own producer.
fn verify_spoken<P: Spoken<Reference: Send + Sync>>(
    args: &Args,
    protocol: Protocol,
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
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let started = Instant::now();
    let mut searched = Vec::new();
    for &(name, bounds) in &variation.worlds {
        let what = format!("{}: searching {name} with the reference", P::NAME);
        let progress = Progress::counting(&what, "transitions");
        let party = Exact::new(P::Reference::new(settings.clone()), P::Account::default());
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
    let differing = broken.iter().filter(|it| it.name == CONFORMS);
    let walk = |it: &Searched<_, _>, divergences| Walk {
        nodes: it.states as u64,
        edges: it.transitions as u64,
        divergences,
    };
    let whole = searched.iter().filter(|(_, it)| it.broken.is_none());
    Ok(Verified {
        protocol: P::NAME,
        bounds: bounds.to_owned(),
        check: CheckReport {
            unique_states: states,
            transitions,
            pairs: states,
            edges: transitions,
            depth: searched.iter().map(|(_, it)| it.depth).max().unwrap_or(0),
            exhaustive: broken.is_empty(),
            properties: guarantees.chain(situations).collect(),
        },
        check_seconds: started.elapsed().as_secs_f64(),
        edges: Walk {
            nodes: states as u64,
            edges: transitions as u64,
            divergences: differing.map(|it| divergence::<P>(it)).collect(),
        },
        literal: None,
        pairs: None,
        aside: whole
            .map(|(name, it)| (*name, walk(it, Vec::new())))
            .collect(),
        judged: None,
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
    let property = words::property(statement);
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
    P::describe(&words::run_of(actions.collect()))
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
        disagreement: Disagreement::in_outputs(clause, expected, actual),
    }
}

/// The model within these bounds, read as the options have it.
fn reread<E: Execution>(
    args: &Args,
    bounds: <E::Protocol as Modelled>::Bounds,
) -> miette::Result<Specification<E::Protocol>> {
    let model = specification::<E::Protocol>(bounds)?;
    let reread = args.reread.of(&model)?;
    Ok(specification_of(&*reread))
}

/// What lint says of every run that the model of AAEP allows in one session, recorded with replies and without.
fn judge_of_streams(progress: &Progress) -> Walk {
    let [one, two, _] = recorded::APART;
    let recorders = [Recorder::FULL, Recorder::EVENTS_ALONE];
    recorded::walk(&[one, two], &recorders, &|edges| progress.at(edges))
}

fn walk(sides: &impl Sides, scope: Scope, progress: &Progress) -> Walk {
    edges::walk(sides, scope, &|edges| progress.at(edges))
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
        0 => "model and reference agree".to_owned(),
        1 => "model and reference differ once".to_owned(),
        differ => format!("model and reference differ {differ} times"),
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
        "on the reference",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(verified.iter().map(row));
    let columns = [Align::Left, Align::Left]
        .into_iter()
        .chain([Align::Right; 3])
        .chain([Align::Left; 2])
        .collect::<Vec<_>>();
    let mut text = table::render(&columns, &rows);
    for one in verified {
        if let Some(pairs) = &one.pairs {
            let _ = writeln!(
                text,
                "{}: {} pairs of model state and reference at small bounds, transitions: {}",
                one.protocol,
                grouped(pairs.nodes),
                walk_text(pairs),
            );
        }
        if let Some((bounds, walk)) = &one.literal {
            let _ = writeln!(
                text,
                "{}: {} states of the literal model ({bounds}), transitions: {}",
                one.protocol,
                grouped(walk.nodes),
                walk_text(walk)
            );
        }
        for (bounds, walk) in &one.aside {
            let _ = writeln!(
                text,
                "{}: {} states at {bounds} bounds, transitions: {}",
                one.protocol,
                grouped(walk.nodes),
                walk_text(walk)
            );
        }
        if let Some(judged) = &one.judged {
            let found = match judged.divergences.len() {
                0 => "none accused".to_owned(),
                accused => format!("{accused} accused"),
            };
            let _ = writeln!(
                text,
                "{}: {} pairs of model state and checker of its recording, transitions: {}, {found}",
                one.protocol,
                grouped(judged.nodes),
                grouped(judged.edges),
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
        if !one.is_whole() && one.status() != Status::Violated {
            let _ = writeln!(
                text,
                "\n{}: compared {} transitions of {} states, and not the {} of {} that the search found",
                one.protocol,
                grouped(one.edges.edges),
                grouped(one.edges.nodes),
                grouped(one.check.transitions as u64),
                grouped(one.check.unique_states as u64),
            );
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
        table::per_second(one.check.edges as u64, one.check_seconds),
        format!("{} hold, {} reached", always.len(), sometimes.len()),
        walk_text(&one.edges),
    ]
}

/// How a walk came out, in a few words.
fn walk_text(walk: &Walk) -> String {
    let edges = grouped(walk.edges);
    match walk.divergences.len() {
        0 => format!("{edges} agree"),
        diverging => format!("{edges} compared, {diverging} diverge"),
    }
}
