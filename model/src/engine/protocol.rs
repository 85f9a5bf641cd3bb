//! What the text of a protocol is to the engine: one function, and the values that it speaks of.

use std::fmt::Debug;
use std::hash::Hash;

use arbitrary::Arbitrary;
use smallvec::SmallVec;

use crate::engine::choice::Choices;
use crate::engine::clause::{Clause, ClauseSet, Clauses, Entry, Level};
use crate::engine::fact::{Fact, Interval};
use crate::engine::obligation::{Force, Obligation, Owed, Until};

/// A protocol: what a call does to an account, and which outputs are then due, allowed or forbidden.
pub trait Protocol: Copy + Debug + Eq + Hash + Sized + 'static {
    /// What is said to a party.
    type Call: Clone + Debug + Eq + Hash;
    /// What a party puts out.
    type Output: Clone + Debug + Eq + Hash;
    /// What an outsider knows of a party.
    type Account: Clone + Debug + Eq + Hash;
    /// Fields of an output that a party chooses.
    type Holes: Copy + Debug + Eq + Default;
    /// What meeting an obligation tells the account.
    type Binding: Copy + Debug + Eq + Hash;
    /// What ends the time in which an obligation can be met.
    type Closing: Copy + Debug + Eq + Hash;
    /// What outputs are about, so that a fault about one leaves the others judged.
    type Thing: Copy + Debug + Eq + Hash;
    /// How the ambiguities of the text are read.
    type Reading: Clone + Debug + Eq + Hash + Default;

    /// The clauses, in the order of the text.
    const CLAUSES: &'static [Entry];

    /// What a call does to the account, and what is then owed.
    fn call(step: &mut Step<'_, Self>, call: &Self::Call);

    /// Takes the fields that are holes over from what came.
    fn fill(expected: &mut Self::Output, output: &Self::Output, holes: Self::Holes);

    /// Puts into the fields that a party chooses what a conforming one chooses now, as it puts the output out.
    fn complete(_: &Self::Account, _: Option<Self::Binding>, _: &mut Self::Output) {}

    /// An obligation was met by that output.
    ///
    /// # Errors
    /// The clauses by which this output cannot meet it.
    fn bind(
        step: &mut Step<'_, Self>,
        binding: Self::Binding,
        output: &Self::Output,
    ) -> Result<(), Clauses>;

    /// An output came that nobody owed. The account is told of it, allowed or not. Every kind of output has its own arm
    /// here: what the text leaves free is free by a line of this function.
    ///
    /// # Errors
    /// The clauses that forbid it.
    fn unowed(step: &mut Step<'_, Self>, output: &Self::Output) -> Result<(), Clauses>;

    /// What an output is about.
    fn thing(output: &Self::Output) -> Option<Self::Thing>;

    /// The kind of an output, below 32.
    fn kind(output: &Self::Output) -> u8;

    /// Whether a clause is a MUST.
    fn is_must(clause: Clause) -> bool {
        let entry = Self::CLAUSES.get(usize::from(clause.0));
        entry.is_none_or(|it| it.level == Level::Must)
    }

    /// How grave it is that an output came unasked, or is missing: something that ran is 0, something told is more.
    fn gravity(output: &Self::Output) -> u8;
}

/// The outputs of the last response that were not carried out.
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lost<O> {
    /// These, as they were put out.
    Outputs(SmallVec<[O; 2]>),
    /// More than there were.
    TooMany,
}

impl<O: Clone + PartialEq> Lost<O> {
    /// The last so many outputs of a response.
    pub fn last_of(response: &[O], count: u64) -> Self {
        let count = usize::try_from(count).ok();
        let from = count.and_then(|it| response.len().checked_sub(it));
        let outputs = from.and_then(|from| response.get(from..));
        outputs.map_or(Self::TooMany, |it| {
            Self::Outputs(it.iter().cloned().collect())
        })
    }

    /// How many outputs of that response they are; none where its end is something else.
    pub fn count_in(&self, response: &[O]) -> Option<u64> {
        let count = match self {
            Self::Outputs(lost) if response.ends_with(lost) => lost.len(),
            Self::Outputs(_) => return None,
            Self::TooMany => response.len() + 1,
        };
        u64::try_from(count).ok()
    }
}

/// A variant of a text, as one party is held to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant<P: Protocol> {
    /// The clauses that are left out.
    pub left_out: ClauseSet,
    /// How the ambiguities are read.
    pub reading: P::Reading,
    /// Kinds of output that the party does not show, a bit for each: neither met nor missing.
    pub hidden: u32,
}

// Derived, this would ask the same of `P`.
impl<P: Protocol> Default for Variant<P> {
    fn default() -> Self {
        Self {
            left_out: ClauseSet::EMPTY,
            reading: P::Reading::default(),
            hidden: 0,
        }
    }
}

impl<P: Protocol> Variant<P> {
    /// This variant without those clauses.
    #[must_use]
    pub fn without(&self, clauses: ClauseSet) -> Self {
        Self {
            left_out: self.left_out.union(clauses),
            ..self.clone()
        }
    }
    /// Whether the clause is in force.
    pub fn enforces(&self, clause: Clause) -> bool {
        !self.left_out.contains(clause)
    }
    /// What is forbidden, but for what only clauses forbid that are left out.
    pub(crate) fn permits(&self, result: Result<(), Clauses>) -> Result<(), Clauses> {
        result.or_else(|clauses| {
            if self.left_out.contains_all(clauses) {
                Ok(())
            } else {
                Err(clauses)
            }
        })
    }
    /// Whether the party shows outputs of that kind.
    pub fn shows(&self, kind: u8) -> bool {
        self.hidden >> (kind % 32) & 1 == 0
    }
}

/// One call, or one output, as it changes an account.
#[derive(Debug)]
pub struct Step<'v, P: Protocol> {
    /// The text that is in force.
    pub variant: &'v Variant<P>,
    /// What is known.
    pub account: P::Account,
    pub(crate) open: Vec<Obligation<P>>,
    pub(crate) choices: Choices,
    pub(crate) next: u16,
}

impl<P: Protocol> Step<'_, P> {
    /// Whether the clause is in force.
    pub fn enforces(&self, clause: Clause) -> bool {
        self.variant.enforces(clause)
    }

    /// Holds a check, unless its clause is left out.
    ///
    /// # Errors
    /// The clause, where it is in force and the check fails.
    pub fn check(&self, clause: Clause, holds: bool) -> Result<(), Clause> {
        if holds || !self.enforces(clause) {
            Ok(())
        } else {
            Err(clause)
        }
    }

    /// The party has to put this out, by those clauses: a MUST or a SHOULD.
    pub fn owe(&mut self, clauses: Clauses, output: P::Output) -> &mut Obligation<P> {
        self.add(clauses, output, Force::Due)
    }

    /// The party may put this out, and does so by default.
    pub fn usual(&mut self, clauses: Clauses, output: P::Output) -> &mut Obligation<P> {
        self.add(clauses, output, Force::Usual)
    }

    /// The party may put this out.
    pub fn allow(&mut self, clauses: Clauses, output: P::Output) -> &mut Obligation<P> {
        self.add(clauses, output, Force::Allowed)
    }

    /// The party has to, usually does, or may put this out.
    pub fn add(&mut self, clauses: Clauses, output: P::Output, force: Force) -> &mut Obligation<P> {
        let place = self.open.len();
        self.open.push(Obligation {
            clauses,
            output,
            holes: P::Holes::default(),
            binding: None,
            force,
            until: Until::Call,
            repeats: false,
            after: SmallVec::new(),
            is_closed: false,
            is_late: false,
            name: Owed(self.next),
        });
        self.next += 1;
        &mut self.open[place]
    }

    /// The time is over for what had to be met before this: it is due now.
    pub fn close(&mut self, is_over: impl Fn(P::Closing) -> bool) {
        for it in &mut self.open {
            it.is_closed |= matches!(it.until, Until::Closing(closing) if is_over(closing));
        }
    }

    /// It is too late for what had to be met before this: what of it is due is missing.
    pub fn expire(&mut self, is_over: impl Fn(P::Closing) -> bool) {
        for it in &mut self.open {
            it.is_late |= matches!(it.until, Until::Closing(closing) if is_over(closing));
        }
    }

    /// What is no longer owed nor allowed.
    pub fn forget(&mut self, which: impl Fn(&P::Output) -> bool) {
        self.open.retain(|it| !which(&it.output));
    }

    /// What was owed need not be put out any more: it is only usual.
    pub fn relax(&mut self, which: impl Fn(&P::Output) -> bool) {
        for it in self
            .open
            .iter_mut()
            .filter(|it| it.force == Force::Due && which(&it.output))
        {
            it.force = Force::Usual;
        }
    }

    /// Puts everything that is owed behind what it comes after, by those clauses.
    pub fn order(
        &mut self,
        clauses: Clauses,
        comes_before: impl Fn(&P::Account, &P::Output, &P::Output) -> bool,
    ) {
        let mut pairs: SmallVec<[(usize, Owed); 8]> = SmallVec::new();
        for (place, later) in self.open.iter().enumerate() {
            let earlier = self
                .open
                .iter()
                .filter(|it| comes_before(&self.account, &it.output, &later.output));
            pairs.extend(earlier.map(|it| (place, it.name)));
        }
        for (place, earlier) in pairs {
            self.open[place].after(earlier, clauses);
        }
    }

    /// One of so many ways that the text leaves open; the first is that of a conforming party's default.
    pub fn choose(&mut self, options: u8) -> u8 {
        self.choices.choose(options)
    }

    /// Whether a fact holds that may be the party's own. Where it may or may not, both ways are gone, and each narrows the fact.
    pub fn decide(
        &mut self,
        fact: impl Fn(&mut P::Account) -> &mut Fact,
        by_default: bool,
    ) -> bool {
        let known = *fact(&mut self.account);
        let holds = self.holds(known, by_default);
        *fact(&mut self.account) = holds.into();
        holds
    }

    /// Whether a number that may be the party's own is at most that.
    pub fn is_at_most(
        &mut self,
        number: impl Fn(&mut P::Account) -> &mut Interval,
        bound: i64,
        by_default: bool,
    ) -> bool {
        let known = number(&mut self.account).is_at_most(bound);
        let holds = self.holds(known, by_default);
        let it = number(&mut self.account);
        if holds {
            it.high = it.high.min(bound);
        } else {
            it.low = it.low.max(bound.saturating_add(1));
        }
        holds
    }

    /// The same of a fact outside the account: the caller writes down what was chosen.
    pub fn holds(&mut self, fact: Fact, by_default: bool) -> bool {
        match fact {
            Fact::No => false,
            Fact::Yes => true,
            Fact::Perhaps => (self.choose(2) == 0) == by_default,
        }
    }
}
