//! The judge, who knows calls and outputs alone, is told of every step of the model.

use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::readings::Reading;
use countersign_model::aaep::rules::Guard;
use countersign_model::aaep::{Aaep, AaepProtocol};
use countersign_model::judge::Kind;
use countersign_model::judged::{self, Judged};
use countersign_model::rules::Rules;
use countersign_model::shortest::Limit;
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;

/// What the judge finds in runs of so many steps.
fn judged(model: &Aaep, steps: usize) -> Judged<AaepProtocol> {
    let limit = Limit {
        steps,
        ..Limit::default()
    };
    judged::search(model, limit, |_| {})
}

fn small() -> Aaep {
    Aaep::new(Bounds::SMALL).expect("constant bounds are in range")
}

/// The rules that the judge does not miss in a producer without them, and why.
const UNSEEN: [(Guard, &str); 1] = [(
    Guard::BeginsAfterEnd,
    "what the host is told not to begin is no output that anybody else sees",
)];

#[test]
fn the_judge_finds_nothing_in_a_producer_that_keeps_every_rule() {
    let judged = judged(&small(), usize::MAX);
    assert!(judged.exhaustive);
    assert!(judged.found.is_empty(), "{:#?}", judged.found);
}

#[test]
fn the_judge_names_the_clause_of_the_rule_that_is_left_out() {
    for row in <AaepProtocol as Modelled>::Guard::ROWS {
        let model = small().with(Rules::all().without(row.guard), Reading::default());
        let steps = match row.guard {
            Guard::SpillsOver | Guard::HonoursUsed | Guard::HonoursCancelled => 6,
            _ => 5,
        };
        let found = judged(&model, steps).found;
        let names = found.values().any(|found| {
            let also = found.finding.also.iter();
            let mut named = also.chain([&found.finding.clause]);
            named.any(|clause| row.clauses.contains(clause))
        });
        let unseen = UNSEEN.iter().any(|(guard, _)| *guard == row.guard);
        assert_eq!(names, !unseen, "{}: {found:#?}", row.name);
    }
}

/// What a reading costs: the guarantees that a producer breaks who conforms to the text read so, in runs of up to six steps.
const COSTS: [(&str, &str, &[&str]); 5] = [
    ("timeout-uses-token", "no", &["AAEP-6.3.5-1", "AAEP-A.4-4"]),
    ("cancellation-releases", "no", &["AAEP-A.4-4"]),
    ("session-end-cancels", "cancelled-only", &["AAEP-A.1-3"]),
    ("early-default-on-close", "as-default", &["AAEP-6.1-1"]),
    ("early-default-on-close", "never", &["AAEP-EV-11"]),
];

#[test]
fn under_every_reading_the_producer_conforms_and_what_it_costs_is_known() {
    for place in AaepProtocol::PLACES {
        for choice in place.choices {
            let mut reading = Reading::default();
            (choice.set)(&mut reading);
            let found = judged(&small().with(Rules::all(), reading), 6).found;
            let cost = COSTS
                .iter()
                .find(|(name, value, _)| (*name, *value) == (place.name, choice.value));
            let clauses = cost.map_or(&[][..], |(.., clauses)| clauses);
            let guarantees = clauses.iter().map(|&clause| (clause, Kind::Guarantee));
            assert!(
                found.keys().copied().eq(guarantees),
                "{}={}: {found:#?}",
                place.name,
                choice.value
            );
        }
    }
}
