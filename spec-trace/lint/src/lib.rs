//! The judge of recorded AAEP streams.
//!
//! The one thing to know: a stream is accused only when no conforming producer could have produced it. Where the record
//! leaves several explanations open (a cancellation that looks like a change of state, a reply that may have come too
//! late, a call that could belong to either of two confirmations), all of them are kept, and a finding is made when the
//! last one goes.
//!
//! Data flows one way: [`crate::lines`] cuts the input, [`json::tree`] takes the lines apart, which [`ahead`] has done while
//! those before are judged, [`record`] makes typed records of them, [`stream`] hands each record to the monitors of its
//! session, the monitors hand [`finding`]s to the [`report`].
//!
//! A finding stands on the line at which the stream stopped being explainable: the call that nobody had accepted, or the
//! end of the session that made it too late for what was owed.

pub mod action_ids;
pub mod agent_state;
mod ahead;
pub mod baseline;
pub mod compression;
pub mod envelope;
pub mod finding;
pub mod growing;
pub mod harness;
pub mod input;
pub mod json;
pub mod judged;
pub mod lines;
pub mod mcp_aql;
pub mod memory;
pub mod monitor;
pub mod pending_action;
pub mod place;
pub mod protocol;
pub mod record;
mod reply;
pub mod report;
pub mod rules;
pub mod selection;
mod small_map;
pub mod stream;
pub mod surrogates;
pub mod time;
pub mod transcript;

use std::io::{self, BufRead};

use crate::json::tree::Room;
use crate::lines::{Lines, Records};
use ahead::Read;
use envelope::{
    NO_BLANK_LINES, NoMessage, Opened, Places, is_around_message, is_text, may_be_extension,
    may_be_ours, may_have_been_ours,
};
use place::Here;
use record::{ENDS_WITHIN, Fault, Record};
use report::LintReport;
use selection::Selection;
use stream::{Linter, Settings};

/// Judges one stream, read line by line; `file` is the name that the report gives it.
///
/// # Errors
///
/// Only when reading fails. Whatever the bytes are, they are judged: a broken record is a finding, not an error.
pub fn lint(input: impl BufRead + Send, file: &str) -> io::Result<LintReport> {
    let report = judge(input, file, Settings::default(), &Selection::default());
    match report.damage {
        Some(damage) => Err(io::Error::other(damage.message)),
        None => Ok(report),
    }
}

/// Judges one stream of our format as far as it can be read, and reports what was asked for.
///
/// Memory does not grow with the stream: it is two batches of lines, each bounded but for its last line of at most
/// [`LONGEST_LINE`] bytes, and per session what its confirmations and the calls in flight need.
///
/// [`LONGEST_LINE`]: crate::lines::LONGEST_LINE
pub fn judge(
    input: impl BufRead + Send,
    file: &str,
    settings: Settings,
    selection: &Selection,
) -> LintReport {
    let (report, _) = judge_records(&mut Lines::new(input), true, file, settings, selection);
    report
}

/// The same for a stream in whatever envelope it comes; `replies` is the name of a file that was joined to it.
///
/// Memory is besides that of the largest message, or entry of an archive, a byte or two for each message.
///
/// # Errors
///
/// There is something in it, and nothing that could be a message of the protocol.
pub fn judge_opened(
    opened: Opened<'_>,
    (file, replies): (&str, &str),
    settings: Settings,
    selection: &Selection,
) -> Result<LintReport, NoMessage> {
    let numbered = judge_numbered(opened, file, settings, selection)?;
    Ok(numbered.told(replies))
}

/// A report in which messages of another envelope are called by their numbers, and where they stand.
#[derive(Debug)]
pub struct Numbered {
    /// The report.
    pub report: LintReport,
    /// The lines of the messages; of our own format their numbers are those.
    pub places: Option<Places>,
}

impl Numbered {
    /// The report with lines of the file; `replies` is the name of a file that was joined to it.
    pub fn told(self, replies: &str) -> LintReport {
        let Self { mut report, places } = self;
        if let Some(places) = places {
            report.tell_places(&places, replies);
            report.not_judged.extend(places.not_judged);
        }
        report
    }
}

/// The same as [`judge_opened`], with each message called by its number.
///
/// # Errors
///
/// There is something in it, and nothing that could be a message of the protocol.
pub fn judge_numbered(
    opened: Opened<'_>,
    file: &str,
    settings: Settings,
    selection: &Selection,
) -> Result<Numbered, NoMessage> {
    let settings = Settings {
        two_clocks: settings.two_clocks || opened.is_by_two_clocks(),
        ..settings
    };
    let otherwise = opened.holds_one_otherwise();
    let (start, records) = opened.split();
    // In a text, a line that is torn is no more than a line of text.
    let may_be_torn = records.is_err() || !is_text(&start);
    let ((mut report, seen), places) = match records {
        Ok(mut lines) => {
            let judged = judge_records(&mut lines, may_be_torn, file, settings, selection);
            (judged, None)
        }
        Err(mut messages) => {
            let mut judged = judge_records(&mut messages, may_be_torn, file, settings, selection);
            let places = messages.into_places();
            if let Some(first) = places.unordered_from {
                judged.0.leave_order_open(first.max(1));
            }
            (judged, Some(places))
        }
    };
    if let Some(otherwise) = otherwise.filter(|_| !seen) {
        return Err(otherwise);
    }
    if !seen && report.records > 0 {
        return Err(no_message(&start, &report, places.as_ref()));
    }
    let damage = report.damage.as_ref().filter(|_| report.records == 0);
    if let Some(nowhere) = damage.and_then(|it| NoMessage::ended(&it.message)) {
        return Err(nowhere);
    }
    if !seen {
        tell_that_nothing_was_in_it(&start, &mut report);
    }
    Ok(Numbered { report, places })
}

/// A file that begins like this held not even what could be taken for a message.
fn tell_that_nothing_was_in_it(start: &[u8], report: &mut LintReport) {
    if !start.trim_ascii().is_empty() {
        report.damage.get_or_insert_with(|| report::Damage {
            line: 1,
            bytes: start.len() as u64,
            message: NoMessage::of(start, None).to_string(),
        });
        report.settle();
    }
}

/// What is said of a file that begins like this, with what is wrong with the first thing in it.
fn no_message(start: &[u8], report: &LintReport, places: Option<&Places>) -> NoMessage {
    let first = report.violations.first().map(|it| {
        let place = places.and_then(|places| places.place(it.line));
        let line = place.map_or(it.line, |(line, _)| line);
        (line, it.message.as_str())
    });
    NoMessage::of(start, first)
}

/// The report, and whether anything was seen that may be a message of the protocol.
fn judge_records(
    records: &mut (impl Records + Send),
    may_be_torn: bool,
    file: &str,
    settings: Settings,
    selection: &Selection,
) -> (LintReport, bool) {
    let mut reading = Reading {
        linter: Linter::with(settings),
        selection,
        selected_from: None,
        may_be_torn,
        seen: false,
    };
    if selection.since.is_some() {
        reading.linter.be_silent_before(u64::MAX);
    }
    let damage = ahead::each_line(records, |line| reading.judge(line));
    let mut report = reading.linter.finish(file);
    report.damage = damage;
    report.fingerprint();
    selection.apply(reading.selected_from, &mut report);
    (report, reading.seen)
}

/// Judges one line of a stream.
pub fn judge_line(linter: &mut Linter, line: u64, bytes: &[u8]) {
    let here = Here::new(line, bytes);
    let mut room = Room::default();
    match record::parse(bytes, &mut room).and_then(|tree| record::read(tree, here)) {
        Ok((record, faults)) => judge_record(linter, here, &record, faults),
        Err(fault) => judge_broken(linter, here, fault),
    }
}

fn judge_record(linter: &mut Linter, here: Here<'_>, record: &Record<'_>, faults: Vec<Fault>) {
    for fault in faults {
        let place = here.at(fault.column);
        linter.faulty(fault.at(place, record.session()));
    }
    linter.record(record);
}

fn judge_broken(linter: &mut Linter, here: Here<'_>, fault: Fault) {
    let place = here.at(fault.column);
    linter.broken(fault.at(place, None), may_have_been_ours(here.bytes()));
}

/// A stream that is being read.
struct Reading<'a> {
    linter: Linter,
    selection: &'a Selection,
    /// The first line of the time that is asked about.
    selected_from: Option<u64>,
    /// Whether what is no record may be a message that is torn.
    may_be_torn: bool,
    /// Whether there was something that may be a message of the protocol.
    seen: bool,
}

impl Reading<'_> {
    fn judge(&mut self, line: Read<'_>) {
        let Read { here, ended, .. } = line;
        match line.content {
            Ok((record, faults)) => self.take(here, &record, faults),
            Err(fault) => self.broken(here, fault, ended),
        }
    }

    fn take(&mut self, here: Here<'_>, record: &Record<'_>, faults: Vec<Fault>) {
        let is_other = matches!(record, Record::Foreign { .. });
        self.seen = self.seen
            || (!is_other || may_be_extension(here.bytes())) && !is_around_message(here.bytes());
        let session = record.session();
        if !self.selection.wants(session) {
            if let Record::Event(event) = record {
                self.linter.event_elsewhere(event);
            }
            return;
        }
        if self.selected_from.is_none() && self.selection.reaches(record) {
            self.selected_from = Some(here.line);
            self.linter.be_silent_before(here.line);
        }
        judge_record(&mut self.linter, here, record, faults);
    }

    fn broken(&mut self, here: Here<'_>, mut fault: Fault, ended: bool) {
        let is_torn = self.may_be_torn && fault.message != NO_BLANK_LINES;
        self.seen = self.seen || is_torn && may_be_ours(here.bytes());
        let is_cut = |it: &str| it.contains("EOF while parsing") || it.ends_with(ENDS_WITHIN);
        if !ended && is_cut(&fault.message) {
            fault.message = format!(
                "the input ends in the middle of a record: {}",
                fault.message
            );
        }
        judge_broken(&mut self.linter, here, fault);
    }
}
