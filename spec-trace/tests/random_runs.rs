//! Random runs far beyond the bounds of the exhaustive walk: the model as reference machine, the executor as the system
//! under test. Whatever a run once found is kept as a file and replayed by every later run of the tests.

use std::fs;
use std::path::{Path, PathBuf};

use countersign_model::aaep::action::Action;
use countersign_model::aaep::state::State;
use countersign_spec_trace::conform::Bridge;
use countersign_spec_trace::conform::aaep::{AaepBridge, FAR, Host};
use countersign_spec_trace::conform::schedule::{self, SavedRun};
use countersign_spec_trace::harness::{self, far};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Just;
use proptest::test_runner::FileFailurePersistence;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

fn kept_runs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("traces/runs/aaep")
}

/// The model, taking any step that it allows. `None` stands for the end of a run in which nothing is possible any more.
struct Model;

impl ReferenceStateMachine for Model {
    type State = State;
    type Transition = Option<Action>;

    fn init_state() -> BoxedStrategy<State> {
        Just(far().begin().0).boxed()
    }

    fn transitions(state: &State) -> BoxedStrategy<Option<Action>> {
        let mut enabled = Vec::new();
        far().actions(state, &mut enabled);
        if enabled.is_empty() {
            Just(None).boxed()
        } else {
            select(enabled).prop_map(Some).boxed()
        }
    }

    fn preconditions(state: &State, transition: &Option<Action>) -> bool {
        let mut enabled = Vec::new();
        far().actions(state, &mut enabled);
        transition.map_or(enabled.is_empty(), |action| enabled.contains(&action))
    }

    fn apply(state: State, transition: &Option<Action>) -> State {
        let bridge = far();
        let Some(action) = *transition else {
            return state;
        };
        let step = bridge.model().step(&state, action);
        let next = step.expect("only enabled steps are taken").next;
        bridge.model().reduced(&next)
    }
}

/// The executor, with the model state that it should be in and the steps taken so far.
struct Executor {
    bridge: AaepBridge,
    state: State,
    host: Host,
    run: Vec<Action>,
}

impl StateMachineTest for Executor {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(_: &State) -> Self {
        let bridge = far();
        let (state, host) = bridge.begin();
        let run = Vec::new();
        Self {
            bridge,
            state,
            host,
            run,
        }
    }

    fn apply(mut executor: Self, after: &State, transition: Option<Action>) -> Self {
        let Some(action) = transition else {
            return executor;
        };
        executor.run.push(action);
        match executor
            .bridge
            .step(&executor.state, &mut executor.host, action)
        {
            Ok(next) => executor.state = next,
            Err(disagreement) => {
                let shrunk = schedule::shrunk(&executor.bridge, executor.run, disagreement);
                let kept = SavedRun::of("aaep", FAR.name, &shrunk).keep(&kept_runs());
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
    fn the_executor_follows_the_model_on_random_runs(sequential 1..200 => Executor);
}

#[test]
fn every_kept_run_agrees() {
    let bridge = far();
    let files = fs::read_dir(kept_runs()).expect("the folder of kept runs");
    let mut replayed = 0;
    for file in files {
        let path = file.expect("a readable entry").path();
        let text = fs::read_to_string(&path).expect("a readable run");
        let run: SavedRun = serde_json::from_str(&text).expect("a saved run");
        if let Err(error) = run.replay(&bridge) {
            panic!("{}: {error}", path.display());
        }
        replayed += 1;
    }
    assert!(replayed > 0, "there are kept runs to replay");
}
