//! The events of one file and the replies of another, put together by their times.
//!
//! The one thing to know: neither order is changed. A reply comes before the first event that is later than it, by the time of
//! its receipt, else by its own; by two clocks (what that leaves open: [`super::clocks`]). A message without a time stays behind the one before it.

use std::io;

use super::{Boxed, Frames, Message};
use crate::report::NotJudged;
use crate::time::Timestamp;

/// One of the two files, with its next message.
struct Side<'a> {
    frames: Boxed<'a>,
    next: Message,
    is_there: bool,
    time: Option<Timestamp>,
}

impl<'a> Side<'a> {
    fn new(frames: Boxed<'a>) -> Self {
        Self {
            frames,
            next: Message::default(),
            is_there: false,
            time: None,
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        loop {
            self.is_there = self.frames.next(&mut self.next)?;
            if !self.is_there || !self.next.bytes.trim_ascii().is_empty() {
                break;
            }
        }
        if self.is_there {
            self.next.take_place();
            self.time = self.time.max(self.next.time.map(|(time, _)| time));
        }
        Ok(())
    }
}

/// Both files.
pub struct Joined<'a> {
    events: Side<'a>,
    replies: Side<'a>,
    has_begun: bool,
}

impl<'a> Joined<'a> {
    pub fn new(events: Boxed<'a>, replies: Boxed<'a>) -> Self {
        Self {
            events: Side::new(events),
            replies: Side::new(replies),
            has_begun: false,
        }
    }
}

impl Frames for Joined<'_> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        if !self.has_begun {
            self.has_begun = true;
            self.events.advance()?;
            self.replies.advance()?;
        }
        let is_reply = match (self.events.is_there, self.replies.is_there) {
            (true, true) => self.replies.time < self.events.time,
            (_, is_there) => is_there,
        };
        let side = if is_reply {
            &mut self.replies
        } else {
            &mut self.events
        };
        if !side.is_there {
            return Ok(false);
        }
        std::mem::swap(into, &mut side.next);
        into.is_second = is_reply;
        side.advance()?;
        Ok(true)
    }

    fn line(&self) -> u64 {
        self.events.frames.line()
    }

    fn bytes(&self) -> u64 {
        self.events.frames.bytes()
    }

    fn not_judged(&self) -> Vec<NotJudged> {
        let mut all = self.events.frames.not_judged();
        let of_replies = self.replies.frames.not_judged().into_iter();
        all.extend(of_replies.map(|it| NotJudged {
            reason: format!("in the file of the replies, {}", it.reason),
            ..it
        }));
        all
    }
}
