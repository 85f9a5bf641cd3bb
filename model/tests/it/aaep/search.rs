//! How far the searches go, and what they say of how far that was.

use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::readings::Reading;
use countersign_model::aaep::rules::{Guard, Rules};
use countersign_model::aaep::{Aaep, AaepProtocol};
use countersign_model::checker::{CheckReport, PropertyVerdict, check, check_within};
use countersign_model::judged::Limit;

use crate::common::{small, within};

/// A graph that is searched at once: one confirmation.
fn smallest() -> Aaep {
    within::<AaepProtocol>(Bounds {
        confirmations: 1,
        ..Bounds::SMALL
    })
}

/// The same, of a producer that honours late replies.
fn honouring_late() -> Aaep {
    smallest().with(Rules::all().without(Guard::HonoursLate), Reading::default())
}

/// What a producer that honours late replies breaks.
fn late_without_effect(report: &CheckReport) -> &PropertyVerdict {
    let name = "6.3.4-4 a reply that claims the deadline or later has no effect";
    let mut properties = report.properties.iter();
    properties
        .find(|property| property.name == name)
        .expect("the property is listed")
}

#[test]
fn the_breadth_first_search_finds_as_much_as_the_exhaustive_one() {
    for model in [small::<AaepProtocol>(), smallest().literal()] {
        let (whole, found) = (
            check(&model, |_| {}),
            check_within(&model, Limit::default(), |_| {}),
        );
        assert!(whole.exhaustive && found.exhaustive);
        assert_eq!(found.unique_states, whole.unique_states);
        assert_eq!(found.transitions, whole.transitions);
        assert_eq!((found.pairs, found.edges), (whole.pairs, whole.edges));
        let verdicts = |report: &CheckReport| -> Vec<bool> {
            report.properties.iter().map(|it| it.holds).collect()
        };
        assert_eq!(verdicts(&found), verdicts(&whole));
    }
}

#[test]
fn a_search_is_exhaustive_only_if_there_was_room_for_more_than_it_found() {
    let whole = check_within(&smallest(), Limit::default(), |_| {});
    let pairs = whole.pairs;
    for (room, exhaustive) in [(pairs - 1, false), (pairs, false), (pairs + 1, true)] {
        let limit = Limit {
            pairs: room,
            ..Limit::default()
        };
        let report = check_within(&smallest(), limit, |_| {});
        assert_eq!(report.exhaustive, exhaustive, "{room} of {pairs}");
        assert!(report.depth <= whole.depth);
    }
}

/// What breaks is broken from the length of its shortest run on, and before that the report says how far it looked.
#[test]
fn a_property_is_not_said_to_hold_by_a_search_that_ended_before_its_counterexample() {
    for (steps, holds) in [(5, true), (6, false), (7, false)] {
        let limit = Limit {
            steps,
            ..Limit::default()
        };
        let report = check_within(&honouring_late(), limit, |_| {});
        assert!(!report.exhaustive);
        assert_eq!(report.depth, steps);
        assert_eq!(late_without_effect(&report).holds, holds, "{steps}");
    }
}

/// The first search ends at the first break; the second tells of each property whether it holds everywhere.
#[test]
fn a_check_of_what_breaks_goes_everywhere() {
    let model = honouring_late();
    let (report, found) = (
        check(&model, |_| {}),
        check_within(&model, Limit::default(), |_| {}),
    );
    assert!(report.exhaustive);
    assert_eq!(report.unique_states, found.unique_states);
    assert_eq!(late_without_effect(&report).steps.len(), 6);
}
