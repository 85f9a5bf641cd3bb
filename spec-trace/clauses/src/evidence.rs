//! Which test saw which clauses at work: the record of a run of all tests, as `spec-trace/evidence.txt` keeps it.
//!
//! The one thing to know: a test that names a clause proves nothing. While `.ci/evidence` runs the tests, their helpers note
//! what comes out: the clause that an executor audits or refuses by, the case that a step of the model witnesses, the rule
//! without which something broke, the clause that a finding names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// The clauses that each test saw; a test by its package, its target and its path, with a space between.
pub type Evidence = BTreeMap<String, BTreeSet<String>>;

/// The widest line of the file.
const WIDTH: usize = 118;

const HEADING: &str = "\
# Which test saw which clauses at work. Recorded by a run of all tests; to refresh after a change:
#
#     .ci/evidence --update
#
# A line for each test, its package, target and path; below it the clauses.
";

/// What is kept, read from the text of the file.
pub fn kept(text: &str) -> Evidence {
    let mut evidence = Evidence::new();
    let mut test = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("    ") {
            Some(clauses) => {
                let known = evidence.entry(test.to_owned()).or_default();
                known.extend(clauses.split(' ').map(str::to_owned));
            }
            None => test = line,
        }
    }
    evidence
}

/// The text of the file.
pub fn text(evidence: &Evidence) -> String {
    let mut text = HEADING.to_owned();
    for (test, clauses) in evidence {
        // Writing to a string cannot fail.
        let _ = write!(text, "{test}");
        let mut column = WIDTH;
        for clause in clauses {
            if column + 1 + clause.len() > WIDTH {
                text += "\n   ";
                column = 3;
            }
            let _ = write!(text, " {clause}");
            column += 1 + clause.len();
        }
        text.push('\n');
    }
    text
}

/// What a run has recorded in a folder: a file for each target, named `package target`, of lines `test clause`.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn recorded(folder: &Path) -> io::Result<Evidence> {
    let mut evidence = Evidence::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let target = entry.file_name().to_string_lossy().into_owned();
        for line in fs::read_to_string(entry.path())?.lines() {
            if let Some((test, clause)) = line.rsplit_once(' ') {
                let seen = evidence.entry(format!("{target} {test}")).or_default();
                seen.insert(clause.to_owned());
            }
        }
    }
    Ok(evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(clauses: usize) -> Evidence {
        let clauses = (1..=clauses).map(|number| format!("T-{number}")).collect();
        [("package target path::test".to_owned(), clauses)].into()
    }

    #[test]
    fn what_is_written_is_read_again() {
        for clauses in [1, 15, 16, 17, 200] {
            let evidence = evidence(clauses);
            let text = text(&evidence);
            assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
            assert_eq!(kept(&text), evidence, "{text}");
        }
    }

    #[test]
    fn a_record_is_read_target_by_target() {
        let folder = std::env::temp_dir().join(format!("evidence-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(
            folder.join("package target"),
            "path::test T-1\npath::test T-2\n",
        )
        .expect("a file");
        let recorded = recorded(&folder).expect("a record");
        fs::remove_dir_all(&folder).expect("it was there");
        assert_eq!(recorded, evidence(2));
    }
}
