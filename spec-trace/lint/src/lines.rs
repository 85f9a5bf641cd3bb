//! Lines out of bytes, with a bound on what one line may cost.

use std::io::{self, BufRead};

use memchr::memchr;

use super::place::Shift;

/// The longest line that is read as a record, in bytes without its line end. A record is bounded to 64 KiB by the wire
/// facts; this leaves room for wrappers and for faults, and keeps a line of 100 MB from becoming 100 MB of memory.
pub const LONGEST_LINE: usize = 16 << 20;

/// How much of an overlong line is kept, in bytes: enough to show where it begins.
const KEPT_OF_TOO_LONG: usize = 256;

/// One line of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line within the limit.
    Whole {
        /// Its number, from 1.
        number: u64,
        /// Its bytes, without line feed and without a byte order mark.
        bytes: &'a [u8],
        /// Whether a line feed ended it; the last line of a torn file has none.
        ended: bool,
    },
    /// A line beyond [`LONGEST_LINE`]; the rest of it was skipped.
    TooLong {
        /// Its number, from 1.
        number: u64,
        /// Its first bytes.
        start: &'a [u8],
    },
    /// What holds no record, or does not show it where it should stand.
    Without {
        /// Its number, from 1.
        number: u64,
        /// Its first bytes.
        start: &'a [u8],
        /// What is wrong.
        why: String,
    },
}

/// What yields the records of a stream, each as a line of our format.
pub trait Records {
    /// The next one, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Whatever reading the input yields.
    fn next_line(&mut self) -> io::Result<Option<Line<'_>>>;

    /// How many lines of the input were taken so far.
    fn taken(&self) -> u64;

    /// How many bytes of the input were taken so far.
    fn bytes(&self) -> u64;

    /// Where the record that was handed out last stands within its line.
    fn shift(&self) -> Shift {
        Shift::NONE
    }
}

impl<R: BufRead> Records for Lines<R> {
    fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.next_line()
    }

    fn taken(&self) -> u64 {
        self.taken()
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

/// Reads lines one by one. A line that the input holds at once is handed out as it lies there; one that goes over the end of
/// what the input holds is put together in a buffer that is used again.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    number: u64,
    bytes: u64,
    /// How much of the input the line takes that was handed out last.
    lent: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Lines of `input`, numbered from 1.
    pub fn new(input: R) -> Self {
        Self {
            input,
            number: 0,
            bytes: 0,
            lent: 0,
            buffer: Vec::new(),
        }
    }

    /// The same, where so many lines came before.
    pub(crate) fn behind(input: R, number: u64) -> Self {
        Self {
            number,
            ..Self::new(input)
        }
    }

    /// How many lines were taken so far.
    pub fn taken(&self) -> u64 {
        self.number
    }

    /// How many bytes of the input were taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// Whatever reading the input yields.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.take_back();
        let chunk = filled(&mut self.input)?;
        if chunk.is_empty() {
            return Ok(None);
        }
        let whole = memchr(b'\n', chunk).filter(|feed| *feed <= LONGEST_LINE);
        if let Some(feed) = whole {
            self.number += 1;
            self.lent = feed + 1;
            self.bytes += self.lent as u64;
            let number = self.number;
            let bytes = without_mark(&filled(&mut self.input)?[..feed]);
            return Ok(Some(Line::Whole {
                number,
                bytes,
                ended: true,
            }));
        }
        self.next_line_in_parts().map(Some)
    }

    fn take_back(&mut self) {
        self.input.consume(self.lent);
        self.lent = 0;
    }

    /// A line of which the input holds only the beginning.
    fn next_line_in_parts(&mut self) -> io::Result<Line<'_>> {
        self.buffer.clear();
        let mut too_long = false;
        let ended = loop {
            let chunk = filled(&mut self.input)?;
            if chunk.is_empty() {
                break false;
            }
            let feed = memchr(b'\n', chunk);
            let part = &chunk[..feed.unwrap_or(chunk.len())];
            too_long = too_long || self.buffer.len() + part.len() > LONGEST_LINE;
            if too_long {
                self.buffer.extend(part.iter().take(KEPT_OF_TOO_LONG));
                self.buffer.truncate(KEPT_OF_TOO_LONG);
            } else {
                self.buffer.extend_from_slice(part);
            }
            let used = part.len() + usize::from(feed.is_some());
            self.input.consume(used);
            self.bytes += used as u64;
            if feed.is_some() {
                break true;
            }
        };
        self.number += 1;
        Ok(self.line(too_long, ended))
    }

    fn line(&self, too_long: bool, ended: bool) -> Line<'_> {
        let number = self.number;
        if too_long {
            return Line::TooLong {
                number,
                start: &self.buffer,
            };
        }
        Line::Whole {
            number,
            bytes: without_mark(&self.buffer),
            ended,
        }
    }
}

/// What the input holds, after it was asked for more if it held nothing; empty at its end.
fn filled(input: &mut impl BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Ok(_) => return input.fill_buf(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A byte order mark may stand at the beginning of the input, and of each part where several were joined.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    fn lengths(input: impl Read) -> Vec<Result<usize, u64>> {
        let mut lines = Lines::new(BufReader::new(input));
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            seen.push(match line {
                Line::Whole { bytes, .. } => Ok(bytes.len()),
                Line::TooLong { number, .. } | Line::Without { number, .. } => Err(number),
            });
        }
        seen
    }

    #[test]
    fn lines_are_numbered_from_one_and_the_last_says_whether_it_ended() {
        let mut lines = Lines::new(&b"\xEF\xBB\xBFab\n\n\xEF\xBB\xBFcd"[..]);
        let whole = |number, bytes, ended| {
            Some(Line::Whole {
                number,
                bytes,
                ended,
            })
        };
        assert_eq!(lines.next_line().unwrap(), whole(1, b"ab", true));
        assert_eq!(lines.next_line().unwrap(), whole(2, b"", true));
        assert_eq!(lines.next_line().unwrap(), whole(3, b"cd", false));
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn a_line_is_whole_one_byte_below_and_at_the_limit_and_too_long_one_beyond() {
        for (length, expected) in [
            (LONGEST_LINE - 1, Ok(LONGEST_LINE - 1)),
            (LONGEST_LINE, Ok(LONGEST_LINE)),
            (LONGEST_LINE + 1, Err(1)),
        ] {
            let input = io::repeat(b'a').take(length as u64).chain(&b"\nxy"[..]);
            assert_eq!(lengths(input), [expected, Ok(2)]);
        }
    }

    #[test]
    fn a_line_of_a_hundred_megabytes_costs_no_more_than_the_limit() {
        let mut lines = Lines::new(BufReader::new(io::repeat(b'a').take(100_000_000)));
        assert!(matches!(
            lines.next_line().unwrap(),
            Some(Line::TooLong { number: 1, .. })
        ));
        // A growing vector doubles, so twice the limit is the most that it can have held.
        assert!(lines.buffer.capacity() <= 2 * LONGEST_LINE);
    }
}
