//! HTTP archives: requests that carry replies, with the status that they were answered with, and answers that carry events.
//!
//! The one thing to know: an answer that streams begins long before the requests that come between its events, and stands
//! before them in the archive. So messages wait until no later entry can come before them, by the time at which it began.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde_json::{Value, json};

use super::joined::time_of;
use super::sse::Sse;
use super::values::{Values, part};
use super::{Frames, Message};
use crate::surrogates;
use crate::time::Timestamp;

/// The longest entry that is read, in bytes: a stream may be one.
const LONGEST_ENTRY: usize = 256 << 20;

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "startedDateTime", default)]
    started: Value,
    #[serde(default)]
    request: Request,
    #[serde(default)]
    response: Response,
}

#[derive(Deserialize, Default)]
struct Request {
    #[serde(rename = "postData", default)]
    body: Body,
}

#[derive(Deserialize, Default)]
struct Response {
    #[serde(default)]
    status: Value,
    #[serde(default)]
    content: Body,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Body {
    #[serde(rename = "mimeType")]
    kind: Option<String>,
    text: Option<String>,
    encoding: Option<String>,
}

impl Body {
    fn bytes(&self) -> Vec<u8> {
        let text = self.text.as_deref().unwrap_or_default();
        let decoded = (self.encoding.as_deref() == Some("base64"))
            .then(|| BASE64_STANDARD.decode(text.trim()).ok())
            .flatten();
        decoded.unwrap_or_else(|| text.as_bytes().to_owned())
    }
}

/// Reads messages one by one.
pub struct Har<R> {
    entries: Values<R>,
    entry: Message,
    /// Messages that wait, by time.
    waiting: BTreeMap<(Option<Timestamp>, u64), Message>,
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
        self.waiting.insert((time, self.count), message);
    }

    fn take_entry(&mut self) {
        let bytes = std::mem::take(&mut self.entry.bytes);
        let bytes = surrogates::readable(&bytes);
        let entry: Entry = match serde_json::from_slice(&bytes) {
            Ok(entry) if !self.entry.too_long => entry,
            found => {
                let cut = bytes.len().min(1 << 10);
                let why = match found {
                    Err(error) if !self.entry.too_long => {
                        let error = error.to_string();
                        let cause = error
                            .split(" at line ")
                            .next()
                            .unwrap_or_default()
                            .to_owned();
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
        self.take_request(
            &entry,
            started,
            line_of(&bytes, &["request", "postData", "text"]),
        );
        let at = line_of(&bytes, &["response", "content", "text"]);
        self.take_answer(&entry.response.content, started, at);
    }

    fn take_request(&mut self, entry: &Entry, started: Option<Timestamp>, at: u64) {
        let body = entry.request.body.bytes();
        let text = String::from_utf8_lossy(&body);
        let read = serde_json::from_str::<Value>(&text).ok();
        let is_message = read.as_ref().is_some_and(|body| body["type"].is_string());
        if !is_message && !text.contains("rpl_") {
            return;
        }
        // The text as it is: whoever reads it says whether a name comes twice.
        let message = if read.is_some() {
            text.into_owned()
        } else {
            json!({"_raw": text}).to_string()
        };
        let mut record = vec![r#"{"dir":"in""#.to_owned()];
        if started.is_some() {
            record.push(format!(r#""at":{}"#, entry.started));
        }
        // An aborted request has the status 0.
        if entry.response.status.as_u64().is_some_and(|it| it > 0) {
            record.push(format!(r#""http_status":{}"#, entry.response.status));
            let answer = String::from_utf8_lossy(&entry.response.content.bytes()).into_owned();
            let is_json = serde_json::from_str::<Value>(&answer).is_ok();
            if is_json {
                record.push(format!(r#""http_body":{answer}"#));
            } else if !answer.is_empty() {
                record.push(format!(r#""http_body":{}"#, Value::from(answer)));
            }
        }
        record.push(format!(r#""message":{message}}}"#));
        let record = record.join(",");
        let line = self.entry.line + at;
        self.wait(started, in_archive(record.into_bytes(), line));
    }

    fn take_answer(&mut self, body: &Body, started: Option<Timestamp>, at: u64) {
        let line = self.entry.line + at;
        let bytes = body.bytes();
        let is_stream = body
            .kind
            .as_deref()
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut frames: Box<dyn Frames + '_> = if is_stream {
            Box::new(Sse::new(&*bytes))
        } else if matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[')) {
            Box::new(Values::new(&*bytes, Vec::new(), LONGEST_ENTRY))
        } else {
            return;
        };
        let mut time = started;
        let mut message = Message::default();
        // An array that does not end is one whose last item is broken, if any is.
        while frames.next(&mut message).unwrap_or_default() {
            // Other answers have other bodies.
            let is_event = || {
                let name = part(&message.bytes, "type").ok().flatten();
                let name = name.map(|at| &message.bytes[at]).unwrap_or_default();
                name.starts_with(b"\"aaep:")
                    || name.starts_with(b"\"agent.")
                    || name.starts_with(b"\"https://aaep")
            };
            if !is_stream && !is_event() {
                continue;
            }
            time = time.max(time_of(&message.bytes));
            let mut event = in_archive(std::mem::take(&mut message.bytes), line);
            event.ended = message.ended;
            self.wait(time, event);
        }
    }
}

fn in_archive(bytes: Vec<u8>, line: u64) -> Message {
    Message {
        bytes,
        line,
        ..Message::default()
    }
}

/// How many lines of the entry lie before what stands there.
fn line_of(entry: &[u8], path: &[&str]) -> u64 {
    let (mut value, mut before) = (entry, 0);
    for step in path {
        let Ok(Some(at)) = part(value, step) else {
            return before;
        };
        before += memchr::memchr_iter(b'\n', &value[..at.start]).count() as u64;
        value = &value[at];
    }
    before
}

impl<R: BufRead> Frames for Har<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        loop {
            if let Some(first) = self.waiting.first_entry()
                && (self.is_over || first.key().0 < self.reached)
            {
                *into = first.remove();
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
