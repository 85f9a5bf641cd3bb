//! A stream that is judged while it grows, for a producer's own tests and for whoever watches one.
//!
//! The one thing to know: what [`push`](Growing::push) yields is final, however the bytes are cut into pieces, and
//! [`finish`](Growing::finish) yields the report that the whole stream gets at once. What is found and is not final yet is in
//! neither: it waits for the end, or for the first reply (see [`crate::stream`]), and [`undecided`](Growing::undecided) lists it.

use std::collections::BTreeSet;
use std::io;
use std::mem;

use memchr::memrchr;

use crate::envelope::{Messages, NoMessage, Opened};
use crate::finding::Finding;
use crate::lines::{LONGEST_LINE, Line, Lines, Records};
use crate::place::Shift;
use crate::report::{LintReport, NotJudged, Silence};
use crate::selection::Selection;
use crate::stream::{Linter, Settings, Standing};
use crate::{Numbered, Reading, ahead, no_message, tell_that_nothing_was_in_it};

/// A stream of our format (JSON Lines) that is judged as it comes.
///
/// ```
/// use countersign_lint::growing::Growing;
///
/// let mut stream = Growing::default();
/// let event = br#"{"type":"aaep:agent.session.started"}"#;
/// assert!(stream.push(event).is_empty(), "the line has not ended");
/// let found = stream.push(b"\n");
/// assert!(found.iter().all(|it| it.line == 1));
/// let report = stream.finish("mine");
/// assert_eq!(report.records, 1);
/// ```
///
/// Memory is that of the line that has not ended, 16 MiB at most, of what is open in the sessions, and of the findings, of which there are
/// no more than 1000 of a clause.
#[derive(Debug, Default, Clone)]
pub struct Growing {
    linter: Linter,
    selection: Selection,
    selected_from: Option<u64>,
    /// What has come of the line that has not ended.
    rest: Vec<u8>,
    /// The lines that have ended.
    lines: u64,
    /// Whether there was something that may be a message of the protocol.
    seen: bool,
    /// How many of the findings that hold either way were told.
    told: usize,
    /// Those that were told of the findings that hold with replies, by their number.
    told_with_replies: BTreeSet<usize>,
    /// How many findings of each of the two kinds were looked at last.
    looked_at: [usize; 2],
    /// Where it was told that no more findings are listed.
    silences: Vec<Silence>,
    /// How many of them there were in each of the two kinds.
    silences_looked_at: [usize; 2],
}

impl Growing {
    /// A stream of which nothing has come.
    pub fn new(settings: Settings, selection: Selection) -> Self {
        let mut linter = Linter::with(settings);
        if selection.since.is_some() {
            linter.be_silent_before(u64::MAX);
        }
        Self {
            linter,
            selection,
            ..Self::default()
        }
    }

    /// Takes the next bytes, cut anywhere, and yields what is found and final with the lines that end in them. A message may still be told
    /// by the report with how many more of its clause there are, or where the question of a call came, and a finding with what follows from
    /// it.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Finding> {
        let Some(feed) = memrchr(b'\n', bytes) else {
            self.keep(bytes);
            return Vec::new();
        };
        let (ended, rest) = bytes.split_at(feed + 1);
        let mut whole = mem::take(&mut self.rest);
        whole.extend_from_slice(ended);
        self.judge(&whole);
        whole.clear();
        whole.shrink_to(KEPT);
        self.rest = whole;
        self.keep(rest);
        self.settled()
    }

    /// Takes the next record of another envelope, and yields the same.
    fn take(&mut self, line: Line<'_>, shift: Shift) -> Vec<Finding> {
        let mut one = One {
            line: Some(line),
            shift,
        };
        self.read(&mut one);
        self.settled()
    }

    /// What may have become of the questions of a session that is open, after the lines so far.
    pub fn open(&self, session: &str) -> Vec<Standing> {
        self.linter.confirmations(session)
    }

    /// What the report would hold besides what was told, if the stream ended behind the last line that has ended. It copies and ends the
    /// judge, so it takes the time and the memory of all that is kept, and is for the end of a test or now and then.
    pub fn undecided(&self) -> Undecided {
        let (always, with, _) = self.linter.findings();
        let with = self.told_with_replies.iter().filter_map(|at| with.get(*at));
        let told = always[..self.told].iter().chain(with);
        let mut told: Vec<_> = told
            .filter(|it| it.follows_from.is_none())
            .cloned()
            .collect();
        let LintReport {
            mut violations,
            possible,
            mut warnings,
            mut not_judged,
            ..
        } = self.report(self.linter.clone(), "");
        for findings in [&mut violations, &mut warnings] {
            findings.retain(|it| !take_told(it, &mut told));
        }
        not_judged.retain(|it| it.owed);
        Undecided {
            violations,
            possible,
            warnings,
            not_judged,
        }
    }

    /// Where [`push`](Self::push) will tell no more findings of a clause, since so many are listed; each is yielded once.
    pub fn new_silences(&mut self) -> Vec<Silence> {
        let (always, with, without) = self.linter.silences();
        let looked_at = [
            always.len() + with.len(),
            without.map_or(usize::MAX, <[Silence]>::len),
        ];
        if looked_at == self.silences_looked_at {
            return Vec::new();
        }
        self.silences_looked_at = looked_at;
        let with = with
            .iter()
            .filter(|it| without.is_none_or(|without| without.contains(it)));
        let mut new = Vec::new();
        for silence in always.iter().chain(with) {
            if self.selection.names(silence.clause, &[]) && !self.silences.contains(silence) {
                self.silences.push(silence.clone());
                new.push(silence.clone());
            }
        }
        new
    }

    /// Forgets what has come of the line that has not ended: not the stream ends there, but the reading of it.
    pub fn forget_rest(&mut self) {
        self.rest.clear();
    }

    /// The verdict, where the stream ends here; `file` is the name that the report gives it.
    pub fn finish(mut self, file: &str) -> LintReport {
        let rest = mem::take(&mut self.rest);
        self.judge(&rest);
        let linter = mem::take(&mut self.linter);
        self.report(linter, file)
    }

    fn report(&self, linter: Linter, file: &str) -> LintReport {
        let mut report = linter.finish(file);
        report.fingerprint();
        self.selection.apply(self.selected_from, &mut report);
        report
    }

    /// Keeps the beginning of a line; of one that is too long no more than shows that.
    fn keep(&mut self, bytes: &[u8]) {
        let room = (LONGEST_LINE + 1).saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn judge(&mut self, bytes: &[u8]) {
        let mut lines = Lines::behind(bytes, self.lines);
        self.read(&mut lines);
        self.lines = lines.taken();
    }

    fn read(&mut self, records: &mut (impl Records + Send)) {
        let mut reading = Reading {
            linter: mem::take(&mut self.linter),
            selection: &self.selection,
            selected_from: self.selected_from,
            may_be_torn: true,
            seen: self.seen,
        };
        // Bytes that are there can be read.
        ahead::each_line(records, |line| reading.judge(line));
        self.selected_from = reading.selected_from;
        self.seen = reading.seen;
        self.linter = reading.linter;
    }

    /// The findings that have become final since they were told last. As long as no reply has come, that are those which hold either way,
    /// be it that they are found twice.
    fn settled(&mut self) -> Vec<Finding> {
        let (always, with, without) = self.linter.findings();
        let mut new = always[self.told..].to_vec();
        self.told = always.len();
        let looked_at = [with.len(), without.map_or(usize::MAX, <[Finding]>::len)];
        if looked_at != self.looked_at {
            let either_way: Option<BTreeSet<_>> = without.map(|it| it.iter().map(name).collect());
            let is_final = |it: &Finding| {
                let names = either_way.as_ref();
                names.is_none_or(|names| names.contains(&name(it)))
            };
            for (number, finding) in with.iter().enumerate() {
                if is_final(finding) && self.told_with_replies.insert(number) {
                    new.push(finding.clone());
                }
            }
            self.looked_at = looked_at;
        }
        new.retain(|finding| finding.follows_from.is_none() && self.asks_for(finding));
        new.sort_by_key(|finding| finding.line);
        new.iter_mut().for_each(Finding::give_fingerprint);
        new
    }

    fn asks_for(&self, finding: &Finding) -> bool {
        self.selection.asks_for(self.selected_from, finding)
    }
}

/// What is not final yet in a stream that grows.
#[derive(Debug, Clone)]
pub struct Undecided {
    /// Violations that hold if the stream ends here, by line.
    pub violations: Vec<Finding>,
    /// What would be violations, unless something excuses them that does not show, by line.
    pub possible: Vec<Finding>,
    /// Warnings of which that is so, by line.
    pub warnings: Vec<Finding>,
    /// What the verdict would be left open for.
    pub not_judged: Vec<NotJudged>,
}

/// Whether a finding of the report is one of those that were `told` by [`Growing::push`], which is taken out: each was told once.
pub fn take_told(finding: &Finding, told: &mut Vec<Finding>) -> bool {
    let is_same = |it: &Finding| {
        (it.clause, it.line, it.column) == (finding.clause, finding.line, finding.column)
            && it.session == finding.session
            && finding.message.starts_with(&it.message)
    };
    let at = told.iter().position(is_same);
    at.map(|at| told.swap_remove(at)).is_some()
}

/// A record that was read.
struct One<'a> {
    line: Option<Line<'a>>,
    shift: Shift,
}

impl Records for One<'_> {
    fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        Ok(self.line.take())
    }

    fn taken(&self) -> u64 {
        0
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn shift(&self) -> Shift {
        self.shift
    }
}

/// A stream in another envelope that is read line by line, judged as it comes.
///
/// Memory is besides that of the last message, and a byte or two for each message.
pub struct Followed<'a> {
    growing: Growing,
    messages: Messages<'a>,
    start: Vec<u8>,
    /// What to say where nothing was found in it as it was said to be read.
    otherwise: Option<NoMessage>,
    /// Whether only the reading of it has ended.
    is_broken_off: bool,
}

impl<'a> Followed<'a> {
    /// The stream that `opened` holds, of which nothing was read but what tells its envelope.
    pub fn new(opened: Opened<'a>, settings: Settings, selection: Selection) -> Self {
        let otherwise = opened.holds_one_otherwise();
        let (start, messages) = opened.into_messages();
        Self {
            growing: Growing::new(settings, selection),
            messages,
            start,
            otherwise,
            is_broken_off: false,
        }
    }

    /// Waits for the next message, and yields what is found and final with it; `None` at the end. What the end has cut is left out where
    /// `is_broken_off` says that only the reading of it has ended.
    ///
    /// # Errors
    ///
    /// The input cannot be read.
    pub fn advance(
        &mut self,
        is_broken_off: impl Fn() -> bool,
    ) -> io::Result<Option<Vec<Finding>>> {
        let shift = self.messages.next_shift()?;
        self.is_broken_off = is_broken_off();
        let Some(shift) = shift else {
            return Ok(None);
        };
        let line = self.messages.line_read();
        if matches!(line, Line::Whole { ended: false, .. }) && self.is_broken_off {
            return Ok(None);
        }
        let mut found = self.growing.take(line, shift);
        let places = self.messages.places();
        for finding in &mut found {
            finding.tell_place(places, "");
        }
        Ok(Some(found))
    }

    /// The same as [`Growing::new_silences`].
    pub fn new_silences(&mut self) -> Vec<Silence> {
        self.growing.new_silences()
    }

    /// The report that the whole stream gets at once; `file` is the name that it gives it.
    ///
    /// # Errors
    ///
    /// There is something in it, and nothing that could be a message of the protocol.
    pub fn finish(self, file: &str) -> Result<LintReport, NoMessage> {
        let seen = self.growing.seen;
        let mut report = self.growing.finish(file);
        if let Some(otherwise) = self.otherwise.filter(|_| !seen) {
            return Err(otherwise);
        }
        if !seen && report.records > 0 {
            let places = Some(self.messages.places());
            return Err(no_message(&self.start, &report, places));
        }
        if !seen && !self.is_broken_off {
            tell_that_nothing_was_in_it(&self.start, &mut report);
        }
        let places = Some(self.messages.into_places());
        Ok(Numbered { report, places }.told(""))
    }
}

/// So much memory is kept for the next line.
const KEPT: usize = 1 << 20;

/// What tells a finding from others.
type Name<'a> = (
    u64,
    &'static str,
    Option<u64>,
    Option<&'a str>,
    &'a str,
    Option<(u64, &'static str)>,
);

fn name(finding: &Finding) -> Name<'_> {
    (
        finding.line,
        finding.clause,
        finding.column,
        finding.session.as_deref(),
        &finding.message,
        finding.follows_from,
    )
}
