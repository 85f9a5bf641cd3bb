//! What the rules are worth, as a page: the matrix drawn, and below it what it says.

use countersign_model::checker::PropertyVerdict;
use maud::{Markup, html};

use super::{Guarantee, Single, Worth, text};
use crate::page::Page;
use crate::show::html::{DRAWING, drawing};
use crate::show::model_run;
use crate::show::run::Kind;

/// How a page names a clause: by its id alone, or as a link to where it is explained.
pub type ShowClause = fn(&str) -> Markup;

/// The page of a protocol; `duties` are those that no rule stands for, each with its level and the reason. `around` stands above it.
pub fn render(
    protocol: &str,
    bounds: &str,
    worth: &Worth,
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
            (runs(worth, clause))
            section {
                h2 { "Duties of the text without a rule to leave out" }
                dl { @for (id, level, reason) in duties { dt { (clause(id)) " " span.badge.quiet { (level) } } dd { (reason) } } }
            }
        }
    };
    let title = format!("Countersign: what each rule of {protocol} is worth");
    Page {
        title: &title,
        style: &format!("{DRAWING}{}", include_str!("worth.css")),
        script: include_str!("worth.js"),
        body,
    }
    .render()
}

fn matrix(worth: &Worth, clause: ShowClause) -> Markup {
    html! {
        section {
            h2 #matrix-head { "Rule by guarantee" }
            p.faint { "A number is the length of the shortest run, in steps, that breaks the guarantee where the rule alone is left out. It leads to the run, drawn." }
            div.wide tabindex="0" role="region" aria-labelledby="matrix-head" {
                table.worth {
                    thead {
                        tr {
                            th scope="col" { "without" }
                            @for guarantee in &worth.guarantees { th.turned scope="col" { span title=(guarantee.in_words()) { (guarantee.in_words()) } } }
                            th.turned scope="col" { span { "else, as the text is read" } }
                        }
                    }
                    tbody {
                        @for single in &worth.singles {
                            tr id={ "rule-" (single.rule.name) } {
                                th scope="row" title=(single.rule.gist) { (single.rule.name) " " span.faint { (clause(single.rule.clauses[0])) } }
                                @for guarantee in &worth.guarantees { (cell(single, single.breaking(&guarantee.name), &guarantee.name)) }
                                (cell(single, single.breaking_otherwise(), "else"))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a rule's loss breaks, with its place among all that it breaks.
type Broken<'a> = Option<(usize, &'a PropertyVerdict)>;

/// The shorter the run, the stronger the colour; it leads to the run.
fn cell(single: &Single, broken: Broken<'_>, title: &str) -> Markup {
    html! {
        @match broken {
            Some((place, property)) => {
                @let steps = property.steps.len();
                td class={ "s" (steps.min(10)) } title=(title) { a href={ "#" (run_id(single, place)) } { (steps) } }
            },
            None => td {},
        }
    }
}

fn run_id(single: &Single, place: usize) -> String {
    format!("run-{}-{place}", single.rule.name)
}

/// The runs that the cells lead to, each drawn.
fn runs(worth: &Worth, clause: ShowClause) -> Markup {
    html! {
        section {
            h2 { "The shortest runs" }
            @for single in &worth.singles {
                @let guarantees = worth.guarantees.iter().filter_map(|it| single.breaking(&it.name));
                @for (place, property) in guarantees.chain(single.breaking_otherwise()) {
                    @let id = run_id(single, place);
                    details id=(id) tabindex="-1" {
                        summary { "without " code { (single.rule.name) } ": " (property.name) " (" (property.steps.len()) " steps)" }
                        p { @for id in &*property.clauses { (clause(id)) " " } }
                        @let run = model_run::of(Kind::Counterexample, &property.name, &property.steps);
                        div.drawing { (drawing(&run, &format!("in-{id}-"))) }
                    }
                }
            }
        }
    }
}

fn carriers(worth: &Worth, guarantee: &Guarantee, clause: ShowClause) -> Markup {
    let carriers = worth.carriers(guarantee);
    html! {
        dt { (guarantee.in_words()) @for id in &guarantee.clauses { " " span.faint { (clause(id)) } } }
        dd {
            @if guarantee.is_broken { (text::BROKEN) } @else if carriers.is_empty() { "the loss of no rule alone" }
            @for (place, (row, steps)) in carriers.iter().enumerate() {
                @if place > 0 { ", " }
                code { (row.name) } " (" (steps) ")"
            }
        }
    }
}
