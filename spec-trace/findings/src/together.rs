//! All mended wordings of one protocol in force at once.
//!
//! The one thing to know: each is judged alone in `Finding::execute`. Here every run that shows a finding, and every run that differs from
//! one by a step or two, is held against all of them.

use serde::Serialize;

use crate::all;
use crate::run::{Run, Text, Verdict};

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Together {
    /// The protocol's name on the command line.
    pub protocol: &'static str,
    /// The findings on it.
    pub findings: usize,
    /// The mended wordings that can be executed.
    pub wordings: usize,
    /// The cases that show a finding.
    pub cases: usize,
    /// The runs looked at: the cases, and what lies near them.
    pub runs: usize,
    /// Where one wording calls a case right and another calls it wrong.
    pub conflicts: Vec<Conflict>,
    /// Guarantees that a run breaks which no wording forbids.
    pub unkept: Vec<Unkept>,
}

/// Two wordings that differ on a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The finding whose case it is, and whose wording calls it right.
    pub finding: &'static str,
    /// Which of its cases, counted from 1.
    pub case: usize,
    /// The finding whose wording calls it wrong.
    pub against: &'static str,
    /// The step that it calls wrong, counted from 1.
    pub step: usize,
}

/// A guarantee that is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unkept {
    /// Its name.
    pub guarantee: &'static str,
    /// The finding near whose case the run lies.
    pub finding: &'static str,
    /// The run, a step a line.
    pub run: String,
}

/// Holds every case of a protocol, and what lies near it, against all its mended wordings.
///
/// # Errors
///
/// A case whose run cannot be read, in words.
pub fn together(protocol: &'static str) -> Result<Together, String> {
    let mut it = Together {
        protocol,
        findings: 0,
        wordings: 0,
        cases: 0,
        runs: 0,
        conflicts: Vec::new(),
        unkept: Vec::new(),
    };
    for finding in all().iter().filter(|it| it.protocol() == protocol) {
        let (id, text) = (finding.id.as_str(), finding.text());
        it.findings += 1;
        it.wordings += usize::from(mended(text).any(|(name, _)| name == id));
        for (case, shown) in (1..).zip(&finding.cases) {
            let run = Run::read(&shown.run)?;
            it.cases += 1;
            if text.repair(id, &run) == Some(Verdict::Right) {
                let others = mended(text).filter(|(name, _)| *name != id);
                it.conflicts
                    .extend(others.filter_map(|(against, judge)| match judge(&run) {
                        Verdict::Wrong(step) => Some(Conflict {
                            finding: id,
                            case,
                            against,
                            step,
                        }),
                        Verdict::Silent | Verdict::Right | Verdict::Lacks(_) => None,
                    }));
            }
            for run in run.neighbours().into_iter().chain([run]) {
                it.runs += 1;
                let is_forbidden = || {
                    mended(text).any(|(_, judge)| {
                        matches!(judge(&run), Verdict::Wrong(_) | Verdict::Lacks(_))
                    })
                };
                let broken: Vec<_> = text.broken(&run).collect();
                if broken.is_empty() || is_forbidden() {
                    continue;
                }
                it.unkept
                    .extend(broken.into_iter().map(|(guarantee, _)| Unkept {
                        guarantee,
                        finding: id,
                        run: run.to_string(),
                    }));
            }
        }
    }
    Ok(it)
}

/// The mended wordings that can be executed, each with the id of its finding.
fn mended(text: &Text) -> impl Iterator<Item = (&'static str, fn(&Run) -> Verdict)> {
    text.repairs
        .iter()
        .copied()
        .flatten()
        .map(|it| (it.name, it.judge))
}
