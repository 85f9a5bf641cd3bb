//! What several commands take: a protocol, a bounds preset, rules to leave out, readings.

use clap::ValueEnum;
use countersign_model::aaep::Aaep;
use countersign_model::aaep::bounds::Bounds;
use countersign_model::aaep::rules::{GUARDS, Guard};
use countersign_model::rules::Guards;

/// The protocols, by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// The AAEP confirmation protocol.
    Aaep,
}

impl Protocol {
    /// All protocols, in the order in which they are reported.
    pub const ALL: [Self; 1] = [Self::Aaep];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Aaep => "aaep",
        }
    }
}

/// The bounds preset of that name.
///
/// # Errors
///
/// An unknown name; the message lists the names.
pub fn preset(name: &str) -> Result<Bounds, String> {
    Aaep::preset(name).map_err(|error| error.to_string())
}

/// The guards that a clause id or a guard's name stands for.
///
/// # Errors
///
/// A clause that no guard carries out, or a word that is neither.
pub fn guards(name_or_clause: &str) -> Result<Vec<Guard>, String> {
    let guards = Guard::named(name_or_clause);
    if !guards.is_empty() {
        return Ok(guards);
    }
    match crate::clause::get(name_or_clause) {
        Ok(clause) => Err(format!(
            "no guard of the model carries out {}; `countersign clauses {}` tells what does",
            clause.id, clause.id
        )),
        Err(unknown) => {
            let names: Vec<&str> = GUARDS.iter().map(|row| row.name).collect();
            Err(format!(
                "{unknown}\nexpected a clause id, or one of the guards: {}",
                names.join(", ")
            ))
        }
    }
}

/// One `NAME=VALUE`, checked.
///
/// # Errors
///
/// As [`Aaep::reading`].
pub fn assignment(text: &str) -> Result<String, String> {
    Aaep::reading([text])
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}
