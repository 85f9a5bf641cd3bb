//! What a file is, by its first bytes; and what to say of one that holds no message.

use memchr::memmem;
use serde_json::Value;

use crate::protocol::Protocol;

use super::logs::head;
use super::mapping::NO_DIRECTION;
use super::values::part;
use super::{Envelope, Mapping};

/// What the types of messages begin with.
const SIGNS: [&str; 4] = [
    "aaep:",
    "confirmation.reply",
    "clarification.reply",
    "https://aaep-protocol.org/",
];

/// The envelope of a file that begins like this.
pub fn envelope(start: &[u8]) -> Envelope {
    let framing = framing(start);
    let inner = (framing == Envelope::Jsonl).then(|| mapped(first(start)));
    inner.flatten().unwrap_or(framing)
}

/// What cuts such a file into values.
pub fn framing(start: &[u8]) -> Envelope {
    let start = trimmed(start);
    let line = start.split(|it| *it == b'\n').next().unwrap_or_default();
    match start.first() {
        Some(b'[') => Envelope::Json,
        Some(b'{') => object(start),
        Some(_) if is_sse(start, line) => Envelope::Sse,
        Some(_) if head(line).is_some() => Envelope::Cri,
        Some(_) | None => Envelope::Jsonl,
    }
}

fn is_sse(start: &[u8], line: &[u8]) -> bool {
    let names = [&b"data:"[..], b"event:", b"id:", b"retry:", b":"];
    names.iter().any(|name| line.starts_with(name))
        || line.starts_with(b"HTTP/") && memmem::find(start, b"\ndata:").is_some()
}

/// An object: a line of our format, or a value on several lines, or an archive.
fn object(start: &[u8]) -> Envelope {
    if is_archive(start) {
        return Envelope::Har;
    }
    let mut values = serde_json::Deserializer::from_slice(start).into_iter::<Value>();
    let (has_lines, error) = match values.next() {
        Some(Ok(_)) => {
            let first = &start[..values.byte_offset()];
            let behind = start[first.len()..]
                .iter()
                .find(|it| !b" \t\r".contains(it));
            // Another value on the same line is none of a line of its own.
            (
                first.contains(&b'\n') || behind.is_some_and(|it| b"{,[".contains(it)),
                None,
            )
        }
        Some(Err(error)) => (memchr::memchr(b'\n', start).is_some(), Some(error)),
        None => (false, None),
    };
    // A line that is torn has a record behind it, which begins its line.
    let is_torn = error.filter(|error| !error.is_eof()).is_some_and(|error| {
        let mut lines = start.split(|it| *it == b'\n');
        let line = lines.nth(error.line().saturating_sub(1));
        error.line() == 1 || line.is_some_and(|line| line.starts_with(b"{"))
    });
    if has_lines && !is_torn {
        Envelope::Json
    } else {
        Envelope::Jsonl
    }
}

/// `{"log":{…`, where the log has what archives have.
fn is_archive(start: &[u8]) -> bool {
    let log = part(start, "log").ok().flatten().map(|at| &start[at]);
    let has = |name| log.is_some_and(|log| part(log, name).is_ok_and(|it| it.is_some()));
    has("entries") || has("creator") && has("version")
}

/// The first value of the file, or the data of its first event.
fn first(start: &[u8]) -> &[u8] {
    let start = trimmed(start);
    let from = match start.first() {
        Some(b'[') => 1,
        Some(b'{') | None => 0,
        Some(_) => memmem::find(start, b"data:").map_or(0, |at| at + "data:".len()),
    };
    start[from..].trim_ascii_start()
}

fn mapped(value: &[u8]) -> Option<Envelope> {
    let has = |name| part(value, name).is_ok_and(|it| it.is_some());
    if has("specversion") && (has("data") || has("data_base64")) {
        return Some(Envelope::CloudEvents);
    }
    let is_text = |at: std::ops::Range<usize>| value[at].starts_with(b"\"");
    let has_log = part(value, "log").ok().flatten().is_some_and(is_text);
    (has_log && (has("stream") || has("time"))).then_some(Envelope::Docker)
}

/// Where the messages of such a file stand, if its values are no messages themselves.
pub fn mapping(start: &[u8], envelope: Envelope) -> Option<Mapping> {
    let is_said = envelope == Envelope::CloudEvents;
    let told = is_said.then_some(envelope);
    match told.or_else(|| mapped(first(start)))? {
        Envelope::CloudEvents => Some(Mapping::cloud_events()),
        Envelope::Docker => Some(Mapping::docker()),
        Envelope::Jsonl | Envelope::Json | Envelope::Sse | Envelope::Har | Envelope::Cri => None,
    }
}

fn trimmed(start: &[u8]) -> &[u8] {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    start.trim_ascii_start()
}

/// Whether an object that is no record, or is torn, may have been a message: a file that holds nothing else is another file. Only its own
/// members tell: what stands deeper is of whatever holds it.
pub fn may_be_ours(bytes: &[u8]) -> bool {
    let value = trimmed(bytes);
    let has = |name, fits: fn(&[u8]) -> bool| {
        let at = part(value, name);
        at.map_or(true, |at| at.is_some_and(|at| fits(&value[at])))
    };
    let is_type = |name: &[u8]| {
        let mut signs = SIGNS.iter();
        name.strip_prefix(b"\"")
            .is_some_and(|name| signs.any(|sign| name.starts_with(sign.as_bytes())))
    };
    value.starts_with(b"{")
        && (has("type", is_type)
            || has("dir", |it| [&b"\"in\""[..], b"\"out\""].contains(&it))
            || has("@context", |it| {
                memmem::find(it, b"aaep-protocol.org").is_some()
            })
            || has("event_id", |it| it.starts_with(b"\""))
            || has("reply_token", |_| true)
            || has("_raw", |_| true))
}

/// Whether a message of another type has anything besides that type which makes it one: other JSON has types, too.
pub fn may_be_extension(bytes: &[u8]) -> bool {
    let value = trimmed(bytes);
    let at = |name| part(value, name).ok().flatten();
    // Types of extensions have a prefix.
    let is_prefixed = at("type").is_some_and(|at| value[at].contains(&b':'));
    let names = ["session_id", "subscription_id"];
    is_prefixed || names.iter().any(|name| at(name).is_some()) || may_be_ours(bytes)
}

/// Whether a file that begins like this is text on whose lines objects may stand by chance.
pub fn is_text(start: &[u8]) -> bool {
    !trimmed(start).starts_with(b"{")
}

/// A file in which there is no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no message of AAEP in it{0}")]
pub struct NoMessage(String);

impl NoMessage {
    /// What to say of a file that begins like this, and what was wrong with the first thing in it, on which line.
    pub fn of(start: &[u8], first_fault: Option<(u64, &str)>) -> Self {
        // What a mapping says of the file counts more than how the file looks.
        let pointer = first_fault
            .filter(|(_, fault)| fault.starts_with("the pointer") || fault.contains(NO_DIRECTION));
        let hint = match (pointer, looks_like(start)) {
            (None, Some(what)) => format!("; it looks like {what}"),
            _ => first_fault
                .map(|(line, fault)| format!("; first of all, on line {line}, {fault}"))
                .unwrap_or_default(),
        };
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

/// What a file that begins like this may be instead.
pub fn looks_like(start: &[u8]) -> Option<String> {
    let magic: [(&[u8], &str); 10] = [
        (b"\x1F\x8B", "a file compressed with gzip"),
        (b"\x28\xB5\x2F\xFD", "a file compressed with zstd"),
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
        return Some((*what).to_owned());
    }
    if is_utf16(start) {
        return Some(UTF16.to_owned());
    }
    let text = trimmed(start);
    if is_archive(text) && memmem::find(text, b"\"_webSocketMessages\"").is_some() {
        return Some(ARCHIVE.to_owned());
    }
    let within = super::within(start, &super::How::default());
    if Protocol::is_transcript(start) || Protocol::is_transcript(&within) {
        return Some(format!(
            "requests and responses of a driver: say --protocol {} or {}",
            Protocol::McpAql.name(),
            Protocol::PendingAction.name()
        ));
    }
    if let Some(value) = serde_json::Deserializer::from_slice(first(start))
        .into_iter::<Value>()
        .next()
        && let Ok(value) = value
    {
        return json_like(&value);
    }
    if text.is_empty() {
        return None;
    }
    if part(first(start), "jsonrpc").is_ok_and(|it| it.is_some()) {
        return Some(JSON_RPC.to_owned());
    }
    if begins_events(text) {
        return Some(EVENTS.to_owned());
    }
    let starts = |words: &[&str]| {
        let lines = text.split(|it| *it == b'\n').take(50);
        let mut lines = lines.map(<[u8]>::trim_ascii_start);
        lines.any(|line| words.iter().any(|word| line.starts_with(word.as_bytes())))
    };
    let what = if text[0] == b'<' {
        "HTML or XML"
    } else if text.starts_with(b"#!") {
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
    } else if !matches!(text[0], b'{' | b'[') {
        "plain text"
    } else {
        return None;
    };
    Some(what.to_owned())
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

const UTF16: &str =
    "text in UTF-16, and what is read is UTF-8: convert it, as with `iconv -f UTF-16 -t UTF-8`";

const ARCHIVE: &str = "an HTTP archive, and no request or answer in it holds one; those of web sockets (_webSocketMessages) are not read";

const JSON_RPC: &str = "JSON-RPC, which is another protocol";

fn json_like(value: &Value) -> Option<String> {
    let is_rpc = value.get("jsonrpc").is_some();
    if let Some(pointer) = pointer_to_message(value, 4).filter(|it| !it.is_empty()) {
        let what = if is_rpc { "JSON-RPC" } else { "JSON" };
        return Some(format!(
            "{what} with a message at {pointer}: say --message {pointer}"
        ));
    }
    if is_rpc {
        return Some(JSON_RPC.to_owned());
    }
    value.is_object().then(|| "JSON of another kind".to_owned())
}

/// Where in the value something stands that is a message by its type; strings may hold JSON.
fn pointer_to_message(value: &Value, depth: usize) -> Option<String> {
    let decoded = value
        .as_str()
        .and_then(|text| serde_json::from_str(text).ok());
    let value: &Value = decoded.as_ref().unwrap_or(value);
    let name = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if SIGNS.iter().any(|sign| name.starts_with(sign)) || Protocol::is_line(value) {
        return Some(String::new());
    }
    let members = value.as_object().filter(|_| depth > 0)?;
    members.iter().find_map(|(name, inner)| {
        let rest = pointer_to_message(inner, depth - 1)?;
        let name = name.replace('~', "~0").replace('/', "~1");
        Some(format!("/{name}{rest}"))
    })
}
