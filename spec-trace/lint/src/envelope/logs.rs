//! Logs of containers as Kubernetes keeps them (CRI): `TIME stdout F message`, or `P` for a part of one.

use std::io::{self, BufRead};

use super::{Frames, Message, copy_line};
use crate::lines::{LONGEST_LINE, Lines};
use crate::time::Timestamp;

/// Reads messages one by one. Parts of one are put together; those of both outputs come in turn seldom, and then are broken.
pub struct Logs<R> {
    lines: Lines<R>,
    line: Message,
}

impl<R: BufRead> Logs<R> {
    /// The messages of `input`.
    pub fn new(input: R) -> Self {
        Self {
            lines: Lines::new(input),
            line: Message::default(),
        }
    }
}

/// How many bytes stand before the message, and whether it goes on in the next line.
pub fn head(line: &[u8]) -> Option<(usize, bool)> {
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let time = std::str::from_utf8(words.next()?).ok()?;
    let (output, tag) = (words.next()?, words.next()?);
    let message = words.next()?;
    let is_time = time.len() > 19 && Timestamp::parse(&format!("{}Z", &time.get(..19)?)).is_some();
    let is_head = is_time && [&b"stdout"[..], b"stderr"].contains(&output);
    let goes_on = tag.first()? == &b'P';
    (is_head && (goes_on || tag.first()? == &b'F')).then_some((line.len() - message.len(), goes_on))
}

impl<R: BufRead> Frames for Logs<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        into.clear();
        let mut has_part = false;
        loop {
            let Some(line) = self.lines.next_line()? else {
                into.ended = !has_part;
                return Ok(has_part);
            };
            copy_line(&line, &mut self.line);
            let Some((before, goes_on)) = head(&self.line.bytes) else {
                // A line of another kind may be a message all the same.
                if !has_part {
                    std::mem::swap(into, &mut self.line);
                    return Ok(true);
                }
                into.bytes.extend_from_slice(&self.line.bytes);
                return Ok(true);
            };
            if has_part {
                into.column = None;
            } else {
                into.line = self.line.line;
                into.column = i64::try_from(before + 1).ok();
            }
            into.ended = self.line.ended;
            into.too_long |= self.line.too_long || into.bytes.len() > LONGEST_LINE;
            if !into.too_long {
                into.bytes.extend_from_slice(&self.line.bytes[before..]);
            }
            if !goes_on {
                return Ok(true);
            }
            has_part = true;
        }
    }

    fn line(&self) -> u64 {
        self.lines.taken()
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}
