//! A map in the order of its keys, for some hundreds of entries that mostly come and go in that order: numbers of questions
//! and calls, and moments at which something is due.
//!
//! It is a list, so that what comes last is put behind the others, nothing is laid out for entries that never come, and
//! little is left to tidy up when a session is over. A tree is better at keys that come in any order.

use std::ops::Index;

/// A map from keys to values; without values, a set.
#[derive(Debug, Clone, Hash)]
pub struct Ordered<K, V = ()> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<K: Ord + Copy, V> Ordered<K, V> {
    /// Where a key stands, or would stand.
    fn find(&self, key: K) -> Result<usize, usize> {
        match self.entries.last() {
            Some((last, _)) if *last >= key => self.entries.binary_search_by_key(&key, |it| it.0),
            Some(_) | None => Err(self.entries.len()),
        }
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: V) {
        match self.find(key) {
            Ok(place) => self.entries[place].1 = value,
            Err(place) => self.entries.insert(place, (key, value)),
        }
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let place = self.find(key).ok()?;
        Some(self.entries.remove(place).1)
    }

    /// The value of a key.
    pub fn get(&self, key: K) -> Option<&V> {
        let place = self.find(key).ok()?;
        Some(&self.entries[place].1)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        let place = self.find(key).ok()?;
        Some(&mut self.entries[place].1)
    }

    /// Whether there is such a key.
    pub fn contains(&self, key: K) -> bool {
        self.find(key).is_ok()
    }

    /// The least key.
    pub fn first(&self) -> Option<K> {
        self.keys().next()
    }

    /// The keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> {
        self.entries.iter().map(|(key, _)| *key)
    }

    /// The keys that are no greater than this one.
    pub fn up_to(&self, greatest: K) -> impl Iterator<Item = K> {
        self.keys().take_while(move |key| *key <= greatest)
    }

    /// Keys and values.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> {
        self.entries.iter().map(|(key, value)| (*key, value))
    }

    /// Keys, and values to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (*key, value))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<K: Ord + Copy, V> Index<K> for Ordered<K, V> {
    type Output = V;

    /// The value of a key that is there.
    fn index(&self, key: K) -> &V {
        self.get(key).expect("the key is there")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_holds_what_any_other_map_holds(steps in prop::collection::vec((0..12_u8, any::<bool>()), 0..60)) {
            let (mut ordered, mut other) = (Ordered::default(), BTreeMap::new());
            for (number, (key, puts)) in steps.into_iter().enumerate() {
                if puts {
                    ordered.insert(key, number);
                    other.insert(key, number);
                } else {
                    prop_assert_eq!(ordered.remove(key), other.remove(&key));
                }
                prop_assert_eq!(ordered.len(), other.len());
                prop_assert_eq!(ordered.get(key), other.get(&key));
                prop_assert_eq!(ordered.contains(key), other.contains_key(&key));
                prop_assert_eq!(ordered.first(), other.keys().next().copied());
                let up_to: Vec<_> = ordered.up_to(key).collect();
                prop_assert_eq!(up_to, other.range(..=key).map(|(key, _)| *key).collect::<Vec<_>>());
                let all: Vec<_> = ordered.iter().map(|(key, value)| (key, *value)).collect();
                prop_assert_eq!(all, other.clone().into_iter().collect::<Vec<_>>());
            }
        }
    }
}
