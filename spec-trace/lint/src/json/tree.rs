//! A JSON text taken apart into values that borrow from it: what reading many records needs.
//!
//! The one thing to know: the values stand in one row, in the order of the text, each object and array before what is in
//! it, and name the parts of the text that they are. So a text costs no allocation where the [`Room`] of the one before is
//! used again.
//!
//! Texts are read by [`plain`], which knows valid JSON as it is usually written; what it stumbles over is left to
//! [`unusual`], which knows all of it and says what is wrong.
//!
//! Records of 390 bytes are taken apart at 626 MB/s; in the same run the tape of `simd-json` was made at 435, the values of
//! `serde_json_borrow` at 257, those of `jiter` at 241 and those of `serde_json` at 100, none of which refuse a name that
//! comes twice. A visitor of `serde_json` that fills the same room, without [`plain`], takes a fifth more instructions.

mod plain;
#[cfg(test)]
mod tests;
mod unusual;

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::ops::Range;

use foldhash::quality::FixedState;
use serde_json::Number;

use crate::monitor::seen::hash;

/// How much memory is held for the next text, in values and in bytes of what is spelt out: a text that has very much in it
/// is not what others are like.
const MANY_VALUES: usize = 256;
const MANY_BYTES: usize = 4 << 10;

/// From how many bytes on a text is given memory for all of its values at once: while memory grows it is there twice.
const LONG_TEXT: usize = 1 << 20;

/// A JSON text, taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Tree<'a> {
    text: &'a str,
    room: &'a Room,
}

/// The memory of a tree, and of the next one when that one is done with.
#[derive(Debug, Default)]
pub struct Room {
    nodes: Vec<Node>,
    /// Strings with escapes, as they are meant, one behind the other.
    spelt_out: String,
}

/// A value, and the name that it has in its object; within an array, and outermost, the name is empty.
#[derive(Debug)]
struct Node {
    name: Part,
    /// The mark of the name.
    mark: u8,
    leaf: Leaf,
    /// How many nodes it takes with all that is in it.
    size: u32,
}

impl Node {
    fn size(&self) -> usize {
        self.size as usize
    }
}

#[derive(Debug)]
enum Leaf {
    Null,
    Bool(bool),
    Number(Number),
    String(Part),
    Array,
    Object,
}

/// A part of the text; what lies beyond its end is a part of what is spelt out.
#[derive(Debug, Clone, Copy)]
struct Part {
    start: u32,
    length: u32,
}

impl Part {
    #[inline]
    fn new(range: Range<usize>) -> Self {
        Self {
            start: small(range.start),
            length: small(range.len()),
        }
    }

    fn length(self) -> usize {
        self.length as usize
    }

    /// The part within what begins there.
    #[inline]
    fn from(self, from: usize) -> Range<usize> {
        let start = self.start as usize - from;
        start..start + self.length()
    }
}

/// Numbers of bytes and nodes are kept in 32 bits: a node is half as large for it.
fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a text takes less than 2 GiB")
}

/// A name with its mark.
type Name = (Part, u8);

/// What outermost values and items of arrays have for a name.
const NAMELESS: Name = (
    Part {
        start: 0,
        length: 0,
    },
    0,
);

/// How many marks there are, as many as a word has bits.
const MARKS: u8 = 64;

/// A mark by which most names that differ are told apart at once.
#[inline]
fn mark(name: &[u8]) -> u8 {
    let [length, ..] = name.len().to_le_bytes();
    let last = name.last().copied().unwrap_or_default();
    length.wrapping_mul(11).wrapping_add(last) % MARKS
}

/// Parses one JSON text. Whatever the room held before is gone.
///
/// # Errors
///
/// The parser's error, with the column (in bytes, from 1) where it gave up: not JSON, a duplicate key, or more than 128
/// levels deep.
///
/// # Panics
///
/// For a text of 2 GiB or more.
pub fn parse<'a>(text: &'a str, room: &'a mut Room) -> serde_json::Result<Tree<'a>> {
    room.begin(text);
    if plain::read(text, room).is_none() {
        room.begin(text);
        unusual::read(text, room)?;
    }
    Ok(Tree { text, room })
}

impl Room {
    fn begin(&mut self, text: &str) {
        self.clear();
        if text.len() > LONG_TEXT {
            // Each value but the outermost stands behind one of these.
            let stands_before_one = |byte: &u8| matches!(byte, b',' | b'[' | b'{');
            let most = 1 + text.bytes().filter(stands_before_one).count();
            self.nodes.reserve_exact(most);
        }
    }

    /// Forgets the tree, and holds on to no more memory than most texts need.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.shrink_to(MANY_VALUES);
        self.spelt_out.clear();
        self.spelt_out.shrink_to(MANY_BYTES);
    }

    /// How many values it has room for.
    #[cfg(test)]
    pub(crate) fn values(&self) -> usize {
        self.nodes.capacity()
    }

    fn push(&mut self, (name, mark): Name, leaf: Leaf) {
        self.nodes.push(Node {
            name,
            mark,
            leaf,
            size: 1,
        });
    }

    /// Says that all nodes from the one behind `place` on are in that one.
    fn close(&mut self, place: usize) {
        self.nodes[place].size = small(self.nodes.len() - place);
    }

    /// Keeps a string that is no part of the text.
    fn spell_out(&mut self, text: &str, string: &str) -> Part {
        let start = text.len() + self.spelt_out.len();
        self.spelt_out.push_str(string);
        Part::new(start..start + string.len())
    }

    #[inline]
    fn bytes<'r>(&'r self, text: &'r str, part: Part) -> &'r [u8] {
        if (part.start as usize) < text.len() {
            &text.as_bytes()[part.from(0)]
        } else {
            &self.spelt_out.as_bytes()[part.from(text.len())]
        }
    }

    #[inline]
    fn string<'r>(&'r self, text: &'r str, part: Part) -> &'r str {
        if (part.start as usize) < text.len() {
            &text[part.from(0)]
        } else {
            &self.spelt_out[part.from(text.len())]
        }
    }

    /// The node with that name, of those that stand beside the one at `from` and before `end`.
    #[inline]
    fn find(
        &self,
        text: &str,
        from: usize,
        end: usize,
        (name, mark): (&[u8], u8),
    ) -> Option<usize> {
        let mut at = from;
        while at < end {
            let node = &self.nodes[at];
            let may_be = node.mark == mark && node.name.length() == name.len();
            if may_be && self.bytes(text, node.name) == name {
                return Some(at);
            }
            at += node.size();
        }
        None
    }
}

impl<'a> Tree<'a> {
    /// The tree of a text that was parsed into this room before.
    pub fn resume(text: &'a str, room: &'a Room) -> Self {
        Self { text, room }
    }

    /// The text that was taken apart.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The outermost value.
    pub fn value(self) -> Value<'a> {
        Value::at(self, 0)
    }

    fn string(self, part: Part) -> &'a str {
        self.room.string(self.text, part)
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
pub struct Array<'t>(Inside<'t>);

/// The members of an object, in the order of the text. No two have the same name.
#[derive(Debug, Clone, Copy)]
pub struct Object<'t>(Inside<'t>);

/// What is in an array or object: the nodes behind its own.
#[derive(Debug, Clone, Copy)]
struct Inside<'t> {
    tree: Tree<'t>,
    from: usize,
    end: usize,
}

impl<'t> Inside<'t> {
    /// The nodes that stand beside each other.
    fn nodes(self) -> impl Iterator<Item = (&'t Node, Value<'t>)> {
        let Self {
            tree,
            mut from,
            end,
        } = self;
        std::iter::from_fn(move || {
            let node = tree.room.nodes[..end].get(from)?;
            let value = Value::at(tree, from);
            from += node.size();
            Some((node, value))
        })
    }
}

/// An object of which many members are asked for: where they stand is looked up and not searched.
#[derive(Debug, Clone, Copy)]
pub struct Index<'t> {
    object: Object<'t>,
    /// For each mark that a name may have, the first member whose name has it, from 1; 0 for none. What lies too far
    /// behind is looked for from the beginning.
    first: [u16; MARKS as usize],
}

impl<'t> Index<'t> {
    /// An index of that object.
    pub fn new(object: Object<'t>) -> Self {
        let Inside { tree, from, end } = object.0;
        let mut first = [0; MARKS as usize];
        let mut at = from;
        while at < end {
            let node = &tree.room.nodes[at];
            let place = &mut first[usize::from(node.mark)];
            if *place == 0 {
                *place = u16::try_from(at - from + 1).unwrap_or(1);
            }
            at += node.size();
        }
        Self { object, first }
    }

    /// The object itself.
    pub fn object(&self) -> Object<'t> {
        self.object
    }

    /// The member of that name.
    #[inline]
    pub fn get(&self, name: &str) -> Option<Value<'t>> {
        let Inside { tree, from, end } = self.object.0;
        let mark = mark(name.as_bytes());
        let number = self.first[usize::from(mark)].checked_sub(1)?;
        let first = from + usize::from(number);
        let place = tree
            .room
            .find(tree.text, first, end, (name.as_bytes(), mark))?;
        Some(Value::at(tree, place))
    }
}

impl<'t> Value<'t> {
    #[inline]
    fn at(tree: Tree<'t>, place: usize) -> Self {
        let node = &tree.room.nodes[place];
        let inside = Inside {
            tree,
            from: place + 1,
            end: place + node.size(),
        };
        match &node.leaf {
            Leaf::Null => Self::Null,
            Leaf::Bool(value) => Self::Bool(*value),
            Leaf::Number(number) => Self::Number(number),
            Leaf::String(part) => Self::String(tree.string(*part)),
            Leaf::Array => Self::Array(Array(inside)),
            Leaf::Object => Self::Object(Object(inside)),
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
        self.0.nodes().map(|(_, value)| value)
    }
}

impl<'t> Object<'t> {
    /// The member of that name.
    pub fn get(self, name: &str) -> Option<Value<'t>> {
        let Inside { tree, from, end } = self.0;
        let name = (name.as_bytes(), mark(name.as_bytes()));
        let place = tree.room.find(tree.text, from, end, name)?;
        Some(Value::at(tree, place))
    }

    /// Whether there is a member of that name.
    pub fn contains_key(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The members, as they were written.
    pub fn iter(self) -> impl Iterator<Item = (&'t str, Value<'t>)> {
        let members = self.0.nodes();
        members.map(move |(node, value)| (self.0.tree.string(node.name), value))
    }

    /// The names, as they were written.
    pub fn keys(self) -> impl Iterator<Item = &'t str> {
        self.iter().map(|(name, _)| name)
    }

    /// The values, as they were written.
    pub fn values(self) -> impl Iterator<Item = Value<'t>> {
        self.iter().map(|(_, value)| value)
    }

    /// How many members there are.
    pub fn len(self) -> usize {
        self.0.nodes().count()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The kinds of everything that is in it, in the order of the text.
    pub fn shapes(self) -> impl Iterator<Item = Shape<'t>> {
        let Inside { tree, from, end } = self.0;
        tree.room.nodes[from..end].iter().map(Shape::of)
    }

    /// A hash of everything that is in it, in the order in which it is written.
    pub fn digest(self) -> u64 {
        let Inside { tree, from, end } = self.0;
        let nodes = &tree.room.nodes;
        if (from, end) == (1, nodes.len()) {
            return hash(&tree.text);
        }
        let mut hasher = FixedState::default().build_hasher();
        for node in &nodes[from..end] {
            tree.string(node.name).hash(&mut hasher);
            match &node.leaf {
                Leaf::Null => 0.hash(&mut hasher),
                Leaf::Bool(it) => it.hash(&mut hasher),
                Leaf::Number(it) => it.hash(&mut hasher),
                Leaf::String(it) => tree.string(*it).hash(&mut hasher),
                Leaf::Array => (1, node.size).hash(&mut hasher),
                Leaf::Object => (2, node.size).hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    /// How many bytes the text takes in which it is.
    pub fn text_length(self) -> usize {
        self.0.tree.text.len()
    }

    /// Notes everything that is in it, in the order of the text.
    pub fn measure(self, note: &mut impl FnMut(Measured<'t>)) {
        let Inside { tree, from, end } = self.0;
        measure(&tree.room.nodes[from..end], 0, true, note);
    }
}

/// A value, as far as its size goes.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'t> {
    /// In how many objects and arrays it is, within the outermost.
    pub depth: usize,
    /// The bytes of its name; it has none in an array.
    pub name: Option<usize>,
    /// What it is.
    pub shape: Shape<'t>,
}

/// Kinds of value.
#[derive(Debug, Clone, Copy)]
pub enum Shape<'t> {
    /// `null`, `true` or `false`.
    Word,
    /// A number.
    Number(&'t Number),
    /// A string of so many bytes.
    String(usize),
    /// An array or an object; what is in it follows.
    Nested,
}

impl<'t> Shape<'t> {
    fn of(node: &'t Node) -> Self {
        match &node.leaf {
            Leaf::Null | Leaf::Bool(_) => Self::Word,
            Leaf::Number(number) => Self::Number(number),
            Leaf::String(part) => Self::String(part.length()),
            Leaf::Array | Leaf::Object => Self::Nested,
        }
    }
}

/// Goes as deep as the parser lets a text be, which is 128 levels.
fn measure<'t>(
    nodes: &'t [Node],
    depth: usize,
    are_named: bool,
    note: &mut impl FnMut(Measured<'t>),
) {
    let mut rest = nodes;
    while let Some(node) = rest.first() {
        note(Measured {
            depth,
            name: are_named.then_some(node.name.length()),
            shape: Shape::of(node),
        });
        if node.size() > 1 {
            let are_named = matches!(node.leaf, Leaf::Object);
            measure(&rest[1..node.size()], depth + 1, are_named, note);
        }
        rest = &rest[node.size()..];
    }
}
