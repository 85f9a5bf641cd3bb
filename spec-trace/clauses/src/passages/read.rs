//! A document as it was read: its units in their order, as hashes, and where these stand in a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::text::{Copy, Passage};

/// A sentence, an item, a row, a line of code or a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub passage: Passage,
    /// The hash of its signs.
    pub signs: u32,
    pub is_heading: bool,
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Passage { letters, hash } = self.passage;
        let mark = if self.is_heading { "#" } else { "" };
        write!(formatter, "{mark}{letters}:{hash:016x}")?;
        if self.signs > 0 {
            write!(formatter, ":{:08x}", self.signs)?;
        }
        Ok(())
    }
}

/// The units of a document.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Document(pub Vec<Unit>);

impl From<Document> for String {
    fn from(document: Document) -> String {
        let units: Vec<String> = document.0.iter().map(Unit::to_string).collect();
        units.join(" ")
    }
}

impl TryFrom<String> for Document {
    type Error = String;

    fn try_from(text: String) -> Result<Document, String> {
        let unit = |word: &str| {
            let mut parts = word.trim_start_matches('#').split(':');
            let letters = parts.next()?.parse().ok()?;
            let hash = u64::from_str_radix(parts.next()?, 16).ok()?;
            let signs = parts.next().unwrap_or("0");
            Some(Unit {
                passage: Passage { letters, hash },
                signs: u32::from_str_radix(signs, 16).ok()?,
                is_heading: word.starts_with('#'),
            })
        };
        let units = text
            .split_whitespace()
            .map(|it| unit(it).ok_or_else(|| format!("`{it}` is no unit")));
        units.collect::<Result<_, _>>().map(Document)
    }
}

impl Document {
    /// The document as it stands in a copy.
    #[cfg(test)]
    pub fn of(copy: &Copy) -> Document {
        let unit = |range: Range<usize>| Unit {
            signs: copy.signs(&range),
            is_heading: copy.is_heading(&range),
            passage: copy.passage(range),
        };
        Document(copy.units().into_iter().map(unit).collect())
    }

    /// The units that make up a passage, wherever there are some.
    pub fn runs(&self, wanted: Passage) -> Vec<Range<usize>> {
        let run = |from: usize| {
            let mut letters = 0;
            let mut units = self.0[from..].iter();
            let to = units.position(|it| {
                letters += it.passage.letters;
                letters >= wanted.letters
            })?;
            let units = &self.0[from..=from + to];
            let joined = || units.iter().map(|it| it.passage).reduce(Passage::then);
            let is_it = letters == wanted.letters && joined() == Some(wanted);
            is_it.then_some(from..from + to + 1)
        };
        (0..self.0.len()).filter_map(run).collect()
    }

    /// The section with this unit, from its heading to the next.
    pub fn section(&self, unit: usize) -> Range<usize> {
        let from = (0..=unit).rev().find(|it| self.0[*it].is_heading);
        let to = (unit + 1..self.0.len()).find(|it| self.0[*it].is_heading);
        from.unwrap_or(0)..to.unwrap_or(self.0.len())
    }

    /// With which letter of the copy each unit begins that stands there: as many letters as can stand in this order.
    /// Only letters that `may` stand for one are looked at.
    pub fn align(&self, copy: &Copy, may: &dyn Fn(Range<usize>) -> bool) -> Vec<Option<usize>> {
        let places = self.places(copy);
        let mut links: Vec<Link> = Vec::new();
        // By the letter at which a chain ends, the heaviest that ends no later.
        let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
        for (unit, it) in self.0.iter().enumerate() {
            let stands = places.get(&it.passage).into_iter().flatten();
            let stands = stands.filter(|start| may(**start..**start + it.passage.letters));
            let new = stands.map(|start| {
                let before = ends.range(..=start).next_back().map(|it| *it.1);
                let weight = before.map_or(0, |it| links[it].weight) + it.passage.letters;
                Link {
                    unit,
                    start: *start,
                    weight,
                    before,
                }
            });
            for link in new.collect::<Vec<_>>() {
                let end = link.start + it.passage.letters;
                let best = ends.range(..=end).next_back().map(|it| links[*it.1].weight);
                if best.is_none_or(|best| best < link.weight) {
                    let lighter = ends.range(end..);
                    let lighter = lighter.take_while(|it| links[*it.1].weight <= link.weight);
                    for end in lighter.map(|it| *it.0).collect::<Vec<_>>() {
                        ends.remove(&end);
                    }
                    ends.insert(end, links.len());
                    links.push(link);
                }
            }
        }
        let mut aligned = vec![None; self.0.len()];
        let mut last = ends.last_key_value().map(|it| *it.1);
        while let Some(link) = last.map(|it| &links[it]) {
            aligned[link.unit] = Some(link.start);
            last = link.before;
        }
        aligned
    }

    /// How many letters the units have that stand somewhere.
    pub fn letters_at(&self, starts: &[Option<usize>]) -> usize {
        let units = starts.iter().zip(&self.0);
        let units = units.filter(|(start, _)| start.is_some());
        units.map(|(_, unit)| unit.passage.letters).sum()
    }

    /// Where each unit stands in a copy, from the edge of a word to another.
    pub fn places(&self, copy: &Copy) -> BTreeMap<Passage, Vec<usize>> {
        let wanted: BTreeSet<Passage> = self.0.iter().map(|it| it.passage).collect();
        let lengths: BTreeSet<usize> = wanted.iter().map(|it| it.letters).collect();
        let edges: Vec<bool> = (0..=copy.len()).map(|it| copy.is_edge(it)).collect();
        let mut places: BTreeMap<Passage, Vec<usize>> = BTreeMap::new();
        for start in (0..copy.len()).filter(|it| edges[*it]) {
            for length in &lengths {
                let end = start + length;
                if edges.get(end) != Some(&true) {
                    continue;
                }
                let passage = copy.passage(start..end);
                if wanted.contains(&passage) {
                    places.entry(passage).or_default().push(start);
                }
            }
        }
        places
    }
}

/// A unit at a place, behind others.
struct Link {
    unit: usize,
    start: usize,
    /// The letters of all of them.
    weight: usize,
    before: Option<usize>,
}
