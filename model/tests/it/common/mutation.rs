//! Mutations: one answer of a party is changed, and the checker has to notice wherever a guarantee breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

use countersign_model::engine::checker::Checker;
use countersign_model::engine::model::Party;
use countersign_model::engine::party::Executor;
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::Freedom;

/// How the outputs of a protocol can be changed.
pub trait Mutations<P: Protocol>: 'static {
    /// The name of an output's kind.
    fn kind(output: &P::Output) -> &'static str;
    /// The same output, put out a second time.
    fn again(output: &P::Output) -> P::Output;
    /// The output with one field changed to each neighbouring value, and the name of the field.
    fn neighbours(output: &P::Output, each: &mut dyn FnMut(&'static str, P::Output));
    /// An output of each kind about each thing that there is, as an answer to that call.
    fn anything(account: &P::Account, call: &P::Call, each: &mut dyn FnMut(P::Output));
}

/// What was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// An output was left out.
    Dropped,
    /// An output came twice.
    Doubled,
    /// An output and the next changed places.
    Swapped,
    /// A field had another value.
    Field(&'static str),
    /// An output came that nothing called for.
    Added,
}

/// A change, and the kind of the output.
pub type Mutation = (Change, &'static str);

/// What became of the changes in a search.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Those that were tried.
    pub tried: BTreeSet<Mutation>,
    /// Those that the checker has let pass somewhere, each with one call and what came of it.
    pub tolerated: BTreeMap<Mutation, String>,
}

/// A party of whose answers one is changed, as long as the checker finds nothing.
///
/// What it finds leads nowhere, so that each state of a search is one that the checker has let pass.
pub struct Mutated<P: Protocol, E, M> {
    executor: E,
    checker: Checker<P>,
    change: Option<Mutation>,
    outcome: Arc<Mutex<Outcome>>,
    changed_by: PhantomData<fn() -> M>,
}

impl<P: Protocol, E: Executor<P>, M: Mutations<P>> Mutated<P, E, M> {
    /// An honest party of whose answers one will be changed.
    pub fn new(executor: E, account: P::Account) -> Self {
        Self {
            executor,
            checker: Checker::new(account),
            change: None,
            outcome: Arc::default(),
            changed_by: PhantomData,
        }
    }

    /// What was changed in the run so far.
    pub fn change(&self) -> Option<Mutation> {
        self.change
    }

    /// What became of the changes so far, in every run of this search.
    pub fn outcome(&self) -> Outcome {
        self.note(|it| it.clone())
    }

    fn note<R>(&self, note: impl FnOnce(&mut Outcome) -> R) -> R {
        note(&mut self.outcome.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Each way to change an answer once.
    fn changes(
        &self,
        call: &P::Call,
        outputs: &[P::Output],
        mut each: impl FnMut(Change, &P::Output, Vec<P::Output>),
    ) {
        for (place, output) in outputs.iter().enumerate() {
            let mut changed = outputs.to_vec();
            changed.remove(place);
            each(Change::Dropped, output, changed);
            let mut changed = outputs.to_vec();
            changed.insert(place + 1, M::again(output));
            each(Change::Doubled, output, changed);
            if outputs.get(place + 1).is_some_and(|next| next != output) {
                let mut changed = outputs.to_vec();
                changed.swap(place, place + 1);
                each(Change::Swapped, output, changed);
            }
            M::neighbours(output, &mut |field, neighbour| {
                let mut changed = outputs.to_vec();
                changed[place] = neighbour;
                each(Change::Field(field), output, changed);
            });
        }
        for world in self.checker.worlds() {
            M::anything(&world.account, call, &mut |output| {
                let changed = outputs.iter().cloned().chain([output.clone()]).collect();
                each(Change::Added, &output, changed);
            });
        }
    }
}

impl<P: Protocol, E: Executor<P>, M: Mutations<P>> Party<P> for Mutated<P, E, M>
where
    Checker<P>: Send + Sync,
{
    fn answers(
        &self,
        variant: &Variant<P>,
        _: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        let mut executor = self.executor.clone();
        let outputs = executor.call(call);
        let mut goes_on = |change: Option<Mutation>, outputs: Vec<P::Output>| {
            let mut checker = self.checker.clone();
            let is_explained = checker.explains(variant, call, &outputs);
            if is_explained {
                let party = Self {
                    executor: executor.clone(),
                    checker,
                    change,
                    outcome: Arc::clone(&self.outcome),
                    changed_by: PhantomData,
                };
                each(party, outputs);
            }
            is_explained
        };
        if self.change.is_none() {
            self.changes(call, &outputs, |change, output, changed| {
                let mutation = (change, M::kind(output));
                let is_tolerated = goes_on(Some(mutation), changed.clone());
                self.note(|it| {
                    it.tried.insert(mutation);
                    if is_tolerated {
                        let example = || format!("{call:?} -> {changed:?}");
                        it.tolerated.entry(mutation).or_insert_with(example);
                    }
                });
            });
        }
        goes_on(self.change, outputs);
    }
    fn dies(&mut self, lost: usize) {
        self.executor.dies(lost);
    }
}

// Derived, these would ask the same of `P`. Two parties are one that differ only in which change was let pass.
impl<P: Protocol, E: Clone, M> Clone for Mutated<P, E, M> {
    fn clone(&self) -> Self {
        Self {
            executor: self.executor.clone(),
            checker: self.checker.clone(),
            outcome: Arc::clone(&self.outcome),
            ..*self
        }
    }
}
impl<P: Protocol, E: Debug, M> Debug for Mutated<P, E, M> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.debug_struct("Mutated")
            .field("change", &self.change)
            .field("executor", &self.executor)
            .finish_non_exhaustive()
    }
}
impl<P: Protocol, E: PartialEq, M> PartialEq for Mutated<P, E, M> {
    fn eq(&self, other: &Self) -> bool {
        (&self.executor, &self.checker) == (&other.executor, &other.checker)
            && self.change.is_some() == other.change.is_some()
    }
}
impl<P: Protocol, E: Eq, M> Eq for Mutated<P, E, M> {}
impl<P: Protocol, E: Hash, M> Hash for Mutated<P, E, M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.executor, &self.checker, self.change.is_some()).hash(state);
    }
}
