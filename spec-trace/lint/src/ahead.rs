//! Reading ahead: while one batch of lines is judged, a thread takes the lines of the next apart.
//!
//! The one thing to know: the order is that of the stream. There are two batches of a bounded size, which take turns, so that
//! a channel of the standard library each way is all that it takes. A stream that fits into one is judged without another
//! thread.

use std::mem;
use std::sync::mpsc;
use std::thread;

use super::place::{Here, Shift};
use super::record::{self, Fault, Record};
use super::report::Damage;
use super::{rules, surrogates};
use crate::json::tree::{Room, Tree};
use crate::lines::{LONGEST_LINE, Line, Records};

/// How many bytes of lines make a batch: so many that handing it over costs nothing beside judging it.
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
pub fn each_line(
    lines: &mut (impl Records + Send),
    mut judge: impl FnMut(Read<'_>),
) -> Option<Damage> {
    let mut batch = Batch::default();
    let mut end = batch.fill(lines);
    if matches!(end, End::Full) {
        end = read_ahead(&mut batch, lines, &mut judge);
    }
    while matches!(end, End::Full) {
        batch.judge(&mut judge);
        end = batch.fill(lines);
    }
    batch.judge(&mut judge);
    match end {
        End::Full | End::Input => None,
        End::Damage(damage) => Some(damage),
    }
}

/// Judges this batch and those after it, each while the next is filled, up to the last, which it leaves to be judged. Where
/// no thread can be started, it does nothing.
fn read_ahead(
    batch: &mut Batch,
    lines: &mut (impl Records + Send),
    judge: &mut impl FnMut(Read<'_>),
) -> End {
    let (judged, to_fill) = mpsc::channel::<Batch>();
    let (filled, to_judge) = mpsc::channel();
    // What it owns is gone when it is left, and with the last sender the thread ends.
    thread::scope(move |scope| {
        let reading = thread::Builder::new().spawn_scoped(scope, move || {
            for mut batch in to_fill {
                let end = batch.fill(lines);
                // Where the judge has panicked, nobody takes it.
                let _ = filled.send((batch, end));
            }
        });
        if reading.is_err() {
            return End::Full;
        }
        let mut other = Batch::default();
        loop {
            // Either fails where the thread has panicked, and then so does the scope.
            let _ = judged.send(other);
            batch.judge(judge);
            let Ok((next, end)) = to_judge.recv() else {
                return End::Input;
            };
            other = mem::replace(batch, next);
            if !matches!(end, End::Full) {
                return end;
            }
        }
    })
}

fn judge_long<'b>(here: Here<'b>, bytes: &'b [u8], ended: bool, judge: &mut impl FnMut(Read<'_>)) {
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
    shift: Shift,
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
    /// A line that makes a batch of its own. It is not taken apart ahead of its turn, lest two are that take much room.
    Long(Vec<u8>),
}

impl Batch {
    /// Takes in lines, in place of those before.
    fn fill(&mut self, lines: &mut impl Records) -> End {
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
                Ok(Some(line)) => {
                    if let Some(parsed) = self.parsed(&line) {
                        let shift = lines.shift();
                        self.lines.push(Parsed { shift, ..parsed });
                    }
                }
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

    /// What stands on the line, if it is not blank.
    fn parsed(&mut self, line: &Line<'_>) -> Option<Parsed> {
        let (number, ended, content) = match *line {
            Line::Whole { bytes, .. } if bytes.iter().all(u8::is_ascii_whitespace) => return None,
            Line::Whole {
                number,
                bytes,
                ended,
            } => (number, ended, self.parse(bytes)),
            Line::TooLong { number, start } => (number, true, broken(start, too_long())),
            Line::Without {
                number,
                start,
                ref why,
            } => (number, true, broken(start, without(why))),
        };
        Some(Parsed {
            number,
            ended,
            shift: Shift::NONE,
            content,
        })
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

    /// Reads what stands on the lines, and has it judged.
    fn judge(&self, judge: &mut impl FnMut(Read<'_>)) {
        let mut start = 0;
        for &Parsed {
            number,
            ended,
            shift,
            ref content,
        } in &self.lines
        {
            let (bytes, room) = match content {
                Content::Json { end, room } => {
                    let text = &self.text[start..*end];
                    start = *end;
                    (text.as_bytes(), Ok((text, room)))
                }
                Content::Broken { bytes, fault } => (&**bytes, Err(fault.clone())),
                Content::Long(bytes) => {
                    let bytes = &surrogates::readable(bytes);
                    judge_long(Here::new(number, bytes).shifted(shift), bytes, ended, judge);
                    continue;
                }
            };
            let here = Here::new(number, bytes).shifted(shift);
            let content =
                room.and_then(|(text, room)| record::read(Tree::resume(text, room), here));
            judge(Read {
                here,
                ended,
                content,
            });
        }
    }
}

fn broken(bytes: &[u8], fault: Fault) -> Content {
    let bytes = bytes.to_owned();
    Content::Broken { bytes, fault }
}

fn without(why: &str) -> Fault {
    Fault {
        rule: &rules::RECORD,
        column: None,
        message: why.to_owned(),
    }
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
    use std::io::{self, BufRead, BufReader, Read as _};

    use crate::lines::Lines;

    /// A line as it is handed out: number, length, whether a line feed ended it, and whether it is a record.
    type Handed = (u64, usize, bool, bool);

    fn told(input: impl BufRead + Send) -> (Vec<Handed>, Option<Damage>) {
        let mut told = Vec::new();
        let damage = each_line(&mut Lines::new(input), |line| {
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
    fn mixed() -> (String, Vec<Handed>) {
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
        each_line(&mut Lines::new(text.as_bytes()), |line| {
            assert!(line.here.line < 100, "enough");
        });
    }
}
