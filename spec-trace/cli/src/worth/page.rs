//! What the rules are worth, as a page: the matrix drawn, and below it what it says.

use countersign_model::rules::Guards;
use maud::{Markup, html};

use super::{Guarantee, Worth, text};
use crate::page::Page;

/// How a page names a clause: by its id alone, or as a link to where it is explained.
pub type ShowClause = fn(&str) -> Markup;

/// The page of a protocol; `duties` are those that no rule stands for, each with its level and the reason. `around` stands above it.
pub fn render<G: Guards>(
    protocol: &str,
    bounds: &str,
    worth: &Worth<G>,
    duties: &[(&str, &str, &str)],
    (around, clause): (&Markup, ShowClause),
) -> String {
    let body = html! {
        (around)
        header.top {
            p.kind { "Countersign" }
            h1 { "What each rule of " (protocol) " is worth" }
            p.faint { (bounds) " bounds, " (text::extent(worth)) " for each rule left out" }
        }
        main {
            (matrix(worth, clause))
            section {
                h2 { "Which rules carry a guarantee" }
                dl { @for guarantee in &worth.guarantees { (carriers(worth, guarantee, clause)) } }
            }
            @if let Some(pairs) = &worth.pairs {
                section {
                    h2 { "Two rules at a time" }
                    pre { (text::pairs(pairs, &worth.guarantees)) }
                }
            }
            section {
                h2 { "Duties of the text without a rule to leave out" }
                dl { @for (id, level, reason) in duties { dt { (clause(id)) " " span.badge.quiet { (level) } } dd { (reason) } } }
            }
        }
    };
    let title = format!("Countersign: what each rule of {protocol} is worth");
    Page {
        title: &title,
        style: include_str!("worth.css"),
        script: "",
        body,
    }
    .render()
}

fn matrix<G: Guards>(worth: &Worth<G>, clause: ShowClause) -> Markup {
    html! {
        section {
            h2 #matrix-head { "Rule by guarantee" }
            p.faint { "A number is the length of the shortest run, in steps, that breaks the guarantee where the rule alone is left out." }
            div.wide tabindex="0" role="region" aria-labelledby="matrix-head" {
                table.worth {
                    thead {
                        tr {
                            th scope="col" { "without" }
                            @for guarantee in &worth.guarantees { th.turned scope="col" { span title=(guarantee.name) { (guarantee.name) } } }
                            th.turned scope="col" { span { "else, as the text is read" } }
                        }
                    }
                    tbody {
                        @for single in &worth.singles {
                            tr id={ "rule-" (single.row.name) } {
                                th scope="row" title=(single.row.gist) { (single.row.name) " " span.faint { (clause(single.row.clauses[0])) } }
                                @for guarantee in &worth.guarantees { (cell(single.length(&guarantee.name), &guarantee.name)) }
                                (cell(single.otherwise(), "else"))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The shorter the run, the stronger the colour.
fn cell(length: Option<usize>, title: &str) -> Markup {
    html! {
        @match length {
            Some(steps) => td class={ "s" (steps.min(10)) } title=(title) { (steps) },
            None => td {},
        }
    }
}

fn carriers<G: Guards>(worth: &Worth<G>, guarantee: &Guarantee, clause: ShowClause) -> Markup {
    let carriers = worth.carriers(guarantee);
    html! {
        dt { (guarantee.name) @for id in &guarantee.clauses { " " span.faint { (clause(id)) } } }
        dd {
            @if carriers.is_empty() { "the loss of no rule alone" }
            @for (place, (row, steps)) in carriers.iter().enumerate() {
                @if place > 0 { ", " }
                code { (row.name) } " (" (steps) ")"
            }
        }
    }
}
