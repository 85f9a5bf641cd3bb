//! `countersign clauses --against DIR`: the clauses beside an editor's copy of the documents.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_clauses::passages::{self, Added, Beside, Compared, Copy, Place, State, Why};
use countersign_clauses::{Clause, get};
use miette::{IntoDiagnostic as _, WrapErr as _};
use serde_json::json;

use super::{WIDTH, hanging};
use crate::answer::{Answer, Format, Status};
use crate::terminal::Terminal;

/// What a document may be kept as.
const EXTENSIONS: [&str; 8] = [
    "md", "txt", "json", "rst", "adoc", "html", "mdx", "markdown",
];

/// Holds the clauses against a copy, and shows all of them, or those that have `changed`.
pub(super) fn run(
    clauses: &[&'static Clause],
    copy: &Path,
    changed: bool,
    format: Format,
) -> miette::Result<Answer> {
    let mut compared = compared(clauses, copy)?;
    let status = status(&compared);
    let totals = totals(&compared);
    if changed {
        let is_as_read = |it: &Beside| matches!(it.state, State::Same | State::Facts);
        compared.clauses.retain(|it| !is_as_read(it));
    }
    Ok(match format {
        Format::Json => Answer::json(&json!(compared), status),
        Format::Text => Answer {
            text: render(&compared, &totals),
            status,
        },
    })
}

/// What has become of the clauses in a copy.
///
/// # Errors
///
/// A copy that cannot be read, or holds none of the documents.
pub(crate) fn compared(clauses: &[&'static Clause], copy: &Path) -> miette::Result<Compared> {
    let copies = read(copy)?;
    let compared = passages::rows().compare(clauses, &copies);
    let absent = compared.count(State::Absent);
    if absent > 0 && absent + compared.count(State::Facts) == compared.clauses.len() {
        return Err(miette::miette!(
            help = "pass the documents themselves, as Markdown, plain text or JSON",
            "no document of the clauses in {} ({} files)",
            copy.display(),
            copies.len()
        ));
    }
    Ok(compared)
}

/// What has to be read again is a violation; where a document is in no file, or nothing stands in a document, the verdict is open.
pub(crate) fn status(compared: &Compared) -> Status {
    let is_compared = compared.count(State::Facts) < compared.clauses.len();
    match (compared.is_read(), compared.count(State::Absent)) {
        (true, 0) => Status::if_exercised(is_compared),
        (true, _) => Status::Inconclusive,
        (false, _) => Status::Violated,
    }
}

/// Every document in a folder and those below it, or one file.
fn read(at: &Path) -> miette::Result<Vec<Copy>> {
    let mut copies = Vec::new();
    for path in files(at)? {
        let name = path.display().to_string();
        let bytes = fs::read(&path).into_diagnostic();
        let bytes = bytes.wrap_err_with(|| format!("{name}: it cannot be read"))?;
        // What is no text is no document.
        if let Ok(text) = String::from_utf8(bytes) {
            copies.push(Copy::new(name, text));
        }
    }
    Ok(copies)
}

/// The files that may be documents, in the order of their names. Folders whose name begins with a dot are passed over.
fn files(at: &Path) -> miette::Result<Vec<PathBuf>> {
    let told = || format!("{}: it cannot be read", at.display());
    let kind = fs::metadata(at).into_diagnostic().wrap_err_with(told)?;
    if kind.is_file() {
        return Ok(vec![at.to_owned()]);
    }
    let entries = fs::read_dir(at).into_diagnostic().wrap_err_with(told)?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|it| it.map(|it| it.path())).collect();
    let mut paths = paths.into_diagnostic().wrap_err_with(told)?;
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') {
            found.extend(files(&path)?);
        } else if path.is_file() && EXTENSIONS.contains(&extension.to_lowercase().as_str()) {
            found.push(path);
        }
    }
    Ok(found)
}

fn render(compared: &Compared, totals: &str) -> String {
    let mut text = String::new();
    for (title, file) in &compared.documents {
        let _ = writeln!(text, "{title}: {}", file.as_deref().unwrap_or("in no file"));
        for other in compared.others.get(title).into_iter().flatten() {
            let _ = writeln!(text, "  {other} holds it, too, and was NOT compared");
        }
    }
    text.push('\n');
    for it in &compared.clauses {
        text += &beside(it);
    }
    if !compared.moved.is_empty() {
        text += "\nSections that stand elsewhere now\n";
        text += &places(&compared.moved);
    }
    if !compared.uncovered.is_empty() {
        text += "\nNormative sentences that no clause covers\n";
        text += &places(&compared.uncovered);
    }
    if !compared.added.is_empty() {
        text += "\nOther text that is new\n";
        for it in &compared.added {
            text += &places(std::slice::from_ref(&it.place));
            text += &hanging("      ", &near(it));
        }
    }
    text + "\n" + &hanging("", totals)
}

/// How many clauses are in which state, in a line.
pub(crate) fn totals(compared: &Compared) -> String {
    let count = |state| compared.count(state);
    let mut text = format!(
        "{} clauses as they were read, {} to read again, {} without their section",
        count(State::Same),
        count(State::Changed),
        count(State::Lost),
    );
    if count(State::Moved) > 0 {
        let _ = write!(text, ", {} that have moved", count(State::Moved));
    }
    if count(State::Facts) > 0 {
        let _ = write!(text, ", {} that no document states", count(State::Facts));
    }
    if count(State::Absent) > 0 {
        let _ = write!(text, ", {} without their document", count(State::Absent));
    }
    let _ = write!(
        text,
        "; {} sentences without a clause",
        compared.uncovered.len()
    );
    if !compared.added.is_empty() {
        let _ = write!(text, ", {} other pieces of new text", compared.added.len());
    }
    text
}

/// Where new text stands, and if it is its signs alone that are new.
pub(crate) fn near(added: &Added) -> String {
    let near = added.after.map_or_else(
        || "in a section that no clause was read from".to_owned(),
        |id| format!("behind {id}"),
    );
    if added.why == Why::Signs {
        near + ": " + in_words(Why::Signs)
    } else {
        near
    }
}

/// Why a clause is to be read again, in words.
pub(crate) fn why(beside: &Beside) -> String {
    let words = beside.why.iter().map(|it| in_words(*it));
    words.collect::<Vec<_>>().join(", ")
}

fn in_words(why: Why) -> &'static str {
    match why {
        Why::Words => "other words",
        Why::Gone => "words are gone",
        Why::Added => "new text in its sentence",
        Why::Signs => "the same letters with other signs or capitals",
        Why::Moved => "its words stand elsewhere",
    }
}

/// A clause with what has become of its words, and these.
fn beside(it: &Beside) -> String {
    // A clause that was compared is one that exists.
    let Ok(clause) = get(it.id) else {
        return String::new();
    };
    let state = match it.state {
        State::Same => String::new(),
        State::Changed => format!("CHANGED ({}), read it again: ", why(it)),
        State::Moved => "its words have MOVED: ".to_owned(),
        State::Lost => "its section is GONE: ".to_owned(),
        State::Absent => "not compared, no file holds its document: ".to_owned(),
        State::Facts => format!("not compared, {FACTS}: "),
    };
    let head = format!("{:<13}  {:<8}  ", clause.id, clause.level);
    hanging(
        &head,
        &format!("{state}{}", clause.basis.behind(&clause.gist)),
    ) + &places(&it.passages)
}

/// Why a clause on the wire has no passage.
const FACTS: &str = "a fact beside the documents, which none of them states";

/// Each with its words behind it, or below, where there is little room behind.
fn places(places: &[Place]) -> String {
    let half = Terminal::of_stdout().at_most(WIDTH) / 2;
    let place = |it: &Place| {
        let at = format!("    {}:{}  ", it.file, it.line);
        if at.chars().count() <= half {
            return hanging(&at, &it.text);
        }
        hanging("    ", at.trim()) + &hanging("      ", &it.text)
    };
    places.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_to_be_read_again_outweighs_a_document_that_is_nowhere() {
        let place = || Place {
            file: "copy.md".to_owned(),
            line: 1,
            text: "It MUST.".to_owned(),
        };
        let of = |states: &[State], uncovered: usize, added_to: &[Option<&'static str>]| {
            let beside = |state: &State| Beside {
                id: "PA-5",
                state: *state,
                why: BTreeSet::new(),
                passages: Vec::new(),
            };
            let added = |after: Option<&'static str>| Added {
                place: place(),
                after,
                why: Why::Added,
            };
            status(&Compared {
                clauses: states.iter().map(beside).collect(),
                uncovered: vec![place(); uncovered],
                added: added_to.iter().copied().map(added).collect(),
                ..Compared::default()
            })
        };
        assert_eq!(of(&[State::Same], 0, &[]), Status::Holds);
        assert_eq!(of(&[State::Same], 1, &[]), Status::Violated);
        assert_eq!(
            of(&[State::Same], 0, &[None, Some("PA-5")]),
            Status::Violated
        );
        // Text far from every clause is told, and is nothing to read again.
        assert_eq!(of(&[State::Same], 0, &[None]), Status::Holds);
        assert_eq!(
            of(&[State::Same, State::Absent], 0, &[None]),
            Status::Inconclusive
        );
        assert_eq!(
            of(&[State::Absent, State::Changed], 0, &[]),
            Status::Violated
        );
        assert_eq!(of(&[State::Lost], 0, &[]), Status::Violated);
        assert_eq!(of(&[State::Moved], 0, &[]), Status::Violated);
        // A fact beside the documents is no reason to read again, and alone nothing that was compared.
        assert_eq!(of(&[State::Same, State::Facts], 0, &[]), Status::Holds);
        assert_eq!(of(&[State::Facts], 0, &[]), Status::Inconclusive);
    }
}
