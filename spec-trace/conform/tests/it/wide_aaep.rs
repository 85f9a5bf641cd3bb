//! Random runs of the reference producer under the checker: hundreds of steps, any number of everything.

use crate::wide;

use std::collections::BTreeSet;

use countersign_conform::driven::Run;
use countersign_conform::spoken::{play, seeded, shrunk};
use countersign_model::aaep::Aaep as Spec;
use countersign_model::aaep::alphabet::{By, Call, Op, Output, What};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// Plays a run; where it breaks something, keeps the shortest that does so as well.
fn conforms(run: &Run<Spec>) -> usize {
    play::<Spec>(run, |_, _, _| {}).unwrap_or_else(|broken| {
        let Some((shrunk, broken)) = shrunk::<Spec>(run) else {
            panic!("{broken}: not seen again");
        };
        let kept = shrunk.keep(&wide::kept_runs("aaep"));
        panic!("{broken}\n{}\nkept: {kept:?}", broken.shown.join("\n"));
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        // A failing run is shrunk by its steps, and its seed says nothing about them.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/wide_aaep.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AAEP-6.1-1 to AAEP-6.1-9, AAEP-6.3.4-1 to AAEP-6.3.4-9, AAEP-6.4-1, AAEP-6.8-1 to AAEP-6.8-4, AAEP-EV-3, AAEP-EV-4, AAEP-EV-7: whatever
    /// is asked, whoever replies, closes or dies, and whenever, the checker finds nothing.
    #[test]
    fn the_producer_conforms_in_wide_runs(seed: u64, steps in 1..300_usize) {
        conforms(&seeded::<Spec>(seed, steps));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "night: takes a minute, or COUNTERSIGN_WIDE_SECONDS"]
fn the_producer_conforms_for_as_long_as_it_is_given() {
    wide::for_as_long_as_it_is_given(|seed| conforms(&seeded::<Spec>(seed, 400)));
}

#[test]
fn every_kept_run_conforms() {
    for (file, run) in wide::every_kept_run::<Run<Spec>>("aaep") {
        println!("{}", file.display());
        conforms(&run);
    }
}

/// The runs of fixed seeds reach every pair of a call and an output that is judged.
#[test]
fn wide_runs_of_fixed_seeds_reach_everything_that_is_judged() {
    let mut reached = BTreeSet::new();
    for seed in 0..150 {
        let played = play::<Spec>(&seeded::<Spec>(seed, 200), |_, call, outputs| {
            let call = call_word(call);
            let outputs = outputs.iter().map(output_word);
            reached.extend(outputs.map(|output| format!("{call}: {output}")));
        });
        played.expect("it conforms");
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
        "end session: ended",
        "end session: completed",
        "end session: refused",
        "finish: completed",
        "finish: refused",
        "restart: in doubt",
        "restart: question",
        "restart: clarification",
        "restart: answer",
        "restart: streaming",
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
    match &call.op {
        Op::StartSession(_) => "start session",
        Op::EndSession { .. } => "end session",
        Op::Subscribe { .. } => "subscribe",
        Op::Unsubscribe(_) => "unsubscribe",
        Op::Confirm(_) => "confirm",
        Op::Clarify(_) => "clarify",
        Op::Deliver(_) => "deliver",
        Op::Cancel(_) => "cancel",
        Op::Extend { .. } => "extend",
        Op::Tool(_) => "tool",
        Op::Write(_) => "output",
        Op::HandOff(_) => "handoff",
        Op::FinishTool { .. } => "finish",
        Op::Tick => "tick",
        Op::Restart { .. } => "restart",
    }
}

const fn output_word(output: &Output) -> &'static str {
    match output {
        Output::Emit(event) => match event.what {
            What::Started => "started",
            What::Ended(_) => "ended",
            What::Changed { .. } => "state changed",
            What::Asked(_) => "question",
            What::Queried(_) => "clarification",
            What::Invoked { .. } => "invoked",
            What::Completed { .. } => "completed",
            What::Chunk(_) => "streaming",
            What::HandedOff { .. } => "handed off",
            What::Progress { .. } => "progress",
            What::Other(_) => "another event",
        },
        Output::Perform(run) if run.modified.is_some() => "modified perform",
        Output::Perform(_) => "perform",
        Output::InDoubt(_) => "in doubt",
        Output::Respond { .. } => "response",
        Output::Answer(it) => match it.by {
            By::Reply => "answer",
            By::Default => "default answer",
            By::Nobody => "no answer",
        },
        Output::Notify { .. } => "notice",
        Output::Audit => "audit",
        Output::Refused => "refused",
        Output::Other(_) => "another output",
    }
}
