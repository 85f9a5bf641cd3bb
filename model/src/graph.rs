//! The states of a model and the steps between them.
//!
//! The one thing to know: whatever is met has a number, and is worked on once. The steps from a state are taken when a search
//! first goes on from it.

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
    /// None, yet.
    pub fn new(model: Specification<T>) -> Self {
        let mut calls = Numbered::new();
        calls.number(None);
        Self {
            numbers: Lookup::new(),
            from: Vec::new(),
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
        let state = **state;
        let mut actions = Vec::new();
        self.model.actions(&state, &mut actions);
        let mut moves = Vec::with_capacity(actions.len());
        let mut reached = Vec::with_capacity(actions.len());
        for action in actions {
            let Some(taken) = T::take(&self.model, &state, action, self.wanted) else {
                continue;
            };
            self.wanted &= !taken.witnessed;
            self.witnessed |= taken.witnessed;
            let to = self.model.reduced(&taken.next);
            reached.push((to, fingerprint(&to)));
            let told = self.calls.number(taken.told);
            moves.push(Move { to: 0, told });
        }
        self.number_all(&reached, &mut moves);
        self.transitions += moves.len();
        self.from[number as usize] = From::Moves(moves.into_boxed_slice());
    }

    /// Numbers the states that are reached, each with its fingerprint, as that to which the move leads.
    fn number_all(&mut self, reached: &[(T::State, u64)], moves: &mut [Move]) {
        let begun: Vec<_> = reached
            .iter()
            .map(|&(_, fingerprint)| self.numbers.begin(fingerprint))
            .collect();
        for ((step, (state, _)), begun) in moves.iter_mut().zip(reached).zip(begun) {
            step.to = self.number(*state, begun);
        }
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

/// The witnesses that the bounds show, as a mask.
fn shown_witnesses<T: Modelled>(model: &Specification<T>) -> u128 {
    let rows = T::WITNESSES.iter().enumerate();
    let shown = rows.filter(|(_, row)| model.shows(row.with));
    shown.fold(0, |mask, (place, _)| mask | 1 << place)
}
