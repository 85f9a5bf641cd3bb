//! Logs of containers as Kubernetes keeps them (CRI): `TIME stdout F message`, or `P` for a part of one.

use std::io::{self, BufRead};

use super::{Frames, Message};
use crate::lines::{LONGEST_LINE, Line, Lines};

/// Reads messages one by one. Parts of one are put together, also where those of both outputs come in turn.
pub struct Logs<R> {
    lines: Lines<R>,
    /// What there is so far of a message in parts on each output.
    begun: [Option<Message>; 2],
    /// The output of the last line.
    output: usize,
}

impl<R: BufRead> Logs<R> {
    /// The messages of `input`.
    pub fn new(input: R) -> Self {
        Self {
            lines: Lines::new(input),
            begun: [None, None],
            output: 0,
        }
    }
}

/// What stands before a message.
pub struct Head {
    /// How many bytes.
    length: usize,
    output: usize,
    /// Whether the message goes on in the next line of that output.
    goes_on: bool,
}

/// The head of a line, if it has one.
pub fn head(line: &[u8]) -> Option<Head> {
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let time = words.next()?;
    let (output, tag) = (words.next()?, words.next()?);
    let message = words.next()?;
    let output = OUTPUTS.iter().position(|it| *it == output)?;
    let goes_on = match tag.first()? {
        b'P' => true,
        b'F' => false,
        _ => return None,
    };
    let length = line.len() - message.len();
    is_time(time).then_some(Head {
        length,
        output,
        goes_on,
    })
}

const OUTPUTS: [&[u8]; 2] = [b"stdout", b"stderr"];

/// Whether it has the shape of a time.
fn is_time(word: &[u8]) -> bool {
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        _ => byte == shape,
    };
    word.len() > 19 && word.iter().zip(b"0000-00-00T00:00:00").all(fits)
}

/// The first message at the end of the input of which the rest has not come.
pub fn take_begun(begun: &mut [Option<Message>; 2], into: &mut Message) -> bool {
    let Some(first) = begun.iter_mut().find_map(Option::take) else {
        return false;
    };
    *into = first;
    into.ended = false;
    true
}

impl<R: BufRead> Frames for Logs<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        loop {
            let Some(line) = self.lines.next_line()? else {
                return Ok(take_begun(&mut self.begun, into));
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
            self.output = head.as_ref().map_or(self.output, |it| it.output);
            let before = head.as_ref().map_or(0, |it| it.length);
            let begun = &mut self.begun[self.output];
            let has_part = begun.is_some();
            if let Some(begun) = begun.take() {
                *into = begun;
                into.column = None;
            } else {
                into.clear();
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
            let is_error = head.as_ref().is_some_and(|it| it.output == 1);
            if !head.is_some_and(|it| it.goes_on) {
                into.is_error = is_error;
                return Ok(true);
            }
            *begun = Some(std::mem::take(into));
        }
    }

    fn line(&self) -> u64 {
        self.lines.taken()
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}
