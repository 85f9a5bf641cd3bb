//! What a program writes on its second output into the log of its container: words, which are passed over.
//!
//! The one thing to know: who writes `Listening on port 80` there breaks no rule of the protocol. That lines were passed over is said,
//! and what begins like JSON or names a type of ours stays, for it may be a message that is torn. On the first output every line is to
//! be a message.

use std::io;

use memchr::memmem;

use super::{Frames, Message, counted};
use crate::report::NotJudged;

/// The messages of a log without the words between them.
pub struct Words<F> {
    frames: F,
    passed: u64,
    /// The line of the first.
    first: u64,
}

impl<F: Frames> Words<F> {
    pub fn new(frames: F) -> Self {
        Self {
            frames,
            passed: 0,
            first: 0,
        }
    }
}

fn is_words(message: &Message) -> bool {
    let bytes = message.bytes.trim_ascii();
    let begins_json = bytes.first().is_none_or(|it| b"{[".contains(it));
    let is_whole = !message.too_long && message.why.is_none();
    message.is_error && is_whole && !begins_json && memmem::find(bytes, b"aaep:").is_none()
}

impl<F: Frames> Frames for Words<F> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        while self.frames.next(into)? {
            if !is_words(into) {
                return Ok(true);
            }
            if self.passed == 0 {
                self.first = into.line;
            }
            self.passed += 1;
        }
        Ok(false)
    }

    fn line(&self) -> u64 {
        self.frames.line()
    }

    fn bytes(&self) -> u64 {
        self.frames.bytes()
    }

    fn not_judged(&self) -> Vec<NotJudged> {
        let mut all = self.frames.not_judged();
        all.extend((self.passed > 0).then(|| {
            let reason = format!(
                "{} on the second output (stderr), first on line {}: what is said there is not judged",
                counted(self.passed, "line of the log is words", "lines of the log are words"),
                self.first
            );
            NotJudged::partly("AAEP-EV-1", reason)
        }));
        all
    }
}
