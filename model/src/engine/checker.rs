//! The checker: whether what a party put out can be explained, and if not, by which clause.

use smallvec::{SmallVec, smallvec};

use crate::engine::clause::{Clause, ClauseSet, Clauses};
use crate::engine::protocol::{Protocol, Variant};
use crate::engine::world::{Freedom, Mismatch, World};

type Worlds<P> = SmallVec<[World<P>; 1]>;

/// So many explanations of one party are followed at most.
pub const MOST_WORLDS: usize = 64;

/// A party as it is seen from outside: each way to explain all that it did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Checker<P: Protocol> {
    worlds: Worlds<P>,
    /// Clauses that were found before: whoever departs from a SHOULD once does so in every call.
    known: ClauseSet,
    /// Where there were too many explanations: nothing more is judged.
    is_undecided: bool,
}

/// A fault: the clause, what shows it, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding<O> {
    /// The clause that names it; none where no clause forbids what came, and none explains the call.
    pub clause: Option<Clause>,
    /// Others that would as well.
    pub also: Vec<Clause>,
    /// Another fault in the same call, where one does not explain it.
    pub beside: Option<Clause>,
    /// What shows it.
    pub mismatch: Mismatch<O>,
    /// What else did not fit in the same call.
    pub consequences: Vec<Mismatch<O>>,
}

/// What is said of one call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Judgement<O> {
    /// Everything can be explained.
    Conforms,
    /// Not as the text has it.
    Found(Finding<O>),
    /// There are more than [`MOST_WORLDS`] ways to explain it.
    TooManyExplanations,
}

/// What a fault would be, and how things stand if it is that.
struct Explanation<P: Protocol> {
    worlds: Worlds<P>,
    clause: Clause,
    also: Vec<Clause>,
    beside: Option<Clause>,
}

/// A world, and what does not fit in it.
type Misfit<P> = (World<P>, Vec<Mismatch<<P as Protocol>::Output>>);

impl<P: Protocol> Checker<P> {
    /// A party that has done nothing so far.
    pub fn new(account: P::Account) -> Self {
        Self {
            worlds: smallvec![World::new(account)],
            known: ClauseSet::EMPTY,
            is_undecided: false,
        }
    }

    /// Each way to explain what was done so far.
    pub fn worlds(&self) -> &[World<P>] {
        &self.worlds
    }

    /// The account of each way to explain it.
    pub(crate) fn accounts(&mut self, each: &mut dyn FnMut(&mut P::Account)) {
        for world in &mut self.worlds {
            each(&mut world.account);
        }
    }

    /// Whether there were too many explanations, so that nothing more is judged.
    pub fn is_undecided(&self) -> bool {
        self.is_undecided
    }

    /// Takes a call and all that the party put out for it.
    pub fn observe(
        &mut self,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> Judgement<P::Output> {
        let judgement;
        (*self, judgement) = self.observed(variant, call, outputs);
        judgement
    }

    /// What becomes of it with a call and all that the party put out for it, and what is said of that.
    pub(crate) fn observed(
        &self,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> (Self, Judgement<P::Output>) {
        let (worlds, is_undecided) = self.fitting(variant, call, outputs);
        if !worlds.is_empty() {
            return (Self { worlds, ..*self }, Judgement::Conforms);
        }
        let mut next = Self {
            is_undecided,
            ..self.clone()
        };
        let judgement = if is_undecided {
            Judgement::TooManyExplanations
        } else {
            Judgement::Found(next.find(variant, call, outputs))
        };
        (next, judgement)
    }

    /// Takes a call and what was put out for it, if everything can be explained; else nothing is taken.
    pub fn explains(
        &mut self,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> bool {
        let (worlds, is_undecided) = self.fitting(variant, call, outputs);
        self.is_undecided = is_undecided;
        let is_explained = !worlds.is_empty();
        if is_explained {
            self.worlds = worlds;
        }
        is_explained
    }

    /// Whether a party that is held to less, and that `other` has explained so far, can answer the call in a way that is found.
    pub fn tells(
        &self,
        variant: &Variant<P>,
        (less, other): (&Variant<P>, &Self),
        call: &P::Call,
    ) -> bool {
        [Freedom::Default, Freedom::May].into_iter().any(|freedom| {
            let mut is_found = false;
            for world in &other.worlds {
                world.answers(less, freedom, call, |_, outputs| {
                    if !is_found {
                        let (worlds, is_undecided) = self.fitting(variant, call, &outputs);
                        is_found = worlds.is_empty() && !is_undecided;
                    }
                });
            }
            is_found
        })
    }

    /// The worlds in which everything can be explained, and whether there were too many, so that there is none.
    fn fitting(
        &self,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> (Worlds<P>, bool) {
        if self.is_undecided {
            return (SmallVec::new(), true);
        }
        let worlds = self.explain(variant, false, call, outputs);
        if worlds.len() > MOST_WORLDS {
            return (SmallVec::new(), true);
        }
        (worlds, false)
    }

    /// Every world in which the outputs are what the text asks for. With `first_alone`, only those in which the call is
    /// taken as a conforming party takes it by default.
    fn explain(
        &self,
        variant: &Variant<P>,
        first_alone: bool,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> Worlds<P> {
        let mut settled = SmallVec::new();
        for world in &self.worlds {
            // One way to take the call after the other: what does not fit takes no place of what does.
            world.call(variant, first_alone, call, |world| {
                let mut worlds: Worlds<P> = smallvec![world];
                for output in outputs {
                    let mut next = SmallVec::new();
                    for world in &worlds {
                        // Against what it is does not matter here.
                        let _against = world.meet(variant, output, |world| add(&mut next, world));
                    }
                    worlds = next;
                }
                for mut world in worlds {
                    let mut is_met = true;
                    world.settle(variant, |_, _| is_met = false);
                    if is_met {
                        add(&mut settled, world);
                    }
                }
            });
        }
        settled
    }

    /// Names the fault and goes on from where it leads.
    ///
    /// The first clause in the order of the text without which everything fits, a MUST before a SHOULD; what was found before
    /// may be it again.
    /// A fact that nobody has seen decided comes in only where nothing else explains it. Where no clause explains it
    /// alone, it is two faults; where no two do, it is what is gravest, and what did not fit is uncertain from here on.
    fn find(
        &mut self,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> Finding<P::Output> {
        let ((mut world, mut mismatches), stated) = self.closest(variant, call, outputs);
        let either = |explain: &dyn Fn(bool) -> Option<Explanation<P>>| {
            explain(true).or_else(|| explain(false))
        };
        let tolerant = variant.without(self.known);
        let again = mismatches
            .iter()
            .flat_map(Mismatch::clauses)
            .find(|clause| self.known.contains(**clause))
            .copied();
        let explained =
            either(&|first_alone| self.without_one(variant, first_alone, &stated, call, outputs))
                .or_else(|| {
                    let worlds = self.explain(&tolerant, false, call, outputs);
                    let clause = again
                        .or(self.known.iter().next())
                        .filter(|_| !worlds.is_empty())?;
                    Some(Explanation {
                        worlds,
                        clause,
                        also: Vec::new(),
                        beside: None,
                    })
                })
                .or_else(|| {
                    let it = either(&|first_alone| {
                        self.without_one(&tolerant, first_alone, &stated, call, outputs)
                    })?;
                    // What was found before and is it again need not show beside what fits less.
                    let is_enough = |known: &Clause| {
                        let both = variant.without(ClauseSet::from(it.clause).with(*known));
                        !self.explain(&both, false, call, outputs).is_empty()
                    };
                    Some(Explanation {
                        beside: again.or_else(|| self.known.iter().find(is_enough)),
                        ..it
                    })
                })
                .or_else(|| {
                    let faults = (&*mismatches, &*stated);
                    either(&|first_alone| {
                        self.without_two(variant, first_alone, faults, call, outputs)
                    })
                });
        let (clause, also, beside) = if let Some(Explanation {
            worlds,
            clause,
            also,
            beside,
        }) = explained
        {
            self.worlds = worlds;
            self.known = beside
                .into_iter()
                .fold(self.known.with(clause), ClauseSet::with);
            (Some(clause), also, beside)
        } else {
            for thing in mismatches.iter().filter_map(|it| P::thing(it.output())) {
                world.diverge(thing);
            }
            self.worlds = smallvec![world];
            let clause = mismatches.iter().find_map(|it| it.clauses().first());
            (clause.copied(), Vec::new(), None)
        };
        let shows_it =
            |it: &Mismatch<P::Output>| clause.is_some_and(|clause| it.clauses().contains(&clause));
        let first = mismatches.iter().position(shows_it).unwrap_or(0);
        let mismatch = mismatches.remove(first);
        Finding {
            clause,
            also,
            beside,
            mismatch,
            consequences: mismatches,
        }
    }

    /// Each clause alone, what binds before what is only recommended, and those that state the same together.
    fn candidates(stated: &[Clauses]) -> impl Iterator<Item = ClauseSet> {
        let all = || (0..=u8::MAX).map(Clause).take(P::CLAUSES.len());
        let others = all().filter(|it| !P::is_must(*it));
        let alone = all().filter(|it| P::is_must(*it)).chain(others);
        let alone = alone.map(ClauseSet::from);
        alone.chain(stated.iter().map(|clauses| ClauseSet::EMPTY.and(clauses)))
    }

    /// The first clause, or the first clauses that state the same, without which everything fits; and which others do.
    fn without_one(
        &self,
        variant: &Variant<P>,
        first_alone: bool,
        stated: &[Clauses],
        call: &P::Call,
        outputs: &[P::Output],
    ) -> Option<Explanation<P>> {
        let mut first = None;
        let mut clauses: Vec<Clause> = Vec::new();
        for left_out in Self::candidates(stated) {
            let enforced: Vec<Clause> =
                left_out.iter().filter(|it| variant.enforces(*it)).collect();
            // Where one of several is enough, the others are not to blame.
            if enforced.is_empty() || enforced.iter().any(|it| clauses.contains(it)) {
                continue;
            }
            let worlds = self.explain(&variant.without(left_out), first_alone, call, outputs);
            if !worlds.is_empty() && worlds.len() <= MOST_WORLDS {
                first = first.or(Some(worlds));
                clauses.extend(enforced);
            }
        }
        let mut clauses = clauses.into_iter();
        let clause = clauses.next()?;
        Some(Explanation {
            worlds: first?,
            clause,
            also: clauses.collect(),
            beside: None,
        })
    }

    /// Two faults: a clause without which something else is wrong, and the first without which nothing is then. The one that
    /// forbids the gravest of what does not fit names them; where both do, the first.
    fn without_two(
        &self,
        variant: &Variant<P>,
        first_alone: bool,
        (mismatches, stated): (&[Mismatch<P::Output>], &[Clauses]),
        call: &P::Call,
        outputs: &[P::Output],
    ) -> Option<Explanation<P>> {
        Self::candidates(stated).find_map(|left_out| {
            let beside = left_out.iter().find(|it| variant.enforces(*it))?;
            let less = variant.without(left_out);
            let ((_, rest), other) = self.closest(&less, call, outputs);
            if rest == mismatches {
                return None;
            }
            let it = self.without_one(&less, first_alone, &other, call, outputs)?;
            let with_beside = |it, beside| Explanation {
                beside: Some(beside),
                ..it
            };
            let less = variant.without(it.clause.into());
            let gravest = |rest: &[Mismatch<P::Output>]| {
                let gone = mismatches.iter().filter(|it| !rest.contains(it));
                gone.map(|it| P::gravity(it.output())).min()
            };
            let ((_, rest_of_other), _) = self.closest(&less, call, outputs);
            if gravest(&rest).is_none_or(|own| gravest(&rest_of_other).is_some_and(|it| it < own)) {
                return Some(with_beside(it, beside));
            }
            let first = self.without_one(&less, first_alone, stated, call, outputs)?;
            Some(with_beside(first, it.clause))
        })
    }

    /// The world with the fewest mismatches, going on after each, the gravest first; and the clauses that together state one.
    fn closest(
        &self,
        variant: &Variant<P>,
        call: &P::Call,
        outputs: &[P::Output],
    ) -> (Misfit<P>, Vec<Clauses>) {
        let mut stated: Vec<Clauses> = Vec::new();
        let mut best: Option<Misfit<P>> = None;
        for world in &self.worlds {
            world.call(variant, false, call, |mut world| {
                let mut mismatches = Vec::new();
                for output in outputs {
                    let mut met = None;
                    if let Err(clauses) =
                        world.meet(variant, output, |world| met = met.take().or(Some(world)))
                    {
                        mismatches.push(Mismatch::Unexpected {
                            output: output.clone(),
                            clauses,
                        });
                    }
                    world = met.unwrap_or(world);
                }
                world.settle(variant, |clauses, output| {
                    mismatches.push(Mismatch::Missing { output, clauses });
                });
                for clauses in mismatches
                    .iter()
                    .map(Mismatch::clauses)
                    .filter(|it| it.len() > 1)
                {
                    if !stated.contains(&clauses) {
                        stated.push(clauses);
                    }
                }
                if best
                    .as_ref()
                    .is_none_or(|(_, fewest)| mismatches.len() < fewest.len())
                {
                    best = Some((world, mismatches));
                }
            });
        }
        let mut best = best.expect("there is a world");
        best.1.sort_by_key(|it| P::gravity(it.output()));
        (best, stated)
    }
}

/// Adds a world that is not there yet; one more than there may be shows that there are too many.
fn add<P: Protocol>(worlds: &mut Worlds<P>, world: World<P>) {
    if worlds.len() <= MOST_WORLDS && !worlds.contains(&world) {
        worlds.push(world);
    }
}
