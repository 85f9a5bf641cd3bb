//! The states of a model and the steps between them.
//!
//! The one thing to know: whatever is met has a number, and is worked on once. The successors of a state are computed when a
//! search first goes on from it.

use std::borrow::Cow;

use crate::judged::Told;
use crate::lookup::{Begun, Lookup};
use crate::numbered::{Numbered, as_number, fingerprint};
use crate::specification::{Modelled, Specification};
use crate::successors::Successor;

/// All states and steps that were met.
#[derive(Debug)]
pub(crate) struct Graph<T: Modelled> {
    pub model: Specification<T>,
    /// The number of each state, by its fingerprint.
    numbers: Lookup<u32>,
    from: Vec<From>,
    /// The states whose successors nobody has yet, and the places among them that are free.
    open: Vec<T::State>,
    free: Vec<u32>,
    /// The steps from every other state.
    moves: Vec<Move>,
    /// Kept for the room that it takes: the look-ups of a state's successors.
    begun: Vec<Begun<u32>>,
    /// What the judge is told, each with its number less one.
    calls: Numbered<Told<T>>,
}

/// The number of what the judge is told where a step is no call.
pub(crate) const NO_CALL: u32 = 0;

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
enum From {
    /// Nobody has its successors yet; it stands in this place.
    State(u32),
    /// Somebody computes its successors.
    Expanded,
    /// Every step from it was, in the order in which the model takes its actions: the first, and that behind the last.
    Moves(u32, u32),
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
        Self {
            numbers: Lookup::new(),
            from: Vec::new(),
            open: Vec::new(),
            free: Vec::new(),
            moves: Vec::new(),
            begun: Vec::new(),
            calls: Numbered::new(),
            model,
        }
    }

    /// How many states were met.
    pub fn states(&self) -> usize {
        self.from.len()
    }

    /// How many steps were taken.
    pub fn transitions(&self) -> usize {
        self.moves.len()
    }

    /// The state in which every run begins.
    pub fn start(&mut self) -> u32 {
        let start = self.model.start();
        self.number(start, self.numbers.begin(fingerprint(&start)))
    }

    /// What the judge is told, by its number.
    pub fn call(&self, told: u32) -> Option<Told<T>> {
        Some(*self.calls.value(told.checked_sub(1)?))
    }

    /// Every step from a state, once its successors were added.
    pub fn moves(&self, state: u32) -> &[Move] {
        match self.from[state as usize] {
            From::State(_) | From::Expanded => &[],
            From::Moves(first, end) => &self.moves[first as usize..end as usize],
        }
    }

    /// The state, for whoever asks first, who then computes its successors and adds them.
    pub fn take_unexpanded(&mut self, number: u32) -> Option<T::State> {
        let from = &mut self.from[number as usize];
        let &mut From::State(place) = from else {
            return None;
        };
        *from = From::Expanded;
        self.free.push(place);
        Some(self.open[place as usize])
    }

    /// Adds all successors of a state, in the order in which the model takes its actions.
    pub fn add(&mut self, number: u32, successors: &[Successor<T>]) {
        let first = as_number(self.moves.len());
        self.begun.clear();
        let numbers = &self.numbers;
        let begin = |successor: &Successor<T>| numbers.begin(successor.fingerprint);
        self.begun.extend(successors.iter().map(begin));
        for (place, successor) in successors.iter().enumerate() {
            let told = successor.told.as_ref();
            let told = told.map_or(NO_CALL, |(told, fingerprint)| {
                self.calls.number_of(*fingerprint, Cow::Borrowed(told)) + 1
            });
            let to = self.number(successor.state, self.begun[place]);
            self.moves.push(Move { to, told });
        }
        self.from[number as usize] = From::Moves(first, as_number(self.moves.len()));
    }

    /// The number of a state, which is a new one if the state is new.
    fn number(&mut self, state: T::State, begun: Begun<u32>) -> u32 {
        self.numbers.end(begun).unwrap_or_else(|| {
            let new = as_number(self.from.len());
            self.numbers.insert(begun.key, new);
            let place = self.free.pop().unwrap_or(as_number(self.open.len()));
            if place as usize == self.open.len() {
                self.open.push(state);
            } else {
                self.open[place as usize] = state;
            }
            self.from.push(From::State(place));
            new
        })
    }
}
