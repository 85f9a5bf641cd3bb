//! The confirmations of a session: what each event and each reply may have made of them.
//!
//! The last confirmations are kept, [`KEPT`] of them or fewer where very many sessions are open, and up to [`KEPT_OPEN`] with
//! those of which nothing has been heard. The others are forgotten, with what they could explain, and [`Ledger::ask`] names
//! them so that the other books forget them too.

use super::checks::{Check, Effect, effect};
use super::confirmation::{Confirmation, FollowUp, Outcomes, may_withdraw};
use super::ordered::Ordered;
use super::seen::hash;
use crate::memory::Memory;
use crate::record::{Decision, Event, EventKind};
use crate::reply::{Answer, Reply, ReplyContent};
use crate::ties::{Marks, Relation, Ties};
use crate::time::Timestamp;

/// Seconds that a reply may be on its way, and that a recorder may be late in logging one. Within this time of the
/// deadline the record cannot tell whether the reply or the timeout came first.
pub const SLACK_SECONDS: i64 = 5;

/// Confirmations that are kept of a session, where there is room.
pub const KEPT: usize = 64;

/// The same where there is little: so many sessions are open that all of them together would take too much.
const KEPT_AT_LEAST: usize = 2;

/// Confirmations that are kept of all sessions together, where each has its least.
const KEPT_OF_ALL: usize = 1 << 14;

/// How many confirmations each of so many open sessions may keep.
pub fn room(sessions: usize) -> usize {
    (KEPT_OF_ALL / sessions.max(1)).clamp(KEPT_AT_LEAST, KEPT)
}

/// The same, with those of which nothing has been heard yet.
pub const KEPT_OPEN: usize = 512;

/// Whether the stream shows what subscribers said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Replies {
    /// All replies are in the record.
    Recorded,
    /// None is: each confirmation may have been answered either way at any time.
    Unseen,
}

/// The confirmations of one session, in the order in which they were asked.
#[derive(Debug, Clone)]
pub struct Ledger {
    confirmations: Ordered<usize, Kept>,
    asked: usize,
    replies: Replies,
    /// Those of which no event so far may say what became of them, and no reply for sure.
    untouched: Ordered<usize>,
    /// The others that are kept.
    touched: Ordered<usize>,
    /// Those of the untouched whose deadline may have passed.
    ran_out: Ordered<usize>,
    /// The deadlines that have not passed, by whichever clock they pass first.
    deadlines: Ordered<(Timestamp, usize)>,
    /// Those that were answered, or may have been off the record, and not followed by a state or call yet.
    unfollowed: Vec<usize>,
    /// The line of the last message that may have granted the questions before it more time (AAEP-6.4.2-3).
    pub extended: u64,
    /// The line of the last acceptance with a token that nobody gave out.
    pub stray: u64,
}

/// A confirmation that is kept. It is boxed, for the others move up when it is forgotten; what they are searched by stands
/// beside it.
#[derive(Debug, Clone)]
struct Kept {
    confirmation: Box<Confirmation>,
    line: u64,
    marks: Marks,
}

impl Ledger {
    /// An empty one.
    pub fn new(replies: Replies) -> Self {
        Self {
            confirmations: Ordered::default(),
            asked: 0,
            replies,
            untouched: Ordered::default(),
            touched: Ordered::default(),
            ran_out: Ordered::default(),
            deadlines: Ordered::default(),
            unfollowed: Vec::new(),
            extended: 0,
            stray: 0,
        }
    }

    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            confirmations,
            asked,
            replies,
            untouched,
            touched,
            ran_out,
            deadlines,
            unfollowed,
            extended,
            stray,
        } = self;
        memory.value(&(asked, replies, untouched, touched));
        memory.value(&(ran_out, deadlines, unfollowed));
        memory.line(*extended);
        memory.line(*stray);
        memory.each(confirmations.iter(), |memory, (number, kept)| {
            memory.value(&number);
            kept.confirmation.remember(memory);
        });
    }

    /// All that are kept, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = (usize, &Confirmation)> {
        self.confirmations
            .iter()
            .map(|(number, kept)| (number, &*kept.confirmation))
    }

    /// The confirmation of that number, if it is kept.
    pub fn get(&self, number: usize) -> Option<&Confirmation> {
        let kept = self.confirmations.get(number)?;
        Some(&kept.confirmation)
    }

    /// The confirmation of that number, which is kept: a candidate, or one that another book has not forgotten.
    ///
    /// # Panics
    ///
    /// When it is not kept.
    pub fn kept(&self, number: usize) -> &Confirmation {
        &self.confirmations[number].confirmation
    }

    /// The number of the question that is entered next.
    pub fn next_number(&self) -> usize {
        self.asked
    }

    /// Whether no event so far may say what became of the question, and no reply for sure.
    pub fn is_untouched(&self, number: usize) -> bool {
        self.untouched.contains(number)
    }

    /// Whether an event came after the deadline of a question of which nothing has been heard.
    pub fn has_run_out(&self, number: usize) -> bool {
        self.ran_out.contains(number)
    }

    /// Whether the question may have been granted more time.
    pub fn may_be_extended(&self, confirmation: &Confirmation) -> bool {
        confirmation.place.line < self.extended
    }

    /// Takes in an event of the session, before the monitors judge it. A question is entered by [`Self::ask`] after that.
    pub fn event(&mut self, event: &Event) {
        self.pass_time(event);
        let follow_up = match &event.kind {
            EventKind::StateChanged { from, to } => {
                self.changed(event, may_withdraw(*from, *to));
                FollowUp::StateOrCall
            }
            EventKind::Invoked { .. } => {
                for number in std::mem::take(&mut self.ran_out).keys() {
                    self.touch(number);
                }
                FollowUp::StateOrCall
            }
            // The end of the session is judged by what came before it.
            EventKind::Ended(_) => return,
            EventKind::Started
            | EventKind::Progress
            | EventKind::Completed { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => FollowUp::Event,
        };
        for number in &self.unfollowed {
            if let Some(Kept { confirmation, .. }) = self.confirmations.get_mut(*number) {
                confirmation.may_have_crossed(event);
                confirmation.follow_up = confirmation.follow_up.max(follow_up);
            }
        }
        if follow_up == FollowUp::StateOrCall {
            self.unfollowed.clear();
        }
    }

    /// Enters a question, and keeps no more than `room` of those of which something was heard. Yields the number of one that
    /// is forgotten for it, and the question itself.
    pub fn ask(
        &mut self,
        mut confirmation: Box<Confirmation>,
        room: usize,
    ) -> Option<(usize, Box<Confirmation>)> {
        let line = confirmation.place.line;
        if self.replies == Replies::Unseen {
            confirmation.add(Outcomes::ACCEPTED.or(Outcomes::REJECTED), line);
        }
        let number = self.asked;
        self.asked += 1;
        if self.replies == Replies::Unseen {
            // Whatever becomes of it, something follows.
            self.unfollowed.push(number);
        }
        match confirmation.first_deadline() {
            Some(deadline) => self.deadlines.insert((deadline, number), ()),
            None => confirmation.add(confirmation.default_outcome(), line),
        }
        let kept = Kept {
            line,
            marks: confirmation.ties.marks(),
            confirmation,
        };
        self.untouched.insert(number, ());
        self.confirmations.insert(number, kept);
        self.forget_one(room)
    }

    fn forget_one(&mut self, room: usize) -> Option<(usize, Box<Confirmation>)> {
        let kept = self.confirmations.len();
        let touched = self.touched.first().filter(|_| kept > room);
        let any = self.confirmations.first();
        let oldest = touched.or_else(|| any.filter(|_| kept > KEPT_OPEN))?;
        let forgotten = self.confirmations.remove(oldest)?.confirmation;
        self.touched.remove(oldest);
        self.untouched.remove(oldest);
        self.ran_out.remove(oldest);
        self.unfollowed.retain(|number| *number != oldest);
        if let Some(deadline) = forgotten.first_deadline() {
            self.deadlines.remove((deadline, oldest));
        }
        Some((oldest, forgotten))
    }

    /// Takes in a reply. Yields the confirmations that it may have decided and, where it decided none, the check that it
    /// failed.
    ///
    /// Two producers may have given out the same token, and a reply names neither: then it may be meant for either question,
    /// and is certain of none. `elsewhere` says that a question of another session has the token.
    pub fn reply(
        &mut self,
        reply: &Reply,
        content: &ReplyContent,
        latest: Option<Timestamp>,
        elsewhere: bool,
    ) -> (Vec<usize>, Option<Check>) {
        let meant = self.meant(reply);
        let alone = !elsewhere && meant.len() == 1;
        let (mut decided, mut failed) = (Vec::new(), None);
        for number in meant {
            let extended = self.may_be_extended(self.kept(number));
            let effect = effect(self.kept(number), reply, content, (latest, extended));
            let outcome = effect.and_then(|mut effect| {
                effect.certain &= alone;
                self.decide(number, reply, content, &effect)
            });
            match outcome {
                Ok(()) => decided.push(number),
                Err(check) => {
                    if content.answer != Answer::Plain(Decision::Reject) {
                        self.ignore(number, reply, check);
                    }
                    // AAEP-6.3.5-2: also where it came too late besides, a duplicate may be told that it is one.
                    let again = check == Check::InTime && self.kept(number).answered.is_some();
                    failed = Some(if again { Check::Unused } else { check });
                }
            }
        }
        let failed = failed.filter(|_| decided.is_empty());
        (decided, failed)
    }

    /// Takes in a reply with the token of a question that failed a check before it could be read.
    pub fn refuse(&mut self, reply: &Reply, check: Check) {
        for number in self.meant(reply) {
            self.ignore(number, reply, check);
        }
    }

    fn meant(&self, reply: &Reply) -> Vec<usize> {
        let meant = reply.token.map(|token| self.with_token(token));
        meant.unwrap_or_default()
    }

    /// The questions that gave out this token.
    fn with_token(&self, token: &str) -> Vec<usize> {
        let mark = Some(hash(&token));
        let gave_it_out = |kept: &Kept| {
            let Kept { confirmation, .. } = kept;
            kept.marks.token == mark
                && confirmation.gave_token
                && confirmation.ties.token.as_deref() == Some(token)
        };
        let kept = self.confirmations.iter();
        let meant = kept.filter(|(_, kept)| gave_it_out(kept));
        meant.map(|(number, _)| number).collect()
    }

    fn ignore(&mut self, number: usize, reply: &Reply, check: Check) {
        if let Some(Kept { confirmation, .. }) = self.confirmations.get_mut(number) {
            confirmation.ignored = Some((reply.place.line, check));
        }
    }

    /// Lets a reply have its effect on one confirmation.
    fn decide(
        &mut self,
        number: usize,
        reply: &Reply,
        content: &ReplyContent,
        effect: &Effect,
    ) -> Result<(), Check> {
        let Some(Kept { confirmation, .. }) = self.confirmations.get_mut(number) else {
            return Ok(());
        };
        let mut certain = false;
        if let Some(check) = confirmation.closed {
            return Err(check);
        }
        let time = reply.received.unwrap_or(content.decided);
        if confirmation.possible.may_be(Outcomes::PENDING) {
            if effect.certain {
                confirmation.possible = confirmation.possible.without(Outcomes::PENDING);
                certain = true;
            }
        } else if confirmation.answered.is_none_or(|(_, first)| time >= first) {
            // AAEP-6.3.5-1: a later reply has no effect. One that is dated before the first may have arrived before it.
            return Err(Check::Unused);
        }
        confirmation.add(effect.outcomes, reply.place.line);
        if confirmation.answered.is_none() {
            confirmation.answered = Some((reply.place.line, time));
            self.unfollowed.push(number);
        }
        if certain {
            self.touch(number);
        }
        Ok(())
    }

    /// The confirmations that may concern a call with these ids, asked before `line`: those that share an id with it, or
    /// else those of which no id says that they do not.
    pub fn candidates(&self, call: &Ties<'_>, line: u64) -> (Vec<usize>, Relation) {
        let mut by_id = (Vec::new(), Relation::Unknown);
        let mut by_order = Vec::new();
        let marks = call.marks();
        for (number, kept) in self.confirmations.iter() {
            if kept.line >= line {
                break;
            }
            let relation = match kept.marks.relation(&marks) {
                Relation::Same(_) => kept.confirmation.ties.relation(call),
                other @ (Relation::Different | Relation::Unknown) => other,
            };
            match relation {
                same @ Relation::Same(_) => {
                    by_id.0.push(number);
                    by_id.1 = same;
                }
                Relation::Unknown => by_order.push(number),
                Relation::Different => {}
            }
        }
        if by_id.0.is_empty() {
            (by_order, Relation::Unknown)
        } else {
            by_id
        }
    }

    fn pass_time(&mut self, event: &Event) {
        let Some(now) = event.sent.max(event.received) else {
            return;
        };
        if self.deadlines.first().is_none_or(|(first, _)| first > now) {
            return;
        }
        let passed: Vec<_> = self.deadlines.up_to((now, usize::MAX)).collect();
        for (deadline, number) in passed {
            let Some(Kept { confirmation, .. }) = self.confirmations.get_mut(number) else {
                self.deadlines.remove((deadline, number));
                continue;
            };
            if !confirmation.deadline_may_have_passed(event.sent, event.received) {
                continue;
            }
            self.deadlines.remove((deadline, number));
            if confirmation.possible.may_be(Outcomes::PENDING) {
                confirmation.add(confirmation.default_outcome(), event.place.line);
            }
            if self.untouched.contains(number) {
                self.ran_out.insert(number, ());
            }
        }
    }

    /// AAEP-6.8-3: a change of state may say that a question is withdrawn. One that names a question speaks of that one.
    fn changed(&mut self, event: &Event, may_withdraw: bool) {
        let numbers: Vec<usize> = match &event.ties.token {
            Some(token) => self.with_token(token),
            None => self.untouched.keys().collect(),
        };
        for number in numbers {
            let Some(Kept { confirmation, .. }) = self.confirmations.get_mut(number) else {
                continue;
            };
            let may_be_withdrawn = may_withdraw && !event.says_accepted();
            if confirmation.possible.may_be(Outcomes::PENDING) && may_be_withdrawn {
                confirmation.add(Outcomes::CANCELLED, event.place.line);
            }
            if let Some(outcome) = event.outcome.filter(|_| event.ties.token.is_some()) {
                confirmation.told(outcome);
            }
            if may_withdraw {
                self.touch(number);
            }
        }
    }

    fn touch(&mut self, number: usize) {
        if self.untouched.remove(number).is_some() {
            self.ran_out.remove(number);
            self.touched.insert(number, ());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_of_a_session_shrinks_with_their_number_and_never_vanishes() {
        let shared = KEPT_OF_ALL / KEPT;
        for (sessions, expected) in [
            (0, KEPT),
            (1, KEPT),
            (shared, KEPT),
            (2 * shared, KEPT / 2),
            (KEPT_OF_ALL / KEPT_AT_LEAST, KEPT_AT_LEAST),
            (KEPT_OF_ALL, KEPT_AT_LEAST),
            (usize::MAX, KEPT_AT_LEAST),
        ] {
            assert_eq!(room(sessions), expected, "{sessions}");
        }
    }
}
