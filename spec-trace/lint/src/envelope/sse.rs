//! Server-sent events, as `curl -N` writes them: the data of each is a message.

use std::io::{self, BufRead};

use super::pointers::is_json;
use super::values::compact;
use super::{Frames, Message, copy_line};
use crate::lines::{LONGEST_LINE, Line, Lines};

/// Reads events one by one.
pub struct Sse<R> {
    lines: Lines<R>,
    /// The data so far of the event that is not over.
    event: Message,
    /// How many lines of data it has.
    parts: usize,
    /// Where the first of them ends.
    first_ends: usize,
}

/// What is wrong where each line of data is a message.
pub(crate) const NO_BLANK_LINES: &str =
    "several messages stand in the data of one event: the blank lines between them are missing";

impl<R: BufRead> Sse<R> {
    /// The events of `input`.
    pub fn new(input: R) -> Self {
        Self {
            lines: Lines::new(input),
            event: Message::default(),
            parts: 0,
            first_ends: 0,
        }
    }

    fn hand_out(&mut self, into: &mut Message, ended: bool) -> bool {
        if self.parts == 0 {
            return false;
        }
        std::mem::swap(into, &mut self.event);
        into.ended = ended;
        let (first, behind) = into.bytes.split_at(self.first_ends);
        let has_another = behind.trim_ascii_start().starts_with(b"{");
        if self.parts > 1 && has_another && is_json(first) {
            into.bytes.truncate(self.first_ends);
            into.why = Some(NO_BLANK_LINES.to_owned());
        } else if self.parts > 1 {
            into.column = None;
            compact(&mut into.bytes);
        }
        self.parts = 0;
        true
    }
}

/// What a line of a capture is.
enum Field<'a> {
    /// The event is over.
    Blank,
    /// Data, and how many bytes stand before it.
    Data(&'a [u8], usize),
    /// A comment, a field beside the data, or a header of the answer.
    Other,
    /// Nothing that such a capture holds.
    Foreign,
}

fn field(line: &[u8]) -> Field<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        return Field::Blank;
    }
    let colon = memchr::memchr(b':', line).unwrap_or(line.len());
    let (name, value) = line.split_at(colon);
    if name == b"data" {
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        return Field::Data(value, line.len() - value.len());
    }
    let is_name = name
        .iter()
        .all(|it| it.is_ascii_alphanumeric() || *it == b'-');
    let is_field = is_name && !value.is_empty() || [&b"event"[..], b"id", b"retry"].contains(&name);
    if is_field || line.starts_with(b"HTTP/") {
        Field::Other
    } else {
        Field::Foreign
    }
}

fn begins_field(line: &[u8]) -> bool {
    let names = [&b"data"[..], b"event", b"id", b"retry", b"HTTP/"];
    names.iter().any(|name| name.starts_with(line))
}

impl<R: BufRead> Frames for Sse<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(self.hand_out(into, false));
            };
            let Line::Whole {
                number,
                bytes,
                ended,
            } = line
            else {
                copy_line(&line, into);
                return Ok(true);
            };
            match field(bytes) {
                Field::Blank => {
                    if self.hand_out(into, true) {
                        return Ok(true);
                    }
                }
                Field::Data(data, before) => {
                    let event = &mut self.event;
                    if self.parts == 0 {
                        event.clear();
                        event.line = number;
                        event.column = i64::try_from(before + 1).ok();
                        self.first_ends = 0;
                    } else {
                        if self.parts == 1 {
                            self.first_ends = event.bytes.len();
                        }
                        event.bytes.push(b'\n');
                    }
                    self.parts += 1;
                    let room = LONGEST_LINE.saturating_sub(event.bytes.len());
                    event.too_long |= data.len() > room;
                    event.bytes.extend_from_slice(&data[..data.len().min(room)]);
                }
                // The last line of what was cut off may be the beginning of a field.
                Field::Foreign if ended || !begins_field(bytes) => {
                    copy_line(&line, into);
                    return Ok(true);
                }
                Field::Foreign | Field::Other => {}
            }
        }
    }

    fn line(&self) -> u64 {
        self.lines.taken()
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}
