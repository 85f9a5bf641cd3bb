//! Why bounds cannot be searched.

use std::fmt;

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
