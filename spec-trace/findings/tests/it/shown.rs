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

/// A finding rests on the wire facts if one of its cases is judged by them, and says so in its sections and in words.
#[test]
fn a_finding_that_rests_on_the_wire_facts_says_so() {
    for it in findings::all() {
        let mut judged = it.cases.iter().flat_map(|case| case.judged.keys());
        let by_facts = judged.any(|name| name.starts_with("facts:"));
        let in_sections = it
            .sections
            .iter()
            .any(|it| it == findings::WIRE_FACTS_SECTION);
        assert_eq!(it.facts.is_some(), in_sections, "{}", it.id);
        assert!(it.facts.is_some() || !by_facts, "{}", it.id);
        if let Some(facts) = &it.facts {
            let mut clauses = it.clauses.iter().map(countersign_clauses::ClauseId::as_str);
            let named = clauses.any(|id| id.starts_with("AAEP-EV-") && facts.contains(id));
            assert!(named, "{}: {facts}", it.id);
            assert!(it.wrong.contains("wire facts") || by_facts, "{}", it.id);
        }
    }
}

/// What was refuted was refuted by a passage.
#[test]
fn no_claim_is_refuted_by_the_wire_facts() {
    for it in findings::refuted() {
        let because = it.because.to_lowercase();
        assert!(!because.contains("facts"), "{}: {}", it.title, it.because);
        assert!(!because.contains("appendix yields"), "{}", it.title);
    }
}

/// What begins with `~` is in no message: a reader is told what it means, and of every meaning there is a run.
#[test]
fn every_name_that_no_message_holds_is_explained() {
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (finding, run) in runs() {
        let members = run.0.iter().flat_map(|step| step.members.keys());
        let names: BTreeSet<String> = members.filter(|it| it.starts_with('~')).cloned().collect();
        let told = finding.text().legend(&run);
        for name in &names {
            assert!(
                told.iter().any(|(it, _)| it == name),
                "{name}: {}",
                finding.id
            );
        }
        used.entry(finding.protocol()).or_default().extend(names);
    }
    for finding in findings::all() {
        let used = &used[finding.protocol()];
        for (name, _) in finding.text().notes {
            assert!(used.contains(*name), "{name} is in no run");
        }
    }
}
