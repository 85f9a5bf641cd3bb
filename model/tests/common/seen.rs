//! What a single step shows of the clauses.

use countersign_model::specification::Modelled;

use super::recording::note;

/// Notes the clauses whose case a step witnesses, and the one that has a message ignored.
pub fn note_step<T: Modelled>(witnessed: u64, ignored: Option<&'static str>) {
    let rows = T::WITNESSES.iter().enumerate();
    let seen = rows.filter(|(place, _)| witnessed & 1 << place != 0);
    note(seen.flat_map(|(_, row)| row.clauses).copied());
    note(ignored);
}
