//! Random runs of the reference ledger under the checker: hundreds of steps, any number of everything.

use crate::wide;

use std::collections::BTreeSet;
use std::fmt::Debug;

use countersign_conform::driven::{Run, Step};
use countersign_conform::spoken::{Driver, play, seeded, shrunk};
use countersign_model::pending_action::PendingAction as Spec;
use countersign_model::pending_action::alphabet::{Body, Call, Event, Message, Op, Output, What};
use countersign_protocol::pending_action::PendingAction;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Plays a run; where it breaks something, keeps the shortest that does so as well.
fn conforms(run: &Run<Spec>) -> usize {
    play(run, |_, _, _| {}).unwrap_or_else(|broken| {
        let Some((shrunk, broken)) = shrunk(run) else {
            panic!("{broken}: not seen again");
        };
        let kept = shrunk.keep(&wide::kept_runs("pending-action"));
        panic!("{broken}\n{}\nkept: {kept:?}", broken.shown.join("\n"));
    })
}

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
        conforms(&seeded(seed, steps));
    }
}

/// As long as `COUNTERSIGN_WIDE_SECONDS` says, from the seed `COUNTERSIGN_WIDE_SEED` on; prints how fast it is.
#[test]
#[ignore = "night: takes a minute, or COUNTERSIGN_WIDE_SECONDS"]
fn the_ledger_conforms_for_as_long_as_it_is_given() {
    wide::for_as_long_as_it_is_given(|seed| conforms(&seeded(seed, 400)));
}

/// The runs of fixed seeds reach every call and every pair of a call and an output that is judged.
#[test]
fn wide_runs_of_fixed_seeds_reach_everything_that_is_judged() {
    let mut reached = BTreeSet::new();
    for seed in 0..400 {
        let played = play::<Spec>(&seeded(seed, 300), |_, call, outputs| {
            let call = call_word(call);
            reached.insert(call.to_owned());
            let outputs = outputs.iter().map(output_word);
            reached.extend(outputs.map(|output| format!("{call}: {output}")));
        });
        played.expect("it conforms");
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
    for (file, run) in wide::every_kept_run::<Run<Spec>>("pending-action") {
        println!("{}", file.display());
        is_kept_as_written(&run);
    }
}

/// PA-8, PA-10: what a host writes down, it reads again as the same.
#[test]
fn what_random_runs_keep_is_read_as_it_was_written() {
    for seed in 0..40 {
        is_kept_as_written(&seeded(seed, 200));
    }
}

fn is_kept_as_written(run: &Run<Spec>) {
    let mut last = None;
    let played = play(run, |reference, _, _| last = Some(reference.clone()));
    played.unwrap_or_else(|broken| panic!("{broken}"));
    let last = last.expect("something is asked");
    let (records, snapshots) = last.kept();
    records.for_each(is_read_as_written);
    snapshots.for_each(is_read_as_written);
}

fn is_read_as_written<T: Serialize + DeserializeOwned + PartialEq + Debug>(kept: &T) {
    let written = serde_json::to_string(kept).expect("it can be written");
    let read: T = serde_json::from_str(&written).expect("it can be read");
    assert_eq!(read, *kept);
}

/// A file of an earlier version is refused with what to do.
#[test]
fn a_step_of_an_earlier_version_is_refused() {
    let step = r#"{"clock": "stays", "asked": "tick"}"#;
    let refused = serde_json::from_str::<Step<PendingAction>>(step).expect_err("it is old");
    let said = refused.to_string();
    assert!(said.contains("older version of countersign"), "{said}");
    assert!(said.contains("`countersign diff`"), "{said}");
}

#[test]
fn no_step_begins_a_run() {
    for op in [
        r#""hello","driver":1,"protocol":"pending-action""#,
        "\"reset\"",
    ] {
        let step = format!(r#"{{"now":"2026-05-28T20:26:40.000Z","op":{op}}}"#);
        assert!(
            serde_json::from_str::<Step<PendingAction>>(&step).is_err(),
            "{step}"
        );
    }
}

/// What a driver would refuse is refused in a file as well: nothing of it is dropped.
#[test]
fn a_step_with_a_member_twice_is_refused() {
    let step =
        r#"{"op":"cancel","now":"2026-05-28T20:26:40.000Z","action_id":"a","action_id":"b"}"#;
    let refused =
        serde_json::from_str::<Step<PendingAction>>(step).expect_err("it says two things");
    assert!(refused.to_string().contains("twice"), "{refused}");
}

/// What is asked comes out of a file as it went in, byte for byte.
#[test]
fn a_step_is_read_as_it_was_written() {
    for seed in 0..20 {
        for step in seeded::<Spec>(seed, 100).steps {
            let written = serde_json::to_string(&step).expect("it can be written");
            let read: Step<PendingAction> = serde_json::from_str(&written).expect("a step");
            assert_eq!(read, step);
        }
    }
    for step in [
        r#"{"op":"decide","now":"2026-05-28T20:26:40.001Z","action_id":"pa_?","arguments":{"n":9007199254740993 },"by":"é","decision":"allow"}"#,
        r#"{"now":"2026-05-28T20:26:40.001Z","raw":{"op":"cancel","now":"","action_id":"${action_id-1:case}", "action_id":null}}"#,
    ] {
        let read: Step<PendingAction> = serde_json::from_str(step).expect("a step");
        assert_eq!(
            serde_json::to_string(&read).expect("it can be written"),
            step
        );
    }
}

/// What the protocol has is no `raw` request, which has a time, and nothing beside it.
#[test]
fn a_raw_step_holds_what_the_protocol_does_not_have() {
    for step in [
        r#"{"now":"2026-05-28T20:26:40.001Z","raw":{"op":"cancel","now":"2026-05-28T20:26:40.001Z","action_id":"a"}}"#,
        r#"{"raw":{"op":"cancel"}}"#,
        r#"{"now":"2026-05-28T20:26:40.001Z","op":"tick","raw":{"op":"cancel"}}"#,
        r#"{"now":"2026-05-28T20:26:40.001Z","raw":{"id":1,"op":"cancel"}}"#,
        r#"{"now":"2026-05-28T20:26:40.001Z","raw":"cancel"}"#,
    ] {
        let read = serde_json::from_str::<Step<PendingAction>>(step);
        assert!(read.is_err(), "{step}");
    }
}

/// Leaving out what names something takes along what is about it, and counts what is named behind it anew.
#[test]
fn a_run_keeps_its_meaning_without_some_steps() {
    let step = |op: Value| serde_json::from_value(op).expect("a step");
    let propose = |tool: &str| {
        step(json!({
            "op": "propose", "now": "2026-05-28T20:26:40.000Z", "agent_id": "p0", "session_id": "s0", "run_id": "r0", "tool": tool,
            "arguments": {}, "effect": "write", "summary": "q", "label": "b",
        }))
    };
    let decide = |action: u8| {
        step(json!({
            "op": "decide", "now": "2026-05-28T20:26:40.000Z", "action_id": format!("${{action_id-{action}}}"),
            "nonce": format!("${{nonce-{action}}}"), "decision": "allow", "by": "p1",
        }))
    };
    let steps = [propose("a"), propose("b"), decide(1), decide(2), decide(3)];
    let without = |gone| Driver::<Spec>::without(&steps, gone);
    assert_eq!(without(0..1), [propose("b"), decide(1), decide(2)]);
    assert_eq!(without(1..3), [propose("a"), decide(2)]);
    assert_eq!(without(2..4), [propose("a"), propose("b"), decide(3)]);
    let raw = |nonce: &str| {
        let raw = json!({"op": "cancel", "now": "2026-05-28T20:26:40.000Z", "action_id": null, "of": nonce});
        step(json!({"now": "2026-05-28T20:26:40.000Z", "raw": raw}))
    };
    let steps = [
        propose("a"),
        propose("b"),
        raw("${nonce-1}"),
        raw("${nonce-2:case}"),
    ];
    let without = Driver::<Spec>::without(&steps, 0..1);
    assert_eq!(without, [propose("b"), raw("${nonce-1:case}")]);
}
