//! The steps of a model with its judge beside it.
//!
//! The one thing to know: there are as many pairs with a state as accounts of the ways there. The successors of a state are
//! computed once for all of them.

use crate::graph::Graph;
use crate::judge::Finding;
use crate::judged::Told;
use crate::judgements::Judgements;
use crate::lookup::Lookup;
use crate::numbered::key;
use crate::specification::{Modelled, Specification};
use crate::successors::{Expander, Successor};

/// A state of the model and what the judge remembers of the way there, each by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub state: u32,
    account: u32,
}

impl Pair {
    fn key(self) -> u64 {
        key(self.state, self.account)
    }
}

/// A step, known by what it leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub to: Pair,
    /// What the judge finds in it, by its number; nothing has 0.
    pub findings: u32,
}

/// All steps that were met.
#[derive(Debug)]
pub(crate) struct Steps<T: Modelled> {
    pub graph: Graph<T>,
    pub expander: Expander<T>,
    judgements: Judgements<T::Judge>,
    /// Kept for the room that it takes.
    successors: Vec<Successor<T>>,
}

impl<T: Modelled> Steps<T> {
    /// None, yet.
    pub fn new(model: Specification<T>) -> Self {
        Self {
            graph: Graph::new(model.clone()),
            expander: Expander::new(model),
            judgements: Judgements::new(),
            successors: Vec::new(),
        }
    }

    /// The pair in which every run begins.
    pub fn start(&mut self) -> Pair {
        Pair {
            state: self.graph.start(),
            account: self.judgements.start(T::judge(&self.graph.model)),
        }
    }

    /// What the judge found, by its number.
    pub fn findings(&self, number: u32) -> &[Finding] {
        self.judgements.findings(number)
    }

    /// Adds every step from a pair, in the order in which the model takes its actions.
    pub fn add(&mut self, pair: Pair, steps: &mut Vec<Step>) {
        if let Some(state) = self.graph.take_unexpanded(pair.state) {
            self.successors.clear();
            self.expander.expand(&state, &mut self.successors);
            self.graph.add(pair.state, &self.successors);
        }
        self.add_expanded(pair, steps);
    }

    /// The same of a pair whose state has its successors in the graph.
    pub fn add_expanded(&mut self, pair: Pair, steps: &mut Vec<Step>) {
        let moves = self.graph.moves(pair.state);
        self.judgements
            .of_moves(&self.graph, pair.account, moves, |step, judgement| {
                let to = Pair {
                    state: step.to,
                    account: judgement.account,
                };
                let findings = judgement.findings;
                steps.push(Step { to, findings });
            });
    }

    /// Every account, and what the judge was told upon it, in which there was nothing to find.
    pub fn in_order(self) -> Vec<(T::Judge, Told<T>)> {
        self.judgements.in_order(&self.graph)
    }
}

/// The pairs that a search has reached.
#[derive(Debug)]
pub(crate) struct Reached {
    /// By the number of the state, the first accounts with which it was reached, each plus one: most states have no more.
    first: Vec<[u32; FIRST]>,
    /// Every other pair.
    more: Lookup<()>,
    len: usize,
}

/// How many accounts of a state are kept by its number.
const FIRST: usize = 4;

impl Reached {
    /// Only that in which every run begins.
    pub fn from_start(start: Pair) -> Self {
        let mut reached = Self {
            first: Vec::new(),
            more: Lookup::new(),
            len: 0,
        };
        reached.is_new(start);
        reached
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Goes where the steps lead, and tells of each that leads to a new pair which step it is.
    pub fn go(&mut self, steps: &[Step], mut new: impl FnMut(usize, Pair)) {
        for (which, step) in steps.iter().enumerate() {
            if self.is_new(step.to) {
                new(which, step.to);
            }
        }
    }

    /// Notes the pair; whether it was not yet reached.
    fn is_new(&mut self, pair: Pair) -> bool {
        let place = pair.state as usize;
        if place >= self.first.len() {
            self.first.resize(place + 1, [0; FIRST]);
        }
        let account = pair.account + 1;
        for known in &mut self.first[place] {
            if *known == account {
                return false;
            }
            if *known == 0 {
                *known = account;
                self.len += 1;
                return true;
            }
        }
        let begun = self.more.begin(pair.key());
        let is_new = self.more.end(begun).is_none();
        if is_new {
            self.more.insert(begun.key, ());
            self.len += 1;
        }
        is_new
    }
}

/// The actions of a run of which it is known which step each was.
pub(crate) fn actions<T: Modelled>(model: &Specification<T>, steps: &[u32]) -> Vec<T::Action> {
    let mut run = Vec::new();
    let mut state = model.start();
    for &which in steps {
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        let mut taken = actions
            .into_iter()
            .filter_map(|action| Some((action, model.take(&state, action)?)));
        let Some((action, next)) = taken.nth(which as usize) else {
            break;
        };
        run.push(action);
        state = next;
    }
    run
}
