//! Assigning calls to confirmations, each to at most one.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};

use super::ordered::Ordered;

/// An assignment of left numbers to right numbers that grows one by one.
#[derive(Debug, Default, Clone)]
pub struct Matching {
    left_of: Ordered<usize, usize>,
    /// Right numbers that a search has reached in vain: they are taken, and who holds them can take no other, until somebody
    /// may take more than before.
    spent: BTreeSet<usize>,
}

/// What a search has reached says nothing that another would not find.
impl Hash for Matching {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.left_of.hash(state);
    }
}

impl Matching {
    /// The left number that is assigned to `right`.
    pub fn left_of(&self, right: usize) -> Option<usize> {
        self.left_of.get(right).copied()
    }

    /// Whether any left number is assigned to a right one.
    pub fn is_taken(&self, right: usize) -> bool {
        self.left_of.contains(right)
    }

    /// Whether a left number is assigned to any.
    pub fn has(&self, left: usize) -> bool {
        self.left_of.iter().any(|(_, holder)| *holder == left)
    }

    /// Assigns `left` to `right`, whoever holds that.
    pub fn give(&mut self, right: usize, left: usize) {
        self.revive();
        self.left_of.insert(right, left);
    }

    /// Takes from `left` what it holds.
    pub fn release(&mut self, left: usize) {
        let held = |(right, holder): (usize, &usize)| (*holder == left).then_some(right);
        let right = self.left_of.iter().find_map(held);
        if let Some(right) = right {
            self.forget(right);
        }
    }

    /// Forgets a right number, and yields the left one that was assigned to it.
    pub fn forget(&mut self, right: usize) -> Option<usize> {
        self.revive();
        self.left_of.remove(right)
    }

    /// Takes in that a left number that is assigned may take more right ones than before.
    pub fn revive(&mut self) {
        self.spent.clear();
    }

    /// Assigns `left` as well, to the first of its `own` right numbers that is free, else by moving the others where that
    /// makes room. False, and nothing changed, when no assignment covers all of them. `edges` yields the right numbers that
    /// a left one may take. Of two left numbers of one `class` the greater may take whatever the lesser may, so nothing is
    /// gained by looking at the lesser one after the greater.
    pub fn assign<C: Ord>(
        &mut self,
        left: usize,
        own: impl IntoIterator<Item = usize>,
        class: impl Fn(usize) -> C,
        edges: impl Fn(usize) -> Vec<usize>,
    ) -> bool {
        self.take_free(left, own.into_iter()) || self.make_room(left, class, edges)
    }

    fn take_free(&mut self, left: usize, mut rights: impl Iterator<Item = usize>) -> bool {
        let free = rights.find(|right| !self.is_taken(*right));
        if let Some(free) = free {
            self.left_of.insert(free, left);
        }
        free.is_some()
    }

    /// A breadth-first search for an augmenting path: a recursive one would go as deep as the stream is long.
    fn make_room<C: Ord>(
        &mut self,
        left: usize,
        class: impl Fn(usize) -> C,
        edges: impl Fn(usize) -> Vec<usize>,
    ) -> bool {
        let mut reached_from = BTreeMap::new();
        let mut greatest = BTreeMap::from([(class(left), left)]);
        let mut queue = VecDeque::from([left]);
        let mut reached = BTreeSet::new();
        while let Some(from) = queue.pop_front() {
            let mut rights = edges(from);
            rights.retain(|right| !self.spent.contains(right));
            reached.extend(rights.iter().copied());
            if let Some(free) = rights.iter().find(|right| !self.is_taken(**right)) {
                reached_from.insert(*free, from);
                self.shift(*free, left, &reached_from);
                return true;
            }
            // The newest first, so that the greatest of a class comes before the lesser ones.
            for right in rights.into_iter().rev() {
                let holder = self.left_of[right];
                let seen = greatest.entry(class(holder)).or_insert(holder);
                if *seen < holder
                    || (*seen == holder && holder != left && !reached_from.contains_key(&right))
                {
                    *seen = holder;
                    reached_from.insert(right, from);
                    queue.push_back(holder);
                }
            }
        }
        self.spent.append(&mut reached);
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
                .map(|(held, _)| held);
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
    use crate::action_ids::{CallClass, IdKinds};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_earlier_choice_is_moved_when_that_makes_room() {
        let edges = |left: usize| match left {
            0 => vec![0, 1],
            1 => vec![0, 2],
            _ => vec![0],
        };
        let mut matching = Matching::default();
        assert!(matching.assign(0, edges(0), CallClass::Alone, edges));
        assert!(matching.assign(1, edges(1), CallClass::Alone, edges));
        assert!(matching.assign(2, edges(2), CallClass::Alone, edges));
        assert_eq!(matching.left_of(0), Some(2));
        assert!(!matching.assign(3, edges(3), CallClass::Alone, edges));
        assert_eq!(matching.left_of(0), Some(2));
    }

    /// Where one search found no room, the next is told at once; until somebody may take more.
    #[test]
    fn what_was_reached_in_vain_is_not_searched_again() {
        let asked = std::cell::Cell::new(0);
        let rights = std::cell::Cell::new(50);
        let edges = |_| {
            asked.set(asked.get() + 1);
            (0..rights.get()).collect::<Vec<_>>()
        };
        let mut matching = Matching::default();
        for left in 0..50 {
            assert!(matching.assign(left, 0..50, CallClass::Alone, edges));
        }
        for (left, searches) in [(50, 51), (51, 1), (52, 1)] {
            asked.set(0);
            assert!(!matching.assign(left, 0..50, CallClass::Alone, edges));
            assert_eq!(asked.get(), searches, "{left}");
        }
        rights.set(51);
        matching.revive();
        assert!(matching.assign(53, 0..50, CallClass::Alone, edges));
    }

    #[test]
    fn no_left_number_is_ever_assigned_twice() {
        let edges = |left: usize| (0..=left).rev().collect::<Vec<_>>();
        let mut matching = Matching::default();
        for left in 0..20 {
            assert!(matching.assign(left, edges(left), CallClass::Alone, edges));
        }
        let assigned: BTreeSet<_> = matching.left_of.iter().map(|(_, left)| left).collect();
        assert_eq!(assigned.len(), 20);
    }

    proptest! {
        /// Looking at one number of a class only changes the cost of the search, not what it finds.
        #[test]
        fn classes_change_nothing_but_the_cost(
            kinds in prop::collection::vec((any::<bool>(), 0..3_usize), 1..24),
            rights in prop::collection::vec(any::<[bool; 2]>(), 1..16),
        ) {
            // A left number may take the right ones of its kind up to a bound that rises with its number.
            let edges = |left: usize| {
                let bound = kinds[..=left].iter().map(|(_, more)| more).sum::<usize>().min(rights.len());
                let kind = usize::from(kinds[left].0);
                (0..bound).filter(|right| rights[*right][kind]).collect::<Vec<_>>()
            };
            let class = |left: usize| CallClass::ByOrder(IdKinds { tool_call_id: kinds[left].0, action: false, token: false });
            let (mut by_class, mut one_by_one) = (Matching::default(), Matching::default());
            for left in 0..kinds.len() {
                let found = by_class.assign(left, edges(left), class, edges);
                prop_assert_eq!(found, one_by_one.assign(left, edges(left), CallClass::Alone, edges));
            }
        }
    }
}
