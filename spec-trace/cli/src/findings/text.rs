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

/// The outcome as text.
pub fn render(outcome: &Outcome, terminal: Terminal) -> String {
    let reports = outcome.reports.iter();
    let mut text: String = reports.map(|report| render_one(report, terminal)).collect();
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
    if !outcome.single {
        overall(&mut text, terminal, outcome);
    }
    text
}

/// The report on one stream as text.
pub fn render_one(report: &LintReport, terminal: Terminal) -> String {
    let mut text = render_found(&report.file, true, &report.violations, terminal);
    text += &render_found(&report.file, false, &report.warnings, terminal);
    text + &render_verdict(report, terminal)
}

/// Findings in this file as text. With `strict`, warnings are violations.
///
/// # Panics
///
/// Never: writing to a string cannot fail.
pub fn render_found(file: &str, strict: bool, found: &[Finding], terminal: Terminal) -> String {
    let handler = GraphicalReportHandler::new_themed(terminal.theme())
        .with_width(terminal.width())
        .with_links(false)
        .with_context_lines(0);
    let mut text = String::new();
    for finding in found {
        let severity = if strict || finding.weight == Weight::Violation {
            Severity::Error
        } else {
            Severity::Warning
        };
        let shown = Shown::new(file, severity, finding, terminal);
        handler
            .render_report(&mut text, &shown)
            .expect("writing to a string cannot fail");
        text.push('\n');
    }
    text
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

/// What a report says behind its findings, as text.
pub fn render_verdict(report: &LintReport, terminal: Terminal) -> String {
    let mut text = String::new();
    not_judged(&mut text, terminal, report);
    summary(&mut text, terminal, report);
    text
}

fn not_judged(text: &mut String, terminal: Terminal, report: &LintReport) {
    for NotJudged { clause, reason, .. } in &report.not_judged {
        line(
            text,
            terminal,
            format_args!("{}: not judged {}: {reason}", report.file, cited(clause)),
        );
    }
}

fn summary(text: &mut String, terminal: Terminal, report: &LintReport) {
    if let Some(damage) = &report.damage {
        line(
            text,
            terminal,
            format_args!(
                "{}:{}: cannot be read any further, after {} bytes: {}",
                report.file, damage.line, damage.bytes, damage.message
            ),
        );
    }
    by_clause(text, terminal, report);
    line(
        text,
        terminal,
        format_args!("{}: {}", report.file, in_short(report)),
    );
}

/// How often each clause is broken, where several are or one is broken several times.
fn by_clause(text: &mut String, terminal: Terminal, report: &LintReport) {
    let findings = report.violations.iter().chain(&report.warnings);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    findings.for_each(|it| *counts.entry(it.clause).or_default() += 1);
    if counts.values().sum::<u64>() > 1 {
        let of_clause = |clause: &str| unlisted(report, |it, _| it == clause);
        let counts = counts.iter().map(|(clause, count)| {
            format!("{} {}", cited(clause), at_least(*count, of_clause(clause)))
        });
        let counts: Vec<_> = counts.collect();
        line(
            text,
            terminal,
            format_args!("{}: by clause: {}", report.file, counts.join(", ")),
        );
    }
}

/// The verdict and the counts, as in `violating: 10 records, 1 session, 1 violation, 0 warnings`.
pub fn in_short(report: &LintReport) -> String {
    let known = match report.known.len() as u64 {
        0 => String::new(),
        count => format!(", {}", counted(count, "known violation")),
    };
    format!(
        "{}: {}, {}, {}, {}{known}",
        report.verdict.word(),
        counted(report.records, "record"),
        counted(report.sessions as u64, "session"),
        all_of(report, &report.violations, Weight::Violation, "violation"),
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
    line(text, terminal, format_args!("{}", parts.join(", ")));
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
    help: Option<String>,
    line: u64,
    excerpt: Option<Excerpt>,
}

impl Shown {
    fn new(file: &str, severity: Severity, finding: &Finding, terminal: Terminal) -> Self {
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
        let word = match severity {
            Severity::Error => "violation",
            Severity::Warning | Severity::Advice => "warning",
        };
        let also = cited_all(&finding.also);
        let also = (!also.is_empty()).then(|| format!("the same fault breaks {also}"));
        let tied = finding.tied_by.map(|it| it.words().to_owned());
        let consequences = finding.consequences.iter().map(|it| {
            let Finding {
                line,
                clause,
                message,
                ..
            } = it;
            let message: String = message.chars().map(printable).collect();
            let number = it.which_message();
            let clause = cited(clause);
            format!("its consequence on line {line}{number} breaks {clause}: {message}")
        });
        let help: Vec<_> = also.into_iter().chain(tied).chain(consequences).collect();
        Self {
            code: terminal.folded(&format!(
                "{place}: {word} {} {}",
                cited(finding.clause),
                finding.level
            )),
            severity,
            message: finding.message.chars().map(printable).collect(),
            help: (!help.is_empty()).then(|| help.join("\n")),
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

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
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
