//! Replies among events that have the same time as finely as it is written (AAEP-EV-3), where both are put together by time.
//!
//! The one thing to know: within the unit of its last digit a time says no order. A reply is put before what it may have led
//! to, and behind its question, so that nobody is accused; that the order is open is said.

use std::collections::VecDeque;
use std::io;

use super::{Boxed, Frames, Message, Role, counted};
use crate::lines::LONGEST_LINE;
use crate::report::NotJudged;
use crate::time::Timestamp;

/// How many messages of one unit are held at most. Behind them the order begins anew with what is read, which is said, and nobody
/// is accused for it.
pub(super) const MOST_HELD: usize = 1024;

/// The replies whose order is open.
#[derive(Default)]
pub(super) struct Moved {
    count: u64,
    /// The line of the first, and whether that is in the second of two files.
    first: (u64, bool),
}

impl Moved {
    pub(super) fn add(&mut self, place: (u64, bool)) {
        if self.count == 0 {
            self.first = place;
        }
        self.count += 1;
    }

    /// How many there are, and where the first stands; nothing where there is none.
    pub(super) fn told(&self) -> Option<(u64, String)> {
        (self.count > 0).then(|| (self.count, place_of(self.first)))
    }
}

/// A line, and of which of two files.
fn place_of((line, is_second): (u64, bool)) -> String {
    let of = if is_second { " of their file" } else { "" };
    format!("line {line}{of}")
}

/// Messages that are in the order of their times.
pub struct Units<'a> {
    frames: Boxed<'a>,
    /// What comes next.
    ready: VecDeque<Message>,
    /// What was read to see that a unit is over.
    ahead: Option<Message>,
    /// A message that was handed out, for its memory.
    spare: Message,
    damage: Option<io::Error>,
    moved: Moved,
    /// The end of the unit that goes on behind what was held of it.
    goes_on: Option<Timestamp>,
    /// The place of the first of the first such unit that has replies: its line, and whether that is in the second of two files.
    unordered: Option<(u64, bool)>,
    begun: (u64, bool),
}

impl<'a> Units<'a> {
    pub fn new(frames: Boxed<'a>) -> Self {
        Self {
            frames,
            ready: VecDeque::new(),
            ahead: None,
            spare: Message::default(),
            damage: None,
            moved: Moved::default(),
            goes_on: None,
            unordered: None,
            begun: (0, false),
        }
    }

    fn read(&mut self) -> Option<Message> {
        if self.damage.is_some() {
            return None;
        }
        let mut message = std::mem::take(&mut self.spare);
        match self.frames.next(&mut message) {
            Ok(is_there) => is_there.then_some(message),
            Err(error) => {
                // It is told when what came before it is judged.
                self.damage = Some(error);
                None
            }
        }
    }

    /// The next message, and those of its unit.
    fn fill(&mut self) {
        let Some(first) = self.ahead.take().or_else(|| self.read()) else {
            return;
        };
        let mut over = first.time.map(|(_, end)| end);
        let (begins, mut bytes) = (first.time.map(|(time, _)| time), first.bytes.len());
        self.ready.push_back(first);
        if over.is_none() {
            return;
        }
        let is_rest = self.goes_on.take().is_some_and(|end| begins < Some(end));
        while let Some(read) = self.read() {
            if read.time.map(|(time, _)| time) >= over {
                self.ahead = Some(read);
                break;
            }
            if self.ready.len() >= MOST_HELD || bytes >= LONGEST_LINE {
                self.ahead = Some(read);
                self.goes_on = over;
                break;
            }
            // A time of fewer digits has a longer unit.
            over = over.max(read.time.map(|(_, end)| end));
            bytes += read.bytes.len();
            self.ready.push_back(read);
        }
        let is_reply = |it: &Message| matches!(it.role, Role::Reply(_));
        let has_replies = self.ready.iter().any(is_reply);
        if self.ready.len() > 1 && has_replies {
            self.arrange();
        }
        if is_rest || self.goes_on.is_some() {
            self.leave_open(is_rest, has_replies);
        }
    }

    /// Notes that there was no room to put the replies of a unit in order.
    fn leave_open(&mut self, is_rest: bool, has_replies: bool) {
        let Some(first) = self.ready.front_mut() else {
            return;
        };
        if !is_rest {
            first.begins_many = true;
            self.begun = (first.line, first.is_second);
        }
        if has_replies {
            first.is_unordered = true;
            self.unordered.get_or_insert(self.begun);
        }
    }

    fn arrange(&mut self) {
        let ready = self.ready.make_contiguous();
        put_behind_questions(ready, &mut self.moved);
        // Where the session ends in that unit and nothing was called, a reply may have come behind its end.
        let has = |role| ready.iter().any(|it| it.role == role);
        if !has(Role::End) || has(Role::Call) {
            put_before_what_followed(ready, &mut self.moved);
        }
    }
}

/// A reply whose time has fewer digits than that of its question may stand before it.
fn put_behind_questions(ready: &mut [Message], moved: &mut Moved) {
    // The last first, so that they keep their own order.
    for at in (0..ready.len()).rev() {
        let Role::Reply(token) = ready[at].role else {
            continue;
        };
        let asks = |it: &Message| it.role == Role::Question(token);
        let end = ready[at].time.map(|(_, end)| end);
        let is_within = |it: &Message| it.time.is_some_and(|(time, _)| Some(time) < end);
        let question = (at + 1..ready.len()).find(|it| asks(&ready[*it]) && is_within(&ready[*it]));
        if let Some(to) = question
            && !ready[..at].iter().any(asks)
        {
            ready[at..=to].rotate_left(1);
            moved.add((ready[to].line, ready[to].is_second));
        }
    }
}

/// Puts replies before what they may have led to, behind their questions. They keep their own order.
fn put_before_what_followed(ready: &mut [Message], moved: &mut Moved) {
    let mut behind = 0;
    for at in 0..ready.len() {
        let Role::Reply(token) = ready[at].role else {
            continue;
        };
        let asks = |it: &Message| it.role == Role::Question(token);
        let question = ready[..at].iter().rposition(asks);
        let from = question.map_or(behind, |it| behind.max(it + 1));
        let replied = ready[at].time.map(|(time, _)| time);
        let led_to = |it: &usize| {
            matches!(ready[*it].role, Role::State | Role::Call)
                && ready[*it].time.is_some_and(|(_, end)| replied < Some(end))
        };
        let to = (from..at).find(led_to);
        behind = to.unwrap_or(at) + 1;
        if let Some(to) = to {
            ready[to..=at].rotate_right(1);
            moved.add((ready[to].line, ready[to].is_second));
        }
    }
}

impl Frames for Units<'_> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        if self.ready.is_empty() {
            self.fill();
        }
        match self.ready.pop_front() {
            Some(message) => self.spare = std::mem::replace(into, message),
            None => return self.damage.take().map_or(Ok(false), Err),
        }
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
        // AAEP-EV-3, AAEP-6.1-1: within its last digit a time does not say whether a reply came before what it led to.
        let moved = self.moved.told().map(|(count, first)| format!(
            "{}, as finely as that is written, first on {first}: which came first does not show, and replies are taken to have, behind their questions; a recording would have to hold finer times",
            counted(
                count,
                "reply has the same time as events around it",
                "replies have the same time as events around them"
            )
        ));
        let unordered = self.unordered.map(|first| format!(
            "more than {MOST_HELD} messages, or {} MiB, have the same time, as finely as that is written, from {} on, and replies are among them: which came first does not show, and from there on what rests on it is not judged; a recording would have to hold finer times",
            LONGEST_LINE >> 20,
            place_of(first)
        ));
        let reasons = moved.into_iter().chain(unordered);
        all.extend(reasons.map(|reason| NotJudged::partly("AAEP-6.1-1", reason)));
        all
    }
}
