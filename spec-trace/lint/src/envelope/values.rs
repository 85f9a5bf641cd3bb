//! JSON values one by one: out of an array, out of a member of a document, or one behind the other, on as many lines as they
//! like.
//!
//! The one thing to know: only brackets and strings are looked at, to find where a value ends. Whether it is JSON is said when
//! it is read as a record. What is torn ends where no JSON could go on, so that it takes nothing of what follows with it.

use std::io::{self, BufRead};
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::strings::{End, end_of_string};
use super::{Frames, Message};

/// The deepest that brackets are followed; the judge reads far less deep.
const DEEPEST: usize = 1 << 16;

/// From so many bytes on a value gets all the room at once that it may ever need.
const LONG: usize = 1 << 20;

/// How far a value that begins with a bracket has been followed.
#[derive(Debug, Default)]
struct Scan {
    open: Vec<u8>,
    in_string: bool,
    escaped: bool,
    /// The last byte that is no white space and not within a string.
    last: u8,
}

/// Where a scan is after some bytes.
enum Reached {
    /// Within the value still.
    Inside,
    /// At its end, after so many bytes.
    End(usize),
    /// Where no JSON can go on, after so many bytes.
    Torn(usize),
}

impl Scan {
    fn over(&mut self, bytes: &[u8]) -> Reached {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.escaped {
                self.escaped = false;
                at += 1;
                continue;
            }
            if self.in_string {
                match end_of_string(&bytes[at..], &mut self.escaped) {
                    End::Quote(length) => at += length,
                    End::Feed(length) => return Reached::Torn(at + length),
                    End::Beyond => return Reached::Inside,
                }
                self.in_string = false;
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    at += 1;
                    continue;
                }
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    let is_name_due = self.open.last() == Some(&b'{') && self.last != b':';
                    if is_name_due || self.open.len() == DEEPEST {
                        return Reached::Torn(at);
                    }
                    self.open.push(byte);
                }
                // A closing bracket lies two behind its opening one.
                b'}' | b']' => {
                    let fits = self
                        .open
                        .pop()
                        .is_some_and(|open| byte.wrapping_sub(open) == 2);
                    if !fits {
                        return Reached::Torn(at + 1);
                    }
                    if self.open.is_empty() {
                        return Reached::End(at + 1);
                    }
                }
                _ => {}
            }
            self.last = byte;
            at += 1;
        }
        Reached::Inside
    }
}

/// Input with the place that is reached in it.
struct Placed<R> {
    input: R,
    line: u64,
    /// Of the next byte, from 1.
    column: u64,
    taken: u64,
}

impl<R: BufRead> Placed<R> {
    fn chunk(&mut self) -> io::Result<&[u8]> {
        loop {
            match self.input.fill_buf() {
                Ok(_) => return self.input.fill_buf(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.chunk()?.first().copied())
    }

    /// Takes so many bytes of the chunk.
    fn take(&mut self, length: usize) -> io::Result<()> {
        let part = &self.input.fill_buf()?[..length];
        self.line += memchr_iter(b'\n', part).count() as u64;
        self.column = match memrchr(b'\n', part) {
            Some(feed) => (length - feed) as u64,
            None => self.column + length as u64,
        };
        self.taken += length as u64;
        self.input.consume(length);
        Ok(())
    }
}

/// Reads values one by one.
pub struct Values<R> {
    input: Placed<R>,
    /// The names of the members on the way to the array whose items are meant; empty where the outermost values are meant.
    path: Vec<String>,
    /// The brackets that were entered on the way.
    entered: Vec<u8>,
    /// The longest value that is held.
    longest: usize,
    scan: Scan,
}

impl<R: BufRead> Values<R> {
    /// The values of `input`, or the items of the array to which `path` leads in it.
    pub fn new(input: R, path: Vec<String>, longest: usize) -> Self {
        let input = Placed {
            input,
            line: 1,
            column: 1,
            taken: 0,
        };
        Self {
            input,
            path,
            entered: Vec::new(),
            longest,
            scan: Scan::default(),
        }
    }

    /// Goes over what stands between values, and yields the first byte behind it.
    fn between(&mut self) -> io::Result<Option<u8>> {
        loop {
            let chunk = self.input.chunk()?;
            let is_between = |byte: &u8| {
                matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | 0x1E) || is_mark(*byte)
            };
            let length = chunk.iter().take_while(|byte| is_between(byte)).count();
            if length == 0 {
                return self.input.peek();
            }
            self.input.take(length)?;
        }
    }

    /// Whether the items of the array that is meant are reached.
    fn is_there(&self) -> bool {
        self.path.is_empty() || self.entered.len() > self.path.len()
    }

    /// Goes on to the next value that is meant; false at the end.
    fn approach(&mut self) -> io::Result<bool> {
        loop {
            let Some(byte) = self.between()? else {
                if !self.entered.is_empty() {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the input ends before its JSON does",
                    ));
                }
                return Ok(false);
            };
            match (byte, self.is_there()) {
                (b']' | b'}', _) if !self.entered.is_empty() => {
                    self.entered.pop();
                    self.input.take(1)?;
                }
                (b'[', true) if self.entered.is_empty() => self.enter(byte)?,
                (_, true) => return Ok(true),
                (_, false) if self.entered.is_empty() => {
                    if matches!(byte, b'{' | b'[') {
                        self.enter(byte)?;
                    } else {
                        self.read(&mut Message::default(), 0)?;
                    }
                }
                (_, false) => self.step(byte)?,
            }
        }
    }

    /// Goes over a member on the way to the array that is meant, or into it.
    fn step(&mut self, byte: u8) -> io::Result<()> {
        let mut skipped = Message::default();
        if self.entered.last() != Some(&b'{') || byte != b'"' {
            return self.read(&mut skipped, 0);
        }
        self.read(&mut skipped, usize::MAX)?;
        while self.between()? == Some(b':') {
            self.input.take(1)?;
        }
        let name: Option<String> = serde_json::from_slice(&skipped.bytes).ok();
        let Some(byte) = self.input.peek()? else {
            return Ok(());
        };
        let steps = self.entered.len();
        let is_meant = name.as_ref() == self.path.get(steps - 1);
        let goes_on = if steps == self.path.len() { b'[' } else { b'{' };
        if is_meant && byte == goes_on {
            self.enter(byte)
        } else {
            self.read(&mut skipped, 0)
        }
    }

    fn enter(&mut self, bracket: u8) -> io::Result<()> {
        self.entered.push(bracket);
        self.input.take(1)
    }

    /// Reads one value, of which it holds no more than `longest` bytes.
    fn read(&mut self, into: &mut Message, longest: usize) -> io::Result<()> {
        into.clear();
        into.line = self.input.line;
        into.column = i64::try_from(self.input.column).ok();
        let first = self.input.peek()?;
        let is_bracket = matches!(first, Some(b'{' | b'['));
        let is_string = first == Some(b'"');
        self.scan.open.clear();
        self.scan = Scan {
            open: std::mem::take(&mut self.scan.open),
            ..Scan::default()
        };
        let mut is_first = true;
        loop {
            let within = !self.entered.is_empty();
            let chunk = self.input.chunk()?;
            if chunk.is_empty() {
                into.ended = false;
                return Ok(());
            }
            let (length, is_over) = if is_bracket {
                match self.scan.over(chunk) {
                    Reached::Inside => (chunk.len(), false),
                    Reached::End(length) | Reached::Torn(length) => (length, true),
                }
            } else if is_string {
                let from = usize::from(is_first);
                match end_of_string(&chunk[from..], &mut self.scan.escaped) {
                    End::Quote(length) | End::Feed(length) => (from + length, true),
                    End::Beyond => (chunk.len(), false),
                }
            } else {
                let ends = |byte: &u8| *byte == b'\n' || within && b",]}".contains(byte);
                let end = chunk.iter().skip(usize::from(is_first)).position(ends);
                let end = end.map(|end| end + usize::from(is_first));
                (end.unwrap_or(chunk.len()), end.is_some())
            };
            let room = longest.saturating_sub(into.bytes.len());
            into.too_long = into.too_long || length > room;
            let part = &chunk[..length.min(room)];
            let is_full = part.len() > into.bytes.capacity() - into.bytes.len();
            // To move a long value again and again costs more than to read it, and room that is not used costs nothing.
            if is_full && into.bytes.len() >= LONG {
                let _ = into.bytes.try_reserve(room);
            }
            into.bytes.extend_from_slice(part);
            self.input.take(length)?;
            is_first = false;
            if is_over {
                return Ok(());
            }
        }
    }
}

/// A byte of a byte order mark: no JSON begins with one.
fn is_mark(byte: u8) -> bool {
    matches!(byte, 0xEF | 0xBB | 0xBF)
}

impl<R: BufRead> Frames for Values<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        if !self.approach()? {
            return Ok(false);
        }
        self.read(into, self.longest)?;
        Ok(true)
    }

    fn line(&self) -> u64 {
        // That on which it stands is not over.
        self.input.line - 1
    }

    fn bytes(&self) -> u64 {
        self.input.taken
    }
}

/// Takes out the white space between the tokens of a value that stands on several lines; what is in strings stays.
pub fn compact(bytes: &mut Vec<u8>) {
    let (mut in_string, mut escaped) = (false, false);
    bytes.retain(|byte| {
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            return true;
        }
        in_string = *byte == b'"';
        !byte.is_ascii_whitespace()
    });
}

/// Where a member of an object, or an item of an array, stands in it.
///
/// # Errors
///
/// A name that comes twice: which of the two is meant, nobody can tell.
pub fn part(value: &[u8], step: &str) -> Result<Option<Range<usize>>, String> {
    let [found] = parts(value, [step])?;
    Ok(found)
}

/// The same of several, in one pass.
///
/// # Errors
///
/// One of these names comes twice.
pub fn parts<const N: usize>(
    value: &[u8],
    steps: [&str; N],
) -> Result<[Option<Range<usize>>; N], String> {
    let (mut at, mut index, mut found) = (1, 0_usize, [const { None }; N]);
    let is_object = match value.first() {
        Some(b'{') => true,
        Some(b'[') => false,
        _ => return Ok(found),
    };
    loop {
        at = skip(value, at, b",");
        let meant = if is_object {
            if value.get(at) != Some(&b'"') {
                return Ok(found);
            }
            let end = end_of(value, at);
            let name = &value[at..end];
            at = skip(value, end, b":");
            let inner = &name[1..name.len().max(2) - 1];
            let read =
                memchr(b'\\', name).and_then(|_| serde_json::from_slice::<String>(name).ok());
            let read = read.as_deref().map_or(inner, str::as_bytes);
            steps.iter().position(|step| read == step.as_bytes())
        } else {
            steps.iter().position(|step| step.parse() == Ok(index))
        };
        let end = end_of(value, at);
        if end == at {
            return Ok(found);
        }
        if let Some(meant) = meant
            && found[meant].replace(at..end).is_some()
        {
            return Err(format!("the key {:?} appears twice", steps[meant]));
        }
        at = end;
        index += 1;
    }
}

fn skip(value: &[u8], from: usize, mark: &[u8]) -> usize {
    let rest = value.get(from..).unwrap_or_default();
    let is_between = |byte: &&u8| byte.is_ascii_whitespace() || mark.contains(byte);
    from + rest.iter().take_while(is_between).count()
}

/// The end of the value that begins there, or of what there is of it.
fn end_of(value: &[u8], from: usize) -> usize {
    let rest = value.get(from..).unwrap_or_default();
    let length = match rest.first() {
        None => 0,
        Some(b'{' | b'[') => match Scan::default().over(rest) {
            Reached::Inside => rest.len(),
            Reached::End(length) | Reached::Torn(length) => length,
        },
        Some(b'"') => match end_of_string(&rest[1..], &mut false) {
            End::Quote(length) | End::Feed(length) => 1 + length,
            End::Beyond => rest.len(),
        },
        Some(_) => {
            let ends = |byte: &u8| b",]}".contains(byte) || byte.is_ascii_whitespace();
            rest.iter().position(ends).unwrap_or(rest.len())
        }
    };
    from + length
}
