//! The rows that test each clause: the text refuses such a row, and accepts it with the clause left out.

use countersign_model::engine::clause::Clause;
use countersign_model::engine::protocol::Protocol;
use std::collections::BTreeMap;

use super::kept::assert_kept;

/// The first row of each clause. A row that the clause names goes before one that another clause names first.
#[derive(Default)]
pub struct Tested(BTreeMap<u8, (bool, String)>);

impl Tested {
    /// Adds a row of a clause. `is_first` says that no other clause names the finding before this one.
    pub fn add(&mut self, Clause(number): Clause, is_first: bool, row: &str) {
        let tested = self.0.entry(number).or_insert((is_first, row.to_owned()));
        if is_first && !tested.0 {
            *tested = (true, row.to_owned());
        }
    }

    /// `rows.txt` in the folder of the text is this list.
    pub fn is_listed<P: Protocol>(&self, folder: &str) {
        let lines = self.0.iter().map(|(number, (_, row))| {
            let id = P::CLAUSES[usize::from(*number)].id;
            format!("{id} {row}\n")
        });
        let list: String = lines.collect();
        assert_kept(folder, "rows.txt", &list);
    }
}
