//! Wide runs of the executor of pending actions under the judge: hundreds of steps, any number of everything.
//!
//! The one thing to know: a run is a seed. What a run once found, or a fault of the executor showed, is kept as a file and
//! played again by every later run of the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_conform::pending_action::wide::WideRun;
use countersign_model::pending_action::judge::words::{Call, Event, Message, Output};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

fn kept_runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/kept/pending-action")
}

/// Plays a run; where it breaks something, keeps the shortest that does so as well.
fn play(run: &WideRun) -> usize {
    run.play().unwrap_or_else(|broken| {
        let (shrunk, broken) = run.shrunk().unwrap_or((run.clone(), broken));
        let kept = shrunk.keep(&kept_runs());
        panic!("{broken}\n{}\nkept: {kept:?}", broken.shown.join("\n"));
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3_000,
        // A failing run is shrunk by its steps, and its seed says nothing about them.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/wide_pending_action.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// PA-1 to PA-11, PA-13: whatever is proposed, decided, finished, cancelled or lost, and whenever, the judge finds nothing.
    #[test]
    fn the_ledger_conforms_in_wide_runs(seed: u64, steps in 1..500_usize) {
        play(&WideRun::seeded(seed, steps));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "as long as it is given: cargo test --release --test wide_pending_action -- --ignored --nocapture"]
fn the_ledger_conforms_for_as_long_as_it_is_given() {
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
        calls += play(&WideRun::seeded(seed, 400));
        seed += 1;
    }
    let took = start.elapsed().as_secs_f64();
    let runs = seed - first;
    #[expect(clippy::cast_precision_loss, reason = "a rate is for reading")]
    let rate = calls as f64 / took;
    println!("{runs} runs, {calls} calls, {rate:.0} calls/s");
}

/// What there is to judge comes about, and often: a run that decides nothing or loses nothing would conform for want of cases.
#[test]
fn wide_runs_come_to_everything_that_is_judged() {
    let mut seen = BTreeMap::new();
    for seed in 0..400 {
        for (_, call, outputs) in WideRun::seeded(seed, 300).calls() {
            let call = call_word(&call);
            *seen.entry(call.to_owned()).or_insert(0) += 1;
            for output in &outputs {
                *seen
                    .entry(format!("{call}: {}", output_word(output)))
                    .or_insert(0) += 1;
            }
        }
    }
    for (word, least) in [
        ("propose: created", 5_000),
        ("propose: refused", 500),
        ("propose: perform", 100),
        ("decide: decided", 2_000),
        ("decide: perform", 1_000),
        ("decide: result", 1_000),
        ("decide: audit", 2_000),
        ("decide: expired", 500),
        ("finish: executed", 1_000),
        ("finish: refused", 500),
        ("cancel: cancelled", 200),
        ("cancel: refused", 200),
        ("end session: cancelled", 500),
        ("say: said", 500),
        ("rollback", 100),
        ("snapshot: snapshot", 100),
        ("restart: created", 50),
        ("restart: decided", 50),
        ("restart: executed", 30),
        ("restart: expired", 200),
        ("restart: in doubt", 1_000),
        ("restart: perform", 30),
        ("tick: expired", 500),
    ] {
        let times = seen.get(word).copied().unwrap_or(0);
        assert!(times >= least, "{word}: {times} times, of {seen:#?}");
    }
}

const fn call_word(call: &Call) -> &'static str {
    match call {
        Call::Propose(_) => "propose",
        Call::Decide(_) => "decide",
        Call::Say { .. } => "say",
        Call::FinishTool { .. } => "finish",
        Call::Cancel { .. } => "cancel",
        Call::EndSession { .. } => "end session",
        Call::Snapshot => "snapshot",
        Call::Rollback { .. } => "rollback",
        Call::Restart { .. } => "restart",
        Call::Tick => "tick",
    }
}

const fn output_word(output: &Output) -> &'static str {
    match output {
        Output::Event { event, .. } => match event {
            Event::Created { .. } => "created",
            Event::Decided { .. } => "decided",
            Event::Called { .. } => "called",
            Event::Executed { .. } => "executed",
            Event::NotRun { .. } => "not run",
            Event::Denied { .. } => "denied",
            Event::Cancelled { .. } => "cancelled",
            Event::Expired { .. } => "expired",
        },
        Output::Append { message, .. } => match message {
            Message::Prompt { .. } => "prompt",
            Message::ToolCall { .. } => "call",
            Message::ToolResult { .. } => "result",
            Message::Said { .. } => "said",
        },
        Output::Perform { .. } => "perform",
        Output::InDoubt { .. } => "in doubt",
        Output::Audit => "audit",
        Output::Snapshot { .. } => "snapshot",
        Output::Refused => "refused",
    }
}

#[test]
fn every_kept_run_conforms() {
    let files = fs::read_dir(kept_runs()).expect("the folder of kept runs");
    let files: Vec<_> = files
        .map(|it| it.expect("a readable entry").path())
        .collect();
    assert!(!files.is_empty(), "runs are kept");
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable run");
        let run: WideRun = serde_json::from_str(&text).expect("a wide run");
        assert_eq!(run.protocol, "pending-action");
        if let Err(broken) = run.play() {
            panic!("{}: {broken}\n{}", file.display(), broken.shown.join("\n"));
        }
    }
}
