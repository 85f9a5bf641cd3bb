//! What a single step shows of the clauses.

use countersign_model::specification::Modelled;
use countersign_model::table::Tabled;

use super::recording::note;

/// Notes the clauses whose case a step witnesses, and the one that has a message ignored.
pub fn note_step<T: Modelled>(witnessed: u64, ignored: Option<&'static str>) {
    let rows = T::Witness::ROWS.iter();
    let seen = rows.filter(|row| witnessed & row.witness.bit_if(true) != 0);
    note(seen.flat_map(|row| row.clauses).copied());
    note(ignored);
}
