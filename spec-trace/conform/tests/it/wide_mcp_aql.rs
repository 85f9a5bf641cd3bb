//! Random runs of the reference gatekeeper under the checker: hundreds of steps, any number of everything.

use crate::wide;

use std::collections::BTreeSet;

use countersign_conform::driven::{Run, Step};
use countersign_conform::mcp_aql::executor::Settings;
use countersign_conform::spoken::{play, seeded, shrunk};
use countersign_model::mcp_aql::McpAql as Spec;
use countersign_model::mcp_aql::alphabet::{Answer, Call, Code, Event, Op, Output, Query};
use countersign_reference::mcp_aql::{Capacity, Persistence, RateLimit, Retention};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::json;

/// Plays a run; where it breaks something, keeps the shortest that does so as well.
fn conforms(run: &Run<Spec>) -> usize {
    play::<Spec>(run, |_, _, _| {}).unwrap_or_else(|broken| {
        let Some((shrunk, broken)) = shrunk::<Spec>(run) else {
            panic!("{broken}: not seen again");
        };
        let kept = shrunk.keep(&wide::kept_runs("mcp-aql"));
        panic!("{broken}\n{}\nkept: {kept:?}", broken.shown.join("\n"));
    })
}

/// The run of that seed, where the host has chosen so.
fn chosen(seed: u64, steps: usize, settings: &Settings) -> Run<Spec> {
    Run {
        settings: serde_json::to_value(settings).ok(),
        ..seeded::<Spec>(seed, steps)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        // A failing run is shrunk by its steps, and its seed says nothing about them.
        max_shrink_iters: 0,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/it/wide_mcp_aql.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AQL-1.3-1, AQL-3.2-1, AQL-4.1-1 to AQL-4.1-6, AQL-5.1-7, AQL-5.4-1, AQL-6.1-1, AQL-6.4-1, AQL-6.5-1: whatever is asked in whatever
    /// order and time, the checker finds nothing.
    #[test]
    fn the_gatekeeper_conforms_in_wide_runs(seed: u64, steps in 1..400_usize) {
        conforms(&seeded::<Spec>(seed, steps));
    }

    /// AQL-6.2-1, AQL-6.2-2, AQL-6.2-4, AQL-7.3-2: nor of one that signs its tokens.
    #[test]
    fn the_gatekeeper_that_signs_conforms_in_wide_runs(seed: u64, steps in 1..200_usize) {
        let signs = true;
        conforms(&chosen(seed, steps, &Settings { signs, ..Settings::default() }));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "night: takes a minute, or COUNTERSIGN_WIDE_SECONDS"]
fn the_gatekeeper_conforms_for_as_long_as_it_is_given() {
    wide::for_as_long_as_it_is_given(|seed| conforms(&seeded::<Spec>(seed, 400)));
}

#[test]
fn every_kept_run_conforms() {
    for (file, run) in wide::every_kept_run::<Run<Spec>>("mcp-aql") {
        println!("{}", file.display());
        conforms(&run);
    }
}

/// What the runs of these seeds reach: each call, and each pair of a call and an output.
fn reached(seeds: u64, settings: &Settings) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    for seed in 0..seeds {
        let played = play::<Spec>(&chosen(seed, 300, settings), |_, call, outputs| {
            let call = call_word(call);
            reached.insert(call.to_owned());
            let outputs = outputs.iter().map(output_word);
            reached.extend(outputs.map(|output| format!("{call}: {output}")));
        });
        played.expect("it conforms");
    }
    reached
}

#[track_caller]
fn assert_reached(reached: &BTreeSet<String>, expected: &[&str]) {
    for what in expected {
        assert!(reached.contains(*what), "{what}: not among {reached:#?}");
    }
}

/// The runs of fixed seeds reach every way in which a call can end, also for tokens that are signed, or lost with the memory.
#[test]
fn wide_runs_of_fixed_seeds_reach_everything_that_is_judged() {
    let mut settings = Settings::default();
    let usual = [
        "call: issued",
        "call: perform",
        "call: refused",
        "call: unreadable",
        "retry: perform",
        "retry: invalid",
        "retry: expired",
        "retry: used",
        "retry: scope",
        "retry: unreadable",
        "retry: refused",
        "revoke: done",
        "revoke: not done",
        "status: holds",
        "status: does not hold",
        "configure: revoked",
        "configure: warned",
        "configure: refused",
        "event: revoked",
        "end session: revoked",
        "restart: revoked",
        "tick",
    ];
    assert_reached(&reached(60, &settings), &usual);
    settings.chosen.rate_limits.failed_validation = RateLimit::new(2, 60_000).ok();
    settings.chosen.rate_limits.issuance = RateLimit::new(2, 60_000).ok();
    settings.chosen.rate_limits.revocation = RateLimit::new(1, 60_000).ok();
    let limited = [
        "call: limited",
        "retry: limited",
        "revoke: limited",
        "status: limited",
    ];
    assert_reached(&reached(30, &settings), &limited);
    let mut settings = Settings {
        signs: true,
        ..Settings::default()
    };
    let signed = [
        "call: issued",
        "retry: perform",
        "retry: scope",
        "retry: invalid",
        "event: revoked",
    ];
    assert_reached(&reached(30, &settings), &signed);
    settings.signs = false;
    settings.chosen.persistence = Persistence::InMemory;
    settings.chosen.retention = Retention::from_seconds(0).expect("within the hour");
    let lost = ["retry: perform", "retry: invalid", "restart"];
    assert_reached(&reached(30, &settings), &lost);
}

fn call_word(call: &Call) -> &'static str {
    match &call.op {
        Op::Configure(_) => "configure",
        Op::Call(it) => {
            if it.token.is_some() {
                "retry"
            } else {
                "call"
            }
        }
        Op::Introspect { query, .. } => match query {
            Query::Revoke => "revoke",
            Query::Status => "status",
        },
        Op::Event { .. } => "event",
        Op::EndSession(_) => "end session",
        Op::Tick => "tick",
        Op::Restart(_) => "restart",
    }
}

const fn output_word(output: &Output) -> &'static str {
    match output {
        Output::Perform(_) => "perform",
        Output::Respond(it) => match it {
            Answer::Issued(_) => "issued",
            Answer::Failed(it) => match it.code {
                Code::Invalid => "invalid",
                Code::Expired => "expired",
                Code::Used => "used",
                Code::Scope => "scope",
                Code::Other => "another code",
            },
            Answer::Unreadable => "unreadable",
            Answer::Limited => "limited",
            Answer::Full => "full",
            Answer::Revoked(it) => {
                if it.holds {
                    "done"
                } else {
                    "not done"
                }
            }
            Answer::Status(it) => {
                if it.holds {
                    "holds"
                } else {
                    "does not hold"
                }
            }
            Answer::Other(_) => "another answer",
        },
        Output::Audit(it) => match it.event {
            Event::Revoked => "revoked",
            Event::Issued | Event::Validated | Event::Rejected | Event::Other(_) => "logged",
        },
        Output::Warn => "warned",
        Output::Refused => "refused",
    }
}

/// AQL-5.5-3: a thousand tokens of an adapter find room, and no more where there is room for no more.
#[test]
fn a_thousand_tokens_find_room() {
    let mut settings = Settings::default();
    settings.chosen.capacity = Capacity::new(1_000).expect("room enough");
    let step = json!({
        "op": "call", "now": "2026-05-28T20:26:40.000Z", "operation": "delete", "params": {"id": 1},
        "danger_level": "destructive",
    });
    let step: Step<_> = serde_json::from_value(step).expect("a step");
    let run = Run {
        settings: serde_json::to_value(settings).ok(),
        ..Run::of(vec![step; 1_001])
    };
    let mut answers = Vec::new();
    let played = play::<Spec>(&run, |_, _, outputs| {
        answers.extend(outputs.iter().map(output_word).filter(|it| *it != "logged"));
    });
    played.expect("it conforms");
    let (last, first) = answers.split_last().expect("all are answered");
    assert_eq!(*last, "full");
    assert!(first.len() == 1_000 && first.iter().all(|it| *it == "issued"));
}
