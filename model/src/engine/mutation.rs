//! Mutations: one answer of a party is changed, and the checker has to notice wherever a guarantee breaks.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::checker::{Checker, Judgement};
use crate::engine::model::Party;
use crate::engine::party::{Executor, Judged};
use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::Freedom;

/// A protocol whose outputs can be changed.
pub trait Mutable: Protocol {
    /// The name of an output's kind.
    fn kind_name(output: &Self::Output) -> &'static str;
    /// The output with one field changed to each neighbouring value, and the name of the field.
    fn neighbours(output: &Self::Output, each: &mut dyn FnMut(&'static str, Self::Output));
    /// An output of each kind about each thing that there is.
    fn anything(account: &Self::Account, each: &mut dyn FnMut(Self::Output));
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

/// A change that the checker let pass: what was changed, and the kind of the output.
pub type Tolerated = BTreeSet<(Change, &'static str)>;

/// A party of whose answers one is changed.
#[derive(Clone)]
pub struct Mutated<P: Protocol, E> {
    judged: Judged<P, E>,
    change: Option<(Change, &'static str)>,
    tolerated: Arc<Mutex<Tolerated>>,
}

impl<P: Mutable, E: Executor<P>> Mutated<P, E> {
    /// An honest party of whose answers one will be changed.
    pub fn new(executor: E, account: P::Account) -> Self {
        Self {
            judged: Judged::new(executor, account),
            change: None,
            tolerated: Arc::default(),
        }
    }

    /// What was changed in the run so far.
    pub fn change(&self) -> Option<(Change, &'static str)> {
        self.change
    }

    /// All changes that the checker has let pass so far, in every run of this search.
    pub fn tolerated(&self) -> Tolerated {
        self.list().clone()
    }

    fn list(&self) -> MutexGuard<'_, Tolerated> {
        self.tolerated
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Each way to change an answer once.
    fn changes(
        &self,
        outputs: &[P::Output],
        mut each: impl FnMut(Change, &P::Output, Vec<P::Output>),
    ) {
        for (place, output) in outputs.iter().enumerate() {
            let mut changed = outputs.to_vec();
            changed.remove(place);
            each(Change::Dropped, output, changed.clone());
            changed.insert(place, output.clone());
            changed.insert(place, output.clone());
            each(Change::Doubled, output, changed);
            if outputs.get(place + 1).is_some_and(|next| next != output) {
                let mut changed = outputs.to_vec();
                changed.swap(place, place + 1);
                each(Change::Swapped, output, changed);
            }
            P::neighbours(output, &mut |field, neighbour| {
                let mut changed = outputs.to_vec();
                changed[place] = neighbour;
                each(Change::Field(field), output, changed);
            });
        }
        for world in self.judged.checker.worlds() {
            P::anything(&world.account, &mut |output| {
                let changed = outputs.iter().cloned().chain([output.clone()]).collect();
                each(Change::Added, &output, changed);
            });
        }
    }
}

impl<P: Mutable, E: Executor<P>> Party<P> for Mutated<P, E>
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
        self.judged
            .answers(variant, freedom, call, &mut |judged, outputs| {
                if self.change.is_none() {
                    self.changes(&outputs, |change, output, changed| {
                        let kind = P::kind_name(output);
                        let executor = judged.executor.clone();
                        let judged = self.judged.putting_out(executor, variant, call, &changed);
                        if judged.judgement == Judgement::Conforms {
                            self.list().insert((change, kind));
                        }
                        each(
                            Self {
                                judged,
                                change: Some((change, kind)),
                                tolerated: Arc::clone(&self.tolerated),
                            },
                            changed,
                        );
                    });
                }
                each(
                    Self {
                        judged,
                        change: self.change,
                        tolerated: Arc::clone(&self.tolerated),
                    },
                    outputs,
                );
            });
    }
    fn dies(&mut self, lost: usize) {
        self.judged.dies(lost);
    }
    fn conforms(&self) -> bool {
        self.judged.conforms()
    }
}

impl<P: Protocol, E: Debug> Debug for Mutated<P, E> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.debug_struct("Mutated")
            .field("change", &self.change)
            .field("judged", &self.judged)
            .finish_non_exhaustive()
    }
}
impl<P: Protocol, E: PartialEq> PartialEq for Mutated<P, E> {
    fn eq(&self, other: &Self) -> bool {
        self.judged == other.judged && self.change == other.change
    }
}
impl<P: Protocol, E: Eq> Eq for Mutated<P, E> {}
impl<P: Protocol, E: Hash> Hash for Mutated<P, E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.judged, self.change).hash(state);
    }
}
