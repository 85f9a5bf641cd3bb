//! What a file is, by its first bytes.

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::logs::head;
use super::values::{part, parts};
use super::{Envelope, Pointers};

/// What the types of messages begin with.
pub(super) const SIGNS: [&str; 4] = [
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

pub(super) fn is_sse(start: &[u8], line: &[u8]) -> bool {
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
pub(super) fn is_archive(start: &[u8]) -> bool {
    let log = part(start, "log").ok().flatten().map(|at| &start[at]);
    let has = |name| log.is_some_and(|log| part(log, name).is_ok_and(|it| it.is_some()));
    // Of an archive with many pages no more than those may be seen.
    has("entries") || has("version") && (has("creator") || has("pages"))
}

/// The first value of the file, or the data of its first event.
pub(super) fn first(start: &[u8]) -> &[u8] {
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
pub fn pointers(start: &[u8], envelope: Envelope) -> Option<Pointers> {
    let is_said = envelope == Envelope::CloudEvents;
    let told = is_said.then_some(envelope);
    match told.or_else(|| mapped(first(start)))? {
        Envelope::CloudEvents => Some(Pointers::cloud_events()),
        Envelope::Docker => Some(Pointers::docker()),
        Envelope::Jsonl | Envelope::Json | Envelope::Sse | Envelope::Har | Envelope::Cri => None,
    }
}

pub(super) fn trimmed(start: &[u8]) -> &[u8] {
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
    value.starts_with(b"{")
        && (has("type", is_type)
            || has("dir", |it| [&b"\"in\""[..], b"\"out\""].contains(&it))
                && has("message", |_| true)
            || has("@context", |it| {
                memmem::find(it, b"aaep-protocol.org").is_some()
            })
            || has("event_id", |it| it.starts_with(b"\""))
            || has("reply_token", |_| true)
            || has("_raw", |_| true))
}

/// Whether the string that is written so is the type of a message.
fn is_type(name: &[u8]) -> bool {
    let mut signs = SIGNS.iter();
    name.strip_prefix(b"\"")
        .is_some_and(|name| signs.any(|sign| name.starts_with(sign.as_bytes())))
}

/// Whether it is an object of another kind that has a message for its `message`: it has a type of its own, or does not say which way
/// the message went. Among records it is one that is broken; a file that holds nothing else is a log.
pub fn is_around_message(bytes: &[u8]) -> bool {
    let value = trimmed(bytes);
    let Ok([name, direction, Some(message)]) = parts(value, ["type", "dir", "message"]) else {
        return false;
    };
    let is_other = name.map_or(direction.is_none(), |name| !is_type(&value[name]));
    let message = &value[message];
    let text = message
        .starts_with(b"\"")
        .then(|| serde_json::from_slice::<String>(message));
    let message = match &text {
        Some(Ok(text)) => trimmed(text.as_bytes()),
        Some(Err(_)) | None => message,
    };
    let name = part(message, "type").ok().flatten();
    is_other && name.is_some_and(|name| is_type(&message[name]))
}

/// Whether what is no record may be what is left of a message: neither words without a mark of JSON, nor
/// an object of another kind that speaks of none.
pub fn may_have_been_ours(bytes: &[u8]) -> bool {
    if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
        let mut signs = SIGNS.iter();
        return may_be_ours(bytes)
            || signs.any(|sign| memmem::find(bytes, sign.as_bytes()).is_some());
    }
    let is_of_words =
        |text: &str| !text.contains(|it: char| "{}\"".contains(it) || it.is_control());
    !std::str::from_utf8(bytes).is_ok_and(is_of_words)
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
