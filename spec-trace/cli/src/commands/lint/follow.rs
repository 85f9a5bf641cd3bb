//! `countersign lint --follow`: a stream that is judged while it is written.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use countersign_lint::envelope::{self, Envelope};
use countersign_lint::finding::Finding;
use countersign_lint::growing::Growing;
use countersign_lint::input::Source;
use countersign_lint::protocol::Protocol as Recorded;
use countersign_lint::stream::Settings;
use miette::{IntoDiagnostic as _, WrapErr as _};

use super::{Args, Replies};
use crate::answer::{Answer, FindingsFormat};
use crate::arguments::Protocol;
use crate::findings::status_of;
use crate::findings::text::{Terminal, render_found, render_verdict};

/// How long a file that has not grown is left alone.
const PAUSE: Duration = Duration::from_millis(100);

/// Prints each finding when it is final, and at the end what is left and the verdict. Standard input ends when it is closed, a file when it
/// is removed.
///
/// # Errors
///
/// More than one input is given, or a format other than text; or the input cannot be read.
pub fn follow(args: &Args, format: FindingsFormat) -> miette::Result<Answer> {
    let [input] = args.inputs.as_slice() else {
        return Err(miette::miette!("--follow takes one stream"));
    };
    let is_stream = args.protocol.is_none_or(|it| it == Protocol::Aaep);
    if format != FindingsFormat::Text || !is_stream {
        return Err(miette::miette!(
            "--follow prints text about a stream of AAEP"
        ));
    }
    let cannot = || format!("cannot read {}", input.display());
    let (source, mut reader): (Source, Box<dyn Read>) = if input == Path::new("-") {
        (Source::Stdin, Box::new(io::stdin().lock()))
    } else {
        let file = File::open(input).into_diagnostic().wrap_err_with(cannot)?;
        let file = Followed {
            file,
            path: input,
            read: 0,
        };
        (Source::File(input.clone()), Box::new(file))
    };
    let settings = Settings {
        strict: args.strict,
        replies_recorded: args.replies == Replies::All,
    };
    let name = source.name();
    let mut growing = Growing::new(settings, args.selection(Recorded::Aaep));
    let (mut told, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let terminal = Terminal::of_stdout();
    let mut is_first = true;
    loop {
        let length = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).into_diagnostic().wrap_err_with(cannot),
        };
        if is_first {
            is_ours(&buffer[..length], &name)?;
            is_first = false;
        }
        let found = growing.push(&buffer[..length]);
        if found.is_empty() {
            continue;
        }
        let text = render_found(&name, args.strict, &found, terminal);
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes());
        written
            .and_then(|()| stdout.flush())
            .into_diagnostic()
            .wrap_err("cannot write the result")?;
        told.extend(found);
    }
    let report = growing.finish(&name);
    let all = report.violations.iter().chain(&report.warnings);
    let left: Vec<Finding> = all.filter(|it| !is_told(it, &mut told)).cloned().collect();
    let text = render_found(&name, args.strict, &left, terminal) + &render_verdict(&report);
    let status = status_of(&report);
    Ok(Answer { text, status })
}

/// Whether this was told before; each finding was told once.
fn is_told(finding: &Finding, told: &mut Vec<Finding>) -> bool {
    let is_same = |it: &Finding| {
        (it.clause, it.line, it.column) == (finding.clause, finding.line, finding.column)
            && it.session == finding.session
            && finding.message.starts_with(&it.message)
    };
    let at = told.iter().position(is_same);
    at.map(|at| told.swap_remove(at)).is_some()
}

/// Whether a stream that begins like this is of our format, or damaged; any other is judged when it is whole.
fn is_ours(start: &[u8], name: &str) -> miette::Result<()> {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let is_object = text.trim_ascii_start().first().is_none_or(|it| *it == b'{');
    if is_object && envelope::told(start) == Envelope::Jsonl {
        return Ok(());
    }
    Err(miette::miette!(
        "{name}: --follow reads JSON Lines, and this is something else; without --follow it is read when it is whole"
    ))
}

/// A file that is being written. It ends where it is gone.
struct Followed<'a> {
    file: File,
    path: &'a Path,
    /// How many bytes of it were read.
    read: u64,
}

impl Read for Followed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Asked before, so that what is written last is read.
            let is_there = self.path.exists();
            let length = self.file.read(buffer)?;
            self.read += length as u64;
            if length > 0 || !is_there {
                return Ok(length);
            }
            if self.file.metadata()?.len() < self.read {
                return Err(io::Error::other(
                    "it was cut while it was followed; what it holds now is another stream",
                ));
            }
            thread::sleep(PAUSE);
        }
    }
}
