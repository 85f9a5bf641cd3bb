//! `countersign lint`: a verdict on a recorded AAEP stream.
//!
//! The one thing to know: a stream is accused only when no conforming producer could have produced it. Where the record
//! leaves several explanations open (a cancellation that looks like a change of state, a reply that may have come too
//! late, a call that could belong to either of two confirmations), all of them are kept, and a finding is made when the
//! last one goes.
//!
//! Data flows one way: [`crate::lines`] cuts the input, [`record`] makes typed records of it, [`stream`] hands each record to
//! the monitors of its session, the monitors hand [`finding`]s to the [`report`].
//!
//! A finding stands on the line at which the stream stopped being explainable: the call that nobody had accepted, or the
//! end of the session that made it too late for what was owed.

pub mod command;
pub mod finding;
pub mod memory;
pub mod monitor;
pub mod record;
mod reply;
pub mod report;
pub mod rules;
pub mod stream;
pub mod ties;
pub mod time;

use std::io::{self, BufRead};

use crate::lines::{LONGEST_LINE, Line, Lines};
use finding::{Finding, Place};
use record::Fault;
use report::LintReport;
use stream::Linter;

/// Judges one stream, read line by line; `file` is the name that the report gives it.
///
/// Memory does not grow with the stream: it is one line (at most [`LONGEST_LINE`] bytes), and per session what its
/// confirmations and the calls in flight need.
///
/// # Errors
///
/// Only when reading fails. Whatever the bytes are, they are judged: a broken record is a finding, not an error.
pub fn lint(input: impl BufRead, file: &str) -> io::Result<LintReport> {
    let mut linter = Linter::new();
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line()? {
        match line {
            Line::Whole {
                number,
                bytes,
                ended,
            } => judge_line(&mut linter, number, bytes, ended),
            Line::TooLong { number, start } => {
                let fault = Fault {
                    rule: &rules::RECORD,
                    column: Some(LONGEST_LINE as u64 + 1),
                    message: format!(
                        "the line is longer than {} MiB, the limit for one record",
                        LONGEST_LINE >> 20
                    ),
                };
                linter.broken(fault.at(&Place::new(number, start), None));
            }
        }
    }
    Ok(linter.finish(file))
}

/// Judges one line; `ended` says whether the input goes on behind it.
pub(crate) fn judge_line(linter: &mut Linter, number: u64, bytes: &[u8], ended: bool) {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let place = Place::new(number, bytes);
    match record::read(bytes, &place) {
        Ok((record, faults)) => {
            let session = record.session().map(str::to_owned);
            for fault in faults {
                linter.faulty(fault.at(&place, session.as_deref()));
            }
            linter.record(&record);
        }
        Err(mut fault) => {
            if !ended {
                fault.message = format!(
                    "the input ends in the middle of a record: {}",
                    fault.message
                );
            }
            let finding: Finding = fault.at(&place, None);
            linter.broken(finding);
        }
    }
}
