//! `spec-trace/TRACE.md`: where each clause takes effect, what tests it, and what breaks without it.
//!
//! The page is derived from the sources and the tables of the tests. `countersign clauses --untested` reads it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use countersign_clauses::faults::{self, Fault};
use countersign_clauses::links::{not_checkable, without_branch};
use countersign_clauses::{Clause, ClauseId, Level, all, get, protocols};
use countersign_cli::answer::Format;
use countersign_cli::commands::clauses::source::{Tree, names};
use countersign_cli::commands::clauses::untested::NONE;
use countersign_cli::commands::clauses::{Args, run};
use countersign_model::facade::{Rule, Text, text};
use serde_json::Value;

use crate::clauses::is_test;

/// Where this is set, the page is written anew.
const WRITE: &str = "COUNTERSIGN_WRITE_TRACE";

const HEAD: &str = "\
# From each clause to its code and its test

This page is generated: `COUNTERSIGN_WRITE_TRACE=1 cargo test -p countersign-cli --test it trace::` writes it. Files are named
from the folder of the protocol. `+2` stands for two more.

- **spec**: the functions of the model that enforce the clause. **reference**: those of the reference that name it.
- **test**: a row that the text refuses and accepts with the clause left out (in quotes, from `text.rs` and the files beside it;
  `W7` of a section, from `book.txt`), or else the test that fails with an injected fault (`spec-trace/faults/`). A test that only
  names the clause does not count. `countersign clauses --untested` lists the clauses without one.
- **breaks without it**: what the search finds first, mostly a guarantee (`without.txt`).
- **vector**: the run of the committed suite that detects an implementation without the clause, and the clause that it then violates.
- **none, because**: *not checkable*: nothing outside can show it. *nothing breaks*: no search finds anything wrong without it. *no rule*:
  nothing of the model can be left out. *not in the reference*: nothing there carries it out. `countersign clauses ID` has the reason.
";

const COLUMNS: &str = "\
| clause | level | basis | spec | reference | test | breaks without it | vector | none, because |
|---|---|---|---|---|---|---|---|---|
";

/// Where a row has the test.
const TEST: usize = 5;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Rust sources below a folder, by their names from there, without tests.
fn sources(folder: &str) -> Vec<(String, String)> {
    let tree = Tree::read(&root().join(folder)).expect("the sources");
    let is_source = |file: &str| {
        let is_rust = Path::new(file).extension().is_some_and(|it| it == "rs");
        is_rust && !file.ends_with("tests.rs")
    };
    let sources = tree.files.into_iter().filter(|(file, _)| is_source(file));
    let code = |text: &str| {
        text.split("#[cfg(test)]")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    sources.map(|(file, text)| (file, code(&text))).collect()
}

/// The name that a line declares.
fn declared(code: &str) -> Option<&str> {
    const KINDS: [&str; 7] = ["fn", "const", "static", "struct", "enum", "trait", "type"];
    let is_before = |word: &&str| word.starts_with("pub") || ["async", "unsafe"].contains(word);
    let mut words = code.split_whitespace().skip_while(is_before).peekable();
    words.peek().filter(|it| KINDS.contains(it))?;
    let name = words.find(|it| !KINDS.contains(it))?;
    name.split(|it: char| !it.is_alphanumeric() && it != '_')
        .next()
}

/// Each place that has such a line, imports apart: the file, and the item around the line or below its comment.
fn places(files: &[(String, String)], has_it: impl Fn(&str) -> bool) -> Vec<String> {
    let mut places = Vec::new();
    for (file, text) in files.iter().filter(|(_, text)| has_it(text)) {
        let (mut items, mut is_named, mut is_import) = (Vec::new(), false, false);
        for line in text.lines().filter(|it| !it.trim().is_empty()) {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            is_import |= code.starts_with("use ");
            is_named |= !is_import && has_it(code);
            if code.starts_with("//") && !code.starts_with("//!") || code.starts_with("#[") {
                continue;
            }
            let name = declared(code);
            if name.is_some() || code.starts_with(char::is_alphanumeric) && code != "where" {
                items.retain(|(of, _)| *of < indent);
            }
            items.extend(name.map(|it| (indent, it)));
            if std::mem::take(&mut is_named) {
                let item = items.last().map_or("", |(_, name)| name);
                let place = format!("{file} {item}").trim_end().to_owned();
                if !places.contains(&place) {
                    places.push(place);
                }
            }
            is_import &= !code.ends_with(';');
        }
    }
    // The clause of each refusal stands in a table of that name, and the place that refuses is another.
    places.sort_by_key(|it| it.ends_with(" clause"));
    places
}

/// The first two, and how many more there are.
fn shortened(all: &[String]) -> String {
    let shown = all[..all.len().min(2)].join("<br>");
    match all.len().saturating_sub(2) {
        0 => shown,
        more => format!("{shown} +{more}"),
    }
}

/// What there is to look up for the clauses of one text.
struct Sources {
    text: &'static Text,
    spec: Vec<(String, String)>,
    reference: [Vec<(String, String)>; 2],
    faults: Vec<&'static Fault>,
    rows: String,
    without: String,
    suite: String,
}

impl Sources {
    fn of(protocol: &str) -> Self {
        let folder = protocol.replace('-', "_");
        let tested = |file| read(&format!("model/tests/it/{folder}/{file}"));
        let enforces = |file: &str| {
            ["spec", "wire", "envelope"]
                .iter()
                .any(|it| file.starts_with(it))
        };
        let model = sources(&format!("model/src/{folder}")).into_iter();
        let has = |file: &str, text: &str| {
            fs::read_to_string(root().join(file)).is_ok_and(|it| it.contains(text))
        };
        let is_its = |id: &ClauseId| get(id.as_str()).is_ok_and(|it| it.protocol == protocol);
        let fits = |it: &&Fault| {
            it.clauses.iter().any(is_its) && has(&it.file, &it.find) && is_test(&it.test)
        };
        Self {
            text: text(protocol).expect("a text"),
            spec: model.filter(|(file, _)| enforces(file)).collect(),
            reference: [
                sources(&format!("reference/src/{folder}")),
                sources("reference/src"),
            ],
            faults: faults::all().iter().filter(fits).collect(),
            rows: tested("rows.txt"),
            without: tested("without.txt"),
            suite: read(&format!("spec-trace/conform/src/{folder}/suite.json")),
        }
    }

    fn spec(&self, id: &ClauseId) -> String {
        let constant = id.constant();
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let has_it = |line: &str| line.split(|it| !is_part(it)).any(|it| it == constant);
        shortened(&places(&self.spec, has_it))
    }

    fn reference(&self, id: &str) -> String {
        let places = self
            .reference
            .iter()
            .map(|files| places(files, |line| names(line, id)));
        shortened(
            &places
                .into_iter()
                .find(|it| !it.is_empty())
                .unwrap_or_default(),
        )
    }

    fn test(&self, id: &str) -> String {
        let mut rows = self
            .rows
            .lines()
            .filter_map(|it| it.strip_prefix(id)?.strip_prefix(' '));
        let mut faults = self
            .faults
            .iter()
            .filter(|it| it.clauses.iter().any(|it| it.as_str() == id));
        let fault = || {
            Some(format!(
                "fault: {}",
                faults.next()?.test.rsplit("::").next()?
            ))
        };
        let row = rows.next().map(|it| format!("\"{it}\""));
        row.or_else(fault).unwrap_or_default()
    }

    fn breaks(&self, id: &str) -> String {
        let below = self.without.lines().skip_while(|it| *it != id).skip(1);
        let broken: Vec<&str> = below.map_while(|it| it.strip_prefix("  ")).collect();
        let own = broken.iter().position(|it| names(it, id)).unwrap_or(0);
        match broken.len() {
            0 => String::new(),
            1 => broken[0].to_owned(),
            all => format!("{} +{}", broken[own], all - 1),
        }
    }

    fn vector(&self, id: &str) -> String {
        let parts = self.suite.split("\"without ").skip(1);
        let found = parts.filter_map(|it| it.split('"').next()?.split_once(": "));
        let is_its = |rule: &str| {
            self.text
                .named(rule)
                .iter()
                .any(|it| it.clauses.first() == Some(&id))
        };
        let its = found
            .filter(|(rule, _)| is_its(rule))
            .map(|(_, found)| found);
        its.into_iter().next().unwrap_or_default().to_owned()
    }

    /// Why a cell is empty.
    fn reason(&self, clause: &Clause) -> String {
        let is_its = |it: &&Rule| it.clauses.first() == Some(&clause.id.as_str());
        let rule = self.text.rules.iter().find(is_its);
        if not_checkable(clause).is_some() {
            return "not checkable".to_owned();
        }
        let reasons = [
            rule.is_none().then_some("no rule"),
            rule.and_then(|it| it.free).map(|_| "nothing breaks"),
            without_branch(clause).map(|_| "not in the reference"),
        ];
        reasons.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The row of the page.
    fn row(&self, clause: &Clause) -> [String; 9] {
        let id = clause.id.as_str();
        [
            id.to_owned(),
            clause.level.to_string(),
            clause.basis.to_string(),
            self.spec(&clause.id),
            self.reference(id),
            self.test(id),
            self.breaks(id),
            self.vector(id),
            self.reason(clause),
        ]
    }
}

/// A clause with the cells of its row.
type Row = (&'static Clause, [String; 9]);

/// The rows of every clause, by protocol.
static ROWS: LazyLock<Vec<(&str, Vec<Row>)>> = LazyLock::new(|| {
    let of_protocol = |protocol: &'static str| {
        let sources = Sources::of(protocol);
        let clauses = all().iter().filter(|it| it.protocol == protocol);
        (protocol, clauses.map(|it| (it, sources.row(it))).collect())
    };
    protocols().into_iter().map(of_protocol).collect()
});

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells = cells.into_iter().map(|it| match it.as_str() {
        "" => NONE.to_owned(),
        text => text.replace('|', "\\|"),
    });
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let levels = Level::ALL.map(|it| it.to_string());
    page += "\n## Clauses without a test\n\n";
    page += &line(["protocol".to_owned()].into_iter().chain(levels));
    page += "|---|---|---|---|---|---|---|\n";
    for (protocol, rows) in ROWS.iter() {
        let count = |level| {
            let of_level = rows.iter().filter(|(clause, _)| clause.level == level);
            let untested = of_level.clone().filter(|(_, row)| row[TEST].is_empty());
            format!("{} of {}", untested.count(), of_level.count())
        };
        let counts = Level::ALL.map(count);
        page += &line([(*protocol).to_owned()].into_iter().chain(counts));
    }
    for (protocol, rows) in ROWS.iter() {
        let _ = write!(page, "\n## {protocol}\n\n{COLUMNS}");
        page.extend(rows.iter().map(|(_, row)| line(row.clone())));
    }
    page
}

#[test]
fn the_page_is_that_of_the_sources() {
    let (page, file) = (page(), root().join("spec-trace/TRACE.md"));
    if env::var_os(WRITE).is_some() {
        fs::write(&file, &page).expect("it can be written");
    }
    let written = fs::read_to_string(&file).expect("the page");
    let differs = page
        .lines()
        .zip(written.lines())
        .find(|(one, other)| one != other);
    assert!(page == written, "with {WRITE}=1 it is written: {differs:?}");
}

#[test]
fn the_command_lists_the_clauses_without_a_test() {
    let rows = ROWS.iter().flat_map(|(_, rows)| rows);
    let rows = rows.filter(|(clause, row)| row[TEST].is_empty() && clause.level == Level::Must);
    let untested: Vec<&str> = rows.map(|(clause, _)| clause.id.as_str()).collect();
    let args = Args {
        untested: true,
        level: vec![Level::Must],
        ..Args::default()
    };
    let answer = run(&args, Format::Json).expect("an answer").text;
    let listed: Vec<Value> = serde_json::from_str(&answer).expect("an array");
    let listed: Vec<_> = listed
        .iter()
        .map(|it| it["id"].as_str().expect("an id"))
        .collect();
    assert_eq!(listed, untested);
    let text = run(&args, Format::Text).expect("an answer").text;
    let count = format!("\n{} without a test\n", untested.len());
    assert!(text.ends_with(&count), "{text}");
    assert!(
        untested.iter().all(|id| text.contains(&format!("\n{id} "))),
        "{text}"
    );
}

#[test]
fn a_place_is_the_item_around_a_line_or_below_its_comment() {
    let text = "\
//! MARK
use x::{
    MARK,
};
/// MARK
pub(crate) const fn below(
    it: u8,
) {
    // MARK
    act(MARK);
}
const TABLE: &[u8] = &[
    MARK,
];
rows! {
    MARK
}
impl X {
    fn plain() {}

    #[must_use]
    pub fn inside() {
        MARK
    }
}
enum Y {
    /// MARK
    Z,
}
";
    let files = [("a.rs".to_owned(), text.to_owned())];
    let expected = ["a.rs", "a.rs below", "a.rs TABLE", "a.rs inside", "a.rs Y"];
    assert_eq!(places(&files, |it| it.contains("MARK")), expected);
}
