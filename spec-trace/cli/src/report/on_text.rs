//! What is wrong with the text: the list of the findings, and a page for each, to hand to whoever keeps the document.

use countersign_clauses::Basis;
use countersign_findings::run::in_words;
use countersign_findings::{self as findings, Case, Finding};
use maud::{Markup, html};

use super::inventory::{passage, state};
use super::{PROTOCOLS, Report, clause_from, page as whole, severity, ways};
use crate::commands::findings::{kind, shown_by};
use crate::show;
use crate::show::html::drawing;

/// The list.
pub fn list(report: &Report) -> String {
    let all = findings::all();
    let executed = all.iter().filter(|it| !it.cases.is_empty()).count();
    let body = html! {
        (ways("", "findings.html", report.full.is_some()))
        header.top {
            p.kind { "Countersign" }
            h1 { "What is wrong with the text" }
            p.faint {
                (all.len()) " findings, " (executed) " of them with runs that are executed: judged by each passage that is cited, by what "
                "the text is there to prevent, and by a wording that mends it."
            }
        }
        main {
            @for protocol in PROTOCOLS { (of_protocol(protocol)) }
            section {
                h2 #refuted { "What looked like a finding and is none" }
                p.faint { "Each was claimed, and a passage speaks against it." }
                details {
                    summary { (findings::refuted().len()) " refuted claims" }
                    dl {
                        @for it in findings::refuted() {
                            dt { (it.title) " " span.badge.quiet { (it.protocol) } }
                            dd { (it.claim) }
                            dd { strong { "Against it: " } (it.because) }
                        }
                    }
                }
            }
        }
    };
    whole("what is wrong with the text", body)
}

fn of_protocol(protocol: &str) -> Markup {
    let all = findings::all().iter();
    let all: Vec<&Finding> = all.filter(|it| it.protocol() == protocol).collect();
    html! {
        section.document aria-labelledby=(protocol) {
            h2 id=(protocol) { (protocol) }
            table.clauses.findings-list role="table" aria-labelledby=(protocol) {
                thead role="rowgroup" {
                    tr role="row" {
                        @for head in ["Finding", "What goes wrong", "Severity", "Kind", "Sections", "Runs"] {
                            th role="columnheader" scope="col" { (head) }
                        }
                    }
                }
                tbody role="rowgroup" {
                    @for it in all {
                        tr role="row" id=(it.id) tabindex="-1" {
                            th role="rowheader" scope="row" { a href={ "findings/" (it.id) ".html" } { (it.id) } }
                            td role="cell" { p { strong { (it.title) } } p.faint { (it.wrong) } }
                            td role="cell" { (severity(it)) }
                            td role="cell" { (kind(it)) }
                            td role="cell" { (it.sections.join(", ")) }
                            td.count role="cell" data-head="runs" { (it.cases.len()) }
                        }
                    }
                }
            }
        }
    }
}

/// The page of the finding at this place.
pub fn page(report: &Report, place: usize) -> String {
    let all = findings::all();
    let finding = &all[place];
    let body = html! {
        (ways("../", "", report.full.is_some()))
        header.top {
            p.kind { a href={ "../findings.html#" (finding.id) } { "Findings" } " on " (finding.protocol()) }
            h1 { (finding.id) ": " (finding.title) }
            p { (severity(finding)) " " span.badge.quiet { (kind(finding)) } " " span.faint { "Sections " (finding.sections.join(", ")) } }
        }
        main.finding {
            section { h2 { "What goes wrong" } p { (finding.wrong) } }
            section.mended { h2 { "A wording that mends it" } p { (finding.repair) } }
            @if !finding.readings.is_empty() { (readings(finding)) }
            (clauses(report, finding))
            section {
                h2 { (shown_by(finding)) }
                @for line in finding.witness.lines() { p.witness { (line) } }
            }
            @if !finding.cases.is_empty() { (executed(finding)) }
            @if let Some(reason) = &finding.unrepaired {
                section { h2 { "Why no mended wording is executed" } p { (reason) } }
            }
            section { h2 { "What a model has to hold to show it" } p { (finding.modelled) } }
            nav.ways.around aria-label="Other findings" {
                @if let Some(before) = place.checked_sub(1) { (other(&all[before], "← ")) }
                @if let Some(next) = all.get(place + 1) { (other(next, "→ ")) }
            }
        }
    };
    whole(&finding.id, body)
}

fn other(finding: &Finding, arrow: &str) -> Markup {
    html! { a href={ (finding.id) ".html" } { span aria-hidden="true" { (arrow) } (finding.id) ": " (finding.title) } }
}

fn readings(finding: &Finding) -> Markup {
    html! {
        section {
            h2 { "It can be taken as" }
            dl {
                @for reading in &finding.readings {
                    @match reading.split_once(": ") {
                        Some((name, meaning)) => { dt { (name) } dd { (meaning) } }
                        None => dd { (reading) },
                    }
                }
            }
        }
    }
}

/// The clauses at odds, where there is an editor's copy with their words in it.
fn clauses(report: &Report, finding: &Finding) -> Markup {
    let known = finding.clauses.iter();
    let known = known.filter_map(|id| countersign_clauses::get(id.as_str()).ok());
    html! {
        section {
            h2 { "The clauses that it concerns" }
            dl.concerned {
                @for clause in known {
                    dt { (clause_from("../", clause.id.as_str())) " " span.badge.quiet { (clause.level) }
                        @if clause.basis != Basis::Normative { " " span.badge.quiet { (clause.basis) } }
                    }
                    dd {
                        (clause.gist)
                        " " span.faint { "(" (clause.source) ")" }
                        @if let Some(beside) = report.beside(clause) {
                            " " (state(beside))
                            @for place in &beside.passages { (passage(place)) }
                        }
                    }
                }
            }
        }
    }
}

/// Every run, drawn, with what each passage says of it.
fn executed(finding: &Finding) -> Markup {
    // A test sees to it that all can be read.
    let drawn = show::finding::runs(finding).unwrap_or_default();
    html! {
        section {
            h2 { "Executed" }
            @for (number, (case, run)) in (1..).zip(finding.cases.iter().zip(&drawn)) {
                article id={ "run-" (number) } {
                    h3 { a href={ "#run-" (number) } { "Run " (number) } }
                    div.drawing { (drawing(run, &format!("run-{number}-"))) }
                    (judged(number, case))
                }
            }
        }
    }
}

/// What is said of a run, passage by passage.
fn judged(number: usize, case: &Case) -> Markup {
    let passages = case
        .judged
        .iter()
        .map(|it| ("passage", it.0.as_str(), it.1));
    let guarantees = case.broken.iter();
    let guarantees = guarantees.map(|it| ("what has to hold", it.0.as_str(), it.1));
    let mended = case.repaired.iter();
    let mended = mended.map(|it| ("mended wording", "the wording above", it));
    html! {
        table.judged {
            caption.unseen { "What is said of run " (number) }
            thead { tr { th scope="col" { "By" } th scope="col" { "Name" } th scope="col" { "It says" } } }
            tbody {
                @for (by, name, said) in passages.chain(guarantees).chain(mended) {
                    tr {
                        td.faint { (by) }
                        th scope="row" { (name) }
                        td { (verdict(number, by == "what has to hold", said)) }
                    }
                }
            }
        }
    }
}

fn verdict(number: usize, is_guarantee: bool, said: &str) -> Markup {
    let class = match said.split(' ').next() {
        Some("right") => "good",
        Some("silent") => "quiet",
        _ if is_guarantee => "violation",
        _ => "warning",
    };
    let step = said.split_once(' ').map(|(_, step)| step);
    let words = match step {
        Some(step) if is_guarantee => format!("broken by step {step}"),
        _ => in_words(said),
    };
    html! {
        span.badge.(class) {
            @if let Some(step) = step { a href={ "#run-" (number) "-s" (step) } { (words) } }
            @else { (words) }
        }
    }
}
