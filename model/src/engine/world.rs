//! One explanation of what a party has done: an account, and what is still owed.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::engine::choice::Choices;
use crate::engine::clause::Clauses;
use crate::engine::obligation::{Force, Obligation, Owed};
use crate::engine::protocol::{Protocol, Step, Variant};

/// An account with its open obligations.
#[derive(Debug)]
pub struct World<P: Protocol> {
    /// What is known.
    pub account: P::Account,
    pub(crate) open: Vec<Obligation<P>>,
    /// The name of the obligation that comes next in this call.
    next: u16,
    /// Things of which a fault has made everything uncertain: nothing is owed or forbidden about them.
    pub(crate) diverged: SmallVec<[P::Thing; 1]>,
}

/// An output that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mismatch<O> {
    /// It came, against those clauses.
    Unexpected {
        /// What came.
        output: O,
        /// What forbids it.
        clauses: Clauses,
    },
    /// It did not come, or came where it no longer could.
    Missing {
        /// What was owed, with its holes as a conforming party fills them first.
        output: O,
        /// What states it.
        clauses: Clauses,
    },
}

impl<O> Mismatch<O> {
    /// The output that it is about.
    pub fn output(&self) -> &O {
        match self {
            Self::Unexpected { output, .. } | Self::Missing { output, .. } => output,
        }
    }
    /// The clauses that it is against.
    pub fn clauses(&self) -> Clauses {
        match self {
            Self::Unexpected { clauses, .. } | Self::Missing { clauses, .. } => clauses,
        }
    }
}

/// What a conforming party may choose. Each goes beyond the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freedom {
    /// The first option of everything; what it should, and nothing that it merely may.
    #[default]
    Default,
    /// Each option, and whether it does what it may.
    May,
    /// Whether it does what it should, and in which order.
    Order,
}

impl<P: Protocol> World<P> {
    /// Nothing is owed.
    pub fn new(account: P::Account) -> Self {
        Self {
            account,
            open: Vec::new(),
            next: 0,
            diverged: SmallVec::new(),
        }
    }

    /// What is still owed or allowed.
    pub fn open(&self) -> &[Obligation<P>] {
        &self.open
    }

    /// Every way in which a step can go on from here, with those obligations, which are made for each.
    fn explore<R>(
        &self,
        open: impl Fn() -> Vec<Obligation<P>>,
        variant: &Variant<P>,
        first_alone: bool,
        mut step: impl FnMut(&mut Step<'_, P>) -> R,
        mut each: impl FnMut(Self, R),
    ) {
        let mut choices = Choices::default();
        loop {
            let mut it = Step {
                variant,
                account: self.account.clone(),
                open: open(),
                choices,
                next: self.next,
            };
            let result = step(&mut it);
            choices = it.choices;
            let mut world = Self {
                account: it.account,
                open: it.open,
                next: it.next,
                diverged: self.diverged.clone(),
            };
            world.open.retain(|it| {
                variant.shows(P::kind(&it.output))
                    && P::thing(&it.output).is_none_or(|thing| !world.diverged.contains(&thing))
            });
            each(world, result);
            if first_alone || !choices.advance() {
                return;
            }
        }
    }

    /// Every way in which the call can be taken.
    pub(crate) fn call(
        &self,
        variant: &Variant<P>,
        first_alone: bool,
        call: &P::Call,
        mut each: impl FnMut(Self),
    ) {
        self.explore(
            || self.open.clone(),
            variant,
            first_alone,
            |step| P::call(step, call),
            |world, ()| each(world),
        );
    }

    /// Every way in which an output can be meant.
    ///
    /// # Errors
    /// The clauses that it is against, where there is none.
    pub(crate) fn meet(
        &self,
        variant: &Variant<P>,
        output: &P::Output,
        mut each: impl FnMut(Self),
    ) -> Result<(), Clauses> {
        let (against, is_met) = (Cell::new(None), Cell::new(false));
        let mut take = |world, result| {
            if let Err(clauses) = variant.permits(result) {
                against.set(against.get().or(Some(clauses)));
            } else {
                is_met.set(true);
                each(world);
            }
        };
        for (place, it) in self.open.iter().enumerate() {
            let was_tried = self.open[..place].iter().any(|earlier| earlier.is_like(it));
            if !it.is_late && !was_tried && it.fits(output) {
                self.take(variant, false, place, output, &mut take);
            }
        }
        if is_met.get() {
            return Ok(());
        }
        // It is what was owed, and not as it has to be: that it may come unasked is no excuse.
        if let Some(clauses) = against.get() {
            return Err(clauses);
        }
        let is_diverged = P::thing(output).is_some_and(|thing| self.diverged.contains(&thing));
        self.explore(
            || self.open.clone(),
            variant,
            false,
            |step| P::unowed(step, output),
            |world, result| {
                take(world, if is_diverged { Ok(()) } else { result });
            },
        );
        if is_met.get() {
            Ok(())
        } else {
            Err(against.get().unwrap_or_default())
        }
    }

    /// Every way in which the obligation in that place is met by the output.
    fn take(
        &self,
        variant: &Variant<P>,
        first_alone: bool,
        place: usize,
        output: &P::Output,
        each: impl FnMut(Self, Result<(), Clauses>),
    ) {
        let it = &self.open[place];
        let open = || {
            let mut open = self.open.clone();
            meet_one(&mut open, variant, place);
            open
        };
        let bind = |step: &mut Step<'_, P>| {
            it.binding
                .map_or(Ok(()), |binding| P::bind(step, binding, output))
        };
        self.explore(open, variant, first_alone, bind, each);
    }

    /// Drops what had to come before the next call, and says what of it is missing.
    pub(crate) fn settle(
        &mut self,
        variant: &Variant<P>,
        mut missing: impl FnMut(Clauses, P::Output),
    ) {
        self.open.retain(|it| {
            let is_over = it.is_over();
            if (is_over || it.is_late) && it.is_due(variant) {
                missing(it.clauses, it.output.clone());
            }
            !is_over && !it.is_late
        });
        for place in 0..self.open.len() {
            let (earlier, rest) = self.open.split_at_mut(place);
            let it = &mut rest[0];
            it.after
                .retain(|(name, _)| earlier.iter().any(|it| it.name == *name));
        }
        for (place, new) in (0..self.open.len()).zip((0..).map(Owed)) {
            let old = self.open[place].name;
            for it in &mut self.open {
                for (name, _) in &mut it.after {
                    if *name == old {
                        *name = new;
                    }
                }
            }
            self.open[place].name = new;
        }
        self.next = u16::try_from(self.open.len()).unwrap_or(u16::MAX);
    }

    /// Every way in which a conforming party can answer the call: what it then owes, and what it puts out.
    pub fn answers(
        &self,
        variant: &Variant<P>,
        freedom: Freedom,
        call: &P::Call,
        mut each: impl FnMut(Self, Vec<P::Output>),
    ) {
        self.call(variant, freedom == Freedom::Default, call, |world| {
            world.pay(
                variant,
                freedom,
                &mut Vec::new(),
                &mut Vec::new(),
                &mut each,
            );
        });
    }

    /// Goes on paying: what became due first and can come now, or with [`Freedom::Order`] anything that can come now.
    fn pay(
        mut self,
        variant: &Variant<P>,
        freedom: Freedom,
        skipped: &mut Vec<Owed>,
        paid: &mut Vec<P::Output>,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        if self
            .open
            .iter()
            .any(|it| it.is_late && it.must_be_met(variant, freedom))
        {
            return;
        }
        let is_left = |it: &Obligation<P>| !it.is_late && !skipped.contains(&it.name);
        let is_blocked = |it: &Obligation<P>| {
            let precedes = |(earlier, clauses): &(Owed, Clauses)| {
                let is_left = |other: &Obligation<P>| other.name == *earlier && is_left(other);
                let waits = freedom < Freedom::Order
                    || self
                        .open
                        .iter()
                        .any(|it| is_left(it) && !it.can_wait(variant, freedom));
                waits && !variant.left_out.contains_all(clauses) && self.open.iter().any(is_left)
            };
            it.after.iter().any(precedes)
        };
        let mut next = (0..self.open.len())
            .filter(|place| is_left(&self.open[*place]) && !is_blocked(&self.open[*place]));
        if freedom == Freedom::Order {
            let places: Vec<usize> = next.collect();
            if self
                .open
                .iter()
                .filter(|it| is_left(it))
                .all(|it| it.can_wait(variant, freedom))
            {
                self.clone().paid(variant, paid, each);
            }
            for place in places {
                self.pay_one(place, variant, freedom, skipped, paid, each);
            }
            return;
        }
        let Some(place) = next.next() else {
            self.paid(variant, paid, each);
            return;
        };
        let it = &self.open[place];
        let is_wanted =
            it.is_due(variant) || it.force == Force::Usual || freedom > Freedom::Default;
        let can_wait = it.can_wait(variant, freedom) || !is_wanted;
        if !can_wait && it.binding.is_none() && !it.repeats {
            // There is one way, and nothing to come back to.
            paid.push(self.put_out(place));
            meet_one(&mut self.open, variant, place);
            self.pay(variant, freedom, skipped, paid, each);
            paid.pop();
            return;
        }
        if is_wanted {
            self.pay_one(place, variant, freedom, skipped, paid, each);
        }
        if can_wait {
            skipped.push(self.open[place].name);
            self.pay(variant, freedom, skipped, paid, each);
            skipped.pop();
        }
    }

    /// Meets the obligation in that place, in every way, and goes on.
    fn pay_one(
        &self,
        place: usize,
        variant: &Variant<P>,
        freedom: Freedom,
        skipped: &mut Vec<Owed>,
        paid: &mut Vec<P::Output>,
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        let Obligation { name, repeats, .. } = self.open[place];
        let output = self.put_out(place);
        self.take(
            variant,
            freedom == Freedom::Default,
            place,
            &output,
            |world, result| {
                if variant.permits(result).is_ok() {
                    paid.push(output.clone());
                    skipped.extend(repeats.then_some(name));
                    world.pay(variant, freedom, skipped, paid, each);
                    skipped.truncate(skipped.len() - usize::from(repeats));
                    paid.pop();
                }
            },
        );
    }

    /// What is owed in that place, as a conforming party puts it out now.
    fn put_out(&self, place: usize) -> P::Output {
        let it = &self.open[place];
        let mut output = it.output.clone();
        P::complete(&self.account, it.binding, &mut output);
        output
    }

    fn paid(
        mut self,
        variant: &Variant<P>,
        paid: &[P::Output],
        each: &mut dyn FnMut(Self, Vec<P::Output>),
    ) {
        self.settle(variant, |_, _| ());
        each(self, paid.to_vec());
    }

    /// A fault about that thing has made everything about it uncertain.
    pub(crate) fn diverge(&mut self, thing: P::Thing) {
        if !self.diverged.contains(&thing) {
            self.diverged.push(thing);
        }
        self.open.retain(|it| P::thing(&it.output) != Some(thing));
    }
}

/// The obligation in that place is met: what had to come before it is late.
fn meet_one<P: Protocol>(open: &mut Vec<Obligation<P>>, variant: &Variant<P>, place: usize) {
    let after = open[place].after.clone();
    if !open[place].repeats {
        open.remove(place);
    }
    for (earlier, clauses) in after {
        if let Some(earlier) = open.iter_mut().find(|it| it.name == earlier)
            && !variant.left_out.contains_all(clauses)
        {
            earlier.is_late = true;
        }
    }
}

impl<P: Protocol> Clone for World<P> {
    fn clone(&self) -> Self {
        Self {
            account: self.account.clone(),
            open: self.open.clone(),
            next: self.next,
            diverged: self.diverged.clone(),
        }
    }
}
impl<P: Protocol> PartialEq for World<P> {
    fn eq(&self, other: &Self) -> bool {
        self.account == other.account && self.open == other.open && self.diverged == other.diverged
    }
}
impl<P: Protocol> Eq for World<P> {}
impl<P: Protocol> std::hash::Hash for World<P> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (&self.account, &self.open, &self.diverged).hash(state);
    }
}
