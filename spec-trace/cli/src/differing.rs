//! What driving an implementation has come to, for people and for programs.
//!
//! The one thing to know: a [`Report`] is made once, of any protocol, and holds what both formats say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use countersign_clauses::{Clause, Level};
use countersign_conform::driven::{DRIVER, Divergence, Driven, Search, Told};
use countersign_conform::implementation::Implementation;
use countersign_driver::{Output, Protocol, Request};
use serde_json::{Value, json};

use crate::answer::{Answer, Status};
use crate::links::CITATIONS;
use crate::show::words::{folded, printable, shortened};
use crate::table::grouped;

/// What driving an implementation has come to.
pub struct Report {
    protocol: &'static str,
    /// What it calls itself.
    name: String,
    seed: u64,
    runs: u64,
    calls: u64,
    clauses: BTreeMap<String, Verdict>,
    unsupported: BTreeSet<String>,
    /// The choices that are taken otherwise than by default.
    taken: Vec<(&'static str, &'static str)>,
    /// For each place that can be taken in more than one way the choices that still fit, the one taken first.
    readings: BTreeMap<&'static str, Vec<&'static str>>,
    divergences: Vec<Found>,
}

/// What is known of one clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Nothing was wrong by it, and another answer would have been.
    Upholds,
    /// Something was wrong by it.
    Violates,
    /// No answer could have been wrong by it.
    NotExercised,
}

/// A divergence in words.
struct Found {
    clause: String,
    level: Option<Level>,
    gist: String,
    steps: Vec<Step>,
    expected: String,
    actual: String,
    also: Vec<&'static str>,
    /// The clauses that are broken in the run before it.
    before: BTreeSet<&'static str>,
    /// How many times of how many it was seen again.
    again: (u32, u32),
    /// How often something was found by this clause in all runs.
    times: u64,
    file: PathBuf,
    repeat: String,
}

/// A step of a run in words.
struct Step {
    at: String,
    asked: String,
    answers: Vec<String>,
}

impl Report {
    /// The report of a search; `files` has where each divergence is kept, and `again` the command that plays it once more.
    pub fn of<D: Driven, I: Implementation<D::Protocol>>(
        search: &Search<D, I>,
        seed: u64,
        files: &[PathBuf],
        again: impl Fn(&Path) -> String,
    ) -> Self {
        let divergences = search.divergences.iter().zip(files).map(|(found, file)| {
            let clause = found.finding().clause;
            let times = search.times.get(clause).copied().unwrap_or(0);
            Found::of(found, times, file, again(file))
        });
        let divergences: Vec<Found> = divergences.collect();
        Self {
            protocol: D::Protocol::NAME,
            name: search.partner().greeting().name.clone(),
            seed,
            runs: search.runs,
            calls: search.calls,
            clauses: verdicts(D::Protocol::NAME, &search.others.exercised, &divergences),
            unsupported: search.unsupported.clone(),
            taken: search.taken(),
            readings: search.choices(),
            divergences,
        }
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.clauses.values().filter(|it| **it == verdict).count()
    }

    fn status(&self) -> Status {
        let is_required = |found: &Found| {
            !matches!(
                found.level,
                Some(Level::Should | Level::ShouldNot | Level::May)
            )
        };
        if self.divergences.iter().any(is_required) {
            return Status::Violated;
        }
        Status::if_exercised(self.unsupported.is_empty() && self.count(Verdict::Upholds) > 0)
    }

    fn verdict(&self) -> &'static str {
        match self.status() {
            Status::Holds => "holds",
            Status::Violated => "violates",
            Status::Unusable | Status::Inconclusive => "inconclusive",
        }
    }
}

/// The verdict on every clause that the judge of a protocol names.
fn verdicts(
    protocol: &str,
    exercised: &BTreeSet<&'static str>,
    divergences: &[Found],
) -> BTreeMap<String, Verdict> {
    let judge = format!("model/src/{}/judge/", protocol.replace('-', "_"));
    let named = CITATIONS.iter().filter(|it| it.file.starts_with(&judge));
    let named = named.map(|it| it.id.to_owned());
    let mut verdicts: BTreeMap<String, Verdict> =
        named.map(|id| (id, Verdict::NotExercised)).collect();
    for clause in exercised {
        verdicts.insert((*clause).to_owned(), Verdict::Upholds);
    }
    for found in divergences {
        let also = found.also.iter().map(|also| (*also).to_owned());
        for clause in also.chain([found.clause.clone()]) {
            verdicts.insert(clause, Verdict::Violates);
        }
    }
    verdicts
}

impl Found {
    fn of<D: Driven>(found: &Divergence<D>, times: u64, file: &Path, repeat: String) -> Self {
        let finding = found.finding();
        let known: Option<&Clause> = countersign_clauses::get(finding.clause).ok();
        let steps: Vec<Step> = found.told().iter().map(Step::of).collect();
        let actual = match (&found.wrong.lost, steps.last()) {
            (Some(lost), _) => lost.to_string(),
            (None, Some(Step { answers, .. })) if !answers.is_empty() => answers.join("\n"),
            (None, _) => "nothing".to_owned(),
        };
        Self {
            clause: finding.clause.to_owned(),
            level: known.map(|it| it.level),
            gist: known.map_or_else(String::new, |it| it.gist.clone()),
            steps,
            expected: finding.text.clone(),
            actual,
            also: found.also.iter().copied().collect(),
            before: found.before().collect(),
            again: found.again,
            times,
            file: file.to_owned(),
            repeat,
        }
    }

    fn level(&self) -> &'static str {
        self.level.map_or("", Level::as_str)
    }
}

impl Step {
    fn of<P: Protocol>(told: &Told<P>) -> Self {
        let after = told.after;
        let sign = if after < 0 { "-" } else { "" };
        let (seconds, millis) = (after.abs() / 1_000, after.abs() % 1_000);
        let request = Request {
            id: 0,
            now: None,
            op: told.op.clone(),
        };
        let fields = match serde_json::to_value(&request) {
            Ok(Value::Object(mut fields)) => {
                for known in ["id", "op", "now"] {
                    fields.remove(known);
                }
                in_words(&Value::Object(fields))
            }
            Ok(_) | Err(_) => String::new(),
        };
        Self {
            at: format!("{sign}{seconds}.{millis:03}"),
            asked: format!("{} {fields}", told.op.name()).trim_end().to_owned(),
            answers: told.outputs.iter().map(answer).collect(),
        }
    }
}

fn answer<P: Protocol>(output: &Output<P>) -> String {
    match serde_json::to_value(output) {
        Ok(Value::Object(members)) => {
            let member = |(name, value): (&String, &Value)| format!("{name} {}", in_words(value));
            members.iter().map(member).collect::<Vec<_>>().join(" ")
        }
        Ok(_) | Err(_) => String::new(),
    }
}

/// So many characters of a text are told.
const LONGEST: usize = 60;

/// JSON with as few marks as it can be read with.
fn in_words(value: &Value) -> String {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match value {
                Value::Object(_) => format!("{name}({})", in_words(value)),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => {
                    format!("{name}={}", in_words(value))
                }
            })
            .collect::<Vec<_>>()
            .join(" "),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(in_words).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(text) => {
            let is_plain = |it: char| it.is_alphanumeric() || "-_.:+".contains(it);
            let short = shortened(&printable(text), LONGEST);
            if !text.is_empty() && text.chars().all(is_plain) {
                short
            } else {
                format!("{short:?}")
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The report as a document.
pub fn json(report: &Report) -> Answer {
    let step = |(n, step, bad): (usize, &Step, bool)| {
        json!({
            "n": n, "at": step.at, "actor": "driver", "action": step.asked, "changes": step.answers, "bad": bad,
            "text": format!("{} {}", step.at, step.asked),
        })
    };
    let divergence = |found: &Found| {
        let last = found.steps.len();
        let steps = (1..)
            .zip(&found.steps)
            .map(|(n, it)| step((n, it, n == last)));
        json!({
            "clause": found.clause, "level": found.level(), "gist": found.gist,
            "steps": steps.collect::<Vec<_>>(),
            "expected": found.expected, "actual": found.actual, "also": found.also,
            "follows": found.before, "times": found.times,
            "again": {"seen": found.again.0, "of": found.again.1},
            "file": found.file.display().to_string(), "repeat": found.repeat,
        })
    };
    let clauses = report.clauses.iter();
    let clauses =
        clauses.map(|(clause, verdict)| json!({"clause": clause, "verdict": verdict.name()}));
    let document = json!({
        "protocol": report.protocol, "implementation": report.name,
        "seed": report.seed, "runs": report.runs, "calls": report.calls,
        "verdict": report.verdict(),
        "clauses": clauses.collect::<Vec<_>>(),
        "readings": report.readings,
        "unsupported": report.unsupported,
        "divergences": report.divergences.iter().map(divergence).collect::<Vec<_>>(),
    });
    Answer::json(&document, report.status())
}

impl Verdict {
    const fn name(self) -> &'static str {
        match self {
            Self::Upholds => "upholds",
            Self::Violates => "violates",
            Self::NotExercised => "not-exercised",
        }
    }
}

/// How many columns a line has.
const WIDTH: usize = 100;
/// As many lines are given to one thing.
const LINES: usize = 6;

/// The report for people.
pub fn text(report: &Report) -> Answer {
    let mut text = String::new();
    for found in &report.divergences {
        told(found, &mut text);
        text.push('\n');
    }
    let [runs, calls] = [report.runs, report.calls].map(grouped);
    let (name, protocol, seed) = (printable(&report.name), report.protocol, report.seed);
    line(
        &mut text,
        &format!("{name}, driven as {protocol}: {runs} runs, {calls} calls, from seed {seed}"),
    );
    let [upholds, violates, not] =
        [Verdict::Upholds, Verdict::Violates, Verdict::NotExercised].map(|it| report.count(it));
    line(
        &mut text,
        &format!("clauses: {upholds} upheld, {violates} violated, {not} not exercised"),
    );
    for (verdict, said) in [
        (Verdict::Violates, "violated"),
        (Verdict::NotExercised, "not exercised"),
    ] {
        let clauses = report.clauses.iter().filter(|(_, it)| **it == verdict);
        let clauses: Vec<&str> = clauses.map(|(clause, _)| clause.as_str()).collect();
        if !clauses.is_empty() {
            put(&mut text, "  ", &format!("{said}: {}", clauses.join(", ")));
        }
    }
    for (place, choice) in &report.taken {
        line(&mut text, &format!("it takes {place}: {choice}"));
    }
    if !report.unsupported.is_empty() {
        let ops: Vec<&str> = report.unsupported.iter().map(String::as_str).collect();
        let ops = ops.join(", ");
        line(
            &mut text,
            &format!("it does not support what every implementation has, or it declares: {ops}"),
        );
    }
    line(&mut text, report.verdict());
    Answer {
        text,
        status: report.status(),
    }
}

fn told(found: &Found, text: &mut String) {
    let Found {
        clause,
        gist,
        times,
        ..
    } = found;
    let level = found.level();
    let heading = match clause.as_str() {
        DRIVER => "driver protocol".to_owned(),
        _ => format!("{clause} {level}: {gist}"),
    };
    let count = found.steps.len();
    let unit = if count == 1 { "step" } else { "steps" };
    put(
        text,
        "divergence from ",
        &format!("{heading} ({count} {unit})"),
    );
    for (n, step) in (1..).zip(&found.steps) {
        let mark = if n == count { '✗' } else { ' ' };
        put(
            text,
            &format!(" {mark} {n:>2}  {:>9}  ", step.at),
            &step.asked,
        );
        for answer in &step.answers {
            put(text, "                     → ", answer);
        }
    }
    put(text, "   expected  ", &found.expected);
    for (n, line) in found.actual.lines().enumerate() {
        put(
            text,
            if n == 0 {
                "   actual    "
            } else {
                "             "
            },
            line,
        );
    }
    if !found.also.is_empty() {
        put(text, "   also      ", &found.also.join(", "));
    }
    if !found.before.is_empty() {
        let before: Vec<&str> = found.before.iter().copied().collect();
        put(
            text,
            "   follows   ",
            &format!(
                "what is broken before it in this run: {}",
                before.join(", ")
            ),
        );
    }
    let (seen, of) = found.again;
    if seen < of {
        put(
            text,
            "   unstable  ",
            &format!("seen again {seen} times of {of}"),
        );
    }
    put(text, "   times     ", &grouped(*times));
    put(text, "   kept      ", &found.file.display().to_string());
    line(text, &format!("   again     {}", printable(&found.repeat)));
}

/// A line as it is.
fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A line, folded under its beginning.
fn put(text: &mut String, first: &str, line: &str) {
    let indent = first.chars().count();
    let lines = folded(&printable(line), WIDTH - indent, LINES);
    for (n, line) in lines.iter().enumerate() {
        let before = if n == 0 {
            first.to_owned()
        } else {
            " ".repeat(indent)
        };
        self::line(text, &format!("{before}{line}"));
    }
}
