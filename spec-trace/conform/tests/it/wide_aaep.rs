//! Wide runs of the producer under the judge of AAEP: hundreds of steps, any number of everything.

use crate::wide;

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
            "tests/it/wide_aaep.proptest-regressions",
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
        ("start session: started", 2_400),
        ("start session: refused", 1_400),
        ("subscribe: refused", 1_650),
        ("unsubscribe: refused", 1_450),
        ("unsubscribe: state changed", 650),
        ("unsubscribe: default answer", 110),
        ("unsubscribe: no answer", 80),
        ("confirm: question", 7_450),
        ("confirm: refused", 5_700),
        ("clarify: clarification", 6_200),
        ("clarify: refused", 4_350),
        ("deliver: response", 27_400),
        ("deliver: perform", 1_300),
        ("deliver: modified perform", 20),
        ("deliver: answer", 700),
        ("deliver: default answer", 750),
        ("deliver: no answer", 600),
        ("deliver: notice", 600),
        ("deliver: progress", 1_050),
        ("cancel: state changed", 2_250),
        ("cancel: refused", 1_450),
        ("extend: progress", 800),
        ("extend: refused", 2_200),
        ("tool: perform", 3_350),
        ("tool: refused", 1_350),
        ("output: streaming", 3_200),
        ("output: refused", 1_950),
        ("handoff: handed off", 120),
        ("handoff: refused", 850),
        ("end session: streaming", 800),
        ("restart: streaming", 65),
        ("finish: completed", 1_000),
        ("finish: refused", 350),
        ("end session: ended", 1_150),
        ("end session: completed", 650),
        ("end session: refused", 200),
        ("restart: in doubt", 3_500),
        ("restart: perform", 40),
        ("restart: question", 125),
        ("restart: clarification", 85),
        ("restart: answer", 12),
        ("restart: default answer", 50),
        ("restart: no answer", 45),
        ("restart: progress", 100),
        ("restart: state changed", 600),
        ("tick: perform", 40),
        ("tick: default answer", 60),
        ("tick: no answer", 45),
        ("tick: progress", 85),
        ("tick: state changed", 350),
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
        Output::Perform(call) if call.modified.is_some() => "modified perform",
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
