//! Lint against the model: what the model allows, written as a stream, is not accused.

use countersign_cli::recorded::writer::Recorder;
use countersign_cli::recorded::{APART, CLARIFYING, RECORDERS, TOGETHER, UNCOUNTED, WORKING, walk};
use countersign_model::aaep::bounds::Bounds;

/// How many pairs and edges there are, of which none is accused.
#[track_caller]
fn nobody_accused(bounds: &[Bounds], recorders: &[Recorder]) -> (u64, u64) {
    let walk = walk(bounds, recorders, &|_| {});
    assert_eq!(walk.divergences, []);
    (walk.nodes, walk.edges)
}

/// AAEP-6.1-1, AAEP-6.3.4-7, AAEP-6.4-1: whoever keeps the rules is not accused, whatever the world does and however it is
/// recorded. The first two recorders are those of `verify`, which the tests of the command line look at.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_that_the_model_allows_is_accused() {
    let [one, two, _] = APART;
    let [_, _, others @ ..] = RECORDERS;
    assert_eq!(nobody_accused(&[one, two], &others), (222_738, 600_144));
}

/// AAEP-6.2.2-2: nor in two sessions at once.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_of_two_sessions_is_accused() {
    let [_, _, sessions] = APART;
    assert_eq!(
        nobody_accused(&[sessions], &[Recorder::FULL]),
        (387_530, 1_074_860)
    );
}

/// AAEP-6.1-7, AAEP-6.4.2-3, AAEP-6.5.5-1, AAEP-A.5-1: nor where clarifications are asked for, and questions have more time.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_with_clarifications_is_accused() {
    let [in_peace, more_time, ..] = CLARIFYING;
    let [full, events_alone, _] = UNCOUNTED;
    assert_eq!(nobody_accused(&[in_peace], &[full]), (60_785, 176_758));
    assert_eq!(
        nobody_accused(&[more_time], &[events_alone]),
        (104_378, 323_302)
    );
}

/// AAEP-6.5.5-2, AAEP-6.8-3, AAEP-A.5-2: nor where a question is withdrawn, or comes to its default as the last subscription closes,
/// after a response that does not fit; also where no event says which question it is about.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_with_a_clarification_that_nobody_answers_is_accused() {
    let [.., by_nobody] = CLARIFYING;
    let [full, _, without_ids] = UNCOUNTED;
    let found = nobody_accused(&[by_nobody], &[full, without_ids]);
    assert_eq!(found, (1_174_300, 3_809_802));
}

/// AAEP-6.1-4, AAEP-A.3-3, AAEP-A.6-1, AAEP-A.7.7-1: nor where tools run unasked, output is written and sessions are handed off.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_with_work_is_accused() {
    let [work, _, _] = WORKING;
    let found = nobody_accused(&[work], &RECORDERS);
    assert_eq!(found, (194_897, 793_382));
}

/// The same with three pieces of it, and disturbed.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_with_much_work_is_accused() {
    let [_, three, disturbed] = WORKING;
    let found = nobody_accused(&[three, disturbed], &RECORDERS);
    assert!(found.0 > 1_500_000 && found.1 > 6_500_000, "{found:?}");
}

/// AAEP-6.3.4-2, AAEP-6.5.5-4: nor where replies to them are forged, of the other kind or malformed.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_with_disturbed_clarifications_is_accused() {
    let [_, more_time, disturbed, _] = CLARIFYING;
    let [full, events_alone, _] = UNCOUNTED;
    assert_eq!(nobody_accused(&[more_time], &[full]), (258_040, 935_060));
    assert_eq!(
        nobody_accused(&[disturbed], &[full, events_alone]),
        (991_095, 3_068_862)
    );
}

/// The same with all that can happen in one session: `.ci/night walks`.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_of_a_disturbed_session_is_accused() {
    let found = nobody_accused(&[TOGETHER], &[Recorder::FULL]);
    assert_eq!(found, (11_373_640, 43_433_530));
}
