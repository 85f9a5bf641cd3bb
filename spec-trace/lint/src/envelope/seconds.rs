//! Replies among events whose times are whole seconds (AAEP-EV-3), where both are put together by their times.
//!
//! The one thing to know: within such a second the order is open. A reply is put before what it may have led to, behind its
//! question, so that nobody is accused; that the order is open is said.

use std::collections::VecDeque;
use std::io;

use super::joined::{time_of, time_text};
use super::values::parts;
use super::{Boxed, Frames, Message};
use crate::time::Timestamp;

/// What a message is to the order of those of its second.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    Reply(Vec<u8>),
    Question(Vec<u8>),
    /// A reply may have led to it, or to a call.
    State,
    Call,
    End,
    Other,
}

impl Role {
    fn of(record: &[u8]) -> Self {
        let record = record.trim_ascii();
        let Ok([name, token, message]) = parts(record, ["type", "reply_token", "message"]) else {
            return Self::Other;
        };
        if let (None, Some(message)) = (&name, message) {
            return Self::of(&record[message]);
        }
        let name = name.map(|at| record[at].trim_ascii()).unwrap_or_default();
        let is = |kind: &str| {
            name.strip_suffix(b"\"")
                .is_some_and(|it| it.ends_with(kind.as_bytes()))
        };
        let token = token.map(|at| record[at].to_vec()).unwrap_or_default();
        match () {
            () if is("confirmation.reply") || is("clarification.reply") => Self::Reply(token),
            () if is("awaiting.confirmation") || is("awaiting.clarification") => {
                Self::Question(token)
            }
            () if is("state.changed") => Self::State,
            () if is("tool.invoked") => Self::Call,
            () if ["completed", "errored", "cancelled"]
                .iter()
                .any(|it| is(&format!("session.{it}"))) =>
            {
                Self::End
            }
            () => Self::Other,
        }
    }
}

/// Messages that are in the order of their times.
pub struct Seconds<'a> {
    frames: Boxed<'a>,
    /// What comes next.
    ready: VecDeque<Message>,
    /// What was read to see that a second is over.
    ahead: Option<Message>,
    damage: Option<io::Error>,
    /// How many replies were put before something, and the line of the first and whether that is in the second of two files.
    moved: u64,
    first: (u64, bool),
}

impl<'a> Seconds<'a> {
    pub fn new(frames: Boxed<'a>) -> Self {
        Self {
            frames,
            ready: VecDeque::new(),
            ahead: None,
            damage: None,
            moved: 0,
            first: (0, false),
        }
    }

    fn read(&mut self) -> Option<Message> {
        if self.damage.is_some() {
            return None;
        }
        let mut message = Message::default();
        match self.frames.next(&mut message) {
            Ok(is_there) => is_there.then_some(message),
            Err(error) => {
                // It is told when what came before it is judged.
                self.damage = Some(error);
                None
            }
        }
    }

    /// The next message, and those of its second if that is all that its time says.
    fn fill(&mut self) {
        let Some(first) = self.ahead.take().or_else(|| self.read()) else {
            return;
        };
        let over = whole_second(&first.bytes).map(|it| it.plus_seconds(1));
        self.ready.push_back(first);
        let Some(over) = over else {
            return;
        };
        while let Some(message) = self.read() {
            if time_of(&message.bytes).is_some_and(|it| it >= over) {
                self.ahead = Some(message);
                break;
            }
            self.ready.push_back(message);
        }
        self.arrange();
    }

    /// Puts the replies of the second before what they may have led to. They keep their own order.
    fn arrange(&mut self) {
        let mut roles: Vec<Role> = self.ready.iter().map(|it| Role::of(&it.bytes)).collect();
        // Where the session ends in that second and nothing was called, a reply may have come behind its end.
        if roles.contains(&Role::End) && !roles.contains(&Role::Call) {
            return;
        }
        let mut behind = 0;
        for at in 0..roles.len() {
            let Role::Reply(token) = &roles[at] else {
                continue;
            };
            let asks = |it: &Role| matches!(it, Role::Question(asked) if asked == token);
            let question = roles[..at].iter().rposition(asks);
            let from = question.map_or(behind, |it| behind.max(it + 1));
            let led_to = |it: &usize| {
                matches!(roles[*it], Role::State | Role::Call)
                    && whole_second(&self.ready[*it].bytes).is_some()
            };
            let to = (from..at).find(led_to);
            behind = to.unwrap_or(at) + 1;
            if let Some(to) = to {
                roles[to..=at].rotate_right(1);
                self.ready.make_contiguous()[to..=at].rotate_right(1);
                let reply = &self.ready[to];
                if self.moved == 0 {
                    self.first = (reply.line, reply.is_second);
                }
                self.moved += 1;
            }
        }
    }
}

/// The time of an event that says no more than its second.
fn whole_second(record: &[u8]) -> Option<Timestamp> {
    let text = time_text(record)?;
    (Timestamp::fractional_digits(&text) == 0)
        .then(|| Timestamp::parse(&text))
        .flatten()
}

impl Frames for Seconds<'_> {
    fn next(&mut self, into: &mut Message) -> io::Result<bool> {
        if self.ready.is_empty() {
            self.fill();
        }
        match self.ready.pop_front() {
            Some(message) => *into = message,
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

    fn order_open(&self) -> Option<String> {
        let (line, is_second) = self.first;
        let of = if is_second { " of their file" } else { "" };
        let moved = self.moved;
        (moved > 0).then(|| format!(
            "{moved} replies came in the same second as the events around them, whose times are whole seconds, first on line {line}{of}: which came first does not show, and the replies are taken to have; a recording would have to hold its times in milliseconds"
        ))
    }
}
