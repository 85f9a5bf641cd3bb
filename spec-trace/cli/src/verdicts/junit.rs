//! `verify` for build servers: each protocol is a suite, with a case for each property and for each comparison.
//!
//! A counterexample or a divergence is a failure with its steps; what was not exercised is an error.

use std::time::Duration;

use countersign_clauses::cited;
use countersign_model::checker::{Kind, PropertyVerdict};

use super::{Comparison, Verified, divergence_text, property_text};
use crate::formats::junit::{self, Case, Result, Suite};

/// What was found, as an XML document.
pub fn render(verified: &[Verified]) -> String {
    let suites: Vec<Suite> = verified.iter().map(suite).collect();
    junit::document("verify", &suites)
}

fn suite(verified: &Verified) -> Suite {
    let Verified {
        protocol,
        bounds,
        check,
        ..
    } = verified;
    let searched = if check.exhaustive {
        Result::Passed
    } else {
        let states = check.unique_states;
        Result::Unusable(format!("the search ended early, after {states} states"))
    };
    let mut cases = vec![Case::new(
        "every state within the bounds is searched",
        searched,
    )];
    cases.extend(check.properties.iter().map(of_property));
    cases.extend(verified.comparisons().map(|it| of_comparison(&it)));
    Suite {
        time: Duration::try_from_secs_f64(verified.check_seconds).ok(),
        name: format!("{protocol}, {bounds} bounds"),
        cases,
    }
}

fn of_property(property: &PropertyVerdict) -> Case {
    let result = match (property.holds, property.kind) {
        (true, Kind::Always | Kind::Sometimes) => Result::Passed,
        (false, Kind::Always) => Result::Failed {
            kind: "counterexample",
            message: format!("a run of {} steps breaks it", property.steps.len()),
            text: property_text(property),
        },
        (false, Kind::Sometimes) => {
            Result::Unusable("nothing within these bounds shows it".to_owned())
        }
    };
    Case::new(&*property.name, result)
}

fn of_comparison(comparison: &Comparison<'_>) -> Case {
    let Comparison { what, walk } = comparison;
    let result = match &*walk.divergences {
        [first, ..] => {
            let texts: Vec<String> = walk.divergences.iter().map(divergence_text).collect();
            Result::Failed {
                kind: "divergence",
                message: format!("against {}", cited(first.clause)),
                text: texts.join("\n"),
            }
        }
        [] if comparison.is_whole() => Result::Passed,
        [] => Result::Unusable("nothing was searched".to_owned()),
    };
    Case::new(what.as_str(), result)
}
