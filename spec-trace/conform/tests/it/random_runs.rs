//! Random runs far beyond the bounds of the exhaustive walk: the model as reference machine, the executor as the system
//! under test. Whatever a run once found is kept as a file and replayed by every later run of the tests.
//!
//! The one thing to know: the machine is the same for every protocol; a protocol is a [`Far`].

use std::fs;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use countersign_conform::Sides;
use countersign_conform::aaep::{AaepBridge, Environment as Aaep};
use countersign_conform::bridge::{Action, Bridge, Execution, State};
use countersign_conform::harness;
use countersign_conform::schedule::{self, ReplayError, SavedRun};
use countersign_model::bounds::Bounds as _;
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Just;
use proptest::test_runner::FileFailurePersistence;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

/// The steps of one protocol, for which runs go as far as its model does.
trait Far: Execution + 'static {
    /// Made once: transitions are chosen without a bridge at hand.
    fn far() -> &'static Bridge<Self>;

    fn enabled(state: &State<Self>) -> Vec<Action<Self>> {
        let mut enabled = Vec::new();
        Self::far().actions(state, &mut enabled);
        enabled
    }
}

impl Far for Aaep {
    fn far() -> &'static AaepBridge {
        harness::far_aaep()
    }
}

/// The protocol's name on the command line.
const fn protocol<E: Far>() -> &'static str {
    E::Protocol::NAME
}

fn kept_runs(protocol: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../traces/runs")
        .join(protocol)
}

/// The model, taking any step that it allows. `None` stands for the end of a run in which nothing is possible any more.
struct Model<E>(PhantomData<E>);

impl<E: Far> ReferenceStateMachine for Model<E> {
    type State = State<E>;
    type Transition = Option<Action<E>>;

    fn init_state() -> BoxedStrategy<State<E>> {
        Just(E::far().begin().0).boxed()
    }

    fn transitions(state: &State<E>) -> BoxedStrategy<Option<Action<E>>> {
        let enabled = E::enabled(state);
        if enabled.is_empty() {
            Just(None).boxed()
        } else {
            select(enabled).prop_map(Some).boxed()
        }
    }

    fn preconditions(state: &State<E>, transition: &Option<Action<E>>) -> bool {
        let enabled = E::enabled(state);
        transition.map_or(enabled.is_empty(), |action| enabled.contains(&action))
    }

    fn apply(state: State<E>, transition: &Option<Action<E>>) -> State<E> {
        transition.map_or(state, |action| {
            let next = E::far().model().take(&state, action);
            next.expect("an enabled step")
        })
    }
}

/// The executor, with the model state that it should be in and the steps taken so far.
struct Executor<E: Far> {
    state: State<E>,
    host: E::Host,
    run: Vec<Action<E>>,
}

impl<E: Far> StateMachineTest for Executor<E> {
    type SystemUnderTest = Self;
    type Reference = Model<E>;

    fn init_test(_: &State<E>) -> Self {
        let (state, host) = E::far().begin();
        let run = Vec::new();
        Self { state, host, run }
    }

    fn apply(mut executor: Self, after: &State<E>, transition: Option<Action<E>>) -> Self {
        let Some(action) = transition else {
            return executor;
        };
        executor.run.push(action);
        match E::far().step(&executor.state, &mut executor.host, action) {
            Ok(next) => executor.state = next,
            Err(disagreement) => {
                let shrunk = schedule::shrunk(E::far(), executor.run, disagreement);
                let saved = SavedRun::of(protocol::<E>(), "far", &shrunk);
                let kept = saved.keep(&kept_runs(protocol::<E>()));
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
            "tests/it/random_runs.proptest-regressions",
        ))),
        ..ProptestConfig::default()
    })]

    /// AAEP-6.3.5-1, AAEP-6.4-1, AAEP-6.8-2: whatever the order of replies, duplicates, clocks and crashes, the
    /// executor does what the model allows.
    #[test]
    fn the_producer_follows_the_model_on_random_runs(
        sequential 1..200 => Executor<Aaep>
    );
}

/// Every run that is kept of a protocol, with its file.
fn kept<E: Far>() -> Vec<(PathBuf, SavedRun)> {
    let folder = kept_runs(protocol::<E>());
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
fn replay<E: Far>() {
    for (path, run) in kept::<E>() {
        assert_eq!(run.protocol, protocol::<E>(), "{}", path.display());
        if let Err(error) = run.replay(E::far()) {
            panic!("{}: {error}", path.display());
        }
    }
}

#[test]
fn every_kept_run_of_aaep_agrees() {
    replay::<Aaep>();
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

/// Every rule that only the model has is noticed, by a kept run or by one of the first random ones.
fn missing_rules_are_noticed<E: Far>() {
    let kept = kept::<E>();
    let differs = |bridge: &Bridge<E>| {
        let mut kept = kept.iter();
        kept.any(|(_, run)| matches!(run.replay(bridge), Err(ReplayError::Diverged(_))))
            || (0..2_000).any(|seed| schedule::run(bridge, choices(seed)).is_err())
    };
    assert!(!differs(E::far()), "with all rules, both sides agree");
    // A rule about what these runs have none of is held by the wide runs.
    let rows = <E::Protocol as Modelled>::Guard::ROWS.iter();
    let rows = rows.filter(|row| row.with.is_none_or(|many| E::FAR.shows(many)));
    let unnoticed = rows.filter(|row| !differs(&Bridge::far().without(row.guard)));
    let names: Vec<_> = unnoticed.map(|row| row.name).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn a_rule_of_aaep_that_only_one_side_has_is_noticed() {
    missing_rules_are_noticed::<Aaep>();
}
