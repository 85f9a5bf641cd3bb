//! Reading ahead: while one thread judges records, another takes the next lines apart.
//!
//! The one thing to know: the order is that of the stream. Lines travel in batches of a bounded size, no more than a few of
//! them are under way, and their memory goes round; a stream that fits into one batch is judged without another thread.

use std::io::BufRead;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use super::place::Here;
use super::record::{self, Fault};
use super::report::Damage;
use super::{rules, surrogates};
use crate::json::tree::{Room, Tree};
use crate::lines::{LONGEST_LINE, Line, Lines};

/// How many bytes of lines make a batch.
const BATCH: usize = 128 << 10;

/// How many batches wait to be judged at most.
const WAITING: usize = 1;

/// What stands on a line that is not blank.
pub struct Read<'b> {
    /// The line, or the beginning of one that is too long.
    pub here: Here<'b>,
    /// Whether a line feed ended it.
    pub ended: bool,
    /// What was taken apart, or why it cannot be.
    pub content: Result<&'b Tree<'b>, Fault>,
}

/// Reads all lines that are not blank, and hands them to `judge` one by one. Yields where reading failed, if it did.
pub fn each_line(input: impl BufRead, mut judge: impl FnMut(Read<'_>) + Send) -> Option<Damage> {
    let mut lines = Lines::new(input);
    let mut first = Batch::default();
    let end = first.fill(&mut lines);
    let end = match end {
        End::Full => thread::scope(|scope| {
            let (full, to_judge) = mpsc::sync_channel(WAITING);
            let (empty, to_fill) = mpsc::channel();
            let judging = scope.spawn(move || judge_batches(&to_judge, &empty, judge));
            let end = fill_batches(first, &full, &to_fill, &mut lines);
            drop(full);
            match judging.join() {
                Ok(()) => end,
                Err(panic) => resume_unwind(panic),
            }
        }),
        End::Input | End::Damage(_) => {
            first.judge(&mut judge);
            end
        }
    };
    match end {
        End::Full | End::Input => None,
        End::Damage(damage) => Some(damage),
    }
}

fn fill_batches(
    first: Batch,
    full: &SyncSender<Batch>,
    to_fill: &Receiver<Batch>,
    lines: &mut Lines<impl BufRead>,
) -> End {
    let mut batch = first;
    let mut end = End::Full;
    loop {
        // It fails only where judging has panicked.
        let is_sent = full.send(batch).is_ok();
        if !is_sent || !matches!(end, End::Full) {
            return end;
        }
        batch = to_fill.try_recv().unwrap_or_default();
        end = batch.fill(lines);
    }
}

fn judge_batches(
    to_judge: &Receiver<Batch>,
    empty: &Sender<Batch>,
    mut judge: impl FnMut(Read<'_>),
) {
    for mut batch in to_judge {
        batch.judge(&mut judge);
        // The last ones nobody takes back.
        let _ = empty.send(batch);
    }
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

/// Lines that were taken apart and not judged yet.
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
    /// A line that makes a batch of its own. It is not taken apart ahead of its turn, lest several are that take much
    /// room.
    Long(Vec<u8>),
}

impl Batch {
    /// Takes in lines, those before having been judged.
    fn fill(&mut self, lines: &mut Lines<impl BufRead>) -> End {
        self.size = 0;
        self.text.clear();
        // One line may be much longer than a batch.
        self.text.shrink_to(2 * BATCH);
        while self.size < BATCH {
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
        match record::parse(bytes, &mut room) {
            Ok(tree) => {
                self.text.push_str(tree.text());
                let end = self.text.len();
                let room = tree.into_room();
                Content::Json { end, room }
            }
            Err(fault) => match surrogates::without_halves(bytes) {
                Some(mended) => self.parse(&mended),
                None => broken(bytes, fault),
            },
        }
    }

    fn judge(&mut self, judge: &mut impl FnMut(Read<'_>)) {
        let mut start = 0;
        for line in self.lines.drain(..) {
            let Parsed { number, ended, .. } = line;
            let mut judge = |bytes: &[u8], content: Result<&Tree<'_>, Fault>| {
                judge(Read {
                    here: Here::new(number, bytes),
                    ended,
                    content,
                });
            };
            match line.content {
                Content::Json { end, room } => {
                    let tree = Tree::resume(&self.text[start..end], room);
                    start = end;
                    judge(tree.text().as_bytes(), Ok(&tree));
                    self.rooms.push(tree.into_room());
                }
                Content::Broken { bytes, fault } => judge(&bytes, Err(fault)),
                Content::Long(bytes) => judge_long(&bytes, &mut judge),
            }
        }
    }
}

fn judge_long(bytes: &[u8], judge: &mut impl FnMut(&[u8], Result<&Tree<'_>, Fault>)) {
    match record::parse(bytes, &mut Room::default()) {
        Ok(tree) => judge(bytes, Ok(&tree)),
        Err(fault) => match surrogates::without_halves(bytes) {
            Some(mended) => judge_long(&mended, judge),
            None => judge(bytes, Err(fault)),
        },
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

    /// A line as it is handed out: number, length, whether a line feed ended it, and whether it is JSON.
    type Told = (u64, usize, bool, bool);

    fn told(input: impl BufRead) -> (Vec<Told>, Option<Damage>) {
        let mut told = Vec::new();
        let damage = each_line(input, |line| {
            let Read {
                here,
                ended,
                content,
            } = line;
            if let Ok(tree) = content {
                let length = tree.value().as_array().map(|items| items.iter().count());
                assert_eq!(length, Some(2), "each line gets its own tree");
            }
            told.push((here.line, here.length(), ended, content.is_ok()));
        });
        (told, damage)
    }

    /// Lines of many batches, some of them blank, broken or longer than a batch, and what is to be told of them.
    fn mixed() -> (String, Vec<Told>) {
        let (mut text, mut expected) = (String::new(), Vec::new());
        for number in 1..=3_000_u64 {
            let line = match number % 500 {
                1 => " ".to_owned(),
                2 => format!("[{number},"),
                3 => format!("[{number},\"{}\"]", "x".repeat(BATCH)),
                _ => format!("[{number},\"{}\\n\"]", "x".repeat(300)),
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
        assert!(text.len() > 10 * BATCH);
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

    #[test]
    #[should_panic(expected = "enough")]
    fn a_panic_of_the_judge_goes_on() {
        let (text, _) = mixed();
        each_line(text.as_bytes(), |line| {
            assert!(line.here.line < 100, "enough");
        });
    }
}
