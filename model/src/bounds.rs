//! What the bounds of every protocol have: budgets for what disturbs, and numbers with ranges.

use std::fmt;

/// How often each kind of disturbance can still happen, and how many can happen in all. A kind is told by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budgets<const KINDS: usize> {
    /// What is left of each kind, in the order of the kinds: 0 to 3.
    pub each: [u8; KINDS],
    /// What is left of all kinds together: 0 to 15.
    pub total: u8,
}

impl<const KINDS: usize> Budgets<KINDS> {
    /// Whether one more of this kind can be afforded.
    pub fn affords(self, kind: impl Into<usize>) -> bool {
        self.total > 0 && self.each[kind.into()] > 0
    }

    /// Takes one of this kind off; the caller has asked whether it can be afforded.
    pub fn spend(&mut self, kind: impl Into<usize>) {
        self.each[kind.into()] -= 1;
        self.total -= 1;
    }

    /// Everything in `4 + 2 * KINDS` bits.
    pub fn word(self) -> u32 {
        self.each.iter().fold(u32::from(self.total), |word, &left| {
            word << 2 | u32::from(left)
        })
    }
}

/// A number of some bounds: its name, its value, and the least and the most that is possible.
pub type Number = (&'static str, u8, u8, u8);

/// Says whether every number is within its range.
///
/// # Errors
///
/// The first number that is out of its range, with the range.
pub fn within(numbers: impl IntoIterator<Item = Number>) -> Result<(), BoundsError> {
    for (name, value, least, most) in numbers {
        if value < least || value > most {
            return Err(BoundsError::OutOfRange {
                name,
                value,
                least,
                most,
            });
        }
    }
    Ok(())
}

/// Bounds that cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundsError {
    /// No preset has this name.
    UnknownPreset {
        /// What was given.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A number lies outside of its range.
    OutOfRange {
        /// Which number.
        name: &'static str,
        /// What was given.
        value: u8,
        /// The least that is possible.
        least: u8,
        /// The most that is possible.
        most: u8,
    },
}

impl fmt::Display for BoundsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPreset { name, known } => {
                let names = known.join(", ");
                write!(
                    formatter,
                    "unknown bounds `{name}`: expected one of {names}"
                )
            }
            Self::OutOfRange {
                name,
                value,
                least,
                most,
            } => {
                write!(
                    formatter,
                    "bounds: {name} is {value}, expected {least} to {most}"
                )
            }
        }
    }
}

impl std::error::Error for BoundsError {}
