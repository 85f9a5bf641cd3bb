//! HTTP archives: requests that carry replies, with the status that they were answered with, and answers that carry events.
//!
//! The one thing to know: an answer that streams begins long before the requests that come between its events, and stands
//! before them in the archive. So messages wait until no later entry can come before them, by the time at which it began; an
//! answer waits as it is written, with its next message taken out of it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, Read};
use std::ops::Range;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::sse::Sse;
use super::strings::text_into;
use super::values::{Values, part};
use super::{Boxed, Envelope, Frames, Input, Message, counted, detect};
use crate::report::NotJudged;
use crate::surrogates;
use crate::time::Timestamp;

/// The longest entry that is read, in bytes: a stream may be one.
const LONGEST_ENTRY: usize = 256 << 20;

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(rename = "startedDateTime", default)]
    started: Value,
    #[serde(borrow, default)]
    request: Request<'a>,
    #[serde(borrow, default)]
    response: Response<'a>,
}

#[derive(Deserialize, Default)]
struct Request<'a> {
    #[serde(rename = "postData", borrow, default)]
    body: Body<'a>,
}

#[derive(Deserialize, Default)]
struct Response<'a> {
    #[serde(default)]
    status: Value,
    #[serde(borrow, default)]
    content: Body<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body<'a> {
    #[serde(rename = "mimeType")]
    kind: Option<String>,
    /// A string as it is written, or null.
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    encoding: Option<String>,
}

impl Body<'_> {
    /// Where the text stands in its entry, without its quotes; `None` where it is no string.
    fn place(&self, entry: &[u8]) -> Option<Range<usize>> {
        let Some(text) = self.text.map(RawValue::get) else {
            return Some(0..0);
        };
        let from = text.as_ptr().addr() - entry.as_ptr().addr();
        let is_string = text.starts_with('"');
        is_string.then(|| from + 1..from + text.len() - 1)
    }

    fn is_stream(&self) -> bool {
        const STREAM: &str = "text/event-stream";
        let kind = self.kind.as_deref().and_then(|it| it.get(..STREAM.len()));
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case(STREAM))
    }

    fn is_base64(&self) -> bool {
        self.encoding.as_deref() == Some("base64")
    }
}

/// What was sent in a body; as an error the text that should be base64 and is not.
fn sent(written: &[u8], is_base64: bool) -> Result<Vec<u8>, Vec<u8>> {
    let mut text = vec![0; written.len()];
    let (_, end) = text_into(written, &mut text);
    text.truncate(end);
    if is_base64 {
        BASE64_STANDARD.decode(text.trim_ascii()).map_err(|_| text)
    } else {
        Ok(text)
    }
}

/// The text of a string that is long, taken out of it piece by piece.
struct Text {
    /// What the string stands in.
    written: Vec<u8>,
    /// What has not been read of it.
    rest: Range<usize>,
    piece: Box<[u8]>,
    /// What has not been taken of the piece.
    ready: Range<usize>,
}

impl Text {
    const PIECE: usize = 64 << 10;

    fn new(written: Vec<u8>, rest: Range<usize>) -> Self {
        Self {
            written,
            rest,
            piece: vec![0; Self::PIECE].into(),
            ready: 0..0,
        }
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ready.is_empty() {
            let rest = &self.written[self.rest.clone()];
            let (read, put) = text_into(rest, &mut self.piece);
            self.rest.start += read;
            self.ready = 0..put;
        }
        Ok(&self.piece[self.ready.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.ready.start += count;
    }
}

impl Read for Text {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// A message that waits, and the answer out of which it was taken.
struct Waiting {
    message: Message,
    answer: Option<Answer>,
}

/// The body of an answer, from which the next messages are read.
struct Answer {
    frames: Boxed<'static>,
    is_stream: bool,
    /// Of which type it says that it is.
    kind: Option<String>,
    /// Whether a value in it was passed over that may hold events.
    has_unread: bool,
    /// The line of the archive.
    line: u64,
    /// Of the latest message so far.
    time: Option<Timestamp>,
}

impl Answer {
    /// The next message, put into one whose memory is free.
    fn next(&mut self, mut message: Message) -> Option<Message> {
        // An array that does not end is one whose last item is broken, if any is.
        while self.frames.next(&mut message).unwrap_or_default() {
            // Other answers have other bodies.
            if self.is_stream || is_event(&message.bytes) {
                // That the body ends there does not say that the archive does.
                let why = message.why.take();
                let message = Message {
                    why,
                    ..in_archive(message.bytes, self.line)
                };
                self.time = self.time.max(message.time.map(|(time, _)| time));
                return Some(message);
            }
            self.has_unread |= may_hold_events(&message.bytes);
        }
        None
    }
}

fn is_event(value: &[u8]) -> bool {
    let name = part(value, "type").ok().flatten();
    let name = name.map(|at| &value[at]).unwrap_or_default();
    let heads = [&b"\"aaep:"[..], b"\"agent.", b"\"https://aaep"];
    heads.iter().any(|head| name.starts_with(head))
}

/// Answers that were passed over although messages may stand in them.
#[derive(Default)]
struct LeftOut {
    count: u64,
    /// The line of the first, and of what type it says that it is.
    first: Option<(u64, String)>,
}

impl LeftOut {
    fn add(&mut self, line: u64, kind: Option<&str>) {
        self.count += 1;
        let kind = || kind.unwrap_or("no type").to_owned();
        self.first.get_or_insert_with(|| (line, kind()));
    }

    fn told(&self, one: &str, more: &str) -> Option<String> {
        let (line, kind) = self.first.as_ref()?;
        let those = counted(self.count, one, more);
        Some(format!(
            "{those}, first on line {line} ({kind}): what they hold is not judged"
        ))
    }
}

/// Whether events may stand in an answer: both the name of one and its id, of whatever else it consists.
fn may_hold_events(body: &[u8]) -> bool {
    let has = |sign| memmem::find(body, sign).is_some();
    has(b"aaep:agent.") && has(b"evt_")
}

/// Reads messages one by one.
pub struct Har<R> {
    entries: Values<R>,
    entry: Message,
    /// Answers that are neither streams nor JSON, or hold their events deeper.
    unread: LeftOut,
    /// Streams of which the archive has no body.
    without_body: LeftOut,
    /// What waits, by time and by where it stands.
    waiting: BTreeMap<(Option<Timestamp>, u64), Waiting>,
    /// A message that was handed out, for its memory.
    spare: Message,
    count: u64,
    /// When the entry began that was read last: what waits from before that is in order.
    reached: Option<Timestamp>,
    /// The latest time of what was handed out.
    handed_out: Option<Timestamp>,
    /// The line of the first entry that should have stood before what was handed out.
    unsorted: Option<u64>,
    is_over: bool,
    damage: Option<io::Error>,
}

impl<R: BufRead> Har<R> {
    /// The messages of `input`.
    pub fn new(input: R) -> Self {
        let path = ["log", "entries"].map(str::to_owned).to_vec();
        Self {
            entries: Values::new(input, path, LONGEST_ENTRY),
            entry: Message::default(),
            unread: LeftOut::default(),
            without_body: LeftOut::default(),
            waiting: BTreeMap::new(),
            spare: Message::default(),
            count: 0,
            reached: None,
            handed_out: None,
            unsorted: None,
            is_over: false,
            damage: None,
        }
    }

    fn wait(&mut self, time: Option<Timestamp>, message: Message) {
        self.count += 1;
        self.judge_order(time);
        let waiting = Waiting {
            message,
            answer: None,
        };
        self.waiting.insert((time, self.count), waiting);
    }

    /// Takes note of a message that comes behind later ones: the entries are not in the order in which they began.
    fn judge_order(&mut self, time: Option<Timestamp>) {
        if time.is_some() && time < self.handed_out {
            self.unsorted.get_or_insert(self.entry.line);
        }
    }

    /// Takes the next message out of an answer, if it has one.
    fn wait_for(&mut self, mut answer: Answer, place: u64) {
        match answer.next(std::mem::take(&mut self.spare)) {
            Some(message) => {
                let key = (answer.time, place);
                self.judge_order(answer.time);
                let answer = Some(answer);
                self.waiting.insert(key, Waiting { message, answer });
            }
            None if answer.has_unread => self.unread.add(answer.line, answer.kind.as_deref()),
            None => {}
        }
    }

    /// An entry that cannot be read.
    fn wait_broken(&mut self, entry: &[u8], why: String) {
        let cut = entry.len().min(1 << 10);
        let broken = Message {
            bytes: entry[..cut].to_owned(),
            line: self.entry.line,
            why: Some(why),
            ..Message::default()
        };
        self.wait(self.reached, broken);
    }

    fn take_entry(&mut self) {
        let bytes = std::mem::take(&mut self.entry.bytes);
        let bytes = surrogates::without_halves(&bytes).unwrap_or(bytes);
        let read = serde_json::from_slice::<Entry>(&bytes)
            .map_err(|error| error.to_string())
            .and_then(|entry| {
                let bodies = [&entry.request.body, &entry.response.content];
                match bodies.map(|body| body.place(&bytes)) {
                    [Some(asked), Some(answered)] => Ok((entry, asked, answered)),
                    _ => Err("the text of a body is not a string".to_owned()),
                }
            });
        let (entry, asked, answered) = match read {
            Ok(read) if !self.entry.too_long => read,
            found => {
                let why = match found {
                    Err(error) if !self.entry.too_long => {
                        let cause = error.split(" at line ").next().unwrap_or_default();
                        format!("the entry cannot be read: {cause}")
                    }
                    _ => format!("the entry is longer than {} MiB", LONGEST_ENTRY >> 20),
                };
                return self.wait_broken(&bytes, why);
            }
        };
        let started = entry.started.as_str().and_then(Timestamp::parse);
        self.reached = self.reached.max(started);
        let line = |place: &Range<usize>| {
            let feeds = memchr::memchr_iter(b'\n', &bytes[..place.start]);
            self.entry.line + feeds.count() as u64
        };
        let (asked_at, answered_at) = (line(&asked), line(&answered));
        let asked = sent(&bytes[asked], entry.request.body.is_base64());
        let asked = asked.unwrap_or_else(|text| text);
        let answer = &entry.response.content;
        let whole = |place: &Range<usize>| sent(&bytes[place.clone()], answer.is_base64());
        let answered_with = || whole(&answered).unwrap_or_else(|text| text);
        let record = record_of(&entry, &asked, started.is_some(), answered_with);
        let is_of_reply = record.is_some();
        if let Some(record) = record {
            // Where the archive does not say when, the reply itself does.
            let reply = in_archive(record, asked_at);
            let time = started.or_else(|| reply.time.map(|(time, _)| time));
            self.wait(time, reply);
        }
        let is_stream = answer.is_stream();
        let kind = answer.kind.clone();
        if is_stream && answer.text.is_none() {
            self.without_body.add(answered_at, kind.as_deref());
        }
        let mut may_hold = may_hold_events(&bytes[answered.clone()]);
        let mut input: Input<'static> = if answer.is_base64() {
            match whole(&answered) {
                Ok(body) => {
                    may_hold = may_hold_events(&body);
                    Box::new(Cursor::new(body))
                }
                Err(_) if is_stream => {
                    let why =
                        "the entry cannot be read: its event stream is not base64, as it says";
                    return self.wait_broken(&bytes, why.to_owned());
                }
                Err(_) => return,
            }
        } else {
            Box::new(Text::new(bytes, answered))
        };
        let first = input.fill_buf().unwrap_or_default().trim_ascii_start();
        // Whatever its type says, or where it says none.
        let looks_so = detect::framing(first) == Envelope::Sse;
        let frames: Boxed<'static> = if is_stream || looks_so {
            Box::new(Sse::new(input))
        } else if matches!(first.first(), Some(b'{' | b'[')) {
            Box::new(Values::new(input, Vec::new(), LONGEST_ENTRY))
        } else {
            // What a reply was answered with is judged with it.
            if may_hold && !is_of_reply {
                self.unread.add(answered_at, kind.as_deref());
            }
            return;
        };
        let answer = Answer {
            frames,
            is_stream,
            kind,
            has_unread: false,
            line: answered_at,
            time: started,
        };
        self.count += 1;
        self.wait_for(answer, self.count);
    }
}

/// The record of a request that carries a reply; `None` where it carries none.
fn record_of(
    entry: &Entry<'_>,
    asked: &[u8],
    has_started: bool,
    answered: impl FnOnce() -> Vec<u8>,
) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(asked);
    let read = serde_json::from_str::<Value>(&text).ok();
    let is_message = read.as_ref().is_some_and(|body| body["type"].is_string());
    if !is_message && !text.contains("rpl_") {
        return None;
    }
    // The text as it is: whoever reads it says whether a name comes twice.
    let message = if read.is_some() {
        text.into_owned()
    } else {
        json!({"_raw": text}).to_string()
    };
    let mut record = vec![r#"{"dir":"in""#.to_owned()];
    if has_started {
        record.push(format!(r#""at":{}"#, entry.started));
    }
    // An aborted request has the status 0.
    let status = &entry.response.status;
    if !status.is_null() && status.as_f64() != Some(0.0) {
        record.push(format!(r#""http_status":{status}"#));
        let answer = String::from_utf8_lossy(&answered()).into_owned();
        let is_json = serde_json::from_str::<Value>(&answer).is_ok();
        if is_json {
            record.push(format!(r#""http_body":{answer}"#));
        } else if !answer.is_empty() {
            record.push(format!(r#""http_body":{}"#, Value::from(answer)));
        }
    }
    record.push(format!(r#""message":{message}}}"#));
    Some(record.join(",").into_bytes())
}

fn in_archive(bytes: Vec<u8>, line: u64) -> Message {
    let mut message = Message {
        bytes,
        line,
        ..Message::default()
    };
    message.take_place();
    message
}

impl<R: BufRead> Frames for Har<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        loop {
            if let Some(first) = self.waiting.first_entry()
                && (self.is_over || first.key().0 < self.reached)
            {
                let ((time, place), first) = first.remove_entry();
                self.handed_out = self.handed_out.max(time);
                self.spare = std::mem::replace(into, first.message);
                into.is_unordered = self.unsorted.is_some();
                if let Some(answer) = first.answer {
                    self.wait_for(answer, place);
                }
                return Ok(true);
            }
            if self.is_over {
                return self.damage.take().map_or(Ok(false), Err);
            }
            match self.entries.next(&mut self.entry) {
                Ok(true) => self.take_entry(),
                Ok(false) => self.is_over = true,
                // It is told when what came before it is judged.
                Err(error) => (self.is_over, self.damage) = (true, Some(error)),
            }
        }
    }

    fn line(&self) -> u64 {
        self.entries.line()
    }

    fn bytes(&self) -> u64 {
        self.entries.bytes()
    }

    fn not_judged(&self) -> Vec<NotJudged> {
        let unread = self.unread.told(
            "answer in the archive holds what looks like events, and is neither a stream nor a JSON event",
            "answers in the archive hold what looks like events, and are neither streams nor JSON events",
        );
        let without_body = self.without_body.told(
            "answer in the archive is an event stream without a body, as browsers keep those of EventSource",
            "answers in the archive are event streams without a body, as browsers keep those of EventSource",
        );
        let told = [unread, without_body];
        let told = told.into_iter().flatten();
        let told = told.map(|reason| ("AAEP-EV-1", reason));
        let unsorted = self.unsorted.map(|line| {
            let reason = format!(
                "the entries of the archive are not in the order in which they began, first on line {line}: what rests on the order of replies and events is not judged; they would have to be sorted by startedDateTime"
            );
            ("AAEP-6.1-1", reason)
        });
        told.chain(unsorted)
            .map(|(clause, reason)| NotJudged::partly(clause, reason))
            .collect()
    }
}
