//! Logs of containers as Kubernetes keeps them (CRI): `TIME stdout F message`, or `P` for a part of one.

use std::io::{self, BufRead};

use super::{Frames, Message};
use crate::lines::{LONGEST_LINE, Line, Lines};

/// Reads messages one by one. Parts of one are put together; those of both outputs come in turn seldom, and then are broken.
pub struct Logs<R> {
    lines: Lines<R>,
}

impl<R: BufRead> Logs<R> {
    /// The messages of `input`.
    pub fn new(input: R) -> Self {
        Self {
            lines: Lines::new(input),
        }
    }
}

/// How many bytes stand before the message, and whether it goes on in the next line.
pub fn head(line: &[u8]) -> Option<(usize, bool)> {
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let time = words.next()?;
    let (output, tag) = (words.next()?, words.next()?);
    let message = words.next()?;
    let is_head = is_time(time) && [&b"stdout"[..], b"stderr"].contains(&output);
    let goes_on = tag.first()? == &b'P';
    (is_head && (goes_on || tag.first()? == &b'F')).then_some((line.len() - message.len(), goes_on))
}

/// Whether it has the shape of a time.
fn is_time(word: &[u8]) -> bool {
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    };
    word.len() > 19 && word.iter().zip(b"0000-00-00T00:00:00").all(fits)
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
            let (number, bytes, ended, too_long) = match line {
                Line::Whole {
                    number,
                    bytes,
                    ended,
                } => (number, bytes, ended, false),
                Line::TooLong { number, start } | Line::Without { number, start, .. } => {
                    (number, start, true, true)
                }
            };
            let head = head(bytes);
            let (before, goes_on) = head.unwrap_or_default();
            if has_part {
                into.column = None;
            } else {
                into.line = number;
                into.column = i64::try_from(before + 1).ok();
            }
            // A line of another kind may be a message, or the rest of one, all the same.
            if head.is_some() || !has_part {
                into.ended = ended;
                into.too_long |= too_long;
            }
            into.too_long |= into.bytes.len() > LONGEST_LINE;
            if !into.too_long || !has_part {
                into.bytes.extend_from_slice(&bytes[before..]);
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
