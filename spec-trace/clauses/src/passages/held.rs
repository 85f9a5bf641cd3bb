//! A document beside the copy that holds it: what has become of each unit, and what is new.

use std::collections::BTreeSet;
use std::ops::Range;

use super::Why;
use super::read::Document;
use super::text::{Copy, Place};

/// A document and the copy that holds it.
pub(super) struct Held<'a> {
    pub title: &'a str,
    pub document: &'a Document,
    /// Which of the copies.
    pub copy: usize,
    pub units: Vec<Fate>,
    /// The clauses that were read from each unit.
    pub clauses: Vec<Vec<&'static str>>,
}

/// What has become of a unit.
#[derive(Clone, Copy, Default)]
pub(super) struct Fate {
    /// With which letter of the copy it begins.
    pub start: Option<usize>,
    /// Its signs are others.
    pub other_signs: bool,
    /// New text stands in its sentence.
    pub is_extended: bool,
    /// It stands elsewhere, alone or with its section.
    pub has_moved: bool,
}

impl Fate {
    /// Why its clauses are to be read again, as far as the unit alone shows.
    pub fn why(self) -> Option<Why> {
        match self {
            Fate { start: None, .. } => Some(Why::Words),
            it if it.is_extended => Some(Why::Added),
            it if it.other_signs => Some(Why::Signs),
            it if it.has_moved => Some(Why::Moved),
            _ => None,
        }
    }
}

impl Held<'_> {
    /// Why the clauses of a unit are to be read again.
    pub fn why(&self, unit: usize, page: &Page<'_>) -> Option<Why> {
        let why = self.units[unit].why()?;
        let is_gone = why == Why::Words && self.instead(unit, page).is_none();
        Some(if is_gone { Why::Gone } else { why })
    }

    /// Whether nothing of the sections with these units stands.
    pub fn is_gone(&self, run: &Range<usize>) -> bool {
        let section =
            self.document.section(run.start).start..self.document.section(run.end - 1).end;
        self.units[section].iter().all(|it| it.start.is_none())
    }

    /// The last clause before a unit in its section, or else the first behind it.
    pub fn clause_near(&self, unit: usize) -> Option<&'static str> {
        let section = self.document.section(unit);
        let before = (section.start..=unit).rev();
        let mut units = before.chain(unit..section.end);
        units.find_map(|it| self.clauses[it].first().copied())
    }

    /// Where to look for what has changed in these units: in their sentences, or in the new text where they stood.
    pub fn places(&self, run: &Range<usize>, page: &Page<'_>) -> Vec<Place> {
        let changed = run.clone().filter(|it| self.units[*it].why().is_some());
        let found = changed.filter_map(|unit| match self.units[unit].start {
            Some(start) => Some(page.copy.sentence(start)),
            None => self.instead(unit, page),
        });
        found.map(|it| page.copy.place(&it)).collect()
    }

    /// The new text where a unit stood: each of several missing ones has its own, as far as there are.
    fn instead(&self, unit: usize, page: &Page<'_>) -> Option<Range<usize>> {
        let stands = |it: &usize| self.units[*it].start.is_some() && !self.units[*it].has_moved;
        let before = (0..unit).rev().find(stands);
        let behind = (unit..self.units.len()).find(stands);
        let end =
            |it: usize| self.units[it].start.unwrap_or(0) + self.document.0[it].passage.letters;
        let from = before.map_or(0, end);
        let to = behind.and_then(|it| self.units[it].start);
        let new = page.pieces(from..to.unwrap_or(page.copy.len()));
        let missing = unit - before.map_or(0, |it| it + 1);
        new.get(missing.min(new.len().checked_sub(1)?)).cloned()
    }

    /// The heading of a unit's section, or else what stands before it.
    pub fn before(&self, unit: usize, page: &Page<'_>) -> Option<Place> {
        let heading = self.document.section(unit).start;
        let mut units = std::iter::once(heading).chain((0..unit).rev());
        let start = units.find_map(|it| self.units[it].start)?;
        Some(page.copy.place(&page.copy.sentence(start)))
    }
}

/// A copy that holds documents.
pub(super) struct Page<'a> {
    pub copy: &'a Copy,
    /// To which unit of which document each letter belongs; to none, where the text is new.
    pub owners: Vec<Option<(usize, usize)>>,
}

impl Page<'_> {
    /// The words of units that stand in a row.
    pub fn standing(&self, held: &Held<'_>, run: &Range<usize>) -> Place {
        let from = held.units[run.start].start.unwrap_or(0);
        let last = run.end - 1;
        let to = held.units[last]
            .start
            .map_or(from, |it| it + held.document.0[last].passage.letters);
        self.copy.place(&(from..to))
    }

    /// What is new among these letters.
    fn new_in(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for letter in range.filter(|it| self.owners[*it].is_none()) {
            match runs.last_mut() {
                Some(run) if run.end == letter => run.end += 1,
                _ => runs.push(letter..letter + 1),
            }
        }
        runs
    }

    /// The same by sentences, these whole.
    fn pieces(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let new = self.new_in(range).into_iter().flatten();
        let starts = new.filter(|it| self.starts_new(*it));
        let mut pieces: Vec<Range<usize>> = starts.map(|it| self.copy.sentence(it)).collect();
        pieces.dedup();
        pieces
    }

    fn starts_new(&self, letter: usize) -> bool {
        letter == 0 || self.owners[letter - 1].is_some() || self.copy.divides(letter)
    }

    /// The sentences that stand in the place of units from which clauses were read.
    pub fn instead(&self, held: &[Held<'_>]) -> BTreeSet<(usize, usize)> {
        let documents: BTreeSet<usize> = self.owners.iter().flatten().map(|it| it.0).collect();
        let of_it = documents.into_iter().map(|it| &held[it]);
        let sentences = of_it.flat_map(|held| {
            let units = (0..held.units.len())
                .filter(|it| held.units[*it].start.is_none() && !held.clauses[*it].is_empty());
            units.filter_map(|it| held.instead(it, self))
        });
        sentences.map(|it| (it.start, it.end)).collect()
    }

    /// The headings that stand elsewhere now, with their sections.
    pub fn moved(&self, held: &[Held<'_>]) -> Vec<Place> {
        let documents: BTreeSet<usize> = self.owners.iter().flatten().map(|it| it.0).collect();
        let of_it = documents.into_iter().map(|it| &held[it]);
        let of_it = of_it.flat_map(|it| it.units.iter().zip(&it.document.0));
        let starts = of_it.filter(|(fate, unit)| fate.has_moved && unit.is_heading);
        let starts = starts.filter_map(|(fate, _)| fate.start);
        let places = starts.map(|it| self.copy.place(&self.copy.sentence(it)));
        places.collect()
    }

    /// The units in whose sentence there is new text.
    pub fn extended(&self) -> Vec<(usize, usize)> {
        let mut units = Vec::new();
        for run in self.new_in(0..self.owners.len()) {
            if !self.copy.divides(run.start) {
                units.extend(self.owners[run.start - 1]);
            }
            if !self.copy.divides(run.end) {
                units.extend(self.owners[run.end]);
            }
        }
        units
    }

    /// The sentences with a normative word that belongs to no unit which was read.
    pub fn uncovered(&self, is_read: impl Fn((usize, usize)) -> bool) -> BTreeSet<(usize, usize)> {
        let words = self.copy.keywords().into_iter();
        let words = words.filter(|it| !self.owners[*it].is_some_and(&is_read));
        let sentences = words.map(|it| self.copy.sentence(it));
        sentences.map(|it| (it.start, it.end)).collect()
    }

    /// The sentences with something new that no clause tells.
    pub fn added(&self, held: &[Held<'_>]) -> Vec<New> {
        let is_told = |it: &Option<(usize, usize)>| {
            it.is_some_and(|(document, unit)| {
                let held = &held[document];
                held.units[unit].is_extended && !held.clauses[unit].is_empty()
            })
        };
        let mut new = self.pieces(0..self.owners.len());
        new.retain(|it| !self.owners[it.clone()].iter().any(is_told));
        let mut new: Vec<_> = new.into_iter().map(|it| (it, Why::Added)).collect();
        for (letter, owner) in self.owners.iter().enumerate() {
            let has_other_signs = owner.is_some_and(|(document, unit)| {
                let fate = held[document].units[unit];
                fate.other_signs
                    && fate.start == Some(letter)
                    && held[document].clauses[unit].is_empty()
            });
            if has_other_signs {
                new.push((self.copy.sentence(letter), Why::Signs));
            }
        }
        new.sort_by_key(|it| it.0.start);
        new.dedup_by_key(|it| it.0.clone());
        let near = |it: &Range<usize>| {
            let before = self.owners[..it.end].iter().rev().find_map(|it| *it);
            before.or_else(|| self.owners[it.end..].iter().find_map(|it| *it))
        };
        let new = new.into_iter().map(|(sentence, why)| New {
            near: near(&sentence),
            sentence,
            why,
        });
        new.collect()
    }
}

/// A sentence with something new that no clause tells.
pub(super) struct New {
    pub sentence: Range<usize>,
    /// The unit that it follows, or else the next.
    pub near: Option<(usize, usize)>,
    pub why: Why,
}
