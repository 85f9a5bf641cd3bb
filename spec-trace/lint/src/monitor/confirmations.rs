//! The confirmations of a session: what each event and each reply may have made of them.
//!
//! The last confirmations are kept, [`KEPT`] of them or fewer where very many sessions are open, and up to [`KEPT_OPEN`] with
//! those of which nothing has been heard. The others are forgotten, with what they could explain, and
//! [`Confirmations::ask`] names them so that the other monitors forget them too.

use std::collections::BTreeSet;

use super::Notes;
use super::checks::{self, Check, Effect};
use super::confirmation::{Confirmation, FollowUp, Outcomes, goes_back, may_follow};
use super::extension::{Extension, TimeLeft, late_reply};
use super::ordered::Ordered;
use super::seen::hash;
use super::wording::{Action, Fit};
use crate::action_ids::{ActionIds, IdHashes, IdKinds, Relation};
use crate::agent_state::AgentState;
use crate::memory::Memory;
use crate::record::{Decision, Event, EventKind};
use crate::reply::{Answer, Reply, ReplyContent, Sender};
use crate::stream::Settings;
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
pub struct Confirmations {
    by_number: Ordered<usize, Kept>,
    asked: usize,
    replies: Replies,
    /// By how many seconds the clocks may differ by which replies and events are in order; 0 where that is as it was recorded.
    pub slack: i64,
    /// Whether the lines stand in the order of receipt: no reply explains what stands before it.
    pub in_order: bool,
    /// See [`Settings::unknown_senders`].
    unknown_senders: bool,
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
    /// The kinds of id that the questions have, those that are forgotten among them.
    pub kinds: BTreeSet<IdKinds>,
}

/// A confirmation that is kept. It is boxed, for the others move up when it is forgotten; what they are searched by stands
/// beside it.
#[derive(Debug, Clone)]
struct Kept {
    confirmation: Box<Confirmation>,
    line: u64,
    hashes: IdHashes,
}

impl Confirmations {
    /// An empty one.
    pub fn new(replies: Replies, settings: Settings) -> Self {
        Self {
            slack: if settings.two_clocks {
                SLACK_SECONDS
            } else {
                0
            },
            in_order: false,
            unknown_senders: settings.unknown_senders,
            by_number: Ordered::default(),
            asked: 0,
            replies,
            untouched: Ordered::default(),
            touched: Ordered::default(),
            ran_out: Ordered::default(),
            deadlines: Ordered::default(),
            unfollowed: Vec::new(),
            extended: 0,
            stray: 0,
            kinds: BTreeSet::new(),
        }
    }

    pub(crate) fn remember(&self, memory: &mut Memory) {
        let Self {
            by_number,
            asked,
            replies,
            slack,
            in_order,
            // What is asked for.
            unknown_senders: _,
            untouched,
            touched,
            ran_out,
            deadlines,
            unfollowed,
            extended,
            stray,
            kinds,
        } = self;
        memory.value(&(asked, replies, (slack, in_order), untouched, touched));
        memory.value(&(ran_out, deadlines, unfollowed, kinds));
        memory.line(*extended);
        memory.line(*stray);
        memory.each(by_number.iter(), |memory, (number, kept)| {
            memory.value(&number);
            kept.confirmation.remember(memory);
        });
    }

    /// Takes in whether the lines stand in the order of receipt.
    pub fn set_order(&mut self, in_order: bool) {
        self.in_order = in_order;
        for (_, kept) in self.by_number.iter_mut() {
            kept.confirmation.in_order = in_order;
        }
    }

    /// Whether none of the questions that are kept may be open, or be answered with nothing behind it yet.
    pub fn may_none_be_open(&self) -> bool {
        let mut all = self.all();
        self.unfollowed.is_empty() && !all.any(|(_, it)| it.possible.may_be(Outcomes::PENDING))
    }

    /// Whether all replies are in the record.
    pub fn hold_replies(&self) -> bool {
        self.replies == Replies::Recorded
    }

    /// All that are kept, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = (usize, &Confirmation)> {
        self.by_number
            .iter()
            .map(|(number, kept)| (number, &*kept.confirmation))
    }

    /// The confirmation of that number, if it is kept.
    pub fn get(&self, number: usize) -> Option<&Confirmation> {
        let kept = self.by_number.get(number)?;
        Some(&kept.confirmation)
    }

    /// The confirmation of that number, which is kept: a candidate, or one that another monitor has not forgotten.
    ///
    /// # Panics
    ///
    /// When it is not kept.
    pub fn kept(&self, number: usize) -> &Confirmation {
        &self.by_number[number].confirmation
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

    /// Those of which that is so.
    pub fn that_ran_out(&self) -> impl Iterator<Item = usize> {
        self.ran_out.keys()
    }

    /// More time that the question may have been given: by a message of a foreign type without end, else by the producer.
    pub fn extension(&self, confirmation: &Confirmation) -> Option<Extension> {
        let foreign = (confirmation.place.line < self.extended).then_some(Extension {
            line: self.extended,
            until: None,
        });
        foreign.or(confirmation.extension)
    }

    /// AAEP-6.4.2-3: takes in what the producer says of the time that is left.
    pub fn give_time(&mut self, left: &TimeLeft<'_>) {
        for (_, kept) in self.by_number.iter_mut() {
            kept.confirmation.give_time(left);
        }
    }

    /// Whether one of the questions gave out this token.
    pub fn gave_out(&self, token: &str) -> bool {
        !self.with_token(token).is_empty()
    }

    /// Takes in an event of the session, before the monitors judge it. A question is entered by [`Self::ask`] after that.
    pub fn event(&mut self, event: &Event) {
        self.pass_time(event);
        let follow_up = match &event.kind {
            EventKind::StateChanged { from, to } => {
                self.changed(event, (*from, *to));
                FollowUp::StateOrCall
            }
            EventKind::Invoked { .. } => {
                self.called(event);
                for number in std::mem::take(&mut self.ran_out).keys() {
                    self.touch(number);
                }
                FollowUp::StateOrCall
            }
            // The end of the session is judged by what came before it.
            EventKind::Ended(_) => return,
            EventKind::Started
            | EventKind::Progress { .. }
            | EventKind::Completed { .. }
            | EventKind::Output(_)
            | EventKind::Asked(_)
            | EventKind::Clarifying(_)
            | EventKind::Handoff => FollowUp::Event,
        };
        for number in &self.unfollowed {
            if let Some(Kept { confirmation, .. }) = self.by_number.get_mut(*number) {
                confirmation.may_have_crossed(event);
                confirmation.may_show_arrival(event);
                confirmation.follow_up = confirmation.follow_up.max(follow_up);
            }
        }
        if follow_up == FollowUp::StateOrCall {
            self.unfollowed.clear();
        }
    }

    /// AAEP-EV-13: takes in that the call has come which a question names.
    fn called(&mut self, event: &Event) {
        let Some(id) = &event.ids.tool_call_id else {
            return;
        };
        for (_, kept) in self.by_number.iter_mut() {
            if kept.confirmation.ids.tool_call_id.as_ref() == Some(id) {
                kept.confirmation.called.get_or_insert(event.place.line);
            }
        }
    }

    /// The line of the last question before `line` whose own call has come.
    pub(super) fn last_called(&self, line: u64) -> Option<u64> {
        let mut called = self.all().rev().map(|(_, it)| it);
        let called = called.find(|it| it.called.is_some() && it.place.line < line);
        called.map(|it| it.place.line)
    }

    /// Enters a question, and keeps no more than `room` of those of which something was heard. Yields the number of one that
    /// is forgotten for it, and the question itself.
    pub fn ask(
        &mut self,
        mut confirmation: Box<Confirmation>,
        room: usize,
    ) -> Option<(usize, Box<Confirmation>)> {
        let line = confirmation.place.line;
        confirmation.slack = self.slack;
        confirmation.in_order = self.in_order;
        confirmation.unknown_senders = self.unknown_senders;
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
            None => confirmation.add_default(line),
        }
        let kept = Kept {
            line,
            hashes: confirmation.ids.hashes(),
            confirmation,
        };
        self.kinds.insert(kept.confirmation.ids.kinds());
        self.untouched.insert(number, ());
        self.by_number.insert(number, kept);
        self.forget_one(room)
    }

    fn forget_one(&mut self, room: usize) -> Option<(usize, Box<Confirmation>)> {
        let kept = self.by_number.len();
        let touched = self.touched.first().filter(|_| kept > room);
        let any = self.by_number.first();
        let oldest = touched.or_else(|| any.filter(|_| kept > KEPT_OPEN))?;
        let forgotten = self.by_number.remove(oldest)?.confirmation;
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
        (latest, elsewhere): (Option<Timestamp>, bool),
        notes: &mut Notes,
    ) -> (Vec<usize>, Option<Check>) {
        let meant = self.meant(reply);
        let alone = !elsewhere && meant.len() == 1;
        let (mut decided, mut failed) = (Vec::new(), None);
        for number in meant {
            let question = self.kept(number);
            let extension = self.extension(question);
            let mut checks = self.failed(number, reply);
            if checks.is_empty() {
                let mut effect = checks::effect(question, reply, content, (latest, extension));
                effect.certain &= alone;
                effect.near = effect.near.filter(|_| alone);
                match self.decide(number, reply, content, &effect) {
                    Ok(()) => {
                        decided.push(number);
                        self.leave_open(number, reply, content, effect.late_unless, notes);
                        continue;
                    }
                    Err(check) => checks.push(check),
                }
            }
            // AAEP-6.3.5-2: also where it came too late besides, a duplicate may be told that it is one.
            let again = checks[0] == Check::InTime && self.kept(number).answered.is_some();
            failed = Some(if again { Check::Unused } else { checks[0] });
            if content.answer != Answer::Plain(Decision::Reject) {
                self.ignore(number, reply, checks);
            }
        }
        let failed = failed.filter(|_| decided.is_empty());
        (decided, failed)
    }

    /// AAEP-6.3.4-4: whether a reply came in time that was decided behind the deadline and not behind the other one.
    fn leave_open(
        &self,
        number: usize,
        reply: &Reply,
        content: &ReplyContent,
        late_unless: Option<Extension>,
        notes: &mut Notes,
    ) {
        if let (Some(extension), Some(deadline)) = (late_unless, self.kept(number).deadline) {
            let (line, reply) = (self.kept(number).place.line, reply.place.line);
            let reason = late_reply(line, deadline, (reply, content.decided), extension);
            notes.leave_open("AAEP-6.3.4-4", reply, reason);
        }
    }

    /// Takes in a reply with the token of a question that failed a check before it could be read.
    pub fn refuse(&mut self, reply: &Reply) {
        if !reply.asks {
            return;
        }
        for number in self.meant(reply) {
            let checks = self.failed(number, reply);
            self.ignore(number, reply, checks);
        }
    }

    /// The checks that a reply to the question fails whatever it says, and besides them whether that was decided before.
    fn failed(&self, number: usize, reply: &Reply) -> Vec<Check> {
        let question = self.kept(number);
        let mut failed = checks::failed(question, reply, self.extension(question));
        if !failed.is_empty() {
            let time = reply
                .received
                .or(reply.timestamp.and_then(Timestamp::parse));
            failed.extend(question.is_over_at(time));
        }
        failed
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
            kept.hashes.token == mark
                && confirmation.gave_token
                && confirmation.ids.token.as_deref() == Some(token)
        };
        let kept = self.by_number.iter();
        let meant = kept.filter(|(_, kept)| gave_it_out(kept));
        meant.map(|(number, _)| number).collect()
    }

    fn ignore(&mut self, number: usize, reply: &Reply, checks: Vec<Check>) {
        if let Some(Kept { confirmation, .. }) = self.by_number.get_mut(number) {
            confirmation.ignored = Some((reply.place.line, checks));
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
        let Some(Kept { confirmation, .. }) = self.by_number.get_mut(number) else {
            return Ok(());
        };
        let time = reply.received.unwrap_or(content.decided);
        if let Some(check) = confirmation.is_over_at(Some(time)) {
            let may_count = confirmation.closed.is_none() && confirmation.sender_unsaid;
            if may_count && effect.outcomes.may_be(Outcomes::ACCEPTED) {
                confirmation.overruled[0].get_or_insert((reply.place.line, Some(time)));
            }
            return Err(check);
        }
        let certain = effect.certain && confirmation.possible.may_be(Outcomes::PENDING);
        if certain {
            confirmation.possible = confirmation.possible.without(Outcomes::PENDING);
        }
        confirmation.add(effect.outcomes, reply.place.line);
        confirmation.modified |= content.modified;
        if confirmation.answered.is_none() {
            confirmation.answered = Some((reply.place.line, time));
            confirmation.decided = Some((content.decided, reply.received));
            confirmation.near = effect.near;
            confirmation.sender_unsaid = reply.sender == Sender::Unsaid;
            confirmation.may_be_late = reply.received.is_none();
            self.unfollowed.push(number);
        }
        if certain {
            self.touch(number);
        }
        Ok(())
    }

    /// The confirmations that may concern a call with these ids, asked before `line`: those that share an id with it, or
    /// else those of which no id says that they do not. A question whose own call has come is about no call without id.
    pub fn candidates(&self, call: &ActionIds<'_>, line: u64) -> (Vec<usize>, Relation) {
        let mut by_id = (Vec::new(), Relation::Unknown);
        let mut by_order = Vec::new();
        let hashes = call.hashes();
        for (number, kept) in self.by_number.iter() {
            if kept.line >= line {
                break;
            }
            let relation = match kept.hashes.relation(&hashes) {
                Relation::Same(_) | Relation::Unknown => kept.confirmation.relation(call),
                Relation::Different => Relation::Different,
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

    /// Of these questions whether one names the tool, what it is called with and its rating.
    pub fn is_named(&self, call: &Action, candidates: &[usize]) -> bool {
        let names_all = |it: &usize| {
            let question = self.kept(*it);
            call.fits(&question.ids, &question.wording) == Fit::Words
        };
        call.irreversible && call.has_arguments() && candidates.iter().any(names_all)
    }

    /// Of the questions that only their place ties to a call which another names those that are plainly about another: that have
    /// no word in common with it.
    pub fn plainly_of_others(&self, call: &Action, candidates: &[usize]) -> Vec<usize> {
        let others = candidates.iter().copied();
        let others = others.filter(|it| !call.is_named_in(&self.kept(*it).wording));
        others.collect()
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
            let Some(Kept { confirmation, .. }) = self.by_number.get_mut(number) else {
                self.deadlines.remove((deadline, number));
                continue;
            };
            if !confirmation.deadline_may_have_passed(event.sent, event.received) {
                continue;
            }
            self.deadlines.remove((deadline, number));
            if confirmation.possible.may_be(Outcomes::PENDING) {
                confirmation.add_default(event.place.line);
            } else if (confirmation.sender_unsaid || confirmation.may_be_late)
                && confirmation.default_outcome().may_be(Outcomes::ACCEPTED)
            {
                confirmation.overruled[1].get_or_insert((event.place.line, event.sent));
            }
            if self.untouched.contains(number) {
                let own = event.producer == confirmation.producer;
                confirmation.stood_still = event.sent.filter(|_| own);
                self.ran_out.insert(number, ());
            }
        }
    }

    /// AAEP-6.8-3: a change of state may say that a question is withdrawn. One that names a question speaks of that one; another may speak of
    /// any that is open, where it leaves `awaiting_input` or nothing has been heard of the question.
    fn changed(&mut self, event: &Event, (from, to): (Option<&str>, Option<&str>)) {
        let may_follow = may_follow(from, to);
        let awaiting = Some(AgentState::AwaitingInput.name());
        let leaves = from.is_none() || from == awaiting;
        let returns = to.is_none_or(goes_back);
        let names_one = event.ids.token.is_some();
        let numbers: Vec<usize> = match &event.ids.token {
            Some(token) => self.with_token(token),
            None if leaves => self.by_number.keys().collect(),
            None => self.untouched.keys().collect(),
        };
        for number in numbers {
            let Some(Kept { confirmation, .. }) = self.by_number.get_mut(number) else {
                continue;
            };
            if leaves && may_follow {
                confirmation.may_have_left(event, returns);
            }
            if confirmation.may_be_withdrawn_by(event, returns) {
                confirmation.add(Outcomes::CANCELLED, event.place.line);
                let looks_so = from == awaiting && to.is_some();
                let is_unanswered = confirmation.answered.is_none();
                if looks_so && is_unanswered && event.producer == confirmation.producer {
                    confirmation.perhaps_withdrawn = Some(event.place.line);
                }
            }
            if let Some(outcome) = event.outcome.filter(|_| names_one) {
                confirmation.take_stated(outcome);
            }
            if may_follow {
                self.touch(number);
            }
        }
        if !names_one && !leaves && to.is_some() && returns {
            self.changed_elsewhere(event);
        }
    }

    /// AAEP-6.8-3: a withdrawal leaves whatever state other work has led to; but so does the end of that work.
    fn changed_elsewhere(&mut self, event: &Event) {
        for (_, Kept { confirmation, .. }) in self.by_number.iter_mut() {
            let is_certain = confirmation.possible.may_be(Outcomes::CANCELLED);
            if !is_certain
                && confirmation.may_be_withdrawn_by(event, true)
                && event.producer == confirmation.producer
            {
                confirmation.withdrawn_elsewhere = Some(event.place.line);
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
