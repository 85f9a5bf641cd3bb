//! Recorded streams in the formats of other tools: each message with its place in the file, as a line of our format.
//!
//! The one thing to know: there are two layers. [`Frames`] cut a file into values and know where each begins: lines, events
//! of an SSE capture, JSON values. [`Pointers`] say where within a value the message stands, and what else is known of it.
//! What is our own format already takes neither: it is read as lines.

mod clocks;
mod detect;
mod har;
mod hint;
mod joined;
mod logs;
mod places;
mod pointers;
mod role;
mod sse;
mod strings;
mod units;
mod values;
mod words;

use std::io::{self, BufRead, Cursor, Read as _};

pub use detect::{envelope as told, may_be_ours};
pub(crate) use detect::{is_around_message, is_text, may_be_extension, may_have_been_ours};
pub use hint::{Likeness, NoMessage, looks_like};
pub use places::Places;
pub use pointers::{PointerError, Pointers};
pub(crate) use sse::NO_BLANK_LINES;

use crate::lines::{LONGEST_LINE, Line, Lines, Records};
use crate::place::Shift;
use crate::protocol::Protocol;
use crate::report::NotJudged;
use crate::time::Timestamp;
use clocks::Clocks;
use har::Har;
use joined::Joined;
use logs::Logs;
use pointers::Pointed;
use role::{Role, time_and_role};
use sse::Sse;
use units::Units;
use values::{Values, compact};
use words::Words;

/// How much of a file tells its envelope.
const TELLING: usize = 16 << 10;

/// An envelope that needs no description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// Our JSON Lines.
    Jsonl,
    /// JSON values: an array, or one behind the other.
    Json,
    /// Server-sent events.
    Sse,
    /// An HTTP archive.
    Har,
    /// The log of a container, as Docker keeps it.
    Docker,
    /// The log of a container, as Kubernetes keeps it.
    Cri,
    /// `CloudEvents` in structured mode.
    CloudEvents,
}

impl Envelope {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Self); 7] = [
        ("jsonl", Self::Jsonl),
        ("json", Self::Json),
        ("sse", Self::Sse),
        ("har", Self::Har),
        ("docker", Self::Docker),
        ("cri", Self::Cri),
        ("cloudevents", Self::CloudEvents),
    ];

    /// The one with that name.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, envelope)| envelope).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            format!("expected one of {names}")
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = Self::ALL.into_iter().find(|(_, it)| *it == self);
        found.map_or("", |(name, _)| name)
    }

    /// What it looks like.
    const fn look(self) -> &'static str {
        match self {
            Self::Jsonl => "records, one a line",
            Self::Json => "an array, or JSON on several lines",
            Self::Sse => "server-sent events",
            Self::Har => "an HTTP archive",
            Self::Docker => "the log of a container, as Docker keeps it",
            Self::Cri => "the log of a container, as Kubernetes keeps it",
            Self::CloudEvents => "CloudEvents",
        }
    }
}

/// What is said beforehand of the format of a file. Where nothing is, its first bytes tell.
#[derive(Debug, Clone, Default)]
pub struct How {
    /// The envelope.
    pub from: Option<Envelope>,
    /// Where the messages stand.
    pub pointers: Option<Pointers>,
}

/// A message with its place in the file.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
#[derive(Debug)]
pub(crate) struct Message {
    bytes: Vec<u8>,
    /// The line on which it begins.
    line: u64,
    /// The column of its first byte, from 1, where it lies on one line as it is. What is put before it lies below 1.
    column: Option<i64>,
    /// Whether it is there to its end.
    ended: bool,
    too_long: bool,
    /// Why there is no message in what stands there.
    why: Option<String>,
    /// Whether it stands in the second of two files.
    is_second: bool,
    /// Whether a program wrote it on its second output.
    is_error: bool,
    /// Whether it is the first of those of one time of which there are too many to be held.
    begins_many: bool,
    /// Whether it is one of those, and there is a reply beside it; or it comes out of an archive that is in no order.
    is_unordered: bool,
    /// Its time and the end of the unit in which that is written, where messages are put together by time.
    time: Option<(Timestamp, Timestamp)>,
    /// What it is to the others there.
    role: Role,
}

impl Default for Message {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            line: 1,
            column: None,
            ended: true,
            too_long: false,
            why: None,
            is_second: false,
            is_error: false,
            begins_many: false,
            is_unordered: false,
            time: None,
            role: Role::Other,
        }
    }
}

impl Message {
    /// Takes note of what its place among others rests on.
    fn take_place(&mut self) {
        (self.time, self.role) = time_and_role(&self.bytes);
    }

    /// Forgets everything but the memory that it holds.
    fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        *self = Self {
            bytes,
            ..Self::default()
        };
    }
}

/// What cuts a file into messages.
pub(crate) trait Frames {
    /// Puts the next one into the message; false at the end.
    fn next(&mut self, into: &mut Message) -> io::Result<bool>;

    /// How many lines are over.
    fn line(&self) -> u64;

    /// How many bytes were taken.
    fn bytes(&self) -> u64;

    /// What cannot be judged for the sake of the envelope: what was passed over, and an order that is open.
    fn not_judged(&self) -> Vec<NotJudged> {
        Vec::new()
    }
}

/// How many there are of something, and what is said of them.
fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

type Boxed<'a> = Box<dyn Frames + Send + 'a>;

impl Frames for Boxed<'_> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        (**self).next(into)
    }

    fn line(&self) -> u64 {
        (**self).line()
    }

    fn bytes(&self) -> u64 {
        (**self).bytes()
    }

    fn not_judged(&self) -> Vec<NotJudged> {
        (**self).not_judged()
    }
}

/// A line as a message.
fn copy_line(line: &Line<'_>, into: &mut Message) {
    into.clear();
    into.column = Some(1);
    match *line {
        Line::Whole {
            number,
            bytes,
            ended,
        } => {
            (into.line, into.ended) = (number, ended);
            into.bytes.extend_from_slice(bytes);
        }
        Line::TooLong { number, start } | Line::Without { number, start, .. } => {
            (into.line, into.too_long) = (number, true);
            into.bytes.extend_from_slice(start);
        }
    }
}

impl<R: BufRead> Frames for Lines<R> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        let Some(line) = self.next_line()? else {
            return Ok(false);
        };
        copy_line(&line, into);
        Ok(true)
    }

    fn line(&self) -> u64 {
        self.taken()
    }

    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

/// A file whose envelope is known.
pub struct Opened<'a> {
    /// Its first bytes.
    start: Vec<u8>,
    content: Content<'a>,
    /// Whether its replies and events are put together by their times, that is by two clocks.
    by_two_clocks: bool,
    /// What it was said to be.
    said: Option<Envelope>,
    has_pointers: bool,
}

type Input<'a> = Box<dyn BufRead + Send + 'a>;

enum Content<'a> {
    Ours(Lines<Input<'a>>),
    Other(Boxed<'a>),
}

impl<'a> Content<'a> {
    fn boxed(self) -> Boxed<'a> {
        match self {
            Self::Ours(lines) => Box::new(lines),
            Self::Other(frames) => frames,
        }
    }
}

impl<'a> Opened<'a> {
    /// Tells the envelope of a file, unless it was said.
    pub fn new(input: impl BufRead + Send + 'a, how: &How) -> Self {
        let (start, rest) = Self::begin(input);
        Self::begun(start, rest, how)
    }

    /// The same of a file of replies to a stream that is read so. What stands in it as a message is read as it is; the pointers of the stream
    /// hold of one in whose beginning there is none.
    ///
    /// # Errors
    ///
    /// Neither way there is a message in its beginning.
    pub fn of_replies(input: impl BufRead + Send + 'a, how: &How) -> Result<Self, NoMessage> {
        let (start, rest) = Self::begin(input);
        let pointed = How {
            from: None,
            pointers: how.pointers.clone(),
        };
        let plain = How::default();
        let fault = match (
            first_message(&start, &plain),
            first_message(&start, &pointed),
        ) {
            (Ok(true), _) => return Ok(Self::begun(start, rest, &plain)),
            (_, Ok(_)) => return Ok(Self::begun(start, rest, &pointed)),
            // Among the lines of a log there may be others.
            _ if pointed.pointers.is_none() && !is_by_value(detect::envelope(&start)) => {
                return Ok(Self::begun(start, rest, &plain));
            }
            (plain, Err(pointed)) => pointed.or(plain.err().flatten()),
        };
        let fault = fault.as_ref().map(|(line, why)| (*line, &**why));
        Err(NoMessage::of(&start, fault))
    }

    /// The beginning of a file, and what follows.
    fn begin(mut input: impl BufRead + Send + 'a) -> (Vec<u8>, Input<'a>) {
        let mut start = Vec::new();
        let read = input.by_ref().take(TELLING as u64).read_to_end(&mut start);
        let rest: Input<'a> = match read {
            Ok(_) => Box::new(input),
            // It is told when what came before it is judged.
            Err(error) => Box::new(io::BufReader::new(Failing(Some(error)))),
        };
        (start, rest)
    }

    /// The same, where its beginning was read before: as much as there is, or tells the envelope.
    pub fn begun(start: Vec<u8>, rest: impl BufRead + Send + 'a, how: &How) -> Self {
        let input: Input<'a> = Box::new(Cursor::new(start.clone()).chain(rest));
        let content = open(input, &start, how);
        let by_two_clocks = envelope_and_framing(&start, how).1 == Envelope::Har;
        Self {
            start,
            content,
            by_two_clocks,
            said: how.from,
            has_pointers: how.pointers.is_some(),
        }
    }

    /// Where it looks like something else than was said: what to say if nothing was found in it so.
    pub(crate) fn looks_otherwise(&self) -> Option<String> {
        let told = detect::envelope(&self.start);
        let is_empty = self.start.trim_ascii().is_empty();
        let is_otherwise = self.said.is_some_and(|said| said != told) && !is_empty;
        // Whatever is nothing else is told to be lines.
        let is_plain = told == Envelope::Jsonl && is_text(&self.start);
        (is_otherwise && !is_plain).then(|| {
            let (look, name) = (told.look(), told.name());
            format!("it looks like {look}: say --from {name}, or leave --from out")
        })
    }

    /// The same, where a message is there that way.
    pub(crate) fn holds_one_otherwise(&self) -> Option<NoMessage> {
        let looks = self.looks_otherwise().filter(|_| !self.has_pointers)?;
        let holds_one = first_message(&self.start, &How::default()) == Ok(true);
        holds_one.then(|| NoMessage::that(&looks))
    }

    /// The same, with the replies of another file put between its messages by their time.
    #[must_use]
    pub fn joined(self, replies: Self) -> Self {
        let Self {
            start,
            content,
            said,
            has_pointers,
            ..
        } = self;
        let joined = Joined::new(content.boxed(), replies.content.boxed());
        Self {
            start,
            said,
            has_pointers,
            content: Content::Other(by_time(joined)),
            by_two_clocks: true,
        }
    }

    /// Whether it is our format, read as it stands.
    pub fn is_ours(&self) -> bool {
        matches!(self.content, Content::Ours(_))
    }

    /// Whether its replies and events are put together by their times, that is by two clocks.
    pub fn is_by_two_clocks(&self) -> bool {
        self.by_two_clocks
    }

    /// Its first bytes.
    pub fn start(&self) -> &[u8] {
        &self.start
    }

    /// The records in it: lines, or messages of another envelope with their numbers for lines.
    pub fn into_records(self) -> Box<dyn Records + Send + 'a> {
        match self.split().1 {
            Ok(lines) => Box::new(lines),
            Err(messages) => Box::new(messages),
        }
    }

    /// Its first bytes, and what is in it as messages.
    pub(crate) fn into_messages(self) -> (Vec<u8>, Messages<'a>) {
        (self.start, Messages::new(self.content.boxed()))
    }

    /// Its first bytes, and the records in it: lines, or messages of another envelope.
    pub(crate) fn split(self) -> (Vec<u8>, Result<Lines<Input<'a>>, Messages<'a>>) {
        let records = match self.content {
            Content::Ours(lines) => Ok(lines),
            Content::Other(frames) => Err(Messages::new(frames)),
        };
        (self.start, records)
    }
}

/// Messages that are in the order of their times, by two clocks.
fn by_time<'a>(frames: impl Frames + Send + 'a) -> Boxed<'a> {
    Box::new(Units::new(Box::new(Clocks::new(Box::new(frames)))))
}

struct Failing(Option<io::Error>);

impl io::Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The envelope of a file that begins like this, and what cuts it into values.
fn envelope_and_framing(start: &[u8], how: &How) -> (Envelope, Envelope) {
    let envelope = how.from.unwrap_or_else(|| detect::envelope(start));
    let is_mapped = [Envelope::CloudEvents, Envelope::Docker].contains(&envelope);
    let framing = if is_mapped {
        detect::framing(start)
    } else {
        envelope
    };
    (envelope, framing)
}

/// The protocol of a recording that begins like this: what it begins with tells it, or the messages within its envelope do.
pub fn protocol(start: &[u8], how: &How) -> Option<Protocol> {
    Protocol::of_transcript(start).or_else(|| Protocol::of_transcript(&within(start, how)))
}

/// The messages within the envelope of a file that begins like this, one a line; nothing where it has none.
fn within(start: &[u8], how: &How) -> Vec<u8> {
    let start = &start[..start.len().min(TELLING)];
    let opened = Opened::begun(start.to_vec(), io::empty(), how);
    let mut text = Vec::new();
    if opened.is_ours() {
        return text;
    }
    let mut messages = opened.into_records();
    while let Ok(Some(Line::Whole { bytes, .. })) = messages.next_line() {
        text.extend_from_slice(bytes);
        text.push(b'\n');
    }
    text
}

/// Whether each value of such an envelope should hold a message.
fn is_by_value(envelope: Envelope) -> bool {
    [Envelope::Jsonl, Envelope::Json, Envelope::CloudEvents].contains(&envelope)
}

/// Whether a message is in what a file begins with, or it cannot be told: nothing is there, or no value that is whole.
///
/// # Errors
///
/// None is: what is wrong with the first value, and on which line it stands, if there is more to say than that.
fn first_message(start: &[u8], how: &How) -> Result<bool, Option<(u64, String)>> {
    let (envelope, _) = envelope_and_framing(start, how);
    if envelope == Envelope::Har {
        return Ok(true);
    }
    let mut messages = Opened::begun(start.to_vec(), io::empty(), how).into_records();
    let (mut is_whole, mut fault) = (false, None);
    while let Ok(Some(line)) = messages.next_line() {
        match line {
            Line::Whole { bytes, .. } if may_be_ours(bytes) && !is_around_message(bytes) => {
                return Ok(true);
            }
            Line::Whole { bytes, ended, .. } => {
                is_whole |= !bytes.trim_ascii().is_empty() && (ended || start.len() < TELLING);
            }
            Line::Without { number, why, .. } => {
                is_whole = true;
                fault = fault.or(Some((number, why)));
            }
            Line::TooLong { .. } => {}
        }
    }
    if is_whole { Err(fault) } else { Ok(false) }
}

/// Whether a file that begins like this is read line by line, so that it can be judged while it grows; else what it is.
///
/// # Errors
///
/// It is read value by value.
pub fn is_by_line(start: &[u8], how: &How) -> Result<(), &'static str> {
    match envelope_and_framing(start, how) {
        (_, Envelope::Har) => Err("an HTTP archive, which is written at once"),
        (_, Envelope::Json) => {
            Err("JSON that goes over several lines, or has several values on one")
        }
        _ => Ok(()),
    }
}

fn open<'a>(input: Input<'a>, start: &[u8], how: &How) -> Content<'a> {
    let given = how.pointers.as_ref();
    let (envelope, framing) = envelope_and_framing(start, how);
    let frames: Boxed<'a> = match framing {
        Envelope::Sse => Box::new(Sse::new(input)),
        Envelope::Json => Box::new(Values::new(input, Vec::new(), LONGEST_LINE)),
        Envelope::Har => by_time(Har::new(input)),
        Envelope::Cri => Box::new(Words::new(Logs::new(input))),
        Envelope::Jsonl | Envelope::Docker | Envelope::CloudEvents => {
            let lines = Lines::new(input);
            if given.is_none() && envelope == Envelope::Jsonl {
                return Content::Ours(lines);
            }
            Box::new(lines)
        }
    };
    let own = match envelope {
        Envelope::Docker => Some(Pointers::docker()),
        // An array or a capture may hold them, too.
        Envelope::Json | Envelope::Sse | Envelope::CloudEvents => detect::pointers(start, envelope),
        Envelope::Jsonl | Envelope::Har | Envelope::Cri => None,
    };
    Content::Other(match given.cloned().or(own) {
        Some(pointers) if envelope == Envelope::Docker => {
            Box::new(Words::new(Pointed::new(frames, pointers)))
        }
        Some(pointers) => Box::new(Pointed::new(frames, pointers)),
        None => frames,
    })
}

/// The messages of another envelope, as records: each has its number for a line, and [`Places`] tell where it stands.
pub(crate) struct Messages<'a> {
    frames: Boxed<'a>,
    message: Message,
    places: Places,
    number: u64,
    /// The first of the last messages of one time of which there are too many to be held.
    many: u64,
}

impl<'a> Messages<'a> {
    fn new(frames: Boxed<'a>) -> Self {
        Self {
            frames,
            message: Message::default(),
            places: Places::default(),
            number: 0,
            many: 0,
        }
    }

    /// Where the messages stand that were handed out.
    pub(crate) fn into_places(mut self) -> Places {
        self.places.not_judged = self.frames.not_judged();
        self.places
    }
}

impl Messages<'_> {
    /// Reads the next message, and yields where it stands; `None` at the end.
    pub(crate) fn next_shift(&mut self) -> io::Result<Option<Shift>> {
        if !self.frames.next(&mut self.message)? {
            return Ok(None);
        }
        let message = &mut self.message;
        if memchr::memchr(b'\n', &message.bytes).is_some() {
            message.column = None;
            compact(&mut message.bytes);
        }
        self.number += 1;
        self.places.push(message.line, message.is_second);
        if message.begins_many {
            self.many = self.number;
        }
        if message.is_unordered {
            self.places.unordered_from.get_or_insert(self.many);
        }
        Ok(Some(self.shift()))
    }

    /// The message that was read last.
    pub(crate) fn line_read(&self) -> Line<'_> {
        let message = &self.message;
        let (number, start) = (self.number, message.bytes.as_slice());
        if let Some(why) = message.why.clone() {
            Line::Without { number, start, why }
        } else if message.too_long {
            let start = &start[..start.len().min(256)];
            Line::TooLong { number, start }
        } else {
            Line::Whole {
                number,
                bytes: start,
                ended: message.ended,
            }
        }
    }

    /// Where the messages stand so far.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }
}

impl Records for Messages<'_> {
    fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        Ok(self.next_shift()?.map(|_| self.line_read()))
    }

    fn taken(&self) -> u64 {
        self.frames.line()
    }

    fn bytes(&self) -> u64 {
        self.frames.bytes()
    }

    fn shift(&self) -> Shift {
        self.message
            .column
            .map_or(Shift::UNKNOWN, |column| Shift::by(column - 1))
    }
}
