//! The judge in the search: beside each state of the model stands what the judge remembers of the run.
//!
//! The one thing to know: the search goes breadth first over pairs of a state and an account of the judge, who is told every
//! call and every output of the model's producer. So the judge sees each run that the model has, knows nothing else of it,
//! and the first run to each finding is a shortest one. What the judge makes of a call it is asked once: an account and a
//! call that were met before are looked up.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use stateright::Model;

use crate::judge::{Finding, Judge, Kind};
use crate::outputs;
use crate::shortest::Limit;
use crate::specification::{Modelled, Specification};

/// A judge who is told the steps of a model.
pub trait InSearch: Judge + Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// One call and what came of it, in the model's words.
    type Told: CallTold;

    /// Takes it in the judge's own words, and then forgets what no later call of a model can depend on.
    fn is_told(&mut self, told: Self::Told) -> Vec<Finding>;

    /// Takes everything that is over for alike, as the quotient of the model does: who keeps every rule does nothing more about
    /// it, and whatever is done all the same is found.
    fn forget_what_is_over(&mut self) {}
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

/// A protocol whose model tells its judge of every step.
pub trait Tells: Modelled {
    /// The judge.
    type Judge: InSearch;

    /// The judge of a producer as it is at the start, by the reading of the model.
    fn judge(model: &Specification<Self>) -> Self::Judge;

    /// The state that follows, not yet quotiented, and what the judge is told of the step, if it is a call; nothing if the
    /// action is not enabled.
    fn tell(
        model: &Specification<Self>,
        before: &Self::State,
        action: Self::Action,
    ) -> Option<(Self::State, Option<Told<Self>>)>;
}

/// What the judge of a protocol is told of a step.
pub type Told<T> = <<T as Tells>::Judge as InSearch>::Told;

/// What a judge found, and how far the search came.
#[derive(Clone, Debug)]
pub struct Judged<T: Tells> {
    /// For each clause that was found broken, and each kind in which it was, the first finding with its shortest run.
    pub found: BTreeMap<(&'static str, Kind), Found<T::Action>>,
    /// What was witnessed.
    pub witnessed: u64,
    /// Pairs of a state and an account that differ.
    pub pairs: usize,
    /// Steps taken, counting each from each pair.
    pub transitions: usize,
    /// Accounts that differ.
    pub accounts: usize,
    /// The longest runs of which every one was looked at, in steps.
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
pub fn search<T: Tells>(
    model: &Specification<T>,
    limit: Limit,
    mut progress: impl FnMut(usize),
) -> Judged<T> {
    let mut search = Search::new(model);
    while !search.frontier.is_empty() && search.steps < limit.steps {
        if !search.advance(limit.states, &mut progress) {
            break;
        }
    }
    Judged {
        pairs: search.origins.len(),
        transitions: search.transitions,
        accounts: search.judgements.accounts.len(),
        steps: search.steps,
        exhaustive: search.frontier.is_empty(),
        witnessed: search.witnessed,
        found: search.found,
    }
}

/// `progress` is told whenever so many more pairs have been gone on from.
const TOLD_EVERY: usize = 1 << 14;

/// A breadth-first search in progress.
struct Search<'a, T: Tells> {
    model: &'a Specification<T>,
    judgements: Judgements<T::Judge>,
    /// How each pair was reached: the place of the pair before, and the action; nothing at the start.
    origins: Vec<Option<(usize, T::Action)>>,
    /// The fingerprints of all pairs.
    seen: HashTable<u64>,
    /// The pairs that have not been gone on from, each with its place.
    frontier: Vec<(usize, T::State, Account)>,
    steps: usize,
    transitions: usize,
    witnessed: u64,
    found: BTreeMap<(&'static str, Kind), Found<T::Action>>,
}

impl<'a, T: Tells> Search<'a, T> {
    /// At the start.
    fn new(model: &'a Specification<T>) -> Self {
        let mut judgements = Judgements::new(model.quotient);
        let account = judgements.account(T::judge(model));
        let start = model.start();
        let mut search = Self {
            model,
            judgements,
            origins: vec![None],
            seen: HashTable::new(),
            frontier: vec![(0, start, account)],
            steps: 0,
            transitions: 0,
            witnessed: 0,
            found: BTreeMap::new(),
        };
        search.is_new(&start, account);
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
            let (place, state, account) = self.frontier[index];
            self.model.actions(&state, &mut actions);
            for action in actions.drain(..) {
                let Some((next, told)) = T::tell(self.model, &state, action) else {
                    continue;
                };
                let witnessed = T::take(self.model, &state, action).map(|(_, witnessed)| witnessed);
                let next = self.model.reduced(&next);
                self.transitions += 1;
                self.witnessed |= witnessed.unwrap_or_default();
                let mut account = account;
                if let Some(told) = told {
                    let judgement = self.judgements.of(account, told);
                    account = judgement.after;
                    for finding in &judgement.findings {
                        note(&mut self.found, &self.origins, place, action, finding);
                    }
                }
                if self.is_new(&next, account) {
                    next_level.push((self.origins.len(), next, account));
                    self.origins.push(Some((place, action)));
                }
            }
        }
        self.steps += usize::from(!next_level.is_empty());
        self.frontier = next_level;
        true
    }

    /// Notes that a pair was reached; whether this is the first time.
    fn is_new(&mut self, state: &T::State, account: Account) -> bool {
        let fingerprint = hash(&(state, account));
        let seen = |known: &u64| *known == fingerprint;
        match self.seen.entry(fingerprint, seen, |known| *known) {
            Entry::Occupied(_) => false,
            Entry::Vacant(entry) => {
                entry.insert(fingerprint);
                true
            }
        }
    }
}

/// Keeps the run whose last step is this action, where it is the first to the clause and kind of the finding.
fn note<A: Copy>(
    found: &mut BTreeMap<(&'static str, Kind), Found<A>>,
    origins: &[Option<(usize, A)>],
    mut place: usize,
    last: A,
    finding: &Finding,
) {
    found
        .entry((finding.clause, finding.kind))
        .or_insert_with(|| {
            let mut run = vec![last];
            while let Some((before, action)) = origins[place] {
                run.push(action);
                place = before;
            }
            run.reverse();
            Found {
                finding: finding.clone(),
                run,
            }
        });
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
            let findings = judge.is_told(told);
            if self.quotient {
                judge.forget_what_is_over();
            }
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
