//! Passages: from which words of the documents each clause was read, and what has become of these in a copy.
//!
//! The one thing to know: the project holds no sentence of the documents. `clauses/passages.toml` has each document as the sequence of its
//! units (sentences, items, rows, lines of code, headings), each as a number of letters, their hash, and a hash of the signs among them.
//! The row of a clause has its passages, which are units in a row, by their hash. [`read`] finds in a copy as many units as stand in their
//! order. What is between them is new: it belongs to the sentence that it touches, or stands for itself ([`held`]). What counts as a
//! letter, a sign, the end of a sentence: [`text`]. A test writes the rows anew (`docs/ADDING.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod held;
mod read;
#[cfg(test)]
mod tests;
mod text;
#[cfg(test)]
mod written;

use held::{Fate, Held, New, Page};
use read::Document;
pub use text::{Copy, Passage, Place};

use crate::{Clause, all};

/// What has become of the words of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// They stand there.
    Same,
    /// They stand elsewhere: the clause is to be looked at where it stands now.
    Moved,
    /// They do not stand there as they did: the clause is to be read again.
    Changed,
    /// Nor does anything of their section: the clause has lost its ground.
    Lost,
    /// No file holds its document.
    Absent,
    /// None of the documents states it: it is one of the facts beside them, taken from chapters that are not among them.
    Facts,
}

/// Why a clause is to be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Other words stand there.
    Words,
    /// Words are gone, and nothing new stands there.
    Gone,
    /// There is new text in its sentence.
    Added,
    /// The letters are the same, the signs among them are not.
    Signs,
    /// Its words stand elsewhere.
    Moved,
}

/// A clause beside the text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Beside {
    /// Its id.
    pub id: &'static str,
    /// What has become of its words.
    pub state: State,
    /// Why it is to be read again.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub why: BTreeSet<Why>,
    /// Its passages that stand there; of one that has changed, what stands there now, or where its section begins.
    pub passages: Vec<Place>,
}

/// New text without a normative word, or text from which no clause was read and that has other signs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Added {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The clause of its section that it follows; none, where no clause was read from that section.
    pub after: Option<&'static str>,
    /// What is new in it.
    pub why: Why,
}

/// The clauses beside an editor's copy of the documents.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Compared {
    /// Each document, with the file that holds it.
    pub documents: BTreeMap<&'static str, Option<String>>,
    /// The other files that hold a document, too. They were not compared.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<&'static str, Vec<String>>,
    /// The clauses, in the order of the documents.
    pub clauses: Vec<Beside>,
    /// The headings of the sections that stand elsewhere now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Place>,
    /// The sentences with a word like MUST that no clause was read from, and that stand in the place of none.
    pub uncovered: Vec<Place>,
    /// The other sentences, items, rows and lines that are new.
    pub added: Vec<Added>,
}

impl Compared {
    /// How many clauses are in this state.
    pub fn count(&self, state: State) -> usize {
        self.clauses.iter().filter(|it| it.state == state).count()
    }

    /// Whether there is nothing to read, but in documents that are not there.
    pub fn is_read(&self) -> bool {
        self.uncovered.is_empty()
            && self.added.iter().all(|it| it.after.is_none())
            && self
                .clauses
                .iter()
                .all(|it| matches!(it.state, State::Same | State::Absent | State::Facts))
    }
}

/// Which passages belong to which clause.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rows {
    /// By clause, its passages. A clause without any was read from no passage of its own.
    #[serde(skip)]
    clauses: BTreeMap<String, Vec<Row>>,
    /// Sentences with a normative word that are no clause of their own, each with the reason.
    #[serde(default)]
    passed_over: BTreeMap<Passage, String>,
    /// By title, each document as it was read.
    documents: BTreeMap<String, Document>,
}

/// A passage of a clause. What a document says twice may be divided otherwise the second time.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Row(Vec<Words>);

/// The words of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    passage: Passage,
    /// Which of the places with these words, from 1, where it is not all of them.
    only: Option<usize>,
}

impl TryFrom<String> for Row {
    type Error = String;

    fn try_from(text: String) -> Result<Row, String> {
        let words = |text: &str| {
            let (passage, only) = match text.split_once(" #") {
                Some((passage, only)) => (passage, Some(only)),
                None => (text, None),
            };
            let only = only.map(str::parse).transpose();
            Ok(Words {
                passage: passage.to_owned().try_into()?,
                only: only.map_err(|_| format!("`{text}` names no place"))?,
            })
        };
        text.split(" or ")
            .map(words)
            .collect::<Result<_, _>>()
            .map(Row)
    }
}

impl Row {
    /// The units that it is made of, at each of its places.
    fn runs(&self, document: &Document) -> Vec<Range<usize>> {
        let runs = self.0.iter().flat_map(|it| {
            let all = document.runs(it.passage).into_iter();
            let from = it.only.map_or(0, |only| only.saturating_sub(1));
            all.skip(from).take(it.only.map_or(usize::MAX, |_| 1))
        });
        runs.collect()
    }
}

/// The rows of the documents.
pub fn rows() -> &'static Rows {
    &ROWS
}

const FILE: &str = include_str!("../../passages.toml");

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    // The file is part of the program, and a test reads it: what is wrong with it cannot reach a user.
    let rows = Rows::read(FILE).unwrap_or_else(|error| panic!("passages.toml: {error}"));
    let clauses = all().iter();
    let clauses = clauses.map(|it| (it.id.as_str().to_owned(), it.passages.clone()));
    Rows {
        clauses: clauses.collect(),
        ..rows
    }
});

/// A file is another copy of a document if this share of its letters stands there, and the only one from this on.
const OTHER: usize = 2;
const ONLY: usize = 5;

impl Rows {
    /// Reads the documents as `passages.toml` has them.
    ///
    /// # Errors
    ///
    /// What is no such file, in words.
    pub fn read(text: &str) -> Result<Rows, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// The passages from which a clause was read.
    fn of(&self, clause: &Clause) -> &[Row] {
        let rows = self.clauses.get(clause.id.as_str());
        rows.map_or(&[], Vec::as_slice)
    }

    /// Holds these clauses against a copy; those that have no passage are [`State::Facts`].
    pub fn compare(&self, clauses: &[&'static Clause], copies: &[Copy]) -> Compared {
        let (mut held, others) = self.held(copies);
        let pages = pages(&mut held, copies);
        let mut compared = Compared::default();
        for clause in clauses {
            if self.of(clause).is_empty() {
                compared.clauses.push(Beside {
                    id: clause.id.as_str(),
                    state: State::Facts,
                    why: BTreeSet::new(),
                    passages: Vec::new(),
                });
                continue;
            }
            let title = clause.document.as_str();
            let held = held.iter().find(|it| it.title == title);
            let file = held.map(|it| copies[it.copy].name.clone());
            compared.documents.insert(title, file);
            if let Some(others) = others.get(title) {
                compared.others.insert(title, others.clone());
            }
            compared.clauses.push(self.beside(clause, held, &pages));
        }
        let is_asked = |(copy, _): &(&usize, _)| {
            let mut of_it = held.iter().filter(|it| it.copy == **copy);
            of_it.any(|it| compared.documents.contains_key(it.title))
        };
        let asked: Vec<&Page<'_>> = pages.iter().filter(is_asked).map(|it| it.1).collect();
        for page in asked {
            let instead = page.instead(&held);
            let mut uncovered = page.uncovered(|(document, unit)| {
                let held = &held[document];
                !held.clauses[unit].is_empty() || self.is_passed_over(held, unit)
            });
            uncovered.retain(|it| !instead.contains(it));
            for New {
                sentence,
                near,
                why,
            } in page.added(&held)
            {
                let at = (sentence.start, sentence.end);
                if !uncovered.contains(&at) && !instead.contains(&at) {
                    compared.added.push(Added {
                        place: page.copy.place(&sentence),
                        after: near.and_then(|(document, unit)| held[document].clause_near(unit)),
                        why,
                    });
                }
            }
            compared.moved.extend(page.moved(&held));
            let uncovered = uncovered.into_iter();
            let uncovered = uncovered.map(|(start, end)| page.copy.place(&(start..end)));
            compared.uncovered.extend(uncovered);
        }
        compared
    }

    fn is_passed_over(&self, held: &Held<'_>, unit: usize) -> bool {
        let mut runs = self
            .passed_over
            .keys()
            .flat_map(|it| held.document.runs(*it));
        runs.any(|it| it.contains(&unit))
    }

    /// The documents that a copy holds, and the other files that do.
    fn held<'a>(&'a self, copies: &[Copy]) -> (Vec<Held<'a>>, BTreeMap<&'a str, Vec<String>>) {
        let mut others: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut all_held = Vec::new();
        for (title, document) in &self.documents {
            let found = copies.iter().enumerate().map(|(copy, it)| {
                let units = fates(document, it);
                (standing(document, &units), copy, units)
            });
            let mut found: Vec<(usize, usize, Vec<Fate>)> = found.collect();
            let letters: usize = document.0.iter().map(|it| it.passage.letters).sum();
            let whole = standing(
                document,
                &vec![
                    Fate {
                        start: Some(0),
                        ..Fate::default()
                    };
                    document.0.len()
                ],
            );
            // Of two files, one of which is as it was read, the other is the one that has been edited.
            let is_as_read = |copy: usize, units: &[Fate]| {
                copies[copy].len() == letters && units.iter().all(|it| it.why().is_none())
            };
            found.retain(|it| it.0 * ONLY >= whole && it.0 > 0);
            let best = found.iter().map(|it| it.0).max().unwrap_or(0);
            found.retain(|it| it.0 == best || it.0 * OTHER >= whole);
            found.sort_by_key(|(standing, copy, units)| {
                (is_as_read(*copy, units), whole - standing, *copy)
            });
            let mut found = found.into_iter();
            if let Some((_, copy, mut units)) = found.next() {
                find_sentences(document, &copies[copy], &mut units);
                all_held.push(Held {
                    title,
                    document,
                    copy,
                    units,
                    clauses: self.by_unit(title, document),
                });
            }
            let rest: Vec<String> = found.map(|it| copies[it.1].name.clone()).collect();
            if !rest.is_empty() {
                others.insert(title, rest);
            }
        }
        (all_held, others)
    }

    /// The clauses that were read from each unit of a document.
    fn by_unit(&self, title: &str, document: &Document) -> Vec<Vec<&'static str>> {
        let mut clauses = vec![Vec::new(); document.0.len()];
        for clause in all().iter().filter(|it| it.document == title) {
            let rows = self.of(clause).iter();
            let units: BTreeSet<usize> = rows.flat_map(|it| it.runs(document)).flatten().collect();
            for unit in units {
                clauses[unit].push(clause.id.as_str());
            }
        }
        clauses
    }

    fn beside(
        &self,
        clause: &'static Clause,
        held: Option<&Held<'_>>,
        pages: &BTreeMap<usize, Page<'_>>,
    ) -> Beside {
        let mut beside = Beside {
            id: clause.id.as_str(),
            state: State::Absent,
            why: BTreeSet::new(),
            passages: Vec::new(),
        };
        let Some(held) = held else {
            return beside;
        };
        let page = &pages[&held.copy];
        let mut runs = Vec::new();
        for row in self.of(clause) {
            let all = row.runs(held.document);
            let why = |run: &Range<usize>| run.clone().filter_map(|it| held.why(it, page));
            // What a document says twice may be gone once, with all around it.
            let (gone, left): (Vec<_>, Vec<_>) =
                all.iter().cloned().partition(|it| held.is_gone(it));
            let broken: Vec<_> = left.iter().filter(|it| why(it).next().is_some()).collect();
            let told = if left.is_empty() { &gone } else { &left };
            beside.why.extend(told.iter().flat_map(why));
            let whole = left.first().filter(|_| broken.is_empty());
            match whole {
                Some(run) => beside.passages.push(page.standing(held, run)),
                None => beside
                    .passages
                    .extend(broken.iter().flat_map(|it| held.places(it, page))),
            }
            runs.extend(all);
        }
        // The first passage is the rule; the others are its heading, and what says it again.
        let mut rule = self.of(clause)[0].runs(held.document).into_iter();
        beside.state = match beside.why.is_empty() {
            true => State::Same,
            false if beside.why.iter().all(|it| *it == Why::Moved) => State::Moved,
            false if rule.all(|it| held.is_gone(&it)) => State::Lost,
            false => State::Changed,
        };
        if beside.passages.is_empty() && beside.state == State::Changed {
            beside
                .passages
                .extend(runs.first().and_then(|it| held.before(it.start, page)));
        }
        let mut seen = BTreeSet::new();
        beside.passages.retain(|it| seen.insert(it.clone()));
        beside
    }
}

/// What has become of each unit of a document in a copy.
fn fates(document: &Document, copy: &Copy) -> Vec<Fate> {
    let mut starts = document.align(copy, &|_| true);
    let moved = moved(document, copy, &mut starts);
    let aligned = starts.into_iter().zip(moved).zip(&document.0);
    let fate = aligned.map(|((start, has_moved), unit)| Fate {
        start,
        other_signs: start
            .is_some_and(|it| copy.signs(&(it..it + unit.passage.letters)) != unit.signs),
        is_extended: false,
        has_moved,
    });
    fate.collect()
}

/// A section has moved if at least this share of its letters stands in a row elsewhere, and its heading, and no more than the other where
/// it was.
const MOVED: usize = 2;
const LEFT: usize = 5;

/// Looks for the sections that do not stand where they were in the text that belongs to no other: which units have moved.
fn moved(document: &Document, copy: &Copy, starts: &mut [Option<usize>]) -> Vec<bool> {
    let letters = |unit: usize| document.0[unit].passage.letters;
    let mut is_free = vec![true; copy.len()];
    for (unit, start) in starts.iter().enumerate() {
        let taken = start.map_or(0..0, |it| it..it + letters(unit));
        is_free[taken].fill(false);
    }
    let mut has_moved = vec![false; starts.len()];
    let headings = (0..starts.len()).filter(|it| document.0[*it].is_heading);
    for heading in headings.collect::<Vec<_>>() {
        let section = document.section(heading);
        let whole: usize = section.clone().map(letters).sum();
        let of_it = Document(document.0[section.clone()].to_vec());
        let left = of_it.letters_at(&starts[section.clone()]);
        if starts[heading].is_some() || left * LEFT >= whole {
            continue;
        }
        let found = of_it.align(copy, &|it| is_free[it].iter().all(|free| *free));
        if found[0].is_none() || of_it.letters_at(&found) * MOVED < whole {
            continue;
        }
        for (unit, start) in section.zip(found) {
            starts[unit] = start;
            has_moved[unit] = start.is_some();
            let taken = start.map_or(0..0, |it| it..it + letters(unit));
            is_free[taken].fill(false);
        }
    }
    has_moved
}

/// A sentence with fewer letters may stand elsewhere by chance.
const OWN: usize = 30;

/// Looks for the sentences that do not stand where they were in the text that belongs to no other.
fn find_sentences(document: &Document, copy: &Copy, units: &mut [Fate]) {
    let letters = |unit: usize| document.0[unit].passage.letters;
    let mut is_free = vec![true; copy.len()];
    for (unit, fate) in units.iter().enumerate() {
        is_free[fate.start.map_or(0..0, |it| it..it + letters(unit))].fill(false);
    }
    let is_sought = |it: &usize| units[*it].start.is_none() && letters(*it) >= OWN;
    let sought: Vec<usize> = (0..units.len()).filter(is_sought).collect();
    let of_it = Document(sought.iter().map(|it| document.0[*it]).collect());
    let places = of_it.places(copy);
    for unit in sought {
        let mut starts = places.get(&document.0[unit].passage).into_iter().flatten();
        let at = |start: usize| start..start + letters(unit);
        let Some(start) = starts.find(|it| is_free[at(**it)].iter().all(|free| *free)) else {
            continue;
        };
        is_free[at(*start)].fill(false);
        units[unit] = Fate {
            start: Some(*start),
            other_signs: copy.signs(&at(*start)) != document.0[unit].signs,
            has_moved: true,
            ..Fate::default()
        };
    }
}

/// How many letters stand there, in units that are no words of everyday.
fn standing(document: &Document, units: &[Fate]) -> usize {
    let letters = document.0.iter().map(|it| it.passage.letters);
    let stand = letters.zip(units).filter(|(_, it)| it.start.is_some());
    stand.map(|it| it.0).filter(|it| *it > 20).sum()
}

/// The copies that hold documents; tells each unit whether there is new text in its sentence.
fn pages<'a>(held: &mut [Held<'_>], copies: &'a [Copy]) -> BTreeMap<usize, Page<'a>> {
    let mut pages: BTreeMap<usize, Page<'a>> = BTreeMap::new();
    for (document, it) in held.iter().enumerate() {
        let copy = &copies[it.copy];
        let page = pages.entry(it.copy).or_insert_with(|| Page {
            copy,
            owners: vec![None; copy.len()],
        });
        for (unit, fate) in it.units.iter().enumerate() {
            let letters = it.document.0[unit].passage.letters;
            let owned = fate.start.map_or(0..0, |it| it..it + letters);
            page.owners[owned].fill(Some((document, unit)));
        }
    }
    for (document, unit) in pages.values().flat_map(Page::extended) {
        held[document].units[unit].is_extended = true;
    }
    pages
}
