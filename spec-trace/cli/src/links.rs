//! The links of the clauses to the sources of this workspace, made once.
//!
//! The one thing to know: the build script finds every id that the sources cite, and the model's tables name its
//! properties and guards. Both are seen here alone; what follows from them is the business of [`Links`].

use std::sync::LazyLock;

use countersign_clauses::links::{Citation, Kind, Links, Row, place};
use countersign_model::aaep::AaepText;
use countersign_model::mcp_aql::McpAqlText;
use countersign_model::pending_action::PendingActionText;
use countersign_model::specification::Text;
use countersign_model::table::Tabled;

/// All of them.
pub static LINKS: LazyLock<Links> = LazyLock::new(|| Links::derive(model_tables(), CITATIONS));

include!(concat!(env!("OUT_DIR"), "/citations.rs"));

/// The rows of the model's tables, protocol by protocol.
fn model_tables() -> Vec<Row> {
    [
        tables::<AaepText>(),
        tables::<McpAqlText>(),
        tables::<PendingActionText>(),
    ]
    .concat()
}

/// The rows of one protocol's tables; its files lie in the folder of its name. What has to be possible is a property like
/// what has to hold.
fn tables<T: Text>() -> Vec<Row> {
    let folder = format!("/{}/", T::NAME.replace('-', "_"));
    let named = |name, file: &str| {
        let suffix = format!("{folder}{file}");
        find(MODEL_NAMES, name, |file| file.ends_with(&suffix))
    };
    let guards = T::Guard::ROWS.iter().map(|row| {
        // Where the model asks for the guard says more than the row of the table.
        let variant = format!("{:?}", row.guard);
        let at = find(GUARD_PLACES, &variant, |file| file.contains(&folder))
            .or_else(|| named(row.name, "rules.rs"));
        (Kind::Guard, row.name, row.clauses, at)
    });
    let invariants = T::Invariant::ROWS.iter().map(|row| {
        let at = named(row.name, "properties.rs");
        (Kind::Property, row.name, row.clauses, at)
    });
    let witnesses = T::Witness::ROWS.iter().map(|row| {
        let at = named(row.name, "witness.rs");
        (Kind::Property, row.name, row.clauses, at)
    });
    guards
        .chain(compared::<T>())
        .chain(invariants)
        .chain(witnesses)
        .collect()
}

/// The guards that the fuzz target of the protocol's runs holds against the executor, step by step. A test leaves each of
/// them out and sees that for every clause the target notices.
fn compared<T: Text>() -> impl Iterator<Item = Row> {
    let schedule = format!("{}_schedule", T::NAME.replace('-', "_"));
    let target = HARNESS.iter().find(|(name, ..)| *name == schedule);
    target.into_iter().flat_map(|&(name, file, line)| {
        let rows = T::Guard::ROWS.iter();
        rows.map(move |row| (Kind::Fuzz, name, row.clauses, Some(place(file, line))))
    })
}

/// Where a text stands, in the first of the files that count.
fn find(
    places: &[(&str, &'static str, usize)],
    wanted: &str,
    counts: impl Fn(&str) -> bool,
) -> Option<String> {
    places
        .iter()
        .find(|&&(text, file, _)| text == wanted && counts(file))
        .map(|&(_, file, line)| place(file, line))
}
