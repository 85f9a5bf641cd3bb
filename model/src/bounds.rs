//! What the bounds of every protocol have: budgets for what disturbs, and numbers with ranges.

use std::{fmt, iter};

/// How far the search of one protocol goes.
pub trait Bounds: Copy + fmt::Debug + PartialEq + Send + Sync {
    /// Bounds for every test run, for the main job, and for the night.
    const PRESETS: [Self; 3];

    /// Their name: `small`, `default`, `large`, or another of bounds that are no preset.
    fn name(&self) -> &'static str;

    /// Every number, with its range.
    fn numbers(&self) -> Vec<Number>;
}

/// The preset of this name.
///
/// # Errors
///
/// An unknown name; the message lists the names that there are.
pub fn preset<B: Bounds>(name: &str) -> Result<B, BoundsError> {
    B::PRESETS
        .into_iter()
        .find(|preset| preset.name() == name)
        .ok_or_else(|| BoundsError::UnknownPreset {
            name: name.to_owned(),
            known: B::PRESETS.iter().map(B::name).collect(),
        })
}

/// A number of some bounds: its name, its value, and the least and the most that is possible.
pub type Number = (&'static str, u8, u8, u8);

/// Says whether every number of some bounds is within its range.
///
/// # Errors
///
/// The first number that is out of its range, with the range.
pub fn within(bounds: &impl Bounds) -> Result<(), BoundsError> {
    for (name, value, least, most) in bounds.numbers() {
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

/// How often each kind of disturbance can still happen, and how many can happen in all. A kind is told by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budgets<const KINDS: usize> {
    /// What is left of each kind, in the order of the kinds: 0 to 3.
    pub each: [u8; KINDS],
    /// What is left of all kinds together: 0 to 15.
    pub total: u8,
}

impl<const KINDS: usize> Budgets<KINDS> {
    /// Nothing disturbs.
    pub const NONE: Self = Self::new([0; KINDS], 0);

    /// So many of each kind, and so many of all kinds together.
    pub const fn new(each: [u8; KINDS], total: u8) -> Self {
        Self { each, total }
    }

    /// Every number, with its range; `kinds` are the names of the kinds.
    pub fn numbers(self, kinds: [&'static str; KINDS]) -> impl Iterator<Item = Number> {
        let total = ("disturbances_in_all", self.total, 0, 15);
        let each = kinds.into_iter().zip(self.each);
        iter::once(total).chain(each.map(|(kind, left)| (kind, left, 0, 3)))
    }

    /// Whether one more of this kind can be afforded.
    pub fn affords(self, kind: impl Into<usize>) -> bool {
        self.total > 0 && self.each[kind.into()] > 0
    }

    /// Takes one of this kind off, if it can be afforded.
    pub fn spend(&mut self, kind: impl Into<usize>) -> Option<()> {
        let kind = kind.into();
        self.affords(kind).then(|| {
            self.each[kind] -= 1;
            self.total -= 1;
        })
    }

    /// What can still be spent where only these kinds are still possible: what cannot be spent no longer matters.
    #[must_use]
    pub fn of_possible(self, possible: [bool; KINDS]) -> Self {
        if self.total == 0 {
            return Self::NONE;
        }
        let mut each = self.each;
        for (left, possible) in each.iter_mut().zip(possible) {
            if !possible {
                *left = 0;
            }
        }
        Self {
            each,
            total: self.total.min(each.iter().sum()),
        }
    }

    /// Everything in `4 + 2 * KINDS` bits.
    pub fn word(self) -> u32 {
        self.each.iter().fold(u32::from(self.total), |word, &left| {
            word << 2 | u32::from(left)
        })
    }
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
