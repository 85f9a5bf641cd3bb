//! What tells two executors apart: everything that one is serialised to, fed to a hasher.
//!
//! The one thing to know: a struct field may be left out, and a string may go by another name, so that what can make no
//! difference to what an executor will do makes none here.

use std::fmt::Display;
use std::hash::{Hash, Hasher};

use serde::Serialize;
use serde::ser::{self, Serializer};

/// Feeds a value to a hasher.
pub(super) struct Identity<'a, H> {
    hasher: &'a mut H,
    /// Fields that make no difference: the struct and the field.
    left_out: &'a [(&'static str, &'static str)],
    /// Strings whose spelling makes no difference, and their names.
    renamed: &'a [(&'a str, &'static str)],
}

impl<'a, H: Hasher> Identity<'a, H> {
    /// Feeds `value` to `hasher`, without the fields `left_out` (struct, field) and with the strings `renamed` (from, to).
    ///
    /// # Panics
    ///
    /// Where the value cannot be serialised.
    pub(super) fn feed(
        value: &(impl Serialize + ?Sized),
        hasher: &'a mut H,
        left_out: &'a [(&'static str, &'static str)],
        renamed: &'a [(&'a str, &'static str)],
    ) {
        let mut identity = Self {
            hasher,
            left_out,
            renamed,
        };
        let fed = value.serialize(&mut identity);
        fed.expect("an executor can be serialised");
    }
}

/// Why a value has no identity.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unfit(String);

impl ser::Error for Unfit {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// What leads an element of a row, and what ends the row: so that no two rows run into one another.
const MORE: u8 = 1;
/// See [`MORE`].
const END: u8 = 0;

/// Numbers, each as it is.
macro_rules! numbers {
    ($($method:ident: $type:ty as $write:ident),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Unfit> {
            self.hasher.$write(value);
            Ok(())
        })*
    };
}

impl<'a, 'b, H: Hasher> Serializer for &'b mut Identity<'a, H> {
    type Ok = ();
    type Error = Unfit;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Fields<'a, 'b, H>;
    type SerializeStructVariant = Fields<'a, 'b, H>;

    numbers! {
        serialize_i8: i8 as write_i8, serialize_i16: i16 as write_i16, serialize_i32: i32 as write_i32,
        serialize_i64: i64 as write_i64, serialize_u8: u8 as write_u8, serialize_u16: u16 as write_u16,
        serialize_u32: u32 as write_u32, serialize_u64: u64 as write_u64,
    }

    fn serialize_bool(self, value: bool) -> Result<(), Unfit> {
        self.serialize_u8(value.into())
    }

    fn serialize_char(self, value: char) -> Result<(), Unfit> {
        self.serialize_u32(value.into())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Unfit> {
        self.serialize_u32(value.to_bits())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Unfit> {
        self.serialize_u64(value.to_bits())
    }

    fn serialize_str(self, value: &str) -> Result<(), Unfit> {
        let renamed = self.renamed.iter().find(|(from, _)| *from == value);
        renamed.map_or(value, |(_, to)| to).hash(self.hasher);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unfit> {
        value.hash(self.hasher);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Unfit> {
        self.serialize_u8(END)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unfit> {
        self.hasher.write_u8(MORE);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &str) -> Result<(), Unfit> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &str, place: u32, _: &str) -> Result<(), Unfit> {
        self.serialize_u32(place)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &str,
        value: &T,
    ) -> Result<(), Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &str,
        place: u32,
        _: &str,
        value: &T,
    ) -> Result<(), Unfit> {
        self.hasher.write_u32(place);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &str, _: usize) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &str,
        place: u32,
        _: &str,
        _: usize,
    ) -> Result<Self, Unfit> {
        self.hasher.write_u32(place);
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Unfit> {
        Ok(self)
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a, 'b, H>, Unfit> {
        let identity = self;
        Ok(Fields { identity, name })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        place: u32,
        _: &str,
        _: usize,
    ) -> Result<Fields<'a, 'b, H>, Unfit> {
        self.hasher.write_u32(place);
        self.serialize_struct(name, 0)
    }
}

/// Rows of elements: each is led by a mark, and so is the end.
macro_rules! rows {
    ($($trait:ident: $method:ident),* $(,)?) => {
        $(impl<H: Hasher> ser::$trait for &mut Identity<'_, H> {
            type Ok = ();
            type Error = Unfit;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
                self.hasher.write_u8(MORE);
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Unfit> {
                self.serialize_u8(END)
            }
        })*
    };
}

rows! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

impl<H: Hasher> ser::SerializeMap for &mut Identity<'_, H> {
    type Ok = ();
    type Error = Unfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unfit> {
        self.hasher.write_u8(MORE);
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Unfit> {
        self.serialize_u8(END)
    }
}

/// The fields of a struct, named: one that is skipped is told from one that is there.
pub(super) struct Fields<'a, 'b, H> {
    identity: &'b mut Identity<'a, H>,
    name: &'static str,
}

macro_rules! fields {
    ($($trait:ident),* $(,)?) => {
        $(impl<H: Hasher> ser::$trait for Fields<'_, '_, H> {
            type Ok = ();
            type Error = Unfit;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                field: &'static str,
                value: &T,
            ) -> Result<(), Unfit> {
                if self.identity.left_out.contains(&(self.name, field)) {
                    return Ok(());
                }
                field.hash(self.identity.hasher);
                value.serialize(&mut *self.identity)
            }

            fn end(self) -> Result<(), Unfit> {
                self.identity.serialize_u8(END)
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant }

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::hash::DefaultHasher;

    use super::*;

    #[derive(Clone, Serialize)]
    struct Executor {
        now: u64,
        tokens: BTreeMap<String, Option<Vec<u8>>>,
        last: Step,
    }

    #[derive(Clone, Serialize)]
    enum Step {
        None,
        Took { token: String, now: u64 },
        Gave(u8, u8),
    }

    fn executor() -> Executor {
        Executor {
            now: 5,
            tokens: BTreeMap::from([("a".to_owned(), Some(vec![1, 2])), ("b".to_owned(), None)]),
            last: Step::Gave(1, 2),
        }
    }

    fn identity(executor: &Executor) -> u64 {
        let mut hasher = DefaultHasher::new();
        Identity::feed(
            executor,
            &mut hasher,
            &[("Executor", "now")],
            &[("a", "first"), ("aa", "first")],
        );
        hasher.finish()
    }

    #[test]
    fn what_is_left_out_or_renamed_makes_no_difference() {
        let mut later = executor();
        later.now = 6;
        assert_eq!(identity(&later), identity(&executor()));
        let mut renamed = executor();
        let value = renamed.tokens.remove("a").expect("it is there");
        renamed.tokens.insert("aa".to_owned(), value);
        assert_eq!(identity(&renamed), identity(&executor()));
    }

    #[test]
    fn everything_else_makes_a_difference() {
        let changes: [fn(&mut Executor); 8] = [
            |executor| drop(executor.tokens.remove("b")),
            |executor| drop(executor.tokens.insert("b".to_owned(), Some(Vec::new()))),
            |executor| drop(executor.tokens.insert("a".to_owned(), Some(vec![1]))),
            |executor| drop(executor.tokens.insert("a".to_owned(), Some(vec![2, 1]))),
            |executor| executor.last = Step::None,
            |executor| executor.last = Step::Gave(2, 1),
            |executor| executor.last = took("a", 1),
            |executor| executor.last = took("a", 2),
        ];
        let mut seen = vec![identity(&executor())];
        for change in changes {
            let mut changed = executor();
            change(&mut changed);
            let changed = identity(&changed);
            assert!(!seen.contains(&changed));
            seen.push(changed);
        }
    }

    fn took(token: &str, now: u64) -> Step {
        Step::Took {
            token: token.to_owned(),
            now,
        }
    }
}
