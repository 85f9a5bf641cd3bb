//! Every clause with what states it, carries it out, judges and tests it, as a page to search and to filter, offline.
//!
//! Nothing is found out here: the links are derived ([`crate::links`]), and this lays them out. The same sources give the
//! same bytes.
//!
//! All clauses are in the page from the start; the script hides those that do not fit the filter.

use maud::{Markup, html};

use countersign_clauses::coverage::{self, Tally};
use countersign_clauses::links::{Kind, Link};
use countersign_clauses::{Clause, Level, all};

use crate::links::LINKS;
use crate::page::Page;

/// The kinds of evidence that have a column, with its head. Guards and properties are both the model's.
const COLUMNS: [(Kind, &str); 5] = [
    (Kind::Property, "Stated"),
    (Kind::Reference, "Carried out"),
    (Kind::Monitor, "Judged"),
    (Kind::Test, "Tested"),
    (Kind::Fuzz, "Fuzzed"),
];

/// The levels, the most binding first.
const LEVELS: [Level; 6] = [
    Level::Must,
    Level::MustNot,
    Level::Should,
    Level::ShouldNot,
    Level::May,
    Level::Info,
];

/// The page.
pub fn render() -> String {
    let clauses: Vec<&Clause> = all().iter().collect();
    let documents = coverage::by_document(&clauses);
    let body = html! {
        a.skip.unseen href="#clauses" { "Skip to the clauses" }
        header.top {
            p.kind { "Countersign" }
            h1 { "From the rules to what holds them" }
            p.faint { (Tally::of(&LINKS, all())) }
        }
        main {
            (totals(&documents))
            (filter(&documents))
            div #clauses tabindex="-1" {
                @for (index, document) in documents.iter().enumerate() { (section(index, document)) }
            }
        }
    };
    Page {
        title: "Countersign: from the rules to what holds them",
        style: include_str!("report.css"),
        script: include_str!("report.js"),
        body,
    }
    .render()
}

/// How far each document is covered.
fn totals(documents: &[Vec<&Clause>]) -> Markup {
    html! {
        section {
            h2 #totals-head { "How far each document is covered" }
            div.wide tabindex="0" role="region" aria-labelledby="totals-head" {
                table.totals {
                    thead {
                        tr {
                            th scope="col" { "Document" }
                            @for head in ["Clauses", "Stated", "Carried out", "Judged", "Tested", "Fuzzed", "Not checkable", "Open"] {
                                th scope="col" { (head) }
                            }
                        }
                    }
                    tbody {
                        @for (index, document) in documents.iter().enumerate() {
                            (line(&html! { a href={ "#document-" (index) } { (document[0].document) } }, Tally::of(&LINKS, document.iter().copied())))
                        }
                    }
                    tfoot { (line(&html! { "All" }, Tally::of(&LINKS, all()))) }
                }
            }
        }
    }
}

fn line(title: &Markup, tally: Tally) -> Markup {
    html! {
        tr {
            th scope="row" { (title) }
            td { (tally.clauses) }
            @for count in [tally.stated, tally.carried_out, tally.judged, tally.tested, tally.fuzzed] {
                td { (count) span.bar aria-hidden="true" { (share(count, tally.clauses)) } }
            }
            td { (tally.not_checkable) }
            td { (tally.gaps) }
        }
    }
}

/// A share as a small picture.
fn share(count: usize, whole: usize) -> Markup {
    html! {
        svg width="56" height="6" viewBox="0 0 56 6" {
            rect class="rest" width="56" height="6" rx="3" {}
            rect width=(56 * count / whole.max(1)) height="6" rx="3" {}
        }
    }
}

fn filter(documents: &[Vec<&Clause>]) -> Markup {
    html! {
        form #filter role="search" aria-label="Filter the clauses" hidden {
            label { "Words " input #words type="search" placeholder="an id, a word of the gist, a test"; }
            label {
                "Level "
                select #level {
                    option value="" { "any" }
                    @for level in LEVELS { option value=(level) { (level) } }
                }
            }
            label {
                "Document "
                select #document {
                    option value="" { "any" }
                    @for (index, document) in documents.iter().enumerate() {
                        option value={ "document-" (index) } { (document[0].document) }
                    }
                }
            }
            label {
                "Evidence "
                select #evidence {
                    option value="" { "any" }
                    option value="open" { "none: open" }
                    option value="exception" { "not checkable, with a reason" }
                    @for (kind, head) in COLUMNS { option value={ "-" (kind.letter()) } { "not " (head.to_lowercase()) } }
                    @for (kind, head) in COLUMNS { option value={ "+" (kind.letter()) } { (head.to_lowercase()) } }
                }
            }
            button type="reset" { "Clear" }
            p #shown.faint role="status" aria-live="polite" {}
        }
    }
}

fn section(index: usize, document: &[&Clause]) -> Markup {
    html! {
        section.document id={ "document-" (index) } aria-labelledby={ "head-" (index) } {
            h2 id={ "head-" (index) } { (document[0].document) " " span.faint { (document[0].protocol) } }
            // The roles are said because the style of a narrow window takes them away.
            table.clauses role="table" aria-labelledby={ "head-" (index) } {
                thead role="rowgroup" {
                    tr role="row" {
                        th role="columnheader" scope="col" { "Clause" }
                        th role="columnheader" scope="col" { "What it says, and what holds it" }
                        @for (_, head) in COLUMNS { th.count role="columnheader" scope="col" { (head) } }
                    }
                }
                tbody role="rowgroup" { @for clause in document { (row(clause)) } }
            }
        }
    }
}

fn row(clause: &Clause) -> Markup {
    let links = LINKS.of(clause);
    html! {
        tr role="row" id=(clause.id) data-level=(clause.level) data-kinds=(kinds(links)) tabindex="-1" {
            th role="rowheader" scope="row" {
                a href={ "#" (clause.id) } { (clause.id) }
                span.badge.quiet { (clause.level) }
            }
            td role="cell" {
                p { (clause.gist) }
                p.faint.source { (clause.source) ", binds the " (clause.role.description()) }
                (evidence(links))
            }
            @for (kind, head) in COLUMNS {
                @let count = LINKS.count(clause, kind);
                td.count role="cell" data-head=(head) {
                    @if count > 0 { (count) } @else { span.none { span aria-hidden="true" { "·" } span.unseen { "none" } } }
                }
            }
        }
    }
}

/// The letters of the kinds of evidence that there is.
fn kinds(links: &[Link]) -> String {
    let has = |kind| links.iter().any(|link| link.kind == kind);
    let letters = Kind::ALL.into_iter().filter(|kind| has(*kind));
    letters.map(Kind::letter).collect()
}

/// Why there is no evidence, or all of it, behind a line that tells how much.
fn evidence(links: &[Link]) -> Markup {
    let reason = links.iter().find(|link| link.kind == Kind::Exception);
    let counted = links
        .iter()
        .filter(|link| link.kind != Kind::Mention)
        .count();
    html! {
        @if let Some(reason) = reason {
            p.gap { span.badge.quiet { "not checkable" } " " (reason.name) }
        } @else {
            @if counted == 0 {
                p.gap { span.badge.open { "open" } " Nothing states, carries out or tests this clause yet." }
            }
            @if !links.is_empty() {
                details {
                    summary { (counted) @if counted == 1 { " link" } @else { " links" } }
                    dl {
                        @for group in links.chunk_by(|one, next| one.kind == next.kind) {
                            dt { (group[0].kind.heading()) }
                            @for link in group {
                                dd { (link.name) @if let Some(at) = &link.at { " " code { (at) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}
