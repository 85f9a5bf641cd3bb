//! What driving an implementation has come to, for people.

use countersign_clauses::{cited, cited_all};

use super::{Found, Report, Verdict, cut, excuse};
use crate::answer::Answer;
use crate::show::words::{folded, printable};
use crate::table::grouped;

/// How many columns a line has.
const WIDTH: usize = 80;
/// As many lines are given to one thing.
const LINES: usize = 6;

/// The report, between its verdicts; cut, unless all of it is asked for.
pub fn render(report: &Report, all: bool) -> Answer {
    let mut text = String::new();
    // What is cut is named all the same.
    if report.divergences.len() > 1 {
        for found in &report.divergences {
            put(&mut text, "", &found.heading());
        }
        text.push('\n');
    }
    for found in &report.divergences {
        told(found, &mut text);
        text.push('\n');
    }
    for known in &report.vanished {
        let reason = known.reason.as_ref();
        let reason = reason.map_or_else(String::new, |it| format!(": {it}"));
        let said = format!("{} {}{reason}", cited(&known.clause), known.fingerprint);
        put(&mut text, "known, and not found any more: ", &said);
    }
    for control in &report.controls {
        let runs = grouped(control.runs);
        let name = &control.name;
        line(
            &mut text,
            &match control.clause {
                Some(clause) => {
                    format!(
                        "control {name}: caught by {}, in {runs} runs",
                        cited(clause)
                    )
                }
                None => {
                    format!("control {name}: not caught in {runs} runs: nothing follows from them")
                }
            },
        );
    }
    if !report.unseen.is_empty() {
        let rules: Vec<&str> = report.unseen.iter().map(|(rule, _)| *rule).collect();
        put(&mut text, "no control is without ", &rules.join(", "));
    }
    counts(report, &mut text);
    for remark in &report.remarks {
        put_all(&mut text, remark);
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
    Answer::verdict(report.status(), &summed(report), &text, all)
}

/// What the verdict counts, and in which runs.
fn summed(report: &Report) -> String {
    let divergences = || report.divergences.iter();
    let known = divergences().filter(|it| it.known.is_some()).count();
    let violations = report.violations();
    let warnings = report.divergences.len() - known - violations;
    let untried = if report.part.is_whole {
        report.untried().len()
    } else {
        0
    };
    let count = |count: usize, one: &str, more: &str| {
        let what = if count == 1 { one } else { more };
        (count > 0).then(|| format!("{count} {what}"))
    };
    let upheld = report.count(Verdict::Upholds);
    let counts = [
        Some(format!(
            "{violations} {}",
            if violations == 1 {
                "violation"
            } else {
                "violations"
            }
        )),
        count(known, "known", "known"),
        count(warnings, "warning", "warnings"),
        count(upheld, "clause upheld", "clauses upheld"),
        count(untried, "MUST not exercised", "MUST not exercised"),
    ];
    let time = report.part.time;
    let scope = [
        Some(report.protocol.to_owned()),
        Some(format!("{} runs", grouped(report.runs))),
        time.map(|it| format!("{:.1} s", it.as_secs_f64())),
        (!report.is_live).then(|| format!("seed {}", report.part.seed)),
        report.part.ended.map(|it| cut(it).to_owned()),
    ];
    let listed =
        |all: &[Option<String>]| all.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
    format!("{} ({})", listed(&counts), listed(&scope))
}

/// What was played, and how many clauses have which verdict, and which.
fn counts(report: &Report, text: &mut String) {
    let [runs, calls] = [report.runs, report.calls].map(grouped);
    let (name, protocol, seed) = (printable(&report.name), report.protocol, report.part.seed);
    let shard = match report.part.shard {
        (_, 1) => String::new(),
        (shard, shards) => format!(", shard {shard} of {shards}"),
    };
    line(
        text,
        &if report.is_live {
            format!("{name}, driven as {protocol} over HTTP: {runs} runs, {calls} steps")
        } else {
            format!(
                "{name}, driven as {protocol}: {runs} runs, {calls} calls, from seed {seed}{shard}"
            )
        },
    );
    let verdicts = [
        (Verdict::Upholds, "upheld"),
        (Verdict::Violates, "violated"),
        (Verdict::HostMustGuard, "for the host to guard"),
        (Verdict::Unsupported, "unsupported"),
        (Verdict::NotExercised, "not exercised"),
    ];
    let is_told = |verdict: Verdict| match verdict {
        Verdict::Upholds | Verdict::Violates | Verdict::NotExercised => true,
        Verdict::HostMustGuard | Verdict::Unsupported => report.count(verdict) > 0,
    };
    let told = verdicts.iter().filter(|(verdict, _)| is_told(*verdict));
    let told = told.map(|(verdict, said)| format!("{} {said}", report.count(*verdict)));
    let told: Vec<String> = told.collect();
    line(text, &format!("clauses: {}", told.join(", ")));
    for (verdict, said) in &verdicts[1..] {
        let clauses: Vec<&str> = report.with(*verdict).collect();
        if !clauses.is_empty() {
            put_all(text, &format!("{said}: {}", cited_all(clauses)));
        }
    }
    for clause in report.with(Verdict::NotExercised) {
        if let Some(reason) = excuse(clause) {
            put_all(
                text,
                &format!("{} cannot be exercised: {reason}", cited(clause)),
            );
        }
    }
    let untried = report.untried();
    if report.part.is_whole && !untried.is_empty() {
        let clauses = cited_all(untried);
        put_all(text, &format!("of these it is bound by: {clauses}"));
    }
}

/// A divergence alone.
pub fn divergence(found: &Found) -> String {
    let mut text = String::new();
    told(found, &mut text);
    text
}

fn told(found: &Found, text: &mut String) {
    put(text, "", &found.heading());
    let count = found.steps.len();
    put(text, "  expected  ", &found.expected);
    // What came out stands beside the step already.
    let actual = match found.steps.last() {
        Some(step) if step.answers.join("\n") == found.actual => {
            format!("the output of step {count}")
        }
        Some(_) | None => found.actual.clone(),
    };
    put(text, "  actual    ", &actual);
    let file = found.file.display().to_string();
    if !found.repeat.contains(&file) {
        put(text, "  saved     ", &file);
    }
    line(text, &format!("  repeat    {}", printable(&found.repeat)));
    for (n, step) in (1..).zip(&found.steps) {
        let mark = if n == count { '✗' } else { ' ' };
        put(
            text,
            &format!("{mark} {n:>2} {:>7}  ", step.at),
            &step.asked,
        );
        for answer in &step.answers {
            put(text, "             → ", answer);
        }
    }
    if !found.also.is_empty() {
        let also = cited_all(&found.also);
        put(text, "  also breaks: ", &also);
    }
    if !found.consequences.is_empty() {
        let follow = cited_all(&found.consequences);
        put(text, "  follow-on errors, not counted: ", &follow);
    }
    if !found.before.is_empty() {
        let before = cited_all(&found.before);
        put(text, "  broken before it in this run: ", &before);
    }
    let (seen, of) = found.again;
    if seen < of {
        put(
            text,
            "  unstable  ",
            &format!("seen again {seen} times of {of}"),
        );
    }
    if let Some(reason) = &found.known {
        put(text, "  known     ", reason);
    }
}

/// A line as it is.
fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// A list, set in and folded, with all that is in it.
fn put_all(text: &mut String, list: &str) {
    for folded in folded(list, WIDTH - 2, usize::MAX) {
        line(text, &format!("  {folded}"));
    }
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
