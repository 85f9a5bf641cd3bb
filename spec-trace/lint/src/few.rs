//! A map from names to what is known of them, for many maps with hardly anything in them.
//!
//! There are several in each open session: by producer, by tool, by call. Most hold one entry, for which a tree would take
//! the room of a dozen; a stream may put very many into one, for which looking along a list would take too long.

use std::collections::BTreeMap;

/// How many entries stand in a list.
const LISTED: usize = 4;

/// A map from names to values. Its order is that in which the first few came, and then by name.
#[derive(Debug, Clone, Hash)]
pub struct Few<V> {
    listed: Vec<(String, V)>,
    /// Whatever did not fit into the list when it came.
    others: BTreeMap<String, V>,
}

impl<V> Default for Few<V> {
    fn default() -> Self {
        Self {
            listed: Vec::new(),
            others: BTreeMap::new(),
        }
    }
}

impl<V> Few<V> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        match self.listed.iter().find(|(listed, _)| listed == name) {
            Some((_, value)) => Some(value),
            None => self.others.get(name),
        }
    }

    /// The value of a name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        match self.listed.iter_mut().find(|(listed, _)| listed == name) {
            Some((_, value)) => Some(value),
            None => self.others.get_mut(name),
        }
    }

    /// The value of a name, made if there is none yet.
    pub fn get_or_make(&mut self, name: &str, make: impl FnOnce() -> V) -> &mut V {
        match self.listed.iter().position(|(listed, _)| listed == name) {
            Some(index) => &mut self.listed[index].1,
            None if self.listed.len() == LISTED || self.others.contains_key(name) => {
                self.others.entry(name.to_owned()).or_insert_with(make)
            }
            None => {
                self.listed.reserve_exact(1);
                self.listed.push((name.to_owned(), make()));
                let index = self.listed.len() - 1;
                &mut self.listed[index].1
            }
        }
    }

    /// Sets the value of a name.
    pub fn insert(&mut self, name: &str, value: V) {
        if let Some(there) = self.get_mut(name) {
            *there = value;
        } else {
            self.get_or_make(name, || value);
        }
    }

    /// Takes a name out.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        match self.listed.iter().position(|(listed, _)| listed == name) {
            Some(index) => Some(self.listed.remove(index).1),
            None => self.others.remove(name),
        }
    }

    /// Takes out what does not fulfil a condition.
    pub fn retain(&mut self, mut keep: impl FnMut(&V) -> bool) {
        self.listed.retain(|(_, value)| keep(value));
        self.others.retain(|_, value| keep(value));
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        let listed = self.listed.iter().map(|(name, value)| (&**name, value));
        listed.chain(self.others.iter().map(|(name, value)| (&**name, value)))
    }

    /// Names and values, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        let listed = self.listed.iter_mut().map(|(name, value)| (&**name, value));
        let others = self.others.iter_mut();
        listed.chain(others.map(|(name, value)| (&**name, value)))
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.listed.len() + self.others.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.others.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_what_any_other_map_holds(steps in prop::collection::vec((0..12_u8, any::<bool>()), 0..60)) {
            let (mut few, mut other) = (Few::default(), BTreeMap::new());
            for (number, (key, puts)) in steps.into_iter().enumerate() {
                let name = key.to_string();
                if puts {
                    few.insert(&name, number);
                    other.insert(name, number);
                } else {
                    prop_assert_eq!(few.remove(&name), other.remove(&name));
                }
                prop_assert_eq!(few.len(), other.len());
                prop_assert_eq!(few.is_empty(), other.is_empty());
                let mut all: Vec<_> = few.iter().map(|(name, value)| (name.to_owned(), *value)).collect();
                all.sort_unstable();
                prop_assert_eq!(all, other.clone().into_iter().collect::<Vec<_>>());
            }
        }
    }
}
