//! A reference in the search: held to the text, and to every word of the spec's own producer where the text leaves nothing
//! open. The search is stateright's.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use countersign_model::engine::checker::Checker;
use countersign_model::engine::model::{Action, CONFORMS, Environment, Model, Party, State};
use countersign_model::engine::party::{Executor, Judged};
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::Freedom;
use stateright::{Checker as _, HasDiscoveries, Model as _};

/// What a text leaves open, in which a reference and the spec's producer may differ.
pub trait Differing: Protocol {
    /// Whether the outputs of one call come in the order of the producer's.
    const IS_ORDERED: bool;

    /// Whether it may come instead of what the producer puts out.
    fn may_replace(expected: &Self::Output, output: &Self::Output) -> bool;
}

/// A judged executor that puts out all that the spec's producer does, in the same order. What else it puts out, the checker
/// has allowed.
///
/// The text asks for less. This keeps spec and executor from drifting apart where the text says SHOULD or says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Exact<P: Protocol, E> {
    /// Who is held to the text.
    pub judged: Judged<P, E>,
    /// What the producer puts out for the last call, where that is something else.
    pub expected: Option<Vec<P::Output>>,
}

impl<P: Protocol, E> Exact<P, E> {
    /// Before anything has happened.
    pub fn new(executor: E, account: P::Account) -> Self {
        Self {
            judged: Judged::new(executor, account),
            expected: None,
        }
    }
}

impl<P: Differing, E: Executor<P>> Party<P> for Exact<P, E>
where
    Checker<P>: Send + Sync,
    P::Output: Send + Sync,
{
    fn answers(
        &self,
        variant: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        let mut expected = Vec::new();
        if let Some(world) = self.judged.checker.worlds().first() {
            world.answers(variant, Freedom::Default, call, |_, outputs| {
                expected = outputs;
            });
        }
        self.judged
            .answers(variant, freedom, call, &mut |judged, outputs| {
                let expected =
                    (!is_as_expected::<P>(&expected, &outputs)).then(|| expected.clone());
                each(Self { judged, expected }, outputs);
            });
    }
    fn dies(&mut self, lost: usize) {
        self.judged.dies(lost);
    }
    fn conforms(&self) -> bool {
        self.judged.conforms() && self.expected.is_none()
    }
    fn accounts(&mut self, each: &mut dyn FnMut(&mut P::Account)) {
        self.judged.accounts(each);
    }
}

fn is_as_expected<P: Differing>(expected: &[P::Output], outputs: &[P::Output]) -> bool {
    let mut left: Vec<_> = outputs.iter().collect();
    let mut is_next = |it: &P::Output| {
        let is_it = |output: &&P::Output| it == *output || P::may_replace(it, output);
        let place = left.iter().position(is_it)?;
        left.drain(if P::IS_ORDERED { 0 } else { place }..=place);
        Some(())
    };
    expected.iter().all(|it| is_next(it).is_some())
}

/// A party in the search, held to the text as it stands.
pub fn model_of<P: Environment, Q>(party: Q, bounds: P::Bounds) -> Model<P, Q> {
    Model {
        variant: Variant::default(),
        party,
        bounds,
        freedom: Freedom::Default,
        forgets: true,
    }
}

/// How a search went.
#[derive(Clone, Debug)]
pub struct Searched<P: Environment, Q> {
    /// States that differ, the hidden state of the executor included.
    pub states: usize,
    /// Transitions, each taken by the executor and judged.
    pub transitions: usize,
    /// The longest run that was walked, in steps.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// The situations that were reached.
    pub reached: BTreeSet<&'static str>,
    /// What does not hold, with a run to it.
    pub broken: Option<Broken<P, Q>>,
}

/// A run to something that does not hold.
#[derive(Clone, Debug)]
pub struct Broken<P: Environment, Q> {
    /// What it is: a guarantee, or [`CONFORMS`].
    pub name: &'static str,
    /// Each step, with the state before it.
    pub run: Vec<(State<P, Q>, Action<P, Q>)>,
    /// The state that it leads to.
    pub last: State<P, Q>,
}

/// A search of all states goes so deep at most where something is broken and the shortest run to it is wanted.
const DEEPEST: usize = 40;

/// Searches all states, depth-first and on as many threads; `progress` is told the number of transitions so far.
///
/// Where something does not hold it ends, and a breadth-first search gives the shortest run to it.
///
/// # Panics
///
/// Where a party panics.
pub fn search<P: Environment, Q: Party<P>>(
    model: &Model<P, Q>,
    threads: usize,
    progress: &dyn Fn(u64),
) -> Searched<P, Q> {
    let begun = Instant::now();
    let sentences = sentences(model);
    let search = model.clone().checker().threads(threads);
    let is_enough = HasDiscoveries::AnyOf(sentences.clone());
    let mut checker = search.finish_when(is_enough).spawn_dfs();
    let workers = checker.handles();
    while workers.iter().any(|it| !it.is_finished()) {
        progress(checker.state_count() as u64);
        thread::sleep(Duration::from_millis(20));
    }
    for worker in workers {
        worker.join().expect("a worker of the search panicked");
    }
    let found: BTreeSet<_> = checker.discoveries().into_keys().collect();
    let broken = found.iter().any(|it| sentences.contains(it));
    Searched {
        states: checker.unique_state_count(),
        transitions: checker.state_count(),
        depth: checker.max_depth(),
        time: begun.elapsed(),
        broken: broken.then(|| shortest(model)).flatten(),
        reached: P::WITNESSES
            .iter()
            .filter_map(|it| found.get(it.name).copied())
            .collect(),
    }
}

/// What must hold: that the party conforms, and of the text as it is usually read its guarantees. They do not know another
/// reading.
fn sentences<P: Environment, Q>(model: &Model<P, Q>) -> BTreeSet<&'static str> {
    let is_usual = model.variant.reading == P::Reading::default();
    let guarantees = P::GUARANTEES.iter().filter(|_| is_usual);
    [CONFORMS]
        .into_iter()
        .chain(guarantees.map(|it| it.name))
        .collect()
}

/// The shortest run to something that does not hold: whatever that is, nothing is broken by a shorter one.
pub fn shortest<P: Environment, Q: Party<P>>(model: &Model<P, Q>) -> Option<Broken<P, Q>> {
    let sentences = sentences(model);
    // The checker keeps the last that it comes across, and not the first.
    (2..DEEPEST).find_map(|depth| {
        let search = model.clone().checker().target_max_depth(depth);
        let checker = search
            .finish_when(HasDiscoveries::AnyOf(sentences.clone()))
            .spawn_bfs()
            .join();
        let mut discoveries = checker.discoveries();
        let mut found = sentences
            .iter()
            .filter_map(|name| discoveries.remove_entry(name));
        let (name, path) = found.next()?;
        let last = path.last_state().clone();
        let steps = path.into_vec().into_iter();
        Some(Broken {
            name,
            run: steps
                .filter_map(|(state, action)| Some((state, action?)))
                .collect(),
            last,
        })
    })
}

/// A run that outside choices pick: of `n` calls and moves that are possible, number `choice % n`, and of the ways in which it
/// can go, one by what is left of the choice. What does not hold in it first.
pub fn walk<P: Environment, Q: Party<P>>(
    model: &Model<P, Q>,
    choices: impl IntoIterator<Item = u16>,
) -> Option<Broken<P, Q>> {
    let sentences = sentences(model);
    let mut last = model.init_states().pop()?;
    let (mut run, mut actions, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for choice in choices.into_iter().map(usize::from) {
        actions.clear();
        calls.clear();
        model.calls(&last, &mut |call| calls.push(call));
        model.moves(&last, &mut |action| actions.push(action));
        let possible = calls.len() + actions.len();
        let mut place = choice.checked_rem(possible)?;
        if let Some(call) = calls.get(place) {
            actions.clear();
            model.answers(&last, call, &mut |action| actions.push(action));
            place = (choice / possible).checked_rem(actions.len())?;
        } else {
            place -= calls.len();
        }
        let action = actions.swap_remove(place);
        let next = model.next_state(&last, action.clone())?;
        run.push((std::mem::replace(&mut last, next), action));
        let guarantees = P::GUARANTEES
            .iter()
            .filter(|it| sentences.contains(it.name));
        let mut broken = guarantees.filter(|it| !(it.holds)(&last.history));
        let broken = broken.next().map(|it| it.name);
        let broken = broken.or((!last.party.conforms()).then_some(CONFORMS));
        if let Some(name) = broken {
            return Some(Broken { name, run, last });
        }
    }
    None
}

impl<P: Environment, Q: Party<P>> Broken<P, Q> {
    /// The steps, and the state that they lead to, for a programmer.
    pub fn debugged(&self) -> String {
        let steps = self.run.iter().map(|(_, action)| format!("{action:?}\n"));
        steps.chain([format!("{:?}", self.last)]).collect()
    }
}
