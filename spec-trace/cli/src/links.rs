//! The links of the clauses to the sources of this workspace, made once.
//!
//! The one thing to know: the build script finds every id that the sources cite and every test, the model's tables name its
//! properties and guards, and `evidence.txt` and `faults/` say what the tests show. All of it is seen here alone; what follows
//! from it is the business of [`Links`].

use std::sync::LazyLock;

use countersign_clauses::links::{Citation, Kind, Links, Row, place};
use countersign_clauses::{Clause, ClauseId, evidence, faults};
use countersign_model::aaep::AaepProtocol;
use countersign_model::mcp_aql::McpAqlProtocol;
use countersign_model::pending_action::PendingActionProtocol;
use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;

/// All of them.
pub static LINKS: LazyLock<Links> = LazyLock::new(|| {
    let rows = model_tables().into_iter().chain(tests_that_show());
    Links::derive(rows, CITATIONS)
});

/// The places at which a clause can be taken in more than one way, each with its question.
pub fn readings(clause: &Clause) -> Vec<(&'static str, &'static str)> {
    fn of<T: Modelled>(id: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
        let places = T::PLACES.iter().filter(move |it| it.clauses.contains(&id));
        places.map(|place| (place.name, place.question))
    }
    let id = clause.id.as_str();
    of::<AaepProtocol>(id)
        .chain(of::<McpAqlProtocol>(id))
        .chain(of::<PendingActionProtocol>(id))
        .collect()
}

/// What the last run of the tests has recorded.
pub const EVIDENCE: &str = include_str!("../../evidence.txt");

include!(concat!(env!("OUT_DIR"), "/citations.rs"));

/// The rows of the model's tables, protocol by protocol.
fn model_tables() -> Vec<Row> {
    [
        tables::<AaepProtocol>(),
        tables::<McpAqlProtocol>(),
        tables::<PendingActionProtocol>(),
    ]
    .concat()
}

/// The tests that saw clauses at work, then those that were seen to fail without some.
fn tests_that_show() -> Vec<Row> {
    let saw = evidence::kept(EVIDENCE);
    let saw = saw.into_iter().map(|(test, clauses)| {
        let clauses = clauses.iter().filter_map(|id| known(id));
        test_row(&test, clauses.collect())
    });
    let failed = faults::all().iter().map(|fault| {
        let clauses = fault.clauses.iter().map(ClauseId::as_str);
        test_row(&fault.test, clauses.collect())
    });
    saw.chain(failed).collect()
}

/// The id as the registry keeps it; a test looks for those that it does not.
fn known(id: &str) -> Option<&'static str> {
    Some(countersign_clauses::get(id).ok()?.id.as_str())
}

/// A test, found by its package, target and path, with the clauses that it shows.
fn test_row(test: &str, clauses: Vec<&'static str>) -> Row {
    let name = test.rsplit([' ', ':']).next().unwrap_or(test);
    (Kind::Test, name.to_owned(), clauses, place_of_test(test))
}

/// Where a test stands; nothing if there is none of this package, target and path.
pub fn place_of_test(test: &str) -> Option<String> {
    find(TESTS, test, |_| true)
}

/// The rows of one protocol's tables; its files lie in the folder of its name. What has to be possible is a property like
/// what has to hold.
fn tables<T: Modelled>() -> Vec<Row> {
    let folder = format!("/{}/", T::NAME.replace('-', "_"));
    // Each row stands in the block of its clause.
    let blocks = format!("{folder}rules.rs");
    let stands = |text| find(MODEL_NAMES, text, |file| file.ends_with(&blocks));
    let guards = T::Guard::ROWS.iter().map(|row| {
        let name = row.name.to_owned();
        (Kind::Guard, name, row.clauses.to_vec(), stands(row.gist))
    });
    let properties = T::PROPERTIES.iter().chain(T::WITNESSES).map(|row| {
        let name = row.name();
        (Kind::Property, name, row.clauses.to_vec(), stands(row.text))
    });
    guards.chain(compared::<T>()).chain(properties).collect()
}

/// The guards that the fuzz target of the protocol's runs holds against the executor, step by step. A test leaves each of
/// them out and sees that for every clause the target notices.
fn compared<T: Modelled>() -> impl Iterator<Item = Row> {
    let schedule = format!("{}_schedule", T::NAME.replace('-', "_"));
    let target = HARNESS.iter().find(|(name, ..)| *name == schedule);
    target.into_iter().flat_map(|&(name, file, line)| {
        let rows = T::Guard::ROWS.iter();
        rows.map(move |row| {
            let at = Some(place(file, line));
            (Kind::Fuzz, name.to_owned(), row.clauses.to_vec(), at)
        })
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
