//! The sessions of a stream: each is found by its id once for each event, and goes by its number from there on.

use std::hash::BuildHasher;
use std::ops::{Index, IndexMut};

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use super::session::OpenSession;
use crate::monitor::lifecycle::Lifecycle;

/// One session. Of one that is over almost nothing is kept.
#[derive(Debug, Clone)]
pub(super) enum Session {
    Kept(Box<OpenSession>),
    Over(Lifecycle),
}

/// The sessions, numbered in the order in which they came. None is ever taken out.
#[derive(Debug, Default, Clone)]
pub(super) struct Sessions {
    all: Vec<(Box<str>, Session)>,
    /// The number of each, found by the hash of its id. Never walked, so its order is never seen.
    numbers: HashTable<usize>,
    /// Whoever makes up the ids does not know what hashes they have.
    hasher: RandomState,
}

impl Sessions {
    /// The number of a session that was met.
    pub(super) fn number(&self, id: &str) -> Option<usize> {
        let is_meant = |number: &usize| &*self.all[*number].0 == id;
        let number = self.numbers.find(self.hasher.hash_one(id), is_meant)?;
        Some(*number)
    }

    /// Adds a session that was not met, and yields its number.
    pub(super) fn add(&mut self, id: &str, session: Session) -> usize {
        let number = self.all.len();
        self.all.push((id.into(), session));
        let Self {
            all,
            numbers,
            hasher,
        } = self;
        let hash_at = |number: &usize| hasher.hash_one(&*all[*number].0);
        numbers.insert_unique(hasher.hash_one(id), number, hash_at);
        number
    }

    /// The id of a session.
    pub(super) fn id(&self, number: usize) -> &str {
        &self.all[number].0
    }

    /// The numbers of all, in the order of their ids.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut numbers: Vec<_> = (0..self.all.len()).collect();
        numbers.sort_unstable_by_key(|number| self.id(*number));
        numbers
    }

    /// All of them, to be changed.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.all.iter_mut().map(|(_, session)| session)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

impl Index<usize> for Sessions {
    type Output = Session;

    fn index(&self, number: usize) -> &Session {
        &self.all[number].1
    }
}

impl IndexMut<usize> for Sessions {
    fn index_mut(&mut self, number: usize) -> &mut Session {
        &mut self.all[number].1
    }
}
