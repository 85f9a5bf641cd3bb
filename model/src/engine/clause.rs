//! Clauses of a text: constants that a wrong id does not compile into, and sets of them. `build.rs` makes them of the registry.

use std::fmt::{self, Debug, Formatter};

/// A clause of one text, by its place in the list of its clauses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clause(pub u8);

/// Several clauses that state the same, the one that names a finding first.
pub type Clauses = &'static [Clause];

static EACH: [Clause; 192] = {
    let mut each = [Clause(0); 192];
    let mut number = 1_u8;
    while (number as usize) < each.len() {
        each[number as usize] = Clause(number);
        number += 1;
    }
    each
};

impl Clause {
    /// The list of this clause alone.
    pub fn alone(self) -> Clauses {
        EACH.get(usize::from(self.0)..=usize::from(self.0))
            .unwrap_or_default()
    }
}

/// How strongly a clause is worded; where the text has no such word, how strongly it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// MUST and MUST NOT.
    Must,
    /// SHOULD and SHOULD NOT.
    Should,
    /// MAY, and whatever obliges nobody.
    May,
}

/// An entry of the list of clauses.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The id, as in the registry of clauses.
    pub id: &'static str,
    /// How strongly it is worded.
    pub level: Level,
    /// What it asks for, in a sentence.
    pub gist: &'static str,
    /// The capabilities and kinds of output that it needs: of an implementation without one of them it says nothing.
    pub needs: &'static [&'static str],
    /// Other names by which the command line takes it where it is left out.
    pub aliases: &'static [&'static str],
    /// The sections of the text whose own code leaves it out.
    pub in_samples: Option<&'static str>,
    /// Why nobody outside finds anything wrong where it is left out.
    pub free: Option<&'static str>,
}

/// Clauses of one text, at most 192.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClauseSet([u64; 3]);

impl ClauseSet {
    /// No clause.
    pub const EMPTY: Self = Self([0; 3]);

    /// Whether the clause is among them.
    pub const fn contains(self, Clause(number): Clause) -> bool {
        self.0[number as usize / 64 % 3] >> (number % 64) & 1 == 1
    }

    /// These and that one.
    #[must_use]
    pub const fn with(mut self, Clause(number): Clause) -> Self {
        self.0[number as usize / 64 % 3] |= 1 << (number % 64);
        self
    }

    /// These and those.
    #[must_use]
    pub fn and(self, others: Clauses) -> Self {
        others.iter().fold(self, |all, clause| all.with(*clause))
    }

    /// The clauses, in the order of the text.
    pub fn iter(self) -> impl Iterator<Item = Clause> {
        let Self(mut rest) = self;
        std::iter::from_fn(move || {
            let (place, word) = (0..).zip(&mut rest).find(|(_, it)| **it != 0)?;
            let bit = u8::try_from(word.trailing_zeros()).ok()?;
            *word &= *word - 1;
            Some(Clause(64 * place + bit))
        })
    }

    /// Whether all of those are among them. Of no clauses it is false: what no clause states no clause lifts.
    pub fn contains_all(self, clauses: Clauses) -> bool {
        !clauses.is_empty() && clauses.iter().all(|clause| self.contains(*clause))
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        matches!(self.0, [0, 0, 0])
    }

    /// The union.
    #[must_use]
    pub const fn union(self, Self(other): Self) -> Self {
        Self([
            self.0[0] | other[0],
            self.0[1] | other[1],
            self.0[2] | other[2],
        ])
    }
}

impl From<Clause> for ClauseSet {
    fn from(clause: Clause) -> Self {
        Self::EMPTY.with(clause)
    }
}

impl Debug for Clause {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        write!(to, "#{}", self.0)
    }
}

impl Debug for ClauseSet {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let number = |number: u8| self.contains(Clause(number)).then_some(number);
        to.debug_set().entries((0..192).filter_map(number)).finish()
    }
}
