//! The judge in the search: beside each state of the model stands what the judge remembers of the run.
//!
//! The one thing to know: the search goes over pairs of a state and an account of the judge, who is told every call and every
//! output of the model's producer. So the judge sees each run that the model has, and knows nothing else of it. What he
//! makes of a call he is asked once: an account and a call that were met before are looked up. [`search`] goes breadth first
//! and past what it finds, so that the first run to each finding is a shortest one; [`clean`] is for where nothing is
//! expected to be found: it has other threads compute ahead, and keeps nothing of the way.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::{iter, mem};

use crate::judge::{Finding, Judge, Kind};
use crate::numbered::as_number;
use crate::outputs;
use crate::specification::{Modelled, Specification};
use crate::steps::{Pair, Reached, Steps, actions};
use crate::successors::Workers;

/// A judge who is told the steps of a model.
pub trait InSearch: Judge + Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// One call and what came of it, in the model's words.
    type Told: CallTold;

    /// Takes it in the judge's own words, and then forgets what no later call of a model can depend on.
    fn is_told(&mut self, told: Self::Told) -> Vec<Finding>;

    /// Takes everything that is over behind this for alike, as the quotient of the model does: who keeps every rule does nothing
    /// more about it, and whatever is done all the same is found.
    fn follow_quotient(&mut self, told: Self::Told);

    /// Takes it as a search does: in the quotient, what is over is taken for alike.
    fn is_told_in_search(&mut self, told: Self::Told, quotient: bool) -> Vec<Finding> {
        let findings = self.is_told(told);
        if quotient {
            self.follow_quotient(told);
        }
        findings
    }
}

/// A call of the model's producer and what came of it.
pub trait CallTold: Copy + Debug + Eq + Hash + Send + Sync + 'static {
    /// What can come out.
    type Output: outputs::Output + Debug + 'static;

    /// What came out, in order.
    fn outputs(&self) -> &[Self::Output];

    /// The same call, had this come out of it; nothing where it is more than a step of the model can put out.
    fn putting_out(self, outputs: &[Self::Output]) -> Option<Self>;

    /// The same, with nothing of it but what is seen from outside: what is asked, when, and what comes out. Nothing where nobody sees
    /// it.
    fn seen(self) -> Option<Self>;
}

/// What the judge of a protocol is told of a step.
pub type Told<T> = <<T as Modelled>::Judge as InSearch>::Told;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The longest runs that it looks at, in steps.
    pub steps: usize,
    /// The most pairs that it keeps; once it has so many it looks no further.
    pub pairs: usize,
}

impl Default for Limit {
    /// No limit.
    fn default() -> Self {
        Self {
            steps: usize::MAX,
            pairs: usize::MAX,
        }
    }
}

/// What a judge found, and how far the search came.
#[derive(Clone, Debug)]
pub struct Searched<T: Modelled> {
    /// For each clause that a finding names, as its own or among others that say the same, and each kind, the first such
    /// finding with its shortest run.
    pub found: BTreeMap<(&'static str, Kind), Found<T::Action>>,
    /// What was witnessed.
    pub witnessed: u128,
    /// States of the model that differ.
    pub states: usize,
    /// Steps of the model, counting each from each state.
    pub transitions: usize,
    /// Pairs of a state and an account that differ.
    pub pairs: usize,
    /// Steps taken, counting each from each pair.
    pub edges: usize,
    /// The longest runs of which every one was looked at, in steps; where the whole graph was searched, no pair is further
    /// from the start.
    pub steps: usize,
    /// Whether the whole graph was searched.
    pub exhaustive: bool,
}

/// A finding, and a run at whose last step it was made.
#[derive(Clone, Debug)]
pub struct Found<A> {
    /// What was found.
    pub finding: Finding,
    /// The run; none is shorter.
    pub run: Vec<A>,
}

/// Searches breadth first within the limit, past whatever is found; `progress` is told the number of pairs so far, many
/// times a second.
pub fn search<T: Modelled>(
    model: &Specification<T>,
    limit: Limit,
    mut progress: impl FnMut(usize),
) -> Searched<T> {
    let mut search = Search::new(model);
    let exhaustive = search.go(limit, &mut progress);
    Searched {
        states: search.steps.graph.states(),
        transitions: search.steps.graph.transitions(),
        pairs: search.pairs.len(),
        edges: search.edges,
        steps: search.deepest,
        exhaustive,
        witnessed: search.steps.expander.witnessed,
        found: search.found,
    }
}

/// What a search of the whole graph came to in which the judge found nothing.
#[derive(Clone, Copy, Debug)]
pub struct Clean {
    /// What was witnessed.
    pub witnessed: u128,
    /// States of the model that differ.
    pub states: usize,
    /// Steps of the model, counting each from each state.
    pub transitions: usize,
    /// Pairs of a state and an account that differ.
    pub pairs: usize,
    /// Steps taken, counting each from each pair.
    pub edges: usize,
    /// The longest run that was walked, in steps.
    pub depth: usize,
}

/// Searches the whole graph, from what was reached last on; nothing as soon as the judge finds something.
pub fn clean<T: Modelled>(
    model: &Specification<T>,
    mut progress: impl FnMut(usize),
) -> Option<Clean> {
    let mut steps = Steps::new(model.clone());
    let start = steps.start();
    let mut reached = Reached::from_start(start);
    let mut open = vec![(start, 0)];
    let mut next = Vec::new();
    let (mut edges, mut deepest) = (0, 0);
    let witnessed = Workers::beside(model, |workers| {
        // The pairs whose successors are there or being computed.
        let mut going_on: Vec<(Pair, usize)> = Vec::new();
        // So that each answer is that to the request before the last one: the others are never without work.
        workers.ask(iter::empty());
        while !(going_on.is_empty() && open.is_empty()) {
            let behind = open.split_off(open.len().saturating_sub(AT_ONCE));
            let states = behind.iter().map(|(pair, _)| pair.state);
            workers.ask(states.filter_map(|it| Some((it, steps.graph.take_unexpanded(it)?))));
            workers.answer(|state, successors| steps.graph.add(state, successors));
            progress(reached.len());
            for (pair, depth) in mem::replace(&mut going_on, behind) {
                deepest = deepest.max(depth);
                next.clear();
                steps.add_expanded(pair, &mut next);
                if next.iter().any(|step| step.findings != 0) {
                    return None;
                }
                edges += next.len();
                reached.go(&next, |_, pair| open.push((pair, depth + 1)));
            }
        }
        Some(workers.witnessed)
    })?;
    Some(Clean {
        states: steps.graph.states(),
        transitions: steps.graph.transitions(),
        witnessed,
        pairs: reached.len(),
        edges,
        depth: deepest,
    })
}

/// From so many pairs a search goes on at once.
const AT_ONCE: usize = 1 << 10;

/// Every account of the judge, and what he was told upon it, each once, in which a search of the whole graph found nothing.
pub fn asked<T: Modelled>(model: &Specification<T>) -> Vec<(T::Judge, Told<T>)> {
    let mut search = Search::new(model);
    search.go(Limit::default(), &mut |_| {});
    search.steps.in_order()
}

/// `progress` is told whenever so many more pairs have been gone on from.
const TOLD_EVERY: usize = 1 << 14;

/// A breadth-first search in progress.
struct Search<T: Modelled> {
    steps: Steps<T>,
    /// Every pair, in the order in which they were reached.
    pairs: Vec<Pair>,
    /// The same, to be looked up.
    reached: Reached,
    /// How each of them was reached; the start from itself.
    origins: Vec<Origin>,
    /// The length of the longest runs that were looked at.
    deepest: usize,
    edges: usize,
    /// The number of the last findings that were noted: they have theirs in the order in which they are met.
    noted: u32,
    found: BTreeMap<(&'static str, Kind), Found<T::Action>>,
}

/// The number of a pair, and which step from there.
type Origin = (u32, u32);

impl<T: Modelled> Search<T> {
    /// At the start.
    fn new(model: &Specification<T>) -> Self {
        let mut steps = Steps::new(model.clone());
        let start = steps.start();
        Self {
            steps,
            pairs: vec![start],
            reached: Reached::from_start(start),
            origins: vec![(0, 0)],
            deepest: 0,
            edges: 0,
            noted: 0,
            found: BTreeMap::new(),
        }
    }

    /// Goes on within the limit; whether that was everywhere.
    fn go(&mut self, limit: Limit, progress: &mut impl FnMut(usize)) -> bool {
        let mut steps = Vec::new();
        let mut level = 0..1;
        while !level.is_empty() && self.deepest < limit.steps {
            for from in level.clone() {
                if from % TOLD_EVERY == 0 {
                    progress(self.pairs.len());
                }
                if self.pairs.len() >= limit.pairs {
                    return false;
                }
                self.steps.add(self.pairs[from], &mut steps);
                self.edges += steps.len();
                for (which, step) in steps.iter().enumerate() {
                    self.note(step.findings, (as_number(from), as_number(which)));
                }
                self.reached.go(&steps, |which, pair| {
                    self.pairs.push(pair);
                    self.origins.push((as_number(from), as_number(which)));
                });
                steps.clear();
            }
            level = level.end..self.pairs.len();
            self.deepest += usize::from(!level.is_empty());
        }
        level.is_empty()
    }

    /// Notes what the judge finds in the last step of a run, unless that was so in a shorter one.
    fn note(&mut self, findings: u32, last: Origin) {
        if findings <= self.noted {
            return;
        }
        self.noted = findings;
        for finding in self.steps.findings(findings) {
            for &clause in [&finding.clause].into_iter().chain(finding.also) {
                if !self.found.contains_key(&(clause, finding.kind)) {
                    let finding = finding.clone();
                    let run = self.run_to(last);
                    self.found
                        .insert((clause, finding.kind), Found { finding, run });
                }
            }
        }
    }

    /// The actions of a run.
    fn run_to(&self, last: Origin) -> Vec<T::Action> {
        let mut steps = vec![last.1];
        let mut place = last.0;
        while place != 0 {
            let (before, which) = self.origins[place as usize];
            steps.push(which);
            place = before;
        }
        steps.reverse();
        actions(&self.steps.graph.model, &steps)
    }
}

/// Takes a step with the judge at hand: the state that follows, and what he finds; nothing if the action is not enabled.
pub fn take<T: Modelled>(
    model: &Specification<T>,
    judge: &mut T::Judge,
    state: &T::State,
    action: T::Action,
) -> Option<(T::State, Vec<Finding>)> {
    let taken = T::take(model, state, action, 0)?;
    let told = taken.told;
    let findings = told.map(|told| judge.is_told_in_search(told, model.quotient));
    Some((model.reduced(&taken.next), findings.unwrap_or_default()))
}

/// What the judge finds at each step of a run, as far as its actions are enabled.
pub fn along<T: Modelled>(model: &Specification<T>, run: &[T::Action]) -> Vec<Vec<Finding>> {
    let mut judge = T::judge(model);
    let mut state = model.start();
    let mut found = Vec::new();
    for &action in run {
        let Some((next, findings)) = take(model, &mut judge, &state, action) else {
            break;
        };
        state = next;
        found.push(findings);
    }
    found
}
