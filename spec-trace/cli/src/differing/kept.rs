//! What implementations are driven with, drawn without one: a run that `diff` has kept, and a vector.

use countersign_clauses::cited_all;
use countersign_conform::driven::{self, Played, play};
use countersign_conform::implementation::{Greeted, Implementation};
use countersign_conform::spoken::{Spoken, Wire, judge};
use countersign_conform::suite::vectors::{Vector, VectorStep};
use countersign_model::aaep::Aaep;
use countersign_model::mcp_aql::McpAql;
use countersign_model::pending_action::PendingAction;
use serde_json::{Map, Value};

use super::html::step;
use super::{Step, in_words};
use crate::serve::controls::Referred;
use crate::show::run::{Kind, Run};
use crate::show::words::printable;

/// A kept run, with what the reference answers.
///
/// # Errors
///
/// Where it is none of a protocol that there is, or the reference cannot be asked.
pub fn run(document: Value) -> Result<Run, String> {
    match document.get("protocol").and_then(Value::as_str) {
        Some("aaep") => answered::<Aaep>(document),
        Some("mcp-aql") => answered::<McpAql>(document),
        Some("pending-action") => answered::<PendingAction>(document),
        Some(other) => Err(format!("no protocol is called {other:?}")),
        None => Err("it names no protocol".to_owned()),
    }
}

fn answered<P: Referred>(document: Value) -> Result<Run, String> {
    let kept: driven::Run<P> = serde_json::from_value(document).map_err(|it| it.to_string())?;
    let mut run = drawn(P::NAME, &kept.shows);
    run.remarks
        .push("the answers are those of the reference".to_owned());
    let played = match &kept.settings {
        None => played(P::reference(SEED), &kept)?,
        Some(settings) => {
            let chosen = printable(&in_words(settings));
            run.remarks
                .push(format!("what its host had chosen: {chosen}"));
            played(P::chosen(SEED, settings)?, &kept)?
        }
    };
    for told in &played.told {
        let Step { at, asked, answers } = Step::of(told);
        run.steps.push(step(&at, &asked, &answers));
    }
    Ok(run)
}

fn played<P: Spoken>(
    reference: impl Implementation<Wire<P>>,
    kept: &driven::Run<P>,
) -> Result<Played<P>, String> {
    let mut reference = Greeted::new(reference).map_err(|it| it.to_string())?;
    let judge = judge::<P>(reference.greeting());
    Ok(play::<P, _>(&mut reference, &kept.steps, &judge))
}

/// The reference draws its names from this seed.
const SEED: u64 = 1;

/// A vector, with what it requires and forbids.
///
/// # Errors
///
/// Where it is none.
pub fn vector(document: Value) -> Result<Run, String> {
    let vector: Vector = serde_json::from_value(document).map_err(|it| it.to_string())?;
    let mut run = drawn(&vector.protocol, &vector.shows.join(", "));
    for it in &vector.steps {
        let mut fields = it.request.clone();
        let mut taken = |name| match fields.shift_remove(name) {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let (at, op) = (taken("now"), taken("op"));
        let asked = format!("{op} {}", in_words(&Value::Object(fields)));
        run.steps.push(step(&at, asked.trim_end(), &notes(it)));
    }
    Ok(run)
}

/// What a step of a vector requires and forbids.
fn notes(step: &VectorStep) -> Vec<String> {
    let output = |output: &Map<String, Value>| in_words(&Value::Object(output.clone()));
    let expected = step.expected.iter().map(|it| {
        let by = match &it.required[..] {
            [] => "may come".to_owned(),
            clauses => format!("required by {}", cited_all(clauses)),
        };
        format!("{by}: {}", output(&it.pattern.output))
    });
    let forbidden = step.forbidden.iter().map(|it| {
        let clauses = cited_all(&it.because);
        format!("forbidden by {clauses}: {}", output(&it.pattern.output))
    });
    expected.chain(forbidden).collect()
}

fn drawn(protocol: &str, shows: &str) -> Run {
    Run {
        kind: Kind::Kept,
        title: printable(&format!("{protocol}, as an implementation is driven")),
        head: String::new(),
        verdict: printable(shows),
        participants: vec!["driver".to_owned(), "implementation".to_owned()],
        tracks: Vec::new(),
        steps: Vec::new(),
        findings: Vec::new(),
        remarks: Vec::new(),
    }
}
