//! The references on every transition of the search, and faults that only the search shows.

mod aaep;
mod mcp_aql;
mod pending_action;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use countersign_conform::search::{Exact, model_of, search};
use countersign_conform::spoken::{Host, Spoken};
use countersign_model::engine::model::{Action, Model, Party, State};
use countersign_model::engine::party::{Executor, Judged};
use countersign_model::engine::protocol::Protocol;
use countersign_model::facade::engine::Catalog;
use stateright::Model as _;

fn judged<P: Catalog, E: Executor<P>>(bounds: P::Bounds, executor: E) -> Model<P, Judged<P, E>> {
    let account = P::account(Some(&bounds));
    model_of(Judged::new(executor, account), bounds)
}

/// How many states and transitions the search has, and what of the situations it does not reach.
#[track_caller]
fn agreed<P: Spoken>(
    bounds: P::Bounds,
    settings: <P::Reference as Host<P>>::Settings,
) -> (usize, usize, Vec<&'static str>)
where
    Exact<P, P::Reference>: Party<P>,
{
    let reading = P::Reference::reading(&settings);
    let account = P::Reference::account(&settings, Some(&bounds));
    let party = Exact::new(P::Reference::new(settings), account);
    let mut model = model_of(party, bounds);
    model.variant.reading = reading;
    let searched = search(&model, 2, &|_| {});
    if let Some(broken) = searched.broken {
        panic!("{}\n{}", broken.name, broken.debugged());
    }
    println!(
        "{} states, {} transitions in {:?}, {} in a second",
        searched.states,
        searched.transitions,
        searched.time,
        searched.transitions as u128 * 1_000 / searched.time.as_millis().max(1),
    );
    let names = P::WITNESSES.iter().map(|it| it.name);
    let missing = names.filter(|it| !searched.reached.contains(it));
    (searched.states, searched.transitions, missing.collect())
}

/// A reference with something else between it and whoever looks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Altered<E, F> {
    reference: E,
    fault: F,
}

trait Fault<P: Protocol>: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    fn alter(&mut self, call: &P::Call, outputs: &mut Vec<P::Output>);
}

impl<P: Protocol, E: Executor<P>, F: Fault<P>> Executor<P> for Altered<E, F> {
    fn call(&mut self, call: &P::Call) -> Vec<P::Output> {
        let mut outputs = self.reference.call(call);
        self.fault.alter(call, &mut outputs);
        outputs
    }
    fn dies(&mut self, lost: usize) {
        self.reference.dies(lost);
    }
}

fn fingerprint(it: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    hasher.finish()
}

/// How many states there are where everything is told apart, how many where some are merged, and how many of those stand for
/// states that put out something else, or lead elsewhere.
fn merging<P: Catalog, E: Executor<P>>(
    bounds: P::Bounds,
    executor: E,
    merge: impl Fn(&mut E),
    limit: usize,
) -> (usize, usize, usize)
where
    Judged<P, E>: Party<P>,
{
    let merged = |state: &State<P, Judged<P, E>>| {
        let mut state = state.clone();
        merge(&mut state.party.executor);
        fingerprint(&state)
    };
    let model = judged(bounds, executor);
    let mut waiting: VecDeque<_> = model.init_states().into();
    let mut known: HashSet<_> = waiting.iter().map(fingerprint).collect();
    let (mut behaviours, mut unlike) = (HashMap::new(), 0);
    while let Some(state) = waiting.pop_front() {
        let (mut actions, mut behaviour) = (Vec::new(), DefaultHasher::new());
        model.actions(&state, &mut actions);
        for action in actions {
            if let Action::Call { call, answer, lost } = &action {
                (call, &answer.1, lost).hash(&mut behaviour);
            }
            let Some(next) = model.next_state(&state, action) else {
                continue;
            };
            merged(&next).hash(&mut behaviour);
            if known.len() < limit && known.insert(fingerprint(&next)) {
                waiting.push_back(next);
            }
        }
        let behaviour = behaviour.finish();
        if *behaviours.entry(merged(&state)).or_insert(behaviour) != behaviour {
            unlike += 1;
        }
    }
    (known.len(), behaviours.len(), unlike)
}
