//! The judge in the search: beside each state of the model stands what the judge remembers of the run.
//!
//! The one thing to know: the search goes over pairs of a state and an account of the judge, who is told every call and every
//! output of the model's producer. So the judge sees each run that the model has, and knows nothing else of it. What he
//! makes of a call he is asked once: an account and a call that were met before are looked up. [`search`] goes breadth first
//! and past what it finds, so that the first run to each finding is a shortest one; [`Judged`] is the same graph for
//! stateright.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use stateright::{Model, Property};

use crate::judge::{Finding, Judge, Kind};
use crate::outputs;
use crate::specification::{Modelled, Specification, Taken};

/// A judge who is told the steps of a model.
pub trait InSearch: Judge + Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// One call and what came of it, in the model's words.
    type Told: CallTold;

    /// Takes it in the judge's own words, and then forgets what no later call of a model can depend on.
    fn is_told(&mut self, told: Self::Told) -> Vec<Finding>;

    /// Takes everything that is over for alike, as the quotient of the model does: who keeps every rule does nothing more about
    /// it, and whatever is done all the same is found.
    fn forget_what_is_over(&mut self) {}

    /// Takes it as a search does: in the quotient, what is over is taken for alike.
    fn is_told_in_search(&mut self, told: Self::Told, quotient: bool) -> Vec<Finding> {
        let findings = self.is_told(told);
        if quotient {
            self.forget_what_is_over();
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
    pub witnessed: u64,
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
    while !search.frontier.is_empty() && search.steps < limit.steps {
        if !search.advance(limit.pairs, &mut progress) {
            break;
        }
    }
    Searched {
        states: search.states.len(),
        transitions: search.transitions,
        pairs: search.origins.len(),
        edges: search.edges,
        steps: search.steps,
        exhaustive: search.frontier.is_empty(),
        witnessed: search.witnessed,
        found: search.found,
    }
}

/// `progress` is told whenever so many more pairs have been gone on from.
const TOLD_EVERY: usize = 1 << 14;

/// A breadth-first search in progress.
struct Search<'a, T: Modelled> {
    model: &'a Specification<T>,
    judgements: Judgements<T::Judge>,
    /// How each pair was reached: the place of the pair before, and the action; nothing at the start.
    origins: Vec<Option<(usize, T::Action)>>,
    /// The fingerprints of all pairs.
    seen: HashTable<u64>,
    /// The fingerprints of all states.
    states: HashTable<u64>,
    /// The pairs that have not been gone on from.
    frontier: Vec<Reached<T::State>>,
    steps: usize,
    transitions: usize,
    edges: usize,
    witnessed: u64,
    found: BTreeMap<(&'static str, Kind), Found<T::Action>>,
}

/// A pair that a search has reached.
#[derive(Clone, Copy)]
struct Reached<S> {
    place: usize,
    state: S,
    account: Account,
    /// Whether the state was not reached before with another account.
    is_first: bool,
}

impl<'a, T: Modelled> Search<'a, T> {
    /// At the start.
    fn new(model: &'a Specification<T>) -> Self {
        let mut judgements = Judgements::new(model.quotient);
        let account = judgements.account(T::judge(model));
        let mut search = Self {
            model,
            judgements,
            origins: Vec::new(),
            seen: HashTable::new(),
            states: HashTable::new(),
            frontier: Vec::new(),
            steps: 0,
            transitions: 0,
            edges: 0,
            witnessed: 0,
            found: BTreeMap::new(),
        };
        let start = search.reach(model.start(), account, None);
        search.frontier.extend(start);
        search
    }

    /// Takes every step from every pair of the frontier, as long as there is room for what is found; whether there was.
    fn advance(&mut self, room: usize, progress: &mut impl FnMut(usize)) -> bool {
        let mut actions = Vec::new();
        let mut next_level = Vec::new();
        for index in 0..self.frontier.len() {
            if index % TOLD_EVERY == 0 {
                progress(self.origins.len());
            }
            if self.origins.len() >= room {
                return false;
            }
            let from = self.frontier[index];
            self.model.actions(&from.state, &mut actions);
            for action in actions.drain(..) {
                let wanted = all_witnesses::<T>() & !self.witnessed;
                let Some(taken) = T::take(self.model, &from.state, action, wanted) else {
                    continue;
                };
                self.edges += 1;
                self.transitions += usize::from(from.is_first);
                self.witnessed |= taken.witnessed;
                let account = self.judge(from, action, &taken);
                let next = self.model.reduced(&taken.next);
                next_level.extend(self.reach(next, account, Some((from.place, action))));
            }
        }
        self.steps += usize::from(!next_level.is_empty());
        self.frontier = next_level;
        true
    }

    /// The account after the step, of which every finding is noted.
    fn judge(&mut self, from: Reached<T::State>, action: T::Action, taken: &Taken<T>) -> Account {
        let Some(told) = taken.told else {
            return from.account;
        };
        let judgement = self.judgements.of(from.account, told);
        for finding in &judgement.findings {
            for &clause in [&finding.clause].into_iter().chain(finding.also) {
                self.found
                    .entry((clause, finding.kind))
                    .or_insert_with(|| Found {
                        finding: finding.clone(),
                        run: run_to(&self.origins, from.place, action),
                    });
            }
        }
        judgement.after
    }

    /// Notes that a pair was reached; nothing if it was before.
    fn reach(
        &mut self,
        state: T::State,
        account: Account,
        origin: Option<(usize, T::Action)>,
    ) -> Option<Reached<T::State>> {
        let of_state = hash(&state);
        if !is_new(&mut self.seen, hash(&(of_state, account))) {
            return None;
        }
        let is_first = is_new(&mut self.states, of_state);
        let place = self.origins.len();
        self.origins.push(origin);
        Some(Reached {
            place,
            state,
            account,
            is_first,
        })
    }
}

/// Notes a fingerprint; whether this is the first time.
fn is_new(seen: &mut HashTable<u64>, fingerprint: u64) -> bool {
    match seen.entry(fingerprint, |known| *known == fingerprint, |known| *known) {
        Entry::Occupied(_) => false,
        Entry::Vacant(entry) => {
            entry.insert(fingerprint);
            true
        }
    }
}

/// The actions that lead to a pair, and one more.
fn run_to<A: Copy>(origins: &[Option<(usize, A)>], mut place: usize, last: A) -> Vec<A> {
    let mut run = vec![last];
    while let Some((before, action)) = origins[place] {
        run.push(action);
        place = before;
    }
    run.reverse();
    run
}

/// What the judge finds at each step of a run, as far as its actions are enabled.
pub fn along<T: Modelled>(model: &Specification<T>, run: &[T::Action]) -> Vec<Vec<Finding>> {
    let mut judge = T::judge(model);
    let mut state = model.start();
    let mut found = Vec::new();
    for &action in run {
        let Some(taken) = T::take(model, &state, action, 0) else {
            break;
        };
        state = model.reduced(&taken.next);
        let findings = taken
            .told
            .map(|told| judge.is_told_in_search(told, model.quotient));
        found.push(findings.unwrap_or_default());
    }
    found
}

/// A model with its judge beside it. What was met is remembered as long as it lasts.
#[derive(Debug)]
pub struct Judged<T: Modelled> {
    /// The model.
    pub model: Specification<T>,
    judgements: Mutex<Judgements<T::Judge>>,
    met: Mutex<Met>,
    witnessed: AtomicU64,
}

/// What of a model was met.
#[derive(Debug, Default)]
struct Met {
    states: HashTable<u64>,
    transitions: usize,
}

/// A state of the model, and what the judge remembers of the way there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<S> {
    /// The state.
    pub state: S,
    account: Account,
    /// Whether the judge has found something on the way.
    pub is_broken: bool,
}

impl<S: Hash> Hash for Pair<S> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
        hasher.write_usize(self.account << 1 | usize::from(self.is_broken));
    }
}

impl<T: Modelled> Judged<T> {
    /// The model with its judge.
    pub fn new(model: Specification<T>) -> Self {
        Self {
            judgements: Mutex::new(Judgements::new(model.quotient)),
            met: Mutex::default(),
            witnessed: AtomicU64::new(0),
            model,
        }
    }

    /// What was witnessed, as a mask.
    pub fn witnessed(&self) -> u64 {
        self.witnessed.load(Ordering::Relaxed)
    }

    /// How many states of the model were gone on from, and how many steps there are from them.
    pub fn met(&self) -> (usize, usize) {
        let met = lock(&self.met);
        (met.states.len(), met.transitions)
    }
}

/// What is behind the lock, whoever has panicked with it.
fn lock<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Modelled> Model for Judged<T> {
    type State = Pair<T::State>;
    type Action = T::Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![Pair {
            state: self.model.start(),
            account: lock(&self.judgements).account(T::judge(&self.model)),
            is_broken: false,
        }]
    }

    fn actions(&self, pair: &Self::State, actions: &mut Vec<T::Action>) {
        self.model.actions(&pair.state, actions);
        let mut met = lock(&self.met);
        if is_new(&mut met.states, hash(&pair.state)) {
            met.transitions += actions.len();
        }
    }

    fn next_state(&self, pair: &Self::State, action: T::Action) -> Option<Self::State> {
        let wanted = all_witnesses::<T>() & !self.witnessed();
        let taken = T::take(&self.model, &pair.state, action, wanted)?;
        // Almost every step shows what was seen before; reading is then all that threads have to share.
        if taken.witnessed != 0 {
            self.witnessed.fetch_or(taken.witnessed, Ordering::Relaxed);
        }
        let mut next = Pair {
            state: self.model.reduced(&taken.next),
            ..*pair
        };
        if let Some(told) = taken.told {
            let mut judgements = lock(&self.judgements);
            let judgement = judgements.of(pair.account, told);
            next.account = judgement.after;
            next.is_broken |= !judgement.findings.is_empty();
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(
            "the judge finds nothing",
            |_, pair: &Self::State| !pair.is_broken,
        )]
    }
}

/// Every witness of a protocol, as a mask.
const fn all_witnesses<T: Modelled>() -> u64 {
    (1 << T::WITNESSES.len()) - 1
}

/// An account of the judge, by its place among all that differ.
type Account = usize;

/// What the judge made of a call upon an account.
#[derive(Clone, Debug)]
struct Judgement<J: InSearch> {
    before: Account,
    told: J::Told,
    after: Account,
    findings: Vec<Finding>,
}

/// All accounts that were met, and what the judge made of each call upon each.
#[derive(Debug)]
struct Judgements<J: InSearch> {
    quotient: bool,
    accounts: Vec<J>,
    /// The places of the accounts.
    places: HashTable<Account>,
    known: HashTable<Judgement<J>>,
}

impl<J: InSearch> Judgements<J> {
    fn new(quotient: bool) -> Self {
        Self {
            quotient,
            accounts: Vec::new(),
            places: HashTable::new(),
            known: HashTable::new(),
        }
    }

    /// The place of an account.
    fn account(&mut self, judge: J) -> Account {
        let Self {
            accounts, places, ..
        } = self;
        let entry = places.entry(
            hash(&judge),
            |&place| accounts[place] == judge,
            |&place| hash(&accounts[place]),
        );
        match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                entry.insert(accounts.len());
                accounts.push(judge);
                accounts.len() - 1
            }
        }
    }

    /// What the judge makes of this.
    fn of(&mut self, before: Account, told: J::Told) -> &Judgement<J> {
        let hashed = hash(&(before, told));
        let same = |known: &Judgement<J>| (known.before, known.told) == (before, told);
        if self.known.find(hashed, same).is_none() {
            let mut judge = self.accounts[before].clone();
            let findings = judge.is_told_in_search(told, self.quotient);
            let judgement = Judgement {
                before,
                told,
                after: self.account(judge),
                findings,
            };
            let rehash = |known: &Judgement<J>| hash(&(known.before, known.told));
            self.known.insert_unique(hashed, judgement, rehash);
        }
        self.known
            .find(hashed, same)
            .expect("what was not known was put in")
    }
}

/// In 64 bits, the same in every run of the program.
fn hash(value: &impl Hash) -> u64 {
    FixedState::default().hash_one(value)
}
