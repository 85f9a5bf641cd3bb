//! One monitor for each concern. Each is fed the records of one session in the order of the stream, keeps what it needs
//! and no more, and writes what it finds into [`Notes`].
//!
//! | monitor | clauses |
//! |---|---|
//! | [`lifecycle`] | A.1, A.8.2, A.8.3 |
//! | [`tools`] | A.3, A.8.1 |
//! | [`asking`] | 6.1 (asking again), 6.4.1, A.4 (the state while asking) |
//! | [`authorisation`] | A.7.4, A.8.4, A.8.5, 6.1 (acting too early), 6.3.5 |
//! | [`resolution`] | A.4 (what follows a decision), 6.1 (after a rejection) |
//! | [`sequence`] | none: it tells where the record is incomplete |
//!
//! Authorisation, resolution and part of asking read the [`ledger`], which keeps for each confirmation the set of outcomes that fit the record so far.

pub mod asking;
pub mod authorisation;
pub mod ledger;
pub mod lifecycle;
mod matching;
pub mod resolution;
pub mod sequence;
pub mod tools;

use std::collections::BTreeMap;

use super::finding::{Finding, TiedBy};

/// What the monitors found.
#[derive(Debug, Default)]
pub struct Notes {
    /// In the order in which they were found.
    pub findings: Vec<Finding>,
    /// Calls that a confirmation explains, by how the two were tied.
    pub tied: BTreeMap<TiedBy, u64>,
    /// The last line that could not be read.
    pub unreadable: Option<u64>,
}

impl Notes {
    /// Adds a finding. One that rests on something missing says so when an unreadable line may have held it.
    pub fn add(&mut self, mut finding: Finding) {
        if let Some(line) = self.unreadable.filter(|_| finding.rests_on_absence) {
            finding.message = format!(
                "{} (line {line} could not be read and may have held what is missing)",
                finding.message
            );
        }
        self.findings.push(finding);
    }
}
