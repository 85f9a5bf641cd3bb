//! A party of which outputs are wanted.

use std::sync::Arc;

use crate::engine::model::Party;
use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::{Freedom, World};
use crate::facade::engine::Catalog;

/// Every conforming party, and how many outputs it has put out of those that are wanted in this order. It `conforms` until they have all
/// come, so that the search ends with the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Putting<P: Protocol> {
    world: World<P>,
    wanted: Arc<[String]>,
    came: usize,
}

impl<P: Protocol> Putting<P> {
    /// Before anything has happened.
    pub(super) fn new(account: P::Account, wanted: Arc<[String]>) -> Self {
        Self {
            world: World::new(account),
            wanted,
            came: 0,
        }
    }
}

impl<P: Catalog> Party<P> for Putting<P>
where
    World<P>: Party<P>,
{
    fn answers(
        &self,
        variant: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        World::answers(&self.world, variant, freedom, call, |world, outputs| {
            let mut came = self.came;
            for output in &outputs {
                let text = self.wanted.get(came);
                came += usize::from(text.is_some_and(|it| P::output_text(output).contains(&**it)));
            }
            let wanted = Arc::clone(&self.wanted);
            each(
                Self {
                    world,
                    wanted,
                    came,
                },
                outputs,
            );
        });
    }
    fn conforms(&self) -> bool {
        self.came < self.wanted.len()
    }
    fn accounts(&mut self, each: &mut dyn FnMut(&mut P::Account)) {
        self.world.accounts(each);
    }
}
