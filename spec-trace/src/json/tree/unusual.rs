//! Reads any JSON, with the parser of `serde_json`, which also says what is wrong with a text that is none.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Leaf, Names, Node};

/// Reads a text into `nodes`, which are empty before.
pub(super) fn read<'a>(text: &'a str, nodes: &mut Vec<Node<'a>>) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let name = Cow::Borrowed("");
    Reader { name, nodes }.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Reads the value of that name.
struct Reader<'a, 'n> {
    name: Cow<'a, str>,
    nodes: &'n mut Vec<Node<'a>>,
}

impl<'a> Reader<'a, '_> {
    fn push(self, leaf: Leaf<'a>) {
        self.nodes.push(Node {
            name: self.name,
            leaf,
            size: 1,
        });
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'de, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'de, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push(Leaf::Null);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.push(Leaf::Bool(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.push(Leaf::Number(value.into()));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.push(Leaf::Number(value.into()));
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number out of range"))?;
        self.push(Leaf::Number(number));
        Ok(())
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<(), E> {
        self.push(Leaf::String(Cow::Borrowed(value)));
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.push(Leaf::String(Cow::Owned(value.to_owned())));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { name, nodes } = self;
        let place = nodes.len();
        Reader { name, nodes }.push(Leaf::Array);
        loop {
            let name = Cow::Borrowed("");
            if items.next_element_seed(Reader { name, nodes })?.is_none() {
                nodes[place].size = nodes.len() - place;
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { name, nodes } = self;
        let place = nodes.len();
        Reader { name, nodes }.push(Leaf::Null);
        let mut names = Names::default();
        let mut index = BTreeSet::new();
        while let Some(key) = entries.next_key_seed(Key)? {
            if !index.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
            names.add(&key);
            entries.next_value_seed(Reader { name: key, nodes })?;
        }
        let size = nodes.len() - place;
        let node = &mut nodes[place];
        node.leaf = Leaf::Object(names);
        node.size = size;
        Ok(())
    }
}

struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a member")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_owned()))
    }
}
