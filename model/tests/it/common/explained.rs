//! Every conforming party, held to the text that it conforms to.

use std::fmt::Debug;

use countersign_model::engine::checker::{Checker, Judgement};
use countersign_model::engine::model::Party;
use countersign_model::engine::protocol::{Protocol, Variant};
use countersign_model::engine::world::{Freedom, World};

/// Every conforming party, with a checker beside it that must explain whatever it chooses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Explained<P: Protocol> {
    /// Who chooses.
    pub world: World<P>,
    /// Who explains.
    pub checker: Checker<P>,
    /// What is said of the last call. To depart from a SHOULD conforms.
    pub judgement: Judgement<P::Output>,
}

impl<P: Protocol> Explained<P> {
    /// Before anything has happened.
    pub fn new(account: P::Account) -> Self {
        let (world, checker) = (World::new(account.clone()), Checker::new(account));
        Self {
            world,
            checker,
            judgement: Judgement::Conforms,
        }
    }
}

impl<P: Protocol> Party<P> for Explained<P>
where
    Checker<P>: Send + Sync,
    World<P>: Send + Sync,
    P::Output: Send + Sync,
{
    fn answers(
        &self,
        variant: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        self.world
            .answers(variant, freedom, call, |world, outputs| {
                let mut checker = self.checker.clone();
                let judgement = match checker.observe(variant, call, &outputs) {
                    Judgement::Found(it)
                        if it.clause.is_some()
                            && !it.clause.into_iter().chain(it.beside).any(P::is_must) =>
                    {
                        Judgement::Conforms
                    }
                    it @ (Judgement::Conforms
                    | Judgement::Found(_)
                    | Judgement::TooManyExplanations) => it,
                };
                each(
                    Self {
                        world,
                        checker,
                        judgement,
                    },
                    outputs,
                );
            });
    }
    fn conforms(&self) -> bool {
        self.judgement == Judgement::Conforms
    }
}
