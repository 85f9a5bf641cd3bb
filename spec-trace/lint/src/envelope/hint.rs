//! What to say of a file that holds no message: what it looks like, and what to do about it.

use std::collections::VecDeque;
use std::fmt;

use memchr::memmem;
use serde_json::{Deserializer, Value};

use crate::protocol::Protocol;

use super::detect::{SIGNS, first, framing, is_archive, is_sse, trimmed};
use super::pointers::{NO_DIRECTION, written};
use super::values::part;
use super::{Envelope, NO_BLANK_LINES, TELLING};

/// A file in which there is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no message of AAEP in it{0}")]
pub struct NoMessage(String);

impl NoMessage {
    /// What to say where reading ended so before anything was read, if that is all there is to say.
    pub fn ended(damage: &str) -> Option<Self> {
        let is_pointer = damage.starts_with("the pointer");
        is_pointer.then(|| Self::that(damage))
    }

    /// What to say where that is all there is to say.
    pub(super) fn that(what: &str) -> Self {
        Self(format!("; {what}"))
    }

    /// What to say of a file that begins like this, and what was wrong with the first thing in it, on which line.
    pub fn of(start: &[u8], first_fault: Option<(u64, &str)>) -> Self {
        if let Some((line, fault)) = first_fault.filter(|(_, fault)| *fault == NO_BLANK_LINES) {
            return if is_archive(trimmed(start)) {
                Self(format!("; first of all, on line {line}, {fault}"))
            } else {
                Self(LINES_OF_DATA.to_owned())
            };
        }
        // What the pointers say of the file counts more than how the file looks.
        let pointer = first_fault
            .filter(|(_, fault)| fault.starts_with("the pointer") || fault.contains(NO_DIRECTION));
        let likeness = looks_like(start).filter(|_| pointer.is_none());
        let is_advised = likeness.as_ref().is_some_and(|it| it.advice.is_some());
        let hint = match (likeness, first_fault) {
            (Some(likeness), _) => format!("; it looks like {likeness}"),
            (None, Some((line, fault))) => format!("; first of all, on line {line}, {fault}"),
            (None, None) => String::new(),
        };
        if is_advised {
            return Self(hint);
        }
        let is_in = |it: &[u8]| memmem::find(start, it).is_some();
        let others = Protocol::ALL.map(Protocol::name).into_iter().skip(1);
        let other = match others.into_iter().find(|it| is_in(it.as_bytes())) {
            None if is_in(b"TOKEN_") => Some(Protocol::McpAql.name()),
            other => other,
        };
        let hint = other.map_or(hint.clone(), |name| {
            format!("{hint}; if messages of {name} stand within it, say --protocol {name}")
        });
        let names = Envelope::ALL.map(|(name, _)| name).join(", ");
        Self(format!(
            "{hint}. Say --from NAME ({names}) if it is one of these, or --message POINTER if the messages stand within JSON"
        ))
    }
}

/// What a file may be instead, and what to do then, where there is something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness {
    what: String,
    advice: Option<String>,
}

impl From<&str> for Likeness {
    fn from(what: &str) -> Self {
        Self {
            what: what.to_owned(),
            advice: None,
        }
    }
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let advice = self.advice.as_ref();
        advice.map_or(Ok(()), |advice| write!(f, ": {advice}"))
    }
}

/// What a file that begins like this may be instead.
pub fn looks_like(start: &[u8]) -> Option<Likeness> {
    let magic: [(&[u8], &str); 10] = [
        (b"\x1F\x8B", "a file compressed with gzip"),
        (
            b"\x28\xB5\x2F\xFD",
            "a file compressed with zstd (`zstd -dc FILE` decompresses it)",
        ),
        (b"\x89PNG", "an image (PNG)"),
        (b"\xFF\xD8\xFF", "an image (JPEG)"),
        (b"GIF8", "an image (GIF)"),
        (b"%PDF", "a PDF document"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\x7FELF", "a program"),
        (b"SQLite format 3", "a database (SQLite)"),
        (b"\xD4\xC3\xB2\xA1", "a capture of packets (pcap)"),
    ];
    if let Some((_, what)) = magic.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Some((*what).into());
    }
    if is_utf16(start) {
        return Some(Likeness {
            what: "text in UTF-16, and what is read is UTF-8".to_owned(),
            advice: Some("convert it, as with `iconv -f UTF-16 -t UTF-8`".to_owned()),
        });
    }
    let text = trimmed(start);
    if is_archive(text) && memmem::find(text, b"\"_webSocketMessages\"").is_some() {
        return Some(ARCHIVE.into());
    }
    let within = super::within(start, &super::How::default());
    if Protocol::is_transcript(start) || Protocol::is_transcript(&within) {
        let [one, other] = [Protocol::McpAql, Protocol::PendingAction].map(Protocol::name);
        let greeted = [start, &within].into_iter().find_map(Protocol::greeted);
        let advice = match greeted {
            Some(Protocol::Aaep) => {
                "of AAEP the events and replies are judged, not the requests of a driver".to_owned()
            }
            _ => format!("say --protocol {one} or {other}"),
        };
        return Some(Likeness {
            what: "requests and responses of a driver".to_owned(),
            advice: Some(advice),
        });
    }
    if let Some(value) = beginning(start) {
        let first = json_like(&value);
        // The first lines of a log may be about something else.
        let is_advised = first.as_ref().is_some_and(|it| it.advice.is_some());
        let lines = text.split(|it| *it == b'\n').skip(1).take(LINES);
        let mut others =
            lines.filter_map(|line| around_message(&serde_json::from_slice(line).ok()?));
        return if is_advised {
            first
        } else {
            others.next().or(first)
        };
    }
    if text.is_empty() {
        return None;
    }
    if part(first(start), "jsonrpc").is_ok_and(|it| it.is_some()) {
        return Some(JSON_RPC.into());
    }
    if begins_events(text) {
        return Some(EVENTS.into());
    }
    let starts = |words: &[&str]| {
        let lines = text.split(|it| *it == b'\n').take(50);
        let mut lines = lines.map(<[u8]>::trim_ascii_start);
        lines.any(|line| words.iter().any(|word| line.starts_with(word.as_bytes())))
    };
    let what = if text.starts_with(b"#!") {
        "a script"
    } else if starts(&["import ", "from ", "def ", "class ", "\"\"\""]) {
        "a program in Python"
    } else if starts(&["const ", "export ", "function ", "use ", "fn ", "package "]) {
        "the source of a program"
    } else if text.contains(&0)
        || std::str::from_utf8(&text[..text.len().min(512)])
            .is_err_and(|it| it.error_len().is_some())
    {
        "a binary file"
    } else if let Some(line) = behind_words(text) {
        return Some(Likeness {
            what: format!("text with JSON behind other words, first on line {line}"),
            advice: Some(
                "cut off what is in front of it, as with `sed 's/^[^{]*//' FILE | countersign lint -`"
                    .to_owned(),
            ),
        });
    } else if text[0] == b'<' {
        "HTML or XML"
    } else if !matches!(text[0], b'{' | b'[') {
        "plain text"
    } else {
        return None;
    };
    Some(what.into())
}

/// The first line on which a message, or JSON that holds one, stands behind other words and ends the line: of a text that is nothing else.
fn behind_words(text: &[u8]) -> Option<usize> {
    let holds_one = |line: &[u8]| {
        let from = memchr::memchr(b'{', line).filter(|from| *from > 0)?;
        let value = serde_json::from_slice(&line[from..]).ok()?;
        path_to_message(&value, DEPTH)
    };
    let mut lines = text.split(|it| *it == b'\n');
    let line = lines.position(|line| holds_one(line).is_some())?;
    (framing(text) == Envelope::Jsonl).then_some(line + 1)
}

/// Whether it begins as an answer that streams, or with a field or a comment of an event. What follows may not be there yet.
fn begins_events(text: &[u8]) -> bool {
    const STREAM: &str = "text/event-stream";
    let mut lines = text.split(|it| *it == b'\n');
    if text.starts_with(b"HTTP/") {
        let names_it = |line: &[u8]| {
            let mut words = line.windows(STREAM.len());
            words.any(|it| it.eq_ignore_ascii_case(STREAM.as_bytes()))
        };
        return lines.any(names_it);
    }
    lines.next().is_some_and(|line| is_sse(text, line))
}

const EVENTS: &str = "server-sent events, and none has a message for data";

/// Whether it has the mark of UTF-16, or every other byte of its beginning is zero.
fn is_utf16(start: &[u8]) -> bool {
    let begin = &start[..start.len().min(64)];
    let zeros = |first: usize| begin.iter().skip(first).step_by(2).all(|it| *it == 0);
    let others = |first: usize| begin.iter().skip(first).step_by(2).all(|it| *it != 0);
    let has_mark = start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF");
    has_mark || begin.len() > 3 && (zeros(0) && others(1) || zeros(1) && others(0))
}

const ARCHIVE: &str = "an HTTP archive, and no request or answer in it holds one; those of web sockets (_webSocketMessages) are not read";

const JSON_RPC: &str = "JSON-RPC, which is another protocol";

const LINES_OF_DATA: &str = "; it looks like server-sent events without the blank lines between them: put those in, as with `sed G FILE | countersign lint -`";

/// So many lines behind the first are looked at for messages deeper in them.
const LINES: usize = 50;

/// So deep is looked for messages.
const DEPTH: usize = 10;

/// The first value; of one that goes on where no more of the file is seen, what there is up to the last member that is whole.
fn beginning(start: &[u8]) -> Option<Value> {
    let (start, goes_on) = (first(start), start.len() >= TELLING);
    let mut values = Deserializer::from_slice(start).into_iter::<Value>();
    match values.next()? {
        Ok(value) => return Some(value),
        Err(error) if !(error.is_eof() && goes_on) => return None,
        Err(_) => {}
    }
    let (mut open, mut whole) = (Vec::new(), None);
    let (mut in_string, mut is_escaped) = (false, false);
    for (at, byte) in start.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            b'}' | b']' => drop(open.pop()),
            b',' => whole = Some((at, open.clone())),
            _ => {}
        }
    }
    let (end, open) = whole?;
    let closing = open.into_iter().rev();
    let closed: Vec<_> = start[..end].iter().copied().chain(closing).collect();
    serde_json::from_slice(&closed).ok()
}

/// How JSON of another kind is called, and where messages stand in it.
fn json_like(value: &Value) -> Option<Likeness> {
    if is_record(value) {
        return Some("records of our own format".into());
    }
    let around = around_message(value);
    if around.is_some() {
        return around;
    }
    if is_rpc(value) {
        return Some(JSON_RPC.into());
    }
    value.is_object().then(|| "JSON of another kind".into())
}

/// The same of JSON with a message deeper in it.
fn around_message(value: &Value) -> Option<Likeness> {
    let path = path_to_message(value, DEPTH).filter(|it| !it.is_empty() && !is_record(value))?;
    let (path, kind) = (
        Vec::from(path),
        if is_rpc(value) { "JSON-RPC" } else { "JSON" },
    );
    Some(Likeness {
        what: format!("{kind} with a message at {}", pointer(&path)),
        advice: Some(advice(&path)),
    })
}

fn is_rpc(value: &Value) -> bool {
    value.get("jsonrpc").is_some()
}

/// Whether it is a message, or a record of our format around one.
fn is_record(value: &Value) -> bool {
    let direction = value.get("dir").and_then(Value::as_str);
    let is_directed = direction.is_some_and(|it| ["in", "out"].contains(&it));
    let is_wrapped = is_directed && value.get("type").is_none() && value.get("message").is_some();
    let name = value.get("type").and_then(Value::as_str);
    is_wrapped || name.is_some_and(|name| SIGNS.iter().any(|sign| name.starts_with(sign)))
}

/// A step on the way to a message: into a member, to one of the elements, or into the JSON that a string holds.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
    Text,
}

/// The way to the first thing in the value that is a message by its type, if there is one.
fn path_to_message(value: &Value, depth: usize) -> Option<VecDeque<Step>> {
    let name = value.get("type").and_then(Value::as_str);
    let is_sign = |name: &str| SIGNS.iter().any(|sign| name.starts_with(sign));
    if name.is_some_and(is_sign) || Protocol::is_line(value) {
        return Some(VecDeque::new());
    }
    let depth = depth.checked_sub(1)?;
    let by = |step: Step, inner: &Value| {
        let mut path = path_to_message(inner, depth)?;
        path.push_front(step);
        Some(path)
    };
    match value {
        Value::String(text) => by(Step::Text, &serde_json::from_str(text).ok()?),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(at, inner)| by(Step::Element(at), inner))
        }
        Value::Object(members) => {
            let mut members = members.iter();
            members.find_map(|(name, inner)| by(Step::Member(name.clone()), inner))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The path as a JSON pointer, which passes through strings by itself.
fn pointer(path: &[Step]) -> String {
    let name = |step: &Step| match step {
        Step::Member(name) => Some(name.clone()),
        Step::Element(at) => Some(at.to_string()),
        Step::Text => None,
    };
    written(&path.iter().filter_map(name).collect::<Vec<_>>())
}

/// How messages are read that stand there: by a pointer, where they stand in no array; else once they are taken out.
fn advice(path: &[Step]) -> String {
    if !path.iter().any(|step| matches!(step, Step::Element(_))) {
        return format!("say --message {}", pointer(path));
    }
    let objects = if path.contains(&Step::Text) {
        ".. | strings | fromjson? | objects"
    } else {
        ".. | objects | select(.type)"
    };
    format!("take them out first, as with `jq -c '{objects}' FILE | countersign lint -`")
}
