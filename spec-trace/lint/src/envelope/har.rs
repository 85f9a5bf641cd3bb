//! HTTP archives: requests that carry replies, with the status that they were answered with, and answers that carry events.
//!
//! The one thing to know: an answer that streams begins long before the requests that come between its events, and stands
//! before them in the archive. So messages wait until no later entry can come before them, by the time at which it began; an
//! answer waits as it is, with its next message taken out of it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::joined::time_of;
use super::sse::Sse;
use super::strings::text_of;
use super::values::{Values, part};
use super::{Boxed, Frames, Message};
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
    /// What was sent; `None` where the text is no string.
    fn bytes(&self) -> Option<Vec<u8>> {
        let Some(text) = self.text else {
            return Some(Vec::new());
        };
        let text = text_of(text.get().as_bytes())?;
        let decoded = (self.encoding.as_deref() == Some("base64"))
            .then(|| BASE64_STANDARD.decode(text.trim_ascii()).ok())
            .flatten();
        Some(decoded.unwrap_or(text))
    }

    /// How many lines of its entry lie before the text.
    fn line(&self, entry: &[u8]) -> u64 {
        let text = self.text.map_or(entry.as_ptr(), |text| text.get().as_ptr());
        let before = text.addr().saturating_sub(entry.as_ptr().addr());
        memchr::memchr_iter(b'\n', &entry[..before]).count() as u64
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
    /// The line of the archive.
    line: u64,
    /// Of the latest message so far.
    time: Option<Timestamp>,
}

impl Answer {
    fn next(&mut self) -> Option<Message> {
        let mut message = Message::default();
        // An array that does not end is one whose last item is broken, if any is.
        while self.frames.next(&mut message).unwrap_or_default() {
            // Other answers have other bodies.
            if self.is_stream || is_event(&message.bytes) {
                self.time = self.time.max(time_of(&message.bytes));
                return Some(Message {
                    ended: message.ended,
                    ..in_archive(message.bytes, self.line)
                });
            }
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

/// Reads messages one by one.
pub struct Har<R> {
    entries: Values<R>,
    entry: Message,
    /// What waits, by time and by where it stands.
    waiting: BTreeMap<(Option<Timestamp>, u64), Waiting>,
    count: u64,
    /// When the entry began that was read last: what waits from before that is in order.
    reached: Option<Timestamp>,
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
            waiting: BTreeMap::new(),
            count: 0,
            reached: None,
            is_over: false,
            damage: None,
        }
    }

    fn wait(&mut self, time: Option<Timestamp>, message: Message) {
        self.count += 1;
        let waiting = Waiting {
            message,
            answer: None,
        };
        self.waiting.insert((time, self.count), waiting);
    }

    /// Takes the next message out of an answer, if it has one.
    fn wait_for(&mut self, mut answer: Answer, place: u64) {
        if let Some(message) = answer.next() {
            let key = (answer.time, place);
            let answer = Some(answer);
            self.waiting.insert(key, Waiting { message, answer });
        }
    }

    fn take_entry(&mut self) {
        let bytes = std::mem::take(&mut self.entry.bytes);
        let bytes = surrogates::readable(&bytes);
        let read = serde_json::from_slice::<Entry>(&bytes)
            .map_err(|error| error.to_string())
            .and_then(|entry| {
                let bodies = [&entry.request.body, &entry.response.content].map(Body::bytes);
                match bodies {
                    [Some(asked), Some(answered)] => Ok((entry, asked, answered)),
                    _ => Err("the text of a body is not a string".to_owned()),
                }
            });
        let (entry, asked, answered) = match read {
            Ok(read) if !self.entry.too_long => read,
            found => {
                let cut = bytes.len().min(1 << 10);
                let why = match found {
                    Err(error) if !self.entry.too_long => {
                        let cause = error.split(" at line ").next().unwrap_or_default();
                        format!("the entry cannot be read: {cause}")
                    }
                    _ => format!("the entry is longer than {} MiB", LONGEST_ENTRY >> 20),
                };
                let broken = Message {
                    bytes: bytes[..cut].to_owned(),
                    line: self.entry.line,
                    why: Some(why),
                    ..Message::default()
                };
                return self.wait(self.reached, broken);
            }
        };
        let started = entry.started.as_str().and_then(Timestamp::parse);
        self.reached = self.reached.max(started);
        let [asked_at, answered_at] = [&entry.request.body, &entry.response.content]
            .map(|body| self.entry.line + body.line(&bytes));
        if let Some(record) = record_of(&entry, &asked, &answered, started.is_some()) {
            self.wait(started, in_archive(record, asked_at));
        }
        let is_stream = entry
            .response
            .content
            .kind
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let frames: Boxed<'static> = if is_stream {
            Box::new(Sse::new(Cursor::new(answered)))
        } else if matches!(answered.trim_ascii_start().first(), Some(b'{' | b'[')) {
            Box::new(Values::new(
                Cursor::new(answered),
                Vec::new(),
                LONGEST_ENTRY,
            ))
        } else {
            return;
        };
        let answer = Answer {
            frames,
            is_stream,
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
    answered: &[u8],
    has_started: bool,
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
    if entry.response.status.as_u64().is_some_and(|it| it > 0) {
        record.push(format!(r#""http_status":{}"#, entry.response.status));
        let answer = String::from_utf8_lossy(answered).into_owned();
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
    Message {
        bytes,
        line,
        ..Message::default()
    }
}

impl<R: BufRead> Frames for Har<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        loop {
            if let Some(first) = self.waiting.first_entry()
                && (self.is_over || first.key().0 < self.reached)
            {
                let ((_, place), first) = first.remove_entry();
                *into = first.message;
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
}
