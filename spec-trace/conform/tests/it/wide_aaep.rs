//! Wide runs of the producer under the judge of AAEP: hundreds of steps, any number of everything.

use crate::wide;

use std::collections::BTreeSet;

use countersign_conform::aaep::wide::{Host, WideRun};
use countersign_model::aaep::judge::{AnsweredBy, Body, Call, Output};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
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
#[ignore = "night: takes a minute, or COUNTERSIGN_WIDE_SECONDS"]
fn the_producer_conforms_for_as_long_as_it_is_given() {
    wide::play_for_as_long_as_it_is_given::<Host>();
}

/// The runs of fixed seeds reach every pair of a call and an output that is judged.
#[test]
fn wide_runs_of_fixed_seeds_reach_everything_that_is_judged() {
    let mut reached = BTreeSet::new();
    for seed in 0..400 {
        for shown in WideRun::seeded(seed, 300).calls() {
            let call = call_word(&shown.call);
            let outputs = shown.outputs.iter().map(output_word);
            reached.extend(outputs.map(|output| format!("{call}: {output}")));
        }
    }
    for pair in [
        "start session: started",
        "start session: refused",
        "subscribe: refused",
        "unsubscribe: refused",
        "unsubscribe: state changed",
        "unsubscribe: default answer",
        "unsubscribe: no answer",
        "confirm: question",
        "confirm: refused",
        "clarify: clarification",
        "clarify: refused",
        "deliver: response",
        "deliver: perform",
        "deliver: modified perform",
        "deliver: answer",
        "deliver: default answer",
        "deliver: no answer",
        "deliver: notice",
        "deliver: progress",
        "cancel: state changed",
        "cancel: refused",
        "extend: progress",
        "extend: refused",
        "tool: perform",
        "tool: refused",
        "output: streaming",
        "output: refused",
        "handoff: handed off",
        "handoff: refused",
        "end session: streaming",
        "restart: streaming",
        "finish: completed",
        "finish: refused",
        "end session: ended",
        "end session: completed",
        "end session: refused",
        "restart: in doubt",
        "restart: perform",
        "restart: question",
        "restart: clarification",
        "restart: answer",
        "restart: default answer",
        "restart: no answer",
        "restart: progress",
        "restart: state changed",
        "tick: perform",
        "tick: default answer",
        "tick: no answer",
        "tick: progress",
        "tick: state changed",
    ] {
        assert!(reached.contains(pair), "{pair}: not among {reached:#?}");
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
