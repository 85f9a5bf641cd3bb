//! The recordings of the published minimal producer, held against what was found in them by hand: the table of `docs/PRODUCER.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_clauses as clause;
use countersign_lint::lint;
use countersign_lint::report::LintReport;

/// A row of the table, for one of its recordings.
struct Row<'a> {
    recording: String,
    line: u64,
    clauses: Vec<&'a str>,
    /// What `lint` says of it: the kind, and the clause.
    said: Option<(&'a str, &'a str)>,
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn recordings() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in ["", "other-tools/"] {
        let path = here("../traces/producer").join(folder);
        for entry in fs::read_dir(path).expect("a folder of recordings") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_str().expect("plain text");
            names.extend(
                name.strip_suffix(".jsonl")
                    .map(|it| format!("{folder}{it}")),
            );
        }
    }
    names
}

fn rows<'a>(page: &'a str, recordings: &BTreeSet<String>) -> Vec<Row<'a>> {
    let lines = page
        .lines()
        .skip_while(|it| !it.starts_with("| recording |"));
    let lines = lines.skip(2).take_while(|it| it.starts_with('|'));
    lines.flat_map(|line| row(line, recordings)).collect()
}

fn row<'a>(line: &'a str, recordings: &BTreeSet<String>) -> Vec<Row<'a>> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let [_, of, number, _, clauses, shows, said, _] = cells[..] else {
        panic!("six cells: {line}");
    };
    let named: BTreeSet<String> = of
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert!(named.is_subset(recordings), "{of}");
    let meant = if of.starts_with("all") {
        recordings.difference(&named).cloned().collect()
    } else {
        named
    };
    assert!(
        shows.starts_with("proves") || shows.starts_with("suggests"),
        "{shows}"
    );
    let said = said.split(':').next().unwrap_or_default();
    let said = said.rsplit_once(' ').filter(|(kind, _)| {
        assert!(
            ["violation", "warning", "not judged"].contains(kind),
            "{said}"
        );
        true
    });
    assert!(
        said.is_some() || line.contains("| nothing: "),
        "a finding or a reason: {line}"
    );
    let row = |recording| Row {
        recording,
        line: number.parse().expect("a line"),
        clauses: ids(clauses),
        said,
    };
    meant.into_iter().map(row).collect()
}

fn ids(text: &str) -> Vec<&str> {
    let words = text.split([' ', ',']);
    words.filter(|it| it.starts_with("AAEP-")).collect()
}

fn judged(recording: &str) -> LintReport {
    let path = here("../traces/producer").join(format!("{recording}.jsonl"));
    let bytes = fs::read(path).expect("a readable recording");
    lint(&bytes[..], recording).expect("reading from memory cannot fail")
}

/// What `lint` says of a recording: kind, line and clause. What is not judged has no line.
fn findings(report: &LintReport) -> BTreeSet<(&'static str, u64, &'static str)> {
    let violations = report.violations.iter().map(|it| ("violation", it));
    let warnings = report.warnings.iter().map(|it| ("warning", it));
    let found = violations.chain(warnings);
    found.map(|(kind, it)| (kind, it.line, it.clause)).collect()
}

#[test]
fn lint_says_of_the_published_producer_what_the_page_says() {
    let page = fs::read_to_string(here("../docs/PRODUCER.md")).expect("the page");
    let recordings = recordings();
    let rows = rows(&page, &recordings);
    assert!(rows.len() > 70, "{} rows", rows.len());
    for recording in &recordings {
        let report = judged(recording);
        let mut said = BTreeSet::new();
        for row in rows.iter().filter(|it| it.recording == *recording) {
            for id in &row.clauses {
                assert!(clause::get(id).is_ok(), "{id}");
            }
            let Some((kind, clause)) = row.said else {
                continue;
            };
            assert!(row.clauses.contains(&clause), "{recording}: {clause}");
            if kind == "not judged" {
                let mut open = report.not_judged.iter();
                assert!(
                    open.any(|it| it.clause == clause),
                    "{recording}: {clause} is not open"
                );
            } else {
                said.insert((kind, row.line, clause));
            }
        }
        assert_eq!(findings(&report), said, "{recording}");
    }
}
