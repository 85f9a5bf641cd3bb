//! What a search of a text reports: every property with its verdict, and how far the search went.
//!
//! States are told apart by 64-bit fingerprints, so with 10 million states the chance that a search misses one is about 2 in a
//! million. A changed text is searched breadth first: a property of which no counterexample was found holds only if that search went
//! everywhere.

use std::borrow::Cow;

use crate::judge::Finding;

/// A step in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepText {
    /// When, such as `t=0`.
    pub at: String,
    /// Who acts.
    pub actor: String,
    /// Whom it reaches, such as `network`; nobody where it stays with who acts.
    pub to: Option<String>,
    /// What they do.
    pub action: String,
    /// What changes and comes out by it.
    pub changes: Vec<String>,
}

/// Whether a property is to hold always or sometimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In every run.
    Always,
    /// In some run.
    Sometimes,
}

/// A property and whether it holds.
#[derive(Clone, Debug)]
pub struct PropertyVerdict {
    /// Its name.
    pub name: String,
    /// The clauses that it states.
    pub clauses: Cow<'static, [&'static str]>,
    /// Always or sometimes.
    pub kind: Kind,
    /// Of a broken one what the checker finds where its shortest run ends.
    pub finding: Option<Finding>,
    /// Whether it holds, as far as the search went: what always holds was not broken, what has to be possible was seen.
    pub holds: bool,
    /// The shortest counterexample of one that always holds, the last step being the bad one.
    pub steps: Vec<StepText>,
}

/// What an exhaustive search found.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// States that differ.
    pub unique_states: usize,
    /// Steps, counting each from each state.
    pub transitions: usize,
    /// In steps: the longest run that the search walked. Of a breadth-first one the longest runs of which it has looked at every
    /// one, so that nothing is broken within so many steps that is not said to be.
    pub depth: usize,
    /// Whether the whole graph was searched.
    pub exhaustive: bool,
    /// Every property, those first that always hold.
    pub properties: Vec<PropertyVerdict>,
}

impl CheckReport {
    /// Whether the whole graph was searched and all properties hold.
    pub fn holds(&self) -> bool {
        self.exhaustive && self.properties.iter().all(|property| property.holds)
    }
}

/// So many states of a changed text are searched for its first break, unless it is searched whole.
pub const STATES: usize = 300_000;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The longest runs that it looks at, in steps.
    pub steps: usize,
    /// The most states that it keeps; once it has so many it looks no further.
    pub pairs: usize,
}

impl Default for Limit {
    /// No limit.
    fn default() -> Self {
        Self {
            steps: usize::MAX,
            pairs: usize::MAX,
        }
    }
}

/// What breaks, and how far it was searched for.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The properties that break, each with its shortest counterexample.
    pub properties: Vec<PropertyVerdict>,
    /// The longest runs of which every one was looked at, in steps.
    pub steps: usize,
    /// States that differ, in these runs.
    pub states: usize,
}
