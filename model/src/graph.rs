//! The states of a model and the steps between them.
//!
//! The one thing to know: whatever is met has a number, and is worked on once. The steps from a state are taken when a search
//! first goes on from it.

use std::borrow::Cow;
use std::mem;

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
    from: Vec<From>,
    /// The states from which no step was taken yet, and the places among them that are free.
    open: Vec<T::State>,
    free: Vec<u32>,
    /// The steps from every other state.
    moves: Vec<Move>,
    /// Kept for the room that they take: the actions from a state, what they reach with its fingerprint, and the look-ups of that.
    actions: Vec<T::Action>,
    reached: Vec<(T::State, u64)>,
    begun: Vec<Begun<u32>>,
    /// What the judge is told, each with its number less one.
    calls: Numbered<Told<T>>,
    /// The witnesses that these bounds show and that were not met yet, as a mask; and those that were met.
    wanted: u128,
    witnessed: u128,
}

/// The number of what the judge is told where a step is no call.
pub(crate) const NO_CALL: u32 = 0;

/// What is known of a state.
#[derive(Clone, Copy, Debug)]
enum From {
    /// No step from it was taken yet; it stands in this place.
    State(u32),
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
            actions: Vec::new(),
            reached: Vec::new(),
            begun: Vec::new(),
            calls: Numbered::new(),
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
        self.moves.len()
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
        Some(*self.calls.value(told.checked_sub(1)?))
    }

    /// Every step from a state, once they were taken.
    pub fn moves(&self, state: u32) -> &[Move] {
        match self.from[state as usize] {
            From::State(_) => &[],
            From::Moves(first, end) => &self.moves[first as usize..end as usize],
        }
    }

    /// Takes every step from a state, unless that was done.
    pub fn take_moves(&mut self, number: u32) {
        let From::State(place) = self.from[number as usize] else {
            return;
        };
        let state = self.open[place as usize];
        self.free.push(place);
        let first = self.moves.len();
        self.actions.clear();
        self.model.actions(&state, &mut self.actions);
        self.reached.clear();
        for &action in &self.actions {
            let Some(taken) = T::take(&self.model, &state, action, self.wanted) else {
                continue;
            };
            self.wanted &= !taken.witnessed;
            self.witnessed |= taken.witnessed;
            let to = self.model.reduced(&taken.next);
            self.reached.push((to, fingerprint(&to)));
            let told = taken.told.as_ref();
            let told = told.map_or(NO_CALL, |told| self.calls.number(Cow::Borrowed(told)) + 1);
            self.moves.push(Move { to: 0, told });
        }
        self.number_all(first);
        self.from[number as usize] = From::Moves(as_number(first), as_number(self.moves.len()));
    }

    /// Numbers the states that are reached, each as that to which one of the moves from the first on leads.
    fn number_all(&mut self, first: usize) {
        let reached = mem::take(&mut self.reached);
        self.begun.clear();
        let numbers = &self.numbers;
        let begin = |&(_, fingerprint): &(_, u64)| numbers.begin(fingerprint);
        self.begun.extend(reached.iter().map(begin));
        for (place, (state, _)) in reached.iter().enumerate() {
            self.moves[first + place].to = self.number(*state, self.begun[place]);
        }
        self.reached = reached;
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

/// The witnesses that the bounds show, as a mask.
fn shown_witnesses<T: Modelled>(model: &Specification<T>) -> u128 {
    let rows = T::WITNESSES.iter().enumerate();
    let shown = rows.filter(|(_, row)| model.shows(row.with));
    shown.fold(0, |mask, (place, _)| mask | 1 << place)
}
