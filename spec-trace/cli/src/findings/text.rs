//! For people: each finding as a diagnostic that shows its line and points into it, then a line for each stream.

use std::collections::BTreeMap;
use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, LabeledSpan, MietteError, MietteSpanContents, Severity,
    SourceCode, SourceSpan, SpanContents,
};

use countersign_clauses::{cited, cited_all};
use countersign_lint::baseline::Known;
use countersign_lint::finding::Finding;
use countersign_lint::place::{Excerpt, printable};
use countersign_lint::report::{LintReport, NotJudged, Outcome, Silence, Within};
use countersign_lint::rules::Weight;

use crate::show::words::width;
use crate::terminal::Terminal;
use crate::verdicts::place;

/// Lines that are shown of each stream behind its verdict, where not all are asked for.
const MOST_LINES: usize = 40;

/// The outcome as text: the verdict on all streams where there are several, then each with its verdict first. Of what stands behind a
/// verdict no more than [`MOST_LINES`] are shown, unless `all` are asked for.
pub fn render(outcome: &Outcome, all: bool, terminal: Terminal) -> String {
    let mut text = String::new();
    if !outcome.single {
        overall(&mut text, terminal, outcome);
    }
    for report in &outcome.reports {
        text += &render_one(report, all, terminal);
    }
    for unreadable in &outcome.unreadable {
        line(
            &mut text,
            terminal,
            format_args!("{}: cannot be read: {}", unreadable.file, unreadable.error),
        );
    }
    for known in &outcome.vanished {
        line(&mut text, terminal, format_args!("{}", Vanished(known)));
    }
    text
}

/// The report on one stream as text.
pub fn render_one(report: &LintReport, all: bool, terminal: Terminal) -> String {
    let mut text = verdict(report, terminal);
    let rest = groups(report, all, terminal) + &notices(report, terminal);
    let count = rest.lines().count();
    if all || count <= MOST_LINES {
        return text + &rest;
    }
    for shown in rest.lines().take(MOST_LINES - 1) {
        text.push_str(shown);
        text.push('\n');
    }
    let more = count - (MOST_LINES - 1);
    text + &format!("… {more} more lines: --all shows them\n")
}

/// What is found, a group for each clause: violations first, MUST before SHOULD, then in the order of the clauses. The first of a group is
/// shown with its line, the others by their places, unless `all` are asked for.
fn groups(report: &LintReport, all: bool, terminal: Terminal) -> String {
    let ranked = [
        (&report.violations, Kind::Violated),
        (&report.possible, Kind::Possible),
        (&report.warnings, Kind::Warning),
    ];
    let mut text = String::new();
    for (findings, kind) in ranked {
        let mut by_clause: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
        for finding in findings {
            let rank = place(&[finding.clause]);
            by_clause.entry(rank).or_default().push(finding);
        }
        for group in by_clause.values() {
            if let (false, [first, others @ ..]) = (all, group.as_slice()) {
                text += &one(&report.file, kind, first, terminal);
                text += &places(report, kind, first.clause, others, terminal);
            } else {
                for finding in group {
                    text += &one(&report.file, kind, finding, terminal);
                }
            }
        }
    }
    text
}

/// Where the others of a clause are, behind the first.
fn places(
    report: &LintReport,
    kind: Kind,
    clause: &str,
    others: &[&Finding],
    terminal: Terminal,
) -> String {
    const NAMED: usize = 8;
    let mut text = String::new();
    if others.is_empty() {
        return text;
    }
    let named = others.iter().take(NAMED);
    let named: Vec<_> = named
        .map(|it| format!("{}{}", it.line, it.which_message()))
        .collect();
    let weight = if kind == Kind::Warning {
        Weight::Warning
    } else {
        Weight::Violation
    };
    let unlisted = unlisted(report, |it, of| it == clause && of == weight);
    let more = match others.len().saturating_sub(NAMED) as u64 + unlisted {
        0 => String::new(),
        more => format!(" and {} more", at_least(more - unlisted, unlisted)),
    };
    let noun = if others.len() == 1 { "line" } else { "lines" };
    let word = kind.word();
    line(
        &mut text,
        terminal,
        format_args!(
            "  {} {word} {} more, on {noun} {}{more}",
            cited(clause),
            times(others.len() as u64 + unlisted, unlisted > 0),
            named.join(", "),
        ),
    );
    text.push('\n');
    text
}

fn times(count: u64, is_least: bool) -> String {
    let least = if is_least { "at least " } else { "" };
    match count {
        1 => format!("{least}once"),
        _ => format!("{least}{count} times"),
    }
}

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Violated,
    Possible,
    Warning,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Violated => "violated",
            Self::Possible => "possibly violated",
            Self::Warning => "warning",
        }
    }

    const fn severity(self) -> Severity {
        match self {
            Self::Violated => Severity::Error,
            Self::Possible | Self::Warning => Severity::Warning,
        }
    }
}

/// Findings in this file as text, each with its line. With `strict`, warnings are violations.
pub fn render_found(file: &str, strict: bool, found: &[Finding], terminal: Terminal) -> String {
    let shown = found.iter().map(|finding| {
        let kind = if finding.unless.is_some() {
            Kind::Possible
        } else if strict || finding.weight == Weight::Violation {
            Kind::Violated
        } else {
            Kind::Warning
        };
        one(file, kind, finding, terminal)
    });
    shown.collect()
}

/// One finding, with its line.
///
/// # Panics
///
/// Never: writing to a string cannot fail.
fn one(file: &str, kind: Kind, finding: &Finding, terminal: Terminal) -> String {
    let handler = GraphicalReportHandler::new_themed(terminal.theme())
        .with_width(terminal.width())
        .with_links(false)
        .with_context_lines(0);
    let mut text = String::new();
    handler
        .render_report(&mut text, &Shown::new(file, kind, finding, terminal))
        .expect("writing to a string cannot fail");
    for note in besides(finding) {
        let note: String = note.chars().map(printable).collect();
        text.push_str(&terminal.fitted(&format!("  {note}")));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// What is said of a finding besides its message.
fn besides(finding: &Finding) -> Vec<String> {
    let (_, needed) = finding.parts();
    let needed = needed.map(|it| format!("needed instead: {it}"));
    let assumes = finding.assumes.iter().map(|it| format!("assumes: {it}"));
    let unless = finding.unless.iter().map(|it| format!("unless: {it}"));
    let also = cited_all(&finding.also);
    let also = (!also.is_empty()).then(|| format!("also breaks: {also}"));
    let tied = finding.tied_by.map(|it| format!("tied: {}", it.words()));
    let consequences = finding.consequences.iter().map(|it| {
        let Finding { line, clause, .. } = it;
        let number = it.which_message();
        let clause = cited(clause);
        format!(
            "its consequence on line {line}{number} breaks {clause}: {}",
            it.message
        )
    });
    let notes = needed.into_iter().chain(assumes).chain(unless);
    notes.chain(also).chain(tied).chain(consequences).collect()
}

/// That no more findings of a clause are listed, as text.
pub fn render_silence(file: &str, silence: &Silence, terminal: Terminal) -> String {
    let within = match &silence.within {
        Within::Session(session) => format!(" in the session {session}"),
        Within::NoSession => " on lines that name no session".to_owned(),
        Within::Stream => String::new(),
    };
    let mut text = String::new();
    line(
        &mut text,
        terminal,
        format_args!(
            "{file}: no more findings of {}{within} are listed; they are counted at the end",
            cited(silence.clause)
        ),
    );
    text
}

/// What a report says behind its findings where they were told before, the verdict last.
pub fn render_verdict(report: &LintReport, terminal: Terminal) -> String {
    notices(report, terminal) + &verdict(report, terminal)
}

/// The line with the verdict.
fn verdict(report: &LintReport, terminal: Terminal) -> String {
    let mut text = String::new();
    line(
        &mut text,
        terminal,
        format_args!(
            "{}  {}: {}",
            report.verdict.result(),
            report.file,
            in_short(report)
        ),
    );
    text
}

/// What was not judged, and where the stream could not be read any further.
fn notices(report: &LintReport, terminal: Terminal) -> String {
    let mut text = String::new();
    if let Some(damage) = &report.damage {
        line(
            &mut text,
            terminal,
            format_args!(
                "{}:{}: cannot be read any further, after {} bytes: {}",
                report.file, damage.line, damage.bytes, damage.message
            ),
        );
    }
    for (reason, clauses) in by_reason(&report.not_judged) {
        line(
            &mut text,
            terminal,
            format_args!("not judged {}: {reason}", cited_all(&clauses)),
        );
    }
    text
}

/// The clauses that are not judged for the same reason, those first that leave the verdict open.
fn by_reason(not_judged: &[NotJudged]) -> Vec<(&str, Vec<&'static str>)> {
    let (owed, others): (Vec<_>, Vec<_>) = not_judged.iter().partition(|it| it.owed);
    let mut groups: Vec<(&str, Vec<&'static str>)> = Vec::new();
    for NotJudged { clause, reason, .. } in owed.into_iter().chain(others) {
        match groups.iter_mut().find(|(of, _)| of == reason) {
            Some((_, clauses)) if !clauses.contains(clause) => clauses.push(clause),
            Some(_) => {}
            None => groups.push((reason, vec![clause])),
        }
    }
    groups
}

/// The verdict and the counts, as in `violating: 10 records, 1 session, 1 violation, 0 warnings`.
pub fn in_short(report: &LintReport) -> String {
    let some = |count: usize, noun: &str| match count {
        0 => String::new(),
        _ => format!(", {count} {noun}"),
    };
    let known = match report.known.len() as u64 {
        0 => String::new(),
        count => format!(", {}", counted(count, "known violation")),
    };
    format!(
        "{}: {}, {}, {}{}, {}{known}",
        report.verdict.word(),
        counted(report.records, "record"),
        counted(report.sessions as u64, "session"),
        all_of(report, &report.violations, Weight::Violation, "violation"),
        some(report.possible.len(), "possible"),
        all_of(report, &report.warnings, Weight::Warning, "warning"),
    )
}

/// How many there are of a weight, those included that are not listed.
fn all_of(report: &LintReport, listed: &[Finding], weight: Weight, noun: &str) -> String {
    let listed = listed.len() as u64;
    match unlisted(report, |_, it| it == weight) {
        0 => counted(listed, noun),
        more => format!("{} {noun}s", at_least(listed, more)),
    }
}

fn unlisted(report: &LintReport, is_meant: impl Fn(&str, Weight) -> bool) -> u64 {
    let unlisted = report.unlisted.iter();
    let meant = unlisted.filter(|((clause, weight), _)| is_meant(clause, *weight));
    meant.map(|(_, count)| count).sum()
}

/// What is not listed may be the same fault as another that is.
fn at_least(listed: u64, unlisted: u64) -> String {
    match unlisted {
        0 => listed.to_string(),
        _ => format!("at least {}", listed + unlisted),
    }
}

fn overall(text: &mut String, terminal: Terminal, outcome: &Outcome) {
    let mut parts = vec![counted(
        (outcome.reports.len() + outcome.unreadable.len()) as u64,
        "file",
    )];
    let verdicts = ["violating", "inconclusive", "conforming"];
    parts.extend(verdicts.into_iter().filter_map(|word| {
        let reports = outcome.reports.iter();
        let count = reports.filter(|it| it.verdict.word() == word).count();
        (count > 0).then(|| format!("{count} {word}"))
    }));
    if !outcome.unreadable.is_empty() {
        parts.push(format!("{} unreadable", outcome.unreadable.len()));
    }
    let result = outcome.verdict().result();
    line(
        text,
        terminal,
        format_args!("{result}  {}", parts.join(", ")),
    );
}

struct Vanished<'a>(&'a Known);

impl fmt::Display for Vanished<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Known {
            fingerprint,
            clause,
            message,
            count,
            ..
        } = self.0;
        write!(
            formatter,
            "known, and not found any more: {} {fingerprint}",
            cited(clause)
        )?;
        if *count > 1 {
            write!(formatter, " ({count} times)")?;
        }
        match message {
            Some(message) => write!(formatter, ": {message}"),
            None => Ok(()),
        }
    }
}

fn line(text: &mut String, terminal: Terminal, content: fmt::Arguments<'_>) {
    let content: String = content.to_string().chars().map(printable).collect();
    text.push_str(&terminal.folded(&content));
    text.push('\n');
}

fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// A finding as a diagnostic of one line of source.
#[derive(Debug)]
struct Shown {
    code: String,
    severity: Severity,
    message: String,
    line: u64,
    excerpt: Option<Excerpt>,
}

impl Shown {
    fn new(file: &str, kind: Kind, finding: &Finding, terminal: Terminal) -> Self {
        let excerpt = finding.excerpt();
        let digits = finding.line.to_string().len();
        let excerpt = match terminal.columns {
            Some(columns) => {
                excerpt.map(|it| narrowed(it, columns.saturating_sub(digits + GUTTER)))
            }
            None => excerpt,
        };
        let column = match &excerpt {
            Some(excerpt) => excerpt.column,
            None => finding.column,
        };
        let file = finding.file.as_deref().unwrap_or(file);
        let column = column.map_or_else(String::new, |column| format!(":{column}"));
        let place = format!("{file}:{}{column}{}", finding.line, finding.which_message());
        Self {
            code: terminal.folded(&format!(
                "{place}: {} {} ({})",
                cited(finding.clause),
                kind.word(),
                finding.level
            )),
            severity: kind.severity(),
            message: finding.parts().0.chars().map(printable).collect(),
            line: finding.line,
            excerpt,
        }
    }
}

/// So many columns before what is meant come first, then what follows it, then more of what is before it.
const BEFORE: usize = 16;

/// What stands beside the number of a line: blanks and a bar.
const GUTTER: usize = 5;

/// As much of the excerpt as has room in so many columns, around what is meant.
fn narrowed(excerpt: Excerpt, room: usize) -> Excerpt {
    if width(&excerpt.text) <= room {
        return excerpt;
    }
    let Excerpt {
        text,
        marked,
        column,
        characters,
    } = excerpt;
    // One column on either side is for what tells that something is left out.
    let mut room = room.saturating_sub(2);
    let mut take = |part: &mut dyn Iterator<Item = char>, room_of_it: usize| {
        let mut left = room_of_it.min(room);
        let taken: String = part
            .take_while(|it| {
                let columns = width(it.encode_utf8(&mut [0; 4]));
                let fits = columns <= left;
                left = if fits { left - columns } else { 0 };
                fits
            })
            .collect();
        room -= width(&taken).min(room);
        taken
    };
    let cut = |text: &str| text.trim_matches('…').to_owned();
    let (before, after) = (cut(&text[..marked.start]), cut(&text[marked.end..]));
    let meant = take(&mut text[marked.clone()].chars(), usize::MAX);
    let some = take(&mut before.chars().rev(), BEFORE);
    let behind = take(&mut after.chars(), usize::MAX);
    let rest = take(
        &mut before.chars().rev().skip(some.chars().count()),
        usize::MAX,
    );
    let reversed = some + &rest;
    let ahead: String = reversed.chars().rev().collect();
    let is_whole = ahead == text[..marked.start];
    let first = if is_whole { "" } else { "…" };
    let last = if behind == text[marked.end..] {
        ""
    } else {
        "…"
    };
    let start = first.len() + ahead.len();
    Excerpt {
        marked: start..start + meant.len(),
        text: [first, &ahead, &meant, &behind, last].concat(),
        column,
        characters,
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        Some(Box::new(&self.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt.is_some().then_some(self as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let marked = self.excerpt.as_ref()?.marked.clone();
        let label = LabeledSpan::new(None, marked.start, marked.len());
        Some(Box::new(std::iter::once(label)))
    }
}

impl SourceCode for Shown {
    /// The excerpt, whatever the span: it is the one line that there is.
    fn read_span<'b>(
        &'b self,
        _span: &SourceSpan,
        _lines_before: usize,
        _lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let excerpt = self.excerpt.as_ref().ok_or(MietteError::OutOfBounds)?;
        let from_zero = usize::try_from(self.line - 1).unwrap_or(usize::MAX);
        Ok(Box::new(MietteSpanContents::new(
            excerpt.text.as_bytes(),
            (0, excerpt.text.len()).into(),
            from_zero,
            0,
            1,
        )))
    }
}
