//! Assigning calls to confirmations, each to at most one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// An assignment of left numbers to right numbers that grows one by one.
#[derive(Debug, Default)]
pub struct Matching {
    left_of: BTreeMap<usize, usize>,
}

impl Matching {
    /// The left number that is assigned to `right`.
    pub fn left_of(&self, right: usize) -> Option<usize> {
        self.left_of.get(&right).copied()
    }

    /// Assigns `left` as well, moving the others where that makes room. False, and nothing changed, when no assignment
    /// covers all of them. `edges` yields the right numbers that a left one may take; it may only ever gain some.
    ///
    /// The search is a breadth-first one for an augmenting path: a recursive one would go as deep as the stream is long.
    pub fn assign(&mut self, left: usize, edges: impl Fn(usize) -> Vec<usize>) -> bool {
        let mut reached_from = BTreeMap::new();
        let mut seen = BTreeSet::from([left]);
        let mut queue = VecDeque::from([left]);
        while let Some(from) = queue.pop_front() {
            for right in edges(from) {
                if reached_from.contains_key(&right) {
                    continue;
                }
                reached_from.insert(right, from);
                let Some(holder) = self.left_of(right) else {
                    self.shift(right, left, &reached_from);
                    return true;
                };
                if seen.insert(holder) {
                    queue.push_back(holder);
                }
            }
        }
        false
    }

    /// Walks the path back from its free end; each left number on it moves on by one.
    fn shift(&mut self, free: usize, start: usize, reached_from: &BTreeMap<usize, usize>) {
        let mut right = free;
        loop {
            let left = reached_from[&right];
            let before = self
                .left_of
                .iter()
                .find(|(_, holder)| **holder == left)
                .map(|(held, _)| *held);
            self.left_of.insert(right, left);
            match before.filter(|_| left != start) {
                Some(held) => right = held,
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_choice_is_moved_when_that_makes_room() {
        let edges = |left: usize| match left {
            0 => vec![0, 1],
            1 => vec![0, 2],
            _ => vec![0],
        };
        let mut matching = Matching::default();
        assert!(matching.assign(0, edges));
        assert!(matching.assign(1, edges));
        assert!(matching.assign(2, edges));
        assert_eq!(matching.left_of(0), Some(2));
        assert!(!matching.assign(3, edges));
        assert_eq!(matching.left_of(0), Some(2));
    }

    #[test]
    fn no_left_number_is_ever_assigned_twice() {
        let edges = |left: usize| (0..=left).rev().collect();
        let mut matching = Matching::default();
        for left in 0..20 {
            assert!(matching.assign(left, edges));
        }
        let assigned: BTreeSet<_> = matching.left_of.values().collect();
        assert_eq!(assigned.len(), 20);
    }
}
