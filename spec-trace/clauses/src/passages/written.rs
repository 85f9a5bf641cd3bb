//! Writes the documents and the passages of each clause anew from a copy. No part of the program: whoever adds a clause or a document runs it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::{env, fs};

use super::*;

const HEAD: &str = "\
# Sentences with a normative word that are no clause of their own, each with the reason.
[passed-over]
";

const UNITS: &str = "
# Each document as it was read, unit by unit: its letters, their hash, the hash of its signs where it has any. A heading has a `#`.
";

/// The rows as the copies have them.
pub(super) fn anew(rows: &Rows, copies: &[Copy]) -> Rows {
    let read = all().iter().filter(|it| !rows.of(it).is_empty());
    let titles: BTreeSet<&str> = read.clone().map(|it| it.document.as_str()).collect();
    let holder = |title: &str| {
        let of_it = all().iter().filter(move |it| it.document == title);
        let wanted: Vec<Passage> = of_it
            .flat_map(|it| rows.of(it))
            .flat_map(|it| &it.0)
            .map(|it| it.passage)
            .collect();
        let found = copies.iter().map(|copy| {
            let stand = wanted.iter().filter(|it| !places(**it, copy).is_empty());
            (stand.count(), copy)
        });
        found
            .filter(|it| it.0 > 0)
            .max_by_key(|it| it.0)
            .map(|it| it.1)
    };
    let holders: BTreeMap<&str, Option<&Copy>> =
        titles.iter().map(|it| (*it, holder(it))).collect();
    let of_clause = |clause: &Clause| {
        let mut new: Vec<Row> = Vec::new();
        for old in rows.of(clause) {
            let row = holders[clause.document.as_str()]
                .map_or_else(|| old.clone(), |copy| whole(old, clause, copy));
            if !new.contains(&row) {
                new.push(row);
            }
        }
        (clause.id.as_str().to_owned(), new)
    };
    let passed_over = |(passage, reason): (&Passage, &String)| {
        let mut in_copies = copies.iter().flat_map(|copy| {
            let unit = Document::of(copy);
            let places = places(*passage, copy).into_iter();
            places.map(move |it| joined(&unit, &units(&it, copy)))
        });
        (in_copies.next().unwrap_or(*passage), reason.clone())
    };
    let document = |(title, holder): (&str, Option<&Copy>)| {
        let known = || rows.documents.get(title).cloned();
        let document = holder.map(Document::of).or_else(known);
        (title.to_owned(), document.unwrap_or_default())
    };
    Rows {
        clauses: read.map(of_clause).collect(),
        passed_over: rows.passed_over.iter().map(passed_over).collect(),
        documents: holders.into_iter().map(document).collect(),
    }
}

/// `passages.toml` with these documents.
pub(super) fn written(rows: &Rows) -> String {
    let mut text = HEAD.to_owned();
    for (passage, reason) in &rows.passed_over {
        let _ = writeln!(text, "\"{passage}\" = {reason:?}");
    }
    text += UNITS;
    text += "[documents]\n";
    for (title, document) in &rows.documents {
        let units = String::from(document.clone());
        let _ = writeln!(text, "{title:?} = \"\"\"\n{}\"\"\"", filled(&units));
    }
    text
}

fn row(row: &Row) -> String {
    let words = row.0.iter().map(|it| {
        let only = it.only.map(|it| format!(" #{it}"));
        it.passage.to_string() + &only.unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" or ")
}

/// The whole units with a passage, at its places in the clause's own section if it has some there.
fn whole(old: &Row, clause: &Clause, copy: &Copy) -> Row {
    let document = Document::of(copy);
    let found = old.0.iter().flat_map(|it| places(it.passage, copy));
    let found: Vec<Range<usize>> = found.map(|it| units(&it, copy)).collect();
    if found.is_empty() {
        println!(
            "{}: nowhere stands {}; write its new words",
            clause.id,
            row(old)
        );
        return old.clone();
    }
    let own = found
        .iter()
        .filter(|it| is_own(it, clause, copy, &document));
    let own: Vec<Range<usize>> = own.cloned().collect();
    let runs = if own.is_empty() { found } else { own };
    let mut new: Vec<Words> = Vec::new();
    for run in &runs {
        let passage = joined(&document, run);
        let all = document.runs(passage);
        let only = all.iter().position(|it| it == run).map(|it| it + 1);
        let is_everywhere = all.iter().all(|it| runs.contains(it));
        let words = Words {
            passage,
            only: only.filter(|_| !is_everywhere),
        };
        if !new.contains(&words) {
            new.push(words);
        }
    }
    Row(new)
}

/// Where these words stand, in letters.
fn places(passage: Passage, copy: &Copy) -> Vec<Range<usize>> {
    let starts = 0..(copy.len() + 1).saturating_sub(passage.letters);
    let ranges = starts.map(|it| it..it + passage.letters);
    ranges
        .filter(|it| copy.passage(it.clone()) == passage)
        .collect()
}

/// The units with these letters.
fn units(letters: &Range<usize>, copy: &Copy) -> Range<usize> {
    let all = copy.units();
    let from = all
        .iter()
        .position(|it| it.end > letters.start)
        .unwrap_or(0);
    from..all
        .iter()
        .position(|it| it.end >= letters.end)
        .map_or(all.len(), |it| it + 1)
}

fn joined(document: &Document, run: &Range<usize>) -> Passage {
    let units = document.0[run.clone()].iter().map(|it| it.passage);
    units.reduce(Passage::then).expect("a passage has letters")
}

/// Whether units stand in the section that the clause's id names.
fn is_own(run: &Range<usize>, clause: &Clause, copy: &Copy, document: &Document) -> bool {
    let heading = copy.units()[document.section(run.start).start].clone();
    let heading = copy.place(&heading).text;
    let number = heading.split(' ').next().unwrap_or_default();
    section_of(clause).is_some_and(|it| {
        number
            .strip_prefix(it)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The number of the section that an id names, as in `6.3.4`; `None` where a document has no numbers.
fn section_of(clause: &Clause) -> Option<&str> {
    let (_, rest) = clause.id.as_str().split_once('-')?;
    let (section, _) = rest.rsplit_once('-')?;
    section
        .contains(|it: char| it.is_ascii_digit())
        .then_some(section)
}

/// Words on lines that are no longer than the others of the file.
fn filled(words: &str) -> String {
    let mut text = String::new();
    let mut width = 0;
    for word in words.split(' ') {
        if width + word.len() > 140 {
            text.push('\n');
            width = 0;
        }
        if width > 0 {
            text.push(' ');
        }
        text += word;
        width += word.len() + 1;
    }
    text + "\n"
}

/// Started by a person, and by no run of the tests.
mod by_hand {
    use super::text::KEYWORDS;
    use super::*;
    use crate::{Basis, Level};

    /// `COUNTERSIGN_COPY=DIR cargo test -p countersign-clauses the_rows -- --ignored` writes the documents that are in DIR anew, and makes of
    /// each passage the whole units with its words.
    #[test]
    #[ignore = "by hand: writes files"]
    fn the_rows_are_written_anew_from_a_copy() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let rows = anew(rows(), &copies());
        fs::write(folder.join("passages.toml"), written(&rows)).expect("passages.toml");
        for (file, text) in crate::DOCUMENTS {
            let mut text = text.to_owned();
            for (id, new) in &rows.clauses {
                let Some(start) = text.find(&format!("id = \"{id}\"\n")) else {
                    continue;
                };
                let found = text[start..].find("passages = ").expect(id) + start;
                let end = text[found..].find('\n').expect(id) + found;
                let new: Vec<String> = new.iter().map(row).collect();
                text.replace_range(found..end, &format!("passages = {new:?}"));
            }
            fs::write(folder.join(file), text).expect(file);
        }
    }

    /// The files of the folder that `COUNTERSIGN_COPY` names.
    fn copies() -> Vec<Copy> {
        let folder =
            env::var("COUNTERSIGN_COPY").expect("COUNTERSIGN_COPY is a folder with the documents");
        let paths = fs::read_dir(&folder)
            .expect(&folder)
            .map(|it| it.expect("an entry").path());
        let texts =
            paths.filter_map(|it| Some((it.display().to_string(), fs::read_to_string(it).ok()?)));
        texts.map(|(name, text)| Copy::new(name, text)).collect()
    }

    /// `COUNTERSIGN_COPY=DIR cargo test -p countersign-clauses the_basis -- --ignored` looks for words like MUST in the passages of each clause.
    #[test]
    #[ignore = "by hand: needs the documents"]
    fn the_basis_of_each_clause_follows_from_its_passages() {
        let all: Vec<&Clause> = all().iter().collect();
        let compared = rows().compare(&all, &copies());
        for (clause, beside) in all.iter().zip(&compared.clauses) {
            assert!(
                matches!(beside.state, State::Same | State::Facts),
                "{beside:?}"
            );
            let has_word = beside.passages.iter().any(|it| has_keyword(&it.text));
            let expected: &[Basis] = match clause.document.as_str() {
                "AAEP appendix A" => &[Basis::Informative],
                "AAEP wire facts" => &[Basis::WireFact],
                "Agents API pending-action contract" => {
                    assert!(!has_word, "{}", clause.id);
                    &[Basis::Inferred]
                }
                _ if clause.level == Level::Info => &[Basis::Informative],
                "AAEP confirmation.reply schema" if !has_word => {
                    &[Basis::Normative, Basis::Inferred]
                }
                _ if has_word => &[Basis::Normative],
                _ => &[Basis::Inferred],
            };
            assert!(expected.contains(&clause.basis), "{clause:?}");
        }
    }

    /// Whether one of the words stands there, and not as a part of a name such as `CONFIRMATION_REQUIRED`.
    fn has_keyword(text: &str) -> bool {
        let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
        // Where markup is lost, a word may stick to the one before.
        words.any(|it| KEYWORDS.contains(&it.trim_start_matches(|it: char| !it.is_uppercase())))
    }

    /// `COUNTERSIGN_PASSAGE='its words' cargo test -p countersign-clauses the_row_of -- --ignored --nocapture` prints what to write for them.
    #[test]
    #[ignore = "by hand: prints what a new clause needs"]
    fn the_row_of_a_passage() {
        let words = env::var("COUNTERSIGN_PASSAGE").expect("the words of a passage");
        println!("\"{}\"", Passage::of(&words));
    }
}
