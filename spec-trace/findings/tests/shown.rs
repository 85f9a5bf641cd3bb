//! What shows a finding shows it, and the mended wordings do what they are for.

use std::collections::{BTreeMap, BTreeSet};

use countersign_findings::run::{Run, Verdict};
use countersign_findings::{self as findings, Finding};

#[test]
fn what_shows_a_finding_shows_it() {
    let shown = findings::all().iter().filter(|it| !it.cases.is_empty());
    let failed: Vec<String> = shown.filter_map(|it| it.execute().err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Every run that shows a finding, with its finding.
fn runs() -> impl Iterator<Item = (&'static Finding, Run)> {
    let all = findings::all().iter();
    all.flat_map(|finding| {
        finding
            .cases
            .iter()
            .map(move |case| (finding, Run::read(&case.run).expect("a run")))
    })
}

/// One that says the same of everything would show nothing.
#[test]
fn every_passage_and_every_mended_wording_has_something_that_it_allows_and_something_that_it_forbids()
 {
    let mut said: BTreeMap<(&str, &str), BTreeSet<bool>> = BTreeMap::new();
    for (finding, run) in runs() {
        let text = finding.text();
        let mut near = run.neighbours();
        near.push(run);
        for it in [text.passages, text.repairs]
            .into_iter()
            .flatten()
            .copied()
            .flatten()
        {
            let of_it = said.entry((finding.protocol(), it.name)).or_default();
            for run in &near {
                if of_it.len() == 2 {
                    break;
                }
                match (it.judge)(run) {
                    Verdict::Right => _ = of_it.insert(true),
                    Verdict::Wrong(_) | Verdict::Lacks(_) => _ = of_it.insert(false),
                    Verdict::Silent => {}
                }
            }
        }
    }
    let constant: Vec<_> = said.iter().filter(|(_, said)| said.len() < 2).collect();
    assert!(constant.is_empty(), "{constant:?}");
}

/// Whoever changes a right run by a step or two breaks the guarantee only in ways that the mended wording forbids.
#[test]
fn under_a_mended_wording_no_run_nearby_breaks_what_the_finding_breaks() {
    let mut looked_at = 0;
    for (finding, run) in runs() {
        let broken: BTreeSet<&str> = finding
            .cases
            .iter()
            .flat_map(|it| it.broken.keys().map(String::as_str))
            .collect();
        let text = finding.text();
        if broken.is_empty() || text.repair(&finding.id, &run) != Some(Verdict::Right) {
            continue;
        }
        for near in run.neighbours() {
            looked_at += 1;
            for (name, step) in text.broken(&near).filter(|(name, _)| broken.contains(name)) {
                let said = text.repair(&finding.id, &near);
                let forbids = said.is_some_and(Verdict::is_against);
                assert!(
                    forbids,
                    "{}: step {step} breaks {name}, and the mended wording says {said:?} of {near:#?}",
                    finding.id
                );
            }
        }
    }
    assert!(looked_at > 0);
}
