//! What the bounds of every protocol have: budgets for what disturbs, and numbers with ranges.

use std::{fmt, iter};

/// How far the search of one protocol goes.
pub trait Bounds: Copy + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Bounds for every test run, for the main job, for the night, and for the night with three of what there are two of.
    const PRESETS: [Self; 4];

    /// Presets that this protocol has besides.
    const OWN_PRESETS: &'static [Self] = &[];

    /// The preset that they are, or that they were made from by changing numbers: `small`, `default`, `large`, `three`, one of the
    /// protocol's own; or another name of bounds that are made from none.
    fn name(&self) -> &'static str;

    /// Whether these bounds have so many of something: `name` for one at least, `name=2` for two.
    fn shows(mut self, many: &str) -> bool {
        let (name, least) = many.split_once('=').unwrap_or((many, "1"));
        let least = least.parse().unwrap_or(u8::MAX);
        let mut numbers = self.numbers().into_iter();
        numbers.any(|number| number.name == name && *number.value >= least)
    }

    /// These bounds where they have so many, and otherwise the first preset that has, if there is one.
    #[must_use]
    fn showing(self, many: &str) -> Self {
        let mut others = presets::<Self>().filter(|preset| preset.shows(many));
        if self.shows(many) {
            self
        } else {
            others.next().unwrap_or(self)
        }
    }

    /// Every number, to be read or changed.
    fn numbers(&mut self) -> Vec<Number<'_>>;
}

/// A number of some bounds.
#[derive(Debug)]
pub struct Number<'a> {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: &'a mut u8,
    /// The least that is possible.
    pub least: u8,
    /// The most that is possible.
    pub most: u8,
}

impl<'a> Number<'a> {
    /// A number, with its range.
    pub const fn new(name: &'static str, value: &'a mut u8, least: u8, most: u8) -> Self {
        Self {
            name,
            value,
            least,
            most,
        }
    }
}

/// Every preset of a protocol.
pub fn presets<B: Bounds>() -> impl Iterator<Item = B> {
    let own = B::OWN_PRESETS.iter().copied();
    B::PRESETS.into_iter().chain(own)
}

/// The preset of this name, changed as it says behind the name: `small,crash=2`.
///
/// # Errors
///
/// An unknown name, with the names that there are; a change that is no change, or that is made twice.
pub fn preset<B: Bounds>(text: &str) -> Result<B, BoundsError> {
    let mut words = text.split(',');
    let name = words.next().unwrap_or_default();
    let preset = presets::<B>().find(|it| it.name() == name);
    let mut bounds = preset.ok_or_else(|| BoundsError::UnknownPreset {
        name: name.to_owned(),
        known: presets::<B>().map(|it| it.name()).collect(),
    })?;
    let mut changed = Vec::new();
    for change in words {
        let name = set(&mut bounds, change)?;
        if changed.contains(&name) {
            return Err(BoundsError::ChangedTwice { name });
        }
        changed.push(name);
    }
    Ok(bounds)
}

/// Changes a number; its name.
fn set<B: Bounds>(bounds: &mut B, change: &str) -> Result<&'static str, BoundsError> {
    let no_change = || BoundsError::NoChange {
        text: change.to_owned(),
    };
    let (name, value) = change.split_once('=').ok_or_else(no_change)?;
    let value = value.parse().map_err(|_| no_change())?;
    let mut numbers = bounds.numbers();
    let known = numbers.iter().map(|number| number.name).collect();
    let number = numbers.iter_mut().find(|number| number.name == name);
    let number = number.ok_or_else(|| BoundsError::UnknownNumber {
        name: name.to_owned(),
        known,
    })?;
    *number.value = value;
    Ok(number.name)
}

/// How the bounds are written: the preset, and what differs from it.
pub fn written<B: Bounds>(mut bounds: B) -> String {
    let mut text = bounds.name().to_owned();
    let preset = presets::<B>().find(|it| it.name() == text);
    if let Some(mut preset) = preset {
        let was = preset.numbers();
        let numbers = was.iter().zip(bounds.numbers());
        let changed = numbers.filter(|(was, is)| *was.value != *is.value);
        text.extend(changed.map(|(_, is)| format!(",{}={}", is.name, is.value)));
    }
    text
}

/// Says whether every number of some bounds is within its range.
///
/// # Errors
///
/// The first number that is out of its range, with the range.
pub fn within(mut bounds: impl Bounds) -> Result<(), BoundsError> {
    for number in bounds.numbers() {
        if *number.value < number.least || *number.value > number.most {
            return Err(BoundsError::OutOfRange {
                name: number.name,
                value: *number.value,
                least: number.least,
                most: number.most,
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
    pub fn numbers(&mut self, kinds: [&'static str; KINDS]) -> impl Iterator<Item = Number<'_>> {
        let total = Number::new("disturbances", &mut self.total, 0, 15);
        let each = kinds.into_iter().zip(&mut self.each);
        iter::once(total).chain(each.map(|(kind, left)| Number::new(kind, left, 0, 3)))
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
    pub fn of_possible<Kind>(self, kinds: [Kind; KINDS], possible: impl Fn(Kind) -> bool) -> Self {
        if self.total == 0 {
            return Self::NONE;
        }
        let mut each = self.each;
        for (left, kind) in each.iter_mut().zip(kinds) {
            if *left > 0 && !possible(kind) {
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
    /// No number has this name.
    UnknownNumber {
        /// What was given.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// It is not of the form `name=number`.
    NoChange {
        /// What was given.
        text: String,
    },
    /// A number is changed twice.
    ChangedTwice {
        /// Which number.
        name: &'static str,
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
            Self::UnknownNumber { name, known } => {
                let names = known.join(", ");
                write!(
                    formatter,
                    "bounds: there is no number `{name}`: expected one of {names}"
                )
            }
            Self::NoChange { text } => write!(
                formatter,
                "bounds: `{text}` is no change: expected NAME=NUMBER, such as `ticks=3`"
            ),
            Self::ChangedTwice { name } => {
                write!(formatter, "bounds: {name} is changed twice")
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
