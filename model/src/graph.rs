//! The states of a model and the steps between them.
//!
//! The one thing to know: whatever is met has a number, and is worked on once. The steps from a state are taken when a search
//! first goes on from it; and where it goes everywhere, from many other states along with it, on all cores.

use std::num::NonZero;
use std::thread;

use crate::judged::Told;
use crate::lookup::{Begun, Lookup};
use crate::numbered::{Numbered, as_number, fingerprint};
use crate::specification::{Modelled, Specification};

/// All states and steps that were met.
#[derive(Debug)]
pub(crate) struct Graph<T: Modelled> {
    pub model: Specification<T>,
    /// The number of each state, by its fingerprint.
    numbers: Lookup<u32>,
    from: Vec<From<T::State>>,
    /// How far the states are in order that were gone on from ahead; nothing where a search may end before it has been everywhere.
    ahead: Option<usize>,
    /// What the judge is told; that it is no call has the number [`NO_CALL`].
    calls: Numbered<Option<Told<T>>>,
    transitions: usize,
    /// The witnesses that these bounds show and that were not met yet, as a mask; and those that were met.
    wanted: u128,
    witnessed: u128,
}

/// The number of what the judge is told where a step is no call.
pub(crate) const NO_CALL: u32 = 0;

/// What is known of a state.
#[derive(Debug)]
enum From<S> {
    /// No step from it was taken yet.
    State(Box<S>),
    /// Every step from it, in the order in which the model takes its actions.
    Moves(Box<[Move]>),
}

/// A step of the model: the state that it leads to, and what the judge is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub to: u32,
    pub told: u32,
}

impl<T: Modelled> Graph<T> {
    /// None, yet; whoever searches goes `everywhere`, or not.
    pub fn new(model: Specification<T>, everywhere: bool) -> Self {
        let mut calls = Numbered::new();
        calls.number(None);
        Self {
            numbers: Lookup::new(),
            from: Vec::new(),
            ahead: everywhere.then_some(0),
            calls,
            transitions: 0,
            wanted: shown_witnesses(&model),
            witnessed: 0,
            model,
        }
    }

    /// How many states were met.
    pub fn states(&self) -> usize {
        self.from.len()
    }

    /// How many steps were taken.
    pub fn transitions(&self) -> usize {
        self.transitions
    }

    /// What was witnessed, as a mask.
    pub fn witnessed(&self) -> u128 {
        self.witnessed
    }

    /// The state in which every run begins.
    pub fn start(&mut self) -> u32 {
        let start = self.model.start();
        self.number(start, self.numbers.begin(fingerprint(&start)))
    }

    /// What the judge is told, by its number.
    pub fn call(&self, told: u32) -> Option<Told<T>> {
        *self.calls.value(told)
    }

    /// Every step from a state, once they were taken.
    pub fn moves(&self, state: u32) -> &[Move] {
        match &self.from[state as usize] {
            From::State(_) => &[],
            From::Moves(moves) => moves,
        }
    }

    /// Takes every step from a state, unless that was done.
    pub fn take_moves(&mut self, number: u32) {
        let From::State(state) = &self.from[number as usize] else {
            return;
        };
        let mut states = vec![(number, **state)];
        if let Some(mut ahead) = self.ahead {
            while states.len() < TOGETHER && ahead < self.from.len() {
                let other = as_number(ahead);
                if let (From::State(state), true) = (&self.from[ahead], other != number) {
                    states.push((other, **state));
                }
                ahead += 1;
            }
            self.ahead = Some(ahead);
        }
        for (states, steps) in self.steps_from(&states) {
            self.wanted &= !steps.witnessed;
            self.witnessed |= steps.witnessed;
            let mut steps = steps.each.as_slice();
            for &(number, count) in &states {
                let (own, others) = steps.split_at(count);
                self.from[number as usize] = From::Moves(self.moves_of(own));
                steps = others;
            }
        }
    }

    /// Every step from these states, on as many cores as are worth it: for each core its states, with how many steps there are
    /// from each.
    fn steps_from(&self, states: &[(u32, T::State)]) -> Vec<(Vec<(u32, usize)>, StepsTaken<T>)> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let each = states.len().div_ceil(cores).max(FEWEST);
        let (model, wanted) = (&self.model, self.wanted);
        let take = move |states: &[(u32, T::State)]| {
            let mut taken = StepsTaken::none(wanted);
            let counts = states.iter();
            let counts = counts.map(|(number, state)| (*number, taken.add_all_from(model, state)));
            (counts.collect(), taken)
        };
        let (own, others) = states.split_at(each.min(states.len()));
        if others.is_empty() {
            return vec![take(own)];
        }
        thread::scope(|scope| {
            let others = others.chunks(each);
            let others: Vec<_> = others
                .map(|states| scope.spawn(move || take(states)))
                .collect();
            let mut all = vec![take(own)];
            all.extend(others.into_iter().map(|other| match other.join() {
                Ok(taken) => taken,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            all
        })
    }

    /// The steps as moves, once the states to which they lead have their numbers, and what the judge is told.
    fn moves_of(&mut self, steps: &[StepTaken<T>]) -> Box<[Move]> {
        let begun: Vec<_> = steps
            .iter()
            .map(|step| self.numbers.begin(step.fingerprint))
            .collect();
        self.transitions += steps.len();
        let moves = steps.iter().zip(begun).map(|(step, begun)| Move {
            to: self.number(step.to, begun),
            told: self.calls.number(step.told),
        });
        moves.collect()
    }

    /// The number of a state, which is a new one if the state is new.
    fn number(&mut self, state: T::State, begun: Begun<u32>) -> u32 {
        self.numbers.end(begun).unwrap_or_else(|| {
            let new = as_number(self.from.len());
            self.numbers.insert(begun.key, new);
            self.from.push(From::State(Box::new(state)));
            new
        })
    }
}

/// From how many states the steps are taken at once where a search goes everywhere.
const TOGETHER: usize = 1 << 10;
/// From how many states at least a core takes them.
const FEWEST: usize = 1 << 6;

/// Steps that were taken, and what they witness of what is wanted.
struct StepsTaken<T: Modelled> {
    each: Vec<StepTaken<T>>,
    wanted: u128,
    witnessed: u128,
}

/// A step that was taken: the state that it leads to, with its fingerprint, and what the judge is told.
struct StepTaken<T: Modelled> {
    to: T::State,
    fingerprint: u64,
    told: Option<Told<T>>,
}

impl<T: Modelled> StepsTaken<T> {
    const fn none(wanted: u128) -> Self {
        Self {
            each: Vec::new(),
            wanted,
            witnessed: 0,
        }
    }

    /// Adds every step from a state, in the order in which the model takes its actions; and how many they are.
    fn add_all_from(&mut self, model: &Specification<T>, state: &T::State) -> usize {
        let before = self.each.len();
        let mut actions = Vec::new();
        model.actions(state, &mut actions);
        for action in actions {
            let wanted = self.wanted & !self.witnessed;
            let Some(taken) = T::take(model, state, action, wanted) else {
                continue;
            };
            self.witnessed |= taken.witnessed;
            let to = model.reduced(&taken.next);
            let fingerprint = fingerprint(&to);
            let told = taken.told;
            self.each.push(StepTaken {
                to,
                fingerprint,
                told,
            });
        }
        self.each.len() - before
    }
}

/// The witnesses that the bounds show, as a mask.
fn shown_witnesses<T: Modelled>(model: &Specification<T>) -> u128 {
    let rows = T::WITNESSES.iter().enumerate();
    let shown = rows.filter(|(_, row)| model.shows(row.with));
    shown.fold(0, |mask, (place, _)| mask | 1 << place)
}
