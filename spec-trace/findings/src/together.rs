//! All mended wordings of one protocol in force at once.
//!
//! The one thing to know: each is judged alone in `Finding::execute`. Here every run that shows a finding, and every run that differs from
//! one by a step or two, is held against all of them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::details::completed;
use crate::run::{Run, Text, Verdict};
use crate::{all, get};

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Where one wording calls a case right and another calls it wrong, whatever details the case leaves out, and no run looked at is
    /// right by both or the finding says that they clash.
    pub conflicts: Vec<Conflict>,
    /// Guarantees that a run breaks which no wording forbids.
    pub unkept: Vec<Unkept>,
}

/// Two wordings that differ on a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    // The wordings that call one run right; and where one calls a case right that another calls wrong.
    let mut agreed: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut differing: Vec<Conflict> = Vec::new();
    for finding in all().iter().filter(|it| it.protocol() == protocol) {
        let (id, text) = (finding.id.as_str(), finding.text());
        it.findings += 1;
        it.wordings += usize::from(mended(text).any(|(name, _)| name == id));
        for (case, shown) in (1..).zip(&finding.cases) {
            let run = Run::read(&shown.run)?;
            it.cases += 1;
            if text.repair(id, &run) == Some(Verdict::Right) {
                for (against, judge) in mended(text) {
                    let suits = |it: &Run| {
                        !judge(it).is_against() && text.repair(id, it) == Some(Verdict::Right)
                    };
                    if let Verdict::Wrong(step) = judge(&run)
                        && !completed(text.details, &run).iter().any(suits)
                    {
                        differing.push(Conflict {
                            finding: id,
                            case,
                            against,
                            step,
                        });
                    }
                }
            }
            for run in run.neighbours().into_iter().chain([run]) {
                it.runs += 1;
                let said = mended(text).map(|(name, judge)| (name, judge(&run)));
                let said: Vec<(&str, Verdict)> = said.collect();
                let right = said.iter().filter(|(_, said)| *said == Verdict::Right);
                let right: Vec<&str> = right.map(|(name, _)| *name).collect();
                agreed.extend(
                    right
                        .iter()
                        .flat_map(|one| right.iter().map(move |other| (*one, *other))),
                );
                if said.iter().any(|(_, said)| said.is_against()) {
                    continue;
                }
                it.unkept
                    .extend(text.broken(&run).map(|(guarantee, _)| Unkept {
                        guarantee,
                        finding: id,
                        run: run.to_string(),
                    }));
            }
        }
    }
    // The first case of each pair.
    let mut told = BTreeSet::new();
    let clash = |it: &Conflict| {
        let finding = get(it.finding);
        finding.is_ok_and(|finding| finding.clashes.iter().any(|id| id == it.against))
    };
    differing.retain(|it| {
        let apart = clash(it) || !agreed.contains(&(it.finding, it.against));
        apart && told.insert((it.finding, it.against))
    });
    it.conflicts = differing;
    Ok(it)
}

/// The mended wordings that can be executed, each with the id of its finding.
fn mended(text: &Text) -> impl Iterator<Item = (&'static str, fn(&Run) -> Verdict)> {
    let all = text.repairs.iter().copied().flatten();
    all.map(|it| (it.name, it.judge))
}
