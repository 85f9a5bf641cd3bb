//! Divergences that are known, with the reason of each: a new one fails, and so does one that has vanished.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use countersign_conform::driven::DRIVER;
use miette::{Context, IntoDiagnostic, miette};
use serde::{Deserialize, Serialize};

/// What is known of an implementation. Its schema is `countersign schema diff.baseline`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The protocol, by its name on the command line.
    pub protocol: String,
    /// The divergences.
    pub known: Vec<Known>,
}

/// A divergence that is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// What tells it from others: 12 hexadecimal digits, as the report has them.
    pub identity: String,
    /// The clause, or `driver`.
    pub clause: String,
    /// Why it is left as it is. Not blank.
    pub reason: String,
}

impl Baseline {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, is no baseline of this protocol, or an entry of it says nothing: which, and why.
    pub fn read(file: &Path, protocol: &str) -> miette::Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {shown}"))?;
        let baseline: Self = serde_json::from_str(&text)
            .into_diagnostic()
            .wrap_err_with(|| format!("{shown} is no baseline"))?;
        if baseline.protocol != protocol {
            let of = &baseline.protocol;
            return Err(miette!("{shown} is a baseline of {of}, not of {protocol}"));
        }
        let mut seen = BTreeSet::new();
        for (n, known) in (1..).zip(&baseline.known) {
            let problem = known.problem().or_else(|| {
                let is_new = seen.insert(&known.identity);
                (!is_new).then(|| format!("the identity {} stands there twice", known.identity))
            });
            if let Some(problem) = problem {
                return Err(miette!("{shown}: entry {n} of `known`: {problem}"));
            }
        }
        Ok(baseline)
    }

    /// Writes it.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written.
    pub fn write(&self, file: &Path) -> miette::Result<()> {
        let text = serde_json::to_string_pretty(self).into_diagnostic()?;
        fs::write(file, text + "\n")
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", file.display()))
    }

    /// Why the divergence of this identity is known, if it is.
    pub fn reason(&self, identity: &str) -> Option<&str> {
        let known = self.known.iter().find(|it| it.identity == identity);
        known.map(|it| it.reason.as_str())
    }
}

impl Known {
    /// What is wrong with it.
    fn problem(&self) -> Option<String> {
        let Self {
            identity,
            clause,
            reason,
        } = self;
        let is_digit = |it: char| matches!(it, '0'..='9' | 'a'..='f');
        if identity.len() != 12 || !identity.chars().all(is_digit) {
            return Some(format!(
                "`identity` is {identity:?}: expected 12 hexadecimal digits"
            ));
        }
        if clause != DRIVER && countersign_clauses::get(clause).is_err() {
            return Some(format!("`clause` is {clause:?}: there is no such clause"));
        }
        let is_blank = reason.trim().is_empty();
        is_blank.then(|| "`reason` is blank: expected why it is left as it is".to_owned())
    }
}
