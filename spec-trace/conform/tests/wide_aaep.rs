//! Wide runs of the producer under the judge of AAEP: hundreds of steps, any number of everything.

mod wide;

use std::collections::BTreeMap;

use countersign_conform::aaep::wide::{Host, WideRun};
use countersign_model::aaep::judge::{AnsweredBy, Body, Call, Output};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500,
        // A failing run is shrunk by its steps, and its seed says nothing about them.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/wide_aaep.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AAEP-6.1-1, AAEP-6.1-7, AAEP-6.3.4-7, AAEP-6.4-1, AAEP-6.4.2-3, AAEP-6.4.3-4, AAEP-6.5.5-1, AAEP-6.8-4, AAEP-A.1-3: whoever asks,
    /// answers, withdraws, gives time, comes, goes or dies, and whenever, the judge finds nothing.
    #[test]
    fn the_producer_conforms_in_wide_runs(seed: u64, steps in 1..500_usize) {
        wide::play(&WideRun::seeded(seed, steps));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "as long as it is given: cargo test --release --test wide_aaep -- --ignored --nocapture"]
fn the_producer_conforms_for_as_long_as_it_is_given() {
    wide::play_for_as_long_as_it_is_given::<Host>();
}

/// What there is to judge comes about, and often: a run that asks nothing or loses nothing would conform for want of cases.
#[test]
fn wide_runs_come_to_everything_that_is_judged() {
    let mut seen = BTreeMap::new();
    for seed in 0..400 {
        for shown in WideRun::seeded(seed, 300).calls() {
            let call = call_word(&shown.call);
            for output in &shown.outputs {
                *seen
                    .entry(format!("{call}: {}", output_word(output)))
                    .or_insert(0) += 1;
            }
        }
    }
    for (word, least) in [
        ("start session: started", 2_800),
        ("start session: refused", 1_500),
        ("subscribe: refused", 1_800),
        ("unsubscribe: refused", 1_600),
        ("unsubscribe: state changed", 650),
        ("unsubscribe: default answer", 110),
        ("unsubscribe: no answer", 95),
        ("confirm: question", 8_000),
        ("confirm: refused", 6_000),
        ("clarify: clarification", 7_500),
        ("clarify: refused", 5_000),
        ("deliver: response", 30_000),
        ("deliver: perform", 1_500),
        ("deliver: answer", 900),
        ("deliver: default answer", 950),
        ("deliver: no answer", 750),
        ("deliver: notice", 650),
        ("deliver: progress", 1_200),
        ("cancel: state changed", 2_300),
        ("cancel: refused", 1_500),
        ("extend: progress", 900),
        ("extend: refused", 2_300),
        ("finish: completed", 1_000),
        ("finish: refused", 350),
        ("end session: ended", 1_300),
        ("end session: completed", 650),
        ("end session: refused", 220),
        ("restart: in doubt", 3_500),
        ("restart: perform", 50),
        ("restart: question", 150),
        ("restart: clarification", 140),
        ("restart: answer", 12),
        ("restart: default answer", 80),
        ("restart: no answer", 75),
        ("restart: progress", 140),
        ("restart: state changed", 750),
        ("tick: perform", 80),
        ("tick: default answer", 105),
        ("tick: no answer", 85),
        ("tick: progress", 145),
        ("tick: state changed", 640),
    ] {
        let times = seen.get(word).copied().unwrap_or(0);
        assert!(times >= least, "{word}: {times} times, of {seen:#?}");
    }
}

const fn call_word(call: &Call) -> &'static str {
    match call {
        Call::StartSession { .. } => "start session",
        Call::Subscribe { .. } => "subscribe",
        Call::Unsubscribe { .. } => "unsubscribe",
        Call::Confirm(_) => "confirm",
        Call::Clarify(_) => "clarify",
        Call::Extend { .. } => "extend",
        Call::Deliver(_) => "deliver",
        Call::Cancel { .. } => "cancel",
        Call::Tool(_) => "tool",
        Call::Output(_) => "output",
        Call::Handoff(_) => "handoff",
        Call::FinishTool { .. } => "finish",
        Call::EndSession { .. } => "end session",
        Call::Tick => "tick",
        Call::Restart { .. } => "restart",
    }
}

const fn output_word(output: &Output) -> &'static str {
    match output {
        Output::Emit(event) => match event.body {
            Body::Started => "started",
            Body::Ended(_) => "ended",
            Body::StateChanged { .. } => "state changed",
            Body::Question(_) => "question",
            Body::Clarification(_) => "clarification",
            Body::Progress { .. } => "progress",
            Body::ToolInvoked { .. } => "invoked",
            Body::ToolCompleted { .. } => "completed",
            Body::OutputStreaming(_) => "streaming",
            Body::Handoff(_) => "handed off",
            Body::Other => "other",
        },
        Output::Malformed(_) => "malformed",
        Output::Notify { .. } => "notice",
        Output::Perform(_) => "perform",
        Output::InDoubt(_) => "in doubt",
        Output::Answer { by, .. } => match by {
            AnsweredBy::Reply => "answer",
            AnsweredBy::Default => "default answer",
            AnsweredBy::Nobody => "no answer",
        },
        Output::Respond(_) => "response",
        Output::Refused => "refused",
    }
}

#[test]
fn every_kept_run_conforms() {
    wide::play_every_kept_run::<Host>();
}
