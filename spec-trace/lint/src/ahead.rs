//! Reading ahead: while one batch of lines is judged, a thread reads the next.
//!
//! The one thing to know: the order is that of the stream. There are two batches of a bounded size, which take turns: what
//! was read in the one is judged while the other is filled. A stream that fits into one is judged without another thread.

use std::io::BufRead;
use std::panic::resume_unwind;
use std::thread;

use super::place::Here;
use super::record::{self, Fault, Record};
use super::report::Damage;
use super::{rules, surrogates};
use crate::json::tree::{Room, Tree};
use crate::lines::{LONGEST_LINE, Line, Lines};

/// How many bytes of lines make a batch: so many that starting a thread for each costs nothing beside judging it.
const BATCH: usize = 256 << 10;

/// How many lines make one at most: a record takes much more room than a line of a few bytes.
const MANY_LINES: usize = 4 << 10;

/// What stands on a line that is not blank.
pub struct Read<'b> {
    /// The line, or the beginning of one that is too long.
    pub here: Here<'b>,
    /// Whether a line feed ended it.
    pub ended: bool,
    /// The record with what is wrong about it, or why there is none.
    pub content: Result<(Record<'b>, Vec<Fault>), Fault>,
}

/// Reads all lines that are not blank, and hands them to `judge` one by one. Yields where reading failed, if it did.
pub fn each_line(input: impl BufRead + Send, mut judge: impl FnMut(Read<'_>)) -> Option<Damage> {
    let mut lines = Lines::new(input);
    let (mut one, mut other) = (Batch::default(), Batch::default());
    let mut end = one.fill(&mut lines);
    let mut first = one.read();
    let (last, end) = loop {
        if !matches!(end, End::Full) {
            break (first, end);
        }
        let (second, second_end) = judge_and_fill(first, &mut judge, &mut other, &mut lines);
        if !matches!(second_end, End::Full) {
            break (second, second_end);
        }
        (first, end) = judge_and_fill(second, &mut judge, &mut one, &mut lines);
    };
    judge_all(last, &mut judge);
    match end {
        End::Full | End::Input => None,
        End::Damage(damage) => Some(damage),
    }
}

/// Judges what was read while another batch is filled and read; where no thread can be started, before that.
fn judge_and_fill<'b>(
    read: Vec<Ahead<'_>>,
    judge: &mut impl FnMut(Read<'_>),
    batch: &'b mut Batch,
    lines: &mut Lines<impl BufRead + Send>,
) -> (Vec<Ahead<'b>>, End) {
    let mut to_fill = Some(batch);
    let mut fill = || {
        let batch = to_fill.take().expect("it is filled once");
        let end = batch.fill(lines);
        (batch.read(), end)
    };
    let next = thread::scope(|scope| {
        let reading = thread::Builder::new().spawn_scoped(scope, &mut fill);
        judge_all(read, judge);
        let next = reading.ok()?.join();
        Some(next.unwrap_or_else(|panic| resume_unwind(panic)))
    });
    next.unwrap_or_else(fill)
}

fn judge_all(read: Vec<Ahead<'_>>, judge: &mut impl FnMut(Read<'_>)) {
    for line in read {
        match line {
            Ahead::Read(read) => judge(read),
            Ahead::Long {
                number,
                ended,
                bytes,
            } => judge_long(number, ended, bytes, judge),
        }
    }
}

fn judge_long(number: u64, ended: bool, bytes: &[u8], judge: &mut impl FnMut(Read<'_>)) {
    let bytes = &surrogates::readable(bytes);
    let here = Here::new(number, bytes);
    let mut room = Room::default();
    let tree = record::parse(bytes, &mut room);
    judge(Read {
        here,
        ended,
        content: tree.and_then(|tree| record::read(tree, here)),
    });
}

/// Why a batch holds no more lines.
#[derive(Debug)]
enum End {
    /// It holds enough.
    Full,
    /// The input is over.
    Input,
    /// Reading failed.
    Damage(Damage),
}

/// A line that is to be judged.
#[expect(
    clippy::large_enum_variant,
    reason = "almost all are read, and none is moved but into its batch and out of it"
)]
enum Ahead<'b> {
    Read(Read<'b>),
    /// A line that makes a batch of its own. It is not taken apart ahead of its turn, lest two are that take much room.
    Long {
        number: u64,
        ended: bool,
        bytes: &'b [u8],
    },
}

/// Lines that were taken apart.
#[derive(Debug, Default)]
struct Batch {
    /// The text of all that are JSON.
    text: String,
    lines: Vec<Parsed>,
    /// How many bytes the lines take.
    size: usize,
    /// Memory of earlier lines.
    rooms: Vec<Room>,
}

#[derive(Debug)]
struct Parsed {
    number: u64,
    ended: bool,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Json {
        /// Where its text ends.
        end: usize,
        room: Room,
    },
    Broken {
        bytes: Vec<u8>,
        fault: Fault,
    },
    Long(Vec<u8>),
}

impl Batch {
    /// Takes in lines, in place of those before.
    fn fill(&mut self, lines: &mut Lines<impl BufRead>) -> End {
        self.size = 0;
        self.text.clear();
        for line in self.lines.drain(..) {
            if let Content::Json { mut room, .. } = line.content {
                // It may have held very much, and not be used again for long.
                room.clear();
                self.rooms.push(room);
            }
        }
        while self.size < BATCH && self.lines.len() < MANY_LINES {
            match lines.next_line() {
                Ok(Some(line)) => self.take(&line),
                Ok(None) => return End::Input,
                Err(error) => {
                    return End::Damage(Damage {
                        line: lines.taken() + 1,
                        bytes: lines.bytes(),
                        message: error.to_string(),
                    });
                }
            }
        }
        End::Full
    }

    fn take(&mut self, line: &Line<'_>) {
        let (number, ended, content) = match *line {
            Line::Whole { bytes, .. } if bytes.iter().all(u8::is_ascii_whitespace) => return,
            Line::Whole {
                number,
                bytes,
                ended,
            } => (number, ended, self.parse(bytes)),
            Line::TooLong { number, start } => (number, true, broken(start, too_long())),
        };
        self.lines.push(Parsed {
            number,
            ended,
            content,
        });
    }

    fn parse(&mut self, bytes: &[u8]) -> Content {
        self.size += bytes.len();
        if bytes.len() > BATCH {
            return Content::Long(bytes.to_owned());
        }
        let mut room = self.rooms.pop().unwrap_or_default();
        let fault = match record::parse(bytes, &mut room) {
            Ok(tree) => {
                self.text.push_str(tree.text());
                let end = self.text.len();
                return Content::Json { end, room };
            }
            Err(fault) => fault,
        };
        self.rooms.push(room);
        match surrogates::without_halves(bytes) {
            Some(mended) => self.parse(&mended),
            None => broken(bytes, fault),
        }
    }

    /// Reads what stands on the lines.
    fn read(&self) -> Vec<Ahead<'_>> {
        let mut start = 0;
        let mut all = Vec::with_capacity(self.lines.len());
        for &Parsed {
            number,
            ended,
            ref content,
        } in &self.lines
        {
            all.push(match content {
                Content::Json { end, room } => {
                    let text = &self.text[start..*end];
                    start = *end;
                    let here = Here::new(number, text.as_bytes());
                    let content = record::read(Tree::resume(text, room), here);
                    Ahead::Read(Read {
                        here,
                        ended,
                        content,
                    })
                }
                Content::Broken { bytes, fault } => Ahead::Read(Read {
                    here: Here::new(number, bytes),
                    ended,
                    content: Err(fault.clone()),
                }),
                Content::Long(bytes) => Ahead::Long {
                    number,
                    ended,
                    bytes,
                },
            });
        }
        all
    }
}

fn broken(bytes: &[u8], fault: Fault) -> Content {
    let bytes = bytes.to_owned();
    Content::Broken { bytes, fault }
}

fn too_long() -> Fault {
    Fault {
        rule: &rules::RECORD,
        column: Some(LONGEST_LINE as u64 + 1),
        message: format!(
            "the line is longer than {} MiB, the limit for one record",
            LONGEST_LINE >> 20
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, BufReader, Read as _};

    /// A line as it is handed out: number, length, whether a line feed ended it, and whether it is a record.
    type Told = (u64, usize, bool, bool);

    fn told(input: impl BufRead + Send) -> (Vec<Told>, Option<Damage>) {
        let mut told = Vec::new();
        let damage = each_line(input, |line| {
            let Read {
                here,
                ended,
                content,
            } = line;
            if let Ok((record, _)) = &content {
                let session = format!("sess_{}", here.line);
                assert_eq!(
                    record.session(),
                    Some(&*session),
                    "each line has its own record"
                );
            }
            told.push((here.line, here.length(), ended, content.is_ok()));
        });
        (told, damage)
    }

    fn record(number: u64, text: &str) -> String {
        format!(r#"{{"type":"other","session_id":"sess_{number}","text":"{text}"}}"#)
    }

    /// Lines of many batches, some of them blank, broken or longer than a batch, and what is to be told of them.
    fn mixed() -> (String, Vec<Told>) {
        let (mut text, mut expected) = (String::new(), Vec::new());
        for number in 1..=3_000_u64 {
            let line = match number % 500 {
                1 => " ".to_owned(),
                2 => format!("{{\"type\":{number},"),
                3 => record(number, &"x".repeat(BATCH)),
                _ => record(number, &format!("{}\\n", "x".repeat(600))),
            };
            if number % 500 != 1 {
                expected.push((number, line.len(), number < 3_000, number % 500 != 2));
            }
            text += &line;
            text += if number < 3_000 { "\n" } else { "" };
        }
        (text, expected)
    }

    #[test]
    fn lines_of_many_batches_come_in_their_order_and_whole() {
        let (text, expected) = mixed();
        assert!(text.len() > 8 * BATCH);
        let (told, damage) = told(text.as_bytes());
        assert_eq!(damage, None);
        assert_eq!(told, expected);
    }

    #[test]
    fn what_comes_before_the_damage_is_judged_in_the_first_batch_and_in_later_ones() {
        struct Torn;
        impl io::Read for Torn {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("torn"))
            }
        }
        let (text, expected) = mixed();
        for lines in [1, 10, 2_999] {
            let bytes: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
            let whole = &text.as_bytes()[..bytes];
            let (told, damage) = told(BufReader::new(whole.chain(Torn)));
            let damage = damage.expect("it is told");
            assert_eq!(
                (damage.line, damage.bytes),
                (lines as u64 + 1, bytes as u64)
            );
            let before = expected.iter().take_while(|line| line.0 <= lines as u64);
            assert!(told.iter().eq(before), "{lines}");
        }
    }

    /// Fills a batch with each of the texts in turn, and yields how many lines it took of each.
    fn lines_of(batch: &mut Batch, texts: &[String]) -> Vec<usize> {
        let taken = texts.iter().map(|text| {
            batch.fill(&mut Lines::new(text.as_bytes()));
            batch.lines.len()
        });
        taken.collect()
    }

    #[test]
    fn a_batch_takes_no_more_lines_than_it_may_however_short_they_are() {
        let texts = [MANY_LINES - 1, MANY_LINES, MANY_LINES + 1].map(|lines| "1\n".repeat(lines));
        let taken = lines_of(&mut Batch::default(), &texts);
        assert_eq!(taken, [MANY_LINES - 1, MANY_LINES, MANY_LINES]);
    }

    /// Else lines with very many values, of which each takes another place in its batch, would fill all memory one by one.
    #[test]
    fn memory_that_waits_to_be_used_again_is_that_of_usual_lines() {
        let many = format!("[{}1]\n", "1,".repeat(10_000));
        let texts = [many.repeat(10), "1\n".to_owned()];
        let mut batch = Batch::default();
        assert_eq!(lines_of(&mut batch, &texts), [10, 1]);
        assert_eq!(batch.rooms.len(), 9);
        assert!(batch.rooms.iter().all(|room| room.values() < 1_000));
    }

    #[test]
    #[should_panic(expected = "enough")]
    fn a_panic_of_the_judge_goes_on() {
        let (text, _) = mixed();
        each_line(text.as_bytes(), |line| {
            assert!(line.here.line < 100, "enough");
        });
    }
}
