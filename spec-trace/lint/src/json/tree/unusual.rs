//! Reads any JSON, with the parser of `serde_json`, which also says what is wrong with a text that is none.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Leaf, NAMELESS, Name, Room, mark};

/// Reads a text into a room in which nothing is.
pub(super) fn read(text: &str, room: &mut Room) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let name = NAMELESS;
    Reader { text, name, room }.deserialize(&mut deserializer)?;
    deserializer.end()
}

/// Reads the value of that name.
struct Reader<'a> {
    text: &'a str,
    name: Name,
    room: &'a mut Room,
}

impl Reader<'_> {
    fn push(self, leaf: Leaf) {
        self.room.push(self.name, leaf);
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
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

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        let part = self.room.spell_out(self.text, value);
        self.push(Leaf::String(part));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { text, name, room } = self;
        let place = room.nodes.len();
        room.push(name, Leaf::Array);
        loop {
            let name = NAMELESS;
            if items
                .next_element_seed(Reader { text, name, room })?
                .is_none()
            {
                room.close(place);
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Self { text, name, room } = self;
        let place = room.nodes.len();
        room.push(name, Leaf::Object);
        let mut index = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            let name = (room.spell_out(text, &key), mark(key.as_bytes()));
            if index.contains(&key) {
                return Err(A::Error::custom(format!("the key {key:?} appears twice")));
            }
            index.insert(key);
            entries.next_value_seed(Reader { text, name, room })?;
        }
        room.close(place);
        Ok(())
    }
}
