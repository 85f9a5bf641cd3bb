//! The links of the clauses, made once from the tables of the model, of `lint` and of the seeded faults.

use std::fmt;
use std::sync::LazyLock;

use countersign_clauses::links::{Kind, Links, Row, not_checkable};
use countersign_clauses::{Clause, ClauseId, faults};
use countersign_lint::judged::JUDGED;
use countersign_model::facade::{TEXTS, Text};
use serde::Serialize;

/// All of them.
pub static LINKS: LazyLock<Links> = LazyLock::new(|| {
    let monitors = (
        Kind::Monitor,
        "countersign lint".to_owned(),
        JUDGED.iter().copied().collect(),
    );
    let rows = TEXTS.iter().flat_map(tables).chain([monitors]);
    Links::derive(rows.chain(faults::all().iter().map(of_fault)))
});

/// The places at which a clause can be taken in more than one way, each with its question.
pub fn readings(clause: &Clause) -> Vec<(&'static str, &'static str)> {
    let id = clause.id.as_str();
    let places = TEXTS.iter().flat_map(|it| &it.places);
    let places = places.filter(|it| it.clauses.contains(&id));
    places.map(|it| (it.name, it.question)).collect()
}

/// The rows of one protocol's tables. What has to be possible is a property like what has to hold. A rule that shows in no output
/// guards nothing where the registry says that the clause is not checkable.
fn tables(text: &Text) -> Vec<Row> {
    let rules = text.rules.iter();
    let rules = rules.filter(|it| it.free.is_none() || !it.clauses.iter().any(|id| is_gap(id)));
    let rules = rules.map(|it| (Kind::Guard, it.name.to_owned(), it.clauses.to_vec()));
    let properties = text.properties.iter().chain(&text.situations);
    let properties = properties.map(|it| (Kind::Property, it.name.clone(), it.clauses.clone()));
    rules.chain(properties).collect()
}

fn is_gap(id: &str) -> bool {
    countersign_clauses::get(id).is_ok_and(|it| not_checkable(it).is_some())
}

/// The test that fails where a fault is put in.
fn of_fault(fault: &'static faults::Fault) -> Row {
    let name = fault.test.rsplit([' ', ':']).next().unwrap_or_default();
    let clauses = fault.clauses.iter().map(ClauseId::as_str);
    (Kind::Test, name.to_owned(), clauses.collect())
}

/// How many clauses of a selection have which kind of link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// All of them.
    pub clauses: usize,
    /// Those with a guard or a property in the model.
    pub modelled: usize,
    /// Those that a property states.
    pub stated: usize,
    /// Those that a monitor judges in recordings.
    pub judged: usize,
    /// Those that nothing can check, with a reason.
    pub not_checkable: usize,
}

impl Tally {
    /// Counts a selection of clauses.
    pub fn of<'a>(clauses: impl IntoIterator<Item = &'a Clause>) -> Self {
        let mut tally = Self::default();
        for clause in clauses {
            let has = |kind| usize::from(LINKS.count(clause, kind) > 0);
            tally.clauses += 1;
            tally.modelled += has(Kind::Guard).max(has(Kind::Property));
            tally.stated += has(Kind::Property);
            tally.judged += has(Kind::Monitor);
            tally.not_checkable += has(Kind::Exception);
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} clauses: {} stated by a property, {} judged in recordings, {} not checkable",
            self.clauses, self.stated, self.judged, self.not_checkable
        )
    }
}
