//! Random runs far beyond the bounds of the exhaustive walk: the model as reference machine, the executor as the system
//! under test. Whatever a run once found is kept as a file and replayed by every later run of the tests.
//!
//! The one thing to know: the machine is the same for every protocol; a protocol is a [`Far`].

use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use countersign_model::rules::{GuardRow, Guards};
use countersign_model::{aaep, mcp_aql, pending_action};
use countersign_spec_trace::conform::aaep::AaepBridge;
use countersign_spec_trace::conform::mcp_aql::McpAqlBridge;
use countersign_spec_trace::conform::pending_action::PendingActionBridge;
use countersign_spec_trace::conform::schedule::{self, ReplayError, SavedRun};
use countersign_spec_trace::conform::{self, Bridge};
use countersign_spec_trace::harness;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Just;
use proptest::test_runner::FileFailurePersistence;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

/// A bridge whose runs go as far as its model does.
trait Far: Bridge + Sized + 'static {
    /// The protocol's name on the command line.
    const PROTOCOL: &str;

    /// Made once: transitions are chosen without a bridge at hand.
    fn far() -> &'static Self;

    fn enabled(&self, state: &Self::State) -> Vec<Self::Action> {
        let mut enabled = Vec::new();
        self.actions(state, &mut enabled);
        enabled
    }

    /// The model's step alone.
    fn next(&self, state: &Self::State, action: Self::Action) -> Self::State;

    /// The rules of the model.
    type Guard: Guards;

    /// The same bridge with a rule left out of the model.
    fn lacking(guard: Self::Guard) -> Self;
}

impl Far for AaepBridge {
    const PROTOCOL: &str = "aaep";

    fn far() -> &'static Self {
        harness::far_aaep()
    }

    fn next(&self, state: &Self::State, action: Self::Action) -> Self::State {
        let step = self.model().step(state, action);
        self.model().reduced(&step.expect("an enabled step").next)
    }

    type Guard = aaep::rules::Guard;

    fn lacking(guard: Self::Guard) -> Self {
        let bridge = Self::new(conform::aaep::FAR).expect("constant bounds are in range");
        bridge.literal().without(guard)
    }
}

impl Far for McpAqlBridge {
    const PROTOCOL: &str = "mcp-aql";

    fn far() -> &'static Self {
        harness::far_mcp_aql()
    }

    fn next(&self, state: &Self::State, action: Self::Action) -> Self::State {
        let step = self.model().step(state, action);
        self.model().reduced(&step.expect("an enabled step").next)
    }

    type Guard = mcp_aql::rules::Guard;

    fn lacking(guard: Self::Guard) -> Self {
        let bridge = Self::new(conform::mcp_aql::FAR).expect("constant bounds are in range");
        bridge.literal().without(guard)
    }
}

impl Far for PendingActionBridge {
    const PROTOCOL: &str = "pending-action";

    fn far() -> &'static Self {
        harness::far_pending_action()
    }

    fn next(&self, state: &Self::State, action: Self::Action) -> Self::State {
        let step = self.model().step(state, action);
        self.model().reduced(&step.expect("an enabled step").next)
    }

    type Guard = pending_action::rules::Guard;

    fn lacking(guard: Self::Guard) -> Self {
        let bridge = Self::new(conform::pending_action::FAR).expect("constant bounds are in range");
        bridge.literal().without(guard)
    }
}

fn kept_runs(protocol: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("traces/runs")
        .join(protocol)
}

/// The model, taking any step that it allows. `None` stands for the end of a run in which nothing is possible any more.
struct Model<B>(PhantomData<B>);

impl<B: Far> ReferenceStateMachine for Model<B> {
    type State = B::State;
    type Transition = Option<B::Action>;

    fn init_state() -> BoxedStrategy<B::State> {
        Just(B::far().begin().0).boxed()
    }

    fn transitions(state: &B::State) -> BoxedStrategy<Option<B::Action>> {
        let enabled = B::far().enabled(state);
        if enabled.is_empty() {
            Just(None).boxed()
        } else {
            select(enabled).prop_map(Some).boxed()
        }
    }

    fn preconditions(state: &B::State, transition: &Option<B::Action>) -> bool {
        let enabled = B::far().enabled(state);
        transition.map_or(enabled.is_empty(), |action| enabled.contains(&action))
    }

    fn apply(state: B::State, transition: &Option<B::Action>) -> B::State {
        transition.map_or(state, |action| B::far().next(&state, action))
    }
}

/// The executor, with the model state that it should be in and the steps taken so far.
struct Executor<B: Bridge> {
    state: B::State,
    host: B::Host,
    run: Vec<B::Action>,
}

impl<B: Far> StateMachineTest for Executor<B> {
    type SystemUnderTest = Self;
    type Reference = Model<B>;

    fn init_test(_: &B::State) -> Self {
        let (state, host) = B::far().begin();
        let run = Vec::new();
        Self { state, host, run }
    }

    fn apply(mut executor: Self, after: &B::State, transition: Option<B::Action>) -> Self {
        let Some(action) = transition else {
            return executor;
        };
        executor.run.push(action);
        match B::far().step(&executor.state, &mut executor.host, action) {
            Ok(next) => executor.state = next,
            Err(disagreement) => {
                let shrunk = schedule::shrunk(B::far(), executor.run, disagreement);
                let saved = SavedRun::of(B::PROTOCOL, "far", &shrunk);
                let kept = saved.keep(&kept_runs(B::PROTOCOL));
                panic!("{}\nkept: {kept:?}", harness::explain(&shrunk.divergence));
            }
        }
        assert_eq!(executor.state, *after, "one model, two walks");
        executor
    }
}

prop_state_machine! {
    #![proptest_config(ProptestConfig {
        cases: 1024,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "tests/random_runs.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AAEP-6.3.5-1, AAEP-6.4-1, AAEP-6.8-2: whatever the order of replies, duplicates, clocks and crashes, the
    /// executor does what the model allows.
    #[test]
    fn the_producer_follows_the_model_on_random_runs(
        sequential 1..200 => Executor<AaepBridge>
    );

    /// AQL-5.1-3, AQL-5.2-2, AQL-6.1-1, AQL-7.1-1: whatever the order of calls, retries, faults, clocks, revocations
    /// and crashes, the executor does what the model allows.
    #[test]
    fn the_gatekeeper_follows_the_model_on_random_runs(
        sequential 1..200 => Executor<McpAqlBridge>
    );

    /// PA-3, PA-5, PA-7, PA-8: whatever the order of decisions, duplicates, faults, clocks, ends and crashes, the
    /// executor does what the model allows.
    #[test]
    fn the_ledger_follows_the_model_on_random_runs(
        sequential 1..200 => Executor<PendingActionBridge>
    );
}

/// Every run that is kept of a protocol, with its file.
fn kept<B: Far>() -> Vec<(PathBuf, SavedRun)> {
    let folder = kept_runs(B::PROTOCOL);
    let files = fs::read_dir(&folder).expect("the folder of kept runs");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a readable run");
        (path, serde_json::from_str(&text).expect("a saved run"))
    };
    let kept: Vec<_> = files
        .map(|file| read(file.expect("a readable entry").path()))
        .collect();
    assert!(!kept.is_empty(), "{} holds runs", folder.display());
    kept
}

/// Replays every run that is kept of a protocol.
fn replay<B: Far>() {
    for (path, run) in kept::<B>() {
        assert_eq!(run.protocol, B::PROTOCOL, "{}", path.display());
        if let Err(error) = run.replay(B::far()) {
            panic!("{}: {error}", path.display());
        }
    }
}

#[test]
fn every_kept_run_of_aaep_agrees() {
    replay::<AaepBridge>();
}

#[test]
fn every_kept_run_of_mcp_aql_agrees() {
    replay::<McpAqlBridge>();
}

#[test]
fn every_kept_run_of_pending_action_agrees() {
    replay::<PendingActionBridge>();
}

/// The choices of a run, as many as a fuzzer makes, from a seed (xorshift).
fn choices(seed: u64) -> impl Iterator<Item = u16> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let random = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u16::try_from(state >> 48).expect("16 bits")
    });
    random.take(120)
}

/// Every rule that only the model has is noticed, by a kept run or by one of the first random ones, but for those that bind
/// the host alone; and each clause that a rule carries out is carried out by one that is noticed. So the links of clauses to
/// the fuzz target of their protocol's runs say no more than is true.
fn missing_rules_are_noticed<B: Far>(of_the_host: &[&str]) {
    let kept = kept::<B>();
    let differs = |bridge: &B| {
        let mut kept = kept.iter();
        kept.any(|(_, run)| matches!(run.replay(bridge), Err(ReplayError::Diverged(_))))
            || (0..2_000).any(|seed| schedule::run(bridge, choices(seed)).is_err())
    };
    assert!(!differs(B::far()), "with all rules, both sides agree");
    let rows = B::Guard::ROWS.iter();
    let (noticed, unnoticed): (Vec<&GuardRow<_>>, Vec<&GuardRow<_>>) =
        rows.partition(|row| differs(&B::lacking(row.guard)));
    let names: Vec<_> = unnoticed.iter().map(|row| row.name).collect();
    assert_eq!(names, of_the_host);
    for clause in unnoticed.iter().flat_map(|row| row.clauses) {
        let mut noticed = noticed.iter();
        assert!(noticed.any(|row| row.clauses.contains(clause)), "{clause}");
    }
}

#[test]
fn a_rule_of_aaep_that_only_one_side_has_is_noticed() {
    missing_rules_are_noticed::<AaepBridge>(&[]);
}

#[test]
fn a_rule_of_mcp_aql_that_only_one_side_has_is_noticed() {
    missing_rules_are_noticed::<McpAqlBridge>(&[]);
}

/// What is reported as not run is for the host to know; the executor believes it.
#[test]
fn a_rule_of_pending_action_that_only_one_side_has_is_noticed() {
    missing_rules_are_noticed::<PendingActionBridge>(&["takes-withdrawn-for-unrun"]);
}
