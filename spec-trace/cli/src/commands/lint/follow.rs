//! `countersign lint --follow`: a stream that is judged while it is written.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, Read, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use countersign_lint::envelope::{self, Envelope, How, Opened};
use countersign_lint::finding::Finding;
use countersign_lint::growing::{Followed, Growing, take_told};
use countersign_lint::input::Source;
use countersign_lint::protocol::Protocol as Recorded;
use countersign_lint::report::{Damage, LintReport, Silence, Within};
use countersign_lint::selection::Selection;
use countersign_lint::stream::Settings;
use countersign_live::http;
use miette::{IntoDiagnostic as _, WrapErr as _};

use super::{Args, unless_withheld};
use crate::answer::{Answer, FindingsFormat};
use crate::arguments::Protocol;
use crate::commands::complain;
use crate::findings::status_of;
use crate::findings::text::{render_found, render_silence, render_verdict};
use crate::terminal::Terminal;

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// How long a file that has not grown is left alone.
const PAUSE: Duration = Duration::from_millis(100);

/// Prints each finding when it is final, and at the end what is left and the verdict. Standard input and a pipe end when they are closed, a
/// file when it is removed or another has its name, and each where the process is asked to end or it cannot be read any further: then what
/// was read so far is judged.
///
/// # Errors
///
/// More than one input is given, or a format other than text; or the input cannot be read, or not line by line.
pub fn follow(args: &Args, format: FindingsFormat) -> miette::Result<Answer> {
    let [input] = args.inputs.as_slice() else {
        return Err(miette::miette!("--follow takes one stream"));
    };
    let is_stream = args.protocol.is_none_or(|it| it == Protocol::Aaep);
    let how = args.format.how()?;
    if format != FindingsFormat::Text {
        return Err(miette::miette!(
            "--follow prints text alone; without it, --format tells of a stream that is whole"
        ));
    }
    if !is_stream {
        return Err(miette::miette!(
            "--follow prints text about a stream of AAEP"
        ));
    }
    let cannot = || format!("cannot read {}", input.display());
    let source = if input == Path::new("-") {
        Source::Stdin
    } else {
        Source::File(input.clone())
    };
    let name = source.name();
    let damage = Arc::<OnceLock<Damage>>::default();
    let mut reader = Interruptible::start(source, Arc::clone(&damage))
        .into_diagnostic()
        .wrap_err_with(cannot)?;
    let mut start = Vec::new();
    let mut buffer = vec![0; CHUNK];
    // An archive may be one line that never ends.
    let may_be = |start: &[u8]| envelope::is_by_line(start, &how).is_ok();
    let is_told = |start: &[u8]| {
        let ended = start
            .iter()
            .rposition(|it| *it == b'\n')
            .map_or(0, |at| at + 1);
        tells(start) && !is_text_so_far(&start[..ended], &how)
    };
    while !is_told(&start) && may_be(&start) && start.len() < CHUNK {
        let read = reader.read(&mut buffer).into_diagnostic();
        match read.wrap_err_with(cannot)? {
            0 => break,
            length => start.extend_from_slice(&buffer[..length]),
        }
    }
    if let (Some(damage), true) = (damage.get(), start.is_empty()) {
        return Err(miette::miette!("{}", damage.message)).wrap_err_with(cannot);
    }
    if let Some(what) = other_protocol(&start, args, &how) {
        return Err(miette::miette!(
            "{name}: --follow judges streams of AAEP alone, and this is {what}; without --follow it is judged when it is whole"
        ));
    }
    if let Err(what) = by_line(&start, &how, args.redact) {
        return Err(miette::miette!(
            "{name}: --follow reads a stream line by line (JSON Lines, server-sent events, container logs, CloudEvents on lines, \
             or pointers into lines), and this is {what}; without --follow it is read when it is whole{}",
            if is_text_so_far(&start, &how) {
                ", and with --from jsonl as JSON Lines"
            } else {
                ""
            }
        ));
    }
    let mut teller = Teller {
        name: &name,
        args,
        terminal: Terminal::of_stdout(),
        told: Vec::new(),
    };
    let is_ours = how.pointers.is_none()
        && how.from.unwrap_or_else(|| envelope::told(&start)) == Envelope::Jsonl;
    let mut report = if is_ours {
        teller.ours(&start, reader).wrap_err_with(cannot)?
    } else {
        teller.other(start, reader, &how).wrap_err_with(cannot)?
    };
    if let Some(damage) = damage.get() {
        report.damage = Some(damage.clone());
        report.settle();
    }
    Ok(teller.finish(report))
}

/// What begins like this, if it is told by its content to be no stream of AAEP.
fn other_protocol(start: &[u8], args: &Args, how: &How) -> Option<String> {
    if args.protocol.is_some() {
        return None;
    }
    match envelope::protocol(start, how) {
        Some(Recorded::Aaep) => None,
        Some(protocol) => Some(format!("a recording of {}", protocol.name())),
        None => {
            Recorded::is_transcript(start).then(|| "requests and responses of a driver".to_owned())
        }
    }
}

/// Whether this tells the envelope: a line does, and of an answer with its headers the first data.
fn tells(start: &[u8]) -> bool {
    let has_data = || start.windows(6).any(|it| it == b"\ndata:");
    start.contains(&b'\n') && (!start.starts_with(b"HTTP/") || has_data())
}

/// Whether there is nothing but text so far, as where a producer says that it starts: JSON Lines may follow.
fn is_text_so_far(start: &[u8], how: &How) -> bool {
    let first = start.split(|it| *it == b'\n').next().unwrap_or_default();
    std::str::from_utf8(first).is_ok() && is_without_objects(start, how)
}

/// Whether it is told to be JSON Lines for want of another envelope, and no line of it may be an object.
fn is_without_objects(start: &[u8], how: &How) -> bool {
    let is_said = how.from.is_some() || how.pointers.is_some();
    !is_said && !may_hold_objects(start) && envelope::told(start) == Envelope::Jsonl
}

/// Whether a line of it may be an object, or nothing has come yet.
fn may_hold_objects(start: &[u8]) -> bool {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let mut lines = text.split(|it| *it == b'\n').map(<[u8]>::trim_ascii_start);
    text.trim_ascii().is_empty() || lines.any(|it| it.starts_with(b"{"))
}

/// Whether a stream that begins like this can be followed; else what it is. What is torn is told as damage.
fn by_line(start: &[u8], how: &How, redact: bool) -> Result<(), String> {
    envelope::is_by_line(start, how)?;
    if is_without_objects(start, how) {
        let what = envelope::looks_like(start).filter(|_| !redact);
        let what = what.map(|it| format!(": it looks like {it}"));
        return Err(format!("something else{}", what.unwrap_or_default()));
    }
    Ok(())
}

/// Prints what is found.
struct Teller<'a> {
    name: &'a str,
    args: &'a Args,
    terminal: Terminal,
    told: Vec<Finding>,
}

impl Teller<'_> {
    fn settings(&self) -> miette::Result<(Settings, Selection)> {
        let selection = self.args.selection(Recorded::Aaep);
        Ok((self.args.settings()?, selection))
    }

    /// Follows a stream in our format, which begins like this.
    fn ours(&mut self, start: &[u8], mut reader: Interruptible) -> miette::Result<LintReport> {
        let (settings, selection) = self.settings()?;
        let mut growing = Growing::new(settings, selection);
        let mut buffer = vec![0; CHUNK];
        let found = growing.push(start);
        let mut is_read = self.tell(found, &growing.new_silences())?;
        while is_read {
            let length = reader.read(&mut buffer).into_diagnostic()?;
            if length == 0 {
                break;
            }
            let found = growing.push(&buffer[..length]);
            is_read = self.tell(found, &growing.new_silences())?;
        }
        if reader.is_broken_off.load(Ordering::Relaxed) {
            growing.forget_rest();
        }
        Ok(growing.finish(self.name))
    }

    /// The same for a stream in another envelope.
    fn other(
        &mut self,
        start: Vec<u8>,
        reader: Interruptible,
        how: &How,
    ) -> miette::Result<LintReport> {
        let (settings, selection) = self.settings()?;
        let is_broken_off = Arc::clone(&reader.is_broken_off);
        let opened = Opened::begun(start, BufReader::new(reader), how);
        let mut followed = Followed::new(opened, settings, selection);
        let told = |error: String| miette::miette!("{}", unless_withheld(error, self.args.redact));
        let is_broken_off = || is_broken_off.load(Ordering::Relaxed);
        while let Some(found) = followed
            .advance(is_broken_off)
            .map_err(|error| told(error.to_string()))?
        {
            if !self.tell(found, &followed.new_silences())? {
                break;
            }
        }
        followed
            .finish(self.name)
            .map_err(|error| told(error.to_string()))
    }

    fn shown(&self, found: &[Finding]) -> String {
        let Args { strict, redact, .. } = *self.args;
        let mut found = found.to_vec();
        if redact {
            found.iter_mut().for_each(Finding::redact);
        }
        render_found(self.name, strict, &found, self.terminal)
    }

    /// Whether somebody still reads.
    fn tell(&mut self, found: Vec<Finding>, silences: &[Silence]) -> miette::Result<bool> {
        let mut text = self.shown(&found);
        for silence in silences {
            if !(self.args.redact && matches!(silence.within, Within::Session(_))) {
                text += &render_silence(self.name, silence, self.terminal);
            }
        }
        if text.is_empty() {
            return Ok(true);
        }
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes());
        let is_read = match written.and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
            written => written
                .into_diagnostic()
                .wrap_err("cannot write the result")
                .map(|()| true)?,
        };
        self.told.extend(found);
        Ok(is_read)
    }

    /// What was not told yet, and the verdict.
    fn finish(mut self, mut report: LintReport) -> Answer {
        let all = report.violations.iter().chain(&report.possible);
        let left: Vec<Finding> = all
            .chain(&report.warnings)
            .filter(|it| !take_told(it, &mut self.told))
            .cloned()
            .collect();
        let found = self.shown(&left);
        let status = status_of(&report);
        if self.args.redact {
            report.redact();
        }
        let text = found + &render_verdict(&report, self.terminal);
        Answer { text, status }
    }
}

/// What is read, up to where the process is asked to end or it cannot be read any further: then it looks like the end of it.
struct Interruptible {
    pieces: Receiver<io::Result<Vec<u8>>>,
    is_broken_off: Arc<AtomicBool>,
    /// Where it could not be read any further.
    damage: Arc<OnceLock<Damage>>,
    /// The lines and the bytes that were taken.
    read: (u64, u64),
    piece: Vec<u8>,
    taken: usize,
    is_over: bool,
}

impl Interruptible {
    /// Reads on a thread of its own, and waits for signals on another.
    fn start(source: Source, damage: Arc<OnceLock<Damage>>) -> io::Result<Self> {
        let mut reader: Box<dyn Read + Send> = match source {
            Source::Stdin => Box::new(io::stdin()),
            Source::File(path) => Box::new(Written::open(path)?),
        };
        let (sender, pieces) = mpsc::sync_channel(4);
        let is_broken_off = Arc::new(AtomicBool::new(false));
        let (flag, last) = (Arc::clone(&is_broken_off), sender.clone());
        thread::spawn(move || {
            if http::wait_for_end(|| Ok(())).is_ok() {
                flag.store(true, Ordering::Relaxed);
                let _unread = last.send(Ok(Vec::new()));
            }
        });
        thread::spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                let piece = match reader.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read.map(|length| buffer[..length].to_vec()),
                };
                let is_last = piece.as_ref().map_or(true, Vec::is_empty);
                if sender.send(piece).is_err() || is_last {
                    break;
                }
            }
        });
        Ok(Self {
            pieces,
            is_broken_off,
            damage,
            read: (0, 0),
            piece: Vec::new(),
            taken: 0,
            is_over: false,
        })
    }
}

impl Interruptible {
    /// Takes down that no more of it can be read.
    fn broken(&self, error: &io::Error) -> Vec<u8> {
        self.is_broken_off.store(true, Ordering::Relaxed);
        let (lines, bytes) = self.read;
        self.damage.get_or_init(|| Damage {
            line: lines + 1,
            bytes,
            message: error.to_string(),
        });
        Vec::new()
    }
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.piece.len() && !self.is_over {
            // Where nobody sends any more, it was at its end.
            let piece = self.pieces.recv().unwrap_or(Ok(Vec::new()));
            self.piece = piece.unwrap_or_else(|error| self.broken(&error));
            self.taken = 0;
            self.is_over = self.piece.is_empty() || self.is_broken_off.load(Ordering::Relaxed);
            self.read.0 += self.piece.split(|it| *it == b'\n').skip(1).count() as u64;
            self.read.1 += self.piece.len() as u64;
        }
        let rest = &self.piece[self.taken..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        Ok(length)
    }
}

/// A file that is being written. It ends where it is removed, or another has its name; a pipe where nobody writes to it any more.
struct Written {
    file: File,
    path: PathBuf,
    /// Its device and its number there; nothing of what is no file.
    identity: Option<(u64, u64)>,
    /// How many bytes of it were read.
    read: u64,
    /// The last of them.
    last: Vec<u8>,
    /// Whether it was said that it has its name no more.
    is_moved: bool,
}

/// So many of the bytes that were read last are held against what stands there.
const LAST: usize = 4 << 10;

impl Written {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::open(&path)?;
        let found = file.metadata()?;
        let identity = found.is_file().then(|| identity(&found));
        Ok(Self {
            file,
            path,
            identity,
            read: 0,
            last: Vec::new(),
            is_moved: false,
        })
    }

    /// Whether what was read last still stands there.
    fn stands(&self) -> io::Result<bool> {
        let mut there = vec![0; self.last.len()];
        let from = self.read - there.len() as u64;
        match self.file.read_exact_at(&mut there, from) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            read => read.map(|()| there == self.last),
        }
    }

    /// Whether it can still be written, and what has become of its name: it may be that of another file now, or of none.
    fn goes_on(&mut self, named: Option<(u64, u64)>) -> io::Result<bool> {
        if named == self.identity {
            return Ok(true);
        }
        let name = Source::File(self.path.clone()).name();
        if named.is_some() {
            complain(&format!(
                "{name}: another file has this name now; what was judged is the one before"
            ));
            return Ok(false);
        }
        let is_moved = self.file.metadata()?.nlink() > 0;
        if is_moved && !self.is_moved {
            complain(&format!(
                "{name}: the file has another name now; it is followed until another has this one, or it is removed"
            ));
        }
        self.is_moved = is_moved;
        Ok(is_moved)
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

impl Read for Written {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Asked before, so that what is written last is read.
            let named = fs::metadata(&self.path).ok().map(|it| identity(&it));
            let length = self.file.read(buffer)?;
            if self.identity.is_none() {
                return Ok(length);
            }
            if !self.stands()? {
                return Err(io::Error::other(
                    "it was cut while it was followed; what it holds now is another stream",
                ));
            }
            if length > 0 {
                self.read += length as u64;
                self.last.extend_from_slice(&buffer[..length]);
                let before = self.last.len().saturating_sub(LAST);
                self.last.drain(..before);
                return Ok(length);
            }
            if !self.goes_on(named)? {
                return Ok(0);
            }
            thread::sleep(PAUSE);
        }
    }
}
