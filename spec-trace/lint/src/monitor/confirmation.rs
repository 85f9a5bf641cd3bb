//! One confirmation, and what may have become of it.
//!
//! The record does not show everything: a timeout is invisible, a cancellation looks like any change of state, a reply
//! that was sent in time may have arrived too late. So there is a set of possible outcomes. It grows when something may have
//! happened and shrinks only when something must have.

use std::fmt;

use super::checks::Check;
use super::extension::{Extension, TimeLeft};
use super::seen::hash;
use super::wording::Wording;
use crate::action_ids::{ActionIds, Relation};
use crate::agent_state::AgentState;
use crate::finding::Place;
use crate::memory::Memory;
use crate::record::{Allowed, Decision, Event, EventKind, Risk, StatedOutcome};
use crate::time::Timestamp;

/// A set of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcomes(u8);

impl Outcomes {
    /// None at all.
    pub const NONE: Self = Self(0);
    /// Still open.
    pub const PENDING: Self = Self(1);
    /// Accepted, by reply or by default.
    pub const ACCEPTED: Self = Self(2);
    /// Rejected, by reply or by default.
    pub const REJECTED: Self = Self(4);
    /// Cancelled by the producer.
    pub const CANCELLED: Self = Self(8);

    /// The outcomes of either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The outcomes of `self` that `other` has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the sets share an outcome.
    pub const fn may_be(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The outcomes in words.
    pub fn words(self) -> Vec<&'static str> {
        [
            (Self::PENDING, "pending"),
            (Self::ACCEPTED, "accepted"),
            (Self::REJECTED, "rejected"),
            (Self::CANCELLED, "cancelled"),
        ]
        .into_iter()
        .filter(|(outcome, _)| self.may_be(*outcome))
        .map(|(_, word)| word)
        .collect()
    }
}

/// What a confirmation was followed by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FollowUp {
    /// No event of the session.
    Nothing,
    /// An event that is neither of the following.
    Event,
    /// A state.changed or a tool.invoked.
    StateOrCall,
}

/// Why a decision may not have counted, and what in a recording would tell.
#[derive(Debug, Clone, Copy)]
pub enum Doubt {
    /// AAEP-6.3.4-5: the reply on that line may be of a sender who is not known.
    Sender(u64),
    /// AAEP-6.4-1: it may have arrived behind the timeout.
    Arrival(u64),
    /// AAEP-6.8-3: the state.changed on that line may have withdrawn the question.
    Withdrawn(u64),
}

impl fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sender(reply) => write!(
                formatter,
                "the sender of the reply on line {reply} was not authenticated, or its subscription not open; \"sender\" in its record would tell"
            ),
            Self::Arrival(reply) => write!(
                formatter,
                "the reply on line {reply} arrived behind the timeout; \"at\" in its record would tell"
            ),
            Self::Withdrawn(changed) => write!(
                formatter,
                "the state.changed on line {changed} withdrew the question; extensions.countersign.outcome would tell"
            ),
        }
    }
}

/// One confirmation.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says something of its own"
)]
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// The line of the question.
    pub place: Place,
    /// Who asked.
    pub producer: String,
    /// The ids of its action.
    pub ids: ActionIds<'static>,
    /// Whether the token among them is its own; else it only names another.
    pub(super) gave_token: bool,
    /// The hash of `action` and `consequence`.
    pub prose: u64,
    /// What it says of its action.
    pub(super) wording: Wording,
    /// What may have become of it.
    pub possible: Outcomes,
    /// The line from which on an acceptance was possible.
    pub acceptable_from: Option<u64>,
    /// The same for one by a reply.
    pub(super) answerable_from: Option<u64>,
    /// The line of a change of state before any reply that looks as if it was withdrawn.
    pub(super) perhaps_withdrawn: Option<u64>,
    /// The reply that decided it: line and time.
    pub answered: Option<(u64, Timestamp)>,
    /// When that reply says that it was decided, and when it was received.
    pub(super) decided: Option<(Timestamp, Option<Timestamp>)>,
    /// What that reply says, where it came so near to the deadline that the timeout may have come first.
    pub(super) near: Option<Decision>,
    /// By how many seconds the clocks may differ by which replies and events are in order.
    pub(super) slack: i64,
    /// Whether the lines stand in the order of receipt.
    pub(super) in_order: bool,
    /// The last change of state before the reply that decided it, or the first behind that so near that it may have come before, where
    /// two clocks say which.
    left: Option<(u64, Timestamp)>,
    /// The last reply to it that had to be ignored: its line, and the checks that it failed, the one that tells most first.
    pub ignored: Option<(u64, Vec<Check>)>,
    /// Whether nothing says that the sender of that reply is known.
    pub(super) sender_unsaid: bool,
    /// Whether it may not have counted then: see [`crate::stream::Settings::unknown_senders`].
    pub(super) unknown_senders: bool,
    /// Whether nothing says that it arrived before the deadline, whenever it was decided.
    pub(super) may_be_late: bool,
    /// The line of a change of state that may have withdrawn it although it left another state than `awaiting_input`, as it does
    /// where other work is done while the question is open (AAEP-6.1-4).
    pub(super) withdrawn_elsewhere: Option<u64>,
    /// Where and when it was accepted, by a later reply and by its default, if that reply did not count.
    pub(super) overruled: [Option<(u64, Option<Timestamp>)>; 2],
    /// Whether the answer changes the action.
    pub modified: bool,
    /// What followed the answer; where no answers are recorded, the question.
    pub follow_up: FollowUp,
    /// What it does when nobody answers.
    pub default: Option<Decision>,
    /// AAEP-6.4.1-1, AAEP-6.4.1-2: whether its default may be to accept.
    default_may_accept: bool,
    /// When it was asked by the producer's clock.
    pub asked: Option<Timestamp>,
    /// When it runs out by that clock.
    pub deadline: Option<Timestamp>,
    deadline_received: Option<Timestamp>,
    /// When its producer first put out an event behind the deadline, with nothing heard of it until then.
    pub(super) stood_still: Option<Timestamp>,
    /// More time that it may have been given by a progress.updated.
    pub(super) extension: Option<Extension>,
    /// `allowed_replies`.
    pub allowed: Allowed,
    /// The line of the first call with its `tool_call_id`. It is about that one, for the id is no other's (AAEP-EV-13).
    pub called: Option<u64>,
    /// The producer has said that it was accepted.
    said_accepted: bool,
    /// The producer has said that it is over: the check that a later reply fails.
    pub(super) closed: Option<Check>,
}

impl Confirmation {
    /// The confirmation that an event asks for, if it does.
    pub fn asked(event: &Event) -> Option<Self> {
        let EventKind::Asked(question) = &event.kind else {
            return None;
        };
        let after_timeout =
            |moment: Option<Timestamp>| Some(moment?.plus_seconds(question.timeout?));
        Some(Self {
            place: event.place.to_keep(),
            producer: event.producer.to_owned(),
            ids: event.ids.to_keep(),
            gave_token: question.token.is_some(),
            prose: hash(&question.prose),
            wording: Wording::of(question),
            possible: Outcomes::PENDING,
            acceptable_from: None,
            answerable_from: None,
            perhaps_withdrawn: None,
            answered: None,
            decided: None,
            near: None,
            ignored: None,
            slack: 0,
            in_order: false,
            left: None,
            sender_unsaid: false,
            unknown_senders: false,
            may_be_late: false,
            withdrawn_elsewhere: None,
            overruled: [None; 2],
            modified: false,
            follow_up: FollowUp::Nothing,
            default: question.default,
            default_may_accept: !question.irreversible
                || !matches!(question.risk, Some(Risk::High | Risk::Medium)),
            asked: event.sent,
            deadline: after_timeout(event.sent),
            deadline_received: after_timeout(event.received),
            stood_still: None,
            extension: None,
            allowed: question.allowed.clone(),
            called: None,
            said_accepted: false,
            closed: None,
        })
    }

    pub(super) fn remember(&self, memory: &mut Memory) {
        let Self {
            place,
            producer,
            ids,
            gave_token,
            prose,
            wording,
            possible,
            acceptable_from,
            answerable_from,
            perhaps_withdrawn,
            answered,
            decided,
            near,
            ignored,
            slack,
            in_order,
            left,
            sender_unsaid,
            // What is asked for.
            unknown_senders: _,
            may_be_late,
            withdrawn_elsewhere,
            overruled,
            modified,
            follow_up,
            default,
            default_may_accept,
            asked,
            deadline,
            deadline_received,
            stood_still,
            extension,
            allowed,
            called,
            said_accepted,
            closed,
        } = self;
        memory.line(place.line);
        let lines = [acceptable_from, answerable_from, perhaps_withdrawn, called];
        for line in lines.into_iter().chain([withdrawn_elsewhere]) {
            memory.line(line.unwrap_or_default());
        }
        memory.value(&(producer, ids, prose, wording));
        memory.value(&(possible, follow_up, default));
        memory.value(default_may_accept);
        memory.value(&(asked, deadline, deadline_received, allowed, (decided, near)));
        memory.value(&(
            gave_token,
            said_accepted,
            closed,
            modified,
            sender_unsaid,
            may_be_late,
        ));
        memory.each(overruled.iter().flatten(), |memory, (line, moment)| {
            memory.line(*line);
            memory.value(moment);
        });
        memory.value(&(slack, in_order, left));
        memory.value(&(stood_still, extension.map(|it| it.until)));
        memory.each(answered.iter(), |memory, (line, moment)| {
            memory.line(*line);
            memory.value(moment);
        });
        memory.each(ignored.iter(), |memory, (line, checks)| {
            memory.line(*line);
            memory.value(checks);
        });
    }

    /// What the ids say of a call, or nothing where it is about another call by its own.
    pub(super) fn relation(&self, call: &ActionIds<'_>) -> Relation {
        match self.ids.relation(call) {
            Relation::Unknown if self.called.is_some() && call.tool_call_id.is_none() => {
                Relation::Different
            }
            told @ (Relation::Same(_) | Relation::Different | Relation::Unknown) => told,
        }
    }

    /// AAEP-6.3.5-1, AAEP-6.8-4: the check that a reply of that time fails because the question is decided or withdrawn. A later reply
    /// has no effect; one that is dated before the first may have arrived before it.
    pub(super) fn is_over_at(&self, time: Option<Timestamp>) -> Option<Check> {
        let is_pending = self.possible.may_be(Outcomes::PENDING);
        let is_later = |(_, first)| time.is_some_and(|time| time >= first);
        let is_used = !is_pending && self.answered.is_none_or(is_later);
        self.closed.or(is_used.then_some(Check::Unused))
    }

    /// Whether a call on `line` may be explained by it, if need be by an acceptance for want of a reply.
    pub fn may_explain(&self, line: u64, by_default: bool) -> bool {
        let from = if by_default {
            self.acceptable_from
        } else {
            self.answerable_from
        };
        from.is_some_and(|from| from <= line)
    }

    /// AAEP-6.4-1: whether it was accepted by default for sure, so many seconds of patience included: nobody has answered it, and
    /// nothing else can have become of it.
    pub(super) fn is_accepted_by_default(&self, now: Option<Timestamp>, patience: i64) -> bool {
        let other = Outcomes::PENDING.or(Outcomes::ACCEPTED);
        let ends = self.deadline.map(|it| it.plus_seconds(patience));
        self.answered.is_none()
            && self.closed.is_none()
            && self.default == Some(Decision::Accept)
            && self.default_may_accept
            && self.possible.without(other) == Outcomes::NONE
            && ends.is_some_and(|ends| now.is_some_and(|now| ends <= now))
    }

    /// AAEP-6.3.4-4: whether it was accepted so near to its timeout that this may have come first, if it were not still to come `now`, by the
    /// producer's own clock. That may have been set back by less than a second.
    pub(super) fn is_accepted_before_its_timeout(&self, now: Option<Timestamp>) -> bool {
        let of_time = Outcomes::PENDING
            .or(Outcomes::ACCEPTED)
            .or(Outcomes::REJECTED);
        let ends = self.first_deadline().filter(|_| self.extension.is_none());
        self.near == Some(Decision::Accept)
            && self.closed.is_none()
            && self.possible.may_be(Outcomes::ACCEPTED)
            && self.possible.without(of_time) == Outcomes::NONE
            && now
                .zip(ends)
                .is_some_and(|(now, ends)| now.plus_seconds(1) < ends)
    }

    /// Whether a call on `line` came before it was accepted, as far as the record shows. A reply that is recorded behind the
    /// call may have come before it.
    pub(super) fn is_accepted_after(
        &self,
        line: u64,
        (sent, received): (Option<Timestamp>, Option<Timestamp>),
    ) -> bool {
        let Some((reply, _)) = self.answered else {
            return self.acceptable_from.is_some_and(|from| line < from);
        };
        let Some((decided, arrived)) = self.decided.filter(|_| line < reply) else {
            return false;
        };
        // AAEP-6.4-1, AAEP-6.4.2-3: a reply that came in time only if more was granted did not come before the default.
        let is_late = self.deadline.is_some_and(|it| decided >= it);
        if is_late && self.acceptable_from.is_some_and(|from| from <= line) {
            return false;
        }
        match (arrived, received, sent) {
            _ if self.in_order => true,
            (Some(arrived), Some(received), _) => received.plus_seconds(self.slack) < arrived,
            (_, _, Some(sent)) => sent.plus_seconds(self.slack) < decided,
            (_, _, None) => false,
        }
    }

    /// Whether it was accepted: by a reply, or it may have been and the producer says so.
    pub fn is_surely_accepted(&self) -> bool {
        self.possible == Outcomes::ACCEPTED
            || self.said_accepted && self.possible.may_be(Outcomes::ACCEPTED)
    }

    /// The line of an acceptance before a line and moment that counts if the reply that decided did not; one for want of a reply
    /// only where that may be.
    pub(super) fn overruled_before(
        &self,
        before: (u64, Option<Timestamp>),
        may_default: bool,
    ) -> Option<u64> {
        let [by_reply, by_default] = self.overruled;
        let by_reply = by_reply.filter(|_| self.unknown_senders);
        let may_be_late = self.unknown_senders || self.may_be_late;
        self.first_before(
            before,
            [by_reply, by_default.filter(|_| may_default && may_be_late)],
        )
    }

    /// The same where that reply counts, by what is assumed of its sender.
    pub(super) fn accepted_besides(
        &self,
        before: (u64, Option<Timestamp>),
        may_default: bool,
    ) -> Option<u64> {
        let [by_reply, by_default] = self.overruled;
        self.first_before(before, [by_reply, by_default.filter(|_| may_default)])
    }

    fn first_before(
        &self,
        (line, moment): (u64, Option<Timestamp>),
        acceptances: [Option<(u64, Option<Timestamp>)>; 2],
    ) -> Option<u64> {
        let mut acceptances = acceptances.into_iter().flatten();
        let by_time = |it: Option<Timestamp>| it.is_none() || it <= moment;
        // Its default may have been applied by the very event that shows that its time is over.
        let before = |it: &(u64, Option<Timestamp>)| {
            it.0 < line || self.in_order && it.0 == line || !self.in_order && by_time(it.1)
        };
        acceptances.find(before).map(|(accepted, _)| accepted)
    }

    /// Whether the producer has said that it is withdrawn.
    pub fn is_withdrawn(&self) -> bool {
        self.closed == Some(Check::Standing)
    }

    pub(super) fn add(&mut self, outcomes: Outcomes, line: u64) {
        if self.closed.is_some() {
            return;
        }
        self.possible = self.possible.or(outcomes);
        if outcomes.may_be(Outcomes::ACCEPTED) {
            self.acceptable_from.get_or_insert(line);
            self.answerable_from.get_or_insert(line);
        }
    }

    /// AAEP-6.4-1: takes in that its default may have been applied.
    pub(super) fn add_default(&mut self, line: u64) {
        if self.closed.is_some() {
            return;
        }
        self.possible = self.possible.or(self.default_outcome());
        if self.possible.may_be(Outcomes::ACCEPTED) {
            self.acceptable_from.get_or_insert(line);
        }
        if self.default.is_none() {
            // Nothing is known of it.
            self.answerable_from = self.answerable_from.or(self.acceptable_from);
        }
    }

    /// AAEP-6.8-1, AAEP-6.8-3: whether a change of state may withdraw it: while it is open, before its timeout, where the change
    /// `returns` to a state that a withdrawal returns to.
    pub(super) fn may_be_withdrawn_by(&self, event: &Event, returns: bool) -> bool {
        let is_over = || {
            let deadline = self.deadline.filter(|_| self.extension.is_none());
            deadline.is_some_and(|deadline| event.sent >= Some(deadline))
        };
        returns && self.possible.may_be(Outcomes::PENDING) && !event.says_accepted() && !is_over()
    }

    /// AAEP-6.4.2-3: takes in that it may have been given more time.
    pub(super) fn give_time(&mut self, left: &TimeLeft<'_>) {
        if self.possible.may_be(Outcomes::PENDING) {
            let of = (&*self.producer, &self.ids);
            let extension = left.extends(of, self.deadline, self.extension);
            self.extension = extension.or(self.extension);
        }
    }

    /// What the producer itself says has become of a question is taken for true where it is to its own disadvantage, and
    /// where no reply has decided otherwise for sure.
    pub(super) fn take_stated(&mut self, outcome: StatedOutcome) {
        let (outcome, closed) = match outcome {
            StatedOutcome::Accepted => {
                self.said_accepted = true;
                if self.possible.may_be(Outcomes::ACCEPTED) {
                    self.is_told();
                }
                return;
            }
            StatedOutcome::Rejected => (Outcomes::REJECTED, Check::Unused),
            StatedOutcome::Cancelled => (Outcomes::CANCELLED, Check::Standing),
            // Of clarifications.
            StatedOutcome::Answered | StatedOutcome::Unanswered => return,
        };
        if self.possible == outcome {
            self.is_told();
        }
        if self.possible.may_be(Outcomes::PENDING) {
            self.possible = outcome;
            self.closed = Some(closed);
            self.acceptable_from = None;
            self.answerable_from = None;
        }
    }

    fn is_told(&mut self) {
        self.sender_unsaid = false;
        self.may_be_late = false;
        self.withdrawn_elsewhere = None;
    }

    /// The reply that decided it, where it came behind a change of state which looks as if it was withdrawn, and the line of that.
    pub(super) fn answered_withdrawn(&self) -> Option<(u64, u64)> {
        let (reply, _) = self.answered?;
        let changed = self.perhaps_withdrawn.filter(|it| *it < reply)?;
        let is_open = self.closed.is_none() && self.possible.may_be(Outcomes::CANCELLED);
        is_open.then_some((reply, changed))
    }

    /// AAEP-6.4-1: a reply arrived in time that is recorded before an event of its producer from before the deadline.
    pub(super) fn may_show_arrival(&mut self, event: &Event) {
        if event.producer == self.producer && event.sent < self.deadline {
            self.may_be_late = false;
        }
    }

    /// Whether the reply that decided it may not have counted for its sender.
    pub fn may_be_unanswered(&self) -> bool {
        self.sender_unsaid && self.unknown_senders
    }

    /// AAEP-6.3.4-5, AAEP-REPLY-14: what is assumed of the sender of the reply that decided it, where its record does not say.
    pub fn assumed(&self) -> Option<String> {
        let (reply, _) = self.answered?;
        let is_assumed = self.sender_unsaid && !self.unknown_senders;
        is_assumed.then(|| assumed_sender(reply))
    }

    /// What may speak against what became of it.
    pub fn doubt(&self) -> Option<Doubt> {
        let reply = self.answered.map(|(reply, _)| reply);
        let withdrawn = self.withdrawn_elsewhere;
        // AAEP-6.8-4: what is decided behind a withdrawal is decided in vain.
        let withdrawn = withdrawn.filter(|changed| reply.is_none_or(|reply| *changed < reply));
        let of_reply = reply.and_then(|reply| match (self.may_be_unanswered(), self.may_be_late) {
            (true, _) => Some(Doubt::Sender(reply)),
            (false, true) => Some(Doubt::Arrival(reply)),
            (false, false) => None,
        });
        of_reply.or(withdrawn.map(Doubt::Withdrawn))
    }

    /// Whether so little lies between that moment and the reply that decided it that two clocks do not say which came first. The reply did
    /// not come before the question, whatever it says.
    fn is_near_reply(&self, moment: Timestamp) -> bool {
        self.answered.is_some_and(|(_, replied)| {
            let replied = Some(replied).max(self.asked).unwrap_or(replied);
            replied.max(moment) <= replied.min(moment).plus_seconds(self.slack)
        })
    }

    /// AAEP-6.8-4, AAEP-A.4-2: takes in a change of state that may have come on the other side of the reply than two clocks say. Behind an
    /// acceptance only one that `returns` to a state that a withdrawal returns to matters.
    pub(super) fn may_have_left(&mut self, event: &Event, returns: bool) {
        let is_own = event.producer == self.producer && self.slack > 0;
        let Some(sent) = event.sent.filter(|_| is_own) else {
            return;
        };
        if self.answered.is_none() || returns && self.is_near_reply(sent) {
            self.left = Some((event.place.line, sent));
        }
    }

    /// AAEP-6.8-4, AAEP-A.4-2: what may have come on the other side of the reply that decided it, by two clocks, so that it is no fault
    /// that nothing came of that until this end of the session.
    pub(super) fn order_by_clocks(&self, end: &Event) -> Option<String> {
        let (reply, _) = self.answered.filter(|_| self.slack > 0)?;
        let is_rejected = self.possible == Outcomes::REJECTED;
        let is_meant = |(line, sent): &(u64, Timestamp)| {
            is_rejected == (*line < reply) && self.is_near_reply(*sent)
        };
        match self.left.filter(is_meant) {
            Some((line, _)) if is_rejected => Some(format!(
                "the state.changed on line {line} may have come behind that reply"
            )),
            Some((line, _)) => Some(format!(
                "the state.changed on line {line} may have withdrawn the question before that reply"
            )),
            None => {
                let is_near = end.sent.is_some_and(|it| self.is_near_reply(it));
                is_near.then(|| "that reply may have come behind it".to_owned())
            }
        }
    }

    /// AAEP-6.8-4: a question that was withdrawn before the reply arrived stays withdrawn, also when the subscriber could not
    /// know that yet and its reply is on record before the change of state.
    pub(super) fn may_have_crossed(&mut self, event: &Event) {
        let EventKind::StateChanged { to, .. } = &event.kind else {
            return;
        };
        let sent_before = |moment: Timestamp| event.sent.is_some_and(|sent| sent < moment);
        if to.is_none_or(goes_back)
            && event.speaks_of(&self.ids)
            && !event.says_accepted()
            && self.answered.is_some_and(|(_, moment)| sent_before(moment))
        {
            self.add(Outcomes::CANCELLED, event.place.line);
        }
    }

    /// AAEP-6.4-1: from its deadline on, the default may have been applied. An unknown deadline may have passed.
    pub(super) fn deadline_may_have_passed(
        &self,
        sent: Option<Timestamp>,
        received: Option<Timestamp>,
    ) -> bool {
        sent.is_some_and(|sent| self.deadline.is_none_or(|deadline| sent >= deadline))
            || received.is_some_and(|received| {
                self.first_deadline()
                    .is_none_or(|deadline| received >= deadline)
            })
    }

    /// When it runs out by the producer's clock or the recorder's, whichever comes first.
    pub fn first_deadline(&self) -> Option<Timestamp> {
        let deadline = self.deadline?;
        Some(self.deadline_received.unwrap_or(deadline).min(deadline))
    }

    pub(super) fn default_outcome(&self) -> Outcomes {
        match self.default {
            Some(Decision::Accept) => Outcomes::ACCEPTED,
            Some(Decision::Reject) => Outcomes::REJECTED,
            None => Outcomes::ACCEPTED.or(Outcomes::REJECTED),
        }
    }
}

/// What is assumed of the sender of the reply on this line.
pub(super) fn assumed_sender(reply: u64) -> String {
    format!(
        "the sender of the reply on line {reply} is authenticated and its subscription open (--assume unknown-senders: it may not be)"
    )
}

/// AAEP-6.8-3, AAEP-A.2-4: whether it may be a state that a withdrawal returns to; what a producer's own states are kinds of does not show.
pub(super) fn goes_back(to: &str) -> bool {
    AgentState::named(to).is_none_or(|it| matches!(it, AgentState::Thinking | AgentState::Deciding))
}

/// Whether a change between these states may be what came of a question: its default, or its withdrawal.
pub(super) fn may_follow(from: Option<&str>, to: Option<&str>) -> bool {
    let awaiting = Some(AgentState::AwaitingInput.name());
    to != awaiting || from == awaiting
}
