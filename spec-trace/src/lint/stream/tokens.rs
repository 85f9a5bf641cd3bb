//! The tokens that are given out, and in which of the open sessions.

use hashbrown::HashTable;

use crate::lint::monitor::seen::hash;

/// Tokens, as hashes, each with the number of a session. Two producers may give out the same, in two sessions.
#[derive(Debug, Default, Clone)]
pub(super) struct Tokens {
    /// Found by the hash of the token.
    given_out: HashTable<(u64, usize)>,
}

impl Tokens {
    /// Takes note that a session gives out a token.
    pub(super) fn insert(&mut self, token: &str, session: usize) {
        let given_out = (hash(&token), session);
        let is_the_same = |other: &(u64, usize)| *other == given_out;
        if self.given_out.find(given_out.0, is_the_same).is_none() {
            let hash_of = |(hash, _): &(u64, usize)| *hash;
            self.given_out
                .insert_unique(given_out.0, given_out, hash_of);
        }
    }

    /// Forgets that it did.
    pub(super) fn remove(&mut self, token: &str, session: usize) {
        let given_out = (hash(&token), session);
        let is_meant = |other: &(u64, usize)| *other == given_out;
        if let Ok(entry) = self.given_out.find_entry(given_out.0, is_meant) {
            entry.remove();
        }
    }

    /// The sessions that gave out a token, in no order.
    pub(super) fn sessions(&self, token: &str) -> impl Iterator<Item = usize> {
        let token = hash(&token);
        let same_place = self.given_out.iter_hash(token);
        let meant = same_place.filter(move |(other, _)| *other == token);
        meant.map(|(_, session)| *session)
    }

    /// All tokens, as hashes, with the numbers of their sessions, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (u64, usize)> {
        self.given_out.iter().copied()
    }
}
