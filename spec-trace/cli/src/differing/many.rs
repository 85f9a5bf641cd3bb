//! The reports on several implementations of one protocol, beside each other: each clause is a row.
//!
//! The one thing to know: it is made of what `diff --format json` has written, and judges nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use countersign_clauses::cited;
use countersign_conform::driven::DRIVER;
use maud::{Markup, html};
use miette::{Context, IntoDiagnostic, miette};
use serde::Deserialize;
use serde_json::{Value, json};

use super::badge::badge;
use crate::page::Page;
use crate::show::words::{printable, shortened};
use crate::table::{self, Align};

/// The reports, in the order in which they were given.
pub struct Matrix {
    protocol: String,
    reports: Vec<Kept>,
}

/// What is read of a report.
#[derive(Deserialize)]
struct Kept {
    protocol: String,
    implementation: String,
    verdict: String,
    clauses: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    clause: String,
    verdict: String,
}

impl Matrix {
    /// Reads the reports.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read, is no report of `diff`, or is of another protocol than the first.
    pub fn read<F: AsRef<Path>>(files: &[F]) -> miette::Result<Self> {
        let mut reports: Vec<Kept> = Vec::new();
        for file in files.iter().map(AsRef::as_ref) {
            let shown = file.display();
            let text = fs::read_to_string(file)
                .into_diagnostic()
                .wrap_err_with(|| format!("cannot read {shown}"))?;
            let report: Kept = serde_json::from_str(&text)
                .into_diagnostic()
                .wrap_err_with(|| format!("{shown} is no report of `diff --format json`"))?;
            if let Some(first) = reports.first()
                && first.protocol != report.protocol
            {
                let (of, others) = (&report.protocol, &first.protocol);
                return Err(miette!(
                    "{shown} is a report of {of}, and those before it are of {others}"
                ));
            }
            reports.push(report);
        }
        let first = reports
            .first()
            .ok_or_else(|| miette!("there is no report"))?;
        Ok(Self {
            protocol: first.protocol.clone(),
            reports,
        })
    }

    /// Each clause that a report names, with the verdict of each report on it.
    fn rows(&self) -> BTreeMap<&str, Vec<Option<&str>>> {
        let clauses = self.reports.iter().flat_map(|report| &report.clauses);
        let clauses: BTreeSet<&str> = clauses.map(|row| row.clause.as_str()).collect();
        let of = |clause| {
            let verdicts = self.reports.iter().map(|report| {
                let row = report.clauses.iter().find(|row| row.clause == clause);
                row.map(|row| row.verdict.as_str())
            });
            (clause, verdicts.collect())
        };
        clauses.into_iter().map(of).collect()
    }

    /// For people.
    pub fn text(&self) -> String {
        let names = self.reports.iter().map(|report| name(report, LONGEST));
        let head = [self.protocol.clone()].into_iter().chain(names);
        let mut rows = vec![head.collect::<Vec<_>>()];
        let verdicts = self.reports.iter().map(|report| report.verdict.clone());
        rows.push([String::new()].into_iter().chain(verdicts).collect());
        rows.extend(self.rows().into_iter().map(|(clause, verdicts)| {
            let verdicts = verdicts.into_iter().map(|it| it.unwrap_or("-").to_owned());
            [cited(clause)].into_iter().chain(verdicts).collect()
        }));
        let columns = vec![Align::Left; self.reports.len() + 1];
        table::render(&columns, &rows)
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let implementations = self.reports.iter().map(|report| {
            json!({
                "implementation": report.implementation, "verdict": report.verdict, "badge": report.badge(),
            })
        });
        let clauses = self.rows().into_iter();
        let clauses =
            clauses.map(|(clause, verdicts)| json!({"clause": clause, "verdicts": verdicts}));
        json!({
            "protocol": self.protocol,
            "implementations": implementations.collect::<Vec<_>>(),
            "clauses": clauses.collect::<Vec<_>>(),
        })
    }

    /// The badges, in the order of the reports.
    pub fn badges(&self) -> impl Iterator<Item = Value> {
        self.reports.iter().map(Kept::badge)
    }

    /// As one page.
    pub fn html(&self) -> String {
        let title = format!("Countersign: implementations of {}", self.protocol);
        let body = html! {
            header.top {
                p.kind { "Countersign" }
                h1 { "Implementations of " (self.protocol) }
            }
            main {
                div.wide tabindex="0" role="region" aria-label="The verdict on each clause" {
                    table.verdicts {
                        thead {
                            tr {
                                th scope="col" { "Clause" }
                                @for report in &self.reports {
                                    th scope="col" { (printable(&report.implementation)) ": " (printable(&report.verdict)) }
                                }
                                th scope="col" { "What it says" }
                            }
                        }
                        tbody { @for (clause, verdicts) in self.rows() { (row(clause, &verdicts)) } }
                    }
                }
            }
        };
        Page {
            title: &title,
            style: include_str!("verdicts.css"),
            script: "",
            body,
        }
        .render()
    }
}

/// So many characters of the name of an implementation head a column.
const LONGEST: usize = 30;

fn name(report: &Kept, longest: usize) -> String {
    shortened(&printable(&report.implementation), longest)
}

fn row(clause: &str, verdicts: &[Option<&str>]) -> Markup {
    let known = countersign_clauses::get(clause).ok();
    html! {
        tr {
            th scope="row" { (cited(clause)) }
            @for verdict in verdicts {
                td { @if let Some(verdict) = verdict { span.verdict.(verdict) { (verdict) } } @else { "–" } }
            }
            td { @if let Some(known) = known { (known.level) ": " (known.gist) } }
        }
    }
}

impl Kept {
    fn badge(&self) -> Value {
        let count = |verdict| {
            let rows = self.clauses.iter();
            rows.filter(|row| row.verdict == verdict && row.clause != DRIVER)
                .count()
        };
        badge(
            &self.protocol,
            &self.verdict,
            count("upholds"),
            count("violates"),
        )
    }
}
