//! `verify` for code hosts. A result names its clause and has no place: it is a run, not a line of a file.

use countersign_model::checker::{Kind, PropertyVerdict};
use serde_json::Value;

use super::{Divergence, Verified, divergence_text, property_text, unmet};
use crate::formats::sarif::{Log, Outcome, notification};

/// What was found, as a SARIF log.
pub fn render(verified: &[Verified]) -> Value {
    let log = Log {
        status: super::status(verified),
        results: verified.iter().flat_map(results).collect(),
        notifications: verified.iter().flat_map(notifications).collect(),
    };
    log.document()
}

fn results(verified: &Verified) -> impl Iterator<Item = Outcome> {
    let broken = unmet(&verified.check, Kind::Always).filter_map(counterexample);
    broken.chain(verified.divergences().map(divergence))
}

/// A property names the clauses that it states; there is at least one.
fn counterexample(property: &PropertyVerdict) -> Option<Outcome> {
    let clause = property.clauses.first()?;
    Some(outcome(clause, property_text(property)))
}

fn divergence(divergence: &Divergence) -> Outcome {
    outcome(divergence.clause, divergence_text(divergence))
}

fn outcome(clause: &'static str, message: String) -> Outcome {
    Outcome {
        clause,
        level: "error",
        message,
        place: None,
        fingerprint: None,
        suppressed: None,
        related: Vec::new(),
    }
}

/// What was not exercised.
fn notifications(verified: &Verified) -> Vec<Value> {
    let protocol = verified.protocol;
    let mut told = Vec::new();
    if !verified.check.exhaustive {
        told.push(format!("{protocol}: the search ended early"));
    }
    let unseen = unmet(&verified.check, Kind::Sometimes);
    told.extend(unseen.map(|property| format!("{protocol}: {}", property_text(property))));
    let cut = verified.comparisons();
    let cut = cut.filter(|it| !it.is_whole() && it.walk.divergences.is_empty());
    told.extend(cut.map(|it| format!("{protocol}: nothing was searched: {}", it.what)));
    told.iter().map(|text| notification(text, None)).collect()
}
