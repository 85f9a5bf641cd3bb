//! Lint against streams with several faults each, and what they hold by the text: `traces/several/expected.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use countersign_lint::finding::Finding;
use countersign_lint::judged::JUDGED;
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_lint::{judge, lint};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    stream: Vec<Stream>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    file: String,
    #[serde(default)]
    silent: bool,
    faults: Vec<Fault>,
}

/// What the head of the file says of its members.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    line: u64,
    clause: String,
    #[serde(default)]
    near: Vec<u64>,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    besides: Vec<String>,
    #[serde(default)]
    level: Level,
    sender: Option<Sender>,
    #[serde(default)]
    disputed: bool,
    #[serde(rename = "why")]
    _why: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum Level {
    #[default]
    #[serde(rename = "violation")]
    Violation,
    #[serde(rename = "warning")]
    Warning,
    #[serde(rename = "not judged")]
    NotJudged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sender {
    Known,
}

impl Fault {
    fn lines(&self) -> impl Iterator<Item = u64> {
        self.near.iter().copied().chain([self.line])
    }

    fn clauses(&self) -> impl Iterator<Item = &str> {
        self.also.iter().chain([&self.clause]).map(String::as_str)
    }

    fn is_told_by(&self, finding: &Finding) -> bool {
        let mut besides = self.besides.iter();
        self.lines().any(|it| it == finding.line)
            && self.clauses().any(|it| it == finding.clause)
            && besides.all(|it| finding.also.contains(&it.as_str()))
    }

    fn is_left_open(&self, report: &LintReport) -> bool {
        let named = |reason: &str| {
            let names = |line: u64| {
                let line = format!("line {line}");
                let mut behind = reason.split(line.as_str()).skip(1);
                behind.any(|it| !it.starts_with(|it: char| it.is_ascii_digit()))
            };
            self.lines().any(names)
        };
        let mut open = report.not_judged.iter();
        let is_named = |it: &str| self.clauses().any(|clause| clause == it);
        open.any(|it| is_named(it.clause) && named(&it.reason))
            || report.possible.iter().any(|it| self.is_told_by(it))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/several")
}

fn expected() -> Vec<Stream> {
    let text = fs::read_to_string(folder().join("expected.toml")).expect("what is expected");
    let expected: Expected = toml::from_str(&text).expect("as its head says");
    expected.stream
}

fn text_of(stream: &Stream) -> String {
    let path = folder().join(format!("{}.jsonl", stream.file));
    fs::read_to_string(path).expect("a readable stream")
}

fn judged(text: &str) -> LintReport {
    lint(text.as_bytes(), "stream.jsonl").expect("reading from memory cannot fail")
}

fn judged_cautiously(text: &str) -> LintReport {
    let selection = Selection::default();
    judge(
        text.as_bytes(),
        "stream.jsonl",
        Settings::CAUTIOUS,
        &selection,
    )
}

/// What is wrong with the report: faults that are not found, each by a finding of its own, and findings that are no fault.
fn differences(report: &LintReport, faults: &[Fault], sender: Option<Sender>) -> Vec<String> {
    let mut differences = Vec::new();
    let mut found: Vec<(Level, &Finding)> = Vec::new();
    found.extend(report.violations.iter().map(|it| (Level::Violation, it)));
    found.extend(report.warnings.iter().map(|it| (Level::Warning, it)));
    for fault in faults.iter().filter(|it| !it.disputed) {
        let is_shown = fault.sender.is_none() || fault.sender == sender;
        let level = if is_shown {
            fault.level
        } else {
            Level::NotJudged
        };
        let index = found
            .iter()
            .position(|(of, it)| *of == level && fault.is_told_by(it));
        if let Some(index) = index {
            found.remove(index);
        } else if level != Level::NotJudged || !fault.is_left_open(report) {
            differences.push(format!("{level:?} is missing: {fault:?}"));
        }
    }
    // One fault may show on several lines.
    let is_expected = |it: &Finding| faults.iter().any(|fault| fault.is_told_by(it));
    for (level, finding) in found {
        if level == Level::Violation && !is_expected(finding) {
            differences.push(format!(
                "line {}: nothing of this is expected: {} {}",
                finding.line, finding.clause, finding.message
            ));
        }
    }
    differences
}

#[test]
fn what_is_expected_is_found_and_nothing_else() {
    let mut met = 0;
    for stream in expected() {
        let text = text_of(&stream);
        let report = judged(&text);
        let name = &stream.file;
        assert!(
            !stream.silent || report.not_judged.is_empty(),
            "{name}: {:?}",
            report.not_judged
        );
        assert_eq!(
            differences(&report, &stream.faults, Some(Sender::Known)),
            [""; 0],
            "{name}"
        );
        if stream.faults.iter().any(|it| it.sender.is_some()) {
            let unknown = differences(&judged_cautiously(&text), &stream.faults, None);
            assert_eq!(unknown, [""; 0], "{name}");
        }
        for finding in &report.violations {
            let mut clauses = finding.also.iter().chain([&finding.clause]);
            assert!(clauses.all(|it| JUDGED.contains(it)), "{finding:?}");
        }
        met += stream.faults.iter().filter(|it| !it.disputed).count();
    }
    assert!(met > 200, "{met} faults are demanded");
}

#[test]
fn each_stream_of_the_folder_is_in_the_list() {
    let listed: Vec<String> = expected().into_iter().map(|it| it.file).collect();
    let mut files = BTreeSet::new();
    for part in ["", "twins"] {
        for entry in fs::read_dir(folder().join(part)).expect("a folder of streams") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|it| it == "jsonl") {
                let name = path.strip_prefix(folder()).expect("in the folder");
                let name = name.with_extension("");
                files.insert(name.to_str().expect("plain text").replace('\\', "/"));
            }
        }
    }
    assert_eq!(listed.len(), files.len());
    assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), files);
}

/// The lines of two streams in turn, the second with ids of its own, and what line of which stream each is. A head of the second is
/// left out.
fn mixed(one: &str, other: &str) -> (String, Vec<(usize, u64)>) {
    let mut other = other.to_owned();
    for prefix in ["sess_", "evt_", "rpl_"] {
        other = other.replace(&format!("\"{prefix}"), &format!("\"{prefix}0"));
    }
    let lines = [one, &other].map(|text| text.lines().collect::<Vec<_>>());
    let longest = lines.iter().map(Vec::len).max().unwrap_or_default();
    let (mut text, mut places) = (Vec::new(), Vec::new());
    for number in 0..longest {
        for (of, lines) in lines.iter().enumerate() {
            let is_head = |it: &str| of == 1 && it.contains("countersign.recording");
            if let Some(line) = lines.get(number).filter(|it| !is_head(it)) {
                text.push(*line);
                places.push((of, number as u64 + 1));
            }
        }
    }
    (text.join("\n"), places)
}

/// AAEP-A.9-2: each session has its own machine, whatever stands between its lines. What the replies were told is held against each
/// other in the whole file (AAEP-6.3.4-9), and an event without a session, or with one of another form, is of the only one that is open.
#[test]
fn streams_that_are_mixed_line_by_line_hold_the_faults_of_each() {
    let found = |report: &LintReport| {
        let found = report.violations.iter();
        let found = found.flat_map(|it| it.consequences.iter().chain([it]));
        let own = found.filter(|it| it.clause != "AAEP-6.3.4-9");
        own.map(|it| (it.clause, it.line)).collect::<BTreeSet<_>>()
    };
    let streams: Vec<_> = expected()
        .into_iter()
        .map(|it| (text_of(&it), it.file))
        .filter(|(text, _)| text.contains(".reply\""))
        .filter(|(_, file)| !file.contains("-session-with-a-number"))
        .collect();
    for pair in streams.windows(2) {
        let [(first, one), (second, other)] = pair else {
            continue;
        };
        let (text, places) = mixed(first, second);
        let reports = [first, second].map(|it| found(&judged(it)));
        let mut expected = BTreeSet::new();
        for (index, (of, line)) in places.into_iter().enumerate() {
            let here = reports[of].iter().filter(|it| it.1 == line);
            expected.extend(here.map(|it| (it.0, index as u64 + 1)));
        }
        assert_eq!(found(&judged(&text)), expected, "{one} and {other}");
    }
    assert!(streams.len() > 200, "{}", streams.len());
}
