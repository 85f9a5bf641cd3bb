//! The lines of a source tree that name a clause: a search of plain text.

use std::fs;
use std::path::Path;

use countersign_clauses::links::{Kind, Link};
use miette::{IntoDiagnostic as _, WrapErr as _};

use crate::show::words::{printable, shortened};

/// The widest text of a line that is kept, in columns.
const LONGEST: usize = 200;

/// The lines of the text files below a folder, in the order of their paths. Hidden entries, links and folders called `target`
/// are left out.
#[derive(Debug, Default)]
pub struct Tree {
    /// Each file as seen from the folder, with its text.
    pub files: Vec<(String, String)>,
}

impl Tree {
    /// Reads the folder.
    ///
    /// # Errors
    ///
    /// A folder or file that cannot be read.
    pub fn read(folder: &Path) -> miette::Result<Self> {
        let mut tree = Self::default();
        tree.add(folder, "")?;
        tree.files.sort();
        Ok(tree)
    }

    fn add(&mut self, folder: &Path, above: &str) -> miette::Result<()> {
        let cannot =
            |path: &Path| format!("cannot read {}", printable(&path.display().to_string()));
        let entries = fs::read_dir(folder).into_diagnostic();
        for entry in entries.wrap_err_with(|| cannot(folder))? {
            let entry = entry.into_diagnostic().wrap_err_with(|| cannot(folder))?;
            let (name, path) = (entry.file_name(), entry.path());
            let name = name.to_string_lossy();
            let kind = entry.file_type().into_diagnostic();
            let kind = kind.wrap_err_with(|| cannot(&path))?;
            let seen = format!("{above}{name}");
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() && name != "target" {
                self.add(&path, &format!("{seen}/"))?;
            } else if kind.is_file() {
                let bytes = fs::read(&path).into_diagnostic();
                let bytes = bytes.wrap_err_with(|| cannot(&path))?;
                // A file with a zero byte is no text.
                if !bytes.contains(&0) {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    self.files.push((seen, text));
                }
            }
        }
        Ok(())
    }

    /// The lines that name the clause, each with its place and its text.
    pub fn naming(&self, id: &str) -> Vec<Link> {
        let lines = self.files.iter().flat_map(|(file, text)| {
            let lines = (1..).zip(text.lines());
            lines.map(move |(number, line)| (file, number, line))
        });
        let naming = lines.filter(|(_, _, line)| names(line, id));
        let naming = naming.map(|(file, number, line): (_, usize, _)| Link {
            kind: Kind::Mention,
            name: shortened(printable(line).trim(), LONGEST),
            at: Some(printable(&format!("{file}:{number}"))),
        });
        naming.collect()
    }
}

/// Whether a line names the clause in full: no longer word and no longer number begins or ends with the id.
pub fn names(line: &str, id: &str) -> bool {
    line.match_indices(id).any(|(start, _)| {
        let mut after = line[start + id.len()..].chars();
        let goes_on = match after.next() {
            Some('-') => after.next().is_some_and(char::is_alphanumeric),
            Some('.') => after.next().is_some_and(|it| it.is_ascii_digit()),
            next => next.is_some_and(char::is_alphanumeric),
        };
        let is_inside = |it: char| it.is_alphanumeric() || "-_".contains(it);
        !goes_on && !line[..start].ends_with(is_inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_named_only_as_a_whole() {
        let id = "AAEP-6.3.4-4";
        for line in [
            "AAEP-6.3.4-4",
            "// AAEP-6.3.4-4: late.",
            "AAEP-6.3.4-40, and AAEP-6.3.4-4.",
            "(`AAEP-6.3.4-4`)",
            "AAEP-6.3.4-4/AAEP-6.3.4-5",
            "ü AAEP-6.3.4-4 ü",
        ] {
            assert!(names(line, id), "{line}");
        }
        for line in [
            "AAEP-6.3.4-40",
            "AAEP-6.3.4-4.1",
            "AAEP-6.3.4-4-1",
            "AAEP-6.3.4-4a",
            "XAAEP-6.3.4-4",
            "X-AAEP-6.3.4-4",
            "_AAEP-6.3.4-4",
            "AAEP-6.3.4",
            "",
        ] {
            assert!(!names(line, id), "{line}");
        }
    }
}
