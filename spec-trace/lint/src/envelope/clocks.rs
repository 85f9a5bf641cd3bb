//! Replies and events that are put together by two clocks: that of the subscriber and that of the producer.
//!
//! The one thing to know: the text asks no two clocks to agree. A reply cannot come before the event that gives its token out
//! (AAEP-6.3.4-2), so it is put behind that. How many others stand so near to an event that the clocks may have changed their
//! order is told once.

use std::collections::VecDeque;
use std::io;

use super::units::{MOST_HELD, Moved};
use super::{Boxed, Frames, Message, Role, counted};
use crate::lines::LONGEST_LINE;
use crate::monitor::confirmations::SLACK_SECONDS;
use crate::report::NotJudged;
use crate::time::Timestamp;

/// Messages that are in the order of their times, by two clocks.
pub struct Clocks<'a> {
    frames: Boxed<'a>,
    /// What was read to find the question of a reply.
    ahead: VecDeque<Message>,
    bytes: usize,
    damage: Option<io::Error>,
    /// The tokens of the last questions, by their hashes.
    given: VecDeque<u64>,
    /// The replies that were put behind their questions.
    behind: Moved,
    /// Those that stand near to an event of which it matters whether it came first.
    near: Moved,
    /// The time of the last such event.
    last: Option<Timestamp>,
    /// The replies behind it, with their lines and files.
    since: Vec<(Timestamp, (u64, bool))>,
}

impl<'a> Clocks<'a> {
    pub fn new(frames: Boxed<'a>) -> Self {
        Self {
            frames,
            ahead: VecDeque::new(),
            bytes: 0,
            damage: None,
            given: VecDeque::new(),
            behind: Moved::default(),
            near: Moved::default(),
            last: None,
            since: Vec::new(),
        }
    }

    /// Reads one more message; false where there is none, or no room for it.
    fn read(&mut self, mut message: Message) -> bool {
        let is_full = self.ahead.len() >= MOST_HELD || self.bytes >= LONGEST_LINE;
        if is_full || self.damage.is_some() {
            return false;
        }
        match self.frames.next(&mut message) {
            Ok(true) => {
                self.bytes += message.bytes.len();
                self.ahead.push_back(message);
                true
            }
            Ok(false) => false,
            Err(error) => {
                // It is told when what came before it is judged.
                self.damage = Some(error);
                false
            }
        }
    }

    /// Puts a reply that comes next behind its question, if that comes yet. Within one unit of time that is done besides.
    fn put_behind_question(&mut self) {
        let Some(reply) = self.ahead.front() else {
            return;
        };
        let (Role::Reply(Some(token)), over) = (reply.role, reply.time.map(|(_, end)| end)) else {
            return;
        };
        if self.given.contains(&token) {
            return;
        }
        let mut at = 1;
        while at < self.ahead.len() || self.read(Message::default()) {
            let message = &self.ahead[at];
            if message.role == Role::Question(Some(token)) {
                if over.is_some() && message.time.is_some_and(|(time, _)| Some(time) < over) {
                    return;
                }
                let held = &mut self.ahead.make_contiguous()[..=at];
                let is_meant = |it: &Message| it.role == Role::Reply(Some(token));
                held.sort_by_key(is_meant);
                for reply in held.iter().filter(|it| is_meant(it)) {
                    self.behind.add((reply.line, reply.is_second));
                }
                return;
            }
            at += 1;
        }
    }

    /// Takes note of a message that is handed out.
    fn pass(&mut self, message: &Message) {
        if let Role::Question(Some(token)) = message.role {
            if self.given.len() >= MOST_HELD {
                self.given.pop_front();
            }
            self.given.push_back(token);
        }
        let Some((time, _)) = message.time else {
            return;
        };
        let is_near = |one: Timestamp, other: Timestamp| {
            one.max(other) <= one.min(other).plus_seconds(SLACK_SECONDS)
        };
        match message.role {
            Role::Reply(..) => {
                let place = (message.line, message.is_second);
                if self.last.is_some_and(|last| is_near(last, time)) {
                    self.near.add(place);
                } else if self.since.len() < MOST_HELD {
                    self.since.push((time, place));
                }
            }
            Role::State | Role::Call | Role::End => {
                self.last = self.last.max(Some(time));
                let since = self.since.drain(..);
                for (_, place) in since.filter(|(replied, _)| is_near(*replied, time)) {
                    self.near.add(place);
                }
            }
            Role::Question(_) | Role::Other => {}
        }
    }
}

impl Frames for Clocks<'_> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        if self.ahead.is_empty() {
            self.read(std::mem::take(into));
        }
        self.put_behind_question();
        let Some(message) = self.ahead.pop_front() else {
            return self.damage.take().map_or(Ok(false), Err);
        };
        self.bytes -= message.bytes.len();
        self.pass(&message);
        *into = message;
        Ok(true)
    }

    fn line(&self) -> u64 {
        self.frames.line()
    }

    fn bytes(&self) -> u64 {
        self.frames.bytes()
    }

    fn not_judged(&self) -> Vec<NotJudged> {
        let mut all = self.frames.not_judged();
        // AAEP-6.1-1: two clocks do not say whether a reply came before what it led to.
        let behind = self.behind.told().map(|(count, first)| format!(
            "{}, first on {first}: the clocks of replies and events differ, and replies are put behind their questions; a recording would have to come from one recorder (countersign record)",
            counted(
                count,
                "reply is dated before the event that gave its token out",
                "replies are dated before the event that gave their token out"
            )
        ));
        let near = self.near.told().map(|(count, first)| format!(
            "{} within {SLACK_SECONDS} seconds of a call, a change of state or the end of a session, first on {first}, and the order is that of two clocks: what rests on it alone is not judged; a recording would have to come from one recorder (countersign record)",
            counted(count, "reply stands", "replies stand")
        ));
        let reasons = behind.into_iter().chain(near);
        all.extend(reasons.map(|reason| NotJudged::partly("AAEP-6.1-1", reason)));
        all
    }
}
