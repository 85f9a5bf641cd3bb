//! A report with everything that there can be in one, made in seconds: of the long searches some places and
//! one rule, most within narrow bounds.

use std::collections::{BTreeMap, BTreeSet};

use countersign_clauses::passages::{Added, Beside, Compared, Place, State, Why};
use countersign_cli::commands::readings::Costs;
use countersign_cli::commands::worth::Drawn;
use countersign_cli::report::{Full, Report, above_worth, clause_link};
use countersign_model::facade;

/// Bounds in which a search takes no time.
const BOUNDS: &str = "small,actions=1";

/// What stands in the editor's copy: text that means to be more than text.
const HOSTILE: &str =
    "</td></script><img src=https://example.invalid/x onerror=\"document.title='taken'\">\u{202E}";

/// The report.
pub fn whole() -> Report {
    let [aaep, _, pending] = &*facade::TEXTS;
    let places: Vec<_> = pending.places.iter().collect();
    let rules = pending.named("PA-8");
    let beside = (&above_worth(pending.name), clause_link as fn(&str) -> _);
    let worth = Drawn::of(pending, BOUNDS, &rules, beside).expect("bounds");
    let readings = Costs::of(pending, BOUNDS, &places).expect("bounds");
    let place = aaep.place("deadline-boundary").expect("a place");
    let costly = Costs::of(aaep, "small", &[place]).expect("bounds");
    Report {
        against: Some(compared()),
        full: Some(Full {
            readings: vec![readings, costly],
            worth: vec![worth],
        }),
    }
}

/// A clause in each state, and a sentence without one.
fn compared() -> Compared {
    let place = || Place {
        file: "copy <b>.md".to_owned(),
        line: 7,
        text: HOSTILE.to_owned(),
    };
    let beside = |id, state| Beside {
        id,
        state,
        why: BTreeSet::from([Why::Signs]),
        passages: vec![place()],
    };
    Compared {
        documents: BTreeMap::from([("AAEP chapter 6", Some("copy <b>.md".to_owned()))]),
        others: BTreeMap::from([("AAEP chapter 6", vec!["old <b>.md".to_owned()])]),
        clauses: vec![
            beside("AAEP-6.1-1", State::Same),
            beside("AAEP-6.3.4-4", State::Changed),
            beside("AAEP-6.9-5", State::Lost),
            beside("PA-5", State::Absent),
        ],
        moved: vec![place()],
        uncovered: vec![place()],
        added: [None, Some("PA-5")]
            .map(|after| Added {
                place: place(),
                after,
                why: Why::Signs,
            })
            .into(),
    }
}
