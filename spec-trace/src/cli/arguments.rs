//! What several commands take: a protocol, a bounds preset, rules to leave out.
//!
//! Which presets, rules and readings there are depends on the protocol, so they are looked up when it is known, and not
//! while the command line is taken apart.

use clap::ValueEnum;
use countersign_model::aaep::AaepText;
use countersign_model::mcp_aql::McpAqlText;
use countersign_model::pending_action::PendingActionText;
use countersign_model::rules::Guards;
use countersign_model::specification::{Specification, Text};

/// The protocols, by their names on the command line, in the order in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// The AAEP confirmation protocol.
    Aaep,
    /// The confirmation tokens of MCP-AQL.
    McpAql,
    /// The pending actions of the Agents API.
    PendingAction,
}

/// The bounds preset of that name.
///
/// # Errors
///
/// An unknown name; the message lists the names.
pub fn preset<T: Text>(name: &str) -> miette::Result<T::Bounds> {
    Specification::<T>::preset(name).map_err(miette::Report::msg)
}

/// The specification within these bounds.
///
/// # Errors
///
/// Bounds that are out of range.
pub fn specification<T: Text>(bounds: T::Bounds) -> miette::Result<Specification<T>> {
    Specification::new(bounds).map_err(miette::Report::msg)
}

/// The guards that a clause id or a guard's name stands for.
///
/// # Errors
///
/// A clause that no guard carries out, a rule of another protocol, or a word that is neither.
pub fn guards<T: Text>(name_or_clause: &str) -> miette::Result<Vec<T::Guard>> {
    let guards = T::Guard::named(name_or_clause);
    if guards.is_empty() {
        Err(miette::Report::msg(no_guard::<T>(name_or_clause)))
    } else {
        Ok(guards)
    }
}

/// Why the protocol has no guard for this word.
fn no_guard<T: Text>(word: &str) -> String {
    match crate::clause::get(word) {
        Ok(clause) if clause.protocol != T::NAME => {
            format!(
                "{word} is a clause of {}, not of {}",
                clause.protocol,
                T::NAME
            )
        }
        Ok(clause) => format!(
            "no guard of the model carries out {0}; `countersign clauses {0}` tells what does",
            clause.id
        ),
        Err(unknown) => elsewhere(word).map_or_else(
            || {
                let names: Vec<&str> = T::Guard::ROWS.iter().map(|row| row.name).collect();
                format!(
                    "{unknown}\nexpected a clause id, or one of the guards: {}",
                    names.join(", ")
                )
            },
            |protocol| format!("{word} is a guard of {protocol}, not of {}", T::NAME),
        ),
    }
}

/// The protocol that has a guard of this name.
fn elsewhere(name: &str) -> Option<&'static str> {
    fn name_of<T: Text>(guard: &str) -> Option<&'static str> {
        (!T::Guard::named(guard).is_empty()).then_some(T::NAME)
    }
    let mut protocols = Protocol::value_variants().iter();
    protocols.find_map(|protocol| match protocol {
        Protocol::Aaep => name_of::<AaepText>(name),
        Protocol::McpAql => name_of::<McpAqlText>(name),
        Protocol::PendingAction => name_of::<PendingActionText>(name),
    })
}
