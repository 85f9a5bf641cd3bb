//! A JSON text taken apart into values that borrow from it: what reading many records needs.
//!
//! The one thing to know: the values stand in one row, in the order of the text, each object and array before what is in
//! it. So a record takes one allocation, and none where the [`Room`] of the record before is used again. Strings without
//! escapes are parts of the text, and looking for a member goes along the row, which for the dozen that a record has is
//! faster than any index.
//!
//! Texts are read by [`plain`], which knows valid JSON as it is usually written; what it stumbles over is left to
//! [`unusual`], which knows all of it and says what is wrong.

mod plain;
mod unusual;

use std::borrow::Cow;

use serde_json::Number;

/// How many values are made room for at once.
const USUAL_VALUES: usize = 32;

/// A JSON text, taken apart.
#[derive(Debug)]
pub struct Tree<'a>(Vec<Node<'a>>);

/// The memory of a tree that is not needed any more, for the next one.
#[derive(Debug, Default)]
pub struct Room(Vec<Node<'static>>);

/// A value, and the name that it has in its object; within an array, and outermost, the name is empty.
#[derive(Debug)]
struct Node<'a> {
    name: Cow<'a, str>,
    leaf: Leaf<'a>,
    /// How many nodes it takes with all that is in it.
    size: usize,
}

#[derive(Debug)]
enum Leaf<'a> {
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    Array,
    Object(Names),
}

/// Which names an object may have: a set of marks, one for each name. Two names may share a mark.
#[derive(Debug, Clone, Copy, Default)]
struct Names(u64);

impl Names {
    fn add(&mut self, name: &str) {
        self.0 |= Self::mark(name);
    }

    fn may_hold(self, name: &str) -> bool {
        self.0 & Self::mark(name) != 0
    }

    #[inline]
    fn mark(name: &str) -> u64 {
        let last = name.as_bytes().last().copied().unwrap_or_default();
        1 << ((name.len() * 11 + usize::from(last)) % 64)
    }
}

/// Parses one JSON text.
///
/// # Errors
///
/// The parser's error, with the column (in bytes, from 1) where it gave up: not JSON, a duplicate key, or more than 128
/// levels deep.
pub fn parse(text: &str) -> serde_json::Result<Tree<'_>> {
    parse_within(text, &mut Room::default())
}

/// The same in the memory of an earlier tree. Where it ends with an error, that memory is lost.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_within<'a>(text: &'a str, room: &mut Room) -> serde_json::Result<Tree<'a>> {
    let mut nodes: Vec<Node<'a>> = std::mem::take(&mut room.0);
    nodes.reserve(USUAL_VALUES);
    if plain::read(text, &mut nodes).is_none() {
        nodes.clear();
        unusual::read(text, &mut nodes)?;
    }
    Ok(Tree(nodes))
}

impl Tree<'_> {
    /// The outermost value.
    pub fn value(&self) -> Value<'_> {
        Value::of(&self.0)
    }

    /// Gives the memory of the tree back.
    pub fn into_room(self) -> Room {
        let mut nodes = self.0;
        nodes.clear();
        // Of nothing, so nothing is made; that the memory stays the same is what collecting a vector's own items does.
        Room(
            nodes
                .into_iter()
                .map(|_| unreachable!("there is none"))
                .collect(),
        )
    }
}

/// A JSON value in a [`Tree`].
#[derive(Debug, Clone, Copy)]
pub enum Value<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(&'t Number),
    /// A string.
    String(&'t str),
    /// An array.
    Array(Array<'t>),
    /// An object.
    Object(Object<'t>),
}

/// The items of an array, in the order of the text.
#[derive(Debug, Clone, Copy)]
pub struct Array<'t>(&'t [Node<'t>]);

/// The members of an object, in the order of the text. No two have the same name.
#[derive(Debug, Clone, Copy)]
pub struct Object<'t> {
    names: Names,
    nodes: &'t [Node<'t>],
}

impl<'t> Value<'t> {
    /// The value that the first of these nodes is.
    fn of(nodes: &'t [Node<'t>]) -> Self {
        let node = &nodes[0];
        match &node.leaf {
            Leaf::Null => Self::Null,
            Leaf::Bool(value) => Self::Bool(*value),
            Leaf::Number(number) => Self::Number(number),
            Leaf::String(text) => Self::String(text),
            Leaf::Array => Self::Array(Array(&nodes[1..node.size])),
            Leaf::Object(names) => Self::Object(Object {
                names: *names,
                nodes: &nodes[1..node.size],
            }),
        }
    }

    /// The text of a string.
    pub fn as_str(self) -> Option<&'t str> {
        match self {
            Self::String(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Which of the two it is.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(value),
            Self::Null | Self::Number(_) | Self::String(_) | Self::Array(_) | Self::Object(_) => {
                None
            }
        }
    }

    fn as_number(self) -> Option<&'t Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::Null | Self::Bool(_) | Self::String(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// A whole number that was written as one and fits.
    pub fn as_i64(self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// A whole number that was written as one and fits.
    pub fn as_u64(self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The double next to a number.
    pub fn as_f64(self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The items of an array.
    pub fn as_array(self) -> Option<Array<'t>> {
        match self {
            Self::Array(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Object(_) => {
                None
            }
        }
    }

    /// The members of an object.
    pub fn as_object(self) -> Option<Object<'t>> {
        match self {
            Self::Object(members) => Some(members),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Array(_) => None,
        }
    }

    /// The member of that name, if this is an object that has it.
    pub fn get(self, name: &str) -> Option<Self> {
        self.as_object()?.get(name)
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is a string.
    pub fn is_string(self) -> bool {
        self.as_str().is_some()
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.as_object().is_some()
    }
}

impl<'t> Array<'t> {
    /// The items, as they were written.
    pub fn iter(self) -> impl Iterator<Item = Value<'t>> {
        siblings(self.0).map(Value::of)
    }
}

impl<'t> Object<'t> {
    /// The member of that name.
    #[inline]
    pub fn get(self, name: &str) -> Option<Value<'t>> {
        if self.names.may_hold(name) {
            member(self.nodes, name).map(Value::of)
        } else {
            None
        }
    }

    /// Whether there is a member of that name.
    pub fn contains_key(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The members, as they were written.
    pub fn iter(self) -> impl Iterator<Item = (&'t str, Value<'t>)> {
        siblings(self.nodes).map(|nodes| (&*nodes[0].name, Value::of(nodes)))
    }

    /// The names, as they were written.
    pub fn keys(self) -> impl Iterator<Item = &'t str> {
        siblings(self.nodes).map(|nodes| &*nodes[0].name)
    }

    /// The values, as they were written.
    pub fn values(self) -> impl Iterator<Item = Value<'t>> {
        siblings(self.nodes).map(Value::of)
    }

    /// How many members there are.
    pub fn len(self) -> usize {
        siblings(self.nodes).count()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.nodes.is_empty()
    }
}

/// The nodes from each value on, of those that stand beside the first.
fn siblings<'n, 'a>(nodes: &'n [Node<'a>]) -> impl Iterator<Item = &'n [Node<'a>]> {
    let mut rest = nodes;
    std::iter::from_fn(move || {
        let from_there = rest;
        rest = &rest[rest.first()?.size..];
        Some(from_there)
    })
}

/// The nodes from the member of that name on.
fn member<'n, 'a>(nodes: &'n [Node<'a>], name: &str) -> Option<&'n [Node<'a>]> {
    let mut rest = nodes;
    loop {
        let first = rest.first()?;
        if first.name == name {
            return Some(rest);
        }
        rest = &rest[first.size..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same value as the other parser of this crate makes of it.
    fn owned(value: Value<'_>) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => value.into(),
            Value::Number(number) => number.clone().into(),
            Value::String(text) => text.into(),
            Value::Array(items) => items.iter().map(owned).collect(),
            Value::Object(members) => {
                let members = members.iter();
                members
                    .map(|(key, value)| (key.to_owned(), owned(value)))
                    .collect()
            }
        }
    }

    fn assert_read_alike(text: &str) {
        match (parse(text), crate::json::parse(text)) {
            (Ok(one), Ok(other)) => assert_eq!(owned(one.value()), other, "{text:.60}"),
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
            (one, other) => panic!("{text:.60}: {one:?}, {other:?}"),
        }
    }

    #[test]
    fn it_reads_and_refuses_what_the_other_parser_reads_and_refuses() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for text in [
            r#"{"a":[1,-2,0.5,null,true,"x\n\u00e9"],"b":{"c":18446744073709551615},"\u0064":1e3}"#,
            r#"{"a":{"b":1,"b":1}}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":1e999}"#,
            r#"{"a":123456789012345678901234567890}"#,
            r#"{"a":"\ud800"}"#,
            "{\"a\":\"\0\"}",
            "{} {}",
            "",
            "[1,]",
            &deep(127),
            &deep(128),
            &deep(129),
            &"[".repeat(100_000),
            &"{\"a\":".repeat(100_000),
        ] {
            assert_read_alike(text);
        }
    }

    proptest! {
        /// What is put together at random is mostly no JSON, and close to it.
        #[test]
        fn it_reads_alike_whatever_is_put_together(parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\"", "\"\\n\"", "\"\\\"", "\"é\\u00e9\"", "\"", "\\", "0", "-0",
            "12", "-7", "01", "1.5", "1e", "e3", "999999999999999999", "18446744073709551616", "true", "false", "null", "nul", " ",
            "\t", "\r", "\u{1}", "é", "{\"a\":", "[1,", ",\"b\":",
        ]), 0..12)) {
            assert_read_alike(&parts.concat());
        }
    }

    #[test]
    fn strings_without_escapes_are_parts_of_the_text() {
        let tree = parse(r#"{"plain":"text","escaped":"\n"}"#).unwrap();
        let is_borrowed = |node: &Node<'_>| matches!(node.leaf, Leaf::String(Cow::Borrowed(_)));
        let members: Vec<bool> = tree.0[1..].iter().map(is_borrowed).collect();
        assert_eq!(members, [true, false]);
    }

    #[test]
    fn a_duplicate_is_found_among_few_members_and_among_many() {
        for others in [0, 30, 31, 32, 100_000] {
            let members = |last: &str| {
                let middle: Vec<String> = (0..others).map(|it| format!("\"{it}\":1,")).collect();
                let middle = middle.concat();
                format!("{{\"a\":1,{middle}\"{last}\":1}}")
            };
            assert!(parse(&members("b")).is_ok());
            let error = parse(&members("a")).unwrap_err().to_string();
            assert!(error.contains("\"a\" appears twice"), "{error}");
        }
    }

    #[test]
    fn a_member_is_found_behind_others_and_what_is_in_them() {
        let tree = parse(r#"{"a":{"c":1,"d":[2]},"b":[{"c":3}],"c":4}"#).unwrap();
        let found = |name: &str| tree.value().get(name).map(owned);
        assert_eq!(found("c"), Some(4.into()));
        assert_eq!(found("d"), None);
        let nested = tree.value().get("a").and_then(|it| it.get("d"));
        assert_eq!(nested.map(owned), Some(serde_json::json!([2])));
        assert_eq!(tree.value().as_object().map(Object::len), Some(3));
    }

    #[test]
    fn the_memory_of_a_tree_is_used_again() {
        let room = parse(r#"[1,"\n",{"a":"b"}]"#).unwrap().into_room();
        let there = (room.0.as_ptr().addr(), room.0.capacity());
        let mut again = room;
        let tree = parse_within("[2]", &mut again).unwrap();
        assert_eq!((tree.0.as_ptr().addr(), tree.0.capacity()), there);
        assert_eq!(owned(tree.value()), serde_json::json!([2]));
    }
}
