//! Every clause with what states and judges it, what is wrong with it and what it costs, as a page to search and to filter, offline; beside an editor's copy of the documents also with the passage that it was read from.
//!
//! All clauses are in the page from the start; the script hides those that do not fit the filter.

use countersign_clauses::links::{self, Kind, Link};
use countersign_clauses::passages::{Beside, Compared, Place, State};
use countersign_clauses::{Basis, Clause, Level, all, by_document};
use countersign_findings::{Finding, Severity};
use maud::{Markup, html};

use super::{PROTOCOLS, Report, findings_on, page as whole, severity, ways, worth_file};
use crate::commands::clauses::against;
use crate::commands::readings::KEEPS;
use crate::links::{LINKS, Tally};
use crate::show::words::printable;

/// The kinds of links that have a column, with its head.
const COLUMNS: [(Kind, &str); 2] = [(Kind::Property, "Stated"), (Kind::Monitor, "Judged")];

/// What stands beside each other where there is an editor's copy.
const BESIDE: [&str; 5] = ["Clause", "Its passage", "What it says", "Rule", "Verdict"];

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
pub fn page(report: &Report) -> String {
    let clauses: Vec<&Clause> = all().iter().collect();
    let documents = by_document(&clauses);
    let body = html! {
        a.skip.unseen href="#clauses" { "Skip to the clauses" }
        (ways("", "index.html", report.full.is_some()))
        header.top {
            p.kind { "Countersign" }
            h1 { "From the rules to what holds them" }
            p.faint { (Tally::of(all())) }
            (texts())
        }
        main.wide-page[report.against.is_some()] {
            (found(report))
            @if let Some(compared) = &report.against { (copy(compared)) }
            (totals(&documents))
            (filter(report, &documents))
            div #clauses tabindex="-1" {
                @for (index, document) in documents.iter().enumerate() { (section(report, index, document)) }
            }
        }
    };
    whole("from the rules to what holds them", body)
}

/// The texts that were read.
fn texts() -> Markup {
    html! {
        details {
            summary { "Unofficial, made from " (countersign_clauses::texts().len()) " texts" }
            table.judged {
                thead { tr { th { "Name" } th { "Title" } th { "Version, date" } th { "SHA-256, first 12 digits" } } }
                tbody {
                    @for it in countersign_clauses::texts() {
                        tr { td { (it.protocol) } td { (it.title) } td { (it.stated()) } td { code { (it.sha256) } } }
                    }
                }
            }
        }
    }
}

/// What is wrong with each text, and how to have the rest.
fn found(report: &Report) -> Markup {
    let of = |protocol: &str, severity: Severity| {
        let all = countersign_findings::all().iter();
        all.filter(|it| it.protocol() == protocol && it.severity == severity)
            .count()
    };
    html! {
        section {
            h2 { "What is wrong with the text" }
            ul.cards {
                @for protocol in PROTOCOLS {
                    @let harm = of(protocol, Severity::Harm);
                    @let other = of(protocol, Severity::Interoperability);
                    li {
                        strong { a href={ "findings.html#" (protocol) } { (protocol) ": " (harm + other) " findings" } }
                        span { span.badge.violation { (harm) } " an action runs unapproved or twice, or a decision is lost" }
                        span { span.badge.warning { (other) } " two implementations that conform to the text do not interoperate" }
                        @for costs in report.full.iter().flat_map(|it| &it.readings).filter(|it| it.protocol == protocol) {
                            span { a href={ "readings.html#" (protocol) } { (costs.places.len()) " places" } " can be taken in more than one way" }
                            span { a href=(worth_file(protocol)) { "What each rule is worth" } }
                        }
                    }
                }
            }
            @if report.full.is_none() {
                p.faint.note {
                    "What each reading costs and what each rule is worth is searched for, which takes minutes: "
                    code { "countersign report --out DIR --full" } " writes pages on both and links them from the clauses."
                }
            }
        }
    }
}

/// What has become of the clauses in an editor's copy.
fn copy(compared: &Compared) -> Markup {
    let touched = [
        (State::Changed, "To read again: the words are others"),
        (
            State::Moved,
            "To look at where they stand now: the section has moved",
        ),
        (State::Lost, "Without ground: the section is gone"),
    ];
    html! {
        section {
            h2 { "Beside your copy" }
            p { (against::totals(compared)) }
            @for (state, said) in touched {
                @let those = compared.clauses.iter().filter(|it| it.state == state).collect::<Vec<_>>();
                @if !those.is_empty() {
                    h3 { (said) }
                    p.ids { @for it in those { a href={ "#" (it.id) } { (it.id) } " " } }
                }
            }
            @if !compared.uncovered.is_empty() {
                details open[compared.uncovered.len() < 12] {
                    summary { "Normative sentences that no clause covers: " (compared.uncovered.len()) }
                    @for place in &compared.uncovered { (passage(place)) }
                }
            }
            @if !compared.added.is_empty() {
                details open[compared.added.len() < 12] {
                    summary { "Other text that is new: " (compared.added.len()) }
                    @for it in &compared.added {
                        (passage(&it.place))
                        p.faint { (against::near(it)) }
                    }
                }
            }
            details {
                summary { "Which file holds which document" }
                dl {
                    @for (title, file) in &compared.documents {
                        dt { (title) }
                        dd { (file.as_deref().map_or("in no file".to_owned(), printable)) }
                        @for other in compared.others.get(title).into_iter().flatten() { dd { (printable(other)) ": holds it, too, and was not compared" } }
                    }
                }
            }
        }
    }
}

/// Words of an editor's copy, with their place.
pub(super) fn passage(place: &Place) -> Markup {
    html! {
        figure.passage {
            blockquote { (printable(&place.text)) }
            figcaption { (printable(&place.file)) ":" (place.line) }
        }
    }
}

/// What has become of the words of a clause, as a badge.
pub(super) fn state(beside: &Beside) -> Markup {
    let (class, said) = match beside.state {
        State::Same => ("good", "as it was read"),
        State::Changed => ("violation", "changed: read it again"),
        State::Moved => ("violation", "moved: its words stand elsewhere"),
        State::Lost => ("violation", "lost: its section is gone"),
        State::Facts => (
            "warning",
            "not compared: a fact beside the documents, which none of them states",
        ),
        State::Absent => ("warning", "not compared: no file holds its document"),
    };
    let why = against::why(beside);
    html! {
        span.badge.(class) { (said) }
        @if !why.is_empty() && beside.state == State::Changed { " " span.faint { "(" (why) ")" } }
    }
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
                            @for head in ["Clauses", "Stated", "Judged", "Not checkable"] {
                                th scope="col" { (head) }
                            }
                        }
                    }
                    tbody {
                        @for (index, document) in documents.iter().enumerate() {
                            (line(&html! { a href={ "#document-" (index) } { (document[0].document) } }, Tally::of(document.iter().copied())))
                        }
                    }
                    tfoot { (line(&html! { "All" }, Tally::of(all()))) }
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
            @for count in [tally.stated, tally.judged] {
                td { (count) span.bar aria-hidden="true" { (share(count, tally.clauses)) } }
            }
            td { (tally.not_checkable) }
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

fn filter(report: &Report, documents: &[Vec<&Clause>]) -> Markup {
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
                "Known "
                select #known {
                    option value="" { "any" }
                    option value="exception" { "not checkable, with a reason" }
                    @for (kind, head) in COLUMNS { option value={ "-" (kind.letter()) } { "not " (head.to_lowercase()) } }
                    @for (kind, head) in COLUMNS { option value={ "+" (kind.letter()) } { (head.to_lowercase()) } }
                }
            }
            label {
                "Findings "
                select #found {
                    option value="" { "any" }
                    option value="harm" { "one of harm" }
                    option value="some" { "some" }
                    option value="none" { "none" }
                }
            }
            @if report.against.is_some() {
                label {
                    "Passage "
                    select #state {
                        option value="" { "any" }
                        option value="changed" { "changed" }
                        option value="moved" { "moved" }
                        option value="lost" { "lost" }
                        option value="same" { "as it was read" }
                        option value="absent" { "not compared" }
                        option value="facts" { "in no document" }
                    }
                }
            }
            button type="reset" { "Clear" }
            p #shown.faint role="status" aria-live="polite" {}
        }
    }
}

fn section(report: &Report, index: usize, document: &[&Clause]) -> Markup {
    let is_beside = report.against.is_some();
    html! {
        section.document id={ "document-" (index) } aria-labelledby={ "head-" (index) } {
            h2 id={ "head-" (index) } { (document[0].document) " " span.faint { (document[0].protocol) } }
            // The roles are said because the style of a narrow window takes them away.
            table.clauses.beside[is_beside] role="table" aria-labelledby={ "head-" (index) } {
                thead role="rowgroup" {
                    tr role="row" {
                        @if is_beside { @for head in BESIDE { th role="columnheader" scope="col" { (head) } } }
                        @else {
                            th role="columnheader" scope="col" { "Clause" }
                            th role="columnheader" scope="col" { "What it says, and what holds it" }
                            @for (_, head) in COLUMNS { th.count role="columnheader" scope="col" { (head) } }
                        }
                    }
                }
                tbody role="rowgroup" { @for clause in document { (row(report, clause)) } }
            }
        }
    }
}

fn row(report: &Report, clause: &Clause) -> Markup {
    let links = LINKS.of(clause);
    let beside = report.beside(clause);
    let found: Vec<&Finding> = findings_on(clause).collect();
    let worst = found.first().map_or("none", |it| match it.severity {
        Severity::Harm => "harm",
        Severity::Interoperability => "some",
    });
    html! {
        tr role="row" id=(clause.id) data-level=(clause.level) data-kinds=(kinds(links)) data-found=(worst)
            data-state=[beside.map(|it| state_name(it.state))] tabindex="-1" {
            th role="rowheader" scope="row" {
                a href={ "#" (clause.id) } { (clause.id) }
                span.badge.quiet { (clause.level) }
                @if clause.basis != Basis::Normative { span.badge.quiet { (clause.basis) } }
            }
            @if report.against.is_some() { (side_by_side(report, clause, beside, &found)) }
            @else {
                td role="cell" {
                    (said(clause))
                    (verdict(report, clause, &found))
                    (known(links, |_| true))
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
}

fn said(clause: &Clause) -> Markup {
    html! {
        p { (clause.gist) }
        p.faint.source { (clause.source) (if clause.level == Level::Info { ", about the " } else { ", binds the " }) (clause.role.description()) }
    }
}

/// The cells of a clause that stands beside its passage.
fn side_by_side(
    report: &Report,
    clause: &Clause,
    beside: Option<&Beside>,
    found: &[&Finding],
) -> Markup {
    let links = LINKS.of(clause);
    let of = |kind| links.iter().filter(move |it| it.kind == kind);
    let no_rule = links::without_rule(clause).filter(|_| clause.level.binds());
    html! {
        td role="cell" data-head="Its passage" {
            @if let Some(beside) = beside {
                (state(beside))
                @for place in &beside.passages { (passage(place)) }
            } @else { span.faint { "read from no passage of its own" } }
        }
        td role="cell" data-head="What it says" {
            (said(clause))
            (known(links, |kind| kind != Kind::Guard))
        }
        td role="cell" data-head="Rule" {
            ul.plain { @for link in of(Kind::Guard) { li { (link.name) } } }
            @if of(Kind::Guard).next().is_none() { span.faint { (no_rule.unwrap_or("none")) } }
        }
        td role="cell" data-head="Verdict" {
            (verdict(report, clause, found))
            @if found.is_empty() { p.faint.source { "nothing found at odds" } }
        }
    }
}

fn state_name(state: State) -> &'static str {
    match state {
        State::Same => "same",
        State::Changed => "changed",
        State::Moved => "moved",
        State::Lost => "lost",
        State::Absent => "absent",
        State::Facts => "facts",
    }
}

/// What is wrong with a clause, what it leaves open, and what its rules are worth.
fn verdict(report: &Report, clause: &Clause, found: &[&Finding]) -> Markup {
    html! {
        ul.plain.verdict {
            @for it in found {
                li { (severity(it)) " " a href={ "findings/" (it.id) ".html" } { (it.id) } " " span.faint { (it.title) } }
            }
            @for (protocol, place) in report.places_of(clause) {
                @let costly = place.ways.iter().filter(|(_, costs)| !costs.is_empty()).count();
                li {
                    span.badge.quiet { "open" } " " a href={ "readings.html#" (protocol) "-" (place.name) } { (place.name) } " "
                    span.faint {
                        @if costly == 0 { "each of its " (place.ways.len()) " ways " (KEEPS) }
                        @else { (costly) " of its " (place.ways.len()) " ways break a guarantee" }
                    }
                }
            }
            @for (protocol, name, count, shortest) in report.rules_of(clause) {
                li {
                    span.badge.quiet { "rule" } " " a href={ (worth_file(protocol)) "#rule-" (name) } { (name) } " "
                    span.faint {
                        @match (count, shortest) {
                            (1, Some(steps)) => { "without it a guarantee breaks, in " (steps) " steps" }
                            (_, Some(steps)) => { "without it " (count) " guarantees break, the first in " (steps) " steps" }
                            _ => { "its loss alone breaks no guarantee" }
                        }
                    }
                }
            }
        }
    }
}

/// The letters of the kinds of links that there are.
fn kinds(links: &[Link]) -> String {
    let has = |kind| links.iter().any(|link| link.kind == kind);
    let letters = Kind::ALL.into_iter().filter(|kind| has(*kind));
    letters.map(Kind::letter).collect()
}

/// Why nothing can check it, or the links of these kinds behind a line that tells how many.
fn known(links: &[Link], is_shown: impl Fn(Kind) -> bool) -> Markup {
    let reason = links.iter().find(|link| link.kind == Kind::Exception);
    let shown = links.iter().filter(|link| is_shown(link.kind));
    let shown: Vec<&Link> = shown.collect();
    html! {
        @if let Some(reason) = reason {
            p.gap { span.badge.quiet { "not checkable" } " " (reason.name) }
        } @else if !shown.is_empty() {
            details {
                summary { (shown.len()) @if shown.len() == 1 { " link" } @else { " links" } }
                dl {
                    @for group in shown.chunk_by(|one, next| one.kind == next.kind) {
                        dt { (group[0].kind.heading()) }
                        @for link in group { dd { (link.name) } }
                    }
                }
            }
        }
    }
}
