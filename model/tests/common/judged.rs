//! What the judge, who is told of every step of the model and knows no rule, finds in each producer.

use std::fmt::Write;

use countersign_model::judge::Kind;
use countersign_model::judged::{self, Judged, Tells};
use countersign_model::rules::Rules;
use countersign_model::shortest::Limit;
use countersign_model::specification::Specification;
use countersign_model::table::Tabled;

use super::small;

/// What the judge finds in runs of up to so many steps.
fn judged<T: Tells>(model: &Specification<T>, steps: usize) -> Judged<T> {
    let limit = Limit {
        steps,
        ..Limit::default()
    };
    judged::search(model, limit, |_| {})
}

/// Checks that there is nothing to find at `small` bounds in a producer that keeps every rule.
pub fn assert_nothing_is_found<T: Tells>() {
    let judged = judged(&small::<T>(), usize::MAX);
    assert!(judged.exhaustive);
    assert!(judged.found.is_empty(), "{:#?}", judged.found);
}

/// What is found in runs of up to so many steps where a rule is left out: a line for each rule, which says so where its clauses
/// are not named, and one for each clause with the length of the shortest run.
pub fn rules<T: Tells>(steps: usize) -> String {
    let mut text = String::new();
    for row in <T::Guard as Tabled>::ROWS {
        let model = small::<T>();
        let found = judged(
            &model.with(Rules::all().without(row.guard), model.reading),
            steps,
        );
        let mut findings = found.found.values().map(|found| &found.finding);
        let named = findings.any(|finding| {
            let mut names = finding.also.iter().chain([&finding.clause]);
            names.any(|clause| row.clauses.contains(clause))
        });
        let missed = if named { "" } else { ": not named" };
        let _ = writeln!(text, "{} {}{missed}", row.name, row.clauses[0]);
        text.push_str(&lines(&found));
    }
    text
}

/// What is found where the text is taken in another way: the guarantees that this costs. Nothing else is found, since the
/// producer conforms.
pub fn readings<T: Tells>(steps: usize) -> String {
    let mut text = String::new();
    for place in T::PLACES {
        for choice in &place.choices[1..] {
            let mut reading = T::Reading::default();
            (choice.set)(&mut reading);
            let found = judged(&small::<T>().with(Rules::all(), reading), steps);
            let _ = writeln!(text, "{}={}", place.name, choice.value);
            text.push_str(&lines(&found));
        }
    }
    text
}

fn lines<T: Tells>(judged: &Judged<T>) -> String {
    let mut text = String::new();
    for ((clause, kind), found) in &judged.found {
        let kind = match kind {
            Kind::Conformance => "conformance",
            Kind::Guarantee => "guarantee",
        };
        let _ = writeln!(text, "  {} {kind} {clause}", found.run.len());
    }
    text
}
