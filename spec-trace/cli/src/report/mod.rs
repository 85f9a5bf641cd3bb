//! What an editor of the documents is handed: every clause with what holds it, every finding with the runs that show it, and, where they
//! were asked for, what each reading costs and what each rule is worth. Pages that need no network, and the same as JSON.
//!
//! The one thing to know: nothing is found out here. What is derived, executed and searched comes in, and this lays it out and links it.
//! The same sources give the same bytes.

use countersign_clauses::passages::{Beside, Compared};
use countersign_clauses::{Clause, all, by_document};
use countersign_findings::{self as findings, Finding, Severity};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::answer::{Status, with_result};
use crate::commands::clauses::{self, against};
use crate::commands::findings::documents;
use crate::commands::readings::{Costs, PlaceCosts};
use crate::commands::worth::Drawn;
use crate::links::Tally;
use crate::page::Page;
use crate::show::html::DRAWING;

mod inventory;
mod on_text;
mod readings;

/// What a report is made of.
#[derive(Debug, Default)]
pub struct Report {
    /// The clauses beside an editor's copy of the documents.
    pub against: Option<Compared>,
    /// What takes minutes to search.
    pub full: Option<Full>,
}

/// What takes minutes to search, protocol by protocol.
#[derive(Debug)]
pub struct Full {
    /// What each way to take a place costs.
    pub readings: Vec<Costs>,
    /// What each rule is worth.
    pub worth: Vec<Drawn>,
}

/// A rule that carries out a clause: the protocol, its name, how many guarantees break without it, and the shortest run that breaks one.
type RuleOfClause = (&'static str, &'static str, usize, Option<usize>);

impl Report {
    /// Every file: its place in the folder of the report, and what stands in it.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files = vec![
            ("index.html".to_owned(), inventory::page(self)),
            ("findings.html".to_owned(), on_text::list(self)),
        ];
        if let Some(full) = &self.full {
            files.push(("readings.html".to_owned(), readings::page(full)));
            let worth = full.worth.iter();
            files.extend(worth.map(|it| (worth_file(it.protocol), it.page.clone())));
        }
        let all = findings::all();
        files.extend((0..all.len()).map(|place| {
            let file = format!("findings/{}.html", all[place].id);
            (file, on_text::page(self, place))
        }));
        files.push(("report.json".to_owned(), format!("{:#}\n", self.document())));
        files
    }

    /// What the comparison with a copy came to, where there is one.
    pub fn status(&self) -> Status {
        let against = self.against.as_ref();
        against.map_or(Status::Holds, against::status)
    }

    /// Totals, totals by document, every clause with its links, and every finding; what was asked for besides stands behind them.
    pub fn document(&self) -> Value {
        let clauses: Vec<&Clause> = all().iter().collect();
        let totals = by_document(&clauses).into_iter();
        let totals = totals.map(|document| {
            json!({
                "title": document[0].document,
                "protocol": document[0].protocol,
                "totals": Tally::of(document.iter().copied()),
            })
        });
        let mut shown = clauses::document(&clauses, None);
        for (shown, clause) in shown.as_array_mut().into_iter().flatten().zip(&clauses) {
            self.add_to_clause(shown, clause);
        }
        let found: Vec<&Finding> = findings::all().iter().collect();
        let mut document = json!({
            "texts": countersign_clauses::texts(),
            "totals": Tally::of(all()),
            "documents": totals.collect::<Vec<_>>(),
            "clauses": shown,
            "findings": documents(&found),
        });
        if let Some(compared) = &self.against {
            document["against"] = json!(compared);
        }
        if let Some(full) = &self.full {
            document["readings"] = full.readings.iter().map(|it| it.json.clone()).collect();
            document["worth"] = full.worth.iter().map(|it| it.json.clone()).collect();
        }
        with_result(document, self.status())
    }

    /// What leads from a clause to the rest of the report.
    fn add_to_clause(&self, shown: &mut Value, clause: &Clause) {
        let found = findings_on(clause).map(|it| it.id.as_str());
        shown["findings"] = found.collect();
        if self.full.is_some() {
            let places = self.places_of(clause);
            shown["readings"] = places.map(|(_, place)| place.name).collect();
        }
    }

    /// A clause beside the editor's copy, where there is one and the clause was read from a passage.
    fn beside(&self, clause: &Clause) -> Option<&Beside> {
        let mut all = self.against.as_ref()?.clauses.iter();
        all.find(|it| it.id == clause.id.as_str())
    }

    /// The places that a clause leaves open, each with its protocol.
    fn places_of(&self, clause: &Clause) -> impl Iterator<Item = (&'static str, &PlaceCosts)> {
        let id = clause.id.as_str();
        let costs = self.full.iter().flat_map(|full| &full.readings);
        let places =
            costs.flat_map(|costs| costs.places.iter().map(|place| (costs.protocol, place)));
        places.filter(move |(_, place)| place.clauses.contains(&id))
    }

    /// The rules that carry out a clause and were left out.
    fn rules_of(&self, clause: &Clause) -> impl Iterator<Item = RuleOfClause> {
        let id = clause.id.as_str();
        let worth = self.full.iter().flat_map(|full| &full.worth);
        let rules = worth.flat_map(|worth| worth.rules.iter().map(|rule| (worth.protocol, rule)));
        let rules = rules.filter(move |(_, (_, clauses, ..))| clauses.contains(&id));
        rules.map(|(protocol, &(name, _, count, shortest))| (protocol, name, count, shortest))
    }
}

/// The findings that concern a clause, those of harm first.
fn findings_on(clause: &Clause) -> impl Iterator<Item = &'static Finding> {
    let of = |severity| {
        let all = findings::all().iter();
        all.filter(move |it| it.severity == severity && it.clauses.contains(&clause.id))
    };
    of(Severity::Harm).chain(of(Severity::Interoperability))
}

/// A page of the report.
fn page(title: &str, body: Markup) -> String {
    Page {
        title: &format!("Countersign: {title}"),
        style: &format!("{DRAWING}{}", include_str!("report.css")),
        script: include_str!("report.js"),
        body,
    }
    .render()
}

/// The ways to the other pages; `root` leads to the folder of the report, `here` is the file.
fn ways(root: &str, here: &str, is_full: bool) -> Markup {
    let of_worth = PROTOCOLS.map(|name| (worth_file(name), format!("Worth: {name}")));
    let more = [("readings.html".to_owned(), "Readings".to_owned())];
    let more = more.into_iter().chain(of_worth).filter(|_| is_full);
    let always = [("index.html", "Clauses"), ("findings.html", "Findings")];
    let always = always.map(|(file, name)| (file.to_owned(), name.to_owned()));
    html! {
        nav.ways aria-label="Pages of the report" {
            @for (file, name) in always.into_iter().chain(more) {
                a href={ (root) (file) } aria-current=[(file == here).then_some("page")] { (name) }
            }
        }
    }
}

/// What stands above a page on what rules are worth.
pub fn above_worth(protocol: &str) -> Markup {
    ways("", &worth_file(protocol), true)
}

/// The protocols, by their names on the command line.
const PROTOCOLS: [&str; 3] = ["aaep", "mcp-aql", "pending-action"];

fn worth_file(protocol: &str) -> String {
    format!("worth-{protocol}.html")
}

/// A clause, as a link to where it is explained.
pub fn clause_link(id: &str) -> Markup {
    clause_from("", id)
}

fn clause_from(root: &str, id: &str) -> Markup {
    html! { a.clause href={ (root) "index.html#" (id) } { (id) } }
}

/// How bad a finding is, as a badge.
fn severity(finding: &Finding) -> Markup {
    let class = match finding.severity {
        Severity::Harm => "violation",
        Severity::Interoperability => "warning",
    };
    html! { span.badge.(class) { (crate::commands::findings::severity(finding)) } }
}
