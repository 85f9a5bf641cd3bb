//! A whole JSON value, however deep it is.
//!
//! The one thing to know: the values of a [`Tree`] lie one behind the other as they are written, and each says how many of them
//! lie in it. So nothing that reads, goes through or drops one recurses, and its memory is some twenty bytes for each of the text.

use std::collections::BTreeSet;
use std::iter;

use serde::{Serialize, Serializer, ser::Error as _};

use super::{NotJson, Parser};

/// A JSON value with all that lies in it. A number is kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree<'a>(Vec<Node<'a>>);

/// One of the values in a [`Tree`], without what lies in it, or the name of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node<'a> {
    Null,
    Boolean(bool),
    Number(&'a str),
    String(String),
    /// Its elements follow.
    Array {
        /// How many nodes it is, with itself.
        size: usize,
    },
    /// Its members follow, each as its name and its value.
    Object {
        /// How many nodes it is, with itself.
        size: usize,
    },
}

/// One of the values in a [`Tree`], with all that lies in it: the first of these nodes is the value itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'t, 'a>(&'t [Node<'a>]);

impl<'a> Tree<'a> {
    /// The outermost value.
    pub(crate) fn value(&self) -> Value<'_, 'a> {
        Value(&self.0)
    }
}

impl<'t, 'a> Value<'t, 'a> {
    /// The value without what lies in it. There is one: no value is without nodes.
    pub(crate) fn node(self) -> &'t Node<'a> {
        &self.0[0]
    }

    /// The elements of an array, and none of anything else.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        let is_array = matches!(self.node(), Node::Array { .. });
        self.parts().filter(move |_| is_array)
    }

    /// The members of an object in the order of the text, and none of anything else.
    pub(crate) fn members(self) -> impl Iterator<Item = (&'t str, Self)> {
        let is_object = matches!(self.node(), Node::Object { .. });
        let mut parts = self.parts().filter(move |_| is_object);
        iter::from_fn(move || match parts.next()?.node() {
            Node::String(name) => Some((name.as_str(), parts.next()?)),
            Node::Null
            | Node::Boolean(_)
            | Node::Number(_)
            | Node::Array { .. }
            | Node::Object { .. } => None,
        })
    }

    /// What lies in it and in nothing else that does: elements, or names and values in turn.
    fn parts(self) -> impl Iterator<Item = Self> {
        let mut rest = &self.0[1..];
        iter::from_fn(move || {
            let (part, behind) = rest.split_at(rest.first()?.size());
            rest = behind;
            Some(Value(part))
        })
    }
}

impl Node<'_> {
    fn size(&self) -> usize {
        match self {
            Self::Null | Self::Boolean(_) | Self::Number(_) | Self::String(_) => 1,
            Self::Array { size } | Self::Object { size } => *size,
        }
    }

    /// The bracket that ends it.
    fn closing(&self) -> Option<u8> {
        match self {
            Self::Null | Self::Boolean(_) | Self::Number(_) | Self::String(_) => None,
            Self::Array { .. } => Some(b']'),
            Self::Object { .. } => Some(b'}'),
        }
    }
}

/// A whole number of 64 bits as such, and any other as the double next to it. Serde recurses, so this is for what lies no
/// deeper than [`super::MAX_DEPTH`].
impl Serialize for Value<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.node() {
            Node::Null => serializer.serialize_unit(),
            Node::Boolean(value) => serializer.serialize_bool(*value),
            Node::Number(written) => match (written.parse::<i64>(), written.parse::<f64>()) {
                (Ok(whole), _) => serializer.serialize_i64(whole),
                (Err(_), Ok(double)) => serializer.serialize_f64(double),
                (Err(_), Err(error)) => Err(S::Error::custom(error)),
            },
            Node::String(text) => serializer.serialize_str(text),
            Node::Array { .. } => serializer.collect_seq(self.elements()),
            Node::Object { .. } => serializer.collect_map(self.members()),
        }
    }
}

/// A tree that is being read.
#[derive(Default)]
struct Growing<'a> {
    nodes: Vec<Node<'a>>,
    /// The arrays and objects that are open, the innermost last.
    open: Vec<Open>,
    /// The names of all members of open objects whose values have ended, each with how deep its object lies.
    names: BTreeSet<(usize, String)>,
}

/// An array or object that is open.
#[derive(Clone, Copy)]
struct Open {
    /// Where its node is.
    at: usize,
    /// Where the name of its last member is, if it is an object.
    name: Option<usize>,
    /// The bracket that ends it.
    closing: u8,
}

impl<'a> Parser<'a> {
    /// Reads one value in which arrays and objects lie no deeper than that.
    pub(super) fn tree(&mut self, deepest: usize) -> Result<Tree<'a>, NotJson> {
        let mut growing = Growing::default();
        loop {
            let has_ended = self.begin(&mut growing, deepest)?;
            if has_ended && self.end_all(&mut growing)? {
                return Ok(Tree(growing.nodes));
            }
        }
    }

    /// Reads a value that holds no other, or the beginning of one that does. Whether it has ended with that.
    fn begin(&mut self, growing: &mut Growing<'a>, deepest: usize) -> Result<bool, NotJson> {
        self.skip_white_space();
        let node = match self.peek() {
            Some(b'"') => Node::String(self.string()?),
            Some(b'[') => Node::Array { size: 1 },
            Some(b'{') => Node::Object { size: 1 },
            Some(_) | None => self.scalar()?,
        };
        let closing = node.closing();
        let at = growing.nodes.len();
        growing.nodes.push(node);
        let Some(closing) = closing else {
            return Ok(true);
        };
        if growing.open.len() == deepest {
            return Err(NotJson::TooDeep { at: self.position });
        }
        self.position += 1;
        self.skip_white_space();
        if self.take(closing) {
            return Ok(true);
        }
        let name = (closing == b'}').then_some(at + 1);
        growing.open.push(Open { at, name, closing });
        if name.is_some() {
            self.name_of_member(growing)?;
        }
        Ok(false)
    }

    /// Reads the name of a member, and the colon behind it.
    fn name_of_member(&mut self, growing: &mut Growing<'a>) -> Result<(), NotJson> {
        self.skip_white_space();
        growing.nodes.push(Node::String(self.string()?));
        self.skip_white_space();
        self.expect(b':')
    }

    /// A value has ended: reads all that ends with it, up to the next value. Whether nothing is open any more.
    fn end_all(&mut self, growing: &mut Growing<'a>) -> Result<bool, NotJson> {
        while let Some(innermost) = growing.open.last().copied() {
            if !growing.is_first_of_its_name(innermost) {
                return Err(NotJson::DuplicateKey { at: self.position });
            }
            self.skip_white_space();
            if self.take(innermost.closing) {
                growing.close(innermost);
                continue;
            }
            self.expect(b',')?;
            if innermost.name.is_some() {
                growing.go_on();
                self.name_of_member(growing)?;
            }
            return Ok(false);
        }
        Ok(true)
    }
}

impl Growing<'_> {
    /// Whether the value that has ended is no member, or the first of its name. Names are compared as the texts that they stand
    /// for, after their escapes are undone.
    fn is_first_of_its_name(&mut self, innermost: Open) -> bool {
        match innermost.name.map(|name| &self.nodes[name]) {
            Some(Node::String(name)) => self.names.insert((self.open.len(), name.clone())),
            Some(_) | None => true,
        }
    }

    /// Another member of the innermost object begins here.
    fn go_on(&mut self) {
        let here = self.nodes.len();
        if let Some(innermost) = self.open.last_mut() {
            innermost.name = Some(here);
        }
    }

    /// The innermost array or object has ended.
    fn close(&mut self, innermost: Open) {
        if innermost.name.is_some() {
            self.names.split_off(&(self.open.len(), String::new()));
        }
        self.open.pop();
        let whole = self.nodes.len() - innermost.at;
        match &mut self.nodes[innermost.at] {
            Node::Array { size } | Node::Object { size } => *size = whole,
            Node::Null | Node::Boolean(_) | Node::Number(_) | Node::String(_) => {}
        }
    }
}
