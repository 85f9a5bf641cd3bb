//! A run as a page to step through: one file, offline, by keyboard or by ear as well as by eye.
//!
//! The one thing to know: the rows of the drawing are the rows of a table. Without style it is a table that anything can
//! read; style turns its rows into rows of a diagram. The rows are there from the start, and the browser lays out those that
//! are near the view, so that a long run opens at once and can still be searched.

use std::collections::BTreeMap;

use countersign_clauses::cited;
use maud::{Markup, html};
use serde_json::json;

use super::run::{Finding, Run, Step, Weight};
use super::words::printable;
use crate::page::{self, Page};

/// The height of the line with the arrow, in pixels.
const HEIGHT: usize = 28;

/// How many rows the browser takes together when it lays out what is in view.
const GROUP: usize = 50;

/// The style of [`drawing`].
pub const DRAWING: &str = include_str!("drawing.css");

/// The page; it opens with the run at position `chosen`, and the others are picked in it.
pub fn render(runs: &[Run], chosen: usize) -> String {
    page(runs, chosen, &html! {}, "")
}

/// The page of one run with something else before the steps, and the style of that.
pub fn beside(run: &Run, other: &Markup, style: &str) -> String {
    page(std::slice::from_ref(run), 0, other, style)
}

fn page(runs: &[Run], chosen: usize, other: &Markup, style: &str) -> String {
    let run = &runs[chosen];
    let body = html! {
        a.skip.unseen href="#steps" { "Skip to the steps" }
        @if runs.len() > 1 { (picker(runs, chosen)) }
        div #shown { (whole(run, other)) }
        // What is not shown yet: the script puts one in the place of what is.
        @if runs.len() > 1 {
            @for (number, run) in (1..).zip(runs) {
                template id={ "run-" (number) } { (whole(run, &html! {})) }
            }
        }
    };
    let title = format!("{}: {}", run.kind.name(), run.title);
    Page {
        title: &title,
        style: &format!("{}{DRAWING}{style}", include_str!("show.css")),
        script: include_str!("show.js"),
        body,
    }
    .render()
}

/// Which of the runs is shown.
fn picker(runs: &[Run], chosen: usize) -> Markup {
    html! {
        nav.runs aria-label="Runs" {
            label for="runs" { "Run " (chosen + 1) " of " (runs.len()) }
            select #runs hidden {
                @for (index, run) in runs.iter().enumerate() {
                    option value=(index + 1) selected[index == chosen] { (index + 1) ": " (run.title) " (" (run.steps.len()) " steps)" }
                }
            }
        }
    }
}

/// A run, with what the script needs of it.
fn whole(run: &Run, other: &Markup) -> Markup {
    html! {
        header.top {
            p.kind { (run.kind.name()) }
            h1 { (run.title) }
            p.verdict { (verdict(run)) }
            @if !run.head.is_empty() { p.faint { (run.head) } }
        }
        main {
            div.side {
                (panel(run))
                (findings(run))
            }
            (other)
            (steps(run))
            (clauses(run))
            (remarks(run))
        }
        (page::data("run", &json!({
            "participants": run.participants,
            "tracks": run.tracks,
            "steps": run.steps,
            "findings": run.findings,
        })))
    }
}

fn verdict(run: &Run) -> Markup {
    let gravest = run.findings.iter().map(|finding| finding.weight).min();
    let class = gravest.map_or("quiet", Weight::name);
    html! { span.badge.(class) { (run.verdict) } }
}

/// Where the reader is, and what holds there; the script fills it.
fn panel(run: &Run) -> Markup {
    html! {
        section #panel aria-labelledby="now" hidden {
            h2 #now { "Step" }
            div.controls role="group" aria-label="Step through the run" {
                button #first type="button" { span aria-hidden="true" { "⇤" } span.unseen { "First step" } }
                button #back type="button" { span aria-hidden="true" { "←" } " Back" }
                button #next type="button" { "Next " span aria-hidden="true" { "→" } }
                button #last type="button" { span aria-hidden="true" { "⇥" } span.unseen { "Last step" } }
                @if !run.findings.is_empty() { button #fault type="button" { "Next fault" } }
            }
            p #said role="status" aria-live="polite" {}
            p #place.faint {}
            ul #wrong.findings {}
            h3 { (if run.kind == super::run::Kind::Stream { "Confirmations after this step" } else { "State after this step" }) }
            table #states {
                caption.unseen { "State after this step" }
                thead.unseen { tr { th scope="col" { "Name" } th scope="col" { "State" } } }
                tbody {}
            }
            button #all type="button" hidden { "Show all" }
            div #extra {
                h3 { "Beside it" }
                ul #notes {}
            }
            details #record { summary { "The record" } pre tabindex="0" aria-label="The record" {} }
            p.faint.keys {
                kbd { "←" } " " kbd { "→" } " step, " kbd { "Home" } " " kbd { "End" } " first and last"
                @if !run.findings.is_empty() { ", " kbd { "Esc" } " from a step back to its fault in the list" }
            }
        }
    }
}

/// What is wrong, each with a way to its step and to its clause.
fn findings(run: &Run) -> Markup {
    html! {
        nav #faults aria-labelledby="faults-head" {
            h2 #faults-head { (counted(run)) }
            ol.findings {
                @for finding in &run.findings {
                    li.(finding.weight.name()) {
                        p {
                            a.jump href={ "#s" (finding.step + 1) } data-step=(finding.step) { (place(run, finding.step)) }
                            " " (clause_link(finding))
                        }
                        p { (finding.message) }
                        @if !finding.gist.is_empty() { p.faint { (finding.gist) } }
                    }
                }
            }
        }
    }
}

fn counted(run: &Run) -> String {
    let count = |weight| {
        run.findings
            .iter()
            .filter(|finding| finding.weight == weight)
            .count()
    };
    let told = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    match (count(Weight::Violation), count(Weight::Warning)) {
        (0, 0) => "Nothing found wrong".to_owned(),
        (violations, 0) => told(violations, "violation"),
        (0, warnings) => told(warnings, "warning"),
        (violations, warnings) => format!(
            "{}, {}",
            told(violations, "violation"),
            told(warnings, "warning")
        ),
    }
}

/// `line 4` of a stream, `step 4` of a run.
fn place(run: &Run, step: usize) -> String {
    match run.steps[step].line {
        Some(line) => format!("line {line}"),
        None => format!("step {}", step + 1),
    }
}

fn clause_link(finding: &Finding) -> Markup {
    html! {
        @if finding.is_known() { a.clause href={ "#clause-" (finding.clause) } { (cited(&finding.clause)) } " " }
        @else if !finding.clause.is_empty() { span.clause { (cited(&finding.clause)) } " " }
        @if !finding.level.is_empty() { span.badge.(finding.weight.name()) { (finding.level) } }
    }
}

/// The diagram and what it is shown by.
fn steps(run: &Run) -> Markup {
    html! {
        section #steps aria-labelledby="steps-head" tabindex="-1" {
            div.bar {
                h2 #steps-head { "Steps" }
                button #as-table type="button" aria-pressed="false" { "Show as a table" }
            }
            (drawing(run, ""))
        }
    }
}

/// The diagram, which is a table; the name of each row begins with `name`, so that a page can have several.
pub fn drawing(run: &Run, name: &str) -> Markup {
    let sheet = Sheet::of(run);
    let number = if run.kind == super::run::Kind::Stream {
        "Line"
    } else {
        "Step"
    };
    html! {
        table role="table" class={ "run n" (sheet.lanes) " w" (sheet.lane) } {
            caption.unseen { "Every step: when, from whom to whom, and what happens" }
            thead role="rowgroup" {
                tr role="row" {
                    th.number role="columnheader" scope="col" { (number) }
                    th.at role="columnheader" scope="col" { "Time" }
                    th.lanes aria-hidden="true" { @for name in &run.participants { span title=(name) { (name) } } }
                    th.who role="columnheader" scope="col" { "Who" }
                    th.what role="columnheader" scope="col" { "What happens" }
                }
            }
            @for (group, steps) in run.steps.chunks(GROUP).enumerate() {
                tbody role="rowgroup" {
                    @for (place, step) in steps.iter().enumerate() { (sheet.row(run, name, group * GROUP + place, step)) }
                }
            }
        }
    }
}

/// Where the lanes stand.
struct Sheet {
    lanes: usize,
    /// The width of a lane, in pixels; the style has a class for each.
    lane: usize,
}

impl Sheet {
    fn of(run: &Run) -> Self {
        let lanes = run.participants.len();
        let lane = match lanes {
            0..=2 => 120,
            3..=4 => 88,
            5..=6 => 68,
            _ => 60,
        };
        Self { lanes, lane }
    }

    fn row(&self, run: &Run, name: &str, index: usize, step: &Step) -> Markup {
        let number = step.number(index);
        let id = format!("{name}s{}", index + 1);
        let asides = step.asides(run).join(", ");
        let weight = step.weight(run);
        html! {
            tr role="row" id=(id) class=[weight.map(Weight::name)] {
                th.number role="rowheader" scope="row" { a href={ "#" (id) } tabindex="-1" { (number) } }
                td.at role="cell" { (step.at) }
                td.lanes aria-hidden="true" { (self.arrow(step)) }
                td.who role="cell" { (who(run, step)) }
                td.what role="cell" {
                    (step.text)
                    @if !asides.is_empty() { " " span.aside { (asides) } }
                    @for finding in step.findings.iter().map(|index| &run.findings[*index]) {
                        @let named = if finding.clause.is_empty() { finding.message.clone() } else { cited(&finding.clause) };
                        " " span.badge.(finding.weight.name()) { (finding.weight.mark()) " " (named) }
                    }
                }
            }
        }
    }

    /// A dot at who acts, and an arrow to whom it reaches.
    fn arrow(&self, step: &Step) -> Markup {
        let centre = |lane: usize| lane * self.lane + self.lane / 2;
        let (from, y) = (centre(step.from), HEIGHT / 2);
        let to = step.to.filter(|to| *to != step.from).map(centre);
        html! {
            svg width=(self.lane * self.lanes) height=(HEIGHT) {
                @if let Some(to) = to {
                    @let back = if from < to { to - 9 } else { to + 9 };
                    path.m d={ "M" (from) " " (y) "H" (back) } {}
                    path d={ "M" (to) " " (y) "L" (back) " " (y - 5) "V" (y + 5) "Z" } {}
                }
                circle cx=(from) cy=(y) r="4" {}
            }
        }
    }
}

fn who(run: &Run, step: &Step) -> String {
    let name = |lane: usize| run.participants[lane].as_str();
    match step.to {
        Some(to) if to != step.from => format!("{} to {}", name(step.from), name(to)),
        Some(_) | None => name(step.from).to_owned(),
    }
}

/// Every clause that the findings name, with what it says.
fn clauses(run: &Run) -> Markup {
    let named = run.findings.iter().flat_map(|finding| {
        let own = std::iter::once(finding.clause.as_str());
        own.chain(finding.also.iter().map(String::as_str))
    });
    let known: BTreeMap<&str, &countersign_clauses::Clause> = named
        .filter_map(|id| Some((id, countersign_clauses::get(id).ok()?)))
        .collect();
    html! {
        @if !known.is_empty() {
            section #clauses aria-labelledby="clauses-head" {
                h2 #clauses-head { "The clauses" }
                dl {
                    @for (id, clause) in known {
                        div id={ "clause-" (id) } tabindex="-1" {
                            dt { (clause.cited()) " " span.badge.quiet { (clause.level) } }
                            dd { (clause.gist) " " span.faint { (clause.source) } }
                        }
                    }
                }
            }
        }
    }
}

fn remarks(run: &Run) -> Markup {
    html! {
        @if !run.remarks.is_empty() {
            section aria-labelledby="remarks-head" {
                h2 #remarks-head { "Remarks" }
                ul.remarks { @for remark in &run.remarks { li { (printable(remark)) } } }
            }
        }
    }
}
