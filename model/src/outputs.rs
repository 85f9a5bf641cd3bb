//! The ordered list of what comes out of a step.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Something that can come out.
pub trait Output: Copy + PartialEq {
    /// What fills the places of a list that hold nothing.
    const BLANK: Self;
}

/// The outputs of one step, in order; at most `CAPACITY`.
#[derive(Clone, Copy)]
pub struct Outputs<O, const CAPACITY: usize> {
    length: u8,
    list: [O; CAPACITY],
}

impl<O: Output, const CAPACITY: usize> Outputs<O, CAPACITY> {
    /// No outputs.
    pub const fn none() -> Self {
        Self {
            length: 0,
            list: [O::BLANK; CAPACITY],
        }
    }

    /// These outputs; nothing if there are more than `CAPACITY`.
    pub fn of(outputs: &[O]) -> Option<Self> {
        let mut of = Self::none();
        of.list.get_mut(..outputs.len())?.copy_from_slice(outputs);
        of.length = u8::try_from(outputs.len()).ok()?;
        Some(of)
    }

    /// Adds one at the end.
    ///
    /// # Panics
    ///
    /// If there are `CAPACITY` already.
    pub fn push(&mut self, output: O) {
        self.list[usize::from(self.length)] = output;
        self.length += 1;
    }

    /// The outputs in order.
    pub fn as_slice(&self) -> &[O] {
        &self.list[..usize::from(self.length)]
    }

    /// The outputs in order.
    pub fn iter(&self) -> impl Iterator<Item = O> {
        self.as_slice().iter().copied()
    }

    /// Whether the output is among them.
    pub fn contains(&self, output: O) -> bool {
        self.as_slice().contains(&output)
    }

    /// How often the output is among them.
    pub fn count(&self, output: O) -> usize {
        self.iter().filter(|&other| other == output).count()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl<O: Output, const CAPACITY: usize> PartialEq for Outputs<O, CAPACITY> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<O: Output + Eq, const CAPACITY: usize> Eq for Outputs<O, CAPACITY> {}

impl<O: Output + Ord, const CAPACITY: usize> PartialOrd for Outputs<O, CAPACITY> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<O: Output + Ord, const CAPACITY: usize> Ord for Outputs<O, CAPACITY> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

impl<O: Output + Hash, const CAPACITY: usize> Hash for Outputs<O, CAPACITY> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.as_slice().hash(hasher);
    }
}

impl<O: Output + std::fmt::Debug, const CAPACITY: usize> std::fmt::Debug for Outputs<O, CAPACITY> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.as_slice()).finish()
    }
}
