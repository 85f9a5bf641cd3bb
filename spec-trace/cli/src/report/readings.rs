//! Where a text can be taken in more than one way, and what each way costs, with the shortest runs that show it.

use countersign_model::checker::PropertyVerdict;
use maud::{Markup, html};

use super::{Full, clause_link, page as whole, ways};
use crate::commands::readings::{Costs, KEEPS, PlaceCosts, kept_and_broken};
use crate::show::html::drawing;
use crate::show::model_run;
use crate::show::run::Kind;

/// The page.
pub fn page(full: &Full) -> String {
    let body = html! {
        (ways("", "readings.html", true))
        header.top {
            p.kind { "Countersign" }
            h1 { "What the text leaves open" }
            p.faint { "Each place that can be taken in more than one way, and the guarantees that each way breaks, with the shortest runs." }
        }
        main.finding { @for costs in &full.readings { (of_protocol(costs)) } }
    };
    whole("what the text leaves open", body)
}

fn of_protocol(costs: &Costs) -> Markup {
    let others = costs.places.iter().flat_map(|it| it.ways.iter().skip(1));
    let (keep, cost): (Vec<_>, Vec<_>) = others.partition(|(_, costs)| costs.is_empty());
    html! {
        section.document aria-labelledby=(costs.protocol) {
            h2 id=(costs.protocol) { (costs.protocol) }
            p.faint {
                (costs.bounds) " bounds, runs of up to " (costs.steps) " steps: "
                (kept_and_broken(keep.len(), cost.len()))
            }
            @for place in &costs.places { (article(costs.protocol, place)) }
        }
    }
}

fn article(protocol: &str, place: &PlaceCosts) -> Markup {
    let id = format!("{protocol}-{}", place.name);
    html! {
        article id=(id) tabindex="-1" {
            h3 { a href={ "#" (id) } { (place.name) } }
            p { (place.question) " " span.faint { @for clause in place.clauses { (clause_link(clause)) " " } } }
            dl {
                @for (number, (value, costs)) in place.ways.iter().enumerate() {
                    dt { (value) " " (badge(number == 0, costs.len())) }
                    @if number == 0 { dd.faint { (place.why) } }
                    @for (cost, property) in costs.iter().enumerate() { dd { (run(&format!("{id}-{number}-{cost}-"), property)) } }
                }
            }
        }
    }
}

fn badge(is_default: bool, costs: usize) -> Markup {
    html! {
        @match (is_default, costs) {
            (true, _) => span.badge.quiet { "the default" },
            (_, 0) => span.badge.good { (KEEPS) },
            (_, 1) => span.badge.violation { "breaks a guarantee" },
            _ => span.badge.violation { "breaks " (costs) " guarantees" },
        }
    }
}

/// A guarantee that breaks, and behind it the shortest run.
fn run(name: &str, property: &PropertyVerdict) -> Markup {
    let steps = property.steps.len();
    let run = model_run::of(Kind::Counterexample, &property.name, &property.steps);
    html! {
        details {
            summary { (property.name) " (" (steps) " steps)" }
            p { @for id in &*property.clauses { (clause_link(id)) " " } }
            div.drawing { (drawing(&run, name)) }
        }
    }
}
