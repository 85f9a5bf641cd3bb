//! Transcripts of the driver protocol: requests and their responses, line by line.
//!
//! The one thing to know: a request and its response are one [`Exchange`], and a monitor is shown one after the other, in the
//! order of the responses, whether or not requests were written ahead. What is no line of a transcript ends the reading.

mod fields;
mod meaning;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use countersign_clauses as clause;

use fields::twice;
pub use fields::{Fields, leaves, text};
pub use meaning::{differs, same};

use crate::envelope::Opened;
use crate::finding::Finding;
use crate::lines::{LONGEST_LINE, Line, Records};
use crate::place::{Here, Place, Shift};
use crate::protocol::Protocol;
use crate::report::{Damage, LintReport, NotJudged, Verdict};
use crate::rules::{Rule, Weight};
use crate::selection::Selection;
use crate::time::Timestamp;
use crate::{mcp_aql, pending_action};

/// A file that is no transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no transcript of {protocol}: line {line}: {why}")]
pub struct NoTranscript {
    protocol: &'static str,
    line: u64,
    why: String,
}

/// What a response says.
#[derive(Debug)]
pub enum Answer<'a> {
    /// The answer to `hello`.
    Greeting(Fields<'a>),
    /// What came out.
    Outputs(Vec<Output<'a>>),
    /// It cannot do this.
    Unsupported,
    /// It was not understood: nothing has happened.
    Error,
}

/// One output.
#[derive(Debug)]
pub struct Output<'a> {
    /// Its kind: the name of its member.
    pub kind: String,
    /// What stands in it, where that is an object.
    pub fields: Fields<'a>,
    /// What stands in it, as it is written.
    pub raw: &'a str,
}

/// A request and its response.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// What is asked.
    pub op: String,
    /// The time of it in milliseconds, where it has one that can be read.
    pub now: Option<i64>,
    /// What is asked, with its fields.
    pub request: Fields<'a>,
    /// What came of it.
    pub answer: Answer<'a>,
    /// The line of the response.
    pub line: u64,
    /// The line of the response, as findings show it.
    pub place: Place,
}

impl Exchange<'_> {
    /// What came out; nothing where nothing has happened.
    pub fn outputs(&self) -> Option<&[Output<'_>]> {
        match &self.answer {
            Answer::Outputs(outputs) => Some(outputs),
            Answer::Greeting(_) | Answer::Unsupported | Answer::Error => None,
        }
    }

    /// Whether it was refused.
    pub fn is_refused(&self) -> bool {
        let mut outputs = self.outputs().unwrap_or_default().iter();
        outputs.any(|output| output.kind == "refused")
    }
}

/// The op of an entry of the log of MCP-AQL that stands by itself: it is the request and the one output.
pub const ENTRY: &str = "entry";

/// The kinds of output that a greeting declares to be shown; all where it says nothing.
#[derive(Debug, Default)]
pub struct Shows(Option<BTreeSet<String>>);

impl Shows {
    /// Takes over what a greeting declares; any other answer changes nothing.
    pub fn learn(&mut self, answer: &Answer<'_>) {
        if let Answer::Greeting(greeting) = answer {
            let said = greeting.raw("shows").filter(|it| *it != "null");
            // What cannot be read may declare anything: nothing is missed then.
            let kinds = said.map(|_| greeting.texts("shows").unwrap_or_default());
            self.0 = kinds.map(|kinds| kinds.into_iter().collect());
        }
    }

    /// What of a greeting's `shows` has no meaning, with whether none of it has.
    fn unread(greeting: &Fields<'_>) -> Option<(String, bool)> {
        let said = greeting.raw("shows").filter(|it| *it != "null")?;
        let Some(kinds) = greeting.texts("shows") else {
            return Some((said.to_owned(), true));
        };
        let unknown = kinds.iter().find(|it| !KINDS.contains(&&***it))?;
        Some((format!("{unknown:?}"), false))
    }

    /// Whether outputs of that kind are shown.
    pub fn has(&self, kind: &str) -> bool {
        self.0.as_ref().is_none_or(|kinds| kinds.contains(kind))
    }
}

/// What judges the exchanges of a protocol.
pub trait Monitor {
    /// Looks at the next exchange.
    fn see(&mut self, exchange: &Exchange<'_>, found: &mut Found);

    /// Judges what only the end of the recording shows.
    fn end(&mut self, _found: &mut Found) {}

    /// The sessions that were seen.
    fn sessions(&self) -> &BTreeSet<String>;

    /// What cannot be told from this transcript, at its end.
    fn not_judged(&self, found: &Found) -> Vec<NotJudged>;
}

/// What was found so far.
#[derive(Debug, Default)]
pub struct Found {
    findings: Vec<Finding>,
    /// The clauses on which something was looked at.
    pub touched: BTreeSet<&'static str>,
    /// What was accused in this exchange: what else is wrong with it follows.
    accused: BTreeSet<String>,
}

impl Found {
    /// Something that the rule is about was looked at.
    pub fn touch(&mut self, rule: &Rule) {
        self.touched.extend(rule.all_clauses());
    }

    /// Makes a finding about the thing of that name, unless it was accused in this exchange before.
    pub fn accuse(
        &mut self,
        rule: &Rule,
        exchange: &Exchange<'_>,
        about: &str,
        session: Option<&str>,
        message: String,
    ) {
        self.touch(rule);
        if self.accused.contains(about) {
            return;
        }
        if rule.weight == Weight::Violation {
            self.accused.insert(about.to_owned());
        }
        let finding = Finding::new(rule, &exchange.place, session, message);
        self.findings.push(finding);
    }
}

impl Found {
    /// Makes a finding about a line that stands before, of no session.
    pub fn accuse_line(&mut self, rule: &Rule, place: &Place, message: String) {
        self.touch(rule);
        self.findings.push(Finding::new(rule, place, None, message));
    }
}

/// Judges a transcript of this protocol, as far as it can be read. With `strict`, warnings are violations.
///
/// # Errors
///
/// It does not begin like a transcript.
pub fn judge_transcript(
    opened: Opened<'_>,
    protocol: Protocol,
    file: &str,
    strict: bool,
    selection: &Selection,
) -> Result<LintReport, NoTranscript> {
    let otherwise = opened.looks_otherwise();
    let (_, records) = opened.split();
    let judged = match records {
        Ok(mut lines) => judge(&mut lines, protocol, file, strict, selection),
        Err(mut messages) => {
            let judged = judge(&mut messages, protocol, file, strict, selection);
            judged.map(|mut report| {
                report.tell_envelope(messages.into_places(), first_clause(protocol));
                report
            })
        }
    };
    match (otherwise, &judged) {
        (Some(why), Ok(LintReport { records: 0, .. }) | Err(_)) => Err(NoTranscript {
            protocol: protocol.name(),
            line: 1,
            why,
        }),
        _ => judged,
    }
}

fn judge(
    records: &mut impl Records,
    protocol: Protocol,
    file: &str,
    strict: bool,
    selection: &Selection,
) -> Result<LintReport, NoTranscript> {
    let mut monitor: Box<dyn Monitor> = match protocol {
        Protocol::PendingAction => Box::new(pending_action::Monitor::default()),
        Protocol::McpAql => Box::new(mcp_aql::Monitor::default()),
        Protocol::Aaep => {
            return Err(NoTranscript {
                protocol: protocol.name(),
                line: 1,
                why: "of AAEP the events and replies are judged, not the requests of a driver"
                    .to_owned(),
            });
        }
    };
    let mut reading = Reading {
        protocol,
        waiting: VecDeque::new(),
        records: 0,
        exchanges: 0,
        state: State::Unknown,
        passed_over: None,
        twice: None,
        more_twice: 0,
        shows: None,
        selected_from: None,
    };
    let mut found = Found::default();
    let damage = reading.read(records, &mut *monitor, &mut found, selection);
    if let (Some(damage), 0) = (&damage, reading.exchanges) {
        return Err(NoTranscript {
            protocol: protocol.name(),
            line: damage.line,
            why: damage.message.clone(),
        });
    }
    monitor.end(&mut found);
    found.findings.sort_by_key(|it| it.line);
    let mut not_judged = monitor.not_judged(&found);
    let mut open =
        |reason: String| not_judged.push(NotJudged::open(first_clause(protocol), reason));
    if reading.exchanges == 0 || found.touched.is_empty() {
        open("nothing was asked that a clause is about".to_owned());
    }
    if let Some(line) = reading.passed_over {
        open(format!(
            "up to line {line} it goes on from something that was before it: a `reset` would begin anew"
        ));
    }
    reading.names_twice().into_iter().for_each(&mut open);
    for session in &selection.sessions {
        if !monitor.sessions().contains(session) {
            open(format!("nothing is about the session {session:?}"));
        }
    }
    not_judged.extend(reading.shows_unread());
    let (violations, warnings) = found
        .findings
        .into_iter()
        .partition(|finding| strict || finding.weight == Weight::Violation);
    let mut report = LintReport {
        file: file.to_owned(),
        protocol: protocol.name(),
        records: reading.records,
        sessions: monitor.sessions().len(),
        verdict: Verdict::Conforming,
        violations,
        possible: Vec::new(),
        warnings,
        known: Vec::new(),
        unlisted: BTreeMap::new(),
        not_judged,
        tied: BTreeMap::new(),
        damage,
    };
    report.fingerprint();
    // What is of no session is told with one that there is.
    let is_about = selection.is_about(monitor.sessions());
    let wanted = |finding: &Finding| is_about && selection.wants(finding.session.as_deref());
    report.violations.retain(wanted);
    report.warnings.retain(wanted);
    // Where no request is of that time or later, nothing was judged in it.
    let from = match (selection.since, reading.selected_from) {
        (Some(_), None) => Some(u64::MAX),
        (_, from) => from,
    };
    if from == Some(u64::MAX) {
        let reason = "nothing was asked at that time or later";
        report
            .not_judged
            .push(NotJudged::open(first_clause(protocol), reason));
    }
    selection.apply(from, &mut report);
    Ok(report)
}

/// What is said of requests whose op is none of this protocol: the line of the first answer, the op, and how many there are.
pub(crate) fn unknown_op(
    protocol: Protocol,
    first: Option<&(u64, String, u64)>,
) -> Option<NotJudged> {
    let (line, op, count) = first?;
    let name = protocol.name();
    let reason =
        format!("line {line} answers a request whose `op` {op:?} is none of {name} ({count} such)");
    Some(NotJudged::open(first_clause(protocol), reason))
}

/// A clause for what is said of all of them.
pub(crate) fn first_clause(protocol: Protocol) -> &'static str {
    let mut clauses = clause::all().iter();
    let first = clauses.find(|clause| clause.protocol == protocol.name());
    first.map_or("", |clause| clause.id.as_str())
}

/// A transcript that is being read.
struct Reading {
    protocol: Protocol,
    /// The requests that have no response yet, with their ids as they are written.
    waiting: VecDeque<(String, String)>,
    records: u64,
    exchanges: u64,
    state: State,
    /// The last line that was not judged, as nobody knows in which state it began.
    passed_over: Option<u64>,
    /// The first line with a name in it twice, that name in quotes, and how many more there are.
    twice: Option<(u64, String)>,
    more_twice: u64,
    /// What of the first greeting that has such a thing cannot be read: its line, what stands there, and whether that is all.
    shows: Option<(u64, String, bool)>,
    selected_from: Option<u64>,
}

/// What is known of the state in which an exchange begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Something may have been before it that is not in the transcript.
    Unknown,
    /// It was greeted first of all: nothing was before it, unless it restarts with what it has kept.
    Greeted,
    /// All of it is in the transcript.
    Known,
}

impl State {
    /// The state behind this.
    fn behind(self, op: &str, is_first: bool) -> Self {
        match (self, op) {
            (_, "reset") => Self::Known,
            (_, "hello") if is_first => Self::Greeted,
            (_, "hello") | (Self::Greeted, "restart") | (Self::Unknown, _) => Self::Unknown,
            (Self::Greeted | Self::Known, _) => Self::Known,
        }
    }
}

impl Reading {
    /// What to do about a line that ends the reading: a log may have others between its entries.
    fn advice(&self) -> &'static str {
        let may_be_log = self.protocol == Protocol::McpAql
            && self.state == State::Unknown
            && self.waiting.is_empty();
        if may_be_log {
            "; of a log with other lines in it, those of tokens alone are read: grep '\"TOKEN_'"
        } else {
            ""
        }
    }

    /// What is left open by lines with a name in them twice.
    fn names_twice(&self) -> Option<String> {
        let (line, name) = self.twice.as_ref()?;
        let more = match self.more_twice {
            0 => String::new(),
            more => format!(" (and {more} more such lines)"),
        };
        Some(format!(
            "the name {name} stands twice on line {line}{more}: which of the two counts does not show, and it was judged as if that were the last"
        ))
    }

    /// What is left open by what a greeting declares to be shown.
    fn shows_unread(&self) -> Option<NotJudged> {
        let (line, written, is_all) = self.shows.as_ref()?;
        let kinds = KINDS.join(", ");
        let clause = first_clause(self.protocol);
        Some(if *is_all {
            let reason = format!(
                "`shows` of the greeting on line {line} is {written}, and a list of kinds of output is expected (of {kinds}): what is missing may not be shown"
            );
            NotJudged::open(clause, reason)
        } else {
            let reason = format!(
                "`shows` of the greeting on line {line} has {written}, which is no kind of output ({kinds})"
            );
            NotJudged::partly(clause, reason)
        })
    }

    /// Reads to the end, or to what is no line of a transcript.
    fn read(
        &mut self,
        records: &mut impl Records,
        monitor: &mut dyn Monitor,
        found: &mut Found,
        selection: &Selection,
    ) -> Option<Damage> {
        loop {
            let (line, bytes) = (records.taken() + 1, records.bytes());
            let damage = |line, message| {
                Some(Damage {
                    line,
                    bytes,
                    message,
                })
            };
            match self.next(records, monitor, found, selection) {
                Ok(Some(())) => {}
                Ok(None) => return None,
                Err(Stop::Input(error)) => return damage(line, error.to_string()),
                Err(Stop::Line(line, why)) => return damage(line, why),
            }
        }
    }

    fn next(
        &mut self,
        records: &mut impl Records,
        monitor: &mut dyn Monitor,
        found: &mut Found,
        selection: &Selection,
    ) -> Result<Option<()>, Stop> {
        let Some(line) = records.next_line().map_err(Stop::Input)? else {
            return Ok(None);
        };
        let (number, bytes) = match line {
            Line::Whole { number, bytes, .. } => (number, bytes.to_vec()),
            Line::TooLong { number, .. } => {
                let why = format!("it is longer than {LONGEST_LINE} bytes");
                return Err(Stop::Line(number, why));
            }
            Line::Without { number, why, .. } => return Err(Stop::Line(number, why)),
        };
        let shift = records.shift();
        let text = without_arrow(&bytes);
        if text.trim_ascii().is_empty() {
            return Ok(Some(()));
        }
        let text = std::str::from_utf8(text)
            .map_err(|_| Stop::Line(number, "it is no UTF-8".to_owned()))?;
        let fields = Fields::parse(text)
            .ok_or_else(|| Stop::Line(number, format!("it is no JSON object{}", self.advice())))?;
        self.records += 1;
        match twice(text) {
            Some(_) if self.twice.is_some() => self.more_twice += 1,
            Some(name) => self.twice = Some((number, name)),
            None => {}
        }
        if fields.has("op") {
            let id = fields.raw("id").unwrap_or("null").to_owned();
            self.waiting.push_back((id, text.to_owned()));
            return Ok(Some(()));
        }
        let here = Here::new(number, bytes.as_slice());
        let here = if bytes.len() == text.len() {
            here.shifted(shift)
        } else {
            here.shifted(Shift::UNKNOWN)
        };
        let asked;
        let (op, now, request, answer) = if self.protocol == Protocol::McpAql && is_entry(&fields) {
            let entry = Output {
                kind: "audit".to_owned(),
                fields: fields.clone(),
                raw: text,
            };
            let at = fields.moment("timestamp");
            (ENTRY.to_owned(), at, fields, Answer::Outputs(vec![entry]))
        } else {
            let answer = answer(&fields)
                .ok_or_else(|| Stop::Line(number, format!("{UNKNOWN}{}", self.advice())))?;
            asked = self.asked(&fields, number)?;
            let request = Fields::parse(&asked)
                .ok_or_else(|| Stop::Line(number, "its request is no object".to_owned()))?;
            self.greeted(&request, &answer, number)?;
            let op = request.text("op").unwrap_or_default();
            (op, request.time("now"), request, answer)
        };
        let is_reached = |since: Timestamp| now.is_some_and(|now| now >= since.milliseconds());
        if selection.since.is_some_and(is_reached) {
            self.selected_from.get_or_insert(number);
        }
        if let Answer::Greeting(greeting) = &answer
            && self.shows.is_none()
        {
            let unread = Shows::unread(greeting);
            self.shows = unread.map(|(written, is_all)| (number, written, is_all));
        }
        self.exchanges += 1;
        found.accused.clear();
        let exchange = Exchange {
            op,
            now,
            request,
            answer,
            line: number,
            place: here.into(),
        };
        let op = &*exchange.op;
        self.state = self.state.behind(op, self.exchanges == 1);
        if self.state != State::Unknown || matches!(op, ENTRY | "hello") {
            monitor.see(&exchange, found);
        } else {
            self.passed_over = Some(number);
        }
        Ok(Some(()))
    }

    /// The request that this response answers.
    fn asked(&mut self, response: &Fields<'_>, number: u64) -> Result<String, Stop> {
        let id = response.raw("id").unwrap_or("null");
        let first = self.waiting.pop_front();
        match first {
            // Who could not read the request cannot tell its id.
            Some((asked, text)) if asked == id || id == "null" => Ok(text),
            Some((asked, _)) => Err(Stop::Line(
                number,
                format!("the response has the id {id}, and the request that waits has {asked}"),
            )),
            None => Err(Stop::Line(
                number,
                format!("there is no request before it that has the id {id}"),
            )),
        }
    }

    /// A greeting is of this protocol.
    fn greeted(&self, request: &Fields<'_>, answer: &Answer<'_>, number: u64) -> Result<(), Stop> {
        let protocol = request.text("protocol").unwrap_or_default();
        let is_other = matches!(answer, Answer::Greeting(_)) && protocol != self.protocol.name();
        if is_other {
            let why = format!("here begins a transcript of {protocol:?}");
            return Err(Stop::Line(number, why));
        }
        Ok(())
    }
}

/// Why the reading ends.
enum Stop {
    Input(io::Error),
    Line(u64, String),
}

/// What is said of a line that is neither of the two.
const UNKNOWN: &str = "it is neither a request (`op`) nor a response (`outputs`, `unsupported`, `error`, or to `hello` `supports`, `shows`, `name`), nor an entry of the log of MCP-AQL (`event` TOKEN_…)";

/// Whether it is an entry of the log of MCP-AQL 6.4 that stands by itself.
fn is_entry(fields: &Fields<'_>) -> bool {
    let event = fields.text("event").unwrap_or_default();
    event.starts_with("TOKEN_") && !fields.has("id")
}

fn answer<'a>(fields: &Fields<'a>) -> Option<Answer<'a>> {
    if let Some(outputs) = fields.array("outputs") {
        let outputs = outputs.into_iter().map(output);
        return outputs.collect::<Option<Vec<_>>>().map(Answer::Outputs);
    }
    if fields.has("error") {
        return Some(Answer::Error);
    }
    if fields.has("unsupported") {
        return Some(Answer::Unsupported);
    }
    let mut members = ["supports", "shows", "name"].into_iter();
    members
        .any(|name| fields.has(name))
        .then(|| Answer::Greeting(fields.clone()))
}

/// The kinds of output that there are, of all protocols; other members of an output are passed over.
const KINDS: [&str; 11] = [
    "append", "event", "perform", "in_doubt", "audit", "snapshot", "refused", "respond", "emit",
    "notify", "answer",
];

fn output(raw: &str) -> Option<Output<'_>> {
    let whole = Fields::parse(raw)?;
    let kind = KINDS.into_iter().find(|kind| whole.has(kind));
    let kind = kind.unwrap_or_default();
    let raw = whole.raw(kind).unwrap_or("null");
    Some(Output {
        kind: kind.to_owned(),
        fields: Fields::parse(raw).unwrap_or_default(),
        raw,
    })
}

/// A line without the arrow that tells who speaks, and the blanks around it.
pub fn without_arrow(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    let arrows = ["→", "←"].map(str::as_bytes);
    let cut = arrows.iter().find_map(|arrow| line.strip_prefix(*arrow));
    cut.map_or(line, |rest| rest.trim_ascii_start())
}

/// A time of the driver protocol in milliseconds. A leap second is the first second of the next minute.
pub fn milliseconds(text: &str) -> Option<i64> {
    match (text.get(..17), text.get(17..19), text.get(19..)) {
        (Some(before), Some("60"), Some(behind)) => {
            let last = Timestamp::parse(&format!("{before}59{behind}"))?;
            Some(last.milliseconds().div_euclid(1_000) * 1_000 + 1_000)
        }
        _ => Timestamp::parse(text).map(Timestamp::milliseconds),
    }
}

/// Whether a text says nothing: it holds blanks, controls and characters without width alone.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|it| {
        it.is_whitespace()
            || it.is_control()
            || matches!(it, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
    })
}
