//! What the wide runs of every protocol have in common.
//!
//! The one thing to know: a run is a seed. What a run once found, or a fault of the executor showed, is kept as a file and
//! played again by every later run of the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

/// The folder of the kept runs of a protocol.
pub fn kept_runs(protocol: &str) -> PathBuf {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/kept");
    kept.join(protocol)
}

/// Plays the run of one seed after the other for as long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints
/// how fast it is. `play` gives the number of calls of a run.
pub fn for_as_long_as_it_is_given(play: impl Fn(u64) -> usize) {
    let number = |name, default| {
        let text = std::env::var(name).ok();
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let seconds = number("COUNTERSIGN_WIDE_SECONDS", 60);
    let first: u64 = number("COUNTERSIGN_WIDE_SEED", 1);
    println!("seeds from {first} on, for {seconds} s");
    let start = Instant::now();
    let mut calls = 0;
    let mut seed = first;
    while start.elapsed() < Duration::from_secs(seconds) {
        calls += play(seed);
        seed += 1;
    }
    let took = start.elapsed().as_secs_f64();
    let runs = seed - first;
    #[expect(clippy::cast_precision_loss, reason = "a rate is for reading")]
    let rate = calls as f64 / took;
    println!("{runs} runs, {calls} calls, {rate:.0} calls/s");
}

/// Every run that is kept of a protocol, with its file.
pub fn every_kept_run<R: DeserializeOwned>(protocol: &str) -> Vec<(PathBuf, R)> {
    let files = fs::read_dir(kept_runs(protocol)).expect("the folder of kept runs");
    let files: Vec<_> = files
        .map(|it| it.expect("a readable entry").path())
        .collect();
    assert!(!files.is_empty(), "runs are kept");
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a readable run");
        let run = serde_json::from_str(&text);
        let run = run.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (file, run)
    };
    files.into_iter().map(read).collect()
}
