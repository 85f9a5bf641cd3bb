//! Parties: every conforming one, one without a clause, one that is judged, two beside each other.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::engine::checker::{Checker, Judgement};
use crate::engine::model::Party;
use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::{Freedom, World};

/// A conforming party by the text that the model is given, or what is left of one where clauses are left out.
impl<P: Protocol> Party<P> for World<P>
where
    World<P>: Send + Sync,
{
    fn answers(
        &self,
        variant: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        World::answers(self, variant, freedom, call, each);
    }
    fn accounts(&mut self, each: &mut dyn FnMut(&mut P::Account)) {
        each(&mut self.account);
    }
}

/// A program: one answer to each call.
pub trait Executor<P: Protocol>: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// What it puts out.
    fn call(&mut self, call: &P::Call) -> Vec<P::Output>;
    /// It died, and the last so many of its outputs were not carried out.
    fn dies(&mut self, _lost: usize) {}
}

/// A producer by a text of its own: without a clause, or by another reading.
#[derive(Debug)]
pub struct ByVariant<P: Protocol> {
    variant: Arc<Variant<P>>,
    world: World<P>,
}

impl<P: Protocol> ByVariant<P> {
    /// Before anything has happened.
    pub fn new(variant: Variant<P>, account: P::Account) -> Self {
        Self {
            variant: Arc::new(variant),
            world: World::new(account),
        }
    }
}

impl<P: Protocol> Executor<P> for ByVariant<P>
where
    Self: Send + Sync,
{
    fn call(&mut self, call: &P::Call) -> Vec<P::Output> {
        let mut answer = None;
        self.world
            .answers(&self.variant, Freedom::Default, call, |world, outputs| {
                answer = Some((world, outputs));
            });
        let Some((world, outputs)) = answer else {
            return Vec::new();
        };
        self.world = world;
        outputs
    }
}

/// Alone: by its own text, whichever the model is given, and nobody judges it.
impl<P: Protocol> Party<P> for ByVariant<P>
where
    Self: Send + Sync,
{
    fn answers(
        &self,
        _: &Variant<P>,
        _: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        let mut party = self.clone();
        let outputs = party.call(call);
        each(party, outputs);
    }
}

impl<P: Protocol> Clone for ByVariant<P> {
    fn clone(&self) -> Self {
        Self {
            variant: Arc::clone(&self.variant),
            world: self.world.clone(),
        }
    }
}
impl<P: Protocol> PartialEq for ByVariant<P> {
    fn eq(&self, other: &Self) -> bool {
        self.world == other.world
    }
}
impl<P: Protocol> Eq for ByVariant<P> {}
impl<P: Protocol> Hash for ByVariant<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.world.hash(state);
    }
}

/// An executor with a checker beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Judged<P: Protocol, E> {
    /// Who is judged.
    pub executor: E,
    /// Who judges.
    pub checker: Checker<P>,
    /// What is said of the last call.
    pub judgement: Judgement<P::Output>,
}

impl<P: Protocol, E> Judged<P, E> {
    /// Before anything has happened.
    pub fn new(executor: E, account: P::Account) -> Self {
        Self {
            executor,
            checker: Checker::new(account),
            judgement: Judgement::Conforms,
        }
    }

    /// After the call, for which the executor has become that and has put this out.
    pub(crate) fn putting_out(
        &self,
        executor: E,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> Self {
        let (checker, judgement) = self.checker.observed(variant, call, outputs);
        Self {
            executor,
            checker,
            judgement,
        }
    }
}

impl<P: Protocol, E: Executor<P>> Party<P> for Judged<P, E>
where
    Checker<P>: Send + Sync,
    P::Output: Send + Sync,
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
        each(self.putting_out(executor, variant, call, &outputs), outputs);
    }
    fn dies(&mut self, lost: usize) {
        self.executor.dies(lost);
    }
    fn conforms(&self) -> bool {
        self.judgement == Judgement::Conforms
    }
    fn accounts(&mut self, each: &mut dyn FnMut(&mut P::Account)) {
        self.checker.accounts(each);
    }
}

/// Two conforming parties, each by its own text and by default, that are told the same.
#[derive(Debug)]
pub struct Beside<P: Protocol> {
    variants: Arc<[Variant<P>; 2]>,
    worlds: [World<P>; 2],
    is_alike: bool,
}

impl<P: Protocol> Beside<P> {
    /// Before anything has happened.
    pub fn new(variants: [Variant<P>; 2], account: P::Account) -> Self {
        Self {
            variants: Arc::new(variants),
            worlds: [World::new(account.clone()), World::new(account)],
            is_alike: true,
        }
    }
}

/// It answers as the first, and conforms as long as the second answers the same.
impl<P: Protocol> Party<P> for Beside<P>
where
    Self: Send + Sync,
{
    fn answers(
        &self,
        _: &Variant<P>,
        _: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        let (mut party, mut answers) = (self.clone(), Vec::new());
        for (world, variant) in party.worlds.iter_mut().zip(&*self.variants) {
            let mut answer = None;
            world.answers(variant, Freedom::Default, call, |world, outputs| {
                answer = Some((world, outputs));
            });
            if let Some((next, outputs)) = answer {
                *world = next;
                answers.push(outputs);
            }
        }
        let Some(second) = answers.pop() else { return };
        let Some(first) = answers.pop() else { return };
        party.is_alike = first == second;
        each(party, first);
    }
    fn conforms(&self) -> bool {
        self.is_alike
    }
}

impl<P: Protocol> Clone for Beside<P> {
    fn clone(&self) -> Self {
        Self {
            variants: Arc::clone(&self.variants),
            worlds: self.worlds.clone(),
            is_alike: self.is_alike,
        }
    }
}
impl<P: Protocol> PartialEq for Beside<P> {
    fn eq(&self, other: &Self) -> bool {
        self.worlds == other.worlds && self.is_alike == other.is_alike
    }
}
impl<P: Protocol> Eq for Beside<P> {}
impl<P: Protocol> Hash for Beside<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.worlds, self.is_alike).hash(state);
    }
}

/// Every conforming party by a text of its own, held to other texts. It conforms as long as one of them explains it.
#[derive(Debug)]
pub struct Apart<P: Protocol> {
    by: Arc<Variant<P>>,
    texts: Arc<[Variant<P>]>,
    world: World<P>,
    /// What each of the texts says; nothing of one that has found something.
    checkers: SmallVec<[Option<Checker<P>>; 2]>,
}

impl<P: Protocol> Apart<P> {
    /// Before anything has happened.
    pub fn new(by: Variant<P>, texts: &[Variant<P>], account: P::Account) -> Self {
        let checker = |_| Some(Checker::new(account.clone()));
        Self {
            by: Arc::new(by),
            texts: texts.into(),
            checkers: texts.iter().map(checker).collect(),
            world: World::new(account),
        }
    }
}

impl<P: Protocol> Party<P> for Apart<P>
where
    Self: Send + Sync,
{
    fn answers(
        &self,
        _: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        self.world
            .answers(&self.by, freedom, call, |world, outputs| {
                let mut party = Self {
                    world,
                    ..self.clone()
                };
                for (checker, text) in party.checkers.iter_mut().zip(&*self.texts) {
                    let judgement = checker.as_mut().map(|it| it.observe(text, call, &outputs));
                    if let Some(Judgement::Found(_)) = judgement {
                        *checker = None;
                    }
                }
                each(party, outputs);
            });
    }
    fn conforms(&self) -> bool {
        self.checkers.iter().any(Option::is_some)
    }
}

impl<P: Protocol> Clone for Apart<P> {
    fn clone(&self) -> Self {
        Self {
            by: Arc::clone(&self.by),
            texts: Arc::clone(&self.texts),
            world: self.world.clone(),
            checkers: self.checkers.clone(),
        }
    }
}
impl<P: Protocol> PartialEq for Apart<P> {
    fn eq(&self, other: &Self) -> bool {
        self.world == other.world && self.checkers == other.checkers
    }
}
impl<P: Protocol> Eq for Apart<P> {}
impl<P: Protocol> Hash for Apart<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.world, &self.checkers).hash(state);
    }
}
