//! Lint against the text: what the text allows a producer, written as a recording, is not accused.

use countersign_cli::recorded::writer::Recorder;
use countersign_cli::recorded::{Recorded, SMALL, divergence, search, walk};
use countersign_conform::search::Broken;
use countersign_model::aaep::Aaep;
use countersign_model::aaep::environment::Bounds;
use countersign_model::facade::engine::Catalog as _;

fn assert_not_accused(recorder: Recorder, broken: Option<&Broken<Aaep, Recorded>>) {
    let Some(broken) = broken else { return };
    let it = divergence(broken);
    let steps = it.steps.iter().map(|step| {
        let changes = step.changes.iter().map(|it| format!("    {it}\n"));
        format!(
            "{} {} {}\n{}",
            step.at,
            step.actor,
            step.action,
            changes.collect::<String>()
        )
    });
    let run: String = steps.collect();
    panic!("{recorder:?}\n{run}{}: {}", it.clause, it.actual);
}

/// No run within these bounds is accused. The number of states and of transitions.
fn searched(recorder: Recorder, bounds: Bounds) -> (usize, usize) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found = search(recorder, bounds, threads, &|_| {});
    assert_not_accused(recorder, found.broken.as_ref());
    (found.states, found.transitions)
}

/// Random runs, so many within each of the bounds of the catalog and for each recorder, each of so many steps.
fn walked(runs: u64, steps: usize) {
    for (recorder, (_, bounds)) in Recorder::ALL.into_iter().flat_map(|it| {
        Aaep::WORLDS
            .iter()
            .chain(Aaep::OTHER_WORLDS)
            .map(move |world| (it, *world))
    }) {
        for seed in 0..runs {
            assert_not_accused(
                recorder,
                walk(recorder, bounds, choices(seed).take(steps)).as_ref(),
            );
        }
    }
}

/// Numbers from a seed: Knuth's linear congruential generator.
fn choices(seed: u64) -> impl Iterator<Item = u16> {
    let next = |it: &u64| {
        Some(
            it.wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407),
        )
    };
    std::iter::successors(next(&seed), next).map(|it| (it >> 48) as u16)
}

/// AAEP-6.1-1, AAEP-6.4-1, AAEP-A.7.4-1: whoever keeps the rules is not accused, whatever the world does and however it is recorded.
#[test]
fn no_random_run_of_a_conforming_producer_is_accused() {
    walked(20, 60);
}

/// AAEP-6.1-1, AAEP-6.4-1: nor is any run within small bounds of which events alone are recorded.
#[test]
fn no_run_within_small_bounds_is_accused() {
    let found = SMALL.map(|bounds| searched(Recorder::EVENTS_ALONE, bounds));
    let expected = [
        (1_585, 25_746),
        (1_301, 17_956),
        (2_937, 35_504),
        (2_956, 35_655),
        (1_939, 29_520),
        (926, 6_210),
    ];
    assert_eq!(found, expected);
}

/// AAEP-6.3.4-7, AAEP-6.3.4-9: nor where replies are recorded.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_within_small_bounds_is_accused_where_replies_are_recorded() {
    for recorder in Recorder::ALL {
        for bounds in SMALL {
            searched(recorder, bounds);
        }
    }
}

/// The same with all that can happen within the bounds of the catalog, as far as a night goes.
#[test]
#[ignore = "night: takes minutes"]
fn no_run_within_the_bounds_of_the_catalog_is_accused() {
    for (_, bounds) in Aaep::WORLDS {
        searched(Recorder::EVENTS_ALONE, *bounds);
    }
}

/// Many random runs, and longer ones.
#[test]
#[ignore = "night: takes minutes"]
fn no_long_run_of_a_conforming_producer_is_accused() {
    walked(500, 200);
}
