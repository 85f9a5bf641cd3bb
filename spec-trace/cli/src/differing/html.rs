//! What driving an implementation has come to, as one page: the verdict on each clause, and each divergence to step through.

use countersign_clauses::cited;
use maud::{Markup, html};

use super::{Found, Report, Verdict, cut};
use crate::show::html;
use crate::show::run::{Finding, Kind, Run, Step, Weight};
use crate::show::words::printable;
use crate::table::grouped;

/// The page.
pub fn render(report: &Report) -> String {
    let other = html! {
        (verdicts(report))
        (readings(report))
    };
    html::beside(&run(report), &other, include_str!("verdicts.css"))
}

/// The runs of all divergences behind each other, as one that can be stepped through.
fn run(report: &Report) -> Run {
    let mut run = Run {
        kind: Kind::Divergence,
        title: printable(&format!("{}, driven as {}", report.name, report.protocol)),
        head: String::new(),
        verdict: report.verdict().to_owned(),
        participants: vec!["driver".to_owned(), "implementation".to_owned()],
        tracks: Vec::new(),
        steps: Vec::new(),
        findings: Vec::new(),
        remarks: remarks(report),
    };
    for found in &report.divergences {
        add(found, report.part.strict, &mut run);
    }
    if run.steps.is_empty() {
        let runs = grouped(report.runs);
        run.steps.push(step(
            "",
            &format!("{runs} runs, and nothing wrong in them"),
            &[],
        ));
    }
    run
}

/// Something that the driver asks, and what is answered.
pub(super) fn step(at: &str, text: &str, notes: &[String]) -> Step {
    Step {
        line: None,
        at: at.to_owned(),
        from: 0,
        to: Some(1),
        text: printable(text),
        notes: notes.iter().map(|it| printable(it)).collect(),
        states: Vec::new(),
        findings: Vec::new(),
        record: String::new(),
    }
}

/// One divergence: a head, its steps, and what is wrong at the last.
fn add(found: &Found, strict: bool, run: &mut Run) {
    let head = format!("reset, for the run of {}", cited(found.clause));
    run.steps.push(step("0.000", &head, &[]));
    let steps = found.steps.iter();
    run.steps
        .extend(steps.map(|it| step(&it.at, &it.asked, &it.answers)));
    let place = run.steps.len() - 1;
    let known = found.known.as_ref();
    let weight = match known {
        None if strict || found.is_required() => Weight::Violation,
        None | Some(_) => Weight::Warning,
    };
    let known = known.map_or_else(String::new, |reason| format!("; known: {reason}"));
    let message = format!(
        "expected: {}; identity {}{known}; again: {}",
        found.expected, found.identity, found.repeat
    );
    let mut finding = Finding::new(place, weight, found.clause, &message);
    finding.also = found.also.iter().map(|it| (*it).to_owned()).collect();
    run.steps[place].findings.push(run.findings.len());
    run.findings.push(finding);
}

fn remarks(report: &Report) -> Vec<String> {
    let [runs, calls] = [report.runs, report.calls].map(grouped);
    let seed = report.part.seed;
    let mut remarks = vec![if report.is_live {
        format!("{runs} runs over HTTP, {calls} steps")
    } else {
        format!("{runs} runs, {calls} calls, from seed {seed}")
    }];
    remarks.extend(report.part.ended.map(|it| cut(it).to_owned()));
    remarks.extend(report.remarks.iter().cloned());
    remarks.extend(report.vanished.iter().map(|known| {
        let (clause, identity) = (cited(&known.clause), &known.fingerprint);
        format!("{clause} {identity} is known, and not found any more")
    }));
    remarks.extend(report.controls.iter().map(|it| match it.clause {
        Some(clause) => format!("control {}: caught by {}", it.name, cited(clause)),
        None => format!("control {}: not caught in {} runs", it.name, it.runs),
    }));
    let ops = report.unsupported.iter();
    remarks.extend(ops.map(|op| format!("{op} is not supported, and has to be")));
    remarks
}

/// Each verdict with its clauses, the gravest first.
fn verdicts(report: &Report) -> Markup {
    let verdicts = [
        Verdict::Violates,
        Verdict::HostMustGuard,
        Verdict::NotExercised,
        Verdict::Unsupported,
        Verdict::Upholds,
    ];
    html! {
        section #verdicts aria-labelledby="verdicts-head" {
            h2 #verdicts-head { "The verdict on each clause" }
            @for verdict in verdicts.into_iter().filter(|it| report.count(*it) > 0) {
                details open[verdict == Verdict::Violates] {
                    summary { (report.count(verdict)) " " (verdict.name()) }
                    table.verdicts {
                        thead { tr { th scope="col" { "Clause" } th scope="col" { "Verdict" } th scope="col" { "What it says" } } }
                        tbody { @for clause in report.with(verdict) { (row(report, clause, verdict)) } }
                    }
                }
            }
        }
    }
}

fn row(report: &Report, clause: &str, verdict: Verdict) -> Markup {
    let known = countersign_clauses::get(clause).ok();
    let needs = report.clauses.get(clause).and_then(|it| it.needs);
    html! {
        tr {
            th scope="row" { (cited(clause)) }
            td { span.verdict.(verdict.name()) { (verdict.name()) } @if let Some(needs) = needs { " without " (needs) } }
            td { @if let Some(known) = known { (known.level) ": " (known.gist) } }
        }
    }
}

/// The choices that still fit, for each place that can be taken in more than one way.
fn readings(report: &Report) -> Markup {
    html! {
        @if !report.readings.is_empty() {
            section #readings aria-labelledby="readings-head" {
                h2 #readings-head { "How it takes the text" }
                details {
                    summary { (report.taken.len()) " otherwise than by default" }
                    table.verdicts {
                        thead { tr { th scope="col" { "Place" } th scope="col" { "Choices that still fit" } } }
                        tbody {
                            @for (place, choices) in &report.readings {
                                tr { th scope="row" { (place) } td { (choices.join(", ")) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
