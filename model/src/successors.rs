//! The successors of a state.
//!
//! The one thing to know: they depend on the state alone, so that other threads compute them while a search looks at those that it
//! has ([`Workers`]). What a search comes to is the same for any number of threads.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::judged::Told;
use crate::numbered::fingerprint;
use crate::specification::{Modelled, Specification};

/// Where a step leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor<T: Modelled> {
    pub state: T::State,
    pub fingerprint: u64,
    /// What the judge is told and its fingerprint, if the step is a call.
    pub told: Option<(Told<T>, u64)>,
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
                told: taken.told.map(|told| (told, fingerprint(&told))),
            });
        }
    }
}

/// Some states, each with its number, and their successors.
#[derive(Debug)]
struct Batch<T: Modelled> {
    /// Which of all batches it is.
    place: usize,
    states: Vec<(u32, T::State)>,
    successors: Vec<Successor<T>>,
    /// For each state the place behind its last successor.
    ends: Vec<usize>,
    /// Everything that whoever computed them has witnessed so far.
    witnessed: u128,
}

/// So many states make a batch.
const BATCH: usize = 64;

/// The batches that nobody works on yet; nothing once there will be none.
type Queue<T> = (Mutex<Option<VecDeque<Batch<T>>>>, Condvar);

/// Threads that compute successors, this one among them while it waits for the others.
#[derive(Debug)]
pub(crate) struct Workers<'a, T: Modelled> {
    queue: &'a Queue<T>,
    answers: Receiver<Batch<T>>,
    own: Expander<T>,
    /// The place behind the last batch of each request that is not answered yet.
    requests: VecDeque<usize>,
    /// How many batches were asked for, and how many were told of.
    asked: usize,
    told: usize,
    /// The batches that are done and not told of yet, and those that are kept for the room that they take.
    done: BTreeMap<usize, Batch<T>>,
    idle: Vec<Batch<T>>,
    /// What was witnessed, as a mask.
    pub witnessed: u128,
}

impl<T: Modelled> Workers<'_, T> {
    /// Does something with as many threads beside this one as there are further processors.
    pub fn beside<R>(model: &Specification<T>, work: impl FnOnce(&mut Workers<'_, T>) -> R) -> R {
        let queue = (Mutex::new(Some(VecDeque::new())), Condvar::new());
        let (answer, answers) = channel();
        thread::scope(|scope| {
            for _ in 1..thread::available_parallelism().map_or(1, usize::from) {
                let (queue, answer) = (&queue, answer.clone());
                let mut expander = Expander::new(model.clone());
                scope.spawn(move || {
                    let _ending = Ending(queue);
                    while let Some(batch) = wait_for_batch(queue) {
                        // Nobody listens any more where the search has ended.
                        let _ = answer.send(expanded(&mut expander, batch));
                    }
                });
            }
            drop(answer);
            let _ending = Ending(&queue);
            work(&mut Workers {
                queue: &queue,
                answers,
                own: Expander::new(model.clone()),
                requests: VecDeque::new(),
                asked: 0,
                told: 0,
                done: BTreeMap::new(),
                idle: Vec::new(),
                witnessed: 0,
            })
        })
    }

    /// Asks for the successors of states, each with its number.
    pub fn ask(&mut self, states: impl Iterator<Item = (u32, T::State)>) {
        let mut states = states.peekable();
        while states.peek().is_some() {
            let mut batch = self.idle.pop().unwrap_or_default();
            batch.place = self.asked;
            batch.states.extend(states.by_ref().take(BATCH));
            if let Some(waiting) = &mut *locked(self.queue) {
                waiting.push_back(batch);
            }
            self.queue.1.notify_one();
            self.asked += 1;
        }
        self.requests.push_back(self.asked);
    }

    /// Tells of each state of the first request that is not answered yet its successors.
    pub fn answer(&mut self, mut tell: impl FnMut(u32, &[Successor<T>])) {
        let end = self.requests.pop_front().unwrap_or_default();
        while self.told < end {
            let Some(mut batch) = self.done.remove(&self.told) else {
                let batch = self.next_done();
                self.done.insert(batch.place, batch);
                continue;
            };
            let mut first = 0;
            for (&(number, _), &end) in batch.states.iter().zip(&batch.ends) {
                tell(number, &batch.successors[first..end]);
                first = end;
            }
            self.told += 1;
            self.witnessed |= batch.witnessed;
            batch.states.clear();
            batch.successors.clear();
            batch.ends.clear();
            self.idle.push(batch);
        }
    }

    /// A batch that another thread has done; or else one that nobody works on, or that whoever works on it does next.
    fn next_done(&mut self) -> Batch<T> {
        self.answers.try_recv().unwrap_or_else(|_| {
            let waiting = locked(self.queue).as_mut().and_then(VecDeque::pop_front);
            match waiting {
                Some(batch) => expanded(&mut self.own, batch),
                None => self.answers.recv().expect("a thread that does not panic"),
            }
        })
    }
}

/// Lets every thread end, however the search does, and if one of them panics.
struct Ending<'a, T: Modelled>(&'a Queue<T>);

impl<T: Modelled> Drop for Ending<'_, T> {
    fn drop(&mut self) {
        *locked(self.0) = None;
        self.0.1.notify_all();
    }
}

impl<T: Modelled> Default for Batch<T> {
    fn default() -> Self {
        Self {
            place: 0,
            states: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
            witnessed: 0,
        }
    }
}

/// The batches that nobody works on; no thread panics while it holds them.
fn locked<T: Modelled>(queue: &Queue<T>) -> MutexGuard<'_, Option<VecDeque<Batch<T>>>> {
    queue.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The next batch; nothing once there will be none.
fn wait_for_batch<T: Modelled>(queue: &Queue<T>) -> Option<Batch<T>> {
    let is_empty =
        |waiting: &mut Option<VecDeque<Batch<T>>>| waiting.as_ref().is_some_and(VecDeque::is_empty);
    let waiting = queue.1.wait_while(locked(queue), is_empty);
    let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
    waiting.as_mut()?.pop_front()
}

/// The batch with the successors of its states.
fn expanded<T: Modelled>(expander: &mut Expander<T>, mut batch: Batch<T>) -> Batch<T> {
    for (_, state) in &batch.states {
        expander.expand(state, &mut batch.successors);
        batch.ends.push(batch.successors.len());
    }
    batch.witnessed = expander.witnessed;
    batch
}
