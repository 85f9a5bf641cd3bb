//! Violations that are known: a file of them, for `lint` and for `diff`, and the comparison of what `lint` has found with it.
//!
//! A violation is known by its fingerprint, which names neither file nor line: it stays the same when other records come
//! before it. The same violation twice has the same fingerprint, so the file says how many there are of each.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::finding::{ASKED_BEHIND, Finding};
use super::place::Place;
use super::report::LintReport;

/// The version of the file's form.
const VERSION: u32 = 1;

/// A file of known violations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The version of this form.
    #[serde(rename = "countersign_baseline", default = "version")]
    version: u32,
    /// The protocol of the implementation that was driven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    /// By clause, then by fingerprint.
    known: Vec<Known>,
}

/// That of a file that says none.
const fn version() -> u32 {
    VERSION
}

/// As often a violation is known where nothing is said.
const fn once() -> u64 {
    1
}

/// A violation that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// What it is told by.
    #[serde(alias = "identity")]
    pub fingerprint: String,
    /// The clause.
    pub clause: String,
    /// The session, for whoever reads the file.
    #[serde(default)]
    pub session: Option<String>,
    /// What was seen, for whoever reads the file; absent where it must not be shown.
    #[serde(default)]
    pub message: Option<String>,
    /// How many of them there are.
    #[serde(default = "once")]
    pub count: u64,
    /// Why it is left as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Known {
    /// Takes out whatever may quote a stream.
    pub fn redact(&mut self) {
        self.session = None;
        self.message = None;
    }

    /// What is wrong with it.
    fn problem(&self) -> Option<String> {
        let Self {
            fingerprint,
            clause,
            reason,
            ..
        } = self;
        let is_digit = |it: char| matches!(it, '0'..='9' | 'a'..='f');
        if !matches!(fingerprint.len(), 12 | 16) || !fingerprint.chars().all(is_digit) {
            return Some(format!(
                "`fingerprint` is {fingerprint:?}: expected 12 or 16 hexadecimal digits"
            ));
        }
        // What stands for a clause where an implementation does not keep to the driver protocol.
        if clause != "driver" && countersign_clauses::get(clause).is_err() {
            return Some(format!("`clause` is {clause:?}: there is no such clause"));
        }
        let is_blank = reason.as_ref().is_some_and(|it| it.trim().is_empty());
        is_blank.then(|| "`reason` is blank".to_owned())
    }
}

/// What a finding is told by: its clause, its session, its message without the numbers of lines, and how its record
/// begins. 16 hexadecimal digits.
pub fn fingerprint(finding: &Finding) -> String {
    let mut hash = Sha256::new();
    let session = finding.session.as_deref().unwrap_or_default();
    let message = finding.message.split(ASKED_BEHIND).next();
    let message = without_line_numbers(message.unwrap_or_default());
    let record = finding.place.as_ref().map(Place::kept);
    for part in [
        finding.clause.as_bytes(),
        session.as_bytes(),
        message.as_bytes(),
        record.unwrap_or_default(),
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hash: [u8; 32] = hash.finalize().into();
    let (first, _) = hash.split_at(8);
    first
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

fn without_line_numbers(message: &str) -> String {
    let mut parts = message.split("line ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("line ");
        text.push_str(part.trim_start_matches(|character: char| character.is_ascii_digit()));
    }
    text
}

impl Baseline {
    /// The baseline that knows every violation of these reports.
    pub fn of(reports: &[LintReport]) -> Self {
        let mut known: BTreeMap<(&str, &str), Known> = BTreeMap::new();
        let found = reports
            .iter()
            .flat_map(|it| it.violations.iter().chain(&it.known));
        for finding in found {
            known
                .entry((finding.clause, &finding.fingerprint))
                .and_modify(|known| known.count += 1)
                .or_insert_with(|| Known {
                    fingerprint: finding.fingerprint.clone(),
                    clause: finding.clause.to_owned(),
                    session: finding.session.clone(),
                    message: Some(finding.message.clone()),
                    count: 1,
                    reason: None,
                });
        }
        Self::with(None, known.into_values().collect())
    }

    /// One that knows these, of an implementation of this protocol or of recordings.
    pub fn with(protocol: Option<&str>, known: Vec<Known>) -> Self {
        Self {
            version: VERSION,
            protocol: protocol.map(str::to_owned),
            known,
        }
    }

    /// The same with a reason for each: the one of an earlier baseline, or else this one.
    #[must_use]
    pub fn because(mut self, earlier: Option<&Self>, reason: Option<&str>) -> Self {
        for known in &mut self.known {
            let before = earlier.and_then(|it| it.known(&known.fingerprint));
            let before = before.and_then(|it| it.reason.as_deref());
            known.reason = before.or(reason).map(str::to_owned);
        }
        self
    }

    /// The protocol of the implementation that was driven.
    pub fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    /// All that are known.
    pub fn all(&self) -> impl Iterator<Item = &Known> {
        self.known.iter()
    }

    /// The one of this fingerprint, if it is known.
    pub fn known(&self, fingerprint: &str) -> Option<&Known> {
        self.known.iter().find(|it| it.fingerprint == fingerprint)
    }

    /// Whether the one of this fingerprint is known.
    pub fn knows(&self, fingerprint: &str) -> bool {
        self.known(fingerprint).is_some()
    }

    /// Takes out whatever may quote a stream.
    pub fn redact(&mut self) {
        self.known.iter_mut().for_each(Known::redact);
    }

    /// Moves the violations that are known out of the way, and returns what was not found any more.
    pub fn apply(&self, reports: &mut [LintReport]) -> Vec<Known> {
        let mut left: BTreeMap<&str, u64> = BTreeMap::new();
        for known in &self.known {
            *left.entry(&known.fingerprint).or_default() += known.count;
        }
        for report in reports {
            let (known, new): (Vec<_>, Vec<_>) = std::mem::take(&mut report.violations)
                .into_iter()
                .partition(|finding| is_left(&mut left, &finding.fingerprint));
            report.known.extend(known);
            report.violations = new;
            // Which of them are known does not show.
            report.unlisted.clear();
            report.settle();
        }
        let vanished = self.known.iter().filter_map(|known| {
            let count = left.remove(known.fingerprint.as_str())?;
            (count > 0).then(|| Known {
                count,
                ..known.clone()
            })
        });
        vanished.collect()
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is no baseline.
    pub fn read(path: &Path) -> Result<Self, BaselineError> {
        let file = || path.display().to_string();
        let text =
            fs::read_to_string(path).map_err(|error| BaselineError::Unreadable(file(), error))?;
        let baseline: Self =
            serde_json::from_str(&text).map_err(|error| BaselineError::Malformed(file(), error))?;
        if baseline.version != VERSION {
            return Err(BaselineError::Version(file(), baseline.version));
        }
        for (n, known) in (1..).zip(&baseline.known) {
            if let Some(problem) = known.problem() {
                return Err(BaselineError::Entry(file(), n, problem));
            }
        }
        Ok(baseline)
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    ///
    /// # Panics
    ///
    /// Never: a baseline has a JSON form.
    pub fn write(&self, path: &Path) -> Result<(), BaselineError> {
        let text = serde_json::to_string_pretty(self).expect("a baseline is plain data");
        fs::write(path, format!("{text}\n"))
            .map_err(|error| BaselineError::Unwritable(path.display().to_string(), error))
    }
}

/// Why a baseline cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("cannot read the baseline {0}")]
    Unreadable(String, #[source] io::Error),
    /// It holds something else.
    #[error("{0} is no baseline")]
    Malformed(String, #[source] serde_json::Error),
    /// It was written by another version.
    #[error("{0} is a baseline of version {1}, and this is for version {VERSION}")]
    Version(String, u32),
    /// An entry says nothing.
    #[error("{0}: entry {1} of `known`: {2}")]
    Entry(String, u64, String),
    /// The file cannot be written.
    #[error("cannot write the baseline {0}")]
    Unwritable(String, #[source] io::Error),
}

fn is_left(left: &mut BTreeMap<&str, u64>, fingerprint: &str) -> bool {
    match left.get_mut(fingerprint) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_line_numbers_alone_are_the_same() {
        let same = |one: &str, two: &str| without_line_numbers(one) == without_line_numbers(two);
        assert!(same("asked on line 4, line 17", "asked on line 5, line 9"));
        assert!(!same("asked on line 4 for 3 s", "asked on line 4 for 5 s"));
    }
}
