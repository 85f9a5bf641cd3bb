//! Where in a value of another format the message stands, and what else is known of it: by JSON pointers (RFC 6901).

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::logs::take_begun;
use super::values::part;
use super::{Frames, Message, strings};
use crate::lines::LONGEST_LINE;
use crate::report::NotJudged;
use crate::time::{Timestamp, Written};
use base64::prelude::{BASE64_STANDARD, Engine as _};

/// The types of replies.
const REPLIES: [&str; 2] = ["confirmation.reply", "clarification.reply"];

/// Where in each value the message stands, and what else is known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointers {
    /// The message.
    message: Pointer,
    /// The time of its receipt.
    time: Option<Pointer>,
    /// Which way it went.
    direction: Option<Pointer>,
    /// The status that the producer's transport answered.
    status: Option<Pointer>,
    /// Whether a message that does not end with a line feed goes on in the next value.
    has_parts: bool,
    /// Whether the message may stand in `data_base64` instead.
    has_base64: bool,
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

/// A JSON pointer: its text, and its steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    fn parse(text: &str) -> Result<Self, PointerError> {
        let steps = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescaped).collect::<Option<_>>(),
            None if text.is_empty() => Some(Vec::new()),
            None => None,
        };
        let steps = steps.ok_or_else(|| PointerError(text.to_owned()))?;
        let text = text.to_owned();
        Ok(Self { text, steps })
    }
}

/// A pointer of these steps as it is written.
pub(super) fn written(steps: &[String]) -> String {
    let step = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
    steps.iter().map(step).collect()
}

fn unescaped(step: &str) -> Option<String> {
    let mut parts = step.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        name.push(match part.chars().next()? {
            '0' => '~',
            '1' => '/',
            _ => return None,
        });
        name.push_str(&part[1..]);
    }
    Some(name)
}

/// What is no pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no JSON pointer (RFC 6901): it begins with /, and ~ is written ~0, / is written ~1"
)]
pub struct PointerError(String);

impl Pointers {
    /// Reads the pointers: to the message, the time, the direction and the status. Where none is given to the message, it is the value.
    ///
    /// # Errors
    ///
    /// One of them is no JSON pointer.
    pub fn parse(pointers: [Option<&str>; 4]) -> Result<Self, PointerError> {
        let [message, time, direction, status] =
            pointers.map(|text| text.map(Pointer::parse).transpose());
        Ok(Self {
            message: message?.unwrap_or_default(),
            time: time?,
            direction: direction?,
            status: status?,
            ..Self::default()
        })
    }

    /// Those of container logs, as Docker keeps them. Their `time` is when the line was written, not when a message arrived.
    pub(super) fn docker() -> Self {
        Self {
            has_parts: true,
            ..Self::to_message("log")
        }
    }

    /// Those of `CloudEvents`. Their `time` is when the event happened, not when it arrived.
    pub(super) fn cloud_events() -> Self {
        Self {
            has_base64: true,
            ..Self::to_message("data")
        }
    }

    fn to_message(member: &str) -> Self {
        Self {
            message: Pointer {
                text: format!("/{member}"),
                steps: vec![member.to_owned()],
            },
            ..Self::default()
        }
    }

    /// Puts the message in the place of the value that holds it; `room` is memory for it, and `untimed` is told of a time that cannot be
    /// taken. Yields whether it was a text with a line feed at its end.
    fn apply(
        &self,
        message: &mut Message,
        room: &mut Vec<u8>,
        untimed: &mut Untimed,
    ) -> Result<bool, String> {
        let value = &*message.bytes;
        let mut is_ended = false;
        let found = find_noting(Cow::Borrowed(value), &self.message.steps, &mut is_ended)?;
        let in_base64 = if found.is_none() && self.has_base64 {
            decoded(value)?
        } else {
            None
        };
        let Some((found, offset)) = found.or(in_base64) else {
            if is_ours(value) {
                return Ok(true);
            }
            return Err(format!(
                "the pointer {:?} leads nowhere here, so there is no message",
                self.message.text
            ));
        };
        let text = |pointer: &Option<Pointer>| -> Result<Option<String>, String> {
            let Some(pointer) = pointer else {
                return Ok(None);
            };
            let found = find(Cow::Borrowed(value), &pointer.steps)?;
            Ok(found.map(|(found, _)| String::from_utf8_lossy(&found).into_owned()))
        };
        let time = text(&self.time)?;
        let time = time.and_then(|time| untimed.taken(time, message.line));
        let status = text(&self.status)?.filter(|it| it.parse::<u64>().is_ok());
        let direction = text(&self.direction)?
            .map(|word| Direction::meant(&word))
            .transpose()?;
        let is_known = time.is_some() || status.is_some() || direction.is_some();
        let head = if is_known && !is_wrapped(&found)? {
            let direction = direction.unwrap_or_else(|| direction_of(&found));
            head(direction, time.as_deref(), status.as_deref())
        } else {
            String::new()
        };
        let mut bytes = std::mem::take(room);
        bytes.clear();
        bytes.extend_from_slice(head.as_bytes());
        let is_text = !found.first().is_some_and(|it| b"{[\"".contains(it));
        if is_text && !head.is_empty() {
            let text = String::from_utf8_lossy(&found);
            bytes.extend(format!("{{\"_raw\":{}}}", serde_json::Value::from(&*text)).bytes());
        } else {
            bytes.extend_from_slice(&found);
        }
        if !head.is_empty() {
            bytes.push(b'}');
        }
        let offset = offset.and_then(|at| i64::try_from(at).ok());
        let before = i64::try_from(head.len()).unwrap_or(i64::MAX);
        let column = message.column.zip(offset);
        message.column = column.map(|(column, offset)| column + offset - before);
        drop(found);
        *room = std::mem::replace(&mut message.bytes, bytes);
        Ok(is_ended)
    }
}

impl Direction {
    fn meant(word: &str) -> Result<Self, String> {
        match word {
            "in" | "inbound" => Ok(Self::In),
            "out" | "outbound" => Ok(Self::Out),
            _ => Err(format!(
                "{word:?} {NO_DIRECTION}: expected in, out, inbound or outbound"
            )),
        }
    }
}

/// Of a word that `direction` leads to.
pub const NO_DIRECTION: &str = "is no direction";

/// What `data_base64` of a cloud event holds, if it has one.
fn decoded(value: &[u8]) -> Result<Option<Found<'_>>, String> {
    let Some(at) = part(value, "data_base64")? else {
        return Ok(None);
    };
    let bytes = BASE64_STANDARD.decode(text_of(&value[at])?);
    let bytes = bytes.map_err(|error| format!("data_base64 is no base64: {error}"))?;
    Ok(Some(trimmed(Cow::Owned(bytes), None)))
}

/// Whether it is a record of our format that wraps a message.
fn is_wrapped(record: &[u8]) -> Result<bool, String> {
    Ok(part(record, "message")?.is_some() && part(record, "type")?.is_none())
}

/// Replies go to the producer, all else comes from it.
fn direction_of(message: &[u8]) -> Direction {
    let name = part(message, "type").ok().flatten();
    let name = name.map(|at| &message[at]).unwrap_or_default();
    let is_reply = REPLIES
        .iter()
        .any(|it| name == format!("\"{it}\"").as_bytes());
    if is_reply {
        Direction::In
    } else {
        Direction::Out
    }
}

fn head(direction: Direction, time: Option<&str>, status: Option<&str>) -> String {
    let direction = match direction {
        Direction::In => r#"{"dir":"in""#,
        Direction::Out => r#"{"dir":"out""#,
    };
    let time = time.map(|time| format!(r#","at":{}"#, serde_json::Value::from(time)));
    let status = status.map(|status| format!(r#","http_status":{status}"#));
    let members = [time, status].map(Option::unwrap_or_default).concat();
    format!(r#"{direction}{members},"message":"#)
}

/// Whether it is a message as it stands.
fn is_ours(value: &[u8]) -> bool {
    let is_there = |name| part(value, name).is_ok_and(|it| it.is_some());
    is_there("type") && is_there("session_id") || is_there("reply_token") || is_there("dir")
}

/// A time as RFC 3339: one in a form of ISO 8601 with its offset, or a number of seconds, milliseconds, micro- or nanoseconds, by its size.
///
/// # Errors
///
/// What is missing for that.
fn rfc3339(time: String) -> Result<String, (String, &'static str)> {
    if Timestamp::parse(&time).is_some() {
        return Ok(time);
    }
    let moment = match microseconds(&time) {
        None => None,
        Some((_, false)) => {
            return Err((
                time,
                "has no offset, so that it cannot be compared with those of events",
            ));
        }
        Some((moment, true)) => {
            let is_number = time.parse::<f64>().is_ok();
            let digits = Timestamp::fractional_digits(&time).min(6);
            let digits = if is_number { 6 } else { digits };
            let moment = jiff::Timestamp::from_microsecond(moment).ok();
            moment.map(|moment| format!("{moment:.digits$}"))
        }
    };
    moment.ok_or((time, "is no time that can be read"))
}

/// Below so much a number counts seconds since 1970, or milliseconds, or microseconds.
const SECONDS: f64 = 1e11;
const MILLISECONDS: f64 = 1e14;
const MICROSECONDS: f64 = 1e17;

/// The microseconds since 1970, and whether that is said with an offset: of ISO 8601, also with a blank before its offset or `UTC` for it,
/// or of a number of seconds, milli-, micro- or nanoseconds, by its size.
fn microseconds(text: &str) -> Option<(i64, bool)> {
    let is_part = |it: u8| it.is_ascii_digit() || b"+-.eE".contains(&it);
    let number = text.parse::<f64>().ok();
    if let Some(value) = number.filter(|_| text.bytes().all(is_part)) {
        let scale = match value.abs() {
            ..SECONDS => 1e6,
            SECONDS..MILLISECONDS => 1e3,
            MILLISECONDS..MICROSECONDS => 1.0,
            _ => 1e-3,
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a double is exact to less than what these count, and a cast stays within bounds"
        )]
        return Some(((value * scale).round() as i64, true));
    }
    let text = text.trim();
    let text = match text.strip_suffix("UTC") {
        Some(before) => format!("{}Z", before.trim_end()),
        None => text.replacen(" +", "+", 1).replacen(" -", "-", 1),
    };
    let Written { at, has_zone, .. } = Written::parse(&text)?;
    Some((at, has_zone))
}

/// The times that cannot be taken: the values go on without them.
#[derive(Debug, Default)]
struct Untimed {
    /// What the first of them is, on which line, and what is wrong with it.
    first: Option<(String, u64, &'static str)>,
    count: u64,
}

impl Untimed {
    /// The time as RFC 3339, if that can be told.
    fn taken(&mut self, time: String, line: u64) -> Option<String> {
        rfc3339(time)
            .map_err(|(time, why)| {
                self.first.get_or_insert((time, line, why));
                self.count += 1;
            })
            .ok()
    }

    /// What to say of them.
    fn told(&self, pointer: Option<&Pointer>) -> Option<NotJudged> {
        let (first, line, why) = self.first.as_ref()?;
        let first: String = first.chars().take(LONGEST_TOLD).collect();
        let reason = format!(
            "the time at {:?} on line {line}, {first:?}, {why}: such times are left out ({} of them), as if `time` led nowhere; \
             RFC 3339 is read, the same with a blank for the T, and numbers of seconds, ms, µs or ns since 1970",
            pointer.map(|it| &*it.text).unwrap_or_default(),
            self.count
        );
        Some(NotJudged::partly("AAEP-EV-1", reason))
    }
}

/// So many characters of a time are told.
const LONGEST_TOLD: usize = 64;

/// The bytes of a value, and where they stand in the value that was gone into, if they do as they are.
type Found<'v> = (Cow<'v, [u8]>, Option<usize>);

/// What a value holds at the end of these steps, and where in it that stands, if it does as it is. A string that is
/// gone into is read as JSON, and one that is found as the text that it is.
fn find<'v>(value: Cow<'v, [u8]>, steps: &[String]) -> Result<Option<Found<'v>>, String> {
    find_noting(value, steps, &mut false)
}

/// The same; notes whether a text was found that a line feed ends.
fn find_noting<'v>(
    value: Cow<'v, [u8]>,
    steps: &[String],
    is_ended: &mut bool,
) -> Result<Option<Found<'v>>, String> {
    let Some((mut value, mut offset)) = reach(value, steps)? else {
        return Ok(None);
    };
    if value.first() == Some(&b'"') {
        let text = text_of(&value)?;
        *is_ended = text.ends_with(b"\n");
        (value, offset) = trimmed(Cow::Owned(text), None);
    }
    let is_null = *value == *b"null";
    Ok((!is_null).then_some((value, offset)))
}

/// The same, and a string that is found stays one.
fn reach<'v>(value: Cow<'v, [u8]>, steps: &[String]) -> Result<Option<Found<'v>>, String> {
    let (mut value, mut offset) = trimmed(value, Some(0));
    for step in steps {
        if value.first() == Some(&b'"') {
            (value, offset) = trimmed(Cow::Owned(text_of(&value)?), None);
        }
        let Some(at) = part(&value, step)? else {
            return Ok(None);
        };
        offset = offset.map(|offset| offset + at.start);
        value = within(value, at);
    }
    Ok(Some((value, offset)))
}

fn trimmed(value: Cow<'_, [u8]>, offset: Option<usize>) -> Found<'_> {
    let before = value.len() - value.trim_ascii_start().len();
    let length = value.trim_ascii().len();
    let offset = offset.map(|offset| offset + before);
    (within(value, before..before + length), offset)
}

fn within(value: Cow<'_, [u8]>, at: Range<usize>) -> Cow<'_, [u8]> {
    match value {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[at]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(at.end);
            bytes.drain(..at.start);
            Cow::Owned(bytes)
        }
    }
}

fn text_of(string: &[u8]) -> Result<Vec<u8>, String> {
    let text = strings::text_of(string);
    text.ok_or_else(|| "the string that should hold the message is broken".to_owned())
}

/// Values of another format, of which each becomes its message.
pub struct Pointed<F> {
    frames: F,
    pointers: Pointers,
    /// What there is so far of a message in parts on each output.
    parts: [Option<Message>; 2],
    /// Memory that is used again.
    room: Vec<u8>,
    untimed: Untimed,
}

impl<F: Frames> Pointed<F> {
    pub fn new(frames: F, pointers: Pointers) -> Self {
        Self {
            frames,
            pointers,
            parts: [None, None],
            room: Vec::new(),
            untimed: Untimed::default(),
        }
    }

    /// Puts the message behind the parts before it; whether it goes on in the next value, and then it is kept.
    fn goes_on(&mut self, is_part: bool, output: usize, message: &mut Message) -> bool {
        let parts = &mut self.parts[output];
        if let Some(mut first) = parts.take() {
            first.column = None;
            first.too_long |= first.bytes.len() + message.bytes.len() > LONGEST_LINE;
            if !first.too_long {
                first.bytes.extend_from_slice(&message.bytes);
            }
            *message = first;
        } else if is_part && is_json(&message.bytes) {
            return false;
        }
        if is_part {
            *parts = Some(std::mem::take(message));
        }
        is_part
    }
}

impl<F: Frames> Frames for Pointed<F> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        loop {
            if !self.frames.next(into)? {
                return Ok(take_begun(&mut self.parts, into));
            }
            let is_blank = into.bytes.trim_ascii().is_empty();
            let is_object = into.bytes.trim_ascii_start().starts_with(b"{");
            let is_unread = into.too_long || into.why.is_some();
            if is_blank || is_unread || !is_object || !into.ended && !is_json(&into.bytes) {
                return Ok(true);
            }
            let stream = || part(&into.bytes, "stream").ok().flatten();
            let is_error = self.pointers.has_parts
                && stream().is_some_and(|at| into.bytes[at] == *b"\"stderr\"");
            let applied = (self.pointers).apply(into, &mut self.room, &mut self.untimed);
            let is_ended = match applied {
                Ok(is_ended) => is_ended,
                Err(why) => {
                    into.why = Some(why);
                    return Ok(true);
                }
            };
            let is_part = self.pointers.has_parts && !is_ended;
            if !self.goes_on(is_part, usize::from(is_error), into) {
                into.is_error = is_error;
                return Ok(true);
            }
        }
    }

    fn line(&self) -> u64 {
        self.frames.line()
    }

    fn bytes(&self) -> u64 {
        self.frames.bytes()
    }

    fn not_judged(&self) -> Vec<NotJudged> {
        let mut all = self.frames.not_judged();
        all.extend(self.untimed.told(self.pointers.time.as_ref()));
        all
    }
}

pub(super) fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
