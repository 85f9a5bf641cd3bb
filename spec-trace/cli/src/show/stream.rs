//! A recorded AAEP stream as a run, in whatever envelope it comes: one step a message, with the verdict of the linter on it.
//!
//! The one thing to know: messages are called by their numbers, which in our own format are those of their lines, until they
//! are told: where several stand on one line, each has a step of its own.

use std::collections::{BTreeMap, BTreeSet};

use countersign_clauses::cited;
use serde_json::Value;

use super::events;
use super::redact::{Numbers, redacted};
use super::run::{Finding, Kind, Names, Run, StateChange, Step, Track, Weight};
use super::words::printable;
use crate::commands::lint::unless_withheld;
use crate::findings::text::in_short;
use countersign_lint::Numbered;
use countersign_lint::envelope::{How, NoMessage, Opened, Places};
use countersign_lint::finding::{Finding as Found, Here};
use countersign_lint::json::tree::Room;
use countersign_lint::lines::{LONGEST_LINE, Line, Records};
use countersign_lint::record::{self, Record};
use countersign_lint::report::LintReport;
use countersign_lint::selection::Selection as Judged;
use countersign_lint::stream::{Linter, Settings};
use countersign_lint::surrogates;
use countersign_lint::time::Timestamp;

/// The most records that are drawn; a page of more would be of no use to anyone.
const MOST_RECORDS: usize = 100_000;

/// How much of a record is shown, in characters.
const RECORD_SHOWN: usize = 8192;

/// What of a stream is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// One session, or all.
    pub session: Option<&'a str>,
    /// Whether nothing of the stream may be quoted.
    pub redact: bool,
    /// What is said of the format; nothing, where its first bytes tell.
    pub how: Option<&'a How>,
}

/// Why a stream is not drawn.
pub(super) enum Refused {
    /// There is none.
    NoMessage(NoMessage),
    /// It cannot be.
    Other(String),
}

impl From<String> for Refused {
    fn from(cause: String) -> Self {
        Self::Other(cause)
    }
}

/// Draws a stream, or one session of it.
///
/// # Errors
///
/// A session that is not in the stream, or more records than anyone can look at.
pub(super) fn run(bytes: &[u8], file: &str, selection: Selection<'_>) -> Result<Run, Refused> {
    let Selection {
        session,
        redact,
        how,
    } = selection;
    let how = how.cloned().unwrap_or_default();
    let open = || Opened::new(bytes, &how);
    let opened = open();
    let two_clocks = opened.is_by_two_clocks();
    let Numbered { mut report, places } =
        countersign_lint::judge_numbered(opened, file, Settings::default(), &Judged::default())
            .map_err(Refused::NoMessage)?;
    if let Some(damage) = report.damage {
        return Err(Refused::Other(unless_withheld(damage.message, redact)));
    }
    let mut entries = entries(&mut *open().into_records(), session)?;
    if redact {
        report.redact();
        let mut numbers = Numbers::default();
        for entry in &mut entries {
            entry.redact(&mut numbers);
        }
    }
    let mut drawing = Drawing::of(&entries, places.as_ref(), session, two_clocks);
    for entry in &entries {
        drawing.take(entry);
    }
    if drawing.steps.is_empty() && entries.iter().all(|entry| entry.is_head) && session.is_none() {
        return Err("the recording has a head and no message".to_owned().into());
    }
    if drawing.steps.is_empty() {
        let session = session.unwrap_or("any");
        let there = sessions_there(&mut *open().into_records(), redact)?;
        return Err(format!("no record belongs to session {session:?}; {there}").into());
    }
    let (mut run, steps) = drawing.finish(file);
    run.judge(Numbered { report, places }, &steps);
    Ok(run)
}

/// A message, or a line that is not blank.
struct Entry {
    number: u64,
    /// The message, out of its wrapper; null where the line is no JSON.
    message: Value,
    /// The wrapper, or null.
    wrapper: Value,
    /// The line, for the linter.
    bytes: Vec<u8>,
    is_reply_record: bool,
    /// Whether it is the head of a recording, with nothing wrong about it: no message.
    is_head: bool,
    text: String,
    /// What may be shown of the message, where that is not all.
    redacted: Option<Value>,
}

impl Entry {
    fn of(number: u64, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * RECORD_SHOWN)]);
        let readable = surrogates::readable(bytes);
        let whole = std::str::from_utf8(&readable).ok();
        let value = whole
            .and_then(|text| countersign_lint::json::parse(text).ok())
            .unwrap_or_default();
        let is_wrapped = value.get("message").is_some() && value.get("type").is_none();
        let (message, wrapper) = if is_wrapped {
            (value["message"].clone(), value)
        } else {
            (value, Value::Null)
        };
        let what = |record: &Record<'_>, is_right: bool| {
            let is_reply = matches!(record, Record::Reply(_));
            (is_reply, is_right && matches!(record, Record::Head { .. }))
        };
        let (is_reply_record, is_head) = with_record(number, &readable, what).unwrap_or_default();
        Self {
            number,
            message,
            wrapper,
            is_reply_record,
            is_head,
            bytes: readable.into_owned(),
            text: printable(&text.chars().take(RECORD_SHOWN).collect::<String>()),
            redacted: None,
        }
    }

    /// Keeps only what quotes nothing, to be shown.
    fn redact(&mut self, numbers: &mut Numbers) {
        let is_known = events::is_known(&self.message);
        self.redacted = Some(redacted(&self.message, is_known, numbers));
        self.text.clear();
    }

    /// What may be shown of the message.
    fn shown(&self) -> &Value {
        self.redacted.as_ref().unwrap_or(&self.message)
    }

    fn shown_text(&self, name: &str) -> Option<&str> {
        self.shown().get(name).and_then(Value::as_str)
    }

    fn text_at<'a>(&'a self, name: &str) -> Option<&'a str> {
        self.message.get(name).and_then(Value::as_str)
    }

    /// The time of day: the producer's for what it sent, the recorder's for what it received.
    fn time(&self) -> String {
        let received = self.wrapper.get("at").and_then(Value::as_str);
        let own = self.text_at("timestamp");
        let moment = if self.is_reply() {
            received.or(own)
        } else {
            own.or(received)
        };
        // What is no time may be anything.
        let is_time = |moment: &&str| self.redacted.is_none() || Timestamp::parse(moment).is_some();
        let time = moment
            .filter(is_time)
            .and_then(|moment| moment.get(11..))
            .unwrap_or_default();
        let digits = time
            .find(|character: char| !character.is_ascii_digit() && !matches!(character, ':' | '.'));
        printable(&time[..digits.unwrap_or(time.len()).min(12)])
    }

    fn is_reply(&self) -> bool {
        let sent_by_subscriber = self.wrapper.get("dir").and_then(Value::as_str) == Some("in");
        sent_by_subscriber
            || self
                .text_at("type")
                .is_some_and(|name| events::REPLIES.contains(&name))
    }
}

/// What can be done with the record on a line, if it is one, and with whether nothing is wrong about it alone.
fn with_record<T>(line: u64, bytes: &[u8], work: impl FnOnce(&Record<'_>, bool) -> T) -> Option<T> {
    let mut room = Room::default();
    let tree = record::parse(bytes, &mut room).ok()?;
    let (record, faults) = record::read(tree, Here::new(line, bytes)).ok()?;
    Some(work(&record, faults.is_empty()))
}

/// The messages of the stream, without the events of other sessions than that one.
fn entries(records: &mut dyn Records, session: Option<&str>) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    while let Some(line) = records.next_line().map_err(|error| error.to_string())? {
        let entry = match line {
            Line::Whole { bytes, .. } if bytes.iter().all(u8::is_ascii_whitespace) => continue,
            Line::Whole { number, bytes, .. }
            | Line::Without {
                number,
                start: bytes,
                ..
            } => Entry::of(number, bytes),
            Line::TooLong { number, start } => {
                let mut entry = Entry::of(number, start);
                entry.text = format!("(longer than {} MiB) {}", LONGEST_LINE >> 20, entry.text);
                entry
            }
        };
        let own = entry.text_at("session_id");
        if session.is_none() || own.is_none() || own == session {
            entries.push(entry);
        }
        if entries.len() > MOST_RECORDS {
            return Err(format!(
                "more than {MOST_RECORDS} records are too many to draw; --session ID draws one session"
            ));
        }
    }
    Ok(entries)
}

/// Which sessions a stream has: a few of them by name.
fn sessions_there(records: &mut dyn Records, redact: bool) -> Result<String, String> {
    const FEW: usize = 5;
    let mut sessions: Vec<String> = Vec::new();
    for entry in entries(records, None)? {
        let session = entry.text_at("session_id").map(str::to_owned);
        sessions.extend(session.filter(|it| !sessions.contains(it)));
    }
    let names = sessions.iter().take(FEW).map(|it| format!("{it:?}"));
    let names = names.collect::<Vec<_>>().join(", ");
    Ok(match (sessions.len(), redact) {
        (0, _) => "no record names one".to_owned(),
        (count, true) => format!("it has {count} others"),
        (count, false) if count > FEW => format!("there are {names} and {} more", count - FEW),
        (_, false) => format!("there are {names}"),
    })
}

/// The lanes that every stream has.
const SUBSCRIBER: &str = "subscriber";
const TOOLS: &str = "tools";

/// The lane of lines of which nobody knows who sent them.
const NOBODY: &str = "unknown";

/// The name of a producer's lane. One that calls itself as another lane is called could pass for it.
fn own_lane(agent: &str) -> String {
    let shown = printable(agent);
    let shown = shown.trim();
    if [SUBSCRIBER, TOOLS, NOBODY, ""].contains(&shown) {
        format!("agent “{shown}”")
    } else {
        shown.to_owned()
    }
}

struct Drawing<'a> {
    session: Option<&'a str>,
    places: Option<&'a Places>,
    /// The session in which each token was given out, and how the token is shown.
    tokens: BTreeMap<&'a str, (&'a str, &'a str)>,
    /// How each session is shown.
    sessions: BTreeMap<&'a str, &'a str>,
    names: Names,
    /// The lane of the last producer seen: a reply does not say whom it is for.
    producer: Option<usize>,
    /// Who tells what may have become of each question.
    linter: Linter,
    /// By session and line of the question: its track, and its outcomes so far.
    standing: BTreeMap<(&'a str, u64), (usize, String)>,
    tracks: Vec<Track>,
    steps: Vec<Step>,
    /// What the heads of recordings say.
    heads: Vec<String>,
    /// The step of each message.
    step_of: BTreeMap<u64, usize>,
}

impl<'a> Drawing<'a> {
    fn of(
        entries: &'a [Entry],
        places: Option<&'a Places>,
        session: Option<&'a str>,
        two_clocks: bool,
    ) -> Self {
        let mut names = Names::default();
        names.position(SUBSCRIBER);
        let sessions = entries.iter().filter_map(|entry| {
            Some((
                entry.text_at("session_id")?,
                entry.shown_text("session_id")?,
            ))
        });
        let replies_recorded = entries.iter().any(|entry| entry.is_reply_record);
        let settings = Settings {
            replies_recorded,
            two_clocks,
            ..Settings::default()
        };
        let tokens = entries.iter().filter_map(|entry| {
            let token = entry.text_at("reply_token").filter(|_| !entry.is_reply())?;
            let shown = entry.shown_text("reply_token")?;
            Some((token, (entry.text_at("session_id")?, shown)))
        });
        Self {
            session,
            places,
            tokens: tokens.collect(),
            sessions: sessions.collect(),
            names,
            producer: None,
            linter: Linter::with(settings),
            standing: BTreeMap::new(),
            tracks: Vec::new(),
            steps: Vec::new(),
            heads: Vec::new(),
            step_of: BTreeMap::new(),
        }
    }

    /// The line on which the message of that number begins.
    fn line(&self, number: u64) -> u64 {
        let place = self.places.and_then(|places| places.place(number));
        place.map_or(number, |(line, _)| line)
    }

    fn take(&mut self, entry: &'a Entry) {
        let session = entry.text_at("session_id");
        let session = session.or_else(|| Some(self.tokens.get(entry.text_at("reply_token")?)?.0));
        if self.session.is_some() && session != self.session && !entry.is_head {
            return;
        }
        // A line that is no record does not move the linter.
        let _ = with_record(entry.number, &entry.bytes, |record, _| {
            self.linter.record(record);
        });
        if entry.is_head {
            self.heads.extend(events::head(entry.shown()));
            return;
        }
        let states = session.map_or_else(Vec::new, |session| self.changes(session, entry));
        let (from, to) = self.ends(entry);
        let mut text = events::in_words(entry.shown());
        let session = session.filter(|_| self.sessions.len() > 1 && self.session.is_none());
        if let Some(shown) = session.and_then(|session| self.sessions.get(session)) {
            text = format!("[{shown}] {text}");
        }
        self.step_of.insert(entry.number, self.steps.len());
        self.steps.push(Step {
            line: Some(self.line(entry.number)),
            at: entry.time(),
            from,
            to,
            text: printable(&text),
            notes: events::answered(&entry.wrapper)
                .into_iter()
                .map(|note| printable(&note))
                .collect(),
            states,
            findings: Vec::new(),
            record: entry.text.clone(),
        });
    }

    /// From whom to whom: a call goes to the tools, a change of state stays with the producer, all else goes to the other
    /// side.
    fn ends(&mut self, entry: &Entry) -> (usize, Option<usize>) {
        let subscriber = self.names.position(SUBSCRIBER);
        if !entry.message.is_object() || entry.text_at("type") == Some(events::HEAD) {
            return (self.names.position(NOBODY), None);
        }
        if entry.is_reply() {
            let producer = self
                .producer
                .unwrap_or_else(|| self.names.position("producer"));
            return (subscriber, Some(producer));
        }
        let agent = entry.shown().pointer("/producer/agent_id");
        let agent = agent.and_then(Value::as_str).unwrap_or("producer");
        let producer = self.names.position(&own_lane(agent));
        self.producer = Some(producer);
        match events::direction(&entry.message) {
            events::Direction::Within => (producer, None),
            events::Direction::ToSubscriber => (producer, Some(subscriber)),
            events::Direction::ToTools => (producer, Some(self.names.position(TOOLS))),
            events::Direction::FromTools => (self.names.position(TOOLS), Some(producer)),
        }
    }

    /// What the record changed about the questions of its session. Those of a session that ended are no longer kept: what
    /// was still open is over.
    fn changes(&mut self, session: &'a str, entry: &Entry) -> Vec<StateChange> {
        let mut changes = Vec::new();
        let of_session = (session, 0)..=(session, u64::MAX);
        let mut gone: BTreeSet<u64> = self
            .standing
            .range(of_session)
            .map(|(&(_, line), _)| line)
            .collect();
        for now in self.linter.confirmations(session) {
            gone.remove(&now.line);
            let after = now.outcomes.join(" or ");
            let line = self.line(now.line);
            let (track, before) = self.standing.entry((session, now.line)).or_insert_with(|| {
                let token = now.token.and_then(|token| self.tokens.get(token.as_str()));
                let name = token.map_or_else(
                    || format!("question on line {line}"),
                    |(_, shown)| printable(shown),
                );
                let about = entry.shown_text("action").or(entry.shown_text("question"));
                let about = about.map_or(String::new(), |about| format!(": {}", printable(about)));
                let about = format!("line {line}{about}");
                self.tracks.push(Track { name, about });
                (self.tracks.len() - 1, String::new())
            });
            if *before != after {
                let before = std::mem::replace(before, after.clone());
                changes.push(StateChange {
                    track: *track,
                    before,
                    after,
                });
            }
        }
        for line in gone {
            if let Some((track, before)) = self.standing.remove(&(session, line))
                && before.contains("pending")
            {
                changes.push(StateChange {
                    track,
                    before,
                    after: "over with its session".to_owned(),
                });
            }
        }
        changes
    }

    /// The run, not judged yet, and the step of each message.
    fn finish(self, file: &str) -> (Run, BTreeMap<u64, usize>) {
        let run = Run {
            kind: Kind::Stream,
            title: printable(file),
            head: printable(&self.heads.join("; ")),
            verdict: String::new(),
            participants: self.names.0,
            tracks: self.tracks,
            steps: self.steps,
            findings: Vec::new(),
            remarks: Vec::new(),
        };
        (run, self.step_of)
    }
}

impl Run {
    /// Puts what was found where it happened: `step_of` has the step of each message.
    pub(super) fn judge(&mut self, judged: Numbered, step_of: &BTreeMap<u64, usize>) {
        let numbers = drawn(&judged.report).into_iter();
        let numbers: Vec<u64> = numbers.map(|(_, it, _)| it.line).collect();
        let report = judged.told("");
        self.verdict = in_short(&report);
        let mut findings: Vec<_> = numbers.into_iter().zip(drawn(&report)).collect();
        findings.sort_by_key(|(number, _)| *number);
        for (number, (weight, finding, cause)) in findings {
            let Some(&step) = step_of.get(&number) else {
                continue;
            };
            let message = match cause {
                Some(cause) => format!(
                    "{} (it follows from the fault on line {}, {})",
                    finding.message,
                    cause.line,
                    cited(cause.clause)
                ),
                None => finding.message.clone(),
            };
            self.steps[step].findings.push(self.findings.len());
            self.findings.push(Finding {
                also: finding.also.iter().map(|&id| id.to_owned()).collect(),
                ..Finding::new(step, weight, finding.clause, &message)
            });
        }
        self.remarks = report
            .not_judged
            .iter()
            .map(|open| {
                printable(&format!(
                    "not judged {}: {}",
                    cited(open.clause),
                    open.reason
                ))
            })
            .collect();
    }
}

type Drawn<'a> = (Weight, &'a Found, Option<&'a Found>);

/// What is drawn of a report: each finding, and behind it its consequences, with the finding that they follow from.
fn drawn(report: &LintReport) -> Vec<Drawn<'_>> {
    let violations = report.violations.iter().map(|it| (Weight::Violation, it));
    let warnings = report.warnings.iter().map(|it| (Weight::Warning, it));
    let all = violations.chain(warnings).flat_map(|(weight, cause)| {
        let consequences = cause.consequences.iter();
        let consequences = consequences.map(move |it| (Weight::Consequence, it, Some(cause)));
        std::iter::once((weight, cause, None)).chain(consequences)
    });
    all.collect()
}
