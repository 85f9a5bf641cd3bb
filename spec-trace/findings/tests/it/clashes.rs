//! Which mended wordings clash: all wordings of one protocol in force at once.
//!
//! `Finding::execute` judges each wording alone. Here all of them judge every run that shows a finding, and every run that differs
//! from one by a step or two.

use std::collections::BTreeSet;

use countersign_findings as findings;
use countersign_findings::run::{Run, Text, Verdict};

mod details;

use details::{Detail, completed};

/// The finding whose wording calls a case of its own right, which case, the finding whose wording calls the case wrong, and the step.
/// Cases and steps count from 1. No run nearby is right by both wordings, or the finding says that they clash.
const CLASHES: &[(&str, usize, &str, usize)] = &[
    ("AQL-F10", 3, "AQL-F8", 3),
    ("AQL-F10", 3, "AQL-F9", 3),
    ("AQL-F10", 3, "AQL-F12", 3),
    ("AQL-F10", 3, "AQL-F13", 3),
    ("AQL-F10", 3, "AQL-F25", 3),
    ("AQL-F10", 3, "AQL-F15", 3),
    ("AQL-F14", 2, "AQL-F12", 3),
    ("AQL-F14", 2, "AQL-F13", 3),
    ("AQL-F14", 2, "AQL-F25", 3),
    ("AQL-F24", 4, "AQL-F6", 1),
    ("AQL-F24", 4, "AQL-F7", 1),
    ("PA-F15", 3, "PA-F14", 5),
];

/// The protocols, each with what its runs leave out.
const PROTOCOLS: [(&str, &[Detail]); 3] = [
    ("aaep", details::AAEP),
    ("mcp-aql", details::MCP_AQL),
    ("pending-action", details::PENDING_ACTION),
];

/// A log entry, a rating or a stored start that a run does not spell out is no clash.
#[test]
fn these_mended_wordings_clash_and_no_others() {
    let mut clashes = Vec::new();
    for (protocol, details) in PROTOCOLS {
        clashes.extend(together(protocol, details));
    }
    assert_eq!(clashes, CLASHES);
    for finding in findings::all() {
        for against in &finding.clashes {
            let mut clashes = clashes.iter();
            let is_there = clashes.any(|it| (it.0, it.2) == (&*finding.id, &**against));
            assert!(is_there, "{} against {against}", finding.id);
        }
    }
}

/// The clashes of a protocol. Every finding has a wording, and a run that no wording forbids breaks no guarantee.
fn together(protocol: &str, details: &[Detail]) -> Vec<(&'static str, usize, &'static str, usize)> {
    // The wordings that call one run right; and where one calls a case right that another calls wrong.
    let mut agreed: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut differing = Vec::new();
    let all = findings::all().iter();
    for finding in all.filter(|it| it.protocol() == protocol) {
        let (id, text) = (finding.id.as_str(), finding.text());
        assert!(mended(text).any(|(name, _)| name == id), "{id}");
        for (case, shown) in (1..).zip(&finding.cases) {
            let run = Run::read(&shown.run).expect("a run");
            if text.repair(id, &run) == Some(Verdict::Right) {
                for (against, judge) in mended(text) {
                    let suits = |it: &Run| {
                        !judge(it).is_against() && text.repair(id, it) == Some(Verdict::Right)
                    };
                    if let Verdict::Wrong(step) = judge(&run)
                        && !completed(details, &run).iter().any(suits)
                    {
                        differing.push((id, case, against, step));
                    }
                }
            }
            for run in run.neighbours().into_iter().chain([run]) {
                let said = mended(text).map(|(name, judge)| (name, judge(&run)));
                let said: Vec<(&str, Verdict)> = said.collect();
                let right = said.iter().filter(|(_, said)| *said == Verdict::Right);
                let right: Vec<&str> = right.map(|(name, _)| *name).collect();
                for one in &right {
                    agreed.extend(right.iter().map(|other| (*one, *other)));
                }
                if !said.iter().any(|(_, said)| said.is_against()) {
                    let broken: Vec<_> = text.broken(&run).collect();
                    assert!(broken.is_empty(), "{id}: {broken:?}: {run}");
                }
            }
        }
    }
    // The first case of each pair.
    let mut told = BTreeSet::new();
    differing.retain(|(id, _, against, _)| {
        let clashes = &findings::get(id).expect("it is there").clashes;
        let is_said = clashes.iter().any(|it| it == against);
        (is_said || !agreed.contains(&(*id, *against))) && told.insert((*id, *against))
    });
    differing
}

/// The mended wordings, each with the id of its finding.
fn mended(text: &Text) -> impl Iterator<Item = (&'static str, fn(&Run) -> Verdict)> {
    let all = text.repairs.iter().copied().flatten();
    all.map(|it| (it.name, it.judge))
}
