//! `verify` for code hosts: a counterexample stands where its property is stated, a divergence where the clause is carried
//! out, or judged.

use countersign_model::checker::{Kind, PropertyVerdict};
use serde_json::{Value, json};

use super::{Comparison, Verified, divergence_text, property_text, unmet};
use crate::formats::sarif::{Log, Outcome, notification, place};
use crate::links::LINKS;
use countersign_clauses::links;
use countersign_conform::Divergence;

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
    broken.chain(verified.comparisons().flat_map(|it| divergences(&it)))
}

/// A property names the clauses that it states; there is at least one.
fn counterexample(property: &PropertyVerdict) -> Option<Outcome> {
    let clause = property.clauses.first()?;
    let is_meant =
        |link: &links::Link| link.kind == links::Kind::Property && link.name == property.name;
    Some(Outcome {
        clause,
        level: "error",
        message: property_text(property),
        place: place_of(clause, is_meant),
        fingerprint: None,
        suppressed: None,
        related: Vec::new(),
    })
}

fn divergences(comparison: &Comparison<'_>) -> Vec<Outcome> {
    let by = comparison.by;
    let of = |divergence: &Divergence| {
        let clause = divergence.disagreement.clause;
        Outcome {
            clause,
            level: "error",
            message: divergence_text(divergence),
            place: place_of(clause, |link| link.kind == by),
            fingerprint: None,
            suppressed: None,
            related: Vec::new(),
        }
    };
    comparison.walk.divergences.iter().map(of).collect()
}

/// Where a clause leads by the first link that is meant.
fn place_of(clause: &str, is_meant: impl Fn(&links::Link) -> bool) -> Option<Value> {
    let links = LINKS.of(countersign_clauses::get(clause).ok()?);
    let at = links.iter().find(|link| is_meant(link))?.at.as_deref()?;
    let (file, line) = at.rsplit_once(':')?;
    let line: u64 = line.parse().ok()?;
    Some(place(file, Some(json!({"startLine": line}))))
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
    let cut = cut.filter(|it| !it.is_whole && it.walk.divergences.is_empty());
    told.extend(cut.map(|it| format!("{protocol}: the walk ended early: {}", it.what)));
    told.iter().map(|text| notification(text, None)).collect()
}
