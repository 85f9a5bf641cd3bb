//! Wide runs of the executor of pending actions under the judge: hundreds of steps, any number of everything.

use crate::wide;

use std::collections::BTreeMap;

use countersign_conform::pending_action::wide::{Host, WideRun};
use countersign_model::pending_action::judge::words::{Call, Event, Message, Output};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3_000,
        // A failing run is shrunk by its steps, and its seed says nothing about them.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/wide_pending_action.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// PA-1 to PA-11, PA-13: whatever is proposed, decided, finished, cancelled or lost, and whenever, the judge finds nothing.
    #[test]
    fn the_ledger_conforms_in_wide_runs(seed: u64, steps in 1..500_usize) {
        wide::play(&WideRun::seeded(seed, steps));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "as long as it is given: cargo test --release --test wide_pending_action -- --ignored --nocapture"]
fn the_ledger_conforms_for_as_long_as_it_is_given() {
    wide::play_for_as_long_as_it_is_given::<Host>();
}

/// What there is to judge comes about, and often: a run that decides nothing or loses nothing would conform for want of cases.
#[test]
fn wide_runs_come_to_everything_that_is_judged() {
    let mut seen = BTreeMap::new();
    for seed in 0..400 {
        for shown in WideRun::seeded(seed, 300).calls() {
            let call = call_word(&shown.call);
            *seen.entry(call.to_owned()).or_insert(0) += 1;
            for output in &shown.outputs {
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
        ("finish: not run", 200),
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
    wide::play_every_kept_run::<Host>();
}
