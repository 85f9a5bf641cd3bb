//! The successors of a state.
//!
//! The one thing to know: they depend on the state alone, so that other threads compute them while a search looks at those that it
//! has ([`Workers`]). What a search comes to is the same for any number of threads.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::judged::Told;
use crate::numbered::fingerprint;
use crate::specification::{Modelled, Specification};

/// Where a step leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor<T: Modelled> {
    pub state: T::State,
    pub fingerprint: u64,
    /// What the judge is told, if the step is a call.
    pub told: Option<Told<T>>,
}

/// Computes successors, and keeps what was witnessed on the way.
#[derive(Debug)]
pub(crate) struct Expander<T: Modelled> {
    model: Specification<T>,
    /// Kept for the room that they take.
    actions: Vec<T::Action>,
    /// The witnesses that these bounds show and that were not met yet, as a mask; and those that were met.
    wanted: u128,
    pub witnessed: u128,
}

impl<T: Modelled> Expander<T> {
    /// Nothing was witnessed yet.
    pub fn new(model: Specification<T>) -> Self {
        let rows = T::WITNESSES.iter().enumerate();
        let shown = rows.filter(|(_, row)| model.shows(row.with));
        Self {
            wanted: shown.fold(0, |mask, (place, _)| mask | 1 << place),
            witnessed: 0,
            actions: Vec::new(),
            model,
        }
    }

    /// Adds every successor of a state, in the order in which the model takes its actions.
    pub fn expand(&mut self, state: &T::State, successors: &mut Vec<Successor<T>>) {
        self.actions.clear();
        self.model.actions(state, &mut self.actions);
        for &action in &self.actions {
            let Some(taken) = T::take(&self.model, state, action, self.wanted) else {
                continue;
            };
            self.wanted &= !taken.witnessed;
            self.witnessed |= taken.witnessed;
            let state = self.model.reduced(&taken.next);
            successors.push(Successor {
                state,
                fingerprint: fingerprint(&state),
                told: taken.told,
            });
        }
    }
}

/// Some states, each with its number, and their successors.
#[derive(Debug)]
struct Batch<T: Modelled> {
    states: Vec<(u32, T::State)>,
    successors: Vec<Successor<T>>,
    /// For each state the place behind its last successor.
    ends: Vec<usize>,
    /// Everything that whoever computed them has witnessed so far.
    witnessed: u128,
}

/// Where a thread is asked, and where it answers.
type Thread<T> = (Sender<Batch<T>>, Receiver<Batch<T>>);

/// Threads that compute successors.
#[derive(Debug)]
pub(crate) struct Workers<T: Modelled> {
    threads: Vec<Thread<T>>,
    /// Kept for the room that they take.
    idle: Vec<Batch<T>>,
    /// What was witnessed, as a mask.
    pub witnessed: u128,
}

impl<T: Modelled> Workers<T> {
    /// Does something with as many of them as there are processors besides this thread's, and one at least.
    pub fn beside<R>(model: &Specification<T>, work: impl FnOnce(&mut Self) -> R) -> R {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let threads = (1..processors.max(2)).map(|_| {
                let (ask, asked) = channel();
                let (answer, answers) = channel();
                let mut expander = Expander::new(model.clone());
                scope.spawn(move || {
                    for mut batch in asked {
                        expand_all(&mut expander, &mut batch);
                        if answer.send(batch).is_err() {
                            break;
                        }
                    }
                });
                (ask, answers)
            });
            work(&mut Self {
                threads: threads.collect(),
                idle: Vec::new(),
                witnessed: 0,
            })
        })
    }

    /// Asks for the successors of states, each with its number.
    pub fn ask(&mut self, states: impl Iterator<Item = (u32, T::State)>) {
        let mut batches: Vec<_> = (self.threads.iter())
            .map(|_| self.idle.pop().unwrap_or_default())
            .collect();
        for (place, state) in states.enumerate() {
            batches[place % self.threads.len()].states.push(state);
        }
        for (batch, (ask, _)) in batches.into_iter().zip(&self.threads) {
            // Who does not listen any more has panicked, which shows when he is waited for.
            let _ = ask.send(batch);
        }
    }

    /// Tells of each of the states that were asked for first its successors.
    pub fn answer(&mut self, mut tell: impl FnMut(u32, &[Successor<T>])) {
        for (_, answers) in &self.threads {
            let Ok(mut batch) = answers.recv() else {
                continue;
            };
            let mut first = 0;
            for (&(number, _), &end) in batch.states.iter().zip(&batch.ends) {
                tell(number, &batch.successors[first..end]);
                first = end;
            }
            self.witnessed |= batch.witnessed;
            batch.states.clear();
            batch.successors.clear();
            batch.ends.clear();
            self.idle.push(batch);
        }
    }
}

impl<T: Modelled> Default for Batch<T> {
    fn default() -> Self {
        Self {
            states: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
            witnessed: 0,
        }
    }
}

/// Computes the successors of every state of a batch.
fn expand_all<T: Modelled>(expander: &mut Expander<T>, batch: &mut Batch<T>) {
    for (_, state) in &batch.states {
        expander.expand(state, &mut batch.successors);
        batch.ends.push(batch.successors.len());
    }
    batch.witnessed = expander.witnessed;
}
