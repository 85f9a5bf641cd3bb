//! The steps of a model with its judge beside it.
//!
//! The one thing to know: whatever is met has a number, and is worked on once. The steps from a state are taken when the first
//! pair with it is gone on from, for there are as many pairs with a state as accounts of the ways there; and an account and a
//! call that were met before are looked up.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::judge::Finding;
use crate::judged::{InSearch, Told};
use crate::specification::{Modelled, Specification};

/// A state of the model and what the judge remembers of the way there, each by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    state: u32,
    account: u32,
}

impl Hash for Pair {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(u64::from(self.state) << 32 | u64::from(self.account));
    }
}

/// A step, known by what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub(crate) to: Pair,
    /// What the judge finds in it, by its number; nothing has 0.
    pub(crate) findings: u32,
}

/// All steps that were met.
#[derive(Debug)]
pub(crate) struct Steps<T: Modelled> {
    pub model: Specification<T>,
    /// The fingerprints of the states, each with its number.
    states: HashTable<(u64, u32)>,
    from: Vec<From<T::State>>,
    moves: Vec<Move>,
    /// What the judge is told, if it is a call; that it is none has the number 0.
    calls: Numbered<Option<Told<T>>>,
    accounts: Numbered<T::Judge>,
    judgements: HashTable<Judgement>,
    /// What the judge found each time that it was something; nothing has the number 0.
    findings: Vec<Vec<Finding>>,
    witnessed: u128,
}

/// What is known of a state.
#[derive(Debug)]
enum From<S> {
    /// No step from it was taken yet.
    State(Box<S>),
    /// The place of the first step from it, and how many there are.
    Moves(u32, u32),
}

/// A step of the model: the state that it leads to, and what the judge is told.
#[derive(Clone, Copy, Debug)]
struct Move {
    to: u32,
    told: u32,
}

/// What the judge makes of a call upon an account.
#[derive(Clone, Copy, Debug)]
struct Judgement {
    before: u32,
    told: u32,
    after: u32,
    findings: u32,
}

impl<T: Modelled> Steps<T> {
    /// None, yet.
    pub fn new(model: Specification<T>) -> Self {
        let mut calls = Numbered::new();
        calls.number(None);
        Self {
            states: HashTable::new(),
            from: Vec::new(),
            moves: Vec::new(),
            calls,
            accounts: Numbered::new(),
            judgements: HashTable::new(),
            findings: vec![Vec::new()],
            witnessed: 0,
            model,
        }
    }

    /// The pair in which every run begins.
    pub fn start(&mut self) -> Pair {
        Pair {
            state: self.state(self.model.start()),
            account: self.accounts.number(T::judge(&self.model)),
        }
    }

    /// How many states were met.
    pub fn states(&self) -> usize {
        self.from.len()
    }

    /// How many steps of the model were taken.
    pub fn transitions(&self) -> usize {
        self.moves.len()
    }

    /// What was witnessed, as a mask.
    pub fn witnessed(&self) -> u128 {
        self.witnessed
    }

    /// Adds every step from a pair, in the order in which the model takes its actions.
    pub fn add(&mut self, pair: Pair, steps: &mut Vec<Step>) {
        let (first, count) = self.moves(pair.state);
        for place in first..first + count {
            let step = self.moves[place as usize];
            let judgement = self.judgement(pair.account, step.told);
            steps.push(Step {
                to: Pair {
                    state: step.to,
                    account: judgement.after,
                },
                findings: judgement.findings,
            });
        }
    }

    /// What the judge found, by its number.
    pub fn findings(&self, number: u32) -> &[Finding] {
        &self.findings[number as usize]
    }

    /// Every account, and what the judge was told upon it, in which there was nothing to find.
    pub fn in_order(self) -> impl Iterator<Item = (T::Judge, Told<T>)> {
        let mut judgements: Vec<_> = self.judgements.into_iter().collect();
        judgements.sort_unstable_by_key(|judgement| (judgement.before, judgement.told));
        judgements
            .into_iter()
            .filter(|judgement| judgement.findings == 0)
            .filter_map(move |judgement| {
                let told = self.calls.list[judgement.told as usize]?;
                Some((self.accounts.list[judgement.before as usize].clone(), told))
            })
    }

    /// The number of a state.
    fn state(&mut self, state: T::State) -> u32 {
        let fingerprint = hash(&state);
        let same = |&(known, _): &(u64, u32)| known == fingerprint;
        match self.states.entry(fingerprint, same, |known| known.0) {
            Entry::Occupied(entry) => entry.get().1,
            Entry::Vacant(entry) => {
                let number = as_number(self.from.len());
                entry.insert((fingerprint, number));
                self.from.push(From::State(Box::new(state)));
                number
            }
        }
    }

    /// The steps of the model from a state, as [`From::Moves`].
    fn moves(&mut self, number: u32) -> (u32, u32) {
        let state = match &self.from[number as usize] {
            From::State(state) => **state,
            From::Moves(first, count) => return (*first, *count),
        };
        let first = self.moves.len();
        let mut actions = Vec::new();
        self.model.actions(&state, &mut actions);
        for action in actions {
            let wanted = all_witnesses::<T>() & !self.witnessed;
            let Some(taken) = T::take(&self.model, &state, action, wanted) else {
                continue;
            };
            self.witnessed |= taken.witnessed;
            let step = Move {
                to: self.state(self.model.reduced(&taken.next)),
                told: self.calls.number(taken.told),
            };
            self.moves.push(step);
        }
        let moves = (as_number(first), as_number(self.moves.len() - first));
        self.from[number as usize] = From::Moves(moves.0, moves.1);
        moves
    }

    /// What the judge makes of a call.
    fn judgement(&mut self, before: u32, told: u32) -> Judgement {
        let Some(call) = self.calls.list[told as usize] else {
            return Judgement {
                before,
                told,
                after: before,
                findings: 0,
            };
        };
        let hashed = hash(&(before, told));
        let same = |known: &Judgement| (known.before, known.told) == (before, told);
        if let Some(known) = self.judgements.find(hashed, same) {
            return *known;
        }
        let mut judge = self.accounts.list[before as usize].clone();
        let findings = judge.is_told_in_search(call, self.model.quotient);
        let judgement = Judgement {
            before,
            told,
            after: self.accounts.number(judge),
            findings: self.found(findings),
        };
        let rehash = |known: &Judgement| hash(&(known.before, known.told));
        self.judgements.insert_unique(hashed, judgement, rehash);
        judgement
    }

    /// The number of what the judge found.
    fn found(&mut self, findings: Vec<Finding>) -> u32 {
        if findings.is_empty() {
            return 0;
        }
        self.findings.push(findings);
        as_number(self.findings.len() - 1)
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

/// Every witness of a protocol, as a mask.
const fn all_witnesses<T: Modelled>() -> u128 {
    (1 << T::WITNESSES.len()) - 1
}

/// Values that differ, each with its number: the first has 0.
#[derive(Debug)]
struct Numbered<V> {
    list: Vec<V>,
    numbers: HashTable<u32>,
}

impl<V: Eq + Hash> Numbered<V> {
    /// None, yet.
    const fn new() -> Self {
        Self {
            list: Vec::new(),
            numbers: HashTable::new(),
        }
    }

    /// The number of a value.
    fn number(&mut self, value: V) -> u32 {
        let Self { list, numbers } = self;
        let entry = numbers.entry(
            hash(&value),
            |&number| list[number as usize] == value,
            |&number| hash(&list[number as usize]),
        );
        match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let number = as_number(list.len());
                entry.insert(number);
                list.push(value);
                number
            }
        }
    }
}

/// A place as a number, of which there are more than fit into any memory.
pub(crate) fn as_number(place: usize) -> u32 {
    u32::try_from(place).expect("fewer things than 2^32 are met")
}

/// In 64 bits, the same in every run of the program.
pub(crate) fn hash(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}
