//! Notes which clauses a test saw at work, where the run of the tests is recorded.
//!
//! The one thing to know: `.ci/evidence` runs the tests with the variable `COUNTERSIGN_EVIDENCE`, which names the folder of
//! the record; without it nothing is noted. The helpers of the tests in every crate include this file by its path, so that no
//! crate needs another for it. What chance decides is not noted: every run has to record the same.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::{env, thread};

/// The lines that this process has written.
static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Notes for the test on whose thread this is called that it saw these clauses at work: one line `test clause` for each, in a
/// file for each target.
///
/// # Panics
///
/// On another thread than a test's, or where the record cannot be written: it would be incomplete.
pub fn note<'a>(clauses: impl IntoIterator<Item = &'a str>) {
    let Some(folder) = env::var_os("COUNTERSIGN_EVIDENCE") else {
        return;
    };
    let thread = thread::current();
    let test = thread.name().filter(|name| *name != "main");
    let test = test.expect("it is noted on the thread of a test");
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = clauses
        .into_iter()
        .map(|clause| format!("{test} {clause}\n"));
    let new: Vec<String> = lines.filter(|line| noted.insert(line.clone())).collect();
    if new.is_empty() {
        return;
    }
    let target = [env!("CARGO_PKG_NAME"), env!("CARGO_CRATE_NAME")].join(" ");
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(Path::new(&folder).join(target));
    file.and_then(|mut file| file.write_all(new.concat().as_bytes()))
        .expect("the record can be written");
}
