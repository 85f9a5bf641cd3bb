//! Wide runs of the executor of pending actions under the checker: hundreds of steps, any number of everything.

use crate::wide;

use std::collections::BTreeSet;

use countersign_conform::pending_action::{Host, WideRun};
use countersign_model::pending_action::alphabet::{Body, Call, Event, Message, Op, Output, What};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        // A failing run is shrunk by its steps, and its seed says nothing about them.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/wide_pending_action.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// PA-1 to PA-11, PA-13: whatever is proposed, decided, finished, cancelled or lost, and whenever, the checker finds nothing.
    #[test]
    fn the_ledger_conforms_in_wide_runs(seed: u64, steps in 1..500_usize) {
        wide::play(&WideRun::seeded(seed, steps));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "night: takes a minute, or COUNTERSIGN_WIDE_SECONDS"]
fn the_ledger_conforms_for_as_long_as_it_is_given() {
    wide::play_for_as_long_as_it_is_given::<Host>();
}

/// The runs of fixed seeds reach every call and every pair of a call and an output that is judged.
#[test]
fn wide_runs_of_fixed_seeds_reach_everything_that_is_judged() {
    let mut reached = BTreeSet::new();
    for seed in 0..400 {
        for shown in WideRun::seeded(seed, 300).calls() {
            let call = call_word(&shown.call);
            reached.insert(call.to_owned());
            let outputs = shown.outputs.iter().map(|it| output_word(&it.output));
            reached.extend(outputs.map(|output| format!("{call}: {output}")));
        }
    }
    for what in [
        "propose: created",
        "propose: refused",
        "propose: perform",
        "decide: decided",
        "decide: perform",
        "decide: result",
        "decide: audit",
        "decide: expired",
        "finish: executed",
        "finish: not run",
        "finish: refused",
        "cancel: cancelled",
        "cancel: refused",
        "end session: cancelled",
        "say: said",
        "rollback",
        "snapshot: snapshot",
        "restart: created",
        "restart: decided",
        "restart: executed",
        "restart: expired",
        "restart: in doubt",
        "restart: perform",
        "tick: expired",
    ] {
        assert!(reached.contains(what), "{what}: not among {reached:#?}");
    }
}

const fn call_word(call: &Call) -> &'static str {
    match call.op {
        Op::Propose(_) => "propose",
        Op::Decide(_) => "decide",
        Op::Say { .. } => "say",
        Op::FinishTool { .. } => "finish",
        Op::Cancel(_) => "cancel",
        Op::EndSession(_) => "end session",
        Op::Snapshot => "snapshot",
        Op::Rollback(_) => "rollback",
        Op::Restart(_) => "restart",
        Op::Tick => "tick",
    }
}

const fn output_word(output: &Output) -> &'static str {
    match output {
        Output::Event(Event { what, .. }) => match what {
            What::Created(_) => "created",
            What::Decided { .. } => "decided",
            What::Executed { .. } => "executed",
            What::NotRun => "not run",
            What::Denied { .. } => "denied",
            What::Cancelled { .. } => "cancelled",
            What::Expired => "expired",
        },
        Output::Append(Message { body, .. }) => match body {
            Body::ConfirmationRequest { .. } => "prompt",
            Body::ToolCall { .. } => "call",
            Body::ToolResult { .. }
            | Body::DeniedResult { .. }
            | Body::ExpiredResult { .. }
            | Body::CancelledResult { .. } => "result",
            Body::UserMessage { .. } => "said",
        },
        Output::Perform { .. } => "perform",
        Output::InDoubt(_) => "in doubt",
        Output::Audit => "audit",
        Output::Snapshot(_) => "snapshot",
        Output::Refused => "refused",
        Output::Other(_) => "other",
    }
}

#[test]
fn every_kept_run_conforms() {
    wide::play_every_kept_run::<Host>();
}
