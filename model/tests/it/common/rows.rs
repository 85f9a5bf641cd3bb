//! The rows that test each clause: the text refuses such a row, and accepts it with the clause left out.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::Path;

use countersign_model::engine::clause::Clause;
use countersign_model::engine::protocol::Protocol;

/// Where this is set, the lists of rows are written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_TRACE";

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
        let file = format!("tests/it/{folder}/rows.txt");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let lines = self.0.iter().map(|(number, (_, row))| {
            let id = P::CLAUSES[usize::from(*number)].id;
            format!("{id} {row}\n")
        });
        let list: String = lines.collect();
        if env::var_os(WRITE).is_some() {
            fs::write(&file, &list).expect("it can be written");
        }
        let listed = fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(list, listed, "with {WRITE}=1 it is written");
    }
}
