//! The gatekeeper under the judge of confirmation tokens, in wide random runs. Whatever a run once found is kept as a file and
//! replayed by every later run of the tests.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_conform::mcp_aql::wide::{self, KeptRun, Run};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngSeed, TestRunner};

fn kept_runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/kept/mcp-aql")
}

/// How many random runs there are.
const RUNS: usize = 1_500;

/// Plays a run, or keeps it and says what was broken.
fn play(run: &Run) -> wide::Played {
    wide::play(run).unwrap_or_else(|broken| {
        let kept = broken.keep(&kept_runs());
        panic!("{broken}kept: {kept:?}");
    })
}

/// Plays so many runs of random bytes, each changed first. What was reached, in words.
fn play_runs(seed: u64, runs: usize, changed: impl Fn(Run) -> Run) -> BTreeSet<&'static str> {
    // Bytes are not shrunk: a run is, step by step.
    let mut runner = TestRunner::new(ProptestConfig {
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    });
    let bytes = prop::collection::vec(any::<u8>(), 0..4_000);
    let mut reached = BTreeSet::new();
    for _ in 0..runs {
        let bytes = bytes.new_tree(&mut runner).expect("bytes").current();
        reached.extend(play(&changed(Run::of(&bytes))).seen.into_keys());
    }
    reached
}

/// `COUNTERSIGN_WIDE_SEED`, or a new seed; printed.
fn seed() -> u64 {
    let seed = std::env::var("COUNTERSIGN_WIDE_SEED").ok();
    let seed = seed.map(|it| it.parse().expect("COUNTERSIGN_WIDE_SEED is a number"));
    let seed = seed.unwrap_or_else(|| RandomState::new().build_hasher().finish());
    println!("COUNTERSIGN_WIDE_SEED={seed}");
    seed
}

const fn signing(mut run: Run) -> Run {
    run.host.signs = true;
    run.host.crowded = false;
    run
}

/// AQL-1.3-1, AQL-3.2-1, AQL-4.1-1 to AQL-4.1-6, AQL-5.1-7, AQL-5.4-1, AQL-5.5-3, AQL-6.1-1, AQL-6.4-1, AQL-6.5-1: whatever is asked in
/// whatever order and time, the gatekeeper does what the judge allows.
#[test]
fn the_gatekeeper_keeps_the_text_on_wide_runs() {
    play_runs(seed(), RUNS, |run| run);
}

/// AQL-6.2-1, AQL-6.2-2, AQL-6.2-4, AQL-7.3-2: the same of one that signs its tokens, by the reading that has it so.
#[test]
fn the_gatekeeper_that_signs_keeps_the_text_on_wide_runs() {
    play_runs(seed(), RUNS / 2, signing);
}

/// AQL-5.5-3, AQL-6.2-1: the runs of a fixed seed reach each way in which a call can end, also for tokens that are signed and where there
/// is room for few.
#[test]
fn wide_runs_of_a_fixed_seed_reach_every_way_in_which_a_call_can_end() {
    let crowded = |mut run: Run| {
        run.host.burst = None;
        run.host.crowded = true;
        run
    };
    let signed = play_runs(1, 100, signing);
    let crowded = play_runs(1, 20, crowded);
    let usual = play_runs(1, 400, |run| run);
    let reaches = |reached: &BTreeSet<&str>, ways: &[&str]| {
        for way in ways {
            assert!(reached.contains(way), "{way}: not among {reached:#?}");
        }
    };
    reaches(&crowded, &["there is no room"]);
    reaches(
        &signed,
        &[
            "a token is issued",
            "a token is taken",
            "a token is refused",
        ],
    );
    reaches(
        &usual,
        &[
            "a token is issued",
            "a token is taken",
            "a token is refused",
            "a call with a token is turned away",
            "a call without a token runs or is turned away",
            "a revocation",
            "a status",
            "a configuration",
            "an event",
            "the end of a session",
            "a restart",
            "a call of which its list names nothing is refused, as it differs",
        ],
    );
}

/// Every run that once showed something.
#[test]
fn every_kept_wide_run_of_mcp_aql_keeps_the_text() {
    let files: Vec<_> = fs::read_dir(kept_runs())
        .expect("the folder of kept runs")
        .collect();
    assert!(!files.is_empty(), "there are kept runs");
    for file in files {
        let path = file.expect("a readable entry").path();
        let text = fs::read_to_string(&path).expect("a readable run");
        let kept: KeptRun = serde_json::from_str(&text).expect("a kept run");
        assert_eq!(kept.protocol, "mcp-aql");
        let run = Run {
            host: kept.settings,
            steps: kept.steps,
        };
        if let Err(broken) = wide::play(&run) {
            panic!("{}: {broken}", path.display());
        }
    }
}

/// For `COUNTERSIGN_WIDE_SECONDS`, a minute unless set, on one core; says how many calls a second were made and judged.
#[test]
#[ignore = "night: takes a minute, or COUNTERSIGN_WIDE_SECONDS"]
fn the_gatekeeper_keeps_the_text_for_long() {
    let seconds = std::env::var("COUNTERSIGN_WIDE_SECONDS")
        .ok()
        .and_then(|it| it.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(60));
    let (start, mut calls, mut seed) = (Instant::now(), 0, seed());
    while start.elapsed() < time {
        let mut state = seed | 1;
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[5]
        })
        .take(20_000)
        .collect();
        calls += play(&Run::of(&bytes)).calls;
        seed = seed.wrapping_add(1);
    }
    let rate = u128::try_from(calls).unwrap_or(0) * 1_000 / start.elapsed().as_millis().max(1);
    println!("{calls} calls, {rate} a second");
}
